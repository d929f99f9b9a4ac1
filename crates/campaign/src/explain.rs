//! Why a run failed: which transactions no serial order explains, in the application's own SQL.

use std::collections::{BTreeSet, HashMap, HashSet};

use skew_check::{Assumptions, Checker, Options};
use skew_model::campaign::{SqlAnomaly, SqlEdge, SqlOperation, SqlStatement, Why};
use skew_model::{Edge, Explanation, History, Level, OpId, OpKind, Outcome, Reason, Scope, TxnId, Violation};
use skew_sql::session::recording::{Answer, Recording};

use crate::arena::{REFUSALS, Seen, is_unanswered};
use crate::cells::{NOTHING, family, is_row, plain_names};
use crate::evidence::Cause;
use crate::split::{self, SplitRace};
use crate::story::{Story, View};
use crate::trace::Trace;

/// Which database went wrong, what its clients did, and why that is wrong.
pub struct Explained {
    /// The database.
    pub database: String,
    /// Its statements.
    pub statements: Vec<SqlStatement>,
    /// Why.
    pub why: Why,
}

/// Explains a run: by the first database whose transactions are not serializable, and there by what experiments have left
/// of it as the cause.
///
/// Constraints order commits, too, and a cycle may rest on that order alone. Then the statement that a constraint refused
/// says more to its reader than the cycle, so such cycles are looked for only where no statement was refused.
pub fn explain(seen: &[Seen], cause: &Cause) -> Explained {
    let refusing = seen.iter().find(|seen| !refusals(&seen.recording).is_empty());
    let explained = match (first_violation(seen, cause, History::without_constraint_orders), refusing) {
        (None, None) => first_violation(seen, cause, History::clone),
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
            some => {
                let order = EffectOrder::new(seen);
                let mut refused: Vec<usize> = some.into_iter().map(|at| order.place[at]).collect();
                refused.sort_unstable();
                without(seen, Why::Refused(refused))
            }
        },
    }
}

/// Explains a run without experiments, races across transactions included.
pub(crate) fn at_a_glance(seen: &[Seen]) -> Explained {
    let explained = explain(seen, &Cause::default());
    if explained.why != Why::Serializable {
        return explained;
    }
    let split = seen.iter().find_map(|seen| Some(with_split(seen, split::find(seen).first()?)));
    split.unwrap_or(explained)
}

/// The database and the transactions of the first cycle that is found, by the recording's numbers.
pub(crate) fn cycle_txns(seen: &[Seen]) -> Option<(String, Vec<TxnId>)> {
    seen.iter().find_map(|seen| {
        let history = &seen.recording.history;
        let Judged::Violated(violation) = judge(seen, &Cause::default(), &history.without_constraint_orders()) else {
            return None;
        };
        let edges = edges_of(&violation.explanation);
        let names: BTreeSet<String> = edges.iter().map(|edge| violation.history.txn_name(edge.from)).collect();
        let txns = history.txn_ids().filter(|txn| names.contains(&history.txn_name(*txn))).collect();
        Some((seen.database.clone(), txns))
    })
}

/// The first violation in what `view` shows of the databases' histories, or else the limit that left a verdict open.
fn first_violation(seen: &[Seen], cause: &Cause, view: impl Fn(&History) -> History) -> Option<Explained> {
    let mut doubtful = None;
    for seen in seen {
        match judge(seen, cause, &view(&seen.recording.history)) {
            Judged::Violated(violation) => return Some(with_violation(seen, cause, &violation)),
            Judged::Unknown(limit) => doubtful = Some((seen, limit)),
            Judged::Holds => {}
        }
    }
    doubtful.map(|(seen, limit)| without(seen, Why::Unknown(limit)))
}

