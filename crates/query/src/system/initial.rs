//! The rows that PostgreSQL's catalogs have in a new database: the files in `initial/`, made by the script there.
//!
//! They are for those who look: clients that list types, functions and tables of the system. What Skew itself knows of
//! its types and functions is elsewhere.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::system::{SystemTable, nothing};
use crate::types::{Datum, Oid, Type};

/// Lists the files.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("initial/", $name, ".txt")))),*]
    };
}

static FILES: &[(&str, &str)] = files![
    "pg_aggregate",
    "pg_am",
    "pg_amop",
    "pg_amproc",
    "pg_attribute",
    "pg_auth_members",
    "pg_authid",
    "pg_cast",
    "pg_class",
    "pg_collation",
    "pg_constraint",
    "pg_conversion",
    "pg_depend",
    "pg_extension",
    "pg_index",
    "pg_init_privs",
    "pg_language",
    "pg_opclass",
    "pg_operator",
    "pg_opfamily",
    "pg_proc",
    "pg_range",
    "pg_rewrite",
    "pg_tablespace",
    "pg_ts_config",
    "pg_ts_dict",
    "pg_ts_parser",
    "pg_ts_template",
    "pg_type",
];

/// The fields of a row, as texts; NULL is none.
type Fields = Vec<Option<Cow<'static, str>>>;

/// A file, read.
pub struct Initial {
    columns: Vec<&'static str>,
    rows: Vec<Fields>,
    /// The rows with values of their types, once somebody has asked for them.
    values: OnceLock<Vec<Arc<[Datum]>>>,
}

/// The read files, by name: each is read when somebody first looks at it.
static READ: LazyLock<FxHashMap<&'static str, LazyLock<Initial, Box<dyn FnOnce() -> Initial + Send>>>> =
    LazyLock::new(|| {
        let file = |(name, content): &(&'static str, &'static str)| {
            let content = *content;
            let read: Box<dyn FnOnce() -> Initial + Send> = Box::new(move || read(content));
            (*name, LazyLock::new(read))
        };
        FILES.iter().map(file).collect()
    });

fn read(content: &'static str) -> Initial {
    let mut lines = content.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let usual: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let row = |line: &'static str| {
        let mut given = line.split('\t');
        let mut fields = Fields::with_capacity(columns.len());
        for usual in &usual {
            let written = given.next().unwrap_or_default();
            fields.push(match if written.is_empty() { usual } else { written } {
                "\\N" => None,
                "\\E" => Some(Cow::Borrowed("")),
                "\\=" => fields.get(1).cloned().flatten(),
                written => Some(unescaped(written)),
            });
        }
        fields
    };
    let rows = lines.map(row).collect();
    Initial { columns, rows, values: OnceLock::new() }
}

/// What COPY writes as `\n`, `\t` and `\\`.
fn unescaped(text: &'static str) -> Cow<'static, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        match (next, next == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            (plain, false) => out.push(plain),
        }
    }
    Cow::Owned(out)
}

/// The rows of a catalog.
pub fn of(name: &str) -> Option<&'static Initial> {
    READ.get(name).map(|read| &**read)
}

impl Initial {
    /// The values of these columns, row by row; NULL is the empty text.
    pub fn select<const N: usize>(&'static self, columns: [&str; N]) -> impl Iterator<Item = [&'static str; N]> {
        let places = columns.map(|column| self.columns.iter().position(|known| *known == column));
        self.rows
            .iter()
            .map(move |row| places.map(|place| place.and_then(|place| row[place].as_deref()).unwrap_or_default()))
    }

    /// The rows as those of a system table, once `read` has made values of a type of the texts.
    pub fn values(
        &'static self,
        table: &SystemTable,
        read: impl Fn(&str, Type) -> Result<Datum>,
    ) -> Result<&'static [Arc<[Datum]>]> {
        if let Some(values) = self.values.get() {
            return Ok(values);
        }
        let place = |name: &str| self.columns.iter().position(|known| *known == name);
        let places: Vec<Option<usize>> = table.columns.iter().map(|(name, _)| place(name)).collect();
        let mut values = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let cells = table.columns.iter().zip(&places).map(|((_, ty), place)| match place {
                Some(place) => row[*place].as_deref().map_or(Ok(Datum::Null), |field| read(field, *ty)),
                None => Ok(nothing(*ty)),
            });
            values.push(cells.collect::<Result<Vec<_>>>()?.into());
        }
        Ok(self.values.get_or_init(|| values))
    }
}

fn number(field: &str) -> Oid {
    field.parse().unwrap_or(0)
}

