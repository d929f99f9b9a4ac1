//! Numbers by templates such as `FM999,990.00`: to_char and to_number.

mod read;
mod roman;
mod show;
mod template;

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::numeric::exact;
use crate::functions::{Env, Function, Site};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Type as T};

use template::Template;

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("to_char", &[T::INT4, T::TEXT], T::TEXT, to_char).stable(),
    f("to_char", &[T::INT8, T::TEXT], T::TEXT, to_char).stable(),
    f("to_char", &[T::NUMERIC, T::TEXT], T::TEXT, to_char).stable(),
    f("to_char", &[T::FLOAT4, T::TEXT], T::TEXT, to_char).stable(),
    f("to_char", &[T::FLOAT8, T::TEXT], T::TEXT, to_char).stable(),
    f("to_number", &[T::TEXT, T::TEXT], T::NUMERIC, to_number).stable(),
];

fn to_char(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let template = Template::parse(args.text(1)?)?;
    let shown = match (args.at(0), site.args[0].ty) {
        (Datum::Int(value), _) => show::show(&Numeric::from(*value), &template),
        (Datum::Float(value), T::FLOAT4) => show::show_float(*value, &template, 6),
        (Datum::Float(value), _) => show::show_float(*value, &template, 15),
        _ => show::show(args.numeric(0)?, &template),
    };
    shown.map(Datum::text)
}

fn to_number(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let text = args.text(0)?;
    let template = Template::parse(args.text(1)?)?;
    if args.text(1)?.is_empty() {
        return Ok(Datum::Null);
    }
    read::read(text, &template).map(exact)
}
