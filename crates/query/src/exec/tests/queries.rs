//! What operators make of their input.

use crate::budget;
use crate::exec::Tuple;
use crate::exec::tests::build::*;
use crate::exec::tests::fake::Fake;
use crate::exec::tests::rows;
use crate::ir::*;
use crate::types::{Datum, Type};

const NULL: i64 = i64::MIN;

/// `SELECT expr`
fn value(expr: Expr) -> String {
    rows(&mut Fake::default(), project(Plan::One, vec![expr]))
}

#[test]
fn three_valued_logic() {
    let all = [Some(true), Some(false), None];
    let table = |make: fn(Vec<Expr>) -> Expr| {
        let pairs = all.iter().flat_map(|left| all.iter().map(move |right| (*left, *right)));
        let values = pairs.map(|(left, right)| value(make(vec![boolean(left), boolean(right)])));
        values.map(|value| value[..1].to_owned()).collect::<String>()
    };
    assert_eq!(table(and), "tfNfffNfN");
    assert_eq!(table(or), "ttttfNtNN");
    assert_eq!(value(Expr::new(ExprKind::Not(Box::new(boolean(None))), Type::BOOL)), "NULL");
}

#[test]
fn case_evaluates_its_operand_once_and_only_the_branch_it_takes() {
    let operand = Expr::new(ExprKind::Operand, Type::INT4);
    let when = |value: i64| op(operand.clone(), "=", int(value));
    let case = ExprKind::Case {
        operand: Some(Box::new(int(2))),
        branches: vec![(when(1), op(int(1), "/", int(0))), (when(2), int(20))],
        otherwise: Some(Box::new(int(0))),
    };
    assert_eq!(value(Expr::new(case, Type::INT4)), "20");
    let null_if = |left, right| ExprKind::NullIf {
        value: Box::new(int(left)),
        equal: Box::new(op(operand.clone(), "=", int(right))),
    };
    assert_eq!(value(Expr::new(null_if(1, 1), Type::INT4)), "NULL");
    assert_eq!(value(Expr::new(null_if(1, 2), Type::INT4)), "1");
}

#[test]
fn any_and_all_with_nulls() {
    let quantified = |arg: Expr, list: Vec<Expr>, all| {
        let operator = operator(if all { "<>" } else { "=" });
        let list = Quantified::List(list);
        value(Expr::new(ExprKind::Quantified { arg: Box::new(arg), operator, list, all }, Type::BOOL))
    };
    assert_eq!(quantified(int(1), vec![int(2), null(), int(1)], false), "true");
    assert_eq!(quantified(int(1), vec![int(2), null()], false), "NULL");
    assert_eq!(quantified(int(1), vec![int(2), int(3)], true), "true");
    assert_eq!(quantified(int(1), vec![int(2), null()], true), "NULL");
    assert_eq!(quantified(null(), vec![int(2)], false), "NULL");
}

#[test]
fn a_long_list_is_looked_up_with_the_same_answers() {
    let found = |arg: Expr, extra: Expr, all| {
        let operator = operator(if all { "<>" } else { "=" });
        let list = Quantified::List((0..20).map(int).chain([extra]).collect());
        value(Expr::new(ExprKind::Quantified { arg: Box::new(arg), operator, list, all }, Type::BOOL))
    };
    assert_eq!(found(int(7), null(), false), "true");
    assert_eq!(found(int(70), int(1), false), "false");
    assert_eq!(found(int(70), null(), false), "NULL");
    assert_eq!(found(null(), int(1), false), "NULL");
    assert_eq!(found(int(7), null(), true), "false");
    assert_eq!(found(int(70), int(1), true), "true");
    assert_eq!(found(int(70), null(), true), "NULL");
}

#[test]
fn in_subquery_with_nulls() {
    let found = |arg: Expr, list: &[&[i64]]| {
        let hashed = value(any(arg.clone(), values(list), false));
        assert_eq!(hashed, value(any(arg, values(list), true)), "found by hash as by going through");
        hashed
    };
    assert_eq!(found(int(1), &[&[1], &[NULL]]), "true");
    assert_eq!(found(int(2), &[&[1], &[NULL]]), "NULL");
    assert_eq!(found(int(2), &[&[1]]), "false");
    assert_eq!(found(null(), &[&[1]]), "NULL");
    assert_eq!(found(null(), &[]), "false");
}

