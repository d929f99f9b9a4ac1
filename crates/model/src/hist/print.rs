//! A history as `.hist` text.

use std::fmt::{self, Write as _};

use crate::hist::scan::{bare_literal, is_word};
use crate::history::{History, OpId, OpKind, Status, TxnId};
use crate::names::Literal;

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
        Literal::Text(text) if matches!(text.as_str(), "init" | "order" | "constraint" | "") => quote(text),
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
        // Characters are counted once: the line of a bulk load is as long as what it loads.
        let (mut column, mut counted) = (0, 0);
        let mut column_of = |line: &str| {
            column += line[counted..].chars().count();
            counted = line.len();
            column
        };
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
            let start = column_of(&line);
            line.push_str(&self.op_text(op));
            ops.push((start, column_of(&line)));
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
        for order in self.constraint_orders() {
            let [first, second] = [order.first, order.second].map(|txn| name_text(&self.txn_literal(txn), "t"));
            writeln!(f, "constraint {} {first} {second}", literal_text(&self.key_literal(order.key)))?;
        }
        Ok(())
    }
}
