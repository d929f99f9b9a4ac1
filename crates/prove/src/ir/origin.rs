//! Where a part of a program comes from: a place, which means something to the front end alone, and why it is there.

use std::sync::Arc;

/// Where something comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin {
    /// The place in whatever the program was made of: a line of a body.
    pub place: u32,
    /// The statement, shortened.
    pub text: Arc<str>,
    /// Why it is there.
    pub cause: Cause,
}

/// Why a part of a program is there. Everything but [`Cause::Written`] is implicit in SQL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The statement says so.
    Written,
    /// A CHECK constraint or that of a domain, by its name.
    Check(Arc<str>),
    /// The default of a column.
    Default(Arc<str>),
    /// A generated column.
    Generated(Arc<str>),
    /// The lookup that keeps a unique index unique.
    Unique(Arc<str>),
    /// The lookup of the row that a foreign key refers to.
    Parent(Arc<str>),
    /// The lookup of rows that refer to one that goes.
    Children(Arc<str>),
    /// What a foreign key does to such rows.
    Cascade(Arc<str>),
    /// A trigger.
    Trigger(Arc<str>),
    /// A function that is called.
    Call(Arc<str>),
    /// The row that is locked or changed is looked at again.
    SecondLook,
    /// The row that ON CONFLICT meets.
    Conflict,
    /// What a cursor fetches.
    Cursor,
    /// RETURNING
    Returning,
    /// It runs when the transaction commits.
    Commit,
}

impl Origin {
    /// The same place for another reason.
    pub fn because(&self, cause: Cause) -> Origin {
        Origin { cause, ..self.clone() }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cause::Written => Ok(()),
            Cause::Check(name) => write!(f, "CHECK of {name}"),
            Cause::Default(name) => write!(f, "default of {name}"),
            Cause::Generated(name) => write!(f, "generated column {name}"),
            Cause::Unique(name) => write!(f, "unique lookup of {name}"),
            Cause::Parent(name) => write!(f, "parent lookup of {name}"),
            Cause::Children(name) => write!(f, "child lookup of {name}"),
            Cause::Cascade(name) => write!(f, "cascade of {name}"),
            Cause::Trigger(name) => write!(f, "trigger {name}"),
            Cause::Call(name) => write!(f, "call of {name}"),
            Cause::SecondLook => f.write_str("second look under the lock"),
            Cause::Conflict => f.write_str("ON CONFLICT"),
            Cause::Cursor => f.write_str("cursor fetch"),
            Cause::Returning => f.write_str("RETURNING"),
            Cause::Commit => f.write_str("at the commit"),
        }
    }
}
