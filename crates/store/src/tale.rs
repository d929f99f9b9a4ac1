//! How a history is told: transaction after transaction, each operation with its statement, and what scans did not find.
//!
//! A history may be long, so it is told in pieces, and the store goes on in between. What is told is what had happened when
//! the telling began: which transactions there were, how each of them stood, and what open ones had done so far (of that
//! there is a copy). What ended transactions did does not change, as long as nothing is forgotten.

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::{ConstraintOrder, HistoryBuilder, Key, Level, Literal, OpKind, SessionId, Status, TxnId};

use crate::engine::State;
use crate::log::{Action, Op, Statement};
use crate::record::{Record, Scan, Times, status};
use crate::sight::Sight;
use crate::store::Store;
use crate::telling::{Counts, Freshness, Told, ToldOperation, counting};
use crate::versions::{INIT, Txn};

/// A history that is being told.
pub(crate) struct Tale<V> {
    judged: Judged,
    builder: HistoryBuilder,
    /// The keys that have been told, by number in the store.
    keys: FxHashMap<u32, Key>,
    operations: Vec<ToldOperation>,
    /// The sessions of the history by their numbers in the store.
    sessions: FxHashMap<u32, SessionId>,
    /// The first transaction that the store remembers, and how each of them stood.
    base: Txn,
    states: Vec<State>,
    /// What those had done that were open.
    open: FxHashMap<Txn, OpenTransaction<V>>,
    /// How many keys there were.
    key_count: usize,
    times: Times,
    stage: Stage,
    /// The rest of the transaction that is being told.
    items: std::vec::IntoIter<Item>,
    /// Writes that were undone, and that others have read: they are told as those of a transaction that was rolled back.
    undone: FxHashMap<Txn, TxnId>,
}

/// What a transaction had done that was open when the telling began.
struct OpenTransaction<V> {
    ops: Vec<Op<V>>,
    statements: Vec<Statement>,
    scans: Vec<Scan>,
}

/// How far the telling has got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Looking for writes that were undone, in the transaction at this place.
    Undone(usize),
    /// Before the transaction at this place.
    Transaction(usize),
    Done,
}

/// Whether there is more to tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    More,
    Done,
}

/// What keys and values are called in the history.
pub(crate) struct Words<'w, V> {
    pub(crate) name: &'w mut dyn FnMut(Key) -> String,
    pub(crate) literal: &'w mut dyn FnMut(&V) -> Literal,
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
struct Item {
    kind: OpKind,
    key: u32,
    /// Which of the transaction's operations it is, if it is one.
    op: Option<u32>,
    /// Whom a read that is not of the transaction's own write reads from, and which of its operations.
    source: Option<(Txn, u32)>,
    statement: u32,
    /// When the statement began.
    began: i64,
    locked: bool,
    freshness: Freshness,
    /// The transaction to which it belongs, and whether it belongs to one look with the item before.
    txn: Txn,
    joins: bool,
}

impl<V: Clone> Tale<V> {
    /// What has happened until now is going to be told.
    pub(crate) fn begin(store: &Store<V>, judged: Judged) -> Self {
        let mut builder = HistoryBuilder::new();
        let sessions = store.sessions.iter().map(|(number, name)| (number, builder.session(name))).collect();
        let copy = |txn: Txn| OpenTransaction {
            ops: store.ops(txn).to_vec(),
            statements: store.statements_of(txn).to_vec(),
            scans: store.record(txn).scans.clone(),
        };
        Tale {
            judged,
            builder,
            keys: FxHashMap::default(),
            operations: Vec::new(),
            sessions,
            base: store.engine.base,
            states: store.engine.txns.iter().map(|txn| txn.state).collect(),
            open: store.engine.open.iter().map(|&txn| (txn, copy(txn))).collect(),
            key_count: store.spaces.key_count(),
            times: store.times,
            stage: Stage::Undone(0),
            items: Vec::new().into_iter(),
            undone: FxHashMap::default(),
        }
    }

