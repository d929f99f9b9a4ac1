//! A tuple whose rows were locked and had changed is checked again (PostgreSQL's EvalPlanQual).
//!
//! The plan is gone through with every FROM item pinned to what the tuple has of it: conditions are evaluated on the
//! newest version of the locked rows, everything else stays as the statement saw it. An outer join whose condition no
//! longer holds loses its other side.

use crate::catalog::{Catalog, IndexKeyKind, Oid, RelationKind};
use crate::error::Result;
use crate::exec::access::{self, KeyValues};
use crate::exec::arrange;
use crate::exec::keys;
use crate::exec::{Context, Run, Slot, Tuple};
use crate::ir::{Access, Expr, Join, JoinKind, Plan, Scan};
use crate::types::Type;

impl<'p> Run<'p> {
    /// Checks a tuple of a plan again after its rows were locked and had changed: the tuple as it is now, or nothing if
    /// it no longer qualifies. Other rows of the tuple stay as they are.
    pub fn recheck(&mut self, cx: &mut dyn Context, plan: &'p Plan, tuple: &Tuple) -> Result<Option<Tuple>> {
        self.pinned(cx, plan, tuple, 0)
    }

    /// The slots of a plan, which begin at `at` in the tuple, if they still qualify.
    fn pinned(&mut self, cx: &mut dyn Context, plan: &'p Plan, tuple: &Tuple, at: usize) -> Result<Option<Tuple>> {
        match plan {
            Plan::One => Ok(Some(Tuple::default())),
            Plan::Scan(scan) => {
                let Slot::Row(_) = tuple.slot(at) else { return Ok(None) };
                let row = Tuple::of(tuple.slot(at).clone());
                let qualifies = self.is_covered(cx, scan, &row)? && self.holds(cx, scan.filter.as_ref(), &row)?;
                Ok(qualifies.then_some(row))
            }
            Plan::Filter { input, condition } => {
                let Some(tuple) = self.pinned(cx, input, tuple, at)? else { return Ok(None) };
                Ok(self.is_true(cx, condition, &tuple)?.then_some(tuple))
            }
            Plan::Join(join) => self.pinned_join(cx, join, tuple, at),
            Plan::Window { input, .. } | Plan::ProjectSet { input, .. } => {
                let Some(mut pinned) = self.pinned(cx, input, tuple, at)? else { return Ok(None) };
                pinned.push(tuple.slot(at + pinned.len()).clone());
                Ok(Some(pinned))
            }
            Plan::DistinctOn { input, .. }
            | Plan::Sort { input, .. }
            | Plan::Lock { input, .. }
            | Plan::With { input, .. } => self.pinned(cx, input, tuple, at),
            Plan::Limit(limit) => self.pinned(cx, &limit.input, tuple, at),
            Plan::Arrange { input, slots } => {
                let mut below = Tuple::missing(slots.len());
                for (here, slot) in slots.iter().enumerate() {
                    below.set(*slot, tuple.slot(at + here).clone());
                }
                let pinned = self.pinned(cx, input, &below, 0)?;
                Ok(pinned.map(|pinned| arrange::arranged(&pinned, slots)))
            }
            Plan::Empty { .. }
            | Plan::Virtual(_)
            | Plan::Stored(_)
            | Plan::Values(_)
            | Plan::Subquery(_)
            | Plan::Function(_)
            | Plan::Cte { .. }
            | Plan::Aggregate(_)
            | Plan::Project { .. }
            | Plan::Distinct(_)
            | Plan::SetOperation { .. }
            | Plan::Change(_) => Ok(match tuple.slot(at) {
                Slot::Missing => None,
                slot => Some(Tuple::of(slot.clone())),
            }),
        }
    }

