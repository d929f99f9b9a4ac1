//! The syntax tree of queries and changes of rows: what the parser makes, and nothing else.
//!
//! - here: names, and where they stand
//! - [`expr`]: expressions; [`types`]: names of types
//! - [`query`]: SELECT and what belongs to it; [`change`]: INSERT, UPDATE, DELETE, MERGE
//! - `print`: trees as SQL again; `place`: where an expression begins
//!
//! Two trees are equal if they mean the same: where they stand does not count.

mod change;
mod expr;
mod place;
mod print;
mod query;
mod types;

pub use change::{
    Assignment, AssignmentTarget, ConflictTarget, Delete, DoUpdate, Insert, Merge, MergeAction, MergeClause,
    MergeInsert, OnConflict, OnConflictAction, Overriding, Target, Update,
};
pub use expr::{
    AccessExpr, Array, BinaryOperator, CaseWhen, DuplicateTreatment, Expr, FrameExclude, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentList, FunctionArguments, Subscript, TrimWhereField, TypedString, UnaryOperator,
    Value, ValueWithSpan, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};
pub use query::{
    Cte, CteAsMaterialized, Distinct, Fetch, Join, JoinConstraint, JoinOperator, LockClause, LockStrength, LockWait,
    NamedWindowDefinition, OrderByExpr, OrderByOptions, OrderBySort, Query, Select, SelectInto, SelectItem, SetExpr,
    SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins, Values, With,
};
pub use types::{DataType, IntervalFields};

use crate::error::SqlError;

/// A query or a change of rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// SELECT, VALUES, TABLE, with WITH or without; a change of rows after WITH.
    Query(Box<Query>),
    /// INSERT
    Insert(Insert),
    /// UPDATE
    Update(Update),
    /// DELETE
    Delete(Delete),
    /// MERGE
    Merge(Merge),
}

/// Where in a statement something stands: the position in characters, from one, that errors tell; 0 is nowhere. All
/// places are equal, so that trees are compared by what they mean.
#[derive(Clone, Copy, Default, Debug)]
pub struct Span {
    /// The position.
    pub position: u32,
}

impl Span {
    /// Nowhere in the text.
    pub const fn empty() -> Span {
        Span { position: 0 }
    }

    /// The error, at this place unless it has one already.
    #[must_use]
    pub fn locate(self, error: SqlError) -> SqlError {
        match error.fields().position {
            None if self.position > 0 => error.at(self.position as usize),
            _ => error,
        }
    }

    /// This place, or the other one if this is none.
    pub(crate) fn or(self, other: impl FnOnce() -> Span) -> Span {
        if self.position == 0 { other() } else { self }
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

/// A name, folded and cut as PostgreSQL does it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The name.
    pub value: String,
    /// Whether it was written in quotes.
    pub quoted: bool,
    /// Where it stands.
    pub span: Span,
}

impl Ident {
    /// A name that no text has.
    pub fn new(value: impl Into<String>) -> Ident {
        Ident { value: value.into(), quoted: false, span: Span::empty() }
    }
}

/// The name of an object: `table`, `schema.table`, `database.schema.table`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectName(pub Vec<Ident>);

impl ObjectName {
    /// Where it stands.
    pub fn span(&self) -> Span {
        self.0.first().map_or(Span::empty(), |first| first.span)
    }

    /// Its last part, which names the object itself.
    pub fn last(&self) -> Option<&Ident> {
        self.0.last()
    }
}

impl From<Ident> for ObjectName {
    fn from(name: Ident) -> ObjectName {
        ObjectName(vec![name])
    }
}

impl From<Vec<Ident>> for ObjectName {
    fn from(parts: Vec<Ident>) -> ObjectName {
        ObjectName(parts)
    }
}
