//! Expressions to values, with what they look at on the way.

use std::sync::Arc;

use skew_sql::catalog::{Oid, Volatility};
use skew_sql::ir::{self as sql, Expr, ExprKind};
use skew_sql::types::{Datum, Type};

use super::Lowering;
use super::plan::{Slot, Tuple};
use crate::ir::{Cell, Function, Outside, Source, Step, Value};
use crate::summary::values::keeps_values;

impl Lowering<'_> {
    /// The value of an expression. Where it is not sure that all of it is worked out, nothing is sure.
    pub(super) fn value(&mut self, expr: &Expr, tuple: Option<&Tuple<'_>>, sure: bool) -> Value {
        match &expr.kind {
            ExprKind::Const(value) => constant(value, expr.ty()),
            ExprKind::Variable(place) => match self.is_record(*place) {
                true => Value::opaque("a record"),
                false => Value::Variable(self.place(*place, None)),
            },
            ExprKind::Param(number) => self.parameter(*number),
            ExprKind::Field { arg, index } => match arg.kind {
                ExprKind::Variable(place) if self.is_record(place) => Value::Variable(self.place(place, Some(*index))),
                _ => {
                    self.value(arg, tuple, sure);
                    Value::opaque("a field")
                }
            },
            ExprKind::Column(column) => self.column(*column, tuple),
            ExprKind::Row { up, slot, .. } => {
                self.whole_row((*up, *slot), tuple);
                Value::opaque("a row")
            }
            ExprKind::System { up, slot, .. } => {
                self.read((*up, *slot), None, tuple);
                let origin = self.origin.clone();
                self.emit(Step::Outside(origin, Outside::Volatile("a system column".into())));
                Value::opaque("a system column")
            }
            ExprKind::Call { function, args } => self.builtin(function, args, expr, tuple, sure),
            ExprKind::UserCall { function, args } => {
                let args = args.iter().map(|arg| self.value(arg, tuple, sure)).collect();
                self.call(function, args, sure)
            }
            ExprKind::Cast { arg, .. } => {
                let value = self.value(arg, tuple, sure);
                match keeps_values(arg.typed, expr.typed) {
                    true => value,
                    false => self.converted_to(value, expr),
                }
            }
            ExprKind::And(parts) => self.logical(Function::And, parts, tuple, sure),
            ExprKind::Or(parts) => self.logical(Function::Or, parts, tuple, sure),
            ExprKind::Not(part) => Value::Apply(Function::Not, vec![self.value(part, tuple, sure)]),
            ExprKind::IsNull(arg) | ExprKind::IsNotNull(arg) if arg.ty() != Type::RECORD => {
                let is_null = Value::Apply(Function::IsNull, vec![self.value(arg, tuple, sure)]);
                match expr.kind {
                    ExprKind::IsNull(_) => is_null,
                    _ => Value::Apply(Function::Not, vec![is_null]),
                }
            }
            ExprKind::Subquery { kind, query } => self.subquery(kind, query, tuple, sure),
            ExprKind::NextValue(sequence) => self.next(*sequence),
            ExprKind::Default(_) => {
                self.havoc("a default that is not bound");
                Value::opaque("a default")
            }
            _ => {
                // Parts of these are worked out one after the other, until the value is known.
                self.perhaps(|lowering| sql::children(expr, &mut |part| _ = lowering.value(part, tuple, false)));
                Value::opaque(name_of(&expr.kind))
            }
        }
    }

    fn converted_to(&mut self, value: Value, to: &Expr) -> Value {
        // A conversion to a domain checks it.
        if let Some(user) = self.schema.catalog.user_type(to.ty()) {
            self.check_domain(user, &value);
        }
        Value::opaque("a conversion")
    }

    fn parameter(&mut self, number: usize) -> Value {
        let place = self.routine.body.parameters.get(number).copied();
        match place {
            Some(place) if !self.is_record(place) => Value::Variable(self.place(place, None)),
            _ => Value::opaque("a parameter"),
        }
    }

    fn column(&mut self, column: sql::ColumnRef, tuple: Option<&Tuple<'_>>) -> Value {
        let slot = tuple.and_then(|tuple| tuple.up(column.up)).and_then(|tuple| tuple.slots.get(column.slot)).cloned();
        match slot {
            Some(Slot::Row(id)) => {
                self.read((column.up, column.slot), Some(column.column), tuple);
                Value::Column(id, column.column)
            }
            Some(Slot::Values(values)) => {
                values.get(column.column).cloned().unwrap_or_else(|| Value::opaque("a column of a query"))
            }
            None => Value::opaque("a column"),
        }
    }

    /// A column is read, or only whether the row is there.
    fn read(&mut self, (up, slot): (usize, usize), column: Option<usize>, tuple: Option<&Tuple<'_>>) {
        let Some(tuple) = tuple.and_then(|tuple| tuple.up(up)) else { return };
        let Some(Slot::Row(id)) = tuple.slots.get(slot) else { return };
        let cell = column.map_or(Cell::Existence, |column| self.cell(self.accesses[id.0].table, column));
        let decides = tuple.seeks == Some(*id);
        let access = self.at(*id);
        match decides {
            true => access.may_decide.widen(cell),
            false => access.may_read.widen(cell),
        }
    }

    fn whole_row(&mut self, place: (usize, usize), tuple: Option<&Tuple<'_>>) {
        let slot = tuple.and_then(|tuple| tuple.up(place.0)).and_then(|tuple| tuple.slots.get(place.1));
        let Some(Slot::Row(id)) = slot else { return };
        let columns = self.table(self.accesses[id.0].table).map_or(0, |table| table.columns.len());
        (0..columns).for_each(|column| self.read(place, Some(column), tuple));
    }

    /// AND and OR may know their value before all parts are worked out.
    fn logical(&mut self, function: Function, parts: &[Expr], tuple: Option<&Tuple<'_>>, sure: bool) -> Value {
        let each = parts.iter().enumerate().map(|(at, part)| match at {
            0 => self.value(part, tuple, sure),
            _ => self.perhaps(|lowering| lowering.value(part, tuple, false)),
        });
        Value::Apply(function, each.collect())
    }

    fn builtin(
        &mut self,
        function: &'static skew_sql::functions::Function,
        args: &[Expr],
        expr: &Expr,
        tuple: Option<&Tuple<'_>>,
        sure: bool,
    ) -> Value {
        // Of NULL and something else a strict function works out no more.
        let all = sure && (args.len() < 2 || !function.strict);
        let each = |lowering: &mut Self| args.iter().map(|arg| lowering.value(arg, tuple, all)).collect::<Vec<_>>();
        let values = each(self);
        if function.volatility == Volatility::Volatile {
            let origin = self.origin.clone();
            self.emit(Step::Outside(origin, Outside::Volatile(function.name.into())));
            return Value::opaque(format!("a value of {}", function.name));
        }
        let ordered = args.iter().all(|arg| crate::summary::values::has_an_order(arg.ty()));
        let whole = crate::summary::values::is_integer(expr.ty());
        match Function::of_operator(function.name).filter(|_| values.len() == 2) {
            Some(known) if (known.compares() && ordered) || (!known.compares() && whole) => Value::Apply(known, values),
            _ => Value::opaque(format!("a value of {}", function.name)),
        }
    }

    fn subquery(
        &mut self,
        kind: &sql::SubqueryKind,
        query: &sql::Query,
        tuple: Option<&Tuple<'_>>,
        sure: bool,
    ) -> Value {
        if let sql::SubqueryKind::Quantified { args, .. } = kind {
            args.iter().for_each(|arg| _ = self.value(arg, tuple, false));
        }
        // What does not depend on the tuple is worked out once in a statement, if at all.
        let once = sure && !query.correlated && matches!(kind, sql::SubqueryKind::Scalar);
        if !once {
            self.perhaps(|lowering| _ = lowering.plan(&query.plan, tuple, false));
            return Value::opaque("a subquery");
        }
        let slots = self.plan(&query.plan, tuple, true);
        match slots.into_iter().next() {
            Some(Slot::Values(values)) if values.len() == 1 => {
                let value = values.into_iter().next().expect("there is one");
                // Where there is no row it is NULL, which is what columns are then; other values are not.
                let is_column = matches!(value, Value::Column(..));
                if is_column { value } else { Value::opaque("a subquery") }
            }
            _ => Value::opaque("a subquery"),
        }
    }

    /// The next value of a sequence.
    pub(super) fn next(&mut self, sequence: Oid) -> Value {
        let source = Source::Sequence(sequence);
        let origin = self.origin.clone();
        self.emit(Step::Outside(origin, Outside::Next(source.clone())));
        self.once("next", Value::Fresh(source))
    }
}

