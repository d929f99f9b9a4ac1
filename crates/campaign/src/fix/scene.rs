//! The recorded transactions of a cause as syntax trees: what candidates for a fix are derived from.

use std::collections::BTreeSet;

use skew_model::Level;
use skew_model::campaign::{SqlAnomaly, SqlOperation, SqlStatement};
use skew_sql::catalog::{Catalog, Column, RelationKind, Table};
use skew_sql::parse::ast::{Statement, Update};
use skew_sql::parse::shape::{Shape, with_parameters};
use skew_sql::parse::{self};

use skew_sql::types::Type;

use crate::arena::Seen;
use crate::cells::NOTHING;

/// The recorded transactions of a cause.
pub(crate) struct Scene<'a> {
    pub(crate) seen: &'a Seen,
    /// What was shown to be not the cause: families of cells.
    pub(crate) cleared: BTreeSet<String>,
    /// The rerun in which nothing that the failure needs overlapped, and which passed.
    pub(crate) serial: Option<&'a Seen>,
    pub(crate) programs: Vec<Program>,
    /// The statements that read what another transaction overwrote, in transactions that write.
    pub(crate) reads: Vec<StepPlace>,
}

/// A step: its program, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct StepPlace {
    pub(crate) program: usize,
    pub(crate) step: usize,
}

/// What one client did in a recorded transaction; in a race across transactions, in those that belong together.
pub(crate) struct Program {
    pub(crate) level: Option<Level>,
    pub(crate) steps: Vec<Step>,
}

/// A statement of a program.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) shape: Shape,
    /// The tree of the shape's text, if it is a query or a change of rows.
    pub(crate) tree: Option<Statement>,
    pub(crate) parameters: Vec<String>,
    pub(crate) operations: Vec<SqlOperation>,
}

/// A column of a row, or the row: `stock[1].n`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Cell {
    pub(crate) table: String,
    pub(crate) row: String,
    pub(crate) column: Option<String>,
}

impl Cell {
    /// The cell of a key's name.
    pub(crate) fn of(key: &str) -> Option<Cell> {
        let (table, rest) = key.split_once('[')?;
        let (row, column) = match rest.strip_suffix(']') {
            Some(row) => (row, None),
            None => rest.rsplit_once("].").map(|(row, column)| (row, Some(column.to_owned())))?,
        };
        // An entry of an index is not a cell of a row.
        let is_entry = row.contains(" by ");
        (!is_entry).then(|| Cell { table: table.to_owned(), row: row.to_owned(), column })
    }
}

impl Step {
    fn of(statement: &SqlStatement) -> Option<Step> {
        let shape = Shape::of(&statement.text)?;
        let tree = match parse::statement(&shape.text) {
            Ok(Some(parse::Statement::Sql(tree))) => Some(*tree),
            Ok(Some(parse::Statement::Call(_))) => None,
            _ => return None,
        };
        let (parameters, operations) = (statement.parameters.clone(), statement.operations.clone());
        Some(Step { shape, tree, parameters, operations })
    }

    /// A text made of this step's shape, with the recorded literals and the client's parameters as they were.
    pub(crate) fn shown(&self, template: &str) -> String {
        Shape::fill(template, &self.shape.literals)
    }

    /// The same with the values of the client's parameters.
    pub(crate) fn concrete(&self, template: &str) -> String {
        with_parameters(&self.shown(template), |number| {
            let value = self.parameters.get(number.checked_sub(1)? as usize)?;
            Some(value_of(value))
        })
    }

    /// The value that the step read or wrote in a cell, the last one.
    pub(crate) fn value(&self, is_write: bool, matches: impl Fn(&Cell) -> bool) -> Option<(Cell, String)> {
        let mut operations = self.operations.iter().rev().filter(|operation| operation.is_write == is_write);
        operations.find_map(|operation| {
            let cell = Cell::of(&operation.key).filter(|cell| matches(cell))?;
            Some((cell, operation.value.clone()))
        })
    }

    pub(crate) fn update(&self) -> Option<&Update> {
        match &self.tree {
            Some(Statement::Update(update)) => Some(update),
            _ => None,
        }
    }

    /// Whether it is a query.
    pub(crate) fn is_query(&self) -> bool {
        matches!(self.tree, Some(Statement::Query(_)))
    }
}

/// The types whose literals need no quotes.
const NUMBERS: [Type; 4] = [Type::INT2, Type::INT4, Type::INT8, Type::NUMERIC];

/// A recorded value as SQL.
pub(crate) fn value_of(value: &str) -> String {
    match value {
        "null" | NOTHING => "NULL".to_owned(),
        value => skew_sql::types::quote::literal(value),
    }
}

