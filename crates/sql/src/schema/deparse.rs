//! Expressions of the schema as catalogs show them.

use sqlparser::ast;

use crate::catalog::{Relation, StoredExpr};
use crate::ir::{Expr, ExprKind};
use crate::storage::World;
use crate::types::Typed;

/// The text of a DEFAULT.
pub(super) fn assigned(world: &World<'_>, bound: &Expr, written: &ast::Expr, typed: Typed) -> String {
    let _ = (world, bound, typed);
    written.to_string()
}

/// The text of a condition or an index key over a table's row.
pub(super) fn expression(world: &World<'_>, bound: &Expr, written: &ast::Expr, relation: &Relation) -> String {
    let _ = (world, bound, relation);
    written.to_string()
}

/// The columns of the row that an expression looks at directly, each once.
pub(super) fn columns(bound: &Expr, found: &mut Vec<usize>) {
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
