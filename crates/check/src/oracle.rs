//! The definition of the levels, read literally: try every commit order. For a handful of transactions only; every
//! other engine is tested against this one.

use skew_model::level::Sees;
use skew_model::Scope;

use crate::facts::{Facts, INIT, Node, Read, statement_of, statement_writes};

/// The most transactions that the oracle takes.
pub const MAX_TXNS: usize = 9;

/// Whether some commit order satisfies the definition, for a history without findings.
///
/// Panics when the history has more than [`MAX_TXNS`] transactions.
pub fn some_order_satisfies(facts: &Facts, scope: Scope) -> bool {
    assert!(facts.len() <= MAX_TXNS + 1, "the oracle tries all orders and takes at most {MAX_TXNS} transactions");
    let mut order: Vec<Node> = (0..facts.len() as Node).collect();
    some_permutation(&mut order, 1, &mut |order| order_satisfies(facts, scope, order))
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

/// Whether this commit order, the initial transaction first, satisfies the definition.
pub fn order_satisfies(facts: &Facts, scope: Scope, order: &[u32]) -> bool {
    let world = World::new(facts, scope, order);
    world.extends_session_order_and_reads()
        && world.extends_version_orders()
        && (1..facts.len() as Node).all(|reader| facts.reads(reader).iter().all(|read| world.read_is_fine(reader, read)))
}

type Relation = Vec<Vec<bool>>;

struct World<'a> {
    facts: &'a Facts<'a>,
    scope: Scope,
    co: Relation,
    so: Relation,
    wr: Relation,
    causes: Relation,
    causes_and_versions: Relation,
}

impl<'a> World<'a> {
    fn new(facts: &'a Facts, scope: Scope, order: &[Node]) -> Self {
        let n = facts.len() as Node;
        let place = |node: Node| order.iter().position(|&other| other == node);
        let co = relation(n, |a, b| place(a) < place(b));
        let so = relation(n, |a, b| session_order(facts, scope, a, b));
        let wr = relation(n, |a, b| committed_reads(facts, scope, b) && facts.reads(b).iter().any(|read| read.source == a));
        let ww = relation(n, |a, b| co[a as usize][b as usize] && common_key(facts, a, b));
        let causes = closure(relation(n, |a, b| so[a as usize][b as usize] || wr[a as usize][b as usize]));
        let causes_and_versions =
            closure(relation(n, |a, b| causes[a as usize][b as usize] || ww[a as usize][b as usize]));
        World { facts, scope, co, so, wr, causes, causes_and_versions }
    }

    fn extends_session_order_and_reads(&self) -> bool {
        self.all_pairs(|a, b| {
            let before = self.so[a][b] || self.wr[a][b] || self.ended_before_a_statement(a as Node, b as Node, u32::MAX);
            !before || self.co[a][b]
        })
    }

    /// Whether `t2` had ended before a statement of `t3`, up to this operation, began; where that is looked at.
    fn ended_before_a_statement(&self, t2: Node, t3: Node, up_to: u32) -> bool {
        let facts = self.facts;
        if t2 == INIT || t3 == INIT || t2 == t3 || !facts.real_time(self.scope) {
            return false;
        }
        if !facts.level(t3, self.scope).definition().sees.contains(&Sees::StatementReads) {
            return false;
        }
        let ended = facts.history.span(facts.txns[t2 as usize]).map(|span| span.end);
        ended.is_some_and(|ended| facts.statement_begins(t3).any(|(op, begin)| op <= up_to && ended < begin))
    }

    fn extends_version_orders(&self) -> bool {
        self.facts.version_orders.iter().all(|(key, known)| {
            let rank = |node: Node| known.iter().position(|&other| other == node).unwrap_or(known.len());
            self.all_pairs(|a, b| {
                let (x, y) = (a as Node, b as Node);
                let both_write = x != INIT && y != INIT && self.facts.writes_key(x, *key) && self.facts.writes_key(y, *key);
                !both_write || rank(x) >= rank(y) || self.co[a][b]
            })
        })
    }

