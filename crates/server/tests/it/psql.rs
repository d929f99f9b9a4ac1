//! psql: scripts in, text out. `SKEW_BLESS=1` with a real PostgreSQL writes what is expected anew.

use std::path::{Path, PathBuf};

use skew_model::Level;
use skew_server::Settings;
use skew_sql::session::Options;
use skew_store::Recency;

use crate::target::{Target, has, settings};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/psql")
}

/// The major version of psql: its questions to the catalog are its own, and the server's answers to them are possibly errors.
fn version() -> u32 {
    let output = std::process::Command::new("psql").arg("--version").output().expect("psql runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let digits = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let major = digits.and_then(|number| number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    major.unwrap_or_else(|| panic!("no version in {text:?}"))
}

#[track_caller]
fn answers(script: &str) {
    answers_as(script, script);
}

/// A script, and the name of the file with what a PostgreSQL 15 answers.
#[track_caller]
fn answers_as(script: &str, answer: &str) {
    if !has("psql") {
        return;
    }
    let target = Target::new();
    let file = format!("{script}.sql");
    // One pipe for both, so that errors stand where they happened.
    let command = format!("exec psql -X -f {file} 2>&1");
    let output = target.command("sh").args(["-c", &command]).current_dir(folder()).output().expect("psql runs");
    let found = String::from_utf8(output.stdout).expect("text");
    let path = folder().join(format!("{answer}.out"));
    if std::env::var_os("SKEW_BLESS").is_some() {
        return std::fs::write(path, found).expect("the file can be written");
    }
    let expected = std::fs::read_to_string(path).expect("what is expected");
    let (expected, found) = (without_layout(&expected), without_layout(&found));
    let line = expected.lines().zip(found.lines()).position(|(expected, found)| expected != found);
    assert!(
        expected == found,
        "{answer}.out differs from line {} on:\n{}",
        line.map_or(expected.lines().count().min(found.lines().count()), |line| line) + 1,
        difference(&expected, &found)
    );
}

/// psql's text without what its versions do differently: the width of columns and of the lines between them, and titles.
fn without_layout(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        // Since version 18 `\dt` has the title "List of tables", and `\di` "List of indexes".
        if let ["List", "of", "tables" | "indexes" | "views" | "sequences"] =
            words.iter().map(String::as_str).collect::<Vec<_>>()[..]
        {
            words[2] = "relations".to_owned();
        }
        for word in &mut words {
            if word.starts_with("]-") {
                word.truncate(1);
            }
            let is_line = word.contains('-') && word.chars().all(|c| c == '-' || c == '+');
            if is_line {
                *word = word.split('+').map(|_| "-").collect::<Vec<_>>().join("+");
            }
            // A cell with several lines has a `+` at the end of each, with or without spaces before it.
            if let Some(shorter) = word.strip_suffix('+').filter(|shorter| !is_line && !shorter.is_empty()) {
                *word = format!("{shorter} +");
            }
        }
        out += words.join(" ").trim();
        out.push('\n');
    }
    out
}

/// The lines that differ, roughly.
fn difference(expected: &str, found: &str) -> String {
    let mut out = String::new();
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    for line in expected.iter().filter(|line| !found.contains(line)) {
        out += &format!("- {line}\n");
    }
    for line in found.iter().filter(|line| !expected.contains(line)) {
        out += &format!("+ {line}\n");
    }
    out
}

#[test]
fn sessions_look_as_in_postgresql() {
    answers("session");
}

#[test]
fn databases_are_made_copied_renamed_and_dropped_as_in_postgresql() {
    answers("databases");
}

#[test]
fn descriptions_look_as_in_postgresql() {
    answers("describe");
}

#[test]
fn privileges_look_as_in_postgresql() {
    if has("psql") {
        answers_as("privileges", if version() < 15 { "privileges-before-15" } else { "privileges" });
    }
}

