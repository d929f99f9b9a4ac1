//! What transactions have done, as a history whose keys read like SQL.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use skew_model::Key;
use skew_model::{History, Literal};
use skew_store::Told;

use crate::budget;
use crate::catalog::{Index, Relation, RelationKind, Space, Table, UserTypeKind};
use crate::storage::World;
use crate::storage::rows::key_type;
use crate::types::encode::{decode, encode};
use crate::types::{Datum, EnumLabel, Type, Typed, kind, text};

/// The history since the checkpoint.
pub(crate) fn history(world: &World<'_>) -> History {
    told(world, &Names::new(world)).history
}

/// The same, with where its operations come from.
pub(crate) fn told(world: &World<'_>, names: &Names<'_>) -> Told {
    world.db.store.told(|key| names.key(key), |value| literal(world, value))
}

/// A value as a history records it.
fn literal(world: &World<'_>, value: &Datum) -> Literal {
    match value {
        Datum::Int(number) => Literal::Int(*number),
        Datum::Array(list) if list.dimensions.is_empty() && !list.items.is_empty() => {
            Literal::Text(together(list.items.iter().map(|item| show(&literal(world, item))).collect()))
        }
        other => Literal::Text(shown(world, other)),
    }
}

/// A value as a history shows it.
pub(crate) fn as_told(world: &World<'_>, value: &Datum) -> String {
    show(&literal(world, value))
}

/// What keys are called: `account[1]` for a row's existence, `account[1].balance` for a cell,
/// `account[1 by account_email=ann@example.com]` for the entry of an index that leads to the row. Different keys have different names: of several tables with one name, those that are gone (or were
/// emptied) have a number, `account~1[1]`, and so have all but one of those in different schemas.
pub(crate) struct Names<'a> {
    world: &'a World<'a>,
    relations: FxHashMap<Space, (String, &'a Relation)>,
    /// The row and the number of the cells that were added after their rows.
    added_cells: FxHashMap<Key, (u32, u32)>,
    /// For rows with the key of an earlier one, how many came before.
    later: FxHashMap<u32, usize>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(world: &'a World<'a>) -> Names<'a> {
        let mut taken: FxHashMap<&str, usize> = FxHashMap::default();
        let mut relations = FxHashMap::default();
        let all = world.db.catalog.relations.values().chain(&world.db.gone);
        for (relation, space) in all.filter_map(|relation| Some((relation, relation.space()?))) {
            if relations.contains_key(&space) {
                continue;
            }
            let times = taken.entry(&*relation.name).or_default();
            let name = if *times == 0 { relation.name.to_string() } else { format!("{}~{times}", relation.name) };
            *times += 1;
            relations.insert(space, (name, &**relation));
        }
        let added_cells = world.db.added_cells.iter().map(|(&place, &key)| (key, place)).collect();
        let rows_again = world.db.again.values().flat_map(|rows| rows.iter().enumerate());
        let later = rows_again.map(|(place, &row)| (row, place + 1)).collect();
        Names { world, relations, added_cells, later }
    }

    pub(crate) fn key(&self, key: Key) -> String {
        if budget::is_over(500) {
            return String::new();
        }
        let store = &self.world.db.store;
        if let Some((space, bytes)) = store.at(key) {
            return match self.relations.get(&space) {
                Some((name, Relation { kind: RelationKind::Table(table), .. })) => {
                    format!("{name}[{}]", self.row_name(table, key, bytes))
                }
                Some((name, Relation { kind: RelationKind::Index(index), .. })) => {
                    self.entry(name, index, bytes).unwrap_or_else(|| format!("{name}[{}]", hex(bytes)))
                }
                Some((name, _)) => format!("{name}[{}]", hex(bytes)),
                None => format!("dropped[{}]", key.0),
            };
        }
        if let Some(&(row, cell)) = self.added_cells.get(&key) {
            return self.cell(row, cell);
        }
        match store.entry_before(key) {
            Some(row) => self.cell(row.0, key.0 - row.0 - 1),
            None => format!("cell[{}]", key.0),
        }
    }

    /// An index's entry: its values, then the row.
    fn entry(&self, name: &str, index: &Index, bytes: &[u8]) -> Option<String> {
        let (values, row) = bytes.split_last_chunk::<4>()?;
        // How many of the index's keys it has.
        let (_, values) = values.split_first()?;
        let row = Key(u32::from_be_bytes(*row));
        let (space, row_bytes) = self.world.db.store.at(row)?;
        let (table_name, Relation { kind: RelationKind::Table(table), .. }) = self.relations.get(&space)? else {
            return None;
        };
        let keys = index.keys.iter().map(|key| (key_type(table, &key.what), key.descending));
        let values = self.values(values, keys);
        Some(format!("{table_name}[{} by {name}={values}]", self.row_name(table, row, row_bytes)))
    }

    /// The values of a key, as far as its bytes tell them.
    fn values(&self, mut bytes: &[u8], keys: impl Iterator<Item = (Type, bool)>) -> String {
        let mut values = Vec::new();
        for (ty, descending) in keys {
            let ty = kind::base(Typed::from(ty), &self.world.db.catalog).ty;
            let decoded = decode(bytes, ty, descending).or_else(|| self.label(bytes, ty, descending));
            let Some((value, rest)) = decoded else { break };
            values.push(match value {
                Datum::Null => "null".to_owned(),
                value => match text::output(&value, ty, self.world) {
                    text if text == "null" => quoted(&text),
                    text => text,
                },
            });
            bytes = rest;
        }
        values.extend((!bytes.is_empty()).then(|| hex(bytes)));
        together(values)
    }

    /// The label of an enumeration at the front of a key.
    fn label<'b>(&self, bytes: &'b [u8], ty: Type, descending: bool) -> Option<(Datum, &'b [u8])> {
        let UserTypeKind::Enum(labels) = &self.world.db.catalog.user_type(ty)?.kind else { return None };
        labels.iter().find_map(|(_, order, label)| {
            let value = Datum::Enum(Arc::new(EnumLabel { ty, order: *order, label: label.to_string() }));
            let mut key = Vec::new();
            encode(&mut key, &value, ty, descending, false);
            bytes.strip_prefix(&key[..]).map(|rest| (value, rest))
        })
    }

    /// The primary key's values where the row has any version, else the bytes.
    fn row_name(&self, table: &Table, key: Key, bytes: &[u8]) -> String {
        if table.clustered.is_empty() {
            return bytes
                .last_chunk::<8>()
                .map_or_else(|| hex(bytes), |number| u64::from_be_bytes(*number).to_string());
        }
        match self.world.db.store.any_value(key) {
            Some(value) => {
                let name = show(&literal(self.world, value));
                self.later.get(&key.0).map_or(name.clone(), |later| format!("{name}~{later}"))
            }
            None => hex(bytes),
        }
    }

    fn cell(&self, row: u32, cell: u32) -> String {
        let whole = self.key(Key(row));
        let relation = self.world.db.store.at(Key(row)).and_then(|(space, _)| self.relations.get(&space));
        let column = relation.and_then(|(_, relation)| {
            let RelationKind::Table(table) = &relation.kind else { return None };
            let mut columns = table.columns.iter().enumerate();
            let found = columns.find(|(at, column)| column.cell == cell && !table.clustered.contains(at));
            found.map(|(_, column)| &column.name)
        });
        match column {
            Some(column) => format!("{whole}.{column}"),
            None => format!("{whole}.{cell}"),
        }
    }
}

