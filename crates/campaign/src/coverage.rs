//! What a campaign covered: which transactions overlapped, and which pairs of them could have got in each other's way.
//!
//! `docs/coverage.md` defines every number. A run is reduced to its transactions with the times of their statements and
//! the cells that they touched; a pair of transaction *shapes* (their statements without values) is what runs have in
//! common.

use std::collections::BTreeMap;

use skew_model::campaign::{ConflictingPair, Coverage};
use skew_model::{OpId, OpKind, Status};
use skew_server::shape::without_values;

use crate::arena::Seen;

/// Statements of a run above which its overlaps are not counted.
const MAX_STATEMENTS: usize = 20_000;

/// A transaction of a run. Times are positions in the order in which statements were executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TxnTrace {
    pub(crate) connection: usize,
    /// Its statements without values, one per line.
    pub(crate) shape: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// For each cell: when it was first touched, and whether it was written.
    pub(crate) cells: BTreeMap<u32, (usize, bool)>,
}

impl TxnTrace {
    fn overlaps(&self, other: &TxnTrace) -> bool {
        self.first < other.last && other.first < self.last
    }

    /// Whether it is a single statement.
    fn is_single(&self) -> bool {
        self.first == self.last
    }

    /// When each of the two first touched a cell that both touch and one of them writes; the earliest such cell.
    fn conflict(&self, other: &TxnTrace) -> Option<(usize, usize)> {
        let common = self.cells.iter().filter_map(|(cell, &(own, own_writes))| {
            let &(others, other_writes) = other.cells.get(cell)?;
            (own_writes || other_writes).then_some((own, others))
        });
        common.min_by_key(|&(own, others)| own.min(others))
    }
}

/// Counts one more run.
pub(crate) fn add_run(coverage: &mut Coverage, seen: &[Seen]) {
    for seen in seen {
        coverage.stale_reads += seen.recording.stale.len() as u64;
        match seen.recording.statements.len() > MAX_STATEMENTS {
            true => coverage.uncounted += 1,
            false => {
                let before = coverage.overlapping;
                add_traces(coverage, &traces(seen));
                // A client is held only while another one is connected, too.
                let is_concurrent = coverage.overlapping > before || !seen.turns.held.is_zero();
                coverage.concurrent += u64::from(is_concurrent);
            }
        }
    }
}

/// The committed transactions of a run in one database.
fn traces(seen: &Seen) -> Vec<TxnTrace> {
    let recording = &seen.recording;
    let history = &recording.history;
    let mut by_txn: BTreeMap<u32, TxnTrace> = BTreeMap::new();
    for (at, statement) in recording.statements.iter().enumerate() {
        let Some(txn) = statement.txn.filter(|&txn| history.txn(txn).status == Status::Committed) else { continue };
        let trace = by_txn.entry(txn.0).or_insert_with(|| TxnTrace {
            connection: statement.connection,
            shape: String::new(),
            first: at,
            last: at,
            cells: BTreeMap::new(),
        });
        trace.last = at;
        let line = without_values(&statement.text);
        if !trace.shape.lines().any(|known| known == line) {
            trace.shape.push_str(&line);
            trace.shape.push('\n');
        }
    }
    for (at, operation) in recording.operations.iter().enumerate() {
        let op = OpId(at as u32);
        let Some(trace) = by_txn.get_mut(&history.txn_of(op).0) else { continue };
        let when = operation.statement.unwrap_or(trace.first);
        let writes = history.op(op).kind() == OpKind::Write;
        let cell = trace.cells.entry(history.op(op).key().0).or_insert((when, writes));
        *cell = (cell.0.min(when), cell.1 || writes);
    }
    let mut traces: Vec<TxnTrace> = by_txn.into_values().filter(|trace| !trace.cells.is_empty()).collect();
    traces.sort_by_key(|trace| trace.first);
    traces
}

