//! OPEN, FETCH, MOVE and CLOSE: cursors of bodies are those of the connection, known by the text in a variable.

use std::sync::Arc;

use crate::cursor::{Cursor, no_cursor};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::statement::Direction;
use crate::plpgsql::bound::{Expression, Opened, Target};
use crate::plpgsql::machine::Machine;
use crate::types::{Datum, Type};

impl Machine<'_, '_> {
    /// OPEN
    pub(super) fn open(&mut self, cursor: usize, scroll: Option<bool>, of: &Opened) -> Result<()> {
        let (answer, scroll) = match of {
            Opened::Rows(rows) => (self.rows_of(rows)?, scroll),
            Opened::Bound(arguments) => {
                let Some(declared) = self.program.variables[cursor].cursor.clone() else {
                    return Err(SqlError::syntax("OPEN of an unbound cursor needs FOR"));
                };
                self.cursor_arguments(arguments)?;
                (self.run(&declared.query)?, declared.scroll)
            }
        };
        let name = match self.get(cursor) {
            Datum::Text(name) => name.to_string(),
            // A declared cursor is called like its variable, others by a number.
            _ if self.program.variables[cursor].cursor.is_some() => self.program.variables[cursor].name.to_string(),
            _ => self.unnamed(),
        };
        if self.world.session.cursors.contains_key(&name) {
            let message = format!("cursor \"{name}\" already in use");
            return Err(SqlError::new(SqlState::DUPLICATE_CURSOR, message));
        }
        let opened = Cursor {
            columns: answer.columns.into(),
            rows: Arc::new(answer.rows),
            bytes: 0,
            at: 0,
            holds: false,
            forward_only: scroll == Some(false),
            committed: false,
            depth: self.world.session.cursor_depth(),
        };
        self.world.session.open_cursor(&name, opened)?;
        self.put(cursor, Datum::text(name));
        Ok(())
    }

    fn unnamed(&self) -> String {
        let taken = |number: &usize| self.world.session.cursors.contains_key(&format!("<unnamed portal {number}>"));
        let number = (1..).find(|number| !taken(number)).expect("there are more numbers than cursors");
        format!("<unnamed portal {number}>")
    }

    /// Gives a cursor's parameters their values.
    pub(super) fn cursor_arguments(&mut self, arguments: &[(usize, Expression)]) -> Result<()> {
        let mut values = Vec::with_capacity(arguments.len());
        for (_, value) in arguments {
            values.push(self.eval(value)?);
        }
        for ((place, _), (value, typed)) in arguments.iter().zip(values) {
            self.assign_whole(*place, value, typed)?;
        }
        Ok(())
    }

    fn cursor_name(&self, cursor: usize) -> Result<String> {
        match self.get(cursor) {
            Datum::Text(name) => Ok(name.to_string()),
            _ => {
                let message = format!("cursor variable \"{}\" is null", self.program.variables[cursor].name);
                Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message))
            }
        }
    }

    /// FETCH and MOVE
    pub(super) fn fetch(
        &mut self,
        cursor: usize,
        direction: Direction,
        count: Option<&Expression>,
        into: Option<&[Target]>,
    ) -> Result<()> {
        let name = self.cursor_name(cursor)?;
        let direction = match count {
            Some(count) => {
                let Datum::Int(count) = self.eval_as(count, Type::INT8.into())? else {
                    let message = "relative or absolute cursor position is null";
                    return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
                };
                match direction {
                    Direction::Forward(sign) => Direction::Forward(sign * count),
                    Direction::Absolute(_) => Direction::Absolute(count),
                    Direction::Relative(_) => Direction::Relative(count),
                }
            }
            None => direction,
        };
        let open = self.world.session.cursors.get_mut(&name).ok_or_else(|| no_cursor(&name))?;
        let rows = open.fetch(direction)?;
        let columns = open.columns.clone();
        self.row_count = rows.len() as i64;
        self.put_found(!rows.is_empty());
        match into {
            Some(targets) => self.assign_row(targets, &columns, rows.into_iter().next()),
            None => Ok(()),
        }
    }

    /// CLOSE
    pub(super) fn close(&mut self, cursor: usize) -> Result<()> {
        let name = self.cursor_name(cursor)?;
        self.world.session.close(Some(&name)).map(drop)
    }
}
