//! When transactions of templates can be interleaved at `mvrc` so that no serial order explains it: by the definition, and
//! by trying every interleaving.
//!
//! A transaction is a list of steps. A step reads cells of what is committed, or its own writes, and writes cells of rows
//! that it locks; a locked row is locked by nobody else until the end. What a step reads of a row that it locks it reads
//! under the lock. Who writes a cell last committed last, so versions are in the order of commits.

use std::collections::{BTreeMap, BTreeSet};

/// A row: its table and its key.
pub type Row = (usize, usize);

/// A column of a row.
pub type Cell = (Row, usize);

/// What happens at once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Step {
    pub reads: Vec<Cell>,
    pub writes: Vec<Cell>,
    /// What is written is locked, too.
    pub locks: Option<Row>,
}

/// A transaction.
pub type Steps = Vec<Step>;

fn meet(one: &[Cell], other: &[Cell]) -> bool {
    one.iter().any(|cell| other.contains(cell))
}

/// Whether a step and a later one of somebody else depend on each other.
fn depend(one: &Step, other: &Step) -> bool {
    meet(&one.writes, &other.reads) || meet(&one.writes, &other.writes) || meet(&one.reads, &other.writes)
}

fn locks(steps: &[Step]) -> BTreeSet<Row> {
    steps.iter().filter_map(|step| step.locks).collect()
}

/// Whether there is a split schedule: T1 up to a step, then T2 … Tm one after the other, then the rest of T1, with
///
/// - a dependency of each on the one before it, and of T1 on Tm;
/// - T2 overwriting what the last step of T1 before it has read;
/// - nobody locking what T1 has locked by then: they would wait;
/// - the dependency that leads back to T1 being one that the schedule has: at a later step of T1, or T1 has overwritten by
///   then what Tm reads, and Tm, which does not see it, reads what was there before.
///
/// That there is one whenever an interleaving is not serializable is Theorem 3.5 of Vandevoort, Ketsman, Koch and Neven
/// 2021. `sessions`: any two of T2 … Tm can follow each other in a session.
pub fn can_be_split(transactions: &[Steps], most: usize, sessions: bool) -> bool {
    let all: Vec<BTreeSet<Row>> = transactions.iter().map(|steps| locks(steps)).collect();
    let follows = |one: usize, other: usize| {
        sessions || transactions[one].iter().any(|step| transactions[other].iter().any(|later| depend(step, later)))
    };
    let edges: Vec<Vec<usize>> = (0..transactions.len())
        .map(|one| (0..transactions.len()).filter(|other| follows(one, *other)).collect())
        .collect();
    transactions.iter().any(|first| {
        (0..first.len()).any(|split| {
            let held = locks(&first[..=split]);
            let can_run = |other: usize| all[other].is_disjoint(&held);
            let closes = |last: usize| {
                let later =
                    first[split + 1..].iter().any(|back| transactions[last].iter().any(|step| depend(step, back)));
                let overwrites = |back: &Step| transactions[last].iter().any(|step| meet(&step.reads, &back.writes));
                later || first[..=split].iter().any(overwrites)
            };
            let overwrites = |other: &usize| {
                can_run(*other) && transactions[*other].iter().any(|step| meet(&first[split].reads, &step.writes))
            };
            let mut known: BTreeSet<usize> = (0..transactions.len()).filter(overwrites).collect();
            let mut last: Vec<usize> = known.iter().copied().collect();
            for _ in 2..=most {
                if last.iter().any(|other| closes(*other)) {
                    return true;
                }
                let next = last.iter().flat_map(|other| &edges[*other]).copied();
                let next: BTreeSet<usize> = next.filter(|other| can_run(*other) && !known.contains(other)).collect();
                known.extend(&next);
                last = next.into_iter().collect();
                if last.is_empty() {
                    break;
                }
            }
            false
        })
    })
}

/// Whether so many of the transactions, each any number of times, have an interleaving that no serial order explains.
pub fn can_be_interleaved(transactions: &[Steps], most: usize) -> bool {
    let mut chosen = Vec::new();
    can_be_interleaved_with(transactions, most, 0, &mut chosen)
}

fn can_be_interleaved_with(transactions: &[Steps], most: usize, from: usize, chosen: &mut Vec<usize>) -> bool {
    if chosen.len() > 1 {
        let own: Vec<&Steps> = chosen.iter().map(|at| &transactions[*at]).collect();
        if (Run { own: &own, at: vec![0; own.len()], committed: Vec::new(), sees: BTreeMap::new() }).goes_wrong() {
            return true;
        }
    }
    chosen.len() < most
        && (from..transactions.len()).any(|next| {
            chosen.push(next);
            let goes_wrong = can_be_interleaved_with(transactions, most, next, chosen);
            chosen.pop();
            goes_wrong
        })
}

/// An interleaving that is being made.
struct Run<'a> {
    own: &'a [&'a Steps],
    /// How many steps each has made.
    at: Vec<usize>,
    /// In the order of commits.
    committed: Vec<usize>,
    /// How many had committed when a step looked.
    sees: BTreeMap<(usize, usize), usize>,
}

impl Run<'_> {
    /// Whether some way of going on is not serializable.
    fn goes_wrong(&mut self) -> bool {
        if self.committed.len() == self.own.len() {
            return self.has_a_cycle();
        }
        (0..self.own.len()).any(|one| {
            if self.committed.contains(&one) {
                return false;
            }
            let step = self.at[one];
            if step == self.own[one].len() {
                self.committed.push(one);
                let goes_wrong = self.goes_wrong();
                self.committed.pop();
                return goes_wrong;
            }
            if self.own[one][step].locks.is_some_and(|row| self.is_locked_for(one, row)) {
                return false;
            }
            self.sees.insert((one, step), self.committed.len());
            self.at[one] += 1;
            let goes_wrong = self.goes_wrong();
            self.at[one] -= 1;
            goes_wrong
        })
    }

    fn is_locked_for(&self, one: usize, row: Row) -> bool {
        let holds = |other: &usize| locks(&self.own[*other][..self.at[*other]]).contains(&row);
        (0..self.own.len()).filter(|other| *other != one && !self.committed.contains(other)).any(|other| holds(&other))
    }

    fn has_a_cycle(&self) -> bool {
        let count = self.own.len();
        let place = |one: usize| self.committed.iter().position(|other| *other == one).expect("all have committed");
        let mut before = vec![vec![false; count]; count];
        for one in 0..count {
            for other in (0..count).filter(|other| *other != one) {
                let writes: Vec<Cell> = self.own[other].iter().flat_map(|step| step.writes.clone()).collect();
                for (at, step) in self.own[one].iter().enumerate() {
                    if meet(&step.writes, &writes) && place(other) < place(one) {
                        before[other][one] = true;
                    }
                    let own: Vec<Cell> = self.own[one][..at].iter().flat_map(|step| step.writes.clone()).collect();
                    let reads = step.reads.iter().filter(|cell| writes.contains(cell) && !own.contains(cell));
                    if reads.count() > 0 {
                        let is_seen = place(other) < self.sees[&(one, at)];
                        // Who is seen comes before, be it that what it wrote was overwritten by then.
                        if is_seen { before[other][one] = true } else { before[one][other] = true }
                    }
                }
            }
        }
        for by in 0..count {
            for one in 0..count {
                for other in 0..count {
                    before[one][other] |= before[one][by] && before[by][other];
                }
            }
        }
        (0..count).any(|one| before[one][one])
    }
}
