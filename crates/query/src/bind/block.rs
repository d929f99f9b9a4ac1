//! What a query's expressions leave behind while they are bound: aggregates, window and set-returning functions, and
//! which of them are allowed where.

use std::sync::Arc;

use crate::parse::ast;

use crate::error::{SqlError, SqlState};
use crate::ir::{AggregateCall, Expr, WindowCall};

/// The slot of columns that stand for aggregates until the query's plan is made.
pub(super) const AGGREGATES: usize = usize::MAX;
/// The slot of columns that stand for window functions.
pub(super) const WINDOWS: usize = usize::MAX - 1;
/// The slot of columns that stand for set-returning functions.
pub(super) const SETS: usize = usize::MAX - 2;
/// The slot of columns that stand for `GROUPING(…)`.
pub(super) const GROUPINGS: usize = usize::MAX - 3;

/// What is collected.
#[derive(Default, Debug)]
pub(super) struct Block {
    /// Which part of the query is being bound.
    pub clause: Clause,
    /// The aggregates; a column in slot [`AGGREGATES`] stands for each.
    pub aggregates: Vec<AggregateCall>,
    /// The window functions.
    pub windows: Vec<WindowCall>,
    /// The set-returning functions.
    pub sets: Vec<Expr>,
    /// The arguments of each `GROUPING(…)`.
    pub groupings: Vec<Vec<Expr>>,
    /// The WINDOW clause.
    pub named_windows: Vec<(Arc<str>, ast::WindowSpec)>,
}

/// A part of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Clause {
    /// The select list.
    #[default]
    Select,
    /// WHERE
    Where,
    /// ON
    On,
    /// HAVING
    Having,
    /// GROUP BY
    GroupBy,
    /// ORDER BY
    OrderBy,
    /// DISTINCT ON
    DistinctOn,
    /// LIMIT
    Limit,
    /// OFFSET
    Offset,
    /// VALUES
    Values,
    /// The only row of VALUES in an INSERT.
    InsertRow,
    /// RETURNING
    Returning,
    /// SET of UPDATE
    Update,
    /// WHEN … AND of MERGE
    MergeWhen,
    /// The left side of a LATERAL item.
    Lateral,
    /// A function in FROM.
    FromFunction,
    /// The arguments of an aggregate.
    AggregateArgument,
    /// FILTER (WHERE …)
    Filter,
    /// The arguments of a window function.
    WindowArgument,
    /// PARTITION BY
    Partition,
    /// ORDER BY of a window
    WindowOrder,
    /// The bounds of a frame.
    WindowFrame,
    /// CHECK of a table or a domain.
    Check,
    /// DEFAULT
    Default,
    /// GENERATED ALWAYS AS
    Generated,
    /// An expression of an index.
    Index,
    /// WHERE of a partial index.
    IndexPredicate,
    /// WHEN of a trigger.
    TriggerWhen,
    /// USING of ALTER COLUMN TYPE.
    Transform,
    /// Arguments of EXECUTE.
    Execute,
    /// Arguments of CALL.
    Call,
    /// WHERE of COPY FROM.
    CopyWhere,
}

impl Clause {
    /// As messages call it.
    pub fn label(self) -> &'static str {
        match self {
            Clause::Select => "SELECT",
            Clause::Where => "WHERE",
            Clause::On => "JOIN conditions",
            Clause::Having => "HAVING",
            Clause::GroupBy => "GROUP BY",
            Clause::OrderBy => "ORDER BY",
            Clause::DistinctOn => "DISTINCT ON",
            Clause::Limit => "LIMIT",
            Clause::Offset => "OFFSET",
            Clause::Values | Clause::InsertRow => "VALUES",
            Clause::Returning => "RETURNING",
            Clause::Update => "UPDATE",
            Clause::MergeWhen => "MERGE WHEN conditions",
            Clause::Lateral => "FROM clause of their own query level",
            Clause::FromFunction => "functions in FROM",
            Clause::AggregateArgument => "aggregate function calls",
            Clause::Filter => "FILTER",
            Clause::WindowArgument => "window function calls",
            Clause::Partition | Clause::WindowOrder => "window definitions",
            Clause::WindowFrame => "window frames",
            Clause::Check => "check constraints",
            Clause::Default => "DEFAULT expressions",
            Clause::Generated => "column generation expressions",
            Clause::Index => "index expressions",
            Clause::IndexPredicate => "index predicates",
            Clause::TriggerWhen => "trigger WHEN conditions",
            Clause::Transform => "transform expressions",
            Clause::Execute => "EXECUTE parameters",
            Clause::Call => "CALL arguments",
            Clause::CopyWhere => "COPY FROM WHERE conditions",
        }
    }

    /// Aggregates may stand here, or why not.
    pub(super) fn allows_aggregates(self) -> Result<(), SqlError> {
        match self {
            Clause::Select
            | Clause::Having
            | Clause::OrderBy
            | Clause::DistinctOn
            | Clause::WindowArgument
            | Clause::Partition
            | Clause::WindowOrder => Ok(()),
            Clause::AggregateArgument => {
                Err(SqlError::new(SqlState::GROUPING_ERROR, "aggregate function calls cannot be nested"))
            }
            _ => {
                let message = format!("aggregate functions are not allowed in {}", self.label());
                Err(SqlError::new(SqlState::GROUPING_ERROR, message))
            }
        }
    }

    /// Window functions may stand here, or why not.
    pub(super) fn allows_windows(self) -> Result<(), SqlError> {
        match self {
            Clause::Select | Clause::OrderBy | Clause::DistinctOn => Ok(()),
            Clause::AggregateArgument => {
                let message = "aggregate function calls cannot contain window function calls";
                Err(SqlError::new(SqlState::GROUPING_ERROR, message))
            }
            Clause::WindowArgument => {
                Err(SqlError::new(SqlState::WINDOWING_ERROR, "window function calls cannot be nested"))
            }
            _ => {
                let message = format!("window functions are not allowed in {}", self.label());
                Err(SqlError::new(SqlState::WINDOWING_ERROR, message))
            }
        }
    }

    /// Set-returning functions may stand here, or why not.
    pub(super) fn allows_sets(self) -> Result<(), SqlError> {
        match self {
            Clause::Select | Clause::OrderBy | Clause::DistinctOn | Clause::GroupBy | Clause::InsertRow => Ok(()),
            Clause::AggregateArgument | Clause::WindowArgument => {
                let message = format!("{} cannot contain set-returning function calls", self.label());
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
            }
            _ => {
                let message = format!("set-returning functions are not allowed in {}", self.label());
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
            }
        }
    }

    /// Queries may stand here, or why not.
    pub(super) fn allows_queries(self) -> Result<(), SqlError> {
        let label = match self {
            Clause::Check => "check constraint",
            Clause::Default => "DEFAULT expression",
            Clause::Generated => "column generation expression",
            Clause::Index => "index expression",
            Clause::IndexPredicate => "index predicate",
            Clause::TriggerWhen => "trigger WHEN condition",
            Clause::Transform => "transform expression",
            Clause::Execute => "EXECUTE parameter",
            Clause::Call => "CALL argument",
            Clause::CopyWhere => "COPY FROM WHERE condition",
            _ => return Ok(()),
        };
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("cannot use subquery in {label}")))
    }
}
