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
