//! Suspects that become runs, and suspects that do not.

use std::time::Duration;

use skew_check::check;
use skew_model::{Anomaly, Level};
use skew_prove::confirm::{Confirmation, Found, Limits, confirm};
use skew_prove::robust::answer::{Effort, Engine, Verdict};
use skew_prove::robust::{Dependencies, Question, Robustness};
use skew_prove::summary::build::Reading;
use skew_prove::summary::{Outcome, Path, Summary, TermKind};
use skew_prove::suspect::{Edge, EdgeKind, Place, Suspect, SuspectCall};
use skew_sql::session::Granularity;

use crate::{example, load, load_by};

const LIMITS: Limits = Limits { runs: 400, time: Duration::from_secs(300) };

/// `withdraw withdraw; 1 rw 2 account; 2 rw 1 account; 1.acct = 2.acct`: the calls, each on the way that does most with what it is given, the
/// dependencies with their tables, and what is the same.
fn suspect(summary: &Summary, level: Level, text: &str) -> Suspect {
    let mut parts = text.split(';').map(str::trim);
    let mut suspect = Suspect { level, calls: vec![], edges: vec![], equal: vec![] };
    for name in parts.next().expect("calls").split_whitespace() {
        let program = summary.programs.iter().position(|program| program.name == name).expect("a program");
        let paths = &summary.programs[program].paths;
        let most = |path: &Path| {
            let found = path.accesses.iter().filter(|access| access.outcome != Outcome::Missing);
            let asks_for_null = path.decisions.iter().any(|decision| decision.ends_with("IS NULL"));
            (!asks_for_null, found.count(), path.accesses.len(), !path.is_read_only())
        };
        let path = (0..paths.len()).max_by_key(|path| most(&paths[*path])).expect("a way");
        suspect.calls.push(SuspectCall { program, path });
    }
    let path = |call: usize| -> &Path {
        let call = &suspect.calls[call];
        &summary.programs[call.program].paths[call.path]
    };
    for part in parts {
        let words: Vec<&str> = part.split_whitespace().collect();
        let number = |word: &str| word.parse::<usize>().expect("a number") - 1;
        if words[1] == "=" {
            let place = |word: &str| {
                let (call, name) = word.split_once('.').expect("a call and a parameter");
                let call = number(call);
                let parameters = &summary.programs[suspect.calls[call].program].parameters;
                let parameter = parameters.iter().position(|one| one.name == name).expect("a parameter");
                let kind = TermKind::Parameter(parameter);
                Place { call, term: path(call).terms.iter().position(|term| term.kind == kind).expect("it is used") }
            };
            suspect.equal.push((place(words[0]), place(words[2])));
            continue;
        }
        let (from, to) = (number(words[0]), number(words[2]));
        let access = |call: usize, writes: bool| {
            let accesses = &path(call).accesses;
            let found = accesses.iter().position(|access| {
                summary.facts.tables[&access.table].name == words[3]
                    && if writes { !access.writes.is_empty() } else { !access.reads.is_empty() }
            });
            found.expect("an access")
        };
        let (kind, accesses) = match words[1] {
            "so" => (EdgeKind::Session, None),
            "wr" => (EdgeKind::WriteRead, Some((access(from, true), access(to, false)))),
            "ww" => (EdgeKind::WriteWrite, Some((access(from, true), access(to, true)))),
            "rw" => (EdgeKind::ReadWrite, Some((access(from, false), access(to, true)))),
            other => panic!("{other} is no dependency"),
        };
        suspect.edges.push(Edge { from, to, kind, accesses });
    }
    suspect
}

fn confirmed(app: &str, level: Level, text: &str) -> Confirmation {
    let (database, app) = load(app);
    let reading = if level == Level::Mvrc { Reading::EachStatement } else { Reading::Once };
    let summary = Summary::of(&database, &app, reading).expect("its procedures are there");
    confirm(&database, &app, &summary, &suspect(&summary, level, text), LIMITS).expect("it runs")
}

