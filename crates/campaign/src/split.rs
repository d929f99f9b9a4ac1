//! Races across transactions: a client reads in one transaction and writes in a later one what follows from it, and another
//! client changes what was read in between. Every single transaction is serializable, so that no isolation level prevents
//! it: what belongs together has to be one transaction.

use std::collections::BTreeSet;

use skew_model::campaign::{SqlAnomaly, SqlEdge};
use skew_model::{History, Key, OpId, OpKind};
use skew_server::delayed::Delay;
use skew_server::scheduler::{Forced, TxnPlace};
use skew_sql::parse::shape::Shape;

use crate::arena::Seen;
use crate::cells::{NOTHING, family, is_row, plain_names};
use crate::trace::{GateTxn, Trace};
use crate::trees;

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
    /// How far it is known that one client read and wrote, where the two came on different connections.
    pub(crate) flow: Flow,
}

/// What is known of the way from a read to a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// Both are of one connection.
    OneConnection,
    /// They are of different connections, and the value written follows from the value read.
    Shown,
    /// They are of different connections, and nothing shows that one client sent both.
    Possible,
}

/// What keeps a rerun from the race.
pub(crate) enum Barrier {
    /// The transaction in between waits for the write.
    Forced(Forced),
    /// The read waits for the write in between, whichever connections they come on.
    Delay(Delay),
}

impl SplitRace {
    /// What keeps the transaction in between from coming in between.
    pub(crate) fn barrier(&self, seen: &Seen) -> Option<Barrier> {
        if self.flow == Flow::OneConnection {
            let forced = Forced { waits: self.between, from: 0, until: self.writer, until_statement: None };
            return Some(Barrier::Forced(forced));
        }
        let trace = Trace::new(seen);
        let [read, own, _] = self.statements;
        let shape = |at: usize| Shape::of(&seen.recording.statements[at].text).map(|shape| shape.text);
        let (reads, writes) = (shape(read)?, shape(own)?);
        let before = |at: usize, text: &str| -> u32 {
            let earlier = |other: &usize| trace.statements[*other].effect < trace.statements[at].effect;
            let all = (0..seen.recording.statements.len()).filter(earlier);
            all.filter(|other| shape(*other).as_deref() == Some(text)).count() as u32
        };
        let (first, ends) = (before(read, &reads), before(own, &writes) + 1);
        Some(Barrier::Delay(Delay { reads, first, writes, ends }))
    }

    /// Whether a rerun, in which the read came after the write in between, shows that the write follows from the read: what was
    /// added to a number is the same, and what was read is not; or the row that was found then is not inserted.
    pub(crate) fn flow_in(&self, seen: &Seen, rerun: &Seen) -> Flow {
        let name = seen.recording.history.key_name(self.key);
        let [read, _, write] = self.statements;
        if is_row(&name) {
            let inserts = |seen: &Seen| {
                let shape = Shape::of(&seen.recording.statements[write].text).map(|shape| shape.text);
                move |other: &Seen| {
                    let texts = other.recording.statements.iter();
                    texts.filter(|one| Shape::of(&one.text).map(|shape| shape.text) == shape).count()
                }
            };
            let count = inserts(seen);
            return if count(rerun) < count(seen) { Flow::Shown } else { Flow::Possible };
        }
        let number = |at: usize, kind: OpKind| {
            let value = value_of(seen, &seen.recording.history, at, self.key, kind);
            crate::number::Number::parse(&value)
        };
        let (Some(was), Some(became)) = (number(read, OpKind::Read), number(write, OpKind::Write)) else {
            return Flow::Possible;
        };
        let added = became.minus(was);
        // In the rerun reads and writes of the cell follow each other.
        let history = &rerun.recording.history;
        let mut last = None;
        for op in history.all_ops().iter().filter(|op| history.key_name(op.key()) == name) {
            let value = crate::number::Number::parse(&history.value_text(op.value()));
            match (op.kind(), value, last) {
                (OpKind::Write, Some(value), Some(read)) if read != was && value.minus(read) == added => {
                    return Flow::Shown;
                }
                (OpKind::Write, ..) => last = None,
                (_, value, _) => last = value,
            }
        }
        Flow::Possible
    }
}

