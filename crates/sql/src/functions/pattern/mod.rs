//! Patterns: LIKE, SIMILAR TO and regular expressions.

pub(super) mod like;
pub(super) mod regex;
