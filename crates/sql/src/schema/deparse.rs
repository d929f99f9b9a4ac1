//! Expressions of the schema as catalogs show them: with every operator in parentheses and every literal's type.

use crate::parse::ast;

use crate::catalog::{Relation, RelationKind, StoredExpr};
use crate::ir::{ColumnRef, Expr, ExprKind, Quantified};
use crate::storage::World;
use crate::types::{Datum, Type, Typed, names, quote, text};

/// The text of a DEFAULT.
pub(super) fn assigned(world: &World<'_>, bound: &Expr, written: &ast::Expr, typed: Typed) -> String {
    let shown = Deparse { world, names: Names::Nothing };
    // The conversion to the column's type is not shown, except that a literal is shown as one of that type.
    let inner = match &bound.kind {
        ExprKind::Cast { arg, explicit: false } => arg,
        _ => bound,
    };
    match &inner.kind {
        ExprKind::Const(Datum::Text(_)) if inner.ty() == Type::UNKNOWN => shown.constant(inner, typed.ty),
        ExprKind::Const(Datum::Text(_)) if is_literal(written) => shown.constant(inner, typed.ty),
        _ => shown.top(inner),
    }
    .unwrap_or_else(|| written.to_string())
}

/// The text of a condition or an index key over a table's row.
pub(super) fn expression(world: &World<'_>, bound: &Expr, written: &ast::Expr, relation: &Relation) -> String {
    Deparse { world, names: Names::Row(relation) }.top(bound).unwrap_or_else(|| written.to_string())
}

/// The text of a domain's CHECK.
pub(super) fn domain(world: &World<'_>, bound: &Expr, written: &ast::Expr) -> String {
    Deparse { world, names: Names::Nothing }.top(bound).unwrap_or_else(|| written.to_string())
}

fn is_literal(written: &ast::Expr) -> bool {
    matches!(written, ast::Expr::Value(_))
}

/// A slot of a query's tuple: what FROM says, what its columns are called by, and their names.
pub(super) struct Slot {
    pub(super) shown: String,
    pub(super) prefix: String,
    pub(super) columns: Vec<std::sync::Arc<str>>,
}

/// How columns are called.
#[derive(Clone, Copy)]
enum Names<'w> {
    /// There are none.
    Nothing,
    /// Those of a row of this relation.
    Row(&'w Relation),
    /// Those of a query.
    Slots(&'w [Slot]),
}

pub(super) struct Deparse<'w> {
    world: &'w World<'w>,
    names: Names<'w>,
}

impl<'w> Deparse<'w> {
    /// For expressions over the tuples of a query.
    pub(super) fn of_slots(world: &'w World<'w>, slots: &'w [Slot]) -> Deparse<'w> {
        Deparse { world, names: Names::Slots(slots) }
    }

    fn top(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Cast { arg, explicit: false } => self.show(arg),
            _ => self.show(expr),
        }
    }

    /// `None` where Skew does not know how PostgreSQL shows it.
    pub(super) fn show(&self, expr: &Expr) -> Option<String> {
        let list = |args: &[Expr]| Some(args.iter().map(|arg| self.show(arg)).collect::<Option<Vec<_>>>()?.join(", "));
        Some(match &expr.kind {
            ExprKind::Const(_) => self.constant(expr, expr.ty())?,
            ExprKind::Column(column) => self.column(*column)?,
            ExprKind::Operand => "VALUE".to_owned(),
            ExprKind::Call { function, args } => match (is_symbol(function.name), args.as_slice()) {
                (true, [left, right]) => format!("({} {} {})", self.show(left)?, function.name, self.show(right)?),
                (true, [only]) => format!("({} {})", function.name, self.show(only)?),
                (false, args) => match (function.name, args.len()) {
                    ("current_timestamp" | "current_date" | "current_user" | "localtimestamp" | "current_time", 0) => {
                        function.name.to_uppercase()
                    }
                    (name, _) => format!("{name}({})", list(args)?),
                },
                _ => return None,
            },
            ExprKind::UserCall { function, args } => format!("{}({})", quote::identifier(&function.name), list(args)?),
            ExprKind::Cast { arg, .. } => {
                let ty = self.type_name(expr.typed);
                match &arg.kind {
                    ExprKind::Const(value) if !value.is_null() && arg.ty() == Type::UNKNOWN => {
                        self.constant(arg, expr.ty())?
                    }
                    _ => format!("({})::{ty}", self.show(arg)?),
                }
            }
            ExprKind::And(args) => self.joined(args, " AND ")?,
            ExprKind::Or(args) => self.joined(args, " OR ")?,
            ExprKind::Not(arg) => format!("(NOT {})", self.show(arg)?),
            ExprKind::IsNull(arg) => format!("({} IS NULL)", self.show(arg)?),
            ExprKind::IsNotNull(arg) => format!("({} IS NOT NULL)", self.show(arg)?),
            ExprKind::IsBool { arg, value, negated } => {
                let not = if *negated { "NOT " } else { "" };
                let value = value.map_or("UNKNOWN", |value| if value { "TRUE" } else { "FALSE" });
                format!("({} IS {not}{value})", self.show(arg)?)
            }
            ExprKind::IsDistinct { args, negated: false } => {
                format!("({} IS DISTINCT FROM {})", self.show(&args[0])?, self.show(&args[1])?)
            }
            ExprKind::IsDistinct { args, negated: true } => {
                format!("(NOT ({} IS DISTINCT FROM {}))", self.show(&args[0])?, self.show(&args[1])?)
            }
            ExprKind::Coalesce(args) => format!("COALESCE({})", list(args)?),
            ExprKind::Extreme { args, greatest } => {
                format!("{}({})", if *greatest { "GREATEST" } else { "LEAST" }, list(args)?)
            }
            ExprKind::MakeArray(items) => format!("ARRAY[{}]", list(items)?),
            ExprKind::MakeRow { fields, .. } => format!("ROW({})", list(fields)?),
            ExprKind::Quantified { arg, operator, list: items, all } => {
                let word = if *all { "ALL" } else { "ANY" };
                let right = match items {
                    Quantified::List(items) => match converted(items) {
                        Some((inner, typed)) => {
                            let inner = inner.iter().map(|item| self.show(item)).collect::<Option<Vec<_>>>()?;
                            format!("(ARRAY[{}])::{}[]", inner.join(", "), self.type_name(typed))
                        }
                        None => format!("ARRAY[{}]", list(items)?),
                    },
                    Quantified::Array(array) => self.show(array)?,
                };
                format!("({} {} {word} ({right}))", self.show(arg)?, operator.name)
            }
            ExprKind::Case { operand: None, branches, otherwise } => {
                let mut shown = "\nCASE".to_owned();
                for (condition, value) in branches {
                    shown += &format!("\n    WHEN {} THEN {}", self.show(condition)?, self.show(value)?);
                }
                match otherwise {
                    Some(otherwise) => shown += &format!("\n    ELSE {}", self.show(otherwise)?),
                    None => shown += &format!("\n    ELSE NULL::{}", self.type_name(expr.typed)),
                }
                shown + "\nEND"
            }
            ExprKind::NextValue(sequence) => {
                let name = self.world.relation(*sequence).ok()?.name.clone();
                format!("nextval({}::regclass)", quote::literal(&quote::identifier(&name)))
            }
            _ => return None,
        })
    }

