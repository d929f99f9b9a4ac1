//! Patterns and texts in, matches out; the answers are PostgreSQL's.

use crate::functions::pattern::regex::{Flags, Regex};

/// The whole match and the groups, `-` for a group that took no part.
fn groups(text: &str, pattern: &str) -> String {
    let regex = match Regex::new(pattern, Flags::default()) {
        Ok(regex) => regex,
        Err(error) => return error.to_string(),
    };
    let chars: Vec<char> = text.chars().collect();
    let Some(spans) = regex.find(&chars, 0) else { return "no".to_owned() };
    assert!(regex.is_match(&chars), "{pattern} finds a match in {text} and must say so");
    let shown = spans.iter().map(|span| match span {
        None => "-".to_owned(),
        Some((from, to)) => chars[*from..*to].iter().collect(),
    });
    shown.collect::<Vec<_>>().join("|")
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (text, pattern, expected) in cases {
        assert_eq!(groups(text, pattern), *expected, "{text} ~ {pattern}");
    }
}

#[test]
fn alternatives_take_the_longest() {
    check(&[
        ("abcd", "a|ab|abc", "abc"),
        ("abcd", "(a|ab)(c|bcd)(d*)", "abcd|ab|c|d"),
        ("xyz", "(x|xy)(z|yz)", "xyz|xy|z"),
        ("foobar", "foo|foobar", "foobar"),
    ]);
}

#[test]
fn a_preference_for_short_matches_spreads() {
    check(&[
        ("XY1234Z", "Y*([0-9]{1,3})", "Y123|123"),
        ("XY1234Z", "Y*?([0-9]{1,3})", "Y1|1"),
        ("abc01234xyz", "(.*)(\\d+)(.*)", "abc01234xyz|abc0123|4|xyz"),
        ("abc01234xyz", "(.*?)(\\d+)(.*)", "abc0|abc|0|"),
        ("abc01234xyz", "(?:(.*?)(\\d+)(.*)){1,1}", "abc01234xyz|abc|01234|xyz"),
    ]);
}

#[test]
fn groups_of_repetitions_are_those_of_the_last_round() {
    check(&[
        ("abab", "(ab)*", "abab|ab"),
        ("aab", "(a|(b))*", "aab|b|b"),
        ("b", "(a)?b", "b|-"),
        ("aab", "(a*)+", "aa|"),
        ("", "(a*)*", "|"),
    ]);
}

#[test]
fn references_repeat_what_a_group_matched() {
    check(&[
        ("abcabc", "(\\w+)\\1", "abcabc|abc"),
        ("abcabd", "^(\\w{3})\\1$", "no"),
        ("aa bb", "(.)\\1 (.)\\2", "aa bb|a|b"),
        ("x", "\\1", "2201B: invalid regular expression: invalid backreference number"),
    ]);
}

#[test]
fn lookaround_takes_nothing() {
    check(&[
        ("foobar", "foo(?=bar)", "foo"),
        ("foobaz", "foo(?!bar)", "foo"),
        ("price 42", "(?<=price )\\d+", "42"),
        ("cost 42", "(?<!price )\\d+", "42"),
    ]);
}

#[test]
fn classes_escapes_and_places() {
    check(&[
        ("foo bar", "\\mbar\\M", "bar"),
        ("foobar", "\\ybar", "no"),
        ("a\nb", "a.b", "a\nb"),
        ("a\nb", "(?n)^b", "b"),
        ("ABC", "(?i)abc", "ABC"),
        ("a]b", "[]]", "]"),
        ("a-b", "[a-]+", "a-"),
        ("tab\there", "[[:space:]]", "\t"),
        ("x{y", "x{y", "x{y"),
        ("a.c", "***=a.c", "a.c"),
        ("été", "\\w+", "été"),
        ("\u{41}", "\\x41", "A"),
    ]);
}

#[test]
fn what_is_wrong_is_said() {
    check(&[
        ("", "(", "2201B: invalid regular expression: parentheses () not balanced"),
        ("", ")", "2201B: invalid regular expression: parentheses () not balanced"),
        ("", "[a", "2201B: invalid regular expression: brackets [] not balanced"),
        ("", "*a", "2201B: invalid regular expression: quantifier operand invalid"),
        ("", "a**", "2201B: invalid regular expression: quantifier operand invalid"),
        ("", "a{2,1}", "2201B: invalid regular expression: invalid repetition count(s)"),
        ("", "a{300}", "2201B: invalid regular expression: invalid repetition count(s)"),
        ("", "[[:foo:]]", "2201B: invalid regular expression: invalid character class"),
        ("", "[b-a]", "2201B: invalid regular expression: invalid character range"),
        ("", "a\\", "2201B: invalid regular expression: invalid escape \\ sequence"),
        ("", "((((a{99}){99}){99}){99})", "2201B: invalid regular expression: regular expression is too complex"),
    ]);
}
