//! What a type is made of: elements of arrays, the types below domains, the category that overload resolution looks at.

use std::sync::Arc;

use crate::catalog::{Catalog, UserType, UserTypeKind};
use crate::types::builtin;
use crate::types::{Type, Typed};

/// The user-defined type with this number.
pub fn user(ty: Type, catalog: &Catalog) -> Option<&Arc<UserType>> {
    catalog.types.get(&ty.0)
}

/// The element type of an array type, user-defined ones included.
pub fn element(ty: Type, catalog: &Catalog) -> Option<Type> {
    if let Some(builtin) = builtin::by_oid(ty) {
        return builtin.element.filter(|_| builtin.is_array() || matches!(ty, Type::INT2VECTOR | Type::OIDVECTOR));
    }
    catalog.types.values().find(|user| user.array == ty).map(|user| user.ty)
}

/// The array type over this type.
pub fn array_of(ty: Type, catalog: &Catalog) -> Option<Type> {
    if let Some(builtin) = builtin::by_oid(ty) {
        return builtin.array;
    }
    user(ty, catalog).map(|user| user.array)
}

/// The type below a domain (and the domains below it), with the modifier that it sets; any other type as it is.
pub fn base(typed: Typed, catalog: &Catalog) -> Typed {
    let mut typed = typed;
    while typed.ty.0 >= crate::catalog::FIRST_USER_OID
        && let Some(user) = user(typed.ty, catalog)
        && let UserTypeKind::Domain { base, .. } = &user.kind
    {
        typed = *base;
    }
    typed
}

/// Whether it is an enum.
pub fn is_enum(ty: Type, catalog: &Catalog) -> bool {
    user(ty, catalog).is_some_and(|user| matches!(user.kind, UserTypeKind::Enum(_)))
}

/// Whether it is a domain.
pub fn is_domain(ty: Type, catalog: &Catalog) -> bool {
    user(ty, catalog).is_some_and(|user| matches!(user.kind, UserTypeKind::Domain { .. }))
}

/// Whether values of it are, or have in them, values of another type.
pub fn holds(ty: Type, wanted: Type, catalog: &Catalog) -> bool {
    if ty == wanted {
        return true;
    }
    if let Some(element) = element(ty, catalog) {
        return holds(element, wanted, catalog);
    }
    match user(ty, catalog).map(|user| &user.kind) {
        Some(UserTypeKind::Domain { base, .. }) => holds(base.ty, wanted, catalog),
        Some(UserTypeKind::Composite(fields)) => fields.iter().any(|(_, typed)| holds(typed.ty, wanted, catalog)),
        _ => false,
    }
}

/// Whether values of it are, or have in them, values of a domain.
pub fn holds_domain(ty: Type, catalog: &Catalog) -> bool {
    if let Some(element) = element(ty, catalog) {
        return holds_domain(element, catalog);
    }
    match user(ty, catalog).map(|user| &user.kind) {
        Some(UserTypeKind::Domain { .. }) => true,
        Some(UserTypeKind::Composite(fields)) => fields.iter().any(|(_, typed)| holds_domain(typed.ty, catalog)),
        _ => false,
    }
}

/// Whether it is a composite type (not the anonymous record).
pub fn is_composite(ty: Type, catalog: &Catalog) -> bool {
    user(ty, catalog).is_some_and(|user| matches!(user.kind, UserTypeKind::Composite(_)))
}

/// `typcategory`
pub fn category(ty: Type, catalog: &Catalog) -> char {
    if let Some(builtin) = builtin::by_oid(ty) {
        return builtin.category;
    }
    match user(ty, catalog).map(|user| &user.kind) {
        Some(UserTypeKind::Enum(_)) => 'E',
        Some(UserTypeKind::Composite(_)) => 'C',
        Some(UserTypeKind::Extension { category, .. }) => *category,
        Some(UserTypeKind::Domain { base, .. }) => category(base.ty, catalog),
        None if element(ty, catalog).is_some() => 'A',
        None => 'U',
    }
}

/// `typispreferred`
pub fn is_preferred(ty: Type) -> bool {
    builtin::by_oid(ty).is_some_and(|builtin| builtin.preferred)
}

/// Whether it stands for other types in signatures (`anyelement`, `anyarray`, `"any"`, …).
pub fn is_polymorphic(ty: Type) -> bool {
    matches!(ty.0, 2276 | 2277 | 2283 | 2776 | 3500 | 3831 | 4537 | 4538 | 5077..=5080)
}
