//! SELECT: its clauses are bound in PostgreSQL's order, then its plan is put together.
//!
//! Cells of the result are read last: the plan is sorted and cut while its tuples still refer to rows, and projected in the
//! end, unless DISTINCT or a volatile sort key needs the values before.

use std::sync::Arc;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::{Block, Clause, WINDOWS};
use crate::bind::collation::{Needs, keyed};
use crate::bind::from::{From, slot_column};
use crate::bind::group::{Groups, Layout, Regroup};
use crate::bind::lock::label;
use crate::bind::query::{Cut, Unknown};
use crate::bind::scope::Frame;
use crate::bind::sets::{SetLayers, each_column, has_sets, needed};
use crate::bind::target::Target;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::same::same;
use crate::ir::walk::edit;
use crate::ir::{ColumnRef, Expr, ExprKind, Output, Plan, Query, RowLock, SortKey};
use crate::types::collation::Order;

/// The clauses of a SELECT, bound on the rows of FROM.
struct Clauses {
    targets: Vec<Target>,
    condition: Option<Expr>,
    having: Option<Expr>,
    order: Vec<OrderKey>,
    groups: Option<Groups>,
    distinct: Distinct,
    cut: Cut,
    locks: Vec<RowLock>,
}

/// A sort key: a column of the select list, or something else.
struct OrderKey {
    place: Option<usize>,
    key: SortKey,
    /// The order of its texts, if it is not that of their bytes.
    order: Option<Order>,
}

impl OrderKey {
    /// The key, over this expression.
    fn over(&self, expr: Expr) -> SortKey {
        let expr = match &self.order {
            Some(order) => keyed(expr, order),
            None => expr,
        };
        SortKey { expr, ..self.key.clone() }
    }
}

enum Distinct {
    No,
    All,
    On(Vec<Expr>),
}

impl<'a> Binder<'a> {
    /// A SELECT with what follows it in the query.
    pub(super) fn select(&mut self, select: &ast::Select, query: &ast::Query, unknown: Unknown) -> Result<Query> {
        self.select_with(select, Some(query), unknown)
    }

    /// A SELECT that nothing follows, as a part of a set operation.
    pub(super) fn plain_select(&mut self, select: &ast::Select, unknown: Unknown) -> Result<Query> {
        self.nested(|binder| binder.select_with(select, None, unknown))
    }

    fn select_with(&mut self, select: &ast::Select, query: Option<&ast::Query>, unknown: Unknown) -> Result<Query> {
        if select.into.is_some() {
            return Err(SqlError::unsupported("SELECT INTO here"));
        }
        let From { mut plan, slots, items, merged } = self.from_list(&select.from)?;
        self.frames.push(Frame::new(items, merged));
        let clauses = self.clauses(select, query, &mut plan, unknown);
        let frame = self.frames.pop().expect("it was pushed");
        self.assemble(clauses?, frame, plan, slots)
    }

    fn clauses(
        &mut self,
        select: &ast::Select,
        query: Option<&ast::Query>,
        plan: &mut Plan,
        unknown: Unknown,
    ) -> Result<Clauses> {
        self.learn_windows(&select.named_window)?;
        let mut targets = self.targets(&select.projection)?;
        let condition = match &select.selection {
            Some(condition) => Some(self.condition(Clause::Where, condition)?),
            None => None,
        };
        let having = match &select.having {
            Some(condition) => Some(self.condition(Clause::Having, condition)?),
            None => None,
        };
        let order = match query {
            Some(query) => self.order_by(&query.order_by, &mut targets)?,
            None => Vec::new(),
        };
        let groups = self.group_by(&select.group_by, &mut targets)?;
        let distinct = match &select.distinct {
            None => Distinct::No,
            Some(ast::Distinct::Distinct) => Distinct::All,
            Some(ast::Distinct::On(exprs)) => Distinct::On(self.distinct_on(exprs, &mut targets)?),
        };
        let cut = match query {
            Some(query) => self.cut(query)?,
            None => Cut { limit: None, offset: None, ties: false },
        };
        if unknown == Unknown::Settle || matches!(distinct, Distinct::All) {
            for target in &mut targets {
                if target.expr.ty() == crate::types::Type::UNKNOWN {
                    target.expr = self.settle(target.expr.clone())?;
                }
            }
        }
        if matches!(distinct, Distinct::All) {
            for target in &targets {
                self.must_have(&target.expr, "=", "an equality operator")?;
            }
        }
        let locks = match query {
            Some(query) if !query.locks.is_empty() => self.locks(&query.locks, plan)?,
            _ => Vec::new(),
        };
        Ok(Clauses { targets, condition, having, order, groups, distinct, cut, locks })
    }

