//! dbcop's bincode → events. Lengths in it are counts of things to read, never sizes to reserve.

use std::io::{self, ErrorKind, Read};

use skew_model::hist::{InputError, MAX_LINE_BYTES};
use skew_model::{OpKind, Value};

use super::Sink;
use crate::error::ReadError;

const HINT: &str = "check that it is the history.bincode of a dbcop that has no times in its events";

pub(super) fn read(input: impl Read, sink: &mut Sink) -> Result<(), ReadError> {
    let mut bytes = Bytes { input: io::BufReader::new(input), at: 0 };
    sink.starts_with_zero = true;
    for what in ["history", "nodes", "variables", "transactions", "events"] {
        bytes.number(&format!("the number of {what}"))?;
    }
    for what in ["the info", "the start time", "the end time"] {
        bytes.pass_string(what)?;
    }
    for _ in 0..bytes.number("the number of sessions")? {
        sink.begin_session();
        for _ in 0..bytes.number("the number of transactions of a session")? {
            txn(&mut bytes, sink)?;
        }
    }
    if bytes.at_end()? { Ok(()) } else { Err(bytes.error("there are bytes after the last session")) }
}

fn txn(bytes: &mut Bytes<impl Read>, sink: &mut Sink) -> Result<(), ReadError> {
    let events = bytes.number("the number of events of a transaction")?;
    let id = sink.begin_txn();
    for _ in 0..events {
        let is_write = bytes.truth("whether an event is a write")?;
        let variable = bytes.number("a variable")?;
        let value = bytes.number("a value")?;
        if bytes.truth("whether an event succeeded")? {
            let kind = if is_write { OpKind::Write } else { OpKind::Read };
            let (variable, value) = (number_value(variable, sink), number_value(value, sink));
            sink.event(kind, variable, value);
        }
    }
    let committed = bytes.truth("whether a transaction succeeded")?;
    sink.end_txn(id, committed);
    Ok(())
}

fn number_value(number: u64, sink: &mut Sink) -> Value {
    match i64::try_from(number) {
        Ok(number) => sink.builder.names().int(number),
        Err(_) => sink.builder.names().text(&number.to_string()),
    }
}

struct Bytes<R> {
    input: R,
    at: u64,
}

impl<R: Read> Bytes<R> {
    fn number(&mut self, what: &str) -> Result<u64, ReadError> {
        Ok(u64::from_le_bytes(self.take(what)?))
    }

    fn truth(&mut self, what: &str) -> Result<bool, ReadError> {
        match self.take(what)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [byte] => Err(self.error(format!("{what} is 0 or 1, not {byte}"))),
        }
    }

    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|error| self.broken(error, what))?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn pass_string(&mut self, what: &str) -> Result<(), ReadError> {
        let length = self.number(what)?;
        if length > MAX_LINE_BYTES as u64 {
            return Err(self.error(format!("{what} cannot be {length} bytes long")));
        }
        let passed = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())?;
        self.at += passed;
        if passed < length { Err(self.broken(ErrorKind::UnexpectedEof.into(), what)) } else { Ok(()) }
    }

    fn at_end(&mut self) -> Result<bool, ReadError> {
        Ok(self.input.by_ref().take(1).read_to_end(&mut Vec::new())? == 0)
    }

    fn broken(&self, error: io::Error, what: &str) -> ReadError {
        if error.kind() == ErrorKind::UnexpectedEof {
            return self.error(format!("the file ends in the middle of {what}"));
        }
        error.into()
    }

    fn error(&self, message: impl AsRef<str>) -> ReadError {
        InputError::at(0, 0, format!("at byte {}: {}", self.at, message.as_ref())).hint(HINT).into()
    }
}
