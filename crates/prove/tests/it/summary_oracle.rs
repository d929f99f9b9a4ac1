//! What a summary claims of programs, compared with executions on the weak database.
//!
//! A summary claims of every transaction that commits: it takes one of the paths of its program, which means that there
//! are values for the path's terms such that
//! - what the decisions say of these values is true (`conditions`, `never_null`, `always_null`);
//! - everything that the transaction read, wrote, locked and looked at is covered by some access of the path: the cell is
//!   among those of the access, and the row has the values that the access says, unless the access only looks at it;
//! - what an access does for sure was done: the row that it finds is there, the cells that it surely writes were written,
//!   the row that it locks was locked.
//!
//! [`explain`] takes this literally and looks for such a path and such values.

use std::collections::BTreeMap;

use skew_sql::catalog::{Catalog, IndexKeyKind, Oid, RelationKind};
use skew_sql::ir::LockStrength;
use skew_sql::session::trace::{CellRef, Did, Event, Part, Recorded, RowRef};
use skew_sql::types::Type;

use skew_prove::summary::{
    Access, AccessKind, Cell, Comparison, Condition, Facts, Limit, Outcome, Path, Program, Side, TermId, TermKind,
};

use crate::executions::{Execution, shown};
use crate::values::{is_same, number, order};

/// So many steps a path is tried for.
const MAX_STEPS: usize = 50_000;

/// Whether an execution takes one of a program's paths.
pub enum Explained {
    Yes,
    /// Why each path is not the one.
    No(String),
    /// There were too many possibilities.
    Unknown,
}

/// Looks for a path of the program that an execution takes.
pub fn explain(program: &Program, execution: &Execution, facts: &Facts, catalog: &Catalog) -> Explained {
    let (mut reasons, mut unknown) = (String::new(), false);
    for (number, path) in program.paths.iter().enumerate() {
        let mut matcher = Matcher::new(path, execution, facts, catalog);
        let begin = matcher.begin(program, &execution.arguments);
        if matcher.cover(0, begin) {
            return Explained::Yes;
        }
        unknown |= matcher.steps >= MAX_STEPS;
        reasons.push_str(&format!("path {}: {}\n", number + 1, matcher.why()));
    }
    if unknown { Explained::Unknown } else { Explained::No(reasons) }
}

type Values = Vec<Option<Recorded>>;

struct Matcher<'a> {
    path: &'a Path,
    events: &'a [Event],
    facts: &'a Facts,
    catalog: &'a Catalog,
    /// What each statement reads, and what it writes, of columns of a row.
    read: BTreeMap<(u32, u32, usize), Recorded>,
    written: BTreeMap<(u32, u32, usize), Recorded>,
    steps: usize,
    /// How many events were covered at most, and why it did not go on.
    deepest: usize,
    reason: String,
    last: Values,
}

