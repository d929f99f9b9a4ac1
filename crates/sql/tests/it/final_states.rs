//! The committed states of explored clients: all that their levels admit, by the definition, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use skew_check::{Assumptions, Facts, oracle};
use skew_model::{History, Key, Level, OpKind, Scope, TxnId};
use skew_sql::app::App;
use skew_sql::explore::{Client, Explored, Limits, canonical, explore};
use skew_sql::session::{Client as Connected, Database, Options};
use skew_store::Recency;

const LIMITS: Limits = Limits { runs: 200_000, time: Duration::from_secs(600) };
const LEVELS: [Level; 8] = [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

fn load(text: &str) -> (Database, App) {
    let database = Database::new(Options { recency: Recency::None, ..Options::default() });
    let mut connection = database.connect(Connected::new("postgres", "explore"));
    for sql in connection.split(text).expect("statements") {
        let statement = connection.prepare(&sql, &[]).expect("a statement");
        connection.execute(&statement, &[]).expect("it runs");
        connection.sync().expect("it commits");
    }
    drop(connection);
    database.checkpoint().expect("no other transaction is running");
    let app = App::of(&database.catalog()).expect("levels have names");
    (database, app)
}

fn explored(text: &str, client: &str, level: Level) -> Explored {
    explored_in(&load(text), client, level)
}

fn explored_in((database, app): &(Database, App), client: &str, level: Level) -> Explored {
    let client = Client::parse(client).expect("a client");
    let explored = explore(database, app, &client, level, LIMITS).expect("explored");
    assert_eq!(explored.limit, None);
    explored
}

fn broken(explored: &Explored) -> BTreeSet<&str> {
    explored.behaviours.iter().flat_map(|one| one.broken.iter().map(String::as_str)).collect()
}

/// Both read 100; whichever update commits last stays.
#[test]
fn either_of_two_lost_updates_commits_last() {
    let bank = "
        CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
        INSERT INTO account VALUES (1, 100);
        CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
        DECLARE bal int;
        BEGIN
          SELECT balance INTO bal FROM account WHERE id = acct;
          UPDATE account SET balance = bal - amount WHERE id = acct;
        END $$;
        CREATE FUNCTION not_70() RETURNS boolean LANGUAGE sql AS $$ SELECT balance <> 70 FROM account $$;
        COMMENT ON FUNCTION not_70 IS '@invariant'";
    for level in [Level::Rc, Level::Ra, Level::Cc, Level::Pc, Level::Mvrc] {
        let explored = explored(bank, "a: withdraw(1, 30) | b: withdraw(1, 70)", level);
        let states: BTreeSet<&str> = explored.behaviours.iter().map(|one| one.state[0].as_str()).collect();
        let expected = ["account: (1, 0)", "account: (1, 30)", "account: (1, 70)"];
        assert_eq!(states.into_iter().collect::<Vec<_>>(), expected, "{level}");
        let last = explored.behaviours.iter().find(|one| one.state == ["account: (1, 70)"]).expect("found");
        assert_eq!(last.broken, ["not_70()"], "{level}");
    }
    for level in [Level::Psi, Level::Si, Level::Ser] {
        let explored = explored(bank, "a: withdraw(1, 30) | b: withdraw(1, 70)", level);
        let mut complete = explored.behaviours.iter().filter(|one| !one.histories.is_empty());
        assert!(complete.all(|one| one.state == ["account: (1, 0)"]), "{level}");
    }
}

/// What the last writers of a final state have left in the table `t`.
fn rows(history: &History, state: &BTreeMap<Key, TxnId>) -> String {
    let mut rows: BTreeMap<i64, String> = [1, 2].map(|id| (id, "0".to_owned())).into();
    for (&key, &writer) in state {
        let name = history.key_name(key).to_string();
        let Some(id) = name.strip_prefix("t[").and_then(|rest| rest.strip_suffix("].v")) else { continue };
        let mut writes = history.ops(writer).iter().rev();
        let last = writes.find(|op| op.kind() == OpKind::Write && op.key() == key).expect("it has written the key");
        rows.insert(id.parse().expect("a number"), history.value_text(last.value()).to_string());
    }
    format!("t: {}", rows.iter().map(|(id, v)| format!("({id}, {v})")).collect::<Vec<_>>().join(" "))
}

/// Compares every pair of a history and a final state that exploration finds with those of the oracle, which tries all
/// commit orders of a history.
#[track_caller]
fn compare(application: &(Database, App), client: &str) {
    for level in LEVELS {
        let explored = explored_in(application, client, level);
        let mut found: BTreeSet<(String, String)> = BTreeSet::new();
        for behaviour in &explored.behaviours {
            let pairs =
                behaviour.histories.iter().map(|&at| (canonical(&explored.all[at]), behaviour.state[0].clone()));
            found.extend(pairs);
        }
        let mut expected = BTreeSet::new();
        for history in &explored.all {
            let facts = Facts::new(history, Assumptions::default());
            for state in oracle::final_states(&facts, Scope::Declared) {
                expected.insert((canonical(history), rows(history, &state)));
            }
        }
        let missing: Vec<_> = expected.difference(&found).collect();
        let wrong: Vec<_> = found.difference(&expected).collect();
        assert!(missing.is_empty() && wrong.is_empty(), "{client} at {level}\nmissing {missing:#?}\nwrong {wrong:#?}");
    }
}

/// One procedure for each sequence of at most two of these statements: a read, a blind write, an increment, of two rows.
fn small_programs() -> (String, Vec<String>) {
    let statements = |me: usize| {
        [
            "PERFORM v FROM t WHERE id = 1;".to_owned(),
            "PERFORM v FROM t WHERE id = 2;".to_owned(),
            format!("UPDATE t SET v = {} WHERE id = 1;", 10 + me),
            format!("UPDATE t SET v = {} WHERE id = 2;", 20 + me),
            "UPDATE t SET v = v + 1 WHERE id = 1;".to_owned(),
        ]
    };
    let mut text =
        "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL); INSERT INTO t VALUES (1, 0), (2, 0);".to_owned();
    let mut names = Vec::new();
    for (one, other) in (0..5).flat_map(|one| (one..=5).map(move |other| (one, other))) {
        let name = format!("p{one}{other}");
        for me in 0..3 {
            let all = statements(me);
            let second = if other == 5 || other == one { "" } else { all[other].as_str() };
            text +=
                &format!("CREATE PROCEDURE {name}_{me}() LANGUAGE plpgsql AS $$ BEGIN {} {second} END $$;", all[one]);
        }
        if other != one {
            names.push(name);
        }
    }
    (text, names)
}

#[test]
fn final_states_of_all_pairs_of_small_programs_are_those_of_the_definition() {
    let (text, names) = small_programs();
    let application = load(&text);
    for (at, one) in names.iter().enumerate() {
        for other in &names[at..] {
            compare(&application, &format!("a: {one}_0() | b: {other}_1()"));
        }
    }
}

#[test]
fn final_states_of_three_transactions_are_those_of_the_definition() {
    let application = load(&small_programs().0);
    for client in [
        "a: p25_0() | b: p25_1() | c: p25_2()",
        "a: p23_0() | b: p23_1() | c: p25_2()",
        "a: p02_0() | b: p24_1() | c: p13_2()",
        "a: p45_0() | b: p45_1() | c: p02_2()",
        "a: p03_0() | b: p12_1() | c: p05_2()",
        "a: p25_0(); p05_0() | b: p25_1()",
        "a: p25_0(); p35_1() | b: p23_2()",
    ] {
        compare(&application, client);
    }
}

const QUEUE: &str = "
    CREATE TABLE job (id int PRIMARY KEY, state int NOT NULL);
    INSERT INTO job VALUES (1, 0);
    CREATE PROCEDURE begin_job() LANGUAGE sql AS $$ UPDATE job SET state = 1 WHERE id = 1 $$;
    CREATE PROCEDURE end_job() LANGUAGE sql AS $$ UPDATE job SET state = 2 WHERE id = 1 $$;
    CREATE PROCEDURE look() LANGUAGE plpgsql AS $$ BEGIN
      ASSERT (SELECT state FROM job WHERE id = 1) <> 1, 'no job is at work'; END $$;
    CREATE PROCEDURE advance(n int) LANGUAGE plpgsql AS $$ DECLARE s int; BEGIN
      SELECT state INTO s FROM job WHERE id = 1;
      IF s < n THEN UPDATE job SET state = n WHERE id = 1; END IF; END $$;
    CREATE FUNCTION idle() RETURNS boolean LANGUAGE sql AS $$ SELECT state <> 1 FROM job $$;
    COMMENT ON FUNCTION idle IS '@invariant';
    CREATE FUNCTION progress() RETURNS int LANGUAGE sql AS $$ SELECT state FROM job $$;
    COMMENT ON FUNCTION progress IS '@monotone';";

/// The state between two calls of one session is committed, although no run ends in it.
#[test]
fn invariants_are_looked_at_after_every_commit() {
    let found = explored(QUEUE, "a: begin_job(); end_job()", Level::Ser);
    assert_eq!(broken(&found).into_iter().collect::<Vec<_>>(), ["idle()"]);
    assert_eq!(found.behaviours[0].state, ["job: (1, 2)"]);
    assert!(broken(&explored(QUEUE, "a: end_job()", Level::Ser)).is_empty());
}

#[test]
fn an_assertion_that_fails_counts_as_broken() {
    let found = explored(QUEUE, "a: begin_job() | b: look()", Level::Ser);
    assert!(broken(&found).contains("ASSERT “no job is at work”"), "{:?}", broken(&found));
    assert!(broken(&explored(QUEUE, "a: end_job() | b: look()", Level::Ser)).is_empty());
}

/// Each advance alone never goes back; a lost one does.
#[test]
fn a_monotone_value_goes_down_where_updates_are_lost() {
    for (level, goes_down) in [
        (Level::Rc, true),
        (Level::Cc, true),
        (Level::Mvrc, true),
        (Level::Pc, true),
        (Level::Si, false),
        (Level::Ser, false),
    ] {
        let found = explored(QUEUE, "a: advance(2) | b: advance(3)", level);
        assert_eq!(broken(&found).contains("progress() goes down"), goes_down, "{level}: {:?}", broken(&found));
    }
}
