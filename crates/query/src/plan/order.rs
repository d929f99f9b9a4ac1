//! The items of a FROM, put together: those first that few rows come from, each next to what it is equal with.

use crate::ir::{Access, Expr, Join, JoinKind, Plan, Scan};
use crate::plan::Planner;
use crate::plan::conditions::{Condition, Slots, all_of, equality};
use crate::plan::map::Map;
use crate::plan::scan::{Choice, Size};
use crate::plan::tree::{Item, Tree, position};
use crate::types::Datum;

/// What was put together so far.
struct Built {
    plan: Plan,
    /// The numbers of its slots, in their order.
    positions: Vec<usize>,
    slots: Slots,
    size: Size,
}

/// How an item is joined with what is there already. Better ones first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Link {
    /// A lookup that finds at most one row.
    One,
    /// A lookup in an index.
    Lookup,
    /// It has few rows of its own.
    Small,
    /// By a hash table of its rows.
    Hash(Size),
    /// Nothing connects them.
    None(Size),
}

impl Planner<'_> {
    /// One plan of all items, and the numbers of its slots.
    pub(super) fn put_together(&self, tree: &mut Tree, width: usize) -> (Plan, Vec<usize>) {
        let mut items = std::mem::take(&mut tree.items);
        let mut conditions = std::mem::take(&mut tree.between);
        let mut built: Option<Built> = None;
        let reorder = width <= Slots::MOST;
        while !items.is_empty() {
            let at = if reorder { self.next_item(&items, built.as_ref(), &conditions) } else { 0 };
            let item = items.remove(at);
            built = Some(match built {
                None => self.first(item),
                Some(left) => self.attach(left, item, &mut conditions),
            });
        }
        let Built { mut plan, positions, .. } =
            built.unwrap_or(Built { plan: Plan::One, positions: Vec::new(), slots: Slots::default(), size: Size::One });
        let mut last: Vec<Expr> = conditions.into_iter().map(|condition| condition.expr).collect();
        last.append(&mut tree.last);
        last.iter_mut().for_each(|condition| condition.map_slots(&mut |slot| position(slot, &positions)));
        if let Some(condition) = all_of(last) {
            plan = Plan::Filter { input: Box::new(plan), condition };
        }
        (gated(plan, std::mem::take(&mut tree.gates), positions.len()), positions)
    }

    /// Which item comes next.
    fn next_item(&self, items: &[Item], built: Option<&Built>, conditions: &[Condition]) -> usize {
        let placed = built.map_or(Slots::default(), |built| built.slots);
        let mut best: Option<(Link, usize)> = None;
        for (at, item) in items.iter().enumerate() {
            if !item.needs.within(placed) {
                continue;
            }
            let link = match built {
                None => Link::None(item.size),
                Some(_) => self.link(item, placed, conditions),
            };
            if best.as_ref().is_none_or(|(known, _)| link < *known) {
                best = Some((link, at));
            }
        }
        // An item that needs what comes after it cannot be: they are in the order in which they were written.
        best.map_or(0, |(_, at)| at)
    }

    fn link(&self, item: &Item, placed: Slots, conditions: &[Condition]) -> Link {
        let own = item.slots();
        let links: Vec<&Expr> = conditions
            .iter()
            .filter(|condition| condition.connects(own, placed))
            .map(|condition| &condition.expr)
            .collect();
        if links.is_empty() {
            return if item.size == Size::One { Link::Small } else { Link::None(item.size) };
        }
        if let Some(choice) = self.lookup(item, &links) {
            return if choice.size == Size::One { Link::One } else { Link::Lookup };
        }
        if item.size <= Size::Few { Link::Small } else { Link::Hash(item.size) }
    }

    /// How many rows an item has, its own conditions considered.
    pub(super) fn size(&self, item: &Item) -> Size {
        match &item.plan {
            Plan::Scan(scan) => {
                match self.choose(scan.table, item.first, &item.conditions.iter().collect::<Vec<_>>()) {
                    Some(choice) => choice.size,
                    None if item.conditions.is_empty() => Size::All,
                    None => Size::Some,
                }
            }
            Plan::Function(_) | Plan::Values(_) => Size::Few,
            // What a query or a recursion gives is not known to be much.
            Plan::Subquery(_) | Plan::Cte { .. } => Size::Some,
            _ if item.conditions.is_empty() => Size::All,
            _ => Size::Some,
        }
    }

    /// An access path that uses equalities with items that are there already.
    fn lookup(&self, item: &Item, links: &[&Expr]) -> Option<Choice> {
        let Plan::Scan(Scan { table, access: Access::All, .. }) = &item.plan else { return None };
        let both: Vec<&Expr> = links.iter().copied().chain(&item.conditions).collect();
        let choice = self.choose(*table, item.first, &both)?;
        choice.used.iter().any(|used| *used < links.len()).then_some(choice)
    }

    fn first(&self, item: Item) -> Built {
        let size = item.size;
        let (slots, positions) = (item.slots(), (item.first..item.first + item.width).collect());
        let (first, width) = (item.first, item.width);
        let conditions = relative(item.conditions, first, width, 0);
        let (plan, moved) = self.leaf(item.plan, conditions);
        Built { plan, positions: arranged(positions, moved), slots, size }
    }

    /// Joins one more item.
    fn attach(&self, left: Built, item: Item, conditions: &mut Vec<Condition>) -> Built {
        let own = item.slots();
        let all = left.slots.and(own);
        let (mine, others): (Vec<Condition>, Vec<Condition>) =
            conditions.drain(..).partition(|condition| condition.slots.within(all));
        *conditions = others;
        let (links, rest): (Vec<Condition>, Vec<Condition>) =
            mine.into_iter().partition(|condition| condition.connects(own, left.slots));
        let plain =
            |conditions: Vec<Condition>| conditions.into_iter().map(|condition| condition.expr).collect::<Vec<_>>();
        let (links, mut rest) = (plain(links), plain(rest));
        if item.lateral {
            rest.extend(links);
            return self.attach_lateral(left, item, rest);
        }
        // All rows of both sides are wanted: a hash table reads each once.
        let is_whole = left.size == Size::All && item.size == Size::All;
        if !is_whole && let Some(choice) = self.lookup(&item, &links.iter().collect::<Vec<_>>()) {
            return self.attach_lookup(left, item, rest, links, choice);
        }
        if left.size < Size::All
            && !links.is_empty()
            && let Plan::Subquery(query) = &item.plan
        {
            let mut inside: Vec<Expr> = links.iter().chain(&item.conditions).cloned().collect();
            inside.iter_mut().for_each(|condition| into_lateral(condition, item.first, &left.positions));
            if let Some(plan) = self.through(query, &inside) {
                let size = left.size.max(Size::Few);
                return join(left, plan, vec![item.first], rest, true, Vec::new(), size);
            }
        }
        self.attach_hash(left, item, links, rest)
    }

    /// The right side is looked up by an index for each tuple of the left one.
    fn attach_lookup(&self, left: Built, item: Item, rest: Vec<Expr>, links: Vec<Expr>, choice: Choice) -> Built {
        let Item { plan: Plan::Scan(mut scan), first, conditions: own, .. } = item else {
            unreachable!("lookups are in tables")
        };
        let inside = |expr: &mut Expr| into_lateral(expr, first, &left.positions);
        scan.access = choice.access;
        each_value(&mut scan.access, inside);
        let mut filter: Vec<Expr> = links.into_iter().chain(own).collect();
        let mut settled = choice.settled.into_iter();
        filter.retain(|_| !settled.next().expect("one for each condition"));
        filter.iter_mut().for_each(inside);
        scan.filter = all_of(filter);
        let size = if choice.size == Size::One { left.size } else { left.size.max(Size::Few) };
        join(left, Plan::Scan(scan), vec![first], rest, true, Vec::new(), size)
    }

    fn attach_lateral(&self, left: Built, mut item: Item, mine: Vec<Expr>) -> Built {
        let (first, width) = (item.first, item.width);
        item.plan.map_places(&mut |up, slot| (up, if up == 1 { position(slot, &left.positions) } else { slot }));
        let conditions = relative(item.conditions, first, width, 1);
        let (plan, moved) = self.leaf(item.plan, conditions);
        let numbers = arranged((first..first + width).collect(), moved);
        let size = left.size.max(Size::Some);
        join(left, plan, numbers, mine, true, Vec::new(), size)
    }

    fn attach_hash(&self, left: Built, item: Item, links: Vec<Expr>, mut rest: Vec<Expr>) -> Built {
        let (first, width, own) = (item.first, item.width, item.size);
        let conditions = relative(item.conditions, first, width, 0);
        let (plan, moved) = self.leaf(item.plan, conditions);
        let numbers = arranged((first..first + width).collect(), moved);
        let mut equal = Vec::with_capacity(links.len());
        for link in links {
            let Some((a, b)) = equality(&link) else {
                rest.push(link);
                continue;
            };
            let (mut a, mut b) = (a.clone(), b.clone());
            if !Slots::of(&a).within(left.slots) {
                std::mem::swap(&mut a, &mut b);
            }
            a.map_slots(&mut |slot| position(slot, &left.positions));
            b.map_slots(&mut |slot| position(slot, &numbers));
            equal.push((a, b));
        }
        let size = left.size.max(own);
        join(left, plan, numbers, rest, false, equal, size)
    }

    /// An item alone, with conditions over its own slots; tells how its slots moved.
    pub(super) fn leaf(&self, plan: Plan, conditions: Vec<Expr>) -> (Plan, Option<Map>) {
        match plan {
            Plan::Scan(scan) => (self.scan(scan, conditions), None),
            Plan::Join(join) => self.outer(*join, conditions),
            Plan::Subquery(query) => (self.query_in_from(*query, conditions), None),
            mut plan => {
                let map = self.node_below(&mut plan);
                debug_assert!(map.is_none(), "an item of one slot keeps it");
                (filtered(plan, conditions), None)
            }
        }
    }

    /// Items that have plans of their own below them.
    fn node_below(&self, plan: &mut Plan) -> Option<Map> {
        match plan {
            Plan::Function(_)
            | Plan::Values(_)
            | Plan::Virtual(_)
            | Plan::Stored(_)
            | Plan::Cte { .. }
            | Plan::One
            | Plan::Empty { .. } => None,
            other => self.node(other),
        }
    }
}

