//! The joins of a FROM, taken apart: items, and the conditions between them.

use crate::ir::{Expr, JoinKind, Plan};
use crate::plan::Planner;
use crate::plan::conditions::{Condition, Slots, is_costly, rejects_missing, split};
use crate::plan::map::{Map, Target};
use crate::plan::scan::Size;

/// A part of a FROM that is not taken apart further.
pub(super) struct Item {
    pub(super) plan: Plan,
    /// Its first slot.
    pub(super) first: usize,
    /// How many slots it has.
    pub(super) width: usize,
    /// The slots that it looks at as `up = 1`: it must come after them.
    pub(super) needs: Slots,
    /// Whether it was written as LATERAL: what is around it is one further up already.
    pub(super) lateral: bool,
    /// Conditions on it alone.
    pub(super) conditions: Vec<Expr>,
    /// How many rows it has, these conditions considered.
    pub(super) size: Size,
}

impl Item {
    pub(super) fn slots(&self) -> Slots {
        Slots::range(self.first, self.width)
    }
}

/// A FROM that was taken apart. Slots are those of the whole tuple as it was.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) items: Vec<Item>,
    /// Conditions that have not found their item yet.
    conditions: Vec<Expr>,
    /// Conditions between items.
    pub(super) between: Vec<Condition>,
    /// Conditions that look at no item: they decide about everything at once.
    pub(super) gates: Vec<Expr>,
    /// Conditions that have to be evaluated on each tuple in the end.
    pub(super) last: Vec<Expr>,
}

impl Planner<'_> {
    /// Plans a FROM.
    pub(super) fn tree(&self, plan: Plan) -> (Plan, Option<Map>) {
        match plan {
            Plan::Scan(scan) => (self.scan(scan, Vec::new()), None),
            Plan::Filter { ref input, .. } if matches!(**input, Plan::Scan(_)) => self.joined(plan, Vec::new()),
            plan => {
                let (plan, pulled) = self.pull_up(plan);
                let (plan, moved) = self.joined(plan, Vec::new());
                (
                    plan,
                    match (pulled, moved) {
                        (None, moved) => moved,
                        (pulled, None) => pulled,
                        (Some(pulled), Some(moved)) => Some(pulled.then(|slot| moved.slot(slot))),
                    },
                )
            }
        }
    }

    /// Plans a FROM in which nothing is to be pulled up, with conditions above it.
    pub(super) fn joined(&self, plan: Plan, mut above: Vec<Expr>) -> (Plan, Option<Map>) {
        match plan {
            Plan::Scan(scan) if !above.iter().any(is_gate) => (self.scan(scan, above), None),
            Plan::Filter { input, condition } if matches!(*input, Plan::Scan(_)) => {
                split(condition, &mut above);
                self.single(*input, above)
            }
            plan => self.general(plan, above),
        }
    }

    fn single(&self, plan: Plan, above: Vec<Expr>) -> (Plan, Option<Map>) {
        match plan {
            Plan::Scan(scan) if !above.iter().any(is_gate) => (self.scan(scan, above), None),
            plan => self.general(plan, above),
        }
    }

    fn general(&self, plan: Plan, above: Vec<Expr>) -> (Plan, Option<Map>) {
        let width = width(&plan);
        let mut tree = Tree { conditions: above, ..Tree::default() };
        self.take_apart(plan, 0, &mut tree);
        tree.find_needs();
        tree.sort_conditions(width);
        tree.items.iter_mut().for_each(|item| item.size = self.size(item));
        let (plan, positions) = self.put_together(&mut tree, width);
        let targets = (0..width).map(|slot| Target::Slot(position(slot, &positions))).collect();
        (plan, Map::new(targets, width))
    }

    /// Adds the items of a plan whose tuples begin at this slot.
    fn take_apart(&self, plan: Plan, at: usize, tree: &mut Tree) {
        match plan {
            Plan::Filter { input, mut condition } => {
                condition.map_slots(&mut |slot| slot + at);
                split(condition, &mut tree.conditions);
                self.take_apart(*input, at, tree);
            }
            Plan::Join(mut join) => {
                let (left, right) = join.slots;
                let is_right = |slot: usize| (at + left..at + left + right).contains(&slot);
                let is_left = |slot: usize| (at..at + left).contains(&slot);
                let rejects = |is_missing: &dyn Fn(usize) -> bool| {
                    tree.conditions.iter().any(|condition| rejects_missing(condition, is_missing))
                };
                let inner = match join.kind {
                    JoinKind::Inner => true,
                    // A condition above that is not true without the other side makes it an inner join.
                    JoinKind::Left => rejects(&is_right),
                    JoinKind::Right => rejects(&is_left),
                    JoinKind::Full => false,
                };
                if !inner {
                    return tree.add(Plan::Join(join), at, left + right, false);
                }
                if let Some(mut on) = join.on.take() {
                    on.map_slots(&mut |slot| slot + at);
                    split(on, &mut tree.conditions);
                }
                let lateral = join.lateral;
                self.take_apart(join.left, at, tree);
                if lateral {
                    let mut plan = join.right;
                    plan.map_places(&mut |up, slot| (up, if up == 1 { slot + at } else { slot }));
                    tree.add(plan, at + left, right, true);
                } else {
                    self.take_apart(join.right, at + left, tree);
                }
            }
            Plan::One => {}
            plan => {
                let width = width(&plan);
                tree.add(plan, at, width, false);
            }
        }
    }
}

