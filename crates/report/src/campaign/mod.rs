//! A campaign for a terminal: how many runs failed, and the first one explained by the application's own SQL.

mod junit;

use skew_model::campaign::{Campaign, FailedRun, RunOutcome, SqlAnomaly, SqlOperation, SqlStatement, Why};

use crate::Style;
use crate::clean::{clean, columns, wrap};
use crate::paint::{Ink, Paint};

pub use junit::junit;

/// Statements that are shown of one failure.
const MOST_STATEMENTS: usize = 40;
/// Operations that are shown of one statement, if none of them is to blame.
const MOST_OPERATIONS: usize = 4;
/// Lines that are shown of what the command printed.
const MOST_LINES: usize = 25;

/// A campaign as text.
pub fn campaign(campaign: &Campaign, style: Style) -> String {
    let paint = Paint { color: style.color };
    let mut out = String::new();
    if let Some(failure) = &campaign.failure {
        out.push_str(&failed_run(failure, style));
        out.push('\n');
    }
    out.push_str(&paint.ink(Ink::Strong, &summary(campaign)));
    out.push('\n');
    for note in notes(campaign) {
        out.push_str(&hanging("  ", &note, style));
    }
    out
}

/// The result in one line.
pub fn summary(campaign: &Campaign) -> String {
    let failed = campaign.runs.iter().filter(|run| !run.outcome.passed()).count();
    let runs = campaign.runs.len();
    let (level, seconds) = (&campaign.level, campaign.elapsed_ms as f64 / 1000.0);
    let shard = campaign.shard.map_or_else(String::new, |(number, count)| format!(", shard {number} of {count}"));
    let result = match (failed, runs) {
        (0, 0) => "no run was made".to_owned(),
        (0, 1) => "the run passed".to_owned(),
        (0, runs) => format!("all {runs} runs passed"),
        (failed, runs) => format!("{failed} of {runs} runs failed"),
    };
    let cut = if campaign.is_interrupted { ", stopped before the end" } else { "" };
    format!("{result} at {level} in {seconds:.1} s, seed {}{shard}{cut}", campaign.seed)
}

/// What else there is to know.
fn notes(campaign: &Campaign) -> Vec<String> {
    let mut notes = Vec::new();
    let refused: u64 = campaign.runs.iter().map(|run| run.refusals).sum();
    if refused > 0 {
        let runs = campaign.runs.iter().filter(|run| run.refusals > 0).count();
        notes.push(format!("the database refused {refused} transactions (40001, 40P01) in {runs} runs, as it may"));
    }
    if let Some(run) = campaign.baseline.iter().find(|run| !run.outcome.passed()) {
        notes.push(format!(
            "at serializable the test {} after the database had refused {} transactions with 40001 or 40P01: at that \
             level an application has to try again",
            ended(run.outcome),
            run.refusals
        ));
    }
    if campaign.held_ms > 0 {
        notes.push(format!("clients were held for {} ms in all, so that transactions overlap", campaign.held_ms));
    }
    for (what, times) in &campaign.unsupported {
        notes.push(format!("not supported, {times} times: {}", clean(what)));
    }
    notes
}

/// A failed run and why it failed.
pub fn failed_run(failure: &FailedRun, style: Style) -> String {
    let paint = Paint { color: style.color };
    let mut out = String::new();
    match &failure.why {
        Why::Anomaly(anomaly) => out.push_str(&with_anomaly(failure, anomaly, style)),
        Why::Refused(statements) => {
            let name = paint.ink(Ink::Bad, "failed[refused]");
            let headline =
                "the application did not expect that the database refuses statements of concurrent transactions";
            out.push_str(&format!("{name}: {}\n", paint.ink(Ink::Strong, headline)));
            let shown: Vec<usize> = around(failure, statements);
            out.push_str(&listing(failure, &shown, style));
            let fix =
                "run the transaction again when it fails with 40001 or 40P01, and look again after a duplicate key";
            out.push_str(&field("fix", fix, style));
        }
        Why::Serializable => {
            let name = paint.ink(Ink::Open, "failed[no anomaly]");
            let headline =
                "the run is serializable, so weak isolation did not break it: the test depends on something else";
            out.push_str(&format!("{name}: {}\n", paint.ink(Ink::Strong, headline)));
            let why = "time, the order in which threads run, randomness, or the order of rows without ORDER BY";
            out.push_str(&field("look at", why, style));
        }
        Why::Unknown(limit) => {
            let name = paint.ink(Ink::Open, "failed[unknown]");
            out.push_str(&format!("{name}: {}\n", paint.ink(Ink::Strong, "it is not known why")));
            out.push_str(&field("limit", &clean(limit), style));
        }
    }
    out.push_str(&field("run", &run_words(failure), style));
    out.push_str(&field("again", &again(failure), style));
    if let Some(replay) = &failure.replay {
        out.push_str(&field("replay", &format!("skew replay {}", clean(replay)), style));
    }
    out.push('\n');
    out.push_str(&paint.ink(Ink::Faint, "what the command printed:"));
    out.push('\n');
    let lines: Vec<&str> = failure.output.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(MOST_LINES);
    if left_out > 0 {
        out.push_str(&format!("  | … {left_out} lines before\n"));
    }
    for line in &lines[left_out..] {
        out.push_str(&format!("  | {}\n", clean(line).trim_end()));
    }
    out
}

