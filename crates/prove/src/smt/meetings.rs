//! What surely holds of two transactions that come to the same rows.

use skew_model::Level;

use super::axioms::{Meaning, Relation};
use super::encode::{Encoding, condition_of, conflict_name, is_ordered, value_name};
use super::formula::Formula;
use crate::graph::edges::Dependency;
use crate::summary::facts::TableFacts;
use crate::summary::{Access, AccessKind, Cell, Condition, Outcome, Path, TermId, TermKind};
use crate::suspect::EdgeKind;

/// A transaction on a way: its number and the node.
pub(super) type Runner = (usize, usize);

impl Encoding<'_, '_> {
    /// Rows and columns that stay as they are look the same to everybody.
    pub(super) fn values_of_rows(&self, one: usize, other: usize) -> Vec<Formula> {
        let mut known = Vec::new();
        for &node in &self.nodes {
            for &other_node in &self.nodes {
                let (one, other) = ((one, node), (other, other_node));
                let holds = Formula::all(
                    self.same_columns(one, other)
                        .into_iter()
                        .chain(self.same_outcomes(one, other))
                        .chain(self.fresh_values(one, other)),
                );
                known.push(self.both_take(one, other).implies(holds));
            }
        }
        known
    }

    fn both_take(&self, one: Runner, other: Runner) -> Formula {
        Formula::all([self.takes(one.0, one.1), self.takes(other.0, other.1)])
    }

    /// One row has one value in a column that never changes, and with a unique column one value has one row.
    fn same_columns(&self, one: Runner, other: Runner) -> Vec<Formula> {
        let (path, other_path) = (self.graph.path(one.1), self.graph.path(other.1));
        let mut known = Vec::new();
        for (term, access, column) in self.lasting_reads(path) {
            for (other_term, other_access, other_column) in self.lasting_reads(other_path) {
                let (row, other_row) = (&path.accesses[access], &other_path.accesses[other_access]);
                if column != other_column || row.table != other_row.table {
                    continue;
                }
                let Some(table) = self.graph.summary.facts.table(row.table) else { continue };
                let same_value = Formula::equal(&value_name(one.0, term), &value_name(other.0, other_term));
                if let Some(same_row) = self.is_one_row(table, (one, row), (other, other_row)) {
                    known.push(same_row.implies(same_value.clone()));
                }
                if table.unique.iter().any(|unique| unique[..] == [column]) {
                    let keys = table.key.iter().filter_map(|key| {
                        let (value, other_value) = (row.value_of(*key)?, other_row.value_of(*key)?);
                        let stay = !path.terms[value].looped && !other_path.terms[other_value].looped;
                        stay.then(|| Formula::equal(&value_name(one.0, value), &value_name(other.0, other_value)))
                    });
                    known.push(same_value.implies(Formula::all(keys)));
                }
            }
        }
        known
    }

    /// Values of columns that never change, of rows that were found: the value, the access, the column.
    fn lasting_reads(&self, path: &Path) -> Vec<(usize, usize, usize)> {
        let lasts = |(term, value): (usize, &crate::summary::Term)| match value.kind {
            TermKind::Read { access, column } if !value.looped => {
                let row = &path.accesses[access];
                let table = self.graph.summary.facts.table(row.table)?;
                let stays = table.is_constant(column) && row.outcome == Outcome::Found;
                stays.then_some((term, access, column))
            }
            _ => None,
        };
        path.terms.iter().enumerate().filter_map(lasts).collect()
    }

    /// Where rows neither come nor go, one transaction finds what the other one finds; where they are not deleted, only one
    /// inserts a row.
    fn same_outcomes(&self, one: Runner, other: Runner) -> Vec<Formula> {
        let mut known = Vec::new();
        for (access, other_access) in self.pairs(one, other) {
            let Some(table) = self.graph.summary.facts.table(access.table) else { continue };
            let both_insert = !table.returns() && surely_inserts(access) && surely_inserts(other_access);
            let is_known = |access: &Access| access.outcome != Outcome::Open && !access.conditional && !access.looped;
            let differ = table.is_fixed()
                && is_known(access)
                && is_known(other_access)
                && access.outcome != other_access.outcome;
            if both_insert || differ {
                known.extend(self.is_one_row(table, (one, access), (other, other_access)).map(|same_row| !same_row));
            }
        }
        known
    }

