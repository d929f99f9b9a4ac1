//! Arrays: made of items, looked into, changed in one place.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Context, Run, Tuple};
use crate::ir::{Expr, Subscript};
use crate::types::json::Json;
use crate::types::{ArrayValue, Datum, Type, kind};

impl<'p> Run<'p> {
    pub(super) fn make_array(
        &mut self,
        cx: &mut dyn Context,
        items: &'p [Expr],
        ty: Type,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let nested = items.first().is_some_and(|item| item.ty() == ty);
        let values = self.eval_all(cx, items, tuple)?;
        if nested { stack(values, element_of(cx, ty)) } else { Ok(Datum::array(element_of(cx, ty), values)) }
    }

    pub(super) fn subscript(
        &mut self,
        cx: &mut dyn Context,
        arg: &'p Expr,
        indices: &'p [Subscript],
        tuple: &Tuple,
    ) -> Result<Datum> {
        match self.eval(cx, arg, tuple)? {
            Datum::Array(array) => Ok(match self.bounds(cx, indices, tuple)? {
                Some(bounds) if bounds.slice => slice(&array, &bounds),
                Some(bounds) => element(&array, &bounds),
                None => Datum::Null,
            }),
            Datum::Jsonb(json) => Ok(match self.json_path(cx, indices, tuple)? {
                Some(path) => {
                    json.path(&steps(&path)).map_or(Datum::Null, |found| Datum::Jsonb(Arc::new(found.clone())))
                }
                None => Datum::Null,
            }),
            Datum::Null => Ok(Datum::Null),
            _ => Err(SqlError::unsupported("a subscript of something that is neither an array nor jsonb")),
        }
    }

    pub(super) fn replace(
        &mut self,
        cx: &mut dyn Context,
        arg: &'p Expr,
        indices: &'p [Subscript],
        value: &'p Expr,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let old = match self.eval(cx, arg, tuple)? {
            Datum::Jsonb(json) => return self.replace_json(cx, &json, indices, value, tuple),
            Datum::Null if arg.ty() == Type::JSONB => {
                // What is not there yet is an array if the first subscript is a number.
                let is_array = matches!(indices.first(), Some(Subscript::Index(index)) if index.ty() == Type::INT4);
                let empty = if is_array { Json::Array(Vec::new()) } else { Json::object(Vec::new()) };
                return self.replace_json(cx, &empty, indices, value, tuple);
            }
            Datum::Array(array) => (*array).clone(),
            Datum::Null => ArrayValue { element: element_of(cx, arg.ty()), dimensions: Vec::new(), items: Vec::new() },
            _ => return Err(SqlError::unsupported("a subscript of something that is neither an array nor jsonb")),
        };
        let Some(bounds) = self.bounds(cx, indices, tuple)? else {
            let message = "array subscript in assignment must not be null";
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
        };
        let value = self.eval(cx, value, tuple)?;
        if !bounds.slice {
            return Ok(Datum::Array(Arc::new(with_element(old, &bounds, value)?)));
        }
        match value {
            Datum::Array(items) => Ok(Datum::Array(Arc::new(with_slice(old, &bounds, &items)?))),
            // As in PostgreSQL: a NULL array assigned to a slice changes nothing.
            _ => Ok(Datum::Array(Arc::new(old))),
        }
    }

    fn replace_json(
        &mut self,
        cx: &mut dyn Context,
        json: &Json,
        indices: &'p [Subscript],
        value: &'p Expr,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let Some(path) = self.json_path(cx, indices, tuple)? else {
            let message = "jsonb subscript in assignment must not be null";
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
        };
        let value = match self.eval(cx, value, tuple)? {
            Datum::Jsonb(value) => (*value).clone(),
            _ => Json::Null,
        };
        Ok(Datum::Jsonb(Arc::new(json.assign(&steps(&path), value)?)))
    }

    /// Subscripts as steps into a JSON value; nothing if one is NULL.
    fn json_path(
        &mut self,
        cx: &mut dyn Context,
        indices: &'p [Subscript],
        tuple: &Tuple,
    ) -> Result<Option<Vec<Arc<str>>>> {
        let mut path = Vec::with_capacity(indices.len());
        for index in indices {
            let Subscript::Index(index) = index else {
                let message = "jsonb subscript does not support slices";
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            };
            path.push(match self.eval(cx, index, tuple)? {
                Datum::Int(index) => index.to_string().into(),
                Datum::Text(key) => key,
                _ => return Ok(None),
            });
        }
        Ok(Some(path))
    }

    /// The subscripts' values; nothing if one is NULL.
    fn bounds(&mut self, cx: &mut dyn Context, indices: &'p [Subscript], tuple: &Tuple) -> Result<Option<Bounds>> {
        let slice = indices.iter().any(|index| matches!(index, Subscript::Slice(..)));
        let mut ranges = Vec::with_capacity(indices.len());
        for index in indices {
            let (from, to) = match index {
                Subscript::Index(index) => (None, Some(index)),
                Subscript::Slice(from, to) => (from.as_ref(), to.as_ref()),
            };
            let Some(low) = self.bound(cx, from, tuple)? else { return Ok(None) };
            let Some(high) = self.bound(cx, to, tuple)? else { return Ok(None) };
            // In a slice, a plain `[i]` means `[1:i]`.
            let one = matches!(index, Subscript::Index(_)).then_some(1);
            ranges.push((low.or(one), high));
        }
        Ok(Some(Bounds { slice, ranges }))
    }

    /// One bound: outer `None` if it is NULL, inner `None` if it is left out.
    fn bound(&mut self, cx: &mut dyn Context, expr: Option<&'p Expr>, tuple: &Tuple) -> Result<Option<Option<i64>>> {
        let Some(expr) = expr else { return Ok(Some(None)) };
        Ok(match self.eval(cx, expr, tuple)? {
            Datum::Int(value) => Some(Some(value)),
            _ => None,
        })
    }
}

