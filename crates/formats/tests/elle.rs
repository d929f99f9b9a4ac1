//! Jepsen's EDN, both ways.

mod common;

use common::{check, error, findings, history, refusal, round_trip, sweep, text, written};
use skew_formats::Format::{Elle, Hist};

#[test]
fn list_append_with_times() {
    let history = check(
        Elle,
        r#"[{:type :invoke, :f :txn, :process 0, :time 10, :index 0, :value [[:append 5 1] [:r 6 nil]]}
            #jepsen.history.Op{:index 1, :time 11, :type :invoke, :process 1, :f :txn, :value [[:r 5 nil]]}
            {:type :info, :f :start-partition, :process :nemesis, :time 12, :index 2, :value [[:n1 #{"n2"}]]}
            {:type :ok, :f :txn, :process 0, :time 13, :index 3, :value [[:append 5 1] [:r 6 []]]} ; done
            #_ {:type :ok #_ [discarded} :process 9}
            {:type :ok, :f :txn, :process 1, :time 14, :index 4, :value ([:r 5 [1]])}]"#,
        "order 5 1
         s0 t3 [0..3]  w 5=1  r 6=nil
         s1 t4 [1..4]  r 5=1",
    );
    assert_eq!(history.txns().iter().map(|txn| txn.line).collect::<Vec<_>>(), [4, 6]);
    assert!(history.findings().is_empty());
}

#[test]
fn rw_register_without_invocations() {
    check(
        Elle,
        r#"{:type :ok, :process 0, :value [[:w :x "one"] [:r :y nil]]}
           {:type :ok, :process 1, :value [[:r :x "one"] [:w "key 2" -3]]}
           {:type :fail, :process 1, :value [[:w :x 7N] [:r :y nil]]}"#,
        r#"s0 t0  w :x=one  r :y=nil
           s1 t1  r :x=one  w "key 2"=-3
           s1 t2 aborted  w :x=7"#,
    );
}

#[test]
fn operations_without_a_process_are_sessions_of_their_own() {
    check(
        Elle,
        "{:type :ok, :value [[:w 1 1]]} {:type :info, :value [[:w 1 2]]}",
        "op0 t0  w 1=1\nop1 t1 maybe  w 1=2",
    );
    let error = error(Elle, "{:type :invoke, :value [[:w 1 1]]}");
    assert!(error.starts_with("file:1: this invocation has no :process"), "{error}");
}

#[test]
fn of_failed_and_lost_transactions_only_the_writes_are_known() {
    check(
        Elle,
        "{:type :invoke, :f :txn, :process 0, :value [[:w 1 1] [:r 2 nil]]}
         {:type :fail, :f :txn, :process 0, :value [[:w 1 1] [:r 2 nil]], :error :conflict}
         {:type :invoke, :f :txn, :process 0, :value [[:w 1 2] [:r 2 nil]]}
         {:type :info, :f :txn, :process 0, :value nil, :error [:timeout {:a [1 2]}]}
         {:type :invoke, :f :txn, :process 0, :value [[:w 1 3]]}
         {:type :ok, :f :txn, :process 0, :value [[:w 1 3]]}
         {:type :invoke, :f :txn, :process 1, :value [[:w 1 4]]}",
        "s0   t1 aborted [0..1]  w 1=1
         s0   t3 maybe [2..]  w 1=2
         s0.1 t5 [4..5]  w 1=3
         s1   t6 maybe [6..]  w 1=4",
    );
}

#[test]
fn a_list_that_ends_with_own_appends_tells_what_lies_beneath() {
    let read = history(
        Elle,
        "{:type :ok, :process 0, :value [[:append 5 1]]}
         {:type :ok, :process 1, :value [[:append 5 2] [:append 5 3] [:r 5 [1 2 3]] [:append 5 4] [:r 5 [1 2 3 4]]]}
         {:type :ok, :process 2, :value [[:append 6 1] [:r 6 [1]]]}
         {:type :ok, :process 3, :value [[:r 5 [1 2 3 4]] [:append 5 5] [:r 5 [1 2 3 4 5]]]}
         {:type :ok, :process 4, :value [[:append 5 6] [:r 5 []]]}",
    );
    let expected = "order 5 1 2 3 4 5
        order 6 1
        s0 t0  w 5=1
        s1 t1  w 5=2  w 5=3  r 5=3  o 5=1  w 5=4  r 5=4
        s2 t2  w 6=1  r 6=1  o 6=nil
        s3 t3  r 5=4  w 5=5  r 5=5
        s4 t4  w 5=6  r 5=nil";
    assert_eq!(read.to_string(), text(expected));
    assert_eq!(round_trip(Elle, &read.to_string()), text(expected));
}

#[test]
fn what_no_order_of_lists_explains_is_found() {
    let found = |input: &str| findings(&history(Elle, input));
    let appends = "{:type :ok, :process 0, :value [[:append 5 1] [:append 5 2] [:append 5 3]]}";
    assert_eq!(
        found(&format!(
            "{appends} {{:type :ok, :process 1, :value [[:r 5 [1 2]] [:r 5 [1]] [:r 5 [2 1]] [:r 5 [1 2 3]]]}}"
        )),
        ["IncompatibleOrder: t1 r 5=1 / t1 r 5=2"]
    );
    assert_eq!(
        found(&format!("{appends} {{:type :ok, :process 1, :value [[:r 5 [1 2 1]] [:r 5 [1 2]] [:r 5 [2 2]]]}}")),
        ["DuplicateElement: t1 r 5=1 / -", "DuplicateElement: t1 r 5=2 / -"]
    );
    assert_eq!(
        found(&format!("{appends} {{:type :ok, :process 1, :value [[:r 5 [1 8 9 2]]]}}")),
        ["ThinAirRead: t1 r 5=2 / -"]
    );
    assert_eq!(
        found(&format!(
            "{appends} {{:type :fail, :process 2, :value [[:append 5 4]]}} {{:type :ok, :process 1, :value [[:r 5 [1 4 2]]]}}"
        )),
        ["AbortedRead: t2 r 5=2 / t1 w 5=4"]
    );
}

#[test]
fn errors_name_the_line() {
    for (input, message) in [
        ("", "file: there is no transaction in it"),
        ("[]", "file: there is no transaction in it"),
        ("{:type :ok, :process 0, :f :read, :value 5}", "file: there is no transaction in it"),
        ("{:type :ok, :process 0, :f :read, :value []}", "file: there is no transaction in it"),
        ("\n[{:type :ok, :process 0, :value [[:w 1 1]]}", "file:2: the file ends in the middle of a form"),
        (
            "{:type :ok, :process 0, :f :txn, :value [[:cas 1 [1 2]]]}",
            "file:1: this transaction cannot be understood: the micro-operation :cas",
        ),
        (
            "\n{:type :ok, :process 0, :f :txn, :value 5}",
            "file:2: this transaction cannot be understood: a value that is not a vector",
        ),
        ("{:process 0, :value [[:w 1 1]]}", "file:1: this operation has no :type"),
        ("{:type :ok :process}", "file:1: a key of the map has no value"),
        ("5", "file:1: expected an operation"),
        ("]", "file:1: expected an operation"),
        ("{:type :ok ]", "file:1: `]` closes a map"),
        ("{:type \"\\q\"}", "file:1: an unknown escape"),
        ("{\0}", "file:1: a byte that has no place in EDN"),
        (
            "{:type :ok, :process 0, :index 3, :value [[:w 1 1]]}\n{:type :ok, :process 0, :index 3, :value [[:w 1 1]]}",
            "file:2: another operation has the :index 3, too",
        ),
        (
            "{:type :invoke, :process 0, :index 3, :value [[:w 1 1]]}\n{:type :ok, :process 0, :index 2, :value [[:w 1 1]]}",
            "file:2: the :index is smaller than that of the invocation",
        ),
        (&"[".repeat(1_000_000), "file:1: the file ends in the middle of a form"),
        (&format!("{{:value {}", "[#_".repeat(1_000_000)), "file:1: the file ends in the middle of a form"),
        (&format!("[{}", "#_".repeat(1_000_000)), "file:1: the file ends in the middle of a form"),
    ] {
        let error = error(Elle, input);
        assert!(error.starts_with(message), "{error}\nshould start with\n{message}");
    }
}

#[test]
fn one_vector_of_everything_may_be_larger_than_any_line() {
    let one = "{:type :ok, :process 0, :f :txn, :value [[:r 1 nil]], :error \"some longer text\"} ";
    let count = 20 * 1024 * 1024 / one.len();
    let read = history(Elle, format!("[{}]", one.repeat(count)));
    assert_eq!(read.txns().len(), count);
}

#[test]
fn times_become_places_and_keep_their_order() {
    assert_eq!(
        round_trip(
            Elle,
            "alice a [100..200]  w x=1
             bob   b [200..300]  r x=1
             carol c [201..201]  r x=nil
             alice d aborted [250..260]  w x=2
             bob   e maybe [301..]  w x=3"
        ),
        text(
            r#"s0 t2 [0..2]  w x=1
               s2 t4 [3..4]  r x=nil
               s0 t6 aborted [5..6]  w x=2
               s1 t7 [1..7]  r x=1
               s1 t8 maybe [8..]  w x=3"#
        )
    );
}

#[test]
fn what_it_cannot_say_is_refused() {
    let refused = |hist, what: &str| {
        let refusal = refusal(Elle, hist);
        assert!(refusal.starts_with(&format!("the elle format cannot express {what}")), "{refusal}");
    };
    refused("a t @si w x=1", "the isolation level that t declares");
    refused("a t aborted r x=nil", "reads of a transaction that did not commit: t");
    refused("a t maybe w x=1\na u w x=2", "that a session goes on after t");
    refused("a t [1..5] w x=1\na u [3..6] w x=2", "that its session had not ended another transaction before u");
    refused("a t [1..5] w x=1\nb u w x=2", "times of other transactions and none of u");
    refused("init x=5\na t r x=5", "the initial value x=5");
    refused("order x 1 2\na t w x=1 w x=2\nb u r x=1", "the version order of x");
    refused("order x 1\na t w x=1 r x=1", "a list read without its observation, in t");
    refused("a t w x=1 o x=nil", "`o x=nil` here");
    refused("order x 1\na t w x=1\nb u r x=1 r x=7", "`r x=7`: the version order does not have it");
}

#[test]
fn no_damage_makes_it_panic() {
    let sample = r#"[{:type :invoke, :f :txn, :process 0, :index 0, :value [[:append 5 1] [:r 5 nil]]}
        #op{:type :ok, :f :txn, :process 0, :index 1, :value [[:append 5 1] [:r 5 [1]]], :error "a\u00e4\n"}
        {:type :info :process :nemesis :value \a} #_ [x] ; end
        {:type :ok, :process 1, :index 2, :value [[:w :k 1.5] [:r "k" -7]]}]"#;
    sweep(Elle, sample);
    let text = written(&history(Elle, sample), Hist).expect("no findings");
    assert!(text.contains(r#"w :k="1.5""#) || text.contains("w :k=1.5"), "{text}");
}
