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
//! triggers.

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

use crate::generate::{Generated, calling, dense, generate, limited, with_levels};
use crate::load;

/// Strongest first.
const LEVELS: [Level; 7] = [Level::Si, Level::Psi, Level::Pc, Level::Cc, Level::Ra, Level::Mvrc, Level::Rc];

/// No client takes that long.
const HOUR: Duration = Duration::from_secs(3_600);

/// So many runs of one client are tried.
const MOST_RUNS: usize = 3_000;

/// How `skew robust` looks for runs of what the graph suspects.
fn tries() -> RobustEffort {
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
    if Solver::default().start().is_err() {
        eprintln!("skipped: z3 is not installed");
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

/// Applications that the graph called robust although a client shows otherwise.
#[test]
fn what_was_overlooked_once() {
    let tables = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 1), (2, 0);";
    let wrong = [
        // A scan looks at rows that turn out not to be asked for.
        (Level::Si, "SELECT count(*) INTO x FROM a WHERE v = 1; INSERT INTO a VALUES (p1 + 2, 2);", "NULL;"),
        // A statement in a loop comes again.
        (
            Level::Mvrc,
            "FOR i IN 1..2 LOOP SELECT v INTO x FROM a WHERE id = p1; END LOOP;",
            "UPDATE a SET v = 5 WHERE id = p1;",
        ),
        // What an expression reads decides about a row, too.
        (
            Level::Si,
            "UPDATE a SET v = 5 WHERE id = 1 AND v + 1 = 7; UPDATE a SET v = 6 WHERE id = 2;",
            "UPDATE a SET v = 5 WHERE id = 2 AND v + 1 = 7; UPDATE a SET v = 6 WHERE id = 1;",
        ),
    ];
    for (level, one, other) in wrong {
        let mut text = tables.to_owned();
        for (name, body) in [("f", one), ("g", other)] {
            text.push_str(&format!(
                "CREATE PROCEDURE {name}(p1 int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN {body} END $$;"
            ));
        }
        let (database, app) = load(&text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let client = Client::parse(if other == "NULL;" { "f(1) | f(2)" } else { "f(1) | g(1)" }).expect("a client");
        let world = World { database: &database, app: &app, clients: &[client], watch: Watch::start(HOUR) };
        assert!(matches!(world.search(level), Seen::Broken(..)), "{level}: {one}");
        assert!(!robustness.cycles(level, &Question::default()).suspects.is_empty(), "{level}: {one}");
    }
}

/// A write skew between f and g, where one side of it stands somewhere else than in their statements.
#[test]
fn what_looks_and_changes_behind_statements_is_suspected() {
    let tables = "
        CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 1);
        CREATE TABLE b (id int PRIMARY KEY, n int NOT NULL); INSERT INTO b VALUES (1, 0);";
    let looks = "CREATE FUNCTION enough(x int) RETURNS boolean LANGUAGE sql AS $$
        SELECT x >= (SELECT n FROM b WHERE id = 1) $$;";
    let reads_d = "IF (SELECT v FROM d WHERE id = 1) = 0 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;";
    let reads_b = "IF (SELECT n FROM b WHERE id = 1) = 0 THEN UPDATE a SET v = 0 WHERE id = 1; END IF;";
    let apps = [
        // A CHECK constraint calls a function that looks at a table.
        (
            format!(
                "{looks} CREATE TABLE d (id int PRIMARY KEY, v int CHECK (enough(v))); INSERT INTO d VALUES (1, 0);"
            ),
            "UPDATE d SET v = 1 WHERE id = 1;",
            reads_d,
        ),
        // So does the one of a domain.
        (
            format!(
                "{looks} CREATE DOMAIN much AS int CHECK (enough(VALUE)); CREATE TABLE d (id int PRIMARY KEY, v much);
                 INSERT INTO d VALUES (1, 0);"
            ),
            "UPDATE d SET v = 1 WHERE id = 1;",
            reads_d,
        ),
        // FOR KEY SHARE keeps nobody from changing what is not the key.
        (
            String::new(),
            "SELECT v INTO x FROM a WHERE id = 1 FOR KEY SHARE; IF x = 1 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;",
            "SELECT n INTO x FROM b WHERE id = 1 FOR KEY SHARE; IF x = 0 THEN UPDATE a SET v = 0 WHERE id = 1; END IF;",
        ),
        // Spaces at the end are no part of a char(n).
        (
            "CREATE TABLE d (id char(4) PRIMARY KEY, v int); INSERT INTO d VALUES ('k', 0);".to_owned(),
            "IF (SELECT v FROM d WHERE id = 'k') = 0 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;",
            "IF (SELECT n FROM b WHERE id = 1) = 0 THEN UPDATE d SET v = 1 WHERE id = 'k   '; END IF;",
        ),
        // A trigger changes another table, a generated column is read, a function is called.
        (
            "CREATE FUNCTION also() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN UPDATE b SET n = NEW.v WHERE id = 1; RETURN NEW; END $$;
             CREATE TABLE d (id int PRIMARY KEY, v int); INSERT INTO d VALUES (1, 0);
             CREATE TRIGGER also AFTER UPDATE ON d FOR EACH ROW EXECUTE FUNCTION also();"
                .to_owned(),
            "IF (SELECT v FROM a WHERE id = 1) = 1 THEN UPDATE d SET v = 1 WHERE id = 1; END IF;",
            reads_b,
        ),
        (
            "CREATE TABLE d (id int PRIMARY KEY, v int, twice int GENERATED ALWAYS AS (v * 2) STORED);
             INSERT INTO d VALUES (1, 1);"
                .to_owned(),
            "IF (SELECT twice FROM d WHERE id = 1) = 2 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;",
            "IF (SELECT n FROM b WHERE id = 1) = 0 THEN UPDATE d SET v = 0 WHERE id = 1; END IF;",
        ),
        (
            "CREATE FUNCTION write(x int) RETURNS int LANGUAGE plpgsql AS $$
             BEGIN UPDATE b SET n = x WHERE id = 1; RETURN x; END $$;"
                .to_owned(),
            "IF (SELECT v FROM a WHERE id = 1) = 1 THEN x := write(1); END IF;",
            reads_b,
        ),
    ];
    for (more, one, other) in apps {
        let mut text = format!("{tables}{more}");
        for (name, body) in [("f", one), ("g", other)] {
            text.push_str(&format!(
                "CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN {body} END $$;"
            ));
        }
        let (database, app) = load(&text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let client = Client::parse("f() | g()").expect("a client");
        let world = World { database: &database, app: &app, clients: &[client], watch: Watch::start(HOUR) };
        assert!(matches!(world.search(Level::Si), Seen::Broken(..)), "{more} {one}");
        assert!(!robustness.cycles(Level::Si, &Question::default()).suspects.is_empty(), "{more} {one}");
    }
}

/// What the graph took for sure once: that a row is missing, is changed, comes, or is seen by others.
const READS_A: &str = "(SELECT v FROM a WHERE id = 1)";
const READS_B: &str = "(SELECT v FROM b WHERE id = 1)";

#[test]
fn what_decides_besides_the_key_is_not_forgotten() {
    let body = |name: &str, body: &str| {
        format!(
            "CREATE PROCEDURE {name}(p int) LANGUAGE plpgsql AS $$ DECLARE x int; y int; i int; BEGIN {body} END $$;"
        )
    };
    let asks = |name: &str, level: &str| format!("COMMENT ON PROCEDURE {name} IS '@isolation {level}';");
    let reads_both = "SELECT v INTO x FROM a WHERE id = 1; SELECT v INTO y FROM b WHERE id = 1;";
    let skew = |found: &str| {
        let reads_a = format!("{found} IF NOT FOUND THEN {reads_both} UPDATE b SET v = x + p WHERE id = 1; END IF;");
        let reads_b = format!("{reads_both} UPDATE a SET v = y + p WHERE id = 1;");
        body("f", &reads_a) + &body("g", &reads_b)
    };
    let skew_in = |before: &str, after: &str| {
        let reads_a = format!("{before} {reads_both} UPDATE b SET v = x + p WHERE id = 1; {after}");
        body("f", &reads_a) + &body("g", &format!("{reads_both} UPDATE a SET v = y + p WHERE id = 1;"))
    };
    let no_error = "FOR i IN 1..p - 5 LOOP RAISE EXCEPTION 'no'; END LOOP;";
    let no_return = "FOR i IN 1..1 LOOP IF p > 0 THEN NULL; ELSE RETURN; END IF;";
    let none = "SELECT count(*) INTO i FROM c WHERE id = 5; IF i = 0 THEN";
    let left = "<<out>> BEGIN FOR i IN 1..1 LOOP EXIT out; END LOOP; UPDATE a SET v = 7 WHERE id = 1; END;";
    let referring = |refers: &str, also: &str, change: &str| {
        let tables = format!(
            "CREATE TABLE m (id int PRIMARY KEY, code int UNIQUE); INSERT INTO m VALUES (1, 1);
             CREATE TABLE n (id int PRIMARY KEY {also}, m int {refers}); INSERT INTO n VALUES (1, 1);
             CREATE TABLE o (id int PRIMARY KEY, n int REFERENCES n ON DELETE CASCADE); INSERT INTO o VALUES (1, 1);"
        );
        let reads = "SELECT m INTO x FROM n WHERE id = 1; SELECT n INTO y FROM o WHERE id = 1;
            UPDATE b SET v = 1 + coalesce(x, 7) + coalesce(y, 7) WHERE id = 1;";
        let changes = format!("SELECT v INTO y FROM b WHERE id = 1; IF y = 0 THEN {change} WHERE id = 1; END IF;");
        tables + &body("f", reads) + &body("g", &changes)
    };
    let read_only = |change: &str| {
        let reads = format!("SELECT v INTO x FROM a WHERE id = 1; {change} UPDATE b SET v = x + p WHERE id = 1;");
        body("f", &reads) + &body("g", "UPDATE a SET v = p WHERE id = 1;") + &body("h", reads_both)
    };
    let fork = body("f", reads_both)
        + &body("g", "UPDATE a SET v = p WHERE id = 1;")
        + &body("h", "UPDATE b SET v = p WHERE id = 1;")
        + &asks("g", "ser")
        + &asks("h", "ser");
    let kept_back = "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE TRIGGER no BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION no();"
        .to_owned()
        + &body(
            "f",
            "INSERT INTO c VALUES (5, 1); SELECT v INTO x FROM a WHERE id = p; UPDATE a SET v = x + 1 WHERE id = 3 - p;",
        );
    let ordered = body("f", "SELECT v INTO x FROM a WHERE id = 1; UPDATE b SET v = x + p WHERE id = 1;")
        + &body("g", "UPDATE a SET v = p WHERE id = 1;")
        + &body("h", "SELECT v INTO x FROM a WHERE id = 1; UPDATE c SET v = x + p WHERE id = 1;")
        + &body("k", "SELECT v INTO x FROM c WHERE id = 1; SELECT v INTO y FROM b WHERE id = 1;")
        + &asks("g", "ser")
        + &asks("k", "ser");
    let both = body("g", "UPDATE a SET v = p WHERE id = 1; UPDATE b SET v = p WHERE id = 1;");
    let one_by_one = |statement: &str| body("f", &statement.replace("one", READS_A).replace("two", READS_B)) + &both;
    let left_early = "i := 1; <<out>> BEGIN EXIT out WHEN p > 0; i := 2; END; SELECT v INTO x FROM a WHERE id = i;";
    let by_part_of_a_key = |g: u32| {
        let found = if g == 1 { "NOT FOUND" } else { "FOUND" };
        format!("PERFORM 1 FROM z WHERE id = 1 AND g = {g}; IF {found} THEN RETURN; END IF;")
    };
    let z = "CREATE TABLE z (id int PRIMARY KEY, g int NOT NULL, h int GENERATED ALWAYS AS (g + 1) STORED);
        INSERT INTO z VALUES (1, 1), (2, 5);";
    let over_z = |read: &str| {
        let changes = "SELECT v INTO y FROM b WHERE id = 1; UPDATE z SET g = 7 + y WHERE id = 1;";
        z.to_owned() + &body("f", &format!("{read} UPDATE b SET v = p WHERE id = 1;")) + &body("g", changes)
    };
    let locked = |strength: &str| format!("SELECT v INTO i FROM c WHERE id = 1 FOR {strength};");
    let both_locked = |strength: &str| {
        body("f", &format!("{} {reads_both} UPDATE b SET v = x + p WHERE id = 1;", locked(strength)))
            + &body("g", &format!("{} {reads_both} UPDATE a SET v = y + p WHERE id = 1;", locked("SHARE")))
    };
    let apps = [
        // Every kind of join looks at what it compares, and so does whatever says how far.
        (over_z("SELECT count(*) INTO x FROM c LEFT JOIN z ON z.g = c.v;"), "f(3) | g(4)", Level::Si, true),
        (over_z("SELECT count(*) INTO x FROM c FULL JOIN z ON z.g = c.id;"), "f(3) | g(4)", Level::Si, true),
        (over_z("SELECT count(*) INTO x FROM c JOIN z ON c.v = z.g + 1;"), "f(3) | g(4)", Level::Si, true),
        (
            over_z(
                "SELECT max(n) INTO x FROM (SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN
                 (SELECT g FROM z WHERE id = 1) PRECEDING AND CURRENT ROW) AS n FROM c) s;",
            ),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        (
            over_z(
                "DECLARE k refcursor; BEGIN OPEN k FOR SELECT id FROM c;
                 FETCH RELATIVE (SELECT g FROM z WHERE id = 1) FROM k INTO x; END;",
            ),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A row without a partner is looked at and not changed.
        (
            z.to_owned()
                + &body(
                    "f",
                    "UPDATE a SET v = 9 FROM z WHERE a.id = 1 AND z.g = a.v; UPDATE b SET v = p WHERE id = 1;",
                )
                + &body("g", "UPDATE a SET v = 7 WHERE id = 1;")
                + &body("h", reads_both),
            "f(3) | g(4); h(5)",
            Level::Si,
            true,
        ),
        // What is generated changes with what it is made of, and not with other columns; who refers to it changes, too.
        (
            "CREATE TABLE m (id int PRIMARY KEY, k int, l int, h int GENERATED ALWAYS AS (k + 1) STORED);
             INSERT INTO m VALUES (1, 1, 1);"
                .to_owned()
                + &body(
                    "f",
                    "UPDATE m SET l = p WHERE id = 1; SELECT k INTO x FROM m WHERE id = 1; UPDATE b SET v = x WHERE id = 1;",
                )
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; UPDATE m SET k = y + p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        (
            "CREATE TABLE m (id int PRIMARY KEY, k int, h int GENERATED ALWAYS AS (k + 1) STORED UNIQUE);
             CREATE TABLE n (id int PRIMARY KEY, m int REFERENCES m (h) ON UPDATE CASCADE);
             INSERT INTO m VALUES (1, 1); INSERT INTO n VALUES (1, 2);"
                .to_owned()
                + &body("f", "SELECT m INTO x FROM n WHERE id = 1; UPDATE b SET v = x WHERE id = 1;")
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; UPDATE m SET k = y + p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A count of nothing is NULL where it gives no row, and a loop may store nothing.
        (
            skew_in("i := (SELECT count(*) FROM c HAVING count(*) > 5); IF i IS NULL THEN", "END IF;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A unique value goes to another row.
        (
            "CREATE TABLE e (id int PRIMARY KEY, x int UNIQUE, c int); INSERT INTO e VALUES (1, 5, 0);".to_owned()
                + &body("f", "SELECT c INTO x FROM e WHERE e.x = 5; UPDATE b SET v = x + p WHERE id = 1;")
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; INSERT INTO e VALUES (2, 5, y);")
                + &body("h", "UPDATE e SET x = 6 WHERE id = 1;"),
            "f(3) | h(5) | g(4)",
            Level::Si,
            false,
        ),
        // Two can share a lock.
        (both_locked("SHARE"), "f(3) | g(4)", Level::Mvrc, true),
        // A part of a key is unique: who finds no row with all of it says nothing about those with the part.
        (
            "CREATE TABLE z (id int UNIQUE, g int, PRIMARY KEY (id, g)); INSERT INTO z VALUES (1, 1);".to_owned()
                + &body("f", &format!("{} {reads_both} UPDATE b SET v = x + p WHERE id = 1;", by_part_of_a_key(1)))
                + &body("g", &format!("{} {reads_both} UPDATE a SET v = y + p WHERE id = 1;", by_part_of_a_key(2))),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A block is left in the middle.
        (
            body("f", &format!("{left_early} UPDATE b SET v = x + p WHERE id = 1;"))
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; UPDATE a SET v = y + p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // What a row refers to need not be there before the end.
        (
            "CREATE TABLE m (id int PRIMARY KEY);
             CREATE TABLE n (id int PRIMARY KEY, m int NOT NULL REFERENCES m DEFERRABLE INITIALLY DEFERRED);"
                .to_owned()
                + &skew_in(
                    "INSERT INTO n VALUES (p, 7); PERFORM 1 FROM m WHERE id = 7; IF FOUND THEN RETURN; END IF;
                     DELETE FROM n WHERE id = p;",
                    "",
                ),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // Expressions look one after the other.
        (one_by_one("IF one > 100 THEN NULL; ELSIF two > 100 THEN NULL; END IF;"), "f(3) | g(4)", Level::Mvrc, true),
        (one_by_one("RAISE NOTICE '% %', one, two;"), "f(3) | g(4)", Level::Mvrc, true),
        (one_by_one("FOR i IN one..two LOOP NULL; END LOOP;"), "f(3) | g(4)", Level::Mvrc, true),
        (one_by_one("DECLARE k int := one; l int := two; BEGIN NULL; END;"), "f(3) | g(4)", Level::Mvrc, true),
        // What a statement calls looks later than the statement.
        (
            format!("CREATE FUNCTION u() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN {READS_B}; END $$;")
                + &body("f", "SELECT v + u() INTO x FROM a WHERE id = 1;")
                + &both,
            "f(3) | g(4)",
            Level::Mvrc,
            true,
        ),
        // A row is not found for another reason.
        (skew("SELECT v INTO x FROM c WHERE id = 1 AND p > 100;"), "f(3) | g(4)", Level::Si, true),
        (skew("SELECT v INTO x FROM c WHERE id = 1 LIMIT 0;"), "f(3) | g(4)", Level::Si, true),
        (skew("SELECT v INTO x FROM c WHERE id = 1 OFFSET 1;"), "f(3) | g(4)", Level::Si, true),
        (
            skew("SELECT v INTO x FROM c CROSS JOIN generate_series(1, p - 3) WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A loop is never entered, a branch not taken.
        (skew_in(no_error, ""), "f(3) | g(4)", Level::Si, true),
        (skew_in(no_return, "END LOOP;"), "f(3) | g(4)", Level::Si, true),
        (skew_in(none, "END IF;"), "f(3) | g(4)", Level::Si, true),
        // What is said is read first; a row is looked for among all with the first column of an index.
        (
            body("f", "RAISE NOTICE '%', (SELECT v FROM a WHERE id = 1); UPDATE b SET v = p WHERE id = 1;")
                + &body("g", "SELECT v INTO x FROM b WHERE id = 1; UPDATE a SET v = p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        (
            "CREATE TABLE z (id int PRIMARY KEY, m int NOT NULL, n int NOT NULL); CREATE INDEX ON z (m, n);".to_owned()
                + &body(
                    "f",
                    "SELECT count(*) INTO x FROM z WHERE m = 1 AND n = 1; UPDATE a SET v = x + p WHERE id = 1;",
                )
                + &body("g", "SELECT v INTO x FROM a WHERE id = 1; INSERT INTO z VALUES (p, 1, 2);"),
            "f(3) | g(4)",
            Level::Pc,
            true,
        ),
        // What refers to a row goes and changes with it, and what refers to that.
        (referring("", "REFERENCES m ON DELETE CASCADE", "DELETE FROM m"), "f(3) | g(4)", Level::Si, true),
        (
            referring("REFERENCES m (code) ON UPDATE CASCADE", "", "UPDATE m SET code = 5"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A row that is there is not changed.
        (read_only(left), "f(3) | g(4) | h(5)", Level::Si, true),
        (read_only("UPDATE a SET v = 7 WHERE id = 1 AND p > 5;"), "f(3) | g(4) | h(5)", Level::Si, true),
        (
            read_only("UPDATE a SET v = (SELECT v FROM c WHERE id = 1) WHERE id = 1 AND v > 5;"),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        (
            read_only("FOR i IN 1..0 LOOP UPDATE a SET v = 7 WHERE id = 1; END LOOP;"),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        // Several rows are not one.
        (
            read_only("UPDATE a SET v = 7 FROM unnest(ARRAY[1, 2]) k WHERE a.id = k AND v >= 100;"),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        (
            read_only(
                "UPDATE a SET v = 7 FROM generate_series(1, 2) k, LATERAL (SELECT abs(k) AS m) s WHERE a.id = s.m AND v >= 100;",
            ),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        // A trigger keeps a row back.
        (kept_back, "f(1) | f(2)", Level::Si, true),
        // Others see one of two that are serializable with each other.
        (fork, "f(3) | f(4) | g(5) | h(6)", Level::Psi, true),
        (ordered, "f(1) | g(2) | h(3) | k(4)", Level::Si, false),
    ];
    for (text, client, level, sessions) in apps {
        let tables = ["a", "b", "c"].map(|name| {
            format!(
                "CREATE TABLE {name} (id int PRIMARY KEY, v int NOT NULL); INSERT INTO {name} VALUES (1, 0), (2, 0);"
            )
        });
        let (database, app) = load(&(tables.concat() + &text));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let client = Client::parse(client).expect("a client");
        let world = World { database: &database, app: &app, clients: &[client], watch: Watch::start(HOUR) };
        assert!(matches!(world.search(level), Seen::Broken(..)), "{level}: {text}");
        let question = Question { sessions, ..Question::default() };
        assert!(!robustness.cycles(level, &question).suspects.is_empty(), "{level}: {text}");
        let solved = robustness.solve(level, &question, tries());
        let is_proved = matches!(solved, Some(Ok(solved)) if solved.proof.is_some());
        assert!(!is_proved, "{level}: {text}");
    }
}

#[test]
fn what_commits_in_the_middle_is_not_robust() {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int;
        BEGIN SELECT v INTO x FROM a WHERE id = 1; COMMIT; UPDATE a SET v = x + 1 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ BEGIN UPDATE a SET v = v + 1 WHERE id = 1; END $$;";
    let (database, app) = load(text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let answer = robustness.answer(&database, &app, Level::Si, &Question::default(), &[], RobustEffort::default());
    let expected = Verdict::Unknown("f, which commits in the middle".to_owned());
    assert_eq!(answer.expect("it runs").verdict, expected);
    let sets = robustness.largest_robust_sets(Level::Si, &Question::default());
    assert_eq!(
        (sets.sets, sets.limit),
        (vec![vec!["g".to_owned()]], Some("f, which commits in the middle".to_owned()))
    );
    let only = Question { programs: vec!["g".to_owned()], ..Question::default() };
    assert_eq!(robustness.cycles(Level::Si, &only).limit, None);
}

/// Where two lock a row one after the other, the second one sees the first one.
#[test]
fn locks_exclude_at_mvrc() {
    let program = |name: &str, reads: &str, writes: &str| {
        format!(
            "CREATE PROCEDURE {name}(p int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
             PERFORM 1 FROM c WHERE id = 1 FOR UPDATE; IF NOT FOUND THEN RETURN; END IF;
             SELECT v INTO x FROM {reads} WHERE id = 1; UPDATE {writes} SET v = x + p WHERE id = 1; END $$;"
        )
    };
    let tables = ["a", "b", "c"].map(|name| {
        format!("CREATE TABLE {name} (id int PRIMARY KEY, v int NOT NULL); INSERT INTO {name} VALUES (1, 0);")
    });
    let (database, app) = load(&(tables.concat() + &program("f", "a", "b") + &program("g", "b", "a")));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    assert!(robustness.cycles(Level::Mvrc, &Question::default()).suspects.is_empty());
    let clients = ["f(3) | g(4)", "f(1); f(2) | g(4)"].map(|client| Client::parse(client).expect("a client"));
    let world = World { database: &database, app: &app, clients: &clients, watch: Watch::start(HOUR) };
    assert!(matches!(world.search(Level::Mvrc), Seen::Serializable));
}

#[test]
fn who_catches_violations_of_constraints_is_not_called_robust() {
    let text = |body: &str| {
        format!(
            "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 0);
             CREATE TABLE e (id int PRIMARY KEY);
             CREATE TABLE l (id serial PRIMARY KEY, what text);
             CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN {body} END $$;"
        )
    };
    let robust = |body: &str| {
        let (database, app) = load(&text(body));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let answer = robustness.answer(&database, &app, Level::Si, &Question::default(), &[], RobustEffort::default());
        answer.expect("it runs").verdict
    };
    let caught =
        "BEGIN INSERT INTO e VALUES (5); EXCEPTION WHEN unique_violation THEN UPDATE a SET v = 1 WHERE id = 1; END;";
    let expected = "f, line 1: a violation that is caught tells what others did, whatever the level lets it see";
    assert_eq!(robust(caught), Verdict::Unknown(expected.to_owned()));
    let elsewhere = text("INSERT INTO l (what) VALUES ('x');")
        + &format!(
            "CREATE FUNCTION tried() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {caught} RETURN NULL; END $$;
         CREATE TRIGGER tries AFTER INSERT ON l FOR EACH ROW EXECUTE FUNCTION tried();"
        );
    let (database, app) = load(&elsewhere);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    assert_eq!(robustness.cycles(Level::Si, &Question::default()).limit, Some(expected.to_owned()), "in a trigger");
    // New values are nobody else's, and other errors say nothing about others.
    let logged = "BEGIN INSERT INTO l (what) VALUES ('x'); EXCEPTION WHEN OTHERS THEN NULL; END;";
    assert!(matches!(robust(logged), Verdict::Robust { .. }));
    let divided = "BEGIN INSERT INTO e VALUES (1 / 0); EXCEPTION WHEN division_by_zero THEN NULL; END;";
    assert!(matches!(robust(divided), Verdict::Robust { .. }));
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

struct World<'a> {
    database: &'a Database,
    app: &'a App,
    clients: &'a [Client],
    watch: Watch,
}

enum Seen {
    Serializable,
    Broken(String, Box<History>),
    Limit,
}

impl World<'_> {
    /// Whether a client does something at a level that is not serializable.
    fn search(&self, level: Level) -> Seen {
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
