//! Applications that were called robust once because something was taken for sure that need not happen.

use skew_model::Level;
use skew_prove::robust::{Question, Robustness};

use crate::load;
use crate::suspected::breaks_and_is_suspected;

const COUNTER: &str = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 0), (2, 0);
    CREATE TABLE b (id int PRIMARY KEY, v int); INSERT INTO b VALUES (1, 0);";

/// Who waits for a lock of T1 until that has ended has read before: only T2 cannot have it.
#[test]
fn who_reads_and_then_waits_for_a_lock_is_not_excluded() {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 0);
        CREATE TABLE b (id int PRIMARY KEY, v int NOT NULL); INSERT INTO b VALUES (1, 0);
        CREATE TABLE c (id int PRIMARY KEY, v int NOT NULL); INSERT INTO c VALUES (1, 0);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int;
        BEGIN
          PERFORM 1 FROM c WHERE id = 1 FOR UPDATE; IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
          SELECT v INTO x FROM a WHERE id = 1;
          UPDATE b SET v = x + 1 WHERE id = 1;
        END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ BEGIN UPDATE a SET v = v + 1 WHERE id = 1; END $$;
        CREATE PROCEDURE h() LANGUAGE plpgsql AS $$ DECLARE x int; y int;
        BEGIN
          SELECT a.v, b.v INTO x, y FROM a, b WHERE a.id = 1 AND b.id = 1;
          PERFORM 1 FROM c WHERE id = 1 FOR UPDATE; IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
        END $$;";
    breaks_and_is_suspected(text, "f() | g() | h()", Level::Mvrc, true);
}

/// A subquery in an expression is not worked out where nobody asks for its value, and then it locks nothing.
#[test]
fn what_an_expression_may_not_ask_for_is_not_locked() {
    let lock = "(SELECT v FROM a WHERE id = 1 FOR UPDATE)";
    for statement in [
        format!("UPDATE b SET v = {lock} WHERE id = k;"),
        format!("UPDATE b SET v = 1 WHERE id = k RETURNING {lock} INTO x;"),
        format!("PERFORM (k, {lock}) < (0, 0);"),
        format!("PERFORM 1 FROM (VALUES (1), ({lock})) s(z) LIMIT 1;"),
        format!("IF EXISTS (VALUES (1), ({lock})) THEN NULL; END IF;"),
        format!("PERFORM l[NULL::int][{lock}];"),
    ] {
        let text = format!(
            "{COUNTER} CREATE PROCEDURE f(k int, m int) LANGUAGE plpgsql AS $$ DECLARE x int; l int[];
             BEGIN {statement} SELECT v INTO x FROM a WHERE id = 1; UPDATE a SET v = x + m WHERE id = 1; END $$;"
        );
        breaks_and_is_suspected(&text, "f(7, 1) | f(7, 2)", Level::Mvrc, true);
    }
}

