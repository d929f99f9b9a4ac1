//! What a failed run shows, in the words that the text and the page share.

use std::collections::BTreeSet;

use skew_model::campaign::{Campaign, Coverage, FailedRun, FailureCause, RunOutcome, SqlOperation, SqlStatement, Why};

use crate::campaign::advice;
use crate::clean::{clean, count};

/// Refused statements of which others are looked for who were in the way.
const MOST_REFUSALS: usize = 20;

/// Columns of a SELECT that are written out.
const MOST_COLUMNS: usize = 4;

/// Statements that are named in a sentence.
const MOST_NAMED: usize = 6;

/// A failure in words.
pub(super) struct Told {
    /// `violated` or `failed`, and what exactly: `lost-update`.
    pub(super) kind: (&'static str, String),
    /// Whether weak isolation is to blame.
    pub(super) is_explained: bool,
    /// One sentence.
    pub(super) headline: String,
    /// What to do about it, under short labels.
    pub(super) advice: Vec<(&'static str, String)>,
    /// The statements that have to do with it.
    pub(super) statements: Vec<usize>,
}

/// Tells why a run failed.
pub(super) fn tell(failure: &FailedRun) -> Told {
    match &failure.why {
        Why::Anomaly(anomaly) => Told {
            kind: ("violated", clean(&anomaly.id)),
            is_explained: true,
            headline: clean(&anomaly.headline),
            advice: advice::for_anomaly(anomaly),
            statements: of_transactions(failure, |txn| {
                anomaly.edges.iter().any(|edge| edge.from == txn || edge.to == txn)
            }),
        },
        Why::Refused(refused) => Told {
            kind: ("failed", "refused".to_owned()),
            is_explained: true,
            headline: "the application did not expect that the database refuses statements of concurrent transactions"
                .to_owned(),
            advice: advice::for_refusals(failure, refused),
            statements: around(failure, &[refused.as_slice(), &rivals(failure, refused)].concat()),
        },
        Why::Serializable if failure.run.outcome == RunOutcome::TimedOut => hanging(failure),
        Why::Serializable if failure.stale_reads.1 > 0 => Told {
            kind: ("failed", "old version".to_owned()),
            is_explained: true,
            headline: "a transaction did not see what had been committed before it began".to_owned(),
            advice: advice::for_old_versions(),
            statements: around(failure, &stale_statements(failure)),
        },
        Why::Serializable => Told {
            kind: ("failed", "no anomaly".to_owned()),
            is_explained: false,
            headline: "the run is serializable, so weak isolation did not break it: the test depends on something else"
                .to_owned(),
            advice: vec![(
                "look at",
                "time, the order in which threads run, randomness, or the order of rows without ORDER BY".to_owned(),
            )],
            statements: Vec::new(),
        },
        Why::Unknown(limit) => Told {
            kind: ("failed", "unknown".to_owned()),
            is_explained: false,
            headline: "it is not known why".to_owned(),
            advice: vec![("limit", clean(limit))],
            statements: Vec::new(),
        },
    }
}

/// A run that is serializable and did not end.
fn hanging(failure: &FailedRun) -> Told {
    let unanswered = unanswered(failure);
    let (headline, advice) = match unanswered.is_empty() {
        true => (
            "the command did not end in time, and was not waiting for the database".to_owned(),
            "what it waits for outside the database; --timeout gives it longer",
        ),
        false => (
            format!("the command did not end in time: {} had no answer", advice::statements_words(&unanswered)),
            "who holds what it waits for: a transaction that was left open, or one whose client waits for somebody else",
        ),
    };
    let holders: Vec<usize> = unanswered.iter().filter_map(|&at| holder(failure, at)).collect();
    let statements = around(failure, &[unanswered.as_slice(), &holders].concat());
    let advice = vec![("look at", advice.to_owned())];
    Told { kind: ("failed", "timeout".to_owned()), is_explained: !unanswered.is_empty(), headline, advice, statements }
}

/// The last statements of clients that were still waiting when the command was stopped.
fn unanswered(failure: &FailedRun) -> Vec<usize> {
    let is_open = |one: &SqlStatement| one.answer == "no answer";
    let is_last = |at: usize| {
        let connection = failure.statements[at].connection;
        failure.statements[at + 1..].iter().all(|later| later.connection != connection)
    };
    let statements = failure.statements.iter().enumerate();
    statements.filter(|(at, one)| is_open(one) && is_last(*at)).map(|(at, _)| at).collect()
}

/// The last statement of somebody else that wrote to a row which this one looks at: who holds what it waits for.
fn holder(failure: &FailedRun, at: usize) -> Option<usize> {
    let own = failure.statements.get(at)?;
    let rows: BTreeSet<String> = own.operations.iter().filter_map(row).collect();
    let holds = |one: &SqlStatement| {
        one.connection != own.connection
            && one.operations.iter().any(|op| op.is_write && row(op).is_some_and(|row| rows.contains(&row)))
    };
    failure.statements[..at].iter().rposition(holds)
}

/// The row that an operation is about, however it was found.
fn row(operation: &SqlOperation) -> Option<String> {
    let row = operation.key.split_inclusive(']').next()?;
    Some(row.split_once(" by ").map_or_else(|| row.to_owned(), |(row, _)| format!("{row}]")))
}

fn of_transactions(failure: &FailedRun, takes_part: impl Fn(&str) -> bool) -> Vec<usize> {
    let statements = failure.statements.iter().enumerate();
    statements.filter(|(_, one)| one.txn.as_deref().is_some_and(&takes_part)).map(|(at, _)| at).collect()
}

fn stale_statements(failure: &FailedRun) -> Vec<usize> {
    let statements = failure.statements.iter().enumerate();
    statements.filter(|(_, one)| one.operations.iter().any(|operation| operation.is_stale)).map(|(at, _)| at).collect()
}

/// Statements with the others of their transactions.
fn around(failure: &FailedRun, statements: &[usize]) -> Vec<usize> {
    let places: BTreeSet<usize> = statements.iter().copied().collect();
    let of = |one: &SqlStatement| one.txn.clone().map(|txn| (one.connection, txn));
    let txns: BTreeSet<(usize, String)> =
        places.iter().filter_map(|&at| failure.statements.get(at)).filter_map(of).collect();
    let is_near =
        |at: &usize| places.contains(at) || of(&failure.statements[*at]).is_some_and(|txn| txns.contains(&txn));
    (0..failure.statements.len()).filter(is_near).collect()
}

/// What others wrote to the rows of refused transactions while those were running.
fn rivals(failure: &FailedRun, refused: &[usize]) -> Vec<usize> {
    let mut found = Vec::new();
    for &at in refused.iter().take(MOST_REFUSALS) {
        let Some(own) = failure.statements.get(at) else { continue };
        let is_own = |one: &SqlStatement| one.connection == own.connection && one.txn == own.txn;
        let first = failure.statements.iter().position(is_own).unwrap_or(at);
        let while_it_ran = &failure.statements[first..at];
        let rows: BTreeSet<String> = while_it_ran
            .iter()
            .chain([own])
            .filter(|one| is_own(one))
            .flat_map(|one| one.operations.iter().filter_map(row))
            .collect();
        let meets =
            |operation: &SqlOperation| operation.is_write && row(operation).is_some_and(|row| rows.contains(&row));
        let others = while_it_ran.iter().enumerate().filter(|(_, one)| one.connection != own.connection);
        found.extend(others.filter(|(_, one)| one.operations.iter().any(meets)).map(|(place, _)| first + place));
    }
    found
}

/// Which run it was and how it ended.
pub(super) fn run_words(failure: &FailedRun) -> String {
    let run = &failure.run;
    format!("number {}, seed {}: the command {}", run.number, run.seed, run.outcome)
}

/// What reruns have shown in which transactions did not overlap.
pub(super) fn experiment(failure: &FailedRun) -> Option<String> {
    let experiment = failure.experiment?;
    let is_split = matches!(&failure.why, Why::Anomaly(anomaly) if anomaly.id == "race-across-transactions");
    if is_split {
        let passed = often(experiment.serial_passed);
        return Some(format!("shown by experiment: with nothing in between, the same run passed {passed}"));
    }
    let these = match experiment.needed {
        1 => "these two transactions".to_owned(),
        needed => format!("any of these {needed} pairs of transactions"),
    };
    let others = match experiment.pairs - experiment.needed.min(experiment.pairs) {
        0 => String::new(),
        1 => "; the run fails without the other overlap, too".to_owned(),
        others => format!("; the run fails without the {others} other overlaps, too"),
    };
    Some(format!(
        "shown by experiment: with {these} one after the other, the same run passed {}{others}",
        often(experiment.serial_passed)
    ))
}

/// SQL whose list of columns is long, with their number instead: `SELECT 9 columns FROM offer …`.
pub(super) fn folded(sql: &str) -> String {
    let Some((items, from)) = select_list(sql) else { return sql.to_owned() };
    if items <= MOST_COLUMNS {
        return sql.to_owned();
    }
    format!("{} {items} columns {}", &sql[.."select".len()], &sql[from..])
}

/// How many expressions a SELECT has before its FROM, and where that begins, outside of quotes and parentheses.
fn select_list(sql: &str) -> Option<(usize, usize)> {
    let bytes = sql.as_bytes();
    if !sql.get(..7)?.eq_ignore_ascii_case("select ") {
        return None;
    }
    let (mut depth, mut items, mut quote) = (0_usize, 1, None);
    for (at, &byte) in bytes.iter().enumerate().skip(7) {
        match (quote, byte) {
            (Some(end), _) if byte == end => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => items += 1,
            (None, b' ') if depth == 0 => {
                let word = bytes.get(at + 1..at + 6)?;
                if word.eq_ignore_ascii_case(b"from ") {
                    return Some((items, at + 1));
                }
            }
            _ => {}
        }
    }
    None
}

/// What repeating the run has shown.
pub(super) fn again(failure: &FailedRun) -> String {
    let (times, failed) = failure.repeated;
    let reads = stale_words(failure);
    match (times, failed) {
        (0, _) => format!("it was not repeated; {reads}"),
        (times, 0) => format!(
            "repeated {}, it never failed again: the command itself is not deterministic, so this run may not replay; \
             {reads}",
            often(times)
        ),
        (1, _) => format!("repeated once, it failed again; {reads}"),
        (times, failed) if times == failed => format!("repeated {}, it failed each time; {reads}", often(times)),
        (times, failed) if failure.stale_reads.0 > 0 => {
            format!("repeated {} with fewer and fewer old versions, it failed {}; {reads}", often(times), often(failed))
        }
        (times, failed) => format!("repeated {}, it failed {}; {reads}", often(times), often(failed)),
    }
}

/// How many reads of old versions there were, and how many matter; if none does, what else has to be the reason.
fn stale_words(failure: &FailedRun) -> String {
    let is_order = failure.repeated.1 > 0 && matches!(failure.why, Why::Anomaly(_) | Why::Refused(_));
    let order = if is_order { ": the order of the statements is enough" } else { "" };
    match failure.stale_reads {
        (0, _) if !stale_statements(failure).is_empty() => format!("no read had a choice of versions{order}"),
        (0, _) => format!("no read returned an old version{order}"),
        (1, 0) => format!("the one read of an old version does not matter{order}"),
        (found, 0) => format!("none of the {found} reads of old versions matters{order}"),
        (found, _) if failure.repeated.1 == 0 => match found {
            1 => "one read returned an old version".to_owned(),
            found => format!("{found} reads returned old versions"),
        },
        (1, _) => "the one read of an old version matters".to_owned(),
        (found, needed) if found == needed => format!("all {found} reads of old versions matter"),
        (found, 1) => format!("1 of {found} reads of old versions matters"),
        (found, needed) => format!("{needed} of {found} reads of old versions matter"),
    }
}

fn often(times: usize) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    }
}

