//! Random scripts: a few sessions with short transactions over few rows, in one order.

use crate::random::Random;
use crate::sessions::{Script, Step};

/// Which isolation levels the transactions of a script use.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Levels {
    /// READ COMMITTED
    Rc,
    /// REPEATABLE READ
    Rr,
    /// READ COMMITTED and REPEATABLE READ
    Mixed,
}

/// Makes a statement.
type Kind = fn(&mut Random) -> String;

/// The tables of every script.
pub(super) const TABLES: &[&str] = &["acct", "parent", "child", "uniq"];

/// What the foreign key does.
const ACTIONS: [&str; 5] = [
    "",
    " ON DELETE CASCADE ON UPDATE CASCADE",
    " ON DELETE SET NULL",
    " ON DELETE RESTRICT",
    " DEFERRABLE INITIALLY DEFERRED",
];

/// Statements by weight. Conditions on `id` keep PostgreSQL on the index, so that rows are visited in the order of keys.
const STATEMENTS: [(u32, Kind); 25] = [
    (6, |r| format!("SELECT id, v, w FROM acct WHERE id = {} ORDER BY id", key(r))),
    (4, |_| "SELECT id, v, w FROM acct WHERE id > 0 ORDER BY id".into()),
    (3, |r| format!("SELECT id, v FROM acct WHERE id > 0 AND v > {} ORDER BY id", value(r))),
    (1, |_| "SELECT count(*), sum(v) FROM acct WHERE id > 0".into()),
    (9, |r| format!("UPDATE acct SET v = v + {} WHERE id = {}{}", small(r), key(r), returning(r))),
    (3, |r| format!("UPDATE acct SET v = v + {} WHERE id > 0 AND v > {}{}", small(r), value(r), returning(r))),
    (2, |r| format!("UPDATE acct SET w = v, v = {} WHERE id > {} AND w = 0", value(r), r.below(2))),
    (2, |r| {
        format!("UPDATE acct SET v = (SELECT sum(v) FROM acct WHERE id > 0) WHERE id = {} RETURNING id, v", key(r))
    }),
    (1, |r| format!("UPDATE acct SET id = id + 10 WHERE id = {}", key(r))),
    (4, |r| format!("INSERT INTO acct VALUES ({}, {}, 0)", r.below(5) + 1, value(r))),
    (2, |r| format!("INSERT INTO acct VALUES ({}, {}, 0) ON CONFLICT DO NOTHING", r.below(5) + 1, value(r))),
    (3, |r| {
        format!(
            "INSERT INTO acct VALUES ({}, {}, 0) ON CONFLICT (id) DO UPDATE SET v = acct.v + EXCLUDED.v RETURNING id, v",
            r.below(5) + 1,
            small(r)
        )
    }),
    (4, |r| format!("DELETE FROM acct WHERE id = {}{}", key(r), returning(r))),
    (1, |r| format!("DELETE FROM acct WHERE id > 0 AND v > {}", value(r))),
    (7, |r| format!("SELECT id, v FROM acct WHERE id = {} ORDER BY id FOR {}", key(r), lock(r))),
    (4, |r| format!("SELECT id, v FROM acct WHERE id > 0 AND v > {} ORDER BY id FOR {}", value(r), lock(r))),
    (3, |r| format!("INSERT INTO child VALUES ({}, {}, 0)", r.below(4) + 1, parent(r))),
    (1, |r| format!("UPDATE child SET pid = {} WHERE id = {}", parent(r), r.below(3) + 1)),
    (2, |r| format!("DELETE FROM child WHERE id = {}", r.below(3) + 1)),
    (3, |r| format!("DELETE FROM parent WHERE id = {}", parent(r))),
    (2, |r| format!("UPDATE parent SET n = n + 1 WHERE id = {}", parent(r))),
    (1, |r| format!("UPDATE parent SET id = id + 10 WHERE id = {}", parent(r))),
    (3, |r| format!("UPDATE uniq SET k = {} WHERE id = {}", r.below(4) + 1, r.below(3) + 1)),
    (2, |r| format!("INSERT INTO uniq VALUES ({}, {}, 0)", r.below(3) + 3, r.below(5) + 1)),
    (2, |r| {
        [
            "SELECT id, k FROM uniq ORDER BY id",
            "SELECT id, pid FROM child ORDER BY id",
            "SELECT id, n FROM parent ORDER BY id",
        ][r.below(3) as usize]
            .into()
    }),
];

/// Statements about locks that are not of rows.
const LOCKS: [(u32, Kind); 6] = [
    (4, |r| format!("LOCK TABLE acct IN {} MODE{}", mode(r), if r.below(3) == 0 { " NOWAIT" } else { "" })),
    (3, |r| format!("SELECT pg_advisory_xact_lock({})", r.below(2))),
    (2, |r| format!("SELECT pg_try_advisory_xact_lock({})", r.below(2))),
    (1, |r| format!("SELECT pg_advisory_xact_lock_shared({})", r.below(2))),
    (1, |r| format!("SELECT pg_advisory_lock({})", r.below(2))),
    (1, |r| format!("SELECT pg_advisory_unlock({})", r.below(2))),
];

