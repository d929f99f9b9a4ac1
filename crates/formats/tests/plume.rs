//! Plume's text, both ways.

mod common;

use common::{check, error, history, refusal, round_trip, sweep, text};
use skew_formats::Format::Plume;
use skew_model::OpId;

#[test]
fn operations_are_grouped_by_session_and_number() {
    check(
        Plume,
        "w(1,7,0,0)\n r( 1 , 7, 1,1 ) \r\n\nr(-5,0,1,1)\nw(1,99999999999,0,2)",
        "init  *=0
         s0 t0  w 1=7
         s1 t1  r 1=7  r -5=0
         s0 t2  w 1=99999999999",
    );
}

#[test]
fn interleaved_transactions_are_put_together() {
    let history = check(
        Plume,
        "w(1,1,0,0)\nw(1,2,1,1)\nw(2,1,0,0)\nw(2,2,1,1)\n",
        "init  *=0
         s0 t0  w 1=1  w 2=1
         s1 t1  w 1=2  w 2=2",
    );
    assert_eq!(history.line_of(OpId(0)), 1);
    assert_eq!([1, 2, 3].map(|op| history.line_of(OpId(op))), [3, 2, 4]);
}

#[test]
fn operations_know_their_lines_across_blank_ones() {
    let plain = history(Plume, "\nw(1,1,0,0)\nw(2,1,0,0)\n\nr(1,1,1,1)\n");
    assert_eq!([0, 1, 2].map(|op| plain.line_of(OpId(op))), [2, 3, 5]);
    let gap = history(Plume, "w(1,1,0,0)\n\nw(2,1,0,0)\nr(1,1,1,1)\n");
    assert_eq!([0, 1, 2].map(|op| gap.line_of(OpId(op))), [1, 3, 4]);
}

#[test]
fn number_minus_one_rolled_back() {
    check(
        Plume,
        "w(1,1,0,-1)\nw(2,1,0,-1)\nr(1,0,0,5)\nw(1,3,0,-1)\nw(1,4,1,-1)\nw(2,3,0,-1)\n",
        "init  *=0
         s0 aborted1 aborted  w 1=1  w 2=1
         s0 t5        r 1=0
         s0 aborted2 aborted  w 1=3  w 2=3
         s1 aborted3 aborted  w 1=4",
    );
}

#[test]
fn a_number_that_two_sessions_use_is_two_transactions() {
    check(
        Plume,
        "w(1,1,0,5)\nw(1,2,1,5)\nw(2,1,0,5)\nw(2,2,1,5)\n",
        "init  *=0
         s0 t5     w 1=1  w 2=1
         s1 s1.t5  w 1=2  w 2=2",
    );
}

#[test]
fn zero_is_initial_unless_written() {
    check(
        Plume,
        "w(1,0,0,0)\nr(1,0,1,1)\nr(2,0,1,1)\n",
        "init  1=nil *=0
         s0 t0  w 1=0
         s1 t1  r 1=0  r 2=0",
    );
}

#[test]
fn errors_name_the_line_and_the_column() {
    let hint = "a line is `r(key,value,session,txn)` or `w(key,value,session,txn)`";
    for (input, message) in [
        ("", "file: there is no transaction in it".to_owned()),
        ("\n \n", "file: there is no transaction in it".to_owned()),
        ("w(1,1,0,0)\nx(1,1,0,0)\n", "file:2:1: expected `r` or `w`".to_owned()),
        ("w(1,1,0)\n", "file:1:8: expected `,` after the session".to_owned()),
        ("w(1,,0,0)", "file:1:5: expected a whole number".to_owned()),
        ("w(1,1,0,0) 5", "file:1:12: expected the end of the line after `)`".to_owned()),
        ("w(1,1,0,0", "file:1:10: expected `)` after the transaction".to_owned()),
        ("w(99999999999999999999,1,0,0)", "file:1:3: this number does not fit into 64 bits".to_owned()),
    ] {
        assert_eq!(error(Plume, input), format!("{message}; {hint}"));
    }
}

#[test]
fn numbers_go_up_to_64_bits() {
    let line = format!("w({},{},0,{})\n", i64::MIN, i64::MAX, i64::MAX);
    check(Plume, line, "init  *=0\ns0 t9223372036854775807  w -9223372036854775808=9223372036854775807");
}

#[test]
fn a_line_that_never_ends_is_an_error_and_not_an_allocation() {
    let endless = std::io::BufReader::new(std::io::Read::take(std::io::repeat(b' '), 1 << 40));
    let error = skew_formats::read(Plume, "file", endless).expect_err("too long").to_string();
    assert!(error.starts_with("file:1: the line is longer than 16 MiB"), "{error}");
}

#[test]
fn what_is_written_reads_the_same() {
    for hist in [
        "init *=0\ns0 t0  w 1=7\ns1 t1  r 1=7  r 2=0\ns0 aborted1 aborted  w 1=9\ns0 t2  r 1=7",
        "init 1=nil *=0\ns0 t0  w 1=0\ns1 t1  r 1=0",
    ] {
        assert_eq!(round_trip(Plume, hist), skew_model::history!(&text(hist)).to_string());
    }
}

#[test]
fn names_give_way_to_numbers_and_nil_to_zero() {
    assert_eq!(
        round_trip(Plume, "alice t1  r 1=nil  w 2=1\nbob transfer  r 2=1"),
        text("init  *=0\ns0 t0  r 1=0  w 2=1\ns1 t1  r 2=1")
    );
}

#[test]
fn what_it_cannot_say_is_refused() {
    let refused = |hist| refusal(Plume, hist);
    let expected = |what: &str| format!("the plume format cannot express {what}; jsonl can hold everything");
    assert_eq!(refused("a t w x=1"), expected("the key of `w x=1`: keys are whole numbers"));
    assert_eq!(refused("a t w 1=x"), expected("the value of `w 1=x`: values are whole numbers"));
    assert_eq!(refused("a t @si w 1=1"), expected("the isolation level that t declares"));
    assert_eq!(refused("a t maybe w 1=1"), expected("that nobody knows whether t committed"));
    assert_eq!(refused("a t [1..2] w 1=1"), expected("when t ran"));
    assert_eq!(refused("init 1=5\na t r 1=5"), expected("the initial value 1=5"));
    assert_eq!(refused("a t (w 1=1 w 2=1)"), expected("the statement that `w 2=1` belongs to"));
    assert_eq!(refused("order 1 1\na t w 1=1"), expected("the version order of 1"));
    assert_eq!(refused("a t w 1=1\nb u r 1=1<t"), expected("where `r 1=1<t` takes its value from"));
    assert_eq!(
        refused("a t w 1=0 r 2=nil\nb u r 1=nil"),
        expected("`r 1=nil`: 0 is the initial value exactly where nobody writes it")
    );
    assert_eq!(refused("a t r 1=0"), expected("`r 1=0`: 0 is the initial value exactly where nobody writes it"));
}

#[test]
fn no_damage_makes_it_panic() {
    sweep(Plume, b"w(1,7,0,0)\nr(1,7,1,1)\nw(-2,0,1,-1)\nr(12345678901,3,0,0)\n");
}
