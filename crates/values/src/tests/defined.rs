//! Types that users define.

use std::sync::{Arc, LazyLock};

use super::{World, literal, show};
use crate::cast::{CastContext, context};
use crate::{Datum, Definition, Form, Oid, Type, Typed, binary, cast, compare};

const MOOD: Type = Type(20_000);
const MOODS: Type = Type(20_001);
const SHORT: Type = Type(20_002);
const PAIR: Type = Type(20_004);

static LABELS: LazyLock<Vec<(Oid, f32, Arc<str>)>> =
    LazyLock::new(|| vec![(1, 1.0, "sad".into()), (2, 2.0, "ok".into()), (3, 1.5, "meh".into())]);
static FIELDS: LazyLock<Vec<(Arc<str>, Typed)>> =
    LazyLock::new(|| vec![("n".into(), Type::INT4.into()), ("mood".into(), MOOD.into())]);

fn world() -> World {
    let short = Typed { ty: Type::VARCHAR, modifier: 7 };
    let types = [
        (MOOD, "mood", Form::Enum(&LABELS)),
        (SHORT, "Short Text", Form::Domain(short)),
        (PAIR, "pair", Form::Composite(&FIELDS)),
    ];
    let definition = |(ty, name, form): (Type, _, _)| Definition { ty, array: Type(ty.0 + 1), name, form };
    World { types: types.map(definition).to_vec(), ..World::default() }
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
    let value = literal("(7,ok)", PAIR.into(), &mut super::defined::world()).expect("a row");
    binary::output_into(&mut bytes, &value, PAIR, &world).expect("it can be sent");
    let back = binary::input(&bytes, PAIR.into(), &world).expect("it can be received");
    assert_eq!(show(&back, PAIR, &world), "(7,ok)");
}

#[test]
fn fields_with_special_characters_are_quoted() {
    let shape = Arc::new(crate::RecordShape::row([Type::TEXT.into(), Type::TEXT.into(), Type::BOOL.into()]));
    let fields = vec![Datum::text("a \"b\" \\ c"), Datum::text(""), Datum::Null];
    let world = World::default();
    assert_eq!(show(&Datum::record(shape, fields), Type::RECORD, &world), r#"("a ""b"" \\ c","",)"#);
}

#[test]
fn conversions_happen_where_pg_cast_allows_them() {
    let world = world();
    let found = |from, to| context(from, to, &world);
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
