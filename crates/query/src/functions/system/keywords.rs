//! `pg_get_keywords()`: the words of the grammar, which drivers ask for before anything else.

use crate::functions::Function;
use crate::functions::define::table;
use crate::parse::keywords::{self, Class, Label};
use crate::types::{Datum, Type as T};

/// The function.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[table(
    "pg_get_keywords",
    &[],
    &[
        ("word", T::TEXT),
        ("catcode", T::CHAR_INTERNAL),
        ("barelabel", T::BOOL),
        ("catdesc", T::TEXT),
        ("baredesc", T::TEXT),
    ],
    |_, _, _| Ok(keywords::all().map(|(word, class, label)| row(word, class, label)).collect()),
)
.stable()];

fn row(word: &str, class: Class, label: Label) -> Vec<Datum> {
    let (code, about) = match class {
        Class::Unreserved => ("U", "unreserved"),
        Class::ColumnName => ("C", "unreserved (cannot be function or type name)"),
        Class::TypeOrFunctionName => ("T", "reserved (can be function or type name)"),
        Class::Reserved => ("R", "reserved"),
    };
    let (bare, about_label) = match label {
        Label::Bare => (true, "can be bare label"),
        Label::AsOnly => (false, "requires AS"),
    };
    vec![Datum::text(word), Datum::text(code), Datum::Bool(bare), Datum::text(about), Datum::text(about_label)]
}
