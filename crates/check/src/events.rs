//! Transactions as events in time: what each one sees (its *views*) and when it commits.
//!
//! The prefix levels say that a read sees everything that committed before some moment. So a transaction gets one
//! event for its commit and, where its level lets it look before that, events for the moments when it looked: one for
//! `pc` and `si`, one for each reading statement for `mvrc`, none of its own for `ser`, which looks when it commits. A
//! commit order is good enough iff the events can be put in one total order in which every view comes after the
//! commits that it must see, and for each read from `t1` no other writer of the key commits between `t1` and the view.
//!
//! `psi` asks about causes rather than moments; its reads look from the node of their transaction in a second graph.

use rustc_hash::FxHashSet;
use skew_model::level::Sees;

use crate::base::Base;
use crate::facts::{INIT, Node, Statement};
use crate::static_edges::Forced;

/// An event; 0 is the initial transaction's commit.
pub(crate) type Event = u32;

/// From where a read looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// From this event.
    At(Event),
    /// From its transaction's node among the causes.
    Causes,
    /// From nowhere: what it must see does not depend on the order.
    Fixed,
}

/// The keys about which a transaction conflicts with concurrent writers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conflicts {
    None,
    About(Rows),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rows {
    All,
    /// Where a row is deleted and inserted again, which writers conflict depends on the order of all of them. That is left
    /// to the definition itself: see [`crate::decide`].
    NeverDeleted,
}

/// The events of a history under a scope.
#[derive(Clone)]
pub(crate) struct Events {
    /// The transaction of each event.
    pub txn: Vec<Node>,
    /// The commit of each transaction.
    pub commit: Vec<Event>,
    /// The first event of each transaction.
    pub first: Vec<Event>,
    /// The view of each read, by its number among all reads.
    pub views: Vec<View>,
    /// At which of its keys a transaction only commits if no other one wrote since it looked.
    conflicts: Vec<Conflicts>,
    /// The keys at which some transaction leaves no row.
    deleted: FxHashSet<u32>,
    /// What is known from the start: `(from, to)`.
    pub edges: Vec<(Event, Event)>,
    /// Whether some read looks from the causes.
    pub any_causes: bool,
}

impl Events {
    pub(crate) fn new(base: &Base, forced: &[Forced]) -> Events {
        let facts = base.facts;
        let mut events = Events {
            txn: vec![INIT],
            commit: vec![0],
            first: vec![0],
            views: vec![View::Fixed; facts.all_reads().len()],
            conflicts: vec![Conflicts::None],
            deleted: facts.deleted_keys(),
            edges: Vec::new(),
            any_causes: false,
        };
        let mut sources: Vec<(Node, Event)> = Vec::new();
        for node in 1..facts.len() as Node {
            events.add_txn(base, node, &mut sources);
        }
        let commit = &events.commit;
        let mut edges = Vec::new();
        // Session order first: it is what chains are best made of.
        for node in 1..facts.len() as Node {
            let (first, own) = (events.first[node as usize], commit[node as usize]);
            edges.extend(base.order.of(node).iter().map(|&before| (commit[before as usize], first)));
            edges.extend((first..own).map(|event| (event, event + 1)));
        }
        edges.extend(sources.iter().map(|&(source, event)| (commit[source as usize], event)));
        for node in 1..facts.len() as Node {
            let own = commit[node as usize];
            let before = base.versions.of(node).iter().chain(base.commits_after(node));
            edges.extend(before.map(|&before| (commit[before as usize], own)));
        }
        edges.extend(forced.iter().map(|edge| (commit[edge.from as usize], commit[edge.to as usize])));
        events.edges = edges;
        events
    }

    /// Whether a transaction only commits if no other one wrote a key of its own since it looked.
    pub(crate) fn conflicts_at(&self, node: Node, key: u32) -> bool {
        match self.conflicts[node as usize] {
            Conflicts::None => false,
            Conflicts::About(Rows::All) => true,
            Conflicts::About(Rows::NeverDeleted) => !self.deleted.contains(&key),
        }
    }

