//! Text in less common company: limits, notes, witnesses, long lines, several files, other formats.
mod common;

use common::{Edges, Sample, cycle, op, violation, write_skew};
use skew_model::{
    Anomaly, Finding, FindingKind, HistoryBuilder, Justification, Level, Limit, Outcome, Scope, TxnId, Verdict,
};
use skew_report::{Report, Style, fix, headline, sentence, text};

#[track_caller]
fn check(found: &str, expected: &str) {
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn unknown_names_the_limit_the_place_and_the_next_move() {
    let sample = Sample::new("dup.hist", "init x=0\na t1 w x=1\nb t2 w x=1\nc t3 r x=1\n");
    let first = Finding { kind: FindingKind::AmbiguousRead, op: Some(op(&sample.history, "t3", "r x=1")), other: None };
    let sample = sample
        .unknown(Level::Ser, Limit::Conflicts(100_000))
        .unknown(Level::Psi, Limit::Memory { needed: 3 << 30, allowed: 1 << 30 })
        .unknown(Level::Cc, Limit::AmbiguousReads { count: 1, first })
        .holds(&[Level::Rc]);
    check(
        &sample.report(|report| text(report, Style { width: 110, ..Style::default() })),
        "\
dup.hist: 3 transactions, 3 operations, 3 sessions
  ser   unknown    the search gave up after 100000 conflicts; raise --max-conflicts
  psi   unknown    it would need 3 GiB of memory and may use 1 GiB; allow more memory, or check a part of the
                   history
  cc    unknown    1 read of a value that several writes wrote, the first at dup.hist:4: t3 read x=1; say
                   which write it took, as in `r x=1<t1`
  rc    holds      (commit order verified)

strongest level that holds: rc; unknown: ser, psi, cc
",
    );
}

#[test]
fn notes_and_witnesses_are_shown_on_request() {
    let sample = Sample::new("on-call.hist", common::ON_CALL).holds(&[Level::Si, Level::Pc]);
    let verdicts = [
        sample.verdicts.clone(),
        vec![Verdict {
            scope: Scope::Declared,
            outcome: Outcome::Holds(Justification::CommitOrder { order: vec![TxnId(1), TxnId(0)], verified: true }),
        }],
    ];
    let found = sample.report(|report| {
        let report = Report {
            verdicts: verdicts.concat(),
            notes: vec!["session order is off".to_owned()],
            show_witness: true,
            file: report.file.clone(),
            command: report.command.clone(),
            history: report.history,
            source_line: report.source_line,
        };
        text(&report, Style::default())
    });
    check(
        &found,
        "\
on-call.hist: 2 transactions, 4 operations, 2 sessions
  si        holds      (commit order verified)
  pc        holds      (commit order verified)
  declared  holds      (commit order verified)
note: session order is off

commit order for si, pc: init t1 t2
commit order for declared: init t2 t1

the declared levels hold; strongest level that holds: si
",
    );
}

#[test]
fn a_long_line_keeps_what_the_carets_point_at() {
    let text_ = "\
init  x=0 y=0
alice t1  r a=1 r b=2 r c=3 r d=4 r e=5 r f=6 r x=0 r g=7 r h=8 r i=9 r j=10 w y=1
bob   t2  r y=0 w x=1
";
    let sample = Sample::new("long.hist", text_);
    let part = sample.history.select(|_| true, |op| sample.history.op_text(op).contains(['x', 'y']));
    let e = Edges(&part);
    let why = cycle(vec![e.rw("t1", "x", "t2"), e.rw("t2", "y", "t1")]);
    let v = violation(Anomaly::WriteSkew, &part, why, &[Level::Ser], &[Level::Si]);
    let sample = sample.violated(&[Level::Ser], v);
    let found = sample.report(|report| text(report, Style { width: 72, ..Style::default() }));
    let snippet: Vec<&str> = found.lines().filter(|line| line.contains('|')).skip(1).collect();
    check(
        &snippet.join("\n"),
        "\
2 | alice t1  … r x=0 … w y=1
  |             ^^^^^ t1 comes before t2: t1 read x=0, which t2
  |                   overwrote with x=1
3 | bob   t2  r y=0 w x=1
  |           ^^^^^ but t2 comes before t1: t2 read y=0, which t1
  |                 overwrote with y=1",
    );
}

#[test]
fn without_recorded_text_the_part_is_printed_with_the_real_line_numbers() {
    let sample = write_skew();
    let found = sample.report(|report| {
        let report = Report {
            source_line: &|_, _| None,
            file: "on-call.edn".to_owned(),
            command: "skew check on-call.edn --level ser".to_owned(),
            verdicts: report.verdicts.clone(),
            history: report.history,
            notes: Vec::new(),
            show_witness: false,
        };
        text(&report, Style::default())
    });
    assert!(found.contains("3 | alice t1 @si  r x=0  w y=1\n  |               ^^^^^ t1 comes"), "{found}");
    assert!(found.contains("= replay  skew check on-call.edn --level ser\n"), "{found}");
}

#[test]
fn transactions_of_several_files_say_where_they_come_from() {
    let mut builder = HistoryBuilder::new();
    builder.init("x", 0);
    builder.init("y", 0);
    builder.file("node-1.log");
    builder.at_line(7);
    builder.txn("alice", "t1").read("x", 0).write("y", 1);
    builder.file("node-2.log");
    builder.at_line(120);
    builder.txn("bob", "t2").read("y", 0).write("x", 1);
    let history = builder.finish();
    let e = Edges(&history);
    let why = cycle(vec![e.rw("t1", "x", "t2"), e.rw("t2", "y", "t1")]);
    let v = violation(Anomaly::WriteSkew, &history, why, &[Level::Ser], &[Level::Si]);
    let report = Report {
        file: "node-1.log".to_owned(),
        command: "skew check node-1.log node-2.log".to_owned(),
        verdicts: vec![Verdict { scope: Scope::Level(Level::Ser), outcome: Outcome::Violated(Box::new(v)) }],
        history: &history,
        source_line: &|_, _| None,
        notes: Vec::new(),
        show_witness: false,
    };
    let found = text(&report, Style::default());
    assert!(found.contains("    --> node-1.log:7\n    |\n  7 | alice t1  r x=0  w y=1\n"), "{found}");
    assert!(found.contains("    ::: node-2.log\n120 | bob   t2  r y=0  w x=1\n"), "{found}");
}

#[test]
fn colour_only_adds() {
    for (name, sample) in common::samples() {
        let plain = sample.report(|report| text(report, Style::default()));
        let painted = sample.report(|report| text(report, Style { color: true, ..Style::default() }));
        let mut stripped = String::new();
        let mut rest = painted.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            stripped.push_str(before);
            rest = after.split_once('m').map_or("", |(_, rest)| rest);
        }
        stripped.push_str(rest);
        assert!(painted.len() > plain.len());
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&stripped), trimmed(&plain), "{name}");
    }
}