/// Counts the transactions of a run, in the order in which they began.
pub(crate) fn add_traces(coverage: &mut Coverage, traces: &[TxnTrace]) {
    coverage.runs += 1;
    coverage.transactions += traces.len() as u64;
    let mut spans: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for trace in traces {
        let span = spans.entry(trace.connection).or_insert((trace.first, trace.last));
        *span = (span.0.min(trace.first), span.1.max(trace.last));
    }
    coverage.connections = coverage.connections.max(spans.len() as u64);
    // Transactions that touch a cell, so that only those are compared that have one in common.
    let mut touching: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, trace) in traces.iter().enumerate() {
        for &cell in trace.cells.keys() {
            touching.entry(cell).or_default().push(at);
        }
    }
    for (at, trace) in traces.iter().enumerate() {
        let later = traces[at + 1..].iter().take_while(|other| other.first < trace.last);
        coverage.overlapping +=
            later.filter(|other| other.connection != trace.connection && other.overlaps(trace)).count() as u64;
        let mut near: Vec<usize> =
            trace.cells.keys().flat_map(|cell| touching[cell].iter().copied().filter(|&other| other > at)).collect();
        near.sort_unstable();
        near.dedup();
        for other in near.into_iter().map(|other| &traces[other]) {
            let meets = |trace: &TxnTrace, span: (usize, usize)| trace.first <= span.1 && span.0 <= trace.last;
            let can_meet = other.connection != trace.connection
                && meets(trace, spans[&other.connection])
                && meets(other, spans[&trace.connection]);
            if let (true, Some((own, others))) = (can_meet, trace.conflict(other)) {
                let order = own <= others;
                let overlapped = trace.overlaps(other) || trace.is_single() && other.is_single();
                note(coverage, (&trace.shape, &other.shape), order, overlapped);
            }
        }
    }
}

/// Notes that two transactions of these shapes conflicted: which of them touched the common cell first, and whether they
/// overlapped.
fn note(coverage: &mut Coverage, shapes: (&str, &str), is_first_first: bool, overlapped: bool) {
    // A pair is kept in the order of its texts. Two of one shape have no order: each is the first of one of them.
    let (one, other, is_one_first) = match shapes.0.cmp(shapes.1) {
        std::cmp::Ordering::Greater => (shapes.1, shapes.0, !is_first_first),
        _ => (shapes.0, shapes.1, is_first_first),
    };
    let found = coverage.pairs.binary_search_by(|pair| (pair.one.as_str(), pair.other.as_str()).cmp(&(one, other)));
    let at = found.unwrap_or_else(|at| {
        let pair = ConflictingPair { one: one.to_owned(), other: other.to_owned(), ..ConflictingPair::default() };
        coverage.pairs.insert(at, pair);
        at
    });
    let pair = &mut coverage.pairs[at];
    pair.met += 1;
    if overlapped {
        let is_same = is_one_program(one, other);
        pair.one_first |= is_one_first || is_same;
        pair.other_first |= !is_one_first || is_same;
    }
}

/// Whether one shape, without its COMMIT, is a beginning of the other one: the same program that took another branch
/// because of what it read, which the order of the two decides.
fn is_one_program(one: &str, other: &str) -> bool {
    let body = |shape: &str| -> Vec<String> {
        let is_end =
            |line: &&str| ["commit", "end", "rollback"].contains(&line.trim_end_matches(';').to_lowercase().as_str());
        shape.lines().filter(|line| !is_end(line)).map(str::to_owned).collect()
    };
    let (one, other) = (body(one), body(other));
    one.starts_with(&other) || other.starts_with(&one)
}

#[cfg(test)]
mod tests {
    use skew_store::strategies::Dice;

    use super::*;

