//! Syntax tree → IR: names become positions, every expression gets a type, every call its function.
//!
//! In reading order:
//! - [`names`]: identifiers, and which relation a name means
//! - `scope`, [`variables`], [`params`]: what is visible where
//! - `block`: what is allowed where
//! - `coerce`, `datatype`: conversions, types by name
//! - `expr`: expressions
//! - `from`, `select`, …: queries
//! - `insert`, `update`, `merge`: changes

mod block;
mod change;
mod coerce;
mod collation;
mod datatype;
mod entry;
mod expr;
mod from;
mod function_scan;
mod group;
mod lock;
pub mod names;
mod order;
pub mod params;
mod query;
mod scope;
mod select;
mod set;
mod sets;
mod target;
#[cfg(test)]
pub(crate) mod tests;
pub mod variables;
mod with;

pub use block::Clause;
pub use params::Params;
pub use variables::{Conflict, Variable, Variables};

use crate::parse::ast::Span;

use crate::budget::{self, Active, Share};
use crate::catalog::{Catalog, Oid};
use crate::error::{Result, SqlError};
use crate::functions::Env;
use crate::functions::resolve::Names;
use scope::Frame;
use with::NamedCte;

/// Binds statements against a catalog.
pub struct Binder<'a> {
    env: &'a dyn Env,
    catalog: &'a Catalog,
    path: &'a [Oid],
    params: Params,
    variables: Option<&'a dyn Variables>,
    /// The tuples around, the nearest last.
    frames: Vec<Frame<'a>>,
    /// Where in `frames` the tuples of the FROM begin that is being bound.
    from_base: usize,
    /// The common table expressions that can be named, the nearest last.
    ctes: Vec<NamedCte>,
    /// How many there have been in the statement.
    cte_count: usize,
    /// The first of `ctes` that was used and depends on the tuples around.
    lowest_cte: usize,
    /// The parts around that a recursive reference must not stand in, the innermost last.
    forbidding: Vec<with::Forbidding>,
    /// Why the common table expression that is being bound has to be bound in another way.
    given_up: Option<with::GivenUp>,
    _budget: Active,
    /// Whether the result is kept in the catalog: then views stay what they are, and FROM is noted as it was written.
    storing: bool,
    /// The schema of the operator that is being looked for: `OPERATOR(schema.+)`.
    operator_path: Option<&'a [Oid]>,
    /// The view that the change is about that is being bound.
    through: Option<std::sync::Arc<change::Through>>,
}

impl<'a> Binder<'a> {
    /// A binder against the catalog of `env`; `path` has the schemas of the search path (a temporary one first, if there
    /// is one; `pg_catalog` comes first unless it is among them).
    pub fn new(env: &'a dyn Env, path: &'a [Oid]) -> Binder<'a> {
        Binder {
            env,
            catalog: env.catalog(),
            path,
            params: Params::default(),
            variables: None,
            frames: Vec::new(),
            from_base: 0,
            ctes: Vec::new(),
            cte_count: 0,
            lowest_cte: usize::MAX,
            forbidding: Vec::new(),
            given_up: None,
            _budget: budget::begin_alone(),
            storing: false,
            operator_path: None,
            through: None,
        }
    }

    /// With these parameters.
    #[must_use]
    pub fn with_params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// With these variables in scope.
    #[must_use]
    pub fn with_variables(mut self, variables: &'a dyn Variables) -> Self {
        self.variables = Some(variables);
        self
    }

    /// For a query that the catalog keeps ([`crate::ir::Stored`]).
    #[must_use]
    pub fn storing(mut self) -> Self {
        self.storing = true;
        self
    }

    /// How many common table expressions were bound.
    pub fn cte_count(&self) -> usize {
        self.cte_count
    }

    /// The types of the parameters, once everything is bound.
    pub fn params(&self) -> &Params {
        &self.params
    }

    pub(in crate::bind) fn names(&self) -> Names<'a> {
        Names { catalog: self.catalog, path: self.operator_path.unwrap_or(self.path) }
    }

    /// Goes one level deeper, if the stack allows it.
    fn nested<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        budget::deeper(Share::Trees)?;
        bind(self)
    }

    /// The error, with the place of something.
    fn at(&self, span: Span, error: SqlError) -> SqlError {
        span.locate(error)
    }
}
