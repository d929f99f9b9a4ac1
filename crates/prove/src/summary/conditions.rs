//! What has to hold of the values of a path.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::terms::State;
use super::{Access, AccessKind, Outcome, Path, TermId, TermKind};

/// A comparison that is true of two values of a path.
///
/// Larger and at least are written the other way round, and a negation has become the opposite, so that there are four.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Condition {
    /// The first value.
    pub left: TermId,
    /// How it compares.
    pub comparison: Comparison,
    /// The second value.
    pub right: TermId,
    /// It also holds if one of the values is NULL: the way is that where the opposite is not true. Never set where both
    /// values are in [`never_null`](super::Path::never_null).
    pub or_null: bool,
}

/// How two values compare: in the order of their type, with the equality of `=`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
}

impl Comparison {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::Different => "<>",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
        }
    }
}

impl Condition {
    /// What is true of values that are not NULL if this is false.
    pub(super) fn opposite(self) -> Condition {
        let Condition { left, right, .. } = self;
        match self.comparison {
            Comparison::Equal => Condition { comparison: Comparison::Different, ..self },
            Comparison::Different => Condition { comparison: Comparison::Equal, ..self },
            Comparison::Less => Condition { left: right, comparison: Comparison::AtMost, right: left, ..self },
            Comparison::AtMost => Condition { left: right, comparison: Comparison::Less, right: left, ..self },
        }
    }
}

impl Path {
    /// The values that accesses refer to, which come first.
    fn seen(&self) -> usize {
        let rows = self.accesses.iter().flat_map(Access::terms);
        let parameters = self.terms.iter().filter(|term| matches!(term.kind, TermKind::Parameter(_))).count();
        rows.map(|term| term + 1).max().unwrap_or(0).max(parameters)
    }

    /// Whether others can see no difference between two ways.
    pub(super) fn does_the_same(&self, other: &Path) -> bool {
        let seen = self.seen();
        self.accesses == other.accesses && seen == other.seen() && self.terms[..seen] == other.terms[..seen]
    }

    /// Makes one way of two that do the same: only what holds on both is known.
    pub(super) fn join(&mut self, other: &Path) {
        let seen = self.seen();
        let is_seen = |term: &TermId| *term < seen;
        let alike = |one: TermId, two: TermId| one == two && one < seen;
        let constants = |one: TermId, two: TermId| {
            self.terms[one].kind == other.terms[two].kind && matches!(self.terms[one].kind, TermKind::Constant(_))
        };
        let same = |one: TermId, two: TermId| alike(one, two) || constants(one, two);
        let kept = self.conditions.iter().filter_map(|one| {
            let two = other.conditions.iter().find(|two| {
                one.comparison == two.comparison && same(one.left, two.left) && same(one.right, two.right)
            })?;
            Some(Condition { or_null: one.or_null || two.or_null, ..*one })
        });
        self.conditions = kept.collect();
        let both =
            |one: &BTreeSet<TermId>, two: &BTreeSet<TermId>| one.intersection(two).copied().filter(is_seen).collect();
        self.never_null = both(&self.never_null, &other.never_null);
        self.always_null = both(&self.always_null, &other.always_null);
    }
}

impl State {
    /// What is known at the end of a way that commits: constraints have held.
    pub(super) fn finish(&mut self, facts: &Facts) {
        let mut known = std::mem::take(&mut self.never_null);
        for access in self
            .accesses
            .iter()
            .filter(|access| !access.conditional && !access.looped && access.outcome == Outcome::Found)
        {
            let Some(table) = facts.table(access.table) else { continue };
            let is_required = |column: &usize| table.not_null.get(*column).copied().unwrap_or(false);
            let written = if access.kind == AccessKind::Insert { &access.row } else { &access.values };
            let written = written.iter().filter(|(column, _)| is_required(column)).map(|(_, term)| *term);
            // Who is found by a value has it, and NULL is equal to nothing.
            let found_by = access.row.iter().filter(|_| access.kind != AccessKind::Insert).map(|(_, term)| *term);
            known.extend(written.chain(found_by));
        }
        for term in 0..self.terms.len() {
            if self.cannot_be_null(term, facts) {
                known.insert(term);
            }
        }
        // A sum is NULL if a part is, so where it is not, none is. Parts come before sums.
        for term in (0..self.terms.len()).rev().filter(|term| known.contains(term)).collect::<Vec<_>>() {
            known.extend(self.parts(term));
        }
        let mut more = true;
        while std::mem::take(&mut more) {
            for term in 0..self.terms.len() {
                let parts: Vec<TermId> = self.parts(term).collect();
                if !parts.is_empty() && parts.iter().all(|part| known.contains(part)) {
                    more |= known.insert(term);
                }
                if known.contains(&term) {
                    for part in parts {
                        more |= known.insert(part);
                    }
                }
            }
        }
        for condition in &mut self.conditions {
            condition.or_null &= !(known.contains(&condition.left) && known.contains(&condition.right));
        }
        self.conditions.sort();
        self.conditions.dedup();
        self.never_null = known;
    }