/// The condition, over the whole tuple of a plan.
pub(super) fn filtered(plan: Plan, conditions: Vec<Expr>) -> Plan {
    match all_of(conditions) {
        Some(condition) => Plan::Filter { input: Box::new(plan), condition },
        None => plan,
    }
}

/// An expression moves into the lateral side, whose only slot is `own`; the others are those of the left side.
fn into_lateral(expr: &mut Expr, own: usize, left: &[usize]) {
    expr.map_places(&mut |up, slot| match (up, slot) {
        (0, slot) if slot == own => (0, 0),
        (0, slot) => (1, position(slot, left)),
        (up, slot) => (up + 1, slot),
    });
}

/// Conditions over numbers become conditions over an item's own slots, `lift` tuples further in.
fn relative(conditions: Vec<Expr>, first: usize, width: usize, lift: usize) -> Vec<Expr> {
    let shift = |mut condition: Expr| {
        condition.map_places(&mut |up, slot| match up {
            0 => {
                debug_assert!((first..first + width).contains(&slot), "the condition is about this item alone");
                (0, slot - first)
            }
            up => (up + lift, slot),
        });
        condition
    };
    conditions.into_iter().map(shift).collect()
}

/// The numbers of an item's slots after they moved.
fn arranged(numbers: Vec<usize>, moved: Option<Map>) -> Vec<usize> {
    let Some(map) = moved else { return numbers };
    let mut placed = vec![usize::MAX; map.width()];
    for (old, number) in numbers.into_iter().enumerate() {
        placed[map.slot(old)] = number;
    }
    placed
}

