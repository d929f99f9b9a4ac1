//! Who wrote which value: a hash table from (key, value) to the transaction that wrote it.
//!
//! Open addressing over one flat array: twelve bytes a slot, one cache miss a look-up. A history of five million
//! operations makes five million of them.

use rustc_hash::FxHashMap;
use skew_model::{History, Key, OpKind, TxnId, Value};

/// What a search for the writer of a value finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// Nobody wrote it and it is not the initial value.
    Nobody,
    /// It is the initial value.
    Initial,
    /// This transaction left it behind.
    Final(TxnId),
    /// This transaction wrote it and overwrote it itself.
    Intermediate(TxnId),
    /// Several could have: transactions, or one and the initial value.
    Several,
}

const EMPTY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;
const INTERMEDIATE: u32 = 1 << 31;

pub(crate) struct WrittenValues {
    slots: Vec<Slot>,
    shift: u32,
    /// The writers of values that several transactions wrote.
    several: FxHashMap<(Key, Value), Vec<u32>>,
}

#[derive(Clone, Copy)]
struct Slot {
    key: Key,
    value: Value,
    writer: u32,
}

impl WrittenValues {
    pub(crate) fn of(history: &History) -> Self {
        let writes = history.all_ops().iter().filter(|op| op.kind() == OpKind::Write).count();
        let size = (writes + writes / 2 + 2).next_power_of_two();
        let empty = Slot { key: Key(0), value: Value::NIL, writer: EMPTY };
        let mut table = WrittenValues {
            slots: vec![empty; size],
            shift: 64 - size.trailing_zeros(),
            several: FxHashMap::default(),
        };
        let mut stamps = vec![0u32; history.key_count()];
        for id in history.txn_ids() {
            assert!(id.0 < INTERMEDIATE - 2, "a history holds fewer than 2^31 transactions");
            // Backwards, so that the first write seen of a key is the one that stays.
            for op in history.ops(id).iter().rev().filter(|op| op.kind() == OpKind::Write) {
                let stamp = &mut stamps[op.key().0 as usize];
                let last = std::mem::replace(stamp, id.0 + 1) != id.0 + 1;
                table.insert(op.key(), op.value(), if last { id.0 } else { id.0 | INTERMEDIATE });
            }
        }
        table
    }

    fn slot(&self, key: Key, value: Value) -> usize {
        let pair = u64::from(key.0) << 32 | u64::from(value.bits());
        let mask = self.slots.len() - 1;
        let mut at = (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.writer == EMPTY || slot.key == key && slot.value == value {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, key: Key, value: Value, writer: u32) {
        let at = self.slot(key, value);
        let same = |there: u32| there & !INTERMEDIATE == writer & !INTERMEDIATE;
        let writer = match self.slots[at].writer {
            EMPTY => writer,
            SEVERAL => {
                let writers = self.several.entry((key, value)).or_default();
                if !writers.last().is_some_and(|&last| same(last)) {
                    writers.push(writer);
                }
                SEVERAL
            }
            // The same transaction again: the last write of the key came first and stands.
            there if same(there) => there,
            there => {
                self.several.insert((key, value), vec![there, writer]);
                SEVERAL
            }
        };
        self.slots[at] = Slot { key, value, writer };
    }

    /// Who wrote this value to this key.
    pub(crate) fn find(&self, history: &History, key: Key, value: Value) -> Found {
        self.find_for(history, None, key, value)
    }

    /// Whose value a read by this transaction returned. What the transaction itself writes later is out of the question
    /// as long as anybody else could have written it.
    #[inline]
    pub(crate) fn find_for(&self, history: &History, reader: Option<TxnId>, key: Key, value: Value) -> Found {
        let writer = self.slots[self.slot(key, value)].writer;
        let initial = history.initial(key) == value;
        let is_reader = |writer: u32| reader == Some(TxnId(writer & !INTERMEDIATE));
        match writer {
            EMPTY if initial => Found::Initial,
            EMPTY => Found::Nobody,
            SEVERAL => {
                let writers = self.several.get(&(key, value)).map_or(&[][..], Vec::as_slice);
                let mut others = writers.iter().filter(|&&writer| !is_reader(writer));
                match (others.next(), others.next(), initial) {
                    (None, _, true) => Found::Initial,
                    (Some(&writer), None, false) => found(writer),
                    _ => Found::Several,
                }
            }
            writer if initial && is_reader(writer) => Found::Initial,
            _ if initial => Found::Several,
            writer => found(writer),
        }
    }

    /// The same where the history names the source itself.
    pub(crate) fn stated(&self, history: &History, source: Option<TxnId>, key: Key, value: Value) -> Found {
        let Some(txn) = source else {
            return if history.initial(key) == value { Found::Initial } else { Found::Nobody };
        };
        let mut writes =
            history.ops(txn).iter().rev().filter(|op| op.kind() == OpKind::Write && op.key() == key).enumerate();
        match writes.find(|(_, op)| op.value() == value) {
            None => Found::Nobody,
            Some((0, _)) => Found::Final(txn),
            Some(_) => Found::Intermediate(txn),
        }
    }
}

fn found(writer: u32) -> Found {
    let txn = TxnId(writer & !INTERMEDIATE);
    if writer & INTERMEDIATE != 0 { Found::Intermediate(txn) } else { Found::Final(txn) }
}
