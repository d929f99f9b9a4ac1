//! The statement's world as the executor and functions see it.

use std::sync::Arc;

use skew_store::Recency;

use crate::catalog::{Catalog, Oid, UserFunction};
use crate::deparse;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{AccessRange, Context, LockOutcome, RowCursor, RowRef, Run};
use crate::functions::{AdvisoryKey, Env, Question, Settings};
use crate::ir::{Change, LockStrength, LockWait, SystemColumn};
use crate::session::Message;
use crate::storage::World;
use crate::storage::locks::{Asked, Duration, Mode, Resource};
use crate::storage::versions::transaction_number;
use crate::system::SystemTable;
use crate::types::{self, Datum, Definitions, ObjectNames, Type, Typed};

impl Context for World<'_> {
    fn open_rows(&mut self, table: Oid, access: AccessRange) -> Result<RowCursor> {
        self.open_scan(table, &access)
    }

    fn has_run(&mut self) -> Result<()> {
        self.withdraw_kept()
    }

    fn next_row(&mut self, cursor: &mut RowCursor) -> Result<Option<RowRef>> {
        self.next_in_scan(cursor)
    }

    fn stop_rows(&mut self, cursor: &RowCursor) -> Result<()> {
        self.stop_scan(cursor)
    }

    fn cell(&mut self, row: RowRef, column: usize) -> Result<Datum> {
        self.read_column(row, column)
    }

    fn system_column(&mut self, row: RowRef, column: SystemColumn) -> Result<Datum> {
        Ok(match column {
            SystemColumn::TableOid => Datum::Int(row.table.into()),
            SystemColumn::Ctid => Datum::text(format!("({},{})", row.key >> 8, (row.key & 0xff) + 1)),
            SystemColumn::Xmin => self.writer_of_row(row)?,
            SystemColumn::Xmax => self.locker_of_row(row)?,
            SystemColumn::Cmin | SystemColumn::Cmax => {
                return Err(SqlError::unsupported("the system columns cmin and cmax"));
            }
        })
    }

    fn lock_row(&mut self, row: RowRef, strength: LockStrength, wait: LockWait) -> Result<LockOutcome> {
        self.lock_row_explicitly(row, strength, wait)
    }

    fn call(&mut self, function: &Arc<UserFunction>, args: Vec<Datum>) -> Result<Datum> {
        crate::plpgsql::call(self, function, args)
    }

    fn call_rows(&mut self, function: &Arc<UserFunction>, args: Vec<Datum>) -> Result<Vec<Vec<Datum>>> {
        crate::plpgsql::call_rows(self, function, args)
    }

    fn returned(&self) -> &[Typed] {
        &self.returned
    }

    fn virtual_rows(&mut self, table: &'static SystemTable) -> Result<Arc<Vec<Arc<[Datum]>>>> {
        crate::introspection::rows(self, table)
    }

    fn change<'p>(&mut self, change: &'p Change, run: &mut Run<'p>) -> Result<Vec<Arc<[Datum]>>> {
        self.run_change(change, run)
    }

    fn variable(&mut self, slot: usize) -> Result<Datum> {
        let value = self.frames.last().and_then(|frame| frame.get(slot)).cloned();
        value.ok_or_else(|| SqlError::new(SqlState::UNDEFINED_PARAMETER, "there is no such variable here"))
    }

    fn param(&mut self, number: usize) -> Result<Datum> {
        let missing = || SqlError::new(SqlState::UNDEFINED_PARAMETER, format!("there is no parameter ${}", number + 1));
        self.params.get(number).cloned().ok_or_else(missing)
    }

    fn check_domain(&mut self, value: &Datum, domain: Type) -> Result<()> {
        crate::schema::check_domain(self, value, domain)
    }

    fn check_cancelled(&mut self) -> Result<()> {
        self.interrupted()?;
        self.give_way();
        Ok(())
    }
}

impl types::Env for World<'_> {
    fn settings(&self) -> &Settings {
        &self.session.settings
    }

    fn transaction_time(&self) -> i64 {
        self.session.transaction.as_ref().map_or(self.session.statement_time, |transaction| transaction.began)
    }

    fn defined(&self) -> &dyn Definitions {
        Env::catalog(self)
    }

    fn objects(&self) -> &dyn ObjectNames {
        Env::catalog(self)
    }
}

