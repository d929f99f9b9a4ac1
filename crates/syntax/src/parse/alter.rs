//! ALTER, DROP, COMMENT, TRUNCATE, REFRESH, and what is accepted without doing anything.

use crate::parse::ast::{DataType, Ident, ObjectName};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::ddl::{
    AttributeAction, Ddl, DomainAction, ObjectKind, ObjectRef, Rename, RenameWhat, SequenceOption, TableAction,
    WhichTriggers,
};
use crate::parse::keywords::Keyword as K;
use crate::parse::statement::Statement;
use crate::parse::token::Kind;

/// The words of kinds of objects, longer ones first.
const KINDS: &[(&[K], ObjectKind)] = &[
    (&[K::Materialized, K::View], ObjectKind::MaterializedView),
    (&[K::Foreign, K::Table], ObjectKind::ForeignTable),
    (&[K::Table], ObjectKind::Table),
    (&[K::Column], ObjectKind::Column),
    (&[K::Index], ObjectKind::Index),
    (&[K::View], ObjectKind::View),
    (&[K::Sequence], ObjectKind::Sequence),
    (&[K::Schema], ObjectKind::Schema),
    (&[K::Type], ObjectKind::Type),
    (&[K::Domain], ObjectKind::Domain),
    (&[K::Function], ObjectKind::Function),
    (&[K::Procedure], ObjectKind::Procedure),
    (&[K::Routine], ObjectKind::Routine),
    (&[K::Aggregate], ObjectKind::Aggregate),
    (&[K::Trigger], ObjectKind::Trigger),
    (&[K::Constraint], ObjectKind::Constraint),
    (&[K::Extension], ObjectKind::Extension),
    (&[K::Database], ObjectKind::Database),
    (&[K::Role], ObjectKind::Role),
    (&[K::User], ObjectKind::Role),
    (&[K::Group], ObjectKind::Role),
    (&[K::Collation], ObjectKind::Collation),
    (&[K::Rule], ObjectKind::Rule),
    (&[K::Policy], ObjectKind::Policy),
    (&[K::Operator], ObjectKind::Operator),
    (&[K::Cast], ObjectKind::Cast),
    (&[K::Language], ObjectKind::Language),
    (&[K::Server], ObjectKind::Server),
    (&[K::Tablespace], ObjectKind::Tablespace),
    (&[K::Statistics], ObjectKind::Statistics),
    (&[K::Publication], ObjectKind::Publication),
    (&[K::Subscription], ObjectKind::Subscription),
];

