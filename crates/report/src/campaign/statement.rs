//! What a statement of a run is, in the page: its SQL, what it read and wrote, and how it ends its transaction.

use std::collections::BTreeMap;

use skew_model::campaign::{SqlOperation, SqlStatement};

use crate::campaign::words::{alternatives, one_line, verb};
use crate::clean::{count, shorten};
use crate::markup::escape;

/// Operations of a statement that are not folded, beside those that matter and without such.
const MAX_OPERATIONS: (usize, usize) = (1, 6);
/// Operations of a statement that are in the page at all.
const MAX_FOLDED: usize = 200;
/// A longer statement is folded.
const MAX_SQL: (usize, usize) = (420, 10);

/// The transaction of each statement. BEGIN belongs to what its connection does next, COMMIT to what it did before.
pub(super) fn transactions(statements: &[SqlStatement]) -> Vec<Option<&str>> {
    let mut txns: Vec<Option<&str>> = statements.iter().map(|one| one.txn.as_deref()).collect();
    let first_word = |at: usize| first_word(&statements[at]);
    let mut last: BTreeMap<usize, &str> = BTreeMap::new();
    for at in 0..statements.len() {
        match txns[at] {
            Some(txn) => _ = last.insert(statements[at].connection, txn),
            None if ["commit", "end", "rollback", "abort"].contains(&first_word(at).as_str()) => {
                txns[at] = last.remove(&statements[at].connection);
            }
            None => {}
        }
    }
    let mut next: BTreeMap<usize, &str> = BTreeMap::new();
    for at in (0..statements.len()).rev() {
        let connection = statements[at].connection;
        match txns[at] {
            Some(txn) => _ = next.insert(connection, txn),
            None if ["begin", "start"].contains(&first_word(at).as_str()) => txns[at] = next.remove(&connection),
            None => _ = next.remove(&connection),
        }
    }
    txns
}

fn first_word(statement: &SqlStatement) -> String {
    let text = statement.text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    text[..end].to_ascii_lowercase()
}

/// How a statement ends its transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It does not.
    Open,
    Commit,
    Rollback,
}

impl End {
    /// The word that the script looks for.
    pub(super) fn word(self) -> &'static str {
        match self {
            End::Open => "",
            End::Commit => "commit",
            End::Rollback => "rollback",
        }
    }
}

/// How each statement ends its transaction; only the last statement of a transaction can.
pub(super) fn ends(statements: &[SqlStatement], txns: &[Option<&str>]) -> Vec<End> {
    let mut spans: BTreeMap<(usize, &str), (usize, usize)> = BTreeMap::new();
    for (at, statement) in statements.iter().enumerate() {
        if let Some(txn) = txns[at] {
            spans.entry((statement.connection, txn)).or_insert((at, at)).1 = at;
        }
    }
    let mut ends = vec![End::Open; statements.len()];
    for (first, last) in spans.into_values() {
        let (opener, closer) = (first_word(&statements[first]), first_word(&statements[last]));
        let is_refused = statements[last].is_error || statements[last].answer.eq_ignore_ascii_case("rollback");
        ends[last] = match closer.as_str() {
            "rollback" | "abort" => End::Rollback,
            "commit" | "end" if is_refused => End::Rollback,
            "commit" | "end" => End::Commit,
            // A transaction that began in words and did not end in words is open.
            _ if ["begin", "start"].contains(&opener.as_str()) => End::Open,
            _ if is_refused => End::Rollback,
            _ => End::Commit,
        };
    }
    ends
}

/// SQL as it was written, without the indentation that all of its lines share; folded if it is long.
pub(super) fn sql(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let shared = rest.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let rest = rest.iter().map(|line| line.get(shared..).unwrap_or_default().trim_end());
    let lines: Vec<String> = std::iter::once(first).chain(rest).map(escape).collect();
    let whole = format!("<pre class=\"sql\">{}</pre>", lines.join("\n"));
    if text.len() <= MAX_SQL.0 && lines.len() <= MAX_SQL.1 {
        return whole;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let short = escape(&shorten(&words.join(" "), MAX_SQL.0 / 2));
    format!("<details><summary><code>{short}</code></summary>{whole}</details>")
}

/// What a statement read and wrote: what matters first, the rest folded if there is much of it.
pub(super) fn operations(statement: &SqlStatement) -> String {
    let matters = |operation: &&SqlOperation| operation.is_guilty || operation.is_stale;
    let (first, mut rest): (Vec<_>, Vec<_>) = statement.operations.iter().partition(|operation| matters(operation));
    let left_out = rest.len().saturating_sub(MAX_FOLDED);
    rest.truncate(MAX_FOLDED);
    let list = |operations: &[&SqlOperation]| match operations {
        [] => String::new(),
        some => format!("<ul class=\"ops\">{}</ul>", some.iter().map(|one| operation(one)).collect::<String>()),
    };
    let most = if first.is_empty() { MAX_OPERATIONS.1 } else { MAX_OPERATIONS.0 };
    if rest.len() + left_out <= most {
        return list(&statement.operations.iter().collect::<Vec<_>>());
    }
    let more = match left_out {
        0 => String::new(),
        left_out => format!("<p>… {left_out} more: --json has all of them</p>"),
    };
    format!(
        "{}<details><summary>{} read or written</summary>{}{more}</details>",
        list(&first),
        count(rest.len() + left_out, if first.is_empty() { "cell" } else { "other cell" }),
        list(&rest)
    )
}

fn operation(operation: &SqlOperation) -> String {
    let (verb, has_value) = verb(operation);
    let (key, value) = (escape(&shorten(&operation.key, 120)), escape(&shorten(&operation.value, 120)));
    let mut words = format!("{verb} <code>{key}</code>");
    if has_value {
        words.push_str(&format!(" = <code>{value}</code>"));
    }
    if operation.is_stale {
        words.push_str(" <strong>◷ an old version</strong>");
    }
    if let Some(values) = alternatives(operation) {
        words.push_str(&format!(
            " <span class=\"choice\">it could have been {}, and was {value}</span>",
            escape(&values)
        ));
    }
    if let Some(within) = &operation.within {
        words.push_str(&format!(" in <code>{}</code>", escape(&shorten(&one_line(within), 200))));
    }
    // What the script shows of each client's view while the reader steps through the run.
    let data =
        format!("data-key=\"{key}\" data-value=\"{}\" data-verb=\"{verb}\"", if has_value { &value } else { "" });
    match (operation.is_guilty, operation.is_stale) {
        (true, _) => format!("<li class=\"guilty\" {data}><span class=\"mark\">◆</span> {words}</li>"),
        (false, true) => format!("<li class=\"stale\" {data}>{words}</li>"),
        (false, false) => format!("<li {data}>{words}</li>"),
    }
}
