//! Which overlap of transactions a failure needs: found by experiment.
//!
//! In a rerun of the failing run some pairs of transactions that had overlapped are forced to run one after the other.
//! What still fails did not need their overlap. A smallest set of overlaps that the failure needs is the cause: with
//! one of them fewer the test passes. Where one pair is left and each statement looks anew, it is asked which of the later
//! transaction's reads has to be a read of old values: the last read that, made after the other transaction's end, lets
//! the test pass. `docs/cause.md` has the definition.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::campaign::Experiment;
use skew_model::{Level, OpId, OpKind, TxnId};
use skew_server::rewrites::{Rewrite, Rewrites};
use skew_server::scheduler::{Forced, TxnPlace};
use skew_sql::parse::shape::Shape;
use skew_sql::types::quote::{identifier as quoted, literal};

use crate::Trouble;
use crate::arena::Seen;
use crate::cells::{NOTHING, is_row};
use crate::evidence::{Cause, ForcedIn, Kept};
use crate::explain;
use crate::repeats::{Again, Repeats};
use crate::split::{self, Barrier, Flow, SplitRace};
use crate::trace::{Pair, Trace};

/// Reruns in which nothing that the failure needs overlaps: all have to pass.
const SERIAL_RUNS: usize = 3;
/// Pairs among which a smallest set is looked for.
const MAX_PAIRS: usize = 400;
/// Cells of a pair of which each is asked about.
const MAX_CELLS: usize = 8;
/// Races across transactions that are tried.
const MAX_SPLITS: usize = 4;
/// Reads of the later transaction that are asked about.
const MAX_READS: usize = 6;

/// A pair of transactions of a database.
type Part = (String, Pair);

/// How a rerun ended.
enum Rerun {
    Failed(Box<Again>),
    Passed(Box<Again>),
    /// What was forced could not be kept up, or there were too many reruns.
    Unclear,
}

/// Finds the overlaps that the failure needs. `last` becomes the run with the fewest overlaps that failed.
pub(crate) fn find(repeats: &mut Repeats<'_>, last: &mut Again, keeps: &Kept) -> Result<Cause, Trouble> {
    let order = last.seen.clone();
    let traces: Vec<Trace> = order.iter().map(Trace::new).collect();
    let of = |(seen, trace): (&Seen, &Trace)| {
        trace.pairs().into_iter().map(|pair| (seen.database.clone(), pair)).collect::<Vec<Part>>()
    };
    let pairs: Vec<Part> = order.iter().zip(&traces).flat_map(of).collect();
    if pairs.is_empty() || pairs.len() > MAX_PAIRS {
        return Ok(Cause { fails_serially: pairs.is_empty(), ..Cause::default() });
    }
    let mut search = Search { repeats, order: &order, keeps, pairs: &pairs };
    let serial = match search.rerun(&forced(&pairs))? {
        Rerun::Passed(again) => again,
        Rerun::Failed(again) => {
            *last = *again;
            return Ok(Cause { fails_serially: true, ..Cause::default() });
        }
        Rerun::Unclear => return Ok(Cause::default()),
    };
    let needed = search.smallest(last)?;
    let mut experiment = Experiment { pairs: pairs.len(), needed: needed.len(), serial_runs: 1, serial_passed: 1 };
    let forced_others: ForcedIn = forced(&without(&pairs, &needed));
    let read = search.latest_read(last, &needed, &forced_others)?;
    let cleared = search.harmless_cells(last, &needed, &forced_others, &serial)?;
    while experiment.serial_runs < SERIAL_RUNS {
        match search.rerun(&forced(&pairs))? {
            Rerun::Passed(_) => experiment.serial_passed += 1,
            Rerun::Failed(_) => {}
            Rerun::Unclear => break,
        }
        experiment.serial_runs += 1;
    }
    let experiment = Some(experiment).filter(|experiment| experiment.serial_passed == experiment.serial_runs);
    let (order, serial) = (Some(order.clone()), Some(serial.seen));
    Ok(Cause { experiment, forced: forced_others, order, read, cleared, serial, fails_serially: false })
}

