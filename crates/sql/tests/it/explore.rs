//! Clients of small applications in every way: how many histories there are, and that none is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skew_check::check;
use skew_model::{History, Level, OpKind, Status};
use skew_sql::app::App;
use skew_sql::explore::{Client, Explored, Limits, Watch, canonical, explore, run};
use skew_sql::session::guide::{Guide, Seeing};
use skew_sql::session::{Client as Connected, Database, Options};
use skew_store::Recency;

const LIMITS: Limits = Limits { runs: 100_000, time: Duration::from_secs(600) };

const BANK: &str = "
    CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
    CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
    DECLARE total int;
    BEGIN
      SELECT sum(balance) INTO total FROM account;
      IF total >= amount THEN UPDATE account SET balance = balance - amount WHERE id = acct; END IF;
    END $$;
    CREATE PROCEDURE open_account(acct int) LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO account VALUES (acct, (SELECT count(*) FROM account)); END $$;
    CREATE PROCEDURE spend(acct int) LANGUAGE plpgsql AS $$
    BEGIN UPDATE account SET balance = balance - 1 WHERE id = acct AND balance > 0; END $$;
    CREATE PROCEDURE take_least(acct int) LANGUAGE plpgsql AS $$
    BEGIN UPDATE account SET balance = balance - (SELECT min(balance) FROM account) WHERE id = acct; END $$;
    CREATE PROCEDURE close_account(acct int) LANGUAGE plpgsql AS $$
    BEGIN DELETE FROM account WHERE id = acct; END $$;
    CREATE FUNCTION no_overdraft() RETURNS boolean LANGUAGE sql AS $$ SELECT sum(balance) >= 0 FROM account $$;
    COMMENT ON FUNCTION no_overdraft IS '@invariant';
    INSERT INTO account VALUES (1, 60), (2, 60)";

fn bank() -> (Database, App) {
    load(BANK)
}

fn load(text: &str) -> (Database, App) {
    let database = Database::new(Options { recency: Recency::None, ..Options::default() });
    let mut connection = database.connect(Connected::new("postgres", "explore"));
    for sql in connection.split(text).expect("statements") {
        let statement = connection.prepare(&sql, &[]).expect("a statement");
        connection.execute(&statement, &[]).expect("runs");
        connection.sync().expect("commits");
    }
    drop(connection);
    database.checkpoint().expect("nobody else is there");
    let app = App::of(&database.catalog()).expect("levels have names");
    (database, app)
}

fn explored(client: &str, level: Level) -> Explored {
    let (database, app) = bank();
    let client = Client::parse(client).expect("a client");
    explore(&database, &app, &client, level, LIMITS).expect("explored")
}

fn broken(explored: &Explored) -> usize {
    let broken = explored.behaviours.iter().filter(|one| !one.broken.is_empty());
    broken.flat_map(|one| one.histories.iter()).collect::<BTreeSet<_>>().len()
}

#[test]
fn an_overdraft_needs_a_level_below_serializable() {
    let client = "alice: withdraw(1, 100) | bob: withdraw(2, 100)";
    for level in [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si] {
        let explored = explored(client, level);
        assert_eq!((explored.histories, broken(&explored)), (3, 1), "{level}");
    }
    let explored = explored(client, Level::Ser);
    assert_eq!((explored.histories, broken(&explored)), (2, 0));
}

/// Every history that the weakest level has and the checker accepts at another one is found there, and no other.
#[test]
fn nothing_of_a_level_is_missing() {
    let clients = [
        "a: withdraw(1, 100) | b: withdraw(2, 100)",
        "a: withdraw(1, 100) | b: withdraw(1, 100)",
        "a: spend(1); spend(2) | b: spend(1)",
        "a: open_account(3) | b: open_account(4)",
        "a: spend(1) | b: withdraw(2, 5) | c: SELECT sum(balance) FROM account",
        "a: spend(1) | b: spend(2) | c: SELECT * FROM account WHERE id = 1; SELECT * FROM account WHERE id = 2",
    ];
    for client in clients {
        let weakest = explored(client, Level::Rc);
        assert_eq!(weakest.limit, None, "{client}");
        for level in [Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser] {
            let allowed = |history: &&History| check(history, level).holds();
            let expected: BTreeSet<String> = weakest.all.iter().filter(allowed).map(canonical).collect();
            let found: BTreeSet<String> = explored(client, level).all.iter().map(canonical).collect();
            assert_eq!(found, expected, "{client} at {level}");
        }
    }
}

