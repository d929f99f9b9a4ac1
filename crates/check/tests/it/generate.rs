//! Random small histories with everything that the model holds.

use skew_model::{ConstraintOrder, History, HistoryBuilder, Level, OpKind, TxnId, Value};
use skew_testing::Dice;

/// Levels that a transaction may declare.
const LEVELS: [Level; 14] = [
    Level::Rc,
    Level::Ra,
    Level::Cc,
    Level::Pc,
    Level::Psi,
    Level::Si,
    Level::Ser,
    Level::Mvrc,
    Level::Ru,
    Level::Ec,
    Level::PgRr,
    Level::PgSer,
    Level::MariaRc,
    Level::MariaRr,
];

/// A history of up to `max_txns` transactions of up to four operations on up to three keys. Every read returns what
/// some transaction wrote; some histories have statements, times, known version orders, and writes of `nil`, which are not
/// read.
pub(crate) fn history(seed: u64, max_txns: usize) -> History {
    let dice = &mut Dice(seed);
    let txns = 1 + dice.roll(max_txns);
    let keys = 1 + dice.roll(3);
    let sessions = 1 + dice.roll(txns.min(4));
    let plan: Vec<Vec<(bool, usize)>> =
        (0..txns).map(|_| (0..1 + dice.roll(4)).map(|_| (dice.one_in(2), dice.roll(keys))).collect()).collect();
    let value = |txn: usize, at: usize| (txn * 10 + at + 1) as i64;
    let deletions = dice.one_in(3);
    let deletes = |txn: usize, at: usize| deletions && (txn + at).is_multiple_of(3);
    // What others may see of a transaction: its last write of each key.
    let mut visible: Vec<Vec<(usize, i64)>> = vec![Vec::new(); keys];
    for (txn, ops) in plan.iter().enumerate() {
        for (at, &(write, key)) in ops.iter().enumerate() {
            if write && !deletes(txn, at) && !ops[at + 1..].contains(&(true, key)) {
                visible[key].push((txn, value(txn, at)));
            }
        }
    }
    let (statements, times) = (dice.one_in(3), dice.one_in(4));
    let mut builder = HistoryBuilder::new();
    builder.init_elsewhere(0);
    for (txn, ops) in plan.iter().enumerate() {
        let session = builder.session(format!("s{}", dice.roll(sessions)));
        let id = builder.begin(session, format!("t{txn}"));
        builder.level(id, LEVELS[dice.roll(LEVELS.len())]);
        let begin = dice.roll(12) as i64;
        let end = begin + dice.roll(4) as i64;
        if times {
            builder.span(id, begin, end);
        }
        let mut own: Vec<Option<Option<i64>>> = vec![None; keys];
        for (at, &(write, key)) in ops.iter().enumerate() {
            let others: Vec<i64> =
                visible[key].iter().filter(|(other, _)| *other != txn).map(|(_, value)| *value).collect();
            let number = match (write, own[key]) {
                (true, _) => (!deletes(txn, at)).then(|| value(txn, at)),
                (false, Some(own)) => own,
                (false, None) => [0].iter().chain(&others).copied().nth(dice.roll(others.len() + 1)).or(Some(0)),
            };
            if write {
                own[key] = Some(number);
            }
            let (key, number) =
                (builder.key(format!("k{key}")), number.map_or(Value::NIL, |number| builder.names().int(number)));
            let op = builder.op(if write { OpKind::Write } else { OpKind::Read }, key, number);
            if statements && at > 0 && dice.one_in(2) {
                builder.join(op);
            } else if statements && times && dice.one_in(2) {
                builder.statement_begin(op, begin + dice.roll(4) as i64);
            }
        }
    }
    if dice.one_in(5) {
        for (key, writers) in visible.iter().enumerate() {
            let mut order: Vec<i64> = writers.iter().map(|(_, value)| *value).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, dice.roll(at + 1));
            }
            order.truncate(dice.roll(order.len() + 1));
            let key = builder.key(format!("k{key}"));
            let order = order.into_iter().map(|value| builder.names().int(value)).collect();
            builder.version_order(key, order);
        }
    }
    let txns = builder.txn_count();
    if txns > 1 && dice.one_in(3) {
        for _ in 0..1 + dice.roll(2) {
            let [first, second] = [dice.roll(txns), dice.roll(txns)].map(|txn| TxnId(txn as u32));
            let key = builder.key("k0");
            builder.constraint_order(ConstraintOrder { key, first, second });
        }
    }
    builder.finish()
}
