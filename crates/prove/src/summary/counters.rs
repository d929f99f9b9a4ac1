//! Columns that number rows: every insert takes the next value of a counter, and nobody else changes the counter.

use std::sync::{Arc, Mutex};

use skew_model::Level;
use skew_sql::catalog::{Catalog, Oid, RelationKind};
use skew_sql::session::{Client, Connection, Database, Outcome as Answer};
use skew_sql::types::{Datum, quote};

use super::facts::{Facts, TableFacts, path};
use super::{Access, AccessKind, Cell, Outcome, Path, Program, TermId, TermKind};

/// A column whose values come from a counter, so that whoever inserts later inserts a larger one.
///
/// Every insert into the table, in every program, reads the counter of its part of the table and adds to it in the same
/// statement. Nobody else changes counters, and they neither come nor go. In the first rows of the application, no row has
/// a number that the counter has not reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The column.
    pub column: usize,
    /// The table with the counters.
    pub counters: Oid,
    /// The counter among its columns.
    pub counter: usize,
    /// The columns that say which counter it is, with those of the counters' table; all others of the key.
    pub parts: Vec<(usize, usize)>,
}

impl Facts {
    /// Finds out which columns are counted.
    pub(super) fn count(&mut self, programs: &[Program], database: &Database) {
        let paths: Vec<&Path> = programs.iter().flat_map(|program| &program.paths).collect();
        let counted: Vec<(Oid, Counted)> = self
            .tables
            .iter()
            .filter_map(|(oid, table)| Some((*oid, self.counted(*oid, table, &paths)?)))
            .filter(|(oid, counted)| self.holds_at_first(*oid, counted, database))
            .collect();
        for (oid, counted) in counted {
            self.tables.entry(oid).and_modify(|table| table.counted = Some(counted));
        }
    }

    /// Looks at the first rows, and at what sequences give next.
    pub(super) fn look_at_first_rows(&mut self, catalog: &Catalog, database: &Database) {
        if database.begin_guided_run(Level::Ser, Arc::new(Mutex::default())).is_err() {
            return;
        }
        let mut connection = database.connect(Client::new("postgres", "robust"));
        for oid in &self.endless {
            let Some(relation) = catalog.relation(*oid) else { continue };
            let goes_up = matches!(&relation.kind, RelationKind::Sequence(sequence) if sequence.increment > 0);
            let sql = format!("SELECT last_value + is_called::int FROM {}", path(relation, catalog));
            if let (true, Some(Datum::Int(next))) = (goes_up, first_value(&mut connection, &sql)) {
                self.next.insert(*oid, next);
            }
        }
        // A reference that is NOT VALID may not hold of the first rows.
        let mut broken: Vec<(Oid, usize)> = Vec::new();
        for (oid, table) in &self.tables {
            for (number, (columns, parent, others)) in table.references.iter().enumerate() {
                let Some(parent) = self.table(*parent) else { continue };
                let pairs = columns.iter().zip(others);
                let same = pairs.map(|(own, other)| {
                    let (own, other) =
                        (quote::identifier(table.column(*own)), quote::identifier(parent.column(*other)));
                    format!("(c.{own} IS NULL OR c.{own} = p.{other})")
                });
                let (child, of) = (&table.path, &parent.path);
                let same = same.collect::<Vec<_>>().join(" AND ");
                let sql =
                    format!("SELECT 1 FROM {child} c WHERE NOT EXISTS (SELECT 1 FROM {of} p WHERE {same}) LIMIT 1");
                if !is_empty(&mut connection, &sql) {
                    broken.push((*oid, number));
                }
            }
        }
        for (oid, number) in broken.into_iter().rev() {
            self.tables.entry(oid).and_modify(|table| _ = table.references.remove(number));
        }
        for table in self.tables.values_mut() {
            for column in &table.key {
                let (name, of) = (quote::identifier(&table.columns[*column]), &table.path);
                // What cannot be asked about is as large as it gets.
                let largest = match first_value(&mut connection, &format!("SELECT max({name}) FROM {of}")) {
                    Some(Datum::Null) => continue,
                    Some(Datum::Int(largest)) => largest,
                    _ => i64::MAX,
                };
                table.largest.insert(*column, largest);
            }
        }
    }

