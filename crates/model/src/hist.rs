//! The `.hist` text format, both ways: one transaction a line, so that a diagnostic can point at an operation and a
//! diff reads well.
//!
//! ```text
//! # comment
//! init   x=0 y=0                      initial values; `*=0` for all other keys; without it they are nil
//! order  x 0 1 2                      the order in which writes of x took effect, where it is known
//! alice  t1 @si   r x=0   w y=1       session, transaction, declared level, operations
//! bob    t2 aborted   w x=9           rolled back; `maybe`: nobody knows whether it committed
//! bob    t3 [10..20]  r y=1<t1        when it ran; the transaction that a read takes its value from
//! carol  t4 (r x=0 w x=1) r y=0       one statement in parentheses; `[12]` before it: when it began
//! carol  t5 w l=3 o l=2               `o`: the version beneath the transaction's own write
//! ```
//! A value is a whole number, a word, `nil`, or anything in double quotes.

use std::fmt::{self, Write as _};

use rustc_hash::FxHashMap;

use crate::builder::HistoryBuilder;
use crate::history::{History, OpId, OpKind, Status, TxnId};
use crate::names::{Literal, Value};

/// Text that could not be understood: where, what, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError {
    /// The file, once somebody who knows it has filled it in.
    pub file: Option<String>,
    /// The line, from 1; 0 when the whole input is meant.
    pub line: u32,
    /// The column in characters, from 1; 0 when the whole line is meant.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl InputError {
    /// An error about a line.
    pub fn at(line: u32, column: u32, message: impl Into<String>) -> Self {
        InputError { file: None, line, column, message: message.into(), hint: None }
    }

    /// The same with what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with the file.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file.get_or_insert(file.into());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "{line}: ")?,
            (line, column) => write!(f, "{line}:{column}: ")?,
        }
        if self.file.is_some() && self.line == 0 {
            f.write_str(" ")?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

/// The longest line that is read.
pub const MAX_LINE_BYTES: usize = 16 << 20;

impl History {
    /// The history that `.hist` text describes.
    ///
    /// ```
    /// use skew_model::History;
    /// let history = History::parse("alice t1  w x=1\nbob t2  r x=1\n")?;
    /// assert_eq!(history.to_string(), "alice t1  w x=1\nbob   t2  r x=1\n");
    /// # Ok::<(), skew_model::hist::InputError>(())
    /// ```
    pub fn parse(text: &str) -> Result<History, InputError> {
        let mut parser = HistParser::default();
        for line in text.lines() {
            parser.line(line)?;
        }
        parser.finish()
    }
}

/// Reads `.hist` text line by line.
#[derive(Default)]
pub struct HistParser {
    builder: HistoryBuilder,
    line: u32,
    names: FxHashMap<String, (TxnId, u32)>,
    /// Initial values and version orders so far, with their lines.
    stated: FxHashMap<(&'static str, String), u32>,
    /// Reads whose source is named, and what to say if there is no such transaction.
    sources: Vec<(OpId, String, InputError)>,
}

impl HistParser {
    /// The builder behind it, to name the file.
    pub fn builder(&mut self) -> &mut HistoryBuilder {
        &mut self.builder
    }

    /// Takes the next line.
    pub fn line(&mut self, text: &str) -> Result<(), InputError> {
        self.line = self.line.saturating_add(1);
        if text.len() > MAX_LINE_BYTES {
            return Err(InputError::at(self.line, 0, format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20))
                .hint("a .hist file has one transaction a line"));
        }
        // Some editors put a byte order mark at the start of a file.
        let text = if self.line == 1 { text.trim_start_matches('\u{feff}') } else { text };
        let mut scan = Scan { text, at: 0, line: self.line };
        scan.space();
        if scan.done() {
            return Ok(());
        }
        let start = scan.at;
        let session = scan.name("a session name")?;
        match &text[start..scan.at] {
            "init" => self.init(scan),
            "order" => self.order(scan),
            _ => self.txn(session, scan),
        }
    }

    fn init(&mut self, mut scan: Scan) -> Result<(), InputError> {
        while scan.more() {
            if scan.eat('*') {
                scan.expect('=')?;
                let value = scan.literal("a value")?;
                self.builder.init_elsewhere(value);
            } else {
                let start = scan.at;
                let key = scan.literal("a key")?;
                let text = literal_text(&key);
                scan.expect('=')?;
                let value = scan.literal("a value")?;
                self.once(("init", text), &scan, start)?;
                self.builder.init(key, value);
            }
        }
        Ok(())
    }

    /// Refuses to state a thing about a key a second time.
    fn once(&mut self, what: (&'static str, String), scan: &Scan, start: usize) -> Result<(), InputError> {
        let message = format!("a second `{}` of {}", what.0, what.1);
        match self.stated.insert(what, self.line) {
            Some(line) => Err(scan.error(start, message).hint(format!("the first is on line {line}"))),
            None => Ok(()),
        }
    }

    fn order(&mut self, mut scan: Scan) -> Result<(), InputError> {
        scan.space();
        let start = scan.at;
        let key = scan.literal("a key")?;
        self.once(("order", literal_text(&key)), &scan, start)?;
        let key = self.builder.key(key);
        let mut values: Vec<Value> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        while scan.more() {
            let start = scan.at;
            let literal = scan.literal("a value")?;
            let value = self.builder.names().value(&literal);
            if !seen.insert(value) {
                return Err(scan.error(start, "the same value twice in one version order"));
            }
            values.push(value);
        }
        self.builder.version_order(key, values);
        Ok(())
    }

    fn txn(&mut self, session: String, mut scan: Scan) -> Result<(), InputError> {
        scan.space();
        let start = scan.at;
        let name = scan.name("a transaction name").map_err(|error| {
            error.hint("a line is: session, transaction, operations, as in `alice t1  r x=0  w y=1`")
        })?;
        self.builder.at_line(self.line);
        let session = self.builder.session(session);
        let id = self.builder.begin(session, name.clone());
        if name == "init" {
            return Err(scan.error(start, "`init` is the initial transaction and cannot be the name of another"));
        }
        if let Some((_, line)) = self.names.insert(name.clone(), (id, self.line)) {
            return Err(scan
                .error(start, format!("{name} is already the transaction on line {line}"))
                .hint("give every transaction a name of its own"));
        }
        let mut statement: Option<(usize, usize)> = None;
        let mut begins_at = None;
        let (mut has_span, mut has_status) = (false, false);
        while scan.more() {
            let start = scan.at;
            if scan.eat('@') {
                let word = scan.word();
                let level =
                    word.parse().map_err(|error: crate::level::UnknownLevel| scan.error(start, error.to_string()))?;
                self.builder.level(id, level);
            } else if scan.eat('[') {
                let begin = scan.number()?;
                if scan.eat_text("..") {
                    let end = if scan.peek() == Some(']') { i64::MAX } else { scan.number()? };
                    if end < begin || has_span {
                        return Err(scan.error(start, "a transaction has one [begin..end], begin first"));
                    }
                    self.builder.span(id, begin, end);
                    has_span = true;
                } else {
                    begins_at = Some(begin);
                }
                scan.expect(']')?;
            } else if scan.eat('(') {
                if statement.replace((start, 0)).is_some() {
                    return Err(scan.error(start, "a statement inside a statement"));
                }
            } else if scan.eat(')') {
                if statement.take().is_none() {
                    return Err(scan.error(start, "no statement is open here"));
                }
            } else if scan.eat_word("aborted") || scan.eat_word("maybe") {
                if std::mem::replace(&mut has_status, true) {
                    return Err(scan.error(start, "a transaction is `aborted` or `maybe`, once"));
                }
                let aborted = &scan.text[start..scan.at] == "aborted";
                self.builder.status(id, if aborted { Status::Aborted } else { Status::Indeterminate });
            } else {
                let op = self.op(&mut scan)?;
                let joins = statement.as_ref().is_some_and(|(_, ops)| *ops > 0);
                if joins {
                    self.builder.join(op);
                } else if let Some(begin) = begins_at.take() {
                    self.builder.statement_begin(op, begin);
                }
                if let Some((_, ops)) = &mut statement {
                    *ops += 1;
                }
            }
        }
        if let Some((start, _)) = statement {
            return Err(scan.error(start, "this statement is not closed").hint("add `)`"));
        }
        Ok(())
    }

    fn op(&mut self, scan: &mut Scan) -> Result<OpId, InputError> {
        let start = scan.at;
        let kind = match scan.word() {
            "r" => OpKind::Read,
            "w" => OpKind::Write,
            "o" => OpKind::Observe,
            word => {
                let what = if word.is_empty() { scan.rest().chars().take(1).collect() } else { word.to_owned() };
                return Err(scan
                    .error(start, format!("`{what}` is not an operation"))
                    .hint("operations are `r key=value` and `w key=value`"));
            }
        };
        scan.space();
        let key = scan.literal("a key")?;
        scan.expect('=')?;
        let value = scan.literal("a value")?;
        let key = self.builder.key(key);
        let value = self.builder.names().value(&value);
        let op = self.builder.op(kind, key, value);
        if scan.eat('<') {
            let start = scan.at;
            if kind == OpKind::Write {
                return Err(scan.error(start, "only a read takes its value from a transaction"));
            }
            let name = scan.name("a transaction name")?;
            let missing = scan.error(start, format!("there is no transaction {name}"));
            self.sources.push((op, name, missing));
        }
        Ok(op)
    }

    /// The whole history.
    pub fn finish(mut self) -> Result<History, InputError> {
        if self.builder.txn_count() == 0 {
            return Err(InputError::at(0, 0, "there is no transaction in it")
                .hint("a line is: session, transaction, operations, as in `alice t1  r x=0  w y=1`"));
        }
        for (op, name, missing) in std::mem::take(&mut self.sources) {
            let source = match self.names.get(&name) {
                Some((id, _)) => Some(*id),
                None if name == "init" => None,
                None => return Err(missing),
            };
            self.builder.source(op, source);
        }
        Ok(self.builder.finish())
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// An error about what starts at this byte of the line.
    fn error(&self, at: usize, message: impl Into<String>) -> InputError {
        InputError::at(self.line, self.text[..at].chars().count() as u32 + 1, message)
    }

    /// Skips space and a comment.
    fn space(&mut self) {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        if trimmed.starts_with('#') {
            self.at = self.text.len();
        }
    }

    fn done(&self) -> bool {
        self.at == self.text.len()
    }

    fn more(&mut self) -> bool {
        self.space();
        !self.done()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn eat_text(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn eat_word(&mut self, wanted: &str) -> bool {
        let mut ahead = Scan { ..*self };
        let found = ahead.word() == wanted;
        if found {
            self.at = ahead.at;
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), InputError> {
        if self.eat(wanted) {
            return Ok(());
        }
        let found = self.peek().map_or("the end of the line".to_owned(), |c| format!("`{c}`"));
        Err(self.error(self.at, format!("expected `{wanted}`, found {found}")))
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self) -> Result<i64, InputError> {
        let start = self.at;
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let end = rest.len() - digits.len() + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        self.at += end;
        rest[..end].parse().map_err(|_| self.error(start, "expected a whole number"))
    }

    fn literal(&mut self, what: &str) -> Result<Literal, InputError> {
        let start = self.at;
        if self.eat('"') {
            return self.quoted(start);
        }
        let word = self.word();
        if word.is_empty() {
            let found = self.peek().map_or("the end of the line".to_owned(), |c| format!("`{c}`"));
            return Err(self.error(start, format!("expected {what}, found {found}")));
        }
        Ok(bare_literal(word))
    }

    /// A name is text, even if it looks like a number.
    fn name(&mut self, what: &str) -> Result<String, InputError> {
        let start = self.at;
        match self.literal(what)? {
            Literal::Text(text) => Ok(text),
            _ => Ok(self.text[start..self.at].to_owned()),
        }
    }

    fn quoted(&mut self, start: usize) -> Result<Literal, InputError> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            let escaped = match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(Literal::Text(text));
                }
                '\\' => chars.next().map(|(_, c)| c),
                c => {
                    text.push(c);
                    continue;
                }
            };
            text.push(match escaped {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('0') => '\0',
                Some(c @ ('"' | '\\')) => c,
                _ => {
                    return Err(self
                        .error(start, "an unknown escape in a quoted text")
                        .hint("write \\\\ for a backslash"));
                }
            });
        }
        Err(self.error(start, "this quoted text is not closed").hint("add `\"`"))
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '+' | '$' | '%' | '~')
}

fn bare_literal(word: &str) -> Literal {
    if word == "nil" {
        return Literal::Nil;
    }
    match word.parse::<i64>() {
        // `007` and `+7` are words: printing them as 7 would change them.
        Ok(number) if number.to_string() == word => Literal::Int(number),
        _ => Literal::Text(word.to_owned()),
    }
}

/// A literal as `.hist` writes it.
pub fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Nil => "nil".to_owned(),
        Literal::Int(number) => number.to_string(),
        Literal::Text(text) => {
            let bare = !text.is_empty() && text.chars().all(is_word) && matches!(bare_literal(text), Literal::Text(_));
            if bare { text.clone() } else { quote(text) }
        }
    }
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0' => quoted.push_str("\\0"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A session or transaction name as `.hist` writes it: numbers get a letter, words that mean something else quotes.
fn name_text(literal: &Literal, prefix: &str) -> String {
    match literal {
        Literal::Int(number) => format!("{prefix}{number}"),
        Literal::Nil => "nil".to_owned(),
        Literal::Text(text) if matches!(text.as_str(), "init" | "order" | "") => quote(text),
        Literal::Text(text) if text.chars().all(is_word) => text.clone(),
        Literal::Text(text) => quote(text),
    }
}

/// An operation as `.hist` writes it.
pub(crate) fn op_text(history: &History, id: OpId) -> String {
    let op = history.op(id);
    let letter = match op.kind() {
        OpKind::Read => 'r',
        OpKind::Write => 'w',
        OpKind::Observe => 'o',
    };
    let key = literal_text(&history.key_literal(op.key()));
    let mut text = format!("{letter} {key}={}", history.value_text(op.value()));
    match history.stated_source(id) {
        Some(Some(txn)) => {
            text.push('<');
            text.push_str(&name_text(&history.txn_literal(txn), "t"));
        }
        Some(None) => text.push_str("<init"),
        None => {}
    }
    text
}

/// A transaction as `.hist` writes it: what comes before the operations, and the operations with their places in
/// the text.
pub struct TxnText {
    /// The whole line.
    pub line: String,
    /// The columns (in characters, from 0) where each operation starts and ends.
    pub ops: Vec<(usize, usize)>,
}

impl History {
    /// A transaction's line, with the session and transaction names padded to these widths.
    pub fn txn_text(&self, id: TxnId, session_width: usize, name_width: usize) -> TxnText {
        let txn = self.txn(id);
        let session = name_text(&self.session_literal(txn.session), "s");
        let name = name_text(&self.txn_literal(id), "t");
        let mut line = format!("{session:session_width$} {name:name_width$}");
        if let Some(level) = txn.level {
            let _ = write!(line, " @{level}");
        }
        match txn.status {
            Status::Committed => {}
            Status::Aborted => line.push_str(" aborted"),
            Status::Indeterminate => line.push_str(" maybe"),
        }
        if let Some(span) = self.span(id) {
            let _ = match span.end {
                i64::MAX => write!(line, " [{}..]", span.begin),
                end => write!(line, " [{}..{end}]", span.begin),
            };
        }
        let mut ops = Vec::new();
        let ids = self.op_ids(id);
        for op in ids.clone().map(OpId) {
            let next_joins = op.0 + 1 < ids.end && self.joined(OpId(op.0 + 1));
            let joins = op.0 > ids.start && self.joined(op);
            line.push_str(if joins { " " } else { "  " });
            if let Some(begin) = self.statement_begin(op) {
                let _ = write!(line, "[{begin}] ");
            }
            if next_joins && !joins {
                line.push('(');
            }
            let start = line.chars().count();
            line.push_str(&self.op_text(op));
            ops.push((start, line.chars().count()));
            if joins && !next_joins {
                line.push(')');
            }
        }
        while line.ends_with(' ') {
            line.pop();
        }
        TxnText { line, ops }
    }

    /// The widths of the longest session and transaction names.
    pub fn name_widths(&self) -> (usize, usize) {
        let longest =
            |names: &mut dyn Iterator<Item = String>| names.map(|name| name.chars().count()).max().unwrap_or(0);
        (
            longest(&mut self.txns().iter().map(|txn| name_text(&self.session_literal(txn.session), "s"))),
            longest(&mut self.txn_ids().map(|id| name_text(&self.txn_literal(id), "t"))),
        )
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let initials = self.stated_initials();
        if !initials.is_empty() || self.initial_elsewhere().is_some() {
            f.write_str("init ")?;
            for (key, value) in initials {
                write!(f, " {}={}", literal_text(&self.key_literal(key)), self.value_text(value))?;
            }
            if let Some(value) = self.initial_elsewhere() {
                write!(f, " *={}", self.value_text(value))?;
            }
            writeln!(f)?;
        }
        for key in self.ordered_keys() {
            write!(f, "order {}", literal_text(&self.key_literal(key)))?;
            for &value in self.version_order(key).unwrap_or_default() {
                write!(f, " {}", self.value_text(value))?;
            }
            writeln!(f)?;
        }
        let (session_width, name_width) = self.name_widths();
        for id in self.txn_ids() {
            writeln!(f, "{}", self.txn_text(id, session_width, name_width).line)?;
        }
        Ok(())
    }
}
