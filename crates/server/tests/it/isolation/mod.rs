//! PostgreSQL's isolation specs on the weak database: with the choice of PostgreSQL it prints what PostgreSQL prints.
//!
//! `tests/isolation` holds specs of our own; each `NAME.out` is what PostgreSQL 15 printed. With `SKEW_TEST_POSTGRES` the
//! same test runs on a real server, and `SKEW_BLESS=1` writes what it prints. `SKEW_SPECS` names another folder of specs.

mod client;
mod judge;
mod spec;
mod table;
mod tester;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use skew_server::Settings;
use skew_sql::session::{ChoiceKind, Options};

use crate::target::Target;
use spec::Spec;
use tester::{Judged, Printed, run_spec};

/// The part of the permutations of PostgreSQL's own specs that must be identical, in percent.
const MIN_IDENTICAL: f64 = 99.0;

fn own_specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isolation")
}

fn as_postgres() -> Settings {
    Settings { options: Options { choice: ChoiceKind::Postgres, ..Options::default() }, ..Settings::default() }
}

fn target() -> Target {
    match std::env::var("SKEW_TEST_POSTGRES") {
        Ok(_) => Target::new(),
        Err(_) => Target::with(as_postgres()),
    }
}

fn specs_in(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).expect("a folder of specs").map(|file| file.expect("a file").path());
    let mut specs: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "spec")).collect();
    specs.sort();
    specs
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The permutations of an expected output, each from `starting permutation` on.
fn permutations(text: &str) -> Vec<&str> {
    text.split("\nstarting permutation:").skip(1).collect()
}

/// What a folder of specs came to.
#[derive(Default)]
struct Tally {
    permutations: usize,
    identical: usize,
    differences: String,
}

impl Tally {
    fn compare(&mut self, path: &Path) {
        let spec = Spec::parse(&read(path)).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let alternatives = ["", "_1", "_2", "_3"].map(|suffix| path.with_file_name(format!("{name}{suffix}.out")));
        let printed = run_spec(&spec, &target(), Judged::No);
        if std::env::var_os("SKEW_BLESS").is_some() {
            bless(&alternatives[0], &spec, &printed);
        }
        let expected: Vec<String> = alternatives.iter().filter(|path| path.exists()).map(|path| read(path)).collect();
        self.permutations += spec.permutations.len();
        match printed {
            Ok(printed) => {
                for (at, printed) in printed.iter().enumerate() {
                    let is_same = |text: &String| {
                        permutations(text).get(at).is_some_and(|text| trim(text) == trim(after_start(&printed.text)))
                    };
                    match expected.iter().any(is_same) {
                        true => self.identical += 1,
                        false => {
                            let wanted = expected.first().and_then(|text| permutations(text).get(at).copied());
                            self.differ(&name, printed, wanted.unwrap_or_default());
                        }
                    }
                }
            }
            Err(why) => {
                let _ = writeln!(self.differences, "{name}: {why}");
            }
        }
    }

    fn differ(&mut self, name: &str, printed: &Printed, wanted: &str) {
        let (ours, wanted) = (trim(after_start(&printed.text)), trim(wanted));
        let same = ours.lines().zip(wanted.lines()).take_while(|(ours, wanted)| ours == wanted).count();
        let _ = writeln!(self.differences, "{name}: {}", printed.steps);
        wanted.lines().skip(same).take(8).for_each(|line| self.differences.push_str(&format!("  - {line}\n")));
        ours.lines().skip(same).take(8).for_each(|line| self.differences.push_str(&format!("  + {line}\n")));
    }
}

fn after_start(text: &str) -> &str {
    text.strip_prefix("\nstarting permutation:").unwrap_or(text)
}

fn trim(text: &str) -> &str {
    text.trim_end()
}

fn bless(path: &Path, spec: &Spec, printed: &Result<Vec<Printed>, String>) {
    let printed = printed.as_ref().unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let texts: Vec<&str> = printed.iter().map(|printed| printed.text.as_str()).collect();
    let text = format!("Parsed test spec with {} sessions\n{}", spec.sessions.len(), texts.concat());
    std::fs::write(path, text).expect("the expected output is written");
}

#[test]
fn own_specs_print_what_postgres_prints() {
    let mut tally = Tally::default();
    specs_in(&own_specs()).iter().for_each(|path| tally.compare(path));
    assert!(tally.permutations > 0);
    assert!(tally.identical == tally.permutations, "{}", tally.differences);
}

/// Runs the specs of a folder where reads are as weak as their levels allow: every permutation comes to its end, within its
/// levels and its constraints. How many there are.
fn judge_weak(folder: &Path) -> usize {
    let mut permutations = 0;
    for path in specs_in(folder) {
        let spec = Spec::parse(&read(&path)).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let target = Target::with(crate::target::settings());
        match run_spec(&spec, &target, Judged::ByLevels) {
            Ok(printed) => permutations += printed.len(),
            Err(why) => panic!("{}: {why}", path.display()),
        }
    }
    permutations
}

#[test]
fn own_specs_are_within_their_levels_on_the_weak_database() {
    if std::env::var_os("SKEW_TEST_POSTGRES").is_none() {
        assert!(judge_weak(&own_specs()) > 0);
    }
}

/// Another folder of specs: see `SKEW_SPECS`.
fn specs_beside() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/isolation/postgres-specs");
    let folder = std::env::var_os("SKEW_SPECS").map_or_else(beside, PathBuf::from);
    if !folder.exists() {
        skew_testing::skip(&format!("there are no isolation specs of PostgreSQL in {}", folder.display()));
        return None;
    }
    Some(folder)
}

#[test]
fn specs_of_postgres_are_within_their_levels_on_the_weak_database() {
    if let Some(folder) = specs_beside().filter(|_| std::env::var_os("SKEW_TEST_POSTGRES").is_none()) {
        eprintln!("{} permutations within their levels", judge_weak(&folder));
    }
}

#[test]
fn specs_of_postgres_print_what_postgres_prints() {
    let Some(folder) = specs_beside() else { return };
    let mut tally = Tally::default();
    specs_in(&folder).iter().for_each(|path| tally.compare(path));
    let percent = 100.0 * tally.identical as f64 / tally.permutations as f64;
    eprintln!("{} of {} permutations identical ({percent:.1} %)", tally.identical, tally.permutations);
    eprintln!("{}", tally.differences);
    assert!(percent >= MIN_IDENTICAL, "{}", tally.differences);
}
