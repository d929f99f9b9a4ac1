//! A connection's transaction: blocks, savepoints, commit and rollback, and at which level it runs.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use skew_model::{Level, SessionId, TxnId};
use skew_store::{Mark, Reads};

use crate::catalog::{Catalog, Oid};
pub use crate::parse::statement::Isolation;

use crate::change::foreign_keys::Deferred;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Settings;
use crate::session::Options;
use crate::session::database::{Held, State};
use crate::storage::conflict::{concurrent_update, store_error};
use crate::storage::locks::{LockMark, Owner};
use crate::storage::serializable::is_watched;

/// At which level a transaction runs. PostgreSQL's READ UNCOMMITTED is its READ COMMITTED.
pub(crate) fn level(isolation: Isolation, options: &Options) -> Level {
    options.level.unwrap_or(isolation.level())
}

/// How a transaction block was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Block {
    /// By a statement outside of a block; ends with the query or pipeline.
    Implicit,
    /// By BEGIN.
    Explicit,
}

/// A running transaction.
pub(crate) struct Transaction {
    /// The store's, once a statement needed it: like PostgreSQL's snapshot it begins with the first one, not with BEGIN.
    pub(crate) id: Option<TxnId>,
    pub(crate) level: Level,
    pub(crate) block: Block,
    pub(crate) failed: bool,
    pub(crate) isolation: Isolation,
    pub(crate) read_only: bool,
    pub(crate) deferrable: bool,
    /// Its own catalog, once it has changed something there.
    pub(crate) catalog: Option<Arc<Catalog>>,
    /// The catalog that its own one was made from.
    pub(crate) catalog_base: Arc<Catalog>,
    pub(crate) savepoints: Vec<Savepoint>,
    /// What is checked at the end. Savepoints share it until it changes.
    pub(crate) deferred: Arc<VecDeque<Deferred>>,
    /// SET CONSTRAINTS: by constraint, or for all (`None`), whether deferred.
    pub(crate) constraint_modes: Vec<(Option<Oid>, bool)>,
    pub(crate) settings_before: Arc<Settings>,
    /// What SET LOCAL has changed: comes back at the end.
    pub(crate) local_settings: Vec<(String, String)>,
    /// Microseconds since 2000.
    pub(crate) began: i64,
    pub(crate) epoch: u64,
    /// NOTIFYs to be sent with the commit.
    pub(crate) notifications: Notifications,
    /// Temporary tables whose rows go, or which go themselves, with the commit.
    pub(crate) wrote: bool,
    /// About how many bytes it has written.
    pub(crate) written: usize,
    /// Rows that it has locked by FOR UPDATE and its kind, by ON CONFLICT DO UPDATE, or to delete them.
    pub(crate) locked_rows: FxHashSet<u32>,
}

/// NOTIFYs of a transaction, each once, in order.
#[derive(Default)]
pub(crate) struct Notifications {
    list: Vec<Arc<(String, String)>>,
    known: FxHashSet<Arc<(String, String)>>,
}

impl Notifications {
    /// Adds one; the same one twice in a transaction is sent once. About how many bytes it takes.
    pub(crate) fn add(&mut self, channel: &str, payload: &str) -> usize {
        /// The texts, the list and the set.
        const EACH: usize = 200;
        let notification = Arc::new((channel.to_owned(), payload.to_owned()));
        if !self.known.insert(notification.clone()) {
            return 0;
        }
        self.list.push(notification);
        EACH + channel.len() + payload.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes the later ones back.
    fn truncate(&mut self, count: usize) {
        for gone in self.list.drain(count.min(self.list.len())..) {
            self.known.remove(&gone);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, String)> {
        self.list.iter().map(|notification| &**notification)
    }
}

/// A place to come back to.
pub(crate) struct Savepoint {
    pub(crate) name: String,
    pub(crate) mark: Option<Mark>,
    pub(crate) locks: LockMark,
    pub(crate) catalog: Option<Arc<Catalog>>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) deferred: Arc<VecDeque<Deferred>>,
    pub(crate) constraint_modes: Vec<(Option<Oid>, bool)>,
    pub(crate) notifications: usize,
    /// READ ONLY as it was: what SET TRANSACTION says after the savepoint ends with it.
    pub(crate) read_only: bool,
}

/// A connection's number as the store's session and as the owner of locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) session: SessionId,
    pub(crate) owner: Owner,
}