    fn counted(&self, oid: Oid, table: &TableFacts, paths: &[&Path]) -> Option<Counted> {
        let mut found: Option<Counted> = None;
        for path in paths {
            for access in path.accesses.iter().filter(|it| it.table == oid && it.writes.contains(&Cell::Existence)) {
                match access.kind {
                    AccessKind::Delete => continue,
                    AccessKind::Insert => {
                        let counted = self.counted_by(path, access, table)?;
                        if found.as_ref().is_some_and(|known| *known != counted) {
                            return None;
                        }
                        found = Some(counted);
                    }
                    AccessKind::Update | AccessKind::Select => return None,
                }
            }
        }
        let found = found?;
        let counters = self.table(found.counters)?;
        let parts_stay = found.parts.iter().all(|(_, other)| !counters.updated.contains(other));
        (counters.is_fixed() && parts_stay && is_only_counted(&found, paths)).then_some(found)
    }

    /// The counter that an insert takes its number from.
    fn counted_by(&self, path: &Path, access: &Access, table: &TableFacts) -> Option<Counted> {
        table.key.iter().find_map(|&column| {
            let TermKind::Read { access: from, column: counter } = path.terms[access.value_of(column)?].kind else {
                return None;
            };
            let count = &path.accesses[from];
            let counters = self.table(count.table)?;
            let others = table.key.iter().filter(|other| **other != column);
            let parts: Option<Vec<(usize, usize)>> = others
                .map(|&own| {
                    let value = access.value_of(own).filter(|value| !path.terms[*value].looped)?;
                    let (other, _) =
                        count.row.iter().find(|(other, known)| counters.key.contains(other) && *known == value)?;
                    Some((own, *other))
                })
                .collect();
            let parts = parts?;
            let covers = counters.key.iter().all(|key| parts.iter().filter(|(_, other)| other == key).count() == 1);
            let sure = !count.looped && !count.conditional && count.outcome == Outcome::Found;
            (sure && covers && parts.len() == counters.key.len() && adds(path, from, counter)).then_some(Counted {
                column,
                counters: count.table,
                counter,
                parts,
            })
        })
    }

    /// Whether no row of the application's first ones has a number that its counter has not reached.
    fn holds_at_first(&self, oid: Oid, counted: &Counted, database: &Database) -> bool {
        let (Some(table), Some(counters)) = (self.table(oid), self.table(counted.counters)) else { return false };
        let column = |table: &TableFacts, column: usize| quote::identifier(table.column(column));
        let parts: Vec<String> = counted
            .parts
            .iter()
            .map(|(own, other)| format!("t.{} = c.{}", column(table, *own), column(counters, *other)))
            .collect();
        let sql = format!(
            "SELECT 1 FROM {} t JOIN {} c ON {} WHERE t.{} >= c.{} LIMIT 1",
            table.path,
            counters.path,
            parts.join(" AND "),
            column(table, counted.column),
            column(counters, counted.counter),
        );
        database.begin_guided_run(Level::Ser, Arc::new(Mutex::default())).is_ok()
            && is_empty(&mut database.connect(Client::new("postgres", "robust")), &sql)
    }
}

/// Whether an access adds to a counter what it reads there.
fn adds(path: &Path, access: usize, counter: usize) -> bool {
    let is_own = |term: TermId| path.terms[term].kind == TermKind::Read { access, column: counter };
    let set = path.accesses[access].values.iter().find(|(column, _)| *column == counter);
    set.is_some_and(|(_, value)| matches!(path.terms[*value].kind, TermKind::Plus(base, by) if by > 0 && is_own(base)))
}

/// Whether everybody who changes a counter adds to it.
fn is_only_counted(counted: &Counted, paths: &[&Path]) -> bool {
    paths.iter().all(|path| {
        path.accesses.iter().enumerate().all(|(at, access)| {
            let changes = access.table == counted.counters && access.writes.contains(&Cell::Column(counted.counter));
            !changes || adds(path, at, counted.counter)
        })
    })
}

fn first_value(connection: &mut Connection, sql: &str) -> Option<Datum> {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    match (result, ended) {
        (Ok(Answer::Rows { rows, .. }), Ok(())) => rows.first().and_then(|row| row.first().cloned()),
        _ => None,
    }
}

fn is_empty(connection: &mut Connection, sql: &str) -> bool {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    matches!((result, ended), (Ok(Answer::Rows { rows, .. }), Ok(())) if rows.is_empty())
}
