//! Whether a row is there, by what earlier statements of a path have found.

use skew_sql::catalog::{Catalog, ForeignKey, Oid, Timing};

use super::facts::{Facts, TableFacts};
use super::terms::State;
use super::{Access, AccessKind, Cell, Outcome, TermId, TermKind};

/// What is looked for: the values of the key.
type Key = Vec<(usize, TermId)>;

impl State {
    /// What earlier statements of this path say about the row that an access looks for by its key.
    ///
    /// Where a transaction looks at one state, what it has found or not it finds again or not. Where each statement looks
    /// at another one, a row that is never deleted is still there: who has read what a transaction wrote does not read
    /// later what that has overwritten, at `rc` and above. And where nobody inserts, none comes.
    pub(super) fn known_outcome(&self, access: usize, facts: &Facts, stable: bool) -> Option<Outcome> {
        let asked = &self.accesses[access];
        let table = facts.table(asked.table)?;
        let key: Option<Key> = table.key.iter().map(|column| Some((*column, asked.value_of(*column)?))).collect();
        let key = key.filter(|key| !key.is_empty())?;
        if self.refers_to_missing(access, table, facts) {
            return Some(Outcome::Missing);
        }
        let known = self.found_before(access, &key, table, facts).or_else(|| {
            let refers = !table.deleted && self.is_referred_to(access, &key, table, facts);
            refers.then_some(Outcome::Found)
        });
        known.filter(|known| match known {
            Outcome::Found => stable || !table.deleted,
            Outcome::Missing => stable || !table.inserted,
            Outcome::Open => false,
        })
    }

    /// What the last statement says that was about this row.
    fn found_before(&self, access: usize, key: &Key, table: &TableFacts, facts: &Facts) -> Option<Outcome> {
        let asked = &self.accesses[access];
        for (at, other) in self.accesses[..access].iter().enumerate().rev().filter(|(_, it)| it.table == asked.table) {
            let is_sure = !other.conditional && !other.looped;
            let is_it = key.iter().all(|(column, value)| other.value_of(*column) == Some(*value));
            if is_sure && is_it && other.outcome != Outcome::Open {
                let goes = other.kind != AccessKind::Insert && other.writes.contains(&Cell::Existence);
                let gone = goes && other.outcome == Outcome::Found;
                return Some(if gone { Outcome::Missing } else { other.outcome });
            }
            if is_sure && self.is_extreme_of(at, key, facts) {
                return Some(Outcome::Found);
            }
            // Rows that come or go may be this one, whatever the values are called.
            if other.writes.contains(&Cell::Existence) && !self.is_another(other, key, table) {
                return None;
            }
        }
        None
    }

    /// Whether the key is that of the row with the smallest or largest value that an access has found.
    fn is_extreme_of(&self, at: usize, key: &Key, facts: &Facts) -> bool {
        let access = &self.accesses[at];
        let Some(extreme) = access.extreme else { return false };
        // There is such a row only if there is such a value.
        key.iter().any(|(column, _)| *column == extreme.column)
            && key.iter().all(|(column, value)| match *self.kind(*value) {
                TermKind::Read { access: from, column: read } if *column == extreme.column => {
                    from == at && read == extreme.column && self.cannot_be_null(*value, facts)
                }
                _ => *column != extreme.column && access.value_of(*column) == Some(*value),
            })
    }

    /// Whether a row has another key for sure.
    fn is_another(&self, access: &Access, key: &Key, table: &TableFacts) -> bool {
        key.iter().filter(|(column, _)| table.key.contains(column)).any(|(column, value)| {
            let kinds = access.value_of(*column).map(|other| (self.kind(*value), self.kind(other)));
            matches!(kinds, Some((TermKind::Constant(one), TermKind::Constant(other))) if one != other)
        })
    }

