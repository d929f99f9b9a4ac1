//! Conditions in the UPDATE. The application looks at the number of rows that it changed, which no rewriting in flight can
//! make it do: these candidates are explored.

use skew_sql::parse::ast::{Statement, Update};

use super::relation::Relation;
use super::scene::{Cell, Scene, Step, StepPlace};
use super::{Candidate, Kind, Otherwise, StepChange, Variant, arithmetic};
use crate::number::Number;
use crate::trees;

/// `SET n = n - 1 … AND n >= 1`: nothing is taken that is not there. The query before it is not needed any more.
pub(crate) fn counted(scene: &Scene<'_>, relations: &[Relation], is_split: bool) -> Vec<Candidate> {
    if is_split {
        return Vec::new();
    }
    let (mut steps, mut sql, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for taking in takings(scene, relations) {
        let step = scene.step(taking.write);
        let column = trees::ident(&taking.column);
        let Some(bound) = trees::expr(&format!("{column} >= {}", taking.amount)) else { continue };
        let update = Update { selection: Some(trees::and(taking.update.selection.clone(), bound)), ..taking.update };
        let text = Statement::Update(update).to_string();
        let shown = step.shown(&text);
        if !sql.contains(&shown) && !columns.contains(&taking.column) {
            sql.push(shown);
        }
        columns.push(taking.column.clone());
        steps.push((taking.write, StepChange::Guarded { text, otherwise: Otherwise::Ends }));
        steps.extend(taking.reads.into_iter().map(|read| (read, StepChange::Dropped)));
    }
    let covers = scene.reads.iter().all(|place| steps.iter().any(|(step, _)| step == place));
    if steps.is_empty() || !covers {
        return Vec::new();
    }
    columns.sort();
    columns.dedup();
    let words = format!(
        "take from {} in one UPDATE that says how much has to be there, and look at its row count: if it changed no row, \
         there was too little",
        columns.join(" and ")
    );
    vec![Candidate {
        kind: Kind::Arithmetic,
        words,
        sql,
        flight: None,
        explored: Some(Variant { steps, ..Variant::default() }),
    }]
}

/// An UPDATE that takes something away from a number that was read before.
struct Taking {
    write: StepPlace,
    reads: Vec<StepPlace>,
    column: String,
    /// What is taken, as SQL of the step's shape.
    amount: String,
    update: Update,
}

/// The UPDATEs that take something away, where a recorded transaction that read too little took nothing.
fn takings(scene: &Scene<'_>, relations: &[Relation]) -> Vec<Taking> {
    let mut found = Vec::new();
    for (program, own) in scene.programs.iter().enumerate() {
        for (at, step) in own.steps.iter().enumerate() {
            let Some(update) = step.update() else { continue };
            let Some(table) = trees::updated_table(update) else { continue };
            let write = StepPlace { program, step: at };
            for assignment in &update.assignments {
                let [column] = assignment.target.columns() else { continue };
                let column = column.value.clone();
                let is_it = |cell: &Cell| cell.table == table && cell.column.as_deref() == Some(&*column);
                let relation = relations.iter().find(|one| one.write == write && one.column == column);
                let (amount, number, changed) = match (trees::step_of(assignment, &column), relation) {
                    (Some((value, true)), _) => {
                        let number = Number::parse(step.concrete(&value.to_string()).trim_matches('\''));
                        let Some(number) = number else { continue };
                        (value.to_string(), number, update.clone())
                    }
                    (None, Some(Relation { added: Some(added), .. })) if added.is_negative() => {
                        let amount = match relation.and_then(|one| arithmetic::client_parameter(step, one)) {
                            Some(number) => format!("${number}"),
                            None => added.negated().to_string(),
                        };
                        let Some(value) = trees::expr(&format!("{} - {amount}", trees::ident(&column))) else {
                            continue;
                        };
                        (amount, added.negated(), arithmetic::with_value(update, &column, value))
                    }
                    _ => continue,
                };
                if number.is_negative() || !somebody_read_too_little(scene, table, &column, number) {
                    continue;
                }
                let is_read = |one: &usize| own.steps[*one].is_query() && own.steps[*one].value(false, is_it).is_some();
                let reads = (0..at).filter(is_read).map(|step| StepPlace { program, step }).collect();
                found.push(Taking { write, reads, column, amount, update: changed });
            }
        }
    }
    found
}

/// Whether, in the rerun that passed, a transaction read less than the amount and did not write the column.
fn somebody_read_too_little(scene: &Scene<'_>, table: &str, column: &str, amount: Number) -> bool {
    let Some(serial) = scene.serial else { return false };
    let trace = crate::trace::Trace::new(serial);
    let history = &serial.recording.history;
    let is_it =
        |name: &str| Cell::of(name).is_some_and(|cell| cell.table == table && cell.column.as_deref() == Some(column));
    let shapes: Vec<&str> = scene.read_shapes().iter().map(|step| step.shape.text.as_str()).collect();
    trace.txns.values().any(|txn| {
        txn.statements.iter().any(|&at| {
            let text = &serial.recording.statements[at].text;
            let is_read =
                skew_sql::parse::shape::Shape::of(text).is_some_and(|shape| shapes.contains(&shape.text.as_str()));
            let mut read = serial.recording.operations.iter().enumerate().filter_map(|(number, operation)| {
                let op = history.all_ops()[number];
                let is_own = operation.statement == Some(at) && op.kind() != skew_model::OpKind::Write;
                (is_own && is_it(&history.key_name(op.key()))).then(|| history.value_text(op.value()))
            });
            let wrote = txn.writes.iter().any(|key| is_it(&history.key_name(*key)));
            is_read
                && !wrote
                && read.any(|value| {
                    Number::parse(&value).and_then(|value| value.minus(amount)).is_some_and(Number::is_negative)
                })
        })
    })
}

/// `AND n = <the value read>`: where it is another one by now, the transaction is rolled back and begins again.
pub(crate) fn compared(scene: &Scene<'_>) -> Vec<Candidate> {
    let (mut steps, mut sql, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for (program, own) in scene.programs.iter().enumerate() {
        for (at, step) in own.steps.iter().enumerate() {
            let Some(update) = step.update() else { continue };
            let Some(table) = trees::updated_table(update) else { continue };
            let Some((cell, _)) = step.value(true, |cell| cell.table == table) else { continue };
            let reads: Vec<usize> =
                (0..at).filter(|&one| scene.reads.contains(&StepPlace { program, step: one })).collect();
            let Some(&read) = reads.last() else { continue };
            for Comparison { column, explored, shown } in comparisons(&own.steps[read], read, update, &cell) {
                let shown = match step.parameters.len() {
                    0 => scene.literal(table, &column, &shown),
                    count => format!("${}", count + 1),
                };
                let name = trees::ident(&column);
                let condition = |value: &str| {
                    let expr = trees::expr(&format!("{name} = {value}"))?;
                    let update =
                        Update { selection: Some(trees::and(update.selection.clone(), expr)), ..update.clone() };
                    Some(update.to_string())
                };
                let (Some(text), Some(shown)) = (condition(&explored), condition(&shown)) else { continue };
                let shown = step.shown(&shown);
                if !columns.contains(&column) {
                    sql.push(shown);
                    columns.push(column.clone());
                }
                let place = StepPlace { program, step: at };
                if !steps.iter().any(|(known, _)| *known == place) {
                    steps.push((place, StepChange::Guarded { text, otherwise: Otherwise::RollsBack }));
                }
            }
        }
    }
    if steps.is_empty() {
        return Vec::new();
    }
    let words = format!(
        "compare {} in the UPDATE with what was read, and look at its row count: if it changed no row, roll back and begin again",
        columns.join(" and ")
    );
    vec![Candidate {
        kind: Kind::Comparison,
        words,
        sql,
        flight: None,
        explored: Some(Variant { steps, ..Variant::default() }),
    }]
}

struct Comparison {
    column: String,
    /// The value read, as the explored procedure knows it, and as it is shown.
    explored: String,
    shown: String,
}

/// The columns that an UPDATE writes and a query before it returned, or compared with a value.
fn comparisons(read: &Step, number: usize, update: &Update, cell: &Cell) -> Vec<Comparison> {
    let Some(query) = trees::query(read.tree.as_ref()) else { return Vec::new() };
    let Some(select) = trees::select(query) else { return Vec::new() };
    if trees::only_table(select) != Some(&cell.table) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for assignment in &update.assignments {
        let [column] = assignment.target.columns() else { continue };
        let column = column.value.clone();
        let is_it = |other: &Cell| other.row == cell.row && other.column.as_deref() == Some(&*column);
        let Some((_, value)) = read.value(false, is_it) else { continue };
        let is_guilty = read
            .operations
            .iter()
            .any(|operation| operation.is_guilty && Cell::of(&operation.key).is_some_and(|other| is_it(&other)));
        if !is_guilty {
            continue;
        }
        let (shown, value) = (value.clone(), super::scene::value_of(&value));
        if let Some(name) = trees::output_name(select, &column) {
            let explored = format!("r{number}.{}", trees::ident(&name));
            found.push(Comparison { column, explored, shown });
            continue;
        }
        let conditions = select.selection.as_ref().map(trees::conjuncts).unwrap_or_default();
        if conditions.into_iter().filter_map(trees::equality).any(|(name, _)| name == column) {
            found.push(Comparison { column, explored: value, shown });
        }
    }
    found
}

/// `CHECK (n >= 0)`: the UPDATE that takes too much fails.
pub(crate) fn checked(scene: &Scene<'_>) -> Vec<Candidate> {
    let (mut steps, mut found) = (Vec::new(), None);
    for (program, own) in scene.programs.iter().enumerate() {
        for (at, step) in own.steps.iter().enumerate() {
            let Some(update) = step.update() else { continue };
            let Some(table) = trees::updated_table(update) else { continue };
            for assignment in &update.assignments {
                let [column] = assignment.target.columns() else { continue };
                let column = &column.value;
                let is_it = |cell: &Cell| cell.table == table && cell.column.as_ref() == Some(column);
                let written = step.value(true, is_it).and_then(|(_, value)| Number::parse(&value));
                if trees::step_of(assignment, column).is_none() {
                    continue;
                }
                if written.is_some_and(Number::is_negative) {
                    found = Some((table.to_owned(), column.clone()));
                }
                let is_read = |one: &usize| own.steps[*one].is_query() && own.steps[*one].value(false, is_it).is_some();
                let reads = (0..at).filter(is_read).map(|step| (StepPlace { program, step }, StepChange::Dropped));
                steps.extend(reads);
            }
        }
    }
    let Some((table, column)) = found else { return Vec::new() };
    let (name, target) = (trees::ident(&column), trees::object(&table));
    let ddl = format!("ALTER TABLE {target} ADD CHECK ({name} >= 0)");
    let words = format!(
        "refuse {column} below zero, and roll back the transaction that ends with 23514: the UPDATE decides, not the query \
         before it"
    );
    let variant = Variant { schema: vec![ddl.clone()], steps, ..Variant::default() };
    vec![Candidate { kind: Kind::Check, words, sql: vec![ddl], flight: None, explored: Some(variant) }]
}
