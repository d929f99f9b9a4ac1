//! EDN → entries: the operation maps of the file, one at a time, with their micro-operations.

use std::io::Read;

use skew_model::Value;
use skew_model::names::Names;

use super::edn::{Bracket, Edn, Token};
use crate::error::ReadError;

pub(super) const HINT: &str = "an operation is {:type :ok, :f :txn, :process 0, :value [[:append 5 1] [:r 5 [1]]]}";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// Who ran an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    Client(i64),
    /// The map does not say.
    Missing,
    /// Somebody who runs no transactions, such as the nemesis.
    Other,
}

/// One operation map, without its micro-operations.
pub(super) struct Entry {
    pub(super) line: u32,
    pub(super) kind: Option<Kind>,
    pub(super) process: Process,
    pub(super) is_txn: bool,
    pub(super) index: i64,
    /// Why the value is no vector of micro-operations, if it is none.
    pub(super) problem: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Action {
    Read,
    Write,
    Append,
}

#[derive(Clone, Copy)]
pub(super) struct Micro {
    pub(super) action: Action,
    pub(super) key: Value,
    /// What was read or written; of a list its last element.
    pub(super) value: Value,
    /// Where in [`Entries::elements`] its list is.
    pub(super) list: Option<(usize, usize)>,
}

/// The operation maps of a stream.
pub(super) struct Entries<R> {
    edn: Edn<R>,
    /// How many vectors are open around the maps.
    depth: u64,
    /// The place of the next map.
    place: i64,
    /// The micro-operations of the last map.
    pub(super) micros: Vec<Micro>,
    /// The elements of the lists in them.
    pub(super) elements: Vec<Value>,
}

impl<R: Read> Entries<R> {
    pub(super) fn new(input: R) -> Self {
        Entries { edn: Edn::new(input), depth: 0, place: 0, micros: Vec::new(), elements: Vec::new() }
    }

    /// The next operation map.
    pub(super) fn next(&mut self, names: &mut Names) -> Result<Option<Entry>, ReadError> {
        loop {
            match self.edn.token()? {
                Token::Open(Bracket::Braces) => return self.operation(names).map(Some),
                Token::Open(Bracket::Sequence) => self.depth += 1,
                Token::Close(Bracket::Sequence) if self.depth > 0 => self.depth -= 1,
                Token::Tag => {}
                Token::End if self.depth == 0 => return Ok(None),
                Token::End => return Err(self.edn.truncated()),
                _ => return Err(self.edn.error("expected an operation: a map in braces").hint(HINT).into()),
            }
        }
    }

    /// Reads the rest of an operation map.
    fn operation(&mut self, names: &mut Names) -> Result<Entry, ReadError> {
        let mut entry = Entry {
            line: self.edn.line(),
            kind: None,
            process: Process::Missing,
            is_txn: false,
            index: self.place,
            problem: Some("it has no :value".to_owned()),
        };
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
            self.field(field, &mut entry, names)?;
        }
        Ok(entry)
    }

    fn field(&mut self, field: Field, entry: &mut Entry, names: &mut Names) -> Result<(), ReadError> {
        match field {
            Field::Other => return self.edn.skip(),
            Field::Value => {
                entry.problem = self.value(names)?;
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
            (Field::Process, Some(Token::Int(process))) => entry.process = Process::Client(process),
            (Field::Process, Some(Token::Nil)) => {}
            (Field::Process, _) => entry.process = Process::Other,
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
    fn value(&mut self, names: &mut Names) -> Result<Option<String>, ReadError> {
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
                    if let Some(problem) = self.micro(names)? {
                        return Ok(Some(problem));
                    }
                }
                token => return self.wrong_at(token, 1, "a value that is not a vector of micro-operations"),
            }
        }
    }

    /// Reads the rest of a micro-operation.
    fn micro(&mut self, names: &mut Names) -> Result<Option<String>, ReadError> {
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
        let Some(key) = self.value_of(token, names)? else {
            return self.wrong_at(token, 2, "a key that is not a number, string or keyword");
        };
        let token = self.edn.token()?;
        if token == Token::Close(Bracket::Sequence) {
            self.micros.push(Micro { action, key, value: Value::NIL, list: None });
            return Ok(None);
        }
        let (value, list) = match (self.value_of(token, names)?, token) {
            (Some(value), _) => (value, None),
            (None, Token::Open(Bracket::Sequence)) => {
                let start = self.elements.len();
                loop {
                    while let Some(number) = self.edn.small_number() {
                        self.elements.push(names.int(number));
                    }
                    let token = self.edn.token()?;
                    if token == Token::Close(Bracket::Sequence) {
                        break;
                    }
                    let Some(element) = self.value_of(token, names)? else {
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

    fn value_of(&self, token: Token, names: &mut Names) -> Result<Option<Value>, ReadError> {
        Ok(match token {
            Token::Int(number) => Some(names.int(number)),
            Token::Nil => Some(Value::NIL),
            Token::Word | Token::Text => Some(names.text(self.edn.text()?)),
            _ => None,
        })
    }
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
