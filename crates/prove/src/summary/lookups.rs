//! What constraints look up in other rows, and the order in which that puts two transactions.
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
//! By the definition there, the looking transaction commits after the transaction that wrote the version that it looked at,
//! and before the transactions that overwrite it. A look that fails ends its transaction, so it says nothing of runs. The
//! primary key has no lookup of its own: two rows with one key are one row, and meet as its writers do.
//!
//! A look at a row that had the key at some time depends on that row's newest version, which may be about another key. Only
//! where a row keeps its key as long as it exists, and never comes back, the two transactions meet at one key; otherwise any
//! change of the row's key counts.

use skew_sql::catalog::{Action, Catalog, ForeignKey, Index, IndexKeyKind, Oid, RelationKind, Table, Timing};

use super::facts::Facts;
use super::{Access, AccessKind, Cell, Path, Program, TermId, TermKind};

/// An order of two transactions that a constraint's look asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lookup {
    /// The name of the constraint, or of the index.
    pub constraint: String,
    /// The change of the transaction that commits first.
    pub earlier: Change,
    /// The change of the transaction that commits later.
    pub later: Change,
    /// The columns that have the same value: of the row of the earlier change and of that of the later one.
    pub equal: Vec<(usize, usize)>,
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
    /// Any of these.
    Any,
}

/// A look of a constraint, as the schema says it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    constraint: String,
    /// The changes that make the constraint look.
    looker: Change,
    /// The table and the columns that are looked at.
    table: Oid,
    columns: Option<Vec<usize>>,
    /// What satisfies the constraint.
    wants: Wants,
    /// The columns that have the same value: of the row that is looked at and of the looker's.
    equal: Vec<(usize, usize)>,
}

/// What a look wants to find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wants {
    /// A row that has the key.
    Row,
    /// No row that has the key.
    NoRow,
}

impl Look {
    /// All looks of a schema.
    fn all(catalog: &Catalog) -> Vec<Look> {
        let mut looks = Vec::new();
        for relation in catalog.relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for index in &table.indexes {
                let Some((name, index)) = index_of(catalog, *index).filter(|(_, index)| index.unique) else { continue };
                looks.extend(of_unique(relation.oid, table, name, index));
            }
            for key in table.foreign_keys.iter().filter(|_| !table.unchecked) {
                if let Some(parent) = catalog.table(key.parent).filter(|parent| !parent.unchecked) {
                    looks.extend(of_foreign_key((relation.oid, table), parent, key));
                }
            }
        }
        looks
    }

    /// The orders that it asks for: after the transaction that made it succeed, before those that overwrite what it saw.
    fn orders(&self, facts: &Facts) -> Vec<Lookup> {
        let change = |moves| Change { table: self.table, moves, columns: self.columns.clone() };
        let order = |earlier, later, equal| Lookup { constraint: self.constraint.clone(), earlier, later, equal };
        let turned = || self.equal.iter().map(|(looked_at, own)| (*own, *looked_at)).collect();
        match self.wants {
            Wants::Row => vec![
                order(change(Moves::Puts), self.looker.clone(), self.equal.clone()),
                order(self.looker.clone(), change(Moves::Takes), turned()),
            ],
            // A row that has gone stays so.
            Wants::NoRow if self.is_lasting(facts) => {
                vec![order(change(Moves::Takes), self.looker.clone(), self.equal.clone())]
            }
            Wants::NoRow => vec![
                order(change(Moves::Any), self.looker.clone(), Vec::new()),
                order(self.looker.clone(), change(Moves::Any), Vec::new()),
            ],
        }
    }

    /// Whether a row keeps the key that is looked at as long as it exists, and never comes back.
    fn is_lasting(&self, facts: &Facts) -> bool {
        let Some(table) = facts.table(self.table) else { return false };
        let keeps = match &self.columns {
            Some(columns) => columns.iter().all(|column| !table.updated.contains(column)),
            None => table.updated.is_empty(),
        };
        keeps && !table.returns()
    }
}

