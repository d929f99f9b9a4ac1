//! The schema `skew`: how any client drives the weak database.
//!
//! | function | what it does |
//! | --- | --- |
//! | `skew.checkpoint()` | what is there now is what a reset comes back to; the history begins here |
//! | `skew.reset(seed)` | back to the checkpoint (or to an empty database), with a new seed |
//! | `skew.seed()` | the seed |
//! | `skew.isolation(level)` | transactions that begin from now on run at this level (`default`: as they ask); the level |
//! | `skew.checking(on)` | the reads of this connection's transactions see the latest committed state |
//! | `skew.history()` | what transactions have done since the checkpoint, as a `.hist` |

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use skew_model::sql_level::level_words;
use skew_model::{AskedLevel, Key, Level, TxnId, nearest};
use skew_store::{Reads, Recency};

use crate::catalog::{Catalog, Oid};
use crate::client::{ChoiceKind, Options};
use crate::error::{Result, SqlError, SqlState};
use crate::schema::sequence::SequenceState;
use crate::session::database::{Counters, Database, State};
use crate::storage::World;
use crate::storage::conflict::store_error;
use crate::storage::locks::{Owner, Released};
use crate::storage::ssi::Dependencies;
use crate::types::Datum;

/// What a reset comes back to, beside the store's own checkpoint.
#[derive(Clone, Default)]
pub(crate) struct Checkpoint {
    catalog: Arc<Catalog>,
    sequences: FxHashMap<Oid, SequenceState>,
    added_cells: FxHashMap<(u32, u32), Key>,
    again: FxHashMap<u32, Vec<u32>>,
    roles: BTreeSet<String>,
    counters: Counters,
}

/// Answers a function of the schema.
pub(crate) fn ask(world: &mut World<'_>, name: &str, args: &[Datum]) -> Result<Datum> {
    let text = |at: usize| match args.get(at) {
        Some(Datum::Text(text)) => Some(text.clone()),
        _ => None,
    };
    match name {
        "checkpoint" => {
            checkpoint(world)?;
            Ok(Datum::Null)
        }
        "reset" => {
            let seed = match args.first() {
                Some(Datum::Int(seed)) => seed.cast_unsigned(),
                _ => world.db.options.seed,
            };
            reset(world, seed)?;
            Ok(Datum::Null)
        }
        "seed" => Ok(Datum::Int(world.db.options.seed.cast_signed())),
        "isolation" => {
            if let Some(level) = text(0) {
                world.db.options.level = parse_level(&level)?;
            }
            Ok(Datum::text(world.db.options.level.map_or("default", Level::id)))
        }
        "checking" => {
            if let Some(Datum::Bool(on)) = args.first() {
                world.session.reads = if *on { Reads::Latest } else { Reads::Any };
            }
            Ok(Datum::Bool(world.session.reads == Reads::Latest))
        }
        "history" => {
            let history = crate::session::history::history_in_pieces(world)?;
            Ok(Datum::text(history.to_string()))
        }
        other => {
            let message = format!("function skew.{other} does not exist");
            Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
        }
    }
}

/// A level by its id or by SQL's name; `default` is none.
pub fn parse_level(name: &str) -> Result<Option<Level>> {
    let word = name.trim();
    if word.eq_ignore_ascii_case("default") {
        return Ok(None);
    }
    word.parse::<AskedLevel>().map(|asked| Some(asked.level)).map_err(|_| {
        let message = format!("\"{name}\" is not an isolation level");
        let hint = match nearest(word, level_words()) {
            Some(known) => format!("Did you mean {known}?"),
            None => "Levels are ru, rc, ra, cc, pc, psi, si, ser, mvrc, and SQL's names.".to_owned(),
        };
        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).hint(hint)
    })
}

/// The transaction that asks is the only one that may be running.
fn must_be_alone(world: &World<'_>) -> Result<()> {
    let own = world.session.transaction.as_ref().and_then(|transaction| transaction.id);
    let others = world.db.running.keys().filter(|txn| Some(**txn) != own).count();
    if others > 0 {
        let message = format!("{others} other transactions are running");
        let hint = "Commit or roll them back before the checkpoint.";
        return Err(SqlError::new(SqlState::OBJECT_IN_USE, message).hint(hint));
    }
    Ok(())
}

