//! What each transaction of a run did, event by event, over tables, rows and values: what an analysis of programs is
//! compared with.
//!
//! A [`Recording`](super::recording::Recording) is made for readers: its history names keys as text, and tells what a
//! scan did not find as reads of keys that came later. A trace keeps the objects themselves and adds what the history
//! leaves out: the ranges that statements looked at, also where nothing was found, and the row locks that they took.

use std::ops::Bound;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use skew_model::{Key, Level, Status, TxnId};
use skew_store::{KeyEventKind, RangeLook};

use crate::catalog::{Index, Oid, Relation, RelationKind, Space, Table};
use crate::ir::LockStrength;
use crate::session::Client;
use crate::session::database::Database;
use crate::session::history;
use crate::storage::World;
use crate::storage::rows::{key_part, key_type};
use crate::types::encode::{after_prefix, decode};
use crate::types::{Datum, Type, Typed, kind};

/// A transaction of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The client's statement that began it: a call.
    pub call: Arc<str>,
    /// Its level.
    pub level: Level,
    /// Whether it committed.
    pub committed: bool,
    /// What it did, in order; the ranges and locks of a statement come after its operations.
    pub events: Vec<Event>,
}

/// Something that a transaction did.
#[derive(Clone, Debug)]
pub struct Event {
    /// The number of the statement in its transaction, those that functions execute included. What a statement does
    /// after a function that it calls has the number of the statement.
    pub statement: u32,
    /// What was done.
    pub did: Did,
}

/// What was done.
#[derive(Clone, Debug)]
pub enum Did {
    /// A cell was read in the state that another transaction, or the beginning, left. No value: the row, or the entry, is not there.
    Read(CellRef, Option<Recorded>),
    /// A cell was read that the transaction itself wrote.
    OwnRead(CellRef, Option<Recorded>),
    /// A cell was written. No value: the row, or the entry, goes.
    Write(CellRef, Option<Recorded>),
    /// All rows of a table were looked at whose values begin with these, in the order of the columns.
    Look {
        /// The table.
        table: Oid,
        /// The index in whose order; `None` is that of the rows themselves.
        index: Option<Oid>,
        /// The values that all looked-at rows have in the first columns of that order.
        equal: Vec<Recorded>,
    },
    /// A row was locked by FOR UPDATE or its kin.
    Lock(RowRef, LockStrength),
}

/// A row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RowRef {
    /// Its table.
    pub table: Oid,
    /// The number by which the store knows it.
    pub number: u32,
    /// The values of the columns by which the table orders its rows: those of its primary key, or nothing.
    pub key: Vec<(usize, Recorded)>,
}

/// A cell of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellRef {
    /// The row.
    pub row: RowRef,
    /// What of it.
    pub part: Part,
}

/// A part of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Whether it is there.
    Existence,
    /// A column, by its position.
    Column(usize),
    /// Its entry in an index, for so many of the index's keys.
    Entry(Oid, usize),
}

/// A value, as it is and as text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Recorded {
    /// NULL
    Null,
    /// Any other value, as text.
    Value(String),
}

/// A row lock, as the database notes it.
pub(crate) struct NotedLock {
    pub(crate) txn: TxnId,
    pub(crate) statement: u32,
    pub(crate) row: u32,
    pub(crate) strength: LockStrength,
}

impl Database {
    /// What the transactions have done since the run began: see [`Database::keep_statements`].
    pub fn traces(&self) -> Vec<Trace> {
        let mut observer = self.connect(Client::new("skew", "skew"));
        let inner = self.inner.clone();
        let world = World::new(inner.hold(), &mut observer.session);
        Tracer::new(&world).traces()
    }
}

struct Tracer<'a> {
    world: &'a World<'a>,
    relations: FxHashMap<Space, (Oid, &'a Relation)>,
    added_cells: FxHashMap<Key, (u32, u32)>,
}

