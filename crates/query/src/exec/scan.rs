//! Where tuples come from: tables, catalog views, VALUES.

use std::sync::Arc;

use crate::error::Result;
use crate::exec::access;
use crate::exec::operator::Operator;
use crate::exec::{Context, RowCursor, Run, Slot, Tuple};
use crate::ir::{self, Expr};
use crate::system::SystemTable;
use crate::types::Datum;

/// One tuple without slots.
#[derive(Default)]
pub(crate) struct One {
    given: bool,
}

impl<'p> Operator<'p> for One {
    fn next(&mut self, _: &mut Run<'p>, _: &mut dyn Context) -> Result<Option<Tuple>> {
        let first = !std::mem::replace(&mut self.given, true);
        Ok(first.then(Tuple::default))
    }

    fn rewind(&mut self, _: &mut Run<'p>) {
        self.given = false;
    }
}

/// No tuple.
pub(crate) struct Empty;

impl<'p> Operator<'p> for Empty {
    fn next(&mut self, _: &mut Run<'p>, _: &mut dyn Context) -> Result<Option<Tuple>> {
        Ok(None)
    }

    fn rewind(&mut self, _: &mut Run<'p>) {}
}

/// The rows of a table.
pub(crate) struct Scan<'p> {
    plan: &'p ir::Scan,
    state: ScanState,
    /// How many tuples are asked for at most, and how many of them are left.
    most: Option<usize>,
    left: usize,
}

enum ScanState {
    Before,
    Under(RowCursor),
    After,
}

impl<'p> Scan<'p> {
    pub(crate) fn new(plan: &'p ir::Scan) -> Self {
        Scan { plan, state: ScanState::Before, most: None, left: 0 }
    }

    fn start(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<()> {
        self.left = self.most.unwrap_or(usize::MAX);
        let Some(access) = access::evaluate(&self.plan.access, run, cx)? else {
            self.state = ScanState::After;
            return Ok(());
        };
        let mut cursor = match self.plan.reverse {
            true => cx.open_rows_backwards(self.plan.table, access)?,
            false => cx.open_rows(self.plan.table, access)?,
        };
        cursor.seeks = self.plan.seeks;
        self.state = ScanState::Under(cursor);
        Ok(())
    }
}

impl<'p> Operator<'p> for Scan<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        if let ScanState::Before = self.state {
            self.start(run, cx)?;
        }
        let ScanState::Under(cursor) = &mut self.state else { return Ok(None) };
        while let Some(row) = cx.next_row(cursor)? {
            run.step(cx)?;
            let tuple = Tuple::of(Slot::Row(row));
            match &self.plan.filter {
                Some(filter) if !run.is_true(cx, filter, &tuple)? => {}
                _ => {
                    self.left = self.left.saturating_sub(1);
                    if self.left == 0 {
                        cx.stop_rows(cursor)?;
                        self.state = ScanState::After;
                    }
                    return Ok(Some(tuple));
                }
            }
        }
        self.state = ScanState::After;
        Ok(None)
    }

    fn rewind(&mut self, _: &mut Run<'p>) {
        self.state = ScanState::Before;
        self.most = None;
    }

    fn bound(&mut self, tuples: usize) {
        self.most = Some(tuples);
    }
}

/// The rows of a catalog view.
pub(crate) struct Virtual {
    table: &'static SystemTable,
    rows: Option<Arc<Vec<Arc<[Datum]>>>>,
    next: usize,
}

impl Virtual {
    pub(crate) fn new(table: &'static SystemTable) -> Self {
        Virtual { table, rows: None, next: 0 }
    }
}

impl<'p> Operator<'p> for Virtual {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        run.step(cx)?;
        let rows = match &self.rows {
            Some(rows) => rows,
            None => self.rows.insert(cx.virtual_rows(self.table)?),
        };
        let row = rows.get(self.next).cloned();
        self.next += 1;
        Ok(row.map(Tuple::values))
    }

    fn rewind(&mut self, _: &mut Run<'p>) {
        self.next = 0;
    }
}

/// Rows of expressions.
pub(crate) struct Values<'p> {
    rows: &'p [Vec<Expr>],
    next: usize,
}

impl<'p> Values<'p> {
    pub(crate) fn new(rows: &'p [Vec<Expr>]) -> Self {
        Values { rows, next: 0 }
    }
}

impl<'p> Operator<'p> for Values<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        run.step(cx)?;
        let Some(row) = self.rows.get(self.next) else { return Ok(None) };
        self.next += 1;
        let none = Tuple::default();
        let values = row.iter().map(|value| run.eval(cx, value, &none)).collect::<Result<Arc<[Datum]>>>()?;
        Ok(Some(Tuple::values(values)))
    }

    fn rewind(&mut self, _: &mut Run<'p>) {
        self.next = 0;
    }
}
