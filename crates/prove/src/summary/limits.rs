//! What conditions say about single columns of the rows that an access picks.

use super::conditions::{Comparison, Condition};
use super::formula::Formula;
use super::terms::State;
use super::{Access, TermId, TermKind};

/// One of some comparisons is true of a column of every row that an access picks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The column.
    pub column: usize,
    /// The comparisons.
    pub any: Vec<Bound>,
    /// Rows of which none is true are not even looked at: an index leads to the others.
    pub looked_up: bool,
}

/// A comparison of a column with a value; neither is NULL where it is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// How the column compares.
    pub is: Side,
    /// With what.
    pub value: TermId,
}

/// Where a column is, as seen from a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Side {
    Equal,
    Different,
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Side {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Side::Equal => "=",
            Side::Different => "<>",
            Side::Below => "<",
            Side::AtMost => "<=",
            Side::Above => ">",
            Side::AtLeast => ">=",
        }
    }
}

impl Access {
    /// The values that say which rows, and what they are set to.
    pub(super) fn terms(&self) -> impl Iterator<Item = TermId> {
        let limits = self.limits.iter().flat_map(|limit| &limit.any).map(|bound| bound.value);
        self.row.iter().chain(&self.values).map(|(_, term)| *term).chain(limits)
    }

    /// The same, to be changed.
    pub(super) fn terms_mut(&mut self) -> impl Iterator<Item = &mut TermId> {
        let limits = self.limits.iter_mut().flat_map(|limit| &mut limit.any).map(|bound| &mut bound.value);
        self.row.iter_mut().chain(&mut self.values).map(|(_, term)| term).chain(limits)
    }
}

impl State {
    /// A limit, if its values are the same for all rows: they were there before the statement, or are sums of such ones.
    /// What is made in the statement may be made anew for each row, of another row that it is joined with, or of the row
    /// itself.
    pub(super) fn limit(&mut self, access: usize, limit: Limit, begun: usize) {
        let stays = limit.any.iter().all(|bound| self.is_one_for_all(bound.value, begun));
        let is_known = |known: &Limit| known.column == limit.column && known.any == limit.any;
        if stays && !limit.any.is_empty() && !self.accesses[access].limits.iter().any(is_known) {
            self.accesses[access].limits.push(limit);
        }
    }

    fn is_one_for_all(&self, term: TermId, begun: usize) -> bool {
        match self.kind(term) {
            TermKind::Parameter(_) | TermKind::Constant(_) | TermKind::Null => true,
            TermKind::Read { .. } | TermKind::Fresh(_) | TermKind::Unknown => term < begun,
            TermKind::Plus(..) | TermKind::Times(..) | TermKind::Sum(..) | TermKind::Difference(..) => {
                self.parts(term).all(|part| self.is_one_for_all(part, begun))
            }
        }
    }

    /// A condition is true of the rows that an access picks: what that says about columns.
    pub(super) fn limits_of(&mut self, access: usize, condition: &Formula, begun: usize) {
        let mut limits = Vec::new();
        self.add_limits(access, condition, true, &mut limits);
        limits.into_iter().for_each(|limit| self.limit(access, limit, begun));
    }

    fn add_limits(&self, access: usize, formula: &Formula, is: bool, limits: &mut Vec<Limit>) {
        match formula {
            Formula::Not(part) => self.add_limits(access, part, !is, limits),
            Formula::All(parts) if is => parts.iter().for_each(|part| self.add_limits(access, part, is, limits)),
            Formula::Any(parts) if !is => parts.iter().for_each(|part| self.add_limits(access, part, is, limits)),
            _ => {
                let limit = self.alternatives(access, formula, is);
                limits.extend(limit.map(|(column, any)| Limit { column, any, looked_up: false }));
            }
        }
    }

    /// A formula that is true, or false, and what that says if it is about one column: one of these comparisons is true.
    fn alternatives(&self, access: usize, formula: &Formula, is: bool) -> Option<(usize, Vec<Bound>)> {
        match formula {
            Formula::Not(part) => self.alternatives(access, part, !is),
            Formula::Compare(condition) => {
                let condition = if is { *condition } else { condition.opposite() };
                self.bound(access, &condition).map(|(column, bound)| (column, vec![bound]))
            }
            Formula::All(parts) | Formula::Any(parts) => {
                // Of a conjunction that is true, and a disjunction that is false, all parts hold: one of them does.
                let is_conjunction = matches!(formula, Formula::All(_)) == is;
                // What is NULL is neither true nor false.
                let can_be = |part: &&Formula| !matches!(part, Formula::Value(term) if self.is_null(*term));
                let mut each = parts.iter().filter(can_be).map(|part| self.alternatives(access, part, is));
                if is_conjunction {
                    return each.find_map(|part| part);
                }
                let each: Vec<(usize, Vec<Bound>)> = each.collect::<Option<_>>()?;
                let column = each.first()?.0;
                let is_one = each.iter().all(|part| part.0 == column);
                is_one.then(|| (column, each.into_iter().flat_map(|part| part.1).collect()))
            }
            Formula::IsNull(_) | Formula::Value(_) => None,
        }
    }

    /// A comparison of a column of the row with something else.
    fn bound(&self, access: usize, condition: &Condition) -> Option<(usize, Bound)> {
        let column = |term: TermId| match *self.kind(term) {
            TermKind::Read { access: from, column } if from == access => Some(column),
            _ => None,
        };
        let (left, right) = (column(condition.left), column(condition.right));
        let (column, value, sides) = match (left, right) {
            (Some(column), None) => (column, condition.right, (Side::Below, Side::AtMost)),
            (None, Some(column)) => (column, condition.left, (Side::Above, Side::AtLeast)),
            _ => return None,
        };
        let is = match condition.comparison {
            Comparison::Equal => Side::Equal,
            Comparison::Different => Side::Different,
            Comparison::Less => sides.0,
            Comparison::AtMost => sides.1,
        };
        Some((column, Bound { is, value }))
    }
}
