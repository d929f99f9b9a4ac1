//! Queries: WITH, bodies of every kind, and what may follow them (ORDER BY, LIMIT, FOR UPDATE).

use crate::parse::ast::{self, SetExpr};

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::collation::keyed;
use crate::bind::from::{From, query_item, slot_column};
use crate::bind::scope::Frame;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Change, Expr, Limit, Output, Plan, Query, SortKey};
use crate::types::{Type, collation};

/// What becomes of output columns whose type is not known: literals that nobody has asked for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unknown {
    /// They become text.
    Settle,
    /// They stay, since the caller will say what they are.
    Keep,
}

/// LIMIT, OFFSET, FETCH.
pub(super) struct Cut {
    pub limit: Option<Expr>,
    pub offset: Option<Expr>,
    pub ties: bool,
}

impl Cut {
    pub(super) fn is_nothing(&self) -> bool {
        self.limit.is_none() && self.offset.is_none()
    }

    /// The plan with its limits.
    pub(super) fn apply(self, input: Plan, keys: &[SortKey]) -> Plan {
        if self.is_nothing() {
            return input;
        }
        let ties = if self.ties { keys.to_vec() } else { Vec::new() };
        Plan::Limit(Box::new(Limit { input, limit: self.limit, offset: self.offset, ties }))
    }
}

impl<'a> Binder<'a> {
    /// A query whose columns all have types.
    pub(super) fn settled_query(&mut self, query: &ast::Query) -> Result<Query> {
        self.query_body(query, Unknown::Settle)
    }

    /// A query in an expression: it is also worked out whether it depends on what is around.
    pub(super) fn subquery(&mut self, query: &ast::Query) -> Result<Query> {
        let boundary = self.ctes.len();
        let outer = std::mem::replace(&mut self.lowest_cte, usize::MAX);
        let result = self.settled_query(query);
        let lowest = std::mem::replace(&mut self.lowest_cte, outer);
        self.lowest_cte = self.lowest_cte.min(lowest);
        let mut query = result?;
        query.correlated = lowest < boundary || query.plan.looks_outward();
        Ok(query)
    }

    pub(super) fn query_body(&mut self, query: &ast::Query, unknown: Unknown) -> Result<Query> {
        self.nested(|binder| {
            let Some(with) = &query.with else { return binder.body(query, unknown) };
            let visible = binder.ctes.len();
            let ctes = binder.with(with)?;
            let bound = binder.body(query, unknown);
            let ctes = binder.used_ctes(ctes, visible);
            binder.ctes.truncate(visible);
            let mut bound = bound?;
            if !ctes.is_empty() {
                bound.plan = Plan::With { ctes, input: Box::new(bound.plan) };
            }
            Ok(bound)
        })
    }

    fn body(&mut self, query: &ast::Query, unknown: Unknown) -> Result<Query> {
        match &*query.body {
            SetExpr::Select(select) => self.select(select, query, unknown),
            SetExpr::Query(inner) => {
                let bound = self.query_body(inner, unknown)?;
                self.tail(bound, query, None)
            }
            SetExpr::SetOperation { .. } => {
                let bound = self.set_operation(&query.body, unknown)?;
                self.tail(bound, query, Some("UNION/INTERSECT/EXCEPT"))
            }
            SetExpr::Values(values) => {
                let bound = self.values(&values.rows)?;
                self.tail(bound, query, None)
            }
            SetExpr::Change(statement) => self.change_query(statement),
        }
    }

    /// A body that is part of a set operation.
    pub(super) fn set_body(&mut self, body: &SetExpr) -> Result<Query> {
        match body {
            SetExpr::Select(select) => self.plain_select(select, Unknown::Keep),
            SetExpr::Query(inner) => self.query_body(inner, Unknown::Keep),
            SetExpr::SetOperation { .. } => self.nested(|binder| binder.set_operation(body, Unknown::Keep)),
            SetExpr::Values(values) => self.values(&values.rows),
            SetExpr::Change(_) => Err(SqlError::unsupported("a change in a set operation")),
        }
    }

    /// A change with RETURNING is a query.
    pub(super) fn change_query(&mut self, statement: &ast::Statement) -> Result<Query> {
        let change = self.change(statement)?;
        let columns = returned(&change).to_vec();
        Ok(Query { plan: Plan::Change(Box::new(change)), columns, correlated: false })
    }