/// Everything that psql can describe, over a schema with something of everything.
#[test]
fn no_description_is_an_error() {
    if !has("psql") {
        return;
    }
    let target = Target::new();
    let schema = "psql -qX -f describe.sql > /dev/null 2>&1";
    let made = target.command("sh").args(["-c", schema]).current_dir(folder()).status().expect("psql runs");
    assert!(made.success());
    let plain = "d da dA dAf dAo dAp db dc dC dd dD ddp dE det deu des dew df di dl dL dm dn do dO dp dP dPi dPt dRp \
                 dRs ds dt dT du dv dx dX dy l z sv+_heavy sf_twice d_pet d_owner d_heavy d_numbers d_pet_seen dt_other.* \
                 df_pg_catalog.lower da_sum do_+ dT_int4";
    let mut script = String::new();
    // `privileges.sql` says why.
    let refused: &[&str] = if version() < 15 { &["dp", "z"] } else { &[] };
    let plain = plain.split_whitespace().filter(|command| !refused.contains(command));
    for command in plain.map(|command| command.replacen('_', " ", 1)) {
        let (name, rest) = command.split_once(' ').unwrap_or((&command, ""));
        script += &format!("\\{name} {rest}\n");
        if !name.ends_with('+') && name != "sf" {
            script += &format!("\\{name}+ {rest}\n\\{name}S {rest}\n");
        }
    }
    let command = format!("psql -X <<'EOF' 2>&1\n{script}EOF\n");
    let output = target.command("sh").args(["-c", &command]).output().expect("psql runs");
    let out = String::from_utf8_lossy(&output.stdout);
    let errors: Vec<&str> = out.lines().filter(|line| line.contains("ERROR:")).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn databases_are_listed_made_and_dropped() {
    if !has("psql") {
        return;
    }
    let target = Target::new();
    let script = "CREATE DATABASE made_here; \\l\n\\c made_here\nSELECT current_database(); \\c postgres\n\
                  DROP DATABASE made_here; \\l made_here\n\\du\n\\conninfo\n";
    let command = format!("psql -X <<'EOF' 2>&1\n{script}EOF\n");
    let output = target.command("sh").args(["-c", &command]).output().expect("psql runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(!out.contains("ERROR"), "{out}");
    let listed = out.lines().any(|line| {
        line.split_whitespace().collect::<Vec<_>>().starts_with(&["made_here", "|", "postgres", "|", "UTF8"])
    });
    assert!(listed, "{out}");
    assert!(out.contains("DROP DATABASE"), "{out}");
}

#[test]
fn pgbench_runs_without_an_error() {
    pgbench(&Target::new(), &["-c", "4", "-j", "2"]);
}

#[test]
fn pgbench_tries_again_what_is_not_serializable() {
    let options = Options { level: Some(Level::Ser), recency: Recency::None, ..Options::default() };
    let target = Target::with(Settings { options, ..settings() });
    pgbench(&target, &["-c", "4", "-j", "2", "--max-tries", "10000"]);
}

/// Makes pgbench's tables, and runs its script by every protocol.
#[track_caller]
fn pgbench(target: &Target, arguments: &[&str]) {
    if !has("pgbench") {
        return;
    }
    // A number of transactions, not of seconds: at the end of its time pgbench tries nothing again, and counts a failure.
    let transactions = std::env::var("SKEW_PGBENCH_TRANSACTIONS").unwrap_or_else(|_| "100".to_owned());
    let made = target.command("pgbench").args(["-i", "-q", "-s", "1"]).output().expect("pgbench runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for protocol in ["simple", "extended", "prepared"] {
        let mut command = target.command("pgbench");
        command.args(["-t", &transactions, "-M", protocol, "--failures-detailed"]).args(arguments);
        let ran = command.output().expect("pgbench runs");
        let out = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success() && out.contains("number of failed transactions: 0"), "{protocol}: {out}");
    }
    // Every transaction added the same amount in three tables.
    let sums = "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(bbalance) FROM pgbench_branches) \
                AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(bbalance) FROM pgbench_branches)";
    let checked = target.command("psql").args(["-XAtc", sums]).output().expect("psql runs");
    assert_eq!(String::from_utf8_lossy(&checked.stdout).trim(), "t", "{}", String::from_utf8_lossy(&checked.stderr));
}
