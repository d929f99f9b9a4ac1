//! The operators and functions of regular expressions.

use std::rc::Rc;

use crate::budget::{self, Charge};
use crate::error::{Result, SqlError};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::{f, set};
use crate::functions::pattern::regex::{Flags, Regex, Span, set_flag};
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("~", &[T::NAME, T::TEXT], T::BOOL, matches),
    f("~", &[T::TEXT, T::TEXT], T::BOOL, matches),
    f("~", &[T::BPCHAR, T::TEXT], T::BOOL, matches),
    f("!~", &[T::NAME, T::TEXT], T::BOOL, differs),
    f("!~", &[T::TEXT, T::TEXT], T::BOOL, differs),
    f("!~", &[T::BPCHAR, T::TEXT], T::BOOL, differs),
    f("~*", &[T::NAME, T::TEXT], T::BOOL, matches_any_case),
    f("~*", &[T::TEXT, T::TEXT], T::BOOL, matches_any_case),
    f("~*", &[T::BPCHAR, T::TEXT], T::BOOL, matches_any_case),
    f("!~*", &[T::NAME, T::TEXT], T::BOOL, differs_any_case),
    f("!~*", &[T::TEXT, T::TEXT], T::BOOL, differs_any_case),
    f("!~*", &[T::BPCHAR, T::TEXT], T::BOOL, differs_any_case),
];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("regexp_like", &[T::TEXT, T::TEXT], T::BOOL, regexp_like),
    f("regexp_like", &[T::TEXT, T::TEXT, T::TEXT], T::BOOL, regexp_like),
    f("regexp_match", &[T::TEXT, T::TEXT], T::TEXT_ARRAY, regexp_match),
    f("regexp_match", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT_ARRAY, regexp_match),
    set("regexp_matches", &[T::TEXT, T::TEXT], T::TEXT_ARRAY, regexp_matches),
    set("regexp_matches", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT_ARRAY, regexp_matches),
    f("regexp_split_to_array", &[T::TEXT, T::TEXT], T::TEXT_ARRAY, split_to_array),
    f("regexp_split_to_array", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT_ARRAY, split_to_array),
    set("regexp_split_to_table", &[T::TEXT, T::TEXT], T::TEXT, split_to_table),
    set("regexp_split_to_table", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT, split_to_table),
    f("regexp_count", &[T::TEXT, T::TEXT], T::INT4, regexp_count),
    f("regexp_count", &[T::TEXT, T::TEXT, T::INT4], T::INT4, regexp_count),
    f("regexp_count", &[T::TEXT, T::TEXT, T::INT4, T::TEXT], T::INT4, regexp_count),
    f("regexp_instr", &[T::TEXT, T::TEXT], T::INT4, regexp_instr),
    f("regexp_instr", &[T::TEXT, T::TEXT, T::INT4], T::INT4, regexp_instr),
    f("regexp_instr", &[T::TEXT, T::TEXT, T::INT4, T::INT4], T::INT4, regexp_instr),
    f("regexp_instr", &[T::TEXT, T::TEXT, T::INT4, T::INT4, T::INT4], T::INT4, regexp_instr),
    f("regexp_instr", &[T::TEXT, T::TEXT, T::INT4, T::INT4, T::INT4, T::TEXT], T::INT4, regexp_instr),
    f("regexp_instr", &[T::TEXT, T::TEXT, T::INT4, T::INT4, T::INT4, T::TEXT, T::INT4], T::INT4, regexp_instr),
    f("regexp_substr", &[T::TEXT, T::TEXT], T::TEXT, regexp_substr),
    f("regexp_substr", &[T::TEXT, T::TEXT, T::INT4], T::TEXT, regexp_substr),
    f("regexp_substr", &[T::TEXT, T::TEXT, T::INT4, T::INT4], T::TEXT, regexp_substr),
    f("regexp_substr", &[T::TEXT, T::TEXT, T::INT4, T::INT4, T::TEXT], T::TEXT, regexp_substr),
    f("regexp_substr", &[T::TEXT, T::TEXT, T::INT4, T::INT4, T::TEXT, T::INT4], T::TEXT, regexp_substr),
    f("substring", &[T::TEXT, T::TEXT], T::TEXT, substring),
    f("textregexeq", &[T::TEXT, T::TEXT], T::BOOL, matches),
    f("textregexne", &[T::TEXT, T::TEXT], T::BOOL, differs),
];

