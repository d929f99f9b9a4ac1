//! The fields of a text → the point in time that they describe.

use crate::datetime::calendar::{self, Civil, SECOND, days_in_month, to_days};
use crate::error::{Result, SqlError, SqlState};

/// What the fields of a text are; a field that is not there is zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Read {
    pub hour: i64,
    pub afternoon: bool,
    pub twelve_hours: bool,
    pub minute: i64,
    pub second: i64,
    pub second_of_day: i64,
    pub micros: i64,
    pub millis: i64,
    pub day_of_week: i64,
    pub day: i64,
    pub day_of_year: i64,
    pub month: i64,
    pub week: i64,
    pub week_of_month: i64,
    pub year: i64,
    pub year_digits: u32,
    pub before_christ: bool,
    pub century: i64,
    pub julian: i64,
    /// How many digits of a second `FF1` to `FF6` ask for.
    pub fraction_digits: Option<u32>,
    pub zone_sign: i64,
    pub zone_hour: i64,
    pub zone_minute: i64,
    pub iso: Option<bool>,
}

pub(super) fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_DATETIME_FORMAT, message)
}

impl Read {
    pub fn offset(&self, text: &str) -> Result<Option<i32>> {
        if self.zone_sign == 0 {
            return Ok(None);
        }
        if self.zone_hour > 15 || self.zone_minute > 59 {
            let message = format!("time zone displacement out of range: \"{text}\"");
            return Err(SqlError::with_code("22009", message));
        }
        Ok(Some((self.zone_sign * (self.zone_hour * 3600 + self.zone_minute * 60)) as i32))
    }

    /// The point that the fields describe.
    pub fn resolve(&self, text: &str) -> Result<Civil> {
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
