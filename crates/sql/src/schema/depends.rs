//! What depends on what in a catalog: the edges that `pg_depend` shows and that DROP follows.
//!
//! An edge leads from an object to one that it needs. *Normal*: the needed object is not dropped without CASCADE. *Auto*: the
//! object goes with what it needs. *Internal*: the object is a part of what it needs, and is dropped with that only. These
//! are the rules of PostgreSQL's `dependency.c`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::{
    Catalog, Dependency, FIRST_USER_OID, Generation, Index, IndexKeyKind, Oid, PUBLIC, Relation, RelationKind, Returns,
    Table, UserFunction, UserType, UserTypeKind,
};
use crate::functions::extension;
use crate::types::{Type, kind};

/// An object of the schema, or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Object {
    /// A schema.
    Schema(Oid),
    /// A table, view, index or sequence.
    Relation(Oid),
    /// A column of a relation, by its position.
    Column(Oid, usize),
    /// The default of a column, or how it is generated.
    Default(Oid, usize),
    /// A CHECK of a table.
    Check(Oid, Oid),
    /// A FOREIGN KEY of a table.
    ForeignKey(Oid, Oid),
    /// The constraint that made this index.
    IndexConstraint(Oid),
    /// A trigger of a table.
    Trigger(Oid, Oid),
    /// A type.
    Type(Oid),
    /// A field of a composite type, by its position.
    Field(Oid, usize),
    /// A CHECK of a domain.
    DomainCheck(Oid, Oid),
    /// A function or procedure.
    Function(Oid),
    /// An extension.
    Extension(Oid),
    /// A function or operator of an extension.
    Member(Oid),
    /// A collation.
    Collation(Oid),
}

impl Object {
    /// When it was made, as far as numbers tell, and which part of an object it is.
    pub(super) fn age(self) -> (Oid, u8, usize) {
        match self {
            Object::Schema(oid)
            | Object::Relation(oid)
            | Object::Type(oid)
            | Object::Function(oid)
            | Object::Extension(oid)
            | Object::Member(oid)
            | Object::Collation(oid) => (oid, 0, 0),
            Object::Column(oid, at) | Object::Field(oid, at) => (oid, 0, at + 1),
            Object::Default(oid, at) => (oid, 1, at),
            Object::IndexConstraint(oid) => (oid, 1, 0),
            Object::Check(_, oid)
            | Object::ForeignKey(_, oid)
            | Object::Trigger(_, oid)
            | Object::DomainCheck(_, oid) => (oid, 0, 0),
        }
    }

    /// The object that it is a part of.
    pub(super) fn whole(self) -> Option<Object> {
        match self {
            Object::Column(relation, _) => Some(Object::Relation(relation)),
            Object::Field(ty, _) => Some(Object::Type(ty)),
            _ => None,
        }
    }
}

/// How strongly an object needs another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum Need {
    Normal,
    Auto,
    Internal,
}

/// All edges of a catalog.
#[derive(Default)]
pub(crate) struct Edges {
    /// What an object needs.
    pub(crate) needs: BTreeMap<Object, Vec<(Object, Need)>>,
    /// What needs an object.
    needed_by: BTreeMap<Object, Vec<(Object, Need)>>,
    /// The tables by their row types.
    row_types: BTreeMap<Oid, Oid>,
}

impl Edges {
    /// The edges between the objects of a catalog.
    pub(crate) fn of(catalog: &Catalog) -> Edges {
        let row_type = |relation: &Arc<Relation>| match &relation.kind {
            RelationKind::Table(table) => Some((table.row_type.0, relation.oid)),
            _ => None,
        };
        let row_types = catalog.relations.values().filter_map(row_type).collect();
        let mut edges = Edges { row_types, ..Edges::default() };
        for relation in catalog.relations.values() {
            let own = Object::Relation(relation.oid);
            if !matches!(relation.kind, RelationKind::Index(_)) {
                edges.in_schema(own, relation.schema);
            }
            match &relation.kind {
                RelationKind::Table(table) => edges.table(relation.oid, table, catalog),
                RelationKind::Index(index) => edges.index(relation.oid, index, catalog),
                RelationKind::View(view) => {
                    edges.uses(own, &view.query.uses, None, catalog);
                    for (at, (_, typed)) in view.columns.iter().enumerate() {
                        edges.ty(Object::Column(relation.oid, at), typed.ty, catalog);
                    }
                    if let Some(rows) = view.materialized {
                        edges.put(Object::Relation(rows), own, Need::Internal);
                    }
                }
                RelationKind::Sequence(sequence) => {
                    if let Some(owner) = sequence.owner {
                        let need = if owner.identity { Need::Internal } else { Need::Auto };
                        edges.put(own, Object::Column(owner.table, owner.column), need);
                    }
                }
            }
        }
        for user in catalog.types.values() {
            edges.user_type(user, catalog);
        }
        for function in catalog.functions.values() {
            edges.function(function, catalog);
        }
        for installed in catalog.extensions.values() {
            let own = Object::Extension(installed.oid);
            edges.in_schema(own, installed.schema);
            for ty in extension::find(&installed.name).map_or(&[][..], |known| known.types) {
                edges.put(Object::Type(ty.ty.0), own, Need::Internal);
            }
            for member in extension::members(&installed.name) {
                edges.put(Object::Member(member.oid), own, Need::Internal);
            }
        }
        edges
    }

