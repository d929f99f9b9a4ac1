//! A client whose calls take their snapshots early and run one after the other: what PostgreSQL does at REPEATABLE READ and
//! SERIALIZABLE, without any waiting, so that sessions of psql repeat it.
//!
//! At these levels a transaction looks at one state, whenever its statements run. So a run is given by the order of commits
//! and, for each call, by the number of commits before its snapshot:
//! ```text
//! T1  BEGIN  SELECT      CALL  COMMIT
//! T2                BEGIN SELECT          CALL  COMMIT
//! ```
//! Locks add nothing that a run of this form does not have: a call that would wait runs later here, and sees the same.

use skew_model::History;

use super::calls::{begins, query, sql_of, state};
use super::{Client, FINALLY};
use crate::app::App;
use crate::error::Result;
use crate::session::transaction::Isolation;
use crate::session::{Client as Connected, Connection, Database};

/// A step of a session, by the session's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnapshotStep {
    /// Its next call begins, and takes its snapshot.
    Look(usize),
    /// The call runs and commits.
    Run(usize),
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct SnapshotRun {
    /// What transactions did.
    pub history: History,
    /// The rows of all tables in the end, as text.
    pub state: Vec<String>,
    /// The statements in their order, each with the number of its session.
    pub statements: Vec<(usize, String)>,
}

/// Runs a client in this way; `None` if PostgreSQL refuses a call. The database reads as PostgreSQL does, and goes back to its
/// checkpoint first.
pub fn run_with_snapshots(
    database: &Database,
    app: &App,
    client: &Client,
    steps: &[SnapshotStep],
    isolation: Isolation,
) -> Result<Option<SnapshotRun>> {
    database.begin_interleaved_run()?;
    let (finally, calling): (Vec<_>, Vec<_>) = client.sessions.iter().partition(|(name, _)| name == FINALLY);
    let connected = |(at, (name, calls)): (usize, &&(String, Vec<String>))| Session {
        connection: database.connect(Connected {
            label: Some(name.clone()),
            clock: Some(begins(at)),
            ..Connected::new("postgres", "explore")
        }),
        left: calls.iter().rev().cloned().collect(),
    };
    let mut sessions: Vec<Session> = calling.iter().enumerate().map(connected).collect();
    let mut statements = Vec::new();
    for &step in steps {
        let (SnapshotStep::Look(at) | SnapshotStep::Run(at)) = step;
        let session = &mut sessions[at];
        let Some(call) = session.left.last().cloned() else { return Ok(None) };
        let level = app.called(&call).and_then(|program| program.isolation).unwrap_or(isolation);
        let wanted = match step {
            SnapshotStep::Look(_) => vec![
                format!("BEGIN ISOLATION LEVEL {}", level.name().to_uppercase()),
                "SELECT 'sees what is committed now'".to_owned(),
            ],
            SnapshotStep::Run(_) => {
                session.left.pop();
                vec![sql_of(app, &call), "COMMIT".to_owned()]
            }
        };
        for statement in wanted {
            if query(&mut session.connection, &statement).is_err() {
                return Ok(None);
            }
            statements.push((at, statement));
        }
    }
    for (at, session) in sessions.iter_mut().enumerate() {
        for (_, calls) in &finally {
            for call in calls {
                let statement = sql_of(app, call);
                if query(&mut session.connection, &statement).is_err() {
                    return Ok(None);
                }
                statements.push((at, statement));
            }
        }
    }
    drop(sessions);
    let history = database.history();
    let mut looker = database.connect(Connected::new("check", "explore"));
    let state = state(database, &mut looker)?;
    Ok(Some(SnapshotRun { history, state, statements }))
}

struct Session {
    connection: Connection,
    /// The calls that have not run, the next one last.
    left: Vec<String>,
}

/// All ways in which sessions with so many calls can take snapshots and commit, those with the oldest snapshots first; so many
/// at most.
pub fn snapshot_orders(calls: &[usize], most: usize) -> Vec<Vec<SnapshotStep>> {
    let mut found = Vec::new();
    extend(&mut Vec::new(), &mut calls.to_vec(), &mut vec![false; calls.len()], most, &mut found);
    found
}

fn extend(
    steps: &mut Vec<SnapshotStep>,
    left: &mut Vec<usize>,
    looks: &mut Vec<bool>,
    most: usize,
    found: &mut Vec<Vec<SnapshotStep>>,
) {
    if found.len() >= most {
        return;
    }
    if left.iter().all(|&left| left == 0) {
        found.push(steps.clone());
        return;
    }
    let idle: Vec<usize> = (0..left.len()).filter(|&at| left[at] > 0 && !looks[at]).collect();
    // Which of the others look now: all of them first.
    for chosen in (0..1_u32 << idle.len().min(8)).rev() {
        let now: Vec<usize> = (0..idle.len()).filter(|bit| chosen & 1 << bit != 0).map(|bit| idle[bit]).collect();
        let before = steps.len();
        for &at in &now {
            steps.push(SnapshotStep::Look(at));
            looks[at] = true;
        }
        for next in (0..left.len()).filter(|&at| looks[at]).collect::<Vec<_>>() {
            steps.push(SnapshotStep::Run(next));
            (looks[next], left[next]) = (false, left[next] - 1);
            extend(steps, left, looks, most, found);
            (looks[next], left[next]) = (true, left[next] + 1);
            steps.pop();
        }
        now.iter().for_each(|&at| looks[at] = false);
        steps.truncate(before);
    }
}

#[cfg(test)]
mod tests {
    use super::{SnapshotStep, snapshot_orders};

    #[test]
    fn the_oldest_snapshots_come_first() {
        use SnapshotStep::{Look, Run};
        let all = snapshot_orders(&[1, 1], 100);
        assert_eq!(all[0], [Look(0), Look(1), Run(0), Run(1)]);
        assert_eq!(all[1], [Look(0), Look(1), Run(1), Run(0)]);
        // Two serial ones, each also with the second look taken in time.
        assert!(all.contains(&vec![Look(0), Run(0), Look(1), Run(1)]));
        assert_eq!(snapshot_orders(&[2, 2, 2], 50).len(), 50);
    }
}
