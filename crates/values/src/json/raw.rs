//! `json`: parts of a text, as they were written.
//!
//! All take text that has been validated; of anything else they make what they can.

use super::parse::{Parser, Start};

/// What `json_typeof` says.
pub fn type_name(text: &str) -> &'static str {
    match Parser::new(text).start("") {
        Ok(Start::Object) => "object",
        Ok(Start::Array) => "array",
        Ok(Start::String) => "string",
        Ok(Start::Number) => "number",
        Ok(Start::Word) if text.trim_ascii() == "null" => "null",
        _ => "boolean",
    }
}

/// The items of an array; `None` if it is none.
pub fn items(text: &str) -> Option<Vec<&str>> {
    let mut parser = Parser::new(text);
    if parser.start("").ok()? != Start::Array {
        return None;
    }
    let mut items = Vec::new();
    let each = |parser: &mut Parser<'_>, depth| {
        parser.skip_space();
        let start = parser.at();
        parser.skip_value(depth)?;
        items.push(&text[start..parser.at()]);
        Ok(())
    };
    parser.array(0, each).ok()?;
    Some(items)
}

/// The keys and values of an object, duplicates included; `None` if it is none.
pub fn entries(text: &str) -> Option<Vec<(String, &str)>> {
    let mut parser = Parser::new(text);
    if parser.start("").ok()? != Start::Object {
        return None;
    }
    let mut entries = Vec::new();
    let each = |parser: &mut Parser<'_>, depth, key| {
        parser.skip_space();
        let start = parser.at();
        parser.skip_value(depth)?;
        entries.push((key, &text[start..parser.at()]));
        Ok(())
    };
    parser.object(0, each).ok()?;
    Some(entries)
}

/// `-> 'key'`: the last value with this key.
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    entries(text)?.into_iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// `-> 1`: counted from zero, or from the end if negative.
pub fn item(text: &str, index: i64) -> Option<&str> {
    let items = items(text)?;
    super::access::place(index, items.len()).map(|at| items[at])
}

/// `#>`
pub fn path<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(text, |value, step| match type_name(value) {
        "object" => field(value, step),
        "array" => item(value, super::access::index(step)?),
        _ => None,
    })
}

/// `->>`: a string without its quotes and escapes, nothing for null, anything else as it is.
pub fn to_text(text: &str) -> Option<String> {
    match type_name(text) {
        "null" => None,
        "string" => {
            let mut parser = Parser::new(text);
            parser.skip_space();
            parser.string().ok()
        }
        _ => Some(text.trim_matches([' ', '\t', '\n', '\r']).to_owned()),
    }
}