/// Looks for a violation where the cause is most likely: without cells that no transaction changed, without cells that
/// nothing looked at afterwards, and without reads that experiments have cleared; then with more and more of them. What a
/// part of a history violates the whole does.
fn judge(seen: &Seen, cause: &Cause, history: &History) -> Judged {
    let story = Story::new(seen, cause);
    let mut unknown = None;
    for view in story.views() {
        match violated(&history.select_ops(|at| story.shows(view, at))) {
            Judged::Violated(violation) => return Judged::Violated(violation),
            Judged::Unknown(limit) => unknown = Some(limit),
            Judged::Holds => {}
        }
    }
    unknown.map_or(Judged::Holds, Judged::Unknown)
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
    let (settled, first) = (last_reads(history), first_reads(history));
    for (history, real_time) in [(&settled, false), (&first, false), (history, false), (history, true)] {
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

/// The history with one read of each key in a transaction: the first one, by which the application decided, where an UPDATE
/// reads the same again to compute with it.
fn first_reads(history: &History) -> History {
    let is_read = |at: OpId| history.op(at).kind() == OpKind::Read;
    let mut seen = HashSet::new();
    let reads = (0..history.all_ops().len() as u32).map(OpId).filter(|&at| is_read(at));
    let first: HashSet<OpId> = reads.filter(|&at| seen.insert((history.txn_of(at), history.op(at).key()))).collect();
    history.select_ops(|at| !is_read(at) || first.contains(&at))
}

/// Whether a statement of the transaction computes the cell's new value from the one that it finds, as in
/// `SET n = n - 1`: such an update is not lost, but a decision before it may be out of date.
fn computes_itself(recording: &Recording, txn: &str, cell: &str) -> bool {
    let history = &recording.history;
    let of = |kind: OpKind| -> BTreeSet<usize> {
        let operations = recording.operations.iter().enumerate();
        let own = operations.filter_map(|(at, operation)| {
            let op = history.op(OpId(at as u32));
            let is_it = op.kind() == kind
                && history.key_name(op.key()) == cell
                && history.txn_name(history.txn_of(OpId(at as u32))) == txn;
            operation.statement.filter(|_| is_it)
        });
        own.collect()
    };
    !of(OpKind::Read).is_disjoint(&of(OpKind::Write))
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
    let statements = EffectOrder::new(seen).sorted(statements(&seen.recording));
    Explained { database: seen.database.clone(), statements, why }
}

fn with_violation(seen: &Seen, cause: &Cause, violation: &Violation) -> Explained {
    let recording = &seen.recording;
    let order = EffectOrder::new(seen);
    let places = Places::new(recording);
    let mut statements = statements(recording);
    let edges = edges_of(&violation.explanation);
    let mut told = Vec::new();
    for edge in &edges {
        let (from, to) = ends(edge);
        let at = |op: Option<OpId>| {
            op.and_then(|op| places.find(&violation.history, op)).map(|statement| order.place[statement])
        };
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
            label: plain_names(&label(&violation.history, edge)),
            reason: plain_names(&reason(&violation.history, edge)),
            statements: (at(from), at(to)),
        });
    }
    let names = |levels: &[Level]| levels.iter().map(|level| level.id().to_owned()).collect();
    let outdated = outdated_decision(recording, violation, &edges);
    let why = SqlAnomaly {
        id: outdated.as_ref().map_or(violation.anomaly.id(), |_| "non-repeatable-read").to_owned(),
        headline: plain_names(&outdated.clone().unwrap_or_else(|| skew_report::headline(violation))),
        cycle: cycle_line(&told),
        edges: told,
        breaks: names(&violation.breaks),
        satisfies: names(&violation.satisfies),
        others: if cause.experiment.is_some() { others(seen, cause, violation, &edges) } else { Vec::new() },
        tried: Vec::new(),
        failed: Vec::new(),
    };
    let statements = order.sorted(statements);
    Explained { database: seen.database.clone(), statements, why: Why::Anomaly(Box::new(why)) }
}

/// What happened where both transactions of a lost update compute the new value in the UPDATE: nothing is lost, but what the
/// reader had decided by is out of date when it writes.
fn outdated_decision(recording: &Recording, violation: &Violation, edges: &[Edge]) -> Option<String> {
    let history = &violation.history;
    if violation.anomaly.id() != "lost-update" {
        return None;
    }
    let writers: BTreeSet<String> = edges.iter().map(|edge| history.txn_name(edge.from)).collect();
    edges.iter().find_map(|edge| {
        let Reason::Overwrote { read, .. } = edge.reason else { return None };
        let (from, to) = (history.txn_name(edge.from), history.txn_name(edge.to));
        let op = history.op(read);
        let cell = history.key_name(op.key());
        let all_compute = writers.iter().all(|writer| computes_itself(recording, writer, &cell));
        all_compute.then(|| {
            let value = history.value_text(op.value());
            format!("{from} acted on {cell}={value}, which {to} had overwritten when {from} wrote")
        })
    })
}

