//! Changes that are tried: the statements of the failing run are rewritten on their way to the database, or every
//! transaction runs at another level, and the command is run again. A change with which a run fails is never advised.

use std::collections::BTreeSet;

use skew_model::Level;
use skew_model::campaign::{SqlAnomaly, SqlEdge, SqlOperation, SqlStatement, TriedFix};
use skew_server::rewrites::{Rewrite, Rewrites};

use crate::arena::{self, Arena, Seen};
use crate::cells::NOTHING;
use crate::evidence::{ForcedIn, Kept};
use crate::repeats::Repeats;
use crate::split;
use crate::sql_text::{literal, quoted, rows_of};
use crate::{Trouble, one, seed_of};

/// Runs with a change in the order of the run that failed.
const SAME_ORDER: u64 = 3;
/// Runs with a change in other orders.
const OTHER_ORDERS: u64 = 7;
/// Changes that are advised.
const MAX_ADVISED: usize = 2;
/// Changes that are tried.
const MAX_TRIED: usize = 8;
/// The first run of a trial, far from the numbers of the campaign's runs.
const FIRST_NUMBER: u64 = 1 << 40;

/// A change that could help.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    words: String,
    sql: Vec<String>,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Rewrite(Vec<Rewrite>),
    Level(Level),
}

/// Tries what could help, cheapest first, until there is enough of what does.
pub(crate) fn tried(
    repeats: &mut Repeats<'_>,
    order: &[Seen],
    keeps: &Kept,
    forced: &ForcedIn,
    candidates: Vec<Candidate>,
) -> Result<Vec<TriedFix>, Trouble> {
    let mut found = Vec::new();
    for candidate in candidates.into_iter().take(MAX_TRIED) {
        if found.len() >= MAX_ADVISED {
            break;
        }
        if let Some(runs) = passed(repeats, order, keeps, forced, &candidate)? {
            found.push(TriedFix { words: candidate.words, sql: candidate.sql, runs });
        }
    }
    Ok(found)
}

/// How many runs passed with a change, if all did.
fn passed(
    repeats: &mut Repeats<'_>,
    order: &[Seen],
    keeps: &Kept,
    forced: &ForcedIn,
    candidate: &Candidate,
) -> Result<Option<usize>, Trouble> {
    let plan = repeats.plan;
    let (mut own, rewrites) = match &candidate.change {
        Change::Rewrite(rewrites) => (None, Rewrites::new(rewrites.clone())),
        Change::Level(level) => {
            let mut settings = plan.baseline.clone();
            settings.options.level = Some(*level);
            (Some(Arena::start(settings).map_err(Trouble::Database)?), Rewrites::default())
        }
    };
    let mut runs = 0;
    for number in 0..SAME_ORDER + OTHER_ORDERS {
        if repeats.is_stopped() {
            return Ok(None);
        }
        let keep = |database: &str, stale: &_| keeps.contains(&(database.to_owned(), *stale));
        let mut setup = match number < SAME_ORDER && own.is_none() {
            true => arena::again(repeats.seed, order, keep, forced),
            false => arena::by_chance(seed_of(plan, FIRST_NUMBER + number)),
        };
        setup.rewrites = rewrites.clone();
        repeats.begins_trial();
        let arena = own.as_mut().unwrap_or(&mut repeats.arena);
        let ran = one(plan, arena, setup, 0, repeats.stop)?;
        if ran.is_interrupted || !ran.line.outcome.passed() {
            return Ok(None);
        }
        runs += 1;
    }
    Ok(Some(runs))
}

