//! Whether two accesses can make one transaction depend on another one: the cells at which they meet and the values that
//! have to be equal, or why not. Derived anew from what the certificate says about accesses and tables.

use super::data::{Access, Does, Kind, Outcome, Table, TermIs, Way, Writers};

/// What two accesses come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Pair {
    /// They touch no common cells in this way.
    Nothing,
    /// They are a dependency.
    Meet { cells: Vec<Option<usize>>, equal: Vec<(usize, usize)> },
    /// They touch common cells, but no two transactions depend on each other by them.
    Apart(String),
}

/// A side of a pair: the way, the number of the access on it, and the access.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) way: &'a Way,
    pub(super) at: usize,
    pub(super) access: &'a Access,
}

/// What two accesses to one table come to.
pub(super) fn pair(
    table: &Table,
    writers: Writers,
    kind: Kind,
    picked: bool,
    first: Side<'_>,
    later: Side<'_>,
) -> Pair {
    let (one, other) = (first.access, later.access);
    let (of_one, of_other) = match kind {
        Kind::Wr => (&one.writes, &other.reads),
        Kind::Ww => (&one.writes, &other.writes),
        Kind::Rw => (&one.reads, &other.writes),
        Kind::Constraint => return Pair::Nothing,
    };
    // Cells of rows that the reader picks are one dependency, cells of rows that it only looks at another one.
    let is_picked = |cell: &Option<usize>| match kind {
        Kind::Wr => !is_looked_at(table, other, *cell),
        Kind::Rw => !is_looked_at(table, one, *cell),
        Kind::Ww | Kind::Constraint => true,
    };
    let common: Vec<Option<usize>> =
        of_one.iter().filter(|cell| of_other.contains(cell) && is_picked(cell) == picked).copied().collect();
    if common.is_empty() {
        return Pair::Nothing;
    }
    let mut reason = "";
    let mut cells = Vec::new();
    for cell in common {
        match why_not(table, kind, picked, cell, one, other) {
            None => cells.push(cell),
            Some(why) => reason = why,
        }
    }
    if cells.is_empty() {
        return Pair::Apart(reason.to_owned());
    }
    let mut equal = match equalities(table, kind, picked, first, later) {
        Ok(equal) => equal,
        Err(why) => return Pair::Apart(why),
    };
    if writers == Writers::Apart && kind == Kind::Rw && picked && cells == [None] {
        match coming_and_going(table, first, later) {
            Ok(more) => equal.extend(more),
            Err(why) => return Pair::Apart(why.to_owned()),
        }
    }
    Pair::Meet { cells, equal }
}

/// Where writers of a row see each other: which further values are equal if a transaction overwrites that another one has, or
/// has not, found a row; or why it does not.
///
/// Who deletes a row overwrites one that is there, unless it has inserted it itself. Of rows in the order of a column, only
/// those up to the first one are looked at, so that this is the one that is deleted. And who takes its number from a counter
/// inserts no row before the first one.
fn coming_and_going(table: &Table, first: Side<'_>, later: Side<'_>) -> Result<Option<(usize, usize)>, &'static str> {
    let (one, other) = (first.access, later.access);
    let order = one.first.filter(|_| one.filtered.is_empty());
    let value = order.and_then(|order| {
        let is = TermIs::Read { access: first.at, column: order.column };
        first.way.terms.iter().position(|term| term.is == is && !term.looped)
    });
    let is_there = value.is_some_and(|value| first.way.never_null.contains(&value));
    let is_missing =
        one.outcome == Outcome::Missing || value.is_some_and(|value| first.way.always_null.contains(&value));
    let inserts =
        |access: &Access| access.table == other.table && access.does != Does::Delete && access.writes.contains(&None);
    match (other.does, order) {
        (Does::Delete, _) if later.way.accesses.iter().any(inserts) => Ok(None),
        (Does::Delete, _) if is_missing => Err("who finds no row has not read what a delete overwrites"),
        (Does::Delete, Some(order)) if is_there => Ok(value.zip(other.value(order.column))),
        (Does::Insert, Some(order)) if is_there && !order.largest => {
            let is_counted = table.counted.as_ref().is_some_and(|(column, which)| {
                *column == order.column && which.iter().all(|own| one.value(*own).is_some())
            });
            if is_counted { Err("a row with a number from a counter comes after the first one") } else { Ok(None) }
        }
        _ => Ok(None),
    }
}