    fn pinned_join(&mut self, cx: &mut dyn Context, join: &'p Join, tuple: &Tuple, at: usize) -> Result<Option<Tuple>> {
        let left = self.pinned(cx, &join.left, tuple, at)?;
        let (left_slots, right_slots) = join.slots;
        let right = if join.lateral {
            let around = left.clone().unwrap_or_else(|| Tuple::missing(left_slots));
            self.inside(around, |run| run.pinned(cx, &join.right, tuple, at + left_slots)).1?
        } else {
            self.pinned(cx, &join.right, tuple, at + left_slots)?
        };
        let both = match (&left, &right) {
            (Some(left), Some(right)) => Some(left.joined(right)),
            _ => None,
        };
        let equal = match (&left, &right) {
            (Some(left), Some(right)) => self.are_equal(cx, join, left, right)?,
            _ => false,
        };
        if let Some(both) = both
            && equal
            && self.holds(cx, join.on.as_ref(), &both)?
        {
            return Ok(Some(both));
        }
        let keeps_left = matches!(join.kind, JoinKind::Left | JoinKind::Full);
        let keeps_right = matches!(join.kind, JoinKind::Right | JoinKind::Full);
        Ok(match (left, right) {
            (Some(left), _) if keeps_left => Some(left.joined(&Tuple::missing(right_slots))),
            (_, Some(right)) if keeps_right => Some(Tuple::missing(left_slots).joined(&right)),
            _ => None,
        })
    }

    /// Whether the keys that a join hashes by are (still) equal.
    fn are_equal(&mut self, cx: &mut dyn Context, join: &'p Join, left: &Tuple, right: &Tuple) -> Result<bool> {
        for (a, b) in &join.equal {
            let (x, y) = (self.eval(cx, a, left)?, self.eval(cx, b, right)?);
            if x.is_null() || y.is_null() || !keys::compare(&x, &y, a.ty()).is_eq() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&mut self, cx: &mut dyn Context, condition: Option<&'p Expr>, tuple: &Tuple) -> Result<bool> {
        condition.map_or(Ok(true), |condition| self.is_true(cx, condition, tuple))
    }

    /// Whether the row is (still) within what the access path covers.
    fn is_covered(&mut self, cx: &mut dyn Context, scan: &'p Scan, row: &Tuple) -> Result<bool> {
        let (Access::Index { index, equal, from, to }, Slot::Row(row)) = (&scan.access, row.slot(0)) else {
            return Ok(true);
        };
        let columns = index_columns(cx.catalog(), scan.table, *index);
        for (key, column) in equal.iter().zip(&columns) {
            let Some((column, ty)) = *column else { continue };
            let value = cx.cell(*row, column)?;
            let equals = |other| keys::compare(&value, other, ty).is_eq();
            let covered = match access::key_values(key, self, cx)? {
                KeyValues::One(other) if other.is_null() || value.is_null() => other.is_null() == value.is_null(),
                KeyValues::One(other) => equals(&other),
                KeyValues::Several(others, _) => !value.is_null() && others.iter().any(equals),
                KeyValues::Never => false,
            };
            if !covered {
                return Ok(false);
            }
        }
        let Some(&Some((column, ty))) = columns.get(equal.len()) else { return Ok(true) };
        if from.is_none() && to.is_none() {
            return Ok(true);
        }
        let value = cx.cell(*row, column)?;
        for (bound, lower) in [(from, true), (to, false)] {
            let Some((bound, inclusive)) = bound else { continue };
            let bound = self.eval(cx, bound, &Tuple::default())?;
            if value.is_null() || bound.is_null() {
                return Ok(false);
            }
            let order = keys::compare(&value, &bound, ty);
            let order = if lower { order } else { order.reverse() };
            if order.is_lt() || (order.is_eq() && !inclusive) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The columns of an index's keys and their types; `None` for expressions, whose conditions stay in the scan's filter.
fn index_columns(catalog: &Catalog, table: Oid, index: Oid) -> Vec<Option<(usize, Type)>> {
    let (Some(RelationKind::Index(index)), Some(table)) =
        (catalog.relation(index).map(|relation| &relation.kind), catalog.table(table))
    else {
        return Vec::new();
    };
    let column = |key: &IndexKeyKind| match key {
        IndexKeyKind::Column(column) => table.columns.get(*column).map(|found| (*column, found.typed.ty)),
        IndexKeyKind::Expr(_) => None,
    };
    index.keys.iter().map(|key| column(&key.what)).collect()
}
