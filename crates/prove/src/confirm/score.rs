//! How promising calls with arguments are: what each of them does alone, held against the suspect.

use super::arguments::{Calls, Case};
use super::footprint::{Footprint, Footprints};
use crate::summary::{Access, Cell};
use crate::suspect::{Edge, EdgeKind};

/// How much of the suspect calls with these arguments show, each alone.
pub(super) fn score(case: Case<'_>, calls: &Calls, footprints: &Footprints) -> i64 {
    let Some(feet) = calls.iter().map(|call| footprints.known(call)).collect::<Option<Vec<&Footprint>>>() else {
        return 0;
    };
    let mut score = 0;
    for (call, foot) in feet.iter().enumerate() {
        score += if foot.failed { -25 } else { 4 * i64::from(takes_its_way(case, call, foot)) };
    }
    score += case.suspect.edges.iter().map(|edge| shown(case, edge, &feet)).sum::<i64>();
    if case.suspect.level.refuses_conflicts() {
        score -= 15 * conflicts(case, &feet);
    }
    score
}

/// The first call that never goes the way that it goes in the suspect.
pub(super) fn unmet(case: Case<'_>, scored: &[(i64, Calls)], footprints: &Footprints) -> Option<String> {
    let goes_its_way = |at: usize, calls: &Calls| {
        footprints.known(&calls[at]).is_some_and(|foot| !foot.failed && takes_its_way(case, at, foot))
    };
    let never = |at: &usize| !scored.iter().any(|(_, calls)| goes_its_way(*at, calls));
    let at = (0..case.suspect.calls.len()).find(never)?;
    let name = &case.summary.programs[case.suspect.calls[at].program].name;
    let decisions = &case.path(at).decisions;
    let way = if decisions.is_empty() {
        "without an error".to_owned()
    } else {
        format!("this way: {}", decisions.join("; "))
    };
    Some(format!("no arguments were found with which {name} alone goes {way}"))
}

/// Whether a call writes what its way writes.
fn takes_its_way(case: Case<'_>, call: usize, foot: &Footprint) -> bool {
    let path = case.path(call);
    if path.is_read_only() {
        return foot.writes.is_empty();
    }
    path.accesses.iter().filter(|access| access.surely_writes()).all(|access| {
        let Some(table) = case.summary.facts.table(access.table) else { return false };
        access.writes.iter().all(|cell| match cell {
            Cell::Existence => foot.writes_rows_of(&table.name),
            Cell::Column(column) => foot.writes_column(&table.name, table.column(*column)),
        })
    })
}

/// Whether the calls of a dependency meet in a cell.
fn shown(case: Case<'_>, edge: &Edge, feet: &[&Footprint]) -> i64 {
    let Some((one, other)) = edge.accesses else { return 0 };
    let (from, to) = (feet[edge.from], feet[edge.to]);
    let (first, second) = match edge.kind {
        // The look of a constraint is no read.
        EdgeKind::Session | EdgeKind::Constraint => return 0,
        EdgeKind::WriteRead => (&from.writes, &to.reads),
        EdgeKind::WriteWrite => (&from.writes, &to.writes),
        EdgeKind::ReadWrite => (&from.reads, &to.writes),
    };
    let accesses = case.path(edge.from).accesses.get(one).zip(case.path(edge.to).accesses.get(other));
    let Some((one, other)) = accesses else { return 0 };
    let table = case.table_name(one);
    let is_of_table = |cell: &&String| cell.split('[').next() == Some(table);
    if first.intersection(second).any(|cell| is_of_table(&cell)) {
        return 10;
    }
    // A row that is not there yet is not among what a call reads alone.
    let makes_a_row = |access: &Access, foot: &Footprint| {
        access.writes.contains(&Cell::Existence) && foot.writes_rows_of(case.table_name(access))
    };
    let looks = |access: &Access, foot: &Footprint| {
        !access.reads.is_empty() && (access.row.is_empty() || !foot.reads_table(table))
    };
    let may_meet = match edge.kind {
        EdgeKind::WriteRead => makes_a_row(one, from) && looks(other, to),
        EdgeKind::ReadWrite => looks(one, from) && makes_a_row(other, to),
        _ => false,
    };
    if may_meet { 6 } else { 0 }
}

/// How many pairs of calls write the same although no dependency says so: one of them would be refused.
fn conflicts(case: Case<'_>, feet: &[&Footprint]) -> i64 {
    let ordered = |one: usize, other: usize| {
        case.suspect.edges.iter().any(|edge| {
            edge.kind != EdgeKind::ReadWrite && [(one, other), (other, one)].contains(&(edge.from, edge.to))
        })
    };
    let mut count = 0;
    for one in 0..feet.len() {
        for other in 0..one {
            count += i64::from(!ordered(one, other) && !feet[one].writes.is_disjoint(&feet[other].writes));
        }
    }
    count
}
