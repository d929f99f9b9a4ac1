//! Bad input ends in a sentence that says where and what to do, and exit code 2; never in a panic.

use crate::run::{file, skew, skew_with_input};

/// Runs and expects this on standard error.
#[track_caller]
fn complains(arguments: &[&str], expected: &str) {
    let done = skew(arguments);
    assert!(done.err.contains(expected), "{arguments:?} says {:?}", done.err);
    assert_eq!(done.code, 2, "{arguments:?}");
}

#[test]
fn a_missing_file() {
    complains(&["check", "nowhere.hist"], "skew: cannot read nowhere.hist: ");
}

#[test]
fn an_unknown_extension() {
    let path = file("history.xyz", b"alice t1 w x=1\n");
    complains(
        &["check", &path],
        "cannot tell the format from the name; say it: --input hist|jsonl|elle|plume|dbcop|cobra",
    );
}

#[test]
fn an_unknown_level() {
    complains(
        &["check", "--level", "strong", "x.hist"],
        "`strong` is not an isolation level. The definitions are ru, ec, rc",
    );
}

#[test]
fn an_empty_file() {
    complains(&["check", &file("empty.hist", b"")], "empty.hist: there is no transaction in it");
}

#[test]
fn broken_syntax_has_a_place() {
    let path = file("broken.hist", b"alice t1 r x=0\nalice t2 q x=0\n");
    complains(
        &["check", &path],
        "broken.hist:2:10: `q` is not an operation; operations are `r key=value` and `w key=value`",
    );
}

#[test]
fn a_name_twice() {
    let path = file("twice.hist", b"alice t1 r x=0\nbob t1 w x=1\n");
    complains(
        &["check", &path],
        "twice.hist:2:5: t1 is already the transaction on line 1; give every transaction a name of its own",
    );
}

#[test]
fn a_line_of_a_hundred_megabytes() {
    let mut bytes = b"alice t1 w x=1\nalice t2 w x=".to_vec();
    bytes.resize(100 << 20, b'1');
    complains(&["check", &file("long.hist", &bytes)], "long.hist:2: the line is longer than 16 MiB");
}

#[test]
fn invalid_utf8() {
    complains(&["check", &file("bytes.hist", b"alice t1 w x=1\nalice \xFF\xFE w x=1\n")], "bytes.hist:2");
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let done = skew(&["check", "nowhere.hist", "examples/histories/on-call.hist"]);
    assert_eq!(done.code, 2);
    assert!(done.out.contains("violated[write-skew]"), "{}", done.out);
}

#[test]
fn nothing_to_draw() {
    let path = file("fine.hist", b"alice t1 w x=1\nbob t2 r x=1\n");
    complains(&["check", "--format", "svg", &path], "nothing is violated, so there is no picture to draw");
}

#[test]
fn what_a_format_cannot_say_is_refused() {
    let done = skew(&["convert", "examples/histories/on-call.hist", "--output-format", "plume"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("plume"), "{}", done.err);
}

#[test]
fn an_unknown_page() {
    complains(
        &["explain", "nothing"],
        "`nothing` names no anomaly, no level and no other page. `skew explain` lists them",
    );
}

#[test]
fn truncated_and_flipped_files_never_panic() {
    let sample = b"init x=0\nalice t1 @si [1..2] r x=0<init (w y=1 w z=\"a b\")\nbob t2 aborted r y=1\n";
    for cut in 0..sample.len() {
        let done = skew_with_input(&["check", "-"], &sample[..cut]);
        assert!((0..=3).contains(&done.code), "cut at {cut}: {} {}", done.code, done.err);
        let mut flipped = sample.to_vec();
        flipped[cut] ^= 1 << (cut % 8);
        let done = skew_with_input(&["check", "-"], &flipped);
        assert!((0..=3).contains(&done.code), "bit flipped at {cut}: {} {}", done.code, done.err);
    }
}

#[test]
fn a_witness_that_is_none() {
    complains(&["replay", &file("not.json", b"init x=0\n")], "not.json: not JSON: ");
    complains(&["replay", &file("other.json", b"{}")], "other.json: not a witness: ");
    complains(&["replay", "nowhere.json"], "nowhere.json: ");
}

#[test]
fn a_witness_that_does_not_come_out() {
    let witness =
        std::fs::read_to_string(crate::run::root().join("examples/witnesses/overdraft.json")).expect("a file");
    let changed = |from: &str, to: &str, name: &str, expected: &str| {
        assert!(witness.contains(from), "{from}");
        complains(&["replay", &file(name, witness.replacen(from, to, 1).as_bytes())], expected);
    };
    let differs = |from: &str, to: &str, name: &str, expected: &str| {
        assert!(witness.contains(from), "{from}");
        let done = skew(&["replay", &file(name, witness.replacen(from, to, 1).as_bytes())]);
        assert_eq!(done.code, 1, "{}{}", done.out, done.err);
        assert!(done.out.contains(expected), "{}", done.out);
    };
    differs(
        "\"value\": 100",
        "\"value\": 99",
        "value.json",
        "step 2 does not come out as the witness says: `balance` is 100",
    );
    changed("\"level\": \"cc\"", "\"level\": \"best\"", "level.json", "step 1: `best` is not an isolation level");
    changed("\"do\": \"commit\"", "\"do\": \"vanish\"", "do.json", "step 4: `vanish` is nothing that a session does");
    changed("\"version\": 1", "\"version\": 7", "version.json", "a witness of version 7");
    differs(
        "\"from\": \"init\"",
        "\"from\": \":t9\"",
        "from.json",
        "step 2 does not come out as the witness says: transaction `t9` has not begun",
    );
    differs("\"session\": \"bob\"", "\"session\": \"eve\"", "session.json", "there is no session `eve`");
}
