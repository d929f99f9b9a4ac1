//! What one statement keeps while it runs: the tuples around a subquery, common table expressions, limits.
//!
//! A statement's whole evaluation, RETURNING and everything included, goes through one `Run`. Expressions and plans that
//! it is given have to live as long as it does, because subqueries are prepared once.

use std::marker::PhantomData;

use crate::error::{Result, SqlError};
use crate::exec::{Context, Tuple};
use crate::ir::{Expr, Plan, Query};
use crate::types::Datum;

/// The state of a running statement. Making one costs nothing.
#[derive(Default)]
pub struct Run<'p> {
    plan: PhantomData<&'p Plan>,
}

impl<'p> Run<'p> {
    /// For a new statement.
    pub fn new() -> Run<'p> {
        Run::default()
    }

    /// The value of an expression over a tuple.
    pub fn eval(&mut self, _: &mut dyn Context, _: &'p Expr, _: &Tuple) -> Result<Datum> {
        Err(SqlError::unsupported("evaluation"))
    }

    /// Whether a condition is true over a tuple (neither false nor NULL).
    pub fn is_true(&mut self, cx: &mut dyn Context, condition: &'p Expr, tuple: &Tuple) -> Result<bool> {
        Ok(matches!(self.eval(cx, condition, tuple)?, Datum::Bool(true)))
    }

    /// The rows of a whole query; then the data-changing parts of its WITH that nobody asked for are done, too.
    pub fn rows(&mut self, _: &mut dyn Context, _: &'p Query) -> Result<Vec<Vec<Datum>>> {
        Err(SqlError::unsupported("queries"))
    }

    /// All tuples of a plan: what UPDATE, DELETE and MERGE go through.
    pub fn tuples(&mut self, _: &mut dyn Context, _: &'p Plan) -> Result<Vec<Tuple>> {
        Err(SqlError::unsupported("plans"))
    }

    /// Checks a tuple of a plan again after its rows were locked and had changed: the tuple as it is now, or nothing if
    /// it no longer qualifies. Other rows of the tuple stay as they are (PostgreSQL's EvalPlanQual).
    pub fn recheck(&mut self, _: &mut dyn Context, _: &'p Plan, _: &Tuple) -> Result<Option<Tuple>> {
        Err(SqlError::unsupported("plans"))
    }
}
