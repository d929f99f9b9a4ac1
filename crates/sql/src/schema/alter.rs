//! ALTER TABLE.

use std::sync::Arc;

use crate::parse::ast::{self, DataType, Ident, ObjectName};

use crate::bind::Binder;
use crate::catalog::{
    Check, Dependency, Generation, IndexKeyKind, Oid, Relation, RelationKind, StoredExpr, Volatility,
};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Tuple};
use crate::ir::{Expr, ExprKind, current};
use crate::parse::ddl::{ColumnDefinition, ObjectKind, SequenceOption, TableAction};
use crate::schema::Editor;
use crate::schema::depends::Object;
use crate::schema::names::fold;
use crate::storage::locks::TableMode;
use crate::storage::world::as_table;
use crate::types::{Datum, Typed};

impl Editor<'_, '_> {
    pub(super) fn alter_table(
        &mut self,
        object: ObjectKind,
        if_exists: bool,
        name: &ObjectName,
        actions: &[TableAction],
    ) -> Result<()> {
        let Some(relation) = self.relation_or_skip(name, if_exists)? else { return Ok(()) };
        if !matches!(relation.kind, RelationKind::Table(_)) {
            let harmless = actions.iter().all(|action| matches!(action, TableAction::Ignored));
            if actions.iter().any(|action| matches!(action, TableAction::SetDefault { default: Some(_), .. })) {
                return Err(SqlError::unsupported("a default of a view's column"));
            }
            if harmless || object != ObjectKind::Table {
                return Ok(());
            }
            let message = format!("\"{}\" is not a table", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        self.lock_table(relation.oid, TableMode::AccessExclusive)?;
        for action in actions {
            self.alter_one(relation.oid, action)?;
        }
        self.make_row_type(relation.oid)
    }

    fn alter_one(&mut self, oid: Oid, action: &TableAction) -> Result<()> {
        match action {
            TableAction::AddColumn { if_not_exists, column } => self.add_column(oid, *if_not_exists, column),
            TableAction::DropColumn { if_exists, name, cascade } => self.drop_column(oid, *if_exists, name, *cascade),
            TableAction::SetType { name, data_type, collation, using } => {
                self.set_type(oid, name, data_type, collation.as_ref(), using.as_ref())
            }
            TableAction::SetDefault { name, default } => self.set_default(oid, name, default.as_ref()),
            TableAction::SetNotNull { name, not_null } => {
                let position = self.position(oid, name)?;
                if *not_null {
                    return self.set_not_null(oid, position, true);
                }
                self.drop_not_null(oid, position)
            }
            TableAction::AddIdentity { name, always, options } => self.add_identity(oid, name, *always, options),
            TableAction::SetIdentity { name, always, options } => {
                let position = self.position(oid, name)?;
                let sequence = self.change_table(oid, |table| {
                    let column = &mut table.columns[position];
                    if let Some(always) = always {
                        column.generation =
                            if *always { Generation::IdentityAlways } else { Generation::IdentityByDefault };
                    }
                    Ok(column.sequence)
                })?;
                match sequence {
                    Some(sequence) => self.change_sequence(sequence, options),
                    None => Ok(()),
                }
            }
            TableAction::DropIdentity { name, if_exists } => self.drop_identity(oid, name, *if_exists),
            TableAction::DropExpression { name, .. } => {
                let position = self.position(oid, name)?;
                self.change_table(oid, |table| {
                    let column = &mut table.columns[position];
                    (column.generation, column.default) = (Generation::Plain, None);
                    Ok(())
                })
            }
            TableAction::AddConstraint(constraint) => self.add_constraint(oid, constraint, false),
            TableAction::DropConstraint { if_exists, name, cascade } => {
                self.drop_constraint(oid, *if_exists, name, *cascade)
            }
            TableAction::AlterConstraint { name, attributes } => {
                let timing = super::constraint::timing(*attributes);
                self.change_table(oid, |table| {
                    let key = table.foreign_keys.iter_mut().find(|key| *key.name == **name);
                    key.map(|key| key.timing = timing).ok_or_else(|| {
                        let message = format!("constraint \"{name}\" does not exist");
                        SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                    })
                })
            }
            TableAction::ValidateConstraint(name) => self.validate_constraint(oid, name),
            TableAction::RowSecurity(enabled) => self.change_table(oid, |table| {
                table.row_security.0 = *enabled;
                Ok(())
            }),
            TableAction::ForceRowSecurity(forced) => self.change_table(oid, |table| {
                table.row_security.1 = *forced;
                Ok(())
            }),
            TableAction::Ignored => Ok(()),
            TableAction::EnableTrigger { which, enable } => self.enable_triggers(oid, which, *enable),
            TableAction::Unsupported(construct) => Err(SqlError::unsupported(construct)),
        }
    }

    fn add_column(&mut self, oid: Oid, if_not_exists: bool, definition: &ColumnDefinition) -> Result<()> {
        let relation = self.relation(oid)?;
        let name = fold(&definition.name);
        let there = as_table(&relation)?.columns.iter().any(|column| !column.dropped && column.name == name);
        if there && if_not_exists {
            let message = format!("column \"{name}\" of relation \"{}\" already exists, skipping", relation.name);
            self.session.notice("NOTICE", SqlState::DUPLICATE_COLUMN, message);
            return Ok(());
        }
        let (mut constraints, mut generated) = (Vec::new(), Vec::new());
        self.add_new_column(oid, definition, &mut constraints, &mut generated)?;
        self.bind_generated(oid, generated)?;
        let position = as_table(&relation)?.columns.len();
        let next = self.db.store.key_count() as u32;
        self.change_table(oid, |table| {
            let cells = table.cells.last().map_or(0, |(_, cells)| *cells);
            table.columns[position].cell = cells;
            table.cells.push((next, cells + 1));
            Ok(())
        })?;
        self.fill_column(oid, position)?;
        for constraint in &constraints {
            self.add_constraint(oid, constraint, false)?;
        }
        Ok(())
    }

    /// Gives the rows that are there the new column's default.
    fn fill_column(&mut self, oid: Oid, position: usize) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        let column = &table.columns[position];
        if column.generation == Generation::Stored {
            let bound = self.bound_table(oid)?;
            let how = &bound.generated.iter().find(|(at, _)| *at == position).expect("it is generated").1;
            if self.db.options.granularity == crate::client::Granularity::Row {
                let how = how.clone();
                let fill = move |world: &mut Editor<'_, '_>, mut values: Vec<Datum>| {
                    values[position] = world.eval_over(&how, &values)?;
                    Ok(values)
                };
                return self.rewrite(oid, |_| {}, fill);
            }
            return self.for_each_row(table, |world, row| {
                let values = world.look_row(table, row)?;
                let value = world.eval_over(how, &values)?;
                Editor::new(world).init_cell(oid, row, position, value)
            });
        }
        let default = self.column_defaults(oid, &others(table.columns.len(), position))?;
        match default.into_iter().next() {
            Some((_, expr)) if is_volatile(&expr) => {
                if self.db.options.granularity == crate::client::Granularity::Row {
                    let fill = move |world: &mut Editor<'_, '_>, mut values: Vec<Datum>| {
                        values[position] = Run::new().eval(&mut *world.world, &expr, &Tuple::default())?;
                        Ok(values)
                    };
                    return self.rewrite(oid, |_| {}, fill);
                }
                self.for_each_row(table, |world, row| {
                    let value = Run::new().eval(world, &expr, &Tuple::default())?;
                    Editor::new(world).init_cell(oid, row, position, value)
                })
            }
            Some((_, expr)) => {
                let value = Run::new().eval(&mut *self.world, &expr, &Tuple::default())?;
                if value.is_null() && column.not_null && !self.look_rows(table)?.is_empty() {
                    return Err(self.contains_nulls(oid, position));
                }
                if self.db.options.granularity == crate::client::Granularity::Row {
                    return self.rewrite(
                        oid,
                        |_| {},
                        move |_, mut values| {
                            values[position] = value.clone();
                            Ok(values)
                        },
                    );
                }
                self.change_table(oid, |table| {
                    table.columns[position].missing = value;
                    Ok(())
                })
            }
            None if column.not_null && !self.look_rows(table)?.is_empty() => Err(self.contains_nulls(oid, position)),
            None => Ok(()),
        }
    }

    fn init_cell(&mut self, oid: Oid, row: u32, position: usize, value: Datum) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        let cell = self.cell_key(table, row, table.columns[position].cell);
        self.db.store.init_new(skew_model::Key(cell), value);
        Ok(())
    }

