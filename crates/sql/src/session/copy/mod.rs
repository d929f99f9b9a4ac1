//! COPY between a table or a query and the client.
//!
//! - [`format`]: the options
//! - [`reader`]: bytes → rows of fields; [`writer`]: rows → bytes

mod format;
mod reader;
mod writer;

use std::sync::Arc;

use crate::parse::ast;

use crate::catalog::{FIRST_USER_OID, Generation, Oid};
use crate::change::Event;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Tuple, check_domains};
use crate::parse::statement::{Copy, CopyTarget, CopyWhat, Statement};
use crate::session::connection::Connection;
use crate::session::{Outcome, Prepared};
use crate::storage::World;
use crate::storage::locks::TableMode;
use crate::types::{Datum, binary, quote, text};

use format::Format;
pub(crate) use reader::Field;

/// A COPY FROM STDIN under way: what has arrived is kept until the client says that it is complete.
pub(crate) struct CopyIn {
    statement: Arc<Statement>,
    data: Vec<u8>,
}

/// A client's data may not be larger.
const LARGEST: usize = 1 << 30;

impl CopyIn {
    pub(crate) fn new(statement: Arc<Statement>) -> CopyIn {
        CopyIn { statement, data: Vec::new() }
    }
}

impl Connection {
    /// Takes data of a COPY FROM STDIN.
    pub fn copy_data(&mut self, data: &[u8]) -> Result<()> {
        let Some(copy) = &mut self.copy else {
            return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, "there is no COPY under way"));
        };
        if copy.data.len() + data.len() > LARGEST {
            self.fail();
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "the data of the COPY is too large"));
        }
        if let Err(error) = self.session.may_keep(copy.data.len() + data.len()) {
            self.fail();
            return Err(error);
        }
        copy.data.extend_from_slice(data);
        Ok(())
    }

    /// The COPY's data is complete: the tag. Or it was given up by the client, for this reason.
    pub fn copy_done(&mut self, failed: Option<&str>) -> Result<String> {
        let Some(copy) = self.copy.take() else {
            return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, "there is no COPY under way"));
        };
        if let Some(reason) = failed {
            self.fail();
            let message = format!("COPY from stdin failed: {reason}");
            return Err(SqlError::new(SqlState::QUERY_CANCELED, message));
        }
        let inner = self.database.inner.clone();
        let mut world = World::new(inner.hold(), &mut self.session);
        let result = match &*copy.statement {
            Statement::Copy(statement) => load(&mut world, statement, &copy.data),
            _ => Err(SqlError::unsupported("COPY data for another statement")),
        };
        if result.is_err() {
            world.session.fail(&mut world.db);
        }
        result.map(|count| format!("COPY {count}"))
    }
}

/// Starts a COPY: all of it where the client is to receive, the announcement where it is to send.
pub(crate) fn start(world: &mut World<'_>, sql: &Arc<str>, copy: &Copy) -> Result<Outcome> {
    if copy.target != CopyTarget::Client {
        return Err(SqlError::unsupported("COPY with a file or a program of the server"));
    }
    let format = Format::new(&copy.options)?;
    world.session.transaction(&world.db);
    world.begin_statement(sql)?;
    if copy.from {
        world.must_not_be_read_only("COPY FROM")?;
        let target = target(world, copy)?;
        return Ok(Outcome::CopyIn { columns: target.columns.len(), binary: format.binary });
    }
    let prepared = query_of(world, sql, copy)?;
    let query = prepared.plan.query.clone().expect("a query has a plan");
    let Outcome::Rows { columns, rows, .. } = world.run_query_statement(sql, &query)? else {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "COPY query must have a RETURNING clause"));
    };
    let tag = format!("COPY {}", rows.len());
    let data = writer::write(world, &format, &columns, &rows)?;
    Ok(Outcome::CopyOut { columns: columns.len(), binary: format.binary, data, tag })
}

fn query_of(world: &mut World<'_>, sql: &Arc<str>, copy: &Copy) -> Result<Prepared> {
    let statement = match &copy.what {
        CopyWhat::Query(statement) => (**statement).clone(),
        CopyWhat::Table(name, columns) => {
            let relation = world.resolve_relation(name)?;
            let list = if columns.is_empty() {
                let table = crate::storage::world::as_table(&relation)?;
                let shown = table.columns.iter().filter(|column| !column.dropped);
                let plain = shown.filter(|column| column.generation != Generation::Stored);
                plain.map(|column| quote::identifier(&column.name)).collect::<Vec<_>>()
            } else {
                columns.iter().map(ToString::to_string).collect()
            };
            let text = format!("SELECT {} FROM {name}", list.join(", "));
            match crate::parse::statement(&text)? {
                Some(Statement::Sql(statement)) => *statement,
                _ => return Err(SqlError::unsupported("COPY of this table")),
            }
        }
    };
    world.plan(sql.clone(), Arc::new(Statement::Sql(Box::new(statement))), &[])
}

