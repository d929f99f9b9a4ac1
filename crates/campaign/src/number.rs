//! Decimal numbers as databases print them, exactly.

/// A decimal number, exactly: so many units of ten to the minus `scale`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Number {
    units: i128,
    scale: u32,
}

impl Number {
    pub(crate) fn parse(text: &str) -> Option<Number> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.trim_start_matches('-').is_empty() || !is_digits(whole.trim_start_matches('-')) || !is_digits(fraction)
        {
            return None;
        }
        let units = format!("{whole}{fraction}").parse().ok()?;
        Some(Number { units, scale: fraction.len() as u32 }.reduced())
    }

    fn reduced(mut self) -> Number {
        while self.scale > 0 && self.units % 10 == 0 {
            (self.units, self.scale) = (self.units / 10, self.scale - 1);
        }
        self
    }

    pub(crate) fn minus(self, other: Number) -> Option<Number> {
        let scale = self.scale.max(other.scale);
        let at = |number: Number| number.units.checked_mul(10_i128.checked_pow(scale - number.scale)?);
        Some(Number { units: at(self)?.checked_sub(at(other)?)?, scale }.reduced())
    }

    pub(crate) fn is_negative(self) -> bool {
        self.units < 0
    }

    pub(crate) fn negated(self) -> Number {
        Number { units: -self.units, scale: self.scale }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = format!("{:0>1$}", self.units.unsigned_abs(), self.scale as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.scale as usize);
        let sign = if self.units < 0 { "-" } else { "" };
        match fraction.is_empty() {
            true => write!(f, "{sign}{whole}"),
            false => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_decimals_are_exact() {
        let minus = |one: &str, other: &str| {
            let (one, other) = (Number::parse(one).expect("a number"), Number::parse(other).expect("a number"));
            one.minus(other).expect("small").to_string()
        };
        assert_eq!(minus("115", "100"), "15");
        assert_eq!(minus("0.10", "12.5"), "-12.4");
        assert_eq!(minus("1.05", "1"), "0.05");
        assert_eq!(Number::parse("new"), None);
    }
}
