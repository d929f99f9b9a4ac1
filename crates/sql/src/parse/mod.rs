//! Text → statements.
//!
//! Queries and changes of rows are trees of `sqlparser`'s types (in [`Statement::Sql`]), everything else has a tree of its
//! own. Names in trees are folded and cut as PostgreSQL does it; a name that was written in quotes keeps them in
//! `quote_style`. Spans are places in the statement: line 1, and in `column` the position in characters from one that
//! errors tell.

pub mod ddl;
pub mod keywords;
pub mod lexer;
pub mod literal;
pub mod statement;
pub mod token;

mod cursor;

use std::ops::Range;

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use crate::error::{Result, SqlError};
use crate::parse::keywords::Keyword;
use crate::parse::token::Kind;

pub use statement::Statement;

/// The texts of the statements in a text, without the semicolons between them; empty ones are left out.
pub fn split(sql: &str) -> Result<Vec<Range<usize>>> {
    let tokens = lexer::tokens(sql)?;
    let mut pieces = Vec::new();
    let mut start = None;
    let mut end = 0;
    let mut depth = 0usize;
    // BEGIN ATOMIC … END of a function has semicolons inside; CASE … END nests in it.
    let mut atomic = 0usize;
    for (n, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Semicolon if depth == 0 && atomic == 0 => {
                pieces.extend(start.take().map(|start| start..end));
                continue;
            }
            Kind::End => break,
            Kind::LeftParen => depth += 1,
            Kind::RightParen => depth = depth.saturating_sub(1),
            Kind::Word(Keyword::Atomic) if n > 0 && tokens[n - 1].kind == Kind::Word(Keyword::Begin) => atomic += 1,
            Kind::Word(Keyword::Case) if atomic > 0 => atomic += 1,
            Kind::Word(Keyword::End) if atomic > 0 => atomic -= 1,
            _ => {}
        }
        start.get_or_insert(token.start as usize);
        end = token.end as usize;
    }
    pieces.extend(start.map(|start| start..end));
    Ok(pieces)
}

/// One statement; `None` if there is nothing but white space and comments.
pub fn statement(sql: &str) -> Result<Option<Statement>> {
    let mut parsed =
        Parser::parse_sql(&PostgreSqlDialect {}, sql).map_err(|error| SqlError::syntax(error.to_string()))?;
    match parsed.len() {
        0 => Ok(None),
        1 => Ok(Some(Statement::Sql(Box::new(parsed.remove(0))))),
        _ => Err(SqlError::syntax("cannot insert multiple commands into a prepared statement")),
    }
}
