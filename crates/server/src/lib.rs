//! The front doors of the weak database.
//!
//! In reading order:
//! - [`settings`]: what a server is told when it starts
//! - [`tls`]: encrypted connections, if they are built in
//! - [`databases`]: the databases by name, each made when somebody first connects to it
//! - [`directed`]: which transaction is held after a read until others have overwritten what it read
//! - [`rewrites`]: statements that are changed on their way to the database, to try a change
//! - [`scheduler`]: whose statement goes next while several clients are at work
//! - [`shape`]: statements without their values
//! - [`listen`]: sockets, one thread a connection, the end
//! - [`postgres`]: the PostgreSQL wire
//!
//! A connection is a thread, as it is a process in PostgreSQL: statements run where they were read, a statement that
//! waits for a lock or runs for long holds up nobody else, and cancel requests are always heard.

pub mod databases;
pub mod delayed;
pub mod directed;
pub mod listen;
pub mod postgres;
pub mod rewrites;
pub mod scheduler;
pub mod settings;
pub mod shape;
pub mod tls;

mod hangup;
mod socket;

pub use listen::{Running, Server};
pub use settings::{Authentication, Limits, Settings};
