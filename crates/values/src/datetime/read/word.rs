//! The fields of a text that are words: months, zones, `today`, `infinity`.

use super::{Bad, Moment, Reader, Want, seen};
use crate::datetime::calendar::{self, Civil, DAY, SECOND};
use crate::datetime::token::{Field, Look};
use crate::datetime::words::{self, Word};
use crate::datetime::zone::{self, Place};

impl Reader<'_> {
    pub(super) fn word(&mut self, text: &str, at: usize, fields: &[Field]) -> Result<(), Bad> {
        if self.prefix.is_some() {
            return Err(Bad::Format);
        }
        if let Some(place) = zone::abbreviated(text) {
            self.note(seen::ZONE)?;
            self.place = Some(place);
            return Ok(());
        }
        let Some(word) = words::lookup(text) else {
            let found = zone::find(text).ok_or(Bad::Format)?;
            self.note(seen::ZONE)?;
            self.place = Some(Place::Zone(found));
            return Ok(());
        };
        match word {
            Word::Filler => Ok(()),
            Word::Month(month) => {
                let swapped = self.has(seen::MONTH) && !self.text_month && self.seen & seen::DAY == 0;
                if swapped && (1..=31).contains(&self.civil.month) {
                    self.civil.day = self.civil.month;
                    self.note(seen::DAY)?;
                } else {
                    self.note(seen::MONTH)?;
                }
                self.civil.month = month;
                self.text_month = true;
                Ok(())
            }
            Word::Weekday => self.note(seen::WEEKDAY),
            Word::Morning | Word::Afternoon => {
                self.afternoon = Some(word == Word::Afternoon);
                self.note(seen::HALF)
            }
            Word::BeforeChrist | Word::AnnoDomini => {
                self.before_christ = word == Word::BeforeChrist;
                self.note(seen::ERA)
            }
            Word::Summer => {
                self.summer = true;
                self.note(seen::SUMMER)
            }
            Word::Julian | Word::Time => self.announce(word, at, fields),
            Word::Unit => Err(Bad::Format),
            _ => self.special(word),
        }
    }

    /// A word that says what the next field is.
    pub(super) fn announce(&mut self, word: Word, at: usize, fields: &[Field]) -> Result<(), Bad> {
        if word == Word::Time {
            let follows = fields.get(at + 1).map(|next| next.look);
            let valid = matches!(follows, Some(Look::Number | Look::Time | Look::Date));
            if !valid || (self.want == Want::Date && !self.has(seen::DATE)) {
                return Err(Bad::Format);
            }
        }
        self.prefix = Some(word);
        Ok(())
    }

    pub(super) fn special(&mut self, word: Word) -> Result<(), Bad> {
        let zone = zone::of_setting(&self.env.settings().time_zone);
        let now = self.env.transaction_time();
        let local = now + i64::from(zone.at(now.div_euclid(SECOND)).offset) * SECOND;
        let today = local.div_euclid(DAY);
        match word {
            Word::Now => {
                self.note(seen::DATE | seen::TIME | seen::ZONE)?;
                self.civil = Civil::of(local);
                self.place = Some(Place::Offset(zone.at(now.div_euclid(SECOND)).offset));
                self.julian = true;
            }
            Word::Today | Word::Tomorrow | Word::Yesterday => {
                self.note(seen::DATE)?;
                let day = today + if word == Word::Tomorrow { 1 } else { -i64::from(word == Word::Yesterday) };
                (self.civil.year, self.civil.month, self.civil.day) = calendar::from_days(day);
                self.julian = true;
            }
            Word::AllBalls => {
                self.note(seen::TIME | seen::ZONE)?;
                self.place = Some(Place::Offset(0));
            }
            _ => {
                if self.want == Want::Time {
                    return Err(Bad::Format);
                }
                self.note(seen::SPECIAL)?;
                self.special = Some(match word {
                    Word::Epoch => Moment::Epoch,
                    Word::Infinity => Moment::Infinity,
                    _ => Moment::MinusInfinity,
                });
            }
        }
        Ok(())
    }
}
