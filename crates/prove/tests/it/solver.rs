//! What the solver says about applications. Without z3 these tests say so and pass.

use std::collections::BTreeSet;
use std::time::Duration;

use skew_check::check;
use skew_model::{History, Level};
use skew_prove::graph::Graph;
use skew_prove::robust::answer::{Answer, Argument, Effort, Engine, Verdict};
use skew_prove::robust::{Question, Robustness};
use skew_prove::smt::axioms::Axioms;
use skew_prove::smt::encode::Isolation;
use skew_prove::smt::proof::{Paths, no_long_path};
use skew_prove::smt::recorded::history_is_within;
use skew_prove::smt::search::cycles;
use skew_prove::smt::solver::{Said, Solver};
use skew_prove::suspect::Suspect;
use skew_testing::Dice;

use crate::{example, load};

/// Whether there is a solver to ask.
pub fn has_solver() -> bool {
    skew_testing::available("z3", Solver::default().start().is_ok())
}

/// The different cycles of so many transactions, without sessions.
fn cycles_of(name: &str, level: Level, length: usize, prepare: impl Fn(&mut Isolation)) -> Vec<String> {
    let (database, app) = load(&example(&format!("{name}.sql")));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let summary = robustness.summary(level);
    let programs: Vec<usize> = (0..summary.programs.len()).collect();
    let mut isolation = Isolation::uniform(level, programs.len(), false);
    prepare(&mut isolation);
    let graph = Graph::with(summary, &programs, isolation.writers());
    let found = cycles(&Solver::default(), &graph, &isolation, length, level).expect("z3 is there");
    assert_eq!(found.limit, None, "{name} at {level}");
    let mut words: Vec<String> = found
        .suspects
        .iter()
        .map(|suspect| {
            let edges = suspect.edges.iter();
            let words = edges.map(|edge| (&summary.programs[suspect.calls[edge.from].program].name, edge.kind.name()));
            let words: Vec<String> = words.map(|(program, kind)| format!("{program} -{kind}->")).collect();
            let turns = (0..words.len()).map(|at| [&words[at..], &words[..at]].concat().join(" "));
            turns.min().expect("a cycle has edges")
        })
        .collect();
    words.sort();
    words
}

fn answer(name: &str, level: Level, question: &Question, engine: Engine) -> Answer {
    let (database, app) = load(&example(&format!("{name}.sql")));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let effort = Effort { engine, ..Effort::default() };
    robustness.answer(&database, &app, level, question, &[], effort).expect("it can be asked")
}

fn without_sessions() -> Question {
    Question { sessions: false, ..Question::default() }
}

/// The pairs that Nagar and Jagannathan run serializably in their courseware.
fn serialized() -> Vec<(String, String)> {
    let pairs = [
        ("add_course", "add_course"),
        ("add_student", "add_student"),
        ("enroll", "rem_course"),
        ("enroll", "rem_student"),
    ];
    pairs.map(|(one, other)| (one.to_owned(), other.to_owned())).to_vec()
}

/// Nagar and Jagannathan, CONCUR 2018, section 2: withdrawals lose updates at EC with two transactions; at PSI no path of
/// four dependencies is without a shorter one, and there are no cycles of up to four.
#[test]
fn withdrawals() {
    if !has_solver() {
        return;
    }
    let found = cycles_of("withdraw", Level::Ec, 2, |_| {});
    assert_eq!(found, ["withdraw -rw-> withdraw -ww->"]);
    let (database, app) = load(&example("withdraw.sql"));
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let isolation = Isolation::uniform(Level::Psi, 1, false);
    let graph = Graph::of(robustness.summary(Level::Psi), &[0]);
    let path = |length, paths| {
        no_long_path(&Solver::default(), &graph, &isolation, length, paths).expect("z3 is there").answer
    };
    assert_eq!(path(4, Paths::All), Said::Sat);
    assert_eq!(path(5, Paths::All), Said::Unsat);
    // It is enough to look at those to the first one.
    assert_eq!(path(3, Paths::ToTheFirst), Said::Unsat);
    for length in 2..=4 {
        assert_eq!(cycles_of("withdraw", Level::Psi, length, |_| {}), Vec::<String>::new());
    }
}

