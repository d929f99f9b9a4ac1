//! Which lines a drawing of programs has, and what stands on them.

use std::collections::BTreeMap;

use skew_model::robust::{Dependency, DependencyKind, Meeting, RobustCycle, RobustReport};

use crate::clean::shorten;
use crate::markup::escape;
use crate::robust::words::{label, program, statement};

/// So many programs fit into a drawing.
const MOST_PROGRAMS: usize = 16;
/// So many pairs of statements are told when one points at a line.
const MOST_STATEMENTS: usize = 6;

/// Two programs that meet, or one that meets itself.
pub(super) struct Line {
    pub(super) one: usize,
    pub(super) other: usize,
    /// One of the first program reads what one of the other overwrites.
    pub(super) one_reads: bool,
    /// The other way round.
    pub(super) other_reads: bool,
    pub(super) label: String,
    /// What one reads when pointing at it, escaped.
    pub(super) title: String,
}

/// A step of a cycle, or several of them between the same programs.
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: DependencyKind,
    pub(super) label: String,
    pub(super) title: String,
    /// The number of the first one in the cycle.
    pub(super) number: usize,
}

/// The programs that are drawn: all, or if there are too many those of the cycle and those that they meet.
pub(super) fn drawn(report: &RobustReport, cycle: Option<&RobustCycle>) -> Vec<usize> {
    let count = report.programs.len();
    if count <= MOST_PROGRAMS {
        return (0..count).collect();
    }
    let mut programs: Vec<usize> = Vec::new();
    let add = |program: usize, programs: &mut Vec<usize>| {
        if programs.len() < MOST_PROGRAMS && !programs.contains(&program) {
            programs.push(program);
        }
    };
    cycle.iter().flat_map(|cycle| &cycle.edges).for_each(|edge| add(edge.from, &mut programs));
    let near: Vec<usize> =
        report.dependencies.iter().filter(|one| programs.contains(&one.from)).map(|one| one.to).collect();
    near.into_iter().chain(0..count).for_each(|program| add(program, &mut programs));
    programs.sort_unstable();
    programs
}

/// The lines between some programs.
pub(super) fn lines(report: &RobustReport, programs: &[usize]) -> Vec<Line> {
    let mut pairs: BTreeMap<(usize, usize), Vec<&Dependency>> = BTreeMap::new();
    for one in &report.dependencies {
        if programs.contains(&one.from) && programs.contains(&one.to) {
            pairs.entry((one.from.min(one.to), one.from.max(one.to))).or_default().push(one);
        }
    }
    pairs.into_iter().map(|((one, other), all)| line(report, one, other, &all)).collect()
}

fn line(report: &RobustReport, one: usize, other: usize, all: &[&Dependency]) -> Line {
    let reads = |from: usize| all.iter().any(|edge| edge.kind == DependencyKind::ReadWrite && edge.from == from);
    Line {
        one,
        other,
        one_reads: reads(one),
        other_reads: reads(other),
        label: meeting(all),
        title: all_words(report, all).join("\n"),
    }
}

/// What two programs meet at, in a few characters.
fn meeting(all: &[&Dependency]) -> String {
    let mut abouts: Vec<&str> = all.iter().map(|edge| edge.about.as_str()).collect();
    abouts.sort_unstable();
    abouts.dedup();
    if let [about] = abouts[..] {
        return shorten(about, 26);
    }
    let mut tables: Vec<&str> = abouts.iter().map(|about| about.split(['.', ':']).next().unwrap_or_default()).collect();
    tables.dedup();
    match &tables[..] {
        [table] => shorten(table, 22),
        [one, other] => format!("{}, {}", shorten(one, 14), shorten(other, 14)),
        [one, other, more @ ..] => format!("{}, {} +{}", shorten(one, 12), shorten(other, 12), more.len()),
        [] => String::new(),
    }
}