struct Target {
    table: Oid,
    columns: Vec<usize>,
}

fn target(world: &mut World<'_>, copy: &Copy) -> Result<Target> {
    let CopyWhat::Table(name, columns) = &copy.what else {
        return Err(SqlError::syntax("COPY FROM needs a table"));
    };
    let relation = world.resolve_relation(name)?;
    let table = crate::storage::world::as_table(&relation)?;
    let all = || {
        (0..table.columns.len())
            .filter(|&at| !table.columns[at].dropped && table.columns[at].generation != Generation::Stored)
    };
    let positions = if columns.is_empty() {
        all().collect()
    } else {
        let position = |ident: &ast::Ident| {
            let name = folded(ident);
            all().find(|&at| *table.columns[at].name == *name).ok_or_else(|| {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            })
        };
        columns.iter().map(position).collect::<Result<Vec<_>>>()?
    };
    Ok(Target { table: relation.oid, columns: positions })
}

/// Inserts what has arrived.
fn load(world: &mut World<'_>, copy: &Copy, data: &[u8]) -> Result<u64> {
    if copy.condition.is_some() {
        return Err(SqlError::unsupported("COPY FROM with WHERE"));
    }
    let format = Format::new(&copy.options)?;
    let target = target(world, copy)?;
    world.lock_table(target.table, TableMode::RowExclusive)?;
    let bound = world.bound_table(target.table)?;
    let defaults = world.column_defaults(target.table, &target.columns)?;
    let rows = reader::read(&format, data, target.columns.len())?;
    let mut checks = Vec::new();
    world.fire_before_statement(&bound, Event::Insert, &[])?;
    let mut count = 0;
    for (number, row) in rows.enumerate() {
        world.check()?;
        let row = row?;
        let place = Place { table: &bound.relation.name, number: number + 1, line: row.line };
        if row.fields.len() != target.columns.len() {
            let message = match row.fields.len() < target.columns.len() {
                true => {
                    let missing = &bound.table().columns[target.columns[row.fields.len()]].name;
                    format!("missing data for column \"{missing}\"")
                }
                false => "extra data after last expected column".to_owned(),
            };
            return Err(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, message).within(place.line()));
        }
        let mut values = vec![Datum::Null; bound.table().columns.len()];
        for (&position, field) in target.columns.iter().zip(row.fields) {
            let column = &bound.table().columns[position];
            values[position] = match field {
                Field::Null => Datum::Null,
                Field::Text(field) => text::input(&field, column.typed, world)
                    .map_err(|error| error.within(place.column(&column.name, Some(&field))))?,
                Field::Binary(field) => binary::input(&field, column.typed, world)
                    .map_err(|error| error.within(place.column(&column.name, None)))?,
            };
            if column.typed.ty.0 >= FIRST_USER_OID {
                check_domains(world, &values[position], column.typed.ty)
                    .map_err(|error| error.within(place.column(&column.name, None)))?;
            }
        }
        for (position, default) in &defaults {
            values[*position] = Run::new().eval(world, default, &Tuple::default())?;
        }
        let inserted = world.insert_one(&bound, values, &mut checks);
        if inserted.map_err(|error| error.within(place.row()))?.is_some() {
            count += 1;
        }
    }
    world.fire_after_statement(&bound, Event::Insert, &[], &mut checks)?;
    world.run_checks(checks)?;
    Ok(count)
}

/// Where in the data something went wrong, as PostgreSQL says it.
struct Place<'a> {
    table: &'a str,
    number: usize,
    line: Option<&'a [u8]>,
}

impl Place<'_> {
    fn row(&self) -> String {
        format!("COPY {}, line {}", self.table, self.number)
    }

    fn line(&self) -> String {
        match self.line {
            Some(line) => format!("{}: \"{}\"", self.row(), shortened(&String::from_utf8_lossy(line))),
            None => self.row(),
        }
    }

    fn column(&self, name: &str, value: Option<&str>) -> String {
        match value {
            Some(value) => format!("{}, column {name}: \"{}\"", self.row(), shortened(value)),
            None => format!("{}, column {name}", self.row()),
        }
    }
}

/// At most a hundred bytes.
fn shortened(text: &str) -> String {
    match text.len() <= 100 {
        true => text.to_owned(),
        false => {
            let ends = text.char_indices().map(|(at, _)| at).take_while(|&at| at <= 100);
            format!("{}...", &text[..ends.last().unwrap_or(0)])
        }
    }
}

fn folded(ident: &ast::Ident) -> String {
    if ident.quoted { ident.value.clone() } else { ident.value.to_lowercase() }
}
