//! A failing check in one process, its replay in another: this test binary starts itself.

use std::process::Command;

use skew::{Check, Level, Recency};

use crate::programs::{on_call, two_increments};

/// What the child process prints about a test that fails in it.
fn fails_with(test: &str, variables: &[(&str, &str)]) -> String {
    let program = std::env::current_exe().expect("a test knows its program");
    let mut child = Command::new(program);
    child
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env_remove("SKEW_SEED")
        .env_remove("SKEW_RUNS")
        .env_remove("SKEW_REPLAY");
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
fn the_environment_replays_a_run() {
    let found = Check::new(Level::Cc).seed(7).find(two_increments).expect("an update is lost");
    let recording = found.recording.to_string();
    let output = fails_with("fresh_process::loses_an_update", &[("SKEW_REPLAY", &recording)]);
    assert!(output.contains("in a run at cc that was made again"), "{output}");
    assert!(output.contains(&found.history.to_string()), "{output}");
    let output = fails_with("fresh_process::loses_an_update", &[("SKEW_REPLAY", "skew1.best")]);
    assert!(output.contains("SKEW_REPLAY: "), "{output}");
}

#[test]
fn a_failure_is_kept_where_there_is_a_folder_for_it_and_made_again_first() {
    let crate_folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("keeps-failures");
    let _ = std::fs::remove_dir_all(&crate_folder);
    std::fs::create_dir_all(crate_folder.join("skew-regressions")).expect("a folder");
    let variables = [("CARGO_MANIFEST_DIR", crate_folder.to_str().expect("UTF-8"))];
    let first = fails_with("fresh_process::loses_an_update", &variables);
    assert!(first.contains("of 1000 at cc, seed 0") && first.contains("it is made again first from now on"), "{first}");
    let file = crate_folder.join("skew-regressions/fresh_process-loses_an_update.txt");
    let kept = std::fs::read_to_string(&file).expect("it was written");
    assert_eq!(kept.lines().filter(|line| line.starts_with("skew1.cc.")).count(), 1, "{kept}");
    let again = fails_with("fresh_process::loses_an_update", &variables);
    assert!(again.contains("in a run at cc that failed before and was kept"), "{again}");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), kept, "once is enough");
}

#[test]
fn the_environment_sets_the_seed_and_the_runs() {
    let output = fails_with("fresh_process::loses_an_update", &[("SKEW_SEED", "42"), ("SKEW_RUNS", "77")]);
    assert!(output.contains("of 77 at cc, seed 42"), "{output}");
    let output = fails_with("fresh_process::loses_an_update", &[("SKEW_SEED", "many")]);
    assert!(output.contains("SKEW_SEED is `many` in the environment; it has to be a whole number"), "{output}");
}
