//! GRANT and REVOKE, CREATE and DROP ROLE. There are no privileges; what is named has to exist all the same.

use crate::parse::ast::{Ident, ObjectName};

use crate::error::Result;
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::statement::Statement;
use crate::parse::token::Kind;

/// GRANT or REVOKE.
#[derive(Clone, PartialEq, Debug)]
pub struct Grant {
    /// Its tag.
    pub tag: String,
    /// What the privileges are of.
    pub of: Granted,
    /// Who gets or loses them. PUBLIC and CURRENT_USER are left out.
    pub roles: Vec<Ident>,
}

/// What privileges are of.
#[derive(Clone, PartialEq, Debug)]
pub enum Granted {
    /// Tables, views and sequences.
    Relations(Vec<ObjectName>),
    /// Sequences.
    Sequences(Vec<ObjectName>),
    /// Schemas, or all that is in them.
    Schemas(Vec<Ident>),
    /// Something that is not looked at.
    Other,
    /// Being one of these roles.
    Roles(Vec<Ident>),
}

/// CREATE ROLE and DROP ROLE.
#[derive(Clone, PartialEq, Debug)]
pub enum RoleChange {
    /// CREATE ROLE, USER or GROUP
    Create(Ident),
    /// DROP ROLE, USER or GROUP
    Drop {
        /// IF EXISTS
        if_exists: bool,
        /// Which ones.
        names: Vec<Ident>,
    },
}

impl Cursor<'_> {
    /// GRANT, REVOKE
    pub(crate) fn grant(&mut self) -> Result<Statement> {
        let first = self.take();
        let word = self.text_of(first).to_uppercase();
        let end = if word == "GRANT" { K::To } else { K::From };
        let mut members = Vec::new();
        let mut depth = 0;
        while depth > 0 || !(self.keyword() == K::On || self.keyword() == end) {
            match self.kind() {
                Kind::End | Kind::Semicolon => return Err(self.unexpected()),
                Kind::LeftParen => depth += 1,
                Kind::RightParen => depth -= 1,
                Kind::Word(_) | Kind::Quoted if depth == 0 && self.kind_at(1) != Kind::Word(K::Option) => {
                    members.push(self.label()?);
                    continue;
                }
                _ => {}
            }
            self.take();
        }
        let on = self.accept_word(K::On);
        let of = if on { self.granted(end)? } else { Granted::Roles(members) };
        self.expect_word(end)?;
        let roles = self.list(Self::grantee)?.into_iter().flatten().collect();
        self.skip_rest();
        let tag = if on { word } else { format!("{word} ROLE") };
        Ok(Statement::Grant(Box::new(Grant { tag, of, roles })))
    }

    fn granted(&mut self, end: K) -> Result<Granted> {
        let names_follow =
            matches!(self.kind_at(1), Kind::Word(next) if next != end) || self.kind_at(1) == Kind::Quoted;
        match self.keyword() {
            K::Table if names_follow => {
                self.take();
                Ok(Granted::Relations(self.list(Self::object_name)?))
            }
            K::Sequence if names_follow => {
                self.take();
                Ok(Granted::Sequences(self.list(Self::object_name)?))
            }
            K::Schema if names_follow => {
                self.take();
                Ok(Granted::Schemas(self.list(Self::ident)?))
            }
            K::All => {
                while !matches!(self.kind(), Kind::End | Kind::Semicolon) && !self.accept_word(K::Schema) {
                    self.take();
                }
                Ok(Granted::Schemas(self.list(Self::ident)?))
            }
            _ if names_follow => {
                while !matches!(self.kind(), Kind::End | Kind::Semicolon) && self.keyword() != end {
                    self.take();
                }
                Ok(Granted::Other)
            }
            _ => Ok(Granted::Relations(self.list(Self::object_name)?)),
        }
    }

    fn grantee(&mut self) -> Result<Option<Ident>> {
        self.accept_word(K::Group);
        if matches!(self.keyword(), K::CurrentUser | K::SessionUser | K::CurrentRole) {
            self.take();
            return Ok(None);
        }
        let role = self.ident()?;
        let public = !role.quoted && role.value.eq_ignore_ascii_case("public");
        Ok((!public).then_some(role))
    }

    /// CREATE ROLE, after CREATE.
    pub(crate) fn create_role(&mut self) -> Result<Statement> {
        self.take();
        let name = self.ident()?;
        self.skip_rest();
        Ok(Statement::Role(RoleChange::Create(name)))
    }

    /// DROP ROLE, after its words.
    pub(crate) fn drop_role(&mut self) -> Result<Statement> {
        let if_exists = self.accept_words(&[K::If, K::Exists]);
        Ok(Statement::Role(RoleChange::Drop { if_exists, names: self.list(Self::ident)? }))
    }
}
