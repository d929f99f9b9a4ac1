//! What is published about applications, against what the graph says. A cycle is only a suspicion; where there is none,
//! every run is serializable.

use skew_model::Level;
use skew_prove::robust::answer::{Effort, Verdict};
use skew_prove::robust::{Dependencies, Question, Robustness};
use skew_prove::suspect::Suspect;

use crate::{example, load};

/// The cycles at a level, each as its programs and dependencies.
fn cycles(name: &str, level: Level, question: &Question) -> Vec<String> {
    let (database, app) = load(&example(&format!("{name}.sql")));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let summary = robustness.summary(level);
    let words = |suspect: &Suspect| {
        let edges = suspect
            .edges
            .iter()
            .map(|edge| format!("{} -{}->", summary.programs[suspect.calls[edge.from].program].name, edge.kind.name()));
        edges.collect::<Vec<_>>().join(" ")
    };
    robustness.cycles(level, question).suspects.iter().map(words).collect()
}

fn without_sessions() -> Question {
    Question { sessions: false, ..Question::default() }
}

/// Beillahi, Bouajjani and Enea, CAV 2019, Table 1, which has sessions: serializable at SI.
#[test]
fn applications_that_are_serializable_at_si() {
    let names = ["auction", "cassieq", "currency_exchange", "fusion_ticket", "playlist", "roomstore", "shopping_cart"];
    for name in names {
        let found = cycles(name, Level::Si, &Question::default());
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

/// The same table: not serializable at SI.
#[test]
fn applications_that_are_not_serializable_at_si() {
    let found = cycles("smallbank", Level::Si, &without_sessions());
    assert_eq!(found, ["write_check -rw-> transact_saving -wr-> balance -rw->"]);
    let found = cycles("courseware", Level::Si, &Question::default());
    assert!(found.contains(&"enroll -rw-> remove_course -rw->".to_owned()), "{found:#?}");
    assert!(found.contains(&"enroll -rw-> enroll -rw->".to_owned()), "{found:#?}");
}

/// Bernardi and Gotsman, CONCUR 2016: the auction with numbers for users at PSI and CC, and at PSI with `reg_user`
/// serializable, which is enough (footnote 1). There are no sessions.
#[test]
fn an_auction_with_numbers_for_users() {
    for level in [Level::Psi, Level::Cc] {
        let found = cycles("auction_surrogate", level, &without_sessions());
        assert!(found.contains(&"reg_user -rw-> reg_user -rw->".to_owned()), "{level}: {found:#?}");
    }
    let marked = |names: &[&str]| {
        let serializable = names.iter().map(|name| (*name).to_owned()).collect();
        Question { serializable, ..without_sessions() }
    };
    // A list of users that shows a later one shows the earlier ones: SERTOTAL.
    assert_eq!(cycles("auction_surrogate", Level::Psi, &marked(&["reg_user"])), Vec::<String>::new());
    let marked = marked(&["reg_user", "view_users"]);
    assert_eq!(cycles("auction_surrogate", Level::Psi, &marked), Vec::<String>::new());
    let found = cycles("auction_surrogate", Level::Cc, &marked);
    assert!(found.contains(&"store_bid -rw-> store_bid -rw->".to_owned()), "{found:#?}");
}

/// Nagar and Jagannathan, CONCUR 2018, Figure 1: withdrawals lose updates at EC and are serializable at PSI. There are no
/// sessions; with them, two of two withdrawals each can fork.
#[test]
fn withdrawals() {
    let found = cycles("withdraw", Level::Ec, &without_sessions());
    assert!(found.contains(&"withdraw -rw-> withdraw -rw->".to_owned()), "{found:#?}");
    assert_eq!(cycles("withdraw", Level::Psi, &without_sessions()), Vec::<String>::new());
    let found = cycles("withdraw", Level::Psi, &Question::default());
    assert_eq!(found, ["withdraw -rw-> withdraw -so-> withdraw -rw-> withdraw -so->"]);
}

/// Vandevoort, Ketsman, Koch and Neven, VLDB 2021: the largest sets of programs that are serializable at the databases'
/// READ COMMITTED.
#[test]
fn parts_of_smallbank_at_mvrc() {
    let (database, app) = load(&example("smallbank.sql"));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let sets = robustness.largest_robust_sets(Level::Mvrc, &without_sessions());
    let expected = [
        vec!["amalgamate", "deposit_checking", "transact_saving"],
        vec!["balance", "deposit_checking"],
        vec!["balance", "transact_saving"],
    ];
    assert_eq!(sets.sets, expected);
}

/// Vandevoort, Ketsman, Koch and Neven, EDBT 2023: the same of TPC-C, with conflicts about rows, and about columns with
/// foreign keys.
#[test]
fn parts_of_tpcc_at_mvrc() {
    let (database, app) = load(&example("tpcc.sql"));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let sets = |dependencies| {
        let question = Question { dependencies, ..without_sessions() };
        let found = robustness.largest_robust_sets(Level::Mvrc, &question);
        assert_eq!(found.limit, None);
        found.sets
    };
    assert_eq!(sets(Dependencies::Rows), [vec!["order_status", "stock_level"], vec!["new_order"]]);
    let by_columns = [vec!["order_status", "payment", "stock_level"], vec!["new_order", "payment"]];
    assert_eq!(sets(Dependencies::Columns), by_columns);
}

/// Beillahi, Bouajjani and Enea, CAV 2019, Table 1, with sessions, and Nagar and Jagannathan, CONCUR 2018, section 6, without:
/// TPC-C is serializable at SI, if a delivery is of one district.
#[test]
fn tpcc_is_serializable_at_si() {
    assert_eq!(cycles("tpcc_by_district", Level::Si, &Question::default()), Vec::<String>::new());
    assert_eq!(cycles("tpcc_by_district", Level::Si, &without_sessions()), Vec::<String>::new());
    assert_ne!(cycles("tpcc", Level::Si, &Question::default()), Vec::<String>::new());
}

/// Nagar and Jagannathan, CONCUR 2018, section 6: TPC-C has long forks of four transactions at PSI and nothing smaller, and
/// loses updates of two at EC.
#[test]
fn tpcc_forks_at_psi() {
    let found = cycles("tpcc_by_district", Level::Psi, &without_sessions());
    let shortest = found.iter().map(|cycle| cycle.matches("->").count()).min();
    assert_eq!(shortest, Some(4), "{found:#?}");
    for fork in [
        "order_status -rw-> new_order -wr-> order_status -rw-> payment -wr->",
        "stock_level -rw-> new_order -wr-> stock_level -rw-> new_order -wr->",
    ] {
        assert!(found.contains(&fork.to_owned()), "{found:#?}");
    }
    let found = cycles("tpcc_by_district", Level::Ec, &without_sessions());
    assert!(found.contains(&"payment -rw-> payment -rw->".to_owned()), "{found:#?}");
}

/// Programs with four ways each are too many to tell rows apart in all of them, and still robust.
#[test]
fn a_large_application() {
    let mut text = "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL);".to_owned();
    for number in 0..160 {
        text.push_str(&format!(
            "CREATE PROCEDURE p{number}(x int) LANGUAGE plpgsql AS $$ BEGIN
               UPDATE t SET a = a + 1 WHERE id = {number};
               UPDATE t SET a = a + 1 WHERE id = {number} + 1000 * x;
               UPDATE t SET b = a WHERE id = {number};
             END $$;"
        ));
    }
    let (database, app) = load(&text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let named = &robustness.once.programs[0].approximations;
    assert!(named.iter().any(|one| one.what.contains("whether rows are there is not told apart")), "{named:?}");
    let searched = robustness.cycles(Level::Si, &Question::default());
    assert_eq!((searched.suspects.len(), searched.limit), (0, None));
    let searched = robustness.cycles(Level::Pc, &Question::default());
    assert!(!searched.suspects.is_empty() && searched.suspects.len() <= 100);
}

/// Increments at `si` conflict with each other, and who reads a counter once may read it at any level, whatever the others
/// run at.
#[test]
fn a_counter_at_the_levels_that_it_asks_for() {
    for level in skew_prove::robust::LEVELS {
        let found = cycles("counter", level, &Question::default());
        assert!(found.is_empty(), "{level}: {found:#?}");
    }
}

/// Nobody is serializable with those who ask for less.
#[test]
fn programs_that_ask_for_less_are_seen_at_every_level() {
    let programs = |f: &str, g: &str| {
        format!(
            "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL); INSERT INTO t VALUES (1, 1), (2, 1);
             CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
               SELECT v INTO x FROM t WHERE id = 1; UPDATE t SET v = x - 1 WHERE id = 2; END $$;
             CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
               SELECT v INTO x FROM t WHERE id = 2; UPDATE t SET v = x - 1 WHERE id = 1; END $$;
             {f} {g}"
        )
    };
    let asks = |name: &str, level: &str| format!("COMMENT ON PROCEDURE {name} IS '@isolation {level}';");
    let none = String::new;
    for (f, g, level, is_robust) in [
        (none(), none(), Level::Ser, true),
        (asks("f", "ser"), asks("g", "ser"), Level::Rc, true),
        (none(), asks("g", "mvrc"), Level::Ser, false),
        (none(), asks("g", "si"), Level::Ser, false),
        (asks("f", "ser"), none(), Level::Si, false),
        (asks("f", "ser"), asks("g", "cc"), Level::Si, false),
    ] {
        let (database, app) = load(&programs(&f, &g));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let answer = robustness.answer(&database, &app, level, &Question::default(), &[], Effort::default());
        let answer = answer.expect("it runs");
        let expected = if is_robust { Verdict::Serializable } else { Verdict::NotRobust };
        assert_eq!(answer.verdict, expected, "{f} {g} at {level}");
    }
}

/// Whether the graph finds a cycle in an application with one table of counters.
fn is_suspected(programs: &str, level: Level) -> bool {
    let text = format!(
        "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL DEFAULT 0);
         INSERT INTO t VALUES (1, 1, 0), (2, 1, 0), (3, 1, 0);
         CREATE SEQUENCE s; CREATE SEQUENCE other; CREATE SEQUENCE round MAXVALUE 3 CYCLE;
         {programs}"
    );
    let (database, app) = crate::load(&text);
    let robustness = Robustness::of(&database, &app).expect("an application");
    !robustness.cycles(level, &Question::default()).suspects.is_empty()
}

#[test]
fn a_value_of_a_sequence_is_new_unless_another_one_gives_it_or_it_begins_again() {
    let count = |name: &str, value: &str| {
        format!(
            "CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$ DECLARE k int; n int; BEGIN n := {value};
             SELECT v INTO k FROM t WHERE id = n; UPDATE t SET v = k + 1 WHERE id = n; END $$;"
        )
    };
    assert!(!is_suspected(&count("a", "nextval('s')"), Level::Mvrc));
    assert!(is_suspected(&count("a", "nextval('round')"), Level::Mvrc));
    let two = count("a", "nextval('s')") + &count("b", "nextval('other')");
    assert!(is_suspected(&two, Level::Mvrc));
    let set = "CREATE PROCEDURE again() LANGUAGE plpgsql AS $$ BEGIN PERFORM setval('s', 1); END $$;";
    assert!(is_suspected(&(count("a", "nextval('s')") + set), Level::Mvrc));
}

#[test]
fn who_locks_a_key_lets_others_change_the_rest() {
    let skew = |lock: &str| {
        format!(
            "CREATE PROCEDURE a(x int, y int) LANGUAGE plpgsql AS $$ BEGIN
             PERFORM 1 FROM t WHERE id = y {lock};
             IF (SELECT v FROM t WHERE id = y) = 1 THEN UPDATE t SET v = 0 WHERE id = x; END IF; END $$;"
        )
    };
    assert!(!is_suspected(&skew("FOR SHARE"), Level::Mvrc));
    assert!(is_suspected(&skew("FOR KEY SHARE"), Level::Mvrc));
}

#[test]
fn a_row_that_is_skipped_is_there_all_the_same() {
    let app = "CREATE PROCEDURE a() LANGUAGE plpgsql AS $$ DECLARE k int; n int; BEGIN
        SELECT id INTO k FROM t WHERE id = 1 FOR UPDATE SKIP LOCKED;
        IF k IS NOT NULL THEN SELECT v INTO n FROM t WHERE id = 2; UPDATE t SET v = n + 1 WHERE id = 3;
        ELSE SELECT v INTO n FROM t WHERE id = 3; UPDATE t SET v = n + 1 WHERE id = 2; END IF; END $$;";
    for level in [Level::Si, Level::Psi, Level::Mvrc] {
        assert!(is_suspected(app, level), "{level}");
    }
}
