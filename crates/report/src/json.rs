//! Reports for programs. `JSON.md` beside this crate lists every field; the version changes when one changes its
//! meaning or goes away.

use skew_model::{
    Edge, Explanation, Finding, FindingKind, History, Justification, Level, Limit, Literal, OpId, OpKind, Outcome,
    Reason, Status, TxnId, Verdict,
};

use crate::Report;
use crate::distinct::{Distinct, distinct};
use crate::ladder::{closing, limit_words};
use crate::marks::file_name;
use crate::value::Json;
use crate::words::{cycle_line, finding_notes, fix, headline, label, sentence};

/// The version of the format.
const VERSION: i64 = 1;

/// Reports as JSON.
pub fn json(reports: &[Report]) -> String {
    let document = Json::Object(vec![
        ("skew", Json::text("check")),
        ("version", Json::Int(VERSION)),
        ("histories", Json::List(reports.iter().map(one_history).collect())),
    ]);
    let mut out = String::new();
    document.write(0, &mut out);
    out.push('\n');
    out
}

fn one_history(report: &Report) -> Json {
    let found = distinct(&report.verdicts);
    Json::Object(vec![
        ("file", Json::text(&report.file)),
        ("command", Json::text(&report.command)),
        ("transactions", Json::count(report.history.txns().len())),
        ("operations", Json::count(report.history.all_ops().len())),
        ("sessions", Json::count(report.history.session_count())),
        ("notes", Json::texts(&report.notes)),
        ("summary", Json::text(closing(report))),
        ("verdicts", Json::List(report.verdicts.iter().map(|one| verdict(report, one, &found)).collect())),
        ("violations", Json::List(found.iter().map(|one| violation(report, one)).collect())),
    ])
}

fn verdict(report: &Report, verdict: &Verdict, found: &[Distinct]) -> Json {
    let mut fields = vec![("scope", Json::text(verdict.scope.to_string()))];
    match &verdict.outcome {
        Outcome::Holds(justification) => {
            fields.push(("outcome", Json::text("holds")));
            match justification {
                Justification::CommitOrder { order, verified } => {
                    fields.push(("verified", Json::Bool(*verified)));
                    fields.push(("justification", Json::text("commit-order")));
                    if report.show_witness {
                        let names = order.iter().map(|id| report.history.txn_name(*id));
                        fields.push(("commit_order", Json::texts(names)));
                    }
                }
                Justification::ReadsOnly => fields.push(("justification", Json::text("reads-only"))),
            }
        }
        Outcome::Violated(violation) => {
            fields.push(("outcome", Json::text("violated")));
            fields.push(("anomaly", Json::text(violation.anomaly.id())));
            let answer = found.iter().position(|one| one.scopes.contains(&verdict.scope));
            fields.push(("violation", answer.map_or(Json::Null, Json::count)));
        }
        Outcome::Unknown(limit) => {
            fields.push(("outcome", Json::text("unknown")));
            fields.push(("limit", limit_fields(report, limit)));
        }
    }
    Json::Object(fields)
}

fn limit_fields(report: &Report, limit: &Limit) -> Json {
    let history = report.history;
    let mut fields = Vec::new();
    match limit {
        Limit::AmbiguousReads { count, first } => {
            fields.push(("kind", Json::text("ambiguous-reads")));
            fields.push(("count", Json::count(*count)));
            if let Some(op) = first.op {
                fields.push(("transaction", Json::text(history.txn_name(history.txn_of(op)))));
                fields.push(("op", Json::text(history.op_text(op))));
                fields.push(("line", Json::Int(history.line_of(op).into())));
            }
        }
        Limit::Conflicts(conflicts) => {
            fields.push(("kind", Json::text("conflicts")));
            fields.push(("conflicts", Json::Int(i64::try_from(*conflicts).unwrap_or(i64::MAX))));
        }
        Limit::Memory { needed, allowed } => {
            fields.push(("kind", Json::text("memory")));
            fields.push(("needed_bytes", Json::Int(i64::try_from(*needed).unwrap_or(i64::MAX))));
            fields.push(("allowed_bytes", Json::Int(i64::try_from(*allowed).unwrap_or(i64::MAX))));
        }
        Limit::NoEngine(_) => fields.push(("kind", Json::text("no-engine"))),
        Limit::Time(seconds) => {
            fields.push(("kind", Json::text("time")));
            fields.push(("seconds", Json::Int(i64::try_from(*seconds).unwrap_or(i64::MAX))));
        }
        Limit::NoDeclaredLevel(id) => {
            fields.push(("kind", Json::text("no-declared-level")));
            fields.push(("transaction", Json::text(history.txn_name(*id))));
            fields.push(("line", Json::Int(history.txn(*id).line.into())));
        }
    }
    fields.push(("message", Json::text(limit_words(report, limit))));
    Json::Object(fields)
}

