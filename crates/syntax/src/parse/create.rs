//! CREATE of everything but tables and functions.

use crate::parse::ast::Ident;

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::ddl::{
    CheckOption, CreateCollation, CreateDomain, CreateExtension, CreateIndex, CreateTrigger, CreateView, Ddl,
    IndexElement, Persistence, SequenceOption, TriggerTime, TypeDefinition,
};
use crate::parse::keywords::Keyword as K;
use crate::parse::statement::Statement;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// CREATE
    pub(crate) fn create(&mut self) -> Result<Statement> {
        self.take();
        let or_replace = self.accept_words(&[K::Or, K::Replace]);
        let _ = self.accept_word(K::Global) || self.accept_word(K::Local);
        let persistence = match self.keyword() {
            K::Temporary | K::Temp => Persistence::Temporary,
            K::Unlogged => Persistence::Unlogged,
            _ => Persistence::Permanent,
        };
        if persistence != Persistence::Permanent {
            self.take();
        }
        let temporary = persistence == Persistence::Temporary;
        let ddl = match self.keyword() {
            K::Table => return self.create_table(persistence).map(schema),
            K::Unique | K::Index => self.create_index()?,
            K::View | K::Recursive => self.create_view(or_replace, temporary)?,
            K::Materialized => self.create_materialized_view()?,
            K::Sequence => self.create_sequence(temporary)?,
            K::Schema => self.create_schema()?,
            K::Type => self.create_type()?,
            K::Domain => self.create_domain()?,
            K::Function | K::Procedure => self.create_function(or_replace)?,
            K::Trigger | K::Constraint => self.create_trigger(or_replace)?,
            K::Extension => self.create_extension()?,
            K::Collation => self.create_collation()?,
            K::Database => return self.create_database(),
            K::Role | K::User | K::Group if self.keyword_at(1) != K::Mapping => return self.create_role(),
            K::Role | K::User | K::Group | K::Tablespace | K::Statistics | K::Language | K::Trusted | K::Procedural => {
                return self.ignored_after("CREATE");
            }
            _ => {
                let words = self.rest_words();
                return if words.is_empty() {
                    Err(self.unexpected())
                } else {
                    Err(SqlError::unsupported(format!("CREATE {words}")))
                };
            }
        };
        Ok(schema(ddl))
    }

    /// IF NOT EXISTS
    pub(crate) fn if_not_exists(&mut self) -> bool {
        self.accept_words(&[K::If, K::Not, K::Exists])
    }

    /// The kind of an object that is not known here, for a message: its keywords.
    fn rest_words(&self) -> String {
        let mut words = Vec::new();
        while words.len() < 3
            && let Kind::Word(keyword) = self.kind_at(words.len())
            && keyword != K::Plain
        {
            words.push(keyword.text().to_uppercase());
        }
        words.join(" ")
    }

    fn create_index(&mut self) -> Result<Ddl> {
        let unique = self.accept_word(K::Unique);
        self.expect_word(K::Index)?;
        let concurrently = self.accept_word(K::Concurrently);
        let if_not_exists = self.if_not_exists();
        let name = if self.keyword() == K::On { None } else { Some(self.ident()?) };
        self.expect_word(K::On)?;
        let table = self.relation_name()?;
        let method = if self.accept_word(K::Using) { Some(self.name()?) } else { None };
        let keys = self.parenthesized(Self::index_element)?;
        let include = if self.accept_word(K::Include) { self.parenthesized(Self::ident)? } else { Vec::new() };
        let nulls_not_distinct = self.nulls_distinct()?;
        if self.accept_word(K::With) {
            self.skip_parentheses()?;
        }
        if self.accept_word(K::Tablespace) {
            self.name()?;
        }
        let predicate = if self.accept_word(K::Where) { Some(self.expr()?) } else { None };
        Ok(Ddl::CreateIndex(CreateIndex {
            unique,
            concurrently,
            if_not_exists,
            name,
            table,
            method,
            keys,
            include,
            nulls_not_distinct,
            predicate,
        }))
    }

    /// NULLS [NOT] DISTINCT
    pub(crate) fn nulls_distinct(&mut self) -> Result<bool> {
        if !self.accept_word(K::Nulls) {
            return Ok(false);
        }
        let not = self.accept_word(K::Not);
        self.expect_word(K::Distinct)?;
        Ok(not)
    }

    fn index_element(&mut self) -> Result<IndexElement> {
        let expr = match self.kind() {
            Kind::LeftParen => match *self.parenthesized_expr()? {
                crate::parse::ast::Expr::Nested(inner) => *inner,
                other => other,
            },
            _ if matches!(self.kind_at(1), Kind::LeftParen | Kind::Dot) => *self.primary()?,
            _ => crate::parse::ast::Expr::Identifier(self.ident()?),
        };
        let collation = if self.accept_word(K::Collate) { Some(self.any_name()?) } else { None };
        let mut class = None;
        if self.at_column_name() && self.keyword() != K::Nulls {
            class = Some(self.any_name()?);
            if self.kind() == Kind::LeftParen {
                self.skip_parentheses()?;
            }
        }
        let descending = self.accept_word(K::Desc);
        if !descending {
            self.accept_word(K::Asc);
        }
        let nulls_first = self.nulls_order()?;
        Ok(IndexElement { expr, collation, class, descending, nulls_first })
    }

    /// Skips what is in parentheses.
    pub(crate) fn skip_parentheses(&mut self) -> Result<()> {
        self.expect(Kind::LeftParen)?;
        let mut depth = 1;
        while depth > 0 {
            match self.take().kind {
                Kind::LeftParen => depth += 1,
                Kind::RightParen => depth -= 1,
                Kind::End => return Err(self.unexpected()),
                _ => {}
            }
        }
        Ok(())
    }

    fn create_view(&mut self, or_replace: bool, temporary: bool) -> Result<Ddl> {
        if self.accept_word(K::Recursive) {
            return Err(SqlError::unsupported("CREATE RECURSIVE VIEW"));
        }
        self.expect_word(K::View)?;
        let name = self.object_name()?;
        let columns = if self.kind() == Kind::LeftParen { self.parenthesized(Self::ident)? } else { Vec::new() };
        if self.accept_word(K::With) {
            self.skip_parentheses()?;
        }
        self.expect_word(K::As)?;
        let mark = self.mark();
        let query = self.query()?;
        let text = self.text_since(mark).to_owned();
        let mut check_option = None;
        if self.accept_word(K::With) {
            let local = self.accept_word(K::Local);
            if !local {
                self.accept_word(K::Cascaded);
            }
            self.expect_words(&[K::Check, K::Option])?;
            check_option = Some(if local { CheckOption::Local } else { CheckOption::Cascaded });
        }
        Ok(Ddl::CreateView(CreateView { or_replace, temporary, name, columns, query, text, check_option }))
    }

    fn create_sequence(&mut self, temporary: bool) -> Result<Ddl> {
        self.take();
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let options = self.sequence_options()?;
        Ok(Ddl::CreateSequence { temporary, if_not_exists, name, options })
    }

    /// The options of a sequence, up to what is none.
    pub(crate) fn sequence_options(&mut self) -> Result<Vec<SequenceOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.sequence_option()? {
            options.push(option);
        }
        Ok(options)
    }

    /// An option of a sequence, if one follows.
    pub(crate) fn sequence_option(&mut self) -> Result<Option<SequenceOption>> {
        let option = match self.keyword() {
            K::As => {
                self.take();
                SequenceOption::As(self.data_type()?)
            }
            K::Increment => {
                self.take();
                self.accept_word(K::By);
                SequenceOption::Increment(self.signed_integer()?)
            }
            K::Minvalue => {
                self.take();
                SequenceOption::Minimum(Some(self.signed_integer()?))
            }
            K::Maxvalue => {
                self.take();
                SequenceOption::Maximum(Some(self.signed_integer()?))
            }
            K::Start => {
                self.take();
                self.accept_word(K::With);
                SequenceOption::Start(self.signed_integer()?)
            }
            K::Restart => {
                self.take();
                self.accept_word(K::With);
                let value = match self.kind() {
                    Kind::Integer | Kind::Minus | Kind::Plus => Some(self.signed_integer()?),
                    _ => None,
                };
                SequenceOption::Restart(value)
            }
            K::Cache => {
                self.take();
                SequenceOption::Cache(self.signed_integer()?)
            }
            K::Cycle => {
                self.take();
                SequenceOption::Cycle(true)
            }
            K::No => {
                self.take();
                let option = match self.keyword() {
                    K::Minvalue => SequenceOption::Minimum(None),
                    K::Maxvalue => SequenceOption::Maximum(None),
                    K::Cycle => SequenceOption::Cycle(false),
                    _ => return Err(self.unexpected()),
                };
                self.take();
                option
            }
            K::Owned => {
                self.expect_words(&[K::Owned, K::By])?;
                if self.accept_word(K::None) {
                    SequenceOption::OwnedBy(None)
                } else {
                    SequenceOption::OwnedBy(Some(self.any_name()?))
                }
            }
            K::Sequence if self.keyword_at(1) == K::Name => {
                self.take();
                self.take();
                SequenceOption::Name(self.object_name()?)
            }
            K::Logged | K::Unlogged => {
                self.take();
                SequenceOption::Logged
            }
            _ => return Ok(None),
        };
        Ok(Some(option))
    }

    fn create_schema(&mut self) -> Result<Ddl> {
        self.take();
        let if_not_exists = self.if_not_exists();
        let name = if self.keyword() == K::Authorization { None } else { Some(self.name()?) };
        let owner = if self.accept_word(K::Authorization) { Some(self.label()?.value) } else { None };
        let mut elements = Vec::new();
        while self.keyword() == K::Create && self.keyword_at(1) != K::Schema {
            match self.create()? {
                Statement::Schema(ddl) => elements.push(*ddl),
                _ => return Err(self.unexpected()),
            }
        }
        let Some(name) = name.or(owner) else { return Err(self.unexpected()) };
        Ok(Ddl::CreateSchema { if_not_exists, name, elements })
    }

    fn create_type(&mut self) -> Result<Ddl> {
        self.take();
        let name = self.object_name()?;
        if !self.accept_word(K::As) {
            let definition = match self.kind() {
                Kind::LeftParen => {
                    self.skip_parentheses()?;
                    TypeDefinition::Unsupported("a base type")
                }
                _ => TypeDefinition::Unsupported("a shell type"),
            };
            return Ok(Ddl::CreateType { name, definition });
        }
        let definition = if self.accept_word(K::Enum) {
            self.expect(Kind::LeftParen)?;
            let labels = if self.kind() == Kind::RightParen { Vec::new() } else { self.list(Self::string)? };
            self.expect(Kind::RightParen)?;
            TypeDefinition::Enum(labels)
        } else if self.accept_word(K::Range) {
            self.skip_parentheses()?;
            TypeDefinition::Unsupported("a range type")
        } else {
            self.expect(Kind::LeftParen)?;
            let attribute = |cursor: &mut Self| {
                let name = cursor.ident()?;
                let data_type = cursor.data_type()?;
                if cursor.accept_word(K::Collate) {
                    cursor.any_name()?;
                }
                Ok((name, data_type))
            };
            let attributes = if self.kind() == Kind::RightParen { Vec::new() } else { self.list(attribute)? };
            self.expect(Kind::RightParen)?;
            TypeDefinition::Composite(attributes)
        };
        Ok(Ddl::CreateType { name, definition })
    }

    fn create_domain(&mut self) -> Result<Ddl> {
        self.take();
        let name = self.object_name()?;
        self.accept_word(K::As);
        let data_type = self.data_type()?;
        let (mut collation, mut constraints) = (None, Vec::new());
        loop {
            if self.accept_word(K::Collate) {
                collation = Some(self.any_name()?);
            } else if let Some(constraint) = self.column_constraint()? {
                constraints.push(constraint);
            } else {
                break;
            }
        }
        Ok(Ddl::CreateDomain(CreateDomain { name, data_type, collation, constraints }))
    }

    fn create_collation(&mut self) -> Result<Ddl> {
        self.take();
        let if_not_exists = self.if_not_exists();
        let name = self.any_name()?;
        let (mut from, mut options) = (None, Vec::new());
        if self.accept_word(K::From) {
            from = Some(self.any_name()?);
        } else {
            self.expect(Kind::LeftParen)?;
            options = self.list(|cursor| {
                let option = cursor.label()?.value.to_ascii_lowercase();
                cursor.expect(Kind::Equal)?;
                let value = if cursor.at_string() { cursor.string()? } else { cursor.label()?.value };
                Ok((option, value))
            })?;
            self.expect(Kind::RightParen)?;
        }
        Ok(Ddl::CreateCollation(CreateCollation { if_not_exists, name, from, options }))
    }

    fn create_extension(&mut self) -> Result<Ddl> {
        self.take();
        let if_not_exists = self.if_not_exists();
        let name = self.ident()?;
        let (mut schema, mut version) = (None, None);
        self.accept_word(K::With);
        loop {
            if self.accept_word(K::Schema) {
                schema = Some(self.ident()?);
            } else if self.accept_word(K::Version) {
                version = Some(if self.at_string() { self.string()? } else { self.name()? });
            } else if !self.accept_word(K::Cascade) {
                break;
            }
        }
        Ok(Ddl::CreateExtension(CreateExtension { if_not_exists, name, schema, version }))
    }

    fn create_trigger(&mut self, or_replace: bool) -> Result<Ddl> {
        let constraint = self.accept_word(K::Constraint);
        self.expect_word(K::Trigger)?;
        let name = self.name()?;
        let time = match self.keyword() {
            K::Before => TriggerTime::Before,
            K::After => TriggerTime::After,
            _ => {
                if self.keyword() != K::Instead || self.keyword_at(1) != K::Of {
                    return Err(self.unexpected());
                }
                self.take();
                TriggerTime::InsteadOf
            }
        };
        self.take();
        let mut trigger = CreateTrigger {
            or_replace,
            constraint,
            name,
            time,
            insert: false,
            update: None,
            delete: false,
            truncate: false,
            table: crate::parse::ast::ObjectName(Vec::new()),
            referencing: false,
            each_row: false,
            condition: None,
            function: crate::parse::ast::ObjectName(Vec::new()),
            arguments: Vec::new(),
            attributes: Default::default(),
        };
        self.trigger_events(&mut trigger)?;
        self.expect_word(K::On)?;
        trigger.table = self.object_name()?;
        if self.accept_word(K::From) {
            self.object_name()?;
        }
        trigger.attributes = self.constraint_attributes()?;
        if self.accept_word(K::Referencing) {
            trigger.referencing = true;
            while matches!(self.keyword(), K::New | K::Old) {
                self.take();
                let _ = self.accept_word(K::Table) || self.accept_word(K::Row);
                self.accept_word(K::As);
                self.ident()?;
            }
        }
        if self.accept_word(K::For) {
            self.accept_word(K::Each);
            trigger.each_row = self.accept_word(K::Row);
            if !trigger.each_row {
                self.expect_word(K::Statement)?;
            }
        }
        if self.accept_word(K::When) {
            self.expect(Kind::LeftParen)?;
            trigger.condition = Some(self.expr()?);
            self.expect(Kind::RightParen)?;
        }
        self.expect_word(K::Execute)?;
        if !self.accept_word(K::Function) {
            self.expect_word(K::Procedure)?;
        }
        trigger.function = self.any_name()?;
        self.expect(Kind::LeftParen)?;
        if self.kind() != Kind::RightParen {
            trigger.arguments = self.list(Self::trigger_argument)?;
        }
        self.expect(Kind::RightParen)?;
        Ok(Ddl::CreateTrigger(trigger))
    }

    fn trigger_events(&mut self, trigger: &mut CreateTrigger) -> Result<()> {
        loop {
            match self.keyword() {
                K::Insert => trigger.insert = true,
                K::Delete => trigger.delete = true,
                K::Truncate => trigger.truncate = true,
                K::Update => {
                    let mut columns: Vec<Ident> = Vec::new();
                    if self.keyword_at(1) == K::Of {
                        self.take();
                        self.take();
                        columns = self.list(Self::ident)?;
                        trigger.update = Some(columns);
                        if self.accept_word(K::Or) {
                            continue;
                        }
                        return Ok(());
                    }
                    trigger.update = Some(std::mem::take(&mut columns));
                }
                _ => return Err(self.unexpected()),
            }
            self.take();
            if !self.accept_word(K::Or) {
                return Ok(());
            }
        }
    }

    fn trigger_argument(&mut self) -> Result<String> {
        if self.at_string() {
            return self.string();
        }
        match self.kind() {
            Kind::Integer | Kind::Number => {
                let token = self.take();
                Ok(self.text_of(token).to_owned())
            }
            _ => Ok(self.label()?.value),
        }
    }
}

fn schema(ddl: Ddl) -> Statement {
    Statement::Schema(Box::new(ddl))
}
