//! Conversions between types: which there are, where they may happen by themselves, and what they do.
//!
//! A domain counts as the type below it. [`cast`] to a domain converts to that type and obeys its modifier; whoever calls it
//! evaluates the domain's NOT NULL and CHECK conditions afterwards, outermost domain last.

mod convert;
pub mod table;

use std::sync::Arc;

use crate::Env;
use crate::error::{Result, SqlError, SqlState};
use crate::{ArrayValue, Datum, Definitions, Form, RecordShape, Type, Typed, hstore, kind, names, text};

/// Where a conversion may happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CastContext {
    /// Anywhere.
    Implicit,
    /// When a column or a variable is assigned, and when it is asked for.
    Assignment,
    /// Only when it is asked for.
    Explicit,
}

/// The weakest reason for which a value of one type becomes one of the other; `None` if it never does.
pub fn context(from: Type, to: Type, catalog: &dyn Definitions) -> Option<CastContext> {
    if from == to || from == Type::UNKNOWN || to == Type::ANY {
        return Some(CastContext::Implicit);
    }
    let (from, to) = (kind::base(from.into(), catalog).ty, kind::base(to.into(), catalog).ty);
    if from == to {
        return Some(CastContext::Implicit);
    }
    if let Some(context) = listed(from, to).or_else(|| of_extension(from, to)) {
        return Some(context);
    }
    let string = |ty| kind::category(ty, catalog) == 'S';
    match (kind::element(from, catalog), kind::element(to, catalog)) {
        // Vectors would otherwise catch what is meant for real arrays.
        (Some(from_element), Some(to_element)) if !matches!(to, Type::OIDVECTOR | Type::INT2VECTOR) => {
            if let Some(context) = context(from_element, to_element, catalog) {
                return Some(context);
            }
        }
        _ if is_row(from, catalog) && is_row(to, catalog) => {
            // An anonymous row fits if its fields do, which only the values tell.
            return match (from, to) {
                (Type::RECORD, _) => Some(CastContext::Implicit),
                (_, Type::RECORD) => Some(CastContext::Implicit),
                _ => None,
            };
        }
        _ => {}
    }
    // Everything has a text form.
    if string(to) {
        return Some(CastContext::Assignment);
    }
    string(from).then_some(CastContext::Explicit)
}

/// What `pg_cast` says.
pub fn listed(from: Type, to: Type) -> Option<CastContext> {
    let at = table::TABLE.binary_search_by_key(&(from.0, to.0), |row| (row.0, row.1)).ok()?;
    Some(match table::TABLE[at].2 {
        b'i' => CastContext::Implicit,
        b'a' => CastContext::Assignment,
        _ => CastContext::Explicit,
    })
}

/// Whether the function that converts is STABLE rather than IMMUTABLE: what it does depends on settings or on the catalog.
/// A conversion that has no function goes by the text form of the one type and the input function of the other.
pub fn is_stable(from: Type, to: Type, catalog: &dyn Definitions) -> bool {
    let (from, to) = (kind::base(from.into(), catalog).ty, kind::base(to.into(), catalog).ty);
    if from == to || from == Type::UNKNOWN {
        return false;
    }
    if let (Some(from), Some(to)) = (kind::element(from, catalog), kind::element(to, catalog)) {
        return is_stable(from, to, catalog);
    }
    if is_row(from, catalog) && is_row(to, catalog) {
        return false;
    }
    let is_text = |ty| matches!(ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR);
    match (from, to) {
        (Type::TIMESTAMPTZ, Type::DATE | Type::TIME | Type::TIMETZ | Type::TIMESTAMP)
        | (Type::DATE | Type::TIMESTAMP, Type::TIMESTAMPTZ)
        | (Type::TIME, Type::TIMETZ)
        | (Type::MONEY, Type::NUMERIC)
        | (Type::INT4 | Type::INT8 | Type::NUMERIC, Type::MONEY) => true,
        (from, Type::REGCLASS) if is_text(from) => true,
        _ if listed(from, to).is_some() => false,
        _ => has_stable_form(from, TextForm::Output, catalog) || has_stable_form(to, TextForm::Input, catalog),
    }
}

