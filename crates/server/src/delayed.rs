//! What a rerun delays by what it asks, whichever connection of a pool sends it: reads of some shape wait, from some occurrence
//! on, until transactions that write have ended.

use std::collections::BTreeSet;

use skew_sql::parse::shape::Shape;

use crate::scheduler::TxnPlace;

/// Which reads wait, and for what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Delay {
    /// The shape of the statements that wait.
    pub reads: String,
    /// So many of them go before one waits.
    pub first: u32,
    /// The shape of the statements whose transactions are waited for.
    pub writes: String,
    /// How many of those transactions have to end.
    pub ends: u32,
}

/// How far a run has come on its delays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delayed {
    delay: Option<Delay>,
    gone: u32,
    ended: u32,
    /// The open transactions that have written.
    writers: BTreeSet<TxnPlace>,
}

impl Delayed {
    pub(crate) fn new(delay: Option<Delay>) -> Delayed {
        Delayed { delay, ..Delayed::default() }
    }

    /// Whether a statement waits.
    pub(crate) fn holds(&self, sql: &str) -> bool {
        self.delay
            .as_ref()
            .is_some_and(|delay| self.gone >= delay.first && self.ended < delay.ends && is_of(sql, &delay.reads))
    }

    /// A statement goes.
    pub(crate) fn goes(&mut self, txn: TxnPlace, sql: &str) {
        let Some(delay) = &self.delay else { return };
        self.gone += u32::from(is_of(sql, &delay.reads));
        if is_of(sql, &delay.writes) {
            self.writers.insert(txn);
        }
    }

    /// A transaction has ended.
    pub(crate) fn ended(&mut self, txn: TxnPlace) {
        self.ended += u32::from(self.writers.remove(&txn));
    }

    /// Nothing waits from now on.
    pub(crate) fn release(&mut self) {
        self.delay = None;
    }
}

fn is_of(sql: &str, shape: &str) -> bool {
    Shape::of(sql).is_some_and(|own| own.text == shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_read_waits_for_the_first_write_on_any_connection() {
        let place = |member| TxnPlace { member, txn: 0 };
        let (read, write) = ("SELECT n FROM t WHERE id = 1", "UPDATE t SET n = 2 WHERE id = 1");
        let shape = |sql: &str| Shape::of(sql).expect("SQL").text;
        let delay = Delay { reads: shape(read), first: 1, writes: shape(write), ends: 1 };
        let mut delayed = Delayed::new(Some(delay));
        assert!(!delayed.holds(read));
        delayed.goes(place(0), read);
        assert!(delayed.holds("SELECT n FROM t WHERE id = 7"));
        assert!(!delayed.holds(write));
        delayed.goes(place(5), write);
        assert!(delayed.holds(read), "the write has not ended");
        delayed.ended(place(5));
        assert!(!delayed.holds(read));
    }
}
