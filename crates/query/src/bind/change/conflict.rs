//! ON CONFLICT: which indexes arbitrate, and what is done.

use std::sync::Arc;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::change::Target;
use crate::bind::names::name;
use crate::bind::scope::Frame;
use crate::catalog::{Index, IndexKeyKind, Oid, RelationKind, Timing};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::same::same;
use crate::ir::{ColumnRef, Expr, ExprKind, OnConflict, current};

impl<'a> Binder<'a> {
    pub(super) fn on_conflict(
        &mut self,
        conflict: &ast::OnConflict,
        target: Target<'a>,
        alias: Option<&ast::Ident>,
    ) -> Result<OnConflict> {
        let arbiters = match &conflict.conflict_target {
            None => Vec::new(),
            Some(ast::ConflictTarget::Constraint(ident)) => vec![self.constraint_index(target, &name(ident))?],
            Some(ast::ConflictTarget::Keys { keys, predicate }) => {
                self.infer(target, alias, keys, predicate.as_ref())?
            }
        };
        let update = match &conflict.action {
            ast::OnConflictAction::DoNothing => None,
            ast::OnConflictAction::DoUpdate(update) => {
                if arbiters.is_empty() {
                    let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
                    return Err(SqlError::syntax(message).hint("For example, ON CONFLICT (column_name)."));
                }
                let mut excluded = self.target_item(target, None, 1);
                excluded.name = Arc::from("excluded");
                excluded.schema = None;
                excluded.table = None;
                self.frames.push(Frame::new(vec![self.target_item(target, alias, 0), excluded], None));
                let bound = self.do_update(update, target);
                self.frames.pop();
                Some(bound?)
            }
        };
        Ok(OnConflict { arbiters, update })
    }

    fn do_update(
        &mut self,
        update: &ast::DoUpdate,
        target: Target<'a>,
    ) -> Result<(Vec<crate::ir::Assignment>, Option<Expr>)> {
        let assignments = self.assignments(&update.assignments, target)?;
        let condition = match &update.selection {
            Some(condition) => Some(self.condition(Clause::Where, condition)?),
            None => None,
        };
        Ok((assignments, condition))
    }

    /// ON CONSTRAINT
    fn constraint_index(&self, target: Target<'a>, name: &str) -> Result<Oid> {
        for oid in &target.table.indexes {
            let Some(relation) = self.catalog.relation(*oid).filter(|relation| *relation.name == *name) else {
                continue;
            };
            let RelationKind::Index(index) = &relation.kind else { continue };
            if index.constraint.is_some() {
                return if is_deferrable(index) { Err(deferrable()) } else { Ok(*oid) };
            }
        }
        let message = format!("constraint \"{name}\" for table \"{}\" does not exist", target.relation.name);
        Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
    }

    /// The unique indexes whose keys are exactly these.
    fn infer(
        &mut self,
        target: Target<'a>,
        alias: Option<&ast::Ident>,
        keys: &[ast::Expr],
        predicate: Option<&ast::Expr>,
    ) -> Result<Vec<Oid>> {
        self.frames.push(Frame::new(vec![self.target_item(target, alias, 0)], None));
        let bound = self.within(Clause::Index, |binder| {
            let keys = binder.exprs(keys)?;
            let predicate =
                predicate.map(|predicate| binder.condition(Clause::IndexPredicate, predicate)).transpose()?;
            Ok((keys, predicate))
        });
        let found = bound.and_then(|(keys, predicate)| self.matching(target, &keys, predicate.as_ref()));
        self.frames.pop();
        let found = found?;
        if found.is_empty() {
            let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
        }
        Ok(found)
    }

    fn matching(&mut self, target: Target<'a>, keys: &[Expr], predicate: Option<&Expr>) -> Result<Vec<Oid>> {
        let mut found = Vec::new();
        for oid in &target.table.indexes {
            let Some(RelationKind::Index(index)) = self.catalog.relation(*oid).map(|relation| &relation.kind) else {
                continue;
            };
            if !index.unique {
                continue;
            }
            let own = self.index_keys(target, index)?;
            let covers =
                |some: &[Expr], others: &[Expr]| some.iter().all(|key| others.iter().any(|other| same(key, other, 0)));
            if !covers(keys, &own) || !covers(&own, keys) {
                continue;
            }
            if is_deferrable(index) {
                return Err(deferrable());
            }
            let fits = match (&index.predicate, predicate) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(stored), Some(given)) => {
                    let own = current::expr(stored, self.catalog);
                    implies(given, &own)
                }
            };
            if fits {
                found.push(*oid);
            }
        }
        Ok(found)
    }

    fn index_keys(&mut self, target: Target<'a>, index: &'a Index) -> Result<Vec<Expr>> {
        let mut keys = Vec::with_capacity(index.keys.len());
        for key in &index.keys {
            keys.push(match &key.what {
                IndexKeyKind::Column(column) => Expr {
                    kind: ExprKind::Column(ColumnRef { up: 0, slot: 0, column: *column }),
                    typed: target.table.columns[*column].typed,
                },
                IndexKeyKind::Expr(expr) => current::expr(expr, self.catalog),
            });
        }
        Ok(keys)
    }
}

/// Whether the one condition contains every part of the other.
fn implies(given: &Expr, wanted: &Expr) -> bool {
    let parts = |expr: &Expr| match &expr.kind {
        ExprKind::And(parts) => parts.clone(),
        _ => vec![expr.clone()],
    };
    let given = parts(given);
    parts(wanted).iter().all(|part| given.iter().any(|known| same(known, part, 0)))
}

fn is_deferrable(index: &Index) -> bool {
    index.constraint.is_some_and(|constraint| constraint.timing != Timing::Immediate)
}

fn deferrable() -> SqlError {
    let message = "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters";
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}
