//! What a bound statement is: names are positions, every expression has a type, every call knows its function.
//!
//! A [`Plan`] produces *tuples*: a tuple is a list of slots, one for each FROM item below the node. A slot is either a
//! reference to a row of a table, whose cells are read only when an expression looks at them, or a list of values (see
//! [`crate::exec`]). [`ExprKind::Column`] names a slot and a column in it.
//!
//! `up` counts the tuples around: the query of an [`ExprKind::Subquery`] sees the tuple that the expression is evaluated
//! on as `up = 1`, and the right side of a lateral [`Join`] sees the left side's tuple so. Nothing else puts a tuple
//! around: a query in FROM ([`Plan::Subquery`]) or a common table expression has the same `up`s as the plan it is in.

use std::sync::Arc;

use crate::catalog::builtin::Function;
use crate::catalog::{Oid, UserFunction};
use crate::system::SystemTable;
use crate::types::{Datum, RecordShape, Type, Typed};

pub use crate::parse::ast::{CteAsMaterialized, FrameExclude, LockStrength, LockWait};

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub typed: Typed,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(Datum),
    /// `$n`, from zero.
    Param(usize),
    /// A variable of a PL/pgSQL block or a parameter of a function, by its place in the frame.
    Variable(usize),
    /// A column.
    Column(ColumnRef),
    /// A whole row, as a record (or NULL for the missing side of an outer join).
    Row {
        /// How many queries further out.
        up: usize,
        /// Which slot.
        slot: usize,
        /// What its fields are called, for records that outlive the query.
        shape: Arc<RecordShape>,
    },
    /// A system column of a base table's row.
    System {
        /// How many queries further out.
        up: usize,
        /// Which slot.
        slot: usize,
        /// Which one.
        column: SystemColumn,
    },
    /// A built-in function or operator.
    Call {
        /// The overload.
        function: &'static Function,
        /// Its arguments, already of the types that it takes. Arguments of a VARIADIC parameter are one array, unless
        /// the function says that it takes any number.
        args: Vec<Expr>,
    },
    /// A user's function.
    UserCall {
        /// The function.
        function: Arc<UserFunction>,
        /// Its input arguments, defaults filled in.
        args: Vec<Expr>,
    },
    /// A conversion: to `typed` of this expression.
    Cast {
        /// What is converted.
        arg: Box<Expr>,
        /// Written by the user (`::`), which also truncates varchar(n), or found by the binder.
        explicit: bool,
    },
    /// AND of two or more.
    And(Vec<Expr>),
    /// OR of two or more.
    Or(Vec<Expr>),
    /// NOT
    Not(Box<Expr>),
    /// IS NULL; for a row: all fields are.
    IsNull(Box<Expr>),
    /// IS NOT NULL; for a row: all fields are not.
    IsNotNull(Box<Expr>),
    /// IS [NOT] TRUE / FALSE / UNKNOWN
    IsBool {
        /// The operand.
        arg: Box<Expr>,
        /// What it is compared with; `None` is UNKNOWN.
        value: Option<bool>,
        /// IS NOT
        negated: bool,
    },
    /// IS [NOT] DISTINCT FROM
    IsDistinct {
        /// The operands, of one type.
        args: Box<[Expr; 2]>,
        /// IS NOT DISTINCT
        negated: bool,
    },
    /// CASE; `CASE x WHEN y` is bound to comparisons with the operand.
    Case {
        /// Evaluated first and once: what [`ExprKind::Operand`] is in the conditions.
        operand: Option<Box<Expr>>,
        /// WHEN … THEN …
        branches: Vec<(Expr, Expr)>,
        /// ELSE
        otherwise: Option<Box<Expr>>,
    },
    /// COALESCE
    Coalesce(Vec<Expr>),
    /// NULLIF
    NullIf {
        /// The value; [`ExprKind::Operand`] in the comparison.
        value: Box<Expr>,
        /// The comparison with the other one.
        equal: Box<Expr>,
    },
    /// The value of the innermost CASE with an operand, or NULLIF, around (VALUE in a domain's CHECK).
    Operand,
    /// GREATEST and LEAST
    Extreme {
        /// The operands, of one type.
        args: Vec<Expr>,
        /// GREATEST
        greatest: bool,
    },
    /// `x IN (…)`, `x = ANY (array)`, `x < ALL (array)`
    Quantified {
        /// Left operand.
        arg: Box<Expr>,
        /// The boolean operator.
        operator: &'static Function,
        /// Right operands, each of the type that the operator takes.
        list: Quantified,
        /// ALL rather than ANY.
        all: bool,
    },
    /// `ROW(…)` or `(a, b)`
    MakeRow {
        /// The fields.
        fields: Vec<Expr>,
        /// Their names (`f1`, …) and types.
        shape: Arc<RecordShape>,
    },
    /// Comparison of two rows, field by field: `=`, `<>`, `<`, `<=`, `>`, `>=`.
    CompareRows {
        /// The operator.
        operator: RowOperator,
        /// Left fields.
        left: Vec<Expr>,
        /// Right fields, types equal to the left ones.
        right: Vec<Expr>,
    },
    /// A field of a record.
    Field {
        /// The record.
        arg: Box<Expr>,
        /// Which one, from zero.
        index: usize,
    },
    /// `ARRAY[…]`; nested ones are of array type and are flattened.
    MakeArray(Vec<Expr>),
    /// `a[1]`, `a[1][2]`, `a[2:3]`
    Subscript {
        /// The array.
        arg: Box<Expr>,
        /// One for each dimension.
        indices: Vec<Subscript>,
    },
    /// A subquery in an expression.
    Subquery {
        /// What is asked of it.
        kind: SubqueryKind,
        /// The query. It sees this query's tuple as `up = 1`.
        query: Arc<Query>,
    },
    /// `nextval('s')` and friends with a fixed sequence, from DEFAULTs of SERIAL and IDENTITY columns.
    NextValue(Oid),
    /// The default that a column or a parameter has when the expression is used. It is in what the schema keeps only:
    /// [`current`] puts the default itself in its place.
    Default(DefaultOf),
    /// An array with one element or slice replaced: `UPDATE … SET a[1] = x`.
    Replace {
        /// The array, NULL included (then a new one is made).
        arg: Box<Expr>,
        /// One for each dimension.
        indices: Vec<Subscript>,
        /// The element, or the array that fills the slice.
        value: Box<Expr>,
    },
    /// A record with one field replaced: `UPDATE … SET c.f = x`.
    ReplaceField {
        /// The record, NULL included (then a new one is made).
        arg: Box<Expr>,
        /// Which field, from zero.
        index: usize,
        /// What it gets.
        value: Box<Expr>,
        /// The fields of the record.
        shape: Arc<RecordShape>,
    },
}

