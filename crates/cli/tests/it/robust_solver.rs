//! `skew robust` where a solver is asked. Tests that need a missing solver are skipped.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use skew_testing::has;

use crate::run::{file, root, skew};

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
        let second = skew(&[&["certify", &certificate, "--solver", "cvc5"][..], &app].concat());
        assert_eq!(second.code, 0, "{}", second.out);
    }
    // Without one of its pairs it is another question.
    let text = std::fs::read_to_string(&certificate).expect("a certificate");
    let other = file("other.cert.json", text.replacen("\"rem_course\"", "\"rem_student\"", 1).as_bytes());
    let refused = skew(&[&["certify", &other][..], &app].concat());
    assert_eq!(refused.code, 1, "{}", refused.out);
    // A script that can be satisfied proves nothing.
    let weaker = file("weaker.cert.json", text.replace("(assert ", "(push 1) ;").as_bytes());
    assert_eq!(skew(&["certify", &weaker]).code, 1);
}

#[test]
fn that_the_solver_was_asked_the_right_questions_is_not_known_without_the_application() {
    if !has("z3") {
        return;
    }
    let certificate = file("questions.cert.json", b"");
    let robust = skew(&[&COURSEWARE[..], &["--level", "si", "--certificate", &certificate]].concat());
    assert_eq!(robust.code, 0, "{}{}", robust.out, robust.err);
    let text = std::fs::read_to_string(&certificate).expect("a certificate");
    let absurd = file("absurd.cert.json", text.replace("(assert ", "(assert false) ;").as_bytes());
    for file in [&certificate, &absurd] {
        let believed = skew(&["certify", file]);
        assert_eq!(believed.code, 3, "{}", believed.out);
        let words =
            "not known at si: that the solver was asked the right questions is only believed (--app examples/apps/";
        assert!(believed.out.contains(words) && !believed.out.contains("every run is"), "{}", believed.out);
    }
    let refused = skew(&["certify", &absurd, "--app", "examples/apps/courseware_seats.sql"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.out.contains("the solver was asked something else"), "{}", refused.out);
    let (code, out) = with_path("", &["certify", &certificate, "--app", "examples/apps/courseware_seats.sql"]);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("not known at si: ") && out.contains("z3 is not installed"), "{out}");
}

/// Something else in the place of z3: it does not answer, nor does what it starts; it ends; it says what nobody understands,
/// or never stops.
#[test]
fn a_solver_that_does_not_do_its_part_is_ended() {
    let app = file(
        "skewed.sql",
        b"CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL); INSERT INTO t VALUES (1, 1), (2, 1);
          CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN
            IF (SELECT v FROM t WHERE id = 1) = 1 THEN UPDATE t SET v = 0 WHERE id = 2; END IF; END $$;
          CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ BEGIN
            IF (SELECT v FROM t WHERE id = 2) = 1 THEN UPDATE t SET v = 0 WHERE id = 1; END IF; END $$;",
    );
    let words = ["--level", "si", "--serialize", "f,g", "--solver-time", "1", "--max-time", "2", "--no-cache"];
    for (name, does, says) in [
        ("silent", "exec sleep 1000", "the solver's time"),
        ("parent", "sleep 1000; sleep 1000", "the solver's time"),
        ("dead", "read line; echo success; exit 3", "the solver, which has gone"),
        ("strange", "exec yes garbage", "what the solver said: garbage"),
        ("open", "exec yes '('", "the solver"),
        ("empty", "exec yes ''", "the solver's time"),
    ] {
        let path = instead_of_z3(name, does);
        let started = Instant::now();
        let (code, out) = with_path(&path, &[&["robust", &app][..], &words].concat());
        assert_eq!(code, Some(3), "{name}: {out}");
        assert!(out.contains(says), "{name}: {out}");
        assert!(started.elapsed() < Duration::from_secs(30), "{name}: {:?}", started.elapsed());
    }
}

/// A folder with a script in the place of z3, as a PATH.
fn instead_of_z3(name: &str, does: &str) -> String {
    let folder = format!("{}.d", file(name, b""));
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let path = format!("{folder}/z3");
    std::fs::write(&path, format!("#!/bin/sh\n{does}\n")).expect("the folder can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    format!("{folder}:/usr/bin:/bin")
}

fn with_path(path: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_skew"))
        .args(arguments)
        .env("PATH", path)
        .env("XDG_CACHE_HOME", "/dev/null")
        .current_dir(root())
        .output()
        .expect("the binary starts");
    (done.status.code(), String::from_utf8(done.stdout).expect("text"))
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
    let without = |arguments: &[&str]| with_path("", arguments);
    let (code, out) = without(&["robust", "examples/apps/auction.sql", "--level", "si"]);
    assert_eq!(code, Some(0), "{out}");
    let (code, out) = without(&["robust", "examples/apps/smallbank.sql", "--level", "si"]);
    assert_eq!(code, Some(1), "{out}");
    let (code, out) = without(&["robust", "examples/apps/figure5.sql", "--level", "si"]);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("z3 is not installed (Debian and Ubuntu: apt-get install z3"), "{out}");
}
