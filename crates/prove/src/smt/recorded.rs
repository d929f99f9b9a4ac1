//! Whether a run that was executed is within a level that is written as axioms.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::{History, Key, Level, Op, OpId, OpKind, Status, TxnId};
use skew_sql::explore::{Client, FINALLY};

use super::axioms::{Axioms, Meaning, Relation, orders};
use super::encode::Isolation;
use super::formula::Formula;
use super::solver::{NoSolver, Said, Solver};
use crate::summary::Summary;

/// Whether a run of a client is as the isolation asks: not, if the history does not say who has read from whom.
pub fn run_is_within(
    solver: &Solver,
    summary: &Summary,
    isolation: &Isolation,
    client: &Client,
    history: &History,
) -> Result<bool, NoSolver> {
    let calls = without_last_reads(client, history);
    let Some(mut recorded) = Recorded::of(history, &calls, isolation.sessions) else { return Ok(false) };
    let Some(called) = called(summary, client, history, &calls) else { return Ok(false) };
    for (transaction, program) in recorded.transactions.iter_mut().zip(called) {
        transaction.program = summary.programs[program].name.clone();
        transaction.level = isolation.levels[program];
    }
    recorded.is_within(solver, &isolation.axioms)
}

/// Whether a history is within a level, as its axioms say; `None` if there are none, or if the history does not say who has
/// read from whom.
pub fn history_is_within(
    solver: &Solver,
    history: &History,
    level: Level,
    sessions: bool,
) -> Result<Option<bool>, NoSolver> {
    let all: Vec<TxnId> = committed(history).collect();
    let recorded = Axioms::of(level).and_then(|_| Recorded::of(history, &all, sessions && level.definition().sessions));
    let Some(mut recorded) = recorded else { return Ok(None) };
    recorded.transactions.iter_mut().for_each(|transaction| transaction.level = Some(level));
    recorded.is_within(solver, &Axioms::default()).map(Some)
}

/// The transactions that have committed, without those that read what is left: they are no part of the application.
fn without_last_reads(client: &Client, history: &History) -> Vec<TxnId> {
    let mut left: BTreeMap<&str, usize> =
        client.sessions.iter().map(|(name, calls)| (name.as_str(), calls.len())).collect();
    let mut is_called = |id: &TxnId| match left.get_mut(history.session_name(history.txn(*id).session).as_str()) {
        Some(0) => false,
        Some(left) => {
            *left -= 1;
            true
        }
        None => true,
    };
    // Calls that were rolled back count, too.
    let called: Vec<TxnId> = history.txn_ids().filter(|id| is_called(id)).collect();
    called.into_iter().filter(|id| history.txn(*id).status == Status::Committed).collect()
}

/// The program of each transaction: each call is a transaction of its session.
fn called(summary: &Summary, client: &Client, history: &History, all: &[TxnId]) -> Option<Vec<usize>> {
    let mut next: BTreeMap<u32, usize> = BTreeMap::new();
    let mut programs = Vec::new();
    for &id in all {
        let session = history.txn(id).session;
        let name = history.session_name(session);
        let calls = client.sessions.iter().find(|(known, _)| *known == name).map(|(_, calls)| calls)?;
        let next = next.entry(session.0).or_default();
        let program = calls.get(*next)?.split('(').next()?.trim();
        *next += 1;
        programs.push(summary.programs.iter().position(|known| known.call == program)?);
    }
    let sessions = client.sessions.iter().filter(|(name, _)| name != FINALLY);
    let all_called = sessions.map(|(_, calls)| calls.len()).sum::<usize>() == programs.len();
    all_called.then_some(programs)
}

fn committed(history: &History) -> impl Iterator<Item = TxnId> {
    history.txn_ids().filter(|id| history.txn(*id).status == Status::Committed)
}

/// The transactions of a history that have committed.
struct Recorded {
    sessions: bool,
    transactions: Vec<Transaction>,
    /// Pairs that a constraint put in order.
    constraints: BTreeSet<(usize, usize)>,
}

#[derive(Default)]
struct Transaction {
    program: String,
    level: Option<Level>,
    session: u32,
    /// What it has read of others, and from whom; `None`: what was there first.
    reads: Vec<(Key, Option<usize>)>,
    writes: Vec<Key>,
}

