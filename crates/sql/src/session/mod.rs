//! A client's connection: its transaction, its settings, its prepared statements. What front doors talk to.
//!
//! - [`database`]: what connections share; `choices`: how its store behaves; [`steering`]: how its reads choose;
//!   [`guide`]: every way in which they can
//! - [`connection`]: what belongs to one client
//! - [`transaction`], `ending`: blocks, savepoints, commit and rollback
//! - `prepare`, `shapes`, `describe`, `statement`, `named`: text → plan → outcome
//! - `binding`: where the session meets the binder; `context`: the statement as the executor and functions see it
//! - `values`: parameters and results as the wire carries them
//! - `survey`: what analyses ask
//! - `cursors`, `copy`, `temporary`, `clock`: what their names say
//! - [`control`]: the schema `skew`; `history`: what transactions have done; [`recording`]: a run with its statements;
//!   [`trace`]: the same for analyses, with ranges and locks

mod binding;
pub(crate) mod choices;
pub mod clock;
pub mod connection;
mod context;
pub mod control;
pub(crate) mod copy;
pub(crate) mod cursors;
pub mod database;
mod databases;
pub(crate) mod describe;
mod ending;
mod explain;
pub mod guide;
pub(crate) mod history;
mod named;
pub(crate) mod prepare;
pub mod recording;
mod roles;
mod shapes;
mod statement;
pub mod steering;
mod survey;
pub(crate) mod temporary;
pub mod trace;
pub mod transaction;
mod values;

use std::sync::Arc;

pub use crate::client::{
    Alone, ChoiceKind, Client, Cluster, Constraints, DeadlockCheck, Format, Granularity, Message, Options, Outcome,
    Status,
};
pub use connection::{Cancel, Connection};
pub use database::Database;

use crate::ir::Output;
use crate::types::{Datum, Type};

/// A statement that was parsed and bound.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its text.
    pub sql: Arc<str>,
    /// The types of its parameters, those that the client did not name inferred.
    pub parameters: Arc<[Type]>,
    /// The columns of its result; `None` if it returns no rows.
    pub columns: Option<Arc<[Output]>>,
    pub(crate) plan: Arc<prepare::Planned>,
    /// The parameters of a plan that was made for another text, with other numbers.
    pub(crate) constants: Arc<[Datum]>,
}
