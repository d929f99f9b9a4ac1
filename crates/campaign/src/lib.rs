//! Somebody's own tests, run again and again on the weak database until weak isolation breaks them, and why it does.
//!
//! - `process`: the command under test
//! - [`arena`]: a server for runs, each from the same state, recorded
//! - `predict`: what the first run tells about where the next ones may break
//! - `repeats`: the same run again, as it was or with something changed; `evidence`: what that has shown
//! - `shrink`: from a failing run to its explanation
//! - `cells`: the names of cells and rows
//! - `trace`: which transactions of a run overlapped and met at a cell
//! - `cause`: the same run again, with transactions that do not overlap: which overlap the failure needs
//! - `split`: races of clients that read in one transaction and write in the next one
//! - `story`: which operations of a failing run its explanation is about
//! - `explain`: why it failed, in the application's own SQL
//! - `fix`: what to change: candidates, and which of them were tried and passed
//! - `coverage`: which overlaps the runs had
//! - [`live`]: the same explanations for a program that resets the database itself
//! - `trouble`: why there are no results
//! - here: the campaign, from the first run to the explanation

pub mod arena;
mod cause;
mod cells;
mod coverage;
mod evidence;
mod explain;
mod fix;
pub mod live;
mod predict;
mod process;
mod repeats;
mod shrink;
mod split;
mod story;
mod trace;
mod trouble;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use skew_model::campaign::{
    Campaign, Coverage, DatabaseReplay, FailedRun, FailureCause, RunLine, RunOutcome, RunReplay, Why,
};
use skew_sql::session::steering::{ReadPlace, StaleRead};
use skew_store::strategies::Dice;

use arena::{Arena, Counts, Seen};
use predict::Predictions;
use skew_server::databases::{Replay, RunSetup};
use skew_server::scheduler::{Forced, TxnPlace};
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
    /// How many runs a change has to pass before it is advised; `None`: by how long the command takes.
    pub tries: Option<u64>,
    /// The level, in words.
    pub level: String,
    /// No run begins after this moment.
    pub deadline: Option<Instant>,
}

/// The failing runs by cause, the most frequent one first.
fn causes(replays: &[(u64, String, RunReplay)]) -> Vec<FailureCause> {
    let mut causes: Vec<FailureCause> = Vec::new();
    for (number, words, _) in replays {
        match causes.iter_mut().find(|cause| cause.words == *words) {
            Some(cause) => cause.runs.push(*number),
            None => {
                causes.push(FailureCause { words: words.clone(), runs: vec![*number], replays: Vec::new() });
            }
        }
    }
    causes.iter_mut().for_each(|cause| cause.runs.sort_unstable());
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.runs.len()));
    causes
}

