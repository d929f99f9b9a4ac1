//! The views of `pg_catalog` that people look at: `pg_tables`, `pg_indexes`, ….

use crate::catalog::{Oid, RelationKind};
use crate::error::Result;
use crate::introspection::fill::{Filler, oid, text, yes};
use crate::introspection::relations::all;
use crate::storage::World;
use crate::system::initial;
use crate::types::Datum;

pub(super) fn fill(world: &mut World<'_>, name: &str, filler: &mut Filler) -> Result<()> {
    for relation in all(world) {
        let schema = text(schema_name(world, relation.schema));
        match (name, &relation.kind) {
            ("pg_tables", RelationKind::Table(table)) => filler.row(&[
                ("schemaname", schema),
                ("tablename", text(&relation.name)),
                ("tableowner", text("postgres")),
                ("hasindexes", yes(!table.indexes.is_empty())),
                ("hasrules", yes(false)),
                ("hastriggers", yes(!table.triggers.is_empty())),
                ("rowsecurity", yes(false)),
            ]),
            ("pg_views", RelationKind::View(view)) if view.materialized.is_none() => filler.row(&[
                ("schemaname", schema),
                ("viewname", text(&relation.name)),
                ("viewowner", text("postgres")),
                (
                    "definition",
                    text(
                        crate::deparse::view_definition(world, relation.oid, crate::deparse::Style::Plain)
                            .unwrap_or_default(),
                    ),
                ),
            ]),
            ("pg_matviews", RelationKind::View(view)) if view.materialized.is_some() => filler.row(&[
                ("schemaname", schema),
                ("matviewname", text(&relation.name)),
                ("matviewowner", text("postgres")),
                ("ispopulated", yes(super::relations::is_populated(world, &relation))),
                (
                    "definition",
                    text(
                        crate::deparse::view_definition(world, relation.oid, crate::deparse::Style::Plain)
                            .unwrap_or_default(),
                    ),
                ),
            ]),
            ("pg_indexes", RelationKind::Index(index)) => {
                let owner = world.catalog.shown(index.table);
                let table = owner.map_or_else(String::new, |owner| owner.name.to_string());
                let definition =
                    crate::deparse::definition::index(world, &relation, false, crate::deparse::Style::Plain);
                filler.row(&[
                    ("schemaname", schema),
                    ("tablename", text(table)),
                    ("indexname", text(&relation.name)),
                    ("indexdef", text(definition)),
                ]);
            }
            ("pg_sequences", RelationKind::Sequence(sequence)) => {
                let (last, called) = world.sequence_row(relation.oid)?;
                filler.row(&[
                    ("schemaname", schema),
                    ("sequencename", text(&relation.name)),
                    ("sequenceowner", text("postgres")),
                    ("data_type", oid(sequence.ty.0)),
                    ("start_value", Datum::Int(sequence.start)),
                    ("min_value", Datum::Int(sequence.minimum)),
                    ("max_value", Datum::Int(sequence.maximum)),
                    ("increment_by", Datum::Int(sequence.increment)),
                    ("cycle", yes(sequence.cycle)),
                    ("cache_size", Datum::Int(sequence.cache)),
                    ("last_value", if called { Datum::Int(last) } else { Datum::Null }),
                ]);
            }
            (
                "pg_stat_user_tables" | "pg_stat_all_tables" | "pg_statio_user_tables" | "pg_statio_all_tables",
                RelationKind::Table(_),
            ) => {
                filler.row(&[("relid", oid(relation.oid)), ("schemaname", schema), ("relname", text(&relation.name))]);
            }
            _ => {}
        }
    }
    if name == "pg_tables" {
        let rows = initial::of("pg_class")
            .into_iter()
            .flat_map(|file| file.select(["relname", "relnamespace", "relkind", "relhasindex", "reltablespace"]));
        for [name, schema, _, indexed, space] in rows.filter(|[_, _, kind, ..]| *kind == "r") {
            filler.row(&[
                ("schemaname", text(schema_name(world, schema.parse().unwrap_or(0)))),
                ("tablename", text(name)),
                ("tableowner", text("postgres")),
                ("tablespace", if space == "0" { Datum::Null } else { text("pg_global") }),
                ("hasindexes", yes(indexed == "t")),
                ("hasrules", yes(false)),
                ("hastriggers", yes(false)),
                ("rowsecurity", yes(false)),
            ]);
        }
    }
    Ok(())
}

pub(super) fn schema_name(world: &World<'_>, schema: Oid) -> String {
    world.catalog.schemas.get(&schema).map_or_else(String::new, |schema| schema.name.to_string())
}
