//! A run that failed, in words: what failed, how to make the run again, the anomaly behind it, and the history.

use std::fmt;
use std::path::PathBuf;

use skew_check::check;
use skew_model::{History, Level, Outcome, Status, Verdict, Witness};
use skew_report::{Report, Style, text_with_fixes};
use skew_store::replay::Recording;
use skew_store::{Failure, Run};

use crate::{advice, regressions};

/// How the run came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// It is one of many.
    Random { number: u64, runs: u64, seed: u64 },
    /// It was made again from its recording.
    Replay,
    /// It failed before, and was kept.
    Kept,
    /// It is one of all.
    Explored { number: u64 },
}

/// A run that failed. As text it is what a failing test prints.
pub struct Counterexample {
    /// Why it failed.
    pub failure: Failure,
    /// What its transactions did.
    pub history: History,
    /// Whether that is serializable, with the anomaly if it is not.
    pub verdict: Verdict,
    /// The run, to be made again.
    pub recording: Recording,
    /// The run step by step, to be replayed without the program; `skew replay` takes it as a file.
    pub witness: Witness,
    origin: Origin,
    /// Whether the program did the same when the run was made again.
    pub(crate) determinism: Determinism,
}

/// Whether a program does the same with the same choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Determinism {
    /// It did, or was not asked.
    Repeats,
    /// It did something else.
    Differs,
}

impl Counterexample {
    /// The counterexample that a run is, if it failed.
    pub(crate) fn of(made: &Run, origin: Origin) -> Option<Counterexample> {
        let failure = made.failure.clone()?;
        // Printed and read again, so that every transaction has its line in the text that is shown.
        let text = made.history().to_string();
        let history = History::parse(&text).expect("a history that was printed can be read");
        let verdict = check(&history, Level::Ser);
        let anomaly = verdict.violation().map(|violation| violation.anomaly);
        let (recording, witness) = (made.recording(), Witness { anomaly, ..made.witness() });
        let determinism = Determinism::Repeats;
        Some(Counterexample { failure, history, verdict, recording, witness, origin, determinism })
    }

    /// Ends the test with this as the message. If `SKEW_WITNESS` names a folder, the witness is written there, under the
    /// name of the test.
    #[track_caller]
    pub(crate) fn fail(&self) -> ! {
        let kept = regressions::keep(&self.recording).map_or_else(String::new, |words| format!("\n{words}\n"));
        match self.write_witness() {
            None => panic!("{self}{kept}"),
            Some(Ok(file)) => panic!("{self}{kept}\nwitness: skew replay {file}\n"),
            Some(Err(why)) => panic!("{self}{kept}\nthe witness could not be written: {why}\n"),
        }
    }

    fn write_witness(&self) -> Option<Result<String, String>> {
        let folder = PathBuf::from(std::env::var_os("SKEW_WITNESS")?);
        let thread = std::thread::current();
        let name: String = thread.name().unwrap_or("witness").replace("::", "-");
        let file = folder.join(format!("{name}.json"));
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&file, skew_formats::witness::write(&self.witness)));
        let shown = file.display().to_string();
        Some(written.map(|()| shown.clone()).map_err(|error| format!("{shown}: {error}")))
    }

    fn why(&self) -> String {
        match &self.verdict.outcome {
            Outcome::Holds(_) if self.has_rolled_back() => {
                "What was committed in this run is serializable; what was rolled back is not looked at.\n".to_owned()
            }
            Outcome::Holds(_) => {
                "This run is serializable: the program is wrong even where transactions run one after the other.\n"
                    .to_owned()
            }
            Outcome::Violated(_) | Outcome::Unknown(_) => self.report(),
        }
    }

    fn has_rolled_back(&self) -> bool {
        self.history.txns().iter().any(|txn| txn.status == Status::Aborted)
    }

    fn report(&self) -> String {
        let lines: Vec<String> = self.history.to_string().lines().map(str::to_owned).collect();
        let report = Report {
            file: FILE.to_owned(),
            command: format!("skew check {FILE}"),
            history: &self.history,
            verdicts: vec![self.verdict.clone()],
            source_line: &|_, line| lines.get(line.checked_sub(1)? as usize).cloned(),
            notes: Vec::new(),
            show_witness: false,
        };
        text_with_fixes(&report, Style::default(), &advice::for_keys)
    }
}

/// What the history is called in commands.
const FILE: &str = "run.hist";

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.failure)?;
        let level = self.recording.level;
        match self.origin {
            Origin::Random { number, runs, seed } => {
                writeln!(f, "in run {number} of {runs} at {level}, seed {seed}")?;
            }
            Origin::Explored { number } => writeln!(f, "in history {number} that was explored at {level}")?,
            Origin::Kept => writeln!(f, "in a run at {level} that failed before and was kept")?,
            Origin::Replay => writeln!(f, "in a run at {level} that was made again")?,
        }
        writeln!(f, "replay: skew::replay(\"{}\", …)\n", self.recording)?;
        if self.determinism == Determinism::Differs {
            writeln!(
                f,
                "The program is not deterministic: with the same choices it did something else the second time, so the \
                 string above possibly does not repeat the run. Look for clocks, random numbers, the order of hash maps \
                 and threads of its own.\n"
            )?;
        }
        writeln!(f, "{}", self.why())?;
        write!(f, "The history, as {FILE}:\n{}", self.history)
    }
}
