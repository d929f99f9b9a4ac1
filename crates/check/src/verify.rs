//! Is this commit order good enough? Reads the definition forwards, for any number of transactions, and shares none of
//! the inference of the engines that find commit orders.
//!
//! A read of `k` from `t1` is fine iff no other writer `t2` of `k` that the reader must see comes after `t1`. Where the
//! reader must see a prefix of the order, that is one comparison: the next writer of `k` after `t1` lies beyond the
//! prefix.

use rustc_hash::FxHashMap;
use skew_model::level::{Sees, Serializable};
use skew_model::{Level, Scope};

use crate::base::Chains;
use crate::facts::{Facts, INIT, Node, Read};
use crate::graph::{Graph, Predecessors};
use crate::writers::Writers;

/// Whether `order`, all nodes with the initial one first, satisfies the definition under this scope.
pub(crate) fn order_is_valid(facts: &Facts, scope: Scope, order: &[Node]) -> bool {
    let Some(check) = Verifier::new(facts, scope, order) else { return false };
    check.respects_sessions()
        && check.respects_versions()
        && check.respects_constraints()
        && check.respects_reads()
        && check.is_serializable_apart()
}

struct Verifier<'a> {
    facts: &'a Facts<'a>,
    scope: Scope,
    order: &'a [Node],
    place: Vec<u32>,
    /// The places of the writers of each key, ascending.
    writers: Vec<Vec<u32>>,
    /// Commit times, ascending, each with the latest place among those up to it. Empty where real time does not count.
    ended: Vec<(i64, u32)>,
    /// How far into the order session order and real time take each node.
    session_prefix: Vec<u32>,
}

impl<'a> Verifier<'a> {
    fn new(facts: &'a Facts, scope: Scope, order: &'a [Node]) -> Option<Self> {
        let mut place = vec![u32::MAX; facts.len()];
        for (at, &node) in order.iter().enumerate() {
            if std::mem::replace(place.get_mut(node as usize)?, at as u32) != u32::MAX {
                return None;
            }
        }
        if order.len() != facts.len() || order[0] != INIT {
            return None;
        }
        let mut writers = vec![Vec::new(); facts.key_count()];
        for (at, &node) in order.iter().enumerate() {
            for &key in facts.writes(node) {
                writers[key as usize].push(at as u32);
            }
        }
        let session_prefix = vec![0; facts.len()];
        let mut check = Verifier { facts, scope, order, place, writers, ended: Vec::new(), session_prefix };
        check.ended = check.commit_times();
        check.find_session_prefixes();
        Some(check)
    }

    fn place(&self, node: Node) -> u32 {
        self.place[node as usize]
    }

    fn level(&self, node: Node) -> Level {
        self.facts.level(node, self.scope)
    }

    fn commit_times(&self) -> Vec<(i64, u32)> {
        if !self.facts.any_timed(self.scope) {
            return Vec::new();
        }
        let end = |node: Node| self.facts.history.span(self.facts.txns[node as usize]).map(|span| span.end);
        let mut ended: Vec<_> =
            (1..self.facts.len() as Node).filter_map(|node| Some((end(node)?, self.place(node)))).collect();
        ended.sort_unstable();
        let mut latest = 0;
        for (_, place) in &mut ended {
            latest = latest.max(*place);
            *place = latest;
        }
        ended
    }

    /// The latest place of those that had ended by a time.
    fn latest_ended(&self, time: i64) -> u32 {
        let ended = self.ended.partition_point(|&(end, _)| end < time);
        if ended == 0 { 0 } else { self.ended[ended - 1].1 }
    }

    fn began(&self, node: Node) -> Option<i64> {
        let bound = self.facts.timed(node, self.scope);
        self.facts.history.span(self.facts.txns[node as usize]).map(|span| span.begin).filter(|_| bound)
    }

    fn find_session_prefixes(&mut self) {
        for session in &self.facts.sessions {
            let mut latest = 0;
            for &node in session {
                let by_time = self.began(node).map_or(0, |began| self.latest_ended(began));
                let by_session = if self.facts.in_session(node, self.scope) { latest } else { 0 };
                self.session_prefix[node as usize] = by_time.max(by_session);
                latest = latest.max(self.place(node));
            }
        }
    }

    /// The latest place of those that had ended when the statements of a node, up to an operation, began.
    fn statements_began_after(&self, node: Node, up_to: u32) -> u32 {
        if self.ended.is_empty() || !self.facts.timed(node, self.scope) {
            return 0;
        }
        let begins = self.facts.statement_begins(node).filter(|&(op, _)| op <= up_to);
        begins.map(|(_, begin)| self.latest_ended(begin)).max().unwrap_or(0)
    }

