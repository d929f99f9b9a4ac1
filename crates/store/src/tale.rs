//! How a history is told: transaction after transaction, each operation with its statement, and what scans did not find.

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::{ConstraintOrder, History, HistoryBuilder, Key, Level, Literal, OpKind, SessionId, Status, TxnId};

use crate::log::{Action, Op};
use crate::record::{Record, Scan, Times, status};
use crate::sight::Sight;
use crate::store::Store;
use crate::telling::{Counts, Freshness, Told, ToldOperation};
use crate::versions::{INIT, Txn};

/// A history that is being told.
pub(crate) struct Tale<'a, V> {
    store: &'a Store<V>,
    name: &'a mut dyn FnMut(Key) -> String,
    literal: &'a mut dyn FnMut(&V) -> Literal,
    builder: HistoryBuilder,
    /// The keys that have been told, by number in the store.
    keys: FxHashMap<u32, Key>,
    operations: Vec<ToldOperation>,
    /// Writes that were undone, and that others have read: they are told as those of a transaction that was rolled back.
    undone: FxHashMap<Txn, TxnId>,
}

/// How transactions that were rolled back are told.
#[derive(Clone, Copy)]
pub(crate) enum Judged {
    AsItWas,
    /// As committed, with what they read.
    AllCommitted,
}

/// How much of a transaction is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    Whole,
    /// What it read from others.
    Reads,
}

impl Judged {
    fn of(self, status: Status) -> (Status, Share) {
        match self {
            Judged::AllCommitted if status != Status::Committed => (Status::Committed, Share::Reads),
            _ => (status, Share::Whole),
        }
    }
}

/// An operation to be told.
struct Item<'a, V> {
    kind: OpKind,
    key: u32,
    value: Option<&'a V>,
    /// Whom a read that is not of the transaction's own write reads from, and which of its operations.
    source: Option<(Txn, u32)>,
    statement: u32,
    /// When the statement began.
    began: i64,
    locked: bool,
    freshness: Freshness,
}

impl<'a, V: Clone> Tale<'a, V> {
    pub(crate) fn new(
        store: &'a Store<V>,
        name: &'a mut dyn FnMut(Key) -> String,
        literal: &'a mut dyn FnMut(&V) -> Literal,
    ) -> Self {
        let (builder, keys, operations) = (HistoryBuilder::new(), FxHashMap::default(), Vec::new());
        Tale { store, name, literal, builder, keys, operations, undone: FxHashMap::default() }
    }

    pub(crate) fn tell(mut self, judged: Judged) -> Told {
        let store = self.store;
        let named = store.sessions.iter().map(|(number, name)| (number, self.builder.session(name)));
        let sessions: FxHashMap<u32, SessionId> = named.collect();
        let base = store.engine.base;
        self.find_undone();
        for (at, record) in store.records.iter().enumerate() {
            let txn = base + at as u32;
            let (status, share) = judged.of(status(store.engine.txn(txn).state));
            self.begin(sessions[&record.session], &format!("t{}", txn + 1), record.level, status);
            if store.times == Times::Told && status == Status::Committed {
                self.builder.span(TxnId(at as u32), record.began, record.ended);
            }
            self.tell_txn(txn, record, share);
        }
        self.tell_undone(&sessions);
        self.tell_constraints();
        Told { history: self.finish(), operations: self.operations }
    }

    /// The pairs of transactions that constraints put in order. What came before all that is remembered needs no telling.
    fn tell_constraints(&mut self) {
        let (store, base) = (self.store, self.store.engine.base);
        for (at, record) in store.records.iter().enumerate() {
            for &(first, key) in record.commits_after.iter().filter(|(first, _)| *first >= base) {
                let (first, second, key) = (TxnId(first - base), TxnId(at as u32), self.key(key));
                self.builder.constraint_order(ConstraintOrder { key, first, second });
            }
        }
    }

    fn finish(&mut self) -> History {
        std::mem::take(&mut self.builder).finish()
    }

