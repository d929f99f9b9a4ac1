//! The examples for `skew test`, with a few runs each: what is wrong is found and explained, what is right passes. Drivers
//! come from `crates/server/tests/clients/install.sh`; an example whose driver is missing is skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::root;

/// Something that `install.sh` has installed.
fn installed(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SKEW_CLIENTS").map_or_else(|| root().join("target/clients"), PathBuf::from);
    let path = folder.join(path);
    let what = format!("{} (crates/server/tests/clients/install.sh gets it)", path.display());
    skew_testing::available(&what, path.exists()).then_some(path)
}

/// An example in a folder, and the command that tests it.
struct Example {
    folder: PathBuf,
    command: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

impl Example {
    fn new(folder: &str, command: &[&str]) -> Example {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        let environment = vec![("PYTHONDONTWRITEBYTECODE", "1".to_owned())];
        Example { folder: root().join("examples").join(folder), command, environment }
    }

    fn python(folder: &str, command: &[&str]) -> Option<Example> {
        let python = installed("python/bin/python")?;
        let words = [&[python.to_str().expect("a path in UTF-8")], command].concat();
        Some(Example::new(folder, &words))
    }

    fn with(mut self, name: &'static str, value: &str) -> Example {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// The exit code of `skew test`, and what it says.
    fn test(&self, options: &[&str]) -> (Option<i32>, String) {
        let out = self.out();
        let out = ["--out", out.to_str().expect("a path in UTF-8"), "--"].map(str::to_owned);
        let options = ["test"].iter().chain(options).map(|word| (*word).to_owned());
        self.skew(options.chain(out).chain(self.command.clone()))
    }

    /// Where the files that replay failures are.
    fn out(&self) -> PathBuf {
        let name = self.command.last().map_or("example", |word| word.trim_end_matches(".py"));
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{name}"))
    }

    fn skew(&self, arguments: impl Iterator<Item = String>) -> (Option<i32>, String) {
        let mut skew = Command::new(env!("CARGO_BIN_EXE_skew"));
        skew.args(arguments).current_dir(&self.folder).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = skew.output().expect("skew starts");
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), text)
    }

    #[track_caller]
    fn breaks(&self, level: &str, names: &[&str]) {
        let (code, text) = self.test(&["--isolation", level, "--runs", "40", "--stop-at-first", "--seed", "1"]);
        assert_eq!(code, Some(1), "{text}");
        for name in names {
            assert!(text.contains(name), "there is no {name} in\n{text}");
        }
    }

    /// The last failure again, from its file, in another process.
    #[track_caller]
    fn breaks_again(&self, names: &[&str]) {
        let files = std::fs::read_dir(self.out()).expect("a failure was kept").map(|file| file.expect("a file").path());
        let last = files.max_by_key(|path| path.metadata().and_then(|file| file.modified()).expect("a time"));
        let last = last.expect("a failure was kept").to_str().expect("a path in UTF-8").to_owned();
        let (code, text) = self.skew(["replay".to_owned(), last].into_iter());
        assert_eq!(code, Some(0), "{text}");
        for name in names {
            assert!(text.contains(name), "there is no {name} in\n{text}");
        }
    }

    #[track_caller]
    fn passes(&self, level: &str) {
        let (code, text) = self.test(&["--isolation", level, "--runs", "4", "--seed", "1"]);
        // On a busy machine four runs possibly have no overlap, which is 3.
        assert!(matches!(code, Some(0 | 3)) && text.contains("all 4 runs passed"), "{text}");
    }
}

#[test]
fn an_overdraft_is_a_lost_update() {
    let Some(example) = Example::python("real-bugs", &["overdraft.py"]) else { return };
    example.breaks("read-committed", &["violated[lost-update]", "SELECT balance FROM accounts", "accounts[1].balance"]);
    example.breaks_again(&["violated[lost-update]"]);
    example.passes("repeatable-read");
}

#[test]
fn get_or_create_is_wrong_one_level_up() {
    let Some(example) = Example::python("real-bugs", &["get_or_create.py"]) else { return };
    example.breaks("repeatable-read", &["failed[refused]", "23505", "snapshot, which does not show it"]);
    example.passes("read-committed");
    example.passes("serializable");
}

#[test]
fn a_wallet_with_sqlalchemy() {
    let Some(example) = Example::python("pytest-sqlalchemy", &["-m", "pytest", "-q", "-p", "no:cacheprovider"]) else {
        return;
    };
    if installed("python/bin/pytest").is_none() {
        return;
    }
    example.breaks("read-committed", &["violated[lost-update]", "UPDATE accounts SET balance=", "100 were there"]);
    example.with("WALLET_FIX", "for-update").passes("read-committed");
}

#[test]
fn a_rota_with_django() {
    let Some(example) = Example::python("django", &["manage.py", "test"]) else { return };
    example
        .breaks("repeatable-read", &["violated[write-skew]", "UPDATE \"rota_doctor\" SET \"on_call\"", ".on_call=t"]);
    example.with("ROTA_FIX", "for-update").passes("read-committed");
}

#[test]
fn a_signup_with_node() {
    let Some(modules) = installed("node/node_modules") else { return };
    let modules = modules.to_str().expect("a path in UTF-8");
    let example = Example::new("node", &["node", "--test"]).with("NODE_PATH", modules);
    example.breaks("read-committed", &["violated[write-skew]", "INSERT INTO users", "found no users["]);
    example.with("SIGNUP_FIX", "on-conflict").passes("read-committed");
}
