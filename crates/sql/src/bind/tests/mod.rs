//! Text in, text out: a statement, and the plan that it becomes or the error that it is refused with.
//!
//! The cases are in files next to this one: statements, each followed by `----` and what comes out, with an empty line
//! between cases. `UPDATE_CASES=1 cargo test -p skew-sql bind::tests` writes what comes out into the files.

mod world;

use std::path::Path;

use sqlparser::ast;

use crate::bind::{Binder, Params};
use crate::catalog::PUBLIC;
use crate::error::Result;
use crate::ir::print;
use crate::parse;
use world::World;

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
        Err(error) => {
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
    }
}

/// Every case of a file comes out as it says.
fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bind/tests").join(file);
    let text = std::fs::read_to_string(&path).expect("the cases are there");
    let world = World::default();
    let mut written = String::new();
    let mut wrong = Vec::new();
    for case in text.split("\n\n").map(str::trim).filter(|case| !case.is_empty()) {
        let (comment, case) = match case.strip_prefix('#') {
            Some(rest) => rest.split_once('\n').map_or((Some(rest), ""), |(comment, case)| (Some(comment), case)),
            None => (None, case),
        };
        if let Some(comment) = comment {
            written.push_str(&format!("#{comment}\n"));
        }
        if case.is_empty() {
            written.push('\n');
            continue;
        }
        let (sql, expected) = case.split_once("\n----").unwrap_or((case, ""));
        let got = outcome(sql, &world);
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
fn mistakes_are_refused_as_postgresql_does() {
    check("mistakes.txt");
}

#[test]
fn deep_statements_are_refused_on_a_small_stack() {
    let deep = |open: &str, inner: &str, close: &str, times: usize| {
        format!("SELECT {}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let chain = |operator: &str, times: usize| format!("SELECT true {}", format!("{operator} true ").repeat(times));
    let statements = vec![
        deep("(", "1", ")", 150),
        deep("(1 + ", "1", ")", 150),
        deep("(SELECT ", "1", ")", 60),
        deep("CASE WHEN true THEN ", "1", " END", 150),
        deep("abs(", "1", ")", 150),
        deep("NOT ", "true", "", 190),
        chain("AND", 20_000),
        chain("OR", 20_000),
        chain("AND (true) OR", 5_000),
        format!("SELECT 1 {}", "+ 1 ".repeat(400)),
        format!("SELECT 1 {}", "UNION ALL SELECT 1 ".repeat(2_000)),
        format!("SELECT 1 {}", "UNION SELECT 1 ".repeat(500)),
        format!("SELECT 1 {}", "EXCEPT SELECT 1 ".repeat(300)),
    ];
    let run = move || {
        let world = World::default();
        for sql in &statements {
            if let Err(error) = bind(sql, &world) {
                let code = &error.fields().code;
                assert!(code == "54001" || code == "42601", "{error}: {}", &sql[..60]);
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no overflow");
}
