//! Which accesses a constraint's lookup puts in order, derived anew from what the certificate says about lookups and accesses.

use super::data::{Access, At, Change, Does, Lookup, Summary, TermIs};
use super::pairs::{Pair, Side};

/// Whether every access is said to be a side of the lookups that its changes stand for; otherwise, the
/// line of one that is not.
pub(super) fn are_noted(summary: &Summary) -> Result<(), String> {
    for program in &summary.programs {
        for access in program.ways.iter().flat_map(|way| &way.accesses) {
            let all = |part: fn(&Lookup) -> &Change| -> Vec<usize> {
                let numbers = 0..summary.lookups.len();
                numbers.filter(|at| makes(access, part(&summary.lookups[*at]))).collect()
            };
            if access.follows != all(|lookup| &lookup.later) || access.precedes != all(|lookup| &lookup.earlier) {
                return Err(format!("{}, line {}: its constraints look up something else", program.name, access.line));
            }
        }
    }
    Ok(())
}

/// Looks at all pairs of accesses that a lookup may put in order.
pub(super) fn each_lookup(summary: &Summary, all: &[(At, Side<'_>)], mut look: impl FnMut(At, At, usize, Pair)) {
    for (number, lookup) in summary.lookups.iter().enumerate() {
        for (from, one) in all.iter().filter(|(_, one)| one.access.precedes.contains(&number)) {
            for (to, other) in all.iter().filter(|(_, other)| other.access.follows.contains(&number)) {
                look(*from, *to, number, satisfied(summary, lookup, *one, *other));
            }
        }
    }
}

/// Whether an access is such a change.
fn makes(access: &Access, change: &Change) -> bool {
    let concerns = |cell: &Option<usize>| match (cell, &change.columns) {
        (None, _) | (_, None) => true,
        (Some(column), Some(columns)) => columns.contains(column),
    };
    let is_change = match access.does {
        Does::Insert => change.puts,
        Does::Delete => change.takes,
        Does::Update | Does::Select => access.writes.iter().any(concerns),
    };
    is_change && access.table.is_some() && access.table == change.table && !access.writes.is_empty()
}

/// The values that are equal if the lookup puts two accesses in order.
fn satisfied(summary: &Summary, lookup: &Lookup, first: Side<'_>, later: Side<'_>) -> Pair {
    let mut equal = Vec::new();
    for &(of_first, of_later) in &lookup.equal {
        let one = value(summary, &lookup.earlier, first.access, of_first);
        let other = value(summary, &lookup.later, later.access, of_later);
        let (Some(one), Some(other)) = (one, other) else { continue };
        match (&first.way.terms[one].is, &later.way.terms[other].is) {
            (TermIs::Null, _) | (_, TermIs::Null) => return Pair::Nothing,
            (TermIs::Fresh(one), TermIs::Fresh(other)) if one == other => return Pair::Nothing,
            (TermIs::Constant(one), TermIs::Constant(other)) if one != other => return Pair::Nothing,
            _ => equal.push((one, other)),
        }
    }
    Pair::Meet { cells: Vec::new(), equal }
}

/// The value that a change brings, or takes away, where the certificate knows it: of a row that is changed, only if the
/// column never changes.
fn value(summary: &Summary, change: &Change, access: &Access, column: usize) -> Option<usize> {
    let keeps = || access.table.and_then(|table| summary.tables.get(table)).is_some_and(|table| table.keeps(column));
    match access.does {
        Does::Insert => access.value(column),
        _ if change.puts || !change.takes => None,
        _ => access.value(column).filter(|_| keeps()),
    }
}
