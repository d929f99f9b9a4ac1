//! Calls of functions: arguments, aggregates' and windows' clauses, and those with a syntax of their own.

use crate::parse::ast::{
    DuplicateTreatment, Expr, FrameExclude, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, TrimWhereField, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec,
    WindowType,
};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// The arguments and clauses of a call whose name has been taken.
    pub(crate) fn call(&mut self, name: ObjectName) -> Result<Box<Expr>> {
        Ok(Box::new(Expr::Function(self.function(name)?)))
    }

    /// Like [`Cursor::call`], as a function.
    pub(crate) fn function(&mut self, name: ObjectName) -> Result<Function> {
        let list = self.deeper(Self::arguments)?;
        let args = FunctionArguments::List(list);
        let mut function = Function { name, args, filter: None, over: None, within_group: Vec::new() };
        if self.accept_words(&[K::Within, K::Group]) {
            self.expect(Kind::LeftParen)?;
            function.within_group = self.order_by_list()?;
            self.expect(Kind::RightParen)?;
        }
        if self.keyword() == K::Filter && self.kind_at(1) == Kind::LeftParen {
            self.take();
            self.take();
            self.expect_word(K::Where)?;
            function.filter = Some(self.boxed_expr()?);
            self.expect(Kind::RightParen)?;
        }
        if self.keyword() == K::Over {
            self.take();
            function.over = Some(self.over()?);
        }
        Ok(function)
    }

    fn arguments(&mut self) -> Result<FunctionArgumentList> {
        self.expect(Kind::LeftParen)?;
        let mut list = FunctionArgumentList { duplicate_treatment: None, args: Vec::new(), order_by: Vec::new() };
        if self.accept(Kind::RightParen) {
            return Ok(list);
        }
        if self.kind() == Kind::Star && self.kind_at(1) == Kind::RightParen {
            self.take();
            self.take();
            list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
            return Ok(list);
        }
        if self.accept_word(K::Distinct) {
            list.duplicate_treatment = Some(DuplicateTreatment::Distinct);
        } else if self.accept_word(K::All) {
            list.duplicate_treatment = Some(DuplicateTreatment::All);
        }
        list.args = self.list(Self::argument)?;
        if self.keyword() == K::Order {
            list.order_by = self.order_by_list()?;
        }
        self.expect(Kind::RightParen)?;
        Ok(list)
    }

    fn argument(&mut self) -> Result<FunctionArg> {
        let variadic = self.accept_word(K::Variadic);
        let mut named = None;
        if matches!(self.kind(), Kind::Word(_) | Kind::Quoted) && matches!(self.kind_at(1), Kind::Arrow | Kind::Assign)
        {
            named = Some(self.function_name()?);
            self.take();
        }
        let expr = self.boxed_expr()?;
        Ok(argument(named, variadic, expr))
    }

    fn over(&mut self) -> Result<WindowType> {
        if self.kind() == Kind::LeftParen {
            return Ok(WindowType::WindowSpec(self.window()?));
        }
        Ok(WindowType::NamedWindow(self.ident()?))
    }

    /// A window in parentheses.
    pub(crate) fn window(&mut self) -> Result<WindowSpec> {
        self.expect(Kind::LeftParen)?;
        let mut spec =
            WindowSpec { window_name: None, partition_by: Vec::new(), order_by: Vec::new(), window_frame: None };
        let begins_clause = match self.keyword() {
            K::Partition => self.keyword_at(1) == K::By,
            K::Order | K::Rows | K::Range | K::Groups => true,
            _ => false,
        };
        if !begins_clause && self.kind() != Kind::RightParen {
            spec.window_name = Some(self.ident()?);
        }
        if self.accept_words(&[K::Partition, K::By]) {
            spec.partition_by = self.list(Self::expr)?;
        }
        if self.keyword() == K::Order {
            spec.order_by = self.order_by_list()?;
        }
        let units = match self.keyword() {
            K::Rows => Some(WindowFrameUnits::Rows),
            K::Range => Some(WindowFrameUnits::Range),
            K::Groups => Some(WindowFrameUnits::Groups),
            _ => None,
        };
        if let Some(units) = units {
            self.take();
            spec.window_frame = Some(self.frame(units)?);
        }
        self.expect(Kind::RightParen)?;
        Ok(spec)
    }

    fn frame(&mut self, units: WindowFrameUnits) -> Result<WindowFrame> {
        let (start_bound, end_bound) = if self.accept_word(K::Between) {
            let start = self.frame_bound()?;
            self.expect_word(K::And)?;
            (start, Some(self.frame_bound()?))
        } else {
            (self.frame_bound()?, None)
        };
        let mut exclude = FrameExclude::NoOthers;
        if self.accept_word(K::Exclude) {
            exclude = if self.accept_words(&[K::Current, K::Row]) {
                FrameExclude::CurrentRow
            } else if self.accept_word(K::Group) {
                FrameExclude::Group
            } else if self.accept_word(K::Ties) {
                FrameExclude::Ties
            } else {
                self.expect_words(&[K::No, K::Others])?;
                FrameExclude::NoOthers
            };
        }
        Ok(WindowFrame { units, start_bound, end_bound, exclude })
    }

    fn frame_bound(&mut self) -> Result<WindowFrameBound> {
        if self.accept_words(&[K::Current, K::Row]) {
            return Ok(WindowFrameBound::CurrentRow);
        }
        let offset = if self.accept_word(K::Unbounded) { None } else { Some(self.boxed_expr()?) };
        if self.accept_word(K::Preceding) {
            return Ok(WindowFrameBound::Preceding(offset));
        }
        self.expect_word(K::Following)?;
        Ok(WindowFrameBound::Following(offset))
    }

    /// CAST (… AS …)
    pub(crate) fn cast(&mut self) -> Result<Box<Expr>> {
        self.take();
        self.expect(Kind::LeftParen)?;
        let expr = self.boxed_expr()?;
        self.expect_word(K::As)?;
        let data_type = self.data_type()?;
        self.expect(Kind::RightParen)?;
        Ok(Box::new(Expr::Cast { expr, data_type }))
    }

    /// Whether calls of this function have a syntax of their own.
    pub(crate) fn has_own_syntax(keyword: K) -> bool {
        matches!(
            keyword,
            K::Extract
                | K::Position
                | K::Substring
                | K::Overlay
                | K::Trim
                | K::Coalesce
                | K::Greatest
                | K::Least
                | K::Nullif
                | K::Grouping
                | K::Normalize
                | K::Treat
                | K::Collation
                | K::Xmlconcat
                | K::Xmlelement
                | K::Xmlexists
                | K::Xmlforest
                | K::Xmlparse
                | K::Xmlpi
                | K::Xmlroot
                | K::Xmlserialize
        )
    }

    /// A call with a syntax of its own.
    pub(crate) fn special_call(&mut self, keyword: K) -> Result<Box<Expr>> {
        let name = self.take_ident()?;
        match keyword {
            K::Coalesce | K::Greatest | K::Least | K::Nullif | K::Grouping => {
                let args = self.parenthesized(Self::expr)?;
                Ok(plain_call(name, args))
            }
            K::Extract => self.extract(),
            K::Position => self.position(),
            K::Substring => self.substring(name),
            K::Overlay => self.overlay(name),
            K::Trim => self.trim(),
            K::Normalize => {
                let args = self.parenthesized(Self::expr)?;
                Ok(plain_call(name, args))
            }
            K::Collation => Err(SqlError::unsupported("COLLATION FOR")),
            other => Err(SqlError::unsupported(other.text().to_uppercase())),
        }
    }

    fn extract(&mut self) -> Result<Box<Expr>> {
        self.expect(Kind::LeftParen)?;
        let token = self.peek();
        let value = if self.at_string() { self.string()? } else { self.label()?.value };
        self.expect_word(K::From)?;
        let expr = self.boxed_expr()?;
        self.expect(Kind::RightParen)?;
        let field = Ident { value, quoted: false, span: self.span(token) };
        Ok(Box::new(Expr::Extract { field, expr }))
    }

    fn position(&mut self) -> Result<Box<Expr>> {
        self.expect(Kind::LeftParen)?;
        let expr = self.restricted_expr()?;
        self.expect_word(K::In)?;
        let r#in = self.restricted_expr()?;
        self.expect(Kind::RightParen)?;
        Ok(Box::new(Expr::Position { expr, r#in }))
    }

    fn substring(&mut self, name: Ident) -> Result<Box<Expr>> {
        self.expect(Kind::LeftParen)?;
        let expr = self.expr()?;
        if self.kind() == Kind::Comma || self.kind() == Kind::RightParen {
            return self.rest_of_plain_call(name, expr);
        }
        let (mut substring_from, mut substring_for) = (None, None);
        if self.accept_word(K::Similar) {
            let pattern = self.expr()?;
            self.expect_word(K::Escape)?;
            let escape = self.expr()?;
            self.expect(Kind::RightParen)?;
            return Ok(plain_call(name, vec![expr, pattern, escape]));
        }
        loop {
            if substring_from.is_none() && self.accept_word(K::From) {
                substring_from = Some(self.boxed_expr()?);
            } else if substring_for.is_none() && self.accept_word(K::For) {
                substring_for = Some(self.boxed_expr()?);
            } else {
                break;
            }
        }
        self.expect(Kind::RightParen)?;
        let expr = Box::new(expr);
        Ok(Box::new(Expr::Substring { expr, substring_from, substring_for }))
    }

    fn overlay(&mut self, name: Ident) -> Result<Box<Expr>> {
        self.expect(Kind::LeftParen)?;
        let expr = self.expr()?;
        if !self.accept_word(K::Placing) {
            return self.rest_of_plain_call(name, expr);
        }
        let overlay_what = self.boxed_expr()?;
        self.expect_word(K::From)?;
        let overlay_from = self.boxed_expr()?;
        let overlay_for = if self.accept_word(K::For) { Some(self.boxed_expr()?) } else { None };
        self.expect(Kind::RightParen)?;
        Ok(Box::new(Expr::Overlay { expr: Box::new(expr), overlay_what, overlay_from, overlay_for }))
    }

    fn rest_of_plain_call(&mut self, name: Ident, first: Expr) -> Result<Box<Expr>> {
        let mut args = vec![first];
        while self.accept(Kind::Comma) {
            args.push(self.expr()?);
        }
        self.expect(Kind::RightParen)?;
        Ok(plain_call(name, args))
    }

    fn trim(&mut self) -> Result<Box<Expr>> {
        self.expect(Kind::LeftParen)?;
        let side = match self.keyword() {
            K::Both => Some(TrimWhereField::Both),
            K::Leading => Some(TrimWhereField::Leading),
            K::Trailing => Some(TrimWhereField::Trailing),
            _ => None,
        };
        if side.is_some() {
            self.take();
        }
        let mut trim_what = None;
        let first = if self.accept_word(K::From) {
            self.expr()?
        } else {
            let first = self.expr()?;
            if self.accept_word(K::From) {
                trim_what = Some(Box::new(first));
                self.expr()?
            } else {
                first
            }
        };
        let mut more = Vec::new();
        while self.accept(Kind::Comma) {
            more.push(self.expr()?);
        }
        self.expect(Kind::RightParen)?;
        // `trim(a, b)` is a call of one of the functions behind TRIM.
        if !more.is_empty() && trim_what.is_none() {
            let name = match side {
                None | Some(TrimWhereField::Both) => "btrim",
                Some(TrimWhereField::Leading) => "ltrim",
                Some(TrimWhereField::Trailing) => "rtrim",
            };
            more.insert(0, first);
            return Ok(plain_call(Ident::new(name), more));
        }
        Ok(Box::new(Expr::Trim { trim_where: side, trim_what, expr: Box::new(first) }))
    }
}

#[inline(never)]
fn argument(named: Option<Ident>, variadic: bool, expr: Box<Expr>) -> FunctionArg {
    let arg = match *expr {
        expr if variadic => FunctionArgExpr::Variadic(expr),
        expr => FunctionArgExpr::Expr(expr),
    };
    match named {
        Some(name) => FunctionArg::Named { name, arg },
        None => FunctionArg::Unnamed(arg),
    }
}

#[inline(never)]
fn plain_call(name: Ident, args: Vec<Expr>) -> Box<Expr> {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Box::new(Expr::Function(Function::plain(name.into(), args)))
}
