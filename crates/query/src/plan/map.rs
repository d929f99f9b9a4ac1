//! Where the slots of a tuple are after planning.

use std::sync::Arc;

use crate::ir::walk::{Descend, edit};
use crate::ir::{Expr, ExprKind};

/// For each old slot, what it is now.
#[derive(Clone, Debug)]
pub(super) struct Map {
    targets: Vec<Target>,
    /// How many slots there are now.
    width: usize,
}

/// What an old slot is now.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// This slot.
    Slot(usize),
    /// The columns of a query that was pulled up, over the new slots.
    Values(Arc<Vec<Expr>>),
}

impl Map {
    /// A map, unless nothing moved.
    pub(super) fn new(targets: Vec<Target>, width: usize) -> Option<Map> {
        let same = |(at, target): (usize, &Target)| matches!(target, Target::Slot(slot) if *slot == at);
        let moved = targets.len() != width || !targets.iter().enumerate().all(same);
        moved.then_some(Map { targets, width })
    }

    /// A map.
    pub(super) fn of(targets: Vec<Target>, width: usize) -> Map {
        Map { targets, width }
    }

    /// Everything in its place.
    pub(super) fn identity(width: usize) -> Map {
        Map { targets: (0..width).map(Target::Slot).collect(), width }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Where the row of a slot is. Rows of tables are never pulled up.
    pub(super) fn slot(&self, old: usize) -> usize {
        match &self.targets[old] {
            Target::Slot(slot) => *slot,
            Target::Values(_) => unreachable!("only queries are pulled up"),
        }
    }

    /// One more slot is added at the end of the tuple.
    pub(super) fn with_one_more(mut self) -> Map {
        self.targets.push(Target::Slot(self.width));
        self.width += 1;
        self
    }

    /// And then each slot moves again.
    pub(super) fn then(mut self, mut again: impl FnMut(usize) -> usize) -> Map {
        for target in &mut self.targets {
            match target {
                Target::Slot(slot) => *slot = again(*slot),
                Target::Values(exprs) => {
                    Arc::make_mut(exprs).iter_mut().for_each(|expr| expr.map_slots(&mut again));
                }
            }
        }
        self
    }

    /// The slots of this tuple, then those of another one.
    pub(super) fn beside(mut self, other: Map) -> Map {
        let first = self.width;
        self.width += other.width;
        self.targets.extend(other.then(|slot| slot + first).targets);
        self
    }

    /// The same, where what the other one selects looks at this tuple as the one around.
    pub(super) fn beside_lateral(mut self, other: Map) -> Map {
        let first = self.width;
        self.width += other.width;
        for mut target in other.targets {
            match &mut target {
                Target::Slot(slot) => *slot += first,
                Target::Values(exprs) => Arc::make_mut(exprs).iter_mut().for_each(|expr| {
                    expr.map_places(&mut |up, slot| match up {
                        0 => (0, slot + first),
                        1 => (0, slot),
                        up => (up - 1, slot),
                    });
                }),
            }
            self.targets.push(target);
        }
        self
    }

    /// The other order of the two parts of a tuple; this map is for the tuple with the right part first.
    pub(super) fn swapped(mut self, first: usize) -> Map {
        self.targets.rotate_left(first);
        self
    }

    /// An expression over the old tuple becomes one over the new.
    pub(super) fn apply(&self, expr: &mut Expr) {
        edit::expr(expr, 0, &mut |node, depth| Ok(self.node(node, depth))).expect("moving does not fail");
    }

    pub(super) fn node(&self, node: &mut Expr, depth: usize) -> Descend {
        let Some((up, slot)) = node.place() else { return Descend::Yes };
        if up != depth {
            return Descend::Yes;
        }
        match &self.targets[slot] {
            Target::Slot(new) => set_slot(node, *new),
            Target::Values(exprs) => {
                replace(node, exprs, depth);
                return Descend::No;
            }
        }
        Descend::Yes
    }

    pub(super) fn into_targets(self) -> Vec<Target> {
        self.targets
    }
}

fn set_slot(node: &mut Expr, new: usize) {
    match &mut node.kind {
        ExprKind::Column(column) => column.slot = new,
        ExprKind::Row { slot, .. } | ExprKind::System { slot, .. } => *slot = new,
        _ => unreachable!("only these have a place"),
    }
}

/// A column of a query, or its whole row, becomes what the query selects.
pub(super) fn replace(node: &mut Expr, exprs: &[Expr], depth: usize) {
    let lifted = |expr: &Expr| {
        let mut expr = expr.clone();
        expr.lift(0, depth);
        expr
    };
    match &node.kind {
        ExprKind::Column(column) => {
            let typed = node.typed;
            *node = lifted(&exprs[column.column]);
            // Whoever looks at it knows its type as the query gives it.
            node.typed.modifier = typed.modifier;
        }
        ExprKind::Row { shape, .. } => {
            let fields = exprs.iter().take(shape.fields.len()).map(lifted).collect();
            node.kind = ExprKind::MakeRow { fields, shape: shape.clone() };
        }
        _ => unreachable!("queries have no system columns"),
    }
}
