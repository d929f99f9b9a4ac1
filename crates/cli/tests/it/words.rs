//! One language on the command line: words for levels, words that are misspelled, flags that every command has, and the
//! options of a project in `skew.toml`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{file, root, skew};

const ON_CALL: &str = "examples/histories/on-call.hist";

/// `rc` and PostgreSQL's READ COMMITTED differ by this history: half of a transaction within one statement.
const HALF: &[u8] = b"init x=0 y=0\na t1 w x=1 w y=1\nb t2 (r x=0 r y=1)\n";

#[test]
fn sql_names_mean_the_databases_levels_in_every_command() {
    let half = file("half.hist", HALF);
    assert_eq!(skew(&["check", &half, "--level", "rc"]).code, 0);
    for name in ["read committed", "read-committed", "READ_COMMITTED", "mvrc"] {
        assert_eq!(skew(&["check", &half, "--level", name]).code, 1, "{name}");
    }
    let said = skew(&["check", &half, "--level", "read-committed"]).out;
    assert!(said.contains("READ COMMITTED of PostgreSQL is pg-rc"), "{said}");
    let said = skew(&["check", &half, "--target", "mariadb", "--level", "repeatable read"]).out;
    assert!(said.contains("REPEATABLE READ of MariaDB is maria-rr"), "{said}");
    // A level in a history is a word like any other.
    let declared = file("declared.hist", b"init x=0 y=0\na t1 @mvrc w x=1 w y=1\nb t2 @read-committed (r x=0 r y=1)\n");
    assert_eq!(skew(&["check", &declared]).code, 1);
    let app = "examples/apps/courseware.sql";
    for (level, said) in [("repeatable-read", "pg-rr not robust\n"), ("si", "si    not robust\n")] {
        assert_eq!(skew(&["robust", app, "--no-cache", "-q", "--level", level]).out, said, "{level}");
    }
    let asks_mariadb = ["robust", app, "--no-cache", "--target", "mariadb", "--level", "repeatable read"];
    assert_eq!(skew(&asks_mariadb).code, 3, "there is no rule for maria-rr");
    // What is not executed is not passed over in silence.
    let refused = skew(&["explore", app, "--client", "enroll(1, 1)", "--target", "mariadb"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("MariaDB's levels are not executed yet"), "{}", refused.err);
    let explained = skew(&["explain", "read committed"]).out;
    assert!(explained.starts_with("What PostgreSQL does at READ COMMITTED is `pg-rc` here."), "{explained}");
    let explained = skew(&["explain", "repeatable read", "--target", "mariadb"]).out;
    assert!(explained.starts_with("What MariaDB does at REPEATABLE READ is `maria-rr` here."), "{explained}");
    assert!(skew(&["explain", "rc"]).out.starts_with("Read committed (rc)"));
}

/// What CONTRIBUTING.md promises of a level that is added to the definitions.
#[test]
fn every_level_is_listed_explained_and_answered() {
    let list = skew(&["explain"]).out;
    let half = file("half.hist", HALF);
    for level in skew_model::Level::all() {
        assert!(list.contains(&format!("  {:<26} {}", level.id(), level.title())), "{level}");
        let page = skew(&["explain", level.id()]).out;
        assert!(page.to_lowercase().contains(&format!("({level})")), "{level}: {page}");
        assert!([0, 1].contains(&skew(&["check", &half, "-q", "--level", level.id()]).code), "{level}");
        if level.definition().target.is_some() {
            let asked = ["robust", "examples/apps/courseware.sql", "--no-cache", "-q", "--level", level.id()];
            let (said, has_rule) =
                (skew(&asked).out, level != skew_model::Level::MariaRc && level != skew_model::Level::MariaRr);
            assert_eq!(said.contains("unknown"), !has_rule, "{level}: {said}");
        }
    }
}

#[test]
fn misspelled_words_find_their_neighbours() {
    for (arguments, expected) in [
        (&["check", ON_CALL, "--level", "serialisable"][..], "did you mean `serializable`?"),
        (&["serve", "--isolation", "repeatable-raed"], "did you mean `repeatable read`?"),
        (&["check", ON_CALL, "--input", "jsnl"], "did you mean `jsonl`?"),
        (&["explain", "wirte-skew"], "did you mean `write-skew`?"),
        (&["explain", "fantom"], "did you mean `phantom`?"),
        (&["check", ON_CALL, "--levl", "si"], "--level"),
        (&["tets"], "test"),
        (&["check", ON_CALL, "--format", "jsn"], "json"),
    ] {
        let done = skew(arguments);
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.err.contains(expected), "{arguments:?}: {}", done.err);
    }
}

