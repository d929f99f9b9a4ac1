//! `skew explore`: levels by id and by SQL's name, what is broken, what is not known.

use std::path::PathBuf;
use std::process::{Command, Output};

const APP: &str = "
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
INSERT INTO account VALUES (1, 100), (2, 100);
CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
DECLARE bal int;
BEGIN
  SELECT balance INTO bal FROM account WHERE id = acct;
  IF bal >= amount THEN UPDATE account SET balance = bal - amount WHERE id = acct; END IF;
END $$;
CREATE PROCEDURE close_and_open(acct int) LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM account WHERE id = acct; INSERT INTO account VALUES (acct, 7); END $$;
CREATE PROCEDURE must_add(acct int) LANGUAGE plpgsql AS $$ BEGIN
  UPDATE account SET balance = balance + 1 WHERE id = acct; ASSERT FOUND, 'the account is found'; END $$;
CREATE FUNCTION not_seventy() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM account WHERE balance = 70) $$;
COMMENT ON FUNCTION not_seventy IS '@invariant';
";

fn explore(test: &str, arguments: &[&str]) -> Output {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("explore-{test}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("bank.sql");
    std::fs::write(&file, APP).expect("a file");
    Command::new(env!("CARGO_BIN_EXE_skew")).arg("explore").arg(file).args(arguments).output().expect("it runs")
}

#[track_caller]
fn check(test: &str, arguments: &[&str], code: i32, contains: &[&str]) {
    let output = explore(test, arguments);
    let out = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}");
    for text in contains {
        assert!(out.contains(text), "{text} is missing in\n{out}");
    }
}

/// 70 is left where the withdrawal of 30 commits last, and both have read 100.
#[test]
fn either_lost_update_commits_last() {
    let client = ["--client", "a: withdraw(1, 30) | b: withdraw(1, 70)", "--all"];
    for level in ["pc", "mvrc", "read committed"] {
        let arguments = [&client[..], &["--level", level]].concat();
        check(
            "lost",
            &arguments,
            1,
            &["not_seventy() broken", "= account: (1, 70) (2, 100)", "= account: (1, 30) (2, 100)"],
        );
    }
}

#[test]
fn sql_names_are_postgres_levels() {
    let client = ["--client", "a: close_and_open(1) | b: must_add(1)"];
    let found = &["ASSERT “the account is found” broken", "order "][..];
    for level in ["read committed", "READ-COMMITTED", "mvrc"] {
        check("again", &[&client[..], &["--isolation", level]].concat(), 1, found);
    }
    check("again", &[&client[..], &["--isolation", "repeatable read"]].concat(), 0, &["repeatable read", "hold"]);
    let marked = [&client[..], &["--isolation", "read committed", "--mark", "must_add=repeatable-read"]].concat();
    check("again", &marked, 0, &["hold"]);
}

#[test]
fn what_a_limit_leaves_open_is_unknown() {
    let client = ["--client", "a: withdraw(1, 1) | b: withdraw(2, 1)", "--max-runs", "1"];
    for level in ["si", "serializable"] {
        check("limit", &[&client[..], &["--level", level]].concat(), 3, &["unknown (limit: 1 runs)"]);
    }
    check("limit", &["--client", "a: withdraw(1, 1)", "--level", "strong"], 2, &["not an isolation level"]);
}

/// Exploration runs transactions one after the other, so it cannot show all that `ru` allows, and says so.
#[test]
fn what_is_not_tried_is_told() {
    let client = ["--client", "a: withdraw(2, 1) | b: withdraw(2, 1)", "--level", "ru"];
    check("ru", &client, 3, &["no read sees a transaction that is running"]);
}
