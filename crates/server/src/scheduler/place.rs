//! A connection at the gate: what it is doing, and how far its transaction has come.

use std::sync::Arc;
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::turns::TxnPlace;
use super::{NEWS, PATIENCE, SERIAL_PATIENCE};

/// A connection at the gate.
pub(super) struct Place {
    pub(super) activity: Activity,
    /// Whether it does not wait for others to come to the gate.
    pub(super) is_eager: bool,
    /// Whether it waits although no other client is at work, in case one comes.
    pub(super) lingers: bool,
    pub(super) in_transaction: bool,
    pub(super) priority: i64,
    pub(super) thread: Option<Thread>,
    /// How many transactions have begun.
    pub(super) begun: u32,
    /// The number of the next statement in the transaction.
    pub(super) statement: u32,
    /// The SQL that is at the gate.
    pub(super) text: Arc<str>,
    /// The connection's name in the run.
    pub(super) name: u32,
    /// Whether that is the name by which other runs know it.
    pub(super) is_known: bool,
}

impl Place {
    pub(super) fn new(activity: Activity, name: u32) -> Place {
        Place {
            activity,
            is_eager: false,
            lingers: false,
            in_transaction: false,
            priority: 0,
            thread: None,
            begun: 0,
            statement: 0,
            text: Arc::from(""),
            name,
            is_known: false,
        }
    }

    /// The transaction that it is in, or was in last.
    pub(super) fn txn(&self) -> TxnPlace {
        TxnPlace { member: self.name, txn: self.begun.saturating_sub(1) }
    }

    pub(super) fn is_new(&self, now: Instant, hold: Duration) -> bool {
        matches!(self.activity, Activity::New(_)) && self.activity.is_at_work(now, hold)
    }

    /// Whether its next statement begins a transaction.
    pub(super) fn is_at_rest(&self) -> bool {
        self.activity.is_at_rest()
    }
}

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Activity {
    /// Has just come, and has asked for nothing yet.
    New(Instant),
    /// No transaction.
    Idle,
    /// No transaction since this moment; its client is about to begin another one, perhaps.
    Between(Instant),
    /// In a transaction; its client was answered at this moment.
    Thinking(Instant),
    /// A statement is executed.
    Running,
    /// At the gate.
    Held,
    /// A statement waits for a lock.
    Blocked,
}

/// How the next one is picked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Strategy {
    /// When everybody is at the gate, anybody.
    Random,
    /// Whoever has the highest priority of all at work, as soon as it is at the gate.
    Priorities,
    /// The clients in a transaction; if there are none, the clients that come.
    Serial,
    /// Whoever the script names.
    Replay,
}

impl Strategy {
    /// How long the gate may hold a client.
    pub(super) fn longest(self, hold: Duration) -> Duration {
        match self {
            Strategy::Random | Strategy::Priorities => hold,
            Strategy::Serial => SERIAL_PATIENCE,
            Strategy::Replay => PATIENCE,
        }
    }
}

impl Activity {
    /// Whether it is worth waiting for this one to come to the gate (or it is there). Who left a transaction open and
    /// sends nothing is forgotten after a while.
    pub(super) fn is_at_work(self, now: Instant, hold: Duration) -> bool {
        match self {
            Activity::Idle | Activity::Blocked => false,
            Activity::Running | Activity::Held => true,
            Activity::New(since) => now.saturating_duration_since(since) < hold * NEWS,
            Activity::Thinking(since) | Activity::Between(since) => now.saturating_duration_since(since) < hold,
        }
    }

    pub(super) fn is_at_rest(self) -> bool {
        matches!(self, Activity::Idle | Activity::Between(_) | Activity::New(_))
    }
}
