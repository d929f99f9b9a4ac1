//! The isolation levels, each defined once, as data that every engine reads.
//!
//! A history satisfies a level iff some total order `co ⊇ so ∪ wr` of its committed transactions is such that,
//! for every read of key `k` in `t3` that takes its value from `t1`, and every other writer `t2` of `k`:
//! if `t3` **must see** `t2`, then `t2` comes before `t1` in `co` (Biswas and Enea, OOPSLA 2019; MonkeyDB §3).
//! What a transaction must see is the whole difference between levels: it is a list of [`Sees`] clauses, and a
//! prefix level must also see everything that comes before in `co`. The level is that of the reading transaction,
//! so levels mix.

use std::fmt;

/// An isolation level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Read uncommitted.
    Ru,
    /// Eventual consistency: read atomic without session order.
    Ec,
    /// Read committed.
    Rc,
    /// Read atomic.
    Ra,
    /// Causal consistency.
    Cc,
    /// Multiversion read committed: what PostgreSQL, Oracle and MariaDB call READ COMMITTED.
    Mvrc,
    /// Prefix consistency.
    Pc,
    /// Parallel snapshot isolation.
    Psi,
    /// Snapshot isolation.
    Si,
    /// Serializability.
    Ser,
    /// Strict serializability: serializability with real time.
    Sser,
}

/// One kind of transaction `t2` that the reader of `r` in `t3` must see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sees {
    /// Whom an earlier read of `t3` read from. Within one statement, reads of rows that it writes come last.
    EarlierReads,
    /// Whom a read of the same or an earlier statement of `t3` read from. A read of a row that its own statement
    /// writes counts from the next statement on, because the row is looked at again under its lock.
    StatementReads,
    /// Whom any read of `t3` read from.
    Reads,
    /// The transactions before `t3` in its session.
    Session,
    /// Everything that reaches `t3` through session order and reads.
    Causes,
    /// Everything that reaches `t3` through session order, reads and version order.
    CausesAndVersions,
    /// Every earlier transaction in `co` that writes a key which `t3` writes.
    Conflicts,
    /// For a key that the statement of the read also writes: everything before `t3` in `co`.
    OwnStatementRow,
    /// Everything before `t3` in `co`.
    Everything,
}

/// What a level means and what it is called.
#[derive(Debug)]
pub struct Definition {
    /// The level.
    pub level: Level,
    /// The short name that commands and files use.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// Other names of the definition. SQL's names are not among them: they mean the databases' levels
    /// ([`crate::SqlLevel`]).
    pub aliases: &'static [&'static str],
    /// What a read must see.
    pub sees: &'static [Sees],
    /// Whether it must also see whatever comes before that in `co`.
    pub prefix: bool,
    /// Whether session order binds.
    pub sessions: bool,
    /// Whether only committed, final writes may be read and `wr ⊆ co`.
    pub committed_reads: bool,
    /// The levels right below: whatever satisfies this one satisfies those.
    pub weaker: &'static [Level],
    /// Its page, in Markdown.
    pub page: &'static str,
}

macro_rules! definition {
    ($level:ident, $id:literal, $title:literal, $aliases:expr) => {
        Definition {
            level: Level::$level,
            id: $id,
            title: $title,
            aliases: &$aliases,
            sees: &[],
            prefix: false,
            sessions: true,
            committed_reads: true,
            weaker: &[],
            page: include_str!(concat!("../pages/levels/", $id, ".md")),
        }
    };
}

