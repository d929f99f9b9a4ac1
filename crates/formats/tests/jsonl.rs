//! JSON Lines and `.hist`, both ways.

mod common;

use common::{check, error, findings, history, refusal, round_trip, sweep, text, written};
use skew_formats::Format::{self, Hist, Jsonl};

const EVERYTHING: &str = r#"
    init  x=0 5=nil "5"=1 "a b"="\"" *=7
    order x 0 1 2
    order "nil" nil "nil"
    alice t1 @si [10..20]  r x=0<init  w x=1
    "s 1" "t 2" aborted  w x=9
    bob   t3 maybe [-5..]  w x=2
    bob   7 @ser  r x=1<t1  [12] (r x=1 w x=3)  w y=-1
    carol empty
    carol t5  w l=3  o l=2<t3  r l=3
    constraint x t1 7
    constraint "nil" "t 2" t5
"#;

#[test]
fn everything_that_a_history_holds_survives() {
    let everything = skew_model::history!(&text(EVERYTHING)).to_string();
    assert_eq!(round_trip(Jsonl, EVERYTHING), everything);
    assert_eq!(round_trip(Hist, EVERYTHING), everything);
}

#[test]
fn a_line_is_a_transaction() {
    let history = check(
        Jsonl,
        r#"
        {"skew":"history","version":1,"initial":{"x":0,"5":null},"initial_elsewhere":0,"order":{"x":[0,1]}}

        {"session":"alice","txn":"t1","level":"si","ops":[{"r":"x","v":0},{"w":"y","v":"one"}]}
        {"session":2,"txn":7,"status":"aborted","begin":10,"end":20,"ops":[{"v":1,"w":"x"}]}
        {"session":2,"txn":8,"status":"maybe","begin":30,"ops":[{"r":"x","v":0,"from":"init","at":31},{"w":"x","v":2,"s":true}]}
        {"session":3,"txn":9,"ops":[{"r":"y","v":"one","from":"t1"},{"o":"x","v":null}]}
        "#,
        "init  x=0 5=nil *=0
         order x 0 1
         alice t1 @si  r x=0  w y=one
         s2    t7 aborted [10..20]  w x=1
         s2    t8 maybe [30..]  [31] (r x=0<init w x=2)
         s3    t9  r y=one<t1  o x=nil",
    );
    assert_eq!(history.txns()[1].line, 5);
}

#[test]
fn findings_survive() {
    let input = r#"{"session":0,"txn":0,"ops":[{"w":1,"v":1},{"r":1,"v":1}]}
{"session":1,"txn":1,"ops":[{"r":1,"v":2}]}
{"finding":"incompatible-order","op":[1,0],"other":[0,1]}
{"finding":"duplicate-element","op":[0,1]}
"#;
    let read = history(Jsonl, input);
    assert_eq!(findings(&read), ["IncompatibleOrder: t1 r 1=2 / t0 r 1=1", "DuplicateElement: t0 r 1=1 / -"]);
    assert_eq!(written(&read, Jsonl).as_deref(), Ok(input));
    let refusal = written(&read, Hist).expect_err(".hist has no findings");
    assert!(refusal.contains("what was already found wrong"), "{refusal}");
}