/// The client that was found, and what it shows.
#[track_caller]
pub fn found(app: &str, level: Level, text: &str) -> (Box<Found>, Anomaly) {
    match confirmed(app, level, text) {
        Confirmation::Found(found) => {
            assert!(check(&found.history, level).holds(), "inside {level}");
            let verdict = check(&found.history, Level::Ser);
            let anomaly = verdict.violation().expect("outside ser").anomaly;
            (found, anomaly)
        }
        Confirmation::NotFound { reason, tried } => panic!("{reason}: {tried:?}"),
    }
}

#[track_caller]
fn not_found(app: &str, level: Level, text: &str) -> String {
    match confirmed(app, level, text) {
        Confirmation::Found(found) => panic!("{}", found.client_text()),
        Confirmation::NotFound { reason, .. } => reason,
    }
}

const LOST: &str = "withdraw withdraw; 1 rw 2 account; 2 rw 1 account; 1.acct = 2.acct";

#[test]
fn two_withdrawals_lose_an_update_below_snapshot_isolation() {
    for level in [Level::Cc, Level::Pc, Level::Mvrc] {
        let (found, anomaly) = found(&example("withdraw.sql"), level, LOST);
        assert_eq!(anomaly, Anomaly::LostUpdate, "{level}");
        assert_eq!(found.client_text(), "s1: withdraw(1, 1) | s2: withdraw(1, 1)");
        let command =
            format!("skew explore withdraw.sql --client 's1: withdraw(1, 1) | s2: withdraw(1, 1)' --level {level}");
        assert_eq!(found.command("withdraw.sql", &Question::default()), command);
        assert_eq!(found.tried.runs, 1, "the first run is the right one");
    }
}

#[test]
fn two_withdrawals_lose_nothing_at_snapshot_isolation() {
    let reason = not_found(&example("withdraw.sql"), Level::Si, LOST);
    assert_eq!(reason, "with 48 choices of arguments, every run of these calls at si is serializable");
}

pub const OVERDRAFT: &str = "
    CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
    CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT sum(balance) FROM account) >= amount THEN
        UPDATE account SET balance = balance - amount WHERE id = acct;
      END IF;
    END $$;
    INSERT INTO account VALUES (1, 60), (2, 60)";

#[test]
fn accounts_that_need_not_be_the_same_are_different_ones() {
    let (found, anomaly) = found(OVERDRAFT, Level::Si, "withdraw withdraw; 1 rw 2 account; 2 rw 1 account");
    assert_eq!(anomaly, Anomaly::WriteSkew);
    assert_eq!(found.client_text(), "s1: withdraw(2, 1) | s2: withdraw(1, 1)");
}

#[test]
fn bids_are_counted_wrong_at_causal_consistency() {
    let text = "store_bid store_bid; 1 rw 2 items; 2 rw 1 items; 1.item = 2.item";
    let (found, anomaly) = found(&example("auction.sql"), Level::Cc, text);
    assert_eq!(anomaly, Anomaly::LostUpdate);
    assert_eq!(found.client_text(), "s1: store_bid(1, 1) | s2: store_bid(1, 1)");
}

const POSTS: &str = "
    CREATE TABLE post (id int PRIMARY KEY, body int NOT NULL);
    CREATE PROCEDURE write(what int) LANGUAGE plpgsql AS $$
    BEGIN UPDATE post SET body = 1 WHERE id = what; END $$;
    CREATE PROCEDURE look(one int, other int) LANGUAGE plpgsql AS $$
    DECLARE a int; b int;
    BEGIN
      SELECT body INTO a FROM post WHERE id = one;
      SELECT body INTO b FROM post WHERE id = other;
    END $$;";

#[test]
fn two_readers_see_two_posts_in_different_orders() {
    let app = format!("{POSTS} INSERT INTO post VALUES (1, 0), (2, 0)");
    let text = "write look write look; 1 wr 2 post; 2 rw 3 post; 3 wr 4 post; 4 rw 1 post;
        1.what = 2.one; 2.other = 3.what; 3.what = 4.one; 4.other = 1.what";
    for level in [Level::Cc, Level::Psi] {
        let (found, anomaly) = found(&app, level, text);
        assert_eq!(anomaly, Anomaly::LongFork, "{level}");
        assert_eq!(found.calls.len(), 4);
    }
    assert_eq!(not_found(&app, Level::Pc, text), "none of the runs that were tried is outside ser, up to 400 runs");
}

