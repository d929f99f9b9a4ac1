//! The bound form of PL/pgSQL: the tree of [`crate::plpgsql::ast`] with variables as places in a frame, and SQL as
//! [`crate::ir`].
//!
//! SQL is bound when it is first needed, as PostgreSQL does it: a body may use tables that it makes itself. What was bound
//! is kept until the catalog, the search path or the shape of a record that it looks at is another one.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::parse::ast as sql;

use crate::bind::{Conflict, Variable as Found, Variables};
use crate::catalog::{Oid, UserFunction};
use crate::error::SqlError;
use crate::ir;
use crate::parse;
use crate::parse::statement::Direction;
use crate::plpgsql::ast::{Condition, Diagnostic, ExpressionKind, RaiseOption, Severity};
use crate::types::{RecordShape, Type, Typed};

/// A body that can run.
#[derive(Debug)]
pub struct Program {
    /// As error contexts name it: `f(integer)`.
    pub signature: Arc<str>,
    /// All variables of all blocks, by their place in the frame.
    pub variables: Vec<Variable>,
    /// The input parameters, in their order: what `$1`, `$2`, … are.
    pub parameters: Vec<usize>,
    /// The OUT parameters and the columns of RETURNS TABLE.
    pub outs: Vec<usize>,
    /// FOUND
    pub found: usize,
    /// NEW, OLD and TG_… of a trigger's function.
    pub trigger: Option<TriggerVariables>,
    /// What a name means that is a column and a variable.
    pub conflict: Conflict,
    /// What it does.
    pub block: Block,
}

/// The variables of a trigger's function.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct TriggerVariables {
    pub new: usize,
    pub old: usize,
    pub name: usize,
    pub when: usize,
    pub level: usize,
    pub operation: usize,
    pub relation: usize,
    pub table: usize,
    pub schema: usize,
    pub relation_name: usize,
    pub argument_count: usize,
    pub arguments: usize,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Its type; a record's shape is that of its value.
    pub typed: Typed,
    /// CONSTANT
    pub constant: bool,
    /// NOT NULL
    pub not_null: bool,
    /// The query that a bound cursor was declared with.
    pub cursor: Option<Arc<DeclaredCursor>>,
}

/// A cursor with its query.
#[derive(Debug)]
pub struct DeclaredCursor {
    /// SCROLL or NO SCROLL, if said.
    pub scroll: Option<bool>,
    /// Its parameters: names and places.
    pub parameters: Vec<(Arc<str>, usize)>,
    /// Its query.
    pub query: Sql,
}

/// The names that are visible at a place, innermost first.
#[derive(Debug)]
pub struct Scope {
    /// The block around.
    pub parent: Option<Arc<Scope>>,
    /// The block's or loop's label; of the outermost one the function's name.
    pub label: Option<String>,
    /// Names and places.
    pub names: Vec<(String, usize)>,
}

impl Scope {
    /// The place of a variable: `name`, or `label.name`.
    pub fn find(&self, path: &[&str]) -> Option<usize> {
        let here = match path {
            [name] => self.named(name),
            [label, name] if self.label.as_deref() == Some(*label) => self.named(name),
            _ => None,
        };
        here.or_else(|| self.parent.as_ref()?.find(path))
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, place)| *place)
    }
}

/// An expression.
#[derive(Debug)]
pub struct Expression {
    /// As written.
    pub text: Arc<str>,
    /// As parsed.
    pub syntax: ExpressionKind,
    /// What it sees.
    pub scope: Arc<Scope>,
    pub(crate) known: Known<BoundExpression>,
}

/// A query or a change.
#[derive(Debug)]
pub struct Sql {
    /// As written, without INTO.
    pub text: Arc<str>,
    /// As parsed.
    pub syntax: Box<sql::Statement>,
    /// What it sees.
    pub scope: Arc<Scope>,
    pub(crate) known: Known<BoundSql>,
}

impl Expression {
    /// What it was bound to last, if it was: see [`crate::session::Connection::program`].
    pub fn bound(&self) -> Option<Arc<BoundExpression>> {
        self.known.get()
    }

    /// Why it could not be bound then.
    pub fn refused(&self) -> Option<&str> {
        self.known.refused.get().map(String::as_str)
    }
}

impl Sql {
    /// What it was bound to last, if it was: see [`crate::session::Connection::program`].
    pub fn bound(&self) -> Option<Arc<BoundSql>> {
        self.known.get()
    }

    /// Why it could not be bound then.
    pub fn refused(&self) -> Option<&str> {
        self.known.refused.get().map(String::as_str)
    }
}

/// What binding an expression has given.
#[derive(Debug)]
pub struct BoundExpression {
    /// The expression.
    pub expr: ir::Expr,
    /// Whether it looks at tables or calls functions that may.
    pub looks: bool,
    /// Whether PostgreSQL would run it as a query, or work it out when it makes the plan.
    pub(crate) planned: bool,
    pub(crate) against: Against,
}

