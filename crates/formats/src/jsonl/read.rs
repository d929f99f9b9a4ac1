//! JSON Lines → history.

use std::io::Read;

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::hist::{InputError, literal_text};
use skew_model::sql_level::UnknownLevel;
use skew_model::{ConstraintOrder, Finding, History, HistoryBuilder, Literal, OpId, OpKind, Status, TxnId, Value};

use super::FINDINGS;
use crate::error::{ReadError, no_transaction};
use crate::json::{Json, literal_of_field};
use crate::lines::for_each_line;

const HINT: &str = r#"a line is {"session":"alice","txn":"t1","ops":[{"r":"x","v":0},{"w":"y","v":1}]}"#;

type Fields = Vec<(String, Json)>;

pub(crate) fn read(file_name: &str, input: impl Read) -> Result<History, ReadError> {
    let mut reader = Reader::default();
    reader.builder.file(file_name);
    for_each_line(input, |line, text| if text.trim().is_empty() { Ok(()) } else { reader.line(line, text) })?;
    Ok(reader.finish()?)
}

#[derive(Default)]
struct Reader {
    builder: HistoryBuilder,
    /// The number of the line that is being read.
    line: u32,
    begun: bool,
    names: FxHashMap<Literal, (TxnId, u32)>,
    /// By transaction, its first operation; and the end of the last one.
    first_ops: Vec<u32>,
    sources: Vec<(OpId, Literal, u32)>,
    /// Keys that constraints looked at, the transactions that they put in order, and the line.
    constraints: Vec<(Literal, [Literal; 2], u32)>,
}

impl Reader {
    fn line(&mut self, line: u32, text: &str) -> Result<(), InputError> {
        self.line = line;
        let fields = match serde_json::from_str(text) {
            Ok(Json::Object(fields)) => fields,
            Ok(other) => return Err(self.error(format!("expected an object, found {}", other.kind())).hint(HINT)),
            Err(error) => return Err(syntax(line, &error)),
        };
        let mut seen = FxHashSet::default();
        if let Some((name, _)) = fields.iter().find(|(name, _)| !seen.insert(name.as_str())) {
            return Err(self.error(format!("the field `{name}` is there twice")));
        }
        let has = |wanted: &str| fields.iter().any(|(name, _)| name == wanted);
        if has("skew") {
            if std::mem::replace(&mut self.begun, true) {
                return Err(self.error("the line with `skew` is the first one"));
            }
            return self.header(fields);
        }
        self.begun = true;
        if has("finding") {
            self.finding(fields)
        } else if has("constraint") {
            self.constraint(fields)
        } else {
            self.txn(fields)
        }
    }