/// Whether a function converts, rather than the text form, or nothing because both are kept alike.
pub fn has_function(from: Type, to: Type, catalog: &dyn Definitions) -> bool {
    let (from, to) = (kind::base(from.into(), catalog).ty, kind::base(to.into(), catalog).ty);
    let is_text = |ty| matches!(ty, Type::TEXT | Type::VARCHAR);
    let is_number = |ty| matches!(ty, Type::OID | Type::REGCLASS | Type::REGPROC | Type::REGTYPE | Type::INT4);
    let is_alike = is_text(from) && is_text(to) || is_number(from) && is_number(to);
    from != to && !is_alike && listed(from, to).is_some()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Input,
    Output,
}

/// Whether a type's input or output function is STABLE.
fn has_stable_form(ty: Type, form: TextForm, catalog: &dyn Definitions) -> bool {
    match ty {
        Type::TIME | Type::TIMETZ => form == TextForm::Input,
        Type::DATE
        | Type::INTERVAL
        | Type::MONEY
        | Type::RECORD
        | Type::TIMESTAMP
        | Type::TIMESTAMPTZ
        | Type::REGCLASS
        | Type::REGCOLLATION
        | Type::REGNAMESPACE
        | Type::REGPROC
        | Type::REGPROCEDURE
        | Type::REGROLE
        | Type::REGTYPE => true,
        _ => kind::element(ty, catalog).is_some() || kind::is_enum(ty, catalog) || is_row(ty, catalog),
    }
}

/// The casts of extensions.
fn of_extension(from: Type, to: Type) -> Option<CastContext> {
    match (from, to) {
        (Type::CITEXT, Type::TEXT | Type::VARCHAR) => Some(CastContext::Implicit),
        (Type::HSTORE, Type::JSON | Type::JSONB) | (Type::TEXT_ARRAY, Type::HSTORE) => Some(CastContext::Explicit),
        _ => None,
    }
}

/// Whether a value of one type is one of the other without a change.
pub fn is_relabeling(from: Type, to: Type) -> bool {
    let found = table::TABLE.binary_search_by_key(&(from.0, to.0), |row| (row.0, row.1));
    from == to || found.is_ok_and(|at| table::TABLE[at].3 == b'b')
}

fn is_row(ty: Type, catalog: &dyn Definitions) -> bool {
    ty == Type::RECORD || kind::is_composite(ty, catalog)
}

/// Converts a value. `explicit` is what `CAST` and `::` ask for: text that is too long for varchar(n) is then cut off.
pub fn cast(value: Datum, from: Type, to: Typed, explicit: bool, env: &mut dyn Env) -> Result<Datum> {
    if value.is_null() {
        return Ok(value);
    }
    let env = &*env;
    convert_value(value, from, to, explicit, env)
}

