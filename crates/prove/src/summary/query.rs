//! A bound statement to accesses: which rows of which tables it looks at, and what of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skew_sql::catalog::{Catalog, Oid, RelationKind};
use skew_sql::ir::{
    self, Access as Range, Expr, ExprKind, FrameBound, JoinKind, KeyValue, LockStrength, LockWait, Plan, Query,
};

use skew_sql::types::Datum;

use super::formula::Formula;
use super::statements::gives_a_row;
use super::terms::State;
use super::values::keeps_values_apart;
use super::{
    Access, AccessKind, Approximation, Bound, Cell, Comparison, Condition, Extreme, Facts, Learning, Lesson, Limit,
    Outcome, Side, Term, TermId, TermKind,
};

/// What one slot of a tuple stands for.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// A row of a table: the access.
    Row(usize),
    /// Values.
    Values(Vec<TermId>),
}

/// The tuples around a query.
#[derive(Clone, Copy)]
pub(super) struct Around<'o> {
    pub(super) tuple: &'o [Slot],
    pub(super) next: Option<&'o Around<'o>>,
}

/// Looks at one statement.
pub(super) struct Look<'a> {
    pub(super) state: &'a mut State,
    pub(super) facts: &'a Facts,
    pub(super) catalog: &'a Catalog,
    pub(super) line: u32,
    pub(super) statement: Arc<str>,
    /// The places of the parameters `$1`, ….
    pub(super) parameters: &'a [usize],
    pub(super) approximations: &'a mut BTreeSet<Approximation>,
    /// How the program learns what others do.
    pub(super) learns: &'a mut Option<Lesson>,
    pub(super) ctes: BTreeMap<usize, Vec<TermId>>,
    /// The access whose row has been changed by now.
    pub(super) changed: Option<usize>,
    /// The access whose rows are looked at just now: nothing has been read of them but what decides about them.
    pub(super) scanned: Option<usize>,
    /// How many values there were before the statement.
    pub(super) begun: usize,
    /// Whether all looks of the transaction are at one state: what a statement locks it does not find changed.
    pub(super) stable: bool,
}

impl<'a> Look<'a> {
    /// Looks at something outside of a body.
    pub(super) fn new(
        state: &'a mut State,
        facts: &'a Facts,
        catalog: &'a Catalog,
        approximations: &'a mut BTreeSet<Approximation>,
        learns: &'a mut Option<Lesson>,
    ) -> Look<'a> {
        let statement = Arc::from("");
        let ctes = BTreeMap::new();
        let begun = state.terms.len();
        Look {
            state,
            facts,
            catalog,
            line: 0,
            statement,
            parameters: &[],
            approximations,
            learns,
            ctes,
            changed: None,
            scanned: None,
            begun,
            stable: true,
        }
    }
}