/// Several values as one text. Different values have different texts.
fn together(values: Vec<String>) -> String {
    let several = values.len() > 1;
    let quote = |value: String| if several && value.contains([',', '\'']) { quoted(&value) } else { value };
    values.into_iter().map(quote).collect::<Vec<_>>().join(",")
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn show(literal: &Literal) -> String {
    match literal {
        Literal::Int(number) => number.to_string(),
        Literal::Text(text) => text.clone(),
        Literal::Nil => "nil".to_owned(),
    }
}

/// A value as text, without knowing its type.
pub(crate) fn shown(world: &World<'_>, value: &Datum) -> String {
    let ty = match value {
        Datum::Null => return "null".to_owned(),
        Datum::Bool(_) => Type::BOOL,
        Datum::Int(_) => Type::INT8,
        Datum::Float(_) => Type::FLOAT8,
        Datum::Numeric(_) => Type::NUMERIC,
        Datum::Text(_) => Type::TEXT,
        Datum::Bytes(_) => Type::BYTEA,
        Datum::Date(_) => Type::DATE,
        Datum::Time(_) => Type::TIME,
        Datum::TimeTz(..) => Type::TIMETZ,
        Datum::Timestamp(_) => Type::TIMESTAMP,
        Datum::Interval(_) => Type::INTERVAL,
        Datum::Uuid(_) => Type::UUID,
        Datum::Jsonb(_) => Type::JSONB,
        Datum::Array(_) => Type::TEXT_ARRAY,
        Datum::Record(_) => Type::RECORD,
        Datum::Enum(label) => return label.label.clone(),
    };
    text::output(value, ty, world)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
