//! Names of types and other objects, as the search path asks for them.

use std::sync::Arc;

use crate::bind::tests::World;
use crate::catalog::{PUBLIC, Schema, UserType, UserTypeKind};
use crate::types::{Type, Typed, names, text};

const MOOD: Type = Type(20_000);
const MOODS: Type = Type(20_001);
const SHORT: Type = Type(20_002);
const HIDDEN: Type = Type(20_006);

/// Types in `public` and in a schema that is not in the search path.
fn world() -> World {
    let mut world = World::default();
    world.catalog.types.clear();
    let mut add = |ty: Type, schema, name: &str, kind| {
        let array = Type(ty.0 + 1);
        world.catalog.types.insert(ty.0, Arc::new(UserType { ty, array, schema, name: name.into(), kind }));
    };
    add(MOOD, PUBLIC, "mood", UserTypeKind::Enum(Vec::new()));
    let base = Typed { ty: Type::VARCHAR, modifier: 7 };
    add(SHORT, PUBLIC, "Short Text", UserTypeKind::Domain { base, not_null: false, default: None, checks: Vec::new() });
    add(HIDDEN, 30_000, "hidden", UserTypeKind::Enum(Vec::new()));
    let schema = Schema { oid: 30_000, name: "elsewhere".into(), temporary: false };
    world.catalog.schemas.insert(30_000, Arc::new(schema));
    world
}

/// Reads a literal of a type and shows it; errors by code and message.
fn through(input: &str, ty: Type) -> String {
    let world = world();
    match text::input(input, ty.into(), &world) {
        Ok(value) => text::output(&value, ty, &world),
        Err(error) => error.to_string(),
    }
}

#[test]
fn types_have_the_names_that_the_search_path_asks_for() {
    let world = world();
    let name = |ty, modifier| names::format_type(ty, modifier, &world);
    assert_eq!(name(MOOD, None), "mood");
    assert_eq!(name(MOODS, None), "mood[]");
    assert_eq!(name(SHORT, None), "\"Short Text\"");
    assert_eq!(name(HIDDEN, None), "elsewhere.hidden");
    assert_eq!(name(Type::VARCHAR, Some(14)), "character varying(10)");
    assert_eq!(name(Type::VARCHAR_ARRAY, Some(14)), "character varying(10)[]");
    assert_eq!(name(Type::BPCHAR, Some(-1)), "bpchar");
    assert_eq!(name(Type::BPCHAR, None), "character");
    assert_eq!(name(Type::NUMERIC, Some((10 << 16 | 2) + 4)), "numeric(10,2)");
    assert_eq!(name(Type::TIMESTAMP, Some(3)), "timestamp(3) without time zone");
    assert_eq!(name(Type::INTERVAL, Some(0x1C08 << 16 | 0xFFFF)), "interval day to second");
    assert_eq!(name(Type(99_999), None), "???");
    assert_eq!(name(Type(0), None), "-");
    let parsed = |text| names::parse(text, &world).map(|typed| typed.ty);
    assert_eq!(parsed("elsewhere.hidden[]").expect("a type"), Type(HIDDEN.0 + 1));
    assert_eq!(parsed("\"Short Text\"").expect("a type"), SHORT);
    assert_eq!(parsed("hidden").expect_err("not visible").to_string(), "42704: type \"hidden\" does not exist");
}

#[test]
fn objects_are_read_and_shown_by_name() {
    assert_eq!(through("pg_class", Type::REGCLASS), "pg_class");
    assert_eq!(through("pg_catalog.pg_class", Type::REGCLASS), "pg_class");
    assert_eq!(through("nowhere", Type::REGCLASS), "42P01: relation \"nowhere\" does not exist");
    assert_eq!(through("public.nowhere", Type::REGCLASS), "42P01: relation \"public.nowhere\" does not exist");
    assert_eq!(through("123456", Type::REGCLASS), "123456");
    assert_eq!(through("-", Type::REGCLASS), "-");
    assert_eq!(through("public", Type::REGNAMESPACE), "public");
    assert_eq!(through("nowhere", Type::REGNAMESPACE), "3F000: schema \"nowhere\" does not exist");
    assert_eq!(through("array_in", Type::REGPROC), "array_in");
    assert_eq!(through("pg_catalog.array_in", Type::REGPROC), "array_in");
    assert_eq!(through("nothing", Type::REGPROC), "42883: function \"nothing\" does not exist");
    assert_eq!(through("lower(text)", Type::REGPROCEDURE), "lower(text)");
    assert_eq!(through("mood", Type::REGTYPE), "mood");
    assert_eq!(through("\"C\"", Type::REGCOLLATION), "\"C\"");
    assert_eq!(through("a.b.c.d", Type::REGCLASS), "42602: invalid name syntax");
}
