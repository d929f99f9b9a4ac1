//! The way to a client: its own thread answers, others tell it something while it is idle.
//!
//! Others tell it while they hold the database, so they never write to the socket themselves: a client that does not read
//! would hold up everybody. What they say goes into an outbox, which a thread of its own empties; a client that lets too much
//! of it pile up loses its connection.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use skew_sql::session::Message;

use crate::postgres::conversation;
use crate::postgres::encode::Messages;

/// So much waits at most for a client that does not read.
const MAX_OUTBOX_BYTES: usize = 16 << 20;

/// The way to a client.
pub struct Sink {
    writer: Mutex<Box<dyn Write + Send>>,
    /// Locked after the writer, never for long.
    outbox: Mutex<Outbox>,
    is_broken: AtomicBool,
    /// What becomes of a client that does not read what it is told.
    on_overflow: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct Outbox {
    bytes: Vec<u8>,
    /// Whether others may tell it something.
    is_idle: bool,
    /// Whether a thread is about to empty it.
    is_emptied: bool,
}

impl Sink {
    /// Everything goes to `writer`.
    pub fn new(writer: Box<dyn Write + Send>) -> Sink {
        Sink {
            writer: Mutex::new(writer),
            outbox: Mutex::default(),
            is_broken: AtomicBool::new(false),
            on_overflow: OnceLock::new(),
        }
    }

    /// What is done when the client does not read what it is told. Set once.
    pub fn on_overflow(&self, act: impl Fn() + Send + Sync + 'static) {
        let _ = self.on_overflow.set(Box::new(act));
    }

    /// Sends messages, after those that others had for the client, and empties the buffer. A client that cannot be reached
    /// is noticed by whoever reads from it.
    pub fn send(&self, bytes: &mut Vec<u8>) {
        let mut writer = lock(&self.writer);
        let told = std::mem::take(&mut lock(&self.outbox).bytes);
        self.write(&mut writer, &told);
        self.write(&mut writer, bytes);
        bytes.clear();
        // A buffer that was once large is not kept for a client that may never ask again.
        if bytes.capacity() > 1 << 20 {
            *bytes = Vec::new();
        }
    }

    /// Tells the client something if it is idle. Never waits for the client.
    pub fn tell(self: &Arc<Self>, message: &Message) -> bool {
        let mut outbox = lock(&self.outbox);
        if !outbox.is_idle || self.is_broken() {
            return outbox.is_idle;
        }
        let mut out = Messages::default();
        conversation::tell(&mut out, message);
        outbox.bytes.append(&mut out.bytes);
        if outbox.bytes.len() > MAX_OUTBOX_BYTES {
            outbox.bytes = Vec::new();
            self.breaks();
            self.on_overflow.get().into_iter().for_each(|act| act());
        } else if !outbox.is_emptied {
            let sink = Arc::clone(self);
            let thread = std::thread::Builder::new().name("skew-tell".to_owned()).stack_size(256 << 10);
            // Without a thread the client is told with its next answer.
            outbox.is_emptied = thread.spawn(move || sink.empty_outbox()).is_ok();
        }
        true
    }

    fn empty_outbox(&self) {
        loop {
            let mut writer = lock(&self.writer);
            let told = {
                let mut outbox = lock(&self.outbox);
                outbox.is_emptied = !outbox.bytes.is_empty();
                std::mem::take(&mut outbox.bytes)
            };
            if told.is_empty() {
                return;
            }
            self.write(&mut writer, &told);
        }
    }

    /// Others may tell the client something.
    pub fn idle(&self) {
        lock(&self.outbox).is_idle = true;
    }

    /// Others may not.
    pub fn busy(&self) {
        lock(&self.outbox).is_idle = false;
    }

    /// Whether the client is gone.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// The client is gone.
    pub fn breaks(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    fn write(&self, writer: &mut MutexGuard<'_, Box<dyn Write + Send>>, bytes: &[u8]) {
        if !self.is_broken() && !bytes.is_empty() && writer.write_all(bytes).and_then(|()| writer.flush()).is_err() {
            self.breaks();
        }
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
