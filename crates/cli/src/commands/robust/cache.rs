//! Answers by content: the same question about the same file, asked of the same binary, is answered from the user's cache.
//!
//! An entry is a file that holds the question word by word beside the answer, so that two questions are never taken for one.
//! What cannot be read or written is as if it was not there.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use skew_model::robust::{RobustReport, RobustVerdict};

/// Larger answers are not kept.
const LARGEST: usize = 8 << 20;
/// So much is kept in all, the latest of it.
const MOST_BYTES: u64 = 64 << 20;
const MOST_ENTRIES: usize = 500;
/// What stands between the question and the answer; no line of a question is it.
const BETWEEN: &str = "\n=== skew robust: the answer ===\n";

/// Where answers are kept, and the question.
pub(super) struct Cache {
    folder: PathBuf,
    question: String,
}

impl Cache {
    /// The cache for a question: the text of the application and the options.
    pub(super) fn of(app: &str, options: &str) -> Option<Cache> {
        let question = format!("{}\n{options}\n{app}", binary()?);
        let is_plain = !question.contains(BETWEEN);
        is_plain.then_some(Cache { folder: folder()?, question })
    }

    fn path(&self) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.question.hash(&mut hasher);
        self.folder.join(format!("{:016x}.txt", hasher.finish()))
    }

    /// What was answered before.
    pub(super) fn read(&self) -> Option<RobustReport> {
        let text = fs::read_to_string(self.path()).ok()?;
        let (question, answer) = text.split_once(BETWEEN)?;
        if question != self.question {
            return None;
        }
        let report = skew_formats::robust::read(answer).ok()?;
        Some(RobustReport { cached: true, ..report })
    }

    /// Keeps an answer, unless another try may find more.
    pub(super) fn keep(&self, report: &RobustReport) {
        let text = format!("{}{BETWEEN}{}", self.question, skew_formats::robust::write(report));
        if text.len() > LARGEST || was_hurried(report) || fs::create_dir_all(&self.folder).is_err() {
            return;
        }
        // Whole or not at all: others may read it meanwhile.
        let own = self.folder.join(format!(".{}", std::process::id()));
        if fs::write(&own, text).is_ok() && fs::rename(&own, self.path()).is_err() {
            let _ = fs::remove_file(&own);
        }
        tidy(&self.folder);
    }
}

/// Whether time ran out somewhere.
fn was_hurried(report: &RobustReport) -> bool {
    report.levels.iter().any(|answer| match answer.verdict {
        RobustVerdict::Robust | RobustVerdict::NotRobust => false,
        RobustVerdict::Unknown => true,
        RobustVerdict::Possible => answer.untried > 0 || answer.possible.iter().any(|one| one.reason.contains(" ms")),
    })
}

/// Leaves the latest answers, up to the limits.
fn tidy(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let known = entry.metadata().ok().filter(|known| known.is_file())?;
            Some((known.modified().ok()?, known.len(), entry.path()))
        })
        .collect();
    files.sort();
    files.reverse();
    let mut bytes = 0;
    for (at, (_, size, path)) in files.iter().enumerate() {
        bytes += size;
        if at >= MOST_ENTRIES || bytes > MOST_BYTES {
            let _ = fs::remove_file(path);
        }
    }
}

/// `skew/robust` in the user's cache: `$XDG_CACHE_HOME`, or `.cache` at home.
fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache =
        set("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("skew").join("robust"))
}

/// Which binary this is: its version, and when it was built, because versions that are being worked on share a number.
fn binary() -> Option<String> {
    let known = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let built = known.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("skew {} {} {}", env!("CARGO_PKG_VERSION"), known.len(), built.as_nanos()))
}
