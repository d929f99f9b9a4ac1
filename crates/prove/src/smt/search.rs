//! The shortest cycles that the solver finds, each kind of them once.

use std::collections::BTreeMap;

use skew_model::Level;

use super::axioms::{Meaning, Relation};
use super::encode::{Encoding, Isolation, KINDS};
use super::formula::Formula;
use super::solver::{Conversation, NoSolver, Said, Script, Solver};
use crate::graph::Graph;
use crate::suspect::{Edge, EdgeKind, Place, Suspect, SuspectCall};

/// So many different cycles of one length are looked for.
const MOST_CYCLES: usize = 40;

/// The cycles of one length.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// How many transactions they have.
    pub length: usize,
    /// One of each kind: no two have the same programs and the same dependencies.
    pub suspects: Vec<Suspect>,
    /// What was asked last: whether there is another one.
    pub script: Script,
    /// The limit that was hit.
    pub limit: Option<String>,
}

/// Looks for cycles of a length without a shorter one in them.
pub fn cycles(
    solver: &Solver,
    graph: &Graph<'_>,
    isolation: &Isolation,
    length: usize,
    level: Level,
) -> Result<Cycles, NoSolver> {
    let nodes: Vec<usize> = (0..graph.nodes.len()).collect();
    let encoding = Encoding::new(graph, &nodes, isolation, length);
    let mut conversation = solver.start()?;
    encoding.tell(&mut conversation);
    for one in 0..length {
        for other in (0..length).filter(|other| *other != one) {
            let depends = encoding.depends(one, other);
            let is_next = (one + 1) % length == other;
            conversation.assert(&if is_next { depends } else { !depends });
        }
    }
    let mut suspects = Vec::new();
    let limit = loop {
        if suspects.len() == MOST_CYCLES {
            break Some(format!("{MOST_CYCLES} different cycles of {length} transactions"));
        }
        match conversation.ask() {
            Said::Unsat => break None,
            Said::Unknown(why) => break Some(why),
            Said::Sat => {
                let values = conversation.values(&encoding.names());
                let Some(suspect) = suspect(&encoding, &values, level) else {
                    break Some("an answer of the solver that was not understood".to_owned());
                };
                exclude(&encoding, &mut conversation, &suspect);
                suspects.push(suspect);
            }
        }
    };
    let other = if suspects.is_empty() { "" } else { " of another kind" };
    let script = conversation.script(format!("no cycle of {length} transactions{other}"));
    Ok(Cycles { length, suspects, script, limit })
}

/// The cycle that the solver has in mind.
fn suspect(encoding: &Encoding<'_, '_>, values: &BTreeMap<String, String>, level: Level) -> Option<Suspect> {
    let graph = encoding.graph;
    let taken =
        |at: usize| encoding.nodes.iter().copied().find(|node| encoding.holds(&encoding.takes(at, *node), values));
    let nodes: Vec<usize> = (0..encoding.count).map(taken).collect::<Option<_>>()?;
    let mut edges = Vec::new();
    let mut equal = Vec::new();
    for (from, node) in nodes.iter().enumerate() {
        let to = (from + 1) % nodes.len();
        let holds = |relation| encoding.holds(&encoding.related(relation, from, to), values);
        let kind = KINDS.into_iter().find(|(relation, _)| holds(*relation)).map(|(_, kind)| kind);
        let Some(kind) = kind else {
            if !holds(Relation::So) {
                return None;
            }
            edges.push(Edge { from, to, kind: EdgeKind::Session, accesses: None });
            continue;
        };
        let dependency = encoding.dependency(kind, (from, *node), (to, nodes[to]), values)?;
        edges.push(Edge { from, to, kind, accesses: Some(dependency.accesses) });
        let places = dependency.equal.iter();
        equal.extend(places.map(|(one, other)| (Place { call: from, term: *one }, Place { call: to, term: *other })));
    }
    let calls = nodes.iter().map(|node| graph.nodes[*node]);
    let calls = calls.map(|node| SuspectCall { program: node.program, path: node.path }).collect();
    Some(Suspect { level, calls, edges, equal })
}

/// No cycle with the same programs and dependencies any more, wherever it begins.
fn exclude(encoding: &Encoding<'_, '_>, conversation: &mut Conversation, suspect: &Suspect) {
    let length = suspect.calls.len();
    for turn in 0..length {
        let at = |call: usize| (call + turn) % length;
        let programs =
            suspect.calls.iter().enumerate().map(|(call, called)| encoding.is_program(at(call), called.program));
        let edges = suspect.edges.iter().map(|edge| {
            let relation = KINDS.into_iter().find(|(_, kind)| *kind == edge.kind);
            let relation = relation.map_or(Relation::So, |(relation, _)| relation);
            encoding.related(relation, at(edge.from), at(edge.to))
        });
        conversation.assert(&!Formula::all(programs.chain(edges)));
    }
}
