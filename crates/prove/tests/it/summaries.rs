//! Summaries of applications.

use skew_prove::summary::Summary;
use skew_prove::summary::build::Reading;

use crate::load;

fn summary(text: &str, reading: Reading) -> String {
    let (database, app) = load(text);
    Summary::of(&database, &app, reading).expect("its procedures are there").print()
}

const SHOP: &str = "
    CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL, name text);
    CREATE TABLE sale (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item int NOT NULL, n int NOT NULL);
    CREATE PROCEDURE buy(what int, many int) LANGUAGE plpgsql AS $$
    DECLARE left_over int;
    BEGIN
      SELECT stock INTO left_over FROM item WHERE id = what;
      IF NOT FOUND THEN RAISE EXCEPTION 'no such item'; END IF;
      IF left_over >= many THEN
        UPDATE item SET stock = left_over - 1 WHERE id = what;
        INSERT INTO sale (item, n) VALUES (what, many);
      END IF;
    END $$;
    CREATE PROCEDURE drop_item(what int) LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT 1 FROM sale WHERE item = what) THEN RETURN; END IF;
      DELETE FROM item WHERE id = what;
    END $$;";

#[test]
fn every_way_through_a_procedure_is_told() {
    let expected = "\
table item: key (id); rows are only deleted; changing: stock
table sale: key (id); rows are only added; no column changes

buy(what, many)
  1. line 4: found in item; not (left_over >= many)
     where item.stock of line 4 < many or NULL
     line 4: select item(id = what) reads row, stock, found
  2. line 4: found in item; left_over >= many
     where many <= item.stock of line 4
     line 4: select item(id = what) reads row, stock, found
     line 7: update item(id = what) reads row writes stock (stock = item.stock of line 4 - 1), found
     line 8: insert sale(id = a new value) writes row, item, n, found

drop_item(what)
  1. not (EXISTS (SELECT 1 FROM sale WHERE item = what)); line 4: found in item
     line 3: select sale(item = what) reads row, item
     line 4: delete item(id = what) reads row writes row, found
  2. not (EXISTS (SELECT 1 FROM sale WHERE item = what)); line 4: not found in item
     line 3: select sale(item = what) reads row, item
     line 4: delete item(id = what) reads row, not found
  3. EXISTS (SELECT 1 FROM sale WHERE item = what)
     line 3: select sale(item = what) reads row, item
";
    assert_eq!(summary(SHOP, Reading::Once), expected);
}

#[test]
fn where_statements_look_at_different_states_a_row_may_have_gone() {
    let text = summary(SHOP, Reading::EachStatement);
    assert!(text.contains("line 7: update item(id = what) reads row, not found"), "{text}");
}

#[test]
fn what_is_not_understood_is_named_and_may_do_anything() {
    let text = summary(
        "CREATE TABLE t (a int PRIMARY KEY, b int);
         CREATE PROCEDURE p(x text) LANGUAGE plpgsql AS $$ BEGIN EXECUTE x; END $$;",
        Reading::Once,
    );
    let expected = "\
p(x)
  ! line 1: EXECUTE of a command that is made while running may read and write every table
  1. always
     line 1: update t(any) reads row, a, b writes row, a, b, any number of times, perhaps
";
    assert!(text.ends_with(expected), "{text}");
}

/// The ways of one procedure, with the table `account (id, balance NOT NULL, name)`.
fn ways(body: &str) -> String {
    let table = "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, name text);";
    let procedure = format!("CREATE PROCEDURE p(x int, y int, z text) LANGUAGE plpgsql AS $$ {body} $$;");
    let text = summary(&format!("{table} {procedure}"), Reading::Once);
    text.split_once("p(x, y, z)\n").expect("it is told").1.to_owned()
}

