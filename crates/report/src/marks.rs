//! Which lines an explanation shows, which operations it points at, and what it says there.

use skew_model::{Edge, EdgeKind, Explanation, Finding, History, OpId, OpKind, Reason, TxnId, Violation};

use crate::Report;
use crate::reasons;
use crate::recorded::places;
use crate::snippet::{Mark, Row};
use crate::words::{finding_notes, order_words, sentence, write_of};

/// The rows that show a cycle or a finding.
pub(crate) fn rows(report: &Report, violation: &Violation, leaf: &Explanation, expand: bool) -> Vec<Row> {
    let history = &violation.history;
    let levels = if expand { usize::MAX } else { 1 };
    let mut txns = Vec::new();
    let mut marks: Vec<(TxnId, Mark)> = Vec::new();
    match leaf {
        Explanation::Cycle(cycle) => {
            for edge in &cycle.edges {
                reasons::involved(history, edge, levels, &mut txns);
            }
            marks = cycle_marks(history, &cycle.edges, expand);
        }
        Explanation::Finding(finding) => {
            marks = finding_marks(history, finding);
            txns.extend(marks.iter().map(|(id, _)| *id));
        }
        Explanation::Cases { .. } => {}
    }
    let txns = in_file_order(history, txns);
    let mut file = txns.first().map(|id| history.txn(*id).file);
    let mut rows = Vec::new();
    for id in txns {
        let mut row = row(report, history, id);
        if file.replace(history.txn(id).file) != Some(history.txn(id).file) {
            row.file = Some(file_name(report, history.txn(id).file));
        }
        let (own, others) = marks.into_iter().partition(|(owner, _)| *owner == id);
        marks = others;
        for (_, mut mark) in own {
            mark.op = mark.op.and_then(|op| row.own.get(op).copied());
            row.marks.push(mark);
        }
        rows.push(row);
    }
    rows
}

/// `on-call.hist:3`: where a reader should look first.
pub(crate) fn place(report: &Report, violation: &Violation) -> String {
    let history = &violation.history;
    let mut leaf = &violation.explanation;
    while let Explanation::Cases { first_before_second, .. } = leaf {
        leaf = first_before_second;
    }
    let (txn, op) = match leaf {
        Explanation::Cycle(cycle) => match cycle.edges.first() {
            Some(edge) => (Some(edge.from), from_op(history, edge)),
            None => (None, None),
        },
        Explanation::Finding(finding) => (finding.op.map(|op| history.txn_of(op)), finding.op),
        Explanation::Cases { .. } => (None, None),
    };
    let Some(txn) = txn else { return crate::clean::clean(&report.file) };
    let line = op.map_or(history.txn(txn).line, |op| history.line_of(op));
    let file = file_name(report, history.txn(txn).file);
    if line == 0 { file } else { format!("{file}:{line}") }
}

/// A file as the user named it.
pub(crate) fn file_name(report: &Report, file: u16) -> String {
    match report.history.files() {
        files if files.len() > 1 => crate::clean::clean(files.get(usize::from(file)).unwrap_or(&report.file)),
        _ => crate::clean::clean(&report.file),
    }
}

/// The operation of `from` that shows an edge best.
pub(crate) fn from_op(history: &History, edge: &Edge) -> Option<OpId> {
    match (&edge.reason, edge.kind) {
        (Reason::Read { write, .. } | Reason::Ignored { write, .. }, _) => Some(*write),
        (Reason::Overwrote { read, .. }, _) => Some(*read),
        (_, EdgeKind::Ww(key) | EdgeKind::Wr(key) | EdgeKind::Constraint(key)) => write_of(history, edge.from, key),
        (_, EdgeKind::Rw(key)) => read_in(history, edge.from, key),
        (_, EdgeKind::So | EdgeKind::Rt) => None,
    }
    .filter(|op| history.op_ids(edge.from).contains(&op.0))
}