#[test]
fn rows_compare_field_by_field() {
    let compare = |operator, left: &[i64], right: &[i64]| {
        let fields = |row: &[i64]| row.iter().map(|v| if *v == NULL { null() } else { int(*v) }).collect();
        let kind = ExprKind::CompareRows { operator, left: fields(left), right: fields(right) };
        value(Expr::new(kind, Type::BOOL))
    };
    assert_eq!(compare(RowOperator::Equal, &[1, NULL], &[2, 1]), "false");
    assert_eq!(compare(RowOperator::Equal, &[1, NULL], &[1, 1]), "NULL");
    assert_eq!(compare(RowOperator::NotEqual, &[1, NULL], &[2, 1]), "true");
    assert_eq!(compare(RowOperator::Less, &[1, NULL], &[2, 1]), "true");
    assert_eq!(compare(RowOperator::Less, &[1, NULL], &[1, 1]), "NULL");
    assert_eq!(compare(RowOperator::LessOrEqual, &[1, 2], &[1, 2]), "true");
}

#[test]
fn a_scalar_subquery_has_at_most_one_row() {
    assert_eq!(value(subquery(SubqueryKind::Scalar, values(&[&[7]]), false)), "7");
    assert_eq!(value(subquery(SubqueryKind::Scalar, Plan::Empty { slots: 1 }, false)), "NULL");
    let two = value(subquery(SubqueryKind::Scalar, values(&[&[7], &[8]]), false));
    assert_eq!(two, "21000: more than one row returned by a subquery used as an expression");
}

#[test]
fn a_correlated_subquery_sees_the_tuple_around_it() {
    let mut world = Fake::of(&[&[&[1], &[2]], &[&[1, 10], &[2, 20], &[2, 21]]]);
    let inner = project(scan_where(1, op(col(0, 0), "=", outer(1, 0, 0))), vec![col(0, 1)]);
    let exists = |plan| subquery(SubqueryKind::Exists, plan, true);
    assert_eq!(rows(&mut world, project(scan(0), vec![col(0, 0), exists(inner.clone())])), "1 true; 2 true");
    let first = subquery(SubqueryKind::Scalar, limit(inner, 1, 0), true);
    assert_eq!(rows(&mut world, project(scan(0), vec![first])), "10; 20");
}

#[test]
fn joins_of_all_kinds_by_hash_and_tuple_by_tuple() {
    let joined = |kind, hash: bool| {
        let mut world = Fake::of(&[&[&[1], &[2], &[NULL], &[3]], &[&[2], &[2], &[NULL], &[4]]]);
        let on = op(col(0, 0), "=", col(1, 0));
        let equal = if hash { vec![(col(0, 0), col(0, 0))] } else { Vec::new() };
        let join = Join { equal, ..join(kind, scan(0), scan(1), Some(on)) };
        rows(&mut world, project(Plan::Join(Box::new(join)), vec![col(0, 0), col(1, 0)]))
    };
    for hash in [false, true] {
        assert_eq!(joined(JoinKind::Inner, hash), "2 2; 2 2");
        assert_eq!(joined(JoinKind::Left, hash), "1 NULL; 2 2; 2 2; NULL NULL; 3 NULL");
        assert_eq!(joined(JoinKind::Right, hash), "2 2; 2 2; NULL NULL; NULL 4");
        assert_eq!(joined(JoinKind::Full, hash), "1 NULL; 2 2; 2 2; NULL NULL; 3 NULL; NULL NULL; NULL 4");
    }
}

#[test]
fn a_lateral_join_makes_its_right_side_for_each_left_tuple() {
    let lateral = |kind| {
        let mut world = Fake::of(&[&[&[1], &[2], &[3]], &[&[1], &[2]]]);
        let right = scan_where(1, op(col(0, 0), "<", outer(1, 0, 0)));
        let join = Join { lateral: true, ..join(kind, scan(0), right, None) };
        rows(&mut world, project(Plan::Join(Box::new(join)), vec![col(0, 0), col(1, 0)]))
    };
    assert_eq!(lateral(JoinKind::Inner), "2 1; 3 1; 3 2");
    assert_eq!(lateral(JoinKind::Left), "1 NULL; 2 1; 3 1; 3 2");
}

#[test]
fn an_index_lookup_for_each_left_tuple() {
    let mut world = Fake::of(&[&[&[2], &[1], &[9]], &[&[1, 10], &[2, 20]]]);
    let access = Access::Index { index: 5, equal: vec![KeyValue::One(outer(1, 0, 0))], from: None, to: None };
    let right = Plan::Scan(Scan { table: 1, access, filter: None, reverse: false, seeks: false });
    let join = Join { lateral: true, ..join(JoinKind::Inner, scan(0), right, None) };
    assert_eq!(rows(&mut world, project(Plan::Join(Box::new(join)), vec![col(1, 1)])), "20; 10");
}

