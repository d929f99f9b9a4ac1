//! Parsing and binding: text → a plan, kept as long as the catalog and the search path stay the same.

use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::budget;
use crate::catalog::{Catalog, Oid};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::{Env, Settings};
use crate::ir::{Output, Query};
use crate::parse;
use crate::parse::statement::Statement;
use crate::session::binding::{BoundStatement, bind_statement};
use crate::session::connection::{Connection, SessionState};
use crate::session::database::Inner;
use crate::session::shapes::Shape;
use crate::session::values::Quiet;
use crate::session::{Prepared, describe};
use crate::storage::World;
use crate::types::Type;

/// How many plans a connection keeps.
const KEPT: usize = 256;

/// A statement and what it was bound to.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) statement: Arc<Statement>,
    /// The plan of a query or a change.
    pub(crate) query: Option<Arc<Query>>,
    /// The catalog's version and the search path that it was bound against.
    version: u64,
    path: Vec<Oid>,
}

/// A search path and what it was made from: while that is the same, so is the path.
pub(crate) struct SeenPath {
    settings: Arc<Settings>,
    version: u64,
    temporary: Option<Oid>,
    path: Vec<Oid>,
}

/// Plans by text, as bound without given types. A text is worth keeping when it comes again: clients that write values
/// into their statements never send the same one twice.
#[derive(Default)]
pub(crate) struct Plans {
    kept: FxHashMap<Arc<str>, Prepared>,
    /// Plans by shape; `None`: texts of this shape need plans of their own.
    shapes: FxHashMap<String, Option<Prepared>>,
    /// Hashes of texts and shapes that came lately.
    seen: Vec<u64>,
}

impl Plans {
    /// Keeps the plan of a text that has come before.
    fn offer(&mut self, prepared: &Prepared) {
        if !self.came_before(&prepared.sql) {
            return;
        }
        if self.kept.len() >= KEPT {
            self.kept.clear();
        }
        self.kept.insert(prepared.sql.clone(), prepared.clone());
    }

    /// Whether the text or shape came lately; from now on it did.
    fn came_before(&mut self, text: &str) -> bool {
        let hash = FxBuildHasher.hash_one(text);
        self.seen.resize(KEPT, 0);
        std::mem::replace(&mut self.seen[hash as usize % KEPT], hash) == hash
    }
}

impl Connection {
    /// The texts of the statements of a simple query, each to be [prepared](Connection::prepare) and executed in turn.
    pub fn split(&self, sql: &str) -> Result<Vec<Arc<str>>> {
        if !sql.contains(';') {
            return Ok(vec![sql.into()]);
        }
        Ok(parse::split(sql)?.into_iter().map(|piece| sql[piece].into()).collect())
    }

    /// Parses and binds one statement. Parameters without a type (`UNKNOWN`, or not in `types`) are inferred.
    pub fn prepare(&mut self, sql: &str, types: &[Type]) -> Result<Prepared> {
        self.session.cancel.forget();
        self.session.arrived.get_or_insert_with(Instant::now);
        let budget = budget::begin(self.session.grant());
        let result = self.prepare_or_fail(sql, types);
        let result = result.and_then(|prepared| budget::verdict().map(|()| prepared));
        drop(budget);
        if let Err(error) = &result {
            self.note_refused(sql, error);
            self.fail();
        }
        result
    }

    /// The same for a statement that has no name and no parameters: others that differ in numbers alone may have brought
    /// its plan along.
    pub fn prepare_once(&mut self, sql: &str) -> Result<Prepared> {
        if self.plans.kept.contains_key(sql) {
            return self.prepare(sql, &[]);
        }
        let Some(shape) = Shape::of(sql) else { return self.prepare(sql, &[]) };
        if let Some(Some(kept)) = self.plans.shapes.get(&shape.text) {
            if self.session.may_use(&kept.plan, &self.database.inner) {
                let (sql, constants) = (sql.into(), shape.numbers);
                return Ok(Prepared { sql, constants, ..kept.clone() });
            }
            self.plans.shapes.remove(&shape.text);
        }
        let prepared = self.prepare(sql, &[])?;
        self.offer_shape(shape, &prepared);
        Ok(prepared)
    }

