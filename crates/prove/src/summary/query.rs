//! A bound statement to accesses: which rows of which tables it looks at, and what of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skew_sql::catalog::{Action, Catalog, Oid, RelationKind, Table};
use skew_sql::ir::{
    self, Access as Range, Assignment, Change, Expr, ExprKind, Insert, JoinKind, KeyValue, MergeAction, Plan,
    Quantified, Query, SubqueryKind,
};

use super::terms::State;
use super::{Access, AccessKind, Approximation, Cell, Extreme, Facts, Outcome, TermId, TermKind};

/// Functions that never give the same value twice.
const FRESH: [&str; 5] = ["nextval", "gen_random_uuid", "uuid_generate_v4", "random", "txid_current"];

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
    tuple: &'o [Slot],
    next: Option<&'o Around<'o>>,
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
    pub(super) ctes: BTreeMap<usize, Vec<TermId>>,
}

impl Look<'_> {
    /// A whole statement: the values of its one row.
    pub(super) fn query(&mut self, query: &Query, around: Option<&Around<'_>>) -> Vec<TermId> {
        let slots = self.plan(&query.plan, around);
        match slots.into_iter().next() {
            Some(Slot::Values(values)) if values.len() == query.columns.len() => values,
            _ => query.columns.iter().map(|_| self.state.unknown()).collect(),
        }
    }

    fn plan(&mut self, plan: &Plan, around: Option<&Around<'_>>) -> Vec<Slot> {
        match plan {
            Plan::One => Vec::new(),
            Plan::Empty { slots } => vec![Slot::Values(Vec::new()); *slots],
            Plan::Scan(scan) => self.scan(scan, around),
            Plan::Virtual(_) | Plan::Function(_) => {
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
                let slots = self.plan(input, around);
                self.condition(condition, &slots, around);
                slots
            }
            Plan::Aggregate(aggregate) => self.aggregate(aggregate, around),
            Plan::Window { input, calls } => {
                let mut slots = self.plan(input, around);
                for call in calls {
                    let keys = call.order.iter().map(|key| &key.expr);
                    for part in call.args.iter().chain(&call.partition).chain(&call.filter).chain(keys) {
                        self.value(part, &slots, around);
                    }
                }
                slots.push(Slot::Values(calls.iter().map(|_| self.state.unknown()).collect()));
                slots
            }
            Plan::ProjectSet { input, calls } => {
                let mut slots = self.plan(input, around);
                calls.iter().for_each(|call| _ = self.value(call, &slots, around));
                slots.push(Slot::Values(calls.iter().map(|_| self.state.unknown()).collect()));
                slots
            }
            Plan::Project { input, columns } => {
                let slots = self.plan(input, around);
                vec![Slot::Values(columns.iter().map(|column| self.value(column, &slots, around)).collect())]
            }
            Plan::Distinct(input) => self.plan(input, around),
            Plan::DistinctOn { input, keys } => {
                let slots = self.plan(input, around);
                keys.iter().for_each(|key| _ = self.value(key, &slots, around));
                slots
            }
            Plan::Sort { input, keys } => {
                let slots = self.plan(input, around);
                keys.iter().for_each(|key| _ = self.value(&key.expr, &slots, around));
                slots
            }
            Plan::Limit(limit) => {
                let slots = self.plan(&limit.input, around);
                limit.limit.iter().chain(&limit.offset).for_each(|count| _ = self.value(count, &[], around));
                slots
            }
            Plan::SetOperation { left, right, .. } => {
                let count = match self.plan(left, around).into_iter().next() {
                    Some(Slot::Values(values)) => values.len(),
                    _ => 0,
                };
                self.plan(right, around);
                vec![Slot::Values((0..count).map(|_| self.state.unknown()).collect())]
            }
            Plan::Lock { input, locks } => {
                let slots = self.plan(input, around);
                for slot in locks.iter().flat_map(|lock| &lock.slots) {
                    if let Some(Slot::Row(access)) = slots.get(*slot) {
                        self.state.accesses[*access].locks = true;
                    }
                }
                slots
            }
            Plan::Arrange { input, slots: order } => {
                let slots = self.plan(input, around);
                order.iter().filter_map(|slot| slots.get(*slot).cloned()).collect()
            }
            Plan::With { ctes, input } => {
                for cte in ctes {
                    let values = self.query(&cte.query, around);
                    match &cte.recursive {
                        None => _ = self.ctes.insert(cte.number, values),
                        Some((again, _)) => {
                            let values = values.iter().map(|_| self.state.unknown()).collect();
                            self.ctes.insert(cte.number, values);
                            self.query(again, around);
                        }
                    }
                }
                self.plan(input, around)
            }
            Plan::Change(change) => self.change(change, around),
        }
    }

    fn scan(&mut self, scan: &ir::Scan, around: Option<&Around<'_>>) -> Vec<Slot> {
        let access = self.access(scan.table, AccessKind::Select);
        self.state.accesses[access].reads.insert(Cell::Existence);
        if let Range::Index { index, equal, from, to } = &scan.access {
            let columns = self.index_columns(*index);
            for (at, key) in equal.iter().enumerate() {
                let column = columns.get(at).copied().flatten();
                let value = match key {
                    KeyValue::One(value) => Some(self.value(value, &[], around)),
                    KeyValue::Any(values) => {
                        values.iter().for_each(|value| _ = self.value(value, &[], around));
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
                if let Some(column) = column.filter(|column| value.is_some() && access.value_of(*column) == value) {
                    access.ranged.insert(column);
                }
            }
            let bounds = from.iter().chain(to).map(|(bound, _)| bound);
            let next = columns.get(equal.len()).copied().flatten();
            for bound in bounds {
                self.value(bound, &[], around);
                self.restrict(access, next, None);
            }
        }
        let slots = vec![Slot::Row(access)];
        if let Some(filter) = &scan.filter {
            self.condition(filter, &slots, around);
        }
        slots
    }

    fn index_columns(&self, index: Oid) -> Vec<Option<usize>> {
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
        let access = &mut self.state.accesses[access];
        match value {
            Some(value) if access.value_of(column).is_none() => access.row.push((column, value)),
            Some(value) if access.value_of(column) == Some(value) => {}
            _ => _ = access.filtered.insert(column),
        }
    }

    fn read_column(&mut self, access: usize, column: usize) {
        let table = self.state.accesses[access].table;
        let is_key = self.facts.table(table).is_some_and(|table| table.key.contains(&column));
        // The columns of the key come with the row.
        if !is_key {
            self.state.accesses[access].reads.insert(Cell::Column(column));
        }
    }

    fn access(&mut self, table: Oid, kind: AccessKind) -> usize {
        self.state.accesses.push(Access {
            line: self.line,
            statement: self.statement.clone(),
            number: self.state.statements,
            table,
            kind,
            row: Vec::new(),
            ranged: BTreeSet::new(),
            filtered: BTreeSet::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            values: Vec::new(),
            outcome: Outcome::Open,
            single: false,
            locks: false,
            looped: self.state.looped,
            conditional: self.state.conditional,
            extreme: None,
        });
        self.state.accesses.len() - 1
    }

    fn join(&mut self, join: &ir::Join, around: Option<&Around<'_>>) -> Vec<Slot> {
        let mut slots = self.plan(&join.left, around);
        let right = if join.lateral {
            let inner = Around { tuple: &slots, next: around };
            self.plan(&join.right, Some(&inner))
        } else {
            self.plan(&join.right, around)
        };
        if join.kind == JoinKind::Inner {
            for (left, other) in &join.equal {
                let value = self.value(left, &slots, around);
                if let Some((access, column)) = row_column(other, &right) {
                    self.restrict(access, Some(column), Some(value));
                }
            }
        }
        slots.extend(right);
        if let Some(on) = &join.on {
            if join.kind == JoinKind::Inner {
                self.condition(on, &slots, around);
            } else {
                self.value(on, &slots, around);
            }
        }
        slots
    }

    fn aggregate(&mut self, aggregate: &ir::Aggregate, around: Option<&Around<'_>>) -> Vec<Slot> {
        let slots = self.plan(&aggregate.input, around);
        let mut values: Vec<TermId> = aggregate.keys.iter().map(|key| self.value(key, &slots, around)).collect();
        for call in &aggregate.calls {
            let order = call.order.iter().map(|key| &key.expr);
            for part in call.args.iter().chain(&call.filter).chain(order) {
                self.value(part, &slots, around);
            }
        }
        if let (true, [call]) = (aggregate.keys.is_empty() && aggregate.calls.len() == 1, &aggregate.calls[..])
            && let ("min" | "max", [argument], None) = (call.function.name, &call.args[..], &call.filter)
            && let Some((access, column)) = row_column(argument, &slots)
        {
            self.state.accesses[access].extreme = Some(Extreme { column, largest: call.function.name == "max" });
        }
        let count = aggregate.calls.len() + aggregate.grouping.len();
        values.extend((0..count).map(|_| self.state.unknown()));
        vec![Slot::Values(values)]
    }

    /// A condition that is true: what follows about rows.
    fn condition(&mut self, condition: &Expr, tuple: &[Slot], around: Option<&Around<'_>>) {
        match &condition.kind {
            ExprKind::And(parts) => parts.iter().for_each(|part| self.condition(part, tuple, around)),
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
                        self.restrict(later.0, Some(later.1), Some(value));
                    }
                    (Some(one), Some(other)) => {
                        self.restrict(one.0, Some(one.1), None);
                        self.restrict(other.0, Some(other.1), None);
                    }
                    (None, None) => {}
                }
            }
            _ => {
                let read = self.columns_read(tuple, |look| _ = look.value(condition, tuple, around));
                for (access, column) in read {
                    self.state.accesses[access].filtered.insert(column);
                }
                columns_of(condition, tuple, &mut |access, column| {
                    self.state.accesses[access].filtered.insert(column);
                });
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

    /// The value of an expression; what it looks at counts as read.
    pub(super) fn value(&mut self, expr: &Expr, tuple: &[Slot], around: Option<&Around<'_>>) -> TermId {
        match &expr.kind {
            ExprKind::Const(value) if value.is_null() => self.state.term(TermKind::Null),
            ExprKind::Const(value) => match constant_text(value) {
                Some(text) => self.state.term(TermKind::Constant(text)),
                None => self.state.unknown(),
            },
            ExprKind::Variable(place) => self.variable(*place),
            ExprKind::Param(number) => match self.parameters.get(*number) {
                Some(place) => self.variable(*place),
                None => self.state.unknown(),
            },
            ExprKind::Column(column) => {
                let slot = match column.up {
                    0 => tuple.get(column.slot).cloned(),
                    up => around.and_then(|around| around.up(up - 1)).and_then(|tuple| tuple.get(column.slot).cloned()),
                };
                match slot {
                    Some(Slot::Row(access)) => self.cell(access, column.column),
                    Some(Slot::Values(values)) => match values.get(column.column) {
                        Some(value) => *value,
                        None => self.state.unknown(),
                    },
                    None => self.state.unknown(),
                }
            }
            ExprKind::Row { up, slot, .. } => {
                let slot = match up {
                    0 => tuple.get(*slot).cloned(),
                    up => around.and_then(|around| around.up(up - 1)).and_then(|tuple| tuple.get(*slot).cloned()),
                };
                if let Some(Slot::Row(access)) = slot {
                    let columns = self.facts.table(self.state.accesses[access].table).map_or(0, |t| t.columns.len());
                    (0..columns).for_each(|column| self.read_column(access, column));
                }
                self.state.unknown()
            }
            ExprKind::NextValue(_) => self.state.term(TermKind::Fresh),
            ExprKind::Cast { arg, .. } => {
                let value = self.value(arg, tuple, around);
                let is_null = matches!(self.state.kind(value), TermKind::Null);
                if keeps_values_apart(arg, expr) || is_null { value } else { self.state.unknown() }
            }
            ExprKind::Call { function, args } => {
                let values: Vec<TermId> = args.iter().map(|arg| self.value(arg, tuple, around)).collect();
                if FRESH.contains(&function.name) {
                    return self.state.term(TermKind::Fresh);
                }
                if let (sign @ ("+" | "-"), [base, by]) = (function.name, &values[..])
                    && is_integer(expr.ty())
                    && let TermKind::Constant(text) = self.state.kind(*by)
                    && let Ok(number) = text.parse::<i32>()
                {
                    let by = if sign == "+" { i64::from(number) } else { -i64::from(number) };
                    return self.state.term(TermKind::Plus(*base, by));
                }
                self.state.unknown()
            }
            ExprKind::UserCall { function, args } => {
                args.iter().for_each(|arg| _ = self.value(arg, tuple, around));
                self.everything(format!("a call of {}", function.name));
                self.state.unknown()
            }
            ExprKind::Subquery { kind, query } => {
                if let SubqueryKind::Quantified { args, .. } = kind {
                    args.iter().for_each(|arg| _ = self.value(arg, tuple, around));
                }
                let inner = Around { tuple, next: around };
                self.query(query, Some(&inner));
                self.state.unknown()
            }
            ExprKind::Quantified { arg, list, .. } => {
                self.value(arg, tuple, around);
                match list {
                    Quantified::List(list) => list.iter().for_each(|item| _ = self.value(item, tuple, around)),
                    Quantified::Array(array) => _ = self.value(array, tuple, around),
                }
                self.state.unknown()
            }
            ExprKind::Field { arg, index } => self.field(arg, *index, tuple, around),
            _ => {
                ir::children(expr, &mut |part| _ = self.value(part, tuple, around));
                self.state.unknown()
            }
        }
    }

    /// A field of a record variable that was filled by a query.
    fn field(&mut self, arg: &Expr, index: usize, tuple: &[Slot], around: Option<&Around<'_>>) -> TermId {
        if let ExprKind::Variable(place) = &arg.kind
            && let Some(term) = self.state.fields.get(&(*place, index))
        {
            return *term;
        }
        self.value(arg, tuple, around);
        self.state.unknown()
    }

    fn variable(&mut self, place: usize) -> TermId {
        match self.state.env.get(&place) {
            Some(term) => *term,
            None => self.state.unknown(),
        }
    }

    fn cell(&mut self, access: usize, column: usize) -> TermId {
        self.read_column(access, column);
        match self.state.accesses[access].value_of(column) {
            Some(value) => value,
            None => self.state.term(TermKind::Read { access, column }),
        }
    }

    fn change(&mut self, change: &Change, around: Option<&Around<'_>>) -> Vec<Slot> {
        match change {
            Change::Insert(insert) => self.insert(insert, around),
            Change::Update(update) => {
                let slots = self.plan(&update.input, around);
                let access = self.changed(&slots, update.table, AccessKind::Update);
                self.assign(access, &update.assignments, &slots, around);
                self.returning(update.returning.as_ref(), &slots, around)
            }
            Change::Delete(delete) => {
                let slots = self.plan(&delete.input, around);
                let access = self.changed(&slots, delete.table, AccessKind::Delete);
                self.state.accesses[access].writes.insert(Cell::Existence);
                self.cascade(access);
                self.returning(delete.returning.as_ref(), &slots, around)
            }
            Change::Merge(merge) => {
                let slots = self.plan(&merge.input, around);
                for clause in &merge.clauses {
                    clause.condition.iter().for_each(|condition| _ = self.value(condition, &slots, around));
                    self.merge_action(merge.table, &clause.action, &slots, around);
                }
                vec![Slot::Values(Vec::new())]
            }
        }
    }

    fn merge_action(&mut self, table: Oid, action: &MergeAction, slots: &[Slot], around: Option<&Around<'_>>) {
        let was = std::mem::replace(&mut self.state.conditional, true);
        match action {
            MergeAction::Nothing => {}
            MergeAction::Delete => {
                let access = self.access(table, AccessKind::Delete);
                self.state.accesses[access].writes.insert(Cell::Existence);
                self.cascade(access);
            }
            MergeAction::Update(assignments) => {
                let access = self.access(table, AccessKind::Update);
                self.assign(access, assignments, slots, around);
            }
            MergeAction::Insert(assignments) => {
                let values =
                    assignments.iter().map(|one| (one.column, self.value(&one.value, slots, around))).collect();
                self.new_row(table, values);
            }
        }
        self.state.conditional = was;
    }

    /// The access of the row in slot 0, which is changed.
    fn changed(&mut self, slots: &[Slot], table: Oid, kind: AccessKind) -> usize {
        let access = match slots.first() {
            Some(Slot::Row(access)) if self.state.accesses[*access].table == table => *access,
            _ => self.access(table, kind),
        };
        self.state.accesses[access].kind = kind;
        access
    }

    fn assign(&mut self, access: usize, assignments: &[Assignment], slots: &[Slot], around: Option<&Around<'_>>) {
        let table = self.state.accesses[access].table;
        let key = self.facts.table(table).map(|table| table.key.clone()).unwrap_or_default();
        let mut moves = false;
        for assignment in assignments {
            let value = self.value(&assignment.value, slots, around);
            self.state.accesses[access].values.push((assignment.column, value));
            self.state.accesses[access].writes.insert(Cell::Column(assignment.column));
            moves |= key.contains(&assignment.column);
        }
        self.write_generated(access);
        if moves {
            // The row goes, and another one comes.
            self.state.accesses[access].writes.insert(Cell::Existence);
            self.cascade(access);
            let was = std::mem::replace(&mut self.state.conditional, true);
            let kept = self.state.accesses[access].row.clone();
            let changed: Vec<usize> = assignments.iter().map(|one| one.column).collect();
            let values = kept.into_iter().filter(|(column, _)| !changed.contains(column)).collect();
            self.new_row(table, values);
            self.state.conditional = was;
        }
        self.triggered(table);
    }

    fn write_generated(&mut self, access: usize) {
        let table = self.state.accesses[access].table;
        let Some(table) = self.table(table) else { return };
        let generated = table
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.generation == skew_sql::catalog::Generation::Stored && !column.dropped);
        let generated: Vec<usize> = generated.map(|(position, _)| position).collect();
        for position in generated {
            self.state.accesses[access].writes.insert(Cell::Column(position));
        }
    }

    fn insert(&mut self, insert: &Insert, around: Option<&Around<'_>>) -> Vec<Slot> {
        let slots = self.plan(&insert.source, around);
        let source = match slots.first() {
            Some(Slot::Values(values)) if values.len() == insert.columns.len() => values.clone(),
            _ => insert.columns.iter().map(|_| self.state.unknown()).collect(),
        };
        let is_one = matches!(&insert.source, Plan::Values(rows) if rows.len() == 1)
            || matches!(&insert.source, Plan::Project { input, .. } if matches!(**input, Plan::One));
        let mut values: Vec<(usize, TermId)> = insert.columns.iter().copied().zip(source).collect();
        for (column, default) in &insert.defaults {
            let value = self.value(default, &[], around);
            values.push((*column, value));
        }
        let was = (self.state.conditional, self.state.looped);
        if !is_one {
            (self.state.conditional, self.state.looped) = (true, true);
            // Each row has its own values.
            for (_, value) in &mut values {
                let keeps =
                    matches!(self.state.kind(*value), TermKind::Parameter(_) | TermKind::Constant(_) | TermKind::Null);
                if !keeps {
                    *value = self.state.unknown();
                }
            }
        }
        if insert.on_conflict.is_some() {
            self.state.conditional = true;
        }
        let access = self.new_row(insert.table, values);
        let row = vec![Slot::Row(access)];
        if let Some(conflict) = &insert.on_conflict {
            // It meets a row that has the same values in the columns of the index, whatever the others are.
            let arbiter = self.arbiter(insert.table, conflict);
            self.state.accesses[access].reads.insert(Cell::Existence);
            self.state.accesses[access].outcome = Outcome::Open;
            self.state.accesses[access].ranged = arbiter.clone();
            if let Some((assignments, condition)) = &conflict.update {
                let update = self.access(insert.table, AccessKind::Update);
                let values = self.state.accesses[access].row.clone();
                self.state.accesses[update].row = values.into_iter().filter(|(at, _)| arbiter.contains(at)).collect();
                self.state.accesses[update].ranged = arbiter;
                self.state.accesses[update].reads.insert(Cell::Existence);
                let both = [Slot::Row(update), Slot::Row(access)];
                condition.iter().for_each(|condition| _ = self.value(condition, &both, around));
                self.assign(update, assignments, &both, around);
            }
        }
        (self.state.conditional, self.state.looped) = was;
        self.returning(insert.returning.as_ref(), &row, around)
    }

    /// The columns of the index that decides about a conflict; none if there are several.
    fn arbiter(&self, table: Oid, conflict: &ir::OnConflict) -> BTreeSet<usize> {
        if let [index] = conflict.arbiters[..] {
            let columns: Option<BTreeSet<usize>> = self.index_columns(index).into_iter().collect();
            return columns.unwrap_or_default();
        }
        match self.facts.table(table).map(|table| &table.unique[..]) {
            Some([unique]) if conflict.arbiters.is_empty() => unique.iter().copied().collect(),
            _ => BTreeSet::new(),
        }
    }

    fn new_row(&mut self, table: Oid, values: Vec<(usize, TermId)>) -> usize {
        let access = self.access(table, AccessKind::Insert);
        let facts = self.facts.table(table);
        let columns = facts.map_or(0, |facts| facts.columns.len());
        let key = facts.map(|facts| facts.key.clone()).unwrap_or_default();
        let made = &mut self.state.accesses[access];
        made.row = values;
        made.outcome = Outcome::Found;
        made.writes.insert(Cell::Existence);
        made.writes.extend((0..columns).filter(|column| !key.contains(column)).map(Cell::Column));
        self.triggered(table);
        access
    }

    fn returning(
        &mut self,
        returning: Option<&ir::Returning>,
        slots: &[Slot],
        around: Option<&Around<'_>>,
    ) -> Vec<Slot> {
        let values = returning
            .map(|returning| returning.values.iter().map(|value| self.value(value, slots, around)).collect::<Vec<_>>());
        // What is returned of a changed row is new.
        let written = |state: &State, value: &TermId| match state.kind(*value) {
            TermKind::Read { access, column } => state.accesses[*access].writes.contains(&Cell::Column(*column)),
            _ => false,
        };
        let values = values.unwrap_or_default().into_iter();
        let values: Vec<TermId> =
            values.map(|value| if written(self.state, &value) { self.state.unknown() } else { value }).collect();
        vec![Slot::Values(values)]
    }

    /// What foreign keys do to the rows that refer to one that goes.
    fn cascade(&mut self, access: usize) {
        let parent = self.state.accesses[access].table;
        let row = self.state.accesses[access].row.clone();
        self.triggered(parent);
        let was = (self.state.conditional, self.state.looped);
        (self.state.conditional, self.state.looped) = (true, true);
        for relation in self.catalog.relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for key in table.foreign_keys.iter().filter(|key| key.parent == parent) {
                let kind = match key.on_delete {
                    Action::NoAction | Action::Restrict => continue,
                    Action::Cascade => AccessKind::Delete,
                    Action::SetNull | Action::SetDefault => AccessKind::Update,
                };
                let child = self.access(relation.oid, kind);
                let values = key.columns.iter().zip(&key.parent_columns);
                let values = values.filter_map(|(own, other)| {
                    row.iter().find(|(column, _)| column == other).map(|(_, value)| (*own, *value))
                });
                let values: Vec<(usize, TermId)> = values.collect();
                let made = &mut self.state.accesses[child];
                made.row = values;
                made.reads.insert(Cell::Existence);
                made.reads.extend(key.columns.iter().map(|column| Cell::Column(*column)));
                match kind {
                    AccessKind::Delete => _ = made.writes.insert(Cell::Existence),
                    _ => made.writes.extend(key.columns.iter().map(|column| Cell::Column(*column))),
                }
                self.triggered(relation.oid);
            }
        }
        (self.state.conditional, self.state.looped) = was;
    }

    fn table(&self, table: Oid) -> Option<&Table> {
        match self.catalog.relation(table).map(|relation| &relation.kind) {
            Some(RelationKind::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// Triggers are taken for anything.
    fn triggered(&mut self, table: Oid) {
        let name = self.table(table).and_then(|table| table.triggers.first()).map(|trigger| trigger.name.clone());
        if let Some(name) = name {
            self.everything(format!("the trigger {name}"));
        }
    }

    /// Something that may read and write every cell of every table.
    pub(super) fn everything(&mut self, what: String) {
        let what = format!("{what} may read and write every table");
        self.approximations.insert(Approximation { line: self.line, what });
        let was = (self.state.conditional, self.state.looped);
        (self.state.conditional, self.state.looped) = (true, true);
        let tables: Vec<(Oid, usize)> =
            self.facts.tables.iter().map(|(oid, table)| (*oid, table.columns.len())).collect();
        for (table, columns) in tables {
            let access = self.access(table, AccessKind::Update);
            let cells: BTreeSet<Cell> = [Cell::Existence].into_iter().chain((0..columns).map(Cell::Column)).collect();
            self.state.accesses[access].reads = cells.clone();
            self.state.accesses[access].writes = cells;
        }
        (self.state.conditional, self.state.looped) = was;
    }
}

impl<'o> Around<'o> {
    fn up(&self, count: usize) -> Option<&'o [Slot]> {
        match count {
            0 => Some(self.tuple),
            _ => self.next?.up(count - 1),
        }
    }
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

/// A constant as text, if different texts are different values.
fn constant_text(value: &skew_sql::types::Datum) -> Option<String> {
    use skew_sql::types::Datum;
    match value {
        Datum::Int(value) => Some(value.to_string()),
        Datum::Bool(value) => Some(value.to_string()),
        Datum::Text(value) => Some(format!("'{value}'")),
        _ => None,
    }
}

/// Whether a conversion keeps values apart and together as they were.
fn keeps_values_apart(from: &Expr, to: &Expr) -> bool {
    (is_integer(from.ty()) && is_integer(to.ty())) || (is_text(from.ty()) && is_text(to.ty())) || from.ty() == to.ty()
}

fn is_integer(ty: skew_sql::types::Type) -> bool {
    use skew_sql::types::Type;
    [Type::INT2, Type::INT4, Type::INT8].contains(&ty)
}

fn is_text(ty: skew_sql::types::Type) -> bool {
    use skew_sql::types::Type;
    [Type::TEXT, Type::VARCHAR].contains(&ty)
}
