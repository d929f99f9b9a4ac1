//! Sockets, one thread a connection, and the end of the server.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::databases::{Databases, NotMade};
use crate::hangup::Hangups;
use crate::postgres;
use crate::postgres::cancel::Cancels;
use crate::postgres::startup::Gatekeeper;
use crate::settings::{Limits, Settings};
use crate::socket::{Socket, Stream};
use crate::tls::Certificate;

/// The database that is there from the start, as in PostgreSQL.
const FIRST_DATABASE: &str = "postgres";
/// Connections beyond the limit that are told so; further ones are closed without a word.
const TOLD: usize = 100;

/// A server that listens and does not answer yet.
pub struct Server {
    tcp: TcpListener,
    unix: Option<(UnixListener, PathBuf)>,
    shared: Arc<Shared>,
}

/// A server that answers. It ends when this is dropped.
pub struct Running {
    address: SocketAddr,
    unix: Option<PathBuf>,
    shared: Arc<Shared>,
    has_ended: bool,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) databases: Arc<Databases>,
    pub(crate) cancels: Arc<Cancels>,
    pub(crate) hangups: Arc<Hangups>,
    pub(crate) gatekeeper: Gatekeeper,
    pub(crate) certificate: Option<Certificate>,
    pub(crate) limits: Limits,
    is_ending: AtomicBool,
    connections: Mutex<Connections>,
    all_gone: Condvar,
}

#[derive(Default)]
struct Connections {
    sockets: HashMap<u64, Arc<Socket>>,
    /// How many of them are let in; the others are told that there are too many.
    inside: usize,
    next: u64,
}

/// Why a server could not start.
#[derive(Debug)]
pub enum NotStarted {
    /// It cannot listen there.
    Listen(String, io::Error),
    /// A script failed.
    Database(NotMade),
    /// The system has no randomness, which passwords need.
    Random,
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotStarted::Listen(place, error) => write!(f, "cannot listen on {place}: {error}"),
            NotStarted::Database(why) => why.fmt(f),
            NotStarted::Random => f.write_str("the system gives no random numbers"),
        }
    }
}

impl Server {
    /// Listens, and makes the first database, which tells whether the scripts are right.
    pub fn bind(settings: Settings) -> Result<Server, NotStarted> {
        let place = SocketAddr::from((settings.host, settings.port));
        let tcp = TcpListener::bind(place).map_err(|error| NotStarted::Listen(place.to_string(), error))?;
        let port = tcp.local_addr().map_or(settings.port, |address| address.port());
        let gatekeeper = Gatekeeper::new(&settings.authentication).map_err(|_| NotStarted::Random)?;
        let databases = Databases::new(settings.options, settings.hold, settings.load, settings.limits.max_databases);
        databases.open(FIRST_DATABASE).map_err(NotStarted::Database)?;
        let shared = Shared {
            databases: Arc::new(databases),
            cancels: Arc::default(),
            hangups: Arc::default(),
            gatekeeper,
            certificate: settings.certificate,
            limits: settings.limits,
            is_ending: AtomicBool::new(false),
            connections: Mutex::default(),
            all_gone: Condvar::new(),
        };
        let unix = settings.unix_socket.map(|folder| bind_unix(&folder, port)).transpose()?;
        Ok(Server { tcp, unix, shared: Arc::new(shared) })
    }

    /// Answers, in threads of its own.
    pub fn start(self) -> Result<Running, NotStarted> {
        let failed = |error| NotStarted::Listen("a socket".to_owned(), error);
        let address = self.tcp.local_addr().map_err(failed)?;
        let shared = Arc::clone(&self.shared);
        let tcp = self.tcp;
        spawn("skew-tcp", 0, move || shared.accept(|| tcp.accept().map(|(stream, _)| Stream::Tcp(stream))))
            .map_err(failed)?;
        let mut path = None;
        if let Some((listener, at)) = self.unix {
            path = Some(at);
            let shared = Arc::clone(&self.shared);
            spawn("skew-unix", 0, move || shared.accept(|| listener.accept().map(|(stream, _)| Stream::Unix(stream))))
                .map_err(failed)?;
        }
        Ok(Running { address, unix: path, shared: self.shared, has_ended: false })
    }
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The Unix socket, if there is one.
    pub fn unix_socket(&self) -> Option<&Path> {
        self.unix.as_deref()
    }

