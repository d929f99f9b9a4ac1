//! Applications, written by hand, that were called robust once although a client shows otherwise.

use skew_model::Level;
use skew_prove::robust::answer::{Effort as RobustEffort, Verdict};
use skew_prove::robust::{Question, Robustness};
use skew_prove::summary::{AccessKind, Cell, Outcome};
use skew_sql::explore::{Client, Watch};

use crate::agreement::{HOUR, Seen, World, tries};
use crate::load;

/// Applications that the graph called robust although a client shows otherwise.
#[test]
fn what_was_overlooked_once() {
    let tables = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 1), (2, 0);";
    let wrong = [
        // A scan looks at rows that turn out not to be asked for.
        (Level::Si, "SELECT count(*) INTO x FROM a WHERE v = 1; INSERT INTO a VALUES (p1 + 2, 2);", "NULL;"),
        // A statement in a loop comes again.
        (
            Level::Mvrc,
            "FOR i IN 1..2 LOOP SELECT v INTO x FROM a WHERE id = p1; END LOOP;",
            "UPDATE a SET v = 5 WHERE id = p1;",
        ),
        // What an expression reads decides about a row, too.
        (
            Level::Si,
            "UPDATE a SET v = 5 WHERE id = 1 AND v + 1 = 7; UPDATE a SET v = 6 WHERE id = 2;",
            "UPDATE a SET v = 5 WHERE id = 2 AND v + 1 = 7; UPDATE a SET v = 6 WHERE id = 1;",
        ),
    ];
    for (level, one, other) in wrong {
        let mut text = tables.to_owned();
        for (name, body) in [("f", one), ("g", other)] {
            text.push_str(&format!(
                "CREATE PROCEDURE {name}(p1 int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN {body} END $$;"
            ));
        }
        let (database, app) = load(&text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let client = Client::parse(if other == "NULL;" { "f(1) | f(2)" } else { "f(1) | g(1)" }).expect("a client");
        let world = World { database: &database, app: &app, clients: &[client], watch: Watch::start(HOUR) };
        assert!(matches!(world.search(level), Seen::Broken(..)), "{level}: {one}");
        assert!(!robustness.cycles(level, &Question::default()).suspects.is_empty(), "{level}: {one}");
    }
}

/// A write skew between f and g, where one side of it stands somewhere else than in their statements.
#[test]
fn what_looks_and_changes_behind_statements_is_suspected() {
    let tables = "
        CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 1);
        CREATE TABLE b (id int PRIMARY KEY, n int NOT NULL); INSERT INTO b VALUES (1, 0);";
    let looks = "CREATE FUNCTION enough(x int) RETURNS boolean LANGUAGE sql AS $$
        SELECT x >= (SELECT n FROM b WHERE id = 1) $$;";
    let reads_d = "IF (SELECT v FROM d WHERE id = 1) = 0 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;";
    let reads_b = "IF (SELECT n FROM b WHERE id = 1) = 0 THEN UPDATE a SET v = 0 WHERE id = 1; END IF;";
    let apps = [
        // A CHECK constraint calls a function that looks at a table.
        (
            format!(
                "{looks} CREATE TABLE d (id int PRIMARY KEY, v int CHECK (enough(v))); INSERT INTO d VALUES (1, 0);"
            ),
            "UPDATE d SET v = 1 WHERE id = 1;",
            reads_d,
        ),
        // So does the one of a domain.
        (
            format!(
                "{looks} CREATE DOMAIN much AS int CHECK (enough(VALUE)); CREATE TABLE d (id int PRIMARY KEY, v much);
                 INSERT INTO d VALUES (1, 0);"
            ),
            "UPDATE d SET v = 1 WHERE id = 1;",
            reads_d,
        ),
        // FOR KEY SHARE keeps nobody from changing what is not the key.
        (
            String::new(),
            "SELECT v INTO x FROM a WHERE id = 1 FOR KEY SHARE; IF x = 1 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;",
            "SELECT n INTO x FROM b WHERE id = 1 FOR KEY SHARE; IF x = 0 THEN UPDATE a SET v = 0 WHERE id = 1; END IF;",
        ),
        // Spaces at the end are no part of a char(n).
        (
            "CREATE TABLE d (id char(4) PRIMARY KEY, v int); INSERT INTO d VALUES ('k', 0);".to_owned(),
            "IF (SELECT v FROM d WHERE id = 'k') = 0 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;",
            "IF (SELECT n FROM b WHERE id = 1) = 0 THEN UPDATE d SET v = 1 WHERE id = 'k   '; END IF;",
        ),
        // A trigger changes another table, a generated column is read, a function is called.
        (
            "CREATE FUNCTION also() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN UPDATE b SET n = NEW.v WHERE id = 1; RETURN NEW; END $$;
             CREATE TABLE d (id int PRIMARY KEY, v int); INSERT INTO d VALUES (1, 0);
             CREATE TRIGGER also AFTER UPDATE ON d FOR EACH ROW EXECUTE FUNCTION also();"
                .to_owned(),
            "IF (SELECT v FROM a WHERE id = 1) = 1 THEN UPDATE d SET v = 1 WHERE id = 1; END IF;",
            reads_b,
        ),
        (
            "CREATE TABLE d (id int PRIMARY KEY, v int, twice int GENERATED ALWAYS AS (v * 2) STORED);
             INSERT INTO d VALUES (1, 1);"
                .to_owned(),
            "IF (SELECT twice FROM d WHERE id = 1) = 2 THEN UPDATE b SET n = 1 WHERE id = 1; END IF;",
            "IF (SELECT n FROM b WHERE id = 1) = 0 THEN UPDATE d SET v = 0 WHERE id = 1; END IF;",
        ),
        (
            "CREATE FUNCTION write(x int) RETURNS int LANGUAGE plpgsql AS $$
             BEGIN UPDATE b SET n = x WHERE id = 1; RETURN x; END $$;"
                .to_owned(),
            "IF (SELECT v FROM a WHERE id = 1) = 1 THEN x := write(1); END IF;",
            reads_b,
        ),
    ];
    for (more, one, other) in apps {
        let mut text = format!("{tables}{more}");
        for (name, body) in [("f", one), ("g", other)] {
            text.push_str(&format!(
                "CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN {body} END $$;"
            ));
        }
        let (database, app) = load(&text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let client = Client::parse("f() | g()").expect("a client");
        let world = World { database: &database, app: &app, clients: &[client], watch: Watch::start(HOUR) };
        assert!(matches!(world.search(Level::Si), Seen::Broken(..)), "{more} {one}");
        assert!(!robustness.cycles(Level::Si, &Question::default()).suspects.is_empty(), "{more} {one}");
    }
}

