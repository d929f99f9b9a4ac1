//! Why a run failed: which transactions no serial order explains, in the application's own SQL.

use std::collections::HashMap;

use skew_check::{Assumptions, Checker, Options};
use skew_model::campaign::{SqlAnomaly, SqlEdge, SqlOperation, SqlStatement, Why};
use skew_model::{Edge, Explanation, History, Level, OpId, OpKind, Outcome, Reason, Scope, Violation};
use skew_sql::session::recording::{Answer, Recording};

use crate::arena::{REFUSALS, Seen, is_unanswered};
use crate::fix;

/// Which database went wrong, what its clients did, and why that is wrong.
pub struct Explained {
    /// The database.
    pub database: String,
    /// Its statements.
    pub statements: Vec<SqlStatement>,
    /// Why.
    pub why: Why,
}

/// Explains a run: by the first database whose transactions are not serializable.
///
/// Constraints order commits, too, and a cycle may rest on that order alone. Then the statement that a constraint refused
/// says more to its reader than the cycle, so such cycles are looked for only where no statement was refused.
pub fn explain(seen: &[Seen]) -> Explained {
    let refusing = seen.iter().find(|seen| !refusals(&seen.recording).is_empty());
    let explained = match (first_violation(seen, History::without_constraint_orders), refusing) {
        (None, None) => first_violation(seen, History::clone),
        (explained, _) => explained,
    };
    if let Some(explained) = explained {
        return explained;
    }
    let busiest = refusing.or_else(|| seen.iter().max_by_key(|seen| seen.recording.statements.len()));
    match busiest {
        None => Explained { database: String::new(), statements: Vec::new(), why: Why::Serializable },
        Some(seen) => match refusals(&seen.recording) {
            none if none.is_empty() => without(seen, Why::Serializable),
            some => without(seen, Why::Refused(some)),
        },
    }
}

/// The first violation in what `view` shows of the databases' histories, or else the limit that left a verdict open.
fn first_violation(seen: &[Seen], view: impl Fn(&History) -> History) -> Option<Explained> {
    let mut doubtful = None;
    for seen in seen {
        match violated(&view(&seen.recording.history)) {
            Judged::Violated(violation) => return Some(with_violation(seen, &violation)),
            Judged::Unknown(limit) => doubtful = Some((seen, limit)),
            Judged::Holds => {}
        }
    }
    doubtful.map(|(seen, limit)| without(seen, Why::Unknown(limit)))
}

enum Judged {
    Holds,
    Violated(Box<Violation>),
    Unknown(String),
}

/// Whether no serial order explains the history; if one does, whether one that respects real time does. What a transaction
/// read before it read the same again is left out at first: a lost update says more than that something had changed
/// meanwhile, and what a part of a history violates the whole does.
fn violated(history: &History) -> Judged {
    let mut unknown = None;
    let settled = last_reads(history);
    for (history, real_time) in [(&settled, false), (history, false), (history, true)] {
        let assumptions = Assumptions { sessions: true, real_time };
        let checker = Checker::new(history, Options { assumptions, ..Options::default() });
        match checker.check(Scope::Level(Level::Ser)).outcome {
            Outcome::Violated(violation) => return Judged::Violated(violation),
            Outcome::Unknown(limit) => unknown = Some(limit.to_string()),
            Outcome::Holds(_) => {}
        }
    }
    unknown.map_or(Judged::Holds, Judged::Unknown)
}

/// The history with one read of each key in a transaction: the last one, with whose result the application went on.
fn last_reads(history: &History) -> History {
    let is_read = |at: OpId| history.op(at).kind() == OpKind::Read;
    let place = |at: OpId| (history.txn_of(at), history.op(at).key());
    let last: HashMap<_, _> =
        (0..history.all_ops().len() as u32).map(OpId).filter(|&at| is_read(at)).map(|at| (place(at), at)).collect();
    history.select_ops(|at| !is_read(at) || last.get(&place(at)) == Some(&at))
}

