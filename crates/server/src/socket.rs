//! A client's socket: TCP or Unix.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
pub(crate) struct Writer(pub(crate) Arc<Socket>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &*self.0 {
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
}

impl Reader {
    pub(crate) fn new(socket: Arc<Socket>, deadline: Instant) -> Reader {
        Reader { socket, deadline: Some(deadline) }
    }

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
        while self.read(&mut buffer).is_ok_and(|read| read > 0) {}
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
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
