//! Who wrote which value: a hash table from (key, value) to the transaction that wrote it.
//!
//! Open addressing over one flat array: twelve bytes a slot, one cache miss a look-up. A history of five million
//! operations makes five million of them.

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
    /// Several transactions wrote it, or one did and it is the initial value too.
    Several,
}

const EMPTY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;
const INTERMEDIATE: u32 = 1 << 31;

pub(crate) struct WrittenValues {
    slots: Vec<Slot>,
    shift: u32,
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
        let mut table = WrittenValues { slots: vec![empty; size], shift: 64 - size.trailing_zeros() };
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
        let writer = match self.slots[at].writer {
            EMPTY => writer,
            SEVERAL => SEVERAL,
            // The same transaction again: the last write of the key came first and stands.
            there if there & !INTERMEDIATE == writer & !INTERMEDIATE => there,
            _ => SEVERAL,
        };
        self.slots[at] = Slot { key, value, writer };
    }

    /// Who wrote this value to this key.
    #[inline]
    pub(crate) fn find(&self, history: &History, key: Key, value: Value) -> Found {
        let writer = self.slots[self.slot(key, value)].writer;
        let initial = history.initial(key) == value;
        match writer {
            EMPTY if initial => Found::Initial,
            EMPTY => Found::Nobody,
            _ if initial => Found::Several,
            SEVERAL => Found::Several,
            writer if writer & INTERMEDIATE != 0 => Found::Intermediate(TxnId(writer & !INTERMEDIATE)),
            writer => Found::Final(TxnId(writer)),
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
