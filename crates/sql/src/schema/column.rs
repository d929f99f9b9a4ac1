//! Columns: types, defaults, SERIAL, IDENTITY, GENERATED.

use std::sync::Arc;

use crate::parse::ast::{self, DataType, Ident};

use crate::catalog::{Column, Generation, Oid, SequenceOwner, StoredExpr};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, ExprKind};
use crate::parse::ddl::{ColumnConstraintKind, ColumnDefinition, SequenceOption, TableConstraint};
use crate::schema::Editor;
use crate::schema::names::fold;
use crate::schema::table::as_table_constraint;
use crate::storage::world::column_position;
use crate::types::{Datum, Type, Typed};

/// A column of a type, and nothing else.
pub(super) fn plain(name: Arc<str>, typed: Typed) -> Column {
    Column {
        name,
        typed,
        collation: 0,
        not_null: false,
        default: None,
        generation: Generation::Plain,
        sequence: None,
        cell: 0,
        dropped: false,
        missing: Datum::Null,
    }
}

/// The integer type of SERIAL and its kind.
fn serial(data_type: &DataType) -> Option<Type> {
    let DataType::Custom(name, modifiers) = data_type else { return None };
    let [part] = name.0.as_slice() else { return None };
    if !modifiers.is_empty() {
        return None;
    }
    match part.to_string().to_lowercase().as_str() {
        "serial" | "serial4" => Some(Type::INT4),
        "bigserial" | "serial8" => Some(Type::INT8),
        "smallserial" | "serial2" => Some(Type::INT2),
        _ => None,
    }
}

impl Editor<'_, '_> {
    /// Adds a column to a table that has no rows. Constraints that concern more than the column go to the one list, how a
    /// generated column is made to the other: that is bound when all columns are there.
    pub(super) fn add_new_column(
        &mut self,
        oid: Oid,
        definition: &ColumnDefinition,
        constraints: &mut Vec<TableConstraint>,
        generated: &mut Vec<(usize, ast::Expr)>,
    ) -> Result<()> {
        let name = fold(&definition.name);
        let relation = self.relation(oid)?;
        let table = crate::storage::world::as_table(&relation)?;
        if table.columns.iter().any(|column| !column.dropped && column.name == name) {
            let message = match table.columns.is_empty() {
                true => format!("column \"{name}\" specified more than once"),
                false => format!("column \"{name}\" of relation \"{}\" already exists", relation.name),
            };
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        if SYSTEM_COLUMNS.contains(&&*name) {
            let message = format!("column name \"{name}\" conflicts with a system column name");
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        let position = table.columns.len();
        let serial = serial(&definition.data_type);
        let typed = match serial {
            Some(ty) => ty.into(),
            None => self.bind_type(&definition.data_type)?,
        };
        let mut column = plain(name.clone(), typed);
        if let Some(name) = &definition.collation {
            column.collation = self.collation_named(name)?;
        }
        let mut sequence = None;
        if let Some(ty) = serial {
            column.not_null = true;
            sequence = Some((Generation::Plain, vec![SequenceOption::As(sequence_type(ty))]));
        }
        for constraint in &definition.constraints {
            match &constraint.kind {
                ColumnConstraintKind::NotNull => column.not_null = true,
                ColumnConstraintKind::Null => {}
                ColumnConstraintKind::Default(expr) => column.default = Some(self.stored(expr, typed, &name)?),
                ColumnConstraintKind::Generated(expr) => {
                    column.generation = Generation::Stored;
                    generated.push((position, expr.clone()));
                }
                ColumnConstraintKind::Identity { always, options } => {
                    column.not_null = true;
                    let generation = if *always { Generation::IdentityAlways } else { Generation::IdentityByDefault };
                    column.generation = generation;
                    let mut all = vec![SequenceOption::As(sequence_type(typed.ty))];
                    all.extend(options.iter().cloned());
                    sequence = Some((generation, all));
                }
                _ => {
                    let constraint = as_table_constraint(&definition.name, constraint);
                    let constraint = constraint.expect("what is no column's matter is the table's");
                    constraints.push(constraint);
                }
            }
        }
        self.change_table(oid, |table| {
            table.columns.push(column);
            Ok(())
        })?;
        if let Some((generation, options)) = sequence {
            self.make_owned_sequence(oid, position, generation, &options)?;
        }
        Ok(())
    }

    /// A sequence of a SERIAL or IDENTITY column.
    pub(super) fn make_owned_sequence(
        &mut self,
        table: Oid,
        position: usize,
        generation: Generation,
        options: &[SequenceOption],
    ) -> Result<()> {
        let identity = generation != Generation::Plain;
        let owner = SequenceOwner { table, column: position, identity };
        let (sequence, _) = self.make_sequence_for(owner, options)?;
        let default = if identity {
            None
        } else {
            let relation = self.relation(table)?;
            let typed = crate::storage::world::as_table(&relation)?.columns[position].typed;
            let next = Expr { kind: ExprKind::NextValue(sequence), typed };
            Some(Arc::new(StoredExpr::new(next, &[])))
        };
        self.change_table(table, |table| {
            let column = &mut table.columns[position];
            column.sequence = Some(sequence);
            if identity {
                column.generation = generation;
            } else {
                column.default = default;
            }
            Ok(())
        })
    }

    /// An expression of the schema without columns, for something of this type and name.
    pub(super) fn stored(&mut self, expr: &ast::Expr, typed: Typed, name: &str) -> Result<Arc<StoredExpr>> {
        Ok(Arc::new(StoredExpr::new(self.bind_assigned(expr, typed, name)?, &[])))
    }

    /// The position of a column.
    pub(super) fn position(&self, oid: Oid, name: &Ident) -> Result<usize> {
        column_position(&*self.relation(oid)?, &fold(name))
    }
}

const SYSTEM_COLUMNS: &[&str] = &["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// The type of the sequence behind a column.
fn sequence_type(ty: Type) -> DataType {
    match ty {
        Type::INT2 => DataType::SmallInt,
        Type::INT8 => DataType::BigInt,
        _ => DataType::Integer,
    }
}
