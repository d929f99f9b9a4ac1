//! `skew robust` as its users run it.

use crate::run::{file, skew};

#[test]
fn a_robust_level_is_exit_code_0_and_another_one_1() {
    let robust = skew(&["robust", "examples/apps/auction.sql", "--level", "si"]);
    assert_eq!(robust.code, 0, "{}", robust.out);
    let not = skew(&["robust", "examples/apps/auction.sql", "--level", "cc"]);
    assert_eq!(not.code, 1, "{}", not.out);
    assert!(not.out.contains("cc    not robust  "), "{}", not.out);
    assert!(not.out.contains("= replay  skew explore examples/apps/auction.sql --client"), "{}", not.out);
}

#[test]
fn what_is_replayed_is_not_serializable() {
    let found = skew(&["robust", "examples/apps/smallbank.sql", "--level", "si"]);
    assert_eq!(found.code, 1, "{}", found.out);
    let replay = found.out.lines().find_map(|line| line.split_once("= replay  skew ")).expect("a command").1;
    let client = replay.split('"').nth(1).expect("a client in quotes");
    let explored = skew(&["explore", "examples/apps/smallbank.sql", "--client", client, "--level", "si", "--all"]);
    assert!(explored.out.contains("read-only-anomaly"), "{}", explored.out);
}

#[test]
fn a_program_that_is_marked_runs_serializably() {
    let marked = skew(&[
        "robust",
        "examples/apps/auction_surrogate.sql",
        "--level",
        "psi",
        "--sessions",
        "off",
        "--mark",
        "reg_user=ser",
    ]);
    assert_eq!(marked.code, 0, "{}", marked.out);
    let wrong = skew(&["robust", "examples/apps/auction.sql", "--mark", "nobody=ser"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("there is no program nobody; there are reg_user, store_bid"), "{}", wrong.err);
}

#[test]
fn the_largest_robust_sets() {
    let sets = skew(&["robust", "examples/apps/counter.sql", "--level", "mvrc", "--subsets"]);
    assert!(sets.out.contains("robust together at mvrc:\n  read_views\n"), "{}", sets.out);
}

#[test]
fn a_file_without_procedures() {
    let path = file("nothing.sql", b"CREATE TABLE t (a int)");
    let done = skew(&["robust", &path]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("has no procedures; a transaction is a CREATE PROCEDURE"), "{}", done.err);
}

#[test]
fn procedures_that_never_end_or_do_anything_are_named_and_do_not_hang() {
    let path = file(
        "odd.sql",
        b"CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL);
          CREATE PROCEDURE forever() LANGUAGE plpgsql AS $$ BEGIN LOOP UPDATE t SET b = b + 1 WHERE a = 1; END LOOP; END $$;
          CREATE PROCEDURE again(n int) LANGUAGE plpgsql AS $$ BEGIN CALL again(n - 1); END $$;
          CREATE PROCEDURE made(what text) LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DELETE FROM t WHERE a = ' || what; END $$;
          CREATE PROCEDURE nowhere() LANGUAGE plpgsql AS $$ BEGIN DELETE FROM missing; END $$;
          INSERT INTO t VALUES (1, 0)",
    );
    let done = skew(&["robust", &path, "--level", "si", "--max-time", "1"]);
    assert!(done.code == 1 || done.code == 3, "{}{}", done.out, done.err);
    for name in [
        "note: again, line 1: `CALL again(n - 1)`",
        "note: made, line 1: EXECUTE",
        "note: nowhere, line 1: `DELETE FROM missing`",
    ] {
        assert!(done.out.contains(name), "{}", done.out);
    }
}
