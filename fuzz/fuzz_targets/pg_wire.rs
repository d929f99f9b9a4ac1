//! Whatever a client sends, before and after it is connected: no panic, and every answer is a message of the protocol.
#![no_main]

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use skew_server::postgres::cancel::Cancels;
use skew_server::postgres::conversation::Conversation;
use skew_server::postgres::frames::Frames;
use skew_server::postgres::sink::Sink;
use skew_server::postgres::startup::{self, Gatekeeper};
use skew_server::scheduler::Scheduler;
use skew_server::settings::Authentication;
use skew_sql::session::{Client, Database, Options};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Types and lengths fit together up to the last byte.
fn is_well_formed(mut bytes: &[u8]) -> bool {
    while let [_, a, b, c, d, ..] = bytes {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        match bytes.get(1 + length..) {
            Some(rest) if length >= 4 => bytes = rest,
            _ => return false,
        }
    }
    bytes.is_empty()
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let written = Written::default();
    let sink = Arc::new(Sink::new(Box::new(written.clone())));
    let mut frames = Frames::new(data, 1 << 20);
    if first % 4 == 0 {
        let authentication = match first / 4 % 3 {
            0 => Authentication::Trust,
            1 => Authentication::Password("secret".to_owned()),
            _ => Authentication::Scram("secret".to_owned()),
        };
        let gatekeeper = Gatekeeper::new(&authentication).unwrap();
        let _ = startup::introduce(&mut frames, &sink, &gatekeeper, &Cancels::default());
        return;
    }
    let mut client = Client::new("postgres", "postgres");
    client.settings.push(("statement_timeout".to_owned(), "200".to_owned()));
    let connection = Database::new(Options::default()).connect(client);
    let gate = Arc::new(Scheduler::new(Duration::ZERO, 0).join());
    Conversation::begin(connection, gate, sink, (1, 2), Default::default()).run(&mut frames);
    assert!(is_well_formed(&written.0.lock().unwrap()));
});
