//! dbcop's histories: JSON, and the bincode of older versions.
//!
//! A history is a list of sessions, a session a list of transactions, a transaction a list of events; JSON may wrap
//! that in an object as its field `data`. Current events are `{"Read":{"variable":0,"version":null}}` (null: the
//! variable was never written) or `["r",0,null]`, and a transaction is `committed` or not. Older events are
//! `{"write":false,"variable":0,"value":0,"success":true}`, and a transaction has `success`; there 0 is the initial
//! value of every variable that the history does not write 0 to, and events that did not succeed say nothing.
//!
//! The bincode is the older form: little-endian, eight bytes for every number and length, one for every truth value.
//! After five numbers (id, nodes, variables, transactions, events) and three strings (info, start, end) come the
//! sessions.
//!
//! Sessions and transactions have no names; they are numbered from 1, as dbcop does.

mod bincode;
mod json;
mod write;

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use skew_model::{History, HistoryBuilder, Key, OpKind, SessionId, Status, TxnId, Value};

use crate::error::{ReadError, no_transaction};

pub(crate) use write::write;

pub(crate) fn read(file_name: &str, mut input: impl Read) -> Result<History, ReadError> {
    let mut start = Vec::with_capacity(8);
    input.by_ref().take(8).read_to_end(&mut start)?;
    let mut sink = Sink::default();
    sink.builder.file(file_name);
    if start.len() < 8 && start.trim_ascii().is_empty() {
        return sink.finish();
    }
    // JSON has no NUL bytes, and the first number of a bincode has at least one unless there are 2^56 histories.
    let is_json =
        !start.contains(&0) && start.trim_ascii_start().first().is_none_or(|byte| matches!(byte, b'{' | b'['));
    let input = Cursor::new(start).chain(input);
    if is_json {
        let input = LineCounter { input: BufReader::new(input), line: Rc::clone(&sink.line) };
        sink.line.set(1);
        json::read(input, &mut sink)?;
    } else {
        bincode::read(input, &mut sink)?;
    }
    sink.finish()
}

/// Where events go.
#[derive(Default)]
struct Sink {
    builder: HistoryBuilder,
    keys: FxHashMap<Value, Key>,
    session: Option<SessionId>,
    sessions: i64,
    txns: i64,
    /// Whether 0 is the initial value.
    starts_with_zero: bool,
    written_zero: Vec<Key>,
    line: Rc<Cell<u32>>,
}

impl Sink {
    fn begin_session(&mut self) {
        self.sessions += 1;
        self.session = None;
    }

    fn begin_txn(&mut self) -> TxnId {
        let session = *self.session.get_or_insert_with(|| self.builder.session(self.sessions));
        self.txns += 1;
        self.builder.at_line(self.line.get());
        self.builder.begin(session, self.txns)
    }

    fn event(&mut self, kind: OpKind, variable: Value, value: Value) {
        let key = match self.keys.get(&variable) {
            Some(&key) => key,
            None => {
                let name = self.builder.names().literal(variable);
                *self.keys.entry(variable).or_insert(self.builder.key(name))
            }
        };
        if kind == OpKind::Write && value == self.builder.names().int(0) {
            self.written_zero.push(key);
        }
        self.builder.op(kind, key, value);
    }

    fn end_txn(&mut self, id: TxnId, committed: bool) {
        if !committed {
            self.builder.status(id, Status::Aborted);
        }
    }

    fn finish(mut self) -> Result<History, ReadError> {
        if self.builder.txn_count() == 0 {
            return Err(no_transaction("a history is an array of sessions, which are arrays of transactions").into());
        }
        if self.starts_with_zero {
            self.builder.init_elsewhere(0);
            for key in self.written_zero {
                self.builder.init_key(key, Value::NIL);
            }
        }
        Ok(self.builder.finish())
    }
}

/// Counts the lines that have been read. It is read byte by byte, so it has a buffer of its own.
struct LineCounter<R> {
    input: BufReader<R>,
    line: Rc<Cell<u32>>,
}

impl<R: Read> Read for LineCounter<R> {
    #[inline]
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = match (self.input.buffer(), &mut *bytes) {
            ([next, ..], [byte]) => {
                *byte = *next;
                self.input.consume(1);
                1
            }
            _ => self.input.read(bytes)?,
        };
        let newlines = bytes[..count].iter().filter(|&&byte| byte == b'\n').count();
        self.line.set(self.line.get().saturating_add(newlines as u32));
        Ok(count)
    }
}