/// Whether a cell is also read of rows that turn out not to be among those that are asked for.
fn is_looked_at(table: &Table, access: &Access, cell: Option<usize>) -> bool {
    let decides = cell.is_none_or(|column| access.filtered.contains(&column) || access.value(column).is_some());
    let looks_further =
        !access.filtered.is_empty() || access.row.iter().any(|(column, _)| !access.ranged.contains(column));
    let is_it = access.outcome == Outcome::Found
        && table.unique.iter().any(|unique| unique.iter().all(|column| access.ranged.contains(column)));
    decides && looks_further && !is_it
}

/// Why a cell is no dependency.
fn why_not(
    table: &Table,
    kind: Kind,
    picked: bool,
    cell: Option<usize>,
    one: &Access,
    other: &Access,
) -> Option<&'static str> {
    let is_insert_of_what_stays = !table.returns() && other.does == Does::Insert;
    // By other columns than the key, another row may be found later.
    let is_that_row = |access: &Access| {
        let by_key = !table.key.is_empty() && table.key.iter().all(|column| access.value(*column).is_some());
        let stays = !table.deleted && access.row.iter().all(|(column, _)| table.keeps(*column));
        access.outcome == Outcome::Found && (by_key || stays)
    };
    match kind {
        Kind::Wr if !picked => None,
        Kind::Wr => match (cell, one.does, other.outcome) {
            (None, Does::Delete, _) if is_that_row(other) => Some("who finds a row has not read that it was deleted"),
            (None, Does::Insert, Outcome::Missing) => Some("who finds no row has not read that it was inserted"),
            (Some(_), _, Outcome::Missing) => Some("who finds no row has read none of its columns"),
            _ => None,
        },
        Kind::Ww if is_insert_of_what_stays => Some("a row that does not return is inserted before it is changed"),
        Kind::Ww | Kind::Constraint => None,
        Kind::Rw if picked && other.does == Does::Delete && one.outcome == Outcome::Missing => {
            Some("between who finds no row and who deletes it somebody has inserted it")
        }
        Kind::Rw if !is_insert_of_what_stays => None,
        Kind::Rw if cell.is_some() => Some("a row that does not return had no columns before it was inserted"),
        Kind::Rw if picked && is_that_row(one) => {
            Some("who has found a row that does not return has seen that it was inserted")
        }
        Kind::Rw => None,
    }
}

/// The values that have to be equal for two accesses to be to one row, or why they cannot be.
fn equalities(
    table: &Table,
    kind: Kind,
    picked: bool,
    first: Side<'_>,
    later: Side<'_>,
) -> Result<Vec<(usize, usize)>, String> {
    let (one, other) = (first.access, later.access);
    if table.key.is_empty() && one.does == Does::Insert && other.does == Does::Insert {
        return Err("each insert makes a row of its own".to_owned());
    }
    // Who only looks at a row says nothing about columns by which it was not looked up.
    let says = |access: &Access, column: usize, reads: bool| picked || !reads || access.ranged.contains(&column);
    let mut equal = Vec::new();
    for &(column, value) in &one.row {
        if !says(one, column, kind == Kind::Rw) || !says(other, column, kind == Kind::Wr) || !table.keeps(column) {
            continue;
        }
        let Some(other_value) = other.value(column) else { continue };
        let name = table.columns.get(column).map_or("?", String::as_str);
        match (&first.way.terms[value].is, &later.way.terms[other_value].is) {
            (TermIs::Null, _) | (_, TermIs::Null) => return Err(format!("{name} is NULL in one of them")),
            (TermIs::Fresh(one), TermIs::Fresh(other)) if one == other => {
                return Err(format!("{name} is a value of its own in each of them"));
            }
            (TermIs::Constant(one), TermIs::Constant(other)) if one != other => {
                return Err(format!("{name} is {one} in one of them and {other} in the other"));
            }
            _ => equal.push((value, other_value)),
        }
    }
    Ok(equal)
}
