//! Who calls in which session and order, and who is expected to see whom.

use std::collections::BTreeMap;

use skew_model::Level;
use skew_sql::explore::Client;
use skew_sql::session::guide::{Guide, Seeing};

use super::arguments::{Calls, Case};
use crate::summary::build::Reading;
use crate::suspect::{EdgeKind, Suspect};

/// The calls of a suspect in sessions, in an order that the suspect's dependencies suggest.
#[derive(Clone, Debug)]
pub(super) struct Arrangement {
    /// The sessions with the numbers of their calls in the suspect.
    pub(super) sessions: Vec<Vec<usize>>,
}

impl Arrangement {
    /// What is worth trying. Where a session need not see its own past, its calls are as good as those of different ones,
    /// and their order counts.
    pub(super) fn all(suspect: &Suspect) -> Vec<Arrangement> {
        let first = Arrangement::of(suspect);
        let mut all = vec![first.clone()];
        if matches!(suspect.level, Level::Ru | Level::Rc) && first.sessions.len() > 1 {
            let calls = first.calls();
            let back = calls.iter().rev().copied().collect();
            all.extend([calls, back].map(|calls| Arrangement { sessions: vec![calls] }));
        }
        all
    }

    fn of(suspect: &Suspect) -> Arrangement {
        let order = order(suspect);
        let follows = |call: usize| {
            let mut edges = suspect.edges.iter().filter(|edge| edge.kind == EdgeKind::Session);
            edges.find(|edge| edge.to == call).map(|edge| edge.from)
        };
        let mut sessions: Vec<Vec<usize>> = Vec::new();
        for call in order {
            let before = follows(call);
            match sessions.iter_mut().find(|calls| calls.last().copied() == before && before.is_some()) {
                Some(calls) => calls.push(call),
                None => sessions.push(vec![call]),
            }
        }
        Arrangement { sessions }
    }

    /// The same without one of the calls.
    pub(super) fn without(&self, call: usize) -> Arrangement {
        let sessions = self.sessions.iter().map(|calls| calls.iter().copied().filter(|one| *one != call).collect());
        Arrangement { sessions: sessions.filter(|calls: &Vec<usize>| !calls.is_empty()).collect() }
    }

    /// The numbers of the calls, in the order of the client.
    pub(super) fn calls(&self) -> Vec<usize> {
        self.sessions.iter().flatten().copied().collect()
    }

    pub(super) fn client(&self, calls: &Calls) -> Client {
        let sessions = self
            .sessions
            .iter()
            .enumerate()
            .map(|(at, own)| (format!("s{}", at + 1), own.iter().map(|call| calls[*call].clone()).collect()));
        Client { sessions: sessions.collect() }
    }

    /// A guide that lets calls see each other as the dependencies say, before it tries everything else.
    pub(super) fn guide(&self, case: Case<'_>) -> Guide {
        let calls = self.calls();
        let place = |call: usize| calls.iter().position(|known| *known == call);
        let mut expected = BTreeMap::new();
        for edge in &case.suspect.edges {
            let has_conflicts = matches!(case.level(edge.to), Level::Si | Level::Psi);
            let Some((from, to)) = place(edge.from).zip(place(edge.to)) else { continue };
            match edge.kind {
                EdgeKind::ReadWrite => _ = expected.insert((from, to), false),
                EdgeKind::WriteRead => _ = expected.entry((to, from)).or_insert(true),
                EdgeKind::WriteWrite if has_conflicts => _ = expected.entry((to, from)).or_insert(true),
                _ => {}
            }
        }
        let sees_by_read = calls.iter().any(|call| Reading::at(case.level(*call)) == Reading::EachStatement);
        Guide::by_views(if sees_by_read { Seeing::ByRead } else { Seeing::Whole }, expected)
    }
}

/// Whoever is read from or overwritten comes first, and whoever overwrites comes before those that have read: they do not
/// see it.
fn order(suspect: &Suspect) -> Vec<usize> {
    let mut left: Vec<usize> = (0..suspect.calls.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let waits = |call: usize, kinds: &[EdgeKind], back: bool| {
            let edges = suspect.edges.iter().filter(|edge| kinds.contains(&edge.kind));
            let edges = edges.map(|edge| if back { (edge.to, edge.from) } else { (edge.from, edge.to) });
            edges.filter(|(from, to)| *to == call && *from != call && left.contains(from)).count()
        };
        let strict = [EdgeKind::Session, EdgeKind::WriteRead, EdgeKind::WriteWrite];
        let best = (0..left.len())
            .min_by_key(|at| (waits(left[*at], &strict, false), waits(left[*at], &[EdgeKind::ReadWrite], true), *at));
        let Some(best) = best else { break };
        order.push(left.remove(best));
    }
    order
}

/// The level that the store runs a client at. It has sessions at every level; where each call has a session of its own,
/// what `ra` shows is what `ec` shows.
pub(super) fn run_at(level: Level) -> Level {
    if level == Level::Ec { Level::Ra } else { level }
}

/// As `skew explore` reads it.
pub(super) fn text(client: &Client) -> String {
    let sessions = client.sessions.iter().map(|(name, calls)| format!("{name}: {}", calls.join("; ")));
    sessions.collect::<Vec<_>>().join(" | ")
}