    fn respects_sessions(&self) -> bool {
        (1..self.facts.len() as Node).all(|node| {
            let statements = self.facts.level(node, self.scope).looks_at_statements();
            let by_statements = if statements { self.statements_began_after(node, u32::MAX) } else { 0 };
            self.session_prefix[node as usize].max(by_statements) < self.place(node)
        })
    }

    fn respects_versions(&self) -> bool {
        self.facts.version_orders.iter().all(|order| {
            let known: Vec<u32> = order.known.iter().map(|&node| self.place(node)).collect();
            let last = known.last().copied().unwrap_or(0);
            known.is_sorted() && order.later.iter().all(|&node| self.place(node) > last)
        })
    }

    fn respects_constraints(&self) -> bool {
        self.facts.constraint_orders.iter().all(|&(first, second, _)| self.place(first) < self.place(second))
    }

    fn respects_reads(&self) -> bool {
        let sees = |node: Node, wanted: Sees| {
            let definition = self.level(node).definition();
            !definition.prefix && definition.sees.contains(&wanted)
        };
        let nodes = 1..self.facts.len() as Node;
        nodes.clone().all(|node| self.reads_of(node))
            && (!nodes.clone().any(|node| sees(node, Sees::Session))
                || self.session_reads(&|node| sees(node, Sees::Session)))
            && [Sees::Causes, Sees::CausesAndVersions].into_iter().all(|wanted| {
                !nodes.clone().any(|node| sees(node, wanted)) || self.causal_reads(wanted, &|node| sees(node, wanted))
            })
    }

    fn reads_of(&self, node: Node) -> bool {
        let definition = self.level(node).definition();
        if !definition.committed_reads {
            return true;
        }
        let reads = self.facts.reads(node);
        if reads.iter().any(|read| self.place(read.source) >= self.place(node)) {
            return false;
        }
        if definition.prefix || definition.sees.contains(&Sees::Everything) {
            let common = self.common_prefix(node);
            let by_statement = match self.level(node) {
                level if level.looks_at_statements() => Some(self.statement_prefixes(node)),
                level if level.sees(Sees::LockedReads) => Some(self.locked_prefixes(node)),
                _ => None,
            };
            return (0..reads.len()).all(|at| {
                let prefix = by_statement.as_ref().map_or(0, |prefixes| prefixes[at]);
                self.sees_last(&reads[at], prefix.max(common))
            });
        }
        (0..reads.len()).all(|at| {
            definition.sees.iter().all(|sees| match sees {
                Sees::EarlierReads => self.older(&reads[at], &reads[..at]),
                Sees::Reads => self.older(&reads[at], reads),
                _ => true, // looked at for all nodes at once
            })
        })
    }

    /// How far into the order all reads of a node must see.
    fn common_prefix(&self, node: Node) -> u32 {
        let facts = self.facts;
        let places = self.level(node).definition().sees.iter().map(|sees| match sees {
            Sees::Everything => self.place(node) - 1,
            Sees::Reads => facts.reads(node).iter().map(|read| self.place(read.source)).max().unwrap_or(0),
            Sees::Session => self.session_prefix[node as usize],
            Sees::Conflicts => facts.writes(node).iter().map(|&key| self.previous_writer(key, node)).max().unwrap_or(0),
            Sees::RowConflicts => {
                let rows = facts.writes(node).iter().filter_map(|&key| {
                    let place = self.previous_writer(key, node);
                    (!facts.deletes(self.order[place as usize], key)).then_some(place)
                });
                rows.max().unwrap_or(0)
            }
            // These differ from read to read.
            Sees::StatementReads | Sees::ReadsInTurn | Sees::PlainReads | Sees::LockedReads | Sees::OwnStatementRow => {
                0
            }
            Sees::EarlierReads | Sees::Causes | Sees::CausesAndVersions => {
                unreachable!("no prefix level is defined by {sees:?}")
            }
        });
        places.max().unwrap_or(0)
    }

