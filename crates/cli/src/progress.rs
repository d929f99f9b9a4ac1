//! Progress of long work, on standard error: a bar on a terminal, a plain line now and then in a log, nothing on short
//! work.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work stays silent, and how often a log hears of it.
const PATIENCE: Duration = Duration::from_secs(2);
const LOG_EVERY: Duration = Duration::from_secs(15);

/// Files smaller than this are read before anyone could look.
const SMALL_FILE: u64 = 16 << 20;

pub(crate) struct Progress {
    terminal: bool,
    bar: RefCell<Option<ProgressBar>>,
    next_line: Cell<Instant>,
    what: RefCell<String>,
    total: Cell<u64>,
    done: Cell<u64>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Progress {
            terminal: io::stderr().is_terminal(),
            bar: RefCell::new(None),
            next_line: Cell::new(Instant::now() + PATIENCE),
            what: RefCell::default(),
            total: Cell::new(0),
            done: Cell::new(0),
        }
    }

    /// A file of this many bytes is being read.
    pub(crate) fn reading(&self, name: &str, bytes: u64) {
        self.done.set(0);
        self.total.set(bytes);
        self.begin(format!("reading {name}"));
        if self.terminal && bytes >= SMALL_FILE {
            let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes}, {eta} left");
            bar.set_style(style.expect("the template is well-formed"));
            bar.set_message(self.what.borrow().clone());
            self.bar.replace(Some(bar));
        }
    }

    /// So many more bytes are done.
    pub(crate) fn advance(&self, bytes: u64) {
        self.done.set(self.done.get() + bytes);
        if let Some(bar) = &*self.bar.borrow() {
            bar.inc(bytes);
        } else if !self.terminal {
            self.log(|| format!("{} % read", self.done.get() * 100 / self.total.get().max(1)));
        }
    }

    /// The next piece of work, of unknown length.
    pub(crate) fn begin(&self, what: String) {
        self.clear();
        if self.terminal && !what.starts_with("reading") {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            bar.set_style(style.expect("the template is well-formed"));
            bar.set_message(what.clone());
            bar.enable_steady_tick(Duration::from_millis(200));
            self.bar.replace(Some(bar));
        }
        self.what.replace(what);
        if !self.terminal {
            self.log(|| "…".to_owned());
        }
    }

    /// Takes the bar off the screen.
    pub(crate) fn clear(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn log(&self, detail: impl Fn() -> String) {
        if Instant::now() >= self.next_line.get() {
            eprintln!("skew: {} {}", self.what.borrow(), detail());
            self.next_line.set(Instant::now() + LOG_EVERY);
        }
    }
}
