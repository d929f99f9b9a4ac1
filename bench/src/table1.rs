//! Table 1 of MonkeyDB (OOPSLA 2021): how many runs it takes until the assertion of an application breaks.
//!
//! A campaign makes runs at `cc` until the assertion breaks. Each cell has the average number of runs over campaigns, with
//! its standard error, and the time of a run.

use std::cell::Cell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Instant;

use skew_examples::assertions::{self, Assertion, Outcome};
use skew_model::Level;
use skew_store::strategies::Bias;
use skew_store::{Campaign, Choice, Config, Run, Strategy, run};

/// The columns: strategies and their headings.
const STRATEGIES: [(&str, Strategy); 3] = [
    ("random", Strategy::Random(Bias::Uniform)),
    ("learning", Strategy::Learning),
    ("predictive", Strategy::Predictive),
];

/// Measure how many runs it takes to break the assertions of the example applications
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Campaigns at `cc`, each until the assertion breaks
    #[arg(long, default_value_t = 10_000)]
    campaigns: u64,

    /// Runs at `ser`, in which no assertion may break
    #[arg(long, default_value_t = 20_000)]
    serializable_runs: u64,

    /// A campaign that has not broken the assertion after so many runs is an error
    #[arg(long, default_value_t = 1_000_000)]
    max_runs: u64,
}

/// Prints the table.
pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    write!(out, "| application | what is broken | MonkeyDB |")?;
    STRATEGIES.iter().try_for_each(|(heading, _)| write!(out, " {heading} |"))?;
    writeln!(out, " broken at `ser` |")?;
    writeln!(out, "| --- | --- | ---: |{} ---: |", " ---: |".repeat(STRATEGIES.len()))?;
    for assertion in &assertions::ALL {
        let Assertion { application, forbids, paper_runs, paper_run_ms, .. } = assertion;
        write!(out, "| {application} | {forbids} | {paper_runs} × {paper_run_ms:.1} ms |")?;
        for (_, strategy) in STRATEGIES {
            let Measured { runs, error, run_us } = campaigns(assertion, strategy, arguments)?;
            write!(out, " {runs:.2} ± {error:.2} × {run_us:.0} µs |")?;
            out.flush()?;
        }
        let broken = broken_when_serializable(assertion, arguments.serializable_runs)?;
        writeln!(out, " {broken} of {} |", arguments.serializable_runs)?;
    }
    Ok(())
}

/// What campaigns needed.
struct Measured {
    /// Runs until the assertion broke, on average.
    runs: f64,
    /// The standard error of the average.
    error: f64,
    /// Microseconds of a run: the median, because other work may interrupt some.
    run_us: f64,
}

fn campaigns(assertion: &Assertion, strategy: Strategy, arguments: &Arguments) -> io::Result<Measured> {
    let config = Config::new(Level::Cc);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut times = Vec::new();
    for seed in 0..arguments.campaigns {
        let mut campaign = Campaign::new(strategy, seed);
        let mut number = 0;
        loop {
            let started = Instant::now();
            let (outcome, made) = outcome(assertion, &config, campaign.choice())?;
            campaign.learn(&made);
            times.push(started.elapsed());
            number += 1;
            if outcome == Outcome::Broken {
                break;
            }
            if number == arguments.max_runs {
                return Err(io::Error::other(format!("campaign {seed} ended after {number} runs (`--max-runs`)")));
            }
        }
        sum += number as f64;
        squares += (number as f64).powi(2);
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64());
    let count = arguments.campaigns as f64;
    let runs = sum / count;
    let variance = (squares / count - runs * runs).max(0.0);
    Ok(Measured { runs, error: (variance / count).sqrt(), run_us: median * 1e6 })
}

fn broken_when_serializable(assertion: &Assertion, runs: u64) -> io::Result<u64> {
    let config = Config::new(Level::Ser);
    let mut broken = 0;
    let mut campaign = Campaign::new(Strategy::Random(Bias::Uniform), 0);
    for _ in 0..runs {
        let (outcome, made) = outcome(assertion, &config, campaign.choice())?;
        campaign.learn(&made);
        broken += u64::from(outcome == Outcome::Broken);
    }
    Ok(broken)
}

fn outcome(assertion: &Assertion, config: &Config, choice: Box<dyn Choice + Send>) -> io::Result<(Outcome, Run)> {
    let seen = Rc::new(Cell::new(None));
    let (kept, look) = (seen.clone(), assertion.outcome);
    let made = run(config, choice, move |db| kept.set(Some(look(&db))));
    match (&made.failure, seen.get()) {
        (None, Some(outcome)) => Ok((outcome, made)),
        (failure, _) => {
            let why = failure.as_ref().map(ToString::to_string).unwrap_or_default();
            Err(io::Error::other(format!("a run of {} failed: {why}", assertion.application)))
        }
    }
}
