//! Stronger levels, with the transaction run again that the database refuses.

use skew_model::Level;

use super::scene::Scene;
use super::{Candidate, Change, Kind, Variant};

/// REPEATABLE READ and SERIALIZABLE, where the transactions ran at less.
pub(crate) fn candidates(scene: &Scene<'_>) -> Vec<Candidate> {
    let levels = [("REPEATABLE READ", Level::Si), ("SERIALIZABLE", Level::Ser)];
    let runs_at = |level: Level| scene.programs.iter().all(|program| program.level == Some(level));
    let stronger = levels.into_iter().filter(|(_, level)| !runs_at(*level) && !runs_at(Level::Ser));
    let candidate = |(name, level): (&str, Level)| Candidate {
        kind: Kind::Level,
        words: format!("run the transactions at {name}, and run the one again that ends with 40001 or 40P01"),
        sql: vec![format!("BEGIN ISOLATION LEVEL {name}")],
        flight: Some(Change::Level(level)),
        explored: Some(Variant { level: Some(level), ..Variant::default() }),
    };
    stronger.map(candidate).collect()
}
