//! Which values of a few transactions are equal, and what follows from it.

use std::collections::BTreeMap;

use crate::graph::Graph;
use crate::summary::values::is_integer;
use crate::summary::{Access, AccessKind, Facts, Outcome, Path, Source, TermId, TermKind};

/// A partition of the values of transactions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classes {
    /// The nodes whose values there are.
    nodes: Vec<usize>,
    /// Where each node's values begin.
    starts: Vec<usize>,
    /// The class of each value: the smallest number of a value in it.
    class: Vec<usize>,
    /// The last two are one transaction.
    doubled: bool,
}

/// That equalities contradict what is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contradiction;

/// The parts of a path that equalities have to do with.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// The constants, each text by a number.
    constants: Vec<(TermId, usize)>,
    sums: Vec<(TermId, TermId, i64)>,
    /// Columns that never change, of rows that were found: the value, the access, the column.
    reads: Vec<(TermId, usize, usize)>,
    fresh: Vec<(TermId, Source)>,
    /// Accesses that insert rows that stay.
    inserts: Vec<usize>,
    /// Accesses to rows of tables that stay as they are.
    fixed: Vec<usize>,
    /// Accesses that insert rows which stay and refer to another row, with the reference's place among the table's.
    references: Vec<(usize, usize)>,
    /// Accesses that delete rows which do not come back.
    removals: Vec<usize>,
}

impl Parts {
    pub(super) fn of(path: &Path, facts: &Facts, texts: &mut BTreeMap<String, usize>) -> Parts {
        let mut parts = Parts::default();
        for (term, value) in path.terms.iter().enumerate() {
            match &value.kind {
                TermKind::Constant(text) => {
                    let next = texts.len();
                    parts.constants.push((term, *texts.entry(text.clone()).or_insert(next)));
                }
                // One more than a number is another one; than NaN, it is not.
                TermKind::Plus(base, by) if value.typed.is_some_and(|typed| is_integer(typed.ty)) => {
                    parts.sums.push((term, *base, *by));
                }
                TermKind::Read { access, column } => {
                    let row = &path.accesses[*access];
                    let stays = facts.table(row.table).is_some_and(|table| table.is_constant(*column));
                    if stays && row.outcome == Outcome::Found {
                        parts.reads.push((term, *access, *column));
                    }
                }
                TermKind::Fresh(source) => parts.fresh.push((term, *source)),
                TermKind::Parameter(_) | TermKind::Null | TermKind::Unknown => {}
                TermKind::Plus(..) | TermKind::Sum(..) | TermKind::Difference(..) | TermKind::Times(..) => {}
            }
        }
        for (at, access) in path.accesses.iter().enumerate() {
            let Some(table) = facts.table(access.table) else { continue };
            if !table.deleted && surely_inserts(access) {
                parts.inserts.push(at);
            }
            if table.is_fixed() && access.outcome != Outcome::Open {
                parts.fixed.push(at);
            }
            if !table.deleted && surely_inserts(access) && !access.undoable {
                let refers = |(columns, ..): &(Vec<usize>, _, _)| {
                    columns.iter().all(|column| {
                        let is_set = access.value_of(*column).is_some_and(|value| path.never_null.contains(&value));
                        (is_set || access.value_of(*column).is_some() && table.not_null[*column])
                            && !table.updated.contains(column)
                    })
                };
                let numbers = (0..table.references.len()).filter(|number| refers(&table.references[*number]));
                parts.references.extend(numbers.map(|number| (at, number)));
            }
            if access.kind == AccessKind::Delete && access.surely_writes() && !access.undoable && !table.reinserted {
                parts.removals.push(at);
            }
        }
        parts
    }
}

impl Classes {
    /// The values of transactions of these nodes, all different.
    pub fn new(graph: &Graph<'_>, nodes: &[usize]) -> Classes {
        let mut classes = Classes { nodes: Vec::new(), starts: Vec::new(), class: Vec::new(), doubled: false };
        nodes.iter().for_each(|node| _ = classes.add(graph, *node));
        classes
    }

    /// Another transaction; its place among them.
    pub fn add(&mut self, graph: &Graph<'_>, node: usize) -> usize {
        let start = self.class.len();
        self.nodes.push(node);
        self.starts.push(start);
        self.class.extend(start..start + graph.path(node).terms.len());
        self.nodes.len() - 1
    }

    /// The last transaction once more.
    pub fn double(&mut self, graph: &Graph<'_>) {
        let last = self.nodes.len() - 1;
        let same = self.add(graph, self.nodes[last]);
        for term in 0..graph.path(self.nodes[last]).terms.len() {
            self.unite((last, term), (same, term));
        }
        self.doubled = true;
    }

    /// Whether the last two are one transaction.
    pub fn is_doubled(&self) -> bool {
        self.doubled
    }

    /// The node of a transaction.
    pub fn node(&self, at: usize) -> usize {
        self.nodes[at]
    }

