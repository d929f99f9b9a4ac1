//! What bodies parse to.

use crate::plpgsql::{parse, print};

/// The body as text again.
fn shown(text: &str) -> String {
    match parse::body(text) {
        Ok(body) => print::body(&body),
        Err(error) => {
            let fields = error.fields();
            let place = fields.position.map(|position| format!(" @{position}")).unwrap_or_default();
            format!("{} {}{place}", fields.code, fields.message)
        }
    }
}

/// One of everything.
const EVERYTHING: &str = r#"#variable_conflict use_column
<<outer>>
DECLARE
  a int := 1; b CONSTANT text NOT NULL DEFAULT 'x'; c t.col%TYPE; d t%ROWTYPE; e record; f numeric(10,2)[];
  g ALIAS FOR $1; h ALIAS FOR a;
  cur1 CURSOR FOR SELECT * FROM t; cur2 NO SCROLL CURSOR (x int, y text) IS SELECT x, y; r refcursor;
BEGIN
  a := 1; a = a + 1; d.col := 5; f[1] := 2; f[a][2].x := count(*) from t where id = 1; outer.a := 3; $1 := 4;
  SELECT x, y INTO STRICT a, b FROM t WHERE z = ';';
  select into e * from t;
  INSERT INTO t VALUES (1) RETURNING id INTO a;
  UPDATE t SET a = 1; DELETE FROM t;
  PERFORM f(1), 2;
  EXECUTE 'select ' || a INTO e USING a, b; EXECUTE x USING a INTO STRICT b, c;
  IF a > 1 THEN NULL; ELSIF CASE WHEN a = 1 THEN true END THEN a := 2; ELSEIF b THEN ELSE a := 3; END IF;
  CASE a WHEN 1, 2 THEN NULL; WHEN 3 THEN a := 1; ELSE NULL; END CASE;
  CASE WHEN a = 1 THEN NULL; END CASE;
  <<l>> LOOP EXIT l WHEN a = 1; CONTINUE l; EXIT; CONTINUE WHEN b; END LOOP l;
  WHILE a < 10 LOOP a := a + 1; END LOOP;
  FOR i IN 1..10 LOOP NULL; END LOOP;
  FOR i IN REVERSE a + 1 .. f(1, 2) BY 2 LOOP NULL; END LOOP;
  FOR e IN SELECT * FROM t ORDER BY 1 LOOP NULL; END LOOP;
  FOR a, b IN EXECUTE 'x' USING 1 LOOP NULL; END LOOP;
  FOR e IN cur1 LOOP NULL; END LOOP;
  FOR e IN cur2(1, y := 'x') LOOP NULL; END LOOP;
  FOREACH a SLICE 1 IN ARRAY f LOOP NULL; END LOOP;
  RETURN; RETURN a + 1; RETURN NEXT; RETURN NEXT a; RETURN QUERY SELECT 1; RETURN QUERY EXECUTE 'x' USING a;
  RAISE; RAISE NOTICE 'a % b %%', a; RAISE 'x'; RAISE unique_violation USING MESSAGE = 'x', DETAIL := y;
  RAISE WARNING SQLSTATE '22012'; RAISE EXCEPTION USING ERRCODE = 'P0001', HINT = 'h';
  ASSERT a = 1; ASSERT a = 1, 'message ' || a;
  GET DIAGNOSTICS a = ROW_COUNT, b := PG_CONTEXT;
  OPEN cur1; OPEN cur2(1, 2); OPEN r FOR SELECT 1; OPEN r SCROLL FOR EXECUTE 'x' USING 1;
  FETCH r INTO a; FETCH NEXT FROM r INTO a, b; FETCH RELATIVE -2 FROM r INTO e; FETCH ABSOLUTE a + 1 FROM r INTO e;
  MOVE FORWARD ALL IN r; MOVE r; CLOSE r;
  COMMIT; ROLLBACK AND CHAIN; CALL p(1, a);
  CREATE TABLE x (a int); 
  DECLARE z int; BEGIN
    z := 1;
  EXCEPTION WHEN division_by_zero OR SQLSTATE '23505' THEN
    GET STACKED DIAGNOSTICS a = RETURNED_SQLSTATE, b = MESSAGE_TEXT;
    RAISE;
  WHEN OTHERS THEN NULL;
  END;
END outer;
"#;

#[test]
fn what_is_printed_parses_to_the_same() {
    let once = shown(EVERYTHING);
    assert!(once.starts_with("#variable_conflict use_column"), "{once}");
    assert_eq!(shown(&once), once);
    assert_eq!(once.lines().count(), 123, "{once}");
}

#[test]
fn statements_know_their_lines() {
    let body =
        parse::body("\nDECLARE\n  a int;\nBEGIN\n  a := 1;\n\n  IF a THEN\n    RETURN\n1; END IF;\nEND").unwrap();
    assert_eq!(body.block.line, 2);
    assert_eq!(body.block.declarations[0].line, 3);
    assert_eq!(body.block.body.iter().map(|statement| statement.line).collect::<Vec<_>>(), [5, 7]);
}

#[test]
fn mistakes_in_bodies_are_told() {
    for (text, expected) in [
        ("BEGIN a := ; END", "42601 missing expression at or near \";\" @12"),
        ("BEGIN a := 1 + ; END", "42601 syntax error at end of input @15"),
        ("BEGIN IF a THEN b := 1; END; END", "42601 syntax error at or near \";\" @28"),
        ("BEGIN RETURN 1 END", "42601 syntax error at end of input @19"),
        ("BEGIN RAISE 'x %'; END", "42601 too few parameters specified for RAISE"),
        ("BEGIN RAISE 'x', 1; END", "42601 too many parameters specified for RAISE"),
        ("<<a>> BEGIN END b", "42601 end label \"b\" differs from block's label \"a\" @17"),
        ("BEGIN EXCEPTION WHEN oops THEN END", "42704 unrecognized exception condition \"oops\""),
        ("BEGIN SELECT 1 FROM; END", "42601 syntax error at end of input @20"),
        ("BEGIN SELEC 1; END", "42601 syntax error at or near \"SELEC\" @7"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn deep_nesting_of_blocks_is_an_error() {
    let text = format!("{}{}", "BEGIN ".repeat(10_000), "END; ".repeat(10_000));
    let answer = std::thread::Builder::new().stack_size(2 << 20).spawn(move || shown(&text));
    assert!(answer.expect("threads can be started").join().expect("the stack is enough").starts_with("54001"));
}
