//! `skew robust` where a solver is asked. Without z3 (cvc5) tests that need it say so and pass.

use std::process::Command;

use crate::run::{file, root, skew};

fn has(solver: &str) -> bool {
    let is_there = Command::new(solver).arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: {solver} is not installed");
    }
    is_there
}

/// The courseware with the pairs that make it serializable at SI.
const COURSEWARE: [&str; 12] = [
    "robust",
    "examples/apps/courseware_seats.sql",
    "--sessions",
    "off",
    "--serialize",
    "add_course,add_course",
    "--serialize",
    "add_student,add_student",
    "--serialize",
    "enroll,rem_course",
    "--serialize",
    "enroll,rem_student",
];

#[test]
fn a_proof_of_the_solver_is_certified_also_by_another_one() {
    if !has("z3") {
        return;
    }
    let certificate = file("courseware.cert.json", b"");
    let robust = skew(&[&COURSEWARE[..], &["--level", "si", "--certificate", &certificate]].concat());
    assert_eq!(robust.code, 0, "{}{}", robust.out, robust.err);
    assert!(robust.out.contains("for any number of transactions: by induction"), "{}", robust.out);
    let app = ["--app", "examples/apps/courseware_seats.sql"];
    let verified = skew(&[&["certify", &certificate][..], &app].concat());
    assert_eq!(verified.code, 0, "{}", verified.out);
    assert!(verified.out.contains("questions unsatisfiable again"), "{}", verified.out);
    if has("cvc5") {
        let second = skew(&["certify", &certificate, "--solver", "cvc5"]);
        assert_eq!(second.code, 0, "{}", second.out);
    }
    // Without one of its pairs it is another question.
    let text = std::fs::read_to_string(&certificate).expect("a certificate");
    let other = file("other.cert.json", text.replacen("\"rem_course\"", "\"rem_student\"", 1).as_bytes());
    let refused = skew(&[&["certify", &other][..], &app].concat());
    assert_eq!(refused.code, 1, "{}", refused.out);
    // A script that can be satisfied proves nothing.
    let weaker =
        file("weaker.cert.json", text.replacen("(assert takes_", "(assert true) (assert takes_", 1).as_bytes());
    assert_eq!(skew(&["certify", &weaker]).code, 1);
}

#[test]
fn what_the_solver_was_asked_is_kept() {
    if !has("z3") {
        return;
    }
    let folder = format!("{}.d", file("scripts", b""));
    let done = skew(&[&COURSEWARE[..], &["--level", "si", "--dump-smt", &folder]].concat());
    assert_eq!(done.code, 0, "{}", done.out);
    let first = std::fs::read_to_string(format!("{folder}/si-001.smt2")).expect("a script");
    assert!(first.starts_with("; si: "), "{first}");
    assert!(first.contains("\n; the solver said: unsat\n") && first.ends_with("(check-sat)\n"), "{first}");
}

#[test]
fn a_level_in_the_users_words() {
    if !has("z3") {
        return;
    }
    let level = file("mine.fol", b"-- nothing is lost\nforall a b: ww(a, b) => vis(a, b)\n");
    let done = skew(&["robust", "examples/apps/withdraw.sql", "--level-file", &level]);
    assert!(done.out.contains("mine.fol"), "{}", done.out);
    let wrong = file("wrong.fol", b"forall a b: sees(a, b)\n");
    let refused = skew(&["robust", "examples/apps/withdraw.sql", "--level-file", &wrong]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("wrong.fol: line 1: there is no transaction sees before `:`"), "{}", refused.err);
    let nobody = file("nobody.fol", b"forall a b: a is nobody => vis(a, b)\n");
    let refused = skew(&["robust", "examples/apps/withdraw.sql", "--level-file", &nobody]);
    assert!(refused.err.contains("nobody.fol: there is no program nobody"), "{}", refused.err);
}

#[test]
fn without_a_solver_the_graph_still_answers_and_says_what_to_install() {
    let without = |arguments: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_skew"))
            .args(arguments)
            .env("PATH", "")
            .env("XDG_CACHE_HOME", format!("{}.d", file("no-cache", b"")))
            .current_dir(root())
            .output()
            .expect("the binary starts");
        (done.status.code(), String::from_utf8(done.stdout).expect("text"))
    };
    let (code, out) = without(&["robust", "examples/apps/auction.sql", "--level", "si"]);
    assert_eq!(code, Some(0), "{out}");
    let (code, out) = without(&["robust", "examples/apps/smallbank.sql", "--level", "si"]);
    assert_eq!(code, Some(1), "{out}");
    let (code, out) = without(&["robust", "examples/apps/figure5.sql", "--level", "si"]);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("z3 is not installed (Debian and Ubuntu: apt-get install z3"), "{out}");
}
