//! Rows made of json: the fields of an object become those of a row type.
//!
//! The row type is that of the first argument. If that is a record value, its shape counts and its fields are what keys
//! that are missing leave; else the call's type is looked up in the catalog.

use std::sync::Arc;

use crate::catalog::UserTypeKind;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::Args;
use crate::functions::define::{f, set};
use crate::functions::json::invalid;
use crate::functions::{Constant, Env, Function, Site};
use crate::types::json::{Json, raw};
use crate::types::{ArrayValue, Datum, RecordShape, Type as T, Typed, cast, kind, text};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("json_populate_record", &[T::ANYELEMENT, T::JSON, T::BOOL], T::ANYELEMENT, populate)
        .defaults(&[Constant::Bool(false)])
        .with_nulls()
        .stable(),
    f("jsonb_populate_record", &[T::ANYELEMENT, T::JSONB], T::ANYELEMENT, populate).with_nulls().stable(),
    set("json_populate_recordset", &[T::ANYELEMENT, T::JSON, T::BOOL], T::ANYELEMENT, populate_set)
        .defaults(&[Constant::Bool(false)])
        .with_nulls()
        .stable(),
    set("jsonb_populate_recordset", &[T::ANYELEMENT, T::JSONB], T::ANYELEMENT, populate_set).with_nulls().stable(),
    f("json_to_record", &[T::JSON], T::RECORD, without_columns).stable(),
    f("jsonb_to_record", &[T::JSONB], T::RECORD, without_columns).stable(),
    set("json_to_recordset", &[T::JSON], T::RECORD, set_without_columns).with_nulls().stable(),
    set("jsonb_to_recordset", &[T::JSONB], T::RECORD, set_without_columns).with_nulls().stable(),
];

/// What a call of `json_to_record` and its like with a column definition list is: the function that is called instead,
/// and its additional first argument.
pub fn with_columns(function: &Function, columns: &[(Arc<str>, Typed)]) -> Option<(&'static Function, Datum)> {
    let populate = match function.name {
        "json_to_record" => "json_populate_record",
        "jsonb_to_record" => "jsonb_populate_record",
        "json_to_recordset" => "json_populate_recordset",
        "jsonb_to_recordset" => "jsonb_populate_recordset",
        _ => return None,
    };
    let shape = Arc::new(RecordShape { ty: T::RECORD, fields: columns.to_vec() });
    let nothing = vec![Datum::Null; columns.len()];
    let function = crate::functions::named(populate).first()?;
    Some((function, Datum::record(shape, nothing)))
}

/// A json or jsonb as a tree; json keeps the text of its values.
#[derive(Clone, Copy)]
enum Source<'a> {
    Text(&'a str),
    Tree(&'a Json),
}

impl<'a> Source<'a> {
    fn new(datum: &'a Datum) -> Result<Source<'a>> {
        match datum {
            Datum::Jsonb(json) => Ok(Source::Tree(json)),
            Datum::Text(text) => Ok(Source::Text(text)),
            _ => Err(SqlError::new(SqlState::INTERNAL_ERROR, "a value is not of type json as it was bound")),
        }
    }

    fn type_name(self) -> &'static str {
        match self {
            Source::Text(text) => raw::type_name(text),
            Source::Tree(json) => json.type_name(),
        }
    }

    fn field(self, name: &str) -> Option<Source<'a>> {
        match self {
            Source::Text(text) => raw::field(text, name).map(Source::Text),
            Source::Tree(json) => json.field(name).map(Source::Tree),
        }
    }

    fn items(self) -> Option<Vec<Source<'a>>> {
        match self {
            Source::Text(text) => Some(raw::items(text)?.into_iter().map(Source::Text).collect()),
            Source::Tree(Json::Array(items)) => Some(items.iter().map(Source::Tree).collect()),
            Source::Tree(_) => None,
        }
    }

    fn to_text(self) -> Option<String> {
        match self {
            Source::Text(text) => raw::to_text(text),
            Source::Tree(json) => json.to_text(),
        }
    }

    fn to_json_text(self) -> String {
        match self {
            Source::Text(text) => text.to_owned(),
            Source::Tree(json) => json.to_string(),
        }
    }
}

fn populate(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (shape, base) = target(args, site, "jsonb_populate_record", env)?;
    if args.at(1).is_null() {
        return Ok(args.at(0).clone());
    }
    row(&shape, &base, Source::new(&args[1])?, env)
}