    fn contains_nulls(&self, oid: Oid, position: usize) -> SqlError {
        let Ok(relation) = self.relation(oid) else { return SqlError::unsupported("a table that is gone") };
        let column = as_table(&relation).map_or("", |table| &table.columns[position].name);
        let message = format!("column \"{column}\" of relation \"{}\" contains null values", relation.name);
        SqlError::new(SqlState::NOT_NULL_VIOLATION, message)
    }

    fn drop_not_null(&mut self, oid: Oid, position: usize) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        let name = &table.columns[position].name;
        if table.primary_key.is_some_and(|index| self.index_columns(index).contains(&position)) {
            let message = format!("column \"{name}\" is in a primary key");
            return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
        }
        self.change_table(oid, |table| {
            table.columns[position].not_null = false;
            Ok(())
        })
    }

    fn set_default(&mut self, oid: Oid, name: &Ident, default: Option<&ast::Expr>) -> Result<()> {
        let position = self.position(oid, name)?;
        let relation = self.relation(oid)?;
        let column = &as_table(&relation)?.columns[position];
        if column.generation == Generation::Stored {
            let message = format!("column \"{}\" of relation \"{}\" is a generated column", column.name, relation.name);
            return Err(SqlError::syntax(message));
        }
        let default = match default {
            Some(expr) => Some(self.stored(expr, column.typed, &column.name)?),
            None => None,
        };
        self.change_table(oid, |table| {
            table.columns[position].default = default;
            Ok(())
        })
    }

    fn add_identity(&mut self, oid: Oid, name: &Ident, always: bool, options: &[SequenceOption]) -> Result<()> {
        let position = self.position(oid, name)?;
        let generation = if always { Generation::IdentityAlways } else { Generation::IdentityByDefault };
        let relation = self.relation(oid)?;
        let column = &as_table(&relation)?.columns[position];
        if !column.not_null {
            let message = format!(
                "column \"{}\" of relation \"{}\" must be declared NOT NULL before identity can be added",
                column.name, relation.name
            );
            return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        self.make_owned_sequence(oid, position, generation, options)
    }

    fn drop_identity(&mut self, oid: Oid, name: &Ident, if_exists: bool) -> Result<()> {
        let position = self.position(oid, name)?;
        let relation = self.relation(oid)?;
        let column = &as_table(&relation)?.columns[position];
        let identity = matches!(column.generation, Generation::IdentityAlways | Generation::IdentityByDefault);
        if !identity {
            let message =
                format!("column \"{}\" of relation \"{}\" is not an identity column", column.name, relation.name);
            if if_exists {
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        let sequence = column.sequence;
        self.change_table(oid, |table| {
            let column = &mut table.columns[position];
            (column.generation, column.sequence) = (Generation::Plain, None);
            Ok(())
        })?;
        self.change_catalog(|catalog| {
            sequence.into_iter().for_each(|sequence| catalog.drop_relation(sequence));
            Ok(())
        })
    }

    fn set_type(
        &mut self,
        oid: Oid,
        name: &Ident,
        data_type: &DataType,
        collation: Option<&ast::ObjectName>,
        using: Option<&ast::Expr>,
    ) -> Result<()> {
        let collation = collation.map_or(Ok(0), |name| self.collation_named(name))?;
        let position = self.position(oid, name)?;
        let typed = self.bind_type(data_type)?;
        let relation = self.relation(oid)?;
        let column = as_table(&relation)?.columns[position].clone();
        let own = ast::Expr::Identifier(name.clone());
        let convert = self.bind_row_value(using.unwrap_or(&own), &relation, typed, &column.name).map_err(|error| {
            if using.is_some() {
                return error;
            }
            let shown = crate::types::names::format_type(typed.ty, Some(typed.modifier), self.world);
            let message = format!("column \"{}\" cannot be cast automatically to type {shown}", column.name);
            let hint = format!("You might need to specify \"USING {}::{shown}\".", column.name);
            SqlError::new(SqlState::DATATYPE_MISMATCH, message).hint(hint)
        })?;
        self.column_must_be_free(oid, position)?;
        let default = match (&column.default, column.generation) {
            (Some(default), Generation::Plain) => Some(self.default_as(default, typed, &column.name)?),
            (default, _) => default.clone(),
        };
        let checks = self.bind_again(oid, position, typed)?;
        self.rewrite(
            oid,
            |table| {
                let column = &mut table.columns[position];
                (column.typed, column.default, column.missing) = (typed, default, Datum::Null);
                column.collation = collation;
                table.checks = checks;
            },
            |world, mut values| {
                values[position] = world.eval_over(&convert, &values)?;
                Ok(values)
            },
        )
    }
}

impl Editor<'_, '_> {
    /// A default of a column that gets this type.
    fn default_as(&self, default: &StoredExpr, typed: Typed, column: &str) -> Result<Arc<StoredExpr>> {
        let mut value = current::expr(default, &self.catalog);
        while let ExprKind::Cast { arg, explicit: false } = value.kind {
            value = *arg;
        }
        let path = self.path();
        let bound = Binder::new(self.world, &path).assigned(value, typed, column).map_err(|_| {
            let shown = crate::types::names::display(typed.ty, &self.catalog);
            let message = format!("default for column \"{column}\" cannot be cast automatically to type {shown}");
            SqlError::new(SqlState::DATATYPE_MISMATCH, message)
        })?;
        Ok(Arc::new(StoredExpr::new(bound, &[])))
    }

    /// Views, generated columns and triggers that use a column keep its type.
    fn column_must_be_free(&self, oid: Oid, position: usize) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        let name = &table.columns[position].name;
        let refuse = |what: &str, user: String| {
            let message = format!("cannot alter type of a column used {what}");
            let detail = format!("{user} depends on column \"{name}\"");
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).detail(detail))
        };
        for column in table.columns.iter().filter(|column| column.generation == Generation::Stored) {
            if column.default.as_ref().is_some_and(|how| how.columns(oid).contains(&position)) {
                let message = "cannot alter type of a column used by a generated column";
                let detail = format!("Column \"{name}\" is used by generated column \"{}\".", column.name);
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).detail(detail));
            }
        }
        for other in self.catalog.relations.values() {
            if let RelationKind::View(view) = &other.kind
                && view.query.uses.contains(&Dependency::Column(oid, position))
            {
                let shown = self.described(Object::Relation(other.oid));
                return refuse("by a view or rule", format!("rule _RETURN on {shown}"));
            }
        }
        for trigger in &table.triggers {
            let by_condition = trigger.condition.as_ref().is_some_and(|when| when.columns(oid).contains(&position));
            if by_condition || trigger.update.as_ref().is_some_and(|columns| columns.contains(&position)) {
                let user = self.described(Object::Trigger(oid, trigger.oid));
                return refuse("in a trigger definition", user);
            }
        }
        Ok(())
    }

    /// The checks of a table, those over a column bound for its new type; indexes over it are, too.
    fn bind_again(&mut self, oid: Oid, position: usize, typed: Typed) -> Result<Vec<Check>> {
        let before = self.relation(oid)?;
        let mut changed = Relation::clone(&before);
        if let RelationKind::Table(table) = &mut changed.kind {
            table.columns[position].typed = typed;
        }
        let after = Arc::new(changed);
        let table = as_table(&before)?;
        let uses = |stored: &StoredExpr| stored.columns(oid).contains(&position);
        for index in table.indexes.clone() {
            let RelationKind::Index(made) = &self.relation(index)?.kind else { continue };
            let mut made = made.clone();
            if let Some(predicate) = made.predicate.as_mut().filter(|predicate| uses(predicate)) {
                let written = self.written(predicate, &before)?;
                *predicate = self.stored_again(&written, &after)?;
            }
            for key in &mut made.keys {
                if let IndexKeyKind::Expr(expr) = &mut key.what
                    && uses(expr)
                {
                    let written = self.written(expr, &before)?;
                    *expr = self.stored_again(&written, &after)?;
                }
            }
            self.change_index(index, |index| *index = made)?;
        }
        let mut checks = table.checks.clone();
        for check in checks.iter_mut().filter(|check| uses(&check.condition)) {
            let written = self.written(&check.condition, &before)?;
            check.condition = self.stored_again(&written, &after)?;
        }
        Ok(checks)
    }
}

/// All positions but one.
fn others(count: usize, position: usize) -> Vec<usize> {
    (0..count).filter(|at| *at != position).collect()
}

/// Whether each row needs its own value.
fn is_volatile(expr: &Expr) -> bool {
    let volatile = match &expr.kind {
        ExprKind::NextValue(_) | ExprKind::UserCall { .. } => true,
        ExprKind::Call { function, .. } => function.volatility == Volatility::Volatile,
        _ => false,
    };
    let mut found = volatile;
    crate::ir::children(expr, &mut |child| found |= is_volatile(child));
    found
}
