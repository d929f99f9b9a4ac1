//! Clients that misbehave: an error to that client, nobody else notices.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use skew_server::{Authentication, Limits, Settings};

use crate::raw::{Raw, message, parse, query, startup, sync};
use crate::target::{Target, settings};

fn connect(target: &Target) -> Raw {
    Raw::connect(target.address, &target.database)
}

fn limited(limits: Limits) -> Target {
    Target::with(Settings { limits, ..settings() })
}

#[test]
fn messages_that_are_too_long_are_refused_before_they_are_read() {
    let target = limited(Limits { max_message: 1 << 20, ..Limits::default() });
    let mut other = connect(&target);
    let mut raw = connect(&target);
    raw.send(&[&b"Q"[..], &(64_i32 << 20).to_be_bytes()].concat());
    assert_eq!(raw.until_ready(), {
        "E(FATAL 54000 a message of 67108864 bytes is longer than this server takes) closed"
    });
    let mut raw = connect(&target);
    let long = query(&format!("SELECT '{}'", "x".repeat(2 << 20)));
    // The server may have hung up before everything is sent.
    let _ = raw.stream.write_all(&long);
    assert!(raw.until_ready().starts_with("E(FATAL 54000"), "and the client hears why");
    let fits = format!("SELECT length('{}') AS n", "x".repeat(1 << 19));
    assert_eq!(other.query(&fits), "T(n:23:0) D(524288) C(SELECT 1) Z(I)");
}

#[test]
fn garbage_is_answered_or_hung_up_on() {
    let target = Target::with(settings());
    let mut other = connect(&target);
    let mut state = 7_u64;
    for round in 0..300 {
        let mut bytes: Vec<u8> = (0..round % 50 + 1)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        let mut raw = if round % 3 == 0 {
            Raw::socket(target.address)
        } else {
            // A type and a length that are right, before a body that is not.
            bytes = message(b"QPBDECFHSdcfp"[round % 13], &bytes);
            connect(&target)
        };
        raw.send(&bytes);
        let _ = raw.stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = raw.stream.read_to_end(&mut answer);
    }
    assert_eq!(other.query("SELECT 1 AS a"), "T(a:23:0) D(1) C(SELECT 1) Z(I)");
}

#[test]
fn http_is_not_spoken_here() {
    let target = Target::with(settings());
    let mut raw = Raw::socket(target.address);
    raw.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(raw.until_ready(), "E(FATAL 08P01 invalid message length) closed");
}

#[test]
fn lengths_that_cannot_be_end_the_connection() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    raw.send(b"Q\0\0\0\x01");
    assert_eq!(raw.until_ready(), "E(FATAL 08P01 invalid message length) closed");
    let mut raw = Raw::socket(target.address);
    raw.send(&startup(2 << 16, &[("user", "x")]));
    assert_eq!(raw.until_ready(), {
        "E(FATAL 0A000 unsupported frontend protocol 2.0: server supports 3.0 to 3.0) closed"
    });
}

#[test]
fn encryption_is_refused_politely() {
    let target = Target::with(settings());
    for request in [80877103_i32, 80877104] {
        let mut raw = Raw::socket(target.address);
        raw.send(&[8_i32.to_be_bytes(), request.to_be_bytes()].concat());
        let mut answer = [0];
        raw.stream.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"N");
        raw.send(&startup(196608, &[("user", "postgres")]));
        assert!(raw.until_ready().ends_with("Z(I)"));
    }
}