#[test]
fn errors_name_the_line_and_the_field() {
    let txn = r#"{"session":"a","txn":"t","ops":[]}"#;
    for (input, message) in [
        ("", "file: there is no transaction in it"),
        ("{\"skew\":\"history\",\"version\":1}\n", "file: there is no transaction in it"),
        ("[1]", "file:1: expected an object, found an array"),
        ("\n{\"session\":", "file:2:11: this is not JSON: EOF while parsing a value"),
        (r#"{"session":"a","txn":"t","ops":[],"colour":1}"#, "file:1: there is no field `colour`"),
        (
            r#"{"session":"a","txn":"t","ops":[{"r":"x","v":1,"w":"x"}]}"#,
            "file:1: operation 0 is both one thing and another",
        ),
        (
            r#"{"session":"a","txn":"t","ops":[{"r":"x","v":1.5}]}"#,
            "file:1: `v` is a number that is not a 64-bit integer",
        ),
        (r#"{"session":"a","txn":"t","ops":[{"r":"x"}]}"#, "file:1: operation 0 lacks its key or its value `v`"),
        (r#"{"session":"a","txn":"t","ops":[{"r":"x","v":1,"from":"u"}]}"#, "file:1: there is no transaction u"),
        (
            r#"{"session":"a","txn":"t","ops":[{"r":"x","v":1,"s":true}]}"#,
            "file:1: operation 0 cannot join a statement",
        ),
        (r#"{"session":"a","txn":"t","ops":[],"end":5}"#, "file:1: a transaction begins before it ends"),
        (r#"{"session":"a","txn":"t","ops":[],"level":"high"}"#, "file:1: "),
        (r#"{"session":"a","txn":"init","ops":[]}"#, "file:1: `init` is the initial transaction"),
        (r#"{"session":"a","ops":[]}"#, "file:1: `txn` is missing"),
        (r#"{"txn":"t","txn":"u","session":"a","ops":[]}"#, "file:1: the field `txn` is there twice"),
        (&format!("{txn}\n{txn}"), "file:2: t is already the transaction on line 1"),
        (&format!("{txn}\n{{\"skew\":\"history\"}}"), "file:2: the line with `skew` is the first one"),
        (
            &format!("{txn}\n{{\"finding\":\"thin-air-read\",\"op\":[0,0]}}"),
            "file:2: there is no operation at this place",
        ),
        (&"[".repeat(100_000), "file:1:128: this is not JSON: recursion limit exceeded"),
    ] {
        let error = error(Jsonl, input);
        assert!(error.starts_with(message), "{error}\nshould start with\n{message}");
    }
    assert!(error(Jsonl, b"{\"session\":\"\xff").starts_with("file:1:13: this is not UTF-8 text"));
}

#[test]
fn hist_errors_name_the_line() {
    assert!(error(Hist, "a t w x=1\nb u v x=1\n").starts_with("file:2:5: `v` is not an operation"));
    assert!(error(Hist, b"a t w x=1\n\xc3\xa4 \xff\n").starts_with("file:2:3: this is not UTF-8 text"));
    assert!(error(Hist, "# nothing\n").starts_with("file: there is no transaction in it"));
}

#[test]
fn two_names_that_the_text_would_merge_are_refused() {
    let numbers =
        history(Jsonl, "{\"session\":1,\"txn\":7,\"ops\":[]}\n{\"session\":\"s1\",\"txn\":\"t7\",\"ops\":[]}\n");
    let refusal = written(&numbers, Hist).expect_err("one name");
    assert_eq!(refusal, "the hist format cannot express two different things named s1; jsonl can hold everything");
    assert_eq!(written(&numbers, Jsonl).map(|text| text.lines().count()), Ok(2));
}

#[test]
fn formats_go_by_name_and_by_path() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    assert_eq!(
        "xml".parse::<Format>().map_err(|error| error.to_string()),
        Err("`xml` is not a format. Formats are hist, jsonl, elle, plume, dbcop, cobra".to_owned())
    );
    let of = |path: &str| Format::of_path(std::path::Path::new(path));
    assert_eq!(
        ["a.hist", "b/c.ndjson", "d.EDN", "e.txt", "f.bincode"].map(of),
        [Some(Hist), Some(Jsonl), Some(Format::Elle), Some(Format::Plume), Some(Format::Dbcop)]
    );
    assert_eq!(of("."), Some(Format::Cobra));
    assert_eq!(of("a.pdf"), None);
    assert!(refusal(Format::Cobra, "a t w 1=1").starts_with("the cobra format cannot express anything in one file"));
}

#[test]
fn no_damage_makes_it_panic() {
    let sample = skew_model::history!(&text(EVERYTHING));
    sweep(Jsonl, written(&sample, Jsonl).expect("it holds everything"));
    sweep(Hist, text(EVERYTHING));
}
