//! A better guess: settle the pairs of writers that are furthest apart in estimated time first, many at once, and let
//! saturation settle what follows from them, until the schedule gets through.
//!
//! A batch that leads to a contradiction is undone and a smaller one tried. A single pair that does is settled the
//! other way round. Whatever comes out is a guess like any other, to be verified; if nothing does, nothing is lost.

use crate::choose::{Pair, open_pairs};
use crate::estimate::estimates;
use crate::facts::Node;
use crate::saturate::Saturated;
use crate::schedule::guess;

/// The most batches that are tried.
const MAX_BATCHES: u32 = 200;

/// A commit order, or `None`.
pub(crate) fn refined_guess(saturated: &Saturated) -> Option<Vec<Node>> {
    let mut now = saturated.clone();
    // How many open pairs of a thousand are settled at once.
    let mut share = 250;
    for _ in 0..MAX_BATCHES {
        let times = estimates(&now.time);
        let pairs = open_pairs(&now)?;
        if let Some(order) = guess(&now, &times) {
            return Some(order);
        }
        let mut batch = by_confidence(&now, &times, &pairs);
        batch.truncate((batch.len() * share / 1000).max(1));
        let mut next = now.clone();
        if next.suppose(&batch).is_ok() {
            now = next;
            share = (share * 2).min(1000);
        } else if let [(first, second)] = batch[..] {
            now.suppose(&[(second, first)]).ok()?;
        } else {
            share = (share / 4).min(batch.len() * 1000 / (4 * pairs.len().max(1)));
        }
    }
    None
}

/// The pairs in the order of their estimated times, those furthest apart first.
fn by_confidence(now: &Saturated, times: &[u32], pairs: &[Pair]) -> Vec<(Node, Node)> {
    let time = |node: Node| {
        let commit = now.events.commit[node as usize];
        (times[commit as usize], now.time.rank[commit as usize])
    };
    let mut ordered: Vec<(Node, Node)> = pairs
        .iter()
        .map(|pair| if time(pair.a) < time(pair.b) { (pair.a, pair.b) } else { (pair.b, pair.a) })
        .collect();
    ordered.sort_by_key(|&(first, second)| std::cmp::Reverse(time(second).0 - time(first).0));
    ordered
}
