//! What other clients notice of one that asks for much: for each kind of heavy statement, the longest that they wait.
//!
//! `SKEW_ROWS=200000` is how many rows the tables have [default: 300]; `SKEW_SERVER=host:port` is a server to try [default: one
//! in this process]; `SKEW_HELD_UP_MS=50` is how long others are allowed to wait [default: not judged, since a busy machine
//! decides it].

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::raw::{Raw, message, query};
use crate::target::{Target, settings};

const DATABASE: &str = "others";

/// What others do all the time: look, and change something.
const SMALL: &[&str] = &["SELECT 1", "UPDATE small SET n = n + 1 WHERE id = 1"];

/// Each kind of statement, in an order in which all of them work. `{rows}` is the number of rows, `{list}` and `{values}` are as many.
const HEAVY: &[&str] = &[
    "CREATE TABLE big (id int PRIMARY KEY, a int, b text)",
    "INSERT INTO big SELECT g, g % 1000, 'text ' || g FROM generate_series(1, {rows}) g",
    "CREATE TABLE plain AS SELECT * FROM big",
    "SELECT count(*) FROM big",
    "SELECT * FROM big ORDER BY b DESC, a",
    "SELECT a, count(*), max(b) FROM big GROUP BY a",
    "SELECT DISTINCT b FROM big",
    "SELECT count(*) FROM big x JOIN big y USING (id)",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM big",
    "SELECT length(string_agg(b, ',')) FROM big",
    "SELECT length(jsonb_agg(big)::text) FROM big",
    "CREATE INDEX big_a ON big (a, b)",
    "CREATE UNIQUE INDEX ON big (b)",
    "UPDATE big SET a = a + 1",
    "BEGIN; UPDATE big SET b = b || 'x'; ROLLBACK",
    "BEGIN; SAVEPOINT s; UPDATE big SET b = b || 'x'; ROLLBACK TO s; COMMIT",
    "UPDATE big SET id = id + {rows}",
    "SELECT * FROM big FOR UPDATE",
    "INSERT INTO big SELECT * FROM big ON CONFLICT (id) DO UPDATE SET a = 7",
    "MERGE INTO plain USING big ON plain.id = big.id - {rows} WHEN MATCHED THEN UPDATE SET a = 0 WHEN NOT MATCHED THEN DO NOTHING",
    "ALTER TABLE big ADD CONSTRAINT big_check CHECK (a > -1)",
    "CREATE TABLE child (id int, big int); INSERT INTO child SELECT g, g + {rows} FROM generate_series(1, {rows}) g",
    "ALTER TABLE child ADD FOREIGN KEY (big) REFERENCES big",
    "ALTER TABLE plain ADD PRIMARY KEY (id)",
    "ALTER TABLE big ADD COLUMN c float8 DEFAULT random()",
    "ALTER TABLE big ALTER COLUMN a TYPE bigint",
    "ALTER TABLE big DROP COLUMN c",
    "CREATE MATERIALIZED VIEW seen AS SELECT * FROM big",
    "REFRESH MATERIALIZED VIEW seen",
    "CLUSTER big USING big_a",
    "REINDEX TABLE big",
    "VACUUM FULL big",
    "ANALYZE",
    "EXPLAIN ANALYZE SELECT * FROM big ORDER BY b",
    "COPY big TO STDOUT",
    "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM big LOOP NULL; END LOOP; END $$",
    "DO $$ BEGIN FOR i IN 1..{rows} LOOP INSERT INTO plain VALUES (-i, i, 'x'); END LOOP; END $$",
    "BEGIN; DECLARE c CURSOR FOR SELECT * FROM big ORDER BY b; FETCH ALL FROM c; COMMIT",
    "SELECT * FROM (VALUES {values}) v(a, b) WHERE a < 0",
    "SELECT 1 WHERE 0 IN ({list})",
    "SELECT repeat('ab', {rows} * 2) ~ '^(a*b*)*$'",
    "SELECT length(regexp_replace(repeat('ab', {rows} * 2), 'a(b)', '\\1', 'g'))",
    "SELECT length((7::numeric ^ 30000)::text)",
    "SELECT count(*) FROM jsonb_array_elements((SELECT jsonb_agg(g) FROM generate_series(1, {rows}) g))",
    "SELECT jsonb_path_query_array((SELECT jsonb_agg(g) FROM generate_series(1, {rows}) g), '$[*] ? (@ > 10)') IS NULL",
    "SELECT length(array_to_string(ARRAY(SELECT g FROM generate_series(1, {rows}) g ORDER BY -g), ','))",
    "CREATE DATABASE copy TEMPLATE stock",
    "DROP DATABASE copy",
    "SELECT length(skew.history())",
    "DELETE FROM child",
    "TRUNCATE plain",
    "DELETE FROM big WHERE id % 2 = 0",
    "DROP TABLE child, plain CASCADE",
    "DROP MATERIALIZED VIEW seen",
    "DROP TABLE big",
];

