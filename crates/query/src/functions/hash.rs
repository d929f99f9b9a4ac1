//! PostgreSQL's hash functions, which applications use as keys of advisory locks: Bob Jenkins' lookup3.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::scalar::string::unpadded;
use crate::types::{Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("hashtext", &[T::TEXT], T::INT4, hash_text),
    f("hashname", &[T::NAME], T::INT4, hash_text),
    f("hashbpchar", &[T::BPCHAR], T::INT4, hash_unpadded),
    f("hashtextextended", &[T::TEXT, T::INT8], T::INT8, hash_text_extended),
    f("hashint2", &[T::INT2], T::INT4, hash_int),
    f("hashint4", &[T::INT4], T::INT4, hash_int),
    f("hashoid", &[T::OID], T::INT4, hash_int),
    f("hashint8", &[T::INT8], T::INT4, hash_int8),
    f("hashint4extended", &[T::INT4, T::INT8], T::INT8, hash_int_extended),
    f("hashint8extended", &[T::INT8, T::INT8], T::INT8, hash_int8_extended),
];

type State = [u32; 3];

fn mix([mut a, mut b, mut c]: State) -> State {
    for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    [a, b, c]
}

fn finish([mut a, mut b, mut c]: State) -> State {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    c = (c ^ b).wrapping_sub(b.rotate_left(24));
    [a, b, c]
}

fn start(length: usize, seed: u64) -> State {
    let begin = 0x9e37_79b9u32.wrapping_add(length as u32).wrapping_add(3_923_095);
    if seed == 0 {
        return [begin; 3];
    }
    mix([begin.wrapping_add((seed >> 32) as u32), begin.wrapping_add(seed as u32), begin])
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn of_bytes(bytes: &[u8], seed: u64) -> State {
    let mut state = start(bytes.len(), seed);
    let mut blocks = bytes.chunks_exact(12);
    for block in &mut blocks {
        for (part, of_block) in state.iter_mut().zip(block.chunks(4)) {
            *part = part.wrapping_add(word(of_block));
        }
        state = mix(state);
    }
    let rest = blocks.remainder();
    let part = |from: usize, to: usize| word(rest.get(from..to.min(rest.len())).unwrap_or(&[]));
    state[0] = state[0].wrapping_add(part(0, 4));
    state[1] = state[1].wrapping_add(part(4, 8));
    // The lowest byte of the last word is the length's.
    state[2] = state[2].wrapping_add(part(8, 12) << 8);
    finish(state)
}

fn of_word(value: u32, seed: u64) -> State {
    let mut state = start(4, seed);
    state[0] = state[0].wrapping_add(value);
    finish(state)
}

fn short(state: State) -> Result<Datum> {
    Ok(Datum::Int(i64::from(state[2] as i32)))
}

fn long(state: State) -> Result<Datum> {
    Ok(Datum::Int((u64::from(state[1]) << 32 | u64::from(state[2])) as i64))
}

/// An eight-byte integer as four bytes, so that equal numbers of both widths agree.
fn folded(value: i64) -> u32 {
    let (low, high) = (value as u32, (value >> 32) as u32);
    low ^ if value >= 0 { high } else { !high }
}

fn hash_text(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    short(of_bytes(args.text(0)?.as_bytes(), 0))
}

fn hash_unpadded(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    short(of_bytes(unpadded(args.text(0)?).as_bytes(), 0))
}

fn hash_text_extended(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    long(of_bytes(args.text(0)?.as_bytes(), args.int(1)? as u64))
}

fn hash_int(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    short(of_word(args.int(0)? as u32, 0))
}

fn hash_int8(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    short(of_word(folded(args.int(0)?), 0))
}

fn hash_int_extended(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    long(of_word(args.int(0)? as u32, args.int(1)? as u64))
}

fn hash_int8_extended(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    long(of_word(folded(args.int(0)?), args.int(1)? as u64))
}
