//! The definition of the levels, read literally: try every commit order. For a handful of transactions only; every
//! other engine is tested against this one.
//!
//! Sets of transactions are bits, so that exhaustive tests can afford it; otherwise this is the sentence at the top of
//! [`skew_model::level`] and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::level::{Sees, Serializable};
use skew_model::{History, Key, OpId, OpKind, Scope, TxnId};

use crate::facts::{Facts, INIT, Node, Read};

/// The most transactions that the oracle takes.
pub const MAX_TXNS: usize = 9;

/// Whether some commit order satisfies the definition, for a history without findings.
///
/// Panics when the history has more than [`MAX_TXNS`] transactions.
pub fn some_order_satisfies(facts: &Facts, scope: Scope) -> bool {
    assert!(facts.len() <= MAX_TXNS + 1, "the oracle tries all orders and takes at most {MAX_TXNS} transactions");
    let history = Said::new(facts, scope);
    let mut order: Vec<Node> = (0..facts.len() as Node).collect();
    some_permutation(&mut order, 1, &mut |order| history.satisfied_by(order))
}

/// A commit order that satisfies the definition, the initial transaction first.
pub(crate) fn satisfying_order(facts: &Facts, scope: Scope) -> Option<Vec<Node>> {
    let history = Said::new(facts, scope);
    let mut order: Vec<Node> = (0..facts.len() as Node).collect();
    let mut found = None;
    some_permutation(&mut order, 1, &mut |order| {
        let satisfies = history.satisfied_by(order);
        found = satisfies.then(|| order.to_vec());
        satisfies
    });
    found
}

/// Whether this commit order, the initial transaction first, satisfies the definition.
pub fn order_satisfies(facts: &Facts, scope: Scope, order: &[u32]) -> bool {
    Said::new(facts, scope).satisfied_by(order)
}

/// A final state of a history: the last writer of each key. Keys that no transaction writes have no entry.
pub type FinalState = BTreeMap<Key, TxnId>;

/// The final states of a history without findings: for each commit order that satisfies the definition, the last writer of
/// each key in that order, jointly over all keys.
///
/// A history does not say who wrote last where no read has seen the last write. Two blind writes leave either value, at
/// every level:
/// ```text
/// alice  t1   w x=1
/// bob    t2   w x=2          final states: x from t1, x from t2
/// ```
/// but two transactions that write both `x` and `y` leave both values of the same one, because one order settles all keys.
///
/// Panics when the history has more than [`MAX_TXNS`] transactions.
pub fn final_states(facts: &Facts, scope: Scope) -> BTreeSet<FinalState> {
    assert!(facts.len() <= MAX_TXNS + 1, "the oracle tries all orders and takes at most {MAX_TXNS} transactions");
    let history = Said::new(facts, scope);
    let mut states = BTreeSet::new();
    let mut order: Vec<Node> = (0..facts.len() as Node).collect();
    some_permutation(&mut order, 1, &mut |order| {
        if history.satisfied_by(order) {
            let mut state = FinalState::new();
            for &node in &order[1..] {
                state.extend(facts.writes(node).iter().map(|&key| (Key(key), facts.txns[node as usize])));
            }
            states.insert(state);
        }
        false
    });
    states
}

fn some_permutation(order: &mut [Node], from: usize, accept: &mut dyn FnMut(&[Node]) -> bool) -> bool {
    if from >= order.len() {
        return accept(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        let found = some_permutation(order, from + 1, accept);
        order.swap(from, at);
        if found {
            return true;
        }
    }
    false
}

/// A set of transactions.
type Set = u16;

/// For each transaction, who is related to it: `relation[b]` holds every `a` with `(a, b)`.
type Relation = [Set; MAX_TXNS + 1];

fn one(node: Node) -> Set {
    1 << node
}

fn members(set: Set) -> impl Iterator<Item = Node> {
    (0..=MAX_TXNS as Node).filter(move |&node| set & one(node) != 0)
}

/// What the history says, whatever the commit order.
struct Said<'a> {
    facts: &'a Facts<'a>,
    scope: Scope,
    so: Relation,
    wr: Relation,
    /// Who had ended before a statement began, where that is looked at.
    ended: Relation,
    /// Known version order, and what constraints put in order.
    older: Relation,
    /// Who writes a common key.
    conflicts: Relation,
    causes: Relation,
    /// Happens-before is total on them (SERTOTAL).
    marked: Set,
    /// They are serializable among themselves, beside transactions that are not.
    apart: Set,
    reads: Vec<(Node, Seen)>,
}

