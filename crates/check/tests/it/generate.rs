//! Random small histories with everything that the model holds.

use skew_model::{ConstraintOrder, History, HistoryBuilder, Level, OpKind, TxnId};

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 11) % limit as u64) as usize
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

/// Levels that a transaction may declare.
const LEVELS: [Level; 10] =
    [Level::Rc, Level::Ra, Level::Cc, Level::Pc, Level::Psi, Level::Si, Level::Ser, Level::Mvrc, Level::Ru, Level::Ec];

/// A history of up to `max_txns` transactions of up to four operations on up to three keys. Every read returns what
/// somebody wrote; some histories have statements, times, known version orders.
pub(crate) fn history(seed: u64, max_txns: usize) -> History {
    let random = &mut Random::new(seed);
    let txns = 1 + random.below(max_txns);
    let keys = 1 + random.below(3);
    let sessions = 1 + random.below(txns.min(4));
    let plan: Vec<Vec<(bool, usize)>> =
        (0..txns).map(|_| (0..1 + random.below(4)).map(|_| (random.chance(2), random.below(keys))).collect()).collect();
    let value = |txn: usize, at: usize| (txn * 10 + at + 1) as i64;
    // What others may see of a transaction: its last write of each key.
    let mut visible: Vec<Vec<(usize, i64)>> = vec![Vec::new(); keys];
    for (txn, ops) in plan.iter().enumerate() {
        for (at, &(write, key)) in ops.iter().enumerate() {
            if write && !ops[at + 1..].contains(&(true, key)) {
                visible[key].push((txn, value(txn, at)));
            }
        }
    }
    let (statements, times) = (random.chance(3), random.chance(4));
    let mut builder = HistoryBuilder::new();
    builder.init_elsewhere(0);
    for (txn, ops) in plan.iter().enumerate() {
        let session = builder.session(format!("s{}", random.below(sessions)));
        let id = builder.begin(session, format!("t{txn}"));
        builder.level(id, LEVELS[random.below(LEVELS.len())]);
        let begin = random.below(12) as i64;
        let end = begin + random.below(4) as i64;
        if times {
            builder.span(id, begin, end);
        }
        let mut own: Vec<Option<i64>> = vec![None; keys];
        for (at, &(write, key)) in ops.iter().enumerate() {
            let others: Vec<i64> =
                visible[key].iter().filter(|(other, _)| *other != txn).map(|(_, value)| *value).collect();
            let number = match (write, own[key]) {
                (true, _) => value(txn, at),
                (false, Some(own)) => own,
                (false, None) => [0].iter().chain(&others).copied().nth(random.below(others.len() + 1)).unwrap_or(0),
            };
            if write {
                own[key] = Some(number);
            }
            let (key, number) = (builder.key(format!("k{key}")), builder.names().int(number));
            let op = builder.op(if write { OpKind::Write } else { OpKind::Read }, key, number);
            if statements && at > 0 && random.chance(2) {
                builder.join(op);
            } else if statements && times && random.chance(2) {
                builder.statement_begin(op, begin + random.below(4) as i64);
            }
        }
    }
    if random.chance(5) {
        for (key, writers) in visible.iter().enumerate() {
            let mut order: Vec<i64> = writers.iter().map(|(_, value)| *value).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at + 1));
            }
            order.truncate(random.below(order.len() + 1));
            let key = builder.key(format!("k{key}"));
            let order = order.into_iter().map(|value| builder.names().int(value)).collect();
            builder.version_order(key, order);
        }
    }
    let txns = builder.txn_count();
    if txns > 1 && random.chance(3) {
        for _ in 0..1 + random.below(2) {
            let [first, second] = [random.below(txns), random.below(txns)].map(|txn| TxnId(txn as u32));
            let key = builder.key("k0");
            builder.constraint_order(ConstraintOrder { key, first, second });
        }
    }
    builder.finish()
}
