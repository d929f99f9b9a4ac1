//! CREATE, ALTER and DROP DATABASE.

use crate::error::{Result, SqlError};
use crate::parse::ast::Ident;
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::statement::Statement;
use crate::parse::token::Kind;

/// What is asked of a database as a whole.
#[derive(Clone, PartialEq, Debug)]
pub enum DatabaseChange {
    /// CREATE DATABASE
    Create {
        /// Its name.
        name: String,
        /// The database that it is a copy of.
        template: Option<String>,
    },
    /// DROP DATABASE
    Drop {
        /// Its name.
        name: String,
        /// IF EXISTS
        if_exists: bool,
        /// WITH (FORCE): connections to it are ended.
        force: bool,
    },
    /// ALTER DATABASE … RENAME TO
    Rename {
        /// Its name.
        name: String,
        /// Its new name.
        to: String,
    },
    /// ALTER DATABASE …: an owner, a limit or a setting, which changes nothing here.
    Alter {
        /// Its name.
        name: String,
    },
}

impl DatabaseChange {
    /// The command's tag.
    pub fn tag(&self) -> &'static str {
        match self {
            DatabaseChange::Create { .. } => "CREATE DATABASE",
            DatabaseChange::Drop { .. } => "DROP DATABASE",
            DatabaseChange::Rename { .. } | DatabaseChange::Alter { .. } => "ALTER DATABASE",
        }
    }
}

/// Options of CREATE DATABASE that say nothing about what is in it.
const OPTIONS: &[&str] = &[
    "owner",
    "strategy",
    "locale",
    "lc_collate",
    "lc_ctype",
    "icu_locale",
    "locale_provider",
    "collation_version",
    "tablespace",
    "allow_connections",
    "is_template",
    "oid",
];

impl Cursor<'_> {
    /// CREATE DATABASE, after CREATE
    pub(crate) fn create_database(&mut self) -> Result<Statement> {
        self.expect_word(K::Database)?;
        let name = self.folded_name()?;
        self.accept_word(K::With);
        let mut template = None;
        while !matches!(self.kind(), Kind::End | Kind::Semicolon) {
            if self.accept_word(K::Connection) {
                self.expect_word(K::Limit)?;
                self.option_value()?;
                continue;
            }
            let start = self.peek();
            let option = self.folded_label()?;
            let value = self.option_value()?;
            match option.as_str() {
                "template" => template = value,
                "encoding" => check_encoding(value.as_deref())?,
                known if OPTIONS.contains(&known) => {}
                _ => {
                    let error = SqlError::syntax(format!("option \"{option}\" not recognized"));
                    return Err(error.at(start.position as usize));
                }
            }
        }
        Ok(Statement::Database(DatabaseChange::Create { name, template }))
    }

    /// ALTER DATABASE, after ALTER
    pub(crate) fn alter_database(&mut self) -> Result<Statement> {
        self.expect_word(K::Database)?;
        let name = self.folded_name()?;
        if self.accept_words(&[K::Rename, K::To]) {
            let to = self.folded_name()?;
            return Ok(Statement::Database(DatabaseChange::Rename { name, to }));
        }
        if matches!(self.kind(), Kind::End | Kind::Semicolon) {
            return Err(self.unexpected());
        }
        self.skip_rest();
        Ok(Statement::Database(DatabaseChange::Alter { name }))
    }

    /// DROP DATABASE, after that
    pub(crate) fn drop_database(&mut self) -> Result<Statement> {
        let if_exists = self.if_exists();
        let name = self.folded_name()?;
        let mut force = false;
        let with = self.accept_word(K::With);
        if with || self.kind() == Kind::LeftParen {
            force = true;
            self.expect(Kind::LeftParen)?;
            loop {
                let option = self.folded_label()?;
                if option != "force" {
                    let message = format!("unrecognized DROP DATABASE option \"{option}\"");
                    return Err(SqlError::syntax(message));
                }
                if !self.accept(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::RightParen)?;
        }
        Ok(Statement::Database(DatabaseChange::Drop { name, if_exists, force }))
    }

    fn folded_name(&mut self) -> Result<String> {
        let ident = self.ident()?;
        Ok(folded(ident))
    }

    fn folded_label(&mut self) -> Result<String> {
        let ident = self.label()?;
        Ok(folded(ident))
    }

    /// `[=] value`; `None` is DEFAULT.
    fn option_value(&mut self) -> Result<Option<String>> {
        self.accept(Kind::Equal);
        if self.accept_word(K::Default) {
            return Ok(None);
        }
        if self.at_string() {
            return self.string().map(Some);
        }
        if matches!(self.kind(), Kind::Word(_) | Kind::Quoted) {
            return self.folded_label().map(Some);
        }
        self.accept(Kind::Minus);
        let token = self.take();
        Ok(Some(self.text_of(token).to_owned()))
    }
}

fn folded(ident: Ident) -> String {
    if ident.quoted { ident.value } else { ident.value.to_ascii_lowercase() }
}

fn check_encoding(name: Option<&str>) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "utf8" | "unicode" | "sqlascii" | "6" | "0" => Ok(()),
        _ => Err(SqlError::unsupported(format_args!("the encoding {name}"))),
    }
}
