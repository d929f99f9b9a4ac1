//! Statements within statements: a function that a statement calls runs statements of its own, and the one around goes on
//! after them with the snapshot that it had.

use skew_model::TxnId;

use crate::error::Error;
use crate::position::Position;
use crate::running::Looking;
use crate::sight::Sight;
use crate::store::Store;

/// A statement that waits for others within it.
#[derive(Clone, Copy, Debug)]
pub struct Suspended {
    txn: TxnId,
    looking: Looking,
    first_read: usize,
    seen: Position,
    snapshot: i64,
}

impl Suspended {
    /// Its transaction.
    pub fn txn(&self) -> TxnId {
        self.txn
    }
}

impl<V: Clone> Store<V> {
    /// The running statement of a transaction, which is to [go on](Store::go_on) after others.
    pub fn suspend(&self, txn: TxnId) -> Result<Suspended, Error> {
        self.must_be_open(txn)?;
        let running = self.engine.running(txn.0);
        let (looking, first_read, seen) = (running.looking, running.first_read, running.seen);
        Ok(Suspended { txn, looking, first_read, seen, snapshot: self.snapshots[self.place_in_sessions(txn)] })
    }

    /// The statement goes on. At `mvrc` what it reads from now on is from its own snapshot, and belongs to what it has read
    /// before the statements within it; what it writes, or reads under locks, comes after them. At other levels there is
    /// nothing to go back to.
    pub fn go_on(&mut self, statement: Suspended) -> Result<(), Error> {
        let Suspended { txn, looking, first_read, seen, snapshot } = statement;
        self.must_be_open(txn)?;
        if self.engine.txn(txn.0).sight != Sight::StatementPrefix {
            return Ok(());
        }
        let session = self.place_in_sessions(txn);
        self.snapshots[session] = snapshot;
        let running = self.engine.running_mut(txn.0);
        // Prefixes never shrink: those within have seen at least what it sees, and what they have seen is seen by the next
        // one. Their reads bound what it can see from now on, because they come after its first one.
        running.seen_next = running.seen_next.max(running.seen);
        (running.looking, running.first_read, running.seen) = (looking, first_read, seen);
        running.forget_known();
        Ok(())
    }

    fn place_in_sessions(&self, txn: TxnId) -> usize {
        self.engine.txn(txn.0).session as usize
    }
}
