//! Decisions: what follows from what is known of values, and what is known afterwards.

use skew_sql::ir::{Expr, ExprKind, Plan, Quantified, Query, SubqueryKind};

use super::conditions::{Comparison, Condition};
use super::facts::Facts;
use super::query::{Around, Look, Slot};
use super::terms::State;
use super::values::{has_an_order, number};
use super::{TermId, TermKind};

/// What a condition comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Truth {
    True,
    False,
    Null,
    Open,
}

/// A condition over values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Formula {
    All(Vec<Formula>),
    Any(Vec<Formula>),
    Not(Box<Formula>),
    Compare(Condition),
    IsNull(TermId),
    /// A value that is true or not.
    Value(TermId),
}

/// What is known of a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Known {
    /// What it is.
    pub(super) is: bool,
    /// Or else it is NULL.
    pub(super) or_null: bool,
}

impl Known {
    pub(super) const TRUE: Known = Known { is: true, or_null: false };
    pub(super) const NOT_TRUE: Known = Known { is: false, or_null: true };
}

/// Whether a query in an expression locks rows.
fn locks(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(&part.kind, ExprKind::Subquery { query, .. } if query.plan.locks()))
}

impl Look<'_> {
    /// Conditions of which one decides about those that follow.
    fn formulas(&mut self, parts: &[Expr], tuple: &[Slot], around: Option<&Around<'_>>) -> Vec<Formula> {
        let each = parts.iter().enumerate().map(|(at, part)| match at {
            0 => self.formula(part, tuple, around),
            _ => self.perhaps(|look| look.formula(part, tuple, around)),
        });
        each.collect()
    }

    // IS NULL of a row asks for all of its fields, so that it is only understood of single values.
    /// A condition over values; what it looks at counts as read, each part once.
    pub(super) fn formula(&mut self, expr: &Expr, tuple: &[Slot], around: Option<&Around<'_>>) -> Formula {
        match &expr.kind {
            ExprKind::And(parts) => Formula::All(self.formulas(parts, tuple, around)),
            ExprKind::Or(parts) => Formula::Any(self.formulas(parts, tuple, around)),
            ExprKind::Not(arg) => Formula::Not(Box::new(self.formula(arg, tuple, around))),
            ExprKind::IsNull(arg) if has_an_order(arg.ty()) => Formula::IsNull(self.value(arg, tuple, around)),
            ExprKind::IsNotNull(arg) if has_an_order(arg.ty()) => {
                Formula::Not(Box::new(Formula::IsNull(self.value(arg, tuple, around))))
            }
            ExprKind::Call { function, args } if args.len() == 2 && comparison(function.name).is_some() => {
                // Nothing is locked to compare it with NULL.
                let mut value = |arg: &Expr| match locks(arg) {
                    true => self.perhaps(|look| look.value(arg, tuple, around)),
                    false => self.value(arg, tuple, around),
                };
                let values = (value(&args[0]), value(&args[1]));
                self.compared(function.name, values, has_an_order(args[0].ty()))
            }
            ExprKind::Quantified { arg, operator, list: Quantified::List(list), all }
                if comparison(operator.name).is_some() =>
            {
                let value = self.value(arg, tuple, around);
                let ordered = has_an_order(arg.ty());
                let parts = list.iter().map(|item| {
                    let item = self.perhaps(|look| look.value(item, tuple, around));
                    self.compared(operator.name, (value, item), ordered)
                });
                let parts = parts.collect();
                if *all { Formula::All(parts) } else { Formula::Any(parts) }
            }
            _ => match without_query(expr) {
                Some(inner) if tuple.is_empty() && around.is_none() => self.formula(inner, tuple, around),
                _ => Formula::Value(self.value(expr, tuple, around)),
            },
        }
    }

    fn compared(&mut self, operator: &str, (left, right): (TermId, TermId), ordered: bool) -> Formula {
        if self.state.is_null(left) || self.state.is_null(right) {
            return Formula::Value(self.state.term(TermKind::Null));
        }
        match comparison(operator) {
            Some((comparison, swapped)) if ordered => {
                let (left, right) = if swapped { (right, left) } else { (left, right) };
                Formula::Compare(Condition { left, comparison, right, or_null: false })
            }
            _ => Formula::Value(self.state.unknown()),
        }
    }
}

impl State {
    /// What follows for a formula from what is known of values.
    pub(super) fn truth(&self, formula: &Formula, facts: &Facts) -> Truth {
        match formula {
            Formula::Not(part) => match self.truth(part, facts) {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                other => other,
            },
            Formula::All(parts) => self.one_decides(parts, Truth::False, facts),
            Formula::Any(parts) => self.one_decides(parts, Truth::True, facts),
            Formula::IsNull(term) => {
                if self.is_null(*term) {
                    Truth::True
                } else if self.cannot_be_null(*term, facts) {
                    Truth::False
                } else {
                    Truth::Open
                }
            }
            Formula::Compare(condition) => self.holds(condition, facts),
            Formula::Value(term) => match self.kind(*term) {
                _ if self.is_null(*term) => Truth::Null,
                TermKind::Constant(text) if text == "true" => Truth::True,
                TermKind::Constant(text) if text == "false" => Truth::False,
                _ => Truth::Open,
            },
        }
    }

