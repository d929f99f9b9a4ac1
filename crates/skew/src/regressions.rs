//! Runs that failed before, kept in a folder of the crate under test and made again before new ones.
//!
//! They are kept where a folder `skew-regressions` is beside the crate's `Cargo.toml`: one file for each test, one
//! recording per line. The files belong into version control, like those of other property testing libraries.

use std::io::Write as _;
use std::path::PathBuf;

use skew_store::replay::Recording;

const FOLDER: &str = "skew-regressions";

/// The file of the test that runs, if runs are kept.
fn file() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?).join(FOLDER);
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main")?.replace("::", "-");
    folder.is_dir().then(|| folder.join(format!("{name}.txt")))
}

/// The runs of this test that failed before.
pub(crate) fn kept() -> Vec<Recording> {
    let text = file().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.filter_map(|line| Recording::parse(line.trim()).ok()).collect()
}

/// Keeps a run that failed: what to tell about it, if it is kept.
pub(crate) fn keep(recording: &Recording) -> Option<String> {
    let file = file()?;
    if kept().contains(recording) {
        return Some(format!("kept in {}", file.display()));
    }
    let is_new = !file.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(&file);
    let written = opened.and_then(|mut out| {
        if is_new {
            writeln!(out, "# Runs that failed, made again before new ones. Keep this file in version control.")?;
        }
        writeln!(out, "{recording}")
    });
    Some(match written {
        Ok(()) => format!("kept in {}: it is made again first from now on", file.display()),
        Err(error) => format!("it could not be kept in {}: {error}", file.display()),
    })
}
