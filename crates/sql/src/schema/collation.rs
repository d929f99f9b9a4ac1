//! CREATE COLLATION and DROP COLLATION.

use std::sync::Arc;

use crate::catalog::{Collation, Index, IndexKeyKind, Oid};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ast::ObjectName;
use crate::parse::ddl::CreateCollation;
use crate::schema::Editor;
use crate::schema::depends::Object;
use crate::schema::names::parts;
use crate::storage::world::as_table;
use crate::types::collation;

impl Editor<'_, '_> {
    pub(super) fn create_collation(&mut self, create: &CreateCollation) -> Result<()> {
        let (schema, name) = self.place(&create.name, false)?;
        let taken = self.catalog.collations.values().any(|known| known.schema == schema && known.name == name);
        if taken {
            let message = format!("collation \"{name}\" already exists");
            if create.if_not_exists {
                self.session.notice("NOTICE", SqlState::DUPLICATE_OBJECT, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let (locale, deterministic) = match &create.from {
            Some(from) => self.copied(from)?,
            None => defined(create)?,
        };
        if let Some(locale) = &locale {
            collation::must_be_locale(locale)?;
        }
        let oid = self.db.new_oid();
        self.change_catalog(|catalog| {
            catalog.collations.insert(oid, Arc::new(Collation { oid, schema, name, locale, deterministic }));
            Ok(())
        })
    }

    /// The collation that a name means.
    pub(super) fn collation_named(&self, name: &ObjectName) -> Result<Oid> {
        let (schema, short) = parts(name)?;
        let schemas = match schema {
            Some(schema) => vec![self.schema_named(&schema)?],
            None => self.path(),
        };
        collation::number(&short, &short, &schemas, &self.catalog)
    }

    fn copied(&self, from: &ObjectName) -> Result<(Option<Arc<str>>, bool)> {
        let order = collation::order(self.collation_named(from)?, &self.catalog);
        Ok(order.map_or((None, true), |order| (Some(order.locale), order.deterministic)))
    }

    /// An index is ordered by bytes: under a collation that is not deterministic, equal texts would be told apart.
    pub(super) fn must_be_ordered_by_bytes(&self, index: &Index) -> Result<()> {
        let relation = self.relation(index.table)?;
        let table = as_table(&relation)?;
        for key in &index.keys {
            let IndexKeyKind::Column(at) = key.what else { continue };
            let order = collation::order(table.columns[at].collation, &self.catalog);
            if order.is_some_and(|order| !order.deterministic) {
                return Err(SqlError::unsupported("an index over a nondeterministic collation"));
            }
        }
        Ok(())
    }

    pub(super) fn collation_to_drop(&mut self, if_exists: bool, name: &ObjectName) -> Result<Option<Object>> {
        let (_, short) = parts(name)?;
        let found = self.collation_named(name).ok().filter(|oid| self.catalog.collations.contains_key(oid));
        match found {
            Some(oid) => Ok(Some(Object::Collation(oid))),
            None if if_exists => {
                let message = format!("collation \"{short}\" does not exist, skipping");
                self.session.notice("NOTICE", SqlState::UNDEFINED_OBJECT, message);
                Ok(None)
            }
            None => Err(collation::missing(&short)),
        }
    }

    /// Changes a collation that a user made.
    pub(super) fn change_collation(&mut self, name: &ObjectName, change: impl FnOnce(&mut Collation)) -> Result<()> {
        let (_, short) = parts(name)?;
        let found = self.collation_named(name).ok().and_then(|oid| self.catalog.collations.get(&oid).cloned());
        let mut changed = Collation::clone(&*found.ok_or_else(|| collation::missing(&short))?);
        change(&mut changed);
        let is_taken = |known: &Arc<Collation>| {
            known.oid != changed.oid && known.schema == changed.schema && known.name == changed.name
        };
        if self.catalog.collations.values().any(is_taken) {
            let schema = self.catalog.schemas.get(&changed.schema).map_or("", |schema| &*schema.name);
            let message = format!("collation \"{}\" already exists in schema \"{schema}\"", changed.name);
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        self.change_catalog(|catalog| {
            catalog.collations.insert(changed.oid, Arc::new(changed));
            Ok(())
        })
    }
}

/// The locale that the options say, and whether the collation is deterministic. Locales of the operating system that are
/// not plain bytes are not there.
fn defined(create: &CreateCollation) -> Result<(Option<Arc<str>>, bool)> {
    let option = |name: &str| create.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    const KNOWN: &[&str] = &["locale", "lc_collate", "lc_ctype", "provider", "deterministic", "version"];
    if let Some((name, _)) = create.options.iter().find(|(name, _)| !KNOWN.contains(&name.as_str())) {
        return Err(SqlError::syntax(format!("collation attribute \"{name}\" not recognized")));
    }
    let deterministic = !matches!(option("deterministic"), Some("false" | "off" | "no" | "0" | "f"));
    let definition = |message: &str| SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message);
    match option("provider").unwrap_or("libc") {
        "icu" => {
            let locale = option("locale").ok_or_else(|| definition("parameter \"locale\" must be specified"))?;
            Ok((Some(modern(locale).into()), deterministic))
        }
        "libc" => {
            let locale = option("locale").or(option("lc_collate"));
            let locale = locale.ok_or_else(|| definition("parameter \"lc_collate\" must be specified"))?;
            if !deterministic {
                let message = "nondeterministic collations not supported with this provider";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            match locale {
                "C" | "POSIX" | "C.UTF-8" | "C.utf8" => Ok((None, true)),
                other => Err(SqlError::unsupported(format_args!("the locale \"{other}\" of the provider libc"))),
            }
        }
        other => Err(definition(&format!("unrecognized collation provider: {other}"))),
    }
}

/// `@colStrength=secondary` as `und-u-ks-level2`.
fn modern(locale: &str) -> String {
    let Some((language, options)) = locale.split_once('@') else { return locale.to_owned() };
    let option = |option: &str| match option.to_ascii_lowercase().as_str() {
        "colstrength=primary" => "-ks-level1".to_owned(),
        "colstrength=secondary" => "-ks-level2".to_owned(),
        "colstrength=tertiary" => "-ks-level3".to_owned(),
        "colnumeric=yes" => "-kn".to_owned(),
        "colcaselevel=yes" => "-kc".to_owned(),
        "colalternate=shifted" => "-ka-shifted".to_owned(),
        "collation=phonebook" => "-co-phonebk".to_owned(),
        other => format!("-{}", other.replace('=', "-")),
    };
    let options: String = options.split(';').map(option).collect();
    format!("{}-u{options}", if language.is_empty() { "und" } else { language })
}
