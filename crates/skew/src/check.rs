//! Many runs of a program, until one fails.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::str::FromStr;
use std::time::{Duration, Instant};

use skew_model::Level;
use skew_store::picks::Replay;
use skew_store::replay::{Made, Recording};
use skew_store::strategies::Bias;
use skew_store::{Campaign, Config, Db, End, ExploreLimits, Explored, Interleaving, Recency, Run, Strategy, run};

use crate::counterexample::{Counterexample, Determinism, Origin};
use crate::regressions;

/// How often the progress of an exploration is told.
const TELL_EVERY: Duration = Duration::from_secs(10);

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
    let program = Rc::new(program);
    let again = recording.run(move |db| program(db));
    let found = Counterexample::of(&again.run, Origin::Replay);
    let changed = "the replay string does not fit the program, which has changed since";
    match (again.divergence, found) {
        (None, None) => {}
        (None, Some(found)) => found.fail(),
        (Some(divergence), None) => panic!("{changed}: {divergence}"),
        (Some(divergence), Some(found)) => panic!("{changed}: {divergence}. The run that it made instead:\n{found}"),
    }
}

/// Visits every history that the program has at this level, once each, and says how many there are.
///
/// At `rc`, `ra` and `cc` it makes exactly one run for each; stronger levels are explored at the strongest of these that
/// is weaker, and what is not within the level is left out. At `psi`, `si` and `ser` a transaction that meets another one
/// may be refused, at most twice in a row; deadlocks at `mvrc` are not explored. Sessions may depend on nothing but what
/// they read from the database, on spawn and on join.
///
/// # Panics
/// When a run fails, with the [`Counterexample`] as the message; and when there are more runs than
/// [`ExploreLimits::default`] allows, or the checker cannot judge one, because then nothing is known about the rest.
#[track_caller]
pub fn explore(level: Level, program: impl Fn(Db) + 'static) -> Explored {
    Check::new(level).explore(program)
}

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
    limits: ExploreLimits,
    max_time: Option<Duration>,
}

impl Check {
    /// A thousand random runs at this level, from the same seed every time.
    pub fn new(level: Level) -> Check {
        Check {
            config: Config::new(level),
            runs: 1000,
            seed: 0,
            strategy: Strategy::Random(Bias::Uniform),
            limits: ExploreLimits::default(),
            max_time: None,
        }
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

    /// How many runs [`Check::explore`] may make.
    pub fn max_runs(self, max_runs: u64) -> Check {
        Check { limits: ExploreLimits { max_runs, ..self.limits }, ..self }
    }

    /// Runs the program until a run fails, or as often as asked.
    ///
    /// # Panics
    /// When a run fails, with the [`Counterexample`] as the message.
    #[track_caller]
    pub fn check(&self, program: impl Fn(Db) + 'static) {
        if let Some(found) = self.find(program) {
            found.fail();
        }
    }

    /// The first run that fails.
    pub fn find(&self, program: impl Fn(Db) + 'static) -> Option<Counterexample> {
        let program = Rc::new(program);
        if let Some(recording) = asked_recording() {
            let program = program.clone();
            return made_again(&recording, move |db| program(db));
        }
        let runs = from_environment("SKEW_RUNS").unwrap_or(self.runs);
        let seed = from_environment("SKEW_SEED").unwrap_or(self.seed);
        for recording in regressions::kept() {
            let program = program.clone();
            let again = recording.run(move |db| program(db));
            // A run that does not fit any more is of a program that has changed.
            if again.divergence.is_none()
                && let Some(found) = Counterexample::of(&again.run, Origin::Kept)
            {
                return Some(found);
            }
        }
        let mut campaign = Campaign::new(self.strategy, seed);
        for number in 0..runs {
            let body = program.clone();
            let made: Run = run(&self.config, campaign.choice(), move |db| body(db));
            campaign.learn(&made);
            if let Some(mut found) = Counterexample::of(&made, Origin::Random { number: number + 1, runs, seed }) {
                found.determinism = self.determinism(&found, move |db| program(db));
                return Some(found);
            }
        }
        None
    }

    /// Whether the program does the same with the same choices.
    fn determinism(&self, found: &Counterexample, program: impl Fn(Db) + 'static) -> Determinism {
        // A strategy that saw all sources is asked other questions than a replay.
        if found.recording.made != Made::Drawn {
            return Determinism::Repeats;
        }
        let choice = Replay::new(found.recording.picks.clone());
        let again: Run = run(&self.config, Box::new(choice), program);
        let is_same =
            again.failure.as_ref() == Some(&found.failure) && again.history().to_string() == found.history.to_string();
        if is_same { Determinism::Repeats } else { Determinism::Differs }
    }

    /// How long [`Check::explore`] may take; its progress is told on standard error every ten seconds.
    pub fn max_time(self, max_time: Duration) -> Check {
        Check { max_time: Some(max_time), ..self }
    }

    /// Visits every history once: see [`explore`].
    ///
    /// # Panics
    /// When a run fails, when the limit of runs is reached, and when the program does not do the same twice.
    #[track_caller]
    pub fn explore(&self, program: impl Fn(Db) + 'static) -> Explored {
        let program = Rc::new(program);
        let mut found = None;
        let mut number = 0;
        let (started, mut told, mut is_late) = (Instant::now(), Instant::now(), false);
        let visit = |made: &Run| {
            number += 1;
            found = Counterexample::of(made, Origin::Explored { number });
            is_late = self.max_time.is_some_and(|most| started.elapsed() > most);
            if told.elapsed() > TELL_EVERY {
                told = Instant::now();
                eprintln!("skew: {number} histories explored in {} s", started.elapsed().as_secs());
            }
            if found.is_some() || is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let explored = match skew_store::explore(&self.config, self.limits, move |db| program(db), visit) {
            Ok(explored) => explored,
            Err(error) => panic!("{error}"),
        };
        if let Some(found) = found {
            found.fail();
        }
        if is_late {
            panic!("unknown: {number} histories were explored in the time given (`max_time`); none of them failed");
        }
        if explored.end == End::MaxRuns {
            panic!("unknown: {} runs were not all (`max_runs`); none of them failed", explored.runs);
        }
        if explored.end == End::Undecided {
            panic!(
                "unknown: the checker could not tell of every run whether it is within its level; none of them failed"
            );
        }
        explored
    }
}

/// The run that `SKEW_REPLAY` asks for.
fn asked_recording() -> Option<Recording> {
    let text = std::env::var("SKEW_REPLAY").ok()?;
    match Recording::parse(&text) {
        Ok(recording) => Some(recording),
        Err(error) => panic!("SKEW_REPLAY: {error}"),
    }
}

/// A run that was made again, if it failed.
fn made_again(recording: &Recording, program: impl Fn(Db) + Clone + 'static) -> Option<Counterexample> {
    let again = recording.run(program);
    if let Some(divergence) = again.divergence {
        panic!("SKEW_REPLAY does not fit this program, which is another one or has changed since: {divergence}");
    }
    Counterexample::of(&again.run, Origin::Replay)
}

fn from_environment<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    match text.trim().parse() {
        Ok(value) => Some(value),
        Err(_) => panic!("{name} is `{text}` in the environment; it has to be a whole number"),
    }
}
