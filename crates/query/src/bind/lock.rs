//! FOR UPDATE and its kin: which rows get locked, and how.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::names::fold;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{JoinKind, LockStrength, LockWait, Plan, RowLock, Stored};

impl Binder<'_> {
    /// The locks of a query on the items of its FROM; also those in queries there.
    pub(super) fn locks(&mut self, clauses: &[ast::LockClause], plan: &mut Plan) -> Result<Vec<RowLock>> {
        let mut locks = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let ast::LockClause { strength, of, wait } = clause;
            let named = !of.is_empty();
            let slots = match named {
                true => of.iter().map(|name| self.locked_slot(name, *strength)).collect::<Result<Vec<_>>>()?,
                false => (0..count_slots(plan)).collect(),
            };
            let mut found = Vec::new();
            lock_slots(plan, 0, &slots, named, *strength, *wait, &mut found)?;
            if !found.is_empty() {
                locks.push(RowLock { slots: found, strength: *strength, wait: *wait });
            }
        }
        Ok(locks)
    }

    /// The slot of the item that OF names.
    fn locked_slot(&mut self, ident: &ast::Ident, strength: LockStrength) -> Result<usize> {
        let (wanted, label) = (fold(ident), label(strength));
        let Some(item) = self.frame().items.iter().find(|item| *item.name == *wanted) else {
            let message = format!("relation \"{wanted}\" in {label} clause not found in FROM clause");
            return Err(self.at(ident.span, SqlError::new(SqlState::UNDEFINED_TABLE, message)));
        };
        item.slot.ok_or_else(|| {
            SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{label} cannot be applied to a join"))
        })
    }
}

/// Finds the slots that are tables; for those that are queries, puts the lock into them.
fn lock_slots(
    plan: &mut Plan,
    first: usize,
    wanted: &[usize],
    named: bool,
    strength: LockStrength,
    wait: LockWait,
    found: &mut Vec<usize>,
) -> Result<()> {
    let label = label(strength);
    match plan {
        Plan::Scan(_) if wanted.contains(&first) => {
            found.push(first);
            Ok(())
        }
        Plan::Subquery(query) if wanted.contains(&first) => lock_inside(&mut query.plan, strength, wait),
        Plan::Function(_) | Plan::Values(_) | Plan::Cte { .. } | Plan::Virtual(_)
            if named && wanted.contains(&first) =>
        {
            let what = match plan {
                Plan::Function(_) => "a function",
                Plan::Values(_) => "VALUES",
                Plan::Cte { .. } => "a WITH query",
                _ => "a system catalog",
            };
            let message = format!("{label} cannot be applied to {what}");
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
        Plan::Stored(stored) => match &mut **stored {
            // The view's own query says what it locks.
            Stored::View(_) => Ok(()),
            Stored::Item { input, .. } | Stored::Using { input, .. } | Stored::Listed(input) => {
                lock_slots(input, first, wanted, named, strength, wait, found)
            }
        },
        Plan::Join(join) => {
            let (left, right) =
                (first..first + join.slots.0, first + join.slots.0..first + join.slots.0 + join.slots.1);
            let nullable = match join.kind {
                JoinKind::Inner => 0..0,
                JoinKind::Left => right.clone(),
                JoinKind::Right => left.clone(),
                JoinKind::Full => first..right.end,
            };
            if wanted.iter().any(|slot| nullable.contains(slot)) {
                let message = format!("{label} cannot be applied to the nullable side of an outer join");
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            lock_slots(&mut join.left, left.start, wanted, named, strength, wait, found)?;
            lock_slots(&mut join.right, right.start, wanted, named, strength, wait, found)
        }
        _ => Ok(()),
    }
}

/// A query in FROM locks the rows of its own tables.
fn lock_inside(plan: &mut Plan, strength: LockStrength, wait: LockWait) -> Result<()> {
    let refuse = |what: &str| {
        let message = format!("{} is not allowed with {what}", label(strength));
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
    };
    match plan {
        Plan::Project { input, .. } | Plan::Sort { input, .. } => lock_inside(input, strength, wait),
        Plan::Limit(limit) => lock_inside(&mut limit.input, strength, wait),
        Plan::With { input, .. } => lock_inside(input, strength, wait),
        Plan::Aggregate(_) => refuse("GROUP BY clause"),
        Plan::Distinct(_) | Plan::DistinctOn { .. } => refuse("DISTINCT clause"),
        Plan::Window { .. } => refuse("window functions"),
        Plan::SetOperation { .. } => refuse("UNION/INTERSECT/EXCEPT"),
        Plan::ProjectSet { .. } => refuse("set-returning functions in the target list"),
        Plan::One | Plan::Values(_) | Plan::Empty { .. } => Ok(()),
        Plan::Filter { input, .. } => {
            let mut found = Vec::new();
            let all: Vec<usize> = (0..count_slots(input)).collect();
            lock_slots(input, 0, &all, false, strength, wait, &mut found)?;
            wrap(plan, found, strength, wait);
            Ok(())
        }
        _ => {
            let mut found = Vec::new();
            let all: Vec<usize> = (0..count_slots(plan)).collect();
            lock_slots(plan, 0, &all, false, strength, wait, &mut found)?;
            wrap(plan, found, strength, wait);
            Ok(())
        }
    }
}

fn wrap(plan: &mut Plan, slots: Vec<usize>, strength: LockStrength, wait: LockWait) {
    if !slots.is_empty() {
        let input = Box::new(std::mem::replace(plan, Plan::One));
        *plan = Plan::Lock { input, locks: vec![RowLock { slots, strength, wait }] };
    }
}

/// How many slots the tuples of a FROM have.
fn count_slots(plan: &Plan) -> usize {
    match plan {
        Plan::One => 0,
        Plan::Join(join) => join.slots.0 + join.slots.1,
        Plan::Filter { input, .. } => count_slots(input),
        Plan::Empty { slots } => *slots,
        Plan::Stored(stored) => match &**stored {
            Stored::View(_) => 1,
            Stored::Item { input, .. } | Stored::Using { input, .. } | Stored::Listed(input) => count_slots(input),
        },
        _ => 1,
    }
}

/// As messages call it.
pub(super) fn label(strength: LockStrength) -> &'static str {
    match strength {
        LockStrength::KeyShare => "FOR KEY SHARE",
        LockStrength::Share => "FOR SHARE",
        LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
        LockStrength::Update => "FOR UPDATE",
    }
}
