//! Outer joins: conditions go to the side that they are about, if that side is kept whole.

use crate::ir::{Access, Expr, Join, JoinKind, Plan, Scan};
use crate::plan::Planner;
use crate::plan::conditions::{Slots, all_of, equality, split};
use crate::plan::map::Map;
use crate::plan::order::{each_value, filtered};
use crate::plan::tree::width;

impl Planner<'_> {
    /// An outer join with conditions above it, over the slots of both sides.
    pub(super) fn outer(&self, mut join: Join, conditions: Vec<Expr>) -> (Plan, Option<Map>) {
        if join.slots.0 + join.slots.1 > Slots::MOST {
            return self.whole(join, conditions);
        }
        match join.kind {
            JoinKind::Right if !join.lateral => {
                // The other way round it is a left join.
                let (left, right) = join.slots;
                let swap = |slot: usize| if slot < left { slot + right } else { slot - left };
                let mut conditions = conditions;
                conditions.iter_mut().chain(&mut join.on).for_each(|expr| expr.map_slots(&mut |slot| swap(slot)));
                let turned = Join {
                    kind: JoinKind::Left,
                    left: join.right,
                    right: join.left,
                    on: join.on,
                    lateral: false,
                    slots: (right, left),
                    equal: Vec::new(),
                };
                let (plan, map) = self.outer(turned, conditions);
                let map = map.unwrap_or_else(|| Map::identity(left + right)).swapped(right);
                let width = map.width();
                (plan, Map::new(map.into_targets(), width))
            }
            JoinKind::Left => self.left_join(join, conditions),
            _ => self.whole(join, conditions),
        }
    }

    /// FULL JOIN: nothing goes below it.
    fn whole(&self, mut join: Join, conditions: Vec<Expr>) -> (Plan, Option<Map>) {
        if join.lateral {
            // What it looks at must stay where it is.
            return (filtered(Plan::Join(Box::new(join)), conditions), None);
        }
        let (left, left_map) = self.joined(join.left, Vec::new());
        let (right, right_map) = self.joined(join.right, Vec::new());
        (join.left, join.right) = (left, right);
        let map = together(left_map, right_map, join.slots);
        let mut conditions = conditions;
        if let Some(map) = &map {
            conditions.iter_mut().chain(&mut join.on).for_each(|expr| map.apply(expr));
        }
        join.slots = (width(&join.left), width(&join.right));
        if !join.lateral && join.slots.0 + join.slots.1 <= Slots::MOST {
            let mut on = Vec::new();
            join.on.take().into_iter().for_each(|condition| split(condition, &mut on));
            hash(&mut join, on);
        }
        (filtered(Plan::Join(Box::new(join)), conditions), map)
    }

    fn left_join(&self, mut join: Join, conditions: Vec<Expr>) -> (Plan, Option<Map>) {
        let (left_width, right_width) = join.slots;
        let left_slots = Slots::range(0, left_width);
        let right_slots = Slots::range(left_width, right_width);
        // Conditions above that are about the left side alone can be asked before.
        let goes_left = |condition: &Expr| Slots::of(condition).within(left_slots) && !condition.is_volatile();
        let (for_left, mut above): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(goes_left);
        let mut on = Vec::new();
        join.on.take().into_iter().for_each(|condition| split(condition, &mut on));
        let is_right = |condition: &Expr| {
            let slots = Slots::of(condition);
            !slots.is_empty() && slots.within(right_slots) && !condition.is_volatile()
        };
        let (mut for_right, mut on): (Vec<Expr>, Vec<Expr>) = on.into_iter().partition(is_right);
        let lift = usize::from(join.lateral);
        for condition in &mut for_right {
            condition.map_places(&mut |up, slot| if up == 0 { (0, slot - left_width) } else { (up + lift, slot) });
        }
        let (left, left_map) = self.joined(join.left, for_left);
        let left_map = left_map.unwrap_or_else(|| Map::identity(left_width));
        // Only the left side has moved so far.
        let so_far = left_map.clone().beside(Map::identity(right_width));
        on.iter_mut().for_each(|condition| so_far.apply(condition));
        let new_left = left_map.width();
        let (right, right_map) = if join.lateral {
            let mut right = join.right;
            let around = |node: &mut Expr, depth: usize| {
                Ok(match node.place() {
                    Some((up, _)) if up == depth + 1 => left_map.node(node, depth + 1),
                    _ => crate::ir::walk::Descend::Yes,
                })
            };
            let mut around = around;
            crate::ir::walk::edit::plan(&mut right, 0, &mut around).expect("moving does not fail");
            self.joined(right, for_right)
        } else if let Some(lookup) = self.left_lookup(&join.right, &for_right, &mut on, new_left) {
            join.lateral = true;
            (lookup, None)
        } else {
            self.joined(join.right, for_right)
        };
        let right_map = right_map.unwrap_or_else(|| Map::identity(right_width));
        let both = Map::identity(new_left).beside(right_map.clone());
        on.iter_mut().for_each(|condition| both.apply(condition));
        let map = left_map.beside(right_map);
        above.iter_mut().for_each(|condition| map.apply(condition));
        let slots = (new_left, map.width() - new_left);
        let mut planned =
            Join { kind: JoinKind::Left, left, right, on: None, lateral: join.lateral, slots, equal: Vec::new() };
        if planned.lateral {
            planned.on = all_of(on);
        } else {
            hash(&mut planned, on);
        }
        let width = map.width();
        (filtered(Plan::Join(Box::new(planned)), above), Map::new(map.into_targets(), width))
    }

    /// The right side looked up by an index, if an equality with the left side leads to one. The conditions that it
    /// takes are removed from `on`, whose slots are those of the new left side and then the right one.
    fn left_lookup(&self, right: &Plan, own: &[Expr], on: &mut Vec<Expr>, left_width: usize) -> Option<Plan> {
        let left = Slots::range(0, left_width);
        let is_link = |condition: &Expr| {
            let Some((a, b)) = equality(condition) else { return false };
            let row = Slots::default().with(left_width);
            let (a, b) = (Slots::of(a), Slots::of(b));
            (a == row && !b.is_empty() && b.within(left)) || (b == row && !a.is_empty() && a.within(left))
        };
        let mut all: Vec<Expr> = on.iter().filter(|condition| is_link(condition)).cloned().collect();
        let links = all.len();
        if links == 0 {
            return None;
        }
        // Conditions of the right side alone look at its row as slot 0.
        all.extend(own.iter().cloned().map(|mut condition| {
            condition.map_slots(&mut |slot| slot + left_width);
            condition
        }));
        let inside = |expr: &mut Expr| {
            expr.map_places(&mut |up, slot| match (up, slot) {
                (0, slot) if slot == left_width => (0, 0),
                (0, slot) => (1, slot),
                (up, slot) => (up + 1, slot),
            });
        };
        if let Plan::Subquery(query) = right {
            all.iter_mut().for_each(inside);
            let plan = self.through(query, &all)?;
            on.retain(|condition| !is_link(condition));
            return Some(plan);
        }
        let Plan::Scan(Scan { table, access: Access::All, filter: None, .. }) = right else { return None };
        let choice = self.choose(*table, left_width, &all.iter().collect::<Vec<_>>())?;
        if !choice.used.iter().any(|used| *used < links) {
            return None;
        }
        on.retain(|condition| !is_link(condition));
        let mut access = choice.access;
        each_value(&mut access, inside);
        let mut settled = choice.settled.into_iter();
        all.retain(|_| !settled.next().expect("one for each condition"));
        all.iter_mut().for_each(inside);
        Some(Plan::Scan(Scan { table: *table, access, filter: all_of(all), reverse: false, seeks: false }))
    }
}

