//! The open commit order: a graph of what must come before what, and no more.
//!
//! Reads add edges `t2 → t1` (whoever the reader sees and also writes the key comes before the source). At `rc`, `ra`
//! and `cc` these edges depend only on session order and reads, so a history is within its levels iff the graph has no
//! cycle. `before` holds its closure as clocks; an edge is followed forward only to transactions that it tells
//! something new, so a read costs as much as it changes.

use crate::clocks::{covers, join};
use crate::engine::{Engine, Order};
use crate::sight::Sight;
use crate::versions::{INIT, Txn, partition_from_end};

/// Who comes right after whom.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    /// For each transaction, its last edge.
    head: Vec<u32>,
    /// Target and the next edge of the same transaction.
    edges: Vec<(Txn, u32)>,
    base: Txn,
}

const END: u32 = u32::MAX;

impl Edges {
    pub(crate) fn new() -> Self {
        Edges { head: Vec::new(), edges: Vec::new(), base: 0 }
    }

    pub(crate) fn push(&mut self) {
        self.head.push(END);
    }

    fn add(&mut self, from: Txn, to: Txn) {
        let head = &mut self.head[(from - self.base) as usize];
        self.edges.push((to, *head));
        *head = self.edges.len() as u32 - 1;
    }

    fn targets(&self, from: Txn) -> impl Iterator<Item = Txn> + '_ {
        let mut at = self.head[(from - self.base) as usize];
        std::iter::from_fn(move || {
            let &(to, next) = self.edges.get(at as usize)?;
            at = next;
            Some(to)
        })
    }

    /// Forgets the transactions before this one. No edge leads to them from the others.
    pub(crate) fn forget(&mut self, before: Txn) {
        let mut kept = Edges { head: Vec::new(), edges: Vec::new(), base: before };
        let end = self.base + self.head.len() as u32;
        for from in before..end {
            kept.push();
            self.targets(from).for_each(|to| kept.add(from, to));
        }
        *self = kept;
    }
}

/// A source that the new read would put others before.
struct Target {
    txn: Txn,
    /// Everything that would come before it, and those who would be right before it.
    before: Vec<u32>,
}

impl Engine {
    /// The versions of the key that the reader must see, one a session: whoever it reads from comes after them.
    pub(crate) fn floors(&self, reader: Txn, key: u32, floors: &mut Vec<Txn>) {
        floors.clear();
        let txn = self.txn(reader);
        let versions = &self.keys[key as usize];
        match txn.sight {
            Sight::Causes => floors.extend(versions.seen_by(self.causes.row(reader)).map(|seen| seen.writer)),
            Sight::CausesAndVersions => {
                floors.extend(versions.seen_by(self.before.row(reader)).map(|seen| seen.writer))
            }
            Sight::SessionAndSources => {
                match &self.running(reader).began_after {
                    Some(clock) => floors.extend(self.seen_by_short(key, clock)),
                    None => {
                        let last = versions.chain(txn.session).and_then(|chain| chain.writes.last());
                        floors.extend(last.map(|&(_, index)| versions.list[index as usize].writer));
                    }
                }
                self.sources_that_write(reader, key, floors);
            }
            Sight::EarlierSources => self.sources_that_write(reader, key, floors),
            _ => {}
        }
    }

    /// Like `seen_by`, for a clock that was taken when there were fewer sessions.
    fn seen_by_short<'a>(&'a self, key: u32, clock: &'a [u32]) -> impl Iterator<Item = Txn> + 'a {
        let versions = &self.keys[key as usize];
        versions.chains.iter().filter_map(|chain| {
            let number = clock.get(chain.session as usize).copied().unwrap_or(0);
            let at = chain.up_to(number).checked_sub(1)?;
            Some(versions.list[chain.writes[at].1 as usize].writer)
        })
    }

    fn sources_that_write(&self, reader: Txn, key: u32, floors: &mut Vec<Txn>) {
        for &source in &self.running(reader).sources {
            if self.version_of(source, key).is_some() && !floors.contains(&source) {
                floors.push(source);
            }
        }
    }

    /// The versions of an earlier read's key that the reader would see only because it now reads from `source`.
    pub(crate) fn new_floors(&self, reader: Txn, source: Txn, key: u32, floors: &mut Vec<Txn>) {
        floors.clear();
        let clocks = match self.txn(reader).sight {
            Sight::Causes => &self.causes,
            Sight::CausesAndVersions => &self.before,
            Sight::SessionAndSources => {
                floors.extend(self.version_of(source, key).map(|_| source));
                return;
            }
            _ => return,
        };
        let (session, number) = self.place(source);
        let (old, new) = (clocks.row(reader), clocks.row(source));
        let versions = &self.keys[key as usize];
        for seen in versions.seen_by(new) {
            if seen.number > old[seen.session as usize] && seen.session as usize != session {
                floors.push(seen.writer);
            }
        }
        // The source itself, or its session's last write before it.
        let Some(chain) = versions.chain(session as u32) else { return };
        let Some(at) = chain.up_to(number).checked_sub(1) else { return };
        let (write, index) = chain.writes[at];
        if write > old[session] {
            floors.push(versions.list[index as usize].writer);
        }
    }

    /// Whether the reader has read from the source before or has it in its past, so that nothing new comes with it.
    pub(crate) fn is_cause(&self, source: Txn, reader: Txn) -> bool {
        let (session, number) = self.place(source);
        match self.txn(reader).sight {
            Sight::Causes => self.causes.row(reader)[session] >= number,
            Sight::CausesAndVersions => self.before.row(reader)[session] >= number,
            Sight::EarlierSources => false,
            _ => self.running(reader).sources.contains(&source),
        }
    }