/// What two programs depend on each other for; those that only say the same backwards (`wr`) are left out.
pub(super) fn all_words(report: &RobustReport, all: &[&Dependency]) -> Vec<String> {
    let mut words = Vec::new();
    for edge in all.iter().filter(|edge| edge.kind != DependencyKind::WriteRead) {
        let (from, to) = (program(report, edge.from), program(report, edge.to));
        if edge.kind == DependencyKind::WriteWrite && edge.from > edge.to {
            continue;
        }
        let what = match edge.kind {
            DependencyKind::ReadWrite => format!("{from} reads what {to} overwrites: {}", edge.about),
            DependencyKind::Constraint => format!("{from} lets {to} satisfy the constraint {}", edge.about),
            _ => format!("{from} and {to} write {}", edge.about),
        };
        words.push(escape(&what));
        for meeting in edge.statements.iter().take(MOST_STATEMENTS) {
            words.push(meeting_words(report, edge, meeting));
        }
        if edge.statements.len() > MOST_STATEMENTS {
            words.push("  …".to_owned());
        }
    }
    words
}

fn meeting_words(report: &RobustReport, edge: &Dependency, meeting: &Meeting) -> String {
    let (one, other) = (statement(report, edge.from, &meeting.from), statement(report, edge.to, &meeting.to));
    let (mut first, mut second) = (program(report, edge.from), program(report, edge.to));
    if edge.from == edge.to {
        (first, second) = ("the one", "the other");
    }
    // A value that is anything says nothing.
    let known = meeting.equal.iter().filter(|(one, other)| one != "?" && other != "?");
    let equal = known.map(|(one, other)| format!("{} = {}", value_of(one, first), value_of(other, second)));
    let equal: Vec<String> = equal.collect();
    let when = if equal.is_empty() { String::new() } else { format!(" if {}", equal.join(" and ")) };
    format!("  {} / {}{}", escape(&one), escape(&other), escape(&when))
}

/// A value with the program whose it is; a constant is everybody's.
fn value_of(value: &str, program: &str) -> String {
    let is_constant = value.starts_with(|first: char| first == '\'' || first == '-' || first.is_ascii_digit());
    if is_constant { value.to_owned() } else { format!("{value} of {program}") }
}

/// The steps of a cycle; those between the same programs about the same are one arrow.
pub(super) fn steps(report: &RobustReport, cycle: &RobustCycle) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (number, edge) in cycle.edges.iter().enumerate() {
        let own = label(edge);
        let same = |step: &&mut Step| step.from == edge.from && step.to == edge.to;
        if let Some(step) = steps.iter_mut().find(same) {
            step.label = match step.label.strip_suffix(&format!(" {}", shorten(&own, 30))) {
                Some(numbers) => format!("{numbers}, {} {}", number + 1, shorten(&own, 30)),
                None => format!("{}, {} {}", step.label, number + 1, shorten(&own, 30)),
            };
            step.title.push_str(&format!("\n{}", edge_title(report, edge)));
            continue;
        }
        steps.push(Step {
            from: edge.from,
            to: edge.to,
            kind: edge.kind,
            label: format!("{} {}", number + 1, shorten(&own, 30)),
            title: edge_title(report, edge),
            number,
        });
    }
    steps
}

fn edge_title(report: &RobustReport, edge: &skew_model::robust::RobustEdge) -> String {
    let mut words = vec![escape(&step_words(report, edge))];
    if let Some((from, to)) = &edge.statements {
        words.push(escape(&statement(report, edge.from, from)));
        words.push(escape(&statement(report, edge.to, to)));
    }
    words.join("\n")
}

/// A step of a cycle as a sentence.
pub(super) fn step_words(report: &RobustReport, edge: &skew_model::robust::RobustEdge) -> String {
    let (from, to) = (program(report, edge.from), program(report, edge.to));
    let other = if edge.from == edge.to { format!("another {to}") } else { to.to_owned() };
    match edge.kind {
        DependencyKind::Session => format!("{from} comes before {other} in one session"),
        DependencyKind::Constraint => format!("{from} lets {other} satisfy the constraint {}", edge.about),
        DependencyKind::WriteRead => format!("{from} writes what {other} reads: {}", edge.about),
        DependencyKind::WriteWrite => format!("{from} writes what {other} overwrites: {}", edge.about),
        DependencyKind::ReadWrite => format!("{from} reads what {other} overwrites: {}", edge.about),
    }
}
