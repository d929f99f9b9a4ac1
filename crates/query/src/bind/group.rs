//! GROUP BY: keys and grouping sets, and expressions over groups instead of rows.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::{AGGREGATES, Block, Clause, GROUPINGS};
use crate::bind::scope::{Columns, Frame};
use crate::bind::target::Target;
use crate::catalog::{Catalog, IndexKeyKind, Oid, RelationKind, Timing};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::same::same;
use crate::ir::walk::{Descend, edit};
use crate::ir::{Aggregate, ColumnRef, Expr, ExprKind, Plan};

/// The slot of columns that stand for group keys until all keys are known.
const KEYS: usize = usize::MAX - 4;

/// Most grouping sets of a query.
const MOST_SETS: usize = 4096;

/// The keys of GROUP BY, and which of them each grouping set has.
#[derive(Clone, Default, Debug)]
pub(super) struct Groups {
    pub keys: Vec<Expr>,
    pub sets: Vec<Vec<usize>>,
}

impl Binder<'_> {
    /// GROUP BY; `None` if there is none.
    pub(super) fn group_by(&mut self, exprs: &[ast::Expr], targets: &mut [Target]) -> Result<Option<Groups>> {
        if exprs.is_empty() {
            return Ok(None);
        }
        let mut groups = Groups { keys: Vec::new(), sets: vec![Vec::new()] };
        for expr in exprs {
            let sets = self.grouping_sets(expr, targets, &mut groups.keys)?;
            groups.sets = product(&groups.sets, &sets)?;
        }
        Ok(Some(groups))
    }

    /// The grouping sets that one item of GROUP BY stands for.
    fn grouping_sets(
        &mut self,
        expr: &ast::Expr,
        targets: &mut [Target],
        keys: &mut Vec<Expr>,
    ) -> Result<Vec<Vec<usize>>> {
        match expr {
            ast::Expr::Rollup(lists) => {
                let parts = self.key_lists(lists, targets, keys)?;
                Ok((0..=parts.len()).rev().map(|length| union(&parts[..length])).collect())
            }
            ast::Expr::Cube(lists) => {
                let parts = self.key_lists(lists, targets, keys)?;
                if parts.len() > 12 {
                    let message = "CUBE is limited to 12 elements";
                    return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
                }
                let chosen = |bits: usize| {
                    let picked = (0..parts.len()).filter(|at| bits & (1 << (parts.len() - 1 - at)) != 0);
                    union(&picked.map(|at| parts[at].clone()).collect::<Vec<_>>())
                };
                Ok((0..1usize << parts.len()).rev().map(chosen).collect())
            }
            ast::Expr::GroupingSets(lists) => {
                let mut sets = Vec::new();
                for list in lists {
                    match list.as_slice() {
                        [inner @ (ast::Expr::Rollup(_) | ast::Expr::Cube(_) | ast::Expr::GroupingSets(_))] => {
                            sets.extend(self.nested(|binder| binder.grouping_sets(inner, targets, keys))?);
                        }
                        list => sets.push(self.key_list(list, targets, keys)?),
                    }
                }
                Ok(sets)
            }
            ast::Expr::Tuple(list) => Ok(vec![self.key_list(list, targets, keys)?]),
            plain => Ok(vec![vec![self.group_key(plain, targets, keys)?]]),
        }
    }

    fn key_lists(
        &mut self,
        lists: &[Vec<ast::Expr>],
        targets: &mut [Target],
        keys: &mut Vec<Expr>,
    ) -> Result<Vec<Vec<usize>>> {
        lists.iter().map(|list| self.key_list(list, targets, keys)).collect()
    }

    fn key_list(&mut self, list: &[ast::Expr], targets: &mut [Target], keys: &mut Vec<Expr>) -> Result<Vec<usize>> {
        let mut places = Vec::with_capacity(list.len());
        for expr in list {
            match expr {
                ast::Expr::Tuple(inner) => places.extend(self.key_list(inner, targets, keys)?),
                expr => places.push(self.group_key(expr, targets, keys)?),
            }
        }
        Ok(places)
    }

    fn group_key(&mut self, expr: &ast::Expr, targets: &mut [Target], keys: &mut Vec<Expr>) -> Result<usize> {
        let names: Vec<_> = targets.iter().map(|target| target.name.clone()).collect();
        let exprs: Vec<Expr> = targets.iter().map(|target| target.expr.clone()).collect();
        let key = match self.output_place(expr, &names, &exprs, Clause::GroupBy)? {
            Some(place) => {
                let target = &mut targets[place];
                target.expr = self.settle(target.expr.clone())?;
                let is_special = |part: &Expr| part.place().is_some_and(|(_, slot)| slot == AGGREGATES);
                if target.expr.any(&mut |part| is_special(part)) {
                    Clause::GroupBy.allows_aggregates()?;
                }
                if target
                    .expr
                    .any(&mut |part| part.place().is_some_and(|(_, slot)| slot == crate::bind::block::WINDOWS))
                {
                    Clause::GroupBy.allows_windows()?;
                }
                if self.has_sets(&target.expr) {
                    Clause::GroupBy.allows_sets()?;
                }
                target.expr.clone()
            }
            None => {
                let bound = self.expr_in(Clause::GroupBy, expr)?;
                self.settle(bound)?
            }
        };
        self.must_have(&key, "=", "an equality operator")?;
        if let Some(known) = keys.iter().position(|other| same(other, &key, 0)) {
            return Ok(known);
        }
        keys.push(key);
        Ok(keys.len() - 1)
    }
}

