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
        return Anomaly::StaleRead;
    }
    if standing.breaks(Level::Rc) {
        return match shape.antidependencies {
            0 if shape.has(|kind| matches!(kind, EdgeKind::Wr(_) | EdgeKind::So)) => Anomaly::CircularInformationFlow,
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
            _ if shape.has(|kind| kind == EdgeKind::So) && !shape.has(|kind| matches!(kind, EdgeKind::Wr(_))) => {
                Anomaly::SessionFork
            }
            _ => Anomaly::LongFork,
        };
    }
    let read_only = |txn: TxnId| facts.writes(facts.nodes[txn.0 as usize]).is_empty();
    match cycle.edges.len() {
        2 if shape.antidependencies == 2 => Anomaly::WriteSkew,
        3 if cycle.edges.iter().any(|edge| read_only(edge.from)) => Anomaly::ReadOnlyAnomaly,
        _ => Anomaly::SerializationCycle,
    }
}

/// Two transactions that read one version of a key and both overwrite it.
fn is_lost_update(facts: &Facts, cycle: &Cycle) -> bool {
    let source = |txn: TxnId, key: u32| {
        let reads = facts.reads(facts.nodes[txn.0 as usize]).iter();
        reads.filter(|read| read.key == key).map(|read| read.source).next()
    };
    cycle.edges.iter().any(|edge| {
        let EdgeKind::Rw(key) = edge.kind else { return false };
        let both_write = [edge.from, edge.to].iter().all(|txn| facts.writes_key(facts.nodes[txn.0 as usize], key.0));
        both_write && source(edge.from, key.0).is_some() && source(edge.from, key.0) == source(edge.to, key.0)
    })
}

struct Shape {
    kinds: Vec<EdgeKind>,
    antidependencies: usize,
}

impl Shape {
    fn of(cycle: &Cycle) -> Shape {
        let kinds: Vec<EdgeKind> = cycle.edges.iter().map(|edge| edge.kind).collect();
        let antidependencies = kinds.iter().filter(|kind| matches!(kind, EdgeKind::Rw(_))).count();
        Shape { kinds, antidependencies }
    }

    fn has(&self, wanted: impl Fn(EdgeKind) -> bool) -> bool {
        self.kinds.iter().any(|&kind| wanted(kind))
    }
}
