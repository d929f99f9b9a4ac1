//! `skew replay`: runs a witness again on the weak store, and says what it shows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use skew_check::{Assumptions, Checker, Options};
use skew_model::{History, Level, Literal, Scope};
use skew_report::Report;
use skew_store::witness::replay_witness;

use crate::Ending;
use crate::commands::robust::rerun::rerun;
use crate::output::{self, Color};

/// Run a witness again: every step in its order, every read from whom it read
///
/// A failing test writes a witness when SKEW_WITNESS names a folder. The steps run on the weak store, each transaction at
/// its level; a step that the level does not allow, or a read that sees something else, is an error.
///
/// A run that `skew robust --save` has written is run again: the same application, the same calls.
///
/// A file that `skew test` has written replays a run: the command again, its statements in the same order, its reads of
/// old versions the same.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew replay witness.json
  SKEW_WITNESS=target/witness cargo test; skew replay target/witness/*.json
  skew replay runs/bank-si-1.json                    what `skew robust --save runs` has found
  skew replay .skew/run-7.json                       the command that `skew test` ran
  skew replay .skew/run-7.json -- pytest -k checkout another one

Exit codes: 1 the run came out as the witness says, so what it shows can happen; 2 it did not, or is no witness.")]
pub(crate) struct Arguments {
    /// The witness, as JSON
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// For a run of `skew test`: the command, if it is another one
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// The levels that the run is checked at besides the declared ones
    #[arg(long = "level", value_name = "LEVEL", default_value = "ser")]
    levels: Vec<Level>,

    /// When to colour
    #[arg(long, value_enum, default_value = "auto")]
    color: Color,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let mut ending = Ending::Holds;
    for file in &arguments.files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        ending = ending.max(if skew_formats::robust::is_run(&text) {
            output::write(None, &replay_app(file, &text, arguments)?)?;
            Ending::Violated
        } else if skew_formats::campaign::is_replay(&text) {
            crate::commands::test::replay(file, &text, &arguments.command, arguments.color)?
        } else {
            output::write(None, &replay(file, &text, arguments)?)?;
            Ending::Violated
        });
    }
    Ok(ending)
}

/// A run of an application that `skew robust` has saved.
fn replay_app(file: &Path, text: &str, arguments: &Arguments) -> Result<String, String> {
    let name = file.display().to_string();
    let saved = skew_formats::robust::read_run(text).map_err(|error| format!("{name}: {error}"))?;
    let history = rerun(&name, &saved)?;
    let calls: usize = saved.sessions.iter().map(|(_, calls)| calls.len()).sum();
    let mut out = format!("{name}: {calls} calls of {} at {}, every read saw what it saw\n", saved.file, saved.level);
    for statement in &saved.setup {
        let _ = writeln!(out, "first: {statement}");
    }
    for (session, calls) in &saved.sessions {
        let _ = writeln!(out, "{session}: {}", calls.join("; "));
    }
    out.push('\n');
    out.push_str(&told(&name, &history.to_string(), false, arguments)?);
    Ok(out)
}

fn replay(file: &Path, text: &str, arguments: &Arguments) -> Result<String, String> {
    let name = file.display().to_string();
    let witness = skew_formats::witness::read(text).map_err(|error| format!("{name}: {error}"))?;
    let store = replay_witness(&witness).map_err(|error| format!("{name}: {error}"))?;
    let mut out = format!("{name}: {} steps, every read saw what the witness says\n", witness.steps.len());
    let _ = writeln!(out, "{}\n", witness.failure);
    out.push_str(&told(&name, &store.history(Literal::clone).to_string(), witness.real_time, arguments)?);
    Ok(out)
}

/// A history, and what the checker says about it.
fn told(name: &str, text: &str, real_time: bool, arguments: &Arguments) -> Result<String, String> {
    // Printed and read again, so that every transaction has a line to point at.
    let history = History::parse(text).map_err(|error| format!("{name}: {error}"))?;
    let assumptions = Assumptions { sessions: true, real_time };
    let checker = Checker::new(&history, Options { assumptions, ..Options::default() });
    let lines: Vec<&str> = text.lines().collect();
    let scopes = [Scope::Declared].into_iter().chain(arguments.levels.iter().copied().map(Scope::Level));
    let report = Report {
        file: name.to_owned(),
        command: format!("skew replay {name}"),
        history: &history,
        verdicts: scopes.map(|scope| checker.check(scope)).collect(),
        source_line: &|_, line| lines.get(line.checked_sub(1)? as usize).map(|line| (*line).to_owned()),
        notes: Vec::new(),
        show_witness: false,
    };
    Ok(format!("{text}\n{}", skew_report::text(&report, output::style(arguments.color, false))))
}
