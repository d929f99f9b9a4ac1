//! dbcop's JSON → events, token by token: the file is never in memory as a whole.

use std::fmt;
use std::io::Read;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use skew_model::hist::InputError;
use skew_model::{OpKind, TxnId, Value};

use super::Sink;
use crate::error::ReadError;
use crate::json::Json;

const HINT: &str = r#"a transaction is {"events":[{"Write":{"variable":0,"version":1}}],"committed":true}"#;

pub(super) fn read(input: impl Read, sink: &mut Sink) -> Result<(), ReadError> {
    let mut json = serde_json::Deserializer::from_reader(input);
    Part::History.of(sink).deserialize(&mut json).and_then(|()| json.end()).map_err(read_error)
}

fn read_error(error: serde_json::Error) -> ReadError {
    if error.is_io() {
        return ReadError::Io(error.into());
    }
    let (line, column) = (error.line(), error.column());
    let [line, column] = [line, column].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    InputError::at(line, column, format!("this is not a dbcop history: {message}")).hint(HINT).into()
}

/// A part of the file, from the whole to the events of a transaction.
#[derive(Clone, Copy)]
enum Part {
    History,
    Sessions,
    Session,
    Txn,
    Events,
}

impl Part {
    fn of(self, sink: &mut Sink) -> Reader<'_> {
        Reader { part: self, sink }
    }
}

struct Reader<'a> {
    part: Part,
    sink: &'a mut Sink,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        match self.part {
            Part::History => json.deserialize_any(self),
            Part::Txn => json.deserialize_map(self),
            Part::Sessions | Part::Session | Part::Events => json.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self.part {
            Part::History => "an array of sessions or an object with `data`",
            Part::Sessions => "an array of sessions",
            Part::Session => "an array of transactions",
            Part::Txn => "a transaction",
            Part::Events => "an array of events",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        match self.part {
            Part::Session => {
                self.sink.begin_session();
                while items.next_element_seed(Part::Txn.of(self.sink))?.is_some() {}
            }
            Part::Events => {
                while let Some(json) = items.next_element()? {
                    event(json, self.sink).map_err(A::Error::custom)?;
                }
            }
            _ => while items.next_element_seed(Part::Session.of(self.sink))?.is_some() {},
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        if !matches!(self.part, Part::Txn) {
            let mut found = false;
            while let Some(field) = fields.next_key::<String>()? {
                if field != "data" {
                    fields.next_value::<IgnoredAny>()?;
                } else if std::mem::replace(&mut found, true) {
                    return Err(A::Error::duplicate_field("data"));
                } else {
                    fields.next_value_seed(Part::Sessions.of(self.sink))?;
                }
            }
            return if found { Ok(()) } else { Err(A::Error::missing_field("data")) };
        }
        let id: TxnId = self.sink.begin_txn();
        let mut committed = None;
        let mut found = false;
        while let Some(field) = fields.next_key::<String>()? {
            match field.as_str() {
                "events" if std::mem::replace(&mut found, true) => return Err(A::Error::duplicate_field("events")),
                "events" => fields.next_value_seed(Part::Events.of(self.sink))?,
                "committed" | "success" => committed = Some(fields.next_value()?),
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        if !found {
            return Err(A::Error::missing_field("events"));
        }
        self.sink.end_txn(id, committed.ok_or_else(|| A::Error::missing_field("committed"))?);
        Ok(())
    }
}

/// Takes one event of any of the three forms.
fn event(json: Json, sink: &mut Sink) -> Result<(), String> {
    match json {
        Json::List(parts) => {
            let Ok([Json::Text(tag), variable, version]) = <[Json; 3]>::try_from(parts) else {
                return Err(r#"an event in brackets is ["r", variable, version] or ["w", variable, version]"#.into());
            };
            current(&tag, variable, version, sink)
        }
        Json::Object(mut fields) if fields.len() == 1 => {
            let (tag, inner) = fields.remove(0);
            let Json::Object(inner) = inner else { return Err(format!("`{tag}` must be an object")) };
            let (mut variable, mut version) = (None, Json::Null);
            for (field, json) in inner {
                match field.as_str() {
                    "variable" => variable = Some(json),
                    "version" => version = json,
                    _ => {}
                }
            }
            current(&tag, variable.ok_or("an event lacks its `variable`")?, version, sink)
        }
        Json::Object(fields) => older(fields, sink),
        other => Err(format!("an event cannot be {}", other.kind())),
    }
}

fn current(tag: &str, variable: Json, version: Json, sink: &mut Sink) -> Result<(), String> {
    let kind = match tag {
        "r" | "Read" => OpKind::Read,
        "w" | "Write" => OpKind::Write,
        _ => return Err(format!("`{tag}` is not an event")),
    };
    let version = value(version, sink)?;
    if kind == OpKind::Write && version == Value::NIL {
        return Err("a write lacks its `version`".into());
    }
    let variable = value(variable, sink)?;
    sink.event(kind, variable, version);
    Ok(())
}

fn older(fields: Vec<(String, Json)>, sink: &mut Sink) -> Result<(), String> {
    let (mut write, mut variable, mut version, mut success) = (None, None, None, None);
    for (field, json) in fields {
        match (field.as_str(), json) {
            ("write", Json::Bool(yes)) => write = Some(yes),
            ("success", Json::Bool(yes)) => success = Some(yes),
            ("variable", json) => variable = Some(value(json, sink)?),
            ("value", json) => version = Some(value(json, sink)?),
            _ => {}
        }
    }
    let (Some(write), Some(variable), Some(version), Some(success)) = (write, variable, version, success) else {
        return Err("an event has `write`, `variable`, `value` and `success`".into());
    };
    sink.starts_with_zero = true;
    if success {
        sink.event(if write { OpKind::Write } else { OpKind::Read }, variable, version);
    }
    Ok(())
}

fn value(json: Json, sink: &mut Sink) -> Result<Value, String> {
    let literal = json.literal().map_err(|kind| format!("a variable or version cannot be {kind}"))?;
    Ok(sink.builder.names().value(&literal))
}
