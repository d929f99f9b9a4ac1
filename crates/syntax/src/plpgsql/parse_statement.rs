//! Text → syntax tree: the statements.

use crate::budget::{self, Share};
use crate::error::{Result, SqlError};
use crate::parse;
use crate::parse::keywords::Keyword as K;
use crate::parse::statement::{Direction, Statement as Parsed};
use crate::parse::token::{Kind, Token};
use crate::plpgsql::ast::{
    Argument, Diagnostic, Dynamic, Into, Loop, Opened, Over, Raise, RaiseOption, Raised, Rows, Severity, StatementKind,
};
use crate::plpgsql::parse::{End, Reader, SEMICOLON, moved, near_line, query};

const LOOP: End = End::Word("loop");
const THEN: End = End::Kind(Kind::Word(K::Then));
const USING: End = End::Kind(Kind::Word(K::Using));
const INTO: End = End::Kind(Kind::Word(K::Into));
const COMMA: End = End::Kind(Kind::Comma);

impl Reader<'_> {
    /// A statement with its semicolon.
    pub(super) fn statement(&mut self) -> Result<StatementKind> {
        if self.at_assignment() {
            return self.assignment();
        }
        let line = self.line();
        let label = self.label()?;
        if self.at_loop() {
            let looped = self.cursor_deeper(|reader| reader.loop_statement(label))?;
            self.cursor.expect(Kind::Semicolon)?;
            return Ok(StatementKind::Loop(looped));
        }
        if matches!(self.cursor.keyword(), K::Declare | K::Begin) {
            let block = self.cursor_deeper(|reader| reader.block(line, label))?;
            self.cursor.expect(Kind::Semicolon)?;
            return Ok(StatementKind::Block(block));
        }
        if label.is_some() {
            return Err(self.cursor.unexpected());
        }
        let word = self.cursor.text_of(self.cursor.peek()).to_ascii_lowercase();
        match word.as_str() {
            "if" => self.cursor_deeper(Self::if_statement),
            "case" => self.cursor_deeper(Self::case_statement),
            "execute" => self.execute_statement(),
            "get" => self.diagnostics(),
            "open" => self.open(),
            "fetch" | "move" => self.fetch_statement(),
            _ => self.simple(&word),
        }
    }

    /// Statements nest, as deep as the stack allows.
    fn cursor_deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        budget::deeper(Share::Trees)?;
        read(self)
    }

    /// Statements of a word, some expressions, and a semicolon.
    fn simple(&mut self, word: &str) -> Result<StatementKind> {
        let kind = match word {
            "exit" | "continue" => {
                self.cursor.take();
                self.jump(word == "continue")?
            }
            "return" => {
                self.cursor.take();
                self.return_statement()?
            }
            "raise" => {
                self.cursor.take();
                StatementKind::Raise(self.raise()?)
            }
            "assert" => {
                self.cursor.take();
                let condition = self.expression(&[SEMICOLON, COMMA])?;
                let message = if self.cursor.accept(Kind::Comma) { Some(self.expression(&[SEMICOLON])?) } else { None };
                StatementKind::Assert { condition, message }
            }
            "perform" => {
                let first = self.cursor.take();
                let (token, text) = self.cut(&[SEMICOLON])?;
                let query = query(&format!("SELECT {text}")).map_err(|error| {
                    let shift = "SELECT ".len();
                    match error.fields().position {
                        Some(position) if position > shift => moved(error.at(position - shift), token),
                        _ => moved(error, first),
                    }
                })?;
                StatementKind::Perform(query)
            }
            "null" => {
                self.cursor.take();
                StatementKind::Null
            }
            "close" => {
                self.cursor.take();
                StatementKind::Close(self.cursor.name()?)
            }
            "commit" | "rollback" => {
                let (first, text) = self.cut(&[SEMICOLON])?;
                match parse::statement(text).map_err(|error| moved(error, first))? {
                    Some(Parsed::Commit { chain }) => StatementKind::Commit { chain },
                    Some(Parsed::Rollback { chain }) => StatementKind::Rollback { chain },
                    _ => return Err(SqlError::unsupported("a savepoint in PL/pgSQL")),
                }
            }
            "call" => {
                let (first, text) = self.cut(&[SEMICOLON])?;
                match parse::statement(text).map_err(|error| moved(error, first))? {
                    Some(Parsed::Call(call)) => StatementKind::Call { text: text.to_owned(), call },
                    _ => return Err(self.cursor.unexpected_at(first)),
                }
            }
            _ => self.sql()?,
        };
        self.cursor.expect(Kind::Semicolon)?;
        Ok(kind)
    }

    fn at_loop(&self) -> bool {
        ["loop", "while", "for", "foreach"].iter().any(|word| self.cursor.at_text(word))
    }

    fn loop_statement(&mut self, label: Option<String>) -> Result<Loop> {
        let over = match self.cursor.text_of(self.cursor.peek()).to_ascii_lowercase().as_str() {
            "loop" => Over::Forever,
            "while" => {
                self.cursor.take();
                Over::While(self.expression(&[LOOP])?)
            }
            "foreach" => self.foreach()?,
            _ => self.for_loop()?,
        };
        self.expect_text("loop")?;
        let body = self.statements()?;
        self.cursor.expect_word(K::End)?;
        self.expect_text("loop")?;
        self.end_label(label.as_deref())?;
        Ok(Loop { label, over, body })
    }

    fn expect_text(&mut self, word: &str) -> Result<()> {
        if self.cursor.accept_text(word) { Ok(()) } else { Err(self.cursor.unexpected()) }
    }

    fn foreach(&mut self) -> Result<Over> {
        self.cursor.take();
        let targets = self.targets()?;
        let mut slice = 0;
        if self.cursor.accept_text("slice") {
            let token = self.cursor.expect(Kind::Integer)?;
            slice = self.cursor.text_of(token).parse().map_err(|_| self.cursor.unexpected_at(token))?;
        }
        self.cursor.expect_words(&[K::In, K::Array])?;
        let array = self.expression(&[LOOP])?;
        Ok(Over::Array { targets, slice, array })
    }

    fn for_loop(&mut self) -> Result<Over> {
        self.cursor.take();
        let targets = self.targets()?;
        self.cursor.expect_word(K::In)?;
        if self.cursor.accept_word(K::Execute) {
            let command = self.dynamic(&[LOOP])?;
            return Ok(Over::Rows { targets, rows: Rows::Execute(command) });
        }
        let single = match targets.as_slice() {
            [one] if one.places.is_empty() && one.path.len() == 1 => Some(one.path[0].clone()),
            _ => None,
        };
        if let Some(variable) = &single
            && self.at_cursor()
        {
            let cursor = self.cursor.name()?;
            let arguments = self.arguments()?;
            return Ok(Over::Cursor { variable: variable.clone(), cursor, arguments });
        }
        let mark = self.cursor.mark();
        let reverse = self.cursor.accept_text("reverse");
        let start = self.cursor.mark();
        self.cut(&[LOOP, End::Kind(Kind::DotDot)])?;
        let is_range = self.cursor.kind() == Kind::DotDot;
        if !is_range {
            self.cursor.back_to(mark);
            return Ok(Over::Rows { targets, rows: Rows::Query(self.query(&[LOOP])?) });
        }
        self.cursor.back_to(start);
        let Some(variable) = single else {
            return Err(SqlError::syntax("integer FOR loop must have only one target variable"));
        };
        let from = self.expression(&[End::Kind(Kind::DotDot)])?;
        self.cursor.expect(Kind::DotDot)?;
        let to = self.expression(&[LOOP, End::Kind(Kind::Word(K::By))])?;
        let step = if self.cursor.accept_word(K::By) { Some(self.expression(&[LOOP])?) } else { None };
        Ok(Over::Range { variable, reverse, from, to, step })
    }

    /// Whether a cursor variable follows, with or without arguments, and then LOOP.
    fn at_cursor(&self) -> bool {
        if !self.cursor.at_column_name() {
            return false;
        }
        let mut ahead = 1;
        if self.cursor.kind_at(1) == Kind::LeftParen {
            let mut depth = 1;
            while depth > 0 {
                ahead += 1;
                match self.cursor.kind_at(ahead) {
                    Kind::LeftParen => depth += 1,
                    Kind::RightParen => depth -= 1,
                    Kind::End => return false,
                    _ => {}
                }
            }
            ahead += 1;
        }
        self.cursor.is_text_at(ahead, "loop")
    }

    /// The arguments of a cursor.
    fn arguments(&mut self) -> Result<Vec<Argument>> {
        if !self.cursor.accept(Kind::LeftParen) {
            return Ok(Vec::new());
        }
        let mut arguments = Vec::new();
        loop {
            let named = matches!(self.cursor.kind_at(1), Kind::Assign | Kind::Arrow);
            let name = if named {
                let name = self.cursor.name()?;
                self.cursor.take();
                Some(name)
            } else {
                None
            };
            let value = self.expression(&[COMMA, End::Kind(Kind::RightParen)])?;
            arguments.push(Argument { name, value });
            if !self.cursor.accept(Kind::Comma) {
                self.cursor.expect(Kind::RightParen)?;
                return Ok(arguments);
            }
        }
    }

    fn if_statement(&mut self) -> Result<StatementKind> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            self.cursor.take();
            let condition = self.expression(&[THEN])?;
            self.cursor.expect_word(K::Then)?;
            branches.push((condition, self.statements()?));
            if !self.cursor.at_text("elsif") && !self.cursor.at_text("elseif") {
                break;
            }
        }
        if self.cursor.accept_word(K::Else) {
            otherwise = Some(self.statements()?);
        }
        self.cursor.expect_words(&[K::End, K::If])?;
        self.cursor.expect(Kind::Semicolon)?;
        Ok(StatementKind::If { branches, otherwise })
    }

    fn case_statement(&mut self) -> Result<StatementKind> {
        self.cursor.take();
        let when = End::Kind(Kind::Word(K::When));
        let operand = if self.cursor.keyword() == K::When { None } else { Some(self.expression(&[when])?) };
        let mut branches = Vec::new();
        while self.cursor.accept_word(K::When) {
            let values = match operand {
                Some(_) => self.expressions(&[THEN])?,
                None => vec![self.expression(&[THEN])?],
            };
            self.cursor.expect_word(K::Then)?;
            branches.push((values, self.statements()?));
        }
        let otherwise = if self.cursor.accept_word(K::Else) { Some(self.statements()?) } else { None };
        self.cursor.expect_words(&[K::End, K::Case])?;
        self.cursor.expect(Kind::Semicolon)?;
        Ok(StatementKind::Case { operand, branches, otherwise })
    }

    fn jump(&mut self, again: bool) -> Result<StatementKind> {
        let label = match self.cursor.kind() {
            Kind::Word(K::When) | Kind::Semicolon => None,
            _ => Some(self.cursor.label()?.value),
        };
        let condition = if self.cursor.accept_word(K::When) { Some(self.expression(&[SEMICOLON])?) } else { None };
        Ok(StatementKind::Jump { again, label, condition })
    }

    fn return_statement(&mut self) -> Result<StatementKind> {
        if self.cursor.kind() == Kind::Semicolon {
            return Ok(StatementKind::Return(None));
        }
        if self.cursor.accept_word(K::Next) {
            let value = if self.cursor.kind() == Kind::Semicolon { None } else { Some(self.expression(&[SEMICOLON])?) };
            return Ok(StatementKind::ReturnNext(value));
        }
        if self.cursor.accept_text("query") {
            if self.cursor.accept_word(K::Execute) {
                return Ok(StatementKind::ReturnQuery(Rows::Execute(self.dynamic(&[SEMICOLON])?)));
            }
            return Ok(StatementKind::ReturnQuery(Rows::Query(self.query(&[SEMICOLON])?)));
        }
        Ok(StatementKind::Return(Some(self.expression(&[SEMICOLON])?)))
    }

    /// The command of EXECUTE and its USING.
    fn dynamic(&mut self, ends: &[End]) -> Result<Dynamic> {
        let mut either = ends.to_vec();
        either.push(USING);
        let command = self.expression(&either)?;
        let using = if self.cursor.accept_word(K::Using) { self.expressions(ends)? } else { Vec::new() };
        Ok(Dynamic { command, using })
    }

    fn execute_statement(&mut self) -> Result<StatementKind> {
        self.cursor.take();
        let command = self.expression(&[SEMICOLON, USING, INTO])?;
        let (mut into, mut using) = (None, Vec::new());
        loop {
            if into.is_none() && self.cursor.accept_word(K::Into) {
                into = Some(self.into()?);
            } else if using.is_empty() && self.cursor.accept_word(K::Using) {
                using = self.expressions(&[SEMICOLON, INTO])?;
            } else {
                break;
            }
        }
        self.cursor.expect(Kind::Semicolon)?;
        Ok(StatementKind::Execute { command: Dynamic { command, using }, into })
    }

    fn raise(&mut self) -> Result<Raise> {
        const LEVELS: &[Severity] =
            &[Severity::Debug, Severity::Log, Severity::Info, Severity::Notice, Severity::Warning, Severity::Exception];
        let said = LEVELS.iter().find(|level| self.cursor.at_text(level.name())).copied();
        if said.is_some() {
            self.cursor.take();
        }
        let level = said.unwrap_or(Severity::Exception);
        if self.cursor.kind() == Kind::Semicolon {
            if said.is_some() {
                return Err(self.cursor.unexpected());
            }
            return Ok(Raise { level, what: None, options: Vec::new() });
        }
        let what = if self.cursor.at_string() {
            self.raised_message()?
        } else if self.cursor.keyword() == K::Using {
            Raised::Options
        } else if self.cursor.accept_text("sqlstate") {
            Raised::State(self.state()?)
        } else {
            Raised::Named(self.cursor.label()?.value)
        };
        let mut options = Vec::new();
        if self.cursor.accept_word(K::Using) {
            loop {
                options.push(self.raise_option()?);
                if !self.cursor.accept(Kind::Comma) {
                    break;
                }
            }
        }
        Ok(Raise { level, what: Some(what), options })
    }

    fn raised_message(&mut self) -> Result<Raised> {
        let line = self.line();
        let format = self.cursor.string()?;
        let mut arguments = Vec::new();
        while self.cursor.accept(Kind::Comma) {
            arguments.push(self.expression(&[SEMICOLON, COMMA, USING])?);
        }
        let wanted = format.replace("%%", "").matches('%').count();
        let wrong = match wanted.cmp(&arguments.len()) {
            std::cmp::Ordering::Equal => return Ok(Raised::Message(format, arguments)),
            std::cmp::Ordering::Less => "too many parameters specified for RAISE",
            std::cmp::Ordering::Greater => "too few parameters specified for RAISE",
        };
        Err(SqlError::syntax(wrong).within(near_line(line)))
    }

    fn raise_option(&mut self) -> Result<(RaiseOption, crate::plpgsql::ast::Expression)> {
        let token = self.cursor.peek();
        let name = self.cursor.label()?.value;
        let option = RaiseOption::ALL.iter().find(|(word, _)| *word == name);
        let Some((_, option)) = option else {
            let error = SqlError::syntax(format!(
                "unrecognized RAISE statement option at or near \"{}\"",
                self.cursor.text_of(token)
            ));
            return Err(error.at(token.position as usize));
        };
        if !self.cursor.accept(Kind::Equal) {
            self.cursor.expect(Kind::Assign)?;
        }
        Ok((*option, self.expression(&[SEMICOLON, COMMA])?))
    }

    fn diagnostics(&mut self) -> Result<StatementKind> {
        self.cursor.take();
        let stacked = self.cursor.accept_text("stacked");
        if !stacked {
            self.cursor.accept_text("current");
        }
        self.expect_text("diagnostics")?;
        let mut items = Vec::new();
        loop {
            let target = self.target()?;
            if !self.cursor.accept(Kind::Equal) {
                self.cursor.expect(Kind::Assign)?;
            }
            let token = self.cursor.peek();
            let name = self.cursor.label()?.value;
            let item = Diagnostic::ALL.iter().find(|(word, _)| *word == name).map(|(_, item)| *item);
            let Some(item) = item else {
                let error = SqlError::syntax(format!(
                    "unrecognized GET DIAGNOSTICS item at or near \"{}\"",
                    self.cursor.text_of(token)
                ));
                return Err(error.at(token.position as usize));
            };
            let current = matches!(item, Diagnostic::RowCount | Diagnostic::RoutineOid);
            if current && stacked || !current && !stacked && item != Diagnostic::Context {
                let word = if stacked { "STACKED" } else { "CURRENT" };
                let message =
                    format!("diagnostics item {} is not allowed in GET {word} DIAGNOSTICS", name.to_uppercase());
                return Err(SqlError::syntax(message).at(token.position as usize));
            }
            items.push((target, item));
            if !self.cursor.accept(Kind::Comma) {
                break;
            }
        }
        self.cursor.expect(Kind::Semicolon)?;
        Ok(StatementKind::Diagnostics { stacked, items })
    }

    fn open(&mut self) -> Result<StatementKind> {
        self.cursor.take();
        let cursor = self.cursor.name()?;
        let scroll = self.scroll();
        let of = if self.cursor.accept_word(K::For) {
            Opened::Rows(if self.cursor.accept_word(K::Execute) {
                Rows::Execute(self.dynamic(&[SEMICOLON])?)
            } else {
                Rows::Query(self.query(&[SEMICOLON])?)
            })
        } else {
            Opened::Bound(self.arguments()?)
        };
        self.cursor.expect(Kind::Semicolon)?;
        Ok(StatementKind::Open { cursor, scroll, of })
    }

    fn fetch_statement(&mut self) -> Result<StatementKind> {
        let only_move = self.cursor.take().kind.keyword() == K::Move;
        let mut count = None;
        let mut direction = Direction::Forward(1);
        let is_name = matches!(self.cursor.kind_at(1), Kind::Word(K::Into) | Kind::Semicolon);
        if !is_name {
            let word = self.cursor.keyword();
            let counted = matches!(word, K::Absolute | K::Relative | K::Forward | K::Backward);
            let literal = matches!(
                self.cursor.kind_at(1),
                Kind::Integer | Kind::Minus | Kind::Plus | Kind::Word(K::All | K::From | K::In)
            );
            if counted && !literal {
                self.cursor.take();
                direction = match word {
                    K::Absolute => Direction::Absolute(1),
                    K::Relative => Direction::Relative(1),
                    K::Forward => Direction::Forward(1),
                    _ => Direction::Forward(-1),
                };
                count = Some(self.expression(&[End::Kind(Kind::Word(K::From)), End::Kind(Kind::Word(K::In))])?);
            } else {
                direction = self.cursor.direction()?;
            }
            let _ = self.cursor.accept_word(K::From) || self.cursor.accept_word(K::In);
        }
        let cursor = self.cursor.name()?;
        let targets = if only_move {
            None
        } else {
            self.cursor.expect_word(K::Into)?;
            Some(self.targets()?)
        };
        self.cursor.expect(Kind::Semicolon)?;
        Ok(StatementKind::Fetch { cursor, direction, count, targets })
    }

    /// An SQL statement: INTO is taken out of it.
    fn sql(&mut self) -> Result<StatementKind> {
        let first = self.cursor.peek();
        let Some((into, hole)) = self.find_into()? else {
            let (first, text) = self.cut(&[SEMICOLON])?;
            let parsed = parse::statement(text).map_err(|error| moved(error, first))?;
            return match parsed {
                Some(statement) => {
                    Ok(StatementKind::Sql { text: text.to_owned(), statement: Box::new(statement), into: None })
                }
                None => Err(self.cursor.unexpected()),
            };
        };
        let (_, text) = self.cut(&[SEMICOLON])?;
        // Spaces in its place keep the positions of what follows.
        let start = first.start as usize;
        let blank = " ".repeat(hole.1 - hole.0);
        let text = format!("{}{blank}{}", &text[..hole.0 - start], &text[hole.1 - start..]);
        let parsed = parse::statement(&text).map_err(|error| moved(error, first))?;
        let Some(statement) = parsed else { return Err(self.cursor.unexpected()) };
        if !matches!(statement, Parsed::Sql(_) | Parsed::Fetch(_)) {
            return Err(SqlError::syntax("INTO used with a command that cannot return data"));
        }
        let text = text.trim_end().to_owned();
        Ok(StatementKind::Sql { text, statement: Box::new(statement), into: Some(into) })
    }

    /// INTO of the statement that follows, and from where to where it is.
    fn find_into(&mut self) -> Result<Option<(Into, (usize, usize))>> {
        let mark = self.cursor.mark();
        let (mut depth, mut before) = (0usize, Kind::Semicolon);
        loop {
            let token: Token = self.cursor.peek();
            match token.kind {
                Kind::Semicolon if depth == 0 => break,
                Kind::End => break,
                Kind::LeftParen => depth += 1,
                Kind::RightParen => depth = depth.saturating_sub(1),
                Kind::Word(K::Into) if depth == 0 && !matches!(before, Kind::Word(K::Insert | K::Merge)) => {
                    self.cursor.take();
                    let into = self.into()?;
                    let end = self.cursor.last().end as usize;
                    self.cursor.back_to(mark);
                    return Ok(Some((into, (token.start as usize, end))));
                }
                _ => {}
            }
            before = token.kind;
            self.cursor.take();
        }
        self.cursor.back_to(mark);
        Ok(None)
    }
}
