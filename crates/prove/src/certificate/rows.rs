//! Where whole rows conflict: who reads a column reads its row, and who changes one changes the row.

use super::data::{Access, Outcome, Summary, Table};

/// The same programs over whole rows; without edges.
pub(super) fn by_rows(summary: &Summary) -> Summary {
    let mut wide = summary.clone();
    let ways = wide.programs.iter_mut().flat_map(|program| &mut program.ways);
    for access in ways.flat_map(|way| &mut way.accesses) {
        if let Some(table) = access.table.and_then(|table| summary.tables.get(table)) {
            widen(access, table);
        }
    }
    wide
}

fn widen(access: &mut Access, table: &Table) {
    let others: Vec<usize> = (0..table.columns.len()).filter(|column| !table.key.contains(column)).collect();
    if !access.writes.is_empty() {
        add(&mut access.writes, others.iter().copied().map(Some));
    }
    if access.reads.is_empty() || access.outcome == Outcome::Missing {
        return;
    }
    add(&mut access.reads, others.iter().copied().map(Some));
    // Which rows are looked at is decided by whole rows, too, unless a key says which.
    if !table.unique.iter().any(|unique| unique.iter().all(|column| access.ranged.contains(column))) {
        add(&mut access.filtered, others.iter().copied());
    }
}

fn add<T: Ord>(list: &mut Vec<T>, more: impl Iterator<Item = T>) {
    list.extend(more);
    list.sort_unstable();
    list.dedup();
}
