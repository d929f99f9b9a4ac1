//! Which anomalies scripts of statements can show at which level, and that they never show one that the level forbids.
//!
//! A script is run with many seeds at every level, one statement at a time; a session that waits is left out until it goes
//! on. Whatever comes out, the history of the run has to be within the level.

use std::collections::BTreeMap;
use std::fmt::Write;

use skew_sql::session::{Options, control::parse_level};
use skew_store::Recency;

use crate::sessions::Sessions;

/// Two rows, called x and y, and what refers to what.
const SETUP: &str = "
    CREATE TABLE t (id int PRIMARY KEY, v int, k int UNIQUE);
    CREATE TABLE parent (id int PRIMARY KEY, n int);
    CREATE TABLE child (id int PRIMARY KEY, pid int REFERENCES parent);
    INSERT INTO t VALUES (1, 10, 1), (2, 20, 2);
    INSERT INTO parent VALUES (1, 0)";

const LEVELS: [&str; 9] = ["ru", "rc", "ra", "cc", "mvrc", "pc", "psi", "si", "ser"];

/// Nothing that a level forbids is shown in so many runs.
const RUNS: u64 = 40;

/// What a level allows is shown in so many runs.
const MOST_RUNS: u64 = 1500;

/// Statements of sessions, with names for results; and what gives the anomaly away.
struct Script {
    name: &'static str,
    script: &'static str,
    shown: fn(&Seen) -> bool,
}

/// Where each script shows its anomaly.
const EXPECTED: &str = "
                          ru   rc   ra   cc   mvrc pc   psi  si   ser
dirty read                yes  -    -    -    -    -    -    -    -
intermediate read         yes  -    -    -    -    -    -    -    -
circular flow             yes  -    -    -    -    -    -    -    -
dirty write               yes  -    -    -    -    -    -    -    -
vanishing transaction     yes  -    -    -    -    -    -    -    -
non-repeatable read       yes  yes  -    -    yes  -    -    -    -
phantom                   yes  yes  -    -    yes  -    -    -    -
read skew                 yes  yes  -    -    yes  -    -    -    -
fractured scan            yes  yes  -    -    -    -    -    -    -
own write not seen        yes  yes  -    -    -    -    -    -    -
session goes back         yes  yes  yes  -    -    -    -    -    -
causality violation       yes  yes  yes  -    -    -    -    -    -
long fork                 yes  yes  yes  yes  -    -    yes  -    -
lost update               yes  yes  yes  yes  yes  yes  -    -    -
lost increment            yes  yes  yes  yes  -    yes  -    -    -
lost increment of three   yes  yes  yes  yes  -    yes  -    -    -
write skew                yes  yes  yes  yes  yes  yes  yes  yes  -
write skew on a predicate yes  yes  yes  yes  yes  yes  yes  yes  -
read-only anomaly         yes  yes  yes  yes  yes  yes  yes  yes  -
locked lost update        -    -    -    -    -    -    -    -    -
locked write skew         -    -    -    -    -    -    -    -    -
duplicate primary key     -    -    -    -    -    -    -    -    -
duplicate unique key      -    -    -    -    -    -    -    -    -
upsert loses              -    -    -    -    -    -    -    -    -
orphan                    -    -    -    -    -    -    -    -    -
orphan of a moved key     -    -    -    -    -    -    -    -    -
";

