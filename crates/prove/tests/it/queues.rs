//! Applications whose rows stand in an order: what the graph says of them against what every small client does.

use std::time::Duration;

use crate::agreement::{Effort, Known, judge_app};
use crate::generate::{Generated, GeneratedProgram};

const TICKETS: &str = "
    CREATE TABLE counter (id int PRIMARY KEY, next int NOT NULL);
    CREATE TABLE ticket (c int, n int, note int NOT NULL, PRIMARY KEY (c, n));
    CREATE TABLE served (c int PRIMARY KEY, n int NOT NULL, times int NOT NULL);
    INSERT INTO counter VALUES (1, 2), (2, 1);
    INSERT INTO ticket VALUES (1, 1, 0);
    INSERT INTO served VALUES (1, 0, 0), (2, 0, 0);";
/// Takes the next number.
const TAKE: &str = "
    UPDATE counter SET next = next + 1 WHERE id = p1 RETURNING next - 1 INTO x;
    IF FOUND THEN INSERT INTO ticket VALUES (p1, x, 0); END IF;";
/// Makes a row with any number.
const PUSH: &str = "INSERT INTO ticket VALUES (1, p1 - 1, 0);";
/// Takes the first row away.
const SERVE: &str = "
    SELECT min(n) INTO x FROM ticket WHERE c = p1;
    IF x IS NOT NULL THEN
      DELETE FROM ticket WHERE c = p1 AND n = x;
      UPDATE served SET n = x, times = times + 1 WHERE c = p1;
    END IF;";
/// Takes the first row away and says so elsewhere than the others do.
const DROP: &str = "
    SELECT min(n) INTO x FROM ticket WHERE c = p1;
    IF x IS NULL THEN RETURN; END IF;
    DELETE FROM ticket WHERE c = p1 AND n = x;
    INSERT INTO served VALUES (p1 + 10 * x, x, 1);";
/// Takes the last row away.
const POP: &str = "
    SELECT max(n) INTO x FROM ticket WHERE c = p1;
    IF x IS NULL THEN RETURN; END IF;
    DELETE FROM ticket WHERE c = p1 AND n = x;
    INSERT INTO served VALUES (p1 + 10 * x, x, 1);";
/// Takes the first row with a note away.
const PICK: &str = "
    SELECT min(n) INTO x FROM ticket WHERE c = p1 AND note = 0;
    IF x IS NULL THEN RETURN; END IF;
    UPDATE ticket SET note = 1 WHERE c = p1 AND n = x;";
/// Looks at what was served.
const LOOK: &str = "
    SELECT times INTO x FROM served WHERE c = p1;
    SELECT next INTO x FROM counter WHERE id = p1;";

const SOME: Effort =
    Effort { two: &[1, 2], three: &[1], most: 60, suspects: true, time: Duration::from_secs(600), solver: None };

/// What is known of programs over tickets, at `si`, `psi` and `mvrc`.
fn judge(programs: &[(&'static str, &'static str)]) -> [Known; 3] {
    let mut text = TICKETS.to_owned();
    for (name, body) in programs {
        text.push_str(&format!(
            "CREATE PROCEDURE {name}(p1 int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN {body} END $$;"
        ));
    }
    let programs = programs.iter().map(|(name, _)| GeneratedProgram { name, parameters: 1 });
    let generated = Generated { text, programs: programs.collect() };
    let known = judge_app(&generated, SOME, false).unwrap_or_else(|wrong| panic!("{wrong}"));
    ["si", "psi", "mvrc"].map(|level| known[level])
}

#[test]
fn a_queue_with_a_counter() {
    assert_eq!(judge(&[("take", TAKE), ("serve", SERVE), ("look", LOOK)])[0], Known::Robust);
}

/// Whoever is pushed to the front is missed.
#[test]
fn a_queue_without_a_counter() {
    let known = judge(&[("push", PUSH), ("serve", SERVE), ("look", LOOK)])[0];
    assert!(matches!(known, Known::Found | Known::Overlooked), "{known:?}");
}

#[test]
fn a_queue_that_is_served_without_a_common_row() {
    judge(&[("take", TAKE), ("drop", DROP)]);
}

#[test]
fn a_stack_with_a_counter() {
    judge(&[("take", TAKE), ("pop", POP)]);
}

#[test]
fn a_queue_of_rows_that_stay() {
    judge(&[("take", TAKE), ("pick", PICK), ("drop", DROP)]);
}
