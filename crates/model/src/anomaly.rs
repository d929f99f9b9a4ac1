//! The named shapes of violations, as data. A new anomaly is one entry here and one page beside it.

use std::fmt;

/// A named shape of violation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the table below says what each one is")]
pub enum Anomaly {
    ThinAirRead,
    InternalRead,
    FutureRead,
    AbortedRead,
    IntermediateRead,
    IncompatibleOrder,
    DuplicateElement,
    DirtyWrite,
    NonMonotonicWrite,
    CircularInformationFlow,
    NonMonotonicRead,
    NonRepeatableRead,
    FracturedRead,
    LostOwnWrite,
    CausalityViolation,
    NonMonotonicSession,
    LostUpdate,
    ReadSkew,
    LongFork,
    SessionFork,
    WriteSkew,
    ReadOnlyAnomaly,
    SerializationCycle,
    StaleRead,
    ClockContradiction,
}

/// What an anomaly is called and what to say about it.
#[derive(Debug)]
pub struct Definition {
    /// The anomaly.
    pub anomaly: Anomaly,
    /// The name that commands use.
    pub id: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// Other names, G-numbers and P-numbers among them.
    pub aliases: &'static [&'static str],
    /// One sentence about an occurrence. `{a}`, `{b}`, `{c}` are the transactions in the order of the cycle (or the
    /// reader and the writer of a finding), `{x}` and `{y}` the keys of its first two `rw` edges (or the key of the
    /// finding), `{v}` the value that the finding read, `{r}` a transaction of the cycle that only reads.
    pub headline: &'static str,
    /// What to change.
    pub fix: &'static str,
    /// Its page, in Markdown, with the smallest history that shows it.
    pub page: &'static str,
}

macro_rules! anomalies {
    ($($anomaly:ident $id:literal $title:literal [$($alias:literal),*] $headline:literal $fix:literal)*) => {
        /// The anomalies, from those that no level allows to those that only the strongest forbid.
        pub const DEFINITIONS: &[Definition] = &[$(Definition {
            anomaly: Anomaly::$anomaly,
            id: $id,
            title: $title,
            aliases: &[$($alias),*],
            headline: $headline,
            fix: $fix,
            page: include_str!(concat!("../pages/anomalies/", $id, ".md")),
        }),*];
    };
}