impl<'a> Scene<'a> {
    /// The transactions of an anomaly.
    pub(crate) fn new(
        seen: &'a Seen,
        statements: &[SqlStatement],
        anomaly: &SqlAnomaly,
        cleared: BTreeSet<String>,
        serial: Option<&'a Seen>,
    ) -> Scene<'a> {
        let mut names: Vec<&str> = Vec::new();
        for edge in &anomaly.edges {
            for name in [edge.from.as_str(), edge.to.as_str()] {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let (mut programs, mut reads) = (Vec::new(), BTreeSet::new());
        for name in names {
            let own = statements.iter().enumerate().filter(|(_, one)| one.txn.as_deref() == Some(name));
            let (mut steps, mut writes) = (Vec::new(), false);
            let mut guilty = BTreeSet::new();
            for (at, statement) in own {
                writes |= statement.operations.iter().any(|operation| operation.is_write);
                let Some(step) = Step::of(statement) else { continue };
                let is_read = anomaly
                    .edges
                    .iter()
                    .any(|edge| edge.from == name && edge.label.starts_with("rw") && edge.statements.0 == Some(at));
                if is_read {
                    guilty.insert(steps.len());
                }
                steps.push(step);
            }
            let program = programs.len();
            if writes {
                reads.extend(guilty.into_iter().map(|step| StepPlace { program, step }));
            }
            let level = seen.recording.history.txn_ids().find(|id| seen.recording.history.txn_name(*id) == name);
            let level = level.and_then(|id| seen.recording.history.txn(id).level);
            programs.push(Program { level, steps });
        }
        Scene { seen, cleared, serial, programs, reads: reads.into_iter().collect() }
    }

    /// The same for a race across transactions: what belongs together is one program.
    pub(crate) fn of_split(
        seen: &'a Seen,
        statements: &[SqlStatement],
        anomaly: &SqlAnomaly,
        serial: Option<&'a Seen>,
    ) -> Option<Scene<'a>> {
        let [first, second] = anomaly.edges.as_slice() else { return None };
        let (read, own, write) = (first.statements.0?, first.statements.1?, second.statements.1?);
        let step = |at: usize| statements.get(at).and_then(Step::of);
        let (read, own, write) = (step(read)?, step(own)?, step(write)?);
        let reader = Program { level: Some(Level::Mvrc), steps: vec![read.clone(), write] };
        // The other client did the same, or only wrote.
        let other = match reader.steps[1].shape.text == own.shape.text {
            true => vec![read, own],
            false => vec![own],
        };
        let programs = vec![reader, Program { level: Some(Level::Mvrc), steps: other }];
        let reads = vec![StepPlace { program: 0, step: 0 }];
        Some(Scene { seen, cleared: BTreeSet::new(), serial, programs, reads })
    }

    pub(crate) fn step(&self, place: StepPlace) -> &Step {
        &self.programs[place.program].steps[place.step]
    }

    /// The steps to blame, one of each shape.
    pub(crate) fn read_shapes(&self) -> Vec<&Step> {
        let mut shapes: Vec<&Step> = Vec::new();
        for &place in &self.reads {
            let step = self.step(place);
            if step.is_query() && !shapes.iter().any(|other| other.shape.text == step.shape.text) {
                shapes.push(step);
            }
        }
        shapes
    }

    /// Whether a read that is to blame looked for a row that was not there.
    pub(crate) fn finds_nothing(&self) -> bool {
        self.reads.iter().any(|&place| {
            let mut operations = self.step(place).operations.iter();
            operations.any(|operation| operation.is_guilty && !operation.is_write && operation.value == NOTHING)
        })
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.seen.catalog
    }

    /// A table by its name.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        table_of(self.catalog(), name)
    }

    /// A value of a column as SQL: numbers without quotes.
    pub(crate) fn literal(&self, table: &str, column: &str, value: &str) -> String {
        let is_number = self.column(table, column).is_some_and(|one| NUMBERS.contains(&one.typed.ty));
        match is_number && value.parse::<f64>().is_ok() {
            true => value.to_owned(),
            false => value_of(value),
        }
    }

    /// Whether a step only writes cells that were shown to be not the cause.
    pub(crate) fn is_beside(&self, step: &Step) -> bool {
        let mut writes = step.operations.iter().filter(|operation| operation.is_write).peekable();
        writes.peek().is_some() && writes.all(|operation| self.cleared.contains(&crate::cells::family(&operation.key)))
    }

    /// A column of a table.
    pub(crate) fn column(&self, table: &str, column: &str) -> Option<&Column> {
        self.table(table)?.columns.iter().find(|one| &*one.name == column)
    }
}

/// A table of a catalog by its name.
pub(crate) fn table_of<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a Table> {
    catalog.relations.values().find_map(|relation| match &relation.kind {
        RelationKind::Table(table) if &*relation.name == name => Some(table),
        _ => None,
    })
}
