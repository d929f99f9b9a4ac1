//! Text → syntax tree: blocks, declarations, control flow. SQL inside is cut out and parsed by [`crate::parse`].

use crate::error::{Result, SqlError};
use crate::parse;
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::token::{Kind, Token};
use crate::plpgsql::ast::{
    Block, Body, Condition, Declaration, DeclarationKind, Expression, ExpressionKind, Handler, Into, Place, Query,
    Statement, StatementKind, Target, VariableConflict,
};

/// The tree of a function's body.
pub fn body(text: &str) -> Result<Body> {
    let mut reader = Reader { cursor: Cursor::new(text)?, line_starts: line_starts(text) };
    let conflict = reader.options()?;
    let line = reader.line();
    let label = reader.label()?;
    let block = reader.block(line, label)?;
    reader.cursor.accept(Kind::Semicolon);
    if reader.cursor.kind() != Kind::End {
        return Err(reader.cursor.unexpected());
    }
    Ok(Body { conflict, block })
}

fn line_starts(text: &str) -> Vec<u32> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
    std::iter::once(0).chain(breaks).collect()
}

/// A place in a body.
pub(super) struct Reader<'a> {
    pub(super) cursor: Cursor<'a>,
    line_starts: Vec<u32>,
}

/// What ends a piece of SQL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// A token of this kind.
    Kind(Kind),
    /// This word, which need not be a keyword of SQL.
    Word(&'static str),
}

pub(super) const SEMICOLON: End = End::Kind(Kind::Semicolon);

impl<'a> Reader<'a> {
    /// The line of the next token.
    pub(super) fn line(&self) -> u32 {
        let start = self.cursor.peek().start;
        self.line_starts.partition_point(|line| *line <= start) as u32
    }

    fn options(&mut self) -> Result<Option<VariableConflict>> {
        let mut conflict = None;
        while self.cursor.accept_operator("#") {
            if self.cursor.accept_text("variable_conflict") {
                conflict = Some(match self.cursor.name()?.as_str() {
                    "error" => VariableConflict::Error,
                    "use_variable" => VariableConflict::UseVariable,
                    "use_column" => VariableConflict::UseColumn,
                    _ => return Err(self.cursor.unexpected_at(self.cursor.last())),
                });
            } else if self.cursor.accept_text("option") || self.cursor.accept_text("print_strict_params") {
                self.cursor.label()?;
            } else {
                return Err(self.cursor.unexpected());
            }
        }
        Ok(conflict)
    }

    /// `<<label>>`, if it follows.
    pub(super) fn label(&mut self) -> Result<Option<String>> {
        if !self.cursor.accept_operator("<<") {
            return Ok(None);
        }
        let label = self.cursor.label()?.value;
        if self.cursor.accept_operator(">>") { Ok(Some(label)) } else { Err(self.cursor.unexpected()) }
    }

    /// A block, from DECLARE or BEGIN to END and its label.
    pub(super) fn block(&mut self, line: u32, label: Option<String>) -> Result<Block> {
        let mut declarations = Vec::new();
        while self.cursor.accept_word(K::Declare) {
            while self.cursor.keyword() != K::Begin && self.cursor.keyword() != K::Declare {
                declarations.push(self.declaration()?);
            }
        }
        self.cursor.expect_word(K::Begin)?;
        let body = self.statements()?;
        let mut handlers = None;
        if self.cursor.accept_text("exception") {
            let mut list = Vec::new();
            while self.cursor.keyword() == K::When {
                list.push(self.handler()?);
            }
            if list.is_empty() {
                return Err(self.cursor.unexpected());
            }
            handlers = Some(list);
        }
        self.cursor.expect_word(K::End)?;
        self.end_label(label.as_deref())?;
        Ok(Block { line, label, declarations, body, handlers })
    }

