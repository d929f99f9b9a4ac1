//! Comparisons of rows, and with any or all of many values.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::Result;
use crate::exec::found::{Found, FoundItems, LEAST_TO_HASH};
use crate::exec::keys;
use crate::exec::run::internal;
use crate::exec::{Context, Run, Tuple};
use crate::functions::Function;
use crate::ir::{Expr, ExprKind, Quantified, RowOperator};
use crate::types::{ArrayValue, Datum, Type, Typed};

/// What is known of ANY or ALL after some comparisons.
pub(crate) struct Verdict {
    all: bool,
    unknown: bool,
}

impl Verdict {
    pub(crate) fn new(all: bool) -> Verdict {
        Verdict { all, unknown: false }
    }

    /// Takes a comparison; true if it decides.
    pub(crate) fn take(&mut self, comparison: &Datum) -> bool {
        match comparison {
            Datum::Bool(holds) => *holds != self.all,
            _ => {
                self.unknown = true;
                false
            }
        }
    }

    /// What a deciding comparison makes of it.
    pub(crate) fn decided(&self) -> Datum {
        Datum::Bool(!self.all)
    }

    /// What it comes to if nothing decided.
    pub(crate) fn undecided(&self) -> Datum {
        if self.unknown { Datum::Null } else { Datum::Bool(self.all) }
    }
}

impl<'p> Run<'p> {
    pub(super) fn quantified(
        &mut self,
        cx: &mut dyn Context,
        arg: &'p Expr,
        operator: &'static Function,
        list: &'p Quantified,
        all: bool,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let left = self.eval(cx, arg, tuple)?;
        let mut verdict = Verdict::new(all);
        let array = match list {
            Quantified::Array(array) => match self.eval(cx, array, tuple)? {
                Datum::Array(array) => Some(array),
                _ => return Ok(Datum::Null),
            },
            Quantified::List(_) => None,
        };
        if let Some(found) = self.look_up(arg.ty(), &left, operator, list, array.as_ref(), all) {
            return Ok(found.map_or(Datum::Null, |found| Datum::Bool(found != all)));
        }
        match list {
            Quantified::List(items) => {
                for item in items {
                    let right = self.eval(cx, item, tuple)?;
                    if verdict.take(&self.operate(cx, operator, [&left, &right], [arg.typed, item.typed])?) {
                        return Ok(verdict.decided());
                    }
                }
            }
            Quantified::Array(_) => {
                let array = array.ok_or_else(|| internal("an array that was evaluated"))?;
                let types = [arg.typed, array.element.into()];
                for right in &array.items {
                    if verdict.take(&self.operate(cx, operator, [&left, right], types)?) {
                        return Ok(verdict.decided());
                    }
                }
            }
        }
        Ok(verdict.undecided())
    }

    /// Whether a value is in a long list of constants or a long array, by hash: true, false, or unknown. Nothing if the
    /// items have to be gone through.
    fn look_up(
        &mut self,
        ty: Type,
        value: &Datum,
        operator: &'static Function,
        list: &'p Quantified,
        array: Option<&Arc<ArrayValue>>,
        all: bool,
    ) -> Option<Option<bool>> {
        let length = match (list, array) {
            (Quantified::List(items), _) => items.len(),
            (_, Some(array)) => array.items.len(),
            (_, None) => 0,
        };
        if length < LEAST_TO_HASH || value.is_null() || operator.name != if all { "<>" } else { "=" } {
            return None;
        }
        let address = std::ptr::from_ref(list).addr();
        let same = |known: &&FoundItems| match (&known.array, array) {
            (Some(known), Some(array)) => Arc::ptr_eq(known, array),
            (known, array) => known.is_none() && array.is_none(),
        };
        let found = match self.lists.get(&address).filter(same) {
            Some(known) => known.found.clone(),
            None => {
                let found = Arc::new(found_items(ty, list, array)?);
                self.lists.insert(address, FoundItems { array: array.cloned(), found: found.clone() });
                found
            }
        };
        let mut key = Vec::with_capacity(16);
        keys::append(&mut key, value, ty);
        Some(found.contains(&key))
    }

    pub(super) fn compare_rows(
        &mut self,
        cx: &mut dyn Context,
        operator: RowOperator,
        left: &'p [Expr],
        right: &'p [Expr],
        tuple: &Tuple,
    ) -> Result<Datum> {
        let mut comparison = RowComparison::new(operator);
        for (left_field, right_field) in left.iter().zip(right) {
            let left = self.eval(cx, left_field, tuple)?;
            let right = self.eval(cx, right_field, tuple)?;
            let order = (!left.is_null() && !right.is_null()).then(|| keys::compare(&left, &right, left_field.ty()));
            if let Some(value) = comparison.take(order) {
                return Ok(value);
            }
        }
        Ok(comparison.end())
    }

    /// The value of a boolean operator.
    pub(crate) fn operate(
        &mut self,
        cx: &mut dyn Context,
        operator: &'static Function,
        [left, right]: [&Datum; 2],
        types: [Typed; 2],
    ) -> Result<Datum> {
        self.apply(cx, operator, &[left.clone(), right.clone()], &types, Type::BOOL.into())
    }
}

/// A comparison of two rows, field by field.
pub(crate) struct RowComparison {
    operator: RowOperator,
    unknown: bool,
}

impl RowComparison {
    pub(crate) fn new(operator: RowOperator) -> RowComparison {
        RowComparison { operator, unknown: false }
    }

    /// Takes how the next fields compare, `None` with a NULL; gives the value if that decides.
    pub(crate) fn take(&mut self, order: Option<Ordering>) -> Option<Datum> {
        let equality = matches!(self.operator, RowOperator::Equal | RowOperator::NotEqual);
        match order {
            Some(Ordering::Equal) => None,
            Some(order) => Some(Datum::Bool(holds(self.operator, order))),
            None if equality => {
                self.unknown = true;
                None
            }
            None => Some(Datum::Null),
        }
    }

    /// The value when no field decided.
    pub(crate) fn end(&self) -> Datum {
        if self.unknown { Datum::Null } else { Datum::Bool(holds(self.operator, Ordering::Equal)) }
    }
}

/// The items of a list of constants or of an array, if equality with the left operand is that of one type.
fn found_items(ty: Type, list: &Quantified, array: Option<&Arc<ArrayValue>>) -> Option<Found> {
    match (list, array) {
        (Quantified::List(items), _) => {
            let constant = |item: &Expr| match &item.kind {
                ExprKind::Const(value) if keys::shared_equality(ty, item.ty()).is_some() => Some(value.clone()),
                _ => None,
            };
            let values = items.iter().map(constant).collect::<Option<Vec<Datum>>>()?;
            Some(Found::of(values.iter(), ty))
        }
        (Quantified::Array(_), Some(array)) => {
            keys::shared_equality(ty, array.element)?;
            Some(Found::of(array.items.iter(), ty))
        }
        (Quantified::Array(_), None) => None,
    }
}

fn holds(operator: RowOperator, order: Ordering) -> bool {
    match operator {
        RowOperator::Equal => order.is_eq(),
        RowOperator::NotEqual => order.is_ne(),
        RowOperator::Less => order.is_lt(),
        RowOperator::LessOrEqual => order.is_le(),
        RowOperator::Greater => order.is_gt(),
        RowOperator::GreaterOrEqual => order.is_ge(),
    }
}
