//! Applications, written by hand, that were called robust once although a client shows otherwise.

use skew_model::Level;
use skew_prove::robust::{Question, Robustness};
use skew_sql::explore::{Client, Watch};

use crate::agreement::{HOUR, Seen, World};
use crate::load;
use crate::suspected::is_broken_and_suspected;

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

/// What a CHECK of two columns allows to one writer depends on the other one, although they write different cells and
/// neither reads what the other one writes.
#[test]
fn writers_under_one_constraint_depend_on_each_other() {
    let text = "
        CREATE TABLE a (id int PRIMARY KEY, x int NOT NULL, y int NOT NULL, CHECK (x + y >= 0));
        CREATE TABLE b (id int PRIMARY KEY, n int NOT NULL);
        INSERT INTO a VALUES (1, 0, 0); INSERT INTO b VALUES (1, 0);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN
            UPDATE b SET n = 1 WHERE id = 1; UPDATE a SET x = 5 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE v int; BEGIN
            SELECT n INTO v FROM b WHERE id = 1; UPDATE a SET y = -5 WHERE id = 1; END $$;";
    let (database, app) = load(text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    for level in [Level::Cc, Level::Pc] {
        let client = Client::parse("f() | g()").expect("a client");
        let world = World { database: &database, app: &app, clients: &[client], watch: Watch::start(HOUR) };
        assert!(matches!(world.search(level), Seen::Broken(..)), "{level}: a run is not serializable");
        assert!(!robustness.cycles(level, &Question::default()).suspects.is_empty(), "{level}");
    }
    // Where writers conflict, those of one row under one constraint do.
    let cycles = robustness.cycles(Level::Si, &Question::default());
    assert!(cycles.suspects.is_empty(), "si");
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
        // Whatever the function is called, and however the domain gets into the column.
        (
            r#"CREATE FUNCTION "Is it enough?"(x int) RETURNS boolean LANGUAGE sql AS $$
               SELECT x >= (SELECT n FROM b WHERE id = 1) $$;
               CREATE DOMAIN much AS int CHECK ("Is it enough?"(VALUE)); CREATE TABLE d (id int PRIMARY KEY, v much);
               INSERT INTO d VALUES (1, 0);"#
                .to_owned(),
            "UPDATE d SET v = 1 WHERE id = 1;",
            reads_d,
        ),
        (
            r#"CREATE FUNCTION "Enough"(x int) RETURNS boolean LANGUAGE sql AS $$
               SELECT x >= (SELECT n FROM b WHERE id = 1) $$;
               CREATE TABLE d (id int PRIMARY KEY, v int CHECK ("Enough"(v))); INSERT INTO d VALUES (1, 0);
               ALTER FUNCTION "Enough"(int) RENAME TO "other name";"#
                .to_owned(),
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
        (ordered, "f(1) | g(2) | h(3) | k(4)", Level::Si, false),
    ];
    for (text, client, level, sessions) in apps {
        is_broken_and_suspected(&text, client, level, sessions);
    }
}
