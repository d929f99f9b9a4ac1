//! `skew robust`: whether every run of an application file is serializable at a level.
//!
//! - `cache`: answers that were given before
//! - `save`: runs that were found, as files
//! - `replaying`: runs that were found, on a real PostgreSQL
//! - `rerun`: such a file, run again
//! - `solver`: what the solver is asked, and how

mod cache;
mod replaying;
pub(crate) mod rerun;
mod save;
pub(crate) mod solver;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use skew_check::check;
use skew_model::robust::{LevelAnswer, RobustReport, RobustVerdict};
use skew_model::{AskedLevel, History, Level, Violation};
use skew_prove::certificate;
use skew_prove::confirm::{Found, Limits};
use skew_prove::graph::Budget;
use skew_prove::robust::answer::{Answer, Effort, Engine};
use skew_prove::robust::{Dependencies, LEVELS, Question, Robustness};
use skew_prove::suspect::Suspect;
use skew_sql::app::App;
use skew_sql::error::SqlError;
use skew_sql::script::Script;
use skew_sql::session::{Database, Granularity};

use self::cache::Cache;
use self::solver::SolverArguments;
use crate::Ending;
use crate::commands::explore::{load, no_program};
use crate::commands::serve::read_script;
use crate::flags::OutputFlags;
use crate::output;
use crate::progress::Progress;
use crate::target_flag::TargetFlag;

/// Say whether every run of an application's transactions is serializable at a level
///
/// The file is plain PostgreSQL: tables, first rows, transactions as procedures. Every way through every procedure is
/// looked at, for any number of transactions at the same time. Where a level allows a cycle of dependencies, calls with
/// arguments are looked for that show it, and are executed: what is *not robust* has been seen, what is *possible* has not.
/// A procedure with the comment `@isolation si` runs at that level, whatever level is asked about.
/// Where a real PostgreSQL does the same, `psql` shows its sessions: the lines of each T1, T2, … in a psql of their own, in
/// this order.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew robust bank.sql
  skew robust bank.sql --level si --all
  skew robust bank.sql --level mvrc --subsets
  skew robust bank.sql --mark withdraw=ser
  skew robust bank.sql --level psi --serialize withdraw,close
  skew robust bank.sql --level-file mine.fol         a level in your own words, see --help
  skew robust bank.sql --format html -o bank.html    a page with the programs drawn
  skew robust bank.sql --save runs                   what was found, as files for `skew replay`
  skew robust bank.sql --certificate bank.cert.json  what `skew certify` verifies
  skew robust bank.sql --show summary

Answers are kept in the user's cache ($XDG_CACHE_HOME/skew or ~/.cache/skew) by the file's content, the options and the
binary, unless time ran out; --no-cache asks again.

Exit codes: 0 robust at every level asked about (without --level: exit code 0 whatever is said), 1 not robust at one,
2 bad input or usage, 3 not known at one.")]
pub(crate) struct Arguments {
    /// The application
    file: PathBuf,

    /// The level that is asked about (repeatable): an id, or SQL's name of a database's level ('read committed' is pg-rc)
    /// [default: rc ra cc mvrc pc psi si ser]
    #[arg(short, long = "level", visible_alias = "isolation", value_name = "LEVEL")]
    levels: Vec<AskedLevel>,

    #[command(flatten)]
    target: TargetFlag,

    /// Show the largest sets of programs that are robust together, at each level
    #[arg(long)]
    subsets: bool,

    /// Run a program serializably: PROGRAM=serializable (repeatable)
    #[arg(long = "mark", value_name = "PROGRAM=ser", value_parser = parse_mark)]
    marks: Vec<String>,

    /// Whether the order of a session's transactions counts
    #[arg(long, value_enum, default_value_t = Sessions::On)]
    sessions: Sessions,

    /// What transactions conflict about: columns of rows, or whole rows, as in PostgreSQL
    #[arg(long, visible_alias = "granularity", value_enum, default_value_t = DependenciesArgument::Columns)]
    dependencies: DependenciesArgument,

