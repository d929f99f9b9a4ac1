//! Runs the binary from the root of the repository, and writes files for it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run left behind.
pub(crate) struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `skew` with these arguments.
pub(crate) fn skew(arguments: &[&str]) -> Done {
    skew_with_input(arguments, b"")
}

/// Runs `skew` with these arguments and this on standard input.
pub(crate) fn skew_with_input(arguments: &[&str], input: &[u8]) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skew"))
        .args(arguments)
        .current_dir(root())
        // Nothing is kept from one test to the next.
        .env("XDG_CACHE_HOME", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A run that does not read its input may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("the binary ends");
    Done {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// A file of this test's own.
pub(crate) fn file(name: &str, bytes: &[u8]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("the folder for tests can be written");
    path.to_str().expect("a path in UTF-8").to_owned()
}
