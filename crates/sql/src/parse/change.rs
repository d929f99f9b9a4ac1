//! INSERT, UPDATE, DELETE, MERGE.

use crate::parse::ast::AttachedToken;
use crate::parse::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Delete, DoUpdate, Expr, FromTable, Ident, Insert, Merge, MergeAction,
    MergeClause, MergeClauseKind, MergeInsertExpr, MergeInsertKind, MergeUpdateExpr, MergeUpdateKind, ObjectName,
    ObjectNamePart, OnConflict, OnConflictAction, OnInsert, Parens, SelectItem, SetExpr, Statement, Subscript,
    TableAliasWithoutColumns, TableObject, TableWithJoins, Update, UpdateTableFromKind, Values,
};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::extra::{self, Overriding};
use crate::parse::keywords::Keyword as K;
use crate::parse::query::bare_query;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// A query, or a change of rows, maybe with WITH.
    pub(crate) fn query_or_change(&mut self) -> Result<Box<Statement>> {
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
        let change = *change;
        Box::new(match change {
            Statement::Insert(_) => SetExpr::Insert(change),
            Statement::Update(_) => SetExpr::Update(change),
            Statement::Delete(_) => SetExpr::Delete(change),
            _ => SetExpr::Merge(change),
        })
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
        let token = self.take();
        self.expect_word(K::Into)?;
        let name = self.object_name()?;
        let table_alias = match self.accept_word(K::As) {
            true => Some(TableAliasWithoutColumns { explicit: true, alias: self.ident()? }),
            false => None,
        };
        let mut columns = Vec::new();
        if self.kind() == Kind::LeftParen && !self.at_subquery() {
            columns = self.parenthesized(Self::insert_column)?;
        }
        let mut after_columns = Vec::new();
        if self.accept_word(K::Overriding) {
            let overriding = if self.accept_word(K::User) {
                Overriding::User
            } else {
                self.expect_word(K::System)?;
                Overriding::System
            };
            self.expect_word(K::Value)?;
            after_columns.push(extra::overriding_mark(overriding));
        }
        let defaults = columns.is_empty() && after_columns.is_empty() && self.accept_words(&[K::Default, K::Values]);
        let source = if defaults { None } else { Some(self.query()?) };
        let on = match self.accept_words(&[K::On, K::Conflict]) {
            true => Some(OnInsert::OnConflict(self.on_conflict()?)),
            false => None,
        };
        Ok(Box::new(Statement::Insert(Insert {
            insert_token: self.attached(token),
            optimizer_hints: Vec::new(),
            or: None,
            ignore: false,
            into: true,
            table: TableObject::TableName(name),
            table_alias,
            columns,
            overwrite: false,
            source,
            assignments: Vec::new(),
            partitioned: None,
            after_columns,
            has_table_keyword: false,
            on,
            returning: self.returning()?,
            output: None,
            replace_into: false,
            priority: None,
            insert_alias: None,
            settings: None,
            format_clause: None,
            multi_table_insert_type: None,
            multi_table_into_clauses: Vec::new(),
            multi_table_when_clauses: Vec::new(),
            multi_table_else_clause: None,
        })))
    }

    fn insert_column(&mut self) -> Result<ObjectName> {
        let name = self.object_name()?;
        if name.0.len() > 1 || self.kind() == Kind::LeftBracket {
            return Err(SqlError::unsupported("INSERT into a part of a column"));
        }
        Ok(name)
    }

    fn on_conflict(&mut self) -> Result<OnConflict> {
        let conflict_target = if self.accept_words(&[K::On, K::Constraint]) {
            Some(ConflictTarget::OnConstraint(ObjectName(vec![ObjectNamePart::Identifier(self.ident()?)])))
        } else if self.kind() == Kind::LeftParen {
            let mut keys = self.parenthesized(Self::conflict_key)?;
            if self.accept_word(K::Where) {
                let mark = self.mark();
                self.expr()?;
                keys.push(extra::arbiter_mark("where", self.text_since(mark)));
            }
            Some(ConflictTarget::Columns(keys))
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

    fn conflict_key(&mut self) -> Result<Ident> {
        let mark = self.mark();
        let key = match self.kind() {
            Kind::LeftParen => {
                self.expr()?;
                extra::arbiter_mark("key", self.text_since(mark))
            }
            _ if self.kind_at(1) == Kind::LeftParen => {
                self.primary()?;
                extra::arbiter_mark("key", self.text_since(mark))
            }
            _ => self.ident()?,
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
            let names = self.parenthesized(|cursor| {
                let name = cursor.ident()?;
                Ok(ObjectName(vec![ObjectNamePart::Identifier(name)]))
            })?;
            self.expect(Kind::Equal)?;
            return Ok(Assignment { target: AssignmentTarget::Tuple(names), value: self.expr()? });
        }
        let column = self.ident()?;
        let mut places = Vec::new();
        loop {
            if self.accept(Kind::Dot) {
                places.push(Expr::CompoundIdentifier(vec![self.label()?]));
            } else if self.kind() == Kind::LeftBracket {
                places.push(self.place()?);
            } else {
                break;
            }
        }
        self.expect(Kind::Equal)?;
        let value = self.expr()?;
        let value = if places.is_empty() { value } else { extra::part_mark(places, value) };
        let target = AssignmentTarget::ColumnName(ObjectName(vec![ObjectNamePart::Identifier(column)]));
        Ok(Assignment { target, value })
    }

    /// `[1]`, `[1:2]`
    fn place(&mut self) -> Result<Expr> {
        self.expect(Kind::LeftBracket)?;
        Ok(match self.subscript()? {
            Subscript::Index { index } => index,
            slice => extra::slice_mark(slice),
        })
    }

    fn condition(&mut self) -> Result<Option<Expr>> {
        if !self.accept_word(K::Where) {
            return Ok(None);
        }
        if self.keyword() == K::Current && self.keyword_at(1) == K::Of {
            self.take();
            self.take();
            return Ok(Some(extra::current_of_mark(self.ident()?)));
        }
        self.expr().map(Some)
    }

    fn update(&mut self) -> Result<Box<Statement>> {
        let token = self.take();
        let relation = self.target(&[K::Set])?;
        self.expect_word(K::Set)?;
        let assignments = self.list(Self::assignment)?;
        let from = match self.accept_word(K::From) {
            true => Some(UpdateTableFromKind::AfterSet(self.list(Self::from_item)?)),
            false => None,
        };
        Ok(Box::new(Statement::Update(Update {
            update_token: self.attached(token),
            optimizer_hints: Vec::new(),
            table: TableWithJoins { relation: *relation, joins: Vec::new() },
            assignments,
            from,
            selection: self.condition()?,
            returning: self.returning()?,
            output: None,
            or: None,
            order_by: Vec::new(),
            limit: None,
        })))
    }

    fn delete(&mut self) -> Result<Box<Statement>> {
        let token = self.take();
        self.expect_word(K::From)?;
        let relation = self.target(&[])?;
        let using = if self.accept_word(K::Using) { Some(self.list(Self::from_item)?) } else { None };
        Ok(Box::new(Statement::Delete(Delete {
            delete_token: self.attached(token),
            optimizer_hints: Vec::new(),
            tables: Vec::new(),
            from: FromTable::WithFromKeyword(vec![TableWithJoins { relation: *relation, joins: Vec::new() }]),
            using,
            selection: self.condition()?,
            returning: self.returning()?,
            output: None,
            order_by: Vec::new(),
            limit: None,
        })))
    }

    fn merge(&mut self) -> Result<Box<Statement>> {
        let token = self.take();
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
        Ok(Box::new(Statement::Merge(Merge {
            merge_token: self.attached(token),
            optimizer_hints: Vec::new(),
            into: true,
            table: *table,
            source: source.relation,
            on,
            clauses,
            output: None,
        })))
    }

    fn merge_clause(&mut self) -> Result<MergeClause> {
        let when = self.take();
        let clause_kind = if self.accept_word(K::Not) { MergeClauseKind::NotMatched } else { MergeClauseKind::Matched };
        self.expect_word(K::Matched)?;
        let predicate = if self.accept_word(K::And) { Some(self.expr()?) } else { None };
        self.expect_word(K::Then)?;
        let matched = clause_kind == MergeClauseKind::Matched;
        let action = match self.keyword() {
            K::Do => {
                self.expect_words(&[K::Do, K::Nothing])?;
                MergeAction::DoNothing { do_token: AttachedToken::empty(), nothing_token: AttachedToken::empty() }
            }
            K::Delete if matched => {
                self.take();
                MergeAction::Delete { delete_token: AttachedToken::empty() }
            }
            K::Update if matched => {
                self.expect_words(&[K::Update, K::Set])?;
                MergeAction::Update(MergeUpdateExpr {
                    update_token: AttachedToken::empty(),
                    kind: MergeUpdateKind::Set(self.list(Self::assignment)?),
                    update_predicate: None,
                    delete_predicate: None,
                })
            }
            K::Insert if !matched => self.merge_insert()?,
            _ => return Err(self.unexpected()),
        };
        Ok(MergeClause { when_token: self.attached(when), clause_kind, predicate, action })
    }

    fn merge_insert(&mut self) -> Result<MergeAction> {
        self.take();
        let columns =
            if self.kind() == Kind::LeftParen { self.parenthesized(Self::insert_column)? } else { Vec::new() };
        if self.accept_word(K::Overriding) {
            return Err(SqlError::unsupported("OVERRIDING in MERGE"));
        }
        let content = if self.accept_words(&[K::Default, K::Values]) {
            Vec::new()
        } else {
            self.expect_word(K::Values)?;
            self.parenthesized(Self::expr)?
        };
        let row = Parens { opening_token: AttachedToken::empty(), content, closing_token: AttachedToken::empty() };
        Ok(MergeAction::Insert(MergeInsertExpr {
            insert_token: AttachedToken::empty(),
            columns,
            kind_token: AttachedToken::empty(),
            kind: MergeInsertKind::Values(Values { explicit_row: false, value_keyword: false, rows: vec![row] }),
            insert_predicate: None,
        }))
    }
}
