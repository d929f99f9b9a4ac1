//! Queries as text: the clauses of a SELECT are found in the plan that binding made of them.

use std::rc::Rc;
use std::sync::Arc;

use crate::deparse::expr::direction;
use crate::deparse::{Deparse, Frame, Part, STEP, Slot, VARIABLE};
use crate::ir::{
    Aggregate, ColumnRef, Cte, CteAsMaterialized, Expr, ExprKind, Limit, LockStrength, LockWait, Plan, Query, RowLock,
    SetKind, SortKey, WindowCall,
};
use crate::types::quote;

/// The clauses of a SELECT, as they stand in its plan.
#[derive(Default)]
struct Select<'q> {
    columns: &'q [Expr],
    /// How many of the columns are in the result: the others are only sorted by.
    width: usize,
    distinct: bool,
    distinct_on: &'q [Expr],
    windows: &'q [WindowCall],
    /// Set-returning functions, those first that others build on.
    sets: Vec<&'q [Expr]>,
    having: Option<&'q Expr>,
    aggregate: Option<&'q Aggregate>,
    condition: Option<&'q Expr>,
    from: Option<&'q Plan>,
    locks: &'q [RowLock],
}

/// What may follow any query.
#[derive(Clone, Copy, Default)]
struct Tail<'q> {
    sort: &'q [SortKey],
    /// The keys are columns of the result.
    over_result: bool,
    limit: Option<&'q Limit>,
}

impl<'q> Deparse<'q> {
    /// A query; `names` are those of its columns, if they are not its own.
    pub(super) fn query(&mut self, query: &'q Query, names: Option<&[Arc<str>]>) {
        let own: Vec<Arc<str>> = query.columns.iter().map(|column| column.name.clone()).collect();
        let names = names.unwrap_or(&own);
        let (indent, ctes) = (self.indent, self.ctes.len());
        let mut plan = &query.plan;
        if let Plan::With { ctes, input } = plan {
            self.with(ctes, input);
            plan = input;
        }
        self.body(plan, names);
        self.indent = indent;
        self.ctes.truncate(ctes);
    }

    pub(super) fn with(&mut self, ctes: &'q [Arc<Cte>], input: &'q Plan) {
        self.indent += 8;
        self.push(" ");
        let recursive = ctes.iter().any(|cte| cte.recursive.is_some());
        let outer = ctes.len();
        for cte in ctes {
            let columns = cte.query.columns.iter().map(|column| column.name.clone()).collect();
            self.ctes.push((cte.number, cte.name.clone(), columns));
        }
        // The names of the query's own items are taken in the expressions of WITH.
        let items = self.from_items(input);
        self.beside.push(Rc::new(Frame { slots: items }));
        let known = self.ctes.split_off(self.ctes.len() - outer);
        for (at, cte) in ctes.iter().enumerate() {
            self.push(match (at, recursive) {
                (0, true) => "WITH RECURSIVE ",
                (0, false) => "WITH ",
                _ => ", ",
            });
            let columns: Vec<Arc<str>> = cte.query.columns.iter().map(|column| column.name.clone()).collect();
            self.push(&quote::identifier(&cte.name));
            if !cte.written.renamed.is_empty() {
                self.push(&format!("({})", identifiers(&columns[..cte.written.renamed.len()])));
            }
            if cte.recursive.is_some() {
                self.ctes.push(known[at].clone());
            }
            self.push(match cte.written.materialized {
                None => " AS (",
                Some(CteAsMaterialized::Materialized) => " AS MATERIALIZED (",
                Some(CteAsMaterialized::NotMaterialized) => " AS NOT MATERIALIZED (",
            });
            self.line("", 0, 0, 0);
            let rest = columns.iter().skip(cte.written.renamed.len());
            let own: Vec<Arc<str>> = cte.written.renamed.iter().chain(rest).cloned().collect();
            self.query(&cte.query, Some(&own));
            if let Some((again, distinct)) = &cte.recursive {
                self.line(if *distinct { "UNION" } else { "UNION ALL" }, 0, 0, 0);
                self.line("", 0, 0, 0);
                self.query(again, None);
            } else {
                self.ctes.push(known[at].clone());
            }
            self.line("", 0, 0, 0);
            self.push(")");
        }
        self.beside.pop();
        self.indent -= 8;
        self.line("", 0, 0, 0);
    }

