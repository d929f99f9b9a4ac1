//! Bit strings, which are kept as texts of `0` and `1`.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::arithmetic::fit;
use crate::functions::define::{aggregate, f};
use crate::functions::text::negative_substring;
use crate::functions::{Accumulator, Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The operators.
pub(super) static OPERATORS: &[Function] = &[
    f("&", &[T::BIT, T::BIT], T::BIT, |_, args, _| combined(args, "AND", |a, b| a & b)),
    f("|", &[T::BIT, T::BIT], T::BIT, |_, args, _| combined(args, "OR", |a, b| a | b)),
    f("#", &[T::BIT, T::BIT], T::BIT, |_, args, _| combined(args, "XOR", |a, b| a ^ b)),
    f("~", &[T::BIT], T::BIT, complement),
    f("<<", &[T::BIT, T::INT4], T::BIT, |_, args, _| shifted(args.text(0)?, args.int(1)?)),
    f(">>", &[T::BIT, T::INT4], T::BIT, |_, args, _| shifted(args.text(0)?, -args.int(1)?)),
    f("||", &[T::VARBIT, T::VARBIT], T::VARBIT, concatenate),
];

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("length", &[T::BIT], T::INT4, length),
    f("bit_length", &[T::BIT], T::INT4, length),
    f("octet_length", &[T::BIT], T::INT4, octet_length),
    f("bit_count", &[T::BIT], T::INT8, bit_count),
    f("get_bit", &[T::BIT, T::INT4], T::INT4, get_bit),
    f("set_bit", &[T::BIT, T::INT4, T::INT4], T::BIT, set_bit),
    f("position", &[T::BIT, T::BIT], T::INT4, position),
    f("substring", &[T::BIT, T::INT4], T::BIT, substring),
    f("substring", &[T::BIT, T::INT4, T::INT4], T::BIT, substring),
    f("overlay", &[T::BIT, T::BIT, T::INT4], T::BIT, overlay),
    f("overlay", &[T::BIT, T::BIT, T::INT4, T::INT4], T::BIT, overlay),
    aggregate("bit_and", &[T::BIT], T::BIT, |_| Bits::new("AND", |a, b| a & b)),
    aggregate("bit_or", &[T::BIT], T::BIT, |_| Bits::new("OR", |a, b| a | b)),
    aggregate("bit_xor", &[T::BIT], T::BIT, |_| Bits::new("XOR", |a, b| a ^ b)),
];

fn combine(left: &str, right: &str, name: &str, combine: fn(bool, bool) -> bool) -> Result<String> {
    if left.len() != right.len() {
        let message = format!("cannot {name} bit strings of different sizes");
        return Err(SqlError::with_code("22026", message));
    }
    let pairs = left.bytes().zip(right.bytes());
    Ok(pairs.map(|(a, b)| if combine(a == b'1', b == b'1') { '1' } else { '0' }).collect())
}

fn combined(args: &[Datum], name: &str, with: fn(bool, bool) -> bool) -> Result<Datum> {
    combine(args.text(0)?, args.text(1)?, name, with).map(Datum::text)
}

fn complement(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let flipped: String = args.text(0)?.chars().map(|c| if c == '1' { '0' } else { '1' }).collect();
    Ok(Datum::text(flipped))
}

/// To the left by so many places, to the right if it is negative; the length stays.
fn shifted(bits: &str, places: i64) -> Result<Datum> {
    let by = usize::try_from(places.unsigned_abs()).unwrap_or(usize::MAX).min(bits.len());
    let zeros = "0".repeat(by);
    Ok(Datum::text(if places >= 0 {
        format!("{}{zeros}", &bits[by..])
    } else {
        format!("{zeros}{}", &bits[..bits.len() - by])
    }))
}

fn concatenate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text([args.text(0)?, args.text(1)?].concat()))
}

fn length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.len() as i64))
}

fn octet_length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.len().div_ceil(8) as i64))
}

fn bit_count(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.bytes().filter(|bit| *bit == b'1').count() as i64))
}

fn place(args: &[Datum]) -> Result<usize> {
    let (count, index) = (args.text(0)?.len(), args.int(1)?);
    usize::try_from(index).ok().filter(|index| *index < count).ok_or_else(|| {
        let message = format!("bit index {index} out of valid range (0..{})", count as i64 - 1);
        SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
    })
}

fn get_bit(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let at = place(args)?;
    Ok(Datum::Int(i64::from(args.text(0)?.as_bytes()[at] == b'1')))
}

fn set_bit(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let at = place(args)?;
    let new = match args.int(2)? {
        0 => "0",
        1 => "1",
        _ => return Err(invalid_parameter("new bit must be 0 or 1")),
    };
    let mut bits = args.text(0)?.to_owned();
    bits.replace_range(at..=at, new);
    Ok(Datum::text(bits))
}

fn position(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.find(args.text(1)?).map_or(0, |at| at as i64 + 1)))
}

fn substring(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (bits, start) = (args.text(0)?, args.int(1)?);
    let end = if args.len() > 2 {
        let length = args.int(2)?;
        if length < 0 {
            return Err(negative_substring());
        }
        start + length
    } else {
        i64::MAX
    };
    let clamp = |place: i64| (place.max(1) as usize - 1).min(bits.len());
    let (from, to) = (clamp(start), clamp(end));
    Ok(Datum::text(&bits[from..to.max(from)]))
}

fn overlay(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (bits, with, start) = (args.text(0)?, args.text(1)?, args.int(2)?);
    let replaced = if args.len() > 3 { args.int(3)? } else { with.len() as i64 };
    if start <= 0 {
        return Err(negative_substring());
    }
    fit(i128::from(start) + i128::from(replaced), T::INT4)?;
    let before = (start as usize - 1).min(bits.len());
    let after = usize::try_from(start - 1 + replaced).unwrap_or(0).min(bits.len());
    Ok(Datum::text([&bits[..before], with, &bits[after..]].concat()))
}

struct Bits {
    value: Option<String>,
    name: &'static str,
    combine: fn(bool, bool) -> bool,
}

impl Bits {
    fn new(name: &'static str, combine: fn(bool, bool) -> bool) -> Box<dyn Accumulator> {
        Box::new(Bits { value: None, name, combine })
    }
}

impl Accumulator for Bits {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.text(0)?;
        self.value = Some(match &self.value {
            Some(value) => combine(value, next, self.name, self.combine)?,
            None => next.to_owned(),
        });
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.value.as_ref().map_or(Datum::Null, Datum::text))
    }
}
