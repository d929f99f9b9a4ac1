//! Every recorded transaction is explained by its program in the analysis language.

use skew_model::Level;
use skew_prove::ir::Application;
use skew_prove::lower::application;
use skew_sql::app::App;
use skew_sql::session::Database;
use skew_testing::Dice;

use crate::claims::{calls_of_examples, effort, kinds};
use crate::executions::{self, Execution, LEVELS};
use crate::generate::Generated;
use crate::ir_oracle::{Explained, explain};
use crate::load;

/// How many executions were explained, and how many were too many possibilities.
#[derive(Default, Debug)]
pub struct Counted {
    explained: usize,
    unknown: usize,
}

/// Compares executions with an application.
pub fn compare(
    database: &Database,
    application: &Application,
    executions: &[Execution],
    counted: &mut Counted,
) -> Result<(), String> {
    let catalog = database.catalog();
    for execution in executions {
        let Some(program) = application.programs.iter().find(|program| program.name == execution.program) else {
            continue;
        };
        match explain(program, execution, application, &catalog) {
            Explained::Yes => counted.explained += 1,
            Explained::Unknown => counted.unknown += 1,
            Explained::No(reason) => {
                let facts = skew_prove::summary::Facts::of(&catalog);
                let events: Vec<String> =
                    execution.trace.events.iter().map(|event| executions::shown(event, &facts)).collect();
                let (call, events) = (&execution.trace.call, events.join("\n"));
                let own = Application { tables: application.tables.clone(), programs: vec![program.clone()] };
                return Err(format!("{call} at {}\n{events}\n{reason}\n{}", execution.trace.level, own.print()));
            }
        }
    }
    Ok(())
}

pub fn lowered(database: &Database, app: &App) -> Application {
    application(database, app).expect("its procedures are there")
}

fn generated(make: fn(u64) -> Generated, seeds: std::ops::Range<u64>, each: usize) -> Vec<String> {
    let mut counted = Counted::default();
    let mut wrong = Vec::new();
    for seed in seeds {
        let generated = make(seed);
        let (database, app) = load(&generated.text);
        let application = lowered(&database, &app);
        let mut dice = Dice(seed ^ 0x0C1A_1335);
        let mut done = 0;
        while done < each {
            let (client, level) = (executions::client(&generated, &mut dice), LEVELS[dice.roll(LEVELS.len())]);
            let executions = executions::random(&database, &app, &client, level, seed << 20 | done as u64);
            done += executions.len().max(1);
            if let Err(reason) = compare(&database, &application, &executions, &mut counted) {
                wrong.push(format!("seed {seed}\n{}\n{client:?}\n{reason}", generated.text));
                break;
            }
        }
    }
    println!("{counted:?}");
    wrong
}

#[test]
fn every_random_execution_is_explained() {
    let (seeds, each) = effort();
    let wrong: Vec<String> = kinds().into_iter().flat_map(|make| generated(make, seeds.clone(), each)).collect();
    assert!(wrong.is_empty(), "{} applications\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn every_execution_of_an_example_is_explained() {
    let mut wrong = Vec::new();
    for (name, text, calls) in calls_of_examples() {
        let (database, app) = load(&text);
        let application = lowered(&database, &app);
        let (mut counted, mut dice) = (Counted::default(), Dice(11));
        for (at, level) in LEVELS.into_iter().enumerate() {
            for round in 0..3 {
                let client = crate::claims::some_of(&calls, &mut dice);
                let seed = (at * 100 + round) as u64;
                let mut executions = executions::random(&database, &app, &client, level, seed);
                if round == 0 && level == Level::Mvrc {
                    executions.extend(executions::explored(&database, &app, &client, level, 20));
                }
                if let Err(reason) = compare(&database, &application, &executions, &mut counted) {
                    wrong.push(format!("{name}: {client:?}\n{reason}"));
                    break;
                }
            }
        }
        println!("{name}: {counted:?}");
    }
    assert!(wrong.is_empty(), "{} examples\n{}", wrong.len(), wrong.join("\n\n"));
}
