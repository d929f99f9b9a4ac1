//! What is known about tables: keys, and what no program ever does to them.

use std::collections::{BTreeMap, BTreeSet};

use skew_sql::catalog::{Catalog, IndexKeyKind, Oid, RelationKind};
use skew_sql::types::Typed;

use super::{AccessKind, Cell, Condition, Program, Term};

/// What is known about all tables.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By the table's number.
    pub tables: BTreeMap<Oid, TableFacts>,
}

/// What is known about a table.
#[derive(Clone, Debug, Default)]
pub struct TableFacts {
    /// Its name.
    pub name: String,
    /// The names of its columns, by position.
    pub columns: Vec<String>,
    /// The types of its columns, by position.
    pub types: Vec<Typed>,
    /// The columns by which a row is the same row: of the primary key. None: every insert makes a row of its own.
    pub key: Vec<usize>,
    /// The sets of columns that at most one row can agree on, the primary key's first.
    pub unique: Vec<Vec<usize>>,
    /// Some program inserts.
    pub inserted: bool,
    /// Some program deletes.
    pub deleted: bool,
    /// The columns that some program changes in rows that are there.
    pub updated: BTreeSet<usize>,
    /// Which columns are never NULL, by position.
    pub not_null: Vec<bool>,
    /// Columns that refer to a row of another table, which is there: columns, the other table, its columns.
    pub references: Vec<(Vec<usize>, Oid, Vec<usize>)>,
    /// What is understood of its CHECK constraints.
    pub checks: RowConditions,
}

/// Conditions over the columns of one row, which are [`Read`](super::TermKind::Read) by an access 0.
#[derive(Clone, Debug, Default)]
pub struct RowConditions {
    /// The values.
    pub terms: Vec<Term>,
    /// What holds of them; NULL is allowed where a constraint allows it.
    pub conditions: Vec<Condition>,
}

impl Facts {
    /// What a schema says; what programs do is added with [`Facts::learn`].
    pub fn of(catalog: &Catalog) -> Facts {
        let mut tables = BTreeMap::new();
        for relation in catalog.relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            let mut unique = vec![];
            for index in &table.indexes {
                let Some(RelationKind::Index(index)) = catalog.relation(*index).map(|relation| &relation.kind) else {
                    continue;
                };
                let columns: Option<Vec<usize>> = index
                    .keys
                    .iter()
                    .map(|key| match key.what {
                        IndexKeyKind::Column(column) => Some(column),
                        IndexKeyKind::Expr(_) => None,
                    })
                    .collect();
                if let (true, None, Some(columns)) = (index.unique, &index.predicate, columns) {
                    unique.push(columns);
                }
            }
            let references =
                table.foreign_keys.iter().map(|key| (key.columns.clone(), key.parent, key.parent_columns.clone()));
            tables.insert(
                relation.oid,
                TableFacts {
                    name: relation.name.to_string(),
                    columns: table.columns.iter().map(|column| column.name.to_string()).collect(),
                    types: table.columns.iter().map(|column| column.typed).collect(),
                    key: table.clustered.clone(),
                    unique,
                    not_null: table.columns.iter().map(|column| column.not_null).collect(),
                    references: references.collect(),
                    ..TableFacts::default()
                },
            );
        }
        Facts { tables }
    }

    /// Adds what programs do.
    pub fn learn(&mut self, programs: &[Program]) {
        let accesses = programs.iter().flat_map(|program| &program.paths).flat_map(|path| &path.accesses);
        for access in accesses.filter(|access| !access.writes.is_empty()) {
            let Some(table) = self.tables.get_mut(&access.table) else { continue };
            match access.kind {
                AccessKind::Insert => table.inserted = true,
                AccessKind::Delete => table.deleted = true,
                AccessKind::Update | AccessKind::Select => {
                    for cell in &access.writes {
                        match cell {
                            Cell::Column(column) => _ = table.updated.insert(*column),
                            // A key that changes makes another row.
                            Cell::Existence => (table.inserted, table.deleted) = (true, true),
                        }
                    }
                }
            }
        }
    }

    /// What is known about a table; of one that was made later, nothing.
    pub fn table(&self, table: Oid) -> Option<&TableFacts> {
        self.tables.get(&table)
    }
}

impl TableFacts {
    /// Whether rows neither come nor go.
    pub fn is_fixed(&self) -> bool {
        !self.inserted && !self.deleted
    }

    /// Whether a column of a row never changes, also when the row goes and comes back.
    pub fn is_constant(&self, column: usize) -> bool {
        self.key.contains(&column) || !(self.updated.contains(&column) || (self.inserted && self.deleted))
    }

    /// A column's name.
    pub fn column(&self, column: usize) -> &str {
        self.columns.get(column).map_or("?", String::as_str)
    }
}
