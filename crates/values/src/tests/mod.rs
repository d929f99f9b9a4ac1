//! Values in, values out, as a real PostgreSQL 15 gave them.
//!
//! Each file has sections. `[io TYPE]`: a literal that is cast to the type and shown. `[cast FROM -> TO]`: a literal of one
//! type that is cast to the other. `[send TYPE]`: a literal, and its wire form in hex. `[op NAME TYPE, … : SQL]`: operands, separated by ` ; `, and what the SQL gives. `set NAME =
//! VALUE` changes a setting for the rest of the section. What goes wrong is shown as SQLSTATE, message, detail and hint.

mod defined;
mod hostile;
mod keys;
mod operators;
mod wire;

use std::sync::Arc;

use crate::error::{Result, SqlError};
use crate::{
    CollationDefinition, Datum, Definition, Definitions, Env, ObjectNames, Oid, PUBLIC, Settings, Type, Typed, cast,
    names, quote, text,
};

/// Some types in the schema `public` and nothing else, at noon of 2024-05-17.
#[derive(Default)]
struct World {
    settings: Settings,
    types: Vec<Definition<'static>>,
}

impl Env for World {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn transaction_time(&self) -> i64 {
        769_262_400_000_000
    }

    fn defined(&self) -> &dyn Definitions {
        self
    }

    fn objects(&self) -> &dyn ObjectNames {
        self
    }
}

impl Definitions for World {
    fn definition(&self, ty: Type) -> Option<Definition<'_>> {
        self.types.iter().find(|definition| definition.ty == ty).copied()
    }

    fn element(&self, array: Type) -> Option<Type> {
        self.types.iter().find(|definition| definition.array == array).map(|definition| definition.ty)
    }

    fn search_path(&self, _: &[String]) -> Vec<Oid> {
        vec![PUBLIC]
    }

    fn schema(&self, name: &str) -> Option<Oid> {
        (name == "public").then_some(PUBLIC)
    }

    fn type_in(&self, _: Oid, name: &str) -> Option<Type> {
        self.types.iter().find(|definition| definition.name == name).map(|definition| definition.ty)
    }

    fn type_name(&self, ty: Type, _: &[String]) -> Option<String> {
        self.definition(ty).map(|definition| quote::identifier(definition.name))
    }

    fn collation(&self, _: Oid) -> Option<CollationDefinition<'_>> {
        None
    }

    fn collation_in(&self, _: Oid, _: &str) -> Option<Oid> {
        None
    }
}

impl ObjectNames for World {
    fn number(&self, text: &str, _: Type, _: &dyn Env) -> Result<i64> {
        Err(SqlError::unsupported(format_args!("the object {text}")))
    }

    fn name(&self, _: Oid, _: Type, _: &dyn Env) -> Option<String> {
        None
    }
}

#[test]
fn text_forms_are_those_of_postgresql() {
    check(include_str!("text_forms.txt"));
}

#[test]
fn dates_and_times_are_those_of_postgresql() {
    check(include_str!("datetime.txt"));
}

#[test]
fn templates_are_those_of_postgresql() {
    check(include_str!("templates.txt"));
}

#[test]
fn wire_forms_are_those_of_postgresql() {
    check(include_str!("wire.txt"));
}

#[test]
fn json_paths_are_those_of_postgresql() {
    check(include_str!("jsonpath.txt"));
}

#[test]
fn casts_are_those_of_postgresql() {
    check(include_str!("casts.txt"));
}

#[test]
fn numerics_are_those_of_postgresql() {
    check(include_str!("numeric.txt"));
}

#[test]
fn json_is_that_of_postgresql() {
    check(include_str!("json.txt"));
}

#[derive(Clone, Debug)]
enum Section {
    Io(Typed),
    Send(Typed),
    Cast(Typed, Typed),
    Operator(String, Vec<Typed>),
}

