//! What engines say about generated applications, against what every small client of them does.
//!
//! Where an engine says that an application is serializable at a level, every client with two calls and every client with
//! three calls runs in every way that the level allows, and only serializable histories may come out. Where it does not,
//! `skew robust` looks for a run that shows it; if it finds none, the same clients look for one: those that find none are
//! the precision to improve.
//!
//! `SKEW_EXHAUSTIVE=1 cargo test --release -p skew-prove agreement -- --nocapture` takes 1,000 applications, and
//! `SKEW_SEEDS=17..18` only the one of seed 17, with its text. `SKEW_APP_SECONDS=20` is how long the clients of one
//! application may take, `SKEW_THREADS=1` how many applications are looked at the same time, and `SKEW_PROGRESS=1` tells of
//! each. Without SKEW_EXHAUSTIVE only some clients of thirty applications run, and only against *robust*; with
//! `SKEW_SUSPECTS=1` they look for what is suspected, too, and with `SKEW_SUSPECTS=0` they never do. With `SKEW_SOLVER=1` the
//! solver is asked where the graph suspects. `SKEW_KIND=dense` makes applications whose programs meet at every turn,
//! `SKEW_KIND=mixed` lets programs ask for levels of their own, and `SKEW_KIND=calls` puts their statements into functions and
//! triggers; `SKEW_KIND=constrained` makes tables with constraints across rows and columns.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skew_check::{Checker, Options, check};
use skew_model::{History, Level, Scope};
use skew_prove::robust::answer::{Effort as RobustEffort, Engine, Verdict};
use skew_prove::robust::{Question, Robustness};
use skew_prove::smt::solver::Solver;
use skew_prove::summary::build::Reading;
use skew_sql::app::App;
use skew_sql::explore::{Client, Watch, run};
use skew_sql::session::Database;
use skew_sql::session::guide::{Guide, Seeing};

use crate::constrained::constrained;
use crate::generate::{Generated, calling, dense, generate, limited, with_levels};
use crate::load;

/// Strongest first.
const LEVELS: [Level; 7] = [Level::Si, Level::Psi, Level::Pc, Level::Cc, Level::Ra, Level::Mvrc, Level::Rc];

/// No client takes that long.
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

/// So many runs of one client are tried.
const MOST_RUNS: usize = 3_000;

/// How `skew robust` looks for runs of what the graph suspects.
pub(crate) fn tries() -> RobustEffort {
    RobustEffort {
        each: skew_prove::confirm::Limits { runs: 600, time: Duration::from_secs(1) },
        level: Duration::from_secs(3),
        all: false,
        engine: Engine::Graph,
        solver: Solver { time: Duration::from_secs(2), ..Solver::default() },
    }
}

/// What is known of one application at one level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Known {
    /// An engine says so, and all clients agree.
    Robust,
    /// An engine says so; some clients were not run in all ways.
    RobustSoFar,
    /// `skew robust` shows a run.
    Found,
    /// It has none, but a client shows one.
    Overlooked,
    /// No client shows it.
    Possible,
    /// No client has shown it, and some were not run in all ways.
    PossibleSoFar,
    /// The engines ran into limits.
    Unknown,
}

/// How far clients are tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The arguments of two calls, and of three.
    pub(crate) two: &'static [i32],
    pub(crate) three: &'static [i32],
    /// So many clients of three calls at most.
    pub(crate) most: usize,
    /// Whether what is suspected is looked for.
    pub(crate) suspects: bool,
    /// How long the clients of one application may take.
    pub(crate) time: Duration,
    /// How long the solver may take about a level that the graph suspects, if it is asked.
    pub(crate) solver: Option<Duration>,
}

const QUICK: Effort = Effort { two: &[1, 2], three: &[1], most: 40, suspects: false, time: HOUR, solver: None };
const FULL: Effort =
    Effort { two: &[1, 2, 3], three: &[1, 2], most: usize::MAX, suspects: true, time: HOUR, solver: None };

/// What an engine says about a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Robust,
    Suspects,
    Nothing,
}

/// The engines, which must not contradict each other or the runs.
const ENGINES: [&str; 2] = ["graph", "solver"];

fn graph(robustness: &Robustness, level: Level) -> Said {
    let searched = robustness.cycles(level, &Question::default());
    match (searched.limit, searched.suspects.is_empty()) {
        (Some(_), true) => Said::Nothing,
        (None, true) => Said::Robust,
        (_, false) => Said::Suspects,
    }
}

