//! `skew robust`: whether every run of an application file is serializable at a level.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use skew_check::check;
use skew_model::Level;
use skew_prove::confirm::{Found, Limits};
use skew_prove::robust::answer::{Answer, Effort, Verdict};
use skew_prove::robust::{LEVELS, Question, Robustness};
use skew_prove::summary::Summary;
use skew_prove::suspect::Suspect;
use skew_sql::app::App;

use crate::Ending;
use crate::commands::explore::load;
use crate::commands::serve::read_script;
use crate::output;

/// Say whether every run of an application's transactions is serializable at a level
///
/// The file is plain PostgreSQL: tables, first rows, transactions as procedures. Every way through every procedure is
/// looked at, for any number of transactions at the same time. Where a level allows a cycle of dependencies, calls with
/// arguments are looked for that show it, and are executed: what is *not robust* has been seen, what is *possible* has not.
/// Where a real PostgreSQL does the same, `psql` shows its sessions: the lines of each T1, T2, … in a psql of their own, in
/// this order.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew robust bank.sql
  skew robust bank.sql --level si --all
  skew robust bank.sql --level mvrc --subsets
  skew robust bank.sql --mark withdraw=ser
  skew robust bank.sql --show summary

Exit codes: 0 robust at every level asked about (without --level: exit code 0 whatever is said), 1 not robust at one,
2 bad input or usage, 3 not known at one.")]
pub(crate) struct Arguments {
    /// The application
    file: PathBuf,

    /// The level that is asked about (repeatable) [default: all of them]
    #[arg(short, long = "level", value_name = "LEVEL")]
    levels: Vec<Level>,

    /// Show the largest sets of programs that are robust together, at each level
    #[arg(long)]
    subsets: bool,

    /// Run a program serializably: PROGRAM=ser (repeatable)
    #[arg(long = "mark", value_name = "PROGRAM=ser", value_parser = parse_mark)]
    marks: Vec<String>,

    /// Whether the order of a session's transactions counts
    #[arg(long, value_enum, default_value_t = Sessions::On)]
    sessions: Sessions,

    /// Look for a run of every cycle, not only until one is found at a level
    #[arg(long)]
    all: bool,

    /// Show what the analysis works with instead
    #[arg(long, value_enum)]
    show: Option<Show>,