    /// Look for a run of every cycle, not only until one is found at a level
    #[arg(long)]
    all: bool,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    #[command(flatten)]
    output: OutputFlags,

    /// Save every run that is found in this folder: a file for `skew replay`, and a picture
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,

    /// Run what is found at si and mvrc on the PostgreSQL at this URL, with psql and in a schema that is dropped again, and
    /// say whether it does the same
    #[arg(long, value_name = "URL")]
    replay_on: Option<String>,

    /// Write what shows that levels are robust to a file, which `skew certify` verifies
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// Ask again, also if the same was asked before
    #[arg(long)]
    no_cache: bool,

    /// Show what the analysis works with instead
    #[arg(long, value_enum)]
    show: Option<Show>,

    /// Work on a level for so many seconds at most, and look for a run of one cycle for a quarter of it
    #[arg(long, value_name = "SECONDS", default_value_t = 9)]
    max_time: u64,

    /// Look for cycles in so many steps at most, at each level
    #[arg(long, value_name = "STEPS", default_value_t = Budget::default().steps)]
    max_steps: u64,

    #[command(flatten)]
    solver: SolverArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sessions {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DependenciesArgument {
    #[value(alias = "cell")]
    Columns,
    #[value(alias = "row")]
    Rows,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Html,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Show {
    /// What every way through every program reads and writes
    Summary,
    /// The programs in the language of analyses, with everything implicit as a step
    Ir,
}

pub(crate) fn parse_mark(word: &str) -> Result<String, String> {
    match word.split_once('=') {
        Some((program, level)) if level.parse().is_ok_and(Level::is_serializable) => Ok(program.to_owned()),
        _ => Err("a mark reads PROGRAM=ser: programs can be marked serializable only".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let script = read_script(&arguments.file)?;
    if let Some(show) = arguments.show {
        let asked = Asked::of(&script, arguments)?;
        let shown = match show {
            Show::Summary => asked.robustness.once.print(),
            Show::Ir => skew_prove::lower::application(&asked.database, &asked.app)
                .map_err(|error| failed(&script.name, &error))?
                .print(),
        };
        arguments.output.write(&shown)?;
        return Ok(Ending::Holds);
    }
    let mut report = answered(&script, arguments)?;
    if let Some(folder) = &arguments.save {
        save::save(&mut report, &script.text, folder)?;
    }
    arguments.output.write(&render(&report, arguments))?;
    // Who asks for a certificate and gets none is told so, too.
    let is_shown = |answer: &LevelAnswer| {
        answer.verdict == RobustVerdict::Robust && answer.argument.as_deref() != Some("definition")
    };
    let lacks = arguments.certificate.is_some() && !report.levels.iter().any(is_shown);
    let certified = if lacks { Ending::Unknown } else { Ending::Holds };
    Ok(certified.max(if report.every_level { Ending::Holds } else { ending(&report) }))
}

/// The answers: those that were given before to the same question, or new ones.
fn answered(script: &Script, arguments: &Arguments) -> Result<RobustReport, String> {
    // Certificates, scripts and other databases need more than the answers.
    let needs_more =
        arguments.certificate.is_some() || arguments.solver.dump_smt.is_some() || arguments.replay_on.is_some();
    let is_cached = !arguments.no_cache && !needs_more;
    let cache = is_cached.then(|| Cache::of(&script.text, &options(script, arguments))).flatten();
    if let Some(report) = cache.as_ref().and_then(Cache::read) {
        return Ok(report);
    }
    let report = Asked::of(script, arguments)?.report(script, arguments)?;
    if let Some(cache) = cache {
        cache.keep(&report);
    }
    Ok(report)
}

/// All options that answers depend on, in words.
fn options(script: &Script, arguments: &Arguments) -> String {
    // How answers are shown does not matter to them; a field that is new has to be put here or there.
    let Arguments {
        file: _,
        levels: _,
        target: _,
        subsets,
        marks,
        sessions,
        dependencies,
        all,
        format: _,
        output: _,
        save: _,
        replay_on: _,
        certificate: _,
        no_cache: _,
        show: _,
        max_time,
        max_steps,
        solver,
    } = arguments;
    let levels = levels(arguments);
    format!(
        "{:?} {levels:?} {subsets} {marks:?} {} {} {all} {max_time} {max_steps} {}",
        script.name,
        *sessions == Sessions::On,
        *dependencies == DependenciesArgument::Rows,
        solver.key()
    )
}

fn render(report: &RobustReport, arguments: &Arguments) -> String {
    match arguments.format {
        Format::Text if arguments.output.quiet => {
            let lines = report.levels.iter().map(|answer| format!("{:<6}{}\n", answer.level, answer.verdict.words()));
            lines.collect()
        }
        Format::Text => skew_report::robust_text(report, arguments.all || arguments.output.verbose),
        Format::Json => skew_formats::robust::write(report),
        Format::Html => {
            let violations: Vec<Option<Violation>> = report.runs.iter().map(|run| violation(&run.history)).collect();
            skew_report::robust_page(report, &violations)
        }
    }
}

/// What is not serializable about a history.
fn violation(history: &str) -> Option<Violation> {
    let history = History::parse(history).ok()?;
    check(&history, Level::Ser).violation().cloned()
}

fn ending(report: &RobustReport) -> Ending {
    let of = |verdict: RobustVerdict| match verdict {
        RobustVerdict::Robust => Ending::Holds,
        RobustVerdict::NotRobust => Ending::Violated,
        RobustVerdict::Possible | RobustVerdict::Unknown => Ending::Unknown,
    };
    report.levels.iter().map(|answer| of(answer.verdict)).max().unwrap_or(Ending::Holds)
}

/// The levels that are asked about.
fn levels(arguments: &Arguments) -> Vec<Level> {
    arguments.levels.iter().map(|asked| asked.of(arguments.target.target())).collect()
}

/// An application with a question about it.
struct Asked {
    database: Database,
    app: App,
    robustness: Robustness,
    question: Question,
}

impl Asked {
    fn of(script: &Script, arguments: &Arguments) -> Result<Asked, String> {
        let name = &script.name;
        let granularity = match arguments.dependencies {
            DependenciesArgument::Columns => Granularity::Cell,
            DependenciesArgument::Rows => Granularity::Row,
        };
        let (database, mut app) = load(script, &[], &[], granularity)?;
        for program in &mut app.programs {
            // What the file asks for by SQL's name is the database's level, as on the command line.
            program.level = program.isolation.map(|sql| sql.level_of(arguments.target.target())).or(program.level);
        }
        if app.programs.is_empty() {
            return Err(format!("{name} has no procedures; a transaction is a CREATE PROCEDURE"));
        }
        let question = question(arguments, &app)?;
        let robustness = Robustness::of(&database, &app).map_err(|error| failed(name, &error))?;
        Ok(Asked { database, app, robustness, question })
    }

    fn report(&self, script: &Script, arguments: &Arguments) -> Result<RobustReport, String> {
        let name = &*script.name;
        // Weakest first.
        let mut asked = levels(arguments);
        asked.sort();
        asked.dedup();
        // A level in the user's words is executed at the weakest one that reads once.
        let written = [if self.question.sessions { Level::Ra } else { Level::Ec }];
        let levels = match (&arguments.solver.level_file, arguments.levels.is_empty()) {
            (Some(_), _) => &written[..],
            (None, true) => &LEVELS[..],
            (None, false) => &asked[..],
        };
        let answers = self.answers(name, levels, arguments)?;
        if let Some(path) = &arguments.certificate {
            let (certificate, left_out) = certificate::write(name, &self.robustness, &self.question, &answers);
            match certificate.levels.is_empty() {
                true => eprintln!("skew: there is nothing to certify: no level is shown to be robust"),
                false => {
                    output::write(Some(path), &certificate.to_json())?;
                    arguments.output.wrote(path);
                }
            }
            for one in left_out {
                eprintln!("skew: the certificate says nothing about {}: {}", one.level, one.why);
            }
        }
        if let Some(url) = &arguments.replay_on {
            replaying::replay_on(url, &script.text, &answers).iter().for_each(|line| eprintln!("skew: {line}"));
        }
        if let Some(folder) = &arguments.solver.dump_smt {
            solver::dump(&answers, folder)?;
        }
        let mut report = self.robustness.report(name, &self.question, &answers);
        if let (Some(file), [answer]) = (&arguments.solver.level_file, &mut report.levels[..]) {
            answer.level = file.display().to_string();
        }
        report.every_level = arguments.levels.is_empty() && arguments.solver.level_file.is_none();
        if arguments.subsets {
            report.subsets = levels.iter().map(|level| self.robustness.subsets(*level, &self.question)).collect();
        }
        Ok(report)
    }

    fn answers(&self, name: &str, levels: &[Level], arguments: &Arguments) -> Result<Vec<Answer>, String> {
        let level = Duration::from_secs(arguments.max_time);
        let each = Limits { time: level / 4, ..Limits::default() };
        let (engine, solver) = (arguments.solver.engine(), arguments.solver.solver());
        let mut effort = Effort { each, level, all: arguments.all, engine, solver };
        let progress = Progress::new();
        let mut answers: Vec<Answer> = Vec::new();
        let mut found: Vec<(Suspect, Found)> = Vec::new();
        // A run at `si` is one of all weaker levels that do not wait for locks, and found sooner than most of theirs.
        let is_weaker = |level: &Level| ![Level::Si, Level::Mvrc].contains(level) && Level::Si.implies(*level);
        if levels.iter().all(is_weaker) && engine != Engine::Solver && self.question.axioms.is_none() {
            let quick = Effort { level: level / 4, all: false, engine: Engine::Graph, ..effort };
            effort.level -= quick.level;
            progress.begin(format!("{name} at {}", Level::Si));
            let answer = self.robustness.answer(&self.database, &self.app, Level::Si, &self.question, &[], quick);
            found = answer.map_err(|error| failed(name, &error))?.found;
        }
        // Strongest first: a run of a stronger level is one of the weaker ones.
        for &level in levels.iter().rev() {
            progress.begin(format!("{name} at {level}"));
            let answer = self
                .robustness
                .answer(&self.database, &self.app, level, &self.question, &found, effort)
                .map_err(|error| failed(name, &error))?;
            for one in &answer.found {
                if !found.iter().any(|(_, known)| known.client_text() == one.1.client_text()) {
                    found.push(one.clone());
                }
            }
            answers.push(answer);
        }
        progress.clear();
        answers.reverse();
        Ok(answers)
    }
}

fn failed(name: &str, error: &SqlError) -> String {
    let fields = error.fields();
    format!("{name}: {} ({})", fields.message, fields.code)
}

fn question(arguments: &Arguments, app: &App) -> Result<Question, String> {
    let pairs = arguments.solver.pairs.iter().flat_map(|(one, other)| [one, other]);
    for mark in arguments.marks.iter().chain(pairs) {
        if !app.programs.iter().any(|program| program.name == *mark) {
            return Err(no_program(mark, app));
        }
    }
    Ok(Question {
        sessions: arguments.sessions == Sessions::On,
        serializable: arguments.marks.clone(),
        dependencies: match arguments.dependencies {
            DependenciesArgument::Columns => Dependencies::Columns,
            DependenciesArgument::Rows => Dependencies::Rows,
        },
        pairs: arguments.solver.pairs.clone(),
        axioms: arguments.solver.axioms(app)?,
        budget: Budget {
            steps: arguments.max_steps,
            time: (arguments.max_time > 0).then(|| Duration::from_secs(arguments.max_time)),
        },
        ..Question::default()
    })
}