#[test]
fn what_is_robust_stays_serializable_when_it_is_explored() {
    let asked = std::env::var("SKEW_SEEDS").ok().map(|text| seeds(&text));
    let is_full = std::env::var_os("SKEW_EXHAUSTIVE").is_some();
    let (count, effort) = if is_full { (1_000, FULL) } else { (30, QUICK) };
    let suspects = std::env::var("SKEW_SUSPECTS").map_or(effort.suspects, |asked| asked != "0");
    let effort = Effort { suspects, ..effort };
    let effort = match number("SKEW_APP_SECONDS") {
        Some(seconds) => Effort { time: Duration::from_secs(seconds), ..effort },
        None => effort,
    };
    let solver = std::env::var_os("SKEW_SOLVER").map(|_| tries().level);
    let effort = Effort { solver, ..effort };
    let range = asked.clone().unwrap_or(0..count);
    let make = match std::env::var("SKEW_KIND").as_deref() {
        Ok("dense") => dense,
        Ok("limited") => limited,
        Ok("mixed") => with_levels,
        Ok("calls") => calling,
        Ok("constrained") => constrained,
        _ => generate,
    };
    agree(range, make, effort, asked.is_some_and(|asked| asked.end - asked.start == 1));
}

#[test]
fn so_do_programs_that_meet_at_every_turn() {
    agree(0..40, dense, QUICK, false);
}

#[test]
fn so_do_programs_whose_statements_stand_in_functions() {
    agree(0..30, calling, QUICK, false);
}

#[test]
fn so_do_programs_that_meet_through_constraints() {
    agree(0..60, constrained, QUICK, false);
}

#[test]
fn so_do_programs_that_look_at_rows_within_limits() {
    agree(0..40, limited, QUICK, false);
}

#[test]
fn so_does_what_runs_at_several_levels() {
    agree(0..60, with_levels, QUICK, false);
}

/// Where the graph suspects something, the solver may know better.
#[test]
fn so_does_what_the_solver_proves() {
    if !crate::solver::has_solver() {
        return;
    }
    agree(0..10, dense, Effort { solver: Some(Duration::from_millis(300)), ..QUICK }, false);
}

