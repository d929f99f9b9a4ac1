//! One transaction of a run is held after a read, until others have overwritten what it read: what an earlier run has
//! shown to be possible is tried before chance tries it.
//!
//! Statements are known by their shape, so that it does not matter which connection of a pool sends them, nor with which
//! values.

use std::collections::BTreeMap;

use crate::scheduler::TxnPlace;
use crate::shape::without_values;

/// A place in a client's work: after a statement of this shape.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Point {
    /// The statement without its values.
    pub text: String,
    /// How many statements of the client right before it have the same shape.
    pub occurrence: u32,
}

/// Which transaction waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holder {
    /// That of a connection, by the order in which they came.
    Member(u32),
    /// The first one that comes to the point, the second one, and so on, from 0.
    Nth(u32),
}

/// A wait of a transaction after a read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Where the transaction waits.
    pub point: Point,
    /// Which transaction waits.
    pub holder: Holder,
    /// How many transactions that read or overwrite the same have to end before the wait is over. The last one has to write.
    pub ends: u32,
}

/// What a run tries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Directions {
    /// The waits, one after the other.
    pub waits: Vec<Wait>,
    /// Shapes of statements that read what others overwrite.
    pub reads: Vec<String>,
    /// Shapes of statements that overwrite it.
    pub writes: Vec<String>,
}

/// How far a run has come on its directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directed {
    directions: Directions,
    /// Which of the waits comes next, or is under way.
    step: usize,
    /// How many transactions have come to its point.
    came: u32,
    /// The last statement of each connection, and how many of the same shape were right before it.
    last: BTreeMap<u64, Point>,
    /// The connection that waits before its next statement.
    holder: Option<u64>,
    /// The open transactions of others since then: whether they have written.
    partners: Vec<(TxnPlace, bool)>,
    ended: u32,
}

impl Directed {
    pub(crate) fn new(directions: Directions) -> Directed {
        Directed { directions, ..Directed::default() }
    }

    /// Whether the connection waits before its next statement.
    pub(crate) fn holds(&self, id: u64) -> bool {
        self.holder == Some(id)
    }

    /// Whether something is left to try.
    pub(crate) fn is_active(&self) -> bool {
        self.step < self.directions.waits.len()
    }

    /// The connection that is to come to the point before others go on, if none is held yet.
    pub(crate) fn awaited(&self) -> Option<u64> {
        match self.directions.waits.get(self.step)?.holder {
            Holder::Member(member) if self.holder.is_none() => Some(u64::from(member)),
            _ => None,
        }
    }

    /// Whether a statement reads or overwrites what this is about.
    pub(crate) fn concerns(&self, sql: &str) -> bool {
        let shape = without_values(sql);
        self.directions.reads.contains(&shape) || self.directions.writes.contains(&shape)
    }

    /// Whether a statement that waits at the gate begins to read what another transaction is about to overwrite, where two
    /// transactions are to end during the wait. It is to come second: then it sees the change, which the one that is held
    /// does not, and nothing of what that one does.
    pub(crate) fn comes_second(&self, id: u64, txn: TxnPlace, sql: &str) -> bool {
        let Some(wait) = self.directions.waits.get(self.step) else { return false };
        let awaits_two = wait.ends > 1 && self.ended == 0 && self.holder.is_some_and(|holder| holder != id);
        awaits_two && !self.partners.iter().any(|(partner, _)| *partner == txn) && {
            let shape = without_values(sql);
            self.directions.reads.contains(&shape) && !self.directions.writes.contains(&shape)
        }
    }

    /// Whether a transaction has overwritten what is read, or is about to.
    pub(crate) fn is_writer(&self, txn: TxnPlace, sql: &str) -> bool {
        let has_written = self.partners.iter().any(|(partner, has_written)| *partner == txn && *has_written);
        has_written || self.directions.writes.contains(&without_values(sql))
    }

    /// A statement goes.
    pub(crate) fn goes(&mut self, id: u64, txn: TxnPlace, sql: &str) {
        if self.step >= self.directions.waits.len() || sql.is_empty() {
            return;
        }
        let point = self.comes_to(id, without_values(sql));
        let is_one_of = |shapes: &[String]| shapes.contains(&point.text);
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
        let wait = &self.directions.waits[self.step];
        if point == wait.point {
            let waits = match wait.holder {
                Holder::Member(member) => u64::from(member) == id,
                Holder::Nth(nth) => self.came == nth,
            };
            self.came += 1;
            self.holder = waits.then_some(id);
        }
    }

