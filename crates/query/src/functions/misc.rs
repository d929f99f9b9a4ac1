//! What belongs nowhere else: NULLs counted, enums, uuids, sizes, texts from escapes.

use crate::catalog::UserTypeKind;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter, spread};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::numeric::Numeric;
use crate::types::{Datum, EnumLabel, Type as T, binary};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("num_nulls", &[T::ANY], T::INT4, count_nulls).variadic().with_nulls(),
    f("num_nonnulls", &[T::ANY], T::INT4, count_values).variadic().with_nulls(),
    f("gen_random_uuid", &[], T::UUID, random_uuid).volatile(),
    f("enum_first", &[T::ANYENUM], T::ANYENUM, enum_first).with_nulls().stable(),
    f("enum_last", &[T::ANYENUM], T::ANYENUM, enum_last).with_nulls().stable(),
    f("enum_range", &[T::ANYENUM], T::ANYARRAY, enum_all).with_nulls().stable(),
    f("enum_range", &[T::ANYENUM, T::ANYENUM], T::ANYARRAY, enum_range).with_nulls().stable(),
    f("pg_size_bytes", &[T::TEXT], T::INT8, size_bytes),
    f("pg_column_size", &[T::ANY], T::INT4, column_size).stable(),
    f("unistr", &[T::TEXT], T::TEXT, unistr),
];

/// The forms with one `VARIADIC array`.
pub(super) static SPREAD: &[Function] = &[
    f("num_nulls", &[T::ANYARRAY], T::INT4, |env, args, site| spread(env, args, site, count_nulls)).variadic(),
    f("num_nonnulls", &[T::ANYARRAY], T::INT4, |env, args, site| spread(env, args, site, count_values)).variadic(),
];

fn count_nulls(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.iter().filter(|arg| arg.is_null()).count() as i64))
}

fn count_values(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.iter().filter(|arg| !arg.is_null()).count() as i64))
}

/// A random uuid (version 4), from the database's seed.
fn random_uuid(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let bits = u128::from(env.random_bits()) << 64 | u128::from(env.random_bits());
    let version = 0x4000_u128 << 64;
    let variant = 0x8000_u128 << 48;
    let free = !(0xf000_u128 << 64) & !(0xc000_u128 << 48);
    Ok(Datum::Uuid(Box::new(bits & free | version | variant)))
}

/// The labels of the enum that a call is about, in order.
fn labels(ty: T, env: &dyn Env) -> Result<Vec<EnumLabel>> {
    let user = env.catalog().user_type(ty).map(|user| &user.kind);
    let Some(UserTypeKind::Enum(labels)) = user else {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "could not determine actual enum type"));
    };
    let mut labels: Vec<EnumLabel> =
        labels.iter().map(|(_, order, label)| EnumLabel { ty, order: *order, label: label.to_string() }).collect();
    labels.sort_by(|left, right| left.order.total_cmp(&right.order));
    Ok(labels)
}

fn of_label(label: Option<EnumLabel>) -> Datum {
    label.map_or(Datum::Null, |label| Datum::Enum(label.into()))
}

fn enum_first(env: &mut dyn Env, _: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(of_label(labels(site.args[0].ty, env)?.into_iter().next()))
}

fn enum_last(env: &mut dyn Env, _: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(of_label(labels(site.args[0].ty, env)?.pop()))
}

fn enum_all(env: &mut dyn Env, _: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let ty = site.args[0].ty;
    Ok(Datum::array(ty, labels(ty, env)?.into_iter().map(|label| of_label(Some(label))).collect()))
}

/// From one label to another; NULL is the first and the last one.
fn enum_range(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let ty = site.args[0].ty;
    let bound = |index: usize| if let Datum::Enum(label) = args.at(index) { Some(label.order) } else { None };
    let (from, to) = (bound(0).unwrap_or(f32::MIN), bound(1).unwrap_or(f32::MAX));
    let inside = labels(ty, env)?.into_iter().filter(|label| (from..=to).contains(&label.order));
    Ok(Datum::array(ty, inside.map(|label| of_label(Some(label))).collect()))
}

/// `1.5 MB` in bytes.
fn size_bytes(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let text = args.text(0)?;
    let invalid = || invalid_parameter(format!("invalid size: \"{text}\""));
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !(c.is_ascii_digit() || ".+-eE".contains(c))).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let number = Numeric::parse(number).map_err(|_| invalid())?;
    let factor: i64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "bytes" | "b" => 1,
        "kb" => 1 << 10,
        "mb" => 1 << 20,
        "gb" => 1 << 30,
        "tb" => 1 << 40,
        "pb" => 1 << 50,
        _ => {
            return Err(invalid()
                .detail(format!("Invalid size unit: \"{}\".", unit.trim()))
                .hint("Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\"."));
        }
    };
    let bytes = number.multiply(&Numeric::from(factor))?;
    bytes.to_integer(i64::MIN, i64::MAX, "bigint").map(Datum::Int)
}

/// What a value takes: four bytes before what has no fixed length.
fn column_size(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let fixed = crate::types::builtin::by_oid(site.args[0].ty).map(|builtin| builtin.length).filter(|it| *it > 0);
    if let Some(length) = fixed {
        return Ok(Datum::Int(length.into()));
    }
    let mut out = Vec::new();
    binary::output_into(&mut out, &args[0], site.args[0].ty, env)?;
    // As a value has it that is not stored yet: four bytes of length before it.
    Ok(Datum::Int(out.len() as i64 + 4))
}

/// Texts with `\XXXX`, `\+XXXXXX`, `\uXXXX` and `\UXXXXXXXX`.
fn unistr(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let invalid = || {
        SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape")
            .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
    };
    let mut out = String::new();
    let mut rest = args.text(0)?;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (skipped, digits) = match after.chars().next() {
            Some('\\') => {
                out.push('\\');
                rest = &after[1..];
                continue;
            }
            Some('+') => (1, 6),
            Some('u') => (1, 4),
            Some('U') => (1, 8),
            _ => (0, 4),
        };
        let code = after.get(skipped..skipped + digits).ok_or_else(invalid)?;
        let code = u32::from_str_radix(code, 16).map_err(|_| invalid())?;
        out.push(
            char::from_u32(code).ok_or_else(|| SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode code point"))?,
        );
        rest = &after[skipped + digits..];
    }
    out.push_str(rest);
    Ok(Datum::text(out))
}
