//! What a server is told when it starts.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use skew_sql::session::Options;

use crate::tls::Certificate;
use skew_sql::script::Script;

/// What a server is told when it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen.
    pub host: IpAddr,
    /// On which port; 0: a free one.
    pub port: u16,
    /// A folder for a Unix socket, besides.
    pub unix_socket: Option<PathBuf>,
    /// Who may connect.
    pub authentication: Authentication,
    /// What encrypted connections show; without it there are none.
    pub certificate: Option<Certificate>,
    /// How databases behave.
    pub options: Options,
    /// The longest that a statement is held while other connections are at work.
    pub hold: Duration,
    /// What every new database starts with.
    pub load: Vec<Script>,
    /// What nobody may exceed.
    pub limits: Limits,
}

/// Who may connect, under any user's name.
#[derive(Clone, Debug)]
pub enum Authentication {
    /// Everybody.
    Trust,
    /// Who sends this password as it is.
    Password(String),
    /// Who proves to know this password.
    Scram(String),
}

/// What nobody may exceed.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at a time.
    pub max_connections: usize,
    /// Databases.
    pub max_databases: usize,
    /// The bytes of a message.
    pub max_message: usize,
    /// How long a client may take until it is connected.
    pub startup_time: Duration,
    /// The stack of a connection's thread: as deep as statements may be nested. Only what is used is taken.
    pub stack: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            host: IpAddr::from([127, 0, 0, 1]),
            port: 0,
            unix_socket: None,
            authentication: Authentication::Trust,
            certificate: None,
            options: Options::default(),
            hold: Duration::ZERO,
            load: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_connections: 4_000,
            max_databases: 1_000,
            max_message: 64 << 20,
            startup_time: Duration::from_secs(30),
            stack: 256 << 20,
        }
    }
}
