//! `crypt` and `gen_salt` of pgcrypto: passwords by Blowfish (bcrypt) and by MD5 (as FreeBSD has it).

use blowfish::Blowfish;
use md5::Md5;
use sha2::Digest;

use crate::budget;
use crate::error::{Result, SqlError};
use crate::functions::Env;
use crate::functions::args::invalid_parameter;
use crate::types::Datum;

/// How much work a round of Blowfish is, in steps of a statement's budget.
const WORK_OF_A_ROUND: usize = 2000;

const BCRYPT_LETTERS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const CRYPT_LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn random<const N: usize>(env: &mut dyn Env) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&env.random_bits().to_be_bytes()[..chunk.len()]));
    bytes
}

/// `gen_salt(type, rounds)`; no rounds are the usual ones.
pub(super) fn salt(env: &mut dyn Env, kind: &str, rounds: i64) -> Result<Datum> {
    match kind.to_ascii_lowercase().as_str() {
        "bf" => {
            let cost = if rounds == 0 { 6 } else { rounds };
            if !(4..=31).contains(&cost) {
                return Err(invalid_parameter("gen_salt: Incorrect number of rounds"));
            }
            Ok(Datum::text(format!("$2a${cost:02}${}", encode(&random::<16>(env)))))
        }
        "md5" if matches!(rounds, 0 | 1000) => {
            let letters = random::<8>(env).map(|byte| CRYPT_LETTERS[usize::from(byte & 63)]);
            Ok(Datum::text(format!("$1${}", String::from_utf8_lossy(&letters))))
        }
        "md5" => Err(invalid_parameter("gen_salt: Incorrect number of rounds")),
        "des" | "xdes" => Err(SqlError::unsupported(format_args!("gen_salt('{kind}')"))),
        _ => Err(invalid_parameter("gen_salt: Unknown salt algorithm")),
    }
}

/// `crypt(password, salt)`
pub(super) fn crypt(password: &str, salt: &str) -> Result<Datum> {
    let bad = || invalid_parameter("invalid salt");
    if let Some(rest) = salt.strip_prefix("$2a$").or_else(|| salt.strip_prefix("$2x$")) {
        let (cost, rest) = rest.split_once('$').ok_or_else(bad)?;
        let cost: u32 = cost.parse().ok().filter(|cost| (4..=31).contains(cost)).ok_or_else(bad)?;
        if salt.starts_with("$2x$") {
            return Err(SqlError::unsupported("crypt() with the salt $2x$"));
        }
        let salt = rest.get(..22).and_then(decode).ok_or_else(bad)?;
        return Ok(Datum::text(format!("$2a${cost:02}${}{}", encode(&salt), bcrypt(password, cost, &salt)?)));
    }
    if let Some(rest) = salt.strip_prefix("$1$") {
        let salt = rest.split('$').next().unwrap_or_default();
        let end = salt.char_indices().nth(8).map_or(salt.len(), |(at, _)| at);
        return Ok(Datum::text(md5_crypt(password, &salt[..end])));
    }
    Err(SqlError::unsupported("crypt() with a salt of DES"))
}

/// Provos and Mazières, "A Future-Adaptable Password Scheme" (1999): 23 bytes, as letters.
fn bcrypt(password: &str, cost: u32, salt: &[u8; 16]) -> Result<String> {
    let mut key: Vec<u8> = password.bytes().take(72).collect();
    if key.len() < 72 {
        key.push(0);
    }
    let mut state = Blowfish::bc_init_state();
    state.salted_expand_key(salt, &key);
    for _ in 0..1u64 << cost {
        budget::step(WORK_OF_A_ROUND)?;
        state.bc_expand_key(&key);
        state.bc_expand_key(salt);
    }
    let mut words = [0x4f72_7068u32, 0x6561_6e42, 0x6568_6f6c, 0x6465_7253, 0x6372_7944, 0x6f75_6274];
    for pair in words.chunks_exact_mut(2) {
        for _ in 0..64 {
            let [left, right] = state.bc_encrypt([pair[0], pair[1]]);
            (pair[0], pair[1]) = (left, right);
        }
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    Ok(encode(&bytes[..23]))
}

/// Base 64 with bcrypt's letters, without padding.
fn encode(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            out.push(char::from(BCRYPT_LETTERS[(bits >> (18 - 6 * at)) as usize & 63]));
        }
    }
    out
}

/// The 16 bytes of 22 letters.
fn decode(letters: &str) -> Option<[u8; 16]> {
    let mut bits: u32 = 0;
    let (mut count, mut bytes) = (0, Vec::new());
    for letter in letters.bytes() {
        bits = bits << 6 | BCRYPT_LETTERS.iter().position(|known| *known == letter)? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes.try_into().ok()
}

/// The password scheme `$1$` of FreeBSD.
fn md5_crypt(password: &str, salt: &str) -> String {
    let (password, salt_bytes) = (password.as_bytes(), salt.as_bytes());
    let mut alternate = Md5::digest([password, salt_bytes, password].concat());
    let mut first = Md5::new();
    first.update([password, b"$1$", salt_bytes].concat());
    first.update(alternate.iter().copied().cycle().take(password.len()).collect::<Vec<u8>>());
    let mut length = password.len();
    while length > 0 {
        first.update([if length & 1 == 1 { 0 } else { password[0] }]);
        length >>= 1;
    }
    alternate = first.finalize();
    for round in 0..1000 {
        let mut next = Md5::new();
        let own: &[u8] = if round % 2 == 1 { password } else { &alternate };
        next.update(own);
        if round % 3 != 0 {
            next.update(salt_bytes);
        }
        if round % 7 != 0 {
            next.update(password);
        }
        let last: &[u8] = if round % 2 == 1 { &alternate } else { password };
        next.update(last);
        alternate = next.finalize();
    }
    let mut out = format!("$1${salt}$");
    let mut letters = |mut bits: u32, count: usize| {
        for _ in 0..count {
            out.push(char::from(CRYPT_LETTERS[bits as usize & 63]));
            bits >>= 6;
        }
    };
    let byte = |at: usize| u32::from(alternate[at]);
    for [one, two, three] in [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]] {
        letters(byte(one) << 16 | byte(two) << 8 | byte(three), 4);
    }
    letters(byte(11), 2);
    out
}
