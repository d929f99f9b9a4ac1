//! Never down, never stuck: deep statements, statements that compute for long, idle clients, and what others notice of them.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use skew_server::postgres::conversation::{Conversation, Flow};
use skew_server::postgres::sink::Sink;
use skew_server::scheduler::Scheduler;
use skew_sql::session::{Client, Connection, Database, Options};

use crate::raw::{Raw, query};
use crate::target::{Target, settings};

fn connect(target: &Target) -> Raw {
    Raw::connect(target.address, &target.database)
}

#[test]
fn deeply_nested_statements_work() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    raw.query("CREATE TABLE v0 (n int)");
    raw.query("INSERT INTO v0 VALUES (7)");
    for n in 1..=200 {
        let sql = format!("CREATE VIEW v{n} AS SELECT n FROM v{}", n - 1);
        assert_eq!(raw.query(&sql), "C(CREATE VIEW) Z(I)");
    }
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("SELECT {}{inner}{} AS n", open.repeat(times), close.repeat(times))
    };
    let whens: Vec<String> = (0..1_000).map(|n| format!("WHEN {n} THEN {n}")).collect();
    let items: Vec<String> = (1..=100_000).map(|n| n.to_string()).collect();
    let number = |n: &str| format!("T(n:23:0) D({n}) C(SELECT 1) Z(I)");
    let statements = [
        ("SELECT n FROM v200".to_owned(), number("7")),
        (nested("(SELECT ", "7", ")", 200), number("7")),
        (format!("SELECT n FROM {}v0{}", "(SELECT n FROM ".repeat(200), ") s".repeat(200)), number("7")),
        (nested("(", "7", ")", 2_000), number("7")),
        (nested("abs(", "7", ")", 500), number("7")),
        (nested("- ", "7", "", 500), number("7")),
        (nested("CASE WHEN true THEN ", "7", " END", 200), number("7")),
        (format!("SELECT length('a'{}) AS n", " || 'b'".repeat(10_000)), number("10001")),
        (format!("SELECT 0{} AS n", " + 1".repeat(10_000)), number("10000")),
        (format!("SELECT (true{})::int AS n", " AND true".repeat(10_000)), number("1")),
        (format!("SELECT (false{})::int AS n", " OR false".repeat(10_000)), number("0")),
        (format!("SELECT count(*)::int AS n FROM (SELECT 1{}) s", " UNION ALL SELECT 1".repeat(1_000)), number("1001")),
        (format!("SELECT (100000 IN ({}))::int AS n", items.join(",")), number("1")),
        (format!("SELECT n FROM v0 WHERE n IN ({})", items.join(",")), number("7")),
        (format!("SELECT CASE 999 {} END AS n", whens.join(" ")), number("999")),
    ];
    for (sql, answer) in statements {
        let began = Instant::now();
        assert_eq!(raw.query(&sql), answer, "{}…", &sql[..sql.len().min(60)]);
        eprintln!("{:>8.1?} {}…", began.elapsed(), &sql[..sql.len().min(60)]);
    }
}

#[test]
fn statements_that_are_nested_far_too_deeply_are_refused() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("SELECT {}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let many = 200_000;
    let statements = [
        nested("(", "7", ")", many),
        nested("abs(", "7", ")", many),
        nested("NOT ", "true", "", many),
        nested("- ", "7", "", many),
        nested("(SELECT ", "7", ")", many),
        nested("CASE WHEN true THEN ", "7", " END", many),
        nested("ARRAY[", "7", "]", many),
        nested("ROW(", "7", ")", many),
        nested("7 IN (", "7", ")", many),
        format!("SELECT 1{}", " + 1".repeat(many)),
        format!("SELECT 'a'{}", " || 'a'".repeat(many)),
        format!("SELECT 'a'{}", "::text".repeat(many)),
        format!("SELECT 7{}", " IS NULL".repeat(many)),
        format!("SELECT {}1{}", "(SELECT * FROM (".repeat(many), ") s)".repeat(many)),
        format!("SELECT * FROM {}pg_class{}", "(SELECT * FROM ".repeat(many), ") s".repeat(many)),
        format!("SELECT * FROM pg_class {}", "JOIN pg_class ".repeat(many)),
        format!("DO $$ BEGIN {} NULL; {} END $$", "IF true THEN ".repeat(many), "END IF; ".repeat(many)),
        format!("DO $$ BEGIN {} NULL; {} END $$", "BEGIN ".repeat(many), "END; ".repeat(many)),
        format!("SELECT '{}{}'::json", "[".repeat(many), "]".repeat(many)),
        format!("SELECT '{}{}'::jsonb", "[".repeat(many), "]".repeat(many)),
        format!("SELECT '{}1{}'::jsonb", "{\"a\":".repeat(many), "}".repeat(many)),
        format!("SELECT jsonb_path_query('1', '{}1{}')", "(".repeat(many), ")".repeat(many)),
    ];
    for sql in statements {
        let answer = raw.query(&sql);
        assert_eq!(answer, "E(54001 stack depth limit exceeded) Z(I)", "{}…", &sql[..60]);
    }
    // Nothing is tried twice at each level: that would take for ever.
    let wrong = format!("SELECT * FROM {}(SELECT", "((SELECT * FROM ".repeat(100));
    assert!(raw.query(&wrong).starts_with("E(42601 syntax error"));
    // Other refusals, but no crash.
    for sql in [
        format!("SELECT '{}{}'::int[]", "{".repeat(many), "}".repeat(many)),
        format!("SELECT 'a' ~ '{}a{}'", "(".repeat(many), ")".repeat(many)),
        format!("EXPLAIN {} SELECT 1", "EXPLAIN ".repeat(many)),
    ] {
        let answer = raw.query(&sql);
        assert!(answer.starts_with("E("), "{}…: {answer}", &sql[..60]);
    }
    for (ty, deeper) in
        [("jsonb", "jsonb_build_array(x)"), ("jsonb", "jsonb_build_object('a', x)"), ("record", "row(x)")]
    {
        let sql = format!("DO $$ DECLARE x {ty}; BEGIN x := {deeper}; LOOP x := {deeper}; END LOOP; END $$");
        assert_eq!(raw.query(&sql), "E(54001 stack depth limit exceeded) Z(I)", "{deeper}");
    }
}

