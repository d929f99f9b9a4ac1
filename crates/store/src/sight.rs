//! What a transaction of a level must see, in the form that the store asks for: the level's definition, sorted.

use skew_model::Level;
use skew_model::level::Sees;

/// What the reads of a transaction must see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sight {
    /// Nothing; even what is not committed can be read.
    Nothing,
    /// Whom its earlier reads read from.
    EarlierSources,
    /// Its session's past and whom its reads read from.
    SessionAndSources,
    /// Everything that reaches it through session order and reads.
    Causes,
    /// The same, and through version order.
    CausesAndVersions,
    /// A prefix of the commit order, the same for all its reads.
    Prefix {
        /// Whether the prefix holds every earlier writer of what it writes.
        conflicts: Conflicts,
    },
    /// A prefix of the commit order for each statement; a row that a statement writes is looked at under its lock.
    StatementPrefix,
    /// Everything before it in the commit order.
    Everything,
}

/// What becomes of two writers of one key that do not see each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Conflicts {
    /// Both commit.
    Allowed,
    /// The second one is refused.
    Refused,
}

/// The strongest level below (or this one) at which a read always has something to return, whatever was read before, so
/// that a program can be explored by histories.
pub(crate) fn explorable(level: Level) -> Level {
    let levels = [Level::Cc, Level::Ra, Level::Rc, Level::Ru];
    levels.into_iter().find(|&weaker| level.implies(weaker)).expect("every level implies `ru`")
}

impl Sight {
    /// Reads the level's definition; `None` for levels that the store does not run.
    pub(crate) fn of(level: Level) -> Option<Sight> {
        let definition = level.definition();
        let sees = |clause| definition.sees.contains(&clause);
        if !definition.committed_reads {
            return Some(Sight::Nothing);
        }
        if !definition.sessions {
            return None;
        }
        // Statements that look at rows one after the other, or lock what they read, are for a store with MariaDB's locks.
        if sees(Sees::ReadsInTurn) || sees(Sees::LockedReads) {
            return None;
        }
        if sees(Sees::Everything) {
            return Some(Sight::Everything);
        }
        if definition.prefix && sees(Sees::StatementReads) {
            return Some(Sight::StatementPrefix);
        }
        if definition.prefix {
            let refuses = sees(Sees::Conflicts) || sees(Sees::RowConflicts);
            let conflicts = if refuses { Conflicts::Refused } else { Conflicts::Allowed };
            return Some(Sight::Prefix { conflicts });
        }
        if sees(Sees::CausesAndVersions) {
            return Some(Sight::CausesAndVersions);
        }
        if sees(Sees::Causes) {
            return Some(Sight::Causes);
        }
        if sees(Sees::Session) && sees(Sees::Reads) {
            return Some(Sight::SessionAndSources);
        }
        sees(Sees::EarlierReads).then_some(Sight::EarlierSources)
    }

    /// Whether the level looks at the commit order, so that the order has to be settled while transactions run.
    pub(crate) fn needs_closed_order(self) -> bool {
        !matches!(self, Sight::Nothing | Sight::EarlierSources | Sight::SessionAndSources | Sight::Causes)
    }

    /// Whether a transaction may be refused because of others.
    pub(crate) fn refuses(self) -> bool {
        matches!(self, Sight::CausesAndVersions | Sight::Prefix { conflicts: Conflicts::Refused } | Sight::Everything)
    }

    /// Whether its reads look from one place in the commit order.
    pub(crate) fn looks_from_a_place(self) -> bool {
        matches!(self, Sight::Prefix { .. } | Sight::StatementPrefix | Sight::Everything)
    }
}
