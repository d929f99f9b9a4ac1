//! Plans of queries to accesses: which rows of which tables a statement looks at, and what decides about them.

use skew_sql::catalog::{IndexKeyKind, Oid, RelationKind};
use skew_sql::ir::{self as sql, Access as Range, Expr, ExprKind, FrameBound, KeyValue, LockStrength, LockWait, Plan};
use skew_sql::types::Datum;

use super::Lowering;
use crate::ir::{
    Access, AccessId, Cause, Cell, Count, Function, Kind, Limit, May, Must, Outside, Predicate, Rows, Snapshot, Step,
    Value,
};

/// What one slot of a tuple stands for.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// A row that an access picks.
    Row(AccessId),
    /// Values.
    Values(Vec<Value>),
}

/// The tuples that an expression sees.
#[derive(Clone, Copy)]
pub(super) struct Tuple<'t> {
    pub(super) slots: &'t [Slot],
    pub(super) around: Option<&'t Tuple<'t>>,
    /// The access whose rows are being sought: what is read of them decides.
    pub(super) seeks: Option<AccessId>,
}

impl<'t> Tuple<'t> {
    pub(super) fn of(slots: &'t [Slot], around: Option<&'t Tuple<'t>>) -> Tuple<'t> {
        Tuple { slots, around, seeks: None }
    }

    pub(super) fn up(&'t self, count: usize) -> Option<&'t Tuple<'t>> {
        match count {
            0 => Some(self),
            _ => self.around?.up(count - 1),
        }
    }
}

impl Lowering<'_> {
    /// The accesses of a plan, and what its tuples are. Where it is not sure that the plan is run, nothing is sure.
    pub(super) fn plan(&mut self, plan: &Plan, around: Option<&Tuple<'_>>, sure: bool) -> Vec<Slot> {
        match plan {
            Plan::One => Vec::new(),
            Plan::Empty { slots } => vec![Slot::Values(Vec::new()); *slots],
            Plan::Scan(scan) => self.scan(scan, &[], around, sure),
            Plan::Filter { input, condition } => match &**input {
                Plan::Scan(scan) => self.scan(scan, &[condition], around, sure),
                _ => {
                    let slots = self.plan(input, around, sure);
                    self.each(input, |lowering, sure| {
                        lowering.value(condition, Some(&Tuple::of(&slots, around)), sure);
                    });
                    self.also(&slots, "a condition on several rows");
                    slots
                }
            },
            Plan::Virtual(table) => {
                let origin = self.origin.clone();
                self.emit(Step::Outside(origin, Outside::Catalog(table.name.into())));
                vec![Slot::Values(Vec::new())]
            }
            Plan::Stored(_) => {
                self.havoc("a view that is not bound");
                vec![Slot::Values(Vec::new())]
            }
            Plan::Function(function) => {
                for call in &function.calls {
                    self.value(&call.call, around_only(&[], around).as_ref(), sure);
                }
                vec![Slot::Values(Vec::new())]
            }
            Plan::Values(rows) => {
                let tuple = around_only(&[], around);
                let values: Vec<Vec<Value>> = rows
                    .iter()
                    .map(|row| row.iter().map(|value| self.value(value, tuple.as_ref(), sure)).collect())
                    .collect();
                match <[Vec<Value>; 1]>::try_from(values) {
                    Ok([row]) => vec![Slot::Values(row)],
                    Err(_) => vec![Slot::Values(Vec::new())],
                }
            }
            Plan::Subquery(query) => self.plan(&query.plan, around, sure),
            Plan::Cte { .. } => vec![Slot::Values(Vec::new())],
            Plan::Join(join) => self.join(join, around, sure),
            Plan::Aggregate(aggregate) => self.aggregate(aggregate, around, sure),
            Plan::Window { input, calls } => self.window(input, calls, around, sure),
            Plan::ProjectSet { input, calls } => {
                let mut slots = self.plan(input, around, sure);
                self.each_of(input, &slots.clone(), around, calls.iter());
                self.also(&slots, "rows of a function");
                slots.push(Slot::Values(Vec::new()));
                slots
            }
            Plan::Project { input, columns } => {
                let slots = self.plan(input, around, sure);
                let tuple = Tuple::of(&slots, around);
                let is_one = is_one_row(input) && sure;
                let values: Vec<Value> = match is_one {
                    true => columns.iter().map(|column| self.value(column, Some(&tuple), true)).collect(),
                    false => self.perhaps(|lowering| {
                        columns.iter().map(|column| lowering.value(column, Some(&tuple), false)).collect()
                    }),
                };
                vec![Slot::Values(values)]
            }
            Plan::Distinct(input) => self.plan(input, around, sure),
            Plan::DistinctOn { input, keys } => {
                let slots = self.plan(input, around, sure);
                self.each_of(input, &slots, around, keys.iter());
                self.also(&slots, "DISTINCT ON");
                slots
            }
            Plan::Sort { input, keys } => {
                let slots = self.plan(input, around, sure);
                self.each_of(input, &slots, around, keys.iter().map(|key| &key.expr));
                slots
            }
            Plan::Limit(limit) => {
                let tuple = around_only(&[], around);
                limit.limit.iter().chain(&limit.offset).for_each(|count| _ = self.value(count, tuple.as_ref(), sure));
                let is_number = |count: &Expr| matches!(&count.kind, ExprKind::Const(Datum::Int(1..)));
                let leaves_one = limit.offset.is_none() && limit.limit.as_ref().is_none_or(is_number);
                let slots = self.plan(&limit.input, around, sure && leaves_one);
                self.also(&slots, "LIMIT");
                slots
            }
            Plan::SetOperation { left, right, .. } => {
                self.plan(left, around, sure);
                self.perhaps(|lowering| _ = lowering.plan(right, around, false));
                vec![Slot::Values(Vec::new())]
            }
            Plan::Lock { input, locks } => {
                let slots = self.plan(input, around, sure);
                for (lock, slot) in locks.iter().flat_map(|lock| lock.slots.iter().map(move |slot| (lock, *slot))) {
                    if let Some(Slot::Row(row)) = slots.get(slot) {
                        self.lock(*row, lock.strength, lock.wait);
                    }
                }
                slots
            }
            Plan::Arrange { input, slots: order } => {
                let slots = self.plan(input, around, sure);
                order.iter().filter_map(|slot| slots.get(*slot).cloned()).collect()
            }
            Plan::With { ctes, input } => {
                for cte in ctes {
                    let changes = matches!(cte.query.plan, Plan::Change(_));
                    match changes {
                        true => _ = self.plan(&cte.query.plan, around, sure),
                        // What is not asked for is not looked at.
                        false => self.perhaps(|lowering| _ = lowering.plan(&cte.query.plan, around, false)),
                    }
                    if let Some((again, _)) = &cte.recursive {
                        self.perhaps(|lowering| _ = lowering.plan(&again.plan, around, false));
                    }
                }
                self.plan(input, around, sure)
            }
            Plan::Change(change) => self.change(change, around, sure),
        }
    }

