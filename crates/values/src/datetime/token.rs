//! Date and time text → fields: numbers, words, dates, times, offsets, by how they look.

/// Most fields that one value has.
const MAX_FIELDS: usize = 25;

/// How a field looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    /// Digits, perhaps with a point.
    Number,
    /// Letters.
    Word,
    /// Parts with `-`, `/` or `.` between them: a date, or the name of a time zone.
    Date,
    /// Digits with colons.
    Time,
    /// A sign and digits: an offset from UTC, or a signed number of an interval.
    Signed,
    /// A sign and letters.
    SignedWord,
}

/// A field, its letters in lower case.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub look: Look,
    pub text: String,
}

/// Splits a text; `None` if something in it belongs nowhere. `is_keyword` knows the words that a number may follow at once,
/// as in `T0405`; other words that a digit or plus follows are names of time zones.
pub(super) fn fields(text: &str, is_keyword: fn(&str) -> bool) -> Option<Vec<Field>> {
    let mut scanner = Scanner { rest: text.as_bytes() };
    let mut fields = Vec::new();
    while let Some(&first) = scanner.rest.first() {
        let (look, field) = match first {
            _ if is_space(first) => {
                scanner.rest = &scanner.rest[1..];
                continue;
            }
            b'0'..=b'9' => scanner.number_like(),
            b'.' => {
                let mut field = scanner.take(1);
                field.push_str(&scanner.take_while(|byte| byte.is_ascii_digit()));
                (Look::Number, field)
            }
            _ if first.is_ascii_alphabetic() => scanner.word_like(is_keyword),
            b'+' | b'-' => scanner.signed()?,
            _ if first.is_ascii_punctuation() => {
                scanner.rest = &scanner.rest[1..];
                continue;
            }
            _ => return None,
        };
        fields.push(Field { look, text: field });
        if fields.len() > MAX_FIELDS {
            return None;
        }
    }
    Some(fields)
}

pub(super) fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

struct Scanner<'a> {
    rest: &'a [u8],
}

impl Scanner<'_> {
    fn take(&mut self, count: usize) -> String {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken.iter().map(|byte| byte.to_ascii_lowercase() as char).collect()
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> String {
        self.take(self.rest.iter().take_while(|byte| wanted(**byte)).count())
    }

    fn peek(&self) -> u8 {
        self.rest.first().copied().unwrap_or(0)
    }

    fn number_like(&mut self) -> (Look, String) {
        let mut field = self.take_while(|byte| byte.is_ascii_digit());
        match self.peek() {
            b':' => {
                field.push_str(&self.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.')));
                (Look::Time, field)
            }
            delimiter @ (b'-' | b'/' | b'.') => {
                field.push_str(&self.take(1));
                if !self.peek().is_ascii_digit() {
                    field.push_str(&self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == delimiter));
                    return (if delimiter == b'.' && field.ends_with('.') { Look::Number } else { Look::Date }, field);
                }
                let mut look = if delimiter == b'.' { Look::Number } else { Look::Date };
                field.push_str(&self.take_while(|byte| byte.is_ascii_digit()));
                if self.peek() == delimiter {
                    look = Look::Date;
                    field.push_str(&self.take_while(|byte| byte.is_ascii_digit() || byte == delimiter));
                }
                (look, field)
            }
            _ => (Look::Number, field),
        }
    }

    fn word_like(&mut self, is_keyword: fn(&str) -> bool) -> (Look, String) {
        let mut field = self.take_while(|byte| byte.is_ascii_alphabetic());
        let name = match self.peek() {
            b'-' | b'/' | b'.' => true,
            b'+' | b'0'..=b'9' => !is_keyword(&field),
            _ => false,
        };
        if !name {
            return (Look::Word, field);
        }
        let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'/' | b'_' | b'.' | b':');
        field.push_str(&self.take_while(part));
        (Look::Date, field)
    }

    fn signed(&mut self) -> Option<(Look, String)> {
        let mut field = self.take(1);
        self.take_while(is_space);
        let next = self.peek();
        if next.is_ascii_digit() {
            field.push_str(&self.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-')));
            return Some((Look::Signed, field));
        }
        if next.is_ascii_alphabetic() {
            field.push_str(&self.take_while(|byte| byte.is_ascii_alphabetic()));
            return Some((Look::SignedWord, field));
        }
        None
    }
}
