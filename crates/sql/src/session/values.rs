//! Parameters and results as the wire carries them.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::error::{Result, SqlError};
use crate::functions::{Env, Question, Settings};
use crate::ir::Output;
use crate::session::Format;
use crate::session::connection::{Connection, SessionState};
use crate::types::{self, Datum, Definitions, ObjectNames, Type, Typed, binary, kind, text};

impl Connection {
    /// The type that the wire says a column has: clients know nothing of domains.
    pub fn shown_type(&self, typed: Typed) -> Typed {
        kind::base(typed, &self.session.seen)
    }

    /// Reads a parameter as the wire brings it.
    pub fn read_value(&mut self, bytes: &[u8], ty: Type, format: Format) -> Result<Datum> {
        let quiet = Quiet::of(&self.session);
        match format {
            Format::Binary => binary::input(bytes, ty.into(), &quiet),
            Format::Text => text::input(binary::utf8(bytes)?, ty.into(), &quiet),
        }
    }

    /// Writes a value that is not NULL as the wire carries it and as the connection's settings show it.
    pub fn write_value(&mut self, out: &mut Vec<u8>, value: &Datum, ty: Type, format: Format) -> Result<()> {
        let quiet = Quiet::of(&self.session);
        match format {
            Format::Binary => binary::output_into(out, value, ty, &quiet),
            Format::Text => {
                self.shown.clear();
                text::output_into(&mut self.shown, value, ty, &quiet);
                out.extend_from_slice(self.shown.as_bytes());
                Ok(())
            }
        }
    }

    /// The columns of a cursor that DECLARE has opened, for clients that ask about it by the wire.
    pub fn cursor(&self, name: &str) -> Option<Arc<[Output]>> {
        self.session.cursors.get(name).map(|cursor| cursor.columns.clone())
    }
}

/// Settings and catalog without the database: all that the formats of values and plans need.
pub(crate) struct Quiet<'a> {
    session: &'a SessionState,
}

impl Quiet<'_> {
    pub(crate) fn of(session: &SessionState) -> Quiet<'_> {
        Quiet { session }
    }
}

impl types::Env for Quiet<'_> {
    fn settings(&self) -> &Settings {
        &self.session.settings
    }

    fn transaction_time(&self) -> i64 {
        self.session.transaction.as_ref().map_or_else(|| self.session.now(), |transaction| transaction.began)
    }

    fn defined(&self) -> &dyn Definitions {
        Env::catalog(self)
    }

    fn objects(&self) -> &dyn ObjectNames {
        Env::catalog(self)
    }
}

impl Env for Quiet<'_> {
    fn catalog(&self) -> &Catalog {
        &self.session.seen
    }

    fn statement_time(&self) -> i64 {
        self.session.now()
    }

    fn clock_time(&self) -> i64 {
        self.session.now()
    }

    fn random_bits(&mut self) -> u64 {
        0
    }

    fn ask(&mut self, _: Question<'_>) -> Result<Datum> {
        Err(SqlError::unsupported("a question about the database outside of a statement"))
    }
}