#[test]
fn escape_sequences_in_names_do_not_reach_the_terminal() {
    let found = common::hostile().report(|report| text(report, Style::default()));
    assert!(!found.contains('\x1b'), "{found}");
}

#[test]
fn two_violations_of_one_name_are_told_apart() {
    let (first, second) = (write_skew(), write_skew());
    let text_ = common::ON_CALL.replace("x=0", "x=7");
    let other = skew_model::history!(&text_);
    let e = Edges(&other);
    let why = cycle(vec![e.rw("t1", "x", "t2"), e.rw("t2", "y", "t1")]);
    let v = violation(Anomaly::WriteSkew, &other, why, &[Level::Ser], &[Level::Si]);
    let sample = Sample { verdicts: second.verdicts[..1].to_vec(), ..first };
    let sample = sample.violated(&[Level::Si], v);
    let found = sample.report(|report| text(report, Style::default()));
    assert!(found.contains("  ser   violated   write-skew 1\n  si    violated   write-skew 2\n"), "{found}");
    assert!(found.contains("violated[write-skew 2]: "), "{found}");
}

#[test]
fn the_shared_words_stand_alone() {
    let sample = common::causality();
    let violation = sample.verdicts[0].violation().expect("a violation");
    assert_eq!(headline(violation), "t4 read a version of x older than what its session had already seen of t2");
    assert_eq!(fix(violation), "keep a session on one replica, or use a causally consistent session");
    let edge = Edges(&sample.history).so("t3", "t4");
    assert_eq!(sentence(&sample.history, &edge), "t3 ran before t4 in session carol");
}