#[test]
fn alternatives_of_a_key_are_sorted_and_looked_up_once() {
    let found = |key| {
        let mut world = Fake::of(&[&[&[1], &[2], &[3]]]);
        let access = Access::Index { index: 5, equal: vec![key], from: None, to: None };
        let plan = Plan::Scan(Scan { table: 0, access, filter: None, reverse: false, seeks: false });
        rows(&mut world, project(plan, vec![col(0, 0)]))
    };
    assert_eq!(found(KeyValue::Any(vec![int(3), int(1), null(), int(3)])), "1; 3");
    assert_eq!(found(KeyValue::One(null())), "");
    assert_eq!(found(KeyValue::Any(vec![])), "");
}

#[test]
fn sorting_is_stable_and_places_nulls() {
    let input = || values(&[&[2, 1], &[NULL, 2], &[1, 3], &[2, 4]]);
    let both = || vec![col(0, 0), col(0, 1)];
    let sorted = |key: SortKey| rows(&mut Fake::default(), project(sort(input(), vec![key]), both()));
    assert_eq!(sorted(key(col(0, 0))), "1 3; 2 1; 2 4; NULL 2");
    let descending = SortKey { expr: col(0, 0), descending: true, nulls_first: true };
    assert_eq!(sorted(descending), "NULL 2; 2 1; 2 4; 1 3");
    let descending = SortKey { expr: col(0, 0), descending: true, nulls_first: false };
    assert_eq!(sorted(descending), "2 1; 2 4; 1 3; NULL 2");
}

#[test]
fn a_bound_sort_keeps_the_first_ones() {
    let many: Vec<Vec<Expr>> = (0..3000).map(|i| vec![int(i * 7919 % 3000)]).collect();
    let plan = project(limit(sort(Plan::Values(many), vec![key(col(0, 0))]), 3, 2), vec![col(0, 0)]);
    assert_eq!(rows(&mut Fake::default(), plan), "2; 3; 4");
}

#[test]
fn limit_with_ties_gives_the_equals_of_the_last_one() {
    let input = sort(values(&[&[1], &[2], &[2], &[3]]), vec![key(col(0, 0))]);
    let ties = vec![key(col(0, 0))];
    let plan = Limit { input, limit: Some(int(2)), offset: None, ties };
    assert_eq!(rows(&mut Fake::default(), project(Plan::Limit(Box::new(plan)), vec![col(0, 0)])), "1; 2; 2");
}

#[test]
fn limits_are_not_negative() {
    assert_eq!(rows(&mut Fake::default(), limit(values(&[&[1]]), -1, 0)), "2201W: LIMIT must not be negative");
    assert_eq!(rows(&mut Fake::default(), limit(values(&[&[1]]), 1, -1)), "2201X: OFFSET must not be negative");
}

#[test]
fn set_operations() {
    let left: &[&[i64]] = &[&[1], &[1], &[2], &[NULL]];
    let right: &[&[i64]] = &[&[1], &[NULL], &[3]];
    let combined = |kind, all| {
        let (left, right) = (Box::new(values(left)), Box::new(values(right)));
        rows(&mut Fake::default(), Plan::SetOperation { kind, all, left, right })
    };
    assert_eq!(combined(SetKind::Union, true), "1; 1; 2; NULL; 1; NULL; 3");
    assert_eq!(combined(SetKind::Union, false), "1; 2; NULL; 3");
    assert_eq!(combined(SetKind::Intersect, true), "1; NULL");
    assert_eq!(combined(SetKind::Intersect, false), "1; NULL");
    assert_eq!(combined(SetKind::Except, true), "1; 2");
    assert_eq!(combined(SetKind::Except, false), "2");
}

#[test]
fn a_long_chain_of_unions_is_not_deep() {
    let union = |left, right| Plan::SetOperation { kind: SetKind::Union, all: true, left, right };
    let chain = (0..5000).fold(values(&[&[0]]), |left, _| union(Box::new(left), Box::new(values(&[&[0]]))));
    assert_eq!(rows(&mut Fake::default(), limit(chain, 1, 4999)), "0");
}

#[test]
fn distinct_keeps_the_first_of_equals() {
    let input = values(&[&[2, 1], &[1, 2], &[2, 3], &[2, 1]]);
    assert_eq!(rows(&mut Fake::default(), Plan::Distinct(Box::new(input.clone()))), "2 1; 1 2; 2 3");
    let on = Plan::DistinctOn { input: Box::new(input), keys: vec![col(0, 0)] };
    assert_eq!(rows(&mut Fake::default(), on), "2 1; 1 2");
}

#[test]
fn a_recursive_query_goes_round_by_round() {
    let next = project(filter(Plan::Cte { cte: 0 }, op(col(0, 0), "<", int(5))), vec![op(col(0, 0), "+", int(1))]);
    let plan = with(vec![cte(0, values(&[&[1], &[3]]), Some((next, false)))], Plan::Cte { cte: 0 });
    assert_eq!(rows(&mut Fake::default(), plan), "1; 3; 2; 4; 3; 5; 4; 5");
}

