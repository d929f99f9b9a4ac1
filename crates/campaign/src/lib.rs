//! Somebody's own tests, run again and again on the weak database until weak isolation breaks them, and why it does.
//!
//! - here: the campaign, from the first run to the explanation; `process`: the command under test
//! - [`arena`]: a server for runs, each from the same state, recorded
//! - `baseline`: the runs on which the test has to pass; `runs`: the others; `replay`: one of them again, from its file
//! - `predict`: what the first run tells about where the next ones may break
//! - `repeats`: the same run again, as it was or with something changed; `evidence`: what that has shown
//! - `shrink`: from a failing run to its explanation
//! - `cells`: the names of cells and rows; `number`: the numbers in them
//! - `trace`: which transactions of a run overlapped and met at a cell
//! - `cause`: the same run again, with transactions that do not overlap: which overlap the failure needs
//! - `split`: races of clients that read in one transaction and write in the next one
//! - `story`: which operations of a failing run its explanation is about
//! - `explain`: why it failed, in the application's own SQL
//! - `fix`: what to change: candidates, and which of them were tried and passed
//! - `coverage`: which overlaps the runs had
//! - [`live`]: the same explanations for a program that resets the database itself
//! - `trouble`: why there are no results

pub mod arena;
mod baseline;
mod cause;
mod cells;
mod coverage;
mod evidence;
mod explain;
mod fix;
pub mod live;
mod number;
mod predict;
mod process;
mod repeats;
mod replay;
mod runs;
mod shrink;
mod split;
mod story;
mod trace;
mod trees;
mod trouble;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use skew_model::campaign::{Campaign, FailedRun, FailureCause, RunLine, RunOutcome, RunReplay, Why};
use skew_store::strategies::Dice;

use arena::{Arena, Counts};
use baseline::baseline;
use runs::{All, all_runs};
use skew_server::databases::RunSetup;
use skew_server::settings::Settings;

pub use process::stop_all;
pub use replay::{Replayed, replay};
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
