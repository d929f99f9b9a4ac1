//! Who may cancel whose statement: whoever knows the number and the key that the client was given.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use skew_sql::session::Cancel;

/// The connections by number.
#[derive(Default)]
pub struct Cancels {
    last_pid: AtomicI32,
    by_pid: Mutex<HashMap<i32, (i32, Cancel)>>,
}

/// A connection's entry. It is gone when this is dropped.
pub struct Entry {
    cancels: Arc<Cancels>,
    /// The number.
    pub pid: i32,
    /// The key.
    pub secret: i32,
}

impl Cancels {
    /// A number that nobody has.
    pub fn new_pid(&self) -> i32 {
        1 + (self.last_pid.fetch_add(1, Ordering::Relaxed) & 0x3fff_ffff)
    }

    /// From now on this connection's statements can be cancelled.
    pub fn enter(self: &Arc<Self>, pid: i32, cancel: Cancel) -> Entry {
        let mut secret = [0; 4];
        // Without randomness from the system nobody but the client itself could guess less than the process does.
        let _ = getrandom::fill(&mut secret);
        let secret = i32::from_be_bytes(secret);
        self.lock().insert(pid, (secret, cancel));
        Entry { cancels: Arc::clone(self), pid, secret }
    }

    /// A cancel request. What came of it nobody is told.
    pub fn request(&self, pid: i32, secret: i32) {
        let known = self.lock().get(&pid).cloned();
        if let Some((expected, cancel)) = known
            && expected == secret
        {
            cancel.cancel();
        }
    }

    /// The server ends: every statement does.
    pub fn cancel_all(&self) {
        let all: Vec<Cancel> = self.lock().values().map(|(_, cancel)| cancel.clone()).collect();
        all.iter().for_each(Cancel::cancel);
    }

    /// Every client is about to be killed: whoever waits will have no answer, although the locks will be free.
    pub fn lose_all(&self) {
        self.lock().values().for_each(|(_, cancel)| cancel.lose());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<i32, (i32, Cancel)>> {
        // A map is complete between its operations.
        self.by_pid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.cancels.lock().remove(&self.pid);
    }
}