/// A script from a seed.
pub(super) fn script(seed: u64, levels: Levels) -> Script {
    let mut random = Random::new(seed);
    let sessions = if random.below(4) == 0 { 3 } else { 2 };
    let theme = theme(&mut random);
    let mut queues: Vec<Vec<String>> = (0..sessions).map(|_| session(&mut random, levels, &theme)).collect();
    for queue in &mut queues {
        queue.reverse();
    }
    let mut steps = Vec::new();
    while queues.iter().any(|queue| !queue.is_empty()) {
        let session = random.below(sessions as u32) as usize;
        if let Some(sql) = queues[session].pop() {
            steps.push(Step { session, sql });
        }
    }
    let setup = setup(ACTIONS[random.below(ACTIONS.len() as u32) as usize]);
    Script { tables: TABLES, setup, sessions, steps }
}

/// The kinds of statements of one script: few, so that sessions meet.
fn theme(random: &mut Random) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = (0..random.below(4) + 2).map(|_| pick(random, &STATEMENTS)).collect();
    if random.below(3) == 0 {
        kinds.push(pick(random, &LOCKS));
    }
    kinds
}

/// The tables and their rows.
pub(super) fn setup(action: &str) -> Vec<String> {
    [
        "CREATE TABLE acct (id int PRIMARY KEY, v int NOT NULL, w int)",
        "CREATE TABLE parent (id int PRIMARY KEY, n int)",
        &format!("CREATE TABLE child (id int PRIMARY KEY, pid int REFERENCES parent{action}, x int)"),
        "CREATE TABLE uniq (id int PRIMARY KEY, k int UNIQUE, v int)",
        "INSERT INTO acct VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)",
        "INSERT INTO parent VALUES (1, 0), (2, 0)",
        "INSERT INTO child VALUES (1, 1, 0)",
        "INSERT INTO uniq VALUES (1, 1, 0), (2, 2, 0)",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn session(random: &mut Random, levels: Levels, theme: &[Kind]) -> Vec<String> {
    let mut statements = Vec::new();
    for _ in 0..=random.below(2) {
        transaction(random, levels, theme, &mut statements);
    }
    statements
}

fn transaction(random: &mut Random, levels: Levels, theme: &[Kind], statements: &mut Vec<String>) {
    let any = |random: &mut Random| theme[random.below(theme.len() as u32) as usize](random);
    if random.below(8) == 0 {
        statements.push(any(random));
        return;
    }
    let level = match levels {
        Levels::Rc => "READ COMMITTED",
        Levels::Rr => "REPEATABLE READ",
        Levels::Mixed => ["READ COMMITTED", "REPEATABLE READ"][random.below(2) as usize],
    };
    statements.push(format!("BEGIN ISOLATION LEVEL {level}"));
    let mut savepoint = false;
    for _ in 0..random.below(4) + 2 {
        let statement = match random.below(20) {
            0 | 1 if !savepoint => {
                savepoint = true;
                "SAVEPOINT s".to_owned()
            }
            0 | 1 => ["ROLLBACK TO s", "ROLLBACK TO s", "RELEASE s"][random.below(3) as usize].to_owned(),
            2 => pick(random, &STATEMENTS)(random),
            _ => any(random),
        };
        savepoint &= statement != "RELEASE s";
        statements.push(statement);
    }
    statements.push(if random.below(5) == 0 { "ROLLBACK" } else { "COMMIT" }.to_owned());
}

fn pick(random: &mut Random, table: &[(u32, Kind)]) -> Kind {
    let all = table.iter().map(|(weight, _)| weight).sum();
    let mut at = random.below(all);
    for (weight, kind) in table {
        if at < *weight {
            return *kind;
        }
        at -= weight;
    }
    unreachable!("the number is below the sum of the weights")
}

/// Mostly the first two rows.
fn key(random: &mut Random) -> u32 {
    [1, 1, 1, 2, 2, 3][random.below(6) as usize]
}

fn parent(random: &mut Random) -> u32 {
    [1, 1, 2, 2, 3][random.below(5) as usize]
}

fn value(random: &mut Random) -> u32 {
    random.below(4) * 10 + 5
}

fn small(random: &mut Random) -> u32 {
    random.below(9) + 1
}

fn returning(random: &mut Random) -> &'static str {
    if random.below(3) == 0 { " RETURNING id, v" } else { "" }
}

fn lock(random: &mut Random) -> String {
    let strength = ["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"][random.below(4) as usize];
    let policy = ["", "", "", " NOWAIT", " SKIP LOCKED"][random.below(5) as usize];
    format!("{strength}{policy}")
}

fn mode(random: &mut Random) -> &'static str {
    [
        "ACCESS SHARE",
        "ROW SHARE",
        "ROW EXCLUSIVE",
        "SHARE UPDATE EXCLUSIVE",
        "SHARE",
        "SHARE ROW EXCLUSIVE",
        "EXCLUSIVE",
        "ACCESS EXCLUSIVE",
    ][random.below(8) as usize]
}
