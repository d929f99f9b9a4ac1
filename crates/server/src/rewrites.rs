//! Statements that are changed on their way to the database, so that a change of an application can be tried without
//! changing the application; and changes of the schema, made before the first of them.
//!
//! A statement is known by its shape: its text without literals. What replaces it is a text in which the parameters of the
//! shape (`$9001`, …) stand for the literals of the statement that came.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use skew_sql::error::Result;
use skew_sql::parse::shape::Shape;
use skew_sql::session::Connection;

/// A statement that is changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewrite {
    /// The shape of the statement that the client sends.
    pub from: String,
    /// Statements that run before it, in the same transaction. They take as many of its parameters as they have.
    pub before: Vec<String>,
    /// What runs instead of it.
    pub to: String,
    /// Statements that run after it, if it did not fail.
    pub after: Vec<String>,
}

impl Rewrite {
    /// Statements of this shape stay as they are, between others.
    pub fn around(shape: &Shape, before: Vec<String>, after: Vec<String>) -> Rewrite {
        Rewrite { from: shape.text.clone(), before, to: shape.text.clone(), after }
    }

    /// Something else instead of statements of this shape.
    pub fn instead(shape: &Shape, to: impl Into<String>) -> Rewrite {
        Rewrite { from: shape.text.clone(), before: Vec::new(), to: to.into(), after: Vec::new() }
    }
}

/// What is changed in a run.
#[derive(Clone, Debug, Default)]
pub struct Rewrites {
    statements: Arc<[Rewrite]>,
    schema: Arc<SchemaChange>,
}

/// Statements that change the schema, once a run.
#[derive(Debug, Default)]
struct SchemaChange {
    statements: Vec<String>,
    is_made: Mutex<bool>,
}

impl Rewrites {
    /// These statements are changed, and the schema before the first of them.
    pub fn new(statements: Vec<Rewrite>, schema: Vec<String>) -> Rewrites {
        let schema = SchemaChange { statements: schema, is_made: Mutex::default() };
        Rewrites { statements: statements.into(), schema: Arc::new(schema) }
    }

    /// Whether no statement is changed.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The same for another run, whose schema is not changed yet.
    pub fn anew(&self) -> Rewrites {
        let schema = SchemaChange { statements: self.schema.statements.clone(), is_made: Mutex::default() };
        Rewrites { statements: Arc::clone(&self.statements), schema: Arc::new(schema) }
    }
}

/// A statement that was changed.
#[derive(Debug)]
struct Rewritten {
    /// Which change it was.
    change: usize,
    /// The literals of the statement.
    literals: Vec<String>,
    /// The statement as the client sent it.
    asked: String,
}

/// The statements of one connection that are changed.
#[derive(Debug, Default)]
pub(crate) struct Rewriting {
    rewrites: Rewrites,
    /// The texts that run instead of others.
    known: HashMap<String, Rewritten>,
}

impl Rewriting {
    pub(crate) fn new(rewrites: Rewrites) -> Rewriting {
        Rewriting { rewrites, known: HashMap::new() }
    }

    /// What runs instead of a statement.
    pub(crate) fn rewritten<'a>(&mut self, sql: &'a str, connection: &Connection) -> Result<Cow<'a, str>> {
        if self.rewrites.is_empty() {
            return Ok(Cow::Borrowed(sql));
        }
        let Some(shape) = Shape::of(sql) else { return Ok(Cow::Borrowed(sql)) };
        let Some(at) = self.rewrites.statements.iter().position(|rewrite| rewrite.from == shape.text) else {
            return Ok(Cow::Borrowed(sql));
        };
        self.rewrites.schema.make(connection)?;
        let text = Shape::fill(&self.rewrites.statements[at].to, &shape.literals);
        self.known.insert(text.clone(), Rewritten { change: at, literals: shape.literals, asked: sql.to_owned() });
        Ok(Cow::Owned(text))
    }

    /// What runs before a statement that [`Rewriting::rewritten`] has given.
    pub(crate) fn before(&self, sql: &str) -> Vec<String> {
        self.beside(sql, |rewrite| &rewrite.before)
    }

    /// What runs after such a statement.
    pub(crate) fn after(&self, sql: &str) -> Vec<String> {
        self.beside(sql, |rewrite| &rewrite.after)
    }

    /// What the client sent for such a statement.
    pub(crate) fn asked<'a>(&'a self, sql: &'a str) -> &'a str {
        self.known.get(sql).map_or(sql, |rewritten| &rewritten.asked)
    }

    fn beside(&self, sql: &str, which: impl Fn(&Rewrite) -> &Vec<String>) -> Vec<String> {
        let Some(Rewritten { change, literals, .. }) = self.known.get(sql) else { return Vec::new() };
        which(&self.rewrites.statements[*change]).iter().map(|text| Shape::fill(text, literals)).collect()
    }
}