    fn order_by(&mut self, items: &[ast::OrderByExpr], targets: &mut [Target]) -> Result<Vec<OrderKey>> {
        let mut keys = Vec::with_capacity(items.len());
        if items.is_empty() {
            return Ok(keys);
        }
        let names: Vec<Arc<str>> = targets.iter().map(|target| target.name.clone()).collect();
        for item in items {
            let (place, expr) = self.order_expr(&item.expr, &names, targets, Clause::OrderBy)?;
            let key = self.sort_key(expr, &item.options)?;
            // What is sorted by already does not matter again.
            if !keys.iter().any(|known: &OrderKey| same(&known.key.expr, &key.expr, 0) && !key.expr.is_volatile()) {
                let order = self.order_of(&[&key.expr], Needs::Order)?;
                keys.push(OrderKey { place, key, order });
            }
        }
        Ok(keys)
    }

    /// What an item of ORDER BY or DISTINCT ON is, and which column of the select list, if it is one.
    fn order_expr(
        &mut self,
        expr: &ast::Expr,
        names: &[Arc<str>],
        targets: &mut [Target],
        clause: Clause,
    ) -> Result<(Option<usize>, Expr)> {
        let exprs: Vec<Expr> = targets.iter().map(|target| target.expr.clone()).collect();
        let place = self.output_place(expr, names, &exprs, clause)?;
        let (place, bound) = match place {
            Some(place) => (Some(place), exprs[place].clone()),
            None => {
                let bound = self.expr_in(clause, expr)?;
                (exprs.iter().position(|target| same(target, &bound, 0)), bound)
            }
        };
        let bound = self.settle(bound)?;
        if let Some(place) = place {
            targets[place].expr = bound.clone();
        }
        Ok((place, bound))
    }

