//! How transactions end: commit, rollback, failure.

use crate::error::{Result, SqlError, SqlState};
use crate::session::Message;
use crate::session::connection::SessionState;
use crate::session::database::{Held, State};
use crate::session::transaction::{Block, Transaction};
use crate::settings;
use crate::storage::World;
use crate::storage::conflict::{dangerous, store_error};

impl World<'_> {
    /// Commits the running transaction, if there is one. Says whether it did; a failed one is rolled back instead.
    pub(crate) fn commit(&mut self) -> Result<bool> {
        let Some(transaction) = &self.session.transaction else { return Ok(true) };
        if transaction.failed {
            self.session.roll_back(&mut self.db);
            return Ok(false);
        }
        let outcome = self.before_commit();
        if let Err(error) = outcome {
            self.session.note_refusal(&mut self.db, &error);
            self.session.roll_back(&mut self.db);
            return Err(error);
        }
        let committed = self.session.commit(&mut self.db);
        if let Err(error) = &committed {
            self.session.note_refusal(&mut self.db, error);
        }
        committed.map(|()| true)
    }

    fn before_commit(&mut self) -> Result<()> {
        self.session.close_cursors(false);
        self.run_deferred(None)?;
        crate::session::temporary::on_commit(self)
    }
}

impl SessionState {
    /// A client that is told to try again will not be refused for the same reason: see [`skew_store::Store::sees_all_next`].
    /// Exploration leaves this out, because it shows all that the level allows.
    pub(crate) fn note_refusal(&self, state: &mut State, error: &SqlError) {
        if !state.choice.is_guided()
            && [SqlState::SERIALIZATION_FAILURE, SqlState::DEADLOCK_DETECTED]
                .iter()
                .any(|code| code.0 == error.fields().code)
        {
            state.store.sees_all_next(self.identity.session);
        }
    }

    /// Commits; after an error the transaction is rolled back.
    fn commit(&mut self, state: &mut Held<'_>) -> Result<()> {
        let Some(mut transaction) = self.transaction.take() else { return Ok(()) };
        if let Some(id) = transaction.id {
            if transaction.epoch != state.epoch {
                self.restore(&mut transaction);
                return Err(SqlError::new(
                    SqlState::SERIALIZATION_FAILURE,
                    "the database was reset while the transaction ran",
                ));
            }
            state.running.remove(&id);
            let committed = match state.dependencies.commit(id) {
                Ok(()) => state.store.commit(id).map_err(|error| store_error(&error)),
                Err(danger) => Err(dangerous(danger)),
            };
            if let Err(error) = committed {
                state.dependencies.roll_back(id);
                if state.store.is_open(id) {
                    state.store.rollback(id).expect("an open transaction can be rolled back");
                }
                self.restore(&mut transaction);
                self.clear_up(state);
                return Err(error);
            }
        }
        if let Some(catalog) = transaction.catalog.take() {
            let merged = crate::catalog::merge::merge(&transaction.catalog_base, catalog, &state.catalog);
            state.publish(merged);
        }
        if state.running.is_empty() {
            // No running transaction has seen the rows where they were.
            state.moved.clear();
        }
        for (name, before) in transaction.local_settings.drain(..).rev() {
            self.put_back(&name, &before);
        }
        self.send(state, &transaction);
        self.clear_up(state);
        Ok(())
    }

    /// Rolls the running transaction back, if there is one.
    pub(crate) fn roll_back(&mut self, state: &mut Held<'_>) {
        self.close_cursors(true);
        let Some(mut transaction) = self.transaction.take() else { return };
        if let Some(id) = transaction.id
            && transaction.epoch == state.epoch
        {
            state.running.remove(&id);
            state.dependencies.roll_back(id);
            state.forget_moves(id);
            if state.store.is_open(id) {
                state.store.rollback(id).expect("an open transaction can be rolled back");
            }
        }
        self.restore(&mut transaction);
        self.clear_up(state);
    }

    /// What is left to do when the transaction has ended, which others can see by now: its locks are given back, and the
    /// store forgets what is too old. After a large transaction both take long, so others go on in between.
    fn clear_up(&self, state: &mut Held<'_>) {
        let owner = self.identity.owner;
        state.in_pieces(|state| state.locks.release_transaction(owner));
        state.changed();
        state.let_others_go_on();
        state.store.forget();
    }

    /// A statement has failed: in a block the transaction stays until somebody ends it, but holds no locks any more.
    pub(crate) fn fail(&mut self, state: &mut Held<'_>) {
        let owner = self.identity.owner;
        let Some(transaction) = &mut self.transaction else { return };
        if transaction.block == Block::Implicit {
            self.roll_back(state);
            return;
        }
        transaction.failed = true;
        let id = transaction.id.filter(|&id| transaction.epoch == state.epoch && state.store.is_open(id));
        if let Some(id) = id {
            state.forget_moves(id);
        }
        match transaction.savepoints.last() {
            // The last savepoint may bring it back to life: what came after is gone, what was before stays.
            Some(savepoint) => {
                if let (Some(id), Some(mark)) = (id, savepoint.mark) {
                    state.store.rollback_to(id, mark).expect("a savepoint of an open transaction can be come back to");
                }
                let locks = savepoint.locks;
                state.in_pieces(|state| state.locks.release_since(owner, locks));
                state.locks.reconsider(owner);
            }
            None => {
                if let Some(id) = id {
                    state.store.rollback(id).expect("an open transaction can be rolled back");
                }
                if let Some(id) = transaction.id.filter(|_| transaction.epoch == state.epoch) {
                    state.running.remove(&id);
                    state.dependencies.roll_back(id);
                }
                self.clear_up(state);
            }
        }
        state.locks.stop_waiting(owner);
        state.changed();
    }

    /// Settings are as they were before the transaction.
    fn restore(&mut self, transaction: &mut Transaction) {
        let told = settings::startup(&self.settings);
        self.settings = transaction.settings_before.clone();
        for (name, value) in settings::startup(&self.settings) {
            if !told.contains(&(name.clone(), value.clone())) {
                self.messages.push(Message::Parameter(name, value));
            }
        }
    }

    fn put_back(&mut self, name: &str, before: &str) {
        if let Ok(Some((name, value))) = settings::set(&mut self.settings, &self.defaults, name, Some(before)) {
            self.messages.push(Message::Parameter(name, value));
        }
    }

    /// NOTIFY reaches those who listen with the commit.
    fn send(&mut self, state: &mut State, transaction: &Transaction) {
        for (channel, payload) in transaction.notifications.iter() {
            let message =
                Message::Notification { pid: self.client.pid, channel: channel.clone(), payload: payload.clone() };
            for (&owner, other) in &state.connections {
                if !other.listens.contains(channel) {
                    continue;
                }
                let is_other = owner != self.identity.owner;
                other.mailbox.deliver(&message, |message| is_other && (other.tell)(message));
            }
        }
    }

    /// Cursors end with their transaction, those WITH HOLD only if it is rolled back.
    pub(crate) fn close_cursors(&mut self, rolled_back: bool) {
        self.cursors.retain(|_, cursor| cursor.holds && (!rolled_back || cursor.committed));
        if !rolled_back {
            self.cursors.values_mut().for_each(|cursor| cursor.committed = true);
        }
    }
}
