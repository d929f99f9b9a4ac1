//! The isolation levels, each defined once, as data that every engine reads.
//!
//! A history satisfies a level iff some total order `co ⊇ so ∪ wr` of its committed transactions is such that,
//! for every read of key `k` in `t3` that takes its value from `t1`, and every other writer `t2` of `k`:
//! if `t3` **must see** `t2`, then `t2` comes before `t1` in `co` (Biswas and Enea, OOPSLA 2019; MonkeyDB §3).
//! What a transaction must see is the whole difference between levels: it is a list of [`Sees`] clauses, and a
//! prefix level must also see everything that comes before in `co`. The level is that of the reading transaction,
//! so levels mix.
//!
//! The databases' own levels are defined in the same way, over histories whose keys are rows: a write of `nil` deletes
//! the row, a write where no row is inserts one.

use std::fmt;

use crate::sql_level::Target;

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
    /// MariaDB's READ COMMITTED.
    MariaRc,
    /// PostgreSQL's READ COMMITTED.
    PgRc,
    /// MariaDB's REPEATABLE READ.
    MariaRr,
    /// PostgreSQL's REPEATABLE READ.
    PgRr,
    /// PostgreSQL's SERIALIZABLE.
    PgSer,
    /// MariaDB's SERIALIZABLE.
    MariaSer,
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
    /// Where the statement of the read writes nothing: the same as [`Sees::StatementReads`]. A statement that writes looks
    /// at each row when it comes to it, so only its reads up to this one count.
    ReadsInTurn,
    /// Where the statement of the read writes nothing: the writers that any read of `t3` in a statement that writes nothing
    /// read from.
    PlainReads,
    /// Where the statement of the read writes something: everything before `t3` in `co`, because it locks what it reads.
    LockedReads,
    /// Every earlier transaction in `co` that writes a key which `t3` writes.
    Conflicts,
    /// For each key that `t3` writes: the last writer before `t3` in `co`, unless that one left no row (it wrote `nil`).
    /// Then `t3` inserts a row of its own, which conflicts with none of the key's earlier rows.
    RowConflicts,
    /// For a key that the statement of the read also writes: everything before `t3` in `co`.
    OwnStatementRow,
    /// Everything before `t3` in `co`.
    Everything,
}

/// The transactions with which those of a level are serializable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Serializable {
    /// The level promises none.
    No,
    /// All transactions of the same kind, and no others see one of two without the one before it: happens-before is total
    /// on them (SERTOTAL, Bernardi and Gotsman 2016). Beside other levels, `t3` must see everything before it in `co`.
    InHappensBefore,
    /// The transactions of the same level only (PostgreSQL's SSI): dependencies among them form no cycle. What other levels
    /// read or write is not looked at, and their snapshots are not ordered by it.
    AmongThemselves,
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
    /// Of what this is the own level: a database. `None` is a definition of the literature.
    pub target: Option<Target>,
    /// Which transactions its transactions are serializable with.
    pub serializable: Serializable,
    /// The levels right below: every history whose transactions all run at this one and that satisfies it satisfies those.
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
            target: None,
            serializable: Serializable::No,
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
        weaker: &[Level::PgRc],
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
        weaker: &[Level::Mvrc, Level::Pc, Level::Psi, Level::PgRr],
        ..definition!(Si, "si", "snapshot isolation", ["snapshot-isolation", "snapshot", "pl-si"])
    },
    Definition {
        sees: &[Sees::Everything],
        serializable: Serializable::InHappensBefore,
        weaker: &[Level::Si, Level::PgSer, Level::MariaSer],
        ..definition!(Ser, "ser", "serializability", ["serializability", "pl-3"])
    },
    Definition {
        sees: &[Sees::Everything],
        serializable: Serializable::InHappensBefore,
        weaker: &[Level::Ser],
        ..definition!(
            Sser,
            "sser",
            "strict serializability",
            ["strict-serializability", "strict-serializable", "pl-ss"]
        )
    },
    Definition {
        sees: &[Sees::Session, Sees::ReadsInTurn, Sees::OwnStatementRow],
        prefix: true,
        target: Some(Target::Mariadb),
        weaker: &[Level::Rc],
        ..definition!(MariaRc, "maria-rc", "MariaDB's READ COMMITTED", [])
    },
    Definition {
        sees: &[Sees::Session, Sees::StatementReads, Sees::OwnStatementRow],
        prefix: true,
        target: Some(Target::Postgres),
        weaker: &[Level::MariaRc],
        ..definition!(PgRc, "pg-rc", "PostgreSQL's READ COMMITTED", [])
    },
    Definition {
        sees: &[Sees::Session, Sees::PlainReads, Sees::LockedReads],
        prefix: true,
        target: Some(Target::Mariadb),
        weaker: &[Level::Ru],
        ..definition!(MariaRr, "maria-rr", "MariaDB's REPEATABLE READ", [])
    },
    Definition {
        sees: &[Sees::Session, Sees::Reads, Sees::RowConflicts],
        prefix: true,
        target: Some(Target::Postgres),
        weaker: &[Level::Pc],
        ..definition!(PgRr, "pg-rr", "PostgreSQL's REPEATABLE READ", [])
    },
    Definition {
        sees: &[Sees::Everything],
        target: Some(Target::Postgres),
        serializable: Serializable::AmongThemselves,
        weaker: &[Level::PgRr],
        ..definition!(PgSer, "pg-ser", "PostgreSQL's SERIALIZABLE", [])
    },
    Definition {
        sees: &[Sees::Everything],
        target: Some(Target::Mariadb),
        serializable: Serializable::InHappensBefore,
        weaker: &[Level::MariaRc, Level::MariaRr],
        ..definition!(MariaSer, "maria-ser", "MariaDB's SERIALIZABLE", [])
    },
];

