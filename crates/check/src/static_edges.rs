//! The commit order that the levels `rc`, `ec` and `ra` force, which depends on nobody's choice: for a read of `k` from
//! `t1` in a transaction that must see `t2`, another writer of `k`, the edge `t2 → t1`.
//!
//! Each function visits, for every pair of a reader and a transaction that it must see, the smaller of "keys that one
//! writes" and "keys that the other reads": O(n^1.5) in all (AWDIT, PLDI 2025). Edges that others imply are left out.

use skew_model::Level;
use skew_model::level::Sees;

use crate::base::Base;
use crate::facts::{Facts, INIT, Node, Read};

/// `from` must commit before `to`, because of a read (by its number among all reads) of a key that both write: it takes
/// `to`'s version though its transaction must see `from`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Forced {
    pub from: Node,
    pub to: Node,
    pub read: u32,
}

pub(crate) type Edges = Vec<Forced>;

/// The edges that the static levels of this scope force. Causal and prefix levels are not static.
pub(crate) fn static_edges(base: &Base) -> Edges {
    let facts = base.facts;
    let sees = |node: Node, wanted: Sees| {
        let definition = facts.level(node, base.scope).definition();
        !definition.prefix && definition.sees.contains(&wanted)
    };
    let mut edges = Edges::new();
    let mut table = KeyTable::new(facts.key_count(), facts.len());
    // Sessions in step, because they read what others wrote at about the same time: that is still in the cache.
    let steps = facts.sessions.iter().map(Vec::len).max().unwrap_or(0);
    for step in 0..steps {
        for node in facts.sessions.iter().filter_map(|session| session.get(step).copied()) {
            if sees(node, Sees::EarlierReads) {
                table.earlier_reads(facts, node, &mut edges);
            }
            if sees(node, Sees::Reads) {
                table.reads(facts, node, &mut edges);
            }
        }
    }
    let any_session = (1..facts.len() as Node).any(|node| sees(node, Sees::Session));
    if any_session && facts.assumptions.sessions {
        session_edges(base, &|node| sees(node, Sees::Session), &mut edges);
    }
    if any_session && facts.any_timed(base.scope) {
        let wanted = |node| sees(node, Sees::Session) && facts.timed(node, base.scope);
        real_time_edges(base, &wanted, &mut edges);
    }
    edges
}

/// A value for each key and a mark for each node, valid for one reader at a time.
struct KeyTable {
    stamps: Vec<u32>,
    /// The source and the number of a read of the key.
    reads: Vec<(Node, u32)>,
    seen: Vec<u32>,
    stamp: u32,
    keys: Vec<u32>,
    firsts: Vec<bool>,
}

impl KeyTable {
    fn new(keys: usize, nodes: usize) -> Self {
        KeyTable {
            stamps: vec![0; keys],
            reads: vec![(INIT, 0); keys],
            seen: vec![0; nodes],
            stamp: 0,
            keys: Vec::new(),
            firsts: Vec::new(),
        }
    }

    fn next_reader(&mut self) {
        self.stamp += 1;
        self.keys.clear();
    }

    fn set(&mut self, key: u32, source: Node, read: u32) -> Option<(Node, u32)> {
        let at = key as usize;
        let before = (self.stamps[at] == self.stamp).then(|| self.reads[at]);
        if before.is_none() {
            self.stamps[at] = self.stamp;
            self.keys.push(key);
        }
        self.reads[at] = (source, read);
        before
    }

    /// The edges from `writer` to the sources of the keys that it writes and the table holds.
    #[inline]
    fn common(&self, facts: &Facts, writer: Node, edges: &mut Edges) {
        let writes = facts.writes(writer);
        let mut visit = |key: u32| {
            let (source, read) = self.reads[key as usize];
            if source != writer {
                edges.push(Forced { from: writer, to: source, read });
            }
        };
        if writes.len() <= 4 * self.keys.len() {
            for &key in writes {
                if self.stamps[key as usize] == self.stamp {
                    visit(key);
                }
            }
        } else {
            for &key in &self.keys {
                if writes.binary_search(&key).is_ok() {
                    visit(key);
                }
            }
        }
    }

    /// [`Sees::EarlierReads`]. Backwards: the table holds, for each key, the source of its next read. The first read
    /// from a transaction with the next read of each key it writes, and each read with the next one of its key, are
    /// enough: the rest follows along the chain of reads.
    fn earlier_reads(&mut self, facts: &Facts, node: Node, edges: &mut Edges) {
        let (reads, first) = (facts.reads(node), facts.first_read(node));
        self.next_reader();
        self.firsts.clear();
        for read in reads {
            let seen = std::mem::replace(&mut self.seen[read.source as usize], self.stamp) == self.stamp;
            self.firsts.push(!seen);
        }
        for at in (0..reads.len()).rev() {
            let Read { key, source, .. } = reads[at];
            if self.firsts[at] && source != INIT && !self.keys.is_empty() {
                self.common(facts, source, edges);
            }
            if let Some((next, read)) = self.set(key, source, first + at as u32)
                && next != source
                && source != INIT
            {
                edges.push(Forced { from: source, to: next, read });
            }
        }
    }

