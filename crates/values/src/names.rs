//! Types by name: what `format_type` shows, and what people write.

use crate::error::{Result, SqlError, SqlState};
use crate::{Definitions, Env, FIRST_USER_OID, Oid, Type, Typed, builtin, kind, modifier, quote};

/// A name of something in another database.
pub fn cross_database(shown: &str) -> SqlError {
    let message = format!("cross-database references are not implemented: {shown}");
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// As error messages show a type: without a modifier, and without a schema.
pub fn display(ty: Type, catalog: &dyn Definitions) -> String {
    if let Some(builtin) = builtin::by_oid(ty) {
        return builtin.sql_name.to_owned();
    }
    if let Some(definition) = catalog.definition(ty) {
        return quote::identifier(definition.name);
    }
    match kind::element(ty, catalog) {
        Some(element) => format!("{}[]", display(element, catalog)),
        None => "???".to_owned(),
    }
}

/// `format_type`: with its modifier, and with its schema where the search path does not find it. `None` is a modifier that
/// was not given, which some types show in another way than -1.
pub fn format_type(ty: Type, modifier: Option<i32>, env: &dyn Env) -> String {
    let catalog = env.defined();
    if ty.0 == 0 {
        return "-".to_owned();
    }
    if let Some(element) = kind::element(ty, catalog).filter(|_| !matches!(ty, Type::INT2VECTOR | Type::OIDVECTOR)) {
        return format!("{}[]", format_type(element, modifier, env));
    }
    if let Some(builtin) = builtin::by_oid(ty) {
        return match (modifier, ty) {
            (Some(0..), _) => modifier::show(ty, modifier.unwrap_or(-1)).unwrap_or_else(|| builtin.sql_name.to_owned()),
            (Some(_), Type::BPCHAR) => "bpchar".to_owned(),
            (Some(_), Type::BIT) => "\"bit\"".to_owned(),
            _ => builtin.sql_name.to_owned(),
        };
    }
    catalog.type_name(ty, &env.settings().search_path).unwrap_or_else(|| "???".to_owned())
}

/// A built-in type by `typname` or by what SQL calls it, in lower case: `int`, `double precision`, `varchar`. What needs
/// more than one look at the words (`timestamp (3) with time zone`, arrays) is for [`parse`].
pub fn lookup(name: &str) -> Option<Type> {
    let sql = SQL_NAMES.iter().find(|(sql_name, _)| *sql_name == name).map(|(_, ty)| *ty);
    sql.or_else(|| builtin::by_name(name).map(|builtin| builtin.ty))
}

static SQL_NAMES: &[(&str, Type)] = &[
    ("int", Type::INT4),
    ("integer", Type::INT4),
    ("smallint", Type::INT2),
    ("bigint", Type::INT8),
    ("real", Type::FLOAT4),
    ("float", Type::FLOAT8),
    ("double precision", Type::FLOAT8),
    ("decimal", Type::NUMERIC),
    ("dec", Type::NUMERIC),
    ("boolean", Type::BOOL),
    ("char", Type::BPCHAR),
    ("character", Type::BPCHAR),
    ("nchar", Type::BPCHAR),
    ("national character", Type::BPCHAR),
    ("national char", Type::BPCHAR),
    ("character varying", Type::VARCHAR),
    ("char varying", Type::VARCHAR),
    ("nchar varying", Type::VARCHAR),
    ("national character varying", Type::VARCHAR),
    ("national char varying", Type::VARCHAR),
    ("bit varying", Type::VARBIT),
    ("timestamp without time zone", Type::TIMESTAMP),
    ("timestamp with time zone", Type::TIMESTAMPTZ),
    ("time without time zone", Type::TIME),
    ("time with time zone", Type::TIMETZ),
];

/// The schemas in which names are looked for, in order: temporary ones and `pg_catalog` come first unless they are named.
pub fn search_path(env: &dyn Env) -> Vec<Oid> {
    env.defined().search_path(&env.settings().search_path)
}

/// The user-defined type that the search path finds under this name.
pub fn find_user(name: &str, env: &dyn Env) -> Option<Type> {
    let catalog = env.defined();
    search_path(env).into_iter().find_map(|schema| catalog.type_in(schema, name))
}

/// The type with this name, in this schema if one is given. Unlike [`parse`], the name is taken as it is.
pub fn find(schema: Option<&str>, name: &str, env: &dyn Env) -> Option<Type> {
    let builtin = || builtin::by_name(name).map(|builtin| builtin.ty);
    match schema {
        Some("pg_catalog") => builtin(),
        Some(schema) => env.defined().type_in(env.defined().schema(schema)?, name),
        None => builtin().or_else(|| find_user(name, env)),
    }
}

/// Reads a type as SQL writes it: `numeric(10,2)`, `timestamp (3) with time zone`, `public.mood[]`, `"char"`.
pub fn parse(text: &str, env: &dyn Env) -> Result<Typed> {
    let missing = |name: &str| SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist"));
    let mut rest = text.trim();
    let mut array = false;
    while let Some(inner) = rest.strip_suffix(']') {
        let open = inner.rfind('[').ok_or_else(|| missing(text))?;
        if !inner[open + 1..].trim().bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(missing(text));
        }
        array = true;
        rest = inner[..open].trim_end();
    }
    let (name, numbers) = split_numbers(rest).ok_or_else(|| missing(text))?;
    let typed = named(&name, &numbers, env)?.ok_or_else(|| missing(&name))?;
    if !array {
        return Ok(typed);
    }
    let ty = kind::array_of(typed.ty, env.defined()).ok_or_else(|| missing(text))?;
    Ok(Typed { ty, modifier: typed.modifier })
}

