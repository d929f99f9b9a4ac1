//! What a store tells of itself: the history, who read from whom, and what exploration has to know.

use skew_model::{History, Literal};

use crate::record::{Action, Footprint, FootprintStep, Recorded, status};
use crate::store::Store;
use crate::versions::Txn;

impl<V: Clone> Store<V> {
    /// Everything that happened, transactions in the order in which they began.
    pub fn history(&self, mut literal: impl FnMut(&V) -> Literal) -> History {
        let Store { engine, sessions, keys, records, operations, .. } = self;
        Recorded { engine, sessions, keys, records, operations, times: self.times }.history(&mut literal)
    }

    /// The history in which transactions that were rolled back have committed what they read.
    pub(crate) fn judged_history(&self, mut literal: impl FnMut(&V) -> Literal) -> History {
        let Store { engine, sessions, keys, records, operations, .. } = self;
        Recorded { engine, sessions, keys, records, operations, times: self.times }.judged(&mut literal)
    }

    /// Whether a transaction began before another one had ended.
    pub(crate) fn overlaps(&self) -> bool {
        let next = self.records.iter().skip(1);
        self.records.iter().zip(next).any(|(first, second)| second.began < first.ended)
    }

    /// Whether a transaction has looked for keys by prefix.
    pub(crate) fn scans(&self) -> bool {
        self.records.iter().any(|record| !record.scans.is_empty())
    }

    /// The names of all keys.
    pub(crate) fn key_names(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.name.clone()).collect()
    }

    /// Who read from whom, transactions in the order in which they began.
    pub fn footprints(&self) -> Vec<Footprint> {
        let txns = self.engine.base..self.engine.base + self.records.len() as u32;
        txns.map(|txn| self.footprint(txn)).collect()
    }

    fn footprint(&self, txn: Txn) -> Footprint {
        let record = self.record(txn);
        let steps = self.ops(txn).iter().filter_map(|op| match op.action {
            Action::Write => Some(FootprintStep::Write { key: op.key }),
            Action::OwnRead => None,
            Action::Read(source, write) => Some(FootprintStep::Read { key: op.key, source: self.place(source), write }),
        });
        let status = status(self.engine.txn(txn).state);
        let place = self.place(txn).expect("a transaction that is remembered has a place");
        Footprint { place, level: record.level, reads: record.mode, status, steps: steps.collect() }
    }
}
