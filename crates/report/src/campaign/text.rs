//! A campaign for a terminal: how many runs failed, and the first one explained by the application's own SQL.

use skew_model::campaign::{Campaign, FailedRun, SqlOperation, SqlStatement, Why};

use crate::Style;
use crate::campaign::words::{
    again, alternatives, experiment, folded, notes, one_line, run_words, summary, tell, verb,
};
use crate::clean::{clean, columns, count, wrap};
use crate::paint::{Ink, Paint};

/// Statements that are shown of one failure.
const MOST_STATEMENTS: usize = 40;
/// Operations that are shown of one statement that none of them is to blame for, and of one that some are.
const MOST_OPERATIONS: (usize, usize) = (4, 12);
/// Lines that are shown of one statement.
const MOST_SQL_LINES: usize = 8;
/// Characters that are shown of one value.
const MOST_VALUE: usize = 60;
/// Lines that are shown of what the command printed.
const MOST_LINES: usize = 25;
/// So many of them are the first ones: some programs say there what is wrong, and then where in a hundred lines.
const FIRST_LINES: usize = 8;

/// A campaign as text.
pub fn campaign(campaign: &Campaign, style: Style) -> String {
    let mut out = String::new();
    if let Some(failure) = &campaign.failure {
        out.push_str(&failed_run(failure, style));
        out.push('\n');
    }
    out.push_str(&campaign_end(campaign, style));
    out
}

/// How a campaign ended, without the failure that was printed when it was found.
pub fn campaign_end(campaign: &Campaign, style: Style) -> String {
    let paint = Paint { color: style.color };
    let mut out = String::new();
    out.push_str(&paint.ink(Ink::Strong, &summary(campaign)));
    out.push('\n');
    for note in notes(campaign) {
        out.push_str(&hanging("  ", &note, style));
    }
    out
}

/// A failed run and why it failed.
pub fn failed_run(failure: &FailedRun, style: Style) -> String {
    let paint = Paint { color: style.color };
    let mut out = explained_run(failure, style);
    out.push_str(&field("run", &run_words(failure), style));
    out.push_str(&field("again", &again(failure), style));
    if let Some(replay) = &failure.replay {
        out.push_str(&field("replay", &format!("skew replay {}", clean(replay)), style));
    }
    out.push('\n');
    out.push_str(&printed(failure, paint));
    out
}

/// Why a run failed, without the run itself: the statements, the cycle, what to change.
pub fn explained_run(failure: &FailedRun, style: Style) -> String {
    let paint = Paint { color: style.color };
    let told = tell(failure);
    let ink = if told.is_explained { Ink::Bad } else { Ink::Open };
    let name = paint.ink(ink, &format!("{}[{}]", told.kind.0, told.kind.1));
    let mut out = format!("{name}: {}\n", paint.ink(Ink::Strong, &told.headline));
    if !told.statements.is_empty() {
        let is_short = !style.expand && matches!(failure.why, Why::Anomaly(_));
        let shown = if is_short { what_matters(failure, &told.statements) } else { told.statements.clone() };
        let left_out = told.statements.iter().filter(|at| !shown.contains(at)).count();
        out.push_str(&listing(failure, &shown, left_out, style));
    }
    if let Why::Anomaly(anomaly) = &failure.why {
        for (at, edge) in anomaly.edges.iter().enumerate() {
            let but = if at > 0 && at + 1 == anomaly.edges.len() { "but " } else { "" };
            let words = format!("{but}{} comes before {}: {}", edge.from, edge.to, edge.reason);
            out.push_str(&field(if at == 0 { "why" } else { "" }, &clean(&words), style));
        }
        if !anomaly.cycle.is_empty() {
            out.push_str(&field("cycle", &clean(&anomaly.cycle), style));
        }
        let satisfies = anomaly.satisfies.join(", ");
        let breaks = match satisfies.as_str() {
            "" => anomaly.breaks.join(", "),
            satisfies => format!("{:<9}  still satisfies  {satisfies}", anomaly.breaks.join(", ")),
        };
        if !breaks.is_empty() {
            out.push_str(&field("breaks", &breaks, style));
        }
        if let Some(words) = experiment(failure) {
            out.push_str(&field("cause", &words, style));
        }
        if !anomaly.others.is_empty() {
            let words = format!("not serializable, and not the cause: {}", clean(&anomaly.others.join("; ")));
            out.push_str(&field("also", &words, style));
        }
    }
    let mut last = "";
    for (label, words) in &told.advice {
        out.push_str(&field(if *label == last { "" } else { label }, words, style));
        last = label;
    }
    out
}

/// The beginning and the end of what the command printed.
fn printed(failure: &FailedRun, paint: Paint) -> String {
    let lines: Vec<&str> = failure.output.trim_end().lines().collect();
    if lines.is_empty() {
        return format!("{}\n", paint.ink(Ink::Faint, "the command printed nothing"));
    }
    let mut out = format!("{}\n", paint.ink(Ink::Faint, "what the command printed:"));
    let left_out = lines.len().saturating_sub(MOST_LINES);
    for (at, line) in lines.iter().enumerate() {
        match at.checked_sub(FIRST_LINES) {
            Some(0) if left_out > 0 => out.push_str(&format!("  | … {left_out} lines\n")),
            Some(after) if after < left_out => {}
            _ => {
                out.push_str(format!("  | {}", clean(line)).trim_end());
                out.push('\n');
            }
        }
    }
    out
}

