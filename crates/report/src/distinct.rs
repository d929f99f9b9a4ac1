//! One violation that answers several verdicts is shown once.

use skew_model::{Level, Scope, Verdict, Violation};

use crate::Report;

/// A violation and the verdicts that it answers.
pub(crate) struct Distinct<'a> {
    /// The violation.
    pub(crate) violation: &'a Violation,
    /// What was asked, in the order of the verdicts.
    pub(crate) scopes: Vec<Scope>,
    /// A number to tell it from another one of the same name, from 1; 0 when the name is enough.
    pub(crate) number: usize,
    text: String,
}

/// The distinct violations of a report, in the order of the verdicts.
pub(crate) fn distinct<'a>(verdicts: &'a [Verdict]) -> Vec<Distinct<'a>> {
    let mut found: Vec<Distinct<'a>> = Vec::new();
    for verdict in verdicts {
        let Some(violation) = verdict.violation() else { continue };
        let text = violation.history.to_string();
        let same = |other: &&mut Distinct| {
            other.violation.anomaly == violation.anomaly
                && other.text == text
                && other.violation.explanation == violation.explanation
        };
        match found.iter_mut().find(same) {
            Some(known) => known.scopes.push(verdict.scope),
            None => found.push(Distinct { violation, scopes: vec![verdict.scope], number: 0, text }),
        }
    }
    for index in 0..found.len() {
        let anomaly = found[index].violation.anomaly;
        let same = |other: &&Distinct| other.violation.anomaly == anomaly;
        if found.iter().filter(same).count() > 1 {
            found[index].number = found[..=index].iter().filter(same).count();
        }
    }
    found
}

impl Distinct<'_> {
    /// The anomaly's name, with the number where two violations share it.
    pub(crate) fn name(&self) -> String {
        match self.number {
            0 => self.violation.anomaly.id().to_owned(),
            number => format!("{} {number}", self.violation.anomaly.id()),
        }
    }

    /// The command that shows this violation again: the weakest level that it answered.
    pub(crate) fn replay(&self, report: &Report) -> String {
        if report.command.contains(" --level") {
            return report.command.clone();
        }
        let levels = || {
            self.scopes.iter().filter_map(|scope| match scope {
                Scope::Level(level) => Some(*level),
                Scope::Declared => None,
            })
        };
        let weakest = levels().find(|level| levels().all(|other| !level.implies(other) || other == *level));
        match weakest {
            Some(level) => format!("{} --level {level}", report.command),
            None => format!("{} --level {}", report.command, Scope::Declared),
        }
    }

    /// The weakest levels that it breaks; what was asked when the checker says none.
    pub(crate) fn breaks(&self) -> String {
        match self.violation.breaks.as_slice() {
            [] => self.scopes.iter().map(Scope::to_string).collect::<Vec<_>>().join(", "),
            levels => list(levels),
        }
    }

    /// The strongest levels that it still satisfies.
    pub(crate) fn satisfies(&self) -> String {
        list(&self.violation.satisfies)
    }
}

fn list(levels: &[Level]) -> String {
    levels.iter().map(|level| level.id()).collect::<Vec<_>>().join(", ")
}
