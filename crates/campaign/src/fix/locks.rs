//! Locks: on the rows that were read, on rows that are counted, on a parent row, and one that stands for no row.

use std::collections::BTreeSet;

use skew_server::rewrites::Rewrite;
use skew_sql::parse::ast::{LockWait, Query};

use super::scene::{Cell, Scene, Step};
use super::{Candidate, Change, Kind};
use crate::cells::NOTHING;
use crate::trees;

/// The locks that could help, cheapest first.
pub(crate) fn candidates(scene: &Scene<'_>) -> Vec<Candidate> {
    let reads = scene.read_shapes();
    let queries: Vec<(&Step, &Query)> =
        reads.iter().filter_map(|step| Some((*step, trees::query(step.tree.as_ref())?))).collect();
    // An UPDATE that reads what it computes with locks it by itself.
    if queries.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // A lock on the rows that are there does not keep others from inserting one that is not.
    if !scene.finds_nothing() {
        if queries.iter().all(|(_, query)| query.is_limited()) {
            found.extend(locked(&queries, LockWait::SkipLocked, "take a row that no other client has locked"));
        }
        found.extend(locked(&queries, LockWait::Block, "lock the rows while they are read"));
        found.extend(locked_before(&queries));
    }
    found.extend(shared_rows(scene, &queries));
    found.extend(advisory(scene, &queries));
    found
}

fn rewritten(words: &str, sql: Vec<String>, rewrites: Vec<Rewrite>) -> Candidate {
    let kind = Kind::Lock;
    Candidate {
        kind,
        words: words.to_owned(),
        sql,
        flight: Some(Change::Rewrite(rewrites, Vec::new())),
        explored: None,
    }
}

fn locked(queries: &[(&Step, &Query)], wait: LockWait, words: &str) -> Option<Candidate> {
    let can = queries.iter().all(|(_, query)| trees::can_lock(query));
    let texts = || queries.iter().map(|(step, query)| (*step, trees::locked(query, wait).to_string()));
    let rewrites = texts().map(|(step, text)| Rewrite::instead(&step.shape, text));
    can.then(|| rewritten(words, texts().map(|(step, text)| step.shown(&text)).collect(), rewrites.collect()))
}

/// The same queries, each after another statement in its transaction.
fn preceded(queries: &[(&Step, &Query)], words: &str, before: impl Fn(&Query) -> Option<String>) -> Option<Candidate> {
    let (mut sql, mut rewrites) = (Vec::new(), Vec::new());
    for (step, query) in queries {
        let first = before(query)?;
        let shown = step.shown(&first);
        if !sql.contains(&shown) {
            sql.push(shown);
        }
        rewrites.push(Rewrite::around(&step.shape, vec![first], Vec::new()));
    }
    sql.extend(queries.iter().map(|(step, query)| step.shown(&query.to_string())));
    Some(rewritten(words, sql, rewrites))
}

/// The rows that a query counts or adds up are locked by a query of their own before it.
fn locked_before(queries: &[(&Step, &Query)]) -> Option<Candidate> {
    if queries.iter().all(|(_, query)| trees::can_lock(query)) {
        return None;
    }
    let words = "lock the rows first, with a query of their own in the same transaction";
    preceded(queries, words, trees::rows_locked)
}

/// A row of another table that all of the transactions read, and that is there, is locked before they look.
fn shared_rows(scene: &Scene<'_>, queries: &[(&Step, &Query)]) -> Vec<Candidate> {
    let programs: BTreeSet<usize> = scene.reads.iter().map(|place| place.program).collect();
    let guilty: BTreeSet<String> = scene
        .reads
        .iter()
        .flat_map(|&place| scene.step(place).operations.iter().filter(|operation| operation.is_guilty))
        .filter_map(|operation| Some(Cell::of(&operation.key)?.table))
        .collect();
    let found_by = |program: usize| -> BTreeSet<Cell> {
        let operations = scene.programs[program].steps.iter().flat_map(|step| &step.operations);
        let found = operations.filter(|operation| !operation.is_write && operation.value != NOTHING);
        let cells = found.filter_map(|operation| Cell::of(&operation.key));
        cells.filter(|cell| cell.column.is_none() && !guilty.contains(&cell.table)).collect()
    };
    let shared = programs.into_iter().map(found_by).reduce(|one, other| one.intersection(&other).cloned().collect());
    let lock = |cell: &Cell| {
        let table = scene.table(&cell.table)?;
        let [key] = table.clustered.as_slice() else { return None };
        let name = &table.columns.get(*key)?.name;
        let (target, column) = (trees::object(&cell.table), trees::ident(name));
        let row = scene.literal(&cell.table, name, &cell.row);
        let sql = format!("SELECT 1 FROM {target} WHERE {column} = {row} FOR UPDATE");
        let words = format!("lock the row of {} that all of them read, before they look", cell.table);
        preceded(queries, &words, |_| Some(sql.clone()))
    };
    shared.unwrap_or_default().iter().take(2).filter_map(lock).collect()
}

/// A lock that stands for no row.
fn advisory(scene: &Scene<'_>, queries: &[(&Step, &Query)]) -> Option<Candidate> {
    let place = scene.reads.iter().find_map(|&place| {
        let operation = scene.step(place).operations.iter().find(|operation| operation.is_guilty)?;
        Some(operation.key.split('[').next()?.to_owned())
    })?;
    let sql = advisory_lock(&place);
    let words = "take a lock of your own before looking: there is no row yet that could be locked";
    scene.finds_nothing().then(|| preceded(queries, words, |_| Some(sql.clone())))?
}

/// The lock that stands for a table's rows that are not there yet.
pub(crate) fn advisory_lock(table: &str) -> String {
    format!("SELECT pg_advisory_xact_lock(hashtext({}))", skew_sql::types::quote::literal(table))
}
