//! What there is once: schemas, databases, roles.

use crate::catalog::{Oid, PG_CATALOG};
use crate::functions::extension::{self, EXTENSIONS};
use crate::introspection::fill::{Filler, array, int, oid, text, yes};
use crate::introspection::relations::BLOOM;
use crate::storage::World;
use crate::system::initial;
use crate::types::collation::languages;
use crate::types::{Datum, Type};

pub(super) fn fill(world: &mut World<'_>, name: &str, filler: &mut Filler) {
    match name {
        "pg_namespace" => {
            for schema in world.catalog.schemas.values() {
                let (owner, acl) = match &*schema.name {
                    "public" => (6171, &["pg_database_owner=UC/pg_database_owner", "=U/pg_database_owner"][..]),
                    "pg_catalog" | "information_schema" => (10, &["postgres=UC/postgres", "=U/postgres"][..]),
                    _ => (10, &[][..]),
                };
                let acl =
                    if acl.is_empty() { Datum::Null } else { array(Type::ACLITEM, acl.iter().map(text).collect()) };
                filler.row(&[
                    ("oid", oid(schema.oid)),
                    ("nspname", text(&schema.name)),
                    ("nspowner", oid(owner)),
                    ("nspacl", acl),
                ]);
            }
            filler.row(&[("oid", oid(99)), ("nspname", text("pg_toast")), ("nspowner", oid(10))]);
        }
        "pg_database" => databases(world, filler),
        "pg_available_extensions" => {
            for known in EXTENSIONS {
                let installed = world.catalog.extensions.values().any(|installed| *installed.name == *known.name);
                filler.row(&[
                    ("name", text(known.name)),
                    ("default_version", text(known.version)),
                    ("installed_version", if installed { text(known.version) } else { Datum::Null }),
                    ("comment", text(known.comment)),
                ]);
            }
            filler.row(&[
                ("name", text("plpgsql")),
                ("default_version", text("1.0")),
                ("installed_version", text("1.0")),
                ("comment", text("PL/pgSQL procedural language")),
            ]);
        }
        "pg_roles" | "pg_authid" | "pg_user" | "pg_shadow" | "pg_group" => roles(world, name, filler),
        _ => {}
    }
}

/// The collations of languages, and those that users have made.
pub(super) fn collations(world: &World<'_>, filler: &mut Filler) {
    let languages = languages().map(|(number, name, tag)| (number, name, PG_CATALOG, Some(tag.to_owned()), true));
    let made = world.catalog.collations.values().map(|made| {
        let locale = made.locale.as_ref().map(ToString::to_string);
        (made.oid, made.name.to_string(), made.schema, locale, made.deterministic)
    });
    for (number, name, schema, locale, deterministic) in languages.chain(made) {
        let bytes = if locale.is_none() { text("C") } else { Datum::Null };
        filler.row(&[
            ("oid", oid(number)),
            ("collname", text(name)),
            ("collnamespace", oid(schema)),
            ("collowner", oid(10)),
            ("collprovider", text(if locale.is_some() { "i" } else { "c" })),
            ("collisdeterministic", yes(deterministic)),
            ("collencoding", Datum::Int(if locale.is_some() { -1 } else { 6 })),
            ("collcollate", bytes.clone()),
            ("collctype", bytes),
            ("colliculocale", locale.map_or(Datum::Null, text)),
        ]);
    }
}

/// The installed extensions; `plpgsql` is there from the start.
pub(super) fn extensions(world: &World<'_>, filler: &mut Filler) {
    for installed in world.catalog.extensions.values() {
        let version = extension::find(&installed.name).map_or("", |known| known.version);
        filler.row(&[
            ("oid", oid(installed.oid)),
            ("extname", text(&installed.name)),
            ("extowner", oid(10)),
            ("extnamespace", oid(installed.schema)),
            ("extrelocatable", yes(true)),
            ("extversion", text(version)),
        ]);
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

/// The roles: the owner of everything, whoever is connected, and those that PostgreSQL has from the start.
fn roles(world: &World<'_>, table: &str, filler: &mut Filler) {
    let numbers = std::iter::once(10).chain(10_001..);
    let names = world.role_names().into_iter().zip(numbers);
    for (name, number) in names {
        filler.row(&if table == "pg_user" || table == "pg_shadow" {
            user(name, number)
        } else {
            role(name, number, true)
        });
    }
    let initial = initial::of("pg_authid").into_iter().flat_map(|file| file.select(["oid", "rolname"]));
    match table {
        "pg_roles" => initial.for_each(|[number, name]| {
            filler.row(&role(name.to_owned(), number.parse().unwrap_or(0), false));
        }),
        "pg_group" => initial.for_each(|[number, name]| {
            let members = initial::of("pg_auth_members").into_iter().flat_map(|file| file.select(["roleid", "member"]));
            let members =
                members.filter(|[role, _]| *role == number).map(|[_, member]| oid(member.parse().unwrap_or(0)));
            filler.row(&[
                ("groname", text(name)),
                ("grosysid", oid(number.parse().unwrap_or(0))),
                ("grolist", array(Type::OID, members.collect())),
            ]);
        }),
        _ => {}
    }
}

fn user(name: String, number: Oid) -> Vec<(&'static str, Datum)> {
    vec![
        ("usename", text(name)),
        ("usesysid", oid(number)),
        ("usecreatedb", yes(true)),
        ("usesuper", yes(true)),
        ("userepl", yes(true)),
        ("usebypassrls", yes(true)),
        ("passwd", text("********")),
    ]
}

/// A role; those that are there from the start own nothing and cannot log in.
fn role(name: String, number: Oid, person: bool) -> Vec<(&'static str, Datum)> {
    vec![
        ("oid", oid(number)),
        ("rolname", text(name)),
        ("rolsuper", yes(person)),
        ("rolinherit", yes(true)),
        ("rolcreaterole", yes(person)),
        ("rolcreatedb", yes(person)),
        ("rolcanlogin", yes(person)),
        ("rolreplication", yes(person)),
        ("rolbypassrls", yes(person)),
        ("rolconnlimit", Datum::Int(-1)),
        ("rolpassword", text("********")),
    ]
}

/// `pg_am`: the access method of `bloom`.
pub(super) fn methods(world: &mut World<'_>, filler: &mut Filler) {
    if world.catalog.extensions.values().any(|installed| &*installed.name == "bloom") {
        filler.row(&[("oid", oid(BLOOM)), ("amname", text("bloom")), ("amtype", text("i"))]);
    }
}