/// A text and a pattern, ready to be matched.
pub(super) struct Subject {
    pub text: Vec<char>,
    pub regex: Rc<Regex>,
    /// The flag `g`: every match rather than the first.
    pub global: bool,
}

impl Subject {
    fn new(text: &str, pattern: &str, flags: &str) -> Result<Subject> {
        let (flags, global) = read_flags(flags)?;
        budget::fits(text.len().saturating_mul(size_of::<char>()))?;
        Ok(Subject { text: text.chars().collect(), regex: Regex::cached(pattern, flags)?, global })
    }

    /// `f(text, pattern[, flags])`; `g` is refused with this function's name where it makes no sense.
    fn with_flags(args: &[Datum], refuse_global: Option<&str>) -> Result<Subject> {
        Subject::checked(args, 2, refuse_global)
    }

    /// The same with the flags at another place.
    fn checked(args: &[Datum], flags: usize, refuse_global: Option<&str>) -> Result<Subject> {
        let flags = if args.len() > flags { args.text(flags)? } else { "" };
        let subject = Subject::new(args.text(0)?, args.text(1)?, flags)?;
        match refuse_global {
            Some(name) if subject.global => Err(refused_global(name)),
            _ => Ok(subject),
        }
    }

    /// A part of the text.
    pub fn part(&self, from: usize, to: usize) -> String {
        self.text[from..to].iter().collect()
    }

    fn span(&self, span: Span) -> Datum {
        span.map_or(Datum::Null, |(from, to)| Datum::text(self.part(from, to)))
    }

    /// The groups of a match; the whole if there are none.
    fn groups(&self, spans: &[Span]) -> Datum {
        let wanted = if self.regex.groups() == 0 { spans } else { &spans[1..] };
        Datum::array(T::TEXT, wanted.iter().map(|span| self.span(*span)).collect())
    }

    /// All matches from a place on; after one that took nothing the search goes on a character later.
    pub fn all(&self, from: usize) -> impl Iterator<Item = Vec<Span>> + '_ {
        let mut next = Some(from);
        std::iter::from_fn(move || {
            let start = next.take().filter(|start| *start <= self.text.len())?;
            let spans = self.regex.find(&self.text, start)?;
            let (begin, end) = spans[0]?;
            next = Some(if begin == end { end + 1 } else { end });
            Some(spans)
        })
    }

    /// What is between the matches. Matches that take nothing do not count at the ends and next to another match.
    fn split(&self) -> Result<Vec<Datum>> {
        let mut pieces = Vec::new();
        let mut last = 0;
        for spans in self.all(0) {
            let Some((begin, end)) = spans[0] else { continue };
            if begin < self.text.len() && end > last {
                budget::push(&mut pieces, Datum::text(self.part(last, begin)))?;
                last = end;
            }
        }
        pieces.push(Datum::text(self.part(last, self.text.len())));
        Ok(pieces)
    }
}

/// The flags of the functions: those of patterns, and `g`.
pub(super) fn read_flags(letters: &str) -> Result<(Flags, bool)> {
    let (mut flags, mut global) = (Flags::default(), false);
    for letter in letters.chars() {
        if letter == 'g' {
            global = true;
        } else if !set_flag(&mut flags, letter)? {
            return Err(invalid_parameter(format!("invalid regular expression option: \"{letter}\"")));
        }
    }
    Ok((flags, global))
}

pub(super) fn refused_global(name: &str) -> SqlError {
    let error = invalid_parameter(format!("{name}() does not support the \"global\" option"));
    if name == "regexp_match" { error.hint("Use the regexp_matches function instead.") } else { error }
}

