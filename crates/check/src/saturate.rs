//! What follows from what is known, until nothing more does.
//!
//! Two rules, over the events of [`crate::events`]. For a read of `k` from `t1` that looks from the event `v`:
//! - if another writer `t2` of `k` commits before `v`, it commits before `t1` (*ignored*);
//! - if another writer `t2` of `k` commits after `t1`, it commits after `v` (*overwrote*), and if its level checks
//!   write conflicts, it looks after `t1` commits (*conflict*).
//!
//! Reads at `psi` look from their transaction's causes, to which version order belongs (*version*).
//!
//! A chain tells all its earlier members by its newest one, so both rules ask each chain once.

use crate::base::{Base, Chains};
use crate::events::{Event, Events, View};
use crate::facts::{INIT, Node};
use crate::reach::{Reach, TooLarge};
use crate::static_edges::Forced;
use crate::writers::Writers;

/// Why an edge was inferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rule {
    /// A read took the target's version though it looks from after the origin's commit.
    Ignored { read: u32 },
    /// A read took a version that the target overwrote.
    Overwrote { read: u32 },
    /// The target checks write conflicts with the origin.
    Conflict,
    /// Among causes: the origin's version is older.
    Version,
    /// Assumed, to see what would follow.
    Supposed,
}

/// An inferred edge, from one round of inference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Inferred {
    pub from: u32,
    pub to: u32,
    pub rule: Rule,
    pub round: u32,
}

/// Which graph a cycle was found in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// Among the events.
    Events,
    /// Among the causes.
    Causes,
}

/// The events of a history with all that follows.
#[derive(Clone)]
pub(crate) struct Saturated<'b, 'f> {
    pub base: &'b Base<'f>,
    pub forced: &'b [Forced],
    pub events: Events,
    pub time: Reach,
    pub time_writers: Writers,
    /// For `psi` only: `so ∪ wr ∪ ww` as far as known, and its writers.
    pub causes: Option<(Reach, Writers)>,
    pub versions: Versions,
    pub inferred: Vec<Inferred>,
    pub inferred_causes: Vec<Inferred>,
}

impl<'b, 'f> Saturated<'b, 'f> {
    /// The start: nothing inferred yet.
    pub(crate) fn new(base: &'b Base<'f>, forced: &'b [Forced], max_bytes: u64) -> Result<Self, TooLarge> {
        let events = Events::new(base, forced);
        let time = Reach::new(events.txn.len(), &events.edges, max_bytes)?;
        let facts = base.facts;
        let commit_of = |event: Event| {
            let node = events.txn[event as usize];
            (events.commit[node as usize] == event).then_some(node)
        };
        let time_writers = Writers::new(facts, &time.chains, commit_of);
        let causes = if events.any_causes {
            let edges: Vec<(Node, Node)> = (1..facts.len() as Node)
                .flat_map(|node| {
                    let known = base.versions.of(node).iter().copied();
                    base.causes(node).chain(known).map(move |before| (before, node))
                })
                .collect();
            let reach = Reach::new(facts.len(), &edges, max_bytes)?;
            let writers = Writers::new(facts, &reach.chains, Some);
            Some((reach, writers))
        } else {
            None
        };
        let versions = Versions::new(base, &events, &time.chains);
        Ok(Saturated {
            base,
            forced,
            events,
            time,
            time_writers,
            causes,
            versions,
            inferred: Vec::new(),
            inferred_causes: Vec::new(),
        })
    }

    /// Assumes that one writer commits before another one, for some pairs, and what follows; or gives back a cycle.
    pub(crate) fn suppose(&mut self, pairs: &[(Node, Node)]) -> Result<(), (Side, Vec<u32>)> {
        let round = self.inferred.iter().chain(&self.inferred_causes).map(|edge| edge.round + 1).max().unwrap_or(0);
        let commit = |node: Node| self.events.commit[node as usize];
        let edges: Vec<_> = pairs.iter().map(|&(first, second)| (commit(first), commit(second))).collect();
        self.inferred.extend(edges.iter().map(|&(from, to)| Inferred { from, to, rule: Rule::Supposed, round }));
        let mut changed = vec![false; self.time.len()];
        self.time.add(&edges, &mut changed).map_err(|cycle| (Side::Events, cycle))?;
        self.run_from(round + 1, changed)
    }

