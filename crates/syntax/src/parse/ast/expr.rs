//! Expressions.

use super::{DataType, Ident, ObjectName, OrderByExpr, Query, Span};

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A column, a variable.
    Identifier(Ident),
    /// A name with several parts.
    CompoundIdentifier(Vec<Ident>),
    /// `t.*` as an argument or an item.
    QualifiedWildcard(ObjectName),
    /// Fields and subscripts of a value.
    CompoundFieldAccess {
        /// The value.
        root: Box<Expr>,
        /// What is taken of it, one after the other.
        access_chain: Vec<AccessExpr>,
    },
    /// A literal or a parameter.
    Value(ValueWithSpan),
    /// `type 'text'`
    TypedString(TypedString),
    /// In parentheses.
    Nested(Box<Expr>),
    /// The word DEFAULT, in VALUES and SET.
    Default(Span),
    /// WHERE CURRENT OF a cursor.
    CurrentOf(Ident),
    /// `op expr`
    UnaryOp {
        /// The operator.
        op: UnaryOperator,
        /// The operand.
        expr: Box<Expr>,
    },
    /// `left op right`
    BinaryOp {
        /// The left operand.
        left: Box<Expr>,
        /// The operator.
        op: BinaryOperator,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `left op ANY (right)`
    AnyOp {
        /// The left operand.
        left: Box<Expr>,
        /// The operator.
        compare_op: BinaryOperator,
        /// An array or a subquery.
        right: Box<Expr>,
    },
    /// `left op ALL (right)`
    AllOp {
        /// The left operand.
        left: Box<Expr>,
        /// The operator.
        compare_op: BinaryOperator,
        /// An array or a subquery.
        right: Box<Expr>,
    },
    /// IS NULL
    IsNull(Box<Expr>),
    /// IS NOT NULL
    IsNotNull(Box<Expr>),
    /// IS TRUE
    IsTrue(Box<Expr>),
    /// IS NOT TRUE
    IsNotTrue(Box<Expr>),
    /// IS FALSE
    IsFalse(Box<Expr>),
    /// IS NOT FALSE
    IsNotFalse(Box<Expr>),
    /// IS UNKNOWN
    IsUnknown(Box<Expr>),
    /// IS NOT UNKNOWN
    IsNotUnknown(Box<Expr>),
    /// IS DISTINCT FROM
    IsDistinctFrom(Box<Expr>, Box<Expr>),
    /// IS NOT DISTINCT FROM
    IsNotDistinctFrom(Box<Expr>, Box<Expr>),
    /// `expr [NOT] IN (list)`
    InList {
        /// What is looked for.
        expr: Box<Expr>,
        /// Where.
        list: Vec<Expr>,
        /// NOT
        negated: bool,
    },
    /// `expr [NOT] IN (query)`
    InSubquery {
        /// What is looked for.
        expr: Box<Expr>,
        /// Where.
        subquery: Box<Query>,
        /// NOT
        negated: bool,
    },
    /// `expr [NOT] BETWEEN low AND high`
    Between {
        /// What is compared.
        expr: Box<Expr>,
        /// NOT
        negated: bool,
        /// The least value.
        low: Box<Expr>,
        /// The greatest value.
        high: Box<Expr>,
    },
    /// LIKE
    Like {
        /// NOT
        negated: bool,
        /// The text.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// ESCAPE
        escape_char: Option<Box<Expr>>,
    },
    /// ILIKE
    ILike {
        /// NOT
        negated: bool,
        /// The text.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// ESCAPE
        escape_char: Option<Box<Expr>>,
    },
    /// SIMILAR TO
    SimilarTo {
        /// NOT
        negated: bool,
        /// The text.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// ESCAPE
        escape_char: Option<Box<Expr>>,
    },
    /// `expr::type`, `CAST(expr AS type)`
    Cast {
        /// The value.
        expr: Box<Expr>,
        /// Its new type.
        data_type: DataType,
    },
    /// AT TIME ZONE
    AtTimeZone {
        /// The time.
        timestamp: Box<Expr>,
        /// The zone.
        time_zone: Box<Expr>,
    },
    /// COLLATE
    Collate {
        /// The text.
        expr: Box<Expr>,
        /// The collation.
        collation: ObjectName,
    },
    /// `EXTRACT(field FROM expr)`
    Extract {
        /// The field.
        field: Ident,
        /// The time.
        expr: Box<Expr>,
    },
    /// `POSITION(expr IN in)`
    Position {
        /// What is looked for.
        expr: Box<Expr>,
        /// Where.
        r#in: Box<Expr>,
    },
    /// `SUBSTRING(expr FROM … FOR …)`
    Substring {
        /// The text.
        expr: Box<Expr>,
        /// FROM
        substring_from: Option<Box<Expr>>,
        /// FOR
        substring_for: Option<Box<Expr>>,
    },
    /// `TRIM(where what FROM expr)`
    Trim {
        /// BOTH, LEADING, TRAILING
        trim_where: Option<TrimWhereField>,
        /// The characters to take away.
        trim_what: Option<Box<Expr>>,
        /// The text.
        expr: Box<Expr>,
    },
    /// `OVERLAY(expr PLACING … FROM … FOR …)`
    Overlay {
        /// The text.
        expr: Box<Expr>,
        /// PLACING
        overlay_what: Box<Expr>,
        /// FROM
        overlay_from: Box<Expr>,
        /// FOR
        overlay_for: Option<Box<Expr>>,
    },
    /// A call.
    Function(Function),
    /// CASE
    Case {
        /// Where it stands.
        span: Span,
        /// What is compared with each WHEN.
        operand: Option<Box<Expr>>,
        /// WHEN … THEN …
        conditions: Vec<CaseWhen>,
        /// ELSE
        else_result: Option<Box<Expr>>,
    },
    /// `[NOT] EXISTS (query)`
    Exists {
        /// The query.
        subquery: Box<Query>,
        /// NOT
        negated: bool,
    },
    /// A query as a value.
    Subquery(Box<Query>),
    /// `(a, b)`, `ROW(a, b)`
    Tuple(Vec<Expr>),
    /// `ARRAY[…]`
    Array(Array),
    /// GROUPING SETS, in GROUP BY
    GroupingSets(Vec<Vec<Expr>>),
    /// CUBE, in GROUP BY
    Cube(Vec<Vec<Expr>>),
    /// ROLLUP, in GROUP BY
    Rollup(Vec<Vec<Expr>>),
}

