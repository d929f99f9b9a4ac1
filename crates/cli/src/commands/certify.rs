//! `skew certify`: verifies a certificate of `skew robust` again.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use skew_prove::certificate::data::Script;
use skew_prove::certificate::{Certificate, Checked, Unproved, check, is_of};
use skew_prove::robust::Robustness;
use skew_prove::smt;
use skew_prove::smt::solver::{NoSolver, Said, Solver};
use skew_sql::session::Granularity;

use crate::Ending;
use crate::commands::explore::load;
use crate::commands::robust::solver::SolverName;
use crate::commands::serve::read_script;
use crate::flags::{OutputFlags, TextOrJson};

/// Verify a certificate of `skew robust` again, by a small checker that shares nothing with what made it
///
/// `skew robust --certificate FILE` writes what its answers rest on. This derives every dependency anew from what the
/// certificate says that programs do, and follows all chains of them in the simplest way; questions to a solver are asked
/// again. With --app it also reads the application's file, and compares what programs do and what a solver is to be asked:
/// without it, what rests on a solver's answers is not known.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew robust bank.sql --certificate bank.cert.json
  skew certify bank.cert.json --app bank.sql

Exit codes: 0 it shows what it says, 1 it does not, 2 bad input or usage, 3 not known: there is no solver to ask, it does
not answer, or without --app nobody knows that it was asked the right questions.")]
pub(crate) struct Arguments {
    /// The certificate
    file: PathBuf,

    /// The application that it has to be about
    #[arg(long, value_name = "FILE")]
    app: Option<PathBuf>,

    /// The solver that is asked again, where one was: another one is a second opinion
    #[arg(long, value_enum, default_value_t = SolverName::Z3)]
    solver: SolverName,

    /// Wait so many seconds for each answer of the solver
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    max_time: u64,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let name = arguments.file.display();
    let text = std::fs::read_to_string(&arguments.file).map_err(|error| format!("{name}: {error}"))?;
    let certificate = Certificate::from_json(&text).map_err(|error| format!("{name}: {error}"))?;
    let solver = Solver::new(arguments.solver.kind(), Duration::from_secs(arguments.max_time));
    let verified = check(&certificate, &|script| ask(&solver, script)).and_then(|mut checked| {
        if let Some(app) = &arguments.app {
            let script = read_script(app)?;
            let (database, app) = load(&script, &[], &[], Granularity::Cell)?;
            let robustness = Robustness::of(&database, &app)
                .map_err(|error| format!("{}: {}", script.name, error.fields().message))?;
            let open = is_of(&certificate, &robustness);
            let open = open.map_err(|error| format!("it is not about {}: {error}", script.name))?;
            // What could be compared is not only believed any more.
            if open.is_empty() {
                checked.believed.clear();
            }
            // One reason is enough.
            if checked.open.is_empty() {
                checked.open = open;
            }
        }
        Ok(checked)
    });
    let mut out = String::new();
    let mut as_json = json!({ "skew": "certify", "version": 1, "file": name.to_string() });
    let ending = match verified {
        Ok(checked) => {
            told(arguments, &certificate, &checked, &mut out);
            as_json["levels"] = json!(checked.levels);
            as_json["believed"] = json!(checked.believed);
            as_json["open"] = json!(checked.open);
            let is_known = checked.open.is_empty() && checked.believed.is_empty();
            if is_known { Ending::Holds } else { Ending::Unknown }
        }
        Err(wrong) => {
            let _ = writeln!(out, "{name}: not verified: {wrong}");
            as_json["wrong"] = json!(wrong);
            Ending::Violated
        }
    };
    let result = match ending {
        Ending::Holds => "verified",
        Ending::Unknown => "unknown",
        Ending::Violated | Ending::BadInput => "not-verified",
    };
    as_json["result"] = json!(result);
    let text = match arguments.format {
        TextOrJson::Text if arguments.output.quiet => format!("{name}: {result}\n"),
        TextOrJson::Text => out,
        TextOrJson::Json => format!("{as_json:#}\n"),
    };
    arguments.output.write(&text)?;
    Ok(ending)
}

/// What was verified, in words.
fn told(arguments: &Arguments, certificate: &Certificate, checked: &Checked, out: &mut String) {
    let name = arguments.file.display();
    for line in &checked.lines {
        let _ = writeln!(out, "  {line}");
    }
    let about = match &arguments.app {
        Some(app) => format!("what programs do is what {} says", app.display()),
        None => format!("what programs do is taken as it stands (--app {} compares it)", certificate.file),
    };
    let _ = writeln!(out, "  {about}");
    if !certificate.serializable.is_empty() {
        let _ = writeln!(out, "  if {} run serializably", certificate.serializable.join(", "));
    }
    if !certificate.sessions {
        let _ = writeln!(out, "  whatever the order of a session's transactions: it does not count");
    }
    for (one, other) in &certificate.pairs {
        let _ = writeln!(out, "  if {one} and {other} are serializable with each other");
    }
    if certificate.rows {
        let _ = writeln!(out, "  if transactions conflict about whole rows");
    }
    for axiom in certificate.axioms.iter().flat_map(|axioms| axioms.lines()) {
        let _ = writeln!(out, "  if {axiom}");
    }
    // A level in words has no name, and stands under that of another one.
    let at = |levels: &[&str]| match &certificate.axioms {
        Some(_) => "under these conditions".to_owned(),
        None => format!("at {}", levels.join(", ")),
    };
    let (believed, known): (Vec<&str>, Vec<&str>) =
        checked.levels.iter().map(String::as_str).partition(|level| checked.believed.iter().any(|one| one == level));
    if !known.is_empty() {
        let _ = writeln!(out, "{name}: every run is serializable {}", at(&known));
    }
    if !believed.is_empty() {
        let _ = writeln!(
            out,
            "{name}: not known {}: that the solver was asked the right questions is only believed (--app {} makes them \
             again)",
            at(&believed),
            certificate.file
        );
    }
    for open in &checked.open {
        let _ = writeln!(out, "{name}: not known at {open}");
    }
}

/// Asks a solver again: it must find nothing.
fn ask(solver: &Solver, script: &Script) -> Result<(), Unproved> {
    let Script { purpose, text } = script.clone();
    let nothing = Said::Unknown("nothing was asked".to_owned());
    match (smt::solver::Script { purpose, text, answer: nothing }).ask(solver) {
        Ok(Said::Unsat) => Ok(()),
        Ok(Said::Sat) => Err(Unproved::Satisfiable),
        Ok(Said::Unknown(why)) => Err(Unproved::NotKnown(format!("the solver does not know because of {why}"))),
        Err(NoSolver(why)) => Err(Unproved::NotKnown(why)),
    }
}