/// A constant, where it has one way to be written.
fn constant(value: &Datum, ty: Type) -> Value {
    match value {
        Datum::Null => Value::Null,
        Datum::Int(value) => Value::Constant(Arc::from(value.to_string())),
        Datum::Bool(value) => Value::Constant(Arc::from(value.to_string())),
        Datum::Numeric(value) if value.is_finite() => Value::Constant(Arc::from(value.to_string())),
        Datum::Text(value) if [Type::TEXT, Type::VARCHAR, Type::BPCHAR, Type::UNKNOWN].contains(&ty) => {
            Value::Constant(value.clone())
        }
        _ => Value::opaque("a constant"),
    }
}

fn name_of(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::Case { .. } => "CASE",
        ExprKind::Coalesce(_) => "COALESCE",
        ExprKind::NullIf { .. } => "NULLIF",
        ExprKind::Extreme { .. } => "GREATEST or LEAST",
        ExprKind::Quantified { .. } => "ANY or ALL",
        ExprKind::IsDistinct { .. } => "IS DISTINCT FROM",
        ExprKind::MakeRow { .. } | ExprKind::CompareRows { .. } => "a row value",
        ExprKind::MakeArray(_) | ExprKind::Subscript { .. } | ExprKind::Replace { .. } => "an array",
        _ => "an expression",
    }
}
