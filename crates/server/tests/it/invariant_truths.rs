//! Small applications whose invariants were tried on a PostgreSQL, called by clients of a weak server: what was violated there
//! with some calls, the server shows with the same calls and some seed; what holds there, it never breaks. The applications
//! are beside the project.
//!
//! Every violation has to be shown within [`SEEDS`] seeds; `SKEW_SEEDS=3000` tries as many of each. A violation that the
//! definitions of `si` and `ser` exclude is shown with `--choice postgres`: there a key that one transaction deletes and a
//! concurrent one inserts is no conflict.

use std::collections::{BTreeMap, BTreeSet};

use skew_server::Settings;
use skew_sql::explore::Client;
use skew_sql::session::{ChoiceKind, Options};
use skew_testing::truths::{Truth, definitions, folder, single_calls, truths};

use crate::raw::Raw;
use crate::target::{Target, settings};

/// Within so many seeds everything is broken that can be.
const SEEDS: u64 = 1_000;
/// The violations that PostgreSQL shows and the definitions exclude: an application and the levels of its programs.
const EXCLUDED_BY_DEFINITION: [(&str, &str); 2] =
    [("friends_symmetric", "RR"), ("friends_symmetric", "befriend SER, unfriend RC")];
/// So many seeds of each pair of calls must not break what holds.
const SEEDS_OF_PAIRS: u64 = 2;

/// A server with an application.
struct Served {
    target: Target,
    control: Raw,
    /// The names of the procedures; others are functions.
    procedures: BTreeSet<String>,
    /// The queries of invariants, and those of values that never go down.
    invariants: Vec<String>,
    monotone: Vec<String>,
    /// The level of each program; `None` stands for the others.
    levels: BTreeMap<Option<String>, &'static str>,
}

fn level(word: &str) -> &'static str {
    match word {
        "RC" => "READ COMMITTED",
        "RR" => "REPEATABLE READ",
        "SER" => "SERIALIZABLE",
        other => panic!("{other} is no level"),
    }
}

impl Served {
    fn load(text: &str, truths: &[Truth], levels: &str, choice: ChoiceKind) -> Served {
        let target = Target::with(Settings { options: Options { choice, ..Options::default() }, ..settings() });
        let mut control = Raw::connect(target.address, &target.database);
        let answer = control.query(text);
        assert!(!answer.contains("E("), "{answer}");
        control.query("SELECT skew.checkpoint()");
        let names = control.text("SELECT string_agg(proname, ' ') FROM pg_proc WHERE prokind = 'p'");
        let levels = match levels.contains(' ') {
            false => BTreeMap::from([(None, level(levels))]),
            true => levels
                .split(", ")
                .map(|part| part.split_once(' ').expect("a program and its level"))
                .map(|(program, word)| (Some(program.to_owned()), level(word)))
                .collect(),
        };
        let broken = || truths.iter().map(|truth| truth.broken.as_str());
        let monotone = broken().filter_map(|broken| broken.strip_suffix(" goes down")).map(str::to_owned).collect();
        let invariants = broken().filter(|broken| broken.ends_with("()")).map(str::to_owned).collect();
        let procedures = names.split(' ').map(str::to_owned).collect();
        Served { target, control, procedures, invariants, monotone, levels }
    }

    fn transaction(&self, call: &str) -> [String; 3] {
        let name = call.split('(').next().unwrap_or_default().trim().to_owned();
        let verb = if self.procedures.contains(&name) { "CALL" } else { "SELECT" };
        let level = self.levels.get(&Some(name)).or(self.levels.get(&None)).unwrap_or(&"READ COMMITTED");
        [format!("BEGIN ISOLATION LEVEL {level}"), format!("{verb} {call}"), "COMMIT".to_owned()]
    }

    /// What is broken when the sessions of a client run beside each other once.
    fn run(&mut self, client: &str, seed: u64) -> BTreeSet<String> {
        let client = Client::parse(client).expect("a client");
        self.control.query(&format!("SELECT skew.reset({seed})"));
        let served = &*self;
        let mut broken = BTreeSet::new();
        std::thread::scope(|scope| {
            let session = |calls: &[String]| {
                let mut raw = Raw::connect(served.target.address, &served.target.database);
                let mut found = BTreeSet::new();
                for sql in calls.iter().flat_map(|call| served.transaction(call)) {
                    found.extend(failed_assertion(&raw.query(&sql)));
                }
                let state = served.state(&mut raw);
                (found, raw, state)
            };
            let sessions: Vec<_> =
                client.sessions.iter().map(|(_, calls)| scope.spawn(move || session(calls))).collect();
            let ended: Vec<_> = sessions.into_iter().map(|session| session.join().expect("a session ends")).collect();
            for (found, mut raw, state) in ended {
                broken.extend(found);
                broken.extend(served.broken_since(&state, &served.state(&mut raw)));
            }
        });
        broken
    }

