//! The server over its sockets: real clients, the protocol message by message, and clients that misbehave.
//!
//! With `SKEW_TEST_POSTGRES=host:port` (user `postgres`, no password) the tests of clients and of the protocol run on a
//! real PostgreSQL instead: what they expect is what it does.

mod bad_clients;
mod bodies;
mod clients;
mod constraints;
mod dump;
mod generated;
mod hungry;
mod invariant_truths;
mod isolation;
mod limits;
mod load;
mod locks;
mod others;
mod protocol;
mod psql;
mod raw;
mod target;
#[cfg(feature = "tls")]
mod tls;
