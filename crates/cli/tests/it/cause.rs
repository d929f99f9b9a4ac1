//! `skew test` on clients that work at the same time: the race that made the test fail is the one that is explained, and the
//! change that is advised was tried. The clients are processes of psql.

use serde_json::Value;

use crate::campaign::{Shop, has_psql};
use crate::run::{Done, skew};

/// Runs a test of two clients, each a script of psql, and a query whose result has to be the expected one.
pub(crate) fn two_clients(
    name: &str,
    setup: &str,
    clients: [&str; 2],
    check: (&str, &str),
    options: &[&str],
) -> (Done, Value, Shop) {
    let shop = Shop::new(name);
    shop.write("setup.sql", setup);
    shop.write("one.sql", clients[0]);
    shop.write("two.sql", clients[1]);
    let psql = |file: &str| format!("psql -qX -v ON_ERROR_STOP=1 -f '{}'", shop.path(file));
    let (query, expected) = check;
    shop.write(
        "shop.sh",
        &format!(
            "{} & one=$!\n{} & two=$!\nwait $one || exit 2\nwait $two || exit 2\nfound=$(psql -qXAt -c '{query}')\n\
             echo \"found: $found\"\ntest \"$found\" = '{expected}'\n",
            psql("one.sql"),
            psql("two.sql")
        ),
    );
    let json = shop.path("all.json");
    let done = shop.test(&[&["-i", "read-committed", "--seed", "1", "-x", "--json", &json], options].concat());
    let results = std::fs::read_to_string(&json).ok().and_then(|text| serde_json::from_str(&text).ok());
    (done, results.unwrap_or(Value::Null), shop)
}

/// Reads a credit and a count of views, and writes both back.
fn pay(amount: u32) -> String {
    format!(
        "BEGIN;\nSELECT credit FROM author WHERE id = 7 \\gset\nSELECT views FROM page WHERE id = 1 \\gset\n\
         UPDATE author SET credit = :credit + {amount} WHERE id = 7;\nUPDATE page SET views = :views + 1 WHERE id = 1;\n\
         COMMIT;\n"
    )
}

const PAGES: &str = "CREATE TABLE page (id int PRIMARY KEY, views int NOT NULL);\nINSERT INTO page VALUES (1, 0);\n\
                     CREATE TABLE author (id int PRIMARY KEY, credit int NOT NULL);\nINSERT INTO author VALUES (7, 100);\n";