#[test]
fn who_never_says_who_they_are_is_disconnected() {
    let target = limited(Limits { startup_time: Duration::from_millis(200), ..Limits::default() });
    let mut raw = Raw::socket(target.address);
    // A byte now and then does not help.
    let began = Instant::now();
    for byte in [0, 0, 0, 40, 0] {
        if raw.stream.write_all(&[byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(60));
    }
    assert_eq!(raw.until_ready(), "closed");
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(connect(&target).query("SELECT 1 AS a"), "T(a:23:0) D(1) C(SELECT 1) Z(I)");
}

#[test]
fn the_password_is_asked_for() {
    let authentication = Authentication::Password("secret".to_owned());
    let target = Target::with(Settings { authentication, ..settings() });
    for (password, answer) in [
        (&b"secret\0"[..], "R(0)"),
        (b"wrong\0", "E(FATAL 28P01 password authentication failed for user \"ann\")"),
        (b"secret", "E(FATAL 08P01 invalid password packet size)"),
    ] {
        let mut raw = Raw::socket(target.address);
        raw.send(&startup(196608, &[("user", "ann")]));
        assert_eq!(raw.one(), "R(3)");
        raw.send(&message(b'p', password));
        assert_eq!(raw.one(), answer);
    }
    let mut raw = Raw::socket(target.address);
    raw.send(&startup(196608, &[("user", "ann")]));
    assert_eq!(raw.one(), "R(3)");
    raw.send(&query("SELECT 1"));
    assert_eq!(raw.one(), "E(FATAL 08P01 expected password response, got message type 81)");
}

#[test]
fn psql_proves_that_it_knows_the_password() {
    if !crate::target::has("psql") {
        return;
    }
    let target = Target::with(Settings { authentication: Authentication::Scram("secret".to_owned()), ..settings() });
    for (password, succeeds) in [("secret", true), ("wrong", false)] {
        let output = target.command("psql").env("PGPASSWORD", password).args(["-Xc", "SELECT 1"]).output();
        let output = output.expect("psql runs");
        assert_eq!(output.status.success(), succeeds, "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn too_many_clients_are_told_so() {
    let target = limited(Limits { max_connections: 3, ..Limits::default() });
    let mut inside: Vec<Raw> = (0..3).map(|_| connect(&target)).collect();
    let mut raw = Raw::socket(target.address);
    raw.send(&startup(196608, &[("user", "postgres")]));
    raw.one();
    assert_eq!(raw.one(), "E(FATAL 53300 sorry, too many clients already)");
    drop(raw);
    inside.pop();
    // The place is free once its thread has noticed.
    let began = Instant::now();
    loop {
        let mut raw = Raw::socket(target.address);
        raw.send(&startup(196608, &[("user", "postgres")]));
        if raw.until_ready().ends_with("Z(I)") {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_thousand_clients_are_served() {
    let target = Target::with(settings());
    let mut clients: Vec<Raw> = (0..1000).map(|_| connect(&target)).collect();
    for client in &mut clients {
        client.send(&query("SELECT 1 AS a"));
    }
    for client in &mut clients {
        assert_eq!(client.until_ready(), "T(a:23:0) D(1) C(SELECT 1) Z(I)");
    }
}

#[test]
fn deep_nesting_is_refused_or_answered() {
    let target = Target::with(settings());
    let mut other = connect(&target);
    let mut raw = connect(&target);
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("SELECT {}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let deep = [
        nested("(", "1", ")", 10_000),
        nested("(SELECT ", "1", ")", 10_000),
        nested("NOT ", "true", "", 10_000),
        nested("- ", "1", "", 10_000),
        nested("abs(", "1", ")", 10_000),
        nested("CASE WHEN true THEN ", "1", " END", 10_000),
        nested("ARRAY[", "1", "]", 10_000),
        nested("", "1", " + 1", 10_000),
        nested("", "true", " AND true", 10_000),
        nested("", "'a'", " || 'a'", 10_000),
        nested("", "1", "::int", 10_000),
        nested("", "1", " UNION ALL SELECT 1", 2_000),
        nested("", "1 IN (1", ", 1", 10_000) + ")",
        format!("WITH a AS ({}1{}) SELECT 1", "SELECT (".repeat(5000), ")".repeat(5000)),
        format!("SELECT 1 FROM {}pg_class{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("DO $$ BEGIN {} {} END $$", "BEGIN ".repeat(10_000), "END; ".repeat(10_000)),
        format!("DO $$ BEGIN {} {} END $$", "IF true THEN ".repeat(10_000), "END IF; ".repeat(10_000)),
        format!("SELECT '{}{}'::jsonb", "[".repeat(50_000), "]".repeat(50_000)),
        format!("SELECT '{}{}'::json", "[".repeat(50_000), "]".repeat(50_000)),
        format!("SELECT '{}1{}'::int[]", "{".repeat(50_000), "}".repeat(50_000)),
        format!("SELECT 'a' ~ '{}a{}'", "(".repeat(50_000), ")".repeat(50_000)),
    ];
    for sql in &deep {
        let answer = raw.query(sql);
        let shown: String = sql.chars().take(40).collect();
        assert!(answer.ends_with("Z(I)"), "{shown}: {:.200}", answer);
        assert!(!answer.contains("XX000"), "{shown}: {:.200}", answer);
        let prepared = raw.talk(&[parse("", sql, &[]), sync()]);
        assert!(prepared.ends_with("Z(I)"), "{shown}: {:.200}", prepared);
    }
    assert_eq!(other.query("SELECT 1 AS a"), "T(a:23:0) D(1) C(SELECT 1) Z(I)");
}
