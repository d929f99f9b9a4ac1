//! Whose statement goes next while several clients are at work.
//!
//! At the levels that real databases offer, a transaction sees whatever was committed before it began, so that anything
//! weak needs transactions that overlap. Clients in a test are quick and rarely do. Before a statement (or a commit) is
//! executed it therefore stops at a gate for a few milliseconds, until the others that are at work are at the gate too or
//! have finished; then one of them is picked, from the seed. A client that waits for a lock is not waited for. A client
//! that is alone at work goes at once, except that at times it lingers before a transaction, in case another one of those
//! that are connected is about to begin one; a client that is alone in the database never waits. Who has just connected is
//! waited for longer.
//!
//! How the next one is picked changes whenever everybody has come to rest: at random, or by priorities that change at
//! random moments (PCT, Burckhardt et al. 2010, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs").

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use skew_store::strategies::Dice;

/// How long a replay waits for a client that is to go next before it gives up on it.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long transactions wait for others that are open, where they are to run one after the other. An application that
/// opens two at a time would wait for ever; on a busy machine a client may need a while for its next statement.
const SERIAL_PATIENCE: Duration = Duration::from_millis(250);

/// Who has just connected is about to ask for something: it is waited for so many times as long.
const NEWS: u32 = 10;

/// The gate of one database.
pub struct Scheduler {
    hold: Duration,
    state: Mutex<State>,
}

/// How the next one is picked.
#[derive(Clone, Debug, Default)]
pub enum Order {
    /// From the seed, so that transactions overlap in many ways.
    #[default]
    Weak,
    /// A transaction goes when no other one is open.
    Serial,
    /// As in another run, connections by the order in which they came.
    Replay(Vec<u32>),
}

/// What happened at the gate.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// Whose statement or commit went, in order: connections by the order in which they came.
    pub order: Vec<u32>,
    /// How long clients were held, all together.
    pub held: Duration,
    /// How often a replay gave up on whoever was to go next.
    pub lost: usize,
}

/// A connection's place at the gate. It leaves when it is dropped.
pub struct Member {
    scheduler: Arc<Scheduler>,
    id: u64,
}

struct State {
    members: BTreeMap<u64, Place>,
    next_id: u64,
    random: Dice,
    strategy: Strategy,
    /// How often, in percent, who comes to the gate stops at all.
    patience: u64,
    /// How often, in percent, who begins a transaction alone lingers.
    delay: u64,
    /// Priorities that were lowered count down from here.
    lowest: i64,
    /// In a replay, who is to go.
    script: VecDeque<u32>,
    /// Kept for runs only: a server that runs for long has too many.
    turns: Option<Turns>,
}

struct Place {
    activity: Activity,
    /// Whether it does not wait for others to come to the gate.
    is_eager: bool,
    /// Whether it waits although nobody else is at work, in case somebody comes.
    lingers: bool,
    in_transaction: bool,
    priority: i64,
    thread: Option<Thread>,
}

impl Place {
    fn new(activity: Activity) -> Place {
        Place { activity, is_eager: false, lingers: false, in_transaction: false, priority: 0, thread: None }
    }

    fn is_new(&self, now: Instant, hold: Duration) -> bool {
        matches!(self.activity, Activity::New(_)) && self.activity.is_at_work(now, hold)
    }

