//! `pg_class`, `pg_attribute`, `pg_attrdef`, `pg_index`, `pg_sequence`, `pg_rewrite`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::{
    Catalog, CheckOption, Column, Generation, Index, IndexKeyKind, Oid, Relation, RelationKind, Table, UserType,
    UserTypeKind, View,
};
use crate::deparse;
use crate::deparse::node::Node;
use crate::introspection::fill::{Filler, array, int, oid, text, vector, yes};
use crate::ir::ExprKind;
use crate::storage::World;
use crate::system::initial;
use crate::types::{Datum, Type, Typed, builtin, kind};

/// The relations in the order of their numbers.
pub(super) fn all(world: &World<'_>) -> Vec<Arc<Relation>> {
    // Tables that keep the rows of materialized views are shown as those.
    let keeps_rows = |relation: &Relation| matches!(&relation.kind, RelationKind::Table(Table { view: Some(_), .. }));
    world.catalog.relations.values().filter(|relation| !keeps_rows(relation)).cloned().collect()
}

/// `relkind`
pub(super) fn letter(relation: &Relation) -> &'static str {
    match &relation.kind {
        RelationKind::Table(_) => "r",
        RelationKind::Index(_) => "i",
        RelationKind::View(view) if view.materialized.is_some() => "m",
        RelationKind::View(_) => "v",
        RelationKind::Sequence(_) => "S",
    }
}

/// Whether a relation can be read: a materialized view WITH NO DATA cannot.
pub(super) fn is_populated(world: &World<'_>, relation: &Relation) -> bool {
    match &relation.kind {
        RelationKind::View(View { materialized: Some(rows), .. }) => {
            !world.catalog.table(*rows).is_some_and(|table| table.unpopulated)
        }
        _ => true,
    }
}

pub(super) fn classes(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let mut row = vec![
            ("oid", oid(relation.oid)),
            ("relname", text(&relation.name)),
            ("relnamespace", oid(relation.schema)),
            ("relowner", oid(10)),
            ("relpersistence", text(persistence(&world.catalog, &relation))),
            ("relkind", text(letter(&relation))),
            ("relispopulated", yes(is_populated(world, &relation))),
            ("relreplident", text("n")),
            ("relfilenode", oid(relation.oid)),
        ];
        match &relation.kind {
            RelationKind::Table(table) => row.extend(of_table(world, &relation, table)),
            RelationKind::Index(index) => row.extend([
                ("relam", oid(method(&index.method))),
                ("relnatts", int(index.keys.len() + index.include.len())),
                ("relpages", int(1)),
            ]),
            RelationKind::View(view) => {
                row.extend([
                    ("relnatts", int(view.columns.len())),
                    ("relhasrules", yes(true)),
                    ("reltuples", Datum::Float(-1.0)),
                    ("relfilenode", oid(0)),
                    ("reloptions", view_options(view)),
                ]);
                if let Some(rows) = view.materialized.and_then(|rows| world.catalog.table(rows)) {
                    row.extend([
                        ("relam", oid(2)),
                        ("relhasindex", yes(!rows.indexes.is_empty())),
                        ("relreplident", text("d")),
                        ("relfilenode", oid(relation.oid)),
                    ]);
                }
            }
            RelationKind::Sequence(_) => {
                row.extend([("relnatts", int(3)), ("relpages", int(1)), ("reltuples", Datum::Float(1.0))]);
            }
        }
        filler.row(&row);
    }
    for (user, fields) in composites(&world.catalog) {
        filler.row(&[
            ("oid", oid(user.relation())),
            ("relname", text(&user.name)),
            ("relnamespace", oid(user.schema)),
            ("reltype", oid(user.ty.0)),
            ("relowner", oid(10)),
            ("relpersistence", text("p")),
            ("relkind", text("c")),
            ("relnatts", int(fields.len())),
            ("relispopulated", yes(true)),
            ("relreplident", text("n")),
        ]);
    }
}

/// Composite types that are not the rows of a table, with their fields.
pub(super) fn composites(catalog: &Catalog) -> impl Iterator<Item = (&UserType, &[(Arc<str>, Typed)])> {
    let row_type = |relation: &Arc<Relation>| match &relation.kind {
        RelationKind::Table(table) => Some(table.row_type),
        _ => None,
    };
    let of_tables: BTreeSet<Type> = catalog.relations.values().filter_map(row_type).collect();
    catalog.types.values().filter(move |user| !of_tables.contains(&user.ty)).filter_map(|user| match &user.kind {
        UserTypeKind::Composite(fields) => Some((&**user, fields.as_slice())),
        _ => None,
    })
}