#[test]
fn decisions_are_told_as_conditions_over_values() {
    let text = ways(
        "DECLARE one int; two int;
         BEGIN
           SELECT balance INTO STRICT one FROM account WHERE id = x;
           SELECT balance INTO STRICT two FROM account WHERE id = y;
           IF NOT (one + two >= 100 AND one <> 7) THEN RETURN; END IF;
           UPDATE account SET balance = balance - two WHERE id = x;
         END",
    );
    let expected = "  1. line 3: found in account; line 4: found in account; not (NOT (one + two >= 100 AND one <> 7))
     where account.balance of line 3 <> 7, 100 <= account.balance of line 3 + account.balance of line 4
     line 3: select account(id = x) reads row, balance, found
     line 4: select account(id = y) reads row, balance, found
     line 6: update account(id = x) reads row, balance writes balance \
        (balance = account.balance of line 6 - account.balance of line 4), found
  2. line 3: found in account; line 4: found in account; NOT (one + two >= 100 AND one <> 7)
     line 3: select account(id = x) reads row, balance, found
     line 4: select account(id = y) reads row, balance, found
";
    assert_eq!(text, expected);
}

/// `y < 0` is not true if y is NULL, but then the update fails.
#[test]
fn what_is_stored_where_null_is_not_allowed_was_not_null() {
    let text = ways(
        "BEGIN
           IF y < 0 THEN RETURN; END IF;
           UPDATE account SET balance = balance + y WHERE id = x;
         END",
    );
    assert!(text.contains("not (y < 0); line 3: found in account\n     where 0 <= y\n"), "{text}");
    assert!(text.contains("not (y < 0); line 3: not found in account\n     where 0 <= y or NULL\n"), "{text}");
}

#[test]
fn who_finds_a_row_knows_what_was_asked_of_it() {
    let text = ways("BEGIN UPDATE account SET name = z WHERE id = x AND balance >= y; END");
    let found = "  1. line 1: found in account
     where y <= account.balance of line 1
     line 1: update account(id = x) reads row, balance writes name (name = z), found
";
    assert!(text.starts_with(found), "{text}");
}

#[test]
fn what_an_update_returns_is_what_it_has_set() {
    let text = ways(
        "DECLARE was int;
         BEGIN
           UPDATE account SET balance = balance + 1 WHERE id = x RETURNING balance - 1 INTO was;
           INSERT INTO account VALUES (was, 0, NULL);
         END",
    );
    assert!(text.contains("insert account(id = account.balance of line 3)"), "{text}");
}

#[test]
fn the_largest_value_is_a_value_and_a_count_is_not_negative() {
    let text = ways(
        "DECLARE last int; n int;
         BEGIN
           SELECT max(id) INTO last FROM account;
           SELECT count(*) INTO n FROM account WHERE name = z;
           IF last IS NULL OR n > y THEN RETURN; END IF;
           INSERT INTO account VALUES (last + 1, 0, z);
         END",
    );
    let way = "  1. not (last IS NULL OR n > y)
     where 0 <= ?, ? <= y or NULL
     line 3: select account(any) reads row, the largest id
     line 4: select account(name = z) reads row, name
     line 6: insert account(id = account.id of line 3 + 1) writes row, balance, name, found
";
    assert!(text.starts_with(way), "{text}");
}

/// varchar(2) cuts, so that what is looked for is not what was given.
#[test]
fn a_conversion_that_changes_values_makes_another_value() {
    let text = ways("BEGIN DELETE FROM account WHERE name = z::varchar(2); END");
    assert!(text.contains("delete account(name = ?)"), "{text}");
}

#[test]
fn checks_hold_of_every_row_unless_they_are_null() {
    let text = summary(
        "CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL CHECK (b >= 0), c int CHECK (c < b - 1 AND c IN (1, 2)));",
        Reading::Once,
    );
    assert!(text.contains("\n  checks 0 <= b, c < b + -1 or NULL\n"), "{text}");
}