/// The statements that the explanation points at, those that failed, and the ends of the transactions that they waited for.
fn what_matters(failure: &FailedRun, statements: &[usize]) -> Vec<usize> {
    let points_at = |at: usize| {
        let statement = &failure.statements[at];
        statement.is_error || statement.operations.iter().any(|operation| operation.is_guilty || operation.is_stale)
    };
    let mut shown: Vec<usize> = statements.iter().copied().filter(|&at| points_at(at)).collect();
    let ends: Vec<usize> = shown
        .iter()
        .filter_map(|&at| {
            let holder = failure.statements[at].waited_for?;
            failure.statements[..at].iter().rposition(|one| one.connection == holder)
        })
        .collect();
    shown.extend(ends);
    shown.sort_unstable();
    shown.dedup();
    if shown.is_empty() { statements.to_vec() } else { shown }
}

/// The statements, in the order in which they took effect, with what they read and wrote.
fn listing(failure: &FailedRun, shown: &[usize], left_out: usize, style: Style) -> String {
    let paint = Paint { color: style.color };
    let bar = paint.ink(Ink::Frame, "|");
    let mut out = format!("     {bar}\n");
    let width_of = |at: &usize| failure.statements[*at].txn.as_deref().map_or(0, |txn| columns(&clean(txn)));
    let wide = shown.iter().map(width_of).max().unwrap_or(0).max(2);
    for &at in shown.iter().take(MOST_STATEMENTS) {
        let statement = &failure.statements[at];
        let number = paint.ink(Ink::Frame, &format!("{:>4}", at + 1));
        let txn = format!("{:<wide$}", clean(statement.txn.as_deref().unwrap_or("")));
        let lead = format!("client {} {txn}  ", statement.connection);
        let indent = " ".repeat(columns(&lead));
        let room = if style.width == 0 { 0 } else { style.width.saturating_sub(7 + columns(&lead)).max(40) };
        let sql = if style.expand { one_line(&statement.text) } else { folded(&one_line(&statement.text)) };
        for (line, text) in sql_lines(&sql, room).iter().enumerate() {
            let text = paint.ink(Ink::Code, text);
            match line {
                0 => out.push_str(&format!("{number} {bar} {lead}{text}\n")),
                _ => out.push_str(&format!("     {bar} {indent}{text}\n")),
            }
        }
        for (mark, words) in details(statement) {
            let ink = if mark == "^" { Ink::Bad } else { Ink::Faint };
            for (line, words) in wrap(&words, room.saturating_sub(2)).iter().enumerate() {
                let mark = if line == 0 { mark } else { " " };
                out.push_str(&format!("     {bar} {indent}{}\n", paint.ink(ink, &format!("{mark} {words}"))));
            }
        }
    }
    if shown.len() > MOST_STATEMENTS {
        out.push_str(&format!("     {bar} … {} more statements\n", shown.len() - MOST_STATEMENTS));
    } else if left_out > 0 {
        let what = count(left_out, "more statement");
        out.push_str(&format!("     {bar} … {what} of these transactions: --verbose shows all\n"));
    }
    out
}

/// The lines of a statement; of a long one, its head and its tail.
fn sql_lines(text: &str, room: usize) -> Vec<String> {
    let mut lines = wrap(text, room);
    if lines.len() > MOST_SQL_LINES {
        let left_out = lines.len() - MOST_SQL_LINES + 1;
        let from = MOST_SQL_LINES - 3;
        lines.splice(from..from + left_out, [format!("… {left_out} lines …")]);
    }
    lines
}

/// What is said under a statement: its parameters, its failure, and what it read and wrote.
fn details(statement: &SqlStatement) -> Vec<(&'static str, String)> {
    let mut details = Vec::new();
    if !statement.parameters.is_empty() {
        let values = statement.parameters.iter().enumerate();
        let values: Vec<String> = values.map(|(at, value)| format!("${} = {}", at + 1, short(value))).collect();
        details.push((" ", values.join(", ")));
    }
    if let Some(connection) = statement.waited_for {
        details.push((" ", format!("waited for the end of client {connection}'s transaction")));
    }
    if statement.is_error {
        details.push(("!", clean(&statement.answer)));
    }
    let matters = |operation: &&SqlOperation| operation.is_guilty || operation.is_stale;
    let some_matter = statement.operations.iter().any(|operation| matters(&operation));
    let most = if some_matter { MOST_OPERATIONS.1 } else { MOST_OPERATIONS.0 };
    let mut shown: Vec<&SqlOperation> =
        statement.operations.iter().filter(|operation| !some_matter || matters(operation)).collect();
    let all = shown.len();
    if all > most {
        // Those that the explanation points at come first, if not all fit.
        shown.sort_by_key(|operation| !operation.is_guilty);
        shown.truncate(most);
    }
    details.extend(shown.iter().map(|one| (if one.is_guilty { "^" } else { " " }, operation_words(one))));
    if all > most {
        details.push((" ", format!("… {} more", all - most)));
    }
    details
}

fn short(value: &str) -> String {
    crate::clean::shorten(&clean(value), MOST_VALUE)
}

fn operation_words(operation: &SqlOperation) -> String {
    let (key, value) = (clean(&operation.key), short(&operation.value));
    let (verb, has_value) = verb(operation);
    let mut words = if has_value { format!("{verb} {key}={value}") } else { format!("{verb} {key}") };
    if operation.is_stale {
        words.push_str(", an old version");
    }
    if let Some(values) = alternatives(operation) {
        words.push_str(&format!(" (it could have been {values})"));
    }
    if let Some(within) = &operation.within {
        words.push_str(&format!(" in {}", one_line(within)));
    }
    words
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