/// What could help against an anomaly, cheapest first.
pub(crate) fn candidates(seen: &Seen, statements: &[SqlStatement], anomaly: &SqlAnomaly) -> Vec<Candidate> {
    if anomaly.id == split::ID {
        return one_transaction(statements, anomaly).into_iter().collect();
    }
    let reads = guilty_reads(statements, anomaly);
    let mut found = Vec::new();
    if !reads.is_empty() {
        // An UPDATE that reads what it computes with locks it by itself.
        let texts = reads.iter().map(|&at| bare(&statements[at].text)).filter(|text| is_select(text));
        let texts: BTreeSet<String> = texts.collect();
        let selects = !texts.is_empty();
        // A lock on the rows that are there does not keep others from inserting one that is not.
        if selects && !finds_nothing(statements) {
            if texts.iter().all(|text| takes_some(text)) {
                let words = "let each client take another row, and none that is locked";
                found.push(appended(&texts, "FOR UPDATE SKIP LOCKED", words));
            }
            found.push(appended(&texts, "FOR UPDATE", "lock the rows while they are read"));
            found.extend(locked_before(&texts));
        }
        if selects {
            found.extend(shared_rows(seen, statements, anomaly, &reads, &texts));
            found.extend(advisory(statements, anomaly, &texts));
        }
    }
    let levels = [("REPEATABLE READ", Level::Si), ("SERIALIZABLE", Level::Ser)];
    found.extend(levels.map(|(name, level)| Candidate {
        words: format!(
            "run the transactions at {name}, and run one again that ends with 40001 or 40P01, as the command does"
        ),
        sql: vec![format!("BEGIN ISOLATION LEVEL {name}")],
        change: Change::Level(level),
    }));
    found
}

/// What was in two transactions is in one, and locks what it reads.
fn one_transaction(statements: &[SqlStatement], anomaly: &SqlAnomaly) -> Option<Candidate> {
    let [first, second] = anomaly.edges.as_slice() else { return None };
    let (read, write) =
        (bare(&statements.get(first.statements.0?)?.text), bare(&statements.get(second.statements.1?)?.text));
    if !is_select(&read) {
        return None;
    }
    // Where a row is looked for that is not there yet, only a lock that stands for no row keeps others out.
    let (begin, locking) = match finds_nothing(statements) {
        true => (vec!["BEGIN".to_owned(), advisory_lock(table_of(&first.label)?)], read.clone()),
        false => (vec!["BEGIN".to_owned()], format!("{read} FOR UPDATE")),
    };
    let commit = vec!["COMMIT".to_owned()];
    let mut sql = begin.clone();
    sql.extend([locking.clone(), write.clone()]);
    sql.extend(commit.clone());
    let change = vec![
        Rewrite { from: read, before: begin, to: locking, after: Vec::new() },
        Rewrite { from: write.clone(), before: Vec::new(), to: write, after: commit },
    ];
    let words = "read and write in one transaction, which keeps others out from its first statement on".to_owned();
    Some(Candidate { words, sql, change: Change::Rewrite(change) })
}

/// The statements that read what another transaction overwrote, of transactions that write.
fn guilty_reads(statements: &[SqlStatement], anomaly: &SqlAnomaly) -> Vec<usize> {
    let writes = |txn: &str| {
        let mut own = statements.iter().filter(|one| one.txn.as_deref() == Some(txn));
        own.any(|one| one.operations.iter().any(|operation| operation.is_write))
    };
    let edges = anomaly.edges.iter().filter(|edge| is_anti_dependency(edge) && writes(&edge.from));
    let mut reads: Vec<usize> = edges.filter_map(|edge| edge.statements.0).collect();
    reads.sort_unstable();
    reads.dedup();
    reads
}

fn is_anti_dependency(edge: &SqlEdge) -> bool {
    edge.label.starts_with("rw")
}

fn bare(text: &str) -> String {
    text.trim_matches(|c: char| c.is_whitespace() || c == ';').to_owned()
}

fn is_select(text: &str) -> bool {
    text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"))
}

/// Whether a query takes some of the rows that it finds, as a worker does that looks for a job.
fn takes_some(text: &str) -> bool {
    text.split_whitespace().any(|word| word.eq_ignore_ascii_case("limit"))
}

fn appended(texts: &BTreeSet<String>, clause: &str, words: &str) -> Candidate {
    let to: Vec<String> = texts.iter().map(|text| format!("{text} {clause}")).collect();
    let rewrites = texts.iter().zip(&to);
    let rewrites = rewrites.map(|(from, to)| Rewrite {
        from: from.clone(),
        before: Vec::new(),
        to: to.clone(),
        after: Vec::new(),
    });
    Candidate { words: words.to_owned(), change: Change::Rewrite(rewrites.collect()), sql: to }
}

