//! The syntax of patterns.

use crate::error::Result;
use crate::functions::pattern::regex::node::{Kind, Node, Place};
use crate::functions::pattern::regex::set::{Class, Item, Set};
use crate::functions::pattern::regex::{Flags, invalid};

/// A pattern that was read.
pub(super) struct Parsed {
    pub root: Node,
    pub groups: usize,
    pub has_references: bool,
}

/// Reads a pattern.
pub(super) struct Syntax {
    pattern: Vec<char>,
    at: usize,
    flags: Flags,
    groups: usize,
    /// The groups that are complete, for references.
    closed: Vec<Option<Node>>,
    has_references: bool,
    depth: usize,
    /// How many lookarounds are open: parentheses in them are no groups.
    looking: usize,
}

/// How often something repeats. `{3}` is fixed, `{3,3}` is not: the latter has a preference.
struct Bounds {
    min: u32,
    max: Option<u32>,
    fixed: bool,
}

/// Deeper patterns are refused rather than overflowing the stack.
const DEEPEST: usize = 250;
/// The largest number of repetitions.
const MOST: u32 = 255;

impl Syntax {
    pub fn new(pattern: &str, mut flags: Flags) -> Result<Syntax> {
        let mut rest = pattern;
        if let Some(after) = rest.strip_prefix("***=") {
            flags.literal = true;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("***:") {
            rest = after;
        } else if rest.starts_with("***") {
            return Err(invalid("quantifier operand invalid"));
        }
        if !flags.literal {
            rest = embedded_flags(rest, &mut flags)?;
        }
        Ok(Syntax {
            pattern: rest.chars().collect(),
            at: 0,
            flags,
            groups: 0,
            closed: vec![None],
            has_references: false,
            depth: 0,
            looking: 0,
        })
    }

    pub fn parse(mut self) -> Result<Parsed> {
        let root = if self.flags.literal {
            let ignore_case = self.flags.ignore_case;
            Node::concat(self.pattern.iter().map(|c| Node::one(Set::one(*c, ignore_case))).collect())
        } else {
            self.alternatives()?
        };
        if !self.flags.literal && self.at < self.pattern.len() {
            return Err(invalid("parentheses () not balanced"));
        }
        Ok(Parsed { root, groups: self.groups, has_references: self.has_references })
    }

    fn peek(&self) -> Option<char> {
        self.pattern.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn eat(&mut self, text: &str) -> bool {
        let matches = text.chars().enumerate().all(|(offset, c)| self.pattern.get(self.at + offset) == Some(&c));
        if matches {
            self.at += text.chars().count();
        }
        matches
    }

    /// Skips what means nothing: comments, and in the expanded syntax spaces.
    fn skip(&mut self) -> Result<()> {
        loop {
            if self.flags.expanded {
                while self.peek().is_some_and(char::is_whitespace) {
                    self.at += 1;
                }
                if self.peek() == Some('#') {
                    while self.next().is_some_and(|c| c != '\n') {}
                    continue;
                }
            }
            if !self.eat("(?#") {
                return Ok(());
            }
            while self.next().ok_or_else(|| invalid("parentheses () not balanced"))? != ')' {}
        }
    }

    fn alternatives(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(invalid("regular expression is too complex"));
        }
        let mut branches = vec![self.branch()?];
        while self.eat("|") {
            branches.push(self.branch()?);
        }
        self.depth -= 1;
        Ok(Node::alternatives(branches))
    }

    fn branch(&mut self) -> Result<Node> {
        let mut parts = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                None | Some('|') => break,
                Some(')') if self.depth > 1 => break,
                Some(')') => return Err(invalid("parentheses () not balanced")),
                Some(_) => {}
            }
            let atom = self.atom()?;
            parts.push(self.quantified(atom)?);
        }
        Ok(Node::concat(parts))
    }

    fn quantified(&mut self, atom: Node) -> Result<Node> {
        self.skip()?;
        let Some(Bounds { min, max, fixed }) = self.quantifier()? else { return Ok(atom) };
        if matches!(atom.kind, Kind::At(_) | Kind::Look { .. }) {
            return Err(invalid("quantifier operand invalid"));
        }
        let greedy = !self.eat("?");
        self.skip()?;
        if self.quantifier()?.is_some() {
            return Err(invalid("quantifier operand invalid"));
        }
        Ok(Node::repeat(atom, min, max, fixed, greedy))
    }

    fn quantifier(&mut self) -> Result<Option<Bounds>> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') if self.pattern.get(self.at + 1).is_some_and(char::is_ascii_digit) => {
                return self.braces().map(Some);
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(Bounds { min, max, fixed: false }))
    }

    fn braces(&mut self) -> Result<Bounds> {
        self.at += 1;
        let min = self.number()?.ok_or_else(|| invalid("invalid repetition count(s)"))?;
        let fixed = !self.eat(",");
        let max = if fixed { Some(min) } else { self.number()? };
        match self.next() {
            Some('}') => {}
            None => return Err(invalid("braces {} not balanced")),
            Some(_) => return Err(invalid("invalid repetition count(s)")),
        }
        if max.is_some_and(|max| max < min) {
            return Err(invalid("invalid repetition count(s)"));
        }
        Ok(Bounds { min, max, fixed })
    }

    fn number(&mut self) -> Result<Option<u32>> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.at += 1;
            let value = number.unwrap_or(0) * 10 + digit;
            if value > MOST {
                return Err(invalid("invalid repetition count(s)"));
            }
            number = Some(value);
        }
        Ok(number)
    }

    fn atom(&mut self) -> Result<Node> {
        let c = self.next().ok_or_else(|| invalid("regular expression is incomplete"))?;
        let line = self.flags.line_anchors;
        Ok(match c {
            '(' => return self.parenthesis(),
            '[' => {
                if self.eat("[:<:]]") {
                    return Ok(Node::plain(Kind::At(Place::WordStart)));
                }
                if self.eat("[:>:]]") {
                    return Ok(Node::plain(Kind::At(Place::WordEnd)));
                }
                Node::one(self.bracket()?)
            }
            '.' => {
                let not_newline = self.flags.line_dots;
                Node::one(Set { negated: true, not_newline, ..Set::default() })
            }
            '^' => Node::plain(Kind::At(if line { Place::LineStart } else { Place::Start })),
            '$' => Node::plain(Kind::At(if line { Place::LineEnd } else { Place::End })),
            '*' | '+' | '?' => return Err(invalid("quantifier operand invalid")),
            '{' if self.peek().is_some_and(|c| c.is_ascii_digit()) => {
                return Err(invalid("quantifier operand invalid"));
            }
            '\\' => return self.escape(),
            c => self.literal(c),
        })
    }

    fn literal(&self, c: char) -> Node {
        Node::one(Set::one(c, self.flags.ignore_case))
    }

    fn parenthesis(&mut self) -> Result<Node> {
        if self.eat("?:") {
            let inner = self.inside()?;
            // Unlike a bare one, a place in parentheses can be repeated.
            let is_place = matches!(inner.kind, Kind::At(_) | Kind::Look { .. });
            return Ok(if is_place { Node::plain(Kind::Concat(vec![inner])) } else { inner });
        }
        for (mark, ahead, negated) in
            [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)]
        {
            if self.eat(mark) {
                self.looking += 1;
                let inner = Box::new(self.inside()?);
                self.looking -= 1;
                return Ok(Node::plain(Kind::Look { ahead, negated, inner }));
            }
        }
        if self.peek() == Some('?') {
            return Err(invalid("quantifier operand invalid"));
        }
        if self.looking > 0 {
            return self.inside();
        }
        self.groups += 1;
        let number = self.groups;
        self.closed.push(None);
        let inner = self.inside()?;
        self.closed[number] = Some(inner.clone());
        Ok(Node::group(number, inner))
    }

    fn inside(&mut self) -> Result<Node> {
        let inner = self.alternatives()?;
        if self.next() == Some(')') { Ok(inner) } else { Err(invalid("parentheses () not balanced")) }
    }

    fn escape(&mut self) -> Result<Node> {
        let c = self.peek().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
        let place = match c {
            'A' => Some(Place::Start),
            'Z' => Some(Place::End),
            'm' => Some(Place::WordStart),
            'M' => Some(Place::WordEnd),
            'y' => Some(Place::WordEdge),
            'Y' => Some(Place::NotWordEdge),
            _ => None,
        };
        if let Some(place) = place {
            self.at += 1;
            return Ok(Node::plain(Kind::At(place)));
        }
        if let Some(item) = class_escape(c) {
            self.at += 1;
            let not_newline = self.flags.line_dots && c.is_uppercase();
            return Ok(Node::one(Set { items: vec![item], not_newline, ..Set::default() }));
        }
        if let Some(number) = self.reference() {
            return self.back_reference(number);
        }
        let c = self.character_escape()?;
        Ok(self.literal(c))
    }

    /// `\1`, or `\12` if there are so many groups; everything else that begins with digits is an octal number.
    fn reference(&mut self) -> Option<usize> {
        let digits: String = self.pattern[self.at..].iter().take_while(|c| c.is_ascii_digit()).collect();
        if digits.is_empty() || digits.starts_with('0') {
            return None;
        }
        let length = if digits.parse::<usize>().is_ok_and(|number| number <= self.groups) { digits.len() } else { 1 };
        if length == 1 && digits.len() > 1 {
            return None;
        }
        self.at += length;
        digits[..length].parse().ok()
    }

    fn back_reference(&mut self, number: usize) -> Result<Node> {
        let known = self.closed.get(number).and_then(Option::as_ref).filter(|_| self.looking == 0);
        let inner = known.ok_or_else(|| invalid("invalid backreference number"))?.clone();
        self.has_references = true;
        Ok(Node::reference(number, self.flags.ignore_case, inner))
    }

    /// An escape that stands for one character.
    fn character_escape(&mut self) -> Result<char> {
        let c = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
        Ok(match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'B' => '\\',
            'c' => char::from((self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))? as u32 & 31) as u8),
            'e' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.code(4, 4, 16)?,
            'U' => self.code(8, 8, 16)?,
            'v' => '\u{b}',
            'x' => self.code(1, 255, 16)?,
            '0'..='9' => {
                self.at -= 1;
                self.code(1, 3, 8)?
            }
            c if c.is_alphanumeric() => return Err(invalid("invalid escape \\ sequence")),
            c => c,
        })
    }

    fn code(&mut self, least: usize, most: usize, radix: u32) -> Result<char> {
        let (mut code, mut count) = (0u32, 0);
        while count < most
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(radix))
        {
            code = code.checked_mul(radix).and_then(|code| code.checked_add(digit)).unwrap_or(u32::MAX);
            count += 1;
            self.at += 1;
        }
        if count < least {
            return Err(invalid("invalid escape \\ sequence"));
        }
        char::from_u32(code).ok_or_else(|| invalid("invalid escape \\ sequence"))
    }

    fn bracket(&mut self) -> Result<Set> {
        let negated = self.eat("^");
        let mut set = Set {
            negated,
            ignore_case: self.flags.ignore_case,
            not_newline: negated && self.flags.line_dots,
            ..Set::default()
        };
        let mut first = true;
        loop {
            let c = self.next().ok_or_else(|| invalid("brackets [] not balanced"))?;
            if c == ']' && !first {
                return Ok(set);
            }
            first = false;
            let from = match self.bracket_item(c)? {
                Item::Range(from, to) if from == to => from,
                item => {
                    set.items.push(item);
                    continue;
                }
            };
            let is_range = self.peek() == Some('-') && self.pattern.get(self.at + 1).is_some_and(|c| *c != ']');
            let to = if is_range { self.range_end()? } else { from };
            if to < from {
                return Err(invalid("invalid character range"));
            }
            set.items.push(Item::Range(from, to));
        }
    }

    fn range_end(&mut self) -> Result<char> {
        self.at += 1;
        let c = self.next().ok_or_else(|| invalid("brackets [] not balanced"))?;
        match self.bracket_item(c)? {
            Item::Range(to, same) if to == same => Ok(to),
            _ => Err(invalid("invalid character range")),
        }
    }

    fn bracket_item(&mut self, c: char) -> Result<Item> {
        match (c, self.peek()) {
            ('[', Some(kind @ (':' | '.' | '='))) => {
                self.at += 1;
                let name = self.bracket_name(kind)?;
                if kind == ':' {
                    return Class::named(&name).map(Item::Class).ok_or_else(|| invalid("invalid character class"));
                }
                let mut chars = name.chars();
                match (chars.next(), chars.next()) {
                    (Some(only), None) => Ok(Item::Range(only, only)),
                    _ => Err(invalid("invalid collating element")),
                }
            }
            ('\\', Some(next)) => {
                if let Some(item) = class_escape(next) {
                    self.at += 1;
                    return Ok(item);
                }
                let c = self.character_escape()?;
                Ok(Item::Range(c, c))
            }
            (c, _) => Ok(Item::Range(c, c)),
        }
    }

    fn bracket_name(&mut self, kind: char) -> Result<String> {
        let mut name = String::new();
        loop {
            let c = self.next().ok_or_else(|| invalid("brackets [] not balanced"))?;
            if c == kind && self.eat("]") {
                return Ok(name);
            }
            name.push(c);
        }
    }
}

