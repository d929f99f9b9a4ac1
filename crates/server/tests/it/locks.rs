//! Waiting: for locks, for clients that vanish, for cancel requests, for the end of the server.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use skew_server::Server;

use crate::raw::{Raw, message, query};
use crate::target::{Target, settings};

const SOON: Duration = Duration::from_secs(10);

fn connect(target: &Target) -> Raw {
    Raw::connect(target.address, &target.database)
}

fn with_table(target: &Target) -> Raw {
    let mut raw = connect(target);
    raw.query("CREATE TABLE t (id int PRIMARY KEY, n int)");
    raw.query("INSERT INTO t VALUES (1, 0), (2, 0)");
    raw
}

/// Asks until the answer comes, for a while.
fn eventually(raw: &mut Raw, sql: &str, expected: &str) {
    let began = Instant::now();
    loop {
        let answer = raw.query(sql);
        if answer == expected {
            return;
        }
        assert!(began.elapsed() < SOON, "{answer}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_client_that_vanishes_is_rolled_back() {
    let target = Target::new();
    let mut other = with_table(&target);
    let mut raw = connect(&target);
    assert_eq!(raw.query("BEGIN; UPDATE t SET n = 1 WHERE id = 1"), "C(BEGIN) C(UPDATE 1) Z(T)");
    drop(raw);
    // Waits until the lock is free, and sees what was before.
    assert_eq!(other.query("UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n"), "T(n:23:0) D(1) C(UPDATE 1) Z(I)");
}

#[test]
fn a_client_that_vanishes_while_it_waits_is_rolled_back() {
    let target = Target::with(settings());
    let mut holder = with_table(&target);
    assert_eq!(holder.query("BEGIN; UPDATE t SET n = 1 WHERE id = 1"), "C(BEGIN) C(UPDATE 1) Z(T)");
    let mut waiter = connect(&target);
    assert_eq!(waiter.query("BEGIN; UPDATE t SET n = 1 WHERE id = 2"), "C(BEGIN) C(UPDATE 1) Z(T)");
    waiter.send(&query("UPDATE t SET n = 2 WHERE id = 1"));
    std::thread::sleep(Duration::from_millis(50));
    waiter.stream.shutdown(Shutdown::Both).expect("a socket");
    drop(waiter);
    // The holder still holds its lock; the waiter's own lock is free nevertheless.
    let mut other = connect(&target);
    other.query("SET lock_timeout = '100ms'");
    eventually(&mut other, "UPDATE t SET n = 3 WHERE id = 2", "C(UPDATE 1) Z(I)");
}

#[test]
fn a_client_that_terminates_after_a_lock_wait_reads_the_end_of_the_stream() {
    let target = Target::new();
    let mut holder = with_table(&target);
    holder.query("BEGIN; UPDATE t SET n = 1 WHERE id = 1");
    let mut waiter = connect(&target);
    waiter.send(&query("UPDATE t SET n = 2 WHERE id = 1"));
    let waits = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted";
    eventually(&mut holder, waits, "T(n:20:0) D(1) C(SELECT 1) Z(T)");
    holder.query("COMMIT");
    assert_eq!(waiter.until_ready(), "C(UPDATE 1) Z(I)");
    // The client keeps its own half of the connection open until the server has closed the other one, as asyncpg does.
    waiter.stream.set_read_timeout(Some(SOON)).expect("a socket");
    waiter.send(&message(b'X', b""));
    let end = std::io::Read::read(&mut waiter.stream, &mut [0; 1]).expect("the server closes the connection");
    assert_eq!(end, 0);
}

#[test]
fn who_waits_for_a_lock_goes_on_when_it_is_free() {
    let target = Target::new();
    let mut holder = with_table(&target);
    holder.query("BEGIN; UPDATE t SET n = 1 WHERE id = 1");
    let mut waiter = connect(&target);
    waiter.send(&query("UPDATE t SET n = n + 10 WHERE id = 1 RETURNING n"));
    // Others are served meanwhile.
    let mut other = connect(&target);
    assert_eq!(other.query("SELECT n FROM t WHERE id = 2"), "T(n:23:0) D(0) C(SELECT 1) Z(I)");
    holder.query("COMMIT");
    assert_eq!(waiter.until_ready(), "T(n:23:0) D(11) C(UPDATE 1) Z(I)");
}

#[test]
fn statements_are_cancelled_by_whoever_has_the_key() {
    let target = Target::new();
    let mut holder = with_table(&target);
    holder.query("BEGIN; UPDATE t SET n = 1 WHERE id = 1");
    let mut waiter = connect(&target);
    waiter.send(&query("UPDATE t SET n = 2 WHERE id = 1"));
    std::thread::sleep(Duration::from_millis(50));
    let request = |pid: i32, key: i32| [16, 80877102, pid, key].map(i32::to_be_bytes).concat();
    let mut stranger = Raw::socket(target.address);
    stranger.send(&request(waiter.key.0, waiter.key.1.wrapping_add(1)));
    assert_eq!(stranger.until_ready(), "closed");
    let mut friend = Raw::socket(target.address);
    friend.send(&request(waiter.key.0, waiter.key.1));
    assert_eq!(friend.until_ready(), "closed");
    assert_eq!(waiter.until_ready(), "E(57014 canceling statement due to user request) Z(I)");
    assert_eq!(holder.query("COMMIT"), "C(COMMIT) Z(I)");
}

#[test]
fn deadlocks_are_found() {
    let target = Target::new();
    let mut one = with_table(&target);
    let mut two = connect(&target);
    one.query("BEGIN; UPDATE t SET n = 1 WHERE id = 1");
    two.query("BEGIN; UPDATE t SET n = 2 WHERE id = 2");
    one.send(&query("UPDATE t SET n = 1 WHERE id = 2"));
    std::thread::sleep(Duration::from_millis(50));
    two.send(&query("UPDATE t SET n = 2 WHERE id = 1"));
    let one_is_first = std::thread::spawn(move || one.until_ready());
    let answers = [two.until_ready(), {
        drop(two);
        one_is_first.join().expect("no panic")
    }];
    let mut sorted = answers.clone();
    sorted.sort();
    assert_eq!(sorted, ["C(UPDATE 1) Z(T)", "E(40P01 deadlock detected) Z(E)"], "{answers:?}");
}

#[test]
fn idle_clients_are_notified() {
    let target = Target::new();
    let mut listener = connect(&target);
    assert_eq!(listener.query("LISTEN news"), "C(LISTEN) Z(I)");
    let mut other = connect(&target);
    assert_eq!(other.query("NOTIFY news, 'hello'"), "C(NOTIFY) Z(I)");
    let heard = listener.one();
    assert!(heard.ends_with("news|hello)"), "{heard}");
}

#[test]
fn connections_are_terminated() {
    let target = Target::new();
    let mut one = connect(&target);
    let mut idle = connect(&target);
    let mut busy = connect(&target);
    let mut ended = |key: (i32, i32)| one.query(&format!("SELECT pg_terminate_backend({}) AS t", key.0));
    assert_eq!(ended(idle.key), "T(t:16:0) D(t) C(SELECT 1) Z(I)");
    assert_eq!(idle.until_ready(), "E(FATAL 57P01 terminating connection due to administrator command) closed");
    busy.send(&query("SELECT pg_sleep(60)"));
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(ended(busy.key), "T(t:16:0) D(t) C(SELECT 1) Z(I)");
    assert_eq!(busy.until_ready(), "E(FATAL 57P01 terminating connection due to administrator command) closed");
}

#[test]
fn the_end_is_announced() {
    let running = Server::bind(settings()).and_then(Server::start).expect("a free port");
    let mut idle = Raw::connect(running.address(), "a");
    let mut sleeping = Raw::connect(running.address(), "b");
    sleeping.send(&query("SELECT pg_sleep(60)"));
    std::thread::sleep(Duration::from_millis(50));
    let began = Instant::now();
    running.end();
    assert!(began.elapsed() < SOON);
    assert_eq!(idle.until_ready(), "E(FATAL 57P01 terminating connection due to administrator command) closed");
    let last = sleeping.until_ready();
    assert!(last.contains("FATAL 57P01") || last.contains("57014"), "{last}");
}
