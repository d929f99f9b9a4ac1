//! COPY, with the options of all versions of PostgreSQL.

use crate::error::Result;
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::statement::{Copy, CopyOption, CopyTarget, CopyWhat, Statement};
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// COPY
    pub(crate) fn copy(&mut self) -> Result<Statement> {
        self.take();
        let mut options = Vec::new();
        if self.accept_word(K::Binary) {
            options.push(format("binary"));
        }
        let what = if self.kind() == Kind::LeftParen {
            self.take();
            let query = self.query_or_change()?;
            self.expect(Kind::RightParen)?;
            CopyWhat::Query(query)
        } else {
            let name = self.object_name()?;
            let columns = if self.kind() == Kind::LeftParen { self.parenthesized(Self::ident)? } else { Vec::new() };
            CopyWhat::Table(name, columns)
        };
        let from = matches!(what, CopyWhat::Table(..)) && self.accept_word(K::From);
        if !from {
            self.expect_word(K::To)?;
        }
        let target = if self.accept_word(K::Program) {
            CopyTarget::Program(self.string()?)
        } else if self.accept_word(K::Stdin) || self.accept_word(K::Stdout) {
            CopyTarget::Client
        } else {
            CopyTarget::File(self.string()?)
        };
        if self.accept_word(K::Using) {
            self.expect_word(K::Delimiters)?;
            options.push(("delimiter".to_owned(), CopyOption::Value(self.string()?)));
        }
        self.accept_word(K::With);
        if self.kind() == Kind::LeftParen {
            options.extend(self.parenthesized(Self::copy_option)?);
        } else {
            while let Some(option) = self.old_copy_option()? {
                options.push(option);
            }
        }
        let condition = if from && self.accept_word(K::Where) { Some(self.expr()?) } else { None };
        Ok(Statement::Copy(Box::new(Copy { what, from, target, options, condition })))
    }

    fn copy_option(&mut self) -> Result<(String, CopyOption)> {
        let name = self.label()?.value;
        let value = match self.kind() {
            Kind::Comma | Kind::RightParen => CopyOption::None,
            Kind::Star => {
                self.take();
                CopyOption::All
            }
            Kind::LeftParen => CopyOption::Columns(self.parenthesized(|cursor| Ok(cursor.label()?.value))?),
            Kind::Integer | Kind::Number => {
                let token = self.take();
                CopyOption::Value(self.text_of(token).to_owned())
            }
            _ if self.at_string() => CopyOption::Value(self.string()?),
            _ => CopyOption::Value(self.label()?.value),
        };
        Ok((name, value))
    }

    /// An option as PostgreSQL had them before version 9.
    fn old_copy_option(&mut self) -> Result<Option<(String, CopyOption)>> {
        let keyword = self.keyword();
        let flag = |name: &str| Ok(Some((name.to_owned(), CopyOption::None)));
        match keyword {
            K::Binary | K::Csv => {
                self.take();
                Ok(Some(format(keyword.text())))
            }
            K::Header | K::Freeze => {
                self.take();
                flag(keyword.text())
            }
            K::Delimiter | K::Null | K::Quote | K::Escape | K::Encoding => {
                self.take();
                self.accept_word(K::As);
                Ok(Some((keyword.text().to_owned(), CopyOption::Value(self.string()?))))
            }
            K::Force => {
                self.take();
                let name = if self.accept_word(K::Quote) {
                    "force_quote"
                } else if self.accept_words(&[K::Not, K::Null]) {
                    "force_not_null"
                } else {
                    self.expect_word(K::Null)?;
                    "force_null"
                };
                if self.accept(Kind::Star) {
                    return Ok(Some((name.to_owned(), CopyOption::All)));
                }
                let columns = self.list(|cursor| Ok(cursor.ident()?.value))?;
                Ok(Some((name.to_owned(), CopyOption::Columns(columns))))
            }
            _ => Ok(None),
        }
    }
}

fn format(name: &str) -> (String, CopyOption) {
    ("format".to_owned(), CopyOption::Value(name.to_owned()))
}