pub const READ_ONLY: &str = "balance write_check transact_saving;
    1 rw 2 checking; 2 rw 3 saving; 3 wr 1 saving; 1.n = 2.n; 2.n = 3.n";

#[test]
fn who_reads_only_sees_a_saving_without_the_check_before_it() {
    let (found, _) = found(&example("smallbank.sql"), Level::Si, READ_ONLY);
    assert_eq!(found.client_text(), "s1: transact_saving('ann', 1) | s2: write_check('ann', 1) | s3: balance('ann')");
    let expected = "skew explore smallbank.sql --client \"s1: transact_saving('ann', 1) | s2: write_check('ann', 1) | \
        s3: balance('ann')\" --level si";
    assert_eq!(found.command("smallbank.sql", &Question::default()), expected);
}

#[test]
fn orders_and_payments_of_tpcc_are_seen_in_different_orders_at_psi() {
    let text = "new_order order_status payment order_status;
        1 wr 2 orders; 2 rw 3 customer; 3 wr 4 customer; 4 rw 1 orders;
        1.w = 2.w; 1.d = 2.d; 1.c = 2.c; 2.w = 3.c_w; 2.d = 3.c_d; 2.c = 3.c; 3.c_w = 4.w; 3.c_d = 4.d; 3.c = 4.c";
    let (found, anomaly) = found(&example("tpcc.sql"), Level::Psi, text);
    assert_eq!(anomaly, Anomaly::LongFork);
    let expected = "s1: new_order(1, 2, 1, '2024-01-01', '{1}', '{1}', '{1}') | \
        s2: payment(1, 1, 1, 2, 1, 'a', 1, '2024-01-01') | \
        s3: order_status(1, 2, 1, 'a') | s4: order_status(1, 2, 1, 'a')";
    assert_eq!(found.client_text(), expected);
}

#[test]
fn two_orders_of_tpcc_are_seen_in_different_orders_at_psi() {
    let text = "new_order stock_level new_order stock_level;
        1 wr 2 district; 2 rw 3 stock; 3 wr 4 stock; 4 rw 1 district; 1.w = 2.w; 1.d = 2.d; 1.w = 3.w; 3.w = 4.w; 4.d = 1.d";
    let (found, anomaly) = found(&example("tpcc.sql"), Level::Psi, text);
    assert_eq!(anomaly, Anomaly::LongFork);
    let expected = "s1: new_order(1, 2, 2, '2024-01-01', '{2}', '{1}', '{1}') | \
        s2: new_order(1, 1, 1, '2024-01-01', '{1}', '{1}', '{1}') | s3: stock_level(1, 2, 1) | s4: stock_level(1, 2, 1)";
    assert_eq!(found.client_text(), expected);
}

#[test]
fn a_course_is_removed_while_somebody_enrolls() {
    let text = "remove_course enroll; 1 rw 2 enrolled; 2 rw 1 course; 1.what = 2.what";
    let (found, anomaly) = found(&example("courseware.sql"), Level::Si, text);
    assert_eq!(anomaly, Anomaly::WriteSkew);
    assert_eq!(found.client_text(), "s1: remove_course('logic') | s2: enroll('ann', 'logic')");
}

#[test]
fn one_name_is_registered_twice() {
    let text = "reg_user reg_user; 1 rw 2 users; 2 rw 1 users; 1.uname = 2.uname";
    let (found, anomaly) = found(&example("auction_surrogate.sql"), Level::Si, text);
    assert_eq!(anomaly, Anomaly::WriteSkew);
    assert_eq!(found.client_text(), "s1: reg_user('new1') | s2: reg_user('new1')");
}

#[test]
fn words_within_values_are_arguments() {
    let text = "add_key delete_key; 1 rw 2 useraccounts; 2 rw 1 useraccounts; 1.a = 2.a";
    let (found, anomaly) = found(&example("cassieq.sql"), Level::Cc, text);
    assert_eq!(anomaly, Anomaly::LostUpdate);
    assert_eq!(found.client_text(), "s1: add_key('ann', 'a') | s2: delete_key('ann', 'red')");
}

