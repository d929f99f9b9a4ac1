//! Where a real PostgreSQL differs from the test files: one line a record, with what it answers instead.
//!
//! Every record of the files that has no line here is one that PostgreSQL passes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

const HEAD: &str = "\
# Records of the test suites that PostgreSQL does not pass, and what it answers instead: place, outcome.
# `rows` has the number of lines and a hash of them. `file` names the files that were run.
";

/// PostgreSQL's own answers.
#[derive(Default)]
pub(super) struct Reference {
    files: BTreeSet<String>,
    own: BTreeMap<String, String>,
}

impl Reference {
    pub(super) fn load(path: &Path) -> io::Result<Reference> {
        let mut reference = Reference::default();
        for line in fs::read_to_string(path)?.lines().filter(|line| !line.starts_with('#')) {
            match line.split_once('\t') {
                Some(("file", name)) => {
                    reference.files.insert(name.to_owned());
                }
                Some((place, outcome)) => {
                    reference.own.insert(place.to_owned(), outcome.to_owned());
                }
                None => return Err(io::Error::other(format!("{}: `{line}` has no tab", path.display()))),
            }
        }
        Ok(reference)
    }

    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        let mut out = io::BufWriter::new(fs::File::create(path)?);
        out.write_all(HEAD.as_bytes())?;
        for name in &self.files {
            writeln!(out, "file\t{name}")?;
        }
        for (place, outcome) in &self.own {
            writeln!(out, "{place}\t{outcome}")?;
        }
        out.flush()
    }

    /// Notes that a file was run on PostgreSQL, and where it differed.
    pub(super) fn add_file(&mut self, name: &str, differences: impl IntoIterator<Item = (String, String)>) {
        self.files.insert(name.to_owned());
        self.own.extend(differences);
    }

    /// What PostgreSQL answers to a record that it does not pass.
    pub(super) fn own(&self, place: &str) -> Option<&str> {
        self.own.get(place).map(String::as_str)
    }

    /// Whether PostgreSQL passes this record of this file; nothing if it never ran the file.
    pub(super) fn passes(&self, file: &str, place: &str) -> Option<bool> {
        self.files.contains(file).then(|| !self.own.contains_key(place))
    }
}
