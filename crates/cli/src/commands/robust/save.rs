//! Runs that were found, as files: what `skew replay` runs again, and a picture.

use std::path::Path;

use skew_model::robust::{AppRun, RobustReport};

use super::violation;
use crate::output;

/// Saves every run of a report in a folder, and notes where.
pub(super) fn save(report: &mut RobustReport, app: &str, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let stem = Path::new(&report.file).file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    let serializable: Vec<String> =
        report.programs.iter().filter(|program| program.is_marked).map(|program| program.name.clone()).collect();
    for (number, run) in report.runs.iter_mut().enumerate() {
        let name = format!("{stem}-{}-{}", run.level, number + 1);
        let (replay, picture) = (folder.join(format!("{name}.json")), folder.join(format!("{name}.svg")));
        let text = skew_formats::robust::write_run(&AppRun {
            file: report.file.clone(),
            app: app.to_owned(),
            level: run.level.clone(),
            serializable: serializable.clone(),
            rows: report.rows,
            setup: run.setup.clone(),
            sessions: run.sessions.clone(),
            history: run.history.clone(),
            anomaly: run.anomaly.clone(),
        });
        output::write(Some(&replay), &text)?;
        if let Some(violation) = violation(&run.history) {
            output::write(Some(&picture), &skew_report::svg(&violation))?;
        }
        run.saved = Some((replay.display().to_string(), picture.display().to_string()));
    }
    Ok(())
}
