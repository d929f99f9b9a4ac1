//! What is known about tables: keys, and what no program ever does to them.

use std::collections::{BTreeMap, BTreeSet};

use skew_sql::catalog::{Catalog, IndexKeyKind, Oid, Relation, RelationKind, Timing};
use skew_sql::types::{Typed, quote};

use super::calls::Footprints;
use super::counters::Counted;
use super::lookups::Lookup;
use super::{Access, AccessKind, Cell, Condition, Path, Program, Source, Term, TermKind};

/// What is known about all tables.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By the table's number.
    pub tables: BTreeMap<Oid, TableFacts>,
    /// Sequences that never give out a value again.
    pub endless: BTreeSet<Oid>,
    /// What the next value of a sequence that goes up is when runs begin.
    pub next: BTreeMap<Oid, i64>,
    /// What functions may do that are called.
    pub footprints: Footprints,
    /// The orders that constraints ask for which look up other rows.
    pub lookups: Vec<Lookup>,
}

/// What is known about a table.
#[derive(Clone, Debug, Default)]
pub struct TableFacts {
    /// Its name.
    pub name: String,
    /// Its name with its schema, as SQL writes it.
    pub path: String,
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
    /// Some program inserts rows whose key has no new value: they may have been there before.
    pub reinserted: bool,
    /// The columns that some program changes in rows that are there.
    pub updated: BTreeSet<usize>,
    /// Which columns are never NULL, by position.
    pub not_null: Vec<bool>,
    /// Columns that refer to a row of another table, which is there: columns, the other table, its columns.
    pub references: Vec<(Vec<usize>, Oid, Vec<usize>)>,
    /// Those of the references whose row whoever inserts a row inserts in the same transaction.
    pub brings: BTreeSet<usize>,
    /// The column that numbers its rows, if a counter does.
    pub counted: Option<Counted>,
    /// What is understood of its CHECK constraints.
    pub checks: RowConditions,
    /// The columns that constraints look at together: whoever writes one of them also writes a cell that stands for the
    /// constraint, [`TableFacts::constraint_cells`].
    pub spans: Vec<Vec<usize>>,
    /// A function that its CHECK constraints call: it may look anywhere.
    pub checked_by: Option<String>,
    /// The largest values of columns of the key in the first rows, where those are numbers.
    pub largest: BTreeMap<usize, i64>,
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
            // Those that can wait for the end say nothing about what a transaction looks at before, and those that are
            // switched off nothing at all.
            let is_checked = |parent: Oid| catalog.table(parent).is_some_and(|parent| !parent.unchecked);
            let references = table
                .foreign_keys
                .iter()
                .filter(|key| key.timing == Timing::Immediate && !table.unchecked && is_checked(key.parent))
                .map(|key| (key.columns.clone(), key.parent, key.parent_columns.clone()));
            tables.insert(
                relation.oid,
                TableFacts {
                    name: relation.name.to_string(),
                    path: path(relation, catalog),
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
        Facts { tables, ..Facts::default() }
    }

    /// What programs do; what was known before is forgotten.
    pub fn learn(&mut self, programs: &[Program]) {
        for table in self.tables.values_mut() {
            (table.inserted, table.deleted, table.reinserted) = (false, false, false);
            table.updated.clear();
        }
        let next = &self.next;
        let mut numbered: Vec<(Oid, usize, Source)> = Vec::new();
        let paths = programs.iter().flat_map(|program| &program.paths);
        let accesses = paths.flat_map(|path| path.accesses.iter().map(move |access| (path, access)));
        for (path, access) in accesses.filter(|(_, access)| !access.writes.is_empty()) {
            let Some(table) = self.tables.get_mut(&access.table) else { continue };
            match access.kind {
                AccessKind::Insert => {
                    table.inserted = true;
                    let new = table.key.iter().find_map(|column| match path.terms[access.value_of(*column)?].kind {
                        TermKind::Fresh(source) => Some((access.table, *column, source)),
                        _ => None,
                    });
                    // What is new to one sequence another one may have given out.
                    let is_another = |(table, column, source): &(Oid, usize, Source)| {
                        numbered.iter().any(|(other, by, from)| other == table && (by, from) != (column, source))
                    };
                    // So may somebody who has written the first rows.
                    let is_given = |(_, column, source): &(Oid, usize, Source)| match source {
                        Source::Sequence(sequence) => table
                            .largest
                            .get(column)
                            .is_some_and(|largest| next.get(sequence).is_none_or(|next| largest >= next)),
                        Source::Function(_) => false,
                    };
                    table.reinserted |= new.as_ref().is_none_or(|new| is_another(new) || is_given(new));
                    numbered.extend(new);
                }
                AccessKind::Delete => table.deleted = true,
                AccessKind::Update | AccessKind::Select => {
                    for cell in &access.writes {
                        match cell {
                            Cell::Column(column) if !table.has_column(*column) => {}
                            Cell::Column(column) => _ = table.updated.insert(*column),
                            // A key that changes makes another row.
                            Cell::Existence => (table.inserted, table.deleted, table.reinserted) = (true, true, true),
                        }
                    }
                }
            }
        }
        let paths: Vec<&Path> = programs.iter().flat_map(|program| &program.paths).collect();
        let brought: Vec<(Oid, BTreeSet<usize>)> =
            self.tables.iter().map(|(oid, table)| (*oid, self.brought(*oid, table, &paths))).collect();
        for (oid, brings) in brought {
            self.tables.entry(oid).and_modify(|table| table.brings = brings);
        }
    }

    /// The references of a table whose row every insert brings along.
    fn brought(&self, oid: Oid, table: &TableFacts, paths: &[&Path]) -> BTreeSet<usize> {
        let brings = |(columns, parent, parent_columns): &(Vec<usize>, Oid, Vec<usize>)| {
            let is_kept = columns.iter().all(|column| !table.updated.contains(column))
                && self.table(*parent).is_some_and(|parent| !parent.deleted);
            let has_parent = |path: &Path, child: &Access| {
                path.accesses.iter().any(|access| {
                    let same = |(own, other): (&usize, &usize)| {
                        let value = child.value_of(*own).filter(|value| !path.terms[*value].looped);
                        value.is_some() && access.value_of(*other) == value
                    };
                    access.table == *parent
                        && access.kind == AccessKind::Insert
                        && access.surely_writes()
                        && columns.iter().zip(parent_columns).all(same)
                })
            };
            is_kept
                && paths.iter().all(|path| {
                    // What moves a row or is not understood inserts it, too.
                    let makes = |access: &&Access| access.table == oid && access.writes.contains(&Cell::Existence);
                    let mut made =
                        path.accesses.iter().filter(makes).filter(|access| access.kind != AccessKind::Delete);
                    made.all(|access| access.kind == AccessKind::Insert && has_parent(path, access))
                })
        };
        (0..table.references.len()).filter(|number| brings(&table.references[*number])).collect()
    }

    /// What is known about a table; of one that was made later, nothing.
    pub fn table(&self, table: Oid) -> Option<&TableFacts> {
        self.tables.get(&table)
    }
}

/// A relation's name with its schema, as SQL writes it.
pub(super) fn path(relation: &Relation, catalog: &Catalog) -> String {
    let schema = catalog.schemas.get(&relation.schema).map(|schema| quote::identifier(&schema.name) + ".");
    schema.unwrap_or_default() + &quote::identifier(&relation.name)
}

impl TableFacts {
    /// Whether rows neither come nor go.
    pub fn is_fixed(&self) -> bool {
        !self.inserted && !self.deleted
    }