/// A column of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ColumnRef {
    /// How many queries further out: 0 is this one.
    pub up: usize,
    /// Which slot of the tuple.
    pub slot: usize,
    /// Which column: for a table's row the column's position in [`crate::catalog::Table::columns`].
    pub column: usize,
}

/// What every row of a table has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SystemColumn {
    TableOid,
    Ctid,
    Xmin,
    Xmax,
    Cmin,
    Cmax,
}

/// The right side of ANY and ALL.
#[derive(Clone, Debug)]
pub enum Quantified {
    /// A list of expressions.
    List(Vec<Expr>),
    /// One array.
    Array(Box<Expr>),
}

/// How rows are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RowOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// One subscript.
#[derive(Clone, Debug)]
pub enum Subscript {
    /// `[i]`
    Index(Expr),
    /// `[from:to]`
    Slice(Option<Expr>, Option<Expr>),
}

/// What is asked of a subquery.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// Its one value; more than one row is an error.
    Scalar,
    /// Whether it has a row.
    Exists,
    /// `ARRAY(…)`
    Array,
    /// `(a, b) = ANY (…)`, `x IN (…)`, `x < ALL (…)`: compared field by field with the given operators.
    Quantified {
        /// Left fields.
        args: Vec<Expr>,
        /// An operator a field for = and <>; for ordering comparisons of several fields, `row` says which.
        operators: Vec<&'static Function>,
        /// Casts of the subquery's columns to what the operators take, if needed.
        casts: Vec<Option<Typed>>,
        /// How whole rows are compared.
        row: RowOperator,
        /// ALL rather than ANY.
        all: bool,
    },
}

