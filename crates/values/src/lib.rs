//! PostgreSQL's types: which there are, what their values are, and how values are read, shown, compared and cast.
//!
//! In reading order:
//! - [`Type`] and [`Typed`] (with a modifier); [`builtin`] is `pg_type`, [`kind`] says what types are made of (elements of
//!   arrays, types below domains, categories), [`io`] numbers the functions that read and show them
//! - [`datum`]: values; [`numeric`], [`datetime`], [`json`], [`array`], [`record`], [`mod@scalar`], [`bits`], [`money`],
//!   [`network`], [`hstore`]: the values of one type, and what functions compute with
//! - [`env`]: what a conversion asks of its surroundings: [`settings`] and what users have defined; [`reg`]: names of objects
//! - [`text`], [`binary`]: values as text, and in the wire's binary format
//! - [`compare`], [`encode`]: order and equality within a type, NULLs being the caller's; bytes that compare as values do;
//!   [`collation`]: the order of texts by language
//! - [`cast`]: which conversions there are, and doing them. Conditions of domains are the caller's
//! - [`names`]: types by name, and their names with modifiers; [`modifier`] packs `(10,2)`; [`quote`] quotes

pub mod array;
pub mod binary;
pub mod bits;
pub mod builtin;
pub mod cast;
pub mod collation;
pub mod compare;
pub mod datetime;
pub mod datum;
pub mod encode;
pub mod env;
pub mod hstore;
mod identity;
pub mod io;
pub mod json;
pub mod kind;
pub mod modifier;
pub mod money;
pub mod names;
pub mod network;
pub mod numeric;
pub mod record;
pub mod reg;
pub mod scalar;
pub mod settings;
pub mod text;

#[cfg(test)]
mod tests;

pub use datum::{ArrayValue, Datum, EnumLabel, Interval, RecordShape, RecordValue};
pub use env::{
    CollationDefinition, Definition, Definitions, Env, FIRST_USER_OID, Form, INFORMATION_SCHEMA, ObjectNames, Oid,
    PG_CATALOG, PUBLIC,
};
pub use settings::Settings;
pub use skew_syntax::quote;
pub(crate) use skew_syntax::{budget, error, sort};

/// A type, by PostgreSQL's object id: built-in ones have fixed numbers, user-defined ones get theirs from the catalog.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type(pub u32);

/// A type with its modifier: the length of a varchar, precision and scale of a numeric; -1 for none. Encoded as
/// PostgreSQL encodes it in `atttypmod`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Typed {
    /// The type.
    pub ty: Type,
    /// The modifier.
    pub modifier: i32,
}

impl From<Type> for Typed {
    fn from(ty: Type) -> Self {
        Typed { ty, modifier: -1 }
    }
}

macro_rules! builtin {
    ($($name:ident = $oid:literal;)*) => {
        #[allow(missing_docs)]
        impl Type { $(pub const $name: Type = Type($oid);)* }
    };
}

builtin! {
    BOOL = 16; BYTEA = 17; CHAR_INTERNAL = 18; NAME = 19; INT8 = 20; INT2 = 21; INT2VECTOR = 22; INT4 = 23;
    REGPROC = 24; TEXT = 25; OID = 26; TID = 27; XID = 28; CID = 29; OIDVECTOR = 30; JSON = 114; XML = 142;
    FLOAT4 = 700; FLOAT8 = 701; UNKNOWN = 705; MONEY = 790; INET = 869; CIDR = 650; MACADDR = 829;
    ACLITEM = 1033; BPCHAR = 1042; VARCHAR = 1043; DATE = 1082; TIME = 1083; TIMESTAMP = 1114; TIMESTAMPTZ = 1184;
    INTERVAL = 1186; TIMETZ = 1266; BIT = 1560; VARBIT = 1562; NUMERIC = 1700; REFCURSOR = 1790;
    REGPROCEDURE = 2202; REGOPER = 2203; REGOPERATOR = 2204; REGCLASS = 2205; REGTYPE = 2206; REGROLE = 4096;
    REGNAMESPACE = 4089; REGCONFIG = 3734; RECORD = 2249; CSTRING = 2275; ANY = 2276; ANYARRAY = 2277; VOID = 2278;
    TRIGGER = 2279; INTERNAL = 2281; ANYELEMENT = 2283; ANYNONARRAY = 2776; UUID = 2950; ANYENUM = 3500;
    TSVECTOR = 3614; TSQUERY = 3615; JSONB = 3802; PG_NODE_TREE = 194; PG_LSN = 3220;
    XID8 = 5069; REGCOLLATION = 4191; REGDICTIONARY = 3769; JSONPATH = 4072;
    BOOL_ARRAY = 1000; BYTEA_ARRAY = 1001; CHAR_ARRAY = 1002; NAME_ARRAY = 1003; INT2_ARRAY = 1005;
    INT4_ARRAY = 1007; TEXT_ARRAY = 1009; BPCHAR_ARRAY = 1014; VARCHAR_ARRAY = 1015; INT8_ARRAY = 1016;
    FLOAT4_ARRAY = 1021; FLOAT8_ARRAY = 1022; OID_ARRAY = 1028; TIMESTAMP_ARRAY = 1115; DATE_ARRAY = 1182;
    TIME_ARRAY = 1183; TIMESTAMPTZ_ARRAY = 1185; INTERVAL_ARRAY = 1187; NUMERIC_ARRAY = 1231; TIMETZ_ARRAY = 1270;
    UUID_ARRAY = 2951; JSON_ARRAY = 199; JSONB_ARRAY = 3807; ACLITEM_ARRAY = 1034; REGCLASS_ARRAY = 2210;
    REGTYPE_ARRAY = 2211; RECORD_ARRAY = 2287;
    // Of extensions; PostgreSQL gives them other numbers in each database.
    CITEXT = 15000; CITEXT_ARRAY = 15001; HSTORE = 15002; HSTORE_ARRAY = 15003;
}