    /// Tells about so many operations more. The store is the one of before, and has forgotten nothing.
    pub(crate) fn go_on(&mut self, store: &Store<V>, operations: usize, words: &mut Words<'_, V>) -> Progress {
        debug_assert_eq!(self.base, store.engine.base, "nothing is forgotten while a history is told");
        let mut left = operations;
        while left > 0 {
            match self.stage {
                Stage::Undone(at) => left = left.saturating_sub(self.find_undone(store, at)),
                Stage::Transaction(at) => match self.items.next() {
                    Some(item) => {
                        self.tell_item(store, &item, words);
                        left -= 1;
                    }
                    None if at < self.states.len() => {
                        self.begin_txn(store, at);
                        self.stage = Stage::Transaction(at + 1);
                        left -= 1;
                    }
                    None => {
                        self.tell_undone(store, words);
                        self.tell_constraints(store, words);
                        self.stage = Stage::Done;
                    }
                },
                Stage::Done => return Progress::Done,
            }
        }
        if self.stage == Stage::Done { Progress::Done } else { Progress::More }
    }

    /// The history, when all of it has been told.
    pub(crate) fn finish(self) -> Told {
        debug_assert!(self.stage == Stage::Done, "a history is told to its end");
        Told { history: self.builder.finish(), operations: self.operations }
    }

    /// Tells all at once.
    pub(crate) fn tell(mut self, store: &Store<V>, words: &mut Words<'_, V>) -> Told {
        while self.go_on(store, usize::MAX, words) == Progress::More {}
        self.finish()
    }

    /// Whether all has been told.
    pub(crate) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// How many operations have been told.
    pub(crate) fn told(&self) -> usize {
        self.operations.len()
    }

    fn ops<'s>(&'s self, store: &'s Store<V>, txn: Txn) -> &'s [Op<V>] {
        self.open.get(&txn).map_or_else(|| store.ops(txn), |open| &open.ops)
    }

