//! Statements that want too much, of memory or of time: an error to whoever asked, and nobody else waits for them.

use std::io::Write;
use std::time::{Duration, Instant};

use skew_server::Settings;
use skew_sql::session::Options;

use crate::raw::{Raw, bind, execute, message, parse, query, sync};
use crate::target::{Target, settings};

fn connect(target: &Target) -> Raw {
    Raw::connect(target.address, &target.database)
}

/// Statements may keep four megabytes.
fn small() -> Target {
    Target::with(Settings { options: Options { memory: 4 << 20, ..Options::default() }, ..settings() })
}

#[test]
fn what_needs_too_much_memory_is_refused() {
    let target = small();
    let mut other = connect(&target);
    other.query("CREATE TABLE t (n int, name text)");
    let mut raw = connect(&target);
    let series = "FROM generate_series(1, 1000000000) g";
    let kept = [
        format!("SELECT g {series}"),
        format!("SELECT count(*) FROM (SELECT g {series} ORDER BY g DESC) AS sorted"),
        format!("SELECT g, count(*) {series} GROUP BY g"),
        format!("SELECT DISTINCT g {series}"),
        format!("SELECT count(DISTINCT g) {series}"),
        format!("SELECT array_agg(g) {series}"),
        format!("SELECT string_agg(g::text, ',') {series}"),
        format!("SELECT jsonb_agg(g) {series}"),
        format!("SELECT json_object_agg(g, g) {series}"),
        format!("SELECT sum(g) OVER () {series}"),
        format!("SELECT g {series} UNION SELECT 1"),
        format!("SELECT g {series} EXCEPT SELECT g {series}"),
        format!("SELECT count(*) FROM generate_series(1, 10) a JOIN (SELECT g {series}) AS b ON a = b.g"),
        format!("SELECT ARRAY(SELECT g {series})"),
        "SELECT a, b FROM generate_series(1, 100000) a, generate_series(1, 100000) b".to_owned(),
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r".to_owned(),
        "WITH RECURSIVE r(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM r) SELECT max(length(t)) FROM r".to_owned(),
        format!("COPY (SELECT g {series}) TO STDOUT"),
    ];
    for sql in &kept {
        let answer = raw.query(sql);
        assert_eq!(answer, "E(53200 out of memory) Z(I)", "{sql}");
    }
    let long = "E(53200 a series of more than 10000000 rows is not supported by Skew) Z(I)";
    let spans = ["timestamp '2000-01-01', '9999-01-01', '1 second'", "1.0, 1e9", "1e9, 1.0, -0.5"];
    for sql in spans.map(|arguments| format!("SELECT count(*) FROM generate_series({arguments})")) {
        assert_eq!(raw.query(&sql), long, "{sql}");
    }
    let written = [
        format!("INSERT INTO t SELECT g, 'x' {series}"),
        "INSERT INTO t SELECT g, repeat('x', 1000000) FROM generate_series(1, 1000) g".to_owned(),
        "DO $$ BEGIN FOR i IN 1..1000000000 LOOP INSERT INTO t VALUES (i, 'x'); END LOOP; END $$".to_owned(),
    ];
    for sql in &written {
        assert_eq!(raw.query(sql), "E(53200 transaction writes too much) Z(I)", "{sql}");
    }
    let notified = "DO $$ BEGIN FOR i IN 1..1000000 LOOP PERFORM pg_notify('c', i::text); END LOOP; END $$";
    assert_eq!(raw.query(notified), "E(53200 transaction writes too much) Z(I)");
    let locked = "DO $$ BEGIN FOR i IN 1..1000000 LOOP PERFORM pg_advisory_lock(i); END LOOP; END $$";
    assert_eq!(raw.query(locked), "E(53200 out of shared memory) Z(I)");
    assert_eq!(raw.query("SELECT pg_advisory_unlock_all()"), "T(pg_advisory_unlock_all:2278:0) D() C(SELECT 1) Z(I)");
    assert_eq!(other.query("SELECT count(*) FROM t"), "T(count:20:0) D(0) C(SELECT 1) Z(I)");
}

