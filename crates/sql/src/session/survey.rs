//! What analyses ask a connection: programs with their SQL bound, constraints, what a query uses.

use std::sync::Arc;

use crate::catalog::{Dependency, Oid};
use crate::error::{Result, SqlError};
use crate::ir::Expr;
use crate::plpgsql::bound::Program;
use crate::plpgsql::survey::surveyed;
use crate::schema::Editor;
use crate::session::Connection;
use crate::storage::World;

impl Connection {
    /// The program of a function or procedure, by its name (`s.f`) if that is unique, with its SQL bound. A body in SQL is
    /// told as the PL/pgSQL that does the same.
    pub fn program(&mut self, name: &str) -> Result<Arc<Program>> {
        let parsed = crate::parse::object_name(name)?;
        let inner = self.database.inner.clone();
        let mut world = World::new(inner.hold(), &mut self.session);
        let oid = Editor::new(&mut world).routine_named(&parsed)?;
        surveyed(&mut world, oid, None)
    }

    /// The program of a function or procedure by its number; that of a trigger's function for the table of the trigger.
    pub fn program_of(&mut self, function: Oid, table: Option<Oid>) -> Result<Arc<Program>> {
        let inner = self.database.inner.clone();
        let mut world = World::new(inner.hold(), &mut self.session);
        let row = match table {
            Some(table) => Some(crate::storage::world::as_table(&*world.relation(table)?)?.row_type.into()),
            None => None,
        };
        surveyed(&mut world, function, row)
    }

    /// What the text of a query uses.
    pub fn uses(&mut self, query: &str) -> Result<Vec<Dependency>> {
        let parsed = crate::parse::statement(query)?;
        let Some(crate::parse::Statement::Sql(statement)) = parsed else {
            return Err(SqlError::unsupported("a statement that is no query"));
        };
        let crate::parse::ast::Statement::Query(query) = *statement else {
            return Err(SqlError::unsupported("a statement that is no query"));
        };
        let inner = self.database.inner.clone();
        let mut world = World::new(inner.hold(), &mut self.session);
        Ok(world.bind_stored(&query)?.uses)
    }

    /// The columns that each constraint of a table looks at, for those that look at several: see [`crate::change::spans`].
    pub fn constraint_spans(&mut self, table: Oid) -> Result<Vec<Vec<usize>>> {
        let inner = self.database.inner.clone();
        let mut world = World::new(inner.hold(), &mut self.session);
        Ok(world.bound_table(table)?.spans_of_several().map(<[usize]>::to_vec).collect())
    }

    /// The CHECK constraints of a table, over a row of it in slot 0.
    pub fn checks(&mut self, table: Oid) -> Result<Vec<Expr>> {
        let inner = self.database.inner.clone();
        let world = World::new(inner.hold(), &mut self.session);
        let relation = world.relation(table)?;
        let checks = &crate::storage::world::as_table(&relation)?.checks;
        Ok(checks.iter().map(|check| crate::ir::current::expr(&check.condition, &world.catalog)).collect())
    }
}
