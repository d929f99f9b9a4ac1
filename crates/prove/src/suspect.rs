//! Calls that may not be serializable together: what an analysis has found and a run has to show.

use skew_model::Level;

use crate::summary::TermId;

/// A cycle of dependencies that a level may allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suspect {
    /// The level.
    pub level: Level,
    /// The calls, each with the way that it takes.
    pub calls: Vec<SuspectCall>,
    /// The dependencies, in the order of the cycle.
    pub edges: Vec<Edge>,
    /// Values that have to be the same.
    pub equal: Vec<(Place, Place)>,
}

/// One of the calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuspectCall {
    /// The program, by its number in the summary.
    pub program: usize,
    /// The way through it, by its number in the program.
    pub path: usize,
}

/// A value of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The call.
    pub call: usize,
    /// The value.
    pub term: TermId,
}

/// A dependency of one call on another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The call that comes first.
    pub from: usize,
    /// The call that comes later.
    pub to: usize,
    /// Why.
    pub kind: EdgeKind,
    /// The accesses in their paths that meet; a session's order has none.
    pub accesses: Option<(usize, usize)>,
}

/// What a dependency is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeKind {
    /// They are calls of one session.
    Session,
    /// A constraint of the later one is satisfied because the first one has committed.
    Constraint,
    /// The later one reads what the first one wrote.
    WriteRead,
    /// The later one overwrites what the first one wrote.
    WriteWrite,
    /// The later one overwrites what the first one read.
    ReadWrite,
}

impl EdgeKind {
    /// As it is written in a cycle.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Session => "so",
            EdgeKind::Constraint => "constraint",
            EdgeKind::WriteRead => "wr",
            EdgeKind::WriteWrite => "ww",
            EdgeKind::ReadWrite => "rw",
        }
    }
}