    fn begin(&mut self, session: SessionId, name: &str, level: Level, status: Status) {
        let id = self.builder.begin(session, name);
        self.builder.level(id, level);
        self.builder.status(id, status);
    }

    /// The key in the history.
    pub(crate) fn key(&mut self, key: u32) -> Key {
        if let Some(&told) = self.keys.get(&key) {
            return told;
        }
        let name = (self.name)(Key(key));
        let told = self.builder.key(name.as_str());
        if let Some(initial) = self.store.initial(key) {
            self.builder.init(name.as_str(), (self.literal)(initial));
        }
        self.keys.insert(key, told);
        told
    }

    fn tell_txn(&mut self, txn: Txn, record: &'a Record, share: Share) {
        let mut items = self.items(txn, record, share);
        // What a statement read after one within it belongs to what it had read before: see [`Store::go_on`].
        items.sort_by_key(|item| item.statement);
        let runs_by_statement = self.store.engine.txn(txn).sight == Sight::StatementPrefix;
        let mut rest = &items[..];
        while let Some(first) = rest.first() {
            let mates = rest.iter().take_while(|item| item.statement == first.statement).count();
            let (statement, after) = rest.split_at(mates);
            rest = after;
            if runs_by_statement && !is_one_look(statement) {
                let looks = |item: &&Item<'_, V>| item.source.is_some() && !item.locked;
                self.tell_statement(txn, statement.iter().filter(looks), Joined::Yes);
                self.tell_statement(txn, statement.iter().filter(|item| !looks(item)), Joined::Yes);
            } else if record.level == Level::Rc && !has_own_rows_last(statement) {
                self.tell_statement(txn, statement.iter(), Joined::No);
            } else {
                self.tell_statement(txn, statement.iter(), Joined::Yes);
            }
        }
    }

    fn tell_statement<'i>(&mut self, txn: Txn, items: impl Iterator<Item = &'i Item<'i, V>>, joined: Joined)
    where
        V: 'i,
    {
        for (at, item) in items.enumerate() {
            let key = self.key(item.key);
            let value = item.value.map_or(Literal::Nil, &mut *self.literal);
            let value = self.builder.names().value(&value);
            let id = self.builder.op(item.kind, key, value);
            if let Some((source, write)) = item.source {
                self.builder.source(id, self.told_source(source, write));
            }
            if at > 0 && joined == Joined::Yes {
                self.builder.join(id);
            } else if self.store.times == Times::Told {
                self.builder.statement_begin(id, item.began);
            }
            let (statement, freshness) = (item.statement, item.freshness);
            self.operations.push(ToldOperation { txn: TxnId(txn), statement, freshness });
        }
    }

    /// What is told of a transaction, in order.
    fn items(&self, txn: Txn, record: &'a Record, share: Share) -> Vec<Item<'a, V>> {
        let store = self.store;
        let (ops, statements, counting) = (store.ops(txn), store.statements_of(txn), store.counting(txn));
        let mut items = Vec::with_capacity(ops.len());
        let mut scans = record.scans.iter().peekable();
        let mut next_statement = 0;
        for at in 0..=ops.len() {
            while let Some(scan) = scans.next_if(|scan| scan.at == at) {
                items.extend(self.not_found(scan));
            }
            next_statement += usize::from(statements.get(next_statement).is_some_and(|next| next.first as usize == at));
            let Some(op) = ops.get(at).filter(|_| counting[at] == Counts::Yes) else { continue };
            let statement = &statements[next_statement - 1];
            let source = match op.action() {
                Action::Read(source, write) if self.is_left_out(source, write, op.key) => continue,
                Action::Read(source, write) => Some((source, write)),
                _ if share == Share::Reads => continue,
                _ => None,
            };
            let kind = if op.is_write() { OpKind::Write } else { OpKind::Read };
            let (statement, began) = (statement.number, statement.began);
            let (value, locked, freshness) = (op.value.as_ref(), op.is_locked(), op.freshness());
            items.push(Item { kind, key: op.key, value, source, statement, began, locked, freshness });
        }
        items
    }

    /// The keys that a scan would have found, had they been there, as reads.
    fn not_found<'s>(&'s self, scan: &'s Scan) -> impl Iterator<Item = Item<'a, V>> + 's {
        let Scan { statement, began, .. } = *scan;
        let left = |&key: &u32| !self.is_left_out(INIT, 0, key);
        self.store.came_later(scan).filter(left).map(move |key| Item {
            kind: OpKind::Read,
            key,
            value: None,
            source: Some((INIT, 0)),
            statement,
            began,
            locked: false,
            freshness: Freshness::Last,
        })
    }

