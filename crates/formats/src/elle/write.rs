//! History → EDN. With version orders it is a list-append history, whose reads show the order up to what they read;
//! without, an rw-register one. Times become places in the file; the order that they say stays.

use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::{History, Key, Literal, Op, OpId, OpKind, Status, TxnId, Value};

use crate::error::WriteError;
use crate::express::{self, Feature, InitialReads, Seen, refuse};
use crate::format::Format;
use crate::json::text_json;

const FORMAT: Format = Format::Elle;

pub(crate) fn write(history: &History, out: &mut impl Write) -> Result<(), WriteError> {
    refuse(history, FORMAT, &[Feature::Levels, Feature::Statements, Feature::Sources, Feature::Findings])?;
    let writer = Writer::new(history)?;
    for (index, (id, is_begin)) in events(history)?.into_iter().enumerate() {
        let txn = history.txn(id);
        let kind = match txn.status {
            _ if is_begin => "invoke",
            Status::Committed => "ok",
            Status::Aborted => "fail",
            Status::Indeterminate => "info",
        };
        let process = writer.processes[txn.session.0 as usize];
        write!(out, "{{:type :{kind}, :f :txn, :process {process}, :index {index}, :value [")?;
        writer.micros(id, is_begin, out)?;
        writeln!(out, "]}}")?;
    }
    Ok(())
}

/// The lines of the file: who begins (true) or ends (false), in order.
fn events(history: &History) -> Result<Vec<(TxnId, bool)>, WriteError> {
    let mut last_of_session: Vec<Option<TxnId>> = vec![None; history.session_count()];
    for id in history.txn_ids() {
        let txn = history.txn(id);
        let before = last_of_session[txn.session.0 as usize].replace(id);
        let Some(before) = before else { continue };
        if history.txn(before).status == Status::Indeterminate {
            return Err(cannot(history, "that a session goes on after", before));
        }
        if let (Some(before), Some(span)) = (history.span(before), history.span(id))
            && before.end >= span.begin
        {
            return Err(cannot(history, "that its session had not ended another transaction before", id));
        }
    }
    if !history.has_times() {
        return Ok(history.txn_ids().map(|id| (id, false)).collect());
    }
    let mut events = Vec::new();
    for id in history.txn_ids() {
        let Some(span) = history.span(id) else {
            return Err(cannot(history, "times of other transactions and none of", id));
        };
        let never_ended = span.end == i64::MAX;
        if never_ended != (history.txn(id).status == Status::Indeterminate) {
            return Err(cannot(history, "the time at which this one ended:", id));
        }
        // Beginnings before ends: who begins at the moment of an end does not begin after it.
        events.push((span.begin, 0, id));
        if !never_ended {
            events.push((span.end, 1, id));
        }
    }
    events.sort_unstable();
    Ok(events.into_iter().map(|(_, phase, id)| (id, phase == 0)).collect())
}

fn cannot(history: &History, what: &str, id: TxnId) -> WriteError {
    WriteError::cannot(FORMAT, format!("{what} {}", history.txn_name(id)))
}

struct Writer<'a> {
    history: &'a History,
    initial: InitialReads<'a>,
    processes: Vec<i64>,
    /// Where in its version order a value is, in a list-append history.
    places: Option<FxHashMap<(Key, Value), usize>>,
}

impl<'a> Writer<'a> {
    fn new(history: &'a History) -> Result<Self, WriteError> {
        let orders = history.ordered_keys();
        let observed = history.all_ops().iter().any(|op| op.kind() == OpKind::Observe);
        let mut places = None;
        if !orders.is_empty() || observed {
            refuse_hidden_versions(history)?;
            let all = orders.iter().flat_map(|&key| {
                let order = history.version_order(key).unwrap_or_default().iter();
                order.enumerate().map(move |(place, &value)| ((key, value), place))
            });
            places = Some(all.collect());
        }
        let initial = InitialReads::new(history, FORMAT)?;
        Ok(Writer { history, initial, processes: express::session_numbers(history, 's'), places })
    }

    fn micros(&self, id: TxnId, is_begin: bool, out: &mut impl Write) -> Result<(), WriteError> {
        let committed = self.history.txn(id).status == Status::Committed;
        let mut own = OwnAppends::default();
        let mut space = "";
        for op_id in self.history.op_ids(id).map(OpId) {
            let op = self.history.op(op_id);
            if op.kind() == OpKind::Read && !committed {
                return Err(cannot(self.history, "reads of a transaction that did not commit:", id));
            }
            if self.places.is_some() && !own.expects(op, self.list(op)) {
                let what = format!("`{}` here: lists would say something else", self.history.op_text(op_id));
                return Err(WriteError::cannot(FORMAT, what));
            }
            if op.kind() == OpKind::Observe {
                continue;
            }
            out.write_all(space.as_bytes())?;
            self.micro(op_id, is_begin, out)?;
            space = " ";
        }
        if own.expected.is_some() {
            return Err(cannot(self.history, "a list read without its observation, in", id));
        }
        Ok(())
    }

