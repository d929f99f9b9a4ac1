//! Functions and operators of network addresses.

use std::net::IpAddr;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::network::{masked, read, show};
use crate::types::{Datum, Type as T};

/// The operators.
pub(super) static OPERATORS: &[Function] = &[
    f("<<", &[T::INET, T::INET], T::BOOL, |_, args, _| within(args, 0, 1, false)),
    f("<<=", &[T::INET, T::INET], T::BOOL, |_, args, _| within(args, 0, 1, true)),
    f(">>", &[T::INET, T::INET], T::BOOL, |_, args, _| within(args, 1, 0, false)),
    f(">>=", &[T::INET, T::INET], T::BOOL, |_, args, _| within(args, 1, 0, true)),
    f("&&", &[T::INET, T::INET], T::BOOL, overlaps),
    f("~", &[T::INET], T::INET, complement),
    f("&", &[T::INET, T::INET], T::INET, |_, args, _| combined(args, "AND", |a, b| a & b)),
    f("|", &[T::INET, T::INET], T::INET, |_, args, _| combined(args, "OR", |a, b| a | b)),
    f("+", &[T::INET, T::INT8], T::INET, |_, args, _| moved(args, 0, args.int(1)?.into())),
    f("+", &[T::INT8, T::INET], T::INET, |_, args, _| moved(args, 1, args.int(0)?.into())),
    f("-", &[T::INET, T::INT8], T::INET, |_, args, _| moved(args, 0, args.int(1)?.wrapping_neg().into())),
    f("-", &[T::INET, T::INET], T::INT8, apart),
];

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("host", &[T::INET], T::TEXT, |_, args, _| Ok(Datum::text(address(args, 0)?.0.to_string()))),
    f("text", &[T::INET], T::TEXT, |_, args, _| shown(address(args, 0)?, true)),
    f("abbrev", &[T::INET], T::TEXT, |_, args, _| shown(address(args, 0)?, false)),
    f("abbrev", &[T::CIDR], T::TEXT, abbreviated),
    f("family", &[T::INET], T::INT4, |_, args, _| Ok(Datum::Int(if address(args, 0)?.0.is_ipv4() { 4 } else { 6 }))),
    f("masklen", &[T::INET], T::INT4, |_, args, _| Ok(Datum::Int(address(args, 0)?.1.into()))),
    f("broadcast", &[T::INET], T::INET, broadcast),
    f("netmask", &[T::INET], T::INET, netmask),
    f("hostmask", &[T::INET], T::INET, hostmask),
    f("network", &[T::INET], T::CIDR, network),
    f("set_masklen", &[T::INET, T::INT4], T::INET, |_, args, _| with_length(args, false)),
    f("set_masklen", &[T::CIDR, T::INT4], T::CIDR, |_, args, _| with_length(args, true)),
    f("inet_same_family", &[T::INET, T::INET], T::BOOL, same_family),
    f("inet_merge", &[T::INET, T::INET], T::CIDR, merge),
];

type Address = (IpAddr, u8);

fn address(args: &[Datum], index: usize) -> Result<Address> {
    read(args.text(index)?)
        .ok_or_else(|| SqlError::new(SqlState::INTERNAL_ERROR, "a value is not of type inet as it was bound"))
}

fn shown((ip, bits): Address, always: bool) -> Result<Datum> {
    Ok(Datum::text(show(ip, bits, always)))
}

/// As one number, and how many bits it has.
fn number(ip: IpAddr) -> (u128, u32) {
    match ip {
        IpAddr::V4(ip) => (u32::from(ip).into(), 32),
        IpAddr::V6(ip) => (ip.into(), 128),
    }
}

fn of_number(number: u128, width: u32) -> IpAddr {
    if width == 32 { IpAddr::V4((number as u32).into()) } else { IpAddr::V6(number.into()) }
}

/// All ones, as wide as an address.
fn ones(width: u32) -> u128 {
    if width == 32 { u32::MAX.into() } else { u128::MAX }
}

/// The bits that are the host's.
fn host_bits(bits: u8, width: u32) -> u128 {
    ones(width).checked_shr(u32::from(bits)).unwrap_or(0) & if width == 32 { u32::MAX.into() } else { u128::MAX }
}

