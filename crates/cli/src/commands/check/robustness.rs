//! `skew check --robustness`: whether the recorded transactions go in a circle that a level allows.

use std::fmt::Write as _;

use serde_json::json;
use skew_check::Checker;
use skew_check::critical::{ROBUSTNESS_LEVELS, Robustness, cycle_text};
use skew_model::{History, Level, Scope};

use super::{Answer, Arguments, options, scopes};
use crate::Ending;
use crate::input;
use crate::progress::Progress;

pub(super) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let levels = levels(&scopes(arguments))?;
    if !matches!(arguments.format, Answer::Text | Answer::Json) {
        return Err("--robustness answers as text or as JSON: --format text, --format json".to_owned());
    }
    let mut histories = Vec::new();
    let progress = Progress::new();
    let mut ending = Ending::Holds;
    let mut out = String::new();
    for file in &arguments.files {
        match input::read(file, arguments.input, &progress) {
            Ok(input) => {
                let checker = Checker::new(&input.history, options(arguments));
                let count = input.history.txns().len();
                let transactions = if count == 1 { "transaction" } else { "transactions" };
                let _ = writeln!(out, "{}{}: {count} {transactions}", gap(&out), input.name);
                let mut answers = Vec::new();
                for &level in &levels {
                    progress.begin(format!("looking for circles at {level} in {}", input.name));
                    let robustness = checker.robustness(level);
                    ending = ending.max(ending_of(&robustness));
                    let (verdict, why) = words(&input.history, level, &robustness);
                    let _ = writeln!(out, "{:<6}{verdict:<11}{why}", level.id());
                    answers.push(json!({ "level": level.id(), "verdict": verdict, "why": why }));
                }
                histories.push(json!({ "file": input.name, "transactions": count, "levels": answers }));
            }
            Err(message) => {
                progress.clear();
                eprintln!("skew: {message}");
                ending = Ending::BadInput;
            }
        }
    }
    progress.clear();
    if arguments.format == Answer::Json {
        out = format!("{:#}\n", json!({ "skew": "robustness", "version": 1, "histories": histories }));
    }
    arguments.output.write(&out)?;
    Ok(ending)
}

fn gap(out: &str) -> &'static str {
    if out.is_empty() { "" } else { "\n" }
}

/// The levels that are asked about: those that the criterion is about.
fn levels(asked: &[Scope]) -> Result<Vec<Level>, String> {
    if asked.is_empty() {
        return Ok(ROBUSTNESS_LEVELS.to_vec());
    }
    let names = ROBUSTNESS_LEVELS.map(|level| level.id()).join(", ");
    let level = |asked: &Scope| match asked {
        Scope::Level(level) if ROBUSTNESS_LEVELS.contains(level) => Ok(*level),
        other => Err(format!("--robustness is about {names}, not about {other}")),
    };
    asked.iter().map(level).collect()
}

fn ending_of(robustness: &Robustness) -> Ending {
    match robustness {
        Robustness::Robust => Ending::Holds,
        Robustness::Critical(..) | Robustness::Outside => Ending::Violated,
        Robustness::Possible(_)
        | Robustness::Unknown(_)
        | Robustness::OrderedByConstraints
        | Robustness::TooMany(_) => Ending::Unknown,
    }
}

fn words(history: &History, level: Level, robustness: &Robustness) -> (&'static str, String) {
    match robustness {
        Robustness::Robust => ("robust", format!("serializable here and in every order that {level} allows")),
        Robustness::Possible(cycle) => {
            ("possible", format!("serializable here; in another order maybe not: {}", cycle_text(history, cycle)))
        }
        Robustness::Critical(part, cycle) => {
            ("critical", format!("not serializable, and {level} allows it: {}", cycle_text(part, cycle)))
        }
        Robustness::Outside => ("outside", format!("not a run of {level}")),
        Robustness::TooMany(most) => {
            ("unknown", format!("serializable here; other orders are tried for up to {most} transactions"))
        }
        Robustness::OrderedByConstraints => {
            ("unknown", "a cycle is possible only by the order that constraints give to commits".to_owned())
        }
        Robustness::Unknown(limit) => ("unknown", limit.to_string()),
    }
}
