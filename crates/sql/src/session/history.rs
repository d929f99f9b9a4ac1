//! What transactions have done, as a history whose keys read like SQL.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use skew_model::Key;
use skew_model::{History, Literal};
use skew_store::{Telling, TellingStatus, Told};

use crate::budget::{self, Charge};
use crate::catalog::{Index, Relation, RelationKind, Space, Table, UserTypeKind};
use crate::error::Result;
use crate::storage::World;
use crate::storage::rows::key_type;
use crate::types::encode::{decode, encode};
use crate::types::{Datum, EnumLabel, Type, Typed, kind, text};

/// So many operations are told before others go on: two milliseconds' work.
const TOLD_AT_ONCE: usize = 1_000;

/// About what an operation takes in a history, in bytes, with its part of the names.
const TOLD_BYTES: usize = 128;

/// The history since the checkpoint.
pub(crate) fn history(world: &World<'_>) -> History {
    told(world, &Names::new(world)).history
}

/// The same for one client of many: it is told in pieces, and other statements go on in between.
pub(crate) fn history_in_pieces(world: &mut World<'_>) -> Result<History> {
    loop {
        let mut telling = world.db.store.begin_telling();
        let outcome = tell(world, &mut telling);
        let finished = world.db.store.end_telling(telling);
        if outcome? == TellingStatus::Gone {
            continue;
        }
        // The rest does not need the database.
        world.db.let_go();
        return Ok(finished.expect("what was told to its end is finished").told().history);
    }
}

fn tell(world: &mut World<'_>, telling: &mut Telling<Datum>) -> Result<TellingStatus> {
    let names = Names::new(world);
    let mut memory = Charge::default();
    loop {
        let here = &*world;
        let (mut name, mut value) = (|key| names.key(here, key), |value: &Datum| literal(here, value));
        let status = telling.go_on(&here.db.store, TOLD_AT_ONCE, &mut name, &mut value);
        budget::verdict()?;
        budget::check()?;
        memory.set(telling.operations() * TOLD_BYTES)?;
        if status != TellingStatus::More {
            return Ok(status);
        }
        world.db.let_others_go_on();
    }
}

/// The same, with where its operations come from.
pub(crate) fn told(world: &World<'_>, names: &Names) -> Told {
    world.db.store.told(|key| names.key(world, key), |value| literal(world, value))
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
pub(crate) struct Names {
    relations: FxHashMap<Space, (String, Arc<Relation>)>,
    /// The row and the number of the cells that were added after their rows.
    added_cells: FxHashMap<Key, (u32, u32)>,
    /// For rows with the key of an earlier one, how many came before.
    later: FxHashMap<u32, usize>,
}

impl Names {
    pub(crate) fn new(world: &World<'_>) -> Names {
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
            relations.insert(space, (name, relation.clone()));
        }
        let added_cells = world.db.added_cells.iter().map(|(&place, &key)| (key, place)).collect();
        let rows_again = world.db.again.values().flat_map(|rows| rows.iter().enumerate());
        let later = rows_again.map(|(place, &row)| (row, place + 1)).collect();
        Names { relations, added_cells, later }
    }

    pub(crate) fn key(&self, world: &World<'_>, key: Key) -> String {
        if budget::is_over(500) {
            return String::new();
        }
        let store = &world.db.store;
        if let Some((space, bytes)) = store.at(key) {
            let Some((name, relation)) = self.relations.get(&space) else { return format!("dropped[{}]", key.0) };
            return match &relation.kind {
                RelationKind::Table(table) => format!("{name}[{}]", self.row_name(world, table, key, bytes)),
                RelationKind::Index(index) => {
                    let entry = self.entry(world, name, index, bytes);
                    entry.unwrap_or_else(|| format!("{name}[{}]", hex(bytes)))
                }
                _ => format!("{name}[{}]", hex(bytes)),
            };
        }
        if let Some(&(row, cell)) = self.added_cells.get(&key) {
            return self.cell(world, row, cell);
        }
        match store.entry_before(key) {
            Some(row) => self.cell(world, row.0, key.0 - row.0 - 1),
            None => format!("cell[{}]", key.0),
        }
    }

    /// An index's entry: its values, then the row.
    fn entry(&self, world: &World<'_>, name: &str, index: &Index, bytes: &[u8]) -> Option<String> {
        let (values, row) = bytes.split_last_chunk::<4>()?;
        // How many of the index's keys it has.
        let (_, values) = values.split_first()?;
        let row = Key(u32::from_be_bytes(*row));
        let (space, row_bytes) = world.db.store.at(row)?;
        let (table_name, relation) = self.relations.get(&space)?;
        let RelationKind::Table(table) = &relation.kind else { return None };
        let keys = index.keys.iter().map(|key| (key_type(table, &key.what), key.descending));
        let values = self.values(world, values, keys);
        Some(format!("{table_name}[{} by {name}={values}]", self.row_name(world, table, row, row_bytes)))
    }

    /// The values of a key, as far as its bytes tell them.
    fn values(&self, world: &World<'_>, mut bytes: &[u8], keys: impl Iterator<Item = (Type, bool)>) -> String {
        let mut values = Vec::new();
        for (ty, descending) in keys {
            let ty = kind::base(Typed::from(ty), &world.db.catalog).ty;
            let decoded = decode(bytes, ty, descending).or_else(|| label(world, bytes, ty, descending));
            let Some((value, rest)) = decoded else { break };
            values.push(match value {
                Datum::Null => "null".to_owned(),
                value => match text::output(&value, ty, world) {
                    text if text == "null" => quoted(&text),
                    text => text,
                },
            });
            bytes = rest;
        }
        values.extend((!bytes.is_empty()).then(|| hex(bytes)));
        together(values)
    }

    /// The primary key's values where the row has any version, else the bytes.
    fn row_name(&self, world: &World<'_>, table: &Table, key: Key, bytes: &[u8]) -> String {
        if table.clustered.is_empty() {
            return bytes
                .last_chunk::<8>()
                .map_or_else(|| hex(bytes), |number| u64::from_be_bytes(*number).to_string());
        }
        match world.db.store.any_value(key) {
            Some(value) => {
                let name = show(&literal(world, value));
                self.later.get(&key.0).map_or(name.clone(), |later| format!("{name}~{later}"))
            }
            None => hex(bytes),
        }
    }

    fn cell(&self, world: &World<'_>, row: u32, cell: u32) -> String {
        let whole = self.key(world, Key(row));
        let relation = world.db.store.at(Key(row)).and_then(|(space, _)| self.relations.get(&space));
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

/// The label of an enumeration at the front of a key.
fn label<'b>(world: &World<'_>, bytes: &'b [u8], ty: Type, descending: bool) -> Option<(Datum, &'b [u8])> {
    let UserTypeKind::Enum(labels) = &world.db.catalog.user_type(ty)?.kind else { return None };
    labels.iter().find_map(|(_, order, label)| {
        let value = Datum::Enum(Arc::new(EnumLabel { ty, order: *order, label: label.to_string() }));
        let mut key = Vec::new();
        encode(&mut key, &value, ty, descending, false);
        bytes.strip_prefix(&key[..]).map(|rest| (value, rest))
    })
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
