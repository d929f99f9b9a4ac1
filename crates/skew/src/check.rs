//! Many runs of a program, until one fails.

use std::rc::Rc;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use skew_model::Level;
use skew_store::picks::Replay;
use skew_store::replay::Recording;
use skew_store::strategies::{Bias, Dice, Pct, Random};
use skew_store::{Choice, Config, Db, Interleaving, Recency, Run, run};

use crate::counterexample::{Counterexample, Origin};

/// How runs choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// At random; reads may prefer old or fresh versions.
    Random(Bias),
    /// Sessions have priorities that change at so many random turns; reads are random.
    Pct {
        /// How often priorities change in a run.
        changes: usize,
    },
}

/// Runs the program `runs` times at this level, with random interleavings and reads.
///
/// # Panics
/// When a run fails: a session panics, all of them wait for each other, or a run does not end. The message says why,
/// and how to make the run again.
#[track_caller]
pub fn check_random(level: Level, runs: u64, program: impl Fn(Db) + 'static) {
    Check::new(level).runs(runs).check(program);
}

/// Makes the run again that a failing check has printed.
///
/// # Panics
/// When the run fails as it did before. Also when the string is not one, or when it does not fit the program, because
/// then nothing is known about the run that it stands for.
#[track_caller]
pub fn replay(recording: &str, program: impl Fn(Db) + 'static) {
    let recording = match Recording::parse(recording) {
        Ok(recording) => recording,
        Err(error) => panic!("{error}"),
    };
    let choice = Arc::new(Mutex::new(Replay::new(recording.picks.clone())));
    let made = run(&recording.config(), Box::new(choice.clone()), program);
    let found = Counterexample::of(made, Origin::Replay);
    let divergence = choice.lock().unwrap_or_else(PoisonError::into_inner).divergence();
    match (divergence, found) {
        (None, None) => {}
        (None, Some(found)) => panic!("{found}"),
        (Some(divergence), None) => panic!("{CHANGED}: {divergence}"),
        (Some(divergence), Some(found)) => panic!("{CHANGED}: {divergence}. The run that it made instead:\n\n{found}"),
    }
}

const CHANGED: &str = "the replay string does not fit the program, which has changed since";

/// How a program is checked. Start with [`Check::new`], end with [`Check::check`] or [`Check::find`].
///
/// ```
/// use skew::{Check, Level, Recency, Strategy};
///
/// Check::new(Level::Si).recency(Recency::Commit).strategy(Strategy::Pct { changes: 2 }).runs(100).check(|db| {
///     db.init("x", 0);
///     let alice = db.spawn("alice", |session| session.retry(9, |t| t.write("x", t.read::<i64>("x")? + 1)));
///     let bob = db.spawn("bob", |session| session.retry(9, |t| t.write("x", t.read::<i64>("x")? + 1)));
///     assert!(alice.join().is_ok() && bob.join().is_ok());
///     assert_eq!(db.check(|t| t.read::<i64>("x")), 2);
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Check {
    config: Config,
    runs: u64,
    seed: u64,
    strategy: Strategy,
}

impl Check {
    /// A thousand random runs at this level, from the same seed every time.
    pub fn new(level: Level) -> Check {
        Check { config: Config::new(level), runs: 1000, seed: 0, strategy: Strategy::Random(Bias::Uniform) }
    }

    /// How many runs to make; `SKEW_RUNS` in the environment overrides it.
    pub fn runs(self, runs: u64) -> Check {
        Check { runs, ..self }
    }

    /// The seed of all choices; `SKEW_SEED` in the environment overrides it.
    pub fn seed(self, seed: u64) -> Check {
        Check { seed, ..self }
    }

    /// How runs choose.
    pub fn strategy(self, strategy: Strategy) -> Check {
        Check { strategy, ..self }
    }

    /// Whether a transaction sees what was committed before it began.
    pub fn recency(self, recency: Recency) -> Check {
        Check { config: Config { recency, ..self.config }, ..self }
    }

    /// Where sessions take turns, if not where the level and the recency need it.
    pub fn interleaving(self, interleaving: Interleaving) -> Check {
        Check { config: Config { interleaving: Some(interleaving), ..self.config }, ..self }
    }

    /// How many calls on the database a run may make before it counts as endless.
    pub fn max_steps(self, max_steps: u64) -> Check {
        Check { config: Config { max_steps, ..self.config }, ..self }
    }

    /// Runs the program until a run fails, or as often as asked.
    ///
    /// # Panics
    /// When a run fails, with the [`Counterexample`] as the message.
    #[track_caller]
    pub fn check(&self, program: impl Fn(Db) + 'static) {
        if let Some(found) = self.find(program) {
            panic!("{found}");
        }
    }

    /// The first run that fails.
    pub fn find(&self, program: impl Fn(Db) + 'static) -> Option<Counterexample> {
        let runs = from_environment("SKEW_RUNS").unwrap_or(self.runs);
        let seed = from_environment("SKEW_SEED").unwrap_or(self.seed);
        let program = Rc::new(program);
        let mut turns = FIRST_TURNS;
        for number in 0..runs {
            let program = program.clone();
            let choice = self.choice(Dice::seed_of_run(seed, number), turns);
            let made: Run = run(&self.config, choice, move |db| program(db));
            turns = made.picks.len();
            let found = Counterexample::of(made, Origin::Random { number: number + 1, runs, seed });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn choice(&self, seed: u64, turns: usize) -> Box<dyn Choice + Send> {
        match self.strategy {
            Strategy::Random(bias) => Box::new(Random::biased(seed, bias)),
            Strategy::Pct { changes } => Box::new(Pct::new(seed, changes, turns)),
        }
    }
}

/// How many turns the first run is expected to take; the others take about as many as the one before.
const FIRST_TURNS: usize = 16;

fn from_environment<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    match text.trim().parse() {
        Ok(value) => Some(value),
        Err(_) => panic!("{name} is `{text}` in the environment; it has to be a whole number"),
    }
}
