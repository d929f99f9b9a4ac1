//! What to change, where that was tried, and what an application has to expect.

use skew_model::campaign::{FailedRun, FixEvidence, SqlAnomaly, SqlStatement, TriedFix};

use crate::campaign::words::{numbers, one_line};
use crate::clean::{clean, count};

/// The changes that were tried: those with which nothing failed; if there is none, how each of them failed.
pub(super) fn for_anomaly(anomaly: &SqlAnomaly) -> Vec<(&'static str, String)> {
    if !anomaly.tried.is_empty() {
        return anomaly.tried.iter().flat_map(tried).collect();
    }
    if anomaly.failed.is_empty() {
        return Vec::new();
    }
    let none = ("fix", "none of the changes that were tried makes the failure impossible".to_owned());
    let failed = anomaly.failed.iter();
    let failed = failed.map(|fix| ("tried", format!("{}: {}", clean(&fix.words), clean(&fix.how))));
    std::iter::once(none).chain(failed).collect()
}

/// A change that was tried: what it is, and the statements as they should be.
fn tried(fix: &TriedFix) -> Vec<(&'static str, String)> {
    let evidence = match fix.evidence {
        FixEvidence::Runs(runs) => format!("tried: {} passed", count(runs, "run")),
        FixEvidence::Explored(1) => "explored: the only interleaving does not break".to_owned(),
        FixEvidence::Explored(runs) => format!("explored: none of {runs} interleavings breaks"),
    };
    let words = format!("{} ({evidence})", clean(&fix.words));
    let sql = fix.sql.iter().map(|sql| ("sql", format!("{};", one_line(sql).trim_end_matches(';'))));
    [("fix", words)].into_iter().chain(sql).collect()
}

/// What to do about statements that were refused.
pub(super) fn for_refusals(failure: &FailedRun, refused: &[usize]) -> Vec<(&'static str, String)> {
    let with = |codes: &[&str]| -> Vec<usize> {
        let has_code = |at: &&usize| {
            let statement = failure.statements.get(**at);
            statement.is_some_and(|one| codes.iter().any(|code| one.answer.starts_with(code)))
        };
        refused.iter().filter(has_code).copied().collect()
    };
    let (again, duplicate, other) = (with(&["40001", "40P01"]), with(&["23505"]), with(&["23"]));
    let mut advice = Vec::new();
    if !again.is_empty() {
        advice.push((
            "do",
            format!(
                "run the whole transaction again when it fails with 40001 or 40P01, as {} did",
                statements_words(&again)
            ),
        ));
    }
    if duplicate.iter().any(|&at| looked_again(failure, at)) {
        advice.push((
            "do",
            format!(
                "the row that was in the way of {} was committed after the transaction's snapshot, which does not show it \
                 however often it is asked: write INSERT … ON CONFLICT, run the whole transaction again after 23505, or \
                 run it at READ COMMITTED",
                statements_words(&duplicate)
            ),
        ));
    } else if !duplicate.is_empty() {
        advice.push((
            "do",
            format!(
                "another transaction inserted the same key first: write INSERT … ON CONFLICT in {}, or begin a new transaction after \
                 23505 and read the row",
                statements_words(&duplicate)
            ),
        ));
    } else if !other.is_empty() {
        advice.push((
            "do",
            format!("expect that {} may meet what another transaction has just committed", statements_words(&other)),
        ));
    }
    if advice.is_empty() {
        advice.push(("do", "expect that the database refuses a statement, and try again".to_owned()));
    }
    advice
}

/// Whether the transaction went on after a statement that was refused, and read.
fn looked_again(failure: &FailedRun, refused: usize) -> bool {
    let Some(statement) = failure.statements.get(refused) else { return false };
    let same = |one: &&SqlStatement| one.connection == statement.connection && one.txn == statement.txn;
    let mut later = failure.statements[refused + 1..].iter().filter(same);
    statement.txn.is_some() && later.any(|one| one.operations.iter().any(|operation| !operation.is_write))
}

/// What to do about reads of old versions in a run that is serializable all the same.
pub(super) fn for_old_versions() -> Vec<(&'static str, String)> {
    let why = "a serial order explains the run, but not the order in which it happened";
    let fix = "read from where it was written (one replica, one session); a single server always does, and so does \
               --recency commit";
    vec![("why", why.to_owned()), ("do", fix.to_owned())]
}

/// `statement 6`, `statements 6 and 7`
pub(super) fn statements_words(statements: &[usize]) -> String {
    format!("statement{} {}", if statements.len() == 1 { "" } else { "s" }, numbers(statements))
}
