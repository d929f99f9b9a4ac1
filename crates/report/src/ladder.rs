//! The summary: every verdict on a line, strongest first, and one line that says what holds.

use skew_model::{Justification, Level, Limit, OpId, OpKind, Outcome, Scope, TxnId, Verdict};

use crate::clean::{clean, count, wrap};
use crate::distinct::Distinct;
use crate::marks::file_name;
use crate::paint::{Ink, Paint};
use crate::words::{pair, txn};
use crate::{Report, Style};

/// `on-call.hist: 2 transactions, 4 operations, 2 sessions`.
pub(crate) fn size(report: &Report) -> String {
    let history = report.history;
    format!(
        "{}: {}, {}, {}",
        clean(&report.file),
        count(history.txns().len(), "transaction"),
        count(history.all_ops().len(), "operation"),
        count(history.session_count(), "session")
    )
}

/// A verdict in a word, and what there is to add.
pub(crate) fn verdict_words(report: &Report, verdict: &Verdict, found: &[Distinct]) -> (&'static str, String) {
    match &verdict.outcome {
        Outcome::Holds(Justification::CommitOrder { verified: true, .. }) => {
            ("holds", "(commit order verified)".to_owned())
        }
        Outcome::Holds(Justification::CommitOrder { verified: false, .. }) => {
            ("holds", "(commit order found; --witness verifies it)".to_owned())
        }
        Outcome::Holds(Justification::ReadsOnly) => ("holds", "(every read returns a written value)".to_owned()),
        Outcome::Violated(_) => {
            let answer = found.iter().find(|one| one.scopes.contains(&verdict.scope));
            ("violated", answer.map_or_else(String::new, Distinct::name))
        }
        Outcome::Unknown(limit) => ("unknown", limit_words(report, limit)),
    }
}

/// The whole ladder, with the notes and the line that closes it.
pub(crate) fn ladder(report: &Report, found: &[Distinct], style: Style) -> String {
    let paint = Paint { color: style.color };
    let mut out = format!("{}\n", paint.ink(Ink::Strong, &size(report)));
    let scopes: Vec<String> = report.verdicts.iter().map(|verdict| verdict.scope.to_string()).collect();
    let wide = scopes.iter().map(String::len).max().unwrap_or(0).max(4);
    let mut reason = String::new();
    for (verdict, scope) in report.verdicts.iter().zip(scopes) {
        let (word, mut more) = verdict_words(report, verdict, found);
        if let Outcome::Unknown(_) = verdict.outcome {
            if more == reason {
                "for the same reason".clone_into(&mut more);
            } else {
                reason.clone_from(&more);
            }
        }
        let ink = match verdict.outcome {
            Outcome::Holds(_) => Ink::Good,
            Outcome::Violated(_) => Ink::Bad,
            Outcome::Unknown(_) => Ink::Open,
        };
        let indent = 2 + wide + 2 + 11;
        let room = if style.width == 0 { 0 } else { style.width.saturating_sub(indent).max(24) };
        let word = paint.ink(ink, &format!("{word:<9}"));
        let more = wrap(&more, room).join(&format!("\n{}", " ".repeat(indent)));
        out.push_str(format!("  {scope:<wide$}  {word}  {more}").trim_end());
        out.push('\n');
    }
    for note in &report.notes {
        out.push_str(&format!("note: {}\n", clean(note)));
    }
    out
}

