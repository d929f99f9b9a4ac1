//! Queries in expressions.

use std::sync::Arc;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::coerce::Coercion;
use crate::bind::expr::compare::{row_fields, row_operator};
use crate::bind::with::Forbidding;
use crate::error::{Result, SqlError};
use crate::ir::{Expr, ExprKind, Plan, Query, RowOperator, SubqueryKind};
use crate::types::{RecordShape, Type, Typed};

impl Binder<'_> {
    /// A query in an expression: it sees the tuples around.
    fn inner_query(&mut self, query: &ast::Query) -> Result<Query> {
        let clause = self.frame().block.clause;
        clause.allows_queries()?;
        self.forbidding(Forbidding::Subquery, |binder| binder.subquery(query))
    }

    /// `(SELECT …)` as a value.
    pub(super) fn scalar_subquery(&mut self, query: &ast::Query) -> Result<Expr> {
        let query = self.inner_query(query)?;
        let [column] = query.columns.as_slice() else {
            return Err(SqlError::syntax("subquery must return only one column"));
        };
        let typed = column.typed;
        Ok(Expr { kind: ExprKind::Subquery { kind: SubqueryKind::Scalar, query: Arc::new(query) }, typed })
    }

    /// `EXISTS (SELECT …)`: what it selects is not looked at.
    pub(super) fn exists(&mut self, query: &ast::Query, negated: bool) -> Result<Expr> {
        let mut query = self.inner_query(query)?;
        if !self.storing {
            query.without_result();
        }
        let kind = ExprKind::Subquery { kind: SubqueryKind::Exists, query: Arc::new(query) };
        let exists = Expr::new(kind, Type::BOOL);
        Ok(if negated { Expr::new(ExprKind::Not(Box::new(exists)), Type::BOOL) } else { exists })
    }

    /// `ARRAY(SELECT …)`
    pub(super) fn array_subquery(&mut self, query: &ast::Query) -> Result<Expr> {
        let query = self.inner_query(query)?;
        let [column] = query.columns.as_slice() else {
            return Err(SqlError::syntax("subquery must return only one column"));
        };
        let element = column.typed.ty;
        let is_array = crate::types::kind::element(element, self.catalog).is_some();
        let ty = if is_array { element } else { self.array_over(element)? };
        Ok(Expr::new(ExprKind::Subquery { kind: SubqueryKind::Array, query: Arc::new(query) }, ty))
    }

    /// `x [NOT] IN (SELECT …)`
    pub(super) fn in_subquery(&mut self, left: &ast::Expr, query: &ast::Query, negated: bool) -> Result<Expr> {
        let member = self.quantified_subquery(left, "=", query, false)?;
        Ok(if negated { Expr::new(ExprKind::Not(Box::new(member)), Type::BOOL) } else { member })
    }

    /// `x op ANY (SELECT …)`, `(x, y) op ALL (SELECT …)`
    pub(super) fn quantified_subquery(
        &mut self,
        left: &ast::Expr,
        symbol: &str,
        query: &ast::Query,
        all: bool,
    ) -> Result<Expr> {
        let fields = match row_fields(left) {
            Some(fields) => fields,
            None => vec![left],
        };
        let mut left_values = self.exprs(fields)?;
        if let [one] = left_values.as_slice()
            && let ExprKind::MakeRow { fields, .. } = &one.kind
        {
            left_values = fields.clone();
        }
        let query = self.inner_query(query)?;
        check_width(left_values.len(), query.columns.len())?;
        let row = match row_operator(symbol) {
            Some(row) => row,
            None if left_values.len() == 1 => RowOperator::Equal,
            None => return Err(SqlError::unsupported(format_args!("comparing rows with {symbol}"))),
        };
        let (mut args, mut operators, mut casts) = (Vec::new(), Vec::new(), Vec::new());
        for (value, column) in left_values.into_iter().zip(&query.columns) {
            let comparison = self.find_operator(symbol, value.ty(), column.typed.ty)?;
            args.push(self.implicit(value, comparison.left)?);
            operators.push(comparison.function);
            casts.push((comparison.right != column.typed.ty).then(|| Typed::from(comparison.right)));
        }
        let kind = SubqueryKind::Quantified { args, operators, casts, row, all };
        Ok(Expr::new(ExprKind::Subquery { kind, query: Arc::new(query) }, Type::BOOL))
    }

    /// `(a, b) op (SELECT c, d …)`: the query's one row as a record, whose fields are compared.
    pub(super) fn row_with_subquery(
        &mut self,
        fields: Vec<&ast::Expr>,
        symbol: &str,
        query: &ast::Query,
    ) -> Result<Expr> {
        let left = self.exprs(fields)?;
        let query = self.inner_query(query)?;
        check_width(left.len(), query.columns.len())?;
        let right = self.fields_of_query(query);
        self.compare_rows(symbol, left, right)
    }

    /// The columns of a query's one row, as values.
    pub(in crate::bind) fn fields_of_query(&mut self, query: Query) -> Vec<Expr> {
        let types: Vec<Typed> = query.columns.iter().map(|column| column.typed).collect();
        let fields = types.iter().enumerate().map(|(column, typed)| Expr {
            kind: ExprKind::Column(crate::ir::ColumnRef { up: 0, slot: 0, column }),
            typed: *typed,
        });
        let shape = Arc::new(RecordShape::row(types.iter().copied()));
        let row = Expr::new(ExprKind::MakeRow { fields: fields.collect(), shape }, Type::RECORD);
        let output = crate::ir::Output { name: "row".into(), typed: Type::RECORD.into(), origin: None, collation: 0 };
        let plan = Plan::Project { input: Box::new(query.plan), columns: vec![row] };
        let record = Arc::new(Query { plan, columns: vec![output], correlated: query.correlated });
        let kind = ExprKind::Subquery { kind: SubqueryKind::Scalar, query: record };
        let record = Expr::new(kind, Type::RECORD);
        let field = |(index, typed): (usize, Typed)| {
            let kind = ExprKind::Field { arg: Box::new(record.clone()), index };
            Expr { kind, typed }
        };
        types.into_iter().enumerate().map(field).collect()
    }

    /// An expression for a place that takes any integer: LIMIT, OFFSET.
    pub(in crate::bind) fn count(&mut self, expr: Expr, what: &str) -> Result<Expr> {
        let from = expr.ty();
        self.convert(expr, Type::INT8, Coercion::Assignment)?.ok_or_else(|| {
            let message = format!("argument of {what} must be type bigint, not type {}", self.type_name(from));
            crate::bind::expr::mismatch(message)
        })
    }
}

fn check_width(left: usize, right: usize) -> Result<()> {
    if left < right {
        return Err(SqlError::syntax("subquery has too many columns"));
    }
    if left > right {
        return Err(SqlError::syntax("subquery has too few columns"));
    }
    Ok(())
}