    /// The databases.
    pub fn databases(&self) -> &Arc<Databases> {
        &self.shared.databases
    }

    /// How many clients have come so far.
    pub fn clients_so_far(&self) -> u64 {
        self.shared.lock().next
    }

    /// Ends every connection, and waits until they are gone. Says whether they are.
    pub fn disconnect_all(&self, longest: Duration) -> bool {
        if self.shared.lock().sockets.is_empty() {
            return true;
        }
        self.shared.end(Instant::now() + longest);
        self.shared.lock().sockets.is_empty()
    }

    /// Every client is about to be killed: statements that wait now have no answer.
    pub fn lose_all(&self) {
        self.shared.cancels.lose_all();
    }

    /// Waits until nobody is connected, for so long.
    pub fn wait_for_goodbyes(&self, longest: Duration) -> bool {
        self.shared.wait_until_gone(Instant::now() + longest)
    }

    /// Tells every client that it is over, and waits a moment for them to go. Their transactions are rolled back.
    pub fn end(mut self) {
        self.end_now();
    }

    fn end_now(&mut self) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        self.shared.is_ending.store(true, Ordering::SeqCst);
        // Wakes those who accept, so that they see it.
        let _ = TcpStream::connect_timeout(&loopback(self.address), Duration::from_secs(1));
        if let Some(path) = &self.unix {
            let _ = UnixStream::connect(path);
            let _ = std::fs::remove_file(path);
        }
        self.shared.end(Instant::now() + Duration::from_secs(2));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_now();
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, accept: impl Fn() -> io::Result<Stream>) {
        loop {
            let accepted = accept();
            if self.is_ending() {
                return;
            }
            match accepted {
                Ok(stream) => self.connect(stream),
                // Out of file handles, say. Others may close theirs.
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn connect(self: &Arc<Self>, stream: Stream) {
        let socket = Arc::new(Socket::from(stream));
        let (id, count, is_full) = {
            let mut connections = self.lock();
            let id = connections.next;
            connections.next += 1;
            connections.sockets.insert(id, Arc::clone(&socket));
            let is_full = connections.inside >= self.limits.max_connections;
            connections.inside += usize::from(!is_full);
            (id, connections.sockets.len(), is_full)
        };
        let connected = Connected { shared: Arc::clone(self), id, is_inside: !is_full };
        if count > self.limits.max_connections + TOLD {
            return;
        }
        // Without a thread the client is disconnected, which it will notice.
        let _ = spawn("skew-client", self.limits.stack, move || {
            postgres::serve(&connected.shared, socket, is_full);
        });
    }

    /// Whether the server is about to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }

    fn end(&self, deadline: Instant) {
        self.cancels.cancel_all();
        self.lock().sockets.values().for_each(|socket| socket.stop_reading());
        self.wait_until_gone(deadline);
    }

    fn wait_until_gone(&self, deadline: Instant) -> bool {
        let mut connections = self.lock();
        while !connections.sockets.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.all_gone.wait_timeout(connections, left);
            connections = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        // A map is complete between its operations.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is counted until this is dropped.
struct Connected {
    shared: Arc<Shared>,
    id: u64,
    is_inside: bool,
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut connections = self.shared.lock();
        connections.sockets.remove(&self.id);
        connections.inside -= usize::from(self.is_inside);
        if connections.sockets.is_empty() {
            self.shared.all_gone.notify_all();
        }
    }
}

fn spawn(name: &str, stack: usize, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    let builder = if stack > 0 { builder.stack_size(stack) } else { builder };
    builder.spawn(body).map(drop)
}

fn bind_unix(folder: &Path, port: u16) -> Result<(UnixListener, PathBuf), NotStarted> {
    let path = folder.join(format!(".s.PGSQL.{port}"));
    // Left behind by a server that was killed: nobody answers there.
    if UnixStream::connect(&path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
        let _ = std::fs::remove_file(&path);
    }
    match UnixListener::bind(&path) {
        Ok(listener) => Ok((listener, path)),
        Err(error) => Err(NotStarted::Listen(path.display().to_string(), error)),
    }
}

/// Where to reach a server that listens on every address.
fn loopback(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(address) if address.ip().is_unspecified() => ([127, 0, 0, 1], address.port()).into(),
        SocketAddr::V6(address) if address.ip().is_unspecified() => {
            (std::net::Ipv6Addr::LOCALHOST, address.port()).into()
        }
        address => address,
    }
}
