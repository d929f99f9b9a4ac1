//! How much an expression depends on the world.

use super::walk::{Descend, look};
use super::{Delete, Expr, ExprKind, Insert, Plan, Quantified, Returning, SubqueryKind, Update};
use crate::catalog::{Catalog, UserFunction, Volatility};
use crate::error::Result;
use crate::functions::Function;
use crate::types::{Type, cast};

impl Expr {
    /// Whether it can come to something else each time, or does something: a volatile function is in it.
    pub fn is_volatile(&self) -> bool {
        self.at_least(Volatility::Volatile)
    }

    /// Whether something in it is not IMMUTABLE: it may come to something else at another time, or with other settings.
    /// A conversion is as volatile as the function that makes it.
    pub fn is_mutable(&self, catalog: &Catalog) -> bool {
        let mut found = false;
        look::expr(self, 0, &mut |node, _| {
            found = found
                || match &node.kind {
                    ExprKind::Cast { arg, .. } => cast::is_stable(arg.ty(), node.ty(), catalog),
                    ExprKind::Call { function, args } if is_over_text(function) => {
                        args.iter().any(|arg| cast::is_stable(arg.ty(), Type::TEXT, catalog))
                    }
                    _ => rank(own(node)) >= rank(Volatility::Stable),
                };
            Ok(if found { Descend::No } else { Descend::Yes })
        })
        .expect("looking does not fail");
        found
    }

    fn at_least(&self, least: Volatility) -> bool {
        let mut found = false;
        look::expr(self, 0, &mut |node, _| {
            found = found || rank(own(node)) >= rank(least);
            Ok(if found { Descend::No } else { Descend::Yes })
        })
        .expect("looking does not fail");
        found
    }
}

impl Plan {
    /// Whether a volatile function is in it.
    pub fn is_volatile(&self) -> bool {
        let mut found = false;
        look::plan(self, 0, &mut |node, _| {
            found = found || own(node) == Volatility::Volatile;
            Ok(if found { Descend::No } else { Descend::Yes })
        })
        .expect("looking does not fail");
        found
    }
}

impl Expr {
    /// Whether a volatile function of a user is called in it.
    pub fn calls_volatile(&self) -> bool {
        let mut found = false;
        look::expr(self, 0, &mut |node, _| calls(node, &mut found)).expect("looking does not fail");
        found
    }
}

impl Plan {
    /// Whether a volatile function of a user is called in it.
    pub fn calls_volatile(&self) -> bool {
        let mut found = false;
        look::plan(self, 0, &mut |node, _| calls(node, &mut found)).expect("looking does not fail");
        found
    }
}

fn calls(node: &Expr, found: &mut bool) -> Result<Descend> {
    let is_volatile = |function: &UserFunction| function.volatility == Volatility::Volatile;
    *found |= matches!(&node.kind, ExprKind::UserCall { function, .. } if is_volatile(function));
    Ok(if *found { Descend::No } else { Descend::Yes })
}

impl Update {
    /// What it computes for each row.
    pub fn expressions(&self) -> Vec<&Expr> {
        let returned = self.returning.iter().flat_map(|returning| &returning.values);
        self.assignments.iter().map(|assignment| &assignment.value).chain(returned).collect()
    }
}

impl Delete {
    /// What it computes for each row.
    pub fn expressions(&self) -> Vec<&Expr> {
        self.returning.iter().flat_map(|returning| &returning.values).collect()
    }
}

impl Insert {
    /// What it computes for each row, besides its source.
    pub fn expressions(&self) -> Vec<&Expr> {
        let returned = self.returning.iter().flat_map(|returning| &returning.values);
        self.defaults.iter().map(|(_, default)| default).chain(returned).collect()
    }
}

impl Returning {
    /// Whether it shows a system column of the row.
    pub fn has_system_columns(&self) -> bool {
        let mut found = false;
        for value in &self.values {
            look::expr(value, 0, &mut |node, _| {
                found = found || matches!(node.kind, ExprKind::System { .. });
                Ok(if found { Descend::No } else { Descend::Yes })
            })
            .expect("looking does not fail");
        }
        found
    }
}

/// The volatility of the node itself.
fn own(expr: &Expr) -> Volatility {
    match &expr.kind {
        ExprKind::Call { function, .. } => function.volatility,
        ExprKind::UserCall { function, .. } => function.volatility,
        ExprKind::Quantified { operator, list: Quantified::List(_) | Quantified::Array(_), .. } => operator.volatility,
        ExprKind::NextValue(_) => Volatility::Volatile,
        // Queries read the database, and casts of times and texts look at settings.
        ExprKind::Subquery { kind: SubqueryKind::Scalar | SubqueryKind::Exists | SubqueryKind::Array, .. }
        | ExprKind::Subquery { kind: SubqueryKind::Quantified { .. }, .. }
        | ExprKind::Cast { .. }
        | ExprKind::Param(_)
        | ExprKind::Variable(_) => Volatility::Stable,
        _ => Volatility::Immutable,
    }
}

/// Whether the function is one in SQL that converts its argument to a text: it is as volatile as that conversion.
fn is_over_text(function: &Function) -> bool {
    let is_any = |ty: &Type| matches!(*ty, Type::ANYNONARRAY | Type::ANYELEMENT);
    matches!(function.name, "||" | "quote_literal" | "quote_nullable") && function.args.iter().any(is_any)
}

fn rank(volatility: Volatility) -> u8 {
    match volatility {
        Volatility::Immutable => 0,
        Volatility::Stable => 1,
        Volatility::Volatile => 2,
    }
}