/// Names with their schemas, by number.
type ByNumber = FxHashMap<Oid, (&'static str, Oid)>;

fn by_number(catalog: &str, name: &str, schema: &str) -> ByNumber {
    let rows = of(catalog).into_iter().flat_map(|file| file.select(["oid", name, schema]));
    rows.map(|[oid, name, schema]| (number(oid), (name, number(schema)))).collect()
}

static FUNCTIONS: LazyLock<ByNumber> = LazyLock::new(|| by_number("pg_proc", "proname", "pronamespace"));
static RELATIONS: LazyLock<ByNumber> = LazyLock::new(|| by_number("pg_class", "relname", "relnamespace"));
static TYPES: LazyLock<ByNumber> = LazyLock::new(|| by_number("pg_type", "typname", "typnamespace"));

/// The name of one of PostgreSQL's own functions, and its schema.
pub(crate) fn function(oid: Oid) -> Option<(&'static str, Oid)> {
    FUNCTIONS.get(&oid).copied()
}

/// Numbers of PostgreSQL's own functions with a name.
pub(crate) fn functions_named(name: &str) -> impl Iterator<Item = Oid> {
    let rows = of("pg_proc").into_iter().flat_map(|file| file.select(["oid", "proname"]));
    rows.filter(move |[_, known]| *known == name).map(|[oid, _]| number(oid))
}

/// The types of the arguments of one of PostgreSQL's own functions.
pub(crate) fn arguments(oid: Oid) -> Option<Vec<Type>> {
    let mut rows = of("pg_proc")?.select(["oid", "proargtypes"]);
    let [_, types] = rows.find(|[known, _]| number(known) == oid)?;
    Some(types.split_whitespace().map(|ty| Type(number(ty))).collect())
}

/// The name and schema of a relation of the system.
pub(crate) fn relation(oid: Oid) -> Option<(&'static str, Oid)> {
    RELATIONS.get(&oid).copied()
}

/// The number of a relation of the system.
pub(crate) fn relation_named(schema: Oid, name: &str) -> Option<Oid> {
    let mut rows = of("pg_class")?.select(["oid", "relname", "relnamespace"]);
    rows.find(|[_, known, of]| *known == name && number(of) == schema).map(|[oid, ..]| number(oid))
}

/// The name and schema of a type of the system, also of those that Skew has not.
pub(crate) fn type_name(ty: Type) -> Option<(&'static str, Oid)> {
    TYPES.get(&ty.0).copied()
}

/// The type of the elements of an array type of the system.
pub(crate) fn element(ty: Type) -> Option<Type> {
    let mut rows = of("pg_type")?.select(["oid", "typelem", "typcategory"]);
    let [_, element, _] = rows.find(|[oid, _, category]| number(oid) == ty.0 && *category == "A")?;
    Some(Type(number(element)))
}

/// The default btree operator class of a type.
pub fn operator_class(ty: Type) -> Option<Oid> {
    let mut rows = of("pg_opclass")?.select(["oid", "opcmethod", "opcintype", "opcdefault"]);
    let found = rows.find(|[_, method, takes, default]| *method == "403" && number(takes) == ty.0 && *default == "t");
    found.map(|[oid, ..]| number(oid))
}

/// The operator class with this name for an index method.
pub fn operator_class_named(method: Oid, name: &str) -> Option<Oid> {
    let mut rows = of("pg_opclass")?.select(["oid", "opcmethod", "opcname"]);
    rows.find(|[_, of, known]| number(of) == method && *known == name).map(|[oid, ..]| number(oid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{table, tables};

    #[test]
    fn made_up_tables_have_the_numbers_and_columns_of_postgresql() {
        for table in tables() {
            let (name, _) = relation(table.oid).unwrap_or(("", 0));
            assert_eq!(name, table.name, "number {}", table.oid);
        }
        for (name, _) in FILES {
            let made_up = table("pg_catalog", name).unwrap_or_else(|| panic!("{name} is a table"));
            for column in &of(name).expect("it is listed").columns {
                assert!(made_up.columns.iter().any(|(known, _)| known == column), "{name}.{column}");
            }
        }
    }

    #[test]
    fn fields_that_are_left_out_are_the_usual_ones() {
        let file = read("oid\tname\tshort\tacl\n1\ta\tf\t\\N\n2\tb\n\n3\tlong\\\\n\t\\=\t\\E\n");
        let rows: Vec<[&str; 4]> = Box::leak(Box::new(file)).select(["oid", "name", "short", "acl"]).collect();
        assert_eq!(rows, [["2", "b", "f", ""], ["1", "a", "f", ""], ["3", "long\\n", "long\\n", ""]]);
    }
}