/// One step into a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessExpr {
    /// `.field`
    Field(Ident),
    /// `.*`: all fields, in a list. It is the last step.
    Wildcard,
    /// `[…]`
    Subscript(Subscript),
}

/// What stands in brackets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subscript {
    /// `[index]`
    Index {
        /// The index.
        index: Expr,
    },
    /// `[lower:upper]`
    Slice {
        /// The first index.
        lower_bound: Option<Expr>,
        /// The last index.
        upper_bound: Option<Expr>,
    },
}

/// A literal or a parameter, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueWithSpan {
    /// The value.
    pub value: Value,
    /// Its place.
    pub span: Span,
}

/// A literal or a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Digits, maybe with a point and an exponent.
    Number(String),
    /// A text in any notation.
    SingleQuotedString(String),
    /// `B'01'`
    BitString(String),
    /// `X'1f'`
    HexString(String),
    /// TRUE, FALSE
    Boolean(bool),
    /// NULL
    Null,
    /// `$1`
    Placeholder(String),
}

/// `type 'text'`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypedString {
    /// The type.
    pub data_type: DataType,
    /// The text.
    pub value: ValueWithSpan,
}

/// `ARRAY[…]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Its elements.
    pub elem: Vec<Expr>,
    /// Whether the word ARRAY is there: it is not inside of another one.
    pub named: bool,
}

/// WHEN … THEN …
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaseWhen {
    /// The condition, or the value that the operand is compared with.
    pub condition: Expr,
    /// THEN
    pub result: Expr,
}

