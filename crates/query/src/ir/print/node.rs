//! Plans as text.

use super::{Printer, Slot};
use crate::ir::{
    Access, Aggregate, AggregateCall, Frame, FrameBound, FrameExclude, FrameMode, FunctionScan, Join, JoinKind,
    KeyValue, Limit, LockStrength, LockWait, Plan, RowLock, Scan, SetKind, SortKey, Stored, WindowCall,
};

impl Printer<'_> {
    pub(super) fn plan(&mut self, plan: &Plan, indent: usize) {
        match plan {
            Plan::One => self.line(indent, "One"),
            Plan::Empty { .. } => self.line(indent, "Empty"),
            Plan::Scan(scan) => self.scan(scan, indent),
            Plan::Stored(stored) => {
                if let Stored::View(view) = **stored {
                    self.line(indent, format!("View {view}"));
                }
                crate::ir::subplans(plan, &mut |below| self.plan(below, indent));
            }
            Plan::Virtual(table) => self.line(indent, format!("Scan {}.{}", table.schema, table.name)),
            Plan::Values(rows) => self.values(rows, indent),
            Plan::Subquery(query) => {
                self.line(indent, "Query");
                self.plan(&query.plan, indent + 1);
            }
            Plan::Function(scan) => self.function_scan(scan, indent),
            Plan::Cte { cte } => {
                let slot = self.cte_slot(*cte);
                self.line(indent, format!("Scan {}", slot.name));
            }
            Plan::Join(join) => self.join(join, indent),
            Plan::Filter { input, condition } => {
                let slots = self.slots(input);
                let condition = self.over(&slots, condition);
                self.line(indent, format!("Filter {condition}"));
                self.plan(input, indent + 1);
            }
            Plan::Aggregate(aggregate) => self.aggregate(aggregate, indent),
            Plan::Window { input, calls } => {
                let slots = self.slots(input);
                let calls: Vec<String> = calls.iter().map(|call| self.window_call(&slots, call)).collect();
                self.line(indent, format!("Window {}", calls.join(", ")));
                self.plan(input, indent + 1);
            }
            Plan::ProjectSet { input, calls } => self.over_input("ProjectSet", calls, input, indent),
            Plan::Project { input, columns } => self.over_input("Project", columns, input, indent),
            Plan::Distinct(input) => {
                self.line(indent, "Distinct");
                self.plan(input, indent + 1);
            }
            Plan::DistinctOn { input, keys } => self.over_input("DistinctOn", keys, input, indent),
            Plan::Sort { input, keys } => {
                let slots = self.slots(input);
                let keys = self.sort_keys(&slots, keys);
                self.line(indent, format!("Sort {keys}"));
                self.plan(input, indent + 1);
            }
            Plan::Limit(limit) => self.limit(limit, indent),
            Plan::SetOperation { kind, all, left, right } => {
                let name = match kind {
                    SetKind::Union => "Union",
                    SetKind::Intersect => "Intersect",
                    SetKind::Except => "Except",
                };
                self.line(indent, format!("{name}{}", if *all { " all" } else { "" }));
                self.plan(left, indent + 1);
                self.plan(right, indent + 1);
            }
            Plan::Lock { input, locks } => {
                let slots = self.slots(input);
                let locks: Vec<String> = locks.iter().map(|lock| row_lock(&slots, lock)).collect();
                self.line(indent, format!("Lock {}", locks.join("; ")));
                self.plan(input, indent + 1);
            }
            Plan::Arrange { input, slots } => {
                let names = self.slots(input);
                let order: Vec<&str> =
                    slots.iter().map(|slot| names.get(*slot).map_or("?", |slot| &slot.name)).collect();
                self.line(indent, format!("Arrange {}", order.join(", ")));
                self.plan(input, indent + 1);
            }
            Plan::With { ctes, input } => {
                self.line(indent, "With");
                for cte in ctes {
                    self.learn_cte(cte);
                    self.line(indent + 1, format!("{} :=", cte.name));
                    self.plan(&cte.query.plan, indent + 2);
                    if let Some((recursive, distinct)) = &cte.recursive {
                        self.line(indent + 1, if *distinct { "repeat, distinct" } else { "repeat" });
                        self.plan(&recursive.plan, indent + 2);
                    }
                }
                self.plan(input, indent + 1);
            }
            Plan::Change(change) => self.change(change, indent),
        }
    }

    fn over_input(&mut self, what: &str, exprs: &[crate::ir::Expr], input: &Plan, indent: usize) {
        let slots = self.slots(input);
        let exprs = self.over_all(&slots, exprs);
        self.line(indent, format!("{what} {exprs}").trim_end());
        self.plan(input, indent + 1);
    }

    fn scan(&mut self, scan: &Scan, indent: usize) {
        let slots = vec![self.relation_slot(scan.table)];
        let access = match &scan.access {
            Access::All => String::new(),
            Access::Index { index, equal, from, to } => {
                let mut keys: Vec<String> = equal.iter().map(|value| self.key_value(value)).collect();
                let from = from.as_ref().map(|(bound, inclusive)| (bound, if *inclusive { ">=" } else { ">" }));
                let to = to.as_ref().map(|(bound, inclusive)| (bound, if *inclusive { "<=" } else { "<" }));
                for (bound, sign) in from.into_iter().chain(to) {
                    let bound = self.over(&[], bound);
                    keys.push(format!("{sign} {bound}"));
                }
                format!(" by {} ({})", self.relation_name(*index), keys.join(", "))
            }
        };
        let access = if scan.reverse { format!("{access} backwards") } else { access };
        let filter = scan.filter.as_ref().map(|filter| format!(" where {}", self.over(&slots, filter)));
        self.line(indent, format!("Scan {}{access}{}", slots[0].name, filter.unwrap_or_default()));
    }

    fn key_value(&mut self, value: &KeyValue) -> String {
        match value {
            KeyValue::One(value) => format!("= {}", self.over(&[], value)),
            KeyValue::Any(values) => format!("in ({})", self.over_all(&[], values)),
            KeyValue::Array(array) => format!("= any({})", self.over(&[], array)),
            KeyValue::Null => "is null".to_owned(),
        }
    }

    fn values(&mut self, rows: &[Vec<crate::ir::Expr>], indent: usize) {
        let rows: Vec<String> = rows.iter().map(|row| format!("({})", self.over_all(&[], row))).collect();
        self.line(indent, format!("Values {}", rows.join(", ")));
    }

    fn function_scan(&mut self, scan: &FunctionScan, indent: usize) {
        let calls = self.over_all(&[], scan.calls.iter().map(|call| &call.call));
        let ordinality = if scan.ordinality { " with ordinality" } else { "" };
        self.line(indent, format!("Function {calls}{ordinality}"));
    }

    fn join(&mut self, join: &Join, indent: usize) {
        let kind = match join.kind {
            JoinKind::Inner => "Join",
            JoinKind::Left => "Left join",
            JoinKind::Right => "Right join",
            JoinKind::Full => "Full join",
        };
        let (left, right) = (self.slots(&join.left), self.slots(&join.right));
        let both: Vec<Slot> = {
            let mut both = left.clone();
            both.extend(right.iter().cloned());
            rename_twins(&mut both);
            both
        };
        let mut text = format!("{kind}{}", if join.lateral { " lateral" } else { "" });
        if !join.equal.is_empty() {
            let pairs: Vec<String> =
                join.equal.iter().map(|(a, b)| format!("{} = {}", self.over(&left, a), self.over(&right, b))).collect();
            text.push_str(&format!(" hash ({})", pairs.join(", ")));
        }
        if let Some(on) = &join.on {
            text.push_str(&format!(" on {}", self.over(&both, on)));
        }
        self.line(indent, text);
        self.plan(&join.left, indent + 1);
        if join.lateral {
            self.tuples.push(left);
        }
        self.plan(&join.right, indent + 1);
        if join.lateral {
            self.tuples.pop();
        }
    }

    fn aggregate(&mut self, aggregate: &Aggregate, indent: usize) {
        let slots = self.slots(&aggregate.input);
        let keys = self.over_all(&slots, &aggregate.keys);
        let calls: Vec<String> = aggregate.calls.iter().map(|call| self.aggregate_call(&slots, call)).collect();
        let mut text = format!("Aggregate {}", calls.join(", "));
        if !keys.is_empty() {
            text.push_str(&format!(" by {keys}"));
        }
        if aggregate.sets.len() > 1 || aggregate.sets.first().is_some_and(|set| set.len() != aggregate.keys.len()) {
            let sets: Vec<String> = aggregate.sets.iter().map(|set| format!("{set:?}")).collect();
            text.push_str(&format!(" sets {}", sets.join(" ")));
        }
        if !aggregate.grouping.is_empty() {
            text.push_str(&format!(" grouping {:?}", aggregate.grouping));
        }
        self.line(indent, text.trim_end());
        self.plan(&aggregate.input, indent + 1);
    }

    fn aggregate_call(&mut self, slots: &[Slot], call: &AggregateCall) -> String {
        let args = if call.args.is_empty() { "*".to_owned() } else { self.over_all(slots, &call.args) };
        let mut text = format!("{}({}{args}", call.function.name, if call.distinct { "distinct " } else { "" });
        if !call.order.is_empty() {
            text.push_str(&format!(" order by {}", self.sort_keys(slots, &call.order)));
        }
        text.push(')');
        if let Some(filter) = &call.filter {
            text.push_str(&format!(" filter ({})", self.over(slots, filter)));
        }
        text
    }

    fn window_call(&mut self, slots: &[Slot], call: &WindowCall) -> String {
        let mut over = Vec::new();
        if !call.partition.is_empty() {
            over.push(format!("partition by {}", self.over_all(slots, &call.partition)));
        }
        if !call.order.is_empty() {
            over.push(format!("order by {}", self.sort_keys(slots, &call.order)));
        }
        over.extend(self.frame(slots, &call.frame));
        let filter = call.filter.as_ref().map(|filter| format!(" filter ({})", self.over(slots, filter)));
        let args = self.over_all(slots, &call.args);
        format!("{}({args}){} over ({})", call.function.name, filter.unwrap_or_default(), over.join(" "))
    }

    /// Nothing for the frame that is meant when none is written.
    fn frame(&mut self, slots: &[Slot], frame: &Frame) -> Option<String> {
        let usual = frame.mode == FrameMode::Range
            && matches!(frame.start, FrameBound::UnboundedPreceding)
            && matches!(frame.end, FrameBound::CurrentRow)
            && frame.exclude == FrameExclude::NoOthers;
        if usual {
            return None;
        }
        let mode = match frame.mode {
            FrameMode::Rows => "rows",
            FrameMode::Range => "range",
            FrameMode::Groups => "groups",
        };
        let exclude = match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " exclude current row",
            FrameExclude::Group => " exclude group",
            FrameExclude::Ties => " exclude ties",
        };
        let (start, end) = (self.bound(slots, &frame.start), self.bound(slots, &frame.end));
        Some(format!("{mode} between {start} and {end}{exclude}"))
    }

    fn bound(&mut self, slots: &[Slot], bound: &FrameBound) -> String {
        match bound {
            FrameBound::UnboundedPreceding => "unbounded preceding".to_owned(),
            FrameBound::Preceding(offset) => format!("{} preceding", self.over(slots, offset)),
            FrameBound::CurrentRow => "current row".to_owned(),
            FrameBound::Following(offset) => format!("{} following", self.over(slots, offset)),
            FrameBound::UnboundedFollowing => "unbounded following".to_owned(),
        }
    }

    fn sort_keys(&mut self, slots: &[Slot], keys: &[SortKey]) -> String {
        let keys: Vec<String> = keys
            .iter()
            .map(|key| {
                let order = match (key.descending, key.nulls_first) {
                    (false, false) => "",
                    (false, true) => " nulls first",
                    (true, true) => " desc",
                    (true, false) => " desc nulls last",
                };
                format!("{}{order}", self.over(slots, &key.expr))
            })
            .collect();
        keys.join(", ")
    }

    fn limit(&mut self, limit: &Limit, indent: usize) {
        let slots = self.slots(&limit.input);
        let mut text = "Limit".to_owned();
        if let Some(count) = &limit.limit {
            text.push_str(&format!(" {}", self.over(&[], count)));
        }
        if let Some(offset) = &limit.offset {
            text.push_str(&format!(" offset {}", self.over(&[], offset)));
        }
        if !limit.ties.is_empty() {
            text.push_str(&format!(" with ties {}", self.sort_keys(&slots, &limit.ties)));
        }
        self.line(indent, text);
        self.plan(&limit.input, indent + 1);
    }
}

fn rename_twins(slots: &mut [Slot]) {
    for at in 1..slots.len() {
        if !slots[at].name.is_empty() && slots[..at].iter().any(|other| other.name == slots[at].name) {
            slots[at].name = format!("{}#{at}", slots[at].name);
        }
    }
}

fn row_lock(slots: &[Slot], lock: &RowLock) -> String {
    let names: Vec<&str> = lock.slots.iter().map(|slot| slots.get(*slot).map_or("?", |slot| &slot.name)).collect();
    let strength = match lock.strength {
        LockStrength::KeyShare => "key share",
        LockStrength::Share => "share",
        LockStrength::NoKeyUpdate => "no key update",
        LockStrength::Update => "update",
    };
    let wait = match lock.wait {
        LockWait::Block => "",
        LockWait::NoWait => " nowait",
        LockWait::SkipLocked => " skip locked",
    };
    format!("{} for {strength}{wait}", names.join(", "))
}
