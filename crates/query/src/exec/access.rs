//! Which rows a scan looks at, once its bounds have values.

use crate::catalog::{Catalog, Oid, RelationKind};
use crate::error::Result;
use crate::exec::keys;
use crate::exec::{AccessRange, Context, Run, Tuple};
use crate::ir::{Access, Expr, KeyValue};
use crate::types::{Datum, Type};

/// The ranges of an access path; `None` if no row can qualify, because of a NULL or an empty list.
pub(crate) fn evaluate<'p>(access: &'p Access, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<AccessRange>> {
    let Access::Index { index, equal, from, to } = access else { return Ok(Some(AccessRange::All)) };
    let mut alternatives = vec![Vec::with_capacity(equal.len())];
    for (position, key) in equal.iter().enumerate() {
        match key_values(key, run, cx)? {
            KeyValues::One(value) => alternatives.iter_mut().for_each(|list| list.push(value.clone())),
            KeyValues::Several(mut values, ty) => {
                ascending(&mut values, ty, is_descending(cx.catalog(), *index, position));
                run.keep(alternatives.len() * values.len() * size_of::<Vec<Datum>>())?;
                alternatives = product(&alternatives, &values);
            }
            KeyValues::Never => return Ok(None),
        }
    }
    let Some(from) = bound(from, run, cx)? else { return Ok(None) };
    let Some(to) = bound(to, run, cx)? else { return Ok(None) };
    Ok((!alternatives.is_empty()).then_some(AccessRange::Index { index: *index, equal: alternatives, from, to }))
}

/// What a key can be equal to.
pub(crate) enum KeyValues {
    One(Datum),
    Several(Vec<Datum>, Type),
    Never,
}

/// What a key is equal to, without NULLs that are never equal to anything. One NULL means IS NULL.
pub(crate) fn key_values<'p>(key: &'p KeyValue, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<KeyValues> {
    let none = Tuple::default();
    match key {
        KeyValue::Null => Ok(KeyValues::One(Datum::Null)),
        KeyValue::One(expr) => Ok(match run.eval(cx, expr, &none)? {
            Datum::Null => KeyValues::Never,
            value => KeyValues::One(value),
        }),
        KeyValue::Any(exprs) => {
            let mut values = Vec::with_capacity(exprs.len());
            for expr in exprs {
                let value = run.eval(cx, expr, &none)?;
                if !value.is_null() {
                    values.push(value);
                }
            }
            Ok(KeyValues::Several(values, exprs.first().map_or(Type::TEXT, Expr::ty)))
        }
        KeyValue::Array(expr) => Ok(match run.eval(cx, expr, &none)? {
            Datum::Array(array) => {
                let values = array.items.iter().filter(|item| !item.is_null()).cloned().collect();
                KeyValues::Several(values, array.element)
            }
            _ => KeyValues::Never,
        }),
    }
}

/// A bound with its value: `None` outside if it is NULL, which nothing compares with.
type Bound = Option<(Datum, bool)>;

fn bound<'p>(bound: &'p Option<(Expr, bool)>, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Bound>> {
    let Some((expr, inclusive)) = bound else { return Ok(Some(None)) };
    Ok(match run.eval(cx, expr, &Tuple::default())? {
        Datum::Null => None,
        value => Some(Some((value, *inclusive))),
    })
}

fn ascending(values: &mut Vec<Datum>, ty: Type, descending: bool) {
    values.sort_by(|a, b| keys::compare(a, b, ty));
    values.dedup_by(|a, b| keys::compare(a, b, ty).is_eq());
    if descending {
        values.reverse();
    }
}

fn product(lists: &[Vec<Datum>], values: &[Datum]) -> Vec<Vec<Datum>> {
    let extended = |list: &Vec<Datum>, value: &Datum| list.iter().chain([value]).cloned().collect();
    lists.iter().flat_map(|list| values.iter().map(move |value| extended(list, value))).collect()
}

fn is_descending(catalog: &Catalog, index: Oid, position: usize) -> bool {
    match catalog.relation(index).map(|relation| &relation.kind) {
        Some(RelationKind::Index(index)) => index.keys.get(position).is_some_and(|key| key.descending),
        _ => false,
    }
}
