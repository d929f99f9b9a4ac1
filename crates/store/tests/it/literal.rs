//! The definition of the levels once more, read literally for tiny programs and all levels at once: every way to answer
//! the reads, every commit order. Sets of transactions are bits, so that hundreds of millions of histories can be looked
//! at; `skew_check::oracle`, which takes any history, is what this is tested against.

use skew_model::Level;

/// A transaction: the keys (0 and 1) that it reads from others, in order, and those that it writes.
#[derive(Clone, Debug)]
pub struct Txn {
    pub session: usize,
    pub reads: Vec<u8>,
    pub writes: Vec<u8>,
}

/// Whom all reads read from, transaction after transaction: four bits a read, the first one lowest; 0 is the initial
/// transaction, the others count from 1.
pub type Answers = u64;

/// A set of levels, as bits.
pub type Levels = u8;

/// The levels, in the order of their bits.
pub const LEVELS: [Level; 8] =
    [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

const RC: Levels = 1;
const RA: Levels = 1 << 1;
const CC: Levels = 1 << 2;
const MVRC: Levels = 1 << 3;
const PC: Levels = 1 << 4;
const PSI: Levels = 1 << 5;
const SI: Levels = 1 << 6;
const SER: Levels = 1 << 7;

/// The most transactions: with the initial one their sets are bytes.
pub const MAX_TXNS: usize = 7;

/// A set of transactions; the initial one is bit 0.
type Set = u8;

/// For each transaction, a set of others.
type Relation = [Set; MAX_TXNS + 1];

const INIT: usize = 0;

fn one(txn: usize) -> Set {
    1 << txn
}

/// A program, with what holds for all its histories.
pub struct Program {
    count: usize,
    so: Relation,
    /// Who writes a common key. (The initial transaction, which writes all keys, comes first in every order.)
    conflicts: Relation,
    /// Who writes each key.
    writers: [Set; 2],
    /// The reads: transaction, key and the number of the transaction's first read.
    reads: Vec<(usize, u8, usize)>,
    /// All total orders that respect session order: for each transaction who comes before it.
    orders: Vec<Relation>,
}

impl Program {
    pub fn new(txns: &[Txn]) -> Program {
        assert!(txns.len() <= MAX_TXNS, "sets of transactions are bytes");
        let mut program = Program {
            count: txns.len(),
            so: [0; MAX_TXNS + 1],
            conflicts: [0; MAX_TXNS + 1],
            writers: [one(INIT); 2],
            reads: Vec::new(),
            orders: Vec::new(),
        };
        for (b, txn) in (1..).zip(txns) {
            program.so[b] = one(INIT);
            for (a, other) in (1..).zip(txns).filter(|&(a, _)| a != b) {
                let before = a < b && other.session == txn.session;
                let common = txn.writes.iter().any(|key| other.writes.contains(key));
                program.so[b] |= if before { one(a) } else { 0 };
                program.conflicts[b] |= if common { one(a) } else { 0 };
            }
            txn.writes.iter().for_each(|&key| program.writers[key as usize] |= one(b));
            let first = program.reads.len();
            program.reads.extend(txn.reads.iter().map(|&key| (b, key, first)));
        }
        assert!(program.reads.len() <= 16, "an answer is four bits");
        program.add_orders(one(INIT), [0; MAX_TXNS + 1]);
        program
    }

    fn add_orders(&mut self, placed: Set, order: Relation) {
        if placed.count_ones() as usize == self.count + 1 {
            self.orders.push(order);
        }
        for next in 1..=self.count {
            if placed & one(next) == 0 && self.so[next] & !placed == 0 {
                let mut longer = order;
                longer[next] = placed;
                self.add_orders(placed | one(next), longer);
            }
        }
    }

    /// Every way to answer the reads that some order allows at all, with the levels at which it is accepted.
    pub fn conceivable(&self) -> Vec<(Answers, Levels)> {
        let mut found = Vec::new();
        self.answer(0, &mut [INIT; 16], &self.so, &mut found);
        found
    }

    /// Answers the next read in every way; `direct` is session order and the reads so far.
    fn answer(&self, read: usize, sources: &mut [usize; 16], direct: &Relation, found: &mut Vec<(Answers, Levels)>) {
        let Some(&(reader, key, _)) = self.reads.get(read) else {
            found.push((pack(&sources[..read]), self.accepting(sources, direct)));
            return;
        };
        for source in (0..=self.count).filter(|&source| self.writers[key as usize] & one(source) & !one(reader) != 0) {
            let mut more = *direct;
            more[reader] |= one(source);
            if self.orders.iter().any(|co| extends(co, &more)) {
                sources[read] = source;
                self.answer(read + 1, sources, &more, found);
            }
        }
    }

    /// The levels at which the history is accepted.
    fn accepting(&self, sources: &[usize; 16], direct: &Relation) -> Levels {
        let mut causes = *direct;
        close(&mut causes);
        let mut accepting = 0;
        for co in self.orders.iter().filter(|co| extends(co, direct)) {
            accepting |= self.satisfied_by(co, sources, direct, &causes, !accepting);
            if accepting == !0 {
                break;
            }
        }
        accepting
    }

    /// Those of the wanted levels whose axiom every read satisfies in this order. Of a read of `key` in `t3` from `t1`:
    /// every other writer of the key that `t3` must see comes before `t1`.
    fn satisfied_by(
        &self,
        co: &Relation,
        sources: &[usize; 16],
        direct: &Relation,
        causes: &Relation,
        wanted: Levels,
    ) -> Levels {
        let mut satisfied = wanted;
        let mut causes_and_versions = None;
        for (at, &(t3, key, first)) in self.reads.iter().enumerate() {
            let t1 = sources[at];
            // Whatever must be seen comes before `t3`: that is all there is to `ser`.
            let late = self.writers[key as usize] & !one(t1) & !co[t1] & co[t3];
            if late == 0 {
                continue;
            }
            satisfied &= !SER;
            let read_earlier = sources[first..at].iter().fold(0, |set, &source| set | one(source));
            let mut must_see = |level: Levels, seen: &mut dyn FnMut() -> Set| {
                if satisfied & level != 0 && seen() & late != 0 {
                    satisfied &= !level;
                }
            };
            must_see(RC, &mut || read_earlier);
            must_see(RA, &mut || direct[t3]);
            must_see(CC, &mut || causes[t3]);
            // Each operation is a statement.
            must_see(MVRC, &mut || prefix(self.so[t3] | read_earlier, co));
            must_see(PC, &mut || prefix(direct[t3], co));
            must_see(PSI, &mut || causes_and_versions.get_or_insert_with(|| self.causes_and_versions(co, causes))[t3]);
            must_see(SI, &mut || prefix(direct[t3] | self.conflicts[t3] & co[t3], co));
            if satisfied == 0 {
                break;
            }
        }
        satisfied
    }

    /// `(so ∪ wr ∪ ww)⁺`, with `ww` from the order.
    fn causes_and_versions(&self, co: &Relation, causes: &Relation) -> Relation {
        let mut found: Relation = std::array::from_fn(|b| causes[b] | self.conflicts[b] & co[b]);
        close(&mut found);
        found
    }
}

/// Whom the reads read from, as one number.
pub fn pack(sources: &[usize]) -> Answers {
    sources.iter().rev().fold(0, |answers, &source| answers << 4 | source as Answers)
}

/// The bit of a level.
pub fn level(level: Level) -> Levels {
    1 << LEVELS.iter().position(|&other| other == level).expect("one of the levels")
}

/// Whether the order contains the relation.
fn extends(co: &Relation, relation: &Relation) -> bool {
    u64::from_ne_bytes(*relation) & !u64::from_ne_bytes(*co) == 0
}

/// A set and everything that comes before its members.
fn prefix(set: Set, co: &Relation) -> Set {
    let (mut left, mut prefix) = (set, set);
    while left != 0 {
        prefix |= co[left.trailing_zeros() as usize];
        left &= left - 1;
    }
    prefix
}

fn close(relation: &mut Relation) {
    for via in 0..relation.len() {
        for b in 0..relation.len() {
            if relation[b] & one(via) != 0 {
                relation[b] |= relation[via];
            }
        }
    }
}
