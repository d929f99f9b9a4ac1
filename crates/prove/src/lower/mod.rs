//! PL/pgSQL to the [analysis language](crate::ir): bound bodies and the schema become blocks in which everything is a step.
//!
//! Lowering is total. What is not understood becomes an opaque value, a predicate with a remainder, or
//! [`Step::Havoc`] with the reason; nothing is left out.
//!
//! - `routine`: a body with its variables; calls are lowered in the place where they are made
//! - `statement`, `flow`: statements of PL/pgSQL; loops, cursors, handlers
//! - `plan`, `expression`: queries to accesses and values
//! - `change`, `constraints`: changes of rows, and what follows from them

mod change;
mod constraints;
mod expression;
mod flow;
mod plan;
mod routine;
mod statement;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skew_sql::app::App;
use skew_sql::catalog::{Catalog, Oid, RelationKind};
use skew_sql::error::Result;
use skew_sql::plpgsql::bound::Program as Body;
use skew_sql::session::{Client, Database};

use crate::ir::{Access, AccessId, Application, Block, Cause, Cell, Label, May, Origin, Step, Table, Value, Variable};

/// Programs with more accesses than this do anything.
const MAX_ACCESSES: usize = 1_500;
/// Calls within calls that are lowered in their place.
const MAX_CALL_DEPTH: usize = 6;

/// The application that a database holds.
pub fn application(database: &Database, app: &App) -> Result<Application> {
    let catalog = database.catalog();
    let mut connection = database.connect(Client::new("postgres", "lower"));
    let mut bodies = BTreeMap::new();
    for function in catalog.functions.values() {
        if let Ok(body) = connection.program_of(function.oid, None) {
            bodies.insert((function.oid, None), body);
        }
    }
    for relation in catalog.relations.values() {
        let RelationKind::Table(table) = &relation.kind else { continue };
        for trigger in &table.triggers {
            if let Ok(body) = connection.program_of(trigger.function, Some(relation.oid)) {
                bodies.insert((trigger.function, Some(relation.oid)), body);
            }
        }
    }
    let mut programs = Vec::new();
    for program in &app.programs {
        let body = connection.program_of(program.oid, None)?;
        let schema = Schema { catalog: &catalog, bodies: &bodies };
        programs.push(routine::program(program, &body, schema));
    }
    Ok(Application { tables: tables(&catalog), programs })
}

fn tables(catalog: &Catalog) -> BTreeMap<Oid, Table> {
    let tables = catalog.relations.values().filter_map(|relation| {
        let RelationKind::Table(table) = &relation.kind else { return None };
        let columns = table.columns.iter().map(|column| column.name.to_string()).collect();
        Some((relation.oid, Table { name: relation.name.to_string(), columns, key: table.clustered.clone() }))
    });
    tables.collect()
}

/// What all programs share.
#[derive(Clone, Copy)]
struct Schema<'a> {
    catalog: &'a Catalog,
    /// The bodies of functions, and of triggers' functions by their table.
    bodies: &'a BTreeMap<(Oid, Option<Oid>), Arc<Body>>,
}

/// A program that is being lowered.
struct Lowering<'a> {
    schema: Schema<'a>,
    variables: Vec<String>,
    accesses: Vec<Access>,
    labels: usize,
    /// The steps so far of the block that is being made.
    block: Block,
    /// The body that is being lowered.
    routine: routine::Routine<'a>,
    /// The functions whose bodies are around, outermost first.
    calls: Vec<Oid>,
    /// Where the program is.
    origin: Origin,
    /// The statement around is still that of the caller: functions that are not VOLATILE look with its eyes.
    within_statement: bool,
    /// Triggers that wait for the commit: the table and the trigger's number.
    deferred: Vec<(Oid, Oid)>,
    /// The tables whose rows foreign keys are changing.
    cascading: Vec<Oid>,
    /// Accesses whose rows are locked or changed by their statement.
    sought: BTreeSet<AccessId>,
}

impl<'a> Lowering<'a> {
    fn emit(&mut self, step: Step) {
        self.block.push(step);
    }

    /// The steps that something makes.
    fn block_of<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let around = std::mem::take(&mut self.block);
        let made = make(self);
        (std::mem::replace(&mut self.block, around), made)
    }

    /// Steps that are done any number of times, or not at all.
    fn perhaps<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let (block, made) = self.block_of(make);
        if !block.is_empty() {
            let label = self.label();
            self.emit(Step::Loop(label, block));
        }
        made
    }

    /// Steps that belong to one statement of the database; none are needed where nothing is looked at.
    fn statement_of<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        if self.within_statement {
            return make(self);
        }
        self.within_statement = true;
        let (block, made) = self.block_of(make);
        self.within_statement = false;
        if block.iter().all(|step| matches!(step, Step::Let(..))) {
            block.into_iter().for_each(|step| self.emit(step));
        } else {
            let origin = self.origin.clone();
            self.emit(Step::Statement(origin, block));
        }
        made
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn variable(&mut self, name: &str) -> Variable {
        self.variables.push(name.to_owned());
        Variable(self.variables.len() - 1)
    }

    /// A value that is worked out once, in a variable of its own unless it is one anyway.
    fn once(&mut self, name: &str, value: Value) -> Value {
        if matches!(value, Value::Constant(_) | Value::Null | Value::Variable(_)) {
            return value;
        }
        let variable = self.variable(name);
        self.emit(Step::Let(variable, value));
        Value::Variable(variable)
    }

    fn access(&mut self, access: Access) -> AccessId {
        let id = AccessId(self.accesses.len());
        self.accesses.push(access);
        self.emit(Step::Access(id));
        id
    }

    fn at(&mut self, id: AccessId) -> &mut Access {
        &mut self.accesses[id.0]
    }

    fn because(&self, cause: Cause) -> Origin {
        self.origin.because(cause)
    }

    /// Anything may be done to any table.
    fn havoc(&mut self, why: impl AsRef<str>) {
        let tables = May::any(
            self.schema
                .catalog
                .relations
                .values()
                .filter_map(|relation| matches!(relation.kind, RelationKind::Table(_)).then_some(relation.oid)),
        );
        self.havoc_of(tables, why);
    }

    fn havoc_of(&mut self, tables: May<Oid>, why: impl AsRef<str>) {
        let origin = self.origin.clone();
        self.emit(Step::Havoc { origin, tables, why: Arc::from(why.as_ref()) });
    }

    fn table(&self, oid: Oid) -> Option<&'a skew_sql::catalog::Table> {
        self.schema.catalog.table(oid)
    }

    fn name_of(&self, oid: Oid) -> Arc<str> {
        self.schema.catalog.relation(oid).map_or_else(|| Arc::from("?"), |relation| relation.name.clone())
    }

    /// The cells of a table that its rows have, other than those of the key.
    fn cells(&self, oid: Oid) -> Vec<Cell> {
        let Some(table) = self.table(oid) else { return vec![Cell::Existence] };
        let columns = (0..table.columns.len()).filter(|column| !table.clustered.contains(column));
        std::iter::once(Cell::Existence).chain(columns.map(Cell::Column)).collect()
    }

    /// What a column's reading reads: the key comes with the row.
    fn cell(&self, table: Oid, column: usize) -> Cell {
        match self.table(table) {
            Some(table) if table.clustered.contains(&column) => Cell::Existence,
            _ => Cell::Column(column),
        }
    }
}