    /// A new value is nobody else's.
    fn fresh_values(&self, one: Runner, other: Runner) -> Vec<Formula> {
        let fresh = |node: usize| {
            let terms = self.graph.path(node).terms.iter().enumerate();
            terms.filter(|(_, term)| !term.looped).filter_map(|(at, term)| match term.kind {
                TermKind::Fresh(source) => Some((at, source)),
                _ => None,
            })
        };
        let pairs = fresh(one.1).flat_map(|term| fresh(other.1).map(move |other_term| (term, other_term)));
        pairs
            .filter(|((_, source), (_, other_source))| source == other_source)
            .map(|((term, _), (other_term, _))| {
                !Formula::equal(&value_name(one.0, term), &value_name(other.0, other_term))
            })
            .collect()
    }

    /// Two that surely write a cell of a row overwrite each other, in the order in which they take effect.
    pub(super) fn conflicts(&self, one: usize, other: usize) -> Vec<Formula> {
        let conflict = Formula::atom(conflict_name(one, other));
        let ordered = |one: usize, other: usize| {
            self.related(Relation::Ar, one, other).implies(self.related(Relation::Ww, one, other))
        };
        let mut known = vec![conflict.clone().implies(Formula::all([ordered(one, other), ordered(other, one)]))];
        for &node in &self.nodes {
            for &other_node in &self.nodes {
                let (one, other) = ((one, node), (other, other_node));
                let (path, other_path) = (self.graph.path(node), self.graph.path(other_node));
                for (at, access) in path.accesses.iter().enumerate().filter(|(_, access)| !access.looped) {
                    for (other_at, other_access) in
                        other_path.accesses.iter().enumerate().filter(|(_, access)| !access.looped)
                    {
                        if access.table != other_access.table || access.writes.is_disjoint(&other_access.writes) {
                            continue;
                        }
                        let Some(table) = self.graph.summary.facts.table(access.table) else { continue };
                        if let Some(same_row) = self.is_one_row(table, (one, access), (other, other_access)) {
                            let both_write = Formula::all([
                                self.both_take(one, other),
                                self.hits(one.0, node, at),
                                self.hits(other.0, other_node, other_at),
                                same_row,
                            ]);
                            known.push(both_write.implies(conflict.clone()));
                        }
                    }
                }
            }
        }
        known
    }

    /// Where rows do not go, who has seen somebody that has found a largest value finds one that is as large: what that one
    /// has seen it has seen, too. The same holds of smallest ones.
    pub(super) fn growing(&self, one: usize, other: usize) -> Vec<Formula> {
        let mut known = Vec::new();
        for &node in &self.nodes {
            for &other_node in &self.nodes {
                // What a level says about who is seen it says of the last one.
                let passes_on = [Level::Cc, Level::Pc, Level::Psi, Level::Si];
                if !self.level(other_node).is_some_and(|level| passes_on.contains(&level)) {
                    continue;
                }
                let (first, later) = ((one, node), (other, other_node));
                for found in self.extremes(node).filter(|(_, _, is_there)| *is_there) {
                    for again in self.extremes(other_node) {
                        let Some(grows) = self.grows((first, found), (later, again)) else { continue };
                        let seen = self.related(Relation::Vis, one, other);
                        known.push(Formula::all([self.both_take(first, later), seen]).implies(grows));
                    }
                }
            }
        }
        known
    }

    /// The smallest or largest values that a way has asked for among all rows with some values, in tables whose rows do not go
    /// and that do not change: the access, the value, and whether there surely is one.
    fn extremes(&self, node: usize) -> impl Iterator<Item = (usize, TermId, bool)> {
        let path = self.graph.path(node);
        path.terms.iter().enumerate().filter_map(move |(term, value)| {
            let TermKind::Read { access: at, column } = value.kind else { return None };
            let access = &path.accesses[at];
            let table = self.graph.summary.facts.table(access.table)?;
            let stays = |column: usize| table.is_constant(column);
            let is_it = access.extreme.is_some_and(|extreme| extreme.column == column)
                && access.plain
                && access.filtered.is_empty()
                && !access.conditional
                && !access.looped
                && !value.looped
                && !table.deleted
                && is_ordered([value; 2])
                && stays(column)
                && access.row.iter().all(|(column, value)| stays(*column) && !path.terms[*value].looped);
            is_it.then_some((at, term, path.never_null.contains(&term)))
        })
    }

