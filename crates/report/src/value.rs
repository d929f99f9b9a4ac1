//! A JSON value and its text: two spaces a level, short lists of plain values on one line.

/// A JSON value. Objects keep the order of their fields.
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    pub(crate) fn count(number: usize) -> Json {
        Json::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }

    pub(crate) fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Json {
        Json::List(texts.into_iter().map(Json::text).collect())
    }

    /// Appends the value's text.
    pub(crate) fn write(&self, indent: usize, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Int(number) => out.push_str(&number.to_string()),
            Json::Text(text) => quote(text, out),
            Json::List(items) if items.iter().all(Json::is_plain) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    item.write(indent, out);
                }
                out.push(']');
            }
            Json::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    line(index, indent + 1, out);
                    item.write(indent + 1, out);
                }
                line(0, indent, out);
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    line(index, indent + 1, out);
                    quote(name, out);
                    out.push_str(": ");
                    value.write(indent + 1, out);
                }
                line(0, indent, out);
                out.push('}');
            }
        }
    }

    fn is_plain(&self) -> bool {
        !matches!(self, Json::List(_) | Json::Object(_))
    }
}

fn line(index: usize, indent: usize, out: &mut String) {
    out.push_str(if index == 0 { "\n" } else { ",\n" });
    out.push_str(&"  ".repeat(indent));
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