    /// The items of FROM of a query that is a SELECT.
    fn from_items(&mut self, plan: &'q Plan) -> Vec<Slot<'q>> {
        let mut core = plan;
        loop {
            core = match core {
                Plan::Limit(limit) => &limit.input,
                Plan::Sort { input, .. } => input,
                Plan::Distinct(input) => input,
                Plan::Project { input, columns } => {
                    let mut select = Select { columns, width: columns.len(), ..Select::default() };
                    select.clauses(input, &mut Tail::default());
                    return select.from.map_or_else(Vec::new, |from| self.item_slots(from));
                }
                _ => return Vec::new(),
            };
        }
    }

    pub(super) fn body(&mut self, plan: &'q Plan, names: &[Arc<str>]) {
        let mut tail = Tail::default();
        let mut distinct = false;
        let mut core = plan;
        loop {
            core = match core {
                Plan::Limit(limit) => {
                    tail.limit = Some(limit);
                    &limit.input
                }
                Plan::Sort { input, keys } => {
                    (tail.sort, tail.over_result) = (keys, true);
                    input
                }
                Plan::Distinct(input) => {
                    distinct = true;
                    input
                }
                _ => break,
            };
        }
        match core {
            Plan::Project { input, columns } => {
                let mut select = Select { columns, width: columns.len(), distinct, ..Select::default() };
                select.clauses(input, &mut tail);
                self.select(&select, tail, names);
            }
            Plan::SetOperation { .. } => {
                self.set_operation(core, names);
                self.tail(tail, &mut |text, key| match &key.expr.kind {
                    ExprKind::Column(ColumnRef { up: 0, slot: 0, column }) => text.push(&(column + 1).to_string()),
                    _ => text.sort_expr(&key.expr),
                });
            }
            Plan::Values(rows) => {
                self.indent += 8;
                self.push(" ");
                self.values(rows);
                self.tail(tail, &mut |text, key| text.sort_expr(&key.expr));
            }
            Plan::Change(change) => self.change(change),
            _ => self.unknown(),
        }
    }

    pub(super) fn values(&mut self, rows: &'q [Vec<Expr>]) {
        self.push("VALUES ");
        // Nothing of what is around is in the tuple of VALUES itself.
        self.frames.push(Rc::new(Frame { slots: Vec::new() }));
        for (at, row) in rows.iter().enumerate() {
            self.push(if at > 0 { ", (" } else { "(" });
            for (at, value) in row.iter().enumerate() {
                if at > 0 {
                    self.push(",");
                }
                self.expr(value, false);
            }
            self.push(")");
        }
        self.frames.pop();
    }

    fn set_operation(&mut self, plan: &'q Plan, names: &[Arc<str>]) {
        let Plan::SetOperation { kind, all, left, right } = plan else { return self.set_operand(plan, names) };
        let is_same = |side: &Plan| matches!(side, Plan::SetOperation { kind: other, all: other_all, .. } if (other, other_all) == (kind, all));
        let leans = |side: &Plan| matches!(side, Plan::SetOperation { .. }) && !is_same(side);
        let nested = leans(left);
        if nested {
            self.push("(");
            self.line("", STEP, 0, 0);
        }
        self.set_operation(left, names);
        self.line(if nested { ") " } else { "" }, if nested { -STEP } else { 0 }, 0, 0);
        self.push(match kind {
            SetKind::Union => "UNION ",
            SetKind::Intersect => "INTERSECT ",
            SetKind::Except => "EXCEPT ",
        });
        if *all {
            self.push("ALL ");
        }
        // UNION of many is kept as a balanced tree, which means the same as a chain.
        let chain = is_same(right) && *kind == SetKind::Union;
        let nested = matches!(**right, Plan::SetOperation { .. }) && !chain;
        if nested {
            self.push("(");
        }
        self.line("", if nested { STEP } else { 0 }, 0, 0);
        self.set_operation(right, names);
        if nested {
            self.indent -= 8;
            self.line(")", 0, 0, 0);
        }
    }

    /// A query that is part of a set operation.
    fn set_operand(&mut self, plan: &'q Plan, names: &[Arc<str>]) {
        let needs = match plan {
            Plan::Limit(_) | Plan::Sort { .. } | Plan::With { .. } => true,
            Plan::Project { input, .. } => matches!(**input, Plan::Limit(_) | Plan::Sort { .. } | Plan::Lock { .. }),
            _ => false,
        };
        if needs {
            self.push("(");
        }
        let (indent, ctes) = (self.indent, self.ctes.len());
        let mut plan = plan;
        if let Plan::With { ctes, input } = plan {
            self.with(ctes, input);
            plan = input;
        }
        self.body(plan, names);
        self.indent = indent;
        self.ctes.truncate(ctes);
        if needs {
            self.push(")");
        }
    }

    fn select(&mut self, select: &Select<'q>, tail: Tail<'q>, names: &[Arc<str>]) {
        let from = select.from.unwrap_or(&Plan::One);
        let items = self.item_slots(from);
        let base = Rc::new(Frame { slots: items.clone() });
        let frame = frame_over(&base, select);
        self.indent += 8;
        self.push(" SELECT");
        self.frames.push(frame.clone());
        if select.distinct {
            self.push(" DISTINCT");
        }
        if !select.distinct_on.is_empty() {
            self.push(" DISTINCT ON (");
            self.list(select.distinct_on);
            self.push(")");
        }
        self.targets(&select.columns[..select.width], names);
        // FROM and WHERE are about rows, what follows about what was made of them.
        self.frames.pop();
        self.frames.push(base);
        self.from_clause(from, &items);
        if let Some(condition) = select.condition {
            self.line(" WHERE ", -STEP, STEP, 1);
            self.expr(condition, false);
        }
        if let Some(aggregate) = select.aggregate {
            self.group_by(aggregate);
        }
        self.frames.pop();
        self.frames.push(frame);
        if let Some(having) = select.having {
            self.line(" HAVING ", -STEP, STEP, 0);
            self.expr(having, false);
        }
        self.named_windows(select.windows);
        let columns = select.columns;
        self.tail(tail, &mut |text, key| match &key.expr.kind {
            ExprKind::Column(ColumnRef { up: 0, slot: 0, column }) if tail.over_result => match columns.get(*column) {
                Some(expr) => text.sort_expr(expr),
                None => text.push(&(column + 1).to_string()),
            },
            _ => text.sort_expr(&key.expr),
        });
        self.row_locks(select.locks, &items);
        self.frames.pop();
    }

    pub(super) fn targets(&mut self, columns: &'q [Expr], names: &[Arc<str>]) {
        let mut separator = " ";
        let implicit = !std::mem::take(&mut self.assigned);
        for (at, column) in columns.iter().enumerate() {
            self.push(separator);
            separator = ", ";
            let own = self.column_name(column);
            let mut text = self.apart(|text| {
                text.expr(column, implicit);
                if matches!(column.kind, ExprKind::Row { .. }) {
                    let name = text.type_name(column.typed);
                    text.push(&format!("::{name}"));
                }
            });
            let own = own.as_deref().unwrap_or("?column?");
            if let Some(name) = names.get(at).filter(|name| ***name != *own) {
                text.push_str(&format!(" AS {}", quote::identifier(name)));
            }
            if text.starts_with('\n') {
                let end = self.out.trim_end_matches(' ').len();
                self.out.truncate(end);
            } else if at > 0 {
                self.line("", -STEP, STEP, VARIABLE);
            }
            self.push(&text);
        }
    }

    fn group_by(&mut self, aggregate: &'q Aggregate) {
        if aggregate.keys.is_empty() && aggregate.sets.iter().all(Vec::is_empty) && aggregate.sets.len() < 2 {
            return;
        }
        self.line(" GROUP BY ", -STEP, STEP, 1);
        let all: Vec<usize> = (0..aggregate.keys.len()).collect();
        if matches!(aggregate.sets.as_slice(), [only] if only.len() == all.len()) || aggregate.sets.is_empty() {
            return self.keys(aggregate, &all);
        }
        if let Some((kept, steps)) = rollup(&aggregate.sets) {
            self.keys(aggregate, kept);
            self.push(if kept.is_empty() { "ROLLUP(" } else { ", ROLLUP(" });
            for (at, step) in steps.iter().enumerate() {
                self.push(if at > 0 { ", " } else { "" });
                self.push(if step.len() > 1 { "(" } else { "" });
                self.keys(aggregate, step);
                self.push(if step.len() > 1 { ")" } else { "" });
            }
            return self.push(")");
        }
        if aggregate.sets == cube(all.len()) {
            self.push("CUBE(");
            self.keys(aggregate, &all);
            return self.push(")");
        }
        self.push("GROUPING SETS (");
        for (at, set) in aggregate.sets.iter().enumerate() {
            self.push(if at > 0 { ", (" } else { "(" });
            self.keys(aggregate, set);
            self.push(")");
        }
        self.push(")");
    }

    /// WINDOW: the windows that calls name.
    fn named_windows(&mut self, calls: &'q [WindowCall]) {
        let mut shown: Vec<&Arc<str>> = Vec::new();
        for call in calls {
            let Some(name) = call.name.as_ref().filter(|name| !shown.contains(name)) else { continue };
            match shown.is_empty() {
                true => self.line(" WINDOW ", -STEP, STEP, 1),
                false => self.push(", "),
            }
            self.push(&format!("{} AS ", quote::identifier(name)));
            self.window_definition(call);
            shown.push(name);
        }
    }

    fn keys(&mut self, aggregate: &'q Aggregate, places: &[usize]) {
        for (at, place) in places.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            let key = &aggregate.keys[*place];
            self.sort_expr(key);
        }
    }

