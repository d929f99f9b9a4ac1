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
  never NULL: stock
table sale: key (id); rows are only added; no column changes
  never NULL: item, n

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
     line 1: update account(id = x, balance >= y) reads row, balance writes name (name = z), found
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

const CALLS: &str = "
    CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);
    CREATE TABLE b (id int PRIMARY KEY, v int NOT NULL);
    CREATE TABLE c (id int PRIMARY KEY, v int NOT NULL, a int REFERENCES a);
    CREATE FUNCTION read(k int) RETURNS int LANGUAGE plpgsql AS $$
    DECLARE r int; BEGIN SELECT v INTO r FROM a WHERE id = k; RETURN r; END $$;
    CREATE FUNCTION again(k int) RETURNS int LANGUAGE plpgsql AS $$
    BEGIN IF k > 0 THEN RETURN again(k - 1); END IF; UPDATE b SET v = k; RETURN 0; END $$;
    CREATE FUNCTION half(k int) RETURNS int LANGUAGE sql AS 'SELECT k / 2';";

#[test]
fn functions_are_walked_where_they_are_called() {
    let body = "CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$ DECLARE n int;
        BEGIN n := read(p + 1); IF half(n) > 3 THEN INSERT INTO c VALUES (p, n); END IF; END $$;";
    let expected = "\
table a: key (id); rows neither come nor go; no column changes
  never NULL: v
table b: key (id); rows neither come nor go; no column changes
  never NULL: v
table c: key (id); rows are only added; no column changes
  never NULL: v
  (a) refers to a(id)

f(p)
  1. line 2: found in a; not (half(n) > 3)
     where ? <= 3 or NULL
     line 2: select a(id = p + 1) reads row, v, found
  2. line 2: found in a; half(n) > 3
     where 3 < ?
     line 2: select a(id = p + 1) reads row, v, found
     line 2: insert c(id = p) writes row, v, a, found
  3. line 2: not found in a; not (half(n) > 3)
     where ? <= 3 or NULL
     line 2: select a(id = p + 1) reads row, not found
  4. line 2: not found in a; half(n) > 3
     where 3 < ?
     line 2: select a(id = p + 1) reads row, not found
     line 2: insert c(id = p) writes row, v, a, found
";
    assert_eq!(summary(&format!("{CALLS}{body}"), Reading::Once), expected);
}

#[test]
fn where_that_cannot_be_any_row_of_their_tables_is_meant() {
    let body = "CREATE PROCEDURE f(p int) LANGUAGE plpgsql AS $$ BEGIN PERFORM again(id) FROM c WHERE id = p; END $$;";
    let expected = "\
table a: key (id); rows neither come nor go; no column changes
  never NULL: v
table b: key (id); rows neither come nor go; changing: v
  never NULL: v
table c: key (id); rows neither come nor go; no column changes
  never NULL: v
  (a) refers to a(id)

f(p)
  ! line 1: a call of again may read and write any row of b
  1. always
     line 1: select c(id = p) reads row
     line 1: update b(any) reads row writes v, any number of times, perhaps
";
    assert_eq!(summary(&format!("{CALLS}{body}"), Reading::Once), expected);
}

#[test]
fn comparisons_of_columns_say_which_rows_are_picked() {
    let text = ways(
        "DECLARE n int;
         BEGIN
           SELECT sum(balance) INTO n FROM account WHERE id BETWEEN x AND y + 1;
           SELECT sum(balance) INTO n FROM account WHERE id IN (x, 3);
           SELECT sum(balance) INTO n FROM account WHERE NOT (id > x OR id = 7) AND (name = 'a' OR name = z);
         END",
    );
    let expected = "  1. always
     line 3: select account(id >= x, id <= y + 1) reads row, balance
     line 4: select account(id = x or id = 3) reads row, balance
     line 5: select account(id <= x, id <> 7, name = 'a' or name = z) reads row, balance, name
";
    assert_eq!(text, expected);
}

#[test]
fn comparisons_with_what_is_made_for_each_row_say_nothing() {
    let text = ways(
        "DECLARE n int;
         BEGIN
           SELECT sum(balance) INTO n FROM account WHERE id < balance + x;
           SELECT sum(balance) INTO n FROM account WHERE id < (random() * 10)::int;
         END",
    );
    let expected = "  1. always
     line 3: select account(any) reads row, balance
     line 4: select account(any) reads row, balance
";
    assert_eq!(text, expected);
}

#[test]
fn who_inserts_what_refers_to_a_missing_row_fails() {
    let text = |column: &str| {
        let app = format!(
            "CREATE TABLE member (id int PRIMARY KEY, n int);
             CREATE TABLE loan (id serial PRIMARY KEY, member {column});
             CREATE PROCEDURE p(m int) LANGUAGE plpgsql AS $$ BEGIN
               UPDATE member SET n = 1 WHERE id = m;
               INSERT INTO loan (member) VALUES (m); END $$;"
        );
        summary(&app, Reading::Once)
    };
    let fails = text("int NOT NULL REFERENCES member");
    assert!(!fails.contains("not found in member"), "{fails}");
    // NULL refers to nothing.
    for column in ["int REFERENCES member", "int NOT NULL"] {
        let works = text(column);
        assert!(works.contains("not found in member"), "{works}");
    }
}

#[test]
fn who_joins_single_rows_has_found_all_of_them_or_nothing() {
    let app = "CREATE TABLE cust (id int PRIMARY KEY, name text UNIQUE NOT NULL);
         CREATE TABLE acc (id int PRIMARY KEY, cust int NOT NULL REFERENCES cust(id), bal int NOT NULL);
         CREATE PROCEDURE wd(who text, a int, v int) LANGUAGE plpgsql AS $$
         DECLARE b int; i int;
         BEGIN
           SELECT acc.id, acc.bal INTO i, b FROM acc JOIN cust ON cust.id = acc.cust WHERE cust.name = who AND acc.id = a;
           IF b >= v THEN UPDATE acc SET bal = b - v WHERE id = i; END IF;
         END $$;";
    let text = summary(app, Reading::Once);
    assert!(text.contains("update acc(id = a) reads row writes bal (bal = acc.bal of line 4 - v), found"), "{text}");
    assert!(text.contains("line 4: not all found"), "{text}");
}

#[test]
fn branches_of_case_say_what_holds_there() {
    let text = ways(
        "BEGIN
           CASE x WHEN 1, 2 THEN UPDATE account SET balance = 1; WHEN 3 THEN NULL; END CASE;
           CASE WHEN y > 5 THEN DELETE FROM account; ELSE NULL; END CASE;
         END",
    );
    let expected = "  1. x = 1; not (y > 5)
     where x = 1, y <= 5 or NULL
     line 2: update account(any) reads row writes balance (balance = 1)
  2. x = 1; y > 5
     where x = 1, 5 < y
     line 2: update account(any) reads row writes balance (balance = 1)
     line 3: delete account(any) reads row writes row
  3. not (x = 1); x = 2; not (y > 5)
     where x = 2, x <> 1, y <= 5 or NULL
";
    assert!(text.starts_with(expected), "{text}");
    // Without ELSE it is an error that none is taken.
    assert!(!text.contains("not (x = 3)"), "{text}");
}
