//! Arithmetic of long numbers: products by Karatsuba's method, quotients by Newton's reciprocal, square roots by
//! Zimmermann's recursion ("Karatsuba Square Root", 1999). Numbers of a hundred thousand digits take milliseconds.

use std::cmp::Ordering;

use super::natural::Natural;

/// From this many limbs on, Karatsuba's three products of half the length cost less than four.
const KARATSUBA_LIMBS: usize = 48;
/// From this many limbs of divisor and quotient on, two products with a reciprocal cost less than a long division.
pub(super) const RECIPROCAL_LIMBS: usize = 160;
/// Square roots of so few limbs are found by Newton's method alone.
const ROOT_LIMBS: usize = 8;

impl Natural {
    pub fn multiply(&self, other: &Natural) -> Natural {
        let (long, short) = if self.len() >= other.len() { (self, other) } else { (other, self) };
        if short.len() < KARATSUBA_LIMBS {
            return long.multiply_short(short);
        }
        if long.len() >= 2 * short.len() {
            // Piece by piece, so that both factors are about as long.
            let mut product = Natural::default();
            for at in (0..long.len()).step_by(short.len()) {
                let piece = long.limbs(at, at + short.len()).multiply(short);
                product = product.add_at(&piece, at);
            }
            return product;
        }
        let half = long.len().div_ceil(2);
        let (long_low, long_high) = (long.limbs(0, half), long.limbs(half, long.len()));
        let (short_low, short_high) = (short.limbs(0, half), short.limbs(half, short.len()));
        let low = long_low.multiply(&short_low);
        let high = long_high.multiply(&short_high);
        let both = long_low.add(&long_high).multiply(&short_low.add(&short_high));
        let middle = both.subtract(&low).subtract(&high);
        low.add_at(&middle, half).add_at(&high, 2 * half)
    }

    /// Quotient and remainder by a long divisor: as many limbs of the quotient at a time as the divisor has.
    pub(super) fn divide_by_reciprocal(&self, divisor: &Natural) -> (Natural, Natural) {
        let length = divisor.len();
        let reciprocal = divisor.reciprocal();
        let mut rest = Natural::default();
        let mut quotient = Natural::default();
        let pieces = self.len().div_ceil(length);
        for piece in (0..pieces).rev() {
            let part = rest.shift_limbs(length).add(&self.limbs(piece * length, (piece + 1) * length));
            let mut guess = part.multiply(&reciprocal);
            guess = guess.limbs(2 * length, guess.len());
            // The reciprocal is off by a few units, and so is the guess.
            let mut product = guess.multiply(divisor);
            while product.cmp(&part) == Ordering::Greater {
                guess = guess.subtract(&Natural::from_u128(1));
                product = product.subtract(divisor);
            }
            rest = part.subtract(&product);
            while rest.cmp(divisor) != Ordering::Less {
                guess = guess.add(&Natural::from_u128(1));
                rest = rest.subtract(divisor);
            }
            quotient = quotient.shift_limbs(length).add(&guess);
        }
        (quotient, rest)
    }

    /// About `BASE^(2n)` divided by this number of `n` limbs, up to a few units.
    fn reciprocal(&self) -> Natural {
        let length = self.len();
        let whole = Natural::from_u128(1).shift_limbs(2 * length);
        if length < RECIPROCAL_LIMBS {
            return whole.divide_long(self).0;
        }
        // Newton's step x + x (1 - a x) doubles the number of right limbs.
        let kept = length / 2 + 2;
        let first = self.limbs(length - kept, length).reciprocal().shift_limbs(length - kept);
        let product = self.multiply(&first);
        let correction = |error: Natural| {
            let product = first.multiply(&error);
            product.limbs(2 * length, product.len())
        };
        match product.cmp(&whole) {
            Ordering::Greater => first.subtract(&correction(product.subtract(&whole))),
            _ => first.add(&correction(whole.subtract(&product))),
        }
    }

    /// The largest number whose square is not larger.
    pub fn square_root(&self) -> Natural {
        self.root_and_rest().0
    }

    /// The square root, rounded down, and what is left: `root² + rest`.
    fn root_and_rest(&self) -> (Natural, Natural) {
        if self.len() <= ROOT_LIMBS {
            let root = self.short_root();
            let rest = self.subtract(&root.multiply(&root));
            return (root, rest);
        }
        let quarter = (self.len() - 1) / 4;
        let (high_root, high_rest) = self.limbs(2 * quarter, self.len()).root_and_rest();
        let part = high_rest.shift_limbs(quarter).add(&self.limbs(quarter, 2 * quarter));
        let (low, rest) = part.divide(&high_root.multiply_small(2));
        let mut root = high_root.shift_limbs(quarter).add(&low);
        let rest = rest.shift_limbs(quarter).add(&self.limbs(0, quarter));
        let square = low.multiply(&low);
        if square.cmp(&rest) != Ordering::Greater {
            return (root, rest.subtract(&square));
        }
        // The root is one too large: (root - 1)² = root² - 2 root + 1.
        let one = Natural::from_u128(1);
        let missing = square.subtract(&rest);
        let rest = root.multiply_small(2).subtract(&one).subtract(&missing);
        root = root.subtract(&one);
        (root, rest)
    }

    /// Newton from above: begins with a number that is too large, and ends when it no longer falls.
    fn short_root(&self) -> Natural {
        if self.is_zero() {
            return Natural::default();
        }
        let mut root = Natural::from_u128(1).shift_up(self.digit_count().div_ceil(2));
        loop {
            let next = root.add(&self.divide(&root).0).divide_small(2).0;
            if next.cmp(&root) != Ordering::Less {
                return root;
            }
            root = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of so many digits that looks random.
    fn long(digits: usize, mut seed: u64) -> Natural {
        let digit = |_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            b'0' + (seed >> 60) as u8 % 10
        };
        Natural::from_digits(&(0..digits).map(digit).collect::<Vec<u8>>())
    }

    #[test]
    fn long_products_are_those_of_the_school() {
        for (left, right) in [(500, 500), (450, 4_000), (5_000, 3_001), (10_000, 433)] {
            let (left, right) = (long(left, 1), long(right, 2));
            assert!(left.multiply(&right) == left.multiply_short(&right));
        }
        let nines = Natural::from_digits(&[b'9'; 9_000]);
        assert!(nines.multiply(&nines) == nines.multiply_short(&nines));
    }

    #[test]
    fn long_quotients_times_divisors_plus_rests_are_the_dividends() {
        for (dividend, divisor) in [(6_000, 2_000), (20_000, 1_500), (9_000, 4_500), (40_000, 20_003)] {
            for divisor in [long(divisor, 3), Natural::from_u128(1).shift_up(divisor), long(divisor, 7).shift_up(99)] {
                let dividend = long(dividend, 5);
                let (quotient, rest) = dividend.divide(&divisor);
                assert!(rest < divisor);
                assert!(quotient.multiply(&divisor).add(&rest) == dividend);
                assert!(dividend.divide_by_reciprocal(&divisor) == dividend.divide_long(&divisor));
            }
        }
    }

    #[test]
    fn long_square_roots_round_down() {
        let square = long(4_000, 1).multiply(&long(4_000, 1));
        let below = square.subtract(&Natural::from_u128(1));
        for number in [square, below, long(10_001, 9), Natural::from_digits(&[b'9'; 5_000])] {
            let root = number.square_root();
            assert!(root.multiply(&root) <= number);
            let next = root.add(&Natural::from_u128(1));
            assert!(next.multiply(&next) > number);
        }
    }
}
