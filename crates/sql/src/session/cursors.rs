//! FETCH, MOVE and CLOSE, and what ROLLBACK TO leaves of a connection's cursors.

use crate::cursor::no_cursor;
use crate::error::Result;
use crate::parse::statement::Fetch;
use crate::session::Outcome;
use crate::session::connection::SessionState;

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