/// `relpersistence`: an index or an owned sequence is what its table is.
fn persistence(catalog: &Catalog, relation: &Relation) -> &'static str {
    if catalog.schemas.get(&relation.schema).is_some_and(|schema| schema.temporary) {
        return "t";
    }
    let table = match &relation.kind {
        RelationKind::Table(_) => Some(relation.oid),
        RelationKind::Index(index) => Some(index.table),
        RelationKind::Sequence(sequence) => sequence.owner.filter(|owner| owner.identity).map(|owner| owner.table),
        RelationKind::View(_) => None,
    };
    match table.and_then(|table| catalog.table(table)) {
        Some(table) if table.unlogged => "u",
        _ => "p",
    }
}

/// `reloptions` of a view.
fn view_options(view: &View) -> Datum {
    match view.check_option {
        None => Datum::Null,
        Some(CheckOption::Local) => array(Type::TEXT, vec![text("check_option=local")]),
        Some(CheckOption::Cascaded) => array(Type::TEXT, vec![text("check_option=cascaded")]),
    }
}

fn of_table(world: &World<'_>, relation: &Relation, table: &Table) -> Vec<(&'static str, Datum)> {
    let referred = world.catalog.relations.values().any(|other| match &other.kind {
        RelationKind::Table(other) => other.foreign_keys.iter().any(|key| key.parent == relation.oid),
        _ => false,
    });
    vec![
        ("reltype", oid(table.row_type.0)),
        ("relam", oid(2)),
        ("reltuples", Datum::Float(-1.0)),
        ("relhasindex", yes(!table.indexes.is_empty())),
        ("relnatts", int(table.columns.len())),
        ("relchecks", int(table.checks.len())),
        ("relhastriggers", yes(!table.triggers.is_empty() || !table.foreign_keys.is_empty() || referred)),
        ("relreplident", text("d")),
        ("relrowsecurity", yes(table.row_security.0)),
        ("relforcerowsecurity", yes(table.row_security.1)),
    ]
}

/// The number of the access method that the extension `bloom` adds.
pub(super) const BLOOM: Oid = 14499;

/// An index method's number.
pub(super) fn method(name: &str) -> Oid {
    match name {
        "hash" => 405,
        "gist" => 783,
        "gin" => 2742,
        "spgist" => 4000,
        "brin" => 3580,
        "bloom" => BLOOM,
        _ => 403,
    }
}

const SYSTEM_COLUMNS: &[(&str, i64, Type, i64)] = &[
    ("ctid", -1, Type::TID, 6),
    ("xmin", -2, Type::XID, 4),
    ("cmin", -3, Type::CID, 4),
    ("xmax", -4, Type::XID, 4),
    ("cmax", -5, Type::CID, 4),
    ("tableoid", -6, Type::OID, 4),
];

pub(super) fn attributes(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        match &relation.kind {
            RelationKind::Table(table) => {
                for (at, column) in table.columns.iter().enumerate() {
                    let mut row = attribute(world, relation.oid, &column.name, column.typed, at + 1);
                    row.extend(of_column(column));
                    filler.row(&row);
                }
                for (name, number, ty, length) in SYSTEM_COLUMNS {
                    let mut row = attribute(world, relation.oid, name, (*ty).into(), 0);
                    row.extend([("attnum", Datum::Int(*number)), ("attlen", Datum::Int(*length))]);
                    row.extend([("attstattarget", Datum::Int(0)), ("attnotnull", yes(true))]);
                    filler.row(&row);
                }
            }
            RelationKind::View(View { columns, query, .. }) => {
                for (at, (name, typed)) in columns.iter().enumerate() {
                    let mut row = attribute(world, relation.oid, name, *typed, at + 1);
                    if let Some(column) = query.query.columns.get(at).filter(|column| column.collation != 0) {
                        row.push(("attcollation", oid(column.collation)));
                    }
                    filler.row(&row);
                }
            }
            RelationKind::Index(index) => index_attributes(world, relation.oid, index, filler),
            RelationKind::Sequence(_) => {
                let columns = [("last_value", Type::INT8), ("log_cnt", Type::INT8), ("is_called", Type::BOOL)];
                for (at, (name, ty)) in columns.into_iter().enumerate() {
                    let mut row = attribute(world, relation.oid, name, ty.into(), at + 1);
                    row.push(("attnotnull", yes(true)));
                    filler.row(&row);
                }
            }
        }
    }
    for (user, fields) in composites(&world.catalog) {
        for (at, (name, typed)) in fields.iter().enumerate() {
            filler.row(&attribute(world, user.relation(), name, *typed, at + 1));
        }
    }
}

