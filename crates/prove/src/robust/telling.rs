//! Answers as the data that renderers and files share.

use std::collections::BTreeMap;

use skew_check::check;
use skew_model::Level;
use skew_model::robust::{
    Approximated, Dependency, DependencyKind, FoundRun, LevelAnswer, Meeting, PossibleCycle, RobustCycle, RobustEdge,
    RobustProgram, RobustReport, RobustSubsets, RobustVerdict, StatementAt,
};

use crate::confirm::Found;
use crate::graph::{Budget, Graph, Writers};
use crate::robust::answer::{Answer, Argument, Verdict};
use crate::robust::words::about;
use crate::robust::{Dependencies, Question, Robustness};
use crate::summary::{Access, Summary, TermId};
use crate::suspect::{EdgeKind, Suspect};

/// So many pairs of statements are told of one dependency.
const MOST_STATEMENTS: usize = 12;

impl Robustness {
    /// All that is known, from the answers at each level (weakest first).
    pub fn report(&self, file: &str, question: &Question, answers: &[Answer]) -> RobustReport {
        let mut report = RobustReport {
            file: file.to_owned(),
            programs: self.once.programs.iter().map(|program| program_of(program, question)).collect(),
            sessions: question.sessions,
            rows: question.dependencies == Dependencies::Rows,
            approximations: self.approximations(),
            uncalled: self.each_statement.uncalled.clone(),
            dependencies: dependencies(&self.each_statement, question.budget),
            ..RobustReport::default()
        };
        let mut known: Vec<(Level, String)> = Vec::new();
        // Runs of stronger levels come first: weaker ones refer to them.
        for answer in answers.iter().rev() {
            let summary = self.summary(answer.level);
            let mut found = Vec::new();
            for (suspect, run) in &answer.found {
                let name = (run.level, run.client_text());
                let at = known.iter().position(|one| *one == name).unwrap_or_else(|| {
                    known.push(name);
                    report.runs.push(run_of(file, question, self.summary(run.level), suspect, run));
                    known.len() - 1
                });
                found.push(at);
            }
            report.levels.push(level_of(summary, answer, found));
        }
        report.levels.reverse();
        report
    }

    /// The largest robust sets of programs at a level.
    pub fn subsets(&self, level: Level, question: &Question) -> RobustSubsets {
        let sets = self.largest_robust_sets(level, question);
        RobustSubsets { level: level.id().to_owned(), sets: sets.sets, limit: sets.limit }
    }

    fn approximations(&self) -> Vec<Approximated> {
        let programs = self.once.programs.iter();
        let all = programs.flat_map(|program| {
            program.approximations.iter().map(|one| Approximated {
                program: program.name.clone(),
                line: one.line,
                what: one.what.clone(),
            })
        });
        all.collect()
    }
}

fn program_of(program: &crate::summary::Program, question: &Question) -> RobustProgram {
    RobustProgram {
        name: program.name.clone(),
        parameters: program.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        ways: program.paths.len(),
        level: program.level.map(|level| level.id().to_owned()),
        is_marked: question.serializable.contains(&program.name),
    }
}

/// Which programs can depend on which: the edges between all ways through them, those about the same together. None if there
/// are too many to list.
fn dependencies(summary: &Summary, budget: Budget) -> Vec<Dependency> {
    let all: Vec<usize> = (0..summary.programs.len()).collect();
    let graph = Graph::within(summary, &all, Writers::Together, budget);
    if graph.limit.is_some() {
        return Vec::new();
    }
    let mut found: BTreeMap<(usize, usize, DependencyKind, String), Vec<Meeting>> = BTreeMap::new();
    for (node, edges) in graph.edges.iter().enumerate() {
        for edge in edges {
            let (from, to) =
                (&graph.path(node).accesses[edge.accesses.0], &graph.path(edge.to).accesses[edge.accesses.1]);
            let programs = (graph.nodes[node].program, graph.nodes[edge.to].program);
            let about = about(summary, from, to, edge.kind);
            let statements = found.entry((programs.0, programs.1, kind_of(edge.kind), about)).or_default();
            if statements.len() < MOST_STATEMENTS {
                let word = |node: usize, term: TermId| {
                    summary.programs[graph.nodes[node].program].term(graph.path(node), term, &summary.facts)
                };
                let equal = edge.equal.iter().map(|(one, other)| (word(node, *one), word(edge.to, *other))).collect();
                let meeting = Meeting { from: statement(from), to: statement(to), equal };
                if !statements.contains(&meeting) {
                    statements.push(meeting);
                }
            }
        }
    }
    let told = found.into_iter();
    told.map(|((from, to, kind, about), statements)| Dependency { from, to, kind, about, statements }).collect()
}

fn statement(access: &Access) -> StatementAt {
    StatementAt { line: access.line, text: access.statement.to_string() }
}

