//! EDN → history: operation maps into entries, entries into transactions.

use std::io::Read;

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::hist::InputError;
use skew_model::{History, HistoryBuilder, Key, Literal, OpKind, SessionId, Status, Value};

use super::edn::{Bracket, Edn, Token};
use super::lists::Lists;
use crate::error::{ReadError, no_transaction};

const HINT: &str = "an operation is {:type :ok, :f :txn, :process 0, :value [[:append 5 1] [:r 5 [1]]]}";

pub(crate) fn read(file_name: &str, input: impl Read) -> Result<History, ReadError> {
    let mut reader = Reader::new(file_name, input);
    let mut depth = 0u64;
    loop {
        match reader.edn.token()? {
            Token::Open(Bracket::Braces) => reader.operation()?,
            Token::Open(Bracket::Sequence) => depth += 1,
            Token::Close(Bracket::Sequence) if depth > 0 => depth -= 1,
            Token::Tag => {}
            Token::End if depth == 0 => return Ok(reader.finish()?),
            Token::End => return Err(reader.edn.truncated()),
            _ => return Err(reader.edn.error("expected an operation: a map in braces").hint(HINT).into()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// One operation map, without its micro-operations.
struct Entry {
    line: u32,
    kind: Option<Kind>,
    process: Option<i64>,
    is_txn: bool,
    index: i64,
    /// Why the value is no vector of micro-operations, if it is none.
    problem: Option<String>,
}

#[derive(Clone, Copy)]
enum Action {
    Read,
    Write,
    Append,
}

#[derive(Clone, Copy)]
struct Micro {
    action: Action,
    key: Value,
    /// What was read or written; of a list its last element.
    value: Value,
    /// Where in [`Reader::elements`] its list is.
    list: Option<(usize, usize)>,
}

/// What a process has asked for and not yet got.
struct Pending {
    line: u32,
    index: i64,
    writes: Vec<Micro>,
}

#[derive(Default)]
struct Process {
    session: Option<SessionId>,
    /// How often it has crashed.
    crashes: u32,
    pending: Option<Pending>,
}

struct Reader<R> {
    edn: Edn<R>,
    builder: HistoryBuilder,
    lists: Lists,
    keys: FxHashMap<Value, Key>,
    processes: FxHashMap<i64, Process>,
    names: FxHashSet<i64>,
    place: i64,
    micros: Vec<Micro>,
    elements: Vec<Value>,
}

impl<R: Read> Reader<R> {
    fn new(file_name: &str, input: R) -> Self {
        let mut builder = HistoryBuilder::new();
        builder.file(file_name);
        Reader {
            edn: Edn::new(input),
            builder,
            lists: Lists::default(),
            keys: FxHashMap::default(),
            processes: FxHashMap::default(),
            names: FxHashSet::default(),
            place: 0,
            micros: Vec::new(),
            elements: Vec::new(),
        }
    }

    /// Reads the rest of an operation map and takes what it says.
    fn operation(&mut self) -> Result<(), ReadError> {
        let mut entry =
            Entry { line: self.edn.line(), kind: None, process: None, is_txn: false, index: self.place, problem: None };
        entry.problem = Some("it has no :value".to_owned());
        self.place += 1;
        self.micros.clear();
        self.elements.clear();
        loop {
            let field = match self.edn.token()? {
                Token::Close(Bracket::Braces) => break,
                Token::Word => Field::of(self.edn.word()),
                Token::Open(_) => {
                    self.edn.leave(1)?;
                    Field::Other
                }
                Token::End => return Err(self.edn.truncated()),
                Token::Close(_) => return Err(self.edn.error("`]` closes a map").into()),
                Token::Tag => continue,
                _ => Field::Other,
            };
            self.field(field, &mut entry)?;
        }
        Ok(self.take(entry)?)
    }

    fn field(&mut self, field: Field, entry: &mut Entry) -> Result<(), ReadError> {
        match field {
            Field::Other => return self.edn.skip(),
            Field::Value => {
                entry.problem = self.value()?;
                return Ok(());
            }
            _ => {}
        }
        let token = self.atom()?;
        match (field, token) {
            (Field::Type, Some(Token::Word)) => {
                entry.kind = match self.edn.word() {
                    b":invoke" => Some(Kind::Invoke),
                    b":ok" => Some(Kind::Ok),
                    b":fail" => Some(Kind::Fail),
                    b":info" => Some(Kind::Info),
                    _ => None,
                }
            }
            (Field::Process, Some(Token::Int(process))) => entry.process = Some(process),
            (Field::Index, Some(Token::Int(index))) => entry.index = index,
            (Field::F, Some(Token::Word)) => entry.is_txn = self.edn.word() == b":txn",
            _ => {}
        }
        Ok(())
    }

    /// The next form if it is an atom; any other form is passed over.
    fn atom(&mut self) -> Result<Option<Token>, ReadError> {
        loop {
            match self.edn.token()? {
                Token::Tag => {}
                Token::Open(_) => return self.edn.leave(1).map(|()| None),
                Token::Close(_) => return Err(self.edn.error("a key of the map has no value").into()),
                Token::End => return Err(self.edn.truncated()),
                token => return Ok(Some(token)),
            }
        }
    }

    /// Reads a vector of micro-operations; if it is something else, passes over it and says what is wrong.
    fn value(&mut self) -> Result<Option<String>, ReadError> {
        loop {
            match self.edn.token()? {
                Token::Tag => {}
                Token::Open(Bracket::Sequence) => break,
                Token::Open(_) => return self.wrong(1, "a value that is not a vector"),
                Token::Close(_) => return Err(self.edn.error("a key of the map has no value").into()),
                Token::End => return Err(self.edn.truncated()),
                _ => return self.wrong(0, "a value that is not a vector"),
            }
        }
        loop {
            match self.edn.token()? {
                Token::Close(Bracket::Sequence) => return Ok(None),
                Token::Open(Bracket::Sequence) => {
                    if let Some(problem) = self.micro()? {
                        return Ok(Some(problem));
                    }
                }
                token => return self.wrong_at(token, 1, "a value that is not a vector of micro-operations"),
            }
        }
    }

    /// Reads the rest of a micro-operation.
    fn micro(&mut self) -> Result<Option<String>, ReadError> {
        let action = match (self.edn.token()?, self.edn.word()) {
            (Token::Word, b":r") => Action::Read,
            (Token::Word, b":w") => Action::Write,
            (Token::Word, b":append") => Action::Append,
            (Token::Word, word) => {
                let problem = format!("the micro-operation {}", String::from_utf8_lossy(word));
                return self.wrong(2, &problem);
            }
            (token, _) => return self.wrong_at(token, 2, "a micro-operation without a name"),
        };
        let token = self.edn.token()?;
        let Some(key) = self.value_of(token)? else {
            return self.wrong_at(token, 2, "a key that is not a number, string or keyword");
        };
        let token = self.edn.token()?;
        if token == Token::Close(Bracket::Sequence) {
            self.micros.push(Micro { action, key, value: Value::NIL, list: None });
            return Ok(None);
        }
        let (value, list) = match (self.value_of(token)?, token) {
            (Some(value), _) => (value, None),
            (None, Token::Open(Bracket::Sequence)) => {
                let start = self.elements.len();
                loop {
                    while let Some(number) = self.edn.small_number() {
                        self.elements.push(self.builder.names().int(number));
                    }
                    let token = self.edn.token()?;
                    if token == Token::Close(Bracket::Sequence) {
                        break;
                    }
                    let Some(element) = self.value_of(token)? else {
                        return self.wrong_at(token, 3, "a list of things that are not numbers, strings or keywords");
                    };
                    self.elements.push(element);
                }
                let list = &self.elements[start..];
                (list.last().copied().unwrap_or(Value::NIL), Some((start, self.elements.len())))
            }
            _ => return self.wrong_at(token, 2, "a value that is not a number, string, keyword or list"),
        };
        if list.is_some() && !matches!(action, Action::Read) {
            return self.wrong(2, "a write of a list");
        }
        match self.edn.token()? {
            Token::Close(Bracket::Sequence) => {}
            token => return self.wrong_at(token, 2, "a micro-operation of more than three parts"),
        }
        self.micros.push(Micro { action, key, value, list });
        Ok(None)
    }

    /// Leaves this many brackets and says what is wrong.
    fn wrong(&mut self, depth: u64, problem: &str) -> Result<Option<String>, ReadError> {
        self.edn.leave(depth)?;
        Ok(Some(format!("{problem} is not known here")))
    }

    /// The same after a token that may itself have opened or closed a bracket.
    fn wrong_at(&mut self, token: Token, depth: u64, problem: &str) -> Result<Option<String>, ReadError> {
        match token {
            Token::Open(_) => self.wrong(depth + 1, problem),
            Token::Close(_) => self.wrong(depth - 1, problem),
            Token::End => Err(self.edn.truncated()),
            _ => self.wrong(depth, problem),
        }
    }

    fn value_of(&mut self, token: Token) -> Result<Option<Value>, ReadError> {
        Ok(match token {
            Token::Int(number) => Some(self.builder.names().int(number)),
            Token::Nil => Some(Value::NIL),
            Token::Word | Token::Text => Some(self.builder.names().text(self.edn.text()?)),
            _ => None,
        })
    }

    /// Takes an entry, whose micro-operations are in `self.micros`.
    fn take(&mut self, entry: Entry) -> Result<(), InputError> {
        let Some(process) = entry.process else { return Ok(()) };
        let Some(kind) = entry.kind else {
            if entry.is_txn || entry.problem.is_none() {
                let error = InputError::at(entry.line, 0, "this operation has no :type");
                return Err(error.hint("it is one of :invoke, :ok, :fail, :info"));
            }
            return Ok(());
        };
        let pending = self.processes.entry(process).or_default().pending.take();
        if kind == Kind::Invoke {
            if let Some(crashed) = pending {
                self.unfinished(process, crashed)?;
            }
            if entry.problem.is_none() {
                let writes = self.micros.iter().copied().filter(|micro| !matches!(micro.action, Action::Read)).collect();
                let pending = Pending { line: entry.line, index: entry.index, writes };
                self.processes.entry(process).or_default().pending = Some(pending);
                return Ok(());
            }
            return if entry.is_txn { Err(not_txn(&entry)) } else { Ok(()) };
        }
        if entry.problem.is_some() && pending.is_none() {
            return if entry.is_txn { Err(not_txn(&entry)) } else { Ok(()) };
        }
        if entry.problem.is_some() && kind == Kind::Ok {
            return Err(not_txn(&entry));
        }
        let begin = pending.as_ref().map(|pending| pending.index);
        if kind != Kind::Ok
            && let Some(pending) = pending
        {
            self.micros = pending.writes;
        }
        self.txn(process, &entry, kind, begin)
    }

    /// A transaction that was asked for and never answered.
    fn unfinished(&mut self, process: i64, pending: Pending) -> Result<(), InputError> {
        let asked = std::mem::replace(&mut self.micros, pending.writes);
        let entry = Entry {
            line: pending.line,
            kind: Some(Kind::Info),
            process: Some(process),
            is_txn: true,
            index: pending.index,
            problem: None,
        };
        self.txn(process, &entry, Kind::Info, Some(pending.index))?;
        self.micros = asked;
        Ok(())
    }

    /// Adds a transaction made of `self.micros`.
    fn txn(&mut self, process: i64, entry: &Entry, kind: Kind, begin: Option<i64>) -> Result<(), InputError> {
        if !self.names.insert(entry.index) {
            let error = InputError::at(entry.line, 0, format!("another operation has the :index {}, too", entry.index));
            return Err(error.hint("every operation has an :index of its own, or none has"));
        }
        let session = self.session(process);
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
        for index in 0..self.micros.len() {
            self.add(self.micros[index], kind);
        }
        if kind == Kind::Info {
            let process = self.processes.entry(process).or_default();
            process.session = None;
            process.crashes += 1;
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
            (Action::Read, Some((start, end))) => self.lists.read(&mut self.builder, key, &self.elements[start..end]),
            (Action::Read, None) => drop(self.builder.op(OpKind::Read, key, micro.value)),
            (Action::Write, _) => drop(self.builder.op(OpKind::Write, key, micro.value)),
            (Action::Append, _) => {
                let op = self.builder.op(OpKind::Write, key, micro.value);
                self.lists.append(key, micro.value, op, kind == Kind::Fail);
            }
        }
    }

    fn session(&mut self, number: i64) -> SessionId {
        let process = self.processes.entry(number).or_default();
        let name = match process.crashes {
            0 => Literal::Int(number),
            crashes => Literal::Text(format!("s{number}.{crashes}")),
        };
        *process.session.get_or_insert_with(|| self.builder.session(name))
    }

    fn finish(mut self) -> Result<History, InputError> {
        let processes = self.processes.iter_mut();
        let mut unfinished: Vec<_> =
            processes.filter_map(|(&number, process)| Some((number, process.pending.take()?))).collect();
        unfinished.sort_unstable_by_key(|(_, pending)| (pending.line, pending.index));
        for (process, pending) in unfinished {
            self.unfinished(process, pending)?;
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Type,
    F,
    Process,
    Index,
    Value,
    Other,
}

impl Field {
    fn of(word: &[u8]) -> Field {
        match word {
            b":type" => Field::Type,
            b":f" => Field::F,
            b":process" => Field::Process,
            b":index" => Field::Index,
            b":value" => Field::Value,
            _ => Field::Other,
        }
    }
}