fn within(args: &[Datum], inner: usize, outer: usize, or_equal: bool) -> Result<Datum> {
    let ((ip, bits), (net, net_bits)) = (address(args, inner)?, address(args, outer)?);
    let longer = if or_equal { bits >= net_bits } else { bits > net_bits };
    let same = ip.is_ipv4() == net.is_ipv4();
    Ok(Datum::Bool(same && longer && masked(ip, net_bits) == masked(net, net_bits)))
}

fn overlaps(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let ((left, left_bits), (right, right_bits)) = (address(args, 0)?, address(args, 1)?);
    let bits = left_bits.min(right_bits);
    Ok(Datum::Bool(left.is_ipv4() == right.is_ipv4() && masked(left, bits) == masked(right, bits)))
}

fn complement(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (ip, bits) = address(args, 0)?;
    let (value, width) = number(ip);
    shown((of_number(!value & ones(width), width), bits), false)
}

fn combined(args: &[Datum], name: &str, combine: fn(u128, u128) -> u128) -> Result<Datum> {
    let ((left, left_bits), (right, right_bits)) = (address(args, 0)?, address(args, 1)?);
    if left.is_ipv4() != right.is_ipv4() {
        return Err(invalid_parameter(format!("cannot {name} inet values of different sizes")));
    }
    let ((a, width), (b, _)) = (number(left), number(right));
    shown((of_number(combine(a, b), width), left_bits.max(right_bits)), false)
}

fn moved(args: &[Datum], index: usize, by: i128) -> Result<Datum> {
    let (ip, bits) = address(args, index)?;
    let (value, width) = number(ip);
    let sum = value.checked_add_signed(by).filter(|sum| *sum <= ones(width));
    let sum = sum.ok_or_else(|| SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "result is out of range"))?;
    shown((of_number(sum, width), bits), false)
}

fn apart(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let ((left, _), (right, _)) = (address(args, 0)?, address(args, 1)?);
    if left.is_ipv4() != right.is_ipv4() {
        return Err(invalid_parameter("cannot subtract inet values of different sizes"));
    }
    let difference = number(left).0.wrapping_sub(number(right).0) as i128;
    i64::try_from(difference)
        .map(Datum::Int)
        .map_err(|_| SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "result is out of range"))
}

/// A network without the zero bytes at its end.
fn abbreviated(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (ip, bits) = address(args, 0)?;
    let IpAddr::V4(v4) = ip else { return shown((ip, bits), true) };
    let kept = usize::from(bits).div_ceil(8).max(1);
    let parts: Vec<String> = v4.octets()[..kept].iter().map(ToString::to_string).collect();
    Ok(Datum::text(format!("{}/{bits}", parts.join("."))))
}

fn broadcast(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (ip, bits) = address(args, 0)?;
    let (value, width) = number(ip);
    shown((of_number(value | host_bits(bits, width), width), bits), false)
}

fn netmask(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (ip, bits) = address(args, 0)?;
    let (_, width) = number(ip);
    shown((of_number(ones(width) & !host_bits(bits, width), width), width as u8), false)
}

fn hostmask(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (ip, bits) = address(args, 0)?;
    let (_, width) = number(ip);
    shown((of_number(host_bits(bits, width), width), width as u8), false)
}

fn network(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (ip, bits) = address(args, 0)?;
    shown((masked(ip, bits), bits), true)
}

fn with_length(args: &[Datum], cidr: bool) -> Result<Datum> {
    let ((ip, _), wanted) = (address(args, 0)?, args.int(1)?);
    let width = number(ip).1 as i64;
    let bits = if wanted == -1 { width } else { wanted };
    if !(0..=width).contains(&bits) {
        return Err(invalid_parameter(format!("invalid mask length: {wanted}")));
    }
    let bits = bits as u8;
    shown((if cidr { masked(ip, bits) } else { ip }, bits), cidr)
}

fn same_family(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(address(args, 0)?.0.is_ipv4() == address(args, 1)?.0.is_ipv4()))
}

/// The smallest network with both in it.
fn merge(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let ((left, left_bits), (right, right_bits)) = (address(args, 0)?, address(args, 1)?);
    if left.is_ipv4() != right.is_ipv4() {
        return Err(invalid_parameter("cannot merge addresses from different families"));
    }
    let mut bits = left_bits.min(right_bits);
    while masked(left, bits) != masked(right, bits) {
        bits -= 1;
    }
    shown((masked(left, bits), bits), true)
}