    /// A read of a forgotten version that is not the initial value now.
    fn is_left_out(&self, source: Txn, write: u32, key: u32) -> bool {
        let settled = self.store.settled(key);
        match source {
            INIT => settled.is_some(),
            _ => source < self.store.engine.base && settled != Some((source, write)),
        }
    }

    fn told_source(&self, source: Txn, write: u32) -> Option<TxnId> {
        if source == INIT || source < self.store.engine.base {
            return None;
        }
        let undone = self.undone.get(&source).filter(|_| self.is_undone(source, write));
        Some(undone.copied().unwrap_or(TxnId(source - self.store.engine.base)))
    }

    fn is_undone(&self, txn: Txn, write: u32) -> bool {
        self.store.ops(txn).get(write as usize).is_some_and(|op| op.action() == Action::UndoneWrite)
    }

    /// Writes that were undone and that others have read are told after all transactions.
    fn find_undone(&mut self) {
        let (base, count) = (self.store.engine.base, self.store.records.len() as u32);
        for txn in base..base + count {
            if self.store.ops(txn).iter().any(is_seen_undone) {
                let id = TxnId(count + self.undone.len() as u32);
                self.undone.insert(txn, id);
            }
        }
    }

    fn tell_undone(&mut self, sessions: &FxHashMap<u32, SessionId>) {
        let mut undone: Vec<(TxnId, Txn)> = self.undone.iter().map(|(&txn, &id)| (id, txn)).collect();
        undone.sort_unstable_by_key(|&(id, _)| id);
        let store = self.store;
        for (_, txn) in undone {
            let session = sessions[&store.record(txn).session];
            self.begin(session, &format!("t{}-undone", txn + 1), store.record(txn).level, Status::Aborted);
            let seen = store.ops(txn).iter().filter(|op| is_seen_undone(op)).map(|op| Item {
                kind: OpKind::Write,
                key: op.key,
                value: op.value.as_ref(),
                source: None,
                statement: 0,
                began: 0,
                locked: false,
                freshness: Freshness::Last,
            });
            let seen: Vec<_> = seen.collect();
            self.tell_statement(txn, seen.iter(), Joined::No);
        }
    }
}

/// Whether the operations of a statement are told as one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Yes,
    No,
}

fn is_seen_undone<V>(op: &Op<V>) -> bool {
    op.action() == Action::UndoneWrite && op.is_seen()
}

fn written<V>(statement: &[Item<'_, V>]) -> FxHashSet<u32> {
    statement.iter().filter(|item| item.kind == OpKind::Write).map(|item| item.key).collect()
}

/// At `mvrc`, whether the reads under locks are just those of the keys that the statement writes, as the level's
/// definition has it. If not, what the statement read from its snapshot is told first, and what it did under its locks as
/// a second statement: nobody has overwritten that before it commits, so it is what a later snapshot shows.
fn is_one_look<V>(statement: &[Item<'_, V>]) -> bool {
    let written = written(statement);
    statement.iter().filter(|item| item.source.is_some()).all(|item| written.contains(&item.key) == item.locked)
}

/// At `rc`, whether the reads of what the statement writes come last, as the level's definition has it; the store takes
/// reads in the order in which they are made.
fn has_own_rows_last<V>(statement: &[Item<'_, V>]) -> bool {
    let written = written(statement);
    let mut own = statement.iter().filter(|item| item.source.is_some()).map(|item| written.contains(&item.key));
    !own.by_ref().any(|own| own) || own.all(|own| own)
}
