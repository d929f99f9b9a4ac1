//! What the first run, one transaction after the other, tells about the next ones: which reads another client overwrites.
//! A transaction is held after one of them until a transaction that overwrites what it read has ended; chance has every third
//! run, and all of them when nothing was predicted.
//!
//! Which reads come first:
//! 1. The last one before its client writes. Where each statement looks anew, everything that a decision rests on is then out
//!    of date when the client writes: a lost update or a write skew, if there can be one. Whether it writes is asked of all
//!    statements of that shape, because in the first run a client that came late may have decided not to.
//! 2. One that another read of the same transaction follows: what the two see does not fit together (read skew).
//! 3. The others.
//!
//! A run that passed may have shown reads that no run before it had: a program that took another branch, because it was held.
//! Then the same is tried again, with a second wait after such a read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use skew_model::OpKind;
use skew_server::directed::{Directions, Holder, Point, Wait};
use skew_server::scheduler::TxnPlace;
use skew_server::shape::without_values;

use crate::arena::Seen;
use crate::trace::{GateTxn, Trace};

/// Places in transactions that are tried.
const MAX_POINTS: usize = 6;

/// Runs that are made because of what another run has shown.
const MAX_LEARNED: usize = 8;

/// Waits of one run.
const MAX_WAITS: usize = 3;

/// Waits in vain after which runs are left to chance.
const MAX_VAIN: u64 = 4;

/// What later runs try.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predictions {
    by_database: BTreeMap<String, Prediction>,
}

#[derive(Clone, Debug, Default)]
struct Prediction {
    /// What is tried, the most promising first.
    attempts: Vec<Wait>,
    /// What runs have shown that is to be tried next.
    learned: VecDeque<Vec<Wait>>,
    learned_so_far: Vec<Vec<Wait>>,
    /// The points that the first run has shown.
    predicted: BTreeSet<Point>,
    /// The shapes of statements that read what others overwrite, and of those that overwrite it.
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
}

impl Predictions {
    /// What a run in which transactions did not overlap tells.
    pub(crate) fn new(seen: &[Seen]) -> Predictions {
        let of = |seen: &Seen| Some((seen.database.clone(), predict(seen)?));
        Predictions { by_database: seen.iter().filter_map(of).collect() }
    }

    /// What the run of this number tries, by database; nothing if it is chance's. `vain` is how often a transaction was held
    /// and no other one came: clients that follow one another are held rarely.
    pub(crate) fn of_run(&mut self, number: u64, vain: u64) -> BTreeMap<String, Directions> {
        let is_rare = vain >= MAX_VAIN && !number.is_multiple_of(10);
        let is_chances = number.is_multiple_of(3) || is_rare;
        let turn = (number - 1 - number / 3) as usize;
        let directions = |(name, prediction): (&String, &mut Prediction)| {
            let attempt = |prediction: &Prediction| {
                let count = prediction.attempts.len();
                (count > 0 && !is_chances).then(|| vec![prediction.attempts[turn % count].clone()])
            };
            let waits = prediction.learned.pop_front().or_else(|| attempt(prediction))?;
            let shapes = |set: &BTreeSet<String>| set.iter().cloned().collect();
            let (reads, writes) = (shapes(&prediction.reads), shapes(&prediction.writes));
            Some((name.clone(), Directions { waits, reads, writes }))
        };
        self.by_database.iter_mut().filter_map(directions).collect()
    }

    /// A run passed in which this was tried: what it has shown that was not known is tried in the next ones.
    pub(crate) fn learn(&mut self, seen: &[Seen], tried: &BTreeMap<String, Directions>) {
        for seen in seen {
            let Some(shown) = predict(seen) else { continue };
            let prediction = self.by_database.entry(seen.database.clone()).or_default();
            let waits = tried.get(&seen.database).map(|tried| tried.waits.as_slice()).unwrap_or_default();
            prediction.reads.extend(shown.reads);
            prediction.writes.extend(shown.writes);
            let mut points = BTreeSet::new();
            for wait in shown.attempts {
                let is_first = points.insert(wait.point.clone());
                let whole: Vec<Wait> = waits.iter().cloned().chain([wait.clone()]).collect();
                let is_new = !prediction.predicted.contains(&wait.point) && !prediction.learned_so_far.contains(&whole);
                let is_little = prediction.learned_so_far.len() < MAX_LEARNED && waits.len() < MAX_WAITS;
                if is_first && is_new && is_little {
                    prediction.learned_so_far.push(whole.clone());
                    prediction.learned.push_back(whole);
                }
            }
        }
    }
}