#[test]
fn a_row_that_another_statement_may_have_deleted_is_looked_for_again() {
    let text = ways(
        "BEGIN
           PERFORM 1 FROM account WHERE id = x;
           DELETE FROM account WHERE id = y;
           UPDATE account SET name = z WHERE id = x;
         END",
    );
    let way = "line 2: found in account; line 3: found in account; line 4: not found in account";
    assert!(text.contains(way), "{text}");
    let text = ways(
        "BEGIN
           PERFORM 1 FROM account WHERE id = 1;
           DELETE FROM account WHERE id = 2;
           UPDATE account SET name = z WHERE id = 1;
         END",
    );
    assert!(!text.contains("line 4: not found"), "{text}");
}

const NUMBERS: &str = "
    CREATE TABLE counter (id int PRIMARY KEY, next int NOT NULL);
    CREATE TABLE ticket (c int, n int, note text, PRIMARY KEY (c, n));
    CREATE PROCEDURE take(x int) LANGUAGE plpgsql AS $$
    DECLARE number int;
    BEGIN
      UPDATE counter SET next = next + 1 WHERE id = x RETURNING next - 1 INTO number;
      IF NOT FOUND THEN RETURN; END IF;
      INSERT INTO ticket VALUES (x, number, NULL);
    END $$;
    CREATE PROCEDURE serve(x int) LANGUAGE plpgsql AS $$
    DECLARE number int;
    BEGIN
      SELECT min(n) INTO number FROM ticket WHERE c = x;
      IF number IS NOT NULL THEN DELETE FROM ticket WHERE c = x AND n = number; END IF;
    END $$;
    INSERT INTO counter VALUES (1, 5);";

/// Whose first row has a number that the counter has not reached says nothing about order.
#[test]
fn a_column_that_a_counter_numbers_grows() {
    let grows = "  n grows with counter.next\n";
    let text = summary(NUMBERS, Reading::Once);
    assert!(text.contains(grows), "{text}");
    let text = summary(&format!("{NUMBERS} INSERT INTO ticket VALUES (1, 5, NULL);"), Reading::Once);
    assert!(!text.contains(grows), "{text}");
    let back =
        "CREATE PROCEDURE back(x int) LANGUAGE plpgsql AS $$ BEGIN UPDATE counter SET next = 1 WHERE id = x; END $$;";
    let text = summary(&format!("{NUMBERS} {back}"), Reading::Once);
    assert!(!text.contains(grows), "{text}");
}

/// The smallest one is there, so that it is found again.
#[test]
fn the_row_with_the_smallest_value_is_found_again() {
    let text = summary(NUMBERS, Reading::Once);
    assert!(!text.contains("line 5: not found in ticket"), "{text}");
    let text = summary(NUMBERS, Reading::EachStatement);
    assert!(text.contains("line 5: not found in ticket"), "{text}");
}

/// An order is inserted with its customer there, and its line with its order.
#[test]
fn a_row_that_another_one_refers_to_is_there() {
    let text = summary(
        "CREATE TABLE customer (id int PRIMARY KEY, balance int NOT NULL);
         CREATE TABLE orders (id int PRIMARY KEY, c int NOT NULL REFERENCES customer);
         CREATE TABLE line (id int PRIMARY KEY, o int NOT NULL REFERENCES orders);
         CREATE PROCEDURE make(x int, y int) LANGUAGE plpgsql AS $$
         BEGIN
           INSERT INTO orders VALUES (x, y);
           INSERT INTO line VALUES (x, x);
         END $$;
         CREATE PROCEDURE pay(x int) LANGUAGE plpgsql AS $$
         DECLARE one int; two int;
         BEGIN
           SELECT o INTO one FROM line WHERE id = x;
           IF NOT FOUND THEN RETURN; END IF;
           SELECT c INTO two FROM orders WHERE id = one;
           UPDATE customer SET balance = 0 WHERE id = two;
         END $$;",
        Reading::EachStatement,
    );
    let pay = text.split_once("pay(x)\n").expect("it is told").1;
    assert!(!pay.contains("not found in orders") && !pay.contains("not found in customer"), "{text}");
}
