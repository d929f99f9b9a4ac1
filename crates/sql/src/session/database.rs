//! A database: what all its connections share, behind one mutex that a statement gives up while it sleeps or computes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use skew_model::Key;
use skew_model::TxnId;
use skew_store::Store;
use skew_store::strategies::Dice;

use crate::catalog::{Catalog, FIRST_USER_OID, Oid, Relation, Sequence};
use crate::schema::sequence::SequenceState;
use crate::session::control::Checkpoint;
use crate::session::recording::Asked;
use crate::session::steering::Steering;
use crate::session::{Client, Connection, Message, Options};
use crate::storage::locks::{Locks, Owner, Released};
use crate::storage::look::Claim;
use crate::storage::ssi::Dependencies;
use crate::types::Datum;

/// How often a thread lets others go first before it sleeps until the state is free. Statements are short: most often the
/// state is free again before a thread could have been put to sleep and woken.
const YIELDS: usize = 4;

/// A database: cloned freely, used from many threads.
#[derive(Clone)]
pub struct Database {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    state: Mutex<State>,
    /// How often something has changed that sleepers wait for. They wait for the next change without asking for the state,
    /// so that a cancelled or late sleeper notices it while another statement computes.
    changes: Mutex<u64>,
    changed: Condvar,
    /// How many connections sleep until something changes.
    sleepers: AtomicUsize,
    /// How many wait for the state.
    waiting: AtomicUsize,
    /// The version of its catalog.
    version: Arc<AtomicU64>,
}

/// Everything that connections share.
pub(crate) struct State {
    pub(crate) options: Options,
    pub(crate) store: Store<Datum>,
    pub(crate) choice: Steering,
    pub(crate) catalog: Arc<Catalog>,
    version: Arc<AtomicU64>,
    pub(crate) locks: Locks,
    pub(crate) sequences: FxHashMap<Oid, SequenceState>,
    pub(crate) counters: Counters,
    random: Dice,
    next_owner: Owner,
    /// The connections, by number.
    pub(crate) connections: BTreeMap<Owner, Activity>,
    /// Whose transactions are running.
    pub(crate) running: FxHashMap<TxnId, Owner>,
    /// Cells of columns that were added after their rows: by existence cell and the column's cell.
    pub(crate) added_cells: FxHashMap<(u32, u32), Key>,
    /// The roles that were created.
    pub(crate) roles: BTreeSet<String>,
    /// Rows with the same key as an earlier one, by that one.
    pub(crate) again: FxHashMap<u32, Vec<u32>>,
    /// Rows whose keys running transactions, or others meanwhile, have changed: who did, and which row it is now.
    pub(crate) moved: FxHashMap<u32, (TxnId, u32)>,
    /// Serializable transactions that are not READ ONLY; some of them may have ended.
    pub(crate) serializable_writers: Vec<TxnId>,
    /// What serializable transactions depend on each other for, where Skew does as PostgreSQL does.
    pub(crate) dependencies: Dependencies,
    /// Keys of unique indexes that those who wait for another key are about to take.
    pub(crate) claims: FxHashMap<Owner, Vec<Claim>>,
    /// What functions were compiled to, from one guided run to the next: the runs of a client call the same ones.
    pub(crate) shelf: Option<crate::plpgsql::Programs>,
    /// What clients have asked for, if that is kept.
    pub(crate) log: Option<Vec<Asked>>,
    /// Tables and indexes that were dropped or emptied while that was kept: what happened there has a name still.
    pub(crate) gone: Vec<Arc<Relation>>,
    /// What a reset comes back to; at first the empty database.
    pub(crate) checkpoint: Checkpoint,
    /// Grows with every reset: transactions of before are gone.
    pub(crate) epoch: u64,
}

/// How many objects and rows have got numbers.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counters {
    objects: Oid,
    rows: u64,
}

/// What others can see of a connection.
#[derive(Clone)]
pub(crate) struct Activity {
    pub(crate) pid: i32,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) application: String,
    pub(crate) state: &'static str,
    pub(crate) query: Arc<str>,
    pub(crate) listens: Vec<String>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) cancel: super::Cancel,
    pub(crate) tell: Arc<dyn Fn(&Message) -> bool + Send + Sync>,
}