    /// The rows of a table of which conditions hold.
    fn scan(&mut self, scan: &sql::Scan, conditions: &[&Expr], around: Option<&Tuple<'_>>, sure: bool) -> Vec<Slot> {
        let (mut picked, mut region) = (Predicate::default(), Vec::new());
        let outer = around_only(&[], around);
        let index = match &scan.access {
            Range::All => None,
            Range::Index { index, equal, from, to } => {
                for (at, key) in equal.iter().enumerate() {
                    self.key(scan.table, (*index, at), key, outer.as_ref(), (&mut picked, &mut region));
                }
                for (bound, is) in
                    [(from, (Function::AtLeast, Function::Greater)), (to, (Function::AtMost, Function::Less))]
                {
                    let Some((bound, inclusive)) = bound else { continue };
                    let value = self.value(bound, outer.as_ref(), sure);
                    let value = self.once("bound", value);
                    let column = self.index_columns(*index).get(equal.len()).copied().flatten();
                    let is = if *inclusive { is.0 } else { is.1 };
                    match column {
                        Some(column) => picked.limits.push(vec![Limit { column, is, value }]),
                        None => picked.also("a range of an index"),
                    }
                }
                Some(*index)
            }
        };
        let mut access = Access::look(self.origin.clone(), scan.table, picked);
        access.surely_looks = sure;
        let id = self.access(access);
        if scan.seeks {
            self.sought.insert(id);
        }
        if let Some(index) = index {
            let columns: Vec<usize> = self.index_columns(index).into_iter().flatten().collect();
            columns.into_iter().for_each(|column| self.decide(id, column));
        }
        let slots = vec![Slot::Row(id)];
        let tuple = Tuple { slots: &slots, around, seeks: Some(id) };
        let mut predicate = Predicate::default();
        for condition in scan.filter.iter().chain(conditions.iter().copied()) {
            self.condition(condition, &tuple, id, &mut predicate);
        }
        let key = self.table(scan.table).map(|table| table.clustered.clone()).unwrap_or_default();
        let access = self.at(id);
        let Rows::Where { picked, region: known } = &mut access.rows else { return slots };
        picked.equal.append(&mut predicate.equal);
        picked.limits.append(&mut predicate.limits);
        predicate.remainder.into_iter().for_each(|why| picked.also(why));
        *known = region;
        let is_one = |column: &usize| picked.value_of(*column).is_some_and(Value::is_one);
        if !key.is_empty() && key.iter().all(is_one) {
            access.count = Count::AtMostOne;
        }
        access.must_read = Must::all([Cell::Existence]);
        slots
    }

