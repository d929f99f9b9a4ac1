//! `regexp_replace`, and SQL's own regular expressions (SIMILAR TO, SUBSTRING … SIMILAR …).

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::f;
use crate::functions::pattern::like::escape_character;
use crate::functions::pattern::matching::{Subject, positive, read_flags};
use crate::functions::pattern::regex::{Flags, Regex, Span};
use crate::functions::text::fits;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("regexp_replace", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT, replace),
    f("regexp_replace", &[T::TEXT, T::TEXT, T::TEXT, T::TEXT], T::TEXT, replace_with_flags),
    f("regexp_replace", &[T::TEXT, T::TEXT, T::TEXT, T::INT4], T::TEXT, replace_from),
    f("regexp_replace", &[T::TEXT, T::TEXT, T::TEXT, T::INT4, T::INT4], T::TEXT, replace_from),
    f("regexp_replace", &[T::TEXT, T::TEXT, T::TEXT, T::INT4, T::INT4, T::TEXT], T::TEXT, replace_from),
    f("similar_to_escape", &[T::TEXT], T::TEXT, similar_to_escape),
    f("similar_to_escape", &[T::TEXT, T::TEXT], T::TEXT, similar_to_escape),
    f("similar_escape", &[T::TEXT, T::TEXT], T::TEXT, similar_escape).with_nulls(),
    f("substring", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT, substring_similar),
];

fn replace(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    replaced(args, "", 0, Some(1))
}

fn replace_with_flags(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let flags = args.text(3)?;
    if let Some(digit) = flags.chars().next().filter(char::is_ascii_digit) {
        let message = format!("invalid regular expression option: \"{digit}\"");
        return Err(invalid_parameter(message)
            .hint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly."));
    }
    let (_, global) = read_flags(flags)?;
    replaced(args, flags, 0, if global { None } else { Some(1) })
}

/// With a place to start from, and which match is meant: none in particular is 0.
fn replace_from(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let start = positive(args, 3, "start")?;
    let n = if args.len() > 4 { args.int(4)? } else { 1 };
    if n < 0 {
        return Err(invalid_parameter(format!("invalid value for parameter \"n\": {n}")));
    }
    let flags = if args.len() > 5 { args.text(5)? } else { "" };
    let (_, global) = read_flags(flags)?;
    let which = if args.len() <= 4 && global || n == 0 { None } else { Some(n as usize) };
    replaced(args, flags, start - 1, which)
}

/// Replaces the n-th match from a place on, or all.
fn replaced(args: &[Datum], flags: &str, from: usize, which: Option<usize>) -> Result<Datum> {
    let (flags, global) = read_flags(flags)?;
    let text: Vec<char> = args.text(0)?.chars().collect();
    let subject = Subject { text, regex: Regex::cached(args.text(1)?, flags)?, global };
    let replacement = args.text(2)?;
    let (mut out, mut done) = (String::new(), 0);
    for (number, spans) in subject.all(from).enumerate() {
        let Some((begin, end)) = spans[0] else { continue };
        match which {
            Some(n) if number + 1 < n => continue,
            _ => {}
        }
        out.push_str(&subject.part(done, begin));
        insert(&mut out, replacement, &subject, &spans)?;
        done = end;
        if which.is_some() {
            break;
        }
    }
    out.push_str(&subject.part(done.min(subject.text.len()), subject.text.len()));
    Ok(Datum::text(out))
}

/// `\1` to `\9` are groups, `\&` is the whole match, `\\` a backslash.
fn insert(out: &mut String, replacement: &str, subject: &Subject, spans: &[Span]) -> Result<()> {
    let mut chars = replacement.chars();
    while let Some(c) = chars.next() {
        fits(out.len())?;
        if c != '\\' {
            out.push(c);
            continue;
        }
        let group = match chars.clone().next() {
            Some('&') => Some(0),
            Some(digit @ '1'..='9') => digit.to_digit(10).map(|digit| digit as usize),
            Some('\\') => {
                chars.next();
                out.push('\\');
                continue;
            }
            _ => None,
        };
        match group {
            Some(group) => {
                chars.next();
                if let Some((from, to)) = spans.get(group).copied().flatten() {
                    out.push_str(&subject.part(from, to));
                }
            }
            None => out.push('\\'),
        }
    }
    Ok(())
}

fn similar_to_escape(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let escape = if args.len() > 1 { escape_character(args.text(1)?)? } else { Some('\\') };
    similar(args.text(0)?, escape).map(Datum::text)
}

/// The old name: no escape character is the usual one.
fn similar_escape(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let escape = if args.at(1).is_null() { Some('\\') } else { escape_character(args.text(1)?)? };
    similar(args.text(0)?, escape).map(Datum::text)
}

fn substring_similar(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let pattern = similar(args.text(1)?, escape_character(args.text(2)?)?)?;
    let regex = Regex::cached(&pattern, Flags::default())?;
    let text: Vec<char> = args.text(0)?.chars().collect();
    let Some(spans) = regex.find(&text, 0) else { return Ok(Datum::Null) };
    let span = spans.get(1).copied().unwrap_or(spans[0]);
    Ok(span.map_or(Datum::Null, |(from, to)| Datum::text(text[from..to].iter().collect::<String>())))
}

/// SQL's pattern as one of ours. The escape character before a double quote divides it in three parts, of which the
/// middle one is the result; the first takes as little as it can.
fn similar(pattern: &str, escape: Option<char>) -> Result<String> {
    let mut out = String::from("^(?:");
    let (mut escaped, mut in_brackets, mut quotes) = (false, false, 0);
    for c in pattern.chars() {
        if escaped {
            escaped = false;
            if c == '"' && !in_brackets {
                quotes += 1;
                match quotes {
                    1 => out.push_str("){1,1}?("),
                    2 => out.push_str("){1,1}(?:"),
                    _ => return Err(too_many_quotes()),
                }
            } else {
                out.push('\\');
                out.push(c);
            }
            continue;
        }
        if Some(c) == escape {
            escaped = true;
            continue;
        }
        match c {
            '\\' => out.push_str("\\\\"),
            _ if in_brackets => {
                in_brackets = c != ']';
                out.push(c);
            }
            '[' => {
                in_brackets = true;
                out.push(c);
            }
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '(' => out.push_str("(?:"),
            '.' | '^' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push_str(")$");
    Ok(out)
}

fn too_many_quotes() -> SqlError {
    SqlError::new(
        SqlState("2200C"),
        "SQL regular expression may not contain more than two escape-double-quote separators",
    )
}
