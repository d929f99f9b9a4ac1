//! How a value that was written follows from the one that was read: as that value plus a constant, or not that anybody knows.
//!
//! Two recorded numbers do not tell arithmetic from states. Each client's transaction has to add the same in two runs in
//! which it read different numbers; where all runs read the same, one is made that does not.

use std::collections::BTreeMap;

use skew_server::rewrites::{Rewrite, Rewrites};
use skew_sql::types::Type;

use super::scene::{Cell, Scene, StepPlace};
use crate::Trouble;
use crate::arena::{self, Seen};
use crate::number::Number;
use crate::repeats::Repeats;
use crate::trace::Trace;
use crate::trees;

/// By how much a value is made larger to see what follows from it.
const NUDGE: i64 = 7;

/// A column of a row that a transaction read, and then set to a value that the client sent.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) read: StepPlace,
    pub(crate) write: StepPlace,
    pub(crate) cell: Cell,
    pub(crate) column: String,
    /// What was added to the value read, where it is known that the value written is that sum.
    pub(crate) added: Option<Number>,
}

/// The columns that were read and then set by a value, in the programs of the cause; of those that another one of them changed.
pub(crate) fn find(scene: &Scene<'_>, repeats: &mut Repeats<'_>) -> Result<Vec<Relation>, Trouble> {
    let mut found = Vec::new();
    for (program, own) in scene.programs.iter().enumerate() {
        for (at, step) in own.steps.iter().enumerate() {
            let Some(update) = step.update() else { continue };
            let Some(table) = trees::updated_table(update) else { continue };
            for assignment in &update.assignments {
                let [column] = assignment.target.columns() else { continue };
                let column = &column.value;
                let is_it = |cell: &Cell| cell.table == table && cell.column.as_ref() == Some(column);
                let Some((cell, _)) = step.value(true, is_it) else { continue };
                let read = own.steps[..at].iter().rposition(|one| one.value(false, |other| *other == cell).is_some());
                let Some(read) = read.filter(|_| trees::is_value(&assignment.value)) else { continue };
                if !own.steps[read].is_query() || scene.cleared.contains(&format!("{table}.{column}")) {
                    continue;
                }
                let place = |step| StepPlace { program, step };
                let (read, write) = (place(read), place(at));
                // What the transaction leaves as it was is not computed.
                let is_kept = own.steps[read.step].value(false, |other| *other == cell).map(|(_, value)| value)
                    == step.value(true, |other| *other == cell).map(|(_, value)| value);
                if !is_kept {
                    found.push(Relation { read, write, cell, column: column.clone(), added: None });
                }
            }
        }
    }
    let columns: std::collections::BTreeSet<(String, String)> =
        found.iter().map(|relation| (relation.cell.table.clone(), relation.column.clone())).collect();
    for (table, column) in columns {
        let of = |relation: &&mut Relation| relation.cell.table == table && relation.column == column;
        if !is_number(scene, &table, &column) || !adds(scene, &table, &column, repeats)? {
            continue;
        }
        for relation in found.iter_mut().filter(of) {
            let value = |place: StepPlace, is_write: bool| {
                let (_, value) = scene.step(place).value(is_write, |cell| *cell == relation.cell)?;
                Number::parse(&value)
            };
            relation.added = value(relation.write, true)
                .zip(value(relation.read, false))
                .and_then(|(written, read)| written.minus(read));
        }
    }
    Ok(found)
}

/// Whether a column holds numbers that are computed with exactly, and stands for no other row.
fn is_number(scene: &Scene<'_>, table: &str, column: &str) -> bool {
    let Some(own) = scene.table(table) else { return false };
    let Some(at) = own.columns.iter().position(|one| &*one.name == column) else { return false };
    let is_reference = own.foreign_keys.iter().any(|key| key.columns.contains(&at)) || own.clustered.contains(&at);
    let number = [Type::INT2, Type::INT4, Type::INT8, Type::NUMERIC].contains(&own.columns[at].typed.ty);
    number && !is_reference
}

