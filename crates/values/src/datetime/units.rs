//! The parts of dates and times that `extract` and `date_trunc` name.

use super::read_interval::{self, Unit};

/// A part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Unit(Unit),
    Quarter,
    DayOfWeek,
    IsoDayOfWeek,
    DayOfYear,
    IsoYear,
    Julian,
    Epoch,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
}

impl Part {
    /// The part with this name, in any case.
    pub(super) fn named(name: &str) -> Option<Part> {
        let name = name.to_ascii_lowercase();
        Some(match name.get(..10).unwrap_or(&name) {
            "quarter" | "qtr" => Part::Quarter,
            "dow" => Part::DayOfWeek,
            "isodow" => Part::IsoDayOfWeek,
            "doy" => Part::DayOfYear,
            "isoyear" => Part::IsoYear,
            "julian" | "jd" | "j" => Part::Julian,
            "epoch" => Part::Epoch,
            "timezone" => Part::Timezone,
            "timezone_h" => Part::TimezoneHour,
            "timezone_m" => Part::TimezoneMinute,
            other => Part::Unit(read_interval::named(other)?),
        })
    }

    /// The part with this name, of those that something can be truncated to.
    pub(super) fn to_truncate(name: &str) -> Option<Part> {
        Part::named(name).filter(|part| {
            matches!(part, Part::Unit(_) | Part::Quarter | Part::Timezone | Part::TimezoneHour | Part::TimezoneMinute)
        })
    }
}
