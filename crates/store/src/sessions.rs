//! Who the sessions are. Ended ones give their places to new ones, and are named for as long as something is remembered
//! of them.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::SessionId;

use crate::error::Error;
use crate::record::Record;
use crate::store::Store;

/// The sessions, numbered in the order in which they began.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sessions {
    names: BTreeMap<u32, String>,
    /// For each place, the number of the session that has it, or had it last.
    places: Vec<u32>,
    begun: u32,
}

impl Sessions {
    fn begin(&mut self, place: u32, name: &str) {
        if place as usize == self.places.len() {
            self.places.push(0);
        }
        self.places[place as usize] = self.begun;
        self.names.insert(self.begun, name.to_owned());
        self.begun += 1;
    }

    /// The number of the session at this place.
    pub(crate) fn number(&self, place: u32) -> u32 {
        self.places[place as usize]
    }

    /// The name of the session with this number.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(&number).map_or("", String::as_str)
    }

    /// The sessions of which something is remembered: numbers and names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter().map(|(&number, name)| (number, name.as_str()))
    }

    /// Forgets those that have ended and of which nothing is remembered.
    pub(crate) fn forget<'r>(&mut self, remembered: impl Iterator<Item = &'r Record>) {
        let mut known: BTreeSet<u32> = self.places.iter().copied().collect();
        known.extend(remembered.map(|record| record.session));
        self.names.retain(|number, _| known.contains(number));
    }
}

impl<V: Clone> Store<V> {
    /// A new session. Sessions are numbered in the order of these calls, except that a new one may get the number of one
    /// that was closed. Histories tell sessions apart by their names.
    pub fn session(&mut self, name: &str) -> SessionId {
        let place = self.engine.session();
        self.sessions.begin(place, name);
        if place as usize == self.statements.len() {
            self.operations.session();
            self.statements.push(0);
            self.snapshots.push(0);
        }
        SessionId(place)
    }

    /// The session has ended: its number may be given to another one, which then sees at least what this one has seen and
    /// done. With [`crate::Recency::None`] that happens only while there are many sessions.
    pub fn close_session(&mut self, session: SessionId) -> Result<(), Error> {
        if self.engine.sessions[session.0 as usize].open.is_some() {
            return Err(Error::StillOpen { session: self.session_name(session).to_owned() });
        }
        self.engine.close_session(session.0);
        Ok(())
    }

    /// The session's name.
    pub fn session_name(&self, session: SessionId) -> &str {
        self.sessions.name(self.sessions.number(session.0))
    }

    /// All sessions' names, in order.
    pub(crate) fn session_names(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(|(_, name)| name)
    }
}