/// Nagar and Jagannathan, section 6: three kinds of anomalies at EC with two transactions. Our programs also remove courses
/// and students, which two transactions can do at the same time.
#[test]
fn a_courseware_without_isolation() {
    if !has_solver() {
        return;
    }
    let found = cycles_of("courseware_seats", Level::Ec, 2, |_| {});
    for published in [
        "add_course -rw-> add_course -rw->",
        "add_student -rw-> add_student -rw->",
        "enroll -rw-> enroll -ww->",
        "enroll -rw-> rem_course -rw->",
        "enroll -rw-> rem_student -rw->",
    ] {
        assert!(found.contains(&published.to_owned()), "{published} is not among {found:#?}");
    }
}

/// The same: with PSI and those pairs serializable, nothing with two or three transactions, and with four a long fork of two
/// enrolments, one of which sees the student and the other one the course.
#[test]
fn a_courseware_with_serializable_pairs_at_psi() {
    if !has_solver() {
        return;
    }
    let pairs = serialized();
    let serialize = |isolation: &mut Isolation| pairs.iter().for_each(|(one, other)| isolation.serialize(one, other));
    for length in [2, 3] {
        assert_eq!(cycles_of("courseware_seats", Level::Psi, length, serialize), Vec::<String>::new());
    }
    let found = cycles_of("courseware_seats", Level::Psi, 4, serialize);
    let fork = "add_course -wr-> enroll -rw-> add_student -wr-> enroll -rw->";
    assert!(found.contains(&fork.to_owned()), "{found:#?}");
}

/// The same: with SI it is serializable. (They prove it by shortest paths; by induction it takes fewer transactions.)
#[test]
fn a_courseware_with_serializable_pairs_at_si() {
    if !has_solver() {
        return;
    }
    let question = Question { pairs: serialized(), ..without_sessions() };
    let answer = answer("courseware_seats", Level::Si, &question, Engine::Both);
    let Verdict::Robust { by: Argument::Solver(proof) } = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert!(proof.argument.starts_with("by induction"), "{}", proof.argument);
    let (last, others) = proof.scripts.split_last().expect("a proof has scripts");
    for script in others.iter().chain([last]) {
        assert_eq!(script.ask(&Solver::default()), Ok(Said::Unsat), "{}", script.purpose);
    }
}

/// Nagar and Jagannathan, section 6: TPC-C at SI by induction, with new_order and payment first and then delivery. (With
/// deliveries of all districts in one transaction it is not serializable, see the application.) At PSI nothing with two or
/// three transactions, and long forks with four.
#[test]
fn orders_by_induction() {
    if !has_solver() {
        return;
    }
    let at_si = answer("tpcc_by_district", Level::Si, &without_sessions(), Engine::Solver);
    let Verdict::Robust { by: Argument::Solver(proof) } = at_si.verdict else { panic!("{:?}", at_si.verdict) };
    let rounds: Vec<&str> = proof.argument.split(": ").last().expect("rounds").split("; then ").collect();
    let [first, second] = rounds[..] else { panic!("{}", proof.argument) };
    assert!(first.contains("new_order") && first.contains("payment"), "{first}");
    assert!(second.contains("delivery"), "{second}");
    for length in [2, 3] {
        assert_eq!(cycles_of("tpcc_by_district", Level::Psi, length, |_| {}), Vec::<String>::new());
    }
    let found = cycles_of("tpcc_by_district", Level::Psi, 4, |_| {});
    let forks = [
        "new_order -wr-> order_status -rw-> payment -wr-> order_status -rw->",
        "new_order -wr-> stock_level -rw-> new_order -wr-> stock_level -rw->",
    ];
    for fork in forks {
        assert!(found.contains(&fork.to_owned()), "{fork} is not among {found:#?}");
    }
    let lost = cycles_of("tpcc_by_district", Level::Ec, 2, |_| {});
    assert!(lost.contains(&"payment -rw-> payment -ww->".to_owned()), "{lost:#?}");
}

