//! CREATE TABLE: columns, constraints, LIKE; CREATE TABLE AS.

use crate::parse::ast::Ident;

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::ddl::{
    ColumnConstraint, ColumnConstraintKind, ColumnDefinition, ConstraintAttributes, CreateTable, CreateTableAs, Ddl,
    KeyAction, LikeOption, OnCommit, Persistence, References, TableConstraint, TableConstraintKind, TableElement,
    TableSource,
};
use crate::parse::keywords::Keyword as K;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// CREATE TABLE, from the word TABLE on.
    pub(crate) fn create_table(&mut self, persistence: Persistence) -> Result<Ddl> {
        self.expect_word(K::Table)?;
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        if self.creates_from_query() {
            let columns = if self.kind() == Kind::LeftParen { self.parenthesized(Self::ident)? } else { Vec::new() };
            return self.create_table_as(persistence, if_not_exists, name, columns, false);
        }
        let mut table = CreateTable {
            persistence,
            if_not_exists,
            name,
            elements: Vec::new(),
            inherits: Vec::new(),
            unsupported: None,
            on_commit: OnCommit::PreserveRows,
        };
        if self.accept_word(K::Of) {
            return Err(SqlError::unsupported("CREATE TABLE OF a type"));
        }
        if self.keyword() == K::Partition {
            return Err(SqlError::unsupported("PARTITION OF"));
        }
        self.expect(Kind::LeftParen)?;
        if self.kind() != Kind::RightParen {
            table.elements = self.list(Self::table_element)?;
        }
        self.expect(Kind::RightParen)?;
        if self.accept_word(K::Inherits) {
            table.inherits = self.parenthesized(Self::object_name)?;
            table.unsupported = Some("INHERITS");
        }
        if self.accept_words(&[K::Partition, K::By]) {
            table.unsupported = Some("PARTITION BY");
            self.label()?;
            self.skip_parentheses()?;
        }
        table.on_commit = self.table_options()?;
        Ok(Ddl::CreateTable(table))
    }

    /// Whether AS, WITH or ON COMMIT, and then AS, follow the name or its columns: then a query fills the table.
    fn creates_from_query(&mut self) -> bool {
        let mark = self.mark();
        if self.kind() == Kind::LeftParen && self.parenthesized(Self::ident).is_err() {
            self.back_to(mark);
            return false;
        }
        let options = self.table_options();
        let found = options.is_ok() && self.keyword() == K::As;
        self.back_to(mark);
        found
    }

    /// USING, WITH, WITHOUT OIDS, ON COMMIT, TABLESPACE
    fn table_options(&mut self) -> Result<OnCommit> {
        let mut on_commit = OnCommit::PreserveRows;
        loop {
            match self.keyword() {
                K::Using => {
                    self.take();
                    self.name()?;
                }
                K::With if self.kind_at(1) == Kind::LeftParen => {
                    self.take();
                    self.skip_parentheses()?;
                }
                K::Without => self.expect_words(&[K::Without, K::Oids])?,
                K::Tablespace => {
                    self.take();
                    self.name()?;
                }
                K::On => {
                    self.expect_words(&[K::On, K::Commit])?;
                    on_commit = if self.accept_word(K::Drop) {
                        OnCommit::Drop
                    } else if self.accept_words(&[K::Delete, K::Rows]) {
                        OnCommit::DeleteRows
                    } else {
                        self.expect_words(&[K::Preserve, K::Rows])?;
                        OnCommit::PreserveRows
                    };
                }
                _ => return Ok(on_commit),
            }
        }
    }

    fn create_table_as(
        &mut self,
        persistence: Persistence,
        if_not_exists: bool,
        name: crate::parse::ast::ObjectName,
        columns: Vec<Ident>,
        materialized: bool,
    ) -> Result<Ddl> {
        let on_commit = self.table_options()?;
        self.expect_word(K::As)?;
        let mark = self.mark();
        let source = if self.accept_word(K::Execute) {
            let (name, arguments) = self.execute()?;
            TableSource::Execute { name, arguments }
        } else {
            TableSource::Query(self.query()?)
        };
        let text = self.text_since(mark).to_owned();
        let with_data = self.with_data()?;
        Ok(Ddl::CreateTableAs(CreateTableAs {
            persistence,
            materialized,
            if_not_exists,
            name,
            columns,
            source,
            text,
            with_data,
            on_commit,
            select_into: false,
        }))
    }

    /// WITH [NO] DATA
    pub(crate) fn with_data(&mut self) -> Result<bool> {
        if !self.accept_word(K::With) {
            return Ok(true);
        }
        let none = self.accept_word(K::No);
        self.expect_word(K::Data)?;
        Ok(!none)
    }

    /// CREATE MATERIALIZED VIEW
    pub(crate) fn create_materialized_view(&mut self) -> Result<Ddl> {
        self.expect_words(&[K::Materialized, K::View])?;
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let columns = if self.kind() == Kind::LeftParen { self.parenthesized(Self::ident)? } else { Vec::new() };
        self.create_table_as(Persistence::Permanent, if_not_exists, name, columns, true)
    }

    fn table_element(&mut self) -> Result<TableElement> {
        match self.keyword() {
            K::Like => {
                self.take();
                let table = self.object_name()?;
                Ok(TableElement::Like { table, options: self.like_options()? })
            }
            K::Constraint | K::Check | K::Unique | K::Primary | K::Foreign | K::Exclude
                if self.keyword() != K::Exclude
                    || matches!(self.kind_at(1), Kind::LeftParen | Kind::Word(K::Using)) =>
            {
                self.table_constraint().map(TableElement::Constraint)
            }
            _ => self.column_definition().map(TableElement::Column),
        }
    }

    fn like_options(&mut self) -> Result<Vec<(LikeOption, bool)>> {
        let mut options = Vec::new();
        while matches!(self.keyword(), K::Including | K::Excluding) {
            let including = self.take().kind.keyword() == K::Including;
            let option = match self.keyword() {
                K::Comments => LikeOption::Comments,
                K::Compression => LikeOption::Compression,
                K::Constraints => LikeOption::Constraints,
                K::Defaults => LikeOption::Defaults,
                K::Generated => LikeOption::Generated,
                K::Identity => LikeOption::Identity,
                K::Indexes => LikeOption::Indexes,
                K::Statistics => LikeOption::Statistics,
                K::Storage => LikeOption::Storage,
                K::All => LikeOption::All,
                _ => return Err(self.unexpected()),
            };
            self.take();
            options.push((option, including));
        }
        Ok(options)
    }

    /// A column with its type and constraints.
    pub(crate) fn column_definition(&mut self) -> Result<ColumnDefinition> {
        let name = self.ident()?;
        let data_type = self.data_type()?;
        let (mut collation, mut constraints) = (None, Vec::new());
        loop {
            if self.accept_word(K::Collate) {
                collation = Some(self.any_name()?);
            } else if self.accept_word(K::Compression) || self.accept_word(K::Storage) {
                self.label()?;
            } else if let Some(constraint) = self.column_constraint()? {
                constraints.push(constraint);
            } else {
                return Ok(ColumnDefinition { name, data_type, collation, constraints });
            }
        }
    }

    /// A constraint of a column or a domain, if one follows.
    pub(crate) fn column_constraint(&mut self) -> Result<Option<ColumnConstraint>> {
        let name = if self.accept_word(K::Constraint) { Some(self.ident()?) } else { None };
        let kind = match self.keyword() {
            K::Not if self.keyword_at(1) == K::Null => {
                self.take();
                self.take();
                ColumnConstraintKind::NotNull
            }
            K::Null => {
                self.take();
                ColumnConstraintKind::Null
            }
            K::Default => {
                self.take();
                ColumnConstraintKind::Default(*self.restricted_expr()?)
            }
            K::Check => ColumnConstraintKind::Check(self.check()?),
            K::Unique => {
                self.take();
                let nulls_not_distinct = self.nulls_distinct()?;
                self.index_parameters()?;
                ColumnConstraintKind::Unique { nulls_not_distinct }
            }
            K::Primary => {
                self.expect_words(&[K::Primary, K::Key])?;
                self.index_parameters()?;
                ColumnConstraintKind::PrimaryKey
            }
            K::References => ColumnConstraintKind::References(self.references()?),
            K::Generated => self.generated()?,
            _ if name.is_some() => return Err(self.unexpected()),
            _ => return Ok(None),
        };
        let attributes = self.constraint_attributes()?;
        Ok(Some(ColumnConstraint { name, kind, attributes }))
    }

    fn check(&mut self) -> Result<crate::parse::ast::Expr> {
        self.expect_word(K::Check)?;
        self.expect(Kind::LeftParen)?;
        let condition = self.expr()?;
        self.expect(Kind::RightParen)?;
        Ok(condition)
    }

    /// WITH (…) and USING INDEX TABLESPACE of a constraint.
    fn index_parameters(&mut self) -> Result<()> {
        if self.keyword() == K::With && self.kind_at(1) == Kind::LeftParen {
            self.take();
            self.skip_parentheses()?;
        }
        if self.accept_words(&[K::Using, K::Index, K::Tablespace]) {
            self.name()?;
        }
        Ok(())
    }

    fn generated(&mut self) -> Result<ColumnConstraintKind> {
        self.take();
        let always = self.generation_kind()?;
        self.expect_word(K::As)?;
        if self.accept_word(K::Identity) {
            let mut options = Vec::new();
            if self.accept(Kind::LeftParen) {
                options = self.sequence_options()?;
                self.expect(Kind::RightParen)?;
            }
            return Ok(ColumnConstraintKind::Identity { always, options });
        }
        if !always {
            return Err(SqlError::syntax("for a generated column, GENERATED ALWAYS must be specified")
                .at(self.peek().position as usize));
        }
        self.expect(Kind::LeftParen)?;
        let expr = self.expr()?;
        self.expect(Kind::RightParen)?;
        self.expect_word(K::Stored)?;
        Ok(ColumnConstraintKind::Generated(expr))
    }

    /// ALWAYS (true) or BY DEFAULT (false).
    pub(crate) fn generation_kind(&mut self) -> Result<bool> {
        if self.accept_word(K::Always) {
            return Ok(true);
        }
        self.expect_words(&[K::By, K::Default])?;
        Ok(false)
    }

    /// DEFERRABLE, INITIALLY, NOT VALID, NO INHERIT.
    pub(crate) fn constraint_attributes(&mut self) -> Result<ConstraintAttributes> {
        let mut attributes = ConstraintAttributes::default();
        loop {
            match (self.keyword(), self.keyword_at(1)) {
                (K::Deferrable, _) => {
                    self.take();
                    attributes.deferrable = true;
                }
                (K::Not, K::Deferrable) => {
                    self.take();
                    self.take();
                }
                (K::Initially, K::Deferred) => {
                    self.take();
                    self.take();
                    attributes.deferrable = true;
                    attributes.initially_deferred = true;
                }
                (K::Initially, K::Immediate) => {
                    self.take();
                    self.take();
                }
                (K::Not, K::Valid) => {
                    self.take();
                    self.take();
                    attributes.not_valid = true;
                }
                (K::No, K::Inherit) => {
                    self.take();
                    self.take();
                    attributes.no_inherit = true;
                }
                _ => return Ok(attributes),
            }
        }
    }

    /// A constraint of a table, with its name.
    pub(crate) fn table_constraint(&mut self) -> Result<TableConstraint> {
        let name = if self.accept_word(K::Constraint) { Some(self.ident()?) } else { None };
        let kind = match self.keyword() {
            K::Check => TableConstraintKind::Check(self.check()?),
            K::Unique => {
                self.take();
                self.unique_constraint(false)?
            }
            K::Primary => {
                self.expect_words(&[K::Primary, K::Key])?;
                self.unique_constraint(true)?
            }
            K::Foreign => {
                self.expect_words(&[K::Foreign, K::Key])?;
                let columns = self.parenthesized(Self::ident)?;
                TableConstraintKind::ForeignKey { columns, references: self.references()? }
            }
            K::Exclude => {
                self.take();
                if self.accept_word(K::Using) {
                    self.name()?;
                }
                self.skip_parentheses()?;
                self.index_parameters()?;
                if self.accept_word(K::Where) {
                    self.skip_parentheses()?;
                }
                TableConstraintKind::Exclude
            }
            _ => return Err(self.unexpected()),
        };
        let attributes = self.constraint_attributes()?;
        Ok(TableConstraint { name, kind, attributes })
    }

    fn unique_constraint(&mut self, primary: bool) -> Result<TableConstraintKind> {
        if self.accept_words(&[K::Using, K::Index]) {
            return Ok(TableConstraintKind::UsingIndex { primary, index: self.ident()? });
        }
        let nulls_not_distinct = !primary && self.nulls_distinct()?;
        let columns = self.parenthesized(Self::ident)?;
        let include = if self.accept_word(K::Include) { self.parenthesized(Self::ident)? } else { Vec::new() };
        self.index_parameters()?;
        Ok(TableConstraintKind::Unique { primary, nulls_not_distinct, columns, include })
    }

    fn references(&mut self) -> Result<References> {
        self.expect_word(K::References)?;
        let mut references = References {
            table: self.object_name()?,
            columns: Vec::new(),
            match_full: false,
            match_partial: false,
            on_delete: KeyAction::NoAction,
            on_update: KeyAction::NoAction,
        };
        if self.kind() == Kind::LeftParen {
            references.columns = self.parenthesized(Self::ident)?;
        }
        if self.accept_word(K::Match) {
            match self.keyword() {
                K::Full => references.match_full = true,
                K::Partial => references.match_partial = true,
                K::Simple => {}
                _ => return Err(self.unexpected()),
            }
            self.take();
        }
        while self.keyword() == K::On {
            match self.keyword_at(1) {
                K::Delete => {
                    self.take();
                    self.take();
                    references.on_delete = self.key_action()?;
                }
                K::Update => {
                    self.take();
                    self.take();
                    references.on_update = self.key_action()?;
                }
                _ => {
                    self.take();
                    return Err(self.unexpected());
                }
            }
        }
        Ok(references)
    }

    fn key_action(&mut self) -> Result<KeyAction> {
        if self.accept_words(&[K::No, K::Action]) {
            return Ok(KeyAction::NoAction);
        }
        match self.keyword() {
            K::Restrict => {
                self.take();
                Ok(KeyAction::Restrict)
            }
            K::Cascade => {
                self.take();
                Ok(KeyAction::Cascade)
            }
            _ => {
                self.expect_word(K::Set)?;
                let null = self.accept_word(K::Null);
                if !null {
                    self.expect_word(K::Default)?;
                }
                let columns =
                    if self.kind() == Kind::LeftParen { self.parenthesized(Self::ident)? } else { Vec::new() };
                Ok(if null { KeyAction::SetNull(columns) } else { KeyAction::SetDefault(columns) })
            }
        }
    }
}
