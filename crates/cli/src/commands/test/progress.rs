//! What is said while a campaign runs: a bar on a terminal, a line now and then in a log, and how long it will take.

use std::io::{self, IsTerminal, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skew_campaign::{Event, Plan};

/// How long a log hears nothing.
const SILENCE: Duration = Duration::from_secs(10);

/// A bar on a terminal, a line now and then in a log.
pub(super) struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
    /// No lines for a log: a bar says it, or nothing is to be said.
    is_silent: bool,
}

struct State {
    estimate: Estimate,
    failed: u64,
    /// When the log was told something last.
    said: Instant,
}

/// How long the runs that are left will take: as long as those that were made, by the time in which runs were made. The
/// time in which a failure was repeated and explained belongs to no run.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    planned: u64,
    done: u64,
    /// The time in which runs were made.
    running: Duration,
    /// When something last happened.
    last: Instant,
    /// No run begins after this moment.
    deadline: Option<Instant>,
}

impl Estimate {
    fn new(planned: u64, deadline: Option<Instant>, now: Instant) -> Estimate {
        Estimate { planned, done: 0, running: Duration::ZERO, last: now, deadline }
    }

    /// A run has ended.
    fn ran(&mut self, now: Instant) {
        self.done += 1;
        self.running += now.saturating_duration_since(self.last);
        self.last = now;
    }

    /// Something else was done than a run of the campaign.
    fn passed_over(&mut self, now: Instant) {
        self.last = now;
    }

    /// How long the runs that are left will take; `None` before the first one.
    fn left(&self, now: Instant) -> Option<Duration> {
        let each = self.running.checked_div(u32::try_from(self.done).ok().filter(|done| *done > 0)?)?;
        let runs = self.planned.saturating_sub(self.done);
        let by_runs = each.checked_mul(u32::try_from(runs).unwrap_or(u32::MAX)).unwrap_or(Duration::MAX);
        let by_deadline = self.deadline.map(|deadline| deadline.saturating_duration_since(now) + each);
        Some(by_deadline.map_or(by_runs, |left| left.min(by_runs)))
    }

    fn words(&self, now: Instant) -> String {
        match self.left(now) {
            None => "time not known yet".to_owned(),
            Some(left) if left.as_secs() >= 120 => format!("about {} min left", left.as_secs().div_ceil(60)),
            Some(left) => format!("about {} s left", left.as_secs_f64().ceil()),
        }
    }
}

impl Progress {
    pub(super) fn new(plan: &Plan, is_quiet: bool) -> Progress {
        let planned = match plan.shard {
            None => plan.runs,
            Some((number, count)) => (plan.runs + u64::from(count) - u64::from(number)) / u64::from(count),
        };
        let is_terminal = io::stderr().is_terminal();
        let target = if is_terminal && !is_quiet { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(planned), target);
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} runs, {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message("first at serializable");
        let now = Instant::now();
        let state = State { estimate: Estimate::new(planned, plan.deadline, now), failed: 0, said: now };
        Progress { bar, state: Mutex::new(state), is_silent: is_terminal || is_quiet }
    }

    /// Prints something that stays above the bar.
    pub(super) fn pause(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    pub(super) fn event(&self, event: Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match event {
            Event::Baseline(_) | Event::Explained(..) => {
                state.estimate.passed_over(now);
                self.bar.tick();
            }
            Event::Run(run) => {
                state.estimate.ran(now);
                state.failed += u64::from(!run.outcome.passed());
                let words = format!("{} failed, {}", state.failed, state.estimate.words(now));
                self.bar.set_message(words.clone());
                self.bar.inc(1);
                let (done, planned) = (state.estimate.done, state.estimate.planned);
                self.log(&mut state, now, || format!("{done} of {planned} runs, {words}"));
            }
            Event::Repeated(times) => {
                state.estimate.passed_over(now);
                let words = format!(
                    "the failure is being explained: {times} reruns so far; then {} for the other runs",
                    state.estimate.words(now).trim_end_matches(" left")
                );
                self.bar.set_message(words.clone());
                self.bar.tick();
                self.log(&mut state, now, || words);
            }
        }
    }

    /// Says something to a log, unless it has just heard something.
    fn log(&self, state: &mut State, now: Instant, words: impl FnOnce() -> String) {
        if !self.is_silent && now.saturating_duration_since(state.said) > SILENCE {
            state.said = now;
            // The log may be closed.
            let _ = writeln!(io::stderr(), "{}", words());
        }
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_runs_and_not_of_explaining() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut estimate = Estimate::new(10, None, start);
        assert_eq!(estimate.left(at(0)), None);
        estimate.ran(at(2));
        estimate.ran(at(4));
        assert_eq!(estimate.left(at(4)), Some(Duration::from_secs(16)));
        for second in 5..100 {
            estimate.passed_over(at(second));
        }
        assert_eq!(estimate.left(at(100)), Some(Duration::from_secs(16)));
        estimate.ran(at(101));
        assert_eq!(estimate.words(at(101)), "about 14 s left");
    }

    #[test]
    fn no_run_begins_after_the_deadline() {
        let start = Instant::now();
        let mut estimate = Estimate::new(1_000_000, Some(start + Duration::from_secs(10)), start);
        estimate.ran(start + Duration::from_secs(1));
        assert_eq!(estimate.left(start + Duration::from_secs(1)), Some(Duration::from_secs(10)));
    }
}
