//! What the executor asks of the world around it: rows, cells, locks, other functions and statements.

use std::sync::Arc;

use crate::catalog::{Oid, UserFunction, UserTypeKind};
use crate::error::{Result, SqlError};
use crate::exec::Run;
use crate::functions::Env;
use crate::ir::{Change, LockStrength, LockWait, SystemColumn};
use crate::system::SystemTable;
use crate::types::{Datum, Type, Typed};

/// A row of a table: the table, and the store's key of the row's existence cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RowRef {
    /// The table.
    pub table: Oid,
    /// The existence cell.
    pub key: u32,
    /// Which version its cells are read in.
    pub version: RowVersion,
}

/// Which version of a row is meant. One statement may look at both: an UPDATE of a row that it has locked, whose subquery
/// still sees the row as it was when the statement began.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowVersion {
    /// What the statement sees.
    Seen,
    /// The same, by a scan for rows that get locked: what is seen of one does not count once it is looked at again.
    Sought,
    /// The newest, under a lock.
    Newest,
}

impl RowRef {
    /// A row as the statement sees it.
    pub fn seen(table: Oid, key: u32) -> RowRef {
        RowRef { table, key, version: RowVersion::Seen }
    }

    /// The same row, by who locks it if it qualifies.
    pub fn sought(self) -> RowRef {
        RowRef { version: RowVersion::Sought, ..self }
    }

    /// The same row in its newest version.
    pub fn newest(self) -> RowRef {
        RowRef { version: RowVersion::Newest, ..self }
    }
}

/// Which rows a scan looks at: [`crate::ir::Access`] with its bounds evaluated.
#[derive(Clone, Debug)]
pub enum AccessRange {
    /// All, in the order of the primary key, or of insertion without one.
    All,
    /// Ranges of an index. Without NULLs: a comparison with NULL is never true, so no row is asked for.
    Index {
        /// The index.
        index: Oid,
        /// Alternatives for the first keys, ascending and without duplicates; never empty (one empty list if only the
        /// bounds count).
        equal: Vec<Vec<Datum>>,
        /// Lower bound of the next key: value, inclusive.
        from: Option<(Datum, bool)>,
        /// Upper bound of the next key: value, inclusive.
        to: Option<(Datum, bool)>,
    },
}

/// A scan under way. What is in it is the business of the [`Context`] that made it.
#[derive(Debug, Default)]
pub struct RowCursor {
    /// Candidates: rows whose existence is decided when the scan reaches them, and the index entries that lead there.
    pub candidates: Vec<(RowRef, Option<u32>)>,
    /// How many of them were reached.
    pub reached: usize,
    /// The number of the look that was noted for them, if it is one.
    pub look: Option<usize>,
    /// They come from the last one to the first.
    pub backwards: bool,
    /// Rows that qualify get locked.
    pub seeks: bool,
    /// The index by which they were found, if they were.
    pub index: Option<Oid>,
    /// Where the next batch of candidates begins, if there is one.
    pub resume: Option<Box<Resume>>,
}

/// Where a scan goes on.
#[derive(Debug)]
pub struct Resume {
    /// The table.
    pub table: Oid,
    /// What was asked for.
    pub access: AccessRange,
    /// Which alternative of the access.
    pub alternative: usize,
    /// After these bytes of the space.
    pub after: Vec<u8>,
}

/// What came of locking a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockOutcome {
    /// It is locked, and what the statement has seen of it so far is still so: from now on it is this row.
    Locked(RowRef),
    /// It is locked, and somebody changed it since the statement saw it: from now on it is this row. Whether it still
    /// qualifies has to be checked again.
    Changed(RowRef),
    /// Somebody else holds it, and SKIP LOCKED says to leave it out.
    Skipped,
    /// Somebody deleted it.
    Gone,
}

/// The world of one statement.
pub trait Context: Env {
    /// Begins to look at rows of a table. Reads nothing yet but notes the range.
    fn open_rows(&mut self, table: Oid, access: AccessRange) -> Result<RowCursor>;

    /// The same, from the last row to the first.
    fn open_rows_backwards(&mut self, table: Oid, access: AccessRange) -> Result<RowCursor> {
        let mut cursor = self.open_rows(table, access)?;
        debug_assert!(cursor.resume.is_none(), "a scan in batches knows its own way back");
        cursor.candidates.reverse();
        cursor.backwards = true;
        Ok(cursor)
    }

    /// The statement has run, with all its parts.
    fn has_run(&mut self) -> Result<()> {
        Ok(())
    }

    /// Nobody asks for more rows: what was not reached was not looked at.
    fn stop_rows(&mut self, _cursor: &RowCursor) -> Result<()> {
        Ok(())
    }

    /// The next row that exists for this statement: reads the existence cells of the candidates up to it.
    fn next_row(&mut self, cursor: &mut RowCursor) -> Result<Option<RowRef>>;

    /// The value of a column (its position in [`crate::catalog::Table::columns`]) of a row, through the statement's
    /// cache: one statement reads one cell once.
    fn cell(&mut self, row: RowRef, column: usize) -> Result<Datum>;

    /// A system column of a row.
    fn system_column(&mut self, row: RowRef, column: SystemColumn) -> Result<Datum>;

    /// Locks a row, and waits for it if it has to and may.
    fn lock_row(&mut self, row: RowRef, strength: LockStrength, wait: LockWait) -> Result<LockOutcome>;

    /// Calls a user's function that returns one value. Strictness was taken care of.
    fn call(&mut self, function: &Arc<UserFunction>, args: Vec<Datum>) -> Result<Datum>;

    /// Calls a user's function that returns rows (or one): the columns of each.
    fn call_rows(&mut self, function: &Arc<UserFunction>, args: Vec<Datum>) -> Result<Vec<Vec<Datum>>>;

    /// The types of the columns of the rows that the last function has returned which returns records.
    fn returned(&self) -> &[Typed] {
        &[]
    }

    /// The rows of a catalog view.
    fn virtual_rows(&mut self, table: &'static SystemTable) -> Result<Arc<Vec<Arc<[Datum]>>>>;

    /// Runs a data-changing statement (or the one in a WITH) and gives what its RETURNING says.
    fn change<'p>(&mut self, change: &'p Change, run: &mut Run<'p>) -> Result<Vec<Arc<[Datum]>>>;

    /// Checks the conditions of a domain (and of the domains below it) on a value that was converted to it.
    fn check_domain(&mut self, value: &Datum, domain: Type) -> Result<()> {
        let _ = value;
        let mut ty = domain;
        while let Some(UserTypeKind::Domain { base, not_null, checks, .. }) =
            self.catalog().user_type(ty).map(|user| &user.kind)
        {
            if *not_null || !checks.is_empty() {
                return Err(SqlError::unsupported("a domain with conditions"));
            }
            ty = base.ty;
        }
        Ok(())
    }

    /// A variable of the PL/pgSQL block or a parameter of the function around the statement.
    fn variable(&mut self, slot: usize) -> Result<Datum>;

    /// `$n`, from zero.
    fn param(&mut self, number: usize) -> Result<Datum>;

    /// An error if the statement was cancelled or took too long. Asked every now and then.
    fn check_cancelled(&mut self) -> Result<()>;
}