impl BoundExpression {
    pub(crate) fn new(expr: ir::Expr, against: Against) -> BoundExpression {
        use ir::ExprKind;
        let looks = expr.any(&mut |part| matches!(part.kind, ExprKind::Subquery { .. } | ExprKind::UserCall { .. }));
        let is_query = expr.any(&mut |part| matches!(part.kind, ExprKind::Subquery { .. }));
        let depends = expr.any(&mut |part| {
            matches!(part.kind, ExprKind::Variable(_) | ExprKind::Param(_) | ExprKind::UserCall { .. })
        });
        BoundExpression { expr, looks, planned: is_query || !depends, against }
    }
}

/// What binding a query or a change has given.
#[derive(Debug)]
pub struct BoundSql {
    /// The query; a change is a [`ir::Plan::Change`].
    pub query: ir::Query,
    pub(crate) against: Against,
}

/// What a CALL was bound to when its program was asked for.
#[derive(Debug)]
pub struct BoundCall {
    /// The procedure.
    pub procedure: Arc<UserFunction>,
    /// Its arguments, those for OUT parameters among them.
    pub args: Vec<ir::Expr>,
}

/// An argument of CALL as it is written.
#[derive(Debug)]
pub struct CallTarget {
    /// The parameter that it names.
    pub name: Option<String>,
    /// What the value of an OUT parameter is written back to, if it can be.
    pub target: Option<Target>,
}

/// What a parameter of the called procedure, the how many-th, is written back to.
pub fn written_back<'t>(outs: &'t [CallTarget], number: usize, name: Option<&str>) -> Option<&'t Target> {
    let named = outs.iter().find(|out| out.name.is_some() && out.name.as_deref() == name);
    let by_place = outs.get(number).filter(|out| out.name.is_none());
    named.or(by_place).and_then(|out| out.target.as_ref())
}

/// What something was bound against.
#[derive(Clone, Debug)]
pub(crate) struct Against {
    pub(crate) version: u64,
    pub(crate) path: Arc<[Oid]>,
    /// The shapes of the records that it looks at.
    pub(crate) shapes: Vec<(usize, Option<Arc<RecordShape>>)>,
    /// The variables that it names: the name that it uses, and the place.
    pub(crate) variables: Vec<(String, usize)>,
}

/// What was bound last.
#[derive(Debug)]
pub struct Known<T> {
    bound: Mutex<Option<Arc<T>>>,
    /// Why it could not be bound when a program was asked for.
    refused: OnceLock<String>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Known { bound: Mutex::new(None), refused: OnceLock::new() }
    }
}

impl<T> Known<T> {
    /// What it was bound to, if it was.
    pub fn get(&self) -> Option<Arc<T>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn put(&self, bound: &Arc<T>) {
        *self.bound.lock().unwrap_or_else(PoisonError::into_inner) = Some(bound.clone());
    }

    pub(crate) fn refuse(&self, error: &SqlError) {
        _ = self.refused.set(error.fields().message.clone());
    }
}

/// A block.
#[derive(Debug)]
pub struct Block {
    /// Where it begins.
    pub line: u32,
    /// `<<label>>`
    pub label: Option<String>,
    /// Its variables, which get their values when it is entered.
    pub declarations: Vec<Declaration>,
    /// What it does.
    pub body: Vec<Statement>,
    /// EXCEPTION
    pub handlers: Option<Handlers>,
}

/// A variable that gets its value when its block is entered.
#[derive(Debug)]
pub struct Declaration {
    /// Where it is.
    pub line: u32,
    /// Its place.
    pub place: usize,
    /// DEFAULT; NULL without.
    pub default: Option<Expression>,
}

/// EXCEPTION
#[derive(Debug)]
pub struct Handlers {
    /// The variable SQLSTATE.
    pub state: usize,
    /// The variable SQLERRM.
    pub message: usize,
    /// The handlers; the first that fits is taken.
    pub list: Vec<Handler>,
}

/// EXCEPTION WHEN
#[derive(Debug)]
pub struct Handler {
    /// Where it is.
    pub line: u32,
    /// For which errors.
    pub conditions: Vec<Condition>,
    /// What is done then.
    pub body: Vec<Statement>,
}

/// A statement.
#[derive(Debug)]
pub struct Statement {
    /// Where it begins.
    pub line: u32,
    /// What it does.
    pub kind: StatementKind,
}

