//! Texts made of any values: concat, concat_ws, format, quoting, and `||` with a text.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter, spread};
use crate::functions::define::f;
use crate::functions::text::fits;
use crate::functions::{Constant, Env, Function, Site};
use crate::types::cast::cast;
use crate::types::{Datum, Type as T, quote, text};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("||", &[T::TEXT, T::ANYNONARRAY], T::TEXT, append_any).stable(),
    f("||", &[T::ANYNONARRAY, T::TEXT], T::TEXT, append_any).stable(),
];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("concat", &[T::ANY], T::TEXT, concat).variadic().with_nulls().stable(),
    f("concat_ws", &[T::TEXT, T::ANY], T::TEXT, concat_ws).variadic().with_nulls().stable(),
    f("format", &[T::TEXT], T::TEXT, format).with_nulls().stable(),
    f("format", &[T::TEXT, T::ANY], T::TEXT, format).variadic().with_nulls().stable(),
    f("quote_ident", &[T::TEXT], T::TEXT, quote_ident),
    f("quote_literal", &[T::TEXT], T::TEXT, quote_literal),
    f("quote_literal", &[T::ANYELEMENT], T::TEXT, quote_literal).stable(),
    f("quote_nullable", &[T::TEXT], T::TEXT, quote_nullable).with_nulls(),
    f("quote_nullable", &[T::ANYELEMENT], T::TEXT, quote_nullable).with_nulls().stable(),
    f("parse_ident", &[T::TEXT, T::BOOL], T::TEXT_ARRAY, parse_ident)
        .named(&["str", "strict"])
        .defaults(&[Constant::Bool(true)]),
];

/// The forms with one `VARIADIC array`.
pub(in crate::functions) static SPREAD: &[Function] = &[
    f("concat", &[T::ANYARRAY], T::TEXT, |env, args, site| spread(env, args, site, concat)).variadic().stable(),
    f("concat_ws", &[T::TEXT, T::ANYARRAY], T::TEXT, |env, args, site| spread(env, args, site, concat_ws))
        .variadic()
        .stable(),
    f("format", &[T::TEXT, T::ANYARRAY], T::TEXT, |env, args, site| spread(env, args, site, format))
        .variadic()
        .stable(),
];

/// The other operand is cast to text, which is not always how it is shown: true is `true` here.
fn append_any(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let left = cast(args[0].clone(), site.args[0].ty, T::TEXT.into(), true, env)?;
    let right = cast(args[1].clone(), site.args[1].ty, T::TEXT.into(), true, env)?;
    Ok(Datum::text([[left].text(0)?, [right].text(0)?].concat()))
}

fn concat(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let mut out = String::new();
    for (value, typed) in args.iter().zip(site.args).filter(|(value, _)| !value.is_null()) {
        text::output_into(&mut out, value, typed.ty, env);
    }
    Ok(Datum::text(out))
}

fn concat_ws(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let separator = args.text(0)?;
    let mut out = String::new();
    let values = args.iter().zip(site.args).skip(1).filter(|(value, _)| !value.is_null());
    for (at, (value, typed)) in values.enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        text::output_into(&mut out, value, typed.ty, env);
        fits(out.len())?;
    }
    Ok(Datum::text(out))
}

fn quote_ident(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(quote::identifier(args.text(0)?)))
}

fn quote_literal(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(quote::literal(&text::output(&args[0], site.args[0].ty, env))))
}

fn quote_nullable(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::text("NULL"));
    }
    quote_literal(env, args, site)
}

fn parse_ident(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (name, strict) = (args.text(0)?, args.bool(1)?);
    let Some((parts, _)) = identifiers(name).filter(|(_, rest)| !strict || rest.is_empty()) else {
        let message = format!("string is not a valid identifier: \"{name}\"");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    };
    Ok(Datum::array(T::TEXT, parts.into_iter().map(Datum::text).collect()))
}

/// The parts of the qualified name that a text begins with, and what follows it.
fn identifiers(name: &str) -> Option<(Vec<String>, &str)> {
    let mut parts = Vec::new();
    let mut rest = name.trim_start();
    loop {
        let begins = |char: char| char == '"' || char == '_' || char.is_ascii_alphabetic() || !char.is_ascii();
        let (part, after) = quote::next_part(rest).filter(|_| rest.starts_with(begins))?;
        parts.push(part);
        let after = after.trim_start();
        match after.strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None => return Some((parts, after)),
        }
    }
}