    /// The values that a value is made of, all of which are NULL only if it is.
    pub(super) fn parts(&self, term: TermId) -> impl Iterator<Item = TermId> + use<> {
        let parts = match *self.kind(term) {
            TermKind::Plus(base, _) | TermKind::Times(base, _) => [Some(base), None],
            TermKind::Sum(one, other) | TermKind::Difference(one, other) => [Some(one), Some(other)],
            _ => [None, None],
        };
        parts.into_iter().flatten()
    }

    /// Whether a value is not NULL, by what it is.
    pub(super) fn cannot_be_null(&self, term: TermId, facts: &Facts) -> bool {
        if self.never_null.contains(&term) {
            return true;
        }
        match self.kind(term) {
            TermKind::Constant(_) | TermKind::Fresh(_) => true,
            TermKind::Read { access, column } => {
                let access = &self.accesses[*access];
                let table = facts.table(access.table);
                let never = table.is_some_and(|table| {
                    table.key.contains(column) || table.not_null.get(*column).copied().unwrap_or(false)
                });
                never && access.outcome == Outcome::Found
            }
            TermKind::Plus(..) | TermKind::Times(..) | TermKind::Sum(..) | TermKind::Difference(..) => {
                self.parts(term).all(|part| self.cannot_be_null(part, facts))
            }
            TermKind::Parameter(_) | TermKind::Null | TermKind::Unknown => false,
        }
    }

    /// Drops the values that nothing refers to, and puts those of parameters first, then those of accesses.
    pub(super) fn compact(&mut self) {
        let mut order: Vec<TermId> = Vec::new();
        let mut seen: BTreeSet<TermId> = BTreeSet::new();
        let parameters = (0..self.terms.len()).filter(|term| matches!(self.kind(*term), TermKind::Parameter(_)));
        let of_accesses = self.accesses.iter().flat_map(Access::terms);
        let of_conditions = self.conditions.iter().flat_map(|condition| [condition.left, condition.right]);
        // Whether there was a smallest or largest value says what was there.
        let is_extreme = |term: &TermId| match *self.kind(*term) {
            TermKind::Read { access, column } => {
                self.accesses[access].extreme.is_some_and(|extreme| extreme.column == column)
            }
            _ => false,
        };
        let extremes = (0..self.terms.len()).filter(is_extreme);
        for term in parameters.chain(of_accesses).chain(of_conditions).chain(extremes) {
            self.keep(term, &mut order, &mut seen);
        }
        let mut places = vec![None; self.terms.len()];
        order.iter().enumerate().for_each(|(new, old)| places[*old] = Some(new));
        let place = |term: TermId| places[term].expect("what is referred to is kept");
        let kept = |terms: &BTreeSet<TermId>| terms.iter().filter_map(|term| places[*term]).collect::<BTreeSet<_>>();
        (self.never_null, self.always_null) = (kept(&self.never_null), kept(&self.always_null));
        self.terms = order.iter().map(|old| self.terms[*old].clone()).collect();
        for term in &mut self.terms {
            match &mut term.kind {
                TermKind::Plus(base, _) | TermKind::Times(base, _) => *base = place(*base),
                TermKind::Sum(one, other) | TermKind::Difference(one, other) => {
                    (*one, *other) = (place(*one), place(*other));
                }
                _ => {}
            }
        }
        for access in &mut self.accesses {
            access.terms_mut().for_each(|term| *term = place(*term));
        }
        for condition in &mut self.conditions {
            (condition.left, condition.right) = (place(condition.left), place(condition.right));
        }
        self.conditions.sort();
    }

    fn keep(&self, term: TermId, order: &mut Vec<TermId>, seen: &mut BTreeSet<TermId>) {
        if seen.insert(term) {
            self.parts(term).for_each(|part| self.keep(part, order, seen));
            order.push(term);
        }
    }
}
