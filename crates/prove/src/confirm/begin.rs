//! Statements that come first, so that some rows are there and others are not.

use std::collections::BTreeSet;

use skew_sql::catalog::{Catalog, Generation, Oid, Relation, RelationKind};
use skew_sql::types::quote;

use super::model::PartOfRow;
use super::rows::{Row, Rows};
use super::values;
use crate::summary::Facts;
use crate::summary::facts::TableFacts;

/// So many tables refer to each other, one after the other.
const DEEPEST: usize = 6;

/// Rows while they are being changed.
pub(super) struct Beginning<'a> {
    rows: Rows,
    facts: &'a Facts,
    catalog: &'a Catalog,
    pub(super) statements: Vec<String>,
}

impl<'a> Beginning<'a> {
    pub(super) fn new(rows: &Rows, facts: &'a Facts, catalog: &'a Catalog) -> Beginning<'a> {
        Beginning { rows: rows.clone(), facts, catalog, statements: Vec::new() }
    }

    /// There is a row like this.
    pub(super) fn ensure(&mut self, table: Oid, wanted: &PartOfRow) {
        self.ensure_within(table, wanted, DEEPEST);
    }

    /// There is no row with this key.
    pub(super) fn remove(&mut self, table: Oid, key: &PartOfRow) {
        let Some(known) = self.facts.table(table) else { return };
        let rows = self.rows.tables.entry(table).or_default();
        let before = rows.len();
        rows.retain(|row| !agrees(row, key));
        if rows.len() < before {
            let place = self.cells(known, key, " AND ");
            self.statements.push(format!("DELETE FROM {} WHERE {place}", known.called()));
        }
    }

    fn ensure_within(&mut self, table: Oid, wanted: &PartOfRow, depth: usize) {
        let facts = self.facts;
        let (Some(known), Some(left)) = (facts.table(table), depth.checked_sub(1)) else { return };
        let empty = Vec::new();
        let rows = self.rows.tables.get(&table).unwrap_or(&empty);
        if rows.iter().any(|row| agrees(row, wanted)) {
            return;
        }
        let place = |unique: &&Vec<usize>| {
            let part = |column: &usize| Some((*column, Some(wanted.get(column)?.clone()?)));
            let part: PartOfRow = unique.iter().map(part).collect::<Option<_>>()?;
            rows.iter().position(|row| agrees(row, &part)).map(|at| (at, part))
        };
        match known.unique.iter().find_map(|unique| place(&unique)) {
            Some((at, key)) => self.change(table, known, (at, &key), wanted, left),
            None => self.insert(table, known, wanted, left),
        }
    }

    fn change(&mut self, table: Oid, known: &TableFacts, row: (usize, &PartOfRow), wanted: &PartOfRow, depth: usize) {
        let (at, key) = row;
        let rows = self.rows.tables.entry(table).or_default();
        let is_other = |(column, value): &(&usize, &Option<String>)| {
            rows[at].get(**column) != Some(value) && (value.is_some() || !is_required(known, **column))
        };
        let changes: PartOfRow =
            wanted.iter().filter(is_other).map(|(column, value)| (*column, value.clone())).collect();
        if changes.is_empty() {
            return;
        }
        for (column, value) in &changes {
            if let Some(cell) = rows[at].get_mut(*column) {
                *cell = value.clone();
            }
        }
        self.bring_parents(table, known, &changes, depth);
        let (set, place) = (self.cells(known, &changes, ", "), self.cells(known, key, " AND "));
        self.statements.push(format!("UPDATE {} SET {set} WHERE {place}", known.called()));
    }

    fn insert(&mut self, table: Oid, known: &TableFacts, wanted: &PartOfRow, depth: usize) {
        let catalog = self.catalog;
        let Some(Relation { kind: RelationKind::Table(schema), .. }) =
            catalog.relation(table).map(|relation| &**relation)
        else {
            return;
        };
        let mut row = wanted.clone();
        row.retain(|column, value| value.is_some() || !is_required(known, *column));
        self.refer(table, known, &mut row, depth);
        for (at, column) in schema.columns.iter().enumerate() {
            let is_set = column.dropped || column.generation != Generation::Plain || column.sequence.is_some();
            let is_unique = known.unique.iter().any(|unique| unique.contains(&at));
            if is_set || row.contains_key(&at) || (column.default.is_some() && !is_unique) {
                continue;
            }
            let value = match is_unique {
                true => {
                    let taken: BTreeSet<&str> = self.rows.values(table, at).into_iter().collect();
                    values::new_value(column.typed.ty, &taken, catalog)
                }
                false => values::made_up(column.typed.ty, 0, catalog),
            };
            row.insert(at, value);
        }
        let names: Vec<String> = row.keys().map(|column| quote::identifier(known.column(*column))).collect();
        let cells: Vec<String> = row.iter().map(|(column, value)| self.literal(known, *column, value)).collect();
        let name = known.called();
        self.statements.push(match names.is_empty() {
            true => format!("INSERT INTO {name} DEFAULT VALUES"),
            false => format!("INSERT INTO {name} ({}) VALUES ({})", names.join(", "), cells.join(", ")),
        });
        let full = (0..known.columns.len()).map(|column| row.get(&column).cloned().flatten()).collect();
        self.rows.tables.entry(table).or_default().push(full);
    }

    /// The rows that a row refers to are there; where it does not say which ones, it refers to the first ones.
    fn refer(&mut self, table: Oid, known: &TableFacts, row: &mut PartOfRow, depth: usize) {
        self.bring_parents(table, known, row, depth);
        for (columns, parent, others) in &known.references {
            let is_open = columns.iter().all(|column| !row.contains_key(column));
            if !is_open || *parent == table {
                continue;
            }
            self.ensure_within(*parent, &PartOfRow::new(), depth);
            if let Some(first) = self.rows.tables.get(parent).and_then(|rows| rows.first()) {
                row.extend(
                    columns.iter().zip(others).filter_map(|(own, other)| Some((*own, first.get(*other)?.clone()))),
                );
            }
        }
    }

    /// The rows that these columns refer to are there.
    fn bring_parents(&mut self, table: Oid, known: &TableFacts, row: &PartOfRow, depth: usize) {
        for (columns, parent, others) in &known.references {
            let wanted: Option<PartOfRow> =
                columns.iter().zip(others).map(|(own, other)| Some((*other, Some(row.get(own)?.clone()?)))).collect();
            if let Some(wanted) = wanted.filter(|_| *parent != table) {
                self.ensure_within(*parent, &wanted, depth);
            }
        }
    }

    fn cells(&self, known: &TableFacts, row: &PartOfRow, between: &str) -> String {
        let cells = row.iter().map(|(column, value)| {
            format!("{} = {}", quote::identifier(known.column(*column)), self.literal(known, *column, value))
        });
        cells.collect::<Vec<_>>().join(between)
    }

    fn literal(&self, known: &TableFacts, column: usize, value: &Option<String>) -> String {
        match known.types.get(column) {
            Some(typed) => values::literal(value.as_deref(), typed.ty, self.catalog),
            None => "NULL".to_owned(),
        }
    }
}

fn agrees(row: &Row, part: &PartOfRow) -> bool {
    part.iter().all(|(column, value)| row.get(*column) == Some(value))
}

fn is_required(known: &TableFacts, column: usize) -> bool {
    known.key.contains(&column) || known.not_null.get(column).copied().unwrap_or(false)
}
