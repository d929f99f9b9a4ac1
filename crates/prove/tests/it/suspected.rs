//! Applications of two or three small programs that were called robust once although a client shows otherwise: each is run,
//! and put to both engines.

use skew_model::Level;
use skew_prove::robust::answer::{Effort as RobustEffort, Verdict};
use skew_prove::robust::{Question, Robustness};
use skew_prove::summary::{AccessKind, Cell, Outcome};
use skew_sql::explore::{Client, Watch};

use crate::agreement::{HOUR, Seen, World, tries};
use crate::load;

/// Tables a, b and c with rows 1 and 2, whose value is 0.
fn tables() -> String {
    let table = |name: &str| {
        format!("CREATE TABLE {name} (id int PRIMARY KEY, v int NOT NULL); INSERT INTO {name} VALUES (1, 0), (2, 0);")
    };
    ["a", "b", "c"].map(table).concat()
}

/// A client breaks the application; both engines suspect it.
#[track_caller]
pub fn is_broken_and_suspected(text: &str, client: &str, level: Level, sessions: bool) {
    breaks_and_is_suspected(&(tables() + text), client, level, sessions);
}

/// The same with tables of its own.
#[track_caller]
pub fn breaks_and_is_suspected(text: &str, client: &str, level: Level, sessions: bool) {
    let (database, app) = load(text);
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

#[test]
fn what_follows_a_return_may_be_left_out() {
    let program = |body: &str| {
        format!("CREATE PROCEDURE f(k int, m int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN {body} END $$;")
    };
    let taken = "FOR i IN k..2 LOOP SELECT v INTO x FROM a WHERE id = i;
        IF x = 0 THEN UPDATE a SET v = 1 WHERE id = 3 - i; RETURN; END IF; END LOOP; RAISE EXCEPTION 'none';";
    is_broken_and_suspected(&program(taken), "f(1, 0) | f(2, 0)", Level::Si, true);
    let skew = "SELECT v INTO x FROM a WHERE id = 3 - k; UPDATE a SET v = x + 1 WHERE id = k;";
    let common = "UPDATE b SET v = v + 1 WHERE id = 1; IF NOT FOUND THEN RAISE EXCEPTION 'no b'; END IF;";
    for middle in [
        "FOR i IN 1..2 LOOP IF m > 0 THEN RETURN; END IF; END LOOP;",
        "BEGIN IF m > 0 THEN RETURN; END IF; EXCEPTION WHEN division_by_zero THEN NULL; END;",
    ] {
        is_broken_and_suspected(&program(&format!("{skew} {middle} {common}")), "f(1, 1) | f(2, 1)", Level::Si, true);
    }
    // Who returns from a function does not leave who has called it.
    let called = "CREATE FUNCTION maybe(m int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        FOR i IN 1..2 LOOP IF m > 0 THEN RETURN; END IF; END LOOP; END $$;"
        .to_owned()
        + &program(&format!("{skew} PERFORM maybe(m); {common}"));
    let (database, app) = load(&(tables() + &called));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    assert!(robustness.cycles(Level::Si, &Question::default()).suspects.is_empty());
}

#[test]
fn what_is_undone_is_read_and_not_written() {
    let program = |name: &str, one: &str, other: &str| {
        format!(
            "CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
               BEGIN UPDATE {one} SET v = v + 1 WHERE id = 1 RETURNING v INTO x; RAISE EXCEPTION division_by_zero;
               EXCEPTION WHEN division_by_zero THEN NULL; END;
               UPDATE {other} SET v = x WHERE id = 1; END $$;"
        )
    };
    let text = program("f", "a", "b") + &program("g", "b", "a");
    is_broken_and_suspected(&text, "f() | g()", Level::Psi, true);
    let (database, app) = load(&(tables() + &text));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    // A lock that is given up excludes nobody.
    assert!(!robustness.cycles(Level::Mvrc, &Question::default()).suspects.is_empty());
}

/// One of fifteen thousand generated applications has shown it.
#[test]
fn what_a_program_has_deleted_it_does_not_write() {
    let text = "CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN UPDATE a SET v = 5 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN SELECT v INTO x FROM a WHERE id = 1;
          DELETE FROM a WHERE id = 1; UPDATE a SET v = (SELECT v FROM b WHERE id = 1) WHERE id = 1; END $$;";
    is_broken_and_suspected(text, "f() | g()", Level::Psi, true);
    is_broken_and_suspected(text, "f() | g()", Level::Si, true);
}

/// Who misses a row depends on whoever inserts it, and has written nothing of it.
#[test]
fn who_depends_on_an_insert_may_have_missed_the_row() {
    let text = "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
        CREATE TABLE s (id int PRIMARY KEY, v int NOT NULL);
        INSERT INTO s VALUES (1, 0);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$
        BEGIN
          FOR i IN 1..2 LOOP UPDATE t SET v = v + 1 WHERE id = 1; END LOOP;
          UPDATE s SET v = 1 WHERE id = 1;
          IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
        END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$
        DECLARE n int;
        BEGIN SELECT v INTO STRICT n FROM s WHERE id = 1 LOCK; INSERT INTO t VALUES (1, n); END $$;
        CREATE PROCEDURE h() LANGUAGE plpgsql AS $$
        BEGIN
          DELETE FROM t WHERE id = 1;
          IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
          UPDATE s SET v = 2 WHERE id = 1;
          IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
        END $$;";
    for lock in ["", "FOR UPDATE"] {
        for level in [Level::Psi, Level::Si] {
            let text = text.replace("LOCK", lock);
            is_broken_and_suspected(&text, "f() | g()", level, true);
            let (database, app) = load(&text);
            let robustness = Robustness::of(&database, &app).expect("its procedures are there");
            let solved = robustness.solve(level, &Question::default(), RobustEffort::default());
            if let Some(Ok(solved)) = solved {
                assert_eq!(solved.proof, None, "{level} {lock}");
            }
        }
    }
}

#[test]
fn triggers_are_shown_whole_rows() {
    for (trigger, body, change) in [
        (
            "AFTER UPDATE OF v ON t FOR EACH ROW",
            "IF NEW.w > 5 THEN RAISE EXCEPTION 'no'; END IF;",
            "UPDATE t SET v = 1",
        ),
        (
            "AFTER UPDATE OF v ON t FOR EACH ROW WHEN (OLD.w = 0)",
            "UPDATE b SET v = 1 WHERE id = 1;",
            "UPDATE t SET v = 1",
        ),
        ("AFTER DELETE ON t FOR EACH ROW", "UPDATE b SET v = OLD.w WHERE id = 1;", "DELETE FROM t"),
    ] {
        let text = format!(
            "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL); INSERT INTO t VALUES (1, 0, 0);
             CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$;
             CREATE TRIGGER fires {trigger} EXECUTE FUNCTION fired();
             CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN
               {change} WHERE id = 1; UPDATE c SET v = 1 WHERE id = 1; END $$;
             CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
               SELECT v INTO x FROM c WHERE id = 1; UPDATE t SET w = x + 1 WHERE id = 1; END $$;"
        );
        let (database, app) = load(&(tables() + &text));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        assert!(!robustness.cycles(Level::Si, &Question::default()).suspects.is_empty(), "{trigger}");
        if !change.starts_with("DELETE") {
            is_broken_and_suspected(&text, "f() | g()", Level::Si, true);
        }
    }
    // Also those of rows that go with others.
    let cascade = "CREATE TABLE t (id int PRIMARY KEY, parent int REFERENCES t ON DELETE CASCADE, w int NOT NULL);
        INSERT INTO t VALUES (1, NULL, 0), (2, 1, 0), (3, 2, 0);
        CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          UPDATE b SET v = OLD.w WHERE id = 1; RETURN NULL; END $$;
        CREATE TRIGGER fires AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION fired();
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN
          DELETE FROM t WHERE id = 1; UPDATE c SET v = 1 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT v INTO x FROM c WHERE id = 1; UPDATE t SET w = x + 1 WHERE id = 3; END $$;";
    let (database, app) = load(&(tables() + cascade));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let paths = robustness.summary(Level::Si).programs[0].paths.iter();
    let deleted = paths.flat_map(|path| &path.accesses).filter(|access| access.kind == AccessKind::Delete);
    for access in deleted {
        assert!(access.reads.contains(&Cell::Column(2)) || access.outcome == Outcome::Missing, "{access:?}");
    }
}

#[test]
fn every_unique_index_decides_about_conflicts() {
    for (index, column) in [("(lower(name))", "text"), ("(name) WHERE name <> 'zz'", "text"), ("(name)", "text")] {
        let text = format!(
            "CREATE TABLE t (id int PRIMARY KEY, name {column} NOT NULL); CREATE UNIQUE INDEX ON t {index};
             INSERT INTO t VALUES (1, 'x');
             CREATE PROCEDURE f(n text) LANGUAGE plpgsql AS $$ BEGIN
               INSERT INTO t VALUES (2, n) ON CONFLICT DO NOTHING; UPDATE a SET v = v + 1 WHERE id = 1; END $$;
             CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
               SELECT v INTO x FROM a WHERE id = 1; DELETE FROM t WHERE id = 1; END $$;"
        );
        is_broken_and_suspected(&text, "f('x') | g()", Level::Si, true);
    }
    // A value in another index than that of the key is read, too.
    let moved = "CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE NOT NULL); INSERT INTO t VALUES (1, 1);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO t VALUES (2, 1) ON CONFLICT (u) DO NOTHING; UPDATE a SET v = v + 1 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT v INTO x FROM a WHERE id = 1; UPDATE t SET u = 9 WHERE id = 1; END $$;";
    is_broken_and_suspected(moved, "f() | g()", Level::Si, true);
}

#[test]
fn procedures_are_those_of_their_schema_and_settings() {
    let skew = "DECLARE x int; BEGIN SELECT v INTO x FROM other.a WHERE id = k; UPDATE other.a SET v = x + 1 WHERE id = m; END";
    let other = "CREATE SCHEMA other; CREATE TABLE other.a (id int PRIMARY KEY, v int NOT NULL);
        INSERT INTO other.a VALUES (1, 0), (2, 0);";
    let text = format!(
        "{other} CREATE PROCEDURE other.f(k int, m int) LANGUAGE plpgsql AS $$ {skew} $$;
         CREATE PROCEDURE f(k int, m int) LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;"
    );
    is_broken_and_suspected(&text, "other.f(1, 2) | other.f(2, 1)", Level::Si, true);
    let skew = skew.replace("other.a", "a");
    let text = format!(
        "{other} DROP TABLE a; CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);
         CREATE PROCEDURE f(k int, m int) LANGUAGE plpgsql SET search_path = other AS $$ {skew} $$;"
    );
    is_broken_and_suspected(&text, "f(1, 2) | f(2, 1)", Level::Si, true);
    let twice = "CREATE PROCEDURE f(k int) LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;
        CREATE PROCEDURE f(k int, m int) LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;";
    let (database, app) = load(twice);
    let error = Robustness::of(&database, &app).err().expect("which one is meant is not known");
    assert_eq!(error.fields().message, "there are several procedures f: give each a name of its own");
}

#[test]
fn what_is_asked_only_if_something_else_is_known_may_not_be_asked() {
    let lock = "(SELECT v FROM c WHERE id = 1 FOR UPDATE)";
    for value in [
        format!("CASE WHEN k > 1 THEN {lock} ELSE 0 END"),
        format!("coalesce(k, {lock})"),
        format!("CASE WHEN k = 1 OR {lock} = 1 THEN 1 ELSE 0 END"),
        format!("{lock} FROM generate_series(1, k - 1)"),
        format!("{lock} WHERE k > 1"),
        format!("{lock} LIMIT k - 1"),
    ] {
        let text = format!(
            "CREATE PROCEDURE f(k int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
               SELECT v INTO x FROM c WHERE id = 1; IF NOT FOUND THEN RETURN; END IF;
               SELECT {value} INTO x; SELECT v INTO x FROM a WHERE id = 1; UPDATE a SET v = x + 1 WHERE id = 1; END $$;"
        );
        is_broken_and_suspected(&text, "f(1) | f(1)", Level::Mvrc, true);
    }
    // PostgreSQL does not ask what the sum of NULL and something is.
    for value in [format!("k + {lock}"), format!("nullif(k, {lock})"), format!("k > {lock}")] {
        let text = format!(
            "CREATE PROCEDURE f(k int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
               SELECT v INTO x FROM c WHERE id = 1; IF NOT FOUND THEN RETURN; END IF;
               PERFORM {value}; SELECT v INTO x FROM a WHERE id = 1; UPDATE a SET v = x + 1 WHERE id = 1; END $$;"
        );
        let (database, app) = load(&(tables() + &text));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        assert!(!robustness.cycles(Level::Mvrc, &Question::default()).suspects.is_empty(), "{value}");
    }
}

#[test]
fn what_decides_that_a_row_is_there_or_new_is_read() {
    // NULL meets NULL.
    let null = "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k int UNIQUE NULLS NOT DISTINCT);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT v INTO x FROM a WHERE id = 1; INSERT INTO t (k) VALUES (NULL) ON CONFLICT (k) DO NOTHING; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ BEGIN
          UPDATE a SET v = v + 1 WHERE id = 1; INSERT INTO t (k) VALUES (NULL) ON CONFLICT (k) DO NOTHING; END $$;";
    is_broken_and_suspected(null, "f() | g()", Level::Mvrc, true);
    // A view's condition is checked.
    let view = "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
        CREATE VIEW w AS SELECT * FROM t WHERE EXISTS (SELECT 1 FROM a WHERE a.id = t.id) WITH CHECK OPTION;
        CREATE PROCEDURE f(k int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO w VALUES (k, 0); END $$;
        CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$ BEGIN PERFORM 1 FROM t WHERE id = k;
          IF NOT FOUND THEN DELETE FROM a WHERE id = k; END IF; END $$;";
    is_broken_and_suspected(view, "f(1) | g(1)", Level::Si, true);
    // A default calls a function, and a trigger changes what others refer to.
    let default = "CREATE FUNCTION looks() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT v FROM c WHERE id = 1); END $$;
        CREATE TABLE t (id int PRIMARY KEY, r int DEFAULT nullif(looks(), looks()) REFERENCES a ON DELETE SET DEFAULT);
        INSERT INTO t VALUES (1, 1);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN
          DELETE FROM a WHERE id = 1; UPDATE b SET v = 2 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT v INTO x FROM b WHERE id = 1; UPDATE c SET v = 3 WHERE id = 1; END $$;";
    is_broken_and_suspected(default, "f() | g()", Level::Si, true);
    let cascade = "CREATE TABLE e (id int PRIMARY KEY, n int UNIQUE); INSERT INTO e VALUES (1, 1);
        CREATE TABLE t (id int PRIMARY KEY, w int REFERENCES e (n) ON UPDATE CASCADE); INSERT INTO t VALUES (1, 1);
        CREATE FUNCTION sets() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := 9; RETURN NEW; END $$;
        CREATE TRIGGER sets BEFORE UPDATE ON e FOR EACH ROW EXECUTE FUNCTION sets();
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT w INTO x FROM t WHERE id = 1; UPDATE b SET v = 2 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT v INTO x FROM b WHERE id = 1; UPDATE e SET id = id WHERE id = 1; END $$;";
    is_broken_and_suspected(cascade, "f() | g()", Level::Si, true);
    let twice = "CREATE TABLE e (id int PRIMARY KEY, n int UNIQUE); INSERT INTO e VALUES (1, 1);
        CREATE TABLE t (id int PRIMARY KEY, r1 int REFERENCES e (n) ON UPDATE CASCADE,
          r2 int UNIQUE REFERENCES e (n) ON UPDATE CASCADE); INSERT INTO t VALUES (1, 1, 1);
        CREATE TABLE u (id int PRIMARY KEY, w int REFERENCES t (r2) ON UPDATE CASCADE); INSERT INTO u VALUES (1, 1);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT w INTO x FROM u WHERE id = 1; UPDATE b SET v = 2 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
          SELECT v INTO x FROM b WHERE id = 1; UPDATE e SET n = 9 WHERE id = 1; END $$;";
    is_broken_and_suspected(twice, "f() | g()", Level::Si, true);
    // A field of a record is not always in the same place.
    let record = "CREATE PROCEDURE f(k int, m int) LANGUAGE plpgsql AS $$ DECLARE x int; r record; BEGIN
        IF m = 1 THEN SELECT k AS g, 1 AS h INTO r; ELSE SELECT 1 AS h, 1 AS g INTO r; END IF;
        SELECT v INTO x FROM a WHERE id = k; UPDATE a SET v = x + 1 WHERE id = 3 - k;
        UPDATE b SET v = v + 1 WHERE id = r.g; IF NOT FOUND THEN RAISE EXCEPTION 'no b'; END IF; END $$;";
    is_broken_and_suspected(record, "f(1, 1) | f(2, 1)", Level::Si, true);
    // Every change of a row makes another version.
    for column in ["xmin", "ctid"] {
        let text = format!(
            "CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x text; y text; BEGIN
               SELECT {column} INTO x FROM a WHERE id = 1; SELECT {column} INTO y FROM a WHERE id = 1;
               IF x <> y THEN UPDATE b SET v = 1 WHERE id = 1; END IF; END $$;
             CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$ BEGIN UPDATE a SET v = k WHERE id = 1; END $$;"
        );
        let (database, app) = load(&(tables() + &text));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        assert!(!robustness.cycles(Level::Mvrc, &Question::default()).suspects.is_empty(), "{column}");
    }
}

/// PostgreSQL does this at READ COMMITTED: a row that is locked or changed is looked at after the snapshot, whatever the lock,
/// and also if it is not found then.
#[test]
fn who_looks_again_sees_what_its_snapshot_does_not() {
    let shared = "CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int; y int; BEGIN
          SELECT a.v, b.v INTO x, y FROM a, b WHERE a.id = 1 AND b.id = 1 FOR KEY SHARE OF a; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN SELECT v INTO x FROM a WHERE id = 1 FOR UPDATE;
          UPDATE b SET v = v + 1 WHERE id = 1; UPDATE a SET v = v + 1 WHERE id = 1; END $$;";
    let gone = |change: &str| {
        format!(
            "CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN {change} WHERE id = 1;
               IF NOT FOUND THEN UPDATE b SET v = 1 WHERE id = 1; END IF; END $$;
             CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ BEGIN PERFORM 1 FROM c WHERE id = 1 FOR UPDATE;
               IF NOT FOUND THEN RETURN; END IF; DELETE FROM a WHERE id = 1; INSERT INTO a VALUES (1, 0); END $$;"
        )
    };
    for text in [shared.to_owned(), gone("UPDATE a SET v = v + 1"), gone("DELETE FROM a")] {
        let (database, app) = load(&(tables() + &text));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        assert!(!robustness.cycles(Level::Mvrc, &Question::default()).suspects.is_empty(), "{text}");
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
    let expected = "f, line 1: a violation that is caught tells what others do, whatever the level lets it see";
    assert_eq!(robust(caught), Verdict::Unknown(expected.to_owned()));
    let elsewhere = text("INSERT INTO l (what) VALUES ('x');")
        + &format!(
            "CREATE FUNCTION tried() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {caught} RETURN NULL; END $$;
         CREATE TRIGGER tries AFTER INSERT ON l FOR EACH ROW EXECUTE FUNCTION tried();"
        );
    let (database, app) = load(&elsewhere);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    assert_eq!(robustness.cycles(Level::Si, &Question::default()).limit, Some(expected.to_owned()), "in a trigger");
    // So do locks of others, and errors that they cause.
    let update = "UPDATE a SET v = v + 1 WHERE id = 1;";
    for (body, by) in [
        (
            format!("BEGIN {update} EXCEPTION WHEN serialization_failure THEN NULL; END;"),
            "an error of concurrency that is caught",
        ),
        (
            format!("BEGIN {update} EXCEPTION WHEN SQLSTATE '40P01' THEN NULL; END;"),
            "an error of concurrency that is caught",
        ),
        (
            "BEGIN PERFORM 1 FROM a WHERE id = 1 FOR UPDATE NOWAIT; EXCEPTION WHEN lock_not_available THEN NULL; END;"
                .to_owned(),
            "an error of concurrency that is caught",
        ),
        ("PERFORM 1 FROM a WHERE id = 1 FOR UPDATE SKIP LOCKED;".to_owned(), "SKIP LOCKED"),
        (format!("IF pg_try_advisory_xact_lock(1) THEN {update} END IF;"), "an advisory lock that is tried"),
    ] {
        let expected = format!("f, line 1: {by} tells what others do, whatever the level lets it see");
        let (database, app) = load(&text(&body));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        assert_eq!(robustness.cycles(Level::Si, &Question::default()).limit, Some(expected), "{body}");
    }
    let expected = "f, line 1: a table that is emptied or altered is so in older snapshots, too";
    let (database, app) = load(&text("TRUNCATE l;"));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    assert_eq!(robustness.cycles(Level::Si, &Question::default()).limit, Some(expected.to_owned()));
    // New values are nobody else's, and other errors say nothing about others.
    let logged = "BEGIN INSERT INTO l (what) VALUES ('x'); EXCEPTION WHEN OTHERS THEN NULL; END;";
    assert!(matches!(robust(logged), Verdict::Robust { .. }));
    let divided = "BEGIN INSERT INTO e VALUES (1 / 0); EXCEPTION WHEN division_by_zero THEN NULL; END;";
    assert!(matches!(robust(divided), Verdict::Robust { .. }));
}