/// Something that whoever waits may want to know.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A run on the database on which the command has to pass.
    Baseline(&'a RunLine),
    /// A run.
    Run(&'a RunLine),
    /// Number of the rerun of the failing run that begins.
    Repeated(usize),
    /// The first run that failed is explained; the others go on.
    Explained(&'a FailedRun, &'a RunReplay),
}

/// How many runs at serializable, with clients that overlap, come before the others.
const SERIALIZABLE_RUNS: u64 = 2;

/// A campaign's results, and what replays the failure.
pub struct Results {
    /// What happened.
    pub campaign: Campaign,
    /// What replays the runs that failed, by number; the one that is explained comes first.
    pub replays: Vec<(u64, RunReplay)>,
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
    let (lines, predictions) = baseline(plan, stop, watch)?;
    let predictions = Mutex::new(predictions);
    campaign.baseline = lines;
    let next = AtomicU64::new(1);
    let mut outcome = all_runs(plan, &predictions, (&next, true), All::default(), stop, watch)?;
    let mut replays = Vec::new();
    // The first failure is explained at once; the other runs come after that.
    if let Some(failing) = outcome.failing.take() {
        let (number, words) = (failing.line.number, failing.cause.clone());
        let (failure, file) = shrink::shrink(plan, failing, stop, watch)?;
        let words = cause_words(&failure.why).unwrap_or(words);
        watch(Event::Explained(&failure, &file));
        replays.push((number, words, file));
        campaign.failure = Some(failure);
        if !plan.stops_at_failure {
            outcome = all_runs(plan, &predictions, (&next, false), outcome, stop, watch)?;
        }
    }
    campaign.runs = outcome.runs;
    campaign.runs.sort_by_key(|run| run.number);
    campaign.unsupported = outcome.unsupported.into_iter().collect();
    campaign.held_ms = outcome.held.as_millis() as u64;
    campaign.coverage = outcome.coverage;
    let first = replays.first().map(|(number, ..)| *number);
    campaign.other_failures = outcome.explained.into_iter().filter(|other| Some(other.run.number) != first).collect();
    campaign.other_failures.sort_by_key(|other| other.run.number);
    replays.extend(outcome.failed.into_iter().filter(|(number, ..)| Some(*number) != first));
    campaign.causes = causes(&replays);
    let replays = replays.into_iter().map(|(number, _, file)| (number, file)).collect();
    campaign.is_interrupted = stop.load(Ordering::SeqCst);
    campaign.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(Results { campaign, replays })
}

/// The runs on which the test has to pass.
fn baseline(
    plan: &Plan,
    stop: &AtomicBool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(Vec<RunLine>, Predictions), Trouble> {
    let mut arena = Arena::start(plan.baseline.clone()).map_err(Trouble::Database)?;
    let mut lines = Vec::new();
    let mut predictions = Predictions::default();
    for number in 0..=SERIALIZABLE_RUNS {
        let seed = seed_of(plan, number);
        let setup = if number == 0 { arena::one_by_one(seed) } else { arena::by_chance(seed) };
        let ran = one(plan, &mut arena, setup, number, stop)?;
        watch(Event::Baseline(&ran.line));
        if ran.is_interrupted {
            return Ok((lines, predictions));
        }
        if number == 0 {
            predictions = Predictions::new(&arena.seen());
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
            // A client that reads in one transaction and writes in the next one is helped neither by transactions that run
            // one after the other nor by serializable ones.
            _ if arena.seen().iter().any(|seen| !split::find(seen).is_empty()) => {
                lines.push(ran.line);
                return Ok((lines, predictions));
            }
            (0, ..) => return Err(Trouble::FailsAlone(ran.ended(&arena))),
            _ => return Err(Trouble::FailsSerializable(ran.ended(&arena))),
        }
        lines.push(ran.line);
    }
    Ok((lines, predictions))
}

#[derive(Default)]
struct All {
    runs: Vec<RunLine>,
    failing: Option<Failing>,
    /// The runs that failed: number, cause in a few words, and what replays them.
    failed: Vec<(u64, String, RunReplay)>,
    /// The same, explained.
    explained: Vec<FailedRun>,
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
    cause: String,
}

/// Failing runs that are kept.
const MAX_KEPT: usize = 200;

/// Makes the runs from the next one on; all of them, or until one has failed.
fn all_runs(
    plan: &Plan,
    predictions: &Mutex<Predictions>,
    (next, until_failure): (&AtomicU64, bool),
    so_far: All,
    stop: &AtomicBool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<All, Trouble> {
    let (all, is_over) = (Mutex::new(so_far), AtomicBool::new(false));
    let vain = AtomicU64::new(0);
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
                        let mut setup = arena::by_chance(seed_of(plan, number));
                        let directions = predict(predictions).of_run(number, vain.load(Ordering::SeqCst));
                        setup.directions = directions.clone();
                        let ran = one(plan, &mut arena, setup, number, stop)?;
                        if ran.is_interrupted {
                            break;
                        }
                        vain.fetch_add(ran.counts.vain, Ordering::SeqCst);
                        watch(Event::Run(&ran.line));
                        let failed = !ran.line.outcome.passed();
                        let seen = arena.seen();
                        if !failed {
                            predict(predictions).learn(&seen, &directions);
                        }
                        if failed && until_failure {
                            is_over.store(true, Ordering::SeqCst);
                        }
                        all.lock().unwrap_or_else(PoisonError::into_inner).add(plan, ran, seen);
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

/// What the next runs try; threads that make runs share it.
fn predict(predictions: &Mutex<Predictions>) -> MutexGuard<'_, Predictions> {
    predictions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl All {
    fn add(&mut self, plan: &Plan, ran: Ran, seen: Vec<Seen>) {
        for (what, times) in ran.counts.unsupported {
            *self.unsupported.entry(what).or_default() += times;
        }
        self.held += ran.counts.held;
        coverage::add_run(&mut self.coverage, &seen);
        self.runs.push(ran.line.clone());
        let is_first = self.failing.as_ref().is_none_or(|failing| ran.line.number < failing.line.number);
        if ran.line.outcome.passed() {
            return;
        }
        let explained = explain::at_a_glance(&seen);
        let why = explained.why;
        let cause = cause_words(&why).unwrap_or_else(|| shows(&why));
        if self.failed.len() < MAX_KEPT {
            let replay = shrink::replay_of(plan, ran.line.seed, &seen, shows(&why));
            self.failed.push((ran.line.number, cause.clone(), replay));
            self.explained.push(FailedRun {
                run: ran.line.clone(),
                output: ran.output.clone(),
                database: explained.database,
                statements: explained.statements,
                why,
                stale_reads: (0, 0),
                repeated: (0, 0),
                experiment: None,
                replay: None,
            });
        }
        if is_first {
            self.failing = Some(Failing { line: ran.line, output: ran.output, seen, cause });
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
        let forced = database.forced.iter().map(|&[member, txn, from, until_member, until_txn]| Forced {
            waits: TxnPlace { member, txn },
            from,
            until: TxnPlace { member: until_member, txn: until_txn },
            until_statement: None,
        });
        let turns = database.turns.clone();
        (database.name.clone(), Replay { turns, stale: stale.collect(), forced: forced.collect() })
    };
    let replay = Some(file.databases.iter().map(database).collect());
    let setup = RunSetup { replay, ..arena::by_chance(file.seed) };
    let ran = one(plan, &mut arena, setup, 1, stop)?;
    let seen = arena.seen();
    let lost = seen.iter().map(|seen| seen.turns.lost).sum();
    let explained = explain::explain(&seen, &evidence::Cause::default());
    let stale = seen.iter().map(|seen| seen.recording.stale.len()).sum();
    let failure = FailedRun {
        run: ran.line,
        output: ran.output,
        database: explained.database,
        statements: explained.statements,
        why: explained.why,
        stale_reads: (stale, stale),
        repeated: (1, 1),
        experiment: None,
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

/// What an anomaly is about, in a few words: `lost update of stock.n`.
fn cause_words(why: &Why) -> Option<String> {
    let Why::Anomaly(anomaly) = why else { return None };
    let cells = anomaly.edges.iter().filter_map(|edge| edge.label.split_once('(')?.1.strip_suffix(')'));
    let families: BTreeSet<String> = cells.map(cells::family).collect();
    let families: Vec<String> = families.into_iter().collect();
    Some(format!("{} of {}", anomaly.id.replace('-', " "), families.join(", ")))
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