/// A read, with what it must see whatever the commit order.
struct Seen {
    source: Node,
    /// The writers of the key.
    writers: Set,
    /// Whom earlier reads of the transaction read from.
    earlier: Set,
    /// The same by statements, and who had ended before a statement up to this one began.
    by_statement: Set,
    /// By statements, where one that writes looks at one row after the other.
    in_turn: Set,
    /// The transactions that statements which write nothing read from.
    plain: Set,
    /// Whether the statement of the read writes the key.
    own_row: bool,
    /// Whether it writes anything.
    writes: bool,
}

impl<'a> Said<'a> {
    fn new(facts: &'a Facts, scope: Scope) -> Self {
        let nodes = 1..facts.len() as Node;
        let mut said = Said {
            facts,
            scope,
            so: [0; MAX_TXNS + 1],
            wr: [0; MAX_TXNS + 1],
            ended: [0; MAX_TXNS + 1],
            older: [0; MAX_TXNS + 1],
            conflicts: [0; MAX_TXNS + 1],
            causes: [0; MAX_TXNS + 1],
            marked: 0,
            apart: 0,
            reads: Vec::new(),
        };
        let marked = facts.serializable(scope, Serializable::InHappensBefore);
        said.marked = marked.fold(0, |set, node| set | one(node));
        said.apart = facts.serializable_apart(scope).fold(0, |set, node| set | one(node));
        for b in nodes.clone() {
            for a in 0..facts.len() as Node {
                let at = b as usize;
                said.so[at] |= Set::from(session_order(facts, scope, a, b)) << a;
                said.wr[at] |= Set::from(reads_from(facts, scope, a, b)) << a;
                said.ended[at] |= Set::from(ended_before_a_statement(facts, scope, a, b, u32::MAX)) << a;
                said.older[at] |= Set::from(older_version(facts, a, b)) << a;
                said.conflicts[at] |= Set::from(a != b && common_key(facts, a, b)) << a;
                said.causes[at] = said.so[at] | said.wr[at];
            }
        }
        close(&mut said.causes);
        for t3 in nodes {
            said.reads.extend(facts.reads(t3).iter().map(|read| (t3, seen(facts, scope, t3, read))));
        }
        said
    }

    fn satisfied_by(&self, order: &[Node]) -> bool {
        let mut co = [0; MAX_TXNS + 1];
        let mut before = 0;
        for &node in order {
            co[node as usize] = before;
            before |= one(node);
        }
        let nodes = 1..self.facts.len();
        let extends = nodes.clone().all(|b| (self.so[b] | self.wr[b] | self.ended[b] | self.older[b]) & !co[b] == 0);
        if !extends {
            return false;
        }
        // `so ∪ wr`, and SERTOTAL; the same with `ww` from `co`.
        let mut causes = self.causes;
        for b in members(self.marked) {
            causes[b as usize] |= self.marked & co[b as usize];
        }
        let mut causes_and_versions = causes;
        if self.marked != 0 {
            close(&mut causes);
        }
        for b in nodes {
            causes_and_versions[b] |= self.conflicts[b] & co[b];
        }
        close(&mut causes_and_versions);
        let seen = Order { co, causes, causes_and_versions };
        self.serializable_apart(&seen.co)
            && self.reads.iter().all(|(t3, read)| {
                // Every other writer of the key that must be seen comes before the source.
                let others = read.writers & !one(read.source);
                self.must_see(*t3, read, &seen) & others & !seen.co[read.source as usize] == 0
            })
    }

