//! Numbers that look random and are a function of the seed, for programs, histories and statements that tests make up.
//!
//! SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a seed means the same test on every machine and in every version.

/// A die with any number of sides; the number is where the sequence stands, at first the seed.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// The next number.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `sides`; 0 if there are no sides.
    pub fn roll(&mut self, sides: usize) -> usize {
        (self.bits() % sides.max(1) as u64) as usize
    }

    /// True once in so many times.
    pub fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    /// One of the list.
    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.roll(list.len())]
    }

    /// A copy of one of the list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        *self.of(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_numbers_for_ever() {
        let mut dice = Dice(1_234_567);
        // The first numbers of the reference implementation.
        assert_eq!([dice.bits(), dice.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        assert!((0..100).all(|_| dice.roll(6) < 6));
    }
}
