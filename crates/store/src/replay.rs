//! A run as a short string, and back: `skew1.cc.none.transactions.0a2`.
//!
//! The level, the recency, the interleaving and how the choice was asked, then the picks: a character each, or for alternatives from the 65th on a
//! number between `~`. All characters are safe in URLs, shells and Rust strings. Zeros at the end are left out. A limit on
//! the calls of the run that is not the default follows after another dot.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use skew_model::Level;

use crate::db::Db;
use crate::engine::Recency;
use crate::explore::known_keys;
use crate::panics::{self, Panics};
use crate::picks::{Divergence, Pick, Replay};
use crate::run::{Config, Interleaving, Run, run_at};
use crate::store::Strength;

/// What starts the string; the number changes when the meaning of the rest does.
const VERSION: &str = "skew1";
const DIGITS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
const ESCAPE: char = '~';

/// What marks a run whose choice saw all sources.
const LISTED: &str = "-listed";
/// The interleaving of an explored run.
const EXPLORED: &str = "histories";

/// What the choice of a run was asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Made {
    /// Sources were drawn where there were many.
    Drawn,
    /// All sources were listed.
    Listed,
    /// The same, and levels that look at the commit order ran at a weaker one: the history was judged in the end.
    Explored,
}

/// A run that was made again.
pub struct Again {
    /// The run.
    pub run: Run,
    /// Where the program did something else than when it was recorded.
    pub divergence: Option<Divergence>,
}

/// A run, to be made again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// The default level of its transactions.
    pub level: Level,
    /// What its reads had to see.
    pub recency: Recency,
    /// Where sessions took turns.
    pub interleaving: Interleaving,
    /// What its choice was asked.
    pub made: Made,
    /// How many calls it could make.
    pub max_steps: u64,
    /// The alternatives that were taken; from where they end, the first ones.
    pub picks: Vec<u32>,
}

impl Recording {
    /// The run that was made with this configuration and gave these answers.
    pub fn new(config: &Config, made: Made, picks: &[Pick]) -> Recording {
        Recording {
            level: config.level,
            recency: config.recency,
            interleaving: config.interleaving(),
            made,
            max_steps: config.max_steps,
            picks: picks.iter().map(|pick| pick.chosen).collect(),
        }
    }

    /// The configuration to make it with.
    pub fn config(&self) -> Config {
        let (recency, interleaving, max_steps) = (self.recency, Some(self.interleaving), self.max_steps);
        Config { recency, interleaving, max_steps, ..Config::new(self.level) }
    }

    /// Makes the run again.
    pub fn run(&self, body: impl Fn(Db) + Clone + 'static) -> Again {
        let listed = self.made != Made::Drawn;
        let choice = Arc::new(Mutex::new(Replay::new(self.picks.clone()).listed(listed)));
        let strength = if self.made == Made::Explored { Strength::Explorable } else { Strength::Asked };
        let asked = Box::new(choice.clone());
        let keys = match self.made {
            Made::Explored => known_keys(&self.config(), body.clone()),
            Made::Drawn | Made::Listed => Vec::new(),
        };
        let run = panics::with(Panics::Printed, || run_at(&self.config(), strength, &keys, asked, body));
        let divergence = choice.lock().unwrap_or_else(PoisonError::into_inner).divergence();
        Again { run, divergence }
    }

    /// The run that a string describes.
    pub fn parse(text: &str) -> Result<Recording, NotARecording> {
        let fail = |why: String| Err(NotARecording { why });
        let parts: Vec<&str> = text.trim().split('.').collect();
        let ([version, level, recency, interleaving, picks] | [version, level, recency, interleaving, picks, _]) =
            parts[..]
        else {
            return fail(format!("it has {} parts between dots instead of 5", parts.len()));
        };
        let max_steps = match parts.get(5).map(|steps| steps.parse()) {
            None => Config::default().max_steps,
            Some(Ok(steps)) => steps,
            Some(Err(_)) => return fail(format!("`{}` is not a number of calls", parts[5])),
        };
        if version != VERSION {
            return fail(format!("it starts with `{version}`, and this version of Skew writes `{VERSION}`"));
        }
        let Some(level) = Level::all().find(|known| known.id() == level) else {
            return fail(format!("`{level}` is not the id of a level"));
        };
        let Some(recency) = [Recency::None, Recency::Commit].into_iter().find(|&known| word(known) == recency) else {
            return fail(format!("`{recency}` is not a recency; there are `none` and `commit`"));
        };
        let (turns, made) = match interleaving.strip_suffix(LISTED) {
            _ if interleaving == EXPLORED => (Interleaving::Transactions.id(), Made::Explored),
            Some(turns) => (turns, Made::Listed),
            None => (interleaving, Made::Drawn),
        };
        let known = [Interleaving::Transactions, Interleaving::Operations];
        let Some(interleaving) = known.into_iter().find(|known| known.id() == turns) else {
            return fail(format!(
                "`{interleaving}` is not a way to interleave; there are `transactions`, `operations`, `{EXPLORED}`"
            ));
        };
        Ok(Recording { level, recency, interleaving, made, max_steps, picks: parse_picks(picks)? })
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}.{}.{}.", self.level.id(), word(self.recency))?;
        match self.made {
            Made::Drawn => write!(f, "{}.", self.interleaving.id())?,
            Made::Listed => write!(f, "{}{LISTED}.", self.interleaving.id())?,
            Made::Explored => write!(f, "{EXPLORED}.")?,
        }
        let used = self.picks.iter().rposition(|&pick| pick != 0).map_or(0, |last| last + 1);
        for &pick in &self.picks[..used] {
            match DIGITS.get(pick as usize) {
                Some(&digit) => write!(f, "{}", digit as char)?,
                None => write!(f, "{ESCAPE}{pick}{ESCAPE}")?,
            }
        }
        if self.max_steps != Config::default().max_steps {
            write!(f, ".{}", self.max_steps)?;
        }
        Ok(())
    }
}

/// Why a string is not a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotARecording {
    why: String,
}

impl fmt::Display for NotARecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a replay string: {}; copy it whole from the failing test", self.why)
    }
}

impl std::error::Error for NotARecording {}

fn word(recency: Recency) -> &'static str {
    match recency {
        Recency::None => "none",
        Recency::Commit => "commit",
    }
}

fn parse_picks(text: &str) -> Result<Vec<u32>, NotARecording> {
    let mut picks = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        if first != ESCAPE {
            let digit = DIGITS.iter().position(|&digit| char::from(digit) == first);
            let unknown = || NotARecording { why: format!("`{first}` stands for no pick") };
            picks.push(digit.ok_or_else(unknown)? as u32);
            continue;
        }
        let Some((number, after)) = rest.split_once(ESCAPE) else {
            return Err(NotARecording { why: format!("it ends within `{ESCAPE}…{ESCAPE}`") });
        };
        let wrong = |_| NotARecording { why: format!("`{ESCAPE}{number}{ESCAPE}` is not a number") };
        picks.push(number.parse().map_err(wrong)?);
        rest = after;
    }
    Ok(picks)
}