/// The line that closes a report: it stands alone.
pub(crate) fn closing(report: &Report) -> String {
    let level = |verdict: &Verdict| match verdict.scope {
        Scope::Level(level) => Some(level),
        Scope::Declared => None,
    };
    let holding: Vec<Level> = report.verdicts.iter().filter(|verdict| verdict.holds()).filter_map(level).collect();
    let top = |level: &&Level| !holding.iter().any(|other| other != *level && other.implies(**level));
    let strongest: Vec<&str> = holding.iter().filter(top).map(|level| level.id()).collect();
    let open = |verdict: &&Verdict| matches!(verdict.outcome, Outcome::Unknown(_));
    let unknown: Vec<&str> = report.verdicts.iter().filter(open).filter_map(level).map(|level| level.id()).collect();
    let asked = report.verdicts.iter().filter_map(level).count();
    let declared = report.verdicts.iter().find(|verdict| verdict.scope == Scope::Declared);
    let mut parts = Vec::new();
    if let Some(declared) = declared {
        parts.push(match declared.outcome {
            Outcome::Holds(_) => "the declared levels hold".to_owned(),
            Outcome::Violated(_) => "the declared levels are violated".to_owned(),
            Outcome::Unknown(_) => "whether the declared levels hold is unknown".to_owned(),
        });
    }
    match strongest.as_slice() {
        [] if asked == 0 => {}
        [one] if asked == 1 => parts.push(format!("{one} holds")),
        [] if asked == 1 && unknown.is_empty() => {
            parts.extend(report.verdicts.iter().find_map(level).map(|level| format!("{level} is violated")));
        }
        [] if !unknown.is_empty() => parts.push("no level is known to hold".to_owned()),
        [] => parts.push("none of the checked levels holds".to_owned()),
        [one] => parts.push(format!("strongest level that holds: {one}")),
        several => parts.push(format!("strongest levels that hold: {}", several.join(", "))),
    }
    if !unknown.is_empty() {
        parts.push(format!("unknown: {}", unknown.join(", ")));
    }
    parts.join("; ")
}

/// The commit orders that justify what holds, each once.
pub(crate) fn witnesses(report: &Report) -> Vec<(String, String)> {
    let mut orders: Vec<(Vec<String>, &[TxnId])> = Vec::new();
    for verdict in &report.verdicts {
        if let Outcome::Holds(Justification::CommitOrder { order, .. }) = &verdict.outcome {
            match orders.iter_mut().find(|(_, known)| *known == order.as_slice()) {
                Some((scopes, _)) => scopes.push(verdict.scope.to_string()),
                None => orders.push((vec![verdict.scope.to_string()], order)),
            }
        }
    }
    let names = |order: &[TxnId]| {
        std::iter::once("init".to_owned()).chain(order.iter().map(|id| txn(report.history, *id))).collect::<Vec<_>>()
    };
    orders.into_iter().map(|(scopes, order)| (scopes.join(", "), names(order).join(" "))).collect()
}

/// What kept a check from an answer, and what to do about it.
pub(crate) fn limit_words(report: &Report, limit: &Limit) -> String {
    let history = report.history;
    match limit {
        Limit::AmbiguousReads { count, first } => {
            let Some(op) = first.op else {
                return format!("{limit}; name the writes: `r x=0<t7`");
            };
            let id = history.txn_of(op);
            let (read, line) = (history.op(op), history.line_of(op));
            let file = file_name(report, history.txn(id).file);
            let place = if line == 0 { file } else { format!("{file}:{line}") };
            let writes = |other: &OpId| {
                let write = history.op(*other);
                let same = write.key() == read.key() && write.value() == read.value();
                write.kind() == OpKind::Write && same && history.txn_of(*other) != id
            };
            let ids = || (0..history.all_ops().len() as u32).map(OpId);
            let write = first.other.filter(writes).or_else(|| ids().find(writes));
            let source = write.map_or_else(|| "init".to_owned(), |write| txn(history, history.txn_of(write)));
            let what = pair(history, op);
            if read.kind() == OpKind::Write {
                return format!(
                    "a version order names {what}, which several transactions wrote, one of them at {place}; \
                     leave the value out of the order, or give each write a value of its own"
                );
            }
            let reads = crate::clean::count(*count, "read");
            format!(
                "{reads} of a value that several writes wrote, the first at {place}: {} read {what}; \
                 say which write it took, as in `r {what}<{source}`",
                txn(history, id)
            )
        }
        Limit::Conflicts(_) => format!("{limit}; raise --max-conflicts"),
        Limit::Time(_) | Limit::NoEngine(_) => limit.to_string(),
        Limit::Memory { .. } => format!("{limit}; allow more memory, or check a part of the history"),
        Limit::NoDeclaredLevel(id) => {
            let line = history.txn(*id).line;
            let file = file_name(report, history.txn(*id).file);
            let place = if line == 0 { file } else { format!("{file}:{line}") };
            format!("{} at {place} declares no level; declare one: `@si`", txn(history, *id))
        }
    }
}
