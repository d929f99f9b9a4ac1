//! Figure 13 of MonkeyDB (OOPSLA 2021): how many client-observable states of an application random runs show.
//!
//! A state is everything that the operations of all clients returned. Harnesses are random programs of a few clients and
//! operations; the curves are averages over harnesses, at `cc` and at `ser`, with clients that start one after another
//! and with a begin delay that mixes them, and at `cc` also with the strategies that use earlier runs. Both levels take
//! turns before transactions, as MonkeyDB does.

mod harness;
mod maximum;
mod plot;
mod turns;

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use skew_model::Level;
use skew_store::strategies::Dice;
use skew_store::{Config, Failure, Interleaving, Run};

use harness::{Application, Harness};
use maximum::maximum;
use turns::{Choices, Starts};

/// Count the client-observable states that random runs of the example applications show
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Random programs of each application
    #[arg(long, default_value_t = 50)]
    harnesses: u64,

    /// Random runs of each program
    #[arg(long, default_value_t = 5000)]
    runs: u64,

    /// The maximum of a program is unknown if exploration takes more runs than this
    #[arg(long, default_value_t = 100_000)]
    max_exploration: u64,

    /// Where coverage.csv, coverage-harnesses.csv and coverage.svg go
    #[arg(long, default_value = "bench/results")]
    output: PathBuf,
}

/// A curve of the figure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    level: Level,
    starts: Starts,
}

/// The curves of the figure.
const SETTINGS: [Setting; 6] = [
    Setting { level: Level::Cc, starts: Starts::Learning },
    Setting { level: Level::Cc, starts: Starts::Predictive },
    Setting { level: Level::Cc, starts: Starts::Delayed },
    Setting { level: Level::Cc, starts: Starts::Plain },
    Setting { level: Level::Ser, starts: Starts::Delayed },
    Setting { level: Level::Ser, starts: Starts::Plain },
];

const LEVELS: [Level; 2] = [Level::Cc, Level::Ser];

/// What was found out about one harness.
pub(crate) struct Covered {
    sessions: usize,
    operations: usize,
    /// By setting and checkpoint: states so far.
    states: [Vec<usize>; 6],
    /// By level: how many states there are, if exploration came to its end.
    maximum: [Option<usize>; 2],
}

/// All harnesses of an application.
pub(crate) struct Panel {
    application: Application,
    covered: Vec<Covered>,
}

/// Measures, writes the numbers and the plot, and prints a summary.
pub(crate) fn measure(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let checkpoints = checkpoints(arguments.runs);
    let mut panels = Vec::new();
    for application in Application::ALL {
        let harness =
            |number| Harness::random(application, &mut Dice::new(Dice::seed_of_run(application as u64, number)));
        let covered = (0..arguments.harnesses).map(|number| cover(&harness(number), &checkpoints, arguments));
        panels.push(Panel { application, covered: covered.collect::<io::Result<_>>()? });
        summarize(panels.last().expect("one was pushed"), arguments, out)?;
    }
    fs::create_dir_all(&arguments.output)?;
    fs::write(arguments.output.join("coverage.csv"), curves_csv(&panels, &checkpoints))?;
    fs::write(arguments.output.join("coverage-harnesses.csv"), harnesses_csv(&panels))?;
    fs::write(arguments.output.join("coverage.svg"), plot::draw(&panels, &checkpoints))
}

impl Panel {
    /// States at a checkpoint, averaged over harnesses.
    fn average(&self, setting: usize, checkpoint: usize) -> f64 {
        let states = self.covered.iter().map(|covered| covered.states[setting][checkpoint]);
        states.sum::<usize>() as f64 / self.covered.len() as f64
    }

    /// The maximum, averaged over harnesses, if it is known for all of them.
    fn maximum(&self, level: usize) -> Option<f64> {
        let known: Option<Vec<usize>> = self.covered.iter().map(|covered| covered.maximum[level]).collect();
        known.map(|known| known.iter().sum::<usize>() as f64 / known.len() as f64)
    }

    /// For how many harnesses the maximum is known, and which share of it all runs of a setting have shown there.
    fn reached(&self, setting: usize, level: usize) -> (usize, f64) {
        let known = self.covered.iter().filter_map(|covered| Some((covered, covered.maximum[level]?)));
        let shown = |covered: &Covered| covered.states[setting].last().copied().unwrap_or(0);
        let (count, shown, all) = known.fold((0, 0, 0), |(count, seen, all), (covered, maximum)| {
            (count + 1, seen + shown(covered), all + maximum)
        });
        (count, if all == 0 { 0.0 } else { shown as f64 / all as f64 })
    }
}

