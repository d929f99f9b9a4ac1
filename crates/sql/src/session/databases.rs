//! CREATE, ALTER and DROP DATABASE: what the server does for a statement.

use std::time::{Duration, Instant};

use crate::error::{Result, SqlError, SqlState};
use crate::parse::database::DatabaseChange;
use crate::session::database::Database;
use crate::session::{Cluster, Outcome, Status};
use crate::storage::World;

/// How long DROP, RENAME and TEMPLATE wait for connections that are about to end, as PostgreSQL does.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl World<'_> {
    pub(crate) fn change_database(&mut self, change: &DatabaseChange) -> Result<Outcome> {
        let tag = change.tag();
        let alone = matches!(change, DatabaseChange::Create { .. } | DatabaseChange::Drop { .. });
        if alone && (!self.frames.is_empty() || self.session.status() != Status::Idle) {
            let message = match self.frames.is_empty() {
                true => format!("{tag} cannot run inside a transaction block"),
                false => format!("{tag} cannot be executed from a function"),
            };
            return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
        }
        let (cluster, own) = (self.session.client.cluster.clone(), self.session.client.database.clone());
        match change {
            DatabaseChange::Create { name, template } => {
                let template = template.as_deref().filter(|name| !matches!(*name, "template0" | "template1"));
                if template == Some(&*own) {
                    return Err(in_use(&format!("source database \"{own}\" is being accessed by other users")));
                }
                self.when_unused(|| cluster.create(name, template))?;
            }
            DatabaseChange::Drop { name, if_exists, force } => {
                if *name == own {
                    return Err(in_use("cannot drop the currently open database"));
                }
                if *if_exists && !cluster.names().contains(name) {
                    let message = format!("database \"{name}\" does not exist, skipping");
                    self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
                    return Ok(Outcome::Done(tag.to_owned()));
                }
                if *force {
                    cluster.disconnect(name);
                }
                self.when_unused(|| Cluster::drop(&*cluster, name))?;
            }
            DatabaseChange::Rename { name, to } => {
                if *name == own {
                    let message = "current database cannot be renamed";
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                }
                self.when_unused(|| cluster.rename(name, to))?;
            }
            DatabaseChange::Alter { name } => {
                if *name != own && !cluster.names().contains(name) {
                    let message = format!("database \"{name}\" does not exist");
                    return Err(SqlError::new(SqlState::INVALID_CATALOG_NAME, message));
                }
            }
        }
        Ok(Outcome::Done(tag.to_owned()))
    }

    /// Tries until nobody uses the database; others go on meanwhile.
    fn when_unused(&mut self, mut attempt: impl FnMut() -> Result<()>) -> Result<()> {
        let end = Instant::now() + LONGEST_WAIT;
        loop {
            match attempt() {
                Err(error) if error.is(SqlState::OBJECT_IN_USE) && Instant::now() < end => self.sleep(0.02)?,
                done => return done,
            }
        }
    }
}

fn in_use(message: &str) -> SqlError {
    SqlError::new(SqlState::OBJECT_IN_USE, message)
}

impl Database {
    /// Another database with all that is committed in this one.
    pub fn duplicate(&self) -> Result<Database> {
        let copy = Database::new(self.options());
        {
            let state = self.inner.hold();
            let mut other = copy.inner.hold();
            other.store = state.store.clone();
            other.put_catalog(state.catalog.clone());
            other.sequences = state.sequences.clone();
            other.added_cells = state.added_cells.clone();
            other.again = state.again.clone();
            other.roles = state.roles.clone();
            other.counters = state.counters;
        }
        copy.checkpoint()?;
        Ok(copy)
    }

    /// Ends the connections to it.
    pub fn disconnect_all(&self) {
        let state = self.inner.hold();
        state.connections.values().for_each(|connection| connection.cancel.terminate());
        state.changed();
    }
}
