//! Histories made from bytes, checked at every level and rendered in every way. The engines agree with the oracle,
//! stronger levels imply weaker ones, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skew_check::{Checker, Options, oracle};
use skew_model::{History, HistoryBuilder, Level, OpKind, Scope, Status};
use skew_report::{Report, Style};

/// One byte each: sessions and transactions change, operations follow. Values repeat, so some reads are ambiguous.
fn history(bytes: &[u8]) -> History {
    let mut builder = HistoryBuilder::new();
    builder.init_elsewhere(0);
    let mut txn = None;
    for (at, &byte) in bytes.iter().take(48).enumerate() {
        if byte >= 0xC0 || txn.is_none() {
            let session = builder.session(i64::from(byte & 3));
            let id = builder.begin(session, at as i64);
            builder.level(id, Level::ALL[usize::from(byte >> 2 & 0xF) % Level::ALL.len()]);
            match byte & 0x3F {
                0x3F => builder.status(id, Status::Aborted),
                0x3E => builder.status(id, Status::Indeterminate),
                _ => {}
            }
            if byte & 0x30 == 0x30 {
                builder.span(id, i64::from(byte & 7), i64::from(byte & 7) + 2);
            }
            txn = Some(id);
            continue;
        }
        let key = builder.key(i64::from(byte & 1));
        let value = builder.names().int(i64::from(byte >> 1 & 7));
        let kind = match byte >> 4 & 3 {
            0 | 1 => OpKind::Read,
            2 => OpKind::Write,
            _ if byte & 8 == 0 => OpKind::Write,
            _ => OpKind::Observe,
        };
        let op = builder.op(kind, key, value);
        if byte & 0x80 != 0 {
            builder.join(op);
        }
    }
    builder.finish()
}

fuzz_target!(|bytes: &[u8]| {
    let history = history(bytes);
    let checker = Checker::new(&history, Options::default());
    let clean = checker.facts().findings().is_empty() && history.txns().len() <= 6;
    let mut verdicts = checker.ladder(|_| ());
    verdicts.push(checker.check(Scope::Declared));
    for verdict in &verdicts {
        if clean && !matches!(verdict.outcome, skew_model::Outcome::Unknown(_)) {
            assert_eq!(verdict.holds(), oracle::some_order_satisfies(checker.facts(), verdict.scope));
        }
    }
    let report = Report {
        file: "fuzz.hist".to_owned(),
        command: "skew check fuzz.hist".to_owned(),
        history: &history,
        verdicts,
        source_line: &|_, _| None,
        notes: Vec::new(),
        show_witness: true,
    };
    skew_report::text(&report, Style::default());
    skew_report::json(std::slice::from_ref(&report));
    skew_report::html(std::slice::from_ref(&report));
    skew_report::dot(std::slice::from_ref(&report));
});
