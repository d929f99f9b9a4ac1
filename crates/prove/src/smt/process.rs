//! The solver's process, spoken to through `easy-smt`, and ended if it does not answer.
//!
//! `easy-smt` waits for every answer as long as it takes. So a thread of its own holds the context, is told commands and
//! questions, and passes on what is said; who asks waits for its channel until a deadline, and then kills the process,
//! which ends the thread. Where `/proc` does not tell which process that is, the solver ends by the limit that it was given.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use easy_smt::{Context, ContextBuilder, SExpr};
use rustix::process::{Pid, Signal, kill_process};

/// A solver that runs. It is ended when this is dropped.
pub(super) struct Process {
    told: Sender<Told>,
    said: Receiver<Result<Answer, Failure>>,
    thread: JoinHandle<()>,
    /// Where the system tells about the thread.
    place: Option<PathBuf>,
}

/// What a solver is told.
enum Told {
    /// It has to say that it has understood.
    Command(String),
    /// It has to answer.
    Question(String),
}

/// What a solver says to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Names, and what they stand for.
    Values(Vec<(String, String)>),
    /// Anything else.
    Words(String),
}

/// Why there is no answer.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// It cannot be started.
    Absent(io::ErrorKind, String),
    /// It has not answered in time.
    Late,
    /// It has ended.
    Gone,
    /// It did not understand a command, and what it said instead.
    Puzzled(String),
}

impl Process {
    /// Starts it; it has to be ready at a deadline.
    pub(super) fn start(program: &str, arguments: &[String], until: Instant) -> Result<Process, Failure> {
        let mut builder = ContextBuilder::new();
        builder.solver(program).solver_args(arguments);
        let (told, to_tell) = channel();
        let (saying, said) = channel();
        let (telling, told_place) = channel();
        let thread = std::thread::spawn(move || {
            let _ = telling.send(std::fs::canonicalize("/proc/thread-self").ok());
            match builder.build() {
                Ok(mut context) => {
                    let ready = Answer::Words("ready".to_owned());
                    if saying.send(Ok(ready)).is_ok() {
                        converse(&mut context, to_tell, &saying);
                    }
                }
                Err(error) => drop(saying.send(Err(why_not_ready(&error)))),
            }
        });
        let place = told_place.recv().ok().flatten();
        let process = Process { told, said, thread, place };
        process.heard(until).map(|_| process)
    }

    /// Tells it something. Whether it has understood shows at the next question.
    pub(super) fn tell(&self, command: String) {
        let _ = self.told.send(Told::Command(command));
    }

    /// What it says to a question.
    pub(super) fn ask(&self, question: String, until: Instant) -> Result<Answer, Failure> {
        let _ = self.told.send(Told::Question(question));
        self.heard(until)
    }

