//! UNION, INTERSECT, EXCEPT, and VALUES.

use std::sync::Arc;

use crate::parse::ast::{self, SetExpr, SetOperator, SetQuantifier};

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::from::slot_column;
use crate::bind::query::Unknown;
use crate::bind::scope::Frame;
use crate::bind::with::Forbidding;
use crate::catalog::Oid;
use crate::error::{Result, SqlError};
use crate::functions::resolve;
use crate::ir::{Expr, Output, Plan, Query, SetKind};
use crate::types::{Type, Typed, collation};

impl Binder<'_> {
    /// A set operation. A chain of them leans to the left: it is followed, not recursed into.
    pub(super) fn set_operation(&mut self, body: &SetExpr, _unknown: Unknown) -> Result<Query> {
        let mut steps = Vec::new();
        let mut left = body;
        while let SetExpr::SetOperation { left: next, op, set_quantifier, right } = left {
            steps.push((set_kind(op), *set_quantifier == SetQuantifier::All, &**right));
            left = next;
        }
        steps.reverse();
        let around_first: Vec<Forbidding> = steps.iter().filter_map(|(kind, all, _)| forbidden(*kind, *all)).collect();
        let depth = self.forbidding.len();
        self.forbidding.extend(around_first);
        let first = self.set_body(left);
        self.forbidding.truncate(depth);
        let mut first = first?;
        let is_uniform = steps.iter().all(|(kind, all, _)| *kind == SetKind::Union && *all == steps[0].1);
        if is_uniform && steps.len() > 1 {
            let all = steps[0].1;
            return self.union_of(first, steps.into_iter().map(|(_, _, right)| right), all);
        }
        for (kind, all, right) in steps {
            let part = if kind == SetKind::Except { Some(Forbidding::Except) } else { forbidden(kind, all) };
            let right = match part {
                Some(part) => self.forbidding(part, |binder| binder.set_body(right))?,
                None => self.set_body(right)?,
            };
            let types = self.common_columns(kind, &first, &right)?;
            let left = self.recast(first, &types)?;
            let right = self.recast(right, &types)?;
            let columns = left.columns.into_iter().zip(&right.columns);
            let columns = columns.map(|(column, other)| Output {
                origin: None,
                collation: common_collation(column.collation, other.collation),
                ..column
            });
            let columns = columns.collect();
            let (left, right) = (Box::new(left.plan), Box::new(right.plan));
            first = Query { plan: Plan::SetOperation { kind, all, left, right }, columns, correlated: false };
        }
        Ok(first)
    }

    /// UNION of many: a balanced tree, so that a long list is not deep.
    fn union_of<'e>(&mut self, first: Query, rest: impl Iterator<Item = &'e SetExpr>, all: bool) -> Result<Query> {
        let mut queries = vec![first];
        let mut typed: Option<Vec<Typed>> = None;
        for body in rest {
            let next = self.set_body(body)?;
            let mut known = Query { plan: Plan::One, columns: queries[0].columns.clone(), correlated: false };
            if let Some(types) = &typed {
                known.columns.iter_mut().zip(types).for_each(|(column, typed)| column.typed = *typed);
            }
            typed = Some(self.common_columns(SetKind::Union, &known, &next)?);
            queries.push(next);
        }
        let types = typed.expect("there is more than one query");
        let columns = queries[0].columns.iter().zip(&types).enumerate().map(|(at, (column, typed))| Output {
            name: column.name.clone(),
            typed: *typed,
            origin: None,
            collation: queries.iter().fold(0, |known, query| common_collation(known, query.columns[at].collation)),
        });
        let columns = columns.collect();
        let plans = queries.into_iter().map(|query| Ok(self.recast(query, &types)?.plan));
        let plan = balanced(plans.collect::<Result<Vec<_>>>()?, all);
        Ok(Query { plan, columns, correlated: false })
    }

    /// The types of the columns of both.
    fn common_columns(&mut self, kind: SetKind, left: &Query, right: &Query) -> Result<Vec<Typed>> {
        let word = match kind {
            SetKind::Union => "UNION",
            SetKind::Intersect => "INTERSECT",
            SetKind::Except => "EXCEPT",
        };
        if left.columns.len() != right.columns.len() {
            return Err(SqlError::syntax(format!("each {word} query must have the same number of columns")));
        }
        let pairs = left.columns.iter().zip(&right.columns);
        let typed = |(a, b): (&Output, &Output)| {
            let ty = resolve::common_type(word, &[a.typed.ty, b.typed.ty], self.catalog)?;
            let modifier = if a.typed == b.typed { a.typed.modifier } else { -1 };
            Ok(Typed { ty, modifier })
        };
        pairs.map(typed).collect()
    }

    /// The query with its columns as these types. Literals in its select list are read as what they are wanted to be.
    pub(super) fn recast(&mut self, query: Query, types: &[Typed]) -> Result<Query> {
        if query.columns.iter().zip(types).all(|(column, typed)| column.typed.ty == typed.ty) {
            return Ok(query);
        }
        let Query { plan, mut columns, correlated } = query;
        let (input, exprs) = match plan {
            Plan::Project { input, columns: exprs } => (input, exprs),
            plan => {
                let exprs = columns.iter().enumerate().map(|(at, column)| slot_column(at, column.typed)).collect();
                (Box::new(plan), exprs)
            }
        };
        let mut cast = Vec::with_capacity(exprs.len());
        for ((expr, typed), column) in exprs.into_iter().zip(types).zip(&mut columns) {
            cast.push(self.unified(expr, typed.ty, "UNION")?);
            if column.typed.ty != typed.ty {
                *column = Output { typed: *typed, origin: None, ..column.clone() };
            }
        }
        Ok(Query { plan: Plan::Project { input, columns: cast }, columns, correlated })
    }

    /// `VALUES (…), (…)`: its columns are of the common types, and called `column1`, ….
    pub(super) fn values(&mut self, rows: &[Vec<ast::Expr>]) -> Result<Query> {
        let width = rows.first().map_or(0, |row| row.len());
        if rows.iter().any(|row| row.len() != width) {
            return Err(SqlError::syntax("VALUES lists must all be the same length"));
        }
        let mut frame = Frame::new(Vec::new(), None);
        frame.block.clause = Clause::Values;
        self.frames.push(frame);
        let result = self.value_rows(rows, width);
        self.frames.pop();
        let (rows, types) = result?;
        let columns = types.into_iter().enumerate().map(|(at, ty)| Output {
            name: Arc::from(format!("column{}", at + 1)),
            typed: Typed::from(ty),
            origin: None,
            collation: 0,
        });
        Ok(Query { columns: columns.collect(), plan: Plan::Values(rows), correlated: false })
    }

    fn value_rows(&mut self, rows: &[Vec<ast::Expr>], width: usize) -> Result<(Vec<Vec<Expr>>, Vec<Type>)> {
        let mut bound: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
        for row in rows {
            bound.push(self.exprs(row)?);
        }
        let mut types = Vec::with_capacity(width);
        for column in 0..width {
            let of_column: Vec<Type> = bound.iter().map(|row| row[column].ty()).collect();
            types.push(resolve::common_type("VALUES", &of_column, self.catalog)?);
        }
        let mut converted = Vec::with_capacity(bound.len());
        for row in bound {
            let mut values = Vec::with_capacity(width);
            for (value, ty) in row.into_iter().zip(&types) {
                values.push(self.unified(value, *ty, "VALUES")?);
            }
            converted.push(values);
        }
        Ok((converted, types))
    }
}

