//! Somebody's own tests, run again and again on the weak database until weak isolation breaks them, and why it does.
//!
//! - `process`: the command under test
//! - [`arena`]: a server for runs, each from the same state, recorded
//! - `shrink`: the same run again, with fewer and fewer stale reads
//! - `explain`: why it failed, in the application's own SQL
//! - `fix`: what to change
//! - `coverage`: which overlaps the runs had
//! - [`live`]: the same explanations for a program that resets the database itself
//! - `trouble`: why there are no results
//! - here: the campaign, from the first run to the explanation

pub mod arena;
mod coverage;
mod explain;
mod fix;
pub mod live;
mod process;
mod shrink;
mod trouble;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use skew_model::campaign::{Campaign, Coverage, DatabaseReplay, FailedRun, RunLine, RunOutcome, RunReplay, Why};
use skew_sql::session::steering::{ReadPlace, StaleRead};
use skew_store::strategies::Dice;

use arena::{Arena, Counts, Seen};
use skew_server::databases::{Replay, RunSetup};
use skew_server::scheduler::Order;
use skew_server::settings::Settings;

pub use process::stop_all;
pub use trouble::{Ended, Trouble};

/// What a campaign is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The command under test.
    pub command: Vec<String>,
    /// The database that it is tested on.
    pub settings: Settings,
    /// The database on which it has to pass.
    pub baseline: Settings,
    /// How often the command is run.
    pub runs: u64,
    /// Where the seeds of runs come from.
    pub seed: u64,
    /// How many run at the same time.
    pub jobs: usize,
    /// How long one may take.
    pub timeout: Duration,
    /// Which part of the runs: number, from 1, and count.
    pub shard: Option<(u32, u32)>,
    /// Whether to stop at the first failure.
    pub stops_at_failure: bool,
    /// How often a failing run is repeated to explain it.
    pub repeats: usize,
    /// The level, in words.
    pub level: String,
    /// No run begins after this moment.
    pub deadline: Option<Instant>,
}

