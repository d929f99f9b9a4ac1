//! The syntax tree of PL/pgSQL: what a body says, before any name in it is looked up.
//!
//! Every node that can go wrong has its line, counted from the beginning of the body. SQL inside is kept with its text.

use crate::parse::ast;

use crate::parse;
use crate::parse::ddl::TypeName;
use crate::parse::statement::Direction;

/// A body.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// `#variable_conflict`: what a name means that is a column and a variable.
    pub conflict: Option<VariableConflict>,
    /// Its outermost block.
    pub block: Block,
}

/// `#variable_conflict`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableConflict {
    /// `error`
    Error,
    /// `use_variable`
    UseVariable,
    /// `use_column`
    UseColumn,
}

/// `DECLARE … BEGIN … EXCEPTION … END`
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// Where it begins.
    pub line: u32,
    /// `<<label>>`
    pub label: Option<String>,
    /// DECLARE
    pub declarations: Vec<Declaration>,
    /// What it does.
    pub body: Vec<Statement>,
    /// EXCEPTION, if it has that.
    pub handlers: Option<Vec<Handler>>,
}

/// A declaration.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// Where it is.
    pub line: u32,
    /// What is declared.
    pub name: String,
    /// As what.
    pub kind: DeclarationKind,
}

/// What is declared.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum DeclarationKind {
    /// A variable.
    Variable {
        /// CONSTANT
        constant: bool,
        /// Its type.
        ty: TypeName,
        /// NOT NULL
        not_null: bool,
        /// DEFAULT
        default: Option<Expression>,
    },
    /// `CURSOR FOR query`
    Cursor {
        /// SCROLL or NO SCROLL, if said.
        scroll: Option<bool>,
        /// Its parameters.
        parameters: Vec<(String, TypeName)>,
        /// Its query.
        query: Query,
    },
    /// `ALIAS FOR` another variable: its name, or `$n`.
    Alias(String),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    /// As written.
    pub text: String,
    /// What it is.
    pub kind: ExpressionKind,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpressionKind {
    /// An expression.
    Simple(Box<ast::Expr>),
    /// What follows SELECT in a query of one column: `count(*) FROM t`.
    Query(Box<ast::Query>),
}

/// A query.
#[derive(Clone, PartialEq, Debug)]
pub struct Query {
    /// As written, without INTO.
    pub text: String,
    /// A query, or a change with RETURNING.
    pub statement: Box<ast::Statement>,
}

/// EXCEPTION WHEN
#[derive(Clone, PartialEq, Debug)]
pub struct Handler {
    /// Where it is.
    pub line: u32,
    /// For which errors.
    pub conditions: Vec<Condition>,
    /// What is done then.
    pub body: Vec<Statement>,
}

/// An error that a handler is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// By its name, in lower case.
    Named(String),
    /// `SQLSTATE '22012'`
    State(String),
    /// OTHERS
    Others,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// Where it begins.
    pub line: u32,
    /// What it does.
    pub kind: StatementKind,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum StatementKind {
    /// A block.
    Block(Block),
    /// `target := value`
    Assign {
        /// What gets it.
        target: Target,
        /// The value.
        value: Expression,
    },
    /// IF
    If {
        /// IF and ELSIF.
        branches: Vec<(Expression, Vec<Statement>)>,
        /// ELSE
        otherwise: Option<Vec<Statement>>,
    },
    /// CASE
    Case {
        /// What is compared; without it, WHENs are conditions.
        operand: Option<Expression>,
        /// WHEN
        branches: Vec<(Vec<Expression>, Vec<Statement>)>,
        /// ELSE; without it, finding no WHEN is an error.
        otherwise: Option<Vec<Statement>>,
    },
    /// LOOP, WHILE, FOR, FOREACH
    Loop(Loop),
    /// EXIT and CONTINUE
    Jump {
        /// CONTINUE rather than EXIT.
        again: bool,
        /// Of which loop or block.
        label: Option<String>,
        /// WHEN
        condition: Option<Expression>,
    },
    /// RETURN
    Return(Option<Expression>),
    /// RETURN NEXT
    ReturnNext(Option<Expression>),
    /// RETURN QUERY
    ReturnQuery(Rows),
    /// RAISE
    Raise(Raise),
    /// ASSERT
    Assert {
        /// What has to be true.
        condition: Expression,
        /// What is said if not.
        message: Option<Expression>,
    },
    /// PERFORM: a query whose result is thrown away.
    Perform(Query),
    /// EXECUTE
    Execute {
        /// The command.
        command: Dynamic,
        /// INTO
        into: Option<Into>,
    },
    /// An SQL statement.
    Sql {
        /// As written, without INTO.
        text: String,
        /// The statement.
        statement: Box<parse::Statement>,
        /// INTO
        into: Option<Into>,
    },
    /// CALL
    Call {
        /// As written.
        text: String,
        /// The call.
        call: Box<ast::Function>,
    },
    /// GET DIAGNOSTICS
    Diagnostics {
        /// STACKED rather than CURRENT.
        stacked: bool,
        /// What goes where.
        items: Vec<(Target, Diagnostic)>,
    },
    /// NULL
    Null,
    /// OPEN
    Open {
        /// The cursor variable.
        cursor: String,
        /// SCROLL or NO SCROLL, if said.
        scroll: Option<bool>,
        /// Of what.
        of: Opened,
    },
    /// FETCH and MOVE
    Fetch {
        /// The cursor variable.
        cursor: String,
        /// Which row; a number that is an expression is in `count`.
        direction: Direction,
        /// The count of ABSOLUTE, RELATIVE, FORWARD, BACKWARD, if it is not a number.
        count: Option<Expression>,
        /// INTO; none is MOVE.
        targets: Option<Vec<Target>>,
    },
    /// CLOSE
    Close(String),
    /// COMMIT
    Commit {
        /// AND CHAIN
        chain: bool,
    },
    /// ROLLBACK
    Rollback {
        /// AND CHAIN
        chain: bool,
    },
}