fn kind_of(kind: EdgeKind) -> DependencyKind {
    match kind {
        EdgeKind::Session => DependencyKind::Session,
        EdgeKind::Constraint => DependencyKind::Constraint,
        EdgeKind::WriteRead => DependencyKind::WriteRead,
        EdgeKind::WriteWrite => DependencyKind::WriteWrite,
        EdgeKind::ReadWrite => DependencyKind::ReadWrite,
    }
}

fn level_of(summary: &Summary, answer: &Answer, found: Vec<usize>) -> LevelAnswer {
    let (verdict, argument, why) = match &answer.verdict {
        Verdict::Serializable => (RobustVerdict::Robust, Some("definition"), "by definition".to_owned()),
        Verdict::Robust { by: Argument::Graph { .. } } => (
            RobustVerdict::Robust,
            Some("graph"),
            "no cycle of dependencies is allowed, for any number of transactions".to_owned(),
        ),
        Verdict::Robust { by: Argument::Solver(proof) } => (
            RobustVerdict::Robust,
            Some("solver"),
            format!("no cycle of dependencies is allowed, for any number of transactions: {}", proof.argument),
        ),
        Verdict::NotRobust => (RobustVerdict::NotRobust, None, not_robust_words(summary, answer)),
        Verdict::Possible => {
            let first = answer.possible.first().map(|(suspect, _)| suspect);
            let cycle = first.map(|suspect| suspect.cycle(summary)).unwrap_or_default();
            let rests = first.and_then(|suspect| suspect.approximated(summary));
            let rests = rests.map_or_else(String::new, |place| format!(" (because of what {place}, may do)"));
            (RobustVerdict::Possible, None, format!("not seen, and not excluded: {cycle}{rests}"))
        }
        Verdict::Unknown(limit) => (RobustVerdict::Unknown, None, format!("because of {limit}")),
    };
    let why = match (&answer.no_solver, &answer.verdict) {
        (Some(missing), Verdict::Unknown(limit)) if limit == missing => format!("no solver could be asked: {missing}"),
        (Some(missing), _) => format!("{why} (no solver could be asked: {missing})"),
        (None, _) => why,
    };
    let (tried, untried): (Vec<_>, Vec<_>) = answer.possible.iter().partition(|(_, reason)| !reason.is_empty());
    let possible = tried.into_iter().map(|(suspect, reason)| PossibleCycle {
        cycle: cycle_of(summary, suspect),
        reason: match suspect.approximated(summary) {
            Some(place) => format!("{reason}; {place}, is taken to do more than it does"),
            None => reason.clone(),
        },
    });
    LevelAnswer {
        level: answer.level.id().to_owned(),
        verdict,
        argument: argument.map(str::to_owned),
        why,
        found,
        possible: possible.collect(),
        untried: untried.len(),
    }
}

fn not_robust_words(summary: &Summary, answer: &Answer) -> String {
    let Some((suspect, found)) = answer.found.first() else { return String::new() };
    let anomaly = anomaly(found).unwrap_or("not serializable");
    format!("{anomaly}: {}", suspect.programs(summary, &found.calls).join(", "))
}

fn anomaly(found: &Found) -> Option<&'static str> {
    check(&found.history, Level::Ser).violation().map(|violation| violation.anomaly.id())
}

fn cycle_of(summary: &Summary, suspect: &Suspect) -> RobustCycle {
    let edges = suspect.edges.iter().map(|edge| {
        let accesses = edge.accesses.map(|(from, to)| {
            let of = |call: usize, access: usize| {
                let call = &suspect.calls[call];
                &summary.programs[call.program].paths[call.path].accesses[access]
            };
            (of(edge.from, from), of(edge.to, to))
        });
        RobustEdge {
            from: suspect.calls[edge.from].program,
            to: suspect.calls[edge.to].program,
            kind: kind_of(edge.kind),
            about: accesses.map_or_else(String::new, |(from, to)| about(summary, from, to, edge.kind)),
            statements: accesses.map(|(from, to)| (statement(from), statement(to))),
        }
    });
    RobustCycle { line: suspect.cycle(summary), edges: edges.collect() }
}

fn run_of(file: &str, question: &Question, summary: &Summary, suspect: &Suspect, found: &Found) -> FoundRun {
    let verdict = check(&found.history, Level::Ser);
    // If not all calls are needed, or others conflict, what was found is not what was looked for.
    let is_whole = found.calls.len() == suspect.calls.len()
        && verdict.violation().is_none_or(|violation| suspect.is_about(summary, &violation.history));
    let core = verdict.violation().map_or(&found.history, |violation| &violation.history);
    FoundRun {
        level: found.level.id().to_owned(),
        anomaly: verdict.violation().map(|violation| violation.anomaly.id().to_owned()),
        programs: suspect.programs(summary, &found.calls).iter().map(|name| (*name).to_owned()).collect(),
        cycle: is_whole.then(|| cycle_of(summary, suspect)),
        setup: found.setup.clone(),
        sessions: found.client.sessions.clone(),
        client: found.client_text(),
        history: found.history.to_string(),
        core: core.to_string(),
        replay: found.command(file, question),
        psql: found.postgres_script().ok(),
        saved: None,
    }
}