/// Turns expressions over rows into expressions over groups.
pub(super) struct Regroup<'r, 'a> {
    catalog: &'a Catalog,
    frame: &'r Frame<'a>,
    keys: Vec<Expr>,
    sets: Vec<Vec<usize>>,
    /// The keys that all sets have: others follow from them.
    common: Vec<usize>,
    /// The primary keys by which columns follow.
    primary_keys: Vec<Oid>,
}

impl<'r, 'a> Regroup<'r, 'a> {
    pub(super) fn new(groups: Groups, frame: &'r Frame<'a>, catalog: &'a Catalog) -> Self {
        let Groups { keys, sets } = groups;
        let common = (0..keys.len()).filter(|key| sets.iter().all(|set| set.contains(key))).collect();
        Regroup { catalog, frame, keys, sets, common, primary_keys: Vec::new() }
    }

    /// Group keys in the expression become columns of the group; nothing else of the rows may be left.
    pub(super) fn expr(&mut self, expr: &mut Expr) -> Result<()> {
        edit::expr(expr, 0, &mut |node, depth| self.node(node, depth))
    }

    pub(super) fn node(&mut self, node: &mut Expr, depth: usize) -> Result<Descend> {
        let place = node.place().filter(|(up, _)| *up == depth);
        if place.is_some_and(|(_, slot)| slot >= KEYS) {
            return Ok(Descend::No);
        }
        if let Some(key) = self.keys.iter().position(|key| same(node, key, depth)) {
            node.kind = ExprKind::Column(ColumnRef { up: depth, slot: KEYS, column: key });
            return Ok(Descend::No);
        }
        let Some((_, slot)) = place else { return Ok(Descend::Yes) };
        let Some(primary_key) = self.follows(slot) else { return Err(self.ungrouped(node, slot, depth)) };
        if !self.primary_keys.contains(&primary_key) {
            self.primary_keys.push(primary_key);
        }
        // It has one value in each group: as one more key it changes nothing.
        let mut key = node.clone();
        key.map_places(&mut |up, slot| (up - depth, slot));
        self.keys.push(key);
        let column = self.keys.len() - 1;
        self.sets.iter_mut().for_each(|set| set.push(column));
        node.kind = ExprKind::Column(ColumnRef { up: depth, slot: KEYS, column });
        Ok(Descend::No)
    }

