//! Regular expressions as PostgreSQL has them: its syntax ("advanced"), and its rule of which match counts.
//!
//! Of the matches that start leftmost, the longest counts (or the shortest, if the expression prefers that), and within
//! it each part, from left to right, takes as much (or as little) as the rest allows. Other engines take the first
//! alternative that leads anywhere, which gives other results for `a|ab`; hence one of our own. It also knows
//! lookaround and back references. A match is found by running all possibilities side by side ([`nfa`]), so no pattern
//! takes more than length × size; then it is taken apart ([`find`]).

mod find;
mod nfa;
mod node;
mod parse;
mod set;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Result, SqlError, SqlState};
use nfa::Program;
use node::Node;
use parse::Syntax;
pub(super) use parse::set_flag;

/// How a pattern is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Flags {
    /// `i`: case does not matter.
    pub ignore_case: bool,
    /// `.` and negated sets do not match newlines.
    pub line_dots: bool,
    /// `^` and `$` match at newlines too.
    pub line_anchors: bool,
    /// `x`: spaces and comments in the pattern mean nothing.
    pub expanded: bool,
    /// `q`: the pattern is a plain text.
    pub literal: bool,
}

/// Where a group matched, in characters.
pub(crate) type Span = Option<(usize, usize)>;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Regex {
    root: Node,
    /// What the whole pattern compiles to.
    program: Rc<Program>,
    groups: usize,
    has_references: bool,
}

/// A text as characters, since places are counted in them.
pub(crate) type Chars = [char];

thread_local! {
    /// Patterns are compiled once for all rows of a statement, and for the next statements.
    static COMPILED: RefCell<Vec<(String, Flags, Rc<Regex>)>> = const { RefCell::new(Vec::new()) };
}

const KEPT: usize = 32;

impl Regex {
    /// The compiled form of a pattern, from the cache if it was used lately.
    pub fn cached(pattern: &str, flags: Flags) -> Result<Rc<Regex>> {
        let known = COMPILED.with_borrow_mut(|compiled| {
            let at = compiled.iter().position(|(text, known, _)| *known == flags && text == pattern)?;
            compiled[..=at].rotate_right(1);
            Some(compiled[0].2.clone())
        });
        if let Some(regex) = known {
            return Ok(regex);
        }
        let regex = Rc::new(Regex::new(pattern, flags)?);
        COMPILED.with_borrow_mut(|compiled| {
            compiled.truncate(KEPT - 1);
            compiled.insert(0, (pattern.to_owned(), flags, regex.clone()));
        });
        Ok(regex)
    }

    /// Compiles a pattern.
    pub fn new(pattern: &str, flags: Flags) -> Result<Regex> {
        let parsed = Syntax::new(pattern, flags)?.parse()?;
        nfa::check_size(&parsed.root)?;
        let program = Rc::new(Program::new(&parsed.root));
        Ok(Regex { root: parsed.root, program, groups: parsed.groups, has_references: parsed.has_references })
    }

    /// How many groups it has.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Whether it matches anywhere.
    pub fn is_match(&self, text: &Chars) -> bool {
        if self.has_references { self.find(text, 0).is_some() } else { self.program.matches(text) }
    }

    /// The first match at or after this place: the span of the whole, then those of the groups.
    pub fn find(&self, text: &Chars, from: usize) -> Option<Vec<Span>> {
        find::find(self, text, from)
    }
}

/// `2201B`
fn invalid(what: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_REGULAR_EXPRESSION, format!("invalid regular expression: {what}"))
}
