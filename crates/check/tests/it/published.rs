//! Verdicts that others published, where the files are at hand; skipped with a word otherwise.

use std::path::Path;

use skew_check::{Checker, Options};
use skew_model::{Level, Scope};

#[test]
fn published_histories_get_their_published_verdicts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/histories");
    let Ok(table) = std::fs::read_to_string(folder.join("verdicts.tsv")) else {
        skew_testing::skip("no published histories beside the project");
        return;
    };
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let mut compared = 0;
    for line in lines {
        let row: Vec<&str> = line.split('\t').collect();
        let bytes = std::fs::read(folder.join(row[0])).expect("a listed file");
        let history = skew_formats::read(skew_formats::Format::Plume, row[0], &bytes[..]).expect("Plume text");
        let checker = Checker::new(&history, Options::default());
        for (column, cell) in columns.iter().zip(&row) {
            let Ok(level) = column.parse::<Level>() else { continue };
            let expected = match *cell {
                "ok" => true,
                "VIOL" => false,
                _ => continue,
            };
            assert_eq!(checker.holds(Scope::Level(level)), Some(expected), "{} at {level}", row[0]);
            compared += 1;
        }
    }
    println!("{compared} verdicts compared");
    assert!(compared > 200);
}
