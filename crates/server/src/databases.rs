//! The databases by name. Connecting to a new name makes a new, empty database, which the scripts then fill.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skew_sql::error::{Result, SqlError, SqlState};
use skew_sql::session::recording::RunPlan;
use skew_sql::session::steering::StaleRead;
use skew_sql::session::{Client, Cluster, Database, Options};

use crate::delayed::Delay;
use crate::directed::Directions;
use crate::rewrites::Rewrites;
use crate::scheduler::{Forced, Order, Scheduler};
use skew_sql::script::{Failed, Script};

/// The databases of a server.
pub struct Databases {
    options: Options,
    hold: Duration,
    load: Vec<Script>,
    most: usize,
    by_name: Mutex<BTreeMap<String, Arc<Entry>>>,
    /// Held while a database is made, so that a name is made once.
    making: Mutex<()>,
    /// The run that is on, if there are runs.
    run: Mutex<Option<RunSetup>>,
    /// The databases that clients of this run have dropped.
    dropped: Mutex<Vec<(String, Arc<Entry>)>>,
}

/// How a run begins, in every database.
#[derive(Clone, Debug)]
pub struct RunSetup {
    /// Where randomness starts.
    pub seed: u64,
    /// How clients take turns, unless a database has its own order below.
    pub order: Order,
    /// What another run did, by database.
    pub replay: Option<BTreeMap<String, Replay>>,
    /// Statements that are changed on their way.
    pub rewrites: Rewrites,
    /// What is tried before chance, by database.
    pub directions: BTreeMap<String, Directions>,
}

/// What another run did in a database.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Whose turn it was.
    pub turns: Vec<u32>,
    /// The connections by name, each with the first statement that tells which one it is.
    pub members: BTreeMap<u32, Arc<str>>,
    /// The reads that returned old versions.
    pub stale: Vec<StaleRead>,
    /// What waits for what.
    pub forced: Vec<Forced>,
    /// What waits by what it asks.
    pub delay: Option<Delay>,
}

impl RunSetup {
    fn begin(&self, name: &str, entry: &Entry) -> Result<()> {
        let replay = self.replay.as_ref().map(|replays| replays.get(name).cloned().unwrap_or_default());
        let (order, stale, forced, delay) = match replay {
            Some(replay) => {
                (Order::Replay(replay.turns, replay.members), Some(replay.stale), replay.forced, replay.delay)
            }
            None => (self.order.clone(), None, Vec::new(), None),
        };
        *entry.rewrites.lock().unwrap_or_else(PoisonError::into_inner) = self.rewrites.anew();
        entry.scheduler.begin_run(self.seed, order, &forced);
        if let Some(delay) = delay {
            entry.scheduler.delay(delay);
        }
        if let Some(directions) = self.directions.get(name) {
            entry.scheduler.direct(directions);
        }
        entry.database.begin_run(&RunPlan { seed: self.seed, stale })
    }
}

/// A database and the gate before it.
pub struct Entry {
    /// The database.
    pub database: Database,
    /// Whose statement goes next.
    pub scheduler: Arc<Scheduler>,
    /// Statements that are changed on their way, in the run that is on.
    rewrites: Mutex<Rewrites>,
    /// Whether a client made it with CREATE DATABASE.
    is_made_by_client: bool,
}

impl Entry {
    /// Statements that are changed on their way, in the run that is on.
    pub fn rewrites(&self) -> Rewrites {
        self.rewrites.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Why there is no such database.
#[derive(Debug)]
pub enum NotMade {
    /// A script failed.
    Script(Failed),
    /// There are too many.
    TooMany(usize),
    /// It could not take part in the run.
    Run(SqlError),
}

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMade::Script(failed) => failed.fmt(f),
            NotMade::Run(error) => f.write_str(&error.fields().message),
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
            NotMade::Run(error) => error,
            NotMade::TooMany(_) => SqlError::new(SqlState::INSUFFICIENT_RESOURCES, why.to_string()),
        }
    }
}

