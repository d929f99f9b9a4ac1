//! Error messages → causes: the same mistake about other names and numbers is the same cause.

/// A message without what is in quotes and without numbers, except SQLSTATEs.
pub(crate) fn of_message(message: &str) -> String {
    let mut cause = String::new();
    let mut quote = None;
    let mut word = String::new();
    for c in message.lines().next().unwrap_or_default().chars().chain([' ']) {
        match quote {
            Some(end) if c == end => {
                quote = None;
                cause.push('…');
                cause.push(c);
            }
            Some(_) => {}
            None if c.is_alphanumeric() || c == '_' => word.push(c),
            None => {
                let apostrophe = c == '\'' && !word.is_empty();
                cause.push_str(if is_number(&word) { "N" } else { &word });
                word.clear();
                cause.push(c);
                if (c == '"' || c == '\'') && !apostrophe {
                    quote = Some(c);
                }
            }
        }
    }
    cause.trim_end().to_owned()
}

/// SQLSTATEs of five characters stay.
fn is_number(word: &str) -> bool {
    word.len() != 5 && word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::of_message;

    #[test]
    fn names_and_numbers_do_not_make_a_cause() {
        assert_eq!(
            of_message("ERROR 42703: column \"x\" of relation \"t\" does not exist"),
            "ERROR 42703: column \"…\" of relation \"…\" does not exist"
        );
        assert_eq!(of_message("value 17 isn't 'y'"), "value N isn't '…'");
    }
}
