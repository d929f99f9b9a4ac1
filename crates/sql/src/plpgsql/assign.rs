//! Giving values to variables, their fields and items.

use std::sync::Arc;

use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::Output;
use crate::plpgsql::bound::{Step, Target};
use crate::plpgsql::machine::Machine;
use crate::types::{ArrayValue, Datum, RecordShape, Type, Typed, kind};

impl Machine<'_, '_> {
    /// Gives a value to a variable or a part of one.
    pub(super) fn assign(&mut self, target: &Target, value: Datum, from: Typed) -> Result<()> {
        let typed = self.program.variables[target.place].typed;
        if target.steps.is_empty() {
            return self.assign_whole(target.place, value, from);
        }
        // Subscripts are worked out from the left before anything is changed.
        let mut steps = Vec::with_capacity(target.steps.len());
        for step in &target.steps {
            steps.push(match step {
                Step::Field(field) => Part::Field(field),
                Step::Index(index) => match self.eval_as(index, Type::INT4.into())? {
                    Datum::Int(index) => Part::Index(index),
                    _ => {
                        let message = "array subscript in assignment must not be null";
                        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
                    }
                },
            });
        }
        let name = self.program.variables[target.place].name.clone();
        // Taken out of the frame, the value has no other owner, so that its part is changed where it is.
        let mut whole = self.take(target.place);
        let change = self.change_part(&mut whole, typed, &name, &steps, value, from);
        self.put_changed(target.place, whole, *change.as_ref().unwrap_or(&WeightChange::NONE));
        change.map(|_| ())
    }

    /// Gives a value to a whole variable.
    pub(super) fn assign_whole(&mut self, place: usize, value: Datum, from: Typed) -> Result<()> {
        let variable = &self.program.variables[place];
        let (typed, not_null) = (variable.typed, variable.not_null);
        let row = typed.ty == Type::RECORD || kind::is_composite(typed.ty, &self.world.catalog);
        if row && !value.is_null() && !matches!(value, Datum::Record(_)) {
            // PostgreSQL would go by the value's text.
            let message = match typed.ty {
                Type::RECORD => "input of anonymous composite types is not implemented",
                _ => "cannot assign non-composite value to a row variable",
            };
            let state = match typed.ty {
                Type::RECORD => SqlState::FEATURE_NOT_SUPPORTED,
                _ => SqlState::DATATYPE_MISMATCH,
            };
            return Err(SqlError::new(state, message));
        }
        let value = self.convert(value, from, typed)?;
        if not_null && value.is_null() {
            let name = &self.program.variables[place].name;
            let message = format!("null value cannot be assigned to variable \"{name}\" declared NOT NULL");
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
        }
        self.put(place, value);
        Ok(())
    }

    /// Changes a part of a value, or the whole of it where no steps are left. After an error the value is what it was; a row
    /// that was NULL is possibly one of NULLs.
    fn change_part(
        &mut self,
        whole: &mut Datum,
        typed: Typed,
        name: &str,
        steps: &[Part<'_>],
        value: Datum,
        from: Typed,
    ) -> Result<WeightChange> {
        let Some((step, rest)) = steps.split_first() else {
            let new = self.convert(value, from, typed)?;
            let change = WeightChange { added: new.weight(), removed: whole.weight() };
            *whole = new;
            return Ok(change);
        };
        match step {
            Part::Field(field) => {
                self.must_have_fields(whole, typed, name)?;
                let Datum::Record(record) = whole else { unreachable!("it has just been made one") };
                let record = Arc::make_mut(record);
                let Some(index) = record.shape.fields.iter().position(|(known, _)| &**known == *field) else {
                    let message = format!("record \"{name}\" has no field \"{field}\"");
                    return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
                };
                let typed = record.shape.fields[index].1;
                self.change_part(&mut record.fields[index], typed, field, rest, value, from)
            }
            Part::Index(_) => {
                let element = kind::element(kind::base(typed, &self.world.catalog).ty, &self.world.catalog);
                let Some(element) = element else {
                    let shown = crate::types::names::display(typed.ty, &self.world.catalog);
                    let message = format!("cannot subscript type {shown} because it does not support subscripting");
                    return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
                };
                let indices: Vec<i64> = steps.iter().map_while(Part::index).collect();
                let (element, rest) = (Typed { ty: element, modifier: typed.modifier }, &steps[indices.len()..]);
                if let Some(item) = item_mut(whole, &indices) {
                    return self.change_part(item, element, name, rest, value, from);
                }
                let mut item = Datum::Null;
                self.change_part(&mut item, element, name, rest, value, from)?;
                add_item(whole, element.ty, &indices, item)
            }
        }
    }

    /// Makes a row of NULLs of a NULL whose type says which fields it has.
    fn must_have_fields(&self, whole: &mut Datum, typed: Typed, name: &str) -> Result<()> {
        if matches!(whole, Datum::Record(_)) {
            return Ok(());
        }
        let Some(shape) = self.composite_shape(typed.ty) else {
            let message = format!("record \"{name}\" is not assigned yet");
            let detail = "The tuple structure of a not-yet-assigned record is indeterminate.";
            return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message).detail(detail));
        };
        let fields = vec![Datum::Null; shape.fields.len()];
        *whole = Datum::record(shape, fields);
        Ok(())
    }

    /// The shape of a composite type.
    pub(super) fn composite_shape(&self, ty: Type) -> Option<Arc<RecordShape>> {
        match &self.world.catalog.user_type(ty)?.kind {
            crate::catalog::UserTypeKind::Composite(fields) => {
                Some(Arc::new(RecordShape { ty, fields: fields.clone() }))
            }
            _ => None,
        }
    }

    /// Gives a row to targets: to one record, or column by column. `None` is a row of NULLs.
    pub(super) fn assign_row(&mut self, targets: &[Target], columns: &[Output], row: Option<Vec<Datum>>) -> Result<()> {
        if let [target] = targets
            && let Some(shape) = self.row_shape(target, columns)
        {
            let values = row.unwrap_or_else(|| vec![Datum::Null; columns.len()]);
            let record = self.row_value(&shape, columns, values)?;
            return self.assign(target, record, shape.ty.into());
        }
        let mut values = row.unwrap_or_default().into_iter();
        for (n, target) in targets.iter().enumerate() {
            let typed = columns.get(n).map_or(Type::UNKNOWN.into(), |column| column.typed);
            self.assign(target, values.next().unwrap_or_default(), typed)?;
        }
        Ok(())
    }

    /// The shape of the record that a row becomes, if the target takes one.
    fn row_shape(&self, target: &Target, columns: &[Output]) -> Option<Arc<RecordShape>> {
        if !target.steps.is_empty() {
            return None;
        }
        let ty = self.program.variables[target.place].typed.ty;
        if ty == Type::RECORD {
            let fields = columns.iter().map(|column| (column.name.clone(), column.typed)).collect();
            return Some(Arc::new(RecordShape { ty, fields }));
        }
        self.composite_shape(ty)
    }

    /// A record of a shape from the columns of a row, by their order.
    fn row_value(&mut self, shape: &Arc<RecordShape>, columns: &[Output], values: Vec<Datum>) -> Result<Datum> {
        let mut fields = Vec::with_capacity(shape.fields.len());
        let mut values = values.into_iter();
        for (n, (_, typed)) in shape.fields.iter().enumerate() {
            let from = columns.get(n).map_or(Type::UNKNOWN.into(), |column| column.typed);
            fields.push(self.convert(values.next().unwrap_or_default(), from, *typed)?);
        }
        Ok(Datum::record(shape.clone(), fields))
    }
}