impl Look<'_> {
    /// A whole statement: the values of its one row.
    pub(super) fn query(&mut self, query: &Query, around: Option<&Around<'_>>) -> Vec<TermId> {
        let slots = self.plan(&query.plan, around);
        match slots.into_iter().next() {
            Some(Slot::Values(values)) if values.len() == query.columns.len() => values,
            // Of any number of rows.
            _ => query.columns.iter().map(|_| self.state.many()).collect(),
        }
    }

    pub(super) fn plan(&mut self, plan: &Plan, around: Option<&Around<'_>>) -> Vec<Slot> {
        match plan {
            Plan::One => Vec::new(),
            Plan::Empty { slots } => vec![Slot::Values(Vec::new()); *slots],
            Plan::Scan(scan) => self.scan(scan, around),
            Plan::Virtual(_) | Plan::Function(_) | Plan::Stored(_) => {
                if let Plan::Virtual(table) = plan {
                    self.learns.get_or_insert(Lesson { line: self.line, by: Learning::SystemTable(table.name) });
                }
                if let Plan::Function(function) = plan {
                    for call in &function.calls {
                        self.value(&call.call, &[], around);
                    }
                }
                vec![Slot::Values(Vec::new())]
            }
            Plan::Values(rows) => {
                let values: Vec<Vec<TermId>> =
                    rows.iter().map(|row| row.iter().map(|value| self.value(value, &[], around)).collect()).collect();
                match <[Vec<TermId>; 1]>::try_from(values) {
                    Ok([row]) => vec![Slot::Values(row)],
                    Err(_) => vec![Slot::Values(Vec::new())],
                }
            }
            Plan::Subquery(query) => vec![Slot::Values(self.query(query, around))],
            Plan::Cte { cte } => vec![Slot::Values(self.ctes.get(cte).cloned().unwrap_or_default())],
            Plan::Join(join) => self.join(join, around),
            Plan::Filter { input, condition } => {
                let first = self.state.accesses.len();
                let slots = self.plan(input, around);
                self.for_each(input, |look| look.condition(condition, &slots, around));
                self.are_not_plain(first);
                slots
            }
            Plan::Aggregate(aggregate) => self.aggregate(aggregate, around),
            Plan::Window { input, calls } => {
                let mut slots = self.plan(input, around);
                for call in calls {
                    let keys = call.order.iter().map(|key| &key.expr);
                    let bounds = [&call.frame.start, &call.frame.end].into_iter().filter_map(|bound| match bound {
                        FrameBound::Preceding(by) | FrameBound::Following(by) => Some(by),
                        _ => None,
                    });
                    let parts = call.args.iter().chain(&call.partition).chain(&call.filter).chain(keys).chain(bounds);
                    self.for_each(input, |look| parts.for_each(|part| _ = look.value(part, &slots, around)));
                }
                slots.push(Slot::Values(calls.iter().map(|_| self.state.many()).collect()));
                slots
            }
            Plan::ProjectSet { input, calls } => {
                let first = self.state.accesses.len();
                let mut slots = self.plan(input, around);
                self.are_not_plain(first);
                self.for_each(input, |look| calls.iter().for_each(|call| _ = look.value(call, &slots, around)));
                slots.push(Slot::Values(calls.iter().map(|_| self.state.many()).collect()));
                slots
            }
            Plan::Project { input, columns } => {
                let slots = self.plan(input, around);
                let values = self
                    .for_each(input, |look| columns.iter().map(|column| look.value(column, &slots, around)).collect());
                vec![Slot::Values(values)]
            }
            Plan::Distinct(input) => self.plan(input, around),
            Plan::DistinctOn { input, keys } => {
                let slots = self.plan(input, around);
                self.for_each(input, |look| keys.iter().for_each(|key| _ = look.value(key, &slots, around)));
                slots
            }
            Plan::Sort { input, keys } => {
                let slots = self.plan(input, around);
                self.for_each(input, |look| keys.iter().for_each(|key| _ = look.value(&key.expr, &slots, around)));
                slots
            }
            Plan::Limit(limit) => {
                let first = self.state.accesses.len();
                let slots = self.plan(&limit.input, around);
                if !leaves_one(limit) {
                    self.are_not_plain(first);
                    self.state.accesses[first..].iter_mut().for_each(|access| access.conditional = true);
                }
                limit.limit.iter().chain(&limit.offset).for_each(|count| _ = self.value(count, &[], around));
                slots
            }
            Plan::SetOperation { left, right, .. } => {
                let first = self.state.accesses.len();
                let count = match self.plan(left, around).into_iter().next() {
                    Some(Slot::Values(values)) => values.len(),
                    _ => 0,
                };
                self.plan(right, around);
                self.are_not_plain(first);
                vec![Slot::Values((0..count).map(|_| self.state.many()).collect())]
            }
            Plan::Lock { input, locks } => {
                let slots = self.plan(input, around);
                self.meets_others();
                for (lock, slot) in locks.iter().flat_map(|lock| lock.slots.iter().map(move |slot| (lock, slot))) {
                    if let Some(Slot::Row(access)) = slots.get(*slot) {
                        // KEY SHARE lets others change what is no key, but looks at the row again, too.
                        self.state.accesses[*access].locks |= lock.strength != LockStrength::KeyShare;
                        self.state.accesses[*access].again = true;
                        self.state.accesses[*access].alone |=
                            matches!(lock.strength, LockStrength::Update | LockStrength::NoKeyUpdate);
                        // A row that somebody else has locked is there all the same.
                        if lock.wait == LockWait::SkipLocked {
                            self.learns.get_or_insert(Lesson { line: self.line, by: Learning::Skipped });
                            self.state.accesses[*access].conditional = true;
                            self.state.skipping.insert(*access);
                        }
                    }
                }
                slots
            }
            Plan::Arrange { input, slots: order } => {
                let slots = self.plan(input, around);
                order.iter().filter_map(|slot| slots.get(*slot).cloned()).collect()
            }
            Plan::With { ctes, input } => {
                let first = self.state.accesses.len();
                for cte in ctes {
                    let values = self.query(&cte.query, around);
                    match &cte.recursive {
                        None => _ = self.ctes.insert(cte.number, values),
                        Some((again, _)) => {
                            let values = values.iter().map(|_| self.state.many()).collect();
                            self.ctes.insert(cte.number, values);
                            self.query(again, around);
                        }
                    }
                }
                // What nobody asks for may not be looked at.
                self.are_not_plain(first);
                self.plan(input, around)
            }
            Plan::Change(change) => self.change(change, around),
        }
    }

    fn scan(&mut self, scan: &ir::Scan, around: Option<&Around<'_>>) -> Vec<Slot> {
        let access = self.access(scan.table, AccessKind::Select);
        self.state.accesses[access].again = scan.seeks;
        self.state.accesses[access].reads.insert(Cell::Existence);
        if let Range::Index { index, equal, from, to } = &scan.access {
            let columns = self.index_columns(*index);
            let (is_key, is_used) = self.use_of(*index);
            for (at, key) in equal.iter().enumerate() {
                let column = columns.get(at).copied().flatten();
                let value = match key {
                    KeyValue::One(value) => Some(self.value(value, &[], around)),
                    KeyValue::Any(values) => {
                        let values = values.iter().map(|value| self.value(value, &[], around));
                        let any = values.map(|value| Bound { is: Side::Equal, value }).collect();
                        self.look_up(access, (*index, at), any);
                        None
                    }
                    KeyValue::Array(array) => {
                        self.value(array, &[], around);
                        None
                    }
                    KeyValue::Null => None,
                };
                self.restrict(access, column, value);
                let access = &mut self.state.accesses[access];
                if let Some(column) = column.filter(|column| value.is_some() && access.value_of(*column) == value)
                    && (at == 0 || is_key)
                    && is_used
                {
                    access.ranged.insert(column);
                }
            }
            let next = columns.get(equal.len()).copied().flatten();
            let sides = [(from, Side::AtLeast, Side::Above), (to, Side::AtMost, Side::Below)];
            for ((bound, inclusive), with, without) in
                sides.into_iter().filter_map(|(bound, with, without)| Some((bound.as_ref()?, with, without)))
            {
                let value = self.value(bound, &[], around);
                self.restrict(access, next, None);
                let is = if *inclusive { with } else { without };
                self.look_up(access, (*index, equal.len()), vec![Bound { is, value }]);
            }
        }
        let slots = vec![Slot::Row(access)];
        if let Some(filter) = &scan.filter {
            let was = self.scanned.replace(access);
            self.perhaps(|look| look.condition(filter, &slots, around));
            self.scanned = was;
        }
        slots
    }

    /// Whether an index is the primary key, and whether rows are looked up in it.
    ///
    /// Below `psi`, other than at `mvrc`, rows are looked up by the first column of an index besides the key, and not at all
    /// by one of some rows or of expressions.
    fn use_of(&self, index: Oid) -> (bool, bool) {
        let is_plain = self.index_columns(index).iter().all(Option::is_some);
        match self.catalog.relation(index).map(|relation| &relation.kind) {
            Some(RelationKind::Index(index)) => (index.space.is_none(), index.predicate.is_none() && is_plain),
            _ => (false, false),
        }
    }

    /// An index leads to the rows of which one of these is true of its key at a place. No others are looked at where it is
    /// looked up in at that place at all levels, and the column is not NULL, which may be in a range that has one end.
    fn look_up(&mut self, access: usize, (index, at): (Oid, usize), any: Vec<Bound>) {
        let Some(column) = self.index_columns(index).get(at).copied().flatten() else { return };
        let Some(facts) = self.facts.table(self.state.accesses[access].table) else { return };
        let (is_key, is_used) = self.use_of(index);
        let has_null = !is_key && !facts.not_null.get(column).copied().unwrap_or(false);
        let looked_up = is_used && (at == 0 || is_key) && !has_null;
        self.state.limit(access, Limit { column, any, looked_up }, self.begun);
    }

    pub(super) fn index_columns(&self, index: Oid) -> Vec<Option<usize>> {
        match self.catalog.relation(index).map(|relation| &relation.kind) {
            Some(RelationKind::Index(index)) => index
                .keys
                .iter()
                .map(|key| match key.what {
                    skew_sql::catalog::IndexKeyKind::Column(column) => Some(column),
                    skew_sql::catalog::IndexKeyKind::Expr(_) => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Only rows count whose column is this value, or is looked at to decide.
    fn restrict(&mut self, access: usize, column: Option<usize>, value: Option<TermId>) {
        let Some(column) = column else { return };
        self.read_column(access, column);
        let value = value.map(|value| if self.is_one_value(value) { value } else { self.state.many() });
        let access = &mut self.state.accesses[access];
        match value {
            Some(value) if access.value_of(column).is_none() => access.row.push((column, value)),
            Some(value) if access.value_of(column) == Some(value) => {}
            _ => _ = access.filtered.insert(column),
        }
    }

    /// Whether a value is one in the whole statement: not one of each of several rows that it looks at, nor one of a row that
    /// it looks at again under the lock. What is looked up by such a value, in a subquery or a join, is looked up by the
    /// value before the lock, too.
    fn is_one_value(&self, value: TermId) -> bool {
        match *self.state.kind(value) {
            TermKind::Read { access, .. } => {
                let row = &self.state.accesses[access];
                let looks_twice = row.again && !self.stable;
                row.number != self.state.statements || self.is_single(access) && !looks_twice || row.extreme.is_some()
            }
            TermKind::Plus(base, _) | TermKind::Times(base, _) => self.is_one_value(base),
            TermKind::Sum(one, other) | TermKind::Difference(one, other) => {
                self.is_one_value(one) && self.is_one_value(other)
            }
            _ => true,
        }
    }

    pub(super) fn read_column(&mut self, access: usize, column: usize) {
        let table = self.state.accesses[access].table;
        let is_key = self.facts.table(table).is_some_and(|table| table.key.contains(&column));
        // The columns of the key come with the row.
        if !is_key {
            self.state.accesses[access].reads.insert(Cell::Column(column));
        }
    }

    pub(super) fn access(&mut self, table: Oid, kind: AccessKind) -> usize {
        self.state.accesses.push(Access {
            line: self.line,
            statement: self.statement.clone(),
            number: self.state.statements,
            table,
            kind,
            row: Vec::new(),
            ranged: BTreeSet::new(),
            filtered: BTreeSet::new(),
            limits: Vec::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            values: Vec::new(),
            outcome: Outcome::Open,
            single: false,
            plain: true,
            locks: false,
            alone: false,
            again: matches!(kind, AccessKind::Update | AccessKind::Delete),
            undoable: self.state.undoable,
            looped: self.state.looped,
            conditional: self.state.conditional,
            extreme: None,
            follows: BTreeSet::new(),
            precedes: BTreeSet::new(),
        });
        self.state.accesses.len() - 1
    }

    /// What is worked out for each row of a plan: perhaps for none.
    fn for_each<T>(&mut self, plan: &Plan, look: impl FnOnce(&mut Self) -> T) -> T {
        if gives_a_row(plan) { look(self) } else { self.perhaps(look) }
    }

    /// Something else decides about the rows of the accesses from this one on.
    fn are_not_plain(&mut self, first: usize) {
        self.state.accesses[first..].iter_mut().for_each(|access| access.plain = false);
    }

    fn join(&mut self, join: &ir::Join, around: Option<&Around<'_>>) -> Vec<Slot> {
        let first = self.state.accesses.len();
        let mut slots = self.plan(&join.left, around);
        let mut right = Vec::new();
        let left = slots.clone();
        self.deciding(&left, |look| {
            right = match join.lateral {
                true => look.plan(&join.right, Some(&Around { tuple: &left, next: around })),
                false => look.plan(&join.right, around),
            };
        });
        for (left, other) in &join.equal {
            let mut value = 0;
            self.deciding(&slots, |look| value = look.value(left, &slots, around));
            match row_column(other, &right).filter(|_| join.kind == JoinKind::Inner) {
                Some((access, column)) => self.restrict(access, Some(column), Some(value)),
                None => self.deciding(&right, |look| _ = look.value(other, &right, around)),
            }
        }
        // Where the other side has no row, what is computed there is NULL.
        let (left_is_open, right_is_open) = match join.kind {
            JoinKind::Inner => (false, false),
            JoinKind::Left => (false, true),
            JoinKind::Right => (true, false),
            _ => (true, true),
        };
        for slot in slots.iter_mut().filter(|_| left_is_open).chain(right.iter_mut().filter(|_| right_is_open)) {
            if let Slot::Values(values) = slot {
                values.iter_mut().for_each(|value| *value = self.state.many());
            }
        }
        // Where the other side has no row there is none.
        self.are_not_plain(first);
        slots.extend(right);
        if let Some(on) = &join.on {
            if join.kind == JoinKind::Inner {
                self.perhaps(|look| look.condition(on, &slots, around));
            } else {
                self.deciding(&slots, |look| _ = look.perhaps(|look| look.value(on, &slots, around)));
            }
        }
        slots
    }

    /// What something reads of the rows of a tuple decides about them.
    fn deciding(&mut self, tuple: &[Slot], something: impl FnMut(&mut Self)) {
        for (access, column) in self.columns_read(tuple, something) {
            self.state.accesses[access].filtered.insert(column);
        }
    }

    fn aggregate(&mut self, aggregate: &ir::Aggregate, around: Option<&Around<'_>>) -> Vec<Slot> {
        let slots = self.plan(&aggregate.input, around);
        let mut values: Vec<TermId> =
            self.perhaps(|look| aggregate.keys.iter().map(|key| look.value(key, &slots, around)).collect());
        let extreme = extreme(aggregate, &slots);
        for call in &aggregate.calls {
            let order = call.order.iter().map(|key| &key.expr);
            let args = call.args.iter().filter(|_| extreme.is_none());
            for part in args.chain(&call.filter).chain(order) {
                self.perhaps(|look| look.value(part, &slots, around));
            }
        }
        if let Some((access, extreme)) = extreme {
            self.state.accesses[access].extreme = Some(extreme);
            self.read_column(access, extreme.column);
            let typed = aggregate.calls[0].typed;
            let is_new = |term: &Term| term.kind != TermKind::Read { access, column: extreme.column };
            values.push(match self.state.terms.iter().all(is_new) {
                true => self.state.read(access, extreme.column, Some(typed), true),
                // The condition has looked at the column of every row.
                false => self.state.typed(TermKind::Unknown, typed),
            });
        } else {
            values.extend(aggregate.calls.iter().map(|call| self.aggregated(call)));
        }
        values.extend(aggregate.grouping.iter().map(|_| self.state.unknown()));
        let mut is_many = !aggregate.keys.is_empty();
        aggregate.input.outward(&mut |up, slot| is_many |= up > 0 && self.is_one_of_many((up, slot), &[], around));
        if is_many {
            // A row for each group, or for each row that it is joined with.
            values.iter_mut().for_each(|value| *value = self.state.many());
        }
        vec![Slot::Values(values)]
    }

    /// What an aggregate gives: one value of its own.
    fn aggregated(&mut self, call: &ir::AggregateCall) -> TermId {
        let value = self.state.typed(TermKind::Unknown, call.typed);
        if call.function.name == "count" && !self.state.looped {
            let left = self.state.typed(TermKind::Constant("0".to_owned()), call.typed);
            let (comparison, or_null) = (Comparison::AtMost, false);
            self.state.never_null.insert(value);
            self.state.conditions.push(Condition { left, comparison, right: value, or_null });
        }
        value
    }

    /// A condition that is true: what follows about rows.
    fn condition(&mut self, condition: &Expr, tuple: &[Slot], around: Option<&Around<'_>>) {
        match &condition.kind {
            ExprKind::And(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    match at {
                        0 => self.condition(part, tuple, around),
                        _ => self.perhaps(|look| look.condition(part, tuple, around)),
                    }
                }
            }
            ExprKind::Call { function, args } if function.name == "=" && args.len() == 2 => {
                let (left, right) = (row_column(&args[0], tuple), row_column(&args[1], tuple));
                let mut values = (0, 0);
                let read = self.columns_read(tuple, |look| {
                    values = (look.value(&args[0], tuple, around), look.value(&args[1], tuple, around));
                });
                for (access, column) in read {
                    // What is compared as it is says which rows; everything else decides about rows.
                    if ![left, right].contains(&Some((access, column))) {
                        self.state.accesses[access].filtered.insert(column);
                    }
                }
                match (left, right) {
                    (Some((access, column)), None) => self.restrict(access, Some(column), Some(values.1)),
                    (None, Some((access, column))) => self.restrict(access, Some(column), Some(values.0)),
                    (Some(one), Some(other)) if one.0 != other.0 => {
                        // The row that is looked at later is found by the earlier one.
                        let (later, value) = if one.0 > other.0 { (one, values.1) } else { (other, values.0) };
                        let earlier = if one.0 > other.0 { other } else { one };
                        self.restrict(later.0, Some(later.1), Some(value));
                        // Where there is none, the earlier one is not found either.
                        self.state.accesses[earlier.0].filtered.insert(earlier.1);
                    }
                    (Some(one), Some(other)) => {
                        self.restrict(one.0, Some(one.1), None);
                        self.restrict(other.0, Some(other.1), None);
                    }
                    (None, None) => self.depend_on_more(tuple),
                }
            }
            _ => {
                let mut formula = Formula::All(Vec::new());
                let read = self.columns_read(tuple, |look| formula = look.formula(condition, tuple, around));
                if let [Slot::Row(access)] = tuple {
                    if self.scanned == Some(*access) {
                        self.state.limits_of(*access, &formula, self.begun);
                    }
                    self.state.asked.push((*access, formula));
                }
                self.depend_on_more(tuple);
                for (access, column) in read {
                    self.state.accesses[access].filtered.insert(column);
                }
                columns_of(condition, tuple, &mut |access, column| {
                    self.state.accesses[access].filtered.insert(column);
                });
            }
        }
    }

    /// Something else decides about the rows of a tuple.
    fn depend_on_more(&mut self, tuple: &[Slot]) {
        for slot in tuple {
            if let Slot::Row(access) = slot {
                self.state.accesses[*access].plain = false;
            }
        }
    }

    /// The columns of rows of a tuple that something reads, also if they had been read before.
    fn columns_read(&mut self, tuple: &[Slot], mut something: impl FnMut(&mut Self)) -> Vec<(usize, usize)> {
        let rows = tuple.iter().filter_map(|slot| match slot {
            Slot::Row(access) => Some(*access),
            Slot::Values(_) => None,
        });
        let before: Vec<(usize, BTreeSet<Cell>)> =
            rows.map(|access| (access, std::mem::take(&mut self.state.accesses[access].reads))).collect();
        something(self);
        let mut read = Vec::new();
        for (access, known) in before {
            let columns = self.state.accesses[access].reads.iter().filter_map(|cell| match cell {
                Cell::Column(column) => Some((access, *column)),
                Cell::Existence => None,
            });
            read.extend(columns);
            self.state.accesses[access].reads.extend(known);
        }
        read
    }
}

impl<'o> Around<'o> {
    pub(super) fn up(&self, count: usize) -> Option<&'o [Slot]> {
        match count {
            0 => Some(self.tuple),
            _ => self.next?.up(count - 1),
        }
    }
}

/// Whether one row stays one row: a limit that is written as a number, and nothing is left out.
fn leaves_one(limit: &ir::Limit) -> bool {
    let is_number = |count: &Expr| matches!(&count.kind, ExprKind::Const(Datum::Int(1..)));
    limit.offset.is_none() && limit.limit.as_ref().is_none_or(is_number)
}

/// The row and column that an expression is, conversions aside that keep values apart.
fn row_column(expr: &Expr, tuple: &[Slot]) -> Option<(usize, usize)> {
    match &expr.kind {
        ExprKind::Column(column) if column.up == 0 => match tuple.get(column.slot) {
            Some(Slot::Row(access)) => Some((*access, column.column)),
            _ => None,
        },
        ExprKind::Cast { arg, .. } if keeps_values_apart(arg, expr) => row_column(arg, tuple),
        _ => None,
    }
}

fn columns_of(expr: &Expr, tuple: &[Slot], see: &mut dyn FnMut(usize, usize)) {
    if let Some((access, column)) = row_column(expr, tuple) {
        return see(access, column);
    }
    ir::children(expr, &mut |part| columns_of(part, tuple, see));
}

/// MIN or MAX of a column and nothing else.
fn extreme(aggregate: &ir::Aggregate, slots: &[Slot]) -> Option<(usize, Extreme)> {
    let ([], [call]) = (&aggregate.keys[..], &aggregate.calls[..]) else { return None };
    let ("min" | "max", [argument], None) = (call.function.name, &call.args[..], &call.filter) else { return None };
    let (access, column) = row_column(argument, slots)?;
    let first = matches!(&aggregate.input, Plan::Limit(limit) if matches!(limit.input, Plan::Scan(_)));
    Some((access, Extreme { column, largest: call.function.name == "max", first }))
}