#[test]
fn values_that_are_too_large_are_refused() {
    let target = small();
    let mut raw = connect(&target);
    let large = [
        "SELECT repeat('x', 2000000000)",
        "SELECT repeat(repeat('x', 1000000), 1000)",
        "SELECT lpad('x', 2000000000)",
        "SELECT rpad('x', 2000000000, 'ab')",
        "SELECT replace(repeat('x', 100000), 'x', repeat('y', 100000))",
        "SELECT format('%2000000000s', 'x')",
        "SELECT array_fill(repeat('x', 1000000), ARRAY[1000000])",
    ];
    for sql in large {
        assert_eq!(raw.query(sql), "E(54000 requested length too large) Z(I)", "{sql}");
    }
    // Each fits what values can be, but not what the statement is allowed to keep.
    let memory = [
        "SELECT repeat('x', 5000000)",
        "SELECT regexp_replace(repeat('x', 300000), '.*', repeat('\\&', 1000))",
        "SELECT array_to_string(array_fill(1, ARRAY[100000]), repeat('x', 100000))",
        "SELECT concat_ws(repeat('x', 100000), VARIADIC array_fill(1, ARRAY[100000]))",
        "SELECT lpad('x', 5000000)",
        "SELECT cardinality(string_to_array(repeat('a,', 1000000), ','))",
        "SELECT count(*) FROM regexp_split_to_table(repeat('a,', 1000000), ',')",
        "SELECT ('[' || repeat('1,', 1000000) || '1]')::jsonb",
        "SELECT repeat('x', 3000000), repeat('y', 3000000)",
        "SELECT length(repeat('x', 3000000) || repeat('y', 3000000))",
        "DO $$ DECLARE a text := 'x'; BEGIN LOOP a := a || a; END LOOP; END $$",
        "DO $$ DECLARE a int[] := '{1}'; BEGIN LOOP a := a || a; END LOOP; END $$",
        "DO $$ DECLARE a text[]; BEGIN LOOP a := array_append(a, repeat('x', 100000)); END LOOP; END $$",
        "DO $$ DECLARE a text; b text; BEGIN a := repeat('x', 3000000); b := repeat('y', 3000000); END $$",
        "DO $$ DECLARE j jsonb := '[]'; BEGIN LOOP j := j || j || '[1]'; END LOOP; END $$",
        "DO $$ BEGIN LOOP RAISE NOTICE '%', repeat('x', 10000); END LOOP; END $$",
        "SELECT * FROM many()",
        "SELECT deep(1)",
        "SELECT count(*) FROM regexp_matches(repeat('ab', 500000), 'a', 'g')",
        "SELECT regexp_count(repeat('ab', 1000000), 'a')",
        "SELECT count(*) FROM generate_series(1.0, 100000.0)",
        "DO $$ DECLARE a int[]; BEGIN a[1] := 1; a[100000000] := 1; END $$",
        "DO $$ DECLARE a int[]; BEGIN FOR i IN 1..1000000 LOOP a[i] := i; END LOOP; END $$",
        "SELECT length(upper(repeat('x', 3000000)))",
        "SELECT ARRAY(SELECT g FROM generate_series(1, 60000) g)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 40000) SELECT count(*) FROM r",
        "SELECT count(DISTINCT g) FROM generate_series(1, 60000) g",
        "SELECT length(skew.history())",
    ];
    // 40,000 operations to be told.
    raw.query("CREATE TABLE told (n int PRIMARY KEY, name text)");
    raw.query("INSERT INTO told SELECT g, 'x' FROM generate_series(1, 20000) g");
    raw.query(
        "CREATE FUNCTION many() RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN LOOP RETURN NEXT 1; END LOOP; END $$",
    );
    raw.query(
        "CREATE FUNCTION deep(n int) RETURNS int LANGUAGE plpgsql AS \
         $$ DECLARE a text := repeat('x', 500000); BEGIN RETURN deep(n + 1) + length(a); END $$",
    );
    for sql in memory {
        let answer = raw.query(sql);
        assert!(
            answer.ends_with("E(53200 out of memory) Z(I)"),
            "{sql}: {}",
            &answer[answer.len().saturating_sub(99)..]
        );
    }
    let caught =
        "DO $$ DECLARE a text := 'x'; BEGIN LOOP a := a || a; END LOOP; EXCEPTION WHEN out_of_memory THEN NULL; END $$";
    assert_eq!(raw.query(caught), "C(DO) Z(I)");
    assert_eq!(raw.query("SELECT length(repeat('x', 1000000))"), "T(length:23:0) D(1000000) C(SELECT 1) Z(I)");
}

