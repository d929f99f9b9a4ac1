//! Expressions and queries that the schema keeps, and what they depend on.
//!
//! A *stored expression* (a DEFAULT, a CHECK, a key or predicate of an index, how a generated column is made, the WHEN of a
//! trigger, the default of a parameter) and a *stored query* (of a view, of a body in SQL) are bound when they are made and
//! kept as IR: tables, views, sequences, functions and types by their numbers, columns by their positions (which never
//! change: a dropped column keeps its place). So their meaning depends neither on the search path nor on names.
//!
//! - Columns of an expression are those of one row of its table in slot 0 (a trigger's WHEN: OLD in slot 0, NEW in slot 1;
//!   a domain's CHECK: VALUE is [`ExprKind::Operand`]).
//! - A query has [`Plan::Stored`] nodes for the views that it reads and for what was written about FROM.
//! - Before it is used, [`crate::ir::current`] brings it up to date with the catalog: views are replaced by their queries,
//!   functions and labels of enums by what they are now.
//! - [`crate::deparse`] shows it with the names that its objects have now.
//!
//! Each keeps the list of what it *uses* ([`Dependency`]): a relation, a column of it, a function, a type or a field of it, a
//! collation, a primary key. The rules:
//! - RENAME and SET SCHEMA touch nothing but the object itself.
//! - DROP looks for whatever uses the object (`schema::depends`): without CASCADE it is refused, with CASCADE that goes too.
//!   What belongs to a column (its default, checks and indexes over it) goes without being asked.
//! - A column's new type: defaults are converted; checks, indexes and conditions over it are shown as text and bound again; a
//!   view, a generated column or a trigger that uses the column refuses the change.
//! - CREATE OR REPLACE keeps an object's number, so what uses the object uses the new one.

use std::collections::BTreeSet;

use crate::catalog::{Dependency, FIRST_USER_OID, Oid, StoredExpr, StoredQuery};
use crate::functions::collate::MARK as COLLATE_MARK;
use crate::ir::walk::look;
use crate::ir::{Change, DefaultOf, Expr, ExprKind, Plan, Query, Stored, SubqueryKind, ViewTarget};
use crate::types::{Datum, Type};

impl StoredExpr {
    /// An expression over rows of these tables, slot by slot.
    pub fn new(expr: Expr, tables: &[Oid]) -> StoredExpr {
        let mut uses = Uses { frames: vec![tables.iter().map(|table| Some(*table)).collect()], found: BTreeSet::new() };
        uses.expr(&expr);
        StoredExpr { expr, uses: uses.list() }
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        self.expr.ty()
    }

    /// The columns of a table that it uses.
    pub fn columns(&self, table: Oid) -> Vec<usize> {
        columns(&self.uses, table).collect()
    }
}

impl StoredQuery {
    /// A query that was bound to be kept, with so many common table expressions.
    pub fn new(query: Query, ctes: usize) -> StoredQuery {
        let mut uses = Uses { frames: Vec::new(), found: BTreeSet::new() };
        uses.plan(&query.plan);
        StoredQuery { query, ctes, uses: uses.list() }
    }
}

/// Whether the statement changes rows through this view.
pub fn changes_through(stored: &StoredQuery, view: Oid) -> bool {
    let mut found = false;
    through(&stored.query.plan, &mut |target| found |= target.views.contains(&view));
    found
}

fn through(plan: &Plan, see: &mut dyn FnMut(&ViewTarget)) {
    if let Plan::Change(change) = plan {
        change.through().into_iter().for_each(&mut *see);
    }
    look::inputs(plan, &mut |input, _| {
        through(input, see);
        Ok(())
    })
    .expect("looking does not fail");
}

/// The columns of a table among what is used.
pub fn columns(uses: &[Dependency], table: Oid) -> impl Iterator<Item = usize> + '_ {
    uses.iter().filter_map(move |used| match used {
        Dependency::Column(relation, column) if *relation == table => Some(*column),
        _ => None,
    })
}

/// Collects what is used. A frame has the relation of each slot of a tuple, where the slot is a row of one.
struct Uses {
    frames: Vec<Vec<Option<Oid>>>,
    found: BTreeSet<Dependency>,
}