/// Something that whoever waits may want to know.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A run on the database on which the command has to pass.
    Baseline(&'a RunLine),
    /// A run.
    Run(&'a RunLine),
    /// A failing run is repeated, for the how many-th time.
    Repeated(usize),
}

/// How many runs at serializable, with clients that overlap, come before the others.
const SERIALIZABLE_RUNS: u64 = 2;

/// A campaign's results, and what replays the failure.
pub struct Results {
    /// What happened.
    pub campaign: Campaign,
    /// What replays the run that failed.
    pub replay: Option<RunReplay>,
}

/// Runs a campaign. `stop` ends it early, with what there is.
pub fn run(plan: &Plan, stop: &AtomicBool, watch: &(dyn Fn(Event<'_>) + Sync)) -> Result<Results, Trouble> {
    let started = Instant::now();
    let mut campaign = Campaign {
        command: plan.command.clone(),
        level: plan.level.clone(),
        seed: plan.seed,
        planned: plan.runs,
        shard: plan.shard,
        ..Campaign::default()
    };
    campaign.baseline = baseline(plan, stop, watch)?;
    let outcome = all_runs(plan, stop, watch)?;
    campaign.runs = outcome.runs;
    campaign.runs.sort_by_key(|run| run.number);
    campaign.unsupported = outcome.unsupported.into_iter().collect();
    campaign.held_ms = outcome.held.as_millis() as u64;
    campaign.coverage = outcome.coverage;
    let mut replay = None;
    if let Some(failing) = outcome.failing {
        let (failure, file) = shrink::shrink(plan, failing, stop, watch)?;
        campaign.failure = Some(failure);
        replay = Some(file);
    }
    campaign.is_interrupted = stop.load(Ordering::SeqCst);
    campaign.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(Results { campaign, replay })
}

/// The runs on which the test has to pass.
fn baseline(plan: &Plan, stop: &AtomicBool, watch: &(dyn Fn(Event<'_>) + Sync)) -> Result<Vec<RunLine>, Trouble> {
    let mut arena = Arena::start(plan.baseline.clone()).map_err(Trouble::Database)?;
    let mut lines = Vec::new();
    for number in 0..=SERIALIZABLE_RUNS {
        let seed = seed_of(plan, number);
        let setup = if number == 0 { arena::one_by_one(seed) } else { arena::by_chance(seed) };
        let ran = one(plan, &mut arena, setup, number, stop)?;
        watch(Event::Baseline(&ran.line));
        if ran.is_interrupted {
            return Ok(lines);
        }
        let refusals = ran.line.refusals;
        match (number, ran.clients, ran.line.outcome) {
            (0, 0, _) => {
                let program = plan.command.first().cloned().unwrap_or_default();
                return Err(Trouble::NeverConnected(program, ran.ended(&arena)));
            }
            (_, _, RunOutcome::Passed) => {}
            (0, _, RunOutcome::TimedOut) => return Err(Trouble::Hangs(ran.ended(&arena), plan.timeout)),
            // Where transactions were refused they overlapped, even if they were to run one after the other: at this level
            // an application has to try again.
            _ if refusals > 0 => {}
            (0, ..) => return Err(Trouble::FailsAlone(ran.ended(&arena))),
            _ => return Err(Trouble::FailsSerializable(ran.ended(&arena))),
        }
        lines.push(ran.line);
    }
    Ok(lines)
}

#[derive(Default)]
struct All {
    runs: Vec<RunLine>,
    failing: Option<Failing>,
    unsupported: BTreeMap<String, u64>,
    held: Duration,
    coverage: Coverage,
    trouble: Option<Trouble>,
}

/// A run that failed, with all that is known about it.
struct Failing {
    line: RunLine,
    output: String,
    seen: Vec<Seen>,
}

fn all_runs(plan: &Plan, stop: &AtomicBool, watch: &(dyn Fn(Event<'_>) + Sync)) -> Result<All, Trouble> {
    let (all, next, is_over) = (Mutex::new(All::default()), AtomicU64::new(1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                let work = || -> Result<(), Trouble> {
                    let mut arena = Arena::start(plan.settings.clone()).map_err(Trouble::Database)?;
                    let is_time_left = || plan.deadline.is_none_or(|deadline| Instant::now() < deadline);
                    while !stop.load(Ordering::SeqCst) && !is_over.load(Ordering::SeqCst) && is_time_left() {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number > plan.runs {
                            break;
                        }
                        if plan
                            .shard
                            .is_some_and(|(shard, count)| (number - 1) % u64::from(count) != u64::from(shard - 1))
                        {
                            continue;
                        }
                        let setup = arena::by_chance(seed_of(plan, number));
                        let ran = one(plan, &mut arena, setup, number, stop)?;
                        if ran.is_interrupted {
                            break;
                        }
                        watch(Event::Run(&ran.line));
                        let failed = !ran.line.outcome.passed();
                        let seen = arena.seen();
                        if failed && plan.stops_at_failure {
                            is_over.store(true, Ordering::SeqCst);
                        }
                        all.lock().unwrap_or_else(PoisonError::into_inner).add(ran, seen);
                    }
                    Ok(())
                };
                if let Err(trouble) = work() {
                    is_over.store(true, Ordering::SeqCst);
                    all.lock().unwrap_or_else(PoisonError::into_inner).trouble = Some(trouble);
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    match all.trouble.take() {
        Some(trouble) => Err(trouble),
        None => Ok(all),
    }
}

impl All {
    fn add(&mut self, ran: Ran, seen: Vec<Seen>) {
        for (what, times) in ran.counts.unsupported {
            *self.unsupported.entry(what).or_default() += times;
        }
        self.held += ran.counts.held;
        coverage::add_run(&mut self.coverage, &seen);
        self.runs.push(ran.line.clone());
        let is_first = self.failing.as_ref().is_none_or(|failing| ran.line.number < failing.line.number);
        if !ran.line.outcome.passed() && is_first {
            self.failing = Some(Failing { line: ran.line, output: ran.output, seen });
        }
    }
}

/// A run that has ended.
struct Ran {
    line: RunLine,
    output: String,
    clients: u64,
    counts: Counts,
    is_interrupted: bool,
}

impl Ran {
    /// The same for whoever has to be told that the test cannot be used.
    fn ended(self, arena: &Arena) -> Ended {
        let unanswered = if self.line.outcome == RunOutcome::TimedOut { arena.unanswered() } else { Vec::new() };
        let unsupported = self.counts.unsupported.into_iter().collect();
        Ended { run: self.line, output: self.output, unsupported, unanswered }
    }
}

fn one(plan: &Plan, arena: &mut Arena, setup: RunSetup, number: u64, stop: &AtomicBool) -> Result<Ran, Trouble> {
    let seed = setup.seed;
    arena.begin(setup).map_err(Trouble::Run)?;
    let mut environment = arena.environment();
    environment.push(("SKEW_SEED", seed.to_string()));
    let ended = process::run(&plan.command, &environment, plan.timeout, stop, || arena.give_up())
        .map_err(|error| Trouble::Command(plan.command.first().cloned().unwrap_or_default(), error))?;
    let clients = arena.clients();
    arena.end();
    let counts = arena.counts();
    let line = RunLine {
        number,
        seed,
        outcome: ended.outcome,
        ms: ended.took.as_millis() as u64,
        statements: counts.statements,
        refusals: counts.refusals,
    };
    Ok(Ran { line, output: ended.output, clients, counts, is_interrupted: ended.is_interrupted })
}

/// Short enough to be typed again.
fn seed_of(plan: &Plan, number: u64) -> u64 {
    Dice::seed_of_run(plan.seed, number) % 1_000_000_000
}

/// Replays a run: whether it failed again, and why.
pub fn replay(plan: &Plan, file: &RunReplay, stop: &AtomicBool) -> Result<Replayed, Trouble> {
    let mut arena = Arena::start(plan.settings.clone()).map_err(Trouble::Database)?;
    let database = |database: &DatabaseReplay| {
        let stale = database
            .stale
            .iter()
            .map(|&[session, txn, read, back]| StaleRead { place: ReadPlace { session, txn, read }, back });
        (database.name.clone(), Replay { turns: database.turns.clone(), stale: stale.collect() })
    };
    let replay = Some(file.databases.iter().map(database).collect());
    let setup = RunSetup { seed: file.seed, order: Order::Weak, replay };
    let ran = one(plan, &mut arena, setup, 1, stop)?;
    let seen = arena.seen();
    let lost = seen.iter().map(|seen| seen.turns.lost).sum();
    let explained = explain::explain(&seen);
    let stale = seen.iter().map(|seen| seen.recording.stale.len()).sum();
    let failure = FailedRun {
        run: ran.line,
        output: ran.output,
        database: explained.database,
        statements: explained.statements,
        why: explained.why,
        stale_reads: (stale, stale),
        repeated: (1, 1),
        replay: None,
    };
    Ok(Replayed { failure, lost })
}

/// A run that was replayed.
pub struct Replayed {
    /// How it ended and why; it may have passed.
    pub failure: FailedRun,
    /// How often a client did not come when its turn was.
    pub lost: usize,
}

/// What a failure shows, in a sentence.
fn shows(why: &Why) -> String {
    match why {
        Why::Anomaly(anomaly) => format!("{}: {}", anomaly.id, anomaly.headline),
        Why::Refused(_) => "statements that were refused".to_owned(),
        Why::Serializable => "a failure without an anomaly".to_owned(),
        Why::Unknown(limit) => format!("not known: {limit}"),
    }
}