    /// Whether its next statement begins a transaction.
    fn is_at_rest(&self) -> bool {
        matches!(self.activity, Activity::Idle | Activity::New(_))
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Activity {
    /// Has just come, and has asked for nothing yet.
    New(Instant),
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
    /// Whoever is in a transaction; if nobody is, whoever comes.
    Serial,
    /// Whoever the script names.
    Replay,
}

impl Strategy {
    /// How long the gate may hold a client.
    fn longest(self, hold: Duration) -> Duration {
        match self {
            Strategy::Random | Strategy::Priorities => hold,
            Strategy::Serial => SERIAL_PATIENCE,
            Strategy::Replay => PATIENCE,
        }
    }
}

impl Scheduler {
    /// A gate that holds nobody for longer than `hold`; zero: nobody at all.
    pub fn new(hold: Duration, seed: u64) -> Arc<Scheduler> {
        let state = State {
            members: BTreeMap::new(),
            next_id: 0,
            random: Dice::new(seed),
            strategy: Strategy::Random,
            patience: 100,
            delay: 0,
            lowest: 0,
            script: VecDeque::new(),
            turns: None,
        };
        Arc::new(Scheduler { hold, state: Mutex::new(state) })
    }

    /// A run begins: connections are counted anew, and turns are kept.
    pub fn begin_run(&self, seed: u64, order: Order) {
        let mut state = self.lock();
        if state.members.is_empty() {
            state.next_id = 0;
        }
        state.random = Dice::new(seed);
        state.new_strategy();
        match order {
            Order::Weak => {}
            Order::Serial => state.strategy = Strategy::Serial,
            Order::Replay(script) => {
                state.strategy = Strategy::Replay;
                state.script = script.into();
            }
        }
        state.turns = Some(Turns::default());
    }

    /// What has happened since the run began.
    pub fn turns(&self) -> Turns {
        self.lock().turns.clone().unwrap_or_default()
    }

    /// A connection comes.
    pub fn join(self: &Arc<Self>) -> Member {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.members.insert(id, Place::new(Activity::New(Instant::now())));
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
        let came = Instant::now();
        let Some(longest) = self.arrive() else { return };
        loop {
            let left = (came + longest).saturating_duration_since(Instant::now());
            if !left.is_zero() {
                std::thread::park_timeout(left);
            }
            let mut state = self.scheduler.lock();
            if state.place(self.id).activity == Activity::Held && left.is_zero() {
                state.goes_unasked(self.id);
            }
            let place = state.place(self.id);
            if place.activity != Activity::Held {
                place.thread = None;
                if let Some(turns) = &mut state.turns {
                    turns.held += came.elapsed();
                }
                return;
            }
        }
    }

    /// Whether nobody is ever held here.
    pub fn is_open(&self) -> bool {
        self.scheduler.hold.is_zero()
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

    /// How long to wait at the gate, if at all.
    fn arrive(&self) -> Option<Duration> {
        let mut state = self.scheduler.lock();
        let now = Instant::now();
        let hold = self.scheduler.hold;
        let is_free = matches!(state.strategy, Strategy::Random | Strategy::Priorities);
        let mut lingers = false;
        if is_free && !state.others_at_work(self.id, now, hold) {
            state.new_strategy();
            let delay = state.delay;
            lingers = state.members.len() > 1 && state.place(self.id).is_at_rest() && state.random.percent(delay);
            if !lingers {
                state.goes(self.id);
                return None;
            }
        }
        let patience = state.patience;
        let is_eager = is_free && !lingers && !state.random.percent(patience);
        state.enters(self.id);
        let place = state.place(self.id);
        (place.is_eager, place.lingers, place.thread) = (is_eager, lingers, Some(std::thread::current()));
        state.decide(now, hold);
        if state.place(self.id).activity != Activity::Held {
            return None;
        }
        let awaits_new = is_free && !is_eager && state.members.values().any(|place| place.is_new(now, hold));
        Some(if awaits_new { hold * NEWS } else { state.strategy.longest(hold) })
    }

    fn becomes(&self, activity: Activity) {
        if self.scheduler.hold.is_zero() {
            return;
        }
        let mut state = self.scheduler.lock();
        let place = state.place(self.id);
        place.activity = activity;
        match activity {
            Activity::Idle => place.in_transaction = false,
            Activity::Thinking(_) => place.in_transaction = true,
            _ => {}
        }
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

    /// Comes to the gate. Who was at rest gets a priority.
    fn enters(&mut self, id: u64) {
        let priority = (self.random.roll() >> 2) as i64;
        let place = self.place(id);
        if place.is_at_rest() {
            place.priority = priority;
        }
        place.activity = Activity::Held;
    }

    /// Goes: it is its turn.
    fn goes(&mut self, id: u64) {
        let place = self.place(id);
        (place.activity, place.lingers) = (Activity::Running, false);
        if let Some(thread) = place.thread.take() {
            thread.unpark();
        }
        if let Some(turns) = &mut self.turns {
            turns.order.push(id as u32);
        }
    }

    /// Has waited for long enough. In a replay that was not foreseen.
    fn goes_unasked(&mut self, id: u64) {
        if self.strategy == Strategy::Replay {
            if let Some(at) = self.script.iter().position(|next| u64::from(*next) == id) {
                self.script.remove(at);
            }
            if let Some(turns) = &mut self.turns {
                turns.lost += 1;
            }
        }
        self.goes(id);
    }

    fn new_strategy(&mut self) {
        self.strategy = if self.random.percent(50) { Strategy::Random } else { Strategy::Priorities };
        self.patience = [100, 75, 50, 25][(self.random.roll() % 4) as usize];
        self.delay = [0, 0, 50, 100][(self.random.roll() % 4) as usize];
        self.lowest = 0;
    }

    /// Lets one of those at the gate go, if it is time. One goes at a time: the order of turns is the order of statements.
    fn decide(&mut self, now: Instant, hold: Duration) {
        if self.members.values().any(|place| place.activity == Activity::Running) {
            return;
        }
        let held = |(_, place): &(&u64, &Place)| place.activity == Activity::Held;
        let eager = self.members.iter().filter(held).find(|(_, place)| place.is_eager).map(|(&id, _)| id);
        if let Some(id) = eager {
            return self.goes(id);
        }
        let at_work = || self.members.iter().filter(|(_, place)| place.activity.is_at_work(now, hold));
        if at_work().count() == 1 && at_work().all(|(_, place)| place.lingers) {
            return;
        }
        let picked = match self.strategy {
            Strategy::Random => {
                if at_work().any(|member| !held(&member)) {
                    return;
                }
                let count = at_work().count() as u64;
                if count == 0 {
                    return;
                }
                let nth = self.random.roll() % count;
                self.members.iter().filter(held).nth(nth as usize).map(|(&id, _)| id)
            }
            Strategy::Priorities => at_work().max_by_key(|(_, place)| place.priority).filter(held).map(|(&id, _)| id),
            Strategy::Serial => {
                let mut inside = self.members.iter().filter(|(_, place)| place.in_transaction).peekable();
                match inside.peek() {
                    Some(_) => inside.find(held).map(|(&id, _)| id),
                    None => self.members.iter().find(held).map(|(&id, _)| id),
                }
            }
            Strategy::Replay => {
                let next = self.script.front().map(|next| u64::from(*next));
                match next {
                    Some(next) => self.members.iter().filter(held).find(|(id, _)| **id == next).map(|(&id, _)| id),
                    // The run goes on longer than the one that is replayed.
                    None => self.members.iter().find(held).map(|(&id, _)| id),
                }
            }
        };
        let Some(id) = picked else { return };
        if self.strategy == Strategy::Replay {
            self.script.pop_front();
        }
        let changes_priority = self.random.percent(15);
        self.lowest -= i64::from(changes_priority);
        let lowest = self.lowest;
        if changes_priority {
            self.place(id).priority = lowest;
        }
        self.goes(id);
    }
}

impl Activity {
    /// Whether it is worth waiting for this one to come to the gate (or it is there). Who left a transaction open and
    /// sends nothing is forgotten after a while.
    fn is_at_work(self, now: Instant, hold: Duration) -> bool {
        match self {
            Activity::Idle | Activity::Blocked => false,
            Activity::Running | Activity::Held => true,
            Activity::New(since) => now.saturating_duration_since(since) < hold * NEWS,
            Activity::Thinking(since) => now.saturating_duration_since(since) < hold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(60);

    fn state(activities: &[Activity], strategy: Strategy) -> State {
        let place =
            |(id, &activity): (usize, &Activity)| (id as u64, Place { priority: id as i64, ..Place::new(activity) });
        State {
            members: activities.iter().enumerate().map(place).collect(),
            next_id: 9,
            random: Dice::new(7),
            strategy,
            patience: 100,
            delay: 0,
            lowest: 0,
            script: VecDeque::new(),
            turns: None,
        }
    }

    fn running(state: &State) -> Vec<u64> {
        let is_running = |(_, place): &(&u64, &Place)| place.activity == Activity::Running;
        state.members.iter().filter(is_running).map(|(&id, _)| id).collect()
    }

    #[test]
    fn who_is_alone_never_waits() {
        let scheduler = Scheduler::new(LONG, 0);
        let alone = scheduler.join();
        for number in 0..100 {
            alone.turn();
            alone.rest(number % 2 == 0);
        }
    }

    #[test]
    fn within_a_transaction_nobody_waits_for_those_at_rest() {
        let scheduler = Scheduler::new(LONG, 0);
        let (one, idle) = (scheduler.join(), scheduler.join());
        idle.rest(false);
        one.rest(true);
        for _ in 0..100 {
            one.turn();
            one.rest(true);
        }
    }

    #[test]
    fn who_lingers_before_a_transaction_meets_the_next_one() {
        let mut state = state(&[Activity::Held, Activity::Idle], Strategy::Priorities);
        state.place(0).lingers = true;
        state.decide(Instant::now(), LONG);
        assert_eq!(running(&state), []);
        state.place(1).activity = Activity::Held;
        state.decide(Instant::now(), LONG);
        assert_eq!(running(&state), [1]);
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
        other.rest(false);
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

    #[test]
    fn one_after_the_other_a_transaction_waits_for_the_one_that_is_open() {
        let mut state = state(&[Activity::Held, Activity::Thinking(Instant::now())], Strategy::Serial);
        state.place(1).in_transaction = true;
        state.decide(Instant::now(), LONG);
        assert_eq!(running(&state), []);
        (state.place(1).in_transaction, state.place(1).activity) = (false, Activity::Idle);
        state.decide(Instant::now(), LONG);
        assert_eq!(running(&state), [0]);
    }

    #[test]
    fn a_replay_lets_clients_go_in_the_order_of_the_script() {
        let mut state = state(&[Activity::Held, Activity::Held], Strategy::Replay);
        (state.script, state.turns) = ([1, 0, 1].into(), Some(Turns::default()));
        for next in [1, 0] {
            state.decide(Instant::now(), LONG);
            assert_eq!(running(&state), [next]);
            state.place(next).activity = Activity::Thinking(Instant::now());
        }
        state.place(0).activity = Activity::Held;
        state.decide(Instant::now(), LONG);
        assert_eq!(running(&state), [], "it is the other one's turn");
        state.goes_unasked(0);
        assert_eq!(state.turns.as_ref().map(|turns| (turns.order.clone(), turns.lost)), Some((vec![1, 0, 0], 1)));
    }

    #[test]
    fn one_goes_at_a_time() {
        let mut state = state(&[Activity::Running, Activity::Held], Strategy::Priorities);
        state.decide(Instant::now(), LONG);
        assert_eq!(running(&state), [0]);
    }

    #[test]
    fn a_run_is_recorded_and_counts_connections_anew() {
        let scheduler = Scheduler::new(Duration::from_millis(1), 0);
        for _ in 0..2 {
            scheduler.begin_run(7, Order::Weak);
            let (one, other) = (scheduler.join(), scheduler.join());
            for member in [&one, &other, &one] {
                member.turn();
                member.rest(false);
            }
            assert_eq!(scheduler.turns().order, [0, 1, 0]);
        }
    }
}
