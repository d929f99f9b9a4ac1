//! What a run of an anomaly's script gave, by the names in the script.

use std::collections::BTreeMap;

use crate::sessions::{Script, Step, Transcript};

/// A script from its text, and which step has which name.
pub(super) struct Named {
    pub(super) script: Script,
    names: BTreeMap<String, usize>,
}

/// A run of it.
pub(super) struct Seen<'a> {
    named: &'a Named,
    transcript: &'a Transcript,
}

impl Named {
    /// `begin` becomes what begins a transaction at the level under test.
    pub(super) fn parse(text: &str, begin: &str) -> Named {
        let mut steps = Vec::new();
        let mut names = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (who, sql) = line.split_once(": ").expect("a line has a session and a statement");
            let (session, name) = who.split_once(' ').unwrap_or((who, ""));
            let number: usize = session.trim_start_matches('T').parse().expect("sessions are T1, T2, T3");
            if !name.is_empty() {
                names.insert(name.to_owned(), steps.len());
            }
            let sql = if sql == "begin" { begin } else { sql };
            steps.push(Step { session: number - 1, sql: sql.to_owned() });
        }
        let sessions = steps.iter().map(|step| step.session + 1).max().unwrap_or(0);
        let setup = [
            "CREATE TABLE test (id int PRIMARY KEY, value int)",
            "INSERT INTO test (id, value) VALUES (1, 10), (2, 20)",
        ];
        let script = Script { tables: &["test"], setup: setup.map(str::to_owned).to_vec(), sessions, steps };
        Named { script, names }
    }
}

impl<'a> Seen<'a> {
    pub(super) fn new(named: &'a Named, transcript: &'a Transcript) -> Seen<'a> {
        Seen { named, transcript }
    }

    /// Whether a session (from 1) got through.
    pub(super) fn committed(&self, session: usize) -> bool {
        let steps = &self.named.script.steps;
        let last = steps.iter().rposition(|step| step.session + 1 == session && step.sql == "commit");
        last.is_some_and(|step| self.transcript.outcome(&self.named.script, step) == Some("COMMIT"))
    }

    pub(super) fn all_committed(&self) -> bool {
        (1..=self.named.script.sessions).all(|session| self.committed(session))
    }

    /// The rows of a named result; none if it is an error.
    pub(super) fn rows(&self, name: &str) -> Vec<(i64, i64)> {
        let outcome = self.named.names.get(name).and_then(|&step| self.transcript.outcome(&self.named.script, step));
        rows(outcome.unwrap_or_default())
    }

    /// What a named statement came to.
    pub(super) fn tag(&self, name: &str) -> &str {
        let outcome = self.named.names.get(name).and_then(|&step| self.transcript.outcome(&self.named.script, step));
        outcome.unwrap_or_default()
    }

    /// The value of a row in a named result.
    pub(super) fn value(&self, name: &str, id: i64) -> Option<i64> {
        self.rows(name).into_iter().find(|(row, _)| *row == id).map(|(_, value)| value)
    }

    /// The first statement that failed otherwise than by a conflict, with its error.
    pub(super) fn trouble(&self) -> Option<String> {
        let steps = self.named.script.steps.iter().enumerate();
        steps.filter_map(|(at, step)| Some((step, self.transcript.outcome(&self.named.script, at)?))).find_map(
            |(step, outcome)| {
                let expected =
                    ["error 40001", "error 40P01", "error 25P02"].iter().any(|code| outcome.starts_with(code));
                let failed = ["error", "connection", "is stuck"].iter().any(|word| outcome.starts_with(word));
                (failed && !expected).then(|| format!("{}: {outcome}", step.sql))
            },
        )
    }
}

/// `SELECT 2 (1, 10) (2, 20)` → rows.
fn rows(outcome: &str) -> Vec<(i64, i64)> {
    let inside = outcome.split('(').skip(1).filter_map(|part| part.split(')').next());
    inside
        .filter_map(|row| {
            let (id, value) = row.split_once(", ")?;
            Some((id.parse().ok()?, value.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Named, rows};

    #[test]
    fn a_script_is_read_from_its_lines() {
        let named = Named::parse("\n T1: begin\n T2 x: select 1\n", "BEGIN ISOLATION LEVEL SERIALIZABLE");
        assert_eq!(named.script.sessions, 2);
        assert_eq!(named.script.steps[0].sql, "BEGIN ISOLATION LEVEL SERIALIZABLE");
        assert_eq!(named.names["x"], 1);
        assert_eq!(rows("SELECT 2 (1, 10) (2, -20)"), [(1, 10), (2, -20)]);
    }
}
