//! Expressions → values: three-valued logic, and no cell is read before it is needed.

mod arrays;
mod calls;
mod compare;
mod logic;

pub(crate) use arrays::array_of;
pub use calls::check_domains;
pub(crate) use calls::{SetRows, set_rows};
pub(crate) use compare::{RowComparison, Verdict};

use std::sync::Arc;

use crate::budget::Charge;
use crate::error::Result;
use crate::exec::run::internal;
use crate::exec::{Context, Run, Slot, Tuple};
use crate::functions::Question;
use crate::ir::{ColumnRef, Expr, ExprKind, SystemColumn};
use crate::types::{Datum, RecordShape};

impl<'p> Run<'p> {
    /// The value of an expression over a tuple.
    pub fn eval(&mut self, cx: &mut dyn Context, expr: &'p Expr, tuple: &Tuple) -> Result<Datum> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(value.clone()),
            ExprKind::Column(column) => self.column(cx, column, tuple),
            ExprKind::Param(number) => cx.param(*number),
            ExprKind::Variable(slot) => cx.variable(*slot),
            ExprKind::Operand => self.operand(),
            ExprKind::Call { function, args } => self.call(cx, function, args, expr.typed, tuple),
            _ => self.eval_nested(cx, expr, tuple),
        }
    }

    fn operand(&self) -> Result<Datum> {
        self.operands.last().cloned().ok_or_else(|| internal("an operand outside of its expression"))
    }

    fn column(&mut self, cx: &mut dyn Context, column: &ColumnRef, tuple: &Tuple) -> Result<Datum> {
        match self.around(column.up, tuple)?.slot(column.slot) {
            Slot::Row(row) => cx.cell(*row, column.column),
            Slot::Values(values) => Ok(values.get(column.column).cloned().unwrap_or_default()),
            Slot::Missing => Ok(Datum::Null),
        }
    }

    /// Every arm is one call: an arm's own values would take room in every frame, and frames are nested here.
    fn eval_nested(&mut self, cx: &mut dyn Context, expr: &'p Expr, tuple: &Tuple) -> Result<Datum> {
        self.enter()?;
        match &expr.kind {
            ExprKind::UserCall { function, args } => self.user_call(cx, function, args, tuple),
            ExprKind::Cast { arg, explicit } => self.cast(cx, arg, expr.typed, *explicit, tuple),
            ExprKind::And(args) => self.and(cx, args, tuple),
            ExprKind::Or(args) => self.or(cx, args, tuple),
            ExprKind::Not(arg) => self.not(cx, arg, tuple),
            ExprKind::IsNull(arg) => self.is_null(cx, arg, tuple),
            ExprKind::IsNotNull(arg) => self.is_not_null(cx, arg, tuple),
            ExprKind::IsBool { arg, value, negated } => self.is_bool(cx, arg, *value, *negated, tuple),
            ExprKind::IsDistinct { args, negated } => self.is_distinct(cx, args, *negated, tuple),
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(cx, operand.as_deref(), branches, otherwise.as_deref(), tuple)
            }
            ExprKind::Coalesce(args) => self.coalesce(cx, args, tuple),
            ExprKind::NullIf { value, equal } => self.null_if(cx, value, equal, tuple),
            ExprKind::Extreme { args, greatest } => self.extreme(cx, args, *greatest, tuple),
            ExprKind::Quantified { arg, operator, list, all } => self.quantified(cx, arg, operator, list, *all, tuple),
            ExprKind::MakeRow { fields, shape } => self.make_row(cx, fields, shape, tuple),
            ExprKind::CompareRows { operator, left, right } => self.compare_rows(cx, *operator, left, right, tuple),
            ExprKind::Row { up, slot, shape } => self.whole_row(cx, *up, *slot, shape, tuple),
            ExprKind::System { up, slot, column } => self.system_column(cx, *up, *slot, *column, tuple),
            ExprKind::Field { arg, index } => self.field(cx, arg, *index, tuple),
            ExprKind::ReplaceField { arg, index, value, shape } => {
                self.replace_field(cx, arg, *index, value, shape, tuple)
            }
            ExprKind::MakeArray(items) => self.make_array(cx, items, expr.ty(), tuple),
            ExprKind::Subscript { arg, indices } => self.subscript(cx, arg, indices, tuple),
            ExprKind::Replace { arg, indices, value } => self.replace(cx, arg, indices, value, tuple),
            ExprKind::Subquery { kind, query } => self.subquery(cx, kind, query, tuple),
            ExprKind::NextValue(sequence) => cx.ask(Question::NextValue(*sequence)),
            ExprKind::Default(_) => Err(internal("defaults are looked up before anything is evaluated")),
            ExprKind::Const(_)
            | ExprKind::Column(_)
            | ExprKind::Param(_)
            | ExprKind::Variable(_)
            | ExprKind::Operand
            | ExprKind::Call { .. } => Err(internal("what is evaluated at once does not come here")),
        }
    }

    /// The values of several expressions.
    pub(crate) fn eval_all(&mut self, cx: &mut dyn Context, exprs: &'p [Expr], tuple: &Tuple) -> Result<Vec<Datum>> {
        let mut values = Vec::with_capacity(exprs.len());
        // Large values count while others are made beside them.
        let mut large = Charge::default();
        for expr in exprs {
            let value = self.eval(cx, expr, tuple)?;
            if value.is_large() {
                large.add(value.weight())?;
            }
            values.push(value);
        }
        Ok(values)
    }

    fn make_row(
        &mut self,
        cx: &mut dyn Context,
        fields: &'p [Expr],
        shape: &Arc<RecordShape>,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let row = Datum::record(shape.clone(), self.eval_all(cx, fields, tuple)?);
        row.check_nesting()?;
        Ok(row)
    }

    fn field(&mut self, cx: &mut dyn Context, arg: &'p Expr, index: usize, tuple: &Tuple) -> Result<Datum> {
        Ok(match self.eval(cx, arg, tuple)? {
            Datum::Record(record) => record.fields.get(index).cloned().unwrap_or_default(),
            _ => Datum::Null,
        })
    }

    fn system_column(
        &mut self,
        cx: &mut dyn Context,
        up: usize,
        slot: usize,
        column: SystemColumn,
        tuple: &Tuple,
    ) -> Result<Datum> {
        match self.around(up, tuple)?.slot(slot) {
            Slot::Row(row) => cx.system_column(*row, column),
            Slot::Values(_) | Slot::Missing => Ok(Datum::Null),
        }
    }

    fn whole_row(
        &mut self,
        cx: &mut dyn Context,
        up: usize,
        slot: usize,
        shape: &Arc<RecordShape>,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let row = match self.around(up, tuple)?.slot(slot) {
            Slot::Missing => return Ok(Datum::Null),
            Slot::Values(values) => return Ok(Datum::record(shape.clone(), values.to_vec())),
            Slot::Row(row) => *row,
        };
        let table = cx.catalog().table(row.table).ok_or_else(|| internal("a row of a table that is gone"))?;
        let columns = table.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
        let columns: Vec<usize> = columns.map(|(position, _)| position).collect();
        let mut fields = Vec::with_capacity(columns.len());
        for column in columns {
            fields.push(cx.cell(row, column)?);
        }
        Ok(Datum::record(shape.clone(), fields))
    }

    fn replace_field(
        &mut self,
        cx: &mut dyn Context,
        arg: &'p Expr,
        index: usize,
        value: &'p Expr,
        shape: &Arc<RecordShape>,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let mut fields = match self.eval(cx, arg, tuple)? {
            Datum::Record(record) => record.fields.clone(),
            _ => vec![Datum::Null; shape.fields.len()],
        };
        let value = self.eval(cx, value, tuple)?;
        *fields.get_mut(index).ok_or_else(|| internal("a field that the record does not have"))? = value;
        Ok(Datum::record(shape.clone(), fields))
    }
}
