//! Runs as witnesses: told from a store step by step, and replayed on a fresh one.

use std::fmt;
use std::ops::Bound;

use rustc_hash::FxHashMap;
use skew_check::{Checker, Options as CheckOptions};
use skew_model::{
    History, Justification, Key, Literal, Outcome, Scope, SessionId, TxnId, Witness, WitnessAction, WitnessSource,
    WitnessStep,
};

use crate::choice::{Choice, Place, Point};
use crate::engine::{Recency, State};
use crate::log::{Action, Op};
use crate::spaces::NAMES;
use crate::store::{Options, Reads, Step, Store};
use crate::telling::Counts;
use crate::versions::{INIT, Txn};

/// What was shown by a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// What was wrong, in words.
    pub failure: String,
    /// The string that repeats the run of the program, where there is one.
    pub recording: Option<String>,
}

impl<V: Clone> Store<V> {
    /// What happened, step by step. What savepoints have undone is left out, and so are ranges of keys without names.
    pub fn witness(&self, shown: Shown, literal: impl Fn(&V) -> Literal) -> Witness {
        let mut steps: Vec<(i64, WitnessStep)> = Vec::new();
        for (at, record) in self.records.iter().enumerate() {
            let txn = self.engine.base + at as u32;
            let session = self.sessions.name(record.session).to_owned();
            let ended = match self.engine.txn(txn).state {
                State::Open => None,
                State::Committed => Some(WitnessAction::Commit),
                State::RolledBack => Some(WitnessAction::Rollback),
                State::Refused => Some(WitnessAction::Refused),
            };
            let begin = WitnessAction::Begin { txn: name(txn), level: record.level };
            let ops = self.told_ops(txn, &literal);
            let end = ended.map(|action| (record.ended, action));
            let scans = record.scans.iter().filter(|scan| scan.part.space == NAMES).map(|scan| {
                let before = scan.at.checked_sub(1).and_then(|last| self.statement_of(txn, last));
                let prefix = match scan.part.from() {
                    Bound::Included(prefix) => String::from_utf8_lossy(prefix).into_owned(),
                    _ => String::new(),
                };
                (scan.done, WitnessAction::Scan { prefix, joined: before == Some(scan.statement) })
            });
            let told = [(record.began, begin)].into_iter().chain(ops).chain(scans).chain(end);
            steps.extend(told.map(|(when, action)| (when, WitnessStep { session: session.clone(), action })));
        }
        steps.sort_by_key(|&(when, _)| when);
        let initial = |key: Key| self.initial(key.0).map(&literal);
        let init = self.named_keys().filter_map(|key| Some((self.key_name(key).into_owned(), initial(key)?)));
        Witness {
            failure: shown.failure,
            recording: shown.recording,
            real_time: self.options.recency == Recency::Commit,
            init: init.collect(),
            sessions: self.session_names().map(str::to_owned).collect(),
            steps: steps.into_iter().map(|(_, step)| step).collect(),
            history: self.history(&literal).to_string(),
            anomaly: None,
        }
    }

    fn told_ops(&self, txn: Txn, literal: &impl Fn(&V) -> Literal) -> Vec<(i64, WitnessAction)> {
        let (began, counting) = (self.record(txn).began, self.counting(txn));
        let mut last = None;
        let told = self.ops(txn).iter().enumerate().filter(|&(at, _)| counting[at] == Counts::Yes).map(|(at, op)| {
            let statement = self.statement_of(txn, at);
            let joined = std::mem::replace(&mut last, statement) == statement;
            let key = self.key_name(Key(op.key)).into_owned();
            let value = op.value.as_ref().map_or(Literal::Nil, literal);
            let at = began + op.at();
            let from = match op.action() {
                Action::Read(source, _) if source == INIT || source < self.engine.base => WitnessSource::Initial,
                Action::Read(source, _) => WitnessSource::Txn(name(source)),
                Action::OwnRead(_) => WitnessSource::Own,
                _ => return (at, WitnessAction::Write { key, value, joined }),
            };
            (at, WitnessAction::Read { key, value, from, joined })
        });
        told.collect()
    }

