//! Text → statements.
//!
//! Queries and changes of rows are trees of [`ast`] (in [`Statement::Sql`]), every other statement has a type of its own.
//! Names in trees are folded and cut as PostgreSQL does it; a name knows whether it was written in quotes, and where.

pub mod ast;
pub mod database;
pub mod ddl;
pub mod grant;
pub mod keywords;
pub mod lexer;
pub mod literal;
pub mod shape;
pub mod statement;
pub mod token;

mod alter;
mod call;
mod change;
mod copy;
mod create;
pub mod cursor;
mod expr;
mod from;
mod function;
mod primary;
mod query;
mod table;
mod types;
mod utility;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::ddl::{CreateTableAs, Ddl, OnCommit, Persistence, TableSource};
use crate::parse::keywords::Keyword as K;
use crate::parse::token::Kind;

pub use statement::Statement;

/// The texts of the statements in a text, without the semicolons between them; empty ones are left out.
pub fn split(sql: &str) -> Result<Vec<Range<usize>>> {
    let mut pieces = Vec::new();
    let mut start = None;
    let mut end = 0;
    let mut within = Within::default();
    for token in lexer::tokens(sql)? {
        match token.kind {
            Kind::Semicolon if within.is_nothing() => {
                pieces.extend(start.take().map(|start| start..end));
                continue;
            }
            Kind::End => break,
            kind => within.take(kind),
        }
        start.get_or_insert(token.start as usize);
        end = token.end as usize;
    }
    pieces.extend(start.map(|start| start..end));
    Ok(pieces)
}

/// The first statement in a text, with its semicolon; what comes after it is not looked at. Something that is not closed
/// reaches to the end of the text.
pub fn first(sql: &str) -> Option<Range<usize>> {
    let mut lexer = lexer::Lexer::of_the_beginning(sql);
    let mut start = None;
    let mut within = Within::default();
    loop {
        let Ok(token) = lexer.next() else { return Some(start.unwrap_or(0)..sql.len()) };
        match (token.kind, start) {
            (Kind::End, _) => return start.map(|start| start..sql.len()),
            (Kind::Semicolon, None) => continue,
            (Kind::Semicolon, Some(start)) if within.is_nothing() => return Some(start..token.end as usize),
            (kind, _) => within.take(kind),
        }
        start.get_or_insert(token.start as usize);
    }
}

/// What is open where a token stands, so that a semicolon there ends no statement.
#[derive(Default)]
struct Within {
    parentheses: usize,
    /// BEGIN ATOMIC … END of a function has semicolons inside; CASE … END nests in it.
    blocks: usize,
    after_begin: bool,
}

impl Within {
    fn is_nothing(&self) -> bool {
        self.parentheses == 0 && self.blocks == 0
    }

    fn take(&mut self, kind: Kind) {
        match kind {
            Kind::LeftParen => self.parentheses += 1,
            Kind::RightParen => self.parentheses = self.parentheses.saturating_sub(1),
            Kind::Word(K::Atomic) if self.after_begin => self.blocks += 1,
            Kind::Word(K::Case) if self.blocks > 0 => self.blocks += 1,
            Kind::Word(K::End) if self.blocks > 0 => self.blocks -= 1,
            _ => {}
        }
        self.after_begin = kind == Kind::Word(K::Begin);
    }
}

/// One statement; `None` if there is nothing but white space and comments.
pub fn statement(sql: &str) -> Result<Option<Statement>> {
    let mut cursor = Cursor::new(sql)?;
    while cursor.accept(Kind::Semicolon) {}
    if cursor.kind() == Kind::End {
        return Ok(None);
    }
    let statement = cursor.statement()?;
    if cursor.accept(Kind::Semicolon) {
        while cursor.accept(Kind::Semicolon) {}
        if cursor.kind() != Kind::End {
            return Err(SqlError::syntax("cannot insert multiple commands into a prepared statement"));
        }
    }
    cursor.expect_end()?;
    Ok(Some(statement))
}

/// All the statements of a text, each with where its text is. A mistake in one of them is an error of the whole, before
/// anything runs; its position counts from the beginning of the text.
pub fn script(sql: &str) -> Result<Vec<(Range<usize>, Statement)>> {
    let mut statements = Vec::new();
    for piece in split(sql)? {
        let before = || sql[..piece.start].chars().count();
        let statement = statement(&sql[piece.clone()]).map_err(|error| match error.fields().position {
            Some(position) => error.at(before() + position),
            None => error,
        })?;
        statements.extend(statement.map(|statement| (piece, statement)));
    }
    Ok(statements)
}

