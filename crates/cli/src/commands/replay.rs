//! `skew replay`: runs a witness again on the weak store, and says what it shows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use skew_check::{Assumptions, Checker, Options};
use skew_model::{AskedLevel, History, Literal, Scope};
use skew_report::Report;
use skew_store::witness::replay_witness;

use crate::Ending;
use crate::commands::robust::rerun::{Rerun, rerun};
use crate::flags::{OutputFlags, TextOrJson};
use crate::target_flag::TargetFlag;

/// Run a witness again: every step in its order, every read from the transaction that it read from
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

Exit codes: 0 the run repeats, so what it shows can happen; 1 it does not, or the command passed this time; 2 bad input or
usage; 3 not known.")]
pub(crate) struct Arguments {
    /// The witness, as JSON
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// For a run of `skew test`: the command, if it is another one
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// The levels that the run is checked at besides the declared ones
    #[arg(long = "level", value_name = "LEVEL", default_value = "ser")]
    levels: Vec<AskedLevel>,

    #[command(flatten)]
    target: TargetFlag,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let mut ending = Ending::Holds;
    let mut answers = Vec::new();
    for file in &arguments.files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let answer = if skew_formats::robust::is_run(&text) {
            replay_app(file, &text, arguments)?
        } else if skew_formats::campaign::is_replay(&text) {
            crate::commands::test::replay(file, &text, &arguments.command, &arguments.output)?
        } else {
            replay(file, &text, arguments)?
        };
        ending = ending.max(answer.ending);
        answers.push((file.display().to_string(), answer));
    }
    let text = match arguments.format {
        TextOrJson::Text if arguments.output.quiet => answers.iter().map(|(name, answer)| answer.line(name)).collect(),
        TextOrJson::Text => answers.iter().map(|(_, answer)| answer.text.as_str()).collect::<Vec<_>>().join("\n"),
        TextOrJson::Json => {
            let files: Vec<_> = answers.iter().map(|(name, answer)| answer.json(name)).collect();
            format!("{:#}\n", json!({ "skew": "replay", "version": 1, "files": files }))
        }
    };
    arguments.output.write(&text)?;
    Ok(ending)
}

/// What became of one file.
pub(crate) struct Answer {
    /// *Holds*: the run repeats. *Violated*: it does not.
    pub(crate) ending: Ending,
    /// What the run shows, in a sentence.
    pub(crate) shows: String,
    /// Everything there is to say.
    pub(crate) text: String,
}

impl Answer {
    fn word(&self) -> &'static str {
        match self.ending {
            Ending::Holds => "repeats",
            Ending::Unknown => "unknown",
            Ending::Violated | Ending::BadInput => "differs",
        }
    }

    fn line(&self, name: &str) -> String {
        format!("{name}: {}: {}\n", self.word(), self.shows)
    }

    fn json(&self, name: &str) -> serde_json::Value {
        json!({ "file": name, "result": self.word(), "shows": self.shows, "text": self.text })
    }
}

/// A run of an application that `skew robust` has saved.
fn replay_app(file: &Path, text: &str, arguments: &Arguments) -> Result<Answer, String> {
    let name = file.display().to_string();
    let saved = skew_formats::robust::read_run(text).map_err(|error| format!("{name}: {error}"))?;
    let calls: usize = saved.sessions.iter().map(|(_, calls)| calls.len()).sum();
    let shows = format!("{calls} calls of {} at {}", saved.file, saved.level);
    let history = match rerun(&name, &saved)? {
        Rerun::Repeated(history) => history,
        Rerun::Different => {
            let text = format!("{name}: {shows}: no run of these calls comes out as the saved one\n");
            return Ok(Answer { ending: Ending::Violated, shows, text });
        }
        Rerun::GaveUp => {
            let text = format!("{name}: {shows}: not known: a limit was hit before the saved run came\n");
            return Ok(Answer { ending: Ending::Unknown, shows, text });
        }
    };
    let mut out = format!("{name}: {shows}, every read saw what it saw\n");
    for statement in &saved.setup {
        let _ = writeln!(out, "first: {statement}");
    }
    for (session, calls) in &saved.sessions {
        let _ = writeln!(out, "{session}: {}", calls.join("; "));
    }
    out.push('\n');
    out.push_str(&told(&name, &history.to_string(), false, arguments)?);
    Ok(Answer { ending: Ending::Holds, shows, text: out })
}

fn replay(file: &Path, text: &str, arguments: &Arguments) -> Result<Answer, String> {
    let name = file.display().to_string();
    let witness = skew_formats::witness::read(text).map_err(|error| format!("{name}: {error}"))?;
    let shows = witness.failure.clone();
    let store = match replay_witness(&witness) {
        Ok(store) => store,
        // Before the first step nothing was compared: the witness itself is wrong.
        Err(error) if error.step == 0 => return Err(format!("{name}: {error}")),
        Err(error) => {
            return Ok(Answer { ending: Ending::Violated, shows, text: format!("{name}: {error}\n") });
        }
    };
    let mut out = format!("{name}: {} steps, every read saw what the witness says\n", witness.steps.len());
    let _ = writeln!(out, "{}\n", witness.failure);
    out.push_str(&told(&name, &store.history(Literal::clone).to_string(), witness.real_time, arguments)?);
    Ok(Answer { ending: Ending::Holds, shows, text: out })
}

/// A history, and what the checker says about it.
fn told(name: &str, text: &str, real_time: bool, arguments: &Arguments) -> Result<String, String> {
    // Printed and read again, so that every transaction has a line to point at.
    let history = History::parse(text).map_err(|error| format!("{name}: {error}"))?;
    let assumptions = Assumptions { sessions: true, real_time };
    let checker = Checker::new(&history, Options { assumptions, ..Options::default() });
    let lines: Vec<&str> = text.lines().collect();
    let levels = arguments.levels.iter().map(|asked| Scope::Level(asked.of(arguments.target.target())));
    let scopes = [Scope::Declared].into_iter().chain(levels);
    let report = Report {
        file: name.to_owned(),
        command: format!("skew replay {name}"),
        history: &history,
        verdicts: scopes.map(|scope| checker.check(scope)).collect(),
        source_line: &|_, line| lines.get(line.checked_sub(1)? as usize).map(|line| (*line).to_owned()),
        notes: Vec::new(),
        show_witness: false,
    };
    Ok(format!("{text}\n{}", skew_report::text(&report, arguments.output.style())))
}
