//! The language of all analyses: programs as trees of blocks of accesses to tables, with symbolic values and predicates.
//!
//! A program says everything that its transactions do as a step of its own: what SQL leaves implicit (second looks, CHECKs,
//! defaults, lookups of constraints, cascades, triggers) is there with its [`Cause`]. What a front end does not understand
//! is [`Step::Havoc`], "anything may be done to these tables", or an opaque value or predicate. So lowering is total, and
//! an analysis that handles every step is sound for every program.
//!
//! # What a program means
//!
//! A program means a set of *traces*. A trace is what one transaction that commits does: events, each with the number of
//! its statement: a cell of a row was read, with the value and before or after the transaction itself wrote it; a cell was
//! written, with the value; a range of rows was looked at; a row was locked. Statements are numbered in the order in which
//! they begin. A trace belongs to a program if the program can be run so that it *explains* the trace:
//!
//! - Steps are run in order. An *environment* gives each variable a value, parameters those of the call.
//! - `Let` works out a value. An opaque value is any value. `Column(a, c)` is what the trace's statement read of column `c`
//!   of the row that `a` picked, before it wrote there.
//! - `Statement` takes the next statement number of the trace, or explains that the statement did nothing that is recorded.
//!   What a statement does after another one within it (of a function that it calls) can have the number of that one. When its block is done, the accesses that were reached are compared with the events of that number:
//!   - *may*: every event is covered by an access. A cell that was read is in `may_decide` and the row is in the region,
//!     or it is in `may_read` and the row is picked. A cell that was written is in `may_write`, the row is picked, and the
//!     value is that of `values`, if it says one. A range lies within the region. A locked row is picked by a lock.
//!     A row is picked if the predicate's equalities and limits are true of what the statement read of the row. Reads of
//!     what the transaction itself wrote need no access.
//!   - *must*: of every row that is surely picked (it is there, everything in the predicate is true of it, and there is no
//!     remainder) all of `must_read` was read, all of `must_write` written, and the lock taken. An access that inserts
//!     has inserted a row. An access that surely looks has looked, unless it looks rows up by NULL.
//!   - *count*: an access that picks at most one row has not picked two.
//! - `If` goes on with the block that the condition's value says, or with either if the value is not known. `Loop` does its
//!   block any number of times.
//! - `Try` does its body, or does a part of it whose writes are not in the trace, and then one of the handlers. `Fail`
//!   explains nothing but such a part.
//! - `Havoc` covers any number of statements of the trace whose events are about its tables.
//! - At the end every event has been explained.
//!
//! Accesses with [`Snapshot::Committed`] are looks of constraints: they are no reads of the transaction and not in traces.
//!
//! The tests run this definition literally against what the weak database records.

pub mod access;
pub mod block;
pub mod may_must;
pub mod origin;
pub mod predicate;
mod print;
pub mod value;

use std::collections::BTreeMap;

use skew_model::Level;
use skew_sql::catalog::Oid;
use skew_sql::types::Type;

pub use access::{Access, AccessId, Cell, Count, Kind, Rows, Snapshot};
pub use block::{Block, Handler, Label, Outside, Step};
pub use may_must::{May, Must};
pub use origin::{Cause, Origin};
pub use predicate::{Limit, Predicate};
pub use value::{Function, Source, Value, Variable};

/// An application.
#[derive(Clone, Debug)]
pub struct Application {
    /// Its tables.
    pub tables: BTreeMap<Oid, Table>,
    /// Its programs.
    pub programs: Vec<Program>,
}

/// A table, as far as programs need it.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The names of its columns, by position.
    pub columns: Vec<String>,
    /// The columns by which a row is the same row; they have no cells of their own. Empty: every row is one of its own.
    pub key: Vec<usize>,
}

/// A program: what a transaction does.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The level that it asks for.
    pub level: Option<Level>,
    /// Its parameters: the variables that have the values of a call.
    pub parameters: Vec<Parameter>,
    /// The names of its variables.
    pub variables: Vec<String>,
    /// Its accesses.
    pub accesses: Vec<Access>,
    /// What it does.
    pub body: Block,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The variable that holds it.
    pub variable: Variable,
}

impl Program {
    /// An access by its number.
    pub fn access(&self, id: AccessId) -> &Access {
        &self.accesses[id.0]
    }
}
