//! What a certificate holds: what programs do as the argument needs it, and what the argument rests on. `CERTIFICATE.md`
//! beside this crate lists every field.

use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 2;
/// What a certificate calls itself.
pub const KIND: &str = "robust-certificate";

/// Why every run of an application is serializable at some levels.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`KIND`].
    pub skew: String,
    /// [`VERSION`].
    pub version: u32,
    /// What the application's file was called.
    pub file: String,
    /// The order of a session's transactions counts.
    pub sessions: bool,
    /// Whole rows conflict, not columns of them.
    pub rows: bool,
    /// Programs that run serializably, besides those that ask for it.
    pub serializable: Vec<String>,
    /// Pairs of programs that are serializable with each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<(String, String)>,
    /// A level in the user's words: the only one that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axioms: Option<String>,
    /// What programs do, as transactions read at the levels.
    pub summaries: Vec<Summary>,
    /// The levels at which every run is serializable.
    pub levels: Vec<LevelPart>,
}

/// A level at which every run is serializable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelPart {
    /// Its id.
    pub level: String,
    /// By which argument: `graph`, `solver`.
    pub argument: String,
    /// Which cycles the level allows, in words.
    pub rule: String,
    /// What a solver was asked, if it was; it must find each of them unsatisfiable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Script>,
}

/// A question to a solver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What follows if there is no answer.
    pub purpose: String,
    /// SMT-LIB.
    pub text: String,
}

/// What programs do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// How transactions read.
    pub reading: Reading,
    /// Whether two can write one row without seeing each other.
    pub writers: Writers,
    /// The tables.
    pub tables: Vec<Table>,
    /// What constraints look up in other rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
    /// The programs.
    pub programs: Vec<Program>,
    /// All dependencies that two transactions can have.
    pub edges: Vec<Edge>,
    /// Accesses that touch the same cells of a table, and yet no two transactions depend on each other by them.
    pub apart: Vec<Apart>,
}

/// How transactions read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// What is found is found again.
    Once,
    /// Each statement may look at another state.
    EachStatement,
}

/// Whether two transactions can write one row without one of them seeing the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writers {
    /// They can.
    Together,
    /// They cannot: `psi`, `si`, and with locks `mvrc`.
    Apart,
}

/// An order of two transactions that a constraint's look at other rows asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// The name of the constraint, or of the index.
    pub constraint: String,
    /// The change of the transaction that commits first.
    pub earlier: Change,
    /// The change of the transaction that commits later.
    pub later: Change,
    /// The columns that have the same value: of the row of the earlier change and of that of the later one.
    pub equal: Vec<(usize, usize)>,
}

/// A kind of change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The table; none if it is not known.
    pub table: Option<usize>,
    /// A row with new values comes: an INSERT, an UPDATE.
    pub puts: bool,
    /// A row with old values goes: a DELETE, an UPDATE.
    pub takes: bool,
    /// The columns whose update is such a change; null: any column.
    pub columns: Option<Vec<usize>>,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// The columns of the primary key.
    pub key: Vec<usize>,
    /// Columns that at most one row can agree on.
    pub unique: Vec<Vec<usize>>,
    /// Columns that are never NULL.
    pub not_null: Vec<usize>,
    /// Some program inserts.
    pub inserted: bool,
    /// Some program deletes.
    pub deleted: bool,
    /// Some program inserts rows without a new value in their key.
    pub reinserted: bool,
    /// Columns that some program changes in rows that are there.
    pub updated: Vec<usize>,
    /// The column that numbers its rows, if every insert takes its number from a counter, and the columns that say which one.
    pub counted: Option<(usize, Vec<usize>)>,
    /// Columns that refer to a row of another table: these columns, the table's number, its columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<(Vec<usize>, usize, Vec<usize>)>,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// The level that it asks for.
    pub level: Option<String>,
    /// The ways through it.
    pub ways: Vec<Way>,
}

/// A way through a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// The decisions that lead this way, in words.
    pub decisions: Vec<String>,
    /// Its values.
    pub terms: Vec<Term>,
    /// The values that are not NULL in any transaction that takes this way.
    pub never_null: Vec<usize>,
    /// The values that are NULL in all of them.
    pub always_null: Vec<usize>,
    /// What it does, in order.
    pub accesses: Vec<Access>,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// What it is.
    pub is: TermIs,
    /// It may be another one in each iteration of a loop.
    pub looped: bool,
}

