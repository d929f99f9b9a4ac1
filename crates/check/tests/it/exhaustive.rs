//! Every engine against the oracle, on every small history over two keys that is not a copy of another one.
//!
//! Copies are histories that differ by names, by the order of sessions, by what a transaction reads back of its own
//! writes or overwrites itself, or by reading the same again; for levels whose definition does not look at the order
//! of reads, also by that. (The symmetry is not broken completely: some copies are visited twice.)
//!
//! By default up to three transactions of three operations, and four of two. `SKEW_EXHAUSTIVE=1 cargo test --release
//! -p skew-check exhaustive -- --nocapture` also does four of three: some tens of millions, for an hour or two.

use skew_check::{Checker, Options, Outline, oracle};
use skew_model::{History, HistoryBuilder, Key, Level, OpKind, Scope};

/// Levels whose definition does not look at the order of reads, and those that do.
const UNORDERED: [Level; 8] =
    [Level::Ru, Level::Ec, Level::Ra, Level::Cc, Level::Pc, Level::Psi, Level::Si, Level::Ser];
const ORDERED: [Level; 2] = [Level::Rc, Level::Mvrc];

#[test]
fn exhaustive_up_to_three_transactions_of_three_operations() {
    for txns in 1..=3 {
        compare(txns, 3, Reads::Ordered);
    }
}

#[test]
fn exhaustive_four_transactions_of_two_operations() {
    compare(4, 2, Reads::Ordered);
}

