//! CREATE EXTENSION and DROP EXTENSION.

use std::sync::Arc;

use crate::catalog::{Extension, Oid, UserType, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::extension::{self, Extension as Known};
use crate::parse::ast::ObjectName;
use crate::parse::ddl::CreateExtension;
use crate::schema::Editor;
use crate::schema::depends::Object;
use crate::schema::names::{fold, parts};

impl Editor<'_, '_> {
    pub(super) fn create_extension(&mut self, create: &CreateExtension) -> Result<()> {
        let name = fold(&create.name);
        if &*name == "plpgsql" || self.catalog.extensions.values().any(|known| known.name == name) {
            let message = format!("extension \"{name}\" already exists");
            if create.if_not_exists {
                let message = format!("{message}, skipping");
                self.session.notice("NOTICE", SqlState::DUPLICATE_OBJECT, message);
                return Ok(());
            }
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let Some(known) = extension::find(&name) else {
            let message = format!("extension \"{name}\" is not available");
            let names: Vec<&str> = extension::EXTENSIONS.iter().map(|known| known.name).collect();
            let hint = format!("Skew has the extensions {}.", names.join(", "));
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).hint(hint));
        };
        if let Some(version) = create.version.as_deref().filter(|version| *version != known.version) {
            let message =
                format!("extension \"{name}\" has no installation script nor update path for version \"{version}\"");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
        let schema = match &create.schema {
            Some(schema) => self.schema_named(&fold(schema))?,
            None => self.place(&ObjectName::from(vec![create.name.clone()]), false)?.0,
        };
        self.install(known, schema)
    }

    fn install(&mut self, known: &'static Known, schema: Oid) -> Result<()> {
        for ty in known.types {
            if self.catalog.types.values().any(|user| user.schema == schema && *user.name == *ty.name) {
                let message = format!("type \"{}\" already exists", ty.name);
                return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
            }
        }
        let oid = self.db.new_oid();
        self.change_catalog(|catalog| {
            for ty in known.types {
                let kind = UserTypeKind::Extension { category: ty.category, collation: ty.collation };
                let user = UserType { ty: ty.ty, array: ty.array, schema, name: ty.name.into(), kind };
                catalog.types.insert(ty.ty.0, Arc::new(user));
            }
            catalog.extensions.insert(oid, Arc::new(Extension { oid, name: known.name.into(), schema }));
            Ok(())
        })
    }

    pub(super) fn extension_to_drop(&mut self, if_exists: bool, name: &ObjectName) -> Result<Option<Object>> {
        let (_, name) = parts(name)?;
        let Some(found) = self.catalog.extensions.values().find(|known| known.name == name) else {
            if &*name == "plpgsql" {
                return Err(SqlError::unsupported("DROP EXTENSION plpgsql"));
            }
            let message = format!("extension \"{name}\" does not exist");
            if if_exists {
                self.session.notice("NOTICE", SqlState::UNDEFINED_OBJECT, format!("{message}, skipping"));
                return Ok(None);
            }
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        };
        Ok(Some(Object::Extension(found.oid)))
    }
}