impl Uses {
    /// What was found; a relation of which columns are used is used by them.
    fn list(self) -> Vec<Dependency> {
        let by_column = |used: &Dependency| match used {
            Dependency::Relation(oid) => {
                let columns = Dependency::Column(*oid, 0)..=Dependency::Column(*oid, usize::MAX);
                self.found.range(columns).next().is_some()
            }
            _ => false,
        };
        self.found.iter().filter(|used| !by_column(used)).copied().collect()
    }

    fn plan(&mut self, plan: &Plan) {
        match plan {
            Plan::Scan(scan) => self.relation(scan.table),
            Plan::Stored(stored) => {
                if let Stored::View(view) = **stored {
                    self.relation(view);
                }
            }
            Plan::Change(change) => self.relation(changed(change)),
            Plan::Aggregate(aggregate) => {
                aggregate.calls.iter().for_each(|call| self.called(call.function.member_number()));
                self.found.extend(aggregate.primary_keys.iter().map(|index| Dependency::PrimaryKey(*index)));
            }
            Plan::Window { calls, .. } => calls.iter().for_each(|call| self.called(call.function.member_number())),
            _ => {}
        }
        if let Plan::Change(change) = plan {
            self.assigned(change);
        }
        self.frames.push(own_slots(plan));
        look::own(plan, &mut |expr| {
            self.expr(expr);
            Ok(())
        })
        .expect("looking does not fail");
        self.frames.pop();
        look::inputs(plan, &mut |input, lateral| {
            if let (true, Plan::Join(join)) = (lateral, plan) {
                self.frames.push(slots(&join.left));
            }
            self.plan(input);
            if lateral {
                self.frames.pop();
            }
            Ok(())
        })
        .expect("looking does not fail");
    }

    /// The columns that a change gives values to.
    fn assigned(&mut self, change: &Change) {
        let table = changed(change);
        self.found.extend(change.through().iter().flat_map(|view| &view.views).map(|view| Dependency::Relation(*view)));
        let columns: Vec<usize> = match change {
            Change::Insert(insert) => insert.columns.clone(),
            Change::Update(update) => update.assignments.iter().map(|set| set.column).collect(),
            Change::Delete(_) | Change::Merge(_) => Vec::new(),
        };
        self.found.extend(columns.into_iter().map(|column| Dependency::Column(table, column)));
    }

    fn expr(&mut self, expr: &Expr) {
        let slot = |uses: &Uses, up: usize, slot: usize| {
            let frame = uses.frames.len().checked_sub(up + 1)?;
            uses.frames[frame].get(slot).copied().flatten()
        };
        match &expr.kind {
            ExprKind::Column(column) => {
                if let Some(relation) = slot(self, column.up, column.slot) {
                    self.found.insert(Dependency::Column(relation, column.column));
                }
            }
            ExprKind::Row { up, slot: at, .. } | ExprKind::System { up, slot: at, .. } => {
                if let Some(relation) = slot(self, *up, *at) {
                    self.relation(relation);
                }
            }
            ExprKind::Call { function, args } => {
                self.called(function.member_number());
                if let (true, Some(ExprKind::Const(Datum::Int(oid)))) =
                    (function.name == COLLATE_MARK, args.get(1).map(|number| &number.kind))
                {
                    self.found.extend(
                        Oid::try_from(*oid).ok().filter(|oid| *oid >= FIRST_USER_OID).map(Dependency::Collation),
                    );
                }
            }
            ExprKind::Field { arg, index } | ExprKind::ReplaceField { arg, index, .. }
                if arg.ty().0 >= FIRST_USER_OID =>
            {
                self.found.insert(Dependency::Field(arg.ty().0, *index));
            }
            ExprKind::Quantified { operator, .. } => self.called(operator.member_number()),
            ExprKind::UserCall { function, args } => {
                self.found.insert(Dependency::Function(function.oid));
                for arg in args {
                    if let ExprKind::Default(DefaultOf::Parameter(_, at)) = arg.kind
                        && let Some(default) = function.parameters.get(at).and_then(|known| known.default.as_ref())
                    {
                        self.found.extend(default.uses.iter().copied());
                    }
                }
            }
            ExprKind::NextValue(sequence) => self.relation(*sequence),
            ExprKind::Const(value) => {
                self.ty(expr.ty());
                self.object(value, expr.ty());
            }
            ExprKind::Cast { .. } | ExprKind::MakeArray(_) | ExprKind::MakeRow { .. } => self.ty(expr.ty()),
            ExprKind::Subquery { kind, query } => {
                if let SubqueryKind::Quantified { operators, .. } = kind {
                    operators.iter().for_each(|operator| self.called(operator.member_number()));
                }
                self.plan(&query.plan);
            }
            _ => {}
        }
        look::parts(expr, &mut |part| {
            self.expr(part);
            Ok(())
        })
        .expect("looking does not fail");
    }