/// A place at which a transaction waits.
struct Place {
    point: Point,
    /// How promising it is: lower comes first.
    rank: u32,
    /// The clients of which that is true.
    members: Vec<u32>,
}

fn predict(seen: &Seen) -> Option<Prediction> {
    let trace = Trace::new(seen);
    let (read, written) = overwritten(seen, &trace);
    if read.is_empty() {
        return None;
    }
    let shape = |at: usize| without_values(&seen.recording.statements[at].text);
    let shapes = |statements: &BTreeSet<usize>| statements.iter().map(|&at| shape(at)).collect::<BTreeSet<_>>();
    let (reads, writes) = (shapes(&read), shapes(&written));
    let alike = (0..seen.recording.statements.len()).filter(|&at| reads.contains(&shape(at))).collect();
    let clients: BTreeSet<u32> =
        read.iter().chain(&written).filter_map(|&at| trace.txn_of(at)).map(|place| place.member).collect();
    let attempts = attempts(points(seen, &trace, &alike), clients.len());
    let predicted = attempts.iter().map(|attempt| attempt.point.clone()).collect();
    Some(Prediction { attempts, reads, writes, predicted, ..Prediction::default() })
}

/// The statements that read what a transaction of another client overwrites, and those that overwrite it.
fn overwritten(seen: &Seen, trace: &Trace) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for (place, reader) in &trace.txns {
        for (other, writer) in trace.txns.iter().filter(|(other, _)| *other != place) {
            if !can_meet(seen, (place.member, reader), (other.member, writer)) {
                continue;
            }
            for (key, statements) in reader.reads.iter().filter(|(key, _)| writer.writes.contains(key)) {
                reads.extend(statements.iter().copied());
                let history = &seen.recording.history;
                let operations = seen.recording.operations.iter().enumerate();
                writes.extend(operations.filter_map(|(at, operation)| {
                    let op = history.all_ops()[at];
                    let statement = operation.statement.filter(|statement| writer.statements.contains(statement))?;
                    (op.kind() == OpKind::Write && op.key() == *key).then_some(statement)
                }));
            }
        }
    }
    (reads, writes)
}

/// Places at which a transaction waits, how promising each is, and the clients of which that is true.
fn points(seen: &Seen, trace: &Trace, reads: &BTreeSet<usize>) -> Vec<Place> {
    let mut places: BTreeMap<Point, (usize, Place)> = BTreeMap::new();
    let mut last: Option<(u32, Point)> = None;
    for (&place, txn) in &trace.txns {
        for &at in &txn.statements {
            let text = without_values(&seen.recording.statements[at].text);
            let occurrence = match &last {
                Some((member, before)) if *member == place.member && before.text == text => before.occurrence + 1,
                _ => 0,
            };
            let point = Point { text, occurrence };
            if reads.contains(&at) {
                let rank = rank(seen, trace, reads, (place, at));
                let new = || (at, Place { point: point.clone(), rank, members: Vec::new() });
                let (first, known) = places.entry(point.clone()).or_insert_with(new);
                if rank < known.rank {
                    (*first, *known) = new();
                }
                if rank == known.rank && !known.members.contains(&place.member) {
                    known.members.push(place.member);
                }
            }
            last = Some((place.member, point));
        }
    }
    let mut places: Vec<(usize, Place)> = places.into_values().collect();
    places.sort_by_key(|(first, place)| (place.rank, *first));
    places.into_iter().map(|(_, place)| place).take(MAX_POINTS).collect()
}

/// What is tried, in order: the clients for which it is most promising, and whichever comes first or second, because
/// connections of a pool change hands. Three clients can go wrong where any two do not: a transaction is held until one has
/// changed what it read and another one has seen that.
fn attempts(places: Vec<Place>, clients: usize) -> Vec<Wait> {
    let ends: &[u32] = if clients > 2 { &[1, 2] } else { &[1] };
    let mut attempts = Vec::new();
    for Place { point, rank, members } in places {
        let mut holders = vec![(1, Holder::Nth(0)), (2, Holder::Nth(1))];
        holders.splice(
            0..0,
            members.into_iter().take(2).enumerate().map(|(at, member)| (at as u32, Holder::Member(member))),
        );
        for (cost, holder) in holders {
            for &ends in ends {
                attempts.push((rank + cost + ends, rank, Wait { point: point.clone(), holder, ends }));
            }
        }
    }
    attempts.sort_by_key(|(cost, rank, _)| (*cost, *rank));
    attempts.into_iter().map(|(.., attempt)| attempt).collect()
}

