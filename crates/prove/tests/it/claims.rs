//! No execution contradicts what is claimed of its program.
//!
//! `SKEW_RANDOM=100000` asks for so many random executions of generated applications, `SKEW_SEEDS=17..18` for those of one
//! seed, and `SKEW_KIND=rich` for one kind of applications.

use std::collections::BTreeMap;

use skew_model::Level;
use skew_prove::summary::build::Reading;
use skew_prove::summary::{Access, AccessKind, Cell, Comparison, Outcome, Summary, Term, TermKind};
use skew_sql::app::App;
use skew_sql::explore::Client;
use skew_sql::session::Database;
use skew_sql::session::trace::{Did, Part};
use skew_testing::Dice;

use crate::executions::{self, Execution, LEVELS};
use crate::generate::{Generated, calling, dense, generate, limited, with_levels};
use crate::rich::rich;
use crate::summary_oracle::{Explained, explain};
use crate::{example, load};

/// An application with what is claimed of it.
struct Claims<'a> {
    database: &'a Database,
    summaries: [Summary; 2],
}

/// How many executions agreed.
#[derive(Default, Debug)]
struct Counted {
    explained: usize,
    unknown: usize,
}

impl<'a> Claims<'a> {
    fn of(database: &'a Database, app: &'a App) -> Claims<'a> {
        let summaries = [Reading::Once, Reading::EachStatement]
            .map(|reading| Summary::of(database, app, reading).expect("its procedures are there"));
        Claims { database, summaries }
    }

    /// Compares executions at a level with the claims.
    fn compare(&self, level: Level, executions: &[Execution], counted: &mut Counted) -> Result<(), String> {
        let summary = &self.summaries[usize::from(Reading::at(level) == Reading::EachStatement)];
        let catalog = self.database.catalog();
        for execution in executions {
            let Some(program) = summary.programs.iter().find(|program| program.name == execution.program) else {
                continue;
            };
            match explain(program, execution, &summary.facts, &catalog) {
                Explained::Yes => counted.explained += 1,
                Explained::Unknown => counted.unknown += 1,
                Explained::No(reasons) => {
                    let events: Vec<String> =
                        execution.trace.events.iter().map(|event| executions::shown(event, &summary.facts)).collect();
                    let events = events.join("\n");
                    let summary = summary.print();
                    return Err(format!("{} at {level}\n{events}\n{reasons}\n{summary}", execution.trace.call));
                }
            }
        }
        Ok(())
    }
}

/// Random executions of generated applications.
fn generated(make: fn(u64) -> Generated, seeds: std::ops::Range<u64>, each: usize) -> Vec<String> {
    let mut counted = Counted::default();
    let mut wrong = Vec::new();
    for seed in seeds {
        let generated = make(seed);
        let (database, app) = load(&generated.text);
        let claims = Claims::of(&database, &app);
        let mut dice = Dice(seed ^ 0x0C1A_1335);
        let mut done = 0;
        while done < each {
            let (client, level) = (executions::client(&generated, &mut dice), LEVELS[dice.roll(LEVELS.len())]);
            let executions = executions::random(&database, &app, &client, level, seed << 20 | done as u64);
            done += executions.len().max(1);
            if let Err(reason) = claims.compare(level, &executions, &mut counted) {
                wrong.push(format!("seed {seed}\n{}\n{client:?}\n{reason}", generated.text));
                break;
            }
        }
    }
    println!("{counted:?}");
    wrong
}

/// How many applications, and executions of each.
pub fn effort() -> (std::ops::Range<u64>, usize) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<usize>().expect("a number"));
    let most = number("SKEW_RANDOM").unwrap_or(1_500);
    let seeds = std::env::var("SKEW_SEEDS").ok().map(|text| {
        let (from, to) = text.split_once("..").expect("SKEW_SEEDS reads 0..100");
        from.parse().expect("a number")..to.parse().expect("a number")
    });
    let each = 100;
    (seeds.unwrap_or(0..most.div_ceil(5 * each) as u64), each)
}

/// The generators, or the one that `SKEW_KIND` names.
pub fn kinds() -> Vec<fn(u64) -> Generated> {
    let all: [(&str, fn(u64) -> Generated); 6] = [
        ("plain", generate),
        ("dense", dense),
        ("calls", calling),
        ("limited", limited),
        ("mixed", with_levels),
        ("rich", rich),
    ];
    let asked = std::env::var("SKEW_KIND").ok();
    let asked = all.into_iter().filter(|(name, _)| asked.as_deref().is_none_or(|asked| asked == *name));
    asked.map(|(_, make)| make).collect()
}

