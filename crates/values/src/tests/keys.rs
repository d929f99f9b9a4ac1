//! Keys compare as the values do that they are made of.

use std::cmp::Ordering;

use super::{World, literal};
use crate::{Datum, Typed, compare, encode, names};

/// Values of a type, in PostgreSQL's order; equal ones are side by side with ` = `.
static ORDERED: &[(&str, &[&str])] = &[
    ("boolean", &["f", "t"]),
    ("bigint", &["-9223372036854775808", "-256", "-1", "0", "1", "255", "256", "9223372036854775807"]),
    (
        "double precision",
        &["-infinity", "-1e300", "-1.5", "-1e-300", "0 = -0", "1e-300", "1", "1.5", "1e300", "infinity", "NaN"],
    ),
    (
        "numeric",
        &[
            "-Infinity",
            "-1e100",
            "-123.5",
            "-123.45",
            "-12",
            "-1.5 = -1.500",
            "-0.1",
            "-0.01",
            "-1e-100",
            "0 = 0.00 = -0",
            "1e-100",
            "0.01",
            "0.011",
            "0.1",
            "1 = 1.0",
            "1.05",
            "1.5",
            "9.99",
            "10 = 10.000",
            "12",
            "99",
            "100",
            "123.45",
            "123.456",
            "12345678901234567890123456789012345678901234567890",
            "1e50",
            "1e100",
            "Infinity",
            "NaN",
        ],
    ),
    ("text", &["", "A", "B", "a", "a ", "a b", "aa", "ab", "b", "é", "€"]),
    ("char(5)", &["A", "a = a  ", "a b", "ab"]),
    ("bytea", &["\\x", "\\x00", "\\x0000", "\\x0001", "\\x01", "\\x01ff", "\\xff", "\\xffff"]),
    ("date", &["-infinity", "4713-01-01 BC", "1999-12-31", "2000-01-01", "2024-02-29", "infinity"]),
    ("timestamptz", &["-infinity", "1999-12-31 23:00+00 = 2000-01-01 00:00+01", "2000-01-01 00:00+00", "infinity"]),
    ("timetz", &["10:00+01", "10:00+00", "10:00-01", "23:00-05"]),
    ("interval", &["-1 mon", "-29 days", "0 = 00:00", "1 sec", "1 day = 24:00", "1 mon = 30 days = 720:00", "1 year"]),
    ("uuid", &["00000000-0000-0000-0000-000000000001", "10000000-0000-0000-0000-000000000000"]),
    (
        "jsonb",
        &[
            "[]",
            "null",
            "\"\"",
            "\"a\"",
            "\"aa\"",
            "\"b\"",
            "-1",
            "1 = 1.0",
            "2",
            "false",
            "true",
            "[1]",
            "[[]]",
            "[{}]",
            "[1,2]",
            "{}",
            "{\"a\":1}",
            "{\"a\":2}",
            "{\"b\":1}",
            "{\"a\":1,\"b\":1}",
        ],
    ),
    ("integer[]", &["{}", "{1}", "{1,1}", "{1,2}", "{{1,2}}", "{1,2,3}", "{1,NULL}", "{2}", "{NULL}"]),
    ("inet", &["1.2.3.4", "10.0.0.0/8", "10.1.0.0/8", "10.0.0.0/16", "10.0.0.1", "::1", "ffff::"]),
];

fn groups(name: &str, values: &[&str], world: &mut World) -> Vec<(usize, Datum, Typed)> {
    let typed = names::parse(name, world).expect("a type");
    let mut found = Vec::new();
    for (group, line) in values.iter().enumerate() {
        for value in line.split(" = ") {
            let value = literal(value, typed, world).unwrap_or_else(|error| panic!("{value}: {error}"));
            found.push((group, value, typed));
        }
    }
    found
}

fn key(value: &Datum, typed: Typed, descending: bool, nulls_first: bool) -> Vec<u8> {
    let mut key = Vec::new();
    encode::encode(&mut key, value, typed.ty, descending, nulls_first);
    key
}

#[test]
fn keys_and_comparisons_have_the_order_of_values() {
    let mut world = World::default();
    for (name, values) in ORDERED {
        let values = groups(name, values, &mut world);
        for (left_group, left, typed) in &values {
            for (right_group, right, _) in &values {
                let expected = left_group.cmp(right_group);
                let pair = format!("{left:?} and {right:?} of {name}");
                assert_eq!(compare::compare(left, right, typed.ty), expected, "{pair}");
                let keys = |descending| (key(left, *typed, descending, false), key(right, *typed, descending, false));
                let (low, high) = keys(false);
                assert_eq!(low.cmp(&high), expected, "{pair}: ascending keys");
                let (low, high) = keys(true);
                assert_eq!(low.cmp(&high), expected.reverse(), "{pair}: descending keys");
                assert!(low == high || !high.starts_with(&low), "{pair}: no key begins another one");
            }
        }
    }
}

#[test]
fn nulls_are_first_or_last_whatever_the_direction() {
    let typed = Typed { ty: crate::Type::INT4, modifier: -1 };
    for descending in [false, true] {
        let value = |nulls_first| key(&Datum::Int(i64::MIN), typed, descending, nulls_first);
        let null = |nulls_first| key(&Datum::Null, typed, descending, nulls_first);
        assert_eq!(null(true).cmp(&value(true)), Ordering::Less);
        assert_eq!(null(false).cmp(&value(false)), Ordering::Greater);
    }
}

#[test]
fn keys_of_common_types_tell_their_values() {
    let mut world = World::default();
    let types = ["boolean", "bigint", "double precision", "date", "timestamptz", "uuid", "text", "char(5)", "bytea"];
    for (name, values) in ORDERED.iter().filter(|(name, _)| types.contains(name)) {
        for (_, value, typed) in groups(name, values, &mut world) {
            for descending in [false, true] {
                let mut bytes = key(&value, typed, descending, false);
                bytes.push(7);
                let (found, rest) = encode::decode(&bytes, typed.ty, descending).expect("a value");
                assert_eq!(key(&found, typed, descending, false), bytes[..bytes.len() - 1], "{name}: {value:?}");
                assert_eq!(rest, [7], "{name}: {value:?}");
            }
        }
    }
}
