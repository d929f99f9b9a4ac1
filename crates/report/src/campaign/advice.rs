//! What to change, down to the application's own statement.

use skew_model::campaign::{FailedRun, SqlAnomaly, SqlOperation, SqlStatement, TriedFix};

use crate::campaign::words::{numbers, one_line};
use crate::clean::{clean, count, shorten};

/// The longest statement that is written out in an advice.
const MOST_CHARS: usize = 300;

/// What to change so that an anomaly goes away.
pub(super) fn for_anomaly(failure: &FailedRun, anomaly: &SqlAnomaly) -> Vec<(&'static str, String)> {
    if !anomaly.tried.is_empty() {
        return anomaly.tried.iter().flat_map(tried).collect();
    }
    let mut advice = vec![("fix", clean(&anomaly.fix))];
    if anomaly.id == "lost-update" && anomaly.fix.contains("one UPDATE") {
        advice.extend(one_update(failure, anomaly).map(|words| ("update", words)));
    }
    // A lock helps where two writers are in each other's way, not where a read went back in time.
    if anomaly.fix.contains("FOR UPDATE") || anomaly.fix.contains("lock") {
        advice.extend(locks(failure, anomaly).into_iter().map(|words| ("lock", words)));
    }
    advice
}

/// A change that was tried: what it is, and the statements as they should be.
fn tried(fix: &TriedFix) -> Vec<(&'static str, String)> {
    let words = format!("{} (tried: {} passed)", clean(&fix.words), count(fix.runs, "run"));
    let sql = fix.sql.iter().map(|sql| ("sql", one_line(sql)));
    [("fix", words)].into_iter().chain(sql).collect()
}

/// What to do about statements that were refused.
pub(super) fn for_refusals(failure: &FailedRun, refused: &[usize]) -> Vec<(&'static str, String)> {
    let with = |codes: &[&str]| -> Vec<usize> {
        let has_code = |at: &&usize| {
            let statement = failure.statements.get(**at);
            statement.is_some_and(|one| codes.iter().any(|code| one.answer.starts_with(code)))
        };
        refused.iter().filter(has_code).copied().collect()
    };
    let (again, duplicate, other) = (with(&["40001", "40P01"]), with(&["23505"]), with(&["23"]));
    let mut advice = Vec::new();
    if !again.is_empty() {
        advice.push((
            "fix",
            format!(
                "run the whole transaction again when it fails with 40001 or 40P01, as {} did",
                statements_words(&again)
            ),
        ));
    }
    if duplicate.iter().any(|&at| looked_again(failure, at)) {
        advice.push((
            "fix",
            format!(
                "the row that was in the way of {} was committed after the transaction's snapshot, which does not show it \
                 however often it is asked: write INSERT … ON CONFLICT, run the whole transaction again after 23505, or \
                 run it at READ COMMITTED",
                statements_words(&duplicate)
            ),
        ));
    } else if !duplicate.is_empty() {
        advice.push((
            "fix",
            format!(
                "somebody else inserted the same key first: write INSERT … ON CONFLICT in {}, or begin a new transaction after \
                 23505 and read the row",
                statements_words(&duplicate)
            ),
        ));
    } else if !other.is_empty() {
        advice.push((
            "fix",
            format!("expect that {} may meet what somebody else has just committed", statements_words(&other)),
        ));
    }
    if advice.is_empty() {
        advice.push(("fix", "expect that the database refuses a statement, and try again".to_owned()));
    }
    advice
}

/// Whether the transaction went on after a statement that was refused, and read.
fn looked_again(failure: &FailedRun, refused: usize) -> bool {
    let Some(statement) = failure.statements.get(refused) else { return false };
    let same = |one: &&SqlStatement| one.connection == statement.connection && one.txn == statement.txn;
    let mut later = failure.statements[refused + 1..].iter().filter(same);
    statement.txn.is_some() && later.any(|one| one.operations.iter().any(|operation| !operation.is_write))
}

/// What to do about reads of old versions in a run that is serializable all the same.
pub(super) fn for_old_versions() -> Vec<(&'static str, String)> {
    let why = "a serial order explains the run, but not the order in which it happened";
    let fix = "read from where it was written (one replica, one session); a single server always does, and so does \
               --recency commit";
    vec![("why", why.to_owned()), ("fix", fix.to_owned())]
}

/// `statement 6`, `statements 6 and 7`
pub(super) fn statements_words(statements: &[usize]) -> String {
    format!("statement{} {}", if statements.len() == 1 { "" } else { "s" }, numbers(statements))
}

