//! The words that every renderer shares: an edge as a sentence, a violation as a headline, what to change.

use skew_model::{
    Edge, EdgeKind, Explanation, Finding, FindingKind, History, Key, OpId, OpKind, Reason, TxnId, Violation,
};

use crate::clean::clean;

/// Why an edge is there, as one sentence: "t1 read x=0, which t2 overwrote with x=1".
pub fn sentence(history: &History, edge: &Edge) -> String {
    let (from, to) = (txn(history, edge.from), txn(history, edge.to));
    match &edge.reason {
        Reason::Recorded => recorded(history, edge, &from, &to),
        Reason::Read { read, .. } => {
            let read = pair(history, *read);
            match (edge.kind, edge.kind.key().and_then(|key| write_of(history, edge.to, key))) {
                (EdgeKind::Ww(_), Some(own)) => {
                    format!("{to} read {read}, which {from} wrote, and wrote {}", pair(history, own))
                }
                _ => format!("{to} read {read}, which {from} wrote"),
            }
        }
        Reason::Overwrote { read, write, .. } => {
            format!("{from} read {}, which {to} overwrote with {}", pair(history, *read), pair(history, *write))
        }
        Reason::Ignored { read, write, .. } => {
            let reader = txn(history, history.txn_of(*read));
            let (read, write) = (pair(history, *read), pair(history, *write));
            if reader == to {
                format!("{to} had to see {write} of {from}, yet found {read} beneath its own write")
            } else {
                format!("{reader} had to see {write} of {from}, yet read {read} of {to}, which is therefore newer")
            }
        }
        Reason::Older { .. } => {
            let key = edge.kind.key().map_or_else(String::new, |key| key_name(history, key));
            format!("both wrote {key}, and {from} committed first, so {to} had to see it")
        }
        Reason::Supposed => "that is what this case supposes".to_owned(),
    }
}

fn recorded(history: &History, edge: &Edge, from: &str, to: &str) -> String {
    match edge.kind {
        EdgeKind::So => {
            let session = clean(&history.session_name(history.txn(edge.from).session));
            format!("{from} ran before {to} in session {session}")
        }
        EdgeKind::Rt => format!("{from} had ended before {to} began"),
        EdgeKind::Wr(key) => format!("the history says that {to} read {} from {from}", key_name(history, key)),
        EdgeKind::Ww(key) => match (write_of(history, edge.from, key), write_of(history, edge.to, key)) {
            (Some(old), Some(new)) => format!(
                "the history says that {} of {to} came after {} of {from}",
                pair(history, new),
                pair(history, old)
            ),
            _ => format!("the history says that {to} wrote {} after {from}", key_name(history, key)),
        },
        EdgeKind::Constraint(key) => match (write_of(history, edge.from, key), write_of(history, edge.to, key)) {
            (Some(write), _) => {
                format!("a constraint of {to} was evaluated after {from} had written {}", pair(history, write))
            }
            (None, Some(write)) => {
                format!("{to} wrote {} after a constraint of {from} had looked at it", pair(history, write))
            }
            // A part of a history keeps the order without the write.
            (None, None) => {
                format!("a constraint that looked at {} orders {from} before {to}", key_name(history, key))
            }
        },
        EdgeKind::Rw(key) => {
            format!("the history says that {from} read {} before {to} wrote it", key_name(history, key))
        }
    }
}

/// A violation in one sentence that stands alone: the anomaly's own words with the names filled in.
pub fn headline(violation: &Violation) -> String {
    fill(violation, violation.anomaly.definition().headline)
}

/// What to change, with the names filled in.
pub fn fix(violation: &Violation) -> String {
    fill(violation, violation.anomaly.definition().fix)
}