    fn tail(&mut self, tail: Tail<'q>, show: &mut dyn FnMut(&mut Self, &'q SortKey)) {
        if !tail.sort.is_empty() {
            self.line(" ORDER BY ", -STEP, STEP, 1);
            for (at, key) in tail.sort.iter().enumerate() {
                if at > 0 {
                    self.push(", ");
                }
                show(self, key);
                self.push(direction(key));
            }
        }
        let Some(limit) = tail.limit else { return };
        if let Some(offset) = &limit.offset {
            self.line(" OFFSET ", -STEP, STEP, 0);
            self.count(offset);
        }
        if let Some(count) = &limit.limit {
            if limit.ties.is_empty() {
                self.line(" LIMIT ", -STEP, STEP, 0);
                self.count(count);
            } else {
                self.line(" FETCH FIRST ", -STEP, STEP, 0);
                self.push("(");
                self.count(count);
                self.push(") ROWS WITH TIES");
            }
        }
    }

    /// A number of rows: what is written is an integer, which is converted.
    fn count(&mut self, count: &'q Expr) {
        match &count.kind {
            ExprKind::Const(crate::types::Datum::Int(number)) => self.push(&number.to_string()),
            ExprKind::Const(crate::types::Datum::Null) => self.push("ALL"),
            ExprKind::Cast { arg, explicit: false } => self.count(arg),
            _ => self.expr(count, false),
        }
    }

    fn row_locks(&mut self, locks: &'q [RowLock], items: &[Slot<'q>]) {
        for lock in locks {
            self.line(
                match lock.strength {
                    LockStrength::Update => " FOR UPDATE",
                    LockStrength::NoKeyUpdate => " FOR NO KEY UPDATE",
                    LockStrength::Share => " FOR SHARE",
                    LockStrength::KeyShare => " FOR KEY SHARE",
                },
                -STEP,
                STEP,
                0,
            );
            let named = lock.slots.iter().filter_map(|slot| match items.get(*slot)? {
                Slot::Item { name, .. } => Some(name.clone()),
                _ => None,
            });
            let named: Vec<Arc<str>> = named.collect();
            if !named.is_empty() {
                self.push(&format!(" OF {}", identifiers(&named)));
            }
            self.push(match lock.wait {
                LockWait::Block => "",
                LockWait::NoWait => " NOWAIT",
                LockWait::SkipLocked => " SKIP LOCKED",
            });
        }
    }
}

