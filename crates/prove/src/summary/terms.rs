//! A path while it is made: its values, its accesses, and what variables stand for.

use std::collections::{BTreeMap, BTreeSet};

use skew_sql::types::{Type, Typed};

use super::formula::Formula;
use super::{Access, Condition, Outcome, Term, TermId, TermKind};

/// How far one way through a program has come.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// What variables stand for, by their places in the frame.
    pub(super) env: BTreeMap<usize, TermId>,
    /// What the fields of records stand for that a query has filled.
    pub(super) fields: BTreeMap<(usize, usize), TermId>,
    pub(super) terms: Vec<Term>,
    pub(super) accesses: Vec<Access>,
    /// The accesses that leave out rows which others have locked.
    pub(super) skipping: BTreeSet<usize>,
    pub(super) decisions: Vec<String>,
    pub(super) conditions: Vec<Condition>,
    /// Values that are not NULL on this way.
    pub(super) never_null: BTreeSet<TermId>,
    /// Values that are NULL on this way.
    pub(super) always_null: BTreeSet<TermId>,
    /// What has to hold of the row that an access finds, by the access.
    pub(super) asked: Vec<(usize, Formula)>,
    /// The number of the statement.
    pub(super) statements: usize,
    /// Within a loop.
    pub(super) looped: bool,
    /// Within something that may be left out without being a way of its own.
    pub(super) conditional: bool,
    /// It may have left a block around what it is in: whatever follows may be left out.
    pub(super) leaves: bool,
    pub(super) ended: Ended,
    /// What is caught around it.
    pub(super) caught: Caught,
    /// Within a block that catches errors: what it does may be undone.
    pub(super) undoable: bool,
    /// What cursors look at that were opened, from one access to another.
    pub(super) opened: Vec<(usize, usize)>,
    /// What RETURN gives, where that is sure, and its type.
    pub(super) returned: Option<(TermId, Typed)>,
    /// What the OUT parameters of the procedure were that was called last.
    pub(super) outs: Vec<TermId>,
    /// What calls have returned that were walked in their place, by where the call is.
    pub(super) answers: BTreeMap<usize, TermId>,
}

/// The errors that are caught by the blocks around a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Caught {
    /// Violations of constraints.
    pub(super) violations: bool,
    /// Conflicts with others.
    pub(super) conflicts: bool,
}

impl Caught {
    /// By these blocks and another one in them.
    pub(super) fn and(self, inner: Caught) -> Caught {
        Caught { violations: self.violations || inner.violations, conflicts: self.conflicts || inner.conflicts }
    }
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
            TermKind::Plus(term, _) | TermKind::Times(term, _) => self.terms[*term].looped,
            TermKind::Sum(one, other) | TermKind::Difference(one, other) => {
                self.terms[*one].looped || self.terms[*other].looped
            }
            TermKind::Fresh(_) | TermKind::Unknown => self.looped,
        };
        let is_shared = !matches!(kind, TermKind::Fresh(_) | TermKind::Unknown);
        let is_it = |known: &Term| is_shared && known.kind == kind && known.looped == looped;
        match self.terms.iter().position(is_it) {
            Some(known) => known,
            None => {
                self.terms.push(Term { kind, looped, typed: None });
                self.terms.len() - 1
            }
        }
    }

    /// A value of a type.
    pub(super) fn typed(&mut self, kind: TermKind, typed: Typed) -> TermId {
        let term = self.term(kind);
        self.terms[term].typed.get_or_insert(typed);
        term
    }

    /// What an access reads of a column; of several rows it is another value each time.
    pub(super) fn read(&mut self, access: usize, column: usize, typed: Option<Typed>, is_one: bool) -> TermId {
        let kind = TermKind::Read { access, column };
        match self.terms.iter().position(|known| known.kind == kind) {
            Some(known) => known,
            None => {
                self.terms.push(Term { kind, looped: self.accesses[access].looped || !is_one, typed });
                self.terms.len() - 1
            }
        }
    }

    /// What cursors lock, and call, they do when somebody fetches from them.
    pub(super) fn fetch(&mut self) {
        for (first, end) in self.opened.clone() {
            for at in first..end {
                let again = Access {
                    number: self.statements,
                    outcome: Outcome::Open,
                    conditional: true,
                    looped: true,
                    plain: false,
                    ..self.accesses[at].clone()
                };
                self.accesses.push(again);
            }
        }
    }

    pub(super) fn unknown(&mut self) -> TermId {
        self.term(TermKind::Unknown)
    }

    /// A value that is another one each time.
    pub(super) fn many(&mut self) -> TermId {
        let was = std::mem::replace(&mut self.looped, true);
        let value = self.unknown();
        self.looped = was;
        value
    }

    pub(super) fn truth_term(&mut self, value: bool) -> TermId {
        self.typed(TermKind::Constant(value.to_string()), Type::BOOL.into())
    }

    /// Whether a value is NULL for sure.
    pub(super) fn is_null(&self, term: TermId) -> bool {
        matches!(self.kind(term), TermKind::Null) || self.always_null.contains(&term)
    }

    pub(super) fn kind(&self, term: TermId) -> &TermKind {
        &self.terms[term].kind
    }
}