impl Level {
    /// The definitions of the literature, weakest first; a level comes after every one that it implies.
    pub fn ladder() -> impl DoubleEndedIterator<Item = Level> + Clone {
        DEFINITIONS.iter().filter(|definition| definition.target.is_none()).map(|definition| definition.level)
    }

    /// All levels: the definitions, and then the own levels of databases.
    pub fn all() -> impl DoubleEndedIterator<Item = Level> + ExactSizeIterator + Clone {
        DEFINITIONS.iter().map(|definition| definition.level)
    }

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

    /// Whether a read of this level must see such a transaction.
    pub fn sees(self, clause: Sees) -> bool {
        self.definition().sees.contains(&clause)
    }

    /// Whether a transaction is serializable with all transactions of the same kind.
    pub fn is_serializable(self) -> bool {
        self.definition().serializable != Serializable::No
    }

    /// What its transactions have beside those of other levels: a level that is only serializable among its own
    /// transactions is the one right below it with respect to all others.
    pub fn beside_others(self) -> Level {
        match (self.definition().serializable, self.definition().weaker) {
            (Serializable::AmongThemselves, [below]) => *below,
            _ => self,
        }
    }

    /// Whether real time is a part of the definition.
    pub fn is_strict(self) -> bool {
        self == Level::Sser
    }

    /// Whether all reads of a transaction look at one state: what one of them finds the later ones find again. At the other
    /// levels a later read, or one that locks what it finds, is allowed to look at a newer state.
    pub fn looks_once(self) -> bool {
        let by_read = [Sees::EarlierReads, Sees::StatementReads, Sees::ReadsInTurn, Sees::PlainReads];
        !self.definition().sees.is_empty() && !by_read.into_iter().any(|clause| self.sees(clause))
    }

    /// Whether a transaction is refused or waits where its reads or writes do not fit what others have committed: one look
    /// for all statements, with conflicts.
    pub fn has_one_snapshot(self) -> bool {
        self.sees(Sees::Everything) || self.sees(Sees::Conflicts) || self.sees(Sees::RowConflicts)
    }

    /// Whether each statement looks at a snapshot of its own, taken when it begins.
    pub fn looks_at_statements(self) -> bool {
        self.sees(Sees::StatementReads) || self.sees(Sees::ReadsInTurn)
    }

    /// Whether a transaction is refused because a concurrent one has written the same.
    pub fn refuses_conflicts(self) -> bool {
        [Sees::Conflicts, Sees::RowConflicts, Sees::CausesAndVersions].into_iter().any(|clause| self.sees(clause))
    }

    /// Whether a statement that writes a row sees its newest version, under a lock that it keeps.
    pub fn locks_rows(self) -> bool {
        self.sees(Sees::OwnStatementRow) || self.sees(Sees::LockedReads)
    }

    /// Whether the level is the own one of a database, where a lock, a conflict and a constraint are about a whole row.
    pub fn conflicts_about_rows(self) -> bool {
        self.definition().target.is_some()
    }

    /// Whether every history of transactions that all run at this level and that satisfies it satisfies the other one.
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
        for (index, definition) in DEFINITIONS.iter().enumerate() {
            let level = definition.level;
            assert_eq!(level as usize, index);
            for &weaker in definition.weaker {
                let is_later = (weaker as usize) < index || weaker.definition().target != definition.target;
                assert!(is_later, "{level} is listed before the weaker {weaker}");
                assert!(!weaker.implies(level), "{level} and {weaker} imply each other");
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
        assert!(chain(&[Rc, MariaRc, PgRc, Mvrc]));
        assert!(chain(&[Pc, PgRr, PgSer, Ser]) && chain(&[PgRr, Si]));
        assert!(chain(&[MariaRr, MariaSer, Ser]) && !MariaRr.implies(Rc) && !Si.implies(MariaRr));
    }
}