/// The races of clients that read on one connection of a pool and write on another one.
pub(crate) fn find_pooled(seen: &Seen) -> Vec<SplitRace> {
    let trace = Trace::new(seen);
    let history = &seen.recording.history;
    let mut found = Vec::new();
    for (&reader, read_by) in &trace.txns {
        for (&key, reads) in &read_by.reads {
            let Some(&read) = reads.iter().next_back() else { continue };
            let read_at = trace.statements[read].effect;
            let later = |at: usize| trace.statements[at].effect > read_at;
            let writes: Vec<(TxnPlace, usize)> = trace
                .txns
                .iter()
                .filter(|(place, txn)| **place != reader && txn.began > read_by.ended)
                .filter_map(|(place, txn)| Some((*place, follows(seen, txn, key)?)))
                .filter(|(_, at)| later(*at))
                .collect();
            for &(writer, write) in writes.iter().filter(|(writer, _)| writer.member != reader.member) {
                let is_between = |other: &&(TxnPlace, usize)| {
                    other.0 != writer && trace.statements[other.1].effect < trace.statements[write].effect
                };
                let Some(&(between, own)) = writes.iter().find(is_between) else { continue };
                let flow = Flow::Possible;
                found.push(SplitRace { writer, between, statements: [read, own, write], key, flow });
            }
        }
    }
    // The latest read is the one that had the best chance to see what came in between.
    found.sort_by_key(|race| {
        let read = trace.statements[race.statements[0]].effect;
        (is_row(&history.key_name(race.key)), std::cmp::Reverse(read))
    });
    found.dedup_by_key(|race| (race.statements[0], race.statements[1]));
    found
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
                let (statements, flow) = ([read, own, write], Flow::OneConnection);
                found.push(SplitRace { writer, between, statements, key, flow });
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
        // An UPDATE that computes with the newest value follows from nothing older. One that sets values and has waited for
        // the row's lock has looked at the row again, and takes nothing from it.
        let sets_values = is_set_to_values(&seen.recording.statements[write].text);
        let counts = |read: usize| read < write || (read == write && !sets_values);
        let looks = txn.reads.get(&key).is_some_and(|reads| reads.iter().any(|read| counts(*read)));
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
    // A lock ends with its transaction.
    let lock = match is_locking(&seen.recording.statements[read].text) {
        true => format!("; the lock of statement {} ended with its own transaction", place(read) + 1),
        false => String::new(),
    };
    SqlAnomaly {
        id: ID.to_owned(),
        headline: match race.flow {
            Flow::OneConnection => format!(
                "{reader} read in one transaction and wrote in another one; in between {other} changed {cell}: no isolation \
                 level prevents that, statements {} and {} of {reader} belong into one transaction{lock}",
                place(read) + 1,
                place(write) + 1
            ),
            Flow::Shown | Flow::Possible => format!(
                "{} was read on one connection and written on another one; in between {other} changed it: no isolation level \
                 prevents that, statements {} and {}{} belong into one transaction on one connection{lock}",
                cell,
                place(read) + 1,
                place(write) + 1,
                if race.flow == Flow::Shown { "" } else { ", which are possibly of one client," },
            ),
        },
        edges: vec![first, second],
        ..SqlAnomaly::default()
    }
}

/// Whether a statement is an UPDATE that sets columns to values, and to nothing that is computed.
fn is_set_to_values(sql: &str) -> bool {
    let Ok(Some(skew_sql::parse::Statement::Sql(tree))) = skew_sql::parse::statement(sql) else { return false };
    match &*tree {
        skew_sql::parse::ast::Statement::Update(update) => {
            update.from.is_empty() && update.assignments.iter().all(|one| trees::is_value(&one.value))
        }
        _ => false,
    }
}

/// Whether a statement is a query that locks rows.
fn is_locking(sql: &str) -> bool {
    match skew_sql::parse::statement(sql) {
        Ok(Some(skew_sql::parse::Statement::Sql(tree))) => {
            matches!(*tree, skew_sql::parse::ast::Statement::Query(query) if !query.locks.is_empty())
        }
        _ => false,
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
