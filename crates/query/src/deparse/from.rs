//! FROM as text: items with their names, and joins.

use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::{Oid, RelationKind};
use crate::deparse::query::identifiers;
use crate::deparse::{Deparse, Frame, STEP, Slot, VARIABLE, columns_of};
use crate::ir::{FunctionScan, Join, JoinKind, Plan, Stored};
use crate::types::quote;

/// What was written about an item.
#[derive(Clone, Copy, Default)]
struct Written<'q> {
    alias: Option<&'q Arc<str>>,
    columns: &'q [Arc<str>],
}

impl<'q> Deparse<'q> {
    /// The items of FROM, slot by slot, each with a name that no other item in sight has.
    pub(super) fn item_slots(&mut self, from: &'q Plan) -> Vec<Slot<'q>> {
        let mut slots = Vec::new();
        self.collect(from, Written::default(), &mut slots);
        slots
    }

    fn collect(&self, plan: &'q Plan, written: Written<'q>, slots: &mut Vec<Slot<'q>>) {
        let (name, columns): (Arc<str>, Vec<Arc<str>>) = match plan {
            Plan::One => return,
            Plan::Join(join) => {
                let first = slots.len();
                self.collect(&join.left, Written::default(), slots);
                self.collect(&join.right, Written::default(), slots);
                if let Some(alias) = written.alias {
                    self.alias_join(alias, written.columns, &mut slots[first..]);
                }
                return;
            }
            Plan::Stored(stored) => match &**stored {
                Stored::Item { input, alias, columns } => {
                    return self.collect(input, Written { alias: alias.as_ref(), columns }, slots);
                }
                Stored::Using { input, .. } | Stored::Listed(input) => return self.collect(input, written, slots),
                Stored::View(view) => self.relation_item(*view),
            },
            Plan::Scan(scan) => self.relation_item(scan.table),
            Plan::Virtual(table) => {
                (table.name.into(), table.columns.iter().map(|(name, _)| Arc::from(*name)).collect())
            }
            Plan::Cte { cte } => match self.ctes.iter().rev().find(|(number, _, _)| number == cte) {
                Some((_, name, columns)) => (name.clone(), columns.clone()),
                None => ("?".into(), Vec::new()),
            },
            Plan::Subquery(query) => {
                ("unnamed_subquery".into(), query.columns.iter().map(|column| column.name.clone()).collect())
            }
            Plan::Function(scan) => {
                let columns = scan.calls.iter().flat_map(|call| call.columns.iter().map(|(name, _)| name.clone()));
                let ordinality = scan.ordinality.then(|| Arc::from("ordinality"));
                (function_name(scan), columns.chain(ordinality).collect())
            }
            Plan::Values(rows) => {
                let width = rows.first().map_or(0, Vec::len);
                ("*VALUES*".into(), (1..=width).map(|at| format!("column{at}").into()).collect())
            }
            // What is no item of FROM is shown as a query in FROM.
            _ => ("unnamed_subquery".into(), Vec::new()),
        };
        let name = written.alias.cloned().unwrap_or(name);
        let columns = renamed(plan, columns, written.columns, self);
        slots.push(Slot::Item { name: self.free_name(&name, slots), columns });
    }

    fn relation_item(&self, oid: Oid) -> (Arc<str>, Vec<Arc<str>>) {
        match self.env.catalog().relation(oid) {
            Some(relation) => (relation.name.clone(), columns_of(relation)),
            None => ("?".into(), Vec::new()),
        }
    }

    /// A name that nothing else in sight has: `t`, `t_1`, ….
    fn free_name(&self, name: &Arc<str>, slots: &[Slot<'_>]) -> Arc<str> {
        let is_free = |name: &str| !slots.iter().any(|slot| super::slot_names(slot, name)) && !self.is_taken(name);
        if is_free(name) {
            return name.clone();
        }
        let mut numbered = (1..).map(|number| format!("{name}_{number}"));
        numbered.find(|name| is_free(name)).expect("numbers do not end").into()
    }

    /// Columns of a join with an alias are called by it.
    fn alias_join(&self, alias: &Arc<str>, names: &[Arc<str>], slots: &mut [Slot<'q>]) {
        let mut names = names.iter();
        for slot in slots {
            if let Slot::Item { name, columns } = slot {
                *name = alias.clone();
                for (column, new) in columns.iter_mut().zip(names.by_ref()) {
                    *column = new.clone();
                }
            }
        }
    }

    pub(super) fn from_clause(&mut self, from: &'q Plan, items: &[Slot<'q>]) {
        if matches!(from, Plan::One) {
            return;
        }
        self.line(" FROM ", -STEP, STEP, 2);
        self.listed(from, items, 0);
    }

    /// Items with commas between them; the first slot after them.
    pub(super) fn listed(&mut self, plan: &'q Plan, items: &[Slot<'q>], first: usize) -> usize {
        let join = match plan {
            Plan::Stored(stored) => match &**stored {
                Stored::Listed(Plan::Join(join)) => join,
                _ => return self.item(plan, items, first, None),
            },
            _ => return self.item(plan, items, first, None),
        };
        let next = self.listed(&join.left, items, first);
        self.push(", ");
        let around = lateral_frame(join, items, first);
        let mut after = next;
        let text = self.apart(|text| after = text.right(join, items, next, around));
        if text.starts_with('\n') {
            let end = self.out.trim_end_matches(' ').len();
            self.out.truncate(end);
        } else {
            self.line("", -STEP, STEP, VARIABLE);
        }
        self.push(&text);
        after
    }

    /// The right side of a join, which may see the left one.
    fn right(&mut self, join: &'q Join, items: &[Slot<'q>], first: usize, around: Option<Rc<Frame<'q>>>) -> usize {
        match around {
            Some(frame) => {
                let at = self.frames.len().saturating_sub(1);
                self.frames.insert(at, frame);
                let before = std::mem::replace(&mut self.lateral, true);
                let next = self.item(&join.right, items, first, None);
                self.lateral = before;
                self.frames.remove(at);
                next
            }
            None => self.item(&join.right, items, first, None),
        }
    }

