//! What stands between operators: literals, names, calls, CASE, subqueries, rows, arrays.

use crate::parse::ast::{
    AccessExpr, Array, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, Query, Subscript, TypedString, Value, ValueWithSpan,
};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::keywords::{Class, Keyword as K};
use crate::parse::literal;
use crate::parse::token::{Kind, Token};

impl Cursor<'_> {
    /// An operand.
    pub(crate) fn primary(&mut self) -> Result<Box<Expr>> {
        let token = self.peek();
        match token.kind {
            Kind::Word(keyword) => self.word(keyword),
            Kind::Quoted | Kind::UnicodeQuoted => self.name_or_call(),
            Kind::Parameter(_) => {
                let parameter = self.literal()?;
                self.indirection(parameter)
            }
            Kind::LeftParen => {
                let inner = self.parenthesized_expr()?;
                // A row in parentheses has no fields to take.
                if matches!(*inner, Expr::Tuple(_)) { Ok(inner) } else { self.indirection(inner) }
            }
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Box<Expr>> {
        let token = self.peek();
        let value = match token.kind {
            Kind::Integer | Kind::Number => Value::Number(self.text_of(token).to_owned()),
            Kind::String | Kind::EscapeString | Kind::UnicodeString | Kind::DollarString => {
                let text = self.string()?;
                return Ok(self.value(token, Value::SingleQuotedString(text)));
            }
            Kind::BitString => Value::BitString(literal::string(self.text, token)?),
            Kind::HexString => Value::HexString(literal::string(self.text, token)?),
            Kind::Parameter(_) => Value::Placeholder(self.text_of(token).to_owned()),
            _ => return Err(self.unexpected()),
        };
        self.take();
        Ok(self.value(token, value))
    }

    fn value(&self, token: Token, value: Value) -> Box<Expr> {
        Box::new(Expr::Value(ValueWithSpan { value, span: self.span(token) }))
    }

    fn name_or_call(&mut self) -> Result<Box<Expr>> {
        let first = self.take_ident()?;
        self.named(first)
    }

    fn word(&mut self, keyword: K) -> Result<Box<Expr>> {
        let token = self.peek();
        let simple = match keyword {
            K::Plain => None,
            K::True => Some(Value::Boolean(true)),
            K::False => Some(Value::Boolean(false)),
            K::Null => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = simple {
            self.take();
            return Ok(self.value(token, value));
        }
        if keyword == K::Plain {
            return self.name_or_call();
        }
        let called = self.kind_at(1) == Kind::LeftParen;
        match keyword {
            K::Case => self.case(),
            K::Array => self.array(),
            K::Default => {
                self.take();
                Ok(Box::new(Expr::Default(self.span(token))))
            }
            K::Exists if called => {
                self.take();
                let subquery = self.subquery()?;
                Ok(Box::new(Expr::Exists { subquery, negated: false }))
            }
            K::Row if called => self.row(),
            K::CurrentDate
            | K::CurrentTime
            | K::CurrentTimestamp
            | K::Localtime
            | K::Localtimestamp
            | K::CurrentUser
            | K::CurrentRole
            | K::SessionUser
            | K::User
            | K::CurrentCatalog => self.value_function(),
            K::CurrentSchema if !called => self.value_function(),
            K::Interval => self.interval(),
            K::Cast if called => self.cast(),
            _ if called && Self::has_own_syntax(keyword) => self.special_call(keyword),
            _ => self.other_word(keyword, called),
        }
    }

    /// A keyword that is used as a name, or begins the name of a type.
    fn other_word(&mut self, keyword: K, called: bool) -> Result<Box<Expr>> {
        if let Some(constant) = self.typed_constant()? {
            return Ok(constant);
        }
        let usable = match keyword.class() {
            Class::Unreserved => true,
            Class::ColumnName => !called,
            Class::TypeOrFunctionName => called || self.string_at(1),
            Class::Reserved => false,
        };
        if !usable {
            return Err(self.no_constant(keyword, called));
        }
        self.name_or_call()
    }

    /// Where `numeric(…)` or `varchar(…)` stops being the type of a constant.
    fn no_constant(&mut self, keyword: K, called: bool) -> SqlError {
        if !called || keyword.class() != Class::ColumnName {
            return self.unexpected();
        }
        let mark = self.mark();
        let parsed = match keyword {
            K::Numeric | K::Decimal | K::Dec | K::Bit => {
                self.take();
                self.parenthesized(|cursor| cursor.boxed_expr()).map(|_| true)
            }
            _ => self.keyword_type().map(|found| found.is_some()),
        };
        match parsed {
            Ok(true) => self.unexpected(),
            Ok(false) => {
                self.back_to(mark);
                self.unexpected()
            }
            Err(error) => error,
        }
    }

    fn string_at(&self, ahead: usize) -> bool {
        matches!(self.kind_at(ahead), Kind::String | Kind::EscapeString | Kind::UnicodeString | Kind::DollarString)
    }

    /// `numeric(10, 2) '1.5'`: a type whose name is a keyword, and a literal.
    fn typed_constant(&mut self) -> Result<Option<Box<Expr>>> {
        let mark = self.mark();
        if let Ok(Some(data_type)) = self.keyword_type()
            && self.at_string()
        {
            return self.typed_string(data_type).map(Some);
        }
        self.back_to(mark);
        Ok(None)
    }

    fn typed_string(&mut self, data_type: DataType) -> Result<Box<Expr>> {
        let token = self.peek();
        let text = self.string()?;
        let value = ValueWithSpan { value: Value::SingleQuotedString(text), span: self.span(token) };
        Ok(Box::new(Expr::TypedString(TypedString { data_type, value })))
    }

    /// A column, a call, or a literal of a named type, whose first name has been taken.
    fn named(&mut self, first: Ident) -> Result<Box<Expr>> {
        match self.kind() {
            Kind::Dot => self.qualified_name(first),
            Kind::LeftParen => self.call(ObjectName::from(first)),
            Kind::LeftBracket => self.indirection(Box::new(Expr::Identifier(first))),
            _ if self.at_string() => {
                let data_type = self.generic_type(first)?;
                self.typed_string(data_type)
            }
            _ => Ok(Box::new(Expr::Identifier(first))),
        }
    }

    fn qualified_name(&mut self, first: Ident) -> Result<Box<Expr>> {
        let mut parts = vec![first];
        while self.kind() == Kind::Dot {
            self.take();
            if self.kind() == Kind::Star {
                self.take();
                return Ok(Box::new(Expr::QualifiedWildcard(ObjectName::from(parts))));
            }
            parts.push(self.label()?);
        }
        match self.kind() {
            Kind::LeftParen => self.call(ObjectName::from(parts)),
            Kind::LeftBracket => self.indirection(Box::new(Expr::CompoundIdentifier(parts))),
            _ if self.at_string() => {
                let data_type = DataType::Custom(ObjectName::from(parts), Vec::new());
                self.typed_string(data_type)
            }
            _ => Ok(Box::new(Expr::CompoundIdentifier(parts))),
        }
    }

    /// Fields and subscripts after an operand.
    pub(crate) fn indirection(&mut self, root: Box<Expr>) -> Result<Box<Expr>> {
        if !matches!(self.kind(), Kind::Dot | Kind::LeftBracket) {
            return Ok(root);
        }
        let mut access_chain = Vec::new();
        loop {
            match self.kind() {
                Kind::Dot => {
                    self.take();
                    if self.kind() == Kind::Star {
                        self.take();
                        let root = Self::accessed(root, access_chain);
                        return Ok(Self::accessed(root, vec![AccessExpr::Wildcard]));
                    }
                    access_chain.push(AccessExpr::Field(self.label()?));
                }
                Kind::LeftBracket => {
                    self.take();
                    access_chain.push(AccessExpr::Subscript(self.subscript()?));
                }
                _ => return Ok(Self::accessed(root, access_chain)),
            }
        }
    }

    fn accessed(root: Box<Expr>, access_chain: Vec<AccessExpr>) -> Box<Expr> {
        if access_chain.is_empty() {
            return root;
        }
        Box::new(Expr::CompoundFieldAccess { root, access_chain })
    }

    /// What follows a bracket.
    pub(crate) fn subscript(&mut self) -> Result<Subscript> {
        let bound = |cursor: &mut Self| match cursor.kind() {
            Kind::Colon | Kind::RightBracket => Ok(None),
            _ => cursor.expr().map(Some),
        };
        let lower_bound = bound(self)?;
        if self.accept(Kind::Colon) {
            let upper_bound = bound(self)?;
            self.expect(Kind::RightBracket)?;
            return Ok(Subscript::Slice { lower_bound, upper_bound });
        }
        let Some(index) = lower_bound else { return Err(self.unexpected()) };
        self.expect(Kind::RightBracket)?;
        Ok(Subscript::Index { index })
    }

    /// Whether what follows, after opening parentheses, begins a query.
    pub(crate) fn at_subquery(&self) -> bool {
        let ahead = self.parentheses();
        ahead > 0 && matches!(self.keyword_at(ahead), K::Select | K::Values | K::With | K::Table)
    }

    /// A query in parentheses.
    pub(crate) fn subquery(&mut self) -> Result<Box<Query>> {
        if !self.at_subquery() {
            self.expect(Kind::LeftParen)?;
            return Err(self.unexpected());
        }
        self.expect(Kind::LeftParen)?;
        let query = self.query()?;
        self.expect(Kind::RightParen)?;
        Ok(query)
    }

    /// What begins with a parenthesis: an expression, a row, a subquery.
    pub(crate) fn parenthesized_expr(&mut self) -> Result<Box<Expr>> {
        let query = self.at_subquery();
        self.expect(Kind::LeftParen)?;
        let first = if query { self.deeper(Self::query_or_expr)? } else { self.boxed_expr()? };
        if self.accept(Kind::RightParen) {
            return Ok(if matches!(*first, Expr::Subquery(_)) { first } else { Box::new(Expr::Nested(first)) });
        }
        self.row_after(first)
    }

    fn row_after(&mut self, first: Box<Expr>) -> Result<Box<Expr>> {
        let mut items = vec![*first];
        while self.accept(Kind::Comma) {
            items.push(self.expr()?);
        }
        self.expect(Kind::RightParen)?;
        Ok(Box::new(Expr::Tuple(items)))
    }

    /// After a parenthesis that may begin a query: `(SELECT …) UNION …` is one, `(SELECT …) + 1` is an expression.
    fn query_or_expr(&mut self) -> Result<Box<Expr>> {
        if self.kind() != Kind::LeftParen {
            return Ok(Box::new(Expr::Subquery(self.query()?)));
        }
        let first = self.parenthesized_expr()?;
        let first = match *first {
            Expr::Subquery(query) if self.continues_query() => {
                return Ok(Box::new(Expr::Subquery(self.rest_of_query(query)?)));
            }
            Expr::Subquery(query) if self.kind() == Kind::RightParen => return Ok(Box::new(Expr::Subquery(query))),
            Expr::Tuple(items) => Box::new(Expr::Tuple(items)),
            other => self.indirection(Box::new(other))?,
        };
        self.rest_of_expr(first)
    }

    fn case(&mut self) -> Result<Box<Expr>> {
        let start = self.take();
        let operand = if self.keyword() == K::When { None } else { Some(self.boxed_expr()?) };
        let mut conditions = Vec::new();
        while self.accept_word(K::When) {
            let condition = self.expr()?;
            self.expect_word(K::Then)?;
            conditions.push(CaseWhen { condition, result: self.expr()? });
        }
        if conditions.is_empty() {
            return Err(self.unexpected());
        }
        let else_result = if self.accept_word(K::Else) { Some(self.boxed_expr()?) } else { None };
        self.expect_word(K::End)?;
        Ok(Box::new(Expr::Case { span: self.span(start), operand, conditions, else_result }))
    }

    fn array(&mut self) -> Result<Box<Expr>> {
        if self.kind_at(1) == Kind::LeftParen {
            let name = self.take_ident()?;
            let query = self.subquery()?;
            let mut function = Function::plain(name.into(), Vec::new());
            function.args = FunctionArguments::Subquery(query);
            return Ok(Box::new(Expr::Function(function)));
        }
        self.take();
        if self.kind() != Kind::LeftBracket {
            return Err(self.unexpected());
        }
        self.array_items(true).map(Box::new)
    }

    /// `[…]`, which nests in ARRAY without the word.
    fn array_items(&mut self, named: bool) -> Result<Expr> {
        self.deeper(|cursor| {
            cursor.expect(Kind::LeftBracket)?;
            let mut elem = Vec::new();
            if cursor.kind() != Kind::RightBracket {
                elem = cursor.list(|cursor| match cursor.kind() {
                    Kind::LeftBracket => cursor.array_items(false),
                    _ => cursor.expr(),
                })?;
            }
            cursor.expect(Kind::RightBracket)?;
            Ok(Expr::Array(Array { elem, named }))
        })
    }

    fn row(&mut self) -> Result<Box<Expr>> {
        self.take();
        self.expect(Kind::LeftParen)?;
        let items = if self.kind() == Kind::RightParen { Vec::new() } else { self.list(Self::expr)? };
        self.expect(Kind::RightParen)?;
        Ok(Box::new(Expr::Tuple(items)))
    }

    /// CURRENT_DATE and the like: calls without parentheses.
    fn value_function(&mut self) -> Result<Box<Expr>> {
        let keyword = self.keyword();
        let name = self.take_ident()?;
        let mut function = Function::plain(name.into(), Vec::new());
        let takes_precision =
            matches!(keyword, K::CurrentTime | K::CurrentTimestamp | K::Localtime | K::Localtimestamp);
        if takes_precision && self.accept(Kind::LeftParen) {
            let token = self.expect(Kind::Integer)?;
            let precision = self.value(token, Value::Number(self.text_of(token).to_owned()));
            if let FunctionArguments::List(list) = &mut function.args {
                list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(*precision)));
            }
            self.expect(Kind::RightParen)?;
        } else {
            function.args = FunctionArguments::None;
        }
        Ok(Box::new(Expr::Function(function)))
    }

    /// `INTERVAL '1' DAY`, or the word as a name.
    fn interval(&mut self) -> Result<Box<Expr>> {
        let mark = self.mark();
        let first = self.take_ident()?;
        let mut precision = None;
        if self.kind() == Kind::LeftParen && self.kind_at(1) == Kind::Integer && self.kind_at(2) == Kind::RightParen {
            self.back_to(mark);
            if let Some(DataType::Interval { precision: said, .. }) = self.keyword_type()? {
                precision = said;
            }
        }
        if !self.at_string() {
            self.back_to(mark);
            return if self.kind_at(1) == Kind::LeftParen {
                Err(self.unexpected_at(self.peek()))
            } else {
                self.take();
                self.named(first)
            };
        }
        let token = self.peek();
        let text = self.string()?;
        let value = ValueWithSpan { value: Value::SingleQuotedString(text), span: self.span(token) };
        let (fields, seconds) = self.interval_fields()?;
        let data_type = DataType::Interval { fields, precision: precision.or(seconds) };
        Ok(Box::new(Expr::TypedString(TypedString { data_type, value })))
    }
}
