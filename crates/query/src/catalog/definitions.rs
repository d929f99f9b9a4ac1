//! The catalog as values see it: what users and extensions have defined.

use crate::catalog::{Catalog, INFORMATION_SCHEMA, Oid, PG_CATALOG, UserTypeKind};
use crate::system::initial;
use crate::types::{CollationDefinition, Definition, Definitions, Form, Type, quote};

impl Definitions for Catalog {
    fn definition(&self, ty: Type) -> Option<Definition<'_>> {
        let user = self.user_type(ty)?;
        let form = match &user.kind {
            UserTypeKind::Enum(labels) => Form::Enum(labels),
            UserTypeKind::Domain { base, .. } => Form::Domain(*base),
            UserTypeKind::Extension { category, .. } => Form::Extension(*category),
            UserTypeKind::Composite(fields) => Form::Composite(fields),
        };
        Some(Definition { ty: user.ty, array: user.array, name: &user.name, form })
    }

    fn element(&self, array: Type) -> Option<Type> {
        self.types.values().find(|user| user.array == array).map(|user| user.ty)
    }

    /// Temporary schemas and `pg_catalog` come first unless they are named.
    fn search_path(&self, names: &[String]) -> Vec<Oid> {
        let named: Vec<Oid> = names.iter().filter_map(|name| self.schema(name)).map(|schema| schema.oid).collect();
        let mut path: Vec<Oid> =
            self.schemas.values().filter(|schema| schema.temporary).map(|schema| schema.oid).collect();
        if !named.contains(&PG_CATALOG) {
            path.push(PG_CATALOG);
        }
        path.extend(named);
        path
    }

    fn schema(&self, name: &str) -> Option<Oid> {
        Catalog::schema(self, name).map(|schema| schema.oid)
    }

    fn type_in(&self, schema: Oid, name: &str) -> Option<Type> {
        let here = || self.types.values().filter(|user| user.schema == schema);
        let named = here().find(|user| &*user.name == name).map(|user| user.ty);
        named.or_else(|| here().find(|user| name.strip_prefix('_') == Some(&user.name)).map(|user| user.array))
    }

    fn type_name(&self, ty: Type, search_path: &[String]) -> Option<String> {
        let Some(user) = self.user_type(ty) else { return of_the_system(ty) };
        let name = quote::identifier(&user.name);
        let found = self.search_path(search_path).into_iter().find_map(|schema| self.type_in(schema, &user.name));
        if found == Some(ty) {
            return Some(name);
        }
        Some(match self.schemas.get(&user.schema) {
            Some(schema) => format!("{}.{name}", quote::identifier(&schema.name)),
            None => name,
        })
    }

    fn collation(&self, oid: Oid) -> Option<CollationDefinition<'_>> {
        let user = self.collations.get(&oid)?;
        Some(CollationDefinition { name: &user.name, locale: user.locale.as_ref(), deterministic: user.deterministic })
    }

    fn collation_in(&self, schema: Oid, name: &str) -> Option<Oid> {
        let mut all = self.collations.values();
        all.find(|user| user.schema == schema && &*user.name == name).map(|user| user.oid)
    }
}

/// The name of a type that Skew has not, but PostgreSQL has from the start.
fn of_the_system(ty: Type) -> Option<String> {
    let (name, schema) = initial::type_name(ty)?;
    if let Some(element) = initial::element(ty) {
        return Some(format!("{}[]", of_the_system(element).unwrap_or_else(|| "???".to_owned())));
    }
    let schema = if schema == INFORMATION_SCHEMA { "information_schema." } else { "" };
    Some(format!("{schema}{}", quote::identifier(name)))
}
