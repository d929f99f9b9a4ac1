//! What to change so that the failure cannot happen: candidates, derived from the recorded transactions of the cause, of which
//! only those are advised that were tried. `docs/fixes.md` has the definitions.
//!
//! - `scene`: the recorded transactions as syntax trees; `trees`: small questions to trees
//! - `relation`: how a value that was written follows from the one that was read
//! - candidates: `arithmetic` (in the UPDATE), `guards` (a condition in the UPDATE), `unique` (constraints, ON CONFLICT),
//!   `locks`, `together` (one transaction), `levels`
//! - `flight`: a candidate in runs of the command; `explored`: in every interleaving of the recorded transactions

mod arithmetic;
mod explored;
mod flight;
mod guards;
mod levels;
mod locks;
mod relation;
mod scene;
mod together;
mod unique;

use std::collections::BTreeSet;

use skew_model::Level;
use skew_model::campaign::{FailedFix, FixEvidence, SqlAnomaly, SqlEdge, SqlStatement, TriedFix};
use skew_server::rewrites::Rewrite;

use crate::Trouble;
use crate::arena::Seen;
use crate::cells::family;
use crate::evidence::{Cause, Kept};
use crate::repeats::Repeats;
use crate::split;
use scene::Scene;

/// Changes that are advised.
const MAX_ADVISED: usize = 3;
/// Changes that are tried.
const MAX_TRIED: usize = 12;

/// A change that could help.
pub(crate) struct Candidate {
    /// What it is: of each kind one is advised.
    pub(crate) kind: Kind,
    /// One sentence.
    pub(crate) words: String,
    /// What to write, complete.
    pub(crate) sql: Vec<String>,
    /// How it is made in a run of the command; nothing if it takes the application's own code.
    pub(crate) flight: Option<Change>,
    /// What the recorded transactions are with it; nothing if that cannot be said.
    pub(crate) explored: Option<Variant>,
}

/// A kind of change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Arithmetic in the UPDATE, with a bound or without.
    Arithmetic,
    /// A UNIQUE index.
    Unique,
    /// A lock, or one transaction instead of two, with a lock.
    Lock,
    /// A comparison in the UPDATE with what was read.
    Comparison,
    /// A CHECK constraint.
    Check,
    /// A stronger level.
    Level,
}

/// How a change is made in a run of the command.
pub(crate) enum Change {
    /// Statements are rewritten on their way, after a change of the schema.
    Rewrite(Vec<Rewrite>, Vec<String>),
    /// Every transaction runs at another level.
    Level(Level),
}

/// The recorded transactions with a change.
#[derive(Clone, Default)]
pub(crate) struct Variant {
    /// Changes of the schema, before they run.
    pub(crate) schema: Vec<String>,
    /// The level at which they run, if it is another one.
    pub(crate) level: Option<Level>,
    /// Steps that are changed.
    pub(crate) steps: Vec<(scene::StepPlace, StepChange)>,
}

/// What becomes of a step of a recorded transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StepChange {
    /// It is left out: the application does not look any more.
    Dropped,
    /// The rows that it finds are locked.
    Locked,
    /// Another text, and what the application does where it changes no row.
    Guarded { text: String, otherwise: Otherwise },
}

/// What the application does where its UPDATE changes no row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Otherwise {
    /// The transaction ends there.
    Ends,
    /// The transaction is rolled back, and begins again.
    RollsBack,
}

/// What was found out about changes.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) tried: Vec<TriedFix>,
    pub(crate) failed: Vec<FailedFix>,
}

/// The candidates for a cause, cheapest first.
fn candidates(scene: &Scene<'_>, relations: &[relation::Relation], is_split: bool) -> Vec<Candidate> {
    let mut found = arithmetic::candidates(scene, relations, is_split);
    found.extend(guards::counted(scene, relations, is_split));
    found.extend(unique::candidates(scene, is_split));
    if is_split {
        found.extend(together::candidates(scene));
        return found;
    }
    found.extend(locks::candidates(scene));
    found.extend(guards::compared(scene));
    found.extend(guards::checked(scene));
    found.extend(levels::candidates(scene));
    found
}

fn scene_of<'a>(
    seen: &'a Seen,
    statements: &[SqlStatement],
    anomaly: &SqlAnomaly,
    cause: &'a Cause,
) -> Option<Scene<'a>> {
    let serial = cause.serial.iter().flatten().find(|serial| serial.database == seen.database);
    if anomaly.id == split::ID {
        return Scene::of_split(seen, statements, anomaly, serial);
    }
    // What the cycle runs over is not cleared, even if nothing looked at it afterwards.
    let of_edge = |edge: &SqlEdge| Some(family(edge.label.split_once('(')?.1.strip_suffix(')')?));
    let guilty: BTreeSet<String> = anomaly.edges.iter().filter_map(of_edge).collect();
    let cleared = crate::story::cleared_families(seen, cause).difference(&guilty).cloned().collect();
    Some(Scene::new(seen, statements, anomaly, cleared, serial))
}

/// Tries what could help, cheapest first, until there is enough of what does.
pub(crate) fn find(
    repeats: &mut Repeats<'_>,
    seen: &Seen,
    statements: &[SqlStatement],
    anomaly: &SqlAnomaly,
    cause: &Cause,
    (order, keeps): (&[Seen], &Kept),
) -> Result<Found, Trouble> {
    let Some(scene) = scene_of(seen, statements, anomaly, cause) else { return Ok(Found::default()) };
    let relations = relation::find(&scene, repeats)?;
    let explorer = explored::Explorer::new(&scene, &repeats.plan.settings);
    let (mut found, mut kinds) = (Found::default(), Vec::new());
    for candidate in candidates(&scene, &relations, anomaly.id == split::ID).into_iter().take(MAX_TRIED) {
        if found.tried.len() >= MAX_ADVISED || repeats.is_stopped() {
            break;
        }
        let kind = candidate.kind;
        if kinds.contains(&kind) {
            continue;
        }
        let mut how = None;
        if let Some(change) = &candidate.flight {
            match flight::passes(repeats, order, keeps, &cause.forced, change)? {
                flight::Flown::Passed(runs) => {
                    kinds.push(kind);
                    found.add(candidate, FixEvidence::Runs(runs));
                    continue;
                }
                flight::Flown::Failed(words) => how = Some(words),
                flight::Flown::Refused(words) => how = Some(words),
                flight::Flown::Stopped => break,
            }
            // An application that does not expect a refusal fails; what it would do is explored.
        }
        if found.explore(&explorer, candidate, how) {
            kinds.push(kind);
        }
    }
    Ok(found)
}

impl Found {
    fn add(&mut self, candidate: Candidate, evidence: FixEvidence) {
        self.tried.push(TriedFix { words: candidate.words, sql: candidate.sql, evidence });
    }

    /// Explores a candidate, and says whether it passed. `how` is how it failed in runs of the command.
    fn explore(&mut self, explorer: &explored::Explorer<'_>, candidate: Candidate, how: Option<String>) -> bool {
        let explored = candidate.explored.as_ref().map(|variant| explorer.explore(variant));
        match explored {
            Some(Ok(runs)) => {
                self.add(candidate, FixEvidence::Explored(runs));
                return true;
            }
            Some(Err(words)) => {
                let how = how.map_or_else(|| words.clone(), |how| format!("{how}; {words}"));
                self.failed.push(FailedFix { words: candidate.words, how });
            }
            None => {
                self.failed.extend(how.map(|how| FailedFix { words: candidate.words, how }));
            }
        }
        false
    }
}
