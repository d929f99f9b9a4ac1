//! Random programs through SQL: whatever sessions do, at any level and mixture of levels, is within their levels; and at
//! `ser` it is what the same transactions do one after the other.
//!
//! `SKEW_RANDOM=20000 cargo test -p skew-sql soundness` for as many runs.

use std::collections::BTreeMap;

use skew_model::Level;
use skew_sql::session::{ChoiceKind, Constraints, Granularity, Options};
use skew_store::Recency;
use skew_testing::Dice;

use crate::sessions::Sessions;

const LEVELS: [Level; 9] =
    [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

/// Some tables have keys, some have indexes, some have neither, and some have constraints over several columns.
const SETUPS: [&str; 4] = [
    "CREATE TABLE a (id int PRIMARY KEY, v int, k int UNIQUE);
     CREATE TABLE p (id int PRIMARY KEY, n int);
     CREATE TABLE c (id int PRIMARY KEY, pid int REFERENCES p ON DELETE CASCADE, x int);
     INSERT INTO a VALUES (1, 10, 1), (2, 20, 2);
     INSERT INTO p VALUES (1, 0), (2, 0);
     INSERT INTO c VALUES (1, 1, 0)",
    "CREATE TABLE a (id int, v int, k int, PRIMARY KEY (id));
     CREATE INDEX by_value ON a (v, k);
     CREATE UNIQUE INDEX positive ON a (k) WHERE k > 1;
     CREATE TABLE p (id int UNIQUE, n int);
     CREATE TABLE c (id int, pid int REFERENCES p (id) ON UPDATE CASCADE ON DELETE SET NULL, x int);
     INSERT INTO a VALUES (1, 10, 1), (2, 20, 2);
     INSERT INTO p VALUES (1, 0), (2, 0);
     INSERT INTO c VALUES (1, 1, 0)",
    "CREATE TABLE a (id int, v int, k int);
     CREATE INDEX by_value ON a (v);
     CREATE INDEX by_id ON a (id);
     CREATE TABLE p (id int PRIMARY KEY, n int);
     CREATE TABLE c (id int PRIMARY KEY, pid int REFERENCES p DEFERRABLE INITIALLY DEFERRED, x int);
     INSERT INTO a VALUES (1, 10, 1), (2, 20, 2);
     INSERT INTO p VALUES (1, 0), (2, 0);
     INSERT INTO c VALUES (1, 1, 0)",
    "CREATE TABLE a (id int PRIMARY KEY, v int, k int, g int GENERATED ALWAYS AS (v * 10 + k) STORED, CHECK (v + k < 27));
     CREATE UNIQUE INDEX sums ON a ((v + k));
     CREATE TABLE p (id int PRIMARY KEY, n int);
     CREATE TABLE c (id int PRIMARY KEY DEFERRABLE, pid int DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT, x int);
     INSERT INTO a VALUES (1, 10, 1), (2, 20, 2);
     INSERT INTO p VALUES (1, 0), (2, 0);
     INSERT INTO c VALUES (1, 1, 0)",
];

/// `{k}` is a small key, `{v}` a value.
const STATEMENTS: [&str; 30] = [
    "SELECT v FROM a WHERE id = {k}",
    "SELECT id, v FROM a ORDER BY id, v",
    "SELECT id FROM a WHERE v > {v} ORDER BY id",
    "SELECT count(*), sum(v) FROM a",
    "SELECT id, k FROM a WHERE k = {k} ORDER BY id",
    "SELECT a.id, p.n FROM a JOIN p ON p.id = a.id ORDER BY 1, 2",
    "SELECT id FROM a WHERE v = (SELECT max(v) FROM a) ORDER BY id",
    "SELECT c.id, p.n FROM c LEFT JOIN p ON p.id = c.pid ORDER BY 1, 2",
    "SELECT v FROM a WHERE id = {k} FOR UPDATE",
    "SELECT v FROM a WHERE id = {k} FOR SHARE",
    "SELECT id FROM a WHERE v > {v} ORDER BY id FOR NO KEY UPDATE",
    "UPDATE a SET v = v + 1 WHERE id = {k}",
    "UPDATE a SET v = v + 1",
    "UPDATE a SET v = {v} WHERE v > {v} RETURNING id, v",
    "UPDATE a SET v = (SELECT sum(v) FROM a) WHERE id = {k} RETURNING v",
    "UPDATE a SET k = {k} WHERE id = {k}",
    "UPDATE a SET id = id + 10 WHERE id = {k}",
    "UPDATE a SET v = p.n FROM p WHERE p.id = a.id",
    "INSERT INTO a VALUES ({k}, {v}, {k})",
    "INSERT INTO a VALUES ({k}, {v}, NULL)",
    "INSERT INTO a SELECT max(id) + 1, {v}, NULL FROM a",
    "DELETE FROM a WHERE id = {k}",
    "DELETE FROM a WHERE v > {v} RETURNING id",
    "INSERT INTO c VALUES ({k}, {k}, 0)",
    "UPDATE c SET pid = {k} WHERE id = {k}",
    "DELETE FROM c WHERE pid = {k}",
    "DELETE FROM p WHERE id = {k}",
    "INSERT INTO p VALUES ({k}, {v})",
    "UPDATE p SET n = n + 1 WHERE id = {k}",
    "UPDATE p SET id = id + 10 WHERE id = {k}",
];

/// What is compared at the end of a run at `ser`.
const TABLES: [&str; 3] =
    ["SELECT * FROM a ORDER BY 1, 2, 3", "SELECT * FROM p ORDER BY 1, 2", "SELECT * FROM c ORDER BY 1, 2, 3"];

/// A transaction: its level, its statements, how it ends.
#[derive(Clone)]
struct Transaction {
    level: Level,
    statements: Vec<String>,
}

/// What sessions do, in one order: session and statement; BEGIN has its level.
struct Program {
    sessions: usize,
    transactions: Vec<Vec<Transaction>>,
    order: Vec<usize>,
}

fn program(dice: &mut Dice, most: usize, level: &dyn Fn(&mut Dice) -> Level) -> Program {
    let sessions = 2 + dice.roll(3);
    let kinds: Vec<&str> = (0..3 + dice.roll(4)).map(|_| dice.pick(&STATEMENTS)).collect();
    let mut transactions: Vec<Vec<Transaction>> = vec![Vec::new(); sessions];
    for at in 0..sessions.max(2 + dice.roll(most - 1)).min(most.max(sessions)) {
        let session = if at < sessions { at } else { dice.roll(sessions) };
        let level = level(dice);
        let mut statements = vec!["BEGIN".to_owned()];
        for _ in 0..1 + dice.roll(3) {
            let savepoint = dice.roll(12);
            if savepoint == 0 {
                statements.push("SAVEPOINT s".to_owned());
            }
            statements.push(filled_in(dice.pick(&kinds), dice));
            if savepoint == 0 {
                statements.push(dice.pick(&["ROLLBACK TO s", "RELEASE s"]).to_owned());
            }
        }
        statements.push(if dice.roll(10) == 0 { "ROLLBACK" } else { "COMMIT" }.to_owned());
        transactions[session].push(Transaction { level, statements });
    }
    let count = |list: &Vec<Transaction>| list.iter().map(|transaction| transaction.statements.len()).sum::<usize>();
    let mut left: Vec<usize> = transactions.iter().map(count).collect();
    let mut order = Vec::new();
    while left.iter().any(|left| *left > 0) {
        let session = dice.roll(sessions);
        if left[session] > 0 {
            left[session] -= 1;
            order.push(session);
        }
    }
    Program { sessions, transactions, order }
}

fn filled_in(template: &str, dice: &mut Dice) -> String {
    let mut text = template.to_owned();
    while let Some(at) = text.find('{') {
        let number = if text[at..].starts_with("{k}") { 1 + dice.roll(3) } else { 5 + 10 * dice.roll(3) };
        text.replace_range(at..at + 3, &number.to_string());
    }
    text
}

/// What a program's statements came to, by session and transaction.
struct Ran {
    answers: Vec<Vec<Vec<String>>>,
    text: String,
}

impl Program {
    fn run(&self, sessions: &mut Sessions) -> Ran {
        let answers = self.transactions.iter().map(|list| vec![Vec::new(); list.len()]).collect();
        let mut ran = Ran { answers, text: String::new() };
        // Where each session stands: transaction, statement.
        let mut places = vec![(0, 0); self.sessions];
        let mut last = BTreeMap::new();
        let mut left: Vec<usize> = self.order.clone();
        while let Some(at) = left.iter().position(|&session| sessions.is_free(session + 1)) {
            let session = left.remove(at);
            let (number, statement) = places[session];
            let transaction = &self.transactions[session][number];
            let sql = &transaction.statements[statement];
            let ends = statement + 1 == transaction.statements.len();
            places[session] = if ends { (number + 1, 0) } else { (number, statement + 1) };
            if sql == "BEGIN" {
                sessions.control(&format!("SELECT skew.isolation('{}')", transaction.level));
            }
            last.insert(session, number);
            let back = sessions.step(session + 1, sql);
            ran.text.push_str(&format!("T{} @{} {sql} -> {back:?}\n", session + 1, transaction.level));
            for (other, answer) in back {
                ran.answers[other - 1][last[&(other - 1)]].push(answer);
            }
        }
        sessions.end();
        ran
    }
}

fn runs() -> u64 {
    std::env::var("SKEW_RANDOM").ok().and_then(|runs| runs.parse().ok()).unwrap_or(300)
}

fn options(seed: u64, dice: &mut Dice) -> Options {
    Options {
        recency: dice.pick(&[Recency::None, Recency::Commit]),
        choice: dice.pick(&[ChoiceKind::Random, ChoiceKind::Old, ChoiceKind::Fresh, ChoiceKind::Postgres]),
        seed,
        granularity: dice.pick(&[Granularity::Cell, Granularity::Cell, Granularity::Row]),
        constraints: dice.pick(&[Constraints::Strong, Constraints::Strong, Constraints::Weak]),
        ..Options::default()
    }
}

fn stays_within_its_levels(seed: u64, level: &dyn Fn(&mut Dice) -> Level) -> (usize, usize) {
    let mut dice = Dice(seed);
    let program = program(&mut dice, 7, level);
    let (options, setup) = (options(seed, &mut dice), dice.pick(&SETUPS));
    let mut sessions = Sessions::open(options.clone(), program.sessions, setup);
    let ran = program.run(&mut sessions);
    if let Some(complaint) = sessions.complaint() {
        panic!("seed {seed}, {options:?}\n{setup}\n{}{complaint}", ran.text);
    }
    let ends: Vec<&String> = ran.answers.iter().flatten().filter_map(|answers| answers.last()).collect();
    let unexpected = ran.answers.iter().flatten().flatten().find(|answer| {
        let known = ["40001", "40P01", "25P02", "23505", "23503", "23502", "23514", "42P10", "3B001"];
        answer.strip_prefix("ERROR ").is_some_and(|code| !known.contains(&code))
    });
    assert_eq!(unexpected, None, "seed {seed}, {options:?}\n{setup}\n{}", ran.text);
    (ends.iter().filter(|end| *end == &"COMMIT").count(), ends.len())
}

#[test]
fn every_level_keeps_to_itself() {
    for level in LEVELS {
        let (mut committed, mut all) = (0, 0);
        for seed in 0..runs() / 4 {
            let (more, of) = stays_within_its_levels(seed, &|_| level);
            committed += more;
            all += of;
        }
        println!("{level}: {committed} of {all} transactions committed");
        assert!(2 * committed > all / 2, "{level}: only {committed} of {all} transactions committed");
    }
}

#[test]
fn mixtures_keep_to_each_others_levels() {
    for seed in 0..runs() {
        stays_within_its_levels(1_000_000 + seed, &|dice| LEVELS[dice.roll(LEVELS.len())]);
    }
}

/// What a serial run of committed transactions in this order gives: answers and tables.
fn serially(transactions: &[&Transaction], setup: &str) -> (Vec<Vec<String>>, [String; 3]) {
    let options = Options { choice: ChoiceKind::Postgres, level: Some(Level::Ser), ..Options::default() };
    let mut sessions = Sessions::open(options, 1, setup);
    let mut answers = Vec::new();
    for transaction in transactions {
        let answer = |sql: &String| sessions.step(1, sql).remove(0).1;
        answers.push(transaction.statements.iter().map(answer).collect());
    }
    (answers, TABLES.map(|question| sessions.step(1, question).remove(0).1))
}

/// All orders of so many transactions that keep each session's.
fn orders(sessions: &[usize]) -> Vec<Vec<usize>> {
    fn extend(sessions: &[usize], order: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
        if order.len() == sessions.len() {
            orders.push(order.clone());
        }
        for next in (0..sessions.len()).filter(|next| !order.contains(next)).collect::<Vec<_>>() {
            let earlier = (0..next).any(|other| sessions[other] == sessions[next] && !order.contains(&other));
            if !earlier {
                order.push(next);
                extend(sessions, order, orders);
                order.pop();
            }
        }
    }
    let mut found = Vec::new();
    extend(sessions, &mut Vec::new(), &mut found);
    found
}

#[test]
fn serializable_transactions_do_what_they_do_one_after_the_other() {
    let mut aborted = 0;
    for seed in 0..runs() / 3 {
        let mut dice = Dice(2_000_000 + seed);
        let program = program(&mut dice, 5, &|_| Level::Ser);
        let options = Options { constraints: Constraints::Strong, ..options(seed, &mut dice) };
        let setup = dice.pick(&SETUPS);
        let mut sessions = Sessions::open(options.clone(), program.sessions, setup);
        let ran = program.run(&mut sessions);
        sessions.control("SELECT skew.checking(true)");
        let tables = TABLES.map(|question| sessions.control(question));
        let mut committed: Vec<(usize, &Transaction, &Vec<String>)> = Vec::new();
        for (session, list) in program.transactions.iter().enumerate() {
            for (transaction, answers) in list.iter().zip(&ran.answers[session]) {
                match answers.last().map(String::as_str) {
                    Some("COMMIT") => committed.push((session, transaction, answers)),
                    _ => aborted += 1,
                }
            }
        }
        // A savepoint lets a transaction go on whose statement has failed. That a level refuses a statement is not what it
        // does when it is alone; and as in PostgreSQL, why a constraint fails is not among what a transaction reads.
        let mut errors = committed
            .iter()
            .flat_map(|(.., answers)| answers.iter())
            .filter_map(|answer| answer.strip_prefix("ERROR "));
        if errors.any(|code| options.choice == ChoiceKind::Postgres || matches!(code, "40001" | "40P01")) {
            continue;
        }
        let owners: Vec<usize> = committed.iter().map(|(session, ..)| *session).collect();
        let explained = orders(&owners).into_iter().any(|order| {
            let in_order: Vec<&Transaction> = order.iter().map(|&at| committed[at].1).collect();
            let (answers, end) = serially(&in_order, setup);
            let same = order.iter().zip(&answers).all(|(&at, answers)| answers == committed[at].2);
            same && end == tables
        });
        assert!(explained, "seed {seed}, {options:?}\n{setup}\n{}{tables:?}", ran.text);
    }
    println!("{aborted} transactions did not commit");
}
