//! Running a pattern over a text with all possibilities side by side.

use std::rc::Rc;

use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::pattern::regex::Chars;
use crate::functions::pattern::regex::node::{Kind, Node, Place};
use crate::functions::pattern::regex::set::{Set, is_word};

/// More steps than any sensible pattern has.
const LARGEST: usize = 100_000;

/// One step of a program.
#[derive(Debug)]
enum Step {
    One(Rc<Set>),
    At(Place),
    Look { ahead: bool, negated: bool, inner: Program },
    Fork(usize, usize),
    Jump(usize),
    Done,
}

/// The steps of a part of a pattern.
#[derive(Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
}

/// `54000`-like refusal of patterns that repeat repetitions.
pub(super) fn check_size(node: &Node) -> Result<()> {
    if size(node) > LARGEST {
        let message = "invalid regular expression: regular expression is too complex";
        return Err(SqlError::new(SqlState::INVALID_REGULAR_EXPRESSION, message));
    }
    Ok(())
}

fn size(node: &Node) -> usize {
    let sum = |nodes: &[Node]| nodes.iter().fold(0usize, |sum, node| sum.saturating_add(size(node)).saturating_add(2));
    match &node.kind {
        Kind::Empty | Kind::One(_) | Kind::At(_) => 1,
        Kind::Look { inner, .. } | Kind::Group(_, inner) | Kind::Reference(_, _, inner) => size(inner) + 1,
        Kind::Concat(nodes) | Kind::Alternatives(nodes) => sum(nodes),
        Kind::Repeat { inner, min, max } => {
            let copies = max.unwrap_or(*min + 1).max(1) as usize;
            (size(inner) + 2).saturating_mul(copies)
        }
    }
}

impl Program {
    pub fn new(node: &Node) -> Program {
        let mut program = Program { steps: Vec::new() };
        program.add(node);
        program.steps.push(Step::Done);
        program
    }

    fn add(&mut self, node: &Node) {
        match &node.kind {
            Kind::Empty => {}
            Kind::One(set) => self.steps.push(Step::One(set.clone())),
            Kind::At(place) => self.steps.push(Step::At(*place)),
            Kind::Look { ahead, negated, inner } => {
                self.steps.push(Step::Look { ahead: *ahead, negated: *negated, inner: Program::new(inner) });
            }
            // A reference is at least a match of its group's pattern; whether it is the same text is seen later.
            Kind::Group(_, inner) | Kind::Reference(_, _, inner) => self.add(inner),
            Kind::Concat(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Kind::Alternatives(nodes) => self.add_alternatives(nodes),
            Kind::Repeat { inner, min, max } => self.add_repeat(inner, *min, *max),
        }
    }

    fn add_alternatives(&mut self, nodes: &[Node]) {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let fork = self.steps.len();
            let last = index + 1 == nodes.len();
            if !last {
                self.steps.push(Step::Jump(fork + 1));
            }
            self.add(node);
            if !last {
                jumps.push(self.steps.len());
                self.steps.push(Step::Jump(0));
                self.steps[fork] = Step::Fork(fork + 1, self.steps.len());
            }
        }
        let end = self.steps.len();
        jumps.into_iter().for_each(|jump| self.steps[jump] = Step::Jump(end));
    }

    fn add_repeat(&mut self, inner: &Node, min: u32, max: Option<u32>) {
        (0..min).for_each(|_| self.add(inner));
        match max {
            None => {
                let fork = self.steps.len();
                self.steps.push(Step::Jump(fork + 1));
                self.add(inner);
                self.steps.push(Step::Jump(fork));
                self.steps[fork] = Step::Fork(fork + 1, self.steps.len());
            }
            Some(max) => {
                let forks: Vec<usize> = (min..max)
                    .map(|_| {
                        let fork = self.steps.len();
                        self.steps.push(Step::Jump(fork + 1));
                        self.add(inner);
                        fork
                    })
                    .collect();
                let end = self.steps.len();
                forks.into_iter().for_each(|fork| self.steps[fork] = Step::Fork(fork + 1, end));
            }
        }
    }

