//! Row values as text: `(1,"a b",)`.

use std::sync::Arc;

use crate::Env;
use crate::error::{Result, SqlError, SqlState};
use crate::{Datum, RecordShape, RecordValue, Type, Typed, text};

/// Reads a row of a composite type.
pub fn parse(source: &str, ty: Type, fields: &[(Arc<str>, Typed)], env: &dyn Env) -> Result<Datum> {
    let malformed = |detail: &str| {
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed record literal: \"{source}\""))
            .detail(detail)
    };
    let rest = source.trim_start();
    let inner = rest.strip_prefix('(').ok_or_else(|| malformed("Missing left parenthesis."))?;
    let mut chars = inner.chars().peekable();
    let mut values = Vec::with_capacity(fields.len());
    for (at, (_, typed)) in fields.iter().enumerate() {
        if at > 0 && chars.next_if_eq(&',').is_none() {
            return Err(malformed("Too few columns."));
        }
        values.push(match field(&mut chars).ok_or_else(|| malformed("Unexpected end of input."))? {
            Some(item) => text::input(&item, *typed, env)?,
            None => Datum::Null,
        });
    }
    match chars.next() {
        Some(')') => {}
        Some(',') => return Err(malformed("Too many columns.")),
        _ => return Err(malformed("Too many columns.")),
    }
    if chars.any(|char| !char.is_ascii_whitespace()) {
        return Err(malformed("Junk after right parenthesis."));
    }
    Ok(Datum::record(Arc::new(RecordShape { ty, fields: fields.to_vec() }), values))
}

/// One field up to the comma or parenthesis after it; `Some(None)` is NULL, `None` the end of the text.
fn field(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Option<String>> {
    if matches!(chars.peek()?, ',' | ')') {
        return Some(None);
    }
    let mut item = String::new();
    let mut quoted = false;
    loop {
        match *chars.peek()? {
            ',' | ')' if !quoted => return Some(Some(item)),
            '\\' => {
                chars.next();
                item.push(chars.next()?);
            }
            '"' => {
                chars.next();
                if quoted && chars.next_if_eq(&'"').is_some() {
                    item.push('"');
                } else {
                    quoted = !quoted;
                }
            }
            char => {
                chars.next();
                item.push(char);
            }
        }
    }
}

/// Shows a row.
pub fn show(out: &mut String, record: &RecordValue, env: &dyn Env) {
    out.push('(');
    for (at, (field, (_, typed))) in record.fields.iter().zip(&record.shape.fields).enumerate() {
        if at > 0 {
            out.push(',');
        }
        if !field.is_null() {
            show_field(out, field, typed.ty, env);
        }
    }
    out.push(')');
}

fn show_field(out: &mut String, field: &Datum, ty: Type, env: &dyn Env) {
    let start = out.len();
    text::output_into(out, field, ty, env);
    let shown = &out[start..];
    let special =
        |char: char| matches!(char, '"' | '\\' | '(' | ')' | ',') || char.is_ascii_whitespace() || char == '\x0b';
    if !shown.is_empty() && !shown.contains(special) {
        return;
    }
    let shown = out.split_off(start);
    out.push('"');
    for char in shown.chars() {
        if matches!(char, '"' | '\\') {
            out.push(char);
        }
        out.push(char);
    }
    out.push('"');
}