impl<'a> Matcher<'a> {
    fn new(path: &'a Path, execution: &'a Execution, facts: &'a Facts, catalog: &'a Catalog) -> Matcher<'a> {
        let events = &execution.trace.events[..];
        let (mut read, mut written) = (BTreeMap::new(), BTreeMap::new());
        for Event { statement, did } in events {
            let (values, cell, value) = match did {
                Did::Read(cell, Some(value)) | Did::OwnRead(cell, Some(value)) => (&mut read, cell, value),
                Did::Write(cell, Some(value)) => (&mut written, cell, value),
                _ => continue,
            };
            if let Part::Column(column) = cell.part {
                values.insert((*statement, cell.row.number, column), value.clone());
            }
        }
        let reason = "the arguments are others".to_owned();
        Matcher {
            path,
            events,
            facts,
            catalog,
            read,
            written,
            steps: 0,
            deepest: 0,
            reason,
            last: vec![None; path.terms.len()],
        }
    }

    fn why(&self) -> String {
        match self.events.get(self.deepest) {
            Some(event) if self.reason.is_empty() => {
                format!("nothing covers {}{}", shown(event, self.facts), self.differing(event))
            }
            _ => self.reason.clone(),
        }
    }

    /// The values by which accesses of a table miss the row of an event.
    fn differing(&self, event: &Event) -> String {
        let (Did::Read(CellRef { row, .. }, _) | Did::Write(CellRef { row, .. }, _) | Did::Lock(row, _)) = &event.did
        else {
            return String::new();
        };
        let mut text = String::new();
        for access in self.path.accesses.iter().filter(|access| access.table == row.table) {
            let table = self.facts.table(access.table).expect("it is known");
            for (column, term) in &access.row {
                let found = self.column(access, event.statement, row, *column);
                let is_other = found.as_ref().is_some_and(|found| !self.unify(*term, found, &mut self.last.clone()));
                if is_other {
                    let known = (&self.path.terms[*term].kind, self.value(*term, &self.last));
                    text.push_str(&format!(
                        "; line {}: {} is {found:?}, not {known:?}",
                        access.line,
                        table.column(*column)
                    ));
                }
            }
        }
        text
    }

    /// The values of constants, and of parameters of types that have one way to write a value.
    fn begin(&self, program: &Program, arguments: &[Option<Recorded>]) -> Values {
        let is_plain = |at: usize| {
            let ty = program.parameters.get(at).map(|parameter| parameter.ty);
            matches!(ty, Some(Type::INT2 | Type::INT4 | Type::INT8 | Type::NUMERIC | Type::TEXT | Type::VARCHAR))
        };
        let value = |kind: &TermKind| match kind {
            TermKind::Constant(text) => {
                let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
                Some(Recorded::Value(quoted.unwrap_or(text).to_owned()))
            }
            TermKind::Null => Some(Recorded::Null),
            TermKind::Parameter(at) if is_plain(*at) => arguments.get(*at).cloned().flatten(),
            _ => None,
        };
        self.path.terms.iter().map(|term| value(&term.kind)).collect()
    }

    /// Covers the events from this one on.
    fn cover(&mut self, at: usize, values: Values) -> bool {
        self.steps += 1;
        if self.steps >= MAX_STEPS {
            return false;
        }
        let Some(event) = self.events.get(at) else {
            return match self.failing(&values) {
                None => true,
                Some(reason) => {
                    (self.deepest, self.reason) = (at, reason);
                    false
                }
            };
        };
        if at > self.deepest || self.steps == 1 {
            (self.deepest, self.reason, self.last) = (at, String::new(), values.clone());
        }
        // What a transaction reads of its own depends on no other transaction.
        if matches!(event.did, Did::OwnRead(..)) {
            return self.cover(at + 1, values);
        }
        let mut ways: Vec<Values> = Vec::new();
        for access in 0..self.path.accesses.len() {
            for new in self.covers(access, event, &values) {
                // What says nothing about values excludes nothing.
                if new == values {
                    return self.cover(at + 1, new);
                }
                if !ways.contains(&new) {
                    ways.push(new);
                }
            }
        }
        ways.into_iter().any(|new| self.cover(at + 1, new))
    }

    /// The values under which an access covers an event.
    fn covers(&self, number: usize, Event { statement, did }: &Event, values: &Values) -> Vec<Values> {
        let access = &self.path.accesses[number];
        match did {
            Did::Read(cell, value) if cell.row.table == access.table => {
                self.covers_read(number, *statement, (cell, value.as_ref()), values)
            }
            Did::Write(cell, value) if cell.row.table == access.table => {
                self.covers_write(access, *statement, (cell, value.as_ref()), values).into_iter().collect()
            }
            Did::Look { table, index, equal } if *table == access.table => {
                self.covers_look(access, (*index, equal), values).into_iter().collect()
            }
            Did::Lock(row, _) if row.table == access.table && access.again => {
                self.picks(access, (*statement, row), values).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn covers_read(
        &self,
        number: usize,
        statement: u32,
        (cell, value): (&CellRef, Option<&Recorded>),
        values: &Values,
    ) -> Vec<Values> {
        let access = &self.path.accesses[number];
        let Some(table) = self.facts.table(access.table) else { return Vec::new() };
        let needed = self.cells_of(cell);
        let is_key = |cell: &Cell| matches!(cell, Cell::Column(column) if table.key.contains(column));
        if !needed.iter().all(|cell| access.reads.contains(cell) || is_key(cell)) {
            return Vec::new();
        }
        let mut ways = Vec::new();
        let is_there = cell.part == Part::Existence && value.is_some() || matches!(cell.part, Part::Column(_));
        // What a statement finds that locks or changes rows is decided by its second look, under the lock.
        let is_gone = access.again && self.is_gone(statement, &cell.row);
        let claims_missing = access.outcome == Outcome::Missing && access.filtered.is_empty() && !is_gone;
        if !(is_there && claims_missing)
            && let Some(mut picked) = self.picks(access, (statement, &cell.row), values)
            && self.reads_terms(number, (cell, value), &mut picked)
        {
            ways.push(picked);
        }
        if needed.iter().all(|cell| is_key(cell) || access.reads_of_others(*cell, table)) {
            ways.extend(self.looks_at(access, (statement, &cell.row), values));
        }
        ways
    }

    /// Whether a statement sees that a row is not there.
    fn is_gone(&self, statement: u32, row: &RowRef) -> bool {
        self.events.iter().any(|event| match &event.did {
            Did::Read(cell, None) | Did::OwnRead(cell, None) => {
                event.statement == statement && cell.row == *row && cell.part == Part::Existence
            }
            _ => false,
        })
    }

    /// The values that terms read have what was read.
    fn reads_terms(&self, number: usize, (cell, value): (&CellRef, Option<&Recorded>), values: &mut Values) -> bool {
        let access = &self.path.accesses[number];
        if access.outcome != Outcome::Found || access.extreme.is_some() || access.looped {
            return true;
        }
        let Some(value) = value else { return true };
        let read: Vec<(usize, &Recorded)> = match cell.part {
            Part::Column(column) => vec![(column, value)],
            Part::Existence => cell.row.key.iter().map(|(column, value)| (*column, value)).collect(),
            Part::Entry(..) => Vec::new(),
        };
        read.into_iter().all(|(column, value)| {
            let kind = TermKind::Read { access: number, column };
            match self.path.terms.iter().position(|term| term.kind == kind) {
                Some(term) => self.unify(term, value, values),
                None => true,
            }
        })
    }

    fn covers_write(
        &self,
        access: &Access,
        statement: u32,
        (cell, value): (&CellRef, Option<&Recorded>),
        values: &Values,
    ) -> Option<Values> {
        let writes = match cell.part {
            // What changes a column of an entry, or the row, changes the entry.
            Part::Entry(index, count) => {
                self.index_columns(index)
                    .iter()
                    .take(count)
                    .any(|column| column.is_none_or(|column| access.writes.contains(&Cell::Column(column))))
                    || access.writes.contains(&Cell::Existence)
            }
            _ => self.cells_of(cell).iter().all(|cell| access.writes.contains(cell)),
        };
        let goes = cell.part == Part::Existence && value.is_none();
        if !writes || goes && access.kind == AccessKind::Insert {
            return None;
        }
        let mut picked = self.picks(access, (statement, &cell.row), values)?;
        if let (Part::Column(column), Some(value)) = (&cell.part, value)
            && let Some((_, term)) = access.values.iter().find(|(set, _)| set == column)
            && !self.unify(*term, value, &mut picked)
        {
            return None;
        }
        Some(picked)
    }

    fn covers_look(
        &self,
        access: &Access,
        (index, equal): (Option<Oid>, &[Recorded]),
        values: &Values,
    ) -> Option<Values> {
        let columns = match index {
            Some(index) => self.index_columns(index),
            None => self.facts.table(access.table)?.key.iter().map(|column| Some(*column)).collect(),
        };
        let mut values = values.clone();
        let is_within = access.ranged.iter().all(|column| {
            let place = columns.iter().position(|known| *known == Some(*column));
            let looked = place.and_then(|place| equal.get(place));
            access
                .value_of(*column)
                .is_none_or(|term| looked.is_some_and(|looked| self.unify(term, looked, &mut values)))
        });
        (access.reads.contains(&Cell::Existence) && is_within).then_some(values)
    }

    /// The values under which a row is one of those that an access is about.
    fn picks(&self, access: &Access, (statement, row): (u32, &RowRef), values: &Values) -> Option<Values> {
        let mut values = values.clone();
        let is_new = access.kind == AccessKind::Insert;
        for (column, term) in &access.row {
            let Some(value) = self.column(access, statement, row, *column) else { continue };
            // No row is found by NULL.
            if !is_new && value == Recorded::Null || !self.unify(*term, &value, &mut values) {
                return None;
            }
        }
        let holds = |limit: &Limit| match self.column(access, statement, row, limit.column) {
            Some(value) => self.is_within(limit, &value, &values),
            None => true,
        };
        access.limits.iter().all(holds).then_some(values)
    }

    /// The values under which a row is one of those that an access looks at to find its own.
    fn looks_at(&self, access: &Access, (statement, row): (u32, &RowRef), values: &Values) -> Option<Values> {
        let mut values = values.clone();
        for (column, term) in access.row.iter().filter(|(column, _)| access.ranged.contains(column)) {
            if let Some(value) = self.column(access, statement, row, *column)
                && !self.unify(*term, &value, &mut values)
            {
                return None;
            }
        }
        let holds = |limit: &Limit| match self.column(access, statement, row, limit.column) {
            Some(value) => self.is_within(limit, &value, &values),
            None => true,
        };
        access.limits.iter().filter(|limit| limit.looked_up).all(holds).then_some(values)
    }

    fn is_within(&self, limit: &Limit, value: &Recorded, values: &Values) -> bool {
        limit.any.iter().any(|bound| match self.value(bound.value, values) {
            None => true,
            Some(other) => side(value, bound.is, &other),
        })
    }

    /// What a statement knows of a column of a row.
    fn column(&self, access: &Access, statement: u32, row: &RowRef, column: usize) -> Option<Recorded> {
        if let Some((_, value)) = row.key.iter().find(|(known, _)| *known == column) {
            return Some(value.clone());
        }
        let values = if access.kind == AccessKind::Insert { &self.written } else { &self.read };
        values.get(&(statement, row.number, column)).cloned()
    }

    /// A term has a value: the same one everywhere, unless it is another one each time.
    fn unify(&self, term: TermId, value: &Recorded, values: &mut Values) -> bool {
        if self.path.terms[term].looped {
            return true;
        }
        match self.value(term, values) {
            Some(known) => is_same(&known, value),
            None => {
                values[term] = Some(value.clone());
                true
            }
        }
    }

    /// The value of a term, where it is known.
    fn value(&self, term: TermId, values: &Values) -> Option<Recorded> {
        if let Some(known) = &values[term] {
            return Some(known.clone());
        }
        let both = |one: TermId, other: TermId, made: &dyn Fn(i128, i128) -> i128| {
            let (one, other) = (self.value(one, values)?, self.value(other, values)?);
            let (Some(one), Some(other)) = (number(&one)?, number(&other)?) else { return Some(Recorded::Null) };
            Some(Recorded::Value(made(one, other).to_string()))
        };
        match self.path.terms[term].kind {
            _ if self.path.terms[term].looped => None,
            TermKind::Plus(one, by) => both(one, one, &|one, _| one + i128::from(by)),
            TermKind::Times(one, by) => both(one, one, &|one, _| one * i128::from(by)),
            TermKind::Sum(one, other) => both(one, other, &|one, other| one + other),
            TermKind::Difference(one, other) => both(one, other, &|one, other| one - other),
            _ => None,
        }
    }

    /// What is claimed of a path and is not true; nothing, if all is.
    fn failing(&self, values: &Values) -> Option<String> {
        let path = self.path;
        let is_null = |term: &&TermId| {
            !path.terms[**term].looped && self.value(**term, values).is_some_and(|value| value == Recorded::Null)
        };
        if let Some(term) = path.never_null.iter().find(is_null) {
            return Some(format!("{:?} is NULL, which it never is", path.terms[*term]));
        }
        let is_some = |term: &&TermId| {
            !path.terms[**term].looped && self.value(**term, values).is_some_and(|value| value != Recorded::Null)
        };
        if let Some(term) = path.always_null.iter().find(is_some) {
            return Some(format!("{:?} is not NULL, which it always is", path.terms[*term]));
        }
        if let Some(condition) = path.conditions.iter().find(|condition| !self.is_true(condition, values)) {
            let sides = [condition.left, condition.right];
            let sides = sides.map(|term| (&path.terms[term], self.value(term, values)));
            return Some(format!("{condition:?} is not true of {sides:?}"));
        }
        let made = |term: &usize| {
            values[*term].as_ref().is_some_and(|known| {
                let mut open = values.clone();
                open[*term] = None;
                let is_made =
                    !matches!(path.terms[*term].kind, TermKind::Constant(_) | TermKind::Null | TermKind::Parameter(_));
                is_made && self.value(*term, &open).is_some_and(|made| !is_same(&made, known))
            })
        };
        if let Some(term) = (0..path.terms.len()).find(made) {
            return Some(format!("{:?} is {:?}", path.terms[term], values[term]));
        }
        let undone = |access: &&Access| !self.was_done(access, values);
        path.accesses.iter().find(undone).map(|access| format!("it has not done {access:?} with {values:?}"))
    }

    fn is_true(&self, condition: &Condition, values: &Values) -> bool {
        if [condition.left, condition.right].iter().any(|term| self.path.terms[*term].looped) {
            return true;
        }
        let (left, right) = (self.value(condition.left, values), self.value(condition.right, values));
        match left.zip(right) {
            None => true,
            Some((Recorded::Null, _) | (_, Recorded::Null)) => condition.or_null,
            Some((left, right)) => {
                let is = match condition.comparison {
                    Comparison::Equal => Side::Equal,
                    Comparison::Different => Side::Different,
                    Comparison::Less => Side::Below,
                    Comparison::AtMost => Side::AtMost,
                };
                side(&left, is, &right)
            }
        }
    }

    /// Whether what an access does for sure was done to one row.
    fn was_done(&self, access: &Access, values: &Values) -> bool {
        if access.conditional || access.looped || access.outcome != Outcome::Found || !access.does_something() {
            return true;
        }
        let columns = self.facts.table(access.table).map_or(0, |table| table.columns.len());
        let concerns = |statement: u32, row: &RowRef| {
            let picks = self.picks(access, (statement, row), values);
            row.table == access.table && picks.is_some()
        };
        let rows = self.events.iter().filter_map(|event| match &event.did {
            Did::Read(cell, Some(_)) | Did::OwnRead(cell, Some(_)) | Did::Write(cell, Some(_)) => {
                (cell.part == Part::Existence && concerns(event.statement, &cell.row)).then_some(&cell.row)
            }
            _ => None,
        });
        let has_written = |row: &RowRef, asked: Cell| {
            self.events.iter().any(|event| match &event.did {
                Did::Write(cell, _) => cell.row == *row && self.cells_of(cell) == [asked],
                _ => false,
            })
        };
        let has_locked = |row: &RowRef| {
            self.events.iter().any(|event| match &event.did {
                Did::Lock(locked, strength) => {
                    let is_alone = matches!(strength, LockStrength::Update | LockStrength::NoKeyUpdate);
                    locked == row && (is_alone || !access.alone && *strength == LockStrength::Share)
                }
                _ => false,
            })
        };
        let is_column = |cell: &&Cell| !matches!(cell, Cell::Column(column) if *column >= columns);
        let mut rows = rows.filter(|row| {
            access.writes.iter().filter(is_column).all(|cell| has_written(row, *cell))
                && (!access.locks || has_locked(row))
        });
        rows.next().is_some()
    }

    /// The cells that something recorded of a row stands for.
    fn cells_of(&self, cell: &CellRef) -> Vec<Cell> {
        match cell.part {
            Part::Existence => vec![Cell::Existence],
            Part::Column(column) => vec![Cell::Column(column)],
            Part::Entry(index, count) => {
                let columns = self.index_columns(index).into_iter().take(count).flatten().map(Cell::Column);
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

fn side(value: &Recorded, is: Side, other: &Recorded) -> bool {
    let Some(order) = order(value, other) else { return false };
    match is {
        Side::Equal => order.is_eq(),
        Side::Different => order.is_ne(),
        Side::Below => order.is_lt(),
        Side::AtMost => order.is_le(),
        Side::Above => order.is_gt(),
        Side::AtLeast => order.is_ge(),
    }
}
