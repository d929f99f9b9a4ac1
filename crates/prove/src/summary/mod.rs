//! What programs read and write: each way through a procedure as a list of accesses to rows, with the values that say
//! which rows.
//!
//! A *path* is one way through a program: which branches it takes and whether the rows that it looks for by their key are
//! there. What a path does outside of loops it does in every transaction that takes it, so a path is precise about what
//! *must* be written; what is done in a loop is done any number of times. Ways that end in an error are left out: what is
//! rolled back is seen by nobody.

mod assign;
mod branches;
pub mod build;
pub mod calls;
mod changes;
pub mod conditions;
pub mod counters;
pub mod facts;
mod formula;
mod known;
pub mod limits;
pub mod lookups;
mod paths;
pub mod print;
mod query;
mod rows;
mod schema_calls;
mod statements;
mod terms;
pub(crate) mod values;

use std::collections::BTreeSet;
use std::sync::Arc;

use skew_model::Level;
use skew_sql::catalog::Oid;
use skew_sql::types::Typed;

pub use conditions::{Comparison, Condition};
pub use facts::Facts;
pub use limits::{Bound, Limit, Side};
pub use lookups::Lookup;

/// All programs of an application.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The programs, by name.
    pub programs: Vec<Program>,
    /// What the schema and all programs together say about tables.
    pub facts: Facts,
    /// Functions that look at tables or change them, and that nothing else calls.
    pub uncalled: Vec<String>,
}

/// A procedure.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The same as SQL writes it.
    pub call: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The level that its comment asks for.
    pub level: Option<Level>,
    /// The ways through it.
    pub paths: Vec<Path>,
    /// What was not understood and stands for more than it does, with its line.
    pub approximations: Vec<Approximation>,
    /// How it learns what others do, whatever its level lets it see.
    pub learns: Option<Lesson>,
    /// The line of a COMMIT or ROLLBACK in the middle: it is several transactions.
    pub commits: Option<u32>,
}

impl Program {
    /// Why what holds of transactions at a level need not hold of it.
    pub fn is_beyond(&self) -> Option<String> {
        let name = &self.name;
        match (self.commits, self.learns) {
            (Some(_), _) => Some(format!("{name}, which commits in the middle")),
            (None, Some(Lesson { line, by })) => Some(format!("{name}, line {line}: {by}")),
            (None, None) => None,
        }
    }
}

/// How a program learns what others do beside what it reads: no level says what it may come to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lesson {
    /// The line.
    pub line: u32,
    /// How.
    pub by: Learning,
}

/// What tells a program about others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Learning {
    /// The violation of a constraint that it catches.
    Violation,
    /// An error of concurrency that it catches.
    Conflict,
    /// Rows that others have locked are skipped.
    Skipped,
    /// An advisory lock that others may have.
    TriedLock,
    /// Tables that are emptied or made anew, also for those whose snapshot is older.
    MadeAnew,
    /// A table in which the database tells about itself: `pg_locks`, `pg_sequences`, `pg_stat_activity`.
    SystemTable(&'static str),
    /// A function that does: the last value of a sequence, the number of the transaction.
    SystemFunction(&'static str),
    /// A column that says where a version of a row is and which transaction made it: `xmin`, `ctid`.
    SystemColumn,
    /// It learns nothing, but what its statements mean changes while it runs.
    Settings,
}

impl std::fmt::Display for Learning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = match self {
            Learning::SystemTable(name) | Learning::SystemFunction(name) => {
                return write!(f, "{name} tells what others do, and is not transactional");
            }
            Learning::SystemColumn => "a system column (xmin, xmax, ctid)",
            Learning::Violation => "a violation that is caught",
            Learning::Conflict => "an error of concurrency that is caught",
            Learning::Skipped => "SKIP LOCKED",
            Learning::TriedLock => "an advisory lock that is tried",
            Learning::MadeAnew => {
                return f.write_str("a table that is emptied or altered is so in older snapshots, too");
            }
            Learning::Settings => {
                return f.write_str("a setting may change what the statements mean that follow");
            }
        };
        write!(f, "{by} tells what others do, whatever the level lets it see")
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: skew_sql::types::Type,
}

