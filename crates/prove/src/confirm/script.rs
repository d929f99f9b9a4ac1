//! A history of snapshot isolation as sessions of psql: statements in an order in which a PostgreSQL does the same.
//!
//! A transaction at REPEATABLE READ looks at what was committed before its first query, so a whole call can run later than
//! the moment that it looks at: everybody takes a snapshot as early as the history allows, and then the calls run one after
//! the other, as they commit. Nobody waits. (At READ COMMITTED every statement within a procedure looks again: see
//! `steps`.)

use std::collections::BTreeSet;
use std::fmt::Write as _;

use skew_check::check;
use skew_model::{History, Justification, Key, Level, OpId, OpKind, Outcome, Status, TxnId};
use skew_sql::explore::FINALLY;

use super::Found;

/// A transaction of the history and the call that it is.
pub(super) struct Transaction<'a> {
    pub(super) id: TxnId,
    /// The number of its session.
    pub(super) session: usize,
    call: &'a str,
    level: Level,
}

/// The sessions, or why there are none.
pub(super) fn script(found: &Found) -> Result<String, String> {
    let transactions = transactions(found)?;
    let order = order(found)?;
    let place = |id: TxnId| transactions.iter().find(|transaction| transaction.id == id);
    let ordered: Vec<&Transaction> = order.iter().filter_map(|id| place(*id)).collect();
    let setup: String = found.setup.iter().map(|statement| format!("{statement}; -- T1\n")).collect();
    let finally = finally(found);
    if found.level.looks_at_statements() {
        return super::steps::script(found, &ordered).map(|script| setup + &script + &finally);
    }
    let looks: Vec<usize> = (0..ordered.len()).map(|at| looks_after(&found.history, &ordered, at)).collect();
    let rows: Vec<BTreeSet<String>> = ordered.iter().map(|one| rows_written(&found.history, one.id)).collect();
    let are_apart = |at: usize| (looks[at]..at).all(|unseen| rows[at].is_disjoint(&rows[unseen]));
    if !(0..ordered.len()).all(are_apart) {
        return Err("two change one row without seeing each other, which PostgreSQL does not let them".to_owned());
    }
    let may_fail = |at: usize| (looks[at]..at).any(|unseen| may_lock(found, ordered[at].id, &rows[unseen]));
    if (0..ordered.len()).any(may_fail) {
        return Err("one locks rows that another one may have changed, which PostgreSQL does not let it".to_owned());
    }
    let mut out = setup;
    for (commits, next) in ordered.iter().enumerate() {
        for (other, _) in ordered.iter().zip(&looks).filter(|(_, after)| **after == commits) {
            let mark = format!("-- T{}", other.session + 1);
            let level = if other.level == Level::Si { "REPEATABLE READ" } else { "SERIALIZABLE" };
            let _ = writeln!(out, "BEGIN ISOLATION LEVEL {level}; {mark}");
            // The first query takes the snapshot; whoever goes next takes it with the call.
            if other.id != next.id {
                let _ = writeln!(out, "SELECT 'sees what is committed now'; {mark}");
            }
        }
        let mark = format!("-- T{}", next.session + 1);
        let _ = writeln!(out, "CALL {}; {mark}\nCOMMIT; {mark}", next.call);
    }
    Ok(out + &finally)
}

/// Whether a transaction may have locked one of these rows: a statement names its table and says FOR UPDATE or FOR SHARE.
fn may_lock(found: &Found, txn: TxnId, rows: &BTreeSet<String>) -> bool {
    let mut statements = found.executed.iter().filter(|step| step.txn == txn).map(|step| step.block.to_uppercase());
    statements.any(|statement| {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let locks = words
            .windows(2)
            .any(|two| two[0] == "FOR" && ["UPDATE", "NO", "SHARE", "KEY"].iter().any(|word| two[1].starts_with(word)));
        let tables = rows.iter().filter_map(|row| row.split('[').next());
        locks && tables.into_iter().any(|table| statement.contains(&table.to_uppercase()))
    })
}

/// What the sessions read when all have committed.
fn finally(found: &Found) -> String {
    let sessions = found.client.sessions.iter().filter(|(name, _)| name != FINALLY).enumerate();
    let reads = sessions.flat_map(|(session, _)| found.finally().iter().map(move |query| (session + 1, query)));
    reads.map(|(session, query)| format!("{query} /* what is left */; -- T{session}\n")).collect()
}

/// The transactions in the order of their commits. Where somebody reads what is left it is the order of the run, in which
/// each ran as it committed: others would leave something else.
fn order(found: &Found) -> Result<Vec<TxnId>, String> {
    if !found.finally().is_empty() {
        return Ok(found.history.txn_ids().collect());
    }
    match check(&found.history, found.level).outcome {
        Outcome::Holds(Justification::CommitOrder { order, .. }) => Ok(order),
        _ => Err(format!("there is no order of commits at {}", found.level)),
    }
}

/// How many transactions have committed.
pub(super) fn committed(history: &History) -> usize {
    history.txns().iter().filter(|txn| txn.status == Status::Committed).count()
}

/// The committed transactions with their calls.
fn transactions(found: &Found) -> Result<Vec<Transaction<'_>>, String> {
    let history = &found.history;
    let mut transactions = Vec::new();
    let calling = found.client.sessions.iter().filter(|(name, _)| name != FINALLY);
    for (session, (name, calls)) in calling.enumerate() {
        let own: Vec<TxnId> =
            history.txn_ids().filter(|id| history.session_name(history.txn(*id).session) == *name).collect();
        if own.len() != calls.len() + found.finally().len() {
            return Err(format!("the calls of {name} are not one transaction each"));
        }
        for (id, call) in own.into_iter().zip(calls) {
            let txn = history.txn(id);
            let level = txn.level.unwrap_or(found.level);
            let is_known = match found.level {
                found if found.looks_at_statements() => level.looks_at_statements(),
                _ => matches!(level, Level::Si | Level::Ser),
            };
            if !is_known {
                return Err(format!("PostgreSQL has no level that does what {level} does"));
            }
            if txn.status == Status::Committed {
                transactions.push(Transaction { id, session, call, level });
            }
        }
    }
    Ok(transactions)
}

/// After how many commits a transaction takes its snapshot: as few as it can. It has to see its session's past, whom it
/// reads from, and who has written before it what it writes.
fn looks_after(history: &History, ordered: &[&Transaction], at: usize) -> usize {
    let this = ordered[at];
    if this.level == Level::Ser {
        return at;
    }
    let sources: BTreeSet<TxnId> =
        history.op_ids(this.id).filter_map(|op| history.stated_source(OpId(op)).flatten()).collect();
    let writes = written(history, this.id);
    let must_see = |other: &Transaction| {
        other.session == this.session || sources.contains(&other.id) || !writes.is_disjoint(&written(history, other.id))
    };
    (0..at).rev().find(|before| must_see(ordered[*before])).map_or(0, |before| before + 1)
}

/// The rows that a transaction changes: `account[1]` of `account[1].balance`.
fn rows_written(history: &History, txn: TxnId) -> BTreeSet<String> {
    let names = written(history, txn).into_iter().map(|key| history.key_name(key));
    let row = |name: String| name.rfind(']').map(|end| name[..=end].to_owned());
    names.filter_map(row).filter(|row| !row.contains(" by ")).collect()
}

fn written(history: &History, txn: TxnId) -> BTreeSet<Key> {
    let ops = history.op_ids(txn).map(|op| history.op(OpId(op)));
    ops.filter(|op| op.kind() == OpKind::Write).map(|op| op.key()).collect()
}