/// A part of a value, subscripts worked out.
enum Part<'t> {
    Field(&'t str),
    Index(i64),
}

impl Part<'_> {
    fn index(&self) -> Option<i64> {
        match self {
            Part::Index(index) => Some(*index),
            Part::Field(_) => None,
        }
    }
}

/// How much memory a changed value takes, beside what it took before.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightChange {
    pub(super) added: usize,
    pub(super) removed: usize,
}

impl WeightChange {
    const NONE: WeightChange = WeightChange { added: 0, removed: 0 };
}

/// The item of an array at these subscripts, to be changed in place.
fn item_mut<'d>(array: &'d mut Datum, indices: &[i64]) -> Option<&'d mut Datum> {
    let Datum::Array(array) = array else { return None };
    let at = offset(array, indices)?;
    Some(&mut Arc::make_mut(array).items[at])
}

/// Where an item is in row-major order.
fn offset(array: &ArrayValue, indices: &[i64]) -> Option<usize> {
    if array.dimensions.len() != indices.len() {
        return None;
    }
    let mut at = 0;
    for ((length, lower), index) in array.dimensions.iter().zip(indices) {
        let place = usize::try_from(index - i64::from(*lower)).ok().filter(|place| place < length)?;
        at = at * length + place;
    }
    Some(at)
}

/// Sets an item that an array does not have yet: one of one dimension grows as needed.
fn add_item(whole: &mut Datum, element: Type, indices: &[i64], value: Datum) -> Result<WeightChange> {
    let wrong = |message: &str| Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    let added = value.weight();
    let array = match whole {
        Datum::Array(array) if !array.dimensions.is_empty() => array,
        _ => {
            let dimensions = indices.iter().map(|index| Ok((1, lower_bound(*index)?))).collect::<Result<_>>()?;
            *whole = Datum::Array(Arc::new(ArrayValue { element, dimensions, items: vec![value] }));
            return Ok(WeightChange { added, removed: 0 });
        }
    };
    if array.dimensions.len() != indices.len() {
        return wrong("wrong number of array subscripts");
    }
    let [index] = indices else { return wrong("array subscript out of range") };
    let (length, lower) = array.dimensions[0];
    let upper = i64::from(lower) + length as i64;
    const MOST: i64 = 1 << 27;
    if (*index < i64::from(lower) && i64::from(lower) - index > MOST) || index - i64::from(lower) > MOST {
        let message = "array size exceeds the maximum allowed (134217727)";
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    let missing = usize::try_from(if *index < i64::from(lower) { i64::from(lower) - index } else { index - upper })
        .expect("the index is outside of the bounds");
    budget::fits(missing * size_of::<Datum>())?;
    budget::step(missing)?;
    if *index < i64::from(lower) {
        let lower = lower_bound(*index)?;
        let array = Arc::make_mut(array);
        array.items.splice(0..0, std::iter::repeat_n(Datum::Null, missing));
        array.items[0] = value;
        array.dimensions[0] = (length + missing, lower);
    } else {
        let array = Arc::make_mut(array);
        array.items.extend(std::iter::repeat_n(Datum::Null, missing));
        array.items.push(value);
        array.dimensions[0] = (length + missing + 1, lower);
    }
    Ok(WeightChange { added: added + missing * size_of::<Datum>(), removed: 0 })
}

fn lower_bound(index: i64) -> Result<i32> {
    i32::try_from(index).map_err(|_| SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "array subscript out of range"))
}
