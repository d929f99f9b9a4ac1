//! The fields of a JSON document, or what is wrong with one.

use serde_json::Value;

/// A document of a kind and a version that it says itself.
pub(crate) fn open(text: &str, kind: &str, version: u64) -> Result<Value, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    if document["skew"] != kind {
        return Err(format!("it does not say `\"skew\": \"{kind}\"`"));
    }
    if document["version"] != version {
        let other = &document["version"];
        return Err(format!("version {other} of the format; this version of Skew reads version {version}"));
    }
    Ok(document)
}

pub(crate) fn pretty(document: &Value) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("a document of texts and numbers can be written");
    text.push('\n');
    text
}

pub(crate) fn text_of(value: &Value, name: &str) -> Result<String, String> {
    value[name].as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` is not a string"))
}

pub(crate) fn optional_text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

pub(crate) fn texts(value: &Value, name: &str) -> Result<Vec<String>, String> {
    let texts = list(value, name)?.iter().map(|text| text.as_str().map(str::to_owned));
    texts.collect::<Option<_>>().ok_or_else(|| format!("`{name}` holds something that is not a string"))
}

pub(crate) fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    value[name].as_array().ok_or_else(|| format!("`{name}` is not an array"))
}

pub(crate) fn number(value: &Value, name: &str) -> Result<u64, String> {
    value[name].as_u64().ok_or_else(|| format!("`{name}` is not a whole number"))
}

pub(crate) fn small(value: &Value, name: &str) -> Result<u32, String> {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| format!("`{name}` holds no whole number"))
}
