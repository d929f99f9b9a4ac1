//! A constraint that is satisfied because another transaction has committed orders the two, although neither reads what the
//! other one wrote: `skew robust` has to know it wherever exploration shows it.

use skew_model::Level;

use crate::suspected::breaks_and_is_suspected;

/// `first` makes a constraint of `second` satisfied, and then changes `cfg`, which `second` has read before.
fn app(schema: &str, first: &str, second: &str) -> String {
    format!(
        "{schema};
         CREATE TABLE cfg (k int PRIMARY KEY, v int NOT NULL);
         CREATE TABLE log (k int PRIMARY KEY, v int NOT NULL);
         INSERT INTO cfg VALUES (1, 0);
         CREATE PROCEDURE first() LANGUAGE plpgsql AS $$
         BEGIN {first}; UPDATE cfg SET v = 1 WHERE k = 1; END $$;
         CREATE PROCEDURE second() LANGUAGE plpgsql AS $$
         DECLARE x int;
         BEGIN SELECT v INTO x FROM cfg WHERE k = 1; {second}; INSERT INTO log VALUES (1, x); END $$;"
    )
}

fn is_suspected_at_every_level(schema: &str, first: &str, second: &str) {
    for level in [Level::Ra, Level::Cc, Level::Psi, Level::Pc, Level::Si, Level::Mvrc] {
        breaks_and_is_suspected(&app(schema, first, second), "first() | second()", level, true);
    }
}

const FAMILY: &str = "CREATE TABLE parent (id int PRIMARY KEY, code int UNIQUE);
    CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent, c int REFERENCES parent (code));
    INSERT INTO parent VALUES (1, 10), (2, 20); INSERT INTO child VALUES (1, 1, 10), (2, NULL, NULL)";

#[test]
fn a_unique_key_that_is_free_again() {
    let person = |index: &str| {
        format!(
            "CREATE TABLE person (id int PRIMARY KEY, email text, gone boolean NOT NULL);
             CREATE UNIQUE INDEX ON person {index}; INSERT INTO person VALUES (1, 'a', false), (2, 'b', false)"
        )
    };
    let (deleted, inserted) = ("DELETE FROM person WHERE id = 1", "INSERT INTO person VALUES (3, 'a', false)");
    is_suspected_at_every_level(&person("(email)"), deleted, inserted);
    is_suspected_at_every_level(&person("(lower(email))"), deleted, inserted);
    is_suspected_at_every_level(
        &person("(email) WHERE NOT gone"),
        "UPDATE person SET gone = true WHERE id = 1",
        inserted,
    );
    let renamed = "UPDATE person SET email = 'c' WHERE id = 1";
    is_suspected_at_every_level(&person("(email)"), renamed, "UPDATE person SET email = 'a' WHERE id = 2");
}

#[test]
fn a_parent_that_has_come() {
    is_suspected_at_every_level(FAMILY, "INSERT INTO parent VALUES (3, 30)", "INSERT INTO child VALUES (3, 3, NULL)");
    is_suspected_at_every_level(FAMILY, "INSERT INTO parent VALUES (3, 30)", "UPDATE child SET c = 30 WHERE id = 2");
    let deferred = FAMILY.replace("p int REFERENCES parent,", "p int REFERENCES parent DEFERRABLE INITIALLY DEFERRED,");
    is_suspected_at_every_level(
        &deferred,
        "INSERT INTO parent VALUES (3, 30)",
        "INSERT INTO child VALUES (3, 3, NULL)",
    );
}

#[test]
fn children_that_have_gone() {
    let parent_goes = "DELETE FROM parent WHERE id = 1";
    is_suspected_at_every_level(FAMILY, "DELETE FROM child WHERE id = 1", parent_goes);
    is_suspected_at_every_level(FAMILY, "UPDATE child SET p = 2, c = 20 WHERE id = 1", parent_goes);
    let indexed = FAMILY.to_owned() + "; CREATE INDEX ON child (p); CREATE INDEX ON child (c)";
    is_suspected_at_every_level(&indexed, "DELETE FROM child WHERE id = 1", parent_goes);
}

#[test]
fn at_mvrc_a_statement_after_the_look_may_be_older() {
    let text =
        "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
        CREATE TABLE cfg (k int PRIMARY KEY, v int NOT NULL);
        INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1, 1); INSERT INTO cfg VALUES (1, 0);
        CREATE PROCEDURE first() LANGUAGE plpgsql AS $$
        BEGIN UPDATE cfg SET v = 1 WHERE k = 1; DELETE FROM child WHERE id = 1; END $$;
        CREATE PROCEDURE second() LANGUAGE plpgsql AS $$
        DECLARE x int;
        BEGIN DELETE FROM parent WHERE id = 1; SELECT v INTO x FROM cfg WHERE k = 1; END $$;";
    breaks_and_is_suspected(text, "first() | second()", Level::Mvrc, true);
}

#[test]
fn a_parent_that_goes_and_comes_back_after_a_child_has_referred_to_it() {
    let deferred = FAMILY.replace("p int REFERENCES parent,", "p int REFERENCES parent DEFERRABLE INITIALLY DEFERRED,");
    let back = "DELETE FROM parent WHERE id = 2; INSERT INTO parent VALUES (2, 20)";
    is_suspected_at_every_level(&deferred, "INSERT INTO child VALUES (3, 2, NULL)", back);
}

#[test]
fn rows_that_had_a_key_once() {
    let person = "CREATE TABLE person (id int PRIMARY KEY, email text UNIQUE); INSERT INTO person VALUES (1, 'a')";
    let renamed = "UPDATE person SET email = 'c' WHERE id = 1 AND email = 'b'";
    let text = person.replace("(1, 'a')", "(1, 'a'), (9, 'z')");
    let text = text
        + "; CREATE PROCEDURE before() LANGUAGE plpgsql AS $$ BEGIN
        UPDATE person SET email = 'b' WHERE id = 1; END $$";
    let text = app(&text, renamed, "INSERT INTO person VALUES (2, 'a')");
    breaks_and_is_suspected(&text, "before(); first() | second()", Level::Si, true);
}
