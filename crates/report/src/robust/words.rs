//! What the text and the page of an application's robustness both say.

use skew_model::robust::{FoundRun, LevelAnswer, RobustEdge, RobustProgram, RobustReport, RobustVerdict, StatementAt};

use crate::clean::count;

/// Why something is read that is no part of the application.
pub(super) const READS_WHAT_IS_LEFT: &str =
    "in the end every session reads what is left, which none of the calls does: it shows who has written last";

/// So many places of which the same is said are told.
const MOST_PLACES: usize = 4;

/// `4 programs with 8 ways through them`
pub(super) fn size(report: &RobustReport) -> String {
    let ways: usize = report.programs.iter().map(|program| program.ways).sum();
    let them = if report.programs.len() == 1 { "it" } else { "them" };
    format!("{} with {} through {them}", count(report.programs.len(), "program"), count(ways, "way"))
}

/// What else one should know.
pub(super) fn notes(report: &RobustReport) -> Vec<String> {
    let mut notes = Vec::new();
    if !report.sessions {
        notes.push("the order of a session's transactions does not count".to_owned());
    }
    let marked: Vec<&str> =
        report.programs.iter().filter(|program| program.is_marked).map(|program| program.name.as_str()).collect();
    if !marked.is_empty() {
        notes.push(format!("serializable among themselves: {}", marked.join(", ")));
    }
    let own = report.programs.iter().filter(|program| !program.is_marked);
    let own = own.filter_map(|program| Some(format!("{} always runs at {}", program.name, program.level.as_ref()?)));
    let own: Vec<String> = own.collect();
    if !own.is_empty() {
        notes.push(own.join(", "));
    }
    let is_serializable = |program: &RobustProgram| {
        program.is_marked || program.level.as_ref().is_some_and(|level| ["ser", "sser"].contains(&level.as_str()))
    };
    if report.programs.iter().any(is_serializable) && !report.programs.iter().all(is_serializable) {
        notes.push(
            "PostgreSQL's SERIALIZABLE protects less than `ser` from transactions of weaker levels: what is robust here \
             need not be there, unless all of them are SERIALIZABLE"
                .to_owned(),
        );
    }
    if report.cached {
        notes.push("answered before, and taken from the cache; --no-cache asks again".to_owned());
    }
    if !report.uncalled.is_empty() {
        let (is, them) = if report.uncalled.len() == 1 { ("is", "it") } else { ("are", "them") };
        let all = report.uncalled.join(", ");
        notes.push(format!("{all} {is} not looked at: no procedure calls {them}; a transaction is a procedure"));
    }
    // What is said of many programs is said once.
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    for one in &report.approximations {
        let place = format!("{}, line {}", one.program, one.line);
        match said.iter_mut().find(|(what, _)| *what == one.what) {
            Some((_, places)) => places.push(place),
            None => said.push((&one.what, vec![place])),
        }
    }
    notes.extend(said.into_iter().map(|(what, places)| match places.len() {
        0..=MOST_PLACES => format!("{}: {what}", places.join("; ")),
        many => format!("{}; and {} more: {what}", places[..MOST_PLACES].join("; "), many - MOST_PLACES),
    }));
    notes
}

/// The weakest levels at which every run is serializable, in a sentence; only if all levels were asked about.
pub(super) fn weakest(report: &RobustReport) -> Option<String> {
    let weakest = report.weakest();
    let all_ask = report.programs.iter().all(|program| program.level.is_some());
    let words = match (weakest.is_empty(), all_ask) {
        (true, _) => {
            "Not every run is known to be serializable, at any level: some programs always run at a weaker one"
                .to_owned()
        }
        (false, true) => "Every run is serializable at the levels that the programs ask for".to_owned(),
        (false, false) => format!("The weakest at which every run is serializable: {}", weakest.join(", ")),
    };
    report.every_level.then_some(words)
}

/// In one sentence, what was found at all levels.
pub(super) fn closing(report: &RobustReport) -> String {
    if let Some(weakest) = weakest(report) {
        return weakest;
    }
    let of = |verdict: RobustVerdict| {
        let levels = report.levels.iter().filter(|answer| answer.verdict == verdict);
        levels.map(|answer| answer.level.as_str()).collect::<Vec<_>>().join(", ")
    };
    let parts: Vec<String> = RobustVerdict::ALL
        .iter()
        .map(|verdict| (verdict, of(*verdict)))
        .filter(|(_, levels)| !levels.is_empty())
        .map(|(verdict, levels)| format!("{} at {levels}", verdict.words()))
        .collect();
    let closing = parts.join("; ");
    closing.chars().take(1).flat_map(char::to_uppercase).chain(closing.chars().skip(1)).collect()
}

/// A program's name, by its number.
pub(super) fn program(report: &RobustReport, number: usize) -> &str {
    report.programs.get(number).map_or("?", |program| program.name.as_str())
}

/// `withdraw, line 5: SELECT …`
pub(super) fn statement(report: &RobustReport, number: usize, at: &StatementAt) -> String {
    format!("{}, line {}: {}", program(report, number), at.line, at.text)
}

/// `rw(account.balance)`
pub(super) fn label(edge: &RobustEdge) -> String {
    match edge.about.is_empty() {
        true => edge.kind.letters().to_owned(),
        false => format!("{}({})", edge.kind.letters(), edge.about),
    }
}

/// `not robust at si[write-skew]`: the level of the run, or the one that was asked about if that is a weaker one.
pub(super) fn found_head(report: &RobustReport, run: &FoundRun) -> String {
    let is_asked = report.levels.iter().any(|answer| answer.level == run.level);
    let shown = |answer: &&LevelAnswer| answer.found.iter().any(|at| report.runs.get(*at) == Some(run));
    let asked = report.levels.iter().rev().find(shown).filter(|_| !is_asked);
    let level = asked.map_or(&run.level, |answer| &answer.level);
    format!("not robust at {level}[{}]", run.anomaly.as_deref().unwrap_or("cycle"))
}
