//! Entries → transactions: completions meet their invocations, processes become sessions.

use std::io::Read;

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::hist::InputError;
use skew_model::{History, HistoryBuilder, Key, Literal, OpKind, SessionId, Status, Value};

use super::entries::{Action, Entries, Entry, HINT, Kind, Micro, Process};
use super::lists::Lists;
use crate::error::{ReadError, no_transaction};

pub(crate) fn read(file_name: &str, input: impl Read) -> Result<History, ReadError> {
    let mut reader = Reader {
        entries: Entries::new(input),
        builder: HistoryBuilder::new(),
        lists: Lists::default(),
        keys: FxHashMap::default(),
        clients: FxHashMap::default(),
        names: FxHashSet::default(),
    };
    reader.builder.file(file_name);
    while let Some(entry) = reader.entries.next(reader.builder.names())? {
        reader.take(entry)?;
    }
    Ok(reader.finish()?)
}

/// What a process has asked for and not yet got.
struct Pending {
    line: u32,
    index: i64,
    writes: Vec<Micro>,
}

#[derive(Default)]
struct Client {
    session: Option<SessionId>,
    /// How often it has crashed.
    crashes: u32,
    pending: Option<Pending>,
}

struct Reader<R> {
    entries: Entries<R>,
    builder: HistoryBuilder,
    lists: Lists,
    keys: FxHashMap<Value, Key>,
    clients: FxHashMap<i64, Client>,
    names: FxHashSet<i64>,
}

impl<R: Read> Reader<R> {
    /// Takes an entry, whose micro-operations are in `self.entries`.
    fn take(&mut self, mut entry: Entry) -> Result<(), InputError> {
        if self.entries.micros.is_empty() && !entry.is_txn {
            entry.problem.get_or_insert_with(|| "it is empty".to_owned());
        }
        if entry.process == Process::Other || (entry.problem.is_some() && !entry.is_txn && entry.kind.is_none()) {
            return Ok(());
        }
        let Some(kind) = entry.kind else {
            let error = InputError::at(entry.line, 0, "this operation has no :type");
            return Err(error.hint("it is one of :invoke, :ok, :fail, :info"));
        };
        let pending = match entry.process {
            Process::Client(client) => self.clients.entry(client).or_default().pending.take(),
            _ => None,
        };
        if kind == Kind::Invoke {
            return self.invoke(entry, pending);
        }
        if entry.problem.is_some() && (kind == Kind::Ok || pending.is_none()) {
            let ours = entry.is_txn || pending.is_some();
            return if ours { Err(not_txn(&entry)) } else { Ok(()) };
        }
        let begin = pending.as_ref().map(|pending| pending.index);
        if kind != Kind::Ok
            && let Some(pending) = pending
        {
            self.entries.micros = pending.writes;
        }
        self.txn(&entry, kind, begin)
    }

    fn invoke(&mut self, entry: Entry, crashed: Option<Pending>) -> Result<(), InputError> {
        if let (Some(crashed), Process::Client(client)) = (crashed, entry.process) {
            self.unfinished(client, crashed)?;
        }
        if entry.problem.is_some() {
            return if entry.is_txn { Err(not_txn(&entry)) } else { Ok(()) };
        }
        let Process::Client(client) = entry.process else {
            let error = InputError::at(entry.line, 0, "this invocation has no :process");
            return Err(error.hint("without it nobody can tell which completion belongs to it"));
        };
        let micros = self.entries.micros.iter().copied();
        let writes = micros.filter(|micro| !matches!(micro.action, Action::Read)).collect();
        let pending = Pending { line: entry.line, index: entry.index, writes };
        self.clients.entry(client).or_default().pending = Some(pending);
        Ok(())
    }

