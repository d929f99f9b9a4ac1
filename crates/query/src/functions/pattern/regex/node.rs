//! What a pattern is, as a tree, and which length each part prefers.

use std::rc::Rc;

use crate::functions::pattern::regex::set::Set;

/// Whether a part takes as much or as little as it can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefers {
    /// It has no choice.
    Nothing,
    Longest,
    Shortest,
}

impl Prefers {
    /// The first preference that there is.
    pub fn or(self, other: Prefers) -> Prefers {
        if self == Prefers::Nothing { other } else { self }
    }
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    pub prefers: Prefers,
    /// It has groups inside, so a match of it is taken apart.
    pub captures: bool,
    /// It has references inside.
    pub refers: bool,
    /// It has parts that prefer differently.
    pub mixed: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Empty,
    One(Rc<Set>),
    At(Place),
    Look { ahead: bool, negated: bool, inner: Box<Node> },
    Group(usize, Box<Node>),
    Reference(usize, bool, Box<Node>),
    Concat(Vec<Node>),
    Alternatives(Vec<Node>),
    Repeat { inner: Box<Node>, min: u32, max: Option<u32> },
}

/// Something that is true of a place between characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Start,
    End,
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    WordEdge,
    NotWordEdge,
}

impl Node {
    pub fn plain(kind: Kind) -> Node {
        Node { kind, prefers: Prefers::Nothing, captures: false, refers: false, mixed: false }
    }

    pub fn one(set: Set) -> Node {
        Node::plain(Kind::One(Rc::new(set)))
    }

    pub fn group(number: usize, inner: Node) -> Node {
        Node {
            prefers: inner.prefers,
            captures: true,
            refers: inner.refers,
            mixed: inner.mixed,
            kind: Kind::Group(number, Box::new(inner)),
        }
    }

    pub fn reference(number: usize, ignore_case: bool, inner: Node) -> Node {
        Node {
            prefers: inner.prefers,
            refers: true,
            ..Node::plain(Kind::Reference(number, ignore_case, Box::new(inner)))
        }
    }

    pub fn alternatives(mut branches: Vec<Node>) -> Node {
        if branches.len() == 1 {
            return branches.remove(0);
        }
        Node {
            prefers: Prefers::Longest,
            captures: branches.iter().any(|branch| branch.captures),
            refers: branches.iter().any(|branch| branch.refers),
            mixed: branches.iter().any(|branch| branch.mixed || branch.prefers == Prefers::Shortest),
            kind: Kind::Alternatives(branches),
        }
    }

    /// A sequence. Neighbours that need not be taken apart are one part: together they take the most or the least.
    pub fn concat(pieces: Vec<Node>) -> Node {
        let mut parts = Vec::new();
        let mut run: Vec<Node> = Vec::new();
        let mut prefers = Prefers::Nothing;
        for piece in pieces {
            if piece.is_messy() || !agree(prefers, piece.prefers) {
                parts.extend(Node::run(std::mem::take(&mut run)));
                parts.push(piece);
                prefers = Prefers::Nothing;
            } else {
                prefers = prefers.or(piece.prefers);
                run.push(piece);
            }
        }
        parts.extend(Node::run(run));
        match parts.len() {
            0 => Node::plain(Kind::Empty),
            1 => parts.remove(0),
            _ => Node::sequence(parts),
        }
    }

    fn is_messy(&self) -> bool {
        self.captures || self.refers || self.mixed
    }

    fn run(mut pieces: Vec<Node>) -> Option<Node> {
        match pieces.len() {
            0 => None,
            1 => pieces.pop(),
            _ => Some(Node { prefers: preference(&pieces), ..Node::plain(Kind::Concat(pieces)) }),
        }
    }

    fn sequence(parts: Vec<Node>) -> Node {
        let prefers = preference(&parts);
        Node {
            prefers,
            captures: parts.iter().any(|part| part.captures),
            refers: parts.iter().any(|part| part.refers),
            mixed: parts.iter().any(|part| part.mixed || !agree(prefers, part.prefers)),
            kind: Kind::Concat(parts),
        }
    }

    /// A repetition. Only the groups of the last round count, so the rounds before it are one part.
    pub fn repeat(inner: Node, min: u32, max: Option<u32>, fixed: bool, greedy: bool) -> Node {
        let wanted = match (fixed, greedy) {
            (true, _) => Prefers::Nothing,
            (false, true) => Prefers::Longest,
            (false, false) => Prefers::Shortest,
        };
        if (min, max) == (1, Some(1)) && (agree(wanted, inner.prefers) && !inner.mixed || wanted == Prefers::Nothing) {
            return inner;
        }
        let prefers = wanted.or(inner.prefers);
        let mixed = inner.mixed || !agree(wanted, inner.prefers);
        if inner.captures && !inner.refers && min > 0 {
            let before = Node {
                prefers,
                ..Node::plain(Kind::Repeat {
                    inner: Box::new(inner.without_groups()),
                    min: min - 1,
                    max: max.map(|max| max - 1),
                })
            };
            let parts = vec![before, inner];
            return Node { prefers, mixed, captures: true, refers: false, kind: Kind::Concat(parts) };
        }
        Node {
            prefers,
            mixed,
            captures: inner.captures,
            refers: inner.refers,
            kind: Kind::Repeat { inner: Box::new(inner), min, max },
        }
    }

    /// The same part, which remembers nothing.
    fn without_groups(&self) -> Node {
        let all = |nodes: &[Node]| nodes.iter().map(Node::without_groups).collect();
        let kind = match &self.kind {
            Kind::Group(_, inner) => return inner.without_groups(),
            Kind::Concat(nodes) => Kind::Concat(all(nodes)),
            Kind::Alternatives(nodes) => Kind::Alternatives(all(nodes)),
            Kind::Repeat { inner, min, max } => {
                Kind::Repeat { inner: Box::new(inner.without_groups()), min: *min, max: *max }
            }
            other => other.clone(),
        };
        Node { kind, captures: false, ..*self }
    }
}

/// A sequence prefers what its first part with a preference does.
fn preference(parts: &[Node]) -> Prefers {
    parts.iter().fold(Prefers::Nothing, |all, part| all.or(part.prefers))
}

fn agree(one: Prefers, other: Prefers) -> bool {
    one == Prefers::Nothing || other == Prefers::Nothing || one == other
}
