//! One statement of a trace against the accesses that its statement of the program has reached.

use std::collections::{BTreeMap, BTreeSet};

use skew_prove::ir::{Access, AccessId, Cell, Count, Function, Kind, Predicate, Rows, Snapshot};
use skew_sql::catalog::{IndexKeyKind, Oid, RelationKind};
use skew_sql::ir::LockStrength;
use skew_sql::session::trace::{CellRef, Did, Event, Part, Recorded, RowRef};

use crate::ir_oracle::{Frame, Held, Instance, Matcher, Picked, State, table_of};
use crate::values::{is_same, order};

/// What a statement saw of its rows.
struct Seen<'e> {
    events: &'e [&'e Event],
    /// The columns of each row as they were read before they were written; those that were read as two values are left out.
    rows: BTreeMap<RowRef, BTreeMap<usize, Recorded>>,
    /// The rows that were there when they were looked at last, before they were written.
    there: BTreeSet<RowRef>,
    gone: BTreeSet<RowRef>,
}

impl<'e> Seen<'e> {
    fn of(events: &'e [&'e Event]) -> Seen<'e> {
        let mut seen = Seen { events, rows: BTreeMap::new(), there: BTreeSet::new(), gone: BTreeSet::new() };
        let (mut written, mut several) = (BTreeSet::new(), BTreeSet::new());
        for event in events {
            match &event.did {
                Did::Write(cell, _) => _ = written.insert((cell.row.number, part(cell))),
                Did::Read(cell, value) | Did::OwnRead(cell, value) => {
                    let row = &cell.row;
                    let values = seen.rows.entry(row.clone()).or_insert_with(|| row.key.iter().cloned().collect());
                    if written.contains(&(row.number, part(cell))) {
                        continue;
                    }
                    match (&cell.part, value) {
                        (Part::Existence, Some(_)) => {
                            seen.gone.remove(row);
                            seen.there.insert(row.clone());
                        }
                        (Part::Existence, None) => {
                            seen.there.remove(row);
                            seen.gone.insert(row.clone());
                        }
                        (Part::Column(column), Some(value)) => {
                            let known = values.insert(*column, value.clone());
                            if known.is_some_and(|known| !is_same(&known, value)) {
                                several.insert((row.clone(), *column));
                            }
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        for (row, column) in several {
            seen.rows.get_mut(&row).map(|values| values.remove(&column));
        }
        seen
    }

    fn columns(&self, row: &RowRef) -> BTreeMap<usize, Recorded> {
        self.rows.get(row).cloned().unwrap_or_else(|| row.key.iter().cloned().collect())
    }
}

fn part(cell: &CellRef) -> Option<usize> {
    match cell.part {
        Part::Column(column) => Some(column),
        _ => None,
    }
}

/// Whether a row is picked.
#[derive(Clone, PartialEq)]
enum Fits {
    /// Surely.
    Yes,
    /// Nothing says that it is not.
    Perhaps,
    No,
}

impl Matcher<'_> {
    /// The states in which a statement is explained, with what its accesses have picked; or why there is none.
    pub fn explain_frame(&self, frame: &Frame, mut state: State) -> Result<Vec<State>, String> {
        let own = frame.number.iter().flat_map(|number| (0..self.events[number].len()).map(|at| (*number, at)));
        let places: Vec<(u32, usize)> = own.chain(frame.carried.iter().copied()).collect();
        let events: Vec<&Event> = places.iter().map(|(number, at)| self.events[number][*at]).collect();
        let seen = Seen::of(&events);
        let mut ways = vec![state.symbols.clone()];
        for (event, place) in events.iter().copied().zip(&places) {
            if matches!(event.did, Did::OwnRead(..)) || frame.havoc.contains(&table_of(event)) {
                continue;
            }
            let mut next: Vec<Vec<Option<Recorded>>> = Vec::new();
            for symbols in &ways {
                state.symbols.clone_from(symbols);
                for instance in &frame.instances {
                    if let Some(symbols) = self.covers(instance, event, (frame, &seen), &state)
                        && !next.contains(&symbols)
                    {
                        next.push(symbols);
                    }
                }
            }
            if next.is_empty() {
                // What a statement does after one within it is recorded as that one's.
                if let Some(around) = state.frames.last_mut() {
                    around.carried.push(*place);
                    continue;
                }
                return Err(format!("nothing covers {:?} of statement {:?}", event.did, frame.number));
            }
            ways = next;
        }
        let (mut states, mut reason) = (Vec::new(), String::new());
        for symbols in ways {
            let mut state = State { symbols, ..state.clone() };
            match self.undone(frame, &seen, &state) {
                Some(why) => reason = why,
                None => {
                    self.pick(frame, &seen, &mut state);
                    states.push(state);
                }
            }
        }
        if states.is_empty() { Err(reason) } else { Ok(states) }
    }

    /// What the symbols are where an access covers an event.
    fn covers(
        &self,
        instance: &Instance,
        event: &Event,
        (frame, seen): (&Frame, &Seen<'_>),
        state: &State,
    ) -> Option<Vec<Option<Recorded>>> {
        let access = self.program.access(instance.id);
        if access.table != table_of(event) || access.snapshot == Snapshot::Committed {
            return None;
        }
        let mut state = State { variables: instance.variables.clone(), ..state.clone() };
        let is_covered = match &event.did {
            Did::Read(cell, _) => {
                let cells = self.cells(access.table, cell);
                let decides = cells.iter().all(|cell| access.may_decide.has(cell));
                let reads = cells.iter().all(|one| access.may_decide.has(one) || access.may_read.has(one));
                decides && self.is_in_region(access, &seen.columns(&cell.row), &mut state)
                    || reads && self.picks(access, instance, &cell.row, (frame, seen), &mut state) != Fits::No
            }
            Did::Write(cell, value) => {
                let writes =
                    match cell.part {
                        // What changes a column of an entry, or the row, changes the entry.
                        Part::Entry(index, count) => {
                            access.may_write.has(&Cell::Existence)
                                || self.index_columns(index).iter().take(count).any(|column| {
                                    column.is_none_or(|column| access.may_write.has(&Cell::Column(column)))
                                })
                        }
                        _ => self.cells(access.table, cell).iter().all(|cell| access.may_write.has(cell)),
                    };
                writes
                    && !state.undone
                    && self.picks(access, instance, &cell.row, (frame, seen), &mut state) != Fits::No
                    && self.is_written(access, (cell, value.as_ref()), seen, &mut state)
            }
            Did::Look { index, equal, .. } => self.is_look(access, (*index, equal), &mut state),
            Did::Lock(row, strength) => {
                let is_lock = matches!(access.kind, Kind::Lock(own) if rank(own) >= rank(*strength));
                is_lock && self.picks(access, instance, row, (frame, seen), &mut state) != Fits::No
            }
            Did::OwnRead(..) => true,
        };
        is_covered.then_some(state.symbols)
    }

    /// Whether what is written is what the access says.
    fn is_written(
        &self,
        access: &Access,
        (cell, value): (&CellRef, Option<&Recorded>),
        seen: &Seen<'_>,
        state: &mut State,
    ) -> bool {
        let columns = seen.columns(&cell.row);
        let said = |column: usize| access.values.iter().find(|(known, _)| *known == column).map(|(_, value)| value);
        let of = match access.rows {
            Rows::Of(id) => id,
            _ => AccessId(usize::MAX),
        };
        match (&cell.part, value) {
            (Part::Column(column), Some(value)) => match said(*column) {
                Some(expected) => {
                    let expected = self.value(expected, state, Some((of, &columns)));
                    unify(&expected, value, state)
                }
                None => true,
            },
            (Part::Existence, Some(_)) => {
                access.kind != Kind::Delete
                    && (access.kind != Kind::Insert
                        || cell.row.key.iter().all(|(column, value)| match said(*column) {
                            Some(expected) => unify(&self.value(expected, state, None), value, state),
                            None => true,
                        }))
            }
            (Part::Existence, None) => access.kind != Kind::Insert,
            _ => true,
        }
    }

    fn is_look(&self, access: &Access, (index, equal): (Option<Oid>, &[Recorded]), state: &mut State) -> bool {
        let Rows::Where { picked, region } = &access.rows else { return false };
        let columns = match index {
            Some(index) => self.index_columns(index),
            None => self.application.tables[&access.table].key.iter().map(|column| Some(*column)).collect(),
        };
        region.iter().all(|column| {
            let place = columns.iter().position(|known| *known == Some(*column));
            let looked = place.and_then(|place| equal.get(place));
            match (picked.value_of(*column), looked) {
                (Some(value), Some(looked)) => unify(&self.value(value, state, None), looked, state),
                (Some(value), None) => self.value(value, state, None) == Held::Any,
                (None, _) => true,
            }
        })
    }

    fn is_in_region(&self, access: &Access, columns: &BTreeMap<usize, Recorded>, state: &mut State) -> bool {
        let Rows::Where { picked, region } = &access.rows else { return false };
        region.iter().all(|column| match (picked.value_of(*column), columns.get(column)) {
            (Some(value), Some(found)) => unify(&self.value(value, state, None), found, state),
            _ => true,
        })
    }

    /// Whether an access picks a row.
    fn picks(
        &self,
        access: &Access,
        instance: &Instance,
        row: &RowRef,
        (frame, seen): (&Frame, &Seen<'_>),
        state: &mut State,
    ) -> Fits {
        match &access.rows {
            Rows::New => Fits::Perhaps,
            Rows::Where { picked, .. } => self.satisfies(picked, &seen.columns(row), state),
            Rows::Of(of) => {
                let before = frame.instances.iter().rev().find(|other| other.id == *of);
                let Some(before) = before else { return Fits::Perhaps };
                let variables = std::mem::replace(&mut state.variables, before.variables.clone());
                let fits = self.picks(self.program.access(*of), before, row, (frame, seen), state);
                state.variables = variables;
                if before.optional && !instance.optional && fits == Fits::Yes { Fits::Perhaps } else { fits }
            }
        }
    }

    fn satisfies(&self, picked: &Predicate, columns: &BTreeMap<usize, Recorded>, state: &mut State) -> Fits {
        let mut fits = if picked.remainder.is_none() { Fits::Yes } else { Fits::Perhaps };
        for (column, value) in &picked.equal {
            let expected = self.value(value, state, None);
            match columns.get(column) {
                Some(Recorded::Null) => return Fits::No,
                Some(found) => {
                    if !matches!(expected, Held::Known(_)) {
                        fits = Fits::Perhaps;
                    }
                    if !unify(&expected, found, state) || expected == Held::Known(Recorded::Null) {
                        return Fits::No;
                    }
                }
                None => fits = Fits::Perhaps,
            }
        }
        for any in &picked.limits {
            let truths: Vec<Option<bool>> = any
                .iter()
                .map(|limit| {
                    let found = columns.get(&limit.column)?;
                    let Held::Known(value) = self.value(&limit.value, state, None) else { return None };
                    Some(compares(found, limit.is, &value))
                })
                .collect();
            if truths.iter().all(|truth| *truth == Some(false)) {
                return Fits::No;
            }
            if !truths.contains(&Some(true)) {
                fits = Fits::Perhaps;
            }
        }
        fits
    }

    /// What the statement has not done although it does so for sure.
    fn undone(&self, frame: &Frame, seen: &Seen<'_>, state: &State) -> Option<String> {
        let within = frame.within.iter().flat_map(|number| self.events[number].iter().copied());
        let all: Vec<&Event> = seen.events.iter().copied().chain(within).collect();
        for instance in frame.instances.iter().filter(|instance| !instance.optional && !state.undone) {
            let access = self.program.access(instance.id);
            let looks = |event: &&&Event| {
                let is_look = match &event.did {
                    Did::Read(cell, _) | Did::OwnRead(cell, _) => {
                        matches!(cell.part, Part::Existence | Part::Entry(..))
                    }
                    Did::Look { .. } => true,
                    _ => false,
                };
                is_look && table_of(event) == access.table
            };
            // By NULL nothing is looked up.
            let own = State { variables: instance.variables.clone(), ..state.clone() };
            let is_given = match &access.rows {
                Rows::Where { picked, region } => region.iter().filter_map(|column| picked.value_of(*column)).all(
                    |value| matches!(self.value(value, &own, None), Held::Known(value) if value != Recorded::Null),
                ),
                _ => true,
            };
            if access.surely_looks && is_given && !all.iter().any(|event| looks(&event)) {
                return Some(format!("it has not looked: {access:?}"));
            }
            let has_written = |row: &RowRef, asked: &Cell| {
                all.iter().any(|event| match &event.did {
                    Did::Write(cell, _) => cell.row == *row && self.cells(access.table, cell) == [*asked],
                    _ => false,
                })
            };
            let has_read = |row: &RowRef, asked: &Cell| {
                all.iter().any(|event| match &event.did {
                    Did::Read(cell, _) | Did::OwnRead(cell, _) => {
                        cell.row == *row && self.cells(access.table, cell) == [*asked]
                    }
                    _ => false,
                })
            };
            if access.kind == Kind::Insert && access.count == Count::One {
                let rows = all.iter().filter_map(|event| match &event.did {
                    Did::Write(cell, Some(_)) if cell.row.table == access.table && cell.part == Part::Existence => {
                        Some(&cell.row)
                    }
                    _ => None,
                });
                let mut whole = rows.filter(|row| access.must_write.iter().all(|cell| has_written(row, cell)));
                if whole.next().is_none() {
                    return Some(format!("it has not inserted a row: {access:?}"));
                }
            }
            let mut sure = 0;
            for row in seen.there.iter().filter(|row| row.table == access.table) {
                let mut state = State { variables: instance.variables.clone(), ..state.clone() };
                if self.picks(access, instance, row, (frame, seen), &mut state) != Fits::Yes {
                    continue;
                }
                sure += 1;
                if let Some(cell) = access.must_write.iter().find(|cell| !has_written(row, cell)) {
                    return Some(format!("it has not written {cell:?} of {row:?}: {access:?}"));
                }
                if let Some(cell) = access.must_read.iter().find(|cell| !has_read(row, cell)) {
                    return Some(format!("it has not read {cell:?} of {row:?}: {access:?}"));
                }
            }
            if access.count == Count::AtMostOne && sure > 1 {
                return Some(format!("it has picked several rows: {access:?}"));
            }
        }
        None
    }

    /// What accesses have picked, for the steps that follow.
    fn pick(&self, frame: &Frame, seen: &Seen<'_>, state: &mut State) {
        for instance in &frame.instances {
            let access = self.program.access(instance.id);
            let Rows::Where { picked, .. } = &access.rows else { continue };
            let mut known = State { variables: instance.variables.clone(), ..state.clone() };
            let rows = || seen.rows.keys().filter(|row| row.table == access.table && !seen.gone.contains(row));
            let fitting: Vec<(&RowRef, Fits)> = rows()
                .map(|row| (row, self.satisfies(picked, &seen.columns(row), &mut known)))
                .filter(|(_, fits)| *fits != Fits::No)
                .collect();
            let has_one = access.count == Count::AtMostOne && !instance.optional;
            let is_known =
                picked.equal.iter().all(|(_, value)| matches!(self.value(value, &known, None), Held::Known(_)));
            let is_seen = frame.number.is_some();
            let is_null =
                picked.equal.iter().any(|(_, value)| self.value(value, &known, None) == Held::Known(Recorded::Null));
            let result = match &fitting[..] {
                _ if is_null => Picked::Nothing,
                [(row, Fits::Yes)] if has_one && seen.there.contains(row) => Picked::Row(seen.columns(row)),
                [] if has_one && is_known && is_seen => Picked::Nothing,
                _ => Picked::Unknown,
            };
            state.picked.insert(instance.id, result);
        }
    }

    /// The cells that something recorded of a row stands for.
    fn cells(&self, table: Oid, cell: &CellRef) -> Vec<Cell> {
        let key = &self.application.tables[&table].key;
        match cell.part {
            Part::Existence => vec![Cell::Existence],
            Part::Column(column) => vec![Cell::Column(column)],
            Part::Entry(index, count) => {
                let columns = self.index_columns(index).into_iter().take(count).flatten();
                let columns = columns.filter(|column| !key.contains(column)).map(Cell::Column);
                std::iter::once(Cell::Existence).chain(columns).collect()
            }
        }
    }

    fn index_columns(&self, index: Oid) -> Vec<Option<usize>> {
        let Some(RelationKind::Index(index)) = self.catalog.relation(index).map(|relation| &relation.kind) else {
            return Vec::new();
        };
        let columns = index.keys.iter().map(|key| match key.what {
            IndexKeyKind::Column(column) => Some(column),
            IndexKeyKind::Expr(_) => None,
        });
        columns.collect()
    }
}

/// Whether something held can be a value; a symbol is that from then on.
fn unify(held: &Held, value: &Recorded, state: &mut State) -> bool {
    match held {
        Held::Known(known) => is_same(known, value),
        Held::Symbol(at) => {
            state.symbols[*at] = Some(value.clone());
            true
        }
        Held::Any => true,
    }
}

fn compares(found: &Recorded, is: Function, value: &Recorded) -> bool {
    let Some(order) = order(found, value) else { return false };
    match is {
        Function::Equal => order.is_eq(),
        Function::Different => order.is_ne(),
        Function::Less => order.is_lt(),
        Function::AtMost => order.is_le(),
        Function::Greater => order.is_gt(),
        Function::AtLeast => order.is_ge(),
        _ => true,
    }
}

fn rank(strength: LockStrength) -> usize {
    match strength {
        LockStrength::KeyShare => 0,
        LockStrength::Share => 1,
        LockStrength::NoKeyUpdate => 2,
        LockStrength::Update => 3,
    }
}
