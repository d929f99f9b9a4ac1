//! What one part of a statement does with rows of one table.

use skew_sql::catalog::Oid;
use skew_sql::ir::LockStrength;

use super::may_must::{May, Must};
use super::origin::Origin;
use super::predicate::Predicate;
use super::value::Value;

/// An access of a program, by its place in [`Program::accesses`](super::Program::accesses).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AccessId(pub usize);

/// A part of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cell {
    /// Whether it is there; the columns of the primary key come with it.
    Existence,
    /// Another column, by its position.
    Column(usize),
}

/// An access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Where it comes from.
    pub origin: Origin,
    /// The table.
    pub table: Oid,
    /// What is done.
    pub kind: Kind,
    /// With which rows.
    pub rows: Rows,
    /// How many rows it picks.
    pub count: Count,
    /// Which state it looks at.
    pub snapshot: Snapshot,
    /// What it may read of every row in its region, also of those that it does not pick: what decides.
    pub may_decide: May<Cell>,
    /// What it may read of rows that it picks.
    pub may_read: May<Cell>,
    /// What it reads of every row that it picks.
    pub must_read: Must<Cell>,
    /// What it may write of rows that it picks.
    pub may_write: May<Cell>,
    /// What it writes of every row that it picks.
    pub must_write: Must<Cell>,
    /// What columns are set to where they are written. Columns that are written and not listed may get any value.
    pub values: Vec<(usize, Value)>,
    /// It surely looks at its region whenever it is reached: at the row, there or not, or at a range of rows. Only where a
    /// value of the region is NULL, it does not.
    pub surely_looks: bool,
}

/// What is done with rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// They are looked at.
    Look,
    /// They are locked, and looked at again.
    Lock(LockStrength),
    /// They are made.
    Insert,
    /// They are changed.
    Update,
    /// They go.
    Delete,
}

/// Which rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rows {
    /// Those of which a predicate holds. The columns that are listed say which rows are looked at to find them: only such
    /// as have the predicate's values there, by the key or an index. Without any it may be every row of the table.
    Where {
        /// The predicate.
        picked: Predicate,
        /// The columns of `picked.equal` that restrict the region.
        region: Vec<usize>,
    },
    /// Those that another access has picked.
    Of(AccessId),
    /// New ones, with these values.
    New,
}

/// How many rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// At most one: its key is given.
    AtMostOne,
    /// Exactly one, unless the transaction fails.
    One,
    /// Any number.
    Any,
}

/// Which state of the database is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snapshot {
    /// That of the statement, as the level has it.
    Statement,
    /// The newest version of the row, under its lock: a second look. At levels where a statement keeps its snapshot, the
    /// transaction fails where that is another one.
    UnderLock,
    /// What is committed, whatever the level: how constraints look. It is no read of the transaction.
    Committed,
}

impl Access {
    /// One that looks at rows.
    pub fn look(origin: Origin, table: Oid, picked: Predicate) -> Access {
        let rows = Rows::Where { picked, region: Vec::new() };
        let may_decide = May::any([Cell::Existence]);
        Access { may_decide, ..Access::new(origin, table, Kind::Look, rows) }
    }

    /// One that does something with rows; nothing is said of it yet.
    pub fn new(origin: Origin, table: Oid, kind: Kind, rows: Rows) -> Access {
        Access {
            origin,
            table,
            kind,
            rows,
            count: Count::Any,
            snapshot: Snapshot::Statement,
            may_decide: May::default(),
            may_read: May::default(),
            must_read: Must::default(),
            may_write: May::default(),
            must_write: Must::default(),
            values: Vec::new(),
            surely_looks: false,
        }
    }
}