    /// Keeps a plan for the shape of a statement, if it has come before and one plan does for all.
    fn offer_shape(&mut self, shape: Shape, prepared: &Prepared) {
        let Some(wanted) = &prepared.plan.query else { return };
        if self.plans.shapes.contains_key(&shape.text) || !self.plans.came_before(&shape.text) {
            return;
        }
        let mut env = Quiet::of(&self.session);
        let planned = parse::statement(&shape.text).ok().flatten().and_then(|statement| {
            let path = prepared.plan.path.clone();
            plan(&mut env, path, shape.text.as_str().into(), Arc::new(statement), &shape.types()).ok()
        });
        let planned = planned.filter(|planned| {
            let query = planned.plan.query.as_ref();
            planned.plan.version == prepared.plan.version
                && *planned.parameters == *shape.types()
                && query.is_some_and(|query| shape.comes_to(query, wanted, &mut env))
        });
        // Clients get to know of no parameters.
        let planned = planned.map(|planned| Prepared { parameters: Arc::new([]), ..planned });
        if self.plans.shapes.len() >= KEPT {
            self.plans.shapes.clear();
        }
        self.plans.shapes.insert(shape.text, planned);
    }

    #[cfg(test)]
    pub(crate) fn shapes_with_plans(&self) -> usize {
        self.plans.shapes.values().flatten().count()
    }

    fn prepare_or_fail(&mut self, sql: &str, types: &[Type]) -> Result<Prepared> {
        let inner = self.database.inner.clone();
        if types.is_empty()
            && let Some(kept) = self.plans.kept.get(sql)
            && self.session.may_use(&kept.plan, &inner)
        {
            return Ok(kept.clone());
        }
        let statement = Arc::new(parse::statement(sql)?.unwrap_or(Statement::Empty));
        self.session.must_be_allowed(&statement)?;
        let prepared = match &*statement {
            // Names are looked up in the catalog as it is now, and others go on meanwhile.
            Statement::Sql(_) => {
                let catalog = self.session.catalog(&inner.lock());
                self.session.sees(catalog);
                let path = path(&self.session, &self.session.seen);
                plan(&mut Quiet::of(&self.session), path, sql.into(), statement, types)?
            }
            _ => {
                let mut world = World::new(inner.hold(), &mut self.session);
                let prepared = world.plan(sql.into(), statement, types)?;
                world.leave();
                prepared
            }
        };
        if types.is_empty() && prepared.plan.query.is_some() {
            self.plans.offer(&prepared);
        }
        Ok(prepared)
    }
}

impl SessionState {
    pub(crate) fn in_failed_transaction(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| transaction.failed)
    }

    /// Whether a kept plan is what the statement would be bound to now.
    fn may_use(&mut self, plan: &Planned, inner: &Inner) -> bool {
        if self.in_failed_transaction() {
            return false;
        }
        // Most often the catalog that was seen last is still the one.
        let own = self.transaction.as_ref().is_some_and(|transaction| transaction.catalog.is_some());
        let catalog = match !own && inner.catalog_version() == self.seen.version {
            true => self.seen.clone(),
            false => self.catalog(&inner.lock()),
        };
        self.is_current(plan, &catalog)
    }

    /// Whether names still mean what they meant when the plan was made.
    fn is_current(&mut self, plan: &Planned, catalog: &Catalog) -> bool {
        if plan.version != catalog.version {
            return false;
        }
        let seen = self.path.as_ref().filter(|seen| {
            seen.version == catalog.version
                && seen.temporary == self.temporary
                && Arc::ptr_eq(&seen.settings, &self.settings)
        });
        if let Some(seen) = seen {
            return seen.path == plan.path;
        }
        let path = path(self, catalog);
        let is_current = path == plan.path;
        let (settings, temporary) = (self.settings.clone(), self.temporary);
        self.path = Some(SeenPath { settings, version: catalog.version, temporary, path });
        is_current
    }

    /// In a failed transaction only its end is allowed.
    pub(crate) fn must_be_allowed(&self, statement: &Statement) -> Result<()> {
        let ends =
            matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. } | Statement::RollbackTo(_));
        if self.in_failed_transaction() && !ends {
            let message = "current transaction is aborted, commands ignored until end of transaction block";
            return Err(SqlError::new(SqlState::IN_FAILED_SQL_TRANSACTION, message));
        }
        Ok(())
    }
}