    fn distinct_on(&mut self, exprs: &[ast::Expr], targets: &mut [Target]) -> Result<Vec<Expr>> {
        let names: Vec<Arc<str>> = targets.iter().map(|target| target.name.clone()).collect();
        let mut keys = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let (_, bound) = self.order_expr(expr, &names, targets, Clause::DistinctOn)?;
            self.must_have(&bound, "=", "an equality operator")?;
            if !keys.iter().any(|known| same(known, &bound, 0)) {
                keys.push(bound);
            }
        }
        Ok(keys)
    }

    fn assemble(&mut self, mut clauses: Clauses, frame: Frame<'a>, from: Plan, slots: usize) -> Result<Query> {
        let mut frame = frame;
        let mut block = std::mem::take(&mut frame.block);
        check_locks(&clauses, &block)?;
        if !block.aggregates.is_empty() && self.is_growing(&from) {
            let message = "aggregate functions are not allowed in a recursive query's recursive term";
            return Err(SqlError::new(SqlState::INVALID_RECURSION, message));
        }
        let mut plan = from;
        if let Some(condition) = clauses.condition.take() {
            plan = Plan::Filter { input: Box::new(plan), condition };
        }
        let mut slots = slots;
        let mut late = vec![true; block.sets.len()];
        let grouped = clauses.groups.is_some()
            || clauses.having.is_some()
            || !block.aggregates.is_empty()
            || !block.groupings.is_empty();
        if grouped {
            (plan, late) = self.group(&mut clauses, &mut block, &frame, plan, slots)?;
            slots = 1;
        }
        if !block.windows.is_empty() {
            plan = Plan::Window { input: Box::new(plan), calls: std::mem::take(&mut block.windows) };
            place(&mut clauses, &mut |column| {
                if column.slot == WINDOWS {
                    column.slot = slots;
                }
            });
            block.sets.iter_mut().for_each(|call| {
                each_column(call, &mut |column| {
                    if column.slot == WINDOWS {
                        column.slot = slots;
                    }
                });
            });
            slots += 1;
        }
        let outputs: Vec<Output> = clauses.targets.iter().map(Target::output).collect();
        self.check_ties(&clauses.cut, &clauses.order.iter().map(|key| key.key.clone()).collect::<Vec<_>>())?;
        let plan = finish(clauses, SetLayers::take(&mut block.sets, &late, slots), plan)?;
        Ok(Query { plan, columns: outputs, correlated: false })
    }

    /// Puts the groups under everything that is evaluated on them; with it, which set-returning functions are.
    fn group(
        &mut self,
        clauses: &mut Clauses,
        block: &mut Block,
        frame: &Frame<'a>,
        input: Plan,
        slots: usize,
    ) -> Result<(Plan, Vec<bool>)> {
        let mut groups = clauses.groups.take().unwrap_or_default();
        // Set-returning functions that rows are grouped by are evaluated before the groups are made.
        let early = needed(&mut block.sets, groups.keys.iter_mut());
        let layers = SetLayers::take(&mut block.sets, &early, slots);
        each_expr(clauses, &mut |expr| {
            layers.place(expr);
            Ok(())
        })?;
        groups.keys.iter_mut().chain(&mut block.sets).for_each(|expr| layers.place(expr));
        let input = layers.over(input);
        let mut regroup = Regroup::new(groups, frame, self.catalog);
        each_expr(clauses, &mut |expr| regroup.expr(expr))?;
        for call in &mut block.windows {
            edit::window_call(call, 0, &mut |node, depth| regroup.node(node, depth))?;
        }
        for call in &mut block.sets {
            regroup.expr(call)?;
        }
        let (mut plan, layout): (Plan, Layout) = regroup.finish(input, block)?;
        each_expr(clauses, &mut |expr| {
            layout.settle(expr);
            Ok(())
        })?;
        for call in &mut block.windows {
            edit::window_call(call, 0, &mut |node, depth| Ok(layout.node(node, depth)))?;
        }
        block.sets.iter_mut().for_each(|call| layout.settle(call));
        if let Some(condition) = clauses.having.take() {
            plan = Plan::Filter { input: Box::new(plan), condition };
        }
        Ok((plan, early.into_iter().map(|early| !early).collect()))
    }
}

/// Everything that is evaluated after grouping.
fn each_expr(clauses: &mut Clauses, change: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    for target in &mut clauses.targets {
        change(&mut target.expr)?;
    }
    for key in &mut clauses.order {
        change(&mut key.key.expr)?;
    }
    if let Some(having) = &mut clauses.having {
        change(having)?;
    }
    if let Distinct::On(keys) = &mut clauses.distinct {
        keys.iter_mut().try_for_each(change)?;
    }
    Ok(())
}

/// Changes the columns of this query's tuple in everything that is evaluated after windows.
fn place(clauses: &mut Clauses, change: &mut dyn FnMut(&mut ColumnRef)) {
    each_expr(clauses, &mut |expr| {
        each_column(expr, change);
        Ok(())
    })
    .expect("placing does not fail");
}