    fn joined(&self, args: &[Expr], word: &str) -> Option<String> {
        Some(format!("({})", args.iter().map(|arg| self.show(arg)).collect::<Option<Vec<_>>>()?.join(word)))
    }

    fn constant(&self, expr: &Expr, ty: Type) -> Option<String> {
        let ExprKind::Const(value) = &expr.kind else { return None };
        let ty = if ty == Type::UNKNOWN { Type::TEXT } else { ty };
        let name = self.type_name(ty.into());
        if value.is_null() {
            return Some(format!("NULL::{name}"));
        }
        let shown = text::output(value, expr.ty(), self.world);
        Some(match (ty, value) {
            (Type::BOOL, Datum::Bool(truth)) => truth.to_string(),
            (Type::INT4, Datum::Int(0..)) => shown,
            (Type::NUMERIC, Datum::Numeric(_)) if !shown.starts_with('-') && shown != "NaN" => shown,
            _ => format!("{}::{name}", quote::literal(&shown)),
        })
    }

    fn type_name(&self, typed: Typed) -> String {
        names::format_type(typed.ty, Some(typed.modifier), self.world)
    }

    fn column(&self, column: ColumnRef) -> Option<String> {
        match self.names {
            Names::Slots(slots) if column.up == 0 => {
                let slot = slots.get(column.slot)?;
                Some(format!("{}.{}", slot.prefix, quote::identifier(slot.columns.get(column.column)?)))
            }
            Names::Row(relation) => match &relation.kind {
                RelationKind::Table(table) => Some(quote::identifier(&table.columns.get(column.column)?.name)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What is converted, if all items are, from one type to one other: then the array is.
fn converted(items: &[Expr]) -> Option<(Vec<&Expr>, Typed)> {
    let inner = |item: &'_ Expr| match &item.kind {
        ExprKind::Cast { arg, .. } if arg.ty() != Type::UNKNOWN => Some((arg.ty(), item.ty())),
        _ => None,
    };
    let first = inner(items.first()?)?;
    if items.iter().any(|item| inner(item) != Some(first)) {
        return None;
    }
    let args = items.iter().filter_map(|item| match &item.kind {
        ExprKind::Cast { arg, .. } => Some(&**arg),
        _ => None,
    });
    Some((args.collect(), items[0].typed))
}

fn is_symbol(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The columns of the row that an expression looks at directly, each once.
pub(crate) fn columns(bound: &Expr, found: &mut Vec<usize>) {
    if let ExprKind::Column(column) = &bound.kind
        && !found.contains(&column.column)
    {
        found.push(column.column);
    }
    crate::ir::children(bound, &mut |child| columns(child, found));
}

/// An expression of a table whose column has got another name.
pub(super) fn renamed(stored: &StoredExpr, from: &str, to: &str) -> StoredExpr {
    let text = rename_word(&stored.text, from, to);
    let written = rename_word(&stored.ast.to_string(), from, to);
    let ast = parse_expression(&written).unwrap_or_else(|| stored.ast.clone());
    StoredExpr { text, ast, ty: stored.ty }
}

/// An expression from its text.
pub(super) fn parse_expression(text: &str) -> Option<ast::Expr> {
    let parsed = crate::parse::statement(&format!("SELECT {text}")).ok().flatten()?;
    let crate::parse::statement::Statement::Sql(statement) = parsed else { return None };
    let ast::Statement::Query(query) = *statement else { return None };
    let ast::SetExpr::Select(select) = *query.body else { return None };
    match select.projection.into_iter().next()? {
        ast::SelectItem::UnnamedExpr(expr) => Some(expr),
        _ => None,
    }
}

/// Replaces an identifier in a text, outside of strings.
fn rename_word(text: &str, from: &str, to: &str) -> String {
    let quoted = crate::types::quote::identifier(to);
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            c if c.is_alphabetic() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let token = &rest[..length];
        let name = token.trim_matches('"');
        let is_name = first == '"' && name == from
            || first != '\'' && name.eq_ignore_ascii_case(from) && from == from.to_lowercase();
        renamed.push_str(if is_name { &quoted } else { token });
        rest = &rest[length..];
    }
    renamed
}