/// PostgreSQL does not do this either: cursors that nobody fetches from, and calls beside NULL.
#[test]
fn what_postgresql_may_leave_out_is_not_sure() {
    let text = format!(
        "{COUNTER} CREATE PROCEDURE f() LANGUAGE plpgsql AS $$
         DECLARE c CURSOR FOR SELECT v FROM a WHERE id = 1 FOR UPDATE;
         BEGIN OPEN c; CLOSE c; END $$;"
    );
    let (database, app) = load(&text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let accesses = robustness.once.programs[0].paths.iter().flat_map(|path| &path.accesses);
    assert!(accesses.clone().count() > 0 && accesses.into_iter().all(|access| access.conditional));
    let text = format!(
        "{COUNTER} CREATE FUNCTION bump() RETURNS int LANGUAGE plpgsql AS $$ DECLARE y int;
         BEGIN UPDATE b SET v = v + 1 WHERE id = 1 RETURNING v INTO STRICT y; RETURN y; END $$;
         CREATE PROCEDURE f(k int, i int, j int) LANGUAGE plpgsql AS $$ DECLARE x int;
         BEGIN PERFORM k + bump(); SELECT v INTO x FROM a WHERE id = i; UPDATE a SET v = x + 1 WHERE id = j; END $$;"
    );
    let (database, app) = load(&text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    assert!(!robustness.cycles(Level::Si, &Question::default()).suspects.is_empty());
}

/// Which rows stand in the way of an INSERT other columns decide, where the index is one of some rows.
#[test]
fn what_decides_that_a_row_is_in_an_index_is_read() {
    let text = "CREATE TABLE t (id int PRIMARY KEY, u int NOT NULL, active boolean NOT NULL);
        INSERT INTO t VALUES (1, 5, true);
        CREATE UNIQUE INDEX t_u ON t (u) WHERE active;
        CREATE TABLE b (id int PRIMARY KEY, v int NOT NULL); INSERT INTO b VALUES (1, 0);
        CREATE TABLE once (id int PRIMARY KEY);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO once VALUES (1);
          INSERT INTO t VALUES (2, 5, true) ON CONFLICT (u) WHERE active DO NOTHING;
          UPDATE b SET v = 1 WHERE id = 1;
        END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int;
        BEGIN
          INSERT INTO once VALUES (2);
          SELECT v INTO x FROM b WHERE id = 1;
          IF x = 0 THEN UPDATE t SET active = false WHERE id = 1; END IF;
        END $$;";
    for level in [Level::Psi, Level::Si] {
        breaks_and_is_suspected(text, "f() | g()", level, true);
    }
}

/// Foreign keys that are switched off say nothing.
#[test]
fn references_that_are_not_checked_are_not_believed() {
    let text = "CREATE TABLE m (id int PRIMARY KEY);
        CREATE TABLE n (id int PRIMARY KEY, m int NOT NULL REFERENCES m);
        ALTER TABLE n DISABLE TRIGGER ALL;
        CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 0), (2, 0);
        CREATE PROCEDURE f(i int, j int) LANGUAGE plpgsql AS $$ DECLARE x int;
        BEGIN
          PERFORM 1 FROM m WHERE id = 7; IF FOUND THEN RETURN; END IF;
          INSERT INTO n VALUES (i, 7);
          SELECT v INTO x FROM a WHERE id = i;
          UPDATE a SET v = x + 1 WHERE id = j;
        END $$;";
    breaks_and_is_suspected(text, "f(1, 2) | f(2, 1)", Level::Si, true);
}

/// Settings under which names mean something else.
#[test]
fn who_changes_what_names_mean_is_not_understood() {
    for (setting, is_understood) in [
        ("PERFORM set_config('search_path', 'other', true);", false),
        ("PERFORM set_config(which, 'other', true);", false),
        ("SET LOCAL search_path = other;", false),
        ("PERFORM set_config('app.user', 'ann', true);", true),
    ] {
        let text = format!(
            "{COUNTER} CREATE SCHEMA other; CREATE PROCEDURE f(which text) LANGUAGE plpgsql AS $$
             BEGIN {setting} PERFORM v FROM a; END $$;"
        );
        let (database, app) = load(&text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let limit = robustness.cycles(Level::Si, &Question::default()).limit;
        let expected = "f, line 2: a setting may change what the statements mean that follow";
        assert_eq!(limit.as_deref(), (!is_understood).then_some(expected), "{setting}");
    }
}

/// A deferred trigger of a table that another trigger changes runs at the end, too.
#[test]
fn what_waits_for_the_end_happens_there() {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 0);
        CREATE TABLE b (id int PRIMARY KEY, v int NOT NULL); INSERT INTO b VALUES (1, 0);
        CREATE TABLE once (id int PRIMARY KEY);
        CREATE TABLE x (id serial PRIMARY KEY, v int NOT NULL);
        CREATE TABLE log (id serial PRIMARY KEY, v int);
        CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN UPDATE b SET v = 7 WHERE id = 1; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER late AFTER INSERT ON log DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION late();
        CREATE FUNCTION also() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO log (v) VALUES (1); RETURN NULL; END $$;
        CREATE TRIGGER also AFTER INSERT ON x FOR EACH ROW EXECUTE FUNCTION also();
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE y int;
        BEGIN
          INSERT INTO once VALUES (1);
          INSERT INTO x (v) VALUES (1);
          SELECT v INTO y FROM a WHERE id = 1;
        END $$;
        CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$
        BEGIN UPDATE a SET v = k WHERE id = 1; UPDATE b SET v = k WHERE id = 1; END $$;";
    breaks_and_is_suspected(text, "f() | g(5) | finally: SELECT v FROM b", Level::Mvrc, true);
}

/// A cursor locks rows, and looks at them again, when they are fetched.
#[test]
fn cursors_look_when_they_are_fetched_from() {
    for query in ["SELECT v FROM b WHERE id = 1 FOR UPDATE", "SELECT put()"] {
        let text = format!(
            "{COUNTER} CREATE FUNCTION put() RETURNS int LANGUAGE plpgsql AS $$
             BEGIN UPDATE b SET v = 7 WHERE id = 1; RETURN 1; END $$;
             CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int; y int; c CURSOR FOR {query};
             BEGIN OPEN c; SELECT v INTO x FROM a WHERE id = 1; FETCH c INTO y; CLOSE c; END $$;
             CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$
             BEGIN UPDATE a SET v = k WHERE id = 1; UPDATE b SET v = k WHERE id = 1; END $$;"
        );
        let (database, app) = load(&text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        assert!(!robustness.cycles(Level::Mvrc, &Question::default()).suspects.is_empty(), "{query}");
    }
}

/// That a statement has changed a row does not say that it gives one.
#[test]
fn a_change_in_with_may_give_nothing() {
    for query in [
        "WITH n AS (INSERT INTO u (v) VALUES (k) RETURNING id, v) SELECT id INTO y FROM n WHERE v > 5;",
        "WITH n AS (INSERT INTO u (v) VALUES (k) RETURNING id) SELECT id INTO y FROM n LIMIT 0;",
        "WITH n AS (UPDATE b SET v = k WHERE id = i RETURNING id, v) SELECT id INTO y FROM n WHERE v > 5;",
    ] {
        let text = format!(
            "{COUNTER} INSERT INTO b VALUES (2, 0); CREATE TABLE u (id serial PRIMARY KEY, v int NOT NULL);
             CREATE PROCEDURE f(k int, i int, j int) LANGUAGE plpgsql AS $$ DECLARE x int; y int;
             BEGIN
               {query}
               IF y IS NULL THEN SELECT v INTO x FROM a WHERE id = i; UPDATE a SET v = x + 1 WHERE id = j; END IF;
             END $$;"
        );
        breaks_and_is_suspected(&text, "f(1, 1, 2) | f(1, 2, 1)", Level::Si, true);
    }
}

/// Where there are too many ways to tell branches apart, nobody is sure to ask about the second one.
#[test]
fn only_the_first_condition_is_surely_asked_about() {
    let many: String = (1..9).map(|n| format!("IF m{n} > 0 THEN PERFORM v FROM d WHERE id = {n}; END IF; ")).collect();
    let parameters: String = (1..9).map(|n| format!(", m{n} int")).collect();
    for decision in [
        "IF k > 0 THEN NULL; ELSIF ins() > 0 THEN NULL; END IF;",
        "CASE k WHEN 1 THEN NULL; WHEN ins() THEN NULL; ELSE NULL; END CASE;",
    ] {
        let text = format!(
            "{COUNTER} CREATE TABLE d (id int PRIMARY KEY, v int NOT NULL); CREATE TABLE t (id int PRIMARY KEY);
             CREATE FUNCTION ins() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (1); RETURN 1; END $$;
             CREATE PROCEDURE f(k int, i int, j int{parameters}) LANGUAGE plpgsql AS $$ DECLARE x int;
             BEGIN {many} {decision} SELECT v INTO x FROM a WHERE id = i; UPDATE a SET v = x + 1 WHERE id = j; END $$;"
        );
        let client = "f(1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0) | f(1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0)";
        breaks_and_is_suspected(&text, client, Level::Si, true);
    }
}

/// What a procedure gives that has returned early is not what it sets in the end.
#[test]
fn who_returns_early_gives_what_was_set_by_then() {
    for body in [
        "r := 1; FOR i IN 1..n LOOP RETURN; END LOOP; r := 2;",
        "r := 1; BEGIN IF n > 0 THEN RETURN; END IF; EXCEPTION WHEN division_by_zero THEN NULL; END; r := 2;",
    ] {
        let text = format!(
            "{COUNTER} CREATE PROCEDURE called(n int, INOUT r int) LANGUAGE plpgsql AS $$ BEGIN {body} END $$;
             CREATE PROCEDURE f(n int, i int, j int) LANGUAGE plpgsql AS $$ DECLARE x int; y int;
             BEGIN
               CALL called(n, y);
               IF y = 1 THEN SELECT v INTO x FROM a WHERE id = i; UPDATE a SET v = x + 1 WHERE id = j; END IF;
             END $$;"
        );
        breaks_and_is_suspected(&text, "f(1, 1, 2) | f(1, 2, 1)", Level::Si, true);
    }
}

/// MERGE looks at the row that it changes once more.
#[test]
fn merge_looks_again() {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 0);
        CREATE TABLE b (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL); INSERT INTO b VALUES (1, 0, 0);
        CREATE TABLE once (id int PRIMARY KEY);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO once VALUES (1);
          MERGE INTO b USING (SELECT v AS s FROM a WHERE id = 1) z ON b.id = 1
            WHEN MATCHED THEN UPDATE SET w = b.v * 10 + z.s;
        END $$;
        CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$
        BEGIN UPDATE a SET v = k WHERE id = 1; UPDATE b SET v = k WHERE id = 1; END $$;";
    breaks_and_is_suspected(text, "f() | g(5) | finally: SELECT w FROM b", Level::Mvrc, true);
}

/// What a program changes in one iteration of a loop it has not changed in another one.
#[test]
fn another_iteration_is_about_another_row() {
    let looping = |update: &str| {
        format!(
            "CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int;
             BEGIN
               FOR i IN 1..2 LOOP
                 SELECT v INTO x FROM t WHERE id = i;
                 IF x = 0 THEN UPDATE t SET {update} WHERE id = i; END IF;
               END LOOP;
             END $$;"
        )
    };
    let updated = "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL, z int NOT NULL);
        INSERT INTO t VALUES (1, 1, 0, 0), (2, 0, 0, 0);
        CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET v = 5, w = 5 WHERE id = k; END $$;
        CREATE PROCEDURE h(k int, j int) LANGUAGE plpgsql AS $$ DECLARE x int; y int;
        BEGIN SELECT v INTO x FROM t WHERE id = k; SELECT z INTO y FROM t WHERE id = j; END $$;";
    let deleted = "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, z int NOT NULL);
        INSERT INTO t VALUES (1, 1, 0), (2, 0, 0);
        CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM t WHERE id = k; END $$;
        CREATE PROCEDURE h(k int, j int) LANGUAGE plpgsql AS $$ DECLARE y int;
        BEGIN PERFORM 1 FROM t WHERE id = k; SELECT z INTO y FROM t WHERE id = j; END $$;";
    for (others, update) in [(updated, "w = 1, z = 1"), (deleted, "z = 1")] {
        let text = others.to_owned() + &looping(update);
        breaks_and_is_suspected(&text, "f() | g(1) | h(1, 2)", Level::Si, true);
    }
}

/// Who is come to by a read has not written for that, although another access to the same row would have.
#[test]
fn by_which_access_one_is_come_to_matters() {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 0);
        CREATE TABLE b (id int PRIMARY KEY, v int NOT NULL); INSERT INTO b VALUES (1, 0);
        CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL); INSERT INTO t VALUES (1, 0, 0);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int;
        BEGIN
          SELECT v INTO x FROM a WHERE id = 1;
          UPDATE t SET w = 2 WHERE id = 1; IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
          UPDATE b SET v = x + 1 WHERE id = 1;
        END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$
        BEGIN UPDATE a SET v = 5 WHERE id = 1; UPDATE t SET v = 7 WHERE id = 1; END $$;
        CREATE PROCEDURE h(m int) LANGUAGE plpgsql AS $$ DECLARE x int; y int;
        BEGIN
          FOR i IN 1..1 LOOP
            UPDATE t SET w = v + 1 WHERE id = i AND m > 5;
            SELECT v INTO x FROM t WHERE id = i;
          END LOOP;
          SELECT v INTO y FROM b WHERE id = 1;
        END $$;";
    breaks_and_is_suspected(text, "f() | g() | h(0)", Level::Si, false);
}
