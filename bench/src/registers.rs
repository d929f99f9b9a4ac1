//! Histories of registers, in Plume's text. Each session runs a transaction an operation at a time, in random turns.

use std::io::{self, Write};

use crate::random::Random;
use crate::{Arguments, Level};

/// A version of a key: who committed it when, and its value.
#[derive(Clone, Copy)]
struct Version {
    commit: u32,
    session: u32,
    value: u32,
}

#[derive(Clone, Copy)]
struct Op {
    write: bool,
    key: u32,
    value: u32,
}

/// A running transaction.
struct Running {
    ops: Vec<Op>,
    /// Commits that it sees: all up to here.
    snapshot: u32,
}

struct Store {
    level: Level,
    versions: Vec<Vec<Version>>,
    commits: u32,
    next_value: u32,
    /// For causal stores: how many transactions of each session each session has received, and had at each commit.
    received: Vec<Vec<u32>>,
    counts: Vec<u32>,
    clocks: Vec<Vec<Vec<u32>>>,
}

/// Prints a history.
pub(crate) fn generate(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let sessions = arguments.sessions;
    let mut random = Random::new(arguments.seed);
    let causal = arguments.level == Level::Cc;
    let mut store = Store {
        level: arguments.level,
        versions: vec![Vec::new(); arguments.keys as usize],
        commits: 0,
        next_value: 1,
        received: vec![vec![0; if causal { sessions as usize } else { 0 }]; sessions as usize],
        counts: vec![0; sessions as usize],
        clocks: vec![Vec::new(); sessions as usize],
    };
    let mut running: Vec<Option<Running>> = (0..sessions).map(|_| None).collect();
    let mut finished: Vec<Vec<Vec<Op>>> = vec![Vec::new(); sessions as usize];
    let mut count = 0;
    while count < arguments.transactions {
        let session = random.below(sessions);
        let slot = &mut running[session as usize];
        let txn = slot.get_or_insert_with(|| {
            store.receive(session, &mut random);
            Running { ops: Vec::new(), snapshot: store.commits }
        });
        if txn.ops.len() < arguments.operations as usize {
            let key = random.key(arguments.keys, arguments.skew);
            let write = random.below(100) >= arguments.reads;
            let op = store.perform(session, txn, key, write);
            txn.ops.push(op);
            continue;
        }
        let txn = running[session as usize].take().expect("the session runs a transaction");
        if store.commit(session, &txn) {
            finished[session as usize].push(txn.ops);
            count += 1;
        }
    }
    let mut number = 0;
    for (session, txns) in finished.iter().enumerate() {
        for ops in txns {
            for op in ops {
                let letter = if op.write { 'w' } else { 'r' };
                writeln!(out, "{letter}({},{},{session},{number})", op.key, op.value)?;
            }
            number += 1;
        }
    }
    Ok(())
}

impl Store {
    fn perform(&mut self, session: u32, txn: &Running, key: u32, write: bool) -> Op {
        if write {
            let value = self.next_value;
            self.next_value += 1;
            return Op { write, key, value };
        }
        let own = txn.ops.iter().rev().find(|op| op.write && op.key == key).map(|op| op.value);
        let value = own.unwrap_or_else(|| self.visible(session, txn, key).map_or(0, |version| version.value));
        Op { write, key, value }
    }

    fn visible(&self, session: u32, txn: &Running, key: u32) -> Option<Version> {
        let sees = |version: &&Version| match self.level {
            Level::Ser => true,
            Level::Si => version.commit <= txn.snapshot,
            Level::Cc => {
                let clock = &self.clocks[version.session as usize];
                let at = clock.partition_point(|clock| clock[clock.len() - 1] < version.commit) as u32;
                at < self.received[session as usize][version.session as usize]
            }
        };
        self.versions[key as usize].iter().rev().find(sees).copied()
    }

    /// A causal replica receives some of what others committed, with what that rests on.
    fn receive(&mut self, session: u32, random: &mut Random) {
        if self.level != Level::Cc {
            return;
        }
        for _ in 0..8 {
            let other = random.below(self.counts.len() as u32) as usize;
            let next = self.received[session as usize][other] as usize;
            let Some(clock) = self.clocks[other].get(next).cloned() else { continue };
            for (mine, theirs) in self.received[session as usize].iter_mut().zip(&clock) {
                *mine = (*mine).max(*theirs);
            }
        }
    }

    fn commit(&mut self, session: u32, txn: &Running) -> bool {
        let newest = |key: u32| self.versions[key as usize].last();
        let fine = match self.level {
            Level::Cc => true,
            Level::Si => txn
                .ops
                .iter()
                .all(|op| !op.write || newest(op.key).is_none_or(|version| version.commit <= txn.snapshot)),
            Level::Ser => txn.ops.iter().enumerate().all(|(at, op)| {
                let own = txn.ops[..at].iter().any(|other| other.write && other.key == op.key);
                op.write || own || newest(op.key).map_or(0, |version| version.value) == op.value
            }),
        };
        if !fine {
            return false;
        }
        self.commits += 1;
        self.counts[session as usize] += 1;
        if self.level == Level::Cc {
            self.received[session as usize][session as usize] = self.counts[session as usize];
            let mut clock = self.received[session as usize].clone();
            clock.push(self.commits);
            self.clocks[session as usize].push(clock);
        }
        for (at, op) in txn.ops.iter().enumerate() {
            let last = !txn.ops[at + 1..].iter().any(|other| other.write && other.key == op.key);
            if op.write && last {
                let version = Version { commit: self.commits, session, value: op.value };
                self.versions[op.key as usize].push(version);
            }
        }
        true
    }
}