/// The same statements, each after another one in its transaction.
fn preceded(texts: &BTreeSet<String>, words: String, before: impl Fn(&str) -> Option<String>) -> Option<Candidate> {
    let mut sql: Vec<String> = Vec::new();
    let mut rewrites = Vec::new();
    for text in texts {
        let first = before(text)?;
        if !sql.contains(&first) {
            sql.push(first.clone());
        }
        let before = vec![first];
        rewrites.push(Rewrite { from: text.clone(), before, to: text.clone(), after: Vec::new() });
    }
    sql.extend(texts.iter().cloned());
    Some(Candidate { words, sql, change: Change::Rewrite(rewrites) })
}

/// The rows that a query counts or adds up are locked by a query of their own before it.
fn locked_before(texts: &BTreeSet<String>) -> Option<Candidate> {
    let words = "lock the rows first, with a query of their own in the same transaction".to_owned();
    preceded(texts, words, |text| Some(format!("SELECT 1 {} FOR UPDATE", rows_of(text)?)))
}

/// A row that all of the transactions read, and that is there, is locked before they look for rows that are not.
fn shared_rows(
    seen: &Seen,
    statements: &[SqlStatement],
    anomaly: &SqlAnomaly,
    reads: &[usize],
    texts: &BTreeSet<String>,
) -> Vec<Candidate> {
    let txns: BTreeSet<&str> = reads.iter().filter_map(|&at| statements[at].txn.as_deref()).collect();
    let found_by = |txn: &str| -> BTreeSet<&str> {
        let own = statements.iter().filter(|one| one.txn.as_deref() == Some(txn));
        own.flat_map(|one| &one.operations)
            .filter(|operation| is_found(operation))
            .map(|one| one.key.as_str())
            .collect()
    };
    let mut shared: Option<BTreeSet<&str>> = None;
    for txn in txns {
        let found = found_by(txn);
        shared = Some(shared.map_or_else(|| found.clone(), |shared| shared.intersection(&found).copied().collect()));
    }
    let guilty: BTreeSet<&str> = anomaly.edges.iter().filter_map(|edge| table_of(&edge.label)).collect();
    let is_other = |key: &&str| key.split('[').next().is_some_and(|table| !guilty.contains(table));
    let lock = |key: &str| {
        let (table, row) = key.strip_suffix(']')?.split_once('[')?;
        let [column] = seen.keys.get(table)?.as_slice() else { return None };
        let sql = format!("SELECT 1 FROM {} WHERE {} = {} FOR UPDATE", quoted(table), quoted(column), literal(row));
        let words = format!("lock the row of {table} that all of them read, before they look");
        preceded(texts, words, |_| Some(sql.clone()))
    };
    shared.unwrap_or_default().into_iter().filter(is_other).take(2).filter_map(lock).collect()
}

fn is_found(operation: &SqlOperation) -> bool {
    !operation.is_write && operation.key.ends_with(']') && !operation.key.contains(" by ") && operation.value != NOTHING
}

/// `stock` in `rw(stock[1].n)`.
fn table_of(label: &str) -> Option<&str> {
    label.split_once('(')?.1.split(['[', ' ']).next()
}

/// A lock that stands for no row.
fn advisory(statements: &[SqlStatement], anomaly: &SqlAnomaly, texts: &BTreeSet<String>) -> Option<Candidate> {
    let table = anomaly.edges.iter().find_map(|edge| table_of(&edge.label))?;
    let sql = advisory_lock(table);
    let words = "take a lock of your own before looking: there is no row yet that could be locked".to_owned();
    finds_nothing(statements).then(|| preceded(texts, words, |_| Some(sql.clone())))?
}

fn advisory_lock(table: &str) -> String {
    format!("SELECT pg_advisory_xact_lock(hashtext({}))", literal(table))
}

/// Whether a read that is to blame looked for a row that was not there.
fn finds_nothing(statements: &[SqlStatement]) -> bool {
    let mut operations = statements.iter().flat_map(|one| &one.operations);
    operations.any(|operation| operation.is_guilty && !operation.is_write && operation.value == NOTHING)
}
