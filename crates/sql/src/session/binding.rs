//! The one place where statements and the schema's expressions meet the binder.

use std::sync::Arc;

use crate::parse::ast;

use crate::bind::{Binder, Clause, Params};
use crate::catalog::{Generation, Oid, Relation, StoredQuery};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Env;
use crate::ir::{Expr, ExprKind, Query, current};
use crate::plan;
use crate::storage::World;
use crate::types::{Type, Typed};

/// A bound statement: its plan and the types of its parameters.
pub(crate) struct BoundStatement {
    pub(crate) query: Query,
    pub(crate) parameters: Vec<Type>,
}

/// Binds a query or a change.
pub(crate) fn bind_statement(
    env: &mut dyn Env,
    path: &[Oid],
    statement: &ast::Statement,
    types: &[Type],
) -> Result<BoundStatement> {
    let mut binder = Binder::new(&*env, path).with_params(Params::open(types));
    let query = binder.statement(statement)?;
    let parameters = binder.params().types()?;
    Ok(BoundStatement { query: planned(env, query), parameters })
}

/// What was bound, as it is executed.
fn planned(env: &mut dyn Env, mut query: Query) -> Query {
    plan::fold::statement(&mut query, env);
    plan::statement(&mut query, env.catalog());
    query
}

impl World<'_> {
    /// What was bound, as it is executed.
    pub(crate) fn planned(&mut self, query: Query) -> Query {
        planned(self, query)
    }

    /// What was bound, with its queries as they are executed.
    pub(crate) fn planned_expression(&mut self, mut expr: Expr) -> Expr {
        plan::fold::queries(&mut expr, self);
        plan::expression(&mut expr, &self.catalog);
        expr
    }

    /// Binds an expression over one row of a table, in slot 0.
    pub(crate) fn bind_row_expression(&mut self, expr: &ast::Expr, relation: &Arc<Relation>) -> Result<Expr> {
        let path = self.path();
        Binder::new(&*self, &path).storing().row_expr(relation, expr, Clause::Check)
    }

    /// Binds a trigger's WHEN: OLD is slot 0, NEW slot 1.
    pub(crate) fn bind_trigger_condition(&mut self, expr: &ast::Expr, relation: &Arc<Relation>) -> Result<Expr> {
        let path = self.path();
        Binder::new(&*self, &path).storing().trigger_condition(relation, expr)
    }

    /// Binds an expression without columns that is assigned to a column (a DEFAULT) or a parameter.
    pub(crate) fn bind_assigned(&mut self, expr: &ast::Expr, typed: Typed, name: &str) -> Result<Expr> {
        let path = self.path();
        Binder::new(&*self, &path).storing().assigned_value(expr, typed, name, Clause::Default)
    }

    /// Binds the value of a column over a row of its table, in slot 0: a generated column, USING of ALTER TYPE.
    pub(crate) fn bind_row_value(
        &mut self,
        expr: &ast::Expr,
        relation: &Arc<Relation>,
        typed: Typed,
        name: &str,
    ) -> Result<Expr> {
        let path = self.path();
        Binder::new(&*self, &path).storing().row_value(relation, expr, typed, name, Clause::Generated)
    }

    /// Binds a domain's CHECK: VALUE is the operand.
    pub(crate) fn bind_domain_check(&mut self, expr: &ast::Expr, base: Typed) -> Result<Expr> {
        let path = self.path();
        // VALUE is an operand itself, so that no CASE around it has one.
        Binder::new(&*self, &path).domain_check(base, expr)
    }

    /// Binds a query that the catalog keeps.
    pub(crate) fn bind_stored(&mut self, query: &ast::Query) -> Result<StoredQuery> {
        let path = self.path();
        let mut binder = Binder::new(&*self, &path).storing();
        let bound = binder.query(query)?;
        if !binder.params().types()?.is_empty() {
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
        }
        Ok(StoredQuery::new(bound, binder.cte_count()))
    }

    /// A type by its name.
    pub(crate) fn bind_type(&mut self, ty: &ast::DataType) -> Result<Typed> {
        let path = self.path();
        Binder::new(&*self, &path).data_type(ty)
    }

    /// The relation that a name means.
    pub(crate) fn find_relation(&mut self, name: &ast::ObjectName) -> Result<Option<Arc<Relation>>> {
        let path = self.path();
        Ok(Binder::new(&*self, &path).relation_named(name)?.cloned())
    }

    /// The schemas in which names are looked for.
    pub(crate) fn path(&self) -> Vec<Oid> {
        crate::session::prepare::path(self.session, &self.catalog)
    }

    /// The defaults of a table's columns that are not among these, bound.
    pub(crate) fn column_defaults(&mut self, table: Oid, given: &[usize]) -> Result<Vec<(usize, Expr)>> {
        let relation = self.relation(table)?;
        let columns = &crate::storage::world::as_table(&relation)?.columns;
        let mut defaults = Vec::new();
        for (position, column) in columns.iter().enumerate() {
            if column.dropped || given.contains(&position) || column.generation == Generation::Stored {
                continue;
            }
            if let (Generation::IdentityAlways | Generation::IdentityByDefault, Some(sequence)) =
                (column.generation, column.sequence)
            {
                defaults.push((position, Expr { kind: ExprKind::NextValue(sequence), typed: column.typed }));
            } else if let Some(default) = &column.default {
                defaults.push((position, current::expr(default, &self.catalog)));
            }
        }
        Ok(defaults)
    }
}
