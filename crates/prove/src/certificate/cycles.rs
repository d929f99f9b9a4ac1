//! The cycles that a level allows, by going along all dependencies from each transaction until nothing is new.
//!
//! A cycle is T1 → T2 → … → Tm → T1, where T1 reads what T2 overwrites. Of a chain only T1, T2 and its last transaction are
//! kept, with the equalities between their values: what is left out of a chain only makes more cycles possible.

use super::apart::Differ;
use super::data::{Access, At, Does, Edge, Kind, Outcome, Summary, Way};
use super::equal::{Equal, surely_inserts};
use super::rules::{Allowed, Apartness, Levels, Rule};

/// So many chains are followed for one level.
const MOST_CHAINS: usize = 400_000;

/// Where there are more chains with one beginning, what differs is forgotten, so that more of them are alike.
const FEW_CHAINS: usize = 1_000;

/// What following all chains came to.
pub(super) enum Followed {
    /// No cycle: how many chains there were.
    None { chains: usize },
    /// A cycle, in words.
    Cycle(String),
    /// Too many chains.
    TooMany,
}

/// Everything that chains are followed in.
pub(super) struct Following<'s> {
    pub(super) summary: &'s Summary,
    pub(super) edges: &'s [Edge],
    pub(super) levels: Levels,
    /// Session order counts.
    pub(super) sessions: bool,
    /// Which programs are serializable among themselves.
    pub(super) protected: Vec<bool>,
}

/// A way through a program, by numbers.
type Node = (usize, usize);

/// A chain: T1 and T2, and its last transaction, which may be T2.
#[derive(Clone)]
struct Chain<'s> {
    equal: Equal<'s>,
    last: Node,
    /// The last one is T2.
    is_second: bool,
    /// Anti-dependencies and overwrites on the way, where the rule asks for them.
    read_writes: bool,
    overwrites: bool,
    /// How many transactions, up to four.
    length: usize,
    /// Only the way back may follow.
    ends: bool,
    /// The access that the last one was reached by, if it hits a row for sure.
    hits: Option<usize>,
    /// Pairs of values that are not all equal: a transaction that was passed would have been kept out by T1.
    apart: Vec<Differ>,
    names: Vec<Node>,
}

/// T1 with its way out, for all chains that begin so.
struct Start<'s> {
    first: Node,
    out: &'s Edge,
    /// What the level of T1 allows.
    rule: Rule,
    /// The access with which T1 hits a row for sure.
    hits: Option<usize>,
}

const FIRST: usize = 0;
const SECOND: usize = 1;

impl<'s> Following<'s> {
    pub(super) fn follow(&self) -> Followed {
        let mut chains = 0;
        for out in self.edges.iter().filter(|edge| edge.kind == Kind::Rw) {
            let read = self.access(out.from);
            let (rule, other) = (self.levels.rule(out.from.0), self.levels.rule(out.to.0));
            if self.is_protected(node(out.from), node(out.to)) || !rule.can_be_overwritten(read, other) {
                continue;
            }
            let start = Start { first: node(out.from), out, rule, hits: hits(out.from.2, read, out, false) };
            match self.from(&start, &mut chains) {
                Followed::None { .. } => {}
                other => return other,
            }
        }
        Followed::None { chains }
    }

    fn from(&self, start: &Start<'s>, chains: &mut usize) -> Followed {
        let Some(begin) = self.begin(start) else { return Followed::None { chains: *chains } };
        let mut known = vec![begin];
        let mut at = 0;
        while at < known.len() {
            *chains += 1;
            if *chains > MOST_CHAINS {
                return Followed::TooMany;
            }
            let chain = known[at].clone();
            at += 1;
            if let Some(edge) = self.ways_back(start, &chain).find(|edge| self.closes(start, &chain, edge)) {
                return Followed::Cycle(self.words(start, &chain, &edge));
            }
            if chain.ends {
                continue;
            }
            for edge in self.ways_on(&chain) {
                let Some(mut next) = self.step(start, &chain, &edge) else { continue };
                if known.len() > FEW_CHAINS {
                    next.apart.clear();
                }
                if !known.iter().any(|one| covers(one, &next)) {
                    known.push(next);
                }
            }
        }
        Followed::None { chains: *chains }
    }

