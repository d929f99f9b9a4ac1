//! A small PostgreSQL client: what the comparisons send to a database, and exactly what it answered.
//!
//! Own code instead of a driver, because drivers hide what is compared here: text as the server formats it, the type of
//! every column of a simple query, errors with all their fields, and a connection that breaks off in the middle.
//! It blocks; whoever needs several sessions uses a thread for each.

mod answer;
mod database;
mod extended;
mod message;
mod url;

pub(crate) use answer::{Answer, Outcome, Rows, ServerError};
pub(crate) use database::FreshDatabase;
pub(crate) use url::Url;

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use message::{Message, Reader, Writer};

/// Protocol 3.0, as the first message says it.
const PROTOCOL: i32 = 3 << 16;

/// The number that stands for a protocol when the message asks to cancel.
const CANCEL: i32 = 80_877_102;

/// A server that does not let a session begin for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// One session.
pub(crate) struct Connection {
    reader: Reader,
    writer: TcpStream,
    address: Url,
    process: i32,
    secret: i32,
    /// What the next `COPY … FROM STDIN` gets.
    input: Vec<u8>,
}

/// Why there is no session.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// The server answered with an error.
    Refused(ServerError),
    /// Nobody answered, or not in this protocol.
    Io(io::Error),
}

impl std::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConnectError::Refused(error) => write!(f, "{error}"),
            ConnectError::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        ConnectError::Io(error)
    }
}

impl From<ConnectError> for io::Error {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Refused(error) => io::Error::other(error.to_string()),
            ConnectError::Io(error) => error,
        }
    }
}

impl Connection {
    /// Opens a session; trust and clear-text passwords only.
    pub(crate) fn open(url: &Url) -> Result<Connection, ConnectError> {
        let stream = dial(url)?;
        let mut connection = Connection {
            reader: Reader::new(stream.try_clone()?),
            writer: stream,
            address: url.clone(),
            process: 0,
            secret: 0,
            input: Vec::new(),
        };
        connection.limit(PATIENCE)?;
        connection.start(url)?;
        connection.writer.set_read_timeout(None)?;
        Ok(connection)
    }

    /// After this long without a byte the server counts as gone.
    pub(crate) fn limit(&self, patience: Duration) -> io::Result<()> {
        self.writer.set_read_timeout(Some(patience))
    }

    /// The server's number of this session, which `pg_stat_activity` shows.
    pub(crate) fn process(&self) -> i32 {
        self.process
    }

    /// Sends text as one simple query and reads everything that comes back.
    ///
    /// `COPY … FROM STDIN` gets no rows; `copy_in` gives it some.
    pub(crate) fn simple(&mut self, sql: &str) -> Answer {
        let mut message = Writer::new(b'Q');
        message.text(sql);
        match self.writer.write_all(&message.finish()) {
            Ok(()) => self.collect(),
            Err(error) => Answer::lost(&error),
        }
    }

    /// Sends a `COPY … FROM STDIN` with its data.
    pub(crate) fn copy_in(&mut self, sql: &str, data: Vec<u8>) -> Answer {
        self.input = data;
        let answer = self.simple(sql);
        self.input.clear();
        answer
    }

    /// Asks the server, over a second connection, to interrupt what this session does.
    pub(crate) fn cancel(&self) -> io::Result<()> {
        let mut message = Writer::untagged();
        message.int(CANCEL);
        message.int(self.process);
        message.int(self.secret);
        dial(&self.address)?.write_all(&message.finish())
    }

    fn start(&mut self, url: &Url) -> Result<(), ConnectError> {
        let mut message = Writer::untagged();
        message.int(PROTOCOL);
        for (name, value) in
            [("user", url.user.as_str()), ("database", url.database.as_str()), ("application_name", "skew-bench")]
        {
            message.text(name);
            message.text(value);
        }
        message.byte(0);
        self.writer.write_all(&message.finish())?;
        loop {
            let mut message = self.reader.message()?;
            match message.tag {
                b'R' => self.authenticate(&mut message, url)?,
                b'K' => (self.process, self.secret) = (message.int()?, message.int()?),
                b'E' => return Err(ConnectError::Refused(ServerError::decode(&mut message)?)),
                b'Z' => return Ok(()),
                _ => {}
            }
        }
    }

    fn authenticate(&mut self, message: &mut Message, url: &Url) -> io::Result<()> {
        match message.int()? {
            0 => Ok(()),
            3 => {
                let mut answer = Writer::new(b'p');
                answer.text(&url.password);
                self.writer.write_all(&answer.finish())
            }
            other => Err(io::Error::other(format!(
                "the server wants authentication {other}; this client knows trust and clear-text passwords"
            ))),
        }
    }

    /// Reads answers up to the next *ready for query*.
    fn collect(&mut self) -> Answer {
        let mut answer = Answer::default();
        if let Err(error) = self.collect_into(&mut answer) {
            answer.lost = Some(error.to_string());
        }
        answer
    }

    fn send_input(&mut self) -> io::Result<()> {
        let mut data = Writer::new(b'd');
        data.bytes(&self.input);
        let mut bytes = data.finish();
        bytes.extend(Writer::new(b'c').finish());
        self.writer.write_all(&bytes)
    }

    fn collect_into(&mut self, answer: &mut Answer) -> io::Result<()> {
        let mut rows = Rows::default();
        loop {
            let mut message = self.reader.message()?;
            match message.tag {
                b't' => answer.parameters = message.types()?,
                b'T' => rows.columns = message.columns()?,
                b'D' => rows.values.push(message.row()?),
                b'C' => {
                    rows.tag = message.text()?;
                    answer.results.push(std::mem::take(&mut rows));
                }
                b'I' => answer.results.push(std::mem::take(&mut rows)),
                b'G' => self.send_input()?,
                b'd' => rows.values.push(vec![Some(message.rest())]),
                b'N' => answer.notices.push(ServerError::decode(&mut message)?),
                b'E' => answer.error = Some(ServerError::decode(&mut message)?),
                b'Z' => {
                    if rows != Rows::default() {
                        answer.results.push(rows);
                    }
                    answer.status = message.byte()?;
                    return Ok(());
                }
                _ => {}
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The session is over either way; a server that is gone cannot be told.
        let _ = self.writer.write_all(&Writer::new(b'X').finish());
    }
}

fn dial(url: &Url) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the host has no address");
    for address in (url.host.as_str(), url.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
