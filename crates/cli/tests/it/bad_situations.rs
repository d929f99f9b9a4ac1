//! What `skew test` says when something other than weak isolation goes wrong: a sentence, an exit code, nothing lost.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::campaign::{Shop, has_psql};
use crate::run::Done;

/// The exit code of runs that pass and do one thing at a time.
const NOTHING_OVERLAPPED: i32 = 3;
const LOOK: &str = "psql -qXAt -c 'SELECT n FROM stock'";

/// Runs `skew test` with this script; `{folder}` in it is the test's folder.
fn test(name: &str, script: &str, options: &[&str]) -> (Shop, Done) {
    let shop = Shop::new(name);
    shop.write("shop.sh", &script.replace("{folder}", &shop.path("")));
    let done = shop.test(&[&["--seed", "1"], options].concat());
    (shop, done)
}

/// A script that looks at the stock, and does something else the how many-th time.
fn the_nth_time(n: usize, what: &str) -> String {
    format!("{LOOK}\necho >> '{{folder}}runs'\nif [ $(wc -l < '{{folder}}runs') -eq {n} ]; then {what}; fi\n")
}

#[track_caller]
fn assert_says(done: &Done, code: i32, expected: &[&str]) {
    assert_eq!(done.code, code, "{}{}", done.out, done.err);
    for words in expected {
        assert!(done.out.contains(words) || done.err.contains(words), "{words}\nis not in\n{}{}", done.out, done.err);
    }
}

#[test]
fn a_connection_that_dies_within_a_transaction_is_rolled_back() {
    if !has_psql() {
        return;
    }
    let client_dies = "psql -qX <<'E'\nBEGIN;\nUPDATE stock SET n = 7;\n\\! kill -9 $PPID\nE\n";
    let server_dies =
        "psql -qX -c BEGIN -c 'UPDATE stock SET n = 8' -c 'SELECT pg_terminate_backend(pg_backend_pid())'\n";
    let look = format!("n=$({LOOK})\necho \"left: $n\"\ntest \"$n\" = 2\n");
    let (_, done) = test("dies", &format!("{client_dies}{server_dies}{look}"), &["-n", "2"]);
    assert_says(&done, NOTHING_OVERLAPPED, &["all 2 runs passed"]);
}

#[test]
fn another_database_of_the_server_has_the_same_setup() {
    if !has_psql() {
        return;
    }
    let (_, done) = test(
        "other-name",
        "n=$(PGDATABASE=shop_test psql -qXAt -c 'SELECT n FROM stock')\ntest \"$n\" = 2\n",
        &["-n", "1"],
    );
    assert_says(&done, NOTHING_OVERLAPPED, &["the run passed"]);
}

#[test]
fn whoever_talks_to_another_server_is_told() {
    if !has_psql() {
        return;
    }
    let elsewhere = "psql -qX 'postgresql://postgres@127.0.0.1:1/shop' -c 'SELECT 1'";
    let (_, done) = test("elsewhere", &format!("{elsewhere}\n"), &["-n", "1"]);
    let never =
        "`sh` never connected to the database and failed with exit code 2: have it take the database's address from";
    assert_says(&done, 2, &[never, "what the command printed:\n  | psql: error: connection to server at"]);
    let (_, done) = test("elsewhere-ignored", &format!("{elsewhere} 2> /dev/null || true\n"), &["-n", "1"]);
    assert_says(
        &done,
        2,
        &["never connected to the database, so it talks to another one or to none", "printed nothing"],
    );
}

#[test]
fn a_test_that_waits_for_its_own_lock_is_told_which_statement_waits() {
    if !has_psql() {
        return;
    }
    let hold = "(printf 'BEGIN;\nUPDATE stock SET n = 7;\n\\\\! touch {folder}held\n'; sleep 60) | psql -qX &\n";
    let until = "until [ -e {folder}held ]; do sleep 0.1; done\n";
    let wait = "psql -qX -c 'UPDATE stock SET n = n - 1'\n";
    let (_, done) = test("own-lock", &format!("{hold}{until}{wait}"), &["-n", "1", "--timeout", "20"]);
    let expected = [
        "the test did not end within 20 s although every transaction runs alone: a statement waits for a transaction that \
         the test leaves open",
        "\n  had no answer: UPDATE stock SET n = n - 1\n",
    ];
    assert_says(&done, 2, &expected);
}