fn run_words(failure: &FailedRun) -> String {
    let run = &failure.run;
    format!("number {}, seed {}: the command {}", run.number, run.seed, ended(run.outcome))
}

fn again(failure: &FailedRun) -> String {
    let (found, needed) = failure.stale_reads;
    let (times, failed) = failure.repeated;
    let reads = match (found, needed) {
        (0, _) => "no read returned an old version: the order of the statements is enough".to_owned(),
        (_, 0) => format!("none of the {found} reads of old versions matters: the order of the statements is enough"),
        (found, needed) if found == needed => format!("{} of old versions, all of which matter", reads(found)),
        (found, needed) => format!("{needed} of {} of old versions matter", reads(found)),
    };
    match (times, failed) {
        (0, _) => reads,
        (times, 0) => format!(
            "repeated {times} times, it never failed again: the command itself is not deterministic, so this run may not \
             replay; {reads}"
        ),
        (times, failed) => format!("repeated {times} times, it failed {failed} times; {reads}"),
    }
}

fn reads(count: usize) -> String {
    if count == 1 { "1 read".to_owned() } else { format!("{count} reads") }
}

fn ended(outcome: RunOutcome) -> String {
    match outcome {
        RunOutcome::Passed => "passed".to_owned(),
        RunOutcome::Failed(code) => format!("failed with exit code {code}"),
        RunOutcome::Killed(signal) => format!("was killed by signal {signal}"),
        RunOutcome::TimedOut => "did not end in time".to_owned(),
    }
}

fn with_anomaly(failure: &FailedRun, anomaly: &SqlAnomaly, style: Style) -> String {
    let paint = Paint { color: style.color };
    let name = paint.ink(Ink::Bad, &format!("violated[{}]", clean(&anomaly.id)));
    let mut out = format!("{name}: {}\n", paint.ink(Ink::Strong, &clean(&anomaly.headline)));
    let takes_part = |statement: &SqlStatement| {
        let txn = statement.txn.as_deref();
        anomaly.edges.iter().any(|edge| Some(edge.from.as_str()) == txn || Some(edge.to.as_str()) == txn)
    };
    let shown = failure.statements.iter().enumerate().filter(|(_, statement)| takes_part(statement));
    let shown: Vec<usize> = shown.map(|(at, _)| at).collect();
    out.push_str(&listing(failure, &shown, style));
    for (at, edge) in anomaly.edges.iter().enumerate() {
        let but = if at > 0 && at + 1 == anomaly.edges.len() { "but " } else { "" };
        let words = format!("{but}{} comes before {}: {}", edge.from, edge.to, edge.reason);
        out.push_str(&field(if at == 0 { "why" } else { "" }, &clean(&words), style));
    }
    out.push_str(&field("cycle", &clean(&anomaly.cycle), style));
    let satisfies = anomaly.satisfies.join(", ");
    let breaks = match satisfies.as_str() {
        "" => anomaly.breaks.join(", "),
        satisfies => format!("{:<9}  still satisfies  {satisfies}", anomaly.breaks.join(", ")),
    };
    out.push_str(&field("breaks", &breaks, style));
    out.push_str(&field("fix", &clean(&anomaly.fix), style));
    out
}

/// Statements with what came before them in their transactions.
fn around(failure: &FailedRun, statements: &[usize]) -> Vec<usize> {
    let txns: Vec<_> =
        statements.iter().filter_map(|&at| failure.statements.get(at)).map(|one| (one.connection, &one.txn)).collect();
    let is_near = |at: usize, one: &SqlStatement| {
        statements.contains(&at) || one.txn.is_some() && txns.contains(&(one.connection, &one.txn))
    };
    (0..failure.statements.len()).filter(|&at| is_near(at, &failure.statements[at])).collect()
}

