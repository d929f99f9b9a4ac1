//! CREATE FUNCTION and CREATE PROCEDURE, and how functions are named elsewhere.

use crate::error::{Result, SqlError, SqlState};
use crate::parse::cursor::Cursor;
use crate::parse::ddl::{
    CreateFunction, Ddl, FunctionOption, FunctionParameter, FunctionReturns, ParameterMode, Volatility,
};
use crate::parse::keywords::Keyword as K;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// CREATE FUNCTION, from that word on.
    pub(crate) fn create_function(&mut self, or_replace: bool) -> Result<Ddl> {
        let procedure = self.take().kind.keyword() == K::Procedure;
        let name = self.any_name()?;
        let parameters = self.parameters()?;
        let mut returns = None;
        if !procedure && self.accept_word(K::Returns) {
            returns = Some(if self.accept_word(K::Table) {
                FunctionReturns::Table(
                    self.parenthesized(|cursor| Ok((cursor.parameter_name()?, cursor.type_name()?)))?,
                )
            } else {
                FunctionReturns::Type(self.type_name()?)
            });
        }
        let mut options = Vec::new();
        while let Some(option) = self.function_option(true)? {
            options.push(option);
        }
        Ok(Ddl::CreateFunction(CreateFunction { or_replace, procedure, name, parameters, returns, options }))
    }

    /// The parameters of a function, in parentheses.
    pub(crate) fn parameters(&mut self) -> Result<Vec<FunctionParameter>> {
        self.expect(Kind::LeftParen)?;
        let parameters = if self.kind() == Kind::RightParen { Vec::new() } else { self.list(Self::parameter)? };
        self.expect(Kind::RightParen)?;
        Ok(parameters)
    }

    fn parameter_name(&mut self) -> Result<crate::parse::ast::Ident> {
        self.function_name()
    }

    fn mode(&mut self) -> Option<ParameterMode> {
        let mode = match self.keyword() {
            K::In if self.keyword_at(1) == K::Out => {
                self.take();
                ParameterMode::InOut
            }
            K::In => ParameterMode::In,
            K::Out => ParameterMode::Out,
            K::Inout => ParameterMode::InOut,
            K::Variadic => ParameterMode::Variadic,
            _ => return None,
        };
        self.take();
        Some(mode)
    }

    /// `[mode] [name] type [default]`, the mode before or after the name.
    fn parameter(&mut self) -> Result<FunctionParameter> {
        let mut mode = self.mode();
        let mark = self.mark();
        let mut name = None;
        // A name, if a type follows it: two names in a row, or a mode between them.
        if matches!(self.kind(), Kind::Word(_) | Kind::Quoted) {
            let taken = self.function_name();
            let named = taken.is_ok() && {
                if mode.is_none() {
                    mode = self.mode();
                }
                mode.is_some() && mark + 1 < self.mark() || self.at_type()
            };
            match taken {
                Ok(ident) if named => name = Some(ident),
                _ => {
                    self.back_to(mark);
                }
            }
        }
        let data_type = match self.type_name() {
            Ok(data_type) => data_type,
            // `double precision` and the like look like a name and a type.
            Err(error) if name.is_none() => return Err(error),
            Err(_) => {
                self.back_to(mark);
                name = None;
                self.type_name()?
            }
        };
        let default = if self.accept_word(K::Default) || self.accept(Kind::Equal) || self.accept(Kind::Assign) {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(FunctionParameter { mode, name, data_type, default })
    }

    /// Whether a type follows, after something that may be a parameter's name.
    fn at_type(&self) -> bool {
        use crate::parse::keywords::Class;
        match self.keyword() {
            // `double precision`, `time with time zone`, `char varying` without a name before them.
            K::Precision | K::Varying | K::Array | K::Default => false,
            K::Setof => true,
            _ => {
                self.is_name(0, &[Class::Unreserved, Class::TypeOrFunctionName])
                    || matches!(self.keyword(), keyword if keyword.class() == Class::ColumnName)
            }
        }
    }

    /// An option of a function, if one follows. `create` also takes its body and language.
    pub(crate) fn function_option(&mut self, create: bool) -> Result<Option<FunctionOption>> {
        let option = match self.keyword() {
            K::Language if create => {
                self.take();
                let language = if self.at_string() { self.string()? } else { self.label()?.value };
                return Ok(Some(FunctionOption::Language(language.to_ascii_lowercase())));
            }
            K::As if create => return self.function_body().map(Some),
            K::Begin if create => return self.atomic_body().map(Some),
            K::Return if create => {
                self.take();
                let mark = self.mark();
                self.expr()?;
                return Ok(Some(FunctionOption::Return(format!("SELECT {}", self.text_since(mark)))));
            }
            K::Called => {
                self.expect_words(&[K::Called, K::On, K::Null, K::Input])?;
                return Ok(Some(FunctionOption::Strict(false)));
            }
            K::Returns => {
                self.expect_words(&[K::Returns, K::Null, K::On, K::Null, K::Input])?;
                return Ok(Some(FunctionOption::Strict(true)));
            }
            K::Strict => FunctionOption::Strict(true),
            K::Immutable => FunctionOption::Volatility(Volatility::Immutable),
            K::Stable => FunctionOption::Volatility(Volatility::Stable),
            K::Volatile => FunctionOption::Volatility(Volatility::Volatile),
            K::External | K::Security => {
                self.accept_word(K::External);
                self.expect_word(K::Security)?;
                if !matches!(self.keyword(), K::Invoker | K::Definer) {
                    return Err(self.unexpected());
                }
                FunctionOption::SecurityDefiner(self.keyword() == K::Definer)
            }
            K::Leakproof => FunctionOption::Leakproof(true),
            K::Not => {
                self.take();
                if self.keyword() != K::Leakproof {
                    return Err(self.unexpected());
                }
                FunctionOption::Leakproof(false)
            }
            K::Window => FunctionOption::Unsupported("a user's window function"),
            K::Cost => {
                self.take();
                return Ok(Some(FunctionOption::Cost(self.positive_number("COST")?)));
            }
            K::Rows => {
                self.take();
                return Ok(Some(FunctionOption::Rows(self.positive_number("ROWS")?)));
            }
            K::Parallel => {
                self.take();
                let word = self.label()?.value.to_ascii_lowercase();
                if !matches!(word.as_str(), "safe" | "unsafe" | "restricted") {
                    return Err(SqlError::syntax("parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE"));
                }
                return Ok(Some(FunctionOption::Parallel(word)));
            }
            K::Support => {
                self.take();
                self.any_name()?;
                return Ok(Some(FunctionOption::Unsupported("a support function")));
            }
            K::Transform => return Err(SqlError::unsupported("TRANSFORM of a function")),
            K::Set => {
                self.take();
                let (name, values) = self.setting()?;
                return Ok(Some(FunctionOption::Set(name, values)));
            }
            K::Reset if !create => return Ok(Some(FunctionOption::Reset(self.named_setting()?))),
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(option))
    }

    /// A number of COST or ROWS.
    fn positive_number(&mut self, what: &str) -> Result<f64> {
        let mark = self.mark();
        self.primary()?;
        match self.text_since(mark).trim().parse::<f64>() {
            Ok(number) if number > 0.0 => Ok(number),
            _ => Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("{what} must be positive"))),
        }
    }

    fn function_body(&mut self) -> Result<FunctionOption> {
        self.take();
        let body = self.string()?;
        if self.accept(Kind::Comma) {
            self.string()?;
            return Ok(FunctionOption::Unsupported("a function of a library"));
        }
        Ok(FunctionOption::Body(body))
    }

    /// BEGIN ATOMIC … END
    fn atomic_body(&mut self) -> Result<FunctionOption> {
        self.expect_words(&[K::Begin, K::Atomic])?;
        let mark = self.mark();
        loop {
            while self.accept(Kind::Semicolon) {}
            if self.keyword() == K::End {
                break;
            }
            self.statement()?;
            if self.kind() != Kind::Semicolon {
                return Err(self.unexpected());
            }
        }
        let text = self.text_since(mark).to_owned();
        self.take();
        Ok(FunctionOption::SqlBody(text))
    }
}
