//! PL/pgSQL over a connection: depth, messages, errors in the middle of a transaction.

use crate::raw::Raw;
use crate::target::Target;

fn connect(target: &Target) -> Raw {
    Raw::connect(target.address, &target.database)
}

#[test]
fn a_function_that_calls_itself_without_end_is_an_error() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.query("CREATE FUNCTION endless(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN endless(n + 1); END $$");
    raw.query(
        "CREATE FUNCTION deep(n int) RETURNS int LANGUAGE plpgsql AS $$
               BEGIN IF n = 0 THEN RETURN 0; END IF; RETURN 1 + deep(n - 1); END $$",
    );
    assert_eq!(raw.query("SELECT endless(1)"), "E(54001 stack depth limit exceeded) Z(I)");
    assert_eq!(raw.query("SELECT deep(300)"), "T(deep:23:0) D(300) C(SELECT 1) Z(I)");
}

#[test]
fn bodies_tell_the_client_what_they_raise() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(
        raw.query("DO $$ BEGIN RAISE NOTICE 'one %', 1; RAISE WARNING 'two'; END $$"),
        "N(NOTICE 00000 one 1) N(WARNING 01000 two) C(DO) Z(I)"
    );
    assert_eq!(
        raw.query("BEGIN; DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END $$"),
        "C(BEGIN) E(23514 no) Z(E)"
    );
    assert_eq!(raw.query("ROLLBACK"), "C(ROLLBACK) Z(I)");
}

#[test]
fn procedures_end_transactions_and_go_on() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.query("CREATE TABLE t (id int PRIMARY KEY)");
    raw.query("CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$
               BEGIN INSERT INTO t VALUES (1); COMMIT; INSERT INTO t VALUES (2); ROLLBACK; INSERT INTO t VALUES (3); END $$");
    assert_eq!(raw.query("CALL fill()"), "C(CALL) Z(I)");
    assert_eq!(raw.query("SELECT id FROM t ORDER BY id"), "T(id:23:0) D(1) D(3) C(SELECT 2) Z(I)");
    assert_eq!(
        raw.query("BEGIN; CALL fill()"),
        "C(BEGIN) E(23505 duplicate key value violates unique constraint \"t_pkey\") Z(E)"
    );
}
