//! `.hist` text to a history, line by line.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::builder::HistoryBuilder;
use crate::hist::scan::Scan;
use crate::hist::{InputError, MAX_LINE_BYTES, literal_text};
use crate::history::{ConstraintOrder, History, OpId, OpKind, Status, TxnId};
use crate::names::{Key, Literal, Value};

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

/// An operation as a line has it.
#[derive(Clone, PartialEq, Debug)]
pub struct WrittenOp {
    /// Where it stands in the line, in bytes.
    pub place: Range<usize>,
    /// What it does.
    pub kind: OpKind,
    /// Its key.
    pub key: Literal,
    /// Its value.
    pub value: Literal,
}

/// The operations of a transaction's line, in order; none if it is not a line of a `.hist` file.
pub fn operations(line: &str) -> Option<Vec<WrittenOp>> {
    let mut parser = HistParser { operations: Some(Vec::new()), ..HistParser::default() };
    parser.line(line).ok()?;
    parser.operations
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
    /// Pairs of transactions that constraints put in order, with what to say if one of them is not there.
    constraints: Vec<(Key, [(String, InputError); 2])>,
    /// The operations as they are written, where it is asked where they stand.
    operations: Option<Vec<WrittenOp>>,
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
            "constraint" => self.constraint(scan),
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

    /// `constraint x t1 t2`: a constraint that looked at x puts t1 before t2.
    fn constraint(&mut self, mut scan: Scan) -> Result<(), InputError> {
        scan.space();
        let key = scan.literal("a key")?;
        let key = self.builder.key(key);
        let mut txn = || {
            scan.space();
            let start = scan.at;
            let name = scan.name("a transaction name")?;
            let missing = scan.error(start, format!("there is no transaction {name}"));
            Ok((name, missing))
        };
        let pair = [txn()?, txn()?];
        if scan.more() {
            return Err(scan
                .error(scan.at, "a constraint puts two transactions in order")
                .hint("a line is: constraint, key, first transaction, second transaction"));
        }
        self.constraints.push((key, pair));
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
                let level = word
                    .parse()
                    .map_err(|error: crate::sql_level::UnknownLevel| scan.error(start, error.to_string()))?;
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
        let written = self.operations.is_some().then(|| (key.clone(), value.clone()));
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
        if let (Some(operations), Some((key, value))) = (&mut self.operations, written) {
            operations.push(WrittenOp { place: start..scan.at, kind, key, value });
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
        for (key, pair) in std::mem::take(&mut self.constraints) {
            let [first, second] = pair.map(|(name, missing)| self.names.get(&name).map(|(id, _)| *id).ok_or(missing));
            self.builder.constraint_order(ConstraintOrder { key, first: first?, second: second? });
        }
        Ok(self.builder.finish())
    }
}
