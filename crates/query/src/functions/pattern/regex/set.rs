//! Sets of characters: brackets, classes and escapes.

use crate::functions::text::basic::{to_lower, to_upper};

/// A named class of characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Xdigit,
    Word,
}

impl Class {
    pub fn named(name: &str) -> Option<Class> {
        Some(match name {
            "alnum" => Class::Alnum,
            "alpha" => Class::Alpha,
            "ascii" => Class::Ascii,
            "blank" => Class::Blank,
            "cntrl" => Class::Cntrl,
            "digit" => Class::Digit,
            "graph" => Class::Graph,
            "lower" => Class::Lower,
            "print" => Class::Print,
            "punct" => Class::Punct,
            "space" => Class::Space,
            "upper" => Class::Upper,
            "xdigit" => Class::Xdigit,
            "word" => Class::Word,
            _ => return None,
        })
    }

    fn contains(self, c: char) -> bool {
        match self {
            Class::Alnum => c.is_alphanumeric(),
            Class::Alpha => c.is_alphabetic(),
            Class::Ascii => c.is_ascii(),
            Class::Blank => c == ' ' || c == '\t',
            Class::Cntrl => c.is_control(),
            Class::Digit => c.is_ascii_digit(),
            Class::Graph => !c.is_control() && !c.is_whitespace(),
            Class::Lower => c.is_lowercase(),
            Class::Print => !c.is_control(),
            Class::Punct => c.is_ascii_punctuation() || !(c.is_ascii() || c.is_alphanumeric() || is_blank(c)),
            Class::Space => c.is_whitespace(),
            Class::Upper => c.is_uppercase(),
            Class::Xdigit => c.is_ascii_hexdigit(),
            Class::Word => is_word(c),
        }
    }
}

fn is_blank(c: char) -> bool {
    c.is_control() || c.is_whitespace()
}

/// Whether a character is part of a word, for `\w`, `\y`, `\m`.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A part of a set.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Item {
    Range(char, char),
    Class(Class),
    NotClass(Class),
}

/// A set of characters.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Set {
    pub items: Vec<Item>,
    pub negated: bool,
    pub ignore_case: bool,
    /// Never matches a newline.
    pub not_newline: bool,
}

impl Set {
    pub fn one(c: char, ignore_case: bool) -> Set {
        Set { items: vec![Item::Range(c, c)], ignore_case, ..Set::default() }
    }

    pub fn contains(&self, c: char) -> bool {
        if self.not_newline && c == '\n' {
            return false;
        }
        let found = self.listed(c) || self.ignore_case && (self.listed(to_lower(c)) || self.listed(to_upper(c)));
        found != self.negated
    }

    fn listed(&self, c: char) -> bool {
        self.items.iter().any(|item| match item {
            Item::Range(from, to) => (*from..=*to).contains(&c),
            Item::Class(class) => class.contains(c),
            Item::NotClass(class) => !class.contains(c),
        })
    }
}
