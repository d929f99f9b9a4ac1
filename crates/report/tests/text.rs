//! Reports as text: what people see on a terminal.
mod common;

use common::Sample;
use skew_report::{Style, text};

#[track_caller]
fn check(sample: &Sample, style: Style, expected: &str) {
    let found = sample.report(|report| text(report, style));
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

fn narrow(width: usize) -> Style {
    Style { width, ..Style::default() }
}

fn expanded() -> Style {
    Style { expand: true, ..Style::default() }
}

#[test]
fn write_skew_points_at_the_two_reads() {
    check(
        &common::write_skew(),
        Style::default(),
        "\
on-call.hist: 2 transactions, 4 operations, 2 sessions
  ser   violated   write-skew
  si    holds      (commit order verified)

violated[write-skew]: t1 and t2 each read what the other one overwrote
  --> on-call.hist:3
  |
3 | alice  t1 @si   r x=0   w y=1
  |                 ^^^^^ t1 comes before t2: t1 read x=0, which t2 overwrote with x=1
4 | bob    t2 @si   r y=0   w x=1
  |                 ^^^^^ but t2 comes before t1: t2 read y=0, which t1 overwrote with y=1
  = cycle   t1 -rw(x)-> t2 -rw(y)-> t1
  = breaks  ser        still satisfies  si
  = fix     lock what each of them only reads, or run both at SERIALIZABLE
  = replay  skew check on-call.hist --level ser

strongest level that holds: si
",
    );
}

#[test]
fn lost_update_answers_three_levels_and_is_shown_once() {
    check(
        &common::lost_update(),
        Style::default(),
        "\
counter.hist: 2 transactions, 4 operations, 2 sessions
  ser   violated   lost-update
  si    violated   lost-update
  psi   violated   lost-update
  pc    holds      (commit order verified)

violated[lost-update]: t1 and t2 both overwrote x, and t1 had read it before t2 wrote: one update is lost
  --> counter.hist:2
  |
2 | alice t1  r x=0  w x=1
  |           ^^^^^ t1 comes before t2: t1 read x=0, which t2 overwrote with x=2
3 | bob   t2  r x=0  w x=2
  |           ^^^^^ but t2 comes before t1: t2 read x=0, which t1 overwrote with x=1
  = cycle   t1 -rw(x)-> t2 -rw(x)-> t1
  = breaks  psi, mvrc  still satisfies  pc
  = fix     let the database do the arithmetic in one UPDATE, or read with SELECT … FOR UPDATE, or
            run both at snapshot isolation and retry
  = replay  skew check counter.hist --level psi

strongest level that holds: pc
",
    );
}

#[test]
fn long_fork_numbers_its_notes_because_the_file_has_another_order() {
    check(
        &common::long_fork(),
        Style::default(),
        "\
fork.hist: 4 transactions, 6 operations, 4 sessions
  ser   violated   long-fork
  si    violated   long-fork
  pc    violated   long-fork
  psi   holds      (commit order verified)

violated[long-fork]: t3 and t4 saw two independent writes in opposite orders
  --> fork.hist:4
  |
2 | ann   t1  w x=1
  |           ^^^^^ 4. but t1 comes before t3: t3 read x=1, which t1 wrote
3 | bob   t2  w y=1
  |           ^^^^^ 2. t2 comes before t4: t4 read y=1, which t2 wrote
4 | carol t3  r x=1  r y=0
  |                  ^^^^^ 1. t3 comes before t2: t3 read y=0, which t2 overwrote with y=1
5 | dave  t4  r y=1  r x=0
  |                  ^^^^^ 3. t4 comes before t1: t4 read x=0, which t1 overwrote with x=1
  = cycle   t3 -rw(y)-> t2 -wr(y)-> t4 -rw(x)-> t1 -wr(x)-> t3
  = breaks  pc         still satisfies  psi
  = fix     run the readers at prefix consistency, snapshot isolation or stronger
  = replay  skew check fork.hist --level pc

strongest level that holds: psi
",
    );
}

#[test]
fn a_session_edge_has_a_note_and_an_inferred_one_its_reason() {
    check(
        &common::causality(),
        Style::default(),
        "\
feed.hist: 4 transactions, 6 operations, 3 sessions
  ser   violated   non-monotonic-session
  si    violated   non-monotonic-session
  cc    violated   non-monotonic-session
  ra    holds      (commit order verified)

violated[non-monotonic-session]: t4 read a version of x older than what its session had already seen of t2
  --> feed.hist:5
  |
2 | ann   t1  w x=1
  |           ----- the x=1 that t4 read
3 | bob   t2  r x=1  w x=2  w y=1
  |                         ^^^^^ 2. t2 comes before t3: t3 read y=1, which t2 wrote
4 | carol t3  r y=1
  |           3. but t3 comes before t4: t3 ran before t4 in session carol
5 | carol t4  r x=1
  |           ^^^^^ 1. t4 comes before t2: t4 read x=1, which t2 overwrote with x=2
  |                 = because x=1 of t1 is older than x=2 of t2: t2 read x=1, which t1 wrote
  = cycle   t4 -rw(x)-> t2 -wr(y)-> t3 -so-> t4
  = breaks  cc         still satisfies  ra
  = fix     keep a session on one replica, or use a causally consistent session
  = replay  skew check feed.hist --level cc

strongest level that holds: ra
",
    );
}

#[test]
fn an_inferred_order_names_the_reader_and_folds_what_lies_deeper() {
    check(
        &common::inferred_order(),
        Style::default(),
        "\
posts.hist: 4 transactions, 8 operations, 4 sessions
  ser   violated   fractured-read
  ra    violated   fractured-read
  rc    holds      (commit order verified)

violated[fractured-read]: t4 saw one write of t2 but not t2's write of x
  --> posts.hist:4
  |
1 | ann   t1  w x=1  w y=1
  |           ----- the x=1 that t4 read
2 | bob   t2  w x=2  w z=2
  |                  ^^^^^ 2. but t2 comes before t4: t4 read z=2, which t2 wrote
3 | carol t3  r y=1  r x=2
  |                  ----- t3 read x=2 of t2
4 | dave  t4  r z=2  r x=1
  |                  ^^^^^ 1. t4 comes before t2: t4 read x=1, which t2 overwrote with x=2
  |                        = because x=1 of t1 is older than x=2 of t2: t3 had to see x=1 of t1,
  |                          yet read x=2 of t2, which is therefore newer …
  = cycle   t4 -rw(x)-> t2 -wr(z)-> t4
  = breaks  ra         still satisfies  rc
  = fix     read both keys in one statement, or run t4 at REPEATABLE READ or snapshot isolation
  = replay  skew check posts.hist --level ra

strongest level that holds: rc
",
    );
}

#[test]
fn expand_unfolds_every_reason() {
    check(
        &common::inferred_order(),
        expanded(),
        "\
posts.hist: 4 transactions, 8 operations, 4 sessions
  ser   violated   fractured-read
  ra    violated   fractured-read
  rc    holds      (commit order verified)

violated[fractured-read]: t4 saw one write of t2 but not t2's write of x
  --> posts.hist:4
  |
1 | ann   t1  w x=1  w y=1
  |           ----- the x=1 that t4 read
2 | bob   t2  w x=2  w z=2
  |                  ^^^^^ 2. but t2 comes before t4: t4 read z=2, which t2 wrote
3 | carol t3  r y=1  r x=2
  |                  ----- t3 read x=2 of t2
4 | dave  t4  r z=2  r x=1
  |                  ^^^^^ 1. t4 comes before t2: t4 read x=1, which t2 overwrote with x=2
  |                        = because x=1 of t1 is older than x=2 of t2: t3 had to see x=1 of t1,
  |                          yet read x=2 of t2, which is therefore newer
  |                          = because t3 had to see t1: t3 read y=1, which t1 wrote
  = cycle   t4 -rw(x)-> t2 -wr(z)-> t4
  = breaks  ra         still satisfies  rc
  = fix     read both keys in one statement, or run t4 at REPEATABLE READ or snapshot isolation
  = replay  skew check posts.hist --level ra

strongest level that holds: rc
",
    );
}

#[test]
fn a_path_of_reasons_is_a_list() {
    check(
        &common::inferred_edge(),
        Style::default(),
        "\
thread.hist: 5 transactions, 8 operations, 5 sessions
  cc    violated   causality-violation

violated[causality-violation]: t2 saw a consequence of t1 but not t1's write of x
  --> thread.hist:2
  |
1 | ann   t1  w x=1
  |           ^^^^^ 2. but t1 comes before t2: t4 had to see x=1 of t1, yet read x=2 of t2, which is
  |                 therefore newer
  |                 = because t4 had to see t1:
  |                   t1 comes before t3: t3 read x=1, which t1 wrote
  |                   t3 comes before t4: t4 read z=1, which t3 wrote
2 | bob   t2  w x=2
  |           ^^^^^ 1. t2 comes before t1: t5 had to see x=2 of t2, yet read x=1 of t1, which is
  |                 therefore newer
  |                 = because t5 had to see t2: t5 read x=2, which t2 wrote
3 | carol t3  r x=1  w z=1
4 | dave  t4  r z=1  r x=2
  |                  ----- t4 read x=2 of t2
5 | erin  t5  r x=2  r x=1
  |                  ----- t5 read x=1 of t1
  = cycle   t2 -ww(x)-> t1 -ww(x)-> t2
  = breaks  cc
  = fix     use causally consistent sessions, or run t2 at snapshot isolation
  = replay  skew check thread.hist --level cc

cc is violated
",
    );
}

#[test]
fn cases_show_why_either_order_fails() {
    check(
        &common::lost_update_by_cases(),
        Style::default(),
        "\
counter.hist: 2 transactions, 4 operations, 2 sessions
  si    violated   lost-update

violated[lost-update]: t2 and t1 both overwrote x, and t2 had read it before t1 wrote: one update is lost
  --> counter.hist:3
  = either order of t1 and t2 on x fails:
  |
  = if t1 comes before t2: cycle t2 -rw(x)-> t1 -ww(x)-> t2
  |
2 | alice t1  r x=0  w x=1
  |                  ^^^^^ 2. but t1 comes before t2: that is what this case supposes
3 | bob   t2  r x=0  w x=2
  |           ^^^^^ 1. t2 comes before t1: t2 read x=0, which t1 overwrote with x=1
  |
  = if t2 comes before t1: cycle t1 -rw(x)-> t2 -ww(x)-> t1
  |
2 | alice t1  r x=0  w x=1
  |           ^^^^^ t1 comes before t2: t1 read x=0, which t2 overwrote with x=2
3 | bob   t2  r x=0  w x=2
  |                  ^^^^^ but t2 comes before t1: that is what this case supposes
  = breaks  psi        still satisfies  pc
  = fix     let the database do the arithmetic in one UPDATE, or read with SELECT … FOR UPDATE, or
            run both at snapshot isolation and retry
  = replay  skew check counter.hist --level si

si is violated
",
    );
}

#[test]
fn a_thin_air_read_needs_only_its_line() {
    check(
        &common::thin_air(),
        Style::default(),
        "\
odd.hist: 2 transactions, 2 operations, 2 sessions
  ser   violated   thin-air-read
  si    violated   thin-air-read
  ru    violated   thin-air-read

violated[thin-air-read]: t2 read x=5, which nobody wrote
  --> odd.hist:3
  |
3 | bob   t2  r x=5
  |           ^^^^^ nobody wrote x=5
  = breaks  ru
  = fix     nothing in the application can cause this; if the value is the initial one, say so with
            `init`
  = replay  skew check odd.hist --level ru

none of the checked levels holds
",
    );
}

#[test]
fn an_aborted_read_points_at_both_operations() {
    check(
        &common::aborted_read(),
        Style::default(),
        "\
dirty.hist: 2 transactions, 3 operations, 2 sessions
  ser   violated   aborted-read
  rc    violated   aborted-read

violated[aborted-read]: t2 read x=1 from t1, which rolled back
  --> dirty.hist:3
  |
2 | alice t1 aborted  w x=1
  |                   ----- t1 wrote x=1 and rolled back
3 | bob   t2  r x=1  w y=1
  |           ^^^^^ t2 read x=1 from t1
  = breaks  rc         still satisfies  ru
  = fix     run t2 at READ COMMITTED or stronger
  = replay  skew check dirty.hist --level rc

none of the checked levels holds
",
    );
}

#[test]
fn notes_wrap_where_the_terminal_is_narrow() {
    check(
        &common::write_skew(),
        narrow(60),
        "\
on-call.hist: 2 transactions, 4 operations, 2 sessions
  ser   violated   write-skew
  si    holds      (commit order verified)

violated[write-skew]: t1 and t2 each read what the other one overwrote
  --> on-call.hist:3
  |
3 | alice  t1 @si   r x=0   w y=1
  |                 ^^^^^
  |         t1 comes before t2: t1 read x=0, which t2
  |         overwrote with x=1
4 | bob    t2 @si   r y=0   w x=1
  |                 ^^^^^
  |         but t2 comes before t1: t2 read y=0, which t1
  |         overwrote with y=1
  = cycle   t1 -rw(x)-> t2 -rw(y)-> t1
  = breaks  ser        still satisfies  si
  = fix     lock what each of them only reads, or run both
            at SERIALIZABLE
  = replay  skew check on-call.hist --level ser

strongest level that holds: si
",
    );
}
