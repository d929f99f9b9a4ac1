//! A database of one's own, gone when it is dropped.

use std::io;

use super::{ConnectError, Connection, Url};

/// The error of a name that does not exist.
const NO_SUCH_DATABASE: &str = "3D000";

/// An empty database.
pub(crate) struct FreshDatabase {
    server: Url,
    url: Url,
}

impl FreshDatabase {
    /// Makes an empty database next to the one of `server`.
    ///
    /// Connecting is enough where a new name is a new database; otherwise it is created.
    pub(crate) fn create(server: &Url, name: &str) -> io::Result<FreshDatabase> {
        let url = server.with_database(name);
        drop_database(server, name);
        match Connection::open(&url) {
            Ok(_) => {}
            Err(ConnectError::Refused(error)) if error.code == NO_SUCH_DATABASE => {
                let mut connection = Connection::open(server)?;
                connection.simple(&format!("CREATE DATABASE \"{name}\" TEMPLATE template0")).ok()?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(FreshDatabase { server: server.clone(), url })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }
}

impl Drop for FreshDatabase {
    fn drop(&mut self) {
        drop_database(&self.server, &self.url.database);
    }
}

/// A database that is not there, or that the server does not let go, does no harm: names are not used again.
fn drop_database(server: &Url, name: &str) {
    if let Ok(mut connection) = Connection::open(server) {
        connection.simple(&format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"));
    }
}
