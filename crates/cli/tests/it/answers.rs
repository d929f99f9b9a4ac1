//! Answers: exit codes, formats, witnesses, pages.

use crate::run::{file, skew, skew_with_input};

const ON_CALL: &str = "examples/histories/on-call.hist";

#[test]
fn exit_codes_mean_something() {
    assert_eq!(skew(&["check", "--level", "si", ON_CALL]).code, 0);
    assert_eq!(skew(&["check", "--level", "ser", ON_CALL]).code, 1);
    assert_eq!(skew(&["check", ON_CALL]).code, 0, "without a level the declared ones are asked about");
    let undeclared = file("undeclared.hist", b"init x=0 y=0\na t1 r x=0 w y=1\nb t2 r y=0 w x=1\n");
    assert_eq!(skew(&["check", &undeclared]).code, 1, "without any level, serializability is");
    assert_eq!(skew(&["check", "--level", "declared", ON_CALL]).code, 0);
    let ambiguous = file("ambiguous.hist", b"a t1 w x=1\nb t2 w x=1\nc t3 r x=1\n");
    let done = skew(&["check", "--level", "ser", &ambiguous]);
    assert_eq!(done.code, 3);
    assert!(done.out.contains("`r x=1<t1`"), "{}", done.out);
}

#[test]
fn a_witness_is_a_commit_order() {
    let done = skew(&["check", "--witness", "--level", "ser", "examples/histories/fork.txt"]);
    assert_eq!(done.code, 1);
    let path = file("order.hist", b"init x=0\na t1 r x=1\nb t2 w x=1\n");
    let done = skew(&["check", "--witness", "--level", "ser", &path]);
    assert_eq!(done.code, 0);
    assert!(done.out.contains("commit order: init t2 t1"), "{}", done.out);
}

#[test]
fn sessions_and_real_time_are_switches() {
    let path = file("stale.hist", b"init x=0\na t1 [1..2] w x=1\na t2 [3..4] r x=0\n");
    assert_eq!(skew(&["check", "--level", "ser", &path]).code, 1);
    assert_eq!(skew(&["check", "--level", "ser", "--sessions", "off", &path]).code, 0);
    assert_eq!(skew(&["check", "--level", "ser", "--sessions", "off", "--real-time", &path]).code, 1);
    assert_eq!(skew(&["check", "--level", "sser", "--sessions", "off", &path]).code, 1);
}

#[test]
fn every_format_says_the_same() {
    let formats = ["hist", "jsonl", "elle", "plume", "dbcop"];
    for format in formats {
        let converted = skew(&["convert", "examples/histories/fork.txt", "--output-format", format]);
        assert_eq!(converted.code, 0, "{}", converted.err);
        let checked = skew_with_input(&["check", "--input", format, "-"], converted.out.as_bytes());
        assert!(checked.out.contains("violated[long-fork]"), "{format}: {}{}", checked.out, checked.err);
    }
}

#[test]
fn json_is_json_and_html_is_one_file() {
    let json = skew(&["check", "--format", "json", ON_CALL, "examples/histories/fork.txt"]);
    let value: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(value["version"], 1);
    assert_eq!(value["histories"].as_array().map(Vec::len), Some(2));
    let html = skew(&["check", "--format", "html", ON_CALL]);
    assert!(html.out.starts_with("<!DOCTYPE html>") || html.out.starts_with("<!doctype html>"), "{}", &html.out[..40]);
    for outside in ["http://", "https://", "src="] {
        let inside = html.out.replace("http://www.w3.org/2000/svg", "");
        assert!(!inside.contains(outside), "a page that works offline has no {outside}");
    }
    let dot = skew(&["check", "--format", "dot", ON_CALL]);
    assert!(dot.out.starts_with("digraph"), "{}", dot.out);
}

#[test]
fn every_page_can_be_read() {
    for word in ["write-skew", "G1c", "si", "Snapshot Isolation", "p4", "phantom", "P3", "toctou", "40001"] {
        let done = skew(&["explain", word]);
        assert_eq!(done.code, 0, "{word}: {}", done.err);
        assert!(done.out.lines().count() > 10, "{word}: {}", done.out);
    }
    let list = skew(&["explain"]);
    assert!(list.out.contains("mvrc") && list.out.contains("long-fork"), "{}", list.out);
}

#[test]
fn help_has_examples() {
    for command in ["test", "replay", "serve", "explore", "robust", "check", "convert", "explain", "merge", "certify"] {
        let done = skew(&[command, "--help"]);
        assert!(done.out.contains("Examples:"), "{command}");
    }
}

#[test]
fn robustness_tells_a_circle_of_this_run_from_one_of_another_order() {
    let critical = skew(&["check", "--robustness", "examples/histories/on-call.hist", "--level", "si"]);
    assert_eq!(critical.code, 1, "{}", critical.out);
    let expected = "si    critical   not serializable, and si allows it: t1 -rw(x)-> t2 -rw(y)-> t1\n";
    assert!(critical.out.ends_with(expected), "{}", critical.out);
    let serial = file("serial.hist", b"init x=0 y=0\na t1  r x=0  w y=1\nb t2  r y=1  w x=1\n");
    let possible = skew(&["check", "--robustness", &serial, "--level", "si"]);
    assert_eq!(possible.code, 3, "{}", possible.out);
    let expected = "si    possible   serializable here; in another order maybe not: t1 -rw(x)-> t2 -rw(y)-> t1\n";
    assert!(possible.out.ends_with(expected), "{}", possible.out);
    let one = file("one.hist", b"init x=0\na t1  r x=0  w x=1\nb t2  r x=1  w x=2\n");
    let robust = skew(&["check", "--robustness", &one, "--level", "si", "--level", "psi"]);
    assert_eq!(robust.code, 0, "{}", robust.out);
    let wrong = skew(&["check", "--robustness", &one, "--level", "mvrc"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("--robustness is about cc, pc, psi, si, not about mvrc"), "{}", wrong.err);
}
