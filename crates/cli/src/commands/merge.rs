//! `skew merge`: the results of shards as those of one campaign.

use std::path::PathBuf;

use clap::Args;
use skew_model::campaign::Campaign;

use crate::Ending;
use crate::commands::test::{Files, ResultFormat};
use crate::flags::OutputFlags;

/// Put the results of shards together
///
/// Each machine runs `skew test --shard N/COUNT --json FILE`; this reads the files and says what one machine would have
/// said.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew merge shard-*.json
  skew merge --junit all.xml --html all.html shard-*.json

Exit codes: 0 every run passed, 1 a run failed, 2 bad input, 3 runs are missing.")]
pub(crate) struct Arguments {
    /// The results, as `skew test --json` writes them
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the results as one static page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: ResultFormat,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let mut whole: Option<Campaign> = None;
    for file in &arguments.files {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        let part = skew_formats::campaign::read(&text).map_err(|error| format!("{name}: {error}"))?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => merge(whole, part).map_err(|error| format!("{name}: {error}"))?,
        }
    }
    let mut whole = whole.expect("there is at least one file");
    whole.shard = None;
    whole.runs.sort_by_key(|run| run.number);
    let files =
        Files { junit: arguments.junit.as_deref(), json: arguments.json.as_deref(), html: arguments.html.as_deref() };
    let missing = whole.planned.saturating_sub(whole.runs.len() as u64);
    whole.is_interrupted |= missing > 0;
    files.tell(&whole, &arguments.output, arguments.format)
}

fn merge(whole: &mut Campaign, part: Campaign) -> Result<(), String> {
    let same = (&whole.command, &whole.level, whole.seed, whole.planned)
        == (&part.command, &part.level, part.seed, part.planned);
    if !same {
        return Err("it is of another campaign: command, level, --seed and --runs must be the same".to_owned());
    }
    if let Some(run) = part.runs.iter().find(|run| whole.runs.iter().any(|other| other.number == run.number)) {
        return Err(format!("run {} is in another file too", run.number));
    }
    whole.runs.extend(part.runs);
    whole.baseline.extend(part.baseline);
    for (what, times) in part.unsupported {
        match whole.unsupported.iter_mut().find(|(other, _)| *other == what) {
            Some((_, sum)) => *sum += times,
            None => whole.unsupported.push((what, times)),
        }
    }
    whole.held_ms += part.held_ms;
    whole.coverage.add(part.coverage);
    whole.elapsed_ms = whole.elapsed_ms.max(part.elapsed_ms);
    whole.is_interrupted |= part.is_interrupted;
    let is_earlier = |one: &Option<_>, other: &Option<_>| match (one, other) {
        (Some(one), Some(other)) => number(one) < number(other),
        (Some(_), None) => true,
        _ => false,
    };
    let later = match is_earlier(&part.failure, &whole.failure) {
        true => std::mem::replace(&mut whole.failure, part.failure),
        false => part.failure,
    };
    whole.other_failures.extend(part.other_failures);
    whole.other_failures.extend(later);
    whole.other_failures.sort_by_key(number);
    for cause in part.causes {
        match whole.causes.iter_mut().find(|other| other.words == cause.words) {
            Some(other) => {
                other.runs.extend(cause.runs);
                other.replays.extend(cause.replays);
                other.runs.sort_unstable();
            }
            None => whole.causes.push(cause),
        }
    }
    whole.causes.sort_by_key(|cause| std::cmp::Reverse(cause.runs.len()));
    Ok(())
}

fn number(failure: &skew_model::campaign::FailedRun) -> u64 {
    failure.run.number
}