fn rows() -> usize {
    std::env::var("SKEW_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(300)
}

/// The statement for so many rows.
fn written_out(sql: &str, rows: usize) -> String {
    let list = |show: fn(usize) -> String| (1..=rows).map(show).collect::<Vec<_>>().join(", ");
    let sql = sql.replace("{rows}", &rows.to_string());
    let sql = sql.replace("{list}", &list(|n| n.to_string()));
    sql.replace("{values}", &list(|n| format!("({n}, 'text {n}')")))
}

/// Runs the statement while others work: how long it took, and the longest that one of them waited, for what.
fn longest_wait(address: SocketAddr, mut heavy: impl FnMut() -> String) -> (Duration, Duration, &'static str, String) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waits: Vec<_> = SMALL
            .iter()
            .map(|sql| {
                let done = &done;
                scope.spawn(move || {
                    let mut raw = Raw::connect(address, DATABASE);
                    let mut longest = Duration::ZERO;
                    while !done.load(Ordering::Relaxed) {
                        let began = Instant::now();
                        let answer = raw.query(sql);
                        assert!(answer.ends_with("Z(I)"), "{sql}: {answer}");
                        longest = longest.max(began.elapsed());
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    (longest, *sql)
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        let began = Instant::now();
        let answer = heavy();
        let took = began.elapsed();
        done.store(true, Ordering::Relaxed);
        let waits = waits.into_iter().map(|wait| wait.join().expect("others are served"));
        let (longest, sql) = waits.max().expect("there are others");
        (took, longest, sql, answer)
    })
}

#[test]
fn others_go_on_while_one_client_asks_for_much() {
    let rows = rows();
    let limit = std::env::var("SKEW_HELD_UP_MS").ok().and_then(|limit| limit.parse().ok()).map(Duration::from_millis);
    let server = std::env::var("SKEW_SERVER").ok();
    let own = server.is_none().then(|| Target::with(settings()));
    let address = match (&own, &server) {
        (Some(target), _) => target.address,
        (None, Some(server)) => server.parse().expect("host:port"),
        (None, None) => unreachable!("without a server there is an own one"),
    };
    let mut raw = Raw::connect(address, DATABASE);
    assert_eq!(raw.query("CREATE TABLE small (id int PRIMARY KEY, n int)"), "C(CREATE TABLE) Z(I)");
    assert_eq!(raw.query("INSERT INTO small VALUES (1, 0)"), "C(INSERT 0 1) Z(I)");
    let mut stock = Raw::connect(address, "stock");
    stock.query(&written_out("CREATE TABLE t AS SELECT g, 'text' FROM generate_series(1, {rows}) g", rows));
    drop(stock);
    let mut failures = Vec::new();
    let mut tell = |sql: &str, (took, longest, small, answer): (Duration, Duration, &str, String)| {
        println!("{longest:>10.1?} of {took:>10.1?}: {sql}");
        if answer.contains("E(") {
            failures.push(format!("{sql}: {answer}"));
        } else if limit.is_some_and(|limit| longest > limit) {
            failures.push(format!("{sql} holds {small} up for {longest:?}"));
        }
    };
    let nothing = || {
        std::thread::sleep(Duration::from_millis(500));
        String::new()
    };
    tell("(nothing)", longest_wait(address, nothing));
    for sql in HEAVY {
        let text = written_out(sql, rows);
        let heavy = || {
            raw.send(&query(&text));
            raw.end_of_answer().0
        };
        tell(sql, longest_wait(address, heavy));
    }
    let lines: String = (1..=rows).map(|n| format!("{n}\ttext {n}\n")).collect();
    raw.query("CREATE TABLE copied (id int PRIMARY KEY, b text)");
    let heavy = || {
        raw.send(&query("COPY copied FROM STDIN"));
        raw.end_of_answer();
        lines.as_bytes().chunks(60_000).for_each(|piece| raw.send(&message(b'd', piece)));
        raw.send(&message(b'c', b""));
        raw.end_of_answer().0
    };
    tell("COPY copied FROM STDIN", longest_wait(address, heavy));
    // A client that goes away in the middle of a transaction leaves much to undo.
    let mut leaver = Raw::connect(address, DATABASE);
    leaver.query("BEGIN; UPDATE copied SET b = 'x'");
    let heavy = || {
        leaver.stream.shutdown(std::net::Shutdown::Both).expect("a socket");
        std::thread::sleep(Duration::from_millis(300));
        String::new()
    };
    tell("(the client goes away)", longest_wait(address, heavy));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
