//! `pg_depend` and `pg_description`.

use crate::catalog::{Oid, PUBLIC, RelationKind};
use crate::functions::extension;
use crate::introspection::fill::{Filler, int, oid, text};
use crate::introspection::relations::{all, composites, default_oid};
use crate::schema::depends::{Edges, Need, Object};
use crate::storage::World;
use crate::types::Datum;

const PG_CLASS: Oid = 1259;
const PG_TYPE: Oid = 1247;
const PG_PROC: Oid = 1255;
const PG_NAMESPACE: Oid = 2615;
const PG_CONSTRAINT: Oid = 2606;
const PG_ATTRDEF: Oid = 2604;
const PG_REWRITE: Oid = 2618;
const PG_TRIGGER: Oid = 2620;
const PG_EXTENSION: Oid = 3079;
const PG_OPERATOR: Oid = 2617;
const PG_COLLATION: Oid = 3456;
const PLPGSQL_EXTENSION: Oid = 13559;

/// The number of the rule that makes a view's rows.
fn rule(view: Oid) -> Oid {
    0x2000_0000 | view
}

/// The catalog that has an object, its number there, and which part of it.
fn address(world: &World<'_>, object: Object) -> (Oid, Oid, usize) {
    match object {
        Object::Schema(oid) => (PG_NAMESPACE, oid, 0),
        Object::Relation(oid) => (PG_CLASS, shown(world, oid), 0),
        Object::Column(oid, at) => (PG_CLASS, shown(world, oid), at + 1),
        Object::Default(oid, at) => (PG_ATTRDEF, default_oid(oid, at), 0),
        Object::Check(_, oid) | Object::ForeignKey(_, oid) | Object::DomainCheck(_, oid) => (PG_CONSTRAINT, oid, 0),
        Object::IndexConstraint(index) => {
            let made = match world.catalog.relation(index).map(|relation| &relation.kind) {
                Some(RelationKind::Index(made)) => made.constraint.map(|made| made.oid),
                _ => None,
            };
            (PG_CONSTRAINT, made.unwrap_or(0), 0)
        }
        Object::Trigger(_, oid) => (PG_TRIGGER, oid, 0),
        Object::Type(oid) => (PG_TYPE, oid, 0),
        Object::Field(oid, at) => {
            let relation = world.catalog.types.get(&oid).map_or(0, |user| user.relation());
            (PG_CLASS, relation, at + 1)
        }
        Object::Function(oid) => (PG_PROC, oid, 0),
        Object::Collation(oid) => (PG_COLLATION, oid, 0),
        Object::Extension(oid) => (PG_EXTENSION, oid, 0),
        Object::Member(oid) => {
            let operator = extension::numbered(oid).is_some_and(|member| member.operator);
            (if operator { PG_OPERATOR } else { PG_PROC }, oid, 0)
        }
    }
}

pub(super) fn depends(world: &mut World<'_>, filler: &mut Filler) {
    let mut put = |from: (Oid, Oid, usize), to: (Oid, Oid, usize), kind: &str| {
        filler.row(&[
            ("classid", oid(from.0)),
            ("objid", oid(from.1)),
            ("objsubid", int(from.2)),
            ("refclassid", oid(to.0)),
            ("refobjid", oid(to.1)),
            ("refobjsubid", int(to.2)),
            ("deptype", text(kind)),
        ]);
    };
    for installed in world.catalog.extensions.values() {
        for ty in extension::find(&installed.name).map_or(&[][..], |known| known.types) {
            put((PG_TYPE, ty.array.0, 0), (PG_TYPE, ty.ty.0, 0), "i");
        }
    }
    let is_view =
        |oid: Oid| matches!(world.catalog.relation(oid).map(|relation| &relation.kind), Some(RelationKind::View(_)));
    let hidden = |object: Object| match object {
        Object::Relation(oid) | Object::Column(oid, _) => shown(world, oid) != oid,
        _ => false,
    };
    for (object, needs) in Edges::of(&world.catalog).needs {
        if hidden(object) {
            continue;
        }
        let own = address(world, object);
        for (needed, need) in needs {
            let kind = match need {
                Need::Normal => "n",
                Need::Auto => "a",
                Need::Internal if matches!(needed, Object::Extension(_)) => "e",
                Need::Internal => "i",
            };
            // What a view reads, its rule reads.
            let from = match (object, needed) {
                (
                    Object::Relation(view),
                    Object::Relation(_)
                    | Object::Column(..)
                    | Object::Function(_)
                    | Object::Type(_)
                    | Object::Field(..)
                    | Object::IndexConstraint(_)
                    | Object::Collation(_)
                    | Object::Member(_),
                ) if is_view(view) => (PG_REWRITE, rule(view), 0),
                _ => own,
            };
            put(from, address(world, needed), kind);
        }
    }
    for user in composites(&world.catalog).map(|(user, _)| user) {
        put((PG_CLASS, user.relation(), 0), (PG_TYPE, user.ty.0, 0), "i");
    }
    for relation in all(world) {
        if let RelationKind::View(_) = &relation.kind {
            put((PG_REWRITE, rule(relation.oid), 0), (PG_CLASS, relation.oid, 0), "i");
            put((PG_REWRITE, rule(relation.oid), 0), (PG_CLASS, relation.oid, 0), "n");
        }
    }
}

/// The relation that a relation is shown as: a table that keeps the rows of a materialized view is that view.
fn shown(world: &World<'_>, oid: Oid) -> Oid {
    world.catalog.shown(oid).map_or(oid, |owner| owner.oid)
}

pub(super) fn descriptions(world: &mut World<'_>, filler: &mut Filler) {
    // Of what PostgreSQL says about its own objects, what psql shows.
    if !world.catalog.comments.contains_key(&(PG_EXTENSION, PLPGSQL_EXTENSION, 0)) {
        filler.row(&[
            ("objoid", oid(PLPGSQL_EXTENSION)),
            ("classoid", oid(PG_EXTENSION)),
            ("description", text("PL/pgSQL procedural language")),
        ]);
    }
    if !world.catalog.comments.contains_key(&(PG_NAMESPACE, PUBLIC, 0)) {
        filler.row(&[
            ("objoid", oid(PUBLIC)),
            ("classoid", oid(PG_NAMESPACE)),
            ("description", text("standard public schema")),
        ]);
    }
    for installed in world.catalog.extensions.values() {
        let about = extension::find(&installed.name).map_or("", |known| known.comment);
        if !world.catalog.comments.contains_key(&(PG_EXTENSION, installed.oid, 0)) {
            filler.row(&[
                ("objoid", oid(installed.oid)),
                ("classoid", oid(PG_EXTENSION)),
                ("description", text(about)),
            ]);
        }
    }
    for ((class, object, column), comment) in &world.catalog.comments {
        filler.row(&[
            ("objoid", oid(*object)),
            ("classoid", oid(*class)),
            ("objsubid", Datum::Int((*column).into())),
            ("description", text(comment)),
        ]);
    }
}
