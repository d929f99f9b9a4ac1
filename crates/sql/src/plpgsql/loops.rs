//! LOOP, WHILE, FOR and FOREACH.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::exec::Context;
use crate::plpgsql::bound::{Expression, Loop, Over, Target};
use crate::plpgsql::machine::{Answer, Flow, Machine};
use crate::types::{ArrayValue, Datum, Type, Typed, kind};

/// What a pass through a loop's body means for the loop.
enum Pass {
    Again,
    End(Flow),
}

impl Machine<'_, '_> {
    /// Runs a loop.
    pub(super) fn run_loop(&mut self, looped: &Loop) -> Result<Flow> {
        match &looped.over {
            Over::Forever => loop {
                self.world.check_cancelled()?;
                if let Pass::End(flow) = self.pass(looped)? {
                    return Ok(flow);
                }
            },
            Over::While(condition) => {
                while self.is_true(condition)? {
                    self.world.check_cancelled()?;
                    if let Pass::End(flow) = self.pass(looped)? {
                        return Ok(flow);
                    }
                }
                Ok(Flow::Next)
            }
            Over::Range { place, reverse, from, to, step } => {
                self.range(looped, *place, *reverse, from, to, step.as_ref())
            }
            Over::Rows { targets, rows } => {
                let answer = self.rows_of(rows)?;
                self.over_rows(looped, targets, answer)
            }
            Over::Cursor { place, cursor, arguments } => {
                let declared = self.program.variables[*cursor].cursor.clone();
                let declared = declared.expect("a loop over a cursor has its query");
                let open = match self.get(*cursor) {
                    Datum::Text(name) => self.world.session.cursors.contains_key(&*name),
                    _ => false,
                };
                if open {
                    let message = format!("cursor \"{}\" already in use", self.program.variables[*cursor].name);
                    return Err(SqlError::new(SqlState::DUPLICATE_CURSOR, message));
                }
                self.cursor_arguments(arguments)?;
                let answer = self.run(&declared.query)?;
                let target = Target { place: *place, steps: Vec::new() };
                self.over_rows(looped, std::slice::from_ref(&target), answer)
            }
            Over::Array { targets, slice, array } => self.over_array(looped, targets, *slice, array),
        }
    }

    fn pass(&mut self, looped: &Loop) -> Result<Pass> {
        let mine = |label: &Option<String>| label.is_none() || *label == looped.label;
        Ok(match self.statements(&looped.body)? {
            Flow::Next => Pass::Again,
            Flow::Continue(label) if mine(&label) => Pass::Again,
            Flow::Exit(label) if mine(&label) => Pass::End(Flow::Next),
            flow => Pass::End(flow),
        })
    }

    fn range(
        &mut self,
        looped: &Loop,
        place: usize,
        reverse: bool,
        from: &Expression,
        to: &Expression,
        step: Option<&Expression>,
    ) -> Result<Flow> {
        let from = self.bound_of(from, "lower bound")?;
        let to = self.bound_of(to, "upper bound")?;
        let step = match step {
            Some(step) => self.bound_of(step, "BY value")?,
            None => 1,
        };
        if step <= 0 {
            let message = "BY value of FOR loop must be greater than zero";
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
        let mut found = false;
        let mut value = from;
        let inside = |value: i64| if reverse { value >= to } else { value <= to };
        let mut end = Flow::Next;
        while inside(value) {
            self.world.check_cancelled()?;
            found = true;
            self.put(place, Datum::Int(value));
            if let Pass::End(flow) = self.pass(looped)? {
                end = flow;
                break;
            }
            value = if reverse { value - step } else { value + step };
            if i32::try_from(value).is_err() {
                break;
            }
        }
        self.put_found(found);
        Ok(end)
    }

    fn bound_of(&mut self, expression: &Expression, what: &str) -> Result<i64> {
        match self.eval_as(expression, Type::INT4.into())? {
            Datum::Int(value) => Ok(value),
            _ => {
                let message = format!("{what} of FOR loop cannot be null");
                Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message))
            }
        }
    }

    fn over_rows(&mut self, looped: &Loop, targets: &[Target], answer: Answer) -> Result<Flow> {
        let found = !answer.rows.is_empty();
        if !found {
            self.assign_row(targets, &answer.columns, None)?;
        }
        let mut end = Flow::Next;
        for row in answer.rows {
            self.world.check_cancelled()?;
            self.assign_row(targets, &answer.columns, Some(row))?;
            if let Pass::End(flow) = self.pass(looped)? {
                end = flow;
                break;
            }
        }
        self.put_found(found);
        Ok(end)
    }

    fn over_array(&mut self, looped: &Loop, targets: &[Target], slice: u32, array: &Expression) -> Result<Flow> {
        let (value, typed) = self.eval(array)?;
        let array = match value {
            Datum::Array(array) => array,
            Datum::Null => {
                let message = "FOREACH expression must not be null";
                return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
            }
            _ => {
                let shown = crate::types::names::display(typed.ty, &self.world.catalog);
                let message = format!("FOREACH expression must yield an array, not type {shown}");
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            }
        };
        let slice = slice as usize;
        if slice > array.dimensions.len() {
            let message = format!("slice dimension ({slice}) is out of the valid range 0..{}", array.dimensions.len());
            return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
        }
        if let [target] = targets
            && target.steps.is_empty()
        {
            let ty = kind::base(self.program.variables[target.place].typed, &self.world.catalog).ty;
            let is_array = kind::element(ty, &self.world.catalog).is_some();
            let wrong = match (slice > 0, is_array) {
                (true, false) if ty != Type::RECORD => Some("FOREACH ... SLICE loop variable must be of an array type"),
                (false, true) => Some("FOREACH loop variable must not be of an array type"),
                _ => None,
            };
            if let Some(message) = wrong {
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            }
        }
        let mut end = Flow::Next;
        let found = !array.items.is_empty();
        for (item, item_type) in items(&array, slice, typed) {
            self.world.check_cancelled()?;
            self.assign_item(targets, item, item_type)?;
            if let Pass::End(flow) = self.pass(looped)? {
                end = flow;
                break;
            }
        }
        self.put_found(found);
        Ok(end)
    }

    /// An item of an array: whole, or its fields one by one.
    fn assign_item(&mut self, targets: &[Target], item: Datum, typed: Typed) -> Result<()> {
        if let [target] = targets {
            return self.assign(target, item, typed);
        }
        let (shape, fields) = match item {
            Datum::Record(record) => (record.shape.clone(), record.fields.clone()),
            _ => return self.assign_row(targets, &[], None),
        };
        for (n, target) in targets.iter().enumerate() {
            let typed = shape.fields.get(n).map_or(Type::UNKNOWN.into(), |(_, typed)| *typed);
            self.assign(target, fields.get(n).cloned().unwrap_or_default(), typed)?;
        }
        Ok(())
    }
}

/// The items of an array, or its slices of this many dimensions.
fn items(array: &Arc<ArrayValue>, slice: usize, typed: Typed) -> Vec<(Datum, Typed)> {
    if slice == 0 {
        return array.items.iter().map(|item| (item.clone(), array.element.into())).collect();
    }
    let dimensions = array.dimensions[array.dimensions.len() - slice..].to_vec();
    let size: usize = dimensions.iter().map(|(length, _)| *length).product();
    let part = |items: &[Datum]| {
        let value = ArrayValue { element: array.element, dimensions: dimensions.clone(), items: items.to_vec() };
        (Datum::Array(Arc::new(value)), typed)
    };
    array.items.chunks(size.max(1)).map(part).collect()
}
