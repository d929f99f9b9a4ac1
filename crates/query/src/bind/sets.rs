//! Set-returning functions of a select list: which are evaluated together, and the slots that their values are in.

use crate::bind::block::SETS;
use crate::ir::walk::{Descend, edit};
use crate::ir::{ColumnRef, Expr, ExprKind, Plan};
use crate::types::Datum;

/// Calls in layers: the arguments of a layer are in the layers below. Each layer is one more slot of the tuple.
pub(super) struct SetLayers {
    layers: Vec<Vec<Expr>>,
    /// The layer of each call, and its place in it; `None` for a call that is evaluated at another time.
    places: Vec<Option<(usize, usize)>>,
    first_slot: usize,
}

impl SetLayers {
    /// Takes the calls out of `sets` that are `chosen`.
    pub(super) fn take(sets: &mut [Expr], chosen: &[bool], first_slot: usize) -> SetLayers {
        let mut taken = SetLayers { layers: Vec::new(), places: Vec::with_capacity(sets.len()), first_slot };
        for (call, chosen) in sets.iter_mut().zip(chosen) {
            if !chosen {
                taken.places.push(None);
                continue;
            }
            let null = Expr { kind: ExprKind::Const(Datum::Null), typed: call.typed };
            let mut call = std::mem::replace(call, null);
            let mut layer = 0;
            each_column(&mut call, &mut |column| {
                if column.slot == SETS
                    && let Some((below, _)) = taken.places[column.column]
                {
                    layer = layer.max(below + 1);
                }
            });
            taken.place(&mut call);
            if taken.layers.len() <= layer {
                taken.layers.push(Vec::new());
            }
            taken.layers[layer].push(call);
            taken.places.push(Some((layer, taken.layers[layer].len() - 1)));
        }
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Columns that stand for the calls become columns of their slots.
    pub(super) fn place(&self, expr: &mut Expr) {
        each_column(expr, &mut |column| {
            if column.slot == SETS
                && let Some((layer, at)) = self.places[column.column]
            {
                (column.slot, column.column) = (self.first_slot + layer, at);
            }
        });
    }

    /// The plan that evaluates the calls for each tuple of `input`.
    pub(super) fn over(self, input: Plan) -> Plan {
        self.layers.into_iter().fold(input, |input, calls| Plan::ProjectSet { input: Box::new(input), calls })
    }
}

/// Which calls the expressions need, for themselves or for the arguments of others.
pub(super) fn needed<'e>(sets: &mut [Expr], exprs: impl Iterator<Item = &'e mut Expr>) -> Vec<bool> {
    let mut needed = vec![false; sets.len()];
    let note = |expr: &mut Expr, needed: &mut Vec<bool>| {
        each_column(expr, &mut |column| {
            if column.slot == SETS {
                needed[column.column] = true;
            }
        });
    };
    exprs.for_each(|expr| note(expr, &mut needed));
    for at in (0..sets.len()).rev() {
        if needed[at] {
            note(&mut sets[at], &mut needed);
        }
    }
    needed
}

/// The rows of a VALUES list as a plan; a single row with set-returning functions becomes as many rows as they return.
pub(super) fn rows_of_sets(mut rows: Vec<Vec<Expr>>, mut sets: Vec<Expr>) -> Plan {
    let chosen = vec![true; sets.len()];
    let layers = SetLayers::take(&mut sets, &chosen, 0);
    if layers.is_empty() {
        return Plan::Values(rows);
    }
    let mut columns = rows.pop().unwrap_or_default();
    columns.iter_mut().for_each(|column| layers.place(column));
    Plan::Project { input: Box::new(layers.over(Plan::One)), columns }
}

pub(super) fn has_sets(expr: &Expr) -> bool {
    expr.any(&mut |part| part.place() == Some((0, SETS)))
}

/// Changes the columns of this query's tuple.
pub(super) fn each_column(expr: &mut Expr, change: &mut dyn FnMut(&mut ColumnRef)) {
    edit::expr(expr, 0, &mut |node, depth| {
        if let ExprKind::Column(column) = &mut node.kind
            && column.up == depth
        {
            change(column);
        }
        Ok(Descend::Yes)
    })
    .expect("changing a column does not fail");
}
