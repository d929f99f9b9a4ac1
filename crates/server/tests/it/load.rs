//! What `--load` takes: the output of pg_dump, with its settings, COPY blocks, functions, triggers and sequences.

use std::path::Path;
use std::sync::Arc;

use skew_server::{Server, Settings};
use skew_sql::script::Script;

use crate::raw::{Raw, query};
use crate::target::{Target, settings};

fn dump() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dumps/shop.sql");
    std::fs::read_to_string(path).expect("a dump")
}

fn loading(text: &str) -> Settings {
    let script = Script { name: Arc::from("shop.sql"), text: Arc::from(text) };
    Settings { load: vec![script], ..settings() }
}

#[test]
fn a_dump_of_a_real_schema_works_as_it_did_where_it_came_from() {
    let target = match std::env::var_os("SKEW_TEST_POSTGRES") {
        None => Target::with(loading(&dump())),
        Some(_) => {
            let target = Target::new();
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dumps/shop.sql");
            target.command("psql").args(["-qX", "-o", "/dev/null", "-f", file]).status().expect("psql runs");
            target
        }
    };
    let mut raw = Raw::connect(target.address, &target.database);
    let cases = [
        ("SELECT id, name, mail, mood, tags, data FROM customer WHERE id <> 2 ORDER BY id", {
            "T(id:23:0,name:1043:0,mail:25:0,mood:M:0,tags:1009:0,data:3802:0) \
             D(1,Ann,ann@example.com,happy,{a,\"b c\",NULL},{\"k\": [1, 2, {\"x\": null}]}) \
             D(3,c387656c696b20e697a5e69cac,c@d,ok,{},[]) C(SELECT 2) Z(I)"
        }),
        (
            "SELECT count(*) FROM customer WHERE name = E'Bob\\tTab\\nLine \\\\ back'",
            "T(count:20:0) D(1) C(SELECT 1) Z(I)",
        ),
        ("SELECT sku, price, taxed, span, picture FROM product ORDER BY id", {
            "T(sku:1042:0,price:1700:0,taxed:1700:0,span:1186:0,picture:17:0) D(AB-1    ,9.99,11.988,1 day 02:03:04,\\x00ff10) \
             D(AB-2    ,120.00,144.000,NULL,NULL) C(SELECT 2) Z(I)"
        }),
        ("INSERT INTO customer (name) VALUES ('Dan') RETURNING id, mood, balance", {
            "T(id:23:0,mood:M:0,balance:1700:0) D(4,ok,0.00) C(INSERT 0 1) Z(I)"
        }),
        ("INSERT INTO orders (customer_id) VALUES (4) RETURNING id, number, state", {
            "T(id:20:0,number:23:0,state:25:0) D(4,1030,open) C(INSERT 0 1) Z(I)"
        }),
        ("INSERT INTO orders (customer_id) VALUES (4)", {
            "E(23505 duplicate key value violates unique constraint \"one_open\") Z(I)"
        }),
        ("INSERT INTO order_line VALUES (4, 1, 2, 3)", "C(INSERT 0 1) Z(I)"),
        ("SELECT id, total FROM orders ORDER BY id", {
            "T(id:20:0,total:1700:0) D(1,149.97) D(2,9.99) D(3,0) D(4,360.00) C(SELECT 4) Z(I)"
        }),
        ("SELECT name, total FROM big_orders ORDER BY 1", {
            "T(name:1043:0,total:1700:0) D(Ann,149.97) D(Dan,360.00) C(SELECT 2) Z(I)"
        }),
        ("SELECT count(*), sum(total) FROM totals", "T(count:20:0,sum:1700:0) D(3,159.96) C(SELECT 1) Z(I)"),
        ("SELECT what, new ->> 'name' AS name FROM audit.log ORDER BY at DESC LIMIT 1", {
            "T(what:25:0,name:25:0) D(customer:INSERT,Dan) C(SELECT 1) Z(I)"
        }),
        ("UPDATE customer SET mail = 'nobody' WHERE id = 4", {
            "E(23514 value for domain email violates check constraint \"email_check\") Z(I)"
        }),
        ("UPDATE customer SET balance = -1", {
            "E(23514 new row for relation \"customer\" violates check constraint \"customer_balance_check\") Z(I)"
        }),
        ("INSERT INTO order_line VALUES (99, 1, 1, 1)", {
            "E(23503 insert or update on table \"order_line\" violates foreign key constraint \
             \"order_line_order_id_fkey\") Z(I)"
        }),
        ("CALL close_order(4)", "C(CALL) Z(I)"),
        ("CALL close_order(77)", "E(P0002 no order 77) Z(I)"),
        ("DELETE FROM customer WHERE id = 4", "C(DELETE 1) Z(I)"),
        ("SELECT count(*) FROM order_line", "T(count:20:0) D(3) C(SELECT 1) Z(I)"),
        ("SELECT obj_description('orders'::regclass)", {
            "T(obj_description:25:0) D(what people ordered; \"quotes\" and 'more') C(SELECT 1) Z(I)"
        }),
    ];
    for (sql, expected) in cases {
        let answer = raw.talk(&[query(sql)]);
        // The number of a type is another one in each database.
        let mood = raw.query("SELECT 'mood'::regtype::oid");
        let number = mood.split(['(', ')']).nth(3).expect("one row").to_owned();
        assert_eq!(answer.replace(&format!("mood:{number}:"), "mood:M:"), expected, "{sql}");
    }
}

#[test]
fn every_new_database_starts_with_what_is_loaded() {
    let target = Target::with(loading("CREATE TABLE t (n int); INSERT INTO t VALUES (1);"));
    let count = "T(count:20:0) D(1) C(SELECT 1) Z(I)";
    for database in ["postgres", "one", "two"] {
        assert_eq!(Raw::connect(target.address, database).query("SELECT count(*) FROM t"), count);
    }
    // What is done in one is not seen in another.
    assert_eq!(Raw::connect(target.address, "one").query("DELETE FROM t"), "C(DELETE 1) Z(I)");
    assert_eq!(Raw::connect(target.address, "two").query("SELECT count(*) FROM t"), count);
    // A reset comes back to it.
    let mut one = Raw::connect(target.address, "one");
    assert_eq!(one.query("SELECT count(*) FROM t"), "T(count:20:0) D(0) C(SELECT 1) Z(I)");
    assert_eq!(one.query("SELECT skew.reset()"), "T(reset:2278:0) D() C(SELECT 1) Z(I)");
    assert_eq!(one.query("SELECT count(*) FROM t"), count);
}

#[test]
fn a_script_that_fails_says_where() {
    let failed = |text: &str| Server::bind(loading(text)).err().map_or_else(String::new, |error| error.to_string());
    assert_eq!(failed("SELECT 1;\n\nSELECT *\nFROM nowhere;"), {
        "shop.sql:3: relation \"nowhere\" does not exist (42P01)"
    });
    assert_eq!(failed("\\connect shop"), "shop.sql:1: psql's command \\connect shop is not supported by Skew (0A000)");
    assert_eq!(failed("COPY t FROM stdin;\n1\n"), "shop.sql:1: relation \"t\" does not exist (42P01)");
    assert_eq!(failed("CREATE TABLE t (n int);\nCOPY t FROM stdin;\nx\n\\.\n"), {
        "shop.sql:2: invalid input syntax for type integer: \"x\" (22P02)"
    });
    assert_eq!(failed("SELECT 'abc"), "shop.sql:1: unterminated quoted string at or near \"'abc\" (42601)");
}
