//! Which accesses of two transactions can meet at a row, and what follows for their values.

use std::collections::{BTreeMap, HashSet};

use skew_sql::catalog::Oid;

use crate::graph::exclusion::hit;
use crate::graph::{Graph, Writers};
use crate::summary::facts::TableFacts;
use crate::summary::{Access, AccessKind, Cell, Outcome, Path, TermId, TermKind};
use crate::suspect::EdgeKind;

/// A dependency that two transactions can have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// Who comes later, by its number in the graph.
    pub to: usize,
    /// Why.
    pub kind: EdgeKind,
    /// The access of the first one, and that of the later one.
    pub accesses: (usize, usize),
    /// What they meet at.
    pub cells: Vec<Cell>,
    /// Who reads has picked the row, and not only looked at it.
    pub picked: bool,
    /// The values that have to be the same, of the first one and of the later one.
    pub equal: Vec<(TermId, TermId)>,
    /// The order of a constraint's lookup that it is, by its number.
    pub lookup: Option<usize>,
}

impl Dependency {
    /// Whether who reads has found the row: it has picked it, and they do not meet at whether it is there.
    pub fn tells_of_a_row(&self) -> bool {
        self.picked && !self.cells.is_empty() && !self.cells.contains(&Cell::Existence)
    }
}

/// The accesses to each table: the node, and the place in its path.
pub(super) type Accesses = BTreeMap<Oid, Vec<(usize, usize)>>;

/// The accesses that a constraint's lookup may put later: the node, and the place in its path.
pub(super) fn by_lookup(graph: &Graph<'_>) -> Vec<Vec<(usize, usize)>> {
    let mut later = vec![Vec::new(); graph.summary.facts.lookups.len()];
    for node in 0..graph.nodes.len() {
        for (at, access) in graph.path(node).accesses.iter().enumerate() {
            access.follows.iter().for_each(|lookup| later[*lookup].push((node, at)));
        }
    }
    later
}

/// All accesses by their tables.
pub(super) fn by_table(graph: &Graph<'_>) -> Accesses {
    let mut accesses = Accesses::new();
    for node in 0..graph.nodes.len() {
        for (at, access) in graph.path(node).accesses.iter().enumerate() {
            accesses.entry(access.table).or_default().push((node, at));
        }
    }
    accesses
}

/// All dependencies from a node, in the order of whom they lead to.
pub(super) fn leaving(
    graph: &Graph<'_>,
    node: usize,
    accesses: &Accesses,
    later: &[Vec<(usize, usize)>],
) -> Vec<Dependency> {
    let mut found = Vec::new();
    for (at, one) in graph.path(node).accesses.iter().enumerate() {
        let Some(table) = graph.summary.facts.table(one.table) else { continue };
        for &(to, other_at) in &accesses[&one.table] {
            meet(graph, table, (node, at), (to, other_at), &mut found);
        }
        for &lookup in &one.precedes {
            let accesses = later[lookup].iter();
            found.extend(accesses.filter_map(|other| ordered(graph, lookup, (node, at), *other)));
        }
    }
    found.sort_by_key(|edge| (edge.to, edge.accesses));
    found
}

/// The dependencies of an access of one node on another one's.
fn meet(graph: &Graph<'_>, table: &TableFacts, from: (usize, usize), to: (usize, usize), found: &mut Vec<Dependency>) {
    let (first, later) = (graph.path(from.0), graph.path(to.0));
    let (one, other) = (&first.accesses[from.1], &later.accesses[to.1]);
    let kinds = (|term: TermId| &first.terms[term].kind, |term: TermId| &later.terms[term].kind);
    for kind in [EdgeKind::WriteRead, EdgeKind::WriteWrite, EdgeKind::ReadWrite] {
        for picked in [true, false] {
            let cells = meeting(table, kind, one, other, picked);
            if cells.is_empty() {
                continue;
            }
            let ranged = |reads: EdgeKind| !picked && kind == reads;
            let sides = ((one, ranged(EdgeKind::ReadWrite)), (other, ranged(EdgeKind::WriteRead)));
            let Some(mut equal) = same_row(table, sides, &kinds) else { continue };
            if kind == EdgeKind::ReadWrite && graph.writers == Writers::Apart {
                match overwritten(table, (first, from.1), (later, to.1), &cells, picked) {
                    Overwritten::Never => continue,
                    Overwritten::If(more) => equal.extend(more),
                }
            }
            found.push(Dependency { to: to.0, kind, accesses: (from.1, to.1), cells, picked, equal, lookup: None });
        }
    }
}

