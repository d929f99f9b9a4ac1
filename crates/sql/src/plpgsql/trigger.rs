//! Triggers' functions: NEW, OLD and TG_… as variables, and the row that is returned.

use std::sync::Arc;

use crate::catalog::{Table, Trigger, TriggerTime, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::plpgsql::call::{Ready, invoke, prepare};
use crate::plpgsql::machine::{Flow, Machine};
use crate::storage::World;
use crate::storage::table::BoundTable;
use crate::types::{ArrayValue, Datum, RecordShape, Type};

/// What happens to a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Event {
    Insert,
    Update,
    Delete,
    Truncate,
}

impl Event {
    /// As TG_OP says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Event::Insert => "INSERT",
            Event::Update => "UPDATE",
            Event::Delete => "DELETE",
            Event::Truncate => "TRUNCATE",
        }
    }
}

/// A trigger's call: what its function sees.
pub(crate) struct TriggerCall<'a> {
    pub(crate) trigger: &'a Trigger,
    pub(crate) table: &'a Arc<BoundTable>,
    pub(crate) event: Event,
    pub(crate) old: Option<&'a [Datum]>,
    pub(crate) new: Option<&'a [Datum]>,
}

/// Runs a trigger's function: the row that it returns, or nothing for NULL.
pub(crate) fn run_trigger(
    world: &mut World<'_>,
    function: &Arc<UserFunction>,
    call: &TriggerCall<'_>,
) -> Result<Option<Vec<Datum>>> {
    let row_type = call.table.table().row_type;
    let Ready::Plpgsql(program) = prepare(world, function, Some(row_type.into()))? else {
        return Err(SqlError::unsupported("a trigger's function in SQL"));
    };
    invoke(world, &program, Some(function), Vec::new(), false, |machine| {
        fill(machine, call);
        let flow = machine.block(&machine.program.block)?;
        if flow != Flow::Return {
            let message = "control reached end of trigger procedure without RETURN";
            (machine.at.line, machine.at.doing) = (0, "");
            return Err(SqlError::new(SqlState::FUNCTION_EXECUTED_NO_RETURN_STATEMENT, message));
        }
        returned(machine, call)
    })
}

/// The shape of a table's rows: its columns that are not dropped.
fn shape(table: &Table) -> Arc<RecordShape> {
    let live = table.columns.iter().filter(|column| !column.dropped);
    let fields = live.map(|column| (column.name.clone(), column.typed)).collect();
    Arc::new(RecordShape { ty: table.row_type, fields })
}

fn record(table: &Table, row: Option<&[Datum]>) -> Datum {
    let Some(row) = row else { return Datum::Null };
    let live = table.columns.iter().zip(row).filter(|(column, _)| !column.dropped);
    Datum::record(shape(table), live.map(|(_, value)| value.clone()).collect())
}

fn fill(machine: &mut Machine<'_, '_>, call: &TriggerCall<'_>) {
    let Some(places) = machine.program.trigger.clone() else { return };
    let table = call.table.table();
    let relation = &call.table.relation;
    let schema = machine.world.catalog.schemas.get(&relation.schema).map_or("".into(), |schema| schema.name.clone());
    let when = match call.trigger.when {
        TriggerTime::Before => "BEFORE",
        TriggerTime::After => "AFTER",
        TriggerTime::InsteadOf => "INSTEAD OF",
    };
    let arguments = &call.trigger.arguments;
    let values = ArrayValue {
        element: Type::TEXT,
        dimensions: if arguments.is_empty() { Vec::new() } else { vec![(arguments.len(), 0)] },
        items: arguments.iter().map(Datum::text).collect(),
    };
    machine.put(places.new, record(table, call.new));
    machine.put(places.old, record(table, call.old));
    machine.put(places.name, Datum::text(&call.trigger.name));
    machine.put(places.when, Datum::text(when));
    machine.put(places.level, Datum::text(if call.trigger.each_row { "ROW" } else { "STATEMENT" }));
    machine.put(places.operation, Datum::text(call.event.name()));
    machine.put(places.relation, Datum::Int(relation.oid.into()));
    machine.put(places.relation_name, Datum::text(&relation.name));
    machine.put(places.table, Datum::text(&relation.name));
    machine.put(places.schema, Datum::text(schema));
    machine.put(places.argument_count, Datum::Int(arguments.len() as i64));
    machine.put(places.arguments, Datum::Array(Arc::new(values)));
}

/// The row that a trigger's function returned, as the table keeps it.
fn returned(machine: &mut Machine<'_, '_>, call: &TriggerCall<'_>) -> Result<Option<Vec<Datum>>> {
    let Some((value, from)) = machine.result.take() else { return Ok(None) };
    let record = match value {
        Datum::Null => return Ok(None),
        Datum::Record(record) => record,
        _ => {
            let message = "cannot return non-composite value from function returning composite type";
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
    };
    let _ = from;
    let table = call.table.table();
    let live = table.columns.iter().filter(|column| !column.dropped).count();
    if record.fields.len() != live {
        let message = "returned row structure does not match the structure of the triggering table";
        let detail = format!(
            "Number of returned columns ({}) does not match expected column count ({live}).",
            record.fields.len()
        );
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail));
    }
    let mut row = call.new.or(call.old).map_or_else(|| vec![Datum::Null; table.columns.len()], <[Datum]>::to_vec);
    row.resize(table.columns.len(), Datum::Null);
    let mut fields = record.fields.iter().zip(&record.shape.fields);
    for (position, column) in table.columns.iter().enumerate().filter(|(_, column)| !column.dropped) {
        let Some((value, (_, typed))) = fields.next() else { break };
        row[position] = machine.convert(value.clone(), *typed, column.typed)?;
    }
    Ok(Some(row))
}