    /// The label after END, which has to be that of the beginning.
    pub(super) fn end_label(&mut self, label: Option<&str>) -> Result<()> {
        if !matches!(self.cursor.kind(), Kind::Word(_) | Kind::Quoted) {
            return Ok(());
        }
        let token = self.cursor.peek();
        let end = self.cursor.label()?.value;
        let message = match label {
            Some(label) if label == end => return Ok(()),
            Some(label) => format!("end label \"{end}\" differs from block's label \"{label}\""),
            None => format!("end label \"{end}\" specified for unlabeled block"),
        };
        Err(SqlError::syntax(message).at(token.position as usize))
    }

    fn handler(&mut self) -> Result<Handler> {
        let line = self.line();
        self.cursor.expect_word(K::When)?;
        let mut conditions = Vec::new();
        loop {
            conditions.push(self.condition()?);
            if !self.cursor.accept_word(K::Or) {
                break;
            }
        }
        self.cursor.expect_word(K::Then)?;
        Ok(Handler { line, conditions, body: self.statements()? })
    }

    fn condition(&mut self) -> Result<Condition> {
        let name = self.cursor.label()?.value;
        match name.as_str() {
            "sqlstate" => Ok(Condition::State(self.state()?)),
            "others" => Ok(Condition::Others),
            _ if crate::plpgsql::conditions::states(&name).next().is_none() => {
                let error = SqlError::new(
                    crate::error::SqlState::UNDEFINED_OBJECT,
                    format!("unrecognized exception condition \"{name}\""),
                );
                Err(error.within(near_line(self.line())))
            }
            _ => Ok(Condition::Named(name)),
        }
    }

    /// The five characters after SQLSTATE.
    pub(super) fn state(&mut self) -> Result<String> {
        let token = self.cursor.peek();
        let state = self.cursor.string()?;
        let valid = state.len() == 5 && state.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
        if valid {
            return Ok(state);
        }
        let message = format!("invalid SQLSTATE code at or near \"{}\"", self.cursor.text_of(token));
        Err(SqlError::syntax(message).at(token.position as usize))
    }

    fn declaration(&mut self) -> Result<Declaration> {
        let line = self.line();
        let name = self.cursor.name()?;
        let kind = if self.cursor.accept_text("alias") {
            self.cursor.expect_word(K::For)?;
            DeclarationKind::Alias(match self.cursor.kind() {
                Kind::Parameter(number) => {
                    self.cursor.take();
                    format!("${number}")
                }
                _ => self.cursor.name()?,
            })
        } else if self.at_cursor_declaration() {
            self.cursor_declaration()?
        } else {
            self.variable()?
        };
        self.cursor.expect(Kind::Semicolon)?;
        Ok(Declaration { line, name, kind })
    }

    fn at_cursor_declaration(&self) -> bool {
        match (self.cursor.keyword(), self.cursor.keyword_at(1)) {
            (K::Cursor, K::For | K::Is) | (K::Scroll, K::Cursor) | (K::No, K::Scroll) => true,
            (K::Cursor, _) => self.cursor.kind_at(1) == Kind::LeftParen,
            _ => false,
        }
    }

    fn cursor_declaration(&mut self) -> Result<DeclarationKind> {
        let scroll = self.scroll();
        self.cursor.expect_word(K::Cursor)?;
        let mut parameters = Vec::new();
        if self.cursor.kind() == Kind::LeftParen {
            parameters = self.cursor.parenthesized(|cursor| Ok((cursor.name()?, cursor.type_name()?)))?;
        }
        if !self.cursor.accept_word(K::Is) {
            self.cursor.expect_word(K::For)?;
        }
        let query = self.query(&[SEMICOLON])?;
        Ok(DeclarationKind::Cursor { scroll, parameters, query })
    }

    /// SCROLL, NO SCROLL
    pub(super) fn scroll(&mut self) -> Option<bool> {
        if self.cursor.accept_words(&[K::No, K::Scroll]) {
            return Some(false);
        }
        self.cursor.accept_word(K::Scroll).then_some(true)
    }