/// How promising a wait after a read is; lower comes first.
fn rank(seen: &Seen, trace: &Trace, reads: &BTreeSet<usize>, (place, read): (TxnPlace, usize)) -> u32 {
    let writes = |at: usize| {
        let operations = seen.recording.operations.iter().enumerate();
        let mut own = operations.filter(|(_, operation)| operation.statement == Some(at));
        own.any(|(op, _)| seen.recording.history.all_ops()[op].kind() == OpKind::Write)
    };
    let of_client = trace.txns.iter().filter(|(other, _)| other.member == place.member && **other >= place);
    let later = of_client.flat_map(|(_, txn)| txn.statements.iter().copied()).filter(|&at| at > read);
    let next = later.map(|at| (at, writes(at))).find(|(at, writes)| *writes || reads.contains(at));
    match next {
        // A statement that reads and writes looks at the newest version itself.
        _ if writes(read) => 3,
        Some((_, true)) => 1,
        Some((at, false)) if trace.txns[&place].statements.contains(&at) => 2,
        _ => 3,
    }
}

/// Whether two transactions could overlap in another run: both connections were there, or both transactions read what the
/// other one writes, as those of clients do that come and go, or that share a connection of a pool.
fn can_meet(seen: &Seen, (one, a): (u32, &GateTxn), (other, b): (u32, &GateTxn)) -> bool {
    let both_there = one != other && Trace::joined(seen, one) < b.ended && Trace::joined(seen, other) < a.ended;
    let crosses = |a: &GateTxn, b: &GateTxn| a.reads.keys().any(|key| b.writes.contains(key));
    both_there || (crosses(a, b) && crosses(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promising_points_come_first_and_then_with_the_other_client() {
        let place = |text: &str, rank, members: &[u32]| Place {
            point: Point { text: text.to_owned(), occurrence: 0 },
            rank,
            members: members.to_vec(),
        };
        let order = |places: Vec<Place>, clients| -> Vec<String> {
            let found = attempts(places, clients).into_iter();
            found.map(|Wait { point, holder, ends }| format!("{} {holder:?} {ends}", point.text)).collect()
        };
        let both = order(vec![place("decides", 1, &[2, 3]), place("twice", 2, &[4])], 2);
        assert_eq!(both[..4], ["decides Member(2) 1", "decides Member(3) 1", "decides Nth(0) 1", "twice Member(4) 1"]);
        let three = order(vec![place("decides", 1, &[2])], 3);
        assert_eq!(three[..3], ["decides Member(2) 1", "decides Member(2) 2", "decides Nth(0) 1"]);
    }

    fn prediction(attempts: Vec<Wait>) -> Predictions {
        let prediction = Prediction { attempts, ..Prediction::default() };
        Predictions { by_database: [("test".to_owned(), prediction)].into() }
    }

    #[test]
    fn every_third_run_is_chances_and_nothing_is_tried_where_clients_follow_one_another() {
        let mut predictions = prediction(vec![Wait { point: Point::default(), holder: Holder::Nth(0), ends: 1 }]);
        let mut directed =
            |vain| (1..=12).filter(|&number| !predictions.of_run(number, vain).is_empty()).collect::<Vec<_>>();
        assert_eq!(directed(0), [1, 2, 4, 5, 7, 8, 10, 11]);
        assert_eq!(directed(MAX_VAIN), [10]);
    }

    #[test]
    fn what_a_run_has_shown_comes_next() {
        let wait = |text: &str| Wait {
            point: Point { text: text.to_owned(), occurrence: 0 },
            holder: Holder::Nth(0),
            ends: 1,
        };
        let mut predictions = prediction(vec![wait("look")]);
        let both = vec![wait("look"), wait("look again")];
        predictions.by_database.get_mut("test").expect("it is there").learned.push_back(both.clone());
        assert_eq!(predictions.of_run(3, 0)["test"].waits, both);
        assert!(predictions.of_run(3, 0).is_empty());
    }
}