/// A race across transactions that was found by experiment.
pub(crate) struct FoundSplit {
    /// Which database.
    pub(crate) database: usize,
    pub(crate) race: SplitRace,
    pub(crate) experiment: Experiment,
    /// The run that passed without it.
    pub(crate) serial: Vec<Seen>,
}

/// The race across transactions that makes the run fail: with the other client's part of it after the end of it, the test
/// passes.
pub(crate) fn find_split(repeats: &mut Repeats<'_>, last: &Again, keeps: &Kept) -> Result<Option<FoundSplit>, Trouble> {
    let mut search = Search { repeats, order: &last.seen, keeps, pairs: &[] };
    for (at, seen) in last.seen.iter().enumerate() {
        let own = split::find(seen).into_iter().take(MAX_SPLITS);
        let pooled = split::find_pooled(seen).into_iter().take(MAX_SPLITS);
        for mut race in own.chain(pooled) {
            let (mut forced, mut delay) = (Vec::new(), None);
            match race.barrier(seen) {
                Some(Barrier::Forced(wait)) => forced.push((seen.database.clone(), wait)),
                Some(Barrier::Delay(wait)) => delay = Some((seen.database.clone(), wait)),
                None => continue,
            }
            let mut experiment = Experiment { pairs: 1, needed: 1, ..Experiment::default() };
            let mut serial = Vec::new();
            while experiment.serial_runs < SERIAL_RUNS && experiment.serial_passed == experiment.serial_runs {
                experiment.serial_runs += 1;
                search.repeats.delay = delay.clone();
                let rerun = search.rerun(&forced);
                search.repeats.delay = None;
                if let Rerun::Passed(again) = rerun? {
                    experiment.serial_passed += 1;
                    serial = again.seen;
                }
            }
            if experiment.serial_passed == experiment.serial_runs {
                let rerun = serial.iter().find(|serial: &&Seen| serial.database == seen.database);
                if let Some(rerun) = rerun.filter(|_| race.flow != Flow::OneConnection) {
                    race.flow = race.flow_in(seen, rerun);
                }
                return Ok(Some(FoundSplit { database: at, race, experiment, serial }));
            }
        }
    }
    Ok(None)
}

struct Search<'a, 'b> {
    repeats: &'a mut Repeats<'b>,
    order: &'a [Seen],
    keeps: &'a Kept,
    pairs: &'a [Part],
}

impl Search<'_, '_> {
    /// Runs again with something forced, as often as a command needs that does not always do the same.
    fn rerun(&mut self, forced: &ForcedIn) -> Result<Rerun, Trouble> {
        let mut passed = None;
        for _ in 0..self.repeats.tries {
            let Some(again) = self.repeats.once(self.order, self.keeps, forced)? else { return Ok(Rerun::Unclear) };
            let is_kept_up = again.seen.iter().all(|seen| seen.turns.broken == 0);
            match (is_kept_up, again.failed) {
                (true, true) => return Ok(Rerun::Failed(Box::new(again))),
                (true, false) => passed = Some(again),
                (false, _) => {}
            }
        }
        Ok(passed.map_or(Rerun::Unclear, |again| Rerun::Passed(Box::new(again))))
    }

    /// A smallest set of pairs whose overlap the failure needs. `last` is the run that failed with it.
    fn smallest(&mut self, last: &mut Again) -> Result<Vec<Part>, Trouble> {
        let mut needed = self.pairs.to_vec();
        // The transactions of a cycle are a good guess.
        let guess = self.in_cycle(last);
        if !guess.is_empty() && guess.len() < needed.len() {
            self.keep_if_fails(last, &mut needed, guess)?;
        }
        let mut size = needed.len().div_ceil(2);
        while size > 0 && needed.len() > 1 {
            let parts: Vec<Vec<Part>> = needed.chunks(size).map(<[Part]>::to_vec).collect();
            for part in parts {
                let fewer = without(&needed, &part);
                if !fewer.is_empty() {
                    self.keep_if_fails(last, &mut needed, fewer)?;
                }
            }
            size = if size > 1 { size.div_ceil(2).min(size - 1) } else { 0 };
        }
        Ok(needed)
    }