    /// Dependencies among the transactions that are serializable among themselves form no cycle.
    fn serializable_apart(&self, co: &Relation) -> bool {
        let mut before = [0; MAX_TXNS + 1];
        for b in members(self.apart) {
            let at = b as usize;
            let session = members(self.apart).filter(|&a| in_one_session(self.facts, self.scope, a, b));
            let session: Set = session.fold(0, |set, a| set | one(a));
            before[at] = (session | self.wr[at] | self.conflicts[at] & co[at]) & self.apart;
        }
        for (t3, read) in self.reads.iter().filter(|(t3, _)| self.apart & one(*t3) != 0) {
            let others = members(read.writers & self.apart & !one(*t3));
            let later = others.filter(|&t2| co[t2 as usize] & one(read.source) != 0);
            later.for_each(|t2| before[t2 as usize] |= one(*t3));
        }
        close(&mut before);
        members(self.apart).all(|node| before[node as usize] & one(node) == 0)
    }

    /// The last writers before a transaction of the keys that it writes, as far as they leave a row there.
    fn overwritten_rows(&self, t3: Node, co: &Relation) -> Set {
        let writers =
            |key: u32| members(co[t3 as usize]).filter(move |&t2| t2 != INIT && self.facts.writes_key(t2, key));
        let last = |&key: &u32| {
            let last = writers(key).max_by_key(|&t2| co[t2 as usize].count_ones())?;
            (!self.facts.deletes(last, key)).then_some(last)
        };
        self.facts.writes(t3).iter().filter_map(last).fold(0, |set, t2| set | one(t2))
    }

    fn must_see(&self, t3: Node, read: &Seen, order: &Order) -> Set {
        let co = &order.co;
        let definition = self.facts.level(t3, self.scope).definition();
        let node = t3;
        let t3 = t3 as usize;
        let mut seen = 0;
        for sees in definition.sees {
            seen |= match sees {
                Sees::EarlierReads => read.earlier,
                Sees::StatementReads => read.by_statement,
                Sees::Reads => self.wr[t3],
                Sees::Session => self.so[t3],
                Sees::ReadsInTurn => read.in_turn,
                Sees::PlainReads if !read.writes => read.plain,
                Sees::LockedReads if read.writes => co[t3],
                Sees::PlainReads | Sees::LockedReads => 0,
                Sees::Causes => order.causes[t3],
                Sees::CausesAndVersions => order.causes_and_versions[t3],
                Sees::Conflicts => co[t3] & self.conflicts[t3],
                Sees::RowConflicts => self.overwritten_rows(node, co),
                Sees::OwnStatementRow if read.own_row => co[t3],
                Sees::OwnStatementRow => 0,
                Sees::Everything => co[t3],
            };
        }
        if definition.prefix {
            seen |= members(seen).fold(0, |prefix, t4| prefix | co[t4 as usize]);
        }
        seen
    }
}

/// A commit order, and what follows from it.
struct Order {
    co: Relation,
    causes: Relation,
    causes_and_versions: Relation,
}

fn close(relation: &mut Relation) {
    for via in 0..relation.len() {
        for b in 0..relation.len() {
            if relation[b] & one(via as Node) != 0 {
                relation[b] |= relation[via];
            }
        }
    }
}