/// Which statements of a lost update can be one, because they read a column and write it back.
fn one_update(failure: &FailedRun, anomaly: &SqlAnomaly) -> Option<String> {
    let mut pairs: Vec<String> = Vec::new();
    let mut statement = String::new();
    for read in anomaly.edges.iter().filter(|edge| edge.label.starts_with("rw")) {
        let write = anomaly.edges.iter().find(|edge| edge.to == read.from && edge.label == read.label)?;
        let (from, to) = (read.statements.0?, write.statements.1?);
        let text = one_line(&failure.statements.get(to)?.text);
        if from == to || words_of(&text).first().map(String::as_str) != Some("update") {
            return None;
        }
        let (table, column) = read.label.strip_prefix("rw(")?.strip_suffix(')')?.split_once('[')?;
        let column = column.rsplit_once("].")?.1;
        statement = clean(&format!("UPDATE {table} SET {column} = {column} …"));
        pairs.push(numbers(&[from.min(to), from.max(to)]));
    }
    (!pairs.is_empty()).then(|| format!("one statement instead of {}: {statement}", pairs.join(", and of ")))
}

/// The statements that read what others overwrote, and how each of them locks it.
fn locks(failure: &FailedRun, anomaly: &SqlAnomaly) -> Vec<String> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for edge in anomaly.edges.iter().filter(|edge| edge.label.starts_with("rw") && writes(failure, &edge.from)) {
        let Some(at) = edge.statements.0 else { continue };
        let Some(words) = failure.statements.get(at).and_then(|one| how_to_lock(one, anomaly)) else { continue };
        match found.iter_mut().find(|(other, _)| *other == words) {
            Some((_, statements)) if !statements.contains(&at) => statements.push(at),
            Some(_) => {}
            None => found.push((words, vec![at])),
        }
    }
    for (_, statements) in &mut found {
        statements.sort_unstable();
    }
    found.into_iter().map(|(words, statements)| format!("{}: {words}", statements_words(&statements))).collect()
}

/// Whether a transaction writes: who only reads need not lock.
fn writes(failure: &FailedRun, txn: &str) -> bool {
    let mut own = failure.statements.iter().filter(|one| one.txn.as_deref() == Some(txn));
    own.any(|one| one.operations.iter().any(|operation| operation.is_write))
}

fn how_to_lock(statement: &SqlStatement, anomaly: &SqlAnomaly) -> Option<String> {
    let read = statement.operations.iter().find(|operation| operation.is_guilty && !operation.is_write)?;
    let text = one_line(read.within.as_deref().unwrap_or(&statement.text));
    let text = text.trim_end_matches([';', ' ']);
    let words = words_of(text);
    if words.first().map(String::as_str) != Some("select") || is_locking(&words) {
        return None;
    }
    if read.value == "nil" {
        return Some(nothing_to_lock(statement, read, anomaly));
    }
    if let Some(what) = forbids_locks(&words) {
        let table = table_of(read);
        return Some(format!(
            "first SELECT the rows of {table} that it needs … FOR UPDATE, which does not go with {what}"
        ));
    }
    Some(format!("{} FOR UPDATE", shorten(text, MOST_CHARS)))
}

/// A lock on another row keeps others out where the transactions have no snapshot from before.
fn nothing_to_lock(statement: &SqlStatement, read: &SqlOperation, anomaly: &SqlAnomaly) -> String {
    let table = table_of(read);
    let is_row = |other: &&SqlOperation| {
        !other.is_write && other.value != "nil" && other.key.ends_with(']') && table_of(other) != table
    };
    let row = statement.operations.iter().find(is_row);
    let row = row.map_or_else(|| "a row that both know".to_owned(), |other| clean(&other.key));
    let lock = if anomaly.fix.contains("lock a row") { format!(", or FOR UPDATE on {row},") } else { String::new() };
    format!("what it looks for is not there yet and cannot be locked; a unique key on {table}{lock} keeps others out")
}

fn table_of(operation: &SqlOperation) -> String {
    clean(operation.key.split('[').next().unwrap_or_default())
}

/// The words of a statement in lower case, without what is between quotes.
fn words_of(text: &str) -> Vec<String> {
    let (mut words, mut quote, mut word) = (Vec::new(), None, String::new());
    for c in text.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c.is_alphanumeric() || c == '_' => word.extend(c.to_lowercase()),
            None => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                if c == '(' {
                    words.push("(".to_owned());
                }
            }
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

fn is_locking(words: &[String]) -> bool {
    words.windows(2).any(|pair| pair[0] == "for" && ["update", "share", "no", "key"].contains(&pair[1].as_str()))
}

/// What in a SELECT PostgreSQL does not accept together with FOR UPDATE.
fn forbids_locks(words: &[String]) -> Option<&'static str> {
    const AGGREGATES: [&str; 11] =
        ["count", "sum", "min", "max", "avg", "bool_or", "bool_and", "every", "array_agg", "string_agg", "json_agg"];
    let has = |word: &str| words.iter().any(|other| other == word);
    if words.windows(2).any(|pair| AGGREGATES.contains(&pair[0].as_str()) && pair[1] == "(") {
        return Some("aggregates");
    }
    [
        ("group", "GROUP BY"),
        ("having", "HAVING"),
        ("distinct", "DISTINCT"),
        ("union", "UNION"),
        ("intersect", "INTERSECT"),
        ("except", "EXCEPT"),
        ("over", "window functions"),
    ]
    .into_iter()
    .find_map(|(word, name)| has(word).then_some(name))
}
