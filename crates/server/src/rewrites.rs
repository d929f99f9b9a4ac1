//! Statements that are changed on their way to the database, so that a change of an application can be tried without
//! changing the application.

use std::borrow::Cow;
use std::sync::Arc;

/// A statement that is changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewrite {
    /// The statement as the client sends it.
    pub from: String,
    /// Statements that run before it, in the same transaction. They take as many of its parameters as they have.
    pub before: Vec<String>,
    /// What runs instead of it.
    pub to: String,
    /// Statements that run after it, if it did not fail.
    pub after: Vec<String>,
}

/// The statements that are changed in a run.
#[derive(Clone, Debug, Default)]
pub struct Rewrites(Arc<[Rewrite]>);

impl Rewrites {
    /// These statements are changed.
    pub fn new(rewrites: Vec<Rewrite>) -> Rewrites {
        Rewrites(rewrites.into())
    }

    /// Whether no statement is changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What runs instead of a statement.
    pub(crate) fn rewritten<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        match self.0.iter().find(|rewrite| is_same(&rewrite.from, sql)) {
            Some(rewrite) => Cow::Owned(rewrite.to.clone()),
            None => Cow::Borrowed(sql),
        }
    }

    /// What runs before a statement that [`Rewrites::rewritten`] has given.
    pub(crate) fn before(&self, sql: &str) -> Vec<String> {
        let before = self.0.iter().find(|rewrite| is_same(&rewrite.to, sql));
        before.map_or_else(Vec::new, |rewrite| rewrite.before.clone())
    }

    /// What runs after such a statement.
    pub(crate) fn after(&self, sql: &str) -> Vec<String> {
        let after = self.0.iter().find(|rewrite| is_same(&rewrite.to, sql));
        after.map_or_else(Vec::new, |rewrite| rewrite.after.clone())
    }
}

/// Whether two texts are the same statement: all but the space and the semicolon around it counts.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |text: &str| text.trim_matches(|c: char| c.is_whitespace() || c == ';').to_owned();
    bare(one) == bare(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_changed_and_others_are_not() {
        let lock = Rewrite {
            from: "SELECT n FROM t".to_owned(),
            before: vec!["SELECT 1".to_owned()],
            to: "SELECT n FROM t FOR UPDATE".to_owned(),
            after: vec!["SELECT 2".to_owned()],
        };
        let rewrites = Rewrites::new(vec![lock]);
        assert_eq!(rewrites.rewritten(" SELECT n FROM t;\n"), "SELECT n FROM t FOR UPDATE");
        assert_eq!(rewrites.rewritten("SELECT m FROM t"), "SELECT m FROM t");
        assert_eq!(rewrites.before("SELECT n FROM t FOR UPDATE"), ["SELECT 1"]);
        assert_eq!(rewrites.after("SELECT n FROM t FOR UPDATE"), ["SELECT 2"]);
        assert!(rewrites.before("SELECT n FROM t").is_empty());
    }
}