    /// Whether a row that was found refers to this one, which therefore is there: rows of its table neither come nor go, or
    /// whoever inserts a row that refers also inserts what it refers to.
    fn is_referred_to(&self, access: usize, key: &Key, table: &TableFacts, facts: &Facts) -> bool {
        let asked = &self.accesses[access];
        (0..access).any(|at| {
            let child = &self.accesses[at];
            let Some(child_facts) = facts.table(child.table) else { return false };
            // Of the row with the smallest or largest value this is known where there is such a value.
            let is_found = |columns: &[usize]| {
                child.outcome == Outcome::Found
                    || child.extreme.is_some_and(|extreme| columns.contains(&extreme.column))
            };
            !child.conditional
                && !child.looped
                && child_facts.references.iter().enumerate().any(|(number, (columns, parent, parent_columns))| {
                    let refers = |(column, value): &(usize, TermId)| {
                        let own = parent_columns.iter().position(|other| other == column).map(|at| columns[at]);
                        own.is_some_and(|own| self.has_value(at, own, *value, facts))
                    };
                    *parent == asked.table
                        && is_found(columns)
                        && parent_columns.len() == key.len()
                        && key.iter().all(refers)
                        && (table.is_fixed()
                            || (child.kind != AccessKind::Insert && child_facts.brings.contains(&number)))
                })
        })
    }

    /// Whether a row that is looked for would refer to one that is not there, and never is.
    fn refers_to_missing(&self, access: usize, table: &TableFacts, facts: &Facts) -> bool {
        let child = &self.accesses[access];
        // NULL refers to nothing, and no row is found by it.
        let is_given = |own: &usize| child.value_of(*own).is_some() || table.not_null[*own];
        table.references.iter().any(|(columns, parent, parent_columns)| {
            columns.iter().all(is_given) && self.has_missed(access, (columns, *parent, parent_columns), facts)
        })
    }

    /// Whether an insert refers to a row that is not there, and so fails at the end of its statement: the way has looked for
    /// that row by its key and has not found it, and rows of its table neither come nor go. (Where they go, an update may
    /// bring one back at weak levels. What is checked later may have gone again by then.)
    pub(super) fn lacks_parent(&self, insert: usize, facts: &Facts, catalog: &Catalog) -> bool {
        let child = &self.accesses[insert];
        let table = catalog.table(child.table).filter(|table| !table.unchecked);
        let keys = table.map_or(&[][..], |table| &table.foreign_keys[..]);
        child.kind == AccessKind::Insert
            && !child.conditional
            && !child.looped
            && keys.iter().any(|key| key.timing == Timing::Immediate && self.refers_to_nothing(insert, key, facts))
    }

    fn refers_to_nothing(&self, insert: usize, key: &ForeignKey, facts: &Facts) -> bool {
        let child = &self.accesses[insert];
        let Some(table) = facts.table(child.table) else { return false };
        // NULL refers to nothing, unless that fails, too.
        let is_given = |own: &usize| {
            let is_required = table.not_null.get(*own).copied().unwrap_or(false);
            child.value_of(*own).is_some_and(|value| is_required || self.cannot_be_null(value, facts))
        };
        key.columns.iter().all(is_given)
            && self.has_missed(insert, (&key.columns, key.parent, &key.parent_columns), facts)
    }

    /// Whether the way has looked before for the row that an access refers to by some columns, and has not found it, in a table
    /// whose rows neither come nor go.
    fn has_missed(&self, child: usize, reference: (&[usize], Oid, &[usize]), facts: &Facts) -> bool {
        let (columns, parent, parent_columns) = reference;
        let Some(table) = facts.table(parent).filter(|table| table.is_fixed()) else { return false };
        let refers = |(column, value): &(usize, TermId)| {
            let own = parent_columns.iter().position(|other| other == column).map(|at| columns[at]);
            table.key.contains(column)
                && own.is_some_and(|own| self.accesses[child].value_of(own) == Some(*value))
                && !self.terms[*value].looped
        };
        self.accesses[..child].iter().any(|access| {
            let is_sure = !access.conditional && !access.looped && access.plain && access.filtered.is_empty();
            access.table == parent
                && access.kind != AccessKind::Insert
                && access.outcome == Outcome::Missing
                && is_sure
                && !access.row.is_empty()
                && access.row.iter().all(refers)
        })
    }

    /// Whether a column of the row that an access has found has a value, which is not NULL.
    fn has_value(&self, access: usize, column: usize, value: TermId, facts: &Facts) -> bool {
        let is_read = *self.kind(value) == TermKind::Read { access, column };
        let is_it = is_read || self.accesses[access].value_of(column) == Some(value);
        is_it && self.cannot_be_null(value, facts)
    }
}