impl Tree {
    fn add(&mut self, plan: Plan, first: usize, width: usize, lateral: bool) {
        let needs = Slots::default();
        self.items.push(Item { plan, first, width, needs, lateral, conditions: Vec::new(), size: Size::All });
    }

    fn find_needs(&mut self) {
        for item in self.items.iter_mut().filter(|item| item.lateral) {
            let (mut needs, mut looks) = (Slots::default(), false);
            item.plan.outward(&mut |up, slot| {
                if up == 1 {
                    needs = needs.with(slot);
                    looks = true;
                }
            });
            item.needs = needs;
            // It looks at nothing on its left: then nothing is around it.
            if !looks {
                item.plan.map_places(&mut |up, slot| (if up > 1 { up - 1 } else { up }, slot));
                item.lateral = false;
            }
        }
    }

    /// Conditions find the one item that they are about, or are kept for when its items are together.
    fn sort_conditions(&mut self, width: usize) {
        if width > Slots::MOST {
            self.last = std::mem::take(&mut self.conditions);
            return;
        }
        for condition in std::mem::take(&mut self.conditions) {
            let slots = Slots::of(&condition);
            if condition.is_volatile() {
                self.last.push(condition);
            } else if slots.is_empty() {
                self.gates.push(condition);
            } else if let Some(item) = self.items.iter_mut().find(|item| slots.within(item.slots())) {
                item.conditions.push(condition);
            } else {
                self.between.push(Condition::new(condition));
            }
        }
        // What costs more is asked later.
        self.between.sort_by_key(|condition| is_costly(&condition.expr));
    }
}

/// The place of a slot in a tuple whose slots were these.
pub(super) fn position(slot: usize, positions: &[usize]) -> usize {
    positions.iter().position(|known| *known == slot).expect("every slot has its place")
}

/// Whether it looks at no slot, and does not have to be asked for each tuple.
fn is_gate(condition: &Expr) -> bool {
    let mut none = true;
    condition.slots(&mut |_| none = false);
    none && !condition.is_volatile()
}

/// How many slots the tuples of a plan have.
pub(super) fn width(plan: &Plan) -> usize {
    match plan {
        Plan::One => 0,
        Plan::Empty { slots } => *slots,
        Plan::Join(join) => join.slots.0 + join.slots.1,
        Plan::Filter { input, .. }
        | Plan::DistinctOn { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Lock { input, .. }
        | Plan::With { input, .. } => width(input),
        Plan::Limit(limit) => width(&limit.input),
        Plan::Window { input, .. } | Plan::ProjectSet { input, .. } => width(input) + 1,
        Plan::Arrange { slots, .. } => slots.len(),
        _ => 1,
    }
}