    /// A statement of this shape is the client's next one.
    fn comes_to(&mut self, id: u64, text: String) -> Point {
        let occurrence = self.last.get(&id).filter(|last| last.text == text).map_or(0, |last| last.occurrence + 1);
        let point = Point { text, occurrence };
        self.last.insert(id, point.clone());
        point
    }

    /// A transaction has ended.
    pub(crate) fn ended(&mut self, txn: TxnPlace) {
        let Some(at) = self.partners.iter().position(|(partner, _)| *partner == txn) else { return };
        let (_, has_written) = self.partners.remove(at);
        let Some(wait) = self.directions.waits.get(self.step) else { return };
        self.ended += u32::from(has_written || wait.ends > 1);
        if self.holder.is_some() && self.ended >= wait.ends {
            self.goes_on();
        }
    }

    /// A statement waits for a lock: if the transaction that is held has it, waiting leads to nothing.
    pub(crate) fn blocked(&mut self, txn: TxnPlace) {
        if self.partners.iter().any(|(partner, _)| *partner == txn) {
            self.goes_on();
        }
    }

    /// The wait is over; the next one may come.
    fn goes_on(&mut self) {
        let (directions, last) = (std::mem::take(&mut self.directions), std::mem::take(&mut self.last));
        *self = Directed { directions, last, step: self.step + 1, ..Directed::default() };
    }

    /// Nothing is held from now on.
    pub(crate) fn release(&mut self) {
        (self.holder, self.step) = (None, self.directions.waits.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(member: u32) -> TxnPlace {
        TxnPlace { member, txn: 0 }
    }

    fn directed(ends: u32) -> Directed {
        let point = Point { text: "read ?".to_owned(), occurrence: 0 };
        let (reads, writes) = (vec!["read ?".to_owned()], vec!["write ?".to_owned()]);
        Directed::new(Directions { waits: vec![Wait { point, holder: Holder::Nth(0), ends }], reads, writes })
    }

    #[test]
    fn the_reader_waits_until_another_transaction_has_written_and_ended() {
        let mut directed = directed(1);
        directed.goes(0, place(0), "other");
        assert!(!directed.holds(0));
        directed.goes(0, place(0), "read 1");
        assert!(directed.holds(0));
        directed.goes(1, place(1), "read 1");
        directed.ended(place(1));
        assert!(directed.holds(0), "a transaction that only reads changes nothing");
        directed.goes(2, place(2), "write 2");
        assert!(directed.holds(0));
        directed.ended(place(2));
        assert!(!directed.holds(0));
    }

    #[test]
    fn a_writer_that_waits_for_a_lock_is_not_waited_for() {
        let mut directed = directed(1);
        directed.goes(0, place(0), "read 1");
        directed.goes(1, place(1), "write 2");
        directed.blocked(place(1));
        assert!(!directed.holds(0));
    }

    #[test]
    fn the_wait_is_after_the_statement_that_was_meant() {
        let mut directed = directed(1);
        let wait = &mut directed.directions.waits[0];
        (wait.point.occurrence, wait.holder) = (1, Holder::Nth(1));
        for (id, is_held) in [(0, false), (1, false), (0, false), (1, true)] {
            directed.goes(id, place(id as u32), "read 1");
            assert_eq!(directed.holds(id), is_held, "{id}");
        }
    }

    #[test]
    fn a_report_waits_for_the_writer_while_another_transaction_is_held() {
        let mut directed = directed(2);
        directed.goes(0, place(0), "read 1");
        assert!(directed.comes_second(2, place(2), "read 2") && directed.is_writer(place(1), "write 7"));
        directed.goes(1, place(1), "write 7");
        directed.ended(place(1));
        assert!(directed.holds(0) && !directed.comes_second(2, place(2), "read 2"));
        directed.goes(2, place(2), "read 2");
        directed.ended(place(2));
        assert!(!directed.holds(0));
    }

    #[test]
    fn one_wait_follows_the_other() {
        let mut directed = directed(1);
        let again =
            Wait { point: Point { text: "look again".to_owned(), occurrence: 0 }, holder: Holder::Nth(0), ends: 1 };
        directed.directions.waits.push(again);
        directed.goes(0, place(0), "read 1");
        directed.goes(1, place(1), "write 1");
        directed.ended(place(1));
        assert!(!directed.holds(0));
        directed.goes(0, place(0), "look again");
        assert!(directed.holds(0));
        directed.goes(1, TxnPlace { member: 1, txn: 1 }, "write 2");
        directed.ended(TxnPlace { member: 1, txn: 1 });
        assert!(!directed.holds(0));
    }
}
