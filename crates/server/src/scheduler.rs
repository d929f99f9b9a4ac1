//! Whose statement goes next while several clients are at work.
//!
//! At the levels that real databases offer, a transaction sees whatever was committed before it began, so that anything
//! weak needs transactions that overlap. Clients in a test are quick and rarely do. Before a statement (or a commit) is
//! executed it therefore stops at a gate for a few milliseconds, until the others that are at work are at the gate too or
//! have finished; then one of them is picked, from the seed. A client that is alone at work never waits, and a client
//! that waits for a lock is not waited for.
//!
//! How the next one is picked changes whenever everybody has come to rest: at random, or by priorities that change at
//! random moments (PCT, Burckhardt et al. 2010, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs").

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// The gate of one database.
pub struct Scheduler {
    hold: Duration,
    state: Mutex<State>,
}

/// A connection's place at the gate. It leaves when it is dropped.
pub struct Member {
    scheduler: Arc<Scheduler>,
    id: u64,
}

struct State {
    members: BTreeMap<u64, Place>,
    next_id: u64,
    random: Random,
    strategy: Strategy,
    /// How often, in percent, who comes to the gate stops at all.
    patience: u64,
    /// Priorities that were lowered count down from here.
    lowest: i64,
}

struct Place {
    activity: Activity,
    priority: i64,
    thread: Option<Thread>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Activity {
    /// No transaction.
    Idle,
    /// In a transaction; its client was answered at this moment.
    Thinking(Instant),
    /// A statement is executed.
    Running,
    /// At the gate.
    Held,
    /// A statement waits for a lock.
    Blocked,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Strategy {
    /// When everybody is at the gate, anybody.
    Random,
    /// Whoever has the highest priority of all at work, as soon as it is at the gate.
    Priorities,
}

impl Scheduler {
    /// A gate that holds nobody for longer than `hold`; zero: nobody at all.
    pub fn new(hold: Duration, seed: u64) -> Arc<Scheduler> {
        let state = State {
            members: BTreeMap::new(),
            next_id: 0,
            random: Random(seed),
            strategy: Strategy::Random,
            patience: 100,
            lowest: 0,
        };
        Arc::new(Scheduler { hold, state: Mutex::new(state) })
    }

    /// A connection comes.
    pub fn join(self: &Arc<Self>) -> Member {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.members.insert(id, Place { activity: Activity::Idle, priority: 0, thread: None });
        drop(state);
        Member { scheduler: Arc::clone(self), id }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Stops at the gate before a statement or a commit. Returns when it is this connection's turn.
    pub fn turn(&self) {
        if self.scheduler.hold.is_zero() {
            return;
        }
        let deadline = Instant::now() + self.scheduler.hold;
        if !self.arrive() {
            return;
        }
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                std::thread::park_timeout(left);
            }
            let mut state = self.scheduler.lock();
            let place = state.place(self.id);
            if place.activity == Activity::Held && left.is_zero() {
                place.activity = Activity::Running;
            }
            if place.activity != Activity::Held {
                place.thread = None;
                return;
            }
        }
    }

    /// The client was answered.
    pub fn rest(&self, in_transaction: bool) {
        self.becomes(match in_transaction {
            true => Activity::Thinking(Instant::now()),
            false => Activity::Idle,
        });
    }

    /// The statement waits for a lock.
    pub fn blocked(&self) {
        self.becomes(Activity::Blocked);
    }

    /// The statement goes on.
    pub fn unblocked(&self) {
        self.becomes(Activity::Running);
    }

    /// Whether to wait at the gate.
    fn arrive(&self) -> bool {
        let mut state = self.scheduler.lock();
        let now = Instant::now();
        let hold = self.scheduler.hold;
        if !state.others_at_work(self.id, now, hold) {
            state.new_strategy();
            state.enters(self.id, Activity::Running);
            return false;
        }
        let patience = state.patience;
        if !state.random.percent(patience) {
            state.enters(self.id, Activity::Running);
            return false;
        }
        state.enters(self.id, Activity::Held);
        state.place(self.id).thread = Some(std::thread::current());
        state.decide(now, hold);
        state.place(self.id).activity == Activity::Held
    }

    fn becomes(&self, activity: Activity) {
        if self.scheduler.hold.is_zero() {
            return;
        }
        let mut state = self.scheduler.lock();
        state.place(self.id).activity = activity;
        state.decide(Instant::now(), self.scheduler.hold);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut state = self.scheduler.lock();
        state.members.remove(&self.id);
        state.decide(Instant::now(), self.scheduler.hold);
    }
}

impl State {
    fn place(&mut self, id: u64) -> &mut Place {
        self.members.get_mut(&id).expect("members are at the gate until they are dropped")
    }

    fn others_at_work(&self, id: u64, now: Instant, hold: Duration) -> bool {
        self.members.iter().any(|(&other, place)| other != id && place.activity.is_at_work(now, hold))
    }