fn checkpoint(world: &mut World<'_>) -> Result<()> {
    must_be_alone(world)?;
    if world.session.transaction.as_ref().is_some_and(|transaction| transaction.wrote) {
        let message = "a checkpoint cannot be made in a transaction that has changed data";
        return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
    }
    end_own(world)?;
    let state = &mut *world.db;
    state.store.checkpoint().map_err(|error| store_error(&error))?;
    state.log = state.log.take().map(|_| Vec::new());
    state.checkpoint = Checkpoint {
        catalog: state.catalog.clone(),
        sequences: state.sequences.clone(),
        added_cells: state.added_cells.clone(),
        again: state.again.clone(),
        roles: state.roles.clone(),
        counters: state.counters,
    };
    Ok(())
}

/// Back to the checkpoint. Transactions that run end without a trace, and their connections are told when they go on.
fn reset(world: &mut World<'_>, seed: u64) -> Result<()> {
    end_own(world)?;
    world.db.reset(seed)?;
    world.catalog = world.db.catalog.clone();
    world.session.tables = Default::default();
    if let Some(transaction) = &mut world.session.transaction {
        transaction.epoch = world.db.epoch;
        transaction.catalog = None;
    }
    world.db.changed();
    Ok(())
}

impl Database {
    /// Another database that is as this one was at its checkpoint. This one is at its checkpoint, too, afterwards.
    pub fn copy(&self) -> Result<Database> {
        self.copy_with(self.options())
    }

    /// The same, which reads as PostgreSQL does.
    pub fn copy_as_postgres(&self) -> Result<Database> {
        self.copy_with(Options { recency: Recency::Commit, choice: ChoiceKind::Postgres, ..self.options() })
    }

    fn copy_with(&self, options: Options) -> Result<Database> {
        let recency = options.recency;
        let copy = Database::new(options);
        let mut state = self.inner.hold();
        let seed = state.options.seed;
        state.reset(seed)?;
        let mut other = copy.inner.hold();
        other.store = state.store.clone();
        other.store.set_recency(recency);
        other.checkpoint = state.checkpoint.clone();
        other.reset(seed)?;
        drop(other);
        state.changed();
        drop(state);
        Ok(copy)
    }
}

impl State {
    /// Back to the checkpoint. Transactions that run end without a trace.
    pub(crate) fn reset(&mut self, seed: u64) -> Result<()> {
        let running: Vec<(TxnId, Owner)> = self.running.drain().collect();
        for (txn, owner) in running {
            if self.store.is_open(txn) {
                self.store.rollback(txn).map_err(|error| store_error(&error))?;
            }
            while self.locks.release_transaction(owner) == Released::Some {}
        }
        self.dependencies = Dependencies::default();
        self.store.reset().map_err(|error| store_error(&error))?;
        self.put_catalog(self.checkpoint.catalog.clone());
        self.sequences = self.checkpoint.sequences.clone();
        self.added_cells = self.checkpoint.added_cells.clone();
        self.again = self.checkpoint.again.clone();
        self.roles = self.checkpoint.roles.clone();
        self.counters = self.checkpoint.counters;
        self.epoch += 1;
        self.log = self.log.take().map(|_| Vec::new());
        self.gone.clear();
        self.seed(seed);
        Ok(())
    }
}

/// The transaction in which the function was called ends without a trace.
fn end_own(world: &mut World<'_>) -> Result<()> {
    let id = world.session.transaction.as_mut().and_then(|transaction| transaction.id.take());
    if let Some(id) = id {
        world.db.running.remove(&id);
        world.db.dependencies.roll_back(id);
        if world.db.store.is_open(id) {
            world.db.store.rollback(id).map_err(|error| store_error(&error))?;
        }
    }
    world.forget_seen();
    Ok(())
}
