//! Which rows an access is about: what columns of theirs are equal to, and what else decides.

use std::sync::Arc;

use super::value::{Function, Value};

/// A set of rows of one table.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Predicate {
    /// Columns and what they are equal to: all of these hold of a picked row. No row is picked by NULL.
    pub equal: Vec<(usize, Value)>,
    /// Comparisons of columns, one of each list holds of a picked row.
    pub limits: Vec<Vec<Limit>>,
    /// What else decides, which is not understood: a row of which everything above holds is perhaps not picked. `None`:
    /// every row of which it holds, and that the look shows, is picked.
    pub remainder: Option<Arc<str>>,
}

/// A comparison of a column with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The column.
    pub column: usize,
    /// How it compares.
    pub is: Function,
    /// With what.
    pub value: Value,
}

impl Predicate {
    /// Something else decides, too.
    pub fn also(&mut self, why: impl AsRef<str>) {
        self.remainder.get_or_insert_with(|| Arc::from(why.as_ref()));
    }

    /// The value that a column of the rows has.
    pub fn value_of(&self, column: usize) -> Option<&Value> {
        self.equal.iter().find(|(known, _)| *known == column).map(|(_, value)| value)
    }
}
