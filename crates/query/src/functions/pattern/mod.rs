//! Patterns: LIKE, SIMILAR TO and regular expressions.

pub(super) mod like;
pub(super) mod matching;
pub(super) mod regex;
pub(super) mod replace;