    /// ORDER BY and what follows, of a query that is not a plain SELECT: by its columns.
    fn tail(&mut self, query: Query, ast: &ast::Query, only_columns: Option<&str>) -> Result<Query> {
        if !ast.locks.is_empty() {
            let what = if only_columns.is_some() { "UNION/INTERSECT/EXCEPT" } else { "VALUES" };
            let message = format!("FOR UPDATE is not allowed with {what}");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        if ast.order_by.is_empty() && !ast.is_limited() {
            return Ok(query);
        }
        let From { items, .. } = From::one(Plan::One, query_item("".into(), &query));
        self.frames.push(Frame::new(items, None));
        let result = self.tail_parts(&query, ast, only_columns);
        self.frames.pop();
        let (keys, cut) = result?;
        let Query { mut plan, columns, correlated } = query;
        if !keys.is_empty() {
            plan = Plan::Sort { input: Box::new(plan), keys: keys.clone() };
        }
        Ok(Query { plan: cut.apply(plan, &keys), columns, correlated })
    }

    fn tail_parts(
        &mut self,
        query: &Query,
        ast: &ast::Query,
        only_columns: Option<&str>,
    ) -> Result<(Vec<SortKey>, Cut)> {
        let targets: Vec<Expr> =
            query.columns.iter().enumerate().map(|(at, column)| slot_column(at, column.typed)).collect();
        let names: Vec<_> = query.columns.iter().map(|column| column.name.clone()).collect();
        let mut keys = Vec::new();
        for item in &ast.order_by {
            let place = self.output_place(&item.expr, &names, &targets, Clause::OrderBy)?;
            let expr = match (place, only_columns) {
                (Some(place), _) => {
                    let target = targets[place].clone();
                    match collation::order(query.columns[place].collation, self.catalog) {
                        Some(order) if self.is_collatable(target.ty()) => keyed(target, &order),
                        _ => target,
                    }
                }
                (None, Some(what)) => {
                    let message = format!("invalid {what} ORDER BY clause");
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                        .detail("Only result column names can be used, not expressions or functions.")
                        .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause."));
                }
                (None, None) => {
                    let bound = self.expr_in(Clause::OrderBy, &item.expr)?;
                    self.settle(bound)?
                }
            };
            keys.push(self.sort_key(expr, &item.options)?);
        }
        let cut = self.cut(ast)?;
        self.check_ties(&cut, &keys)?;
        Ok((keys, cut))
    }

    /// LIMIT, OFFSET, FETCH.
    pub(super) fn cut(&mut self, query: &ast::Query) -> Result<Cut> {
        let (limit, offset) = (query.limit.as_ref(), query.offset.as_ref());
        let mut cut = Cut {
            limit: limit.map(|limit| self.count_of(limit, Clause::Limit)).transpose()?,
            offset: offset.map(|offset| self.count_of(offset, Clause::Offset)).transpose()?,
            ties: false,
        };
        if let Some(fetch) = &query.fetch {
            cut.ties = fetch.with_ties;
            cut.limit = Some(match &fetch.quantity {
                Some(quantity) => self.count_of(quantity, Clause::Limit)?,
                None => Expr::constant(crate::types::Datum::Int(1), Type::INT8),
            });
        }
        Ok(cut)
    }

    fn count_of(&mut self, expr: &ast::Expr, clause: Clause) -> Result<Expr> {
        let bound = self.expr_in(clause, expr)?;
        let mut has_columns = false;
        bound.slots(&mut |_| has_columns = true);
        if has_columns {
            let message = format!("argument of {} must not contain variables", clause.label());
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
        }
        self.count(bound, clause.label())
    }

    pub(super) fn check_ties(&self, cut: &Cut, keys: &[SortKey]) -> Result<()> {
        if cut.ties && keys.is_empty() {
            return Err(SqlError::syntax("WITH TIES cannot be specified without ORDER BY clause"));
        }
        Ok(())
    }
}

/// The columns that a change returns.
pub(super) fn returned(change: &Change) -> &[Output] {
    let returning = match change {
        Change::Insert(insert) => &insert.returning,
        Change::Update(update) => &update.returning,
        Change::Delete(delete) => &delete.returning,
        Change::Merge(_) => &None,
    };
    returning.as_ref().map_or(&[], |returning| &returning.columns)
}
