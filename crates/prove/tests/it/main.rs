//! What is said about applications.

mod agreement;
mod certificates;
mod claims;
mod confirm;
mod constrained;
mod executions;
mod generate;
mod ir_claims;
mod ir_frames;
mod ir_mutations;
mod ir_oracle;
mod lookups;
mod models;
mod on_postgres;
mod overlooked;
mod own_levels;
mod queues;
mod rich;
mod solver;
mod splits;
mod summaries;
mod summary_oracle;
mod suspected;
mod templates;
mod unsure;
mod values;
mod verdicts;

use skew_sql::app::App;
use skew_sql::session::{Client, Database, Granularity, Options};
use skew_store::Recency;

/// A database that holds an application.
pub fn load(text: &str) -> (Database, App) {
    load_by(Granularity::Cell, text)
}

/// The same where transactions conflict about cells or rows.
pub fn load_by(granularity: Granularity, text: &str) -> (Database, App) {
    let database = Database::new(Options { recency: Recency::None, granularity, ..Options::default() });
    let mut connection = database.connect(Client::new("postgres", "robust"));
    for sql in connection.split(text).expect("statements") {
        let statement = connection.prepare(&sql, &[]).unwrap_or_else(|error| panic!("{sql}\n{error:?}"));
        connection.execute(&statement, &[]).unwrap_or_else(|error| panic!("{sql}\n{error:?}"));
        connection.sync().expect("it commits");
    }
    drop(connection);
    database.checkpoint().expect("nobody is connected");
    let app = App::of(&database.catalog()).expect("its comments are right");
    (database, app)
}

/// An example application.
pub fn example(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/apps").join(name);
    std::fs::read_to_string(path).expect("the example is there")
}
