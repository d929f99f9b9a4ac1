//! What a domain demands of its values.

use std::sync::Arc;

use crate::catalog::{Catalog, Check, RelationKind, UserType, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Tuple};
use crate::ir::current;
use crate::parse::ddl::DomainAction;
use crate::schema::Editor;
use crate::storage::World;
use crate::types::{Datum, Type, kind};

/// Checks a value that was converted to a domain: what the domains below demand first.
pub(crate) fn check_domain(world: &mut World<'_>, value: &Datum, domain: Type) -> Result<()> {
    let mut domains: Vec<Arc<UserType>> = Vec::new();
    let mut ty = domain;
    while let Some(user) = world.catalog.user_type(ty)
        && let UserTypeKind::Domain { base, .. } = &user.kind
    {
        ty = base.ty;
        domains.push(user.clone());
    }
    let Some(named) = domains.first().cloned() else { return Ok(()) };
    domains.iter().rev().try_for_each(|user| check_one(world, value, user, &named))
}

/// What one of the domains demands; `named` is the one that the value is converted to.
fn check_one(world: &mut World<'_>, value: &Datum, user: &UserType, named: &UserType) -> Result<()> {
    let UserTypeKind::Domain { not_null, checks, .. } = &user.kind else { return Ok(()) };
    let schema = world.catalog.schemas.get(&named.schema).map_or_else(String::new, |schema| schema.name.to_string());
    let about = |error: SqlError| error.schema(schema.clone()).data_type(named.name.to_string());
    if *not_null && value.is_null() {
        let message = format!("domain {} does not allow null values", named.name);
        return Err(about(SqlError::new(SqlState::NOT_NULL_VIOLATION, message)));
    }
    for check in checks {
        let condition = current::expr(&check.condition, &world.catalog);
        let kept = Run::new().eval_on(world, &condition, &Tuple::default(), value.clone())?;
        if matches!(kept, Datum::Bool(false)) {
            let message = format!("value for domain {} violates check constraint \"{}\"", named.name, check.name);
            return Err(about(SqlError::new(SqlState::CHECK_VIOLATION, message)).constraint(check.name.to_string()));
        }
    }
    Ok(())
}

impl Editor<'_, '_> {
    /// A domain that demands more: what is in the tables has to be so already.
    pub(super) fn domain_values_must_fit(
        &mut self,
        domain: Type,
        action: &DomainAction,
        check: Option<&Check>,
    ) -> Result<()> {
        let not_null = matches!(action, DomainAction::NotNull(true));
        if !not_null && check.is_none() {
            return Ok(());
        }
        let condition = match check {
            Some(check) => Some(current::expr(&check.condition, &self.catalog)),
            None => None,
        };
        for relation in self.catalog.clone().relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for (position, column) in table.columns.iter().enumerate() {
                if column.dropped || !kind::holds(column.typed.ty, domain, &self.catalog) {
                    continue;
                }
                if !is_below(domain, column.typed.ty, &self.catalog) {
                    let name = self.catalog.user_type(domain).map_or("", |user| &*user.name);
                    let message = format!(
                        "cannot alter type \"{name}\" because column \"{}.{}\" uses it",
                        relation.name, column.name
                    );
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                }
                self.for_each_row(table, |world, row| {
                    let value = world.look_column(table, row, position)?;
                    let about = |what: &str| {
                        format!("column \"{}\" of table \"{}\" contains {what}", column.name, relation.name)
                    };
                    if not_null && value.is_null() {
                        return Err(SqlError::new(SqlState::NOT_NULL_VIOLATION, about("null values")));
                    }
                    let Some(condition) = &condition else { return Ok(()) };
                    if matches!(Run::new().eval_on(world, condition, &Tuple::default(), value)?, Datum::Bool(false)) {
                        let message = about("values that violate the new constraint");
                        return Err(SqlError::new(SqlState::CHECK_VIOLATION, message));
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

/// Whether a type is this domain, or a domain over it.
fn is_below(domain: Type, mut ty: Type, catalog: &Catalog) -> bool {
    while ty != domain {
        match catalog.user_type(ty).map(|user| &user.kind) {
            Some(UserTypeKind::Domain { base, .. }) => ty = base.ty,
            _ => return false,
        }
    }
    true
}
