//! The extended protocol: statements that are prepared once, portals that give them parameters and hand out rows.

use std::sync::Arc;

use skew_sql::error::{Result, SqlError, SqlState};
use skew_sql::exec::rows_weight;
use skew_sql::ir::Output;
use skew_sql::session::{Format, Outcome, Prepared, Status};
use skew_sql::types::{Datum, Type};

use crate::postgres::conversation::{Conversation, Mode, Then};
use crate::postgres::decode::{Bind, Request, Target, malformed};
use crate::postgres::values;

/// A statement with its parameters.
pub(crate) struct Portal {
    statement: Prepared,
    formats: Vec<Format>,
    state: State,
    /// About how much memory the rows take that are still to be handed out.
    kept_bytes: usize,
}

enum State {
    /// Not yet run.
    New(Vec<Datum>),
    /// Its rows, of which some were handed out.
    Rows { columns: Arc<[Output]>, rows: std::vec::IntoIter<Vec<Datum>>, tag: String },
    /// Run, and nothing to hand out.
    Done,
}

impl Conversation {
    /// Takes a message of the extended protocol.
    pub(crate) fn extended(&mut self, request: Request<'_>) -> Result<()> {
        match request {
            Request::Parse { name, sql, types } => self.parse(name, sql, &types),
            Request::Bind(bind) => self.bind(&bind),
            Request::Describe(Target::Statement(name)) => self.describe_statement(name),
            Request::Describe(Target::Portal(name)) => self.describe_portal(name),
            Request::Execute { portal, max_rows } => self.execute(portal, max_rows),
            Request::Close(target) => {
                match target {
                    Target::Statement(name) => self.connection.forget(name),
                    Target::Portal(name) => drop(self.portals.remove(name)),
                }
                self.out.bare(b'3');
                Ok(())
            }
            _ => Err(malformed("unexpected message")),
        }
    }

    fn parse(&mut self, name: &str, sql: &str, types: &[Type]) -> Result<()> {
        if name.is_empty() {
            self.connection.forget(name);
        }
        let sql = self.rewriting.rewritten(sql, &self.connection)?;
        let statement = match name.is_empty() && types.is_empty() {
            true => self.connection.prepare_once(&sql)?,
            false => self.connection.prepare(&sql, types)?,
        };
        self.connection.keep(name, statement)?;
        self.tell_messages();
        self.out.bare(b'1');
        Ok(())
    }

    fn bind(&mut self, bind: &Bind<'_>) -> Result<()> {
        let statement = self.connection.kept(bind.statement)?.clone();
        let (formats, given) = (bind.parameter_formats.len(), bind.parameters.len());
        if formats > 1 && formats != given {
            return Err(malformed(format!("bind message has {formats} parameter formats but {given} parameters")));
        }
        let wanted = statement.parameters.len();
        if given != wanted {
            return Err(malformed(format!(
                "bind message supplies {given} parameters, but prepared statement \"{}\" requires {wanted}",
                bind.statement
            )));
        }
        let mut parameters = Vec::with_capacity(given);
        for (at, value) in bind.parameters.iter().enumerate() {
            let format = format_at(&bind.parameter_formats, at)?;
            let ty = statement.parameters[at];
            parameters.push(match value {
                None => Datum::Null,
                Some(bytes) => {
                    let read = values::parameter(&mut self.connection, bytes, ty, format);
                    read.map_err(|error| within(error, bind.portal, at, bytes, format))?
                }
            });
        }
        let formats = result_formats(&statement, &bind.result_formats)?;
        if !bind.portal.is_empty() && self.portals.contains_key(bind.portal) {
            let message = format!("cursor \"{}\" already exists", bind.portal);
            return Err(SqlError::new(SqlState::DUPLICATE_CURSOR, message));
        }
        let portal = Portal { statement, formats, state: State::New(parameters), kept_bytes: 0 };
        self.portals.insert(bind.portal.to_owned(), portal);
        self.out.bare(b'2');
        Ok(())
    }

    fn describe_statement(&mut self, name: &str) -> Result<()> {
        let statement = self.connection.kept(name)?;
        self.out.parameters(&statement.parameters);
        match &statement.columns {
            Some(columns) => values::describe(&mut self.out, &self.connection, columns, &[]),
            None => self.out.bare(b'n'),
        }
        Ok(())
    }

    fn describe_portal(&mut self, name: &str) -> Result<()> {
        match self.portals.get(name) {
            Some(Portal { statement: Prepared { columns: Some(columns), .. }, formats, .. }) => {
                values::describe(&mut self.out, &self.connection, columns, formats);
            }
            Some(_) => self.out.bare(b'n'),
            None => match self.connection.cursor(name) {
                Some(columns) => values::describe(&mut self.out, &self.connection, &columns, &[]),
                None => return Err(no_portal(name)),
            },
        }
        Ok(())
    }