/// The name without what is in parentheses (which may stand before `with time zone`), and the numbers in them.
fn split_numbers(text: &str) -> Option<(String, Vec<i64>)> {
    let Some(open) = text.find('(').filter(|_| !text.starts_with('"')) else {
        return Some((text.to_owned(), Vec::new()));
    };
    let close = text.find(')')?;
    let numbers = text.get(open + 1..close)?.split(',').map(|number| number.trim().parse().ok());
    let name = format!("{} {}", text[..open].trim(), text[close + 1..].trim());
    Some((name.trim().to_owned(), numbers.collect::<Option<_>>()?))
}

fn named(name: &str, numbers: &[i64], env: &dyn Env) -> Result<Option<Typed>> {
    let words = name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    if let Some(fields) = words.strip_prefix("interval ") {
        let bits = modifier::fields::NAMED.iter().find(|(words, _)| *words == fields).map(|(_, bits)| *bits);
        let typed =
            |bits| Ok(Typed { ty: Type::INTERVAL, modifier: modifier::interval(bits, numbers.first().copied())? });
        return bits.map(typed).transpose();
    }
    if words == "float" && !numbers.is_empty() {
        return float(numbers[0]).map(Some);
    }
    if let Some((_, ty)) = SQL_NAMES.iter().find(|(sql_name, _)| *sql_name == words) {
        let fixed = *ty == Type::BPCHAR && numbers.is_empty();
        return modifier::apply(*ty, if fixed { &[1] } else { numbers }).map(Some);
    }
    if words == "bit" && numbers.is_empty() {
        return modifier::apply(Type::BIT, &[1]).map(Some);
    }
    let found = match quote::split_qualified(name).as_deref() {
        Some([name]) => find(None, name, env),
        Some([schema, name]) => find(Some(schema), name, env),
        _ => None,
    };
    found.map(|ty| modifier::apply(ty, numbers)).transpose()
}

/// `float(n)`
pub fn float(precision: i64) -> Result<Typed> {
    let invalid = |message| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    match precision {
        ..1 => invalid("precision for type float must be at least 1 bit"),
        1..=24 => Ok(Type::FLOAT4.into()),
        25..=53 => Ok(Type::FLOAT8.into()),
        _ => invalid("precision for type float must be less than 54 bits"),
    }
}

/// Whether it is one of the types that a user made.
pub fn is_user(ty: Type) -> bool {
    ty.0 >= FIRST_USER_OID
}

/// Reads a `pg_lsn`, and writes it as PostgreSQL does.
pub fn parse_lsn(text: &str) -> Result<String> {
    let part = |part: &str| {
        let valid = (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        valid.then(|| u32::from_str_radix(part, 16).unwrap_or(0))
    };
    let parts = text.split_once('/').and_then(|(high, low)| Some((part(high)?, part(low)?)));
    let (high, low) = parts.ok_or_else(|| super::scalar::invalid_syntax("pg_lsn", text))?;
    Ok(format!("{high:X}/{low:X}"))
}

/// Reads a `tid`, and writes it as PostgreSQL does.
pub fn parse_tid(text: &str) -> Result<String> {
    let inner = text.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let parts = inner.and_then(|inner| inner.split_once(','));
    let numbers = parts.and_then(|(block, place)| Some((block.parse::<u32>().ok()?, place.parse::<u16>().ok()?)));
    let (block, place) = numbers.ok_or_else(|| super::scalar::invalid_syntax("tid", text))?;
    Ok(format!("({block},{place})"))
}

/// A `pg_lsn` as a number.
pub fn lsn_key(text: &str) -> u64 {
    let part = |text: &str| u64::from_str_radix(text, 16).unwrap_or(0);
    text.split_once('/').map_or(0, |(high, low)| part(high) << 32 | part(low))
}

/// A `tid` as its block and place.
pub fn tid_key(text: &str) -> (u32, u16) {
    let inner = text.trim_start_matches('(').trim_end_matches(')');
    inner.split_once(',').map_or((0, 0), |(block, place)| (block.parse().unwrap_or(0), place.parse().unwrap_or(0)))
}
