//! JSON values that keep the order of their fields, and how history literals are spelled in JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use skew_model::Literal;

/// A JSON value.
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    /// A number that is not a 64-bit integer.
    OtherNumber,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Int(_) => "a number",
            Json::OtherNumber => "a number that is not a 64-bit integer",
            Json::Text(_) => "a string",
            Json::List(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// The literal that it spells: a whole number, a string, or null for nil.
    pub(crate) fn literal(self) -> Result<Literal, &'static str> {
        match self {
            Json::Null => Ok(Literal::Nil),
            Json::Int(number) => Ok(Literal::Int(number)),
            Json::Text(text) => Ok(Literal::Text(text)),
            other => Err(other.kind()),
        }
    }
}

/// A literal as a JSON value.
pub(crate) fn literal_json(literal: &Literal) -> String {
    match literal {
        Literal::Nil => "null".to_owned(),
        Literal::Int(number) => number.to_string(),
        Literal::Text(text) => text_json(text),
    }
}

/// Text as a JSON string.
pub(crate) fn text_json(text: &str) -> String {
    serde_json::to_string(text).expect("every string has a JSON form")
}

/// A literal as the name of a field, before JSON quotes it: `5` is the number, `"5"` the text, `nil` is nil, and any
/// other text is itself.
pub(crate) fn field_name(literal: &Literal) -> String {
    match literal {
        Literal::Nil => "nil".to_owned(),
        Literal::Int(number) => number.to_string(),
        Literal::Text(text) => match literal_of_field(text) {
            Some(Literal::Text(same)) if same == *text => same,
            _ => text_json(text),
        },
    }
}

/// The literal behind the name of a field.
pub(crate) fn literal_of_field(name: &str) -> Option<Literal> {
    if name == "nil" {
        return Some(Literal::Nil);
    }
    if name.starts_with('"') {
        return serde_json::from_str(name).ok().map(Literal::Text);
    }
    match name.parse::<i64>() {
        Ok(number) if number.to_string() == name => Some(Literal::Int(number)),
        _ => Some(Literal::Text(name.to_owned())),
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::OtherNumber, Json::Int))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::OtherNumber)
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(field) = fields.next_entry()? {
            object.push(field);
        }
        Ok(Json::Object(object))
    }
}