    /// The primary key of the row in this slot, if the keys have it: they determine the row.
    fn follows(&self, slot: usize) -> Option<Oid> {
        let item = self.frame.items.iter().find(|item| item.slot == Some(slot));
        let Some(Columns::Table(_, table)) = item.map(|item| &item.columns) else { return None };
        let primary_key = table.primary_key?;
        let RelationKind::Index(index) = &self.catalog.relation(primary_key)?.kind else { return None };
        if index.constraint.is_none_or(|constraint| constraint.timing != Timing::Immediate) {
            return None;
        }
        let has_all = index.keys.iter().all(|key| match key.what {
            IndexKeyKind::Column(column) => self.common.iter().any(|at| {
                let wanted = ColumnRef { up: 0, slot, column };
                matches!(&self.keys[*at].kind, ExprKind::Column(known) if *known == wanted)
            }),
            IndexKeyKind::Expr(_) => false,
        });
        has_all.then_some(primary_key)
    }

    fn ungrouped(&self, node: &Expr, slot: usize, depth: usize) -> SqlError {
        let item = self.frame.items.iter().find(|item| item.slot == Some(slot));
        let column = match &node.kind {
            ExprKind::Column(column) => item.and_then(|item| {
                let wanted = |expr: &Expr| matches!(&expr.kind, ExprKind::Column(known) if known.column == column.column && known.slot == slot);
                item.all().into_iter().find(|known| wanted(&known.expr)).map(|known| known.name)
            }),
            _ => None,
        };
        let name = match (item, column) {
            (Some(item), Some(column)) if !item.name.is_empty() => format!("{}.{column}", item.name),
            (Some(item), None) => item.name.to_string(),
            (_, Some(column)) => column.to_string(),
            (None, None) => "?column?".to_owned(),
        };
        let message = if depth == 0 {
            format!("column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate function")
        } else {
            format!("subquery uses ungrouped column \"{name}\" from outer query")
        };
        SqlError::new(SqlState::GROUPING_ERROR, message)
    }

    /// The node that makes the groups. [`settle`] must then be called on what is above it.
    pub(super) fn finish(self, input: Plan, block: &mut Block) -> Result<(Plan, Layout)> {
        let mut grouping = Vec::with_capacity(block.groupings.len());
        for args in &block.groupings {
            let place = |arg: &Expr| self.keys.iter().position(|key| same(arg, key, 0));
            let places: Option<Vec<usize>> = args.iter().map(place).collect();
            grouping.push(places.ok_or_else(|| {
                let message = "arguments to GROUPING must be grouping expressions of the associated query level";
                SqlError::new(SqlState::GROUPING_ERROR, message)
            })?);
        }
        let layout = Layout { keys: self.keys.len(), calls: block.aggregates.len() };
        let calls = std::mem::take(&mut block.aggregates);
        let (keys, sets, primary_keys) = (self.keys, self.sets, self.primary_keys);
        let aggregate = Aggregate { input, keys, sets, calls, grouping, primary_keys };
        Ok((Plan::Aggregate(Box::new(aggregate)), layout))
    }
}

/// Where in the group's slot things are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    keys: usize,
    calls: usize,
}

impl Layout {
    /// Stand-ins for keys, aggregates and groupings become columns of the group's slot.
    pub(super) fn settle(self, expr: &mut Expr) {
        edit::expr(expr, 0, &mut |node, depth| Ok(self.node(node, depth))).expect("placing does not fail");
    }

    pub(super) fn node(self, node: &mut Expr, depth: usize) -> Descend {
        if let ExprKind::Column(column) = &mut node.kind
            && column.up == depth
        {
            let first = match column.slot {
                KEYS => 0,
                AGGREGATES => self.keys,
                GROUPINGS => self.keys + self.calls,
                _ => return Descend::Yes,
            };
            column.slot = 0;
            column.column += first;
        }
        Descend::Yes
    }
}

/// Every set of the one with every set of the other.
fn product(left: &[Vec<usize>], right: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    if left.len() * right.len() > MOST_SETS {
        let message = format!("too many grouping sets present (maximum {MOST_SETS})");
        return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
    }
    Ok(left.iter().flat_map(|a| right.iter().map(|b| union(&[a.clone(), b.clone()]))).collect())
}

fn union(sets: &[Vec<usize>]) -> Vec<usize> {
    let mut all = Vec::new();
    for key in sets.iter().flatten() {
        if !all.contains(key) {
            all.push(*key);
        }
    }
    all
}
