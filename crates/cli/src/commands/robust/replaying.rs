//! `--replay-on`: the runs that were found, on a real PostgreSQL.

use skew_model::{Level, Target};
use skew_prove::confirm::replay::{Replayed, replay};
use skew_prove::robust::answer::Answer;

/// Whether what happens at a level can happen on a PostgreSQL.
fn is_of_postgres(level: Level) -> bool {
    matches!(level, Level::Si | Level::Mvrc) || level.definition().target == Some(Target::Postgres)
}

/// Runs what was found at `si` and `mvrc` again, and says what PostgreSQL did.
pub(super) fn replay_on(url: &str, app: &str, answers: &[Answer]) -> Vec<String> {
    let mut lines = Vec::new();
    for answer in answers.iter().filter(|answer| is_of_postgres(answer.level)) {
        // Runs of stronger levels are told there.
        for (_, found) in answer.found.iter().filter(|(_, found)| found.level == answer.level) {
            let said = match replay(url, app, found) {
                Ok(Replayed::Same) => "PostgreSQL does the same".to_owned(),
                Ok(Replayed::Different(what)) => format!("PostgreSQL does something else: {what}"),
                Err(error) => format!("not replayed: {error}"),
            };
            lines.push(format!("{}: {}: {said}", answer.level, found.client_text()));
        }
    }
    if lines.is_empty() {
        lines.push("no run of si or mvrc was found that PostgreSQL could repeat".to_owned());
    }
    lines
}