    /// The number of the statement of a transaction's operation.
    fn statement_of(&self, txn: Txn, at: usize) -> Option<u32> {
        let statements = self.statements_of(txn);
        let after = statements.partition_point(|statement| statement.first as usize <= at);
        Some(statements[after.checked_sub(1)?].number)
    }
}

/// Every transaction knows how much it has seen of every session, so sessions are not free.
const MAX_SESSIONS: usize = 1000;

fn name(txn: Txn) -> String {
    format!("t{}", txn + 1)
}

/// The witness of an explored run, whose transactions ran one after another but not in the order of their commits: a
/// store that keeps to levels which look at the commit order needs that order. Transactions that did not commit are
/// left out.
pub(crate) fn in_commit_order(witness: Witness, history: &History) -> Witness {
    let verdict = Checker::new(history, CheckOptions::default()).check(Scope::Declared);
    let Outcome::Holds(Justification::CommitOrder { order, .. }) = verdict.outcome else { return witness };
    let mut txns: FxHashMap<String, Vec<WitnessStep>> = FxHashMap::default();
    let mut open: FxHashMap<String, String> = FxHashMap::default();
    for step in &witness.steps {
        if let WitnessAction::Begin { txn, .. } = &step.action {
            open.insert(step.session.clone(), txn.clone());
        }
        let txn = open.get(&step.session).cloned().unwrap_or_default();
        txns.entry(txn).or_default().push(step.clone());
    }
    let steps = order.iter().filter_map(|&txn| txns.remove(&history.txn_name(txn))).flatten().collect();
    Witness { steps, ..witness }
}

/// A step that did not come out as the witness says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The step, from one.
    pub step: usize,
    /// What is different, in words.
    pub what: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} does not come out as the witness says: {}", self.step, self.what)
    }
}

impl std::error::Error for Mismatch {}

/// Runs a witness on a fresh store: every step in its order, every read from whom it read. Each step has to be one that
/// the store can take.
pub fn replay_witness(witness: &Witness) -> Result<Store<Literal>, Mismatch> {
    if witness.sessions.len() > MAX_SESSIONS {
        let what = format!("it has {} sessions, and a replay at most {MAX_SESSIONS}", witness.sessions.len());
        return Err(Mismatch { step: 0, what });
    }
    let recency = if witness.real_time { Recency::Commit } else { Recency::None };
    let mut replay = Replayed {
        store: Store::new(Options { recency, ..Options::default() }),
        sessions: FxHashMap::default(),
        open: FxHashMap::default(),
        txns: FxHashMap::default(),
    };
    for session in &witness.sessions {
        let id = replay.store.session(session);
        replay.sessions.insert(session.clone(), id);
    }
    for (key, value) in &witness.init {
        let id = replay.store.key(key);
        let given = replay.store.init(id, value.clone());
        given.map_err(|error| Mismatch { step: 0, what: error.to_string() })?;
    }
    let nexts = nexts(&witness.steps);
    for (at, step) in witness.steps.iter().enumerate() {
        let next = nexts[at].map(|next| &witness.steps[next]);
        replay.step(step, next).map_err(|what| Mismatch { step: at + 1, what })?;
    }
    Ok(replay.store)
}

/// For each step, the next one of the same session.
fn nexts(steps: &[WitnessStep]) -> Vec<Option<usize>> {
    let mut last: FxHashMap<&str, usize> = FxHashMap::default();
    let mut nexts = vec![None; steps.len()];
    for (at, step) in steps.iter().enumerate().rev() {
        nexts[at] = last.insert(&step.session, at);
    }
    nexts
}

struct Replayed {
    store: Store<Literal>,
    sessions: FxHashMap<String, SessionId>,
    open: FxHashMap<SessionId, TxnId>,
    txns: FxHashMap<String, TxnId>,
}

/// Answers with the source that is wanted.
struct Wanted {
    source: Option<Place>,
    missing: bool,
}

impl Choice for Wanted {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let Point::Source(read) = point else { return 0 };
        let at = read.sources.iter().position(|&source| source == self.source);
        self.missing |= at.is_none();
        at.unwrap_or(0)
    }

    fn sees_sources(&self) -> bool {
        true
    }
}

