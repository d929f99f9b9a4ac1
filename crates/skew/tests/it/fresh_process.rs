//! A failing check in one process, its replay in another: this test binary starts itself.

use std::process::Command;

use skew::{Check, Level, Recency};

use crate::programs::{on_call, two_increments};

/// What the child process prints about a test that fails in it.
fn fails_with(test: &str, variables: &[(&str, &str)]) -> String {
    let program = std::env::current_exe().expect("a test knows its program");
    let mut child = Command::new(program);
    child.args(["--exact", test, "--ignored", "--nocapture"]).env_remove("SKEW_SEED").env_remove("SKEW_RUNS");
    let output = child.envs(variables.iter().copied()).output().expect("a program can be started twice");
    assert!(!output.status.success(), "{test} fails in the other process");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[ignore = "needs a recording: started by the others"]
fn replays_two_increments() {
    skew::replay(&std::env::var("RECORDING").expect("the parent process sets it"), two_increments);
}

#[test]
#[ignore = "needs a recording: started by the others"]
fn replays_on_call() {
    skew::replay(&std::env::var("RECORDING").expect("the parent process sets it"), on_call);
}

#[test]
#[ignore = "fails on purpose: started by the others"]
fn loses_an_update() {
    skew::check_random(Level::Cc, 1000, two_increments);
}

#[test]
fn a_string_repeats_a_failure_in_a_fresh_process() {
    for level in [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Pc, Level::Mvrc] {
        let found = Check::new(level).seed(7).find(two_increments).expect("an update is lost");
        let recording = found.recording.to_string();
        let output = fails_with("fresh_process::replays_two_increments", &[("RECORDING", &recording)]);
        let text = found.to_string();
        let (_, after) = text.split_once("replay:").expect("the message has a replay string");
        assert!(output.contains(after), "{level}: {output}");
    }
}

#[test]
fn so_does_one_that_needs_interleaving() {
    for level in [Level::Mvrc, Level::Si] {
        let check = Check::new(level).recency(Recency::Commit).seed(7);
        let found = check.find(on_call).expect("both leave");
        let recording = found.recording.to_string();
        assert!(recording.starts_with(&format!("skew1.{level}.commit.operations.")), "{recording}");
        let output = fails_with("fresh_process::replays_on_call", &[("RECORDING", &recording)]);
        assert!(output.contains(&found.history.to_string()), "{level}: {output}");
    }
}

#[test]
fn the_environment_sets_the_seed_and_the_runs() {
    let output = fails_with("fresh_process::loses_an_update", &[("SKEW_SEED", "42"), ("SKEW_RUNS", "77")]);
    assert!(output.contains("of 77 at cc, seed 42"), "{output}");
    let output = fails_with("fresh_process::loses_an_update", &[("SKEW_SEED", "many")]);
    assert!(output.contains("SKEW_SEED is `many` in the environment; it has to be a whole number"), "{output}");
}
