//! What a built-in function is, and what it asks of the world around it. The functions themselves are [`crate::functions`].

use crate::catalog::{Catalog, Oid, Volatility};
use crate::error::Result;
use crate::types::json::Json;
use crate::types::{Datum, Type, Typed};

/// A built-in function or operator: one overload.
#[derive(Debug)]
pub struct Function {
    /// Its name; operators have their symbol (`+`, `||`, `->>`), prefix operators too (with one argument).
    pub name: &'static str,
    /// The types of its arguments; `ANYELEMENT`, `ANYARRAY`, `ANY` and the like are polymorphic.
    pub args: &'static [Type],
    /// The names of its arguments, where they have names.
    pub names: &'static [&'static str],
    /// What the last arguments are when they are left out. The function always gets all of its arguments.
    pub defaults: &'static [Constant],
    /// The last argument is VARIADIC: its type is an array, and the function gets one array of any number of arguments.
    /// If the type is `ANY`, the function gets any number of arguments of any types.
    pub variadic: bool,
    /// What it returns; polymorphic like the arguments.
    pub returns: Type,
    /// NULL in, NULL out, without being called.
    pub strict: bool,
    /// How much it depends on the world.
    pub volatility: Volatility,
    /// What it does.
    pub body: Body,
}

/// A constant that a table can hold.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'static str),
    Jsonb(&'static str),
}

impl Constant {
    /// Its value.
    pub fn datum(self) -> Datum {
        match self {
            Constant::Null => Datum::Null,
            Constant::Bool(value) => Datum::Bool(value),
            Constant::Int(value) => Datum::Int(value),
            Constant::Float(value) => Datum::Float(value),
            Constant::Text(value) => Datum::text(value),
            Constant::Jsonb(value) => Json::parse(value).map_or(Datum::Null, |json| Datum::Jsonb(json.into())),
        }
    }
}

/// What a function does.
pub enum Body {
    /// A value from values.
    Scalar(fn(&mut dyn Env, &[Datum], &Site<'_>) -> Result<Datum>),
    /// A value from many rows.
    Aggregate(fn(&Site<'_>) -> Box<dyn Accumulator>),
    /// A value from many rows in order, `WITHIN GROUP (ORDER BY …)`: for each row, in that order, it takes the direct
    /// arguments and then the values of the ORDER BY. `args` of the function and of the site have both.
    OrderedSet {
        /// How many of the arguments are direct ones.
        direct: usize,
        /// Makes its state.
        make: fn(&Site<'_>) -> Box<dyn Accumulator>,
    },
    /// A value from the row's place in its partition.
    Window(WindowFunction),
    /// Rows from values. The columns' names and types: `columns`, or one column named like the function.
    Set {
        /// Names and types of its columns, if they have names. One column is of the type that it returns.
        columns: &'static [(&'static str, Type)],
        /// The rows.
        rows: fn(&mut dyn Env, &[Datum], &Site<'_>) -> Result<Vec<Vec<Datum>>>,
    },
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Body::Scalar(_) => "Scalar",
            Body::Aggregate(_) => "Aggregate",
            Body::OrderedSet { .. } => "OrderedSet",
            Body::Window(_) => "Window",
            Body::Set { .. } => "Set",
        })
    }
}

/// The window functions that are not aggregates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
}

/// Where a call stands: the types that polymorphic functions need.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The types of the arguments.
    pub args: &'a [Typed],
    /// The type of the result.
    pub returns: Typed,
}

/// The state of an aggregate.
pub trait Accumulator {
    /// Takes a row's arguments. A strict aggregate is not called with NULLs.
    fn add(&mut self, env: &mut dyn Env, args: &[Datum]) -> Result<()>;

    /// Takes a row back, where that is possible and exact (moving window frames); says whether it was.
    fn remove(&mut self, _env: &mut dyn Env, _args: &[Datum]) -> Result<bool> {
        Ok(false)
    }

    /// What it comes to.
    fn finish(&self, env: &mut dyn Env) -> Result<Datum>;

    /// Whether it keeps the arguments themselves, so that its memory grows with the rows.
    fn keeps(&self) -> bool {
        false
    }
}

/// The world as functions see it.
pub trait Env: crate::types::Env {
    /// The catalog.
    fn catalog(&self) -> &Catalog;

    /// When the statement began.
    fn statement_time(&self) -> i64;

    /// Now.
    fn clock_time(&self) -> i64;

    /// 64 random bits, from the database's seed.
    fn random_bits(&mut self) -> u64;

    /// What the function does next takes long and needs no more than its arguments: other statements go on meanwhile, until
    /// [`Env::go_on`], which the caller of the function sees to.
    fn let_others_go_on(&mut self) {}

    /// A function has returned that possibly let others go on.
    fn go_on(&mut self) {}

    /// What expressions ask about the connection and the database.
    fn ask(&mut self, question: Question<'_>) -> Result<Datum>;
}

/// What functions ask of the database around them.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Question<'a> {
    NextValue(Oid),
    CurrentValue(Oid),
    SetValue {
        sequence: Oid,
        value: i64,
        called: bool,
    },
    LastValue,
    /// Where a sequence stands: its last value, and whether that was given out (`called`).
    SequenceState {
        sequence: Oid,
        called: bool,
    },
    CurrentUser,
    SessionUser,
    CurrentDatabase,
    BackendPid,
    /// The connections that the one with this number waits for.
    Blockers(i64),
    TriggerDepth,
    TransactionId,
    /// `current_setting(name, missing_ok)`
    Setting {
        name: &'a str,
        missing_ok: bool,
    },
    /// `set_config(name, value, local)`
    SetSetting {
        name: &'a str,
        value: Option<&'a str>,
        local: bool,
    },
    /// Advisory locks: exclusive or shared, of the session or the transaction, waiting or trying.
    AdvisoryLock {
        key: AdvisoryKey,
        shared: bool,
        transaction: bool,
        wait: bool,
    },
    AdvisoryUnlock {
        key: AdvisoryKey,
        shared: bool,
    },
    AdvisoryUnlockAll,
    Sleep {
        seconds: f64,
    },
    Notify {
        channel: &'a str,
        payload: &'a str,
    },
    CancelBackend {
        pid: i64,
        terminate: bool,
    },
    /// An object as text, with or without the parentheses that precedence makes superfluous.
    Definition {
        what: Definition<'a>,
        pretty: bool,
    },
    /// Everything in the schema `skew`: its name and its arguments.
    Skew {
        name: &'a str,
        args: &'a [Datum],
    },
    /// The number of rows of a relation, its size, and the like: made up where there is no truth.
    RelationSize(Oid),
}

/// What is shown of an object, which is given by its number.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Definition<'a> {
    Index(Oid),
    /// A column of an index, counted from one; zero is the whole index.
    IndexColumn(Oid, i64),
    Constraint(Oid),
    Trigger(Oid),
    View(Oid),
    /// What stands in a table of `pg_catalog` in the place of a node tree.
    Node(&'a str),
    Function(Oid),
    Arguments {
        function: Oid,
        defaults: bool,
    },
    /// The default of an argument, counted from one over the input arguments.
    ArgumentDefault(Oid, i64),
    Result(Oid),
    Body(Oid),
}

/// The key of an advisory lock: one bigint, or two ints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum AdvisoryKey {
    Big(i64),
    Pair(i32, i32),
}