    /// Where matches that begin here can end, up to `stop`, in ascending order.
    pub fn ends(&self, text: &Chars, begin: usize, stop: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        self.run(text, begin, stop, false, |end| {
            ends.push(end);
            true
        });
        ends
    }

    /// Whether a match that begins here can end there.
    pub fn spans(&self, text: &Chars, begin: usize, end: usize) -> bool {
        let mut found = false;
        self.run(text, begin, end, false, |at| {
            found = at == end;
            !found
        });
        found
    }

    /// Whether there is a match anywhere.
    pub fn matches(&self, text: &Chars) -> bool {
        self.any(text, 0, true)
    }

    /// Whether there is a match that begins here or, with `anywhere`, later.
    fn any(&self, text: &Chars, begin: usize, anywhere: bool) -> bool {
        let mut found = false;
        self.run(text, begin, text.len(), anywhere, |_| {
            found = true;
            false
        });
        found
    }

    /// Tells every place where a match ends, until it is told to stop.
    fn run(&self, text: &Chars, begin: usize, stop: usize, anywhere: bool, mut told: impl FnMut(usize) -> bool) {
        let mut now = Threads::new(self.steps.len());
        let mut next = Threads::new(self.steps.len());
        self.follow(&mut now, 0, text, begin);
        for at in begin..=stop {
            if budget::is_over(4 + 4 * now.list.len()) {
                return;
            }
            if anywhere && at > begin {
                self.follow(&mut now, 0, text, at);
            }
            if now.done && !told(at) || at == stop {
                return;
            }
            if now.list.is_empty() && !anywhere {
                return;
            }
            for &step in &now.list {
                if let Step::One(set) = &self.steps[step]
                    && set.contains(text[at])
                {
                    self.follow(&mut next, step + 1, text, at + 1);
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
        }
    }

    /// Adds a step and what follows from it without a character.
    fn follow(&self, threads: &mut Threads, from: usize, text: &Chars, at: usize) {
        let mut pending = vec![from];
        while let Some(step) = pending.pop() {
            if !threads.mark(step) {
                continue;
            }
            match &self.steps[step] {
                Step::One(_) => threads.list.push(step),
                Step::Done => threads.done = true,
                Step::Jump(to) => pending.push(*to),
                Step::Fork(one, other) => pending.extend([*other, *one]),
                Step::At(place) if holds(*place, text, at) => pending.push(step + 1),
                Step::Look { ahead, negated, inner } if look(inner, text, at, *ahead) != *negated => {
                    pending.push(step + 1);
                }
                Step::At(_) | Step::Look { .. } => {}
            }
        }
    }
}

fn look(inner: &Program, text: &Chars, at: usize, ahead: bool) -> bool {
    if ahead {
        inner.any(text, at, false)
    } else {
        (0..=at).rev().any(|begin| budget::is_over(1) || inner.spans(text, begin, at))
    }
}

/// The steps that wait for a character.
struct Threads {
    list: Vec<usize>,
    seen: Vec<u32>,
    round: u32,
    done: bool,
}

impl Threads {
    fn new(steps: usize) -> Threads {
        Threads { list: Vec::new(), seen: vec![0; steps], round: 1, done: false }
    }

    fn mark(&mut self, step: usize) -> bool {
        std::mem::replace(&mut self.seen[step], self.round) != self.round
    }

    fn clear(&mut self) {
        self.list.clear();
        self.round += 1;
        self.done = false;
    }
}

/// Whether a place is what it should be.
fn holds(place: Place, text: &Chars, at: usize) -> bool {
    let word_before = at > 0 && is_word(text[at - 1]);
    let word_after = at < text.len() && is_word(text[at]);
    match place {
        Place::Start => at == 0,
        Place::End => at == text.len(),
        Place::LineStart => at == 0 || text[at - 1] == '\n',
        Place::LineEnd => at == text.len() || text[at] == '\n',
        Place::WordStart => !word_before && word_after,
        Place::WordEnd => word_before && !word_after,
        Place::WordEdge => word_before != word_after,
        Place::NotWordEdge => word_before == word_after,
    }
}