    /// [`Sees::Reads`]. The table holds the source of each key's read; two different sources of one key contradict
    /// each other at once.
    fn reads(&mut self, facts: &Facts, node: Node, edges: &mut Edges) {
        let reads = facts.reads(node);
        self.next_reader();
        for (read, number) in reads.iter().zip(facts.first_read(node)..) {
            if let Some((before, earlier)) = self.set(read.key, read.source, number)
                && before != read.source
            {
                edges.push(Forced { from: before, to: read.source, read: number });
                edges.push(Forced { from: read.source, to: before, read: earlier });
            }
        }
        for read in reads {
            let seen = std::mem::replace(&mut self.seen[read.source as usize], self.stamp) == self.stamp;
            if !seen && read.source != INIT {
                self.common(facts, read.source, edges);
            }
        }
    }
}

/// [`Sees::Session`]: the last earlier writer of the key in the session is enough, if session order binds it too.
fn session_edges(base: &Base, wanted: &dyn Fn(Node) -> bool, edges: &mut Edges) {
    let facts = base.facts;
    let mut last = vec![(0u32, INIT); facts.key_count()];
    for (number, session) in facts.sessions.iter().enumerate() {
        let stamp = number as u32 + 1;
        let all_bound = session.iter().all(|&node| facts.in_session(node, base.scope));
        for (at, &node) in session.iter().enumerate() {
            if wanted(node) && facts.in_session(node, base.scope) {
                for (read, number) in facts.reads(node).iter().zip(facts.first_read(node)..) {
                    let mut edge = |writer: Node| {
                        if writer != read.source {
                            edges.push(Forced { from: writer, to: read.source, read: number });
                        }
                    };
                    if !all_bound {
                        session[..at]
                            .iter()
                            .filter(|&&earlier| facts.writes_key(earlier, read.key))
                            .for_each(|&w| edge(w));
                    } else if last[read.key as usize].0 == stamp {
                        edge(last[read.key as usize].1);
                    }
                }
            }
            for &key in facts.writes(node) {
                last[key as usize] = (stamp, node);
            }
        }
    }
}

/// [`Sees::Session`] by real time: of the writers that had ended, those after which no other one both began and ended.
fn real_time_edges(base: &Base, wanted: &dyn Fn(Node) -> bool, edges: &mut Edges) {
    struct Ended {
        node: Node,
        end: i64,
        /// The latest begin of the writers up to here that real time binds.
        latest_begin: i64,
    }
    let facts = base.facts;
    let span = |node: Node| facts.history.span(facts.txns[node as usize]);
    let mut writers: Vec<Vec<Ended>> = Vec::new();
    writers.resize_with(facts.key_count(), Vec::new);
    for node in 1..facts.len() as Node {
        if let Some(span) = span(node) {
            for &key in facts.writes(node) {
                writers[key as usize].push(Ended { node, end: span.end, latest_begin: span.begin });
            }
        }
    }
    for list in &mut writers {
        list.sort_unstable_by_key(|ended| ended.end);
        let mut latest = i64::MIN;
        for ended in list {
            let bound = facts.timed(ended.node, base.scope);
            latest = if bound { latest.max(ended.latest_begin) } else { latest };
            ended.latest_begin = latest;
        }
    }
    for node in (1..facts.len() as Node).filter(|&node| wanted(node)) {
        let Some(begin) = span(node).map(|span| span.begin) else { continue };
        for (read, number) in facts.reads(node).iter().zip(facts.first_read(node)..) {
            let list = &writers[read.key as usize];
            let ended = &list[..list.partition_point(|ended| ended.end < begin)];
            let Some(latest) = ended.last().map(|last| last.latest_begin) else { continue };
            let newest = ended.iter().rev().take_while(|ended| ended.end >= latest);
            let others = newest.filter(|ended| ended.node != read.source);
            edges.extend(others.map(|ended| Forced { from: ended.node, to: read.source, read: number }));
        }
    }
}

/// Whether every node of this level is decided by [`static_edges`] alone.
pub(crate) fn is_static(level: Level) -> bool {
    let definition = level.definition();
    !definition.prefix
        && definition.sees.iter().all(|sees| matches!(sees, Sees::EarlierReads | Sees::Reads | Sees::Session))
}