    fn value(&self, at: usize, term: TermId) -> usize {
        self.starts[at] + term
    }

    /// Whether two values are equal for sure.
    pub fn are_equal(&self, one: (usize, TermId), other: (usize, TermId)) -> bool {
        self.class[self.value(one.0, one.1)] == self.class[self.value(other.0, other.1)]
    }

    /// Two values are equal; whether that is new.
    pub fn unite(&mut self, one: (usize, TermId), other: (usize, TermId)) -> bool {
        let (one, other) = (self.class[self.value(one.0, one.1)], self.class[self.value(other.0, other.1)]);
        let (kept, gone) = (one.min(other), one.max(other));
        if kept == gone {
            return false;
        }
        self.class.iter_mut().filter(|class| **class == gone).for_each(|class| *class = kept);
        true
    }

    /// Only some of the transactions, in this order.
    pub fn only(&self, graph: &Graph<'_>, kept: &[usize]) -> Classes {
        let nodes: Vec<usize> = kept.iter().map(|at| self.nodes[*at]).collect();
        let mut classes = Classes::new(graph, &nodes);
        // The first value of each class among those that are kept.
        let mut firsts = vec![usize::MAX; self.class.len()];
        for (new, &at) in kept.iter().enumerate() {
            for term in 0..graph.path(self.nodes[at]).terms.len() {
                let (old, here) = (self.class[self.value(at, term)], classes.value(new, term));
                firsts[old] = firsts[old].min(here);
                classes.class[here] = firsts[old];
            }
        }
        classes
    }

    /// Whether all its equalities are among the other's, for the same transactions.
    pub fn is_within(&self, other: &Classes) -> bool {
        self.nodes == other.nodes
            && self.class.iter().enumerate().all(|(value, class)| other.class[value] == other.class[*class])
    }

