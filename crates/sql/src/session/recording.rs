//! A run with its statements: what clients asked for, what they were answered, and which operations came of it.

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;
use skew_model::{History, Key, Level, OpId, OpKind, TxnId};
use skew_store::{Freshness, Place, Told, ToldOperation};

use crate::catalog::Catalog;
use crate::error::{Result, SqlError};
use crate::ir::LockStrength;
use crate::session::connection::Connection;
use crate::session::database::Database;
use crate::session::guide::Guide;
use crate::session::history::{self, Names};
use crate::session::steering::{Chosen, StaleRead};
use crate::session::trace::NotedLock;
use crate::session::{Client, Outcome, Prepared};
use crate::storage::World;
use crate::storage::locks::Owner;
use crate::types::Datum;

/// A statement as the database notes it.
pub(crate) struct Asked {
    owner: Owner,
    text: Arc<str>,
    parameters: Vec<String>,
    /// The statements of the store that it consists of, those of functions included.
    parts: Vec<NotedPart>,
    /// The transaction that was open.
    txn: Option<TxnId>,
    answer: Answer,
    /// The rows that it locked explicitly.
    locks: Vec<NotedLock>,
}

impl Asked {
    /// The transactions in which it ran.
    pub(crate) fn txns(&self) -> impl Iterator<Item = TxnId> {
        self.parts.iter().map(|part| part.txn)
    }

    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(crate) fn locks(&self) -> &[NotedLock] {
        &self.locks
    }
}

/// A statement of the store, as the database notes it.
struct NotedPart {
    txn: TxnId,
    number: u32,
    text: Arc<str>,
    block: Option<Arc<str>>,
}

/// What a statement was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Nothing yet: it was running, or waiting, when the run ended.
    None,
    /// It was done; for a query, how many rows there were.
    Done(Option<usize>),
    /// It failed.
    Error {
        /// The SQLSTATE.
        code: String,
        /// The message.
        message: String,
    },
}

/// A run: its history, and the statements behind it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What transactions did.
    pub history: History,
    /// What clients asked for, in the order in which it was executed.
    pub statements: Vec<Statement>,
    /// What procedures executed, in order: each statement as a block that does the same alone, and its transaction.
    pub blocks: Vec<(TxnId, Arc<str>)>,
    /// For each operation of the history, what else is known about it.
    pub operations: Vec<Operation>,
    /// The reads that did not return the freshest version that they could have returned.
    pub stale: Vec<StaleRead>,
}

/// A statement of a client.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The client's connection, numbered from zero in the order of their first statements.
    pub connection: usize,
    /// The transaction of the history to which it belongs.
    pub txn: Option<TxnId>,
    /// As the client wrote it.
    pub text: Arc<str>,
    /// The values of its parameters, as text.
    pub parameters: Vec<String>,
    /// What it was answered.
    pub answer: Answer,
}

/// An operation of a history.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    /// The statement that it belongs to.
    pub statement: Option<usize>,
    /// The statement of a function within that, if it comes from there.
    pub within: Option<Arc<str>>,
    /// The block that it belongs to, of those that procedures executed.
    pub block: Option<usize>,
    /// Whether it read a version although newer ones had been committed.
    pub is_stale: bool,
    /// The values that a read could have returned, oldest first, if there were several.
    pub alternatives: Vec<String>,
}

/// How a run begins.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// Where randomness starts.
    pub seed: u64,
    /// Which reads return older versions; `None`: as chance has it.
    pub stale: Option<Vec<StaleRead>>,
}

impl Database {
    /// Makes what is there now what runs begin with.
    pub fn checkpoint(&self) -> Result<()> {
        let mut connection = self.connect(Client::new("skew", "skew"));
        let statement = connection.prepare("SELECT skew.checkpoint()", &[])?;
        connection.execute(&statement, &[])?;
        connection.sync()
    }

    /// Goes back to the checkpoint, and keeps what happens from now on.
    pub fn begin_run(&self, plan: &RunPlan) -> Result<()> {
        let mut state = self.inner.hold();
        state.log = Some(Vec::new());
        state.reset(plan.seed)?;
        state.choice.keep();
        if let Some(stale) = &plan.stale {
            state.choice.follow(stale);
        }
        state.changed();
        Ok(())
    }

    /// Goes back to the checkpoint; whatever is left open is answered by the guide.
    pub fn begin_guided_run(&self, level: Level, guide: Arc<Mutex<Guide>>) -> Result<()> {
        let mut state = self.inner.hold();
        state.log = None;
        state.options.level = Some(level);
        state.reset(0)?;
        state.choice.be_guided(guide);
        state.shelf.get_or_insert_default();
        state.changed();
        Ok(())
    }