/// A name that is no word of the axioms' language is a program's name all the same.
#[test]
fn programs_with_names_in_quotes_can_be_serialized() {
    let text = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL); INSERT INTO a VALUES (1, 1);
        CREATE PROCEDURE \"take-one\"() LANGUAGE plpgsql AS $$
        DECLARE x int; BEGIN SELECT v INTO x FROM a WHERE id = 1; UPDATE a SET v = x - 1 WHERE id = 1; END $$";
    let (database, app) = load(text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let pair = ("take-one".to_owned(), "take-one".to_owned());
    let question = Question { pairs: vec![pair], ..Question::default() };
    let answer = robustness.answer(&database, &app, Level::Cc, &question, &[], Effort::default());
    let verdict = answer.expect("it can be asked").verdict;
    assert!(!has_solver() || matches!(verdict, Verdict::Robust { .. }), "{verdict:?}");
}

/// What the graph says about published applications the solver proves as well, where it has a proof.
#[test]
fn proofs_by_induction_at_si() {
    if !has_solver() {
        return;
    }
    for name in ["auction", "currency_exchange", "fusion_ticket", "roomstore", "shopping_cart"] {
        let answer = answer(name, Level::Si, &Question::default(), Engine::Solver);
        let by_solver = matches!(answer.verdict, Verdict::Robust { by: Argument::Solver(_) });
        assert!(by_solver, "{name}: {:?}", answer.verdict);
    }
}

/// Beillahi, Bouajjani and Enea, CAV 2019, figure 5 and section 8: serializable at SI, which takes an argument by movers.
/// Neither the graph nor the solver excludes two writers whose conditions exclude each other, or two that add a warehouse
/// after counting warehouses, and no run shows them.
#[test]
fn what_takes_movers_is_left_open() {
    for (name, pair) in [("figure5", "t1 -rw-> t2 -rw->"), ("tpcc_plus", "add_warehouse -rw-> add_warehouse -rw->")] {
        let (database, app) = load(&example(&format!("{name}.sql")));
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let effort = Effort { level: Duration::from_secs(1), ..Effort::default() };
        let answer = robustness.answer(&database, &app, Level::Si, &Question::default(), &[], effort);
        let answer = answer.expect("it can be asked");
        assert_eq!(answer.verdict, Verdict::Possible, "{name}");
        let summary = robustness.summary(Level::Si);
        let is_pair = |suspect: &Suspect| {
            let edges = suspect.edges.iter();
            let name = |call: usize| &summary.programs[suspect.calls[call].program].name;
            let words = edges.map(|edge| format!("{} -{}->", name(edge.from), edge.kind.name()));
            words.collect::<Vec<_>>().join(" ") == pair
        };
        assert!(answer.possible.iter().any(|(suspect, _)| is_pair(suspect)), "{name}");
    }
}

