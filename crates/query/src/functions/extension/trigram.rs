//! `pg_trgm`: how similar texts are, by the groups of three letters that they share.

use std::collections::BTreeSet;

use crate::budget;
use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Env, Function, Question, Site};
use crate::types::{Datum, Type as T};

macro_rules! of_two_texts {
    ($($name:literal $returns:ident $body:expr,)*) => {
        &[$(f($name, &[T::TEXT, T::TEXT], T::$returns, $body),)*]
    };
}

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("similarity", &[T::TEXT, T::TEXT], T::FLOAT4, |_, args, _| float(similarity(args, 0, 1)?)),
    f("word_similarity", &[T::TEXT, T::TEXT], T::FLOAT4, |_, args, _| float(word_similarity(args, 0, 1, Extent::Any)?)),
    f("strict_word_similarity", &[T::TEXT, T::TEXT], T::FLOAT4, |_, args, _| {
        float(word_similarity(args, 0, 1, Extent::Words)?)
    }),
    f("show_trgm", &[T::TEXT], T::TEXT_ARRAY, show),
    f("show_limit", &[], T::FLOAT4, |env, _, _| float(limit(env, "pg_trgm.similarity_threshold", 0.3)?)).stable(),
    f("set_limit", &[T::FLOAT4], T::FLOAT4, set_limit).volatile(),
];

/// The operators. Distances are one minus similarities.
pub(super) static OPERATORS: &[Function] = of_two_texts! {
    "%" BOOL |env, args, _| at_least(env, similarity(args, 0, 1)?, "pg_trgm.similarity_threshold", 0.3),
    "<%" BOOL |env, args, _| {
        at_least(env, word_similarity(args, 0, 1, Extent::Any)?, "pg_trgm.word_similarity_threshold", 0.6)
    },
    "%>" BOOL |env, args, _| {
        at_least(env, word_similarity(args, 1, 0, Extent::Any)?, "pg_trgm.word_similarity_threshold", 0.6)
    },
    "<<%" BOOL |env, args, _| {
        at_least(env, word_similarity(args, 0, 1, Extent::Words)?, "pg_trgm.strict_word_similarity_threshold", 0.5)
    },
    "%>>" BOOL |env, args, _| {
        at_least(env, word_similarity(args, 1, 0, Extent::Words)?, "pg_trgm.strict_word_similarity_threshold", 0.5)
    },
    "<->" FLOAT4 |_, args, _| float(1.0 - similarity(args, 0, 1)?),
    "<<->" FLOAT4 |_, args, _| float(1.0 - word_similarity(args, 0, 1, Extent::Any)?),
    "<->>" FLOAT4 |_, args, _| float(1.0 - word_similarity(args, 1, 0, Extent::Any)?),
    "<<<->" FLOAT4 |_, args, _| float(1.0 - word_similarity(args, 0, 1, Extent::Words)?),
    "<->>>" FLOAT4 |_, args, _| float(1.0 - word_similarity(args, 1, 0, Extent::Words)?),
};

/// Which parts of a text a word is compared with.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// From any trigram to any other.
    Any,
    /// Whole words.
    Words,
}

type Trigram = [char; 3];

fn float(value: f32) -> Result<Datum> {
    Ok(Datum::Float(value.into()))
}

/// A threshold: what was set, or the usual one.
fn limit(env: &mut dyn Env, name: &str, usual: f32) -> Result<f32> {
    Ok(match env.ask(Question::Setting { name, missing_ok: true })? {
        Datum::Text(text) => text.parse().unwrap_or(usual),
        _ => usual,
    })
}

fn set_limit(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = args.float(0)? as f32;
    if !(0.0..=1.0).contains(&value) {
        let message =
            format!("{value} is outside the valid range for parameter \"pg_trgm.similarity_threshold\" (0 .. 1)");
        return Err(crate::functions::args::invalid_parameter(message));
    }
    let name = "pg_trgm.similarity_threshold";
    env.ask(Question::SetSetting { name, value: Some(&value.to_string()), local: false })?;
    float(value)
}

