//! The databases by name. Connecting to a new name makes a new, empty database, which the scripts then fill.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skew_sql::error::{Result, SqlError, SqlState};
use skew_sql::session::{Client, Cluster, Database, Options};

use crate::scheduler::Scheduler;
use crate::script::{Failed, Script};

/// The databases of a server.
pub struct Databases {
    options: Options,
    hold: Duration,
    load: Vec<Script>,
    most: usize,
    by_name: Mutex<BTreeMap<String, Arc<Entry>>>,
    /// Held while a database is made, so that a name is made once.
    making: Mutex<()>,
}

/// A database and the gate before it.
pub struct Entry {
    /// The database.
    pub database: Database,
    /// Whose statement goes next.
    pub scheduler: Arc<Scheduler>,
}

/// Why there is no such database.
#[derive(Debug)]
pub enum NotMade {
    /// A script failed.
    Script(Failed),
    /// There are too many.
    TooMany(usize),
}

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMade::Script(failed) => failed.fmt(f),
            NotMade::TooMany(most) => {
                write!(f, "this server has {most} databases already, which is as many as it takes")
            }
        }
    }
}

impl From<NotMade> for SqlError {
    fn from(why: NotMade) -> SqlError {
        match why {
            NotMade::Script(failed) => {
                let context = format!("{}:{}, loaded into every new database", failed.name, failed.line);
                failed.error.within(context)
            }
            NotMade::TooMany(_) => SqlError::new(SqlState::INSUFFICIENT_RESOURCES, why.to_string()),
        }
    }
}

impl Databases {
    /// No database yet.
    pub fn new(options: Options, hold: Duration, load: Vec<Script>, most: usize) -> Databases {
        Databases { options, hold, load, most, by_name: Mutex::default(), making: Mutex::default() }
    }

    /// The database with this name. A new name is a new database.
    pub fn open(&self, name: &str) -> Result<Arc<Entry>, NotMade> {
        if let Some(known) = self.lock().get(name) {
            return Ok(Arc::clone(known));
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have made it meanwhile.
        let known = self.lock().get(name).cloned();
        match known {
            Some(known) => Ok(known),
            None => self.make(name),
        }
    }

    fn make(&self, name: &str) -> Result<Arc<Entry>, NotMade> {
        if self.lock().len() >= self.most {
            return Err(NotMade::TooMany(self.most));
        }
        let database = Database::new(self.options.clone());
        if !self.load.is_empty() {
            let mut connection = database.connect(Client::new("postgres", name));
            for script in &self.load {
                script.run(&mut connection).map_err(NotMade::Script)?;
            }
        }
        let entry = Arc::new(Entry { database, scheduler: Scheduler::new(self.hold, self.options.seed) });
        self.lock().insert(name.to_owned(), Arc::clone(&entry));
        Ok(entry)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Entry>>> {
        // A map is complete between its operations.
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a database that nobody is connected to out of the list.
    fn take(&self, name: &str) -> Result<Arc<Entry>> {
        let mut by_name = self.lock();
        let entry = by_name.get(name).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
        })?;
        let others = Arc::strong_count(entry) - 1;
        if others > 0 {
            let message = format!("database \"{name}\" is being accessed by other users");
            let detail = match others {
                1 => "There is 1 other session using the database.".to_owned(),
                others => format!("There are {others} other sessions using the database."),
            };
            return Err(SqlError::new(SqlState::OBJECT_IN_USE, message).detail(detail));
        }
        Ok(by_name.remove(name).expect("it was there a moment ago"))
    }
}

impl Cluster for Databases {
    fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn create(&self, name: &str) -> Result<()> {
        if self.lock().contains_key(name) {
            return Err(exists(name));
        }
        self.open(name)?;
        Ok(())
    }

    fn drop(&self, name: &str) -> Result<()> {
        self.take(name).map(drop)
    }

    fn rename(&self, name: &str, to: &str) -> Result<()> {
        if self.lock().contains_key(to) {
            return Err(exists(to));
        }
        let entry = self.take(name)?;
        self.lock().insert(to.to_owned(), entry);
        Ok(())
    }
}

fn exists(name: &str) -> SqlError {
    SqlError::new(SqlState::DUPLICATE_DATABASE, format!("database \"{name}\" already exists"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn databases(most: usize) -> Databases {
        Databases::new(Options::default(), Duration::ZERO, Vec::new(), most)
    }

    fn code<T>(result: Result<T>) -> String {
        result.err().map_or_else(|| "ok".to_owned(), |error| error.fields().code.clone())
    }

    #[test]
    fn a_new_name_is_a_new_database() {
        let databases = databases(9);
        let one = databases.open("one").expect("made");
        assert!(Arc::ptr_eq(&one, &databases.open("one").expect("known")));
        databases.open("two").expect("made");
        assert_eq!(databases.names(), ["one", "two"]);
    }

    #[test]
    fn there_is_a_limit() {
        let databases = databases(1);
        databases.open("one").expect("made");
        assert_eq!(code(databases.create("two")), "53000");
    }

    #[test]
    fn databases_are_made_renamed_and_dropped() {
        let databases = databases(9);
        assert_eq!(code(databases.create("one")), "ok");
        assert_eq!(code(databases.create("one")), "42P04");
        assert_eq!(code(databases.rename("one", "two")), "ok");
        let used = databases.open("two").expect("known");
        assert_eq!(code(databases.drop("two")), "55006");
        drop(used);
        assert_eq!(code(databases.drop("two")), "ok");
        assert_eq!(code(databases.drop("two")), "3D000");
    }
}
