//! Extensions: what CREATE EXTENSION can install, and the functions, operators and types that are there afterwards.
//!
//! An extension's functions are found in the schema that it is installed in, as if they were made there, and are gone with
//! it. Its types have numbers of their own in every database; the catalog has an entry for each while it is installed.

mod citext;
mod crypt;
mod hstore;
mod pgcrypto;
mod statements;
mod trigram;
mod unaccent;
mod uuid;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::catalog::{Catalog, Oid};
use crate::functions::Function;
use crate::functions::resolve::Names;
use crate::types::Type;

/// A type of an extension.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ExtensionType {
    pub name: &'static str,
    pub ty: Type,
    pub array: Type,
    /// `typcategory`
    pub category: char,
    /// `typcollation`
    pub collation: Oid,
}

/// An extension that can be installed.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Extension {
    pub name: &'static str,
    pub version: &'static str,
    pub comment: &'static str,
    pub(crate) functions: &'static [&'static [Function]],
    pub(crate) operators: &'static [&'static [Function]],
    pub types: &'static [ExtensionType],
}

/// All of them but `plpgsql`, which every database has.
pub static EXTENSIONS: &[Extension] = &[
    Extension {
        name: "bloom",
        version: "1.0",
        comment: "bloom access method - signature file based index",
        functions: &[],
        operators: &[],
        types: &[],
    },
    Extension {
        name: "btree_gin",
        version: "1.3",
        comment: "support for indexing common datatypes in GIN",
        functions: &[],
        operators: &[],
        types: &[],
    },
    Extension {
        name: "btree_gist",
        version: "1.7",
        comment: "support for indexing common datatypes in GiST",
        functions: &[],
        operators: &[],
        types: &[],
    },
    Extension {
        name: "citext",
        version: "1.6",
        comment: "data type for case-insensitive character strings",
        functions: &[citext::FUNCTIONS],
        operators: &[citext::OPERATORS],
        types: &[ExtensionType {
            name: "citext",
            ty: Type::CITEXT,
            array: Type::CITEXT_ARRAY,
            category: 'S',
            collation: 100,
        }],
    },
    Extension {
        name: "hstore",
        version: "1.8",
        comment: "data type for storing sets of (key, value) pairs",
        functions: &[hstore::FUNCTIONS],
        operators: &[hstore::OPERATORS],
        types: &[ExtensionType {
            name: "hstore",
            ty: Type::HSTORE,
            array: Type::HSTORE_ARRAY,
            category: 'U',
            collation: 0,
        }],
    },
    Extension {
        name: "pg_stat_statements",
        version: "1.10",
        comment: "track planning and execution statistics of all SQL statements executed",
        functions: &[statements::FUNCTIONS],
        operators: &[],
        types: &[],
    },
    Extension {
        name: "pg_trgm",
        version: "1.6",
        comment: "text similarity measurement and index searching based on trigrams",
        functions: &[trigram::FUNCTIONS],
        operators: &[trigram::OPERATORS],
        types: &[],
    },
    Extension {
        name: "pgcrypto",
        version: "1.3",
        comment: "cryptographic functions",
        functions: &[pgcrypto::FUNCTIONS, pgcrypto::REFUSED],
        operators: &[],
        types: &[],
    },
    Extension {
        name: "unaccent",
        version: "1.1",
        comment: "text search dictionary that removes accents",
        functions: &[unaccent::FUNCTIONS],
        operators: &[],
        types: &[],
    },
    Extension {
        name: "uuid-ossp",
        version: "1.1",
        comment: "generate universally unique identifiers (UUIDs)",
        functions: &[uuid::FUNCTIONS],
        operators: &[],
        types: &[],
    },
];

/// The extension with this name.
pub fn find(name: &str) -> Option<&'static Extension> {
    EXTENSIONS.iter().find(|extension| extension.name == name)
}

/// A function or operator of an extension.
#[derive(Debug)]
pub struct Member {
    /// Its number, the same in every database.
    pub oid: Oid,
    /// Whose it is.
    pub extension: &'static Extension,
    /// What it does.
    pub function: &'static Function,
    /// An operator rather than a function.
    pub operator: bool,
}

/// The first number of a member: after those of PostgreSQL's own objects, before those of users.
const FIRST_MEMBER: Oid = 14500;

static MEMBERS: LazyLock<Vec<Member>> = LazyLock::new(|| {
    let of = |extension: &'static Extension| {
        let entries = |tables: &'static [&'static [Function]]| tables.iter().copied().flatten();
        let functions = entries(extension.functions).map(move |function| (extension, function, false));
        functions.chain(entries(extension.operators).map(move |function| (extension, function, true)))
    };
    let numbered = (FIRST_MEMBER..).zip(EXTENSIONS.iter().flat_map(of));
    numbered.map(|(oid, (extension, function, operator))| Member { oid, extension, function, operator }).collect()
});

static BY_SIGNATURE: LazyLock<FxHashMap<(&'static str, &'static [Type]), usize>> = LazyLock::new(|| {
    let signature = |(at, member): (usize, &Member)| ((member.function.name, member.function.args), at);
    MEMBERS.iter().enumerate().map(signature).collect()
});

/// The functions and operators of an extension.
pub fn members(name: &str) -> impl Iterator<Item = &'static Member> {
    MEMBERS.iter().filter(move |member| member.extension.name == name)
}

/// The member with this number.
pub fn numbered(oid: Oid) -> Option<&'static Member> {
    MEMBERS.get(usize::try_from(oid.checked_sub(FIRST_MEMBER)?).ok()?)
}

/// What a function or operator is, if it is an extension's and not PostgreSQL's own.
pub fn member(function: &Function) -> Option<&'static Member> {
    let at = BY_SIGNATURE.get(&(function.name, function.args))?;
    let is_same = |own: &&'static Function| own.args == function.args;
    let own = super::named(function.name).iter().any(is_same) || super::operators(function.name).iter().any(is_same);
    MEMBERS.get(*at).filter(|_| !own)
}

/// The schema that a function or operator of an installed extension is in; none for PostgreSQL's own.
pub fn schema_of(function: &Function, catalog: &Catalog) -> Option<Oid> {
    let name = member(function)?.extension.name;
    catalog.extensions.values().find(|installed| *installed.name == *name).map(|installed| installed.schema)
}

/// The functions with this name of the extensions that are installed in a schema.
pub(crate) fn functions<'a>(
    schema: Oid,
    name: &'a str,
    catalog: &'a Catalog,
) -> impl Iterator<Item = &'static Function> + 'a {
    let here = catalog.extensions.values().filter(move |installed| installed.schema == schema);
    let known = here.filter_map(|installed| find(&installed.name));
    known.flat_map(|known| known.functions).copied().flatten().filter(move |function| function.name == name)
}

/// The operators with this symbol of the extensions that are installed in a schema of the search path.
pub(crate) fn operators<'a>(symbol: &'a str, names: Names<'a>) -> impl Iterator<Item = &'static Function> + 'a {
    let symbol = if symbol == "!=" { "<>" } else { symbol };
    let visible = names.catalog.extensions.values().filter(move |installed| names.path.contains(&installed.schema));
    let known = visible.filter_map(|installed| find(&installed.name));
    known.flat_map(|known| known.operators).copied().flatten().filter(move |function| function.name == symbol)
}