    /// What needs an object, its parts included, newest first.
    pub(super) fn dependents(&self, object: Object) -> Vec<(Object, Need)> {
        let parts: Vec<Object> = match object {
            Object::Relation(oid) => vec![Object::Column(oid, 0), Object::Column(oid, usize::MAX)],
            Object::Type(oid) => vec![Object::Field(oid, 0), Object::Field(oid, usize::MAX)],
            _ => Vec::new(),
        };
        let own = self.needed_by.get(&object).into_iter().flatten();
        let of_parts = match parts.as_slice() {
            [first, last] => self.needed_by.range(*first..=*last).flat_map(|(_, edges)| edges).collect(),
            _ => Vec::new(),
        };
        let mut found: Vec<(Object, Need)> = own.chain(of_parts).copied().collect();
        // What goes by itself for one reason goes by itself, whatever else it needs.
        found.sort_by_key(|(object, need)| {
            let (oid, rank, part) = object.age();
            (std::cmp::Reverse(oid), std::cmp::Reverse(rank), part, *object, std::cmp::Reverse(*need as u8))
        });
        found.dedup_by_key(|(object, _)| *object);
        found
    }

    /// The object that this one is a part of and is dropped with only.
    pub(super) fn owner(&self, object: Object) -> Option<Object> {
        let needs = self.needs.get(&object)?;
        needs.iter().find(|(_, need)| *need == Need::Internal).map(|(owner, _)| *owner)
    }

    fn put(&mut self, from: Object, to: Object, need: Need) {
        if from == to {
            return;
        }
        self.needs.entry(from).or_default().push((to, need));
        self.needed_by.entry(to).or_default().push((from, need));
    }

    fn in_schema(&mut self, object: Object, schema: Oid) {
        if schema >= FIRST_USER_OID || schema == PUBLIC {
            self.put(object, Object::Schema(schema), Need::Normal);
        }
    }

    /// What an expression or query uses; columns of the table `own` go by themselves.
    fn uses(&mut self, from: Object, uses: &[Dependency], own: Option<Oid>, catalog: &Catalog) {
        for used in uses {
            match *used {
                Dependency::Relation(oid) => self.put(from, Object::Relation(oid), Need::Normal),
                Dependency::Column(oid, at) => {
                    let need = if own == Some(oid) { Need::Auto } else { Need::Normal };
                    self.put(from, Object::Column(oid, at), need);
                }
                Dependency::Function(oid) => self.put(from, Object::Function(oid), Need::Normal),
                Dependency::Type(oid) => self.ty(from, Type(oid), catalog),
                Dependency::Member(oid) => self.put(from, Object::Member(oid), Need::Normal),
                Dependency::Field(ty, at) => self.put(from, self.field(ty, at, catalog), Need::Normal),
                Dependency::Collation(oid) => self.put(from, Object::Collation(oid), Need::Normal),
                Dependency::PrimaryKey(index) => self.put(from, Object::IndexConstraint(index), Need::Normal),
            }
        }
    }

    /// A field of a composite type; that of a table's rows is the column.
    fn field(&self, ty: Oid, at: usize, catalog: &Catalog) -> Object {
        let of_table = self.row_types.get(&ty).and_then(|table| {
            let columns = &catalog.table(*table)?.columns;
            let position = (0..columns.len()).filter(|position| !columns[*position].dropped).nth(at)?;
            Some(Object::Column(*table, position))
        });
        of_table.unwrap_or(Object::Field(ty, at))
    }

    /// A type that a user made; of an array, the type of its elements.
    fn ty(&mut self, from: Object, ty: Type, catalog: &Catalog) {
        let ty = kind::element(ty, catalog).unwrap_or(ty);
        if ty.0 >= FIRST_USER_OID || catalog.types.contains_key(&ty.0) {
            self.put(from, Object::Type(ty.0), Need::Normal);
        }
    }