    fn begin(&self, start: &Start<'s>) -> Option<Chain<'s>> {
        let mut equal = Equal::new(self.summary);
        equal.add(self.way(start.first));
        equal.add(self.way(node(start.out.to)));
        start.out.equal.iter().for_each(|(one, other)| _ = equal.say((FIRST, *one), (SECOND, *other)));
        if !equal.close() {
            return None;
        }
        let second = Some(start.out.to.2);
        let (t1, t2) = ((FIRST, start.first, &[start.hits][..]), (SECOND, node(start.out.to), &[second][..]));
        if start.rule.apart != Apartness::Nobody && self.conflict(start, &equal, t1, t2) {
            return None;
        }
        if start.rule.sees_second_whole() && self.found_insert_of(&equal, SECOND) {
            return None;
        }
        Some(Chain {
            apart: self.kept_apart(start, &equal, t2),
            equal,
            last: node(start.out.to),
            is_second: true,
            read_writes: false,
            overwrites: false,
            length: 2,
            ends: false,
            hits: second,
            names: vec![start.first, node(start.out.to)],
        })
    }

    /// The dependencies that leave the last transaction; the order of sessions first.
    fn ways_on(&self, chain: &Chain<'s>) -> Vec<Step<'s>> {
        let mut steps = Vec::new();
        if self.sessions {
            for (program, known) in self.summary.programs.iter().enumerate() {
                steps.extend((0..known.ways.len()).map(|way| Step { to: (program, way), edge: None }));
            }
        }
        let edges = self.edges.iter().filter(|edge| node(edge.from) == chain.last);
        steps.extend(edges.map(|edge| Step { to: node(edge.to), edge: Some(edge) }));
        steps
    }

    fn ways_back(&self, start: &Start<'s>, chain: &Chain<'s>) -> impl Iterator<Item = Step<'s>> + use<'s> {
        let first = start.first;
        self.ways_on(chain).into_iter().filter(move |step| step.to == first)
    }

    fn step(&self, start: &Start<'s>, chain: &Chain<'s>, step: &Step<'s>) -> Option<Chain<'s>> {
        let here = if chain.is_second { SECOND } else { 2 };
        let mut equal = chain.equal.clone();
        let next = equal.add(self.way(step.to));
        for (one, other) in step.edge.iter().flat_map(|edge| &edge.equal) {
            // What stands in a loop may have been another value when the transaction was reached.
            if !equal.ways[here].terms[*one].looped {
                equal.say((here, *one), (next, *other));
            }
        }
        if !equal.close() || self.excluded_after_all(start, &equal, chain, here) {
            return None;
        }
        let is_ordered =
            step.edge.is_some_and(|edge| self.also_overwrites(start, &equal, (here, chain.last), next, edge));
        let mut apart: Vec<Differ> = chain.apart.iter().filter_map(|differ| differ.passed_on(&equal, next)).collect();
        let equal = equal.only(&[FIRST, SECOND, next]);
        let kind = step.edge.map(|edge| edge.kind);
        let hit = step.edge.and_then(|edge| hits(edge.to.2, self.access(edge.to), edge, edge.kind != Kind::Wr));
        if start.rule.sees_nobody_after_second() && self.found_insert_of(&equal, 2) {
            return None;
        }
        let third = (2, step.to, &[hit][..]);
        let with_first = self.conflict(start, &equal, (FIRST, start.first, &[start.hits]), third);
        let second = Some(start.out.to.2);
        let with_second = self.conflict(start, &equal, (SECOND, node(start.out.to), &[second]), third);
        match start.rule.apart {
            Apartness::Everybody | Apartness::Locked if with_first => return None,
            Apartness::Locked => {}
            // They depend on each other, so that a shorter cycle goes past those between.
            _ if with_second && !chain.is_second => return None,
            Apartness::Neighbours | Apartness::Everybody if with_second && kind == Some(Kind::Rw) => return None,
            _ => {}
        }
        apart.extend(self.kept_apart(start, &equal, third));
        let (asks_rw, asks_ww) = start.rule.asks_for();
        // What one reads and the next overwrites the next need not see, nor what a constraint of it rests on.
        let hides = matches!(kind, Some(Kind::Rw | Kind::Constraint));
        let is_seen = self.is_protected(chain.last, step.to);
        let mut names = chain.names.clone();
        if names.len() < 8 {
            names.push(step.to);
        }
        Some(Chain {
            equal,
            last: step.to,
            is_second: false,
            // What serializable transactions do to each other is seen like a read (SERTOTAL).
            read_writes: chain.read_writes || (asks_rw && hides && !is_ordered && !is_seen),
            overwrites: chain.overwrites || (asks_ww && kind == Some(Kind::Ww) && !is_seen),
            length: (chain.length + 1).min(4),
            ends: with_first && start.rule.apart != Apartness::Locked,
            hits: hit,
            apart,
            names,
        })
    }

    fn closes(&self, start: &Start<'s>, chain: &Chain<'s>, step: &Step<'s>) -> bool {
        let here = if chain.is_second { SECOND } else { 2 };
        let kind = step.edge.map(|edge| edge.kind);
        let out = self.access(start.out.from);
        let back = step.edge.map(|edge| self.access(edge.to));
        // Who is serializable with T1 is seen by it.
        let kind = match kind {
            Some(_) if self.is_protected(chain.last, start.first) => Some(Kind::Wr),
            kind => kind,
        };
        let on_the_way = (chain.read_writes, chain.overwrites);
        if !start.rule.allows(&Allowed { kind, out, back, on_the_way, length: chain.length }) {
            return false;
        }
        let mut equal = chain.equal.clone();
        for (one, other) in step.edge.iter().flat_map(|edge| &edge.equal) {
            if !equal.ways[here].terms[*one].looped && !equal.ways[FIRST].terms[*other].looped {
                equal.say((here, *one), (FIRST, *other));
            }
        }
        if !equal.close() || self.excluded_after_all(start, &equal, chain, here) {
            return false;
        }
        let second_node = node(start.out.to);
        let second = (SECOND, second_node, &[Some(start.out.to.2)][..]);
        let last = (here, chain.last, &[chain.hits][..]);
        if start.rule.apart != Apartness::Locked && chain.length > 3 && self.conflict(start, &equal, second, last) {
            return false;
        }
        let looks_at_neighbours = matches!(start.rule.apart, Apartness::Neighbours | Apartness::Everybody);
        let Some(edge) = step.edge.filter(|edge| looks_at_neighbours && edge.kind == Kind::Rw) else { return true };
        // What T1 overwrites in this cycle it writes for sure; in a loop, perhaps in another iteration.
        let evidence = [start.hits, Some(edge.to.2).filter(|_| self.is_one_in_loops(edge.to))];
        let first = (FIRST, start.first, &evidence[..]);
        !self.conflict(start, &equal, first, second)
            && !self.conflict(start, &equal, first, last)
            && !self.came_back(start, &equal, chain, edge)
    }

    /// Whether who overwrites what another one has read also overwrites what that one writes. At `psi` the cycle is then one
    /// with an anti-dependency less: they are ordered by what they write.
    fn also_overwrites(
        &self,
        start: &Start<'s>,
        equal: &Equal<'s>,
        here: (usize, Node),
        next: usize,
        edge: &Edge,
    ) -> bool {
        if start.rule.apart != Apartness::Neighbours || edge.kind != Kind::Rw {
            return false;
        }
        let (read, written) = (self.access(edge.from), self.access(edge.to));
        let write_one = read.writes.iter().any(|cell| written.writes.contains(cell));
        let changes_it = edge.picked && !read.conditional && write_one && !edge.cells.contains(&None);
        let hit = [hits(edge.from.2, read, edge, false)];
        let one = (here.0, here.1, &hit[..]);
        changes_it || self.conflict(start, equal, one, (next, node(edge.to), &[Some(edge.to.2)]))
    }

    /// Whether equalities that came later exclude the last transaction, or one before it.
    fn excluded_after_all(&self, start: &Start<'s>, equal: &Equal<'s>, chain: &Chain<'s>, here: usize) -> bool {
        let last = (here, chain.last, &[chain.hits][..]);
        matches!(start.rule.apart, Apartness::Everybody | Apartness::Locked)
            && (self.conflict(start, equal, (FIRST, start.first, &[start.hits]), last)
                || chain.apart.iter().any(|differ| !differ.can_hold(equal)))
    }

    /// What has to differ between T1 and another transaction, if everybody is concurrent with T1: the keys of rows that both
    /// of them would write.
    fn kept_apart(&self, start: &Start<'s>, equal: &Equal<'s>, other: (usize, Node, &[Option<usize>])) -> Vec<Differ> {
        if !matches!(start.rule.apart, Apartness::Everybody | Apartness::Locked) {
            return Vec::new();
        }
        let first = (FIRST, start.first, &[start.hits][..]);
        let pairs = self.conflicting(start, first, other).into_iter();
        pairs.filter_map(|(one, their)| Differ::keys(self.summary, equal, (FIRST, one), (other.0, their))).collect()
    }

    /// T2 has deleted the row that T1 changes and the last one has read: somebody has inserted it again, unseen by T1, and
    /// with it what T1 writes.
    fn came_back(&self, start: &Start<'s>, equal: &Equal<'s>, chain: &Chain<'s>, edge: &Edge) -> bool {
        let (deleted, changed) = (self.access(start.out.to), self.access(edge.to));
        // (Where everybody runs at one level, it was seen to be deleted.)
        !start.rule.mixed
            && deleted.does == Does::Delete
            && changed.does == Does::Update
            && (start.rule.apart == Apartness::Everybody || !chain.read_writes)
            && !edge.cells.contains(&None)
            && self.is_one_in_loops(edge.to)
            && equal.one_row((SECOND, deleted), (FIRST, changed))
    }

    /// Whether the row of an access has no values that change in a loop.
    fn is_one_in_loops(&self, at: At) -> bool {
        let way = self.way(node(at));
        self.access(at).row.iter().all(|(_, value)| !way.terms[*value].looped)
    }

    /// Whether T1 has found a row that another transaction inserts for sure, and would have seen all of that one.
    fn found_insert_of(&self, equal: &Equal<'s>, other: usize) -> bool {
        let inserts = equal.ways[other].accesses.iter().filter(|access| surely_inserts(access));
        inserts.filter(|access| self.table_stays(access)).any(|inserted| {
            equal.ways[FIRST].accesses.iter().any(|access| {
                access.outcome == Outcome::Found
                    && !surely_inserts(access)
                    && equal.one_row((FIRST, access), (other, inserted))
            })
        })
    }

    fn table_stays(&self, access: &Access) -> bool {
        access.table.and_then(|table| self.summary.tables.get(table)).is_some_and(|table| !table.deleted)
    }

    /// Whether two transactions surely write one cell.
    fn conflict(
        &self,
        start: &Start<'s>,
        equal: &Equal<'s>,
        one: (usize, Node, &[Option<usize>]),
        other: (usize, Node, &[Option<usize>]),
    ) -> bool {
        let pairs = self.conflicting(start, one, other);
        pairs.into_iter().any(|(access, their)| equal.one_row((one.0, access), (other.0, their)))
    }

    /// The accesses with which two transactions surely write one cell, if they are to one row (where rows are locked: one row,
    /// which T1 has locked by then), or are ordered by the database. Each with the accesses that hit a row for sure.
    fn conflicting(
        &self,
        start: &Start<'s>,
        one: (usize, Node, &[Option<usize>]),
        other: (usize, Node, &[Option<usize>]),
    ) -> Vec<(&'s Access, &'s Access)> {
        let locked = start.rule.apart == Apartness::Locked;
        if locked && one.0 != FIRST {
            return Vec::new();
        }
        let (_, _, read) = start.out.from;
        let split = self.access(start.out.from).number;
        // Who runs at another level need not mind a lock: only what T1 has written before, or overwrites, counts.
        let by_rows = locked && !start.rule.mixed;
        // A statement locks after it has looked; only of what it locks it takes the newest state.
        let is_held = |at: usize, access: &Access| {
            !locked || access.number < split || (by_rows && at == read && start.out.picked)
        };
        let moves = start.rule.apart == Apartness::Locked || start.rule.mixed;
        let writes = |way: &'s Way, hits: &[Option<usize>]| -> Vec<(usize, &'s Access)> {
            let all = way.accesses.iter().enumerate();
            let counts = |at: usize, access: &Access| {
                (!access.writes.is_empty() || (by_rows && access.locks)) && self.is_sure(way, at, access, hits, moves)
            };
            all.filter(|(at, access)| counts(*at, access)).collect()
        };
        let (mine, theirs) = (writes(self.way(one.1), one.2), writes(self.way(other.1), other.2));
        let mine = mine.into_iter().filter(|(at, access)| is_held(*at, access));
        let pairs = mine.flat_map(|(_, access)| theirs.iter().map(move |(_, their)| (access, *their)));
        let one_cell = |access: &Access, their: &Access| access.writes.iter().any(|cell| their.writes.contains(cell));
        let excludes = |access: &Access| access.alone || !access.writes.is_empty();
        // Only T2 commits before T1; others may wait for its locks after they have read.
        let waits = by_rows && other.0 == SECOND;
        let locked = |access: &Access, their: &Access| waits && (excludes(access) || excludes(their));
        pairs.filter(|(access, their)| locked(access, their) || one_cell(access, their)).collect()
    }

    /// Whether an access surely finds its row. `moves`: statements of one transaction may see different states.
    fn is_sure(&self, way: &Way, at: usize, access: &Access, hits: &[Option<usize>], moves: bool) -> bool {
        if hits.contains(&Some(at)) {
            return true;
        }
        if access.conditional || access.looped {
            return false;
        }
        let table = access.table.and_then(|table| self.summary.tables.get(table));
        access.outcome == Outcome::Found
            || hits.iter().flatten().any(|hit| {
                let hit = &way.accesses[*hit];
                // Between the two the row may have come, or gone.
                let stays = |inserted: bool, deleted: bool| match access.number < hit.number {
                    true => !inserted,
                    false => !deleted,
                };
                access.outcome != Outcome::Missing
                    && access.plain
                    && hit.table == access.table
                    && !hit.row.is_empty()
                    && hit.row.len() == access.row.len()
                    && hit
                        .row
                        .iter()
                        .all(|(column, value)| !way.terms[*value].looped && access.value(*column) == Some(*value))
                    && !comes_or_goes_between(way, hit, (at, access))
                    && (!moves || table.is_some_and(|table| stays(table.inserted, table.deleted)))
            })
    }

    fn is_protected(&self, one: Node, other: Node) -> bool {
        self.protected[one.0] && self.protected[other.0]
    }

    fn way(&self, node: Node) -> &'s Way {
        &self.summary.programs[node.0].ways[node.1]
    }

    fn access(&self, at: At) -> &'s Access {
        &self.summary.programs[at.0].ways[at.1].accesses[at.2]
    }