fn at_least(env: &mut dyn Env, value: f32, name: &str, usual: f32) -> Result<Datum> {
    Ok(Datum::Bool(value >= limit(env, name, usual)?))
}

/// The trigrams of each word, in order: two blanks before a word and one after it.
fn by_word(text: &str) -> Vec<Vec<Trigram>> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let trigrams = |word: &str| {
        let padded: Vec<char> = "  ".chars().chain(word.chars()).chain([' ']).collect();
        padded.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
    };
    words.map(trigrams).collect()
}

fn all(text: &str) -> BTreeSet<Trigram> {
    by_word(text).into_iter().flatten().collect()
}

/// Shared trigrams among all of both.
fn share(shared: usize, one: usize, other: usize) -> f32 {
    if shared == 0 { 0.0 } else { shared as f32 / (one + other - shared) as f32 }
}

fn similarity(args: &[Datum], one: usize, other: usize) -> Result<f32> {
    let (one, other) = (all(args.text(one)?), all(args.text(other)?));
    Ok(share(one.intersection(&other).count(), one.len(), other.len()))
}

/// The greatest similarity between the trigrams of a word and those of a part of a text.
fn word_similarity(args: &[Datum], word: usize, text: usize, extent: Extent) -> Result<f32> {
    let word = all(args.text(word)?);
    let words = by_word(args.text(text)?);
    let mut ends = BTreeSet::new();
    let mut starts = BTreeSet::new();
    let mut sequence = Vec::new();
    for trigrams in words {
        starts.insert(sequence.len());
        sequence.extend(trigrams);
        ends.insert(sequence.len() - 1);
    }
    // A part that begins or ends with a trigram that the word has not is never the best one.
    let bound = |at: &usize, bounds: &BTreeSet<usize>| match extent {
        Extent::Words => bounds.contains(at),
        Extent::Any => word.contains(&sequence[*at]),
    };
    let mut best = 0f32;
    for start in (0..sequence.len()).filter(|at| bound(at, &starts)) {
        let (mut seen, mut shared) = (BTreeSet::new(), 0);
        for (end, trigram) in sequence.iter().enumerate().skip(start) {
            budget::step(4)?;
            if seen.insert(*trigram) && word.contains(trigram) {
                shared += 1;
            }
            if bound(&end, &ends) {
                best = best.max(share(shared, word.len(), seen.len()));
            }
        }
    }
    Ok(best)
}

/// The trigrams, ordered by their bytes; those with letters that take several bytes are shown as numbers.
fn show(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut shown: Vec<[u8; 3]> = Vec::new();
    let mut plain = BTreeSet::new();
    for trigram in all(args.text(0)?) {
        let text: String = trigram.iter().collect();
        let key = if text.is_ascii() { [0, 1, 2].map(|at| text.as_bytes()[at]) } else { compact(text.as_bytes()) };
        if text.is_ascii() {
            plain.insert(key);
        }
        shown.push(key);
    }
    shown.sort_unstable_by_key(|key| key.map(|byte| byte as i8));
    let item = |key: &[u8; 3]| match plain.contains(key) {
        true => Datum::text(key.map(char::from).iter().collect::<String>()),
        false => Datum::text(format!("0x{:02x}{:02x}{:02x}", key[0], key[1], key[2])),
    };
    Ok(Datum::array(T::TEXT, shown.iter().map(item).collect()))
}

/// Three bytes for a trigram of more: of a CRC with the table of CRC-32 in the wrong direction, as PostgreSQL has it.
fn compact(bytes: &[u8]) -> [u8; 3] {
    let table = |index: u32| (0..8).fold(index, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 });
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| table((crc >> 24 ^ u32::from(*byte)) & 0xff) ^ crc << 8);
    let [one, two, three, _] = (crc ^ u32::MAX).to_le_bytes();
    [one, two, three]
}