impl World<'_> {
    /// Binds a statement.
    pub(crate) fn plan(&mut self, sql: Arc<str>, statement: Arc<Statement>, types: &[Type]) -> Result<Prepared> {
        let path = path(self.session, &self.catalog);
        if let Statement::Sql(_) = &*statement {
            return plan(self, path, sql, statement, types);
        }
        let columns = describe::columns(self, &statement)?;
        let plan = Planned { statement, query: None, version: self.catalog.version, path };
        Ok(Prepared { sql, parameters: types.into(), constants: Arc::new([]), columns, plan: Arc::new(plan) })
    }

    /// The prepared statement bound again, if the catalog has changed since.
    pub(crate) fn refresh(&mut self, prepared: &Prepared) -> Result<Option<Prepared>> {
        let plan = &prepared.plan;
        if plan.query.is_none() || self.session.is_current(plan, &self.catalog) {
            return Ok(None);
        }
        let statement = match prepared.constants.is_empty() {
            true => plan.statement.clone(),
            // The plan was another text's.
            false => Arc::new(parse::statement(&prepared.sql)?.unwrap_or(Statement::Empty)),
        };
        let again = self.plan(prepared.sql.clone(), statement, &prepared.parameters)?;
        let types = |columns: &Option<Arc<[Output]>>| {
            columns.as_ref().map(|columns| columns.iter().map(|column| column.typed).collect::<Vec<_>>())
        };
        if types(&again.columns) != types(&prepared.columns) {
            let message = "cached plan must not change result type";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        Ok(Some(again))
    }
}

/// Binds a query or a change.
fn plan(
    env: &mut dyn Env,
    path: Vec<Oid>,
    sql: Arc<str>,
    statement: Arc<Statement>,
    types: &[Type],
) -> Result<Prepared> {
    let Statement::Sql(ast) = &*statement else { return Err(SqlError::unsupported("a plan of something else")) };
    let BoundStatement { query, parameters } = bind_statement(env, &path, ast, types)?;
    let columns = returns_rows(&query).then(|| Arc::from(query.columns.as_slice()));
    let plan = Planned { statement, query: Some(Arc::new(query)), version: env.catalog().version, path };
    Ok(Prepared { sql, parameters: parameters.into(), constants: Arc::new([]), columns, plan: Arc::new(plan) })
}

/// Whether the client gets rows: not from a change without RETURNING.
fn returns_rows(query: &Query) -> bool {
    !query.columns.is_empty() || !matches!(query.plan.innermost(), crate::ir::Plan::Change(_))
}

/// The schemas of the search path that exist, the temporary one first.
pub(crate) fn path(session: &SessionState, catalog: &Catalog) -> Vec<Oid> {
    path_of(&session.settings, session.temporary, &session.client.user, catalog)
}

fn path_of(settings: &Settings, temporary: Option<Oid>, user: &str, catalog: &Catalog) -> Vec<Oid> {
    let mut path: Vec<Oid> = temporary.filter(|oid| catalog.schemas.contains_key(oid)).into_iter().collect();
    for name in &settings.search_path {
        let name = if name == "$user" { user } else { name };
        if let Some(schema) = catalog.schema(name)
            && !path.contains(&schema.oid)
        {
            path.push(schema.oid);
        }
    }
    path
}
