//! The solver: a child process that is told a script and asked whether it can hold.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use easy_smt::{Context, ContextBuilder, Response, SExpr};

use super::formula::Formula;

/// Which solver, and how long it may think about one question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solver {
    /// Which one.
    pub kind: SolverKind,
    /// For one question.
    pub time: Duration,
    /// When it has to have answered all questions.
    pub until: Option<Instant>,
}

/// A solver that can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SolverKind {
    Z3,
    Cvc5,
}

/// What a script is for, and what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// What follows if it cannot hold.
    pub purpose: String,
    /// SMT-LIB, with the question at its end.
    pub text: String,
    /// What the solver said.
    pub answer: Said,
}

/// What the solver says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// It cannot hold.
    Unsat,
    /// It can.
    Sat,
    /// The solver does not know, and why.
    Unknown(String),
}

/// Why there is no solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSolver(pub String);

impl Default for Solver {
    fn default() -> Solver {
        Solver::new(SolverKind::Z3, Duration::from_secs(10))
    }
}

impl SolverKind {
    /// The program to start.
    pub fn program(self) -> &'static str {
        match self {
            SolverKind::Z3 => "z3",
            SolverKind::Cvc5 => "cvc5",
        }
    }
}

impl Solver {
    /// A solver with a limit for each question.
    pub fn new(kind: SolverKind, time: Duration) -> Solver {
        Solver { kind, time, until: None }
    }

    /// So much time for all questions from now on.
    pub fn within(self, time: Duration) -> Solver {
        Solver { until: Instant::now().checked_add(time), ..self }
    }

    /// Whether its time is over.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Starts it, if it is there.
    pub fn start(&self) -> Result<Conversation, NoSolver> {
        let program = self.kind.program();
        let left = self.until.map_or(self.time, |until| until.saturating_duration_since(Instant::now()).min(self.time));
        let milliseconds = left.as_millis().max(1);
        let arguments = match self.kind {
            SolverKind::Z3 => vec!["-smt2".into(), "-in".into(), format!("-t:{milliseconds}")],
            SolverKind::Cvc5 => {
                vec![
                    "--quiet".into(),
                    "--lang=smt2".into(),
                    "--incremental".into(),
                    format!("--tlimit-per={milliseconds}"),
                ]
            }
        };
        let started = ContextBuilder::new().solver(program).solver_args(arguments).build();
        let mut context = started.map_err(|error| NoSolver(why_not(program, &error)))?;
        let told = context.set_logic("QF_LRA").and_then(|()| context.set_option(":produce-models", context.true_()));
        told.map_err(|error| NoSolver(why_not(program, &error)))?;
        Ok(Conversation {
            context,
            lines: vec!["(set-logic QF_LRA)".to_owned()],
            broken: None,
            answer: Said::Unknown("nothing was asked".to_owned()),
            until: self.until,
        })
    }
}

fn why_not(program: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{program} is not installed (Debian and Ubuntu: apt-get install {program}, macOS: brew install {program})"
        ),
        _ => format!("{program} cannot be used: {error}"),
    }
}

/// The limit that is hit most.
pub(super) const TIME: &str = "the solver's time";

/// A solver that is being told things.
pub struct Conversation {
    context: Context,
    lines: Vec<String>,
    /// The solver has gone, and why.
    broken: Option<String>,
    /// What it said last.
    answer: Said,
    until: Option<Instant>,
}

impl Conversation {
    /// There is a truth with this name.
    pub fn declare_truth(&mut self, name: &str) {
        self.tell(format!("(declare-fun {name} () Bool)"));
    }

    /// There is a number with this name.
    pub fn declare_number(&mut self, name: &str) {
        self.tell(format!("(declare-fun {name} () Real)"));
    }

    /// Something holds.
    pub fn assert(&mut self, formula: &Formula) {
        if *formula != Formula::TRUE {
            self.tell(format!("(assert {formula})"));
        }
    }

    /// What is asserted from here on is forgotten by the matching [`Conversation::forget`].
    pub fn remember(&mut self) {
        self.tell("(push 1)".to_owned());
    }

    /// Back to where [`Conversation::remember`] was.
    pub fn forget(&mut self) {
        self.tell("(pop 1)".to_owned());
    }

    /// Whether all of it can hold.
    pub fn ask(&mut self) -> Said {
        self.answer = match &self.broken {
            Some(why) => Said::Unknown(why.clone()),
            None if self.until.is_some_and(|until| until <= Instant::now()) => Said::Unknown(TIME.to_owned()),
            None => match self.context.check() {
                Ok(Response::Sat) => Said::Sat,
                Ok(Response::Unsat) => Said::Unsat,
                Ok(Response::Unknown) => Said::Unknown(TIME.to_owned()),
                Err(error) => Said::Unknown(self.breaks(&error)),
            },
        };
        self.answer.clone()
    }

    /// What names stand for, after [`Said::Sat`].
    pub fn values(&mut self, names: &[String]) -> BTreeMap<String, String> {
        if names.is_empty() {
            return BTreeMap::new();
        }
        let asked: Vec<SExpr> = names.iter().map(|name| self.context.atom(name.as_str())).collect();
        match self.context.get_value(asked) {
            Ok(values) => {
                let text = |expr: SExpr| self.context.display(expr).to_string();
                values.into_iter().map(|(name, value)| (text(name), text(value))).collect()
            }
            Err(error) => {
                self.breaks(&error);
                BTreeMap::new()
            }
        }
    }

    /// All that it was told, as a script of its own, with what it said about it.
    pub fn script(&self, purpose: impl Into<String>) -> Script {
        // What was forgotten is left out.
        let mut kept: Vec<&str> = Vec::new();
        let mut marks = Vec::new();
        for line in &self.lines {
            match line.as_str() {
                "(push 1)" => marks.push(kept.len()),
                "(pop 1)" => kept.truncate(marks.pop().expect("what is forgotten was remembered")),
                line => kept.push(line),
            }
        }
        Script { purpose: purpose.into(), text: kept.join("\n") + "\n(check-sat)\n", answer: self.answer.clone() }
    }

    fn tell(&mut self, line: String) {
        if self.broken.is_none() {
            let command = self.context.atom(line.as_str());
            let told = self.context.raw_send(command).and_then(|()| self.context.raw_recv());
            match told {
                Ok(answer) if self.context.get_atom(answer) == Some("success") => {}
                Ok(answer) => {
                    let answer = self.context.display(answer).to_string();
                    self.broken = Some(format!("what the solver said: {answer}"));
                }
                Err(error) => _ = self.breaks(&error),
            }
        }
        self.lines.push(line);
    }

    fn breaks(&mut self, error: &io::Error) -> String {
        let why = format!("the solver, which has gone ({error})");
        self.broken = Some(why.clone());
        why
    }
}

impl Script {
    /// Asks a solver about it.
    pub fn ask(&self, solver: &Solver) -> Result<Said, NoSolver> {
        let mut conversation = solver.start()?;
        let lines = self.text.lines().filter(|line| !line.starts_with("(set-logic") && *line != "(check-sat)");
        lines.for_each(|line| conversation.tell(line.to_owned()));
        Ok(conversation.ask())
    }
}
