//! Savepoints: a transaction's writes since a moment are undone, and it goes on.

use skew_model::TxnId;

use crate::error::Error;
use crate::log::Action;
use crate::store::Store;

/// A moment of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mark {
    txn: TxnId,
    /// How many operations it had.
    operations: u32,
}

impl<V: Clone> Store<V> {
    /// This moment of the transaction.
    pub fn savepoint(&self, txn: TxnId) -> Result<Mark, Error> {
        self.must_be_open(txn)?;
        Ok(Mark { txn, operations: self.operations.count(self.engine.txn(txn.0).session) })
    }

    /// Undoes what the transaction has written since then. What it has read stays read, and whoever read what is undone
    /// (at `ru`) has read from a transaction that was rolled back.
    pub fn rollback_to(&mut self, txn: TxnId, mark: Mark) -> Result<(), Error> {
        self.must_be_open(txn)?;
        if mark.txn != txn {
            return Err(Error::Savepoint);
        }
        let session = self.engine.txn(txn.0).session;
        for at in (mark.operations..self.operations.count(session)).rev() {
            let op = self.operations.running_op(session, at);
            match op.action() {
                Action::Write { before } => {
                    op.undo();
                    let key = op.key;
                    self.engine.unwrite(txn.0, key, before);
                }
                Action::OwnRead(write) if write >= mark.operations => op.undo(),
                _ => {}
            }
        }
        Ok(())
    }
}
