//! `pg_available_extensions()`: what CREATE EXTENSION can install.

use crate::functions::Function;
use crate::functions::define::table;
use crate::functions::extension::EXTENSIONS;
use crate::types::{Datum, Type as T};

/// The function.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[table(
    "pg_available_extensions",
    &[],
    &[("name", T::NAME), ("default_version", T::TEXT), ("comment", T::TEXT)],
    |_, _, _| {
        let row = |name: &str, version: &str, comment: &str| [name, version, comment].map(Datum::text).to_vec();
        let known = EXTENSIONS.iter().map(|known| row(known.name, known.version, known.comment));
        Ok(known.chain([row("plpgsql", "1.0", "PL/pgSQL procedural language")]).collect())
    },
)
.stable()];