fn fill(violation: &Violation, template: &str) -> String {
    let names = Names::of(violation);
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after.split_once('}').and_then(|(name, tail)| Some((names.get(name)?, tail))) {
            Some((name, tail)) => {
                filled.push_str(name);
                rest = tail;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// What the places of a template stand for.
struct Names {
    txns: Vec<String>,
    keys: Vec<String>,
    value: String,
    read_only: String,
}

impl Names {
    fn of(violation: &Violation) -> Names {
        let history = &violation.history;
        let mut leaf = &violation.explanation;
        while let Explanation::Cases { first_before_second, .. } = leaf {
            leaf = first_before_second;
        }
        match leaf {
            Explanation::Finding(finding) => Names::of_finding(history, finding),
            Explanation::Cycle(cycle) => Names::of_cycle(history, &cycle.edges),
            Explanation::Cases { .. } => Names::of_cycle(history, &[]),
        }
    }

    fn of_cycle(history: &History, edges: &[Edge]) -> Names {
        let around: Vec<TxnId> = edges.iter().map(|edge| edge.from).collect();
        let mut rw =
            edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Rw(_))).filter_map(|edge| edge.kind.key());
        let any = |other_than: Option<Key>| {
            edges.iter().filter_map(|edge| edge.kind.key()).find(|key| Some(*key) != other_than)
        };
        let x = rw.next().or_else(|| any(None));
        let y = rw.next().or_else(|| any(x)).or(x);
        let keys = [x, y].into_iter().flatten();
        let writes = |id: &TxnId| history.ops(*id).iter().any(|op| op.kind() == OpKind::Write);
        let read_only = around.iter().find(|id| !writes(id)).or(around.first());
        let value = edges.iter().find_map(read_of).map(|read| history.value_text(history.op(read).value()));
        Names {
            read_only: read_only.map_or_else(String::new, |id| txn(history, *id)),
            txns: around.iter().map(|id| txn(history, *id)).collect(),
            keys: keys.map(|key| key_name(history, key)).collect(),
            value: clean(&value.unwrap_or_default()),
        }
    }

    fn of_finding(history: &History, finding: &Finding) -> Names {
        let ops = [finding.op, finding.other.or(finding.op)];
        let txns: Vec<String> = ops.iter().flatten().map(|op| txn(history, history.txn_of(*op))).collect();
        let op = finding.op.or(finding.other).map(|op| history.op(op));
        Names {
            read_only: txns.first().cloned().unwrap_or_default(),
            txns,
            keys: op.iter().map(|op| key_name(history, op.key())).collect(),
            value: op.map_or_else(String::new, |op| clean(&history.value_text(op.value()))),
        }
    }

    fn get(&self, place: &str) -> Option<&str> {
        let around = |names: &'_ [String], index: usize| -> Option<usize> { index.checked_rem(names.len()) };
        let txn = |index| around(&self.txns, index).map(|index| self.txns[index].as_str());
        let key = |index| around(&self.keys, index).map(|index| self.keys[index].as_str());
        match place {
            "a" => txn(0),
            "b" => txn(1),
            "c" => txn(2),
            "d" => txn(3),
            "x" => key(0),
            "y" => key(1),
            "v" => Some(&self.value),
            "r" => Some(&self.read_only),
            _ => None,
        }
    }
}

/// What a finding says about the operation, and about the other one.
pub(crate) fn finding_notes(history: &History, finding: &Finding) -> (String, String) {
    let name = |op: Option<OpId>| op.map_or_else(|| "it".to_owned(), |op| txn(history, history.txn_of(op)));
    let what = |op: Option<OpId>| op.map_or_else(|| "this".to_owned(), |op| pair(history, op));
    let (a, b) = (name(finding.op), name(finding.other));
    let (read, other) = (what(finding.op), what(finding.other));
    let key = finding.op.or(finding.other).map_or_else(|| "the key".to_owned(), |op| op_key(history, op));
    match finding.kind {
        FindingKind::ThinAirRead => (format!("nobody wrote {read}"), format!("{b} wrote {other}")),
        FindingKind::InternalRead => {
            (format!("but {a} read {read}"), format!("{b} had {} {other}", did(history, finding.other)))
        }
        FindingKind::FutureRead => (format!("{a} read {read}"), format!("but {b} wrote {other} only here")),
        FindingKind::AbortedRead => (format!("{a} read {read} from {b}"), format!("{b} wrote {other} and rolled back")),
        FindingKind::IntermediateRead => {
            (format!("{a} read {read} from {b}"), format!("{b} wrote {other} and overwrote it before it committed"))
        }
        FindingKind::IncompatibleOrder => {
            (format!("this version of {key} contradicts"), format!("this version of {key}: no order has both"))
        }
        FindingKind::DuplicateElement => {
            (format!("this version of {key} holds one element twice"), format!("{b} wrote {other}"))
        }
        FindingKind::AmbiguousRead => (format!("several writes wrote {read}"), format!("{b} wrote {other}")),
    }
}

fn did(history: &History, op: Option<OpId>) -> &'static str {
    match op.map(|op| history.op(op).kind()) {
        Some(OpKind::Write) | None => "written",
        Some(OpKind::Read | OpKind::Observe) => "read",
    }
}

/// The cycle in one line: `t1 -rw(x)-> t2 -rw(y)-> t1`.
pub(crate) fn cycle_line(history: &History, edges: &[Edge]) -> String {
    let mut line = edges.first().map_or_else(String::new, |edge| txn(history, edge.from));
    for edge in edges {
        line.push_str(&format!(" -{}-> {}", label(history, edge.kind), txn(history, edge.to)));
    }
    line
}

/// The letters of an edge and its key: `rw(x)`.
pub(crate) fn label(history: &History, kind: EdgeKind) -> String {
    match kind.key() {
        Some(key) => format!("{}({})", kind.letters(), key_name(history, key)),
        None => kind.letters().to_owned(),
    }
}

/// What an edge says before the sentence: "t1 comes before t2", the last one with "but".
pub(crate) fn order_words(history: &History, edges: &[Edge], index: usize) -> String {
    let Some(edge) = edges.get(index) else { return String::new() };
    let but = if index > 0 && index + 1 == edges.len() { "but " } else { "" };
    format!("{but}{} comes before {}", txn(history, edge.from), txn(history, edge.to))
}

/// The read that an edge talks about.
pub(crate) fn read_of(edge: &Edge) -> Option<OpId> {
    match edge.reason {
        Reason::Read { read, .. } | Reason::Overwrote { read, .. } | Reason::Ignored { read, .. } => Some(read),
        Reason::Recorded | Reason::Older { .. } | Reason::Supposed => None,
    }
}

/// The last write of a key in a transaction: the one that others can see.
pub(crate) fn write_of(history: &History, id: TxnId, key: Key) -> Option<OpId> {
    let writes = |op: &OpId| history.op(*op).kind() == OpKind::Write && history.op(*op).key() == key;
    history.op_ids(id).map(OpId).rfind(writes)
}

/// A transaction's name, safe to show.
pub(crate) fn txn(history: &History, id: TxnId) -> String {
    clean(&history.txn_name(id))
}

/// A key's name, safe to show.
pub(crate) fn key_name(history: &History, key: Key) -> String {
    clean(&history.key_name(key))
}

fn op_key(history: &History, op: OpId) -> String {
    key_name(history, history.op(op).key())
}

/// What an operation read or wrote: `x=0`.
pub(crate) fn pair(history: &History, op: OpId) -> String {
    let op = history.op(op);
    format!("{}={}", key_name(history, op.key()), clean(&history.value_text(op.value())))
}