    /// The numbers of `docs/coverage.md`, read literally: every pair of transactions, every pair of statements.
    fn literal(runs: &[Vec<TxnTrace>]) -> (u64, u64, BTreeMap<(String, String), (u64, bool, bool)>) {
        let (mut transactions, mut overlapping, mut pairs) = (0, 0, BTreeMap::new());
        for run in runs {
            transactions += run.len() as u64;
            for a in run {
                for b in run {
                    if a.connection == b.connection {
                        continue;
                    }
                    let overlap = (a.first..=a.last).any(|time| time > b.first && b.last > a.first)
                        && (b.first..=b.last).any(|time| time > a.first && a.last > b.first);
                    overlapping += u64::from(overlap);
                    let times = |connection: usize| {
                        let of = run.iter().filter(move |trace| trace.connection == connection);
                        let (from, to) = (of.clone().map(|t| t.first).min(), of.map(|t| t.last).max());
                        from.expect("it has one")..=to.expect("it has one")
                    };
                    let can_meet = (a.first..=a.last).any(|time| times(b.connection).contains(&time))
                        && (b.first..=b.last).any(|time| times(a.connection).contains(&time));
                    let common = a.cells.iter().flat_map(|(cell, one)| b.cells.get(cell).map(|two| (*one, *two)));
                    let first = common.filter(|(one, two)| one.1 || two.1).min_by_key(|(one, two)| one.0.min(two.0));
                    let Some((one, two)) = first.filter(|_| can_meet) else { continue };
                    let overlap = overlap || (a.first == a.last && b.first == b.last);
                    if a.shape <= b.shape {
                        let pair = pairs.entry((a.shape.clone(), b.shape.clone())).or_insert((0, false, false));
                        pair.0 += 1;
                        let is_same = a.shape == b.shape;
                        pair.1 |= overlap && (one.0 <= two.0 || is_same);
                        pair.2 |= overlap && (one.0 > two.0 || is_same);
                    }
                }
            }
        }
        // Every pair was looked at from both sides, those of one shape counted twice.
        for ((one, other), pair) in &mut pairs {
            if one == other {
                pair.0 /= 2;
            }
        }
        (transactions, overlapping / 2, pairs)
    }

    /// A few connections that run transactions of a few shapes on a few cells, in any interleaving.
    fn random_run(dice: &mut Dice) -> Vec<TxnTrace> {
        let mut open: BTreeMap<usize, TxnTrace> = BTreeMap::new();
        let mut done = Vec::new();
        for time in 0..30 {
            let connection = (dice.roll() % 3) as usize;
            let shape = ["a", "b", "c"][(dice.roll() % 3) as usize];
            let trace = open.entry(connection).or_insert_with(|| TxnTrace {
                connection,
                shape: shape.to_owned(),
                first: time,
                last: time,
                cells: BTreeMap::new(),
            });
            trace.last = time;
            let (cell, writes) = ((dice.roll() % 4) as u32, dice.roll().is_multiple_of(2));
            let known = trace.cells.entry(cell).or_insert((time, writes));
            known.1 |= writes;
            if dice.roll().is_multiple_of(3) {
                done.extend(open.remove(&connection));
            }
        }
        done.sort_by_key(|trace| trace.first);
        done
    }

    #[test]
    fn coverage_is_what_its_definition_says() {
        let mut dice = Dice::new(7);
        for round in 0..300 {
            let runs: Vec<Vec<TxnTrace>> = (0..3).map(|_| random_run(&mut dice)).collect();
            let mut coverage = Coverage::default();
            runs.iter().for_each(|run| add_traces(&mut coverage, run));
            let (transactions, overlapping, pairs) = literal(&runs);
            assert_eq!((coverage.transactions, coverage.overlapping), (transactions, overlapping), "round {round}");
            let counted: BTreeMap<_, _> = coverage
                .pairs
                .iter()
                .map(|pair| ((pair.one.clone(), pair.other.clone()), (pair.met, pair.one_first, pair.other_first)))
                .collect();
            assert_eq!(counted, pairs, "round {round}\n{runs:#?}");
        }
    }

    #[test]
    fn a_branch_not_taken_is_the_same_program() {
        assert!(is_one_program(
            "begin\nSELECT n FROM t\ncommit\n",
            "begin\nSELECT n FROM t\nUPDATE t SET n = ?\ncommit\n"
        ));
        assert!(!is_one_program("begin\nSELECT n FROM t\ncommit\n", "begin\nUPDATE t SET n = ?\ncommit\n"));
    }
}