    /// An item; the first slot after it.
    fn item(&mut self, plan: &'q Plan, items: &[Slot<'q>], first: usize, written: Option<Written<'q>>) -> usize {
        let slot = items.get(first);
        match plan {
            Plan::Stored(stored) => match &**stored {
                Stored::Item { input, alias, columns } => {
                    let written = Written { alias: alias.as_ref(), columns };
                    return self.item(input, items, first, Some(written));
                }
                Stored::Using { input: Plan::Join(join), columns } => {
                    return self.join(join, items, first, columns, written);
                }
                Stored::Using { input, .. } | Stored::Listed(input) => return self.item(input, items, first, written),
                Stored::View(view) => self.relation(*view),
            },
            Plan::Join(join) => return self.join(join, items, first, &[], written),
            Plan::Scan(scan) => self.relation(scan.table),
            Plan::Virtual(table) => {
                let schema = if table.schema == "pg_catalog" { String::new() } else { format!("{}.", table.schema) };
                self.push(&format!("{schema}{}", table.name));
            }
            Plan::Cte { cte } => {
                let found = self.ctes.iter().rev().find(|(number, _, _)| number == cte);
                let name = found.map_or_else(String::new, |(_, name, _)| quote::identifier(name));
                self.push(&name);
            }
            Plan::Subquery(query) => {
                // A query in FROM sees the same tuples around as the query that it is in, but not that one's own.
                let own = self.frames.pop();
                self.beside.extend(own.clone());
                let lateral = std::mem::take(&mut self.lateral);
                if lateral && sees_left(plan) {
                    self.push("LATERAL ");
                }
                self.push("(");
                self.query(query, None);
                self.push(")");
                self.lateral = lateral;
                self.beside.truncate(self.beside.len() - usize::from(own.is_some()));
                self.frames.extend(own);
            }
            Plan::Function(scan) => {
                if self.lateral && sees_left(plan) {
                    self.push("LATERAL ");
                }
                self.function_scan(scan);
            }
            Plan::Values(rows) => {
                self.push("( ");
                self.values(rows);
                self.push(")");
            }
            _ => self.unknown(),
        }
        let written = written.unwrap_or_default();
        self.alias(plan, slot, written);
        first + 1
    }

    fn relation(&mut self, oid: Oid) {
        let name = match self.env.catalog().relation(oid) {
            Some(relation) => self.relation_name(relation),
            None => "?".to_owned(),
        };
        self.push(&name);
    }

    /// The alias of an item, where its own name does not do.
    fn alias(&mut self, plan: &'q Plan, slot: Option<&Slot<'q>>, written: Written<'q>) {
        let Some(Slot::Item { name, columns }) = slot else { return };
        let own = match plan {
            Plan::Scan(scan) => Some(self.relation_item(scan.table).0),
            Plan::Stored(stored) => match &**stored {
                Stored::View(view) => Some(self.relation_item(*view).0),
                _ => None,
            },
            Plan::Virtual(table) => Some(table.name.into()),
            Plan::Cte { cte } => {
                self.ctes.iter().rev().find(|(number, _, _)| number == cte).map(|(_, name, _)| name.clone())
            }
            _ => None,
        };
        if own.as_ref() != Some(name) || written.alias.is_some() {
            self.push(&format!(" {}", quote::identifier(name)));
        }
        let is_function = matches!(plan, Plan::Function(_));
        if let Plan::Function(scan) = plan
            && let [call] = scan.calls.as_slice()
            && call.expand
            && call.call.ty() == crate::types::Type::RECORD
            && !scan.ordinality
        {
            let typed = call
                .columns
                .iter()
                .zip(columns)
                .map(|((_, typed), name)| format!("{} {}", quote::identifier(name), self.type_name(*typed)));
            let typed: Vec<String> = typed.collect();
            return self.push(&format!("({})", typed.join(", ")));
        }
        if is_function || !written.columns.is_empty() || matches!(plan, Plan::Values(_)) {
            let live = self.live(plan, columns);
            self.push(&format!("({})", identifiers(&live)));
        }
    }

    /// The columns of an item that are not dropped.
    fn live(&self, plan: &Plan, columns: &[Arc<str>]) -> Vec<Arc<str>> {
        let dropped = |at: usize| match plan {
            Plan::Scan(scan) => self.env.catalog().table(scan.table).is_some_and(|table| table.columns[at].dropped),
            _ => false,
        };
        columns.iter().enumerate().filter(|(at, _)| !dropped(*at)).map(|(_, name)| name.clone()).collect()
    }

    fn function_scan(&mut self, scan: &'q FunctionScan) {
        self.frames.push(Rc::new(Frame { slots: Vec::new() }));
        // The tuple of this FROM is not around a function of it, unless it is lateral: then it is the next one further out.
        let own = self.frames.remove(self.frames.len() - 2);
        let several = scan.calls.len() > 1;
        if several {
            self.push("ROWS FROM(");
        }
        for (at, call) in scan.calls.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.expr(&call.call, true);
        }
        if several {
            self.push(")");
        }
        if scan.ordinality {
            self.push(" WITH ORDINALITY");
        }
        let at = self.frames.len() - 1;
        self.frames.insert(at, own);
        self.frames.pop();
    }

    fn join(
        &mut self,
        join: &'q Join,
        items: &[Slot<'q>],
        first: usize,
        using: &'q [Arc<str>],
        written: Option<Written<'q>>,
    ) -> usize {
        let alias = written.and_then(|written| written.alias);
        let enclosed = !self.pretty || alias.is_some();
        if enclosed {
            self.push("(");
        }
        let next = self.item(&join.left, items, first, None);
        let word = match (join.kind, &join.on) {
            (JoinKind::Inner, None) if using.is_empty() => " CROSS JOIN ",
            (JoinKind::Inner, _) => " JOIN ",
            (JoinKind::Left, _) => " LEFT JOIN ",
            (JoinKind::Right, _) => " RIGHT JOIN ",
            (JoinKind::Full, _) => " FULL JOIN ",
        };
        self.line(word, -STEP, STEP, 4);
        let nested = self.pretty && is_join(&join.right);
        if nested {
            self.push("(");
        }
        let around = lateral_frame(join, items, first);
        let after = self.right(join, items, next, around);
        if nested {
            self.push(")");
        }
        let sides = Rc::new(Frame { slots: items[first.min(items.len())..after.min(items.len())].to_vec() });
        let has = |slots: &[Slot<'_>], wanted: &Arc<str>| {
            slots.iter().any(|slot| matches!(slot, Slot::Item { columns, .. } if columns.contains(wanted)))
        };
        let (left, right) = sides.slots.split_at((next - first).min(sides.slots.len()));
        let merges = !using.is_empty() && using.iter().all(|name| has(left, name) && has(right, name));
        match &join.on {
            _ if merges => self.push(&format!(" USING ({})", identifiers(using))),
            Some(on) => {
                self.push(" ON ");
                let own = self.frames.pop();
                self.frames.push(sides.clone());
                if !self.pretty {
                    self.push("(");
                }
                self.expr(on, false);
                if !self.pretty {
                    self.push(")");
                }
                self.frames.pop();
                self.frames.extend(own);
            }
            None if join.kind != JoinKind::Inner => self.push(" ON TRUE"),
            None => {}
        }
        if enclosed {
            self.push(")");
        }
        if let (Some(alias), Some(written)) = (alias, written) {
            self.push(&format!(" {}", quote::identifier(alias)));
            if !written.columns.is_empty() {
                self.push(&format!("({})", identifiers(written.columns)));
            }
        }
        after
    }
}

