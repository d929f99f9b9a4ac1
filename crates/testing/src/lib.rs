//! What tests share: random numbers from a seed, and programs that are possibly missing.
//!
//! A test that needs a missing program is skipped, and the skip is counted in the output.
//! A skip prints `skipped 3: psql::pgbench_runs (pgbench not found)`, where 3 is the number of skips of this test binary
//! so far. With `SKEW_REQUIRE_TOOLS=1` (continuous integration) a missing program fails the test instead.

pub mod constraints;
mod dice;
pub mod truths;

pub use dice::Dice;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Set to anything but `0`: a test whose program is missing fails.
pub const REQUIRE_TOOLS: &str = "SKEW_REQUIRE_TOOLS";

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Whether the program can be started; if not, the calling test is skipped.
#[track_caller]
pub fn has(program: &str) -> bool {
    let version = |option| Command::new(program).arg(option).stdout(Stdio::null()).stderr(Stdio::null()).status();
    // openssl knows `version` alone.
    let starts =
        ["--version", "version"].into_iter().any(|option| version(option).is_ok_and(|status| status.success()));
    available(program, starts)
}

/// Whether something that a test needs is there, which the caller has found out; if not, the calling test is skipped.
#[track_caller]
pub fn available(what: &str, is_there: bool) -> bool {
    if !is_there {
        let required = std::env::var_os(REQUIRE_TOOLS).is_some_and(|value| !value.is_empty() && value != "0");
        assert!(!required, "{what} not found, and {REQUIRE_TOOLS} is set");
        skip(&format!("{what} not found"));
    }
    is_there
}

/// Counts the calling test as skipped. For what no machine is expected to have (files beside the project, a test that
/// only runs on request); [`has`] and [`available`] are for programs.
pub fn skip(why: &str) {
    let number = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    let thread = std::thread::current();
    let line = format!("skipped {number}: {} ({why})\n", thread.name().unwrap_or("a test"));
    // Not `eprintln!`: the test harness keeps what a passing test prints with it.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The number of skips in this process.
pub fn skipped() -> usize {
    SKIPPED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs one test of this binary again, as its own process, and gives what it prints and whether it passes.
    fn again(test: &str, required: &str) -> (String, bool) {
        let this = std::env::current_exe().expect("a test has a binary");
        let output = Command::new(this)
            .args(["--exact", test, "--ignored"])
            .env(REQUIRE_TOOLS, required)
            .output()
            .expect("the binary starts again");
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&text).into_owned(), output.status.success())
    }

    #[test]
    #[ignore = "run by the other tests"]
    fn needs_two_missing_programs() {
        assert!(!has("no-such-program-1"));
        assert!(!has("no-such-program-2"));
        assert_eq!(skipped(), 2);
    }

    #[test]
    fn a_missing_program_is_a_counted_skip_that_the_harness_does_not_hide() {
        let (text, passed) = again("tests::needs_two_missing_programs", "");
        assert!(passed, "{text}");
        assert!(text.contains("skipped 1: tests::needs_two_missing_programs (no-such-program-1 not found)"), "{text}");
        assert!(text.contains("skipped 2: tests::needs_two_missing_programs (no-such-program-2 not found)"), "{text}");
    }

    #[test]
    fn a_missing_program_fails_the_test_where_tools_are_required() {
        let (text, passed) = again("tests::needs_two_missing_programs", "1");
        assert!(!passed && text.contains("no-such-program-1 not found, and SKEW_REQUIRE_TOOLS is set"), "{text}");
    }

    #[test]
    fn a_program_that_starts_is_no_skip() {
        assert!(has("cargo"));
    }
}
