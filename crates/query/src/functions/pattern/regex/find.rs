//! Which match counts, and what its groups matched: the parts take their preferred length, from left to right.

use std::collections::HashMap;
use std::rc::Rc;

use crate::budget;
use crate::functions::pattern::regex::nfa::Program;
use crate::functions::pattern::regex::node::{Kind, Node, Prefers};
use crate::functions::pattern::regex::{Chars, Regex, Span};
use crate::functions::text::basic::to_lower;

/// The first match at or after `from`.
pub(super) fn find(regex: &Regex, text: &Chars, from: usize) -> Option<Vec<Span>> {
    let mut finder = Finder { text, spans: vec![None; regex.groups + 1], programs: HashMap::new() };
    let program = regex.program.clone();
    for begin in from..=text.len() {
        if budget::is_over(10) {
            return None;
        }
        let mut ends = program.ends(text, begin, text.len());
        if regex.root.prefers != Prefers::Shortest {
            ends.reverse();
        }
        for end in ends {
            finder.spans.fill(None);
            if finder.dissect(&regex.root, begin, end) {
                finder.spans[0] = Some((begin, end));
                return Some(finder.spans);
            }
        }
    }
    None
}

struct Finder<'a> {
    text: &'a Chars,
    spans: Vec<Span>,
    /// The programs of the parts, by their address: parts do not move while we look.
    programs: HashMap<*const Node, Rc<Program>>,
}

impl Finder<'_> {
    fn program(&mut self, node: &Node) -> Rc<Program> {
        self.programs.entry(std::ptr::from_ref(node)).or_insert_with(|| Rc::new(Program::new(node))).clone()
    }

    /// Takes a part apart that is known to match from `begin` to `end`, up to references.
    fn dissect(&mut self, node: &Node, begin: usize, end: usize) -> bool {
        if budget::is_over(50) {
            return false;
        }
        if !node.captures && !node.refers {
            return true;
        }
        match &node.kind {
            Kind::Group(number, inner) => {
                let found = self.dissect(inner, begin, end);
                if found {
                    self.spans[*number] = Some((begin, end));
                }
                found
            }
            Kind::Reference(number, ignore_case, _) => self.is_repeated(*number, *ignore_case, begin, end),
            Kind::Alternatives(nodes) => nodes.iter().any(|node| self.fits(node, begin, end)),
            Kind::Concat(nodes) => self.dissect_sequence(nodes, begin, end),
            Kind::Repeat { inner, min, max } => {
                let shortest = node.prefers == Prefers::Shortest;
                self.dissect_repeat(inner, *min as usize, max.map(|max| max as usize), shortest, begin, end)
            }
            Kind::Empty | Kind::One(_) | Kind::At(_) | Kind::Look { .. } => true,
        }
    }

    /// Whether a part matches exactly here, and can be taken apart.
    fn fits(&mut self, node: &Node, begin: usize, end: usize) -> bool {
        let before = self.spans.clone();
        if self.program(node).spans(self.text, begin, end) && self.dissect(node, begin, end) {
            return true;
        }
        self.spans = before;
        false
    }

    fn is_repeated(&self, number: usize, ignore_case: bool, begin: usize, end: usize) -> bool {
        let Some((from, to)) = self.spans[number] else { return false };
        let (was, is) = (&self.text[from..to], &self.text[begin..end]);
        was.len() == is.len() && was.iter().zip(is).all(|(a, b)| a == b || ignore_case && to_lower(*a) == to_lower(*b))
    }

    /// The first part takes what it prefers, as far as the others then match.
    fn dissect_sequence(&mut self, nodes: &[Node], begin: usize, end: usize) -> bool {
        let Some((first, rest)) = nodes.split_first() else { return begin == end };
        if rest.is_empty() {
            return self.fits(first, begin, end);
        }
        let mut middles = self.program(first).ends(self.text, begin, end);
        if first.prefers != Prefers::Shortest {
            middles.reverse();
        }
        for middle in middles {
            let before = self.spans.clone();
            if self.reaches(rest, middle, end)
                && self.dissect(first, begin, middle)
                && self.dissect_sequence(rest, middle, end)
            {
                return true;
            }
            self.spans = before;
        }
        false
    }

    /// Whether the parts can match from here to there: tried before taking them apart.
    fn reaches(&mut self, nodes: &[Node], begin: usize, end: usize) -> bool {
        let mut places = vec![begin];
        for node in nodes {
            let program = self.program(node);
            let ends = |place: &usize| program.ends(self.text, *place, end);
            let mut next: Vec<usize> = places.iter().take_while(|_| !budget::is_over(1)).flat_map(ends).collect();
            next.sort_unstable();
            next.dedup();
            places = next;
        }
        places.contains(&end)
    }

    /// Rounds one after the other, each as long (or short) as the rest allows; the groups of the last one count.
    fn dissect_repeat(
        &mut self,
        inner: &Node,
        min: usize,
        max: Option<usize>,
        shortest: bool,
        begin: usize,
        end: usize,
    ) -> bool {
        if begin == end && min == 0 {
            // A round of nothing counts if it is possible: then its groups matched the empty text.
            self.fits(inner, begin, end);
            return true;
        }
        if max == Some(0) {
            return begin == end;
        }
        let mut ends = self.program(inner).ends(self.text, begin, end);
        // A round that takes nothing helps only to get to the minimum.
        ends.retain(|at| *at > begin || min > 0 && begin == end);
        if !shortest {
            ends.reverse();
        }
        for middle in ends {
            let before = self.spans.clone();
            if self.dissect(inner, begin, middle)
                && (middle == end && min <= 1
                    || self.dissect_repeat(inner, min.saturating_sub(1), max.map(|max| max - 1), shortest, middle, end))
            {
                return true;
            }
            self.spans = before;
        }
        false
    }
}