    /// For every other writer `t2` of the key: if the reader must see `t2`, then `t2` comes before the source.
    fn read_is_fine(&self, t3: Node, read: &Read) -> bool {
        let t1 = read.source;
        (0..self.facts.len() as Node)
            .filter(|&t2| t2 != t1 && self.facts.writes_key(t2, read.key))
            .all(|t2| !self.must_see(t2, t3, read) || self.co[t2 as usize][t1 as usize])
    }

    fn must_see(&self, t2: Node, t3: Node, read: &Read) -> bool {
        let definition = self.facts.level(t3, self.scope).definition();
        definition.sees.iter().any(|&sees| {
            self.sees(sees, t2, t3, read)
                || definition.prefix
                    && (0..self.facts.len() as Node)
                        .any(|t4| self.co[t2 as usize][t4 as usize] && self.sees(sees, t4, t3, read))
        })
    }

    fn sees(&self, sees: Sees, t2: Node, t3: Node, read: &Read) -> bool {
        let (two, three) = (t2 as usize, t3 as usize);
        let place = |read: &Read| self.facts.reads(t3).iter().position(|other| other.op == read.op);
        let earlier = |other: &Read| place(other) < place(read);
        match sees {
            Sees::EarlierReads => self.facts.reads(t3).iter().any(|other| other.source == t2 && earlier(other)),
            Sees::StatementReads => {
                self.facts.reads(t3).iter().any(|other| {
                    let same_statement = self.statement(other) == self.statement(read);
                    other.source == t2 && (earlier(other) || same_statement && !self.own_row(other))
                }) || self.ended_before_a_statement(t2, t3, read.op)
            }
            Sees::Reads => self.wr[two][three],
            Sees::Session => self.so[two][three],
            Sees::Causes => self.causes[two][three],
            Sees::CausesAndVersions => self.causes_and_versions[two][three],
            Sees::Conflicts => self.co[two][three] && common_key(self.facts, t2, t3),
            Sees::OwnStatementRow => self.co[two][three] && self.own_row(read),
            Sees::Everything => self.co[two][three],
        }
    }

    fn statement(&self, read: &Read) -> std::ops::Range<u32> {
        statement_of(self.facts.history, read.op)
    }

    /// Whether the statement of a read writes the key that it reads.
    fn own_row(&self, read: &Read) -> bool {
        statement_writes(self.facts.history, self.statement(read), read.key)
    }

    fn all_pairs(&self, fine: impl Fn(usize, usize) -> bool) -> bool {
        (0..self.co.len()).all(|a| (0..self.co.len()).all(|b| a == b || fine(a, b)))
    }
}

fn relation(n: Node, holds: impl Fn(Node, Node) -> bool) -> Relation {
    (0..n).map(|a| (0..n).map(|b| a != b && holds(a, b)).collect()).collect()
}

fn closure(mut relation: Relation) -> Relation {
    let n = relation.len();
    for via in 0..n {
        for a in 0..n {
            for b in 0..n {
                relation[a][b] |= relation[a][via] && relation[via][b];
            }
        }
    }
    relation
}

fn session_order(facts: &Facts, scope: Scope, a: Node, b: Node) -> bool {
    if a == INIT || b == INIT {
        return a == INIT;
    }
    let (first, second) = (facts.txns[a as usize], facts.txns[b as usize]);
    let same_session = facts.history.txn(first).session == facts.history.txn(second).session;
    let by_time = facts.real_time(scope)
        && facts.level(b, scope).definition().sessions
        && match (facts.history.span(first), facts.history.span(second)) {
            (Some(first), Some(second)) => first.end < second.begin,
            _ => false,
        };
    by_time || same_session && first < second && facts.in_session(b, scope)
}

fn committed_reads(facts: &Facts, scope: Scope, node: Node) -> bool {
    node != INIT && facts.level(node, scope).definition().committed_reads
}

fn common_key(facts: &Facts, a: Node, b: Node) -> bool {
    match (a, b) {
        (INIT, other) | (other, INIT) => !facts.writes(other).is_empty(),
        _ => facts.writes(a).iter().any(|&key| facts.writes_key(b, key)),
    }
}