/// A side of TRIM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum TrimWhereField {
    Both,
    Leading,
    Trailing,
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOperator {
    /// NOT
    Not,
    /// Any other one, by its symbol.
    Symbol(&'static str),
}

impl UnaryOperator {
    /// `-`
    pub const MINUS: UnaryOperator = UnaryOperator::Symbol("-");
    /// `+`
    pub const PLUS: UnaryOperator = UnaryOperator::Symbol("+");
}

/// An operator between its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BinaryOperator {
    /// AND
    And,
    /// OR
    Or,
    /// OVERLAPS
    Overlaps,
    /// Any other one, by its symbol.
    Symbol(Box<str>),
    /// `OPERATOR(schema.symbol)`
    Qualified {
        /// The parts of the schema's name.
        schema: Vec<Ident>,
        /// The symbol.
        symbol: String,
    },
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The function.
    pub name: ObjectName,
    /// Its arguments.
    pub args: FunctionArguments,
    /// FILTER (WHERE …)
    pub filter: Option<Box<Expr>>,
    /// OVER
    pub over: Option<WindowType>,
    /// WITHIN GROUP (ORDER BY …)
    pub within_group: Vec<OrderByExpr>,
}

impl Function {
    /// A call without clauses.
    pub fn plain(name: ObjectName, args: Vec<FunctionArg>) -> Function {
        let list = FunctionArgumentList { duplicate_treatment: None, args, order_by: Vec::new() };
        Function { name, args: FunctionArguments::List(list), filter: None, over: None, within_group: Vec::new() }
    }
}

/// The arguments of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionArguments {
    /// No parentheses: CURRENT_DATE.
    None,
    /// `ARRAY(query)`
    Subquery(Box<Query>),
    /// A list.
    List(FunctionArgumentList),
}

/// What stands in the parentheses of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionArgumentList {
    /// DISTINCT, ALL
    pub duplicate_treatment: Option<DuplicateTreatment>,
    /// The arguments.
    pub args: Vec<FunctionArg>,
    /// ORDER BY
    pub order_by: Vec<OrderByExpr>,
}

/// DISTINCT or ALL in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum DuplicateTreatment {
    Distinct,
    All,
}

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionArg {
    /// By its place.
    Unnamed(FunctionArgExpr),
    /// By its name.
    Named {
        /// The name.
        name: Ident,
        /// The argument.
        arg: FunctionArgExpr,
    },
}

impl FunctionArg {
    /// What is given, whatever the argument's name.
    pub fn given(&self) -> &FunctionArgExpr {
        match self {
            FunctionArg::Unnamed(arg) | FunctionArg::Named { arg, .. } => arg,
        }
    }
}

/// What is given for an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionArgExpr {
    /// An expression.
    Expr(Expr),
    /// VARIADIC: an array of the last arguments.
    Variadic(Expr),
    /// `t.*`
    QualifiedWildcard(ObjectName),
    /// `*`
    Wildcard,
}

/// What follows OVER.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowType {
    /// A window in parentheses.
    WindowSpec(WindowSpec),
    /// A window of the clause WINDOW.
    NamedWindow(Ident),
}

/// A window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowSpec {
    /// The window that it adds to.
    pub window_name: Option<Ident>,
    /// PARTITION BY
    pub partition_by: Vec<Expr>,
    /// ORDER BY
    pub order_by: Vec<OrderByExpr>,
    /// ROWS, RANGE, GROUPS
    pub window_frame: Option<WindowFrame>,
}

/// The frame of a window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowFrame {
    /// What its bounds count.
    pub units: WindowFrameUnits,
    /// Its beginning.
    pub start_bound: WindowFrameBound,
    /// Its end; the current row if not said.
    pub end_bound: Option<WindowFrameBound>,
    /// EXCLUDE
    pub exclude: FrameExclude,
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum WindowFrameUnits {
    Rows,
    Range,
    Groups,
}

/// A bound of a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WindowFrameBound {
    /// CURRENT ROW
    CurrentRow,
    /// `n PRECEDING`; UNBOUNDED without a number.
    Preceding(Option<Box<Expr>>),
    /// `n FOLLOWING`; UNBOUNDED without a number.
    Following(Option<Box<Expr>>),
}

/// What a frame leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FrameExclude {
    NoOthers,
    CurrentRow,
    Group,
    Ties,
}
