//! Which connection of a rerun is which one of the run that is repeated.
//!
//! Threads connect in another order every time. So a connection is known by the first statement that asks something of the
//! application's data, by its text or else by its shape, and among those that begin alike by the order in which they come. Until
//! then it has no name that another run knows, waits for nothing, and its turns do not count.

use std::collections::BTreeMap;
use std::sync::Arc;

use skew_sql::parse::ast::{Expr, Query, SelectItem, SetExpr, Statement as Tree};
use skew_sql::parse::shape::Shape;
use skew_sql::parse::{self, Statement};

/// Names of connections that nothing is known of yet begin here.
const NAMELESS: u32 = 1 << 20;

/// The connections of a run by their first statement, and in a rerun those of the run that is repeated.
#[derive(Debug, Default)]
pub(super) struct Identities {
    /// The first statements of the run that is repeated, by name; empty in every other run.
    known: BTreeMap<u32, Arc<str>>,
    /// Those of this run.
    own: BTreeMap<u32, Arc<str>>,
}

impl Identities {
    /// Those of a run that repeats another one, with its connections by their first statement.
    pub(super) fn again(known: &BTreeMap<u32, Arc<str>>) -> Identities {
        Identities { known: known.clone(), own: BTreeMap::new() }
    }

    /// The name of a connection that has just come.
    pub(super) fn first_name(&self, id: u64) -> u32 {
        match self.known.is_empty() {
            true => id as u32,
            false => NAMELESS + id as u32,
        }
    }

    /// The name of a connection by its first statement about data; `None` if that does not tell yet.
    pub(super) fn name(&mut self, id: u64, sql: &str) -> Option<u32> {
        if !tells(sql) {
            return None;
        }
        let free = |name: &&u32| !self.own.contains_key(*name);
        let shape = |sql: &str| Shape::of(sql).map(|shape| shape.text);
        let alike = |text: &str| text == sql || shape(text) == shape(sql);
        let exact = self.known.iter().filter(|(_, text)| &***text == sql).map(|(name, _)| name).find(free);
        let found =
            exact.or_else(|| self.known.iter().filter(|(_, text)| alike(text)).map(|(name, _)| name).find(free));
        let name = found.copied().unwrap_or_else(|| self.first_name(id));
        self.own.insert(name, Arc::from(sql));
        Some(name)
    }

    /// The connections of this run by their first statement.
    pub(super) fn own(&self) -> &BTreeMap<u32, Arc<str>> {
        &self.own
    }
}

/// Functions that drivers call when they connect.
const OF_SESSIONS: [&str; 7] = [
    "current_database",
    "current_schema",
    "current_setting",
    "pg_backend_pid",
    "pg_is_in_recovery",
    "set_config",
    "version",
];

/// Whether a statement asks something of the application's data or schema.
fn tells(sql: &str) -> bool {
    match parse::statement(sql) {
        Ok(Some(Statement::Sql(tree))) => match *tree {
            Tree::Query(query) => !is_of_session(&query),
            _ => true,
        },
        Ok(Some(
            Statement::Schema(_)
            | Statement::Call(_)
            | Statement::Do { .. }
            | Statement::Copy(_)
            | Statement::Execute { .. },
        )) => true,
        _ => false,
    }
}

/// Whether a query is about the session alone: no table, and nothing but literals and what drivers ask.
fn is_of_session(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    let is_about_session = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => match expr {
            Expr::Value(_) => true,
            Expr::Function(function) => {
                function.name.last().is_some_and(|name| OF_SESSIONS.contains(&name.value.as_str()))
            }
            _ => false,
        },
        _ => false,
    };
    select.from.is_empty() && select.projection.iter().all(is_about_session)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(known: &[&str], comes: &[&str]) -> Vec<Option<u32>> {
        let known = (0..).zip(known.iter().map(|text| Arc::from(*text))).collect();
        let mut identities = Identities::again(&known);
        (7..).zip(comes).map(|(id, sql)| identities.name(id, sql)).collect()
    }

    #[test]
    fn a_connection_is_known_by_its_first_statement() {
        let known = ["SELECT a FROM t WHERE id = 1", "SELECT b FROM t"];
        assert_eq!(
            named(&known, &["BEGIN", "SELECT b FROM t", "SELECT a FROM t WHERE id = 2"]),
            [None, Some(1), Some(0)]
        );
    }

    #[test]
    fn those_that_begin_alike_are_taken_by_their_text_and_then_as_they_come() {
        let known = ["SELECT a FROM t WHERE id = 1", "SELECT a FROM t WHERE id = 2", "SELECT a FROM t WHERE id = 1"];
        let comes = ["SELECT a FROM t WHERE id = 2", "SELECT a FROM t WHERE id = 1", "SELECT a FROM t WHERE id = 9"];
        assert_eq!(named(&known, &comes), [Some(1), Some(0), Some(2)]);
        assert_eq!(named(&["SELECT a FROM t"], &["DELETE FROM t"]), [Some(NAMELESS + 7)]);
    }

    #[test]
    fn what_drivers_ask_does_not_tell() {
        for sql in ["BEGIN", "SET x = 1", "SELECT 1", "SELECT pg_catalog.version()", "SHOW x", "ROLLBACK", "not SQL"] {
            assert!(!tells(sql), "{sql}");
        }
        for sql in ["SELECT transfer(1, 2)", "CALL f()", "TABLE t", "INSERT INTO t VALUES (1)", "CREATE TABLE t ()"] {
            assert!(tells(sql), "{sql}");
        }
    }
}
