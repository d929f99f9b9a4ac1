//! Roman numerals.

const NUMERALS: &[(i64, &str)] = &[
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

/// A number from 1 to 3999 in Roman numerals; none for others.
pub(super) fn roman(mut number: i64) -> Option<String> {
    if !(1..=3999).contains(&number) {
        return None;
    }
    let mut out = String::new();
    for (value, numeral) in NUMERALS {
        while number >= *value {
            out.push_str(numeral);
            number -= value;
        }
    }
    Some(out)
}
