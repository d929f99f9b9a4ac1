//! A path while it is made: its values, its accesses, and what variables stand for.

use std::collections::BTreeMap;

use super::{Access, Outcome, Term, TermId, TermKind};

/// How far one way through a program has come.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// What variables stand for, by their places in the frame.
    pub(super) env: BTreeMap<usize, TermId>,
    /// What the fields of records stand for that a query has filled.
    pub(super) fields: BTreeMap<(usize, usize), TermId>,
    pub(super) terms: Vec<Term>,
    pub(super) accesses: Vec<Access>,
    pub(super) decisions: Vec<String>,
    /// How many statements there were.
    pub(super) statements: usize,
    /// Within a loop.
    pub(super) looped: bool,
    /// Within something that may be left out without being a way of its own.
    pub(super) conditional: bool,
    pub(super) ended: Ended,
}

/// Whether a way goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Ended {
    #[default]
    No,
    /// RETURN
    Yes,
}

impl State {
    /// A value; one that is the same for sure is not made again.
    pub(super) fn term(&mut self, kind: TermKind) -> TermId {
        let looped = match &kind {
            TermKind::Parameter(_) | TermKind::Constant(_) | TermKind::Null => false,
            TermKind::Read { access, .. } => self.accesses[*access].looped,
            TermKind::Plus(term, _) => self.terms[*term].looped,
            TermKind::Fresh | TermKind::Unknown => self.looped,
        };
        let term = Term { kind, looped };
        let is_shared = !matches!(term.kind, TermKind::Fresh | TermKind::Unknown);
        match self.terms.iter().position(|known| is_shared && *known == term) {
            Some(known) => known,
            None => {
                self.terms.push(term);
                self.terms.len() - 1
            }
        }
    }

    pub(super) fn unknown(&mut self) -> TermId {
        self.term(TermKind::Unknown)
    }

    pub(super) fn truth(&mut self, value: bool) -> TermId {
        self.term(TermKind::Constant(value.to_string()))
    }

    pub(super) fn kind(&self, term: TermId) -> &TermKind {
        &self.terms[term].kind
    }

    /// Whether earlier statements of this path say that the row of an access is there: same table, same key.
    pub(super) fn known_outcome(&self, access: usize, key: &[usize]) -> Option<Outcome> {
        let asked = &self.accesses[access];
        let values: Option<Vec<TermId>> = key.iter().map(|column| asked.value_of(*column)).collect();
        let values = values?;
        let is_same = |other: &&Access| {
            other.table == asked.table
                && !other.conditional
                && !other.looped
                && key.iter().zip(&values).all(|(column, value)| other.value_of(*column) == Some(*value))
        };
        let last = self.accesses[..access].iter().rev().find(is_same)?;
        match (last.kind, last.outcome) {
            (super::AccessKind::Delete, Outcome::Found) => Some(Outcome::Missing),
            (_, Outcome::Open) => None,
            (_, outcome) => Some(outcome),
        }
    }
}
