//! `pg_type` and `pg_enum`.

use crate::catalog::{RelationKind, UserType, UserTypeKind};
use crate::deparse::node::Node;
use crate::deparse::{self, Style};
use crate::introspection::fill::{Filler, int, oid, text, yes};
use crate::storage::World;
use crate::types::{Datum, Type, builtin, io, kind};

pub(super) fn types(world: &mut World<'_>, filler: &mut Filler) {
    for user in world.catalog.types.values() {
        of_user(world, user, filler);
    }
}

fn of_user(world: &World<'_>, user: &UserType, filler: &mut Filler) {
    let mut row = vec![
        ("oid", oid(user.ty.0)),
        ("typname", text(&user.name)),
        ("typnamespace", oid(user.schema)),
        ("typowner", oid(10)),
        ("typlen", int(-1)),
        ("typisdefined", yes(true)),
        ("typdelim", text(",")),
        ("typarray", oid(user.array.0)),
        ("typalign", text("d")),
        ("typstorage", text("x")),
        ("typtypmod", Datum::Int(-1)),
    ];
    match &user.kind {
        UserTypeKind::Enum(_) => row.extend(functions(io::ENUM).into_iter().chain([
            ("typlen", int(4)),
            ("typbyval", yes(true)),
            ("typtype", text("e")),
            ("typcategory", text("E")),
            ("typalign", text("i")),
            ("typstorage", text("p")),
        ])),
        UserTypeKind::Domain { base, not_null, default, .. } => {
            let below = builtin::by_oid(kind::base(*base, &world.catalog).ty);
            let default = default
                .as_ref()
                .map_or(Datum::Null, |default| text(deparse::expression(world, default, None, Style::Plain)));
            row.extend(io::of_type(base.ty).map(functions).into_iter().flatten());
            row.extend([
                ("typlen", int(below.map_or(-1, |below| below.length))),
                ("typbyval", yes(below.is_some_and(|below| below.by_value))),
                ("typtype", text("d")),
                ("typcategory", text(below.map_or('U', |below| below.category).to_string())),
                ("typinput", oid(io::DOMAIN_INPUT)),
                ("typreceive", oid(io::DOMAIN_RECEIVE)),
                ("typbasetype", oid(base.ty.0)),
                ("typtypmod", Datum::Int(base.modifier.into())),
                ("typnotnull", yes(*not_null)),
                (
                    "typdefaultbin",
                    if default.is_null() { Datum::Null } else { text(Node::DomainDefault(user.ty.0).text()) },
                ),
                ("typdefault", default),
                ("typalign", text(below.map_or('d', |below| below.align).to_string())),
                ("typstorage", text(below.map_or('x', |below| below.storage).to_string())),
                ("typcollation", oid(below.map_or(0, |below| below.collation))),
            ]);
        }
        UserTypeKind::Extension { category, collation } => {
            row.extend(io::of_type(Type::TEXT).map(functions).into_iter().flatten().chain([
                ("typtype", text("b")),
                ("typcategory", text(category.to_string())),
                ("typcollation", oid(*collation)),
                ("typalign", text("i")),
            ]))
        }
        UserTypeKind::Composite(_) => {
            let table = world.catalog.relations.values().find(|relation| match &relation.kind {
                RelationKind::Table(table) => table.row_type == user.ty,
                _ => false,
            });
            row.extend([
                ("typtype", text("c")),
                ("typcategory", text("C")),
                ("typrelid", oid(table.map_or_else(|| user.relation(), |table| table.oid))),
            ]);
            row.extend(functions(io::RECORD));
        }
    }
    filler.row(&row);
    let mut row = vec![
        ("oid", oid(user.array.0)),
        ("typname", text(format!("_{}", user.name))),
        ("typnamespace", oid(user.schema)),
        ("typowner", oid(10)),
        ("typlen", int(-1)),
        ("typtype", text("b")),
        ("typcategory", text("A")),
        ("typisdefined", yes(true)),
        ("typdelim", text(",")),
        ("typelem", oid(user.ty.0)),
        ("typalign", text("d")),
        ("typstorage", text("x")),
        ("typtypmod", Datum::Int(-1)),
    ];
    row.extend(functions(io::ARRAY));
    filler.row(&row);
}

/// The functions that read and show a type's values.
fn functions(functions: io::Functions) -> [(&'static str, Datum); 6] {
    [
        ("typinput", oid(functions.input)),
        ("typoutput", oid(functions.output)),
        ("typreceive", oid(functions.receive)),
        ("typsend", oid(functions.send)),
        ("typmodin", oid(functions.modifier_in)),
        ("typmodout", oid(functions.modifier_out)),
    ]
}

pub(super) fn labels(world: &mut World<'_>, filler: &mut Filler) {
    for user in world.catalog.types.values() {
        if let UserTypeKind::Enum(labels) = &user.kind {
            for (number, order, label) in labels {
                filler.row(&[
                    ("oid", oid(*number)),
                    ("enumtypid", oid(user.ty.0)),
                    ("enumsortorder", Datum::Float(f64::from(*order))),
                    ("enumlabel", text(label)),
                ]);
            }
        }
    }
}
