//! The open commit order: a graph of what must come before what, and no more.
//!
//! Reads add edges `t2 → t1` (whoever the reader sees and also writes the key comes before the source). At `rc`, `ra`
//! and `cc` these edges depend only on session order and reads, so a history is within its levels iff the graph has no
//! cycle. `before` holds its closure as clocks; an edge is followed forward only to transactions that it tells
//! something new, so a read costs as much as it changes.

use std::cmp::Reverse;

use crate::clocks::{covers, join};
use crate::engine::{Engine, Order};
use crate::running::{FEW, Read};
use crate::sight::Sight;
use crate::versions::{INIT, Numbered, Txn, partition_from_end};

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
        let add = |writer, _| floors.push(writer);
        match txn.sight {
            Sight::Causes => self.each_seen(key, self.causes.row(reader), add),
            Sight::CausesAndVersions => self.each_seen(key, self.before.row(reader), add),
            Sight::SessionAndSources => {
                match &self.running(reader).began_after {
                    Some(began_after) => self.each_seen(key, &began_after.committed, add),
                    None => floors.extend(self.last_of_session(key, txn.session)),
                }
                self.sources_that_write(reader, key, floors);
            }
            Sight::EarlierSources => {
                if let Some(began_after) = &self.running(reader).began_after {
                    self.each_seen(key, &began_after.committed, add);
                }
                self.sources_that_write(reader, key, floors);
            }
            _ => {}
        }
    }

    /// The session's last version of the key.
    fn last_of_session(&self, key: u32, session: u32) -> Option<Txn> {
        let (list, chains) = (self.versions.list(key), self.versions.chains(key));
        if chains.is_empty() {
            let mut writers = list.iter().rev().map(|version| version.writer);
            return writers.find(|&writer| self.txn(writer).session == session);
        }
        let chain = &chains[chains.binary_search_by_key(&session, |chain| chain.session).ok()?];
        chain.writes.last().map(|&(_, index)| list[index as usize].writer)
    }

    fn sources_that_write(&self, reader: Txn, key: u32, floors: &mut Vec<Txn>) {
        let (running, list) = (self.running(reader), self.versions.list(key));
        if list.len() < running.sources.len() {
            for version in list.iter().filter(|version| running.has_source(version.writer)) {
                if !floors.contains(&version.writer) {
                    floors.push(version.writer);
                }
            }
            return;
        }
        for &source in &running.sources {
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
        let own = self.numbered(source);
        let (old, new) = (clocks.row(reader), clocks.row(source));
        self.each_seen(key, new, |writer, seen| {
            if seen.number > old[seen.session as usize] && seen.session != own.session {
                floors.push(writer);
            }
        });
        // The source itself, or its session's last write before it.
        if let Some((writer, number)) = self.last_up_to(key, own)
            && number > old[own.session as usize]
        {
            floors.push(writer);
        }
    }

    /// The last version of the key by transactions of the session up to this number.
    fn last_up_to(&self, key: u32, limit: Numbered) -> Option<(Txn, u32)> {
        let (list, chains) = (self.versions.list(key), self.versions.chains(key));
        if chains.is_empty() {
            let writers = list.iter().rev().map(|version| (version.writer, self.numbered(version.writer)));
            let mut of_session = writers.filter(|(_, place)| place.session == limit.session);
            return of_session
                .find(|(_, place)| place.number <= limit.number)
                .map(|(writer, place)| (writer, place.number));
        }
        let chain = &chains[chains.binary_search_by_key(&limit.session, |chain| chain.session).ok()?];
        let (number, index) = chain.writes[chain.up_to(limit.number).checked_sub(1)?];
        Some((list[index as usize].writer, number))
    }

    /// The reads whose keys somebody has written whom the reader would see only because it now reads from `source`; in a
    /// transaction with few reads, all of them.
    pub(crate) fn reads_in_question(&self, reader: Txn, source: Txn, found: &mut Vec<usize>) {
        found.clear();
        let running = self.running(reader);
        let all = running.reads.len();
        let clocks = match self.txn(reader).sight {
            Sight::Causes => &self.causes,
            Sight::CausesAndVersions => &self.before,
            Sight::SessionAndSources if all > FEW && (self.txn(source).writes as usize) < all => {
                found.extend(self.writes_of(source).flat_map(|key| running.reads_of(key)));
                found.sort_unstable();
                return;
            }
            Sight::SessionAndSources => return found.extend(0..all),
            _ => return,
        };
        let own = self.numbered(source);
        let (old, new) = (clocks.row(reader), clocks.row(source));
        let ranges = || {
            let limits = new.iter().zip(old).enumerate().take(self.sessions.len());
            let limits = limits.map(move |(session, (&new, &old))| {
                (session, old, if session == own.session as usize { own.number } else { new })
            });
            limits.filter(|&(_, old, new)| new > old)
        };
        if all <= FEW || ranges().map(|(_, old, new)| (new - old) as usize).sum::<usize>() > all {
            return found.extend(0..all);
        }
        for (session, old, new) in ranges() {
            let forgotten = self.forgotten[session];
            let txns = &self.sessions[session].txns;
            for txn in txns.range((old.max(forgotten) - forgotten) as usize..(new - forgotten) as usize) {
                found.extend(self.writes_of(*txn).flat_map(|key| running.reads_of(key)));
            }
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Whether the reader has read from the source before or has it in its past, so that nothing new comes with it.
    pub(crate) fn is_cause(&self, source: Txn, reader: Txn) -> bool {
        let (session, number) = self.place(source);
        match self.txn(reader).sight {
            Sight::Causes => self.causes.row(reader)[session] >= number,
            Sight::CausesAndVersions => self.before.row(reader)[session] >= number,
            Sight::EarlierSources => false,
            _ => self.running(reader).has_source(source),
        }
    }

    /// The first transaction of each session that the reader, at `cc`, must not come to see through another source.
    pub(crate) fn forbidden(&self, reader: Txn, forbidden: &mut Vec<u32>) {
        forbidden.clear();
        let running = self.running(reader);
        if self.txn(reader).sight != Sight::Causes || running.reads.is_empty() {
            return;
        }
        // What was forbidden stays so. More may be by now; that is found when a candidate is tested.
        let mut known = running.forbidden.borrow_mut();
        known.first.resize(self.before.width(), u32::MAX);
        running.reads[known.reads..].iter().for_each(|read| self.forbid(read, &mut known.first));
        known.reads = running.reads.len();
        forbidden.extend_from_slice(&known.first);
    }

    /// Nobody may be seen who comes after what was read, and wrote the key.
    fn forbid(&self, read: &Read, forbidden: &mut [u32]) {
        let known = read.source != INIT && read.source >= self.base;
        let source = known.then(|| self.place(read.source));
        let fine = |writer: Txn| {
            let Some((session, number)) = source else { return false };
            writer == read.source || self.before.row(writer)[session] < number
        };
        let (list, chains) = (self.versions.list(read.key), self.versions.chains(read.key));
        if chains.is_empty() {
            for version in list.iter().filter(|version| !fine(version.writer)) {
                let (session, number) = self.place(version.writer);
                forbidden[session] = number.min(forbidden[session]);
            }
        }
        for chain in chains {
            let first = partition_from_end(&chain.writes, |&(_, index)| fine(list[index as usize].writer));
            if let Some(&(number, _)) = chain.writes.get(first) {
                let least = &mut forbidden[chain.session as usize];
                *least = number.min(*least);
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

    /// Leaves out floors that come before others; `dead` gets everything that comes before one of them.
    pub(crate) fn keep_last(&self, floors: &mut Vec<Txn>, dead: &mut Vec<u32>) {
        dead.clear();
        dead.resize(self.before.width(), 0);
        // Who began later comes later more often.
        floors.sort_unstable_by_key(|&floor| Reverse(floor));
        floors.retain(|&floor| {
            let (session, number) = self.place(floor);
            let last = dead[session] < number;
            if last {
                join(dead, self.before.row(floor));
            }
            last
        });
    }

    /// Everything that comes before one of these.
    fn before_any(&self, txns: &[Txn], clock: &mut Vec<u32>) {
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
        let (mut scratch, mut in_question) = (Vec::new(), Vec::new());
        self.reads_in_question(reader, source, &mut in_question);
        for at in in_question {
            let read = &self.running(reader).reads[at];
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
        floors.sort_unstable_by_key(|&floor| Reverse(floor));
        for &floor in floors.iter().filter(|&&floor| floor != source) {
            self.follow(floor, source);
        }
        if source == INIT || source < self.base || self.is_cause(source, reader) {
            return;
        }
        let mut in_question = Vec::new();
        self.reads_in_question(reader, source, &mut in_question);
        for at in in_question {
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