fn join(
    left: Built,
    right: Plan,
    numbers: Vec<usize>,
    on: Vec<Expr>,
    lateral: bool,
    equal: Vec<(Expr, Expr)>,
    size: Size,
) -> Built {
    let slots = (left.positions.len(), numbers.len());
    let mut positions = left.positions;
    let all = numbers.iter().fold(left.slots, |slots, number| slots.with(*number));
    positions.extend(numbers);
    let mut on = on;
    on.iter_mut().for_each(|condition| condition.map_slots(&mut |slot| position(slot, &positions)));
    let join = Join { kind: JoinKind::Inner, left: left.plan, right, on: all_of(on), lateral, slots, equal };
    Built { plan: Plan::Join(Box::new(join)), positions, slots: all, size }
}

/// Calls with every value of an access path.
pub(super) fn each_value(access: &mut Access, change: impl Fn(&mut Expr)) {
    use crate::ir::KeyValue;
    let Access::Index { equal, from, to, .. } = access else { return };
    for value in equal {
        match value {
            KeyValue::One(value) | KeyValue::Array(value) => change(value),
            KeyValue::Any(values) => values.iter_mut().for_each(&change),
            KeyValue::Null => {}
        }
    }
    from.iter_mut().chain(to).for_each(|(bound, _)| change(bound));
}

/// Conditions that look at no row are asked once, before any row is.
fn gated(plan: Plan, gates: Vec<Expr>, width: usize) -> Plan {
    use crate::ir::ExprKind;
    if gates.is_empty() {
        return plan;
    }
    let is_false = |gate: &Expr| matches!(gate.kind, ExprKind::Const(Datum::Bool(false) | Datum::Null));
    if gates.iter().any(is_false) {
        return Plan::Empty { slots: width };
    }
    let gate = filtered(Plan::One, gates);
    if let Plan::One = plan {
        return gate;
    }
    let join = Join {
        kind: JoinKind::Inner,
        left: gate,
        right: plan,
        on: None,
        lateral: false,
        slots: (0, width),
        equal: Vec::new(),
    };
    Plan::Join(Box::new(join))
}
