//! Who calls in which session and order, and who is expected to see whom.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::{Level, Target};
use skew_sql::explore::{Client, FINALLY};
use skew_sql::session::guide::{Guide, Seeing};
use skew_sql::types::quote;

use super::arguments::{Calls, Case};
use crate::summary::build::Reading;
use crate::summary::facts::TableFacts;
use crate::summary::{Access, Cell};
use crate::suspect::{EdgeKind, Suspect};

/// The calls of a suspect in sessions, in an order that the suspect's dependencies suggest.
#[derive(Clone, Debug)]
pub(super) struct Arrangement {
    /// The sessions with the numbers of their calls in the suspect.
    pub(super) sessions: Vec<Vec<usize>>,
    /// The query with which every session reads what all of them have left, if they do.
    pub(super) finally: Option<String>,
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
            all.extend([calls, back].map(|calls| Arrangement { sessions: vec![calls], finally: None }));
        }
        all
    }

    /// The same calls, and in the end every session reads what they have overwritten of each other: where nobody reads it, no
    /// history tells who has written last. Whoever reads comes after all calls and sees all of them, so that every level
    /// allows it, and nobody depends on it. Whoever was overwritten comes before the one who has written last, because its
    /// session sees that one later.
    pub(super) fn with_readers(&self, case: Case<'_>) -> Option<Arrangement> {
        let finally = what_is_left(case)?;
        Some(Arrangement { sessions: self.sessions.clone(), finally: Some(finally) })
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
        Arrangement { sessions, finally: None }
    }

    /// The same without one of the calls.
    pub(super) fn without(&self, call: usize) -> Arrangement {
        let sessions = self.sessions.iter().map(|calls| calls.iter().copied().filter(|one| *one != call).collect());
        let sessions = sessions.filter(|calls: &Vec<usize>| !calls.is_empty()).collect();
        Arrangement { sessions, finally: self.finally.clone() }
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
        let finally = self.finally.iter().map(|query| (FINALLY.to_owned(), vec![query.clone()]));
        Client { sessions: sessions.chain(finally).collect() }
    }

    /// A guide that lets calls see each other as the dependencies say, before it tries everything else.
    pub(super) fn guide(&self, case: Case<'_>) -> Guide {
        let calls = self.calls();
        let place = |call: usize| calls.iter().position(|known| *known == call);
        let mut expected = BTreeMap::new();
        for edge in &case.suspect.edges {
            let has_conflicts = case.level(edge.to).refuses_conflicts();
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

/// A query of the columns in which calls of a suspect overwrite each other: of one table, `SELECT v FROM u`; of several ones,
/// in one statement all the same, which sees one state.
fn what_is_left(case: Case<'_>) -> Option<String> {
    let mut tables: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for edge in case.suspect.edges.iter().filter(|edge| edge.kind == EdgeKind::WriteWrite) {
        let Some((one, other)) = edge.accesses else { continue };
        let accesses = case.path(edge.from).accesses.get(one).zip(case.path(edge.to).accesses.get(other));
        let Some((one, other)) = accesses else { continue };
        let Some(table) = case.summary.facts.table(one.table) else { continue };
        tables.entry(table.called()).or_default().extend(columns(table, one, other));
    }
    let several = tables.len() > 1;
    let all = tables.iter().map(|(name, columns)| {
        let list = columns.iter().cloned().collect::<Vec<_>>().join(", ");
        match several {
            false => format!("{list} FROM {name}"),
            true => {
                let each = columns.iter().map(|column| format!("ARRAY(SELECT {column} FROM {name})"));
                each.collect::<Vec<_>>().join(", ")
            }
        }
    });
    let all = all.collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| format!("SELECT {all}"))
}

/// The columns that two accesses write, as SQL names them; those of the key where rows come and go.
fn columns(table: &TableFacts, one: &Access, other: &Access) -> Vec<String> {
    let both = one.writes.intersection(&other.writes);
    let columns = both.filter_map(|cell| match cell {
        Cell::Column(column) => table.has_column(*column).then_some(*column),
        Cell::Existence => None,
    });
    let mut columns: Vec<usize> = columns.collect();
    if columns.is_empty() {
        columns = table.key.clone();
    }
    columns.into_iter().map(|column| quote::identifier(table.column(column))).collect()
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
        let strict = [EdgeKind::Session, EdgeKind::Constraint, EdgeKind::WriteRead, EdgeKind::WriteWrite];
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
    match level {
        Level::Ec => Level::Ra,
        Level::PgRc => Level::Mvrc,
        level => level,
    }
}

/// Whether runs of a level are those of PostgreSQL's snapshots.
pub(super) fn has_snapshots(level: Level) -> bool {
    level.definition().target == Some(Target::Postgres) && level.looks_once()
}

/// As `skew explore` reads it.
pub(super) fn text(client: &Client) -> String {
    let sessions = client.sessions.iter().map(|(name, calls)| format!("{name}: {}", calls.join("; ")));
    sessions.collect::<Vec<_>>().join(" | ")
}
