//! What is directly below an expression or a plan.

use crate::catalog::{Oid, UserFunction, Volatility};
use crate::ir::walk::{Descend, look};
use crate::ir::{Change, Expr, ExprKind, Plan, Quantified, SubqueryKind, Subscript};

/// The expressions directly below one; those inside of a subquery's plan are not.
pub fn children<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    let index = |index: &'e Subscript, visit: &mut dyn FnMut(&'e Expr)| match index {
        Subscript::Index(at) => visit(at),
        Subscript::Slice(from, to) => [from, to].into_iter().flatten().for_each(visit),
    };
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::Param(_)
        | ExprKind::Variable(_)
        | ExprKind::NextValue(_)
        | ExprKind::Default(_)
        | ExprKind::Operand
        | ExprKind::Column(_)
        | ExprKind::Row { .. }
        | ExprKind::System { .. } => {}
        ExprKind::Call { args, .. }
        | ExprKind::UserCall { args, .. }
        | ExprKind::Extreme { args, .. }
        | ExprKind::And(args)
        | ExprKind::Or(args)
        | ExprKind::Coalesce(args)
        | ExprKind::MakeArray(args)
        | ExprKind::MakeRow { fields: args, .. } => args.iter().for_each(visit),
        ExprKind::Cast { arg, .. }
        | ExprKind::Field { arg, .. }
        | ExprKind::IsBool { arg, .. }
        | ExprKind::Not(arg)
        | ExprKind::IsNull(arg)
        | ExprKind::IsNotNull(arg) => visit(arg),
        ExprKind::IsDistinct { args, .. } => args.iter().for_each(visit),
        ExprKind::Case { operand, branches, otherwise } => {
            operand.iter().for_each(|operand| visit(operand));
            for (condition, value) in branches {
                visit(condition);
                visit(value);
            }
            otherwise.iter().for_each(|otherwise| visit(otherwise));
        }
        ExprKind::NullIf { value, equal } => {
            visit(value);
            visit(equal);
        }
        ExprKind::Quantified { arg, list, .. } => {
            visit(arg);
            match list {
                Quantified::List(items) => items.iter().for_each(visit),
                Quantified::Array(array) => visit(array),
            }
        }
        ExprKind::CompareRows { left, right, .. } => left.iter().chain(right).for_each(visit),
        ExprKind::Subscript { arg, indices } => {
            visit(arg);
            indices.iter().for_each(|at| index(at, visit));
        }
        ExprKind::Replace { arg, indices, value } => {
            visit(arg);
            visit(value);
            indices.iter().for_each(|at| index(at, visit));
        }
        ExprKind::ReplaceField { arg, value, .. } => {
            visit(arg);
            visit(value);
        }
        ExprKind::Subquery { kind, .. } => {
            if let SubqueryKind::Quantified { args, .. } = kind {
                args.iter().for_each(visit);
            }
        }
    }
}

/// The plans directly below one; those of subqueries in expressions are not.
pub fn subplans<'p>(plan: &'p Plan, visit: &mut dyn FnMut(&'p Plan)) {
    look::inputs(plan, &mut |input, _| {
        visit(input);
        Ok(())
    })
    .expect("looking does not fail");
}

impl Plan {
    /// The plan below WITH.
    pub fn innermost(&self) -> &Plan {
        match self {
            Plan::With { input, .. } => input.innermost(),
            plan => plan,
        }
    }

    /// The tables that it looks at or changes, those of subqueries in expressions included.
    pub fn tables(&self) -> Vec<Oid> {
        let mut tables = Vec::new();
        own_tables(self, &mut tables);
        let subqueries = &mut |expr: &Expr, _: usize| {
            if let ExprKind::Subquery { query, .. } = &expr.kind {
                own_tables(&query.plan, &mut tables);
            }
            Ok(Descend::Yes)
        };
        look::plan(self, 0, subqueries).expect("looking does not fail");
        tables
    }

    /// The same, each with what is done to it.
    pub fn table_uses(&self) -> Vec<(Oid, TableUse)> {
        let mut uses = Vec::new();
        own_uses(self, &mut uses);
        let subqueries = &mut |expr: &Expr, _: usize| {
            if let ExprKind::Subquery { query, .. } = &expr.kind {
                own_uses(&query.plan, &mut uses);
            }
            Ok(Descend::Yes)
        };
        look::plan(self, 0, subqueries).expect("looking does not fail");
        uses
    }
}

impl Plan {
    /// Whether it calls users' functions that see what it sees: STABLE and IMMUTABLE ones.
    pub fn calls_on_its_behalf(&self) -> bool {
        let mut found = false;
        let calls = &mut |expr: &Expr, _: usize| {
            let is_such = |function: &UserFunction| function.volatility != Volatility::Volatile;
            found = found || matches!(&expr.kind, ExprKind::UserCall { function, .. } if is_such(function));
            Ok(if found { Descend::No } else { Descend::Yes })
        };
        look::plan(self, 0, calls).expect("looking does not fail");
        found
    }

    /// Whether it locks rows as it goes.
    pub fn locks(&self) -> bool {
        let mut found = matches!(self, Plan::Lock { .. });
        subplans(self, &mut |below| found = found || below.locks());
        found
    }
}

/// What a statement does to a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableUse {
    /// It reads rows.
    Read,
    /// It may lock rows that it reads.
    Lock,
    /// It changes rows.
    Change,
}

fn own_tables(plan: &Plan, tables: &mut Vec<Oid>) {
    let mut uses = Vec::new();
    own_uses(plan, &mut uses);
    tables.extend(uses.into_iter().map(|(table, _)| table));
}

fn own_uses(plan: &Plan, uses: &mut Vec<(Oid, TableUse)>) {
    let mut all = vec![(plan, TableUse::Read)];
    while let Some((plan, how)) = all.pop() {
        match plan {
            Plan::Scan(scan) => uses.push((scan.table, how)),
            Plan::Change(change) => {
                let table = match &**change {
                    Change::Insert(insert) => insert.table,
                    Change::Update(update) => update.table,
                    Change::Delete(delete) => delete.table,
                    Change::Merge(merge) => merge.table,
                };
                uses.push((table, TableUse::Change));
            }
            _ => {}
        }
        let below = if matches!(plan, Plan::Lock { .. }) { TableUse::Lock } else { how };
        subplans(plan, &mut |plan| all.push((plan, below)));
    }
}
