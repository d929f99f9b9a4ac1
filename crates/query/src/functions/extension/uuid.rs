//! `uuid-ossp`: uuids by time, by name and by chance.

use md5::Md5;
use sha1::Sha1;
use sha2::Digest;

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("uuid_nil", &[], T::UUID, |_, _, _| of(0)),
    f("uuid_ns_dns", &[], T::UUID, |_, _, _| of(namespace(0))),
    f("uuid_ns_url", &[], T::UUID, |_, _, _| of(namespace(1))),
    f("uuid_ns_oid", &[], T::UUID, |_, _, _| of(namespace(2))),
    f("uuid_ns_x500", &[], T::UUID, |_, _, _| of(namespace(4))),
    f("uuid_generate_v1", &[], T::UUID, by_time).volatile(),
    f("uuid_generate_v1mc", &[], T::UUID, by_time).volatile(),
    f("uuid_generate_v3", &[T::UUID, T::TEXT], T::UUID, by_md5).named(&["namespace", "name"]),
    f("uuid_generate_v4", &[], T::UUID, by_chance).volatile(),
    f("uuid_generate_v5", &[T::UUID, T::TEXT], T::UUID, by_sha1).named(&["namespace", "name"]),
];

fn of(value: u128) -> Result<Datum> {
    Ok(Datum::Uuid(Box::new(value)))
}

/// The name spaces of RFC 4122, appendix C.
fn namespace(number: u128) -> u128 {
    0x6ba7_b810_9dad_11d1_80b4_00c0_4fd4_30c8 + (number << 96)
}

/// Sets the bits that say how a uuid was made.
fn stamped(bits: u128, version: u128) -> u128 {
    let free = bits & !(0xf000_u128 << 64) & !(0xc000_u128 << 48);
    free | version << 76 | 0x8000_u128 << 48
}

fn by_chance(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    of(stamped(u128::from(env.random_bits()) << 64 | u128::from(env.random_bits()), 4))
}

/// Version 1: the time, in tenths of microseconds since 1582, a random clock sequence and a random node, which is marked
/// as no network address.
fn by_time(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    const FROM_1582_TO_2000: i128 = 131_659_776_000_000_000;
    let random = env.random_bits();
    let ticks = (i128::from(env.clock_time()) * 10 + FROM_1582_TO_2000 + i128::from(random % 10)) as u128;
    let time = (ticks & 0xffff_ffff) << 96 | (ticks >> 32 & 0xffff) << 80 | (ticks >> 48 & 0x0fff) << 64;
    let node = u128::from(env.random_bits()) & 0xffff_ffff_ffff | 0x0300_0000_0000;
    of(stamped(time | u128::from(random >> 16 & 0x3fff) << 48 | node, 1))
}

fn named_bytes(args: &[Datum]) -> Result<Vec<u8>> {
    let space = if let Datum::Uuid(space) = args.at(0) { **space } else { 0 };
    Ok([&space.to_be_bytes()[..], args.text(1)?.as_bytes()].concat())
}

fn first_sixteen(digest: &[u8]) -> u128 {
    digest.iter().take(16).fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

fn by_md5(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    of(stamped(first_sixteen(&Md5::digest(named_bytes(args)?)), 3))
}

fn by_sha1(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    of(stamped(first_sixteen(&Sha1::digest(named_bytes(args)?)), 5))
}