/// Equalities between the sides become keys of a hash table, the other conditions stay.
fn hash(join: &mut Join, conditions: Vec<Expr>) {
    let left_width = join.slots.0;
    let left = Slots::range(0, left_width);
    let right = Slots::range(left_width, join.slots.1);
    let mut rest = Vec::new();
    for condition in conditions {
        let sides = equality(&condition).map(|(a, b)| (a, b, Slots::of(a), Slots::of(b)));
        let pair = match sides {
            _ if condition.is_volatile() => None,
            Some((a, b, x, y)) if !x.is_empty() && x.within(left) && !y.is_empty() && y.within(right) => Some((a, b)),
            Some((a, b, x, y)) if !y.is_empty() && y.within(left) && !x.is_empty() && x.within(right) => Some((b, a)),
            _ => None,
        };
        match pair {
            Some((a, b)) => {
                let (a, mut b) = (a.clone(), b.clone());
                b.map_slots(&mut |slot| slot - left_width);
                join.equal.push((a, b));
            }
            None => rest.push(condition),
        }
    }
    join.on = all_of(rest);
}

fn together(left: Option<Map>, right: Option<Map>, (left_width, right_width): (usize, usize)) -> Option<Map> {
    if left.is_none() && right.is_none() {
        return None;
    }
    let left = left.unwrap_or_else(|| Map::identity(left_width));
    Some(left.beside(right.unwrap_or_else(|| Map::identity(right_width))))
}