#[test]
fn no_random_execution_contradicts_a_summary() {
    let (seeds, each) = effort();
    let wrong: Vec<String> = kinds().into_iter().flat_map(|make| generated(make, seeds.clone(), each)).collect();
    assert!(wrong.is_empty(), "{} applications\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The example applications with the calls that come with them.
pub fn calls_of_examples() -> Vec<(String, String, Vec<String>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/apps/calls");
    let files = std::fs::read_dir(folder).expect("the examples are there");
    let each = files.map(|file| {
        let path = file.expect("it is there").path();
        let text = std::fs::read_to_string(&path).expect("it is text");
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let calls = text.lines().filter_map(|line| line.strip_prefix("CALL "));
        let calls = calls.map(|call| call.trim_end_matches(';').to_owned()).collect();
        (name.clone(), example(&format!("{name}.sql")), calls)
    });
    let mut all: Vec<_> = each.filter(|(_, _, calls): &(_, _, Vec<String>)| !calls.is_empty()).collect();
    all.sort();
    all
}

/// Three sessions with one or two of these calls.
pub fn some_of(calls: &[String], dice: &mut Dice) -> Client {
    let sessions = ["s", "t", "u"]
        .map(|name| (name.to_owned(), (0..1 + dice.roll(2)).map(|_| calls[dice.roll(calls.len())].clone()).collect()));
    Client { sessions: sessions.to_vec() }
}

/// Clients of the calls that come with an example: one after the other, and beside each other.
#[test]
fn no_execution_of_an_example_contradicts_its_summary() {
    let mut all: BTreeMap<String, Counted> = BTreeMap::new();
    let mut wrong: Vec<String> = Vec::new();
    'examples: for (name, text, calls) in calls_of_examples() {
        let (database, app) = load(&text);
        let claims = Claims::of(&database, &app);
        let mut counted = Counted::default();
        let mut dice = Dice(7);
        for (at, level) in LEVELS.into_iter().enumerate() {
            for round in 0..4 {
                let client = some_of(&calls, &mut dice);
                let seed = (at * 100 + round) as u64;
                let mut executions = executions::random(&database, &app, &client, level, seed);
                if round == 0 {
                    executions.extend(executions::explored(&database, &app, &client, level, 20));
                }
                if let Err(reason) = claims.compare(level, &executions, &mut counted) {
                    wrong.push(format!("{name}: {client:?}\n{reason}"));
                    continue 'examples;
                }
            }
        }
        all.insert(name, counted);
    }
    println!("{all:#?}");
    assert!(wrong.is_empty(), "{} examples: {}", wrong.len(), wrong.join("\n\n"));
    assert!(all.values().all(|counted| counted.explained > 0), "{all:?}");
}

/// Which lock an UPDATE takes depends on whether a key changes. Finding that out is no look of the statement.
#[test]
fn an_update_does_not_read_the_unique_column_that_it_sets() {
    let text = "CREATE TABLE b (id int PRIMARY KEY, u int UNIQUE); INSERT INTO b VALUES (1, 2);
        CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$ BEGIN UPDATE b SET u = p WHERE id = p; END $$;";
    let (database, app) = load(text);
    let client = Client { sessions: vec![("s".to_owned(), vec!["f(1)".to_owned()])] };
    for level in LEVELS {
        let executions = executions::random(&database, &app, &client, level, 1);
        let events = executions.iter().flat_map(|execution| &execution.trace.events);
        let mut columns =
            events.filter(|event| matches!(&event.did, Did::Read(cell, _) if cell.part != Part::Existence));
        assert!(columns.next().is_none(), "at {level}");
    }
}

/// At `mvrc` a statement that changes a row has looked at it before it had the lock, and evaluated its subquery for what the
/// row was then.
#[test]
fn a_subquery_is_evaluated_for_the_row_before_the_lock_too() {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int); INSERT INTO a VALUES (2, 0);
        CREATE TABLE b (i int, j int, PRIMARY KEY (i, j)); INSERT INTO b VALUES (2, 1);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN UPDATE a SET v = v + 1 WHERE id = 2; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ BEGIN
          DELETE FROM a WHERE id = 2 AND NOT EXISTS (SELECT 1 FROM b WHERE b.i = a.v); END $$;";
    let (database, app) = load(text);
    let claims = Claims::of(&database, &app);
    let call = |name: &str, call: &str| (name.to_owned(), vec![call.to_owned()]);
    let client = Client { sessions: vec![call("s", "f()"), call("t", "g()")] };
    let mut counted = Counted::default();
    let executions = executions::explored(&database, &app, &client, Level::Mvrc, 100);
    claims.compare(Level::Mvrc, &executions, &mut counted).unwrap_or_else(|reason| panic!("{reason}"));
    assert!(counted.explained > 0, "{counted:?}");
}

