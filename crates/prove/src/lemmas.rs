//! Every rule by which the graph leaves out a dependency or a cycle, in one table: what it says, why it is true, and the
//! levels that it is used at. `SOUNDNESS.md` beside this crate shows the table.
//!
//! Throughout, T1 -rw-> T2 → … → Tm → T1 is a shortest cycle: T1 reads what T2 overwrites and does not see T2.

use skew_model::Level;

use crate::graph::rules::{Back, Conflicts, Exclusion, LEVELS, Rules};

/// A rule with its reason.
#[derive(Clone, Copy, Debug)]
pub struct Lemma {
    /// Its name in the code.
    pub id: &'static str,
    /// What it excludes.
    pub excludes: &'static str,
    /// Why: a sketch of the proof, or paper and theorem.
    pub because: &'static str,
    /// Whether it is used by the rules of a level.
    pub is_used: fn(&Rules) -> bool,
}

impl Lemma {
    /// The levels at which it is used.
    pub fn levels(&self) -> Vec<Level> {
        let rules = LEVELS.iter().filter_map(|(level, ..)| Rules::of(*level, true));
        rules.filter(|rules| (self.is_used)(rules)).map(|rules| rules.level).collect()
    }
}

/// All of them, in the order in which the search asks.
pub const LEMMAS: &[Lemma] = &[
    Lemma {
        id: "rows-inserted-once",
        excludes: "two transactions that insert one row of a table from which no program deletes; one that finds a row and \
                   one that does not, where rows neither come nor go",
        because: "A key is unique at every level: constraints are checked on the newest committed rows, whatever a level \
                  lets a transaction see.",
        is_used: |_| true,
    },
    Lemma {
        id: "a-referenced-row-stays",
        excludes: "one transaction that inserts a row which is never deleted and whose reference never changes, and one that \
                   deletes the row it refers to, where that does not come back",
        because: "If the insert commits first, the foreign key refuses the deletion, for ever: the child stays. If the \
                  deletion commits first, the foreign key refuses the insert, because the parent is gone for good. Both look \
                  at the newest committed rows and wait for each other's lock (FOR KEY SHARE against FOR UPDATE).",
        is_used: |_| true,
    },
    Lemma {
        id: "fresh-values-differ",
        excludes: "equal values that two transactions take from one sequence, and different constants that are equal",
        because: "A sequence that does not begin again gives out no value twice, rolled back or not.",
        is_used: |_| true,
    },
    Lemma {
        id: "back-by-read-write",
        excludes: "cycles in which T1 does not overwrite what Tm has read",
        because: "Bernardi and Gotsman 2016, Theorem 5 with SI-critical cycles; Fekete and others 2005, Theorem 2.1: two \
                  anti-dependencies in a row.",
        is_used: |rules| rules.back == Back::ReadWrite,
    },
    Lemma {
        id: "back-by-overwriting",
        excludes: "cycles in which T1 overwrites nothing that Tm has read or written",
        because: "Bernardi and Gotsman 2016, Theorem 5: PC-critical cycles.",
        is_used: |rules| rules.back == Back::Overwrite,
    },
    Lemma {
        id: "second-read-write",
        excludes: "cycles with one anti-dependency",
        because: "Bernardi and Gotsman 2016, Theorem 5: PSI-critical cycles have two that are not protected.",
        is_used: |rules| rules.back == Back::SecondReadWrite,
    },
    Lemma {
        id: "second-overwrite",
        excludes: "cycles in which nothing else is overwritten",
        because: "Bernardi and Gotsman 2016, Theorem 5: CC-critical cycles.",
        is_used: |rules| rules.back == Back::SecondOverwrite,
    },
    Lemma {
        id: "all-or-nothing",
        excludes: "cycles of two in which T1 reads from T2",
        because: "T1 sees all of T2 or nothing: atomic visibility (Cerone, Bernardi and Gotsman 2015).",
        is_used: |rules| rules.back == Back::NotDirectly,
    },
    Lemma {
        id: "a-later-read",
        excludes: "cycles of two in which T1 reads from T2 before it misses T2",
        because: "An earlier read that has seen T2 binds the later ones: the definition of rc.",
        is_used: |rules| rules.back == Back::Later,
    },
    Lemma {
        id: "a-later-statement",
        excludes: "cycles that come back to T1 at an earlier statement than the one that does not see T2, unless T1 overwrites \
                   what Tm read",
        because: "A statement's snapshot is a prefix of the commit order, and prefixes do not shrink; Vandevoort, Ketsman, \
                  Koch and Neven 2021, Theorem 4.2: split schedules.",
        is_used: |rules| rules.back == Back::LaterStatement,
    },
    Lemma {
        id: "sertotal",
        excludes: "anti-dependencies between two serializable transactions, and at cc their overwrites: they count as reads",
        because: "Bernardi and Gotsman 2016, SERTOTAL and Lemma 7. Not used beside databases' own levels, whose serializable \
                  transactions are so only among themselves.",
        is_used: |rules| rules.conflicts == Conflicts::Cells,
    },
    Lemma {
        id: "split-by-serializable",
        excludes: "cycles with a serializable transaction between any two anti-dependencies that follow each other",
        because: "Let M precede and N follow an anti-dependency, both serializable. N does not happen before M: the reader, \
                  which sees M, would see what overwrites its read. So M happens before N (SERTOTAL), for each two that \
                  follow each other around the cycle, and happens-before has no cycle (Bernardi and Gotsman 2016, Lemmas 7 \
                  and 8, and footnote 1). Only where all run at this level: happens-before has to be passed on.",
        is_used: |rules| rules.back == Back::SecondReadWrite,
    },
    Lemma {
        id: "neighbours-conflict",
        excludes: "neighbours in a cycle that surely write one cell and do not see each other",
        because: "CONFLICT: two writers of one key are not concurrent.",
        is_used: |rules| rules.exclusion == Exclusion::Neighbours,
    },
    Lemma {
        id: "all-conflict-with-t1",
        excludes: "a transaction of the cycle that surely writes what T1 surely writes",
        because: "T1 sees none of T2 … Tm, because its snapshot is a prefix that does not hold T2, and Tm sees none of T1, \
                  because T1 overwrites what it read. So all of them are concurrent with T1 (Fekete and others 2005).",
        is_used: |rules| rules.exclusion == Exclusion::Everybody,
    },
    Lemma {
        id: "first-updater-wins-per-row",
        excludes: "in the rule before, two that change a row with one key, of any columns: each has found the row, and has not \
                   inserted it; or no program deletes rows of the table",
        because: "PostgreSQL refuses to change a row version that a concurrent transaction has replaced. If both found a row \
                  with this key, and these are different rows, one was deleted after the other transaction had committed its \
                  change of it, so the snapshot that shows the other row shows that change, too: they are not concurrent. A \
                  row that is inserted where one was deleted conflicts with none, so inserts prove nothing.",
        is_used: |rules| rules.conflicts == Conflicts::Rows,
    },
    Lemma {
        id: "locked-by-then",
        excludes: "T2, or one that depends on T1 by a common cell, that surely writes a row which T1 had locked before it read \
                   what T2 overwrites",
        because: "The lock is held until T1 ends, and T2 commits before T1 reads on.",
        is_used: |rules| rules.exclusion == Exclusion::Locks,
    },
    Lemma {
        id: "a-locked-read-stays",
        excludes: "anti-dependencies from a row that T1 has found and locked (FOR UPDATE, FOR SHARE), or changed in the same \
                   statement where statements look again",
        because: "The lock keeps writers away until T1 ends; at levels with one snapshot, locking a row that has changed since \
                  is refused.",
        is_used: |rules| rules.exclusion != Exclusion::None,
    },
    Lemma {
        id: "a-found-insert-is-seen",
        excludes: "a transaction that surely inserts a row which T1 has found, where T1 sees all of it or nothing",
        because: "T1 would see the transaction, which it does not: atomic visibility. Rows of the table are never deleted.",
        is_used: |rules| !matches!(rules.back, Back::Later | Back::LaterStatement),
    },
    Lemma {
        id: "chords",
        excludes: "cycles in which two that are not neighbours surely write one cell",
        because: "They depend on each other one way or the other, so there is a shorter cycle. Of rows that come back nothing \
                  is said at databases' own levels: their writers have perhaps changed different rows.",
        is_used: |rules| rules.exclusion != Exclusion::Locks,
    },
];
