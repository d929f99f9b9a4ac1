//! Witnesses as JSON: a run that can be replayed.
//!
//! ```json
//! { "skew": "witness", "version": 1,
//!   "failure": "session `bob` panicked: …",  "replay": "skew1.cc.none.transactions.0a2",
//!   "recency": "none",  "init": { "x": 0 },  "sessions": ["alice", "bob"],
//!   "steps": [
//!     { "session": "alice", "do": "begin", "txn": "t1", "level": "cc" },
//!     { "session": "alice", "do": "read", "key": "x", "value": 0, "from": "init" },
//!     { "session": "alice", "do": "write", "key": "x", "value": 1, "joined": true },
//!     { "session": "alice", "do": "commit" } ],
//!   "anomaly": "lost-update",  "history": ["init  x=0", "alice t1 @cc  r x=0<init  w x=1"] }
//! ```
//! A `scan` with its `prefix` follows the reads that it made. `from` is `init`, `own`, or the name of a transaction after a colon (`:t1`). `null` is no value: writing it deletes.

use serde_json::{Map, Value, json};
use skew_model::{Anomaly, Level, Literal, Witness, WitnessAction, WitnessSource, WitnessStep};

/// The version of the format.
const VERSION: u64 = 1;

/// The witness as JSON.
pub fn write(witness: &Witness) -> String {
    let init: Map<String, Value> = witness.init.iter().map(|(key, value)| (key.clone(), literal(value))).collect();
    let steps: Vec<String> = witness.steps.iter().map(|step| format!("    {}", step_json(step))).collect();
    let lines: Vec<String> = witness.history.lines().map(|line| format!("    {}", json!(line))).collect();
    // One step a line, so that people can read it and diffs make sense.
    format!(
        "{{\n  \"skew\": \"witness\",\n  \"version\": {VERSION},\n  \"failure\": {},\n  \"replay\": {},\n  \"recency\": {},\n  \
         \"init\": {},\n  \"sessions\": {},\n  \"steps\": [\n{}\n  ],\n  \"anomaly\": {},\n  \"history\": [\n{}\n  ]\n}}\n",
        json!(witness.failure),
        json!(witness.recording),
        json!(if witness.real_time { "commit" } else { "none" }),
        json!(init),
        json!(witness.sessions),
        steps.join(",\n"),
        json!(witness.anomaly.map(|anomaly| anomaly.id())),
        lines.join(",\n"),
    )
}

/// The witness that JSON text holds, or what is wrong with the text.
pub fn read(text: &str) -> Result<Witness, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    if document["skew"] != "witness" {
        return Err("not a witness: it does not say `\"skew\": \"witness\"`".to_owned());
    }
    if document["version"] != VERSION {
        let version = &document["version"];
        return Err(format!("a witness of version {version}; this version of Skew reads version {VERSION}"));
    }
    let list = |name: &str| document[name].as_array().ok_or_else(|| format!("`{name}` is not an array"));
    let init = document["init"].as_object().ok_or("`init` is not an object")?;
    let sessions = list("sessions")?.iter().map(|name| name.as_str().map(str::to_owned));
    let steps = list("steps")?.iter().enumerate();
    Ok(Witness {
        failure: text_of(&document, "failure")?,
        recording: document["replay"].as_str().map(str::to_owned),
        real_time: match document["recency"].as_str() {
            Some("commit") => true,
            Some("none") => false,
            _ => return Err("`recency` is neither `none` nor `commit`".to_owned()),
        },
        init: init.iter().map(|(key, value)| Ok((key.clone(), literal_of(value)?))).collect::<Result<_, String>>()?,
        sessions: sessions.collect::<Option<_>>().ok_or("`sessions` holds something that is not a string")?,
        steps: steps
            .map(|(at, step)| step_of(step).map_err(|error| format!("step {}: {error}", at + 1)))
            .collect::<Result<_, _>>()?,
        history: list("history")?.iter().map(|line| format!("{}\n", line.as_str().unwrap_or_default())).collect(),
        anomaly: document["anomaly"].as_str().and_then(Anomaly::find),
    })
}

