//! Natural numbers of any size: limbs of nine decimal digits, lowest first, no zero limb on top.
//!
//! A decimal base makes what numerics do most (reading, showing, shifting and rounding by powers of ten) linear.
//! Whatever is computed with long numbers comes down to the products and quotients here, which count their work, so that a
//! statement with many computations of a few milliseconds each ends at its deadline, too.

use std::cmp::Ordering;

use super::long::RECIPROCAL_LIMBS;
use crate::budget;

const BASE: u64 = 1_000_000_000;
const LIMB_DIGITS: usize = 9;

/// A natural number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Natural(Vec<u32>);

impl Natural {
    pub fn from_u128(mut value: u128) -> Natural {
        let mut limbs = Vec::new();
        while value > 0 {
            limbs.push((value % u128::from(BASE)) as u32);
            value /= u128::from(BASE);
        }
        Natural(limbs)
    }

    /// From ASCII digits.
    pub fn from_digits(digits: &[u8]) -> Natural {
        let limb = |chunk: &[u8]| chunk.iter().fold(0, |limb, digit| limb * 10 + u32::from(digit - b'0'));
        Natural(digits.rchunks(LIMB_DIGITS).map(limb).collect()).trimmed()
    }

    /// As ASCII digits; nothing for zero.
    pub fn digits(&self) -> String {
        use std::fmt::Write;
        let mut text = String::with_capacity(self.0.len() * LIMB_DIGITS);
        let mut limbs = self.0.iter().rev();
        if let Some(top) = limbs.next() {
            let _ = write!(text, "{top}");
        }
        for limb in limbs {
            let _ = write!(text, "{limb:09}");
        }
        text
    }

    pub fn to_u128(&self) -> Option<u128> {
        if self.0.len() > 5 {
            return None;
        }
        self.0
            .iter()
            .rev()
            .try_fold(0u128, |value, &limb| value.checked_mul(u128::from(BASE))?.checked_add(u128::from(limb)))
    }

