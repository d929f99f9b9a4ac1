//! What programs do, as a certificate says it.

use std::collections::BTreeSet;

use skew_sql::catalog::Oid;

use super::data::{
    Access, Change, Does, First, Lookup, Outcome, Program, Reading, Summary, Table, Term, TermIs, Way, Writers,
};
use crate::summary::lookups::{self, Moves};
use crate::summary::values::is_integer;
use crate::summary::{self, AccessKind, Cell, Source, TermKind};

/// A summary without its edges.
pub(super) fn summary_of(summary: &summary::Summary, reading: Reading, writers: Writers) -> Summary {
    let oids: Vec<Oid> = summary.facts.tables.keys().copied().collect();
    Summary {
        reading,
        writers,
        tables: summary.facts.tables.values().map(|table| table_of(table, &oids)).collect(),
        lookups: summary.facts.lookups.iter().map(|lookup| lookup_of(lookup, &oids)).collect(),
        programs: summary.programs.iter().map(|program| program_of(program, &oids)).collect(),
        edges: Vec::new(),
        apart: Vec::new(),
    }
}

fn table_of(table: &summary::facts::TableFacts, oids: &[Oid]) -> Table {
    let not_null = table.not_null.iter().enumerate().filter(|(_, is)| **is).map(|(column, _)| column);
    Table {
        name: table.name.clone(),
        columns: table.columns.clone(),
        key: table.key.clone(),
        unique: table.unique.clone(),
        not_null: not_null.collect(),
        inserted: table.inserted,
        deleted: table.deleted,
        reinserted: table.reinserted,
        updated: table.updated.iter().copied().collect(),
        counted: table.counted.as_ref().map(|one| (one.column, one.parts.iter().map(|(own, _)| *own).collect())),
        references: table
            .references
            .iter()
            .filter_map(|(columns, parent, theirs)| {
                let parent = oids.iter().position(|oid| oid == parent)?;
                Some((columns.clone(), parent, theirs.clone()))
            })
            .collect(),
    }
}

fn lookup_of(lookup: &lookups::Lookup, oids: &[Oid]) -> Lookup {
    let change = |change: &lookups::Change| Change {
        table: oids.iter().position(|oid| *oid == change.table),
        puts: change.moves != Moves::Takes,
        takes: change.moves != Moves::Puts,
        columns: change.columns.clone(),
    };
    Lookup {
        constraint: lookup.constraint.clone(),
        earlier: change(&lookup.earlier),
        later: change(&lookup.later),
        equal: lookup.equal.clone(),
    }
}

fn program_of(program: &summary::Program, oids: &[Oid]) -> Program {
    let way = |path: &summary::Path| Way {
        decisions: path.decisions.clone(),
        terms: path.terms.iter().map(term_of).collect(),
        never_null: path.never_null.iter().copied().collect(),
        always_null: path.always_null.iter().copied().collect(),
        accesses: path.accesses.iter().map(|access| access_of(access, oids)).collect(),
    };
    Program {
        name: program.name.clone(),
        level: program.level.map(|level| level.id().to_owned()),
        ways: program.paths.iter().map(way).collect(),
    }
}

fn term_of(term: &summary::Term) -> Term {
    let is = match &term.kind {
        TermKind::Parameter(number) => TermIs::Parameter(*number),
        TermKind::Constant(text) => TermIs::Constant(text.clone()),
        TermKind::Null => TermIs::Null,
        TermKind::Fresh(Source::Sequence(sequence)) => TermIs::Fresh(sequence.to_string()),
        TermKind::Fresh(Source::Function(name)) => TermIs::Fresh((*name).to_owned()),
        TermKind::Read { access, column } => TermIs::Read { access: *access, column: *column },
        // One more than a whole number is another number; of other types nothing is said.
        TermKind::Plus(than, by) if term.typed.is_some_and(|typed| is_integer(typed.ty)) => {
            TermIs::More { than: *than, by: *by }
        }
        _ => TermIs::Other,
    };
    Term { is, looped: term.looped }
}

fn access_of(access: &summary::Access, oids: &[Oid]) -> Access {
    Access {
        line: access.line,
        statement: access.statement.to_string(),
        number: access.number,
        table: oids.iter().position(|oid| *oid == access.table),
        does: match access.kind {
            AccessKind::Select => Does::Select,
            AccessKind::Insert => Does::Insert,
            AccessKind::Update => Does::Update,
            AccessKind::Delete => Does::Delete,
        },
        row: access.row.clone(),
        ranged: access.ranged.iter().copied().collect(),
        filtered: access.filtered.iter().copied().collect(),
        reads: cells_of(&access.reads),
        writes: cells_of(&access.writes),
        outcome: match access.outcome {
            summary::Outcome::Found => Outcome::Found,
            summary::Outcome::Missing => Outcome::Missing,
            summary::Outcome::Open => Outcome::Open,
        },
        single: access.single,
        plain: access.plain,
        locks: access.locks,
        alone: access.alone,
        again: access.again,
        undoable: access.undoable,
        looped: access.looped,
        conditional: access.conditional,
        first: access
            .extreme
            .filter(|extreme| extreme.first)
            .map(|extreme| First { column: extreme.column, largest: extreme.largest }),
        follows: access.follows.iter().copied().collect(),
        precedes: access.precedes.iter().copied().collect(),
    }
}

fn cells_of(cells: &BTreeSet<Cell>) -> Vec<Option<usize>> {
    cells.iter().copied().map(cell_of).collect()
}

/// A column, or none for whether the row is there.
pub(super) fn cell_of(cell: Cell) -> Option<usize> {
    match cell {
        Cell::Existence => None,
        Cell::Column(column) => Some(column),
    }
}