/// A query: a plan whose tuples have one slot of values, and the names and types of its columns.
#[derive(Clone, Debug)]
pub struct Query {
    /// The plan.
    pub plan: Plan,
    /// Its columns.
    pub columns: Vec<Output>,
    /// Whether it looks at tuples around it, or at what depends on them. If not, it comes to the same all through a
    /// statement.
    pub correlated: bool,
}

/// A column of a result.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub typed: Typed,
    /// The table and column (attnum) that it comes from unchanged, for clients that ask.
    pub origin: Option<(Oid, i16)>,
    /// The collation that its texts have; 0 is the database's.
    pub collation: Oid,
}

/// How tuples are made.
#[derive(Clone, Debug)]
pub enum Plan {
    /// One tuple without slots.
    One,
    /// No tuple at all (a condition that is false).
    Empty {
        /// How many slots its tuples would have.
        slots: usize,
    },
    /// The rows of a table. One slot: the row.
    Scan(Scan),
    /// Rows of a catalog view that Skew makes up (`pg_class`, …). One slot.
    Virtual(&'static SystemTable),
    /// Rows of expressions. One slot.
    Values(Vec<Vec<Expr>>),
    /// The rows of a query in FROM. One slot.
    Subquery(Box<Query>),
    /// A set-returning function in FROM. One slot.
    Function(FunctionScan),
    /// The rows of a common table expression. One slot.
    Cte {
        /// Its number in the statement.
        cte: usize,
    },
    /// A join. The slots of the left side, then those of the right.
    Join(Box<Join>),
    /// Those tuples for which the condition is true.
    Filter {
        /// Whose tuples.
        input: Box<Plan>,
        /// The condition.
        condition: Expr,
    },
    /// Groups. One slot: the group keys, then the aggregates, then the values of `GROUPING(…)`.
    Aggregate(Box<Aggregate>),
    /// Adds one slot: the values of the window functions.
    Window {
        /// Whose tuples.
        input: Box<Plan>,
        /// The calls.
        calls: Vec<WindowCall>,
    },
    /// Adds one slot: the values of set-returning functions, in lockstep: as many tuples as the longest has rows, the
    /// others are NULL then; none if no function has a row. A function that gives several columns gives a record.
    ProjectSet {
        /// Whose tuples.
        input: Box<Plan>,
        /// The calls of set-returning functions. Arguments can be columns of a `ProjectSet` below.
        calls: Vec<Expr>,
    },
    /// One slot of the values of these expressions.
    Project {
        /// Whose tuples.
        input: Box<Plan>,
        /// The expressions.
        columns: Vec<Expr>,
    },
    /// Without duplicates (all columns of the one slot of values).
    Distinct(Box<Plan>),
    /// The first tuple for each value of the keys (DISTINCT ON); the input is sorted.
    DistinctOn {
        /// Whose tuples.
        input: Box<Plan>,
        /// The keys.
        keys: Vec<Expr>,
    },
    /// Sorted.
    Sort {
        /// Whose tuples.
        input: Box<Plan>,
        /// By what.
        keys: Vec<SortKey>,
    },
    /// Some of the tuples.
    Limit(Box<Limit>),
    /// UNION, INTERSECT, EXCEPT of two queries with one slot of equally typed values.
    SetOperation {
        /// Which.
        kind: SetKind,
        /// Keeps duplicates.
        all: bool,
        /// The left side.
        left: Box<Plan>,
        /// The right side.
        right: Box<Plan>,
    },
    /// The rows of these slots get locked, as FOR UPDATE asks.
    Lock {
        /// Whose tuples.
        input: Box<Plan>,
        /// The clauses.
        locks: Vec<RowLock>,
    },
    /// The slots of the input in another order: the first one is the slot with the first number, and so on.
    Arrange {
        /// Whose tuples.
        input: Box<Plan>,
        /// Each slot of the input once.
        slots: Vec<usize>,
    },
    /// A statement's common table expressions, then the query that uses them.
    With {
        /// The expressions, in order; each sees the ones before.
        ctes: Vec<Arc<Cte>>,
        /// The query.
        input: Box<Plan>,
    },
    /// The rows that a data-changing statement returns. One slot of values.
    Change(Box<Change>),
    /// Only in queries that the catalog keeps: see [`Stored`]. [`current`] takes these nodes out before a query is used.
    Stored(Box<Stored>),
}

/// What a query of the catalog has in addition: views by their number, so that a view that is replaced is replaced
/// everywhere, and how FROM was written, so that the query can be shown again.
#[derive(Clone, Debug)]
pub enum Stored {
    /// The rows of a view, materialized or not. One slot.
    View(Oid),
    /// An item of FROM, with what was written about it.
    Item {
        /// The item.
        input: Plan,
        /// The alias, if there is one.
        alias: Option<Arc<str>>,
        /// The names of its columns, if the alias gives any.
        columns: Vec<Arc<str>>,
    },
    /// A join with USING these columns.
    Using {
        /// The join.
        input: Plan,
        /// The columns.
        columns: Vec<Arc<str>>,
    },
    /// Items of FROM with a comma between them, which are joined.
    Listed(Plan),
}

/// The rows of a table.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The table.
    pub table: Oid,
    /// Which rows are looked at.
    pub access: Access,
    /// Conditions on this row alone (the row is slot 0 there: `up` as usual, one slot).
    pub filter: Option<Expr>,
    /// From the end to the beginning: the planner turns scans round instead of sorting.
    pub reverse: bool,
    /// Its rows get locked if they qualify, and are looked at again then (the planner says so).
    pub seeks: bool,
}