#[test]
fn a_recursive_union_ends_when_nothing_is_new() {
    let next = project(Plan::Cte { cte: 0 }, vec![op(op(col(0, 0), "+", int(1)), "%", int(3))]);
    let plan = with(vec![cte(0, values(&[&[0]]), Some((next, true)))], Plan::Cte { cte: 0 });
    assert_eq!(rows(&mut Fake::default(), plan), "0; 1; 2");
}

#[test]
fn limit_ends_a_recursion_without_end() {
    let next = project(Plan::Cte { cte: 0 }, vec![op(col(0, 0), "+", int(1))]);
    let plan = with(vec![cte(0, values(&[&[1]]), Some((next, false)))], limit(Plan::Cte { cte: 0 }, 3, 0));
    assert_eq!(rows(&mut Fake::default(), plan), "1; 2; 3");
}

#[test]
fn a_cte_of_a_correlated_subquery_is_made_anew_for_each_tuple() {
    let mut world = Fake::of(&[&[&[1], &[2]]]);
    let inner = with(vec![cte(0, project(Plan::One, vec![outer(1, 0, 0)]), None)], Plan::Cte { cte: 0 });
    let nested = subquery(SubqueryKind::Scalar, inner, true);
    assert_eq!(rows(&mut world, project(scan(0), vec![nested])), "1; 2");
    // Read one level further in, the expression still sees what is around its WITH.
    let deep = subquery(SubqueryKind::Scalar, project(Plan::Cte { cte: 0 }, vec![col(0, 0)]), true);
    let inner = with(vec![cte(0, project(Plan::One, vec![outer(1, 0, 0)]), None)], project(Plan::One, vec![deep]));
    let nested = subquery(SubqueryKind::Scalar, inner, true);
    assert_eq!(rows(&mut world, project(scan(0), vec![nested])), "1; 2");
}

#[test]
fn a_data_changing_cte_is_done_once_also_if_nobody_reads_it() {
    let change = || Plan::Change(Box::new(Change::Merge(Merge { table: 0, input: Plan::One, clauses: Vec::new() })));
    let mut world = Fake::default();
    assert_eq!(rows(&mut world, with(vec![cte(0, change(), None)], values(&[&[9]]))), "9");
    assert_eq!(world.changes, 1);
    let twice = Join { slots: (1, 1), ..join(JoinKind::Inner, Plan::Cte { cte: 0 }, Plan::Cte { cte: 0 }, None) };
    let plan = project(Plan::Join(Box::new(twice)), vec![col(0, 0), col(1, 0)]);
    assert_eq!(rows(&mut world, with(vec![cte(0, change(), None)], plan)), "2 2");
    assert_eq!(world.changes, 2);
}

#[test]
fn a_statement_that_keeps_too_much_is_stopped() {
    let _budget = budget::begin(budget::Grant {
        wish: budget::Wish::new(),
        deadline: None,
        memory_bytes: 1000,
        stack_bytes: 2 << 20,
    });
    let mut world = Fake::default();
    let many = Plan::Values((0..100).map(|i| vec![int(i)]).collect());
    let error = rows(&mut world, sort(many, vec![key(col(0, 0))]));
    assert_eq!(error, "53200: out of memory");
}

#[test]
fn a_deep_expression_is_refused() {
    let _budget = budget::begin_alone();
    let deep = (0..5000).fold(int(1), |inner, _| Expr::new(ExprKind::Coalesce(vec![inner]), Type::INT4));
    assert_eq!(value(deep), "54001: stack depth limit exceeded");
}

#[test]
fn a_cancelled_statement_stops() {
    let mut world = Fake { cancelled: true, ..Fake::default() };
    let next = project(Plan::Cte { cte: 0 }, vec![op(op(col(0, 0), "+", int(1)), "%", int(3))]);
    let plan = with(vec![cte(0, values(&[&[0]]), Some((next, false)))], Plan::Cte { cte: 0 });
    assert_eq!(rows(&mut world, plan), "57014: cancelled");
}

#[test]
fn tuples_grow_beyond_their_inline_slots() {
    let one = |value| Tuple::values(vec![Datum::Int(value)].into());
    let all = (1..5).fold(Tuple::default(), |tuple, value| tuple.joined(&one(value)));
    assert_eq!(all.len(), 4);
    assert_eq!(all.tail(3).len(), 1);
    assert_eq!(all.slots().count(), 4);
}

#[test]
fn a_long_sum_is_not_too_deep() {
    assert_eq!(value((0..600).fold(int(1), |sum, _| op(sum, "+", int(1)))), "601");
}
