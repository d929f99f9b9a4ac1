//! Values as the test files write them. Each suite has its own way.

use crate::wire::Rows;

/// PostgreSQL's numbers of the types that are written in another way.
mod oid {
    pub(super) const BOOL: u32 = 16;
    pub(super) const FLOAT4: u32 = 700;
    pub(super) const FLOAT8: u32 = 701;
    pub(super) const TIMESTAMP: u32 = 1114;
    pub(super) const NUMERIC: u32 = 1700;
}

/// Who wrote the files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Suite {
    /// One value a line; the type letter decides: I is an integer, R has three decimals.
    Sqlite,
    /// One row a line; text as the server gives it, booleans spelled out.
    RisingLight,
    /// One row a line; numbers rounded to twelve decimals without trailing zeros, timestamps with a T.
    DataFusion,
}

impl Suite {
    /// The suite that a file belongs to, by the name of a folder above it.
    pub(super) fn of(path: &str) -> Suite {
        match path {
            path if path.contains("datafusion") => Suite::DataFusion,
            path if path.contains("sqlite") => Suite::Sqlite,
            _ => Suite::RisingLight,
        }
    }

    /// The result as rows of written values.
    pub(super) fn write(self, rows: &Rows, letters: &[char]) -> Vec<Vec<String>> {
        let types: Vec<u32> = rows.columns.iter().map(|column| column.type_oid).collect();
        let value = |(at, value): (usize, &Option<String>)| {
            let letter = letters.get(at).copied().unwrap_or('?');
            match value {
                None => "NULL".to_owned(),
                Some(text) => self.value(text, types.get(at).copied().unwrap_or(0), letter),
            }
        };
        rows.values.iter().map(|row| row.iter().enumerate().map(value).collect()).collect()
    }

    fn value(self, text: &str, type_oid: u32, letter: char) -> String {
        match (self, type_oid, letter) {
            (Suite::Sqlite, _, 'I') => integer(text),
            (Suite::Sqlite, _, 'R') => match text.parse::<f64>() {
                Ok(number) => format!("{number:.3}"),
                Err(_) => text.to_owned(),
            },
            (Suite::RisingLight | Suite::DataFusion, oid::BOOL, _) => match text {
                "t" => "true".to_owned(),
                _ => "false".to_owned(),
            },
            (Suite::DataFusion, oid::FLOAT4 | oid::FLOAT8 | oid::NUMERIC, _) => rounded(text, 12),
            (Suite::DataFusion, oid::TIMESTAMP, _) => text.replacen(' ', "T", 1),
            _ if text.is_empty() => "(empty)".to_owned(),
            _ => text.to_owned(),
        }
    }
}

/// What SQLite's C interface gives for a value that is asked for as an integer.
fn integer(text: &str) -> String {
    match text {
        "t" => return "1".to_owned(),
        "f" => return "0".to_owned(),
        _ => {}
    }
    let signed = usize::from(text.starts_with(['-', '+']));
    let digits = text[signed..].bytes().take_while(u8::is_ascii_digit).count();
    match &text[..signed + digits] {
        "" | "-" | "+" | "-0" => "0".to_owned(),
        number => number.to_owned(),
    }
}

/// A decimal number rounded half to even, without trailing zeros; what is not a number stays.
fn rounded(text: &str, decimals: usize) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (Ok(exponent), true) = (
        exponent.parse::<i32>(),
        !whole.is_empty() && whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit()),
    ) else {
        return text.to_owned();
    };
    let mut all: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
    // How many of the digits are before the point.
    let mut point = whole.len() as i32 + exponent;
    while point < 1 {
        all.insert(0, 0);
        point += 1;
    }
    while (all.len() as i32) < point {
        all.push(0);
    }
    let mut point = point as usize;
    let keep = point + decimals;
    if all.len() > keep {
        let up = match all[keep] {
            5 if all[keep + 1..].iter().all(|&digit| digit == 0) => all[keep - 1] % 2 == 1,
            digit => digit >= 5,
        };
        all.truncate(keep);
        if up && carry(&mut all) {
            point += 1;
        }
    }
    let text: String = all.iter().map(|digit| char::from(digit + b'0')).collect();
    let (whole, fraction) = text.split_at(point);
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let fraction = fraction.trim_end_matches('0');
    match (whole, fraction) {
        ("0", "") => "0".to_owned(),
        (whole, "") => format!("{sign}{whole}"),
        (whole, fraction) => format!("{sign}{whole}.{fraction}"),
    }
}

/// Adds one to the last digit; true if that made the number longer.
fn carry(digits: &mut Vec<u8>) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return false;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
    true
}

#[cfg(test)]
mod tests {
    use super::{integer, rounded};

    #[test]
    fn numbers_round_half_to_even_and_lose_zeros() {
        for (text, expected) in [
            ("7.38905609893065", "7.389056098931"),
            ("1.000", "1"),
            ("-0.00", "0"),
            ("1e+20", "100000000000000000000"),
            ("1.5e-3", "0.0015"),
            ("9.9999999999999", "10"),
            ("0.0000000000005", "0"),
            ("NaN", "NaN"),
            ("-Infinity", "-Infinity"),
        ] {
            assert_eq!(rounded(text, 12), expected, "{text}");
        }
    }

    #[test]
    fn integers_are_cut_off() {
        assert_eq!(integer("2.5000"), "2");
        assert_eq!(integer("-0.5"), "0");
        assert_eq!(integer("t"), "1");
        assert_eq!(integer("12"), "12");
        assert_eq!(integer("xyz"), "0");
    }
}
