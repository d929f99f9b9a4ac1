//! What one statement sees and keeps: its transaction, the cells that it has read, the rows that it has locked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::Key;
use skew_model::{Level, TxnId};
use skew_store::{Reads, Recency, Suspended};

use crate::budget::{self, Active, Share};
use crate::catalog::{Catalog, Oid, Relation, RelationKind, Table};
use crate::client::{ChoiceKind, DeadlockCheck};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{RowRef, RowVersion};
use crate::ir::{Plan, TableUse};
use crate::session::connection::SessionState;
use crate::session::database::Held;
use crate::session::transaction::Transaction;
use crate::storage::conflict::{concurrent_update, deadlock, store_error};
use crate::storage::locks::{self, Asked, Mode, Owner, Resource, TableMode};
use crate::storage::look::Stake;
use crate::storage::same::is_same;
use crate::storage::serializable::is_watched;
use crate::storage::site::Site;
use crate::storage::table::BoundTable;
use crate::types::{Datum, Typed};

/// How often a waiting statement looks whether it was cancelled or its client is gone.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// How long a statement goes on while others want to.
const TURN: Duration = Duration::from_millis(3);
/// About what a written cell takes besides its value, in bytes.
const CELL: usize = 100;
/// About what a lock takes, in bytes.
const LOCK: usize = 250;
/// What a transaction writes is kept in less memory than what a statement works on, and for longer.
const WRITES_PER_KEPT: usize = 4;
/// A cache of cells that has had room for more is not kept.
const MUCH: usize = 1024;

/// What a statement has seen that waits for a function.
pub(crate) struct View {
    cells: FxHashMap<u32, Option<Datum>>,
    provisional: FxHashMap<u32, Provisional>,
    found_by: FxHashMap<u32, u32>,
    under_lock: FxHashMap<u32, Option<Datum>>,
    seen_across: LooksAt,
    looks_at: LooksAt,
    disturbed: FxHashSet<u32>,
    changed_rows: FxHashSet<u32>,
    /// Where it stands in the store, if it has begun there.
    statement: Option<Suspended>,
}

/// Why a cell was read before it is known whether that counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Provisional {
    /// To find rows that get locked. It counts unless they do.
    Sought,
    /// Because the cell is about to change. It counts if another part of the statement looks at it.
    Kept,
}

/// What a statement looks at.
#[derive(Default)]
pub(crate) struct LooksAt {
    pub(crate) tables: Vec<Oid>,
    /// It calls functions that look on its behalf, at nobody knows what.
    pub(crate) everything: bool,
}

impl LooksAt {
    pub(crate) fn contains(&self, table: Oid) -> bool {
        self.everything || self.tables.contains(&table)
    }
}

/// What has become of the catalog while a statement waited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Catalogued {
    AsBefore,
    Anew,
}

/// The world of a statement.
pub(crate) struct World<'a> {
    pub(crate) db: Held<'a>,
    pub(crate) session: &'a mut SessionState,
    pub(crate) catalog: Arc<Catalog>,
    /// `$n`
    pub(crate) params: Vec<Datum>,
    /// Variables of the running functions, the innermost last.
    pub(crate) frames: Vec<Vec<Datum>>,
    /// What the statement has read: one cell once.
    pub(crate) cells: FxHashMap<u32, Option<Datum>>,
    /// Those of them that may turn out not to have been read.
    pub(crate) provisional: FxHashMap<u32, Provisional>,
    /// The index entries by which rows were found that get locked if they qualify.
    pub(crate) found_by: FxHashMap<u32, u32>,
    /// What it has read of rows that it has locked, in their newest version.
    pub(crate) under_lock: FxHashMap<u32, Option<Datum>>,
    /// What a part of the statement changes and another one looks at: it sees the state before all of them.
    pub(crate) seen_across: LooksAt,
    /// What the statement looks at.
    pub(crate) looks_at: LooksAt,
    /// Rows that functions have changed which the statement has called.
    pub(crate) disturbed: FxHashSet<u32>,
    /// Rows that a part of the statement has changed: another part that comes to them later leaves them alone.
    pub(crate) changed_rows: FxHashSet<u32>,
    /// The statements around: they go on when the functions that they have called return.
    pub(crate) around: Vec<View>,
    /// Where the bodies stand that have called what runs now, for contexts.
    pub(crate) sites: Vec<Site>,
    /// The types of the columns of the rows that a function has returned last which returns records.
    pub(crate) returned: Vec<Typed>,
    /// How many triggers are running.
    pub(crate) trigger_depth: usize,
    pub(crate) bound: FxHashMap<Oid, Arc<BoundTable>>,
    steps: u32,
    /// Since when another statement has wanted to go on.
    wanted: Option<Instant>,
    /// What the statement is allowed to use.
    _budget: Active,
}

