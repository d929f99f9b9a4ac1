//! Every JSON that the binary writes is what its schema in `docs/schemas` says.

use std::path::Path;

use serde_json::Value;

use crate::campaign::{Shop, has_psql};
use crate::run::{file, root, skew, skew_with_input};

const KEYWORDS: [&str; 10] =
    ["$schema", "title", "type", "const", "enum", "oneOf", "properties", "required", "items", "additionalProperties"];

/// What is wrong with a value, by the part of JSON Schema that our schemas use.
fn complaints(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = schema.as_object().expect("a schema is an object");
    for keyword in schema.keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "this test does not understand `{keyword}`");
    }
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is no type"),
    };
    let fits = match schema.get("type") {
        None => true,
        Some(Value::String(name)) => is(name),
        Some(names) => names.as_array().expect("a list of types").iter().any(|name| is(name.as_str().expect("a type"))),
    };
    if !fits {
        found.push(format!("{at} is {value}, not {}", schema["type"]));
    }
    if schema.get("const").is_some_and(|wanted| wanted != value) {
        found.push(format!("{at} is {value}, not {}", schema["const"]));
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.contains(value)) {
        found.push(format!("{at} is {value}, none of {values:?}"));
    }
    if let Some(schemas) = schema.get("oneOf").and_then(Value::as_array) {
        let fits = |schema: &&Value| {
            let mut own = Vec::new();
            complaints(schema, value, at, &mut own);
            own.is_empty()
        };
        let fitting = schemas.iter().filter(fits).count();
        if fitting != 1 {
            found.push(format!("{at} is {value}, which fits {fitting} of the schemas instead of one"));
        }
    }
    if let Some(fields) = value.as_object() {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let at = format!("{at}.{name}");
            match (properties.and_then(|properties| properties.get(name)), schema.get("additionalProperties")) {
                (Some(schema), _) => complaints(schema, value, &at, found),
                (None, Some(Value::Bool(false))) => found.push(format!("{at} is not in the schema")),
                (None, Some(schema)) => complaints(schema, value, &at, found),
                (None, None) => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required.filter_map(Value::as_str).filter(|name| !fields.contains_key(*name));
        found.extend(missing.map(|name| format!("{at} has no {name}")));
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        items.iter().enumerate().for_each(|(index, item)| complaints(schema, item, &format!("{at}[{index}]"), found));
    }
}

#[track_caller]
fn fits(name: &str, text: &str) {
    let path = root().join("docs/schemas").join(format!("{name}.schema.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON");
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut found = Vec::new();
    complaints(&schema, &value, "$", &mut found);
    assert!(found.is_empty(), "{name}: {}\n{text}", found.join("\n"));
}

/// Every line is a document of its own.
#[track_caller]
fn lines_fit(name: &str, text: &str) {
    assert!(!text.is_empty());
    text.lines().for_each(|line| fits(name, line));
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it was written")
}

#[test]
fn every_json_is_what_its_schema_says() {
    for history in ["on-call.hist", "overdraft.hist", "fork.txt", "cart.edn"] {
        fits("check", &skew(&["check", "--format", "json", &format!("examples/histories/{history}")]).out);
    }
    let unknown = file("schema-unknown.hist", b"a t1 w x=1\nb t2 w x=1\nc t3 r x=1\n");
    fits("check", &skew(&["check", "--format", "json", &unknown]).out);
    fits("check", &skew(&["check", "--format", "json", "--max-time", "0", &unknown]).out);
    fits("robustness", &skew(&["check", "--robustness", "--format", "json", "examples/histories/on-call.hist"]).out);
    for name in ["write-skew", "si", "phantom"] {
        fits("explain", &skew(&["explain", name, "--format", "json"]).out);
    }
    let app = "examples/apps/courseware.sql";
    let client = "a: enroll('ann', 'db') | b: remove_course('db')";
    fits("explore", &skew(&["explore", app, "--client", client, "--level", "si", "--format", "json"]).out);
    fits("explore", &skew(&["explore", app, "--client", client, "--level", "read committed", "--format", "json"]).out);
    fits("replay", &skew(&["replay", "examples/witnesses/overdraft.json", "--format", "json"]).out);
    fits("witness", &read(&root().join("examples/witnesses/overdraft.json")));
    let refused = skew(&["replay", "examples/witnesses/nowhere.json", "--format", "json"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "no JSON about nothing");
}

#[test]
fn the_json_of_robustness_is_what_its_schemas_say() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schema-robust");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (app, certificate) = ("examples/apps/auction.sql", path("auction.cert.json"));
    let options = ["--level", "si", "--level", "psi", "--format", "json"];
    let kept = ["--save", &path("runs"), "--certificate", &certificate];
    let done = skew(&[&["robust", app][..], &options, &kept].concat());
    fits("robust", &done.out);
    fits("certificate", &read(Path::new(&certificate)));
    fits("certify", &skew(&["certify", &certificate, "--app", app, "--format", "json"]).out);
    let saved = std::fs::read_dir(path("runs")).expect("runs").map(|run| run.expect("a file").path());
    let saved: Vec<_> = saved.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    assert!(!saved.is_empty());
    saved.iter().for_each(|run| fits("robust-run", &read(run)));
}

#[test]
fn the_json_of_campaigns_is_what_its_schemas_say() {
    if !has_psql() {
        return;
    }
    let shop = Shop::new("schemas");
    let json = shop.path("all.json");
    let done =
        shop.test(&["-i", "cc", "--replicated", "--seed", "1", "-n", "10", "-x", "--format", "json", "-o", &json]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    fits("campaign", &shop.read("all.json"));
    let merged = skew(&["merge", &json, "--format", "json"]);
    fits("campaign", &merged.out);
    let runs = std::fs::read_dir(shop.path("out")).expect("a replay").map(|run| run.expect("a file").path());
    runs.for_each(|run| fits("run", &read(&run)));
}

#[test]
fn every_line_of_a_history_as_json_lines_is_what_its_schema_says() {
    let everything = file(
        "schema-everything.hist",
        b"init x=0 z=nil\na t1 @si [1..5] r x=0 w \"y\"=\"text\"\nb t2 [2..9] r x=0<init w z=2\nb t3 aborted w x=3\n\
          constraint x t1 t2\n",
    );
    for history in [everything.as_str(), "examples/histories/fork.txt", "examples/histories/cart.edn"] {
        let done = skew(&["convert", history, "--output-format", "jsonl"]);
        assert_eq!(done.code, 0, "{}", done.err);
        lines_fit("history-line", &done.out);
    }
    let mut found = Vec::new();
    let path = root().join("docs/schemas/history-line.schema.json");
    let schema: Value = serde_json::from_str(&read(&path)).expect("JSON");
    let wrong = serde_json::json!({"session": "a", "txn": "t", "ops": [{"r": "x", "w": "x", "v": 0}]});
    complaints(&schema, &wrong, "$", &mut found);
    assert!(!found.is_empty(), "an operation is a read or a write");
}

#[test]
fn what_serve_answers_orders_with_is_what_its_schema_says() {
    let orders = b"reset 7\nrest 8\nexplain\ncoverage\nhistory\n";
    let done = skew_with_input(&["serve", "--port", "0", "--format", "json", "--stdin"], orders);
    let (banner, answers) = done.out.split_once('\n').expect("several lines");
    fits("serve", banner);
    assert_eq!(answers.lines().count(), 5, "{answers}");
    lines_fit("serve-answer", answers);
}