impl Env for World<'_> {
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn statement_time(&self) -> i64 {
        self.session.statement_time
    }

    fn clock_time(&self) -> i64 {
        self.session.now()
    }

    fn random_bits(&mut self) -> u64 {
        self.db.random_bits()
    }

    fn let_others_go_on(&mut self) {
        self.db.let_go();
    }

    fn go_on(&mut self) {
        self.db.take_again();
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Datum> {
        self.db.take_again();
        let client = &self.session.client;
        Ok(match question {
            Question::CurrentUser | Question::SessionUser => Datum::text(&client.user),
            Question::CurrentDatabase => Datum::text(&client.database),
            Question::Definition { what, pretty } => {
                deparse::object(self, what, pretty).map_or(Datum::Null, Datum::text)
            }
            Question::BackendPid => Datum::Int(client.pid.into()),
            Question::Blockers(pid) => {
                let blockers = i32::try_from(pid).map_or_else(|_| Vec::new(), |pid| self.db.blockers(pid));
                Datum::array(Type::INT4, blockers.into_iter().map(|pid| Datum::Int(pid.into())).collect())
            }
            Question::TriggerDepth => Datum::Int(self.trigger_depth as i64),
            Question::TransactionId => Datum::Int(transaction_number(self.txn()?)),
            Question::NextValue(sequence) => Datum::Int(self.next_value(sequence)?),
            Question::CurrentValue(sequence) => Datum::Int(self.current_value(sequence)?),
            Question::SetValue { sequence, value, called } => Datum::Int(self.set_value(sequence, value, called)?),
            Question::LastValue => Datum::Int(self.last_value()?),
            Question::SequenceState { sequence, called } => {
                let relation = self.relation(sequence)?;
                let crate::catalog::RelationKind::Sequence(definition) = &relation.kind else {
                    let message = format!("\"{}\" is not a sequence", relation.name);
                    return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                };
                let state = *self.db.sequence(sequence, definition);
                if called { Datum::Bool(state.called) } else { Datum::Int(state.last) }
            }
            Question::Setting { name, missing_ok } => match self.session.show(name) {
                Ok(value) => Datum::text(value),
                Err(_) if missing_ok => Datum::Null,
                Err(error) => return Err(error),
            },
            Question::SetSetting { name, value, local } => {
                self.session.set(name, value, local)?;
                Datum::text(self.session.show(name)?)
            }
            Question::AdvisoryLock { key, shared, transaction, wait } => {
                let duration = if transaction { Duration::Transaction } else { Duration::Session };
                self.advisory_lock(key, shared, duration, wait)?
            }
            Question::AdvisoryUnlock { key, shared } => {
                let (owner, resource) = (self.owner(), Resource::Advisory(key));
                let unlocked = self.db.locks.unlock(owner, &resource, advisory_mode(shared));
                self.db.changed();
                if !unlocked {
                    let message = "you don't own a lock of type ExclusiveLock";
                    self.session.messages.push(Message::Notice("WARNING", SqlError::new(SqlState::WARNING, message)));
                }
                Datum::Bool(unlocked)
            }
            Question::AdvisoryUnlockAll => {
                let owner = self.owner();
                self.db.locks.unlock_all(owner);
                self.db.changed();
                Datum::Null
            }
            Question::Sleep { seconds } => {
                self.sleep(seconds)?;
                Datum::Null
            }
            Question::Notify { channel, payload } => {
                self.notify(channel, payload)?;
                Datum::Null
            }
            Question::CancelBackend { pid, terminate } => {
                let found = self.db.connections.values().find(|other| i64::from(other.pid) == pid);
                let found = found.map(|other| other.cancel.clone());
                if let Some(cancel) = &found {
                    if terminate { cancel.terminate() } else { cancel.cancel() }
                }
                Datum::Bool(found.is_some())
            }
            Question::Skew { name, args } => crate::session::control::ask(self, name, args)?,
            Question::RelationSize(_) => Datum::Int(8192),
        })
    }
}

fn advisory_mode(shared: bool) -> Mode {
    if shared { Mode::Shared } else { Mode::Exclusive }
}

