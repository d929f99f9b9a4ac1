//! `skew check`: which isolation levels does this recorded history satisfy, and why not the others?

mod robustness;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use skew_check::{Assumptions, Checker, Limits, Options};
use skew_formats::Format;
use skew_model::{AskedLevel, History, Level, Limit, Outcome, Scope, SqlLevel, Target, Verdict};
use skew_report::Report;

use crate::Ending;
use crate::flags::OutputFlags;
use crate::input::{self, Input};
use crate::progress::Progress;
use crate::target_flag::TargetFlag;

/// Say which isolation levels a recorded history satisfies, and explain why not the others
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew check on-call.hist                      every level, strongest first
  skew check --level si --level ser run.edn    two levels of a Jepsen history
  skew check --level declared app.hist         each transaction at the level it declares (`@si`)
  skew check --format html -o why.html run.txt a page with a picture
  skew check --input plume - < run.log         from standard input
  skew check --robustness run.hist             could a weaker level have broken these transactions?

Exit codes: 0 holds, 1 violated, 2 bad input or usage, 3 unknown. Without --level the question is whether the declared
levels hold, if transactions declare levels, and whether the history is serializable if none does; all other levels are
shown, too.")]
pub(crate) struct Arguments {
    /// Histories to check; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Ask for this level only (repeatable): an id (ru ec rc ra cc mvrc pc psi si ser sser), SQL's name of a database's
    /// level ('read committed' is pg-rc), or `declared`
    #[arg(short, long = "level", visible_alias = "isolation", value_name = "LEVEL", value_parser = parse_scope)]
    levels: Vec<AskedScope>,

    #[command(flatten)]
    target: TargetFlag,

    /// Whether the order of transactions within a session counts
    #[arg(long, value_name = "on|off", default_value = "on", hide_possible_values = true)]
    sessions: Switch,

    /// Whoever ended before another began comes first, at every level
    #[arg(long)]
    real_time: bool,

    /// The format of the files, where their names do not tell: hist, jsonl, elle, plume, dbcop, cobra
    #[arg(long, value_name = "FORMAT")]
    input: Option<Format>,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Answer,

    #[command(flatten)]
    output: OutputFlags,

    /// Show the commit order that justifies what holds, after verifying it
    #[arg(long)]
    witness: bool,

    /// Say instead whether the dependencies of the recorded transactions go in a circle that cc, pc, psi or si allows, in
    /// this run or in another order
    #[arg(long, conflicts_with_all = ["witness", "expand"])]
    robustness: bool,

    /// Follow the reasons of inferred edges down to reads and writes
    #[arg(long)]
    expand: bool,

    /// Give up on a level after so many conflicts in the search over write orders
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_conflicts)]
    max_conflicts: u64,

    /// Give up on a level that would need more memory than this for reachability, in MiB
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().max_bytes >> 20)]
    max_memory: u64,

    /// Give up after so many seconds for each file: what is not answered by then is unknown
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Text,
    Json,
    Svg,
    Html,
    Dot,
}

/// What is asked about; `None`: the declared levels.
#[derive(Clone, Copy, PartialEq, Eq)]
struct AskedScope {
    asked: Option<AskedLevel>,
}

impl AskedScope {
    fn scope(self, target: Target) -> Scope {
        self.asked.map_or(Scope::Declared, |asked| Scope::Level(asked.of(target)))
    }

    fn sql(self) -> Option<SqlLevel> {
        self.asked?.sql
    }
}

fn parse_scope(word: &str) -> Result<AskedScope, String> {
    if word.eq_ignore_ascii_case("declared") {
        return Ok(AskedScope { asked: None });
    }
    let asked: AskedLevel = word.parse().map_err(|error| format!("{error}, and `declared`"))?;
    Ok(AskedScope { asked: Some(asked) })
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    if arguments.robustness {
        return robustness::run(arguments);
    }
    let progress = Progress::new();
    let mut ending = Ending::Holds;
    let mut answered: Vec<(Input, Vec<Verdict>)> = Vec::new();
    for file in &arguments.files {
        match input::read(file, arguments.input, &progress) {
            Ok(input) => {
                let verdicts = verdicts(arguments, &input, &progress);
                // Without a level the question is about the declared ones, where there are some.
                let asked = if arguments.levels.is_empty() && is_declared(&input.history) { 1 } else { verdicts.len() };
                ending = verdicts[..asked].iter().map(ending_of).fold(ending, Ending::max);
                answered.push((input, verdicts));
            }
            Err(message) => {
                progress.clear();
                eprintln!("skew: {message}");
                ending = Ending::BadInput;
            }
        }
    }
    progress.clear();
    if !answered.is_empty() {
        answer(arguments, &answered)?;
    }
    Ok(ending)
}

/// What is asked about, level by level.
fn scopes(arguments: &Arguments) -> Vec<Scope> {
    arguments.levels.iter().map(|asked| asked.scope(arguments.target.target())).collect()
}

fn options(arguments: &Arguments) -> Options {
    let assumptions = Assumptions { sessions: arguments.sessions == Switch::On, real_time: arguments.real_time };
    let limits =
        Limits { max_conflicts: arguments.max_conflicts, max_bytes: arguments.max_memory.saturating_mul(1 << 20) };
    Options { assumptions, limits, verify: arguments.witness }
}

