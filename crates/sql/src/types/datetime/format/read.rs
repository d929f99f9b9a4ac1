//! Text → dates and times, by a template.

use super::template::{self, Field, MONTHS, Piece, ROMAN, WEEKDAYS};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Env;
use crate::types::datetime::arithmetic::timestamp_out_of_range;
use crate::types::datetime::calendar::{self, Civil, SECOND, days_in_month, to_days};
use crate::types::datetime::zone;

/// `to_timestamp(text, template)`: an instant; without a zone in the text, the connection's.
pub fn to_timestamp(text: &str, template: &str, env: &dyn Env) -> Result<i64> {
    let read = Read::of(text, template)?;
    let civil = read.resolve(text)?;
    let local = civil.micros().ok_or_else(timestamp_out_of_range)?;
    let east = match read.offset()? {
        Some(east) => east,
        None => zone::of_setting(&env.settings().time_zone).offset_of_local(local.div_euclid(SECOND)),
    };
    let instant = i128::from(local) - i128::from(east) * i128::from(SECOND);
    calendar::in_range(instant).ok_or_else(timestamp_out_of_range)
}

/// `to_date(text, template)`
pub fn to_date(text: &str, template: &str) -> Result<i32> {
    let days = Read::of(text, template)?.resolve(text)?.days();
    if (calendar::FIRST_DATE..calendar::END_DATE).contains(&days) {
        return Ok(days as i32);
    }
    Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\"")))
}

/// What the fields of a text are; a field that is not there is zero.
#[derive(Clone, Debug, Default)]
struct Read {
    hour: i64,
    afternoon: bool,
    twelve_hours: bool,
    minute: i64,
    second: i64,
    second_of_day: i64,
    micros: i64,
    millis: i64,
    day_of_week: i64,
    day: i64,
    day_of_year: i64,
    month: i64,
    week: i64,
    week_of_month: i64,
    year: i64,
    year_digits: u32,
    before_christ: bool,
    century: i64,
    julian: i64,
    zone_sign: i64,
    zone_hour: i64,
    zone_minute: i64,
    iso: Option<bool>,
}

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_DATETIME_FORMAT, message)
}

impl Read {
    fn of(text: &str, template: &str) -> Result<Read> {
        let pieces = template::parse(template);
        let mut reader = Reader { rest: text, read: Read::default(), exact: false, extra: 0 };
        for (at, piece) in pieces.iter().enumerate() {
            if reader.rest.is_empty() {
                break;
            }
            reader.piece(piece, at == 0, slurps(&pieces[at + 1..]))?;
        }
        Ok(reader.read)
    }

    fn offset(&self) -> Result<Option<i32>> {
        if self.zone_sign == 0 {
            return Ok(None);
        }
        if self.zone_hour > 15 || self.zone_minute > 59 {
            return Err(SqlError::with_code("22009", "time zone displacement out of range"));
        }
        Ok(Some((self.zone_sign * (self.zone_hour * 3600 + self.zone_minute * 60)) as i32))
    }

    /// The point that the fields describe.
    fn resolve(&self, text: &str) -> Result<Civil> {
        let overflow = || {
            SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""))
        };
        let (hour, minute, second) = self.time()?;
        let (year, month, day) = self.date(&overflow)?;
        if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
            return Err(overflow());
        }
        let micros = self.micros + self.millis * 1000;
        if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..60).contains(&second) || micros >= SECOND {
            return Err(overflow());
        }
        Ok(Civil { year, month, day, hour, minute, second, micros })
    }

    fn time(&self) -> Result<(i64, i64, i64)> {
        let (mut hour, mut minute, mut second) = (0, 0, 0);
        if self.second_of_day != 0 {
            let all = self.second_of_day;
            (hour, minute, second) = (all / 3600, all / 60 % 60, all % 60);
        }
        second = if self.second != 0 { self.second } else { second };
        minute = if self.minute != 0 { self.minute } else { minute };
        hour = if self.hour != 0 { self.hour } else { hour };
        if self.twelve_hours {
            if !(1..=12).contains(&hour) {
                return Err(invalid(format!("hour \"{hour}\" is invalid for the 12-hour clock"))
                    .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
            }
            match (self.afternoon, hour) {
                (true, 1..12) => hour += 12,
                (false, 12) => hour = 0,
                _ => {}
            }
        }
        Ok((hour, minute, second))
    }

    fn date(&self, overflow: &dyn Fn() -> SqlError) -> Result<(i64, i64, i64)> {
        let mut year = self.full_year();
        let (mut month, mut day) = (1, 1);
        let mut day_of_year = self.day_of_year;
        if self.julian != 0 {
            (year, month, day) = calendar::from_days(self.julian - calendar::EPOCH_JULIAN);
        }
        let mut week_day = self.day;
        if self.week != 0 {
            if self.iso == Some(true) {
                let monday = calendar::iso_week_start(year, self.week);
                let ahead = if self.day_of_week == 0 { 0 } else { (self.day_of_week + 5) % 7 };
                (year, month, day) = calendar::from_days(monday + ahead);
            } else {
                day_of_year = (self.week - 1) * 7 + 1;
            }
        }
        if self.week_of_month != 0 {
            week_day = (self.week_of_month - 1) * 7 + 1;
        }
        if week_day != 0 {
            day = week_day;
        }
        if self.month != 0 {
            month = self.month;
        }
        if day_of_year != 0 && (month <= 1 || day <= 1) && self.month == 0 && week_day == 0 {
            if year == 0 && !self.before_christ {
                return Err(invalid("cannot calculate day of year without year information".to_owned()));
            }
            let (start, most) = match self.iso {
                Some(true) => (calendar::iso_week_start(year, 1), 371),
                _ => (to_days(year, 1, 1), 365 + i64::from(calendar::is_leap(year))),
            };
            if !(1..=most).contains(&day_of_year) {
                return Err(overflow());
            }
            (year, month, day) = calendar::from_days(start + day_of_year - 1);
        }
        Ok((year, month, day))
    }

    /// The year, in astronomical counting.
    fn full_year(&self) -> i64 {
        let astronomical = |year: i64| if year < 0 { year + 1 } else { year };
        if self.year != 0 || self.year_digits > 0 {
            if self.century != 0 && self.year_digits <= 2 {
                let century = if self.before_christ { -self.century } else { self.century };
                let last = self.year % 100;
                return if century >= 0 {
                    if last == 0 { century * 100 } else { (century - 1) * 100 + last }
                } else {
                    (century + 1) * 100 - last + 1
                };
            }
            return astronomical(if self.before_christ { -self.year } else { self.year });
        }
        match if self.before_christ { -self.century } else { self.century } {
            0 => 0,
            century @ 1.. => (century - 1) * 100 + 1,
            century => century * 100 + 1,
        }
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
        if iso || gregorian {
            if *self.read.iso.get_or_insert(iso) != iso {
                return Err(invalid("invalid combination of date conventions".to_owned())
                    .hint("Do not mix Gregorian and ISO week date conventions in a formatting template."));
            }
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
            Field::Fraction(digits) => self.fraction(digits as usize, name, slurps)?,
            Field::ZoneName | Field::Offset => {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("formatting field \"{}\" is only supported in to_char", name.to_uppercase()),
                ));
            }
            Field::ZoneHour => {
                self.read.zone_sign = if self.rest.starts_with('-') { -1 } else { 1 };
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
        let scale = 10f64.powi(6 - digits as i32);
        self.read.micros = (value as f64 * scale).round_ties_even() as i64;
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
