//! What tests connect to: a server of their own, or a real PostgreSQL.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use skew_server::{Running, Server, Settings};

/// A server with a database that nobody else uses.
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) database: String,
    /// Ends with the test.
    _running: Option<Running>,
}

/// Settings as `skew serve` has them by default, with a fixed seed.
pub(crate) fn settings() -> Settings {
    let hold = std::time::Duration::from_millis(3);
    Settings { hold, ..Settings::default() }
}

impl Target {
    /// A server as it comes.
    pub(crate) fn new() -> Target {
        match std::env::var("SKEW_TEST_POSTGRES") {
            Ok(address) => Target::postgres(address.parse().expect("host:port")),
            Err(_) => Target::with(settings()),
        }
    }

    /// A server with these settings.
    pub(crate) fn with(settings: Settings) -> Target {
        let running = Server::bind(settings).and_then(Server::start).expect("a free port");
        Target { address: running.address(), database: "skewtest".to_owned(), _running: Some(running) }
    }

    fn postgres(address: SocketAddr) -> Target {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let database = format!("skewtest{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let target = Target { address, database: "postgres".to_owned(), _running: None };
        let made = target.command("psql").args(["-qXc", &format!("DROP DATABASE IF EXISTS {database}")]).status();
        let made = made.and(target.command("psql").args(["-qXc", &format!("CREATE DATABASE {database}")]).status());
        assert!(made.expect("psql runs").success());
        Target { database, ..target }
    }

    /// A database of a server that runs already.
    pub(crate) fn existing(address: SocketAddr, database: &str) -> Target {
        Target { address, database: database.to_owned(), _running: None }
    }

    /// A program that connects to it by the usual variables.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("PGHOST", self.address.ip().to_string())
            .env("PGPORT", self.address.port().to_string())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", &self.database)
            .env("PGTZ", "UTC")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PGOPTIONS");
        command
    }
}

pub(crate) use skew_testing::has;
