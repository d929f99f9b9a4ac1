//! What is published about applications.

use skew_model::Level;
use skew_prove::robust::{Question, Robustness};
use skew_prove::suspect::Suspect;

use crate::{example, load};

fn words(robustness: &Robustness, suspect: &Suspect) -> String {
    let summary = robustness.summary(suspect.level);
    let mut out = String::new();
    for edge in &suspect.edges {
        let call = &suspect.calls[edge.from];
        let program = &summary.programs[call.program];
        let table = edge.accesses.map_or(String::new(), |(from, to)| {
            let access = &program.paths[call.path].accesses[from];
            let to_call = &suspect.calls[edge.to];
            let to = &summary.programs[to_call.program].paths[to_call.path].accesses[to];
            let table = summary.facts.table(access.table).unwrap();
            format!("{}:{}→{}", table.name, access.line, to.line)
        });
        out.push_str(&format!("{}/{} -{}({table})-> ", program.name, call.path + 1, edge.kind.name()));
    }
    out
}

#[test]
fn show_all() {
    let dir = std::env::var("APPS").unwrap_or_else(|_| "../../examples/apps".to_owned());
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "sql"))
        .collect();
    files.sort();
    let only = std::env::var("ONLY").unwrap_or_default();
    for file in files {
        if !file.to_string_lossy().contains(&only) {
            continue;
        }
        let (database, app) = load(&std::fs::read_to_string(&file).unwrap());
        let robustness = Robustness::of(&database, &app).unwrap();
        for sessions in [false, true] {
            println!("== {} sessions {sessions}", file.file_name().unwrap().to_string_lossy());
            for level in [Level::Ec, Level::Rc, Level::Ra, Level::Cc, Level::Pc, Level::Psi, Level::Si, Level::Mvrc] {
                let started = std::time::Instant::now();
                let searched = robustness.cycles(level, &Question { sessions, ..Question::default() });
                println!(
                    "  {level}: {} cycles, {} pairs, {} states {:?} {:?}",
                    searched.suspects.len(),
                    searched.pairs,
                    searched.states,
                    searched.limit,
                    started.elapsed()
                );
                for suspect in searched.suspects.iter().take(4) {
                    println!("      {}", words(&robustness, suspect));
                }
            }
        }
    }
    let _ = example;
}
