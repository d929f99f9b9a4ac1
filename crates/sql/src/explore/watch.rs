//! The end of an exploration's time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::session::Cancel;

/// Ends connections that are still at work when the time is over: a procedure may never end.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<(Mutex<Watched>, Condvar)>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Watched {
    connections: Vec<Cancel>,
    time_is_over: bool,
    done: bool,
}

impl Watch {
    /// From now on, for so long.
    pub fn start(time: Duration) -> Watch {
        let shared: Arc<(Mutex<Watched>, Condvar)> = Arc::default();
        let watched = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let (lock, changed) = &*watched;
            let watched = lock.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = changed.wait_timeout_while(watched, time, |watched| !watched.done);
            let (mut watched, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if !watched.done {
                watched.time_is_over = true;
                watched.connections.iter().for_each(Cancel::terminate);
            }
        });
        Watch { shared, thread: Some(thread) }
    }

    pub(super) fn over(&self, connections: Vec<Cancel>) {
        let mut watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.time_is_over {
            connections.iter().for_each(Cancel::terminate);
        }
        watched.connections = connections;
    }

    /// Ends one more connection with the others.
    pub(super) fn and_over(&self, connection: Cancel) {
        let mut watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.time_is_over {
            connection.terminate();
        }
        watched.connections.push(connection);
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).time_is_over
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).done = true;
        self.shared.1.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
