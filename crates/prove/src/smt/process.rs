//! The solver's process: told lines, it answers with expressions, and it is ended if it does not.
//!
//! Nothing here waits for the process itself: one thread writes what it is told, another one reads what it says, and who
//! asks waits for their channel until a deadline. Both threads end with the process, because their pipes do.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};

/// So much is read at a time, and so many pieces wait: a solver that floods us has to wait, too.
const PIECE: usize = 64 << 10;
const MOST_PIECES: usize = 8;
/// No answer is longer.
const LONGEST: usize = 8 << 20;

/// A solver that runs. It is ended when this is dropped.
pub(super) struct Process {
    child: Child,
    told: Sender<String>,
    said: Receiver<Vec<u8>>,
    /// What was said and not looked at yet.
    rest: Vec<u8>,
    has_ended: bool,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// It has not answered in time.
    Late,
    /// It has ended.
    Gone,
    /// It says more than anybody asked for.
    Flood,
}

impl Process {
    /// Starts it, in a group of its own: what it starts itself ends with it.
    pub(super) fn start(mut command: Command) -> io::Result<Process> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn()?;
        let (mut input, mut output) = match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => (input, output),
            _ => return Err(io::Error::other("it has no pipes")),
        };
        let (told, to_tell) = channel::<String>();
        std::thread::spawn(move || {
            for text in to_tell {
                if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        });
        let (saying, said) = sync_channel(MOST_PIECES);
        std::thread::spawn(move || {
            let mut piece = vec![0; PIECE];
            while let Ok(count @ 1..) = output.read(&mut piece) {
                if saying.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Ok(Process { child, told, said, rest: Vec::new(), has_ended: false })
    }

    /// Tells it something. Whether it has listened its answers show.
    pub(super) fn tell(&self, text: String) {
        let _ = self.told.send(text);
    }

    /// The next expression that it says.
    pub(super) fn answer(&mut self, until: Instant) -> Result<String, Failure> {
        loop {
            if let Some(expression) = take_expression(&mut self.rest) {
                return Ok(expression);
            }
            if self.rest.len() > LONGEST {
                return Err(Failure::Flood);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::Late);
            }
            match self.said.recv_timeout(left) {
                Ok(piece) => self.rest.extend(piece),
                Err(RecvTimeoutError::Timeout) => return Err(Failure::Late),
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Gone),
            }
        }
    }

    /// Ends it.
    pub(super) fn end(&mut self) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        // It may have ended by itself, but its number is its own until it was waited for.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Takes the first expression off the front, if all of it is there. White space in it becomes single spaces.
fn take_expression(bytes: &mut Vec<u8>) -> Option<String> {
    let begin = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    bytes.drain(..begin);
    let end = expression_end(bytes)?;
    let text = String::from_utf8_lossy(&bytes[..end]).split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    bytes.drain(..end);
    Some(text)
}

/// Where the expression at the front ends; `None` if it may go on.
fn expression_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, &byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'|') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') if depth <= 1 => return Some(at + 1),
            (None, b')') => depth -= 1,
            (None, byte) if depth == 0 && byte.is_ascii_whitespace() => return Some(at),
            _ => {}
        }
    }
    None
}

/// The parts of an expression in parentheses.
pub(super) fn parts(expression: &str) -> Vec<&str> {
    let inner = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let Some(mut rest) = inner.map(str::trim) else { return Vec::new() };
    let mut found = Vec::new();
    while !rest.is_empty() {
        let end = expression_end(rest.as_bytes()).unwrap_or(rest.len());
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command).expect("there is a shell")
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(300)
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn expressions_are_read_one_after_the_other() {
        let mut process = shell(r#"printf 'success\nsat\n((a\n  (- 1.0)) (b "x) |"))\n(error "a (b")\n'"#);
        let said: Vec<String> = (0..4).map(|_| process.answer(later()).expect("it is said")).collect();
        assert_eq!(said, ["success", "sat", r#"((a (- 1.0)) (b "x) |"))"#, r#"(error "a (b")"#]);
        assert_eq!(parts(&said[2]), ["(a (- 1.0))", r#"(b "x) |")"#]);
        assert_eq!(process.answer(later()), Err(Failure::Gone));
    }

    #[test]
    fn who_does_not_answer_is_late_and_ends_with_all_that_it_has_started() {
        let mut process = shell("sleep 1000; echo sat");
        // More than a pipe holds: who tells does not wait either.
        process.tell("(assert true)\n".repeat(100_000));
        assert_eq!(process.answer(soon()), Err(Failure::Late));
        let pid = process.child.id();
        process.end();
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "a process is left");
        // Only who holds its pipes could still say something: its own sleep does not.
        assert_eq!(process.answer(later()), Err(Failure::Gone));
    }

    #[test]
    fn who_floods_us_is_stopped() {
        let failure = shell("while true; do printf 'xxxxxxxxxxxxxxxx'; done").answer(soon());
        assert!(matches!(failure, Err(Failure::Late | Failure::Flood)), "{failure:?}");
        assert_eq!(shell("yes '(' ").answer(later()), Err(Failure::Flood));
        assert_eq!(shell("yes '' ").answer(soon()), Err(Failure::Late));
        assert_eq!(shell("yes garbage").answer(later()), Ok("garbage".to_owned()));
    }
}
