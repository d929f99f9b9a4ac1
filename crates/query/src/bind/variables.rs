//! Variables of a function around a statement: names that are not columns.

use std::sync::Arc;

use crate::types::{RecordShape, Typed};

/// The variables in scope: PL/pgSQL's, or the parameters of a function in SQL.
pub trait Variables {
    /// The variable that a name means: `x`, or `label.x` with the label of a block or the function's name.
    fn find(&self, name: &[&str]) -> Option<Variable>;

    /// What a name means that is both a column and a variable.
    fn conflict(&self) -> Conflict;
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its place in the frame.
    pub slot: usize,
    /// Its type.
    pub typed: Typed,
    /// The fields of a record that is not of a named type; `None` while it has none (an error if one is asked for).
    pub shape: Option<Arc<RecordShape>>,
}

/// What a name means that is both a column and a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// An error: `plpgsql.variable_conflict = error`.
    Refuse,
    /// The variable.
    Variable,
    /// The column; also what functions in SQL do.
    Column,
}
