//! The solver: a child process that is told a script and asked whether it can hold.

use std::collections::BTreeMap;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use super::formula::Formula;
use super::process::{Failure, Process, parts};

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
        let mut command = Command::new(program);
        match self.kind {
            SolverKind::Z3 => command.args(["-smt2", "-in", &format!("-t:{milliseconds}")]),
            SolverKind::Cvc5 => {
                command.args(["--quiet", "--lang=smt2", "--incremental", &format!("--tlimit-per={milliseconds}")])
            }
        };
        let process = Process::start(command).map_err(|error| NoSolver(why_not(program, &error)))?;
        let mut conversation = Conversation {
            process,
            untold: String::new(),
            unanswered: 0,
            lines: Vec::new(),
            broken: None,
            answer: Said::Unknown("nothing was asked".to_owned()),
            time: self.time,
            until: self.until,
        };
        OPTIONS.into_iter().for_each(|option| conversation.send(option));
        conversation.tell("(set-logic QF_LRA)".to_owned());
        Ok(conversation)
    }
}

/// What comes before everything else: each command is answered, and there are values after an answer.
const OPTIONS: [&str; 2] = ["(set-option :print-success true)", "(set-option :produce-models true)"];

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

/// A solver keeps its time by itself; one that does not is ended so much later.
const GRACE: Duration = Duration::from_millis(1_000);

/// A solver that is being told things.
pub struct Conversation {
    process: Process,
    /// What it will be told with the next question.
    untold: String,
    /// So many commands it has not yet said to have understood.
    unanswered: usize,
    lines: Vec<String>,
    /// The solver has gone, and why.
    broken: Option<String>,
    /// What it said last.
    answer: Said,
    time: Duration,
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
            None => match self.question("(check-sat)").as_deref() {
                Ok("sat") => Said::Sat,
                Ok("unsat") => Said::Unsat,
                Ok("unknown" | "timeout") => Said::Unknown(TIME.to_owned()),
                Ok(other) => Said::Unknown(self.breaks(not_understood(other))),
                Err(why) => Said::Unknown(why.clone()),
            },
        };
        self.answer.clone()
    }

    /// What names stand for, after [`Said::Sat`].
    pub fn values(&mut self, names: &[String]) -> BTreeMap<String, String> {
        if names.is_empty() || self.broken.is_some() {
            return BTreeMap::new();
        }
        let Ok(answer) = self.question(&format!("(get-value ({}))", names.join(" "))) else { return BTreeMap::new() };
        let pairs = parts(&answer).into_iter().map(parts);
        let values: Option<BTreeMap<String, String>> = pairs
            .map(|pair| match pair[..] {
                [name, value] => Some((name.to_owned(), value.to_owned())),
                _ => None,
            })
            .collect();
        values.unwrap_or_else(|| {
            self.breaks(not_understood(&answer));
            BTreeMap::new()
        })
    }

    /// What it says to a question, after it has understood all that comes before it.
    fn question(&mut self, question: &str) -> Result<String, String> {
        let now = Instant::now();
        let until = now.checked_add(self.time).into_iter().chain(self.until).min().unwrap_or(now) + GRACE;
        self.untold.push_str(question);
        self.untold.push('\n');
        self.process.tell(std::mem::take(&mut self.untold));
        for _ in 0..std::mem::take(&mut self.unanswered) {
            let answer = self.process.answer(until).map_err(|failure| self.fails(failure))?;
            if answer != "success" {
                return Err(self.breaks(not_understood(&answer)));
            }
        }
        self.process.answer(until).map_err(|failure| self.fails(failure))
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
        self.send(&line);
        self.lines.push(line);
    }

    fn send(&mut self, line: &str) {
        if self.broken.is_none() {
            self.untold.push_str(line);
            self.untold.push('\n');
            self.unanswered += 1;
        }
    }

    fn fails(&mut self, failure: Failure) -> String {
        self.breaks(match failure {
            Failure::Late => format!("{TIME}: it did not answer, and was ended"),
            Failure::Gone => "the solver, which has gone".to_owned(),
            Failure::Flood => "the solver, which says too much".to_owned(),
        })
    }

    /// Nothing more is asked.
    fn breaks(&mut self, why: String) -> String {
        self.process.end();
        self.broken = Some(why.clone());
        why
    }
}

/// An answer that is none, shortened.
fn not_understood(answer: &str) -> String {
    let words: String = answer.chars().take(200).collect();
    format!("what the solver said: {words}")
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
