//! What the first run, one transaction after the other, tells about the next ones: which reads another client overwrites.
//! Those are held first, one after the other, until a transaction that overwrites what they read has ended; chance has every
//! third run, and all of them when nothing was predicted.

use std::collections::{BTreeMap, BTreeSet};

use skew_server::directed::Directions;

use crate::arena::Seen;
use crate::trace::{GateTxn, Trace};

/// Reads of a run that are held, each in a run of its own.
const MAX_READS: u32 = 6;

/// Waits in vain after which runs are left to chance.
const MAX_VAIN: u64 = 4;

/// What later runs try.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predictions {
    by_database: BTreeMap<String, Prediction>,
}

#[derive(Clone, Debug, Default)]
struct Prediction {
    reads: Vec<String>,
    writes: Vec<String>,
    /// How many statements of the run are among the reads.
    count: u32,
}

impl Predictions {
    /// What a run in which transactions did not overlap tells.
    pub(crate) fn new(seen: &[Seen]) -> Predictions {
        let of = |seen: &Seen| Some((seen.database.clone(), predict(seen)?));
        Predictions { by_database: seen.iter().filter_map(of).collect() }
    }

    /// What the run of this number tries, by database; nothing if it is chance's. `vain` is how often a transaction was held
    /// and no other one came: clients that follow one another are held rarely.
    pub(crate) fn of_run(&self, number: u64, vain: u64) -> BTreeMap<String, Directions> {
        let is_rare = vain >= MAX_VAIN && !number.is_multiple_of(10);
        if number.is_multiple_of(3) || is_rare {
            return BTreeMap::new();
        }
        let turn = (number - 1 - number / 3) as u32;
        let directions = |(name, prediction): (&String, &Prediction)| {
            let count = prediction.count.clamp(1, MAX_READS);
            let directions = Directions {
                reads: prediction.reads.clone(),
                writes: prediction.writes.clone(),
                nth: turn % count,
                ends: 1 + turn / count % 2,
            };
            (name.clone(), directions)
        };
        self.by_database.iter().map(directions).collect()
    }
}

fn predict(seen: &Seen) -> Option<Prediction> {
    let trace = Trace::new(seen);
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
                    (op.kind() == skew_model::OpKind::Write && op.key() == *key).then_some(statement)
                }));
            }
        }
    }
    let texts = |statements: &BTreeSet<usize>| -> Vec<String> {
        let texts = statements.iter().map(|&at| seen.recording.statements[at].text.to_string());
        texts.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let count = reads.len() as u32;
    (count > 0).then(|| Prediction { reads: texts(&reads), writes: texts(&writes), count })
}

/// Whether two transactions could overlap in another run: both connections were there, or both transactions read what the
/// other one writes, as those of clients do that come and go, or that share a connection of a pool.
fn can_meet(seen: &Seen, (one, a): (u32, &GateTxn), (other, b): (u32, &GateTxn)) -> bool {
    let both_there = one != other && Trace::joined(seen, one) < b.ended && Trace::joined(seen, other) < a.ended;
    let crosses = |a: &GateTxn, b: &GateTxn| a.reads.keys().any(|key| b.writes.contains(key));
    both_there || (crosses(a, b) && crosses(b, a))
}
