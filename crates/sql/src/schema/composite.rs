//! ALTER TYPE of a composite type: its attributes come, go, and get other names and types.
//!
//! A value has its fields in the order of the attributes. A change of that order therefore rewrites the rows of every table
//! that holds such values, and moves the positions of fields in the expressions and queries of the schema.

use std::sync::Arc;

use crate::catalog::{
    Catalog, Dependency, IndexKeyKind, Oid, Relation, RelationKind, StoredExpr, StoredQuery, UserFunction, UserType,
    UserTypeKind,
};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::walk::{Descend, edit};
use crate::ir::{Expr, ExprKind};
use crate::parse::ast::{Ident, ObjectName};
use crate::parse::ddl::AttributeAction;
use crate::schema::Editor;
use crate::schema::depends::Object;
use crate::schema::names::fold;
use crate::storage::locks::TableMode;
use crate::types::{ArrayValue, Datum, RecordShape, Type, Typed, kind};

type Fields = Vec<(Arc<str>, Typed)>;

/// How the fields of a composite type become those of its next version.
struct Refit {
    ty: Type,
    shape: Arc<RecordShape>,
    /// For each field its position before; `None`: it is new.
    from: Vec<Option<usize>>,
}

impl Editor<'_, '_> {
    pub(super) fn alter_composite(&mut self, name: &ObjectName, actions: &[AttributeAction]) -> Result<()> {
        let oid = self.type_named(name)?;
        for action in actions {
            let mut fields = self.attributes(oid)?;
            match action {
                AttributeAction::Add { name, data_type } => {
                    let (name, typed) = (fold(name), self.bind_type(data_type)?);
                    self.must_be_new(oid, &fields, &name)?;
                    if kind::holds(typed.ty, Type(oid), &self.catalog) {
                        let own = self.type_short_name(oid);
                        let message = format!("composite type {own} cannot be made a member of itself");
                        return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
                    }
                    fields.push((name, typed));
                    self.set_attributes(oid, fields)?;
                }
                AttributeAction::Drop { name, if_exists, cascade } => match position(&fields, name) {
                    Some(at) => self.drop_all(&[Object::Field(oid, at)], *cascade)?,
                    None if *if_exists => {
                        let message = format!("{}, skipping", self.no_attribute(oid, name));
                        self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
                    }
                    None => return Err(self.no_attribute(oid, name)),
                },
                AttributeAction::Type { name, data_type } => {
                    let typed = self.bind_type(data_type)?;
                    let at = position(&fields, name).ok_or_else(|| self.no_attribute(oid, name))?;
                    self.attribute_must_be_free(oid, at)?;
                    fields[at].1 = typed;
                    self.set_attributes(oid, fields)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn rename_attribute(&mut self, name: &ObjectName, attribute: &str, to: &str) -> Result<()> {
        let oid = self.type_named(name)?;
        let mut fields = self.attributes(oid)?;
        let at = fields.iter().position(|(known, _)| **known == *attribute).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{attribute}\" does not exist"))
        })?;
        self.must_be_new(oid, &fields, to)?;
        fields[at].0 = to.into();
        self.set_attributes(oid, fields)
    }