    /// AND and OR: one part that is this decides.
    fn one_decides(&self, parts: &[Formula], decides: Truth, facts: &Facts) -> Truth {
        let truths: Vec<Truth> = parts.iter().map(|part| self.truth(part, facts)).collect();
        let neutral = if decides == Truth::True { Truth::False } else { Truth::True };
        [decides, Truth::Open, Truth::Null].into_iter().find(|truth| truths.contains(truth)).unwrap_or(neutral)
    }

    /// What two values say about a comparison: constants, and a value with itself.
    fn holds(&self, condition: &Condition, facts: &Facts) -> Truth {
        let Condition { left, comparison, right, .. } = *condition;
        if self.is_null(left) || self.is_null(right) {
            return Truth::Null;
        }
        let decided = |truth: bool| if truth { Truth::True } else { Truth::False };
        let looped = self.terms[left].looped;
        if left == right && !looped && self.cannot_be_null(left, facts) {
            return decided(matches!(comparison, Comparison::Equal | Comparison::AtMost));
        }
        let (TermKind::Constant(one), TermKind::Constant(other)) = (self.kind(left), self.kind(right)) else {
            return Truth::Open;
        };
        match (comparison, number(one), number(other)) {
            (Comparison::Equal, ..) => decided(one == other),
            (Comparison::Different, ..) => decided(one != other),
            (Comparison::Less, Some(one), Some(other)) => decided(one < other),
            (Comparison::AtMost, Some(one), Some(other)) => decided(one <= other),
            _ => Truth::Open,
        }
    }

    /// A formula is known to be this from here on: what that says about values.
    ///
    /// Of a disjunction nothing is known about its parts unless all but one are decided, so it is left out then.
    pub(super) fn assume(&mut self, formula: &Formula, known: Known, facts: &Facts) {
        match formula {
            Formula::Not(part) => self.assume(part, Known { is: !known.is, ..known }, facts),
            // No part of a conjunction that is not false is false, and no part of a disjunction that is not true is.
            Formula::All(parts) if known.is => parts.iter().for_each(|part| self.assume(part, known, facts)),
            Formula::Any(parts) if !known.is => parts.iter().for_each(|part| self.assume(part, known, facts)),
            Formula::All(parts) | Formula::Any(parts) => {
                // The others cannot have decided.
                let (decides, or_null) = (if known.is { Truth::True } else { Truth::False }, known.or_null);
                let can_be =
                    |truth: Truth| truth == decides || truth == Truth::Open || (or_null && truth == Truth::Null);
                let mut left = parts.iter().filter(|part| can_be(self.truth(part, facts)));
                if let (Some(part), None) = (left.next(), left.next()) {
                    self.assume(&part.clone(), known, facts);
                }
            }
            Formula::IsNull(term) if self.terms[*term].looped => {}
            Formula::IsNull(term) => {
                let set = if known.is { &mut self.always_null } else { &mut self.never_null };
                set.insert(*term);
            }
            Formula::Compare(condition) => {
                let condition = if known.is { *condition } else { condition.opposite() };
                self.hold(condition, known.or_null, facts);
            }
            Formula::Value(term) => {
                let right = self.truth_term(known.is);
                self.hold(
                    Condition { left: *term, comparison: Comparison::Equal, right, or_null: false },
                    known.or_null,
                    facts,
                );
            }
        }
    }

    /// A condition holds from here on.
    pub(super) fn hold(&mut self, condition: Condition, or_null: bool, facts: &Facts) {
        let Condition { left, right, .. } = condition;
        // What changes in a loop is another value each time.
        if self.terms[left].looped || self.terms[right].looped {
            return;
        }
        let or_null = or_null && !(self.cannot_be_null(left, facts) && self.cannot_be_null(right, facts));
        if !or_null {
            self.never_null.extend([left, right]);
        }
        // What is not known says nothing about itself.
        let is_idle =
            |term: TermId| matches!(self.kind(term), TermKind::Constant(text) if text == "true" || text == "false");
        let says_nothing = is_idle(right) && matches!(self.kind(left), TermKind::Unknown);
        if !says_nothing && self.holds(&condition, facts) != Truth::True {
            self.conditions.push(Condition { or_null, ..condition });
        }
    }
}

/// The comparison that an operator is, and whether its sides are swapped.
fn comparison(operator: &str) -> Option<(Comparison, bool)> {
    Some(match operator {
        "=" => (Comparison::Equal, false),
        "<>" => (Comparison::Different, false),
        "<" => (Comparison::Less, false),
        "<=" => (Comparison::AtMost, false),
        ">" => (Comparison::Less, true),
        ">=" => (Comparison::AtMost, true),
        _ => return None,
    })
}

/// `EXISTS (…)` or `NOT EXISTS (…)`
pub(super) fn asks_existence(expr: &Expr) -> Option<(&Query, bool)> {
    match &expr.kind {
        ExprKind::Subquery { kind: SubqueryKind::Exists, query } => Some((query, false)),
        ExprKind::Not(arg) => asks_existence(arg).map(|(query, negated)| (query, !negated)),
        _ => asks_existence(without_query(expr)?),
    }
}

/// The one value of a query without tables.
fn without_query(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Subquery { kind: SubqueryKind::Scalar, query } => match &query.plan {
            Plan::Project { input, columns } if matches!(**input, Plan::One) => columns.first(),
            _ => None,
        },
        _ => None,
    }
}
