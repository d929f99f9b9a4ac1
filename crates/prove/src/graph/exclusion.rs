//! Who excludes whom: transactions that surely write one cell, or want a row that is locked, are not concurrent; and a row
//! that was found was inserted by somebody who is seen.

use crate::graph::Graph;
use crate::graph::classes::{Classes, surely_inserts};
use crate::graph::edges::Dependency;
use crate::graph::rules::{Back, Conflicts, Exclusion};
use crate::graph::search::{Chain, FIRST, HERE, SECOND};
use crate::summary::build::Reading;
use crate::summary::{Access, AccessKind, Outcome, Path, TermId};

/// Values of T1 and of another transaction that are not all the same: both would write one row, and who is left of the way
/// behind was not excluded. What others have in common with a transaction is not the same as T1's, either.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Apart(Vec<((usize, TermId), (usize, TermId))>);

impl Apart {
    pub(super) fn is_broken(&self, classes: &Classes) -> bool {
        self.0.iter().all(|(one, other)| classes.are_equal(*one, *other))
    }

    /// The same, said of the next transaction; `None` if that has nothing to do with it: then some value is free.
    pub(super) fn carried(&self, classes: &Classes, graph: &Graph<'_>, next: usize) -> Option<Apart> {
        let carry = |value: (usize, TermId)| {
            if value.0 != HERE {
                return Some(value);
            }
            let is_same = |place: usize, term: &TermId| classes.are_equal((place, *term), value);
            let terms = |place: usize| 0..graph.path(classes.node(place)).terms.len();
            let next = terms(next).find(|term| is_same(next, term)).map(|term| (HERE, term));
            next.or_else(|| {
                [SECOND, FIRST].into_iter().find_map(|at| Some((at, terms(at).find(|term| is_same(at, term))?)))
            })
        };
        let pairs: Option<Vec<_>> = self.0.iter().map(|(one, other)| Some((carry(*one)?, carry(*other)?))).collect();
        pairs.map(Apart)
    }

    /// Whether another one follows from it.
    pub(super) fn implies(&self, other: &Apart, classes: &Classes) -> bool {
        let are_equal = |one: (usize, TermId), two: (usize, TermId)| classes.are_equal(one, two);
        self.0
            .iter()
            .all(|(one, two)| other.0.iter().any(|(left, right)| are_equal(*one, *left) && are_equal(*two, *right)))
    }
}

impl Chain<'_, '_> {
    /// Whether T1 has found a row that another transaction surely inserts, and would have seen all of it.
    pub(super) fn would_be_seen(&self, classes: &Classes, at: usize, later: bool) -> bool {
        let seen = match self.rules.back {
            // Nobody after T2 is seen either.
            Back::ReadWrite | Back::Overwrite => true,
            Back::SecondReadWrite | Back::SecondOverwrite | Back::NotDirectly => !later,
            Back::Later | Back::LaterStatement => false,
        };
        if !seen {
            return false;
        }
        let (first, other) = (self.graph.path(self.first), self.graph.path(classes.node(at)));
        other.accesses.iter().filter(|access| surely_inserts(access)).any(|inserted| {
            let stays = self.graph.summary.facts.table(inserted.table).is_some_and(|table| !table.deleted);
            stays
                && first.accesses.iter().any(|access| {
                    access.outcome == Outcome::Found
                        && !surely_inserts(access)
                        && classes.are_one_row(self.graph, (FIRST, access), (at, inserted))
                })
        })
    }

    /// Whether two transactions are surely not concurrent, because both write.
    pub(super) fn surely_conflict(&self, classes: &Classes, one: (usize, &[usize]), other: (usize, &[usize])) -> bool {
        self.have_one_row(classes, one, other, self.conflicts(classes, one, other))
    }

    /// Whether one of two transactions surely depends on the other one, because both write one cell.
    pub(super) fn surely_depend(&self, classes: &Classes, one: (usize, &[usize]), other: (usize, &[usize])) -> bool {
        let mut pairs = self.conflicts(classes, one, other);
        if self.rules.conflicts == Conflicts::Rows {
            // Where rows come back, two that change a row with one key have perhaps changed different rows.
            let stays =
                |access: &Access| !self.graph.summary.facts.table(access.table).is_none_or(|table| table.deleted);
            pairs.retain(|(own, other)| meet(own, other) && stays(own));
        }
        self.have_one_row(classes, one, other, pairs)
    }

    fn have_one_row(
        &self,
        classes: &Classes,
        one: (usize, &[usize]),
        other: (usize, &[usize]),
        pairs: Vec<(&Access, &Access)>,
    ) -> bool {
        pairs
            .into_iter()
            .any(|(access, other_access)| classes.are_one_row(self.graph, (one.0, access), (other.0, other_access)))
    }

