//! What a dependency asks of the values of columns beyond equality: who looks at rows within limits meets those who write
//! such rows.

use super::encode::{Encoding, is_ordered, value_name};
use super::formula::Formula;
use crate::graph::edges::Dependency;
use crate::summary::facts::TableFacts;
use crate::summary::{Access, Bound, Path, Side, TermKind};
use crate::suspect::EdgeKind;

/// Who comes to a row: the transaction, its way, and the access.
type Visitor<'p> = (usize, &'p Path, usize);

impl Encoding<'_, '_> {
    /// The row at which two accesses meet is within the limits of both: a column that never changes has one value, of which
    /// the comparisons of both are true.
    ///
    /// Whoever writes a row has picked it, and so has who reads a cell that is read of no others. Who only looks at a row
    /// says of it what led there.
    pub(super) fn within_limits(&self, one: Visitor<'_>, other: Visitor<'_>, edge: &Dependency) -> Vec<Formula> {
        let access = &one.1.accesses[one.2];
        let Some(table) = self.graph.summary.facts.table(access.table) else { return Vec::new() };
        let looks = |reads: EdgeKind| !edge.picked && edge.kind == reads;
        let (is_known, is_known_too) =
            (known(table, one, looks(EdgeKind::ReadWrite)), known(table, other, looks(EdgeKind::WriteRead)));
        let mut holds = Vec::new();
        for (column, any) in &is_known {
            for (_, other_any) in is_known_too.iter().filter(|(other_column, _)| other_column == column) {
                // Where both are equal to one value, the dependency says so already.
                if any.len() == 1 && other_any.len() == 1 && any[0].is == Side::Equal && other_any[0].is == Side::Equal
                {
                    continue;
                }
                let pairs = any.iter().flat_map(|bound| other_any.iter().map(move |other_bound| (bound, other_bound)));
                holds.push(Formula::any(pairs.map(|(bound, other_bound)| both((one, *bound), (other, *other_bound)))));
            }
        }
        holds
    }
}

/// What is known of columns that never change, of a row that somebody comes to: one of some comparisons is true.
fn known(table: &TableFacts, (_, path, at): Visitor<'_>, looks: bool) -> Vec<(usize, Vec<Bound>)> {
    let access = &path.accesses[at];
    let row = access.row.iter().filter(|(column, _)| !looks || access.ranged.contains(column));
    let row = row.map(|(column, value)| (*column, vec![Bound { is: Side::Equal, value: *value }]));
    let limits = access.limits.iter().filter(|limit| !looks || limit.looked_up);
    let limits = limits.map(|limit| (limit.column, limit.any.clone()));
    let all = row.chain(limits).chain(up_to_the_first(table, path, at));
    all.filter(|(column, _)| table.is_constant(*column)).collect()
}

/// Who looks for the smallest or largest value in the order of an index, and has found one, has come to no row behind it.
fn up_to_the_first(table: &TableFacts, path: &Path, at: usize) -> Option<(usize, Vec<Bound>)> {
    let access: &Access = &path.accesses[at];
    let extreme = access.extreme.filter(|extreme| extreme.first && access.filtered.is_empty())?;
    // NULL has a place of its own in that order.
    let is_ordered = table.not_null.get(extreme.column).copied().unwrap_or(false);
    let read = TermKind::Read { access: at, column: extreme.column };
    let value = path.terms.iter().position(|term| term.kind == read && !term.looped)?;
    let is = if extreme.largest { Side::AtLeast } else { Side::AtMost };
    (is_ordered && path.never_null.contains(&value)).then(|| (extreme.column, vec![Bound { is, value }]))
}

/// What follows from two comparisons that are true of one value.
fn both((one, bound): (Visitor<'_>, Bound), (other, other_bound): (Visitor<'_>, Bound)) -> Formula {
    let is_looped = |path: &Path, bound: Bound| path.terms[bound.value].looped;
    // In a loop it is some iteration.
    if is_looped(one.1, bound) || is_looped(other.1, other_bound) {
        return Formula::TRUE;
    }
    // Nothing compares with NULL.
    let is_null = |path: &Path, bound: Bound| {
        path.terms[bound.value].kind == TermKind::Null || path.always_null.contains(&bound.value)
    };
    if is_null(one.1, bound) || is_null(other.1, other_bound) {
        return Formula::FALSE;
    }
    let terms = [&one.1.terms[bound.value], &other.1.terms[other_bound.value]];
    let (name, other_name) = (value_name(one.0, bound.value), value_name(other.0, other_bound.value));
    let ordered = |smaller: &str, larger: &str, strict: bool| {
        let symbol = if strict { "<" } else { "<=" };
        if is_ordered(terms) { Formula::atom(format!("({symbol} {smaller} {larger})")) } else { Formula::TRUE }
    };
    let compared = |name: &str, is: Side, than: &str| match is {
        Side::Equal => Formula::equal(name, than),
        Side::Different => !Formula::equal(name, than),
        Side::Below | Side::AtMost => ordered(name, than, is == Side::Below),
        Side::Above | Side::AtLeast => ordered(than, name, is == Side::Above),
    };
    let is_strict = [bound.is, other_bound.is].iter().any(|is| matches!(is, Side::Below | Side::Above));
    match (bound.is, other_bound.is) {
        (Side::Equal, is) => compared(&name, is, &other_name),
        (is, Side::Equal) => compared(&other_name, is, &name),
        (Side::Above | Side::AtLeast, Side::Below | Side::AtMost) => ordered(&name, &other_name, is_strict),
        (Side::Below | Side::AtMost, Side::Above | Side::AtLeast) => ordered(&other_name, &name, is_strict),
        _ => Formula::TRUE,
    }
}