fn violation(report: &Report, one: &Distinct) -> Json {
    let violation = one.violation;
    let definition = violation.anomaly.definition();
    let history = &violation.history;
    let levels = |levels: &[Level]| Json::texts(levels.iter().map(|level| level.id()));
    let mut fields = vec![
        ("anomaly", Json::text(definition.id)),
        ("title", Json::text(definition.title)),
        ("aliases", Json::texts(definition.aliases.iter().copied())),
        ("headline", Json::text(headline(violation))),
        ("scopes", Json::texts(one.scopes.iter().map(|scope| scope.to_string()))),
        ("breaks", levels(&violation.breaks)),
        ("satisfies", levels(&violation.satisfies)),
        ("fix", Json::text(fix(violation))),
        ("replay", Json::text(one.replay(report))),
    ];
    if let Explanation::Cycle(cycle) = &violation.explanation {
        fields.push(("cycle", Json::text(cycle_line(history, &cycle.edges))));
    }
    fields.push(("hist", Json::text(history.to_string())));
    fields.push(("transactions", Json::List(history.txn_ids().map(|id| transaction(report, history, id)).collect())));
    fields.push(("explanation", explanation(history, &violation.explanation)));
    Json::Object(fields)
}

fn transaction(report: &Report, history: &History, id: TxnId) -> Json {
    let txn = history.txn(id);
    let status = match txn.status {
        Status::Committed => "committed",
        Status::Aborted => "aborted",
        Status::Indeterminate => "indeterminate",
    };
    Json::Object(vec![
        ("session", Json::text(history.session_name(txn.session))),
        ("name", Json::text(history.txn_name(id))),
        ("status", Json::text(status)),
        ("level", txn.level.map_or(Json::Null, |level| Json::text(level.id()))),
        ("file", Json::text(file_name(report, txn.file))),
        ("line", Json::Int(txn.line.into())),
        ("ops", Json::List(history.op_ids(id).map(|op| operation(history, OpId(op))).collect())),
    ])
}

fn operation(history: &History, id: OpId) -> Json {
    let op = history.op(id);
    let kind = match op.kind() {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Observe => "observe",
    };
    let value = match history.literal(op.value()) {
        Literal::Nil => Json::Null,
        Literal::Int(number) => Json::Int(number),
        Literal::Text(text) => Json::Text(text),
    };
    Json::Object(vec![
        ("kind", Json::text(kind)),
        ("key", Json::text(history.key_name(op.key()))),
        ("value", value),
        ("line", Json::Int(history.line_of(id).into())),
        ("text", Json::text(history.op_text(id))),
    ])
}

fn explanation(history: &History, explanation: &Explanation) -> Json {
    match explanation {
        Explanation::Cycle(cycle) => {
            Json::Object(vec![("type", Json::text("cycle")), ("edges", edges(history, &cycle.edges))])
        }
        Explanation::Finding(finding) => finding_fields(history, finding),
        Explanation::Cases { first, second, key, first_before_second, second_before_first } => Json::Object(vec![
            ("type", Json::text("cases")),
            ("first", Json::Int(first.0.into())),
            ("second", Json::Int(second.0.into())),
            ("key", Json::text(history.key_name(*key))),
            ("first_before_second", self::explanation(history, first_before_second)),
            ("second_before_first", self::explanation(history, second_before_first)),
        ]),
    }
}

fn finding_fields(history: &History, finding: &Finding) -> Json {
    let (note, other) = finding_notes(history, finding);
    let kind = match finding.kind {
        FindingKind::AmbiguousRead => "ambiguous-read",
        kind => kind.anomaly().map_or("finding", |anomaly| anomaly.id()),
    };
    Json::Object(vec![
        ("type", Json::text("finding")),
        ("finding", Json::text(kind)),
        ("op", finding.op.map_or(Json::Null, |op| place(history, op))),
        ("note", Json::text(note)),
        ("other", finding.other.map_or(Json::Null, |op| place(history, op))),
        ("other_note", if finding.other.is_some() { Json::text(other) } else { Json::Null }),
    ])
}

fn edges(history: &History, edges: &[Edge]) -> Json {
    Json::List(edges.iter().map(|edge| edge_fields(history, edge)).collect())
}

fn edge_fields(history: &History, edge: &Edge) -> Json {
    Json::Object(vec![
        ("from", Json::Int(edge.from.0.into())),
        ("to", Json::Int(edge.to.0.into())),
        ("kind", Json::text(edge.kind.letters())),
        ("key", edge.kind.key().map_or(Json::Null, |key| Json::text(history.key_name(key)))),
        ("label", Json::text(label(history, edge.kind))),
        ("sentence", Json::text(sentence(history, edge))),
        ("reason", reason(history, &edge.reason)),
    ])
}

fn reason(history: &History, reason: &Reason) -> Json {
    let op = |op: &OpId| place(history, *op);
    let kind = |kind: &str| ("type", Json::text(kind));
    Json::Object(match reason {
        Reason::Recorded => vec![kind("recorded")],
        Reason::Supposed => vec![kind("supposed")],
        Reason::Older { path } => vec![kind("older"), ("path", edges(history, path))],
        Reason::Read { read, write } => vec![kind("read"), ("read", op(read)), ("write", op(write))],
        Reason::Overwrote { read, write, older } => {
            vec![kind("overwrote"), ("read", op(read)), ("write", op(write)), ("older", edges(history, older))]
        }
        Reason::Ignored { read, write, seen } => {
            vec![kind("ignored"), ("read", op(read)), ("write", op(write)), ("seen", edges(history, seen))]
        }
    })
}

/// An operation as its transaction's place in `transactions` and its own place in `ops`.
fn place(history: &History, op: OpId) -> Json {
    let id = history.txn_of(op);
    Json::List(vec![Json::Int(id.0.into()), Json::Int((op.0 - history.op_ids(id).start).into())])
}