/// What a statement does.
#[derive(Debug)]
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum StatementKind {
    Block(Block),
    Assign {
        target: Target,
        value: Expression,
    },
    If {
        branches: Vec<(Expression, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    Case {
        operand: Option<CaseOperand>,
        branches: Vec<(Vec<Expression>, Vec<Statement>)>,
        otherwise: Option<Vec<Statement>>,
    },
    Loop(Loop),
    Jump {
        again: bool,
        label: Option<String>,
        condition: Option<Expression>,
    },
    Return(Option<Expression>),
    ReturnNext(Option<Expression>),
    ReturnQuery(Rows),
    Raise(Raise),
    Assert {
        condition: Expression,
        message: Option<Expression>,
    },
    Perform(Sql),
    Execute {
        command: Dynamic,
        into: Option<Into>,
    },
    Sql {
        sql: Sql,
        into: Option<Into>,
    },
    /// A statement that is neither a query nor a change.
    Utility {
        text: Arc<str>,
        statement: Box<parse::Statement>,
    },
    Call {
        text: Arc<str>,
        call: Box<sql::Function>,
        scope: Arc<Scope>,
        outs: Vec<CallTarget>,
        known: Known<BoundCall>,
    },
    Diagnostics {
        stacked: bool,
        items: Vec<(Target, Diagnostic)>,
    },
    Null,
    Open {
        cursor: usize,
        scroll: Option<bool>,
        of: Opened,
    },
    Fetch {
        cursor: usize,
        direction: Direction,
        count: Option<Expression>,
        into: Option<Vec<Target>>,
    },
    Close(usize),
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
}

/// The operand of CASE, kept in a variable while WHENs are compared.
#[derive(Debug)]
pub struct CaseOperand {
    /// The value.
    pub value: Expression,
}

/// A loop.
#[derive(Debug)]
pub struct Loop {
    /// `<<label>>`
    pub label: Option<String>,
    /// Over what.
    pub over: Over,
    /// What is done again and again.
    pub body: Vec<Statement>,
}

/// What a loop goes over.
#[derive(Debug)]
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum Over {
    Forever,
    While(Expression),
    Range { place: usize, reverse: bool, from: Expression, to: Expression, step: Option<Expression> },
    Rows { targets: Vec<Target>, rows: Rows },
    Cursor { place: usize, cursor: usize, arguments: Vec<(usize, Expression)> },
    Array { targets: Vec<Target>, slice: u32, array: Expression },
}

/// Rows from a query or from a command that is made while running.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Rows {
    Query(Sql),
    Execute(Dynamic),
}

/// A command that is made while running.
#[derive(Debug)]
pub struct Dynamic {
    /// Its text.
    pub command: Expression,
    /// USING
    pub using: Vec<Expression>,
}

/// INTO
#[derive(Debug)]
pub struct Into {
    /// STRICT
    pub strict: bool,
    /// What gets the row.
    pub targets: Vec<Target>,
}

/// What gets a value.
#[derive(Debug)]
pub struct Target {
    /// The variable.
    pub place: usize,
    /// Which part of it.
    pub steps: Vec<Step>,
}

/// A part of a value.
#[derive(Debug)]
pub enum Step {
    /// `.field`
    Field(String),
    /// `[i]`
    Index(Expression),
}

/// What OPEN opens a cursor of.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Opened {
    Bound(Vec<(usize, Expression)>),
    Rows(Rows),
}

/// RAISE
#[derive(Debug)]
pub struct Raise {
    /// How bad.
    pub level: Severity,
    /// What; none is the error that is being handled, again.
    pub what: Option<Raised>,
    /// USING
    pub options: Vec<(RaiseOption, Expression)>,
}

/// What is raised.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Raised {
    Message(String, Vec<Expression>),
    Condition { name: String, state: String },
    Options,
}

/// The variables that a piece of SQL sees, with the shapes that its records have now.
pub(crate) struct Visible<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) program: &'a [Variable],
    pub(crate) conflict: Conflict,
    pub(crate) shapes: &'a dyn Fn(usize) -> Option<Arc<RecordShape>>,
    /// The records that were looked at.
    pub(crate) used: std::cell::RefCell<Vec<(usize, Option<Arc<RecordShape>>)>>,
    /// All variables that were looked at.
    pub(crate) named: std::cell::RefCell<Vec<(String, usize)>>,
}

impl Variables for Visible<'_> {
    fn find(&self, name: &[&str]) -> Option<Found> {
        let slot = self.scope.find(name)?;
        let mut named = self.named.borrow_mut();
        let last = name.last().copied().unwrap_or_default();
        if !named.iter().any(|(known, place)| known == last && *place == slot) {
            named.push((last.to_owned(), slot));
        }
        let variable = &self.program[slot];
        let shape = (variable.typed.ty == Type::RECORD).then(|| (self.shapes)(slot)).flatten();
        if variable.typed.ty == Type::RECORD {
            let mut used = self.used.borrow_mut();
            if !used.iter().any(|(known, _)| *known == slot) {
                used.push((slot, shape.clone()));
            }
        }
        Some(Found { slot, typed: variable.typed, shape })
    }

    fn conflict(&self) -> Conflict {
        self.conflict
    }
}