#[test]
fn the_lost_credit_is_the_cause_and_the_lost_view_is_not() {
    if !has_psql() {
        return;
    }
    let (one, two) = (pay(10), pay(20));
    let check = ("SELECT credit FROM author", "130");
    let (done, results, _shop) = two_clients("credit", PAGES, [&one, &two], check, &["-n", "30"]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    let failure = &results["failure"];
    assert_eq!(results["causes"][0]["cause"], "lost update of author.credit", "{}", done.out);
    assert!(done.out.contains("both overwrote author[7].credit"), "{}", done.out);
    assert_eq!(failure["experiment"]["serial_passed"], 3, "{}", done.out);
    assert!(done.out.contains("shown by experiment: with these two transactions one after the other"), "{}", done.out);
    let others = failure["why"]["others"].to_string();
    assert!(others == "[]" || others == "[\"lost update of page.views\"]", "{others}");
    let tried = failure["why"]["tried"].as_array().expect("changes that were tried");
    let sql: Vec<&str> = tried.iter().filter_map(|fix| fix["sql"][0].as_str()).collect();
    assert!(sql[0].starts_with("UPDATE author SET credit = credit + "), "{}", done.out);
    assert_eq!(sql[1], "SELECT credit FROM author WHERE id = 7 FOR UPDATE", "{}", done.out);
    let replay = skew(&["replay", failure["replay"].as_str().expect("a file")]);
    assert!(replay.out.contains("author[7].credit"), "{}{}", replay.out, replay.err);
}

#[test]
fn an_update_stands_after_the_commit_that_it_waited_for() {
    if !has_psql() {
        return;
    }
    let (one, two) = (pay(10), pay(20));
    let check = ("SELECT credit FROM author", "130");
    let (done, results, _shop) = two_clients("waits", PAGES, [&one, &two], check, &["-n", "30"]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    let statements = results["failure"]["statements"].as_array().expect("statements");
    let text = |one: &Value| one["sql"].as_str().unwrap_or_default().to_owned();
    for (at, waiting) in statements.iter().enumerate() {
        if let Some(holder) = waiting["waited_for"].as_u64() {
            let before = statements[..at].iter().rev().find(|one| one["connection"] == holder);
            assert_eq!(before.map(text).as_deref(), Some("COMMIT"), "{}", done.out);
        }
    }
}

#[test]
fn a_race_across_transactions_names_the_statements_that_belong_together() {
    if !has_psql() {
        return;
    }
    let setup =
        "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);\nINSERT INTO account VALUES (1, 100);\n";
    let deposit = |amount: u32| {
        format!(
            "SELECT balance FROM account WHERE id = 1 \\gset\n\
             UPDATE account SET balance = :balance + {amount} WHERE id = 1;\n"
        )
    };
    let (one, two) = (deposit(10), deposit(20));
    let check = ("SELECT balance FROM account", "130");
    let (done, results, _shop) = two_clients("split", setup, [&one, &two], check, &["-n", "30"]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    assert_eq!(results["causes"][0]["cause"], "race across transactions of account.balance", "{}", done.out);
    assert!(done.out.contains("read in one transaction and wrote in another one; in between client"), "{}", done.out);
}

#[test]
fn a_lost_update_of_two_processes_is_found_in_the_first_runs() {
    if !has_psql() {
        return;
    }
    let setup = "CREATE TABLE stock (id int PRIMARY KEY, n int NOT NULL);\nINSERT INTO stock VALUES (1, 2);\n";
    let buy = "BEGIN;\nSELECT n FROM stock WHERE id = 1 \\gset\nUPDATE stock SET n = :n - 1 WHERE id = 1;\nCOMMIT;\n";
    let (done, results, _shop) =
        two_clients("first-runs", setup, [buy, buy], ("SELECT n FROM stock", "0"), &["-n", "10", "--repeats", "6"]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    assert_eq!(results["causes"][0]["cause"], "lost update of stock.n", "{}", done.out);
}

#[test]
fn a_read_on_one_connection_and_a_write_on_another_one_belong_together() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("pooled");
    shop.write(
        "setup.sql",
        "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);\nINSERT INTO account VALUES (1, 100);\n",
    );
    // Each psql is a connection of its own.
    let client = |amount: u32| {
        format!(
            "{{ n=$(psql -qXAt -c 'SELECT balance FROM account WHERE id = 1 FOR UPDATE'); \
             psql -qX -c \"UPDATE account SET balance = $((n + {amount})) WHERE id = 1\"; }}"
        )
    };
    shop.write(
        "shop.sh",
        &format!(
            "{} & one=$!\n{} & two=$!\nwait $one; wait $two\n\
             found=$(psql -qXAt -c 'SELECT balance FROM account')\necho \"found: $found\"\ntest \"$found\" = 130\n",
            client(10),
            client(20)
        ),
    );
    let json = shop.path("all.json");
    let done = shop.test(&["-i", "read-committed", "--seed", "1", "-x", "-n", "30", "--json", &json, "--tries", "5"]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    for words in [
        "account[1].balance was read on one connection and written on another one",
        "belong into one transaction on one connection",
        "ended with its own transaction",
    ] {
        let out = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains(words), "{words}\n{}", done.out);
    }
}

#[test]
fn clients_that_come_in_another_order_are_known_again() {
    if !has_psql() {
        return;
    }
    let setup = "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);\n\
                 INSERT INTO account VALUES (1, 50), (2, 50);\nCREATE TABLE report (total int NOT NULL);\n";
    let come = "\\! sleep 0.0$(($(od -An -N1 -tu1 /dev/urandom) % 6))\n";
    let transfer = format!(
        "{come}\\c\nBEGIN;\nUPDATE account SET balance = balance - 10 WHERE id = 1;\n\
         UPDATE account SET balance = balance + 10 WHERE id = 2;\nCOMMIT;\n"
    );
    let report = format!(
        "{come}\\c\nBEGIN;\nSELECT balance AS one FROM account WHERE id = 1 \\gset\n\
         SELECT balance AS two FROM account WHERE id = 2 \\gset\nINSERT INTO report VALUES (:one + :two);\nCOMMIT;\n"
    );
    let check = ("SELECT total FROM report", "100");
    let (done, results, _shop) =
        two_clients("order", setup, [&transfer, &report], check, &["-n", "300", "--tries", "5"]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    let failure = &results["failure"];
    assert_eq!(failure["experiment"]["serial_passed"], 3, "{}", done.out);
    assert!(failure["why"]["headline"].to_string().contains("account["), "{}", done.out);
    assert!(failure["why"]["tried"].to_string().contains("REPEATABLE READ"), "{}", done.out);
}