/// The operation of `to` that shows an edge best.
pub(crate) fn to_op(history: &History, edge: &Edge) -> Option<OpId> {
    match (&edge.reason, edge.kind) {
        (Reason::Read { read, .. }, EdgeKind::Wr(_)) => Some(*read),
        (Reason::Overwrote { write, .. }, _) => Some(*write),
        (_, EdgeKind::Ww(key) | EdgeKind::Rw(key) | EdgeKind::Constraint(key)) => write_of(history, edge.to, key),
        (_, EdgeKind::Wr(key)) => read_in(history, edge.to, key),
        (_, EdgeKind::So | EdgeKind::Rt) => None,
    }
    .filter(|op| history.op_ids(edge.to).contains(&op.0))
}

fn read_in(history: &History, id: TxnId, key: skew_model::Key) -> Option<OpId> {
    let reads = |op: &OpId| history.op(*op).kind() != OpKind::Write && history.op(*op).key() == key;
    history.op_ids(id).map(OpId).find(reads)
}

fn cycle_marks(history: &History, edges: &[Edge], expand: bool) -> Vec<(TxnId, Mark)> {
    let shown = in_file_order(history, edges.iter().map(|edge| edge.from).collect());
    let starts: Vec<TxnId> = edges.iter().map(|edge| edge.from).collect();
    // Notes stand in the order of the file. Where that is not the order of the cycle, they are numbered.
    let numbered = shown != starts;
    let mut marks = Vec::new();
    let mut helpers = Vec::new();
    for (index, edge) in edges.iter().enumerate() {
        let number = if numbered { format!("{}. ", index + 1) } else { String::new() };
        let note = format!("{number}{}: {}", order_words(history, edges, index), sentence(history, edge));
        let reasons = reasons::lines(history, edge, expand);
        marks.push((edge.from, mark(history, edge.from, from_op(history, edge), true, note, reasons)));
        reasons::shown(history, edge, if expand { usize::MAX } else { 1 }, &mut helpers);
    }
    let mut known: Vec<OpId> = edges.iter().filter_map(|edge| from_op(history, edge)).collect();
    for (op, note) in helpers {
        if !known.contains(&op) {
            known.push(op);
            let id = history.txn_of(op);
            marks.push((id, mark(history, id, Some(op), false, note, Vec::new())));
        }
    }
    marks
}

fn finding_marks(history: &History, finding: &Finding) -> Vec<(TxnId, Mark)> {
    let (note, other_note) = finding_notes(history, finding);
    let mut ops: Vec<(OpId, bool, String)> = Vec::new();
    ops.extend(finding.op.map(|op| (op, true, note)));
    ops.extend(finding.other.filter(|op| finding.op != Some(*op)).map(|op| (op, false, other_note)));
    ops.sort_by_key(|(op, ..)| *op);
    ops.into_iter()
        .map(|(op, main, note)| {
            let id = history.txn_of(op);
            (id, mark(history, id, Some(op), main, note, Vec::new()))
        })
        .collect()
}

fn mark(history: &History, id: TxnId, op: Option<OpId>, main: bool, note: String, reasons: Vec<reasons::Line>) -> Mark {
    let op = op.and_then(|op| op.0.checked_sub(history.op_ids(id).start)).map(|op| op as usize);
    Mark { op, main, note, reasons }
}

fn in_file_order(history: &History, mut txns: Vec<TxnId>) -> Vec<TxnId> {
    txns.sort_by_key(|id| (history.txn(*id).file, history.txn(*id).line, *id));
    txns.dedup();
    txns
}

fn row(report: &Report, history: &History, id: TxnId) -> Row {
    let txn = history.txn(id);
    let row = |text, ops, own| Row { file: None, line: txn.line, text, ops, own, marks: Vec::new() };
    if txn.line > 0
        && !history.ops_have_own_lines()
        && let Some(text) = (report.source_line)(txn.file, txn.line)
        && let Some(places) = places(history, id, &text)
    {
        return row(text.trim_end().to_owned(), places.all, places.own);
    }
    let (session_width, name_width) = history.name_widths();
    let text = history.txn_text(id, session_width, name_width);
    let own = (0..text.ops.len()).collect();
    row(text.line, text.ops, own)
}
