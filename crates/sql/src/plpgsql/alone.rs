//! A statement of a running body as a block of its own, which does the same: with the variables that it sees, and their
//! values.

use std::fmt::Write as _;

use crate::parse::literal;
use crate::parse::token::Kind;
use crate::plpgsql::bound::Scope;
use crate::plpgsql::machine::Machine;
use crate::types::{Datum, Type, Typed, names, quote, text};

/// What stands in the block.
pub(super) enum Inner<'t> {
    /// A value, which is shown.
    Expression(&'t str),
    /// A query or a change whose rows are shown.
    Rows(&'t str),
    /// A change.
    Change(&'t str),
}

impl Machine<'_, '_> {
    /// Notes the block for the statement that is about to begin, with the variables that it names, where statements are kept.
    pub(super) fn note_block(&mut self, scope: &Scope, inner: &Inner<'_>, variables: &[(String, usize)]) {
        if self.world.db.log.is_some() && self.is_by_itself() {
            self.world.session.block = Some(self.alone(scope, inner, variables).into());
        }
    }

    fn alone(&self, scope: &Scope, inner: &Inner<'_>, variables: &[(String, usize)]) -> String {
        let mut seen: Vec<&str> = Vec::new();
        let (mut declared, mut first) = (String::new(), String::new());
        let mut label = None;
        let mut around = Some(scope);
        while let Some(scope) = around {
            for (name, place) in scope.names.iter().rev() {
                if seen.contains(&name.as_str())
                    || *place == self.program.found
                    || !variables.iter().any(|used| used.0 == *name && used.1 == *place)
                {
                    continue;
                }
                seen.push(name);
                let (name, typed) = (quote::identifier(name), self.program.variables[*place].typed);
                let value = &self.frame()[*place];
                if let Datum::Record(record) = value
                    && typed.ty == Type::RECORD
                {
                    let fields = record.shape.fields.iter().zip(&record.fields);
                    let fields = fields.map(|((field, typed), value)| {
                        format!("{} AS {}", self.literal(value, *typed), quote::identifier(field))
                    });
                    let _ = write!(first, "SELECT {} INTO {name}; ", fields.collect::<Vec<_>>().join(", "));
                }
                let shown = names::format_type(typed.ty, Some(typed.modifier), &*self.world);
                let _ = match value {
                    Datum::Record(_) | Datum::Null => write!(declared, "{name} {shown}; "),
                    Datum::Int(number) => write!(declared, "{name} {shown} := {number}; "),
                    value => {
                        let text = text::output(value, typed.ty, &*self.world);
                        write!(declared, "{name} {shown} := {}; ", quote::literal(&text))
                    }
                };
            }
            label = scope.label.as_ref().or(label);
            around = scope.parent.as_deref();
        }
        let label = label.map_or_else(String::new, |label| format!("<<{}>> ", quote::identifier(label)));
        let body = match inner {
            Inner::Expression(text) => format!("RAISE NOTICE '%', ({text});"),
            Inner::Rows(text) => {
                declared.push_str("shown record; ");
                format!("FOR shown IN {text} LOOP RAISE NOTICE '%', shown; END LOOP;")
            }
            Inner::Change(text) => format!("{text};"),
        };
        let declare = if declared.is_empty() { String::new() } else { format!("DECLARE {declared}") };
        // One statement is one line, so that a line can be given to a session.
        let inside = on_one_line(&format!("{label}{declare}BEGIN {first}{body} END"));
        format!("DO $skew$ {inside} $skew$")
    }

    fn literal(&self, value: &Datum, typed: Typed) -> String {
        let shown = names::format_type(typed.ty, Some(typed.modifier), &*self.world);
        match value {
            Datum::Null => format!("NULL::{shown}"),
            value => format!("{}::{shown}", quote::literal(&text::output(value, typed.ty, &*self.world))),
        }
    }
}

/// The text without comments, and with one space where there are several and where lines end. A string that goes over
/// several lines is escaped.
fn on_one_line(sql: &str) -> String {
    let Ok(tokens) = crate::parse::lexer::tokens(sql) else { return sql.to_owned() };
    let mut line = String::with_capacity(sql.len());
    let mut end = 0;
    for token in tokens.iter().filter(|token| token.start < token.end) {
        if token.start > end && !line.is_empty() {
            line.push(' ');
        }
        end = token.end;
        let written = &sql[token.start as usize..token.end as usize];
        let is_name = matches!(token.kind, Kind::Quoted | Kind::UnicodeQuoted);
        match written.contains(['\n', '\r']) && !is_name {
            true => {
                line.push_str(&literal::string(sql, *token).map_or_else(|_| written.to_owned(), |text| escaped(&text)))
            }
            false => line.push_str(written),
        }
    }
    line
}

/// A string literal on one line.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{}'", text.replace('\n', "\\n").replace('\r', "\\r"))
}
