//! One transaction of a run is held after a read, until others have overwritten what it read: what an earlier run has
//! shown to be possible is tried before chance tries it.
//!
//! Statements are known by their text, so that it does not matter which connection of a pool sends them.

use crate::scheduler::TxnPlace;

/// Which read is followed by a wait, and for what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Directions {
    /// Statements that read what others overwrite.
    pub reads: Vec<String>,
    /// Statements that overwrite it.
    pub writes: Vec<String>,
    /// Which of the reads of a run, from 0, is followed by the wait.
    pub nth: u32,
    /// How many transactions with such reads or writes have to end before the wait is over. The last one has to write.
    pub ends: u32,
}

/// How far a run has come on its directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directed {
    directions: Directions,
    reads: u32,
    /// The connection that waits before its next statement.
    holder: Option<u64>,
    /// The open transactions of others since then: whether they have written.
    partners: Vec<(TxnPlace, bool)>,
    ended: u32,
    is_over: bool,
}

impl Directed {
    pub(crate) fn new(directions: Directions) -> Directed {
        Directed { directions, ..Directed::default() }
    }

    /// Whether the connection waits before its next statement.
    pub(crate) fn holds(&self, id: u64) -> bool {
        self.holder == Some(id)
    }

    /// A statement goes.
    pub(crate) fn goes(&mut self, id: u64, txn: TxnPlace, sql: &str) {
        if self.is_over || self.directions.reads.is_empty() {
            return;
        }
        let is_one_of = |texts: &[String]| texts.iter().any(|text| text == sql);
        let (reads, writes) = (is_one_of(&self.directions.reads), is_one_of(&self.directions.writes));
        if self.holder.is_some() {
            if reads || writes {
                match self.partners.iter_mut().find(|(partner, _)| *partner == txn) {
                    Some((_, has_written)) => *has_written |= writes,
                    None => self.partners.push((txn, writes)),
                }
            }
            return;
        }
        if reads {
            if self.reads == self.directions.nth {
                self.holder = Some(id);
            }
            self.reads += 1;
        }
    }

    /// A transaction has ended.
    pub(crate) fn ended(&mut self, txn: TxnPlace) {
        let Some(at) = self.partners.iter().position(|(partner, _)| *partner == txn) else { return };
        let (_, has_written) = self.partners.remove(at);
        self.ended += u32::from(has_written || self.directions.ends > 1);
        if self.holder.is_some() && self.ended >= self.directions.ends {
            self.release();
        }
    }

    /// A statement waits for a lock: if the transaction that is held has it, waiting leads to nothing.
    pub(crate) fn blocked(&mut self, txn: TxnPlace) {
        if self.partners.iter().any(|(partner, _)| *partner == txn) {
            self.release();
        }
    }

    /// Nothing is held from now on.
    pub(crate) fn release(&mut self) {
        (self.holder, self.is_over) = (None, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(member: u32) -> TxnPlace {
        TxnPlace { member, txn: 0 }
    }

    fn directed(ends: u32) -> Directed {
        let directions = Directions { reads: vec!["read".to_owned()], writes: vec!["write".to_owned()], nth: 0, ends };
        Directed::new(directions)
    }

    #[test]
    fn the_reader_waits_until_another_transaction_has_written_and_ended() {
        let mut directed = directed(1);
        directed.goes(0, place(0), "other");
        assert!(!directed.holds(0));
        directed.goes(0, place(0), "read");
        assert!(directed.holds(0));
        directed.goes(1, place(1), "read");
        directed.ended(place(1));
        assert!(directed.holds(0), "a transaction that only reads changes nothing");
        directed.goes(2, place(2), "write");
        assert!(directed.holds(0));
        directed.ended(place(2));
        assert!(!directed.holds(0));
    }

    #[test]
    fn a_writer_that_waits_for_a_lock_is_not_waited_for() {
        let mut directed = directed(1);
        directed.goes(0, place(0), "read");
        directed.goes(1, place(1), "write");
        directed.blocked(place(1));
        assert!(!directed.holds(0));
    }
}