    /// Leaves rest, if it was at rest: it gets a priority.
    fn enters(&mut self, id: u64, activity: Activity) {
        let priority = (self.random.next() >> 2) as i64;
        let place = self.place(id);
        if place.activity == Activity::Idle {
            place.priority = priority;
        }
        place.activity = activity;
    }

    fn new_strategy(&mut self) {
        self.strategy = if self.random.percent(50) { Strategy::Random } else { Strategy::Priorities };
        self.patience = [100, 75, 50, 25][(self.random.next() % 4) as usize];
        self.lowest = 0;
    }

    /// Lets one of those at the gate go, if it is time.
    fn decide(&mut self, now: Instant, hold: Duration) {
        let at_work = || self.members.iter().filter(|(_, place)| place.activity.is_at_work(now, hold));
        let held = |(_, place): &(&u64, &Place)| place.activity == Activity::Held;
        let picked = match self.strategy {
            Strategy::Random => {
                if at_work().any(|member| !held(&member)) {
                    return;
                }
                let count = at_work().count() as u64;
                if count == 0 {
                    return;
                }
                let nth = self.random.next() % count;
                self.members.iter().filter(held).nth(nth as usize).map(|(&id, _)| id)
            }
            Strategy::Priorities => at_work().max_by_key(|(_, place)| place.priority).filter(held).map(|(&id, _)| id),
        };
        let Some(id) = picked else { return };
        let changes_priority = self.random.percent(15);
        self.lowest -= i64::from(changes_priority);
        let lowest = self.lowest;
        let place = self.place(id);
        if changes_priority {
            place.priority = lowest;
        }
        place.activity = Activity::Running;
        if let Some(thread) = place.thread.take() {
            thread.unpark();
        }
    }
}

impl Activity {
    /// Whether it is worth waiting for this one to come to the gate (or it is there). Who left a transaction open and
    /// sends nothing is forgotten after a while.
    fn is_at_work(self, now: Instant, hold: Duration) -> bool {
        match self {
            Activity::Idle | Activity::Blocked => false,
            Activity::Running | Activity::Held => true,
            Activity::Thinking(since) => now.saturating_duration_since(since) < hold,
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.next() % 100 < chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(60);

    fn state(activities: &[Activity], strategy: Strategy) -> State {
        let place =
            |(id, &activity): (usize, &Activity)| (id as u64, Place { activity, priority: id as i64, thread: None });
        State {
            members: activities.iter().enumerate().map(place).collect(),
            next_id: 9,
            random: Random(7),
            strategy,
            patience: 100,
            lowest: 0,
        }
    }

    fn running(state: &State) -> Vec<u64> {
        let is_running = |(_, place): &(&u64, &Place)| place.activity == Activity::Running;
        state.members.iter().filter(is_running).map(|(&id, _)| id).collect()
    }

    #[test]
    fn who_is_alone_never_waits() {
        let scheduler = Scheduler::new(LONG, 0);
        let (alone, _idle) = (scheduler.join(), scheduler.join());
        for _ in 0..100 {
            alone.turn();
            alone.rest(true);
        }
    }

    #[test]
    fn without_a_hold_nobody_waits() {
        let scheduler = Scheduler::new(Duration::ZERO, 0);
        let (one, other) = (scheduler.join(), scheduler.join());
        one.turn();
        other.turn();
    }

    #[test]
    fn when_everybody_is_at_the_gate_one_goes() {
        for strategy in [Strategy::Random, Strategy::Priorities] {
            let mut state = state(&[Activity::Held, Activity::Held, Activity::Idle, Activity::Blocked], strategy);
            state.decide(Instant::now(), LONG);
            assert_eq!(running(&state).len(), 1, "{strategy:?}");
        }
    }

    #[test]
    fn the_gate_waits_for_those_at_work() {
        let now = Instant::now();
        let mut waiting = state(&[Activity::Held, Activity::Thinking(now)], Strategy::Random);
        waiting.decide(now, LONG);
        assert_eq!(running(&waiting), []);
        waiting.decide(now + LONG, LONG);
        assert_eq!(running(&waiting), [0], "nobody waits for a client that went away for coffee");
    }

    #[test]
    fn who_has_the_highest_priority_waits_for_nobody() {
        let now = Instant::now();
        let mut high = state(&[Activity::Thinking(now), Activity::Held], Strategy::Priorities);
        high.decide(now, LONG);
        assert_eq!(running(&high), [1]);
        let mut low = state(&[Activity::Held, Activity::Thinking(now)], Strategy::Priorities);
        low.decide(now, LONG);
        assert_eq!(running(&low), []);
    }

    #[test]
    fn who_waits_at_the_gate_goes_when_the_other_one_leaves() {
        let scheduler = Scheduler::new(LONG, 3);
        let (one, other) = (scheduler.join(), scheduler.join());
        one.turn();
        one.rest(true);
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            other.turn();
            sender.send(()).expect("the test listens");
        });
        drop(one);
        receiver.recv_timeout(LONG).expect("the gate opens");
        thread.join().expect("no panic");
    }
}