anomalies! {
    ThinAirRead "thin-air-read" "thin-air read" ["out-of-thin-air", "garbage-read"]
        "{a} read {x}={v}, which nobody wrote"
        "nothing in the application can cause this; if the value is the initial one, say so with `init`"
    InternalRead "internal-read" "own write not read back" ["internal", "int"]
        "{a} read {x}={v} after it had written another value to {x} itself"
        "nothing in the application can cause this: the database or the recorder is wrong"
    FutureRead "future-read" "read of its own later write" ["future-reads"]
        "{a} read {x}={v} before it wrote that value itself"
        "nothing in the application can cause this: the database or the recorder is wrong"
    AbortedRead "aborted-read" "aborted read" ["g1a", "dirty-read", "dirty-reads", "p1", "a1", "uncommitted-read"]
        "{a} read {x}={v} from {b}, which rolled back"
        "run {a} at READ COMMITTED or stronger"
    IntermediateRead "intermediate-read" "intermediate read" ["g1b"]
        "{a} read {x}={v} from {b}, which overwrote that value before it committed"
        "run {a} at READ COMMITTED or stronger"
    IncompatibleOrder "incompatible-order" "incompatible version orders" ["incompatible-orders"]
        "{a} and {b} saw the versions of {x} in contradicting orders"
        "nothing in the application can cause this: the database lost or reordered a committed write"
    DuplicateElement "duplicate-element" "element seen twice" ["duplicate-elements"]
        "{a} read a version of {x} that holds one element twice"
        "look for a write that the client or the database retried after it had succeeded"
    DirtyWrite "dirty-write" "dirty write" ["g0", "p0", "write-cycle"]
        "{a} and {b} overwrote each other"
        "run both at READ UNCOMMITTED or stronger on a database that locks what it writes"
    NonMonotonicWrite "non-monotonic-write" "own session's writes reversed" ["monotonic-writes"]
        "{a} wrote before {b} in their session, but its version is the newer one"
        "keep a session on one replica, or use a causally consistent session"
    CircularInformationFlow "circular-information-flow" "circular information flow" ["g1c", "hb-cycle"]
        "{a} depends on what {b} wrote, and {b} depends on {a}"
        "run them at READ COMMITTED or stronger"
    NonMonotonicRead "non-monotonic-read" "non-monotonic read" ["non-monotonic-reads"]
        "{a} read from {b} and then a version of {x} that {b} had already overwritten"
        "run {a} at READ COMMITTED or stronger, or read everything in one statement"
    NonRepeatableRead "non-repeatable-read" "non-repeatable read" ["fuzzy-read", "p2", "a2", "unrepeatable-read", "non-repeatable-reads"]
        "{a} read {x} twice and got two different versions"
        "read {x} once and keep the value, or run {a} at REPEATABLE READ or snapshot isolation"
    FracturedRead "fractured-read" "fractured read" ["a5a", "atomic-visibility-violation", "partial-visibility"]
        "{a} saw one write of {b} but not {b}'s write of {x}"
        "read both keys in one statement, or run {a} at REPEATABLE READ or snapshot isolation"
    LostOwnWrite "lost-own-write" "own session's write not seen" ["read-your-writes", "ryw", "stale-own-write"]
        "{a} did not see the write of {x} that {b} made earlier in the same session"
        "keep a session on one replica, or use a causally consistent session"
    CausalityViolation "causality-violation" "causality violation" ["causal-violation"]
        "{a} saw a consequence of {b} but not {b}'s write of {x}"
        "use causally consistent sessions, or run {a} at snapshot isolation"
    NonMonotonicSession "non-monotonic-session" "session went back in time" ["monotonic-reads", "session-regression"]
        "{a} read a version of {x} older than what its session had already seen of {b}"
        "keep a session on one replica, or use a causally consistent session"
    LostUpdate "lost-update" "lost update" ["p4", "p4c", "g-cursor", "lost-updates", "cursor-lost-update", "read-modify-write"]
        "{a} and {b} both overwrote {x}, and {a} had read it before {b} wrote: one update is lost"
        "let the database do the arithmetic in one UPDATE, or read with SELECT … FOR UPDATE, or run both at snapshot isolation and retry"
    ReadSkew "read-skew" "read skew" ["g-single", "inconsistent-read", "inconsistent-analysis", "inconsistent-snapshot"]
        "{a} saw {x} from before {b} and something else from after {b}"
        "run {a} at REPEATABLE READ or snapshot isolation"
    LongFork "long-fork" "long fork" ["g-nonadjacent", "parallel-snapshot-fork", "iriw"]
        "{a} and {c} saw two independent writes in opposite orders"
        "run the readers at prefix consistency, snapshot isolation or stronger"
    SessionFork "session-fork" "session fork" ["store-buffering", "dekker"]
        "{a} and {c} each missed what the other session had committed before"
        "run all of them at snapshot isolation, or the write and the read of each session in one transaction at SERIALIZABLE"
    WriteSkew "write-skew" "write skew" ["a5b", "g2-item", "write-skews"]
        "{a} and {b} each read what the other one overwrote"
        "lock what each of them only reads, or run both at SERIALIZABLE"
    ReadOnlyAnomaly "read-only-anomaly" "read-only anomaly" ["read-only-transaction-anomaly", "receipt-anomaly", "batch-processing"]
        "the read-only {r} saw a state that no serial order of the writers passes through"
        "run all of them at SERIALIZABLE, or lock what the earlier writer only reads"
    SerializationCycle "serialization-cycle" "serialization cycle" ["g2", "anti-dependency-cycle", "non-serializable", "serialization-anomaly"]
        "no serial order explains what {a} and {b} read"
        "run all of them at SERIALIZABLE, or lock what each of them only reads"
    StaleRead "stale-read" "stale read" ["real-time-violation", "g-realtime"]
        "{a} missed the write of {x} by {b}, which had ended before it began"
        "read from the primary, or use a strictly serializable database"
    ClockContradiction "clock-contradiction" "clock contradiction" ["real-time-cycle"]
        "{a} and {b} depend on each other against the clock: one had ended before the other began"
        "compare the clocks of those who recorded the history; no database can do this"
}

impl Anomaly {
    /// Its entry in the table.
    pub fn definition(self) -> &'static Definition {
        &DEFINITIONS[self as usize]
    }

    /// The name that commands use.
    pub fn id(self) -> &'static str {
        self.definition().id
    }

    /// The anomaly of this name or alias.
    pub fn find(word: &str) -> Option<Anomaly> {
        let lower = word.to_ascii_lowercase().replace([' ', '_'], "-");
        DEFINITIONS
            .iter()
            .find(|definition| definition.id == lower || definition.aliases.contains(&lower.as_str()))
            .map(|definition| definition.anomaly)
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_anomaly_has_its_entry_in_its_place_and_no_name_twice() {
        let mut names = std::collections::BTreeSet::new();
        for (index, definition) in DEFINITIONS.iter().enumerate() {
            assert_eq!(definition.anomaly as usize, index);
            for name in definition.aliases.iter().chain([&definition.id]) {
                assert!(names.insert(*name), "{name} names two anomalies");
            }
        }
    }
}
