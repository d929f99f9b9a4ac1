//! From answers to a certificate.

use std::collections::BTreeSet;

use skew_model::Level;

use super::check::one_level;
use super::convert::{cell_of, summary_of};
use super::data::{Apart, At, Certificate, Edge, KIND, Kind, LevelPart, Script, Summary, VERSION, Writers};
use super::lookups::each_lookup;
use super::pairs::{Pair, Side, pair};
use super::rows::by_rows;
use super::rules::Levels;
use crate::graph::Graph;
use crate::robust::answer::{Answer, Argument, Verdict};
use crate::robust::{Dependencies, Question, Robustness};
use crate::smt;
use crate::suspect::EdgeKind;

/// A level that a certificate says nothing about, although it is robust: why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The level.
    pub level: Level,
    /// Why.
    pub why: String,
}

/// A certificate for the levels at which answers say that every run is serializable. Levels that cannot be verified by it are
/// left out.
pub fn write(
    file: &str,
    robustness: &Robustness,
    question: &Question,
    answers: &[Answer],
) -> (Certificate, Vec<LeftOut>) {
    let mut certificate = Certificate {
        skew: KIND.to_owned(),
        version: VERSION,
        file: file.to_owned(),
        sessions: question.sessions,
        rows: question.dependencies == Dependencies::Rows,
        serializable: question.serializable.clone(),
        pairs: question.pairs.clone(),
        axioms: question.axioms.as_ref().map(ToString::to_string),
        summaries: Vec::new(),
        levels: Vec::new(),
    };
    let mut left_out = Vec::new();
    for answer in answers {
        let Verdict::Robust { by } = &answer.verdict else { continue };
        let level = answer.level;
        let summary = robustness.summary(level);
        let own: Vec<Option<Level>> = summary.programs.iter().map(|program| program.level).collect();
        let levels = match Levels::of(level, &own) {
            Ok(levels) => levels,
            Err(why) => {
                left_out.push(LeftOut { level, why });
                continue;
            }
        };
        if !certificate.summaries.iter().any(|summary| levels.is_about(summary)) {
            certificate.summaries.push(with_edges(summary, &levels, certificate.rows));
        }
        let (argument, scripts) = match by {
            Argument::Graph { .. } => ("graph", Vec::new()),
            Argument::Solver(proof) => ("solver", proof.scripts.iter().map(script_of).collect()),
        };
        let (level_id, rule) = (level.id().to_owned(), levels.words());
        let part = LevelPart { level: level_id, argument: argument.to_owned(), rule, scripts };
        // The solver has just been asked.
        match one_level(&certificate, &part, &|_| Ok(())) {
            Ok(_) => certificate.levels.push(part),
            Err(why) => left_out.push(LeftOut { level, why }),
        }
    }
    (certificate, left_out)
}

fn script_of(script: &smt::solver::Script) -> Script {
    Script { purpose: script.purpose.clone(), text: script.text.clone() }
}

/// A summary with the dependencies that the engine has found, and the reasons of those that are none.
fn with_edges(known: &crate::summary::Summary, levels: &Levels, rows: bool) -> Summary {
    let mut summary = summary_of(known, levels.reading(), levels.writers());
    let all: Vec<usize> = (0..known.programs.len()).collect();
    let wide = if rows { known.by_rows() } else { known.clone() };
    let writers = match levels.writers() {
        Writers::Together => crate::graph::Writers::Together,
        Writers::Apart => crate::graph::Writers::Apart,
    };
    let graph = Graph::with(&wide, &all, writers);
    for (node, edges) in graph.edges.iter().enumerate() {
        for edge in edges {
            let kind = match edge.kind {
                EdgeKind::WriteRead => Kind::Wr,
                EdgeKind::WriteWrite => Kind::Ww,
                EdgeKind::ReadWrite => Kind::Rw,
                EdgeKind::Constraint => Kind::Constraint,
                EdgeKind::Session => continue,
            };
            let at = |node: usize, access: usize| (graph.nodes[node].program, graph.nodes[node].path, access);
            summary.edges.push(Edge {
                from: at(node, edge.accesses.0),
                to: at(edge.to, edge.accesses.1),
                kind,
                picked: edge.picked,
                cells: edge.cells.iter().copied().map(cell_of).collect(),
                equal: edge.equal.clone(),
                lookup: edge.lookup,
            });
        }
    }
    let edges: BTreeSet<Met> = summary.edges.iter().map(Met::of).collect();
    let mut apart = Vec::new();
    let conflicting = if rows { by_rows(&summary) } else { summary.clone() };
    each_pair(&conflicting, |met, found| {
        // Where the engine has no dependency and there is no reason, the checker will say so.
        if let (Pair::Apart(reason), false) = (found, edges.contains(&met)) {
            let Met { from, to, kind, picked, .. } = met;
            apart.push(Apart { from, to, kind, picked, reason });
        }
    });
    summary.apart = apart;
    summary
}

/// Two accesses, and how they may meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Met {
    pub(super) from: At,
    pub(super) to: At,
    pub(super) kind: Kind,
    pub(super) picked: bool,
    pub(super) lookup: Option<usize>,
}

impl Met {
    pub(super) fn of(edge: &Edge) -> Met {
        Met { from: edge.from, to: edge.to, kind: edge.kind, picked: edge.picked, lookup: edge.lookup }
    }
}

/// Looks at all pairs of accesses to one table, and at those that a constraint's lookup connects.
pub(super) fn each_pair(summary: &Summary, mut look: impl FnMut(Met, Pair)) {
    let mut all: Vec<(At, Side<'_>)> = Vec::new();
    for (program, known) in summary.programs.iter().enumerate() {
        for (way, known) in known.ways.iter().enumerate() {
            let accesses = known.accesses.iter().enumerate();
            all.extend(accesses.map(|(at, access)| ((program, way, at), Side { way: known, at, access })));
        }
    }
    for (from, one) in &all {
        let Some(table) = one.access.table.and_then(|table| summary.tables.get(table)) else { continue };
        for (to, other) in all.iter().filter(|(_, other)| other.access.table == one.access.table) {
            for kind in [Kind::Wr, Kind::Ww, Kind::Rw] {
                for picked in [true, false] {
                    let met = Met { from: *from, to: *to, kind, picked, lookup: None };
                    look(met, pair(table, summary.writers, kind, picked, *one, *other));
                }
            }
        }
    }
    each_lookup(summary, &all, |from, to, lookup, found| {
        look(Met { from, to, kind: Kind::Constraint, picked: true, lookup: Some(lookup) }, found);
    });
}