    /// `'name'::regclass` and its like are objects.
    fn object(&mut self, value: &Datum, ty: Type) {
        let Datum::Int(number) = value else { return };
        let Ok(oid) = Oid::try_from(*number) else { return };
        match ty {
            Type::REGCLASS => self.relation(oid),
            Type::REGTYPE => self.ty(Type(oid)),
            Type::REGPROC | Type::REGPROCEDURE if oid >= FIRST_USER_OID => {
                self.found.insert(Dependency::Function(oid));
            }
            _ => {}
        }
    }

    /// A built-in function: those of extensions can go.
    fn called(&mut self, member: Option<Oid>) {
        self.found.extend(member.map(Dependency::Member));
    }

    fn relation(&mut self, oid: Oid) {
        if oid >= FIRST_USER_OID {
            self.found.insert(Dependency::Relation(oid));
        }
    }

    fn ty(&mut self, ty: Type) {
        if ty.0 >= FIRST_USER_OID {
            self.found.insert(Dependency::Type(ty.0));
        }
    }
}

fn changed(change: &Change) -> Oid {
    match change {
        Change::Insert(insert) => insert.table,
        Change::Update(update) => update.table,
        Change::Delete(delete) => delete.table,
        Change::Merge(merge) => merge.table,
    }
}

/// The relations of the slots that a node's own expressions look at.
fn own_slots(plan: &Plan) -> Vec<Option<Oid>> {
    match plan {
        Plan::Scan(_) | Plan::Join(_) => slots(plan),
        Plan::Change(change) => match &**change {
            // RETURNING sees the new row, ON CONFLICT the existing and the excluded one.
            Change::Insert(insert) => vec![Some(insert.table); 2],
            Change::Update(update) => slots(&update.input),
            Change::Delete(delete) => slots(&delete.input),
            Change::Merge(merge) => slots(&merge.input),
        },
        _ => {
            let mut found = Vec::new();
            look::inputs(plan, &mut |input, _| {
                if found.is_empty() {
                    found = slots(input);
                }
                Ok(())
            })
            .expect("looking does not fail");
            found
        }
    }
}

/// The relation of each slot of a plan's tuples, where the slot is a row of one.
pub(crate) fn slots(plan: &Plan) -> Vec<Option<Oid>> {
    match plan {
        Plan::One => Vec::new(),
        Plan::Empty { slots } => vec![None; *slots],
        Plan::Scan(scan) => vec![Some(scan.table)],
        Plan::Join(join) => slots(&join.left).into_iter().chain(slots(&join.right)).collect(),
        Plan::Filter { input, .. }
        | Plan::DistinctOn { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Lock { input, .. }
        | Plan::With { input, .. }
        | Plan::Distinct(input) => slots(input),
        Plan::Limit(limit) => slots(&limit.input),
        Plan::Window { input, .. } | Plan::ProjectSet { input, .. } => {
            slots(input).into_iter().chain(std::iter::once(None)).collect()
        }
        Plan::Arrange { input, slots: order } => {
            let below = slots(input);
            order.iter().map(|slot| below.get(*slot).copied().flatten()).collect()
        }
        Plan::Stored(stored) => match &**stored {
            Stored::View(view) => vec![Some(*view)],
            Stored::Item { input, .. } | Stored::Using { input, .. } | Stored::Listed(input) => slots(input),
        },
        Plan::Virtual(_)
        | Plan::Values(_)
        | Plan::Subquery(_)
        | Plan::Function(_)
        | Plan::Cte { .. }
        | Plan::Aggregate(_)
        | Plan::Project { .. }
        | Plan::SetOperation { .. }
        | Plan::Change(_) => vec![None],
    }
}