    /// The accesses of two transactions that surely write one cell if they are to one row (at `mvrc`: which the first one has
    /// locked by then; who runs at another level need not mind a lock, but then sees what was written before, or writes later).
    ///
    /// T2, which commits before T1, cannot have a lock on any row that T1 has locked. Others, which have read something before,
    /// can wait until T1 has ended: only that both write one cell makes them depend on each other.
    pub(super) fn conflicts(
        &self,
        classes: &Classes,
        one: (usize, &[usize]),
        other: (usize, &[usize]),
    ) -> Vec<(&Access, &Access)> {
        let (path, other_path) = (self.graph.path(classes.node(one.0)), self.graph.path(classes.node(other.0)));
        let locks = self.rules.exclusion == Exclusion::Locks;
        if locks && one.0 != FIRST {
            return Vec::new();
        }
        let by_rows = locks && !self.rules.mixed;
        let writes = |path: &Path, at: usize, evidence: &[usize]| {
            let access = &path.accesses[at];
            (!access.writes.is_empty() || (by_rows && access.locks)) && self.is_sure(path, at, evidence)
        };
        let own = (0..path.accesses.len()).filter(|at| writes(path, *at, one.1));
        let own: Vec<&Access> =
            own.filter(|at| !locks || self.is_locked_by_then(*at)).map(|at| &path.accesses[at]).collect();
        if own.is_empty() {
            return Vec::new();
        }
        let others = (0..other_path.accesses.len()).filter(|at| writes(other_path, *at, other.1));
        let pairs =
            others.map(|at| &other_path.accesses[at]).flat_map(|other| own.iter().map(move |own| (*own, other)));
        // Two can share a lock.
        let excludes = |access: &Access| access.alone || !access.writes.is_empty();
        let is_second = other.0 == SECOND || classes.is_doubled();
        let locked = |own: &Access, other: &Access| by_rows && is_second && (excludes(own) || excludes(other));
        let is_one_table = |own: &Access, other: &Access| own.table == other.table;
        match self.rules.conflicts {
            Conflicts::Cells => pairs
                .filter(|(own, other)| is_one_table(own, other) && (locked(own, other) || meet(own, other)))
                .collect(),
            Conflicts::Rows => pairs
                .filter(|(own, other)| {
                    is_one_table(own, other) && self.change_what_they_found((path, own), (other_path, other))
                })
                .collect(),
        }
    }

    /// Lemma `first-updater-wins-per-row`: two transactions that change a row with one key have changed the same row, unless
    /// one of them has inserted it where another one was deleted.
    fn change_what_they_found(&self, one: (&Path, &Access), other: (&Path, &Access)) -> bool {
        let stays = self.graph.summary.facts.table(one.1.table).is_some_and(|table| !table.deleted);
        let makes = |access: &Access| access.kind == AccessKind::Insert && access.table == one.1.table;
        let found_it = |(path, access): (&Path, &Access)| {
            matches!(access.kind, AccessKind::Update | AccessKind::Delete) && !path.accesses.iter().any(makes)
        };
        stays || (found_it(one) && found_it(other))
    }

    /// What cannot be the same of T1 and a transaction on the way, where everybody on it is concurrent with T1.
    pub(super) fn apart(&self, classes: &Classes, at: usize, evidence: &[usize]) -> Vec<Apart> {
        if !matches!(self.rules.exclusion, Exclusion::Everybody | Exclusion::Locks) {
            return Vec::new();
        }
        let (first, other) = (self.graph.path(self.first), self.graph.path(classes.node(at)));
        let mut all: Vec<Apart> = Vec::new();
        for (own, others) in self.conflicts(classes, (FIRST, &self.evidence_out()), (at, evidence)) {
            let Some(table) = self.graph.summary.facts.table(own.table) else { continue };
            // What changes in a loop had other values at other times.
            let pair = |column: &usize| {
                let (one, two) = (own.value_of(*column)?, others.value_of(*column)?);
                let is_fixed = table.is_constant(*column) && !first.terms[one].looped && !other.terms[two].looped;
                is_fixed.then_some(((FIRST, one), (at, two)))
            };
            let pairs: Option<Vec<_>> = table.key.iter().map(pair).collect();
            if let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) {
                let new = Apart(pairs);
                if !all.contains(&new) {
                    all.push(new);
                }
            }
        }
        all
    }

    /// Whether T1 has locked what an access of it locks when the others come, which is after it has read what T2 overwrites.
    ///
    /// A statement looks at everything with one snapshot and locks rows after that, one by one: between the two others may
    /// come and go. Only of the row that it has picked and locked itself a read is as new as the lock.
    fn is_locked_by_then(&self, at: usize) -> bool {
        let (own, read) = (&self.graph.path(self.first).accesses, self.out.accesses.0);
        let is_what_was_read = at == read && self.out.picked && !self.rules.mixed;
        own[at].number < own[read].number || is_what_was_read
    }

    /// Whether an access surely finds its row: always, or because another access to the same row did.
    pub(super) fn is_sure(&self, path: &Path, at: usize, evidence: &[usize]) -> bool {
        let access = &path.accesses[at];
        if evidence.contains(&at) {
            return true;
        }
        if access.conditional || access.looped {
            return false;
        }
        access.outcome == Outcome::Found
            || evidence.iter().any(|other| {
                let other = &path.accesses[*other];
                path.finds_again(other, access) && self.is_there_for_both(access, other)
            })
    }

    /// Whether a row that one access finds is there for another one of the same transaction: where each statement looks
    /// again, it may have come or gone between them.
    fn is_there_for_both(&self, access: &Access, found: &Access) -> bool {
        let looks_once = Reading::at(self.rules.level) == Reading::Once && !self.rules.mixed;
        let stays =
            self.graph.summary.facts.table(access.table).is_some_and(|table| match access.number < found.number {
                true => !table.inserted,
                false => !table.deleted,
            });
        looks_once || stays
    }
}

pub(super) fn meet(one: &Access, other: &Access) -> bool {
    one.writes.intersection(&other.writes).next().is_some()
}

/// An access that hits a row for sure, because a dependency is about its columns, or because it writes. (Who depends on
/// whether a row is there may have missed it.)
pub(super) fn hit(path: &Path, access: usize, edge: &Dependency, writes: bool) -> Vec<usize> {
    let writes = writes && !path.accesses[access].writes.is_empty();
    // What is read stays read if what was written is undone.
    let undone = path.accesses[access].undoable;
    if writes || (edge.tells_of_a_row() && !undone) { vec![access] } else { Vec::new() }
}