impl<'a> World<'a> {
    pub(crate) fn new(db: Held<'a>, session: &'a mut SessionState) -> World<'a> {
        let catalog = session.catalog(&db);
        session.sees(catalog.clone());
        let budget = budget::begin(session.grant());
        let cells = std::mem::take(&mut session.spare_cells);
        World {
            db,
            session,
            catalog,
            params: Vec::new(),
            frames: Vec::new(),
            cells,
            under_lock: FxHashMap::default(),
            seen_across: LooksAt::default(),
            provisional: FxHashMap::default(),
            found_by: FxHashMap::default(),
            looks_at: LooksAt::default(),
            disturbed: FxHashSet::default(),
            changed_rows: FxHashSet::default(),
            around: Vec::new(),
            sites: Vec::new(),
            returned: Vec::new(),
            trigger_depth: 0,
            bound: FxHashMap::default(),
            steps: 0,
            wanted: None,
            _budget: budget,
        }
    }

    /// The operations that follow are a new statement: of the transaction, and for the cache.
    pub(crate) fn begin_statement(&mut self, text: &Arc<str>) -> Result<()> {
        self.wait_for_safe_snapshot()?;
        let txn = self.txn()?;
        self.db.store.statement(txn).map_err(|error| store_error(&error))?;
        let number = self.db.store.statement_number(txn).map_err(|error| store_error(&error))?;
        self.note_part(txn, number, text);
        self.forget_seen();
        self.seen_across = LooksAt::default();
        self.looks_at = LooksAt::default();
        self.disturbed.clear();
        self.changed_rows.clear();
        Ok(())
    }

    /// What the statement has seen is seen no more.
    pub(crate) fn forget_seen(&mut self) {
        self.cells.clear();
        self.provisional.clear();
        self.found_by.clear();
        self.under_lock.clear();
    }

    /// The operations that follow are a new statement, which runs this plan.
    ///
    /// It has its tables' locks before it looks at anything. At `mvrc` they come before its snapshot, as in PostgreSQL:
    /// who has waited for a table sees what was done to it meanwhile.
    pub(crate) fn begin_query(&mut self, text: &Arc<str>, plan: &Plan) -> Result<()> {
        if self.level().looks_at_statements() {
            self.lock_tables_of(plan)?;
            self.begin_statement(text)?;
        } else {
            self.begin_statement(text)?;
            self.lock_tables_of(plan)?;
        }
        self.about_to_run(plan);
        Ok(())
    }

    /// Locks the tables of a plan before it is run, and says whether they are described anew meanwhile.
    pub(crate) fn wait_for_tables(&mut self, text: &Arc<str>, plan: &Plan) -> Result<Catalogued> {
        if !self.db.locks.may_exclude_statements() {
            return Ok(Catalogued::AsBefore);
        }
        let begun = self.session.transaction(&self.db).id.is_some();
        if !begun && !self.level().looks_at_statements() {
            // The transaction's snapshot is older than what it waits for.
            self.begin_statement(text)?;
        }
        self.lock_tables_of(plan)?;
        let catalog = self.session.catalog(&self.db);
        if Arc::ptr_eq(&self.catalog, &catalog) {
            return Ok(Catalogued::AsBefore);
        }
        self.use_catalog(catalog);
        Ok(Catalogued::Anew)
    }

    fn use_catalog(&mut self, catalog: Arc<Catalog>) {
        self.catalog = catalog.clone();
        self.session.seen = catalog;
        self.bound.clear();
    }

    fn lock_tables_of(&mut self, plan: &Plan) -> Result<()> {
        if !self.db.locks.may_exclude_statements() {
            return Ok(());
        }
        for (table, how) in plan.table_uses() {
            self.lock_table(
                table,
                match how {
                    TableUse::Read => TableMode::AccessShare,
                    TableUse::Lock => TableMode::RowShare,
                    TableUse::Change => TableMode::RowExclusive,
                },
            )?;
        }
        Ok(())
    }

    /// The statement is about to run this plan.
    fn about_to_run(&mut self, plan: &Plan) {
        self.seen_across = crate::storage::changes::seen_across(plan);
        // Only functions can run statements in the middle of this one.
        if !self.catalog.functions.is_empty() {
            let everything = plan.calls_on_its_behalf();
            self.looks_at = LooksAt { tables: if everything { Vec::new() } else { plan.tables() }, everything };
        }
    }

    /// A function begins whose statements are their own: what the statement around has seen is put aside.
    pub(crate) fn put_aside(&mut self) {
        let txn = self.session.transaction.as_ref().and_then(|transaction| transaction.id);
        let view = View {
            statement: txn.and_then(|txn| self.db.store.suspend(txn).ok()),
            cells: std::mem::take(&mut self.cells),
            provisional: std::mem::take(&mut self.provisional),
            found_by: std::mem::take(&mut self.found_by),
            under_lock: std::mem::take(&mut self.under_lock),
            seen_across: std::mem::take(&mut self.seen_across),
            looks_at: std::mem::take(&mut self.looks_at),
            disturbed: std::mem::take(&mut self.disturbed),
            changed_rows: std::mem::take(&mut self.changed_rows),
        };
        self.around.push(view);
    }

    /// The function has returned: the statement around goes on with what it has seen.
    pub(crate) fn take_up(&mut self) {
        let Some(view) = self.around.pop() else { return };
        if let Some(statement) = view.statement {
            // A procedure may have ended the transaction: then nothing of the statement around is left to go on.
            let _ = self.db.store.go_on(statement);
        }
        self.cells = view.cells;
        self.provisional = view.provisional;
        self.found_by = view.found_by;
        self.under_lock = view.under_lock;
        self.seen_across = view.seen_across;
        self.looks_at = view.looks_at;
        self.disturbed = view.disturbed;
        self.changed_rows = view.changed_rows;
    }

    /// The statements around go on to see what they would have seen: before a row of a table that they look at changes,
    /// they get to know what it was.
    pub(crate) fn keep_views_around(&mut self, key: u32, row: RowRef) -> Result<()> {
        let txn = self.txn()?;
        // Where their snapshots are one, or all show nothing, it is enough to look once.
        let alike = !self.level().looks_at_statements() || self.db.store.any_value(Key(key)).is_none();
        for at in 0..self.around.len() {
            let view = &self.around[at];
            if view.looks_at.contains(row.table) && !view.cells.contains_key(&key) {
                let value = match view.statement {
                    Some(statement) if !alike && statement.txn() == txn => self.read_as(statement, key)?,
                    _ => self.read(key, row)?,
                };
                self.around[at].cells.insert(key, value);
            }
        }
        for view in &mut self.around {
            view.disturbed.insert(row.key);
        }
        Ok(())
    }

    /// What a statement around sees of a cell.
    fn read_as(&mut self, statement: Suspended, key: u32) -> Result<Option<Datum>> {
        let state = &mut *self.db;
        let mut read = || {
            let here = state.store.suspend(statement.txn())?;
            state.store.go_on(statement)?;
            let value = state.store.read(statement.txn(), Key(key), &mut state.choice);
            state.store.go_on(here)?;
            value
        };
        read().map_err(|error| store_error(&error))
    }

    /// Lets others go on between two statements of a procedure: nothing around them has looked at anything yet.
    pub(crate) fn pause(&mut self) -> Result<()> {
        let pause = Arc::clone(&self.session.client.pause);
        self.db.without(|| pause());
        let catalog = self.session.catalog(&self.db);
        if !Arc::ptr_eq(&self.catalog, &catalog) {
            self.use_catalog(catalog);
        }
        self.interrupted()
    }

    /// The statement is over: what it has used is used again, unless that was much.
    pub(crate) fn leave(mut self) {
        if self.cells.capacity() <= MUCH {
            self.cells.clear();
            self.session.spare_cells = self.cells;
        }
    }

    /// The transaction in the store, begun if need be.
    pub(crate) fn txn(&mut self) -> Result<TxnId> {
        let who = self.session.identity;
        let reads = match (self.session.reads, self.db.options.choice) {
            (Reads::Any, ChoiceKind::Postgres) => Reads::Snapshot,
            (reads, _) => reads,
        };
        let transaction = self.session.transaction.as_mut().expect("a statement runs in a transaction");
        transaction.begin(&mut self.db, who, reads)
    }

    /// The running transaction's level.
    pub(crate) fn level(&self) -> Level {
        self.session.transaction.as_ref().expect("a statement runs in a transaction").level
    }

    pub(crate) fn owner(&self) -> Owner {
        self.session.identity.owner
    }

    /// Whether writers lock their rows until they end: at `mvrc` always; at the levels that real databases have with
    /// their own recency; and wherever Skew does as PostgreSQL does.
    pub(crate) fn writers_lock(&self) -> bool {
        match self.level() {
            level if level.looks_at_statements() => true,
            level if level.has_one_snapshot() => {
                self.db.options.recency == Recency::Commit || self.db.options.choice == ChoiceKind::Postgres
            }
            _ => false,
        }
    }

    /// The relation with this number.
    pub(crate) fn relation(&self, oid: Oid) -> Result<Arc<Relation>> {
        self.catalog
            .relation(oid)
            .cloned()
            .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}")))
    }

    /// What the statement sees of a cell, from its cache or the store.
    pub(crate) fn read(&mut self, key: u32, row: RowRef) -> Result<Option<Datum>> {
        let newest = row.version == RowVersion::Newest;
        let cache = if newest { &self.under_lock } else { &self.cells };
        if let Some(value) = cache.get(&key) {
            let value = value.clone();
            match row.version {
                RowVersion::Sought => _ = self.provisional.get_mut(&key).map(|why| *why = Provisional::Sought),
                RowVersion::Seen if !self.provisional.is_empty() => _ = self.provisional.remove(&key),
                _ => {}
            }
            return Ok(value);
        }
        let txn = self.txn()?;
        let state = &mut *self.db;
        let value = if newest {
            state.store.read_under_lock(txn, Key(key))
        } else {
            state.store.read(txn, Key(key), &mut state.choice)
        };
        let value = value.map_err(|error| store_error(&error))?;
        // A lock is worth nothing to who cannot see what it protects: its level, or what it has read before, is in the way.
        if newest && !is_same(value.as_ref(), self.look(key)?.as_ref()) {
            return Err(concurrent_update());
        }
        let cache = if newest { &mut self.under_lock } else { &mut self.cells };
        cache.insert(key, value.clone());
        if row.version == RowVersion::Sought {
            self.provisional.insert(key, Provisional::Sought);
        }
        Ok(value)
    }

    /// What was read of a cell does not count, and is read again by who looks at it.
    pub(crate) fn withdraw(&mut self, key: u32) -> Result<Option<Datum>> {
        let txn = self.txn()?;
        self.provisional.remove(&key);
        self.db.store.withdraw_reads(txn, Key(key), 1).map_err(|error| store_error(&error))?;
        Ok(self.cells.remove(&key).flatten())
    }

    /// What was kept for other parts of the statement, and they did not look at, was not read.
    pub(crate) fn withdraw_kept(&mut self) -> Result<()> {
        let kept: Vec<u32> =
            self.provisional.iter().filter(|(_, why)| **why == Provisional::Kept).map(|(key, _)| *key).collect();
        kept.into_iter().try_for_each(|key| self.withdraw(key).map(drop))
    }

    /// Writes a cell.
    pub(crate) fn write(&mut self, key: u32, value: Option<Datum>) -> Result<()> {
        let txn = self.txn()?;
        self.count_write(value.as_ref())?;
        self.db.store.write(txn, Key(key), value).map_err(|error| store_error(&error))?;
        Ok(())
    }

    fn count_write(&mut self, value: Option<&Datum>) -> Result<()> {
        self.count_written(CELL + value.map_or(0, Datum::weight))
    }

    /// NOTIFY: kept until the transaction commits.
    pub(crate) fn notify(&mut self, channel: &str, payload: &str) -> Result<()> {
        let Some(transaction) = &mut self.session.transaction else { return Ok(()) };
        let bytes = transaction.notifications.add(channel, payload);
        self.count_written(bytes)
    }

    fn count_written(&mut self, bytes: usize) -> Result<()> {
        let most = self.db.options.memory.saturating_mul(WRITES_PER_KEPT);
        let transaction = self.session.transaction.as_mut().expect("a statement runs in a transaction");
        transaction.written += bytes;
        if transaction.written <= most {
            return Ok(());
        }
        Err(SqlError::new(SqlState::OUT_OF_MEMORY, "transaction writes too much")
            .detail(format!("A transaction may write {} MB.", most >> 20)))
    }

    /// Waits until the lock is had.
    pub(crate) fn lock(&mut self, resource: &Resource, mode: Mode, duration: locks::Duration) -> Result<()> {
        self.room_for_lock()?;
        let owner = self.owner();
        self.wait_until(|db| db.locks.ask(owner, resource, mode, duration))
    }

    /// An error if there are so many locks that they take as much memory as transactions are allowed to write.
    fn room_for_lock(&self) -> Result<()> {
        let most = self.db.options.memory.saturating_mul(WRITES_PER_KEPT) / LOCK;
        if self.db.locks.count() < most {
            return Ok(());
        }
        Err(SqlError::new(SqlState::OUT_OF_MEMORY, "out of shared memory")
            .detail(format!("There are {most} locks, of rows, tables and advisory ones together.")))
    }

    /// SERIALIZABLE READ ONLY DEFERRABLE, as PostgreSQL does it: waits for the serializable transactions that are writing
    /// when the snapshot is taken. If one of them turns out to come before what the snapshot shows, the next snapshot is
    /// tried; else no anomaly can involve the transaction, and it is never refused.
    fn wait_for_safe_snapshot(&mut self) -> Result<()> {
        let is_postgres = self.db.options.choice == ChoiceKind::Postgres;
        let waits = |own: &Transaction| own.id.is_none() && is_watched(own.level) && own.read_only && own.deferrable;
        if !is_postgres || !self.session.transaction.as_ref().is_some_and(waits) {
            return Ok(());
        }
        loop {
            let txn = self.txn()?;
            self.db.store.statement(txn).map_err(|error| store_error(&error))?;
            // Those that have ended say nothing more, whatever was to be cleared up after them.
            let running = |txn: &TxnId| self.db.running.contains_key(txn);
            let writers: Vec<TxnId> = self.db.serializable_writers.iter().copied().filter(running).collect();
            let owner = self.owner();
            self.wait_until(|db| {
                let mut owners: Vec<Owner> = writers.iter().filter_map(|txn| db.running.get(txn).copied()).collect();
                owners.retain(|other| *other != owner);
                if owners.is_empty() {
                    db.locks.stop_waiting(owner);
                    return Asked::Granted;
                }
                db.locks.wait_for(owner, owners)
            })?;
            if !writers.iter().any(|writer| self.db.store.is_before_snapshot(txn, *writer)) {
                return Ok(());
            }
            self.db.running.remove(&txn);
            self.db.dependencies.roll_back(txn);
            self.db.store.rollback(txn).map_err(|error| store_error(&error))?;
            if let Some(transaction) = &mut self.session.transaction {
                transaction.id = None;
            }
        }
    }

    /// Waits until nothing of this is at stake any more.
    pub(crate) fn wait_for_stakes(&mut self, stakes: &[Stake]) -> Result<()> {
        let owner = self.owner();
        self.wait_until(|db| {
            let mut owners: Vec<Owner> = stakes.iter().filter_map(|stake| stake.holder(db)).collect();
            owners.sort_unstable();
            owners.dedup();
            if owners.is_empty() {
                db.locks.stop_waiting(owner);
                return Asked::Granted;
            }
            db.locks.wait_for(owner, owners)
        })
    }

    /// Waits until the lock is had, or somebody has committed a change of these cells since the transaction's snapshot:
    /// then it cannot be used any more.
    pub(crate) fn lock_unless_changed(&mut self, resource: &Resource, mode: Mode, cells: &[u32]) -> Result<()> {
        self.room_for_lock()?;
        let (owner, txn) = (self.owner(), self.txn()?);
        self.wait_until(|db| {
            if cells.iter().any(|&cell| db.store.changed_since_snapshot(txn, Key(cell)) == Ok(true)) {
                db.locks.stop_waiting(owner);
                return Asked::Granted;
            }
            db.locks.ask(owner, resource, mode, locks::Duration::Transaction)
        })
    }

    fn wait_until(&mut self, mut ask: impl FnMut(&mut Held<'_>) -> Asked) -> Result<()> {
        let owner = self.owner();
        let mut limit = None;
        let mut deadlock_check = None;
        loop {
            if ask(&mut self.db) == Asked::Granted {
                return Ok(());
            }
            limit = limit.or_else(|| after(self.session.settings.ready.lock_timeout));
            let check = deadlock_check.get_or_insert_with(|| self.first_deadlock_check());
            let now = Instant::now();
            if self.db.locks.is_in_deadlock_here(owner) || check.is_due(now) && self.db.locks.is_in_deadlock(owner) {
                if self.db.locks.reorder_queues(owner) {
                    self.db.changed();
                    continue;
                }
                self.db.locks.stop_waiting(owner);
                self.db.changed();
                return Err(deadlock());
            }
            let ends = [limit, budget::deadline(), check.time()].into_iter().flatten();
            let left = ends.map(|end| end.saturating_duration_since(now)).min();
            self.db.sleep(&self.session.client, left.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP));
            let given_up = self.interrupted().err().or_else(|| {
                let late = limit.is_some_and(|limit| Instant::now() >= limit);
                late.then(|| SqlError::new(SqlState::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"))
            });
            self.db.take_again();
            if let Some(error) = given_up {
                self.db.locks.stop_waiting(owner);
                self.db.changed();
                return Err(error);
            }
        }
    }

    /// PostgreSQL looks once whether a waiter is in a deadlock, after it has waited for `deadlock_timeout`: of several
    /// waiters in a circle the first whose time is up is the victim. Elsewhere the request that closes the circle is.
    fn first_deadlock_check(&self) -> NextCheck {
        match (self.db.options.choice, self.session.client.deadlocks) {
            (ChoiceKind::Postgres, DeadlockCheck::AfterTimeout) => {
                let patience = Duration::from_millis(self.session.settings.ready.deadlock_timeout);
                NextCheck::OnceAt(Instant::now() + patience)
            }
            _ => NextCheck::Now,
        }
    }

    /// An error if functions call functions deeper than the thread's stack allows.
    pub(crate) fn check_stack(&self) -> Result<()> {
        budget::deeper(Share::Calls)
    }

    /// An error if the statement was cancelled or took too long, looked at every now and then.
    pub(crate) fn check(&mut self) -> Result<()> {
        budget::verdict()?;
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(256) || budget::has_looked() {
            self.interrupted()?;
            self.give_way();
        }
        Ok(())
    }

    /// A statement that takes long is one among others: each goes on for a turn.
    pub(crate) fn give_way(&mut self) {
        if !self.db.is_wanted() {
            return;
        }
        let now = Instant::now();
        let since = *self.wanted.get_or_insert(now);
        if now - since >= TURN {
            self.db.give_way();
            self.wanted = None;
        }
    }

    /// An error if the statement was cancelled or took too long.
    pub(crate) fn interrupted(&self) -> Result<()> {
        budget::check()
    }

    /// Locks a table for this statement.
    pub(crate) fn lock_table(&mut self, table: Oid, mode: TableMode) -> Result<()> {
        self.lock(&Resource::Table(table), Mode::Table(mode), locks::Duration::Transaction)
    }

    /// Changes the transaction's own catalog.
    pub(crate) fn change_catalog<T>(&mut self, change: impl FnOnce(&mut Catalog) -> Result<T>) -> Result<T> {
        let mut catalog = Catalog::clone(&self.catalog);
        let result = change(&mut catalog)?;
        catalog.touch();
        self.catalog = Arc::new(catalog);
        self.session.seen = self.catalog.clone();
        self.bound.clear();
        if let Some(transaction) = &mut self.session.transaction {
            if transaction.catalog.is_none() {
                transaction.catalog_base = self.db.catalog.clone();
            }
            transaction.catalog = Some(self.catalog.clone());
        }
        Ok(result)
    }

    /// What binding has made of a table's expressions.
    pub(crate) fn bound_table(&mut self, oid: Oid) -> Result<Arc<BoundTable>> {
        if let Some(bound) = self.bound.get(&oid) {
            return Ok(bound.clone());
        }
        let bound = match self.session.tables.get(oid, &self.catalog) {
            Some(bound) => bound,
            None => {
                let bound = Arc::new(BoundTable::new(oid, self)?);
                self.session.tables.put(oid, &bound);
                bound
            }
        };
        self.bound.insert(oid, bound.clone());
        Ok(bound)
    }
}

/// When a waiter looks whether it is in a deadlock.
enum NextCheck {
    /// Whenever it has asked.
    Now,
    OnceAt(Instant),
    Never,
}

impl NextCheck {
    fn is_due(&mut self, now: Instant) -> bool {
        match self {
            NextCheck::Now => true,
            NextCheck::OnceAt(at) if now >= *at => {
                *self = NextCheck::Never;
                true
            }
            NextCheck::OnceAt(_) | NextCheck::Never => false,
        }
    }

    fn time(&self) -> Option<Instant> {
        match self {
            NextCheck::OnceAt(at) => Some(*at),
            NextCheck::Now | NextCheck::Never => None,
        }
    }
}

/// So many milliseconds from now; 0: never.
fn after(milliseconds: u64) -> Option<Instant> {
    (milliseconds > 0).then(|| Instant::now() + Duration::from_millis(milliseconds))
}

/// The table in a relation.
pub(crate) fn as_table(relation: &Relation) -> Result<&Table> {
    match &relation.kind {
        RelationKind::Table(table) => Ok(table),
        _ => Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a table", relation.name))),
    }
}

/// The position of a column in a table.
pub(crate) fn column_position(relation: &Relation, name: &str) -> Result<usize> {
    let found = as_table(relation)?.columns.iter().position(|column| !column.dropped && *column.name == *name);
    found.ok_or_else(|| {
        let message = format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
        SqlError::new(SqlState::UNDEFINED_COLUMN, message)
    })
}
