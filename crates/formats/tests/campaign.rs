//! Campaigns and replays as JSON: what is written reads back the same, and what is wrong ends in a sentence.

use serde_json::Value;
use skew_formats::campaign::{is_replay, read, read_replay, write, write_replay};
use skew_model::campaign::{
    Campaign, ConflictingPair, Coverage, DatabaseReplay, Experiment, FailedFix, FailedRun, FailureCause, FixEvidence,
    RunLine, RunOutcome, RunReplay, SqlAnomaly, SqlEdge, SqlOperation, SqlStatement, TriedFix, Why,
};

fn run(number: u64, outcome: RunOutcome) -> RunLine {
    RunLine { number, seed: u64::MAX, outcome, ms: 2, statements: 3, refusals: 4 }
}

fn statement() -> SqlStatement {
    let read = SqlOperation {
        key: "stock[1].n".to_owned(),
        value: "1".to_owned(),
        is_stale: true,
        alternatives: vec!["nil".to_owned(), "1".to_owned()],
        is_guilty: true,
        within: Some("SELECT n\nFROM stock".to_owned()),
        ..SqlOperation::default()
    };
    let write = SqlOperation { is_write: true, key: "a \"key\"".to_owned(), ..SqlOperation::default() };
    SqlStatement {
        connection: 2,
        txn: Some("t4".to_owned()),
        text: "select '\u{0}\u{1b}é' -- </script>".to_owned(),
        parameters: vec!["1".to_owned(), String::new()],
        answer: "40001 could not serialize access".to_owned(),
        is_error: true,
        waited_for: Some(2),
        operations: vec![read, write],
    }
}

fn anomaly() -> Why {
    let edge = |statements| SqlEdge {
        from: "t4".to_owned(),
        to: "t5".to_owned(),
        label: "rw(stock[1].n)".to_owned(),
        reason: "t4 read what t5 overwrote".to_owned(),
        statements,
    };
    Why::Anomaly(Box::new(SqlAnomaly {
        id: "lost-update".to_owned(),
        headline: "one update is lost".to_owned(),
        edges: vec![edge((Some(0), Some(1))), edge((None, Some(1))), edge((None, None))],
        cycle: "t4 -rw(stock[1].n)-> t5".to_owned(),
        breaks: vec!["psi".to_owned()],
        satisfies: vec!["mvrc".to_owned(), "pc".to_owned()],
        others: vec!["lost update of page.views".to_owned()],
        tried: vec![tried("lock it", FixEvidence::Runs(9)), tried("look at the row count", FixEvidence::Explored(26))],
        failed: vec![FailedFix { words: "hope".to_owned(), how: "run 1 with it failed".to_owned() }],
    }))
}

fn tried(words: &str, evidence: FixEvidence) -> TriedFix {
    TriedFix { words: words.to_owned(), sql: vec!["SELECT 1 FOR UPDATE".to_owned()], evidence }
}

fn campaign(why: Why) -> Campaign {
    Campaign {
        command: vec!["pytest".to_owned(), "a b".to_owned()],
        level: "READ COMMITTED (mvrc)".to_owned(),
        seed: 1,
        planned: 100,
        shard: Some((3, 16)),
        baseline: vec![run(0, RunOutcome::Passed)],
        runs: vec![
            run(1, RunOutcome::Passed),
            run(2, RunOutcome::Failed(-1)),
            run(3, RunOutcome::Killed(9)),
            run(4, RunOutcome::TimedOut),
        ],
        failure: Some(FailedRun {
            run: run(2, RunOutcome::Failed(-1)),
            output: "what it printed\n".to_owned(),
            database: "test".to_owned(),
            statements: vec![statement(), SqlStatement::default()],
            why,
            stale_reads: (7, 1),
            repeated: (5, 4),
            experiment: Some(Experiment { pairs: 7, needed: 1, serial_runs: 3, serial_passed: 3 }),
            replay: Some(".skew/run-2.json".to_owned()),
        }),
        other_failures: vec![FailedRun {
            run: run(3, RunOutcome::Killed(9)),
            output: String::new(),
            database: "test".to_owned(),
            statements: vec![statement()],
            why: Why::Refused(vec![0]),
            stale_reads: (0, 0),
            repeated: (0, 0),
            experiment: None,
            replay: None,
        }],
        causes: vec![FailureCause {
            words: "lost update of stock.n".to_owned(),
            runs: vec![2, 3],
            replays: vec![".skew/run-2.json".to_owned()],
        }],
        unsupported: vec![("LISTEN".to_owned(), 3)],
        held_ms: 10,
        coverage: Coverage {
            runs: 2,
            uncounted: 1,
            concurrent: 2,
            connections: 3,
            transactions: 12,
            overlapping: 5,
            pairs: vec![ConflictingPair {
                one: "BEGIN\nUPDATE t SET n = ?\n".to_owned(),
                other: "SELECT n FROM t\n".to_owned(),
                met: 4,
                one_first: true,
                other_first: false,
            }],
            stale_reads: 2,
        },
        elapsed_ms: 20,
        is_interrupted: true,
    }
}

fn campaigns() -> Vec<Campaign> {
    let whys = [anomaly(), Why::Refused(vec![0, 1]), Why::Serializable, Why::Unknown("too large".to_owned())];
    whys.into_iter().map(campaign).chain([Campaign::default()]).collect()
}

