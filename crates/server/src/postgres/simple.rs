//! The simple query: statements as text, one implicit transaction around them.

use std::collections::VecDeque;
use std::sync::Arc;

use skew_sql::error::Result;
use skew_sql::session::{Format, Outcome};

use crate::postgres::conversation::{Conversation, Mode, Then};
use crate::postgres::values;

impl Conversation {
    /// Runs the statements of a simple query.
    pub(crate) fn query(&mut self, sql: &str) {
        // A simple query replaces the unnamed statement and portal.
        self.connection.forget("");
        self.portals.remove("");
        match self.connection.split(sql) {
            Ok(statements) if statements.is_empty() => {
                self.out.bare(b'I');
                self.finish_query();
            }
            Ok(statements) => self.run_statements(statements.into()),
            Err(error) => self.refuse_query(error),
        }
    }

    /// Runs statements until there are none left, or one of them wants data.
    pub(crate) fn run_statements(&mut self, mut statements: VecDeque<Arc<str>>) {
        while let Some(sql) = statements.pop_front() {
            match self.run_statement(&sql, statements.is_empty()) {
                Ok(Next::Statement) => {}
                Ok(Next::Data) => {
                    self.mode = Mode::Copy { rest: Some(statements) };
                    self.flush();
                    return;
                }
                Err(error) => return self.refuse_query(error),
            }
        }
        self.finish_query();
    }

    fn finish_query(&mut self) {
        match self.commit() {
            Ok(()) => self.ready(),
            Err(error) => {
                self.tell_messages();
                self.out.error("ERROR", &error);
                self.ready();
            }
        }
    }

    /// Runs one statement. The last one commits before the client hears that it is complete, as in PostgreSQL.
    fn run_statement(&mut self, sql: &str, is_last: bool) -> Result<Next> {
        let sql = self.rewriting.rewritten(sql, &self.connection)?;
        let statement = self.connection.prepare_once(&sql)?;
        self.turn(&sql);
        let outcome = self.perform(&statement, &[], if is_last { Then::Sync } else { Then::Other })?;
        self.tell_messages();
        let tag = match outcome {
            Outcome::Empty => {
                self.out.bare(b'I');
                return Ok(Next::Statement);
            }
            Outcome::Done(tag) => tag,
            Outcome::Rows { columns, rows, tag } => {
                values::describe(&mut self.out, &self.connection, &columns, &[]);
                for (number, row) in rows.iter().enumerate() {
                    if number % values::ROWS_BETWEEN_LOOKS == 0 {
                        self.connection.must_go_on()?;
                    }
                    values::row(&mut self.connection, &mut self.out, &columns, row, |_| Format::Text)?;
                    self.spill();
                }
                values::tag(&tag, rows.len())
            }
            Outcome::CopyIn { columns, binary } => {
                self.out.copy_response(b'G', columns, binary);
                return Ok(Next::Data);
            }
            Outcome::CopyOut { columns, binary, data, tag } => {
                self.copy_out(columns, binary, &data);
                tag
            }
        };
        if is_last {
            self.commit()?;
            self.tell_messages();
        }
        self.out.complete(&tag);
        Ok(Next::Statement)
    }
}

/// What comes after a statement.
enum Next {
    Statement,
    Data,
}
