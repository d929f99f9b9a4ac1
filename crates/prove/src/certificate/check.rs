//! Whether a certificate shows what it says.

use std::collections::BTreeMap;
use std::time::Duration;

use skew_model::Level;

use super::convert::summary_of;
use super::cycles::{Followed, Following};
use super::data::{
    Apart, At, Certificate, Change, Does, KIND, Kind, LevelPart, Reading, Script, Summary, TermIs, VERSION, Way,
    Writers,
};
use super::lookups::are_noted;
use super::pairs::Pair;
use super::rows::by_rows;
use super::rules::Levels;
use super::write::{Met, each_pair};
use crate::robust::answer::Effort;
use crate::robust::{Dependencies, Question, Robustness};
use crate::smt::axioms::Axioms;
use crate::smt::solver::NoSolver;

/// What was verified again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// In words, a line each.
    pub lines: Vec<String>,
    /// The levels at which every run is serializable.
    pub levels: Vec<String>,
    /// Those among them that are by a solver's answers: that its questions are the right ones is believed, unless [`is_of`]
    /// makes them again.
    pub believed: Vec<String>,
    /// Levels that are not verified because the solver does not answer, and why.
    pub open: Vec<String>,
}

/// Asks a solver whether a script is unsatisfiable.
pub type Solver<'a> = &'a dyn Fn(&Script) -> Result<(), Unproved>;

/// Why a script proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unproved {
    /// It can be satisfied.
    Satisfiable,
    /// The solver does not know, or cannot be asked.
    NotKnown(String),
}

/// So long the questions about one level may take when they are made again.
const MOST_TIME: Duration = Duration::from_secs(60);

/// Verifies a certificate; otherwise, what is wrong with it.
pub fn check(certificate: &Certificate, solver: Solver<'_>) -> Result<Checked, String> {
    if certificate.skew != KIND {
        return Err(format!("it does not say `\"skew\": \"{KIND}\"`"));
    }
    if certificate.version != VERSION {
        let version = certificate.version;
        return Err(format!("version {version} of the format; this version of Skew reads version {VERSION}"));
    }
    let mut checked = Checked::default();
    for summary in &certificate.summaries {
        let name = summary_words(summary.reading, summary.writers);
        let (edges, apart) = is_sound(summary, certificate.rows).map_err(|error| format!("{name}: {error}"))?;
        let ways: usize = summary.programs.iter().map(|program| program.ways.len()).sum();
        let programs = match summary.programs.len() {
            1 => "1 program".to_owned(),
            count => format!("{count} programs"),
        };
        checked.lines.push(format!(
            "{name}: {programs}, {ways} ways, {edges} dependencies and {apart} pairs of accesses that are none"
        ));
    }
    if certificate.levels.is_empty() {
        return Err("it is about no level".to_owned());
    }
    for (at, part) in certificate.levels.iter().enumerate() {
        if certificate.levels[..at].iter().any(|other| other.level == part.level) {
            return Err(format!("it is about {} twice", part.level));
        }
        match one_level(certificate, part, solver).map_err(|error| format!("{}: {error}", part.level))? {
            Shown::Yes(line) => {
                checked.lines.push(line);
                checked.levels.push(part.level.clone());
                checked.believed.extend((part.argument == "solver").then(|| part.level.clone()));
            }
            Shown::NotKnown(why) => checked.open.push(format!("{}: {why}", part.level)),
        }
    }
    Ok(checked)
}

