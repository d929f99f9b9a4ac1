//! The way to a client: its own thread answers, others tell it something while it is idle.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use skew_sql::session::Message;

use crate::postgres::conversation;
use crate::postgres::encode::Messages;

/// The way to a client.
pub struct Sink(Mutex<State>);

struct State {
    writer: Box<dyn Write + Send>,
    /// Whether others may write.
    is_idle: bool,
    is_broken: bool,
}

impl Sink {
    /// Everything goes to `writer`.
    pub fn new(writer: Box<dyn Write + Send>) -> Sink {
        Sink(Mutex::new(State { writer, is_idle: false, is_broken: false }))
    }

    /// Sends messages and empties the buffer. A client that cannot be reached is noticed by whoever reads from it.
    pub fn send(&self, bytes: &mut Vec<u8>) {
        self.lock().send(bytes);
        bytes.clear();
        // A buffer that was once large is not kept for a client that may never ask again.
        if bytes.capacity() > 1 << 20 {
            *bytes = Vec::new();
        }
    }

    /// Tells the client something if it is idle.
    pub fn tell(&self, message: &Message) -> bool {
        let mut state = self.lock();
        if state.is_idle {
            let mut out = Messages::default();
            conversation::tell(&mut out, message);
            state.send(&out.bytes);
        }
        state.is_idle
    }

    /// Others may write.
    pub fn idle(&self) {
        self.lock().is_idle = true;
    }

    /// Others may not write.
    pub fn busy(&self) {
        self.lock().is_idle = false;
    }

    /// Whether the client is gone.
    pub fn is_broken(&self) -> bool {
        self.lock().is_broken
    }

    /// The client is gone.
    pub fn breaks(&self) {
        self.lock().is_broken = true;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn send(&mut self, bytes: &[u8]) {
        if !self.is_broken && !bytes.is_empty() {
            self.is_broken = self.writer.write_all(bytes).and_then(|()| self.writer.flush()).is_err();
        }
    }
}
