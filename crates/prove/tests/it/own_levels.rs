//! The databases' own levels: what PostgreSQL's REPEATABLE READ lets through and keeps out, other than snapshot isolation over
//! keys does.

use skew_check::check;
use skew_model::Level;
use skew_prove::lemmas::LEMMAS;
use skew_prove::robust::answer::{Answer, Effort, Engine, Verdict};
use skew_prove::robust::{Question, Robustness};
use skew_sql::explore::{Client, Limits, explore};

use crate::load;

/// Two doctors go off call; a row is inserted before the check and deleted after it, as if it were a lock.
pub(crate) const MUTEX: &str = "
CREATE TABLE mutex (id int PRIMARY KEY);
CREATE TABLE doctor (id int PRIMARY KEY, on_call boolean NOT NULL);
INSERT INTO doctor VALUES (1, true), (2, true);
CREATE PROCEDURE leave(who int) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mutex VALUES (1);
  IF (SELECT count(*) FROM doctor WHERE on_call) > 1 THEN
    UPDATE doctor SET on_call = false WHERE id = who;
  END IF;
  DELETE FROM mutex WHERE id = 1;
END $$;";

/// One deletes a key and reads `a`, the other one inserts the key and reads `b`; each writes what the other one reads.
pub(crate) const TAKEN_AGAIN: &str = "
CREATE TABLE k (id int PRIMARY KEY);
CREATE TABLE v (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO k VALUES (1);
INSERT INTO v VALUES (1, 0), (2, 0);
CREATE PROCEDURE drop_key() LANGUAGE plpgsql AS $$
DECLARE seen int;
BEGIN
  DELETE FROM k WHERE id = 1;
  SELECT n INTO seen FROM v WHERE id = 1;
  UPDATE v SET n = seen + 1 WHERE id = 2;
END $$;
CREATE PROCEDURE take_key() LANGUAGE plpgsql AS $$
DECLARE seen int;
BEGIN
  INSERT INTO k VALUES (1);
  SELECT n INTO seen FROM v WHERE id = 2;
  UPDATE v SET n = seen + 1 WHERE id = 1;
END $$;";

/// A room is removed if it has no booking; a booking refers to a room. The foreign key keeps one of the two out.
const ROOMS: &str = "
CREATE TABLE room (id int PRIMARY KEY, seats int NOT NULL);
CREATE TABLE booking (id serial PRIMARY KEY, room int NOT NULL REFERENCES room, seats int NOT NULL);
INSERT INTO room VALUES (1, 10), (2, 20);
CREATE PROCEDURE book(r int) LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
  SELECT seats INTO STRICT n FROM room WHERE id = r;
  INSERT INTO booking (room, seats) VALUES (r, n);
END $$;
CREATE PROCEDURE remove(r int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM booking WHERE room = r) THEN
    DELETE FROM room WHERE id = r;
  END IF;
END $$;";

fn answer(app: &str, level: Level) -> Answer {
    let (database, program) = load(app);
    let robustness = Robustness::of(&database, &program).expect("its procedures are there");
    let effort = Effort { engine: Engine::Graph, ..Effort::default() };
    robustness.answer(&database, &program, level, &Question::default(), &[], effort).expect("it runs")
}

#[test]
fn a_row_that_is_inserted_and_deleted_locks_nothing_at_repeatable_read() {
    let answer = answer(MUTEX, Level::PgRr);
    assert_eq!(answer.verdict, Verdict::NotRobust, "{:?}", answer.possible);
    let (_, found) = &answer.found[0];
    assert!(found.state.contains(&"doctor: (1, f) (2, f)".to_owned()), "{:?}", found.state);
    assert_eq!(
        found.postgres_script().expect("it was made so"),
        "BEGIN ISOLATION LEVEL REPEATABLE READ; -- T1\n\
         SELECT 'sees what is committed now'; -- T1\n\
         BEGIN ISOLATION LEVEL REPEATABLE READ; -- T2\n\
         SELECT 'sees what is committed now'; -- T2\n\
         CALL leave(2); -- T1\n\
         COMMIT; -- T1\n\
         CALL leave(1); -- T2\n\
         COMMIT; -- T2\n"
    );
    assert_eq!(self::answer(MUTEX, Level::PgSer).verdict, Verdict::Serializable);
}

#[test]
fn a_key_that_one_deletes_and_another_one_inserts_is_no_conflict() {
    let answer = answer(TAKEN_AGAIN, Level::PgRr);
    assert_eq!(answer.verdict, Verdict::NotRobust, "{:?}", answer.possible);
}

/// Where no program deletes from the table, who inserts a key keeps the others out, at every level.
#[test]
fn a_row_that_stays_locks() {
    let stays = MUTEX.replace("  DELETE FROM mutex WHERE id = 1;\n", "");
    assert!(matches!(answer(&stays, Level::PgRr).verdict, Verdict::Robust { .. }));
    // And so does a row that both update, whatever columns.
    let both = "
CREATE TABLE pair (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL);
INSERT INTO pair VALUES (1, 0, 0);
CREATE PROCEDURE first() LANGUAGE plpgsql AS $$
BEGIN UPDATE pair SET a = (SELECT p.b FROM pair p WHERE p.id = 1) + 1 WHERE id = 1; END $$;
CREATE PROCEDURE second() LANGUAGE plpgsql AS $$
BEGIN UPDATE pair SET b = (SELECT p.a FROM pair p WHERE p.id = 1) + 1 WHERE id = 1; END $$;";
    assert!(matches!(answer(both, Level::PgRr).verdict, Verdict::Robust { .. }));
    assert_eq!(answer(both, Level::Si).verdict, Verdict::NotRobust);
}

#[test]
fn a_foreign_key_keeps_the_parent() {
    for level in [Level::PgRr, Level::Si] {
        let answer = answer(ROOMS, level);
        assert!(matches!(answer.verdict, Verdict::Robust { .. }), "{level}: {:?}", answer.verdict);
    }
    // Not without it, and not where rooms come back.
    let without = ROOMS.replace(" REFERENCES room", "");
    assert_eq!(answer(&without, Level::PgRr).verdict, Verdict::NotRobust);
    let again = format!(
        "{ROOMS} CREATE PROCEDURE build(r int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO room VALUES (r, 5); END $$;"
    );
    assert!(!matches!(answer(&again, Level::PgRr).verdict, Verdict::Robust { .. }));
    // Nor where bookings go.
    let cancelled = format!(
        "{ROOMS} CREATE PROCEDURE cancel(b int) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM booking WHERE id = b; END $$;"
    );
    assert!(!matches!(answer(&cancelled, Level::PgRr).verdict, Verdict::Robust { .. }));
}

#[test]
fn what_is_not_transactional_leaves_the_answer_open() {
    let reads = [
        ("SELECT last_value INTO seen FROM numbers", "last_value tells what others do, and is not transactional"),
        ("SELECT count(*) INTO seen FROM pg_locks", "pg_locks tells what others do, and is not transactional"),
        (
            "SELECT xmin::text::int INTO seen FROM v WHERE id = 1",
            "a system column (xmin, xmax, ctid) tells what others do, whatever the level lets it see",
        ),
    ];
    for (read, why) in reads {
        let app = format!(
            "CREATE SEQUENCE numbers; CREATE TABLE v (id int PRIMARY KEY, n int NOT NULL); INSERT INTO v VALUES (1, 0);
             CREATE PROCEDURE look() LANGUAGE plpgsql AS $$ DECLARE seen int; BEGIN
             {read};
             END $$;"
        );
        for level in [Level::PgRr, Level::Si, Level::Mvrc] {
            let answer = answer(&app, level);
            assert_eq!(answer.verdict, Verdict::Unknown(format!("look, line 2: {why}")), "{read} at {level}");
        }
    }
}

#[test]
fn a_level_without_a_rule_is_unknown() {
    for level in [Level::MariaRc, Level::MariaRr] {
        let verdict = answer(ROOMS, level).verdict;
        let expected = format!("book at {level}, which the graph does not know");
        assert_eq!(verdict, Verdict::Unknown(expected), "{level}");
    }
    assert_eq!(answer(ROOMS, Level::MariaSer).verdict, Verdict::Serializable);
}

/// PostgreSQL's serializable transactions are so among themselves: marking both of a write skew protects them, marking one of
/// them does not.
#[test]
fn serializable_transactions_are_so_among_themselves() {
    let skew = "
CREATE TABLE v (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO v VALUES (1, 0), (2, 0);
CREATE PROCEDURE one() LANGUAGE plpgsql AS $$ BEGIN
  UPDATE v SET n = (SELECT w.n FROM v w WHERE w.id = 2) + 1 WHERE id = 1; END $$;
CREATE PROCEDURE two() LANGUAGE plpgsql AS $$ BEGIN
  UPDATE v SET n = (SELECT w.n FROM v w WHERE w.id = 1) + 1 WHERE id = 2; END $$;
COMMENT ON PROCEDURE one IS '@isolation serializable';";
    assert_eq!(answer(skew, Level::PgRr).verdict, Verdict::NotRobust);
    let both = format!("{skew} COMMENT ON PROCEDURE two IS '@isolation serializable';");
    assert_eq!(answer(&both, Level::PgRr).verdict, Verdict::Serializable);
}

#[test]
fn each_rule_of_the_graph_has_its_lemma_on_the_page() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/SOUNDNESS.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let mut table = String::from("| rule | excludes | because | at |\n| --- | --- | --- | --- |\n");
    for lemma in LEMMAS {
        let levels: Vec<String> = lemma.levels().iter().map(ToString::to_string).collect();
        table.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            lemma.id,
            lemma.excludes,
            lemma.because,
            levels.join(" ")
        ));
    }
    let (before, rest) = page.split_once("<!-- rules -->\n").expect("the place of the table");
    let (_, after) = rest.split_once("<!-- end -->").expect("its end");
    let expected = format!("{before}<!-- rules -->\n{table}<!-- end -->{after}");
    if std::env::var("SKEW_BLESS").is_ok() {
        std::fs::write(path, &expected).expect("the page can be written");
    }
    assert!(
        page == expected || std::env::var("SKEW_BLESS").is_ok(),
        "SKEW_BLESS=1 writes the table of SOUNDNESS.md anew"
    );
}