    fn variable(&mut self) -> Result<DeclarationKind> {
        let constant = self.cursor.accept_text("constant");
        let ty = self.cursor.type_name()?;
        if self.cursor.accept_word(K::Collate) {
            self.cursor.any_name()?;
        }
        let not_null = self.cursor.accept_words(&[K::Not, K::Null]);
        let has_default =
            self.cursor.accept_word(K::Default) || self.cursor.accept(Kind::Assign) || self.cursor.accept(Kind::Equal);
        let default = if has_default { Some(self.expression(&[SEMICOLON])?) } else { None };
        Ok(DeclarationKind::Variable { constant, ty, not_null, default })
    }

    /// Statements up to what none begins with.
    pub(super) fn statements(&mut self) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            let ended = matches!(self.cursor.keyword(), K::End | K::Else | K::When)
                || self.cursor.at_text("elsif")
                || self.cursor.at_text("elseif")
                || self.cursor.at_text("exception")
                || self.cursor.kind() == Kind::End;
            if ended && !self.at_assignment() {
                return Ok(statements);
            }
            let line = self.line();
            let kind = self.statement()?;
            statements.push(Statement { line, kind });
        }
    }

    /// Whether an assignment follows: a name, maybe with fields and subscripts, and then `:=` or `=`.
    pub(super) fn at_assignment(&self) -> bool {
        if !matches!(self.cursor.kind(), Kind::Word(_) | Kind::Quoted | Kind::UnicodeQuoted | Kind::Parameter(_)) {
            return false;
        }
        let mut ahead = 1;
        loop {
            match self.cursor.kind_at(ahead) {
                Kind::Assign | Kind::Equal => return true,
                Kind::Dot => ahead += 2,
                Kind::LeftBracket => {
                    let mut depth = 1;
                    while depth > 0 {
                        ahead += 1;
                        match self.cursor.kind_at(ahead) {
                            Kind::LeftBracket => depth += 1,
                            Kind::RightBracket => depth -= 1,
                            Kind::End | Kind::Semicolon => return false,
                            _ => {}
                        }
                    }
                    ahead += 1;
                }
                _ => return false,
            }
        }
    }

    /// `target := value`
    pub(super) fn assignment(&mut self) -> Result<StatementKind> {
        let target = self.target()?;
        if !self.cursor.accept(Kind::Assign) {
            self.cursor.expect(Kind::Equal)?;
        }
        let value = self.expression(&[SEMICOLON])?;
        self.cursor.expect(Kind::Semicolon)?;
        Ok(StatementKind::Assign { target, value })
    }

    /// What gets a value.
    pub(super) fn target(&mut self) -> Result<Target> {
        let first = match self.cursor.kind() {
            Kind::Parameter(number) => {
                self.cursor.take();
                format!("${number}")
            }
            _ => self.cursor.label()?.value,
        };
        let mut target = Target { path: vec![first], places: Vec::new() };
        loop {
            if self.cursor.accept(Kind::Dot) {
                let field = self.cursor.label()?.value;
                if target.places.is_empty() {
                    target.path.push(field);
                } else {
                    target.places.push(Place::Field(field));
                }
            } else if self.cursor.accept(Kind::LeftBracket) {
                let index = self.expression(&[End::Kind(Kind::RightBracket), End::Kind(Kind::Colon)])?;
                if self.cursor.kind() == Kind::Colon {
                    return Err(SqlError::unsupported("an assignment to a slice of an array"));
                }
                self.cursor.expect(Kind::RightBracket)?;
                target.places.push(Place::Index(index));
            } else {
                return Ok(target);
            }
        }
    }

    /// The targets of INTO, after that word.
    pub(super) fn into(&mut self) -> Result<Into> {
        let strict = self.cursor.accept_word(K::Strict);
        Ok(Into { strict, targets: self.targets()? })
    }

    /// Targets with commas.
    pub(super) fn targets(&mut self) -> Result<Vec<Target>> {
        let mut targets = vec![self.target()?];
        while self.cursor.accept(Kind::Comma) {
            targets.push(self.target()?);
        }
        Ok(targets)
    }

    fn at_end(&self, ends: &[End]) -> bool {
        ends.iter().any(|end| match end {
            End::Kind(kind) => self.cursor.kind() == *kind,
            End::Word(word) => self.cursor.at_text(word),
        })
    }

    /// Goes on to what ends a piece of SQL, outside of parentheses and CASE, and says where the piece was.
    pub(super) fn cut(&mut self, ends: &[End]) -> Result<(Token, &'a str)> {
        let (first, mark) = (self.cursor.peek(), self.cursor.mark());
        let (mut depth, mut cases) = (0usize, 0usize);
        loop {
            if depth == 0 && (cases == 0 || self.cursor.kind() == Kind::Semicolon) && self.at_end(ends) {
                return Ok((first, self.cursor.text_since(mark)));
            }
            match self.cursor.kind() {
                Kind::LeftParen | Kind::LeftBracket => depth += 1,
                Kind::RightParen | Kind::RightBracket => depth = depth.saturating_sub(1),
                Kind::Word(K::Case) => cases += 1,
                Kind::Word(K::End) => cases = cases.saturating_sub(1),
                Kind::Semicolon | Kind::End => return Err(self.cursor.unexpected()),
                _ => {}
            }
            self.cursor.take();
        }
    }

    /// An expression up to what ends it.
    pub(super) fn expression(&mut self, ends: &[End]) -> Result<Expression> {
        let (first, text) = self.cut(ends)?;
        if text.is_empty() {
            let message = format!("missing expression at or near \"{}\"", self.cursor.text_of(self.cursor.peek()));
            return Err(SqlError::syntax(message).at(first.position as usize));
        }
        expression(text).map_err(|error| moved(error, first))
    }

    /// Expressions with commas, up to what ends the last one.
    pub(super) fn expressions(&mut self, ends: &[End]) -> Result<Vec<Expression>> {
        let mut either = ends.to_vec();
        either.push(End::Kind(Kind::Comma));
        let mut expressions = vec![self.expression(&either)?];
        while self.cursor.accept(Kind::Comma) {
            expressions.push(self.expression(&either)?);
        }
        Ok(expressions)
    }

    /// A query up to what ends it.
    pub(super) fn query(&mut self, ends: &[End]) -> Result<Query> {
        let (first, text) = self.cut(ends)?;
        query(text).map_err(|error| moved(error, first))
    }
}

/// What the context says of errors that are found while a body is read, and have no place; the caller of a function completes it.
pub fn near_line(line: u32) -> String {
    format!("{NEAR_LINE}{line}")
}

/// How such a context begins.
pub const NEAR_LINE: &str = "near line ";

/// The error, at its place in the body: it was found in a piece that begins with this token.
pub(super) fn moved(error: SqlError, first: Token) -> SqlError {
    match error.fields().position {
        Some(position) => error.at(position + first.position as usize - 1),
        None => error,
    }
}

/// The expression in a text of its own.
pub fn expression(text: &str) -> Result<Expression> {
    let kind = match parse::expression(text) {
        Ok(expr) => ExpressionKind::Simple(Box::new(expr)),
        Err(error) => match parse::query(&format!("SELECT {text}")) {
            Ok(query) => ExpressionKind::Query(Box::new(query)),
            Err(_) => return Err(error),
        },
    };
    Ok(Expression { text: text.to_owned(), kind })
}

/// The query in a text of its own.
pub(super) fn query(text: &str) -> Result<Query> {
    let mut cursor = Cursor::new(text)?;
    let statement = cursor.query_or_change()?;
    cursor.expect_end()?;
    Ok(Query { text: text.to_owned(), statement })
}