/// The definitions, weakest first. The one place where a level gets its meaning.
pub const DEFINITIONS: &[Definition] = &[
    Definition { sessions: false, committed_reads: false, ..definition!(Ru, "ru", "read uncommitted", ["pl-1"]) },
    Definition {
        sees: &[Sees::Reads],
        sessions: false,
        weaker: &[Level::Ru],
        ..definition!(Ec, "ec", "eventual consistency", ["eventual-consistency", "eventual"])
    },
    Definition { sees: &[Sees::EarlierReads], weaker: &[Level::Ru], ..definition!(Rc, "rc", "read committed", []) },
    Definition {
        sees: &[Sees::Session, Sees::Reads],
        weaker: &[Level::Rc, Level::Ec],
        ..definition!(Ra, "ra", "read atomic", ["read-atomic"])
    },
    Definition {
        sees: &[Sees::Causes],
        weaker: &[Level::Ra],
        ..definition!(Cc, "cc", "causal consistency", ["causal-consistency", "causal", "tcc"])
    },
    Definition {
        sees: &[Sees::Session, Sees::StatementReads, Sees::OwnStatementRow],
        prefix: true,
        weaker: &[Level::Rc],
        ..definition!(
            Mvrc,
            "mvrc",
            "multiversion read committed",
            ["multiversion-read-committed", "statement-snapshot", "rcsi"]
        )
    },
    Definition {
        sees: &[Sees::Session, Sees::Reads],
        prefix: true,
        weaker: &[Level::Cc],
        ..definition!(Pc, "pc", "prefix consistency", ["prefix-consistency", "prefix"])
    },
    Definition {
        sees: &[Sees::CausesAndVersions],
        weaker: &[Level::Cc],
        ..definition!(Psi, "psi", "parallel snapshot isolation", ["parallel-snapshot-isolation"])
    },
    Definition {
        sees: &[Sees::Session, Sees::Reads, Sees::Conflicts],
        prefix: true,
        weaker: &[Level::Mvrc, Level::Pc, Level::Psi],
        ..definition!(Si, "si", "snapshot isolation", ["snapshot-isolation", "snapshot", "pl-si"])
    },
    Definition {
        sees: &[Sees::Everything],
        weaker: &[Level::Si],
        ..definition!(Ser, "ser", "serializability", ["serializability", "pl-3"])
    },
    Definition {
        sees: &[Sees::Everything],
        weaker: &[Level::Ser],
        ..definition!(
            Sser,
            "sser",
            "strict serializability",
            ["strict-serializability", "strict-serializable", "pl-ss"]
        )
    },
];

impl Level {
    /// All levels, weakest first; a level comes after every level that it implies.
    pub const ALL: [Level; 11] = [
        Level::Ru,
        Level::Ec,
        Level::Rc,
        Level::Ra,
        Level::Cc,
        Level::Mvrc,
        Level::Pc,
        Level::Psi,
        Level::Si,
        Level::Ser,
        Level::Sser,
    ];

    /// Eventual consistency, spelled out.
    pub const EVENTUAL_CONSISTENCY: Level = Level::Ec;
    /// Read atomic, spelled out.
    pub const READ_ATOMIC: Level = Level::Ra;
    /// Causal consistency, spelled out.
    pub const CAUSAL_CONSISTENCY: Level = Level::Cc;
    /// Prefix consistency, spelled out.
    pub const PREFIX_CONSISTENCY: Level = Level::Pc;
    /// Parallel snapshot isolation, spelled out.
    pub const PARALLEL_SNAPSHOT_ISOLATION: Level = Level::Psi;
    /// Snapshot isolation, spelled out.
    pub const SNAPSHOT_ISOLATION: Level = Level::Si;
    /// PostgreSQL's READ COMMITTED. The weaker definition of that name is [`Level::Rc`].
    pub const READ_COMMITTED: Level = Level::Mvrc;
    /// PostgreSQL's REPEATABLE READ.
    pub const REPEATABLE_READ: Level = Level::Si;
    /// Serializability, and SQL's SERIALIZABLE.
    pub const SERIALIZABLE: Level = Level::Ser;
    /// Strict serializability, spelled out.
    pub const STRICT_SERIALIZABLE: Level = Level::Sser;

    /// What the level means.
    pub fn definition(self) -> &'static Definition {
        &DEFINITIONS[self as usize]
    }

    /// The short name.
    pub fn id(self) -> &'static str {
        self.definition().id
    }

    /// The name in words.
    pub fn title(self) -> &'static str {
        self.definition().title
    }

    /// Whether every history that satisfies this level satisfies the other one.
    pub fn implies(self, other: Level) -> bool {
        self == other || self.definition().weaker.iter().any(|weaker| weaker.implies(other))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_definition_in_its_place() {
        for (index, level) in Level::ALL.into_iter().enumerate() {
            assert_eq!(level as usize, index);
            assert_eq!(DEFINITIONS[index].level, level);
            for &weaker in level.definition().weaker {
                assert!((weaker as usize) < index, "{level} is listed before the weaker {weaker}");
            }
        }
    }

    #[test]
    fn strength_is_as_designed() {
        let chain =
            |levels: &[Level]| levels.windows(2).all(|pair| pair[1].implies(pair[0]) && !pair[0].implies(pair[1]));
        use Level::*;
        assert!(chain(&[Ru, Rc, Ra, Cc, Pc, Si, Ser, Sser]));
        assert!(chain(&[Cc, Psi, Si]));
        assert!(chain(&[Rc, Mvrc, Si]));
        assert!(!Pc.implies(Psi) && !Psi.implies(Pc) && !Mvrc.implies(Ra));
    }
}