impl SchemaChange {
    /// Makes the change on a connection of its own, unless that was done in this run.
    fn make(&self, connection: &Connection) -> Result<()> {
        if self.statements.is_empty() {
            return Ok(());
        }
        let mut is_made = self.is_made.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *is_made, true) {
            return Ok(());
        }
        let mut own = connection.beside();
        for sql in &self.statements {
            let statement = own.prepare(sql, &[])?;
            own.execute(&statement, &[])?;
            own.sync()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skew_sql::session::{Client, Database, Options};

    #[test]
    fn a_statement_is_changed_and_others_are_not() {
        let connection = Database::new(Options::default()).connect(Client::new("postgres", "test"));
        let shape = Shape::of("SELECT n FROM t WHERE id = 1").expect("SQL");
        let lock = Rewrite {
            before: vec!["SELECT $9001".to_owned()],
            to: "SELECT n FROM t WHERE id = $9001 FOR UPDATE".to_owned(),
            ..Rewrite::around(&shape, Vec::new(), vec!["SELECT 2".to_owned()])
        };
        let mut rewriting = Rewriting::new(Rewrites::new(vec![lock], Vec::new()));
        let mut rewritten = |sql: &str| rewriting.rewritten(sql, &connection).expect("no schema").into_owned();
        assert_eq!(rewritten(" SELECT n FROM t WHERE id = 7;\n"), "SELECT n FROM t WHERE id = 7 FOR UPDATE");
        assert_eq!(rewritten("SELECT m FROM t"), "SELECT m FROM t");
        assert_eq!(rewriting.before("SELECT n FROM t WHERE id = 7 FOR UPDATE"), ["SELECT 7"]);
        assert_eq!(rewriting.after("SELECT n FROM t WHERE id = 7 FOR UPDATE"), ["SELECT 2"]);
        assert!(rewriting.before("SELECT n FROM t WHERE id = 7").is_empty());
        assert_eq!(
            rewriting.asked("SELECT n FROM t WHERE id = 7 FOR UPDATE"),
            " SELECT n FROM t WHERE id = 7;\n",
            "a connection is known by what its client asks"
        );
    }

    #[test]
    fn the_schema_is_changed_before_the_first_statement_once() {
        let database = Database::new(Options::default());
        let mut connection = database.connect(Client::new("postgres", "test"));
        let run = |connection: &mut Connection, sql: &str| {
            let statement = connection.prepare(sql, &[])?;
            connection.execute(&statement, &[])?;
            connection.sync()
        };
        run(&mut connection, "CREATE TABLE t (n int)").expect("a table");
        let shape = Shape::of("INSERT INTO t VALUES (1)").expect("SQL");
        let rewrites = Rewrites::new(
            vec![Rewrite::around(&shape, Vec::new(), Vec::new())],
            vec!["CREATE UNIQUE INDEX ON t (n)".to_owned()],
        );
        let mut rewriting = Rewriting::new(rewrites);
        for (expected, text) in [(true, "INSERT INTO t VALUES (7)"), (false, "INSERT INTO t VALUES (7)")] {
            let sql = rewriting.rewritten(text, &connection).expect("the index is made").into_owned();
            assert_eq!(run(&mut connection, &sql).is_ok(), expected);
            let _ = connection.sync();
        }
    }
}
