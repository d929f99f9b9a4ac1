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
     line 4: select item(id = what) reads row, stock, found
  2. line 4: found in item; left_over >= many
     line 4: select item(id = what) reads row, stock, found
     line 7: update item(id = what) reads row writes stock, found
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