impl<'q> Select<'q> {
    /// Takes the clauses out of what is under the select list.
    fn clauses(&mut self, input: &'q Plan, tail: &mut Tail<'q>) {
        let mut plan = input;
        if let Some((inner, columns, sort, limit)) = hidden(plan, self.columns) {
            (tail.sort, tail.over_result) = (sort, true);
            tail.limit = limit.or(tail.limit);
            self.columns = columns;
            plan = inner;
        }
        loop {
            plan = match plan {
                Plan::Limit(limit) => {
                    tail.limit = Some(limit);
                    &limit.input
                }
                Plan::Sort { input, keys } => {
                    (tail.sort, tail.over_result) = (keys, false);
                    input
                }
                Plan::Lock { input, locks } => {
                    self.locks = locks;
                    input
                }
                Plan::DistinctOn { input, keys } => {
                    self.distinct_on = keys;
                    input
                }
                Plan::ProjectSet { input, calls } => {
                    self.sets.insert(0, calls);
                    input
                }
                Plan::Window { input, calls } => {
                    self.windows = calls;
                    input
                }
                Plan::Filter { input, condition } if matches!(**input, Plan::Aggregate(_)) => {
                    self.having = Some(condition);
                    input
                }
                Plan::Aggregate(aggregate) => {
                    self.aggregate = Some(aggregate);
                    &aggregate.input
                }
                Plan::Filter { input, condition } => {
                    self.condition = Some(condition);
                    self.from = Some(input);
                    return;
                }
                from => {
                    self.from = Some(from);
                    return;
                }
            };
        }
    }
}

