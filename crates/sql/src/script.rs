//! Files of SQL, as `psql -f` takes them: statements, and the data of COPY … FROM stdin after them, as pg_dump writes it.

use std::fmt;
use std::sync::Arc;

use crate::error::{Result, SqlError};
use crate::parse;
use crate::session::{Connection, Outcome};

/// A file of SQL.
#[derive(Clone, Debug)]
pub struct Script {
    /// What it is called in errors.
    pub name: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

/// A statement of a script that failed.
#[derive(Debug)]
pub struct Failed {
    /// The script.
    pub name: Arc<str>,
    /// The line that the statement starts on.
    pub line: usize,
    /// Why.
    pub error: SqlError,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.error.fields();
        write!(f, "{}:{}: {} ({})", self.name, self.line, fields.message, fields.code)?;
        if let Some(detail) = &fields.detail {
            write!(f, "\n  {detail}")?;
        }
        if let Some(hint) = &fields.hint {
            write!(f, "\n  {hint}")?;
        }
        Ok(())
    }
}

impl Script {
    /// Runs every statement in its own transaction, unless the script says BEGIN.
    pub fn run(&self, connection: &mut Connection) -> Result<(), Failed> {
        let mut scanner = Scanner { text: &self.text, at: 0, line: 1 };
        while let Some((line, sql)) = scanner.statement() {
            let run = run_statement(connection, sql, &mut scanner);
            run.map_err(|error| Failed { name: Arc::clone(&self.name), line, error })?;
        }
        Ok(())
    }
}

fn run_statement(connection: &mut Connection, sql: &str, scanner: &mut Scanner<'_>) -> Result<()> {
    if let Some(command) = sql.strip_prefix('\\') {
        // pg_dump puts these around its output; they protect psql, which this is not.
        return match command.split_whitespace().next() {
            Some("restrict" | "unrestrict") => Ok(()),
            _ => Err(SqlError::unsupported(format!("psql's command {sql}"))),
        };
    }
    let outcome = execute(connection, sql, scanner);
    if outcome.is_err() {
        connection.fail();
    }
    let ended = connection.sync();
    connection.messages();
    outcome.and(ended)
}

fn execute(connection: &mut Connection, sql: &str, scanner: &mut Scanner<'_>) -> Result<()> {
    for part in connection.split(sql)? {
        let statement = connection.prepare(&part, &[])?;
        if let Outcome::CopyIn { .. } = connection.execute(&statement, &[])? {
            connection.copy_data(scanner.copy_data().as_bytes())?;
            connection.copy_done(None)?;
        }
    }
    Ok(())
}

/// Cuts statements out of a script.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    /// The next statement, and the line that it starts on. A line of psql's own (`\…`) is one too.
    fn statement(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.text[self.at..];
        let first = parse::first(rest)?;
        self.advance(first.start);
        let rest = &rest[first.start..];
        let length = match rest.starts_with('\\') {
            true => rest.find('\n').unwrap_or(rest.len()),
            false => first.len(),
        };
        let line = self.line;
        let statement = &rest[..length];
        self.advance(length);
        Some((line, statement.trim_end()))
    }

    /// The lines after COPY … FROM stdin, up to `\.`.
    fn copy_data(&mut self) -> &'a str {
        // What is left of the line of the statement itself.
        let rest = &self.text[self.at..];
        self.advance(rest.find('\n').map_or(rest.len(), |end| end + 1));
        let start = self.at;
        let mut length = 0;
        for line in self.text[start..].split_inclusive('\n') {
            if line.trim_end_matches(['\r', '\n']) == "\\." {
                let data = &self.text[start..start + length];
                self.advance(length + line.len());
                return data;
            }
            length += line.len();
        }
        self.advance(length);
        &self.text[start..]
    }

    fn advance(&mut self, bytes: usize) {
        let passed = &self.text[self.at..self.at + bytes];
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
        self.at += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(text: &str) -> Vec<String> {
        let mut scanner = Scanner { text, at: 0, line: 1 };
        let mut found = Vec::new();
        while let Some((line, sql)) = scanner.statement() {
            found.push(format!("{line}: {sql}"));
            if sql.starts_with("COPY") {
                found.push(format!("data: {:?}", scanner.copy_data()));
            }
        }
        found
    }

    #[test]
    fn semicolons_end_statements_except_within_something() {
        assert_eq!(statements("SELECT 1;\n\nSELECT 2 ; SELECT 3"), ["1: SELECT 1;", "3: SELECT 2 ;", "3: SELECT 3"]);
        assert_eq!(statements("-- a; b\n/* c; /* d; */ */ SELECT ';', \";\";"), ["2: SELECT ';', \";\";"]);
        assert_eq!(statements("SELECT 'it''s;', E'\\';';SELECT 2"), ["1: SELECT 'it''s;', E'\\';';", "1: SELECT 2"]);
        assert_eq!(
            statements("DO $x$ BEGIN; $$;$$ END $x$; SELECT $1;"),
            ["1: DO $x$ BEGIN; $$;$$ END $x$;", "1: SELECT $1;"]
        );
        assert_eq!(
            statements("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE 1 END; END; SELECT 2"),
            ["1: CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE 1 END; END;", "1: SELECT 2"]
        );
        assert_eq!(statements("BEGIN; COMMIT;"), ["1: BEGIN;", "1: COMMIT;"]);
    }

    #[test]
    fn data_follows_a_copy() {
        let dump = "\\restrict x\nCOPY t FROM stdin;\n1\ta;\n2\t\\N\n\\.\n\nSELECT 1;\n";
        assert_eq!(
            statements(dump),
            ["1: \\restrict x", "2: COPY t FROM stdin;", "data: \"1\\ta;\\n2\\t\\\\N\\n\"", "7: SELECT 1;"]
        );
    }

    #[test]
    fn nothing_is_unfinished_forever() {
        for text in ["'", "\"", "$$", "$a$ $b$", "/*", "--", "E'\\", "(", ";", "$", "\\"] {
            assert!(statements(text).len() <= 1, "{text}");
        }
    }
}
