//! Differences → counts for each recording, and a list by cause.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::compare::Verdict;
use super::{Entry, Replayed};
use crate::causes;

/// At most so many statements of one cause are written in full.
const SHOWN: usize = 5;

/// The same for rows that differ, which have many causes.
const SHOWN_ROWS: usize = 60;

/// At most so many lines of an answer.
const LINES: usize = 12;

/// Verdicts with their headings.
const COLUMNS: [(Verdict, &str); 12] = [
    (Verdict::Same, "same"),
    (Verdict::Refused, "refused (0A000)"),
    (Verdict::Consequence, "consequence"),
    (Verdict::Error, "error, PostgreSQL answers"),
    (Verdict::Answer, "answer, PostgreSQL errs"),
    (Verdict::Code, "other SQLSTATE"),
    (Verdict::Columns, "other columns"),
    (Verdict::Rows, "other rows"),
    (Verdict::SystemRows, "system rows missing"),
    (Verdict::Order, "other order"),
    (Verdict::Tag, "other tag"),
    (Verdict::Lost, "connection lost"),
];

fn counts<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> BTreeMap<Verdict, usize> {
    let mut counts = BTreeMap::new();
    for entry in entries {
        *counts.entry(entry.difference.verdict).or_default() += 1;
    }
    counts
}

fn sentence<'a>(entries: impl IntoIterator<Item = &'a Entry> + Clone) -> String {
    let counts = counts(entries.clone());
    let all: usize = counts.values().sum();
    let answered = entries.into_iter().filter(|entry| entry.answered).count();
    let parts: Vec<String> =
        COLUMNS.iter().filter_map(|(verdict, name)| Some(format!("{} {name}", counts.get(verdict)?))).collect();
    format!("{all} statements ({answered} that PostgreSQL answers): {}", parts.join(", "))
}

/// One recording in a line.
pub(super) fn line(replayed: &Replayed) -> String {
    format!("{}: {}", replayed.name, sentence(&replayed.entries))
}

/// All recordings in a line.
pub(super) fn print_total(all: &[Replayed], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "all: {}", sentence(all.iter().flat_map(|replayed| &replayed.entries)))
}

/// Writes the table of `results/clients.md`.
pub(super) fn write_markdown(all: &[Replayed], path: &Path) -> io::Result<()> {
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    writeln!(out, "# What clients send\n")?;
    writeln!(
        out,
        "Statements recorded from real clients, replayed by `skew-bench replay-clients` on a server and on PostgreSQL 15, \
         and compared: rows, names and types of columns, command tags, SQLSTATEs. Numbers of objects, sizes and clocks \
         are left out. A *consequence* names something that an earlier statement left different.\n"
    )?;
    writeln!(
        out,
        "```sh\nskew serve --choice postgres --port 5433 &\n\
         skew-bench replay-clients --url postgres://127.0.0.1:5433/x --reference postgres://postgres@127.0.0.1:5432/postgres \\\n  \
         --markdown bench/results/clients.md FOLDER/*pg*.sql* FOLDER/psql.sql\n```\n"
    )?;
    let names: Vec<&str> = COLUMNS.iter().map(|(_, name)| *name).collect();
    writeln!(out, "| recording | statements | PostgreSQL answers | {} |", names.join(" | "))?;
    writeln!(out, "| --- | ---: | ---: |{}", " ---: |".repeat(COLUMNS.len()))?;
    for replayed in all {
        let counts = counts(&replayed.entries);
        let cells: Vec<String> =
            COLUMNS.iter().map(|(verdict, _)| counts.get(verdict).copied().unwrap_or(0).to_string()).collect();
        let answered = replayed.entries.iter().filter(|entry| entry.answered).count();
        writeln!(out, "| {} | {} | {answered} | {} |", replayed.name, replayed.entries.len(), cells.join(" | "))?;
    }
    out.flush()
}

/// Writes statements whose answers differ, the most frequent cause first.
pub(super) fn write_differences(all: &[Replayed], path: &Path) -> io::Result<()> {
    let mut groups: BTreeMap<(bool, String), Vec<(&str, &Entry)>> = BTreeMap::new();
    for replayed in all {
        for entry in &replayed.entries {
            if entry.difference.verdict != Verdict::Same {
                let key = (entry.difference.verdict <= Verdict::Consequence, cause(entry));
                groups.entry(key).or_default().push((&replayed.name, entry));
            }
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((harmless, _), entries)| (*harmless, std::cmp::Reverse(entries.len())));
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    for ((_, cause), entries) in &groups {
        writeln!(out, "{:6}  {cause}", entries.len())?;
    }
    for ((_, cause), entries) in &groups {
        writeln!(out, "\n==== {} × {cause}", entries.len())?;
        for (name, entry) in entries.iter().take(if cause.contains("rows") { SHOWN_ROWS } else { SHOWN }) {
            writeln!(out, "-- {name}\n{}", entry.sql)?;
            writeln!(out, "   PostgreSQL: {}", indented(&entry.difference.expected))?;
            writeln!(out, "   seen:       {}", indented(&entry.difference.seen))?;
        }
    }
    out.flush()
}

fn cause(entry: &Entry) -> String {
    let difference = &entry.difference;
    let name = COLUMNS.iter().find(|(verdict, _)| *verdict == difference.verdict).map_or("", |(_, name)| name);
    let detail = match difference.verdict {
        Verdict::Code => {
            format!("{} instead of {}", causes::of_message(&difference.seen), causes::of_message(&difference.expected))
        }
        Verdict::Answer => causes::of_message(&difference.expected),
        Verdict::Rows | Verdict::SystemRows | Verdict::Columns | Verdict::Order | Verdict::Tag => {
            entry.sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase()
        }
        _ => causes::of_message(&difference.seen),
    };
    format!("{name}: {detail}")
}

fn indented(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = lines[..lines.len().min(LINES)].join("\n               ");
    if lines.len() > LINES {
        shown.push_str(&format!("\n               … {} lines", lines.len()));
    }
    shown
}