    fn header(&mut self, fields: Fields) -> Result<(), InputError> {
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("skew", Json::Text(kind)) if kind == "history" => {}
                ("skew", _) => return Err(self.error("`skew` must be \"history\"")),
                ("version", Json::Int(1)) => {}
                ("version", _) => return Err(self.error("this version is not known").hint("version 1 is")),
                ("keys", Json::List(keys)) => {
                    for key in keys {
                        let key = self.literal("keys", key)?;
                        self.builder.key(key);
                    }
                }
                ("initial", Json::Object(initial)) => {
                    for (key, value) in initial {
                        let value = self.literal("initial", value)?;
                        let key = self.field_key(&key)?;
                        self.builder.init(key, value);
                    }
                }
                ("initial_elsewhere", value) => {
                    let value = self.literal("initial_elsewhere", value)?;
                    self.builder.init_elsewhere(value);
                }
                ("order", Json::Object(orders)) => {
                    for (key, order) in orders {
                        self.order(&key, order)?;
                    }
                }
                (_, value) => {
                    return Err(self.unexpected(
                        &name,
                        &value,
                        "skew, version, keys, initial, initial_elsewhere, order",
                    ));
                }
            }
        }
        Ok(())
    }

    fn order(&mut self, key: &str, order: Json) -> Result<(), InputError> {
        let Json::List(order) = order else {
            return Err(self.error(format!("the order of `{key}` must be an array")));
        };
        let mut values: Vec<Value> = Vec::new();
        let mut seen = FxHashSet::default();
        for value in order {
            let literal = self.literal("order", value)?;
            let value = self.builder.names().value(&literal);
            if !seen.insert(value) {
                return Err(self.error(format!("{} is twice in the order of `{key}`", literal_text(&literal))));
            }
            values.push(value);
        }
        let key = self.field_key(key)?;
        let key = self.builder.key(key);
        self.builder.version_order(key, values);
        Ok(())
    }

    fn txn(&mut self, fields: Fields) -> Result<(), InputError> {
        let (mut session, mut name, mut ops) = (None, None, None);
        let (mut level, mut status, mut begin, mut end) = (None, Status::Committed, None, None);
        for (field, value) in fields {
            match (field.as_str(), value) {
                ("session", value) => session = Some(self.literal("session", value)?),
                ("txn", value) => name = Some(self.literal("txn", value)?),
                ("ops", Json::List(list)) => ops = Some(list),
                ("level", Json::Text(word)) => {
                    level = Some(word.parse().map_err(|error: UnknownLevel| self.error(error.to_string()))?);
                }
                ("status", Json::Text(word)) => {
                    status = match word.as_str() {
                        "committed" => Status::Committed,
                        "aborted" => Status::Aborted,
                        "maybe" => Status::Indeterminate,
                        _ => {
                            return Err(self
                                .error(format!("`{word}` is not a status"))
                                .hint("use committed, aborted or maybe"));
                        }
                    };
                }
                ("begin", Json::Int(time)) => begin = Some(time),
                ("end", Json::Int(time)) => end = Some(time),
                (_, value) => {
                    return Err(self.unexpected(&field, &value, "session, txn, ops, level, status, begin, end"));
                }
            }
        }
        let missing = |what: &str| self.error(format!("`{what}` is missing")).hint(HINT);
        let session = session.ok_or_else(|| missing("session"))?;
        let name = name.ok_or_else(|| missing("txn"))?;
        let ops = ops.ok_or_else(|| missing("ops"))?;
        let id = self.begin(session, name)?;
        self.builder.status(id, status);
        if let Some(level) = level {
            self.builder.level(id, level);
        }
        match (begin, end) {
            (Some(begin), end) if end.is_none_or(|end| begin <= end) => {
                self.builder.span(id, begin, end.unwrap_or(i64::MAX));
            }
            (None, None) => {}
            _ => {
                return Err(self
                    .error("a transaction begins before it ends")
                    .hint("give `begin` too, and not after `end`"));
            }
        }
        for (index, op) in ops.into_iter().enumerate() {
            self.op(index, op)?;
        }
        Ok(())
    }

    fn begin(&mut self, session: Literal, name: Literal) -> Result<TxnId, InputError> {
        if name == Literal::Text("init".into()) {
            return Err(self.error("`init` is the initial transaction and cannot be the name of another"));
        }
        self.builder.at_line(self.line);
        let session = self.builder.session(session);
        let id = self.builder.begin(session, name.clone());
        self.first_ops.push(self.builder.op_count() as u32);
        let shown = literal_text(&name);
        match self.names.insert(name, (id, self.line)) {
            None => Ok(id),
            Some((_, line)) => Err(self
                .error(format!("{shown} is already the transaction on line {line}"))
                .hint("give every transaction a name of its own")),
        }
    }

    fn op(&mut self, index: usize, op: Json) -> Result<(), InputError> {
        let Json::Object(fields) = op else {
            return Err(self.error(format!("operation {index} must be an object, not {}", op.kind())).hint(HINT));
        };
        let (mut what, mut value, mut from, mut joined, mut at) = (None, None, None, false, None);
        for (field, json) in fields {
            let kind = match (field.as_str(), json) {
                ("r", key) => Some((OpKind::Read, key)),
                ("w", key) => Some((OpKind::Write, key)),
                ("o", key) => Some((OpKind::Observe, key)),
                ("v", json) if value.is_none() => {
                    value = Some(self.literal("v", json)?);
                    None
                }
                ("from", json) => {
                    from = Some(self.literal("from", json)?);
                    None
                }
                ("s", Json::Bool(same)) => {
                    joined = same;
                    None
                }
                ("at", Json::Int(time)) => {
                    at = Some(time);
                    None
                }
                (_, json) => return Err(self.unexpected(&field, &json, "r, w, o, v, from, s, at")),
            };
            if let Some((kind, key)) = kind
                && what.replace((kind, self.literal(&field, key)?)).is_some()
            {
                return Err(self
                    .error(format!("operation {index} is both one thing and another"))
                    .hint("use one of r, w, o"));
            }
        }
        let (Some((kind, key)), Some(value)) = (what, value) else {
            return Err(self.error(format!("operation {index} lacks its key or its value `v`")).hint(HINT));
        };
        if kind == OpKind::Write && from.is_some() {
            return Err(self.error("only a read takes its value from a transaction"));
        }
        if joined && (index == 0 || at.is_some()) {
            return Err(self.error(format!("operation {index} cannot join a statement: it begins one")));
        }
        let key = self.builder.key(key);
        let value = self.builder.names().value(&value);
        let op = self.builder.op(kind, key, value);
        if joined {
            self.builder.join(op);
        }
        if let Some(at) = at {
            self.builder.statement_begin(op, at);
        }
        if let Some(from) = from {
            self.sources.push((op, from, self.line));
        }
        Ok(())
    }

    fn constraint(&mut self, fields: Fields) -> Result<(), InputError> {
        let (mut key, mut first, mut second) = (None, None, None);
        for (field, value) in fields {
            match field.as_str() {
                "constraint" => key = Some(self.literal("constraint", value)?),
                "first" => first = Some(self.literal("first", value)?),
                "second" => second = Some(self.literal("second", value)?),
                _ => return Err(self.unexpected(&field, &value, "constraint, first, second")),
            }
        }
        let (Some(key), Some(first), Some(second)) = (key, first, second) else {
            return Err(self
                .error("a constraint puts two transactions in order")
                .hint(r#"a line is {"constraint":"x","first":"t1","second":"t2"}"#));
        };
        self.constraints.push((key, [first, second], self.line));
        Ok(())
    }

    fn finding(&mut self, fields: Fields) -> Result<(), InputError> {
        let (mut kind, mut op, mut other) = (None, None, None);
        for (field, value) in fields {
            match (field.as_str(), value) {
                ("finding", Json::Text(word)) => {
                    let found = FINDINGS.iter().find(|(_, name)| *name == word);
                    kind = Some(found.ok_or_else(|| self.error(format!("`{word}` is not a finding")))?.0);
                }
                ("op", Json::List(place)) => op = Some(self.place(&place)?),
                ("other", Json::List(place)) => other = Some(self.place(&place)?),
                (_, value) => return Err(self.unexpected(&field, &value, "finding, op, other")),
            }
        }
        let kind = kind.expect("a line with the field `finding` has it");
        self.builder.finding(Finding { kind, op, other });
        Ok(())
    }

    /// The operation at a place: which transaction, and which of its operations.
    fn place(&self, place: &[Json]) -> Result<OpId, InputError> {
        let wrong = || self.error("there is no operation at this place").hint("findings come after the transactions");
        let [Json::Int(txn), Json::Int(op)] = place else { return Err(wrong()) };
        let txn = usize::try_from(*txn).map_err(|_| wrong())?;
        let first = *self.first_ops.get(txn).ok_or_else(wrong)?;
        let end = self.first_ops.get(txn + 1).copied().unwrap_or(self.builder.op_count() as u32);
        let op = u32::try_from(*op).ok().and_then(|op| first.checked_add(op)).ok_or_else(wrong)?;
        if op < end { Ok(OpId(op)) } else { Err(wrong()) }
    }

    fn finish(mut self) -> Result<History, InputError> {
        if self.builder.txn_count() == 0 {
            return Err(no_transaction(HINT));
        }
        for (op, name, line) in std::mem::take(&mut self.sources) {
            let source = match self.names.get(&name) {
                Some((id, _)) => Some(*id),
                None if name == Literal::Text("init".into()) => None,
                None => {
                    return Err(InputError::at(line, 0, format!("there is no transaction {}", literal_text(&name))));
                }
            };
            self.builder.source(op, source);
        }
        for (key, pair, line) in std::mem::take(&mut self.constraints) {
            let named = |name: &Literal| {
                let missing = || InputError::at(line, 0, format!("there is no transaction {}", literal_text(name)));
                self.names.get(name).map(|(id, _)| *id).ok_or_else(missing)
            };
            let (first, second) = (named(&pair[0])?, named(&pair[1])?);
            let key = self.builder.key(key);
            self.builder.constraint_order(ConstraintOrder { key, first, second });
        }
        Ok(self.builder.finish())
    }

    fn literal(&self, field: &str, json: Json) -> Result<Literal, InputError> {
        json.literal().map_err(|kind| {
            self.error(format!("`{field}` is {kind}")).hint("use a whole number, a string, or null for nil")
        })
    }

    fn field_key(&self, name: &str) -> Result<Literal, InputError> {
        literal_of_field(name)
            .ok_or_else(|| self.error(format!("the key `{name}` starts with a quote but is not quoted")))
    }

    fn unexpected(&self, field: &str, value: &Json, known: &str) -> InputError {
        if known.split(", ").any(|name| name == field) {
            return self.error(format!("the field `{field}` cannot be {}, or is there twice", value.kind())).hint(HINT);
        }
        self.error(format!("there is no field `{field}`")).hint(format!("fields here are {known}"))
    }

    fn error(&self, message: impl Into<String>) -> InputError {
        InputError::at(self.line, 0, message)
    }
}

/// What the JSON parser says, at our line.
fn syntax(line: u32, error: &serde_json::Error) -> InputError {
    let column = u32::try_from(error.column()).unwrap_or(0);
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    InputError::at(line, column, format!("this is not JSON: {message}")).hint(HINT)
}