/// A way to make a claim wrong.
type Mutation = (&'static str, fn(&mut Summary) -> usize);

fn each_access(summary: &mut Summary, mut change: impl FnMut(&mut Access) -> bool) -> usize {
    let paths = summary.programs.iter_mut().flat_map(|program| &mut program.paths);
    paths.flat_map(|path| &mut path.accesses).map(|access| usize::from(change(access))).sum()
}

const MUTATIONS: [Mutation; 8] = [
    ("a column that is read is forgotten", |summary| {
        each_access(summary, |access| {
            let column = access.reads.iter().find(|cell| matches!(cell, Cell::Column(_))).copied();
            column.is_some_and(|column| access.reads.remove(&column))
        })
    }),
    ("a column that is written is forgotten", |summary| {
        each_access(summary, |access| {
            let column = access.writes.iter().find(|cell| matches!(cell, Cell::Column(_))).copied();
            column.is_some_and(|column| access.writes.remove(&column))
        })
    }),
    ("an access that is left out perhaps is claimed to be made", |summary| {
        each_access(summary, |access| {
            let is_write = !access.writes.is_empty() && !access.looped;
            let was = is_write && std::mem::replace(&mut access.conditional, false);
            if was {
                access.outcome = Outcome::Found;
            }
            was
        })
    }),
    ("a row that is found is claimed to be missing", |summary| {
        each_access(summary, |access| {
            let was = access.outcome == Outcome::Found && access.kind != AccessKind::Insert;
            if was {
                access.outcome = Outcome::Missing;
            }
            was
        })
    }),
    ("a row that may be there is claimed to be there", |summary| {
        each_access(summary, |access| {
            let was = access.outcome == Outcome::Missing && !access.row.is_empty();
            if was {
                access.outcome = Outcome::Found;
            }
            was
        })
    }),
    ("a lock is invented", |summary| {
        each_access(summary, |access| {
            let reads = access.kind == AccessKind::Select && access.outcome == Outcome::Found && !access.locks;
            access.locks |= reads;
            reads
        })
    }),
    ("a value that is written is claimed to be another one", |summary| {
        let paths = summary.programs.iter_mut().flat_map(|program| &mut program.paths);
        paths
            .map(|path| {
                let wrong = path.terms.len();
                let kind = TermKind::Constant("987654".to_owned());
                path.terms.push(Term { kind, looped: false, typed: None });
                let values = path.accesses.iter_mut().flat_map(|access| &mut access.values);
                values.map(|(_, value)| *value = wrong).count()
            })
            .sum()
    }),
    ("a condition is turned round", |summary| {
        let paths = summary.programs.iter_mut().flat_map(|program| &mut program.paths);
        paths
            .flat_map(|path| &mut path.conditions)
            .map(|condition| {
                condition.comparison = match condition.comparison {
                    Comparison::Equal => Comparison::Different,
                    Comparison::Different => Comparison::Equal,
                    Comparison::Less | Comparison::AtMost => {
                        std::mem::swap(&mut condition.left, &mut condition.right);
                        Comparison::Less
                    }
                };
            })
            .count()
    }),
];

/// The comparison notices: a summary with one kind of mistake is contradicted by the executions of some application.
#[test]
fn every_kind_of_wrong_claim_is_contradicted() {
    for (name, mutate) in MUTATIONS {
        let mut applications = (0..40).map(generate).chain((0..40).map(calling)).chain((0..40).map(dense)).enumerate();
        let is_noticed = applications.any(|(at, generated)| {
            let (database, app) = load(&generated.text);
            let mut claims = Claims::of(&database, &app);
            if claims.summaries.iter_mut().map(mutate).sum::<usize>() == 0 {
                return false;
            }
            let mut dice = Dice(at as u64);
            (0..20).any(|round| {
                let client = executions::client(&generated, &mut dice);
                let executions = executions::random(&database, &app, &client, Level::Ser, round);
                claims.compare(Level::Ser, &executions, &mut Counted::default()).is_err()
            })
        });
        assert!(is_noticed, "{name}, and nothing contradicts it");
    }
}