/// The result in one line.
pub fn summary(campaign: &Campaign) -> String {
    let failed = campaign.runs.iter().filter(|run| !run.outcome.passed()).count();
    let runs = campaign.runs.len();
    let (level, seconds) = (clean(&campaign.level), campaign.elapsed_ms as f64 / 1000.0);
    let shard = campaign.shard.map_or_else(String::new, |(number, count)| format!(", shard {number} of {count}"));
    let result = match (failed, runs) {
        (0, 0) => "no run was made".to_owned(),
        (0, 1) => "the run passed".to_owned(),
        (0, runs) => format!("all {runs} runs passed"),
        (1, 1) => "the run failed".to_owned(),
        (failed, runs) => format!("{failed} of {runs} runs failed"),
    };
    let cut = if campaign.is_interrupted { ", stopped before the end" } else { "" };
    let covered = match coverage_words(&campaign.coverage) {
        Some(words) if failed == 0 => format!(": {words}"),
        _ => String::new(),
    };
    format!("{result} at {level} in {seconds:.1} s, seed {}{shard}{cut}{covered}", campaign.seed)
}

/// What runs that passed mean, in a few words.
fn coverage_words(coverage: &Coverage) -> Option<String> {
    match coverage.pairs.len() {
        _ if coverage.is_empty() => Some("no two transactions overlapped".to_owned()),
        0 if coverage.overlapping > 0 => Some("no two transactions that overlapped touched the same data".to_owned()),
        0 => None,
        pairs => Some(format!(
            "{} of {} overlapped in both orders",
            coverage.in_both_orders(),
            count(pairs, "conflicting pair")
        )),
    }
}

