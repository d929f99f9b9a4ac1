//! The executor on plans written by hand, over a world that writes down what is read.

mod build;
mod fake;
mod functions;
mod groups;
mod queries;
mod reads;
mod windows;

use crate::exec::Run;
use crate::ir::Plan;
use crate::types::Datum;
use fake::Fake;

/// The rows of a plan, `1 2; 3 NULL`.
fn rows(world: &mut Fake, plan: Plan) -> String {
    let query = build::query(plan, 0, false);
    match Run::new().rows(world, &query) {
        Ok(rows) => rows.iter().map(|row| show(row)).collect::<Vec<_>>().join("; "),
        Err(error) => error.to_string(),
    }
}

fn show(row: &[Datum]) -> String {
    let value = |value: &Datum| match value {
        Datum::Null => "NULL".to_owned(),
        Datum::Int(value) => value.to_string(),
        Datum::Bool(value) => value.to_string(),
        Datum::Float(value) => format!("{value:?}"),
        Datum::Text(value) => format!("'{value}'"),
        other => format!("{other:?}"),
    };
    row.iter().map(value).collect::<Vec<_>>().join(" ")
}