fn cover(harness: &Harness, checkpoints: &[u64], arguments: &Arguments) -> io::Result<Covered> {
    let mut states: [Vec<usize>; 6] = Default::default();
    for (states, setting) in states.iter_mut().zip(SETTINGS) {
        *states = random_states(harness, setting, checkpoints)?;
    }
    let mut known = [None; 2];
    for (known, level) in known.iter_mut().zip(LEVELS) {
        *known = maximum(harness, level, arguments.max_exploration)?;
    }
    Ok(Covered { sessions: harness.sessions(), operations: harness.operations(), states, maximum: known })
}

fn random_states(harness: &Harness, setting: Setting, checkpoints: &[u64]) -> io::Result<Vec<usize>> {
    let config = config(setting.level);
    let (program, state) = harness.program();
    let mut choices = Choices::new(setting.starts);
    let mut states = HashSet::new();
    let mut counts = Vec::new();
    for run in 1..=*checkpoints.last().expect("there is a checkpoint at the end") {
        let made = skew_store::run(&config, choices.next(), program.clone());
        must_not_fail(&made)?;
        choices.learn(&made);
        states.insert(state.take());
        if checkpoints.contains(&run) {
            counts.push(states.len());
        }
    }
    Ok(counts)
}

fn must_not_fail(run: &Run) -> io::Result<()> {
    let failed = |failure: &Failure| Err(io::Error::other(format!("a run failed: {failure}")));
    run.failure.as_ref().map_or(Ok(()), failed)
}

fn config(level: Level) -> Config {
    Config { interleaving: Some(Interleaving::Transactions), ..Config::new(level) }
}

/// Five in every power of ten, and the end.
fn checkpoints(runs: u64) -> Vec<u64> {
    let decades = std::iter::successors(Some(1_u64), |decade| decade.checked_mul(10));
    let all = decades.flat_map(|decade| [1, 2, 3, 5, 7].map(|digit| decade.saturating_mul(digit)));
    all.take_while(|&run| run < runs).chain([runs]).collect()
}

fn summarize(panel: &Panel, arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let last = panel.covered.first().map_or(0, |covered| covered.states[0].len() - 1);
    for (index, setting) in SETTINGS.iter().enumerate() {
        let level = LEVELS.iter().position(|&level| level == setting.level).expect("settings have these levels");
        let (known, share) = panel.reached(index, level);
        let (name, runs) = (panel.application.name(), arguments.runs);
        write!(out, "{name}, {} {}: ", setting.level, setting.starts.name())?;
        write!(out, "{:.1} states after {runs} runs; ", panel.average(index, last))?;
        writeln!(out, "{}% of the maximum where it is known ({known} harnesses)", (share * 100.0).floor())?;
    }
    out.flush()
}

fn curves_csv(panels: &[Panel], checkpoints: &[u64]) -> String {
    let mut csv = "application,level,turns,runs,states\n".to_owned();
    for panel in panels {
        for (index, setting) in SETTINGS.iter().enumerate() {
            for (checkpoint, runs) in checkpoints.iter().enumerate() {
                let (name, starts) = (panel.application.name(), setting.starts.name());
                let states = panel.average(index, checkpoint);
                csv += &format!("{name},{},{starts},{runs},{states:.2}\n", setting.level);
            }
        }
    }
    csv
}

fn harnesses_csv(panels: &[Panel]) -> String {
    let mut csv = "application,harness,sessions,operations,level,plain,delay,maximum\n".to_owned();
    for panel in panels {
        for (number, covered) in panel.covered.iter().enumerate() {
            for (index, level) in LEVELS.into_iter().enumerate() {
                let shown = |starts| {
                    let setting = SETTINGS.iter().position(|&setting| setting == Setting { level, starts });
                    *covered.states[setting.expect("it is one of them")]
                        .last()
                        .expect("there is a checkpoint at the end")
                };
                let maximum =
                    covered.maximum[index].map_or_else(|| "unknown".to_owned(), |maximum| maximum.to_string());
                let (plain, delayed) = (shown(Starts::Plain), shown(Starts::Delayed));
                let Covered { sessions, operations, .. } = covered;
                let name = panel.application.name();
                csv += &format!("{name},{number},{sessions},{operations},{level},{plain},{delayed},{maximum}\n");
            }
        }
    }
    csv
}