    /// Whether a row that has gone can come back.
    pub fn returns(&self) -> bool {
        self.deleted && self.reinserted
    }

    /// Whether a column of a row never changes, also when the row goes and comes back.
    pub fn is_constant(&self, column: usize) -> bool {
        self.key.contains(&column) || !(self.updated.contains(&column) || (self.inserted && self.returns()))
    }

    /// What a statement calls it: its name, with its schema where that is not `public`.
    pub fn called(&self) -> &str {
        self.path.strip_prefix("public.").unwrap_or(&self.path)
    }

    /// A column's name.
    pub fn column(&self, column: usize) -> &str {
        self.columns.get(column).map_or("(constraint)", String::as_str)
    }

    /// Whether a column is one, and does not stand for a constraint.
    pub fn has_column(&self, column: usize) -> bool {
        column < self.columns.len()
    }

    /// The cells that stand for the constraints which a change of these columns makes to be evaluated. They come after the
    /// columns.
    pub fn constraint_cells(&self, changed: &[usize]) -> Vec<usize> {
        let concerned = |span: &Vec<usize>| span.iter().any(|column| changed.contains(column));
        let cells = self.spans.iter().enumerate().filter(|(_, span)| concerned(span));
        cells.map(|(at, _)| self.columns.len() + at).collect()
    }
}