#[test]
fn exhaustive_four_transactions_of_three_operations() {
    if std::env::var_os("SKEW_EXHAUSTIVE").is_none() {
        skew_testing::skip("set SKEW_EXHAUSTIVE to visit tens of millions of histories");
        return;
    }
    let ordered = std::thread::spawn(|| compare(4, 3, Reads::Ordered));
    compare(4, 3, Reads::Unordered);
    ordered.join().expect("the levels that look at the order of reads agree");
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reads {
    Ordered,
    Unordered,
}

/// A read: which key, and from which transaction (0 is the initial one).
type ReadFrom = (u8, u8);

fn compare(txns: usize, ops: usize, reads: Reads) {
    let mut count = 0u64;
    let mut levels: Vec<Level> = ORDERED.to_vec();
    match reads {
        Reads::Unordered => levels = UNORDERED.to_vec(),
        Reads::Ordered if txns * ops < 12 => levels.extend(UNORDERED),
        Reads::Ordered => {}
    }
    for shape in shapes(txns) {
        let writes_choices = 4usize.pow(txns as u32);
        for choice in 0..writes_choices {
            let writes: Vec<u8> = (0..txns).map(|at| (choice >> (2 * at) & 3) as u8).collect();
            if is_copy(&shape, &writes) || writes.iter().any(|set| set.count_ones() as usize > ops) {
                continue;
            }
            let choices: Vec<Vec<Vec<ReadFrom>>> = (0..txns).map(|at| read_lists(at, &writes, ops, reads)).collect();
            let mut odometer = vec![0usize; txns];
            loop {
                let lists: Vec<&[ReadFrom]> = odometer.iter().zip(&choices).map(|(&at, list)| &list[at][..]).collect();
                if !has_swapped_twin(&shape, &writes, &lists) {
                    count += 1;
                    let outline = outline(&shape, &writes, &lists, count);
                    compare_one(&build(&shape, &writes, &lists, count), &outline, &levels, count);
                }
                if count > 0 && count.is_multiple_of(10_000_000) {
                    println!("{txns} transactions of {ops} operations, {reads:?} reads: {count} so far");
                }
                if !advance(&mut odometer, &choices) {
                    break;
                }
            }
        }
    }
    println!(
        "{txns} transactions of up to {ops} operations, {reads:?} reads: {count} histories at {levels:?} and mixtures"
    );
    assert!(count > 0);
}

fn compare_one(history: &History, outline: &Outline, levels: &[Level], number: u64) {
    let checker = Checker::new(history, Options::default());
    let mixed = number.is_multiple_of(4).then_some(Scope::Declared);
    for scope in levels.iter().copied().map(Scope::Level).chain(mixed) {
        let expected = oracle::some_order_satisfies(checker.facts(), scope);
        assert_eq!(checker.holds(scope), Some(expected), "{scope}\n{history}");
        // Outlines know nothing of read uncommitted.
        let outlined = outline.holds(scope);
        assert!(outlined.is_none_or(|holds| holds == expected), "{scope}\n{history}");
        assert!(outlined.is_some() || matches!(scope, Scope::Level(Level::Ru) | Scope::Declared), "{scope}\n{history}");
    }
}

/// The lengths of sessions, longest first.
fn shapes(txns: usize) -> Vec<Vec<usize>> {
    fn extend(left: usize, longest: usize, shape: &mut Vec<usize>, shapes: &mut Vec<Vec<usize>>) {
        if left == 0 {
            shapes.push(shape.clone());
        }
        for length in (1..=left.min(longest)).rev() {
            shape.push(length);
            extend(left - length, length, shape, shapes);
            shape.pop();
        }
    }
    let mut all = Vec::new();
    extend(txns, txns, &mut Vec::new(), &mut all);
    all
}

/// Whether swapping the keys or two sessions of one length gives a choice of write sets that comes earlier.
fn is_copy(shape: &[usize], writes: &[u8]) -> bool {
    let writers = |key: u8| writes.iter().filter(|&&set| set & key != 0).count();
    let mut start = 0;
    let sessions: Vec<&[u8]> = shape
        .iter()
        .map(|&length| {
            start += length;
            &writes[start - length..start]
        })
        .collect();
    writers(1) < writers(2) || sessions.windows(2).any(|pair| pair[0].len() == pair[1].len() && pair[0] > pair[1])
}

/// Whether swapping two sessions of one length that write alike gives keys read that come earlier.
fn has_swapped_twin(shape: &[usize], writes: &[u8], lists: &[&[ReadFrom]]) -> bool {
    let mut start = 0;
    shape.windows(2).any(|pair| {
        let (one, two) = (start..start + pair[0], start + pair[0]..start + pair[0] + pair[1]);
        start += pair[0];
        if pair[0] != pair[1] || writes[one.clone()] != writes[two.clone()] {
            return false;
        }
        let read = |txns: std::ops::Range<usize>, at: usize| lists[txns.start + at].iter().map(|read| read.0);
        let order = (0..pair[0]).map(|at| read(one.clone(), at).cmp(read(two.clone(), at))).find(|order| order.is_ne());
        order == Some(std::cmp::Ordering::Greater)
    })
}

/// Everything that a transaction may read in at most `ops` operations, its writes counted.
fn read_lists(txn: usize, writes: &[u8], ops: usize, reads: Reads) -> Vec<Vec<ReadFrom>> {
    let items: Vec<ReadFrom> = (0..2u8)
        .flat_map(|key| {
            let others = (0..writes.len()).filter(move |&other| other != txn && writes[other] >> key & 1 != 0);
            [0].into_iter().chain(others.map(|other| other as u8 + 1)).map(move |source| (key, source))
        })
        .collect();
    let left = ops - writes[txn].count_ones() as usize;
    let mut lists = vec![Vec::new()];
    let mut last = lists.clone();
    for _ in 0..left {
        let grown = last.iter().flat_map(|list: &Vec<ReadFrom>| {
            let next = items.iter().filter(move |item| match (reads, list.last()) {
                (_, None) => true,
                (Reads::Ordered, Some(before)) => before != *item,
                (Reads::Unordered, Some(before)) => before < *item,
            });
            next.map(move |&item| list.iter().copied().chain([item]).collect())
        });
        last = grown.collect();
        lists.extend(last.clone());
    }
    lists.retain(|list| !list.is_empty() || writes[txn] != 0);
    lists
}

fn advance(odometer: &mut [usize], choices: &[Vec<Vec<ReadFrom>>]) -> bool {
    for (at, list) in odometer.iter_mut().zip(choices) {
        *at += 1;
        if *at < list.len() {
            return true;
        }
        *at = 0;
    }
    false
}

/// The level of a transaction in the mixture with this number.
fn mixed_level(txn: usize, number: u64) -> Level {
    Level::ladder().nth((number >> (txn * 4)) as usize % 10).expect("there are ten of them")
}

/// The outline of the history that `build` makes.
fn outline(shape: &[usize], writes: &[u8], lists: &[&[ReadFrom]], number: u64) -> Outline {
    let mut outline = Outline::default();
    let sessions = shape.iter().enumerate().flat_map(|(session, &length)| std::iter::repeat_n(session as u32, length));
    for (txn, session) in sessions.enumerate() {
        outline.begin(session, mixed_level(txn, number));
        for &(key, source) in lists[txn] {
            outline.read(u32::from(key), usize::from(source).checked_sub(1));
        }
        (0..2).filter(|key| writes[txn] >> key & 1 != 0).for_each(|key| outline.write(key));
    }
    outline
}

fn build(shape: &[usize], writes: &[u8], lists: &[&[ReadFrom]], number: u64) -> History {
    let mut builder = HistoryBuilder::new();
    builder.init_elsewhere(0);
    let keys: [Key; 2] = [0, 1].map(|key: i64| builder.key(key));
    let mut txn = 0;
    for (session, &length) in shape.iter().enumerate() {
        let session = builder.session(session as i64);
        for _ in 0..length {
            let id = builder.begin(session, txn as i64);
            // Some mixture of levels, another one for each history.
            builder.level(id, mixed_level(txn, number));
            for &(key, source) in lists[txn] {
                let value = builder.names().int(i64::from(source));
                builder.op(OpKind::Read, keys[usize::from(key)], value);
            }
            for key in (0..2).filter(|key| writes[txn] >> key & 1 != 0) {
                let value = builder.names().int(txn as i64 + 1);
                builder.op(OpKind::Write, keys[key], value);
            }
            txn += 1;
        }
    }
    builder.finish()
}