    /// Goes back to the checkpoint. Transactions run at the levels that they ask for.
    pub fn begin_interleaved_run(&self) -> Result<()> {
        let mut state = self.inner.hold();
        state.log = None;
        state.options.level = None;
        state.reset(0)?;
        state.shelf.get_or_insert_default();
        state.changed();
        Ok(())
    }

    /// What the sequences have come to.
    pub(crate) fn sequence_values(&self) -> Vec<(u32, i64)> {
        let state = self.inner.lock();
        let called = state.sequences.iter().filter(|(_, sequence)| sequence.called);
        let mut values: Vec<(u32, i64)> = called.map(|(oid, sequence)| (*oid, sequence.last)).collect();
        values.sort_unstable();
        values
    }

    /// Keeps what happens from now on: see [`Database::recording`].
    pub fn keep_statements(&self) {
        self.inner.lock().log = Some(Vec::new());
    }

    /// Transactions that begin from now on run at this level.
    pub fn set_level(&self, level: Level) {
        self.inner.lock().options.level = Some(level);
    }

    /// What transactions have done since the checkpoint.
    pub fn history(&self) -> History {
        let mut observer = self.connect(Client::new("skew", "skew"));
        let inner = self.inner.clone();
        history::history(&World::new(inner.hold(), &mut observer.session))
    }

    /// The catalog, as it is committed.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.inner.lock().catalog.clone()
    }

    /// Shows every answer since the run began.
    pub fn visit_answers(&self, mut visit: impl FnMut(&Answer)) {
        let state = self.inner.lock();
        state.log.iter().flatten().for_each(|asked| visit(&asked.answer));
    }

    /// What has happened since the run began.
    pub fn recording(&self) -> Recording {
        let mut observer = self.connect(Client::new("skew", "skew"));
        let inner = self.inner.clone();
        let world = World::new(inner.hold(), &mut observer.session);
        recording(&world)
    }
}

impl Connection {
    /// A statement was refused before it ran.
    pub(crate) fn note_refused(&mut self, sql: &str, error: &SqlError) {
        let inner = self.database.inner.clone();
        let mut state = inner.lock();
        if let Some(log) = &mut state.log {
            let (owner, text) = (self.session.identity.owner, sql.into());
            let txn = self.session.transaction.as_ref().and_then(|transaction| transaction.id);
            let (parameters, parts, locks) = (Vec::new(), Vec::new(), Vec::new());
            log.push(Asked { owner, text, parameters, parts, txn, answer: failed(error), locks });
        }
    }
}

impl World<'_> {
    /// A client asks for this.
    pub(crate) fn note_asked(&mut self, statement: &Prepared, parameters: &[Datum]) {
        self.session.logged = None;
        if self.db.log.is_none() {
            return;
        }
        let parameters = parameters.iter().map(|value| history::shown(self, value)).collect();
        let (owner, text) = (self.owner(), statement.sql.clone());
        let txn = self.session.transaction.as_ref().and_then(|transaction| transaction.id);
        let log = self.db.log.as_mut().expect("there was one a moment ago");
        let (parts, locks) = (Vec::new(), Vec::new());
        log.push(Asked { owner, text, parameters, parts, txn, answer: Answer::None, locks });
        self.session.logged = Some(log.len() - 1);
    }

    /// The running statement, or one of a function in it, is this statement of the store.
    pub(crate) fn note_part(&mut self, txn: TxnId, number: u32, text: &Arc<str>) {
        let block = self.session.block.take();
        if let Some(asked) = self.session.logged.and_then(|at| self.db.log.as_mut()?.get_mut(at)) {
            asked.parts.push(NotedPart { txn, number, text: text.clone(), block });
        }
    }

    /// The running statement has locked a row explicitly.
    pub(crate) fn note_lock(&mut self, row: u32, strength: LockStrength) {
        let Some(at) = self.session.logged.filter(|_| self.db.log.is_some()) else { return };
        let txn = self.session.transaction.as_ref().and_then(|transaction| transaction.id);
        let number = txn.and_then(|txn| Some((txn, self.db.store.statement_number(txn).ok()?)));
        if let (Some((txn, statement)), Some(log)) = (number, &mut self.db.log)
            && let Some(asked) = log.get_mut(at)
        {
            asked.locks.push(NotedLock { txn, statement, row, strength });
        }
    }

    /// The client is answered.
    pub(crate) fn note_answer(&mut self, result: &Result<Outcome>) {
        if let Some(asked) = self.session.logged.and_then(|at| self.db.log.as_mut()?.get_mut(at)) {
            asked.answer = match result {
                Ok(Outcome::Rows { rows, .. }) => Answer::Done(Some(rows.len())),
                Ok(_) => Answer::Done(None),
                Err(error) => failed(error),
            };
        }
    }
}

