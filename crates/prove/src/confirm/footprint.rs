//! What a call does when it is alone: which cells it reads and writes, or how it fails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use skew_model::{Level, OpId, OpKind};
use skew_sql::app::App;
use skew_sql::error::Result;
use skew_sql::explore::{Client, Watch, run};
use skew_sql::session::Database;

/// The cells that a call touches, by their names in histories: `account[1].balance`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Footprint {
    pub(super) failed: bool,
    pub(super) reads: BTreeSet<String>,
    pub(super) writes: BTreeSet<String>,
}

/// The footprints of calls, each made once.
#[derive(Debug)]
pub(super) struct Footprints {
    /// Ends calls that do not end.
    pub(super) watch: Arc<Watch>,
    known: BTreeMap<String, Footprint>,
    /// How many were made.
    pub(super) runs: u64,
}

impl Footprints {
    pub(super) fn new(watch: Arc<Watch>) -> Footprints {
        Footprints { watch, known: BTreeMap::new(), runs: 0 }
    }

    /// Makes the footprint of a call, unless the time is over.
    pub(super) fn make(&mut self, database: &Database, app: &App, call: &str) -> Result<()> {
        if !self.known.contains_key(call) && !self.watch.is_over() {
            self.runs += 1;
            let made = alone(database, app, call, &self.watch)?;
            // What was cut short says nothing.
            if self.watch.is_over() {
                return Ok(());
            }
            self.known.insert(call.to_owned(), made);
        }
        Ok(())
    }

    /// The footprint of a call that was made before.
    pub(super) fn known(&self, call: &str) -> Option<&Footprint> {
        self.known.get(call)
    }
}

impl Footprint {
    /// Whether it touches a table.
    pub(super) fn reads_table(&self, table: &str) -> bool {
        self.reads.iter().any(|cell| table_of(cell) == table)
    }

    /// Whether it makes or removes a row of a table.
    pub(super) fn writes_rows_of(&self, table: &str) -> bool {
        self.writes.iter().any(|cell| table_of(cell) == table && cell.ends_with(']'))
    }

    /// Whether it writes a column of a table.
    pub(super) fn writes_column(&self, table: &str, column: &str) -> bool {
        self.writes
            .iter()
            .any(|cell| table_of(cell) == table && cell.rsplit_once("].").is_some_and(|(_, written)| written == column))
    }
}

fn table_of(cell: &str) -> &str {
    cell.split('[').next().unwrap_or_default()
}

fn alone(database: &Database, app: &App, call: &str, watch: &Watch) -> Result<Footprint> {
    let client = Client { sessions: vec![("alone".to_owned(), vec![call.to_owned()])] };
    let ran = run(database, app, &client, Level::Ser, &Arc::new(Mutex::default()), watch)?;
    let mut footprint = Footprint { failed: !ran.failed.is_empty(), ..Footprint::default() };
    let history = &ran.history;
    for op in history.txn_ids().flat_map(|txn| history.op_ids(txn)).map(|at| history.op(OpId(at))) {
        let name = history.key_name(op.key()).to_owned();
        match op.kind() {
            OpKind::Write => footprint.writes.insert(name),
            _ => footprint.reads.insert(name),
        };
    }
    Ok(footprint)
}
