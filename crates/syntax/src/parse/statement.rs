//! What a statement is before names are looked up: a tree for queries and changes of rows, and a tree of our
//! own for everything else.

use crate::parse::ast;

use crate::parse::database::DatabaseChange;
use crate::parse::ddl::Ddl;
use crate::parse::grant::{Grant, RoleChange};

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// Nothing but white space and comments.
    Empty,
    /// SELECT, VALUES, TABLE, INSERT, UPDATE, DELETE, MERGE.
    Sql(Box<ast::Statement>),
    /// CREATE, ALTER, DROP, COMMENT, TRUNCATE: what changes the schema.
    Schema(Box<Ddl>),
    /// BEGIN, START TRANSACTION
    Begin {
        /// Isolation, access, deferrability.
        modes: Vec<TransactionMode>,
        /// START TRANSACTION
        start: bool,
    },
    /// COMMIT, END
    Commit {
        /// AND CHAIN
        chain: bool,
    },
    /// ROLLBACK, ABORT
    Rollback {
        /// AND CHAIN
        chain: bool,
    },
    /// SAVEPOINT
    Savepoint(String),
    /// RELEASE SAVEPOINT
    Release(String),
    /// ROLLBACK TO SAVEPOINT
    RollbackTo(String),
    /// SET TRANSACTION
    SetTransaction(Vec<TransactionMode>),
    /// SET SESSION CHARACTERISTICS AS TRANSACTION
    SetCharacteristics(Vec<TransactionMode>),
    /// SET CONSTRAINTS; without names ALL.
    SetConstraints {
        /// Which constraints.
        names: Vec<ast::ObjectName>,
        /// DEFERRED rather than IMMEDIATE.
        deferred: bool,
    },
    /// SET [LOCAL] name = value
    Set(Set),
    /// RESET name; without a name ALL.
    Reset(Option<String>),
    /// SHOW name; without a name ALL.
    Show(Option<String>),
    /// LOCK TABLE
    Lock {
        /// The tables.
        tables: Vec<ast::ObjectName>,
        /// How.
        mode: TableLock,
        /// NOWAIT
        nowait: bool,
    },
    /// LISTEN
    Listen(String),
    /// UNLISTEN; without a channel all.
    Unlisten(Option<String>),
    /// NOTIFY
    Notify {
        /// The channel.
        channel: String,
        /// What is said; empty if nothing.
        payload: String,
    },
    /// PREPARE
    Prepare {
        /// Its name.
        name: String,
        /// The types of its parameters.
        types: Vec<ast::DataType>,
        /// What is prepared.
        statement: Box<Statement>,
        /// Its text.
        text: String,
    },
    /// EXECUTE
    Execute {
        /// The prepared statement.
        name: String,
        /// Its parameters.
        arguments: Vec<ast::Expr>,
    },
    /// DEALLOCATE; without a name ALL.
    Deallocate(Option<String>),
    /// DECLARE CURSOR
    DeclareCursor(DeclareCursor),
    /// FETCH and MOVE
    Fetch(Fetch),
    /// CLOSE; without a name ALL.
    Close(Option<String>),
    /// COPY
    Copy(Box<Copy>),
    /// EXPLAIN
    Explain(Explain),
    /// DO
    Do {
        /// `plpgsql` unless said otherwise.
        language: String,
        /// The text between the dollars.
        body: String,
    },
    /// CALL
    Call(Box<ast::Function>),
    /// DISCARD
    Discard(Discard),
    /// VACUUM, ANALYZE, CLUSTER, REINDEX, CHECKPOINT: nothing to be done.
    Maintenance {
        /// Its tag.
        tag: &'static str,
        /// The relations that are named: they have to exist.
        relations: Vec<ast::ObjectName>,
    },
    /// GRANT and REVOKE: there are no privileges, but what is named has to be there.
    Grant(Box<Grant>),
    /// CREATE ROLE and DROP ROLE
    Role(RoleChange),
    /// CREATE, ALTER and DROP DATABASE
    Database(DatabaseChange),
    /// ALTER ROLE, CREATE STATISTICS, …: accepted, and nothing is done.
    Ignored {
        /// Its tag.
        tag: String,
    },
}

