//! How long `skew robust` takes to look at applications: at a large generated one, and at the examples.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use skew_model::Level;
use skew_prove::robust::{LEVELS, Question, Robustness};
use skew_sql::app::App;
use skew_sql::session::{Client, Database, Options};
use skew_store::Recency;
use skew_store::strategies::Dice;

/// Measure how long the graph of `skew robust` takes: on a generated application, and on files
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Programs of the generated application
    #[arg(long, default_value_t = 200)]
    programs: usize,

    /// Tables of the generated application
    #[arg(long, default_value_t = 40)]
    tables: usize,

    /// Statements in each program
    #[arg(long, default_value_t = 4)]
    statements: usize,

    /// Of a hundred statements so many first read what they change
    #[arg(long, default_value_t = 25)]
    read_first: usize,

    /// Where randomness starts
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Application files to look at instead
    files: Vec<PathBuf>,
}

pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| application | level | cycles | pairs | states | ms |")?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: | ---: |")?;
    let mut total = Duration::ZERO;
    if arguments.files.is_empty() {
        let name = format!("{} programs", arguments.programs);
        total += measure(&name, &generated(arguments), out)?;
    }
    for file in &arguments.files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        total += measure(&name, &std::fs::read_to_string(file)?, out)?;
    }
    writeln!(out, "\nall together: {} ms", total.as_millis())
}

fn measure(name: &str, text: &str, out: &mut impl Write) -> io::Result<Duration> {
    let (database, app) = load(text).map_err(io::Error::other)?;
    let started = Instant::now();
    let robustness =
        Robustness::of(&database, &app).map_err(|error| io::Error::other(error.fields().message.clone()))?;
    let mut total = started.elapsed();
    writeln!(out, "| {name} | summary | | | | {} |", total.as_millis())?;
    for level in LEVELS.into_iter().filter(|level| *level != Level::Ser) {
        let started = Instant::now();
        let searched = robustness.cycles(level, &Question::default());
        let took = started.elapsed();
        total += took;
        let (cycles, pairs, states) = (searched.suspects.len(), searched.pairs, searched.states);
        let limit = if searched.limit.is_some() { " (limit)" } else { "" };
        writeln!(out, "| {name} | {level} | {cycles}{limit} | {pairs} | {states} | {} |", took.as_millis())?;
    }
    Ok(total)
}

fn load(text: &str) -> Result<(Database, App), String> {
    let database = Database::new(Options { recency: Recency::None, ..Options::default() });
    let mut connection = database.connect(Client::new("postgres", "bench"));
    let words = |error: skew_sql::error::SqlError| error.fields().message.clone();
    for sql in connection.split(text).map_err(words)? {
        let statement = connection.prepare(&sql, &[]).map_err(words)?;
        connection.execute(&statement, &[]).map_err(words)?;
        connection.sync().map_err(words)?;
    }
    drop(connection);
    database.checkpoint().map_err(words)?;
    let app = App::of(&database.catalog()).map_err(words)?;
    Ok((database, app))
}

/// Programs that read, change, insert and look through rows of tables at random, by their parameters.
fn generated(arguments: &Arguments) -> String {
    let mut dice = Dice::new(arguments.seed);
    let mut text = String::new();
    for table in 0..arguments.tables {
        let _ = writeln!(text, "CREATE TABLE t{table} (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, c text);");
    }
    for program in 0..arguments.programs {
        let _ = writeln!(text, "CREATE PROCEDURE p{program}(x int, y int) LANGUAGE plpgsql AS $$ DECLARE v int; BEGIN");
        for _ in 0..arguments.statements {
            text.push_str(&statement(arguments, &mut dice));
        }
        text.push_str("END $$;\n");
    }
    text
}

fn statement(arguments: &Arguments, dice: &mut Dice) -> String {
    let table = dice.below(arguments.tables);
    let key = if dice.below(3) == 0 { "y" } else { "x" };
    let column = if dice.below(2) == 0 { "a" } else { "b" };
    if dice.below(100) < arguments.read_first {
        return format!(
            "  SELECT {column} INTO v FROM t{table} WHERE id = {key};
             IF v > 0 THEN UPDATE t{table} SET {column} = v - 1 WHERE id = {key}; END IF;\n"
        );
    }
    match dice.below(8) {
        0..=2 => format!("  SELECT {column} INTO v FROM t{table} WHERE id = {key};\n"),
        3..=5 => format!("  UPDATE t{table} SET {column} = {column} + 1 WHERE id = {key};\n"),
        6 => format!("  SELECT count(*) INTO v FROM t{table} WHERE {column} = {key};\n"),
        _ => format!("  INSERT INTO t{table} VALUES ({key}, 0, 0, NULL);\n"),
    }
}