    /// The attributes of a composite type that is no table's.
    fn attributes(&self, oid: Oid) -> Result<Fields> {
        let user = &self.catalog.types[&oid];
        let is_table = |relation: &Arc<Relation>| matches!(&relation.kind, RelationKind::Table(table) if table.row_type == user.ty);
        match &user.kind {
            UserTypeKind::Composite(fields) if !self.catalog.relations.values().any(is_table) => Ok(fields.clone()),
            UserTypeKind::Composite(_) => {
                let message = format!("\"{}\" is a table, not a composite type", user.name);
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).hint("Use ALTER TABLE instead."))
            }
            _ => {
                let message = format!("\"{}\" is not a composite type", user.name);
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
            }
        }
    }

    fn type_short_name(&self, oid: Oid) -> String {
        self.catalog.types.get(&oid).map_or_else(String::new, |user| user.name.to_string())
    }

    fn no_attribute(&self, oid: Oid, name: &Ident) -> SqlError {
        let message = format!("column \"{}\" of relation \"{}\" does not exist", fold(name), self.type_short_name(oid));
        SqlError::new(SqlState::UNDEFINED_COLUMN, message)
    }

    fn must_be_new(&self, oid: Oid, fields: &Fields, name: &str) -> Result<()> {
        if fields.iter().all(|(known, _)| **known != *name) {
            return Ok(());
        }
        let message = format!("column \"{name}\" of relation \"{}\" already exists", self.type_short_name(oid));
        Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message))
    }

    /// An attribute that columns of tables or views use keeps its type.
    fn attribute_must_be_free(&self, oid: Oid, at: usize) -> Result<()> {
        for relation in self.catalog.relations.values() {
            let columns = match &relation.kind {
                RelationKind::Table(table) => table.columns.as_slice(),
                RelationKind::View(view) if view.query.uses.contains(&Dependency::Field(oid, at)) => {
                    let name = self.attributes(oid)?[at].0.clone();
                    let rule = format!("rule _RETURN on {}", self.described(Object::Relation(relation.oid)));
                    let message = "cannot alter type of a column used by a view or rule";
                    let detail = format!("{rule} depends on column \"{name}\"");
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).detail(detail));
                }
                _ => continue,
            };
            let holds =
                columns.iter().find(|column| !column.dropped && kind::holds(column.typed.ty, Type(oid), &self.catalog));
            if let Some(column) = holds {
                let (own, table) = (self.type_short_name(oid), &relation.name);
                let message = format!("cannot alter type \"{own}\" because column \"{table}.{}\" uses it", column.name);
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
        }
        Ok(())
    }

    /// Takes an attribute out of a composite type, if that is still there.
    pub(super) fn remove_field(&mut self, oid: Oid, at: usize) -> Result<()> {
        let Some(UserTypeKind::Composite(fields)) = self.catalog.types.get(&oid).map(|user| &user.kind) else {
            return Ok(());
        };
        let mut fields = fields.clone();
        if at < fields.len() {
            fields.remove(at);
        }
        self.set_attributes(oid, fields)
    }

    /// Gives a composite type these attributes: the old ones with other names or types and new ones after them, or some of
    /// the old ones.
    pub(super) fn set_attributes(&mut self, oid: Oid, fields: Fields) -> Result<()> {
        let known = self.catalog.types[&oid].clone();
        let UserTypeKind::Composite(before) = &known.kind else { return Ok(()) };
        if *before == fields {
            return Ok(());
        }
        let is_shorter = fields.len() < before.len();
        let origin = |(at, (name, _)): (usize, &(Arc<str>, Typed))| match is_shorter {
            true => before.iter().position(|(known, _)| known == name),
            false => (at < before.len()).then_some(at),
        };
        let from: Vec<Option<usize>> = fields.iter().enumerate().map(origin).collect();
        let shape = Arc::new(RecordShape { ty: known.ty, fields: fields.clone() });
        let refit = Refit { ty: known.ty, shape, from };
        self.change_catalog(|catalog| {
            let user = UserType { kind: UserTypeKind::Composite(fields), ..UserType::clone(&known) };
            catalog.types.insert(oid, Arc::new(user));
            refit.schema(catalog);
            Ok(())
        })?;
        self.rewrite_holders(&refit)
    }

    /// Rewrites the tables that hold values of the type.
    fn rewrite_holders(&mut self, refit: &Refit) -> Result<()> {
        let holds = |relation: &&Arc<Relation>| match &relation.kind {
            RelationKind::Table(table) => {
                let mut live = table.columns.iter().filter(|column| !column.dropped);
                live.any(|column| kind::holds(column.typed.ty, refit.ty, &self.catalog))
            }
            _ => false,
        };
        let tables: Vec<Oid> = self.catalog.relations.values().filter(holds).map(|relation| relation.oid).collect();
        for table in tables {
            self.lock_table(table, TableMode::AccessExclusive)?;
            let fill = |table: &mut crate::catalog::Table| {
                table.columns.iter_mut().for_each(|column| column.missing = refit.value(&column.missing));
            };
            self.rewrite(table, fill, |_, values| Ok(values.iter().map(|value| refit.value(value)).collect()))?;
        }
        Ok(())
    }
}

impl Refit {
    /// A value with the fields that the type has now, wherever it is in it.
    fn value(&self, value: &Datum) -> Datum {
        match value {
            Datum::Record(record) => {
                let fields: Vec<Datum> = record.fields.iter().map(|field| self.value(field)).collect();
                if record.shape.ty != self.ty {
                    return Datum::record(record.shape.clone(), fields);
                }
                let field = |from: &Option<usize>| from.and_then(|at| fields.get(at).cloned()).unwrap_or(Datum::Null);
                Datum::record(self.shape.clone(), self.from.iter().map(field).collect())
            }
            Datum::Array(array) => {
                let items = array.items.iter().map(|item| self.value(item)).collect();
                Datum::Array(Arc::new(ArrayValue { items, ..ArrayValue::clone(array) }))
            }
            other => other.clone(),
        }
    }

