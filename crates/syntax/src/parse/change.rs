//! INSERT, UPDATE, DELETE, MERGE.

use crate::parse::ast::{
    AccessExpr, Assignment, AssignmentTarget, ConflictTarget, Delete, DoUpdate, Expr, Ident, Insert, Merge,
    MergeAction, MergeClause, MergeInsert, OnConflict, OnConflictAction, Overriding, SelectItem, SetExpr, Statement,
    Update,
};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::query::bare_query;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// A query, or a change of rows, maybe with WITH.
    pub fn query_or_change(&mut self) -> Result<Box<Statement>> {
        if self.keyword() != K::With {
            return match self.keyword() {
                K::Insert | K::Update | K::Delete | K::Merge => self.change(),
                _ => Ok(Box::new(Statement::Query(self.query()?))),
            };
        }
        let with = self.statement_with()?;
        if !matches!(self.keyword(), K::Insert | K::Update | K::Delete | K::Merge) {
            return Ok(Box::new(Statement::Query(self.query_after(with)?)));
        }
        let mut query = bare_query(self.change_as_body()?);
        query.with = with;
        Ok(Box::new(Statement::Query(query)))
    }

    /// A change of rows as the body of a query: in WITH, or after it.
    pub(crate) fn change_as_body(&mut self) -> Result<Box<SetExpr>> {
        Ok(Self::body(self.change()?))
    }

    #[inline(never)]
    fn body(change: Box<Statement>) -> Box<SetExpr> {
        Box::new(SetExpr::Change(change))
    }

    fn change(&mut self) -> Result<Box<Statement>> {
        match self.keyword() {
            K::Insert => self.insert(),
            K::Update => self.update(),
            K::Delete => self.delete(),
            _ => self.merge(),
        }
    }

    fn returning(&mut self) -> Result<Option<Vec<SelectItem>>> {
        if !self.accept_word(K::Returning) {
            return Ok(None);
        }
        self.list(Self::select_item).map(Some)
    }

    fn insert(&mut self) -> Result<Box<Statement>> {
        self.take();
        self.expect_word(K::Into)?;
        let table = self.object_name()?;
        let table_alias = match self.accept_word(K::As) {
            true => Some(self.ident()?),
            false => None,
        };
        let mut columns = Vec::new();
        if self.kind() == Kind::LeftParen && !self.at_subquery() {
            columns = self.parenthesized(Self::insert_column)?;
        }
        let mut overriding = None;
        if self.accept_word(K::Overriding) {
            overriding = Some(if self.accept_word(K::User) {
                Overriding::User
            } else {
                self.expect_word(K::System)?;
                Overriding::System
            });
            self.expect_word(K::Value)?;
        }
        let defaults = columns.is_empty() && overriding.is_none() && self.accept_words(&[K::Default, K::Values]);
        let source = if defaults { None } else { Some(self.query()?) };
        let on = match self.accept_words(&[K::On, K::Conflict]) {
            true => Some(self.on_conflict()?),
            false => None,
        };
        let returning = self.returning()?;
        Ok(Box::new(Statement::Insert(Insert { table, table_alias, columns, overriding, source, on, returning })))
    }

    fn insert_column(&mut self) -> Result<Ident> {
        let name = self.ident()?;
        if matches!(self.kind(), Kind::Dot | Kind::LeftBracket) {
            return Err(SqlError::unsupported("INSERT into a part of a column"));
        }
        Ok(name)
    }

    fn on_conflict(&mut self) -> Result<OnConflict> {
        let conflict_target = if self.accept_words(&[K::On, K::Constraint]) {
            Some(ConflictTarget::Constraint(self.ident()?))
        } else if self.kind() == Kind::LeftParen {
            let keys = self.parenthesized(Self::conflict_key)?;
            let predicate = if self.accept_word(K::Where) { Some(self.expr()?) } else { None };
            Some(ConflictTarget::Keys { keys, predicate })
        } else {
            None
        };
        self.expect_word(K::Do)?;
        if self.accept_word(K::Nothing) {
            return Ok(OnConflict { conflict_target, action: OnConflictAction::DoNothing });
        }
        self.expect_words(&[K::Update, K::Set])?;
        let assignments = self.list(Self::assignment)?;
        let selection = if self.accept_word(K::Where) { Some(self.expr()?) } else { None };
        if conflict_target.is_none() {
            return Err(SqlError::syntax("ON CONFLICT DO UPDATE requires inference specification or constraint name")
                .hint("For example, ON CONFLICT (column_name)."));
        }
        Ok(OnConflict { conflict_target, action: OnConflictAction::DoUpdate(DoUpdate { assignments, selection }) })
    }

    fn conflict_key(&mut self) -> Result<Expr> {
        let key = match self.kind() {
            Kind::LeftParen => self.expr()?,
            _ if self.kind_at(1) == Kind::LeftParen => *self.primary()?,
            _ => Expr::Identifier(self.ident()?),
        };
        if self.accept_word(K::Collate) {
            self.any_name()?;
        }
        // An operator class.
        if matches!(self.kind(), Kind::Word(_) | Kind::Quoted) {
            self.any_name()?;
        }
        Ok(key)
    }

    /// `column = expression`, `(a, b) = (…)`
    fn assignment(&mut self) -> Result<Assignment> {
        if self.kind() == Kind::LeftParen {
            let names = self.parenthesized(Self::ident)?;
            self.expect(Kind::Equal)?;
            return Ok(Assignment { target: AssignmentTarget::Tuple(names), value: self.expr()? });
        }
        let name = self.ident()?;
        let mut part = Vec::new();
        loop {
            if self.accept(Kind::Dot) {
                part.push(AccessExpr::Field(self.label()?));
            } else if self.accept(Kind::LeftBracket) {
                part.push(AccessExpr::Subscript(self.subscript()?));
            } else {
                break;
            }
        }
        self.expect(Kind::Equal)?;
        Ok(Assignment { target: AssignmentTarget::Column { name, part }, value: self.expr()? })
    }

    fn condition(&mut self) -> Result<Option<Expr>> {
        if !self.accept_word(K::Where) {
            return Ok(None);
        }
        if self.keyword() == K::Current && self.keyword_at(1) == K::Of {
            self.take();
            self.take();
            return Ok(Some(Expr::CurrentOf(self.ident()?)));
        }
        self.expr().map(Some)
    }

    fn update(&mut self) -> Result<Box<Statement>> {
        self.take();
        let table = self.target(&[K::Set])?;
        self.expect_word(K::Set)?;
        let assignments = self.list(Self::assignment)?;
        let from = if self.accept_word(K::From) { self.list(Self::from_item)? } else { Vec::new() };
        let selection = self.condition()?;
        let returning = self.returning()?;
        Ok(Box::new(Statement::Update(Update { table, assignments, from, selection, returning })))
    }

    fn delete(&mut self) -> Result<Box<Statement>> {
        self.take();
        self.expect_word(K::From)?;
        let table = self.target(&[])?;
        let using = if self.accept_word(K::Using) { self.list(Self::from_item)? } else { Vec::new() };
        let selection = self.condition()?;
        let returning = self.returning()?;
        Ok(Box::new(Statement::Delete(Delete { table, using, selection, returning })))
    }

    fn merge(&mut self) -> Result<Box<Statement>> {
        self.take();
        self.expect_word(K::Into)?;
        let table = self.target(&[])?;
        self.expect_word(K::Using)?;
        let source = self.from_item()?;
        if !source.joins.is_empty() {
            return Err(self.unexpected());
        }
        self.expect_word(K::On)?;
        let on = Box::new(self.expr()?);
        let mut clauses = Vec::new();
        while self.keyword() == K::When {
            clauses.push(self.merge_clause()?);
        }
        if clauses.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Box::new(Statement::Merge(Merge { table, source: source.relation, on, clauses })))
    }

    fn merge_clause(&mut self) -> Result<MergeClause> {
        self.take();
        let matched = !self.accept_word(K::Not);
        self.expect_word(K::Matched)?;
        let predicate = if self.accept_word(K::And) { Some(self.expr()?) } else { None };
        self.expect_word(K::Then)?;
        let action = match self.keyword() {
            K::Do => {
                self.expect_words(&[K::Do, K::Nothing])?;
                MergeAction::DoNothing
            }
            K::Delete if matched => {
                self.take();
                MergeAction::Delete
            }
            K::Update if matched => {
                self.expect_words(&[K::Update, K::Set])?;
                MergeAction::Update(self.list(Self::assignment)?)
            }
            K::Insert if !matched => self.merge_insert()?,
            _ => return Err(self.unexpected()),
        };
        Ok(MergeClause { matched, predicate, action })
    }

    fn merge_insert(&mut self) -> Result<MergeAction> {
        self.take();
        let columns =
            if self.kind() == Kind::LeftParen { self.parenthesized(Self::insert_column)? } else { Vec::new() };
        if self.accept_word(K::Overriding) {
            return Err(SqlError::unsupported("OVERRIDING in MERGE"));
        }
        let values = if self.accept_words(&[K::Default, K::Values]) {
            Vec::new()
        } else {
            self.expect_word(K::Values)?;
            self.parenthesized(Self::expr)?
        };
        Ok(MergeAction::Insert(MergeInsert { columns, values }))
    }
}