#[test]
fn a_lock_waiter_gives_up_although_the_holder_computes() {
    let target = Target::with(settings());
    let mut holder = connect(&target);
    holder.query("CREATE TABLE t (id int PRIMARY KEY, n int)");
    holder.query("INSERT INTO t VALUES (1, 0)");
    holder.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    holder.query("UPDATE t SET n = n + 1 WHERE id = 1");
    let computing = [
        "SELECT sum(g) FROM generate_series(1, 1000000000000) g",
        "SELECT regexp_replace(repeat('ab', 200000), '(a*b*)*c', 'x')",
    ];
    for sql in computing {
        holder.query("SAVEPOINT s");
        holder.send(&query(sql));
        std::thread::sleep(Duration::from_millis(50));
        let mut waiter = connect(&target);
        for (setting, error) in [
            ("lock_timeout", "E(55P03 canceling statement due to lock timeout) Z(I)"),
            ("statement_timeout", "E(57014 canceling statement due to statement timeout) Z(I)"),
        ] {
            waiter.query(&format!("SET {setting} = '100ms'"));
            let began = Instant::now();
            assert_eq!(waiter.query("UPDATE t SET n = n + 1 WHERE id = 1"), error);
            assert!(began.elapsed() < Duration::from_secs(5), "{setting}: {:?}", began.elapsed());
            waiter.query(&format!("RESET {setting}"));
        }
        waiter.send(&query("UPDATE t SET n = n + 1 WHERE id = 1"));
        std::thread::sleep(Duration::from_millis(50));
        let mut other = connect(&target);
        other.query(&format!("SELECT pg_cancel_backend({})", waiter.key.0));
        assert_eq!(waiter.until_ready(), "E(57014 canceling statement due to user request) Z(I)");
        other.query(&format!("SELECT pg_cancel_backend({})", holder.key.0));
        assert_eq!(holder.until_ready(), "E(57014 canceling statement due to user request) Z(E)");
        holder.query("ROLLBACK TO s");
    }
}

#[test]
fn idle_clients_are_disconnected_when_they_ask_for_it() {
    let target = Target::with(settings());
    let mut other = connect(&target);
    other.query("CREATE TABLE t (id int PRIMARY KEY)");
    let mut idle = connect(&target);
    idle.query("SET idle_in_transaction_session_timeout = '50ms'");
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(idle.query("SELECT 1 AS n"), "T(n:23:0) D(1) C(SELECT 1) Z(I)");
    idle.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    idle.query("INSERT INTO t VALUES (1)");
    assert_eq!(idle.until_ready(), "E(FATAL 25P03 terminating connection due to idle-in-transaction timeout) closed");
    // Its transaction was rolled back.
    assert_eq!(other.query("INSERT INTO t VALUES (1)"), "C(INSERT 0 1) Z(I)");
    let mut failed = connect(&target);
    failed.query("SET idle_in_transaction_session_timeout = '50ms'");
    failed.query("BEGIN");
    failed.query("SELECT 1/0");
    assert_eq!(failed.until_ready(), "E(FATAL 25P03 terminating connection due to idle-in-transaction timeout) closed");
    let mut idle = connect(&target);
    idle.query("SET idle_session_timeout = '50ms'");
    assert_eq!(idle.until_ready(), "E(FATAL 57P05 terminating connection due to idle-session timeout) closed");
    let mut busy = connect(&target);
    busy.query("SET idle_session_timeout = '50ms'");
    assert_eq!(busy.query("SELECT pg_sleep(0.2)"), "T(pg_sleep:2278:0) D() C(SELECT 1) Z(I)");
}