    fn keep_if_fails(&mut self, last: &mut Again, needed: &mut Vec<Part>, fewer: Vec<Part>) -> Result<(), Trouble> {
        if let Rerun::Failed(again) = self.rerun(&forced(&without(self.pairs, &fewer)))? {
            *last = *again;
            *needed = fewer;
        }
        Ok(())
    }

    /// The pairs whose transactions are both in the cycle that the checker finds.
    fn in_cycle(&self, last: &Again) -> Vec<Part> {
        let Some((database, txns)) = explain::cycle_txns(&last.seen) else { return Vec::new() };
        let Some(seen) = last.seen.iter().find(|seen| seen.database == database) else { return Vec::new() };
        let places = places_of(seen, &txns);
        let is_in =
            |(name, pair): &&Part| *name == database && places.contains(&pair.first) && places.contains(&pair.second);
        self.pairs.iter().filter(is_in).cloned().collect()
    }

    /// The cells of the pair that is needed whose loss does no harm. Where both transactions changed several cells, each is
    /// given the value that it has after the serial outcome, one cell per rerun: with the cell that the test is about the
    /// rerun passes.
    fn harmless_cells(
        &mut self,
        last: &Again,
        needed: &[Part],
        others: &ForcedIn,
        serial: &Again,
    ) -> Result<BTreeSet<String>, Trouble> {
        let of = |again: &Again, database: &str| again.seen.iter().position(|seen| seen.database == database);
        let [(database, pair)] = needed else { return Ok(BTreeSet::new()) };
        let (Some(own), Some(right)) = (of(last, database), of(serial, database)) else { return Ok(BTreeSet::new()) };
        let (seen, right) = (&last.seen[own], &serial.seen[right]);
        let cells = shared_cells(seen, pair);
        let mut guilty = BTreeSet::new();
        if cells.len() < 2 || cells.len() > MAX_CELLS {
            return Ok(guilty);
        }
        for cell in &cells {
            let Some(repair) = repair(seen, right, cell) else { return Ok(BTreeSet::new()) };
            let mut texts = writers_of(seen, pair.first, cell);
            texts.extend(writers_of(seen, pair.second, cell));
            let shapes: BTreeMap<String, Shape> =
                texts.iter().filter_map(|text| Shape::of(text)).map(|shape| (shape.text.clone(), shape)).collect();
            let rewrite = |shape: &Shape| Rewrite::around(shape, Vec::new(), vec![repair.clone()]);
            self.repeats.rewrites = Rewrites::new(shapes.values().map(rewrite).collect(), Vec::new());
            let rerun = self.rerun(others);
            self.repeats.rewrites = Rewrites::default();
            if matches!(rerun?, Rerun::Passed(_)) {
                guilty.insert(cell.clone());
            }
        }
        Ok(if guilty.is_empty() { guilty } else { cells.difference(&guilty).cloned().collect() })
    }