/// What a value is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TermIs {
    /// A parameter.
    Parameter(usize),
    /// A constant.
    Constant(String),
    /// NULL.
    Null,
    /// A value that nobody else has of the same source: a sequence by its number, or a function.
    Fresh(String),
    /// What an access has read.
    Read {
        /// The access.
        access: usize,
        /// The column.
        column: usize,
    },
    /// A whole number, so much more than another one.
    More {
        /// Than which value.
        than: usize,
        /// How much.
        by: i64,
    },
    /// Anything else.
    Other,
}

/// What a statement does with rows of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// The line in the body.
    pub line: u32,
    /// The statement, shortened.
    pub statement: String,
    /// The number of the statement on its way.
    pub number: usize,
    /// The table; none if it is not known.
    pub table: Option<usize>,
    /// What is done.
    pub does: Does,
    /// Which rows: columns with values.
    pub row: Vec<(usize, usize)>,
    /// The columns among them by which rows are looked up.
    pub ranged: Vec<usize>,
    /// Further columns that decide.
    pub filtered: Vec<usize>,
    /// What is read: columns, or null for whether the row is there.
    pub reads: Vec<Option<usize>>,
    /// What is written.
    pub writes: Vec<Option<usize>>,
    /// Whether the row is there.
    pub outcome: Outcome,
    /// At most one row is meant.
    pub single: bool,
    /// A row with these values is found whenever it is there.
    pub plain: bool,
    /// The row is locked.
    pub locks: bool,
    /// Nobody else locks it then.
    pub alone: bool,
    /// It is looked at again when it is locked or changed.
    pub again: bool,
    /// Its writes and locks may be undone.
    pub undoable: bool,
    /// Any number of times.
    pub looped: bool,
    /// It may be left out.
    pub conditional: bool,
    /// Only the first row in the order of this column is asked for: the one with the smallest or the largest value.
    pub first: Option<First>,
    /// The lookups in which it may be the later change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<usize>,
    /// The lookups in which it may be the earlier change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precedes: Vec<usize>,
}

/// The first row in the order of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// The column.
    pub column: usize,
    /// The largest value comes first.
    pub largest: bool,
}

/// What is done with a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Does {
    Select,
    Insert,
    Update,
    Delete,
}

/// Whether a row that is looked for is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Outcome {
    Found,
    Missing,
    Open,
}

/// An access: the number of its program, of the way through it, and of the access on that way.
pub type At = (usize, usize, usize);

/// How transactions depend on each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The later one reads what the first one wrote.
    Wr,
    /// The later one overwrites it.
    Ww,
    /// The later one overwrites what the first one read.
    Rw,
    /// A constraint of the later one is satisfied because the first one has committed.
    Constraint,
}

/// A dependency that two transactions can have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Who comes first.
    pub from: At,
    /// Who comes later.
    pub to: At,
    /// Why.
    pub kind: Kind,
    /// Who reads has picked the row, and not only looked at it.
    pub picked: bool,
    /// What they meet at.
    pub cells: Vec<Option<usize>>,
    /// Which values of the first one and of the later one have to be equal.
    pub equal: Vec<(usize, usize)>,
    /// The lookup of a constraint that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<usize>,
}

/// Two accesses that are no dependency although they touch the same cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apart {
    /// Who would come first.
    pub from: At,
    /// Who would come later.
    pub to: At,
    /// What it would be.
    pub kind: Kind,
    /// Who reads would have picked the row.
    pub picked: bool,
    /// Why it is none.
    pub reason: String,
}

impl Summary {
    /// An access.
    pub(super) fn access(&self, at: At) -> Option<&Access> {
        self.programs.get(at.0)?.ways.get(at.1)?.accesses.get(at.2)
    }
}

impl Access {
    /// The value that a column is known to have.
    pub(super) fn value(&self, column: usize) -> Option<usize> {
        self.row.iter().find(|(known, _)| *known == column).map(|(_, value)| *value)
    }
}

impl Table {
    /// Whether a row that has gone can come back.
    pub(super) fn returns(&self) -> bool {
        self.deleted && self.reinserted
    }

    /// Whether a column of a row never changes, also when the row goes and comes back.
    pub(super) fn keeps(&self, column: usize) -> bool {
        self.key.contains(&column) || !(self.updated.contains(&column) || (self.inserted && self.returns()))
    }
}
