//! What a replay has to know about a statement, from its first words.

/// Functions and names whose values differ from one run to the next, so that only the shape of a result is compared.
const VOLATILE: [&str; 22] = [
    "now()",
    "current_timestamp",
    "current_time",
    "current_date",
    "localtime",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "random()",
    "gen_random_uuid",
    "pg_backend_pid",
    "pg_stat_",
    "pg_locks",
    "txid_",
    "version()",
    "pg_size_pretty",
    "_size(",
    "pg_settings",
    "inet_server",
    "postmaster",
    "pg_prepared",
    "explain",
];

/// Kinds of objects, as they follow CREATE, ALTER and DROP.
const KINDS: [&str; 16] = [
    "table",
    "view",
    "sequence",
    "type",
    "extension",
    "schema",
    "function",
    "procedure",
    "index",
    "domain",
    "collation",
    "trigger",
    "server",
    "aggregate",
    "database",
    "role",
];

/// Words between the verb and the name that say nothing about the object.
const FILLERS: [&str; 20] = [
    "or",
    "replace",
    "temp",
    "temporary",
    "global",
    "local",
    "unlogged",
    "unique",
    "recursive",
    "materialized",
    "foreign",
    "if",
    "not",
    "exists",
    "concurrently",
    "only",
    "into",
    "from",
    "on",
    "constraint",
];

/// What a statement makes or changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// `create`, `insert`, …
    pub(super) verb: String,
    /// `table` and so on; empty for INSERT, UPDATE and DELETE.
    pub(super) kind: String,
    /// As written, with its schema and quotes.
    pub(super) name: String,
}

impl Target {
    /// The last part of the name, without quotes.
    pub(super) fn plain(&self) -> String {
        self.name.rsplit('.').next().unwrap_or_default().trim_matches('"').to_owned()
    }
}

/// The words of a statement in lower case, up to a limit.
fn head(sql: &str, limit: usize) -> Vec<String> {
    sql.split_whitespace().take(limit).map(|word| word.trim_end_matches(';').to_ascii_lowercase()).collect()
}

/// The object that a statement defines or writes.
pub(super) fn target(sql: &str) -> Option<Target> {
    let words: Vec<&str> = sql.split_whitespace().take(12).collect();
    let verb = words.first()?.to_ascii_lowercase();
    if !["create", "alter", "drop", "insert", "update", "delete", "truncate", "copy", "comment"]
        .contains(&verb.as_str())
    {
        return None;
    }
    let mut kind = String::new();
    for word in &words[1..] {
        let plain = word.to_ascii_lowercase();
        if FILLERS.contains(&plain.as_str()) {
            continue;
        }
        if kind.is_empty()
            && KINDS.contains(&plain.as_str())
            && !["insert", "update", "delete"].contains(&verb.as_str())
        {
            kind = plain;
            continue;
        }
        let end = word.find(['(', ';']).unwrap_or(word.len());
        return Some(Target { verb, kind, name: word[..end].to_owned() });
    }
    None
}

/// Statements that need a transaction around them, and what has to come before them in it.
pub(super) fn preparation(sql: &str) -> Vec<String> {
    let words = head(sql, 5);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let savepoint = |name: &str| vec!["BEGIN".to_owned(), format!("SAVEPOINT {name}")];
    // Names are taken from the text, because quoted ones keep their case.
    let name = sql.split_whitespace().next_back().unwrap_or_default().trim_end_matches(';').to_owned();
    match words.as_slice() {
        ["release", ..] | ["rollback", "to", ..] => savepoint(&name),
        ["savepoint", ..] | ["lock", ..] | ["declare", ..] | ["set", "constraints" | "transaction", ..] => {
            vec!["BEGIN".to_owned()]
        }
        ["commit" | "end" | "rollback" | "abort", ..] => vec!["BEGIN".to_owned()],
        _ => Vec::new(),
    }
}

/// Statements about cursors go on in the transaction of the one before.
pub(super) fn continues_transaction(sql: &str) -> bool {
    ["fetch", "close", "move"].contains(&head(sql, 1).first().map_or("", String::as_str))
}

/// Statements after which settings go back to what they were.
pub(super) fn changes_settings(sql: &str) -> bool {
    head(sql, 1).first().is_some_and(|word| word == "set") || sql.to_ascii_lowercase().contains("set_config")
}

/// Whether two runs on one database could give other values.
pub(super) fn is_volatile(sql: &str) -> bool {
    let lower = sql.to_ascii_lowercase();
    VOLATILE.iter().any(|name| lower.contains(name))
}

/// Whether the order of rows is part of the answer: an ORDER BY that is not inside parentheses or quotes.
pub(super) fn is_ordered(sql: &str) -> bool {
    let mut outside = String::new();
    let (mut depth, mut quote) = (0, None);
    for c in sql.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, c) if depth == 0 => outside.push(c.to_ascii_lowercase()),
            (None, _) => {}
        }
    }
    outside.split_whitespace().collect::<Vec<_>>().windows(2).any(|words| words == ["order", "by"])
}

/// Whether it has parameters outside of quoted text.
pub(super) fn has_parameters(sql: &str) -> bool {
    let outside: String = sql.split('\'').step_by(2).collect();
    let first = head(sql, 1);
    let prepares = first.first().is_some_and(|word| word == "prepare" || word == "create" || word == "do");
    !prepares && outside.as_bytes().windows(2).any(|pair| pair[0] == b'$' && pair[1].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{has_parameters, is_ordered, preparation, target};

    fn described(sql: &str) -> String {
        target(sql).map_or(String::new(), |t| format!("{} {} {}", t.verb, t.kind, t.plain()))
    }

    #[test]
    fn targets_are_found_behind_other_words() {
        assert_eq!(described("CREATE TABLE IF NOT EXISTS \"a\".\"B\"(id int)"), "create table B");
        assert_eq!(described("create unique index i on t(x)"), "create index i");
        assert_eq!(described("INSERT INTO t(x) VALUES (1)"), "insert  t");
        assert_eq!(described("delete from only t;"), "delete  t");
        assert_eq!(described("DROP TYPE IF EXISTS x;"), "drop type x");
        assert_eq!(described("SELECT 1"), "");
    }

    #[test]
    fn statements_inside_transactions_get_one() {
        assert_eq!(preparation("RELEASE SAVEPOINT \"S\""), ["BEGIN", "SAVEPOINT \"S\""]);
        assert!(preparation("select 1").is_empty());
    }

    #[test]
    fn an_inner_order_is_not_the_order_of_the_result() {
        assert!(is_ordered("select 1 from t order\nby x"));
        assert!(!is_ordered("select array(select x order by y) from t"));
    }

    #[test]
    fn a_dollar_in_quotes_is_no_parameter() {
        assert!(has_parameters("select $1"));
        assert!(!has_parameters("select '$1'"));
    }
}