/// Subscripts with their values: lower and upper bound of each dimension.
struct Bounds {
    slice: bool,
    ranges: Vec<(Option<i64>, Option<i64>)>,
}

fn steps(path: &[Arc<str>]) -> Vec<&str> {
    path.iter().map(|step| &**step).collect()
}

/// The type of an array's elements.
fn element_of(cx: &mut dyn Context, array: Type) -> Type {
    kind::element(array, cx.catalog()).unwrap_or(Type::TEXT)
}

/// The array of the values of a subquery.
pub(crate) fn array_of(cx: &mut dyn Context, items: Vec<Datum>, item: Type) -> Result<Datum> {
    match kind::element(item, cx.catalog()) {
        Some(element) => stack(items, element),
        None => Ok(Datum::array(item, items)),
    }
}

/// An array of arrays: one dimension more. NULLs and empty arrays count as empty.
fn stack(arrays: Vec<Datum>, element: Type) -> Result<Datum> {
    let mismatch = || {
        let message = "multidimensional arrays must have array expressions with matching dimensions";
        SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
    };
    let mut items = Vec::new();
    let mut inner: Option<Vec<(usize, i32)>> = None;
    for array in &arrays {
        let dimensions = match array {
            Datum::Array(array) => array.dimensions.clone(),
            _ => Vec::new(),
        };
        match &inner {
            Some(inner) if *inner != dimensions => return Err(mismatch()),
            Some(_) => {}
            None => inner = Some(dimensions),
        }
        if let Datum::Array(array) = array {
            items.extend(array.items.iter().cloned());
        }
    }
    if items.is_empty() {
        return Ok(Datum::array(element, items));
    }
    let dimensions = std::iter::once((arrays.len(), 1)).chain(inner.unwrap_or_default()).collect();
    Ok(Datum::Array(Arc::new(ArrayValue { element, dimensions, items })))
}

/// `a[1][2]`: NULL outside of the bounds, and if there are not as many subscripts as dimensions.
fn element(array: &ArrayValue, bounds: &Bounds) -> Datum {
    offset(array, bounds).and_then(|offset| array.items.get(offset)).cloned().unwrap_or_default()
}