/// A `%` directive: `%[position][flags][width]type`.
#[derive(Default)]
struct Directive {
    position: Option<usize>,
    left: bool,
    width: Option<Width>,
}

enum Width {
    Fixed(i64),
    /// The next argument, or the one at this position.
    Argument(Option<usize>),
}

fn format(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let mut out = String::new();
    let mut chars = args.text(0)?.chars().peekable();
    let mut next = 1;
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        let mut directive = read_directive(&mut chars)?;
        let kind = chars.next().ok_or_else(unterminated)?;
        if !matches!(kind, 's' | 'I' | 'L') {
            return Err(invalid_parameter(format!("unrecognized format() type specifier \"{kind}\""))
                .hint("For a single \"%\" use \"%%\"."));
        }
        let mut take = |position: Option<usize>| {
            let at = position.unwrap_or(next);
            next = at + 1;
            if at < args.len() { Ok(at) } else { Err(invalid_parameter("too few arguments for format()")) }
        };
        let mut width = 0;
        match directive.width.take() {
            Some(Width::Fixed(fixed)) => width = fixed,
            Some(Width::Argument(position)) => {
                let at = take(position)?;
                width = width_argument(args.at(at), site.args[at].ty, env)?;
            }
            None => {}
        }
        if width < 0 {
            directive.left = true;
        }
        let at = take(directive.position)?;
        let shown = shown(args.at(at), site.args[at].ty, kind, env)?;
        fits(out.len().saturating_add(shown.len()).saturating_add(width.unsigned_abs() as usize))?;
        pad(&mut out, &shown, width.unsigned_abs() as usize, directive.left);
    }
    Ok(Datum::text(out))
}

fn unterminated() -> SqlError {
    invalid_parameter("unterminated format() type specifier").hint("For a single \"%\" use \"%%\".")
}

fn read_directive(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Directive> {
    let mut directive = Directive::default();
    let mut number = read_number(chars)?;
    if let Some(position) = number
        && chars.peek() == Some(&'$')
    {
        chars.next();
        if position == 0 {
            return Err(invalid_parameter("format specifies argument 0, but arguments are numbered from 1"));
        }
        directive.position = Some(position);
        number = None;
    }
    if number.is_none() {
        while chars.peek() == Some(&'-') {
            chars.next();
            directive.left = true;
        }
        if chars.peek() == Some(&'*') {
            chars.next();
            let position = read_number(chars)?;
            if position.is_some() && chars.next() != Some('$') {
                return Err(invalid_parameter("width argument position must be ended by \"$\""));
            }
            if position == Some(0) {
                return Err(invalid_parameter("format specifies argument 0, but arguments are numbered from 1"));
            }
            directive.width = Some(Width::Argument(position));
            return Ok(directive);
        }
        number = read_number(chars)?;
    }
    directive.width = number.map(|width| Width::Fixed(width as i64));
    Ok(directive)
}

fn read_number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Option<usize>> {
    let mut number: Option<usize> = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        chars.next();
        let value = number.unwrap_or(0) * 10 + digit as usize;
        if value > i32::MAX as usize {
            return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"));
        }
        number = Some(value);
    }
    Ok(number)
}

fn width_argument(datum: &Datum, ty: T, env: &dyn Env) -> Result<i64> {
    match datum {
        Datum::Null => Ok(0),
        Datum::Int(width) => Ok(*width),
        other => {
            let read = text::input(&text::output(other, ty, env), T::INT4.into(), env)?;
            if let Datum::Int(width) = read { Ok(width) } else { Ok(0) }
        }
    }
}

/// A value as text, as an identifier or as a literal.
fn shown(datum: &Datum, ty: T, kind: char, env: &dyn Env) -> Result<String> {
    if datum.is_null() {
        return match kind {
            's' => Ok(String::new()),
            'L' => Ok("NULL".to_owned()),
            _ => {
                let message = "null values cannot be formatted as an SQL identifier";
                Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message))
            }
        };
    }
    let plain = text::output(datum, ty, env);
    Ok(match kind {
        's' => plain,
        'I' => quote::identifier(&plain),
        _ => quote::literal(&plain),
    })
}

fn pad(out: &mut String, shown: &str, width: usize, left: bool) {
    let missing = width.saturating_sub(shown.chars().count());
    if !left {
        out.extend(std::iter::repeat_n(' ', missing));
    }
    out.push_str(shown);
    if left {
        out.extend(std::iter::repeat_n(' ', missing));
    }
}