/// That a constraint's lookup puts two accesses in order.
fn ordered(graph: &Graph<'_>, lookup: usize, from: (usize, usize), to: (usize, usize)) -> Option<Dependency> {
    let (first, later) = (graph.path(from.0), graph.path(to.0));
    let sides = ((first, &first.accesses[from.1]), (later, &later.accesses[to.1]));
    let facts = &graph.summary.facts;
    let equal = facts.lookups[lookup].equalities(facts, sides.0, sides.1)?;
    let (kind, accesses, cells) = (EdgeKind::Constraint, (from.1, to.1), Vec::new());
    Some(Dependency { to: to.0, kind, accesses, cells, picked: true, equal, lookup: Some(lookup) })
}

/// The dependencies from a node that differ in what follows from them: in whom they lead to, in their kind, in what has to
/// be equal, and in the row at which they arrive.
pub(super) fn different(graph: &Graph<'_>, node: usize) -> Vec<Dependency> {
    let mut known = HashSet::new();
    let row = |edge: &Dependency| {
        let access = &graph.path(edge.to).accesses[edge.accesses.1];
        (access.table, &access.row, edge.tells_of_a_row(), (access.conditional, access.looped, access.undoable))
    };
    let edges = graph.edges[node].iter();
    let entered = |edge: &Dependency| hit(graph.path(edge.to), edge.accesses.1, edge, edge.kind != EdgeKind::WriteRead);
    edges.filter(|edge| known.insert((edge.to, edge.kind, &edge.equal, row(edge), entered(edge)))).cloned().collect()
}

/// The values that have to be equal for two accesses to be to one row; `None` if they cannot be. Who only looks at a row
/// says less about it.
fn same_row<'t>(
    table: &TableFacts,
    ((one, one_looks), (other, other_looks)): ((&Access, bool), (&Access, bool)),
    (kind_of_one, kind_of_other): &(impl Fn(TermId) -> &'t TermKind, impl Fn(TermId) -> &'t TermKind),
) -> Option<Vec<(TermId, TermId)>> {
    // Rows without a key are never the same if each is made by its own insert.
    if table.key.is_empty() && one.kind == AccessKind::Insert && other.kind == AccessKind::Insert {
        return None;
    }
    let mut equal = Vec::new();
    for (column, value) in &one.row {
        if (one_looks && !one.ranged.contains(column)) || (other_looks && !other.ranged.contains(column)) {
            continue;
        }
        let Some(other_value) = other.value_of(*column).filter(|_| table.is_constant(*column)) else { continue };
        match (kind_of_one(*value), kind_of_other(other_value)) {
            (TermKind::Null, _) | (_, TermKind::Null) => return None,
            (TermKind::Fresh(one), TermKind::Fresh(other)) if one == other => return None,
            (TermKind::Constant(one), TermKind::Constant(other)) if one != other => return None,
            _ => equal.push((*value, other_value)),
        }
    }
    Some(equal)
}

/// What a dependency of a kind can be about: of rows that who reads has picked, or of those that it only looks at.
fn meeting(table: &TableFacts, kind: EdgeKind, first: &Access, later: &Access, picked: bool) -> Vec<Cell> {
    let (of_first, of_later) = match kind {
        EdgeKind::WriteRead => (&first.writes, &later.reads),
        EdgeKind::WriteWrite => (&first.writes, &later.writes),
        EdgeKind::ReadWrite => (&first.reads, &later.writes),
        EdgeKind::Session | EdgeKind::Constraint => return Vec::new(),
    };
    let is_picked = |cell: Cell| match kind {
        EdgeKind::WriteRead => !later.reads_of_others(cell, table),
        EdgeKind::ReadWrite => !first.reads_of_others(cell, table),
        EdgeKind::WriteWrite | EdgeKind::Session | EdgeKind::Constraint => true,
    };
    let cells = of_first.intersection(of_later).copied().filter(|cell| is_picked(*cell) == picked);
    cells.filter(|cell| can_meet(table, kind, *cell, (first, later), picked)).collect()
}