    fn table(&mut self, oid: Oid, table: &Table, catalog: &Catalog) {
        self.put(Object::Type(table.row_type.0), Object::Relation(oid), Need::Internal);
        for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| !column.dropped) {
            self.ty(Object::Column(oid, at), column.typed.ty, catalog);
            if catalog.collations.contains_key(&column.collation) {
                self.put(Object::Column(oid, at), Object::Collation(column.collation), Need::Normal);
            }
            if let Some(default) = &column.default {
                let from = Object::Default(oid, at);
                let generated = column.generation == Generation::Stored;
                self.put(from, Object::Column(oid, at), if generated { Need::Internal } else { Need::Auto });
                self.uses(from, &default.uses, None, catalog);
            }
        }
        for check in &table.checks {
            let from = Object::Check(oid, check.oid);
            self.uses(from, &check.condition.uses, Some(oid), catalog);
            if check.condition.columns(oid).is_empty() {
                self.put(from, Object::Relation(oid), Need::Auto);
            }
        }
        for key in &table.foreign_keys {
            let from = Object::ForeignKey(oid, key.oid);
            key.columns.iter().for_each(|at| self.put(from, Object::Column(oid, *at), Need::Auto));
            key.parent_columns.iter().for_each(|at| self.put(from, Object::Column(key.parent, *at), Need::Normal));
            self.put(from, Object::Relation(key.parent_index), Need::Normal);
        }
        for trigger in &table.triggers {
            let from = Object::Trigger(oid, trigger.oid);
            self.put(from, Object::Relation(oid), Need::Auto);
            self.put(from, Object::Function(trigger.function), Need::Normal);
            for at in trigger.update.iter().flatten() {
                self.put(from, Object::Column(oid, *at), Need::Normal);
            }
            if let Some(condition) = &trigger.condition {
                self.uses(from, &condition.uses, None, catalog);
            }
        }
    }

    fn index(&mut self, oid: Oid, index: &Index, catalog: &Catalog) {
        let own = Object::Relation(oid);
        let from = match index.constraint {
            Some(_) => {
                self.put(own, Object::IndexConstraint(oid), Need::Internal);
                Object::IndexConstraint(oid)
            }
            None => own,
        };
        let before = self.needs.get(&from).map_or(0, Vec::len);
        for key in &index.keys {
            match &key.what {
                IndexKeyKind::Column(at) => self.put(from, Object::Column(index.table, *at), Need::Auto),
                IndexKeyKind::Expr(expr) => self.uses(from, &expr.uses, Some(index.table), catalog),
            }
        }
        for at in &index.include {
            self.put(from, Object::Column(index.table, *at), Need::Auto);
        }
        if let Some(predicate) = &index.predicate {
            self.uses(from, &predicate.uses, Some(index.table), catalog);
        }
        if self.needs.get(&from).map_or(0, Vec::len) == before {
            self.put(from, Object::Relation(index.table), Need::Auto);
        }
    }

    fn user_type(&mut self, user: &UserType, catalog: &Catalog) {
        let own = Object::Type(user.ty.0);
        if self.row_types.contains_key(&user.ty.0) {
            return;
        }
        self.in_schema(own, user.schema);
        match &user.kind {
            UserTypeKind::Enum(_) | UserTypeKind::Extension { .. } => {}
            UserTypeKind::Domain { base, default, checks, .. } => {
                self.ty(own, base.ty, catalog);
                if let Some(default) = default {
                    self.uses(own, &default.uses, None, catalog);
                }
                for check in checks {
                    let from = Object::DomainCheck(user.ty.0, check.oid);
                    self.put(from, own, Need::Auto);
                    self.uses(from, &check.condition.uses, None, catalog);
                }
            }
            UserTypeKind::Composite(fields) => {
                for (at, (_, typed)) in fields.iter().enumerate() {
                    self.ty(Object::Field(user.ty.0, at), typed.ty, catalog);
                }
            }
        }
    }

    fn function(&mut self, function: &UserFunction, catalog: &Catalog) {
        let own = Object::Function(function.oid);
        self.in_schema(own, function.schema);
        for parameter in &function.parameters {
            self.ty(own, parameter.typed.ty, catalog);
            if let Some(default) = &parameter.default {
                self.uses(own, &default.uses, None, catalog);
            }
        }
        for statement in function.atomic.iter().flat_map(|statements| statements.iter()) {
            self.uses(own, &statement.uses, None, catalog);
        }
        if let Returns::One(typed) | Returns::Set(typed) = &function.returns {
            self.ty(own, typed.ty, catalog);
        }
    }
}