    /// Whether a transaction holds keys from its look until its commit.
    pub(crate) fn conflicts(&self, node: Node) -> bool {
        self.conflicts[node as usize] != Conflicts::None
    }

    fn event(&mut self, node: Node) -> Event {
        self.txn.push(node);
        self.txn.len() as Event - 1
    }

    /// Adds the events of a transaction; `sources` gets whose commit comes before which of them.
    fn add_txn(&mut self, base: &Base, node: Node, sources: &mut Vec<(Node, Event)>) {
        let definition = base.facts.level(node, base.scope).definition();
        let first = self.txn.len() as Event;
        self.first.push(first);
        let minds = |clause| definition.sees.contains(&clause);
        self.conflicts.push(match (minds(Sees::Conflicts), minds(Sees::RowConflicts)) {
            (true, _) => Conflicts::About(Rows::All),
            (false, true) => Conflicts::About(Rows::NeverDeleted),
            (false, false) => Conflicts::None,
        });
        if base.facts.level(node, base.scope).looks_at_statements() {
            self.add_statements(base, node, sources);
        } else if minds(Sees::LockedReads) {
            self.add_locked_reads(base, node, sources);
        } else {
            // A prefix level looks once, before it commits; the others have no event for it.
            let look = if definition.prefix { self.event(node) } else { first };
            let view = match definition.sees {
                [Sees::Everything] => View::At(look),
                [Sees::CausesAndVersions] => View::Causes,
                _ if definition.prefix => View::At(look),
                _ => View::Fixed,
            };
            self.any_causes |= view == View::Causes;
            for (read, number) in base.reads(node).iter().zip(base.facts.first_read(node) as usize..) {
                self.views[number] = view;
                sources.push((read.source, look));
            }
        }
        let commit = self.event(node);
        self.commit.push(commit);
    }

    /// One view for each statement that reads. A read of a row that its statement writes looks at commit time, and
    /// what it found is seen from the next statement on.
    fn add_statements(&mut self, base: &Base, node: Node, sources: &mut Vec<(Node, Event)>) {
        let facts = base.facts;
        let timed = facts.timed(node, base.scope);
        let begins: Vec<_> = facts.statement_begins(node).filter(|_| timed).collect();
        let in_turn = facts.level(node, base.scope).sees(Sees::ReadsInTurn);
        let mut statement = u32::MAX;
        let mut view = 0;
        let mut own_rows: Vec<usize> = Vec::new();
        let mut seen_next: Vec<Node> = Vec::new();
        for (read, number) in base.reads(node).iter().zip(facts.first_read(node)..) {
            let Statement { start, own_row, writes } = facts.statement(number);
            if start != statement || in_turn && writes && !own_row {
                statement = start;
                view = self.event(node);
                sources.extend(seen_next.drain(..).map(|source| (source, view)));
                for (_, begin) in begins.iter().filter(|(op, _)| *op <= start) {
                    sources.extend(base.ended.newest(*begin).map(|before| (before, view)));
                }
            }
            if own_row {
                own_rows.push(number as usize);
                seen_next.push(read.source);
            } else {
                self.views[number as usize] = View::At(view);
                sources.push((read.source, view));
            }
        }
        let commit = self.txn.len() as Event;
        sources.extend(seen_next.into_iter().map(|source| (source, commit)));
        own_rows.into_iter().for_each(|number| self.views[number] = View::At(commit));
    }

    /// One view for all reads of statements that write nothing; the others hold what they read until the commit.
    fn add_locked_reads(&mut self, base: &Base, node: Node, sources: &mut Vec<(Node, Event)>) {
        let reads = || base.reads(node).iter().zip(base.facts.first_read(node)..);
        let look = self.event(node);
        let commit = self.txn.len() as Event;
        for (read, number) in reads() {
            let view = if base.facts.statement(number).writes { commit } else { look };
            self.views[number as usize] = View::At(view);
            sources.push((read.source, view));
        }
    }
}
