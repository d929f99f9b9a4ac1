//! What a permutation did, judged by the levels of its transactions, and what is left of it by its constraints.

use std::time::Duration;

use skew_check::{Assumptions, Checker, Options};
use skew_model::{History, Scope};

use crate::isolation::client::Client;

const PATIENCE: Duration = Duration::from_secs(120);

/// Every constraint and unique index once more, under another name: each is evaluated on the rows that are there.
const AGAIN: &str = "
    SELECT string_agg(again, '; ') FROM (
        SELECT format('ALTER TABLE %1$s ADD CONSTRAINT skew_again %2$s; ALTER TABLE %1$s DROP CONSTRAINT skew_again',
                      conrelid::regclass, regexp_replace(pg_get_constraintdef(oid), '^PRIMARY KEY', 'UNIQUE')) AS again
        FROM pg_constraint WHERE contype IN ('c', 'f', 'p', 'u') AND convalidated AND conrelid >= 16384
        UNION ALL
        SELECT format('%s; DROP INDEX skew_again',
                      regexp_replace(pg_get_indexdef(indexrelid), '^CREATE UNIQUE INDEX [^ ]+',
                                     'CREATE UNIQUE INDEX skew_again'))
        FROM pg_index WHERE indisunique AND indrelid >= 16384 AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
    ) AS constraints";

/// An error if something happened that the levels or the constraints exclude. All transactions have ended.
pub(crate) fn judge(watcher: &mut Client) -> Result<(), String> {
    let text = watcher.cell("SELECT skew.history()");
    let history = History::parse(&text).map_err(|error| format!("{error}\n{text}"))?;
    let assumptions = Assumptions { sessions: true, real_time: true };
    let checker = Checker::new(&history, Options { assumptions, ..Options::default() });
    if checker.holds(Scope::Declared) != Some(true) {
        return Err(format!("not within its levels:\n{history}"));
    }
    let again = watcher.cell(AGAIN);
    let shown = watcher.run(&again, PATIENCE).ok_or("the constraints cannot be evaluated")?;
    if shown.contains("ERROR:") {
        return Err(format!("a constraint is broken: {shown}\n{again}\n{history}"));
    }
    Ok(())
}