/// Explains a run by a race across transactions.
pub(crate) fn with_split(seen: &Seen, race: &SplitRace) -> Explained {
    let order = EffectOrder::new(seen);
    let mut statements = statements(&seen.recording);
    let anomaly = split::told(seen, race, |at| order.place[at]);
    let cell = anomaly.edges.first().and_then(|edge| edge.label.strip_prefix("rw(")?.strip_suffix(')'));
    let cell = cell.unwrap_or_default().to_owned();
    let family = family(&cell);
    for at in race.statements {
        for operation in &mut statements[at].operations {
            operation.is_guilty =
                operation.key == cell || (is_row(&cell) && crate::cells::family(&operation.key) == family);
        }
    }
    let statements = order.sorted(statements);
    Explained { database: seen.database.clone(), statements, why: Why::Anomaly(Box::new(anomaly)) }
}

/// Most that is said about what else is not serializable.
const MAX_OTHERS: usize = 3;

/// What else is not serializable in the run as it failed first, and was shown not to be the cause: other transactions, or
/// cells that nothing looked at.
fn others(seen: &Seen, cause: &Cause, violation: &Violation, edges: &[Edge]) -> Vec<String> {
    let first = cause.order.iter().flatten().find(|first| first.database == seen.database).unwrap_or(seen);
    let story = Story::new(first, cause);
    let history = first.recording.history.without_constraint_orders();
    let mut families: BTreeSet<String> = cells_of(&violation.history, edges).iter().map(|cell| family(cell)).collect();
    let minimal: BTreeSet<String> = edges.iter().map(|edge| violation.history.txn_name(edge.from)).collect();
    let mut found = Vec::new();
    while found.len() < MAX_OTHERS {
        let is_new = |at: OpId| !families.contains(&family(&history.key_name(history.op(at).key())));
        let rest = history.select_ops(|at| story.shows(View::Changed, at) && is_new(at));
        let Judged::Violated(other) = violated(&rest) else { break };
        let edges = edges_of(&other.explanation);
        let cells = cells_of(&other.history, &edges);
        let more: BTreeSet<String> = cells.iter().map(|cell| family(cell)).collect();
        if more.is_empty() {
            break;
        }
        let is_elsewhere = edges.iter().any(|edge| !minimal.contains(&other.history.txn_name(edge.from)));
        if is_elsewhere || cells.iter().all(|cell| story.is_cleared(cell)) {
            let words: Vec<String> = more.iter().map(|family| plain_names(family)).collect();
            found.push(format!("{} of {}", other.anomaly.id().replace('-', " "), words.join(", ")));
        }
        families.extend(more);
    }
    found
}

fn cells_of(history: &History, edges: &[Edge]) -> BTreeSet<String> {
    let ends = edges.iter().flat_map(|edge| [ends(edge).0, ends(edge).1]).flatten();
    ends.map(|op| history.key_name(history.op(op).key())).collect()
}

/// The order in which statements took effect: after what they waited for.
struct EffectOrder {
    /// For each statement of the recording its place.
    place: Vec<usize>,
    order: Vec<usize>,
    /// For each statement of the recording the connection whose transaction it waited for.
    waited_for: Vec<Option<usize>>,
}

impl EffectOrder {
    fn new(seen: &Seen) -> EffectOrder {
        let trace = Trace::new(seen);
        let order = trace.effect_order();
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        let connection = |at: usize| seen.recording.statements[at].connection + 1;
        let waited_for = trace.statements.iter().map(|placed| placed.waited_for.map(connection)).collect();
        EffectOrder { place, order, waited_for }
    }

    fn sorted(&self, statements: Vec<SqlStatement>) -> Vec<SqlStatement> {
        let mut statements: Vec<Option<SqlStatement>> = statements.into_iter().map(Some).collect();
        let take = |&at: &usize| {
            let statement = statements.get_mut(at)?.take()?;
            Some(SqlStatement { waited_for: self.waited_for[at], ..statement })
        };
        self.order.iter().filter_map(take).collect()
    }
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
                waited_for: None,
                operations: Vec::new(),
            }
        })
        .collect();
    for (at, operation) in recording.operations.iter().enumerate() {
        let Some(statement) = operation.statement.and_then(|statement| statements.get_mut(statement)) else { continue };
        let op = history.op(OpId(at as u32));
        statement.operations.push(SqlOperation {
            is_write: op.kind() == OpKind::Write,
            key: plain_names(&history.key_name(op.key())),
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
