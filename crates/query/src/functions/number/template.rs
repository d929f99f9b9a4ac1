//! Templates of numbers.

use crate::budget;
use crate::error::{Result, SqlError, SqlState};

/// What it takes to find out what a template goes on with, in units of [`crate::budget`].
const ITEM_WORK: usize = 50;

/// What stands at a place of a template.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Item {
    /// `9`, or `0` (which is shown even where the number has no digit).
    Digit { zero: bool },
    /// `.` and `D`
    Point,
    /// `,` and `G`
    Group,
    /// `L`
    Currency,
    /// `MI`
    Minus,
    /// `PL`
    Plus,
    /// `SG`
    Sign,
    /// `TH` and `th`
    Ordinal { upper: bool },
    /// `RN` and `rn`
    Roman { upper: bool },
    /// Everything else.
    Literal(char),
}

/// Where `S` writes the sign.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Anchor {
    None,
    Before,
    After,
}

/// A template that was read.
#[derive(Debug)]
pub(super) struct Template {
    pub items: Vec<Item>,
    /// Digits before and after the point.
    pub before: usize,
    pub after: usize,
    /// The number is multiplied by ten to this (`V`).
    pub shift: usize,
    pub has_point: bool,
    /// `FM`
    pub fill: bool,
    /// `PR`
    pub brackets: bool,
    pub sign: Anchor,
    pub minus: bool,
    pub plus: bool,
    pub roman: bool,
    /// `EEEE`
    pub scientific: bool,
    /// The place of the first `0`, if that is before the point: from there on zeros are shown.
    pub first_zero: Option<usize>,
    /// How many digits, before and after the point, there are up to the last `0`.
    pub last_zero: usize,
}

/// The keywords, longest first.
const KEYWORDS: &[&str] = &["EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "TH", "B", "C", "D", "G", "L", "S", "V"];

fn error(message: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

impl Template {
    pub fn parse(text: &str) -> Result<Template> {
        let mut template = Template {
            items: Vec::new(),
            before: 0,
            after: 0,
            shift: 0,
            has_point: false,
            fill: false,
            brackets: false,
            sign: Anchor::None,
            minus: false,
            plus: false,
            roman: false,
            scientific: false,
            first_zero: None,
            last_zero: 0,
        };
        let mut shifting = false;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            budget::step(ITEM_WORK)?;
            if c == '"' {
                rest = template.quoted(&rest[1..]);
                continue;
            }
            if c == '\\' && rest[1..].starts_with('"') {
                template.items.push(Item::Literal('"'));
                rest = &rest[2..];
                continue;
            }
            if let Some(keyword) = keyword(rest) {
                let lower = rest.starts_with(|c: char| c.is_ascii_lowercase());
                template.keyword(keyword, lower, &mut shifting)?;
                rest = &rest[keyword.len()..];
                continue;
            }
            template.character(c, shifting)?;
            rest = &rest[c.len_utf8()..];
        }
        Ok(template)
    }

    /// Text in double quotes, taken as it is; a backslash takes the next character as it is.
    fn quoted<'a>(&mut self, text: &'a str) -> &'a str {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => self.items.extend(chars.next().map(Item::Literal)),
                c => self.items.push(Item::Literal(c)),
            }
        }
        chars.as_str()
    }

    fn character(&mut self, c: char, shifting: bool) -> Result<()> {
        match c {
            '9' | '0' => self.digit(c == '0', shifting)?,
            '.' => self.point()?,
            ',' => self.items.push(Item::Group),
            c => self.items.push(Item::Literal(c)),
        }
        Ok(())
    }

    fn digit(&mut self, zero: bool, shifting: bool) -> Result<()> {
        if self.brackets {
            return Err(error("\"9\" must be ahead of \"PR\""));
        }
        if zero && !self.has_point && self.first_zero.is_none() {
            self.first_zero = Some(self.before + self.shift);
        }
        if shifting {
            self.shift += 1;
        } else if self.has_point {
            self.after += 1;
        } else {
            self.before += 1;
        }
        if zero {
            self.last_zero = self.before + self.shift + self.after;
        }
        self.items.push(Item::Digit { zero });
        Ok(())
    }

    fn point(&mut self) -> Result<()> {
        if self.has_point {
            return Err(error("multiple decimal points"));
        }
        if self.shift > 0 {
            return Err(error("cannot use \"V\" and decimal point together"));
        }
        self.has_point = true;
        self.items.push(Item::Point);
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, lower: bool, shifting: &mut bool) -> Result<()> {
        match keyword {
            "FM" => self.fill = true,
            "B" | "C" => {}
            "D" => return self.point(),
            "G" => self.items.push(Item::Group),
            "L" => self.items.push(Item::Currency),
            "MI" | "PL" | "SG" if self.sign != Anchor::None => {
                return Err(error(&format!("cannot use \"S\" and \"{keyword}\" together")));
            }
            "MI" => {
                self.minus = true;
                self.items.push(Item::Minus);
            }
            "PL" => {
                self.plus = true;
                self.items.push(Item::Plus);
            }
            "SG" => {
                (self.minus, self.plus) = (true, true);
                self.items.push(Item::Sign);
            }
            "S" => {
                if self.sign != Anchor::None {
                    return Err(error("cannot use \"S\" twice"));
                }
                if self.plus || self.minus || self.brackets {
                    return Err(error("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
                }
                self.sign = if self.before + self.after == 0 { Anchor::Before } else { Anchor::After };
            }
            "PR" => {
                if self.sign != Anchor::None || self.plus || self.minus {
                    return Err(error("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
                }
                self.brackets = true;
            }
            "RN" => {
                self.roman = true;
                self.items.push(Item::Roman { upper: !lower });
            }
            "TH" => self.items.push(Item::Ordinal { upper: !lower }),
            "V" => {
                if self.has_point {
                    return Err(error("cannot use \"V\" and decimal point together"));
                }
                *shifting = true;
            }
            _ => {
                if self.scientific {
                    return Err(error("cannot use \"EEEE\" twice"));
                }
                if self.fill || self.brackets || self.roman || self.minus || self.plus || self.sign != Anchor::None {
                    return Err(error("\"EEEE\" is incompatible with other formats")
                        .detail("\"EEEE\" may only be used together with digit and decimal point patterns."));
                }
                self.scientific = true;
            }
        }
        if self.scientific && keyword != "EEEE" {
            return Err(error("\"EEEE\" must be the last pattern used"));
        }
        Ok(())
    }
}

fn keyword(text: &str) -> Option<&'static str> {
    KEYWORDS.iter().copied().find(|keyword| {
        text.get(..keyword.len()).is_some_and(|start| start == *keyword || start == keyword.to_ascii_lowercase())
    })
}