/// Applications that are not serializable, and of which the solver had a proof: an update that is undone after an error has
/// read what it would have overwritten; who locks a row is overwritten by whoever comes after it; the only transaction that
/// can insert a row is in a cycle of two; who runs at `cc` does not see what was before somebody at `si`; and who runs at
/// `ec` does not see its session.
#[test]
fn what_the_solver_took_for_sure_once() {
    if !has_solver() {
        return;
    }
    let undone = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);
        CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM a WHERE id = p; END $$;
        CREATE PROCEDURE g(p int) LANGUAGE plpgsql AS $$
        BEGIN UPDATE a SET v = (SELECT count(*) FROM a) WHERE id = p; END $$;
        CREATE PROCEDURE h() LANGUAGE plpgsql AS $$
        BEGIN
          BEGIN UPDATE a SET v = v + 1 WHERE id = 2; EXCEPTION WHEN division_by_zero THEN NULL; END;
        END $$";
    let locked = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);
        CREATE TABLE b (id int PRIMARY KEY, n int);
        CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$
        DECLARE x int; BEGIN SELECT v INTO x FROM a WHERE id = p FOR UPDATE; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$
        DECLARE x int; BEGIN SELECT count(*) INTO x FROM b; UPDATE a SET v = 1 WHERE id = 1; END $$;
        CREATE PROCEDURE h(p int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO b VALUES (p, p); END $$";
    let only_one = "CREATE TABLE x (k int PRIMARY KEY, v int NOT NULL);
        CREATE TABLE y (k int PRIMARY KEY, v int NOT NULL);
        CREATE TABLE done (k int PRIMARY KEY);
        CREATE PROCEDURE f(a int) LANGUAGE plpgsql AS $$
        DECLARE n int;
        BEGIN
          INSERT INTO done (k) VALUES (a);
          SELECT v INTO STRICT n FROM x WHERE k = a FOR UPDATE;
          UPDATE y SET v = n + 1 WHERE k = a;
        END $$;
        CREATE PROCEDURE g(a int) LANGUAGE plpgsql AS $$
        DECLARE n int;
        BEGIN SELECT v INTO STRICT n FROM y WHERE k = a; UPDATE x SET v = n + 1 WHERE k = a; END $$";
    let seen_before = "CREATE TABLE x (id int PRIMARY KEY, v int NOT NULL);
        CREATE TABLE m (id int PRIMARY KEY, v int NOT NULL);
        CREATE TABLE n (id int PRIMARY KEY);
        CREATE TABLE df (id int PRIMARY KEY);
        CREATE TABLE dh (id int PRIMARY KEY);
        INSERT INTO x VALUES (1, 0); INSERT INTO m VALUES (1, 0);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO df (id) VALUES (1); UPDATE x SET v = 1 WHERE id = 1; UPDATE m SET v = 1 WHERE id = 1;
        END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$
        BEGIN UPDATE m SET v = 2 WHERE id = 1; INSERT INTO n (id) VALUES (1); END $$;
        COMMENT ON PROCEDURE g IS '@isolation si';
        CREATE PROCEDURE h() LANGUAGE plpgsql AS $$
        DECLARE y int;
        BEGIN
          INSERT INTO dh (id) VALUES (1);
          PERFORM 1 FROM n WHERE id = 1;
          IF NOT FOUND THEN RAISE EXCEPTION 'not yet'; END IF;
          SELECT v INTO y FROM x WHERE id = 1;
        END $$";
    let own_session = "CREATE TABLE d (id int PRIMARY KEY);
        CREATE TABLE e (id int PRIMARY KEY);
        CREATE TABLE x (id int PRIMARY KEY, v int NOT NULL);
        INSERT INTO x VALUES (1, 0);
        CREATE PROCEDURE f() LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO d (id) VALUES (1); UPDATE x SET v = 1 WHERE id = 1; END $$;
        CREATE PROCEDURE g() LANGUAGE plpgsql AS $$
        DECLARE y int; BEGIN INSERT INTO e (id) VALUES (1); SELECT v INTO y FROM x WHERE id = 1; END $$;
        COMMENT ON PROCEDURE g IS '@isolation ec'";
    let all = [
        (undone, Level::Si),
        (locked, Level::Si),
        (only_one, Level::Si),
        (seen_before, Level::Cc),
        (own_session, Level::Si),
    ];
    for (text, level) in all {
        let (database, app) = load(text);
        let robustness = Robustness::of(&database, &app).expect("its procedures are there");
        let solved = robustness.solve(level, &Question::default(), Effort::default());
        let proof = solved.and_then(|solved| solved.expect("z3 is there").proof);
        assert_eq!(proof, None, "{text}");
    }
}

/// A level in words: the same as the named one.
#[test]
fn a_level_that_is_written_out_is_the_level() {
    if !has_solver() {
        return;
    }
    let words = "forall a b c: vis(a, b) and vis(b, c) => vis(a, c)  -- causal\nforall a b: ww(a, b) => vis(a, b)";
    let axioms = Axioms::parse(words).expect("it can be read");
    for length in 2..=4 {
        let written = cycles_of("smallbank", Level::Ec, length, |isolation| {
            isolation.levels.fill(None);
            isolation.axioms = axioms.clone();
        });
        // Where somebody reads what it overwrites, either can be told.
        let kinds = |cycles: Vec<String>| -> BTreeSet<String> {
            cycles.iter().map(|cycle| cycle.replace("-wr->", "-w->").replace("-ww->", "-w->")).collect()
        };
        assert_eq!(kinds(written), kinds(cycles_of("smallbank", Level::Psi, length, |_| {})));
    }
}