/// The statements that failed because of concurrency, or of a key that somebody else had taken.
fn refusals(recording: &Recording) -> Vec<usize> {
    let is_refusal = |answer: &Answer| match answer {
        Answer::Error { code, .. } => REFUSALS.contains(&code.as_str()) || code.starts_with("23"),
        _ => false,
    };
    let statements = recording.statements.iter().enumerate();
    statements.filter(|(_, statement)| is_refusal(&statement.answer)).map(|(at, _)| at).collect()
}

fn without(seen: &Seen, why: Why) -> Explained {
    Explained { database: seen.database.clone(), statements: statements(&seen.recording), why }
}

fn with_violation(seen: &Seen, violation: &Violation) -> Explained {
    let recording = &seen.recording;
    let places = Places::new(recording);
    let mut statements = statements(recording);
    let edges = edges_of(&violation.explanation);
    let mut told = Vec::new();
    for edge in &edges {
        let (from, to) = ends(edge);
        let at = |op: Option<OpId>| op.and_then(|op| places.find(&violation.history, op));
        for op in [from, to].into_iter().flatten() {
            if let Some((statement, operation)) = places.find_operation(&violation.history, op)
                && let Some(found) = statements.get_mut(statement).and_then(|s| s.operations.get_mut(operation))
            {
                found.is_guilty = true;
            }
        }
        told.push(SqlEdge {
            from: violation.history.txn_name(edge.from),
            to: violation.history.txn_name(edge.to),
            label: label(&violation.history, edge),
            reason: reason(&violation.history, edge),
            statements: (at(from), at(to)),
        });
    }
    let names = |levels: &[Level]| levels.iter().map(|level| level.id().to_owned()).collect();
    let why = SqlAnomaly {
        id: violation.anomaly.id().to_owned(),
        headline: skew_report::headline(violation),
        cycle: cycle_line(&told),
        edges: told,
        breaks: names(&violation.breaks),
        satisfies: names(&violation.satisfies),
        fix: fix::fix(violation, &edges),
    };
    Explained { database: seen.database.clone(), statements, why: Why::Anomaly(Box::new(why)) }
}

/// Why an edge is there. Rows come and go: that reads better than values that are overwritten.
fn reason(history: &History, edge: &Edge) -> String {
    let (from, to) = (history.txn_name(edge.from), history.txn_name(edge.to));
    let (Some(one), Some(other)) = ends(edge) else { return skew_report::sentence(history, edge) };
    let key = history.key_name(history.op(one).key());
    if !is_row(&key) {
        return skew_report::sentence(history, edge);
    }
    let is_there = |op: OpId| history.value_text(history.op(op).value()) != NOTHING;
    // An entry of an index comes and goes with changes of a row too.
    let (came, went) = if key.contains(" by ") { ("made", "removed") } else { ("inserted", "deleted") };
    match (&edge.reason, is_there(one), is_there(other)) {
        (Reason::Overwrote { .. }, false, true) => format!("{from} found no {key}, which {to} {came}"),
        (Reason::Overwrote { .. }, true, false) => format!("{from} found {key}, which {to} {went}"),
        (Reason::Read { .. }, true, true) => format!("{to} found {key}, which {from} {came}"),
        (Reason::Read { .. }, false, false) => format!("{to} did not find {key}, which {from} {went}"),
        _ => skew_report::sentence(history, edge),
    }
}

/// What a row's key holds while there is no such row.
pub(super) const NOTHING: &str = "nil";

/// Whether a key says whether a row is there; others are its cells.
pub(super) fn is_row(key: &str) -> bool {
    key.ends_with(']')
}