    /// Applies the rules until nothing follows; or gives back a cycle.
    pub(crate) fn run(&mut self) -> Result<(), (Side, Vec<u32>)> {
        self.run_from(0, vec![true; self.time.len()])
    }

    fn run_from(&mut self, first_round: u32, mut changed: Vec<bool>) -> Result<(), (Side, Vec<u32>)> {
        let mut changed_causes = vec![first_round == 0; self.causes.as_ref().map_or(0, |(reach, _)| reach.len())];
        for round in first_round.. {
            let (mut edges, mut cause_edges) = self.infer(&changed, &changed_causes, round);
            if edges.is_empty() && cause_edges.is_empty() {
                break;
            }
            let pairs = distinct(&mut edges);
            self.inferred.append(&mut edges);
            self.time.add(&pairs, &mut changed).map_err(|cycle| (Side::Events, cycle))?;
            let pairs = distinct(&mut cause_edges);
            self.inferred_causes.append(&mut cause_edges);
            if let Some((reach, _)) = &mut self.causes {
                reach.add(&pairs, &mut changed_causes).map_err(|cycle| (Side::Causes, cycle))?;
            }
        }
        Ok(())
    }

    /// One round: what follows for the nodes whose clocks changed.
    fn infer(&self, changed: &[bool], changed_causes: &[bool], round: u32) -> (Vec<Inferred>, Vec<Inferred>) {
        let mut out = Out { round, time: Vec::new(), causes: Vec::new() };
        for node in 1..self.base.facts.len() as Node {
            let reads = self.base.reads(node).iter().zip(self.base.facts.first_read(node)..);
            for (read, number) in reads {
                match self.events.views[number as usize] {
                    View::At(view) if changed[view as usize] => {
                        self.ignored(read.key, read.source, view, number, &mut out)
                    }
                    View::Causes if changed_causes[node as usize] => {
                        self.ignored_causes(read.key, read.source, node, number, &mut out);
                    }
                    _ => {}
                }
            }
            let commit = self.events.commit[node as usize];
            if changed[commit as usize] {
                for &key in self.base.facts.writes(node) {
                    self.overwrote(key, node, &mut out);
                }
            }
        }
        (out.time, out.causes)
    }

    fn ignored(&self, key: u32, source: Node, view: Event, read: u32, out: &mut Out) {
        let (time, writers) = (&self.time, &self.time_writers);
        let to = self.events.commit[source as usize];
        let (seen, known) = (time.clock(view), time.clock(to));
        let own = self.events.txn[view as usize];
        for group in writers.groups(key) {
            let chain = writers.chain(group) as usize;
            if seen[chain] <= known[chain] {
                continue;
            }
            let mut place = writers.last_up_to(group, seen[chain]);
            if place > known[chain]
                && time.chains.members[chain][place as usize - 1] == self.events.commit[own as usize]
            {
                // A view at commit time sees its own transaction's commit: look behind it.
                place = writers.last_up_to(group, place - 1);
            }
            if place > known[chain] {
                let from = time.chains.members[chain][place as usize - 1];
                out.time(from, to, Rule::Ignored { read });
            }
        }
    }

    fn ignored_causes(&self, key: u32, source: Node, node: Node, read: u32, out: &mut Out) {
        let Some((reach, writers)) = &self.causes else { return };
        let commit = &self.events.commit;
        for group in writers.groups(key) {
            let chain = writers.chain(group) as usize;
            let mut place = writers.last_up_to(group, reach.clock(node)[chain]);
            if place != 0 && reach.chains.members[chain][place as usize - 1] == node {
                place = writers.last_up_to(group, place - 1);
            }
            if place > reach.clock(source)[chain] {
                let from = reach.chains.members[chain][place as usize - 1];
                out.causes(from, source, Rule::Ignored { read });
                if !self.time.reaches(commit[from as usize], commit[source as usize]) {
                    out.time(commit[from as usize], commit[source as usize], Rule::Ignored { read });
                }
            }
        }
    }

