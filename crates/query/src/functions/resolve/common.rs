//! The one type of several expressions: UNION, CASE, VALUES, ARRAY, COALESCE, GREATEST.

use crate::catalog::Catalog;
use crate::error::Result;
use crate::functions::kinds;
use crate::functions::resolve::mismatch;
use crate::types::Type;

/// The type that all of these become; `context` (`CASE`, `UNION`, `ARRAY`, …) is for the error. Of unknowns only: text.
pub fn common_type(context: &str, types: &[Type], catalog: &Catalog) -> Result<Type> {
    common_type_of(types, catalog).map_err(|(first, other)| {
        let (first, other) = (kinds::display(first, catalog), kinds::display(other, catalog));
        mismatch(format!("{context} types {first} and {other} cannot be matched"))
    })
}

/// The same; what cannot be matched is told as the two types.
pub fn common_type_of(types: &[Type], catalog: &Catalog) -> Result<Type, (Type, Type)> {
    let first = types.first().copied().unwrap_or(Type::UNKNOWN);
    if first != Type::UNKNOWN && types.iter().all(|ty| *ty == first) {
        return Ok(first);
    }
    let mut chosen = kinds::base(first, catalog);
    for ty in types.iter().skip(1).map(|ty| kinds::base(*ty, catalog)) {
        if ty == Type::UNKNOWN || ty == chosen {
            continue;
        }
        if chosen == Type::UNKNOWN {
            chosen = ty;
        } else if kinds::category(ty, catalog) != kinds::category(chosen, catalog) {
            return Err((chosen, ty));
        } else if !kinds::is_preferred(chosen)
            && kinds::implicit(chosen, ty, catalog)
            && !kinds::implicit(ty, chosen, catalog)
        {
            chosen = ty;
        }
    }
    Ok(if chosen == Type::UNKNOWN { Type::TEXT } else { chosen })
}
