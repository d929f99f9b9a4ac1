//! INSERT, UPDATE, DELETE, MERGE.

use super::{AccessExpr, Expr, Ident, ObjectName, Query, SelectItem, TableAlias, TableFactor, TableWithJoins};

/// The table that UPDATE, DELETE or MERGE changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Its name.
    pub name: ObjectName,
    /// What it is called here.
    pub alias: Option<TableAlias>,
}

/// INSERT
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Insert {
    /// The table.
    pub table: ObjectName,
    /// What it is called here.
    pub table_alias: Option<Ident>,
    /// Its columns; all if empty.
    pub columns: Vec<Ident>,
    /// OVERRIDING
    pub overriding: Option<Overriding>,
    /// The rows; DEFAULT VALUES without.
    pub source: Option<Box<Query>>,
    /// ON CONFLICT
    pub on: Option<OnConflict>,
    /// RETURNING
    pub returning: Option<Vec<SelectItem>>,
}

/// OVERRIDING of an INSERT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overriding {
    /// OVERRIDING SYSTEM VALUE
    System,
    /// OVERRIDING USER VALUE
    User,
}

/// ON CONFLICT
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnConflict {
    /// The constraint or index; any if not said.
    pub conflict_target: Option<ConflictTarget>,
    /// What is done then.
    pub action: OnConflictAction,
}

/// What ON CONFLICT names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConflictTarget {
    /// The columns and expressions of an index.
    Keys {
        /// The columns and expressions.
        keys: Vec<Expr>,
        /// The WHERE of a partial index.
        predicate: Option<Expr>,
    },
    /// ON CONSTRAINT
    Constraint(Ident),
}

/// What ON CONFLICT does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OnConflictAction {
    /// DO NOTHING
    DoNothing,
    /// DO UPDATE
    DoUpdate(DoUpdate),
}

/// DO UPDATE
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DoUpdate {
    /// SET
    pub assignments: Vec<Assignment>,
    /// WHERE
    pub selection: Option<Expr>,
}

/// `column = value` of SET.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// What is set.
    pub target: AssignmentTarget,
    /// To what.
    pub value: Expr,
}

/// What an assignment sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AssignmentTarget {
    /// A column, or a part of it: `a`, `a[1]`, `a.f`.
    Column {
        /// The column.
        name: Ident,
        /// The steps to the part: fields and subscripts.
        part: Vec<AccessExpr>,
    },
    /// Several columns, from a row or a subquery.
    Tuple(Vec<Ident>),
}

impl AssignmentTarget {
    /// The columns.
    pub fn columns(&self) -> &[Ident] {
        match self {
            AssignmentTarget::Column { name, .. } => std::slice::from_ref(name),
            AssignmentTarget::Tuple(names) => names,
        }
    }
}

/// UPDATE
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Update {
    /// The table.
    pub table: Target,
    /// SET
    pub assignments: Vec<Assignment>,
    /// FROM
    pub from: Vec<TableWithJoins>,
    /// WHERE
    pub selection: Option<Expr>,
    /// RETURNING
    pub returning: Option<Vec<SelectItem>>,
}

/// DELETE
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delete {
    /// The table.
    pub table: Target,
    /// USING
    pub using: Vec<TableWithJoins>,
    /// WHERE
    pub selection: Option<Expr>,
    /// RETURNING
    pub returning: Option<Vec<SelectItem>>,
}

/// MERGE
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merge {
    /// The table.
    pub table: Target,
    /// USING
    pub source: TableFactor,
    /// ON
    pub on: Box<Expr>,
    /// WHEN
    pub clauses: Vec<MergeClause>,
}

/// WHEN of a MERGE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeClause {
    /// WHEN MATCHED, rather than WHEN NOT MATCHED.
    pub matched: bool,
    /// AND
    pub predicate: Option<Expr>,
    /// THEN
    pub action: MergeAction,
}

/// What a clause of MERGE does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergeAction {
    /// DO NOTHING
    DoNothing,
    /// DELETE
    Delete,
    /// UPDATE SET
    Update(Vec<Assignment>),
    /// INSERT
    Insert(MergeInsert),
}

/// INSERT of a MERGE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeInsert {
    /// The columns; all if empty.
    pub columns: Vec<Ident>,
    /// VALUES; DEFAULT VALUES if empty.
    pub values: Vec<Expr>,
}
