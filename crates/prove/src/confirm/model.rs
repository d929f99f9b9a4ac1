//! A model of the solver as a client: calls with the arguments that it has in mind, and the rows that they find.

use std::collections::{BTreeMap, BTreeSet};

use skew_sql::catalog::{Catalog, Oid};
use skew_sql::types::{Type, Typed, kind};

use super::arguments::{Calls, Case};
use super::begin::Beginning;
use super::rows::Rows;
use super::values;
use crate::smt::model::{Model, is_first};
use crate::summary::{Access, AccessKind, Cell, Outcome, TermId, TermKind};
use crate::suspect::EdgeKind;

/// What is known of a row: columns, `None` is NULL.
pub(super) type PartOfRow = BTreeMap<usize, Option<String>>;

/// What a model says about a run.
pub(super) struct Start {
    pub(super) calls: Calls,
    /// Rows that are there.
    present: Vec<(Oid, PartOfRow)>,
    /// Rows that are not, by their keys.
    absent: Vec<(Oid, PartOfRow)>,
}

impl Start {
    pub(super) fn of(case: Case<'_>, model: &Model, catalog: &Catalog) -> Start {
        let reader = Reader { case, model, catalog };
        let calls = (0..case.suspect.calls.len()).map(|call| reader.call(call)).collect();
        let mut start = Start { calls, present: Vec::new(), absent: Vec::new() };
        for call in 0..case.suspect.calls.len() {
            reader.present(call).into_iter().for_each(|(table, row)| start.add(case, table, row));
        }
        for call in 0..case.suspect.calls.len() {
            start.absent.extend(reader.absent(call));
        }
        let is_there = |table: Oid, key: &PartOfRow| {
            start.present.iter().any(|(other, row)| *other == table && key.iter().all(|cell| has(row, cell)))
        };
        let absent = std::mem::take(&mut start.absent);
        start.absent = absent.into_iter().filter(|(table, key)| !is_there(*table, key)).collect();
        start
    }

    /// The statements that come first, if these rows are there.
    pub(super) fn statements(&self, rows: &Rows, case: Case<'_>, catalog: &Catalog) -> Vec<String> {
        let mut beginning = Beginning::new(rows, &case.summary.facts, catalog);
        self.absent.iter().for_each(|(table, key)| beginning.remove(*table, key));
        self.present.iter().for_each(|(table, row)| beginning.ensure(*table, row));
        beginning.statements
    }

    /// As people read it: the calls, and the rows that they find.
    pub(super) fn told(&self, case: Case<'_>, catalog: &Catalog) -> String {
        let rows = self.present.iter().filter_map(|(table, row)| {
            let known = case.summary.facts.table(*table)?;
            let cells = row.iter().map(|(column, value)| {
                let ty = known.types.get(*column).map_or(Type::TEXT, |typed| typed.ty);
                format!("{} = {}", known.column(*column), values::literal(value.as_deref(), ty, catalog))
            });
            Some(format!("{} ({})", known.name, cells.collect::<Vec<_>>().join(", ")))
        });
        let rows: Vec<String> = rows.collect();
        let found = if rows.is_empty() { String::new() } else { format!(", where there are {}", rows.join(", ")) };
        format!("{}{found}", self.calls.join(" | "))
    }

    /// One more row, or more of one that is known: what was said first counts.
    fn add(&mut self, case: Case<'_>, table: Oid, row: PartOfRow) {
        let key = case.summary.facts.table(table).map_or(&[][..], |known| &known.key);
        let is_same = |known: &PartOfRow| {
            !key.is_empty() && key.iter().all(|column| row.get(column).is_some_and(|value| has(known, (column, value))))
        };
        match self.present.iter_mut().find(|(other, known)| *other == table && is_same(known)) {
            Some((_, known)) => row.into_iter().for_each(|(column, value)| _ = known.entry(column).or_insert(value)),
            None => self.present.push((table, row)),
        }
    }
}

fn has(row: &PartOfRow, (column, value): (&usize, &Option<String>)) -> bool {
    row.get(column) == Some(value)
}

/// Reads what a model says about calls.
struct Reader<'a> {
    case: Case<'a>,
    model: &'a Model,
    catalog: &'a Catalog,
}

