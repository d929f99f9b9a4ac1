//! What constraints look up in other rows, and which accesses make such a look succeed.
//!
//! UNIQUE looks for another row with the same key, a foreign key for the row that is referred to, and the deletion of that
//! row for rows that still refer to it. The look is at the newest committed state, whatever the transaction itself sees
//! (`docs/constraints.md`), so it orders two transactions without being a read of the later one:
//!
//! ```text
//! t1  DELETE FROM person WHERE id = 1              frees the address 'a@b'
//! t2  INSERT INTO person VALUES (2, 'a@b')         succeeds, so t2 commits after t1; its snapshot may be older
//! ```
//!
//! A look that fails ends its transaction, so it says nothing of runs. The primary key has no lookup of its own: two rows with
//! one key are one row, and meet as its writers do.

use skew_sql::catalog::{Action, Catalog, ForeignKey, Index, IndexKeyKind, Oid, RelationKind, Table, Timing};

use super::facts::Facts;
use super::{Access, AccessKind, Cell, Path, Program, TermId, TermKind};

/// A look of a constraint at other rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lookup {
    /// The name of the constraint, or of the index.
    pub constraint: String,
    /// The changes that make the constraint look.
    pub looker: Change,
    /// The changes of other transactions that such a look can rest on.
    pub giver: Change,
    /// The columns that have the same value: of the giver's row and of the looker's.
    pub equal: Vec<(usize, usize)>,
    /// It may be looked at when the transaction commits.
    pub at_commit: bool,
}

/// A kind of change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The table.
    pub table: Oid,
    /// Whether a row with new values comes, or one with old values goes.
    pub moves: Moves,
    /// The columns whose update is such a change; `None`: any column.
    pub columns: Option<Vec<usize>>,
}

/// What a change does with the values of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moves {
    /// An INSERT, or an UPDATE to new values.
    Puts,
    /// A DELETE, or an UPDATE of old values.
    Takes,
}

impl Lookup {
    /// All lookups of a schema.
    pub(super) fn all(catalog: &Catalog) -> Vec<Lookup> {
        let mut lookups = Vec::new();
        for relation in catalog.relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for index in &table.indexes {
                let Some((name, index)) = index_of(catalog, *index).filter(|(_, index)| index.unique) else { continue };
                lookups.extend(of_unique(relation.oid, table, name, index));
            }
            for key in table.foreign_keys.iter().filter(|_| !table.unchecked) {
                if let Some(parent) = catalog.table(key.parent).filter(|parent| !parent.unchecked) {
                    lookups.extend(of_foreign_key((relation.oid, table), parent, key));
                }
            }
        }
        lookups
    }

    /// The values that are the same if one access makes the look of another one succeed; `None` if it cannot.
    pub fn equalities(
        &self,
        facts: &Facts,
        giver: (&Path, &Access),
        looker: (&Path, &Access),
    ) -> Option<Vec<(TermId, TermId)>> {
        let mut equal = Vec::new();
        for (own, other) in &self.equal {
            let given = self.giver.value(facts, giver.1, *own);
            let asked = self.looker.value(facts, looker.1, *other);
            let Some((given, asked)) = given.zip(asked) else { continue };
            match (&giver.0.terms[given].kind, &looker.0.terms[asked].kind) {
                (TermKind::Null, _) | (_, TermKind::Null) => return None,
                (TermKind::Fresh(one), TermKind::Fresh(other)) if one == other => return None,
                (TermKind::Constant(one), TermKind::Constant(other)) if one != other => return None,
                _ => equal.push((given, asked)),
            }
        }
        Some(equal)
    }
}

impl Change {
    /// Whether an access may be such a change.
    pub fn is_made_by(&self, access: &Access) -> bool {
        if access.table != self.table || access.writes.is_empty() {
            return false;
        }
        match access.kind {
            AccessKind::Insert => self.moves == Moves::Puts,
            AccessKind::Delete => self.moves == Moves::Takes,
            AccessKind::Update | AccessKind::Select => {
                let decides = |column: &usize| access.writes.contains(&Cell::Column(*column));
                let sets = self.columns.as_ref().is_none_or(|columns| columns.iter().any(decides));
                sets || access.writes.contains(&Cell::Existence)
            }
        }
    }