/// Set-returning functions, DISTINCT, ORDER BY, LIMIT and the select list.
fn finish(mut clauses: Clauses, layers: SetLayers, input: Plan) -> Result<Plan> {
    let mut plan = input;
    let sets_in_order = clauses.order.iter().any(|key| has_sets(&key.key.expr))
        || matches!(&clauses.distinct, Distinct::On(keys) if keys.iter().any(has_sets));
    each_expr(&mut clauses, &mut |expr| {
        layers.place(expr);
        Ok(())
    })?;
    let Clauses { targets, order, distinct, cut, locks, .. } = clauses;
    let values: Vec<Expr> = targets.into_iter().map(|target| target.expr).collect();
    let keys: Vec<SortKey> = order.iter().map(|key| key.over(key.key.expr.clone())).collect();
    let has_layers = !layers.is_empty();
    match distinct {
        Distinct::All => {
            plan = layers.over(plan);
            let keys = keys_over_result(&order)?;
            plan = Plan::Distinct(Box::new(Plan::Project { input: Box::new(plan), columns: values }));
            plan = sort(plan, keys.clone());
            Ok(cut.apply(plan, &keys))
        }
        Distinct::On(on) => {
            // As in PostgreSQL, what ORDER BY does not sort by is evaluated after DISTINCT ON.
            let late = !order.is_empty() && !sets_in_order;
            let keys = distinct_order(&on, keys)?;
            let distinct = |plan| Plan::DistinctOn { input: Box::new(sort(plan, keys.clone())), keys: on };
            plan = if late { layers.over(distinct(plan)) } else { distinct(layers.over(plan)) };
            plan = cut.apply(plan, &keys);
            Ok(Plan::Project { input: Box::new(plan), columns: values })
        }
        Distinct::No if keys.iter().any(|key| is_costly(&key.expr)) => {
            // The values that are sorted by are those of the result.
            plan = layers.over(lock(plan, locks));
            let width = values.len();
            let mut columns = values;
            let mut over = Vec::with_capacity(order.len());
            for sorted in order {
                let column = sorted.place.unwrap_or_else(|| {
                    columns.push(sorted.key.expr.clone());
                    columns.len() - 1
                });
                over.push(sorted.over(slot_column(column, sorted.key.expr.typed)));
            }
            let types: Vec<_> = columns[..width].iter().map(|column| column.typed).collect();
            let hidden = columns.len() > width;
            plan = sort(Plan::Project { input: Box::new(plan), columns }, over.clone());
            plan = cut.apply(plan, &over);
            if hidden {
                let columns = types.into_iter().enumerate().map(|(at, typed)| slot_column(at, typed)).collect();
                plan = Plan::Project { input: Box::new(plan), columns };
            }
            Ok(plan)
        }
        Distinct::No => {
            if has_layers && sets_in_order {
                plan = sort(layers.over(plan), keys.clone());
            } else {
                plan = layers.over(sort(plan, keys.clone()));
            }
            plan = cut.apply(lock(plan, locks), &keys);
            Ok(Plan::Project { input: Box::new(plan), columns: values })
        }
    }
}

fn sort(input: Plan, keys: Vec<SortKey>) -> Plan {
    if keys.is_empty() { input } else { Plan::Sort { input: Box::new(input), keys } }
}

fn lock(input: Plan, locks: Vec<RowLock>) -> Plan {
    if locks.is_empty() { input } else { Plan::Lock { input: Box::new(input), locks } }
}

/// A value that should not be worked out twice.
fn is_costly(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Subquery { .. } | ExprKind::UserCall { .. }))
        || expr.is_volatile()
}

/// Sort keys of SELECT DISTINCT: columns of the result.
fn keys_over_result(order: &[OrderKey]) -> Result<Vec<SortKey>> {
    let over = |sorted: &OrderKey| match sorted.place {
        Some(place) => Ok(sorted.over(slot_column(place, sorted.key.expr.typed))),
        None => {
            let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
            Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message))
        }
    };
    order.iter().map(over).collect()
}

/// DISTINCT ON sorts by its keys first; ORDER BY says in which order and how.
fn distinct_order(on: &[Expr], mut keys: Vec<SortKey>) -> Result<Vec<SortKey>> {
    let is_on = |key: &SortKey| on.iter().any(|expr| same(expr, &key.expr, 0));
    let leading = keys.iter().take_while(|key| is_on(key)).count();
    if leading < on.len() && keys.len() > leading {
        let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
        return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
    }
    for expr in on {
        if !keys.iter().any(|key| same(expr, &key.expr, 0)) {
            keys.push(SortKey { expr: expr.clone(), descending: false, nulls_first: false });
        }
    }
    Ok(keys)
}

fn check_locks(clauses: &Clauses, block: &Block) -> Result<()> {
    let Some(lock) = clauses.locks.first() else { return Ok(()) };
    let what = if !matches!(clauses.distinct, Distinct::No) {
        "DISTINCT clause"
    } else if clauses.groups.is_some() {
        "GROUP BY clause"
    } else if clauses.having.is_some() {
        "HAVING clause"
    } else if !block.aggregates.is_empty() {
        "aggregate functions"
    } else if !block.windows.is_empty() {
        "window functions"
    } else if !block.sets.is_empty() {
        "set-returning functions in the target list"
    } else {
        return Ok(());
    };
    let message = format!("{} is not allowed with {what}", label(lock.strength));
    Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
}