    /// How many bytes its limbs take.
    pub fn weight(&self) -> usize {
        4 * self.0.len()
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_odd(&self) -> bool {
        self.0.first().is_some_and(|limb| limb % 2 == 1)
    }

    /// How many decimal digits it has; none for zero.
    pub fn digit_count(&self) -> usize {
        match self.0.last() {
            None => 0,
            Some(top) => (self.0.len() - 1) * LIMB_DIGITS + top.ilog10() as usize + 1,
        }
    }

    /// How many zeros it ends with; none for zero.
    pub fn trailing_zeros(&self) -> usize {
        let Some(at) = self.0.iter().position(|&limb| limb != 0) else { return 0 };
        let mut limb = self.0[at];
        let mut zeros = at * LIMB_DIGITS;
        while limb.is_multiple_of(10) {
            limb /= 10;
            zeros += 1;
        }
        zeros
    }

    pub fn add(&self, other: &Natural) -> Natural {
        let (long, short) = if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let mut sum = Vec::with_capacity(long.0.len() + 1);
        let mut carry = 0;
        for (at, limb) in long.0.iter().enumerate() {
            let total = limb + short.0.get(at).copied().unwrap_or(0) + carry;
            carry = u32::from(u64::from(total) >= BASE);
            sum.push(total - carry * BASE as u32);
        }
        if carry > 0 {
            sum.push(carry);
        }
        Natural(sum)
    }

    /// The difference; `other` is not larger.
    pub fn subtract(&self, other: &Natural) -> Natural {
        debug_assert!((*self).cmp(other) != Ordering::Less, "a natural number is not negative");
        let mut difference = Vec::with_capacity(self.0.len());
        let mut borrow = 0;
        for (at, &limb) in self.0.iter().enumerate() {
            let take = other.0.get(at).copied().unwrap_or(0) + borrow;
            borrow = u32::from(take > limb);
            difference.push(limb + borrow * BASE as u32 - take);
        }
        Natural(difference).trimmed()
    }

    /// The product, limb by limb.
    pub(super) fn multiply_short(&self, other: &Natural) -> Natural {
        if self.is_zero() || other.is_zero() {
            return Natural::default();
        }
        budget::count(self.0.len() * other.0.len());
        let mut product = vec![0u32; self.0.len() + other.0.len()];
        for (at, &left) in self.0.iter().enumerate() {
            let mut carry = 0u64;
            for (offset, &right) in other.0.iter().enumerate() {
                let total = u64::from(left) * u64::from(right) + u64::from(product[at + offset]) + carry;
                product[at + offset] = (total % BASE) as u32;
                carry = total / BASE;
            }
            product[at + other.0.len()] = carry as u32;
        }
        Natural(product).trimmed()
    }

    pub fn multiply_small(&self, factor: u32) -> Natural {
        budget::count(self.0.len());
        let mut product = Vec::with_capacity(self.0.len() + 1);
        let mut carry = 0u64;
        for &limb in &self.0 {
            let total = u64::from(limb) * u64::from(factor) + carry;
            product.push((total % BASE) as u32);
            carry = total / BASE;
        }
        while carry > 0 {
            product.push((carry % BASE) as u32);
            carry /= BASE;
        }
        Natural(product).trimmed()
    }

    /// Quotient and remainder by a small divisor, which is not zero.
    pub fn divide_small(&self, divisor: u32) -> (Natural, u32) {
        budget::count(self.0.len());
        let mut quotient = vec![0; self.0.len()];
        let mut rest = 0u64;
        for (at, &limb) in self.0.iter().enumerate().rev() {
            let total = rest * BASE + u64::from(limb);
            quotient[at] = (total / u64::from(divisor)) as u32;
            rest = total % u64::from(divisor);
        }
        (Natural(quotient).trimmed(), rest as u32)
    }

    /// Quotient and remainder; the divisor is not zero.
    pub fn divide(&self, divisor: &Natural) -> (Natural, Natural) {
        if (*self).cmp(divisor) == Ordering::Less {
            return (Natural::default(), self.clone());
        }
        if let [small] = divisor.0[..] {
            let (quotient, rest) = self.divide_small(small);
            return (quotient, Natural::from_u128(rest.into()));
        }
        if divisor.0.len().min(self.0.len() - divisor.0.len()) >= RECIPROCAL_LIMBS {
            return self.divide_by_reciprocal(divisor);
        }
        self.divide_long(divisor)
    }

    /// Long division (Knuth, volume 2, 4.3.1, algorithm D): both are scaled so that the guess of each quotient limb from
    /// the leading limbs is at most two too large.
    pub(super) fn divide_long(&self, divisor: &Natural) -> (Natural, Natural) {
        let top = divisor.0[divisor.0.len() - 1];
        let scale = (BASE / (u64::from(top) + 1)) as u32;
        let divisor = divisor.multiply_small(scale).0;
        let mut rest = self.multiply_small(scale).0;
        rest.resize(rest.len().max(self.0.len() + 1), 0);
        let length = divisor.len();
        let (first, second) = (u64::from(divisor[length - 1]), u64::from(divisor[length - 2]));
        let mut quotient = vec![0; rest.len() - length];
        budget::count(quotient.len() * length);
        for at in (0..quotient.len()).rev() {
            let leading = u64::from(rest[at + length]) * BASE + u64::from(rest[at + length - 1]);
            let mut guess = leading / first;
            let mut left = leading % first;
            while guess >= BASE || guess * second > left * BASE + u64::from(rest[at + length - 2]) {
                guess -= 1;
                left += first;
                if left >= BASE {
                    break;
                }
            }
            if subtract_multiple(&mut rest[at..=at + length], &divisor, guess) {
                guess -= 1;
                add_back(&mut rest[at..=at + length], &divisor);
            }
            quotient[at] = guess as u32;
        }
        let rest = Natural(rest).trimmed().divide_small(scale).0;
        (Natural(quotient).trimmed(), rest)
    }

    /// Times ten to this power.
    pub fn shift_up(&self, digits: usize) -> Natural {
        if self.is_zero() || digits == 0 {
            return self.clone();
        }
        let mut limbs = vec![0; digits / LIMB_DIGITS];
        limbs.extend(self.multiply_small(10u32.pow((digits % LIMB_DIGITS) as u32)).0);
        Natural(limbs)
    }

    /// Divided by ten to this power, rounded down.
    pub fn shift_down(&self, digits: usize) -> Natural {
        let limbs = digits / LIMB_DIGITS;
        if limbs >= self.0.len() {
            return Natural::default();
        }
        let rest = Natural(self.0[limbs..].to_vec());
        rest.divide_small(10u32.pow((digits % LIMB_DIGITS) as u32)).0
    }

    /// The decimal digit at this place, counted from the lowest.
    pub fn digit(&self, place: usize) -> u32 {
        self.0.get(place / LIMB_DIGITS).map_or(0, |limb| limb / 10u32.pow((place % LIMB_DIGITS) as u32) % 10)
    }

    /// How many limbs it has.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number that these of its limbs are.
    pub(super) fn limbs(&self, from: usize, to: usize) -> Natural {
        let to = to.min(self.0.len());
        if from >= to { Natural::default() } else { Natural(self.0[from..to].to_vec()).trimmed() }
    }

    /// With so many limbs of zeros below.
    pub(super) fn shift_limbs(&self, count: usize) -> Natural {
        if self.is_zero() {
            return Natural::default();
        }
        let mut limbs = Vec::with_capacity(count + self.0.len());
        limbs.resize(count, 0);
        limbs.extend_from_slice(&self.0);
        Natural(limbs)
    }

    /// The sum with another number that has so many limbs of zeros below.
    pub(super) fn add_at(mut self, other: &Natural, at: usize) -> Natural {
        if other.is_zero() {
            return self;
        }
        let length = self.0.len().max(at + other.0.len());
        self.0.resize(length, 0);
        let mut carry = 0;
        for (offset, limb) in self.0[at..].iter_mut().enumerate() {
            if carry == 0 && offset >= other.0.len() {
                break;
            }
            let total = *limb + other.0.get(offset).copied().unwrap_or(0) + carry;
            carry = u32::from(u64::from(total) >= BASE);
            *limb = total - carry * BASE as u32;
        }
        if carry > 0 {
            self.0.push(carry);
        }
        self
    }

    fn trimmed(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }
}

/// Takes a multiple of the divisor from the window of the rest; says whether it went below zero (by wrapping).
fn subtract_multiple(window: &mut [u32], divisor: &[u32], factor: u64) -> bool {
    let mut carry = 0u64;
    let mut borrow = 0u64;
    for (at, limb) in window.iter_mut().enumerate() {
        let total = divisor.get(at).map_or(0, |&limb| u64::from(limb)) * factor + carry;
        carry = total / BASE;
        let take = total % BASE + borrow;
        borrow = u64::from(take > u64::from(*limb));
        *limb = (u64::from(*limb) + borrow * BASE - take) as u32;
    }
    borrow > 0
}

fn add_back(window: &mut [u32], divisor: &[u32]) {
    let mut carry = 0u64;
    for (at, limb) in window.iter_mut().enumerate() {
        let total = u64::from(*limb) + divisor.get(at).map_or(0, |&limb| u64::from(limb)) + carry;
        carry = u64::from(total >= BASE);
        *limb = (total - carry * BASE) as u32;
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Natural) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Natural) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn natural(digits: &str) -> Natural {
        Natural::from_digits(digits.as_bytes())
    }

    #[test]
    fn quotient_times_divisor_plus_rest_is_the_dividend() {
        let numbers = [
            "1",
            "999999999",
            "1000000000",
            "999999999999999999999999999999",
            "1000000000000000000000000000000000000001",
            "123456789012345678901234567890123456789012345678901234567890",
            "499999999999999999999999999500000000000000000000000000",
            "500000000499999999999999999999999999",
        ];
        for dividend in numbers {
            for divisor in numbers {
                let (quotient, rest) = natural(dividend).divide(&natural(divisor));
                assert!(rest < natural(divisor));
                assert_eq!(quotient.multiply(&natural(divisor)).add(&rest).digits(), dividend, "by {divisor}");
            }
        }
    }

    #[test]
    fn square_roots_round_down() {
        for number in
            ["2", "99", "100", "15241578753238836750190521", "15241578753238836750190520", "10000000000000000000"]
        {
            let root = natural(number).square_root();
            assert!(root.multiply(&root) <= natural(number));
            let next = root.add(&Natural::from_u128(1));
            assert!(next.multiply(&next) > natural(number));
        }
    }
}
