//! SELECT and what belongs to it.

use super::{DataType, Expr, FunctionArg, Ident, ObjectName, Span, Statement, WindowSpec};

/// A query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// WITH
    pub with: Option<With>,
    /// What gives the rows.
    pub body: Box<SetExpr>,
    /// ORDER BY
    pub order_by: Vec<OrderByExpr>,
    /// LIMIT
    pub limit: Option<Expr>,
    /// OFFSET
    pub offset: Option<Expr>,
    /// FETCH FIRST
    pub fetch: Option<Fetch>,
    /// FOR UPDATE and its kind.
    pub locks: Vec<LockClause>,
}

impl Query {
    /// A query of this body and nothing else.
    pub fn bare(body: Box<SetExpr>) -> Query {
        Query { with: None, body, order_by: Vec::new(), limit: None, offset: None, fetch: None, locks: Vec::new() }
    }

    /// Whether LIMIT, OFFSET or FETCH is there.
    pub fn is_limited(&self) -> bool {
        self.limit.is_some() || self.offset.is_some() || self.fetch.is_some()
    }
}

/// WITH
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct With {
    /// RECURSIVE
    pub recursive: bool,
    /// The named queries.
    pub cte_tables: Vec<Cte>,
}

/// A named query of WITH.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cte {
    /// Its name, and those of its columns.
    pub alias: TableAlias,
    /// The query, or the change of rows.
    pub query: Box<Query>,
    /// [NOT] MATERIALIZED
    pub materialized: Option<CteAsMaterialized>,
}

/// [NOT] MATERIALIZED
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum CteAsMaterialized {
    Materialized,
    NotMaterialized,
}

/// What gives the rows of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SetExpr {
    /// SELECT
    Select(Box<Select>),
    /// A query in parentheses.
    Query(Box<Query>),
    /// UNION, INTERSECT, EXCEPT
    SetOperation {
        /// Which.
        op: SetOperator,
        /// ALL, DISTINCT
        set_quantifier: SetQuantifier,
        /// The left side.
        left: Box<SetExpr>,
        /// The right side.
        right: Box<SetExpr>,
    },
    /// VALUES
    Values(Values),
    /// A change of rows, in WITH or after it.
    Change(Box<Statement>),
}

/// UNION, INTERSECT, EXCEPT
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SetOperator {
    Union,
    Except,
    Intersect,
}

/// What a set operation does with equal rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetQuantifier {
    /// ALL
    All,
    /// DISTINCT, written out
    Distinct,
    /// Nothing is said: DISTINCT.
    None,
}

/// VALUES
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// The rows.
    pub rows: Vec<Vec<Expr>>,
}

/// SELECT
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Select {
    /// Where the word SELECT stands.
    pub span: Span,
    /// DISTINCT
    pub distinct: Option<Distinct>,
    /// What is selected.
    pub projection: Vec<SelectItem>,
    /// INTO
    pub into: Option<SelectInto>,
    /// FROM
    pub from: Vec<TableWithJoins>,
    /// WHERE
    pub selection: Option<Expr>,
    /// GROUP BY
    pub group_by: Vec<Expr>,
    /// HAVING
    pub having: Option<Expr>,
    /// WINDOW
    pub named_window: Vec<NamedWindowDefinition>,
}

/// DISTINCT
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Distinct {
    /// Of all columns.
    Distinct,
    /// DISTINCT ON
    On(Vec<Expr>),
}

/// An item of a select list or of RETURNING.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SelectItem {
    /// An expression without a name.
    UnnamedExpr(Expr),
    /// `expr AS alias`
    ExprWithAlias {
        /// The expression.
        expr: Expr,
        /// Its name.
        alias: Ident,
    },
    /// `t.*`
    QualifiedWildcard(ObjectName),
    /// `(record).*`
    RecordWildcard(Expr),
    /// `*`
    Wildcard,
}

/// SELECT … INTO
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SelectInto {
    /// TEMPORARY
    pub temporary: bool,
    /// UNLOGGED
    pub unlogged: bool,
    /// The new table.
    pub name: ObjectName,
}

/// `name AS (…)` of WINDOW.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedWindowDefinition(pub Ident, pub WindowSpec);

/// A key of ORDER BY.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderByExpr {
    /// By what.
    pub expr: Expr,
    /// In which direction.
    pub options: OrderByOptions,
}

/// The direction of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderByOptions {
    /// ASC, DESC
    pub sort: Option<OrderBySort>,
    /// NULLS FIRST, NULLS LAST
    pub nulls_first: Option<bool>,
}

/// ASC, DESC
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum OrderBySort {
    Asc,
    Desc,
}

/// FETCH FIRST
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fetch {
    /// WITH TIES
    pub with_ties: bool,
    /// How many; one if not said.
    pub quantity: Option<Expr>,
}

/// FOR UPDATE and its kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockClause {
    /// How strongly.
    pub strength: LockStrength,
    /// OF: names of FROM items; all if empty.
    pub of: Vec<Ident>,
    /// NOWAIT, SKIP LOCKED
    pub wait: LockWait,
}

/// How strongly a row is locked; each excludes what PostgreSQL's table of row locks says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum LockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// What a statement does when another transaction holds a lock that it asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LockWait {
    Block,
    NoWait,
    SkipLocked,
}

/// An item of FROM, and what is joined to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableWithJoins {
    /// The first one.
    pub relation: TableFactor,
    /// The joins, from left to right.
    pub joins: Vec<Join>,
}

/// What rows are taken from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TableFactor {
    /// A table or view, or a name of WITH.
    Table {
        /// Its name.
        name: ObjectName,
        /// What it is called here.
        alias: Option<TableAlias>,
    },
    /// A subquery.
    Derived {
        /// LATERAL
        lateral: bool,
        /// The query.
        subquery: Box<Query>,
        /// What it is called.
        alias: Option<TableAlias>,
    },
    /// A function.
    Function {
        /// LATERAL
        lateral: bool,
        /// The function.
        name: ObjectName,
        /// Its arguments.
        args: Vec<FunctionArg>,
        /// WITH ORDINALITY
        with_ordinality: bool,
        /// What it is called here.
        alias: Option<TableAlias>,
    },
    /// `ROWS FROM (call, …)`; also a single call with a syntax of its own, like CAST.
    RowsFrom {
        /// LATERAL
        lateral: bool,
        /// The calls.
        calls: Vec<Expr>,
        /// WITH ORDINALITY
        with_ordinality: bool,
        /// What they are called here.
        alias: Option<TableAlias>,
    },
    /// A join in parentheses.
    NestedJoin {
        /// The join.
        table_with_joins: Box<TableWithJoins>,
        /// What it is called.
        alias: Option<TableAlias>,
    },
}

/// `AS name (columns)`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableAlias {
    /// The name.
    pub name: Ident,
    /// Its columns.
    pub columns: Vec<TableAliasColumnDef>,
}

/// A column of an alias.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableAliasColumnDef {
    /// Its name.
    pub name: Ident,
    /// Its type, where a function gives records.
    pub data_type: Option<DataType>,
}

/// A join: its right side and how it is joined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Join {
    /// The right side.
    pub relation: TableFactor,
    /// Which rows stay.
    pub join_operator: JoinOperator,
    /// Which rows belong together.
    pub constraint: JoinConstraint,
}

/// Which rows of a join stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum JoinOperator {
    Inner,
    LeftOuter,
    RightOuter,
    FullOuter,
    Cross,
}

/// Which rows of a join belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JoinConstraint {
    /// ON
    On(Expr),
    /// USING
    Using(Vec<Ident>),
    /// NATURAL
    Natural,
    /// CROSS: all.
    None,
}