/// An expression alone.
pub fn expression(text: &str) -> Result<ast::Expr> {
    let mut cursor = Cursor::new(text)?;
    let expr = cursor.expr()?;
    cursor.expect_end()?;
    Ok(expr)
}

/// A query alone.
pub fn query(text: &str) -> Result<ast::Query> {
    let mut cursor = Cursor::new(text)?;
    let query = cursor.query()?;
    cursor.expect_end()?;
    Ok(*query)
}

/// The name of an object, with its schema or without.
pub fn object_name(text: &str) -> Result<ast::ObjectName> {
    let mut cursor = Cursor::new(text)?;
    let name = cursor.object_name()?;
    cursor.expect_end()?;
    Ok(name)
}

/// The name of a type, as in `CAST (… AS name)`.
pub fn data_type(text: &str) -> Result<ast::DataType> {
    let mut cursor = Cursor::new(text)?;
    let data_type = cursor.data_type()?;
    cursor.expect_end()?;
    Ok(data_type)
}

impl Cursor<'_> {
    /// A statement.
    pub fn statement(&mut self) -> Result<Statement> {
        match self.kind() {
            Kind::LeftParen => self.rows(),
            Kind::Word(keyword) => self.deeper(|cursor| cursor.statement_of(keyword)),
            _ => Err(self.unexpected()),
        }
    }

    fn statement_of(&mut self, keyword: K) -> Result<Statement> {
        match keyword {
            K::Select | K::Values | K::Table | K::With | K::Insert | K::Update | K::Delete | K::Merge => self.rows(),
            K::Begin | K::Start => self.begin(),
            K::Commit | K::End => self.commit(),
            K::Rollback | K::Abort => self.rollback(),
            K::Savepoint => self.savepoint(),
            K::Release => self.release(),
            K::Set => self.set(),
            K::Reset => self.named_setting().map(Statement::Reset),
            K::Show => self.named_setting().map(Statement::Show),
            K::Lock => self.lock_table(),
            K::Listen | K::Unlisten | K::Notify => self.notification(),
            K::Prepare => self.prepare(),
            K::Execute => {
                self.take();
                let (name, arguments) = self.execute()?;
                Ok(Statement::Execute { name, arguments })
            }
            K::Deallocate => {
                self.take();
                self.accept_word(K::Prepare);
                self.name_or_all().map(Statement::Deallocate)
            }
            K::Close => {
                self.take();
                self.name_or_all().map(Statement::Close)
            }
            K::Declare => self.declare(),
            K::Fetch | K::Move => self.fetch(),
            K::Copy => self.copy(),
            K::Explain => self.explain(),
            K::Do => self.do_block(),
            K::Call => {
                self.take();
                let name = self.any_name()?;
                Ok(Statement::Call(Box::new(self.function(name)?)))
            }
            K::Discard => self.discard(),
            K::Vacuum | K::Analyze | K::Analyse | K::Cluster | K::Reindex | K::Checkpoint => self.maintenance(),
            K::Create => self.create(),
            K::Alter => self.alter(),
            K::Drop => self.drop(),
            K::Comment => self.comment(),
            K::Truncate => self.truncate(),
            K::Refresh => self.refresh(),
            K::Grant | K::Revoke => self.grant(),
            K::Reassign | K::Security | K::Load | K::Import => self.ignored(),
            _ => Err(self.unexpected()),
        }
    }

    /// A query or a change of rows; SELECT INTO makes a table.
    fn rows(&mut self) -> Result<Statement> {
        let mark = self.mark();
        let mut statement = self.query_or_change()?;
        if let ast::Statement::Query(query) = &mut *statement
            && let ast::SetExpr::Select(select) = &mut *query.body
            && let Some(into) = select.into.take()
        {
            let ast::Statement::Query(query) = *statement else { return Err(self.unexpected()) };
            return self.select_into(into, query, mark);
        }
        Ok(Statement::Sql(statement))
    }

    fn select_into(&mut self, into: ast::SelectInto, query: Box<ast::Query>, mark: usize) -> Result<Statement> {
        let persistence = match (into.temporary, into.unlogged) {
            (true, _) => Persistence::Temporary,
            (_, true) => Persistence::Unlogged,
            _ => Persistence::Permanent,
        };
        Ok(Statement::Schema(Box::new(Ddl::CreateTableAs(CreateTableAs {
            persistence,
            materialized: false,
            if_not_exists: false,
            name: into.name,
            columns: Vec::new(),
            source: TableSource::Query(query),
            text: self.text_since(mark).to_owned(),
            with_data: true,
            on_commit: OnCommit::PreserveRows,
            select_into: true,
        }))))
    }
}