    /// Which of two transactions are different ones.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (count, doubled) = (self.nodes.len(), self.doubled);
        let pairs = (0..count).flat_map(|one| (0..one).map(move |other| (one, other)));
        pairs.filter(move |(one, other)| !(doubled && *other == 1 && *one == 2))
    }

    /// All equalities that follow.
    pub fn close(&mut self, graph: &Graph<'_>) -> Result<(), Contradiction> {
        loop {
            let mut changed = false;
            for (one, other) in self.pairs() {
                changed |= self.follow(graph, one, other);
            }
            if !changed {
                return self.check(graph);
            }
        }
    }

    /// What follows for the values of two transactions.
    fn follow(&mut self, graph: &Graph<'_>, one: usize, other: usize) -> bool {
        let (parts, other_parts) = (&graph.parts[self.nodes[one]], &graph.parts[self.nodes[other]]);
        let mut changed = false;
        for (term, text) in &parts.constants {
            for (other_term, _) in other_parts.constants.iter().filter(|(_, other_text)| other_text == text) {
                changed |= self.unite((one, *term), (other, *other_term));
            }
        }
        for &(term, base, by) in &parts.sums {
            for &(other_term, other_base, _) in other_parts.sums.iter().filter(|(_, _, other_by)| *other_by == by) {
                if self.are_equal((one, base), (other, other_base)) {
                    changed |= self.unite((one, term), (other, other_term));
                } else if self.are_equal((one, term), (other, other_term)) {
                    changed |= self.unite((one, base), (other, other_base));
                }
            }
        }
        let (path, other_path) = (graph.path(self.nodes[one]), graph.path(self.nodes[other]));
        for &(term, access, column) in &parts.reads {
            let row = &path.accesses[access];
            for &(other_term, other_access, other_column) in &other_parts.reads {
                let other_row = &other_path.accesses[other_access];
                if column != other_column || row.table != other_row.table {
                    continue;
                }
                let Some(table) = graph.summary.facts.table(row.table) else { continue };
                // One row has one value there, and with a unique column one value has one row.
                let are_equal = self.are_equal((one, term), (other, other_term));
                if self.are_one_row(graph, (one, row), (other, other_row)) {
                    changed |= self.unite((one, term), (other, other_term));
                } else if are_equal && table.unique.iter().any(|unique| unique[..] == [column]) {
                    for key in &table.key {
                        if let (Some(value), Some(other_value)) = (row.value_of(*key), other_row.value_of(*key)) {
                            changed |= self.unite((one, value), (other, other_value));
                        }
                    }
                }
            }
        }
        changed
    }

    /// Whether two accesses are to one row for sure.
    pub fn are_one_row(&self, graph: &Graph<'_>, one: (usize, &Access), other: (usize, &Access)) -> bool {
        if one.1.table != other.1.table {
            return false;
        }
        let Some(table) = graph.summary.facts.table(one.1.table) else { return false };
        let agree = |columns: &Vec<usize>| {
            !columns.is_empty()
                && columns.iter().all(|column| match (one.1.value_of(*column), other.1.value_of(*column)) {
                    (Some(value), Some(other_value)) => {
                        table.is_constant(*column) && self.are_equal((one.0, value), (other.0, other_value))
                    }
                    _ => false,
                })
        };
        // Any number of rows can be inserted with NULL in a unique column.
        let inserts = one.1.kind == AccessKind::Insert && other.1.kind == AccessKind::Insert;
        let can_be_null = |columns: &&Vec<usize>| columns.iter().any(|column| !table.not_null[*column]);
        // A row that is not there is not that with some of its values, but with all of them.
        let missing = [one.1, other.1].into_iter().filter(|access| access.outcome == Outcome::Missing);
        let mut missing = missing.map(|access| access.row.iter().map(|(column, _)| *column).collect());
        let unique = || table.unique.iter().filter(|columns| !(inserts && can_be_null(columns))).any(agree);
        missing.all(|columns| agree(&columns)) && (agree(&table.key) || unique())
    }

    /// Whether the equalities contradict each other, or what is known of rows.
    fn check(&self, graph: &Graph<'_>) -> Result<(), Contradiction> {
        let parts = |at: usize| &graph.parts[self.nodes[at]];
        for at in 0..self.nodes.len() {
            let sums = parts(at).sums.iter();
            let is_itself =
                |(term, base, by): &(TermId, TermId, i64)| *by != 0 && self.are_equal((at, *term), (at, *base));
            if sums.clone().any(is_itself) {
                return Err(Contradiction);
            }
        }
        for (one, other) in self.pairs() {
            let constants = parts(one).constants.iter().any(|(term, text)| {
                let others = parts(other).constants.iter().filter(|(_, other_text)| other_text != text);
                others
                    .map(|(other_term, _)| *other_term)
                    .any(|other_term| self.are_equal((one, *term), (other, other_term)))
            });
            let fresh = parts(one).fresh.iter().any(|(term, source)| {
                let others = parts(other).fresh.iter().filter(|(_, from)| from == source);
                others.map(|(term, _)| *term).any(|other_term| self.are_equal((one, *term), (other, other_term)))
            });
            if constants || fresh || self.rows_contradict(graph, one, other) {
                return Err(Contradiction);
            }
        }
        Ok(())
    }

    /// Whether two transactions cannot both be: they insert one row that is never deleted, or one finds what the other
    /// one does not although rows neither come nor go.
    fn rows_contradict(&self, graph: &Graph<'_>, one: usize, other: usize) -> bool {
        let (path, other_path) = (graph.path(self.nodes[one]), graph.path(self.nodes[other]));
        let (parts, other_parts) = (&graph.parts[self.nodes[one]], &graph.parts[self.nodes[other]]);
        let are_one = |at: usize, other_at: usize| {
            self.are_one_row(graph, (one, &path.accesses[at]), (other, &other_path.accesses[other_at]))
        };
        let inserted =
            parts.inserts.iter().any(|&at| other_parts.inserts.iter().any(|&other_at| are_one(at, other_at)));
        let differs = |at: usize, other_at: usize| path.accesses[at].outcome != other_path.accesses[other_at].outcome;
        inserted
            || self.outlives(graph, (one, path, parts), (other, other_path, other_parts))
            || self.outlives(graph, (other, other_path, other_parts), (one, path, parts))
            || parts
                .fixed
                .iter()
                .any(|&at| other_parts.fixed.iter().any(|&other_at| differs(at, other_at) && are_one(at, other_at)))
    }
}

impl Classes {
    /// Lemma `a-referenced-row-stays`: whether one transaction inserts a row that stays and refers to a row that another one
    /// deletes for good. Whichever commits first, the foreign key refuses the other one.
    fn outlives(
        &self,
        graph: &Graph<'_>,
        (one, path, parts): (usize, &Path, &Parts),
        (other, other_path, other_parts): (usize, &Path, &Parts),
    ) -> bool {
        parts.references.iter().any(|&(child, number)| {
            let child = &path.accesses[child];
            let Some(table) = graph.summary.facts.table(child.table) else { return false };
            let (columns, parent, parent_columns) = &table.references[number];
            let Some(parent_table) = graph.summary.facts.table(*parent) else { return false };
            let is_it = |&removed: &usize| {
                let removed = &other_path.accesses[removed];
                // Where the reference is not to the key, another row can have the same values.
                removed.table == *parent
                    && (*parent_columns == parent_table.key || !parent_table.inserted)
                    && columns.iter().zip(parent_columns).all(|(column, parent_column)| {
                        let values = child.value_of(*column).zip(removed.value_of(*parent_column));
                        !parent_table.updated.contains(parent_column)
                            && values.is_some_and(|(value, removed)| self.are_equal((one, value), (other, removed)))
                    })
            };
            other_parts.removals.iter().any(is_it)
        })
    }
}

/// Whether an access inserts in every transaction that takes its path.
pub(super) fn surely_inserts(access: &Access) -> bool {
    access.kind == AccessKind::Insert && access.surely_writes()
}
