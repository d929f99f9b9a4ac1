//! Tables for small numbers, and numbers for names.

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::Literal;

/// Numbers below this are looked up by index; a hostile file can make the table no larger.
const DIRECT: i64 = 1 << 22;
const ABSENT: u32 = u32::MAX;

/// A map from numbers to indices, fast for small numbers.
#[derive(Default)]
pub(crate) struct NumberMap {
    direct: Vec<u32>,
    beyond: FxHashMap<i64, u32>,
}

impl NumberMap {
    #[inline]
    pub(crate) fn get(&self, number: i64) -> Option<u32> {
        match self.direct.get(number as usize) {
            Some(&ABSENT) => None,
            Some(&index) if number >= 0 => Some(index),
            _ => self.beyond(number),
        }
    }

    #[cold]
    fn beyond(&self, number: i64) -> Option<u32> {
        self.beyond.get(&number).copied()
    }

    pub(crate) fn insert(&mut self, number: i64, index: u32) {
        if !(0..DIRECT).contains(&number) {
            self.beyond.insert(number, index);
            return;
        }
        let at = number as usize;
        if at >= self.direct.len() {
            self.direct.resize((at + 1).next_power_of_two(), ABSENT);
        }
        self.direct[at] = index;
    }
}

/// The number of one to seven digits that some bytes start with, and how many digits that are. Nothing when it is
/// longer, when there is none, or when fewer than eight bytes are left: then somebody slower must look.
///
/// All digits are handled at once, as lanes of one word, because how many there are is what processors guess wrong.
#[inline(always)]
pub(crate) fn short_number(bytes: &[u8]) -> Option<(i64, usize)> {
    const LANES: u64 = 0x0101_0101_0101_0101;
    let digits = u64::from_le_bytes(*bytes.first_chunk()?) ^ (LANES * 0x30);
    // The top bit of the first lane above 9; carries may spoil the lanes after it.
    let others = (digits.wrapping_add(LANES * 0x76) | digits) & (LANES * 0x80);
    let count = others.trailing_zeros() / 8;
    if count == 0 || count == 8 {
        return None;
    }
    // As eight digits with zeros in front; then pairs, fours and eights are added up.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = (pairs >> 16 & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    Some(((low.wrapping_add(high) >> 32) as i64, count as usize))
}

/// Numbers for names, for formats that have nothing else: `7` and `t7` are 7. Names that are not all numbers, or not
/// all different then, are numbered from 0.
pub(crate) fn numbers_of(names: impl Iterator<Item = Literal>, prefix: char) -> Vec<i64> {
    let mut seen = FxHashSet::default();
    let mut count = 0;
    let numbers: Option<Vec<i64>> = names
        .inspect(|_| count += 1)
        .map(|name| number_of(&name, prefix).filter(|&number| seen.insert(number)))
        .collect::<Vec<_>>()
        .into_iter()
        .collect();
    numbers.unwrap_or_else(|| (0..count).collect())
}

fn number_of(name: &Literal, prefix: char) -> Option<i64> {
    let number = match name {
        Literal::Int(number) => *number,
        Literal::Text(text) => {
            let digits = text.strip_prefix(prefix)?;
            let number: i64 = digits.parse().ok()?;
            if number.to_string() != digits {
                return None;
            }
            number
        }
        Literal::Nil => return None,
    };
    (number >= 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_what_their_digits_say() {
        for number in (0..100_000).chain([999_999, 1_000_000, 9_999_999]) {
            for end in [",12345678", ")\n      ", "\u{ff}0000000", "/0000000", ":0000000"] {
                let digits = number.to_string();
                assert_eq!(short_number(format!("{digits}{end}").as_bytes()), Some((number, digits.len())));
            }
        }
        for other in ["12345678,", "1,", "-1,000000", ",00000000", ""] {
            assert_eq!(short_number(other.as_bytes()), None);
        }
    }
}