/// A run is found of a level that no database has: no lost updates, but nothing else either.
#[test]
fn a_run_within_a_level_that_is_written_out() {
    if !has_solver() {
        return;
    }
    let question =
        |words: &str| Question { axioms: Some(Axioms::parse(words).expect("it can be read")), ..Question::default() };
    let weak = answer("withdraw", Level::Ra, &question(""), Engine::Both);
    assert_eq!(weak.verdict, Verdict::NotRobust);
    let strong = answer("withdraw", Level::Ra, &question("forall a b: ar(a, b) => vis(a, b)"), Engine::Both);
    assert!(matches!(strong.verdict, Verdict::Robust { .. }), "{:?}", strong.verdict);
}

#[test]
fn what_is_no_level_says_where() {
    let wrong = [
        ("forall a: vis(a, b)", "line 1: there is no transaction b before `:`"),
        ("\nexists a: vis(a, a)", "line 2: a level is made of lines that read `forall a b: … => …`"),
        ("forall a b: exists c", "line 1: there is no `exists`: a level speaks of all transactions"),
        ("forall a a: vis(a, a)", "line 1: a stands there twice"),
        ("forall a b: vis(a, b) =>", "line 1: the line ends, where the name of a transaction was expected"),
        ("forall a b: vis(a b)", "line 1: there is `b`, where `,` was expected"),
        ("forall a b c d e: vis(a, b)", "line 1: one to 4 transactions can be spoken of"),
        ("forall a b: vis(a, b) % 2", "line 1: `%` was not expected here"),
        ("forall a b: vis(a, b) vis(a, b)", "line 1: `vis` was not expected here"),
    ];
    for (text, message) in wrong {
        assert_eq!(Axioms::parse(text).map_err(|error| error.to_string()), Err(message.to_owned()));
    }
    let deep = format!("forall a b: {}vis(a, b){}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(Axioms::parse(&deep).is_err());
    let deep = format!("forall a b: {}vis(a, b)", "not ".repeat(5_000));
    assert!(Axioms::parse(&deep).is_err());
}

/// The levels as axioms over who has seen whom are the levels as the checker defines them, on small histories with sessions.
/// `SKEW_EXHAUSTIVE=1` compares more of them.
#[test]
fn levels_in_axioms_are_the_levels_of_the_checker() {
    if !has_solver() {
        return;
    }
    let seeds = if std::env::var_os("SKEW_EXHAUSTIVE").is_some() { 1_000 } else { 40 };
    for seed in 0..seeds {
        let history = small_history(seed);
        for level in [Level::Ec, Level::Ra, Level::Cc, Level::Pc, Level::Psi, Level::Si, Level::Ser] {
            let is_within = history_is_within(&Solver::default(), &history, level, true).expect("z3 is there");
            let checked = check(&history, level).holds();
            assert_eq!(is_within, Some(checked), "{level}:\n{history}");
        }
    }
}

/// A few transactions that read from each other at random, and write values of their own.
fn small_history(seed: u64) -> History {
    let mut dice = Dice(seed);
    let mut below = |bound: u64| dice.bits() % bound;
    let (count, keys) = (2 + below(3), ["x", "y"]);
    let written: Vec<Vec<u64>> = (0..count).map(|_| (0..2).map(|_| below(2)).collect()).collect();
    let mut text = String::from("init x=0 y=0\n");
    for transaction in 0..count {
        let session = below(3);
        text.push_str(&format!("s{session} t{transaction} "));
        for key in 0..2_usize {
            if below(2) == 0 {
                // From whoever writes the key, or from the beginning.
                let writers: Vec<u64> =
                    (0..count).filter(|other| *other != transaction && written[*other as usize][key] == 1).collect();
                let from = below(writers.len() as u64 + 1) as usize;
                let value = writers.get(from).map_or(0, |writer| writer + 1);
                text.push_str(&format!(" r {}={value}", keys[key]));
            }
        }
        for key in (0..2_usize).filter(|key| written[transaction as usize][*key] == 1) {
            text.push_str(&format!(" w {}={}", keys[key], transaction + 1));
        }
        text.push('\n');
    }
    History::parse(&text).expect("a history")
}

/// Whether an application is robust at `si`, by the solver alone.
fn is_robust(text: &str) -> bool {
    let (database, app) = load(text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let effort = Effort { engine: Engine::Solver, ..Effort::default() };
    let answer = robustness.answer(&database, &app, Level::Si, &Question::default(), &[], effort);
    matches!(answer.expect("it can be asked").verdict, Verdict::Robust { .. })
}

/// One looks at rows of `t` and writes that with the id 5; the other reads that and changes another one.
fn looking_and_changing(look: &str, change: &str) -> String {
    format!(
        "CREATE TABLE t (id int PRIMARY KEY, g int NOT NULL, v int NOT NULL);
         CREATE PROCEDURE a(p int) LANGUAGE plpgsql AS $$ DECLARE s int; BEGIN
           {look}
           UPDATE t SET v = s WHERE id = 5; END $$;
         CREATE PROCEDURE b(q int) LANGUAGE plpgsql AS $$ DECLARE s int; BEGIN
           SELECT v INTO s FROM t WHERE id = 5;
           {change} END $$;
         INSERT INTO t VALUES (1, 1, 1), (2, 1, 1), (5, 2, 1), (7, 2, 1), (9, 1, 1);"
    )
}

#[test]
fn who_looks_at_rows_within_limits_meets_those_who_write_such_rows() {
    if !has_solver() {
        return;
    }
    let cases = [
        // Columns of rows that are picked.
        ("SELECT sum(v) INTO s FROM t WHERE id IN (1, 2);", "UPDATE t SET v = s WHERE id = 7;", true),
        ("SELECT sum(v) INTO s FROM t WHERE id IN (1, 7);", "UPDATE t SET v = s WHERE id = 7;", false),
        ("SELECT sum(v) INTO s FROM t WHERE id BETWEEN 1 AND 2;", "UPDATE t SET v = s WHERE id = 7;", true),
        ("SELECT sum(v) INTO s FROM t WHERE id BETWEEN 1 AND 7;", "UPDATE t SET v = s WHERE id = 7;", false),
        ("SELECT sum(v) INTO s FROM t WHERE id < 4;", "UPDATE t SET v = s WHERE id > 6;", true),
        ("SELECT sum(v) INTO s FROM t WHERE g <> 2;", "UPDATE t SET v = s WHERE id = 7 AND g = 2;", true),
        ("SELECT sum(v) INTO s FROM t WHERE g <> 1;", "UPDATE t SET v = s WHERE id = 7 AND g = 2;", false),
        ("SELECT sum(v) INTO s FROM t WHERE id < p;", "IF q < 0 THEN UPDATE t SET v = s WHERE id = 7; END IF;", false),
        // Rows that come: only a range of the key leaves out the others.
        ("SELECT count(*) INTO s FROM t WHERE id < 4;", "IF q > 5 THEN INSERT INTO t VALUES (q, 1, s); END IF;", true),
        ("SELECT count(*) INTO s FROM t WHERE id < 9;", "IF q > 5 THEN INSERT INTO t VALUES (q, 1, s); END IF;", false),
        ("SELECT count(*) INTO s FROM t WHERE g < 1;", "INSERT INTO t VALUES (q, 1, s);", false),
        // Rows behind the first one are not looked at.
        ("SELECT max(id) INTO s FROM t; ASSERT s > 5;", "INSERT INTO t VALUES (3, 1, s);", true),
        ("SELECT max(id) INTO s FROM t; ASSERT s > 5;", "INSERT INTO t VALUES (q, 1, s);", false),
    ];
    for (look, change, robust) in cases {
        assert_eq!(is_robust(&looking_and_changing(look, change)), robust, "{look} {change}");
    }
}

#[test]
fn who_refers_to_a_row_that_is_not_there_does_not_commit() {
    if !has_solver() {
        return;
    }
    let text = "CREATE TABLE member (id int PRIMARY KEY, loans int NOT NULL DEFAULT 0);
         CREATE TABLE loan (id serial PRIMARY KEY, member int NOT NULL REFERENCES member(id));
         CREATE INDEX ON loan (member);
         CREATE PROCEDURE lend(m int) LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN
           SELECT COUNT(*) INTO n FROM loan WHERE member = m;
           UPDATE member SET loans = n + 1 WHERE id = m;
           INSERT INTO loan (member) VALUES (m); END $$;
         INSERT INTO member VALUES (1, 0), (2, 0);";
    assert!(is_robust(text));
    assert!(!is_robust(&text.replace("REFERENCES member(id)", "")));
}

#[test]
fn rows_that_branches_keep_apart_are_not_met_by_any_number_of_transactions() {
    if !has_solver() {
        return;
    }
    let text = |from: &str| {
        format!(
            "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
             CREATE PROCEDURE small(x int) LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN
               IF x < 100 THEN SELECT v INTO n FROM t WHERE id = x; UPDATE t SET v = n WHERE id = 1000; END IF; END $$;
             CREATE PROCEDURE large(y int) LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN
               IF y > {from} THEN SELECT v INTO n FROM t WHERE id = 1000; UPDATE t SET v = n WHERE id = y; END IF; END $$;
             INSERT INTO t VALUES (1, 1), (99, 1), (1000, 1), (500, 1);"
        )
    };
    assert!(is_robust(&text("99")));
    assert!(!is_robust(&text("98")));
}

#[test]
fn who_joins_single_rows_writes_the_one_that_was_read() {
    let text = |found: &str| {
        format!(
            "CREATE TABLE cust (id int PRIMARY KEY, name text UNIQUE NOT NULL);
             CREATE TABLE acc (id int PRIMARY KEY, cust int NOT NULL REFERENCES cust(id), bal int NOT NULL);
             CREATE PROCEDURE wd(who text, a int, v int) LANGUAGE plpgsql AS $$ DECLARE b int; i int; BEGIN
               SELECT acc.id, acc.bal INTO i, b FROM acc JOIN cust ON cust.id = acc.cust
                 WHERE cust.name = who AND acc.id = a;
               IF b >= v THEN UPDATE acc SET bal = b - v WHERE id = {found}; END IF; END $$;
             INSERT INTO cust VALUES (1, 'ann'); INSERT INTO acc VALUES (1, 1, 10), (2, 1, 10);"
        )
    };
    if has_solver() {
        assert!(is_robust(&text("i")));
        assert!(!is_robust(&text("3 - i")));
    }
}

#[test]
fn who_has_seen_a_largest_value_does_not_find_a_smaller_one_later() {
    if !has_solver() {
        return;
    }
    let text = |condition: &str, more: &str| {
        format!(
            "CREATE TABLE log (id int PRIMARY KEY);
             CREATE TABLE c (id int PRIMARY KEY, v int NOT NULL);
             CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ DECLARE m int; BEGIN
               SELECT max(id) INTO m FROM log;
               IF m >= 0 THEN UPDATE c SET v = m WHERE id = 1; END IF; END $$;
             CREATE PROCEDURE q(i int) LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN
               SELECT v INTO n FROM c WHERE id = 1;
               IF {condition} THEN INSERT INTO log VALUES (i); END IF; END $$;
             {more}
             INSERT INTO log VALUES (5); INSERT INTO c VALUES (1, 1);"
        )
    };
    assert!(is_robust(&text("i < 0", "")));
    assert!(!is_robust(&text("i < 1", "")));
    let goes = "CREATE PROCEDURE r(i int) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM log WHERE id = i; END $$;";
    assert!(!is_robust(&text("i < 0", goes)));
}
