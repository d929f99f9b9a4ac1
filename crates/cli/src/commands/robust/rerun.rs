//! A run that `skew robust` has saved, run again: the same application, the same calls, every read from whom it read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skew_model::robust::AppRun;
use skew_model::{History, Level, OpId, TxnId};
use skew_prove::summary::build::Reading;
use skew_sql::app::App;
use skew_sql::explore::{Client, Watch, run};
use skew_sql::script::Script;
use skew_sql::session::guide::{Guide, Seeing};
use skew_sql::session::{Database, Granularity};

use crate::commands::explore::load;

/// So many runs may pass before the saved one comes.
const MOST_RUNS: usize = 50_000;
/// So long may it take.
const MOST_TIME: Duration = Duration::from_secs(60);

/// What became of a saved run.
pub(crate) enum Rerun {
    /// It came out again: its history.
    Repeated(History),
    /// No run of these calls comes out like it.
    Different,
    /// A limit was hit before every run was tried.
    GaveUp,
}

/// Runs a saved run again.
pub(crate) fn rerun(name: &str, saved: &AppRun) -> Result<Rerun, String> {
    let level: Level = saved.level.parse().map_err(|error| format!("{name}: {error}"))?;
    let expected = History::parse(&saved.history).map_err(|error| format!("{name}: `history`: {error}"))?;
    let script = Script { name: saved.file.as_str().into(), text: saved.app.as_str().into() };
    let granularity = if saved.rows { Granularity::Row } else { Granularity::Cell };
    let (database, app) =
        load(&script, &saved.setup, &saved.serializable, granularity).map_err(|error| format!("{name}: {error}"))?;
    let client = Client { sessions: saved.sessions.clone() };
    let by_read = |own: Option<Level>| Reading::at(own.unwrap_or(level)) == Reading::EachStatement;
    let by_read = app.programs.iter().any(|program| by_read(program.level));
    let seeing = if by_read { Seeing::ByRead } else { Seeing::Whole };
    // Who sees whom is tried first, as it was; then everything.
    let guides = [Guide::by_views(seeing, seen(&expected, &client)), Guide::default()];
    let wanted = expected.to_string();
    let watch = Watch::start(MOST_TIME);
    let mut runs_left = true;
    for guide in guides {
        if let Some(history) = search(&database, &app, &client, level, guide, &watch, &wanted)? {
            return Ok(Rerun::Repeated(history));
        }
        runs_left &= !watch.is_over();
    }
    Ok(if runs_left { Rerun::Different } else { Rerun::GaveUp })
}

fn search(
    database: &Database,
    app: &App,
    client: &Client,
    level: Level,
    guide: Guide,
    watch: &Watch,
    wanted: &str,
) -> Result<Option<History>, String> {
    let guide = Arc::new(Mutex::new(guide));
    for _ in 0..MOST_RUNS {
        let ran = run(database, app, client, level, &guide, watch).map_err(|error| error.fields().message.clone())?;
        if ran.history.to_string() == wanted {
            return Ok(Some(ran.history));
        }
        if watch.is_over() || !guide.lock().unwrap_or_else(PoisonError::into_inner).next_run() {
            break;
        }
    }
    Ok(None)
}

/// Which calls saw something of which other ones, by their numbers in the client.
fn seen(history: &History, client: &Client) -> BTreeMap<(usize, usize), bool> {
    let mut calls: Vec<Option<TxnId>> = Vec::new();
    for (name, own) in &client.sessions {
        let mut txns = history.txn_ids().filter(|id| history.session_name(history.txn(*id).session) == *name);
        calls.extend(own.iter().map(|_| txns.next()));
    }
    let mut seen = BTreeMap::new();
    for (reader, id) in calls.iter().enumerate() {
        let Some(id) = id else { continue };
        let sources: Vec<TxnId> =
            history.op_ids(*id).filter_map(|op| history.stated_source(OpId(op)).flatten()).collect();
        for (writer, other) in calls.iter().enumerate() {
            if let Some(other) = other.filter(|_| writer != reader) {
                seen.insert((reader, writer), sources.contains(&other));
            }
        }
    }
    seen
}
