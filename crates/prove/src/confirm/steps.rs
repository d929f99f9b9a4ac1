//! A history of `mvrc` as sessions of psql: what procedures executed, statement by statement, in an order in which a
//! PostgreSQL at READ COMMITTED does the same.
//!
//! A statement looks at what is committed when it begins. So each one comes after those that it reads from have committed,
//! and before those commit that it does not see; who writes a row comes after those that have written it before. Nobody
//! waits, then.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use skew_model::{History, OpId, OpKind, TxnId};

use super::Found;
use super::script::{Transaction, committed};

/// A statement that a procedure has executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executed {
    /// Its transaction.
    pub txn: TxnId,
    /// The statement with the values that it had, as a block that does the same.
    pub block: String,
    /// Its operations in the history.
    pub ops: Vec<u32>,
}

/// The sessions, or why there are none.
pub(super) fn script(found: &Found, ordered: &[&Transaction<'_>]) -> Result<String, String> {
    if found.executed.is_empty() {
        return Err("what was executed is not known".to_owned());
    }
    let history = &found.history;
    let mut steps: Vec<(usize, usize, &Executed)> = Vec::new();
    for (commits, transaction) in ordered.iter().enumerate() {
        let mut after = 0;
        for step in found.executed.iter().filter(|step| step.txn == transaction.id) {
            let (first, last) = range(history, ordered, commits, step);
            after = after.max(first);
            if after > last {
                return Err("nothing but one order of statements would do, and somebody would wait in it".to_owned());
            }
            steps.push((after, commits, step));
        }
    }
    let mut out = String::new();
    let mut begun = BTreeSet::new();
    for (commits, next) in ordered.iter().enumerate() {
        for (_, of, step) in steps.iter().filter(|(after, ..)| *after == commits) {
            let mark = format!("-- T{}", ordered[*of].session + 1);
            if begun.insert(*of) {
                let _ = writeln!(out, "BEGIN ISOLATION LEVEL READ COMMITTED; {mark}");
            }
            let _ = writeln!(out, "{}; {mark}", step.block);
        }
        if begun.contains(&commits) {
            let _ = writeln!(out, "COMMIT; -- T{}", next.session + 1);
        }
    }
    Ok(out)
}

/// After how many commits a statement runs, at least and at most.
fn range(history: &History, ordered: &[&Transaction<'_>], commits: usize, step: &Executed) -> (usize, usize) {
    let place = |txn: TxnId| ordered.iter().position(|other| other.id == txn);
    let row = |op: u32| row_of(&history.key_name(history.op(OpId(op)).key()));
    let is_write = |op: &&u32| history.op(OpId(**op)).kind() == OpKind::Write;
    let changed: BTreeSet<String> = step.ops.iter().filter(is_write).map(|op| row(*op)).collect();
    let (mut first, mut last) = (0, commits);
    for (before, other) in ordered[..commits].iter().enumerate() {
        let is_past = other.session == ordered[commits].session;
        if is_past || !changed.is_disjoint(&rows_written(history, other.id)) {
            first = before + 1;
        }
    }
    for op in step.ops.iter().filter(|op| !is_write(op)) {
        let Some(source) = history.stated_source(OpId(*op)) else { continue };
        let read = source.and_then(place).map_or(0, |source| source + 1);
        first = first.max(read);
        // A row that is changed is looked at again under its lock.
        if changed.contains(&row(*op)) {
            continue;
        }
        let key = history.op(OpId(*op)).key();
        let overwrites = |other: &Transaction<'_>| {
            let ops = history.op_ids(other.id).map(|op| history.op(OpId(op)));
            let mut writes = ops.filter(|op| op.kind() == OpKind::Write);
            other.id != step.txn && writes.any(|write| write.key() == key)
        };
        let next = (read..commits).find(|at| overwrites(ordered[*at]));
        last = last.min(next.unwrap_or(commits));
    }
    (first, last)
}

fn rows_written(history: &History, txn: TxnId) -> BTreeSet<String> {
    let ops = history.op_ids(txn).map(|op| history.op(OpId(op)));
    ops.filter(|op| op.kind() == OpKind::Write).map(|op| row_of(&history.key_name(op.key()))).collect()
}

/// `account[1]` of `account[1].balance`; an entry of an index is one of its row.
fn row_of(cell: &str) -> String {
    let end = cell.find(" by ").or_else(|| cell.find(']')).unwrap_or(cell.len());
    cell[..end].to_owned()
}

/// What a history's transactions executed, with their operations in it.
pub(super) fn executed(recording: &skew_sql::session::recording::Recording) -> Vec<Executed> {
    let mut executed: Vec<Executed> = recording
        .blocks
        .iter()
        .map(|(txn, block)| Executed { txn: *txn, block: block.to_string(), ops: Vec::new() })
        .collect();
    for (at, operation) in recording.operations.iter().enumerate() {
        if let Some(step) = operation.block.and_then(|block| executed.get_mut(block)) {
            step.ops.push(at as u32);
        }
    }
    executed
}

/// Only those that did something matter.
pub(super) fn is_same(found: &History, recorded: &History) -> bool {
    skew_sql::explore::canonical(found) == skew_sql::explore::canonical(recorded)
        && committed(found) == committed(recorded)
}
