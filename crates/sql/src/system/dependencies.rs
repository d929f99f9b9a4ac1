//! `pg_depend` and `pg_description`.

use crate::catalog::{Oid, RelationKind};
use crate::functions::extension;
use crate::storage::World;
use crate::system::fill::{Filler, int, oid, text};
use crate::system::relations::{all, default_oid};
use crate::types::Datum;

const PG_CLASS: Oid = 1259;
const PG_TYPE: Oid = 1247;
const PG_NAMESPACE: Oid = 2615;
const PG_CONSTRAINT: Oid = 2606;
const PG_ATTRDEF: Oid = 2604;
const PG_REWRITE: Oid = 2618;
const PG_EXTENSION: Oid = 3079;
const PLPGSQL_EXTENSION: Oid = 13559;

pub(super) fn depends(world: &mut World<'_>, filler: &mut Filler) {
    let mut put = |from: (Oid, Oid), to: (Oid, Oid, usize), kind: &str| {
        filler.row(&[
            ("classid", oid(from.0)),
            ("objid", oid(from.1)),
            ("refclassid", oid(to.0)),
            ("refobjid", oid(to.1)),
            ("refobjsubid", int(to.2)),
            ("deptype", text(kind)),
        ]);
    };
    for installed in world.catalog.extensions.values() {
        put((PG_EXTENSION, installed.oid), (PG_NAMESPACE, installed.schema, 0), "n");
        for ty in extension::find(&installed.name).map_or(&[][..], |known| known.types) {
            put((PG_TYPE, ty.ty.0), (PG_EXTENSION, installed.oid, 0), "e");
            put((PG_TYPE, ty.array.0), (PG_TYPE, ty.ty.0, 0), "i");
        }
    }
    for relation in all(world) {
        let own = (PG_CLASS, relation.oid);
        match &relation.kind {
            RelationKind::Table(table) => {
                put(own, (PG_NAMESPACE, relation.schema, 0), "n");
                put((PG_TYPE, table.row_type.0), (PG_CLASS, relation.oid, 0), "i");
                for (at, column) in table.columns.iter().enumerate() {
                    if column.default.is_some() {
                        let default = (PG_ATTRDEF, default_oid(relation.oid, at));
                        put(default, (PG_CLASS, relation.oid, at + 1), "a");
                        if let Some(sequence) = column.sequence {
                            put(default, (PG_CLASS, sequence, 0), "n");
                        }
                    }
                }
                for key in &table.foreign_keys {
                    put((PG_CONSTRAINT, key.oid), (PG_CLASS, key.parent_index, 0), "n");
                    key.parent_columns.iter().for_each(|at| {
                        put((PG_CONSTRAINT, key.oid), (PG_CLASS, key.parent, at + 1), "n");
                    });
                    key.columns.iter().for_each(|at| {
                        put((PG_CONSTRAINT, key.oid), (PG_CLASS, relation.oid, at + 1), "a");
                    });
                }
            }
            RelationKind::Index(index) => match index.constraint {
                Some(made) => put(own, (PG_CONSTRAINT, made.oid, 0), "i"),
                None => put(own, (PG_CLASS, index.table, 0), "a"),
            },
            RelationKind::View(view) => {
                put(own, (PG_NAMESPACE, relation.schema, 0), "n");
                let rule = (PG_REWRITE, 0x2000_0000 | relation.oid);
                put(rule, (PG_CLASS, relation.oid, 0), "i");
                view.uses.iter().for_each(|used| put(rule, (PG_CLASS, *used, 0), "n"));
            }
            RelationKind::Sequence(sequence) => {
                put(own, (PG_NAMESPACE, relation.schema, 0), "n");
                if let Some(owner) = sequence.owner {
                    let kind = if owner.identity { "i" } else { "a" };
                    put(own, (PG_CLASS, owner.table, owner.column + 1), kind);
                }
            }
        }
    }
}

pub(super) fn descriptions(world: &mut World<'_>, filler: &mut Filler) {
    // Of what PostgreSQL says about its own objects, what psql shows.
    filler.row(&[
        ("objoid", oid(PLPGSQL_EXTENSION)),
        ("classoid", oid(PG_EXTENSION)),
        ("description", text("PL/pgSQL procedural language")),
    ]);
    for ((class, object, column), comment) in &world.catalog.comments {
        filler.row(&[
            ("objoid", oid(*object)),
            ("classoid", oid(*class)),
            ("objsubid", Datum::Int((*column).into())),
            ("description", text(comment)),
        ]);
    }
}