    fn execute(&mut self, name: &str, max_rows: i32) -> Result<()> {
        // Taken out, so that it is gone if anything fails.
        let mut portal = match self.portals.remove(name) {
            Some(portal) => portal,
            None => return self.fetch(name, max_rows),
        };
        if let State::New(parameters) = &mut portal.state {
            let parameters = std::mem::take(parameters);
            self.turn(&portal.statement.sql.clone());
            // Text does not fail, once there are values.
            let is_last = self.sync_is_next && portal.formats.iter().all(|format| *format == Format::Text);
            let outcome =
                self.perform(&portal.statement, &parameters, if is_last { Then::Sync } else { Then::Other })?;
            self.tell_messages();
            // COMMIT and ROLLBACK end what was bound within the transaction.
            if self.connection.status() == Status::Idle && ends_transaction(&outcome) {
                self.portals.clear();
            }
            portal.state = match outcome {
                Outcome::Rows { columns, rows, tag } => State::Rows { columns, rows: rows.into_iter(), tag },
                other => {
                    self.without_rows(other);
                    portal.state = State::Done;
                    self.portals.insert(name.to_owned(), portal);
                    return Ok(());
                }
            };
        }
        self.hand_out(&mut portal, name, max_rows)?;
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    /// Answers for a statement that returned no rows.
    fn without_rows(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Empty => self.out.bare(b'I'),
            Outcome::Done(tag) | Outcome::Rows { tag, .. } => self.out.complete(&tag),
            Outcome::CopyIn { columns, binary } => {
                self.out.copy_response(b'G', columns, binary);
                self.mode = Mode::Copy { rest: None };
                self.flush();
            }
            Outcome::CopyOut { columns, binary, data, tag } => {
                self.copy_out(columns, binary, &data);
                self.out.complete(&tag);
            }
        }
    }

    /// Hands out rows, as many as the client wants at a time.
    fn hand_out(&mut self, portal: &mut Portal, name: &str, max_rows: i32) -> Result<()> {
        let State::Rows { columns, rows, tag } = &mut portal.state else {
            let message = format!("portal \"{name}\" cannot be run");
            return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        };
        let most = usize::try_from(max_rows).ok().filter(|&most| most > 0).unwrap_or(usize::MAX);
        let mut count = 0;
        for row in rows.by_ref().take(most) {
            if count % values::ROWS_BETWEEN_LOOKS == 0 {
                self.connection.must_go_on()?;
            }
            let formats = &portal.formats;
            let format = |at: usize| formats.get(at).copied().unwrap_or_default();
            values::row(&mut self.connection, &mut self.out, columns, &row, format)?;
            count += 1;
            self.spill();
        }
        if count == most {
            if portal.kept_bytes == 0 {
                portal.kept_bytes = rows_weight(rows.as_slice());
                let others: usize = self.portals.values().map(|other| other.kept_bytes).sum();
                self.connection.may_keep(others + portal.kept_bytes)?;
            }
            self.out.bare(b's');
        } else {
            portal.kept_bytes = 0;
            self.out.complete(&values::tag(tag, count));
        }
        Ok(())
    }

    /// Rows of a cursor that SQL has declared, by its name.
    fn fetch(&mut self, name: &str, max_rows: i32) -> Result<()> {
        if self.connection.cursor(name).is_none() {
            return Err(no_portal(name));
        }
        let count = if max_rows > 0 { max_rows.to_string() } else { "ALL".to_owned() };
        let sql = format!("FETCH FORWARD {count} FROM \"{}\"", name.replace('"', "\"\""));
        let statement = self.connection.prepare(&sql, &[])?;
        self.turn(&sql);
        let outcome = self.connection.execute(&statement, &[])?;
        self.tell_messages();
        let Outcome::Rows { columns, rows, tag } = outcome else {
            self.without_rows(outcome);
            return Ok(());
        };
        // Whoever asks by the wire does not know that it was a FETCH.
        let tag = if tag.starts_with("FETCH") { "SELECT".to_owned() } else { tag };
        let state = State::Rows { columns, rows: rows.into_iter(), tag };
        self.hand_out(&mut Portal { statement, formats: Vec::new(), state, kept_bytes: 0 }, name, max_rows)
    }
}

fn ends_transaction(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done(tag) if tag == "COMMIT" || tag == "ROLLBACK")
}

fn no_portal(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("portal \"{name}\" does not exist"))
}

/// The formats of a result's columns.
fn result_formats(statement: &Prepared, codes: &[i16]) -> Result<Vec<Format>> {
    let columns = statement.columns.as_deref().map_or(0, <[Output]>::len);
    if codes.len() > 1 && codes.len() != columns {
        return Err(malformed(format!(
            "bind message has {} result formats but query has {columns} columns",
            codes.len()
        )));
    }
    (0..columns).map(|at| format_at(codes, at)).collect()
}

/// No code: text; one: it is everybody's; else one each.
fn format_at(codes: &[i16], at: usize) -> Result<Format> {
    let code = match codes {
        [] => 0,
        [code] => *code,
        codes => codes[at],
    };
    match code {
        0 => Ok(Format::Text),
        1 => Ok(Format::Binary),
        code => Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {code}"))),
    }
}

/// Says which parameter could not be read.
fn within(error: SqlError, portal: &str, at: usize, bytes: &[u8], format: Format) -> SqlError {
    let portal = match portal {
        "" => "unnamed portal".to_owned(),
        name => format!("portal \"{name}\""),
    };
    match (format, std::str::from_utf8(bytes)) {
        (Format::Text, Ok(text)) => {
            error.within(format!("{portal} parameter ${} = '{}'", at + 1, text.replace('\'', "''")))
        }
        _ => error.within(format!("{portal} parameter ${}", at + 1)),
    }
}
