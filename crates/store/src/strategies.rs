//! Ways to choose at random: uniform, biased to old or to fresh versions, and by changing priorities.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), written out here so that a seed means the same run
//! on every machine and in every version.

use crate::choice::{Choice, Point};

/// A source of numbers that look random and are a function of the seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// The numbers that follow from this seed.
    pub fn new(seed: u64) -> Dice {
        Dice { state: seed }
    }

    /// The seed of one run of many: runs of one campaign share nothing, and each can be made alone.
    pub fn seed_of_run(seed: u64, run: u64) -> u64 {
        let campaign = Dice::new(seed).roll();
        Dice::new(campaign ^ run.wrapping_mul(0xd1b5_4a32_d192_ed03)).roll()
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// True so often in a hundred times.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.roll() % 100 < chance
    }

    /// One of `0..count`, each as likely as the others (Lemire, 2019).
    pub fn below(&mut self, count: usize) -> usize {
        assert!(count > 0, "a die has sides");
        let count = count as u64;
        let reject = count.wrapping_neg() % count;
        loop {
            let wide = u128::from(self.roll()) * u128::from(count);
            if wide as u64 >= reject {
                return (wide >> 64) as usize;
            }
        }
    }
}

/// Which versions a random choice prefers. Every alternative stays possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bias {
    /// None of them.
    #[default]
    Uniform,
    /// Old ones: the older of two throws.
    Old,
    /// Fresh ones: the fresher of two throws.
    Fresh,
}

/// Chooses at random. Turns are uniform.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random {
    dice: Dice,
    bias: Bias,
}

impl Random {
    /// Uniform choice.
    pub fn new(seed: u64) -> Random {
        Random::biased(seed, Bias::Uniform)
    }

    /// Choice that prefers old or fresh versions.
    pub fn biased(seed: u64, bias: Bias) -> Random {
        Random { dice: Dice::new(seed), bias }
    }
}

impl Choice for Random {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let count = point.count();
        let first = self.dice.below(count);
        match (point, self.bias) {
            (Point::Turn(_), _) | (_, Bias::Uniform) => first,
            (_, Bias::Old) => first.min(self.dice.below(count)),
            (_, Bias::Fresh) => first.max(self.dice.below(count)),
        }
    }
}

/// Sessions have random priorities, and the highest goes first; at a few random turns whoever would go drops below all
/// others (probabilistic concurrency testing, Burckhardt et al., ASPLOS 2010). A violation that needs `d` changes is
/// found with a probability of at least one in `sessions × turns^(d−1)`, however rare it is among all interleavings.
/// Reads are uniform.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pct {
    dice: Dice,
    /// By session; 0 where none has been drawn yet.
    priorities: Vec<u64>,
    /// The turns at which priorities change, ascending.
    changes: Vec<usize>,
    turns: usize,
}

/// Initial priorities are above this, those after a change below.
const INITIAL: u64 = 1 << 63;

impl Pct {
    /// Changes priorities `changes` times within the first `turns` turns: about as many as a run takes.
    pub fn new(seed: u64, changes: usize, turns: usize) -> Pct {
        let mut dice = Dice::new(seed);
        let mut changes: Vec<usize> = (0..changes).map(|_| dice.below(turns.max(1))).collect();
        changes.sort_unstable();
        Pct { dice, priorities: Vec::new(), changes, turns: 0 }
    }

    fn priority(&mut self, session: usize) -> u64 {
        if self.priorities.len() <= session {
            self.priorities.resize(session + 1, 0);
        }
        if self.priorities[session] == 0 {
            self.priorities[session] = INITIAL | self.dice.roll();
        }
        self.priorities[session]
    }

    fn highest(&mut self, sessions: &[skew_model::SessionId]) -> usize {
        let mut best = 0;
        for index in 1..sessions.len() {
            if self.priority(sessions[index].0 as usize) > self.priority(sessions[best].0 as usize) {
                best = index;
            }
        }
        best
    }
}

impl Choice for Pct {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let sessions = match point {
            Point::Turn(sessions) => sessions,
            Point::Source(read) => return self.dice.below(read.count),
        };
        let turn = self.turns;
        self.turns += 1;
        let mut best = self.highest(sessions);
        while self.changes.first() == Some(&turn) {
            self.changes.remove(0);
            let lowest = 1 + self.changes.len() as u64;
            self.priorities[sessions[best].0 as usize] = lowest;
            best = self.highest(sessions);
        }
        best
    }
}
