//! A client's socket: TCP or Unix.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::postgres::startup::Source;
use crate::tls::{Certificate, Session};

/// A client's socket.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Small answers go out at once, and a client whose machine is gone is noticed one day.
    pub(crate) fn prepare(&self) {
        if let Socket::Tcp(stream) = self {
            // Slower or later without, but not wrong.
            let _ = stream.set_nodelay(true);
            let _ = rustix::net::sockopt::set_socket_keepalive(stream, true);
        }
    }

    pub(crate) fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_read_timeout(time),
            Socket::Unix(stream) => stream.set_read_timeout(time),
        }
    }

    /// Whoever reads from it reads no further.
    pub(crate) fn stop_reading(&self) {
        let _ = match self {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Read),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Read),
        };
    }

    /// Says goodbye in order: what was sent arrives, even if the client was still sending.
    pub(crate) fn close(&self) {
        let _ = match self {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Write),
        };
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&*stream).read(buffer),
            Socket::Unix(stream) => (&*stream).read(buffer),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
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
        match self.0 {
            Socket::Tcp(stream) => (&*stream).write(bytes),
            Socket::Unix(stream) => (&*stream).write(bytes),
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
    fn can_encrypt(&self) -> bool {
        self.certificate.is_some() && self.tls.get().is_none()
    }

    fn encrypt(&mut self) {
        if let Some(session) = self.certificate.as_ref().and_then(Session::new) {
            let _ = self.tls.set(session);
        }
    }
}