/// Whether an item looks at what stands left of it.
fn sees_left(plan: &Plan) -> bool {
    let mut sees = false;
    plan.outward(&mut |up, _| sees |= up == 1);
    sees
}

fn is_join(plan: &Plan) -> bool {
    match plan {
        Plan::Join(_) => true,
        Plan::Stored(stored) => match &**stored {
            Stored::Using { input, .. } => is_join(input),
            Stored::Item { input, alias: None, .. } => is_join(input),
            _ => false,
        },
        _ => false,
    }
}

/// What the right side of a lateral join sees as the next tuple further out, under its own.
fn lateral_frame<'q>(join: &Join, items: &[Slot<'q>], first: usize) -> Option<Rc<Frame<'q>>> {
    let end = (first + join.slots.0).min(items.len());
    join.lateral.then(|| Rc::new(Frame { slots: items[first.min(end)..end].to_vec() }))
}

/// The name of the function of an item without an alias.
fn function_name(scan: &FunctionScan) -> Arc<str> {
    match scan.calls.first().map(|call| &call.call.kind) {
        Some(crate::ir::ExprKind::Call { function, .. }) => function.name.into(),
        Some(crate::ir::ExprKind::UserCall { function, .. }) => function.name.clone(),
        _ => "function".into(),
    }
}

/// Columns with the names that an alias gives the first of them; dropped ones have none.
fn renamed(plan: &Plan, columns: Vec<Arc<str>>, names: &[Arc<str>], text: &Deparse<'_>) -> Vec<Arc<str>> {
    let table = match plan {
        Plan::Scan(scan) => match text.env.catalog().relation(scan.table).map(|relation| &relation.kind) {
            Some(RelationKind::Table(table)) => Some(table),
            _ => None,
        },
        _ => None,
    };
    let mut names = names.iter();
    let name = |(at, own): (usize, Arc<str>)| match table {
        Some(table) if table.columns[at].dropped => own,
        _ => names.next().cloned().unwrap_or(own),
    };
    columns.into_iter().enumerate().map(name).collect()
}
