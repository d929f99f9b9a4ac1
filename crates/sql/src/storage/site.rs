//! Where the bodies stand that have called what runs now: the context of errors.

use std::sync::Arc;

/// A place in a body.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// Its line; 0: none.
    pub(crate) line: u32,
    /// What is done there: `at RETURN`, `during statement block local variable initialization`.
    pub(crate) doing: &'static str,
}

/// Where a body stands that has called what runs now.
pub(crate) enum Site {
    /// A body in PL/pgSQL, and the SQL that it runs.
    Body {
        /// The body's function.
        signature: Arc<str>,
        /// Where it is.
        at: Position,
        /// What it runs.
        sql: Option<Arc<str>>,
    },
    /// A function in SQL, and which of its statements.
    Sql(Arc<str>, usize),
}

impl Site {
    /// The lines of a context.
    pub(crate) fn lines(&self, lines: &mut Vec<String>) {
        match self {
            Site::Body { signature, at, sql } => {
                lines.extend(sql.as_ref().map(|sql| format!("SQL statement \"{sql}\"")));
                lines.push(at.within(signature));
            }
            Site::Sql(name, statement) => lines.push(format!("SQL function \"{name}\" statement {statement}")),
        }
    }
}

impl Position {
    /// As the context of an error says it.
    pub(crate) fn within(self, signature: &str) -> String {
        match (self.line, self.doing) {
            (0, "") => format!("PL/pgSQL function {signature}"),
            (0, doing) => format!("PL/pgSQL function {signature} {doing}"),
            (line, doing) => format!("PL/pgSQL function {signature} line {line} {doing}"),
        }
    }
}
