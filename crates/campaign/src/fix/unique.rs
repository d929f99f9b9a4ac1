//! UNIQUE: transactions looked for rows by some columns, found none (or the greatest number), and inserted rows with the same
//! values there.

use std::collections::{BTreeMap, BTreeSet};

use skew_server::rewrites::Rewrite;
use skew_sql::parse::ast::{ConflictTarget, DoUpdate, Expr, Insert, OnConflict, OnConflictAction, Statement};

use super::scene::{Cell, Scene, Step};
use super::{Candidate, Change, Kind, Variant};
use crate::arena::Seen;
use crate::cells::NOTHING;
use crate::trees;

/// The constraints that could help: with ON CONFLICT, and with the transaction that fails run again.
pub(crate) fn candidates(scene: &Scene<'_>, is_split: bool) -> Vec<Candidate> {
    let Some(looked) = looked_for(scene) else { return Vec::new() };
    let Some(insert) = insert_of(scene, &looked.table) else { return Vec::new() };
    let inserted = inserted_values(scene, &looked);
    let is_twice = inserted.len() > 1 && inserted.iter().all(|row| *row == inserted[0]);
    if !is_twice || scene.serial.is_none_or(|serial| has_duplicates(serial, &looked)) {
        return Vec::new();
    }
    let names: Vec<String> = looked.columns.iter().map(|column| trees::ident(column).to_string()).collect();
    let ddl = format!("CREATE UNIQUE INDEX ON {} ({})", trees::object(&looked.table), names.join(", "));
    let mut found = Vec::new();
    if !looked.is_computed
        && let Some(Statement::Insert(own)) = &insert.tree
        && own.on.is_none()
    {
        let text = Statement::Insert(on_conflict(own, &looked.columns)).to_string();
        let words = match own.returning.is_some() {
            true => "let a UNIQUE index decide, and take the row that is there",
            false => "let a UNIQUE index decide, and INSERT nothing where the row is there",
        };
        let mut rewrites: Vec<Rewrite> = vec![Rewrite::instead(&insert.shape, text.clone())];
        // The schema is changed before the first of them looks.
        rewrites.extend(scene.read_shapes().iter().map(|step| Rewrite::around(&step.shape, Vec::new(), Vec::new())));
        found.push(Candidate {
            kind: Kind::Unique,
            words: words.to_owned(),
            sql: vec![ddl.clone(), insert.shown(&text)],
            flight: Some(Change::Rewrite(rewrites, vec![ddl.clone()])),
            explored: None,
        });
    }
    if !is_split {
        found.push(Candidate {
            kind: Kind::Unique,
            words: "let a UNIQUE index refuse the second row, and run the transaction again that ends with 23505"
                .to_owned(),
            sql: vec![ddl.clone()],
            flight: None,
            explored: Some(Variant { schema: vec![ddl], ..Variant::default() }),
        });
    }
    found
}

/// What the transactions looked for: the columns of a table whose values say which row.
struct LookedFor {
    table: String,
    columns: Vec<String>,
    /// Whether one of the values was computed from what was found.
    is_computed: bool,
}

fn looked_for(scene: &Scene<'_>) -> Option<LookedFor> {
    let reads = scene.read_shapes();
    let [step] = reads.as_slice() else { return None };
    let select = trees::looking(trees::query(step.tree.as_ref())?)?;
    let table = trees::only_table(select)?.to_owned();
    let mut columns = Vec::new();
    for condition in select.selection.as_ref().map(trees::conjuncts).unwrap_or_default() {
        columns.push(trees::equality(condition)?.0.to_owned());
    }
    let mut is_computed = false;
    for item in &select.projection {
        match trees::aggregate(item) {
            Some((name, column)) if trees::is_aggregate(name) => {
                // A count is compared with a limit that need not be one.
                if !["max", "min"].contains(&name) {
                    return None;
                }
                columns.push(column?.to_owned());
                is_computed = true;
            }
            _ => {}
        }
    }
    columns.sort();
    columns.dedup();
    (!columns.is_empty()).then_some(LookedFor { table, columns, is_computed })
}