const SCRIPTS: [Script; 26] = [
    Script {
        name: "dirty read",
        script: "
            T1: begin
            T2: begin
            T1: update t set v = 101 where id = 1
            T2 x: select v from t where id = 1
            T1: rollback
            T2: commit",
        shown: |seen| seen.committed(&[2]) && seen.is("x", "101"),
    },
    Script {
        name: "intermediate read",
        script: "
            T1: begin
            T2: begin
            T1: update t set v = 101 where id = 1
            T2 x: select v from t where id = 1
            T1: update t set v = 11 where id = 1
            T1: commit
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("x", "101"),
    },
    Script {
        name: "circular flow",
        script: "
            T1: begin
            T2: begin
            T1: update t set v = 11 where id = 1
            T2: update t set v = 22 where id = 2
            T1 y: select v from t where id = 2
            T2 x: select v from t where id = 1
            T1: commit
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("y", "22") && seen.is("x", "11"),
    },
    Script {
        name: "dirty write",
        script: "
            T1: begin
            T2: begin
            T1: update t set v = 11 where id = 1
            T2: update t set v = 12 where id = 1
            T2: update t set v = 22 where id = 2
            T1: update t set v = 21 where id = 2
            T1: commit
            T2: commit
            T3: begin
            T3 x: select v from t where id = 1
            T3 y: select v from t where id = 2
            T3: commit
            T4: begin
            T4 again-y: select v from t where id = 2
            T4 again-x: select v from t where id = 1
            T4: commit",
        // T3 has T1 before T2, because it saw T2 last; T4 the other way round.
        shown: |seen| {
            let first = seen.is("x", "11") && seen.is("y", "22");
            seen.committed(&[1, 2, 3, 4]) && first && seen.is("again-y", "22") && seen.is("again-x", "11")
        },
    },
    Script {
        name: "vanishing transaction",
        script: "
            T1: begin
            T1: update t set v = 11 where id = 1
            T1: update t set v = 21 where id = 2
            T1: commit
            T2: begin
            T2 x: select v from t where id = 1
            T2 y: select v from t where id = 2
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("x", "11") && seen.is("y", "20"),
    },
    Script {
        name: "non-repeatable read",
        script: "
            T1: begin
            T1 once: select v from t where id = 1
            T2: update t set v = 11 where id = 1
            T1 twice: select v from t where id = 1
            T1: commit",
        shown: |seen| seen.committed(&[1]) && seen.is("once", "10") && seen.is("twice", "11"),
    },
    Script {
        name: "phantom",
        script: "
            T1: begin
            T1 once: select count(*) from t where v > 5
            T2: insert into t values (3, 30, 3)
            T1 twice: select count(*) from t where v > 5
            T1: commit",
        shown: |seen| seen.committed(&[1]) && seen.is("once", "2") && seen.is("twice", "3"),
    },
    Script {
        name: "read skew",
        script: "
            T1: begin
            T1 x: select v from t where id = 1
            T2: begin
            T2: update t set v = 11 where id = 1
            T2: update t set v = 21 where id = 2
            T2: commit
            T1 y: select v from t where id = 2
            T1: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("x", "10") && seen.is("y", "21"),
    },
    Script {
        name: "fractured scan",
        script: "
            T1: begin
            T2: begin
            T2: update t set v = 11 where id = 1
            T2: update t set v = 21 where id = 2
            T2: commit
            T1 both: select v from t order by id
            T1: commit",
        shown: |seen| seen.committed(&[1, 2]) && (seen.is("both", "10 21") || seen.is("both", "11 20")),
    },
    Script {
        name: "own write not seen",
        script: "
            T1: update t set v = 11 where id = 1
            T1 x: select v from t where id = 1",
        shown: |seen| seen.is("x", "10"),
    },
    Script {
        name: "session goes back",
        script: "
            T1: update t set v = 11 where id = 1
            T2 once: select v from t where id = 1
            T2 twice: select v from t where id = 1",
        shown: |seen| seen.is("once", "11") && seen.is("twice", "10"),
    },
    Script {
        name: "causality violation",
        script: "
            T1: update t set v = 11 where id = 1
            T2: begin
            T2 x: select v from t where id = 1
            T2: update t set v = 21 where id = 2
            T2: commit
            T3: begin
            T3 y: select v from t where id = 2
            T3 old: select v from t where id = 1
            T3: commit",
        shown: |seen| seen.committed(&[2, 3]) && seen.is("x", "11") && seen.is("y", "21") && seen.is("old", "10"),
    },
    Script {
        name: "long fork",
        script: "
            T1: update t set v = 11 where id = 1
            T2: update t set v = 21 where id = 2
            T3 one: select v from t order by id
            T4 other: select v from t order by id",
        shown: |seen| seen.is("one", "11 20") && seen.is("other", "10 21"),
    },
    Script {
        name: "lost update",
        script: "
            T1: begin
            T2: begin
            T1 one: select v from t where id = 1
            T2 other: select v from t where id = 1
            T1: update t set v = 11 where id = 1
            T1: commit
            T2: update t set v = 12 where id = 1
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("one", "10") && seen.is("other", "10"),
    },
    Script {
        name: "lost increment",
        script: "
            T1: begin
            T2: begin
            T1: update t set v = v + 1 where id = 1
            T2: update t set v = v + 1 where id = 1
            T1: commit
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.at_end("select v from t where id = 1") != "12",
    },
    Script {
        name: "lost increment of three",
        script: "
            T1 a: update t set v = v + 1
            T2 b: update t set v = v + 1
            T3 c: update t set v = v + 1",
        shown: |seen| {
            let all = ["a", "b", "c"].iter().all(|name| seen.is(name, "UPDATE 2"));
            all && seen.at_end("select v from t order by id") != "13 23"
        },
    },
    Script {
        name: "write skew",
        script: "
            T1: begin
            T2: begin
            T1 one: select v from t where id in (1, 2) order by id
            T2 other: select v from t where id in (1, 2) order by id
            T1: update t set v = 11 where id = 1
            T2: update t set v = 21 where id = 2
            T1: commit
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("one", "10 20") && seen.is("other", "10 20"),
    },
    Script {
        name: "write skew on a predicate",
        script: "
            T1: begin
            T2: begin
            T1 one: select count(*) from t where v % 3 = 0
            T2 other: select count(*) from t where v % 3 = 0
            T1: insert into t values (3, 30, 3)
            T2: insert into t values (4, 42, 4)
            T1: commit
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("one", "0") && seen.is("other", "0"),
    },
    Script {
        name: "read-only anomaly",
        script: "
            T2: begin
            T2 start: select v from t order by id
            T1: begin
            T1: update t set v = v + 5 where id = 2
            T1: commit
            T3 report: select v from t order by id
            T2: update t set v = 9 where id = 1
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("start", "10 20") && seen.is("report", "10 25"),
    },
    Script {
        name: "locked lost update",
        script: "
            T1: begin
            T2: begin
            T1 one: select v from t where id = 1 for update
            T2 other: select v from t where id = 1 for update
            T1: update t set v = 11 where id = 1
            T1: commit
            T2: update t set v = 12 where id = 1
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("one", "10") && seen.is("other", "10"),
    },
    Script {
        name: "locked write skew",
        script: "
            T1: begin
            T2: begin
            T1 one: select v from t where id in (1, 2) order by id for update
            T2 other: select v from t where id in (1, 2) order by id for update
            T1: update t set v = 11 where id = 1
            T1: commit
            T2: update t set v = 21 where id = 2
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]) && seen.is("one", "10 20") && seen.is("other", "10 20"),
    },
    Script {
        name: "duplicate primary key",
        script: "
            T1: begin
            T2: begin
            T1: insert into t values (3, 30, 3)
            T2: insert into t values (3, 31, 4)
            T1: commit
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]),
    },
    Script {
        name: "duplicate unique key",
        script: "
            T1: begin
            T2: begin
            T1: update t set k = 7 where id = 1
            T2: update t set k = 7 where id = 2
            T1: commit
            T2: commit",
        shown: |seen| seen.committed(&[1, 2]),
    },
    Script {
        name: "upsert loses",
        script: "
            T1 a: insert into t values (3, 1, 3) on conflict (id) do nothing
            T2 b: insert into t values (3, 1, 4) on conflict (id) do nothing
            T3 c: insert into t values (3, 1, 5) on conflict (id) do nothing",
        shown: |seen| {
            let made = ["a", "b", "c"].iter().filter(|name| seen.is(name, "INSERT 0 1")).count();
            made != 1 || seen.at_end("select count(*) from t where id = 3") != "1"
        },
    },
    Script {
        name: "orphan",
        script: "
            T1: begin
            T2: begin
            T1: insert into child values (1, 1)
            T2: delete from parent where id = 1
            T1: commit
            T2: commit",
        shown: |seen| seen.at_end("select count(*) from child where pid not in (select id from parent)") != "0",
    },
    Script {
        name: "orphan of a moved key",
        script: "
            T1: begin
            T2: begin
            T2: update parent set id = 5 where id = 1
            T1: insert into child values (1, 1)
            T2: commit
            T1: commit",
        shown: |seen| seen.at_end("select count(*) from child where pid not in (select id from parent)") != "0",
    },
];

