//! What statements that differ in their values alone have in common: where values are written into the text, the same
//! statement of a program is another text in another run.

/// A statement's text with `?` for its numbers and strings, in one line.
pub fn without_values(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let is_word = out.chars().last().is_some_and(|last| last.is_alphanumeric() || matches!(last, '_' | '$'));
        match c {
            '\'' => {
                // Two quotes are a quote within the string.
                while let Some(inner) = chars.next() {
                    if inner == '\'' && chars.next_if_eq(&'\'').is_none() {
                        break;
                    }
                }
                out.push('?');
            }
            '"' => {
                out.push('"');
                for inner in chars.by_ref() {
                    out.push(inner);
                    if inner == '"' {
                        break;
                    }
                }
            }
            c if c.is_ascii_digit() && !is_word => {
                while chars.next_if(|next| next.is_ascii_digit() || matches!(next, '.' | 'e' | '_')).is_some() {}
                out.push('?');
            }
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_values;

    #[test]
    fn statements_that_differ_in_values_have_one_shape() {
        let shape = "UPDATE t1 SET n = ? WHERE name = ? AND id = $1";
        assert_eq!(without_values("UPDATE t1 SET n = 12.5 WHERE name = 'it''s'  AND\n id = $1"), shape);
        assert_eq!(without_values("SELECT \"a 1\" FROM t"), "SELECT \"a 1\" FROM t");
    }
}
