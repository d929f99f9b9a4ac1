//! Races across transactions: a client reads in one transaction and writes in a later one what follows from it, and another
//! client changes what was read in between. Every single transaction is serializable, so that no isolation level prevents
//! it: what belongs together has to be one transaction.

use std::collections::BTreeSet;

use skew_model::campaign::{SqlAnomaly, SqlEdge};
use skew_model::{History, Key, OpId, OpKind};
use skew_server::scheduler::{Forced, TxnPlace};

use crate::arena::Seen;
use crate::cells::{NOTHING, family, is_row, plain_names};
use crate::trace::{GateTxn, Trace};

/// The name of the kind.
pub(crate) const ID: &str = "race-across-transactions";

/// A race across transactions.
#[derive(Clone, Debug)]
pub(crate) struct SplitRace {
    /// The transaction that wrote what followed from an earlier read.
    writer: TxnPlace,
    /// The first transaction of the other client that has to do with it: where that one has read before it wrote, its read.
    between: TxnPlace,
    /// The statements that read, that wrote in between, and that wrote.
    pub(crate) statements: [usize; 3],
    /// What was read and changed in between.
    key: Key,
}

impl SplitRace {
    /// What keeps the transaction in between from coming in between.
    pub(crate) fn forced(&self) -> Forced {
        Forced { waits: self.between, from: 0, until: self.writer, until_statement: None }
    }
}

/// The races across transactions of a run, those of cells that are read and written first.
pub(crate) fn find(seen: &Seen) -> Vec<SplitRace> {
    let trace = Trace::new(seen);
    let history = &seen.recording.history;
    let mut found = Vec::new();
    for (&reader, read_by) in &trace.txns {
        for (&key, reads) in &read_by.reads {
            let Some(&read) = reads.iter().next_back() else { continue };
            let read_at = trace.statements[read].effect;
            let later = trace.txns.iter().filter(|(place, _)| place.member == reader.member && place.txn > reader.txn);
            let Some((&writer, write)) =
                later.filter_map(|(place, txn)| Some((place, follows(seen, txn, key)?))).next()
            else {
                continue;
            };
            let write_at = trace.statements[write].effect;
            let between = trace.txns.iter().find_map(|(&place, txn)| {
                let own = write_of(seen, txn, key)?;
                let at = trace.statements[own].effect;
                let is_between =
                    place.member != reader.member && txn.writes.contains(&key) && txn.ended > read_at && at < write_at;
                is_between.then_some((place, own))
            });
            if let Some((between, own)) = between {
                let between = first_of(&trace, between, key);
                found.push(SplitRace { writer, between, statements: [read, own, write], key });
            }
        }
    }
    // A cell that is read and written back says more than rows that came.
    found.sort_by_key(|race| is_row(&history.key_name(race.key)));
    found
}

/// The transaction with which a client begins what it ends with a write: its last one before that reads the same.
fn first_of(trace: &Trace, writer: TxnPlace, key: Key) -> TxnPlace {
    let earlier = trace.txns.range(TxnPlace { txn: 0, ..writer }..writer).rev();
    earlier.filter(|(_, txn)| txn.reads.contains_key(&key)).map(|(place, _)| *place).next().unwrap_or(writer)
}

/// The statement of a transaction that writes what follows from a read of the key, without reading the key itself.
fn follows(seen: &Seen, txn: &GateTxn, key: Key) -> Option<usize> {
    let history = &seen.recording.history;
    let name = history.key_name(key);
    if !is_row(&name) {
        let write = write_of(seen, txn, key).filter(|_| txn.writes.contains(&key))?;
        // An UPDATE that computes with the newest value follows from nothing older.
        let looks = txn.reads.get(&key).is_some_and(|reads| reads.iter().any(|read| *read <= write));
        return (!looks).then_some(write);
    }
    // A row that was not found, and one that is inserted into the same table.
    let table = family(&name);
    let is_new = |other: &&Key| {
        let other_name = history.key_name(**other);
        is_row(&other_name) && family(&other_name) == table
    };
    let looks = txn.reads.contains_key(&key);
    let row = txn.writes.iter().find(is_new).filter(|_| !looks)?;
    write_of(seen, txn, *row)
}

/// The statement of a transaction that writes a key.
fn write_of(seen: &Seen, txn: &GateTxn, key: Key) -> Option<usize> {
    let history = &seen.recording.history;
    let own: BTreeSet<usize> = txn.statements.iter().copied().collect();
    let mut operations = seen.recording.operations.iter().enumerate();
    operations.find_map(|(at, operation)| {
        let op = history.op(OpId(at as u32));
        let statement = operation.statement.filter(|statement| own.contains(statement))?;
        (op.kind() == OpKind::Write && op.key() == key).then_some(statement)
    })
}

/// The race in words. `place` is where a statement stands among those that are shown.
pub(crate) fn told(seen: &Seen, race: &SplitRace, place: impl Fn(usize) -> usize) -> SqlAnomaly {
    let history = &seen.recording.history;
    let [read, own, write] = race.statements;
    let cell = plain_names(&history.key_name(race.key));
    let client = |at: usize| format!("client {}", seen.recording.statements[at].connection + 1);
    let name = |at: usize| {
        let txn = seen.recording.statements[at].txn;
        txn.map_or_else(|| "?".to_owned(), |txn| history.txn_name(txn))
    };
    let value = |at: usize, kind: OpKind| value_of(seen, history, at, race.key, kind);
    let (was, became) = (value(read, OpKind::Read), value(own, OpKind::Write));
    let (reads, changes) = match (is_row(&cell), was == NOTHING) {
        (true, true) => (format!("found no {cell}"), "inserted".to_owned()),
        (true, false) => (format!("found {cell}"), "deleted".to_owned()),
        (false, _) => (format!("read {cell}={was}"), format!("overwrote with {became}")),
    };
    let first = SqlEdge {
        from: name(read),
        to: name(own),
        label: format!("rw({cell})"),
        reason: format!("{} {reads}, which {} {changes}", name(read), name(own)),
        statements: (Some(place(read)), Some(place(own))),
    };
    let second = SqlEdge {
        from: name(own),
        to: name(write),
        label: format!("ww({cell})"),
        reason: format!("{} wrote what follows from the old value, which {} had read", name(write), name(read)),
        statements: (Some(place(own)), Some(place(write))),
    };
    let (reader, other) = (client(read), client(own));
    SqlAnomaly {
        id: ID.to_owned(),
        headline: format!(
            "{reader} read in one transaction and wrote in another one; in between {other} changed {cell}: no isolation level \
             prevents that, statements {} and {} of {reader} belong into one transaction",
            place(read) + 1,
            place(write) + 1
        ),
        edges: vec![first, second],
        ..SqlAnomaly::default()
    }
}

fn value_of(seen: &Seen, history: &History, statement: usize, key: Key, kind: OpKind) -> String {
    let mut operations = seen.recording.operations.iter().enumerate().rev();
    let found = operations.find_map(|(at, operation)| {
        let op = history.op(OpId(at as u32));
        let is_it = operation.statement == Some(statement) && op.key() == key && op.kind() == kind;
        is_it.then(|| history.value_text(op.value()))
    });
    found.unwrap_or_else(|| NOTHING.to_owned())
}
