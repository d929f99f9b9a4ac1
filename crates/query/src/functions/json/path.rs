//! `jsonb_path_query` and its like, and the operators `@?` and `@@`.

use crate::error::{Result, SqlError};
use crate::functions::args::Args;
use crate::functions::define::{f, set};
use crate::functions::json::jsonb;
use crate::functions::pattern::regex::{Flags, Regex};
use crate::functions::{Constant, Env, Function, Site};
use crate::types::json::Json;
use crate::types::json::path::Path;
use crate::types::json::path::run::{Run, is_suppressible};
use crate::types::{Datum, Type as T};

const NAMES: &[&str] = &["target", "path", "vars", "silent"];
const TWO: &[T] = &[T::JSONB, T::JSONPATH];
const FOUR: &[T] = &[T::JSONB, T::JSONPATH, T::JSONB, T::BOOL];
const DEFAULTS: &[Constant] = &[Constant::Jsonb("{}"), Constant::Bool(false)];

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] =
    &[f("@?", TWO, T::BOOL, exists_quietly), f("@@", TWO, T::BOOL, matches_quietly)];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("jsonb_path_exists", FOUR, T::BOOL, exists).named(NAMES).defaults(DEFAULTS),
    f("jsonb_path_match", FOUR, T::BOOL, matches).named(NAMES).defaults(DEFAULTS),
    set("jsonb_path_query", FOUR, T::JSONB, query).named(NAMES).defaults(DEFAULTS),
    f("jsonb_path_query_array", FOUR, T::JSONB, query_array).named(NAMES).defaults(DEFAULTS),
    f("jsonb_path_query_first", FOUR, T::JSONB, query_first).named(NAMES).defaults(DEFAULTS),
];

/// What the path gives; `None` if an error of the data was passed over.
fn run<T>(args: &[Datum], silent: bool, what: impl FnOnce(&Run<'_>) -> Result<T>) -> Result<Option<T>> {
    let path = Path::parse(args.text(1)?)?;
    let none = Json::Object(Vec::new());
    let variables = if args.len() > 2 { args.jsonb(2)? } else { &none };
    match what(&Run::new(&path, args.jsonb(0)?, variables, &like_regex)) {
        Ok(value) => Ok(Some(value)),
        Err(error) if silent && is_suppressible(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_silent(args: &[Datum]) -> Result<bool> {
    if args.len() > 3 { args.bool(3) } else { Ok(false) }
}

/// XQuery's flags: without `s` a dot does not match a newline.
fn like_regex(pattern: &str, flags: &str, text: &str) -> Result<bool> {
    let literal = flags.contains('q');
    if flags.contains('x') && !literal {
        return Err(SqlError::unsupported("XQuery \"x\" flag (expanded regular expressions)"));
    }
    let flags = Flags {
        ignore_case: flags.contains('i'),
        line_dots: !literal && !flags.contains('s'),
        line_anchors: !literal && flags.contains('m'),
        expanded: false,
        literal,
    };
    let text: Vec<char> = text.chars().collect();
    Ok(Regex::cached(pattern, flags)?.is_match(&text))
}

fn truth(value: Option<bool>) -> Datum {
    value.map_or(Datum::Null, Datum::Bool)
}

fn exists(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(truth(run(args, is_silent(args)?, |run| run.exists())?))
}

fn exists_quietly(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(truth(run(args, true, |run| run.exists())?))
}

fn matches(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(truth(run(args, is_silent(args)?, |run| run.matches())?.flatten()))
}

fn matches_quietly(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(truth(run(args, true, |run| run.matches())?.flatten()))
}

fn items(args: &[Datum]) -> Result<Vec<Json>> {
    Ok(run(args, is_silent(args)?, |run| run.query())?.unwrap_or_default())
}

fn query(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    Ok(items(args)?.into_iter().map(|item| vec![jsonb(item)]).collect())
}

fn query_array(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(jsonb(Json::Array(items(args)?)))
}

fn query_first(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(items(args)?.into_iter().next().map_or(Datum::Null, jsonb))
}
