//! When did it happen? A place in time for each event, estimated from what is known: how many events come before it
//! and how many after. Where two writers of a key are in no known order, the estimates are the best guess.

use crate::clock::raise;
use crate::events::Event;
use crate::graph::Predecessors;
use crate::reach::Reach;

/// Above this many numbers the events after are not counted, only those before.
const MAX_NUMBERS: usize = 200_000_000;

/// A place in time for each event, on a scale from 0 to 2^32.
pub(crate) fn estimates(time: &Reach) -> Vec<u32> {
    let count = |event: Event| time.clock(event).iter().map(|&place| u64::from(place)).sum::<u64>();
    let before: Vec<u64> = (0..time.len() as Event).map(count).collect();
    let after = events_after(time).unwrap_or_else(|| vec![1; time.len()]);
    let scale =
        |(before, after): (u64, u64)| ((before << 32) / (before + after).max(1)).min(u64::from(u32::MAX)) as u32;
    before.into_iter().zip(after).map(scale).collect()
}

/// How many events come after each one, itself included: clocks again, along the edges the other way round.
fn events_after(time: &Reach) -> Option<Vec<u64>> {
    let (n, width) = (time.len(), time.chains.members.len());
    if n.saturating_mul(width) > MAX_NUMBERS {
        return None;
    }
    let edges: Vec<(Event, Event)> =
        (0..n as Event).flat_map(|event| time.preds(event).map(move |pred| (event, pred))).collect();
    let successors = Predecessors::from_edges(n, &edges);
    let mut order: Vec<Event> = (0..n as Event).collect();
    order.sort_unstable_by_key(|&event| std::cmp::Reverse(time.rank[event as usize]));
    // For each chain, how many of its members from the end backwards come after the event.
    let mut clocks = vec![0u32; n * width];
    for event in order {
        for &next in successors.of(event) {
            raise(&mut clocks, event as usize * width, next as usize * width, width);
        }
        if event != 0 {
            let chain = time.chains.chain[event as usize] as usize;
            let members = time.chains.members[chain].len() as u32;
            let own = members - time.chains.place[event as usize] + 1;
            let mine = &mut clocks[event as usize * width + chain];
            *mine = (*mine).max(own);
        }
    }
    let count = |event: usize| clocks[event * width..][..width].iter().map(|&members| u64::from(members)).sum();
    Some((0..n).map(count).collect())
}
