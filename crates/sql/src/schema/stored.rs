//! Stored expressions of tables that change: for the columns of another table, and for a column of another type.

use std::sync::Arc;

use crate::catalog::{Oid, Relation, StoredExpr};
use crate::deparse::{self, Style};
use crate::error::{Result, SqlError};
use crate::ir::ExprKind;
use crate::ir::walk::{Descend, edit};
use crate::parse::ast;
use crate::parse::statement::Statement;
use crate::schema::Editor;

/// The expression over the row of another table, which has the columns elsewhere.
pub(super) fn moved(stored: &StoredExpr, table: Oid, map: &dyn Fn(usize) -> usize) -> StoredExpr {
    let mut expr = stored.expr.clone();
    edit::expr(&mut expr, 0, &mut |node, depth| {
        if let ExprKind::Column(column) = &mut node.kind
            && column.up == depth
        {
            column.column = map(column.column);
        }
        Ok(Descend::Yes)
    })
    .expect("moving does not fail");
    StoredExpr::new(expr, &[table])
}

impl Editor<'_, '_> {
    /// The expression as SQL, to be bound again once the columns that it uses have other types.
    pub(super) fn written(&self, stored: &StoredExpr, relation: &Relation) -> Result<ast::Expr> {
        let text = deparse::expression(self.world, stored, Some(relation), Style::Plain);
        parse_expression(&text).ok_or_else(|| SqlError::unsupported(format!("this expression over a column: {text}")))
    }

    /// A CHECK, an index key or predicate over a table whose columns have changed.
    pub(super) fn stored_again(&mut self, written: &ast::Expr, relation: &Arc<Relation>) -> Result<Arc<StoredExpr>> {
        let bound = self.bind_row_expression(written, relation)?;
        Ok(Arc::new(StoredExpr::new(bound, &[relation.oid])))
    }
}

/// An expression from its text.
fn parse_expression(text: &str) -> Option<ast::Expr> {
    let parsed = crate::parse::statement(&format!("SELECT {text}")).ok().flatten()?;
    let Statement::Sql(statement) = parsed else { return None };
    let ast::Statement::Query(query) = *statement else { return None };
    let ast::SetExpr::Select(select) = *query.body else { return None };
    match select.projection.into_iter().next()? {
        ast::SelectItem::UnnamedExpr(expr) => Some(expr),
        _ => None,
    }
}
