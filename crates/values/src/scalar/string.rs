//! Strings with a length: varchar(n), char(n), name, "char".

use crate::error::{Result, SqlError, SqlState};

/// Most bytes of a name.
pub const NAME_BYTES: usize = 63;

/// The length in a modifier of varchar or char.
pub fn length(modifier: i32) -> Option<usize> {
    usize::try_from(modifier.checked_sub(4)?).ok()
}

/// What of the text fits varchar(n). Spaces beyond the end are dropped; anything else is an error, unless the cast was
/// explicit.
pub fn fit_varchar(text: &str, modifier: i32, explicit: bool) -> Result<&str> {
    match length(modifier) {
        Some(most) => cut(text, most, explicit, "character varying"),
        None => Ok(text),
    }
}

/// What of the text fits char(n), filled up with spaces.
pub fn fit_char(text: &str, modifier: i32, explicit: bool) -> Result<String> {
    let Some(most) = length(modifier) else { return Ok(text.to_owned()) };
    let text = cut(text, most, explicit, "character")?;
    let missing = most - text.chars().count();
    let mut padded = String::with_capacity(text.len() + missing);
    padded.push_str(text);
    padded.extend(std::iter::repeat_n(' ', missing));
    Ok(padded)
}

fn cut<'a>(text: &'a str, most: usize, explicit: bool, type_name: &str) -> Result<&'a str> {
    if text.len() <= most {
        return Ok(text);
    }
    let Some((end, _)) = text.char_indices().nth(most) else { return Ok(text) };
    let (kept, excess) = text.split_at(end);
    if explicit || excess.bytes().all(|byte| byte == b' ') {
        return Ok(kept);
    }
    Err(SqlError::new(SqlState::STRING_DATA_RIGHT_TRUNCATION, format!("value too long for type {type_name}({most})")))
}

/// A char(n) without the spaces at its end: what counts when it is compared or becomes text.
pub fn unpadded(text: &str) -> &str {
    text.trim_end_matches(' ')
}

/// What of the text fits a name: whole characters of at most 63 bytes.
pub fn fit_name(text: &str) -> &str {
    if text.len() <= NAME_BYTES {
        return text;
    }
    let mut end = NAME_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The first character: what a "char" keeps.
pub fn fit_single(text: &str) -> &str {
    match text.chars().next() {
        Some(first) => &text[..first.len_utf8()],
        None => "",
    }
}
