//! The anomalies of Hermitage's PostgreSQL page as scripts with what gives each away.
//!
//! The table has two rows, called x and y here: `(1, 10)` and `(2, 20)`. A line of a script is a session, perhaps a name
//! for the result, and a statement. What waits is left out until it goes on; the others proceed.

use super::seen::Seen;

/// A script that shows an anomaly if the database lets it.
pub(super) struct Anomaly {
    /// Its name in the literature; two scripts can show the same.
    pub(super) id: &'static str,
    /// What tells this script from others of the same name.
    pub(super) variant: &'static str,
    /// What it means.
    pub(super) story: &'static str,
    pub(super) script: &'static str,
    /// The levels that allow it; every other one forbids it.
    pub(super) allowed: &'static [&'static str],
    /// Whether this run shows it.
    pub(super) shown: fn(&Seen) -> bool,
}

const RU: &[&str] = &["ru"];
/// Levels whose statements look at the database anew.
const STATEMENTS: &[&str] = &["ru", "rc", "mvrc"];
/// Levels without write conflicts.
const NO_CONFLICTS: &[&str] = &["ru", "rc", "ra", "cc", "pc", "mvrc"];
const ALL_BUT_SER: &[&str] = &["ru", "rc", "ra", "cc", "pc", "psi", "si", "mvrc"];