impl Cursor<'_> {
    fn object_kind(&mut self) -> Option<ObjectKind> {
        KINDS.iter().find(|(words, _)| self.accept_words(words)).map(|(_, kind)| *kind)
    }

    pub(crate) fn if_exists(&mut self) -> bool {
        self.accept_words(&[K::If, K::Exists])
    }

    /// RESTRICT (false) or CASCADE (true).
    fn cascade(&mut self) -> bool {
        let cascade = self.accept_word(K::Cascade);
        if !cascade {
            self.accept_word(K::Restrict);
        }
        cascade
    }

    /// The name of an object of this kind, with what belongs to it.
    fn object_ref(&mut self, kind: ObjectKind) -> Result<ObjectRef> {
        let name = match kind {
            ObjectKind::Function
            | ObjectKind::Procedure
            | ObjectKind::Routine
            | ObjectKind::Type
            | ObjectKind::Domain => self.any_name()?,
            _ => self.object_name()?,
        };
        let mut object = ObjectRef { name, of: None, arguments: None };
        let takes_arguments =
            matches!(kind, ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine | ObjectKind::Aggregate);
        if takes_arguments && self.kind() == Kind::LeftParen {
            object.arguments = Some(self.parameters()?);
        }
        Ok(object)
    }

    /// `name ON table`, of triggers, rules, constraints.
    fn object_of(&mut self, kind: ObjectKind) -> Result<(ObjectKind, ObjectRef)> {
        let mut object = self.object_ref(kind)?;
        let mut kind = kind;
        if matches!(kind, ObjectKind::Trigger | ObjectKind::Rule | ObjectKind::Policy | ObjectKind::Constraint) {
            self.expect_word(K::On)?;
            if kind == ObjectKind::Constraint && self.accept_word(K::Domain) {
                kind = ObjectKind::DomainConstraint;
            }
            object.of = Some(self.any_name()?);
        }
        Ok((kind, object))
    }

    /// DROP
    pub(crate) fn drop(&mut self) -> Result<Statement> {
        self.take();
        if self.keyword() == K::Owned {
            return self.ignored_after("DROP");
        }
        let start = self.peek();
        let Some(object) = self.object_kind() else { return Err(self.unexpected()) };
        match object {
            ObjectKind::Role => return self.drop_role(),
            ObjectKind::Database => return self.drop_database(),
            ObjectKind::Tablespace | ObjectKind::Statistics | ObjectKind::Language => {
                let words = self.text_of(start).to_uppercase();
                self.skip_rest();
                return Ok(Statement::Ignored { tag: format!("DROP {words}") });
            }
            ObjectKind::Operator | ObjectKind::Cast | ObjectKind::Column | ObjectKind::Constraint => {
                return Err(SqlError::unsupported(format!("DROP {}", self.text_of(start).to_uppercase())));
            }
            _ => {}
        }
        if object == ObjectKind::Index {
            self.accept_word(K::Concurrently);
        }
        let if_exists = self.if_exists();
        let names = self.list(|cursor| Ok(cursor.object_of(object)?.1))?;
        let cascade = self.cascade();
        Ok(schema(Ddl::Drop { object, if_exists, names, cascade }))
    }

    /// COMMENT ON
    pub(crate) fn comment(&mut self) -> Result<Statement> {
        self.take();
        self.expect_word(K::On)?;
        let start = self.mark();
        let Some(object) = self.object_kind() else {
            // Of something that there is none of.
            while !matches!(self.kind(), Kind::End | Kind::Word(K::Is)) {
                self.take();
            }
            let what = self.text_since(start).to_owned();
            return Err(SqlError::unsupported(format!("COMMENT ON {what}")));
        };
        if matches!(object, ObjectKind::Operator | ObjectKind::Cast) {
            return Err(SqlError::unsupported("COMMENT ON an operator or a cast"));
        }
        let (object, name) = self.object_of(object)?;
        self.expect_word(K::Is)?;
        let text = if self.accept_word(K::Null) { None } else { Some(self.string()?) };
        Ok(schema(Ddl::Comment { object, name, text }))
    }

    /// TRUNCATE
    pub(crate) fn truncate(&mut self) -> Result<Statement> {
        self.take();
        self.accept_word(K::Table);
        let tables = self.list(Self::relation_name)?;
        let restart_identity = self.accept_words(&[K::Restart, K::Identity]);
        if !restart_identity {
            self.accept_words(&[K::Continue, K::Identity]);
        }
        let cascade = self.cascade();
        Ok(schema(Ddl::Truncate { tables, restart_identity, cascade }))
    }

    /// REFRESH MATERIALIZED VIEW
    pub(crate) fn refresh(&mut self) -> Result<Statement> {
        self.expect_words(&[K::Refresh, K::Materialized, K::View])?;
        let concurrently = self.accept_word(K::Concurrently);
        let name = self.object_name()?;
        let with_data = self.with_data()?;
        Ok(schema(Ddl::Refresh { name, with_data, concurrently }))
    }

    /// Statements that do nothing here.
    pub(crate) fn ignored(&mut self) -> Result<Statement> {
        let first = self.take();
        let word = self.text_of(first).to_uppercase();
        let second = self.text_of(self.peek()).to_uppercase();
        if self.kind() == Kind::End {
            return Err(self.unexpected());
        }
        self.skip_rest();
        let tag = match word.as_str() {
            "REASSIGN" => "REASSIGN OWNED".to_owned(),
            "SECURITY" => "SECURITY LABEL".to_owned(),
            "IMPORT" => return Err(SqlError::unsupported(format!("IMPORT {second}"))),
            _ => word,
        };
        Ok(Statement::Ignored { tag })
    }

    /// CREATE ROLE and the like: what follows the object's kind says nothing here.
    pub(crate) fn ignored_after(&mut self, verb: &str) -> Result<Statement> {
        let kind = match self.keyword() {
            K::User | K::Group => "ROLE",
            K::Trusted | K::Procedural => "LANGUAGE",
            keyword => keyword.text(),
        };
        let tag = format!("{verb} {}", kind.to_uppercase());
        self.take();
        if self.kind() == Kind::End {
            return Err(self.unexpected());
        }
        self.skip_rest();
        Ok(Statement::Ignored { tag })
    }

    pub(crate) fn skip_rest(&mut self) {
        while !matches!(self.kind(), Kind::End | Kind::Semicolon) {
            self.take();
        }
    }

    /// ALTER
    pub(crate) fn alter(&mut self) -> Result<Statement> {
        self.take();
        match self.keyword() {
            K::Role | K::User | K::Group | K::Extension | K::System | K::Tablespace | K::Statistics | K::Language => {
                return self.ignored_after("ALTER");
            }
            K::Database => return self.alter_database(),
            K::Default => {
                self.expect_words(&[K::Default, K::Privileges])?;
                self.skip_rest();
                return Ok(Statement::Ignored { tag: "ALTER DEFAULT PRIVILEGES".to_owned() });
            }
            K::Large => return Err(SqlError::unsupported("ALTER LARGE OBJECT")),
            _ => {}
        }
        let start = self.peek();
        let Some(object) = self.object_kind() else { return Err(self.unexpected()) };
        let ddl = match object {
            ObjectKind::Table
            | ObjectKind::Index
            | ObjectKind::View
            | ObjectKind::MaterializedView
            | ObjectKind::Sequence
            | ObjectKind::Schema
            | ObjectKind::Trigger
            | ObjectKind::Domain
            | ObjectKind::Function
            | ObjectKind::Procedure
            | ObjectKind::Routine
            | ObjectKind::Type
            | ObjectKind::Collation => self.alter_object(object)?,
            _ => return Err(SqlError::unsupported(format!("ALTER {}", self.text_of(start).to_uppercase()))),
        };
        Ok(schema(ddl))
    }

    fn alter_object(&mut self, object: ObjectKind) -> Result<Ddl> {
        let if_exists = self.if_exists();
        if object == ObjectKind::Index && self.accept_words(&[K::All, K::In]) {
            return Err(SqlError::unsupported("ALTER INDEX ALL IN TABLESPACE"));
        }
        let only = self.accept_word(K::Only);
        let (object, name) = self.object_of(object)?;
        if !only {
            self.accept(Kind::Star);
        }
        if self.accept_word(K::Rename) {
            return self.rename(object, if_exists, name);
        }
        if self.accept_words(&[K::Set, K::Schema]) {
            return Ok(Ddl::SetSchema { object, if_exists, name, schema: self.ident()? });
        }
        if self.keyword() == K::Owner && self.keyword_at(1) == K::To && self.only_action() {
            self.take();
            self.take();
            self.label()?;
            return Ok(Ddl::SetOwner { object, if_exists, name });
        }
        match object {
            ObjectKind::Sequence => {
                let mut options: Vec<SequenceOption> = Vec::new();
                while let Some(option) = self.alter_sequence_option()? {
                    options.push(option);
                }
                if options.is_empty() {
                    return Err(self.unexpected());
                }
                Ok(Ddl::AlterSequence { if_exists, name: name.name, options })
            }
            ObjectKind::Domain => Ok(Ddl::AlterDomain { name: name.name, action: self.domain_action()? }),
            ObjectKind::Type => self.alter_type(name.name),
            ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => {
                let mut options = Vec::new();
                while let Some(option) = self.function_option(false)? {
                    options.push(option);
                }
                self.accept_word(K::Restrict);
                Ok(Ddl::AlterFunction { object, name, options })
            }
            ObjectKind::Collation => Err(SqlError::unsupported("this form of ALTER COLLATION")),
            ObjectKind::Trigger | ObjectKind::Schema => Err(self.unexpected()),
            _ => {
                let actions = self.list(Self::table_action)?;
                Ok(Ddl::AlterTable { object, if_exists, name: name.name, actions })
            }
        }
    }

    /// Whether OWNER TO is all that is done: no comma after it.
    fn only_action(&self) -> bool {
        self.kind_at(3) != Kind::Comma
    }

    fn alter_sequence_option(&mut self) -> Result<Option<SequenceOption>> {
        if self.keyword() == K::Set && matches!(self.keyword_at(1), K::Logged | K::Unlogged) {
            self.take();
        }
        self.sequence_option()
    }

    fn rename(&mut self, object: ObjectKind, if_exists: bool, name: ObjectRef) -> Result<Ddl> {
        if object == ObjectKind::Type && self.accept_word(K::Value) {
            let from = self.string()?;
            self.expect_word(K::To)?;
            return Ok(Ddl::RenameEnumValue { name: name.name, from, to: self.string()? });
        }
        let what = if self.keyword() == K::To {
            RenameWhat::Object
        } else if self.accept_word(K::Constraint) {
            RenameWhat::Constraint(self.name()?)
        } else {
            let _ = self.accept_word(K::Column) || self.accept_word(K::Attribute);
            RenameWhat::Column(self.name()?)
        };
        self.expect_word(K::To)?;
        let to = self.name()?;
        self.cascade();
        Ok(Ddl::Rename(Rename { object, if_exists, name, what, to }))
    }

    fn alter_type(&mut self, name: ObjectName) -> Result<Ddl> {
        if self.accept_words(&[K::Add, K::Value]) {
            let if_not_exists = self.if_not_exists();
            let value = self.string()?;
            let neighbour = match self.keyword() {
                K::Before => {
                    self.take();
                    Some((true, self.string()?))
                }
                K::After => {
                    self.take();
                    Some((false, self.string()?))
                }
                _ => None,
            };
            return Ok(Ddl::AddEnumValue { name, if_not_exists, value, neighbour });
        }
        match self.keyword() {
            K::Add | K::Drop | K::Alter => {
                Ok(Ddl::AlterComposite { name, actions: self.list(Self::attribute_action)? })
            }
            K::Set => Err(SqlError::unsupported("ALTER TYPE … SET")),
            _ => Err(self.unexpected()),
        }
    }

    fn attribute_action(&mut self) -> Result<AttributeAction> {
        let action = match self.keyword() {
            K::Add => {
                self.take();
                self.expect_word(K::Attribute)?;
                let name = self.ident()?;
                AttributeAction::Add { name, data_type: self.attribute_type()? }
            }
            K::Drop => {
                self.take();
                self.expect_word(K::Attribute)?;
                let if_exists = self.if_exists();
                let name = self.ident()?;
                return Ok(AttributeAction::Drop { name, if_exists, cascade: self.cascade() });
            }
            K::Alter => {
                self.take();
                self.expect_word(K::Attribute)?;
                let name = self.ident()?;
                let _ = self.accept_words(&[K::Set, K::Data]);
                self.expect_word(K::Type)?;
                AttributeAction::Type { name, data_type: self.attribute_type()? }
            }
            _ => return Err(self.unexpected()),
        };
        self.cascade();
        Ok(action)
    }

    fn attribute_type(&mut self) -> Result<DataType> {
        let data_type = self.data_type()?;
        if self.accept_word(K::Collate) {
            self.any_name()?;
        }
        Ok(data_type)
    }

    fn domain_action(&mut self) -> Result<DomainAction> {
        match self.keyword() {
            K::Set => {
                self.take();
                if self.accept_words(&[K::Not, K::Null]) {
                    return Ok(DomainAction::NotNull(true));
                }
                self.expect_word(K::Default)?;
                Ok(DomainAction::Default(Some(self.expr()?)))
            }
            K::Drop => {
                self.take();
                if self.accept_word(K::Default) {
                    return Ok(DomainAction::Default(None));
                }
                if self.accept_words(&[K::Not, K::Null]) {
                    return Ok(DomainAction::NotNull(false));
                }
                self.expect_word(K::Constraint)?;
                let if_exists = self.if_exists();
                Ok(DomainAction::Drop { if_exists, name: self.name()?, cascade: self.cascade() })
            }
            K::Add => {
                self.take();
                match self.column_constraint()? {
                    Some(constraint) => Ok(DomainAction::Add(constraint)),
                    None => Err(self.unexpected()),
                }
            }
            _ => {
                self.expect_words(&[K::Validate, K::Constraint])?;
                Ok(DomainAction::Validate(self.name()?))
            }
        }
    }

    fn table_action(&mut self) -> Result<TableAction> {
        match self.keyword() {
            K::Add => self.add_action(),
            K::Drop => self.drop_action(),
            K::Alter => self.alter_action(),
            K::Validate => {
                self.expect_words(&[K::Validate, K::Constraint])?;
                Ok(TableAction::ValidateConstraint(self.name()?))
            }
            K::Enable | K::Disable => self.enable_action(),
            K::Owner => {
                self.expect_words(&[K::Owner, K::To])?;
                self.label()?;
                Ok(TableAction::Ignored)
            }
            K::Cluster => {
                self.expect_words(&[K::Cluster, K::On])?;
                self.name()?;
                Ok(TableAction::Ignored)
            }
            K::Set | K::Reset => {
                self.take();
                match self.keyword() {
                    K::Tablespace => {
                        self.take();
                        self.name()?;
                    }
                    K::Without => {
                        self.take();
                        self.take();
                    }
                    K::Logged | K::Unlogged => {
                        self.take();
                    }
                    K::Access => {
                        self.expect_words(&[K::Access, K::Method])?;
                        self.name()?;
                    }
                    _ => self.skip_parentheses()?,
                }
                Ok(TableAction::Ignored)
            }
            K::Replica => {
                self.expect_words(&[K::Replica, K::Identity])?;
                if self.accept_words(&[K::Using, K::Index]) {
                    self.name()?;
                } else {
                    self.take();
                }
                Ok(TableAction::Ignored)
            }
            K::No if self.keyword_at(1) == K::Force => {
                self.expect_words(&[K::No, K::Force, K::Row, K::Level, K::Security])?;
                Ok(TableAction::ForceRowSecurity(false))
            }
            K::Inherit | K::No => self.unsupported_action("INHERIT"),
            K::Attach => self.unsupported_action("ATTACH PARTITION"),
            K::Detach => self.unsupported_action("DETACH PARTITION"),
            K::Of | K::Not => self.unsupported_action("a typed table"),
            K::Force => {
                self.expect_words(&[K::Force, K::Row, K::Level, K::Security])?;
                Ok(TableAction::ForceRowSecurity(true))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn unsupported_action(&mut self, what: &'static str) -> Result<TableAction> {
        self.skip_rest();
        Ok(TableAction::Unsupported(what))
    }

    fn add_action(&mut self) -> Result<TableAction> {
        self.take();
        match self.keyword() {
            K::Constraint | K::Check | K::Unique | K::Primary | K::Foreign | K::Exclude => {
                return self.table_constraint().map(TableAction::AddConstraint);
            }
            _ => {}
        }
        self.accept_word(K::Column);
        let if_not_exists = self.if_not_exists();
        Ok(TableAction::AddColumn { if_not_exists, column: self.column_definition()? })
    }

    fn drop_action(&mut self) -> Result<TableAction> {
        self.take();
        if self.accept_word(K::Constraint) {
            let if_exists = self.if_exists();
            return Ok(TableAction::DropConstraint { if_exists, name: self.name()?, cascade: self.cascade() });
        }
        self.accept_word(K::Column);
        let if_exists = self.if_exists();
        Ok(TableAction::DropColumn { if_exists, name: self.ident()?, cascade: self.cascade() })
    }

    fn enable_action(&mut self) -> Result<TableAction> {
        let enable = self.take().kind.keyword() == K::Enable;
        if self.accept_word(K::Replica) {
            return self.unsupported_action("ENABLE REPLICA");
        }
        self.accept_word(K::Always);
        if self.accept_word(K::Trigger) {
            let which = if self.accept_word(K::All) {
                WhichTriggers::All
            } else if self.accept_word(K::User) {
                WhichTriggers::User
            } else {
                WhichTriggers::Named(self.name()?)
            };
            return Ok(TableAction::EnableTrigger { which, enable });
        }
        if self.accept_word(K::Row) {
            self.expect_words(&[K::Level, K::Security])?;
            return Ok(TableAction::RowSecurity(enable));
        }
        self.unsupported_action("rules")
    }

    fn alter_action(&mut self) -> Result<TableAction> {
        self.take();
        if self.accept_word(K::Constraint) {
            let name = self.name()?;
            return Ok(TableAction::AlterConstraint { name, attributes: self.constraint_attributes()? });
        }
        self.accept_word(K::Column);
        if self.kind() == Kind::Integer {
            self.take();
            return self.ignored_column_action();
        }
        let name = self.ident()?;
        match (self.keyword(), self.keyword_at(1)) {
            (K::Type, _) => {
                self.take();
                self.column_type(name)
            }
            (K::Set, K::Data) => {
                self.expect_words(&[K::Set, K::Data, K::Type])?;
                self.column_type(name)
            }
            (K::Set, K::Default) => {
                self.take();
                self.take();
                Ok(TableAction::SetDefault { name, default: Some(self.expr()?) })
            }
            (K::Drop, K::Default) => {
                self.take();
                self.take();
                Ok(TableAction::SetDefault { name, default: None })
            }
            (K::Set | K::Drop, K::Not) => {
                let not_null = self.take().kind.keyword() == K::Set;
                self.expect_words(&[K::Not, K::Null])?;
                Ok(TableAction::SetNotNull { name, not_null })
            }
            (K::Drop, K::Identity) => {
                self.take();
                self.take();
                Ok(TableAction::DropIdentity { name, if_exists: self.if_exists() })
            }
            (K::Drop, K::Expression) => {
                self.take();
                self.take();
                Ok(TableAction::DropExpression { name, if_exists: self.if_exists() })
            }
            (K::Add, K::Generated) => {
                self.take();
                self.take();
                let always = self.generation_kind()?;
                self.expect_words(&[K::As, K::Identity])?;
                let mut options = Vec::new();
                if self.accept(Kind::LeftParen) {
                    options = self.sequence_options()?;
                    self.expect(Kind::RightParen)?;
                }
                Ok(TableAction::AddIdentity { name, always, options })
            }
            (K::Restart, _) => self.set_identity(name),
            (K::Set, K::Statistics | K::Storage | K::Compression) => self.ignored_column_action(),
            (K::Set, _) if self.kind_at(1) == Kind::LeftParen => self.ignored_column_action(),
            (K::Reset, _) => self.ignored_column_action(),
            (K::Set, _) => self.set_identity(name),
            _ => Err(self.unexpected()),
        }
    }

    /// SET STATISTICS, SET STORAGE, SET (…), RESET (…)
    fn ignored_column_action(&mut self) -> Result<TableAction> {
        self.take();
        if self.kind() == Kind::LeftParen {
            self.skip_parentheses()?;
            return Ok(TableAction::Ignored);
        }
        self.take();
        if matches!(self.kind(), Kind::Minus | Kind::Integer) {
            self.signed_integer()?;
        } else {
            self.label()?;
        }
        Ok(TableAction::Ignored)
    }

    fn set_identity(&mut self, name: Ident) -> Result<TableAction> {
        let (mut always, mut options) = (None, Vec::new());
        loop {
            if self.keyword() == K::Restart {
                options.extend(self.sequence_option()?);
            } else if self.accept_word(K::Set) {
                if self.accept_word(K::Generated) {
                    always = Some(self.generation_kind()?);
                } else {
                    match self.sequence_option()? {
                        Some(option) => options.push(option),
                        None => return Err(self.unexpected()),
                    }
                }
            } else {
                return Ok(TableAction::SetIdentity { name, always, options });
            }
        }
    }

    fn column_type(&mut self, name: Ident) -> Result<TableAction> {
        let data_type = self.data_type()?;
        let collation = if self.accept_word(K::Collate) { Some(self.any_name()?) } else { None };
        let using = if self.accept_word(K::Using) { Some(self.expr()?) } else { None };
        Ok(TableAction::SetType { name, data_type, collation, using })
    }
}

fn schema(ddl: Ddl) -> Statement {
    Statement::Schema(Box::new(ddl))
}
