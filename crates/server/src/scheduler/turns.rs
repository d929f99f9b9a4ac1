//! What happened at a gate, and what a rerun forces there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A transaction of a run: its connection, by the order in which they came, and its number among the connection's. In a rerun
/// connections have the names that they had in the run that is repeated, in whatever order they come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TxnPlace {
    /// The connection.
    pub member: u32,
    /// Which of the connection's transactions, from 0.
    pub txn: u32,
}

/// What a rerun forces: a transaction waits, from one of its statements on, until another transaction has ended or has
/// come so far. Statements are counted from 0, BEGIN included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Forced {
    /// The transaction that waits.
    pub waits: TxnPlace,
    /// Its first statement that waits.
    pub from: u32,
    /// The transaction that it waits for.
    pub until: TxnPlace,
    /// The statement of that one after which the wait is over; `None`: its end.
    pub until_statement: Option<u32>,
}

/// What happened at the gate, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GateEvent {
    /// A statement went.
    Went {
        /// Its transaction.
        txn: TxnPlace,
        /// Its number in the transaction, from 0.
        statement: u32,
        /// The SQL; empty for the commit of a transaction that no statement began.
        text: Arc<str>,
    },
    /// A statement that had waited for a lock goes on.
    Resumed(u32),
    /// A transaction has ended.
    Ended(TxnPlace),
    /// A connection has come.
    Joined(u32),
}

impl GateEvent {
    /// A connection has another name.
    pub(super) fn rename(&mut self, was: u32, is: u32) {
        let name = match self {
            GateEvent::Went { txn, .. } | GateEvent::Ended(txn) => &mut txn.member,
            GateEvent::Resumed(member) | GateEvent::Joined(member) => member,
        };
        if *name == was {
            *name = is;
        }
    }
}

/// What happened at the gate.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// Whose statement or commit went, in order: connections by name, from the first statement on that tells which one it is.
    pub order: Vec<u32>,
    /// The same with their transactions, waits and ends.
    pub events: Vec<GateEvent>,
    /// The connections by name, each with the first statement that tells which one it is.
    pub members: BTreeMap<u32, Arc<str>>,
    /// How often what was forced could not be kept up, because nothing else went on.
    pub broken: usize,
    /// How long clients were held, all together.
    pub held: Duration,
    /// How often a replay gave up on whoever was to go next.
    pub lost: usize,
}
