//! Enums, domains and composite types.

use std::sync::Arc;

use crate::parse::ast::ObjectName;

use crate::catalog::{Check, Oid, StoredExpr, UserType, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{ColumnConstraint, ColumnConstraintKind, CreateDomain, DomainAction, TypeDefinition};
use crate::schema::Editor;
use crate::schema::names::{fold, parts};
use crate::types::{Type, Typed};

impl Editor<'_, '_> {
    pub(super) fn create_type(&mut self, name: &ObjectName, definition: &TypeDefinition) -> Result<()> {
        let kind = match definition {
            TypeDefinition::Enum(labels) => {
                let mut known: Vec<(Oid, f32, Arc<str>)> = Vec::new();
                for (at, label) in labels.iter().enumerate() {
                    if known.iter().any(|(_, _, name)| **name == **label) {
                        let message = format!("enum label \"{label}\" used more than once");
                        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
                    }
                    known.push((self.db.new_oid(), (at + 1) as f32, label.as_str().into()));
                }
                UserTypeKind::Enum(known)
            }
            TypeDefinition::Composite(fields) => {
                let mut known = Vec::new();
                for (name, ty) in fields {
                    known.push((fold(name), self.bind_type(ty)?));
                }
                UserTypeKind::Composite(known)
            }
            TypeDefinition::Unsupported(construct) => return Err(SqlError::unsupported(construct)),
        };
        self.put_type(name, kind)
    }

    fn put_type(&mut self, name: &ObjectName, kind: UserTypeKind) -> Result<()> {
        let (schema, name) = self.place(name, false)?;
        if self.catalog.types.values().any(|known| known.schema == schema && known.name == name) {
            let message = format!("type \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let (ty, array) = (Type(self.db.new_oid()), Type(self.db.new_oid()));
        self.change_catalog(|catalog| {
            catalog.types.insert(ty.0, Arc::new(UserType { ty, array, schema, name, kind }));
            Ok(())
        })
    }

    /// The user-defined type that a name means, if there is one.
    pub(super) fn find_type(&mut self, name: &ObjectName) -> Result<Option<Oid>> {
        let (schema, name) = self.parts_here(name)?;
        let schemas = match schema {
            Some(schema) => self.schema_named(&schema).into_iter().collect(),
            None => self.path(),
        };
        let find = |schema: &Oid| {
            let mut all = self.catalog.types.values();
            all.find(|known| known.schema == *schema && known.name == name).map(|known| known.ty.0)
        };
        Ok(schemas.iter().find_map(find))
    }

    /// The user-defined type that a name means.
    pub(super) fn type_named(&mut self, name: &ObjectName) -> Result<Oid> {
        let short = parts(name)?.1;
        self.find_type(name)?
            .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{short}\" does not exist")))
    }

    pub(super) fn change_type(&mut self, oid: Oid, change: impl FnOnce(&mut UserTypeKind) -> Result<()>) -> Result<()> {
        let mut user = UserType::clone(&self.catalog.types[&oid]);
        change(&mut user.kind)?;
        self.change_catalog(|catalog| {
            catalog.types.insert(oid, Arc::new(user));
            Ok(())
        })
    }

    pub(super) fn add_enum_value(
        &mut self,
        name: &ObjectName,
        if_not_exists: bool,
        value: &str,
        neighbour: Option<&(bool, String)>,
    ) -> Result<()> {
        let found = self.type_named(name)?;
        let UserTypeKind::Enum(labels) = &self.catalog.types[&found].kind else { return Err(not_an_enum(name)) };
        if labels.iter().any(|(_, _, label)| &**label == value) {
            let message = format!("enum label \"{value}\" already exists");
            if if_not_exists {
                self.session.notice("NOTICE", SqlState::DUPLICATE_OBJECT, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let oid = self.db.new_oid();
        self.change_type(found, |kind| {
            let UserTypeKind::Enum(labels) = kind else { return Ok(()) };
            let at = match neighbour {
                None => labels.len(),
                Some((before, neighbour)) => {
                    let at = labels.iter().position(|(_, _, label)| **label == **neighbour).ok_or_else(|| {
                        let message = format!("\"{neighbour}\" is not an existing enum label");
                        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
                    })?;
                    if *before { at } else { at + 1 }
                }
            };
            let lower = at.checked_sub(1).map(|at| labels[at].1);
            let upper = labels.get(at).map(|label| label.1);
            let order = match (lower, upper) {
                (None, None) => 1.0,
                (Some(lower), None) => lower + 1.0,
                (None, Some(upper)) => upper - 1.0,
                (Some(lower), Some(upper)) => (lower + upper) / 2.0,
            };
            labels.insert(at, (oid, order, value.into()));
            Ok(())
        })
    }

    pub(super) fn rename_enum_value(&mut self, name: &ObjectName, from: &str, to: &str) -> Result<()> {
        let found = self.type_named(name)?;
        let UserTypeKind::Enum(labels) = &self.catalog.types[&found].kind else { return Err(not_an_enum(name)) };
        let taken = labels.iter().any(|(_, _, label)| &**label == to);
        if taken && labels.iter().any(|(_, _, label)| &**label == from) {
            let message = format!("enum label \"{to}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        self.change_type(found, |kind| {
            let UserTypeKind::Enum(labels) = kind else { return Ok(()) };
            let label = labels.iter_mut().find(|(_, _, label)| &**label == from).ok_or_else(|| {
                let message = format!("\"{from}\" is not an existing enum label");
                SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
            })?;
            label.2 = to.into();
            Ok(())
        })
    }

    pub(super) fn create_domain(&mut self, create: &CreateDomain) -> Result<()> {
        let base = self.bind_type(&create.data_type)?;
        let (_, name) = parts(&create.name)?;
        let (mut not_null, mut default, mut checks) = (false, None, Vec::new());
        for constraint in &create.constraints {
            match &constraint.kind {
                ColumnConstraintKind::NotNull => not_null = true,
                ColumnConstraintKind::Null => not_null = false,
                ColumnConstraintKind::Default(expr) => default = Some(self.stored(expr, base, &name)?),
                ColumnConstraintKind::Check(_) => checks.push(self.domain_check(&name, base, &checks, constraint)?),
                _ => return Err(SqlError::unsupported("this constraint of a domain")),
            }
        }
        self.put_type(&create.name, UserTypeKind::Domain { base, not_null, default, checks })
    }

    fn domain_check(
        &mut self,
        domain: &str,
        base: Typed,
        known: &[Check],
        constraint: &ColumnConstraint,
    ) -> Result<Check> {
        let ColumnConstraintKind::Check(condition) = &constraint.kind else {
            return Err(SqlError::unsupported("this constraint of a domain"));
        };
        let name = match &constraint.name {
            Some(name) => fold(name),
            None => {
                let number =
                    |at: usize| if at == 0 { format!("{domain}_check") } else { format!("{domain}_check{at}") };
                let free = (0..).map(number).find(|name| known.iter().all(|check| *check.name != **name));
                free.expect("numbers do not end").into()
            }
        };
        let bound = self.bind_domain_check(condition, base)?;
        let stored = StoredExpr::new(bound, &[]);
        Ok(Check { oid: self.db.new_oid(), name, condition: Arc::new(stored), validated: true })
    }

    pub(super) fn rename_domain_check(&mut self, name: &ObjectName, constraint: &str, to: &str) -> Result<()> {
        let found = self.type_named(name)?;
        let domain = self.catalog.types[&found].name.clone();
        self.change_type(found, |kind| {
            let UserTypeKind::Domain { checks, .. } = kind else {
                let message = format!("\"{domain}\" is not a domain");
                return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
            };
            let at = checks.iter().position(|check| *check.name == *constraint).ok_or_else(|| {
                let message = format!("constraint \"{constraint}\" for domain {domain} does not exist");
                SqlError::new(SqlState::UNDEFINED_OBJECT, message)
            })?;
            if checks.iter().any(|check| *check.name == *to) {
                let message = format!("constraint \"{to}\" for domain {domain} already exists");
                return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
            }
            checks[at].name = to.into();
            Ok(())
        })
    }

    pub(super) fn alter_domain(&mut self, name: &ObjectName, action: &DomainAction) -> Result<()> {
        let found = self.type_named(name)?;
        let user = self.catalog.types[&found].clone();
        let UserTypeKind::Domain { base, checks, .. } = &user.kind else {
            let message = format!("\"{}\" is not a domain", user.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        let new_default = match action {
            DomainAction::Default(Some(expr)) => Some(self.stored(expr, *base, &user.name)?),
            _ => None,
        };
        let new_check = match action {
            DomainAction::Add(constraint) => Some(self.domain_check(&user.name, *base, checks, constraint)?),
            _ => None,
        };
        self.domain_values_must_fit(Type(found), action, new_check.as_ref())?;
        self.change_type(found, |kind| {
            let UserTypeKind::Domain { not_null, default, checks, .. } = kind else { return Ok(()) };
            match action {
                DomainAction::Default(_) => *default = new_default,
                DomainAction::NotNull(set) => *not_null = *set,
                DomainAction::Add(_) => checks.extend(new_check),
                DomainAction::Drop { if_exists, name, .. } => {
                    let before = checks.len();
                    checks.retain(|check| *check.name != **name);
                    if checks.len() == before && !if_exists {
                        let message = format!("constraint \"{name}\" of domain \"{}\" does not exist", user.name);
                        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
                    }
                }
                DomainAction::Validate(_) => {}
            }
            Ok(())
        })
    }
}

fn not_an_enum(name: &ObjectName) -> SqlError {
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("{name} is not an enum"))
}