    fn words(&self, start: &Start<'s>, chain: &Chain<'s>, back: &Step<'s>) -> String {
        let names: Vec<&str> = chain.names.iter().map(|node| self.summary.programs[node.0].name.as_str()).collect();
        let out = self.access(start.out.from);
        let kind = match back.edge.map(|edge| edge.kind) {
            None => "so",
            Some(Kind::Wr) => "wr",
            Some(Kind::Ww) => "ww",
            Some(Kind::Rw) => "rw",
            Some(Kind::Constraint) => "constraint",
        };
        format!(
            "{} -rw-> {}, and back by {kind}; {} reads in line {}: {}",
            names[0],
            names[1..].join(" → "),
            names[0],
            out.line,
            out.statement
        )
    }
}

/// A dependency that is followed; none: the order of a session.
struct Step<'s> {
    to: Node,
    edge: Option<&'s Edge>,
}

fn node(at: At) -> Node {
    (at.0, at.1)
}

/// Whether whatever goes on from one chain goes on from another one, too.
fn covers(known: &Chain<'_>, next: &Chain<'_>) -> bool {
    (known.last, known.is_second, known.length, known.ends) == (next.last, next.is_second, next.length, next.ends)
        && (known.read_writes || !next.read_writes)
        && (known.overwrites || !next.overwrites)
        && (known.hits.is_none() || known.hits == next.hits)
        && known.equal.says_no_more_than(&next.equal)
        && known.apart.iter().all(|differ| next.apart.iter().any(|other| other.is_stricter_than(differ, &next.equal)))
}

/// Whether a transaction deletes rows after it has found one and before it asks for it again, or inserts them after it has
/// asked.
fn comes_or_goes_between(way: &Way, hit: &Access, (at, asked): (usize, &Access)) -> bool {
    let mut others = way.accesses.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
    others.any(|other| {
        let inserts = other.does == Does::Insert;
        let is_between = match hit.number < asked.number {
            true => !inserts && other.number >= hit.number && other.number < asked.number,
            false => inserts && other.number >= asked.number && other.number <= hit.number,
        };
        other.table == asked.table && other.writes.contains(&None) && (other.looped || is_between)
    })
}

/// The access, if it hits a row for sure: it writes, or the dependency is about columns of a row that it has picked, and not
/// about whether it is there.
fn hits(at: usize, access: &Access, edge: &Edge, by_writing: bool) -> Option<usize> {
    let writes = by_writing && !access.writes.is_empty();
    // What is read stays read if what was written is undone.
    let columns = edge.picked && !access.undoable && !edge.cells.is_empty() && edge.cells.iter().all(Option::is_some);
    (writes || columns).then_some(at)
}
