//! An application's robustness for a terminal.

use std::fmt::Write as _;

use skew_model::robust::{FoundRun, LevelAnswer, RobustCycle, RobustReport, RobustVerdict};

use crate::clean::{clean, count};
use crate::robust::words::{READS_WHAT_IS_LEFT, found_head, notes, size, statement, weakest};

/// So many cycles that no run has shown are told of a level, if not all are asked for.
const FEW_POSSIBLE: usize = 3;

/// An application's robustness for a terminal; `all`: also the cycles that no run has shown where others have.
pub fn robust_text(report: &RobustReport, all: bool) -> String {
    let mut out = format!("{}: {}\n", report.file, size(report));
    for note in notes(report) {
        let _ = writeln!(out, "note: {note}");
    }
    out.push('\n');
    let width = report.levels.iter().map(|answer| answer.level.chars().count() + 1).fold(6, usize::max);
    for answer in &report.levels {
        let _ = writeln!(out, "{:<width$}{:<12}{}", answer.level, answer.verdict.words(), answer.why);
    }
    if let Some(weakest) = weakest(report) {
        let _ = writeln!(out, "\n{weakest}");
    }
    subsets(&mut out, report);
    for answer in report.levels.iter().rev() {
        details(&mut out, report, answer, all);
    }
    out.lines().map(|line| clean(line) + "\n").collect()
}

fn subsets(out: &mut String, report: &RobustReport) {
    for one in &report.subsets {
        let _ = writeln!(out, "\nThe largest sets of programs that are robust together at {}:", one.level);
        for set in &one.sets {
            let _ = writeln!(out, "  {}", set.join(", "));
        }
        if one.sets.is_empty() {
            out.push_str("  none\n");
        }
        if let Some(limit) = &one.limit {
            let _ = writeln!(out, "  (not all was looked at, because of {limit}: there may be larger ones)");
        }
    }
}

fn details(out: &mut String, report: &RobustReport, answer: &LevelAnswer, all: bool) {
    // Runs of stronger levels have been shown there.
    let own: Vec<&FoundRun> = answer
        .found
        .iter()
        .filter_map(|at| report.runs.get(*at))
        .filter(|run| run.level == answer.level || !report.levels.iter().any(|other| other.level == run.level))
        .collect();
    own.iter().for_each(|run| found(out, report, run));
    if all || answer.verdict == RobustVerdict::Possible {
        let most = if all { usize::MAX } else { FEW_POSSIBLE };
        for possible in answer.possible.iter().take(most) {
            let _ = writeln!(out, "\npossible at {}: {}", answer.level, possible.cycle.line);
            statements(out, report, &possible.cycle);
            let _ = writeln!(out, "  = not found: {}", possible.reason);
        }
        if answer.possible.len() > most {
            let cycles = count(answer.possible.len() - most, "cycle");
            let _ = writeln!(out, "\n{cycles} more possible at {} (--all shows them)", answer.level);
        }
    }
    if answer.untried > 0 && !own.is_empty() {
        let cycles = count(answer.untried, "cycle");
        let how = if all { "there was no time for runs of them: --max-time" } else { "--all looks for runs of them" };
        let _ = writeln!(out, "\n{cycles} more at {} ({how})", answer.level);
    }
}

fn found(out: &mut String, report: &RobustReport, run: &FoundRun) {
    let _ = writeln!(out, "\n{}: {}", found_head(report, run), run.programs.join(", "));
    if let Some(cycle) = &run.cycle {
        statements(out, report, cycle);
    }
    for statement in &run.setup {
        block(out, "first", statement);
    }
    block(out, "calls", &run.client);
    if run.reads_what_is_left() {
        block(out, "finally", READS_WHAT_IS_LEFT);
    }
    block(out, "run", &run.core);
    if let Some(cycle) = &run.cycle {
        block(out, "cycle", &cycle.line);
    }
    match &run.saved {
        Some((replay, picture)) => {
            block(out, "replay", &format!("skew replay {replay}"));
            block(out, "picture", picture);
        }
        None => block(out, "replay", &run.replay),
    }
    if let Some(script) = &run.psql {
        block(out, "psql", script);
    }
}

/// Lines under a word.
fn block(out: &mut String, word: &str, lines: &str) {
    for (number, line) in lines.lines().enumerate() {
        let word = if number == 0 { format!("= {word}") } else { String::new() };
        let _ = writeln!(out, "  {word:<10}{line}");
    }
}

/// The statements that meet, dependency by dependency.
fn statements(out: &mut String, report: &RobustReport, cycle: &RobustCycle) {
    for edge in &cycle.edges {
        if let Some((from, to)) = &edge.statements {
            let (one, other) = (statement(report, edge.from, from), statement(report, edge.to, to));
            let _ = writeln!(out, "  {one}\n    -{}-> {other}", edge.kind.letters());
        }
    }
}