impl World<'_> {
    fn advisory_lock(&mut self, key: AdvisoryKey, shared: bool, duration: Duration, wait: bool) -> Result<Datum> {
        let (resource, mode) = (Resource::Advisory(key), advisory_mode(shared));
        if wait {
            self.lock(&resource, mode, duration)?;
        } else {
            let owner = self.owner();
            let is_free = self.db.locks.is_free(owner, &resource, mode);
            if !is_free || self.db.locks.ask(owner, &resource, mode, duration) != Asked::Granted {
                return Ok(Datum::Bool(false));
            }
        }
        // Who had it before has committed. Where nothing else makes others see that, this does.
        if duration == Duration::Transaction && self.db.options.recency == Recency::None {
            let held = self.db.store.key(&format!("advisory lock {key:?}"));
            self.hold(&[held.0], if shared { LockStrength::Share } else { LockStrength::Update })?;
        }
        Ok(if wait { Datum::Null } else { Datum::Bool(true) })
    }

    pub(crate) fn sleep(&mut self, seconds: f64) -> Result<()> {
        let longest = std::time::Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
        let end = std::time::Instant::now() + longest;
        loop {
            let left = end.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.db.sleep(&self.session.client, left.min(std::time::Duration::from_millis(50)));
            let interrupted = self.interrupted();
            self.db.take_again();
            interrupted?;
        }
    }

    fn next_value(&mut self, oid: Oid) -> Result<i64> {
        let relation = self.relation(oid)?;
        let crate::catalog::RelationKind::Sequence(sequence) = &relation.kind else {
            let message = format!("\"{}\" is not a sequence", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        let state = self.db.sequence(oid, sequence);
        let value = if state.called {
            match state.last.checked_add(sequence.increment) {
                Some(next) if (sequence.minimum..=sequence.maximum).contains(&next) => next,
                _ if sequence.cycle && sequence.increment > 0 => sequence.minimum,
                _ if sequence.cycle => sequence.maximum,
                _ => {
                    let (end, limit) = match sequence.increment > 0 {
                        true => ("maximum", sequence.maximum),
                        false => ("minimum", sequence.minimum),
                    };
                    let message = format!("nextval: reached {end} value of sequence \"{}\" ({limit})", relation.name);
                    return Err(SqlError::new(SqlState("2200H"), message));
                }
            }
        } else {
            state.last
        };
        (state.last, state.called) = (value, true);
        self.session.sequence_values.insert(oid, value);
        self.session.last_sequence = Some(oid);
        Ok(value)
    }

    fn current_value(&mut self, oid: Oid) -> Result<i64> {
        let name = self.relation(oid)?.name.clone();
        self.session.sequence_values.get(&oid).copied().ok_or_else(|| {
            let message = format!("currval of sequence \"{name}\" is not yet defined in this session");
            SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        })
    }

    fn last_value(&mut self) -> Result<i64> {
        match self.session.last_sequence {
            Some(oid) => self.current_value(oid),
            None => {
                let message = "lastval is not yet defined in this session";
                Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message))
            }
        }
    }

    fn set_value(&mut self, oid: Oid, value: i64, called: bool) -> Result<i64> {
        let relation = self.relation(oid)?;
        if let crate::catalog::RelationKind::Sequence(sequence) = &relation.kind {
            if !(sequence.minimum..=sequence.maximum).contains(&value) {
                let message = format!(
                    "setval: value {value} is out of bounds for sequence \"{}\" ({}..{})",
                    relation.name, sequence.minimum, sequence.maximum
                );
                return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message));
            }
            let state = self.db.sequence(oid, sequence);
            (state.last, state.called) = (value, called);
        }
        if called {
            self.session.sequence_values.insert(oid, value);
        }
        Ok(value)
    }

    /// What a sequence's relation shows: last_value, log_cnt, is_called.
    pub(crate) fn sequence_row(&mut self, oid: Oid) -> Result<(i64, bool)> {
        let relation = self.relation(oid)?;
        let crate::catalog::RelationKind::Sequence(sequence) = &relation.kind else {
            return Err(SqlError::unsupported("a sequence that is none"));
        };
        let state = self.db.sequence(oid, sequence);
        Ok((state.last, state.called))
    }
}
