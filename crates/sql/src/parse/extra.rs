//! What `sqlparser`'s tree has no place for, said with what it has: marks that no SQL text can produce, and how to read
//! them. Whoever walks a tree asks here about locks, frames, OVERRIDING, ON CONFLICT targets, CURRENT OF, VARIADIC and
//! subscripts of assignments.

use crate::parse::ast::Span;
use crate::parse::ast::{
    AccessExpr, Array, Assignment, AssignmentTarget, ConflictTarget, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, Insert, LockClause, LockType, NonBlock, ObjectName, ObjectNamePart,
    Subscript, Value, WindowFrame, WindowFrameBound,
};

use crate::error::Result;
use crate::ir::{FrameExclude, LockStrength, LockWait};

/// The quote of names that are marks: a name in a text has none or `"`.
const MARK: char = '\u{1}';

/// A FOR UPDATE clause and its kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Lock {
    /// How strongly.
    pub strength: LockStrength,
    /// OF: names of FROM items; all if empty.
    pub of: Vec<Ident>,
    /// NOWAIT, SKIP LOCKED
    pub wait: LockWait,
}

/// What a lock clause says.
pub fn lock(clause: &LockClause) -> Lock {
    let mut strength = match clause.lock_type {
        LockType::Update => LockStrength::Update,
        LockType::Share => LockStrength::Share,
    };
    let mut of = Vec::new();
    for part in clause.of.iter().flat_map(|name| &name.0) {
        match part {
            ObjectNamePart::Identifier(ident) if is_mark(ident, "no key update") => {
                strength = LockStrength::NoKeyUpdate
            }
            ObjectNamePart::Identifier(ident) if is_mark(ident, "key share") => strength = LockStrength::KeyShare,
            ObjectNamePart::Identifier(ident) => of.push(ident.clone()),
            ObjectNamePart::Function(_) => {}
        }
    }
    let wait = match clause.nonblock {
        None => LockWait::Block,
        Some(NonBlock::Nowait) => LockWait::NoWait,
        Some(NonBlock::SkipLocked) => LockWait::SkipLocked,
    };
    Lock { strength, of, wait }
}

/// A lock clause that says this.
pub fn lock_clause(lock: Lock) -> LockClause {
    let (lock_type, said) = match lock.strength {
        LockStrength::Update => (LockType::Update, None),
        LockStrength::NoKeyUpdate => (LockType::Update, Some("no key update")),
        LockStrength::Share => (LockType::Share, None),
        LockStrength::KeyShare => (LockType::Share, Some("key share")),
    };
    let parts: Vec<ObjectNamePart> =
        said.map(mark).into_iter().chain(lock.of).map(ObjectNamePart::Identifier).collect();
    let nonblock = match lock.wait {
        LockWait::Block => None,
        LockWait::NoWait => Some(NonBlock::Nowait),
        LockWait::SkipLocked => Some(NonBlock::SkipLocked),
    };
    LockClause { lock_type, of: (!parts.is_empty()).then_some(ObjectName(parts)), nonblock }
}

/// The end of a window frame, and what the frame leaves out.
pub fn frame_end(frame: &WindowFrame) -> (Option<WindowFrameBound>, FrameExclude) {
    let Some(WindowFrameBound::Following(Some(end))) = &frame.end_bound else {
        return (frame.end_bound.clone(), FrameExclude::NoOthers);
    };
    let Expr::Named { expr, name } = &**end else {
        return (frame.end_bound.clone(), FrameExclude::NoOthers);
    };
    let exclude = match name.value.as_str() {
        "current row" => FrameExclude::CurrentRow,
        "group" => FrameExclude::Group,
        "ties" => FrameExclude::Ties,
        _ => FrameExclude::NoOthers,
    };
    let bound = match &**expr {
        Expr::Named { expr, name } if name.value == "preceding" => {
            Some(WindowFrameBound::Preceding(Some(expr.clone())))
        }
        Expr::Named { expr, .. } => Some(WindowFrameBound::Following(Some(expr.clone()))),
        Expr::Identifier(ident) if is_mark(ident, "unbounded preceding") => Some(WindowFrameBound::Preceding(None)),
        Expr::Identifier(ident) if is_mark(ident, "unbounded following") => Some(WindowFrameBound::Following(None)),
        Expr::Identifier(ident) if is_mark(ident, "current row") => Some(WindowFrameBound::CurrentRow),
        _ => None,
    };
    (bound, exclude)
}

/// The end of a window frame that leaves something out.
pub(crate) fn frame_end_with(bound: Option<WindowFrameBound>, exclude: &str) -> WindowFrameBound {
    let named = |expr, name: &str| Expr::Named { expr, name: mark(name) };
    let bound = match bound {
        Some(WindowFrameBound::Preceding(Some(expr))) => named(expr, "preceding"),
        Some(WindowFrameBound::Following(Some(expr))) => named(expr, "following"),
        Some(WindowFrameBound::Preceding(None)) => Expr::Identifier(mark("unbounded preceding")),
        Some(WindowFrameBound::Following(None)) => Expr::Identifier(mark("unbounded following")),
        Some(WindowFrameBound::CurrentRow) => Expr::Identifier(mark("current row")),
        None => Expr::Identifier(mark("none")),
    };
    WindowFrameBound::Following(Some(Box::new(named(Box::new(bound), exclude))))
}

/// OVERRIDING of an INSERT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overriding {
    /// OVERRIDING SYSTEM VALUE
    System,
    /// OVERRIDING USER VALUE
    User,
}

/// The OVERRIDING clause of an INSERT.
pub fn overriding(insert: &Insert) -> Option<Overriding> {
    let ident = insert.after_columns.first()?;
    if is_mark(ident, "overriding system value") {
        Some(Overriding::System)
    } else {
        is_mark(ident, "overriding user value").then_some(Overriding::User)
    }
}