    fn heard(&self, until: Instant) -> Result<Answer, Failure> {
        self.said.recv_timeout(until.saturating_duration_since(Instant::now())).unwrap_or_else(|error| {
            Err(match error {
                RecvTimeoutError::Timeout => Failure::Late,
                RecvTimeoutError::Disconnected => Failure::Gone,
            })
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Who waits for a process has not ended: until then the process's number is its own.
        if !self.thread.is_finished() {
            self.place.iter().for_each(|place| kill_children(place));
        }
    }
}

/// Kills what a thread has started, and what that has started.
fn kill_children(thread: &Path) {
    let listed = std::fs::read_to_string(thread.join("children")).unwrap_or_default();
    for child in listed.split_whitespace().filter_map(|number| number.parse().ok()).filter_map(Pid::from_raw) {
        let threads = std::fs::read_dir(format!("/proc/{child}/task")).into_iter().flatten().flatten();
        threads.for_each(|thread| kill_children(&thread.path()));
        let _ = kill_process(child, Signal::KILL);
    }
}

/// Passes on what the solver says, until it is told nothing more or has failed.
fn converse(context: &mut Context, to_tell: Receiver<Told>, saying: &Sender<Result<Answer, Failure>>) {
    let mut failure = None;
    for told in to_tell {
        match told {
            Told::Command(_) if failure.is_some() => {}
            Told::Command(command) => {
                failure = told_and_said(context, command).and_then(|said| success(context, said)).err()
            }
            Told::Question(question) => {
                let answer = match failure.take() {
                    Some(failure) => Err(failure),
                    None => told_and_said(context, question).map(|said| answer(context, said)),
                };
                if saying.send(answer).is_err() {
                    return;
                }
            }
        }
    }
}

/// What is said to a text of SMT-LIB.
fn told_and_said(context: &mut Context, text: String) -> Result<SExpr, Failure> {
    let text = context.atom(text);
    context.raw_send(text).and_then(|()| context.raw_recv()).map_err(|_| Failure::Gone)
}

fn success(context: &Context, said: SExpr) -> Result<(), Failure> {
    match context.get_atom(said) {
        Some("success") => Ok(()),
        _ => Err(Failure::Puzzled(context.display(said).to_string())),
    }
}

fn answer(context: &Context, said: SExpr) -> Answer {
    let text = |part: SExpr| context.display(part).to_string();
    let pair = |&part: &SExpr| match context.get_list(part)? {
        &[name, value] => Some((text(name), text(value))),
        _ => None,
    };
    let values = context.get_list(said).and_then(|parts| parts.iter().map(pair).collect());
    values.map_or_else(|| Answer::Words(text(said)), Answer::Values)
}

/// Only what the system says has an error's number; what the solver says does not.
fn why_not_ready(error: &io::Error) -> Failure {
    match (error.raw_os_error(), error.kind()) {
        (Some(_), io::ErrorKind::BrokenPipe) => Failure::Gone,
        (Some(_), kind) => Failure::Absent(kind, error.to_string()),
        (None, _) => match error.to_string().strip_prefix("Unexpected result from solver: ") {
            Some(said) => Failure::Puzzled(said.to_owned()),
            None => Failure::Gone,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shell(script: &str, until: Instant) -> Result<Process, Failure> {
        Process::start("sh", &["-c".to_owned(), script.to_owned()], until)
    }

    fn within(milliseconds: u64) -> Instant {
        Instant::now() + Duration::from_millis(milliseconds)
    }

    #[test]
    fn answers_come_one_after_the_other() {
        let script =
            r#"printf 'success\nsuccess\nsuccess\nsat\n((a\n  (- 1.0)) (b "x) |"))\n(error "a (b")\n'; cat >/dev/null"#;
        let process = shell(script, within(60_000)).expect("it says that it is ready");
        process.tell("(assert true)".to_owned());
        let ask = |question: &str| process.ask(question.to_owned(), within(60_000));
        assert_eq!(ask("(check-sat)"), Ok(Answer::Words("sat".to_owned())));
        let values = [("a", "(- 1.0)"), ("b", r#""x) |""#)].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(ask("(get-value (a b))"), Ok(Answer::Values(values.to_vec())));
        assert_eq!(ask("(check-sat)"), Ok(Answer::Words(r#"(error "a (b")"#.to_owned())));
    }

    #[test]
    fn who_has_not_understood_is_asked_nothing_more() {
        let script = r#"printf 'success\nsuccess\n(error "what?")\nsuccess\nsat\n'; cat >/dev/null"#;
        let process = shell(script, within(60_000)).expect("it says that it is ready");
        process.tell("(assert x)".to_owned());
        process.tell("(assert true)".to_owned());
        let puzzled = Err(Failure::Puzzled(r#"(error "what?")"#.to_owned()));
        assert_eq!(process.ask("(check-sat)".to_owned(), within(60_000)), puzzled);
    }

    #[test]
    fn who_does_not_answer_is_late_and_killed() {
        // It starts somebody else, who holds its pipes.
        let process = shell("echo success; echo success; sleep 1000; sleep 1", within(60_000)).expect("it is ready");
        // More than a pipe holds: who tells does not wait.
        process.tell("(assert true)".repeat(100_000));
        assert_eq!(process.ask("(check-sat)".to_owned(), within(300)), Err(Failure::Late));
        let place = process.place.clone();
        let Some(place) = place.filter(|place| place.join("children").exists()) else {
            return skew_testing::skip("there is no /proc");
        };
        drop(process);
        let gave_up = within(60_000);
        while place.exists() {
            assert!(Instant::now() < gave_up, "the thread still waits for its process");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn who_is_not_there_or_not_ready_is_told_apart() {
        let failure = |script: &str, time: u64| shell(script, within(time)).map(|_| ()).expect_err("it is not ready");
        assert_eq!(failure("exec sleep 1000", 300), Failure::Late);
        assert_eq!(failure("exit 3", 60_000), Failure::Gone);
        assert_eq!(failure("exec yes garbage", 60_000), Failure::Puzzled("garbage".to_owned()));
        let absent = Process::start("no such program", &[], within(60_000)).map(|_| ());
        assert!(matches!(absent, Err(Failure::Absent(io::ErrorKind::NotFound, _))), "{absent:?}");
    }
}
