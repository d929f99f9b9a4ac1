//! What there is once: schemas, databases, roles, tablespaces, methods, collations, operator classes.

use crate::catalog::{Oid, PG_CATALOG};
use crate::storage::World;
use crate::system::fill::{Filler, int, oid, text, yes};
use crate::types::{Datum, Type};

/// The btree operator classes that indexes use: number, name, type.
const CLASSES: &[(Oid, &str, Type)] = &[
    (1979, "int2_ops", Type::INT2),
    (1978, "int4_ops", Type::INT4),
    (3124, "int8_ops", Type::INT8),
    (1981, "oid_ops", Type::OID),
    (424, "bool_ops", Type::BOOL),
    (3126, "text_ops", Type::TEXT),
    (426, "bpchar_ops", Type::BPCHAR),
    (10028, "name_ops", Type::NAME),
    (428, "bytea_ops", Type::BYTEA),
    (3122, "date_ops", Type::DATE),
    (3128, "timestamp_ops", Type::TIMESTAMP),
    (3127, "timestamptz_ops", Type::TIMESTAMPTZ),
    (10043, "time_ops", Type::TIME),
    (3125, "numeric_ops", Type::NUMERIC),
    (3123, "float8_ops", Type::FLOAT8),
    (10027, "float4_ops", Type::FLOAT4),
    (10065, "uuid_ops", Type::UUID),
    (10079, "jsonb_ops", Type::JSONB),
    (10033, "interval_ops", Type::INTERVAL),
    (10072, "enum_ops", Type::ANYENUM),
    (10007, "array_ops", Type::ANYARRAY),
];

/// Whether PostgreSQL shows an operator class in an index's definition: only those that are not the type's default.
const METHODS: &[(Oid, &str, &str)] = &[
    (2, "heap", "t"),
    (403, "btree", "i"),
    (405, "hash", "i"),
    (783, "gist", "i"),
    (2742, "gin", "i"),
    (4000, "spgist", "i"),
    (3580, "brin", "i"),
];

pub(super) fn fill(world: &mut World<'_>, name: &str, filler: &mut Filler) {
    match name {
        "pg_namespace" => {
            for schema in world.catalog.schemas.values() {
                filler.row(&[
                    ("oid", oid(schema.oid)),
                    ("nspname", text(&schema.name)),
                    ("nspowner", oid(if &*schema.name == "public" { 6171 } else { 10 })),
                ]);
            }
            filler.row(&[("oid", oid(99)), ("nspname", text("pg_toast")), ("nspowner", oid(10))]);
        }
        "pg_database" => databases(world, filler),
        "pg_roles" | "pg_authid" | "pg_user" | "pg_shadow" => roles(world, name, filler),
        "pg_tablespace" => {
            for (number, name) in [(1663, "pg_default"), (1664, "pg_global")] {
                filler.row(&[("oid", oid(number)), ("spcname", text(name)), ("spcowner", oid(10))]);
            }
        }
        "pg_am" => {
            for (number, name, kind) in METHODS {
                filler.row(&[("oid", oid(*number)), ("amname", text(name)), ("amtype", text(kind))]);
            }
        }
        "pg_collation" => {
            for (number, name, provider) in
                [(100, "default", "d"), (950, "C", "c"), (951, "POSIX", "c"), (962, "ucs_basic", "c")]
            {
                filler.row(&[
                    ("oid", oid(number)),
                    ("collname", text(name)),
                    ("collnamespace", oid(PG_CATALOG)),
                    ("collowner", oid(10)),
                    ("collprovider", text(provider)),
                    ("collisdeterministic", yes(true)),
                    ("collencoding", int(-1)),
                ]);
            }
        }
        "pg_opclass" => {
            for (number, name, ty) in CLASSES {
                filler.row(&[
                    ("oid", oid(*number)),
                    ("opcmethod", oid(403)),
                    ("opcname", text(name)),
                    ("opcnamespace", oid(PG_CATALOG)),
                    ("opcowner", oid(10)),
                    ("opcintype", oid(ty.0)),
                    ("opcdefault", yes(true)),
                ]);
            }
        }
        "pg_extension" => filler.row(&[
            ("oid", oid(13576)),
            ("extname", text("plpgsql")),
            ("extowner", oid(10)),
            ("extnamespace", oid(PG_CATALOG)),
            ("extversion", text("1.0")),
        ]),
        _ => {}
    }
}

fn databases(world: &World<'_>, filler: &mut Filler) {
    let mut names = world.session.client.cluster.names();
    if !names.contains(&world.session.client.database) {
        names.push(world.session.client.database.clone());
    }
    names.sort();
    for (number, name) in (5u32..).zip(names) {
        filler.row(&[
            ("oid", oid(number)),
            ("datname", text(name)),
            ("datdba", oid(10)),
            ("encoding", int(6)),
            ("datlocprovider", text("c")),
            ("datallowconn", yes(true)),
            ("datconnlimit", Datum::Int(-1)),
            ("dattablespace", oid(1663)),
            ("datcollate", text("C.UTF-8")),
            ("datctype", text("C.UTF-8")),
        ]);
    }
}

/// The roles: the owner of everything, and whoever is connected.
fn roles(world: &World<'_>, table: &str, filler: &mut Filler) {
    let mut names = vec![("postgres".to_owned(), 10)];
    let users =
        world.db.connections.values().map(|other| other.user.clone()).chain([world.session.client.user.clone()]);
    for user in users {
        if !names.iter().any(|(name, _)| *name == user) {
            let number = 10_000 + names.len() as u32;
            names.push((user, number));
        }
    }
    for (name, number) in names {
        if table == "pg_user" || table == "pg_shadow" {
            filler.row(&[
                ("usename", text(name)),
                ("usesysid", oid(number)),
                ("usecreatedb", yes(true)),
                ("usesuper", yes(true)),
                ("userepl", yes(true)),
                ("usebypassrls", yes(true)),
                ("passwd", text("********")),
            ]);
            continue;
        }
        filler.row(&[
            ("oid", oid(number)),
            ("rolname", text(name)),
            ("rolsuper", yes(true)),
            ("rolinherit", yes(true)),
            ("rolcreaterole", yes(true)),
            ("rolcreatedb", yes(true)),
            ("rolcanlogin", yes(true)),
            ("rolreplication", yes(true)),
            ("rolbypassrls", yes(true)),
            ("rolconnlimit", Datum::Int(-1)),
            ("rolpassword", text("********")),
        ]);
    }
}