impl Databases {
    /// No database yet.
    pub fn new(options: Options, hold: Duration, load: Vec<Script>, most: usize) -> Databases {
        Databases {
            options,
            hold,
            load,
            most,
            by_name: Mutex::default(),
            making: Mutex::default(),
            run: Mutex::default(),
            dropped: Mutex::default(),
        }
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
            None => {
                let database = self.loaded(name)?;
                self.put(name, database, false)
            }
        }
    }

    /// A database with what the scripts make.
    fn loaded(&self, name: &str) -> Result<Database, NotMade> {
        let database = Database::new(self.options.clone());
        if !self.load.is_empty() {
            let mut connection = database.connect(Client::new("postgres", name));
            for script in &self.load {
                script.run(&mut connection).map_err(NotMade::Script)?;
            }
            // What a reset comes back to.
            let checkpoint = Script { name: "checkpoint".into(), text: "SELECT skew.checkpoint()".into() };
            checkpoint.run(&mut connection).map_err(NotMade::Script)?;
        }
        Ok(database)
    }

    fn put(&self, name: &str, database: Database, is_made_by_client: bool) -> Result<Arc<Entry>, NotMade> {
        if self.lock().len() >= self.most {
            return Err(NotMade::TooMany(self.most));
        }
        let scheduler = Scheduler::new(self.hold, self.options.seed);
        let entry = Arc::new(Entry { database, scheduler, rewrites: Mutex::default(), is_made_by_client });
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(run) = run {
            entry.database.checkpoint().and_then(|()| run.begin(name, &entry)).map_err(NotMade::Run)?;
        }
        self.lock().insert(name.to_owned(), Arc::clone(&entry));
        Ok(entry)
    }

    /// A run begins: what the last one made is gone, and every database is as it was after its scripts. Nobody may be
    /// connected.
    pub fn begin_run(&self, setup: RunSetup) -> Result<()> {
        let is_first = self.run.lock().unwrap_or_else(PoisonError::into_inner).replace(setup.clone()).is_none();
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut by_name = self.lock();
        by_name.retain(|_, entry| !entry.is_made_by_client);
        for (name, entry) in by_name.iter() {
            if is_first {
                entry.database.checkpoint()?;
            }
            setup.begin(name, entry)?;
        }
        Ok(())
    }

    /// The databases that the run has used, those that its clients have dropped again included: what a test did in the
    /// database that it made for itself is what it has to be judged by.
    pub fn of_run(&self) -> Vec<(String, Arc<Entry>)> {
        let mut used = self.dropped.lock().unwrap_or_else(PoisonError::into_inner).clone();
        used.extend(self.lock().iter().map(|(name, entry)| (name.clone(), Arc::clone(entry))));
        used
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Entry>>> {
        // A map is complete between its operations.
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a database that no client is connected to out of the list.
    fn take(&self, name: &str) -> Result<Arc<Entry>> {
        let mut by_name = self.lock();
        let entry = by_name.get(name).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
        })?;
        must_be_unused(entry, &format!("database \"{name}\""))?;
        Ok(by_name.remove(name).expect("it was there a moment ago"))
    }

    /// A copy of a database that no client is connected to.
    fn copied(&self, template: &str) -> Result<Database> {
        let by_name = self.lock();
        let entry = by_name.get(template).ok_or_else(|| {
            let message = format!("template database \"{template}\" does not exist");
            SqlError::new(SqlState::INVALID_CATALOG_NAME, message)
        })?;
        must_be_unused(entry, &format!("source database \"{template}\""))?;
        entry.database.duplicate()
    }
}

impl Cluster for Databases {
    fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn create(&self, name: &str, template: Option<&str>) -> Result<()> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lock().contains_key(name) || ALWAYS_THERE.contains(&name) {
            return Err(exists(name));
        }
        let database = match template.filter(|template| !ALWAYS_THERE.contains(template)) {
            Some(template) => self.copied(template)?,
            None => self.loaded(name)?,
        };
        self.put(name, database, true)?;
        Ok(())
    }

    fn disconnect(&self, name: &str) {
        let entry = self.lock().get(name).cloned();
        if let Some(entry) = entry {
            entry.database.disconnect_all();
        }
    }

    fn drop(&self, name: &str) -> Result<()> {
        let entry = self.take(name)?;
        let is_run = self.run.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        if is_run && dropped.len() < self.most {
            dropped.push((name.to_owned(), entry));
        }
        Ok(())
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

/// Databases of every PostgreSQL server; the templates are empty here.
const ALWAYS_THERE: &[&str] = &["postgres", "template0", "template1"];

fn must_be_unused(entry: &Arc<Entry>, shown: &str) -> Result<()> {
    // Each connection has the entry, too.
    let detail = match Arc::strong_count(entry) - 1 {
        0 => return Ok(()),
        1 => "There is 1 other session using the database.".to_owned(),
        others => format!("There are {others} other sessions using the database."),
    };
    let message = format!("{shown} is being accessed by other users");
    Err(SqlError::new(SqlState::OBJECT_IN_USE, message).detail(detail))
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
        assert_eq!(code(databases.create("two", None)), "53000");
    }

    #[test]
    fn a_template_is_copied_with_its_rows() {
        let databases = databases(9);
        let run = |name: &str, sql: &str| {
            let entry = databases.open(name).expect("made");
            let script = Script { name: "test".into(), text: sql.into() };
            let mut connection = entry.database.connect(Client::new("postgres", name));
            script.run(&mut connection).map_err(|failed| failed.error.fields().code.clone())
        };
        let has =
            |name: &str, rows: u32| run(name, &format!("DO $$ BEGIN ASSERT (SELECT count(*) FROM t) = {rows}; END $$"));
        assert_eq!(run("one", "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2)"), Ok(()));
        assert_eq!(code(databases.create("two", Some("nosuch"))), "3D000");
        assert_eq!(code(databases.create("two", Some("one"))), "ok");
        assert_eq!(run("two", "INSERT INTO t VALUES (3)"), Ok(()));
        assert_eq!((has("one", 2), has("two", 3)), (Ok(()), Ok(())));
        let used = databases.open("one").expect("known");
        assert_eq!(code(databases.create("three", Some("one"))), "55006");
        drop(used);
        assert_eq!(code(databases.create("three", Some("one"))), "ok");
    }

    #[test]
    fn databases_are_made_renamed_and_dropped() {
        let databases = databases(9);
        assert_eq!(code(databases.create("one", None)), "ok");
        assert_eq!(code(databases.create("one", None)), "42P04");
        assert_eq!(code(databases.rename("one", "two")), "ok");
        let used = databases.open("two").expect("known");
        assert_eq!(code(databases.drop("two")), "55006");
        drop(used);
        assert_eq!(code(databases.drop("two")), "ok");
        assert_eq!(code(databases.drop("two")), "3D000");
    }
}
