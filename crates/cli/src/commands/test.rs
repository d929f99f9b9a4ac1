//! `skew test`: somebody's own tests on the weak database, until weak isolation breaks them.

mod progress;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use skew_campaign::{self as campaign, Event, Plan, Trouble};
use skew_model::AskedLevel;
use skew_model::campaign::{Campaign, FailedRun, RunReplay};
use skew_server::Settings;
use skew_sql::session::{ChoiceKind, Options};
use skew_store::Recency;

use crate::Ending;
use crate::commands::replay::Answer;
use crate::commands::serve::{any_seed, read_script};
use crate::database_flags::{GranularityArgument, RecencyFlags, level_words, parse_isolation, recency_word};
use crate::flags::OutputFlags;
use crate::output;
use crate::stop;
use crate::target_flag::TargetFlag;
use progress::Progress;

/// How long a statement is held by default, in milliseconds.
const HOLD_MS: u64 = 3;

/// Runs where only --max-time ends a campaign.
const MAX_RUNS: u64 = 1_000_000;

/// Run your own tests on a weak database until weak isolation breaks them, and be told why
///
/// The database speaks PostgreSQL's protocol. The command finds it in DATABASE_URL, and in PGHOST, PGPORT, PGUSER and
/// PGDATABASE. It is run again and again, each time from the same state and with other overlaps of its transactions, and
/// passes if it ends with exit code 0.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew test -- pytest tests/                                  as weak as the levels that transactions ask for
  skew test --isolation read-committed --runs 200 -- pytest   every transaction at READ COMMITTED
  skew test --setup schema.sql --jobs 4 -- npm test           every run starts with this schema
  skew test -i cc --replicated -- cargo test                  causal consistency, on replicas that lag
  skew test --format html -o report.html -- npm test          a page with the failed run as lanes of statements
  skew test --shard 3/16 --json 3.json -- pytest              one sixteenth of the runs; then `skew merge *.json`

First the command runs with its transactions one after the other, then at serializable: if it fails there, the test
itself is wrong, and nothing else is tried. After all runs the first one that failed is repeated, with fewer and fewer
reads of old versions, and what is left is explained. The file that replays it is in --out.

Exit codes: 0 every run passed, 1 a run failed, 2 the test cannot be used or bad usage, 3 not known: stopped before the
end, or no two transactions overlapped in any run, so that nothing was tested.")]
pub(crate) struct Arguments {
    /// Run every transaction at this level: a SQL name, or an id (ru rc ra cc mvrc pc psi si ser) [default: what
    /// transactions ask for, READ COMMITTED if nothing]
    #[arg(short, long, value_name = "LEVEL", value_parser = parse_isolation)]
    isolation: Option<AskedLevel>,

    #[command(flatten)]
    target: TargetFlag,

    /// How often to run the command [default: 100; with --max-time, as often as there is time for]
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,

    /// Begin no run after so many seconds; a failure that was found by then is still explained
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    max_time: Option<u64>,

    /// How many to run at the same time, each on a database of its own
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,

    /// Where randomness starts [default: another one each time]
    #[arg(long)]
    seed: Option<u64>,

    /// Run this file of SQL before the runs; each of them starts with what it has made (repeatable)
    #[arg(long, value_name = "FILE")]
    setup: Vec<PathBuf>,

    /// How long the command may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Stop at the first run that fails
    #[arg(short = 'x', long)]
    stop_at_first: bool,

    /// The longest that a statement is held, in milliseconds, while other connections are at work
    #[arg(long, value_name = "MS", default_value_t = HOLD_MS)]
    hold: u64,

    #[command(flatten)]
    recency: RecencyFlags,

    /// What two transactions conflict on
    #[arg(long, value_enum, default_value = "cell")]
    granularity: GranularityArgument,

    /// Only one part of the runs, to spread them over machines: `3/16`
    #[arg(long, value_name = "N/COUNT", value_parser = parse_shard)]
    shard: Option<(u32, u32)>,

    /// How often a run that failed may be repeated to find out why
    #[arg(long, value_name = "TIMES", default_value_t = 40)]
    repeats: usize,

