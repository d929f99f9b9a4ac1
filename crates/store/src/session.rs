//! Sessions: a client's connection, for plain and for async code.

use skew_model::{Level, SessionId, TxnId};

use crate::call::{Call, drive};
use crate::candidates::Reads;
use crate::choice::Choice;
use crate::database::Database;
use crate::error::Error;
use crate::store::Step;
use crate::transaction::{AsyncTransaction, Transaction, TransactionCore};

/// What both kinds of sessions are made of.
pub(crate) struct SessionCore {
    pub(crate) database: Database,
    pub(crate) id: SessionId,
    pub(crate) reads: Reads,
}

impl SessionCore {
    fn begin(&self, level: Level) -> impl Future<Output = Result<TxnId, Error>> + '_ {
        let (id, reads) = (self.id, self.reads);
        Call::begin(&self.database.shared, move |state| {
            let txn = state.store.begin(id, level, reads)?;
            if let Some(place) = state.store.place(txn.0) {
                state.choice.began(place);
            }
            if let Some(scheduler) = &mut state.scheduler {
                scheduler.began(txn, id);
            }
            Ok(Step::Done(txn))
        })
    }

    fn level(&self) -> Level {
        self.database.shared.level
    }

    fn transaction(&self, txn: TxnId) -> TransactionCore<'_> {
        TransactionCore::new(&self.database.shared, txn)
    }
}

/// A client's connection. It has one transaction at a time.
pub struct Session {
    core: SessionCore,
}

impl Session {
    pub(crate) fn new(core: SessionCore) -> Session {
        Session { core }
    }

    /// Its number, from zero in the order in which sessions were made.
    pub fn id(&self) -> SessionId {
        self.core.id
    }

    /// The database that it is connected to.
    pub fn database(&self) -> &Database {
        &self.core.database
    }

    /// Begins a transaction at the database's level.
    pub fn begin(&self) -> Result<Transaction<'_>, Error> {
        self.begin_at(self.core.level())
    }

    /// Begins a transaction at this level.
    pub fn begin_at(&self, level: Level) -> Result<Transaction<'_>, Error> {
        let txn = drive(self.core.begin(level))?;
        Ok(Transaction::new(self.core.transaction(txn)))
    }

    /// Runs a transaction: commits when the body succeeds, rolls back when it fails.
    pub fn transaction<T>(&self, body: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.transaction_at(self.core.level(), body)
    }

    /// Runs a transaction at this level.
    pub fn transaction_at<T>(
        &self,
        level: Level,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let transaction = self.begin_at(level)?;
        let value = body(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Runs a transaction, and runs it again after a conflict or a deadlock, as often as said in all.
    pub fn retry<T>(
        &self,
        attempts: usize,
        mut body: impl FnMut(&Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut left = attempts;
        loop {
            left = left.saturating_sub(1);
            match self.transaction(&mut body) {
                Err(error) if error.is_retryable() && left > 0 => {}
                result => return result,
            }
        }
    }
}

/// A client's connection for async code: it never blocks the thread.
pub struct AsyncSession {
    core: SessionCore,
}

impl AsyncSession {
    pub(crate) fn new(core: SessionCore) -> AsyncSession {
        AsyncSession { core }
    }

    /// Its number, from zero in the order in which sessions were made.
    pub fn id(&self) -> SessionId {
        self.core.id
    }

    /// The database that it is connected to.
    pub fn database(&self) -> &Database {
        &self.core.database
    }

    /// Begins a transaction at the database's level.
    pub async fn begin(&self) -> Result<AsyncTransaction<'_>, Error> {
        self.begin_at(self.core.level()).await
    }

    /// Begins a transaction at this level.
    pub async fn begin_at(&self, level: Level) -> Result<AsyncTransaction<'_>, Error> {
        let txn = self.core.begin(level).await?;
        Ok(AsyncTransaction::new(self.core.transaction(txn)))
    }

    /// Runs a transaction: commits when the body succeeds, rolls back when it fails.
    pub async fn transaction<'s, T, B>(&'s self, body: impl FnOnce(AsyncTransaction<'s>) -> B) -> Result<T, Error>
    where
        B: Future<Output = Result<T, Error>>,
    {
        let transaction = self.begin().await?;
        let value = body(transaction.clone()).await?;
        transaction.commit().await?;
        Ok(value)
    }

    /// Runs a transaction, and runs it again after a conflict or a deadlock, as often as said in all.
    pub async fn retry<'s, T, B>(
        &'s self,
        attempts: usize,
        mut body: impl FnMut(AsyncTransaction<'s>) -> B,
    ) -> Result<T, Error>
    where
        B: Future<Output = Result<T, Error>>,
    {
        let mut left = attempts;
        loop {
            left = left.saturating_sub(1);
            match self.transaction(&mut body).await {
                Err(error) if error.is_retryable() && left > 0 => {}
                result => return result,
            }
        }
    }
}
