//! Whose statement goes next while several clients are at work.
//!
//! At the levels that real databases offer, a transaction sees whatever was committed before it began, so that anything
//! weak needs transactions that overlap. Clients in a test are quick and rarely do. Before a statement (or a commit) is
//! executed it therefore stops at a gate for a few milliseconds, until the others that are at work are at the gate too or
//! have finished; then one of them is picked, from the seed. A client that waits for a lock is not waited for. A client
//! that is alone at work goes at once, except that at times it lingers before a transaction, in case another one of those
//! that are connected is about to begin one; a client that is alone in the database never waits. A client that has just
//! connected is waited for longer, and one whose transaction has just ended is waited for at times: most begin the next
//! one at once, and a transaction that was held before can be held until that one has ended, too.
//!
//! How the next one is picked changes whenever everybody has come to rest: at random, or by priorities that change at
//! random moments (PCT, Burckhardt et al. 2010, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs").

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use skew_store::strategies::Dice;

use crate::directed::{Directed, Directions};

/// How long a replay waits for a client that is to go next before it gives up on it.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long transactions wait for others that are open, where they are to run one after the other. An application that
/// opens two at a time would wait for ever; on a busy machine a client may need a while for its next statement.
const SERIAL_PATIENCE: Duration = Duration::from_millis(250);

/// How long a transaction that is held after a read waits for others, while nothing happens.
const DIRECTED_PATIENCE: Duration = Duration::from_millis(150);

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

/// A transaction of a run: its connection, by the order in which they came, and its number among the connection's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TxnPlace {
    /// The connection.
    pub member: u32,
    /// Which of the connection's transactions, from 0.
    pub txn: u32,
}

/// What a rerun forces: a transaction waits, from one of its statements on, until another transaction has ended or has
/// come so far. Statements are counted from 0, BEGIN included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Forced {
    /// The transaction that waits.
    pub waits: TxnPlace,
    /// Its first statement that waits.
    pub from: u32,
    /// The transaction that it waits for.
    pub until: TxnPlace,
    /// The statement of that one after which the wait is over; `None`: its end.
    pub until_statement: Option<u32>,
}

/// What happened at the gate, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GateEvent {
    /// A statement went.
    Went {
        /// Its transaction.
        txn: TxnPlace,
        /// Its number in the transaction, from 0.
        statement: u32,
        /// The SQL; empty for the commit of a transaction that no statement began.
        text: Arc<str>,
    },
    /// A statement that had waited for a lock goes on.
    Resumed(u32),
    /// A transaction has ended.
    Ended(TxnPlace),
    /// A connection has come.
    Joined(u32),
}

/// What happened at the gate.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// Whose statement or commit went, in order: connections by the order in which they came.
    pub order: Vec<u32>,
    /// The same with their transactions, waits and ends.
    pub events: Vec<GateEvent>,
    /// How often what was forced could not be kept up, because nothing else went on.
    pub broken: usize,
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
    /// Whether a client whose transaction has ended is waited for: its next one probably begins soon.
    awaits_next: bool,
    /// Priorities that were lowered count down from here.
    lowest: i64,
    /// In a replay, who is to go.
    script: VecDeque<u32>,
    /// Connections of the script that were given up on, until they come to the gate.
    late: BTreeSet<u64>,
    /// What waits for what.
    forced: Vec<Forced>,
    /// How far each transaction has come that something waits for: statements answered.
    answered: BTreeMap<TxnPlace, u32>,
    /// How many transactions of each connection have ended.
    ended: BTreeMap<u32, u32>,
    /// What is tried before chance.
    directed: Directed,
    /// When something last happened at the gate.
    progress: Instant,
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
    /// How many transactions have begun.
    begun: u32,
    /// The number of the next statement in the transaction.
    statement: u32,
    /// The SQL that is at the gate.
    text: Arc<str>,
}

impl Place {
    fn new(activity: Activity) -> Place {
        Place {
            activity,
            is_eager: false,
            lingers: false,
            in_transaction: false,
            priority: 0,
            thread: None,
            begun: 0,
            statement: 0,
            text: Arc::from(""),
        }
    }