impl Reader<'_> {
    fn call(&self, call: usize) -> String {
        let program = &self.case.summary.programs[self.case.suspect.calls[call].program];
        let terms = &self.case.path(call).terms;
        let values = program.parameters.iter().enumerate().map(|(number, parameter)| {
            let term = terms.iter().position(|term| term.kind == TermKind::Parameter(number));
            let value = match term.and_then(|term| self.value(call, term, parameter.ty)) {
                Some(value) => value,
                None => values::made_up(parameter.ty, 0, self.catalog),
            };
            values::literal(value.as_deref(), parameter.ty, self.catalog)
        });
        format!("{}({})", program.call, values.collect::<Vec<_>>().join(", "))
    }

    /// What a value is, in a type; `None`: nobody has it in mind.
    fn value(&self, call: usize, term: TermId, ty: Type) -> Option<Option<String>> {
        let path = self.case.path(call);
        if path.always_null.contains(&term) || path.terms[term].kind == TermKind::Null {
            return Some(None);
        }
        let base = kind::base(Typed::from(ty), self.catalog).ty;
        self.model.text(call, path, term, base).map(Some)
    }

    /// The values by which an access finds its row; `None` if one of its key is not known.
    fn found_by(&self, call: usize, access: &Access) -> Option<PartOfRow> {
        let table = self.case.summary.facts.table(access.table)?;
        let mut row = PartOfRow::new();
        for (column, term) in &access.row {
            match self.value(call, *term, table.types.get(*column)?.ty) {
                Some(value) => _ = row.insert(*column, value),
                None if table.unique.iter().any(|unique| unique.contains(column)) => return None,
                None => {}
            }
        }
        Some(row)
    }

    /// The rows that a call finds and that nobody else in the suspect has made.
    fn present(&self, call: usize) -> Vec<(Oid, PartOfRow)> {
        let path = self.case.path(call);
        let mut rows = Vec::new();
        for (at, access) in path.accesses.iter().enumerate() {
            let looks = access.kind != AccessKind::Insert && access.outcome != Outcome::Missing && !access.looped;
            if !looks || !is_first(path, access, Cell::Existence) {
                continue;
            }
            let Some(mut row) = self.found_by(call, access) else { continue };
            let Some(table) = self.case.summary.facts.table(access.table) else { continue };
            let written = self.written_before(call, at);
            for (term, known) in path.terms.iter().enumerate() {
                let TermKind::Read { access: from, column } = known.kind else { continue };
                let cell = Cell::Column(column);
                if from != at || known.looped || written.contains(&cell) || !is_first(path, access, cell) {
                    continue;
                }
                let ty = table.types.get(column).map_or(Type::TEXT, |typed| typed.ty);
                if let Some(value) = self.value(call, term, ty) {
                    row.entry(column).or_insert(value);
                }
            }
            if !row.is_empty() && !self.is_brought(call, access, &row) {
                rows.push((access.table, row));
            }
        }
        rows
    }

    /// What others have written before an access reads it.
    fn written_before(&self, call: usize, at: usize) -> BTreeSet<Cell> {
        let edges = self.case.suspect.edges.iter();
        let edges = edges.filter(|edge| edge.kind == EdgeKind::WriteRead && edge.to == call);
        let writes = edges.filter_map(|edge| {
            let (from, to) = edge.accesses?;
            (to == at).then(|| self.case.path(edge.from).accesses.get(from)).flatten()
        });
        writes.flat_map(|access| access.writes.iter().copied()).collect()
    }

    /// Whether somebody whom a call reads from inserts the row that it finds.
    fn is_brought(&self, call: usize, access: &Access, row: &PartOfRow) -> bool {
        let edges = self.case.suspect.edges.iter();
        let mut edges = edges.filter(|edge| edge.kind == EdgeKind::WriteRead && edge.to == call);
        edges.any(|edge| {
            let inserts = self.case.path(edge.from).accesses.iter();
            let mut inserts = inserts.filter(|other| other.kind == AccessKind::Insert && other.table == access.table);
            inserts.any(|insert| self.key(edge.from, insert).is_some_and(|key| key.iter().all(|cell| has(row, cell))))
        })
    }

    /// The key of the row that an access is to.
    fn key(&self, call: usize, access: &Access) -> Option<PartOfRow> {
        let table = self.case.summary.facts.table(access.table)?;
        let cells = table.key.iter().map(|column| {
            let value = self.value(call, access.value_of(*column)?, table.types.get(*column)?.ty)?;
            Some((*column, value))
        });
        cells.collect::<Option<PartOfRow>>().filter(|key| !key.is_empty())
    }

    /// The keys of rows that are not there when a call looks for them or makes them.
    fn absent(&self, call: usize) -> Vec<(Oid, PartOfRow)> {
        let accesses = self.case.path(call).accesses.iter().enumerate();
        let missing = accesses.filter(|(at, access)| {
            let is_missing = access.kind == AccessKind::Insert || access.outcome == Outcome::Missing;
            is_missing && !access.looped && access.does_something() && self.written_before(call, *at).is_empty()
        });
        missing.filter_map(|(_, access)| Some((access.table, self.key(call, access)?))).collect()
    }
}
