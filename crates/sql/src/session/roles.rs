//! Roles, which own nothing and may do everything: whether one is there is all that can be said of it.

use crate::parse::ast::Ident;

use crate::catalog::RelationKind;
use crate::error::{Result, SqlError, SqlState};
use crate::parse::grant::{Grant, Granted, RoleChange};
use crate::schema::Editor;
use crate::schema::names::fold;
use crate::session::Outcome;
use crate::storage::World;
use crate::system::initial;

impl World<'_> {
    /// The roles by name: the owner of everything, whoever is connected, and those that were created.
    pub(crate) fn role_names(&self) -> Vec<String> {
        let mut names = vec!["postgres".to_owned()];
        let users = self.db.connections.values().map(|other| other.user.clone());
        let own = std::iter::once(self.session.client.user.clone());
        for name in users.chain(own).chain(self.db.roles.iter().cloned()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn has_role(&self, name: &str) -> bool {
        let initial = || initial::of("pg_authid").into_iter().flat_map(|file| file.select(["rolname"]));
        self.role_names().iter().any(|known| known == name) || initial().any(|[known]| known == name)
    }

    /// Refuses a setting whose value is no role.
    pub(crate) fn must_be_role(&self, name: &str) -> Result<()> {
        if self.has_role(name) {
            return Ok(());
        }
        Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("role \"{name}\" does not exist")))
    }

    fn must_have_role(&self, role: &Ident) -> Result<()> {
        let name = fold(role);
        if self.has_role(&name) {
            return Ok(());
        }
        Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")))
    }

    pub(crate) fn grant(&mut self, grant: &Grant) -> Result<Outcome> {
        match &grant.of {
            Granted::Relations(names) => {
                for name in names {
                    self.resolve_relation(name)?;
                }
            }
            Granted::Sequences(names) => {
                for name in names {
                    let relation = self.resolve_relation(name)?;
                    if !matches!(relation.kind, RelationKind::Sequence(_)) {
                        let message = format!("\"{}\" is not a sequence", relation.name);
                        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                    }
                }
            }
            Granted::Schemas(names) => {
                for name in names {
                    Editor::new(self).schema_named(&fold(name))?;
                }
            }
            Granted::Roles(roles) => roles.iter().try_for_each(|role| self.must_have_role(role))?,
            Granted::Other => {}
        }
        // Whom it is granted to is not looked at: any user may connect, and dumps name the roles of where they come from.
        Ok(Outcome::Done(grant.tag.clone()))
    }

    pub(crate) fn change_role(&mut self, change: &RoleChange) -> Result<Outcome> {
        match change {
            RoleChange::Create(name) => {
                let name = fold(name);
                if self.has_role(&name) {
                    let message = format!("role \"{name}\" already exists");
                    return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
                }
                self.db.roles.insert(name.to_string());
                Ok(Outcome::Done("CREATE ROLE".to_owned()))
            }
            RoleChange::Drop { if_exists, names } => {
                for role in names {
                    let name = fold(role);
                    if *if_exists && !self.has_role(&name) {
                        let message = format!("role \"{name}\" does not exist, skipping");
                        self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
                        continue;
                    }
                    self.must_have_role(role)?;
                    self.db.roles.remove(&*name);
                }
                Ok(Outcome::Done("DROP ROLE".to_owned()))
            }
        }
    }
}
