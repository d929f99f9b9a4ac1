//! CREATE INDEX.

use std::sync::Arc;

use crate::parse::ast;

use crate::catalog::{Index, IndexKey, IndexKeyKind, Oid, Relation, RelationKind, StoredExpr};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::Expr;
use crate::parse::ddl::{CreateIndex, IndexElement};
use crate::schema::Editor;
use crate::schema::names::{self, fold};
use crate::storage::locks::TableMode;
use crate::storage::world::as_table;

impl Editor<'_, '_> {
    pub(super) fn create_index(&mut self, create: &CreateIndex) -> Result<()> {
        let relation = self.resolve_relation(&create.table)?;
        let relation = match &relation.kind {
            RelationKind::View(view) if view.materialized.is_some() => self.relation(view.materialized.unwrap_or(0))?,
            _ => relation,
        };
        let table = as_table(&relation).map_err(|_| {
            let message = format!("cannot create index on relation \"{}\"", relation.name);
            SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
        })?;
        self.lock_table(relation.oid, TableMode::Share)?;
        if create.concurrently && self.session.status() != crate::client::Status::Idle {
            let message = "CREATE INDEX CONCURRENTLY cannot run inside a transaction block";
            return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
        }
        let method = create.method.clone().unwrap_or_else(|| "btree".to_owned());
        let is_bloom = || self.catalog.extensions.values().any(|installed| *installed.name == *method);
        let is_known = match method.as_str() {
            "btree" | "hash" | "gist" | "gin" | "spgist" | "brin" => true,
            "bloom" => is_bloom(),
            _ => false,
        };
        if !is_known {
            let message = format!("access method \"{method}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        if create.unique && method != "btree" {
            let message = format!("access method \"{method}\" does not support unique indexes");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let mut keys = Vec::with_capacity(create.keys.len());
        let mut parts = Vec::new();
        for element in &create.keys {
            let (key, part) = self.index_key(&relation, element)?;
            keys.push(key);
            parts.push(part);
        }
        let include =
            create.include.iter().map(|name| self.position(relation.oid, name)).collect::<Result<Vec<_>>>()?;
        let predicate = match &create.predicate {
            Some(predicate) => {
                let bound = self.bind_row_expression(predicate, &relation)?;
                self.must_be_immutable(&bound, "index predicate")?;
                Some(Arc::new(StoredExpr::new(bound, &[relation.oid])))
            }
            None => None,
        };
        let name = match &create.name {
            Some(name) => fold(name),
            None => {
                let included = include.iter().map(|&at| &*table.columns[at].name);
                let parts: Vec<&str> = parts.iter().map(String::as_str).chain(included).collect();
                names::relation_name(&self.catalog, relation.schema, &relation.name, &parts, "idx")
            }
        };
        if self.is_taken(relation.schema, &name, create.if_not_exists)? {
            return Ok(());
        }
        let index = Index {
            table: relation.oid,
            keys,
            include,
            unique: create.unique,
            nulls_not_distinct: create.nulls_not_distinct,
            predicate,
            constraint: None,
            space: None,
            method: method.into(),
        };
        let index = self.put_index(relation.schema, name, index, true)?;
        self.build_index(relation.oid, index)
    }

    /// A key of an index, and the part of the index's name that it makes.
    fn index_key(&mut self, relation: &Arc<Relation>, element: &IndexElement) -> Result<(IndexKey, String)> {
        let mut collation = 0;
        if let Some(name) = &element.collation {
            collation = self.collation_named(name)?;
            let order = crate::types::collation::order(collation, &self.catalog);
            if order.is_some_and(|order| !order.deterministic) {
                return Err(SqlError::unsupported("an index over a nondeterministic collation"));
            }
        }
        let class: Option<Arc<str>> = element.class.as_ref().map(|class| class.to_string().into());
        let nulls_first = element.nulls_first.unwrap_or(element.descending);
        let key = |what| IndexKey { what, descending: element.descending, nulls_first, class, collation };
        if let ast::Expr::Identifier(ident) = &element.expr {
            let name = fold(ident);
            let table = as_table(relation)?;
            let found = table.columns.iter().position(|column| !column.dropped && column.name == name);
            let position = found.ok_or_else(|| {
                SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"))
            })?;
            return Ok((key(IndexKeyKind::Column(position)), name.to_string()));
        }
        let bound = self.bind_row_expression(&element.expr, relation)?;
        self.must_be_immutable(&bound, "index expression")?;
        let part = match unnested(&element.expr) {
            ast::Expr::Function(function) => function.name.0.last().map_or_else(String::new, ToString::to_string),
            _ => "expr".to_owned(),
        };
        let stored = StoredExpr::new(bound, &[relation.oid]);
        Ok((key(IndexKeyKind::Expr(Arc::new(stored))), part.to_lowercase()))
    }

    /// An index keeps what an expression came to: it has to come to the same at any time.
    fn must_be_immutable(&self, expr: &Expr, place: &str) -> Result<()> {
        if !expr.is_mutable(&self.catalog) {
            return Ok(());
        }
        let message = format!("functions in {place} must be marked IMMUTABLE");
        Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message))
    }

    /// Changes an index in the transaction's catalog.
    pub(super) fn change_index(&mut self, oid: Oid, change: impl FnOnce(&mut Index)) -> Result<()> {
        let mut relation = Relation::clone(&*self.relation(oid)?);
        if let RelationKind::Index(index) = &mut relation.kind {
            change(index);
        }
        self.change_catalog(|catalog| {
            catalog.put_relation(relation);
            Ok(())
        })
    }

    /// A copy of an index for a table with the same columns.
    pub(super) fn copy_index(&mut self, oid: Oid, source: &Relation, index: Oid) -> Result<()> {
        let relation = self.relation(oid)?;
        let RelationKind::Index(made) = &self.relation(index)?.kind else { return Ok(()) };
        let mut copy = made.clone();
        copy.table = oid;
        if let Some(constraint) = &mut copy.constraint {
            constraint.oid = self.db.new_oid();
        }
        let (from, to) = (as_table(source)?, as_table(&relation)?);
        let map = |position: usize| {
            let name = &from.columns[position].name;
            to.columns.iter().position(|column| column.name == *name).unwrap_or(position)
        };
        let mut columns = Vec::new();
        for key in &mut copy.keys {
            if let IndexKeyKind::Column(position) = &mut key.what {
                *position = map(*position);
                columns.push(to.columns[*position].name.clone());
            }
            if let IndexKeyKind::Expr(expr) = &mut key.what {
                *expr = Arc::new(super::stored::moved(expr, oid, &map));
            }
        }
        if let Some(predicate) = &mut copy.predicate {
            *predicate = Arc::new(super::stored::moved(predicate, oid, &map));
        }
        let suffix = match copy.constraint {
            Some(constraint) if constraint.primary => "pkey",
            Some(_) => "key",
            None => "idx",
        };
        let parts: Vec<&str> = if suffix == "pkey" { Vec::new() } else { columns.iter().map(|name| &**name).collect() };
        let name = names::relation_name(&self.catalog, relation.schema, &relation.name, &parts, suffix);
        self.put_index(relation.schema, name, copy, true)?;
        Ok(())
    }
}

fn unnested(expr: &ast::Expr) -> &ast::Expr {
    match expr {
        ast::Expr::Nested(inner) => unnested(inner),
        expr => expr,
    }
}
