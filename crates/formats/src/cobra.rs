//! Cobra's histories: a folder with a binary log for each client, big-endian.
//!
//! | record | bytes |
//! | --- | --- |
//! | start | `S`, transaction |
//! | commit | `C`, transaction |
//! | write | `W`, write, key, value |
//! | read | `R`, writing transaction, write, key, value |
//!
//! Everything after the letter is eight bytes. Numbers of writes are unique, so they are the values here; keys and
//! values in the log are hashes. A read from the initial or the null transaction reads the initial version. Reads of
//! the garbage collector's flag, which no log records the writes of, are left out. A log is a session; a transaction
//! without a commit may or may not have committed.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::hist::InputError;
use skew_model::{History, HistoryBuilder, Key, Literal, OpId, OpKind, SessionId, Status, TxnId, Value};

use crate::error::{ReadError, WriteError, no_transaction};
use crate::express::{self, BEYOND_READS_AND_WRITES, InitialReads, Seen, refuse};
use crate::format::Format;
use crate::numbers::numbers_of;

/// The initial transaction and its writes.
const INIT: i64 = 0xbebe_ebee;
/// Whom a read of nothing reads from.
const NULL: i64 = 0xdead_beef;
/// The garbage collector's two writes.
const GC: [i64; 2] = [0x2333_2333, 0x6666_6666];

/// The history that the `*.log` files of a folder hold; a folder with dbcop's `history.bincode` instead is read, too.
pub fn read_cobra(dir: &Path) -> Result<History, ReadError> {
    let logs = logs_of(dir)?;
    let dbcop = dir.join("history.bincode");
    if logs.is_empty() && dbcop.is_file() {
        let name = dbcop.display().to_string();
        return crate::read(Format::Dbcop, &name, BufReader::new(File::open(&dbcop)?));
    }
    let folder = dir.display().to_string();
    let hint = "a Cobra folder has a *.log file for each client";
    if logs.len() > usize::from(u16::MAX) {
        return Err(InputError::at(0, 0, "there are more than 65535 logs in it").in_file(folder).into());
    }
    let mut reader = Reader::default();
    for log in &logs {
        let name = log.display().to_string();
        let stem = log.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        reader.builder.file(name.as_str());
        let session = reader.builder.session(stem);
        let log = Log { input: BufReader::new(File::open(log)?), at: 0 };
        reader.log(log, session).map_err(|error| error.in_file(&name))?;
    }
    if reader.builder.txn_count() == 0 {
        return Err(no_transaction(hint).in_file(folder).into());
    }
    Ok(reader.builder.finish())
}

/// The logs of a folder, `T2.log` before `T10.log`.
fn logs_of(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "log") && path.is_file() {
            logs.push(path);
        }
    }
    logs.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(logs)
}

#[derive(Default)]
struct Reader {
    builder: HistoryBuilder,
    keys: FxHashMap<i64, Key>,
    names: FxHashSet<i64>,
}

impl Reader {
    fn log(&mut self, mut log: Log<impl Read>, session: SessionId) -> Result<(), ReadError> {
        let mut current: Option<(TxnId, i64)> = None;
        while let Some(letter) = log.letter()? {
            match (letter, current) {
                (b'S', _) => {
                    let name = log.number()?;
                    if !self.names.insert(name) {
                        return Err(log.error(format!("transaction {name} starts for the second time")));
                    }
                    let id = self.builder.begin(session, name);
                    self.builder.status(id, Status::Indeterminate);
                    current = Some((id, name));
                }
                (b'C', Some((id, name))) => {
                    let committed = log.number()?;
                    if committed != name {
                        return Err(log.error(format!("transaction {committed} commits while {name} runs")));
                    }
                    self.builder.status(id, Status::Committed);
                    current = None;
                }
                (b'W', Some(_)) => {
                    let [write, key, _] = [log.number()?, log.number()?, log.number()?];
                    self.op(OpKind::Write, key, Some(write));
                }
                (b'R', Some(_)) => {
                    let [txn, write, key, _] = [log.number()?, log.number()?, log.number()?, log.number()?];
                    match (txn, write) {
                        (INIT | NULL, INIT | NULL) => self.op(OpKind::Read, key, None),
                        (INIT, write) if GC.contains(&write) => {}
                        (INIT | NULL, _) => {
                            return Err(log.error(format!("the initial transaction has no write {write}")));
                        }
                        _ => self.op(OpKind::Read, key, Some(write)),
                    }
                }
                (b'C' | b'W' | b'R', None) => return Err(log.error("an operation outside of a transaction")),
                _ => return Err(log.error(format!("a record cannot start with the byte {letter}"))),
            }
        }
        Ok(())
    }

    fn op(&mut self, kind: OpKind, key: i64, write: Option<i64>) {
        let key = *self.keys.entry(key).or_insert_with(|| self.builder.key(key));
        let value = write.map_or(Value::NIL, |write| self.builder.names().int(write));
        self.builder.op(kind, key, value);
    }
}

struct Log<R> {
    input: R,
    at: u64,
}

