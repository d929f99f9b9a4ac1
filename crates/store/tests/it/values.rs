//! What keys hold, and what it can be read as.

use std::collections::BTreeSet;

use skew_model::{Level, Literal};
use skew_store::{Database, Entry, Error, Session, Value};

fn session() -> Session {
    Database::new(Level::Ser, 0).session("alice")
}

#[test]
fn what_is_written_is_read() {
    let set = BTreeSet::from(["milk".to_owned(), "tea".to_owned()]);
    session()
        .transaction(|t| {
            t.write("number", -7)?;
            t.write("truth", true)?;
            t.write("text", "on call")?;
            t.write("list", vec![3, 1, 2])?;
            t.write("set", set.clone())?;
            t.write("pair", (1, "one"))?;
            t.write("nested", vec![(1, vec![true]), (2, vec![])])?;
            assert_eq!(t.read::<i64>("number")?, -7);
            assert_eq!(t.read::<i32>("number")?, -7);
            assert!(t.read::<bool>("truth")?);
            assert_eq!(t.read::<String>("text")?, "on call");
            assert_eq!(t.read::<Vec<usize>>("list")?, [3, 1, 2]);
            assert_eq!(t.read::<BTreeSet<String>>("set")?, set);
            assert_eq!(t.read::<(u32, String)>("pair")?, (1, "one".to_owned()));
            assert_eq!(t.read::<Vec<(i64, Vec<bool>)>>("nested")?, [(1, vec![true]), (2, vec![])]);
            assert_eq!(t.read::<Value>("number")?, Value::Int(-7));
            Ok(())
        })
        .expect("nobody else is there");
}

#[test]
fn absence_is_an_option() {
    session()
        .transaction(|t| {
            assert_eq!(t.read::<Option<i64>>("x")?, None);
            t.write("x", 1)?;
            assert_eq!(t.read::<Option<i64>>("x")?, Some(1));
            t.delete("x")?;
            assert_eq!(t.read::<Option<i64>>("x")?, None);
            let error = t.read::<i64>("x").expect_err("there is nothing");
            assert_eq!(error.to_string(), "`x` holds nothing, which is not a number");
            Ok(())
        })
        .expect("nobody else is there");
}

#[test]
fn a_value_of_another_kind_is_an_error() {
    let error = session()
        .transaction(|t| {
            t.write("x", "seven")?;
            t.read::<i64>("x")
        })
        .expect_err("a text is not a number");
    let kind = Error::Kind { key: "x".to_owned(), found: "seven".to_owned(), wanted: "a number" };
    assert_eq!(error, kind);
    assert_eq!(error.to_string(), "`x` holds seven, which is not a number");
    assert!(!error.is_retryable());
}

#[test]
fn a_number_that_does_not_fit_is_an_error() {
    session()
        .transaction(|t| {
            t.write("x", 1_i64 << 40)?;
            t.write("y", -1)?;
            assert!(t.read::<i32>("x").is_err());
            assert!(t.read::<u32>("y").is_err());
            assert!(t.read::<usize>("y").is_err());
            Ok(())
        })
        .expect("nobody else is there");
}

#[test]
fn a_scan_finds_what_has_the_prefix_in_order() {
    let found = session().transaction(|t| {
        for key in ["cart-b", "cart-a", "stock-a", "cart-c"] {
            t.write(key, key.len())?;
        }
        t.delete("cart-c")?;
        t.scan::<i64>("cart-")
    });
    let entry = |key: &str| Entry { key: key.to_owned(), value: 6 };
    assert_eq!(found, Ok(vec![entry("cart-a"), entry("cart-b")]));
}

#[test]
fn compare_and_set_sets_only_what_is_expected() {
    session()
        .transaction(|t| {
            assert!(!t.compare_and_set("head", "a", "b")?);
            assert!(t.compare_and_set("head", None::<&str>, "a")?);
            assert!(!t.compare_and_set("head", None::<&str>, "b")?);
            assert!(t.compare_and_set("head", "a", "b")?);
            assert!(t.compare_and_set("head", "b", None::<&str>)?);
            assert_eq!(t.read::<Option<String>>("head")?, None);
            Ok(())
        })
        .expect("nobody else is there");
}

#[test]
fn values_are_shown_as_people_read_them() {
    let shown = |value: Value| (value.to_string(), value.literal());
    let text = |text: &str| (text.to_owned(), Literal::Text(text.to_owned()));
    assert_eq!(shown(7.into()), ("7".to_owned(), Literal::Int(7)));
    assert_eq!(shown(true.into()), text("true"));
    assert_eq!(shown("on call".into()), text("on call"));
    assert_eq!(shown(vec![1, 2].into()), text("[1, 2]"));
    assert_eq!(shown((1, "one", false).into()), text("[1, one, false]"));
}

#[test]
fn histories_hold_values_and_sources() {
    let db = Database::new(Level::Ser, 0);
    db.init("x", vec![1]);
    let session = db.session("alice");
    session.transaction(|t| t.write("x", vec![1, 2])).expect("nobody else is there");
    session.transaction(|t| t.delete("x")).expect("nobody else is there");
    session.transaction(|t| t.read::<Option<Value>>("x")).expect("nobody else is there");
    let history = db.history();
    let line = |number: usize| history.to_string().lines().nth(number).unwrap_or_default().to_owned();
    assert_eq!(line(0), "init  x=\"[1]\"");
    assert_eq!(line(1), "alice t1 @ser  w x=\"[1, 2]\"");
    assert_eq!(line(2), "alice t2 @ser  w x=nil");
    assert_eq!(line(3), "alice t3 @ser  r x=nil<t2");
}
