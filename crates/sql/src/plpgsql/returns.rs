//! RETURN, RETURN NEXT and RETURN QUERY.

use std::sync::Arc;

use crate::catalog::Returns;
use crate::error::{Result, SqlError, SqlState};
use crate::plpgsql::bound::{Expression, Rows};
use crate::plpgsql::machine::{Flow, Machine};
use crate::types::{Datum, RecordShape, Type, Typed, kind};

impl Machine<'_, '_> {
    /// RETURN
    pub(super) fn return_value(&mut self, value: Option<&Expression>) -> Result<Flow> {
        if let Some(value) = value {
            self.result = Some(self.eval(value)?);
        }
        Ok(Flow::Return)
    }

    /// The type of a row of the function's result.
    fn row_type(&self) -> Typed {
        match self.function.map(|function| &function.returns) {
            Some(Returns::Set(typed) | Returns::One(typed)) => *typed,
            _ => Type::RECORD.into(),
        }
    }

    /// RETURN NEXT
    pub(super) fn return_next(&mut self, value: Option<&Expression>) -> Result<()> {
        let Some(value) = value else {
            let row = self.out_values();
            return self.keep_row(row);
        };
        let (value, from) = self.eval(value)?;
        let typed = self.row_type();
        let row = if typed.ty == Type::RECORD || kind::is_composite(typed.ty, &self.world.catalog) {
            if let (Datum::Record(record), Type::RECORD) = (&value, typed.ty) {
                self.world.returned = record.shape.fields.iter().map(|(_, typed)| *typed).collect();
            }
            self.record_row(value, from, typed)?
        } else {
            vec![self.convert(value, from, typed)?]
        };
        self.keep_row(row)
    }

    /// One more row of the result.
    fn keep_row(&mut self, row: Vec<Datum>) -> Result<()> {
        self.kept.add(size_of::<Vec<Datum>>() + row.iter().map(Datum::weight).sum::<usize>())?;
        self.rows.push(row);
        Ok(())
    }

    /// The columns of a row that is a record.
    fn record_row(&mut self, value: Datum, from: Typed, typed: Typed) -> Result<Vec<Datum>> {
        match value {
            Datum::Null => {
                let width = self.composite_shape(typed.ty).map_or(1, |shape| shape.fields.len());
                Ok(vec![Datum::Null; width])
            }
            value @ Datum::Record(_) => {
                let converted =
                    self.convert(value, from, typed).map_err(|error| match error.is(SqlState::CANNOT_COERCE) {
                        true => SqlError::new(
                            SqlState::DATATYPE_MISMATCH,
                            "returned record type does not match expected record type",
                        ),
                        false => error,
                    })?;
                match converted {
                    Datum::Record(record) => Ok(record.fields.clone()),
                    other => Ok(vec![other]),
                }
            }
            _ => {
                let message = "cannot return non-composite value from function returning composite type";
                Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
            }
        }
    }

    /// RETURN QUERY
    pub(super) fn return_query(&mut self, rows: &Rows) -> Result<()> {
        let answer = self.rows_of(rows)?;
        if let (Some(word), true, Rows::Query(sql)) = (answer.word, answer.columns.is_empty(), rows) {
            let error = SqlError::syntax(format!("{word} query does not return tuples"));
            return Err(error.within(format!("SQL statement \"{}\"", sql.text)));
        }
        if self.result_columns().is_none() {
            self.world.returned = answer.columns.iter().map(|column| column.typed).collect();
        }
        let wanted = self.result_columns();
        if let Some(wanted) = &wanted {
            let mismatch = |detail: String| {
                let message = "structure of query does not match function result type";
                let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail);
                Err(match rows {
                    Rows::Query(sql) => error.within(format!("SQL statement \"{}\"", sql.text)),
                    Rows::Execute(_) => error,
                })
            };
            if wanted.len() != answer.columns.len() {
                return mismatch(format!(
                    "Number of returned columns ({}) does not match expected column count ({}).",
                    answer.columns.len(),
                    wanted.len()
                ));
            }
            for (n, (column, typed)) in answer.columns.iter().zip(wanted).enumerate() {
                if column.typed.ty != typed.ty {
                    let shown = |ty| crate::types::names::display(ty, &self.world.catalog);
                    return mismatch(format!(
                        "Returned type {} does not match expected type {} in column {}.",
                        shown(column.typed.ty),
                        shown(typed.ty),
                        n + 1
                    ));
                }
            }
        }
        let count = answer.rows.len();
        for row in answer.rows {
            let mut made = Vec::with_capacity(row.len());
            for (n, value) in row.into_iter().enumerate() {
                let from = answer.columns[n].typed;
                made.push(match wanted.as_ref().map(|wanted| wanted[n]) {
                    Some(typed) if typed != from => self.convert(value, from, typed)?,
                    _ => value,
                });
            }
            self.keep_row(made)?;
        }
        self.row_count = count as i64;
        self.put_found(count > 0);
        Ok(())
    }

    /// The types of the columns that the function returns; `None` if the caller says it.
    fn result_columns(&self) -> Option<Vec<Typed>> {
        if !self.program.outs.is_empty() {
            return Some(self.program.outs.iter().map(|place| self.program.variables[*place].typed).collect());
        }
        let typed = self.row_type();
        match self.composite_shape(typed.ty) {
            Some(shape) => Some(shape.fields.iter().map(|(_, typed)| *typed).collect()),
            None if typed.ty == Type::RECORD => None,
            None => Some(vec![typed]),
        }
    }

    /// The values of the OUT parameters.
    pub(super) fn out_values(&self) -> Vec<Datum> {
        self.program.outs.iter().map(|place| self.get(*place)).collect()
    }

    /// What a function returns that returns one value.
    pub(super) fn finish(&mut self, returned: bool) -> Result<Datum> {
        self.at.doing = "while casting return value to function's return type";
        self.at.line = 0;
        let Some(function) = self.function else { return Ok(Datum::Null) };
        let Returns::One(typed) = function.returns else { return Ok(Datum::Null) };
        if !self.program.outs.is_empty() {
            let mut values = self.out_values();
            if values.len() == 1 && typed.ty != Type::RECORD {
                return Ok(values.remove(0));
            }
            let fields = self.program.outs.iter().map(|place| {
                let variable = &self.program.variables[*place];
                (variable.name.clone(), variable.typed)
            });
            let shape = RecordShape { ty: Type::RECORD, fields: fields.collect() };
            return Ok(Datum::record(Arc::new(shape), values));
        }
        if typed.ty == Type::VOID {
            return Ok(Datum::text(""));
        }
        let Some((value, from)) = self.result.take() else {
            if returned {
                return Ok(Datum::Null);
            }
            let message = "control reached end of function without RETURN";
            self.at.doing = "";
            return Err(SqlError::new(SqlState::FUNCTION_EXECUTED_NO_RETURN_STATEMENT, message));
        };
        let composite = typed.ty == Type::RECORD || kind::is_composite(typed.ty, &self.world.catalog);
        if composite && !value.is_null() && !matches!(value, Datum::Record(_)) {
            let message = "cannot return non-composite value from function returning composite type";
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        self.convert(value, from, typed)
    }
}
