//! Names and literals as SQL writes them.

/// A name as SQL needs it written: in double quotes unless it is a plain lower-case word that is not a keyword.
pub fn identifier(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if plain && KEYWORDS.binary_search(&name).is_err() {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A string literal.
pub fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    match text.contains('\\') {
        true => format!("E'{}'", doubled.replace('\\', "\\\\")),
        false => format!("'{doubled}'"),
    }
}

/// A string literal as expressions of the schema are shown with: a backslash stands for itself.
pub fn standard_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Splits a possibly qualified name: `a.b`, `"A b".c`; unquoted parts are folded to lower case. `None` if it is not one.
pub fn split_qualified(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, after) = next_part(rest)?;
        parts.push(part);
        let after = after.trim_start();
        match after.strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if after.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

/// One part of a name, and what comes after it.
pub fn next_part(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut part = String::new();
        let mut chars = quoted.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            match (char, chars.peek()) {
                ('"', Some((_, '"'))) => {
                    chars.next();
                    part.push('"');
                }
                ('"', _) => return (!part.is_empty()).then_some((part, &quoted[at + 1..])),
                _ => part.push(char),
            }
        }
        return None;
    }
    let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '$' || !char.is_ascii();
    let end = text.find(|char| !is_part(char)).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_lowercase(), &text[end..]))
}

/// The keywords that cannot be used as any name without quotes.
#[rustfmt::skip]
static KEYWORDS: &[&str] = &[
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization", "between", "bigint",
    "binary", "bit", "boolean", "both", "case", "cast", "char", "character", "check", "coalesce", "collate", "collation",
    "column", "concurrently", "constraint", "create", "cross", "current_catalog", "current_date", "current_role",
    "current_schema", "current_time", "current_timestamp", "current_user", "dec", "decimal", "default", "deferrable",
    "desc", "distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float", "for", "foreign",
    "freeze", "from", "full", "grant", "greatest", "group", "grouping", "having", "ilike", "in", "initially", "inner",
    "inout", "int", "integer", "intersect", "interval", "into", "is", "isnull", "join", "lateral", "leading", "least",
    "left", "like", "limit", "localtime", "localtimestamp", "national", "natural", "nchar", "none", "normalize", "not",
    "notnull", "null", "nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps",
    "overlay", "placing", "position", "precision", "primary", "real", "references", "returning", "right", "row",
    "select", "session_user", "setof", "similar", "smallint", "some", "substring", "symmetric", "table", "tablesample",
    "then", "time", "timestamp", "to", "trailing", "treat", "trim", "true", "union", "unique", "user", "using",
    "values", "varchar", "variadic", "verbose", "when", "where", "window", "with", "xmlattributes", "xmlconcat",
    "xmlelement", "xmlexists", "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable",
];