/// What transactions of a run read and wrote of a column: the differences, and what they read.
#[derive(PartialEq, Eq, Debug)]
struct Sums {
    added: Vec<Number>,
    read: Vec<Number>,
}

/// Whether the value written is the value read plus a constant: in two runs with different values the same was added.
fn adds(scene: &Scene<'_>, table: &str, column: &str, repeats: &mut Repeats<'_>) -> Result<bool, Trouble> {
    let Some(first) = sums(scene.seen, table, column) else { return Ok(false) };
    if first.added.is_empty() {
        return Ok(false);
    }
    if let Some(serial) = scene.serial.and_then(|serial| sums(serial, table, column))
        && serial.added == first.added
        && serial.read != first.read
    {
        return Ok(true);
    }
    // The value is made larger before the first transaction of the cause looks.
    let Some(read) = scene.programs.iter().flat_map(|program| &program.steps).find(|step| {
        step.is_query()
            && step.value(false, |cell| cell.table == table && cell.column.as_deref() == Some(column)).is_some()
    }) else {
        return Ok(false);
    };
    let (name, target) = (trees::ident(column), trees::object(table));
    let nudge = format!("UPDATE {target} SET {name} = {name} + {NUDGE}");
    let rewrites = Rewrites::new(vec![Rewrite::around(&read.shape, Vec::new(), Vec::new())], vec![nudge.clone()]);
    let setup = arena::with_rewrites(arena::one_by_one(repeats.seed), rewrites);
    let Some(seen) = repeats.experiment(setup)? else { return Ok(false) };
    let nudged = seen.iter().find(|seen| seen.database == scene.seen.database);
    let Some(nudged) = nudged.and_then(|seen| sums_without(seen, table, column, &nudge)) else { return Ok(false) };
    // Clients may go on longer with more; none of them may add something else.
    let is_same = !nudged.added.is_empty() && nudged.added.iter().all(|added| first.added.contains(added));
    Ok(is_same && nudged.read != first.read && nudged.added.len() >= first.added.len())
}

fn sums(seen: &Seen, table: &str, column: &str) -> Option<Sums> {
    sums_without(seen, table, column, "")
}

/// The differences between what transactions read and wrote of a column, each with what it had read; `None` where one of
/// them is no number. The statement that made the value larger does not count.
fn sums_without(seen: &Seen, table: &str, column: &str, nudge: &str) -> Option<Sums> {
    let trace = Trace::new(seen);
    let history = &seen.recording.history;
    // In a race across transactions a client reads in one of them and writes in another one.
    let mut last: BTreeMap<(usize, String), Number> = BTreeMap::new();
    let mut sums = Sums { added: Vec::new(), read: Vec::new() };
    let mut operations: Vec<(usize, usize)> = seen
        .recording
        .operations
        .iter()
        .enumerate()
        .filter_map(|(at, operation)| Some((trace.statements.get(operation.statement?)?.effect, at)))
        .collect();
    operations.sort_unstable();
    for (_, at) in operations {
        let operation = &seen.recording.operations[at];
        let statement = operation.statement?;
        let op = history.all_ops()[at];
        let name = history.key_name(op.key());
        let Some(cell) = Cell::of(&name) else { continue };
        if cell.table != table || cell.column.as_deref() != Some(column) {
            continue;
        }
        if &*seen.recording.statements[statement].text == nudge {
            continue;
        }
        let client = seen.recording.statements[statement].connection;
        let value = Number::parse(&history.value_text(op.value()));
        match (op.kind(), value) {
            (skew_model::OpKind::Write, Some(value)) => {
                if let Some(read) = last.remove(&(client, name)) {
                    sums.added.push(value.minus(read)?);
                    sums.read.push(read);
                }
            }
            (skew_model::OpKind::Write, None) => {}
            (_, Some(value)) => {
                last.insert((client, name), value);
            }
            (_, None) => {}
        }
    }
    sums.added.sort_unstable();
    sums.read.sort_unstable();
    Some(sums)
}