#[test]
fn calls_that_are_not_needed_are_left_out() {
    let text = "withdraw withdraw withdraw; 1 rw 2 account; 2 wr 3 account; 3 rw 1 account;
        1.acct = 2.acct; 2.acct = 3.acct";
    let (found, _) = found(&example("withdraw.sql"), Level::Cc, text);
    assert_eq!(found.calls.len(), 2, "{}", found.client_text());
}

#[test]
fn calls_of_a_session_stay_in_it() {
    let text = "write look write look; 1 so 2; 2 rw 3 post; 3 so 4; 4 rw 1 post; 2.other = 3.what; 4.other = 1.what";
    let app = format!("{POSTS} INSERT INTO post VALUES (1, 0), (2, 0)");
    let (found, _) = found(&app, Level::Psi, text);
    assert_eq!(found.client.sessions.len(), 2, "{}", found.client_text());
}

#[test]
fn a_session_that_need_not_see_its_own_past_is_tried() {
    let app = format!("{POSTS} INSERT INTO post VALUES (1, 0), (2, 0)");
    let text = "look write; 1 rw 2 post; 2 wr 1 post; 1.one = 2.what; 1.other = 2.what";
    let (found, _) = found(&app, Level::Rc, text);
    assert_eq!(found.client_text(), "s1: write(1) | s2: look(1, 1)");
    let text = "write look; 1 wr 2 post; 2 rw 1 post; 1.what = 2.one";
    let once = app.replace("SELECT body INTO b FROM post WHERE id = other;", "");
    let (found, _) = crate::confirm::found(&once, Level::Rc, text);
    assert_eq!(found.client_text(), "s1: write(1); look(1, 1)");
}

#[test]
fn a_way_that_no_arguments_lead_to_is_named() {
    let text = "t2 t2; 1 rw 2 variable; 2 rw 1 variable";
    let reason = not_found(&example("figure5.sql"), Level::Cc, text);
    let expected = "with 1 choice of arguments, every run of these calls at cc is serializable; no arguments were found with which t2 \
        alone goes this way: line 6: found in variable; line 7: found in variable; y > x";
    assert_eq!(reason, expected);
}

#[test]
fn tables_without_rows_get_some() {
    let text = "write look write look; 1 wr 2 post; 2 rw 3 post; 3 wr 4 post; 4 rw 1 post;
        1.what = 2.one; 2.other = 3.what; 3.what = 4.one; 4.other = 1.what";
    let (found, _) = found(POSTS, Level::Psi, text);
    let expected = ["INSERT INTO post (id, body) VALUES ('1', '1')", "INSERT INTO post (id, body) VALUES ('2', '2')"];
    assert_eq!(found.setup, expected);
}

#[test]
fn what_takes_too_long_says_so() {
    let (database, app) = load(&example("withdraw.sql"));
    let summary = Summary::of(&database, &app, Reading::Once).expect("its procedures are there");
    let suspect = suspect(&summary, Level::Si, LOST);
    let limits = Limits { runs: 3, ..LIMITS };
    let Ok(Confirmation::NotFound { reason, tried }) = confirm(&database, &app, &summary, &suspect, limits) else {
        panic!("nothing is lost at si");
    };
    assert_eq!((reason.as_str(), tried.runs), ("none of the runs that were tried is outside ser, up to 3 runs", 3));
}

/// Nobody reads what `copy` writes.
pub const BLIND: &str = "
    CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
    CREATE TABLE u (id int PRIMARY KEY, v int NOT NULL);
    CREATE PROCEDURE bump(b int) LANGUAGE plpgsql AS $$ BEGIN
      UPDATE t SET v = v + 1 WHERE id = b;
    END $$;
    CREATE PROCEDURE copy(b int) LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN
      SELECT v INTO n FROM t WHERE id = b;
      UPDATE u SET v = n WHERE id = b;
    END $$;
    INSERT INTO t VALUES (1, 1);
    INSERT INTO u VALUES (1, 0);";

pub const COPIED: &str = "copy bump copy; 1 rw 2 t; 2 wr 3 t; 3 ww 1 u; 1.b = 2.b; 2.b = 3.b";

