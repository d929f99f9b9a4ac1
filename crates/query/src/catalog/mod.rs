//! What a database knows: schemas, tables, indexes, views, sequences, types, functions. An immutable snapshot.
//!
//! - [`tree`]: bound expressions and queries, which objects keep and which name objects; `bound`: how they are kept
//! - [`builtin`]: what a built-in function is, which bound expressions call
//! - [`objects`]: tables, types, functions, … as plain data
//! - `definitions`: the catalog as values see it; [`merge`]: what two transactions have made of one catalog
//!
//! A statement is bound against one `Arc<Catalog>`. A statement that changes the schema clones it (objects are shared),
//! changes the clone inside its transaction, and the commit makes it everybody's.

mod bound;
pub mod builtin;
mod definitions;
pub mod merge;
pub mod objects;
pub mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::types::Type;

pub use bound::{Dependency, StoredExpr, StoredQuery};
pub use objects::*;

pub use crate::types::{FIRST_USER_OID, INFORMATION_SCHEMA, Oid, PG_CATALOG, PUBLIC};

/// A space of the store: where a table's rows or an index's entries are.
pub use skew_model::Space;

/// A snapshot of everything that a database knows about its objects.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// Changes with every change, so that plans know whether they are still good.
    pub version: u64,
    /// The schemas.
    pub schemas: BTreeMap<Oid, Arc<Schema>>,
    /// Tables, views, indexes, sequences, composite types: they share one namespace per schema.
    pub relations: BTreeMap<Oid, Arc<Relation>>,
    /// User-defined types: enums, domains, composites.
    pub types: BTreeMap<Oid, Arc<UserType>>,
    /// User-defined functions and procedures.
    pub functions: BTreeMap<Oid, Arc<UserFunction>>,
    /// User-defined collations.
    pub collations: BTreeMap<Oid, Arc<Collation>>,
    /// The extensions that are installed, besides `plpgsql`.
    pub extensions: BTreeMap<Oid, Arc<Extension>>,
    /// `COMMENT ON`: by class (`pg_class`, `pg_proc`, …), object and column (0 for the object itself).
    pub comments: BTreeMap<(Oid, Oid, i32), Arc<str>>,
    /// Relations by schema and name.
    pub relation_names: BTreeMap<(Oid, Arc<str>), Oid>,
}

impl Default for Catalog {
    fn default() -> Self {
        let mut catalog = Catalog {
            version: 1,
            schemas: BTreeMap::new(),
            relations: BTreeMap::new(),
            types: BTreeMap::new(),
            functions: BTreeMap::new(),
            collations: BTreeMap::new(),
            extensions: BTreeMap::new(),
            comments: BTreeMap::new(),
            relation_names: BTreeMap::new(),
        };
        for (oid, name) in [(PG_CATALOG, "pg_catalog"), (PUBLIC, "public"), (INFORMATION_SCHEMA, "information_schema")]
        {
            catalog.schemas.insert(oid, Arc::new(Schema { oid, name: name.into(), temporary: false }));
        }
        catalog
    }
}

impl Catalog {
    /// The schema with this name.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.values().find(|schema| &*schema.name == name)
    }

    /// The user-defined type with this number.
    pub fn user_type(&self, ty: Type) -> Option<&Arc<UserType>> {
        self.types.get(&ty.0)
    }

    /// The relation with this name in this schema.
    pub fn relation_in(&self, schema: Oid, name: &str) -> Option<&Arc<Relation>> {
        self.relation_names.get(&(schema, name.into())).map(|oid| &self.relations[oid])
    }

    /// The relation with this number.
    pub fn relation(&self, oid: Oid) -> Option<&Arc<Relation>> {
        self.relations.get(&oid)
    }

    /// The relation that a relation is shown as: a table that keeps the rows of a materialized view is that view.
    pub fn shown(&self, oid: Oid) -> Option<&Arc<Relation>> {
        let view = self.table(oid).and_then(|table| table.view);
        self.relations.get(&view.unwrap_or(oid))
    }

    /// The table with this number.
    pub fn table(&self, oid: Oid) -> Option<&Table> {
        match &self.relations.get(&oid)?.kind {
            RelationKind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Every change gives the catalog a version that no other catalog has.
    pub fn touch(&mut self) {
        static NEXT: AtomicU64 = AtomicU64::new(2);
        self.version = NEXT.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds or replaces a relation.
    pub fn put_relation(&mut self, relation: Relation) {
        self.touch();
        if let Some(old) = self.relations.get(&relation.oid) {
            self.relation_names.remove(&(old.schema, old.name.clone()));
        }
        self.relation_names.insert((relation.schema, relation.name.clone()), relation.oid);
        self.relations.insert(relation.oid, Arc::new(relation));
    }

    /// Removes a relation.
    pub fn drop_relation(&mut self, oid: Oid) {
        self.touch();
        if let Some(old) = self.relations.remove(&oid) {
            self.relation_names.remove(&(old.schema, old.name.clone()));
        }
    }
}
