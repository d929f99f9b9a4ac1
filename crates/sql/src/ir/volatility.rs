//! How much an expression depends on the world.

use super::walk::{Descend, look};
use super::{Expr, ExprKind, Plan, Quantified, SubqueryKind};
use crate::catalog::Volatility;

impl Expr {
    /// Whether it can come to something else each time, or does something: a volatile function is in it.
    pub fn is_volatile(&self) -> bool {
        self.at_least(Volatility::Volatile)
    }

    /// Whether it depends on nothing but what it looks at: it may be worked out once.
    pub fn is_immutable(&self) -> bool {
        !self.at_least(Volatility::Stable)
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

fn rank(volatility: Volatility) -> u8 {
    match volatility {
        Volatility::Immutable => 0,
        Volatility::Stable => 1,
        Volatility::Volatile => 2,
    }
}
