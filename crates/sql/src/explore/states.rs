//! The committed states of a run, and what must hold in them.
//!
//! A history does not say which write came last: its *states at a level* are those of the commit orders that the level
//! admits. After each commit of such an order, the last writer of every key so far, jointly over all keys, is a committed
//! state; the last one is a final state (`skew_check::oracle::final_states` is this sentence, tried out).
//!
//! ```text
//! a: r x=100  w x=70        at pc and mvrc either of them commits last, so that x is 70 or 30 in the end,
//! b: r x=100  w x=30        and it is the other value after the first commit
//! ```
//!
//! Transactions run one after the other in every order. Where that order is a commit order that the level admits, the
//! states are what the tables hold after each call, with constraints that were enforced in this order too. Where it is
//! none, another run has the same history in an order that is one. So every state comes up, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use skew_check::{Checker, Options};
use skew_model::{History, Level, OpKind, Scope, Status};
use skew_store::Reads;

use super::calls::{Ran, begins, calls, query, state};
use super::{Client, Watch};
use crate::app::App;
use crate::error::Result;
use crate::session::guide::Guide;
use crate::session::{Client as Connected, Connection, Database};
use crate::types::compare::compare;
use crate::types::{Datum, Type};

/// The user that looks at committed states; no session of a client has such a name.
pub(super) const LOOKER: &str = "(check)";

/// What is known of a committed state.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// The invariants that do not hold in it.
    broken: Vec<String>,
    /// The values of the functions that must not go down.
    monotone: Vec<(Datum, Type)>,
    /// The rows of all tables.
    rows: Vec<String>,
}

/// What the states of a run come to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Came {
    /// What does not hold: invariants, functions that go down, assertions.
    pub(super) broken: Vec<String>,
    /// The rows of all tables in the end.
    pub(super) rows: Vec<String>,
}

/// What an exploration needs to make a run again.
#[derive(Clone, Copy)]
pub(super) struct Exploration<'a> {
    pub(super) database: &'a Database,
    pub(super) app: &'a App,
    pub(super) client: &'a Client,
    pub(super) level: Level,
    pub(super) guide: &'a Arc<Mutex<Guide>>,
    pub(super) watch: &'a Watch,
}

/// The committed states that were looked at, by what transactions wrote.
#[derive(Default)]
pub(super) struct States {
    known: BTreeMap<String, Judged>,
}

impl Judged {
    /// The rows of all tables.
    pub(super) fn rows(&self) -> &[String] {
        &self.rows
    }
}

impl States {
    /// What the states of a run come to; `None` where transactions ran in an order that is no commit order of their levels.
    ///
    /// States that are new are looked at in the same run, made once more: who looks takes part in it.
    pub(super) fn of_run(&mut self, ran: &Ran, exploration: &Exploration<'_>) -> Result<Option<RunStates>> {
        if !Checker::new(&ran.history, Options::default()).holds_in_recorded_order(Scope::Declared) {
            return Ok(None);
        }
        let names = names(&ran.history);
        if !names.iter().all(|name| self.known.contains_key(name)) {
            self.look_in_between(exploration)?;
        }
        let (mut broken, mut complete) = (BTreeSet::new(), true);
        let mut before: Option<&Judged> = None;
        for name in &names {
            let Some(judged) = self.known.get(name) else {
                complete = false;
                continue;
            };
            broken.extend(broken_in(before, judged, exploration.app));
            before = Some(judged);
        }
        broken.extend(ran.assertions.iter().map(|message| format!("ASSERT “{message}”")));
        let broken = broken.into_iter().collect();
        let rows = before.map(|last| last.rows.clone()).unwrap_or_default();
        Ok(Some(RunStates { came: Came { broken, rows }, complete }))
    }

    fn look_in_between(&mut self, exploration: &Exploration<'_>) -> Result<()> {
        let &Exploration { database, app, client, level, guide, watch } = exploration;
        let mut again = guide.lock().unwrap_or_else(PoisonError::into_inner).clone();
        again.same_run();
        let again = Arc::new(Mutex::new(again));
        database.begin_guided_run(level, Arc::clone(&again))?;
        calls(database, app, client, level, &again, watch, &mut |database| self.look(database, app, watch))?;
        Ok(())
    }

    /// Looks at what is committed now.
    fn look(&mut self, database: &Database, app: &App, watch: &Watch) -> Result<()> {
        let name = names(&database.history()).pop().unwrap_or_default();
        if let std::collections::btree_map::Entry::Vacant(place) = self.known.entry(name) {
            place.insert(judge(database, newest(database), app, watch)?);
        }
        Ok(())
    }
}

/// What the states of one run come to, and whether all of them were looked at.
pub(super) struct RunStates {
    pub(super) came: Came,
    pub(super) complete: bool,
}

/// What does not hold in a committed state that comes right after another one. A null value is not compared.
pub(super) fn broken_in(before: Option<&Judged>, now: &Judged, app: &App) -> Vec<String> {
    let mut broken = now.broken.clone();
    let earlier = before.into_iter().flat_map(|before| &before.monotone);
    for (call, ((before, ty), (now, _))) in app.monotone.iter().zip(earlier.zip(&now.monotone)) {
        if !before.is_null() && !now.is_null() && compare(now, before, *ty).is_lt() {
            broken.push(format!("{call} goes down"));
        }
    }
    broken
}

/// Looks at what is committed: invariants, functions that must not go down, and all rows.
pub(super) fn judge(database: &Database, mut check: Connection, app: &App, watch: &Watch) -> Result<Judged> {
    watch.and_over(check.canceller());
    let mut broken = Vec::new();
    for invariant in &app.invariants {
        let (_, rows) = query(&mut check, &format!("SELECT {invariant}"))?;
        if !matches!(rows.first().and_then(|row| row.first()), Some(Datum::Bool(true))) {
            broken.push(invariant.clone());
        }
    }
    let mut monotone = Vec::new();
    for call in &app.monotone {
        let (columns, rows) = query(&mut check, &format!("SELECT {call}"))?;
        let value = rows.into_iter().next().and_then(|row| row.into_iter().next()).unwrap_or(Datum::Null);
        monotone.push((value, columns.first().map_or(Type(0), |column| column.typed.ty)));
    }
    Ok(Judged { broken, monotone, rows: state(database, &mut check)? })
}

/// A connection that sees what was committed last and leaves no trace that any other transaction depends on.
fn newest(database: &Database) -> Connection {
    database.set_level(Level::Ru);
    let mut check =
        database.connect(Connected { clock: Some(begins(usize::MAX)), ..Connected::new(LOOKER, "explore") });
    check.session.reads = Reads::Newest;
    check
}

/// The names of the states after each commit, the initial one first: the last written value of every key.
fn names(history: &History) -> Vec<String> {
    let mut written: BTreeMap<String, String> = BTreeMap::new();
    let mut names = vec![String::new()];
    for id in history.txn_ids().filter(|&id| history.txn(id).status == Status::Committed) {
        let mut wrote = false;
        for op in history.ops(id).iter().filter(|op| op.kind() == OpKind::Write) {
            written.insert(history.key_name(op.key()).to_string(), history.value_text(op.value()).to_string());
            wrote = true;
        }
        if wrote {
            let mut name = String::new();
            written.iter().for_each(|(key, value)| _ = writeln!(name, "{key}={value}"));
            names.push(name);
        }
    }
    names
}