/// The numbers of a coverage in a line.
pub fn coverage(coverage: &Coverage) -> String {
    let pairs = coverage.pairs.len();
    let mut words = format!(
        "covered: {}, {} of them overlapped; {} of transaction shapes, of which {} overlapped, {} in both orders; {}",
        count(coverage.transactions as usize, "transaction"),
        count(coverage.overlapping as usize, "pair"),
        count(pairs, "conflicting pair"),
        coverage.overlapped(),
        coverage.in_both_orders(),
        count(coverage.stale_reads as usize, "stale read"),
    );
    if coverage.uncounted > 0 {
        words.push_str(&format!("; {} had too many statements to count", count(coverage.uncounted as usize, "run")));
    }
    words
}

/// Why nothing overlapped, and what to do about it.
fn nothing_overlapped(coverage: &Coverage) -> String {
    let why = match coverage.connections {
        0 => "no transaction read or wrote anything: does the command test the database that DATABASE_URL names?",
        1 => {
            "the command used one connection at a time: start threads, processes or requests that run at the same time, \
             and give the connection pool more than one connection"
        }
        _ => {
            "its connections were used one after the other: let the test do two things at the same time, and wait for \
             both; --hold makes clients wait longer for each other"
        }
    };
    format!("warning: nothing was tested, because no two transactions overlapped: {why}")
}

