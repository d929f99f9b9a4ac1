//! What a domain demands of its values.

use std::sync::Arc;

use crate::bind::Binder;
use crate::catalog::{UserType, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Tuple};
use crate::storage::World;
use crate::types::{Datum, Type, kind};

/// Checks a value that was converted to a domain: what the domains below demand first.
pub(crate) fn check_domain(world: &mut World<'_>, value: &Datum, domain: Type) -> Result<()> {
    let mut domains: Vec<Arc<UserType>> = Vec::new();
    let mut ty = domain;
    while let Some(user) = kind::user(ty, &world.catalog)
        && let UserTypeKind::Domain { base, .. } = &user.kind
    {
        ty = base.ty;
        domains.push(user.clone());
    }
    domains.iter().rev().try_for_each(|user| check_one(world, value, user))
}

fn check_one(world: &mut World<'_>, value: &Datum, user: &UserType) -> Result<()> {
    let UserTypeKind::Domain { base, not_null, checks, .. } = &user.kind else { return Ok(()) };
    let schema = world.catalog.schemas.get(&user.schema).map_or_else(String::new, |schema| schema.name.to_string());
    let about = |error: SqlError| error.schema(schema.clone()).data_type(user.name.to_string());
    if *not_null && value.is_null() {
        let message = format!("domain {} does not allow null values", user.name);
        return Err(about(SqlError::new(SqlState::NOT_NULL_VIOLATION, message)));
    }
    for check in checks {
        let path = world.path();
        let condition = Binder::new(&*world, &path).domain_check(*base, &check.condition.ast)?;
        let kept = Run::new().eval_on(world, &condition, &Tuple::default(), value.clone())?;
        if matches!(kept, Datum::Bool(false)) {
            let message = format!("value for domain {} violates check constraint \"{}\"", user.name, check.name);
            return Err(about(SqlError::new(SqlState::CHECK_VIOLATION, message)).constraint(check.name.to_string()));
        }
    }
    Ok(())
}
