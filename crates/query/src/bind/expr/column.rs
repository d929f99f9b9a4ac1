//! Names in expressions: columns, whole rows, variables.

use std::borrow::Cow;

use crate::parse::ast::{self, Ident};

use crate::bind::Binder;
use crate::bind::names::{cross_database, fold};
use crate::bind::scope::{Item, ItemColumn, Lookup};
use crate::bind::variables::{Conflict, Variable};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, ExprKind};
use crate::types::Type;

impl<'a> Binder<'a> {
    /// What a name means.
    pub(super) fn column(&mut self, parts: &[Ident]) -> Result<Expr> {
        Ok(self.named(parts)?.expr)
    }

    /// What a name means, and where it comes from.
    pub(in crate::bind) fn named(&mut self, parts: &[Ident]) -> Result<ItemColumn> {
        let names: Vec<Cow<'_, str>> = parts.iter().map(fold).collect();
        let found = match names.as_slice() {
            [name] => self.plain(name),
            [table, column] => self.of_table(None, table, column),
            [schema, table, column] => self.of_table(Some(schema), table, column),
            [database, schema, table, column] if *database == self.database() => {
                self.of_table(Some(schema), table, column)
            }
            [_, _, _, _] => Err(cross_database(&names.join("."))),
            _ => Err(SqlError::syntax("improper qualified name (too many dotted names)")),
        };
        let at = |binder: &Self, error| binder.at(parts[0].span, error);
        let variable = self.variable(&names);
        match (found, variable) {
            (Ok(found), None) => Ok(found),
            (Ok(found), Some(variable)) => match self.conflict() {
                Conflict::Column => Ok(found),
                Conflict::Variable => Ok(bare(&names, variable.map_err(|error| at(self, error))?)),
                Conflict::Refuse => Err(at(
                    self,
                    ambiguous(&names.join("."))
                        .detail("It could refer to either a PL/pgSQL variable or a table column."),
                )),
            },
            (Err(_), Some(variable)) => Ok(bare(&names, variable.map_err(|error| at(self, error))?)),
            (Err(error), None) => Err(at(self, error)),
        }
    }

    /// `name`: a column of the nearest tuple that has one, else the row of the nearest table of this name.
    fn plain(&mut self, name: &str) -> Result<ItemColumn> {
        for (up, frame) in self.frames.iter().rev().enumerate().filter(|(_, frame)| frame.visible) {
            match frame.column(name) {
                Lookup::None => {}
                Lookup::One(column) => return Ok(lifted(*column, up)),
                Lookup::Many => return Err(ambiguous(name)),
            }
        }
        match self.find_item(None, name)? {
            Some((item, up)) => {
                let expr = item.whole_row();
                Ok(lifted(ItemColumn { name: name.into(), expr, origin: None, collation: 0 }, up))
            }
            None => Err(self.no_column(name)),
        }
    }

    /// `table.column`
    fn of_table(&mut self, schema: Option<&str>, table: &str, column: &str) -> Result<ItemColumn> {
        let Some((item, up)) = self.find_item(schema, table)? else { return Err(self.no_table(schema, table)) };
        match item.any_column(column) {
            Lookup::One(column) => Ok(lifted(*column, up)),
            Lookup::Many => Err(ambiguous(column)),
            Lookup::None => {
                let error =
                    SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column {table}.{column} does not exist"));
                let error = match closest(column, std::iter::once(item)) {
                    Some(hint) => error.hint(hint),
                    None => error,
                };
                let mut row = item.whole_row();
                row.lift(0, up);
                let expr = self.function_of_row(column, &row)?.ok_or(error)?;
                Ok(ItemColumn { name: column.into(), expr, origin: None, collation: 0 })
            }
        }
    }

    /// `t.*` outside of lists: the row, even where the table has a column that is called like it.
    pub(super) fn whole_row(&mut self, name: &ast::ObjectName) -> Result<Expr> {
        let names: Vec<Cow<'_, str>> = name.0.iter().map(fold).collect();
        let found = match names.as_slice() {
            [table] => self.find_item(None, table)?,
            [schema, table] | [_, schema, table] => self.find_item(Some(schema), table)?,
            _ => None,
        };
        match found {
            Some((item, up)) => {
                let mut row = item.whole_row();
                row.lift(0, up);
                Ok(row)
            }
            None => self.column(&name.0),
        }
    }

    /// The nearest item of this name, and how far up it is.
    pub(in crate::bind) fn find_item(&self, schema: Option<&str>, name: &str) -> Result<Option<(&Item<'a>, usize)>> {
        let schema = match schema {
            Some(schema) => Some(self.schema(schema)?.oid),
            None => None,
        };
        let fits = |item: &&Item<'a>| &*item.name == name && (schema.is_none() || item.schema == schema);
        for (up, frame) in self.frames.iter().rev().enumerate().filter(|(_, frame)| frame.visible) {
            let mut found = frame.items.iter().filter(fits);
            match (found.next(), found.next()) {
                (None, _) => {}
                (Some(item), None) => return Ok(Some((item, up))),
                (Some(_), Some(_)) => {
                    let message = format!("table reference \"{name}\" is ambiguous");
                    return Err(SqlError::with_code("42P09", message));
                }
            }
        }
        Ok(None)
    }