/// The statements, in the order in which they were executed, with what they read and wrote.
fn listing(failure: &FailedRun, shown: &[usize], style: Style) -> String {
    let paint = Paint { color: style.color };
    let bar = paint.ink(Ink::Frame, "|");
    let mut out = format!("     {bar}\n");
    let shown_txns = |at: &&usize| failure.statements[**at].txn.as_deref().map_or(0, columns);
    let wide = shown.iter().map(|at| shown_txns(&at)).max().unwrap_or(0).max(2);
    for &at in shown.iter().take(MOST_STATEMENTS) {
        let statement = &failure.statements[at];
        let number = paint.ink(Ink::Frame, &format!("{:>4}", at + 1));
        let txn = format!("{:<wide$}", clean(statement.txn.as_deref().unwrap_or("")));
        let lead = format!("client {} {txn}  ", statement.connection);
        let room = style.width.saturating_sub(7 + columns(&lead)).max(40);
        let lines = wrap(&one_line(&statement.text), room);
        for (line, text) in lines.iter().enumerate() {
            let text = paint.ink(Ink::Code, text);
            match line {
                0 => out.push_str(&format!("{number} {bar} {lead}{text}\n")),
                _ => out.push_str(&format!("     {bar} {:1$}{text}\n", "", columns(&lead))),
            }
        }
        let indent = " ".repeat(columns(&lead));
        for words in details(statement) {
            let (mark, words) = words;
            let ink = if mark == "^" { Ink::Bad } else { Ink::Faint };
            for (line, words) in wrap(&words, room.saturating_sub(2)).iter().enumerate() {
                let mark = if line == 0 { mark } else { " " };
                out.push_str(&format!("     {bar} {indent}{}\n", paint.ink(ink, &format!("{mark} {words}"))));
            }
        }
    }
    if shown.len() > MOST_STATEMENTS {
        out.push_str(&format!("     {bar} … {} more statements\n", shown.len() - MOST_STATEMENTS));
    }
    out
}

/// What is said under a statement: its parameters, its failure, and what it read and wrote.
fn details(statement: &SqlStatement) -> Vec<(&'static str, String)> {
    let mut details = Vec::new();
    if !statement.parameters.is_empty() {
        let values = statement.parameters.iter().enumerate();
        let values: Vec<String> = values.map(|(at, value)| format!("${} = {}", at + 1, clean(value))).collect();
        details.push((" ", values.join(", ")));
    }
    if statement.is_error {
        details.push(("!", clean(&statement.answer)));
    }
    let guilty = statement.operations.iter().any(|operation| operation.is_guilty || operation.is_stale);
    let shown = statement.operations.iter().filter(|operation| !guilty || operation.is_guilty || operation.is_stale);
    let most = if guilty { usize::MAX } else { MOST_OPERATIONS };
    let all: Vec<&SqlOperation> = shown.collect();
    for operation in all.iter().take(most) {
        details.push((if operation.is_guilty { "^" } else { " " }, operation_words(operation)));
    }
    if all.len() > most {
        details.push((" ", format!("… {} more", all.len() - most)));
    }
    details
}

fn operation_words(operation: &SqlOperation) -> String {
    let what = if operation.is_write { "wrote" } else { "read" };
    let mut words = format!("{what} {}={}", clean(&operation.key), clean(&operation.value));
    if operation.is_stale {
        words.push_str(", an old version");
    }
    if operation.alternatives.len() > 1 {
        let values: Vec<String> = operation.alternatives.iter().map(|value| clean(value)).collect();
        words.push_str(&format!(" (it could have been {})", values.join(", ")));
    }
    if let Some(within) = &operation.within {
        words.push_str(&format!(" in {}", one_line(within)));
    }
    words
}

fn one_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn field(label: &str, text: &str, style: Style) -> String {
    let paint = Paint { color: style.color };
    let lead = if label.is_empty() { " " } else { "=" };
    let room = if style.width == 0 { 0 } else { style.width.saturating_sub(5 + 3 + 8).max(30) };
    let lines = wrap(text, room).join(&format!("\n{:1$}", "", 5 + 2 + 8));
    let label = paint.ink(Ink::Strong, &format!("{label:<8}"));
    format!("     {} {label}{lines}\n", paint.ink(Ink::Frame, lead))
}

fn hanging(indent: &str, text: &str, style: Style) -> String {
    let room = if style.width == 0 { 0 } else { style.width.saturating_sub(indent.len()).max(30) };
    format!("{indent}{}\n", wrap(text, room).join(&format!("\n{indent}")))
}