/// The keys that all grouping sets have, and those that ROLLUP leaves out one after the other, the last first.
fn rollup(sets: &[Vec<usize>]) -> Option<(&[usize], Vec<&[usize]>)> {
    let kept = sets.last()?.as_slice();
    let mut steps = Vec::new();
    for pair in sets.windows(2) {
        let [longer, shorter] = pair else { return None };
        steps.insert(0, longer.strip_prefix(shorter.as_slice()).filter(|rest| !rest.is_empty())?);
    }
    (!steps.is_empty()).then_some((kept, steps))
}

/// The grouping sets of CUBE over so many keys.
fn cube(keys: usize) -> Vec<Vec<usize>> {
    if keys > 12 {
        return Vec::new();
    }
    let set = |bits: usize| (0..keys).filter(|at| bits & (1 << (keys - 1 - at)) != 0).collect();
    (0..1usize << keys).rev().map(set).collect()
}

/// A select list with columns that are only sorted by: what is below it, all of its columns, and how it is sorted and cut.
#[allow(clippy::type_complexity)]
fn hidden<'q>(plan: &'q Plan, columns: &[Expr]) -> Option<(&'q Plan, &'q [Expr], &'q [SortKey], Option<&'q Limit>)> {
    let is_plain = |(at, column): (usize, &Expr)| matches!(&column.kind, ExprKind::Column(ColumnRef { up: 0, slot: 0, column }) if *column == at);
    if !columns.iter().enumerate().all(is_plain) {
        return None;
    }
    let (limit, plan) = match plan {
        Plan::Limit(limit) => (Some(&**limit), &limit.input),
        plan => (None, plan),
    };
    let Plan::Sort { input, keys } = plan else { return None };
    let Plan::Project { input, columns: all } = &**input else { return None };
    (all.len() > columns.len()).then_some((&**input, all.as_slice(), keys.as_slice(), limit))
}

/// The tuple that the select list is evaluated on.
fn frame_over<'q>(base: &Rc<Frame<'q>>, select: &Select<'q>) -> Rc<Frame<'q>> {
    let mut frame = base.clone();
    if let Some(aggregate) = select.aggregate {
        let keys = aggregate.keys.iter().map(Part::Expr);
        let calls = aggregate.calls.iter().map(Part::Aggregate);
        let groupings = aggregate
            .grouping
            .iter()
            .map(|places| Part::Grouping(places.iter().filter_map(|place| aggregate.keys.get(*place)).collect()));
        let parts = keys.chain(calls).chain(groupings).collect();
        frame = Rc::new(Frame { slots: vec![Slot::Made { parts, below: frame }] });
    }
    if !select.windows.is_empty() {
        frame = one_more(&frame, select.windows.iter().map(Part::Window).collect());
    }
    for calls in &select.sets {
        frame = one_more(&frame, calls.iter().map(Part::Expr).collect());
    }
    frame
}

fn one_more<'q>(frame: &Rc<Frame<'q>>, parts: Vec<Part<'q>>) -> Rc<Frame<'q>> {
    let made = Slot::Made { parts, below: frame.clone() };
    Rc::new(Frame { slots: frame.slots.iter().cloned().chain(std::iter::once(made)).collect() })
}

pub(super) fn identifiers(names: &[Arc<str>]) -> String {
    names.iter().map(|name| quote::identifier(name)).collect::<Vec<_>>().join(", ")
}