#[test]
fn long_computations_end_at_the_timeout() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    raw.query("CREATE TABLE t (a int PRIMARY KEY, b text)");
    for part in 0..20 {
        let sql = format!("INSERT INTO t SELECT {part} * 1000 + g, 'text' FROM generate_series(1, 1000) g");
        assert_eq!(raw.query(&sql), "C(INSERT 0 1000) Z(I)");
    }
    // Telling the history of 20,000 rows takes longer than this even on a fast machine.
    raw.query("SET statement_timeout = '1ms'");
    let timed_out = "E(57014 canceling statement due to statement timeout) Z(I)";
    assert_eq!(raw.query("SELECT length(skew.history())"), timed_out);
    raw.query("SET statement_timeout = '100ms'");
    let text = "repeat('ab', 300000)";
    let statements = [
        format!("SELECT {text} ~ '(a*b*)*c'"),
        format!("SELECT regexp_replace({text}, '(a*)(b*)*c', 'x', 'g')"),
        format!("SELECT regexp_match({text}, '((a|b)*)*c')"),
        format!("SELECT count(*) FROM regexp_matches({text}, '(?=(.*)c)', 'g')"),
        format!("SELECT {text} ~ '(?<=b.*)c'"),
        "SELECT repeat('a', 2000000) LIKE '%' || repeat('a', 100000) || 'b'".to_owned(),
        "SELECT gcd(7::numeric ^ 150000, 3::numeric ^ 260000)".to_owned(),
        "SELECT count(*) FROM generate_series(1, 1000000000) a".to_owned(),
        "SELECT string_agg(a::text || b::text, ',') FROM generate_series(1, 100000) a, generate_series(1, 1000) b"
            .to_owned(),
        "SELECT count(*) FROM (SELECT DISTINCT a * b FROM generate_series(1, 10000) a, generate_series(1, 10000) b) s"
            .to_owned(),
        "SELECT a, sum(a) OVER (ORDER BY a DESC) FROM generate_series(1, 10000000) a".to_owned(),
        "SELECT max(n) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r) s"
            .to_owned(),
        "SELECT count(*) FROM generate_series(1, 1000000) a JOIN generate_series(1, 1000000) b ON a % 1000 = b % 1000"
            .to_owned(),
        "SELECT array_position(array_agg(a), -1) FROM generate_series(1, 3000000) a".to_owned(),
        "SELECT count(*) FROM generate_series(timestamp 'infinity', '1970-01-01', interval '-9223372036854775807 microseconds')".to_owned(),
        "SELECT to_char(interval '1 day', repeat('x ', 3000000))".to_owned(),
        "SELECT to_char(1, repeat('9', 3000000))".to_owned(),
        "SELECT ('[' || repeat('1,', 5000000) || '1]')::jsonb".to_owned(),
        "SELECT ('[' || repeat('1,', 5000000) || '1]')::json".to_owned(),
        "SELECT jsonb_path_query(('[' || repeat('1,', 3000) || '1]')::jsonb, '$[*] ? (exists($[*] ? (@ == 2)))')".to_owned(),
        "DO $$ DECLARE t text[] := '{a,b}'; BEGIN LOOP t := t || t; END LOOP; END $$".to_owned(),
        "SELECT 1 FROM (SELECT array_agg(a) AS a FROM generate_series(1, 40000) a) s WHERE a @> a".to_owned(),
        // Each call takes a few milliseconds, on values that are not large.
        "SELECT count(ln(('1e-1000' || repeat('', b))::numeric)) FROM generate_series(1, 2000) b".to_owned(),
        "CREATE INDEX ON t ((ln('1e-1000'::numeric + a)))".to_owned(),
        format!("SELECT {}'a'{}", "'a' || (".repeat(8_000), ")".repeat(8_000)),
    ];
    for sql in &statements {
        let began = Instant::now();
        let answer = raw.query(sql);
        assert_eq!(answer, timed_out, "{sql}");
        // A build without optimisation on a busy machine; what the limit is meant to be is measured by the generator.
        assert!(began.elapsed() < Duration::from_secs(5), "{sql}: {:?}", began.elapsed());
    }
}

