//! What expressions look at, and how that moves when slots or tuples come or go in between.

use super::walk::{Descend, edit, look};
use super::{Expr, ExprKind, Plan};

impl super::Query {
    /// Nothing looks at the result: no cell is read for it, and its order does not matter.
    pub fn without_result(&mut self) {
        if let Plan::Project { input, columns } = &mut self.plan {
            columns.clear();
            self.columns.clear();
            while let Plan::Sort { input: below, .. } = &mut **input {
                **input = std::mem::replace(&mut **below, Plan::One);
            }
        }
    }
}

impl Expr {
    /// The tuple that this very expression looks at: how far up, and which slot of it.
    pub fn place(&self) -> Option<(usize, usize)> {
        match &self.kind {
            ExprKind::Column(column) => Some((column.up, column.slot)),
            ExprKind::Row { up, slot, .. } | ExprKind::System { up, slot, .. } => Some((*up, *slot)),
            _ => None,
        }
    }

    fn place_mut(&mut self) -> Option<(&mut usize, &mut usize)> {
        match &mut self.kind {
            ExprKind::Column(column) => Some((&mut column.up, &mut column.slot)),
            ExprKind::Row { up, slot, .. } | ExprKind::System { up, slot, .. } => Some((up, slot)),
            _ => None,
        }
    }

    /// Whether this expression or one of its parts is such; subqueries are not looked into.
    pub fn any(&self, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
        let mut found = test(self);
        if !found {
            look::parts(self, &mut |part| {
                found = found || part.any(test);
                Ok(())
            })
            .expect("looking does not fail");
        }
        found
    }

    /// Calls with `up` (0 is the tuple that it is evaluated on) and slot of everything that it looks at, except for what
    /// belongs to its own subqueries.
    pub fn outward(&self, see: &mut dyn FnMut(usize, usize)) {
        look::expr(self, 0, &mut |node, depth| Ok(see_place(node, depth, see))).expect("looking does not fail");
    }

    /// Calls with the slots that it looks at of the tuple that it is evaluated on.
    pub fn slots(&self, see: &mut dyn FnMut(usize)) {
        self.outward(&mut |up, slot| {
            if up == 0 {
                see(slot);
            }
        });
    }

    /// Whether it looks at no tuple at all.
    pub fn is_free(&self) -> bool {
        let mut free = true;
        self.outward(&mut |_, _| free = false);
        free
    }

    /// Changes what it looks at: `up` and slot, as [`Expr::outward`] has them.
    pub fn map_places(&mut self, map: &mut dyn FnMut(usize, usize) -> (usize, usize)) {
        edit::expr(self, 0, &mut |node, depth| Ok(move_place(node, depth, map))).expect("moving does not fail");
    }

    /// Changes the slots of the tuple that it is evaluated on.
    pub fn map_slots(&mut self, map: &mut dyn FnMut(usize) -> usize) {
        self.map_places(&mut |up, slot| if up == 0 { (0, map(slot)) } else { (up, slot) });
    }

    /// Puts `by` more tuples between it and what is `from` or further up.
    pub fn lift(&mut self, from: usize, by: usize) {
        if by > 0 {
            self.map_places(&mut |up, slot| (if up >= from { up + by } else { up }, slot));
        }
    }
}

impl Plan {
    /// Calls with `up` and slot of everything that its expressions look at; with `up = 0` what is its own.
    pub fn outward(&self, see: &mut dyn FnMut(usize, usize)) {
        look::plan(self, 0, &mut |node, depth| Ok(see_place(node, depth, see))).expect("looking does not fail");
    }

    /// Changes what its expressions look at; `up = 0` is what is its own.
    pub fn map_places(&mut self, map: &mut dyn FnMut(usize, usize) -> (usize, usize)) {
        edit::plan(self, 0, &mut |node, depth| Ok(move_place(node, depth, map))).expect("moving does not fail");
    }

    /// Puts `by` more tuples between it and what is around it.
    pub fn lift(&mut self, by: usize) {
        if by > 0 {
            self.map_places(&mut |up, slot| (if up > 0 { up + by } else { 0 }, slot));
        }
    }

    /// Whether an expression in it looks at a tuple around.
    pub fn looks_outward(&self) -> bool {
        let mut found = false;
        self.outward(&mut |up, _| found |= up > 0);
        found
    }
}

fn see_place(node: &Expr, depth: usize, see: &mut dyn FnMut(usize, usize)) -> Descend {
    if let Some((up, slot)) = node.place()
        && up >= depth
    {
        see(up - depth, slot);
    }
    Descend::Yes
}

fn move_place(node: &mut Expr, depth: usize, map: &mut dyn FnMut(usize, usize) -> (usize, usize)) -> Descend {
    if let Some((up, slot)) = node.place_mut()
        && *up >= depth
    {
        let (to, at) = map(*up - depth, *slot);
        (*up, *slot) = (to + depth, at);
    }
    Descend::Yes
}