fn failed(error: &SqlError) -> Answer {
    let fields = error.fields();
    Answer::Error { code: fields.code.clone(), message: fields.message.clone() }
}

fn recording(world: &World<'_>) -> Recording {
    let names = Names::new(world);
    let told = history::told(world, &names);
    let known = Known::new(world, &told);
    let asked = world.db.log.as_deref().unwrap_or_default();
    let mut connections: Vec<Owner> = Vec::new();
    let mut parts: FxHashMap<(TxnId, u32), (usize, Option<Arc<str>>, Option<usize>)> = FxHashMap::default();
    let mut blocks: Vec<(TxnId, Arc<str>)> = Vec::new();
    let mut statements = Vec::with_capacity(asked.len());
    for (at, asked) in asked.iter().enumerate() {
        let connection = connections.iter().position(|owner| *owner == asked.owner).unwrap_or_else(|| {
            connections.push(asked.owner);
            connections.len() - 1
        });
        for NotedPart { txn, number, text, block } in &asked.parts {
            if let Some((txn, block)) = known.txns.get(txn).zip(block.as_ref()) {
                blocks.push((*txn, block.clone()));
            }
            // What a function does that a statement of the body calls belongs to that statement.
            let own = blocks.last().filter(|(owner, _)| known.txns.get(txn) == Some(owner)).map(|_| blocks.len() - 1);
            parts.insert((*txn, *number), (at, (**text != *asked.text).then(|| text.clone()), own));
        }
        let (text, parameters, answer) = (asked.text.clone(), asked.parameters.clone(), asked.answer.clone());
        let txn = asked.parts.first().map(|part| part.txn).or(asked.txn);
        let txn = txn.and_then(|txn| known.txns.get(&txn).copied());
        statements.push(Statement { connection, txn, text, parameters, answer });
    }
    let operation = |operation: &ToldOperation| {
        let part = parts.get(&(operation.txn, operation.statement)).cloned();
        let (statement, within, block) =
            part.map_or((None, None, None), |(at, within, block)| (Some(at), within, block));
        let is_stale = operation.freshness == Freshness::Stale;
        Operation { statement, within, block, is_stale, alternatives: Vec::new() }
    };
    let mut operations: Vec<Operation> = told.operations.iter().map(operation).collect();
    let chosen = world.db.choice.chosen();
    for chosen in chosen {
        known.add_alternatives(&names.key(world, chosen.key), chosen, &mut operations);
    }
    let stale = chosen.iter().filter(|chosen| chosen.back > 0);
    let stale = stale.map(|chosen| StaleRead { place: chosen.place, back: chosen.back }).collect();
    Recording { history: told.history, statements, blocks, operations, stale }
}

/// What the store's numbers are in the history.
struct Known<'a> {
    history: &'a History,
    /// Transactions by the store's number, and by their place.
    txns: FxHashMap<TxnId, TxnId>,
    places: FxHashMap<Place, TxnId>,
    keys: FxHashMap<String, Key>,
}

impl<'a> Known<'a> {
    fn new(world: &World<'_>, told: &'a Told) -> Known<'a> {
        let history = &told.history;
        let numbers = told.operations.iter().enumerate();
        let txns: FxHashMap<_, _> = numbers.map(|(at, told)| (told.txn, history.txn_of(OpId(at as u32)))).collect();
        let places = txns.iter().filter_map(|(txn, id)| Some((world.db.store.place_of(*txn)?, *id))).collect();
        let keys = (0..history.key_count() as u32).map(|key| (history.key_name(Key(key)), Key(key))).collect();
        Known { history, txns, places, keys }
    }

    /// What a read that had a choice could have returned.
    fn add_alternatives(&self, key: &str, chosen: &Chosen, operations: &mut [Operation]) {
        let (Some(reader), Some(key)) = (self.places.get(&chosen.reader), self.keys.get(key)) else { return };
        let mut reads = self.history.op_ids(*reader).filter(|&at| {
            let op = self.history.op(OpId(at));
            op.kind() == OpKind::Read && op.key() == *key && operations[at as usize].alternatives.is_empty()
        });
        if let Some(at) = reads.next() {
            operations[at as usize].alternatives =
                chosen.sources.iter().map(|source| self.left_by(*source, *key)).collect();
        }
    }

    /// The value that a transaction has left in a key; `None` is the initial state.
    fn left_by(&self, writer: Option<Place>, key: Key) -> String {
        let value = match writer.and_then(|place| self.places.get(&place)) {
            None => Some(self.history.initial(key)),
            Some(writer) => {
                let ops = self.history.ops(*writer).iter();
                ops.rev().find(|op| op.kind() == OpKind::Write && op.key() == key).map(|op| op.value())
            }
        };
        value.map_or_else(|| "?".to_owned(), |value| self.history.value_text(value))
    }
}