pub(crate) fn overriding_mark(overriding: Overriding) -> Ident {
    mark(match overriding {
        Overriding::System => "overriding system value",
        Overriding::User => "overriding user value",
    })
}

/// What ON CONFLICT names.
#[derive(Clone, PartialEq, Debug)]
pub enum Arbiter {
    /// Columns and expressions, and the WHERE of a partial index.
    Keys(Vec<Expr>, Option<Expr>),
    /// ON CONSTRAINT
    Constraint(Ident),
}

/// What ON CONFLICT names.
pub fn arbiter(target: &ConflictTarget) -> Result<Arbiter> {
    let idents = match target {
        ConflictTarget::OnConstraint(name) => {
            let last = name.0.last().and_then(|part| part.as_ident()).cloned();
            return Ok(Arbiter::Constraint(last.unwrap_or_else(|| Ident::new(""))));
        }
        ConflictTarget::Columns(idents) => idents,
    };
    let mut keys = Vec::new();
    let mut predicate = None;
    for ident in idents {
        match ident.quote_style {
            Some(MARK) => match ident.value.split_once(' ') {
                Some(("where", text)) => predicate = Some(crate::parse::expression(text)?),
                Some((_, text)) => keys.push(crate::parse::expression(text)?),
                None => {}
            },
            _ => keys.push(Expr::Identifier(ident.clone())),
        }
    }
    Ok(Arbiter::Keys(keys, predicate))
}

/// A key of ON CONFLICT that is not a column (`what` is `key`), or its WHERE, as text: the tree has only names there.
pub(crate) fn arbiter_mark(what: &str, text: &str) -> Ident {
    mark(&format!("{what} {text}"))
}

/// The cursor of WHERE CURRENT OF.
pub fn current_of(condition: &Expr) -> Option<&Ident> {
    match marked_call(condition, "current of")?.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(cursor))) => Some(cursor),
        _ => None,
    }
}

pub(crate) fn current_of_mark(cursor: Ident) -> Expr {
    Expr::Function(call(mark("current of"), vec![Expr::Identifier(cursor)]))
}

/// The argument after VARIADIC.
pub fn variadic(arg: &Expr) -> Option<&Expr> {
    match arg {
        Expr::Prefixed { prefix, value } if is_mark(prefix, "variadic") => Some(value),
        _ => None,
    }
}

pub(crate) fn variadic_mark(value: Expr) -> Expr {
    Expr::Prefixed { prefix: mark("variadic"), value: Box::new(value) }
}

/// The name of the function in FROM that stands for ROWS FROM (…): its arguments are the calls.
pub fn is_rows_from(name: &ObjectName) -> bool {
    matches!(name.0.as_slice(), [ObjectNamePart::Identifier(ident)] if is_mark(ident, "rows from"))
}

pub(crate) fn rows_from_mark() -> ObjectName {
    ObjectName(vec![ObjectNamePart::Identifier(mark("rows from"))])
}

/// Whether an expression is the word DEFAULT, in VALUES and SET.
pub fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(ident) if is_mark(ident, "default"))
}

/// The word DEFAULT.
pub fn default_mark(span: Span) -> Expr {
    Expr::Identifier(Ident { value: "default".to_owned(), quote_style: Some(MARK), span })
}

/// What an assignment gives a part of its column: `SET a[1] = v` and `SET a.f = v` are here the column `a`, which gets
/// this value `v` at these places: a subscript is an expression, a field a compound identifier of one part.
pub fn part(assignment: &Assignment) -> Option<(&[FunctionArg], &Expr)> {
    let (FunctionArg::Unnamed(FunctionArgExpr::Expr(value)), places) =
        marked_call(&assignment.value, "part")?.split_last()?
    else {
        return None;
    };
    Some((places, value))
}

/// The slice that a place of [`part`] is, if it is one: it stands there as the slice of an empty array.
pub fn slice(place: &Expr) -> Option<&Subscript> {
    match place {
        Expr::CompoundFieldAccess { root, access_chain } => match (&**root, access_chain.as_slice()) {
            (Expr::Array(empty), [AccessExpr::Subscript(slice)]) if empty.elem.is_empty() => Some(slice),
            _ => None,
        },
        _ => None,
    }
}

pub(crate) fn slice_mark(slice: Subscript) -> Expr {
    let empty = Expr::Array(Array { elem: Vec::new(), named: true });
    Expr::CompoundFieldAccess { root: Box::new(empty), access_chain: vec![AccessExpr::Subscript(slice)] }
}

pub(crate) fn part_mark(mut places: Vec<Expr>, value: Expr) -> Expr {
    places.push(value);
    Expr::Function(call(mark("part"), places))
}

/// The columns that an assignment sets.
pub fn targets(assignment: &Assignment) -> &[ObjectName] {
    match &assignment.target {
        AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
        AssignmentTarget::Tuple(names) => names,
    }
}

/// The text of a string constant.
pub fn string_constant(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// A call without clauses.
pub(crate) fn call(name: Ident, args: Vec<Expr>) -> Function {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

fn marked_call<'a>(expr: &'a Expr, name: &str) -> Option<&'a [FunctionArg]> {
    let Expr::Function(function) = expr else { return None };
    match (function.name.0.as_slice(), &function.args) {
        ([ObjectNamePart::Identifier(ident)], FunctionArguments::List(list)) if is_mark(ident, name) => {
            Some(&list.args)
        }
        _ => None,
    }
}

fn mark(value: &str) -> Ident {
    Ident { value: value.to_owned(), quote_style: Some(MARK), span: Span::empty() }
}

fn is_mark(ident: &Ident, value: &str) -> bool {
    ident.quote_style == Some(MARK) && ident.value == value
}