    /// Where a field is now.
    fn position(&self, before: usize) -> usize {
        self.from.iter().position(|from| *from == Some(before)).unwrap_or(before)
    }

    /// Moves the fields in everything that the schema keeps.
    fn schema(&self, catalog: &mut Catalog) {
        for relation in catalog.relations.values().cloned().collect::<Vec<_>>() {
            let mut relation = Relation::clone(&relation);
            if self.relation(&mut relation.kind) {
                catalog.put_relation(relation);
            }
        }
        for user in catalog.types.values().cloned().collect::<Vec<_>>() {
            let mut user = UserType::clone(&user);
            let UserTypeKind::Domain { default, checks, .. } = &mut user.kind else { continue };
            let stored = default.iter_mut().chain(checks.iter_mut().map(|check| &mut check.condition));
            if self.stored(stored) {
                catalog.types.insert(user.ty.0, Arc::new(user));
            }
        }
        for function in catalog.functions.values().cloned().collect::<Vec<_>>() {
            let mut function = UserFunction::clone(&function);
            let defaults = self.stored(function.parameters.iter_mut().filter_map(|known| known.default.as_mut()));
            let body = function.atomic.as_ref().filter(|body| body.iter().any(|query| self.is_used(&query.uses)));
            let body: Option<Vec<StoredQuery>> =
                body.map(|body| body.iter().map(|query| self.query(query.clone())).collect());
            if defaults || body.is_some() {
                function.atomic = body.map_or(function.atomic, |body| Some(body.into()));
                catalog.functions.insert(function.oid, Arc::new(function));
            }
        }
    }

    fn relation(&self, relation: &mut RelationKind) -> bool {
        match relation {
            RelationKind::Table(table) => {
                let defaults = self.stored(table.columns.iter_mut().filter_map(|column| column.default.as_mut()));
                let checks = self.stored(table.checks.iter_mut().map(|check| &mut check.condition));
                let triggers = self.stored(table.triggers.iter_mut().filter_map(|trigger| trigger.condition.as_mut()));
                defaults | checks | triggers
            }
            RelationKind::Index(index) => {
                let keys = index.keys.iter_mut().filter_map(|key| match &mut key.what {
                    IndexKeyKind::Expr(expr) => Some(expr),
                    IndexKeyKind::Column(_) => None,
                });
                self.stored(keys.chain(&mut index.predicate))
            }
            RelationKind::View(view) if self.is_used(&view.query.uses) => {
                view.query = Arc::new(self.query(StoredQuery::clone(&view.query)));
                true
            }
            RelationKind::View(_) | RelationKind::Sequence(_) => false,
        }
    }

    fn is_used(&self, uses: &[Dependency]) -> bool {
        let is_it = |used: &Dependency| match used {
            Dependency::Field(ty, _) | Dependency::Type(ty) => *ty == self.ty.0,
            _ => false,
        };
        uses.iter().any(is_it)
    }

    /// Whether any of these has changed.
    fn stored<'a>(&self, all: impl Iterator<Item = &'a mut Arc<StoredExpr>>) -> bool {
        let mut changed = false;
        for stored in all {
            if self.is_used(&stored.uses) {
                let stored = Arc::make_mut(stored);
                edit::expr(&mut stored.expr, 0, &mut |node, _| self.node(node)).expect("moving does not fail");
                self.uses(&mut stored.uses);
                changed = true;
            }
        }
        changed
    }

    fn query(&self, mut stored: StoredQuery) -> StoredQuery {
        edit::plan(&mut stored.query.plan, 0, &mut |node, _| self.node(node)).expect("moving does not fail");
        self.uses(&mut stored.uses);
        stored
    }

    fn node(&self, node: &mut Expr) -> Result<Descend> {
        match &mut node.kind {
            ExprKind::Field { arg, index } | ExprKind::ReplaceField { arg, index, .. } if arg.ty() == self.ty => {
                *index = self.position(*index);
            }
            ExprKind::Const(value) => *value = self.value(value),
            _ => {}
        }
        Ok(Descend::Yes)
    }

    fn uses(&self, uses: &mut [Dependency]) {
        for used in uses {
            if let Dependency::Field(ty, at) = used
                && *ty == self.ty.0
            {
                *at = self.position(*at);
            }
        }
    }
}

fn position(fields: &Fields, name: &Ident) -> Option<usize> {
    let name = fold(name);
    fields.iter().position(|(known, _)| *known == name)
}
