//! What a type is made of: elements of arrays, the types below domains, the category that overload resolution looks at.

use crate::builtin;
use crate::{Definitions, FIRST_USER_OID, Form, Type, Typed};

/// What a defined type is made of.
fn form(ty: Type, catalog: &dyn Definitions) -> Option<Form<'_>> {
    catalog.definition(ty).map(|definition| definition.form)
}

/// The element type of an array type, user-defined ones included.
pub fn element(ty: Type, catalog: &dyn Definitions) -> Option<Type> {
    if let Some(builtin) = builtin::by_oid(ty) {
        return builtin.element.filter(|_| builtin.is_array() || matches!(ty, Type::INT2VECTOR | Type::OIDVECTOR));
    }
    catalog.element(ty)
}

/// The array type over this type.
pub fn array_of(ty: Type, catalog: &dyn Definitions) -> Option<Type> {
    if let Some(builtin) = builtin::by_oid(ty) {
        return builtin.array;
    }
    catalog.definition(ty).map(|definition| definition.array)
}

/// The type below a domain (and the domains below it), with the modifier that it sets; any other type as it is.
pub fn base(typed: Typed, catalog: &dyn Definitions) -> Typed {
    let mut typed = typed;
    while typed.ty.0 >= FIRST_USER_OID
        && let Some(Form::Domain(base)) = form(typed.ty, catalog)
    {
        typed = base;
    }
    typed
}

/// Whether it is an enum.
pub fn is_enum(ty: Type, catalog: &dyn Definitions) -> bool {
    matches!(form(ty, catalog), Some(Form::Enum(_)))
}

/// Whether it is a domain.
pub fn is_domain(ty: Type, catalog: &dyn Definitions) -> bool {
    matches!(form(ty, catalog), Some(Form::Domain(_)))
}

/// Whether values of it are, or have in them, values of another type.
pub fn holds(ty: Type, wanted: Type, catalog: &dyn Definitions) -> bool {
    if ty == wanted {
        return true;
    }
    if let Some(element) = element(ty, catalog) {
        return holds(element, wanted, catalog);
    }
    match form(ty, catalog) {
        Some(Form::Domain(base)) => holds(base.ty, wanted, catalog),
        Some(Form::Composite(fields)) => fields.iter().any(|(_, typed)| holds(typed.ty, wanted, catalog)),
        _ => false,
    }
}

/// Whether values of it are, or have in them, values of a domain.
pub fn holds_domain(ty: Type, catalog: &dyn Definitions) -> bool {
    if let Some(element) = element(ty, catalog) {
        return holds_domain(element, catalog);
    }
    match form(ty, catalog) {
        Some(Form::Domain(_)) => true,
        Some(Form::Composite(fields)) => fields.iter().any(|(_, typed)| holds_domain(typed.ty, catalog)),
        _ => false,
    }
}

/// Whether it is a composite type (not the anonymous record).
pub fn is_composite(ty: Type, catalog: &dyn Definitions) -> bool {
    matches!(form(ty, catalog), Some(Form::Composite(_)))
}

/// `typcategory`
pub fn category(ty: Type, catalog: &dyn Definitions) -> char {
    if let Some(builtin) = builtin::by_oid(ty) {
        return builtin.category;
    }
    match form(ty, catalog) {
        Some(Form::Enum(_)) => 'E',
        Some(Form::Composite(_)) => 'C',
        Some(Form::Extension(category)) => category,
        Some(Form::Domain(base)) => category(base.ty, catalog),
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