#[test]
fn every_command_has_the_same_flags_and_test_comes_first() {
    let commands = ["test", "replay", "serve", "explore", "robust", "check", "explain", "convert", "merge", "certify"];
    for command in commands {
        let help = skew(&[command, "--help"]).out;
        for flag in ["--format", "-o, --output", "--color", "-q, --quiet", "-v, --verbose"] {
            assert!(help.contains(flag), "{command} has no {flag}:\n{help}");
        }
    }
    for command in ["test", "explore", "robust", "check", "certify"] {
        assert!(skew(&[command, "--help"]).out.contains("--max-time"), "{command}");
    }
    for command in ["test", "serve", "explore", "robust"] {
        assert!(skew(&[command, "--help"]).out.contains("granularity"), "{command}");
    }
    let help = skew(&["--help"]).out;
    let first = help.lines().skip_while(|line| *line != "Commands:").nth(1).expect("a command");
    assert!(first.trim_start().starts_with("test "), "{help}");
}

#[test]
fn a_file_that_was_written_is_named_unless_the_command_is_quiet() {
    let path = file("answer.json", b"");
    let done = skew(&["check", ON_CALL, "--format", "json", "-o", &path]);
    assert_eq!(done.err, format!("skew: wrote {path}\n"));
    assert_eq!(skew(&["check", ON_CALL, "--format", "json", "-o", &path, "-q"]).err, "");
    let quiet = skew(&["check", ON_CALL, "-q"]).out;
    assert!(quiet.contains("  ser       violated   write-skew\n") && !quiet.contains("= fix"), "{quiet}");
}

#[test]
fn time_that_is_over_is_unknown_and_says_so() {
    let done = skew(&["check", ON_CALL, "--max-time", "0", "--level", "ser"]);
    assert_eq!(done.code, 3, "{}", done.out);
    assert!(done.out.contains("--max-time: 0 s were over"), "{}", done.out);
}

#[test]
fn shells_and_manuals_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(skew(&["completions", shell]).out.contains("granularity"), "{shell}");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    let done = skew(&["man", folder.to_str().expect("UTF-8")]);
    assert_eq!(done.code, 0, "{}", done.err);
    let page = std::fs::read_to_string(folder.join("skew-test.1")).expect("a page");
    assert!(page.contains(".TH skew-test 1"), "{page}");
}

/// A project with a `skew.toml`, and `skew` in a folder below it.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, toml: &str) -> Project {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("project-{name}"));
        std::fs::create_dir_all(folder.join("below")).expect("a folder");
        std::fs::write(folder.join("skew.toml"), toml).expect("a file");
        std::fs::copy(root().join(ON_CALL), folder.join("on-call.hist")).expect("a file");
        Project(folder)
    }

    fn skew(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skew"));
        let done = command.args(arguments).current_dir(self.0.join("below")).output().expect("the binary starts");
        (done.status.code(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    }
}

#[test]
fn a_project_keeps_its_options_in_a_file() {
    let project = Project::new("check", "[check]\nlevel = [\"si\", \"psi\"]\nquiet = true\n");
    let (code, text) = project.skew(&["check", "../on-call.hist"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("  si    holds") && text.contains("  psi   holds") && !text.contains("ser"), "{text}");
    // What the command line says replaces what the file says.
    let (code, text) = project.skew(&["check", "../on-call.hist", "--level", "ser"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(!text.contains("psi"), "{text}");
    let (code, _) = project.skew(&["check", "../on-call.hist", "--level", "ser", "--verbose"]);
    assert_eq!(code, Some(1), "`quiet` in the file gives way to --verbose");
    // Paths are relative to the file.
    let project = Project::new("output", "[check]\noutput = \"answer.txt\"\n");
    project.skew(&["check", "../on-call.hist"]);
    assert!(project.0.join("answer.txt").is_file());
    // The command of `skew test`.
    let project = Project::new("test", "[test]\nruns = 2\ncommand = [\"sh\", \"-c\", \"exit 7\"]\n");
    let (code, text) = project.skew(&["test"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("sh"), "{text}");
}

#[test]
fn a_mistake_in_the_file_is_named_whatever_runs() {
    for (toml, expected) in [
        ("[tset]\n", "skew.toml: [tset] is no command; did you mean `test`?"),
        ("[test]\nisolaton = \"si\"\n", "skew.toml: [test] has no option `isolaton`; did you mean `isolation`?"),
        ("runs = 3\n", "skew.toml: [runs] is no command"),
        ("[check]\nquiet = 3\n", "skew.toml: `quiet` must be true or false"),
        ("[check]\nlevel = \"best\"\n", "`best` is not an isolation level"),
        ("[check\n", "skew.toml: "),
    ] {
        let (code, text) = Project::new("mistake", toml).skew(&["check", "../on-call.hist"]);
        assert_eq!(code, Some(2), "{toml}: {text}");
        assert!(text.contains(expected), "{toml}: {text}");
    }
}