/// Whether a certificate is about an application: otherwise, where they differ. What cannot be compared, because the solver
/// does not answer, is listed.
pub fn is_of(certificate: &Certificate, robustness: &Robustness) -> Result<Vec<String>, String> {
    for claimed in &certificate.summaries {
        let own = match claimed.reading {
            Reading::Once => summary_of(&robustness.once, claimed.reading, claimed.writers),
            Reading::EachStatement => summary_of(&robustness.each_statement, claimed.reading, claimed.writers),
        };
        if own.tables != claimed.tables || own.lookups != claimed.lookups {
            return Err("the tables differ".to_owned());
        }
        let names = |summary: &Summary| summary.programs.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        if names(&own) != names(claimed) {
            return Err(format!("its programs are {}", names(claimed).join(", ")));
        }
        let made = match claimed.reading {
            Reading::Once => &robustness.once,
            Reading::EachStatement => &robustness.each_statement,
        };
        // What no level says of transactions cannot follow from what they do.
        if let Some(beyond) = made.programs.iter().find_map(|program| program.is_beyond()) {
            return Err(format!("nothing is known of {beyond}"));
        }
        if let Some((program, _)) = own.programs.iter().zip(&claimed.programs).find(|(own, claimed)| own != claimed) {
            return Err(format!("{} does something else in the certificate", program.name));
        }
    }
    let compared = certificate.levels.iter().map(|part| is_asked_of(certificate, part, robustness));
    Ok(compared.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Whether the solver was asked what is to be asked about an application; why that is not known.
fn is_asked_of(certificate: &Certificate, part: &LevelPart, robustness: &Robustness) -> Result<Option<String>, String> {
    if part.argument != "solver" {
        return Ok(None);
    }
    let level: Level = part.level.parse().map_err(|error| format!("{error}"))?;
    let axioms = certificate.axioms.as_ref().map(|text| Axioms::parse(text).map_err(|error| error.to_string()));
    let question = Question {
        sessions: certificate.sessions,
        serializable: certificate.serializable.clone(),
        pairs: certificate.pairs.clone(),
        axioms: axioms.transpose()?,
        dependencies: if certificate.rows { Dependencies::Rows } else { Dependencies::Columns },
        ..Question::default()
    };
    let effort = Effort { level: MOST_TIME, ..Effort::default() };
    let solved = match robustness.solve(level, &question, effort).ok_or("no solver can be asked about it")? {
        Ok(solved) => solved,
        Err(NoSolver(why)) => return Ok(Some(format!("{level}: {why}"))),
    };
    let proof = match (solved.proof, solved.limit) {
        (Some(proof), _) => proof,
        (None, Some(limit)) => return Ok(Some(format!("{level}: {limit}"))),
        (None, None) => return Err(format!("{level}: there is no proof")),
    };
    let same = proof.scripts.iter().map(|script| &script.text).eq(part.scripts.iter().map(|script| &script.text));
    if same { Ok(None) } else { Err(format!("{}: the solver was asked something else", part.level)) }
}

fn summary_words(reading: Reading, writers: Writers) -> String {
    let reading = match reading {
        Reading::Once => "reading once",
        Reading::EachStatement => "reading by statement",
    };
    let writers = match writers {
        Writers::Together => "rows with several writers",
        Writers::Apart => "rows with one writer at a time",
    };
    format!("{reading}, {writers}")
}

/// What verifying a level came to.
pub(super) enum Shown {
    /// It is shown: what was done, in words.
    Yes(String),
    /// The solver does not answer, and why.
    NotKnown(String),
}

/// Verifies one level.
pub(super) fn one_level(certificate: &Certificate, part: &LevelPart, solver: Solver<'_>) -> Result<Shown, String> {
    let level: Level = part.level.parse().map_err(|error| format!("{error}"))?;
    if certificate.axioms.is_some() && part.argument != "solver" {
        return Err("only a solver can be asked about a level in words".to_owned());
    }
    let mut own = Vec::new();
    for program in certificate.summaries.first().map_or(&[][..], |summary| &summary.programs) {
        let parsed = program.level.as_ref().map(|own| own.parse::<Level>());
        own.push(parsed.transpose().map_err(|error| format!("{}: {error}", program.name))?);
    }
    let levels = Levels::of(level, &own)?;
    if part.rule != levels.words() {
        return Err(format!("its rule reads `{}`, but it is `{}`", part.rule, levels.words()));
    }
    if part.argument == "solver" {
        return by_solver(part, solver);
    }
    if part.argument != "graph" || !part.scripts.is_empty() {
        return Err(format!("`{}` is no argument that can be verified", part.argument));
    }
    let summary = certificate
        .summaries
        .iter()
        .find(|summary| levels.is_about(summary))
        .ok_or_else(|| format!("there is no summary for {}", summary_words(levels.reading(), levels.writers())))?;
    let names = |summary: &Summary| {
        summary.programs.iter().map(|one| (one.name.clone(), one.level.clone())).collect::<Vec<_>>()
    };
    if certificate.summaries.iter().any(|other| names(other) != names(summary)) {
        return Err("its summaries are about different programs".to_owned());
    }
    let summary = &if certificate.rows { by_rows(summary) } else { summary.clone() };
    let protected = summary.programs.iter().zip(&own).map(|(program, own)| {
        own.unwrap_or(level).is_serializable() || certificate.serializable.contains(&program.name)
    });
    let protected = protected.collect();
    let sessions = certificate.sessions && levels.has_sessions();
    let following = Following { summary, edges: &summary.edges, levels, sessions, protected };
    match following.follow() {
        Followed::None { chains } => {
            Ok(Shown::Yes(format!("{level}: no cycle that it allows, in {chains} chains of dependencies")))
        }
        Followed::Cycle(words) => Err(format!("a cycle is not excluded: {words}")),
        Followed::TooMany => Err("there are too many chains of dependencies to follow".to_owned()),
    }
}

fn by_solver(part: &LevelPart, solver: Solver<'_>) -> Result<Shown, String> {
    if part.scripts.is_empty() {
        return Err("the solver was asked nothing".to_owned());
    }
    for script in &part.scripts {
        match solver(script) {
            Ok(()) => {}
            Err(Unproved::Satisfiable) => return Err(format!("{}: the solver says sat", script.purpose)),
            Err(Unproved::NotKnown(why)) => return Ok(Shown::NotKnown(format!("{}: {why}", script.purpose))),
        }
    }
    let count = part.scripts.len();
    Ok(Shown::Yes(format!("{}: the solver finds {count} questions unsatisfiable again", part.level)))
}

/// Whether a summary is well-formed, says of tables what its programs do, and has all dependencies with all equalities. How
/// many dependencies there are, and how many pairs are none.
fn is_sound(summary: &Summary, rows: bool) -> Result<(usize, usize), String> {
    is_well_formed(summary)?;
    facts_are_true(summary)?;
    are_noted(summary)?;
    let summary = &if rows { by_rows(summary) } else { summary.clone() };
    let mut edges = BTreeMap::new();
    for edge in &summary.edges {
        if edges.insert(Met::of(edge), edge).is_some() {
            return Err(format!("{} is there twice", words(summary, edge.from, edge.to, edge.kind)));
        }
    }
    let mut apart = BTreeMap::new();
    for pair in &summary.apart {
        let Apart { from, to, kind, picked, .. } = *pair;
        apart.insert(Met { from, to, kind, picked, lookup: None }, pair.reason.as_str());
    }
    let (count, count_apart) = (edges.len(), apart.len());
    let mut wrong = None;
    each_pair(summary, |met, found| {
        let (edge, reason) = (edges.remove(&met), apart.remove(&met));
        let what = match (found, edge, reason) {
            (Pair::Nothing, None, None) => return,
            (Pair::Meet { cells, equal }, Some(edge), None) if edge.cells == cells && edge.equal == equal => return,
            (Pair::Apart(own), None, Some(reason)) if own == reason => return,
            (Pair::Meet { .. }, None, _) => "is missing",
            (Pair::Meet { .. }, Some(_), _) => "does not say what it is about, or which values are equal",
            (Pair::Apart(_), None, None) => "is none, but the reason is missing",
            (Pair::Apart(_), None, Some(_)) => "is none for another reason",
            (Pair::Nothing | Pair::Apart(_), _, _) => "is none",
        };
        wrong.get_or_insert_with(|| format!("{} {what}", words(summary, met.from, met.to, met.kind)));
    });
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    // What is left is between accesses to different tables.
    match edges.keys().chain(apart.keys()).next() {
        Some(met) => Err(format!("{} is none", words(summary, met.from, met.to, met.kind))),
        None => Ok((count, count_apart)),
    }
}

/// `the rw from withdraw, line 5, to deposit, line 3`
fn words(summary: &Summary, from: At, to: At, kind: Kind) -> String {
    let place = |at: At| {
        let program = summary.programs.get(at.0).map_or("?", |program| program.name.as_str());
        let line = summary.access(at).map_or(0, |access| access.line);
        format!("{program}, way {}, line {line}", at.1 + 1)
    };
    let kind = match kind {
        Kind::Wr => "wr",
        Kind::Ww => "ww",
        Kind::Rw => "rw",
        Kind::Constraint => "constraint",
    };
    format!("the {kind} from {} to {}", place(from), place(to))
}

/// Whether all numbers are numbers of something.
fn is_well_formed(summary: &Summary) -> Result<(), String> {
    for table in &summary.tables {
        let mut columns =
            table.key.iter().chain(table.unique.iter().flatten()).chain(&table.not_null).chain(&table.updated);
        if columns.any(|column| *column >= table.columns.len()) || table.unique.iter().any(Vec::is_empty) {
            return Err(format!("{} has a column that is none", table.name));
        }
    }
    for lookup in &summary.lookups {
        let columns_of = |change: &Change| {
            let table = change.table.and_then(|table| summary.tables.get(table));
            table.map_or(0, |table| table.columns.len())
        };
        let (given, asked) = (columns_of(&lookup.earlier), columns_of(&lookup.later));
        if lookup.equal.iter().any(|(one, other)| *one >= given || *other >= asked) {
            return Err(format!("{} looks up a column that is none", lookup.constraint));
        }
    }
    for program in &summary.programs {
        for way in &program.ways {
            way_is_well_formed(summary, way).map_err(|error| format!("{}: {error}", program.name))?;
        }
    }
    Ok(())
}

fn way_is_well_formed(summary: &Summary, way: &Way) -> Result<(), String> {
    for (at, term) in way.terms.iter().enumerate() {
        let is_fine = match &term.is {
            TermIs::Read { access, column } => way.accesses.get(*access).is_some_and(|access| {
                let table = access.table.and_then(|table| summary.tables.get(table));
                table.is_some_and(|table| *column < table.columns.len())
            }),
            TermIs::More { than, .. } => *than < way.terms.len(),
            _ => true,
        };
        if !is_fine {
            return Err(format!("value {at} comes from nowhere"));
        }
    }
    if way.never_null.iter().chain(&way.always_null).any(|value| *value >= way.terms.len()) {
        return Err("a value that is none".to_owned());
    }
    for access in &way.accesses {
        let table = access.table.and_then(|table| summary.tables.get(table));
        let Some(table) = table else { return Err(format!("line {}: an unknown table", access.line)) };
        let is_column = |column: &usize| *column < table.columns.len();
        // Cells that are written and come after the columns stand for constraints.
        let mut columns = access.ranged.iter().chain(&access.filtered).chain(access.reads.iter().flatten());
        let rows_are = access.row.iter().all(|(column, value)| is_column(column) && *value < way.terms.len());
        if !rows_are || !columns.all(is_column) {
            return Err(format!("line {}: a column or a value that is none", access.line));
        }
    }
    Ok(())
}

/// Whether tables are said to be changed as programs change them.
fn facts_are_true(summary: &Summary) -> Result<(), String> {
    for (number, table) in summary.tables.iter().enumerate() {
        let (mut inserted, mut deleted, mut reinserted, mut updated) = (false, false, false, Vec::new());
        let mut numbered: Option<(usize, &String)> = None;
        let ways = summary.programs.iter().flat_map(|program| &program.ways);
        let accesses = ways.flat_map(|way| way.accesses.iter().map(move |access| (way, access)));
        let accesses = accesses.filter(|(_, access)| access.table == Some(number) && !access.writes.is_empty());
        for (way, access) in accesses {
            match access.does {
                Does::Insert => {
                    inserted = true;
                    let new = table.key.iter().find_map(|column| match &way.terms[access.value(*column)?].is {
                        TermIs::Fresh(source) => Some((*column, source)),
                        _ => None,
                    });
                    // What is new to one sequence another one may have given out.
                    reinserted |= new.is_none_or(|new| numbered.is_some_and(|known| known != new));
                    numbered = numbered.or(new);
                }
                Does::Delete => deleted = true,
                Does::Select | Does::Update => {
                    // Another key makes another row.
                    let moves = access.writes.contains(&None);
                    (inserted, deleted, reinserted) = (inserted || moves, deleted || moves, reinserted || moves);
                    updated.extend(access.writes.iter().flatten().filter(|cell| **cell < table.columns.len()));
                }
            }
        }
        updated.sort_unstable();
        updated.dedup();
        let told = (table.inserted, table.deleted, &table.updated);
        // The first rows may have what a sequence gives next.
        if (inserted, deleted, &updated) != told || (reinserted && !table.reinserted) {
            return Err(format!("{} is not changed as it says", table.name));
        }
    }
    Ok(())
}
