//! The gate, one rule at a time.

use super::*;
use crate::directed::{Holder, Point, Wait};
use std::sync::mpsc;

const LONG: Duration = Duration::from_secs(60);

fn state(activities: &[Activity], strategy: Strategy) -> State {
    let place = |(id, &activity): (usize, &Activity)| {
        (id as u64, Place { priority: id as i64, is_known: true, ..Place::new(activity, id as u32) })
    };
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
        identities: Identities::default(),
        forced: Vec::new(),
        answered: BTreeMap::new(),
        ended: BTreeMap::new(),
        directed: Directed::default(),
        delayed: Delayed::default(),
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
            member.turn("SELECT n FROM t");
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
    scheduler.begin_run(7, Order::Replay(vec![0, 1, 0, 1, 0, 1], BTreeMap::new()), &[forced]);
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
    scheduler.begin_run(7, Order::Replay(vec![0, 0], BTreeMap::new()), &[forced]);
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
            member.turn("TABLE t");
            member.rest(false);
        }
        assert_eq!(scheduler.turns().order, [0, 1, 0]);
    }
}

#[test]
fn connections_that_come_in_another_order_are_known_by_what_they_ask() {
    let scheduler = Scheduler::new(Duration::from_millis(1), 0);
    let place = |member| TxnPlace { member, txn: 0 };
    let forced = Forced { waits: place(0), from: 0, until: place(1), until_statement: None };
    let members = BTreeMap::from([(0, Arc::from("SELECT a FROM t")), (1, Arc::from("SELECT b FROM t"))]);
    scheduler.begin_run(7, Order::Replay(vec![0, 1, 0, 1], members), &[forced]);
    let client = |member: Member, sql: &'static str| {
        std::thread::spawn(move || {
            for (at, text) in ["BEGIN", sql, "COMMIT"].into_iter().enumerate() {
                member.turn(text);
                member.rest(at < 2);
            }
        })
    };
    // The second one of the other run comes first.
    let (first, second) = (scheduler.join(), scheduler.join());
    let threads = [client(first, "SELECT b FROM t"), client(second, "SELECT a FROM t")];
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let turns = scheduler.turns();
    assert_eq!((turns.order, turns.broken, turns.lost), (vec![1, 1, 0, 0], 0, 0));
    let went = |event: &GateEvent| match event {
        GateEvent::Went { txn, text, .. } if text.starts_with("SELECT") => Some((txn.member, text.to_string())),
        _ => None,
    };
    let went: Vec<_> = turns.events.iter().filter_map(went).collect();
    assert_eq!(went, [(1, "SELECT b FROM t".to_owned()), (0, "SELECT a FROM t".to_owned())]);
}
