//! History → JSON Lines.

use std::io::{self, Write};

use rustc_hash::FxHashSet;
use skew_model::{History, Key, Literal, OpId, OpKind, Status, TxnId};

use super::FINDINGS;
use crate::error::WriteError;
use crate::format::Format;
use crate::json::{field_name, literal_json, text_json};

pub(crate) fn write(history: &History, out: &mut impl Write) -> Result<(), WriteError> {
    let mut names = FxHashSet::default();
    for id in history.txn_ids() {
        let name = history.txn_literal(id);
        if name == Literal::Text("init".into()) {
            return Err(WriteError::cannot(Format::Jsonl, "a transaction named init"));
        }
        if let Some(twice) = names.replace(name) {
            let name = literal_json(&twice);
            return Err(WriteError::cannot(Format::Jsonl, format!("two transactions named {name}")));
        }
    }
    header(history, out)?;
    for id in history.txn_ids() {
        txn(history, id, out)?;
    }
    findings(history, out)?;
    constraints(history, out)?;
    Ok(())
}

fn header(history: &History, out: &mut impl Write) -> io::Result<()> {
    let initials = history.stated_initials();
    let orders = history.ordered_keys();
    let appearing = initials.iter().map(|(key, _)| *key).chain(orders.iter().copied());
    let reordered = !numbered_by_appearance(history, appearing);
    if initials.is_empty() && orders.is_empty() && history.initial_elsewhere().is_none() && !reordered {
        return Ok(());
    }
    out.write_all(br#"{"skew":"history","version":1"#)?;
    if reordered {
        let keys = (0..history.key_count() as u32).map(|key| literal_json(&history.key_literal(Key(key))));
        write!(out, r#","keys":[{}]"#, keys.collect::<Vec<_>>().join(","))?;
    }
    let field = |key: Key| text_json(&field_name(&history.key_literal(key)));
    if !initials.is_empty() {
        let initials =
            initials.iter().map(|&(key, value)| format!("{}:{}", field(key), literal_json(&history.literal(value))));
        write!(out, r#","initial":{{{}}}"#, initials.collect::<Vec<_>>().join(","))?;
    }
    if let Some(value) = history.initial_elsewhere() {
        write!(out, r#","initial_elsewhere":{}"#, literal_json(&history.literal(value)))?;
    }
    if !orders.is_empty() {
        let orders = orders.iter().map(|&key| {
            let values = history.version_order(key).unwrap_or_default().iter();
            let values: Vec<_> = values.map(|&value| literal_json(&history.literal(value))).collect();
            format!("{}:[{}]", field(key), values.join(","))
        });
        write!(out, r#","order":{{{}}}"#, orders.collect::<Vec<_>>().join(","))?;
    }
    writeln!(out, "}}")
}

/// Whether reading these keys and then the operations numbers the keys as they are.
fn numbered_by_appearance(history: &History, appearing: impl Iterator<Item = Key>) -> bool {
    let mut next = 0;
    let in_order = appearing.chain(history.all_ops().iter().map(|op| op.key())).all(|key| {
        next += u32::from(key.0 == next);
        key.0 < next
    });
    in_order && next as usize == history.key_count()
}

fn txn(history: &History, id: TxnId, out: &mut impl Write) -> io::Result<()> {
    let txn = history.txn(id);
    let session = literal_json(&history.session_literal(txn.session));
    write!(out, r#"{{"session":{session},"txn":{}"#, literal_json(&history.txn_literal(id)))?;
    if let Some(level) = txn.level {
        write!(out, r#","level":"{level}""#)?;
    }
    match txn.status {
        Status::Committed => {}
        Status::Aborted => out.write_all(br#","status":"aborted""#)?,
        Status::Indeterminate => out.write_all(br#","status":"maybe""#)?,
    }
    if let Some(span) = history.span(id) {
        write!(out, r#","begin":{}"#, span.begin)?;
        if span.end != i64::MAX {
            write!(out, r#","end":{}"#, span.end)?;
        }
    }
    out.write_all(br#","ops":["#)?;
    for (index, op) in history.op_ids(id).map(OpId).enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        self::op(history, op, out)?;
    }
    writeln!(out, "]}}")
}

fn op(history: &History, id: OpId, out: &mut impl Write) -> io::Result<()> {
    let op = history.op(id);
    let letter = match op.kind() {
        OpKind::Read => 'r',
        OpKind::Write => 'w',
        OpKind::Observe => 'o',
    };
    let key = literal_json(&history.key_literal(op.key()));
    write!(out, r#"{{"{letter}":{key},"v":{}"#, literal_json(&history.literal(op.value())))?;
    match history.stated_source(id) {
        None => {}
        Some(None) => out.write_all(br#","from":"init""#)?,
        Some(Some(source)) => write!(out, r#","from":{}"#, literal_json(&history.txn_literal(source)))?,
    }
    if history.joined(id) {
        out.write_all(br#","s":true"#)?;
    } else if let Some(begin) = history.statement_begin(id) {
        write!(out, r#","at":{begin}"#)?;
    }
    out.write_all(b"}")
}

fn findings(history: &History, out: &mut impl Write) -> io::Result<()> {
    for finding in history.findings() {
        let (_, name) = FINDINGS.iter().find(|(kind, _)| *kind == finding.kind).expect("every kind has its name");
        write!(out, r#"{{"finding":"{name}""#)?;
        for (field, op) in [("op", finding.op), ("other", finding.other)] {
            if let Some(op) = op {
                let txn = history.txn_of(op);
                write!(out, r#","{field}":[{},{}]"#, txn.0, op.0 - history.op_ids(txn).start)?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn constraints(history: &History, out: &mut impl Write) -> io::Result<()> {
    for order in history.constraint_orders() {
        let [first, second] = [order.first, order.second].map(|txn| literal_json(&history.txn_literal(txn)));
        let key = literal_json(&history.key_literal(order.key));
        writeln!(out, r#"{{"constraint":{key},"first":{first},"second":{second}}}"#)?;
    }
    Ok(())
}
