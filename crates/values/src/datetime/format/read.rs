//! Text → dates and times, by a template.

use super::resolve::{Read, invalid};
use super::template::{self, Field, MONTHS, Piece, ROMAN, WEEKDAYS};
use crate::Env;
use crate::datetime::arithmetic::{round_micros, timestamp_out_of_range};
use crate::datetime::calendar::{self, SECOND};
use crate::datetime::zone;
use crate::error::{Result, SqlError, SqlState};

/// `to_timestamp(text, template)`: an instant; without a zone in the text, the connection's.
pub fn to_timestamp(text: &str, template: &str, env: &dyn Env) -> Result<i64> {
    let read = Read::of(text, template)?;
    let civil = read.resolve(text)?;
    let local = civil.micros().ok_or_else(timestamp_out_of_range)?;
    let east = match read.offset(text)? {
        Some(east) => east,
        None => zone::of_setting(&env.settings().time_zone).offset_of_local(local.div_euclid(SECOND)),
    };
    let instant = i128::from(local) - i128::from(east) * i128::from(SECOND);
    let instant = calendar::in_range(instant).ok_or_else(timestamp_out_of_range)?;
    Ok(match read.fraction_digits {
        Some(digits) => round_micros(instant, digits.cast_signed()),
        None => instant,
    })
}

/// `to_date(text, template)`
pub fn to_date(text: &str, template: &str) -> Result<i32> {
    let days = Read::of(text, template)?.resolve(text)?.days();
    if (calendar::FIRST_DATE..calendar::END_DATE).contains(&days) {
        return Ok(days as i32);
    }
    Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\"")))
}

impl Read {
    fn of(text: &str, template: &str) -> Result<Read> {
        let pieces = template::parse(template);
        let mut reader = Reader { whole: text, rest: text, read: Read::default(), exact: false, extra: 0 };
        for (at, piece) in pieces.iter().enumerate() {
            if reader.rest.is_empty() {
                break;
            }
            reader.piece(piece, at == 0, slurps(&pieces[at + 1..]))?;
        }
        Ok(reader.read)
    }
}