/// Something that is taken to do more than it does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Approximation {
    /// Its line in the body.
    pub line: u32,
    /// What it is, and what it was taken for.
    pub what: String,
}

/// One way through a program.
#[derive(Clone, Debug)]
pub struct Path {
    /// The decisions that lead this way, as a reader would say them.
    pub decisions: Vec<String>,
    /// What is understood of them. Decisions that are not understood are left out, so that more runs take the way than
    /// these conditions say, never fewer.
    pub conditions: Vec<Condition>,
    /// The values that accesses refer to, those of parameters first.
    pub terms: Vec<Term>,
    /// The values that are not NULL in any transaction that takes this way and commits.
    pub never_null: BTreeSet<TermId>,
    /// The values that are NULL in all of them.
    pub always_null: BTreeSet<TermId>,
    /// What it does, in order.
    pub accesses: Vec<Access>,
}

/// A value in a path, by its place in [`Path::terms`].
pub type TermId = usize;

/// A value: the same one wherever it is used in one transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// It may be another one in each iteration of a loop.
    pub looped: bool,
    /// Its type, where there is one.
    pub typed: Option<Typed>,
}

/// What a value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TermKind {
    /// A parameter of the program.
    Parameter(usize),
    /// A constant, as text.
    Constant(String),
    /// NULL
    Null,
    /// A value that no other transaction has: of a sequence, or a new identifier.
    Fresh(Source),
    /// What an access has read, of its row or of the one that has the smallest or largest value. NULL if it has found none.
    Read {
        /// The access.
        access: usize,
        /// The column.
        column: usize,
    },
    /// Another value plus a constant.
    Plus(TermId, i64),
    /// The sum of two values. Like the following ones and [`TermKind::Plus`], NULL if one of them is; where it would
    /// overflow, the transaction fails.
    Sum(TermId, TermId),
    /// The first value less the second one.
    Difference(TermId, TermId),
    /// A value so many times.
    Times(TermId, i64),
    /// Anything.
    Unknown,
}

/// Where new values come from: no two values of one source are the same, those of different sources may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Source {
    /// A sequence that never begins again.
    Sequence(Oid),
    /// A function.
    Function(&'static str),
}

/// What a statement does with rows of one table.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// The line in the body.
    pub line: u32,
    /// The statement, shortened.
    pub statement: Arc<str>,
    /// The number of the statement in its path: several accesses can belong to one. What it calls, and what it starts in
    /// other tables, looks at a later state, and has a number before that of the next statement.
    pub number: usize,
    /// The table.
    pub table: Oid,
    /// What is done.
    pub kind: AccessKind,
    /// Which rows: those whose columns have these values.
    pub row: Vec<(usize, TermId)>,
    /// The columns among them by which rows are looked up in an index. Rows that differ in other ones are looked at, too:
    /// whether they are there, and the columns that decide.
    pub ranged: BTreeSet<usize>,
    /// What decides about rows beyond that, among the columns of the table; `reads` has them, too.
    pub filtered: BTreeSet<usize>,
    /// What holds of columns of the rows that are picked; `filtered` has these columns, too.
    pub limits: Vec<Limit>,
    /// What is read of them.
    pub reads: BTreeSet<Cell>,
    /// What is written of them.
    pub writes: BTreeSet<Cell>,
    /// What columns are set to, by an update; what an insert sets them to is in `row`.
    pub values: Vec<(usize, TermId)>,
    /// Whether the row is there.
    pub outcome: Outcome,
    /// At most one row has these values.
    pub single: bool,
    /// A row with these values is found whenever it is there: nothing else decides.
    pub plain: bool,
    /// FOR UPDATE or FOR NO KEY UPDATE or FOR SHARE: nobody changes what was read until the end.
    pub locks: bool,
    /// FOR UPDATE or FOR NO KEY UPDATE: nobody else locks it so, or FOR SHARE.
    pub alone: bool,
    /// The row is looked at again when it is locked or changed, after the snapshot of the statement.
    pub again: bool,
    /// What it writes may be undone, and its locks given up, although what it reads has been read.
    pub undoable: bool,
    /// It stands in a loop: any number of times.
    pub looped: bool,
    /// It may be left out, even where the path is taken.
    pub conditional: bool,
    /// Only the smallest or the largest value of a column is asked for.
    pub extreme: Option<Extreme>,
    /// The orders of [`Facts::lookups`] in which it may be the later change, by their numbers.
    pub follows: BTreeSet<usize>,
    /// Those in which it may be the earlier change.
    pub precedes: BTreeSet<usize>,
}

