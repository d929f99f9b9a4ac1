//! INSERT, UPDATE, DELETE and MERGE: which rows change, what is checked, what is returned.
//!
//! Every statement first finds out everything (rows, locks, new values) and then writes, so that it never sees its own
//! changes. Constraints are checked as PostgreSQL does: NOT NULL, CHECK and UNIQUE row by row, FOREIGN KEY at the end of
//! the statement or of the transaction.
//!
//! - [`insert`], [`update`], [`delete`], [`merge`]: the statements
//! - [`constraints`]: NOT NULL, CHECK, UNIQUE; [`foreign_keys`]: FOREIGN KEY
//! - [`lock`]: locking the rows that change; [`spans`]: what constraints over several cells rely on
//! - `taken`: what a transaction is told that cannot see by whom a key is taken
//! - [`triggers`]: triggers around all of it

pub(crate) mod constraints;
mod delete;
pub mod foreign_keys;
mod insert;
pub(crate) mod lock;
mod merge;
pub(crate) mod spans;
mod taken;
mod triggers;
mod update;

use std::sync::Arc;

use crate::catalog::Oid;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Tuple};
use crate::ir::{Change, Expr, Plan, Returning};
use crate::storage::World;
use crate::types::Datum;

pub(crate) use foreign_keys::Check;
pub(crate) use triggers::Changed;

pub use crate::plpgsql::Event;

impl World<'_> {
    /// Runs a change and gives what its RETURNING says. How many rows it changed stays with the run.
    pub(crate) fn run_change<'p>(&mut self, change: &'p Change, run: &mut Run<'p>) -> Result<Vec<Arc<[Datum]>>> {
        let what = match change {
            Change::Insert(_) => "INSERT",
            Change::Update(_) => "UPDATE",
            Change::Delete(_) => "DELETE",
            Change::Merge(_) => "MERGE",
        };
        self.must_not_be_read_only(what)?;
        let mut checks = Vec::new();
        let done = match change {
            Change::Insert(insert) => self.insert(insert, run, &mut checks),
            Change::Update(update) => self.update(update, run, &mut checks),
            Change::Delete(delete) => self.delete(delete, run, &mut checks),
            Change::Merge(merge) => self.merge(merge, run, &mut checks),
        }?;
        self.run_checks(checks)?;
        run.changed = done.count;
        Ok(done.returned)
    }

    /// The value of an expression over one row of values.
    pub(crate) fn eval_over(&mut self, expr: &Expr, values: &[Datum]) -> Result<Datum> {
        Run::new().eval(self, expr, &Tuple::values(values.into()))
    }

    /// What RETURNING says about a tuple.
    fn returning<'p>(
        &mut self,
        returning: Option<&'p Returning>,
        run: &mut Run<'p>,
        tuple: &Tuple,
        done: &mut Done,
    ) -> Result<()> {
        if let Some(returning) = returning {
            let mut values = Vec::with_capacity(returning.values.len());
            for value in &returning.values {
                values.push(run.eval(self, value, tuple)?);
            }
            done.returned.push(values.into());
        }
        Ok(())
    }

    /// Whether a change writes each row before it looks for the next one: volatile functions of users look at the tables,
    /// and see what the statement has done so far. The statement itself goes on to see what was there before it.
    fn runs_row_by_row(&mut self, table: Oid, plans: &[&Plan], expressions: Vec<&Expr>) -> bool {
        if self.catalog.functions.is_empty() {
            return false;
        }
        let is_called =
            plans.iter().any(|plan| plan.calls_volatile()) || expressions.iter().any(|expr| expr.calls_volatile());
        if is_called && !self.seen_across.contains(table) {
            self.seen_across.tables.push(table);
        }
        is_called
    }

    pub(crate) fn must_not_be_read_only(&self, what: &str) -> Result<()> {
        if self.session.transaction.as_ref().is_some_and(|transaction| transaction.read_only) {
            let message = format!("cannot execute {what} in a read-only transaction");
            return Err(SqlError::new(SqlState::READ_ONLY_SQL_TRANSACTION, message));
        }
        Ok(())
    }
}

/// What a change has come to.
#[derive(Default)]
struct Done {
    count: u64,
    returned: Vec<Arc<[Datum]>>,
}
