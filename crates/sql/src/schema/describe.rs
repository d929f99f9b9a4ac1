//! Objects as messages name them: `table t`, `column a of table t`, `function f(integer)`.

use crate::catalog::{Check, Oid, Relation, RelationKind, Table};
use crate::functions::extension;
use crate::schema::Editor;
use crate::schema::depends::Object;
use crate::types::names::search_path;
use crate::types::{Type, names, quote};

impl Editor<'_, '_> {
    /// An object as PostgreSQL describes it, with its schema where the search path does not find it.
    pub(super) fn described(&self, object: Object) -> String {
        let table = |oid: Oid| self.catalog.table(oid);
        let check = |checks: &[Check], oid: Oid| {
            checks
                .iter()
                .find(|check| check.oid == oid)
                .map_or_else(String::new, |check| quote::identifier(&check.name))
        };
        match object {
            Object::Schema(oid) => {
                let name =
                    self.catalog.schemas.get(&oid).map_or_else(String::new, |schema| quote::identifier(&schema.name));
                format!("schema {name}")
            }
            Object::Relation(oid) => self.relation_described(oid),
            Object::Column(oid, at) => {
                format!("column {} of {}", self.column_named(oid, at), self.relation_described(oid))
            }
            Object::Default(oid, at) => {
                format!("default value for column {} of {}", self.column_named(oid, at), self.relation_described(oid))
            }
            Object::Check(oid, constraint) => {
                let name = table(oid).map_or_else(String::new, |table| check(&table.checks, constraint));
                format!("constraint {name} on {}", self.relation_described(oid))
            }
            Object::ForeignKey(oid, constraint) => {
                let find = |table: &Table| table.foreign_keys.iter().find(|key| key.oid == constraint).cloned();
                let name = table(oid).and_then(find).map_or_else(String::new, |key| quote::identifier(&key.name));
                format!("constraint {name} on {}", self.relation_described(oid))
            }
            Object::IndexConstraint(index) => {
                match self.catalog.relation(index).map(|relation| (relation, &relation.kind)) {
                    Some((relation, RelationKind::Index(made))) => {
                        format!(
                            "constraint {} on {}",
                            quote::identifier(&relation.name),
                            self.relation_described(made.table)
                        )
                    }
                    _ => String::new(),
                }
            }
            Object::Trigger(oid, trigger) => {
                let find = |table: &Table| table.triggers.iter().find(|known| known.oid == trigger).cloned();
                let name = table(oid).and_then(find).map_or_else(String::new, |known| quote::identifier(&known.name));
                format!("trigger {name} on {}", self.relation_described(oid))
            }
            Object::Type(oid) => format!("type {}", names::format_type(Type(oid), None, self.world)),
            Object::Field(oid, at) => {
                let name = match self.catalog.types.get(&oid).map(|user| &user.kind) {
                    Some(crate::catalog::UserTypeKind::Composite(fields)) => {
                        fields.get(at).map_or_else(String::new, |(name, _)| quote::identifier(name))
                    }
                    _ => String::new(),
                };
                format!("column {name} of composite type {}", names::format_type(Type(oid), None, self.world))
            }
            Object::DomainCheck(oid, constraint) => {
                let name = match self.catalog.types.get(&oid).map(|user| &user.kind) {
                    Some(crate::catalog::UserTypeKind::Domain { checks, .. }) => check(checks, constraint),
                    _ => String::new(),
                };
                format!("constraint {name}")
            }
            Object::Collation(oid) => {
                let collation = self.catalog.collations.get(&oid);
                format!("collation {}", collation.map_or_else(String::new, |known| quote::identifier(&known.name)))
            }
            Object::Function(oid) => self.function_described(oid),
            Object::Extension(oid) => {
                let name = self.catalog.extensions.get(&oid).map_or("", |installed| &*installed.name);
                format!("extension {name}")
            }
            Object::Member(oid) => self.member_described(oid),
        }
    }

    fn relation_described(&self, oid: Oid) -> String {
        let Some(relation) = self.catalog.relation(oid) else { return String::new() };
        // The rows of a materialized view are its own.
        let holder = self.catalog.relations.values().find(|other| match &other.kind {
            RelationKind::View(view) => view.materialized == Some(oid),
            _ => false,
        });
        let relation = holder.unwrap_or(relation);
        let visible = search_path(self.world)
            .into_iter()
            .find_map(|schema| self.catalog.relation_in(schema, &relation.name))
            .is_some_and(|found| found.oid == relation.oid);
        format!("{} {}", kind_of(&relation.kind), self.qualified(relation.schema, &relation.name, visible))
    }

    fn qualified(&self, schema: Oid, name: &str, visible: bool) -> String {
        match self.catalog.schemas.get(&schema) {
            Some(schema) if !visible => format!("{}.{}", quote::identifier(&schema.name), quote::identifier(name)),
            _ => quote::identifier(name),
        }
    }

    fn column_named(&self, oid: Oid, at: usize) -> String {
        let column = |relation: &Relation| match &relation.kind {
            RelationKind::Table(table) => table.columns.get(at).map(|column| column.name.clone()),
            RelationKind::View(view) => view.columns.get(at).map(|(name, _)| name.clone()),
            _ => None,
        };
        let found = self.catalog.relation(oid).and_then(|relation| column(relation));
        found.map_or_else(String::new, |name| quote::identifier(&name))
    }

    fn member_described(&self, oid: Oid) -> String {
        let Some(member) = extension::numbered(oid) else { return String::new() };
        let types: Vec<String> =
            member.function.args.iter().map(|ty| names::format_type(*ty, None, self.world)).collect();
        let schema = extension::schema_of(member.function, &self.catalog);
        let visible = schema.is_none_or(|schema| search_path(self.world).contains(&schema));
        let name = match (member.operator, visible) {
            (true, true) => member.function.name.to_owned(),
            (true, false) => {
                let schema = schema.and_then(|schema| self.catalog.schemas.get(&schema));
                let schema = schema.map_or_else(String::new, |schema| format!("{}.", quote::identifier(&schema.name)));
                format!("{schema}{}", member.function.name)
            }
            (false, _) => self.qualified(schema.unwrap_or(0), member.function.name, visible),
        };
        format!("{} {name}({})", if member.operator { "operator" } else { "function" }, types.join(","))
    }

    fn function_described(&self, oid: Oid) -> String {
        let Some(function) = self.catalog.functions.get(&oid) else { return String::new() };
        let types: Vec<String> =
            function.input_types().iter().map(|ty| names::format_type(*ty, None, self.world)).collect();
        let first = search_path(self.world).into_iter().find_map(|schema| {
            let same = self.catalog.functions.values().find(|other| {
                other.schema == schema && other.name == function.name && other.input_types() == function.input_types()
            });
            same.map(|other| other.oid)
        });
        let name = self.qualified(function.schema, &function.name, first == Some(oid));
        format!("function {name}({})", types.join(","))
    }
}

pub(super) fn kind_of(kind: &RelationKind) -> &'static str {
    match kind {
        RelationKind::Table(_) => "table",
        RelationKind::Index(_) => "index",
        RelationKind::View(view) if view.materialized.is_some() => "materialized view",
        RelationKind::View(_) => "view",
        RelationKind::Sequence(_) => "sequence",
    }
}