/// The place of an element among the items.
fn offset(array: &ArrayValue, bounds: &Bounds) -> Option<usize> {
    if array.dimensions.len() != bounds.ranges.len() {
        return None;
    }
    let mut offset = 0;
    for (&(length, low), (_, index)) in array.dimensions.iter().zip(&bounds.ranges) {
        let place = usize::try_from((*index)? - i64::from(low)).ok().filter(|place| *place < length)?;
        offset = offset * length + place;
    }
    Some(offset)
}

/// `a[1:2]`: what the bounds cover of the array, with lower bounds of one.
fn slice(array: &ArrayValue, bounds: &Bounds) -> Datum {
    let nothing = || Datum::array(array.element, Vec::new());
    if bounds.ranges.len() > array.dimensions.len() {
        return nothing();
    }
    let Some(ranges) = places(array, bounds) else { return nothing() };
    let mut items = Vec::new();
    gather(array, &ranges, 0, 0, &mut items);
    let dimensions = ranges.iter().map(|(from, to)| (to - from, 1)).collect();
    Datum::Array(Arc::new(ArrayValue { element: array.element, dimensions, items }))
}

/// The half-open ranges of places in each dimension that the bounds cover; nothing if they cover nothing.
fn places(array: &ArrayValue, bounds: &Bounds) -> Option<Vec<(usize, usize)>> {
    let mut ranges = Vec::with_capacity(array.dimensions.len());
    for (dimension, &(length, low)) in array.dimensions.iter().enumerate() {
        let low = i64::from(low);
        let last = low + i64::try_from(length).expect("arrays are shorter than i64") - 1;
        let (from, to) = bounds.ranges.get(dimension).copied().unwrap_or_default();
        let (from, to) = (from.unwrap_or(low).max(low), to.unwrap_or(last).min(last));
        if from > to {
            return None;
        }
        let place = |index: i64| usize::try_from(index - low).expect("clipped to the array's bounds");
        ranges.push((place(from), place(to) + 1));
    }
    (!ranges.is_empty()).then_some(ranges)
}

fn gather(array: &ArrayValue, ranges: &[(usize, usize)], dimension: usize, base: usize, items: &mut Vec<Datum>) {
    let Some(&(from, to)) = ranges.get(dimension) else {
        items.extend(array.items.get(base).cloned());
        return;
    };
    for place in from..to {
        gather(array, ranges, dimension + 1, base * array.dimensions[dimension].0 + place, items);
    }
}

fn out_of_range() -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "array subscript out of range")
}

/// The most items that an array has, as in PostgreSQL.
const LARGEST_ARRAY: i64 = 134_217_727;

/// An array with one element replaced. Only arrays of one dimension grow.
fn with_element(mut array: ArrayValue, bounds: &Bounds, value: Datum) -> Result<ArrayValue> {
    if array.dimensions.is_empty() {
        let lows = bounds.ranges.iter().map(|(_, index)| index.and_then(|index| i32::try_from(index).ok()));
        array.dimensions = lows.map(|low| low.map(|low| (1, low))).collect::<Option<_>>().ok_or_else(out_of_range)?;
        array.items = vec![value];
        return Ok(array);
    }
    if let (&[dimension], &[(_, Some(index))]) = (&array.dimensions[..], &bounds.ranges[..]) {
        grow(&mut array, dimension, index, index)?;
    }
    let offset = offset(&array, bounds).ok_or_else(out_of_range)?;
    array.items[offset] = value;
    Ok(array)
}

