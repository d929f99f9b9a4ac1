//! Plans for texts that differ in numbers alone: clients that write values into their statements send a new text each
//! time, and the same shape.
//!
//! Numbers that something is compared with, or that a column is set to, become parameters. The plan of that is taken only
//! if, with the numbers put back, it is the plan of the text itself; so it depends on what kind of statement it is, not on
//! luck. Anything that is hard to tell from afar (comments, `$`, backslashes) has no shape.

use std::sync::Arc;

use crate::functions::Env;
use crate::ir::walk::{Descend, edit};
use crate::ir::{ExprKind, Query};
use crate::plan;
use crate::types::{Datum, Type};

/// What comes right before a number that becomes a parameter: operators, and words in upper case.
const OPERATORS: [&[u8]; 7] = [b"=", b"<", b">", b"<=", b">=", b"<>", b"!="];
const WORDS: [&[u8]; 2] = [b"BETWEEN", b"AND"];

/// Numbers of so many digits are all `integer`.
const DIGITS: usize = 9;

/// Longer texts take their time anyway.
const LONGEST: usize = 4096;

/// A text without some of its numbers.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The text with parameters in their place.
    pub(crate) text: String,
    /// The numbers.
    pub(crate) numbers: Arc<[Datum]>,
}

impl Shape {
    /// The shape of a text, if it has one and a number in it.
    pub(crate) fn of(sql: &str) -> Option<Shape> {
        if sql.len() > LONGEST {
            return None;
        }
        let mut scan = Scan { bytes: sql.as_bytes(), at: 0, before: Before::Other };
        let (mut text, mut numbers, mut copied) = (String::new(), Vec::new(), 0);
        while let Some(token) = scan.next()? {
            let Token::Number { start, end } = token else { continue };
            if text.is_empty() {
                text.reserve(sql.len() + 8);
            }
            numbers.push(Datum::Int(sql[start..end].parse().ok()?));
            text.push_str(&sql[copied..start]);
            text.push('$');
            text.push_str(&numbers.len().to_string());
            copied = end;
        }
        if numbers.is_empty() {
            return None;
        }
        text.push_str(&sql[copied..]);
        Some(Shape { text, numbers: numbers.into() })
    }

    /// The types of its parameters.
    pub(crate) fn types(&self) -> Vec<Type> {
        vec![Type::INT4; self.numbers.len()]
    }

    /// Whether the plan of the shape comes to that of the text when the numbers are put back.
    pub(crate) fn comes_to(&self, plan: &Query, wanted: &Query, env: &mut dyn Env) -> bool {
        let mut filled = plan.clone();
        let put_back = edit::plan(&mut filled.plan, 0, &mut |expr, _| {
            if let ExprKind::Param(number) = expr.kind {
                expr.kind = ExprKind::Const(self.numbers.get(number).cloned().unwrap_or_default());
            }
            Ok(Descend::Yes)
        });
        plan::fold::statement(&mut filled, env);
        put_back.is_ok() && format!("{filled:?}") == format!("{wanted:?}")
    }
}

/// Looks for numbers.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    before: Before,
}

/// What the last token was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A number that comes now is compared with something.
    Comparison,
    Other,
}

enum Token {
    /// A number that becomes a parameter.
    Number {
        start: usize,
        end: usize,
    },
    Other,
}

impl Scan<'_> {
    /// The next token; `None` inside at the end, outside if the text has no shape.
    fn next(&mut self) -> Option<Option<Token>> {
        self.skip(|byte| byte.is_ascii_whitespace());
        let start = self.at;
        let Some(&first) = self.bytes.get(start) else { return Some(None) };
        let before = std::mem::replace(&mut self.before, Before::Other);
        match first {
            b'0'..=b'9' => {
                // `5.5`, `5e3` and what is no number at all are one token with the digits.
                self.skip(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || !byte.is_ascii());
                let digits = &self.bytes[start..self.at];
                let is_integer = digits.len() <= DIGITS && digits.iter().all(u8::is_ascii_digit);
                if before == Before::Comparison && is_integer {
                    return Some(Some(Token::Number { start, end: self.at }));
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => {
                self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii());
                let word = &self.bytes[start..self.at];
                if WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) {
                    self.before = Before::Comparison;
                }
            }
            b'\'' | b'"' => {
                self.at += 1;
                self.skip(|byte| byte != first && byte != b'\\');
                if self.bytes.get(self.at) != Some(&first) {
                    return None;
                }
                // A quote within comes twice, which looks like two of them.
                self.at += 1;
            }
            b'$' | b'\\' | 0 => return None,
            _ if is_operator(first) => {
                self.skip(is_operator);
                let operator = &self.bytes[start..self.at];
                if operator.windows(2).any(|pair| pair == b"--" || pair == b"/*") {
                    return None;
                }
                if OPERATORS.contains(&operator) {
                    self.before = Before::Comparison;
                }
            }
            _ => self.at += 1,
        }
        Some(Some(Token::Other))
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|&byte| !skipped(byte)).unwrap_or(rest.len());
    }
}

