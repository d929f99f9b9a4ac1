//! Templates: which fields they have, in which form, and what stands between them.

use crate::budget;

/// What it takes to find out what a template goes on with, in units of [`crate::budget`].
const PIECE_WORK: usize = 100;

/// A field of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::upper_case_acronyms)]
pub(super) enum Field {
    Era {
        dots: bool,
    },
    Half {
        dots: bool,
    },
    Century,
    /// The name of the weekday, padded.
    Day,
    /// Its abbreviation.
    DayShort,
    DayOfYear,
    DayOfMonth,
    DayOfWeek,
    IsoDayOfYear,
    IsoDayOfWeek,
    /// So many digits of the fraction of a second.
    Fraction(u32),
    /// Fields are taken exactly as wide as they are written.
    Exact,
    Hour24,
    Hour12,
    IsoWeek,
    /// The last digits of the ISO year.
    IsoYear(u32),
    Julian,
    Minute,
    MonthNumber,
    MonthName,
    MonthShort,
    Milliseconds,
    Microseconds,
    Offset,
    Quarter,
    RomanMonth,
    SecondsOfDay,
    Second,
    ZoneHour,
    ZoneMinute,
    ZoneName,
    WeekOfYear,
    WeekOfMonth,
    /// `Y,YYY`
    YearWithComma,
    /// The last digits of the year.
    Year(u32),
}

impl Field {
    /// Whether it is read from digits: then the field before it cannot take all digits that it finds.
    pub(super) fn is_digits(self) -> bool {
        !matches!(
            self,
            Field::Era { .. }
                | Field::Half { .. }
                | Field::Day
                | Field::DayShort
                | Field::MonthName
                | Field::MonthShort
                | Field::RomanMonth
                | Field::ZoneName
                | Field::ZoneHour
                | Field::Offset
                | Field::Exact
        )
    }
}

/// How letters are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Case {
    Upper,
    Capital,
    Lower,
}

impl Case {
    /// A name whose first letter is a capital, in this case.
    pub(super) fn apply(self, name: &str) -> String {
        match self {
            Case::Upper => name.to_ascii_uppercase(),
            Case::Capital => name.to_owned(),
            Case::Lower => name.to_ascii_lowercase(),
        }
    }
}

/// A piece of a template.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Field {
        field: Field,
        /// As it is called in messages.
        name: &'static str,
        case: Case,
        /// `FM`: without padding.
        fill: bool,
        /// `TH`: with the ending of an ordinal number.
        ordinal: Option<Case>,
    },
    /// A character to be copied, or passed over.
    Literal(char),
    /// A space, or punctuation.
    Separator(char),
}

/// Reads a template. Everything that is no field is text.
pub(super) fn parse(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while !rest.is_empty() && !budget::is_over(PIECE_WORK) {
        let mut fill = false;
        if let Some(after) = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
            fill = true;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("TM").or_else(|| rest.strip_prefix("tm")) {
            // Names in the language of the locale, which is C.
            fill = true;
            rest = after;
        }
        let found = KEYWORDS.iter().find(|(keyword, ..)| rest.starts_with(keyword));
        if let Some((keyword, field, case)) = found {
            rest = &rest[keyword.len()..];
            let mut ordinal = None;
            for (suffix, case) in [("TH", Case::Upper), ("th", Case::Lower)] {
                if let Some(after) = rest.strip_prefix(suffix) {
                    ordinal = Some(case);
                    rest = after;
                }
            }
            pieces.push(Piece::Field { field: *field, name: keyword, case: *case, fill, ordinal });
            continue;
        }
        rest = literal(rest, &mut pieces);
    }
    pieces
}

/// Takes text: in quotes, after a backslash, or one character. Gives what comes after it.
fn literal<'a>(text: &'a str, pieces: &mut Vec<Piece>) -> &'a str {
    let Some(first) = text.chars().next() else { return text };
    if first == '"' {
        let mut chars = text[1..].char_indices();
        while let Some((at, char)) = chars.next() {
            match char {
                '"' => return &text[at + 2..],
                '\\' => pieces.extend(chars.next().map(|(_, escaped)| Piece::Literal(escaped))),
                _ => pieces.push(Piece::Literal(char)),
            }
        }
        return "";
    }
    // A backslash only protects a quote.
    if let Some(rest) = text.strip_prefix("\\\"") {
        pieces.push(Piece::Literal('"'));
        return rest;
    }
    pieces.push(match first {
        _ if first.is_ascii_punctuation() || first == ' ' || first.is_ascii_whitespace() => Piece::Separator(first),
        _ => Piece::Literal(first),
    });
    &text[first.len_utf8()..]
}