    /// The second value is at least as far as the first one, if both are asked for among the same rows. Then it is not NULL,
    /// so that what else is only true of it where it is not holds.
    fn grows(&self, one: (Runner, (usize, TermId, bool)), other: (Runner, (usize, TermId, bool))) -> Option<Formula> {
        let (((at, node), (access, term, _)), ((other_at, other_node), (other_access, other_term, _))) = (one, other);
        let (path, other_path) = (self.graph.path(node), self.graph.path(other_node));
        let (found, again) = (&path.accesses[access], &other_path.accesses[other_access]);
        // Among more rows there are larger ones.
        let same = again.row.iter().map(|(column, value)| {
            let known = found.value_of(*column)?;
            Some(Formula::equal(&value_name(at, known), &value_name(other_at, *value)))
        });
        let same: Vec<Formula> = same.collect::<Option<_>>()?;
        if found.table != again.table || found.extreme != again.extreme {
            return None;
        }
        let (name, other_name) = (value_name(at, term), value_name(other_at, other_term));
        let largest = found.extreme?.largest;
        let (smaller, larger) = if largest { (&name, &other_name) } else { (&other_name, &name) };
        let is_there = |term: &TermId| *term == other_term || other_path.never_null.contains(term);
        let decided = other_path.conditions.iter().filter(|condition| condition.or_null);
        let decided = decided.filter(|condition| is_there(&condition.left) && is_there(&condition.right));
        let decided = decided.filter_map(|condition| {
            let holds = Condition { or_null: false, ..*condition };
            condition_of(other_path, &holds, &|term| value_name(other_at, term))
        });
        let follows = match other_path.always_null.contains(&other_term) {
            true => Formula::FALSE,
            false => Formula::all([Formula::atom(format!("(<= {smaller} {larger})"))].into_iter().chain(decided)),
        };
        Some(Formula::all(same).implies(follows))
    }

    /// Dependencies that one transaction surely has on another one: of `one` on `other`, or of `other` on `one`.
    pub(super) fn sure_dependencies(&self, one: usize, other: usize) -> Vec<Formula> {
        let mut known = Vec::new();
        for &node in &self.nodes {
            for &other_node in &self.nodes {
                let (reader, writer) = ((one, node), (other, other_node));
                for (read, write) in self.pairs(reader, writer) {
                    let Some(table) = self.graph.summary.facts.table(read.table) else { continue };
                    let Some(follows) = self.sure_dependency(table, (reader, read), (writer, write)) else { continue };
                    let Some(same_row) = self.is_one_row(table, (reader, read), (writer, write)) else { continue };
                    known.push(Formula::all([self.both_take(reader, writer), same_row]).implies(follows));
                }
            }
        }
        known
    }

    /// What follows if both accesses are to one row.
    fn sure_dependency(
        &self,
        table: &TableFacts,
        read: (Runner, &Access),
        write: (Runner, &Access),
    ) -> Option<Formula> {
        let ((reader, node), read) = read;
        let ((writer, _), write) = write;
        if !reads_first(self.graph.path(node), read) || !write.surely_writes() {
            return None;
        }
        let sees = self.related(Relation::Wr, writer, reader);
        let misses = self.related(Relation::Rw, reader, writer);
        let inserts = surely_inserts(write);
        match read.outcome {
            // Who finds a row that is inserted once has seen the insert; if it is never deleted, who does not has not.
            Outcome::Found if inserts && !table.returns() && read.reads.contains(&Cell::Existence) => Some(sees),
            Outcome::Missing if inserts && !table.deleted => Some(misses),
            // Who takes effect before it has read what it overwrites: that the row is there. (A column may not have been
            // needed after all.)
            Outcome::Found if [&read.reads, &write.writes].iter().all(|cells| cells.contains(&Cell::Existence)) => {
                Some(self.related(Relation::Ar, reader, writer).implies(misses))
            }
            _ => None,
        }
    }

    /// Somebody has found a row that another one updates unseen. If it has seen a third one delete the row, somebody has
    /// inserted it again, and has seen the delete. Where conflicts are excluded, that one has also seen the update, or the
    /// update has seen it: then the delete, too. (It was seen, and the update was not.)
    pub(super) fn after_its_return(&self, reader: usize, writer: Runner, access: usize) -> Vec<Formula> {
        let path = self.graph.path(writer.1);
        let update = &path.accesses[access];
        let inserts = |path: &Path| {
            path.accesses.iter().any(|access| access.kind == AccessKind::Insert && access.table == update.table)
        };
        let excludes = |node: &usize| self.level(*node).is_some_and(Level::refuses_conflicts);
        let Some(table) = self.graph.summary.facts.table(update.table).filter(|table| table.deleted) else {
            return Vec::new();
        };
        if update.kind != AccessKind::Update || inserts(path) || !self.nodes.iter().all(excludes) {
            return Vec::new();
        }
        let mut known = Vec::new();
        for third in (0..self.count).filter(|third| *third != reader && *third != writer.0) {
            for &node in self.nodes.iter().filter(|node| !inserts(self.graph.path(**node))) {
                let accesses = self.graph.path(node).accesses.iter();
                for delete in accesses.filter(|access| access.kind == AccessKind::Delete && access.surely_writes()) {
                    if delete.table != update.table {
                        continue;
                    }
                    let Some(same_row) = self.is_one_row(table, (writer, update), ((third, node), delete)) else {
                        continue;
                    };
                    let seen = self.related(Relation::Vis, third, reader);
                    let deleted = Formula::all([self.takes(third, node), same_row, seen]);
                    known.push(deleted.implies(self.related(Relation::Vis, third, writer.0)));
                }
            }
        }
        known
    }

