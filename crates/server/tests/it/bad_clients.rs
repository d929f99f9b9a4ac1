//! Clients that misbehave: an error to that client, nobody else notices.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use skew_server::{Authentication, Limits, Settings};
use skew_testing::Dice;

use crate::raw::{self, Raw, bind, close, describe, execute, message, parse, query, startup, sync};
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
    let mut dice = Dice(7);
    for round in 0..300 {
        let mut bytes: Vec<u8> = (0..round % 50 + 1).map(|_| dice.roll(256) as u8).collect();
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
fn messages_of_each_kind_that_are_cut_short_are_refused() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    let wellformed = [
        query("SELECT 1"),
        parse("s", "SELECT $1::int", &[23]),
        bind("p", "s", &["7"], 0),
        describe('S', "s"),
        execute("p", 0),
        close('P', "p"),
    ];
    for message in &wellformed {
        let (kind, body) = (message[0], &message[5..]);
        for length in 0..body.len() {
            let cut = raw::message(kind, &body[..length]);
            // A simple query that fails is ready again by itself.
            let answer = if kind == b'Q' { raw.talk(&[cut]) } else { raw.talk(&[cut, sync()]) };
            let shown = format!("{}, {length} bytes: {answer}", char::from(kind));
            assert!(answer.starts_with("E(08P01 ") && answer.ends_with("Z(I)"), "{shown}");
        }
        let longer = raw::message(kind, &[body, b"more"].concat());
        let answer = if kind == b'Q' { raw.talk(&[longer]) } else { raw.talk(&[longer, sync()]) };
        assert_eq!(answer, "E(08P01 invalid message format) Z(I)", "{}", char::from(kind));
    }
    let counts = [
        (b'P', &b"\0SELECT 1\0\xff\xff"[..]),
        (b'P', b"\0SELECT 1\0\x7f\xff"),
        (b'B', b"\0\0\xff\xff\0\0\0\0"),
        (b'B', b"\0\0\0\0\x7f\xff\0\0"),
        (b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xf0\0\0"),
        (b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff\0\0"),
    ];
    for (kind, body) in counts {
        let answer = raw.talk(&[raw::message(kind, body), sync()]);
        assert!(answer.contains("E(08P01 ") && answer.ends_with("Z(I)"), "{body:?}: {answer}");
    }
    assert_eq!(raw.query("SELECT 1 AS a"), "T(a:23:0) D(1) C(SELECT 1) Z(I)");
}

#[test]
fn no_text_has_a_zero_byte() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.query("CREATE TABLE t (name text)");
    assert_eq!(raw.query("SELECT E'a\\x00b'"), "E(22021 invalid byte sequence for encoding \"UTF8\": 0x00) Z(I)");
    assert_eq!(raw.query("SELECT chr(0)"), "E(54000 null character not permitted) Z(I)");
    assert_eq!(raw.query("SELECT '\"\\u0000\"'::jsonb"), "E(22P05 unsupported Unicode escape sequence) Z(I)");
    let zero = |format: u8| {
        let body = [&b"\0\0\0\x01\0"[..], &[format], b"\0\x01\0\0\0\x03a\0b\0\0"].concat();
        [parse("", "INSERT INTO t VALUES ($1)", &[25]), message(b'B', &body), sync()].concat()
    };
    for format in [0, 1] {
        assert_eq!(raw.talk(&[zero(format)]), { "1 E(22021 invalid byte sequence for encoding \"UTF8\": 0x00) Z(I)" });
    }
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.one(), "G(0,1)");
    assert_eq!(raw.talk(&[message(b'd', b"a\0b\n"), message(b'c', b"")]), {
        "E(22021 invalid byte sequence for encoding \"UTF8\": 0x00) Z(I)"
    });
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(0) C(SELECT 1) Z(I)");
}

#[test]
fn startups_that_make_no_sense_are_refused() {
    let target = Target::with(settings());
    let mut other = connect(&target);
    let packet = |body: &[u8]| [&(body.len() as i32 + 4).to_be_bytes()[..], body].concat();
    let refused: [(&[u8], &str); 6] = [
        (b"\0\x03\0\0", "invalid startup packet layout"),
        (b"\0\x03\0\0user\0ann\0", "invalid startup packet layout"),
        (b"\0\x03\0\0user\0ann\0\0more\0", "invalid startup packet layout"),
        (b"\0\x03\0\0user", "invalid startup packet layout"),
        (b"\0\x03\0\0user\0\xff\0\0", "invalid startup packet layout"),
        (b"\0\x03\0\0user\0ann\0options\0nonsense\0\0", "invalid command-line argument for server process"),
    ];
    for (body, why) in refused {
        let mut raw = Raw::socket(target.address);
        raw.send(&packet(body));
        let answer = raw.until_ready();
        assert!(answer.contains("E(FATAL ") && answer.contains(why) && answer.ends_with("closed"), "{why}: {answer}");
    }
    // Cancel requests that are too short or too long, and a length without a body.
    for bytes in [packet(&80877102_i32.to_be_bytes()), packet(&[&80877102_i32.to_be_bytes()[..], &[0; 40]].concat())] {
        let mut raw = Raw::socket(target.address);
        raw.send(&bytes);
        let answer = raw.until_ready();
        assert!(answer.ends_with("closed"), "{answer}");
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
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
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
        nested("", "1", "::int::bigint", 10_000),
        nested("CAST(", "1", " AS int)", 10_000),
        nested("ROW(", "1", ")", 10_000),
        nested("coalesce(", "1", ", 2)", 10_000),
        nested("'a' || (", "'a'", ")", 10_000),
        nested("EXISTS (SELECT ", "1", ")", 10_000),
        nested("", "'{}'::jsonb", " -> 'a'", 10_000),
        nested("", "ARRAY[1]", "[1]", 10_000),
        nested("1 + ", "1", "", 100_000),
        format!("SELECT * FROM {}SELECT 1{}", "(".repeat(10_000), ") AS a".repeat(10_000)),
        format!("SELECT * FROM {}SELECT 1 AS a{}", "(SELECT a FROM ".repeat(5_000) + "(", ") AS b".repeat(5_001)),
        format!("{}SELECT 1{}", "WITH a AS (".repeat(10_000), ") SELECT 1".repeat(10_000)),
        format!("SELECT 1 FROM pg_class{}", " JOIN pg_class USING (oid)".repeat(2_000)),
        format!("SELECT {}1", "1, ".repeat(20_000)),
        format!("SELECT jsonb_build_array({}1)", "1, ".repeat(20_000)),
        format!("SELECT '{}1{}'::jsonb", "{\"a\":".repeat(50_000), "}".repeat(50_000)),
        format!("SELECT '{}'::jsonpath", "$.a".to_owned() + &".a".repeat(50_000)),
        format!("EXPLAIN {}", nested("(", "1", ")", 10_000)),
        format!("DO $$ BEGIN {}; END $$", nested("(", "1", ")", 10_000).replacen("SELECT", "PERFORM", 1)),
        // Each loop ends after its first round, whether the statement is refused or runs.
        format!("DO $$ BEGIN {} NULL; {} END $$", "FOR i IN 1..1 LOOP ".repeat(10_000), "END LOOP; ".repeat(10_000)),
        format!("CREATE TABLE deep (a int CHECK ({}true{}))", "(".repeat(10_000), ")".repeat(10_000)),
        format!("CREATE VIEW deep AS {}", nested("(", "1", ")", 10_000)),
        "/*".repeat(50_000),
        "'".repeat(50_001),
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