/// What others have to tell a client that was busy. It looks there after every statement, without asking for the
/// database.
#[derive(Default)]
pub(crate) struct Mailbox(Mutex<Vec<Message>>);

impl Mailbox {
    /// Puts a message there unless the client can be told at once. A client that becomes idle meanwhile waits here, and
    /// finds it.
    pub(crate) fn deliver(&self, message: &Message, tell: impl FnOnce(&Message) -> bool) {
        let mut messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !tell(message) {
            messages.push(message.clone());
        }
    }

    pub(crate) fn empty_into(&self, messages: &mut Vec<Message>) {
        messages.append(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Database {
    /// An empty database.
    pub fn new(options: Options) -> Database {
        let mut store = Store::new(super::choices::store_options(&options));
        store.checkpoint().expect("an empty store has no transactions");
        let catalog = Arc::new(Catalog::default());
        let version = Arc::new(AtomicU64::new(catalog.version));
        let state = State {
            store,
            choice: Steering::new(&options),
            catalog,
            version: version.clone(),
            locks: Locks::default(),
            sequences: FxHashMap::default(),
            counters: Counters::default(),
            random: random_numbers(options.seed),
            next_owner: 0,
            connections: BTreeMap::new(),
            running: FxHashMap::default(),
            added_cells: FxHashMap::default(),
            roles: BTreeSet::new(),
            again: FxHashMap::default(),
            claims: FxHashMap::default(),
            moved: FxHashMap::default(),
            serializable_writers: Vec::new(),
            dependencies: Dependencies::default(),
            log: None,
            shelf: None,
            gone: Vec::new(),
            checkpoint: Checkpoint::default(),
            epoch: 0,
            options,
        };
        let inner = Inner {
            state: Mutex::new(state),
            changes: Mutex::new(0),
            changed: Condvar::new(),
            sleepers: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            version,
        };
        Database { inner: Arc::new(inner) }
    }

    /// How it behaves.
    pub fn options(&self) -> Options {
        self.inner.lock().options.clone()
    }

    /// The process numbers of those whom the connection with this number waits for.
    pub fn blockers(&self, pid: i32) -> Vec<i32> {
        self.inner.lock().blockers(pid)
    }

    /// A new connection.
    pub fn connect(&self, client: Client) -> Connection {
        Connection::new(self.clone(), client)
    }
}

impl State {
    /// A number for a new object.
    pub(crate) fn new_oid(&mut self) -> Oid {
        self.counters.objects += 1;
        FIRST_USER_OID + self.counters.objects - 1
    }

    /// A number for a new row of a table without a primary key.
    pub(crate) fn new_row(&mut self) -> u64 {
        self.counters.rows += 1;
        self.counters.rows
    }

    /// The catalog is another one now.
    pub(crate) fn publish(&mut self, catalog: Arc<Catalog>) {
        if self.log.is_some() {
            let stays = |old: &Arc<Relation>| {
                let new = catalog.relations.get(&old.oid);
                new.is_some_and(|new| Arc::ptr_eq(new, old) || new.space() == old.space())
            };
            self.gone.extend(self.catalog.relations.values().filter(|old| !stays(old)).cloned());
        }
        self.put_catalog(catalog);
    }

    pub(crate) fn put_catalog(&mut self, catalog: Arc<Catalog>) {
        self.version.store(catalog.version, Ordering::Release);
        self.catalog = catalog;
    }

    /// Where a sequence stands.
    pub(crate) fn sequence(&mut self, oid: Oid, sequence: &Sequence) -> &mut SequenceState {
        self.sequences.entry(oid).or_insert(SequenceState { last: sequence.start, called: false })
    }

    pub(crate) fn new_owner(&mut self) -> Owner {
        self.next_owner += 1;
        self.next_owner
    }

    /// Starts the random numbers of `random()` again.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.options.seed = seed;
        self.random = random_numbers(seed);
        self.choice = Steering::new(&self.options);
    }

    /// 64 random bits.
    pub(crate) fn random_bits(&mut self) -> u64 {
        self.random.roll()
    }
}

impl Inner {
    /// Nothing that runs under the lock leaves the state half-changed for others, so a panic does not end them.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        if let Some(state) = self.lock_if_free() {
            return state;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let free = (0..YIELDS).find_map(|_| {
            std::thread::yield_now();
            self.lock_if_free()
        });
        let state = free.unwrap_or_else(|| self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// The version of the committed catalog, at this moment.
    pub(crate) fn catalog_version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn lock_if_free(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The state, for as long as a statement runs.
    pub(crate) fn hold(&self) -> Held<'_> {
        Held { inner: self, guard: Some(self.lock()) }
    }

    fn changes(&self) -> MutexGuard<'_, u64> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state while a statement runs. It is given up while the statement sleeps or computes on its own; whatever changes it
/// next, and [`Held::take_again`], take it again.
pub(crate) struct Held<'a> {
    inner: &'a Inner,
    guard: Option<MutexGuard<'a, State>>,
}

impl State {
    /// The transaction has taken back what it has changed, or some of it.
    pub(crate) fn forget_moves(&mut self, txn: TxnId) {
        self.moved.retain(|_, (mover, _)| *mover != txn);
    }

    /// The process numbers of those whom the connection with this number waits for.
    pub(crate) fn blockers(&self, pid: i32) -> Vec<i32> {
        let waiting = self.connections.iter().filter(|(_, other)| other.pid == pid);
        let blockers = waiting.flat_map(|(owner, _)| self.locks.blockers_of(*owner));
        blockers.filter_map(|owner| Some(self.connections.get(&owner)?.pid)).collect()
    }
}

impl Held<'_> {
    /// Sleeps until something has changed, or for so long; other statements go on meanwhile. The state is not taken again
    /// yet: a sleeper that was cancelled says so even if another statement holds it.
    pub(crate) fn sleep(&mut self, client: &Client, longest: Duration) {
        // Both while the state is held: a change from now on is one that this sleeper hears of.
        self.inner.sleepers.fetch_add(1, Ordering::Relaxed);
        let seen = *self.inner.changes();
        self.let_go();
        (client.wait)(&mut || {
            let changes = self.inner.changes();
            drop(self.inner.changed.wait_timeout_while(changes, longest, |now| *now == seen));
        });
        self.inner.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether another statement wants to go on.
    pub(crate) fn is_wanted(&self) -> bool {
        self.inner.waiting.load(Ordering::Relaxed) > 0
    }

    /// Gives the state up.
    pub(crate) fn let_go(&mut self) {
        self.guard = None;
    }

    /// Takes the state again, if it was given up.
    pub(crate) fn take_again(&mut self) {
        if self.guard.is_none() {
            self.guard = Some(self.inner.lock());
        }
    }

    /// Lets others go on for a moment, if there are any that want to.
    pub(crate) fn let_others_go_on(&mut self) {
        if self.is_wanted() {
            self.give_way();
        }
    }

    /// Gives locks back piece by piece, and lets others go on in between.
    pub(crate) fn in_pieces(&mut self, mut release: impl FnMut(&mut State) -> Released) {
        while release(self) == Released::Some {
            self.let_others_go_on();
        }
    }

    /// Lets others go on for a moment.
    pub(crate) fn give_way(&mut self) {
        self.let_go();
        // Without a pause this thread would have the state back before another one is awake.
        std::thread::sleep(Duration::from_micros(50));
        self.take_again();
    }

    /// Gives the state up for as long as something else is done.
    pub(crate) fn without(&mut self, act: impl FnOnce()) {
        self.let_go();
        act();
        self.take_again();
    }

    /// Tells sleepers that something has changed.
    pub(crate) fn changed(&self) {
        // The state is held here, and a sleeper has counted itself before it gave the state up.
        let _: &State = self;
        if self.inner.sleepers.load(Ordering::Relaxed) > 0 {
            *self.inner.changes() += 1;
            self.inner.changed.notify_all();
        }
    }
}

impl Deref for Held<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.guard.as_ref().expect("whatever gives the state up takes it again before it looks at it")
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.guard.get_or_insert_with(|| self.inner.lock())
    }
}

/// The numbers of `random()`; those of the choices come from the seed itself.
fn random_numbers(seed: u64) -> Dice {
    Dice::new(seed ^ 0x9e37_79b9_7f4a_7c15)
}
