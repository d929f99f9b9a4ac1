//! The Gregorian calendar, extended to all years: dates to and from days since 2000-01-01.
//!
//! Years are astronomical: 0 is 1 BC, -1 is 2 BC.

/// `2000-01-01` as a Julian day.
pub const EPOCH_JULIAN: i64 = 2_451_545;
/// The first day of a date: Julian day 0, 4714-11-24 BC.
pub const FIRST_DATE: i64 = -EPOCH_JULIAN;
/// The day after the last day of a date, 5874897-12-31.
pub const END_DATE: i64 = 2_147_483_494 - EPOCH_JULIAN;

/// Microseconds.
pub const SECOND: i64 = 1_000_000;
/// Microseconds.
pub const MINUTE: i64 = 60 * SECOND;
/// Microseconds.
pub const HOUR: i64 = 60 * MINUTE;
/// Microseconds.
pub const DAY: i64 = 24 * HOUR;

/// The first microsecond of a timestamp.
pub const FIRST_TIMESTAMP: i64 = -211_813_488_000_000_000;
/// The microsecond after the last one of a timestamp.
pub const END_TIMESTAMP: i64 = 9_223_371_331_200_000_000;

/// Days of 400 years.
const ERA: i64 = 146_097;
/// From 0000-03-01 to 2000-01-01.
const MARCH_EPOCH: i64 = 730_425;

/// Whether a year has a February 29.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// How many days a month has.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 2000-01-01 of a date. Months and days beyond their range count on.
pub fn to_days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day at the end.
    let months = year * 12 + month - 3;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - MARCH_EPOCH
}

/// Year, month and day of days since 2000-01-01.
pub fn from_days(days: i64) -> (i64, i64, i64) {
    let days = days + MARCH_EPOCH;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let months = (era * 400 + year) * 12 + month + 2;
    (months.div_euclid(12), months.rem_euclid(12) + 1, day)
}

/// The weekday, 0 is Sunday.
pub fn weekday(days: i64) -> i64 {
    // 2000-01-01 was a Saturday.
    (days + 6).rem_euclid(7)
}

/// The day of the year, from 1.
pub fn day_of_year(days: i64) -> i64 {
    days - to_days(from_days(days).0, 1, 1) + 1
}

/// The year and week (from 1) of ISO 8601: weeks begin on Monday, the first has the year's first Thursday.
pub fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days - (weekday(days) + 6) % 7 + 3;
    let (year, ..) = from_days(thursday);
    (year, (thursday - to_days(year, 1, 1)) / 7 + 1)
}

/// The Monday of a week of ISO 8601.
pub fn iso_week_start(year: i64, week: i64) -> i64 {
    let fourth = to_days(year, 1, 4);
    fourth - (weekday(fourth) + 6) % 7 + (week - 1) * 7
}

/// A point in time by calendar and clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub micros: i64,
}

impl Civil {
    /// Of microseconds since 2000-01-01.
    pub fn of(micros: i64) -> Civil {
        let (days, time) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
        let (year, month, day) = from_days(days);
        let (hour, minute, second, micros) = clock(time);
        Civil { year, month, day, hour, minute, second, micros }
    }

    /// Days since 2000-01-01.
    pub fn days(&self) -> i64 {
        to_days(self.year, self.month, self.day)
    }

    /// Microseconds since midnight.
    pub fn time(&self) -> i64 {
        self.hour * HOUR + self.minute * MINUTE + self.second * SECOND + self.micros
    }

    /// Microseconds since 2000-01-01; `None` if no timestamp is so far away.
    pub fn micros(&self) -> Option<i64> {
        timestamp(self.days(), self.time())
    }
}

/// Hours, minutes, seconds and microseconds of microseconds.
pub fn clock(micros: i64) -> (i64, i64, i64, i64) {
    (micros / HOUR, micros / MINUTE % 60, micros / SECOND % 60, micros % SECOND)
}

/// A timestamp of days and microseconds, if it is within range.
pub fn timestamp(days: i64, time: i64) -> Option<i64> {
    in_range(i128::from(days) * i128::from(DAY) + i128::from(time))
}

/// A timestamp of microseconds, if it is within range.
pub fn in_range(micros: i128) -> Option<i64> {
    i64::try_from(micros).ok().filter(|micros| (FIRST_TIMESTAMP..END_TIMESTAMP).contains(micros))
}