    /// The variable of this name, or the field of a variable.
    fn variable(&self, names: &[Cow<'_, str>]) -> Option<Result<Expr>> {
        let variables = self.variables?;
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        if let Some(found) = variables.find(&names) {
            return Some(Ok(Expr { kind: ExprKind::Variable(found.slot), typed: found.typed }));
        }
        let (field, record) = names.split_last().filter(|(_, record)| !record.is_empty())?;
        let found = variables.find(record)?;
        let is_record = found.shape.is_some() || found.typed.ty == Type::RECORD;
        if !is_record && self.composite_fields(found.typed.ty).is_none() {
            return None;
        }
        Some(self.variable_field(&found, record.last().expect("a name has parts"), field))
    }

    fn variable_field(&self, variable: &Variable, name: &str, field: &str) -> Result<Expr> {
        let fields = match &variable.shape {
            Some(shape) => shape.fields.clone(),
            None => self.composite_fields(variable.typed.ty).ok_or_else(|| {
                SqlError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("record \"{name}\" is not assigned yet"),
                )
                .detail("The tuple structure of a not-yet-assigned record is indeterminate.")
            })?,
        };
        let Some(index) = fields.iter().position(|(known, _)| &**known == field) else {
            let message = format!("record \"{name}\" has no field \"{field}\"");
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
        };
        let arg = Box::new(Expr { kind: ExprKind::Variable(variable.slot), typed: variable.typed });
        Ok(Expr { kind: ExprKind::Field { arg, index }, typed: fields[index].1 })
    }

    fn conflict(&self) -> Conflict {
        self.variables.map_or(Conflict::Column, |variables| variables.conflict())
    }

    fn no_column(&self, name: &str) -> SqlError {
        let error = SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"));
        let items = self.frames.iter().rev().filter(|frame| frame.visible).flat_map(|frame| &frame.items);
        match closest(name, items) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// There is no such table here; maybe it has an alias, or is out of sight.
    pub(in crate::bind) fn no_table(&self, schema: Option<&str>, name: &str) -> SqlError {
        let items = || self.frames.iter().flat_map(|frame| frame.items.iter().map(move |item| (item, frame.visible)));
        if schema.is_none() && items().any(|(item, visible)| &*item.name == name && !visible) {
            let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
            let hint = format!(
                "There is an entry for table \"{name}\", but it cannot be referenced from this part of the query."
            );
            return SqlError::new(SqlState::UNDEFINED_TABLE, message).hint(hint);
        }
        let is_real = |item: &Item<'a>| {
            let relation = item.table.and_then(|oid| self.catalog.relation(oid));
            relation.is_some_and(|relation| &*relation.name == name && *item.name != *name)
        };
        if let Some((item, _)) = items().find(|(item, _)| is_real(item)) {
            let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
            let hint = format!("Perhaps you meant to reference the table alias \"{}\".", item.name);
            return SqlError::new(SqlState::UNDEFINED_TABLE, message).hint(hint);
        }
        let message = format!("missing FROM-clause entry for table \"{name}\"");
        SqlError::new(SqlState::UNDEFINED_TABLE, message)
    }
}

fn bare(names: &[Cow<'_, str>], expr: Expr) -> ItemColumn {
    let name = names.last().expect("a name has parts");
    ItemColumn { name: name.as_ref().into(), expr, origin: None, collation: 0 }
}

fn lifted(mut column: ItemColumn, by: usize) -> ItemColumn {
    column.expr.lift(0, by);
    column
}

fn ambiguous(name: &str) -> SqlError {
    SqlError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{name}\" is ambiguous"))
}

/// A hint at the column that was perhaps meant: the only one that is at most a few letters away.
fn closest<'i, 'a: 'i>(name: &str, items: impl Iterator<Item = &'i Item<'a>>) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let mut tied = false;
    for item in items {
        for column in item.all() {
            let distance = distance(name, &column.name);
            if distance > 3 || distance * 2 > name.chars().count() {
                continue;
            }
            match &best {
                Some((least, _)) if *least < distance => {}
                Some((least, _)) if *least == distance => tied = true,
                _ => {
                    best = Some((distance, format!("{}.{}", item.name, column.name)));
                    tied = false;
                }
            }
        }
    }
    best.filter(|_| !tied).map(|(_, column)| format!("Perhaps you meant to reference the column \"{column}\"."))
}

/// How many letters must be added, removed or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, b) in right.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[right.len()]
}