impl Recorded {
    fn of(history: &History, committed: &[TxnId], sessions: bool) -> Option<Recorded> {
        let place = |id: TxnId| committed.iter().position(|known| *known == id);
        let mut transactions = Vec::new();
        for (at, &id) in committed.iter().enumerate() {
            let mut transaction = Transaction { session: history.txn(id).session.0, ..Transaction::default() };
            for op in history.op_ids(id).map(OpId) {
                let operation = history.op(op);
                match operation.kind() {
                    OpKind::Observe => return None,
                    OpKind::Write => transaction.writes.push(operation.key()),
                    OpKind::Read => {
                        let source = source(history, op)?.map(|source| place(source).ok_or(())).transpose().ok()?;
                        if source != Some(at) {
                            transaction.reads.push((operation.key(), source));
                        }
                    }
                }
            }
            transactions.push(transaction);
        }
        let orders = history.constraint_orders().iter();
        let constraints = orders.filter_map(|order| place(order.first).zip(place(order.second))).collect();
        Some(Recorded { sessions, transactions, constraints })
    }

    /// Whether the transactions can be ordered and seen as their levels and the axioms ask.
    fn is_within(&self, solver: &Solver, axioms: &Axioms) -> Result<bool, NoSolver> {
        let mut conversation = solver.start()?;
        let count = self.transactions.len();
        for one in 0..count {
            for other in (0..count).filter(|other| *other != one) {
                conversation.declare_truth(&format!("vis_{one}_{other}"));
                if one < other {
                    conversation.declare_truth(&format!("ar_{one}_{other}"));
                }
            }
        }
        orders(count, self).iter().for_each(|holds| conversation.assert(holds));
        let levels: BTreeSet<Level> = self.transactions.iter().filter_map(|transaction| transaction.level).collect();
        for level in levels {
            let runs_at = |at: usize| truth(self.transactions[at].level == Some(level));
            let asked = Axioms::of(level).unwrap_or_default();
            asked.all(count, self, runs_at).iter().for_each(|holds| conversation.assert(holds));
        }
        axioms.all(count, self, |_| Formula::TRUE).iter().for_each(|holds| conversation.assert(holds));
        Ok(conversation.ask() == Said::Sat)
    }

    fn before(&self, one: usize, other: usize) -> Formula {
        self.related(Relation::Ar, one, other)
    }
}

fn truth(holds: bool) -> Formula {
    if holds { Formula::TRUE } else { Formula::FALSE }
}

/// Who wrote what was read: as the history says, or the only one that has written it.
fn source(history: &History, read: OpId) -> Option<Option<TxnId>> {
    if let Some(stated) = history.stated_source(read) {
        return Some(stated);
    }
    let operation = history.op(read);
    let mut writers: Vec<TxnId> = Vec::new();
    for id in history.txn_ids() {
        let writes =
            |op: &Op| op.kind() == OpKind::Write && op.key() == operation.key() && op.value() == operation.value();
        if history.ops(id).iter().any(writes) {
            writers.push(id);
        }
    }
    let is_first = history.initial(operation.key()) == operation.value();
    match (&writers[..], is_first) {
        ([], true) => Some(None),
        ([writer], false) => Some(Some(*writer)),
        _ => None,
    }
}

impl Meaning for Recorded {
    fn related(&self, relation: Relation, one: usize, other: usize) -> Formula {
        let (first, later) = (&self.transactions[one], &self.transactions[other]);
        if one == other {
            return Formula::FALSE;
        }
        match relation {
            Relation::Vis => Formula::atom(format!("vis_{one}_{other}")),
            Relation::Ar if one > other => !Formula::atom(format!("ar_{other}_{one}")),
            Relation::Ar => Formula::atom(format!("ar_{one}_{other}")),
            // They are in the order in which they were recorded.
            Relation::So => truth(self.sessions && first.session == later.session && one < other),
            Relation::Wr => truth(later.reads.iter().any(|(_, source)| *source == Some(one))),
            Relation::Ww if first.writes.iter().any(|key| later.writes.contains(key)) => self.before(one, other),
            Relation::Ww => Formula::FALSE,
            Relation::Constraint => truth(self.constraints.contains(&(one, other))),
            Relation::Rw => {
                let overwritten = first.reads.iter().filter(|(key, _)| later.writes.contains(key));
                Formula::any(overwritten.map(|(_, source)| match source {
                    None => Formula::TRUE,
                    Some(source) if *source == other => Formula::FALSE,
                    Some(source) => self.before(*source, other),
                }))
            }
        }
    }

    fn is_of(&self, transaction: usize, program: &str) -> Formula {
        truth(self.transactions[transaction].program == program)
    }
}
