//! Which cells a statement reads, and which it does not.

use crate::exec::tests::build::*;
use crate::exec::tests::fake::Fake;
use crate::exec::tests::rows;
use crate::exec::{LockOutcome, RowRef};
use crate::ir::*;

#[test]
fn where_cells_are_read_before_result_cells_and_only_of_rows_that_qualify() {
    let mut world = Fake::of(&[&[&[1, 10], &[2, 20]]]);
    let plan = project(scan_where(0, op(col(0, 0), "=", int(2))), vec![col(0, 1)]);
    assert_eq!(rows(&mut world, plan), "20");
    assert_eq!(world.reads(), "t0[0] t0[0].0 t0[1] t0[1].0 t0[1].1");
}

#[test]
fn limit_stops_the_scan() {
    let mut world = Fake::of(&[&[&[1], &[2], &[3]]]);
    assert_eq!(rows(&mut world, project(limit(scan(0), 1, 0), vec![col(0, 0)])), "1");
    assert_eq!(world.reads(), "t0[0] t0[0].0");
    let mut world = Fake::of(&[&[&[1]]]);
    assert_eq!(rows(&mut world, project(limit(scan(0), 0, 0), vec![col(0, 0)])), "");
    assert_eq!(world.reads(), "");
}

#[test]
fn offset_passes_rows_without_reading_their_cells() {
    let mut world = Fake::of(&[&[&[1], &[2], &[3]]]);
    assert_eq!(rows(&mut world, project(limit(scan(0), 1, 1), vec![col(0, 0)])), "2");
    assert_eq!(world.reads(), "t0[0] t0[1] t0[1].0");
}

#[test]
fn and_and_or_decide_which_cells_are_read() {
    let mut world = Fake::of(&[&[&[1, 2]]]);
    let no = op(col(0, 0), "=", int(7));
    let plan = project(scan_where(0, and(vec![no.clone(), op(col(0, 1), "=", int(2))])), vec![int(1)]);
    assert_eq!(rows(&mut world, plan), "");
    assert_eq!(world.reads(), "t0[0] t0[0].0");
    let plan = project(scan_where(0, or(vec![op(col(0, 0), "=", int(1)), op(col(0, 1), "=", int(2))])), vec![int(1)]);
    assert_eq!(rows(&mut world, plan), "1");
    assert_eq!(world.reads(), "");
}

#[test]
fn exists_reads_no_result_cells_and_stops_at_the_first_row() {
    let mut world = Fake::of(&[&[&[1], &[2]]]);
    let inner = sort(scan(0), vec![key(col(0, 0))]);
    let exists = subquery(SubqueryKind::Exists, project(inner, vec![col(0, 0)]), false);
    assert_eq!(rows(&mut world, project(Plan::One, vec![exists])), "true");
    assert_eq!(world.reads(), "t0[0]");
}

#[test]
fn a_join_with_an_empty_left_side_does_not_look_at_the_right_one() {
    for equal in [Vec::new(), vec![(col(0, 0), col(0, 0))]] {
        let mut world = Fake::of(&[&[], &[&[1]]]);
        let join = Join { equal, ..join(JoinKind::Inner, scan(0), scan(1), None) };
        assert_eq!(rows(&mut world, project(Plan::Join(Box::new(join)), vec![col(0, 0)])), "");
        assert_eq!(world.reads(), "");
    }
}

#[test]
fn sorting_reads_the_keys_of_all_rows_and_the_results_of_those_that_are_returned() {
    let mut world = Fake::of(&[&[&[2, 20], &[1, 10]]]);
    let plan = project(limit(sort(scan(0), vec![key(col(0, 0))]), 1, 0), vec![col(0, 1)]);
    assert_eq!(rows(&mut world, plan), "10");
    assert_eq!(world.reads(), "t0[0] t0[0].0 t0[1] t0[1].0 t0[1].1");
}

#[test]
fn an_uncorrelated_subquery_is_evaluated_once() {
    let mut world = Fake::of(&[&[&[1], &[2]]]);
    let changing = Plan::Change(Box::new(Change::Merge(Merge { table: 0, input: Plan::One, clauses: Vec::new() })));
    let once = subquery(SubqueryKind::Scalar, changing, false);
    assert_eq!(rows(&mut world, project(scan(0), vec![col(0, 0), once])), "1 1; 2 1");
}

fn lock(input: Plan, wait: LockWait) -> Plan {
    let lock = RowLock { slots: vec![0], strength: LockStrength::Update, wait };
    Plan::Lock { input: Box::new(input), locks: vec![lock] }
}

#[test]
fn a_row_that_changed_before_it_was_locked_is_checked_again() {
    let changed = |newest: Option<Vec<i64>>| {
        let mut world = Fake::of(&[&[&[1, 10], &[1, 11]]]);
        let newest = newest.map(|row| row.into_iter().map(crate::types::Datum::Int).collect());
        world.concurrent.push((RowRef::seen(0, 0), newest));
        let plan = lock(scan_where(0, op(col(0, 0), "=", int(1))), LockWait::Block);
        rows(&mut world, project(plan, vec![col(0, 1)]))
    };
    assert_eq!(changed(Some(vec![1, 12])), "12; 11");
    assert_eq!(changed(Some(vec![2, 12])), "11");
    assert_eq!(changed(None), "11");
}

#[test]
fn skip_locked_leaves_rows_out() {
    let mut world = Fake::of(&[&[&[1], &[2]]]);
    world.locked_by_others.push(RowRef::seen(0, 0));
    let plan = limit(lock(scan(0), LockWait::SkipLocked), 1, 0);
    assert_eq!(rows(&mut world, project(plan, vec![col(0, 0)])), "2");
    assert_eq!(world.reads(), "t0[0] lock t0[0] t0[1] lock t0[1] t0[1].0");
    assert_ne!(LockOutcome::Skipped, LockOutcome::Gone);
}

#[test]
fn a_locked_side_of_an_outer_join_loses_the_other_one_when_the_condition_no_longer_holds() {
    let mut world = Fake::of(&[&[&[1]], &[&[1]]]);
    world.concurrent.push((RowRef::seen(0, 0), Some(vec![crate::types::Datum::Int(5)])));
    let on = op(col(0, 0), "=", col(1, 0));
    let join = Plan::Join(Box::new(join(JoinKind::Left, scan(0), scan(1), Some(on))));
    let plan = project(lock(join, LockWait::Block), vec![col(0, 0), col(1, 0)]);
    assert_eq!(rows(&mut world, plan), "5 NULL");
}