fn check(file: &str) {
    let mut world = World::default();
    let mut section = None;
    let mut wrong = Vec::new();
    let mut count = 0;
    for (number, line) in file.lines().enumerate() {
        if line.is_empty() || line.starts_with("# ") {
            continue;
        }
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && ["io ", "send ", "cast ", "op "].iter().any(|kind| header.starts_with(kind))
        {
            world.settings = Settings::default();
            section = Some(read_section(header, &world));
            continue;
        }
        if let Some((name, value)) = line.strip_prefix("set ").and_then(|rest| rest.split_once(" = ")) {
            set(&mut world.settings, name, value);
            continue;
        }
        let (input, expected) = line.split_once(" => ").unwrap_or_else(|| panic!("line {}: no result", number + 1));
        let section = section.as_ref().expect("a section comes first");
        let got = run(section, &unescape(input), &mut world);
        let expected = unescape(expected);
        count += 1;
        if got != expected {
            wrong.push(format!("line {}: {input}\n  expected {expected}\n       got {got}", number + 1));
        }
    }
    assert!(count > 0, "the file has lines");
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn unescape(text: &str) -> String {
    text.replace("\\s", " ").replace("\\t", "\t").replace("\\n", "\n").replace("\\e", "")
}

fn set(settings: &mut Settings, name: &str, value: &str) {
    match name {
        "TimeZone" => value.clone_into(&mut settings.time_zone),
        "DateStyle" => value.clone_into(&mut settings.date_style),
        "IntervalStyle" => value.clone_into(&mut settings.interval_style),
        "extra_float_digits" => settings.extra_float_digits = value.parse().expect("a number"),
        "bytea_output" => value.clone_into(&mut settings.bytea_output),
        _ => panic!("no setting {name}"),
    }
}

fn read_section(header: &str, world: &World) -> Section {
    let ty = |name: &str| names::parse(name.trim(), world).unwrap_or_else(|error| panic!("{error}"));
    let (kind, rest) = header.split_once(' ').expect("a header has a kind");
    match kind {
        "io" => Section::Io(ty(rest)),
        "send" => Section::Send(ty(rest)),
        "cast" => {
            let (from, to) = rest.split_once(" -> ").expect("a cast has two types");
            Section::Cast(ty(from), ty(to))
        }
        _ => {
            let (signature, _) = rest.split_once(" : ").expect("an operator has its SQL");
            let (name, args) = signature.split_once(' ').expect("an operator has operands");
            Section::Operator(name.to_owned(), args.split(", ").map(ty).collect())
        }
    }
}

fn run(section: &Section, input: &str, world: &mut World) -> String {
    let result = match section {
        Section::Io(typed) => literal(input, *typed, world).map(|value| show(&value, typed.ty, world)),
        Section::Send(typed) => {
            literal(input, *typed, world).and_then(|value| wire::there_and_back(&value, *typed, world))
        }
        Section::Cast(from, to) => literal(input, *from, world)
            .and_then(|value| cast::cast(value, from.ty, *to, true, world))
            .map(|value| show(&value, to.ty, world)),
        Section::Operator(name, types) => {
            let operands = input.split(" ; ").zip(types);
            let operands: Result<Vec<Datum>> = operands.map(|(input, ty)| literal(input, *ty, world)).collect();
            operands.and_then(|operands| operators::call(name, &operands, types, world))
        }
    };
    result.unwrap_or_else(|error| {
        let fields = error.fields();
        let mut shown = format!("{} {}", fields.code, fields.message);
        for more in [&fields.detail, &fields.hint].into_iter().flatten() {
            shown.push_str(" | ");
            shown.push_str(more);
        }
        shown
    })
}

fn literal(input: &str, typed: Typed, world: &mut World) -> Result<Datum> {
    if input == "NULL" {
        return Ok(Datum::Null);
    }
    cast::cast(Datum::Text(Arc::from(input)), Type::UNKNOWN, typed, true, world)
}

fn show(value: &Datum, ty: Type, world: &World) -> String {
    if value.is_null() { "NULL".to_owned() } else { text::output(value, ty, world) }
}