    fn pairs(&self, one: Runner, other: Runner) -> impl Iterator<Item = (&Access, &Access)> {
        let (path, other_path) = (self.graph.path(one.1), self.graph.path(other.1));
        let pairs =
            path.accesses.iter().flat_map(|access| other_path.accesses.iter().map(move |other| (access, other)));
        pairs.filter(|(access, other)| access.table == other.table)
    }

    /// Two accesses are to one row, if they say enough about it.
    pub(super) fn is_one_row(
        &self,
        table: &TableFacts,
        one: (Runner, &Access),
        other: (Runner, &Access),
    ) -> Option<Formula> {
        let ((at, node), access) = one;
        let ((other_at, other_node), other_access) = other;
        let (terms, other_terms) = (&self.graph.path(node).terms, &self.graph.path(other_node).terms);
        let agree = |columns: &Vec<usize>| {
            let equal = columns.iter().map(|column| {
                let (value, other_value) = (access.value_of(*column)?, other_access.value_of(*column)?);
                let stays = table.is_constant(*column) && !terms[value].looped && !other_terms[other_value].looped;
                let is_null = terms[value].kind == TermKind::Null || other_terms[other_value].kind == TermKind::Null;
                let equal = Formula::equal(&value_name(at, value), &value_name(other_at, other_value));
                stays.then_some(if is_null { Formula::FALSE } else { equal })
            });
            let equal: Option<Vec<Formula>> = equal.collect();
            equal.filter(|equal| !equal.is_empty()).map(Formula::all)
        };
        // Any number of rows can be inserted with NULL in a unique column.
        let inserts = access.kind == AccessKind::Insert && other_access.kind == AccessKind::Insert;
        let can_be_null = |columns: &&Vec<usize>| columns.iter().any(|column| !table.not_null[*column]);
        let unique = table.unique.iter().filter(|columns| !(inserts && can_be_null(columns)));
        let ways: Vec<Formula> = [&table.key].into_iter().chain(unique).filter_map(agree).collect();
        // A row that is not there is not that with some of its values, but with all of them.
        let missing = [access, other_access].into_iter().filter(|access| access.outcome == Outcome::Missing);
        let all: Option<Vec<Formula>> =
            missing.map(|access| agree(&access.row.iter().map(|(column, _)| *column).collect())).collect();
        let (all, true) = (all?, !ways.is_empty()) else { return None };
        Some(Formula::all(all.into_iter().chain([Formula::any(ways)])))
    }
}

/// Whether an access surely reads, and not what its own transaction has written.
fn reads_first(path: &Path, read: &Access) -> bool {
    let writes_before =
        |access: &Access| access.table == read.table && !access.writes.is_empty() && access.number < read.number;
    !read.conditional && !read.looped && !read.reads.is_empty() && !path.accesses.iter().any(writes_before)
}

fn surely_inserts(access: &Access) -> bool {
    access.kind == AccessKind::Insert && access.surely_writes()
}

/// Whether the accesses of a dependency have found the row at which they meet: they write it, or have read a column. Of one
/// that may be left out, or undone after an error, reading says nothing about what it has written.
pub(super) fn hits_of(edge: &Dependency, from: &Access, to: &Access) -> (bool, bool) {
    let reads = |access: &Access| edge.tells_of_a_row() && !access.conditional;
    let writes = |access: &Access| !access.writes.is_empty();
    match edge.kind {
        EdgeKind::WriteRead => (writes(from), reads(to)),
        EdgeKind::WriteWrite => (writes(from), writes(to)),
        EdgeKind::ReadWrite => (reads(from), writes(to)),
        EdgeKind::Constraint => (writes(from), writes(to)),
        EdgeKind::Session => (false, false),
    }
}
