//! `anyelement` and its family: which types they stand for in a call.
//!
//! In the family of `anyelement` all arguments agree exactly; in that of `anycompatible` they agree on a common type.

use crate::catalog::Catalog;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::kinds::{self, ANYCOMPATIBLE, ANYCOMPATIBLEARRAY, ANYCOMPATIBLENONARRAY};
use crate::functions::resolve::{common_type_of, mismatch};
use crate::types::Type;

/// Whether a type stands for others.
pub(super) fn is(ty: Type) -> bool {
    matches!(ty, Type::ANYELEMENT | Type::ANYARRAY | Type::ANYNONARRAY | Type::ANYENUM) || is_compatible(ty)
}

fn is_compatible(ty: Type) -> bool {
    matches!(ty, ANYCOMPATIBLE | ANYCOMPATIBLEARRAY | ANYCOMPATIBLENONARRAY)
}

/// Whether the arguments can stand together for the polymorphic parameters.
pub(super) fn consistent(args: &[Type], declared: &[Type], catalog: &Catalog) -> bool {
    if !declared.iter().any(|ty| is(*ty)) {
        return true;
    }
    exact_element(args, declared, catalog).is_ok() && compatible_element(args, declared, catalog).is_ok()
}

/// The types that the arguments are converted to, and the type of the result.
pub(super) fn apply(declared: &[Type], args: &[Type], returns: Type, catalog: &Catalog) -> Result<(Vec<Type>, Type)> {
    if !is(returns) && !declared.iter().any(|ty| is(*ty)) {
        return Ok((declared.to_vec(), returns));
    }
    let exact = exact_element(args, declared, catalog)?;
    if exact.is_none() && declared.iter().chain([&returns]).any(|ty| is(*ty) && !is_compatible(*ty)) {
        return Err(mismatch("could not determine polymorphic type because input has type unknown"));
    }
    let family = Family { exact, compatible: compatible_element(args, declared, catalog)?, catalog };
    let pairs = declared.iter().zip(args);
    let types = pairs.map(|(ty, given)| family.stands_for(*ty, *given)).collect::<Result<Vec<_>>>()?;
    Ok((types, family.stands_for(returns, returns)?))
}

/// What some other types of the signature stand for in a call.
pub(super) fn standing(declared: &[Type], args: &[Type], types: &[Type], catalog: &Catalog) -> Result<Vec<Type>> {
    let exact = exact_element(args, declared, catalog)?;
    let family = Family { exact, compatible: compatible_element(args, declared, catalog)?, catalog };
    types.iter().map(|ty| family.stands_for(*ty, *ty)).collect()
}

/// What the element types are in this call.
struct Family<'a> {
    exact: Option<Type>,
    compatible: Option<Type>,
    catalog: &'a Catalog,
}

impl Family<'_> {
    /// What a type stands for.
    fn stands_for(&self, ty: Type, given: Type) -> Result<Type> {
        match ty {
            Type::ANYELEMENT | Type::ANYNONARRAY | Type::ANYENUM => Ok(self.exact.unwrap_or(given)),
            Type::ANYARRAY => match self.exact {
                Some(element) => array_over(element, self.catalog),
                None => Ok(given),
            },
            ANYCOMPATIBLE | ANYCOMPATIBLENONARRAY => Ok(self.compatible.unwrap_or(Type::TEXT)),
            ANYCOMPATIBLEARRAY => array_over(self.compatible.unwrap_or(Type::TEXT), self.catalog),
            other => Ok(other),
        }
    }
}

/// What `anyelement` is, if an argument says so.
fn exact_element(args: &[Type], declared: &[Type], catalog: &Catalog) -> Result<Option<Type>> {
    let (mut element, mut array) = (None, None);
    for (given, declared) in args.iter().zip(declared).filter(|(given, _)| **given != Type::UNKNOWN) {
        match *declared {
            Type::ANYELEMENT | Type::ANYNONARRAY | Type::ANYENUM => agree(&mut element, *given, "anyelement", catalog)?,
            Type::ANYARRAY => agree(&mut array, kinds::base(*given, catalog), "anyarray", catalog)?,
            _ => {}
        }
    }
    if let Some(array) = array {
        let item = kinds::element(array, catalog).ok_or_else(|| not_array(Type::ANYARRAY, array, catalog))?;
        if *element.get_or_insert(item) != item {
            let (array, element) = (kinds::display(array, catalog), kinds::display(element.unwrap_or(item), catalog));
            return Err(mismatch("argument declared anyarray is not consistent with argument declared anyelement")
                .detail(format!("{array} versus {element}")));
        }
    }
    let Some(element) = element else { return Ok(None) };
    if declared.contains(&Type::ANYNONARRAY) && kinds::element(element, catalog).is_some() {
        let name = kinds::display(element, catalog);
        return Err(mismatch(format!("type matched to anynonarray is an array type: {name}")));
    }
    if declared.contains(&Type::ANYENUM) && !kinds::is_enum(element, catalog) {
        let name = kinds::display(element, catalog);
        return Err(mismatch(format!("type matched to anyenum is not an enum type: {name}")));
    }
    Ok(Some(element))
}

fn agree(known: &mut Option<Type>, given: Type, declared: &str, catalog: &Catalog) -> Result<()> {
    let known = *known.get_or_insert(given);
    if known == given {
        return Ok(());
    }
    let (known, given) = (kinds::display(known, catalog), kinds::display(given, catalog));
    Err(mismatch(format!("arguments declared \"{declared}\" are not all alike"))
        .detail(format!("{known} versus {given}")))
}

/// What `anycompatible` is, if an argument says so.
fn compatible_element(args: &[Type], declared: &[Type], catalog: &Catalog) -> Result<Option<Type>> {
    let mut types = Vec::new();
    for (given, declared) in args.iter().zip(declared).filter(|(_, declared)| is_compatible(**declared)) {
        if *declared == ANYCOMPATIBLEARRAY && *given != Type::UNKNOWN {
            let given = kinds::base(*given, catalog);
            types.push(kinds::element(given, catalog).ok_or_else(|| not_array(*declared, given, catalog))?);
        } else {
            types.push(*given);
        }
    }
    if types.iter().all(|ty| *ty == Type::UNKNOWN) {
        return Ok(None);
    }
    let common = common_type_of(&types, catalog).map_err(|(first, other)| {
        let (first, other) = (kinds::display(first, catalog), kinds::display(other, catalog));
        mismatch(format!("arguments of anycompatible family cannot be cast to a common type: {first} and {other}"))
    })?;
    if !types.iter().all(|ty| kinds::implicit(*ty, common, catalog)) {
        return Err(mismatch("arguments of anycompatible family cannot be cast to a common type"));
    }
    if declared.contains(&ANYCOMPATIBLENONARRAY) && kinds::element(common, catalog).is_some() {
        let name = kinds::display(common, catalog);
        return Err(mismatch(format!("type matched to anycompatiblenonarray is an array type: {name}")));
    }
    Ok(Some(common))
}

/// The array type over a type.
pub(super) fn array_over(element: Type, catalog: &Catalog) -> Result<Type> {
    kinds::array_of(element, catalog).ok_or_else(|| {
        let name = kinds::display(element, catalog);
        SqlError::new(SqlState::UNDEFINED_OBJECT, format!("could not find array type for data type {name}"))
    })
}

fn not_array(declared: Type, given: Type, catalog: &Catalog) -> SqlError {
    let (declared, given) = (kinds::display(declared, catalog), kinds::display(given, catalog));
    mismatch(format!("argument declared {declared} is not an array but type {given}"))
}
