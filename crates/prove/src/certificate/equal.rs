//! Which values of a few transactions are equal, and what follows: by saying it again and again until nothing is new.

use std::collections::BTreeMap;

use super::data::{Access, Does, Outcome, Summary, Table, TermIs, Way};

/// A few transactions with the equalities between their values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Equal<'s> {
    summary: &'s Summary,
    /// The ways that they take.
    pub(super) ways: Vec<&'s Way>,
    /// For each transaction and value: the smallest number of a value that is equal to it, counted through all of them.
    labels: Vec<Vec<usize>>,
}

/// A value: the number of its transaction, and its own.
pub(super) type Value = (usize, usize);

impl<'s> Equal<'s> {
    /// No transactions yet.
    pub(super) fn new(summary: &'s Summary) -> Equal<'s> {
        Equal { summary, ways: Vec::new(), labels: Vec::new() }
    }

    /// One more transaction; its number.
    pub(super) fn add(&mut self, way: &'s Way) -> usize {
        let start: usize = self.labels.iter().map(Vec::len).sum();
        self.ways.push(way);
        self.labels.push((start..start + way.terms.len()).collect());
        self.ways.len() - 1
    }

    /// Whether two values are equal for sure.
    pub(super) fn are(&self, one: Value, other: Value) -> bool {
        self.labels[one.0][one.1] == self.labels[other.0][other.1]
    }

    /// Says that two values are equal; whether that is new.
    pub(super) fn say(&mut self, one: Value, other: Value) -> bool {
        let (one, other) = (self.labels[one.0][one.1], self.labels[other.0][other.1]);
        for label in self.labels.iter_mut().flatten().filter(|label| **label == one.max(other)) {
            *label = one.min(other);
        }
        one != other
    }

    /// Whether all its equalities are among the other's.
    pub(super) fn says_no_more_than(&self, other: &Equal<'_>) -> bool {
        let mine: Vec<usize> = self.labels.iter().flatten().copied().collect();
        let theirs: Vec<usize> = other.labels.iter().flatten().copied().collect();
        mine.len() == theirs.len() && mine.iter().enumerate().all(|(value, label)| theirs[value] == theirs[*label])
    }

    /// Only some of the transactions, in this order.
    pub(super) fn only(&self, kept: &[usize]) -> Equal<'s> {
        let mut less = Equal::new(self.summary);
        let mut firsts = BTreeMap::new();
        for &old in kept {
            let new = less.add(self.ways[old]);
            for (value, label) in self.labels[old].iter().enumerate() {
                let own = less.labels[new][value];
                less.labels[new][value] = *firsts.entry(*label).or_insert(own);
            }
        }
        less
    }