/// Such a statement is told as two, which levels without locks do not do: there is nothing to compare it with but the level
/// itself, and what PostgreSQL does.
#[test]
fn at_mvrc_a_statement_sees_a_snapshot_and_then_what_it_locks() {
    for (client, states) in [
        ("a: take_least(1) | b: spend(1)", vec!["(1, -1) (2, 60)", "(1, 0) (2, 60)"]),
        ("a: take_least(1) | b: spend(2)", vec!["(1, 0) (2, 59)", "(1, 1) (2, 59)"]),
        ("a: take_least(1) | b: take_least(2)", vec!["(1, 0) (2, 0)", "(1, 0) (2, 60)", "(1, 60) (2, 0)"]),
    ] {
        let explored = explored(client, Level::Mvrc);
        assert!(explored.all.iter().all(|history| check(history, Level::Mvrc).holds()), "{client}");
        let found: BTreeSet<&str> = explored.behaviours.iter().map(|one| one.state[0].as_str()).collect();
        let expected: Vec<String> = states.iter().map(|rows| format!("account: {rows}")).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{client}");
    }
}

/// Who overwrites a row has waited for those who wrote it before: its next statements see them, whatever columns they
/// wrote, and whether it has read them or not. Those of levels without locks, too, or it fails.
#[test]
fn at_mvrc_who_has_overwritten_a_row_sees_who_wrote_it() {
    for (overwritten, level) in [("x", ""), ("y", ""), ("x", "@isolation cc"), ("x", "@isolation rc")] {
        let (database, app) = load(&format!(
            "CREATE TABLE a (id int PRIMARY KEY, x int, y int); INSERT INTO a VALUES (1, 0, 0);
             CREATE TABLE b (id int PRIMARY KEY, n int); INSERT INTO b VALUES (1, 0);
             CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE v int;
             BEGIN UPDATE a SET x = 2 WHERE id = 1; SELECT n INTO v FROM b WHERE id = 1; END $$;
             CREATE PROCEDURE g() LANGUAGE plpgsql AS $$
             BEGIN UPDATE b SET n = 1 WHERE id = 1; UPDATE a SET {overwritten} = 1 WHERE id = 1; END $$;
             COMMENT ON PROCEDURE g IS '{level}';
             CREATE PROCEDURE h() LANGUAGE plpgsql AS $$ DECLARE v int; BEGIN
               SELECT a.x + a.y + b.n INTO v FROM a, b WHERE a.id = 1 AND b.id = 1; END $$"
        ));
        let client = Client::parse("s1: f() | s2: g() | s3: h()").expect("a client");
        let explored = explore(&database, &app, &client, Level::Mvrc, LIMITS).expect("explored");
        assert!(explored.histories > 3, "{overwritten} {level}");
        for history in &explored.all {
            assert!(check(history, Level::Ser).holds(), "{overwritten} {level}\n{history}");
        }
    }
}

