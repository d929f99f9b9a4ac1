//! A table with its expressions bound: what writing a row needs to know.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::catalog::{Catalog, IndexKeyKind, Oid, Relation, RelationKind, Space, Table};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::walk::{Descend, look};
use crate::ir::{Expr, ExprKind, current};
use crate::storage::World;
use crate::storage::rows::key_type;
use crate::types::encode::encode;
use crate::types::{Datum, Type};

/// A table, bound.
#[derive(Debug)]
pub(crate) struct BoundTable {
    pub(crate) relation: Arc<Relation>,
    /// CHECK constraints: name and condition over the row in slot 0.
    pub(crate) checks: Vec<(Arc<str>, Expr)>,
    /// Generated columns, in the order of columns.
    pub(crate) generated: Vec<(usize, Expr)>,
    pub(crate) indexes: Vec<BoundIndex>,
    /// Foreign keys of other tables (and its own) that refer to this one: the table, and which of its keys.
    pub(crate) referrers: Vec<(Oid, usize)>,
    /// The columns that each constraint looks at, where more than the value that is written matters to it.
    spans: Vec<Vec<usize>>,
}

/// An index, bound.
#[derive(Debug)]
pub(crate) struct BoundIndex {
    pub(crate) oid: Oid,
    pub(crate) name: Arc<str>,
    pub(crate) keys: Vec<BoundKey>,
    types: Vec<(Type, bool, bool)>,
    pub(crate) predicate: Option<Expr>,
    pub(crate) unique: bool,
    pub(crate) nulls_not_distinct: bool,
    pub(crate) space: Option<Space>,
    /// A DEFERRABLE constraint's number and whether it is deferred at first.
    pub(crate) deferrable: Option<(Oid, bool)>,
    /// The columns that keys and predicate look at.
    pub(crate) columns: Vec<usize>,
}

/// A key of an index.
#[derive(Debug)]
pub(crate) enum BoundKey {
    Column(usize),
    Expr(Expr),
}

impl BoundTable {
    /// The columns that others may refer to.
    pub(crate) fn referable(&self) -> impl Iterator<Item = usize> + '_ {
        let unique = self.indexes.iter().filter(|index| index.unique && index.predicate.is_none());
        unique.filter_map(BoundIndex::key_columns).flatten()
    }

    /// Binds a table's expressions.
    pub(crate) fn new(oid: Oid, world: &mut World<'_>) -> Result<BoundTable> {
        let catalog = world.catalog.clone();
        let relation = catalog.relation(oid).cloned().ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}"))
        })?;
        let table = super::world::as_table(&relation)?;
        let mut checks = Vec::new();
        for check in &table.checks {
            checks.push((check.name.clone(), current::expr(&check.condition, &catalog)));
        }
        let mut generated = Vec::new();
        for (position, column) in table.columns.iter().enumerate() {
            if let (crate::catalog::Generation::Stored, Some(how), false) =
                (column.generation, &column.default, column.dropped)
            {
                generated.push((position, current::expr(how, &catalog)));
            }
        }
        let mut indexes = Vec::new();
        for &index in &table.indexes {
            indexes.push(BoundIndex::new(index, &relation, world)?);
        }
        let referrers = referrers(oid, &catalog);
        let spans = spans(table, &checks, &generated, &indexes);
        Ok(BoundTable { checks, generated, indexes, referrers, spans, relation: relation.clone() })
    }

    /// The columns that the constraints look at which a change of one of these columns can break.
    pub(crate) fn spanned(&self, changed: &[usize]) -> Vec<usize> {
        let concerned = self.spans.iter().filter(|span| changed.iter().any(|column| span.contains(column)));
        let mut columns: Vec<usize> = concerned.flatten().copied().collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// What constraints span that look at several columns.
    pub(crate) fn spans_of_several(&self) -> impl Iterator<Item = &[usize]> {
        self.spans.iter().filter(|span| span.len() > 1).map(Vec::as_slice)
    }

    /// The columns that any of its constraints looks at.
    pub(crate) fn spanned_at_all(&self) -> Vec<usize> {
        self.spanned(&self.all_columns())
    }

    pub(crate) fn all_columns(&self) -> Vec<usize> {
        let columns = self.table().columns.iter().enumerate();
        columns.filter(|(_, column)| !column.dropped).map(|(position, _)| position).collect()
    }

    pub(crate) fn table(&self) -> &Table {
        super::world::as_table(&self.relation).expect("a bound table is a table")
    }
}