    /// The value of a column that the change puts there or takes away, where it is known.
    fn value(&self, facts: &Facts, access: &Access, column: usize) -> Option<TermId> {
        let stays = || facts.table(access.table).is_some_and(|table| table.is_constant(column));
        match (access.kind, self.moves) {
            (AccessKind::Insert, _) => access.value_of(column),
            // The row was found by the value that it has.
            (_, Moves::Takes) => access.value_of(column).filter(|_| stays()),
            (_, Moves::Puts) => None,
        }
    }
}

impl Facts {
    /// Notes with every access which lookups it makes, and which it may make succeed.
    pub(super) fn mark_lookups(&self, programs: &mut [Program]) {
        let paths = programs.iter_mut().flat_map(|program| &mut program.paths);
        for access in paths.flat_map(|path| &mut path.accesses) {
            let is_by = |change: &Change| change.is_made_by(access);
            let all = |part: fn(&Lookup) -> &Change| {
                self.lookups.iter().enumerate().filter(move |(_, one)| is_by(part(one))).map(|(at, _)| at).collect()
            };
            let (looks, gives) = (all(|lookup| &lookup.looker), all(|lookup| &lookup.giver));
            (access.looks, access.gives) = (looks, gives);
        }
    }
}

/// UNIQUE: the row that had the key has gone, or has another key.
fn of_unique(oid: Oid, table: &Table, name: &str, index: &Index) -> Option<Lookup> {
    let columns: Option<Vec<usize>> = index
        .keys
        .iter()
        .map(|key| match key.what {
            IndexKeyKind::Column(column) => Some(column),
            IndexKeyKind::Expr(_) => None,
        })
        .collect();
    let whole = columns.filter(|_| index.predicate.is_none());
    let at_commit = index.constraint.as_ref().is_some_and(|one| one.timing != Timing::Immediate);
    if whole.as_ref() == Some(&table.clustered) && !at_commit {
        return None;
    }
    let change = |moves| Change { table: oid, moves, columns: whole.clone() };
    // NULL is the same as NULL there.
    let named = whole.iter().flatten().filter(|_| !index.nulls_not_distinct);
    let equal = named.map(|column| (*column, *column)).collect();
    let (looker, giver) = (change(Moves::Puts), change(Moves::Takes));
    Some(Lookup { constraint: name.to_owned(), looker, giver, equal, at_commit })
}

/// FOREIGN KEY: the row that is referred to has come, and the rows that referred to one that goes have gone.
fn of_foreign_key(child: (Oid, &Table), parent: &Table, key: &ForeignKey) -> Vec<Lookup> {
    let at_commit = key.timing != Timing::Immediate;
    let pairs = || key.parent_columns.iter().copied().zip(key.columns.iter().copied());
    // Values of different types are compared after a conversion.
    let is_one_type = |(of_parent, of_child): &(usize, usize)| {
        let types = parent.columns.get(*of_parent).zip(child.1.columns.get(*of_child));
        types.is_some_and(|(one, other)| one.typed == other.typed)
    };
    let of_child = |moves| Change { table: child.0, moves, columns: Some(key.columns.clone()) };
    let of_parent = |moves| Change { table: key.parent, moves, columns: Some(key.parent_columns.clone()) };
    let equal: Vec<(usize, usize)> = pairs().filter(is_one_type).collect();
    let has_parent = Lookup {
        constraint: key.name.to_string(),
        looker: of_child(Moves::Puts),
        giver: of_parent(Moves::Puts),
        equal: equal.clone(),
        at_commit,
    };
    // Rows that go with the one that they refer to, or forget it, do not keep it.
    let keeps = |action: Action| matches!(action, Action::NoAction | Action::Restrict);
    let has_no_children = (keeps(key.on_delete) || keeps(key.on_update)).then(|| Lookup {
        constraint: key.name.to_string(),
        looker: of_parent(Moves::Takes),
        giver: of_child(Moves::Takes),
        equal: equal.into_iter().map(|(of_parent, of_child)| (of_child, of_parent)).collect(),
        at_commit,
    });
    [has_parent].into_iter().chain(has_no_children).collect()
}

fn index_of(catalog: &Catalog, oid: Oid) -> Option<(&str, &Index)> {
    let relation = catalog.relation(oid)?;
    match &relation.kind {
        RelationKind::Index(index) => Some((&*relation.name, index)),
        _ => None,
    }
}
