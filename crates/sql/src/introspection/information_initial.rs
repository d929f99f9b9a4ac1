//! What `information_schema` says about the tables and views of the system.

use std::collections::BTreeMap;

use crate::introspection::fill::{Filler, int, text, yes_no};
use crate::introspection::information::{type_facts, udt};
use crate::storage::World;
use crate::system::initial;
use crate::types::{Type, Typed};

/// The tables and views of the system by number: name, schema, whether it is a view.
pub(super) fn system_relations() -> BTreeMap<&'static str, (&'static str, &'static str, bool)> {
    let rows = initial::of("pg_class").into_iter();
    let rows = rows.flat_map(|file| file.select(["oid", "relname", "relnamespace", "relkind"]));
    rows.filter(|[.., schema, kind]| matches!(*kind, "r" | "v") && *schema != "99")
        .map(|[oid, name, schema, kind]| {
            (oid, (name, if schema == "11" { "pg_catalog" } else { "information_schema" }, kind == "v"))
        })
        .collect()
}

/// The columns of the tables and views of the system.
pub(super) fn system_columns(world: &World<'_>, filler: &mut Filler) {
    let relations = system_relations();
    let domains: BTreeMap<&str, [&str; 3]> = initial::of("pg_type")
        .into_iter()
        .flat_map(|file| file.select(["oid", "typname", "typbasetype", "typtypmod"]))
        .filter(|[_, _, base, _]| *base != "0")
        .map(|[oid, name, base, modifier]| (oid, [name, base, modifier]))
        .collect();
    let rows = initial::of("pg_attribute").into_iter();
    let rows =
        rows.flat_map(|file| file.select(["attrelid", "attname", "attnum", "atttypid", "atttypmod", "attnotnull"]));
    for [relation, name, number, ty, modifier, not_null] in rows {
        let Some((table, schema, view)) = relations.get(relation).filter(|_| !number.starts_with('-')) else {
            continue;
        };
        let domain = domains.get(ty);
        let [_, base, modifier] = domain.copied().unwrap_or(["", ty, modifier]);
        let typed = Typed { ty: Type(base.parse().unwrap_or(0)), modifier: modifier.parse().unwrap_or(-1) };
        let catalog = text(&world.session.client.database);
        let mut row = vec![
            ("table_catalog", catalog.clone()),
            ("table_schema", text(schema)),
            ("table_name", text(table)),
            ("column_name", text(name)),
            ("ordinal_position", int(number.parse::<i64>().unwrap_or(0))),
            ("dtd_identifier", text(number)),
            ("is_nullable", yes_no(not_null == "f")),
            ("is_self_referencing", yes_no(false)),
            ("is_identity", yes_no(false)),
            ("identity_cycle", yes_no(false)),
            ("is_generated", text("NEVER")),
            ("is_updatable", yes_no(!view)),
            ("udt_catalog", catalog.clone()),
        ];
        row.extend(type_facts(world, typed));
        row.extend(udt(world, typed.ty));
        if let Some([name, ..]) = domain {
            row.extend([
                ("domain_catalog", catalog),
                ("domain_schema", text("information_schema")),
                ("domain_name", text(name)),
            ]);
        }
        filler.row(&row);
    }
}
