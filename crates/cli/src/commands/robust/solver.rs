//! What the solver is asked, and how.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use skew_prove::robust::answer::{Answer, Engine};
use skew_prove::smt::axioms::Axioms;
use skew_prove::smt::solver::{Said, Solver, SolverKind};
use skew_sql::app::App;

use crate::commands::explore::no_program;

#[derive(Args)]
pub(super) struct SolverArguments {
    /// Ask about a level that is written in a file, instead of a named one
    ///
    /// A line is an axiom: `forall a b c: vis(a, b) and vis(b, c) => vis(a, c)`. It speaks of transactions by `vis` (has
    /// been seen by), `ar` (takes effect before), `so` (comes before in its session), `wr`, `ww`, `rw` (dependencies),
    /// `a is PROGRAM` and `a = b`, with `and`, `or`, `not`, `=>` and parentheses. Always so: `ar` is a total order, `vis`
    /// is within it, what was read is seen, and so is what the session has done before. `--` begins a comment.
    #[arg(long, value_name = "FILE", conflicts_with = "levels")]
    pub(super) level_file: Option<PathBuf>,

    /// Two programs are serializable with each other: PROGRAM,PROGRAM (repeatable; the same one twice: with itself)
    #[arg(long = "serialize", value_name = "PROGRAM,PROGRAM", value_parser = parse_pair)]
    pub(super) pairs: Vec<(String, String)>,

    /// Who is asked: the graph, the solver, or the solver about what the graph cannot exclude and no run shows
    #[arg(long, value_enum, default_value_t = EngineName::Both)]
    engine: EngineName,

    /// The solver that is started
    #[arg(long, value_enum, default_value_t = SolverName::Z3)]
    solver: SolverName,

    /// The solver thinks about one question for so many seconds at most, within --max-time
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    solver_time: u64,

    /// Keep what the solver was asked, as SMT-LIB scripts in this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) dump_smt: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    Both,
    Graph,
    Solver,
}

/// A solver by its name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolverName {
    Z3,
    Cvc5,
}

impl SolverName {
    pub(crate) fn kind(self) -> SolverKind {
        match self {
            SolverName::Z3 => SolverKind::Z3,
            SolverName::Cvc5 => SolverKind::Cvc5,
        }
    }
}

fn parse_pair(words: &str) -> Result<(String, String), String> {
    match words.split_once(',') {
        Some((one, other)) => Ok((one.trim().to_owned(), other.trim().to_owned())),
        None => Err("a pair reads PROGRAM,PROGRAM".to_owned()),
    }
}

impl SolverArguments {
    pub(super) fn engine(&self) -> Engine {
        match self.engine {
            EngineName::Both => Engine::Both,
            EngineName::Graph => Engine::Graph,
            EngineName::Solver => Engine::Solver,
        }
    }

    pub(super) fn solver(&self) -> Solver {
        Solver::new(self.solver.kind(), Duration::from_secs(self.solver_time))
    }

    /// All of it that answers depend on, in words: with another solver, or without one, they are others.
    pub(super) fn key(&self) -> String {
        let SolverArguments { level_file, pairs, engine: _, solver: _, solver_time: _, dump_smt: _ } = self;
        let level = level_file.as_ref().map(|file| (file, std::fs::read_to_string(file).unwrap_or_default()));
        let solver = self.solver();
        format!("{level:?} {pairs:?} {:?} {solver:?} {}", self.engine(), solver.start().is_ok())
    }

    /// The level that is written in a file.
    pub(super) fn axioms(&self, app: &App) -> Result<Option<Axioms>, String> {
        let Some(file) = &self.level_file else { return Ok(None) };
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        let axioms = Axioms::parse(&text).map_err(|error| format!("{name}: {error}"))?;
        let is_there = |program: &&str| app.programs.iter().any(|known| known.name == *program);
        match axioms.programs().iter().find(|program| !is_there(program)) {
            Some(program) => Err(format!("{name}: {}", no_program(program, app))),
            None => Ok(Some(axioms)),
        }
    }
}

/// Writes what the solver was asked.
pub(super) fn dump(answers: &[Answer], folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    for answer in answers {
        for (number, script) in answer.scripts.iter().enumerate() {
            let said = match &script.answer {
                Said::Unsat => "unsat",
                Said::Sat => "sat",
                Said::Unknown(_) => "unknown",
            };
            let mut text = String::new();
            let _ = writeln!(text, "; {}: {}\n; the solver said: {said}", answer.level, script.purpose);
            text.push_str(&script.text);
            let file = folder.join(format!("{}-{:03}.smt2", answer.level, number + 1));
            std::fs::write(file, text).map_err(failed)?;
        }
    }
    Ok(())
}
