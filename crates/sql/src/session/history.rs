//! What transactions have done, as a history whose keys read like SQL.

use skew_model::Key;
use skew_model::{History, Literal};
use skew_store::Told;

use crate::catalog::{Catalog, RelationKind, Table};
use crate::storage::World;
use crate::types::{Datum, Type, text};

/// The history since the checkpoint.
pub(crate) fn history(world: &World<'_>) -> History {
    told(world).history
}

/// The same, with where its operations come from.
pub(crate) fn told(world: &World<'_>) -> Told {
    let catalog = world.db.catalog.clone();
    let name = |key: Key| key_name(world, &catalog, key);
    world.db.store.told(name, |value| literal(world, value))
}

/// A value as a history records it.
fn literal(world: &World<'_>, value: &Datum) -> Literal {
    match value {
        Datum::Int(number) => Literal::Int(*number),
        Datum::Array(list) if list.dimensions.is_empty() && !list.items.is_empty() => {
            let items: Vec<String> = list.items.iter().map(|item| show(&literal(world, item))).collect();
            Literal::Text(items.join(","))
        }
        other => Literal::Text(shown(world, other)),
    }
}

/// `account[1]` for a row's existence, `account[1].balance` for a cell, `account_email[a@b.c]` for an entry.
pub(crate) fn key_name(world: &World<'_>, catalog: &Catalog, key: Key) -> String {
    let store = &world.db.store;
    if let Some((space, bytes)) = store.at(key) {
        for relation in catalog.relations.values() {
            match &relation.kind {
                RelationKind::Table(table) if table.space == space => {
                    return format!("{}[{}]", relation.name, row_name(world, table, key, bytes));
                }
                RelationKind::Index(index) if index.space == Some(space) => {
                    return format!("{}[{}]", relation.name, hex(bytes));
                }
                _ => {}
            }
        }
        return format!("dropped[{}]", hex(bytes));
    }
    if let Some((&(row, cell), _)) = world.db.added_cells.iter().find(|(_, added)| **added == key) {
        return cell_name(world, catalog, row, cell);
    }
    match store.entry_before(key) {
        Some(row) => cell_name(world, catalog, row.0, key.0 - row.0 - 1),
        None => format!("cell[{}]", key.0),
    }
}

fn cell_name(world: &World<'_>, catalog: &Catalog, row: u32, cell: u32) -> String {
    let whole = key_name(world, catalog, Key(row));
    let table = catalog.relations.values().find_map(|relation| match (&relation.kind, world.db.store.at(Key(row))) {
        (RelationKind::Table(table), Some((space, _))) if table.space == space => Some(table),
        _ => None,
    });
    let column = table.and_then(|table| {
        let mut columns = table.columns.iter().enumerate();
        columns
            .find(|(at, column)| column.cell == cell && !table.clustered.contains(at))
            .map(|(_, column)| &column.name)
    });
    match column {
        Some(column) => format!("{whole}.{column}"),
        None => format!("{whole}.{cell}"),
    }
}

/// The primary key's values where the row has any version, else the bytes.
fn row_name(world: &World<'_>, table: &Table, key: Key, bytes: &[u8]) -> String {
    if table.clustered.is_empty() {
        return bytes.last_chunk::<8>().map_or_else(|| hex(bytes), |number| u64::from_be_bytes(*number).to_string());
    }
    match world.db.store.any_value(key) {
        Some(value) => show(&literal(world, value)),
        None => hex(bytes),
    }
}

fn show(literal: &Literal) -> String {
    match literal {
        Literal::Int(number) => number.to_string(),
        Literal::Text(text) => text.clone(),
        Literal::Nil => "nil".to_owned(),
    }
}

/// A value as text, without knowing its type.
pub(crate) fn shown(world: &World<'_>, value: &Datum) -> String {
    let ty = match value {
        Datum::Null => return "null".to_owned(),
        Datum::Bool(_) => Type::BOOL,
        Datum::Int(_) => Type::INT8,
        Datum::Float(_) => Type::FLOAT8,
        Datum::Numeric(_) => Type::NUMERIC,
        Datum::Text(_) => Type::TEXT,
        Datum::Bytes(_) => Type::BYTEA,
        Datum::Date(_) => Type::DATE,
        Datum::Time(_) => Type::TIME,
        Datum::TimeTz(..) => Type::TIMETZ,
        Datum::Timestamp(_) => Type::TIMESTAMP,
        Datum::Interval(_) => Type::INTERVAL,
        Datum::Uuid(_) => Type::UUID,
        Datum::Jsonb(_) => Type::JSONB,
        Datum::Array(_) => Type::TEXT_ARRAY,
        Datum::Record(_) => Type::RECORD,
        Datum::Enum(label) => return label.label.clone(),
    };
    text::output(value, ty, world)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