impl<R: Read> Log<R> {
    /// The letter of the next record, if there is one.
    fn letter(&mut self) -> Result<Option<u8>, ReadError> {
        let mut letter = [0];
        match self.input.read_exact(&mut letter) {
            Ok(()) => self.at += 1,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        Ok(Some(letter[0]))
    }

    fn number(&mut self) -> Result<i64, ReadError> {
        let mut bytes = [0; 8];
        self.input.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.error("the file ends in the middle of a record"),
            _ => error.into(),
        })?;
        self.at += 8;
        Ok(i64::from_be_bytes(bytes))
    }

    fn error(&self, message: impl AsRef<str>) -> ReadError {
        InputError::at(0, 0, format!("at byte {}: {}", self.at, message.as_ref()))
            .hint("check that it is a log of Cobra without timestamps")
            .into()
    }
}

/// Writes a history as a folder of logs, `T0.log` and so on. A folder that has logs already is refused.
pub fn write_cobra(history: &History, dir: &Path) -> Result<(), WriteError> {
    let writer = Writer::new(history)?;
    let mut logs = vec![Vec::new(); history.session_count()];
    for id in history.txn_ids() {
        writer.txn(id, &mut logs[history.txn(id).session.0 as usize])?;
    }
    fs::create_dir_all(dir)?;
    if !logs_of(dir)?.is_empty() {
        let error = io::Error::new(ErrorKind::AlreadyExists, format!("{} has *.log files already", dir.display()));
        return Err(error.into());
    }
    let is_cobra = matches!(history.txns().first().map(|txn| history.session_literal(txn.session)), Some(Literal::Text(name)) if name.starts_with('T'));
    let numbers = express::session_numbers(history, if is_cobra { 'T' } else { 's' });
    for (log, number) in logs.iter().zip(numbers) {
        BufWriter::new(File::create(dir.join(format!("T{number}.log")))?).write_all(log)?;
    }
    Ok(())
}

struct Writer<'a> {
    history: &'a History,
    initial: InitialReads<'a>,
    numbers: Vec<i64>,
    writers: FxHashMap<(Key, Value), TxnId>,
}

impl<'a> Writer<'a> {
    fn new(history: &'a History) -> Result<Self, WriteError> {
        refuse(history, Format::Cobra, BEYOND_READS_AND_WRITES)?;
        let aborted = history.txn_ids().find(|&id| history.txn(id).status == Status::Aborted);
        if let Some(id) = aborted {
            return Err(WriteError::cannot(Format::Cobra, format!("that {} rolled back", history.txn_name(id))));
        }
        let mut writers = FxHashMap::default();
        for id in history.txn_ids() {
            for op in history.ops(id).iter().filter(|op| op.kind() == OpKind::Write) {
                if writers.insert((op.key(), op.value()), id).is_some() {
                    let what =
                        format!("two writes of {}={}", history.key_name(op.key()), history.value_text(op.value()));
                    return Err(WriteError::cannot(Format::Cobra, what));
                }
            }
        }
        let numbers = numbers_of(history.txn_ids().map(|id| history.txn_literal(id)), 't');
        Ok(Writer { history, initial: InitialReads::new(history, Format::Cobra)?, numbers, writers })
    }

    fn txn(&self, id: TxnId, log: &mut Vec<u8>) -> Result<(), WriteError> {
        let number = self.numbers[id.0 as usize];
        record(log, b'S', &[number]);
        for op in self.history.op_ids(id).map(OpId) {
            let key = express::key_number(self.history, Format::Cobra, op)?;
            let (write, writer) = match self.initial.seen(op)? {
                Seen::Initial => (INIT, INIT),
                Seen::Written => (self.write_number(op)?, self.writer_number(op)?),
            };
            match self.history.op(op).kind() {
                OpKind::Write => record(log, b'W', &[write, key, write]),
                _ => record(log, b'R', &[writer, write, key, write]),
            }
        }
        if self.history.txn(id).status == Status::Committed {
            record(log, b'C', &[number]);
        }
        Ok(())
    }

    fn write_number(&self, op: OpId) -> Result<i64, WriteError> {
        let number = express::value_number(self.history, Format::Cobra, op)?;
        self.refuse_reserved(number, op)
    }

    fn writer_number(&self, op: OpId) -> Result<i64, WriteError> {
        let operation = self.history.op(op);
        match self.writers.get(&(operation.key(), operation.value())) {
            Some(id) => self.refuse_reserved(self.numbers[id.0 as usize], op),
            None => {
                Err(WriteError::cannot(Format::Cobra, format!("`{}`, which nobody wrote", self.history.op_text(op))))
            }
        }
    }

    fn refuse_reserved(&self, number: i64, op: OpId) -> Result<i64, WriteError> {
        if ![INIT, NULL, GC[0], GC[1]].contains(&number) {
            return Ok(number);
        }
        let what = format!("`{}`: it keeps the number {number} for itself", self.history.op_text(op));
        Err(WriteError::cannot(Format::Cobra, what))
    }
}

fn record(log: &mut Vec<u8>, letter: u8, numbers: &[i64]) {
    log.push(letter);
    for number in numbers {
        log.extend_from_slice(&number.to_be_bytes());
    }
}