/// A parameter that counts from one.
pub(super) fn positive(args: &[Datum], index: usize, name: &str) -> Result<usize> {
    if args.len() <= index {
        return Ok(1);
    }
    let value = args.int(index)?;
    if value <= 0 {
        return Err(invalid_parameter(format!("invalid value for parameter \"{name}\": {value}")));
    }
    Ok(value as usize)
}

fn is_match(args: &[Datum], ignore_case: bool) -> Result<bool> {
    let regex = Regex::cached(args.text(1)?, Flags { ignore_case, ..Flags::default() })?;
    let text: Vec<char> = args.text(0)?.chars().collect();
    Ok(regex.is_match(&text))
}

fn matches(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    is_match(args, false).map(Datum::Bool)
}

fn differs(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    is_match(args, false).map(|found| Datum::Bool(!found))
}

fn matches_any_case(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    is_match(args, true).map(Datum::Bool)
}

fn differs_any_case(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    is_match(args, true).map(|found| Datum::Bool(!found))
}

fn regexp_like(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let subject = Subject::with_flags(args, Some("regexp_like"))?;
    Ok(Datum::Bool(subject.regex.is_match(&subject.text)))
}

fn regexp_match(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let subject = Subject::with_flags(args, Some("regexp_match"))?;
    let found = subject.regex.find(&subject.text, 0);
    Ok(found.map_or(Datum::Null, |spans| subject.groups(&spans)))
}

fn regexp_matches(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let subject = Subject::with_flags(args, None)?;
    let count = if subject.global { usize::MAX } else { 1 };
    let mut rows = Vec::new();
    let mut memory = Charge::default();
    for spans in subject.all(0).take(count) {
        let groups = subject.groups(&spans);
        memory.add(groups.weight())?;
        budget::push(&mut rows, vec![groups])?;
    }
    Ok(rows)
}

fn split_to_array(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let subject = Subject::with_flags(args, Some("regexp_split_to_array"))?;
    Ok(Datum::array(T::TEXT, subject.split()?))
}

fn split_to_table(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let subject = Subject::with_flags(args, Some("regexp_split_to_table"))?;
    budget::collect(subject.split()?.into_iter().map(|piece| vec![piece]))
}

fn regexp_count(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let start = positive(args, 2, "start")?;
    let subject = Subject::checked(args, 3, Some("regexp_count"))?;
    Ok(Datum::Int(subject.all(start - 1).count() as i64))
}

/// The group of the n-th match that a call asks for.
fn nth(subject: &Subject, start: usize, n: usize, group: i64, name: &str) -> Result<Span> {
    let group = usize::try_from(group)
        .map_err(|_| invalid_parameter(format!("invalid value for parameter \"{name}\": {group}")))?;
    let found = subject.all(start - 1).nth(n - 1);
    Ok(found.and_then(|spans| spans.get(group).copied().flatten()))
}

fn regexp_instr(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (start, n) = (positive(args, 2, "start")?, positive(args, 3, "n")?);
    let end = if args.len() > 4 { args.int(4)? } else { 0 };
    if end != 0 && end != 1 {
        return Err(invalid_parameter(format!("invalid value for parameter \"endoption\": {end}")));
    }
    let subject = Subject::checked(args, 5, Some("regexp_instr"))?;
    let group = if args.len() > 6 { args.int(6)? } else { 0 };
    let span = nth(&subject, start, n, group, "subexpr")?;
    Ok(Datum::Int(span.map_or(0, |(from, to)| if end == 1 { to } else { from } as i64 + 1)))
}

fn regexp_substr(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (start, n) = (positive(args, 2, "start")?, positive(args, 3, "n")?);
    let subject = Subject::checked(args, 4, Some("regexp_substr"))?;
    let group = if args.len() > 5 { args.int(5)? } else { 0 };
    let span = nth(&subject, start, n, group, "subexpr")?;
    Ok(subject.span(span))
}

/// The first group, or the whole match if there is none.
fn substring(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let subject = Subject::new(args.text(0)?, args.text(1)?, "")?;
    let Some(spans) = subject.regex.find(&subject.text, 0) else { return Ok(Datum::Null) };
    Ok(subject.span(*spans.get(1).unwrap_or(&spans[0])))
}
