//! `nextval` and its kind.

use crate::catalog::{Oid, RelationKind};
use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Env, Function, Question, Site};
use crate::types::{Datum, Type as T, quote};

/// The functions.
pub static FUNCTIONS: &[Function] = &[
    f("nextval", &[T::REGCLASS], T::INT8, |env, args, _| env.ask(Question::NextValue(oid(args)?))).volatile(),
    f("currval", &[T::REGCLASS], T::INT8, |env, args, _| env.ask(Question::CurrentValue(oid(args)?))).volatile(),
    f("lastval", &[], T::INT8, |env, _, _| env.ask(Question::LastValue)).volatile(),
    f("setval", &[T::REGCLASS, T::INT8], T::INT8, |env, args, _| setval(env, args, true)).volatile(),
    f("setval", &[T::REGCLASS, T::INT8, T::BOOL], T::INT8, |env, args, _| setval(env, args, args.bool(2)?)).volatile(),
    f("pg_get_serial_sequence", &[T::TEXT, T::TEXT], T::TEXT, serial_sequence).stable(),
    f("pg_sequence_last_value", &[T::REGCLASS], T::INT8, last_given).volatile(),
];

/// What `SELECT * FROM sequence` shows; nobody can call them by name.
pub static STATE: &[Function] = &[
    f("last_value", &[T::REGCLASS], T::INT8, |env, args, _| state(env, args, false)).volatile(),
    f("is_called", &[T::REGCLASS], T::BOOL, |env, args, _| state(env, args, true)).volatile(),
];

fn state(env: &mut dyn Env, args: &[Datum], called: bool) -> Result<Datum> {
    env.ask(Question::SequenceState { sequence: oid(args)?, called })
}

/// The last value that was given out; NULL if none was.
fn last_given(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    match state(env, args, true)? {
        Datum::Bool(true) => state(env, args, false),
        _ => Ok(Datum::Null),
    }
}

fn oid(args: &[Datum]) -> Result<Oid> {
    Ok(u32::try_from(args.int(0)?).unwrap_or_default())
}

fn setval(env: &mut dyn Env, args: &[Datum], called: bool) -> Result<Datum> {
    env.ask(Question::SetValue { sequence: oid(args)?, value: args.int(1)?, called })
}

fn serial_sequence(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let table = super::relation(args.text(0)?, env)?;
    let column = args.text(1)?;
    let catalog = env.catalog();
    let Some(found) = catalog.table(table).and_then(|table| table.columns.iter().find(|known| &*known.name == column))
    else {
        let name = catalog.relation(table).map_or("", |relation| &relation.name);
        let message = format!("column \"{column}\" of relation \"{name}\" does not exist");
        return Err(crate::error::SqlError::new(crate::error::SqlState::UNDEFINED_COLUMN, message));
    };
    let position = catalog.table(table).and_then(|table| table.columns.iter().position(|known| &*known.name == column));
    let owned = catalog.relations.values().find(|relation| match &relation.kind {
        RelationKind::Sequence(sequence) => {
            sequence.owner.is_some_and(|owner| owner.table == table && Some(owner.column) == position)
        }
        _ => false,
    });
    let sequence = found.sequence.and_then(|oid| catalog.relation(oid)).or(owned);
    Ok(sequence.map_or(Datum::Null, |relation| {
        let schema = catalog.schemas.get(&relation.schema).map_or("public", |schema| &schema.name);
        Datum::text(format!("{}.{}", quote::identifier(schema), quote::identifier(&relation.name)))
    }))
}
