//! Text in, text out: a statement, and the plan that it becomes or the error that it is refused with.
//!
//! The cases are in files next to this one: statements, each followed by `----` and what comes out, with an empty line
//! between cases. `UPDATE_CASES=1 cargo test -p skew-sql bind::tests` writes what comes out into the files.

pub(crate) mod world;

use std::path::Path;

use crate::parse::ast;

use crate::bind::{Binder, Params};
use crate::catalog::PUBLIC;
use crate::error::{Result, SqlError};
use crate::ir::print;
use crate::parse;
pub(crate) use world::World;

/// Binds a statement against the test schema, with parameters of unknown types.
fn bind(sql: &str, world: &World) -> Result<String> {
    let path = [PUBLIC];
    let Some(parse::Statement::Sql(statement)) = parse::statement(sql)? else { panic!("not a statement: {sql}") };
    let statement: &ast::Statement = &statement;
    let mut binder = Binder::new(world, &path).with_params(Params::open(&[]));
    let query = binder.statement(statement)?;
    let types = binder.params().types()?;
    let mut text = print::query(&query, &world.catalog);
    let columns: Vec<String> = query
        .columns
        .iter()
        .map(|column| {
            let ty = crate::types::names::format_type(column.typed.ty, Some(column.typed.modifier), world);
            format!("{} {ty}", column.name)
        })
        .collect();
    text.push_str(&format!("=> {}\n", columns.join(", ")));
    if !types.is_empty() {
        let names: Vec<String> = types.iter().map(|ty| crate::types::names::display(*ty, &world.catalog)).collect();
        text.push_str(&format!("parameters {}\n", names.join(", ")));
    }
    Ok(text)
}

fn outcome(sql: &str, world: &World) -> String {
    match bind(sql, world) {
        Ok(text) => text.trim_end().to_owned(),
        Err(error) => failure(&error),
    }
}

/// An error as cases tell it.
pub(crate) fn failure(error: &SqlError) -> String {
    let fields = error.fields();
    let position = fields.position.map(|position| format!(" at {position}")).unwrap_or_default();
    let mut text = format!("error {}: {}{position}", fields.code, fields.message);
    for (label, more) in [("detail", &fields.detail), ("hint", &fields.hint)] {
        if let Some(more) = more {
            text.push_str(&format!("\n{label}: {more}"));
        }
    }
    text
}

/// Every case of a file comes out as it says.
pub(crate) fn cases(file: &str, outcome: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&path).expect("the cases are there");
    let mut written = String::new();
    let mut wrong = Vec::new();
    for case in text.split("\n\n").map(str::trim).filter(|case| !case.is_empty()) {
        let (sql, expected) = case.split_once("\n----").unwrap_or((case, ""));
        let got = outcome(sql);
        if got != expected.trim() {
            wrong.push(format!("{sql}\n---- expected\n{}\n---- got\n{got}\n", expected.trim()));
        }
        written.push_str(&format!("{sql}\n----\n{got}\n\n"));
    }
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(&path, written).expect("the cases can be written");
        return;
    }
    assert!(wrong.is_empty(), "{} cases of {file}:\n\n{}", wrong.len(), wrong.join("\n"));
}

fn check(file: &str) {
    let world = World::default();
    cases(&format!("src/bind/tests/{file}"), |sql| outcome(sql, &world));
}

#[test]
fn queries_become_plans() {
    check("queries.txt");
}

#[test]
fn names_are_found() {
    check("names.txt");
}

#[test]
fn expressions_get_types() {
    check("expressions.txt");
}

#[test]
fn groups_windows_and_sets() {
    check("groups.txt");
}

#[test]
fn changes_become_plans() {
    check("changes.txt");
}

#[test]
fn mistakes_are_refused_as_postgresql_does() {
    check("mistakes.txt");
}

#[test]
fn deep_statements_are_bound_or_refused_on_a_small_stack() {
    let deep = |open: &str, inner: &str, close: &str, times: usize| {
        format!("SELECT {}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let chain = |operator: &str, times: usize| format!("SELECT true {}", format!("{operator} true ").repeat(times));
    let joins: String = (0..90).map(|number| format!(" JOIN t s{number} ON true)")).collect();
    let statements = vec![
        deep("(", "1", ")", 90),
        deep("(1 + ", "1", ")", 90),
        deep("(SELECT ", "1", ")", 20),
        deep("(SELECT ", "1", ")", 40),
        deep("true IN (SELECT ", "true", ")", 20),
        deep("true IN (SELECT ", "true", ")", 40),
        format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(90), ") s".repeat(90)),
        format!("SELECT * FROM {}t{joins}", "(".repeat(90)),
        deep("CASE WHEN true THEN ", "1", " END", 180),
        deep("abs(", "1", ")", 180),
        deep("ARRAY[", "1", "]", 180),
        deep("NOT ", "true", "", 190),
        chain("AND", 4_000),
        chain("OR", 4_000),
        format!("SELECT 1 {}", "+ 1 ".repeat(400)),
        format!("SELECT 1 {}", "UNION ALL SELECT 1 ".repeat(1_000)),
        format!("SELECT 1 {}", "UNION SELECT 1 ".repeat(500)),
        format!("SELECT 1 {}", "EXCEPT SELECT 1 ".repeat(300)),
    ];
    let run = move || {
        let world = World::default();
        for sql in &statements {
            if let Err(error) = bind(sql, &world) {
                assert_eq!(error.fields().code, "54001", "{error} for {}…", &sql[..40]);
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("it is not too deep");
}