/// What a statement has seen of the rows that it locks is looked at again under their locks, and counts as it is then. What
/// other parts of the statement have seen of the same rows, or decided by them which row comes first, stays as it was.
#[test]
fn at_mvrc_what_was_seen_of_rows_counts_unless_it_is_looked_at_again() {
    for (statements, is_serializable) in [
        ("UPDATE t SET x = x + me WHERE u = k;", true),
        ("UPDATE t SET x = x + me WHERE x < 9 AND id < 2;", true),
        ("DELETE FROM t WHERE u = k;", true),
        ("DELETE FROM t WHERE x < 9;", true),
        ("WITH c AS (UPDATE t SET x = x + me WHERE id = 1 RETURNING x) SELECT x INTO v FROM c;", true),
        ("WITH c AS (UPDATE t SET x = me WHERE id = 1) SELECT x INTO v FROM t WHERE id = 2;", true),
        ("SELECT x INTO v FROM t WHERE u = 1 FOR UPDATE; UPDATE t SET x = v + 1 WHERE id = 1;", true),
        ("SELECT id INTO v FROM t WHERE u < 9 ORDER BY id FOR UPDATE; UPDATE t SET x = x + 1 WHERE id = v;", true),
        ("SELECT x INTO v FROM t WHERE id = 1 ORDER BY x FOR UPDATE; UPDATE t SET x = v + 1 WHERE id = 1;", true),
        ("WITH c AS (UPDATE t SET x = x + me WHERE id = 1) SELECT x INTO v FROM t WHERE id = 1;", false),
        ("UPDATE t SET x = b.x + me FROM t b WHERE t.id = 1 AND b.id = 1;", false),
        ("UPDATE t SET x = (SELECT b.x FROM t b WHERE b.id = 1) + me WHERE id = 1 AND x < 9;", false),
        ("UPDATE t SET x = x + me WHERE id = 1 AND EXISTS (SELECT 1 FROM t b WHERE b.id = 1 AND b.x < 9);", false),
        ("UPDATE t SET x = x + me WHERE id = (SELECT b.id FROM t b WHERE b.id = 1 AND b.x < 9);", false),
        ("SELECT id INTO v FROM t ORDER BY x LIMIT 1 FOR UPDATE; UPDATE t SET x = x + 1 WHERE id = v;", false),
    ] {
        let (database, app) = load(&format!(
            "CREATE TABLE t (id int PRIMARY KEY, x int NOT NULL, u int UNIQUE NOT NULL); CREATE INDEX ON t (x);
             INSERT INTO t VALUES (1, 0, 1), (2, 0, 2);
             CREATE PROCEDURE p(me int, k int) LANGUAGE plpgsql AS $$ DECLARE v int; BEGIN {statements} END $$;"
        ));
        let client = Client::parse("p(1, 1) | p(2, 1)").expect("a client");
        let explored = explore(&database, &app, &client, Level::Mvrc, LIMITS).expect("explored");
        for history in &explored.all {
            assert!(check(history, Level::Mvrc).holds(), "{statements}\n{history}");
        }
        let others = explored.all.iter().find(|history| !check(history, Level::Ser).holds());
        assert_eq!(others.is_none(), is_serializable, "{statements}\n{others:?}");
    }
}

