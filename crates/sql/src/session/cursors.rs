//! DECLARE, FETCH, MOVE and CLOSE: a cursor is a result that was computed when it was declared.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::ir::Output;
use crate::parse::statement::{Direction, Fetch};
use crate::session::Outcome;
use crate::session::connection::SessionState;
use crate::types::Datum;

/// An open cursor.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    pub(crate) columns: Arc<[Output]>,
    pub(crate) rows: Arc<Vec<Vec<Datum>>>,
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

impl SessionState {
    /// FETCH or MOVE.
    pub(crate) fn fetch(&mut self, fetch: &Fetch) -> Result<Outcome> {
        let cursor = self.cursors.get_mut(&fetch.cursor).ok_or_else(|| no_cursor(&fetch.cursor))?;
        let rows = cursor.fetch(fetch.direction)?;
        if fetch.only_move {
            return Ok(Outcome::Done(format!("MOVE {}", rows.len())));
        }
        Ok(Outcome::Rows { columns: cursor.columns.clone(), rows, tag: "FETCH".to_owned() })
    }

    /// How many savepoints a cursor would depend on that is declared now.
    pub(crate) fn cursor_depth(&self) -> usize {
        self.transaction.as_ref().map_or(0, |transaction| transaction.savepoints.len())
    }

    /// The savepoint at this place was come back to: the cursors that were declared since are gone. Others stay where they
    /// are, however far they have been fetched from.
    pub(crate) fn drop_cursors(&mut self, place: usize) {
        self.cursors.retain(|_, cursor| cursor.committed || cursor.depth <= place);
    }

    /// The savepoint at this place was released: its cursors depend on what was there before it.
    pub(crate) fn keep_cursors(&mut self, place: usize) {
        self.cursors.values_mut().for_each(|cursor| cursor.depth = cursor.depth.min(place));
    }

    /// CLOSE
    pub(crate) fn close(&mut self, name: Option<&str>) -> Result<Outcome> {
        match name {
            None => self.cursors.clear(),
            Some(name) => {
                self.cursors.remove(name).ok_or_else(|| no_cursor(name))?;
            }
        }
        Ok(Outcome::Done("CLOSE CURSOR".to_owned()))
    }
}

/// There is no such cursor.
pub(crate) fn no_cursor(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
}
