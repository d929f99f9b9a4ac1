//! Why a level is violated, as data. Renderers turn it into words and pictures; nothing here is text for people.

use crate::anomaly::Anomaly;
use crate::history::{OpId, TxnId};
use crate::level::Level;
use crate::names::Key;

/// Why no commit order is good enough.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explanation {
    /// An operation that no commit order can explain.
    Finding(Finding),
    /// Edges that every commit order must respect, in a circle.
    Cycle(Cycle),
    /// Two writers of one key, and why neither order of them works.
    Cases {
        /// One writer.
        first: TxnId,
        /// The other one.
        second: TxnId,
        /// The key that both write.
        key: Key,
        /// Why `first` cannot come before `second`.
        first_before_second: Box<Explanation>,
        /// Why `second` cannot come before `first`.
        second_before_first: Box<Explanation>,
    },
}

/// A cycle: each edge ends where the next one starts, and the last one ends where the first one starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// The edges. The first is an `rw` edge if there is one.
    pub edges: Vec<Edge>,
}

/// `from` must come before `to`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The earlier transaction.
    pub from: TxnId,
    /// The later transaction.
    pub to: TxnId,
    /// Which relation orders them.
    pub kind: EdgeKind,
    /// Why.
    pub reason: Reason,
}

/// The relation of an edge, in the letters of the literature.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeKind {
    /// Session order.
    So,
    /// Real time: one had ended before the other began.
    Rt,
    /// Write-read: `to` read what `from` wrote.
    Wr(Key),
    /// Write-write: `from`'s version of the key is older than `to`'s.
    Ww(Key),
    /// Read-write: `from` read a version of the key that is older than `to`'s.
    Rw(Key),
    /// Constraint: one of the two wrote the key, a constraint of the other one looked at it, and `from` did so first.
    Constraint(Key),
}

impl EdgeKind {
    /// The letters.
    pub fn letters(self) -> &'static str {
        match self {
            EdgeKind::So => "so",
            EdgeKind::Rt => "rt",
            EdgeKind::Wr(_) => "wr",
            EdgeKind::Ww(_) => "ww",
            EdgeKind::Rw(_) => "rw",
            EdgeKind::Constraint(_) => "constraint",
        }
    }

    /// The key, where the relation has one.
    pub fn key(self) -> Option<Key> {
        match self {
            EdgeKind::So | EdgeKind::Rt => None,
            EdgeKind::Wr(key) | EdgeKind::Ww(key) | EdgeKind::Rw(key) | EdgeKind::Constraint(key) => Some(key),
        }
    }
}

/// Why an edge is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The history says so: session order, real time, a constraint, or a version order that the recorder knew.
    Recorded,
    /// A read took its value from a write.
    Read {
        /// The read, in `to`.
        read: OpId,
        /// The write, in `from`.
        write: OpId,
    },
    /// A read took the value of a version that `to` overwrote.
    Overwrote {
        /// The read, in `from`.
        read: OpId,
        /// The write, in `to`.
        write: OpId,
        /// Why the version that was read is older than `to`'s: a path from its writer to `to`; empty when it is
        /// the initial one.
        older: Vec<Edge>,
    },
    /// A reader had to see `from` but read `to`'s version of the key, so `from`'s version is the older one.
    Ignored {
        /// The read, in a third transaction.
        read: OpId,
        /// `from`'s write of the key.
        write: OpId,
        /// Why the reader had to see `from`: a path from `from` to the reader.
        seen: Vec<Edge>,
    },
    /// Both write the key, and `from` commits first for other reasons.
    Older {
        /// The reasons: a path from `from` to `to`.
        path: Vec<Edge>,
    },
    /// Assumed for the sake of one case of [`Explanation::Cases`].
    Supposed,
}

/// An operation that no commit order can explain, or that leaves open what the history says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What is wrong with it.
    pub kind: FindingKind,
    /// The operation.
    pub op: Option<OpId>,
    /// The other operation involved: the write that was read, or the other read.
    pub other: Option<OpId>,
}

/// What is wrong with an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// A read of a value that nobody wrote.
    ThinAirRead,
    /// A read that contradicts the transaction's own earlier write.
    InternalRead,
    /// A read of what the transaction itself writes only later.
    FutureRead,
    /// A read from a transaction that rolled back.
    AbortedRead,
    /// A read of a value that its transaction overwrote before committing.
    IntermediateRead,
    /// Two reads that show versions of one key in contradicting orders.
    IncompatibleOrder,
    /// A read that shows one element of a list twice.
    DuplicateElement,
    /// A read whose value several writes have: nobody can tell which one it took.
    AmbiguousRead,
}

impl FindingKind {
    /// The anomaly that it is, unless it only leaves things open.
    pub fn anomaly(self) -> Option<Anomaly> {
        match self {
            FindingKind::ThinAirRead => Some(Anomaly::ThinAirRead),
            FindingKind::InternalRead => Some(Anomaly::InternalRead),
            FindingKind::FutureRead => Some(Anomaly::FutureRead),
            FindingKind::AbortedRead => Some(Anomaly::AbortedRead),
            FindingKind::IntermediateRead => Some(Anomaly::IntermediateRead),
            FindingKind::IncompatibleOrder => Some(Anomaly::IncompatibleOrder),
            FindingKind::DuplicateElement => Some(Anomaly::DuplicateElement),
            FindingKind::AmbiguousRead => None,
        }
    }

    /// Whether it breaks this level.
    pub fn breaks(self, level: Level) -> bool {
        match self {
            FindingKind::AmbiguousRead => false,
            FindingKind::AbortedRead | FindingKind::IntermediateRead => level.definition().committed_reads,
            _ => true,
        }
    }
}