/// What else there is to know.
pub(super) fn notes(campaign: &Campaign) -> Vec<String> {
    let mut notes = Vec::new();
    if campaign.coverage.is_empty() {
        notes.push(nothing_overlapped(&campaign.coverage));
    } else if campaign.coverage.runs > 0 {
        notes.push(coverage(&campaign.coverage));
    }
    let missing = campaign.planned.saturating_sub(campaign.runs.len() as u64);
    // A shard has a part of what was planned; who stops at the first failure wants no more.
    if campaign.is_interrupted && campaign.shard.is_none() && missing > 0 {
        notes.push(format!("{missing} of {} are missing", count(campaign.planned as usize, "run")));
    }
    if campaign.causes.iter().map(|cause| cause.runs.len()).sum::<usize>() > 1 {
        notes.push(causes_words(&campaign.causes));
    }
    let refused: u64 = campaign.runs.iter().map(|run| run.refusals).sum();
    if refused > 0 {
        let runs = campaign.runs.iter().filter(|run| run.refusals > 0).count();
        notes.push(format!(
            "the database refused {} (40001, 40P01) in {}, as it may",
            count(refused as usize, "transaction"),
            count(runs, "run")
        ));
    }
    if let Some(run) = campaign.baseline.iter().find(|run| !run.outcome.passed() && run.refusals == 0) {
        notes.push(format!("at serializable the test {}, too: no isolation level prevents it", run.outcome));
    } else if let Some(run) = campaign.baseline.iter().find(|run| !run.outcome.passed()) {
        notes.push(format!(
            "at serializable the test {} after the database had refused {} with 40001 or 40P01: at that level an \
             application has to try again",
            run.outcome,
            count(run.refusals as usize, "transaction")
        ));
    }
    if campaign.held_ms > 0 {
        notes.push(format!("clients were held for {} ms in all, so that transactions overlap", campaign.held_ms));
    }
    for (what, times) in &campaign.unsupported {
        notes.push(format!("not supported, {}: {}", often(*times as usize), clean(what)));
    }
    notes
}

/// The causes of failing runs, each with its number: `61 × lost update of stock.n, 2 × write skew of doctor.on_call`.
pub(super) fn causes_words(causes: &[FailureCause]) -> String {
    let words: Vec<String> =
        causes.iter().map(|cause| format!("{} × {}", cause.runs.len(), clean(&cause.words))).collect();
    words.join(", ")
}

/// What an operation did to its key: `read` and `wrote` have a value, rows and entries of indexes come and go.
pub(super) fn verb(operation: &SqlOperation) -> (&'static str, bool) {
    // An entry comes and goes with changes of a row too.
    let (came, went) = if operation.key.contains(" by ") { ("made", "removed") } else { ("inserted", "deleted") };
    // A key without a column says whether the row is there.
    match (operation.key.ends_with(']'), operation.is_write, operation.value == "nil") {
        (true, false, true) => ("found no", false),
        (true, false, false) => ("found", false),
        (true, true, true) => (went, false),
        (true, true, false) => (came, false),
        (false, false, _) => ("read", true),
        (false, true, _) => ("wrote", true),
    }
}

/// What could have been read instead, if there was a choice.
pub(super) fn alternatives(operation: &SqlOperation) -> Option<String> {
    if operation.alternatives.len() < 2 {
        return None;
    }
    let values: Vec<String> = operation.alternatives.iter().map(|value| clean(value)).collect();
    let (last, others) = values.split_last()?;
    Some(format!("{} or {last}", others.join(", ")))
}

/// SQL in one line.
pub(super) fn one_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `6`, `6 and 7`, `6, 7 and 9`, `6, 7, 9, 10, 11 and 4 more`: statements are counted from 1.
pub(super) fn numbers(statements: &[usize]) -> String {
    let mut words: Vec<String> = statements.iter().take(MOST_NAMED).map(|at| (at + 1).to_string()).collect();
    if statements.len() > MOST_NAMED {
        words.truncate(MOST_NAMED - 1);
        words.push(format!("{} more", statements.len() + 1 - MOST_NAMED));
    }
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.join(""),
    }
}