/// Which rows of a table a scan looks at. Bounds are expressions without columns of this row.
#[derive(Clone, Debug)]
pub enum Access {
    /// All.
    All,
    /// A range of an index (the primary key's included): equal to these values on the first keys, and then within the
    /// bounds on the next one.
    Index {
        /// The index.
        index: Oid,
        /// What the first keys are equal to. A row is found once, and rows come in the order of the index, also where a
        /// key has alternatives. NULL finds nothing, except for `KeyValue::Null`.
        equal: Vec<KeyValue>,
        /// Lower bound of the next key: value, inclusive.
        from: Option<(Expr, bool)>,
        /// Upper bound of the next key: value, inclusive.
        to: Option<(Expr, bool)>,
    },
}

/// What a key of an index is equal to. Values are of the key's type.
#[derive(Clone, Debug)]
pub enum KeyValue {
    /// One value.
    One(Expr),
    /// Any of these.
    Any(Vec<Expr>),
    /// Any item of an array.
    Array(Expr),
    /// IS NULL
    Null,
}

/// A function in FROM.
#[derive(Clone, Debug)]
pub struct FunctionScan {
    /// The calls (several for ROWS FROM), each a call of a function or any expression (then one row).
    pub calls: Vec<FunctionCall>,
    /// WITH ORDINALITY
    pub ordinality: bool,
}

/// One function of a [`FunctionScan`].
#[derive(Clone, Debug)]
pub struct FunctionCall {
    /// The call.
    pub call: Expr,
    /// The names and types of the columns that it gives.
    pub columns: Vec<(Arc<str>, Typed)>,
    /// It gives rows or records, whose fields are the columns; else one column with its value.
    pub expand: bool,
}

/// A join.
#[derive(Clone, Debug)]
pub struct Join {
    /// Which.
    pub kind: JoinKind,
    /// The left side.
    pub left: Plan,
    /// The right side.
    pub right: Plan,
    /// The condition, over the slots of both.
    pub on: Option<Expr>,
    /// The right side sees the left one's tuple as `up = 1`; what is further out is one more up. Also how the planner
    /// says that the right side is looked up by an index for each tuple of the left one.
    pub lateral: bool,
    /// How many slots each side has: a missing side of an outer join is so many missing slots.
    pub slots: (usize, usize),
    /// Pairs of expressions over the left and over the right side (there its slots count from 0) whose equality the
    /// condition implies, found by the planner: then the join hashes.
    pub equal: Vec<(Expr, Expr)>,
}

/// Which join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
}