fn convert_value(value: Datum, from: Type, to: Typed, explicit: bool, env: &dyn Env) -> Result<Datum> {
    if value.is_null() {
        return Ok(value);
    }
    let catalog = env.defined();
    let from = kind::base(from.into(), catalog).ty;
    let to = kind::base(to, catalog);
    if from == Type::UNKNOWN
        && let Datum::Text(literal) = &value
    {
        // An interval's fields decide what a bare number means; any other modifier comes afterwards, because an
        // explicit cast is not an assignment.
        let modifier = if to.ty == Type::INTERVAL { to.modifier } else { -1 };
        return constrain_items(text::input(literal, Typed { ty: to.ty, modifier }, env)?, to, explicit);
    }
    if from == to.ty || to.ty == Type::ANY {
        return constrain_items(value, to, explicit);
    }
    // How many bits there are decides which ones.
    if let (Datum::Int(number), Type::INT4 | Type::INT8, Type::BIT) = (&value, from, to.ty) {
        return Ok(convert::integer_to_bits(*number, to.modifier));
    }
    if let (Datum::Text(pairs), Type::HSTORE, Type::JSON | Type::JSONB) = (&value, from, to.ty) {
        return text::input(&hstore::as_json(pairs)?, to, env);
    }
    if let (Datum::Array(array), Type::TEXT_ARRAY, Type::HSTORE) = (&value, from, to.ty) {
        return hstore::of_array(array);
    }
    if let Some(converted) = convert::known(&value, from, to.ty, env) {
        return convert::constrain(converted?, to, explicit);
    }
    match (&value, kind::element(to.ty, catalog)) {
        (Datum::Array(array), Some(element)) => {
            return convert_array(array, Typed { ty: element, modifier: to.modifier }, explicit, env);
        }
        (Datum::Record(record), None) if to.ty == Type::RECORD => return Ok(Datum::Record(record.clone())),
        (Datum::Record(_), None) if kind::is_composite(to.ty, catalog) => {
            return convert_record(&value, to.ty, explicit, env);
        }
        _ => {}
    }
    if context(from, to.ty, catalog).is_none() {
        return Err(cannot_cast(from, to.ty, catalog));
    }
    let shown = text::output(&value, from, env);
    let modifier = if to.ty == Type::INTERVAL { to.modifier } else { -1 };
    constrain_items(text::input(&shown, Typed { ty: to.ty, modifier }, env)?, to, explicit)
}

/// The same type with another modifier.
fn constrain_items(value: Datum, to: Typed, explicit: bool) -> Result<Datum> {
    match &value {
        Datum::Array(array) if to.modifier >= 0 => {
            let item = Typed { ty: array.element, modifier: to.modifier };
            let items = array.items.iter().map(|datum| convert::constrain(datum.clone(), item, explicit));
            let items = items.collect::<Result<_>>()?;
            let dimensions = array.dimensions.clone();
            Ok(Datum::Array(Arc::new(ArrayValue { element: array.element, dimensions, items })))
        }
        _ => convert::constrain(value, to, explicit),
    }
}

fn convert_array(array: &ArrayValue, element: Typed, explicit: bool, env: &dyn Env) -> Result<Datum> {
    let convert = |item: &Datum| convert_value(item.clone(), array.element, element, explicit, env);
    let items = array.items.iter().map(convert).collect::<Result<_>>()?;
    let dimensions = array.dimensions.clone();
    Ok(Datum::Array(Arc::new(ArrayValue { element: element.ty, dimensions, items })))
}

/// A row to a composite type: field by field.
fn convert_record(value: &Datum, to: Type, explicit: bool, env: &dyn Env) -> Result<Datum> {
    let catalog = env.defined();
    let Datum::Record(record) = value else { return Err(cannot_cast(Type::RECORD, to, catalog)) };
    let Some(Form::Composite(fields)) = catalog.definition(to).map(|definition| definition.form) else {
        return Err(cannot_cast(record.shape.ty, to, catalog));
    };
    if fields.len() != record.fields.len() {
        let few = record.fields.len() < fields.len();
        let detail = if few { "Input has too few columns." } else { "Input has too many columns." };
        return Err(cannot_cast(record.shape.ty, to, catalog).detail(detail));
    }
    let mut values = Vec::with_capacity(fields.len());
    for (at, (_, typed)) in fields.iter().enumerate() {
        let (_, from) = &record.shape.fields[at];
        values.push(convert_value(record.fields[at].clone(), from.ty, *typed, explicit, env)?);
    }
    Ok(Datum::record(Arc::new(RecordShape { ty: to, fields: fields.to_vec() }), values))
}

/// `42846`
pub fn cannot_cast(from: Type, to: Type, catalog: &dyn Definitions) -> SqlError {
    SqlError::new(
        SqlState::CANNOT_COERCE,
        format!("cannot cast type {} to {}", names::display(from, catalog), names::display(to, catalog)),
    )
}

/// A value of a type, as that type with this modifier takes it in an assignment.
pub fn constrain(value: Datum, to: Typed) -> Result<Datum> {
    constrain_items(value, to, false)
}
