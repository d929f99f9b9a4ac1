//! Notices that a client hangs up while its statement waits for a lock: nobody reads from its socket then.
//!
//! One thread watches the sockets of all that wait, and sleeps while none of them closes.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};

use crate::socket::Socket;

#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOSED: PollFlags = PollFlags::RDHUP.union(PollFlags::HUP).union(PollFlags::ERR);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::ERR);

type Action = Box<dyn FnOnce() + Send>;

/// The thread that watches. It ends with its last handle.
#[derive(Default)]
pub(crate) struct Hangups {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    watched: BTreeMap<u64, (Arc<Socket>, Action)>,
    next: u64,
    /// Wakes the thread, once there is one.
    waker: Option<OwnedFd>,
    is_over: bool,
}

/// A socket is watched until this is dropped.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    id: u64,
}

impl Hangups {
    /// Does `action` when the client behind the socket hangs up. Without a thread to watch nothing is noticed before
    /// the wait is over.
    pub(crate) fn watch(&self, socket: &Arc<Socket>, action: impl FnOnce() + Send + 'static) -> Watch {
        let mut state = self.shared.lock();
        let id = state.next;
        state.next += 1;
        state.watched.insert(id, (Arc::clone(socket), Box::new(action)));
        match &state.waker {
            Some(waker) => wake(waker),
            None => state.waker = start(&self.shared),
        }
        Watch { shared: Arc::clone(&self.shared), id }
    }
}

impl Drop for Hangups {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        state.waker.iter().for_each(wake);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The thread may look at the socket once more, and finds nothing to do.
        self.shared.lock().watched.remove(&self.id);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(waker: &OwnedFd) {
    // A full pipe wakes it as well.
    let _ = rustix::io::write(waker, &[0]);
}

fn start(shared: &Arc<Shared>) -> Option<OwnedFd> {
    let (reader, writer) = rustix::pipe::pipe().ok()?;
    let shared = Arc::clone(shared);
    let thread = std::thread::Builder::new().name("skew-hangups".to_owned()).spawn(move || watch(&shared, &reader));
    thread.ok().map(|_| writer)
}

fn watch(shared: &Shared, woken: &OwnedFd) {
    loop {
        let sockets: Vec<(u64, Arc<Socket>)> = {
            let state = shared.lock();
            if state.is_over {
                return;
            }
            state.watched.iter().map(|(&id, (socket, _))| (id, Arc::clone(socket))).collect()
        };
        for id in closed(&sockets, woken) {
            // Done outside of the lock: it may take others.
            let gone = shared.lock().watched.remove(&id);
            if let Some((_, action)) = gone {
                action();
            }
        }
    }
}

/// Sleeps until a socket closes or somebody wakes it.
fn closed(sockets: &[(u64, Arc<Socket>)], woken: &OwnedFd) -> Vec<u64> {
    let mut polled = vec![PollFd::new(woken, PollFlags::IN)];
    polled.extend(sockets.iter().map(|(_, socket)| PollFd::from_borrowed_fd(socket.as_fd(), CLOSED)));
    if poll(&mut polled, None).is_err() {
        // Interrupted: look again.
        return Vec::new();
    }
    if !polled[0].revents().is_empty() {
        let _ = rustix::io::read(woken, &mut [0; 64]);
    }
    let is_closed =
        |(polled, (id, _)): (&PollFd<'_>, &(u64, Arc<Socket>))| polled.revents().intersects(CLOSED).then_some(*id);
    polled[1..].iter().zip(sockets).filter_map(is_closed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::Stream;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_client_that_hangs_up_is_noticed() {
        let hangups = Hangups::default();
        let (server, client) = UnixStream::pair().expect("a pair of sockets");
        let (other, _stays) = UnixStream::pair().expect("a pair of sockets");
        let (sender, receiver) = mpsc::channel();
        let second = sender.clone();
        let _stays_watched =
            hangups.watch(&Arc::new(Stream::Unix(other).into()), move || second.send("other").unwrap_or(()));
        let _watched =
            hangups.watch(&Arc::new(Stream::Unix(server).into()), move || sender.send("client").unwrap_or(()));
        (&client).write_all(b"what was sent before does not hide it").expect("written");
        drop(client);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok("client"));
    }

    #[test]
    fn who_is_not_watched_any_more_is_left_alone() {
        let hangups = Hangups::default();
        let (server, client) = UnixStream::pair().expect("a pair of sockets");
        let (sender, receiver) = mpsc::channel();
        drop(hangups.watch(&Arc::new(Stream::Unix(server).into()), move || sender.send(()).unwrap_or(())));
        drop(client);
        assert!(receiver.recv().is_err(), "the action is dropped without being done");
    }
}