    fn record<'s>(&self, store: &'s Store<V>, at: usize) -> &'s Record {
        store.record(self.base + at as u32)
    }

    /// The pairs of transactions that constraints put in order. What came before all that is remembered needs no telling.
    fn tell_constraints(&mut self, store: &Store<V>, words: &mut Words<'_, V>) {
        for at in 0..self.states.len() {
            if self.states[at] != State::Committed {
                continue;
            }
            for &(first, key) in &self.record(store, at).commits_after {
                if first >= self.base {
                    let (first, second) = (TxnId(first - self.base), TxnId(at as u32));
                    let key = self.key(store, key, words);
                    self.builder.constraint_order(ConstraintOrder { key, first, second });
                }
            }
        }
    }

    fn begin_transaction(&mut self, session: SessionId, name: &str, level: Level, status: Status) {
        let id = self.builder.begin(session, name);
        self.builder.level(id, level);
        self.builder.status(id, status);
    }

    /// The key in the history.
    pub(crate) fn key(&mut self, store: &Store<V>, key: u32, words: &mut Words<'_, V>) -> Key {
        if let Some(&told) = self.keys.get(&key) {
            return told;
        }
        let name = (words.name)(Key(key));
        let told = self.builder.key(name.as_str());
        if let Some(initial) = store.initial(key) {
            self.builder.init(name.as_str(), (words.literal)(initial));
        }
        self.keys.insert(key, told);
        told
    }

    /// Begins the transaction at this place, and puts in order what is told of it.
    fn begin_txn(&mut self, store: &Store<V>, at: usize) {
        let (txn, record) = (self.base + at as u32, self.record(store, at));
        let (status, share) = self.judged.of(status(self.states[at]));
        self.begin_transaction(self.sessions[&record.session], &format!("t{}", txn + 1), record.level, status);
        if self.times == Times::Told && status == Status::Committed {
            self.builder.span(TxnId(at as u32), record.began, record.ended);
        }
        let mut items = self.items(store, txn, record, share);
        // What a statement read after one within it belongs to what it had read before: see [`Store::go_on`].
        items.sort_by_key(|item| item.statement);
        let runs_by_statement = store.engine.txn(txn).sight == Sight::StatementPrefix;
        for statement in items.chunk_by_mut(|one, next| one.statement == next.statement) {
            let looks = |item: &Item| item.source.is_some() && !item.locked;
            if runs_by_statement && !is_one_look(statement) {
                // What it saw in its snapshot comes first, and what it saw under its locks is another look.
                statement.sort_by_key(|item| !looks(item));
                let first = statement.iter().take_while(|item| looks(item)).count();
                let (one, other) = statement.split_at_mut(first);
                [one, other].into_iter().for_each(join);
            } else if record.level != Level::Rc || has_own_rows_last(statement) {
                join(statement);
            }
        }
        self.items = items.into_iter();
    }

    fn tell_item(&mut self, store: &Store<V>, item: &Item, words: &mut Words<'_, V>) {
        let key = self.key(store, item.key, words);
        let value = item.op.and_then(|op| self.ops(store, item.txn)[op as usize].value.as_ref());
        let value = value.map_or(Literal::Nil, &mut *words.literal);
        let value = self.builder.names().value(&value);
        let id = self.builder.op(item.kind, key, value);
        if let Some((source, write)) = item.source {
            let source = self.told_source(store, source, write);
            self.builder.source(id, source);
        }
        if item.joins {
            self.builder.join(id);
        } else if self.times == Times::Told {
            self.builder.statement_begin(id, item.began);
        }
        let (statement, freshness) = (item.statement, item.freshness);
        self.operations.push(ToldOperation { txn: TxnId(item.txn), statement, freshness });
    }

    /// What is told of a transaction, in order.
    fn items(&self, store: &Store<V>, txn: Txn, record: &Record, share: Share) -> Vec<Item> {
        let (ops, statements, scans) = match self.open.get(&txn) {
            Some(open) => (&open.ops[..], &open.statements[..], &open.scans[..]),
            None => (store.ops(txn), store.statements_of(txn), &record.scans[..]),
        };
        let counting = counting(ops, statements);
        let mut items = Vec::with_capacity(ops.len());
        let mut scans = scans.iter().peekable();
        let mut next_statement = 0;
        for at in 0..=ops.len() {
            while let Some(scan) = scans.next_if(|scan| scan.at == at) {
                items.extend(self.not_found(store, txn, scan));
            }
            next_statement += usize::from(statements.get(next_statement).is_some_and(|next| next.first as usize == at));
            let Some(op) = ops.get(at).filter(|_| counting[at] == Counts::Yes) else { continue };
            let statement = &statements[next_statement - 1];
            let source = match op.action() {
                Action::Read(source, write) if self.is_left_out(store, source, write, op.key) => continue,
                Action::Read(source, write) => Some((source, write)),
                _ if share == Share::Reads => continue,
                _ => None,
            };
            let kind = if op.is_write() { OpKind::Write } else { OpKind::Read };
            let (statement, began) = (statement.number, statement.began);
            let (op_number, locked, freshness) = (Some(at as u32), op.is_locked(), op.freshness());
            let joins = false;
            items.push(Item {
                kind,
                key: op.key,
                op: op_number,
                source,
                statement,
                began,
                locked,
                freshness,
                txn,
                joins,
            });
        }
        items
    }

    /// The keys that a scan would have found, had they been there, as reads.
    fn not_found<'s>(&'s self, store: &'s Store<V>, txn: Txn, scan: &'s Scan) -> impl Iterator<Item = Item> + 's {
        let Scan { statement, began, .. } = *scan;
        let told = move |&key: &u32| (key as usize) < self.key_count && !self.is_left_out(store, INIT, 0, key);
        store.came_later(scan).filter(told).map(move |key| Item {
            kind: OpKind::Read,
            key,
            op: None,
            source: Some((INIT, 0)),
            statement,
            began,
            locked: false,
            freshness: Freshness::Last,
            txn,
            joins: false,
        })
    }

    /// A read of a forgotten version that is not the initial value now.
    fn is_left_out(&self, store: &Store<V>, source: Txn, write: u32, key: u32) -> bool {
        let settled = store.settled(key);
        match source {
            INIT => settled.is_some(),
            _ => source < self.base && settled != Some((source, write)),
        }
    }

    fn told_source(&self, store: &Store<V>, source: Txn, write: u32) -> Option<TxnId> {
        if source == INIT || source < self.base {
            return None;
        }
        let undone = self.undone.get(&source).filter(|_| self.is_undone(store, source, write));
        Some(undone.copied().unwrap_or(TxnId(source - self.base)))
    }

    fn is_undone(&self, store: &Store<V>, txn: Txn, write: u32) -> bool {
        self.ops(store, txn).get(write as usize).is_some_and(|op| op.action() == Action::UndoneWrite)
    }

    /// Writes that were undone and that others have read are told after all transactions. Looks for them in the transaction
    /// at this place, and says how much work that was.
    fn find_undone(&mut self, store: &Store<V>, at: usize) -> usize {
        // Looking at so many operations takes as long as telling one.
        const LOOKED_AT: usize = 64;
        if at == self.states.len() {
            self.stage = Stage::Transaction(0);
            return 0;
        }
        let txn = self.base + at as u32;
        let ops = self.ops(store, txn);
        let work = 1 + ops.len() / LOOKED_AT;
        if ops.iter().any(is_seen_undone) {
            let id = TxnId((self.states.len() + self.undone.len()) as u32);
            self.undone.insert(txn, id);
        }
        self.stage = Stage::Undone(at + 1);
        work
    }

    fn tell_undone(&mut self, store: &Store<V>, words: &mut Words<'_, V>) {
        let mut undone: Vec<(TxnId, Txn)> = self.undone.iter().map(|(&txn, &id)| (id, txn)).collect();
        undone.sort_unstable_by_key(|&(id, _)| id);
        for (_, txn) in undone {
            let record = store.record(txn);
            let session = self.sessions[&record.session];
            self.begin_transaction(session, &format!("t{}-undone", txn + 1), record.level, Status::Aborted);
            let seen = self.ops(store, txn).iter().enumerate().filter(|(_, op)| is_seen_undone(op));
            let seen = seen.map(|(at, op)| Item {
                kind: OpKind::Write,
                key: op.key,
                op: Some(at as u32),
                source: None,
                statement: 0,
                began: 0,
                locked: false,
                freshness: Freshness::Last,
                txn,
                joins: false,
            });
            let seen: Vec<Item> = seen.collect();
            seen.iter().for_each(|item| self.tell_item(store, item, words));
        }
    }
}