    /// What a key of an index is equal to.
    fn key(
        &mut self,
        table: Oid,
        (index, at): (Oid, usize),
        key: &KeyValue,
        tuple: Option<&Tuple<'_>>,
        (picked, region): (&mut Predicate, &mut Vec<usize>),
    ) {
        let column = self.index_columns(index).get(at).copied().flatten();
        match key {
            KeyValue::One(value) => {
                let from = value.typed;
                let value = self.value(value, tuple, false);
                let is_one = !self.is_looked_at_again(&value);
                let value = self.once("key", value);
                match column.filter(|column| is_one && self.keeps(from, table, *column)) {
                    Some(column) => {
                        picked.equal.push((column, value));
                        // Below `psi` an index of its own is looked up by its first key alone.
                        if at == 0 || self.is_primary(index) {
                            region.push(column);
                        }
                    }
                    None => picked.also("a key of an index"),
                }
            }
            KeyValue::Any(values) => {
                let values: Vec<Value> = values.iter().map(|value| self.value(value, tuple, false)).collect();
                let any = values.into_iter().zip(std::iter::repeat(column));
                let any: Option<Vec<Limit>> =
                    any.map(|(value, column)| Some(Limit { column: column?, is: Function::Equal, value })).collect();
                match any {
                    Some(any) => picked.limits.push(any),
                    None => picked.also("a key of an index"),
                }
            }
            KeyValue::Array(array) => {
                self.value(array, tuple, false);
                picked.also("= ANY of an array");
            }
            KeyValue::Null => picked.also("IS NULL"),
        }
    }

    /// Whether a value is of a row that its statement looks at again when it has the lock. What is looked up by such a value
    /// is looked up by what it was before, too.
    fn is_looked_at_again(&self, value: &Value) -> bool {
        value.any(&mut |part| matches!(part, Value::Column(of, _) if self.sought.contains(of)))
    }

    /// Whether a value of a type compares with a column as the same value does that the column holds.
    fn keeps(&self, from: skew_sql::types::Typed, table: Oid, column: usize) -> bool {
        let to = self.table(table).and_then(|table| table.columns.get(column)).map(|column| column.typed);
        to.is_some_and(|to| from.ty == to.ty || crate::summary::values::keeps_values(from, to))
    }

    fn is_primary(&self, index: Oid) -> bool {
        match self.schema.catalog.relation(index).map(|relation| &relation.kind) {
            Some(RelationKind::Index(index)) => index.space.is_none(),
            _ => false,
        }
    }