    /// Look for a run of a cycle for so many seconds at most, and five times as long for a level
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    max_time: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sessions {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Show {
    /// What every way through every program reads and writes
    Summary,
}

fn parse_mark(word: &str) -> Result<String, String> {
    match word.split_once('=') {
        Some((program, "ser")) => Ok(program.to_owned()),
        _ => Err("a mark reads PROGRAM=ser".to_owned()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let name = arguments.file.display().to_string();
    let script = read_script(&arguments.file)?;
    let (database, app) = load(&script)?;
    if app.programs.is_empty() {
        return Err(format!("{name} has no procedures; a transaction is a CREATE PROCEDURE … LANGUAGE plpgsql"));
    }
    let question = question(arguments, &app)?;
    let failed = |error: skew_sql::error::SqlError| {
        let fields = error.fields();
        format!("{name}: {} ({})", fields.message, fields.code)
    };
    let robustness = Robustness::of(&database, &app).map_err(failed)?;
    if arguments.show == Some(Show::Summary) {
        output::write(None, &robustness.once.print())?;
        return Ok(Ending::Holds);
    }
    let levels: Vec<Level> = if arguments.levels.is_empty() { LEVELS.to_vec() } else { arguments.levels.clone() };
    let each = Limits { time: Duration::from_secs(arguments.max_time), ..Limits::default() };
    let effort = Effort { each, level: each.time * 5, all: arguments.all };
    let mut answers: Vec<Answer> = Vec::new();
    let mut found: Vec<(Suspect, Found)> = Vec::new();
    // Strongest first: a run of a stronger level is one of the weaker ones.
    for &level in levels.iter().rev() {
        let answer = robustness.answer(&database, &app, level, &question, &found, effort).map_err(failed)?;
        for one in &answer.found {
            if !found.iter().any(|(_, known)| known.client_text() == one.1.client_text()) {
                found.push(one.clone());
            }
        }
        answers.push(answer);
    }
    answers.reverse();
    let mut out = header(&name, &robustness, &question);
    out.push_str(&table(&robustness, &answers));
    if arguments.levels.is_empty() {
        out.push_str(&weakest(&answers));
    }
    if arguments.subsets {
        for &level in &levels {
            out.push_str(&subsets(&robustness, level, &question));
        }
    }
    for answer in answers.iter().rev() {
        out.push_str(&details(&name, &robustness, answer, arguments.all));
    }
    output::write(None, &out)?;
    Ok(if arguments.levels.is_empty() { Ending::Holds } else { ending(&answers) })
}

fn question(arguments: &Arguments, app: &App) -> Result<Question, String> {
    for mark in &arguments.marks {
        if !app.programs.iter().any(|program| program.name == *mark) {
            let names: Vec<&str> = app.programs.iter().map(|program| program.name.as_str()).collect();
            return Err(format!("there is no program {mark}; there are {}", names.join(", ")));
        }
    }
    Ok(Question {
        sessions: arguments.sessions == Sessions::On,
        serializable: arguments.marks.clone(),
        ..Question::default()
    })
}

fn ending(answers: &[Answer]) -> Ending {
    let of = |answer: &Answer| match answer.verdict {
        Verdict::Serializable | Verdict::Robust { .. } => Ending::Holds,
        Verdict::NotRobust => Ending::Violated,
        Verdict::Possible | Verdict::Unknown(_) => Ending::Unknown,
    };
    answers.iter().map(of).max().unwrap_or(Ending::Holds)
}

fn header(name: &str, robustness: &Robustness, question: &Question) -> String {
    let programs = &robustness.once.programs;
    let ways: usize = programs.iter().map(|program| program.paths.len()).sum();
    let mut out =
        format!("{name}: {} with {} through them\n", counted(programs.len(), "program"), counted(ways, "way"));
    if !question.sessions {
        out.push_str("note: the order of a session's transactions does not count\n");
    }
    if !question.serializable.is_empty() {
        let _ = writeln!(out, "note: serializable among themselves: {}", question.serializable.join(", "));
    }
    for program in programs {
        for approximation in &program.approximations {
            let what = &approximation.what;
            let _ = writeln!(out, "note: {}, line {}: {what}", program.name, approximation.line);
        }
    }
    out.push('\n');
    out
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn table(robustness: &Robustness, answers: &[Answer]) -> String {
    let mut out = String::new();
    for answer in answers {
        let summary = robustness.summary(answer.level);
        let (verdict, why) = match &answer.verdict {
            Verdict::Serializable => ("robust", "by definition".to_owned()),
            Verdict::Robust { .. } => {
                ("robust", "no cycle of dependencies is allowed, for any number of transactions".to_owned())
            }
            Verdict::NotRobust => ("not robust", not_robust_words(summary, answer)),
            Verdict::Possible => {
                let (suspect, _) = &answer.possible[0];
                ("possible", format!("not seen, and not excluded: {}", suspect.cycle(summary)))
            }
            Verdict::Unknown(limit) => ("unknown", format!("because of {limit}")),
        };
        let _ = writeln!(out, "{:<6}{verdict:<12}{why}", answer.level.id());
    }
    out
}

fn not_robust_words(summary: &Summary, answer: &Answer) -> String {
    let (suspect, found) = &answer.found[0];
    let anomaly = anomaly(found).unwrap_or_else(|| "not serializable".to_owned());
    format!("{anomaly}: {}", suspect.programs(summary, &found.calls).join(", "))
}

fn anomaly(found: &Found) -> Option<String> {
    let verdict = check(&found.history, Level::Ser);
    verdict.violation().map(|violation| violation.anomaly.id().to_string())
}

/// The weakest levels at which the application is robust.
fn weakest(answers: &[Answer]) -> String {
    let is_robust = |answer: &&Answer| matches!(answer.verdict, Verdict::Robust { .. } | Verdict::Serializable);
    let robust: Vec<Level> = answers.iter().filter(is_robust).map(|answer| answer.level).collect();
    let weakest = robust.iter().filter(|level| !robust.iter().any(|other| other != *level && level.implies(*other)));
    let names: Vec<&str> = weakest.map(|level| level.id()).collect();
    format!("\nThe weakest at which every run is serializable: {}\n", names.join(", "))
}

fn subsets(robustness: &Robustness, level: Level, question: &Question) -> String {
    let sets = robustness.largest_robust_sets(level, question);
    let mut out = format!("\nThe largest sets of programs that are robust together at {level}:\n");
    for set in &sets.sets {
        let _ = writeln!(out, "  {}", set.join(", "));
    }
    if sets.sets.is_empty() {
        out.push_str("  none\n");
    }
    if let Some(limit) = &sets.limit {
        let _ = writeln!(out, "  (stopped after {limit}: there may be larger ones)");
    }
    out
}

fn details(file: &str, robustness: &Robustness, answer: &Answer, all: bool) -> String {
    let summary = robustness.summary(answer.level);
    let mut out = String::new();
    // Runs of stronger levels have been shown there.
    for (suspect, found) in answer.found.iter().filter(|(_, found)| found.level == answer.level) {
        out.push_str(&found_words(file, summary, suspect, found));
    }
    let untried = answer.possible.iter().filter(|(_, reason)| reason.is_empty()).count();
    for (suspect, reason) in answer.possible.iter().filter(|(_, reason)| !reason.is_empty()) {
        if all || answer.verdict == Verdict::Possible {
            let _ = writeln!(out, "\npossible at {}: {}", answer.level, suspect.cycle(summary));
            statements(&mut out, summary, suspect);
            let _ = writeln!(out, "  = not found: {reason}");
        }
    }
    if untried > 0 && answer.found.iter().any(|(_, found)| found.level == answer.level) {
        let _ =
            writeln!(out, "\n{} more at {} (--all looks for runs of them)", counted(untried, "cycle"), answer.level);
    }
    out
}

fn found_words(file: &str, summary: &Summary, suspect: &Suspect, found: &Found) -> String {
    let verdict = check(&found.history, Level::Ser);
    let mut out = String::new();
    let anomaly = verdict.violation().map_or("cycle", |violation| violation.anomaly.id());
    let programs = suspect.programs(summary, &found.calls).join(", ");
    let _ = writeln!(out, "\nnot robust at {}[{anomaly}]: {programs}", found.level);
    // If not all calls are needed, what was found is simpler than what was looked for.
    let is_whole = found.calls.len() == suspect.calls.len();
    if is_whole {
        statements(&mut out, summary, suspect);
    }
    for statement in &found.setup {
        let _ = writeln!(out, "  = first   {statement}");
    }
    let _ = writeln!(out, "  = calls   {}", found.client_text());
    let told = verdict.violation().map_or(&found.history, |violation| &violation.history);
    block(&mut out, "run", &told.to_string());
    if is_whole {
        let _ = writeln!(out, "  = cycle   {}", suspect.cycle(summary));
    }
    if found.setup.is_empty() {
        let _ = writeln!(out, "  = replay  {}", found.command(file));
    }
    if let Ok(script) = found.postgres_script() {
        block(&mut out, "psql", &script);
    }
    out
}

/// Lines under a word.
fn block(out: &mut String, word: &str, lines: &str) {
    for (number, line) in lines.lines().enumerate() {
        let word = if number == 0 { format!("= {word}") } else { String::new() };
        let _ = writeln!(out, "  {word:<10}{line}");
    }
}

/// The statements that meet, dependency by dependency.
fn statements(out: &mut String, summary: &Summary, suspect: &Suspect) {
    for edge in &suspect.edges {
        if let Some((one, other)) = suspect.statements(summary, edge) {
            let _ = writeln!(out, "  {one}\n    -{}-> {other}", edge.kind.name());
        }
    }
}
