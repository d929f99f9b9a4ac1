//! Where the operations of a transaction stand in the line that recorded them.
//!
//! A violation's history is a part of the whole: operations are left out and the line on the disk has more of them,
//! with the user's own spacing and comments. The recorded line is scanned for operations, and those of the part are
//! found among them in order.

use skew_model::{History, Literal, OpId, OpKind, TxnId};

/// An operation as a line has it: its columns in characters, and what it says.
struct Found {
    start: usize,
    end: usize,
    kind: OpKind,
    key: String,
    value: String,
}

/// A recorded line with all its operations, and which of them belong to a part of the history.
pub(crate) struct Places {
    /// The columns (start, end) of every operation in the line.
    pub(crate) all: Vec<(usize, usize)>,
    /// The place in `all` of each operation of the part's transaction.
    pub(crate) own: Vec<usize>,
}

/// Finds the operations of a transaction in the recorded line; `None` when the line does not hold them all in order.
pub(crate) fn places(history: &History, id: TxnId, line: &str) -> Option<Places> {
    let found = scan(line);
    let mut own = Vec::new();
    let mut from = 0;
    for op in history.op_ids(id).map(OpId) {
        let op = history.op(op);
        let (key, value) = (plain(history.key_literal(op.key())), plain(history.literal(op.value())));
        let same = |found: &Found| found.kind == op.kind() && found.key == key && found.value == value;
        let at = from + found[from..].iter().position(same)?;
        own.push(at);
        from = at + 1;
    }
    Some(Places { all: found.iter().map(|found| (found.start, found.end)).collect(), own })
}

fn plain(literal: Literal) -> String {
    match literal {
        Literal::Nil => "nil".to_owned(),
        Literal::Int(number) => number.to_string(),
        Literal::Text(text) => text,
    }
}

fn scan(line: &str) -> Vec<Found> {
    let mut scan = Scan { chars: line.chars().collect(), at: 0 };
    let mut found = Vec::new();
    // The session and the transaction may be called anything, `r` and `w` among it.
    for _ in 0..2 {
        scan.space();
        scan.token();
    }
    while scan.at < scan.chars.len() {
        scan.space();
        let start = scan.at;
        match scan.op() {
            Some(op) => found.push(op),
            None => {
                scan.at = start;
                if scan.token().is_none() {
                    scan.at += 1;
                }
            }
        }
    }
    found
}

struct Scan {
    chars: Vec<char>,
    at: usize,
}

impl Scan {
    fn op(&mut self) -> Option<Found> {
        let start = self.at;
        let kind = match self.token()?.as_str() {
            "r" => OpKind::Read,
            "w" => OpKind::Write,
            "o" => OpKind::Observe,
            _ => return None,
        };
        self.space();
        let key = self.token()?;
        self.eat('=')?;
        let value = self.token()?;
        if self.eat('<').is_some() {
            self.token();
        }
        Some(Found { start, end: self.at, kind, key, value })
    }

    fn space(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        if self.chars.get(self.at) == Some(&'#') {
            self.at = self.chars.len();
        }
    }

    fn eat(&mut self, wanted: char) -> Option<()> {
        (self.chars.get(self.at) == Some(&wanted)).then(|| self.at += 1)
    }

    /// A word or a quoted text.
    fn token(&mut self) -> Option<String> {
        if self.eat('"').is_some() {
            return self.quoted();
        }
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|c| !c.is_whitespace() && !"=<()[]#\"".contains(*c)) {
            self.at += 1;
        }
        (self.at > start).then(|| self.chars[start..self.at].iter().collect())
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        while let Some(&c) = self.chars.get(self.at) {
            self.at += 1;
            match c {
                '"' => return Some(text),
                '\\' => {
                    let escaped = *self.chars.get(self.at)?;
                    self.at += 1;
                    text.push(match escaped {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        '0' => '\0',
                        c => c,
                    });
                }
                c => text.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: &str, line: &str, carets: &str) {
        let history = skew_model::history!(part);
        let places = places(&history, TxnId(0), line).expect("every operation stands in the line");
        let mut shown: Vec<char> = vec![' '; line.chars().count()];
        for (start, end) in places.own.iter().map(|own| places.all[*own]) {
            shown[start..end].fill('^');
        }
        assert_eq!(shown.into_iter().collect::<String>().trim_end(), carets, "under\n{line}");
    }

    #[test]
    fn operations_are_found_between_others_and_odd_spacing() {
        check("a t1 r x=0 w y=1", "a  t1 @si   r  x=0   r z=9  w y=1  # w y=1", "            ^^^^^^          ^^^^^");
    }

    #[test]
    fn a_repeated_operation_is_found_after_what_comes_before_it() {
        check("a t1 w y=1 r x=0", "a t1 r x=0 w y=1 r x=0", "           ^^^^^ ^^^^^");
    }

    #[test]
    fn names_quotes_statements_and_sources_do_not_confuse() {
        check("r w r x=\"a b\" w x=c", "r w [1..2] (r x=\"a b\"<t7 w \"x\"=c)", "            ^^^^^^^^^^^^ ^^^^^^^");
    }

    #[test]
    fn a_line_of_something_else_is_not_used() {
        let history = skew_model::history!("a t1 r x=0");
        assert!(places(&history, TxnId(0), "{\"op\": \"r\", \"x\": 0}").is_none());
    }
}
