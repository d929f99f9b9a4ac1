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

mod identity;
mod place;
mod turns;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use skew_store::strategies::Dice;

use crate::delayed::{Delay, Delayed};
use crate::directed::{Directed, Directions};
use identity::Identities;
use place::{Activity, Place, Strategy};
pub use turns::{Forced, GateEvent, Turns, TxnPlace};

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
    /// As in another run: whose turn it was, by name, and the connections by their first statement.
    Replay(Vec<u32>, BTreeMap<u32, Arc<str>>),
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
    late: BTreeSet<u32>,
    /// Which connection is which.
    identities: Identities,
    /// What waits for what.
    forced: Vec<Forced>,
    /// How far each transaction has come that something waits for: statements answered.
    answered: BTreeMap<TxnPlace, u32>,
    /// How many transactions of each connection have ended.
    ended: BTreeMap<u32, u32>,
    /// What is tried before chance.
    directed: Directed,
    /// What waits by what it asks.
    delayed: Delayed,
    /// When something last happened at the gate.
    progress: Instant,
    /// Kept for runs only: a server that runs for long has too many.
    turns: Option<Turns>,
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
            identities: Identities::default(),
            forced: Vec::new(),
            answered: BTreeMap::new(),
            ended: BTreeMap::new(),
            directed: Directed::default(),
            delayed: Delayed::default(),
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
        state.identities = Identities::default();
        state.forced = forced.to_vec();
        state.answered.clear();
        state.ended.clear();
        state.directed = Directed::default();
        state.delayed = Delayed::default();
        state.progress = Instant::now();
        state.random = Dice::new(seed);
        state.new_strategy();
        match order {
            Order::Weak => {}
            Order::Serial => state.strategy = Strategy::Serial,
            Order::Replay(script, members) => {
                state.strategy = Strategy::Replay;
                state.identities = Identities::again(&members);
                state.script = script.into();
            }
        }
        state.turns = Some(Turns::default());
    }

    /// The run that has begun tries this before chance.
    pub fn direct(&self, directions: &Directions) {
        self.lock().directed = Directed::new(directions.clone());
    }

    /// The run that has begun delays these statements.
    pub fn delay(&self, delay: Delay) {
        self.lock().delayed = Delayed::new(Some(delay));
    }

    /// What has happened since the run began.
    pub fn turns(&self) -> Turns {
        let state = self.lock();
        let turns = state.turns.clone().unwrap_or_default();
        Turns { members: state.identities.own().clone(), ..turns }
    }

    /// A connection comes.
    pub fn join(self: &Arc<Self>) -> Member {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        let name = state.identities.first_name(id);
        state.members.insert(id, Place::new(Activity::New(Instant::now()), name));
        if let Some(turns) = &mut state.turns {
            turns.events.push(GateEvent::Joined(name));
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
        self.turn_as(text, text);
    }

    /// The same for a statement that was changed on its way; `asked` is what the client sent, by which it is known.
    pub fn turn_as(&self, text: &str, asked: &str) {
        if self.scheduler.hold.is_zero() {
            return;
        }
        let came = Instant::now();
        let Some(longest) = self.arrive(text, asked) else { return };
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
    fn arrive(&self, text: &str, asked: &str) -> Option<Duration> {
        let mut state = self.scheduler.lock();
        state.comes(self.id, text, asked);
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
        let txn = place.txn();
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
            state.notes(place.txn(), place.activity, Activity::Idle);
        }
        state.decide(Instant::now(), self.scheduler.hold);
    }
}

impl State {
    /// A statement comes to the gate; the first one after a rest begins a transaction.
    fn comes(&mut self, id: u64, text: &str, asked: &str) {
        let is_run = self.turns.is_some();
        let place = self.place(id);
        if place.is_at_rest() {
            place.begun += 1;
            place.statement = 0;
        }
        if is_run {
            place.text = Arc::from(text);
            self.identify(id, asked);
        }
        let name = self.place(id).name;
        self.late.remove(&name);
    }

    /// Gives a connection the name by which other runs know it, once a statement tells which one it is.
    fn identify(&mut self, id: u64, text: &str) {
        if self.place(id).is_known {
            return;
        }
        let Some(name) = self.identities.name(id, text) else { return };
        let place = self.place(id);
        let was = std::mem::replace(&mut place.name, name);
        place.is_known = true;
        let events = self.turns.iter_mut().flat_map(|turns| &mut turns.events);
        events.for_each(|event| event.rename(was, name));
    }

    /// The connection of a name, if it has come.
    fn named(&self, name: u32) -> Option<u64> {
        self.members.iter().find(|(_, place)| place.name == name).map(|(&id, _)| id)
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
            let place = self.named(txn.member).and_then(|id| self.members.get(&id));
            let statements = place.map_or(u32::MAX, |place| place.statement);
            self.answered.insert(txn, statements);
        }
        let is_end = is == Activity::Idle && !was.is_at_rest();
        if is_end {
            self.ended.insert(txn.member, txn.txn + 1);
            self.directed.ended(txn);
            self.delayed.ended(txn);
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
        if self.delayed.holds(&place.text) {
            return true;
        }
        if self.forced.is_empty() {
            return false;
        }
        let txn = place.txn();
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
            is_open && self.directed.is_writer(at_work.txn(), &at_work.text)
        };
        self.directed.comes_second(id, place.txn(), &place.text) && self.members.iter().any(is_writer)
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
        // Nothing depends on what a connection does before it is known which one it is.
        if let Some(&nameless) = ready.iter().find(|id| !self.members[id].is_known) {
            return Some(nameless);
        }
        // The client of a read that is delayed does nothing else: a connection that it would open next does not come.
        let delays =
            self.members.values().any(|place| place.activity == Activity::Held && self.delayed.holds(&place.text));
        let cannot_come = |name: u32| {
            let id = self.named(name);
            if id.is_none() && delays {
                return true;
            }
            let activity = id.and_then(|id| self.members.get(&id)).map(|place| place.activity);
            self.late.contains(&name)
                || (activity == Some(Activity::Held) && id.is_none_or(|id| !ready.contains(&id)))
                || (activity == Some(Activity::Blocked) && !self.forced.is_empty())
        };
        let next = self.script.iter().position(|next| !cannot_come(*next));
        match next {
            Some(at) => {
                let id = self.named(self.script[at])?;
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
        let (txn, statement, text) = (place.txn(), place.statement, place.text.clone());
        place.statement += 1;
        let known = place.is_known.then_some(place.name);
        self.progress = Instant::now();
        if let Some(turns) = &mut self.turns {
            turns.order.extend(known);
            turns.events.push(GateEvent::Went { txn, statement, text: Arc::clone(&text) });
        }
        self.directed.goes(id, txn, &text);
        self.delayed.goes(txn, &text);
    }

    /// Has waited for long enough. In a replay that was not foreseen.
    fn goes_unasked(&mut self, id: u64) {
        if self.must_wait(id) {
            let txn = self.place(id).txn();
            self.directed.release();
            self.delayed.release();
            self.forced.retain(|forced| forced.waits != txn);
            if let Some(turns) = &mut self.turns {
                turns.broken += 1;
            }
        }
        if self.strategy == Strategy::Replay && self.place(id).is_known {
            let name = self.place(id).name;
            let awaited = self.script.front().copied().filter(|next| *next != name);
            self.late.extend(awaited);
            if let Some(at) = self.script.iter().position(|next| *next == name) {
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

#[cfg(test)]
mod tests;