/// No engine may be wrong about an application.
fn agree(range: Range<u64>, make: fn(u64) -> Generated, effort: Effort, shows: bool) {
    let verdicts = judge_all(range, make, effort, shows);
    let wrong: Vec<&String> = verdicts.iter().filter_map(|verdict| verdict.as_ref().err()).collect();
    println!("{}", tally(&verdicts));
    assert!(wrong.is_empty(), "{}", wrong.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n\n"));
}

/// Asked about what the graph suspects: it takes its time.
fn solver(robustness: &Robustness, level: Level, effort: Effort) -> Said {
    let time = effort.solver.filter(|_| graph(robustness, level) != Said::Robust);
    let Some(time) = time else { return Said::Nothing };
    match robustness.solve(level, &Question::default(), RobustEffort { level: time, ..tries() }) {
        Some(Ok(solved)) if solved.proof.is_some() => Said::Robust,
        Some(Ok(solved)) if solved.cycles.iter().any(|cycles| !cycles.suspects.is_empty()) => Said::Suspects,
        _ => Said::Nothing,
    }
}

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn seeds(text: &str) -> Range<u64> {
    let (from, to) = text.split_once("..").expect("SKEW_SEEDS reads 0..100");
    from.parse().expect("a number")..to.parse().expect("a number")
}

pub(crate) type Judged = Result<BTreeMap<&'static str, Known>, String>;

/// All applications, on two threads unless told otherwise.
fn judge_all(range: Range<u64>, make: fn(u64) -> Generated, effort: Effort, shows: bool) -> Vec<Judged> {
    let next = AtomicU64::new(range.start);
    let done: Mutex<BTreeMap<u64, Judged>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..number("SKEW_THREADS").unwrap_or(2) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= range.end {
                        return;
                    }
                    let judged = judge_app(&make(seed), effort, shows);
                    let verdict = judged.map_err(|wrong| format!("seed {seed}: {wrong}"));
                    if std::env::var_os("SKEW_PROGRESS").is_some() {
                        println!("seed {seed}: {verdict:?}");
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(seed, verdict);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn tally(verdicts: &[Judged]) -> String {
    let kinds = [
        (Known::Robust, "robust, all clients agree"),
        (Known::RobustSoFar, "robust, clients agree as far as they were run"),
        (Known::Found, "not robust, with a run"),
        (Known::Overlooked, "possible, but a client shows it"),
        (Known::Possible, "possible, no client shows it"),
        (Known::PossibleSoFar, "possible, no client has shown it so far"),
        (Known::Unknown, "unknown"),
    ];
    let mut text = format!("{} applications\n{:<50}", verdicts.len(), "");
    let mut levels = LEVELS;
    levels.reverse();
    for level in levels {
        text.push_str(&format!("{:>6}", level.id()));
    }
    for (kind, words) in kinds {
        text.push_str(&format!("\n{words:<50}"));
        for level in levels {
            let count = verdicts.iter().flatten().filter(|known| known.get(level.id()) == Some(&kind)).count();
            text.push_str(&format!("{count:>6}"));
        }
    }
    text
}

/// What is known of an application; an error if an engine is wrong about it.
pub(crate) fn judge_app(generated: &Generated, effort: Effort, shows: bool) -> Judged {
    let (database, app) = load(&generated.text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let clients = clients(generated, effort);
    if shows {
        println!("{}\n{}", generated.text, robustness.once.print());
    }
    let said = LEVELS.map(|level| [graph(&robustness, level), solver(&robustness, level, effort)]);
    let is_robust = |level: Level| said[place(level)].contains(&Said::Robust);
    let mut known: BTreeMap<&'static str, Known> = BTreeMap::new();
    let watch = Watch::start(effort.time);
    let world = World { database: &database, app: &app, clients: &clients, watch };
    // What is said to be robust comes first: it must not be wrong. Where all is right at a weaker level, it is at a stronger
    // one, too.
    for level in LEVELS.into_iter().rev().filter(|level| is_robust(*level)) {
        let weaker = LEVELS.into_iter().find(|other| *other != level && level.implies(*other) && is_robust(*other));
        let here = match weaker.and_then(|weaker| known.get(weaker.id())) {
            Some(known) => *known,
            None => match world.search(level) {
                Seen::Broken(client, history) => {
                    let engines = ENGINES.iter().zip(&said[place(level)]);
                    let wrong = engines.filter(|(_, said)| **said == Said::Robust).map(|(name, _)| *name);
                    let wrong = wrong.collect::<Vec<_>>().join(", ");
                    return Err(format!("{wrong}: not robust at {level}\n{}\n{client}\n{history}", generated.text));
                }
                Seen::Serializable => Known::Robust,
                Seen::Limit => Known::RobustSoFar,
            },
        };
        known.insert(level.id(), here);
    }
    let mut found = Vec::new();
    // What only one of them calls robust may be among what runs are found of.
    let in_doubt = |level: &Level| is_robust(*level) && said[place(*level)].contains(&Said::Suspects);
    for level in LEVELS.into_iter().filter(in_doubt) {
        let answer = robustness.answer(&database, &app, level, &Question::default(), &[], tries()).expect("it runs");
        if let Some((_, run)) = answer.found.first() {
            let client = run.client_text();
            return Err(format!("solver: not robust at {level}\n{}\n{client}\n{}", generated.text, run.history));
        }
    }
    for level in LEVELS.into_iter().filter(|level| !is_robust(*level)) {
        let here = match said[place(level)].contains(&Said::Suspects) {
            false => Known::Unknown,
            true if !effort.suspects => Known::PossibleSoFar,
            true => {
                let answer = robustness.answer(&database, &app, level, &Question::default(), &found, tries());
                let answer = answer.expect("it runs");
                found.extend(answer.found);
                // A run of a stronger level is one of a weaker one.
                let stronger = LEVELS.into_iter().filter(|other| *other != level && other.implies(level));
                let is_shown = stronger.into_iter().any(|other| known.get(other.id()) == Some(&Known::Overlooked));
                match answer.verdict {
                    Verdict::NotRobust => Known::Found,
                    _ if is_shown => Known::Overlooked,
                    _ => match world.search(level) {
                        Seen::Broken(client, history) => {
                            if shows {
                                println!("{level}: {client}\n{history}");
                            }
                            Known::Overlooked
                        }
                        Seen::Serializable => Known::Possible,
                        Seen::Limit => Known::PossibleSoFar,
                    },
                }
            }
        };
        known.insert(level.id(), here);
    }
    Ok(known)
}

fn place(level: Level) -> usize {
    LEVELS.iter().position(|one| *one == level).expect("one of them")
}

/// An application and its clients.
pub(crate) struct World<'a> {
    pub(crate) database: &'a Database,
    pub(crate) app: &'a App,
    pub(crate) clients: &'a [Client],
    pub(crate) watch: Watch,
}

/// What was seen of clients at a level.
pub(crate) enum Seen {
    Serializable,
    Broken(String, Box<History>),
    Limit,
}

impl World<'_> {
    /// Whether a client does something at a level that is not serializable.
    pub(crate) fn search(&self, level: Level) -> Seen {
        let mut seen = Seen::Serializable;
        for client in self.clients {
            match self.explore(client, level) {
                Seen::Serializable => {}
                Seen::Limit => seen = Seen::Limit,
                broken => return broken,
            }
        }
        seen
    }

    fn explore(&self, client: &Client, level: Level) -> Seen {
        let own = self.app.programs.iter().map(|program| program.level.unwrap_or(level));
        let by_read = own.into_iter().any(|level| Reading::at(level) == Reading::EachStatement);
        let seeing = if by_read { Seeing::ByRead } else { Seeing::Whole };
        let guide = Arc::new(Mutex::new(Guide::by_views(seeing, BTreeMap::new())));
        for _ in 0..MOST_RUNS {
            if self.watch.is_over() {
                return Seen::Limit;
            }
            let ran = run(self.database, self.app, client, level, &guide, &self.watch).expect("it runs");
            if !ran.was_refused && !self.watch.is_over() && !check(&ran.history, Level::Ser).holds() {
                let has_levels = self.app.programs.iter().any(|program| program.level.is_some());
                let scope = if has_levels { Scope::Declared } else { Scope::Level(level) };
                let is_inside = Checker::new(&ran.history, Options::default()).holds(scope);
                assert_eq!(is_inside, Some(true), "the store stays within {level}:\n{}", ran.history);
                return Seen::Broken(words(client), Box::new(ran.history));
            }
            if !guide.lock().expect("nobody panics").next_run() {
                return Seen::Serializable;
            }
        }
        Seen::Limit
    }
}

fn words(client: &Client) -> String {
    let session = |(name, calls): &(String, Vec<String>)| format!("{name}: {}", calls.join("; "));
    client.sessions.iter().map(session).collect::<Vec<_>>().join(" | ")
}

/// The clients with two and with three calls, in one session or two or three, whose names do not matter.
fn clients(generated: &Generated, effort: Effort) -> Vec<Client> {
    let calls = |values: &[i32]| -> Vec<String> {
        let of = |program: &crate::generate::GeneratedProgram| -> Vec<String> {
            let mut lists: Vec<Vec<String>> = vec![Vec::new()];
            for _ in 0..program.parameters {
                let longer = |list: &Vec<String>, value: &i32| [&list[..], &[value.to_string()]].concat();
                lists = lists.iter().flat_map(|list| values.iter().map(move |value| longer(list, value))).collect();
            }
            lists.iter().map(|list| format!("{}({})", program.name, list.join(", "))).collect()
        };
        generated.programs.iter().flat_map(of).collect()
    };
    let client = |sessions: &[&[&String]]| {
        let named = sessions.iter().zip(["s", "t", "u"]);
        let named = named.map(|(calls, name)| (name.to_owned(), calls.iter().map(|call| (*call).clone()).collect()));
        Client { sessions: named.collect() }
    };
    let mut clients: Vec<Client> = Vec::new();
    let two = calls(effort.two);
    for (at, one) in two.iter().enumerate() {
        for other in &two[at..] {
            clients.push(client(&[&[one], &[other]]));
            clients.push(client(&[&[one, other]]));
            if one != other {
                clients.push(client(&[&[other, one]]));
            }
        }
    }
    let three = calls(effort.three);
    let mut with_three = Vec::new();
    for (at, one) in three.iter().enumerate() {
        for (next, two) in three.iter().enumerate().skip(at) {
            for last in &three[next..] {
                let [a, b, c] = [one, two, last];
                let mut sessions = vec![client(&[&[a], &[b], &[c]])];
                let pairs: [[&String; 3]; 6] = [[a, b, c], [b, a, c], [a, c, b], [c, a, b], [b, c, a], [c, b, a]];
                for [first, second, alone] in pairs {
                    let new = client(&[&[first, second], &[alone]]);
                    if !sessions.contains(&new) {
                        sessions.push(new);
                    }
                }
                with_three.append(&mut sessions);
            }
        }
    }
    let step = with_three.len().div_ceil(effort.most.min(with_three.len())).max(1);
    clients.extend(with_three.into_iter().step_by(step));
    clients
}
