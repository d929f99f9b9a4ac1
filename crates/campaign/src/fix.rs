//! What to change so that an anomaly goes away, in SQL's words: what really helps at the level of those who took part.
//!
//! - `SELECT … FOR UPDATE` keeps others from writing until the end of the transaction, and reads the last version, at every
//!   level. It leaves no trace: who comes next goes on with what it had read before. So in a write skew it has to be in
//!   both transactions, on everything that they read; and a lock on some other row helps only where each statement looks
//!   anew (READ COMMITTED), not with a snapshot from before (PostgreSQL's manual, 13.4.2).
//! - `UPDATE … SET n = n + 1` looks at the last version where databases lock rows or refuse second writers: `mvrc`, `psi`,
//!   `si`, `ser`. Elsewhere it is a read and a write as any other.

use skew_model::{Edge, History, Level, OpId, Reason, Violation};

use crate::cells::{NOTHING, is_row};

/// What to change where a decision rests on a value that is out of date when the transaction writes.
pub(super) const FOR_DECISIONS: &str =
    "read with SELECT … FOR UPDATE, or put the condition into the UPDATE and look at its row count";

/// What to change, more precisely than in general where SQL allows it.
pub(super) fn fix(violation: &Violation, edges: &[Edge]) -> String {
    let history = &violation.history;
    let levels: Vec<Level> = edges.iter().filter_map(|edge| history.txn(edge.from).level).collect();
    let all = |some: &[Level]| !levels.is_empty() && levels.iter().all(|level| some.contains(level));
    let retried = "run both at SERIALIZABLE and try again after 40001";
    match violation.anomaly.id() {
        "write-skew" if edges.iter().any(|edge| found_nothing(history, edge)) => {
            let shared = if all(&[Level::Mvrc]) {
                "lock a row that both share (SELECT … FOR UPDATE) before they look, or "
            } else if all(&[Level::Mvrc, Level::Psi, Level::Si, Level::Ser]) {
                "UPDATE a row that both share before they look, or "
            } else {
                ""
            };
            format!("no row is there yet that could be locked: let a UNIQUE constraint decide, or {shared}{retried}")
        }
        "write-skew" => format!("lock what they read, in both of them (SELECT … FOR UPDATE), or {retried}"),
        "serialization-cycle" => "lock what they read, in all of them (SELECT … FOR UPDATE), or run all of them at \
                                  SERIALIZABLE and try again after 40001"
            .to_owned(),
        "lost-update" => {
            let one = if all(&[Level::Mvrc, Level::Psi, Level::Si, Level::Ser]) {
                "let the database do the arithmetic in one UPDATE, or "
            } else {
                ""
            };
            format!("{one}read with SELECT … FOR UPDATE, or run both at REPEATABLE READ and try again after 40001")
        }
        _ => skew_report::fix(violation),
    }
}

/// Whether the edge is there because a row was looked for and not found.
fn found_nothing(history: &History, edge: &Edge) -> bool {
    let is_nothing = |read: OpId| {
        let op = history.op(read);
        is_row(&history.key_name(op.key())) && history.value_text(op.value()) == NOTHING
    };
    matches!(edge.reason, Reason::Overwrote { read, .. } if is_nothing(read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skew_model::Explanation;

    /// What is advised about a history in which all transactions run at a level.
    fn advice(level: &str, lines: &[&str]) -> String {
        let text: String = lines.iter().map(|line| line.replace('@', &format!("@{level} ")) + "\n").collect();
        let history = History::parse(&text).expect("a history");
        let verdict = skew_check::check(&history, Level::Ser);
        let violation = verdict.violation().expect("it is not serializable");
        let Explanation::Cycle(cycle) = &violation.explanation else { panic!("no cycle: {:?}", violation.explanation) };
        fix(violation, &cycle.edges)
    }

    #[test]
    fn one_update_is_advised_where_it_looks_at_the_last_version() {
        let lost = ["init stock=2", "a t1 @ r stock=2 w stock=1", "b t2 @ r stock=2 w stock=0"];
        let locks = "read with SELECT … FOR UPDATE, or run both at REPEATABLE READ and try again after 40001";
        assert_eq!(advice("mvrc", &lost), format!("let the database do the arithmetic in one UPDATE, or {locks}"));
        for level in ["rc", "ra", "cc", "pc"] {
            assert_eq!(advice(level, &lost), locks, "{level}");
        }
    }

    #[test]
    fn in_a_write_skew_both_have_to_lock() {
        let skew = ["init x=0 y=0", "a t1 @ r x=0 w y=1", "b t2 @ r y=0 w x=1"];
        for level in ["mvrc", "si", "cc"] {
            let expected = "lock what they read, in both of them (SELECT … FOR UPDATE), or run both at SERIALIZABLE and try \
                            again after 40001";
            assert_eq!(advice(level, &skew), expected, "{level}");
        }
    }

    #[test]
    fn what_is_not_there_is_decided_by_what_both_share() {
        let skew = [r#"a t1 @ r "x[1]"=nil w "y[1]"=1"#, r#"b t2 @ r "y[1]"=nil w "x[1]"=1"#];
        let between = |shared: &str| {
            format!(
                "no row is there yet that could be locked: let a UNIQUE constraint decide, or {shared}run both at \
                 SERIALIZABLE and try again after 40001"
            )
        };
        let expected = [
            ("mvrc", "lock a row that both share (SELECT … FOR UPDATE) before they look, or "),
            ("si", "UPDATE a row that both share before they look, or "),
            ("cc", ""),
        ];
        for (level, shared) in expected {
            assert_eq!(advice(level, &skew), between(shared), "{level}");
        }
    }
}
