//! The known word that a misspelled one most likely means.

/// Letters of a word that are looked at: longer words are not misspelled, they are something else.
const MAX_LETTERS: usize = 64;

/// The candidate with the fewest changed letters between it and the word, if those are few for a word of that length.
/// Case and separators (`-`, `_`, space) do not count. Among equally near ones the first wins.
///
/// ```
/// assert_eq!(skew_model::nearest("serialisable", ["si", "ser", "serializable"]), Some("serializable"));
/// assert_eq!(skew_model::nearest("mysql", ["si", "ser", "serializable"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = letters(word);
    let allowed = match letters.len() {
        0 | 1 | MAX_LETTERS.. => return None,
        2..=3 => 1,
        count => (count / 3).max(2),
    };
    let measured = candidates.into_iter().map(|candidate| (distance(&letters, &self::letters(candidate)), candidate));
    let found = measured.min_by_key(|&(distance, _)| distance)?;
    (found.0 <= allowed && found.0 < letters.len()).then_some(found.1)
}

/// The end of a clause about an unknown word: `; did you mean …?`, or a full stop if no known word is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(|| ".".to_owned(), |known| format!("; did you mean `{known}`?"))
}

fn letters(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Letters inserted, deleted, replaced or swapped with their neighbour (optimal string alignment).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for i in 1..=one.len() {
        let mut row = vec![i; other.len() + 1];
        for j in 1..=other.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            row[j] = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_word_finds_its_neighbour_and_another_word_finds_none() {
        let known = ["write-skew", "read-skew", "lost-update", "si", "ser"];
        assert_eq!(nearest("wirte skew", known), Some("write-skew"));
        assert_eq!(nearest("lostupdates", known), Some("lost-update"));
        assert_eq!(nearest("serr", known), Some("ser"));
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest("deadlock", known), None);
        assert_eq!(did_you_mean("sre", known), "; did you mean `ser`?");
        assert_eq!(did_you_mean("deadlock", known), ".");
    }
}