#[test]
fn parts_of_variables_are_assigned_in_place() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    // Were the array copied for each of its items, this would copy 2.4 terabytes.
    raw.query("SET statement_timeout = '60s'");
    let fill = |assign: &str| {
        format!(
            "DO $$ DECLARE a int[]; r record; BEGIN
               SELECT '{{}}'::int[] AS items, 1 AS n INTO r;
               FOR i IN 1..300000 LOOP {assign}; END LOOP;
               FOR i IN REVERSE 300000..1 LOOP {assign}; END LOOP;
             END $$"
        )
    };
    for assign in ["a[i] := i", "r.items[i] := i"] {
        assert_eq!(raw.query(&fill(assign)), "C(DO) Z(I)", "{assign}");
    }
    raw.query(
        "CREATE FUNCTION of_parameter(a int[]) RETURNS int LANGUAGE plpgsql AS \
         $$ BEGIN FOR i IN 1..300000 LOOP a[i] := i; END LOOP; RETURN a[1] + cardinality(a); END $$",
    );
    assert_eq!(raw.query("SELECT of_parameter('{}') AS n"), "T(n:23:0) D(300001) C(SELECT 1) Z(I)");
}

#[test]
fn a_failed_assignment_of_a_part_changes_nothing() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    let caught = "DO $$ DECLARE a int[] := '{1,2}'; b int[] := a; BEGIN
        BEGIN a[1] := 'x'; EXCEPTION WHEN invalid_text_representation THEN NULL; END;
        BEGIN a[2][2] := 7; EXCEPTION WHEN array_subscript_error THEN NULL; END;
        ASSERT a = '{1,2}', a;
        a[2] := 3;
        ASSERT b = '{1,2}' AND a = '{1,3}', b;
    END $$";
    assert_eq!(raw.query(caught), "C(DO) Z(I)");
}

#[test]
fn a_listener_that_does_not_read_holds_nobody_up() {
    let target = Target::with(settings());
    let mut listener = connect(&target);
    listener.query("LISTEN a");
    let mut notifier = connect(&target);
    let mut other = connect(&target);
    // Far more than sockets and the server keep for a client.
    for batch in 0..10 {
        let flood = format!(
            "DO $$ BEGIN FOR i IN 1..1000 LOOP
               PERFORM pg_notify('a', '{batch} ' || i || repeat('x', 7000)); END LOOP; END $$"
        );
        assert_eq!(notifier.query(&flood), "C(DO) Z(I)");
        assert_eq!(other.query("SELECT 1 AS n"), "T(n:23:0) D(1) C(SELECT 1) Z(I)");
    }
    // It has lost its connection, and a new one is told again.
    while listener.next().is_some() {}
    let mut again = connect(&target);
    again.query("LISTEN a");
    notifier.query("NOTIFY a, 'heard'");
    let answer = again.query("SELECT 1 AS n");
    assert!(answer.contains("heard"), "{answer}");
}

#[test]
fn floods_of_notifications_take_time_in_proportion() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    raw.query("SET statement_timeout = '60s'");
    let flood = "DO $$ BEGIN FOR i IN 1..300000 LOOP PERFORM pg_notify('c', i::text); END LOOP; END $$";
    assert_eq!(raw.query(flood), "C(DO) Z(I)");
    let twice = "LISTEN c; BEGIN; NOTIFY c, 'a'; SAVEPOINT s; NOTIFY c, 'b'; NOTIFY c, 'a'; ROLLBACK TO s; NOTIFY c, 'b'; COMMIT";
    let answer = raw.query(twice);
    assert_eq!(answer.matches("A(").count(), 2, "{answer}");
}

/// Where a conversation's answers go.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a buffer").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_panic_fails_its_statement_and_nothing_else() {
    let database = Database::new(Options::default());
    // A mistake of Skew's, while it holds everything that connections share: telling this listener panics.
    let tell = Arc::new(|_: &_| panic!("as if Skew had a mistake"));
    let mut listener = database.connect(Client { tell, ..Client::new("ann", "test") });
    let run = |connection: &mut Connection, sql: &str| {
        let statement = connection.prepare(sql, &[])?;
        connection.execute(&statement, &[]).and_then(|_| connection.sync())
    };
    run(&mut listener, "CREATE TABLE t (n int)").expect("a table");
    run(&mut listener, "LISTEN channel").expect("a listener");
    let written = Written::default();
    let sink = Arc::new(Sink::new(Box::new(written.clone())));
    let gate = Arc::new(Scheduler::new(Duration::ZERO, 0).join());
    let mut conversation =
        Conversation::begin(database.connect(Client::new("bob", "test")), gate, sink, (1, 2), Default::default());
    let mut say = |sql: &str| {
        written.0.lock().expect("a buffer").clear();
        let flow = conversation.message(b'Q', format!("{sql}\0").as_bytes());
        assert_eq!(flow, Flow::Continue);
        String::from_utf8_lossy(&written.0.lock().expect("a buffer")).into_owned()
    };
    assert!(say("BEGIN; INSERT INTO t VALUES (1); NOTIFY channel; COMMIT").contains("XX000"));
    assert!(say("SELECT 'still here'").contains("still here"));
    assert!(run(&mut listener, "INSERT INTO t VALUES (2)").is_ok());
}
