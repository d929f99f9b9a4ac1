//! A client's socket: TCP or Unix.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::postgres::startup::Source;
use crate::tls::{Certificate, Session};

/// A client's socket.
pub(crate) struct Socket {
    stream: Stream,
    is_stopped: AtomicBool,
}

pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl From<Stream> for Socket {
    fn from(stream: Stream) -> Socket {
        Socket { stream, is_stopped: AtomicBool::new(false) }
    }
}

impl Socket {
    /// Small answers go out at once, and a client whose machine is gone is noticed one day.
    pub(crate) fn prepare(&self) {
        if let Stream::Tcp(stream) = &self.stream {
            // Slower or later without, but not wrong.
            let _ = stream.set_nodelay(true);
            let _ = rustix::net::sockopt::set_socket_keepalive(stream, true);
        }
    }

    pub(crate) fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.set_read_timeout(time),
            Stream::Unix(stream) => stream.set_read_timeout(time),
        }
    }

    /// Whoever reads from it reads no further.
    pub(crate) fn stop_reading(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let _ = match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Read),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Read),
        };
    }

    /// Nothing more is read or written: a thread that waits for the client to read goes on.
    pub(crate) fn abandon(&self) {
        let _ = match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// Whether it was this side that stopped reading, so that the client is still there to be told why.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Says goodbye in order: what was sent arrives, even if the client was still sending.
    pub(crate) fn close(&self) {
        let _ = match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
        };
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.stream {
            Stream::Tcp(stream) => (&*stream).read(buffer),
            Stream::Unix(stream) => (&*stream).read(buffer),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
    }
}

/// Writes to a socket.
pub(crate) struct Writer {
    socket: Arc<Socket>,
    /// Once the client has asked for it.
    tls: Arc<OnceLock<Session>>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.tls.get() {
            Some(tls) => tls.write(bytes, &mut Plain(&self.socket)),
            None => Plain(&self.socket).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes to a socket what it is given.
struct Plain<'a>(&'a Socket);

impl Write for Plain<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0.stream {
            Stream::Tcp(stream) => (&*stream).write(bytes),
            Stream::Unix(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads from a socket, until the deadline if there is one.
pub(crate) struct Reader {
    socket: Arc<Socket>,
    deadline: Option<Instant>,
    certificate: Option<Certificate>,
    tls: Arc<OnceLock<Session>>,
}

/// Both ways of a socket.
pub(crate) fn split(socket: &Arc<Socket>, deadline: Instant, certificate: Option<Certificate>) -> (Reader, Writer) {
    let tls = Arc::new(OnceLock::new());
    let writer = Writer { socket: Arc::clone(socket), tls: Arc::clone(&tls) };
    (Reader { socket: Arc::clone(socket), deadline: Some(deadline), certificate, tls }, writer)
}

impl Reader {
    /// From now on it waits as long as it takes.
    pub(crate) fn lift_deadline(&mut self) {
        self.deadline = None;
        // A socket that cannot be set is closed; the next read says so.
        let _ = self.socket.set_read_timeout(None);
    }

    /// Reads what a client that is refused still sends, for a moment: unread bytes would reset the connection, and the
    /// client might not see why.
    pub(crate) fn drain(&mut self, time: Duration) {
        self.deadline = Some(Instant::now() + time);
        let mut buffer = vec![0; 64 << 10];
        while self.read_plain(&mut buffer).is_ok_and(|read| read > 0) {}
    }

    fn read_plain(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.socket.set_read_timeout(Some(left))?;
        }
        self.socket.read(buffer)
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.tls.get() {
            Some(tls) => tls.read(buffer, |buffer| self.read_plain(buffer), &mut Plain(&self.socket)),
            None => self.read_plain(buffer),
        }
    }
}

impl Source for Reader {
    fn set_deadline(&mut self, deadline: Option<Instant>) {
        match deadline {
            Some(_) => self.deadline = deadline,
            None => self.lift_deadline(),
        }
    }

    fn can_encrypt(&self) -> bool {
        self.certificate.is_some() && self.tls.get().is_none()
    }

    fn encrypt(&mut self) {
        if let Some(session) = self.certificate.as_ref().and_then(Session::new) {
            let _ = self.tls.set(session);
        }
    }
}