/// The operations are told as one look.
fn join(look: &mut [Item]) {
    look.iter_mut().skip(1).for_each(|item| item.joins = true);
}

fn is_seen_undone<V>(op: &Op<V>) -> bool {
    op.action() == Action::UndoneWrite && op.is_seen()
}

fn written(statement: &[Item]) -> FxHashSet<u32> {
    statement.iter().filter(|item| item.kind == OpKind::Write).map(|item| item.key).collect()
}

/// At `mvrc`, whether the reads under locks are just those of the keys that the statement writes, as the level's
/// definition has it. If not, what the statement read from its snapshot is told first, and what it did under its locks as
/// a second statement: nobody has overwritten that before it commits, so it is what a later snapshot shows.
fn is_one_look(statement: &[Item]) -> bool {
    let written = written(statement);
    statement.iter().filter(|item| item.source.is_some()).all(|item| written.contains(&item.key) == item.locked)
}

/// At `rc`, whether the reads of what the statement writes come last, as the level's definition has it; the store takes
/// reads in the order in which they are made.
fn has_own_rows_last(statement: &[Item]) -> bool {
    let written = written(statement);
    let mut own = statement.iter().filter(|item| item.source.is_some()).map(|item| written.contains(&item.key));
    !own.by_ref().any(|own| own) || own.all(|own| own)
}
