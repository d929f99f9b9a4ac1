//! Open transactions: guards that roll back when they are dropped, for plain and for async code.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use skew_model::TxnId;

use crate::call::{Call, drive};
use crate::choice::Choice;
use crate::convert::{FromValue, convert};
use crate::error::Error;
use crate::shared::{Shared, State};
use crate::store::Step;
use crate::value::Value;

/// What a key holds or shall hold: a value, or nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content(Option<Value>);

impl<T: Into<Value>> From<T> for Content {
    fn from(value: T) -> Self {
        Content(Some(value.into()))
    }
}

impl<T: Into<Value>> From<Option<T>> for Content {
    fn from(value: Option<T>) -> Self {
        Content(value.map(Into::into))
    }
}

/// A key and what it holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Entry<T> {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: T,
}

/// What both kinds of transactions are made of. Rolls back when it is dropped, without giving others a turn.
pub(crate) struct TransactionCore<'s> {
    shared: &'s Shared,
    txn: TxnId,
    wrote: AtomicBool,
}

impl<'s> TransactionCore<'s> {
    pub(crate) fn new(shared: &'s Shared, txn: TxnId) -> Self {
        TransactionCore { shared, txn, wrote: AtomicBool::new(false) }
    }

    fn read(&self, key: &str) -> impl Future<Output = Result<Option<Value>, Error>> {
        let txn = self.txn;
        Call::within(self.shared, txn, move |state| {
            state.store.statement(txn)?;
            let key = state.store.key(key);
            state.store.read(txn, key, &mut state.choice).map(Step::Done)
        })
    }

    fn write(&self, key: &str, value: Option<Value>) -> impl Future<Output = Result<(), Error>> {
        let txn = self.txn;
        self.wrote.store(true, Ordering::Relaxed);
        let mut statement = false;
        Call::within(self.shared, txn, move |state| {
            if !std::mem::replace(&mut statement, true) {
                state.store.statement(txn)?;
            }
            let key = state.store.key(key);
            state.store.write(txn, key, value.clone())
        })
    }

    fn scan(&self, prefix: &str) -> impl Future<Output = Result<Vec<Entry<Value>>, Error>> {
        let txn = self.txn;
        Call::within(self.shared, txn, move |state| {
            state.store.statement(txn)?;
            let found = state.store.scan(txn, prefix, &mut state.choice)?;
            let entry = |(key, value)| Entry { key: state.store.key_name(key).into_owned(), value };
            Ok(Step::Done(found.into_iter().map(entry).collect()))
        })
    }

    fn compare_and_set(&self, key: &str, expected: Content, new: Content) -> impl Future<Output = Result<bool, Error>> {
        let txn = self.txn;
        self.wrote.store(true, Ordering::Relaxed);
        let (mut statement, mut equal) = (false, false);
        Call::within(self.shared, txn, move |state| {
            let key = state.store.key(key);
            if !std::mem::replace(&mut statement, true) {
                state.store.statement(txn)?;
            }
            if !equal {
                let wants = |found: Option<&Value>| found == expected.0.as_ref();
                match state.store.read_for_update(txn, key, &wants, &mut state.choice)? {
                    Step::Wait(holder) => return Ok(Step::Wait(holder)),
                    Step::Done(found) if found != expected.0 => return Ok(Step::Done(false)),
                    Step::Done(_) => equal = true,
                }
            }
            Ok(match state.store.write(txn, key, new.0.clone())? {
                Step::Wait(holder) => Step::Wait(holder),
                Step::Done(()) => Step::Done(true),
            })
        })
    }

    fn commit(&self) -> impl Future<Output = Result<(), Error>> {
        let txn = self.txn;
        Call::within(self.shared, txn, move |state| {
            if state.store.may_be_refused(txn)
                && let Some(place) = state.store.place(txn.0)
                && state.choice.refuses(place)
            {
                return Err(state.store.refuse_commit(txn));
            }
            state.store.commit(txn).map(Step::Done)
        })
    }

    fn rollback(&self) -> impl Future<Output = Result<(), Error>> {
        let txn = self.txn;
        Call::within(self.shared, txn, move |state| state.store.rollback(txn).map(Step::Done))
    }
}

impl TransactionCore<'_> {
    /// Whether what it read is why its session panics, most likely: then it belongs to the history that explains it. It
    /// changes nothing for others, because it has only read.
    fn is_evidence(&self, state: &State) -> bool {
        let failing = state.scheduler.as_ref().is_some_and(|scheduler| !scheduler.has_failed());
        failing && std::thread::panicking() && !self.wrote.load(Ordering::Relaxed)
    }
}

