//! A connection that can be asked whether its query has finished, without waiting for it.

use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::time::Duration;

use crate::isolation::table::show_table;
use crate::raw::{Raw, query};

/// A connection of a session of a spec, or the one that watches the others.
pub(crate) struct Client {
    raw: Raw,
    pub(crate) pid: i32,
    received: Vec<u8>,
    /// The query in flight, if its answer has not come to its end.
    is_busy: bool,
    shown: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    pub(crate) notices: Vec<String>,
    pub(crate) notifications: Vec<Notification>,
    pub(crate) is_closed: bool,
}

pub(crate) struct Notification {
    pub(crate) pid: i32,
    pub(crate) channel: String,
    pub(crate) payload: String,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, database: &str) -> Client {
        let raw = Raw::connect(address, database);
        let pid = raw.key.0;
        Client {
            raw,
            pid,
            received: Vec::new(),
            is_busy: false,
            shown: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            notices: Vec::new(),
            notifications: Vec::new(),
            is_closed: false,
        }
    }

    pub(crate) fn send(&mut self, sql: &str) {
        self.shown.clear();
        self.is_busy = true;
        self.raw.send(&query(sql));
    }

    /// Whether the query has finished, after waiting so long for the next bytes.
    pub(crate) fn has_finished(&mut self, wait: Duration) -> bool {
        self.receive(wait);
        !self.is_busy
    }

    /// What the finished query showed: its tables and errors.
    pub(crate) fn take_shown(&mut self) -> String {
        std::mem::take(&mut self.shown)
    }

    /// Runs a query to its end; nothing when that takes longer than the limit.
    pub(crate) fn run(&mut self, sql: &str, limit: Duration) -> Option<String> {
        self.send(sql);
        let began = std::time::Instant::now();
        while !self.has_finished(Duration::from_millis(50)) {
            if began.elapsed() > limit {
                return None;
            }
        }
        Some(self.take_shown())
    }

    /// The first value of a query.
    pub(crate) fn value(&mut self, sql: &str) -> String {
        let shown = self.run(sql, Duration::from_secs(30)).expect("the watching connection never waits for a lock");
        shown.lines().nth(2).unwrap_or(&shown).trim().to_owned()
    }

    /// The same, as it is.
    pub(crate) fn cell(&mut self, sql: &str) -> String {
        self.rows.clear();
        self.run(sql, Duration::from_secs(120)).expect("the watching connection never waits for a lock");
        self.rows.first().and_then(|row| row.first()).cloned().unwrap_or_default()
    }

    fn receive(&mut self, wait: Duration) {
        self.take_messages();
        if !self.is_busy {
            return;
        }
        self.raw.stream.set_read_timeout(Some(wait)).expect("a socket");
        let mut bytes = [0; 65536];
        match self.raw.stream.read(&mut bytes) {
            Ok(0) => self.close(),
            Ok(length) => self.received.extend(&bytes[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => self.close(),
        }
        self.take_messages();
    }

    fn close(&mut self) {
        self.is_closed = true;
        self.is_busy = false;
        self.shown.push_str("server closed the connection unexpectedly\n");
    }

    fn take_messages(&mut self) {
        while self.received.len() >= 5 {
            let length = i32::from_be_bytes(self.received[1..5].try_into().expect("four bytes"));
            let end = 1 + usize::try_from(length).expect("a length");
            if self.received.len() < end {
                return;
            }
            let message: Vec<u8> = self.received.drain(..end).collect();
            self.take(message[0], &message[5..]);
        }
    }

    fn take(&mut self, kind: u8, body: &[u8]) {
        match kind {
            b'T' => {
                self.columns = column_names(body);
                self.rows.clear();
            }
            b'D' => self.rows.push(values(body)),
            b'C' if !self.columns.is_empty() => {
                let columns = std::mem::take(&mut self.columns);
                self.shown.push_str(&show_table(&columns, &self.rows));
            }
            b'E' => {
                self.columns.clear();
                let message = format!("{}:  {}\n", field(body, b'S'), field(body, b'M'));
                self.shown.push_str(&message);
            }
            b'N' => {
                let mut message = format!("{}:  {}\n", field(body, b'S'), field(body, b'M'));
                for (title, kind) in [("DETAIL", b'D'), ("HINT", b'H')] {
                    let text = field(body, kind);
                    if !text.is_empty() {
                        message.push_str(&format!("{title}:  {text}\n"));
                    }
                }
                self.notices.push(message);
            }
            b'A' => {
                let pid = i32::from_be_bytes(body[..4].try_into().expect("four bytes"));
                let mut texts =
                    body[4..].split(|&byte| byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
                let mut text = || texts.next().unwrap_or_default();
                self.notifications.push(Notification { pid, channel: text(), payload: text() });
            }
            b'Z' => self.is_busy = false,
            _ => {}
        }
    }
}

fn field(body: &[u8], kind: u8) -> String {
    let mut fields = body.split(|&byte| byte == 0);
    let found = fields.find(|field| field.first() == Some(&kind)).unwrap_or_default();
    String::from_utf8_lossy(found.get(1..).unwrap_or_default()).into_owned()
}

fn column_names(body: &[u8]) -> Vec<String> {
    let mut rest = &body[2..];
    let mut names = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|&byte| byte == 0).expect("a name");
        names.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        rest = &rest[end + 19..];
    }
    names
}

/// The values of a row; NULL shows as nothing.
fn values(body: &[u8]) -> Vec<String> {
    let mut rest = &body[2..];
    let mut values = Vec::new();
    while !rest.is_empty() {
        let length = i32::from_be_bytes(rest[..4].try_into().expect("four bytes"));
        rest = &rest[4..];
        let length = usize::try_from(length).unwrap_or(0);
        values.push(String::from_utf8_lossy(&rest[..length]).into_owned());
        rest = &rest[length..];
    }
    values
}
