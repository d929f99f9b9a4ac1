//! `citext`: texts that compare without regard to case. The type's order is in [`crate::types::compare`]; what matches
//! patterns or looks for a text is here.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::aggregate::extreme::{maximum, minimum};
use crate::functions::args::Args;
use crate::functions::comparison::{equal, greater, greater_or_equal, less, less_or_equal, not_equal};
use crate::functions::define::{aggregate, f, set};
use crate::functions::{Body, Env, Function, Site, named, operators};
use crate::types::{Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("citext", &[T::BPCHAR], T::CITEXT, |_, args, _| Ok(Datum::text(args.text(0)?.trim_end_matches(' ')))),
    f("citext", &[T::BOOL], T::CITEXT, |_, args, _| Ok(Datum::text(if args.bool(0)? { "true" } else { "false" }))),
    aggregate("max", &[T::CITEXT], T::CITEXT, maximum),
    aggregate("min", &[T::CITEXT], T::CITEXT, minimum),
    f("strpos", &[T::CITEXT, T::CITEXT], T::INT4, strpos),
    f("replace", &[T::CITEXT, T::CITEXT, T::CITEXT], T::TEXT, replace),
    f("split_part", &[T::CITEXT, T::CITEXT, T::INT4], T::TEXT, split_part),
    f("translate", &[T::CITEXT, T::CITEXT, T::TEXT], T::TEXT, translate),
    f("regexp_match", &[T::CITEXT, T::CITEXT], T::TEXT_ARRAY, |env, args, site| {
        flagged("regexp_match", env, args, site)
    }),
    f("regexp_match", &[T::CITEXT, T::CITEXT, T::TEXT], T::TEXT_ARRAY, |env, args, site| {
        flagged("regexp_match", env, args, site)
    }),
    set("regexp_matches", &[T::CITEXT, T::CITEXT], T::TEXT_ARRAY, |env, args, site| {
        flagged_rows("regexp_matches", env, args, site)
    }),
    set("regexp_matches", &[T::CITEXT, T::CITEXT, T::TEXT], T::TEXT_ARRAY, |env, args, site| {
        flagged_rows("regexp_matches", env, args, site)
    }),
    f("regexp_split_to_array", &[T::CITEXT, T::CITEXT], T::TEXT_ARRAY, |env, args, site| {
        flagged("regexp_split_to_array", env, args, site)
    }),
    f("regexp_split_to_array", &[T::CITEXT, T::CITEXT, T::TEXT], T::TEXT_ARRAY, |env, args, site| {
        flagged("regexp_split_to_array", env, args, site)
    }),
    set("regexp_split_to_table", &[T::CITEXT, T::CITEXT], T::TEXT, |env, args, site| {
        flagged_rows("regexp_split_to_table", env, args, site)
    }),
    set("regexp_split_to_table", &[T::CITEXT, T::CITEXT, T::TEXT], T::TEXT, |env, args, site| {
        flagged_rows("regexp_split_to_table", env, args, site)
    }),
    f("regexp_replace", &[T::CITEXT, T::CITEXT, T::TEXT], T::TEXT, regexp_replace),
    f("regexp_replace", &[T::CITEXT, T::CITEXT, T::TEXT, T::TEXT], T::TEXT, regexp_replace),
];

macro_rules! patterns {
    ($($symbol:literal $text:literal,)*) => {
        &[
            f("=", &[T::CITEXT, T::CITEXT], T::BOOL, equal),
            f("<>", &[T::CITEXT, T::CITEXT], T::BOOL, not_equal),
            f("<", &[T::CITEXT, T::CITEXT], T::BOOL, less),
            f("<=", &[T::CITEXT, T::CITEXT], T::BOOL, less_or_equal),
            f(">", &[T::CITEXT, T::CITEXT], T::BOOL, greater),
            f(">=", &[T::CITEXT, T::CITEXT], T::BOOL, greater_or_equal),
            $(
                f($symbol, &[T::CITEXT, T::CITEXT], T::BOOL, |env, args, site| of_text($text, env, args, site)),
                f($symbol, &[T::CITEXT, T::TEXT], T::BOOL, |env, args, site| of_text($text, env, args, site)),
            )*
        ]
    };
}

