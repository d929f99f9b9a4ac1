//! Plume's text: `r(key,value,session,txn)` and `w(…)`, one operation a line.
//!
//! A transaction is a session and a number; number −1 is a transaction that rolled back, a new one each time the
//! session gets to it. Everything starts as 0, except a key that the file itself writes 0 to: its initial value is
//! then unknown, and a read of 0 takes that write.
//!
//! Histories of five million operations are normal here, so a line costs four numbers, one table look-up and one
//! push: no strings, no hashing while keys are small, no look-up while the transaction stays the same.

use std::io::{Read, Write};

use rustc_hash::FxHashMap;
use skew_model::hist::InputError;
use skew_model::{History, HistoryBuilder, Key, OpId, OpKind, SessionId, Status, TxnId, Value};

use crate::error::{ReadError, WriteError, no_transaction};
use crate::express::{self, BEYOND_READS_AND_WRITES, Feature, InitialReads, Seen, refuse};
use crate::format::Format;
use crate::lines::LineChunks;
use crate::numbers::{NumberMap, numbers_of, short_number};

const HINT: &str = "a line is `r(key,value,session,txn)` or `w(key,value,session,txn)`";
const ABORTED: i64 = -1;

pub(crate) fn read(file_name: &str, input: impl Read) -> Result<History, ReadError> {
    let mut reader = Reader::default();
    reader.builder.file(file_name);
    reader.builder.ops_are_consecutive_lines();
    reader.builder.init_elsewhere(0);
    let mut chunks = LineChunks::new(input);
    let mut line = 0u32;
    while let Some(chunk) = chunks.next(line.saturating_add(1))? {
        let mut scan = Scan { bytes: chunk, at: 0 };
        while scan.at < chunk.len() {
            line = line.saturating_add(1);
            let start = scan.at;
            match scan.line() {
                Ok(Some(op)) => reader.op(line, op),
                Ok(None) => reader.gap = true,
                Err(what) => {
                    let column = u32::try_from(scan.at - start).unwrap_or(u32::MAX).saturating_add(1);
                    return Err(InputError::at(line, column, what).hint(HINT).into());
                }
            }
        }
    }
    if reader.builder.txn_count() == 0 {
        return Err(no_transaction(HINT).into());
    }
    Ok(reader.builder.finish())
}

/// One line.
struct Line {
    kind: OpKind,
    key: i64,
    value: i64,
    session: i64,
    txn: i64,
}

/// Lines that end with a newline each, which is what stops every loop.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    /// The next line; nothing if it is blank.
    #[inline]
    fn line(&mut self) -> Result<Option<Line>, &'static str> {
        self.space();
        let kind = match self.bytes[self.at] {
            b'r' => OpKind::Read,
            b'w' => OpKind::Write,
            b'\n' => {
                self.at += 1;
                return Ok(None);
            }
            _ => return Err("expected `r` or `w`"),
        };
        self.at += 1;
        self.punctuation(b'(', "expected `(`")?;
        let key = self.number()?;
        self.punctuation(b',', "expected `,` after the key")?;
        let value = self.number()?;
        self.punctuation(b',', "expected `,` after the value")?;
        let session = self.number()?;
        self.punctuation(b',', "expected `,` after the session")?;
        let txn = self.number()?;
        self.punctuation(b')', "expected `)` after the transaction")?;
        self.punctuation(b'\n', "expected the end of the line after `)`")?;
        Ok(Some(Line { kind, key, value, session, txn }))
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.bytes[self.at], b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    #[inline]
    fn punctuation(&mut self, wanted: u8, or: &'static str) -> Result<(), &'static str> {
        if self.bytes[self.at] != wanted {
            self.space();
            if self.bytes[self.at] != wanted {
                return Err(or);
            }
        }
        self.at += 1;
        Ok(())
    }

    #[inline(always)]
    fn number(&mut self) -> Result<i64, &'static str> {
        if let Some((number, digits)) = short_number(&self.bytes[self.at..]) {
            self.at += digits;
            return Ok(number);
        }
        self.any_number()
    }

    fn any_number(&mut self) -> Result<i64, &'static str> {
        if matches!(self.bytes[self.at], b' ' | b'\t') {
            self.space();
        }
        let start = self.at;
        if self.bytes[start] == b'-' {
            self.at += 1;
        }
        let digits = self.at;
        let mut number = 0i64;
        loop {
            let digit = self.bytes[self.at].wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
            self.at += 1;
        }
        match self.at - digits {
            1..=18 if digits == start => Ok(number),
            1..=18 => Ok(-number),
            0 => Err("expected a whole number"),
            _ => self.long_number(start),
        }
    }

    #[cold]
    fn long_number(&mut self, start: usize) -> Result<i64, &'static str> {
        let text = std::str::from_utf8(&self.bytes[start..self.at]).expect("digits are UTF-8");
        text.parse().map_err(|_| {
            self.at = start;
            "this number does not fit into 64 bits"
        })
    }
}