#[test]
fn what_nobody_reads_is_read_in_the_end() {
    let (found, anomaly) = found(BLIND, Level::Mvrc, COPIED);
    assert_eq!(found.client_text(), "s1: bump(1) | s2: copy(1) | s3: copy(1) | finally: SELECT v FROM u");
    let core = check(&found.history, Level::Ser).violation().expect("outside ser").history.to_string();
    let expected = r#"
init  "t[1]"=1 "t[1].v"=1 "u[1]"=1 "u[1].v"=0
s1 t1 @mvrc  w "t[1].v"=2
s2 t2 @mvrc  r "t[1].v"=2<t1  w "u[1].v"=2
s3 t3 @mvrc  r "t[1].v"=1<init  w "u[1].v"=1
s2 t5 @mvrc  r "u[1].v"=1<t3
"#;
    assert_eq!((core.as_str(), anomaly), (expected.trim_start(), Anomaly::ReadSkew));
}

/// Without somebody who changes what is copied, all that is read in the end is what the last one of them has written.
#[test]
fn who_reads_in_the_end_is_not_what_is_wrong() {
    let reason = not_found(BLIND, Level::Mvrc, "copy copy; 1 ww 2 u; 2 ww 1 u; 1.b = 2.b");
    assert_eq!(reason, "with 3 choices of arguments, every run of these calls at mvrc is serializable");
}

/// Two withdrawals that wait for each other at the customer's row. Where all statements look at one state, waiting does not
/// help; where each looks at its own, the second one sees the first. So a run at `si` is none at `mvrc`.
#[test]
fn who_has_waited_for_a_lock_sees_more_at_mvrc() {
    let text = "CREATE TABLE customer (id int PRIMARY KEY);
        CREATE TABLE account
          (id int PRIMARY KEY, customer int NOT NULL REFERENCES customer (id), balance int NOT NULL);
        INSERT INTO customer VALUES (1), (2);
        INSERT INTO account VALUES (1, 1, 100), (2, 1, 50), (3, 2, 70);
        CREATE PROCEDURE withdraw(c int, acc int, amount int) LANGUAGE plpgsql AS $$
        DECLARE total int;
        BEGIN
          PERFORM 1 FROM customer WHERE id = c FOR UPDATE;
          SELECT sum(balance) INTO total FROM account WHERE customer = c;
          IF total >= amount THEN
            UPDATE account SET balance = balance - amount WHERE id = acc AND customer = c;
          END IF;
        END $$";
    let (database, app) = load(text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let answer = |level: Level, stronger: &[(Suspect, Found)]| {
        let effort = Effort { engine: Engine::Graph, ..Effort::default() };
        robustness.answer(&database, &app, level, &Question::default(), stronger, effort).expect("it answers")
    };
    let si = answer(Level::Si, &[]);
    assert_eq!(si.verdict, Verdict::NotRobust);
    let pc = answer(Level::Pc, &si.found);
    assert_eq!((pc.verdict, pc.found.len()), (Verdict::NotRobust, si.found.len()));
    let mvrc = answer(Level::Mvrc, &si.found);
    assert!(matches!(mvrc.verdict, Verdict::Robust { .. }), "{:?}", mvrc.verdict);
}

/// Two that change different columns of one row without seeing each other, which only conflicts about columns allow.
#[test]
fn runs_conflict_about_what_is_asked() {
    let text = "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, frozen boolean NOT NULL);
        INSERT INTO account VALUES (1, 10, false);
        CREATE PROCEDURE freeze_it(acc int) LANGUAGE sql AS $$
          UPDATE account SET frozen = true WHERE id = acc AND balance > 0 $$;
        CREATE PROCEDURE spend(acc int) LANGUAGE sql AS $$
          UPDATE account SET balance = 0 WHERE id = acc AND NOT frozen $$";
    for (granularity, dependencies, found) in
        [(Granularity::Cell, Dependencies::Columns, true), (Granularity::Row, Dependencies::Rows, false)]
    {
        let (database, app) = load_by(granularity, text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let question = Question { dependencies, ..Question::default() };
        let effort = Effort { engine: Engine::Graph, ..Effort::default() };
        let answer = robustness.answer(&database, &app, Level::Si, &question, &[], effort).expect("it answers");
        assert_eq!(answer.verdict == Verdict::NotRobust, found, "{:?}", answer.verdict);
        for (_, run) in &answer.found {
            assert!(run.postgres_script().is_err(), "PostgreSQL does not let them");
        }
    }
}
