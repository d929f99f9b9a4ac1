//! Triggers: CREATE TRIGGER, and ALTER TABLE ENABLE and DISABLE TRIGGER.

use std::sync::Arc;

use crate::catalog::{Oid, Relation, RelationKind, Returns, StoredExpr, Trigger, TriggerTime};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, ExprKind};
use crate::parse::ddl::{CreateTrigger, ObjectRef, WhichTriggers};
use crate::schema::Editor;
use crate::storage::world::as_table;

impl Editor<'_, '_> {
    pub(super) fn create_trigger(&mut self, create: &CreateTrigger) -> Result<()> {
        if create.referencing {
            return Err(SqlError::unsupported("REFERENCING in a trigger"));
        }
        let relation = self.resolve_relation(&create.table)?;
        must_fit(create, &relation)?;
        let table = as_table(&relation)?;
        let update = match &create.update {
            Some(columns) => {
                Some(columns.iter().map(|name| self.position(relation.oid, name)).collect::<Result<Vec<_>>>()?)
            }
            None => None,
        };
        let condition = self.trigger_condition(create, &relation)?;
        let reference = ObjectRef { name: create.function.clone(), of: None, arguments: Some(Vec::new()) };
        let function = self.function_named(&reference)?;
        if self.catalog.functions[&function].returns != Returns::Trigger {
            let message = format!("function {} must return type trigger", self.catalog.functions[&function].name);
            return Err(invalid(message));
        }
        let existing = table.triggers.iter().find(|trigger| *trigger.name == *create.name).map(|trigger| trigger.oid);
        if existing.is_some() && !create.or_replace {
            let message = format!("trigger \"{}\" for relation \"{}\" already exists", create.name, relation.name);
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let oid = existing.unwrap_or_else(|| self.db.new_oid());
        let trigger = Trigger {
            oid,
            name: create.name.as_str().into(),
            when: create.time,
            insert: create.insert,
            update,
            delete: create.delete,
            truncate: create.truncate,
            each_row: create.each_row,
            condition,
            function,
            arguments: create.arguments.iter().map(|argument| argument.as_str().into()).collect(),
            enabled: true,
            timing: create.constraint.then(|| super::constraint::timing(create.attributes)),
        };
        self.change_table(relation.oid, |table| {
            table.triggers.retain(|known| known.oid != oid);
            table.triggers.push(trigger);
            table.triggers.sort_by(|one, two| one.name.cmp(&two.name));
            Ok(())
        })
    }

    fn trigger_condition(
        &mut self,
        create: &CreateTrigger,
        relation: &Arc<Relation>,
    ) -> Result<Option<Arc<StoredExpr>>> {
        let Some(condition) = &create.condition else { return Ok(None) };
        let bound = self.bind_trigger_condition(condition, relation)?;
        let (old, new) = (looks_at(&bound, 0), looks_at(&bound, 1));
        let wrong = if !create.each_row && (old || new) {
            Some("statement trigger's WHEN condition cannot reference column values")
        } else if create.insert && old {
            Some("INSERT trigger's WHEN condition cannot reference OLD values")
        } else if create.delete && new {
            Some("DELETE trigger's WHEN condition cannot reference NEW values")
        } else {
            None
        };
        match wrong {
            Some(message) => Err(invalid(message)),
            None => Ok(Some(Arc::new(StoredExpr::new(bound, &[relation.oid, relation.oid])))),
        }
    }

    /// ENABLE TRIGGER and DISABLE TRIGGER
    pub(super) fn enable_triggers(&mut self, oid: Oid, which: &WhichTriggers, enable: bool) -> Result<()> {
        let name = self.relation(oid)?.name.clone();
        self.change_table(oid, |table| match which {
            WhichTriggers::Named(wanted) => {
                let trigger = table.triggers.iter_mut().find(|trigger| *trigger.name == **wanted);
                trigger.map(|trigger| trigger.enabled = enable).ok_or_else(|| no_trigger(wanted, &name))
            }
            WhichTriggers::User | WhichTriggers::All => {
                table.triggers.iter_mut().for_each(|trigger| trigger.enabled = enable);
                if *which == WhichTriggers::All {
                    table.unchecked = !enable;
                }
                Ok(())
            }
        })
    }
}

/// Which triggers tables and views can have.
fn must_fit(create: &CreateTrigger, relation: &Relation) -> Result<()> {
    let wrong = |kind: &str, detail: &str| {
        let message = format!("\"{}\" is a {kind}", relation.name);
        Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).detail(detail))
    };
    match (&relation.kind, create.time) {
        (RelationKind::Table(_), TriggerTime::InsteadOf) => wrong("table", "Tables cannot have INSTEAD OF triggers."),
        (RelationKind::Table(_), _) => {
            if create.truncate && create.each_row {
                let message = "TRUNCATE FOR EACH ROW triggers are not supported";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            Ok(())
        }
        (RelationKind::View(_), _) if create.truncate => wrong("view", "Views cannot have TRUNCATE triggers."),
        (RelationKind::View(_), TriggerTime::Before | TriggerTime::After) if create.each_row => {
            wrong("view", "Views cannot have row-level BEFORE or AFTER triggers.")
        }
        (RelationKind::View(_), _) => Err(SqlError::unsupported("a trigger on a view")),
        _ => {
            let message = format!("\"{}\" is not a table or view", relation.name);
            Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
        }
    }
}

/// Whether an expression looks at OLD (0) or NEW (1).
fn looks_at(expr: &Expr, row: usize) -> bool {
    expr.any(&mut |part| match &part.kind {
        ExprKind::Column(column) => column.up == 0 && column.slot == row,
        ExprKind::Row { up, slot, .. } => *up == 0 && *slot == row,
        _ => false,
    })
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// There is no trigger with this name.
pub(super) fn no_trigger(name: &str, table: &str) -> SqlError {
    let message = format!("trigger \"{name}\" for table \"{table}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}