/// What the graph took for sure once: that a row is missing, is changed, comes, or is seen by others.
const READS_A: &str = "(SELECT v FROM a WHERE id = 1)";
const READS_B: &str = "(SELECT v FROM b WHERE id = 1)";

#[test]
fn what_decides_besides_the_key_is_not_forgotten() {
    let body = |name: &str, body: &str| {
        format!(
            "CREATE PROCEDURE {name}(p int) LANGUAGE plpgsql AS $$ DECLARE x int; y int; i int; BEGIN {body} END $$;"
        )
    };
    let asks = |name: &str, level: &str| format!("COMMENT ON PROCEDURE {name} IS '@isolation {level}';");
    let reads_both = "SELECT v INTO x FROM a WHERE id = 1; SELECT v INTO y FROM b WHERE id = 1;";
    let skew = |found: &str| {
        let reads_a = format!("{found} IF NOT FOUND THEN {reads_both} UPDATE b SET v = x + p WHERE id = 1; END IF;");
        let reads_b = format!("{reads_both} UPDATE a SET v = y + p WHERE id = 1;");
        body("f", &reads_a) + &body("g", &reads_b)
    };
    let skew_in = |before: &str, after: &str| {
        let reads_a = format!("{before} {reads_both} UPDATE b SET v = x + p WHERE id = 1; {after}");
        body("f", &reads_a) + &body("g", &format!("{reads_both} UPDATE a SET v = y + p WHERE id = 1;"))
    };
    let no_error = "FOR i IN 1..p - 5 LOOP RAISE EXCEPTION 'no'; END LOOP;";
    let no_return = "FOR i IN 1..1 LOOP IF p > 0 THEN NULL; ELSE RETURN; END IF;";
    let none = "SELECT count(*) INTO i FROM c WHERE id = 5; IF i = 0 THEN";
    let left = "<<out>> BEGIN FOR i IN 1..1 LOOP EXIT out; END LOOP; UPDATE a SET v = 7 WHERE id = 1; END;";
    let referring = |refers: &str, also: &str, change: &str| {
        let tables = format!(
            "CREATE TABLE m (id int PRIMARY KEY, code int UNIQUE); INSERT INTO m VALUES (1, 1);
             CREATE TABLE n (id int PRIMARY KEY {also}, m int {refers}); INSERT INTO n VALUES (1, 1);
             CREATE TABLE o (id int PRIMARY KEY, n int REFERENCES n ON DELETE CASCADE); INSERT INTO o VALUES (1, 1);"
        );
        let reads = "SELECT m INTO x FROM n WHERE id = 1; SELECT n INTO y FROM o WHERE id = 1;
            UPDATE b SET v = 1 + coalesce(x, 7) + coalesce(y, 7) WHERE id = 1;";
        let changes = format!("SELECT v INTO y FROM b WHERE id = 1; IF y = 0 THEN {change} WHERE id = 1; END IF;");
        tables + &body("f", reads) + &body("g", &changes)
    };
    let read_only = |change: &str| {
        let reads = format!("SELECT v INTO x FROM a WHERE id = 1; {change} UPDATE b SET v = x + p WHERE id = 1;");
        body("f", &reads) + &body("g", "UPDATE a SET v = p WHERE id = 1;") + &body("h", reads_both)
    };
    let fork = body("f", reads_both)
        + &body("g", "UPDATE a SET v = p WHERE id = 1;")
        + &body("h", "UPDATE b SET v = p WHERE id = 1;")
        + &asks("g", "ser")
        + &asks("h", "ser");
    let kept_back = "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE TRIGGER no BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION no();"
        .to_owned()
        + &body(
            "f",
            "INSERT INTO c VALUES (5, 1); SELECT v INTO x FROM a WHERE id = p; UPDATE a SET v = x + 1 WHERE id = 3 - p;",
        );
    let ordered = body("f", "SELECT v INTO x FROM a WHERE id = 1; UPDATE b SET v = x + p WHERE id = 1;")
        + &body("g", "UPDATE a SET v = p WHERE id = 1;")
        + &body("h", "SELECT v INTO x FROM a WHERE id = 1; UPDATE c SET v = x + p WHERE id = 1;")
        + &body("k", "SELECT v INTO x FROM c WHERE id = 1; SELECT v INTO y FROM b WHERE id = 1;")
        + &asks("g", "ser")
        + &asks("k", "ser");
    let both = body("g", "UPDATE a SET v = p WHERE id = 1; UPDATE b SET v = p WHERE id = 1;");
    let one_by_one = |statement: &str| body("f", &statement.replace("one", READS_A).replace("two", READS_B)) + &both;
    let left_early = "i := 1; <<out>> BEGIN EXIT out WHEN p > 0; i := 2; END; SELECT v INTO x FROM a WHERE id = i;";
    let by_part_of_a_key = |g: u32| {
        let found = if g == 1 { "NOT FOUND" } else { "FOUND" };
        format!("PERFORM 1 FROM z WHERE id = 1 AND g = {g}; IF {found} THEN RETURN; END IF;")
    };
    let z = "CREATE TABLE z (id int PRIMARY KEY, g int NOT NULL, h int GENERATED ALWAYS AS (g + 1) STORED);
        INSERT INTO z VALUES (1, 1), (2, 5);";
    let over_z = |read: &str| {
        let changes = "SELECT v INTO y FROM b WHERE id = 1; UPDATE z SET g = 7 + y WHERE id = 1;";
        z.to_owned() + &body("f", &format!("{read} UPDATE b SET v = p WHERE id = 1;")) + &body("g", changes)
    };
    let locked = |strength: &str| format!("SELECT v INTO i FROM c WHERE id = 1 FOR {strength};");
    let both_locked = |strength: &str| {
        body("f", &format!("{} {reads_both} UPDATE b SET v = x + p WHERE id = 1;", locked(strength)))
            + &body("g", &format!("{} {reads_both} UPDATE a SET v = y + p WHERE id = 1;", locked("SHARE")))
    };
    let apps = [
        // Every kind of join looks at what it compares, and so does whatever says how far.
        (over_z("SELECT count(*) INTO x FROM c LEFT JOIN z ON z.g = c.v;"), "f(3) | g(4)", Level::Si, true),
        (over_z("SELECT count(*) INTO x FROM c FULL JOIN z ON z.g = c.id;"), "f(3) | g(4)", Level::Si, true),
        (over_z("SELECT count(*) INTO x FROM c JOIN z ON c.v = z.g + 1;"), "f(3) | g(4)", Level::Si, true),
        (
            over_z(
                "SELECT max(n) INTO x FROM (SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN
                 (SELECT g FROM z WHERE id = 1) PRECEDING AND CURRENT ROW) AS n FROM c) s;",
            ),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        (
            over_z(
                "DECLARE k refcursor; BEGIN OPEN k FOR SELECT id FROM c;
                 FETCH RELATIVE (SELECT g FROM z WHERE id = 1) FROM k INTO x; END;",
            ),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A row without a partner is looked at and not changed.
        (
            z.to_owned()
                + &body(
                    "f",
                    "UPDATE a SET v = 9 FROM z WHERE a.id = 1 AND z.g = a.v; UPDATE b SET v = p WHERE id = 1;",
                )
                + &body("g", "UPDATE a SET v = 7 WHERE id = 1;")
                + &body("h", reads_both),
            "f(3) | g(4); h(5)",
            Level::Si,
            true,
        ),
        // What is generated changes with what it is made of, and not with other columns; who refers to it changes, too.
        (
            "CREATE TABLE m (id int PRIMARY KEY, k int, l int, h int GENERATED ALWAYS AS (k + 1) STORED);
             INSERT INTO m VALUES (1, 1, 1);"
                .to_owned()
                + &body(
                    "f",
                    "UPDATE m SET l = p WHERE id = 1; SELECT k INTO x FROM m WHERE id = 1; UPDATE b SET v = x WHERE id = 1;",
                )
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; UPDATE m SET k = y + p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        (
            "CREATE TABLE m (id int PRIMARY KEY, k int, h int GENERATED ALWAYS AS (k + 1) STORED UNIQUE);
             CREATE TABLE n (id int PRIMARY KEY, m int REFERENCES m (h) ON UPDATE CASCADE);
             INSERT INTO m VALUES (1, 1); INSERT INTO n VALUES (1, 2);"
                .to_owned()
                + &body("f", "SELECT m INTO x FROM n WHERE id = 1; UPDATE b SET v = x WHERE id = 1;")
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; UPDATE m SET k = y + p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A count of nothing is NULL where it gives no row, and a loop may store nothing.
        (
            skew_in("i := (SELECT count(*) FROM c HAVING count(*) > 5); IF i IS NULL THEN", "END IF;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A unique value goes to another row.
        (
            "CREATE TABLE e (id int PRIMARY KEY, x int UNIQUE, c int); INSERT INTO e VALUES (1, 5, 0);".to_owned()
                + &body("f", "SELECT c INTO x FROM e WHERE e.x = 5; UPDATE b SET v = x + p WHERE id = 1;")
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; INSERT INTO e VALUES (2, 5, y);")
                + &body("h", "UPDATE e SET x = 6 WHERE id = 1;"),
            "f(3) | h(5) | g(4)",
            Level::Si,
            false,
        ),
        // Two can share a lock.
        (both_locked("SHARE"), "f(3) | g(4)", Level::Mvrc, true),
        // A part of a key is unique: who finds no row with all of it says nothing about those with the part.
        (
            "CREATE TABLE z (id int UNIQUE, g int, PRIMARY KEY (id, g)); INSERT INTO z VALUES (1, 1);".to_owned()
                + &body("f", &format!("{} {reads_both} UPDATE b SET v = x + p WHERE id = 1;", by_part_of_a_key(1)))
                + &body("g", &format!("{} {reads_both} UPDATE a SET v = y + p WHERE id = 1;", by_part_of_a_key(2))),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A block is left in the middle.
        (
            body("f", &format!("{left_early} UPDATE b SET v = x + p WHERE id = 1;"))
                + &body("g", "SELECT v INTO y FROM b WHERE id = 1; UPDATE a SET v = y + p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // What a row refers to need not be there before the end.
        (
            "CREATE TABLE m (id int PRIMARY KEY);
             CREATE TABLE n (id int PRIMARY KEY, m int NOT NULL REFERENCES m DEFERRABLE INITIALLY DEFERRED);"
                .to_owned()
                + &skew_in(
                    "INSERT INTO n VALUES (p, 7); PERFORM 1 FROM m WHERE id = 7; IF FOUND THEN RETURN; END IF;
                     DELETE FROM n WHERE id = p;",
                    "",
                ),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // Expressions look one after the other.
        (one_by_one("IF one > 100 THEN NULL; ELSIF two > 100 THEN NULL; END IF;"), "f(3) | g(4)", Level::Mvrc, true),
        (one_by_one("RAISE NOTICE '% %', one, two;"), "f(3) | g(4)", Level::Mvrc, true),
        (one_by_one("FOR i IN one..two LOOP NULL; END LOOP;"), "f(3) | g(4)", Level::Mvrc, true),
        (one_by_one("DECLARE k int := one; l int := two; BEGIN NULL; END;"), "f(3) | g(4)", Level::Mvrc, true),
        // What a statement calls looks later than the statement.
        (
            format!("CREATE FUNCTION u() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN {READS_B}; END $$;")
                + &body("f", "SELECT v + u() INTO x FROM a WHERE id = 1;")
                + &both,
            "f(3) | g(4)",
            Level::Mvrc,
            true,
        ),
        // A row is not found for another reason.
        (skew("SELECT v INTO x FROM c WHERE id = 1 AND p > 100;"), "f(3) | g(4)", Level::Si, true),
        (skew("SELECT v INTO x FROM c WHERE id = 1 LIMIT 0;"), "f(3) | g(4)", Level::Si, true),
        (skew("SELECT v INTO x FROM c WHERE id = 1 OFFSET 1;"), "f(3) | g(4)", Level::Si, true),
        (
            skew("SELECT v INTO x FROM c CROSS JOIN generate_series(1, p - 3) WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A loop is never entered, a branch not taken.
        (skew_in(no_error, ""), "f(3) | g(4)", Level::Si, true),
        (skew_in(no_return, "END LOOP;"), "f(3) | g(4)", Level::Si, true),
        (skew_in(none, "END IF;"), "f(3) | g(4)", Level::Si, true),
        // What is said is read first; a row is looked for among all with the first column of an index.
        (
            body("f", "RAISE NOTICE '%', (SELECT v FROM a WHERE id = 1); UPDATE b SET v = p WHERE id = 1;")
                + &body("g", "SELECT v INTO x FROM b WHERE id = 1; UPDATE a SET v = p WHERE id = 1;"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        (
            "CREATE TABLE z (id int PRIMARY KEY, m int NOT NULL, n int NOT NULL); CREATE INDEX ON z (m, n);".to_owned()
                + &body(
                    "f",
                    "SELECT count(*) INTO x FROM z WHERE m = 1 AND n = 1; UPDATE a SET v = x + p WHERE id = 1;",
                )
                + &body("g", "SELECT v INTO x FROM a WHERE id = 1; INSERT INTO z VALUES (p, 1, 2);"),
            "f(3) | g(4)",
            Level::Pc,
            true,
        ),
        // What refers to a row goes and changes with it, and what refers to that.
        (referring("", "REFERENCES m ON DELETE CASCADE", "DELETE FROM m"), "f(3) | g(4)", Level::Si, true),
        (
            referring("REFERENCES m (code) ON UPDATE CASCADE", "", "UPDATE m SET code = 5"),
            "f(3) | g(4)",
            Level::Si,
            true,
        ),
        // A row that is there is not changed.
        (read_only(left), "f(3) | g(4) | h(5)", Level::Si, true),
        (read_only("UPDATE a SET v = 7 WHERE id = 1 AND p > 5;"), "f(3) | g(4) | h(5)", Level::Si, true),
        (
            read_only("UPDATE a SET v = (SELECT v FROM c WHERE id = 1) WHERE id = 1 AND v > 5;"),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        (
            read_only("FOR i IN 1..0 LOOP UPDATE a SET v = 7 WHERE id = 1; END LOOP;"),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        // Several rows are not one.
        (
            read_only("UPDATE a SET v = 7 FROM unnest(ARRAY[1, 2]) k WHERE a.id = k AND v >= 100;"),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        (
            read_only(
                "UPDATE a SET v = 7 FROM generate_series(1, 2) k, LATERAL (SELECT abs(k) AS m) s WHERE a.id = s.m AND v >= 100;",
            ),
            "f(3) | g(4) | h(5)",
            Level::Si,
            true,
        ),
        // A trigger keeps a row back.
        (kept_back, "f(1) | f(2)", Level::Si, true),
        // Others see one of two that are serializable with each other.
        (fork, "f(3) | f(4) | g(5) | h(6)", Level::Psi, true),
        (ordered, "f(1) | g(2) | h(3) | k(4)", Level::Si, false),
    ];
    for (text, client, level, sessions) in apps {
        is_broken_and_suspected(&text, client, level, sessions);
    }
}

/// Tables a, b and c with rows 1 and 2, whose value is 0.
fn tables() -> String {
    let table = |name: &str| {
        format!("CREATE TABLE {name} (id int PRIMARY KEY, v int NOT NULL); INSERT INTO {name} VALUES (1, 0), (2, 0);")
    };
    ["a", "b", "c"].map(table).concat()
}

/// A client breaks the application; both engines suspect it.
#[track_caller]
fn is_broken_and_suspected(text: &str, client: &str, level: Level, sessions: bool) {
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