/// What a run came to: results by name, how sessions ended, and what is asked at the end.
struct Seen {
    results: BTreeMap<String, String>,
    commits: BTreeMap<usize, String>,
    end: BTreeMap<&'static str, String>,
}

/// What scripts ask at the end.
const QUESTIONS: [&str; 4] = [
    "select v from t where id = 1",
    "select v from t order by id",
    "select count(*) from t where id = 3",
    "select count(*) from child where pid not in (select id from parent)",
];

impl Seen {
    fn is(&self, name: &str, result: &str) -> bool {
        self.results.get(name).is_some_and(|seen| seen == result)
    }

    fn committed(&self, sessions: &[usize]) -> bool {
        sessions.iter().all(|session| self.commits.get(session).is_some_and(|outcome| outcome == "COMMIT"))
    }

    fn at_end(&self, question: &str) -> &str {
        &self.end[question]
    }
}

/// `T1 name: statement` → session, name, statement.
fn steps(script: &str) -> Vec<(usize, &str, &str)> {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty());
    let step = |line| {
        let (head, sql): (&str, &str) = str::split_once(line, ": ").expect("a session and a statement");
        let (session, name) = head.split_once(' ').unwrap_or((head, ""));
        (session[1..].parse().expect("T and a number"), name, sql)
    };
    lines.map(step).collect()
}

