//! What the solver has in mind becomes a run, on rows that the application does not have. Without z3 these tests say so and
//! pass.

use skew_check::check;
use skew_model::Level;
use skew_prove::confirm::Found;
use skew_prove::robust::answer::{Answer, Effort, Verdict};
use skew_prove::robust::{Question, Robustness};
use skew_sql::session::{Client, Database, Outcome};

use crate::load;
use crate::solver::has_solver;

fn answer(database: &Database, app: &skew_sql::app::App, level: Level) -> Answer {
    let robustness = Robustness::of(database, app).expect("its procedures are there");
    robustness.answer(database, app, level, &Question::default(), &[], Effort::default()).expect("it can be asked")
}

/// The run that is found at `si`.
#[track_caller]
fn found(text: &str) -> Found {
    let (database, app) = load(text);
    let answer = answer(&database, &app, Level::Si);
    assert_eq!(answer.verdict, Verdict::NotRobust, "{:#?}", answer.possible);
    let found = answer.found.into_iter().next().expect("a run shows it").1;
    assert!(check(&found.history, Level::Si).holds() && !check(&found.history, Level::Ser).holds());
    found
}

/// The same calls on the same rows, by an application that has them.
#[track_caller]
fn has_a_run_with_these_rows(text: &str, found: &Found) {
    let (database, app) = load(&format!("{text}; {}", found.setup.join("; ")));
    let watch = skew_sql::explore::Watch::start(std::time::Duration::from_secs(20));
    let guide = std::sync::Arc::default();
    loop {
        let ran = skew_sql::explore::run(&database, &app, &found.client, Level::Si, &guide, &watch).expect("it runs");
        if ran.history.to_string() == found.history.to_string() {
            return;
        }
        assert!(guide.lock().expect("one thread").next_run(), "no run is the one that was found");
    }
}

/// Withdrawals of more than 500 from two accounts which have less.
const LARGE: &str = "CREATE TABLE acct (id int PRIMARY KEY, bal int NOT NULL);
    CREATE PROCEDURE wd(x int, y int, amount int) LANGUAGE plpgsql AS $$
    DECLARE a int; b int;
    BEGIN
      SELECT bal INTO a FROM acct WHERE id = x;
      SELECT bal INTO b FROM acct WHERE id = y;
      IF x <> y AND amount > 500 AND a + b >= amount THEN
        UPDATE acct SET bal = bal - amount WHERE id = x;
      END IF;
    END $$";

#[test]
fn rows_get_what_a_threshold_asks_for() {
    if !has_solver() {
        return;
    }
    let text = format!("{LARGE}; INSERT INTO acct VALUES (1, 10), (2, 20)");
    let found = found(&text);
    assert!(found.setup.iter().any(|statement| statement.contains("acct")), "{:?}", found.setup);
    assert!(
        found.command("bank.sql", &Question::default()).contains(" --first '"),
        "{}",
        found.command("bank.sql", &Question::default())
    );
    has_a_run_with_these_rows(&text, &found);
}

#[test]
fn tables_without_rows_get_what_a_threshold_asks_for() {
    if !has_solver() {
        return;
    }
    let found = found(LARGE);
    assert!(
        found.setup.iter().all(|statement| statement.starts_with("INSERT INTO acct (id, bal)")),
        "{:?}",
        found.setup
    );
    has_a_run_with_these_rows(LARGE, &found);
}

#[test]
fn rows_are_found_by_text() {
    if !has_solver() {
        return;
    }
    let text = "CREATE TABLE room (name text PRIMARY KEY, state text NOT NULL, floor varchar(8));
        CREATE PROCEDURE shut(x text, y text) LANGUAGE plpgsql AS $$
        DECLARE a text; b text;
        BEGIN
          SELECT state INTO a FROM room WHERE name = x;
          SELECT state INTO b FROM room WHERE name = y;
          IF x <> y AND a = 'it''s open' AND b = 'it''s open' THEN
            UPDATE room SET state = 'shut' WHERE name = x;
          END IF;
        END $$;
        INSERT INTO room VALUES ('red', 'shut', 'first'), ('blue', 'shut', 'first')";
    let found = found(text);
    assert!(found.setup.iter().any(|statement| statement.contains("'it''s open'")), "{:?}", found.setup);
    has_a_run_with_these_rows(text, &found);
}

#[test]
fn rows_refer_to_rows_that_are_there() {
    if !has_solver() {
        return;
    }
    let text = "CREATE TABLE shelf (id int PRIMARY KEY, name text NOT NULL);
        CREATE TABLE box (id int PRIMARY KEY, shelf int NOT NULL REFERENCES shelf, label text NOT NULL, weight int);
        CREATE PROCEDURE lighten(x int, y int, s int) LANGUAGE plpgsql AS $$
        DECLARE a int; b int; on_shelf int;
        BEGIN
          SELECT weight, shelf INTO a, on_shelf FROM box WHERE id = x;
          SELECT weight INTO b FROM box WHERE id = y;
          IF x <> y AND on_shelf = 77 AND a > 500 AND b > 500 THEN
            UPDATE box SET weight = 0 WHERE id = x;
          END IF;
        END $$;
        INSERT INTO shelf VALUES (1, 'low')";
    let found = found(text);
    let setup = found.setup.join("; ");
    assert!(
        setup.contains("INSERT INTO shelf (id, name) VALUES (77, ") && setup.contains("INSERT INTO box"),
        "{setup}"
    );
    has_a_run_with_these_rows(text, &found);
}

#[test]
fn what_a_model_begins_with_is_not_there_afterwards() {
    if !has_solver() {
        return;
    }
    let (database, app) = load(&format!("{LARGE}; INSERT INTO acct VALUES (1, 10), (2, 20)"));
    assert_eq!(answer(&database, &app, Level::Si).verdict, Verdict::NotRobust);
    let mut connection = database.connect(Client::new("postgres", "robust"));
    let statement = connection.prepare("SELECT count(*) FROM acct WHERE bal = 10 * id", &[]).expect("it is understood");
    let Ok(Outcome::Rows { rows, .. }) = connection.execute(&statement, &[]) else { panic!("there is an answer") };
    assert_eq!(format!("{:?}", rows[0][0]), "Int(2)");
}

#[test]
fn what_no_run_shows_is_told_with_whole_numbers_and_rows() {
    if !has_solver() {
        return;
    }
    // No remainder of 2 is 3: that is not understood.
    let text = LARGE.replace("x <> y", "x <> y AND amount % 2 = 3");
    let (database, app) = load(&format!("{text}; INSERT INTO acct VALUES (1, 10), (2, 20)"));
    let answer = answer(&database, &app, Level::Si);
    assert_eq!(answer.verdict, Verdict::Possible);
    let reason = &answer.possible[0].1;
    let example = reason.split("the solver thinks of ").nth(1).expect("there is an example");
    assert!(example.contains(") | wd(") && example.contains(", where there are acct (id = "), "{example}");
    assert!(!example.contains(['/', '.', '\'']), "{example}");
}