    /// The transaction that it is in, or was in last.
    fn txn(&self, id: u64) -> TxnPlace {
        TxnPlace { member: id as u32, txn: self.begun.saturating_sub(1) }
    }

    fn is_new(&self, now: Instant, hold: Duration) -> bool {
        matches!(self.activity, Activity::New(_)) && self.activity.is_at_work(now, hold)
    }

    /// Whether its next statement begins a transaction.
    fn is_at_rest(&self) -> bool {
        self.activity.is_at_rest()
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Activity {
    /// Has just come, and has asked for nothing yet.
    New(Instant),
    /// No transaction.
    Idle,
    /// No transaction since this moment; its client is about to begin another one, perhaps.
    Between(Instant),
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
            awaits_next: false,
            lowest: 0,
            script: VecDeque::new(),
            late: BTreeSet::new(),
            forced: Vec::new(),
            answered: BTreeMap::new(),
            ended: BTreeMap::new(),
            directed: Directed::default(),
            progress: Instant::now(),
            turns: None,
        };
        Arc::new(Scheduler { hold, state: Mutex::new(state) })
    }

    /// A run begins: connections are counted anew, and turns are kept.
    pub fn begin_run(&self, seed: u64, order: Order, forced: &[Forced]) {
        let mut state = self.lock();
        if state.members.is_empty() {
            state.next_id = 0;
        }
        state.script.clear();
        state.late.clear();
        state.forced = forced.to_vec();
        state.answered.clear();
        state.ended.clear();
        state.directed = Directed::default();
        state.progress = Instant::now();
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

    /// The run that has begun tries this before chance.
    pub fn direct(&self, directions: &Directions) {
        self.lock().directed = Directed::new(directions.clone());
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
        if let Some(turns) = &mut state.turns {
            turns.events.push(GateEvent::Joined(id as u32));
        }
        drop(state);
        Member { scheduler: Arc::clone(self), id }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Stops at the gate before a statement or a commit. Returns when it is this connection's turn. `text` is the
    /// statement's SQL, empty for the commit of a transaction that no statement began.
    pub fn turn(&self, text: &str) {
        if self.scheduler.hold.is_zero() {
            return;
        }
        let came = Instant::now();
        let Some(longest) = self.arrive(text) else { return };
        let mut late = came + longest;
        loop {
            let left = late.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                std::thread::park_timeout(left);
            }
            let mut state = self.scheduler.lock();
            if state.place(self.id).activity == Activity::Held && left.is_zero() {
                // In a rerun the gate waits as long as anything goes on.
                let waits = state.strategy == Strategy::Replay || state.must_wait(self.id);
                let is_directed = state.directed.is_active();
                let patient = state.progress + if is_directed { DIRECTED_PATIENCE } else { PATIENCE };
                if waits && patient > Instant::now() {
                    late = patient;
                    continue;
                }
                state.goes_unasked(self.id);
            }
            let place = state.place(self.id);
            if place.activity != Activity::Held {
                place.thread = None;
                // A client that was held in vain, alone, has overlapped with nothing.
                let is_alone = state.members.len() < 2;
                if let Some(turns) = state.turns.as_mut().filter(|_| !is_alone) {
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
    fn arrive(&self, text: &str) -> Option<Duration> {
        let mut state = self.scheduler.lock();
        state.comes(self.id, text);
        let now = Instant::now();
        let hold = self.scheduler.hold;
        let is_free = matches!(state.strategy, Strategy::Random | Strategy::Priorities);
        let mut lingers = false;
        if is_free && !state.must_wait(self.id) && !state.others_at_work(self.id, now, hold) {
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
        let was = std::mem::replace(&mut place.activity, activity);
        let txn = place.txn(self.id);
        match activity {
            Activity::Idle => place.in_transaction = false,
            Activity::Thinking(_) => place.in_transaction = true,
            _ => {}
        }
        state.notes(txn, was, activity);
        let is_free = matches!(state.strategy, Strategy::Random | Strategy::Priorities);
        if activity == Activity::Idle && is_free && state.awaits_next {
            state.place(self.id).activity = Activity::Between(Instant::now());
        }
        state.decide(Instant::now(), self.scheduler.hold);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut state = self.scheduler.lock();
        let place = state.members.remove(&self.id);
        if let Some(place) = place.filter(|place| place.begun > 0 && !place.is_at_rest()) {
            state.notes(place.txn(self.id), place.activity, Activity::Idle);
        }
        state.decide(Instant::now(), self.scheduler.hold);
    }
}

impl State {
    /// A statement comes to the gate; the first one after a rest begins a transaction.
    fn comes(&mut self, id: u64, text: &str) {
        let is_run = self.turns.is_some();
        let place = self.place(id);
        if place.is_at_rest() {
            place.begun += 1;
            place.statement = 0;
        }
        if is_run {
            place.text = Arc::from(text);
        }
        self.late.remove(&id);
    }

    /// What has become of a connection's transaction.
    fn notes(&mut self, txn: TxnPlace, was: Activity, is: Activity) {
        // A statement that waits for a lock wakes now and then to look again: that is no progress.
        if matches!(is, Activity::Idle | Activity::Thinking(_)) {
            self.progress = Instant::now();
        }
        if is == Activity::Blocked {
            self.directed.blocked(txn);
        }
        if matches!(is, Activity::Idle | Activity::Thinking(_)) && !self.forced.is_empty() {
            let statements = self.members.get(&u64::from(txn.member)).map_or(u32::MAX, |place| place.statement);
            self.answered.insert(txn, statements);
        }
        let is_end = is == Activity::Idle && !was.is_at_rest();
        if is_end {
            self.ended.insert(txn.member, txn.txn + 1);
            self.directed.ended(txn);
        }
        if let Some(turns) = &mut self.turns {
            if is_end {
                turns.events.push(GateEvent::Ended(txn));
            }
            let resumed = GateEvent::Resumed(txn.member);
            if was == Activity::Blocked && is == Activity::Running && turns.events.last() != Some(&resumed) {
                turns.events.push(resumed);
            }
        }
    }

    /// Whether the statement at the gate is forced to wait.
    fn must_wait(&self, id: u64) -> bool {
        let Some(place) = self.members.get(&id) else { return false };
        // The commit of a read that is a transaction of its own belongs to the read.
        if !place.text.is_empty()
            && (self.directed.holds(id) || self.comes_second(id, place) || self.gives_way(id, place))
        {
            return true;
        }
        if self.forced.is_empty() {
            return false;
        }
        let txn = place.txn(id);
        let is_over = |forced: &Forced| match forced.until_statement {
            _ if self.ended.get(&forced.until.member).is_some_and(|ended| *ended > forced.until.txn) => true,
            None => false,
            Some(statement) => self.answered.get(&forced.until).is_some_and(|answered| *answered > statement),
        };
        self.forced.iter().any(|one| one.waits == txn && place.statement >= one.from && !is_over(one))
    }

    /// Whether a statement waits until the transaction that is to be held has come to the place where it is held.
    fn gives_way(&self, id: u64, place: &Place) -> bool {
        let is_coming = |awaited: &u64| {
            let activity = self.members.get(awaited).map(|place| place.activity);
            *awaited != id && matches!(activity, Some(Activity::Held | Activity::Running | Activity::Thinking(_)))
        };
        self.directed.awaited().filter(is_coming).is_some() && self.directed.concerns(&place.text)
    }

    /// Whether a transaction waits for a writer that is at work, as the directions want it.
    fn comes_second(&self, id: u64, place: &Place) -> bool {
        let is_writer = |(&other, at_work): (&u64, &Place)| {
            let is_open = !at_work.is_at_rest() && other != id && !self.directed.holds(other);
            is_open && self.directed.is_writer(at_work.txn(other), &at_work.text)
        };
        self.directed.comes_second(id, place.txn(id), &place.text) && self.members.iter().any(is_writer)
    }

    /// The connections at the gate that are allowed to go.
    fn ready(&self) -> Vec<u64> {
        let held = self.members.iter().filter(|(_, place)| place.activity == Activity::Held);
        held.map(|(&id, _)| id).filter(|&id| !self.must_wait(id)).collect()
    }

    /// The connection that is to go next in a replay, if it is at the gate. Connections that cannot come now are passed
    /// over: those that are forced to wait, wait for a lock, or were given up on.
    fn scripted(&mut self) -> Option<u64> {
        let ready = self.ready();
        let cannot_come = |id: u64| {
            let activity = self.members.get(&id).map(|place| place.activity);
            self.late.contains(&id)
                || (activity == Some(Activity::Held) && !ready.contains(&id))
                || (activity == Some(Activity::Blocked) && !self.forced.is_empty())
        };
        let next = self.script.iter().position(|next| !cannot_come(u64::from(*next)));
        match next {
            Some(at) => {
                let id = u64::from(self.script[at]);
                ready.contains(&id).then(|| {
                    self.script.remove(at);
                    id
                })
            }
            // The run goes on longer than the one that is replayed.
            None => ready.first().copied(),
        }
    }

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
        let (txn, statement, text) = (place.txn(id), place.statement, place.text.clone());
        place.statement += 1;
        self.progress = Instant::now();
        if let Some(turns) = &mut self.turns {
            turns.order.push(id as u32);
            turns.events.push(GateEvent::Went { txn, statement, text: Arc::clone(&text) });
        }
        self.directed.goes(id, txn, &text);
    }

    /// Has waited for long enough. In a replay that was not foreseen.
    fn goes_unasked(&mut self, id: u64) {
        if self.must_wait(id) {
            let txn = self.place(id).txn(id);
            self.directed.release();
            self.forced.retain(|forced| forced.waits != txn);
            if let Some(turns) = &mut self.turns {
                turns.broken += 1;
            }
        }
        if self.strategy == Strategy::Replay {
            let awaited = self.script.front().map(|next| u64::from(*next)).filter(|next| *next != id);
            self.late.extend(awaited);
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
        self.awaits_next = self.random.percent(50);
        self.lowest = 0;
    }

    /// Lets one of those at the gate go, if it is time. One goes at a time: the order of turns is the order of statements.
    fn decide(&mut self, now: Instant, hold: Duration) {
        if self.members.values().any(|place| place.activity == Activity::Running) {
            return;
        }
        let ready = self.ready();
        let eager = ready.iter().copied().find(|id| self.members[id].is_eager);
        if let Some(id) = eager {
            return self.goes(id);
        }
        let waits = |id: &u64| self.members[id].activity == Activity::Held && !ready.contains(id);
        let at_work: Vec<u64> = self
            .members
            .iter()
            .filter(|(id, place)| place.activity.is_at_work(now, hold) && !waits(id))
            .map(|(&id, _)| id)
            .collect();
        if at_work.len() == 1 && self.members[&at_work[0]].lingers {
            return;
        }
        let picked = match self.strategy {
            Strategy::Random => {
                if at_work.is_empty() || at_work.iter().any(|id| !ready.contains(id)) {
                    return;
                }
                let nth = self.random.roll() % at_work.len() as u64;
                ready.get(nth as usize).copied()
            }
            Strategy::Priorities => {
                at_work.into_iter().max_by_key(|id| self.members[id].priority).filter(|id| ready.contains(id))
            }
            Strategy::Serial => {
                let mut inside = self.members.iter().filter(|(_, place)| place.in_transaction).peekable();
                match inside.peek() {
                    Some(_) => inside.map(|(&id, _)| id).find(|id| ready.contains(id)),
                    None => ready.first().copied(),
                }
            }
            Strategy::Replay => self.scripted(),
        };
        let Some(id) = picked else { return };
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
            Activity::Thinking(since) | Activity::Between(since) => now.saturating_duration_since(since) < hold,
        }
    }

    fn is_at_rest(self) -> bool {
        matches!(self, Activity::Idle | Activity::Between(_) | Activity::New(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directed::{Holder, Point, Wait};
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
            awaits_next: false,
            lowest: 0,
            script: VecDeque::new(),
            late: BTreeSet::new(),
            forced: Vec::new(),
            answered: BTreeMap::new(),
            ended: BTreeMap::new(),
            directed: Directed::default(),
            progress: Instant::now(),
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
            alone.turn("");
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
            one.turn("");
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
        one.turn("");
        other.turn("");
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
        one.turn("");
        one.rest(true);
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            other.turn("");
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

    /// Runs a member's statements, each in one transaction, in a thread of its own.
    fn transaction(member: Member, statements: usize) -> std::thread::JoinHandle<()> {
        std::thread::spawn(move || {
            for at in 1..=statements {
                member.turn("SELECT 1");
                member.rest(at < statements);
            }
        })
    }

    #[test]
    fn a_transaction_that_is_forced_to_wait_begins_after_the_end_of_the_other_one() {
        let scheduler = Scheduler::new(Duration::from_millis(1), 0);
        let place = |member| TxnPlace { member, txn: 0 };
        let forced = Forced { waits: place(0), from: 0, until: place(1), until_statement: None };
        // The run that is repeated had both at work at the same time.
        scheduler.begin_run(7, Order::Replay(vec![0, 1, 0, 1, 0, 1]), &[forced]);
        let (one, other) = (scheduler.join(), scheduler.join());
        let threads = [transaction(one, 3), transaction(other, 3)];
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        let turns = scheduler.turns();
        assert_eq!((turns.order, turns.broken, turns.lost), (vec![1, 1, 1, 0, 0, 0], 0, 0));
        assert_eq!(turns.events[5], GateEvent::Ended(place(1)));
    }

    #[test]
    fn what_is_forced_in_vain_is_given_up_and_counted() {
        let scheduler = Scheduler::new(Duration::from_millis(1), 0);
        let place = |member| TxnPlace { member, txn: 0 };
        let forced = Forced { waits: place(0), from: 1, until: place(9), until_statement: None };
        scheduler.begin_run(7, Order::Replay(vec![0, 0]), &[forced]);
        transaction(scheduler.join(), 2).join().expect("no panic");
        let turns = scheduler.turns();
        assert_eq!((turns.order, turns.broken), (vec![0, 0], 1));
    }

    /// Two clients at the gate; the run is to hold the second one after its read.
    fn directed_at_the_gate(texts: [&str; 2], ends: u32) -> State {
        let mut state = state(&[Activity::Held, Activity::Held], Strategy::Random);
        let point = Point { text: "read ?".to_owned(), occurrence: 0 };
        let waits = vec![Wait { point, holder: Holder::Member(1), ends }];
        let (reads, writes) = (vec!["read ?".to_owned()], vec!["write ?".to_owned()]);
        state.directed = Directed::new(Directions { waits, reads, writes });
        for (id, text) in (0..).zip(texts) {
            (state.place(id).text, state.place(id).begun) = (Arc::from(text), 1);
        }
        state
    }

    #[test]
    fn the_client_that_is_to_be_held_reads_first_and_then_waits() {
        let mut state = directed_at_the_gate(["write 7", "read 7"], 1);
        assert_eq!(state.ready(), [1], "the writer gives way");
        state.goes(1);
        state.place(1).activity = Activity::Held;
        state.place(1).text = Arc::from("write 8");
        assert_eq!(state.ready(), [0], "the reader waits until the writer has ended");
        state.goes(0);
        state.directed.ended(TxnPlace { member: 0, txn: 0 });
        assert_eq!(state.ready(), [1]);
    }

    #[test]
    fn nothing_gives_way_to_a_client_that_is_at_rest_or_to_other_statements() {
        assert_eq!(directed_at_the_gate(["look 7", "read 7"], 1).ready(), [0, 1]);
        let mut state = directed_at_the_gate(["write 7", "read 7"], 1);
        state.place(1).activity = Activity::Idle;
        assert_eq!(state.ready(), [0]);
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
            scheduler.begin_run(7, Order::Weak, &[]);
            let (one, other) = (scheduler.join(), scheduler.join());
            for member in [&one, &other, &one] {
                member.turn("");
                member.rest(false);
            }
            assert_eq!(scheduler.turns().order, [0, 1, 0]);
        }
    }
}