/// The statements of a run with what they read and wrote.
fn statements(recording: &Recording) -> Vec<SqlStatement> {
    let history = &recording.history;
    let mut statements: Vec<SqlStatement> = recording
        .statements
        .iter()
        .map(|statement| {
            let (answer, is_error) = match &statement.answer {
                Answer::None => ("no answer".to_owned(), true),
                lost if is_unanswered(lost) => ("no answer".to_owned(), true),
                Answer::Done(None) => ("done".to_owned(), false),
                Answer::Done(Some(1)) => ("1 row".to_owned(), false),
                Answer::Done(Some(rows)) => (format!("{rows} rows"), false),
                Answer::Error { code, message } => (format!("{code} {message}"), true),
            };
            SqlStatement {
                connection: statement.connection + 1,
                txn: statement.txn.map(|txn| history.txn_name(txn)),
                text: statement.text.trim().to_owned(),
                parameters: statement.parameters.clone(),
                answer,
                is_error,
                operations: Vec::new(),
            }
        })
        .collect();
    for (at, operation) in recording.operations.iter().enumerate() {
        let Some(statement) = operation.statement.and_then(|statement| statements.get_mut(statement)) else { continue };
        let op = history.op(OpId(at as u32));
        statement.operations.push(SqlOperation {
            is_write: op.kind() == OpKind::Write,
            key: history.key_name(op.key()),
            value: history.value_text(op.value()),
            is_stale: operation.is_stale,
            alternatives: operation.alternatives.clone(),
            is_guilty: false,
            within: operation.within.as_ref().map(|text| text.to_string()),
        });
    }
    statements
}

/// Where the operations of a run are among its statements. A violation's history is a part of the run's, with the same
/// names.
struct Places {
    by_name: HashMap<(String, OpKindName, String, String), (usize, usize)>,
}

type OpKindName = bool;

impl Places {
    fn new(recording: &Recording) -> Places {
        let history = &recording.history;
        let mut counts: HashMap<usize, usize> = HashMap::new();
        let mut by_name = HashMap::new();
        for (at, operation) in recording.operations.iter().enumerate() {
            let Some(statement) = operation.statement else { continue };
            let count = counts.entry(statement).or_default();
            // The last one with this name wins: others see a transaction's last write.
            by_name.insert(name(history, OpId(at as u32)), (statement, *count));
            *count += 1;
        }
        Places { by_name }
    }

    fn find_operation(&self, history: &History, op: OpId) -> Option<(usize, usize)> {
        self.by_name.get(&name(history, op)).copied()
    }

    fn find(&self, history: &History, op: OpId) -> Option<usize> {
        self.find_operation(history, op).map(|(statement, _)| statement)
    }
}

fn name(history: &History, id: OpId) -> (String, OpKindName, String, String) {
    let op = history.op(id);
    let txn = history.txn_name(history.txn_of(id));
    (txn, op.kind() == OpKind::Write, history.key_name(op.key()), history.value_text(op.value()))
}

/// The edges of the first cycle.
fn edges_of(explanation: &Explanation) -> Vec<Edge> {
    match explanation {
        Explanation::Cycle(cycle) => cycle.edges.clone(),
        Explanation::Cases { first_before_second, .. } => edges_of(first_before_second),
        Explanation::Finding(_) => Vec::new(),
    }
}

/// The operations at the ends of an edge.
fn ends(edge: &Edge) -> (Option<OpId>, Option<OpId>) {
    match edge.reason {
        Reason::Read { read, write } => (Some(write), Some(read)),
        Reason::Overwrote { read, write, .. } => (Some(read), Some(write)),
        Reason::Ignored { read, write, .. } => (Some(write), Some(read)),
        Reason::Recorded | Reason::Older { .. } | Reason::Supposed => (None, None),
    }
}

fn label(history: &History, edge: &Edge) -> String {
    match edge.kind.key() {
        Some(key) => format!("{}({})", edge.kind.letters(), history.key_name(key)),
        None => edge.kind.letters().to_owned(),
    }
}

fn cycle_line(edges: &[SqlEdge]) -> String {
    let mut line = edges.first().map_or_else(String::new, |edge| edge.from.clone());
    for edge in edges {
        line.push_str(&format!(" -{}-> {}", edge.label, edge.to));
    }
    line
}