fn seen(facts: &Facts, scope: Scope, t3: Node, read: &Read) -> Seen {
    let reads = facts.reads(t3);
    let at = reads.iter().position(|other| other.op == read.op).expect("the read is one of its transaction's");
    let history = facts.history;
    let statement = |read: &Read| statement_of(history, read.op);
    let own_row = |read: &Read| {
        let mut ops = statement(read).map(|op| history.op(OpId(op)));
        ops.any(|op| op.kind() == OpKind::Write && op.key() == Key(read.key))
    };
    let earlier = reads[..at].iter().fold(0, |set, other| set | one(other.source));
    let alone = !history.has_statements();
    let writes = |read: &Read| !alone && statement(read).any(|op| history.op(OpId(op)).kind() == OpKind::Write);
    let mates = reads.iter().filter(|other| !alone && statement(other) == statement(read) && !own_row(other));
    let ended = (0..facts.len() as Node).filter(|&t2| ended_before_a_statement(facts, scope, t2, t3, read.op));
    let ended: Set = ended.fold(0, |set, t2| set | one(t2));
    let by_statement = mates.map(|other| other.source).fold(earlier | ended, |set, t2| set | one(t2));
    let plain = reads.iter().filter(|other| !writes(other)).fold(0, |set, other| set | one(other.source));
    Seen {
        source: read.source,
        writers: (0..facts.len() as Node).filter(|&t2| facts.writes_key(t2, read.key)).fold(0, |set, t2| set | one(t2)),
        earlier,
        by_statement,
        in_turn: if writes(read) { earlier | ended | one(read.source) } else { by_statement },
        plain,
        own_row: !alone && own_row(read),
        writes: writes(read),
    }
}

/// The operations of the statement that an operation belongs to.
fn statement_of(history: &History, op: u32) -> std::ops::Range<u32> {
    let ids = history.op_ids(history.txn_of(OpId(op)));
    let start = (ids.start..=op).rev().find(|&op| op == ids.start || !history.joined(OpId(op))).unwrap_or(op);
    let end = (op + 1..ids.end).find(|&op| !history.joined(OpId(op))).unwrap_or(ids.end);
    start..end
}

fn session_order(facts: &Facts, scope: Scope, a: Node, b: Node) -> bool {
    if a == INIT || a == b {
        return a == INIT;
    }
    let (first, second) = (facts.txns[a as usize], facts.txns[b as usize]);
    let by_time = facts.timed(b, scope)
        && match (facts.history.span(first), facts.history.span(second)) {
            (Some(first), Some(second)) => first.end < second.begin,
            _ => false,
        };
    by_time || in_one_session(facts, scope, a, b)
}

fn in_one_session(facts: &Facts, scope: Scope, a: Node, b: Node) -> bool {
    let (first, second) = (facts.txns[a as usize], facts.txns[b as usize]);
    let same_session = facts.history.txn(first).session == facts.history.txn(second).session;
    same_session && first < second && facts.in_session(b, scope)
}

fn reads_from(facts: &Facts, scope: Scope, a: Node, b: Node) -> bool {
    let binds = facts.level(b, scope).definition().committed_reads;
    binds && facts.reads(b).iter().any(|read| read.source == a)
}

/// Whether `t2` had ended before a statement of `t3`, up to this operation, began; where that is looked at.
fn ended_before_a_statement(facts: &Facts, scope: Scope, t2: Node, t3: Node, up_to: u32) -> bool {
    if !facts.history.has_statement_times() {
        return false;
    }
    let looked_at = facts.level(t3, scope).looks_at_statements();
    if t2 == INIT || t2 == t3 || !facts.timed(t3, scope) || !looked_at {
        return false;
    }
    let ended = facts.history.span(facts.txns[t2 as usize]).map(|span| span.end);
    ended.is_some_and(|ended| facts.statement_begins(t3).any(|(op, begin)| op <= up_to && ended < begin))
}

fn older_version(facts: &Facts, a: Node, b: Node) -> bool {
    facts.version_orders.iter().any(|order| order.has(a, b))
        || facts.constraint_orders.iter().any(|&(first, second, _)| (first, second) == (a, b))
}

fn common_key(facts: &Facts, a: Node, b: Node) -> bool {
    match a {
        INIT => !facts.writes(b).is_empty(),
        _ => facts.writes(a).iter().any(|&key| facts.writes_key(b, key)),
    }
}
