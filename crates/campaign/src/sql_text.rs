//! Pieces of SQL text for changes that are tried.

/// A name as SQL wants it: in quotes unless it is a word in lower case that is not reserved.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match is_plain && !RESERVED.contains(&name) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// A value as a literal, whose type is what its place asks for.
pub(crate) fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// PostgreSQL's reserved words (its manual, appendix C).
const RESERVED: [&str; 77] = [
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// The part of a query that says which rows it looks at: from its FROM to what groups, orders or limits them.
pub(crate) fn rows_of(sql: &str) -> Option<&str> {
    let words = outer_words(sql);
    let from = words.iter().find(|(_, word)| word.eq_ignore_ascii_case("from")).map(|(at, _)| *at)?;
    let is_end = |word: &str| {
        ["group", "having", "order", "limit", "union", "intersect", "except", "window"]
            .iter()
            .any(|end| word.eq_ignore_ascii_case(end))
    };
    let end = words.iter().find(|(at, word)| *at > from && is_end(word)).map_or(sql.len(), |(at, _)| *at);
    Some(sql.get(from..end)?.trim_end())
}

/// The words of a statement outside of quotes and parentheses, and where they begin.
fn outer_words(sql: &str) -> Vec<(usize, &str)> {
    let (mut words, mut depth, mut quote, mut start) = (Vec::new(), 0_usize, None, None);
    for (at, c) in sql.char_indices().chain([(sql.len(), ' ')]) {
        let is_word = quote.is_none() && depth == 0 && (c.is_alphanumeric() || c == '_');
        match (is_word, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, &sql[from..at]));
                start = None;
            }
            _ => {}
        }
        match (quote, c) {
            (Some(end), _) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_need_it() {
        assert_eq!(["stock", "order", "Offer", "a\"b"].map(quoted), ["stock", "\"order\"", "\"Offer\"", "\"a\"\"b\""]);
    }

    #[test]
    fn the_rows_of_a_query_are_between_its_from_and_what_groups_them() {
        let rows = |sql| rows_of(sql).unwrap_or("-");
        assert_eq!(rows("SELECT count(*) FROM t WHERE a = $1 GROUP BY b"), "FROM t WHERE a = $1");
        assert_eq!(rows("select (select n from x) from t where b = ' order ' limit 1"), "from t where b = ' order '");
        assert_eq!(rows("SELECT 1"), "-");
    }
}