    pub(super) fn index_columns(&self, index: Oid) -> Vec<Option<usize>> {
        match self.schema.catalog.relation(index).map(|relation| &relation.kind) {
            Some(RelationKind::Index(index)) => index
                .keys
                .iter()
                .map(|key| match key.what {
                    IndexKeyKind::Column(column) => Some(column),
                    IndexKeyKind::Expr(_) => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// A condition that is true of the rows that an access picks.
    fn condition(&mut self, condition: &Expr, tuple: &Tuple<'_>, id: AccessId, picked: &mut Predicate) {
        if let ExprKind::And(parts) = &condition.kind {
            return parts.iter().for_each(|part| self.condition(part, tuple, id, picked));
        }
        let value = self.perhaps(|lowering| lowering.value(condition, Some(tuple), false));
        let Value::Apply(function, args) = &value else { return picked.also("a condition") };
        let ([left, right], true) = (&args[..], function.compares()) else { return picked.also("a condition") };
        let own = |value: &Value| match value {
            Value::Column(of, column) if *of == id => Some(*column),
            _ => None,
        };
        let is_own = |part: &Value| matches!(part, Value::Column(of, _) | Value::Found(of) if *of == id);
        let is_given = |value: &Value| !value.any(&mut |part| is_own(part)) && !self.is_looked_at_again(value);
        match (own(left), own(right), *function) {
            (Some(column), None, Function::Equal) if is_given(right) => picked.equal.push((column, right.clone())),
            (None, Some(column), Function::Equal) if is_given(left) => picked.equal.push((column, left.clone())),
            (Some(column), None, is) if is_given(right) => {
                picked.limits.push(vec![Limit { column, is, value: right.clone() }]);
            }
            (None, Some(column), is) if is_given(left) => {
                picked.limits.push(vec![Limit { column, is: turned(is), value: left.clone() }]);
            }
            _ => picked.also("a condition"),
        }
    }

    fn join(&mut self, join: &sql::Join, around: Option<&Tuple<'_>>, sure: bool) -> Vec<Slot> {
        let mut slots = self.plan(&join.left, around, sure);
        let left = slots.clone();
        let right = self.perhaps(|lowering| match join.lateral {
            true => lowering.plan(&join.right, Some(&Tuple::of(&left, around)), false),
            false => lowering.plan(&join.right, around, false),
        });
        self.perhaps(|lowering| {
            for (one, other) in &join.equal {
                lowering.value(one, Some(&Tuple::of(&left, around)), false);
                lowering.value(other, Some(&Tuple::of(&right, around)), false);
            }
        });
        slots.extend(right);
        self.perhaps(|lowering| {
            join.on.iter().for_each(|on| _ = lowering.value(on, Some(&Tuple::of(&slots, around)), false));
        });
        self.also(&slots, "a join");
        slots
    }

    fn aggregate(&mut self, aggregate: &sql::Aggregate, around: Option<&Tuple<'_>>, sure: bool) -> Vec<Slot> {
        let slots = self.plan(&aggregate.input, around, sure);
        let parts = aggregate
            .calls
            .iter()
            .flat_map(|call| call.args.iter().chain(&call.filter).chain(call.order.iter().map(|key| &key.expr)));
        self.each_of(&aggregate.input, &slots, around, aggregate.keys.iter().chain(parts));
        let count = aggregate.keys.len() + aggregate.calls.len() + aggregate.grouping.len();
        vec![Slot::Values(vec![Value::opaque("an aggregate"); count])]
    }

    fn window(&mut self, input: &Plan, calls: &[sql::WindowCall], around: Option<&Tuple<'_>>, sure: bool) -> Vec<Slot> {
        let mut slots = self.plan(input, around, sure);
        let parts = calls.iter().flat_map(|call| {
            let bounds = [&call.frame.start, &call.frame.end].into_iter().filter_map(|bound| match bound {
                FrameBound::Preceding(by) | FrameBound::Following(by) => Some(by),
                _ => None,
            });
            let keys = call.order.iter().map(|key| &key.expr);
            call.args.iter().chain(&call.partition).chain(&call.filter).chain(keys).chain(bounds)
        });
        self.each_of(input, &slots.clone(), around, parts);
        slots.push(Slot::Values(vec![Value::opaque("a window function"); calls.len()]));
        slots
    }

    /// What is worked out for each tuple of a plan.
    fn each(&mut self, input: &Plan, make: impl FnOnce(&mut Self, bool)) {
        match is_one_row(input) {
            true => make(self, false),
            false => self.perhaps(|lowering| make(lowering, false)),
        }
    }

    fn each_of<'e>(
        &mut self,
        input: &Plan,
        slots: &[Slot],
        around: Option<&Tuple<'_>>,
        exprs: impl Iterator<Item = &'e Expr>,
    ) {
        self.each(input, |lowering, sure| {
            exprs.for_each(|expr| _ = lowering.value(expr, Some(&Tuple::of(slots, around)), sure));
        });
    }

    /// Something else decides about the rows of a tuple.
    fn also(&mut self, slots: &[Slot], why: &str) {
        for slot in slots {
            if let Slot::Row(id) = slot
                && let Rows::Where { picked, .. } = &mut self.at(*id).rows
            {
                picked.also(why);
            }
        }
    }

    /// A row is locked, and looked at again.
    pub(super) fn lock(&mut self, row: AccessId, strength: LockStrength, wait: LockWait) {
        let (table, may_decide) = (self.at(row).table, self.at(row).may_decide.clone());
        let mut access = Access::new(self.because(Cause::SecondLook), table, Kind::Lock(strength), Rows::Of(row));
        (access.snapshot, access.may_read) = (Snapshot::UnderLock, may_decide.join(&May::any([Cell::Existence])));
        self.access(access);
        if wait == LockWait::SkipLocked {
            let origin = self.origin.clone();
            self.emit(Step::Outside(origin, Outside::SkipLocked));
            self.also(&[Slot::Row(row)], "SKIP LOCKED");
        }
    }

    /// A column decides about the rows that an access picks.
    pub(super) fn decide(&mut self, id: AccessId, column: usize) {
        let cell = self.cell(self.accesses[id.0].table, column);
        self.at(id).may_decide.widen(cell);
    }

    /// Whether a statement gives a row.
    pub(super) fn gives_row(&self, plan: &Plan) -> Value {
        match plan {
            Plan::One | Plan::Values(_) => Value::Constant("true".into()),
            Plan::Aggregate(aggregate) if aggregate.keys.is_empty() && aggregate.sets.len() <= 1 => {
                Value::Constant("true".into())
            }
            Plan::Project { input, .. } | Plan::Sort { input, .. } => self.gives_row(input),
            Plan::Subquery(query) => self.gives_row(&query.plan),
            Plan::Scan(scan) => self.last_of(scan.table),
            Plan::Filter { input, .. } if matches!(**input, Plan::Scan(_)) => self.gives_row(input),
            Plan::Lock { input, .. } => self.gives_row(input),
            _ => Value::opaque("whether there is a row"),
        }
    }

    /// Whether the statement's only look at a table has picked a row.
    fn last_of(&self, table: Oid) -> Value {
        let looks = self.block.iter().filter_map(|step| match step {
            Step::Access(id) if self.accesses[id.0].kind == Kind::Look && self.accesses[id.0].table == table => {
                Some(*id)
            }
            _ => None,
        });
        match looks.collect::<Vec<_>>()[..] {
            [one] => Value::Found(one),
            _ => Value::opaque("whether there is a row"),
        }
    }
}

/// The tuples around, seen from a query of its own.
pub(super) fn around_only<'t>(slots: &'t [Slot], around: Option<&'t Tuple<'t>>) -> Option<Tuple<'t>> {
    Some(Tuple::of(slots, around))
}

/// Whether a plan gives exactly one tuple, whatever is in the tables.
fn is_one_row(plan: &Plan) -> bool {
    match plan {
        Plan::One => true,
        Plan::Values(rows) => rows.len() == 1,
        Plan::Aggregate(aggregate) => aggregate.keys.is_empty() && aggregate.sets.len() <= 1,
        Plan::Project { input, .. } | Plan::Sort { input, .. } => is_one_row(input),
        Plan::Subquery(query) => is_one_row(&query.plan),
        _ => false,
    }
}

/// A comparison seen from the other side.
fn turned(function: Function) -> Function {
    match function {
        Function::Less => Function::Greater,
        Function::AtMost => Function::AtLeast,
        Function::Greater => Function::Less,
        Function::AtLeast => Function::AtMost,
        same => same,
    }
}