impl BoundIndex {
    pub(crate) fn new(oid: Oid, of: &Arc<Relation>, world: &mut World<'_>) -> Result<BoundIndex> {
        let relation = world.relation(oid)?;
        let table = super::world::as_table(of)?;
        let RelationKind::Index(index) = &relation.kind else {
            return Err(SqlError::unsupported("an index that is none"));
        };
        let (mut keys, mut types, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for key in &index.keys {
            types.push((key_type(table, &key.what), key.descending, key.nulls_first));
            keys.push(match &key.what {
                IndexKeyKind::Column(position) => {
                    columns.push(*position);
                    BoundKey::Column(*position)
                }
                IndexKeyKind::Expr(expr) => BoundKey::Expr(current::expr(expr, &world.catalog)),
            });
        }
        let predicate = match &index.predicate {
            Some(predicate) => Some(current::expr(predicate, &world.catalog)),
            None => None,
        };
        let expressions = keys.iter().filter_map(|key| match key {
            BoundKey::Expr(expr) => Some(expr),
            BoundKey::Column(_) => None,
        });
        for expr in expressions.chain(&predicate) {
            columns.extend(columns_of(expr, table));
        }
        columns.sort_unstable();
        columns.dedup();
        let deferrable = index.constraint.and_then(|constraint| match constraint.timing {
            crate::catalog::Timing::Immediate => None,
            crate::catalog::Timing::DeferrableImmediate => Some((constraint.oid, false)),
            crate::catalog::Timing::DeferrableDeferred => Some((constraint.oid, true)),
        });
        Ok(BoundIndex {
            oid,
            name: relation.name.clone(),
            keys,
            types,
            predicate,
            unique: index.unique,
            nulls_not_distinct: index.nulls_not_distinct,
            space: index.space,
            deferrable,
            columns,
        })
    }

    /// Whether a change of one of these columns can move a row's entry.
    pub(crate) fn looks_at_any(&self, mut changed: impl Iterator<Item = usize>) -> bool {
        changed.any(|position| self.columns.contains(&position))
    }

    /// The bytes of an entry, without the row.
    pub(crate) fn encode(&self, keys: &[Datum]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16);
        for (key, (ty, descending, nulls_first)) in keys.iter().zip(&self.types) {
            encode(&mut bytes, key, *ty, *descending, *nulls_first);
        }
        bytes
    }

    /// The bytes of an entry in the index's own space, without the row: how many of the index's keys it has, and these. There
    /// is one for each number of keys, so that who looks for the first ones does not look at the others.
    pub(crate) fn entry(&self, keys: &[Datum]) -> Vec<u8> {
        let mut bytes = vec![entry_tag(keys.len())];
        bytes.extend(self.encode(keys));
        bytes
    }

    /// Whether entries with these values are distinct from all others.
    pub(crate) fn is_distinct(&self, keys: &[Datum]) -> bool {
        !self.nulls_not_distinct && keys.iter().any(Datum::is_null)
    }

    /// The columns that make the key, if it is made of columns only.
    pub(crate) fn key_columns(&self) -> Option<Vec<usize>> {
        let column = |key: &BoundKey| match key {
            BoundKey::Column(position) => Some(*position),
            BoundKey::Expr(_) => None,
        };
        self.keys.iter().map(column).collect()
    }
}

/// The columns of a table's row that an expression over it looks at.
fn columns_of(expr: &Expr, table: &Table) -> Vec<usize> {
    let mut columns = Vec::new();
    let walked = look::expr(expr, 0, &mut |part, depth| {
        match &part.kind {
            ExprKind::Column(column) if column.up == depth => columns.push(column.column),
            ExprKind::Row { up, .. } if *up == depth => columns.extend(0..table.columns.len()),
            _ => {}
        }
        Ok(Descend::Yes)
    });
    walked.expect("looking at columns does not fail");
    columns
}

/// What each constraint spans. A CHECK of one column needs nothing but the value that is written. Uniqueness and references
/// compare rows, so the order of the writers of even one cell matters to them.
fn spans(
    table: &Table,
    checks: &[(Arc<str>, Expr)],
    generated: &[(usize, Expr)],
    indexes: &[BoundIndex],
) -> Vec<Vec<usize>> {
    let mut spans: Vec<Vec<usize>> = checks.iter().map(|(_, condition)| columns_of(condition, table)).collect();
    spans.iter_mut().for_each(|span| {
        span.sort_unstable();
        span.dedup();
    });
    spans.retain(|span| span.len() > 1);
    spans.extend(generated.iter().map(|(position, expr)| {
        let mut span = columns_of(expr, table);
        span.push(*position);
        span
    }));
    spans.extend(indexes.iter().filter(|index| index.unique).map(|index| index.columns.clone()));
    spans.extend(table.foreign_keys.iter().map(|key| key.columns.clone()));
    spans
}

/// How entries with so many keys begin.
pub(crate) fn entry_tag(keys: usize) -> u8 {
    u8::try_from(keys).unwrap_or(u8::MAX)
}

fn referrers(oid: Oid, catalog: &Catalog) -> Vec<(Oid, usize)> {
    let mut found = Vec::new();
    for relation in catalog.relations.values() {
        if let RelationKind::Table(table) = &relation.kind {
            let keys = table.foreign_keys.iter().enumerate().filter(|(_, key)| key.parent == oid);
            found.extend(keys.map(|(at, _)| (relation.oid, at)));
        }
    }
    found
}

/// Bound tables of one version of the catalog.
#[derive(Default)]
pub(crate) struct BoundTables {
    version: u64,
    tables: FxHashMap<Oid, Arc<BoundTable>>,
}

impl BoundTables {
    /// The bound table, if it was bound against this version of the catalog.
    pub(crate) fn get(&mut self, oid: Oid, catalog: &Catalog) -> Option<Arc<BoundTable>> {
        if self.version != catalog.version {
            self.tables.clear();
            self.version = catalog.version;
        }
        self.tables.get(&oid).cloned()
    }

    pub(crate) fn put(&mut self, oid: Oid, bound: &Arc<BoundTable>) {
        self.tables.insert(oid, bound.clone());
    }
}