    fn table(&self, access: &Access) -> Option<&'s Table> {
        self.summary.tables.get(access.table?)
    }

    /// Whether two accesses of different transactions are to one row for sure.
    pub(super) fn one_row(&self, one: (usize, &Access), other: (usize, &Access)) -> bool {
        let Some(table) = self.table(one.1).filter(|_| one.1.table == other.1.table) else { return false };
        let agree = |columns: &Vec<usize>| {
            let same = |column: &usize| {
                let values = one.1.value(*column).zip(other.1.value(*column));
                table.keeps(*column)
                    && values.is_some_and(|(value, theirs)| self.are((one.0, value), (other.0, theirs)))
            };
            !columns.is_empty() && columns.iter().all(same)
        };
        let both_insert = one.1.does == Does::Insert && other.1.does == Does::Insert;
        // Rows with NULL in a unique column can be inserted any number of times.
        let counts =
            |columns: &&Vec<usize>| !both_insert || columns.iter().all(|column| table.not_null.contains(column));
        // Who finds no row with some values says nothing about rows that have only some of them.
        let all_of = |access: &Access| agree(&access.row.iter().map(|(column, _)| *column).collect());
        let is_it = |access: &Access| access.outcome != Outcome::Missing || all_of(access);
        is_it(one.1) && is_it(other.1) && (agree(&table.key) || table.unique.iter().filter(counts).any(agree))
    }

    /// Says all that follows; false if it contradicts itself, or what is known of rows.
    pub(super) fn close(&mut self) -> bool {
        let pairs: Vec<(usize, usize)> =
            (0..self.ways.len()).flat_map(|one| (0..one).map(move |other| (one, other))).collect();
        loop {
            let mut new = false;
            for &(one, other) in &pairs {
                new |= self.follow(one, other);
            }
            if !new {
                break;
            }
        }
        (0..self.ways.len()).all(|at| self.is_possible(at)) && pairs.iter().all(|&(one, other)| self.can_be(one, other))
    }

    /// What follows between two transactions.
    fn follow(&mut self, one: usize, other: usize) -> bool {
        let (way, other_way) = (self.ways[one], self.ways[other]);
        let mut new = false;
        for (value, term) in way.terms.iter().enumerate() {
            for (other_value, other_term) in other_way.terms.iter().enumerate() {
                let (mine, theirs) = ((one, value), (other, other_value));
                match (&term.is, &other_term.is) {
                    (TermIs::Constant(text), TermIs::Constant(other_text)) if text == other_text => {
                        new |= self.say(mine, theirs);
                    }
                    (TermIs::More { than, by }, TermIs::More { than: other_than, by: other_by }) if by == other_by => {
                        let bases = ((one, *than), (other, *other_than));
                        if self.are(bases.0, bases.1) {
                            new |= self.say(mine, theirs);
                        } else if self.are(mine, theirs) {
                            new |= self.say(bases.0, bases.1);
                        }
                    }
                    (TermIs::Read { access, column }, TermIs::Read { access: other_access, column: other_column })
                        if column == other_column =>
                    {
                        let rows = (&way.accesses[*access], &other_way.accesses[*other_access]);
                        new |= self.follow_reads(mine, theirs, rows, *column);
                    }
                    _ => {}
                }
            }
        }
        new
    }

    /// One row has one value in a column that never changes; with a unique column, one value has one row.
    fn follow_reads(
        &mut self,
        mine: Value,
        theirs: Value,
        (row, other_row): (&Access, &Access),
        column: usize,
    ) -> bool {
        let Some(table) = self.table(row).filter(|_| row.table == other_row.table) else { return false };
        let were_found = row.outcome == Outcome::Found && other_row.outcome == Outcome::Found;
        if !were_found || !table.keeps(column) {
            return false;
        }
        if self.one_row((mine.0, row), (theirs.0, other_row)) {
            return self.say(mine, theirs);
        }
        let mut new = false;
        if self.are(mine, theirs) && table.unique.iter().any(|unique| unique[..] == [column]) {
            for key in &table.key {
                if let (Some(value), Some(other_value)) = (row.value(*key), other_row.value(*key)) {
                    new |= self.say((mine.0, value), (theirs.0, other_value));
                }
            }
        }
        new
    }

    /// No value is more than itself.
    fn is_possible(&self, at: usize) -> bool {
        let is_more = |(value, term): (usize, &super::data::Term)| match term.is {
            TermIs::More { than, by } => by != 0 && self.are((at, value), (at, than)),
            _ => false,
        };
        !self.ways[at].terms.iter().enumerate().any(is_more)
    }

    /// Whether two transactions can both be.
    fn can_be(&self, one: usize, other: usize) -> bool {
        let (way, other_way) = (self.ways[one], self.ways[other]);
        for (value, term) in way.terms.iter().enumerate() {
            for (other_value, other_term) in other_way.terms.iter().enumerate() {
                let never = match (&term.is, &other_term.is) {
                    (TermIs::Constant(text), TermIs::Constant(other_text)) => text != other_text,
                    (TermIs::Fresh(source), TermIs::Fresh(other_source)) => source == other_source,
                    _ => false,
                };
                if never && self.are((one, value), (other, other_value)) {
                    return false;
                }
            }
        }
        if self.refuses((one, way), (other, other_way)) || self.refuses((other, other_way), (one, way)) {
            return false;
        }
        for row in &way.accesses {
            let Some(table) = self.table(row) else { continue };
            for other_row in other_way.accesses.iter().filter(|access| access.table == row.table) {
                // A row that stays is inserted once; where rows neither come nor go, all find the same.
                let twice = !table.deleted && surely_inserts(row) && surely_inserts(other_row);
                let is_fixed = !table.inserted && !table.deleted;
                let are_known = row.outcome != Outcome::Open && other_row.outcome != Outcome::Open;
                let differs = is_fixed && are_known && row.outcome != other_row.outcome;
                if (twice || differs) && self.one_row((one, row), (other, other_row)) {
                    return false;
                }
            }
        }
        true
    }
}

impl Equal<'_> {
    /// Whether a foreign key refuses one of two transactions, whichever commits first: one inserts a row that stays, and the
    /// other one deletes the row that it refers to, which does not come back.
    fn refuses(&self, (one, way): (usize, &Way), (other, other_way): (usize, &Way)) -> bool {
        let is_there = |access: &Access| {
            access.outcome == Outcome::Found && !access.conditional && !access.looped && !access.undoable
        };
        let children = way.accesses.iter().filter(|access| surely_inserts(access) && is_there(access));
        let removed = |access: &&Access| access.does == Does::Delete && is_there(access) && !access.writes.is_empty();
        let removed: Vec<&Access> = other_way.accesses.iter().filter(removed).collect();
        children.filter_map(|child| Some((child, self.table(child)?))).any(|(child, table)| {
            let mut references = table.references.iter().filter(|_| !table.deleted);
            references.any(|(columns, parent, theirs)| {
                let Some(parents) = self.summary.tables.get(*parent) else { return false };
                let stays_gone = !parents.inserted || (!parents.reinserted && parents.key == *theirs);
                let is_set = |column: &usize| {
                    let value = child.value(*column);
                    let is_known = |value: usize| way.never_null.contains(&value) || table.not_null.contains(column);
                    value.is_some_and(is_known) && !table.updated.contains(column)
                };
                let is_parent = |row: &&Access| {
                    row.table == Some(*parent)
                        && columns.iter().zip(theirs).all(|(column, their)| {
                            let values = child.value(*column).zip(row.value(*their));
                            !parents.updated.contains(their)
                                && values.is_some_and(|(value, gone)| self.are((one, value), (other, gone)))
                        })
                };
                stays_gone && columns.iter().all(is_set) && removed.iter().any(is_parent)
            })
        })
    }
}

/// Whether an access inserts a row in every transaction that takes its way.
pub(super) fn surely_inserts(access: &Access) -> bool {
    access.does == Does::Insert
        && access.outcome == Outcome::Found
        && !access.writes.is_empty()
        && !access.conditional
        && !access.looped
}