impl Drop for TransactionCore<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if !state.store.is_open(self.txn) {
            return;
        }
        if self.is_evidence(&state) {
            // A conflict that keeps it from committing has rolled it back.
            let _ = state.store.commit(self.txn);
        } else {
            state.store.rollback(self.txn).expect("an open transaction can be rolled back");
        }
        let wakers = state.release(self.txn);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

fn entries<T: FromValue>(found: Vec<Entry<Value>>) -> Result<Vec<Entry<T>>, Error> {
    let convert = |entry: Entry<Value>| {
        let value = convert(&entry.key, Some(entry.value))?;
        Ok(Entry { key: entry.key, value })
    };
    found.into_iter().map(convert).collect()
}

/// An open transaction. Dropped, it is rolled back.
///
/// Each call is a statement of its own. After a conflict or a deadlock the store has rolled the transaction back, and
/// every further call is [`Error::Finished`]. A transaction that was ended cannot be used by mistake:
///
/// ```compile_fail,E0382
/// # fn example(session: skew_store::Session) -> Result<(), skew_store::Error> {
/// let t = session.begin()?;
/// t.commit()?;
/// t.write("x", 1)?;
/// # Ok(())
/// # }
/// ```
pub struct Transaction<'s> {
    core: TransactionCore<'s>,
}

impl<'s> Transaction<'s> {
    pub(crate) fn new(core: TransactionCore<'s>) -> Self {
        Transaction { core }
    }

    /// What a key holds. A key that nobody has written or that was deleted can be read as an `Option`.
    pub fn read<T: FromValue>(&self, key: &str) -> Result<T, Error> {
        convert(key, drive(self.core.read(key))?)
    }

    /// Gives a key a value.
    pub fn write(&self, key: &str, value: impl Into<Value>) -> Result<(), Error> {
        drive(self.core.write(key, Some(value.into())))
    }

    /// Takes a key's value away.
    pub fn delete(&self, key: &str) -> Result<(), Error> {
        drive(self.core.write(key, None))
    }

    /// The keys that start like this and hold something, in ascending order.
    pub fn scan<T: FromValue>(&self, prefix: &str) -> Result<Vec<Entry<T>>, Error> {
        entries(drive(self.core.scan(prefix))?)
    }

    /// Gives a key a new value if it holds what is expected, in one statement; says whether it did.
    pub fn compare_and_set(
        &self,
        key: &str,
        expected: impl Into<Content>,
        new: impl Into<Content>,
    ) -> Result<bool, Error> {
        drive(self.core.compare_and_set(key, expected.into(), new.into()))
    }

    /// Ends the transaction and keeps what it wrote.
    pub fn commit(self) -> Result<(), Error> {
        drive(self.core.commit())
    }

    /// Ends the transaction as if it had never been.
    pub fn rollback(self) -> Result<(), Error> {
        drive(self.core.rollback())
    }
}

/// An open transaction of async code. When the last handle is dropped, it is rolled back.
#[derive(Clone)]
pub struct AsyncTransaction<'s> {
    core: Arc<TransactionCore<'s>>,
}

impl<'s> AsyncTransaction<'s> {
    pub(crate) fn new(core: TransactionCore<'s>) -> Self {
        AsyncTransaction { core: Arc::new(core) }
    }

    /// What a key holds. A key that nobody has written or that was deleted can be read as an `Option`.
    pub async fn read<T: FromValue>(&self, key: &str) -> Result<T, Error> {
        convert(key, self.core.read(key).await?)
    }

    /// Gives a key a value.
    pub async fn write(&self, key: &str, value: impl Into<Value>) -> Result<(), Error> {
        self.core.write(key, Some(value.into())).await
    }

    /// Takes a key's value away.
    pub async fn delete(&self, key: &str) -> Result<(), Error> {
        self.core.write(key, None).await
    }

    /// The keys that start like this and hold something, in ascending order.
    pub async fn scan<T: FromValue>(&self, prefix: &str) -> Result<Vec<Entry<T>>, Error> {
        entries(self.core.scan(prefix).await?)
    }

    /// Gives a key a new value if it holds what is expected, in one statement; says whether it did.
    pub async fn compare_and_set(
        &self,
        key: &str,
        expected: impl Into<Content>,
        new: impl Into<Content>,
    ) -> Result<bool, Error> {
        self.core.compare_and_set(key, expected.into(), new.into()).await
    }

    /// Ends the transaction and keeps what it wrote.
    pub async fn commit(self) -> Result<(), Error> {
        self.core.commit().await
    }

    /// Ends the transaction as if it had never been.
    pub async fn rollback(self) -> Result<(), Error> {
        self.core.rollback().await
    }
}
