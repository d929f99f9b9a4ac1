//! Running statements: each kind, and what its tag says.

use std::sync::Arc;

use skew_store::Recency;

use crate::budget;
use crate::cursor::Cursor;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::Run;
use crate::ir::{Change, Output, Plan, Query};
use crate::parse::statement::{Discard, Set, Statement, TableLock, TransactionMode};
use crate::session::connection::Connection;
use crate::session::transaction::{Block, Isolation, Transaction, level};
use crate::session::{ChoiceKind, Outcome, Prepared, describe};
use crate::settings;
use crate::storage::World;
use crate::storage::locks::{Duration, Mode, Resource, TableMode};
use crate::storage::world::Catalogued;
use crate::types::Datum;
use crate::types::Env;

/// Results of so many rows are handed out at once.
const SHORT_RESULT_ROWS: usize = 500;

impl Connection {
    /// Runs a statement. Outside of a transaction block it opens the implicit transaction, which [`Connection::sync`]
    /// ends. After an error the transaction has failed until it is rolled back.
    pub fn execute(&mut self, statement: &Prepared, parameters: &[Datum]) -> Result<Outcome> {
        self.run(statement, parameters, Then::Other)
    }

    /// Runs a statement that [`Connection::sync`] comes right after. An implicit transaction ends with it, if nobody can
    /// tell the difference: so the database is asked for once instead of twice. How it has ended is what `sync` says.
    pub fn execute_last(&mut self, statement: &Prepared, parameters: &[Datum]) -> Result<Outcome> {
        self.run(statement, parameters, Then::Sync)
    }

    fn run(&mut self, statement: &Prepared, parameters: &[Datum], then: Then) -> Result<Outcome> {
        // What was meant to stop an earlier statement does not stop this one; where it was prepared just now, it has begun.
        if self.session.arrived.is_none() {
            self.session.cancel.forget();
        }
        self.ended = None;
        self.session.statement_time = self.session.now();
        let inner = self.database.inner.clone();
        let mut world = World::new(inner.hold(), &mut self.session);
        world.active(&statement.sql, true);
        world.note_asked(statement, parameters);
        let result = world.run_prepared(statement, parameters);
        let result = result.and_then(|outcome| budget::verdict().map(|()| outcome));
        world.session.arrived = None;
        world.note_answer(&result);
        match result {
            Ok(Outcome::CopyIn { columns, binary }) => {
                drop(world);
                self.copy = Some(crate::session::copy::CopyIn::new(statement.plan.statement.clone()));
                Ok(Outcome::CopyIn { columns, binary })
            }
            Ok(outcome) => {
                if then == Then::Sync && world.ends_quietly() && !is_long(&outcome) {
                    self.ended = Some(world.commit().map(drop));
                }
                world.active(&statement.sql, false);
                world.leave();
                Ok(outcome)
            }
            Err(error) => {
                world.session.note_refusal(&mut world.db, &error);
                world.session.fail(&mut world.db);
                world.active(&statement.sql, false);
                world.leave();
                Err(error)
            }
        }
    }

    /// The end of a simple query or of a pipeline: the implicit transaction commits, or is rolled back after an error.
    pub fn sync(&mut self) -> Result<()> {
        self.copy = None;
        self.session.arrived = None;
        if let Some(ended) = self.ended.take() {
            return ended;
        }
        let implicit = |block: Block| block == Block::Implicit;
        if !self.session.transaction.as_ref().is_some_and(|transaction| implicit(transaction.block)) {
            return Ok(());
        }
        let inner = self.database.inner.clone();
        let mut world = World::new(inner.hold(), &mut self.session);
        let committed = world.commit();
        world.leave();
        committed.map(drop)
    }

    /// While rows are handed out: an error if the statement was cancelled or is late, and has not been committed.
    pub fn must_go_on(&self) -> Result<()> {
        if self.ended.is_some() {
            return Ok(());
        }
        let _active = budget::begin(self.session.grant());
        budget::check()
    }

