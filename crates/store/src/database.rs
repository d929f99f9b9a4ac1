//! The handle of a weak database: cloned freely, used from threads, from async tasks, and from the sessions of a run.

use std::sync::Arc;

use skew_model::{History, Level};

use crate::candidates::Reads;
use crate::choice::Choice;
use crate::error::Error;
use crate::picks::Recorder;
use crate::run::Config;
use crate::session::{AsyncSession, Session, SessionCore};
use crate::shared::Shared;
use crate::strategies::Random;
use crate::transaction::Transaction;
use crate::value::Value;

/// A database that behaves as badly as its isolation level allows.
///
/// Outside of a [run](crate::run()) sessions interleave as their threads or tasks do, and what reads return is chosen
/// at random from the seed. Calls return at once, except that a write at `mvrc` waits for the row's lock: [`Session`]
/// parks its thread for that, [`AsyncSession`] lets the runtime go on.
///
/// ```
/// use skew_store::{Database, Error};
/// use skew_model::Level;
///
/// let db = Database::new(Level::Cc, 7);
/// db.init("stock", 3);
/// let session = db.session("alice");
/// let left = session.transaction(|t| {
///     let stock: i64 = t.read("stock")?;
///     t.write("stock", stock - 1)?;
///     Ok(stock - 1)
/// })?;
/// assert_eq!(left, 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Database {
    pub(crate) shared: Arc<Shared>,
}

impl Database {
    /// A database whose transactions run at this level unless they say otherwise, and whose reads are chosen at random.
    pub fn new(level: Level, seed: u64) -> Database {
        Database::with_choice(&Config::new(level), Box::new(Random::new(seed)))
    }

    /// A database that asks this choice.
    pub fn with_choice(config: &Config, choice: Box<dyn Choice + Send>) -> Database {
        Database { shared: Shared::new(config.options(), config.level, Recorder::off(choice)) }
    }

    /// Gives a key its value before the first transaction.
    ///
    /// # Panics
    /// When a transaction has used the key already.
    #[track_caller]
    pub fn init(&self, key: &str, value: impl Into<Value>) {
        let mut state = self.shared.lock();
        let id = state.store.key(key);
        let result = state.store.init(id, value.into());
        drop(state);
        if let Err(error) = result {
            panic!("{error}");
        }
    }

    /// A new session: a client's connection. A name that is taken gets a number.
    pub fn session(&self, name: &str) -> Session {
        Session::new(self.open_session(name, Reads::Any))
    }

    /// A new session for async code.
    pub fn async_session(&self, name: &str) -> AsyncSession {
        AsyncSession::new(self.open_session(name, Reads::Any))
    }

    /// Looks at what has come out of it: a transaction of a session of its own, whose reads agree with each other and
    /// see what all transactions have left. What the body returns is returned.
    ///
    /// # Panics
    /// When the body fails, as with a value of another kind.
    #[track_caller]
    pub fn check<T>(&self, body: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> T {
        self.check_with(Reads::Settled, body)
    }

    /// Like [`Database::check`], with the reads that are asked for.
    #[track_caller]
    pub fn check_with<T>(&self, reads: Reads, body: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> T {
        // Reads of weaker levels need not agree with each other.
        let level = match self.shared.level {
            Level::Ru | Level::Ec | Level::Rc | Level::Ra => Level::Cc,
            Level::Mvrc | Level::PgRc => Level::Pc,
            level => level,
        };
        let session = Session::new(self.open_session("check", reads));
        match session.transaction_at(level, body) {
            Ok(value) => value,
            Err(error) => panic!("the check could not be made: {error}"),
        }
    }

    /// Everything that transactions have done so far.
    pub fn history(&self) -> History {
        self.shared.lock().store.history(Value::literal)
    }

    fn open_session(&self, name: &str, reads: Reads) -> SessionCore {
        let id = self.shared.lock().session(name);
        SessionCore { database: self.clone(), id, reads }
    }
}
