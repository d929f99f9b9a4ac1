//! Groups and set-returning functions.

use crate::exec::tests::build::*;
use crate::exec::tests::fake::Fake;
use crate::exec::tests::functions::{COUNT, LIST, LIST_ALL, SUM, UP_TO};
use crate::exec::tests::rows;
use crate::functions::Function;
use crate::ir::*;
use crate::types::Type;

const NULL: i64 = i64::MIN;
const PAIRS: &[&[i64]] = &[&[1, 5], &[2, 7], &[1, 3], &[NULL, 1], &[2, NULL], &[1, 5]];

fn call(function: &'static Function, args: Vec<Expr>) -> AggregateCall {
    AggregateCall { function, args, distinct: false, order: Vec::new(), filter: None, typed: function.returns.into() }
}

fn grouped(input: &[&[i64]], keys: Vec<Expr>, sets: Vec<Vec<usize>>, calls: Vec<AggregateCall>) -> String {
    let grouping = if sets.len() > 1 { vec![(0..keys.len()).collect()] } else { Vec::new() };
    let plan = Aggregate { input: values(input), keys, sets, calls, grouping, primary_keys: Vec::new() };
    rows(&mut Fake::default(), Plan::Aggregate(Box::new(plan)))
}

#[test]
fn groups_come_in_the_order_of_their_first_tuple() {
    let calls = vec![call(&COUNT, vec![]), call(&SUM, vec![col(0, 1)])];
    assert_eq!(grouped(PAIRS, vec![col(0, 0)], vec![vec![0]], calls), "1 3 13; 2 2 7; NULL 1 1");
}

#[test]
fn without_keys_there_is_one_group_even_of_nothing() {
    assert_eq!(grouped(&[], vec![], vec![], vec![call(&COUNT, vec![])]), "0");
    assert_eq!(grouped(&[], vec![], vec![vec![]], vec![call(&COUNT, vec![])]), "0");
    assert_eq!(grouped(&[], vec![col(0, 0)], vec![vec![0]], vec![call(&COUNT, vec![])]), "");
}

#[test]
fn a_strict_aggregate_does_not_see_nulls() {
    let strict = call(&LIST, vec![col(0, 1)]);
    let other = call(&LIST_ALL, vec![col(0, 1)]);
    assert_eq!(grouped(PAIRS, vec![], vec![], vec![strict, other]), "'5,7,3,1,5' '5,7,3,1,NULL,5'");
}

#[test]
fn arguments_are_sorted_filtered_and_made_distinct() {
    let list = || call(&LIST_ALL, vec![col(0, 1)]);
    let one = |call| grouped(PAIRS, vec![], vec![], vec![call]);
    assert_eq!(one(AggregateCall { order: vec![key(col(0, 1))], ..list() }), "'1,3,5,5,7,NULL'");
    assert_eq!(one(AggregateCall { distinct: true, ..list() }), "'1,3,5,7,NULL'");
    let descending = SortKey { expr: col(0, 1), descending: true, nulls_first: true };
    assert_eq!(one(AggregateCall { distinct: true, order: vec![descending], ..list() }), "'NULL,7,5,3,1'");
    let filter = Some(op(col(0, 0), "=", int(1)));
    assert_eq!(one(AggregateCall { filter, ..list() }), "'5,3,5'");
}

#[test]
fn grouping_sets_leave_keys_out() {
    let sets = vec![vec![0, 1], vec![0], vec![]];
    let keys = vec![col(0, 0), col(0, 1)];
    let input: &[&[i64]] = &[&[1, 1], &[1, 2], &[NULL, 1]];
    let expected = "1 1 1 0; 1 2 1 0; NULL 1 1 0; 1 NULL 2 1; NULL NULL 1 1; NULL NULL 3 3";
    assert_eq!(grouped(input, keys.clone(), sets.clone(), vec![call(&COUNT, vec![])]), expected);
    assert_eq!(grouped(&[], keys, sets, vec![call(&COUNT, vec![])]), "NULL NULL 0 3");
}

fn up_to(last: Expr) -> Expr {
    Expr::new(ExprKind::Call { function: &UP_TO, args: vec![last] }, Type::INT4)
}

#[test]
fn sets_go_in_lockstep() {
    let input = values(&[&[2], &[0], &[1]]);
    let calls = vec![up_to(col(0, 0)), up_to(int(2))];
    let plan = Plan::ProjectSet { input: Box::new(input), calls };
    let plan = project(plan, vec![col(0, 0), col(1, 0), col(1, 1)]);
    assert_eq!(rows(&mut Fake::default(), plan), "2 1 1; 2 2 2; 0 NULL 1; 0 NULL 2; 1 1 1; 1 NULL 2");
    let plan = Plan::ProjectSet { input: Box::new(values(&[&[0], &[1]])), calls: vec![up_to(col(0, 0))] };
    assert_eq!(rows(&mut Fake::default(), project(plan, vec![col(0, 0)])), "1");
}

#[test]
fn functions_in_from_stand_side_by_side_and_are_numbered() {
    let columns = vec![("n".into(), Type::INT4.into())];
    let call = |last| FunctionCall { call: up_to(int(last)), columns: columns.clone(), expand: false };
    let plan = Plan::Function(FunctionScan { calls: vec![call(3), call(1)], ordinality: true });
    assert_eq!(rows(&mut Fake::default(), plan), "1 1 1; 2 NULL 2; 3 NULL 3");
    let plan = Plan::Function(FunctionScan {
        calls: vec![FunctionCall { call: int(7), columns, expand: false }],
        ordinality: false,
    });
    assert_eq!(rows(&mut Fake::default(), plan), "7");
}

#[test]
fn a_set_where_a_value_is_expected_is_refused() {
    let error = "0A000: set-valued function called in context that cannot accept a set";
    assert_eq!(rows(&mut Fake::default(), project(Plan::One, vec![up_to(int(1))])), error);
}