    /// How many runs a change has to pass before it is advised [default: 200, fewer if the command is slow]
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u64).range(1..))]
    tries: Option<u64>,

    /// The folder for the file that replays a failure
    #[arg(long, value_name = "FOLDER", default_value = ".skew")]
    out: PathBuf,

    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the results as JSON, for `skew merge` and other programs
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the results as one static page: the failed run as lanes of SQL statements, why it failed, and all runs
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: ResultFormat,

    #[command(flatten)]
    output: OutputFlags,

    /// The command, after `--`
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn parse_shard(word: &str) -> Result<(u32, u32), String> {
    let parts = word.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
    match parts {
        Some((number, count)) if number >= 1 && number <= count => Ok((number, count)),
        _ => Err("a shard is a number and a count, as in 3/16".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    arguments.target.must_be_executable()?;
    let stop = stop::on_signal(campaign::stop_all)?;
    let plan = plan(arguments)?;
    arguments.files().check()?;
    let progress = Progress::new(&plan, arguments.output.quiet);
    let results = campaign::run(&plan, &stop, &|event| match event {
        Event::Explained(failure, replay) => progress.pause(|| tell_at_once(arguments, failure, replay)),
        event => progress.event(event),
    });
    progress.end();
    let results = match results {
        Ok(results) => results,
        Err(trouble) => return Err(trouble_words(&trouble)),
    };
    let mut campaign = results.campaign;
    let is_short = (campaign.runs.len() as u64) < campaign.planned && campaign.shard.is_none();
    if is_short && arguments.max_time.is_some() && campaign.failure.is_none() {
        match arguments.runs {
            Some(_) => campaign.is_interrupted = true,
            None => campaign.planned = campaign.runs.len() as u64,
        }
    }
    for (at, (number, replay)) in results.replays.iter().enumerate() {
        match keep_replay(arguments, replay, *number) {
            Ok(path) => {
                // The others are in the same folder.
                if at == 0 {
                    arguments.output.wrote(Path::new(&path));
                }
                let cause = campaign.causes.iter_mut().find(|cause| cause.runs.contains(number));
                cause.into_iter().for_each(|cause| cause.replays.push(path.clone()));
                let mut failures = campaign.failure.iter_mut().chain(&mut campaign.other_failures);
                let failure = failures.find(|failure| failure.run.number == *number);
                failure.into_iter().for_each(|failure| failure.replay = Some(path.clone()));
            }
            // What was found is worth more than the file.
            Err(error) => {
                eprintln!("skew: {error}");
                break;
            }
        }
    }
    // The failure was printed when it was found.
    match arguments.tells_at_once() {
        true => {
            let words = skew_report::campaign_end(&campaign, arguments.output.style());
            arguments.files().tell_as(&campaign, &arguments.output, &words)
        }
        false => arguments.files().tell(&campaign, &arguments.output, arguments.format),
    }
}

impl Arguments {
    /// Whether the first failure is printed as soon as it is explained: as text, where text goes by itself.
    fn tells_at_once(&self) -> bool {
        self.format == ResultFormat::Text && !self.output.quiet && self.output.output.is_none()
    }
}

/// Prints the first failure as soon as it is explained; the other runs go on behind it.
fn tell_at_once(arguments: &Arguments, failure: &FailedRun, replay: &RunReplay) {
    if !arguments.tells_at_once() {
        return;
    }
    let path = keep_replay(arguments, replay, failure.run.number).ok();
    let failure = FailedRun { replay: path, ..failure.clone() };
    let text = skew_report::failed_run(&failure, arguments.output.style());
    // The same error comes again when the results are written.
    let _ = output::write(None, &format!("{text}\n"));
}

/// What a campaign's results mean for a script.
fn ending(campaign: &Campaign) -> Ending {
    let failed = campaign.runs.iter().any(|run| !run.outcome.passed());
    let is_unknown = campaign.is_interrupted || campaign.runs.is_empty() || campaign.coverage.is_empty();
    match (failed, is_unknown) {
        (true, _) => Ending::Violated,
        (false, true) => Ending::Unknown,
        (false, false) => Ending::Holds,
    }
}

/// Where results go besides the terminal.
pub(crate) struct Files<'a> {
    pub(crate) junit: Option<&'a Path>,
    pub(crate) json: Option<&'a Path>,
    pub(crate) html: Option<&'a Path>,
}

impl Files<'_> {
    /// Refuses what cannot be written before hours of runs, not after them.
    pub(crate) fn check(&self) -> Result<(), String> {
        for path in [self.junit, self.json, self.html].into_iter().flatten() {
            let was_there = path.exists();
            let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
            opened.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            if !was_there {
                // Nobody should find an empty file if there are no results in the end.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// Prints the results and writes them. What cannot be written keeps nothing else from being written.
    pub(crate) fn tell(
        &self,
        campaign: &Campaign,
        flags: &OutputFlags,
        format: ResultFormat,
    ) -> Result<Ending, String> {
        self.tell_as(campaign, flags, &format.render(campaign, flags))
    }

    /// Writes the results, and prints them in these words.
    fn tell_as(&self, campaign: &Campaign, flags: &OutputFlags, words: &str) -> Result<Ending, String> {
        let mut failed = Vec::new();
        failed.extend(flags.write(words).err());
        let mut write = |path: Option<&Path>, text: &str| match (output::write(path, text), path) {
            (Ok(()), Some(path)) => flags.wrote(path),
            (written, _) => failed.extend(written.err()),
        };
        if let Some(path) = self.junit {
            write(Some(path), &skew_report::junit(campaign));
        }
        if let Some(path) = self.json {
            write(Some(path), &skew_formats::campaign::write(campaign));
        }
        if let Some(path) = self.html {
            write(Some(path), &skew_report::campaign_page(campaign));
        }
        if failed.is_empty() { Ok(ending(campaign)) } else { Err(failed.join("\nskew: ")) }
    }
}

/// The forms of a campaign's results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    Text,
    Json,
    Html,
    Junit,
}

impl ResultFormat {
    fn render(self, campaign: &Campaign, flags: &OutputFlags) -> String {
        match self {
            ResultFormat::Text if flags.quiet => format!("{}\n", skew_report::summary(campaign)),
            ResultFormat::Text => skew_report::campaign(campaign, flags.style()),
            ResultFormat::Json => skew_formats::campaign::write(campaign),
            ResultFormat::Html => skew_report::campaign_page(campaign),
            ResultFormat::Junit => skew_report::junit(campaign),
        }
    }
}

impl Arguments {
    fn files(&self) -> Files<'_> {
        Files { junit: self.junit.as_deref(), json: self.json.as_deref(), html: self.html.as_deref() }
    }
}

fn plan(arguments: &Arguments) -> Result<Plan, String> {
    let seed = arguments.seed.unwrap_or_else(any_seed);
    let load = arguments.setup.iter().map(read_script).collect::<Result<Vec<_>, _>>()?;
    let recency = arguments.recency.recency();
    let granularity = arguments.granularity.into();
    let settings = |level, recency| Settings {
        options: Options { level, recency, choice: ChoiceKind::Random, seed, granularity, ..Options::default() },
        hold: Duration::from_millis(arguments.hold.max(1)),
        load: load.clone(),
        ..Settings::default()
    };
    Ok(Plan {
        command: arguments.command.clone(),
        settings: settings(arguments.isolation.map(|isolation| isolation.level), recency),
        baseline: settings(Some(skew_model::Level::Ser), Recency::Commit),
        runs: arguments.runs.unwrap_or(if arguments.max_time.is_some() { MAX_RUNS } else { 100 }),
        deadline: arguments.max_time.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        seed,
        jobs: usize::from(arguments.jobs),
        timeout: Duration::from_secs(arguments.timeout),
        shard: arguments.shard,
        stops_at_failure: arguments.stop_at_first,
        repeats: arguments.repeats,
        tries: arguments.tries,
        level: level_words(arguments.isolation, recency),
    })
}

/// The options that a replay needs to set up the same database.
fn replay_options(arguments: &Arguments) -> Vec<String> {
    let mut options = Vec::new();
    if let Some(isolation) = arguments.isolation {
        options.extend(["--isolation".to_owned(), isolation.word().to_owned()]);
    }
    options.extend(["--recency".to_owned(), recency_word(arguments.recency.recency()).to_owned()]);
    if arguments.granularity == GranularityArgument::Row {
        options.extend(["--granularity".to_owned(), "row".to_owned()]);
    }
    for file in &arguments.setup {
        options.extend(["--setup".to_owned(), file.display().to_string()]);
    }
    options.extend(["--hold".to_owned(), arguments.hold.to_string()]);
    options.extend(["--timeout".to_owned(), arguments.timeout.to_string()]);
    options
}

fn keep_replay(arguments: &Arguments, replay: &RunReplay, number: u64) -> Result<String, String> {
    let replay = RunReplay { options: replay_options(arguments), ..replay.clone() };
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let path = folder.join(format!("run-{number}.json"));
    output::write(Some(&path), &skew_formats::campaign::write_replay(&replay))?;
    Ok(path.display().to_string())
}

/// What `skew replay` does with a file of a run: the command again, in the same order and with the same old versions.
///
/// The question is whether the run repeats: a failure is the expected answer.
pub(crate) fn replay(file: &Path, text: &str, command: &[String], flags: &OutputFlags) -> Result<Answer, String> {
    let name = file.display();
    let replay = skew_formats::campaign::read_replay(text).map_err(|error| format!("{name}: {error}"))?;
    let command = if command.is_empty() { replay.command.clone() } else { command.to_vec() };
    let words = ["test".to_owned()].into_iter().chain(replay.options.clone()).chain(["--".to_owned()]).chain(command);
    let arguments = <Again as clap::Parser>::try_parse_from(words).map_err(|error| format!("{name}: {error}"))?.test;
    let plan = plan(&arguments)?;
    let stop = stop::on_signal(campaign::stop_all)?;
    let replayed = campaign::replay(&plan, &replay, &stop).map_err(|error| trouble_words(&error))?;
    if stop.load(Ordering::SeqCst) {
        let text = format!("{name}: stopped before the end\n");
        return Ok(Answer { ending: Ending::Unknown, shows: replay.shows, text });
    }
    let failure = &replayed.failure;
    let mut out = format!("{name}: {}\n\n", replay.shows);
    if failure.run.outcome.passed() {
        out.push_str("this time the command passed: it is not deterministic, or it has changed since\n");
    } else {
        out.push_str(&skew_report::failed_run(failure, flags.style()));
    }
    if replayed.lost > 0 {
        out.push_str(&format!(
            "\n{} times a client did not come when its turn was: the command itself is not deterministic\n",
            replayed.lost
        ));
    }
    let ending = if failure.run.outcome.passed() { Ending::Violated } else { Ending::Holds };
    Ok(Answer { ending, shows: replay.shows, text: out })
}

/// The options of a run that is replayed, read as those of `skew test` are.
#[derive(clap::Parser)]
struct Again {
    #[command(flatten)]
    test: Arguments,
}

fn trouble_words(trouble: &Trouble) -> String {
    let mut words = trouble.to_string();
    let Some(ended) = trouble.ended() else { return words };
    for (what, times) in &ended.unsupported {
        let often = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
        words.push_str(&format!("\n  not supported, {often}: {what}"));
    }
    for statement in &ended.unanswered {
        words.push_str(&format!("\n  had no answer: {}", one_line(statement)));
    }
    let output = ended.output.trim_end();
    if output.is_empty() {
        words.push_str("\nthe command printed nothing");
        return words;
    }
    words.push_str("\nwhat the command printed:");
    let lines: Vec<&str> = output.lines().collect();
    for line in &lines[lines.len().saturating_sub(40)..] {
        words.push_str(&format!("\n  | {}", one_line(line)));
    }
    words
}

/// Text in one line, without what a terminal would take for a command.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
