//! PREPARE, EXECUTE and DEALLOCATE; and names that statements mention.

use std::sync::Arc;

use crate::parse::ast::{self, DataType, ObjectName};

use crate::catalog::{Oid, Relation, RelationKind, Timing};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Tuple};
use crate::parse::statement::Statement;
use crate::schema::Editor;
use crate::session::{Outcome, Prepared};
use crate::storage::World;

impl World<'_> {
    pub(crate) fn prepare_named(
        &mut self,
        name: &str,
        types: &[DataType],
        statement: &Statement,
        text: &str,
    ) -> Result<Outcome> {
        if self.session.statements.contains_key(name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_PREPARED_STATEMENT, message));
        }
        let types = types.iter().map(|ty| Ok(self.bind_type(ty)?.ty)).collect::<Result<Vec<_>>>()?;
        let prepared = self.plan(text.into(), Arc::new(statement.clone()), &types)?;
        self.session.statements.insert(name.to_owned(), prepared);
        Ok(Outcome::Done("PREPARE".to_owned()))
    }

    pub(crate) fn named_statement(&self, name: &str) -> Result<Prepared> {
        self.session.statements.get(name).cloned().ok_or_else(|| {
            let message = format!("prepared statement \"{name}\" does not exist");
            SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, message)
        })
    }

    pub(crate) fn execute_named(&mut self, name: &str, arguments: &[ast::Expr]) -> Result<Outcome> {
        let prepared = self.named_statement(name)?;
        if arguments.len() != prepared.parameters.len() {
            let message = format!("wrong number of parameters for prepared statement \"{name}\"");
            let (expected, given) = (prepared.parameters.len(), arguments.len());
            let detail = format!("Expected {expected} parameters but got {given}.");
            return Err(SqlError::syntax(message).detail(detail));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (argument, ty) in arguments.iter().zip(prepared.parameters.iter()) {
            let expr = self.bind_assigned(argument, (*ty).into(), "parameter")?;
            values.push(Run::new().eval(self, &expr, &Tuple::default())?);
        }
        self.run_prepared(&prepared, &values)
    }

    pub(crate) fn deallocate(&mut self, name: Option<&str>) -> Result<Outcome> {
        let Some(name) = name else {
            self.session.statements.clear();
            return Ok(Outcome::Done("DEALLOCATE ALL".to_owned()));
        };
        self.session.statements.remove(name).ok_or_else(|| {
            let message = format!("prepared statement \"{name}\" does not exist");
            SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, message)
        })?;
        Ok(Outcome::Done("DEALLOCATE".to_owned()))
    }

    /// The relation that a name means.
    pub(crate) fn resolve_relation(&mut self, name: &ObjectName) -> Result<Arc<Relation>> {
        if let Some(found) = self.find_relation(name)? {
            return Ok(found);
        }
        let (schema, short) = Editor::new(self).parts_here(name)?;
        if let Some(schema) = schema {
            // Other than in queries, a schema that is missing is told as that.
            Editor::new(self).schema_named(&schema)?;
            let message = format!("relation \"{schema}.{short}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
        }
        Err(SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{short}\" does not exist")))
    }

    /// The constraints with these names; each has to be DEFERRABLE.
    pub(crate) fn deferrable_constraints(&self, names: &[ObjectName]) -> Result<Vec<Oid>> {
        let mut found = Vec::new();
        for name in names {
            let (_, wanted) = crate::schema::names::parts(name)?;
            let before = found.len();
            let mut refused = false;
            let mut take = |known: &str, oid: Oid, timing: Timing| {
                if *known == *wanted {
                    refused |= timing == Timing::Immediate;
                    found.push(oid);
                }
            };
            for relation in self.catalog.relations.values() {
                match &relation.kind {
                    RelationKind::Table(table) => {
                        table.foreign_keys.iter().for_each(|key| take(&key.name, key.oid, key.timing));
                    }
                    RelationKind::Index(index) => {
                        if let Some(constraint) = index.constraint {
                            take(&relation.name, constraint.oid, constraint.timing);
                        }
                    }
                    _ => {}
                }
            }
            if refused {
                let message = format!("constraint \"{}\" is not deferrable", wanted);
                return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
            if found.len() == before {
                let message = format!("constraint \"{}\" does not exist", wanted);
                return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
            }
        }
        Ok(found)
    }
}