impl<'a> Tracer<'a> {
    fn new(world: &'a World<'a>) -> Tracer<'a> {
        let mut relations = FxHashMap::default();
        for relation in world.db.catalog.relations.values().chain(&world.db.gone) {
            if let Some(space) = relation.space() {
                relations.entry(space).or_insert((relation.oid, &**relation));
            }
        }
        let added_cells = world.db.added_cells.iter().map(|(&place, &key)| (key, place)).collect();
        Tracer { world, relations, added_cells }
    }

    fn traces(&self) -> Vec<Trace> {
        let asked = self.world.db.log.as_deref().unwrap_or_default();
        let mut calls: FxHashMap<TxnId, Arc<str>> = FxHashMap::default();
        let mut locks: FxHashMap<TxnId, Vec<Event>> = FxHashMap::default();
        for asked in asked {
            for txn in asked.txns() {
                calls.entry(txn).or_insert_with(|| asked.text().clone());
            }
            for lock in asked.locks() {
                let did = self.row(lock.row).map(|(row, _)| Did::Lock(row, lock.strength));
                let event = did.map(|did| Event { statement: lock.statement, did });
                locks.entry(lock.txn).or_default().extend(event);
            }
        }
        let txns = self.world.db.store.events().into_iter();
        let called = txns.filter_map(|txn| calls.get(&txn.txn).map(|call| (call.clone(), txn)));
        let traced = called.map(|(call, txn)| {
            let operations = txn.operations.iter().filter_map(|operation| {
                let cell = self.cell(operation.key)?;
                let value = operation.value.map(|value| self.recorded(value));
                let did = match operation.kind {
                    KeyEventKind::Write => Did::Write(cell, value),
                    KeyEventKind::Read => Did::Read(cell, value),
                    KeyEventKind::OwnRead => Did::OwnRead(cell, value),
                };
                Some(Event { statement: operation.statement, did })
            });
            let mut events: Vec<Event> = operations.collect();
            events.extend(txn.looks.iter().filter_map(|look| self.look(look)));
            events.extend(locks.remove(&txn.txn).unwrap_or_default());
            events.sort_by_key(|event| event.statement);
            Trace { call, level: txn.level, committed: txn.status == Status::Committed, events }
        });
        traced.collect()
    }

    fn recorded(&self, value: &Datum) -> Recorded {
        match value {
            Datum::Null => Recorded::Null,
            value => Recorded::Value(history::as_told(self.world, value)),
        }
    }

    /// The row that a key of the store is the existence of.
    fn row(&self, key: u32) -> Option<(RowRef, &'a Table)> {
        let (space, bytes) = self.world.db.store.at(Key(key))?;
        let &(oid, relation) = self.relations.get(&space)?;
        let RelationKind::Table(table) = &relation.kind else { return None };
        let of = table.clustered.len();
        let values = match self.world.db.store.any_value(Key(key)) {
            Some(existence) => (0..of).map(|at| self.recorded(&key_part(Some(existence), at, of))).collect(),
            None => {
                let types = table.clustered.iter().map(|column| (table.columns[*column].typed.ty, false));
                self.front(bytes, &types.collect::<Vec<_>>()).map(|(values, _)| values).unwrap_or_default()
            }
        };
        let key_columns = table.clustered.iter().copied().zip(values).collect();
        Some((RowRef { table: oid, number: key, key: key_columns }, table))
    }

    fn cell(&self, key: Key) -> Option<CellRef> {
        let store = &self.world.db.store;
        if let Some((space, bytes)) = store.at(key) {
            let (oid, relation) = self.relations.get(&space)?;
            if let RelationKind::Table(_) = &relation.kind {
                return Some(CellRef { row: self.row(key.0)?.0, part: Part::Existence });
            }
            // An entry: how many of the index's keys it has, their values, the row.
            let (values, row) = bytes.split_last_chunk::<4>()?;
            let row = self.row(u32::from_be_bytes(*row))?.0;
            return Some(CellRef { row, part: Part::Entry(*oid, usize::from(*values.first()?)) });
        }
        let (row, cell) = match self.added_cells.get(&key) {
            Some(&place) => place,
            None => store.entry_before(key).map(|row| (row.0, key.0 - row.0 - 1))?,
        };
        let (row, table) = self.row(row)?;
        let mut columns = table.columns.iter().enumerate();
        let (column, _) = columns.find(|(at, column)| column.cell == cell && !table.clustered.contains(at))?;
        Some(CellRef { row, part: Part::Column(column) })
    }

    fn look(&self, look: &RangeLook<'_>) -> Option<Event> {
        let &(oid, relation) = self.relations.get(&look.space)?;
        let did = match &relation.kind {
            RelationKind::Table(table) => {
                let types = table.clustered.iter().map(|column| (table.columns[*column].typed.ty, false));
                let types: Vec<_> = types.collect();
                Did::Look { table: oid, index: None, equal: self.common(look, 0, &types) }
            }
            RelationKind::Index(index) => {
                let table = self.world.db.catalog.table(index.table)?;
                Did::Look { table: index.table, index: Some(oid), equal: self.common(look, 1, &types(index, table)) }
            }
            _ => return None,
        };
        Some(Event { statement: look.statement, did })
    }

    /// The values with which all keys of a range begin, after so many bytes that are no value.
    fn common(&self, look: &RangeLook<'_>, skip: usize, types: &[(Type, bool)]) -> Vec<Recorded> {
        let (Bound::Included(from) | Bound::Excluded(from)) = look.from else { return Vec::new() };
        let mut common = Vec::new();
        for count in 1..=types.len() {
            let Some((values, rest)) = from.get(skip..).and_then(|bytes| self.front(bytes, &types[..count])) else {
                break;
            };
            let prefix = &from[..from.len() - rest.len()];
            let begins = match look.to {
                Bound::Included(to) => to.starts_with(prefix),
                Bound::Excluded(to) => to.starts_with(prefix) || after_prefix(prefix).as_deref() == Some(to),
                Bound::Unbounded => false,
            };
            if !begins {
                break;
            }
            common = values;
        }
        common
    }

    /// The values at the front of a key, if its bytes are whole values so far, and the bytes after them.
    fn front<'b>(&self, mut bytes: &'b [u8], types: &[(Type, bool)]) -> Option<(Vec<Recorded>, &'b [u8])> {
        let mut values = Vec::new();
        for &(ty, descending) in types {
            let ty = kind::base(Typed::from(ty), &self.world.db.catalog).ty;
            let (value, rest) = decode(bytes, ty, descending)?;
            values.push(self.recorded(&value));
            bytes = rest;
        }
        Some((values, bytes))
    }
}

fn types(index: &Index, table: &Table) -> Vec<(Type, bool)> {
    index.keys.iter().map(|key| (key_type(table, &key.what), key.descending)).collect()
}