    fn micro(&self, id: OpId, is_begin: bool, out: &mut impl Write) -> Result<(), WriteError> {
        let op = self.history.op(id);
        let key = literal_edn(&self.history.key_literal(op.key()));
        let seen = self.initial.seen(id)?;
        match (op.kind(), &self.places) {
            (OpKind::Write, places) => {
                let name = if places.is_some() { "append" } else { "w" };
                write!(out, "[:{name} {key} {}]", literal_edn(&self.history.literal(op.value())))?;
            }
            (_, _) if is_begin => write!(out, "[:r {key} nil]")?,
            (_, None) if seen == Seen::Initial => write!(out, "[:r {key} nil]")?,
            (_, None) => write!(out, "[:r {key} {}]", literal_edn(&self.history.literal(op.value())))?,
            (_, Some(places)) if seen == Seen::Written && !places.contains_key(&(op.key(), op.value())) => {
                let what = format!("`{}`: the version order does not have it", self.history.op_text(id));
                return Err(WriteError::cannot(FORMAT, what));
            }
            (_, Some(_)) => self.list_read(&key, self.list(op), out)?,
        }
        Ok(())
    }

    fn list_read(&self, key: &str, list: &[Value], out: &mut impl Write) -> io::Result<()> {
        write!(out, "[:r {key} [")?;
        for (index, &element) in list.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            write!(out, "{space}{}", literal_edn(&self.history.literal(element)))?;
        }
        out.write_all(b"]]")
    }

    /// The version order up to what an operation reads.
    fn list(&self, op: Op) -> &[Value] {
        let place = self.places.as_ref().and_then(|places| places.get(&(op.key(), op.value())));
        match (place, self.history.version_order(op.key())) {
            (Some(&place), Some(order)) => &order[..=place],
            _ => &[],
        }
    }
}

/// Lists show the version order only as far as somebody read, and complain about elements that nobody appended.
fn refuse_hidden_versions(history: &History) -> Result<(), WriteError> {
    let mut reads = FxHashSet::default();
    let mut writes = FxHashSet::default();
    for id in history.txn_ids() {
        for op in history.ops(id) {
            if op.kind() == OpKind::Read {
                reads.insert((op.key(), op.value()));
            }
            if op.kind() == OpKind::Write && history.txn(id).status != Status::Aborted {
                writes.insert((op.key(), op.value()));
            }
        }
    }
    for key in history.ordered_keys() {
        let order = history.version_order(key).unwrap_or_default();
        let shown = order.last().is_some_and(|&value| reads.contains(&(key, value)));
        if !shown || !order.iter().all(|&value| writes.contains(&(key, value))) {
            let what = format!(
                "the version order of {}, which no read shows or which has unwritten values",
                history.key_name(key)
            );
            return Err(WriteError::cannot(FORMAT, what));
        }
    }
    Ok(())
}

/// What the reader of lists will make of a transaction, to be sure that it is what the transaction says.
#[derive(Default)]
struct OwnAppends {
    appends: FxHashMap<Key, Vec<Value>>,
    knows_version: FxHashSet<Key>,
    /// The observation that must come next.
    expected: Option<Op>,
}

impl OwnAppends {
    fn expects(&mut self, op: Op, list: &[Value]) -> bool {
        if let Some(expected) = self.expected.take() {
            return op == expected;
        }
        match op.kind() {
            OpKind::Observe => return false,
            OpKind::Write => self.appends.entry(op.key()).or_default().push(op.value()),
            OpKind::Read => match self.appends.get(&op.key()) {
                None => drop(self.knows_version.insert(op.key())),
                Some(own) => {
                    if let Some(beneath) = list.strip_suffix(own.as_slice())
                        && self.knows_version.insert(op.key())
                    {
                        let beneath = beneath.last().copied().unwrap_or(Value::NIL);
                        self.expected = Some(Op::new(OpKind::Observe, op.key(), beneath));
                    }
                }
            },
        }
        true
    }
}

fn literal_edn(literal: &Literal) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '*' | '!' | '?');
    match literal {
        Literal::Nil => "nil".to_owned(),
        Literal::Int(number) => number.to_string(),
        Literal::Text(text) => match text.strip_prefix(':') {
            Some(word) if !word.is_empty() && word.chars().all(is_word) => text.clone(),
            // JSON and EDN agree on strings.
            _ => text_json(text),
        },
    }
}
