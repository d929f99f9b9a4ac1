//! What an application file says about its programs, in `COMMENT ON`: `@isolation si`, `@isolation repeatable read`,
//! `@invariant`, `@monotone`.

use skew_model::Level;

use crate::catalog::{Catalog, Oid};
use crate::error::{Result, SqlError, SqlState};
use crate::session::control::parse_level;
use crate::session::transaction::Isolation;
use crate::types::quote;

/// The number of `pg_proc`, under which comments on functions are kept.
const PG_PROC: Oid = 1255;

/// An application: its transaction programs and what must hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct App {
    /// Its procedures, by name.
    pub programs: Vec<Program>,
    /// The functions that must return true in every committed state, as they are called.
    pub invariants: Vec<String>,
    /// The functions whose value a session never sees go down, as they are called.
    pub monotone: Vec<String>,
}

/// A transaction program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name, with its schema where that is not `public`.
    pub name: String,
    /// The same as SQL writes it.
    pub call: String,
    /// Its number.
    pub oid: Oid,
    /// The level that it asks for.
    pub level: Option<Level>,
    /// The same, where it asks by SQL's name: the target database's level, as that database has it.
    pub isolation: Option<Isolation>,
}

impl App {
    /// What a catalog says.
    pub fn of(catalog: &Catalog) -> Result<App> {
        let mut app = App::default();
        for function in catalog.functions.values() {
            let comment = catalog.comments.get(&(PG_PROC, function.oid, 0)).map_or("", |comment| comment);
            if function.procedure {
                let schema = catalog.schemas.get(&function.schema).map(|schema| &schema.name[..]);
                let (name, call) = match schema.filter(|schema| *schema != "public") {
                    None => (function.name.to_string(), quote::identifier(&function.name)),
                    Some(schema) => (
                        format!("{schema}.{}", function.name),
                        format!("{}.{}", quote::identifier(schema), quote::identifier(&function.name)),
                    ),
                };
                let (level, isolation) = level(comment)?;
                app.programs.push(Program { name, call, oid: function.oid, level, isolation });
            }
            let call = || format!("{}()", quote::identifier(&function.name));
            for word in comment.split_whitespace() {
                match word {
                    "@invariant" => app.invariants.push(call()),
                    "@monotone" => app.monotone.push(call()),
                    _ => {}
                }
            }
        }
        app.programs.sort_by(|one, other| one.name.cmp(&other.name));
        app.invariants.sort();
        app.monotone.sort();
        Ok(app)
    }

    /// The program that a call is of: `transfer(1, 2)`.
    pub fn called(&self, call: &str) -> Option<&Program> {
        let program = call.split('(').next().unwrap_or_default().trim();
        self.programs.iter().find(|known| known.call == program || known.name == program)
    }
}

/// `@isolation si` or `@isolation repeatable read` in a comment.
fn level(comment: &str) -> Result<(Option<Level>, Option<Isolation>)> {
    let mut words = comment.split_whitespace().skip_while(|word| *word != "@isolation");
    if words.next().is_none() {
        return Ok((None, None));
    }
    let Some(word) = words.next() else {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "@isolation names no level"));
    };
    let two_words = words.next().map(|next| format!("{word} {next}"));
    let named = two_words.and_then(|name| Isolation::named(&name)).or_else(|| Isolation::named(word));
    match named {
        Some(isolation) => Ok((Some(isolation.level()), Some(isolation))),
        None => Ok((parse_level(word)?, None)),
    }
}