/// One step, its fields in the order in which people read them.
fn step_json(step: &WitnessStep) -> String {
    let mut fields = vec![("session", json!(step.session))];
    let mut joins = false;
    match &step.action {
        WitnessAction::Begin { txn, level } => {
            fields.extend([("do", json!("begin")), ("txn", json!(txn)), ("level", json!(level.id()))]);
        }
        WitnessAction::Read { key, value, from, joined } => {
            fields.extend([("do", json!("read")), ("key", json!(key)), ("value", literal(value))]);
            fields.push(("from", json!(source_text(from))));
            joins = *joined;
        }
        WitnessAction::Write { key, value, joined } => {
            fields.extend([("do", json!("write")), ("key", json!(key)), ("value", literal(value))]);
            joins = *joined;
        }
        WitnessAction::Scan { prefix, joined } => {
            fields.extend([("do", json!("scan")), ("prefix", json!(prefix))]);
            joins = *joined;
        }
        WitnessAction::Commit => fields.push(("do", json!("commit"))),
        WitnessAction::Rollback => fields.push(("do", json!("rollback"))),
        WitnessAction::Refused => fields.push(("do", json!("refused"))),
    }
    if joins {
        fields.push(("joined", json!(true)));
    }
    let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{}: {value}", json!(name))).collect();
    format!("{{ {} }}", fields.join(", "))
}

fn step_of(step: &Value) -> Result<WitnessStep, String> {
    let joined = step["joined"].as_bool().unwrap_or(false);
    let action = match text_of(step, "do")?.as_str() {
        "begin" => {
            let level: Level = text_of(step, "level")?.parse().map_err(|error| format!("{error}"))?;
            WitnessAction::Begin { txn: text_of(step, "txn")?, level }
        }
        "read" => {
            let from = source_of(&text_of(step, "from")?)?;
            WitnessAction::Read { key: text_of(step, "key")?, value: literal_of(&step["value"])?, from, joined }
        }
        "write" => WitnessAction::Write { key: text_of(step, "key")?, value: literal_of(&step["value"])?, joined },
        "scan" => WitnessAction::Scan { prefix: text_of(step, "prefix")?, joined },
        "commit" => WitnessAction::Commit,
        "rollback" => WitnessAction::Rollback,
        "refused" => WitnessAction::Refused,
        other => return Err(format!("`{other}` is nothing that a session does")),
    };
    Ok(WitnessStep { session: text_of(step, "session")?, action })
}

fn text_of(object: &Value, name: &str) -> Result<String, String> {
    object[name].as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` is missing or not a string"))
}

fn source_text(source: &WitnessSource) -> String {
    match source {
        WitnessSource::Initial => "init".to_owned(),
        WitnessSource::Own => "own".to_owned(),
        WitnessSource::Txn(name) => format!(":{name}"),
    }
}

fn source_of(text: &str) -> Result<WitnessSource, String> {
    match text {
        "init" => Ok(WitnessSource::Initial),
        "own" => Ok(WitnessSource::Own),
        _ => match text.strip_prefix(':') {
            Some(name) => Ok(WitnessSource::Txn(name.to_owned())),
            None => Err(format!("`from` is `{text}`, which is none of `init`, `own`, `:transaction`")),
        },
    }
}

fn literal(literal: &Literal) -> Value {
    match literal {
        Literal::Nil => Value::Null,
        Literal::Int(number) => json!(number),
        Literal::Text(text) => json!(text),
    }
}

fn literal_of(value: &Value) -> Result<Literal, String> {
    match value {
        Value::Null => Ok(Literal::Nil),
        Value::String(text) => Ok(Literal::Text(text.clone())),
        Value::Number(number) => {
            number.as_i64().map(Literal::Int).ok_or_else(|| format!("{number} is not a 64-bit whole number"))
        }
        other => Err(format!("`{other}` is not a value: a whole number, a string or null")),
    }
}
