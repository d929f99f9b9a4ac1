//! The PostgreSQL wire, protocol version 3.0: bytes in, bytes out.
//!
//! - [`decode`]: what clients send
//! - [`encode`]: what they are sent
//! - [`frames`]: messages cut out of a stream of bytes
//! - [`startup`]: the packets before the first message, authentication
//! - [`scram`]: the exchange of SCRAM-SHA-256
//! - [`conversation`]: the state machine of a connection after its start; its parts are [`simple`], [`extended`] and [`copy`]
//! - [`sink`]: the way back to the client
//! - [`values`]: parameters and results in text and binary
//! - [`serve`]: all of it, for one socket
//! - [`cancel`]: who may cancel whose statement
//!
//! The codec is our own: a client must not be able to bring down its thread with a short message, read beyond its end,
//! or have broken UTF-8 silently repaired, and the libraries that were tried let it.

pub mod cancel;
pub mod conversation;
pub mod decode;
pub mod encode;
pub mod frames;
pub mod scram;
pub mod sink;
pub mod startup;

mod copy;
mod extended;
mod serve;
mod simple;
mod values;

pub(crate) use serve::serve;