/// A mode of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionMode {
    /// ISOLATION LEVEL
    Isolation(Isolation),
    /// READ ONLY
    ReadOnly,
    /// READ WRITE
    ReadWrite,
    /// [NOT] DEFERRABLE
    Deferrable(bool),
}

pub use skew_model::SqlLevel as Isolation;

/// SET
#[derive(Clone, PartialEq, Debug)]
pub struct Set {
    /// LOCAL: until the end of the transaction.
    pub local: bool,
    /// The setting, in lower case; with a class, `class.name`. TIME ZONE is `timezone`, SESSION AUTHORIZATION
    /// `session_authorization`, NAMES `client_encoding`, SCHEMA `search_path`, XML OPTION `xmloption`.
    pub name: String,
    /// The values as they are to be read, each the text of a literal or a word; none is DEFAULT.
    pub values: Vec<String>,
}

/// How strongly LOCK TABLE locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum TableLock {
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
}

/// DECLARE CURSOR
#[derive(Clone, PartialEq, Debug)]
pub struct DeclareCursor {
    /// Its name.
    pub name: String,
    /// BINARY
    pub binary: bool,
    /// SCROLL or NO SCROLL, if said.
    pub scroll: Option<bool>,
    /// WITH HOLD
    pub hold: bool,
    /// The query.
    pub query: Box<ast::Query>,
    /// The text of the query.
    pub text: String,
}

/// FETCH and MOVE
#[derive(Clone, PartialEq, Debug)]
pub struct Fetch {
    /// Which cursor.
    pub cursor: String,
    /// Which rows.
    pub direction: Direction,
    /// MOVE: the rows are not returned.
    pub only_move: bool,
}

/// Which rows FETCH returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// So many next ones; `i64::MAX` is ALL, negative ones go backward. `NEXT` is 1, `PRIOR` is -1.
    Forward(i64),
    /// The row at this place; negative ones count from the end. `FIRST` is 1, `LAST` is -1.
    Absolute(i64),
    /// So many rows ahead.
    Relative(i64),
}

/// COPY
#[derive(Clone, PartialEq, Debug)]
pub struct Copy {
    /// What is copied.
    pub what: CopyWhat,
    /// FROM rather than TO.
    pub from: bool,
    /// The other end.
    pub target: CopyTarget,
    /// FORMAT and so on: names in lower case.
    pub options: Vec<(String, CopyOption)>,
    /// WHERE of COPY FROM.
    pub condition: Option<ast::Expr>,
}

/// What is copied.
#[derive(Clone, PartialEq, Debug)]
pub enum CopyWhat {
    /// A table, and some of its columns (all if empty).
    Table(ast::ObjectName, Vec<ast::Ident>),
    /// A query (or a change with RETURNING).
    Query(Box<ast::Statement>),
}

/// The other end of a COPY.
#[derive(Clone, PartialEq, Debug)]
pub enum CopyTarget {
    /// STDIN or STDOUT: the client.
    Client,
    /// A file of the server.
    File(String),
    /// A program of the server.
    Program(String),
}

/// The value of an option of COPY.
#[derive(Clone, PartialEq, Debug)]
pub enum CopyOption {
    /// None said: true.
    None,
    /// A word or a literal.
    Value(String),
    /// `*`
    All,
    /// Columns.
    Columns(Vec<String>),
}

/// EXPLAIN
#[derive(Clone, PartialEq, Debug)]
pub struct Explain {
    /// ANALYZE: it runs.
    pub analyze: bool,
    /// VERBOSE
    pub verbose: bool,
    /// FORMAT, in lower case.
    pub format: String,
    /// The other options with their values, in lower case.
    pub options: Vec<(String, String)>,
    /// What is explained.
    pub statement: Box<Statement>,
    /// Its text.
    pub text: String,
}

/// DISCARD
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Discard {
    All,
    Plans,
    Sequences,
    Temporary,
}
