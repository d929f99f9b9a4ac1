//! What a history needs of a format. A writer lists what its format lacks and refuses a history that needs it.

use rustc_hash::FxHashSet;
use skew_model::{History, Key, Literal, OpId, OpKind, SessionId, Status, TxnId, Value};

use crate::error::WriteError;
use crate::format::Format;
use crate::numbers::numbers_of;

/// Something that a history may hold and a format may lack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Levels,
    Times,
    Statements,
    Sources,
    VersionOrders,
    Observations,
    Findings,
    Indeterminate,
    EmptyTransactions,
}

/// Everything that a format of bare reads and writes lacks.
pub(crate) const BEYOND_READS_AND_WRITES: &[Feature] = &[
    Feature::Levels,
    Feature::Times,
    Feature::Statements,
    Feature::Sources,
    Feature::VersionOrders,
    Feature::Observations,
    Feature::Findings,
];

/// Refuses a history that needs one of these.
pub(crate) fn refuse(history: &History, format: Format, lacking: &[Feature]) -> Result<(), WriteError> {
    match lacking.iter().find_map(|&feature| need(history, feature)) {
        Some(what) => Err(WriteError::cannot(format, what)),
        None => Ok(()),
    }
}

fn need(history: &History, feature: Feature) -> Option<String> {
    let txn = |wanted: &dyn Fn(TxnId) -> bool| history.txn_ids().find(|&id| wanted(id)).map(|id| history.txn_name(id));
    let op = |wanted: &dyn Fn(OpId) -> bool| {
        (0..history.all_ops().len() as u32).map(OpId).find(|&id| wanted(id)).map(|id| history.op_text(id))
    };
    match feature {
        Feature::Levels => {
            txn(&|id| history.txn(id).level.is_some()).map(|name| format!("the isolation level that {name} declares"))
        }
        Feature::Times => txn(&|id| history.span(id).is_some()).map(|name| format!("when {name} ran")),
        Feature::Statements => op(&|id| history.joined(id) || history.statement_begin(id).is_some())
            .map(|op| format!("the statement that `{op}` belongs to")),
        Feature::Sources => {
            op(&|id| history.stated_source(id).is_some()).map(|op| format!("where `{op}` takes its value from"))
        }
        Feature::VersionOrders => {
            history.ordered_keys().first().map(|&key| format!("the version order of {}", history.key_name(key)))
        }
        Feature::Observations => {
            op(&|id| history.op(id).kind() == OpKind::Observe).map(|op| format!("the observation `{op}`"))
        }
        Feature::Findings => (!history.findings().is_empty()).then(|| {
            "what was already found wrong with the reads (incompatible orders, elements seen twice)".to_owned()
        }),
        Feature::Indeterminate => txn(&|id| history.txn(id).status == Status::Indeterminate)
            .map(|name| format!("that nobody knows whether {name} committed")),
        Feature::EmptyTransactions => {
            txn(&|id| history.op_ids(id).is_empty()).map(|name| format!("{name}, which has no operations"))
        }
    }
}

/// The number behind a key, or a refusal.
pub(crate) fn key_number(history: &History, format: Format, op: OpId) -> Result<i64, WriteError> {
    match history.key_literal(history.op(op).key()) {
        Literal::Int(number) => Ok(number),
        _ => Err(WriteError::cannot(format, format!("the key of `{}`: keys are whole numbers", history.op_text(op)))),
    }
}

/// The number behind a value, or a refusal.
pub(crate) fn value_number(history: &History, format: Format, op: OpId) -> Result<i64, WriteError> {
    match history.literal(history.op(op).value()) {
        Literal::Int(number) => Ok(number),
        _ => {
            Err(WriteError::cannot(format, format!("the value of `{}`: values are whole numbers", history.op_text(op))))
        }
    }
}

/// What an operation reads or writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The initial version, however the format spells that.
    Initial,
    Written,
}

/// Tells reads of initial versions from all others, for formats with a spelling of their own for them. Initial values
/// may be nil or 0; other ones, and a 0 that is both the initial value and somebody's write, are refused.
pub(crate) struct InitialReads<'a> {
    history: &'a History,
    format: Format,
    written_zero: FxHashSet<Key>,
}

impl<'a> InitialReads<'a> {
    pub(crate) fn new(history: &'a History, format: Format) -> Result<Self, WriteError> {
        let plain = |value: Value| matches!(history.literal(value), Literal::Nil | Literal::Int(0));
        if let Some((key, value)) = history.stated_initials().into_iter().find(|&(_, value)| !plain(value)) {
            let what = format!("the initial value {}={}", history.key_name(key), history.value_text(value));
            return Err(WriteError::cannot(format, what));
        }
        if let Some(value) = history.initial_elsewhere().filter(|&value| !plain(value)) {
            return Err(WriteError::cannot(format, format!("the initial value *={}", history.value_text(value))));
        }
        let writes = history.all_ops().iter().filter(|op| op.kind() == OpKind::Write);
        let zeros = writes.filter(|op| history.literal(op.value()) == Literal::Int(0));
        Ok(InitialReads { history, format, written_zero: zeros.map(|op| op.key()).collect() })
    }

    /// Whether somebody writes 0 to the key of this operation.
    pub(crate) fn zero_is_written(&self, op: OpId) -> bool {
        self.written_zero.contains(&self.history.op(op).key())
    }

    pub(crate) fn seen(&self, id: OpId) -> Result<Seen, WriteError> {
        let op = self.history.op(id);
        let is_read = op.kind() != OpKind::Write;
        let is_initial = self.history.initial(op.key()) == op.value();
        if is_initial && is_read && !(op.value() != Value::NIL && self.zero_is_written(id)) {
            return Ok(Seen::Initial);
        }
        if op.value() == Value::NIL || is_initial {
            let what = format!("the value of `{}`, which is nil or both initial and written", self.history.op_text(id));
            return Err(WriteError::cannot(self.format, what));
        }
        Ok(Seen::Written)
    }
}

/// Numbers for the sessions, for formats without names.
pub(crate) fn session_numbers(history: &History, prefix: char) -> Vec<i64> {
    numbers_of((0..history.session_count() as u32).map(|id| history.session_literal(SessionId(id))), prefix)
}
