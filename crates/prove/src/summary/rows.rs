//! A summary where a row is one thing: who reads a column reads its row, and who changes one changes the row.
//!
//! Databases lock rows, and the literature on READ COMMITTED compares both (Vandevoort, Ketsman, Koch and Neven 2023).

use std::collections::BTreeSet;

use super::facts::TableFacts;
use super::{Access, Cell, Outcome, Summary};

impl Summary {
    /// The same programs over whole rows.
    pub fn by_rows(&self) -> Summary {
        let mut summary = self.clone();
        let paths = summary.programs.iter_mut().flat_map(|program| &mut program.paths);
        for access in paths.flat_map(|path| &mut path.accesses) {
            if let Some(table) = self.facts.table(access.table) {
                widen(access, table);
            }
        }
        summary
    }
}

fn widen(access: &mut Access, table: &TableFacts) {
    let others = (0..table.columns.len()).filter(|column| !table.key.contains(column));
    let columns: BTreeSet<Cell> = others.clone().map(Cell::Column).collect();
    if !access.writes.is_empty() {
        access.writes.extend(&columns);
    }
    if access.reads.is_empty() || access.outcome == Outcome::Missing {
        return;
    }
    access.reads.extend(&columns);
    // What decides about a row is read together with the rest of it.
    access.limits.retain(|limit| limit.looked_up);
    // Which rows are looked at is decided by whole rows, too, unless the key says which.
    let by_key = |unique: &Vec<usize>| unique.iter().all(|column| access.ranged.contains(column));
    if !table.unique.iter().any(by_key) {
        access.filtered.extend(others);
    }
}
