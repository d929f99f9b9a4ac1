//! JSON, dot and pages.
mod common;

use serde_json::Value;
use skew_report::{Style, dot, json, page};

fn parsed(sample: &common::Sample) -> Value {
    let text = sample.report(|report| json(std::slice::from_ref(report)));
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn json_reads_back_with_exact_names() {
    for (name, sample) in common::samples() {
        let value = parsed(&sample);
        assert_eq!(value["skew"], "check", "{name}");
        assert_eq!(value["version"], 1);
        let hist = value["histories"][0]["violations"][0]["hist"].as_str().expect("text");
        let again = skew_model::History::parse(hist).expect("the part is a history");
        assert_eq!(again.to_string(), hist, "{name}");
    }
    let hostile = parsed(&common::hostile());
    let op = &hostile["histories"][0]["violations"][0]["transactions"][0]["ops"][1];
    assert_eq!(op["value"], "\u{1b}[31m]]>");
}

#[test]
fn json_has_the_verdicts_and_the_explanation() {
    let value = parsed(&common::write_skew());
    let history = &value["histories"][0];
    assert_eq!(history["summary"], "strongest level that holds: si");
    assert_eq!(history["verdicts"][0]["outcome"], "violated");
    assert_eq!(history["verdicts"][1]["justification"], "commit-order");
    let violation = &history["violations"][0];
    assert_eq!(violation["anomaly"], "write-skew");
    assert_eq!(violation["aliases"][0], "a5b");
    assert_eq!(violation["replay"], "skew check on-call.hist --level ser");
    let edge = &violation["explanation"]["edges"][0];
    assert_eq!(edge["label"], "rw(x)");
    assert_eq!(edge["reason"]["type"], "overwrote");
    assert_eq!(edge["reason"]["write"], serde_json::json!([1, 1]));
}

#[test]
fn json_nests_reasons_and_cases() {
    let value = parsed(&common::inferred_order());
    let edge = &value["histories"][0]["violations"][0]["explanation"]["edges"][0];
    assert_eq!(edge["reason"]["older"][0]["reason"]["seen"][0]["label"], "wr(y)");
    let value = parsed(&common::lost_update_by_cases());
    let explanation = &value["histories"][0]["violations"][0]["explanation"];
    assert_eq!(explanation["first_before_second"]["edges"][1]["reason"]["type"], "supposed");
}

/// `JSON.md` promises to list every field.
#[test]
fn every_field_is_documented() {
    fn names(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.push(name.clone());
                names(value, found);
            }),
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            _ => {}
        }
    }
    let documented = include_str!("../JSON.md");
    for (_, sample) in common::samples() {
        let mut found = Vec::new();
        names(&parsed(&sample), &mut found);
        for name in found {
            assert!(documented.contains(&format!("`{name}`")), "{name} is not in JSON.md");
        }
    }
}

#[test]
fn dot_has_the_cycle() {
    let found = common::write_skew().report(|report| dot(std::slice::from_ref(report)));
    let expected = r#"digraph skew {
  node [shape=box, fontname=monospace];
  edge [fontname=monospace];
  subgraph cluster_0 {
    label="on-call.hist: t1 and t2 each read what the other one overwrote";
    c0_0 [label="t1\lr x=0\lw y=1\l"];
    c0_1 [label="t2\lr y=0\lw x=1\l"];
    c0_0 -> c0_1 [label="rw(x)", style=dashed];
    c0_1 -> c0_0 [label="rw(y)", style=dashed];
  }
}
"#;
    assert_eq!(found, expected);
}

const PAGE: &str = "\
# Write skew

Two transactions **read** the same rows and each `UPDATE`s what the other one only [read](https://example.org/a5b), so both are right alone.

## Names
- *A5B*, with a long explanation that will have to wrap somewhere around here
- g2-item

1. first
2. second

```
alice  t1  r x=0
```

| database | level | happens |
| --- | --- | --- |
| PostgreSQL | REPEATABLE READ | yes |
| MariaDB | `SERIALIZABLE` | no |
";

#[test]
fn a_page_is_wrapped_and_laid_out() {
    let found = page(PAGE, Style { width: 60, ..Style::default() });
    let expected = "\
Write skew
==========

Two transactions read the same rows and each `UPDATE`s what
the other one only read (https://example.org/a5b), so both
are right alone.

Names
-----

  - *A5B*, with a long explanation that will have to wrap
    somewhere around here
  - g2-item

  1. first
  2. second

    alice  t1  r x=0

database    level            happens
----------  ---------------  -------
PostgreSQL  REPEATABLE READ  yes
MariaDB     `SERIALIZABLE`   no
";
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn a_page_in_colour_says_the_same() {
    let painted = page(PAGE, Style { width: 60, color: true, expand: false });
    let mut stripped = String::new();
    let mut rest = painted.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        stripped.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    stripped.push_str(rest);
    assert!(painted.contains("\x1b[1mread\x1b[0m") && painted.contains("\x1b[36m`UPDATE`\x1b[0ms"));
    let plain = page(PAGE, Style { width: 60, ..Style::default() });
    assert!(stripped == plain, "found:\n{stripped}\nexpected:\n{plain}");
}
