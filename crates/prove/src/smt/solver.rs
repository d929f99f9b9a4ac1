//! The solver: a child process that is told a script and asked whether it can hold.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use super::formula::Formula;
use super::process::{Answer, Failure, Process};

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

    /// How it is told to read commands, how long one question may take, and all of them.
    fn arguments(self, one: Duration, all: Option<Duration>) -> Vec<String> {
        let one = one.as_millis().max(1);
        let all = all.map(|all| all + GRACE);
        let (words, one, all) = match self {
            SolverKind::Z3 => {
                (&["-smt2", "-in"][..], format!("-t:{one}"), all.map(|all| format!("-T:{}", all.as_secs() + 1)))
            }
            SolverKind::Cvc5 => (
                &["--quiet", "--lang=smt2", "--incremental"][..],
                format!("--tlimit-per={one}"),
                all.map(|all| format!("--tlimit={}", all.as_millis())),
            ),
        };
        words.iter().map(|&word| word.to_owned()).chain([one]).chain(all).collect()
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
        let all = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let arguments = self.kind.arguments(all.map_or(self.time, |all| all.min(self.time)), all);
        let process = match Process::start(program, &arguments, self.deadline()) {
            Err(Failure::Absent(kind, words)) => return Err(NoSolver(why_not(program, kind, &words))),
            started => started.map_err(why),
        };
        let answer = Said::Unknown("nothing was asked".to_owned());
        let mut conversation = Conversation { process, solver: *self, lines: Vec::new(), answer };
        conversation.tell("(set-logic QF_LRA)".to_owned());
        Ok(conversation)
    }

    /// When one that is asked now is ended.
    fn deadline(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.time).into_iter().chain(self.until).min().unwrap_or(now) + GRACE
    }
}

fn why_not(program: &str, kind: io::ErrorKind, words: &str) -> String {
    match kind {
        io::ErrorKind::NotFound => format!(
            "{program} is not installed (Debian and Ubuntu: apt-get install {program}, macOS: brew install {program})"
        ),
        _ => format!("{program} cannot be used: {words}"),
    }
}

/// The limit that is hit most.
pub(super) const TIME: &str = "the solver's time";

/// A solver keeps its time by itself; one that does not is ended so much later.
const GRACE: Duration = Duration::from_millis(1_000);

/// A solver that is being told things.
pub struct Conversation {
    /// Or why it has been ended.
    process: Result<Process, String>,
    solver: Solver,
    /// What it was told.
    lines: Vec<String>,
    /// What it said last.
    answer: Said,
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
        self.answer = match self.question("(check-sat)".to_owned()) {
            Ok(Answer::Words(word)) if word == "sat" => Said::Sat,
            Ok(Answer::Words(word)) if word == "unsat" => Said::Unsat,
            Ok(Answer::Words(word)) if ["unknown", "timeout"].contains(&word.as_str()) => {
                Said::Unknown(TIME.to_owned())
            }
            Ok(other) => Said::Unknown(self.breaks(not_understood(&other))),
            Err(why) => Said::Unknown(why),
        };
        self.answer.clone()
    }

    /// What names stand for, after [`Said::Sat`].
    pub fn values(&mut self, names: &[String]) -> BTreeMap<String, String> {
        if names.is_empty() {
            return BTreeMap::new();
        }
        match self.question(format!("(get-value ({}))", names.join(" "))) {
            Ok(Answer::Values(values)) => values.into_iter().collect(),
            Ok(other) => {
                self.breaks(not_understood(&other));
                BTreeMap::new()
            }
            Err(_) => BTreeMap::new(),
        }
    }

    /// What it says to a question, if it has understood all that comes before it.
    fn question(&mut self, question: String) -> Result<Answer, String> {
        let process = self.process.as_ref().map_err(String::clone)?;
        if self.solver.is_over() {
            return Err(TIME.to_owned());
        }
        process.ask(question, self.solver.deadline()).map_err(|failure| self.breaks(why(failure)))
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
        if let Ok(process) = &self.process {
            process.tell(line.clone());
        }
        self.lines.push(line);
    }

    /// It is ended, and nothing more is asked.
    fn breaks(&mut self, why: String) -> String {
        self.process = Err(why.clone());
        why
    }
}

/// Why there is no answer.
fn why(failure: Failure) -> String {
    match failure {
        Failure::Late => format!("{TIME}: it did not answer, and was ended"),
        Failure::Gone => "the solver, which has gone".to_owned(),
        Failure::Puzzled(said) | Failure::Absent(_, said) => not_understood(&Answer::Words(said)),
    }
}

/// An answer that is none, shortened.
fn not_understood(answer: &Answer) -> String {
    let said = match answer {
        Answer::Words(words) => words.chars().take(200).collect(),
        Answer::Values(values) => format!("values of {} names", values.len()),
    };
    format!("what the solver said: {said}")
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