/// Longer ones come before those that they begin with.
#[rustfmt::skip]
static KEYWORDS: &[(&str, Field, Case)] = {
    use Case::{Capital, Lower, Upper};
    use Field::*;
    &[
        ("A.D.", Era { dots: true }, Upper), ("A.M.", Half { dots: true }, Upper), ("AD", Era { dots: false }, Upper),
        ("AM", Half { dots: false }, Upper), ("B.C.", Era { dots: true }, Upper), ("BC", Era { dots: false }, Upper),
        ("CC", Century, Upper), ("DAY", Day, Upper), ("DDD", DayOfYear, Upper), ("DD", DayOfMonth, Upper),
        ("DY", DayShort, Upper), ("Day", Day, Capital), ("Dy", DayShort, Capital), ("D", DayOfWeek, Upper),
        ("FF1", Fraction(1), Upper), ("FF2", Fraction(2), Upper), ("FF3", Fraction(3), Upper), ("FF4", Fraction(4), Upper),
        ("FF5", Fraction(5), Upper), ("FF6", Fraction(6), Upper), ("FX", Exact, Upper), ("HH24", Hour24, Upper),
        ("HH12", Hour12, Upper), ("HH", Hour12, Upper), ("IDDD", IsoDayOfYear, Upper), ("ID", IsoDayOfWeek, Upper),
        ("IW", IsoWeek, Upper), ("IYYY", IsoYear(4), Upper), ("IYY", IsoYear(3), Upper), ("IY", IsoYear(2), Upper),
        ("I", IsoYear(1), Upper), ("J", Julian, Upper), ("MI", Minute, Upper), ("MM", MonthNumber, Upper),
        ("MONTH", MonthName, Upper), ("MON", MonthShort, Upper), ("MS", Milliseconds, Upper),
        ("Month", MonthName, Capital), ("Mon", MonthShort, Capital), ("OF", Offset, Upper),
        ("P.M.", Half { dots: true }, Upper), ("PM", Half { dots: false }, Upper), ("Q", Quarter, Upper),
        ("RM", RomanMonth, Upper), ("SSSSS", SecondsOfDay, Upper), ("SSSS", SecondsOfDay, Upper), ("SS", Second, Upper),
        ("TZH", ZoneHour, Upper), ("TZM", ZoneMinute, Upper), ("TZ", ZoneName, Upper), ("US", Microseconds, Upper),
        ("WW", WeekOfYear, Upper), ("W", WeekOfMonth, Upper), ("Y,YYY", YearWithComma, Upper), ("YYYY", Year(4), Upper),
        ("YYY", Year(3), Upper), ("YY", Year(2), Upper), ("Y", Year(1), Upper),
        ("a.d.", Era { dots: true }, Lower), ("a.m.", Half { dots: true }, Lower), ("ad", Era { dots: false }, Lower),
        ("am", Half { dots: false }, Lower), ("b.c.", Era { dots: true }, Lower), ("bc", Era { dots: false }, Lower),
        ("cc", Century, Lower), ("day", Day, Lower), ("ddd", DayOfYear, Lower), ("dd", DayOfMonth, Lower),
        ("dy", DayShort, Lower), ("d", DayOfWeek, Lower), ("ff1", Fraction(1), Lower), ("ff2", Fraction(2), Lower),
        ("ff3", Fraction(3), Lower), ("ff4", Fraction(4), Lower), ("ff5", Fraction(5), Lower), ("ff6", Fraction(6), Lower),
        ("fx", Exact, Lower), ("hh24", Hour24, Lower), ("hh12", Hour12, Lower), ("hh", Hour12, Lower),
        ("iddd", IsoDayOfYear, Lower), ("id", IsoDayOfWeek, Lower), ("iw", IsoWeek, Lower), ("iyyy", IsoYear(4), Lower),
        ("iyy", IsoYear(3), Lower), ("iy", IsoYear(2), Lower), ("i", IsoYear(1), Lower), ("j", Julian, Lower),
        ("mi", Minute, Lower), ("mm", MonthNumber, Lower), ("month", MonthName, Lower), ("mon", MonthShort, Lower),
        ("ms", Milliseconds, Lower), ("of", Offset, Lower), ("p.m.", Half { dots: true }, Lower),
        ("pm", Half { dots: false }, Lower), ("q", Quarter, Lower), ("rm", RomanMonth, Lower),
        ("sssss", SecondsOfDay, Lower), ("ssss", SecondsOfDay, Lower), ("ss", Second, Lower), ("tzh", ZoneHour, Lower),
        ("tzm", ZoneMinute, Lower), ("tz", ZoneName, Lower), ("us", Microseconds, Lower), ("ww", WeekOfYear, Lower),
        ("w", WeekOfMonth, Lower), ("y,yyy", YearWithComma, Lower), ("yyyy", Year(4), Lower), ("yyy", Year(3), Lower),
        ("yy", Year(2), Lower), ("y", Year(1), Lower),
    ]
};

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
pub(super) const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];
