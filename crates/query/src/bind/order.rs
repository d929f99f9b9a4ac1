//! ORDER BY, and how it and GROUP BY and DISTINCT ON name columns of the select list.

use std::sync::Arc;

use crate::parse::ast::{self, OrderByOptions, OrderBySort};

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::collation::{Needs, keyed};
use crate::bind::expr::peel;
use crate::bind::names::fold;
use crate::bind::scope::Lookup;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::same::same;
use crate::ir::{Expr, SortKey};
use crate::types::{Type, kind, reg};

impl Binder<'_> {
    /// The column of the select list that an item of ORDER BY, GROUP BY or DISTINCT ON means: by its name or number.
    pub(super) fn output_place(
        &mut self,
        expr: &ast::Expr,
        names: &[Arc<str>],
        targets: &[Expr],
        clause: Clause,
    ) -> Result<Option<usize>> {
        match peel(expr) {
            ast::Expr::Identifier(ident) => {
                let wanted = fold(ident);
                // In GROUP BY a column of FROM comes first.
                if clause == Clause::GroupBy && !matches!(self.frame().column(&wanted), Lookup::None) {
                    return Ok(None);
                }
                let mut found = None;
                for (at, name) in names.iter().enumerate().filter(|(_, name)| ***name == *wanted) {
                    match found {
                        None => found = Some(at),
                        Some(first) if same(&targets[first], &targets[at], 0) => {}
                        Some(_) => {
                            let message = format!("{} \"{name}\" is ambiguous", clause.label());
                            let error = SqlError::new(SqlState::AMBIGUOUS_COLUMN, message);
                            return Err(self.at(ident.span, error));
                        }
                    }
                }
                Ok(found)
            }
            ast::Expr::Value(value) => {
                let place = match &value.value {
                    ast::Value::Number(digits) => digits.parse::<usize>().ok(),
                    ast::Value::Placeholder(_) | ast::Value::Null => return Ok(None),
                    _ => None,
                };
                let Some(place) = place else {
                    let message = format!("non-integer constant in {}", clause.label());
                    return Err(self.at(value.span, SqlError::syntax(message)));
                };
                if place == 0 || place > targets.len() {
                    let message = format!("{} position {place} is not in select list", clause.label());
                    let error = SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message);
                    return Err(self.at(value.span, error));
                }
                Ok(Some(place - 1))
            }
            _ => Ok(None),
        }
    }

    /// Sort keys that are expressions: in aggregates and windows.
    pub(super) fn sort_keys(&mut self, items: &[ast::OrderByExpr]) -> Result<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let bound = self.expr(&item.expr)?;
            let bound = self.settle(bound)?;
            let order = self.order_of(&[&bound], Needs::Order)?;
            let bound = order.map_or(bound.clone(), |order| keyed(bound, &order));
            keys.push(self.sort_key(bound, &item.options)?);
        }
        Ok(keys)
    }

    /// A sort key; NULLs are larger than anything unless said otherwise.
    pub(super) fn sort_key(&mut self, expr: Expr, options: &OrderByOptions) -> Result<SortKey> {
        self.must_have(&expr, "<", "an ordering operator")?;
        let descending = match &options.sort {
            None | Some(OrderBySort::Asc) => false,
            Some(OrderBySort::Desc) => true,
        };
        Ok(SortKey { expr, descending, nulls_first: options.nulls_first.unwrap_or(descending) })
    }

    /// The expression's type must have this operator, to be sorted or grouped by.
    pub(super) fn must_have(&mut self, expr: &Expr, symbol: &str, what: &str) -> Result<()> {
        if symbol == "=" {
            self.must_be_bytes(&[expr], Needs::Equality, "groups")?;
        }
        let ty = kind::base(expr.typed, self.catalog).ty;
        if is_known_to_compare(ty) || kind::element(ty, self.catalog).is_some_and(is_known_to_compare) {
            return Ok(());
        }
        if ty == Type::RECORD || kind::is_composite(ty, self.catalog) || kind::is_enum(ty, self.catalog) {
            return Ok(());
        }
        match self.find_operator(symbol, ty, ty) {
            Ok(found) if found.left == ty || found.left == Type::TEXT => Ok(()),
            Ok(found) if found.left == Type::OID && reg::is_reg(ty) => Ok(()),
            _ => {
                let message = format!("could not identify {what} for type {}", self.type_name(expr.ty()));
                let error = SqlError::new(SqlState::UNDEFINED_FUNCTION, message);
                Err(if symbol == "<" {
                    error.hint("Use an explicit ordering operator or modify the query.")
                } else {
                    error
                })
            }
        }
    }
}

/// Types that are compared all the time: nothing is looked up for them.
fn is_known_to_compare(ty: Type) -> bool {
    matches!(
        ty,
        Type::BOOL
            | Type::INT2
            | Type::INT4
            | Type::INT8
            | Type::TEXT
            | Type::VARCHAR
            | Type::BPCHAR
            | Type::NAME
            | Type::OID
            | Type::NUMERIC
            | Type::FLOAT4
            | Type::FLOAT8
            | Type::DATE
            | Type::TIMESTAMP
            | Type::TIMESTAMPTZ
            | Type::UUID
    )
}
