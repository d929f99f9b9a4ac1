//! Programs as trees of blocks.

use std::sync::Arc;

use skew_sql::catalog::Oid;

use super::access::AccessId;
use super::may_must::May;
use super::origin::Origin;
use super::value::{Source, Value, Variable};

/// Steps, one after the other.
pub type Block = Vec<Step>;

/// The name of a block that can be left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub usize);

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A variable gets a value.
    Let(Variable, Value),
    /// One statement of the database. What its accesses do, in whatever order, is done by this statement; statements
    /// within it are those of functions and triggers that it calls.
    Statement(Origin, Block),
    /// An access of the statement around.
    Access(AccessId),
    /// Which block comes next depends on a condition: the second one where it is false or NULL.
    If {
        /// Where it comes from.
        origin: Origin,
        /// The condition.
        condition: Value,
        /// Where it is true.
        then: Block,
        /// Where it is not.
        otherwise: Block,
    },
    /// A block that is done any number of times, and can be left or begun again by its label.
    Loop(Label, Block),
    /// A block that can be left by its label.
    Within(Label, Block),
    /// The block with this label is left.
    Leave(Label),
    /// The next round of the loop with this label begins, if there is one.
    Again(Label),
    /// A savepoint: where the body fails, what it wrote is undone (what it read stays read), and one of the handlers goes
    /// on.
    Try {
        /// Where it comes from.
        origin: Origin,
        /// What may fail.
        body: Block,
        /// What is done then.
        handlers: Vec<Handler>,
    },
    /// The transaction fails, or the body of the innermost [`Step::Try`].
    Fail(Origin),
    /// The transaction goes on in the middle of its program as another one: COMMIT or ROLLBACK.
    Ends(Origin),
    /// Something outside of tables is looked at or changed.
    Outside(Origin, Outside),
    /// Anything may be done to these tables, by any number of statements.
    Havoc {
        /// Where it comes from.
        origin: Origin,
        /// The tables.
        tables: May<Oid>,
        /// What is not understood.
        why: Arc<str>,
    },
}

/// What a handler catches and does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// It catches violations of constraints, which tell what other transactions have done.
    pub violations: bool,
    /// It catches errors of concurrency.
    pub conflicts: bool,
    /// What is done.
    pub body: Block,
}

/// What is no table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A new value of a sequence is taken, or of another source.
    Next(Source),
    /// A table of the catalog, or a view of it.
    Catalog(Arc<str>),
    /// A function whose value depends on more than its arguments, or that does more than to give one.
    Volatile(Arc<str>),
    /// Rows that other transactions have locked are left out.
    SkipLocked,
}