    /// The client's statement failed outside of [`Connection::execute`] (a parameter that could not be read, …): its
    /// transaction has failed as if it had failed there.
    pub fn fail(&mut self) {
        (self.copy, self.ended) = (None, None);
        let inner = self.database.inner.clone();
        let mut state = inner.hold();
        self.session.fail(&mut state);
    }
}

/// Whether handing out its rows takes so long that the statement is possibly stopped meanwhile: then it commits after that.
fn is_long(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Rows { rows, .. } if rows.len() > SHORT_RESULT_ROWS)
}

/// What comes after a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// [`Connection::sync`]
    Sync,
    Other,
}

impl World<'_> {
    /// Whether the implicit transaction's end is nothing but a commit in the store: no checks or triggers are left to be
    /// run, and there is nothing to tell anybody.
    fn ends_quietly(&self) -> bool {
        self.session.transaction.as_ref().is_some_and(|running| {
            running.block == Block::Implicit
                && running.deferred.is_empty()
                && running.notifications.is_empty()
                && running.local_settings.is_empty()
                && running.catalog.is_none()
        })
    }

    pub(crate) fn run_prepared(&mut self, prepared: &Prepared, parameters: &[Datum]) -> Result<Outcome> {
        self.session.must_be_allowed(&prepared.plan.statement)?;
        let mut renewed = self.refresh(prepared)?;
        while let Some(query) = &renewed.as_ref().unwrap_or(prepared).plan.query
            && self.wait_for_tables(&prepared.sql, &query.plan)? == Catalogued::Anew
        {
            renewed = self.refresh(prepared)?;
        }
        let prepared = renewed.as_ref().unwrap_or(prepared);
        if parameters.len() != prepared.parameters.len() {
            let message = format!(
                "bind message supplies {} parameters, but the statement requires {}",
                parameters.len(),
                prepared.parameters.len()
            );
            return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, message));
        }
        self.params = if prepared.constants.is_empty() { parameters } else { &prepared.constants }.to_vec();
        match &prepared.plan.query {
            Some(query) => self.run_planned(&prepared.sql, query, prepared.columns.clone()),
            None => self.run_utility(&prepared.sql, &prepared.plan.statement),
        }
    }

    /// Runs a query or a change as a statement of its own.
    pub(crate) fn run_query_statement(&mut self, text: &Arc<str>, query: &Query) -> Result<Outcome> {
        self.run_planned(text, query, Some(query.columns.as_slice().into()))
    }

    /// The same where its columns are at hand.
    fn run_planned(&mut self, text: &Arc<str>, query: &Query, columns: Option<Arc<[Output]>>) -> Result<Outcome> {
        self.session.transaction(&self.db);
        self.begin_query(text, &query.plan)?;
        let mut run = Run::new();
        let rows = run.rows(self, query)?;
        let changed = match query.plan.innermost() {
            Plan::Change(change) => Some(&**change),
            _ => None,
        };
        let tag = match changed {
            None => "SELECT".to_owned(),
            Some(Change::Insert(_)) => format!("INSERT 0 {}", run.changed),
            Some(Change::Update(_)) => format!("UPDATE {}", run.changed),
            Some(Change::Delete(_)) => format!("DELETE {}", run.changed),
            Some(Change::Merge(_)) => format!("MERGE {}", run.changed),
        };
        match columns {
            Some(columns) if changed.is_none() || !columns.is_empty() => Ok(Outcome::Rows { columns, rows, tag }),
            _ => Ok(Outcome::Done(tag)),
        }
    }

    pub(crate) fn run_utility(&mut self, text: &Arc<str>, statement: &Statement) -> Result<Outcome> {
        let done = |tag: &str| Ok(Outcome::Done(tag.to_owned()));
        match statement {
            Statement::Empty => Ok(Outcome::Empty),
            Statement::Sql(_) => Err(SqlError::unsupported("a statement without a plan")),
            Statement::Begin { modes, start } => self.begin_block(modes, *start),
            Statement::Commit { chain } => self.end_block(true, *chain),
            Statement::Rollback { chain } => self.end_block(false, *chain),
            Statement::Savepoint(name) => self.savepoint(name),
            Statement::Release(name) => self.release(name),
            Statement::RollbackTo(name) => self.roll_back_to(name),
            Statement::SetTransaction(modes) => {
                self.must_be_in_block("SET TRANSACTION");
                self.set_modes(modes)?;
                done("SET")
            }
            Statement::SetCharacteristics(modes) => self.set_characteristics(modes),
            Statement::SetConstraints { names, deferred } => self.set_constraints(names, *deferred),
            Statement::Set(set) => self.set(set),
            Statement::Reset(name) => {
                match name {
                    Some(name) => self.session.set(name, None, false)?,
                    None => self.session.reset_settings(),
                }
                done("RESET")
            }
            Statement::Show(name) => self.show(name.as_deref()),
            Statement::Lock { tables, mode, nowait } => self.lock_tables(tables, *mode, *nowait),
            Statement::Listen(channel) => {
                self.listen(|listens| listens.push(channel.clone()));
                done("LISTEN")
            }
            Statement::Unlisten(channel) => {
                self.listen(|listens| listens.retain(|known| channel.as_ref().is_some_and(|channel| known != channel)));
                done("UNLISTEN")
            }
            Statement::Notify { channel, payload } => {
                self.session.transaction(&self.db);
                self.notify(channel, payload)?;
                done("NOTIFY")
            }
            Statement::Prepare { name, types, statement, text } => self.prepare_named(name, types, statement, text),
            Statement::Execute { name, arguments } => self.execute_named(name, arguments),
            Statement::Deallocate(name) => self.deallocate(name.as_deref()),
            Statement::DeclareCursor(declare) => self.declare(declare),
            Statement::Fetch(fetch) => self.session.fetch(fetch),
            Statement::Close(name) => self.session.close(name.as_deref()),
            Statement::Copy(copy) => crate::session::copy::start(self, text, copy),
            Statement::Explain(explain) => self.explain(explain),
            Statement::Do { language, body } => {
                self.take_snapshot(text)?;
                crate::plpgsql::run_do(self, language, body)?;
                done("DO")
            }
            Statement::Call(call) => {
                self.take_snapshot(text)?;
                crate::plpgsql::run_call(self, call)
            }
            Statement::Discard(what) => self.discard(*what),
            Statement::Schema(ddl) => {
                self.session.transaction(&self.db);
                crate::schema::run(self, text, ddl).map(Outcome::Done)
            }
            Statement::Maintenance { tag, relations } => {
                for name in relations {
                    self.resolve_relation(name)?;
                }
                done(tag)
            }
            Statement::Grant(grant) => self.grant(grant),
            Statement::Role(change) => self.change_role(change),
            Statement::Database(change) => self.change_database(change),
            Statement::Ignored { tag } => done(tag),
        }
    }

    /// CALL and DO take a snapshot before their body runs, as in PostgreSQL: at levels with one snapshot for the whole
    /// transaction, what is committed between CALL and the first statement of the procedure is not seen. Where real time
    /// does not count, a transaction begins with the first statement that looks at something.
    fn take_snapshot(&mut self, text: &Arc<str>) -> Result<()> {
        let transaction = self.session.transaction(&self.db);
        let has_one = !transaction.level.looks_at_statements() && transaction.id.is_none();
        let (recency, choice) = (self.db.options.recency, self.db.options.choice);
        if has_one && (recency == Recency::Commit || choice == ChoiceKind::Postgres) {
            self.begin_statement(text)?;
        }
        Ok(())
    }

    /// What others see of this connection.
    fn active(&mut self, sql: &Arc<str>, active: bool) {
        let state = match (active, self.session.status()) {
            (true, _) => "active",
            (false, crate::session::Status::Idle) => "idle",
            (false, crate::session::Status::InTransaction) => "idle in transaction",
            (false, crate::session::Status::Failed) => "idle in transaction (aborted)",
        };
        let owner = self.owner();
        if let Some(activity) = self.db.connections.get_mut(&owner) {
            activity.state = state;
            if active {
                activity.query = sql.clone();
            }
        }
    }

    fn begin_block(&mut self, modes: &[TransactionMode], start: bool) -> Result<Outcome> {
        match &mut self.session.transaction {
            Some(transaction) if transaction.block == Block::Explicit => {
                let message = "there is already a transaction in progress";
                self.session.notice("WARNING", SqlState::ACTIVE_SQL_TRANSACTION, message);
            }
            Some(transaction) => transaction.block = Block::Explicit,
            None => self.session.begin(&self.db, Block::Explicit),
        }
        self.set_modes(modes)?;
        Ok(Outcome::Done(if start { "START TRANSACTION" } else { "BEGIN" }.to_owned()))
    }

    fn set_modes(&mut self, modes: &[TransactionMode]) -> Result<()> {
        let options = self.db.options.clone();
        let transaction = self.session.transaction(&self.db);
        for mode in modes {
            match mode {
                TransactionMode::Isolation(isolation) => {
                    let isolation = *isolation;
                    if transaction.isolation != isolation {
                        too_late(
                            transaction.id.is_some(),
                            "SET TRANSACTION ISOLATION LEVEL must be called before any query",
                        )?;
                        let message = "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction";
                        too_late(!transaction.savepoints.is_empty(), message)?;
                    }
                    transaction.isolation = isolation;
                    transaction.level = level(isolation, &options);
                }
                TransactionMode::ReadOnly => transaction.read_only = true,
                TransactionMode::ReadWrite => {
                    if transaction.read_only {
                        let message = "cannot set transaction read-write mode inside a read-only transaction";
                        too_late(!transaction.savepoints.is_empty(), message)?;
                        too_late(transaction.id.is_some(), "transaction read-write mode must be set before any query")?;
                    }
                    transaction.read_only = false;
                }
                TransactionMode::Deferrable(deferrable) => {
                    let message = "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction";
                    too_late(!transaction.savepoints.is_empty(), message)?;
                    let message = "SET TRANSACTION [NOT] DEFERRABLE must be called before any query";
                    too_late(transaction.id.is_some(), message)?;
                    transaction.deferrable = *deferrable;
                }
            }
        }
        Ok(())
    }

    fn set_characteristics(&mut self, modes: &[TransactionMode]) -> Result<Outcome> {
        for mode in modes {
            let (name, value) = match mode {
                TransactionMode::Isolation(named) => ("default_transaction_isolation", named.name()),
                TransactionMode::ReadOnly => ("default_transaction_read_only", "on"),
                TransactionMode::ReadWrite => ("default_transaction_read_only", "off"),
                TransactionMode::Deferrable(true) => ("default_transaction_deferrable", "on"),
                TransactionMode::Deferrable(false) => ("default_transaction_deferrable", "off"),
            };
            self.session.set(name, Some(value), false)?;
        }
        Ok(Outcome::Done("SET".to_owned()))
    }

    fn end_block(&mut self, commit: bool, chain: bool) -> Result<Outcome> {
        let explicit = self.session.transaction.as_ref().is_some_and(|running| running.block == Block::Explicit);
        if chain {
            self.block_for(if commit { "COMMIT AND CHAIN" } else { "ROLLBACK AND CHAIN" })?;
        }
        if !explicit {
            let message = "there is no transaction in progress";
            self.session.notice("WARNING", SqlState::NO_ACTIVE_SQL_TRANSACTION, message);
        }
        let modes = self.session.transaction.as_ref().filter(|_| chain).map(Modes::of);
        let committed = if commit {
            self.commit()?
        } else {
            self.session.roll_back(&mut self.db);
            false
        };
        self.catalog = self.session.catalog(&self.db);
        if let Some(modes) = modes {
            self.session.begin(&self.db, Block::Explicit);
            self.take_over(modes);
        }
        Ok(Outcome::Done(if committed { "COMMIT" } else { "ROLLBACK" }.to_owned()))
    }

    /// AND CHAIN: the transaction runs as the one before did.
    fn take_over(&mut self, modes: Modes) {
        let level = level(modes.isolation, &self.db.options);
        if let Some(transaction) = &mut self.session.transaction {
            (transaction.isolation, transaction.level) = (modes.isolation, level);
            (transaction.read_only, transaction.deferrable) = (modes.read_only, modes.deferrable);
        }
    }

    /// COMMIT or ROLLBACK of a procedure: the next transaction begins at once.
    pub(crate) fn end_and_begin(&mut self, commit: bool, chain: bool) -> Result<()> {
        let modes = self.session.transaction.as_ref().filter(|_| chain).map(Modes::of);
        if commit {
            self.commit()?;
        } else {
            self.session.roll_back(&mut self.db);
        }
        self.session.begin(&self.db, Block::Implicit);
        if let Some(modes) = modes {
            self.take_over(modes);
        }
        self.forget_seen();
        self.catalog = self.session.catalog(&self.db);
        self.bound.clear();
        Ok(())
    }

    /// A block with handlers begins: where to come back to.
    pub(crate) fn enter_block(&mut self) -> Result<usize> {
        self.enter("")?;
        let transaction = self.session.transaction.as_ref().expect("a statement runs in a transaction");
        Ok(transaction.savepoints.len() - 1)
    }

    /// It has ended: nobody comes back to it.
    pub(crate) fn leave_block(&mut self, place: usize) {
        if let Some(transaction) = &mut self.session.transaction {
            transaction.release(place);
        }
        self.session.keep_cursors(place);
    }

    /// SAVEPOINT and the like make no sense outside of a block.
    fn block_for(&self, what: &str) -> Result<()> {
        match &self.session.transaction {
            Some(transaction) if transaction.block == Block::Explicit => Ok(()),
            _ => {
                let message = format!("{what} can only be used in transaction blocks");
                Err(SqlError::new(SqlState::NO_ACTIVE_SQL_TRANSACTION, message))
            }
        }
    }

    /// The same for statements that only do nothing then.
    fn must_be_in_block(&mut self, what: &str) {
        if self.block_for(what).is_err() {
            let message = format!("{what} can only be used in transaction blocks");
            self.session.notice("WARNING", SqlState::NO_ACTIVE_SQL_TRANSACTION, message);
        }
    }

    fn savepoint(&mut self, name: &str) -> Result<Outcome> {
        self.block_for("SAVEPOINT")?;
        self.enter(name)?;
        Ok(Outcome::Done("SAVEPOINT".to_owned()))
    }

    /// A place to come back to.
    pub(crate) fn enter(&mut self, name: &str) -> Result<()> {
        let (owner, settings) = (self.owner(), self.session.settings.clone());
        let transaction = self.session.transaction.as_mut().expect("a statement runs in a transaction");
        transaction.savepoint(&mut self.db, owner, name, &settings)
    }

    fn release(&mut self, name: &str) -> Result<Outcome> {
        self.block_for("RELEASE SAVEPOINT")?;
        let transaction = self.session.transaction.as_mut().expect("the block was just seen");
        let at = transaction.find_savepoint(name)?;
        transaction.release(at);
        self.session.keep_cursors(at);
        Ok(Outcome::Done("RELEASE".to_owned()))
    }

    fn roll_back_to(&mut self, name: &str) -> Result<Outcome> {
        self.block_for("ROLLBACK TO SAVEPOINT")?;
        let transaction = self.session.transaction.as_ref().expect("the block was just seen");
        let at = transaction.find_savepoint(name)?;
        self.come_back_to(at)?;
        Ok(Outcome::Done("ROLLBACK".to_owned()))
    }

    /// Comes back to the savepoint at this place of the list, which stays.
    pub(crate) fn come_back_to(&mut self, at: usize) -> Result<()> {
        let owner = self.owner();
        let transaction = self.session.transaction.as_mut().expect("a statement runs in a transaction");
        transaction.roll_back_to(&mut self.db, owner, at, &mut self.session.settings)?;
        self.session.drop_cursors(at);
        self.forget_seen();
        self.catalog = self.session.catalog(&self.db);
        self.bound.clear();
        Ok(())
    }

    fn set_constraints(&mut self, names: &[crate::parse::ast::ObjectName], deferred: bool) -> Result<Outcome> {
        self.must_be_in_block("SET CONSTRAINTS");
        self.session.transaction(&self.db);
        let which = if names.is_empty() { None } else { Some(self.deferrable_constraints(names)?) };
        let transaction = self.session.transaction(&self.db);
        match &which {
            None => transaction.constraint_modes.push((None, deferred)),
            Some(which) => transaction.constraint_modes.extend(which.iter().map(|oid| (Some(*oid), deferred))),
        }
        if !deferred {
            self.run_deferred(which.as_deref())?;
        }
        Ok(Outcome::Done("SET CONSTRAINTS".to_owned()))
    }

    fn set(&mut self, set: &Set) -> Result<Outcome> {
        let value = (!set.values.is_empty()).then(|| {
            let quoted =
                |value: &String| if set.name == "search_path" { format!("\"{value}\"") } else { value.clone() };
            set.values.iter().map(quoted).collect::<Vec<_>>().join(", ")
        });
        if set.local {
            self.must_be_in_block("SET LOCAL");
        }
        if matches!(set.name.to_lowercase().as_str(), "role" | "session_authorization")
            && let Some(role) = value.as_deref().filter(|role| *role != "none")
        {
            self.must_be_role(role)?;
        }
        self.session.transaction(&self.db);
        self.session.set(&set.name, value.as_deref(), set.local)?;
        if set.name.eq_ignore_ascii_case("application_name") {
            let (owner, name) = (self.owner(), self.session.show("application_name").unwrap_or_default());
            if let Some(activity) = self.db.connections.get_mut(&owner) {
                activity.application = name;
            }
        }
        Ok(Outcome::Done("SET".to_owned()))
    }

    fn show(&mut self, name: Option<&str>) -> Result<Outcome> {
        let rows = match name {
            Some(name) => vec![vec![Datum::text(self.session.show(name)?)]],
            None => {
                let row = |(name, value, about): (&str, String, &str)| vec![name.into(), value, about.to_owned()];
                let shown = settings::all(self.settings()).into_iter().map(row);
                shown.map(|row: Vec<String>| row.into_iter().map(Datum::text).collect()).collect()
            }
        };
        let columns = match name {
            Some(name) => describe::texts(&[&settings::canonical(name)]),
            None => describe::texts(&["name", "setting", "description"]),
        };
        Ok(Outcome::Rows { columns, rows, tag: "SHOW".to_owned() })
    }

    fn lock_tables(
        &mut self,
        tables: &[crate::parse::ast::ObjectName],
        mode: TableLock,
        nowait: bool,
    ) -> Result<Outcome> {
        self.block_for("LOCK TABLE")?;
        let mode = table_mode(mode);
        for name in tables {
            let relation = self.resolve_relation(name)?;
            let resource = Resource::Table(relation.oid);
            if nowait && !self.db.locks.is_free(self.owner(), &resource, Mode::Table(mode)) {
                let message = format!("could not obtain lock on relation \"{}\"", relation.name);
                return Err(SqlError::new(SqlState::LOCK_NOT_AVAILABLE, message));
            }
            self.lock(&resource, Mode::Table(mode), Duration::Transaction)?;
        }
        Ok(Outcome::Done("LOCK TABLE".to_owned()))
    }

    fn listen(&mut self, change: impl FnOnce(&mut Vec<String>)) {
        let owner = self.owner();
        if let Some(activity) = self.db.connections.get_mut(&owner) {
            change(&mut activity.listens);
            activity.listens.sort();
            activity.listens.dedup();
        }
    }

    fn declare(&mut self, declare: &crate::parse::statement::DeclareCursor) -> Result<Outcome> {
        if !declare.hold {
            self.block_for("DECLARE CURSOR")?;
        }
        if self.session.cursors.contains_key(&declare.name) {
            let message = format!("cursor \"{}\" already exists", declare.name);
            return Err(SqlError::new(SqlState::DUPLICATE_CURSOR, message));
        }
        let statement = Statement::Sql(Box::new(crate::parse::ast::Statement::Query(declare.query.clone())));
        let planned = self.plan(declare.text.as_str().into(), Arc::new(statement), &[])?;
        let query = planned.plan.query.clone().expect("a query has a plan");
        let outcome = self.run_query_statement(&planned.sql, &query)?;
        let Outcome::Rows { columns, rows, .. } = outcome else {
            return Err(SqlError::unsupported("a cursor over something without rows"));
        };
        let cursor = Cursor {
            columns,
            rows: Arc::new(rows),
            bytes: 0,
            at: 0,
            holds: declare.hold,
            forward_only: declare.scroll == Some(false),
            committed: false,
            depth: self.session.cursor_depth(),
        };
        self.session.open_cursor(&declare.name, cursor)?;
        Ok(Outcome::Done("DECLARE CURSOR".to_owned()))
    }

    fn discard(&mut self, what: Discard) -> Result<Outcome> {
        if what == Discard::All {
            if self.session.transaction.as_ref().is_some_and(|running| running.block == Block::Explicit) {
                let message = "DISCARD ALL cannot run inside a transaction block";
                return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
            }
            self.session.close_cursors(true);
            self.session.cursors.clear();
            self.session.statements.clear();
            self.session.reset_settings();
            self.listen(Vec::clear);
            let owner = self.owner();
            self.db.locks.unlock_all(owner);
            self.db.changed();
        }
        if matches!(what, Discard::All | Discard::Sequences) {
            self.session.sequence_values.clear();
            self.session.last_sequence = None;
        }
        if matches!(what, Discard::All | Discard::Temporary) {
            crate::session::temporary::drop_all(&mut self.db, self.session);
            self.catalog = self.session.catalog(&self.db);
        }
        let tag = match what {
            Discard::All => "DISCARD ALL",
            Discard::Plans => "DISCARD PLANS",
            Discard::Sequences => "DISCARD SEQUENCES",
            Discard::Temporary => "DISCARD TEMP",
        };
        Ok(Outcome::Done(tag.to_owned()))
    }
}

/// What SET TRANSACTION says of a transaction.
struct Modes {
    isolation: Isolation,
    read_only: bool,
    deferrable: bool,
}

impl Modes {
    fn of(transaction: &Transaction) -> Modes {
        let Transaction { isolation, read_only, deferrable, .. } = *transaction;
        Modes { isolation, read_only, deferrable }
    }
}

/// An error if the transaction has come too far for what SET TRANSACTION says.
fn too_late(is_late: bool, message: &str) -> Result<()> {
    if is_late { Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message)) } else { Ok(()) }
}

fn table_mode(mode: TableLock) -> TableMode {
    match mode {
        TableLock::AccessShare => TableMode::AccessShare,
        TableLock::RowShare => TableMode::RowShare,
        TableLock::RowExclusive => TableMode::RowExclusive,
        TableLock::ShareUpdateExclusive => TableMode::ShareUpdateExclusive,
        TableLock::Share => TableMode::Share,
        TableLock::ShareRowExclusive => TableMode::ShareRowExclusive,
        TableLock::Exclusive => TableMode::Exclusive,
        TableLock::AccessExclusive => TableMode::AccessExclusive,
    }
}