fn populate_set(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let (shape, base) = target(args, site, "jsonb_populate_recordset", env)?;
    if args.at(1).is_null() {
        return Ok(Vec::new());
    }
    let source = Source::new(&args[1])?;
    let items = source.items().ok_or_else(|| invalid("cannot call populate_composite on a scalar"))?;
    items.into_iter().map(|item| Ok(vec![row(&shape, &base, item, env)?])).collect()
}

fn without_columns(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Err(no_columns())
}

fn set_without_columns(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    Err(no_columns())
}

fn no_columns() -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "could not determine row type for result of json_to_record")
        .hint("Call the function in the FROM clause using a column definition list.")
}

/// The row type that is asked for, and the values that missing keys leave.
fn target(args: &[Datum], site: &Site<'_>, name: &str, env: &dyn Env) -> Result<(Arc<RecordShape>, Vec<Datum>)> {
    if let Datum::Record(record) = args.at(0) {
        return Ok((record.shape.clone(), record.fields.clone()));
    }
    let shape = shape_of(site.returns.ty, env).ok_or_else(|| {
        SqlError::new(SqlState::DATATYPE_MISMATCH, format!("first argument of {name} must be a row type"))
    })?;
    let base = vec![Datum::Null; shape.fields.len()];
    Ok((shape, base))
}

fn shape_of(ty: T, env: &dyn Env) -> Option<Arc<RecordShape>> {
    let user = env.catalog().user_type(kind::base(ty.into(), env.catalog()).ty)?;
    match &user.kind {
        UserTypeKind::Composite(fields) => Some(Arc::new(RecordShape { ty: user.ty, fields: fields.clone() })),
        _ => None,
    }
}

fn row(shape: &Arc<RecordShape>, base: &[Datum], source: Source<'_>, env: &mut dyn Env) -> Result<Datum> {
    match source.type_name() {
        "object" => {}
        "null" => return Ok(Datum::record(shape.clone(), base.to_vec())),
        "array" => return Err(invalid("cannot call populate_composite on an array")),
        _ => return Err(invalid("cannot call populate_composite on a scalar")),
    }
    let mut fields = Vec::with_capacity(shape.fields.len());
    for ((name, typed), before) in shape.fields.iter().zip(base) {
        fields.push(match source.field(name) {
            Some(found) => value(found, *typed, env)?,
            None => before.clone(),
        });
    }
    Ok(Datum::record(shape.clone(), fields))
}

/// A value of a type from its JSON form.
fn value(source: Source<'_>, typed: Typed, env: &mut dyn Env) -> Result<Datum> {
    if source.type_name() == "null" {
        return Ok(Datum::Null);
    }
    let base = kind::base(typed, env.catalog());
    if matches!(base.ty, T::JSON | T::JSONB) {
        return text::input(&source.to_json_text(), base, env);
    }
    if let Some(shape) = shape_of(base.ty, env)
        && source.type_name() == "object"
    {
        let nulls = vec![Datum::Null; shape.fields.len()];
        return row(&shape, &nulls, source, env);
    }
    if let Some(element) = kind::element(base.ty, env.catalog())
        && source.type_name() == "array"
    {
        return array(source, Typed { ty: element, modifier: base.modifier }, env);
    }
    let shown = source.to_text().unwrap_or_default();
    let read = text::input(&shown, Typed { ty: base.ty, modifier: -1 }, env)?;
    cast::constrain(read, base)
}

fn array(source: Source<'_>, element: Typed, env: &mut dyn Env) -> Result<Datum> {
    let (mut lengths, mut items) = (Vec::new(), Vec::new());
    collect(source, 0, &mut lengths, &mut items, element, env)?;
    if items.is_empty() {
        return Ok(Datum::array(element.ty, items));
    }
    let dimensions = lengths.into_iter().map(|length| (length, 1)).collect();
    Ok(Datum::Array(Arc::new(ArrayValue { element: element.ty, dimensions, items })))
}

fn collect(
    source: Source<'_>,
    depth: usize,
    lengths: &mut Vec<usize>,
    items: &mut Vec<Datum>,
    element: Typed,
    env: &mut dyn Env,
) -> Result<()> {
    let Some(parts) = source.items() else {
        if depth < lengths.len() {
            return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected JSON array"));
        }
        items.push(value(source, element, env)?);
        return Ok(());
    };
    match lengths.get(depth) {
        None if !items.is_empty() => {
            return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "malformed JSON array")
                .detail("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        None => lengths.push(parts.len()),
        Some(length) if *length != parts.len() => {
            return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "malformed JSON array")
                .detail("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        Some(_) => {}
    }
    parts.into_iter().try_for_each(|part| collect(part, depth + 1, lengths, items, element, env))
}
