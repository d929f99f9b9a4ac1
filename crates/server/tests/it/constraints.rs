//! Sixteen clients over the wire try to break each kind of constraint at each level: none is broken in the end, and what
//! the clients did is within their levels and the order that the constraints gave them.
//!
//! `SKEW_SEEDS=200 cargo test -p skew-server --test it constraints` for as many seeds of each kind and level;
//! `SKEW_LEVELS=si,ser` for some of the levels.

use std::collections::BTreeMap;
use std::sync::Barrier;

use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{History, Level, Scope};
use skew_server::Settings;
use skew_sql::session::Options;
use skew_store::strategies::Dice;
use skew_testing::constraints::{KINDS, Kind, filled_in};

use crate::raw::Raw;
use crate::target::{Target, settings};

const CLIENTS: u64 = 16;

const LEVELS: [Level; 10] = [
    Level::Ru,
    Level::Rc,
    Level::Ra,
    Level::Cc,
    Level::Mvrc,
    Level::Pc,
    Level::Psi,
    Level::Si,
    Level::Ser,
    Level::Sser,
];

/// What a writer may be told: a constraint, a conflict, a deadlock, and that its transaction has failed.
const ERRORS: [&str; 6] = ["23505", "23503", "23514", "40001", "40P01", "25P02"];

/// How often clients were told what.
#[derive(Default)]
struct Answers(BTreeMap<String, usize>);

impl Answers {
    /// Counts an answer; one that no writer may be told is an error.
    fn add(&mut self, answer: &str) -> Result<(), String> {
        let code = answer.split("E(").nth(1).and_then(|error| error.split(' ').next());
        let what = code.or(answer.contains("C(COMMIT)").then_some("committed"));
        what.into_iter().for_each(|what| *self.0.entry(what.to_owned()).or_default() += 1);
        if code.is_none_or(|code| ERRORS.contains(&code)) { Ok(()) } else { Err(answer.to_owned()) }
    }

    fn join(&mut self, other: Answers) {
        other.0.into_iter().for_each(|(what, count)| *self.0.entry(what).or_default() += count);
    }
}

/// A few transactions of a client, whatever comes of them.
fn write(raw: &mut Raw, kind: &Kind, dice: &mut Dice, answers: &mut Answers) -> Result<(), String> {
    for _ in 0..1 + dice.below(2) {
        raw.query("BEGIN");
        for _ in 0..1 + dice.below(3) {
            let sql = filled_in(kind.statements[dice.below(kind.statements.len())], |below| dice.below(below));
            answers.add(&raw.query(&sql)).map_err(|answer| format!("{sql}: {answer}"))?;
        }
        answers.add(&raw.query("COMMIT"))?;
    }
    Ok(())
}

/// Runs all seeds of one kind at one level, with the same clients.
fn run(kind: &Kind, level: Level, seeds: u64) -> Answers {
    let options = Options { level: Some(level), ..settings().options };
    let target = Target::with(Settings { options, ..settings() });
    let connect = || Raw::connect(target.address, &target.database);
    let mut control = connect();
    let answer = control.query(kind.setup);
    assert!(!answer.contains("E("), "{answer}");
    control.query("SELECT skew.checkpoint()");
    let gate = Barrier::new(CLIENTS as usize + 1);
    std::thread::scope(|scope| {
        // A client never panics between the gates, where the others would wait for it for ever.
        let client = |number: u64| {
            let (mut raw, mut answers, mut wrong) = (connect(), Answers::default(), Vec::new());
            for seed in 0..seeds {
                gate.wait();
                let written = write(&mut raw, kind, &mut Dice::new(seed * CLIENTS + number), &mut answers);
                wrong.extend(written.err().map(|why| format!("seed {seed}: {why}")));
                raw.query("ROLLBACK");
                gate.wait();
            }
            (answers, wrong)
        };
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || client(number))).collect();
        let mut wrong = Vec::new();
        for seed in 0..seeds {
            control.query("SELECT skew.checking(false)");
            control.query(&format!("SELECT skew.reset({seed})"));
            gate.wait();
            gate.wait();
            wrong.extend(judge(&mut control, kind).err().map(|why| format!("seed {seed}: {why}")));
        }
        let mut all = Answers::default();
        for client in clients {
            let (answers, complaints) = client.join().expect("a client ends");
            all.join(answers);
            wrong.extend(complaints);
        }
        assert!(wrong.is_empty(), "{} at {level}:\n{}", kind.name, wrong.join("\n"));
        all
    })
}

fn judge(control: &mut Raw, kind: &Kind) -> Result<(), String> {
    let history = history(control)?;
    let assumptions = Assumptions { sessions: true, real_time: true };
    let checker = Checker::new(&history, CheckOptions { assumptions, ..CheckOptions::default() });
    if checker.holds(Scope::Declared) != Some(true) {
        return Err(format!("not within its level\n{history}"));
    }
    control.query("SELECT skew.checking(true)");
    let broken = control.query(kind.broken);
    if broken.contains("C(SELECT 0)") { Ok(()) } else { Err(format!("broken: {broken}\n{history}")) }
}

/// What clients have done.
fn history(control: &mut Raw) -> Result<History, String> {
    let text = control.text("SELECT skew.history()");
    History::parse(&text).map_err(|error| format!("{error}\n{text}"))
}

#[test]
fn sixteen_clients_break_no_constraint_at_any_level() {
    let seeds = std::env::var("SKEW_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1);
    let only = std::env::var("SKEW_LEVELS").ok();
    let is_asked = |level: &Level| only.as_ref().is_none_or(|only| only.split(',').any(|id| id == level.to_string()));
    for level in LEVELS.into_iter().filter(is_asked) {
        let mut answers = Answers::default();
        KINDS.iter().for_each(|kind| answers.join(run(kind, level, seeds)));
        println!("{level}: {} kinds, {seeds} seeds: {:?}", KINDS.len(), answers.0);
        assert!(answers.0.contains_key("committed"), "{level}: nothing committed");
    }
}