    /// How far into the order each read of a node must see because of its statement.
    fn statement_prefixes(&self, node: Node) -> Vec<u32> {
        let (reads, first) = (self.facts.reads(node), self.facts.first_read(node));
        let statement = |at: usize| self.facts.statement(first + at as u32);
        let in_turn = self.level(node).sees(Sees::ReadsInTurn);
        let mut prefixes = Vec::with_capacity(reads.len());
        let mut seen_before = 0;
        while prefixes.len() < reads.len() {
            let start = prefixes.len();
            let mut mates = start + 1..reads.len();
            let is_apart = |at: usize| in_turn && statement(at).writes && !statement(at).own_row;
            let is_next = |at: usize| statement(at).start != statement(start).start || is_apart(at);
            let end = mates.find(|&at| is_next(at)).unwrap_or(reads.len());
            let place = |at: usize| self.place(reads[at].source);
            let looked = (start..end).filter(|&at| !statement(at).own_row).map(place).max().unwrap_or(0);
            let by_time = self.statements_began_after(node, statement(start).start);
            let prefix = seen_before.max(looked).max(by_time);
            prefixes.extend((start..end).map(|at| if statement(at).own_row { self.place(node) - 1 } else { prefix }));
            seen_before = (start..end).map(place).max().unwrap_or(0).max(prefix);
        }
        prefixes
    }

    /// The same where reads of statements that write are locked, and all others look from one place.
    fn locked_prefixes(&self, node: Node) -> Vec<u32> {
        let (reads, first) = (self.facts.reads(node), self.facts.first_read(node));
        let is_locked = |at: usize| self.facts.statement(first + at as u32).writes;
        let plain = (0..reads.len()).filter(|&at| !is_locked(at)).map(|at| self.place(reads[at].source)).max();
        let prefix = |at| if is_locked(at) { self.place(node) - 1 } else { plain.unwrap_or(0) };
        (0..reads.len()).map(prefix).collect()
    }

    /// Whether dependencies among the transactions that are serializable among themselves form no cycle.
    fn is_serializable_apart(&self) -> bool {
        let facts = self.facts;
        let mut apart = vec![false; facts.len()];
        facts.serializable_apart(self.scope).for_each(|node| apart[node as usize] = true);
        if !apart.contains(&true) {
            return true;
        }
        let mut edges: Vec<(Node, Node)> = Vec::new();
        for session in &facts.sessions {
            let bound = |node: &&Node| apart[**node as usize] && facts.in_session(**node, self.scope);
            let members: Vec<Node> = session.iter().filter(bound).copied().collect();
            edges.extend(members.windows(2).map(|pair| (pair[0], pair[1])));
        }
        for places in &self.writers {
            let writers: Vec<Node> = places.iter().map(|&place| self.order[place as usize]).collect();
            let writers: Vec<Node> = writers.into_iter().filter(|&node| apart[node as usize]).collect();
            edges.extend(writers.windows(2).map(|pair| (pair[0], pair[1])));
        }
        for node in (1..facts.len() as Node).filter(|&node| apart[node as usize]) {
            for read in facts.reads(node) {
                if apart[read.source as usize] {
                    edges.push((read.source, node));
                }
                let later = self.writers[read.key as usize].iter().filter(|&&place| place > self.place(read.source));
                let mut later = later.map(|&place| self.order[place as usize]);
                let next = later.find(|&other| other != node && apart[other as usize]);
                edges.extend(next.map(|next| (node, next)));
            }
        }
        let preds = Predecessors::from_edges(facts.len(), &edges);
        Causes { n: facts.len(), preds }.topological_order().is_ok()
    }

    fn previous_writer(&self, key: u32, node: Node) -> u32 {
        let places = &self.writers[key as usize];
        let before = places.partition_point(|&place| place < self.place(node));
        if before == 0 { 0 } else { places[before - 1] }
    }

    /// Whether the source of a read is the last writer of its key up to this place.
    fn sees_last(&self, read: &Read, prefix: u32) -> bool {
        let places = &self.writers[read.key as usize];
        let next = places.partition_point(|&place| place <= self.place(read.source));
        places.get(next).is_none_or(|&place| place > prefix)
    }

    /// Whether the sources of these reads that write the key of the read come no later than its source.
    fn older(&self, read: &Read, seen: &[Read]) -> bool {
        seen.iter()
            .filter(|other| other.source != INIT && self.place(other.source) > self.place(read.source))
            .all(|other| !self.facts.writes_key(other.source, read.key))
    }