/// GROUP BY.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Whose tuples.
    pub input: Plan,
    /// The keys.
    pub keys: Vec<Expr>,
    /// The grouping sets, as positions of keys; plain GROUP BY has one with all. Without keys and sets there is one group
    /// even of no tuples.
    pub sets: Vec<Vec<usize>>,
    /// The aggregates.
    pub calls: Vec<AggregateCall>,
    /// `GROUPING(…)`: positions of keys; an int4 whose bits (the last key's lowest) say which of them the grouping set
    /// leaves out. These values follow those of the aggregates.
    pub grouping: Vec<Vec<usize>>,
    /// The primary keys, by their indexes, that let columns which are no keys of the groups stand beside the groups.
    pub primary_keys: Vec<Oid>,
}

/// An aggregate.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    /// Which one.
    pub function: &'static Function,
    /// Its arguments; none for `count(*)`. With WITHIN GROUP the direct arguments, then those of its ORDER BY.
    pub args: Vec<Expr>,
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY inside of the call, or WITHIN GROUP.
    pub order: Vec<SortKey>,
    /// FILTER (WHERE …)
    pub filter: Option<Expr>,
    /// Its type.
    pub typed: Typed,
}

/// A window function.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// An aggregate or a window function.
    pub function: &'static Function,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// FILTER
    pub filter: Option<Expr>,
    /// PARTITION BY
    pub partition: Vec<Expr>,
    /// ORDER BY
    pub order: Vec<SortKey>,
    /// The frame.
    pub frame: Frame,
    /// The name in WINDOW of the window that OVER names.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub typed: Typed,
}

/// The frame of a window.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Frame {
    pub mode: FrameMode,
    pub start: FrameBound,
    pub end: FrameBound,
    pub exclude: FrameExclude,
}

/// What a frame counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FrameMode {
    Rows,
    Range,
    Groups,
}

/// Where a frame begins or ends.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// A sort key.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// By what.
    pub expr: Expr,
    /// DESC
    pub descending: bool,
    /// NULLS FIRST
    pub nulls_first: bool,
}

/// LIMIT and OFFSET.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Whose tuples.
    pub input: Plan,
    /// How many; NULL is all.
    pub limit: Option<Expr>,
    /// How many are left out first.
    pub offset: Option<Expr>,
    /// WITH TIES: also those that are equal to the last one by these keys.
    pub ties: Vec<SortKey>,
}

/// A set operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SetKind {
    Union,
    Intersect,
    Except,
}

/// FOR UPDATE and its kind.
#[derive(Clone, Debug)]
pub struct RowLock {
    /// The slots whose rows are locked.
    pub slots: Vec<usize>,
    /// How strongly.
    pub strength: LockStrength,
    /// What happens when somebody holds it.
    pub wait: LockWait,
}

/// A common table expression.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Its number in the statement.
    pub number: usize,
    /// Its name.
    pub name: Arc<str>,
    /// Its query; of a recursive one the part that does not refer to itself.
    pub query: Query,
    /// The part that does (reading [`Plan::Cte`] with this number gives the rows of the last round), and UNION rather
    /// than UNION ALL.
    pub recursive: Option<(Query, bool)>,
    /// How it was written.
    pub written: CteWritten,
}

/// What was written about a common table expression, which matters where it is shown.
#[derive(Clone, Default, Debug)]
pub struct CteWritten {
    /// What the columns are called in the query itself that have a name after the expression's.
    pub renamed: Vec<Arc<str>>,
    /// [NOT] MATERIALIZED
    pub materialized: Option<CteAsMaterialized>,
}

/// INSERT, UPDATE, DELETE, MERGE.
#[derive(Clone, Debug)]
pub enum Change {
    /// INSERT
    Insert(Insert),
    /// UPDATE
    Update(Update),
    /// DELETE
    Delete(Delete),
    /// MERGE
    Merge(Merge),
}

impl Change {
    /// The view that is named, if one is.
    pub fn through(&self) -> Option<&ViewTarget> {
        match self {
            Change::Insert(insert) => insert.through.as_ref(),
            Change::Update(update) => update.through.as_ref(),
            Change::Delete(delete) => delete.through.as_ref(),
            Change::Merge(_) => None,
        }
    }
}

/// What has a default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefaultOf {
    /// A column of a table.
    Column(Oid, usize),
    /// A parameter of a function.
    Parameter(Oid, usize),
}

