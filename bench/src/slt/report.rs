//! Results → a table, a Markdown page, and a list of failures by cause.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::FileResult;
use super::judge::{self, Judgement, Verdict};
use super::reference::Reference;
use super::script::Case;
use crate::causes;

/// At most so many records of one cause are written in full.
const SHOWN: usize = 10;

/// At most so many lines of a result.
const LINES: usize = 20;

/// Records by verdict.
#[derive(Clone, Copy, Default)]
struct Counts {
    all: usize,
    passed: usize,
    as_postgres: usize,
    not_supported: usize,
    after_refusal: usize,
    failed: usize,
    /// Records that PostgreSQL passes, and how many of them were passed.
    postgres: usize,
    of_postgres: usize,
}

impl Counts {
    fn of(file: &FileResult, reference: &Reference) -> Counts {
        let mut counts = Counts::default();
        for (case, judgement) in &file.cases {
            counts.all += 1;
            match judgement.verdict {
                Verdict::Passed => counts.passed += 1,
                Verdict::PassedAsPostgres => counts.as_postgres += 1,
                Verdict::NotSupported => counts.not_supported += 1,
                Verdict::FailedAfterRefusal => counts.after_refusal += 1,
                Verdict::Failed => counts.failed += 1,
            }
            if reference.passes(&file.name, &case.place) == Some(true) {
                counts.postgres += 1;
                counts.of_postgres += usize::from(judgement.verdict == Verdict::Passed);
            }
        }
        counts
    }

    fn add(&mut self, other: Counts) {
        self.all += other.all;
        self.passed += other.passed;
        self.as_postgres += other.as_postgres;
        self.not_supported += other.not_supported;
        self.after_refusal += other.after_refusal;
        self.failed += other.failed;
        self.postgres += other.postgres;
        self.of_postgres += other.of_postgres;
    }

    fn cells(&self) -> [String; 8] {
        let share = match self.postgres {
            0 => "—".to_owned(),
            all => format!("{:.2} %", 100.0 * self.of_postgres as f64 / all as f64),
        };
        [
            self.all.to_string(),
            self.passed.to_string(),
            self.as_postgres.to_string(),
            self.not_supported.to_string(),
            self.failed.to_string(),
            self.after_refusal.to_string(),
            self.postgres.to_string(),
            share,
        ]
    }
}

const COLUMNS: [&str; 8] = [
    "records",
    "passed",
    "as PostgreSQL",
    "not supported",
    "failed",
    "failed after a refusal",
    "PostgreSQL passes",
    "of these passed",
];

/// A line of progress.
pub(super) fn line(file: &FileResult) -> String {
    let counts = Counts::of(file, &Reference::default());
    format!(
        "{}: {} records, {} passed, {} not supported, {} failed, {} failed after a refusal, {:.1} s",
        file.name,
        counts.all,
        counts.passed + counts.as_postgres,
        counts.not_supported,
        counts.failed,
        counts.after_refusal,
        file.took.as_secs_f64()
    )
}

/// Prints the totals of each suite.
pub(super) fn print(
    results: &[FileResult],
    reference: &Reference,
    label: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    for (suite, counts) in totals(results, reference) {
        let cells = counts.cells();
        let facts: Vec<String> = COLUMNS.iter().zip(&cells).map(|(name, cell)| format!("{name} {cell}")).collect();
        writeln!(out, "{label} {suite}: {}", facts.join(", "))?;
    }
    Ok(())
}

/// Writes the table of `results/slt.md`.
pub(super) fn write_markdown(
    results: &[FileResult],
    reference: &Reference,
    label: &str,
    path: &Path,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    writeln!(out, "# SQL test files: {label}\n")?;
    writeln!(
        out,
        "Public sqllogictest files, run by `skew-bench slt`. A record is *passed* if the answer is what the file demands; \
         *as PostgreSQL* if the file demands something that PostgreSQL 15 does not do, and the answer is PostgreSQL's \
         own (the same rows, or an error where PostgreSQL gives one); *not supported* if it was refused with 0A000; \
         *failed* otherwise, with those apart that came after a refused statement of the same file. The order of rows \
         counts only under ORDER BY. What PostgreSQL answers is recorded in `slt-postgresql.txt`.\n"
    )?;
    writeln!(
        out,
        "```sh\nskew serve --isolation ser --port 5433 &\n\
         bench/slt.sh FOLDER postgres://127.0.0.1:5433/slt --markdown bench/results/slt.md\n```\n"
    )?;
    writeln!(out, "| file | {} |", COLUMNS.join(" | "))?;
    writeln!(out, "| --- |{}", " ---: |".repeat(COLUMNS.len()))?;
    for (suite, counts) in totals(results, reference) {
        writeln!(out, "| **{suite}** | {} |", counts.cells().join(" | "))?;
    }
    for file in results {
        writeln!(out, "| {} | {} |", file.name, Counts::of(file, reference).cells().join(" | "))?;
    }
    out.flush()
}

fn totals(results: &[FileResult], reference: &Reference) -> BTreeMap<String, Counts> {
    let mut totals: BTreeMap<String, Counts> = BTreeMap::new();
    for file in results {
        let suite = file.name.split('/').next().unwrap_or_default();
        totals.entry(suite.to_owned()).or_default().add(Counts::of(file, reference));
    }
    totals
}

/// Writes what failed and what is not supported, the most frequent cause first.
pub(super) fn write_failures(results: &[FileResult], path: &Path) -> io::Result<()> {
    let mut groups: BTreeMap<(Verdict, String), Vec<&(Case, Judgement)>> = BTreeMap::new();
    for record in results.iter().flat_map(|file| &file.cases) {
        let verdict = record.1.verdict;
        if verdict > Verdict::PassedAsPostgres {
            groups.entry((verdict, cause(record))).or_default().push(record);
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((verdict, _), records)| (std::cmp::Reverse(*verdict), std::cmp::Reverse(records.len())));
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    for ((verdict, cause), records) in &groups {
        writeln!(out, "{:6}  {:9}  {cause}", records.len(), word(*verdict))?;
    }
    for ((verdict, cause), records) in &groups {
        writeln!(out, "\n==== {} × {}: {cause}", records.len(), word(*verdict))?;
        for record in records.iter().take(SHOWN) {
            write_record(record, &mut out)?;
        }
        for (case, _) in records.iter().skip(SHOWN) {
            writeln!(out, "also {}", case.place)?;
        }
    }
    out.flush()
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::PassedAsPostgres => "as-pg",
        Verdict::NotSupported => "refused",
        Verdict::FailedAfterRefusal => "failed-ar",
        Verdict::Failed => "failed",
    }
}

fn cause((_, judgement): &(Case, Judgement)) -> String {
    let kind = judgement.seen.summary.split(' ').next().unwrap_or_default();
    match kind {
        "rows" => "other rows than demanded".to_owned(),
        "ok" => "success where an error is demanded".to_owned(),
        _ => causes::of_message(&judgement.seen.text),
    }
}

fn write_record((case, judgement): &(Case, Judgement), out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "-- {}\n{}", case.place, case.sql)?;
    writeln!(out, "   demanded: {}", indented(&judge::demanded(case)))?;
    writeln!(out, "   seen:     {}", indented(&judgement.seen.text))
}

fn indented(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = lines[..lines.len().min(LINES)].join("\n             ");
    if lines.len() > LINES {
        shown.push_str(&format!("\n             … {} lines", lines.len()));
    }
    shown
}
