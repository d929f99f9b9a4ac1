//! Window functions and their frames.

use crate::exec::tests::build::*;
use crate::exec::tests::fake::Fake;
use crate::exec::tests::functions::{LIST, SUM, window};
use crate::exec::tests::rows;
use crate::functions::{Function, WindowFunction};
use crate::ir::*;

const NULL: i64 = i64::MIN;

fn whole() -> Frame {
    frame(FrameMode::Range, FrameBound::UnboundedPreceding, FrameBound::CurrentRow)
}

fn frame(mode: FrameMode, start: FrameBound, end: FrameBound) -> Frame {
    Frame { mode, start, end, exclude: FrameExclude::NoOthers }
}

/// A call over the first column, ordered by it.
fn call(function: &'static Function, args: Vec<Expr>, frame: Frame) -> WindowCall {
    let (partition, order) = (Vec::new(), vec![key(col(0, 0))]);
    WindowCall { function, args, filter: None, partition, order, frame, name: None, typed: function.returns.into() }
}

/// The column of values of a call.
fn values_of(input: &[&[i64]], call: WindowCall) -> String {
    let plan = Plan::Window { input: Box::new(values(input)), calls: vec![call] };
    rows(&mut Fake::default(), project(plan, vec![col(1, 0)])).replace("; ", " ")
}

const TIES: &[&[i64]] = &[&[10], &[20], &[20], &[30]];

#[test]
fn ranks() {
    let of = |which| values_of(TIES, call(window(which), vec![], whole()));
    assert_eq!(of(WindowFunction::RowNumber), "1 2 3 4");
    assert_eq!(of(WindowFunction::Rank), "1 2 2 4");
    assert_eq!(of(WindowFunction::DenseRank), "1 2 2 3");
    assert_eq!(of(WindowFunction::PercentRank), "0.0 0.3333333333333333 0.3333333333333333 1.0");
    assert_eq!(of(WindowFunction::CumeDist), "0.25 0.75 0.75 1.0");
}

#[test]
fn ntile_makes_the_first_buckets_larger() {
    let of = |buckets| {
        values_of(&[&[1], &[2], &[3], &[4], &[5]], call(window(WindowFunction::Ntile), vec![buckets], whole()))
    };
    assert_eq!(of(int(3)), "1 1 2 2 3");
    assert_eq!(of(int(9)), "1 2 3 4 5");
    assert_eq!(of(null()), "NULL NULL NULL NULL NULL");
    assert_eq!(of(int(0)), "22014: argument of ntile must be greater than zero");
}

#[test]
fn neighbours() {
    let of = |which, args| values_of(TIES, call(window(which), args, whole()));
    assert_eq!(of(WindowFunction::Lag, vec![col(0, 0)]), "NULL 10 20 20");
    assert_eq!(of(WindowFunction::Lead, vec![col(0, 0), int(2), int(-1)]), "20 30 -1 -1");
    assert_eq!(of(WindowFunction::Lag, vec![col(0, 0), int(-1)]), "20 20 30 NULL");
    assert_eq!(of(WindowFunction::Lag, vec![col(0, 0), null()]), "NULL NULL NULL NULL");
}

#[test]
fn values_of_the_frame() {
    let of = |which, args, frame| values_of(TIES, call(window(which), args, frame));
    let near = || frame(FrameMode::Rows, FrameBound::Preceding(int(1)), FrameBound::Following(int(1)));
    assert_eq!(of(WindowFunction::FirstValue, vec![col(0, 0)], near()), "10 10 20 20");
    assert_eq!(of(WindowFunction::LastValue, vec![col(0, 0)], near()), "20 20 30 30");
    assert_eq!(of(WindowFunction::NthValue, vec![col(0, 0), int(3)], near()), "NULL 20 30 NULL");
    assert_eq!(of(WindowFunction::LastValue, vec![col(0, 0)], whole()), "10 20 20 30");
}