/// INSERT. The source gives one slot of values, one for each column in `columns`.
#[derive(Clone, Debug)]
pub struct Insert {
    /// The table.
    pub table: Oid,
    /// The positions of the columns that the source gives.
    pub columns: Vec<usize>,
    /// What is inserted.
    pub source: Plan,
    /// Defaults of the other columns (generated ones not included), evaluated for each row.
    pub defaults: Vec<(usize, Expr)>,
    /// ON CONFLICT
    pub on_conflict: Option<OnConflict>,
    /// RETURNING: over one slot, the new row.
    pub returning: Option<Returning>,
    /// WITH CHECK OPTION of the view that is inserted into.
    pub checks: Vec<RowCheck>,
    /// The view that is named.
    pub through: Option<ViewTarget>,
}

/// The view that a statement names where it changes the table behind it. The statement is about the table; this is kept
/// where the catalog keeps the statement.
#[derive(Clone, Debug)]
pub struct ViewTarget {
    /// The view that is named, and those below it that lead to the table.
    pub views: Vec<Oid>,
    /// For each column of the view that is named, the table's column that it is.
    pub columns: Vec<Option<usize>>,
}

/// What a new row has to be, because of WITH CHECK OPTION.
#[derive(Clone, Debug)]
pub struct RowCheck {
    /// The view.
    pub view: Arc<str>,
    /// Its condition, over the new row in slot 0.
    pub condition: Expr,
}

/// ON CONFLICT.
#[derive(Clone, Debug)]
pub struct OnConflict {
    /// The unique indexes that arbitrate; all if empty (only for DO NOTHING).
    pub arbiters: Vec<Oid>,
    /// DO UPDATE SET …; `None` is DO NOTHING. Slot 0 is the existing row, slot 1 `excluded`.
    pub update: Option<(Vec<Assignment>, Option<Expr>)>,
}

/// `column = expression`
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The column's position.
    pub column: usize,
    /// What it gets; of the column's type.
    pub value: Expr,
}

/// RETURNING.
#[derive(Clone, Debug)]
pub struct Returning {
    /// The values.
    pub values: Vec<Expr>,
    /// Names and types.
    pub columns: Vec<Output>,
}

/// UPDATE. The input's slot 0 is the row of the table, the others are FROM's.
#[derive(Clone, Debug)]
pub struct Update {
    /// The table.
    pub table: Oid,
    /// The rows: joins and WHERE.
    pub input: Plan,
    /// SET
    pub assignments: Vec<Assignment>,
    /// RETURNING: over the slots of the input, with the new row in slot 0.
    pub returning: Option<Returning>,
    /// WITH CHECK OPTION of the view that is updated.
    pub checks: Vec<RowCheck>,
    /// The view that is named.
    pub through: Option<ViewTarget>,
}

/// DELETE. The input as with [`Update`].
#[derive(Clone, Debug)]
pub struct Delete {
    /// The table.
    pub table: Oid,
    /// The rows.
    pub input: Plan,
    /// RETURNING: over the slots of the input, with the old row in slot 0.
    pub returning: Option<Returning>,
    /// The view that is named.
    pub through: Option<ViewTarget>,
}

/// MERGE. The input's slot 0 is the row of the table (or missing), the others are the source's.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The table.
    pub table: Oid,
    /// A right join of the table with the source.
    pub input: Plan,
    /// WHEN clauses in order.
    pub clauses: Vec<MergeClause>,
}

/// A WHEN clause.
#[derive(Clone, Debug)]
pub struct MergeClause {
    /// WHEN MATCHED rather than NOT MATCHED.
    pub matched: bool,
    /// AND …
    pub condition: Option<Expr>,
    /// What is done.
    pub action: MergeAction,
}

/// What a WHEN clause does.
#[derive(Clone, Debug)]
pub enum MergeAction {
    /// DO NOTHING
    Nothing,
    /// DELETE
    Delete,
    /// UPDATE SET
    Update(Vec<Assignment>),
    /// INSERT: every column that gets a value, defaults included.
    Insert(Vec<Assignment>),
}

impl Expr {
    /// An expression of a type without modifier.
    pub fn new(kind: ExprKind, ty: Type) -> Expr {
        Expr { kind, typed: ty.into() }
    }

    /// A constant.
    pub fn constant(value: Datum, ty: Type) -> Expr {
        Expr::new(ExprKind::Const(value), ty)
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        self.typed.ty
    }
}
