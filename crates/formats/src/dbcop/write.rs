//! History → dbcop's current JSON, one transaction a line. The initial version is `null` there.

use std::io::Write;

use skew_model::{History, OpId, OpKind, Status, TxnId};

use crate::error::WriteError;
use crate::express::{self, BEYOND_READS_AND_WRITES, Feature, InitialReads, Seen, refuse};
use crate::format::Format;

const FORMAT: Format = Format::Dbcop;
/// dbcop wants to know when the recording started and ended, and does nothing with it.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

pub(crate) fn write(history: &History, out: &mut impl Write) -> Result<(), WriteError> {
    refuse(history, FORMAT, BEYOND_READS_AND_WRITES)?;
    refuse(history, FORMAT, &[Feature::Indeterminate])?;
    let initial = InitialReads::new(history, FORMAT)?;
    let mut sessions: Vec<Vec<TxnId>> = vec![Vec::new(); history.session_count()];
    for id in history.txn_ids() {
        sessions[history.txn(id).session.0 as usize].push(id);
    }
    sessions.retain(|txns| !txns.is_empty());
    let longest = sessions.iter().map(Vec::len).max().unwrap_or(0);
    let largest = history.txn_ids().map(|id| history.op_ids(id).len()).max().unwrap_or(0);
    write!(out, r#"{{"params":{{"id":0,"n_node":{},"n_variable":{}"#, sessions.len(), history.key_count())?;
    write!(out, r#","n_transaction":{longest},"n_event":{largest}}},"info":"skew""#)?;
    writeln!(out, r#","start":"{NO_TIME}","end":"{NO_TIME}","data":["#)?;
    for (index, txns) in sessions.iter().enumerate() {
        writeln!(out, "{}", if index == 0 { "[" } else { "],[" })?;
        for (index, &id) in txns.iter().enumerate() {
            if index > 0 {
                writeln!(out, ",")?;
            }
            txn(history, &initial, id, out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "]]}}")?;
    Ok(())
}

fn txn(history: &History, initial: &InitialReads, id: TxnId, out: &mut impl Write) -> Result<(), WriteError> {
    out.write_all(br#"{"events":["#)?;
    for (index, op) in history.op_ids(id).map(OpId).enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let variable = natural(history, express::key_number(history, FORMAT, op)?, op)?;
        let tag = if history.op(op).kind() == OpKind::Write { "Write" } else { "Read" };
        let version = match initial.seen(op)? {
            Seen::Initial => "null".to_owned(),
            Seen::Written => natural(history, express::value_number(history, FORMAT, op)?, op)?.to_string(),
        };
        write!(out, r#"{comma}{{"{tag}":{{"variable":{variable},"version":{version}}}}}"#)?;
    }
    write!(out, r#"],"committed":{}}}"#, history.txn(id).status == Status::Committed)?;
    Ok(())
}

fn natural(history: &History, number: i64, op: OpId) -> Result<i64, WriteError> {
    if number >= 0 {
        return Ok(number);
    }
    Err(WriteError::cannot(FORMAT, format!("the negative number in `{}`", history.op_text(op))))
}