#[test]
fn what_a_connection_keeps_between_statements_counts_together() {
    let target = small();
    let mut raw = connect(&target);
    // A megabyte and a half each.
    let rows = "SELECT repeat('x', 1000) FROM generate_series(1, 1500)";
    raw.query("BEGIN");
    assert_eq!(raw.query(&format!("DECLARE a CURSOR FOR {rows}")), "C(DECLARE CURSOR) Z(T)");
    assert_eq!(raw.query(&format!("DECLARE b CURSOR FOR {rows}")), "C(DECLARE CURSOR) Z(T)");
    assert_eq!(raw.query(&format!("DECLARE c CURSOR FOR {rows}")), "E(53200 out of memory) Z(E)");
    raw.query("ROLLBACK; BEGIN");
    let suspended = |portal: &str| [bind(portal, "q", &[], 0), execute(portal, 1)].concat();
    let portals = ["a", "b", "c"].map(suspended).concat();
    let answer = raw.talk(&[parse("q", rows, &[]), portals, sync()]);
    assert!(answer.ends_with("E(53200 out of memory) Z(E)"), "{}", &answer[answer.len().saturating_sub(99)..]);
    raw.query("ROLLBACK");
    raw.query("CREATE TABLE t (name text)");
    raw.send(&query("COPY t FROM STDIN"));
    let line = [&[b'x'; 1_000_000][..], b"\n"].concat();
    for _ in 0..5 {
        raw.send(&message(b'd', &line));
    }
    raw.send(&message(b'c', b""));
    let answer = raw.until_ready();
    assert!(answer.ends_with("E(53200 out of memory) Z(I)"), "{answer}");
}

#[test]
fn nobody_waits_for_a_statement_that_takes_long() {
    let target = Target::with(settings());
    let mut busy = connect(&target);
    let mut other = connect(&target);
    other.query("CREATE TABLE t (n int)");
    busy.send(&query("SELECT sum(g) FROM generate_series(1, 1000000000000) g"));
    std::thread::sleep(Duration::from_millis(50));
    let began = Instant::now();
    for n in 0..20 {
        assert_eq!(other.query(&format!("INSERT INTO t VALUES ({n})")), "C(INSERT 0 1) Z(I)");
    }
    assert_eq!(other.query("SELECT count(*) FROM t"), "T(count:20:0) D(20) C(SELECT 1) Z(I)");
    let mut new = connect(&target);
    let cancelled = new.query(&format!("SELECT pg_cancel_backend({}) AS c", busy.key.0));
    assert_eq!(cancelled, "T(c:16:0) D(t) C(SELECT 1) Z(I)");
    assert_eq!(busy.until_ready(), "E(57014 canceling statement due to user request) Z(I)");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn loops_without_an_end_are_cancelled() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    assert_eq!(raw.query("SET statement_timeout = '200ms'"), "C(SET) Z(I)");
    let endless = [
        "DO $$ BEGIN LOOP END LOOP; END $$",
        "DO $$ BEGIN LOOP BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
        "SELECT count(*) FROM pg_class a, pg_class b, pg_class c, pg_class d, pg_class e, pg_class f, pg_class g",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n FROM r, generate_series(1, 1000000000000)) SELECT * FROM r",
        "SELECT pg_sleep(1000)",
    ];
    for sql in endless {
        assert_eq!(raw.query(sql), "E(57014 canceling statement due to statement timeout) Z(I)", "{sql}");
    }
}