    /// The first transaction of each session that the reader, at `cc`, must not come to see through another source.
    pub(crate) fn forbidden(&self, reader: Txn, forbidden: &mut Vec<u32>) {
        forbidden.clear();
        if self.txn(reader).sight != Sight::Causes || self.running(reader).reads.is_empty() {
            return;
        }
        forbidden.resize(self.before.width(), u32::MAX);
        for read in &self.running(reader).reads {
            let known = read.source != INIT && read.source >= self.base;
            let versions = &self.keys[read.key as usize];
            for chain in &versions.chains {
                let fine = |&(_, index): &(u32, u32)| {
                    let writer = versions.list[index as usize].writer;
                    let (session, number) = if known { self.place(read.source) } else { return false };
                    writer == read.source || self.before.row(writer)[session] < number
                };
                let first = partition_from_end(&chain.writes, fine);
                if let Some(&(number, _)) = chain.writes.get(first) {
                    let least = &mut forbidden[chain.session as usize];
                    *least = number.min(*least);
                }
            }
        }
    }

    /// Whether reading from the source would show the reader something that is forbidden.
    pub(crate) fn leads_to(&self, source: Txn, forbidden: &[u32]) -> bool {
        if source == INIT || forbidden.is_empty() {
            return false;
        }
        let (session, number) = self.place(source);
        forbidden[session] <= number || self.causes.row(source).iter().zip(forbidden).any(|(seen, first)| seen >= first)
    }

    /// Everything that comes before one of these.
    pub(crate) fn before_any(&self, txns: &[Txn], clock: &mut Vec<u32>) {
        clock.clear();
        clock.resize(self.before.width(), 0);
        for &txn in txns {
            join(clock, self.before.row(txn));
        }
    }

    /// Whether some commit order remains when the reader reads the key from the source. `floors` are the versions that
    /// it must see, and `dead` what comes before them.
    pub(crate) fn is_valid_open(&self, reader: Txn, source: Txn, floors: &[Txn], dead: &[u32]) -> bool {
        if source == INIT {
            return floors.is_empty();
        }
        let (session, number) = self.place(source);
        if dead[session] >= number {
            return false;
        }
        if self.txn(reader).sight == Sight::EarlierSources || self.is_cause(source, reader) {
            return true;
        }
        let mut targets: Vec<Target> = Vec::new();
        let mut scratch = Vec::new();
        for read in &self.running(reader).reads {
            self.new_floors(reader, source, read.key, &mut scratch);
            scratch.retain(|&floor| floor != read.source);
            if scratch.is_empty() {
                continue;
            }
            if read.source == INIT || read.source < self.base {
                return false;
            }
            targets.push(self.target(read.source, &scratch));
        }
        if targets.is_empty() {
            return true;
        }
        let others: Vec<Txn> = floors.iter().copied().filter(|&floor| floor != source).collect();
        if !others.is_empty() {
            targets.push(self.target(source, &others));
        }
        self.are_acyclic(&targets)
    }

    fn target(&self, txn: Txn, floors: &[Txn]) -> Target {
        let mut before = Vec::new();
        self.before_any(floors, &mut before);
        for &floor in floors {
            let (session, number) = self.place(floor);
            before[session] = before[session].max(number);
        }
        Target { txn, before }
    }

    /// Whether the targets can be ordered so that none has to come before itself: take away those that nobody among
    /// the rest comes before, until none is left.
    fn are_acyclic(&self, targets: &[Target]) -> bool {
        let precedes = |first: &Target, second: &Target| {
            let (session, number) = self.place(first.txn);
            second.before[session] >= number
        };
        let mut left: Vec<&Target> = targets.iter().collect();
        while !left.is_empty() {
            let count = left.len();
            let rest = left.clone();
            left.retain(|second| rest.iter().any(|first| precedes(first, second)));
            if left.len() == count {
                return false;
            }
        }
        true
    }

    /// Adds the edges that the read forces. The source is a valid one.
    pub(crate) fn read_open(&mut self, reader: Txn, key: u32, source: Txn) {
        let mut floors = Vec::new();
        self.floors(reader, key, &mut floors);
        for &floor in floors.iter().filter(|&&floor| floor != source) {
            self.follow(floor, source);
        }
        if source == INIT || source < self.base || self.is_cause(source, reader) {
            return;
        }
        for at in 0..self.running(reader).reads.len() {
            let read = self.running(reader).reads[at];
            self.new_floors(reader, source, read.key, &mut floors);
            for &floor in floors.iter().filter(|&&floor| floor != read.source) {
                self.follow(floor, read.source);
            }
        }
        self.follow(source, reader);
    }

    /// In an open order, `first` comes before `second`.
    pub(crate) fn follow(&mut self, first: Txn, second: Txn) {
        let (session, number) = self.place(first);
        let known = self.before.row(second)[session] >= number;
        let Order::Open(edges) = &mut self.order else { return };
        if known {
            return;
        }
        edges.add(first, second);
        let mut news = self.before.row(first).to_vec();
        news[session] = news[session].max(number);
        let mut told = vec![second];
        while let Some(txn) = told.pop() {
            let row = self.before.row_mut(txn);
            if !covers(row, &news) {
                join(row, &news);
                told.extend(edges.targets(txn));
            }
        }
    }
}