    /// The values of the invariants and of what never goes down, as a statement of READ COMMITTED sees them: in one
    /// committed state.
    fn state(&self, raw: &mut Raw) -> Vec<String> {
        let queries = self.invariants.iter().chain(&self.monotone);
        let columns: Vec<String> = queries.map(|query| format!("({query})::text")).collect();
        let text = raw.text(&format!("SELECT array_to_string(ARRAY[{}]::text[], ' ')", columns.join(", ")));
        text.split(' ').map(str::to_owned).collect()
    }

    /// What is broken in one of two states that a session has seen, or has gone down from one to the other.
    fn broken_since(&self, before: &[String], now: &[String]) -> Vec<String> {
        let pairs = || before.iter().zip(now);
        let is_broken = |(before, now): (&String, &String)| before == "false" || now == "false";
        let invariants = self.invariants.iter().zip(pairs()).filter(|(_, pair)| is_broken(*pair));
        let number = |text: &String| text.parse::<f64>().unwrap_or_default();
        let values = self.monotone.iter().zip(pairs().skip(self.invariants.len()));
        let gone_down = values.filter(|(_, (before, now))| number(now) < number(before));
        let invariants = invariants.map(|(query, _)| query.clone());
        invariants.chain(gone_down.map(|(query, _)| format!("{query} goes down"))).collect()
    }
}

/// What an ASSERT says that has failed.
fn failed_assertion(answer: &str) -> Option<String> {
    let message = answer.split("E(P0004 ").nth(1)?.split(") ").next()?;
    Some(format!("ASSERT “{message}”"))
}

#[test]
fn a_server_shows_what_postgres_violates_and_nothing_else() {
    let Some(folder) = folder() else { return skew_testing::skip("no table of invariants beside the project") };
    let text = std::fs::read_to_string(folder.join("invariants.md")).expect("the table");
    let seeds = std::env::var("SKEW_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    let only = std::env::var("SKEW_TRUTHS_APP").ok();
    let mut by_setting: BTreeMap<(String, String), Vec<Truth>> = BTreeMap::new();
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (app, witness) in definitions(&text) {
        calls.entry(app).or_default().extend(single_calls(&witness));
    }
    for truth in truths(&text) {
        let witness = truth.calls.iter().flat_map(|calls| single_calls(calls));
        calls.entry(truth.app.clone()).or_default().extend(witness);
        by_setting.entry((truth.app.clone(), truth.level.clone())).or_default().push(truth);
    }
    let (mut wrong, mut unseen, mut rows, mut violated) = (Vec::new(), Vec::new(), 0, 0);
    let mut needed = (0, String::new());
    for ((app, level), truths) in by_setting.iter().filter(|((app, _), _)| only.as_ref().is_none_or(|only| only == app))
    {
        rows += truths.len();
        let text = std::fs::read_to_string(folder.join(format!("{app}.sql"))).expect("the application");
        let choice = match EXCLUDED_BY_DEFINITION.contains(&(app.as_str(), level.as_str())) {
            true => ChoiceKind::Postgres,
            false => Options::default().choice,
        };
        let mut served = Served::load(&text, truths, level, choice);
        for truth in truths.iter().filter(|truth| truth.violated) {
            let client = truth.calls.as_deref().expect("a violation has calls");
            violated += 1;
            match (0..seeds).find(|seed| served.run(client, *seed).contains(&truth.broken)) {
                Some(seed) => needed = needed.max((seed + 1, format!("{app} at {level}: {client}"))),
                None => unseen.push(format!("{app} at {level}: {} was not broken by {client}", truth.broken)),
            }
        }
        let held: Vec<&Truth> = truths.iter().filter(|truth| !truth.violated).collect();
        let calls: Vec<&String> = calls[app].iter().collect();
        for (at, one) in calls.iter().enumerate().filter(|_| !held.is_empty()) {
            for other in &calls[at..] {
                let client = format!("A: {one} | B: {other}");
                let found: BTreeSet<String> = (0..SEEDS_OF_PAIRS).flat_map(|seed| served.run(&client, seed)).collect();
                for truth in held.iter().filter(|truth| found.contains(&truth.broken)) {
                    wrong.push(format!("{app} at {level}: {} holds, and is broken by {client}", truth.broken));
                }
            }
        }
    }
    let shown = violated - unseen.len();
    eprintln!("{rows} rows of the table of truths; {shown} of {violated} violations were shown");
    eprintln!("the most seeds, {}, were needed for {}", needed.0, needed.1);
    assert!(unseen.is_empty(), "not shown in {seeds} seeds:\n{}", unseen.join("\n"));
    assert!(wrong.is_empty(), "of {rows} rows:\n{}", wrong.join("\n"));
}