fn replay() -> RunReplay {
    let database = |name: &str| DatabaseReplay {
        name: name.to_owned(),
        turns: vec![0, 1, u32::MAX],
        members: vec![(0, "SELECT 1 FROM t".to_owned())],
        stale: vec![[0, 1, 2, 3], [4, 5, 6, u32::MAX]],
        forced: vec![[1, 2, 3, 4, u32::MAX]],
    };
    RunReplay {
        command: vec!["cargo".to_owned(), "test".to_owned()],
        options: vec!["--isolation".to_owned(), "cc".to_owned()],
        seed: u64::MAX,
        databases: vec![database("test"), database("a \"name\"")],
        shows: "lost-update: one update is lost".to_owned(),
    }
}

#[test]
fn campaigns_read_back_the_same() {
    for campaign in campaigns() {
        assert_eq!(read(&write(&campaign)), Ok(campaign));
    }
}

/// Files from before the page could open every failing run.
#[test]
fn a_file_without_other_failures_is_read() {
    let mut document: Value = serde_json::from_str(&write(&campaign(anomaly()))).expect("JSON");
    document.as_object_mut().expect("an object").remove("other_failures");
    let read = read(&document.to_string()).expect("a campaign");
    assert!(read.failure.is_some() && read.other_failures.is_empty());
}

#[test]
fn replays_read_back_the_same_and_are_recognized() {
    for replay in [replay(), RunReplay::default()] {
        let text = write_replay(&replay);
        assert!(is_replay(&text));
        assert_eq!(read_replay(&text), Ok(replay));
    }
    assert!(!is_replay(&write(&Campaign::default())));
    assert!(!is_replay("not JSON"));
}

#[test]
fn what_is_wrong_is_said() {
    let wrong = |text: &str, expected: &str| assert_eq!(read(text), Err(expected.to_owned()), "{text}");
    wrong("", "not JSON: EOF while parsing a value at line 1 column 0");
    wrong("{}", "it does not say `\"skew\": \"campaign\"`");
    wrong("[1]", "it does not say `\"skew\": \"campaign\"`");
    wrong(&write_replay(&replay()), "it does not say `\"skew\": \"campaign\"`");
    wrong(r#"{"skew": "campaign", "version": 2}"#, "version 2 of the format; this version of Skew reads version 1");
    let whole: Value = serde_json::from_str(&write(&campaign(anomaly()))).expect("JSON");
    for (place, value, expected) in [
        ("/command", Value::from(1), "`command` is not an array"),
        ("/command/0", Value::from(1), "`command` holds something that is not a string"),
        ("/level", Value::Null, "`level` is not a string"),
        ("/seed", Value::from(-1), "`seed` is not a whole number"),
        ("/shard", Value::from(3), "`shard` holds no whole number"),
        ("/runs/0/outcome", Value::from("maybe"), "`outcome` is none of passed, failed, killed, timed out"),
        ("/failure/why/kind", Value::from("magic"), "`kind` is none of anomaly, refused, serializable, unknown"),
        ("/failure/stale_reads", Value::Null, "`found` is not a whole number"),
        ("/failure/statements/0/operations", Value::from("x"), "`operations` is not an array"),
        ("/failure/why/edges/0/label", Value::Null, "`label` is not a string"),
    ] {
        let mut document = whole.clone();
        *document.pointer_mut(place).expect("a field") = value;
        wrong(&document.to_string(), expected);
    }
    let wrong = |text: &str, expected: &str| assert_eq!(read_replay(text), Err(expected.to_owned()), "{text}");
    wrong(&write(&Campaign::default()), "it does not say `\"skew\": \"run\"`");
    let whole: Value = serde_json::from_str(&write_replay(&replay())).expect("JSON");
    for (place, value, expected) in [
        ("/databases/0/turns/0", Value::from(-1), "`turns` holds no whole number"),
        ("/databases/0/stale/0", Value::from(1), "`stale` holds no whole number"),
        ("/databases/0/stale/0/3", Value::from(1u64 << 40), "`stale` holds no whole number"),
        ("/databases/1/name", Value::Null, "`name` is not a string"),
    ] {
        let mut document = whole.clone();
        *document.pointer_mut(place).expect("a field") = value;
        wrong(&document.to_string(), expected);
    }
}

/// Somebody else's statement numbers lead nowhere else than into the list.
#[test]
fn places_outside_of_the_list_are_refused() {
    let mut outside = campaign(Why::Refused(vec![2]));
    assert_eq!(read(&write(&outside)), Err("`statements` names statement 2 of 2, counted from 0".to_owned()));
    outside = campaign(anomaly());
    let Some(FailedRun { why: Why::Anomaly(anomaly), .. }) = &mut outside.failure else { unreachable!("it failed") };
    anomaly.edges[0].statements.1 = Some(9);
    assert_eq!(read(&write(&outside)), Err("`statements` names statement 9 of 2, counted from 0".to_owned()));
}

/// `CAMPAIGN.md` promises to list every field.
#[test]
fn every_field_is_documented() {
    fn names(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.push(name.clone());
                names(value, found);
            }),
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            _ => {}
        }
    }
    let documented = include_str!("../CAMPAIGN.md");
    let texts = campaigns().iter().map(write).chain([write_replay(&replay())]).collect::<Vec<_>>();
    for text in texts {
        let mut found = Vec::new();
        names(&serde_json::from_str(&text).expect("JSON"), &mut found);
        for name in found {
            assert!(documented.contains(&format!("`{name}`")), "{name} is not in CAMPAIGN.md");
        }
    }
}