/// Who looks for the first columns of an index has not looked at the others.
#[test]
fn an_index_is_read_as_far_as_it_is_asked() {
    let (database, app) = load(
        "CREATE TABLE t (id int PRIMARY KEY, g int NOT NULL, v int NOT NULL); CREATE INDEX ON t (g, v);
         CREATE TABLE a (id int PRIMARY KEY, w int NOT NULL); INSERT INTO t VALUES (1, 1, 0); INSERT INTO a VALUES (1, 0);
         CREATE PROCEDURE by_first(k int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
           SELECT id INTO x FROM t WHERE g = k; UPDATE a SET w = 5 WHERE id = 1; END $$;
         CREATE PROCEDURE by_both(k int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
           SELECT id INTO x FROM t WHERE g = k AND v < 5; UPDATE a SET w = 5 WHERE id = 1; END $$;
         CREATE PROCEDURE change() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
           SELECT w INTO x FROM a WHERE id = 1; UPDATE t SET v = 7 WHERE id = 1; END $$;
         CREATE PROCEDURE move() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
           SELECT w INTO x FROM a WHERE id = 1; UPDATE t SET g = 2 WHERE id = 1; END $$;",
    );
    for level in [Level::Cc, Level::Mvrc, Level::Psi, Level::Si] {
        for (calls, is_serializable) in [
            ("by_first(1) | change()", true),
            ("by_both(1) | change()", false),
            ("by_first(1) | move()", false),
            ("by_first(2) | move()", false),
            ("by_first(3) | move()", true),
        ] {
            let client = Client::parse(calls).expect("a client");
            let explored = explore(&database, &app, &client, level, LIMITS).expect("explored");
            let others = explored.all.iter().find(|history| !check(history, Level::Ser).holds());
            assert_eq!(others.is_none(), is_serializable, "{calls} at {level}\n{others:?}");
        }
    }
}

/// Who sees whom decides what reads return: the same histories, in fewer runs.
#[test]
fn nothing_is_missing_where_only_who_sees_whom_is_tried() {
    let clients = [
        "a: withdraw(1, 100) | b: withdraw(2, 100)",
        "a: spend(1); spend(2) | b: spend(1)",
        "a: spend(1) | b: withdraw(2, 5) | c: SELECT sum(balance) FROM account",
        "a: spend(1) | b: spend(2) | c: SELECT * FROM account WHERE id = 1; SELECT * FROM account WHERE id = 2",
    ];
    let by_read = [Level::Rc, Level::Mvrc].map(|level| (level, Seeing::ByRead));
    let whole =
        [Level::Ra, Level::Cc, Level::Pc, Level::Psi, Level::Si, Level::Ser].map(|level| (level, Seeing::Whole));
    let (database, app) = bank();
    for client in clients {
        let parsed = Client::parse(client).expect("a client");
        for (level, seeing) in by_read.into_iter().chain(whole) {
            let all = explored(client, level);
            let expected: BTreeSet<String> = all.all.iter().map(canonical).collect();
            // What is expected comes first and changes nothing else.
            let guide = Guide::by_views(seeing, BTreeMap::from([((1, 0), false)]));
            let guide = Arc::new(Mutex::new(guide));
            let (mut found, mut runs) = (BTreeSet::new(), 0);
            loop {
                let ran = run(&database, &app, &parsed, level, &guide, &Watch::start(LIMITS.time)).expect("it runs");
                runs += 1;
                if !ran.was_refused {
                    found.insert(canonical(&ran.history));
                }
                if !guide.lock().expect("nobody panics").next_run() {
                    break;
                }
            }
            assert_eq!(found, expected, "{client} at {level}");
            assert!(runs <= all.runs || seeing == Seeing::ByRead, "{client} at {level}: {runs}, {}", all.runs);
        }
    }
}

#[test]
fn a_limit_is_told() {
    let database = Database::new(Options { recency: Recency::None, ..Options::default() });
    database.checkpoint().expect("nobody else is there");
    let client = Client::parse("a: SELECT 1 | b: SELECT 1").expect("a client");
    let limits = Limits { runs: 1, ..LIMITS };
    let explored = explore(&database, &App::default(), &client, Level::Si, limits).expect("explored");
    assert_eq!((explored.runs, explored.limit.as_deref()), (1, Some("1 runs")));
}

#[test]
fn clients_that_say_nothing_are_refused() {
    let wrong = |text: &str| Client::parse(text).expect_err("refused");
    assert_eq!(wrong("a: f() | b:"), "session b calls nothing; a client reads `alice: f(1); g(2) | bob: f(1)`");
    assert_eq!(wrong("a: f() | a: f()"), "there are two sessions called a");
}

#[test]
fn quotes_and_parentheses_separate_nothing() {
    let sessions = |text: &str| Client::parse(text).expect("a client").sessions;
    let session = |name: &str, calls: &[&str]| (name.to_owned(), calls.iter().map(|call| (*call).to_owned()).collect());
    assert_eq!(
        sessions("a: f('x | y; z: ''|'); g($$;|$$) | \"Q|\"(1 | 2) /* | ; */; SELECT 'a' || 'b'"),
        [session("a", &["f('x | y; z: ''|')", "g($$;|$$)"]), session("s2", &["\"Q|\"(1 | 2)", "SELECT 'a' || 'b'"]),]
    );
    assert_eq!(
        sessions("f(a => 1) | finally: h()::text;"),
        [session("s1", &["f(a => 1)"]), session("finally", &["h()::text"]),]
    );
    assert!(Client::parse("f('x | g(1)").expect_err("refused").starts_with("unterminated quoted string"));
}

/// Two deletes of a row that do not see each other conflict, as in PostgreSQL; where a level does not mind, both delete.
#[test]
fn a_row_is_deleted_twice_only_where_conflicts_are_allowed() {
    let both_delete = |level: Level| {
        let seen = explored("close_account(1) | close_account(1)", level).all;
        let deletes = |history: &History, id| history.ops(id).iter().any(|op| op.kind() == OpKind::Write);
        let committed = |history: &History, id| history.txn(id).status == Status::Committed;
        let deleting =
            |history: &History| history.txn_ids().filter(|id| committed(history, *id) && deletes(history, *id)).count();
        // Who has found the row deletes it.
        for history in &seen {
            for id in history.txn_ids().filter(|id| committed(history, *id)) {
                let op = history.ops(id)[0];
                assert_eq!(history.initial(op.key()) == op.value(), deletes(history, id), "{level}:\n{history}");
            }
        }
        seen.iter().any(|history| deleting(history) == 2)
    };
    assert!(both_delete(Level::Cc));
    assert!(both_delete(Level::Pc));
    assert!(!both_delete(Level::Psi));
    assert!(!both_delete(Level::Si));
}

/// Who locks a row that was deleted and made again with the same values has not seen that one.
#[test]
fn a_row_that_was_made_again_is_another_one() {
    let (database, app) = load(
        "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 1), (2, 0);
         CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO a VALUES (1, 1); END $$;
         CREATE PROCEDURE g(k int) LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
           SELECT v INTO STRICT x FROM a WHERE id = k FOR UPDATE; DELETE FROM a WHERE id = x + 1; END $$;",
    );
    let client = Client::parse("f() | g(1) | g(2)").expect("a client");
    for level in [Level::Psi, Level::Si] {
        let explored = explore(&database, &app, &client, level, LIMITS).expect("explored");
        assert!(explored.histories > 1, "{level}");
        for history in &explored.all {
            assert!(check(history, Level::Ser).holds(), "{level}\n{history}");
        }
    }
}

/// Whoever reads in the end sees what is in the tables, at no cost: there are no more runs, and none that a level forbids.
#[test]
fn what_is_left_is_read_in_the_end() {
    for level in [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser] {
        let calls = "s1: spend(1) | s2: take_least(1)";
        let (without, with) = (
            explored(calls, level),
            explored(&format!("{calls} | finally: SELECT balance FROM account WHERE id = 1"), level),
        );
        assert!(with.runs <= without.runs, "{level}");
        for history in &with.all {
            assert!(check(history, level).holds(), "{level}\n{history}");
        }
        for behaviour in &with.behaviours {
            let balance = behaviour.state[0].split([',', ')']).nth(1).expect("a balance").trim().to_owned();
            let told = behaviour.example.to_string();
            let read = format!("r \"account[1].balance\"={balance}<");
            for session in ["s1", "s2"] {
                let last = told.lines().rfind(|line| line.starts_with(session)).expect("it reads");
                assert!(last.contains(&read) && !last.contains(" w "), "{level}: {balance}\n{told}");
            }
        }
    }
    let error = Client::parse("finally: spend(1)").expect_err("nobody has done anything");
    assert!(error.contains("nothing is called before"), "{error}");
}

/// Who locks a row has to have seen the last change of it, also of columns that it does not read.
#[test]
fn a_row_that_was_changed_cannot_be_locked_in_an_older_snapshot() {
    let (database, app) = load(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int);
         INSERT INTO t VALUES (1, 0, 0);
         CREATE PROCEDURE change() LANGUAGE sql AS $$ UPDATE t SET a = 1 WHERE id = 1 $$;
         CREATE PROCEDURE locked() LANGUAGE plpgsql AS $$
         BEGIN PERFORM 1 FROM t WHERE id = 1 FOR UPDATE; PERFORM a FROM t; END $$;
         CREATE PROCEDURE kept() LANGUAGE plpgsql AS $$
         BEGIN PERFORM 1 FROM t WHERE id = 1 FOR KEY SHARE; PERFORM a FROM t; END $$",
    );
    // Without the change in sight `locked` comes first, and the other one does not wait for it: it sees nothing of it.
    for (level, program, old_comes_last) in [
        (Level::Si, "locked", false),
        (Level::Psi, "locked", false),
        (Level::Si, "kept", true),
        (Level::Pc, "locked", true),
    ] {
        let client = Client::parse(&format!("s: change() | s2: {program}()")).expect("a client");
        let guide = Arc::new(Mutex::new(Guide::default()));
        let mut seen_last = false;
        loop {
            let ran = run(&database, &app, &client, level, &guide, &Watch::start(LIMITS.time)).expect("it runs");
            let text = ran.history.to_string();
            let (change, read) = (text.find("w \"t[1].a\"=1"), text.find("r \"t[1].a\"=0"));
            seen_last |= matches!((change, read), (Some(change), Some(read)) if change < read) && !ran.was_refused;
            if !guide.lock().expect("nobody panics").next_run() {
                break;
            }
        }
        assert_eq!(seen_last, old_comes_last, "{program} at {level}");
    }
}

/// At `mvrc` who has waited for an advisory lock sees who had it, in its next statement.
#[test]
fn an_advisory_lock_shows_who_had_it() {
    let withdraw = |lock: &str| {
        format!(
            "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
             INSERT INTO account VALUES (1, 60), (2, 60);
             CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
             DECLARE total int;
             BEGIN
               PERFORM {lock};
               SELECT sum(balance) INTO total FROM account;
               IF total >= amount THEN UPDATE account SET balance = balance - amount WHERE id = acct; END IF;
             END $$;"
        )
    };
    let not_serializable = |lock: &str| {
        let (database, app) = load(&withdraw(lock));
        let client = Client::parse("a: withdraw(1, 100) | b: withdraw(2, 100)").expect("a client");
        let explored = explore(&database, &app, &client, Level::Mvrc, LIMITS).expect("explored");
        explored.all.iter().filter(|history| !check(history, Level::Ser).holds()).count()
    };
    assert_eq!(not_serializable("pg_advisory_xact_lock(1)"), 0);
    assert_eq!(not_serializable("pg_advisory_xact_lock_shared(1)"), 1);
    assert_eq!(not_serializable("pg_advisory_xact_lock(acct)"), 1);
}

/// Transactions begin at the same times in every run, so that histories can be compared.
#[test]
fn time_does_not_tell_runs_apart() {
    let (database, app) = load(
        "CREATE TABLE entry (account int, at timestamptz DEFAULT now(), amount int, PRIMARY KEY (account, at));
         CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
         INSERT INTO account VALUES (1, 0);
         CREATE PROCEDURE deposit(amount int) LANGUAGE sql AS $$
           UPDATE account SET balance = balance + amount WHERE id = 1;
           INSERT INTO entry (account, amount) VALUES (1, amount) $$",
    );
    let client = Client::parse("a: deposit(1); deposit(2) | b: deposit(3)").expect("a client");
    let first = explore(&database, &app, &client, Level::Ser, LIMITS).expect("explored");
    let second = explore(&database, &app, &client, Level::Ser, LIMITS).expect("explored");
    assert_eq!((first.histories, first.behaviours.len()), (3, 1));
    let texts = |explored: &Explored| explored.all.iter().map(canonical).collect::<BTreeSet<_>>();
    assert_eq!(texts(&first), texts(&second));
    assert!(first.behaviours[0].failed.is_empty(), "{:?}", first.behaviours[0].failed);
}

#[test]
fn entries_of_an_index_are_named_by_their_values() {
    let (database, app) = load(
        "CREATE TYPE mood AS ENUM ('low', 'high');
         CREATE TABLE t (id int PRIMARY KEY, m mood, n int);
         CREATE INDEX t_m ON t (m DESC, n);
         INSERT INTO t VALUES (1, 'low', 7);
         CREATE PROCEDURE raise() LANGUAGE sql AS $$ UPDATE t SET m = 'high' WHERE id = 1 $$",
    );
    let client = Client::parse("raise()").expect("a client");
    let explored = explore(&database, &app, &client, Level::Ser, LIMITS).expect("explored");
    let text = explored.all[0].to_string();
    assert!(text.contains("\"t[1 by t_m=high]\"") && text.contains("\"t[1 by t_m=low,7]\""), "{text}");
}