    /// The last read of the later transaction with which the test passes if it is made after the other one's end.
    fn latest_read(
        &mut self,
        last: &Again,
        needed: &[Part],
        others: &ForcedIn,
    ) -> Result<Option<(String, TxnPlace, u32)>, Trouble> {
        let [(database, pair)] = needed else { return Ok(None) };
        let Some(seen) = last.seen.iter().find(|seen| seen.database == *database) else { return Ok(None) };
        let trace = Trace::new(seen);
        let (Some(first), Some(second)) = (trace.txns.get(&pair.first), trace.txns.get(&pair.second)) else {
            return Ok(None);
        };
        let looks_anew = |statement: &usize| {
            let txn = seen.recording.statements[*statement].txn;
            txn.is_some_and(|txn| seen.recording.history.txn(txn).level == Some(Level::Mvrc))
        };
        let reads = second.reads.iter().filter(|(key, _)| first.writes.contains(key)).flat_map(|(_, at)| at);
        let reads: BTreeSet<usize> = reads.copied().filter(looks_anew).collect();
        let mut numbers: Vec<u32> =
            reads.iter().filter_map(|at| trace.statements[*at].place.map(|(_, number)| number)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers.into_iter().rev().take(MAX_READS) {
            let waits = Forced { waits: pair.second, from: number, until: pair.first, until_statement: None };
            let mut forced = others.clone();
            forced.push((database.clone(), waits));
            if matches!(self.rerun(&forced)?, Rerun::Passed(_)) {
                return Ok(Some((database.clone(), pair.second, number)));
            }
        }
        Ok(None)
    }
}

/// The cells of rows that both transactions of a pair changed, by name.
fn shared_cells(seen: &Seen, pair: &Pair) -> BTreeSet<String> {
    let trace = Trace::new(seen);
    let (Some(first), Some(second)) = (trace.txns.get(&pair.first), trace.txns.get(&pair.second)) else {
        return BTreeSet::new();
    };
    let history = &seen.recording.history;
    let names = first.writes.intersection(&second.writes).map(|key| history.key_name(*key));
    names.filter(|name| !is_row(name)).collect()
}

/// The statements of a transaction that write a cell.
fn writers_of(seen: &Seen, txn: TxnPlace, cell: &str) -> BTreeSet<String> {
    let trace = Trace::new(seen);
    let history = &seen.recording.history;
    let operations = seen.recording.operations.iter().enumerate();
    let writes = operations.filter_map(|(at, operation)| {
        let op = history.op(OpId(at as u32));
        let statement = operation.statement.filter(|statement| trace.txn_of(*statement) == Some(txn))?;
        let is_it = op.kind() == OpKind::Write && history.key_name(op.key()) == cell;
        is_it.then(|| seen.recording.statements[statement].text.to_string())
    });
    writes.collect()
}

/// The statement that gives a cell the value that it had at the end of another run.
fn repair(seen: &Seen, serial: &Seen, cell: &str) -> Option<String> {
    let history = &serial.recording.history;
    let mut operations = history.all_ops().iter().rev();
    let last = operations.find(|op| op.kind() == OpKind::Write && history.key_name(op.key()) == cell)?;
    let value = match history.value_text(last.value()) {
        value if value == NOTHING || value == "null" => "NULL".to_owned(),
        value => literal(&value),
    };
    let (row, column) = cell.rsplit_once("].")?;
    let (table, row) = row.split_once('[')?;
    let [key] = seen.keys.get(table)?.as_slice() else { return None };
    let (table, column, key, row) = (quoted(table), quoted(column), quoted(key), literal(row));
    Some(format!("UPDATE {table} SET {column} = {value} WHERE {key} = {row}"))
}

fn without(parts: &[Part], some: &[Part]) -> Vec<Part> {
    parts.iter().filter(|part| !some.contains(part)).cloned().collect()
}

/// The second transaction of each pair begins when the first one has ended.
fn forced(pairs: &[Part]) -> ForcedIn {
    let one_after_the_other =
        |pair: &Pair| Forced { waits: pair.second, from: 0, until: pair.first, until_statement: None };
    pairs.iter().map(|(database, pair)| (database.clone(), one_after_the_other(pair))).collect()
}

/// Where transactions of a history are at the gate.
fn places_of(seen: &Seen, txns: &[TxnId]) -> BTreeSet<TxnPlace> {
    let trace = Trace::new(seen);
    let statements = seen.recording.statements.iter().enumerate();
    let own = statements.filter(|(_, statement)| statement.txn.is_some_and(|txn| txns.contains(&txn)));
    own.filter_map(|(at, _)| trace.txn_of(at)).collect()
}