#[test]
fn frames_of_rows_groups_and_ranges() {
    let of = |mode, start, end| values_of(TIES, call(&LIST, vec![col(0, 0)], frame(mode, start, end)));
    let (preceding, following) = (|by| FrameBound::Preceding(int(by)), |by| FrameBound::Following(int(by)));
    assert_eq!(of(FrameMode::Rows, preceding(1), FrameBound::CurrentRow), "'10' '10,20' '20,20' '20,30'");
    assert_eq!(of(FrameMode::Groups, preceding(1), FrameBound::CurrentRow), "'10' '10,20,20' '10,20,20' '20,20,30'");
    assert_eq!(of(FrameMode::Range, preceding(9), FrameBound::CurrentRow), "'10' '20,20' '20,20' '30'");
    assert_eq!(of(FrameMode::Range, preceding(10), following(0)), "'10' '10,20,20' '10,20,20' '20,20,30'");
    assert_eq!(of(FrameMode::Rows, following(1), FrameBound::UnboundedFollowing), "'20,20,30' '20,30' '30' ''");
    assert_eq!(of(FrameMode::Rows, preceding(2), preceding(1)), "'' '10' '10,20' '20,20'");
    assert_eq!(of(FrameMode::Groups, following(1), following(5)), "'20,20,30' '30' '30' ''");
    let error = "22013: frame starting offset must not be negative";
    assert_eq!(of(FrameMode::Rows, preceding(-1), FrameBound::CurrentRow), error);
    let error = "22013: invalid preceding or following size in window function";
    assert_eq!(of(FrameMode::Range, preceding(-1), FrameBound::CurrentRow), error);
}

#[test]
fn nulls_are_peers_in_a_range() {
    let of = |frame| values_of(&[&[1], &[NULL], &[2], &[NULL]], call(&SUM, vec![int(1)], frame));
    let near = frame(FrameMode::Range, FrameBound::Preceding(int(5)), FrameBound::Following(int(5)));
    assert_eq!(of(near), "2 2 2 2");
    let before = frame(FrameMode::Range, FrameBound::UnboundedPreceding, FrameBound::Following(int(5)));
    assert_eq!(of(before), "2 2 4 4");
}

#[test]
fn frames_leave_out_the_row_its_group_or_its_ties() {
    let of = |exclude| {
        let all = frame(FrameMode::Rows, FrameBound::UnboundedPreceding, FrameBound::UnboundedFollowing);
        values_of(TIES, call(&LIST, vec![col(0, 0)], Frame { exclude, ..all }))
    };
    assert_eq!(of(FrameExclude::CurrentRow), "'20,20,30' '10,20,30' '10,20,30' '10,20,20'");
    assert_eq!(of(FrameExclude::Group), "'20,20,30' '10,30' '10,30' '10,20,20'");
    assert_eq!(of(FrameExclude::Ties), "'10,20,20,30' '10,20,30' '10,20,30' '10,20,20,30'");
}

#[test]
fn a_sliding_frame_agrees_with_one_that_is_added_up_again() {
    let input: Vec<Vec<i64>> = (0..40).map(|i| vec![i * 7 % 13]).collect();
    let input: Vec<&[i64]> = input.iter().map(Vec::as_slice).collect();
    for mode in [FrameMode::Rows, FrameMode::Range, FrameMode::Groups] {
        for (back, ahead) in [(0, 0), (1, 2), (3, 0), (0, 4)] {
            let around = || frame(mode, FrameBound::Preceding(int(back)), FrameBound::Following(int(ahead)));
            let sums = values_of(&input, call(&SUM, vec![col(0, 0)], around()));
            let lists = values_of(&input, call(&LIST, vec![col(0, 0)], around()));
            let sum =
                |list: &str| list.trim_matches('\'').split(',').filter_map(|v| v.parse::<i64>().ok()).sum::<i64>();
            let added: Vec<String> = lists.split(' ').map(|list| sum(list).to_string()).collect();
            assert_eq!(sums, added.join(" "));
        }
    }
}

#[test]
fn partitions_stand_alone_and_come_out_sorted() {
    let input = values(&[&[2, 1], &[1, 2], &[2, 3], &[1, 4]]);
    let sum =
        WindowCall { partition: vec![col(0, 0)], order: vec![key(col(0, 1))], ..call(&SUM, vec![col(0, 1)], whole()) };
    let filtered = WindowCall { filter: Some(op(col(0, 1), ">", int(2))), ..sum.clone() };
    let plan = Plan::Window { input: Box::new(input), calls: vec![sum, filtered] };
    let plan = project(plan, vec![col(0, 0), col(0, 1), col(1, 0), col(1, 1)]);
    assert_eq!(rows(&mut Fake::default(), plan), "1 2 2 0; 1 4 6 4; 2 1 1 0; 2 3 4 3");
}