/// The part that both sides of a set operation are, where rows that come later could take others away.
fn forbidden(kind: SetKind, all: bool) -> Option<Forbidding> {
    match kind {
        SetKind::Intersect if all => Some(Forbidding::Intersect),
        SetKind::Except if all => Some(Forbidding::Except),
        _ => None,
    }
}

fn balanced(mut plans: Vec<Plan>, all: bool) -> Plan {
    if plans.len() == 1 {
        return plans.pop().expect("there is one");
    }
    let right = plans.split_off(plans.len() / 2);
    let (left, right) = (Box::new(balanced(plans, all)), Box::new(balanced(right, all)));
    Plan::SetOperation { kind: SetKind::Union, all, left, right }
}

fn set_kind(operator: &SetOperator) -> SetKind {
    match operator {
        SetOperator::Union => SetKind::Union,
        SetOperator::Intersect => SetKind::Intersect,
        SetOperator::Except => SetKind::Except,
    }
}

/// The collation of a column of several queries: another one than the database's wins, and two others leave it open.
fn common_collation(one: Oid, other: Oid) -> Oid {
    match (one, other) {
        (0 | collation::DEFAULT, other) => other,
        (one, 0 | collation::DEFAULT) => one,
        (one, other) if one == other => one,
        _ => 0,
    }
}