/// The characters of operators.
fn is_operator(byte: u8) -> bool {
    b"+-*/<>=~!@#%^&|`?:".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Client, Connection, Database, Options, Outcome};

    fn shape(sql: &str) -> String {
        Shape::of(sql).map_or_else(|| "none".to_owned(), |shape| shape.text)
    }

    #[test]
    fn numbers_that_are_compared_become_parameters() {
        for (sql, expected) in [
            ("SELECT n FROM t WHERE id = 7", "SELECT n FROM t WHERE id = $1"),
            ("SELECT 1 FROM t WHERE id between 7 and 7+4", "SELECT 1 FROM t WHERE id between $1 and $2+4"),
            ("UPDATE t SET n=5 WHERE id<>6", "UPDATE t SET n=$1 WHERE id<>$2"),
            ("SELECT 'it''s = 5' FROM t WHERE \"a = 5\" >= 5", "SELECT 'it''s = 5' FROM t WHERE \"a = 5\" >= $1"),
            ("SELECT id FROM t WHERE id = 7 ORDER BY 1 LIMIT 2", "SELECT id FROM t WHERE id = $1 ORDER BY 1 LIMIT 2"),
        ] {
            assert_eq!(shape(sql), expected);
        }
    }

    #[test]
    fn other_texts_have_no_shape() {
        for sql in [
            "SELECT 5",
            "SELECT n FROM t WHERE id = -5",
            "SELECT n FROM t WHERE id = 5.5",
            "SELECT n FROM t WHERE id = 5e3",
            "SELECT n FROM t WHERE id = 5000000000",
            "SELECT n FROM t WHERE id = $1 AND n = 5",
            "SELECT n FROM t WHERE id = 5 -- = 6",
            "SELECT n FROM t WHERE id /* = 6 */ = 5",
            "SELECT n FROM t WHERE a = E'\\' = 5'",
            "SELECT n FROM t WHERE a = 'open = 5",
            "SELECT a -> 0 FROM t",
        ] {
            assert_eq!(shape(sql), "none", "{sql}");
        }
    }

    fn run(connection: &mut Connection, sql: &str) -> String {
        let outcome = connection.prepare_once(sql).and_then(|statement| connection.execute(&statement, &[]));
        let outcome = outcome.and_then(|outcome| connection.sync().map(|()| outcome));
        match outcome {
            Ok(Outcome::Rows { rows, .. }) => format!("{rows:?}"),
            Ok(Outcome::Done(tag)) => tag,
            Ok(_) => "nothing".to_owned(),
            Err(error) => error.fields().code.clone(),
        }
    }

    fn connection() -> Connection {
        let mut connection = Database::new(Options::default()).connect(Client::new("skew", "skew"));
        run(&mut connection, "CREATE TABLE t (id int PRIMARY KEY, small smallint, word text)");
        run(&mut connection, "INSERT INTO t SELECT i, i, 'w' || i FROM generate_series(1, 9) i");
        connection
    }

    /// Every statement answers as one that is planned by itself, whatever came before it.
    #[test]
    fn statements_of_one_shape_answer_as_if_each_had_its_plan() {
        for shape in [
            "SELECT id, word FROM t WHERE id = #",
            "SELECT id FROM t WHERE id BETWEEN # AND # + 2 ORDER BY id",
            "SELECT id FROM t WHERE small = # AND id > #",
            "SELECT id = # FROM t WHERE small < # ORDER BY 1",
            "SELECT small = #, count(*) FROM t GROUP BY small = # ORDER BY 1",
            "SELECT id FROM t WHERE # = # ORDER BY id",
            "SELECT id FROM t WHERE word = #",
            "SELECT id FROM t WHERE id = # / 0",
            "SELECT (SELECT word FROM t u WHERE u.id = #) FROM t WHERE id = #",
            "UPDATE t SET small = # WHERE id = # RETURNING small",
            "DELETE FROM t WHERE id = # RETURNING id",
        ] {
            let mut kept = connection();
            let mut fresh = connection();
            for number in 1..=9 {
                let sql = shape.replace('#', &number.to_string());
                let expected = {
                    let statement = fresh.prepare(&sql, &[]);
                    let outcome = statement.and_then(|statement| fresh.execute(&statement, &[]));
                    let outcome = outcome.and_then(|outcome| fresh.sync().map(|()| outcome));
                    match outcome {
                        Ok(Outcome::Rows { rows, .. }) => format!("{rows:?}"),
                        Ok(Outcome::Done(tag)) => tag,
                        Ok(_) => "nothing".to_owned(),
                        Err(error) => error.fields().code.clone(),
                    }
                };
                assert_eq!(run(&mut kept, &sql), expected, "{sql}");
            }
        }
    }

    #[test]
    fn a_shape_that_comes_again_has_a_plan_and_a_changed_table_another_one() {
        let mut connection = connection();
        for number in 1..=3 {
            run(
                &mut connection,
                &format!("SELECT id, small FROM t WHERE id BETWEEN {number} AND {number} + 4 ORDER BY id"),
            );
        }
        assert_eq!(connection.shapes_with_plans(), 1);
        run(&mut connection, "ALTER TABLE t ALTER small TYPE text");
        let answer = run(&mut connection, "SELECT id, small FROM t WHERE id BETWEEN 9 AND 9 + 4 ORDER BY id");
        assert_eq!(answer, "[[Int(9), Text(\"9\")]]");
    }
}
