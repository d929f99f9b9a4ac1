//! What every level promises beside what it lets reads see: retries end, a final check sees the latest committed state, and
//! `recency = commit` holds.

use skew_model::Level;
use skew_sql::session::{Client, Connection, Database, Options, Outcome};
use skew_sql::types::Datum;
use skew_store::Recency;
use skew_testing::Dice;

const LEVELS: [Level; 9] =
    [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

fn database(level: Level, recency: Recency, seed: u64) -> Database {
    Database::new(Options { level: Some(level), recency, seed, ..Options::default() })
}

fn connect(database: &Database) -> Connection {
    database.connect(Client::new("postgres", "postgres"))
}

/// The first value of the first row, or the SQLSTATE.
fn ask(connection: &mut Connection, sql: &str) -> Result<Option<i64>, String> {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    let code = |error: skew_sql::error::SqlError| error.fields().code.clone();
    let outcome = result.map_err(code)?;
    ended.map_err(code)?;
    Ok(match outcome {
        Outcome::Rows { rows, .. } => match rows.first().and_then(|row| row.first()) {
            Some(Datum::Int(number)) => Some(*number),
            _ => None,
        },
        _ => None,
    })
}

fn run(connection: &mut Connection, sql: &str) {
    ask(connection, sql).unwrap_or_else(|code| panic!("{sql}: {code}"));
}

/// A worker takes a job that no other worker has locked. One that is refused rolls back and tries again.
#[derive(Clone, Copy, PartialEq)]
enum Worker {
    Idle,
    Begun,
    Took(i64),
    Did,
}

#[test]
fn a_queue_of_jobs_is_emptied_with_few_retries_at_every_level() {
    const JOBS: u64 = 60;
    const WORKERS: usize = 4;
    for level in LEVELS {
        for seed in 0..3 {
            let database = database(level, Recency::None, seed);
            let mut check = connect(&database);
            run(&mut check, "CREATE TABLE job (id int PRIMARY KEY, state int NOT NULL)");
            run(&mut check, &format!("INSERT INTO job SELECT i, 0 FROM generate_series(1, {JOBS}) i"));
            run(&mut check, "SELECT skew.checkpoint()");
            run(&mut check, "SELECT skew.checking(true)");
            let mut workers: Vec<(Connection, Worker)> =
                (0..WORKERS).map(|_| (connect(&database), Worker::Idle)).collect();
            let (mut dice, mut refused, mut steps) = (Dice(seed), 0, 0);
            loop {
                steps += 1;
                assert!(steps < 100_000, "{level}, seed {seed}: {refused} refused and not done");
                if steps % 16 == 0 && ask(&mut check, "SELECT count(*) FROM job WHERE state = 0") == Ok(Some(0)) {
                    break;
                }
                let (connection, worker) = &mut workers[dice.roll(WORKERS)];
                let take = "SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
                let step = match *worker {
                    Worker::Idle => ask(connection, "BEGIN").map(|_| Worker::Begun),
                    Worker::Begun => ask(connection, take).map(|job| job.map_or(Worker::Did, Worker::Took)),
                    Worker::Took(job) => {
                        ask(connection, &format!("UPDATE job SET state = 1 WHERE id = {job}")).map(|_| Worker::Did)
                    }
                    Worker::Did => ask(connection, "COMMIT").map(|_| Worker::Idle),
                };
                *worker = step.unwrap_or_else(|code| {
                    assert_eq!(code, "40001", "{level}, seed {seed}");
                    refused += 1;
                    run(connection, "ROLLBACK");
                    Worker::Idle
                });
            }
            // One for each job that was taken with a stale snapshot, and one for each commit and each worker.
            assert!(refused <= JOBS as usize * (WORKERS + 1), "{level}, seed {seed}: {refused} refused");
        }
    }
}

/// Without real time a read may return any old version; a final check does not.
#[test]
fn a_final_check_sees_the_latest_committed_state_at_every_level() {
    for level in LEVELS {
        for seed in 0..10 {
            let database = database(level, Recency::None, seed);
            let (mut one, mut other, mut check) = (connect(&database), connect(&database), connect(&database));
            run(&mut one, "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL)");
            run(&mut one, "INSERT INTO t VALUES (1, 0), (2, 0)");
            run(&mut one, "SELECT skew.checkpoint()");
            run(&mut check, "SELECT skew.checking(true)");
            for n in 1..12 {
                let writer = if n % 3 == 0 { &mut one } else { &mut other };
                let row = 1 + n % 2;
                while let Err(code) = ask(writer, &format!("UPDATE t SET v = {n} WHERE id = {row}")) {
                    assert_eq!(code, "40001");
                }
                run(&mut other, "BEGIN");
                let _ = ask(&mut other, "UPDATE t SET v = 1000");
                run(&mut other, "ROLLBACK");
                let seen = ask(&mut check, &format!("SELECT v FROM t WHERE id = {row}"));
                assert_eq!(seen, Ok(Some(n)), "{level}, seed {seed}");
                let both = ask(&mut check, "SELECT sum(v) FROM t");
                assert_eq!(both, Ok(Some(n + n - 1)), "{level}, seed {seed}");
            }
        }
    }
}

/// With real time whoever begins after a commit sees it, and nobody sees what was rolled back before.
#[test]
fn recency_commit_holds_at_every_level() {
    for level in LEVELS {
        for seed in 0..10 {
            let database = database(level, Recency::Commit, seed);
            let (mut writer, mut reader) = (connect(&database), connect(&database));
            run(&mut writer, "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL)");
            run(&mut writer, "INSERT INTO t VALUES (1, 0)");
            for n in 1..10 {
                run(&mut writer, &format!("UPDATE t SET v = {n} WHERE id = 1"));
                run(&mut writer, "BEGIN");
                run(&mut writer, "UPDATE t SET v = 1000 WHERE id = 1");
                run(&mut writer, "ROLLBACK");
                assert_eq!(ask(&mut reader, "SELECT v FROM t WHERE id = 1"), Ok(Some(n)), "{level}, seed {seed}");
            }
        }
    }
}

/// What is running is still seen at `ru`.
#[test]
fn recency_commit_leaves_dirty_reads_to_ru() {
    let seen = (0..30).any(|seed| {
        let database = database(Level::Ru, Recency::Commit, seed);
        let (mut writer, mut reader) = (connect(&database), connect(&database));
        run(&mut writer, "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL)");
        run(&mut writer, "INSERT INTO t VALUES (1, 0)");
        run(&mut writer, "BEGIN");
        run(&mut writer, "UPDATE t SET v = 1000 WHERE id = 1");
        ask(&mut reader, "SELECT v FROM t WHERE id = 1") == Ok(Some(1000))
    });
    assert!(seen);
}