    /// A transaction that was asked for and never answered.
    fn unfinished(&mut self, client: i64, pending: Pending) -> Result<(), InputError> {
        let asked = std::mem::replace(&mut self.entries.micros, pending.writes);
        let entry = Entry {
            line: pending.line,
            kind: Some(Kind::Info),
            process: Process::Client(client),
            is_txn: true,
            index: pending.index,
            problem: None,
        };
        self.txn(&entry, Kind::Info, Some(pending.index))?;
        self.entries.micros = asked;
        Ok(())
    }

    /// Adds a transaction made of `self.entries.micros`.
    fn txn(&mut self, entry: &Entry, kind: Kind, begin: Option<i64>) -> Result<(), InputError> {
        if !self.names.insert(entry.index) {
            let error = InputError::at(entry.line, 0, format!("another operation has the :index {}, too", entry.index));
            return Err(error.hint("every operation has an :index of its own, or none has"));
        }
        let session = self.session(entry);
        self.builder.at_line(entry.line);
        let id = self.builder.begin(session, entry.index);
        let status = match kind {
            Kind::Fail => Status::Aborted,
            Kind::Info => Status::Indeterminate,
            _ => Status::Committed,
        };
        self.builder.status(id, status);
        if let Some(begin) = begin {
            let end = if kind == Kind::Info { i64::MAX } else { entry.index };
            if end < begin {
                return Err(InputError::at(entry.line, 0, "the :index is smaller than that of the invocation")
                    .hint("check that the file is in the order in which Jepsen wrote it"));
            }
            self.builder.span(id, begin, end);
        }
        self.lists.begin_txn();
        for index in 0..self.entries.micros.len() {
            self.add(self.entries.micros[index], kind);
        }
        if let (Kind::Info, Process::Client(client)) = (kind, entry.process) {
            let client = self.clients.entry(client).or_default();
            client.session = None;
            client.crashes += 1;
        }
        Ok(())
    }

    fn add(&mut self, micro: Micro, kind: Kind) {
        let key = match self.keys.get(&micro.key) {
            Some(&key) => key,
            None => {
                let name = self.builder.names().literal(micro.key);
                *self.keys.entry(micro.key).or_insert(self.builder.key(name))
            }
        };
        match (micro.action, micro.list) {
            (Action::Read, _) if kind != Kind::Ok => {}
            (Action::Read, Some((start, end))) => {
                self.lists.read(&mut self.builder, key, &self.entries.elements[start..end])
            }
            (Action::Read, None) => drop(self.builder.op(OpKind::Read, key, micro.value)),
            (Action::Write, _) => drop(self.builder.op(OpKind::Write, key, micro.value)),
            (Action::Append, _) => {
                let op = self.builder.op(OpKind::Write, key, micro.value);
                self.lists.append(key, micro.value, op, kind == Kind::Fail);
            }
        }
    }

    fn session(&mut self, entry: &Entry) -> SessionId {
        let Process::Client(number) = entry.process else {
            return self.builder.session(format!("op{}", entry.index));
        };
        let client = self.clients.entry(number).or_default();
        let name = match client.crashes {
            0 => Literal::Int(number),
            crashes => Literal::Text(format!("s{number}.{crashes}")),
        };
        *client.session.get_or_insert_with(|| self.builder.session(name))
    }

    fn finish(mut self) -> Result<History, InputError> {
        let clients = self.clients.iter_mut();
        let mut unfinished: Vec<_> =
            clients.filter_map(|(&number, client)| Some((number, client.pending.take()?))).collect();
        unfinished.sort_unstable_by_key(|(_, pending)| (pending.line, pending.index));
        for (client, pending) in unfinished {
            self.unfinished(client, pending)?;
        }
        if self.builder.txn_count() == 0 {
            return Err(no_transaction(HINT));
        }
        self.lists.finish(&mut self.builder);
        Ok(self.builder.finish())
    }
}

fn not_txn(entry: &Entry) -> InputError {
    let problem = entry.problem.as_deref().unwrap_or("it is no transaction");
    InputError::at(entry.line, 0, format!("this transaction cannot be understood: {problem}")).hint(HINT)
}