/// A loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// `<<label>>`
    pub label: Option<String>,
    /// Over what.
    pub over: Over,
    /// What is done again and again.
    pub body: Vec<Statement>,
}

/// What a loop goes over.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Over {
    /// LOOP
    Forever,
    /// WHILE
    While(Expression),
    /// FOR i IN a .. b
    Range {
        /// The variable, which is the loop's own.
        variable: String,
        /// REVERSE
        reverse: bool,
        /// From.
        from: Expression,
        /// To.
        to: Expression,
        /// BY
        step: Option<Expression>,
    },
    /// FOR r IN query
    Rows {
        /// What gets each row.
        targets: Vec<Target>,
        /// The rows.
        rows: Rows,
    },
    /// FOR r IN cursor
    Cursor {
        /// The record, which is the loop's own.
        variable: String,
        /// The bound cursor.
        cursor: String,
        /// Its arguments.
        arguments: Vec<Argument>,
    },
    /// FOREACH x IN ARRAY
    Array {
        /// What gets each item.
        targets: Vec<Target>,
        /// SLICE
        slice: u32,
        /// The array.
        array: Expression,
    },
}

/// Rows from a query or from a command that is made while running.
#[derive(Clone, PartialEq, Debug)]
pub enum Rows {
    /// A query.
    Query(Query),
    /// EXECUTE
    Execute(Dynamic),
}

/// A command that is made while running.
#[derive(Clone, PartialEq, Debug)]
pub struct Dynamic {
    /// Its text.
    pub command: Expression,
    /// USING
    pub using: Vec<Expression>,
}

/// INTO
#[derive(Clone, PartialEq, Debug)]
pub struct Into {
    /// STRICT
    pub strict: bool,
    /// What gets the row.
    pub targets: Vec<Target>,
}

/// What gets a value: a variable, or a part of one.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The names up to the first subscript: a variable, a field, the label before it.
    pub path: Vec<String>,
    /// What follows the first subscript.
    pub places: Vec<Place>,
}

/// A part of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// `.field`
    Field(String),
    /// `[i]`
    Index(Expression),
}

/// An argument of a cursor.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    /// `name :=`
    pub name: Option<String>,
    /// The value.
    pub value: Expression,
}

/// What OPEN opens a cursor of.
#[derive(Clone, PartialEq, Debug)]
pub enum Opened {
    /// Of the query it was declared with.
    Bound(Vec<Argument>),
    /// FOR
    Rows(Rows),
}

/// RAISE
#[derive(Clone, PartialEq, Debug)]
pub struct Raise {
    /// How bad.
    pub level: Severity,
    /// What; none is the error that is being handled, again.
    pub what: Option<Raised>,
    /// USING
    pub options: Vec<(RaiseOption, Expression)>,
}

/// What is raised.
#[derive(Clone, PartialEq, Debug)]
pub enum Raised {
    /// A message with `%` for each expression.
    Message(String, Vec<Expression>),
    /// A condition by its name.
    Named(String),
    /// SQLSTATE
    State(String),
    /// Only USING says it.
    Options,
}

/// How bad what is raised is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Severity {
    Debug,
    Log,
    Info,
    Notice,
    Warning,
    Exception,
}

impl Severity {
    /// As messages and the source say it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Debug => "DEBUG",
            Severity::Log => "LOG",
            Severity::Info => "INFO",
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
            Severity::Exception => "EXCEPTION",
        }
    }
}

/// An option of RAISE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RaiseOption {
    Message,
    Detail,
    Hint,
    ErrorCode,
    Column,
    Constraint,
    DataType,
    Table,
    Schema,
}

impl RaiseOption {
    /// All, with their words.
    pub const ALL: &'static [(&'static str, RaiseOption)] = &[
        ("message", RaiseOption::Message),
        ("detail", RaiseOption::Detail),
        ("hint", RaiseOption::Hint),
        ("errcode", RaiseOption::ErrorCode),
        ("column", RaiseOption::Column),
        ("constraint", RaiseOption::Constraint),
        ("datatype", RaiseOption::DataType),
        ("table", RaiseOption::Table),
        ("schema", RaiseOption::Schema),
    ];
}

/// What GET DIAGNOSTICS asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Diagnostic {
    RowCount,
    Context,
    RoutineOid,
    ErrorState,
    ErrorMessage,
    ErrorDetail,
    ErrorHint,
    ErrorContext,
    ColumnName,
    ConstraintName,
    DataTypeName,
    TableName,
    SchemaName,
}

impl Diagnostic {
    /// All, with their words.
    pub const ALL: &'static [(&'static str, Diagnostic)] = &[
        ("row_count", Diagnostic::RowCount),
        ("pg_context", Diagnostic::Context),
        ("pg_routine_oid", Diagnostic::RoutineOid),
        ("returned_sqlstate", Diagnostic::ErrorState),
        ("message_text", Diagnostic::ErrorMessage),
        ("pg_exception_detail", Diagnostic::ErrorDetail),
        ("pg_exception_hint", Diagnostic::ErrorHint),
        ("pg_exception_context", Diagnostic::ErrorContext),
        ("column_name", Diagnostic::ColumnName),
        ("constraint_name", Diagnostic::ConstraintName),
        ("pg_datatype_name", Diagnostic::DataTypeName),
        ("table_name", Diagnostic::TableName),
        ("schema_name", Diagnostic::SchemaName),
    ];
}