fn class_escape(c: char) -> Option<Item> {
    Some(match c {
        'd' => Item::Class(Class::Digit),
        's' => Item::Class(Class::Space),
        'w' => Item::Class(Class::Word),
        'D' => Item::NotClass(Class::Digit),
        'S' => Item::NotClass(Class::Space),
        'W' => Item::NotClass(Class::Word),
        _ => return None,
    })
}

/// `(?i)` and the like at the very beginning.
fn embedded_flags<'a>(pattern: &'a str, flags: &mut Flags) -> Result<&'a str> {
    let Some(rest) = pattern.strip_prefix("(?") else { return Ok(pattern) };
    let Some((letters, rest)) = rest.split_once(')') else { return Ok(pattern) };
    if letters.is_empty() || !letters.chars().all(|c| c.is_ascii_alphabetic()) {
        return Ok(pattern);
    }
    for letter in letters.chars() {
        if !set_flag(flags, letter)? {
            return Err(invalid("invalid embedded option"));
        }
    }
    Ok(rest)
}

/// Sets the flag that a letter stands for; says whether there is one.
pub(in crate::functions::pattern) fn set_flag(flags: &mut Flags, letter: char) -> Result<bool> {
    match letter {
        'c' => flags.ignore_case = false,
        'i' => flags.ignore_case = true,
        'm' | 'n' => (flags.line_dots, flags.line_anchors) = (true, true),
        's' => (flags.line_dots, flags.line_anchors) = (false, false),
        'p' => (flags.line_dots, flags.line_anchors) = (true, false),
        'w' => (flags.line_dots, flags.line_anchors) = (false, true),
        'q' => flags.literal = true,
        't' => flags.expanded = false,
        'x' => flags.expanded = true,
        'e' | 'b' => {
            return Err(crate::error::SqlError::unsupported(
                "a regular expression in the syntax of POSIX (flags b, e)",
            ));
        }
        _ => return Ok(false),
    }
    Ok(true)
}
