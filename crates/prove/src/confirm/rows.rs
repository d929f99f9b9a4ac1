//! What is in the tables when runs begin, as text; and rows for tables that have none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use skew_model::Level;
use skew_sql::catalog::{Catalog, Generation, Oid, Relation, RelationKind};
use skew_sql::error::Result;
use skew_sql::session::{Client, Connection, Database, Format, Outcome};
use skew_sql::types::{Datum, quote};

use super::values;
use crate::summary::{Facts, Summary};

/// So many rows of a table are looked at.
const MOST_ROWS: usize = 40;
/// So many rows are made up for a table.
const MADE_UP: usize = 2;

/// A row: its columns as text, `None` is NULL.
pub(super) type Row = Vec<Option<String>>;

/// The rows of tables, by the numbers of tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) tables: BTreeMap<Oid, Vec<Row>>,
}

impl Rows {
    /// The rows at the checkpoint.
    pub(super) fn read(database: &Database, summary: &Summary) -> Result<Rows> {
        database.begin_guided_run(Level::Ser, Arc::new(Mutex::default()))?;
        let mut connection = database.connect(Client::new("postgres", "robust"));
        let mut tables = BTreeMap::new();
        for (oid, table) in &summary.facts.tables {
            let key: Vec<String> = table.key.iter().map(|column| quote::identifier(table.column(*column))).collect();
            let order = if key.is_empty() { String::new() } else { format!(" ORDER BY {}", key.join(", ")) };
            let columns: Vec<String> = table.columns.iter().map(|column| quote::identifier(column)).collect();
            let (columns, name) = (columns.join(", "), table.called());
            let sql = format!("SELECT {columns} FROM {name}{order} LIMIT {MOST_ROWS}");
            // A table that cannot be named without its schema, or that has lost columns, gives no values.
            if let Ok(rows) = query(&mut connection, &sql) {
                tables.insert(*oid, rows);
            }
        }
        Ok(Rows { tables })
    }

    /// The different values of a column, in the order of rows.
    pub(super) fn values(&self, table: Oid, column: usize) -> Vec<&str> {
        let rows = self.tables.get(&table).into_iter().flatten();
        let mut values = Vec::new();
        for value in rows.filter_map(|row| row.get(column)?.as_deref()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    fn is_empty(&self, table: Oid) -> bool {
        self.tables.get(&table).is_none_or(Vec::is_empty)
    }
}

/// Runs a statement in a transaction of its own.
pub(super) fn query(connection: &mut Connection, sql: &str) -> Result<Vec<Row>> {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    let Outcome::Rows { columns, rows, .. } = result? else { return ended.map(|()| Vec::new()) };
    ended?;
    let mut read = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut texts = Vec::with_capacity(row.len());
        for (value, column) in row.iter().zip(columns.iter()) {
            if matches!(value, Datum::Null) {
                texts.push(None);
                continue;
            }
            let mut text = Vec::new();
            connection.write_value(&mut text, value, column.typed.ty, Format::Text)?;
            texts.push(Some(String::from_utf8_lossy(&text).into_owned()));
        }
        read.push(texts);
    }
    Ok(read)
}

/// INSERTs for those of these tables that are empty, and for the tables that they refer to, in an order in which foreign
/// keys hold.
pub(super) fn made_up(tables: &[Oid], rows: &Rows, facts: &Facts, catalog: &Catalog) -> Vec<String> {
    let mut filled = Vec::new();
    let mut statements = Vec::new();
    tables.iter().for_each(|table| fill(*table, rows, facts, catalog, &mut filled, &mut statements));
    statements
}

fn fill(
    table: Oid,
    rows: &Rows,
    facts: &Facts,
    catalog: &Catalog,
    filled: &mut Vec<Oid>,
    statements: &mut Vec<String>,
) {
    if filled.contains(&table) || !rows.is_empty(table) {
        return;
    }
    filled.push(table);
    let Some(known) = facts.table(table) else { return };
    let Some(Relation { kind: RelationKind::Table(schema), .. }) = catalog.relation(table).map(|relation| &**relation)
    else {
        return;
    };
    known.references.iter().for_each(|(_, parent, _)| fill(*parent, rows, facts, catalog, filled, statements));
    let parent_of = |column: usize| {
        known.references.iter().find_map(|(columns, parent, others)| {
            columns.iter().position(|own| *own == column).map(|at| (*parent, others[at]))
        })
    };
    let mut names = Vec::new();
    let mut lines = vec![Vec::new(); MADE_UP];
    for (at, column) in schema.columns.iter().enumerate() {
        let is_given = column.default.is_none() || parent_of(at).is_some() || known.key.contains(&at);
        if column.dropped || column.generation != Generation::Plain || column.sequence.is_some() || !is_given {
            continue;
        }
        names.push(quote::identifier(&column.name));
        for (number, line) in lines.iter_mut().enumerate() {
            let referred = parent_of(at).map(|(parent, other)| rows.values(parent, other));
            let value =
                match referred.and_then(|values| values.get(number).or(values.first()).map(|one| one.to_string())) {
                    Some(value) => Some(value),
                    None => values::made_up(column.typed.ty, number, catalog),
                };
            line.push(value.map_or_else(|| "NULL".to_owned(), |value| quote::literal(&value)));
        }
    }
    let table_name = known.called();
    for line in lines {
        let sql = match names.is_empty() {
            true => format!("INSERT INTO {table_name} DEFAULT VALUES"),
            false => format!("INSERT INTO {table_name} ({}) VALUES ({})", names.join(", "), line.join(", ")),
        };
        statements.push(sql);
    }
}
