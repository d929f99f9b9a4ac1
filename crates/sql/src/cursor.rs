//! A cursor: a result that was computed when it was declared, and a place in it.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::ir::Output;
use crate::parse::statement::Direction;
use crate::types::Datum;

/// An open cursor.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    pub(crate) columns: Arc<[Output]>,
    pub(crate) rows: Arc<Vec<Vec<Datum>>>,
    /// About how much memory they take.
    pub(crate) bytes: usize,
    /// The row that it is on, from one; 0 is before the first, one more than there are rows after the last.
    pub(crate) at: usize,
    /// WITH HOLD
    pub(crate) holds: bool,
    /// NO SCROLL
    pub(crate) forward_only: bool,
    /// Whether its transaction has committed.
    pub(crate) committed: bool,
    /// How many savepoints were there when it was declared: it goes with those that are rolled back.
    pub(crate) depth: usize,
}

impl Cursor {
    /// The rows in a direction; the cursor moves.
    pub(crate) fn fetch(&mut self, direction: Direction) -> Result<Vec<Vec<Datum>>> {
        let count = self.rows.len();
        let backward = match direction {
            Direction::Forward(n) | Direction::Relative(n) => n < 0,
            Direction::Absolute(n) => n < 0 || usize::try_from(n).is_ok_and(|n| n <= self.at),
        };
        if backward && self.forward_only {
            let message = "cursor can only scan forward";
            return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                .hint("Declare it with SCROLL option to enable backward scan."));
        }
        let one = |cursor: &mut Cursor, place: i128| {
            let place = place.clamp(0, count as i128 + 1) as usize;
            cursor.at = place;
            if (1..=count).contains(&place) { vec![cursor.rows[place - 1].clone()] } else { Vec::new() }
        };
        Ok(match direction {
            Direction::Forward(0) | Direction::Relative(0) => one(self, self.at as i128),
            Direction::Forward(n) if n > 0 => {
                let end = usize::try_from(n).unwrap_or(usize::MAX).saturating_add(self.at).min(count);
                let rows = self.rows[self.at.min(count)..end.max(self.at.min(count))].to_vec();
                self.at = if usize::try_from(n).is_ok_and(|n| n == rows.len()) { end } else { count + 1 };
                rows
            }
            Direction::Forward(n) => {
                let wanted = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
                let mut rows = Vec::new();
                while rows.len() < wanted && self.at > 1 {
                    self.at -= 1;
                    rows.push(self.rows[self.at - 1].clone());
                }
                if rows.len() < wanted {
                    self.at = 0;
                }
                rows
            }
            Direction::Relative(n) => one(self, self.at as i128 + i128::from(n)),
            Direction::Absolute(n) if n >= 0 => one(self, n.into()),
            Direction::Absolute(n) => one(self, count as i128 + 1 + i128::from(n)),
        })
    }
}

/// There is no such cursor.
pub(crate) fn no_cursor(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
}
