//! A world in memory that writes down what is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::{Catalog, Oid, UserFunction};
use crate::error::{Result, SqlError};
use crate::exec::{AccessRange, Context, LockOutcome, RowCursor, RowRef, Run};
use crate::functions::{Env, Question, Settings};
use crate::ir::{Change, LockStrength, LockWait, SystemColumn};
use crate::types::{self, Datum, Definitions, ObjectNames};

/// Tables by number; rows are lists of values. Names in the log: table `t1`, its row `t1[0]`, its cell `t1[0].1`.
#[derive(Default)]
pub(super) struct Fake {
    pub(super) tables: Vec<Vec<Vec<Datum>>>,
    pub(super) params: Vec<Datum>,
    /// Rows that somebody changes or deletes (`None`) before they can be locked.
    pub(super) concurrent: Vec<(RowRef, Option<Vec<Datum>>)>,
    pub(super) locked_by_others: Vec<RowRef>,
    pub(super) cancelled: bool,
    pub(super) changes: usize,
    pub(super) log: Vec<String>,
    pub(super) cached: BTreeSet<(Oid, u32, usize)>,
    pub(super) catalog: Catalog,
    pub(super) settings: Settings,
}

impl Fake {
    /// A world with these tables of integers; `i64::MIN` is NULL.
    pub(super) fn of(tables: &[&[&[i64]]]) -> Fake {
        let value = |value: &i64| if *value == i64::MIN { Datum::Null } else { Datum::Int(*value) };
        let row = |row: &&[i64]| row.iter().map(value).collect();
        Fake { tables: tables.iter().map(|table| table.iter().map(row).collect()).collect(), ..Fake::default() }
    }

    /// What was read since the last call.
    pub(super) fn reads(&mut self) -> String {
        std::mem::take(&mut self.log).join(" ")
    }
}

impl Context for Fake {
    fn open_rows(&mut self, table: Oid, access: AccessRange) -> Result<RowCursor> {
        let rows = &self.tables[table as usize];
        // An index is over the first columns, in their order.
        let covered = |row: &Vec<Datum>| match &access {
            AccessRange::All => true,
            AccessRange::Index { equal, from, to, .. } => {
                let text = |value: &Datum| format!("{value:?}");
                let found = equal.iter().find(|key| key.iter().zip(row).all(|(key, cell)| text(key) == text(cell)));
                let next = found.map(|key| &row[key.len().min(row.len() - 1)]);
                let int = |value: &Datum| if let Datum::Int(value) = value { *value } else { 0 };
                let after = |bound: &(Datum, bool), cell| int(cell) >= int(&bound.0) + i64::from(!bound.1);
                let before = |bound: &(Datum, bool), cell| int(cell) <= int(&bound.0) - i64::from(!bound.1);
                next.is_some_and(|cell| {
                    from.as_ref().is_none_or(|from| after(from, cell)) && to.as_ref().is_none_or(|to| before(to, cell))
                })
            }
        };
        let keys = (0..rows.len()).filter(|row| covered(&rows[*row]));
        let candidates = keys.map(|key| (RowRef::seen(table, key as u32), None)).collect();
        Ok(RowCursor { candidates, ..RowCursor::default() })
    }

    fn next_row(&mut self, cursor: &mut RowCursor) -> Result<Option<RowRef>> {
        let Some((row, _)) = cursor.candidates.get(cursor.reached) else { return Ok(None) };
        cursor.reached += 1;
        if self.cached.insert((row.table, row.key, usize::MAX)) {
            self.log.push(format!("t{}[{}]", row.table, row.key));
        }
        Ok(Some(*row))
    }

    fn cell(&mut self, row: RowRef, column: usize) -> Result<Datum> {
        if self.cached.insert((row.table, row.key, column)) {
            self.log.push(format!("t{}[{}].{column}", row.table, row.key));
        }
        Ok(self.tables[row.table as usize][row.key as usize][column].clone())
    }

    fn system_column(&mut self, row: RowRef, _: SystemColumn) -> Result<Datum> {
        Ok(Datum::Int(row.table.into()))
    }

    fn lock_row(&mut self, row: RowRef, _: LockStrength, wait: LockWait) -> Result<LockOutcome> {
        self.log.push(format!("lock t{}[{}]", row.table, row.key));
        if wait == LockWait::SkipLocked && self.locked_by_others.contains(&row) {
            return Ok(LockOutcome::Skipped);
        }
        let Some(at) = self.concurrent.iter().position(|(changed, _)| *changed == row) else {
            return Ok(LockOutcome::Locked(row));
        };
        let (_, newest) = self.concurrent.remove(at);
        Ok(match newest {
            Some(values) => {
                self.tables[row.table as usize][row.key as usize] = values;
                LockOutcome::Changed(row)
            }
            None => LockOutcome::Gone,
        })
    }

    fn call(&mut self, _: &Arc<UserFunction>, _: Vec<Datum>) -> Result<Datum> {
        Err(SqlError::unsupported("a user's function"))
    }

    fn call_rows(&mut self, _: &Arc<UserFunction>, _: Vec<Datum>) -> Result<Vec<Vec<Datum>>> {
        Err(SqlError::unsupported("a user's function"))
    }

    fn virtual_rows(&mut self, _: &'static crate::system::SystemTable) -> Result<Arc<Vec<Arc<[Datum]>>>> {
        Ok(Arc::default())
    }

    fn change<'p>(&mut self, _: &'p Change, _: &mut Run<'p>) -> Result<Vec<Arc<[Datum]>>> {
        self.changes += 1;
        Ok(vec![Arc::from([Datum::Int(self.changes as i64)])])
    }

    fn variable(&mut self, slot: usize) -> Result<Datum> {
        self.param(slot)
    }

    fn param(&mut self, number: usize) -> Result<Datum> {
        Ok(self.params[number].clone())
    }

    fn check_cancelled(&mut self) -> Result<()> {
        if self.cancelled { Err(SqlError::new(crate::error::SqlState::QUERY_CANCELED, "cancelled")) } else { Ok(()) }
    }
}

impl types::Env for Fake {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn transaction_time(&self) -> i64 {
        0
    }

    fn defined(&self) -> &dyn Definitions {
        Env::catalog(self)
    }

    fn objects(&self) -> &dyn ObjectNames {
        Env::catalog(self)
    }
}

impl Env for Fake {
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn statement_time(&self) -> i64 {
        0
    }

    fn clock_time(&self) -> i64 {
        0
    }

    fn random_bits(&mut self) -> u64 {
        4
    }

    fn ask(&mut self, _: Question<'_>) -> Result<Datum> {
        Ok(Datum::Null)
    }
}
