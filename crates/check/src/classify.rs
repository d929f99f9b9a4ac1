//! The name of a violation, from the levels that its smallest part breaks and the shape of its cycle.

use skew_model::{Anomaly, Cycle, Edge, EdgeKind, Explanation, Level, TxnId};

use crate::facts::Facts;

/// Which levels a part breaks, and the strongest that it still satisfies.
pub(crate) struct Standing {
    /// The levels that hold.
    pub holds: Vec<Level>,
    /// The levels that are broken.
    pub broken: Vec<Level>,
}

impl Standing {
    /// The weakest broken levels: those all of whose weaker levels hold.
    pub(crate) fn weakest_broken(&self) -> Vec<Level> {
        let minimal = |level: &&Level| !self.broken.iter().any(|other| other != *level && level.implies(*other));
        self.broken.iter().filter(minimal).copied().collect()
    }

    /// The strongest levels that hold.
    pub(crate) fn strongest_held(&self) -> Vec<Level> {
        let maximal = |level: &&Level| !self.holds.iter().any(|other| other != *level && other.implies(**level));
        self.holds.iter().filter(maximal).copied().collect()
    }

    fn breaks(&self, level: Level) -> bool {
        self.broken.contains(&level)
    }
}

/// Names a violation.
pub(crate) fn classify(facts: &Facts, standing: &Standing, explanation: &Explanation) -> Anomaly {
    match explanation {
        Explanation::Finding(finding) => finding.kind.anomaly().unwrap_or(Anomaly::ThinAirRead),
        Explanation::Cycle(cycle) => classify_cycle(facts, standing, cycle),
        Explanation::Cases { first_before_second, .. } => classify(facts, standing, first_before_second),
    }
}

fn classify_cycle(facts: &Facts, standing: &Standing, cycle: &Cycle) -> Anomaly {
    let shape = Shape::of(cycle);
    if !standing.breaks(Level::Ser) || shape.has(|kind| kind == EdgeKind::Rt) {
        return if shape.antidependencies > 0 { Anomaly::StaleRead } else { Anomaly::ClockContradiction };
    }
    if standing.breaks(Level::Rc) {
        return match shape.antidependencies {
            0 if shape.has(|kind| matches!(kind, EdgeKind::Wr(_))) => Anomaly::CircularInformationFlow,
            0 if shape.has(|kind| kind == EdgeKind::So) => Anomaly::NonMonotonicWrite,
            0 => Anomaly::DirtyWrite,
            _ => Anomaly::NonMonotonicRead,
        };
    }
    if standing.breaks(Level::Ra) {
        return match &cycle.edges[..] {
            [_, Edge { kind: EdgeKind::So, .. }] => Anomaly::LostOwnWrite,
            [rw, wr] if rw.kind.key() == wr.kind.key() => Anomaly::NonRepeatableRead,
            _ => Anomaly::FracturedRead,
        };
    }
    if standing.breaks(Level::Cc) {
        return match &cycle.edges[..] {
            [_, Edge { kind: EdgeKind::Wr(_), .. }, rest @ ..] if rest.iter().all(|edge| edge.kind == EdgeKind::So) => {
                Anomaly::NonMonotonicSession
            }
            _ => Anomaly::CausalityViolation,
        };
    }
    let below_ser = [Level::Mvrc, Level::Pc, Level::Psi, Level::Si];
    if below_ser.into_iter().any(|level| standing.breaks(level)) {
        return match shape.antidependencies {
            _ if is_lost_update(facts, cycle) => Anomaly::LostUpdate,
            0 | 1 => Anomaly::ReadSkew,
            _ if shape.adjacent => Anomaly::SerializationCycle,
            _ if shape.has(|kind| matches!(kind, EdgeKind::Wr(_))) => Anomaly::LongFork,
            _ => Anomaly::SessionFork,
        };
    }
    let read_only = |txn: TxnId| facts.writes(facts.nodes[txn.0 as usize]).is_empty();
    match cycle.edges.len() {
        2 if shape.antidependencies == 2 => Anomaly::WriteSkew,
        3 if cycle.edges.iter().any(|edge| read_only(edge.from)) => Anomaly::ReadOnlyAnomaly,
        _ => Anomaly::SerializationCycle,
    }
}

fn is_lost_update(facts: &Facts, cycle: &Cycle) -> bool {
    cycle.edges.iter().any(|edge| loses_update(facts, edge))
}

/// A transaction read a version that another one overwrote, and overwrote it as well.
fn loses_update(facts: &Facts, edge: &Edge) -> bool {
    let EdgeKind::Rw(key) = edge.kind else { return false };
    [edge.from, edge.to].iter().all(|txn| facts.writes_key(facts.nodes[txn.0 as usize], key.0))
}

/// Puts the edge that gives the anomaly its name first.
pub(crate) fn rotate(facts: &Facts, anomaly: Anomaly, explanation: &mut Explanation) {
    match explanation {
        Explanation::Cycle(cycle) if anomaly == Anomaly::LostUpdate => {
            let first = cycle.edges.iter().position(|edge| loses_update(facts, edge)).unwrap_or(0);
            cycle.edges.rotate_left(first);
        }
        _ => {}
    }
}

struct Shape {
    kinds: Vec<EdgeKind>,
    antidependencies: usize,
    /// Whether two antidependencies follow each other.
    adjacent: bool,
}

impl Shape {
    fn of(cycle: &Cycle) -> Shape {
        let kinds: Vec<EdgeKind> = cycle.edges.iter().map(|edge| edge.kind).collect();
        let rw = |kind: &EdgeKind| matches!(kind, EdgeKind::Rw(_));
        let antidependencies = kinds.iter().filter(|kind| rw(kind)).count();
        let adjacent = kinds.iter().zip(kinds.iter().cycle().skip(1)).any(|(one, next)| rw(one) && rw(next));
        Shape { kinds, antidependencies, adjacent }
    }

    fn has(&self, wanted: impl Fn(EdgeKind) -> bool) -> bool {
        self.kinds.iter().any(|&kind| wanted(kind))
    }
}