/// An array with a slice replaced.
fn with_slice(mut array: ArrayValue, bounds: &Bounds, source: &ArrayValue) -> Result<ArrayValue> {
    let wrong = |message: &str| SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message);
    let count = bounds.ranges.len();
    if array.dimensions.is_empty() && bounds.ranges.iter().any(|range| range.0.is_none() || range.1.is_none()) {
        return Err(wrong("array slice subscript must provide both boundaries")
            .detail("When assigning to a slice of an empty array value, slice boundaries must be fully specified."));
    }
    if !array.dimensions.is_empty() && array.dimensions.len() < count {
        return Err(wrong("wrong number of array subscripts"));
    }
    // Dimensions without a subscript are meant as a whole.
    let mut ranges = Vec::with_capacity(array.dimensions.len().max(count));
    for at in 0..array.dimensions.len().max(count) {
        let (from, to) = bounds.ranges.get(at).copied().unwrap_or_default();
        let whole = array.dimensions.get(at).map_or((1, 0), |&(length, low)| (i64::from(low), end(length, low) - 1));
        ranges.push((from.unwrap_or(whole.0), to.unwrap_or(whole.1)));
    }
    if ranges.iter().any(|(from, to)| from > to) {
        return Err(wrong("upper bound cannot be less than lower bound"));
    }
    match (&array.dimensions[..], &ranges[..]) {
        ([], _) => {
            let lengths = ranges.iter().map(|(from, to)| to.saturating_sub(*from).saturating_add(1));
            must_fit(lengths.fold(1, i64::saturating_mul))?;
            let dimension =
                |&(from, to): &(i64, i64)| Some((usize::try_from(to - from + 1).ok()?, i32::try_from(from).ok()?));
            array.dimensions = ranges.iter().map(dimension).collect::<Option<_>>().ok_or_else(out_of_range)?;
            array.items = vec![Datum::Null; array.dimensions.iter().map(|(length, _)| length).product()];
        }
        (&[dimension], &[(from, to)]) => grow(&mut array, dimension, from, to)?,
        (dimensions, _) => {
            let within = |(range, dimension): (&(i64, i64), &(usize, i32))| {
                range.0 >= i64::from(dimension.1) && range.1 < end(dimension.0, dimension.1)
            };
            if !ranges.iter().zip(dimensions).all(within) {
                return Err(out_of_range());
            }
        }
    }
    replace_items(&mut array, &ranges, source).ok_or_else(|| wrong("source array too small")).map(|()| array)
}

/// Puts the first items of another array where these ranges are; nothing is done if there are too few.
fn replace_items(array: &mut ArrayValue, ranges: &[(i64, i64)], source: &ArrayValue) -> Option<()> {
    let mut places = vec![0];
    for (&(from, to), &(length, low)) in ranges.iter().zip(&array.dimensions) {
        let from = usize::try_from(from - i64::from(low)).ok()?;
        let to = usize::try_from(to - i64::from(low)).ok()?;
        places = places.iter().flat_map(|place| (from..=to).map(move |at| place * length + at)).collect();
    }
    if source.items.len() < places.len() {
        return None;
    }
    for (place, item) in places.into_iter().zip(&source.items) {
        *array.items.get_mut(place)? = item.clone();
    }
    Some(())
}

/// The index after a dimension's last one.
fn end(length: usize, low: i32) -> i64 {
    i64::from(low) + i64::try_from(length).unwrap_or(i64::MAX / 2)
}

fn must_fit(length: i64) -> Result<()> {
    if length > LARGEST_ARRAY {
        let message = format!("array size exceeds the maximum allowed ({LARGEST_ARRAY})");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    Ok(())
}

/// Makes room for the indices `from ..= to` in an array of one dimension; what was not there is NULL.
fn grow(array: &mut ArrayValue, (length, low): (usize, i32), from: i64, to: i64) -> Result<()> {
    let new_low = from.min(i64::from(low));
    let new_length = to.max(end(length, low) - 1) - new_low + 1;
    must_fit(new_length)?;
    let before = usize::try_from(i64::from(low) - new_low).map_err(|_| out_of_range())?;
    let new_length = usize::try_from(new_length).map_err(|_| out_of_range())?;
    array.items.splice(0..0, std::iter::repeat_n(Datum::Null, before));
    array.items.resize(new_length, Datum::Null);
    array.dimensions = vec![(new_length, i32::try_from(new_low).map_err(|_| out_of_range())?)];
    Ok(())
}