    /// [`Sees::Session`] without a prefix: the latest writers of each key, session by session and by time.
    fn session_reads(&self, wanted: &dyn Fn(Node) -> bool) -> bool {
        let mut ended: FxHashMap<u32, Vec<(i64, u32)>> = FxHashMap::default();
        if self.facts.any_timed(self.scope) {
            for &node in &self.order[1..] {
                let Some(span) = self.facts.history.span(self.facts.txns[node as usize]) else { continue };
                for &key in self.facts.writes(node) {
                    ended.entry(key).or_default().push((span.end, self.place(node)));
                }
            }
        }
        self.facts.sessions.iter().all(|session| {
            let mut latest: FxHashMap<u32, u32> = FxHashMap::default();
            session.iter().all(|&node| {
                let fine = !wanted(node)
                    || self.facts.reads(node).iter().all(|read| {
                        let in_session = self.facts.in_session(node, self.scope);
                        let by_session = latest.get(&read.key).filter(|_| in_session).copied().unwrap_or(0);
                        let by_time = self.began(node).and_then(|began| {
                            let times = ended.get(&read.key)?.iter();
                            times.filter(|(end, _)| *end < began).map(|&(_, place)| place).max()
                        });
                        by_session.max(by_time.unwrap_or(0)) <= self.place(read.source)
                    });
                for &key in self.facts.writes(node) {
                    let place = latest.entry(key).or_default();
                    *place = (*place).max(self.place(node));
                }
                fine
            })
        })
    }

    /// [`Sees::Causes`] and [`Sees::CausesAndVersions`]: the newest writer of the key that each chain shows the reader.
    fn causal_reads(&self, sees: Sees, wanted: &dyn Fn(Node) -> bool) -> bool {
        let causes = Causes { n: self.facts.len(), preds: self.cause_edges(sees) };
        let chains = Chains::new(&causes, self.order);
        let writers = Writers::new(self.facts, &chains, Some);
        let width = chains.members.len();
        let mut rows = vec![0u32; self.facts.len() * width];
        self.order.iter().all(|&node| {
            let mut row = vec![0u32; width];
            for pred in causes.preds(node) {
                let theirs = &rows[pred as usize * width..][..width];
                row.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            }
            let fine = node == INIT
                || !wanted(node)
                || self.facts.reads(node).iter().all(|read| {
                    writers.groups(read.key).all(|group| {
                        let chain = writers.chain(group) as usize;
                        let newest = writers.last_up_to(group, row[chain]);
                        newest == 0 || self.place(chains.members[chain][newest as usize - 1]) <= self.place(read.source)
                    })
                });
            if node != INIT {
                row[chains.chain[node as usize] as usize] = chains.place[node as usize];
            }
            rows[node as usize * width..][..width].copy_from_slice(&row);
            fine
        })
    }

    fn cause_edges(&self, sees: Sees) -> Predecessors {
        let mut edges = Vec::new();
        for session in &self.facts.sessions {
            for (at, &node) in session.iter().enumerate() {
                if !self.facts.in_session(node, self.scope) {
                    continue;
                }
                // Back to the last one that is bound itself.
                for &before in session[..at].iter().rev() {
                    edges.push((before, node));
                    if self.facts.in_session(before, self.scope) {
                        break;
                    }
                }
            }
        }
        for &node in &self.order[1..] {
            if self.facts.level(node, self.scope).definition().committed_reads {
                edges.extend(self.facts.reads(node).iter().map(|read| (read.source, node)));
            }
            if let Some(began) = self.began(node).filter(|_| !self.ended.is_empty()) {
                let end = |node: Node| self.facts.history.span(self.facts.txns[node as usize]).map(|span| span.end);
                edges.extend(
                    self.order[1..]
                        .iter()
                        .filter(|&&before| end(before) < Some(began) && end(before).is_some())
                        .map(|&before| (before, node)),
                );
            }
        }
        // SERTOTAL: happens-before is total on them.
        let mut marked: Vec<Node> = self.facts.serializable(self.scope, Serializable::InHappensBefore).collect();
        marked.sort_unstable_by_key(|&node| self.place(node));
        edges.extend(marked.windows(2).map(|pair| (pair[0], pair[1])));
        if sees == Sees::CausesAndVersions {
            for places in &self.writers {
                edges
                    .extend(places.windows(2).map(|pair| (self.order[pair[0] as usize], self.order[pair[1] as usize])));
            }
        }
        Predecessors::from_edges(self.facts.len(), &edges)
    }
}

struct Causes {
    n: usize,
    preds: Predecessors,
}

impl Graph for Causes {
    fn len(&self) -> usize {
        self.n
    }

    fn preds(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        self.preds.of(node).iter().copied()
    }
}
