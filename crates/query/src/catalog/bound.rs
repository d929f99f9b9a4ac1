//! Bound expressions and queries as objects of the catalog keep them, with what they use; see [`crate::ir::stored`].

use crate::catalog::Oid;
use crate::catalog::tree::{Expr, Query};

/// What an expression or a query uses: without it, it means nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dependency {
    /// A table, view or sequence.
    Relation(Oid),
    /// A column of a table or view, by its position.
    Column(Oid, usize),
    /// A function.
    Function(Oid),
    /// A type, or the array over it.
    Type(Oid),
    /// A function or operator of an extension.
    Member(Oid),
    /// A field of a composite type, by its position.
    Field(Oid, usize),
    /// A collation that COLLATE names.
    Collation(Oid),
    /// The primary key, by its index, that lets columns stand beside GROUP BY.
    PrimaryKey(Oid),
}

/// A bound expression of the schema.
#[derive(Clone, Debug)]
pub struct StoredExpr {
    /// The expression. Functions and labels in it are those of the time when it was made: see [`crate::ir::current`].
    pub expr: Expr,
    /// What it uses, each once.
    pub uses: Vec<Dependency>,
}

/// A bound query of the schema.
#[derive(Clone, Debug)]
pub struct StoredQuery {
    /// The query.
    pub query: Query,
    /// How many common table expressions it has.
    pub ctes: usize,
    /// What it uses, each once.
    pub uses: Vec<Dependency>,
}