#[derive(Default)]
struct Reader {
    builder: HistoryBuilder,
    keys: NumberMap,
    sessions: NumberMap,
    /// By number, the first transaction that has it.
    txns: NumberMap,
    /// Transactions whose number another session had before.
    namesakes: FxHashMap<(SessionId, i64), TxnId>,
    session_of: Vec<SessionId>,
    /// By session, the transaction that it is in, and the number of that.
    latest: Vec<(TxnId, i64)>,
    current: Option<(i64, i64, TxnId)>,
    aborted: u32,
    /// A blank line came before this one.
    gap: bool,
}

impl Reader {
    #[inline]
    fn op(&mut self, line: u32, op: Line) {
        match self.current {
            Some((session, txn, _)) if session == op.session && txn == op.txn => {
                if self.gap {
                    self.builder.ops_have_own_lines();
                }
            }
            _ => self.enter(line, op.session, op.txn),
        }
        self.builder.at_line(line);
        self.gap = false;
        let key = match self.keys.get(op.key) {
            Some(key) => Key(key),
            None => {
                let key = self.builder.key(op.key);
                self.keys.insert(op.key, key.0);
                key
            }
        };
        if op.value == 0 && op.kind == OpKind::Write {
            self.builder.init_key(key, Value::NIL);
        }
        let value = self.builder.names().int(op.value);
        self.builder.op(op.kind, key, value);
    }

    /// Makes a transaction the current one.
    fn enter(&mut self, line: u32, session_number: i64, number: i64) {
        let session = match self.sessions.get(session_number) {
            Some(session) => SessionId(session),
            None => {
                let session = self.builder.session(session_number);
                self.sessions.insert(session_number, session.0);
                self.latest.push((TxnId(u32::MAX), i64::MIN));
                session
            }
        };
        let id = match self.seen(session, number) {
            Some(id) => {
                self.builder.ops_have_own_lines();
                self.builder.resume(id);
                id
            }
            None => {
                self.builder.at_line(line);
                self.begin(session, session_number, number)
            }
        };
        self.latest[session.0 as usize] = (id, number);
        self.current = Some((session_number, number, id));
    }

    fn seen(&self, session: SessionId, number: i64) -> Option<TxnId> {
        let (latest, latest_number) = self.latest[session.0 as usize];
        if number == ABORTED {
            return (latest_number == ABORTED).then_some(latest);
        }
        let first = TxnId(self.txns.get(number)?);
        if self.session_of[first.0 as usize] == session {
            return Some(first);
        }
        self.namesakes.get(&(session, number)).copied()
    }

    fn begin(&mut self, session: SessionId, session_number: i64, number: i64) -> TxnId {
        let id = if number == ABORTED {
            self.aborted += 1;
            let id = self.builder.begin(session, format!("aborted{}", self.aborted));
            self.builder.status(id, Status::Aborted);
            id
        } else if self.txns.get(number).is_some() {
            let id = self.builder.begin(session, format!("s{session_number}.t{number}"));
            self.namesakes.insert((session, number), id);
            id
        } else {
            let id = self.builder.begin(session, number);
            self.txns.insert(number, id.0);
            id
        };
        self.session_of.push(session);
        id
    }
}

pub(crate) fn write(history: &History, out: &mut impl Write) -> Result<(), WriteError> {
    let format = Format::Plume;
    refuse(history, format, BEYOND_READS_AND_WRITES)?;
    refuse(history, format, &[Feature::Indeterminate, Feature::EmptyTransactions])?;
    let sessions = express::session_numbers(history, 's');
    let committed = history.txn_ids().filter(|&id| history.txn(id).status == Status::Committed);
    let mut txns = numbers_of(committed.map(|id| history.txn_literal(id)), 't').into_iter();
    let mut was_aborted = vec![false; sessions.len()];
    let initial = InitialReads::new(history, format)?;
    for id in history.txn_ids() {
        let txn = history.txn(id);
        let aborted = txn.status == Status::Aborted;
        let session = txn.session.0 as usize;
        if std::mem::replace(&mut was_aborted[session], aborted) && aborted {
            let what = format!("that {} rolled back right after another one of its session did", history.txn_name(id));
            return Err(WriteError::cannot(format, what));
        }
        let number = if aborted { ABORTED } else { txns.next().expect("every committed transaction has a number") };
        for op in history.op_ids(id).map(OpId) {
            let letter = if history.op(op).kind() == OpKind::Write { 'w' } else { 'r' };
            let key = express::key_number(history, format, op)?;
            let value = value(history, &initial, op)?;
            writeln!(out, "{letter}({key},{value},{},{number})", sessions[session])?;
        }
    }
    Ok(())
}

/// The number to write: the initial version is 0, unless the key's 0 is somebody's write.
fn value(history: &History, initial: &InitialReads, op: OpId) -> Result<i64, WriteError> {
    let (number, zero_is_written) = match initial.seen(op)? {
        Seen::Initial => (0, false),
        Seen::Written => (express::value_number(history, Format::Plume, op)?, true),
    };
    if number == 0 && zero_is_written != initial.zero_is_written(op) {
        let what = format!("`{}`: 0 is the initial value exactly where nobody writes it", history.op_text(op));
        return Err(WriteError::cannot(Format::Plume, what));
    }
    Ok(number)
}
