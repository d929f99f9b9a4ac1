//! Text from untrusted files, made safe to show, and how wide it is on a terminal.
//!
//! A name or a value may hold escape sequences that rewrite the screen, or marks that turn the direction of writing.
//! Both become `?`.

/// The same text without control and direction characters.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(clean_char).collect()
}

pub(crate) fn clean_char(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '?',
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fffe}'
        | '\u{ffff}' => '?',
        c => c,
    }
}

/// The columns that a character takes on a terminal.
pub(crate) fn columns_of(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// The columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text, cut in the middle to at most this many characters.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most || most < 3 {
        return text.to_owned();
    }
    let tail = (most - 1) / 3;
    let head = most - 1 - tail;
    let (head, tail) = (&chars[..head], &chars[chars.len() - tail..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// The text in lines of at most this many columns, broken at spaces. A word that is longer stays whole; 0 is no limit.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    if width == 0 || columns(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut taken = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let wide = columns(word);
        if taken > 0 && taken + 1 + wide > width {
            lines.push(std::mem::take(&mut line));
            taken = 0;
        }
        if taken > 0 {
            line.push(' ');
            taken += 1;
        }
        line.push_str(word);
        taken += wide;
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// `1 transaction`, `2 transactions`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