impl Replayed {
    fn step(&mut self, step: &WitnessStep, next: Option<&WitnessStep>) -> Result<(), String> {
        let &session = self.sessions.get(&step.session).ok_or(format!("there is no session `{}`", step.session))?;
        if let WitnessAction::Begin { txn, level } = &step.action {
            let id = self.store.begin(session, *level, Reads::Any).map_err(|error| error.to_string())?;
            self.open.insert(session, id);
            self.txns.insert(txn.clone(), id);
            return Ok(());
        }
        let &txn = self.open.get(&session).ok_or(format!("`{}` has no transaction open", step.session))?;
        let fails = |error: crate::Error| error.to_string();
        match &step.action {
            WitnessAction::Read { joined, .. }
            | WitnessAction::Write { joined, .. }
            | WitnessAction::Scan { joined, .. }
                if !joined =>
            {
                self.store.statement(txn).map_err(fails)?;
            }
            _ => {}
        }
        match &step.action {
            WitnessAction::Begin { .. } => unreachable!("handled above"),
            WitnessAction::Read { key, value, from, .. } => self.read(txn, key, value, from, next),
            WitnessAction::Write { key, value, .. } => {
                let key = self.store.key(key);
                let value = (*value != Literal::Nil).then(|| value.clone());
                match self.store.write(txn, key, value) {
                    Ok(Step::Done(())) => Ok(()),
                    Ok(Step::Wait(_)) => Err("it has to wait for a lock".to_owned()),
                    // The witness says in its next step that the store refused it.
                    Err(error) if error.is_retryable() && is_refused(next) => Ok(()),
                    Err(error) => Err(error.to_string()),
                }
            }
            WitnessAction::Scan { prefix, .. } if self.store.is_open(txn) => {
                self.store.note_scan(txn, prefix).map_err(fails)
            }
            WitnessAction::Scan { .. } => Err("the transaction has ended".to_owned()),
            WitnessAction::Commit => self.store.commit(txn).map_err(fails),
            WitnessAction::Rollback => self.store.rollback(txn).map_err(fails),
            // What it was refused for (a lock that it waited for, a scan) may not be among the steps.
            WitnessAction::Refused if self.store.is_open(txn) => self.store.rollback(txn).map_err(fails),
            WitnessAction::Refused => Ok(()),
        }
    }

    fn read(
        &mut self,
        txn: TxnId,
        key: &str,
        value: &Literal,
        from: &WitnessSource,
        next: Option<&WitnessStep>,
    ) -> Result<(), String> {
        let source = match from {
            WitnessSource::Initial | WitnessSource::Own => None,
            WitnessSource::Txn(name) => {
                let &source = self.txns.get(name).ok_or(format!("transaction `{name}` has not begun"))?;
                self.store.place(source.0)
            }
        };
        let mut wanted = Wanted { source, missing: false };
        let id = self.store.key(key);
        let updates = next.is_some_and(
            |next| matches!(&next.action, WitnessAction::Write { key: written, joined: true, .. } if written == key),
        );
        let read = if updates {
            // Told as a read under the lock, so it was wanted.
            self.store.read_for_update(txn, id, &|_| true, &mut wanted)
        } else {
            self.store.read(txn, id, &mut wanted).map(Step::Done)
        };
        let saw = match read.map_err(|error| error.to_string())? {
            Step::Done(saw) => saw.unwrap_or(Literal::Nil),
            Step::Wait(_) => return Err("it has to wait for a lock".to_owned()),
        };
        let read_from = self.store.ops(txn.0).last().map(Op::action);
        let as_said = match (from, read_from) {
            (WitnessSource::Own, Some(Action::OwnRead(_))) => true,
            (_, Some(Action::Read(found, _))) => self.store.place(found) == source,
            _ => false,
        };
        if wanted.missing || !as_said {
            return Err(format!("`{key}` cannot be read from there at this level"));
        }
        let (saw, said) = (skew_model::hist::literal_text(&saw), skew_model::hist::literal_text(value));
        if saw == said { Ok(()) } else { Err(format!("`{key}` is {saw} and not {said}")) }
    }
}

fn is_refused(next: Option<&WitnessStep>) -> bool {
    next.is_some_and(|next| next.action == WitnessAction::Refused)
}
