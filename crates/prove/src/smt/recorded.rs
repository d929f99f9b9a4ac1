//! Whether a run that was executed is within a level that is written as axioms.

use std::collections::BTreeMap;

use skew_model::{History, Key, Level, OpKind, Status, TxnId};
use skew_sql::explore::Client;

use super::axioms::{Axioms, Meaning, Relation, orders};
use super::encode::Isolation;
use super::formula::Formula;
use super::solver::{NoSolver, Said, Solver};
use crate::summary::Summary;

/// Whether transactions can be ordered and seen as the isolation asks: not, if the history does not say who has read from
/// whom, or what programs were called.
pub fn is_within(
    solver: &Solver,
    summary: &Summary,
    isolation: &Isolation,
    client: &Client,
    history: &History,
) -> Result<bool, NoSolver> {
    let Some(recorded) = Recorded::of(summary, isolation, client, history) else { return Ok(false) };
    let mut conversation = solver.start()?;
    let count = recorded.transactions.len();
    for one in 0..count {
        for other in (0..count).filter(|other| *other != one) {
            conversation.declare_truth(&format!("vis_{one}_{other}"));
            if one < other {
                conversation.declare_truth(&format!("ar_{one}_{other}"));
            }
        }
    }
    orders(count, &recorded).iter().for_each(|holds| conversation.assert(holds));
    let levels: std::collections::BTreeSet<Level> = isolation.levels.iter().flatten().copied().collect();
    for level in levels {
        let runs_at = |at: usize| match isolation.levels[recorded.transactions[at].program] == Some(level) {
            true => Formula::TRUE,
            false => Formula::FALSE,
        };
        let axioms = Axioms::of(level).unwrap_or_default();
        axioms.all(count, &recorded, runs_at).iter().for_each(|holds| conversation.assert(holds));
    }
    let everywhere = isolation.axioms.all(count, &recorded, |_| Formula::TRUE);
    everywhere.iter().for_each(|holds| conversation.assert(holds));
    Ok(conversation.ask() == Said::Sat)
}

/// The transactions of a history that have committed.
struct Recorded<'a> {
    summary: &'a Summary,
    sessions: bool,
    transactions: Vec<Transaction>,
}

#[derive(Default)]
struct Transaction {
    program: usize,
    session: u32,
    /// What it has read of others, and from whom; `None`: what was there first.
    reads: Vec<(Key, Option<usize>)>,
    writes: Vec<Key>,
}

impl<'a> Recorded<'a> {
    fn of(summary: &'a Summary, isolation: &Isolation, client: &Client, history: &History) -> Option<Recorded<'a>> {
        let committed: Vec<TxnId> =
            history.txn_ids().filter(|id| history.txn(*id).status == Status::Committed).collect();
        let place = |id: TxnId| committed.iter().position(|known| *known == id);
        // Each call is a transaction of its session.
        let mut called: BTreeMap<u32, usize> = BTreeMap::new();
        let mut transactions = Vec::new();
        for (at, &id) in committed.iter().enumerate() {
            let session = history.txn(id).session;
            let name = history.session_name(session);
            let calls = client.sessions.iter().find(|(known, _)| *known == name).map(|(_, calls)| calls)?;
            let next = called.entry(session.0).or_default();
            let program = calls.get(*next)?.split('(').next()?.trim();
            *next += 1;
            let program = summary.programs.iter().position(|known| known.name == program)?;
            let mut transaction = Transaction { program, session: session.0, ..Transaction::default() };
            for op in history.op_ids(id) {
                let operation = history.op(skew_model::OpId(op));
                match operation.kind() {
                    OpKind::Observe => return None,
                    OpKind::Write => transaction.writes.push(operation.key()),
                    OpKind::Read => {
                        let source = source(history, skew_model::OpId(op))?;
                        let source = source.map(|source| place(source).ok_or(())).transpose().ok()?;
                        if source != Some(at) {
                            transaction.reads.push((operation.key(), source));
                        }
                    }
                }
            }
            transactions.push(transaction);
        }
        let all_called = client.sessions.iter().map(|(_, calls)| calls.len()).sum::<usize>() == transactions.len();
        all_called.then_some(Recorded { summary, sessions: isolation.sessions, transactions })
    }

    fn before(&self, one: usize, other: usize) -> Formula {
        self.related(Relation::Ar, one, other)
    }
}

/// Who wrote what was read: as the history says, or the only one that has written it.
fn source(history: &History, read: skew_model::OpId) -> Option<Option<TxnId>> {
    if let Some(stated) = history.stated_source(read) {
        return Some(stated);
    }
    let operation = history.op(read);
    let mut writers: Vec<TxnId> = Vec::new();
    for id in history.txn_ids() {
        let writes = |op: &skew_model::Op| {
            op.kind() == OpKind::Write && op.key() == operation.key() && op.value() == operation.value()
        };
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

impl Meaning for Recorded<'_> {
    fn related(&self, relation: Relation, one: usize, other: usize) -> Formula {
        let truth = |holds: bool| if holds { Formula::TRUE } else { Formula::FALSE };
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
        match self.summary.programs[self.transactions[transaction].program].name == program {
            true => Formula::TRUE,
            false => Formula::FALSE,
        }
    }
}