fn verdicts(arguments: &Arguments, input: &Input, progress: &Progress) -> Vec<Verdict> {
    let Some(seconds) = arguments.max_time else {
        progress.begin(format!("resolving {}", input.name));
        let tell = |scope: Scope| progress.begin(format!("checking {} of {}", scope, input.name));
        return all_verdicts(&scopes(arguments), &input.history, options(arguments), tell);
    };
    progress.begin(format!("checking {} for {seconds} s at most", input.name));
    let (levels, history, options) = (scopes(arguments), input.history.clone(), options(arguments));
    let (answer, answered) = std::sync::mpsc::channel();
    // The checker has no clock: a thread that takes too long is left behind, and ends with the process.
    std::thread::spawn(move || answer.send(all_verdicts(&levels, &history, options, |_| ())));
    let answered = (seconds > 0).then(|| answered.recv_timeout(Duration::from_secs(seconds)).ok()).flatten();
    answered.unwrap_or_else(|| {
        let ladder = || Level::ladder().rev().map(Scope::Level).collect();
        let scopes: Vec<Scope> = match arguments.levels.is_empty() {
            true if is_declared(&input.history) => vec![Scope::Declared],
            true => ladder(),
            false => scopes(arguments),
        };
        scopes.into_iter().map(|scope| Verdict { scope, outcome: Outcome::Unknown(Limit::Time(seconds)) }).collect()
    })
}

fn all_verdicts(levels: &[Scope], history: &History, options: Options, tell: impl Fn(Scope)) -> Vec<Verdict> {
    let checker = Checker::new(history, options);
    if !levels.is_empty() {
        return levels
            .iter()
            .map(|&scope| {
                tell(scope);
                checker.check(scope)
            })
            .collect();
    }
    let mut verdicts = Vec::new();
    if is_declared(history) {
        tell(Scope::Declared);
        verdicts.push(checker.check(Scope::Declared));
    }
    verdicts.extend(checker.ladder(tell));
    verdicts
}

fn is_declared(history: &History) -> bool {
    history.txns().iter().any(|txn| txn.level.is_some())
}

fn ending_of(verdict: &Verdict) -> Ending {
    match verdict.outcome {
        Outcome::Holds(_) => Ending::Holds,
        Outcome::Violated(_) => Ending::Violated,
        Outcome::Unknown(_) => Ending::Unknown,
    }
}

fn answer(arguments: &Arguments, answered: &[(Input, Vec<Verdict>)]) -> Result<(), String> {
    let lines: Vec<_> = answered
        .iter()
        .map(|(input, _)| move |_: u16, line: u32| input::line_of(input.lines.as_deref()?, line))
        .collect();
    let reports: Vec<Report> = answered
        .iter()
        .zip(&lines)
        .map(|((input, verdicts), lines)| Report {
            file: input.name.clone(),
            command: command(arguments, &input.name),
            history: &input.history,
            verdicts: verdicts.clone(),
            source_line: lines,
            notes: notes(arguments, input),
            show_witness: arguments.witness,
        })
        .collect();
    let text = match arguments.format {
        Answer::Text if arguments.output.quiet => {
            reports.iter().map(|report| skew_report::verdict_lines(report, arguments.output.style())).collect()
        }
        Answer::Text => {
            let mut style = arguments.output.style();
            style.expand |= arguments.expand;
            let texts: Vec<String> = reports.iter().map(|report| skew_report::text(report, style)).collect();
            texts.join("\n")
        }
        Answer::Json => skew_report::json(&reports),
        Answer::Html => skew_report::html(&reports),
        Answer::Dot => skew_report::dot(&reports),
        Answer::Svg => {
            let mut violations = reports.iter().flat_map(|report| &report.verdicts).filter_map(Verdict::violation);
            let first = violations.next().ok_or("nothing is violated, so there is no picture to draw")?;
            skew_report::svg(first)
        }
    };
    arguments.output.write(&text)
}

/// The command that asks the same question again, without the level.
fn command(arguments: &Arguments, name: &str) -> String {
    let mut command = format!("skew check {}", quoted(name));
    if let Some(format) = arguments.input {
        command.push_str(&format!(" --input {format}"));
    }
    if arguments.sessions == Switch::Off {
        command.push_str(" --sessions off");
    }
    if arguments.real_time {
        command.push_str(" --real-time");
    }
    command
}

fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+:@%=,".contains(c);
    match name {
        "<stdin>" => "-".to_owned(),
        name if name.chars().all(plain) => name.to_owned(),
        name => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

fn notes(arguments: &Arguments, input: &Input) -> Vec<String> {
    let mut notes = Vec::new();
    let target = arguments.target.target();
    for sql in arguments.levels.iter().filter_map(|asked| asked.sql()) {
        notes.push(format!("{} of {} is {}", sql.name().to_ascii_uppercase(), target.name(), sql.level_of(target)));
    }
    if arguments.sessions == Switch::Off {
        notes.push("session order is off".to_owned());
    }
    let asks_for_time = arguments.real_time
        || scopes(arguments).iter().any(|scope| matches!(scope, Scope::Level(level) if level.is_strict()));
    match (asks_for_time, input.history.has_times()) {
        (true, false) => {
            notes.push("the history does not say when transactions ran, so real time orders nothing".to_owned())
        }
        (_, true) if arguments.real_time => {
            notes.push("real time counts at every level that looks at sessions".to_owned())
        }
        _ => {}
    }
    notes
}