/// What is done with a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum AccessKind {
    Select,
    Insert,
    Update,
    Delete,
}

/// A part of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cell {
    /// Whether it is there.
    Existence,
    /// A column, by its position.
    Column(usize),
}

/// Whether the row that is looked for by its key is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// It is.
    Found,
    /// It is not.
    Missing,
    /// Either; or any number of rows.
    Open,
}

/// MIN or MAX of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Extreme {
    pub column: usize,
    pub largest: bool,
    /// Rows are looked at in the order of the column, and only up to the first one that is there.
    pub first: bool,
}

impl Access {
    /// Whether it writes the row for sure, in every transaction that takes its path.
    pub fn surely_writes(&self) -> bool {
        !self.conditional && !self.looped && !self.writes.is_empty() && self.outcome == Outcome::Found
    }

    /// Whether it looks at something or changes something.
    pub fn does_something(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// It looks at nothing and does nothing after all. It keeps its place: values say what access they are from.
    fn forget(&mut self) {
        self.row.clear();
        self.ranged.clear();
        self.filtered.clear();
        self.limits.clear();
        self.reads.clear();
        self.writes.clear();
        self.values.clear();
        self.outcome = Outcome::Missing;
        (self.locks, self.alone) = (false, false);
    }

    /// Whether a cell is also read of rows that are looked at and turn out not to be among those that are asked for.
    pub fn reads_of_others(&self, cell: Cell, table: &facts::TableFacts) -> bool {
        let decides = match cell {
            Cell::Existence => true,
            Cell::Column(column) => self.filtered.contains(&column) || self.value_of(column).is_some(),
        };
        let only_theirs = self.filtered.is_empty() && self.row.iter().all(|(column, _)| self.ranged.contains(column));
        // One row is looked at, and it is the one that is asked for.
        let is_it = self.outcome == Outcome::Found
            && table.unique.iter().any(|unique| unique.iter().all(|column| self.ranged.contains(column)));
        decides && !only_theirs && !is_it
    }

    /// The value that a column is known to have.
    pub fn value_of(&self, column: usize) -> Option<TermId> {
        self.row.iter().find(|(known, _)| *known == column).map(|(_, term)| *term)
    }
}

impl Path {
    /// Whether an access surely looks for the row that another one has found, and finds it in the same state of the database.
    pub fn finds_again(&self, found: &Access, access: &Access) -> bool {
        !access.conditional
            && !access.looped
            && access.plain
            && access.outcome != Outcome::Missing
            && found.table == access.table
            && !found.row.is_empty()
            && found.row.len() == access.row.len()
            // What changes in a loop has another value by then.
            && found.row.iter().all(|(column, value)| {
                !self.terms[*value].looped && access.value_of(*column) == Some(*value)
            })
            && !self.has_changed(found, access)
    }

    /// Whether the row that one access has found may not be there for another one, because the path itself takes it away
    /// before, or only inserts it later.
    fn has_changed(&self, found: &Access, asked: &Access) -> bool {
        self.accesses.iter().any(|access| {
            let is_between = match (asked.number > found.number, access.kind) {
                (_, _) if access.looped => true,
                (true, kind) => kind != AccessKind::Insert && (found.number..asked.number).contains(&access.number),
                (false, kind) => kind == AccessKind::Insert && (asked.number..=found.number).contains(&access.number),
            };
            let comes_or_goes = access.table == asked.table && access.writes.contains(&Cell::Existence);
            comes_or_goes && is_between && !std::ptr::eq(access, asked)
        })
    }

    /// Whether it writes nothing.
    pub fn is_read_only(&self) -> bool {
        self.accesses.iter().all(|access| access.writes.is_empty())
    }
}