#[test]
fn a_run_that_hangs_is_told_from_one_that_breaks() {
    if !has_psql() {
        return;
    }
    let (_, done) = test("hangs-later", &the_nth_time(4, "echo asleep; sleep 60"), &["-n", "1", "--timeout", "10"]);
    let expected = [
        "failed[timeout]: the command did not end in time, and was not waiting for the database\n",
        "--timeout gives it longer",
        "  | asleep\n",
        "the run failed",
    ];
    assert_says(&done, 1, &expected);
}

#[test]
fn a_test_that_fails_at_serializable_is_wrong_itself() {
    if !has_psql() {
        return;
    }
    let (_, done) = test("fails-at-ser", &the_nth_time(2, "echo oops; exit 5"), &["-n", "1"]);
    let wrong = "skew: the test failed with exit code 5 at serializable: its transactions behave as if they ran one after the \
                 other, so the test itself depends on something else (time, order, randomness)\n";
    assert_says(&done, 2, &[wrong, "  | oops\n"]);
}

#[test]
fn a_command_that_is_not_deterministic_is_found_out() {
    if !has_psql() {
        return;
    }
    let (_, done) = test("flaky", &the_nth_time(4, "exit 1"), &["-n", "2"]);
    let expected = [
        "failed[no anomaly]: the run is serializable, so weak isolation did not break it",
        "repeated 3 times, it never failed again: the command itself is not deterministic",
        "1 of 2 runs failed",
    ];
    assert_says(&done, 1, &expected);
}

#[test]
fn what_is_not_supported_is_counted_even_if_the_test_passes() {
    if !has_psql() {
        return;
    }
    let script = format!("psql -qX -c 'CREATE PUBLICATION p FOR ALL TABLES' 2> /dev/null\n{LOOK}\n");
    let (_, done) = test("not-supported", &script, &["-n", "3"]);
    assert_says(
        &done,
        NOTHING_OVERLAPPED,
        &["all 3 runs passed", "  not supported, 3 times: CREATE PUBLICATION is not supported by Skew\n"],
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_keeps_nothing_else_from_being_written() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("full");
    shop.write("shop.sh", &format!("{LOOK}\n"));
    let html = shop.path("all.html");
    let done = shop.test(&["--seed", "1", "-n", "1", "--junit", "/dev/full", "--json", "/dev/full", "--html", &html]);
    let cannot = "skew: cannot write /dev/full: No space left on device (os error 28)";
    assert_says(&done, 2, &["the run passed", cannot]);
    let sentences = [format!("skew: wrote {html}"), cannot.to_owned(), cannot.to_owned()];
    assert_eq!(done.err.lines().collect::<Vec<_>>(), sentences, "a sentence for each file");
    assert!(shop.read("all.html").contains("the run passed"));
    // The folder of replays is a file: what was found is told all the same.
    shop.write("shop.sh", &the_nth_time(4, "exit 1").replace("{folder}", &shop.path("")));
    shop.write("out", "");
    let done = shop.test(&["--seed", "1", "-n", "1"]);
    assert_says(&done, 1, &["skew: cannot make ", "the run failed"]);
    assert!(!done.out.contains("skew replay"), "{}", done.out);
}

#[test]
fn ctrl_c_twice_ends_at_once_and_stops_the_command() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("twice");
    let pid = shop.path("pid");
    shop.write("shop.sh", &format!("{LOOK}\necho $$ > '{pid}.new'\nmv '{pid}.new' '{pid}'\nexec sleep 600\n"));
    let skew = start(&shop, &["-n", "5", "--timeout", "1000"]);
    wait_until("the command runs", || Path::new(&pid).exists());
    let command = shop.read("pid").trim().to_owned();
    // Two kinds: one may come only once if it is sent twice before anybody looks.
    let both = format!("kill -INT {0}; kill -TERM {0}", skew.id());
    assert!(Command::new("sh").args(["-c", &both]).status().expect("sh runs").success());
    let output = skew.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert_eq!(
        words,
        "skew: stopping, with what there is; once more ends it at once\nskew: ended at once, without results\n"
    );
    wait_until("the command is gone", || !is_alive(&command));
}

fn start(shop: &Shop, options: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_skew"))
        .args(shop.arguments(options))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

fn is_alive(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("ps runs");
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(120), "not so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
