//! What the sections `[op …]` call.

use super::{World, show};
use crate::datetime::extract::{Source, extract, trunc_interval, trunc_timestamp, trunc_timestamptz};
use crate::datetime::{arithmetic, format, zone};
use crate::error::{Result, SqlError};
use crate::json::path::Path;
use crate::json::path::run::Run;
use crate::json::{Json, raw};
use crate::numeric::Numeric;
use crate::{Datum, Interval, Type, Typed, compare};

pub(super) fn call(name: &str, args: &[Datum], types: &[Typed], world: &World) -> Result<String> {
    let number = |at: usize| match &args[at] {
        Datum::Numeric(number) => Numeric::clone(number),
        other => panic!("{other:?} is not a numeric"),
    };
    let int = |at: usize| match &args[at] {
        Datum::Int(value) => *value,
        other => panic!("{other:?} is not an integer"),
    };
    let micros = |at: usize| match &args[at] {
        Datum::Timestamp(micros) => *micros,
        other => panic!("{other:?} is not a timestamp"),
    };
    let interval = |at: usize| match &args[at] {
        Datum::Interval(interval) => *interval,
        other => panic!("{other:?} is not an interval"),
    };
    let text = |at: usize| match &args[at] {
        Datum::Text(text) => text.to_string(),
        other => panic!("{other:?} is not a text"),
    };
    let float = |at: usize| match &args[at] {
        Datum::Float(value) => *value,
        other => panic!("{other:?} is not a float"),
    };
    let json = |at: usize| match &args[at] {
        Datum::Jsonb(json) => Json::clone(json),
        other => panic!("{other:?} is not a jsonb"),
    };
    let path = |at: usize| match &args[at] {
        Datum::Array(array) => array.items.iter().map(|item| show(item, Type::TEXT, world)).collect::<Vec<_>>(),
        other => panic!("{other:?} is not an array"),
    };
    let zone = zone::of_setting(&world.settings.time_zone);
    let numeric = |number: Result<Numeric>| number.map(|number| number.to_string());
    let timestamp = |micros: Result<i64>| micros.map(|micros| show(&Datum::Timestamp(micros), types[0].ty, world));
    let span =
        |interval: Result<Interval>| interval.map(|interval| show(&Datum::Interval(interval), Type::INTERVAL, world));
    let jsonb = |json: Result<Json>| json.map(|json| json.to_string());
    let optional = |text: Option<String>| Ok(text.unwrap_or_else(|| "NULL".to_owned()));
    let yes_no = |value: bool| Ok(if value { "t" } else { "f" }.to_owned());
    match name {
        "compare" => Ok((compare::compare(&args[0], &args[1], types[0].ty) as i8).to_string()),
        "add" => numeric(number(0).add(&number(1))),
        "subtract" => numeric(number(0).subtract(&number(1))),
        "multiply" => numeric(number(0).multiply(&number(1))),
        "divide" => numeric(number(0).divide(&number(1))),
        "div" => numeric(number(0).divide_whole(&number(1))),
        "modulo" => numeric(number(0).modulo(&number(1))),
        "power" => numeric(number(0).power(&number(1))),
        "log" => numeric(number(1).log(&number(0))),
        "gcd" => numeric(number(0).gcd(&number(1))),
        "lcm" => numeric(number(0).lcm(&number(1))),
        "sqrt" => numeric(number(0).sqrt()),
        "exp" => numeric(number(0).exp()),
        "ln" => numeric(number(0).ln()),
        "ceil" => numeric(number(0).ceil()),
        "floor" => numeric(number(0).floor()),
        "sign" => Ok(number(0).sign().to_string()),
        "trim_scale" => numeric(number(0).trim_scale()),
        "round" => numeric(number(0).round(int(1))),
        "trunc" => numeric(number(0).truncate(int(1))),
        "factorial" => numeric(Numeric::factorial(int(0))),
        "extract" => {
            let name = text(1);
            let source = match (&args[0], types[0].ty) {
                (Datum::Timestamp(micros), Type::TIMESTAMPTZ) => Source::TimestampTz(*micros, &zone),
                (Datum::Timestamp(micros), _) => Source::Timestamp(*micros),
                (Datum::Date(days), _) => Source::Date(*days),
                (Datum::Time(micros), _) => Source::Time(*micros),
                (Datum::TimeTz(micros, west), _) => Source::TimeTz(*micros, *west),
                (Datum::Interval(interval), _) => Source::Interval(interval),
                (other, _) => panic!("no parts of {other:?}"),
            };
            optional(extract(&name, source)?.map(|number| number.to_string()))
        }
        "trunc_time" => match types[0].ty {
            Type::TIMESTAMP => timestamp(trunc_timestamp(&text(1), micros(0))),
            Type::TIMESTAMPTZ => timestamp(trunc_timestamptz(&text(1), micros(0), &zone)),
            _ => span(trunc_interval(&text(1), &interval(0))),
        },
        "plus" => match types[0].ty {
            Type::TIMESTAMP => timestamp(arithmetic::timestamp_plus(micros(0), &interval(1))),
            Type::TIMESTAMPTZ => timestamp(arithmetic::timestamptz_plus(micros(0), &interval(1), &zone)),
            _ => span(arithmetic::interval_plus(&interval(0), &interval(1))),
        },
        "minus" => match types[0].ty {
            Type::INTERVAL => span(arithmetic::interval_minus(&interval(0), &interval(1))),
            _ => span(arithmetic::timestamp_minus(micros(0), micros(1))),
        },
        "age" => span(arithmetic::age(micros(0), micros(1))),
        "times" => span(arithmetic::interval_times(&interval(0), float(1))),
        "over" => span(arithmetic::interval_divided(&interval(0), float(1))),
        "justify_hours" => span(arithmetic::justify_hours(&interval(0))),
        "justify_days" => span(arithmetic::justify_days(&interval(0))),
        "justify_interval" => span(arithmetic::justify_interval(&interval(0))),
        "date_bin" => timestamp(arithmetic::date_bin(&interval(1), micros(0), micros(2))),
        "at_zone" => {
            let place = zone::place(&text(1))?;
            match types[0].ty {
                Type::TIMESTAMP => {
                    let instant = arithmetic::timestamp_at(micros(0), &place)?;
                    Ok(show(&Datum::Timestamp(instant), Type::TIMESTAMPTZ, world))
                }
                _ => {
                    let local = arithmetic::timestamptz_at(micros(0), &place)?;
                    Ok(show(&Datum::Timestamp(local), Type::TIMESTAMP, world))
                }
            }
        }
        "to_char" => match types[0].ty {
            Type::INTERVAL => format::interval_to_char(&interval(0), &text(1)),
            Type::TIMESTAMPTZ => {
                let kind = zone.at(micros(0).div_euclid(1_000_000));
                let local = arithmetic::to_local(micros(0), &zone);
                format::timestamp_to_char(local, Some((kind.offset, &kind.abbreviation)), &text(1))
            }
            _ => format::timestamp_to_char(micros(0), None, &text(1)),
        },
        "to_timestamp" => {
            let instant = format::to_timestamp(&text(0), &text(1), world)?;
            Ok(show(&Datum::Timestamp(instant), Type::TIMESTAMPTZ, world))
        }
        "to_date" => Ok(show(&Datum::Date(format::to_date(&text(0), &text(1))?), Type::DATE, world)),
        "contains" => yes_no(json(0).contains(&json(1))),
        "concat" => jsonb(Ok(json(0).concat(&json(1)))),
        "has_key" => yes_no(json(0).has_key(&text(1))),
        "without_key" => jsonb(json(0).without_key(&text(1))),
        "without_item" => jsonb(json(0).without_item(int(1))),
        "pretty" => Ok(json(0).pretty()),
        "strip_nulls" => jsonb(Ok(json(0).strip_nulls())),
        "path" => {
            let (json, path) = (json(0), path(1));
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            optional(json.path(&path).map(Json::to_string))
        }
        "without_path" | "set" | "insert" => {
            let (json_value, steps) = (json(0), path(1));
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            jsonb(match name {
                "without_path" => json_value.without_path(&steps),
                "set" => json_value.set(&steps, json(2), true),
                _ => json_value.insert(&steps, json(2), false),
            })
        }
        "path_query" => {
            let (document, path) = (json(0), Path::parse(&text(1))?);
            let no_regex = |_: &str, _: &str, _: &str| Err(SqlError::unsupported("like_regex"));
            let variables = Json::parse(r#"{"x": 2, "s": "b"}"#)?;
            let items = Run::new(&path, &document, &variables, &no_regex).query()?;
            Ok(items.iter().map(Json::to_string).collect::<Vec<_>>().join(" "))
        }
        "raw_path" => {
            let (document, steps) = (text(0), path(1));
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            optional(raw::path(&document, &steps).map(str::to_owned))
        }
        "raw_path_text" => {
            let (document, steps) = (text(0), path(1));
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            optional(raw::path(&document, &steps).and_then(raw::to_text))
        }
        _ => panic!("no operator {name}"),
    }
}