fn can_meet(table: &TableFacts, kind: EdgeKind, cell: Cell, (first, later): (&Access, &Access), picked: bool) -> bool {
    use AccessKind::{Delete, Insert};
    // Nobody has seen the row before, or will insert it again.
    let is_first = later.kind == Insert && !table.returns();
    // Who has found a row by other columns than the key may find another one that comes after it.
    let is_that_row = |access: &Access| {
        let by_key = !table.key.is_empty() && table.key.iter().all(|column| access.value_of(*column).is_some());
        let keeps_its_values = || !table.deleted && access.row.iter().all(|(column, _)| table.is_constant(*column));
        access.outcome == Outcome::Found && (by_key || keeps_its_values())
    };
    match kind {
        // Whether a row was found says nothing about others that were looked at.
        EdgeKind::WriteRead if !picked => true,
        EdgeKind::ReadWrite if !picked => !is_first || cell == Cell::Existence,
        // Who finds a row has not read that it was deleted, and who does not has not read that it was inserted.
        EdgeKind::WriteRead if cell == Cell::Existence => match (first.kind, later.outcome) {
            (Insert, Outcome::Missing) => false,
            (Delete, _) => !is_that_row(later),
            _ => true,
        },
        EdgeKind::WriteRead => later.outcome != Outcome::Missing,
        EdgeKind::WriteWrite => !is_first,
        // Who has found nothing has somebody insert before somebody else deletes.
        EdgeKind::ReadWrite if later.kind == Delete && first.outcome == Outcome::Missing => false,
        EdgeKind::ReadWrite if is_first => cell == Cell::Existence && !is_that_row(first),
        EdgeKind::ReadWrite => true,
        EdgeKind::Session | EdgeKind::Constraint => false,
    }
}

/// When somebody overwrites what was read.
enum Overwritten {
    Never,
    /// If these values are equal, too.
    If(Option<(TermId, TermId)>),
}

/// Whether rows that come or go are overwritten by the next one who writes them, where writers of a row see each other.
///
/// A delete overwrites a row that is there: whoever deletes has seen the last one who wrote it, and none of them is the
/// transaction itself unless it inserts, too. So who did not find the row has not read what the delete overwrites. Of rows in
/// the order of a column only those up to the first one that is there are looked at, so that the one that is deleted is the
/// first one.
///
/// An insert that takes its number from a counter does not come before the first row that is there: who inserted that has
/// been seen, and with it everybody who has taken a smaller number (see [`Counted`](crate::summary::counters::Counted)).
fn overwritten(
    table: &TableFacts,
    (first, at): (&Path, usize),
    (later, other_at): (&Path, usize),
    cells: &[Cell],
    picked: bool,
) -> Overwritten {
    let (access, other) = (&first.accesses[at], &later.accesses[other_at]);
    if !picked || cells != [Cell::Existence] {
        return Overwritten::If(None);
    }
    let extreme = access.extreme.filter(|extreme| extreme.first && access.filtered.is_empty());
    let value = extreme.and_then(|extreme| {
        let read = TermKind::Read { access: at, column: extreme.column };
        first.terms.iter().position(|term| term.kind == read && !term.looped)
    });
    let is_there = value.is_some_and(|value| first.never_null.contains(&value));
    let is_missing =
        access.outcome == Outcome::Missing || value.is_some_and(|value| first.always_null.contains(&value));
    match (other.kind, extreme) {
        (AccessKind::Delete, _) if inserts(later, other) => Overwritten::If(None),
        (AccessKind::Delete, _) if is_missing => Overwritten::Never,
        (AccessKind::Delete, Some(extreme)) if is_there => Overwritten::If(value.zip(other.value_of(extreme.column))),
        (AccessKind::Insert, Some(extreme)) if is_there && !extreme.largest => {
            let is_counted = table.counted.as_ref().is_some_and(|counted| {
                counted.column == extreme.column && counted.parts.iter().all(|(own, _)| access.value_of(*own).is_some())
            });
            if is_counted { Overwritten::Never } else { Overwritten::If(None) }
        }
        _ => Overwritten::If(None),
    }
}

/// Whether a path may insert rows of the table of an access.
fn inserts(path: &Path, access: &Access) -> bool {
    let makes = |other: &Access| other.kind != AccessKind::Delete && other.writes.contains(&Cell::Existence);
    path.accesses.iter().any(|other| other.table == access.table && makes(other))
}
