//! `pgcrypto`: digests, keyed digests, passwords and random bytes. What encrypts is refused by name.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use crate::error::{Result, SqlError};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::f;
use crate::functions::extension::crypt;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

macro_rules! refused {
    ($($name:literal ($($arg:ident),*) $returns:ident,)*) => {
        &[$(f($name, &[$(T::$arg),*], T::$returns, |_, _, _| {
            Err(SqlError::unsupported(concat!("the function ", $name, " of pgcrypto")))
        }),)*]
    };
}

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("digest", &[T::TEXT, T::TEXT], T::BYTEA, digest),
    f("digest", &[T::BYTEA, T::TEXT], T::BYTEA, digest),
    f("hmac", &[T::TEXT, T::TEXT, T::TEXT], T::BYTEA, hmac),
    f("hmac", &[T::BYTEA, T::BYTEA, T::TEXT], T::BYTEA, hmac),
    f("crypt", &[T::TEXT, T::TEXT], T::TEXT, |_, args, _| crypt::crypt(args.text(0)?, args.text(1)?)),
    f("gen_salt", &[T::TEXT], T::TEXT, |env, args, _| crypt::salt(env, args.text(0)?, 0)).volatile(),
    f("gen_salt", &[T::TEXT, T::INT4], T::TEXT, |env, args, _| crypt::salt(env, args.text(0)?, args.int(1)?))
        .volatile(),
    f("gen_random_bytes", &[T::INT4], T::BYTEA, random_bytes).volatile(),
];

/// What there is in PostgreSQL and not here.
pub(super) static REFUSED: &[Function] = refused! {
    "encrypt" (BYTEA, BYTEA, TEXT) BYTEA,
    "decrypt" (BYTEA, BYTEA, TEXT) BYTEA,
    "encrypt_iv" (BYTEA, BYTEA, BYTEA, TEXT) BYTEA,
    "decrypt_iv" (BYTEA, BYTEA, BYTEA, TEXT) BYTEA,
    "armor" (BYTEA) TEXT,
    "dearmor" (TEXT) BYTEA,
    "pgp_sym_encrypt" (TEXT, TEXT) BYTEA,
    "pgp_sym_encrypt" (TEXT, TEXT, TEXT) BYTEA,
    "pgp_sym_encrypt_bytea" (BYTEA, TEXT) BYTEA,
    "pgp_sym_decrypt" (BYTEA, TEXT) TEXT,
    "pgp_sym_decrypt" (BYTEA, TEXT, TEXT) TEXT,
    "pgp_sym_decrypt_bytea" (BYTEA, TEXT) BYTEA,
    "pgp_pub_encrypt" (TEXT, BYTEA) BYTEA,
    "pgp_pub_decrypt" (BYTEA, BYTEA) TEXT,
    "pgp_key_id" (BYTEA) TEXT,
};

fn bytes(args: &[Datum], index: usize) -> Result<&[u8]> {
    match args.at(index) {
        Datum::Bytes(bytes) => Ok(bytes),
        _ => args.text(index).map(str::as_bytes),
    }
}

/// The digest of some bytes, and how many bytes its blocks have.
fn by_name(name: &str, parts: &[&[u8]]) -> Result<(Vec<u8>, usize)> {
    fn of<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
        let mut digest = D::new();
        parts.iter().for_each(|part| digest.update(part));
        digest.finalize().to_vec()
    }
    Ok(match name.to_ascii_lowercase().as_str() {
        "md5" => (of::<Md5>(parts), 64),
        "sha1" => (of::<Sha1>(parts), 64),
        "sha224" => (of::<Sha224>(parts), 64),
        "sha256" => (of::<Sha256>(parts), 64),
        "sha384" => (of::<Sha384>(parts), 128),
        "sha512" => (of::<Sha512>(parts), 128),
        _ => return Err(invalid_parameter(format!("Cannot use \"{name}\": No such hash algorithm"))),
    })
}

fn digest(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (digest, _) = by_name(args.text(1)?, &[bytes(args, 0)?])?;
    Ok(Datum::Bytes(digest.into()))
}

/// RFC 2104.
fn hmac(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (name, key) = (args.text(2)?, bytes(args, 1)?);
    let (hashed, block) = by_name(name, &[key])?;
    let mut padded = if key.len() > block { hashed } else { key.to_vec() };
    padded.resize(block, 0);
    let with = |pad: u8| padded.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
    let (inner, _) = by_name(name, &[&with(0x36), bytes(args, 0)?])?;
    let (outer, _) = by_name(name, &[&with(0x5c), &inner])?;
    Ok(Datum::Bytes(outer.into()))
}

fn random_bytes(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let count = args.int(0)?;
    if !(1..=1024).contains(&count) {
        return Err(invalid_parameter("Length not in range"));
    }
    let mut bytes: Vec<u8> = Vec::new();
    while (bytes.len() as i64) < count {
        bytes.extend_from_slice(&env.random_bits().to_be_bytes());
    }
    bytes.truncate(usize::try_from(count).unwrap_or(0));
    Ok(Datum::Bytes(bytes.into()))
}