fn index_attributes(world: &World<'_>, relation: Oid, index: &Index, filler: &mut Filler) {
    let Some(table) = world.catalog.table(index.table) else { return };
    for (at, key) in index.keys.iter().enumerate() {
        let (name, typed) = match &key.what {
            IndexKeyKind::Column(position) => {
                let column = &table.columns[*position];
                (column.name.to_string(), column.typed)
            }
            IndexKeyKind::Expr(expr) => {
                let name = match &expr.expr.kind {
                    ExprKind::UserCall { function, .. } => {
                        world.catalog.functions.get(&function.oid).map_or(&*function.name, |now| &*now.name)
                    }
                    ExprKind::Call { function, .. } if deparse::is_call(&expr.expr) => function.name,
                    ExprKind::Coalesce(_) => "coalesce",
                    _ => "expr",
                };
                (name.to_owned(), Typed::from(expr.ty()))
            }
        };
        filler.row(&attribute(world, relation, &name, typed, at + 1));
    }
    for (at, &position) in index.include.iter().enumerate() {
        let column = &table.columns[position];
        filler.row(&attribute(world, relation, &column.name, column.typed, index.keys.len() + at + 1));
    }
}

/// The physical facts of a type: length, by value, alignment, storage, collation.
fn physique(world: &World<'_>, ty: Type) -> (i64, bool, char, char, Oid) {
    let base = kind::base(ty.into(), &world.catalog).ty;
    match builtin::by_oid(base) {
        Some(known) => (known.length.into(), known.by_value, known.align, known.storage, known.collation),
        None if kind::is_enum(base, &world.catalog) => (4, true, 'i', 'p', 0),
        None => (-1, false, 'd', 'x', 0),
    }
}

fn attribute(world: &World<'_>, relation: Oid, name: &str, typed: Typed, number: usize) -> Vec<(&'static str, Datum)> {
    let (length, by_value, align, storage, collation) = physique(world, typed.ty);
    let dimensions = i64::from(kind::element(typed.ty, &world.catalog).is_some());
    vec![
        ("attrelid", oid(relation)),
        ("attname", text(name)),
        ("atttypid", oid(typed.ty.0)),
        ("attstattarget", Datum::Int(-1)),
        ("attlen", Datum::Int(length)),
        ("attnum", int(number)),
        ("attndims", Datum::Int(dimensions)),
        ("attcacheoff", Datum::Int(-1)),
        ("atttypmod", Datum::Int(typed.modifier.into())),
        ("attbyval", yes(by_value)),
        ("attalign", text(align.to_string())),
        ("attstorage", text(storage.to_string())),
        ("attislocal", yes(true)),
        ("attcollation", oid(collation)),
    ]
}

fn of_column(column: &Column) -> Vec<(&'static str, Datum)> {
    let mut row = vec![
        ("attnotnull", yes(column.not_null)),
        ("atthasdef", yes(column.default.is_some())),
        ("atthasmissing", yes(!column.missing.is_null())),
        ("attidentity", text(identity(column.generation))),
        ("attgenerated", text(if column.generation == Generation::Stored { "s" } else { "" })),
        ("attisdropped", yes(column.dropped)),
    ];
    if column.collation != 0 {
        row.push(("attcollation", oid(column.collation)));
    }
    if column.dropped {
        row.push(("atttypid", oid(0)));
    }
    row
}

fn identity(generation: Generation) -> &'static str {
    match generation {
        Generation::IdentityAlways => "a",
        Generation::IdentityByDefault => "d",
        _ => "",
    }
}

/// The number that a default of a column has: made up, and the same every time.
pub(super) fn default_oid(relation: Oid, position: usize) -> Oid {
    0x4000_0000 | (relation << 8) | u32::try_from(position & 0xff).unwrap_or(0)
}