/// The INSERT into a table that the transactions share.
fn insert_of<'a>(scene: &'a Scene<'_>, table: &str) -> Option<&'a Step> {
    let of = |step: &&Step| match &step.tree {
        Some(Statement::Insert(insert)) => {
            insert.table.last().is_some_and(|name| name.value == table) && trees::inserted(insert).is_some()
        }
        _ => false,
    };
    let mut steps = scene.programs.iter().filter_map(|program| program.steps.iter().find(of));
    let first = steps.next()?;
    steps.all(|step| step.shape.text == first.shape.text).then_some(first)
}

/// The values that each transaction inserted in the columns.
fn inserted_values(scene: &Scene<'_>, looked: &LookedFor) -> Vec<Vec<String>> {
    let of = |step: &Step| -> Vec<Vec<String>> {
        let mut rows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for operation in step.operations.iter().filter(|operation| operation.is_write) {
            let Some(cell) = Cell::of(&operation.key).filter(|cell| cell.table == looked.table) else { continue };
            let row = rows.entry(cell.row).or_default();
            row.extend(cell.column.map(|column| (column, operation.value.clone())));
        }
        rows.values().filter_map(|row| key_of(row, looked)).collect()
    };
    let inserts = scene.programs.iter().flat_map(|program| &program.steps);
    inserts.filter(|step| matches!(step.tree, Some(Statement::Insert(_)))).flat_map(of).collect()
}

fn key_of(row: &BTreeMap<String, String>, looked: &LookedFor) -> Option<Vec<String>> {
    looked.columns.iter().map(|column| row.get(column).cloned()).collect()
}

/// Whether two rows of a run had the same values in the columns at its end.
fn has_duplicates(seen: &Seen, looked: &LookedFor) -> bool {
    let history = &seen.recording.history;
    let mut rows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut gone: BTreeSet<String> = BTreeSet::new();
    for (at, op) in history.all_ops().iter().enumerate() {
        let txn = history.txn_of(skew_model::OpId(at as u32));
        let is_kept =
            op.kind() == skew_model::OpKind::Write && history.txn(txn).status == skew_model::Status::Committed;
        let Some(cell) = Cell::of(&history.key_name(op.key())).filter(|cell| is_kept && cell.table == looked.table)
        else {
            continue;
        };
        let value = history.value_text(op.value());
        match cell.column {
            Some(column) => _ = rows.entry(cell.row).or_default().insert(column, value),
            None if value == NOTHING => _ = gone.insert(cell.row),
            None => {}
        }
    }
    let mut known = BTreeSet::new();
    let there = rows.iter().filter(|(row, _)| !gone.contains(*row));
    there.filter_map(|(_, row)| key_of(row, looked)).any(|key| !known.insert(key))
}

/// The INSERT that gives way to a row that is there; one with RETURNING returns that row.
fn on_conflict(insert: &Insert, columns: &[String]) -> Insert {
    let keys = columns.iter().map(|column| Expr::Identifier(trees::ident(column))).collect();
    let target = ConflictTarget::Keys { keys, predicate: None };
    let first = trees::ident(&columns[0]);
    let same = skew_sql::parse::statement(&format!("UPDATE t SET {first} = EXCLUDED.{first}"));
    let action = match (insert.returning.is_some(), same) {
        (true, Ok(Some(skew_sql::parse::Statement::Sql(tree)))) => match *tree {
            Statement::Update(update) => {
                OnConflictAction::DoUpdate(DoUpdate { assignments: update.assignments, selection: None })
            }
            _ => OnConflictAction::DoNothing,
        },
        _ => OnConflictAction::DoNothing,
    };
    Insert { on: Some(OnConflict { conflict_target: Some(target), action }), ..insert.clone() }
}