/// All of them, in Hermitage's order.
pub(super) const ANOMALIES: [Anomaly; 14] = [
    Anomaly {
        id: "G0",
        variant: "",
        story: "write cycle: of two transactions that write x and y, one wins x and the other y",
        script: "
            T1: begin
            T2: begin
            T1: update test set value = 11 where id = 1
            T2: update test set value = 12 where id = 1
            T1: update test set value = 21 where id = 2
            T1: commit
            T2: update test set value = 22 where id = 2
            T2: commit
            T3: begin
            T3 x: select id, value from test where id = 1
            T3 y: select id, value from test where id = 2
            T3: commit
            T4: begin
            T4 again-y: select id, value from test where id = 2
            T4 again-x: select id, value from test where id = 1
            T4: commit",
        allowed: RU,
        shown: |seen| {
            // Who sees x of T1 and then y of T2 has T1 first; who sees y of T2 and then x of T1 has T2 first.
            let one = seen.value("x", 1) == Some(11) && seen.value("y", 2) == Some(22);
            let other = seen.value("again-y", 2) == Some(22) && seen.value("again-x", 1) == Some(11);
            seen.all_committed() && one && other
        },
    },
    Anomaly {
        id: "G1a",
        variant: "",
        story: "aborted read: a transaction sees what another one took back",
        script: "
            T1: begin
            T2: begin
            T1: update test set value = 101 where id = 1
            T2 before: select id, value from test order by id
            T1: rollback
            T2 after: select id, value from test order by id
            T2: commit",
        allowed: RU,
        shown: |seen| {
            seen.committed(2) && (seen.value("before", 1) == Some(101) || seen.value("after", 1) == Some(101))
        },
    },
    Anomaly {
        id: "G1b",
        variant: "",
        story: "intermediate read: a transaction sees a value that its writer replaces before it commits",
        script: "
            T1: begin
            T2: begin
            T1: update test set value = 101 where id = 1
            T2 before: select id, value from test order by id
            T1: update test set value = 11 where id = 1
            T1: commit
            T2 after: select id, value from test order by id
            T2: commit",
        allowed: RU,
        shown: |seen| {
            seen.committed(2) && (seen.value("before", 1) == Some(101) || seen.value("after", 1) == Some(101))
        },
    },
    Anomaly {
        id: "G1c",
        variant: "",
        story: "circular information flow: two transactions see each other's writes",
        script: "
            T1: begin
            T2: begin
            T1: update test set value = 11 where id = 1
            T2: update test set value = 22 where id = 2
            T1 y: select id, value from test where id = 2
            T2 x: select id, value from test where id = 1
            T1: commit
            T2: commit",
        allowed: RU,
        shown: |seen| seen.all_committed() && seen.value("y", 2) == Some(22) && seen.value("x", 1) == Some(11),
    },
    Anomaly {
        id: "OTV",
        variant: "",
        story: "observed transaction vanishes: a transaction's writes are seen, and then not any more",
        script: "
            T1: begin
            T2: begin
            T3: begin
            T1: update test set value = 11 where id = 1
            T1: update test set value = 19 where id = 2
            T2: update test set value = 12 where id = 1
            T1: commit
            T3 first: select id, value from test where id = 1
            T2: update test set value = 18 where id = 2
            T3 second: select id, value from test where id = 2
            T2: commit
            T3 third: select id, value from test where id = 2
            T3 fourth: select id, value from test where id = 1
            T3: commit",
        allowed: RU,
        shown: |seen| {
            // Which of T1 and T2 wrote a value: 10 and 20 neither, 11 and 19 the first, 12 and 18 the second.
            let writer = |name, id| match seen.value(name, id) {
                Some(11 | 19) => 1,
                Some(12 | 18) => 2,
                _ => 0,
            };
            let reads = [writer("first", 1), writer("second", 2), writer("third", 2), writer("fourth", 1)];
            let reversed = reads.map(|writer| [0, 2, 1][writer]);
            seen.committed(3) && !reads.is_sorted() && !reversed.is_sorted()
        },
    },
    Anomaly {
        id: "PMP",
        variant: "read",
        story: "predicate-many-preceders: a second search finds a row that the first one should have found",
        script: "
            T1: begin
            T2: begin
            T1 first: select id, value from test where value = 30
            T2: insert into test values (3, 30)
            T2: commit
            T1 second: select id, value from test where value % 3 = 0
            T1: commit",
        allowed: STATEMENTS,
        shown: |seen| seen.committed(1) && seen.rows("first").is_empty() && !seen.rows("second").is_empty(),
    },
    Anomaly {
        id: "PMP",
        variant: "write",
        story: "predicate-many-preceders: a transaction deletes rows by a condition, and still sees one that fulfils it",
        script: "
            T1: begin
            T2: begin
            T1: update test set value = value + 10
            T2: delete from test where value = 20
            T1: commit
            T2 left: select id, value from test where value = 20
            T2: commit",
        allowed: STATEMENTS,
        shown: |seen| seen.all_committed() && !seen.rows("left").is_empty(),
    },
    Anomaly {
        id: "P4",
        variant: "",
        story: "lost update: two transactions read x and write it, and one overwrites the other unseen",
        script: "
            T1: begin
            T2: begin
            T1 one: select id, value from test where id = 1
            T2 other: select id, value from test where id = 1
            T1: update test set value = 11 where id = 1
            T2: update test set value = 11 where id = 1
            T1: commit
            T2: commit",
        allowed: NO_CONFLICTS,
        shown: |seen| seen.all_committed() && seen.value("one", 1) == Some(10) && seen.value("other", 1) == Some(10),
    },
    Anomaly {
        id: "G-single",
        variant: "rows",
        story: "read skew: x is seen before, y after another transaction's change of both",
        script: "
            T1: begin
            T2: begin
            T1 x: select id, value from test where id = 1
            T2: update test set value = 12 where id = 1
            T2: update test set value = 18 where id = 2
            T2: commit
            T1 y: select id, value from test where id = 2
            T1: commit",
        allowed: STATEMENTS,
        shown: |seen| {
            seen.all_committed()
                && ((seen.value("x", 1) == Some(10) && seen.value("y", 2) == Some(18))
                    || (seen.value("x", 1) == Some(12) && seen.value("y", 2) == Some(20)))
        },
    },
    Anomaly {
        id: "G-single",
        variant: "predicate",
        story: "read skew: a row is seen with its old value by one search, and with its new one by another",
        script: "
            T1: begin
            T2: begin
            T1 old: select id, value from test where value % 5 = 0
            T2: update test set value = 12 where value = 10
            T2: commit
            T1 new: select id, value from test where value % 3 = 0
            T1: commit",
        allowed: STATEMENTS,
        shown: |seen| seen.all_committed() && seen.value("old", 1) == Some(10) && seen.value("new", 1) == Some(12),
    },
    Anomaly {
        id: "G-single",
        variant: "write",
        story: "read skew: a transaction saw the old x, and deletes by a condition that the new y does not fulfil any more",
        script: "
            T1: begin
            T2: begin
            T1 x: select id, value from test where id = 1
            T2: update test set value = 12 where id = 1
            T2: update test set value = 18 where id = 2
            T2: commit
            T1 deleted: delete from test where value = 20
            T1: commit",
        allowed: STATEMENTS,
        shown: |seen| seen.all_committed() && seen.value("x", 1) == Some(10) && seen.tag("deleted") == "DELETE 0",
    },
    Anomaly {
        id: "G2-item",
        variant: "",
        story: "write skew: two transactions read x and y; one writes x, the other y",
        script: "
            T1: begin
            T2: begin
            T1 one: select id, value from test where id in (1, 2)
            T2 other: select id, value from test where id in (1, 2)
            T1: update test set value = 11 where id = 1
            T2: update test set value = 21 where id = 2
            T1: commit
            T2: commit",
        allowed: ALL_BUT_SER,
        shown: |seen| seen.all_committed() && seen.value("one", 2) == Some(20) && seen.value("other", 1) == Some(10),
    },
    Anomaly {
        id: "G2",
        variant: "predicate",
        story: "anti-dependency cycle: two transactions search, and each inserts what the other did not find",
        script: "
            T1: begin
            T2: begin
            T1 one: select id, value from test where value % 3 = 0
            T2 other: select id, value from test where value % 3 = 0
            T1: insert into test values (3, 30)
            T2: insert into test values (4, 42)
            T1: commit
            T2: commit",
        allowed: ALL_BUT_SER,
        shown: |seen| seen.all_committed() && seen.rows("one").is_empty() && seen.rows("other").is_empty(),
    },
    Anomaly {
        id: "G2",
        variant: "three",
        story: "anti-dependency cycle: a reader between two writers sees one of them and not the other, which misses both",
        script: "
            T1: begin
            T1 one: select id, value from test order by id
            T2: begin
            T2: update test set value = value + 5 where id = 2
            T2: commit
            T3: begin
            T3 three: select id, value from test order by id
            T3: commit
            T1: update test set value = 0 where id = 1
            T1: commit",
        allowed: ALL_BUT_SER,
        shown: |seen| {
            seen.all_committed() && seen.rows("one") == [(1, 10), (2, 20)] && seen.rows("three") == [(1, 10), (2, 25)]
        },
    },
];