/// Whether a number before these pieces may take all digits that it finds.
fn slurps(after: &[Piece]) -> bool {
    match after.first() {
        None => true,
        Some(Piece::Field { field, .. }) => !field.is_digits(),
        Some(Piece::Literal(char) | Piece::Separator(char)) => !char.is_ascii_digit(),
    }
}

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
    read: Read,
    /// `FX`
    exact: bool,
    /// Characters that were passed over, more than the template has.
    extra: i32,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        let before = self.rest.len();
        self.rest = self.rest.trim_start_matches(|char: char| char.is_ascii_whitespace());
        self.extra += (before - self.rest.len()) as i32;
    }

    fn skip_char(&mut self) {
        self.rest = &self.rest[self.rest.chars().next().map_or(0, char::len_utf8)..];
    }

    fn piece(&mut self, piece: &Piece, first: bool, slurps: bool) -> Result<()> {
        let is_field = matches!(piece, Piece::Field { field, .. } if *field != Field::Exact);
        if !self.exact && (is_field || first) {
            self.skip_space();
        }
        match piece {
            Piece::Separator(_) if self.exact => self.skip_char(),
            Piece::Separator(_) => {
                self.extra -= 1;
                let separates = |char: char| char.is_ascii_punctuation() || char.is_ascii_whitespace();
                if self.rest.starts_with(separates) {
                    self.skip_char();
                    self.extra += 1;
                }
            }
            Piece::Literal(_) if !self.exact && self.extra > 0 => self.extra -= 1,
            Piece::Literal(_) => self.skip_char(),
            Piece::Field { field: Field::Exact, .. } => self.exact = true,
            Piece::Field { field, name, fill, ordinal, .. } => {
                self.field(*field, name, *fill || ordinal.is_some() || slurps)?;
                if ordinal.is_some() {
                    self.rest = self.rest.get(2..).unwrap_or_default();
                }
                if !self.exact {
                    self.extra = 0;
                    self.skip_space();
                }
            }
        }
        Ok(())
    }

    /// A number of this many digits, or of as many as there are; gives how many characters it took.
    fn number(&mut self, width: usize, name: &str, slurps: bool) -> Result<(i64, usize)> {
        let trimmed = self.rest.trim_start_matches(|char: char| char.is_ascii_whitespace());
        let copy: String = trimmed.chars().take(width).collect();
        let wide = "If your source string is not fixed-width, try using the \"FM\" modifier.";
        let source = if slurps { trimmed } else { copy.as_str() };
        let digits = integer_prefix(source);
        if !slurps {
            let have = copy.chars().count();
            if have < width {
                return Err(invalid(format!("source string too short for \"{name}\" formatting field"))
                    .detail(format!("Field requires {width} characters, but only {have} remain."))
                    .hint(wide));
            }
            if digits > 0 && digits < width {
                return Err(invalid(format!("invalid value \"{copy}\" for \"{name}\""))
                    .detail(format!("Field requires {width} characters, but only {digits} could be parsed."))
                    .hint(wide));
            }
        }
        if digits == 0 {
            return Err(invalid(format!("invalid value \"{copy}\" for \"{name}\"")).detail("Value must be an integer."));
        }
        let value = source[..digits].trim_start_matches('+').parse::<i32>().map_err(|_| {
            SqlError::new(
                SqlState::DATETIME_FIELD_OVERFLOW,
                format!("value for \"{name}\" in source string is out of range"),
            )
            .detail(format!("Value must be in the range {} to {}.", i32::MIN, i32::MAX))
        })?;
        self.rest = &trimmed[digits..];
        Ok((value.into(), digits))
    }

    /// One of these names, in any case.
    fn one_of(&mut self, names: &[&str], name: &str) -> Result<i64> {
        let matches = |candidate: &&str| {
            self.rest.get(..candidate.len()).is_some_and(|text| text.eq_ignore_ascii_case(candidate))
        };
        let longest = names.iter().enumerate().filter(|(_, name)| matches(name)).max_by_key(|(_, name)| name.len());
        let Some((at, found)) = longest else {
            let word: String = self.rest.chars().take_while(|char| !char.is_ascii_whitespace()).collect();
            return Err(invalid(format!("invalid value \"{word}\" for \"{name}\""))
                .detail("The given value did not match any of the allowed values for this field."));
        };
        self.rest = &self.rest[found.len()..];
        Ok(at as i64)
    }

    fn field(&mut self, field: Field, name: &'static str, slurps: bool) -> Result<()> {
        let iso = matches!(field, Field::IsoYear(_) | Field::IsoWeek | Field::IsoDayOfYear | Field::IsoDayOfWeek);
        let gregorian = matches!(
            field,
            Field::Year(_)
                | Field::YearWithComma
                | Field::MonthNumber
                | Field::MonthName
                | Field::MonthShort
                | Field::RomanMonth
                | Field::DayOfMonth
                | Field::DayOfYear
                | Field::WeekOfYear
                | Field::WeekOfMonth
                | Field::Century
        );
        if (iso || gregorian) && *self.read.iso.get_or_insert(iso) != iso {
            return Err(invalid("invalid combination of date conventions".to_owned())
                .hint("Do not mix Gregorian and ISO week date conventions in a formatting template."));
        }
        match field {
            Field::Exact | Field::Quarter => {
                if field == Field::Quarter {
                    self.number(1, name, slurps)?;
                }
            }
            Field::Half { dots } => {
                let names: &[&str] = if dots { &["a.m.", "p.m."] } else { &["am", "pm"] };
                self.read.afternoon = self.one_of(names, name)? == 1;
                self.read.twelve_hours = true;
            }
            Field::Era { dots } => {
                let names: &[&str] = if dots { &["a.d.", "b.c."] } else { &["ad", "bc"] };
                self.read.before_christ = self.one_of(names, name)? == 1;
            }
            Field::Hour12 => {
                self.read.hour = self.number(2, name, slurps)?.0;
                self.read.twelve_hours = true;
            }
            Field::Hour24 => self.read.hour = self.number(2, name, slurps)?.0,
            Field::Minute => self.read.minute = self.number(2, name, slurps)?.0,
            Field::Second => self.read.second = self.number(2, name, slurps)?.0,
            Field::SecondsOfDay => self.read.second_of_day = self.number(name.len().max(5), name, slurps)?.0,
            Field::Milliseconds => {
                let (value, digits) = self.number(3, name, slurps)?;
                self.read.millis = value * 10i64.pow(3usize.saturating_sub(digits) as u32);
            }
            Field::Microseconds => self.fraction(6, name, slurps)?,
            Field::Fraction(digits) => {
                self.read.fraction_digits = Some(digits);
                self.fraction(digits as usize, name, slurps)?;
            }
            Field::ZoneName | Field::Offset => {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("formatting field \"{}\" is only supported in to_char", name.to_uppercase()),
                ));
            }
            Field::ZoneHour => {
                // The sign was perhaps taken for a separator, if more was passed over than the template has.
                let passed = &self.whole[..self.whole.len() - self.rest.len()];
                let is_west = match self.rest.chars().next() {
                    Some(sign @ ('+' | '-' | ' ')) => sign == '-',
                    _ => self.extra > 0 && passed.ends_with('-'),
                };
                self.read.zone_sign = if is_west { -1 } else { 1 };
                self.rest = self.rest.strip_prefix(['+', '-', ' ']).unwrap_or(self.rest);
                self.read.zone_hour = self.number(2, name, slurps)?.0;
            }
            Field::ZoneMinute => {
                self.read.zone_sign = if self.read.zone_sign == 0 { 1 } else { self.read.zone_sign };
                self.read.zone_minute = self.number(2, name, slurps)?.0;
            }
            Field::MonthName => self.read.month = self.one_of(&MONTHS, name)? + 1,
            Field::MonthShort => {
                let short: Vec<&str> = MONTHS.iter().map(|month| &month[..3]).collect();
                self.read.month = self.one_of(&short, name)? + 1;
            }
            Field::RomanMonth => self.read.month = self.one_of(&ROMAN, name)? + 1,
            Field::MonthNumber => self.read.month = self.number(2, name, slurps)?.0,
            Field::Day => self.read.day_of_week = self.one_of(&WEEKDAYS, name)? + 1,
            Field::DayShort => {
                let short: Vec<&str> = WEEKDAYS.iter().map(|day| &day[..3]).collect();
                self.read.day_of_week = self.one_of(&short, name)? + 1;
            }
            Field::DayOfYear | Field::IsoDayOfYear => self.read.day_of_year = self.number(3, name, slurps)?.0,
            Field::DayOfMonth => self.read.day = self.number(2, name, slurps)?.0,
            Field::DayOfWeek => self.read.day_of_week = self.number(1, name, slurps)?.0,
            Field::IsoDayOfWeek => {
                // Monday is 1 here, and 2 in what `day_of_week` counts.
                let day = self.number(1, name, slurps)?.0;
                self.read.day_of_week = if day >= 7 { 1 } else { day + 1 };
            }
            Field::WeekOfYear | Field::IsoWeek => self.read.week = self.number(2, name, slurps)?.0,
            Field::WeekOfMonth => self.read.week_of_month = self.number(1, name, slurps)?.0,
            Field::Century => self.read.century = self.number(2, name, slurps)?.0,
            Field::Julian => self.read.julian = self.number(7, name, true)?.0,
            Field::YearWithComma => self.year_with_comma(name)?,
            Field::Year(digits) | Field::IsoYear(digits) => {
                let (year, taken) = self.number(digits as usize, name, slurps)?;
                self.read.year = if digits < 4 && taken < 4 { full_year(year) } else { year };
                self.read.year_digits = digits;
            }
        }
        Ok(())
    }

    fn fraction(&mut self, width: usize, name: &str, slurps: bool) -> Result<()> {
        let (value, digits) = self.number(width, name, slurps)?;
        self.read.micros = value * 10i64.pow(6usize.saturating_sub(digits) as u32);
        Ok(())
    }

    fn year_with_comma(&mut self, name: &str) -> Result<()> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &self.rest[digits..];
        let last = rest.strip_prefix(',').and_then(|rest| rest.get(..3));
        let thousands = self.rest[..digits].parse::<i64>().ok();
        match (thousands, last.and_then(|last| last.parse::<i64>().ok())) {
            (Some(thousands), Some(last)) => {
                self.read.year = thousands * 1000 + last;
                self.read.year_digits = 4;
                self.rest = &rest[4..];
                Ok(())
            }
            _ => Err(invalid(format!("invalid input string for \"{name}\""))),
        }
    }
}

/// How long the integer at the beginning is, its sign included.
fn integer_prefix(text: &str) -> usize {
    let sign = usize::from(text.starts_with(['+', '-']));
    match text[sign..].bytes().take_while(u8::is_ascii_digit).count() {
        0 => 0,
        digits => sign + digits,
    }
}

/// Years of fewer than four digits are near 2020.
fn full_year(year: i64) -> i64 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}