#[test]
fn functions_that_call_themselves_forever_are_stopped() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    raw.query("CREATE FUNCTION down(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN down(n + 1); END $$");
    raw.query("CREATE FUNCTION deep(n int) RETURNS int LANGUAGE sql AS 'SELECT 1'");
    raw.query("CREATE OR REPLACE FUNCTION deep(n int) RETURNS int LANGUAGE sql AS 'SELECT deep(n + 1)'");
    raw.query("CREATE TABLE t (n int)");
    raw.query(
        "CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN INSERT INTO t VALUES (NEW.n + 1); RETURN NEW; END $$",
    );
    raw.query("CREATE TRIGGER again AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION again()");
    for sql in ["SELECT down(1)", "SELECT deep(1)", "INSERT INTO t VALUES (1)"] {
        assert_eq!(raw.query(sql), "E(54001 stack depth limit exceeded) Z(I)", "{sql}");
    }
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(0) C(SELECT 1) Z(I)");
}

#[test]
fn statements_of_several_megabytes_are_answered() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    let rows: Vec<String> = (0..100_000).map(|n| format!("({n}, 'name of number {n}')")).collect();
    raw.query("CREATE TABLE t (n int, name text)");
    let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
    assert!(insert.len() > 2 << 20);
    assert_eq!(raw.query(&insert), "C(INSERT 0 100000) Z(I)");
    let long = format!("SELECT length('{}') AS n", "y".repeat(20 << 20));
    assert_eq!(raw.query(&long), "T(n:23:0) D(20971520) C(SELECT 1) Z(I)");
}

#[test]
fn parameters_up_to_what_the_protocol_counts() {
    let target = Target::with(settings());
    let mut raw = connect(&target);
    let counted = |count: usize| {
        let list: Vec<String> = (1..=count).map(|n| format!("${n}::int")).collect();
        let sql = format!("SELECT cardinality(ARRAY[{}]) AS n", list.join(","));
        let mut body = b"\0\0\0\0".to_vec();
        body.extend(u16::try_from(count).expect("as many as the protocol counts").to_be_bytes());
        (0..count).for_each(|_| body.extend([0, 0, 0, 1, b'7']));
        body.extend([0, 0]);
        [parse("", &sql, &[]), message(b'B', &body), execute("", 0), sync()].concat()
    };
    assert_eq!(raw.talk(&[counted(65_535)]), "1 2 D(65535) C(SELECT 1) Z(I)");
    assert_eq!(raw.talk(&[parse("", "SELECT $70000::int", &[]), sync()]), "E(42P02 there is no parameter $70000) Z(I)");
    assert_eq!(raw.talk(&[parse("", "SELECT $99999999999::int", &[]), sync()]), {
        "E(42601 parameter number too large at or near \"$99999999999\") Z(I)"
    });
    let few = [parse("", "SELECT $1::int", &[]), bind("", "", &["1", "2"], 0), sync()];
    assert_eq!(raw.talk(&few), {
        "1 E(08P01 bind message supplies 2 parameters, but prepared statement \"\" requires 1) Z(I)"
    });
}

#[test]
fn a_copy_that_stops_midway_leaves_nothing() {
    let target = Target::new();
    let mut other = connect(&target);
    other.query("CREATE TABLE t (id int PRIMARY KEY, name text)");
    let mut raw = connect(&target);
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.one(), "G(0,2)");
    raw.send(&message(b'd', b"1\ta\n2\tb\n"));
    raw.send(b"d\0\0\0\x40half of");
    drop(raw);
    let mut raw = connect(&target);
    raw.query("BEGIN");
    raw.query("INSERT INTO t VALUES (9, 'z')");
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.one(), "G(0,2)");
    raw.send(&message(b'd', b"1\ta\n"));
    // The server may have hung up already.
    let _ = raw.stream.write_all(&message(b'X', b""));
    drop(raw);
    assert_eq!(other.query("INSERT INTO t VALUES (9, 'mine')"), "C(INSERT 0 1) Z(I)");
    assert_eq!(other.query("SELECT * FROM t"), "T(id:23:0,name:25:0) D(9,mine) C(SELECT 1) Z(I)");
    let mut raw = connect(&target);
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.one(), "G(0,2)");
    assert_eq!(raw.talk(&[message(b'd', b"1\ta\n2\t\xff\n"), message(b'c', b"")]), {
        "E(22021 invalid byte sequence for encoding \"UTF8\": 0xff) Z(I)"
    });
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(1) C(SELECT 1) Z(I)");
}