/// SERTOTAL: who sees one of two serializable transactions sees the earlier one, too, in the store as in the graph.
#[test]
fn serializable_writers_are_seen_in_one_order() {
    let fork = "
CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);
CREATE TABLE b (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO a VALUES (1, 0);
INSERT INTO b VALUES (1, 0);
CREATE PROCEDURE look() LANGUAGE plpgsql AS $$ DECLARE x int; y int; BEGIN
  SELECT v INTO x FROM a WHERE id = 1; SELECT v INTO y FROM b WHERE id = 1; END $$;
CREATE PROCEDURE one(p int) LANGUAGE plpgsql AS $$ BEGIN UPDATE a SET v = p WHERE id = 1; END $$;
CREATE PROCEDURE two(p int) LANGUAGE plpgsql AS $$ BEGIN UPDATE b SET v = p WHERE id = 1; END $$;";
    let marked =
        format!("{fork} COMMENT ON PROCEDURE one IS '@isolation ser'; COMMENT ON PROCEDURE two IS '@isolation ser';");
    for (app, forks) in [(fork, true), (&marked, false)] {
        let (database, program) = load(app);
        let client = Client::parse("s: look() | t: look() | u: one(5) | v: two(6)").expect("a client");
        let limits = Limits { runs: 100_000, time: std::time::Duration::from_secs(600) };
        let explored = explore(&database, &program, &client, Level::Psi, limits).expect("it runs");
        assert!(explored.limit.is_none(), "{:?}", explored.limit);
        let broken = explored.all.iter().any(|history| check(history, Level::Ser).violated());
        assert_eq!(broken, forks, "the store: {app}");
        let robustness = Robustness::of(&database, &program).expect("its procedures are there");
        let question = Question { sessions: false, ..Question::default() };
        assert_eq!(!robustness.cycles(Level::Psi, &question).suspects.is_empty(), forks, "the graph: {app}");
    }
}
