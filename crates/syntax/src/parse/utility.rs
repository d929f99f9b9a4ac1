//! Statements about the connection: transactions, settings, cursors, prepared statements, locks, notifications.

use crate::parse::ast::{Expr, ObjectName};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::statement::{
    DeclareCursor, Direction, Discard, Explain, Fetch, Isolation, Set, Statement, TableLock, TransactionMode,
};
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// BEGIN, START TRANSACTION
    pub(crate) fn begin(&mut self) -> Result<Statement> {
        let start = self.take().kind.keyword() == K::Start;
        if start {
            self.expect_word(K::Transaction)?;
        } else {
            self.transaction_word();
        }
        Ok(Statement::Begin { modes: self.transaction_modes(false)?, start })
    }

    fn transaction_word(&mut self) {
        let _ = self.accept_word(K::Work) || self.accept_word(K::Transaction);
    }

    fn chain(&mut self) -> Result<bool> {
        if !self.accept_word(K::And) {
            return Ok(false);
        }
        let chain = !self.accept_word(K::No);
        self.expect_word(K::Chain)?;
        Ok(chain)
    }

    /// COMMIT, END
    pub(crate) fn commit(&mut self) -> Result<Statement> {
        self.take();
        if self.keyword() == K::Prepared {
            return Err(SqlError::unsupported("COMMIT PREPARED"));
        }
        self.transaction_word();
        Ok(Statement::Commit { chain: self.chain()? })
    }

    /// ROLLBACK, ABORT
    pub(crate) fn rollback(&mut self) -> Result<Statement> {
        let abort = self.take().kind.keyword() == K::Abort;
        if self.keyword() == K::Prepared {
            return Err(SqlError::unsupported("ROLLBACK PREPARED"));
        }
        self.transaction_word();
        if !abort && self.accept_word(K::To) {
            self.accept_word(K::Savepoint);
            return Ok(Statement::RollbackTo(self.name()?));
        }
        Ok(Statement::Rollback { chain: self.chain()? })
    }

    /// SAVEPOINT
    pub(crate) fn savepoint(&mut self) -> Result<Statement> {
        self.take();
        Ok(Statement::Savepoint(self.name()?))
    }

    /// RELEASE
    pub(crate) fn release(&mut self) -> Result<Statement> {
        self.take();
        self.accept_word(K::Savepoint);
        Ok(Statement::Release(self.name()?))
    }

    fn transaction_modes(&mut self, needed: bool) -> Result<Vec<TransactionMode>> {
        let mut modes = Vec::new();
        loop {
            let mode = match self.keyword() {
                K::Isolation => {
                    self.expect_words(&[K::Isolation, K::Level])?;
                    TransactionMode::Isolation(self.isolation()?)
                }
                K::Read => {
                    self.take();
                    if self.accept_word(K::Only) {
                        TransactionMode::ReadOnly
                    } else {
                        self.expect_word(K::Write)?;
                        TransactionMode::ReadWrite
                    }
                }
                K::Deferrable => {
                    self.take();
                    TransactionMode::Deferrable(true)
                }
                K::Not => {
                    self.expect_words(&[K::Not, K::Deferrable])?;
                    TransactionMode::Deferrable(false)
                }
                _ if needed && modes.is_empty() => return Err(self.unexpected()),
                _ => return Ok(modes),
            };
            modes.push(mode);
            if self.accept(Kind::Comma) && self.kind() == Kind::End {
                return Err(self.unexpected());
            }
        }
    }

    fn isolation(&mut self) -> Result<Isolation> {
        Ok(match self.keyword() {
            K::Serializable => {
                self.take();
                Isolation::Serializable
            }
            K::Repeatable => {
                self.expect_words(&[K::Repeatable, K::Read])?;
                Isolation::RepeatableRead
            }
            _ => {
                self.expect_word(K::Read)?;
                if self.accept_word(K::Uncommitted) {
                    Isolation::ReadUncommitted
                } else {
                    self.expect_word(K::Committed)?;
                    Isolation::ReadCommitted
                }
            }
        })
    }

    /// SET
    pub(crate) fn set(&mut self) -> Result<Statement> {
        self.take();
        if self.accept_word(K::Constraints) {
            return self.set_constraints();
        }
        if self.accept_words(&[K::Session, K::Characteristics]) {
            self.expect_words(&[K::As, K::Transaction])?;
            return Ok(Statement::SetCharacteristics(self.transaction_modes(true)?));
        }
        let scope = match (self.keyword(), self.kind_at(1)) {
            (K::Local | K::Session, Kind::Word(_) | Kind::Quoted) => self.take().kind.keyword(),
            _ => K::Plain,
        };
        let local = scope == K::Local;
        if self.keyword() == K::Transaction && !matches!(self.kind_at(1), Kind::Equal | Kind::Word(K::To)) {
            self.take();
            if self.accept_word(K::Snapshot) {
                return Err(SqlError::unsupported("SET TRANSACTION SNAPSHOT"));
            }
            return Ok(Statement::SetTransaction(self.transaction_modes(true)?));
        }
        let (name, values) = self.setting()?;
        Ok(Statement::Set(Set { local, name, values }))
    }

    /// A setting and its values, with the words that SQL has for some of them.
    pub(crate) fn setting(&mut self) -> Result<(String, Vec<String>)> {
        let name = match self.keyword() {
            K::Time if self.keyword_at(1) == K::Zone => {
                self.take();
                self.take();
                if matches!(self.keyword(), K::Local | K::Default) {
                    self.take();
                    return Ok(("timezone".to_owned(), Vec::new()));
                }
                return Ok(("timezone".to_owned(), vec![self.zone_value()?]));
            }
            K::Names => {
                self.take();
                let values =
                    if self.at_string() || self.keyword() == K::Default { self.setting_values()? } else { Vec::new() };
                return Ok(("client_encoding".to_owned(), values));
            }
            K::Schema if self.string_follows() => {
                self.take();
                return Ok(("search_path".to_owned(), vec![self.string()?]));
            }
            K::Role if !matches!(self.kind_at(1), Kind::Equal | Kind::Word(K::To)) => {
                self.take();
                return Ok(("role".to_owned(), self.setting_values()?));
            }
            K::Session if self.keyword_at(1) == K::Authorization => {
                self.take();
                self.take();
                return Ok(("session_authorization".to_owned(), self.setting_values()?));
            }
            K::Authorization => {
                self.take();
                return Ok(("session_authorization".to_owned(), self.setting_values()?));
            }
            K::Xml if self.keyword_at(1) == K::Option => {
                self.take();
                self.take();
                return Ok(("xmloption".to_owned(), vec![self.label()?.value]));
            }
            K::Catalog => return Err(SqlError::unsupported("SET CATALOG")),
            _ => self.setting_name()?,
        };
        if self.accept_words(&[K::From, K::Current]) {
            return Ok((name, Vec::new()));
        }
        if !self.accept(Kind::Equal) {
            self.expect_word(K::To)?;
        }
        Ok((name, self.setting_values()?))
    }

    fn string_follows(&self) -> bool {
        matches!(self.kind_at(1), Kind::String | Kind::EscapeString)
    }

    /// `name` or `class.name`, in lower case.
    pub(crate) fn setting_name(&mut self) -> Result<String> {
        let mut name = self.name()?;
        while self.accept(Kind::Dot) {
            name.push('.');
            name.push_str(&self.label()?.value);
        }
        Ok(name.to_ascii_lowercase())
    }

    fn setting_values(&mut self) -> Result<Vec<String>> {
        if self.accept_word(K::Default) {
            return Ok(Vec::new());
        }
        self.list(Self::setting_value)
    }

    fn setting_value(&mut self) -> Result<String> {
        if self.at_string() {
            return self.string();
        }
        match self.kind() {
            Kind::Plus | Kind::Minus | Kind::Integer | Kind::Number => {
                let sign = if self.accept(Kind::Minus) { "-" } else { "" };
                self.accept(Kind::Plus);
                let token = self.take();
                if !matches!(token.kind, Kind::Integer | Kind::Number) {
                    return Err(self.unexpected_at(token));
                }
                Ok(format!("{sign}{}", self.text_of(token)))
            }
            Kind::Word(keyword) => {
                let usable = matches!(keyword, K::True | K::False | K::On | K::Plain) || self.usable_as_value(keyword);
                if usable { Ok(self.take_ident()?.value) } else { Err(self.unexpected()) }
            }
            Kind::Quoted => Ok(self.take_ident()?.value),
            _ => Err(self.unexpected()),
        }
    }

    fn usable_as_value(&self, keyword: K) -> bool {
        keyword.class() != crate::parse::keywords::Class::Reserved
    }

    /// The value of SET TIME ZONE: an interval too.
    fn zone_value(&mut self) -> Result<String> {
        if self.keyword() == K::Interval {
            let token = self.take();
            if !self.at_string() {
                return Err(self.unexpected_at(token));
            }
            let text = self.string()?;
            self.interval_fields()?;
            return Ok(format!("<{text}>{text}"));
        }
        self.setting_value()
    }

    fn set_constraints(&mut self) -> Result<Statement> {
        let names = if self.accept_word(K::All) { Vec::new() } else { self.list(Self::object_name)? };
        let deferred = self.accept_word(K::Deferred);
        if !deferred {
            self.expect_word(K::Immediate)?;
        }
        Ok(Statement::SetConstraints { names, deferred })
    }

    /// RESET and SHOW: a name, or ALL.
    pub(crate) fn named_setting(&mut self) -> Result<Option<String>> {
        self.take();
        if self.accept_word(K::All) {
            return Ok(None);
        }
        let name = match (self.keyword(), self.keyword_at(1)) {
            (K::Time, K::Zone) => "timezone",
            (K::Transaction, K::Isolation) => {
                self.take();
                "transaction_isolation"
            }
            (K::Session, K::Authorization) => "session_authorization",
            _ => return self.setting_name().map(Some),
        };
        self.take();
        self.take();
        Ok(Some(name.to_owned()))
    }

    /// LOCK
    pub(crate) fn lock_table(&mut self) -> Result<Statement> {
        self.take();
        self.accept_word(K::Table);
        let tables = self.list(Self::relation_name)?;
        let mut mode = TableLock::AccessExclusive;
        if self.accept_word(K::In) {
            mode = self.lock_mode()?;
            self.expect_word(K::Mode)?;
        }
        Ok(Statement::Lock { tables, mode, nowait: self.accept_word(K::Nowait) })
    }

    fn lock_mode(&mut self) -> Result<TableLock> {
        const MODES: &[(&[K], TableLock)] = &[
            (&[K::Access, K::Share], TableLock::AccessShare),
            (&[K::Row, K::Share], TableLock::RowShare),
            (&[K::Row, K::Exclusive], TableLock::RowExclusive),
            (&[K::Share, K::Update, K::Exclusive], TableLock::ShareUpdateExclusive),
            (&[K::Share, K::Row, K::Exclusive], TableLock::ShareRowExclusive),
            (&[K::Share], TableLock::Share),
            (&[K::Exclusive], TableLock::Exclusive),
            (&[K::Access, K::Exclusive], TableLock::AccessExclusive),
        ];
        for (words, mode) in MODES {
            if self.accept_words(words) {
                return Ok(*mode);
            }
        }
        Err(self.unexpected())
    }

    /// LISTEN, UNLISTEN, NOTIFY
    pub(crate) fn notification(&mut self) -> Result<Statement> {
        match self.take().kind.keyword() {
            K::Listen => Ok(Statement::Listen(self.name()?)),
            K::Unlisten if self.accept(Kind::Star) => Ok(Statement::Unlisten(None)),
            K::Unlisten => Ok(Statement::Unlisten(Some(self.name()?))),
            _ => {
                let channel = self.name()?;
                let payload = if self.accept(Kind::Comma) { self.string()? } else { String::new() };
                Ok(Statement::Notify { channel, payload })
            }
        }
    }

    /// PREPARE
    pub(crate) fn prepare(&mut self) -> Result<Statement> {
        self.take();
        if self.keyword() == K::Transaction && self.string_follows() {
            return Err(SqlError::unsupported("PREPARE TRANSACTION"));
        }
        let name = self.name()?;
        let types = if self.kind() == Kind::LeftParen { self.parenthesized(Self::data_type)? } else { Vec::new() };
        self.expect_word(K::As)?;
        let mark = self.mark();
        let statement = Box::new(Statement::Sql(self.query_or_change()?));
        Ok(Statement::Prepare { name, types, statement, text: self.text_since(mark).to_owned() })
    }

    /// EXECUTE, after the word.
    pub(crate) fn execute(&mut self) -> Result<(String, Vec<Expr>)> {
        let name = self.name()?;
        let arguments = if self.kind() == Kind::LeftParen { self.parenthesized(Self::expr)? } else { Vec::new() };
        Ok((name, arguments))
    }

    /// DEALLOCATE, CLOSE: a name, or ALL.
    pub(crate) fn name_or_all(&mut self) -> Result<Option<String>> {
        if self.accept_word(K::All) {
            return Ok(None);
        }
        self.name().map(Some)
    }

    /// DECLARE CURSOR
    pub(crate) fn declare(&mut self) -> Result<Statement> {
        self.take();
        let name = self.name()?;
        let (mut binary, mut scroll) = (false, None);
        loop {
            match self.keyword() {
                K::Binary => binary = true,
                K::Scroll => scroll = Some(true),
                K::No => {
                    self.take();
                    if self.keyword() != K::Scroll {
                        return Err(self.unexpected());
                    }
                    scroll = Some(false);
                }
                K::Asensitive | K::Insensitive => {}
                _ => break,
            }
            self.take();
        }
        self.expect_word(K::Cursor)?;
        let hold = self.accept_words(&[K::With, K::Hold]);
        if !hold {
            self.accept_words(&[K::Without, K::Hold]);
        }
        self.expect_word(K::For)?;
        let mark = self.mark();
        let query = self.query()?;
        let text = self.text_since(mark).to_owned();
        Ok(Statement::DeclareCursor(DeclareCursor { name, binary, scroll, hold, query, text }))
    }

    /// FETCH, MOVE
    pub(crate) fn fetch(&mut self) -> Result<Statement> {
        let only_move = self.take().kind.keyword() == K::Move;
        let direction = self.direction()?;
        let _ = self.accept_word(K::From) || self.accept_word(K::In);
        Ok(Statement::Fetch(Fetch { cursor: self.name()?, direction, only_move }))
    }

    /// The direction of FETCH; one row if none is said.
    pub fn direction(&mut self) -> Result<Direction> {
        let fixed = match self.keyword() {
            K::Next => Some(Direction::Forward(1)),
            K::Prior => Some(Direction::Forward(-1)),
            K::First => Some(Direction::Absolute(1)),
            K::Last => Some(Direction::Absolute(-1)),
            K::All => Some(Direction::Forward(i64::MAX)),
            _ => None,
        };
        // A cursor may be called like one of the words that are not reserved.
        let is_name = matches!(self.kind_at(1), Kind::End | Kind::Semicolon) && self.keyword() != K::All;
        if let Some(direction) = fixed
            && !is_name
        {
            self.take();
            return Ok(direction);
        }
        match self.keyword() {
            K::Absolute if !is_name => {
                self.take();
                Ok(Direction::Absolute(self.signed_integer()?))
            }
            K::Relative if !is_name => {
                self.take();
                Ok(Direction::Relative(self.signed_integer()?))
            }
            K::Forward | K::Backward if !is_name => {
                let sign = if self.take().kind.keyword() == K::Backward { -1 } else { 1 };
                if self.accept_word(K::All) {
                    return Ok(Direction::Forward(if sign > 0 { i64::MAX } else { -i64::MAX }));
                }
                let count = match self.kind() {
                    Kind::Integer | Kind::Minus | Kind::Plus => self.signed_integer()?,
                    _ => 1,
                };
                Ok(Direction::Forward(sign * count))
            }
            _ => match self.kind() {
                Kind::Integer | Kind::Minus | Kind::Plus => Ok(Direction::Forward(self.signed_integer()?)),
                _ => Ok(Direction::Forward(1)),
            },
        }
    }

    /// EXPLAIN
    pub(crate) fn explain(&mut self) -> Result<Statement> {
        self.take();
        let mut explain = Explain {
            analyze: false,
            verbose: false,
            format: "text".to_owned(),
            options: Vec::new(),
            statement: Box::new(Statement::Reset(None)),
            text: String::new(),
        };
        if self.kind() == Kind::LeftParen && !self.at_subquery() {
            self.parenthesized(|cursor| cursor.explain_option(&mut explain))?;
        } else {
            explain.analyze = self.accept_word(K::Analyze) || self.accept_word(K::Analyse);
            explain.verbose = self.accept_word(K::Verbose);
        }
        let mark = self.mark();
        explain.statement = Box::new(self.statement()?);
        explain.text = self.text_since(mark).to_owned();
        Ok(Statement::Explain(explain))
    }

    fn explain_option(&mut self, explain: &mut Explain) -> Result<()> {
        let name = self.label()?.value;
        let value = match self.kind() {
            Kind::Comma | Kind::RightParen => "true".to_owned(),
            _ => self.setting_value()?.to_ascii_lowercase(),
        };
        let truth = !matches!(value.as_str(), "false" | "off" | "0");
        match name.as_str() {
            "analyze" | "analyse" => explain.analyze = truth,
            "verbose" => explain.verbose = truth,
            "format" => explain.format = value,
            _ => explain.options.push((name, value)),
        }
        Ok(())
    }

    /// DISCARD
    pub(crate) fn discard(&mut self) -> Result<Statement> {
        self.take();
        let what = match self.keyword() {
            K::All => Discard::All,
            K::Plans => Discard::Plans,
            K::Sequences => Discard::Sequences,
            K::Temp | K::Temporary => Discard::Temporary,
            _ => return Err(self.unexpected()),
        };
        self.take();
        Ok(Statement::Discard(what))
    }

    /// VACUUM, ANALYZE, CLUSTER, REINDEX, CHECKPOINT
    pub(crate) fn maintenance(&mut self) -> Result<Statement> {
        let keyword = self.take().kind.keyword();
        let tag = match keyword {
            K::Vacuum => "VACUUM",
            K::Cluster => "CLUSTER",
            K::Reindex => "REINDEX",
            K::Checkpoint => "CHECKPOINT",
            _ => "ANALYZE",
        };
        if self.accept(Kind::LeftParen) {
            self.list(|cursor| {
                cursor.label()?;
                if !matches!(cursor.kind(), Kind::Comma | Kind::RightParen) {
                    cursor.setting_value()?;
                }
                Ok(())
            })?;
            self.expect(Kind::RightParen)?;
        }
        let mut relations = Vec::new();
        if keyword == K::Reindex {
            if matches!(self.keyword(), K::Schema | K::Database | K::System) {
                self.take();
                self.accept_word(K::Concurrently);
                if self.kind() != Kind::End {
                    self.name()?;
                }
                return Ok(Statement::Maintenance { tag, relations });
            }
            let _ = self.accept_word(K::Table) || self.accept_word(K::Index);
            self.accept_word(K::Concurrently);
            relations.push(self.object_name()?);
            return Ok(Statement::Maintenance { tag, relations });
        }
        while matches!(self.keyword(), K::Full | K::Freeze | K::Verbose | K::Analyze | K::Analyse) {
            self.take();
        }
        if self.at_column_name() {
            relations = self.list(|cursor| {
                let name: ObjectName = cursor.relation_name()?;
                if cursor.kind() == Kind::LeftParen {
                    cursor.parenthesized(Self::ident)?;
                }
                Ok(name)
            })?;
            if keyword == K::Cluster && self.accept_word(K::Using) {
                self.name()?;
            }
        }
        Ok(Statement::Maintenance { tag, relations })
    }

    /// DO
    pub(crate) fn do_block(&mut self) -> Result<Statement> {
        self.take();
        let (mut language, mut body) = ("plpgsql".to_owned(), None);
        loop {
            if self.at_string() && body.is_none() {
                body = Some(self.string()?);
            } else if self.accept_word(K::Language) {
                language = if self.at_string() { self.string()? } else { self.label()?.value };
            } else {
                break;
            }
        }
        match body {
            Some(body) => Ok(Statement::Do { language: language.to_ascii_lowercase(), body }),
            None if self.kind() == Kind::End => Err(SqlError::syntax("no inline code specified")),
            None => Err(self.unexpected()),
        }
    }
}