impl Lookup {
    /// The values that are the same if two accesses are in this order; `None` if they cannot be.
    pub fn equalities(
        &self,
        facts: &Facts,
        earlier: (&Path, &Access),
        later: (&Path, &Access),
    ) -> Option<Vec<(TermId, TermId)>> {
        let mut equal = Vec::new();
        for (own, other) in &self.equal {
            let one = self.earlier.value(facts, earlier.1, *own);
            let two = self.later.value(facts, later.1, *other);
            let Some((one, two)) = one.zip(two) else { continue };
            match (&earlier.0.terms[one].kind, &later.0.terms[two].kind) {
                (TermKind::Null, _) | (_, TermKind::Null) => return None,
                (TermKind::Fresh(one), TermKind::Fresh(other)) if one == other => return None,
                (TermKind::Constant(one), TermKind::Constant(other)) if one != other => return None,
                _ => equal.push((one, two)),
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
            AccessKind::Insert => self.moves != Moves::Takes,
            AccessKind::Delete => self.moves != Moves::Puts,
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
            (_, Moves::Puts | Moves::Any) => None,
        }
    }
}

impl Facts {
    /// Finds the orders that constraints ask for, and notes with every access those of which it may be a side.
    pub(super) fn mark_lookups(&mut self, catalog: &Catalog, programs: &mut [Program]) {
        self.lookups = Look::all(catalog).iter().flat_map(|look| look.orders(self)).collect();
        let paths = programs.iter_mut().flat_map(|program| &mut program.paths);
        for access in paths.flat_map(|path| &mut path.accesses) {
            let all = |part: fn(&Lookup) -> &Change| {
                let numbered = self.lookups.iter().enumerate();
                numbered.filter(|(_, one)| part(one).is_made_by(access)).map(|(at, _)| at).collect()
            };
            let (precedes, follows) = (all(|lookup| &lookup.earlier), all(|lookup| &lookup.later));
            (access.precedes, access.follows) = (precedes, follows);
        }
    }
}

/// UNIQUE: no other row has the key.
fn of_unique(oid: Oid, table: &Table, name: &str, index: &Index) -> Option<Look> {
    let columns: Option<Vec<usize>> = index
        .keys
        .iter()
        .map(|key| match key.what {
            IndexKeyKind::Column(column) => Some(column),
            IndexKeyKind::Expr(_) => None,
        })
        .collect();
    let whole = columns.filter(|_| index.predicate.is_none());
    let waits = index.constraint.as_ref().is_some_and(|one| one.timing != Timing::Immediate);
    if whole.as_ref() == Some(&table.clustered) && !waits {
        return None;
    }
    // NULL is the same as NULL there.
    let named = whole.iter().flatten().filter(|_| !index.nulls_not_distinct);
    let equal = named.map(|column| (*column, *column)).collect();
    let looker = Change { table: oid, moves: Moves::Puts, columns: whole.clone() };
    Some(Look { constraint: name.to_owned(), looker, table: oid, columns: whole, wants: Wants::NoRow, equal })
}

/// FOREIGN KEY: the row that is referred to exists, and no row refers to one that goes.
fn of_foreign_key(child: (Oid, &Table), parent: &Table, key: &ForeignKey) -> Vec<Look> {
    let pairs = || key.parent_columns.iter().copied().zip(key.columns.iter().copied());
    // Values of different types are compared after a conversion.
    let is_one_type = |(of_parent, of_child): &(usize, usize)| {
        let types = parent.columns.get(*of_parent).zip(child.1.columns.get(*of_child));
        types.is_some_and(|(one, other)| one.typed == other.typed)
    };
    let (of_child, of_parent) = (Some(key.columns.clone()), Some(key.parent_columns.clone()));
    let equal: Vec<(usize, usize)> = pairs().filter(is_one_type).collect();
    let has_parent = Look {
        constraint: key.name.to_string(),
        looker: Change { table: child.0, moves: Moves::Puts, columns: of_child.clone() },
        table: key.parent,
        columns: of_parent.clone(),
        wants: Wants::Row,
        equal: equal.clone(),
    };
    // Rows that go with the one that they refer to, or forget it, do not keep it.
    let keeps = |action: Action| matches!(action, Action::NoAction | Action::Restrict);
    let has_no_children = (keeps(key.on_delete) || keeps(key.on_update)).then(|| Look {
        constraint: key.name.to_string(),
        looker: Change { table: key.parent, moves: Moves::Takes, columns: of_parent },
        table: child.0,
        columns: of_child,
        wants: Wants::NoRow,
        equal: equal.into_iter().map(|(of_parent, of_child)| (of_child, of_parent)).collect(),
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