pub(super) fn defaults(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let RelationKind::Table(table) = &relation.kind else { continue };
        for (at, column) in table.columns.iter().enumerate() {
            if column.default.is_some() {
                filler.row(&[
                    ("oid", oid(default_oid(relation.oid, at))),
                    ("adrelid", oid(relation.oid)),
                    ("adnum", int(at + 1)),
                    ("adbin", text(Node::Default(relation.oid, at).text())),
                ]);
            }
        }
    }
}

pub(super) fn indexes(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let RelationKind::Index(index) = &relation.kind else { continue };
        let Some(table) = world.catalog.table(index.table) else { continue };
        let keys = index.keys.iter().map(|key| match &key.what {
            IndexKeyKind::Column(position) => int(position + 1),
            IndexKeyKind::Expr(_) => int(0),
        });
        let included = index.include.iter().map(|position| int(position + 1));
        let types: Vec<Type> = index.keys.iter().map(|key| crate::storage::rows::key_type(table, &key.what)).collect();
        let options = index.keys.iter().map(|key| int(u8::from(key.descending) | u8::from(key.nulls_first) << 1));
        let has_expressions = index.keys.iter().any(|key| matches!(key.what, IndexKeyKind::Expr(_)));
        let node = |there: bool, node: Node| if there { text(node.text()) } else { Datum::Null };
        let constraint = index.constraint;
        let classes = index.keys.iter().zip(&types).map(|(key, ty)| {
            let named =
                key.class.as_deref().and_then(|class| initial::operator_class_named(method(&index.method), class));
            oid(named.unwrap_or_else(|| operator_class(world, *ty)))
        });
        let collations = index.keys.iter().zip(&types).map(|(key, ty)| {
            let own = deparse::definition::own_collation(key, table);
            oid([key.collation, own].into_iter().find(|said| *said != 0).unwrap_or_else(|| physique(world, *ty).4))
        });
        filler.row(&[
            ("indexrelid", oid(relation.oid)),
            ("indrelid", oid(world.catalog.shown(index.table).map_or(0, |owner| owner.oid))),
            ("indnatts", int(index.keys.len() + index.include.len())),
            ("indnkeyatts", int(index.keys.len())),
            ("indisunique", yes(index.unique)),
            ("indnullsnotdistinct", yes(index.nulls_not_distinct)),
            ("indisprimary", yes(constraint.is_some_and(|made| made.primary))),
            ("indimmediate", yes(constraint.is_none_or(|made| made.timing == crate::catalog::Timing::Immediate))),
            ("indisvalid", yes(true)),
            ("indisready", yes(true)),
            ("indislive", yes(true)),
            ("indkey", vector(Type::INT2, keys.chain(included).collect())),
            ("indcollation", vector(Type::OID, collations.collect())),
            ("indclass", vector(Type::OID, classes.collect())),
            ("indoption", vector(Type::INT2, options.collect())),
            ("indexprs", node(has_expressions, Node::IndexKeys(relation.oid))),
            ("indpred", node(index.predicate.is_some(), Node::IndexPredicate(relation.oid))),
        ]);
    }
}

/// The default btree operator class of a type, by PostgreSQL's number.
pub(super) fn operator_class(world: &World<'_>, ty: Type) -> Oid {
    let base = match kind::base(ty.into(), &world.catalog).ty {
        Type::VARCHAR => Type::TEXT,
        base if kind::is_enum(base, &world.catalog) => Type::ANYENUM,
        base if kind::element(base, &world.catalog).is_some() => Type::ANYARRAY,
        base => base,
    };
    initial::operator_class(base).unwrap_or(0)
}

pub(super) fn sequences(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let RelationKind::Sequence(sequence) = &relation.kind else { continue };
        filler.row(&[
            ("seqrelid", oid(relation.oid)),
            ("seqtypid", oid(sequence.ty.0)),
            ("seqstart", Datum::Int(sequence.start)),
            ("seqincrement", Datum::Int(sequence.increment)),
            ("seqmax", Datum::Int(sequence.maximum)),
            ("seqmin", Datum::Int(sequence.minimum)),
            ("seqcache", Datum::Int(sequence.cache)),
            ("seqcycle", yes(sequence.cycle)),
        ]);
    }
}

pub(super) fn rewrites(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        if let RelationKind::View(_) = &relation.kind {
            filler.row(&[
                ("oid", oid(0x2000_0000 | relation.oid)),
                ("rulename", text("_RETURN")),
                ("ev_class", oid(relation.oid)),
                ("ev_type", text("1")),
                ("ev_enabled", text("O")),
                ("is_instead", yes(true)),
            ]);
        }
    }
}
