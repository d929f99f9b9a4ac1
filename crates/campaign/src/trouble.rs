//! Why a campaign has no results, in sentences.

use std::fmt;
use std::io;
use std::time::Duration;

use skew_model::campaign::{RunLine, RunOutcome};

use skew_server::listen::NotStarted;

/// Why there are no results.
#[derive(Debug)]
pub enum Trouble {
    /// The database did not start.
    Database(NotStarted),
    /// The command did not start.
    Command(String, io::Error),
    /// The command never connected.
    NeverConnected(String, Ended),
    /// The test does not end although transactions run one after the other.
    Hangs(Ended, Duration),
    /// The test fails although transactions run one after the other.
    FailsAlone(Ended),
    /// The test fails at serializable although nothing was refused.
    FailsSerializable(Ended),
    /// A run could not begin.
    Run(String),
}

/// A run that shows that the test itself cannot be used.
#[derive(Debug)]
pub struct Ended {
    /// The run.
    pub run: RunLine,
    /// What the command printed, the end of it.
    pub output: String,
    /// What is not supported, and how often it was asked for.
    pub unsupported: Vec<(String, u64)>,
    /// Statements that had no answer when the command was stopped.
    pub unanswered: Vec<String>,
}

impl Trouble {
    /// The run that shows it, if one does.
    pub fn ended(&self) -> Option<&Ended> {
        match self {
            Trouble::NeverConnected(_, ended)
            | Trouble::Hangs(ended, _)
            | Trouble::FailsAlone(ended)
            | Trouble::FailsSerializable(ended) => Some(ended),
            Trouble::Database(_) | Trouble::Command(..) | Trouble::Run(_) => None,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Database(why) => why.fmt(f),
            Trouble::Command(program, error) if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "there is no command `{program}`: check its name and your PATH")
            }
            Trouble::Command(program, error) => write!(f, "`{program}` did not start: {error}"),
            Trouble::NeverConnected(program, ended) => write!(
                f,
                "`{program}` never connected to the database{}: have it take the database's address from DATABASE_URL, \
                 or from PGHOST, PGPORT, PGUSER and PGDATABASE",
                match ended.run.outcome {
                    RunOutcome::Passed => ", so it talks to another one or to none".to_owned(),
                    outcome => format!(" and {outcome}"),
                }
            ),
            Trouble::Hangs(ended, timeout) => write!(
                f,
                "the test did not end within {} s although every transaction runs alone: {}",
                timeout.as_secs(),
                match ended.unanswered.is_empty() {
                    true => "give it longer with --timeout, or find out what it waits for",
                    false => "a statement waits for a transaction that the test leaves open",
                }
            ),
            Trouble::FailsAlone(ended) => write!(
                f,
                "the test {} although every transaction runs alone: {}",
                ended.run.outcome,
                match ended.unsupported.is_empty() {
                    true =>
                        "what it tests is wrong, or it needs something that this database does not do as PostgreSQL does",
                    false => "it may need what the database does not support",
                }
            ),
            Trouble::FailsSerializable(ended) => write!(
                f,
                "the test {} at serializable: its transactions behave as if they ran one after the other, so the test \
                 itself depends on something else (time, order, randomness)",
                ended.run.outcome
            ),
            Trouble::Run(why) => f.write_str(why),
        }
    }
}