/// The operators: each pattern operator is the one of text that ignores case.
pub(super) static OPERATORS: &[Function] = patterns! {
    "~~" "~~*", "!~~" "!~~*", "~~*" "~~*", "!~~*" "!~~*", "~" "~*", "!~" "!~*", "~*" "~*", "!~*" "!~*",
};

fn missing(name: &str) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, format!("{name} of text is missing"))
}

fn of_text(symbol: &str, env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let found = operators(symbol).iter().find(|operator| operator.args == [T::TEXT, T::TEXT]);
    match found.map(|operator| &operator.body) {
        Some(Body::Scalar(body)) => body(env, args, site),
        _ => Err(missing(symbol)),
    }
}

/// The function of text with a pattern and flags.
fn with_flags(name: &str, count: usize) -> Option<&'static Body> {
    let fits = |function: &&&Function| function.args.len() == count && function.args.iter().all(|ty| *ty == T::TEXT);
    named(name).iter().find(fits).map(|function| &function.body)
}

/// The flags that were given after these many arguments, and the one that ignores case unless they say otherwise.
fn flags(args: &[Datum], place: usize) -> Result<Vec<Datum>> {
    let given = if args.len() > place { args.text(place)? } else { "" };
    let ignoring = if given.contains('c') { given.to_owned() } else { format!("{given}i") };
    Ok(args[..place.min(args.len())].iter().cloned().chain([Datum::text(ignoring)]).collect())
}

fn flagged(name: &str, env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    match with_flags(name, 3) {
        Some(Body::Scalar(body)) => body(env, &flags(args, 2)?, site),
        _ => Err(missing(name)),
    }
}

fn flagged_rows(name: &str, env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    match with_flags(name, 3) {
        Some(Body::Set { rows, .. }) => rows(env, &flags(args, 2)?, site),
        _ => Err(missing(name)),
    }
}

fn regexp_replace(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    match with_flags("regexp_replace", 4) {
        Some(Body::Scalar(body)) => body(env, &flags(args, 3)?, site),
        _ => Err(missing("regexp_replace")),
    }
}

fn same(left: char, right: char) -> bool {
    left == right || left.to_lowercase().eq(right.to_lowercase())
}

/// Where a text is found in another from a place on, in characters.
fn find(text: &[char], sought: &[char], from: usize) -> Option<usize> {
    let last = text.len().checked_sub(sought.len())?;
    (from..=last).find(|at| text[*at..].iter().zip(sought).all(|(one, other)| same(*one, *other)))
}

fn chars(args: &[Datum], index: usize) -> Result<Vec<char>> {
    Ok(args.text(index)?.chars().collect())
}

fn strpos(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(find(&chars(args, 0)?, &chars(args, 1)?, 0).map_or(0, |at| at as i64 + 1)))
}

/// The pieces between the places where a text is found.
fn pieces(text: &[char], sought: &[char]) -> Vec<String> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    while !sought.is_empty()
        && let Some(at) = find(text, sought, from)
    {
        pieces.push(text[from..at].iter().collect());
        from = at + sought.len();
    }
    pieces.push(text[from..].iter().collect());
    pieces
}

fn replace(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(pieces(&chars(args, 0)?, &chars(args, 1)?).join(args.text(2)?)))
}

fn split_part(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let pieces = pieces(&chars(args, 0)?, &chars(args, 1)?);
    let place = match args.int(2)? {
        0 => return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "field position must not be zero")),
        place @ 1.. => place - 1,
        place => pieces.len() as i64 + place,
    };
    let found = usize::try_from(place).ok().and_then(|place| pieces.get(place));
    Ok(Datum::text(found.map_or("", String::as_str)))
}

fn translate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (from, to) = (chars(args, 1)?, chars(args, 2)?);
    let translated = args.text(0)?.chars().filter_map(|c| match from.iter().position(|known| same(*known, c)) {
        Some(at) => to.get(at).copied(),
        None => Some(c),
    });
    Ok(Datum::text(translated.collect::<String>()))
}