fn run(sessions: &mut Sessions, steps: &[(usize, &str, &str)]) -> Seen {
    let mut left: Vec<usize> = (0..steps.len()).collect();
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    let mut seen = Seen { results: BTreeMap::new(), commits: BTreeMap::new(), end: BTreeMap::new() };
    while let Some(at) = left.iter().position(|&step| sessions.is_free(steps[step].0)) {
        let step = left.remove(at);
        let (session, _, sql) = steps[step];
        last.insert(session, step);
        for (session, answer) in sessions.step(session, sql) {
            let (_, name, sql) = steps[last[&session]];
            if sql == "commit" {
                seen.commits.insert(session, answer.clone());
            }
            seen.results.insert(name.to_owned(), answer);
        }
    }
    sessions.end();
    let complaint = sessions.complaint();
    sessions.control("SELECT skew.checking(true)");
    seen.end = QUESTIONS.map(|question| (question, sessions.control(question))).into();
    sessions.control("SELECT skew.checking(false)");
    if let Some(complaint) = complaint {
        panic!("{complaint}");
    }
    seen
}

/// Whether a script shows its anomaly at a level: in one of many runs, or in none.
fn is_shown(script: &Script, level: &str, expected: bool) -> bool {
    let steps = steps(script.script);
    let count = steps.iter().map(|step| step.0).max().expect("a script has steps");
    let level = parse_level(level).expect("a level");
    let mut sessions = Sessions::open(Options { level, recency: Recency::None, ..Options::default() }, count, SETUP);
    let most = if expected { MOST_RUNS } else { RUNS };
    (0..most).any(|seed| {
        sessions.reset(seed);
        (script.shown)(&run(&mut sessions, &steps))
    })
}

#[test]
fn scripts_show_what_their_level_allows_and_nothing_else() {
    let mut table = format!("\n{:26}{}\n", "", LEVELS.map(|level| format!("{level:5}")).concat().trim_end());
    for script in &SCRIPTS {
        let expected = EXPECTED.lines().find_map(|line| line.strip_prefix(script.name)).unwrap_or_default();
        let expected: Vec<&str> = expected.split_whitespace().collect();
        let cells = LEVELS.iter().enumerate().map(|(at, level)| {
            let shown = is_shown(script, level, expected.get(at) == Some(&"yes"));
            format!("{:5}", if shown { "yes" } else { "-" })
        });
        let cells: String = cells.collect();
        let _ = writeln!(table, "{:26}{}", script.name, cells.trim_end());
    }
    assert_eq!(table, EXPECTED, "expected (right) and seen (left) differ:\n{table}");
}