    /// The readers of the versions right below a writer's, as far as known, look before it commits.
    fn overwrote(&self, key: u32, node: Node, out: &mut Out) {
        let (time, writers) = (&self.time, &self.time_writers);
        let commit = self.events.commit[node as usize];
        let older = || {
            writers.groups(key).filter_map(|group| {
                let chain = writers.chain(group) as usize;
                let mut limit = time.clock(commit)[chain];
                if time.chains.chain[commit as usize] as usize == chain {
                    limit -= 1;
                }
                match writers.last_up_to(group, limit) {
                    0 => None,
                    place => Some(time.chains.members[chain][place as usize - 1]),
                }
            })
        };
        let Some(newest) = older().max_by_key(|&event| time.rank[event as usize]) else {
            return self.link(INIT, key, node, out);
        };
        for event in older() {
            // Whoever comes before another older writer is linked to that one.
            if event == newest || !time.reaches(event, newest) {
                self.link(self.events.txn[event as usize], key, node, out);
            }
        }
    }

    fn link(&self, older: Node, key: u32, node: Node, out: &mut Out) {
        let (commit, older_commit) = (self.events.commit[node as usize], self.events.commit[older as usize]);
        for &(view, read) in self.versions.readers(self.base, older, key) {
            if self.events.txn[view as usize] != node && !self.time.reaches(view, commit) {
                out.time(view, commit, Rule::Overwrote { read });
            }
        }
        if older == INIT {
            return;
        }
        let first = self.events.first[node as usize];
        if self.events.conflicts_at(node, key) && !self.time.reaches(older_commit, first) {
            out.time(older_commit, first, Rule::Conflict);
        }
        if let Some((reach, _)) = &self.causes
            && !reach.reaches(older, node)
        {
            out.causes(older, node, Rule::Version);
        }
    }
}

struct Out {
    round: u32,
    time: Vec<Inferred>,
    causes: Vec<Inferred>,
}

impl Out {
    fn time(&mut self, from: u32, to: u32, rule: Rule) {
        self.time.push(Inferred { from, to, rule, round: self.round });
    }

    fn causes(&mut self, from: u32, to: u32, rule: Rule) {
        self.causes.push(Inferred { from, to, rule, round: self.round });
    }
}

/// Leaves one inferred edge for each pair of ends, and gives the pairs.
fn distinct(edges: &mut Vec<Inferred>) -> Vec<(u32, u32)> {
    edges.sort_unstable();
    edges.dedup_by_key(|edge| (edge.from, edge.to));
    edges.iter().map(|edge| (edge.from, edge.to)).collect()
}

/// Who looks at each version.
#[derive(Clone)]
pub(crate) struct Versions {
    starts: Vec<u32>,
    /// The view and the number of a read: in each chain the last one, which stands for the earlier ones.
    readers: Vec<(Event, u32)>,
}

impl Versions {
    fn new(base: &Base, events: &Events, chains: &Chains) -> Self {
        let facts = base.facts;
        let slots = facts.write_count() + facts.key_count();
        let mut starts = vec![0u32; slots + 1];
        let mut reads: Vec<(u32, Event, u32)> = Vec::new();
        for node in 1..facts.len() as Node {
            for (read, number) in base.reads(node).iter().zip(facts.first_read(node)..) {
                let commit = events.commit[node as usize];
                // Who reads a key and writes it, and checks conflicts, lets nobody in between: it holds the version
                // until it commits.
                let checks = events.conflicts_at(node, read.key) || events.views[number as usize] == View::Causes;
                let view = match events.views[number as usize] {
                    _ if checks && facts.writes_key(node, read.key) => commit,
                    View::At(view) => view,
                    _ => continue,
                };
                reads.push((version_slot(base, read.source, read.key), view, number));
            }
        }
        reads.sort_unstable_by_key(|&(slot, view, _)| {
            (slot, chains.chain[view as usize], u32::MAX - chains.place[view as usize])
        });
        reads.dedup_by_key(|&mut (slot, view, _)| (slot, chains.chain[view as usize]));
        for &(slot, _, _) in &reads {
            starts[slot as usize + 1] += 1;
        }
        for at in 1..=slots {
            starts[at] += starts[at - 1];
        }
        Versions { starts, readers: reads.into_iter().map(|(_, view, read)| (view, read)).collect() }
    }

    pub(crate) fn readers(&self, base: &Base, writer: Node, key: u32) -> &[(Event, u32)] {
        let slot = version_slot(base, writer, key) as usize;
        &self.readers[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// A number for each version of each key, the initial one included.
pub(crate) fn version_slot(base: &Base, writer: Node, key: u32) -> u32 {
    let facts = base.facts;
    if writer == INIT {
        return facts.write_count() as u32 + key;
    }
    facts.write_slot(writer, key).expect("a read's source and a writer write the key")
}
