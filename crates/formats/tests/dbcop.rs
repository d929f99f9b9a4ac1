//! dbcop's JSON and bincode.

mod common;

use common::{check, error, refusal, round_trip, sweep, text};
use skew_formats::Format::Dbcop;

const CURRENT: &str = r#"{"params":{"id":0,"n_node":2,"n_variable":2,"n_transaction":2,"n_event":2},"info":"x",
"start":"2025-01-01T00:00:00Z","end":"2025-01-01T00:00:01Z","data":[
[{"events":[{"Write":{"variable":0,"version":1}},{"Read":{"variable":1,"version":null}}],"committed":true},
 {"committed":false,"events":[["w",0,7]]}],
[{"events":[["r",0,1],["r","y",0]],"committed":true}]]}"#;

const OLDER: &str = r#"[[{"events":[{"write":true,"variable":0,"value":1,"success":true},
    {"write":true,"variable":1,"value":0,"success":true},{"write":true,"variable":1,"value":5,"success":false}],"success":true}],
  [], [{"events":[{"write":false,"variable":0,"value":0,"success":true,"start_time":1,"end_time":340282366920938463463374607431768211455}],"success":false}]]"#;

#[test]
fn current_json() {
    let history = check(
        Dbcop,
        CURRENT,
        "s1 t1  w 0=1  r 1=nil
         s1 t2 aborted  w 0=7
         s2 t3  r 0=1  r y=0",
    );
    assert_eq!(history.txns().iter().map(|txn| txn.line).collect::<Vec<_>>(), [3, 4, 5]);
}

#[test]
fn older_json_starts_with_zero() {
    check(
        Dbcop,
        OLDER,
        "init  1=nil *=0
         s1 t1  w 0=1  w 1=0
         s3 t2 aborted  r 0=0",
    );
}

/// A bincode of two sessions, with this id.
fn bincode(id: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [id, 2, 1, 1, 2] {
        bytes.extend(u64::to_le_bytes(number));
    }
    for string in ["info", "start", "end"] {
        bytes.extend(u64::to_le_bytes(string.len() as u64));
        bytes.extend(string.as_bytes());
    }
    bytes.extend(u64::to_le_bytes(2));
    for (events, committed) in [(&[(1, 0, 7, 1), (1, 1, u64::MAX, 1)][..], 1), (&[(0, 0, 7, 1), (0, 0, 9, 0)][..], 0)] {
        bytes.extend(u64::to_le_bytes(1));
        bytes.extend(u64::to_le_bytes(events.len() as u64));
        for &(write, variable, value, success) in events {
            bytes.push(write);
            bytes.extend(u64::to_le_bytes(variable));
            bytes.extend(u64::to_le_bytes(value));
            bytes.push(success);
        }
        bytes.push(committed);
    }
    bytes
}

#[test]
fn bincode_whatever_its_first_byte() {
    for id in [0, u64::from(b'{'), u64::from(b'['), u64::from(b' ')] {
        check(
            Dbcop,
            bincode(id),
            "init  *=0
               s1 t1  w 0=7  w 1=18446744073709551615
               s2 t2 aborted  r 0=7",
        );
    }
}

#[test]
fn errors_name_the_place() {
    for (input, message) in [
        (b"".to_vec(), "file: there is no transaction in it"),
        (b"[]".to_vec(), "file: there is no transaction in it"),
        (b"[[{\"events\":[],\n\"committed\":true}".to_vec(), "file:2:17: this is not a dbcop history: EOF"),
        (b"{\"info\":1}".to_vec(), "file:1:10: this is not a dbcop history: missing field `data`"),
        (b"[[{\"events\":[]}]]".to_vec(), "file:1:15: this is not a dbcop history: missing field `committed`"),
        (b"[[{\"events\":[[\"x\",1,2]]}]]".to_vec(), "file:1:23: this is not a dbcop history: `x` is not an event"),
        (
            b"[[{\"events\":[[\"w\",1,null]]}]]".to_vec(),
            "file:1:26: this is not a dbcop history: a write lacks its `version`",
        ),
        (b"[[]] 5".to_vec(), "file:1:6: this is not a dbcop history: trailing characters"),
        (b"hello, this is text".to_vec(), "file: at byte 16: the file ends in the middle of the number of variables"),
        ("[".repeat(100_000).into_bytes(), "file:1:3: this is not a dbcop history: invalid type: sequence"),
        ([bincode(0), vec![0]].concat(), "file: at byte 190: there are bytes after the last session"),
    ] {
        let error = error(Dbcop, input);
        assert!(error.starts_with(message), "{error}\nshould start with\n{message}");
    }
}

#[test]
fn a_huge_length_is_not_believed() {
    let mut bytes = bincode(0);
    bytes[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(error(Dbcop, &bytes).starts_with("file: at byte 48: the info cannot be 18446744073709551615 bytes long"));
    let mut bytes = bincode(0);
    let sessions = 40 + 3 * 8 + 12;
    bytes[sessions..sessions + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(error(Dbcop, &bytes).contains("the file ends in the middle of the number of transactions of a session"));
}

#[test]
fn what_is_written_reads_the_same_session_by_session() {
    let hist = "s1 t1  r 0=nil  w 1=5
                s1 t2 aborted  w 0=7
                s2 t3  r 1=5
                s2 t4";
    assert_eq!(round_trip(Dbcop, hist), text(hist));
    assert_eq!(
        round_trip(Dbcop, "init *=0\nbob a  w 1=1\nalice b  r 1=0\nbob c  r 1=1"),
        text("s1 t1  w 1=1\ns1 t2  r 1=1\ns2 t3  r 1=nil")
    );
}

#[test]
fn what_it_cannot_say_is_refused() {
    let refused = |hist, what: &str| {
        let refusal = refusal(Dbcop, hist);
        assert!(refusal.starts_with(&format!("the dbcop format cannot express {what}")), "{refusal}");
    };
    refused("a t w x=1", "the key of `w x=1`: keys are whole numbers");
    refused("a t w 1=-1", "the negative number in `w 1=-1`");
    refused("a t maybe w 1=1", "that nobody knows whether t committed");
    refused("a t w 1=nil", "the value of `w 1=nil`");
}

#[test]
fn no_damage_makes_it_panic() {
    sweep(Dbcop, CURRENT);
    sweep(Dbcop, OLDER);
    sweep(Dbcop, bincode(0));
}