impl Transaction {
    /// Whether a statement outside of a block opened it.
    pub(crate) fn is_implicit(&self) -> bool {
        self.block == Block::Implicit
    }

    /// Its transaction in the store, begun if need be.
    pub(crate) fn begin(&mut self, state: &mut State, who: Identity, reads: Reads) -> Result<TxnId> {
        if self.epoch != state.epoch {
            return Err(SqlError::new(
                SqlState::SERIALIZATION_FAILURE,
                "the database was reset while the transaction ran",
            ));
        }
        if let Some(id) = self.id {
            return Ok(id);
        }
        let id = state.store.begin(who.session, self.level, reads).map_err(|error| store_error(&error))?;
        state.choice.began(who.session.0);
        state.running.insert(id, who.owner);
        if is_watched(self.level) && !self.read_only {
            state.serializable_writers.retain(|txn| state.running.contains_key(txn));
            state.serializable_writers.push(id);
        }
        if is_watched(self.level) && reads == Reads::Snapshot {
            state.dependencies.begin(id, self.read_only);
        }
        self.id = Some(id);
        // Coming back to a savepoint from before keeps the transaction, and with it its snapshot.
        for savepoint in &mut self.savepoints {
            savepoint.mark = Some(state.store.savepoint(id).map_err(|error| store_error(&error))?);
        }
        Ok(id)
    }

    /// Takes note of where it stands.
    pub(crate) fn savepoint(
        &mut self,
        state: &mut State,
        owner: Owner,
        name: &str,
        settings: &Arc<Settings>,
    ) -> Result<()> {
        let mark = match self.id {
            Some(id) => Some(state.store.savepoint(id).map_err(|error| store_error(&error))?),
            None => None,
        };
        self.savepoints.push(Savepoint {
            name: name.to_owned(),
            mark,
            locks: state.locks.mark(owner),
            catalog: self.catalog.clone(),
            settings: settings.clone(),
            deferred: self.deferred.clone(),
            constraint_modes: self.constraint_modes.clone(),
            notifications: self.notifications.len(),
            read_only: self.read_only,
        });
        Ok(())
    }

    /// Comes back to the savepoint at this place of the list, which stays.
    pub(crate) fn roll_back_to(
        &mut self,
        state: &mut Held<'_>,
        owner: Owner,
        at: usize,
        settings: &mut Arc<Settings>,
    ) -> Result<()> {
        self.savepoints.truncate(at + 1);
        let savepoint = &self.savepoints[at];
        match (self.id, savepoint.mark) {
            (Some(id), Some(mark)) if state.store.is_open(id) => {
                state.store.rollback_to(id, mark).map_err(|error| store_error(&error))?;
                state.forget_moves(id);
            }
            (Some(_), _) => return Err(concurrent_update()),
            (None, _) => {}
        }
        let locks = savepoint.locks;
        state.in_pieces(|state| state.locks.release_since(owner, locks));
        state.locks.reconsider(owner);
        self.catalog = savepoint.catalog.clone();
        *settings = savepoint.settings.clone();
        self.deferred = savepoint.deferred.clone();
        self.constraint_modes = savepoint.constraint_modes.clone();
        self.notifications.truncate(savepoint.notifications);
        self.read_only = savepoint.read_only;
        self.failed = false;
        state.changed();
        Ok(())
    }

    /// Forgets the savepoint at this place of the list, and those after it.
    pub(crate) fn release(&mut self, at: usize) {
        if let Some(savepoint) = self.savepoints.get(at) {
            self.read_only = savepoint.read_only;
        }
        self.savepoints.truncate(at);
    }

    /// The place of the last savepoint with this name.
    pub(crate) fn find_savepoint(&self, name: &str) -> Result<usize> {
        self.savepoints.iter().rposition(|savepoint| savepoint.name == name).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_SAVEPOINT_SPECIFICATION, format!("savepoint \"{name}\" does not exist"))
        })
    }
}
