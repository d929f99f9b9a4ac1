//! The command under test: started, read, stopped.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use skew_model::campaign::RunOutcome;

/// So much of what a command prints is kept: its end.
const KEPT: usize = 64 << 10;
/// How long the last words of a command may take to arrive after its end.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// How often one looks whether the whole campaign is to stop.
const GLANCE: Duration = Duration::from_millis(100);

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How.
    pub outcome: RunOutcome,
    /// The end of what it printed, on either stream.
    pub output: String,
    /// How long it took.
    pub took: Duration,
    /// Whether it was stopped because everything is to stop.
    pub is_interrupted: bool,
}

/// Runs a command to its end, or until it is late.
pub fn run(
    command: &[String],
    environment: &[(&'static str, String)],
    timeout: Duration,
    stop: &AtomicBool,
    before_kill: impl FnOnce(),
) -> io::Result<Ended> {
    let started = Instant::now();
    let (mut reader, writer) = io::pipe()?;
    let (program, arguments) = command.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
    let mut child = Command::new(program);
    child.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    child.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let mut started_child = child.spawn()?;
    let group = group_of(&started_child);
    running().extend(group);
    // What is left of the pipe's other end belongs to the child alone.
    drop(child);
    let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
    let (said, has_said) = mpsc::channel();
    let tail = Arc::clone(&kept);
    std::thread::spawn(move || {
        let mut buffer = [0; 8 << 10];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            keep(&tail, &buffer[..count]);
        }
        // Nobody may be waiting any more.
        let _ = said.send(());
    });
    let (status, was_late, is_interrupted) = wait(&mut started_child, group, started + timeout, stop, before_kill)?;
    let took = started.elapsed();
    // Whatever it has started and left behind.
    kill(group);
    running().retain(|other| Some(*other) != group);
    let _ = has_said.recv_timeout(LAST_WORDS);
    let output = String::from_utf8_lossy(&kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
    let outcome = match (was_late, status.code(), status.signal()) {
        (true, ..) => RunOutcome::TimedOut,
        (_, Some(0), _) => RunOutcome::Passed,
        (_, Some(code), _) => RunOutcome::Failed(code),
        (_, None, signal) => RunOutcome::Killed(signal.unwrap_or(0)),
    };
    Ok(Ended { outcome, output, took, is_interrupted })
}

fn wait(
    child: &mut Child,
    group: Option<Pid>,
    deadline: Instant,
    stop: &AtomicBool,
    before_kill: impl FnOnce(),
) -> io::Result<(ExitStatus, bool, bool)> {
    std::thread::scope(|scope| {
        let (sender, ended) = mpsc::channel();
        scope.spawn(move || {
            // Nobody may be waiting any more.
            let _ = sender.send(child.wait());
        });
        let (mut was_late, mut is_interrupted) = (false, false);
        loop {
            match ended.recv_timeout(GLANCE.min(deadline.saturating_duration_since(Instant::now()))) {
                Ok(status) => return status.map(|status| (status, was_late, is_interrupted)),
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the command was lost")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            was_late = was_late || Instant::now() >= deadline;
            is_interrupted = is_interrupted || stop.load(Ordering::SeqCst);
            if was_late || is_interrupted {
                before_kill();
                kill(group);
                return ended.recv().map_err(io::Error::other)?.map(|status| (status, was_late, is_interrupted));
            }
        }
    })
}

fn group_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Stops every command that is running: for whoever ends this process at once.
pub fn stop_all() {
    running().iter().for_each(|group| kill(Some(*group)));
}

/// The commands that are running. They are in groups of their own, so that a terminal's Ctrl-C does not reach them.
fn running() -> MutexGuard<'static, Vec<Pid>> {
    static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn keep(kept: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.extend_from_slice(bytes);
    if kept.len() > 2 * KEPT {
        let excess = kept.len() - KEPT;
        kept.drain(..excess);
    }
}
