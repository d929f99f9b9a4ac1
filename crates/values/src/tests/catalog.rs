//! Types that users define, and names of objects.

use std::sync::Arc;

use super::{World, literal, show};
use crate::catalog::{PUBLIC, Schema, UserType, UserTypeKind};
use crate::types::cast::{CastContext, context};
use crate::types::{Datum, Type, Typed, binary, cast, compare, names};

const MOOD: Type = Type(20_000);
const MOODS: Type = Type(20_001);
const SHORT: Type = Type(20_002);
const PAIR: Type = Type(20_004);
const HIDDEN: Type = Type(20_006);

fn world() -> World {
    let mut world = World::default();
    let mut add = |ty: Type, schema, name: &str, kind| {
        let array = Type(ty.0 + 1);
        world.catalog.types.insert(ty.0, Arc::new(UserType { ty, array, schema, name: name.into(), kind }));
    };
    let labels = vec![(1, 1.0, "sad".into()), (2, 2.0, "ok".into()), (3, 1.5, "meh".into())];
    add(MOOD, PUBLIC, "mood", UserTypeKind::Enum(labels));
    let base = Typed { ty: Type::VARCHAR, modifier: 7 };
    add(SHORT, PUBLIC, "Short Text", UserTypeKind::Domain { base, not_null: false, default: None, checks: Vec::new() });
    let fields = vec![("n".into(), Type::INT4.into()), ("mood".into(), MOOD.into())];
    add(PAIR, PUBLIC, "pair", UserTypeKind::Composite(fields));
    add(HIDDEN, 30_000, "hidden", UserTypeKind::Enum(Vec::new()));
    let schema = Schema { oid: 30_000, name: "elsewhere".into(), temporary: false };
    world.catalog.schemas.insert(30_000, Arc::new(schema));
    world
}

/// Reads a literal of a type and shows it; errors by code and message.
fn through(input: &str, ty: Type) -> String {
    let mut world = world();
    match literal(input, ty.into(), &mut world) {
        Ok(value) => show(&value, ty, &world),
        Err(error) => error.to_string(),
    }
}

#[test]
fn enums_are_read_by_their_labels_and_ordered_by_their_places() {
    assert_eq!(through("ok", MOOD), "ok");
    assert_eq!(through("great", MOOD), "22P02: invalid input value for enum mood: \"great\"");
    assert_eq!(through("{sad,ok,NULL}", MOODS), "{sad,ok,NULL}");
    let mut world = world();
    let mut value = |label| literal(label, MOOD.into(), &mut world).expect("a label");
    let (sad, meh, ok) = (value("sad"), value("meh"), value("ok"));
    assert!(compare::compare(&sad, &meh, MOOD).is_lt() && compare::compare(&meh, &ok, MOOD).is_lt());
}

#[test]
fn a_domain_obeys_the_modifier_of_the_type_below() {
    assert_eq!(through("abc", SHORT), "abc");
    // An explicit cast cuts off; an assignment does not.
    assert_eq!(through("abcd", SHORT), "abc");
    let mut world = world();
    let assigned = cast::cast(Datum::text("abcd"), Type::TEXT, SHORT.into(), false, &mut world);
    assert_eq!(assigned.expect_err("too long").to_string(), "22001: value too long for type character varying(3)");
}

#[test]
fn rows_are_read_and_shown_field_by_field() {
    assert_eq!(through("(1,sad)", PAIR), "(1,sad)");
    assert_eq!(through("( 1 ,)", PAIR), "(1,)");
    assert_eq!(through("(1,\"sad\")", PAIR), "(1,sad)");
    assert_eq!(through("(1)", PAIR), "22P02: malformed record literal: \"(1)\"");
    assert_eq!(through("(1,sad,2)", PAIR), "22P02: malformed record literal: \"(1,sad,2)\"");
    assert_eq!(through("(1,sad", PAIR), "22P02: malformed record literal: \"(1,sad\"");
    assert_eq!(through("{\"(1,sad)\",\"(2,)\"}", Type(PAIR.0 + 1)), "{\"(1,sad)\",\"(2,)\"}");
    let world = world();
    let mut bytes = Vec::new();
    let value = literal("(7,ok)", PAIR.into(), &mut super::catalog::world()).expect("a row");
    binary::output_into(&mut bytes, &value, PAIR, &world).expect("it can be sent");
    let back = binary::input(&bytes, PAIR.into(), &world).expect("it can be received");
    assert_eq!(show(&back, PAIR, &world), "(7,ok)");
}

#[test]
fn fields_with_special_characters_are_quoted() {
    let shape = Arc::new(crate::types::RecordShape::row([Type::TEXT.into(), Type::TEXT.into(), Type::BOOL.into()]));
    let fields = vec![Datum::text("a \"b\" \\ c"), Datum::text(""), Datum::Null];
    let world = World::default();
    assert_eq!(show(&Datum::record(shape, fields), Type::RECORD, &world), r#"("a ""b"" \\ c","",)"#);
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
fn conversions_happen_where_pg_cast_allows_them() {
    let world = world();
    let found = |from, to| context(from, to, &world.catalog);
    use CastContext::{Assignment, Explicit, Implicit};
    assert_eq!(found(Type::INT4, Type::INT8), Some(Implicit));
    assert_eq!(found(Type::INT8, Type::INT4), Some(Assignment));
    assert_eq!(found(Type::INT4, Type::BOOL), Some(Explicit));
    assert_eq!(found(Type::INT4, Type::TEXT), Some(Assignment));
    assert_eq!(found(Type::TEXT, Type::INT4), Some(Explicit));
    assert_eq!(found(Type::INT4, Type::DATE), None);
    assert_eq!(found(Type::INT4_ARRAY, Type::INT8_ARRAY), Some(Implicit));
    assert_eq!(found(Type::INT4_ARRAY, Type::TEXT), Some(Assignment));
    assert_eq!(found(Type::INT4, Type::INT4_ARRAY), None);
    assert_eq!(found(MOOD, Type::TEXT), Some(Assignment));
    assert_eq!(found(Type::TEXT, MOOD), Some(Explicit));
    assert_eq!(found(MOOD, Type::INT4), None);
    assert_eq!(found(SHORT, Type::TEXT), Some(Implicit));
    assert_eq!(found(Type::TEXT, SHORT), Some(Implicit));
    assert_eq!(found(Type::RECORD, PAIR), Some(Implicit));
    assert_eq!(found(Type::UNKNOWN, Type::DATE), Some(Implicit));
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
