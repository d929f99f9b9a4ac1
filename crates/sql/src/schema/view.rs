//! Views, materialized ones too.

use std::sync::Arc;

use crate::parse::ast::ObjectName;

use crate::catalog::{IndexKeyKind, Oid, Relation, RelationKind, StoredQuery, View};
use crate::client::Outcome;
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::CreateView;
use crate::schema::Editor;
use crate::schema::names::fold;
use crate::types::{Datum, Type, Typed};

impl Editor<'_, '_> {
    pub(super) fn create_view(&mut self, create: &CreateView) -> Result<()> {
        let query = self.bind_stored(&create.query)?;
        let (schema, name) = self.place(&create.name, create.temporary)?;
        let mut columns: Vec<(Arc<str>, Typed)> =
            query.query.columns.iter().map(|column| (column.name.clone(), text_for_unknown(column.typed))).collect();
        if create.columns.len() > columns.len() {
            return Err(SqlError::syntax("CREATE VIEW specifies more column names than columns"));
        }
        for (column, name) in columns.iter_mut().zip(&create.columns) {
            column.0 = fold(name);
        }
        if let Some((at, twice)) =
            columns.iter().enumerate().find(|(at, (name, _))| columns[..*at].iter().any(|(known, _)| known == name))
        {
            let _ = at;
            let message = format!("column \"{}\" specified more than once", twice.0);
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        let existing = self.catalog.relation_in(schema, &name).cloned();
        let oid = match (&existing, create.or_replace) {
            (None, _) => self.db.new_oid(),
            (Some(relation), true) => self.replaceable(relation, &columns)?,
            (Some(_), false) => {
                self.is_taken(schema, &name, false)?;
                return Ok(());
            }
        };
        let view = View { columns, query: Arc::new(query), materialized: None, check_option: create.check_option };
        self.change_catalog(|catalog| {
            catalog.put_relation(Relation { oid, schema, name, kind: RelationKind::View(view) });
            Ok(())
        })
    }

    fn replaceable(&self, relation: &Relation, columns: &[(Arc<str>, Typed)]) -> Result<Oid> {
        let RelationKind::View(view) = &relation.kind else {
            let message = format!("\"{}\" is not a view", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        if columns.len() < view.columns.len() {
            return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, "cannot drop columns from view"));
        }
        for ((old, old_type), (new, new_type)) in view.columns.iter().zip(columns) {
            if old != new {
                let message = format!("cannot change name of view column \"{old}\" to \"{new}\"");
                let hint = "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.";
                return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message).hint(hint));
            }
            if old_type != new_type {
                let shown =
                    |typed: &Typed| crate::types::names::format_type(typed.ty, Some(typed.modifier), self.world);
                let message = format!(
                    "cannot change data type of view column \"{old}\" from {} to {}",
                    shown(old_type),
                    shown(new_type)
                );
                return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
            }
        }
        // Those bodies are bound to the table behind the view.
        let is_changed = self.catalog.functions.values().any(|function| {
            let mut body = function.atomic.iter().flat_map(|body| body.iter());
            body.any(|statement| crate::ir::stored::changes_through(statement, relation.oid))
        });
        if is_changed {
            return Err(SqlError::unsupported("replacing a view that a body in SQL changes"));
        }
        Ok(relation.oid)
    }

    /// Makes the view whose rows this table holds; the table keeps them under a name of its own.
    pub(super) fn make_materialized(
        &mut self,
        rows: Oid,
        schema: Oid,
        name: Arc<str>,
        columns: Vec<(Arc<str>, Typed)>,
        query: StoredQuery,
    ) -> Result<()> {
        self.rename_relation(rows, &format!("pg_materialized_{rows}"))?;
        let oid = self.db.new_oid();
        let view = View { columns, query: Arc::new(query), materialized: Some(rows), check_option: None };
        self.change_table(rows, |table| {
            table.view = Some(oid);
            Ok(())
        })?;
        self.change_catalog(|catalog| {
            catalog.put_relation(Relation { oid, schema, name, kind: RelationKind::View(view) });
            Ok(())
        })
    }

    pub(super) fn refresh_view(&mut self, name: &ObjectName, with_data: bool, concurrently: bool) -> Result<()> {
        let relation = self.resolve_relation(name)?;
        let RelationKind::View(View { materialized: Some(rows), .. }) = &relation.kind else {
            let message = format!("\"{}\" is not a materialized view", relation.name);
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        if concurrently {
            self.refreshes_concurrently(&relation, *rows, with_data)?;
        }
        self.lock_table(*rows, crate::storage::locks::TableMode::AccessExclusive)?;
        let found = match with_data {
            true => self.rows_of_view(&relation)?,
            false => Vec::new(),
        };
        self.empty(*rows)?;
        self.change_table(*rows, |table| {
            table.unpopulated = !with_data;
            Ok(())
        })?;
        self.fill(*rows, found)
    }

    fn rows_of_view(&mut self, relation: &Relation) -> Result<Vec<Vec<Datum>>> {
        let query = crate::ir::current::view(relation.oid, &self.catalog, &mut 0)?;
        let plan = self.planned(query);
        let text: Arc<str> = format!("REFRESH MATERIALIZED VIEW {}", relation.name).into();
        match self.run_query_statement(&text, &plan)? {
            Outcome::Rows { rows, .. } => Ok(rows),
            _ => Ok(Vec::new()),
        }
    }

    /// What CONCURRENTLY asks for: rows, and a unique index that tells them apart.
    fn refreshes_concurrently(&self, relation: &Relation, rows: Oid, with_data: bool) -> Result<()> {
        let Some(table) = self.catalog.table(rows) else { return Ok(()) };
        if table.unpopulated {
            let message = "CONCURRENTLY cannot be used when the materialized view is not populated";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        if !with_data {
            return Err(SqlError::syntax("CONCURRENTLY and WITH NO DATA options cannot be used together"));
        }
        let tells_apart = |oid: &Oid| match self.catalog.relation(*oid).map(|relation| &relation.kind) {
            Some(RelationKind::Index(index)) => {
                let is_column = |key: &crate::catalog::IndexKey| matches!(key.what, IndexKeyKind::Column(_));
                index.unique && index.predicate.is_none() && index.keys.iter().all(is_column)
            }
            _ => false,
        };
        if table.indexes.iter().any(tells_apart) {
            return Ok(());
        }
        let schema = self.catalog.schemas.get(&relation.schema).map_or("", |schema| &*schema.name);
        let message = format!("cannot refresh materialized view \"{schema}.{}\" concurrently", relation.name);
        let hint = "Create a unique index with no WHERE clause on one or more columns of the materialized view.";
        Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message).hint(hint))
    }
}

fn text_for_unknown(typed: Typed) -> Typed {
    if typed.ty == Type::UNKNOWN { Type::TEXT.into() } else { typed }
}
