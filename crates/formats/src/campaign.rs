//! Campaigns and their replays as JSON, both ways. `CAMPAIGN.md` beside this crate lists every field.

use serde_json::{Value, json};
use skew_model::campaign::{
    Campaign, ConflictingPair, Coverage, DatabaseReplay, Experiment, FailedFix, FailedRun, FailureCause, FixEvidence,
    RunLine, RunOutcome, RunReplay, SqlAnomaly, SqlEdge, SqlOperation, SqlStatement, TriedFix, Why,
};

use crate::fields::{list, number, open, pretty, small, text_of, texts};

/// The version of both formats.
const VERSION: u64 = 1;

/// A campaign's results as JSON.
pub fn write(campaign: &Campaign) -> String {
    let document = json!({
        "skew": "campaign",
        "version": VERSION,
        "command": campaign.command,
        "level": campaign.level,
        "seed": campaign.seed,
        "planned": campaign.planned,
        "shard": campaign.shard.map(|(number, count)| [number, count]),
        "elapsed_ms": campaign.elapsed_ms,
        "held_ms": campaign.held_ms,
        "interrupted": campaign.is_interrupted,
        "coverage": coverage_json(&campaign.coverage),
        "unsupported": campaign.unsupported.iter().map(|(what, times)| json!({ "what": what, "times": times })).collect::<Vec<_>>(),
        "baseline": campaign.baseline.iter().map(run_json).collect::<Vec<_>>(),
        "runs": campaign.runs.iter().map(run_json).collect::<Vec<_>>(),
        "failure": campaign.failure.as_ref().map(failure_json),
        "other_failures": campaign.other_failures.iter().map(failure_json).collect::<Vec<_>>(),
        "causes": campaign.causes.iter().map(cause_json).collect::<Vec<_>>(),
    });
    pretty(&document)
}

/// What replays a run, as JSON.
pub fn write_replay(replay: &RunReplay) -> String {
    let database = |database: &DatabaseReplay| {
        json!({
            "name": database.name, "turns": database.turns, "members": database.members,
            "stale": database.stale, "forced": database.forced,
        })
    };
    let document = json!({
        "skew": "run",
        "version": VERSION,
        "shows": replay.shows,
        "command": replay.command,
        "options": replay.options,
        "seed": replay.seed,
        "databases": replay.databases.iter().map(database).collect::<Vec<_>>(),
    });
    pretty(&document)
}

/// Whether the text looks like what [`write_replay`] writes, rather than like a witness.
pub fn is_replay(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|document| document["skew"] == "run")
}

/// The results that JSON text holds, or what is wrong with the text.
pub fn read(text: &str) -> Result<Campaign, String> {
    let document = open(text, "campaign", VERSION)?;
    let unsupported = list(&document, "unsupported")?.iter();
    Ok(Campaign {
        command: texts(&document, "command")?,
        level: text_of(&document, "level")?,
        seed: number(&document, "seed")?,
        planned: number(&document, "planned")?,
        shard: match &document["shard"] {
            Value::Null => None,
            shard => Some((small(&shard[0], "shard")?, small(&shard[1], "shard")?)),
        },
        baseline: list(&document, "baseline")?.iter().map(run_of).collect::<Result<_, _>>()?,
        runs: list(&document, "runs")?.iter().map(run_of).collect::<Result<_, _>>()?,
        failure: match &document["failure"] {
            Value::Null => None,
            failure => Some(failure_of(failure)?),
        },
        other_failures: match &document["other_failures"] {
            Value::Null => Vec::new(),
            _ => list(&document, "other_failures")?.iter().map(failure_of).collect::<Result<_, _>>()?,
        },
        causes: optional_list(&document, "causes").iter().map(cause_of).collect::<Result<_, _>>()?,
        unsupported: unsupported
            .map(|one| Ok((text_of(one, "what")?, number(one, "times")?)))
            .collect::<Result<_, String>>()?,
        held_ms: number(&document, "held_ms")?,
        elapsed_ms: number(&document, "elapsed_ms")?,
        is_interrupted: document["interrupted"] == true,
        coverage: match &document["coverage"] {
            Value::Null => Coverage::default(),
            coverage => coverage_of(coverage)?,
        },
    })
}

fn coverage_json(coverage: &Coverage) -> Value {
    let pair = |pair: &ConflictingPair| {
        json!({
            "one": pair.one, "other": pair.other, "met": pair.met,
            "one_first": pair.one_first, "other_first": pair.other_first,
        })
    };
    json!({
        "runs": coverage.runs,
        "uncounted": coverage.uncounted,
        "concurrent": coverage.concurrent,
        "connections": coverage.connections,
        "transactions": coverage.transactions,
        "overlapping": coverage.overlapping,
        "conflicting": coverage.pairs.len(),
        "overlapped": coverage.overlapped(),
        "in_both_orders": coverage.in_both_orders(),
        "stale_reads": coverage.stale_reads,
        "pairs": coverage.pairs.iter().map(pair).collect::<Vec<_>>(),
    })
}

fn coverage_of(coverage: &Value) -> Result<Coverage, String> {
    let pair = |pair: &Value| {
        Ok(ConflictingPair {
            one: text_of(pair, "one")?,
            other: text_of(pair, "other")?,
            met: number(pair, "met")?,
            one_first: pair["one_first"] == true,
            other_first: pair["other_first"] == true,
        })
    };
    Ok(Coverage {
        runs: number(coverage, "runs")?,
        uncounted: number(coverage, "uncounted")?,
        concurrent: number(coverage, "concurrent")?,
        connections: number(coverage, "connections")?,
        transactions: number(coverage, "transactions")?,
        overlapping: number(coverage, "overlapping")?,
        pairs: list(coverage, "pairs")?.iter().map(pair).collect::<Result<_, String>>()?,
        stale_reads: number(coverage, "stale_reads")?,
    })
}

/// The replay that JSON text holds, or what is wrong with the text.
pub fn read_replay(text: &str) -> Result<RunReplay, String> {
    let document = open(text, "run", VERSION)?;
    let database = |one: &Value| {
        let stale = list(one, "stale")?.iter().map(|read| {
            let part = |at: usize| small(&read[at], "stale");
            Ok([part(0)?, part(1)?, part(2)?, part(3)?])
        });
        Ok(DatabaseReplay {
            name: text_of(one, "name")?,
            turns: list(one, "turns")?.iter().map(|turn| small(turn, "turns")).collect::<Result<_, String>>()?,
            members: optional_list(one, "members").iter().map(member_of).collect::<Result<_, String>>()?,
            stale: stale.collect::<Result<_, String>>()?,
            forced: optional_list(one, "forced").iter().map(forced_of).collect::<Result<_, String>>()?,
        })
    };
    Ok(RunReplay {
        command: texts(&document, "command")?,
        options: texts(&document, "options")?,
        seed: number(&document, "seed")?,
        databases: list(&document, "databases")?.iter().map(database).collect::<Result<_, String>>()?,
        shows: text_of(&document, "shows")?,
    })
}

/// A list that older files do not have.
fn optional_list<'a>(document: &'a Value, name: &str) -> &'a [Value] {
    document[name].as_array().map_or(&[], Vec::as_slice)
}

fn member_of(member: &Value) -> Result<(u32, String), String> {
    let text = member[1].as_str().ok_or("`members` are pairs of a number and a statement")?;
    Ok((small(&member[0], "members")?, text.to_owned()))
}

fn forced_of(forced: &Value) -> Result<[u32; 5], String> {
    let part = |at: usize| small(&forced[at], "forced");
    Ok([part(0)?, part(1)?, part(2)?, part(3)?, part(4)?])
}

fn cause_json(cause: &FailureCause) -> Value {
    json!({ "cause": cause.words, "runs": cause.runs, "replays": cause.replays })
}

fn cause_of(cause: &Value) -> Result<FailureCause, String> {
    let run = |run: &Value| run.as_u64().ok_or_else(|| "`runs` of a cause are numbers".to_owned());
    Ok(FailureCause {
        words: text_of(cause, "cause")?,
        runs: list(cause, "runs")?.iter().map(run).collect::<Result<_, _>>()?,
        replays: texts(cause, "replays")?,
    })
}

fn experiment_json(experiment: &Experiment) -> Value {
    json!({
        "pairs": experiment.pairs, "needed": experiment.needed,
        "serial_runs": experiment.serial_runs, "serial_passed": experiment.serial_passed,
    })
}

fn experiment_of(experiment: &Value) -> Result<Experiment, String> {
    let count = |name: &str| Ok::<usize, String>(number(experiment, name)? as usize);
    Ok(Experiment {
        pairs: count("pairs")?,
        needed: count("needed")?,
        serial_runs: count("serial_runs")?,
        serial_passed: count("serial_passed")?,
    })
}

fn tried_json(tried: &TriedFix) -> Value {
    let (runs, explored) = match tried.evidence {
        FixEvidence::Runs(runs) => (Some(runs), None),
        FixEvidence::Explored(interleavings) => (None, Some(interleavings)),
    };
    json!({ "fix": tried.words, "sql": tried.sql, "runs": runs, "explored": explored })
}

fn tried_of(tried: &Value) -> Result<TriedFix, String> {
    let evidence = match &tried["explored"] {
        Value::Null => FixEvidence::Runs(number(tried, "runs")? as usize),
        _ => FixEvidence::Explored(number(tried, "explored")?),
    };
    Ok(TriedFix { words: text_of(tried, "fix")?, sql: texts(tried, "sql")?, evidence })
}

fn failed_json(failed: &FailedFix) -> Value {
    json!({ "fix": failed.words, "how": failed.how })
}

fn failed_of(failed: &Value) -> Result<FailedFix, String> {
    Ok(FailedFix { words: text_of(failed, "fix")?, how: text_of(failed, "how")? })
}

fn run_json(run: &RunLine) -> Value {
    let (outcome, code) = match run.outcome {
        RunOutcome::Passed => ("passed", 0),
        RunOutcome::Failed(code) => ("failed", code),
        RunOutcome::Killed(signal) => ("killed", signal),
        RunOutcome::TimedOut => ("timed out", 0),
    };
    json!({
        "number": run.number, "seed": run.seed, "outcome": outcome, "code": code, "ms": run.ms,
        "statements": run.statements, "refusals": run.refusals,
    })
}

fn run_of(run: &Value) -> Result<RunLine, String> {
    let code = run["code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(0);
    Ok(RunLine {
        number: number(run, "number")?,
        seed: number(run, "seed")?,
        outcome: match run["outcome"].as_str() {
            Some("passed") => RunOutcome::Passed,
            Some("failed") => RunOutcome::Failed(code),
            Some("killed") => RunOutcome::Killed(code),
            Some("timed out") => RunOutcome::TimedOut,
            _ => return Err("`outcome` is none of passed, failed, killed, timed out".to_owned()),
        },
        ms: number(run, "ms")?,
        statements: number(run, "statements")?,
        refusals: number(run, "refusals")?,
    })
}

fn failure_json(failure: &FailedRun) -> Value {
    let (found, needed) = failure.stale_reads;
    let (times, failed) = failure.repeated;
    json!({
        "run": run_json(&failure.run),
        "why": why_json(&failure.why),
        "stale_reads": { "found": found, "needed": needed },
        "repeated": { "times": times, "failed": failed },
        "experiment": failure.experiment.as_ref().map(experiment_json),
        "replay": failure.replay,
        "database": failure.database,
        "output": failure.output,
        "statements": failure.statements.iter().map(statement_json).collect::<Vec<_>>(),
    })
}

fn failure_of(failure: &Value) -> Result<FailedRun, String> {
    let pair = |name: &str, one: &str, other: &str| -> Result<(usize, usize), String> {
        Ok((number(&failure[name], one)? as usize, number(&failure[name], other)? as usize))
    };
    let statements: Vec<SqlStatement> =
        list(failure, "statements")?.iter().map(statement_of).collect::<Result<_, _>>()?;
    let why = why_of(&failure["why"])?;
    check_places(&why, statements.len())?;
    Ok(FailedRun {
        run: run_of(&failure["run"])?,
        output: text_of(failure, "output")?,
        database: text_of(failure, "database")?,
        statements,
        why,
        stale_reads: pair("stale_reads", "found", "needed")?,
        repeated: pair("repeated", "times", "failed")?,
        experiment: match &failure["experiment"] {
            Value::Null => None,
            experiment => Some(experiment_of(experiment)?),
        },
        replay: failure["replay"].as_str().map(str::to_owned),
    })
}

fn statement_json(statement: &SqlStatement) -> Value {
    let operation = |operation: &SqlOperation| {
        json!({
            "do": if operation.is_write { "write" } else { "read" },
            "key": operation.key, "value": operation.value, "stale": operation.is_stale,
            "alternatives": operation.alternatives, "guilty": operation.is_guilty, "within": operation.within,
        })
    };
    json!({
        "connection": statement.connection, "txn": statement.txn, "sql": statement.text,
        "parameters": statement.parameters, "answer": statement.answer, "error": statement.is_error,
        "waited_for": statement.waited_for,
        "operations": statement.operations.iter().map(operation).collect::<Vec<_>>(),
    })
}

fn statement_of(statement: &Value) -> Result<SqlStatement, String> {
    let operation = |operation: &Value| {
        Ok(SqlOperation {
            is_write: operation["do"] == "write",
            key: text_of(operation, "key")?,
            value: text_of(operation, "value")?,
            is_stale: operation["stale"] == true,
            alternatives: texts(operation, "alternatives")?,
            is_guilty: operation["guilty"] == true,
            within: operation["within"].as_str().map(str::to_owned),
        })
    };
    Ok(SqlStatement {
        connection: number(statement, "connection")? as usize,
        txn: statement["txn"].as_str().map(str::to_owned),
        text: text_of(statement, "sql")?,
        parameters: texts(statement, "parameters")?,
        answer: text_of(statement, "answer")?,
        is_error: statement["error"] == true,
        waited_for: statement["waited_for"].as_u64().map(|connection| connection as usize),
        operations: list(statement, "operations")?.iter().map(operation).collect::<Result<_, String>>()?,
    })
}

fn why_json(why: &Why) -> Value {
    match why {
        Why::Anomaly(anomaly) => {
            let edge = |edge: &SqlEdge| {
                json!({
                    "from": edge.from, "to": edge.to, "label": edge.label, "reason": edge.reason,
                    "statements": [edge.statements.0, edge.statements.1],
                })
            };
            json!({
                "kind": "anomaly", "anomaly": anomaly.id, "headline": anomaly.headline, "cycle": anomaly.cycle,
                "edges": anomaly.edges.iter().map(edge).collect::<Vec<_>>(),
                "breaks": anomaly.breaks, "satisfies": anomaly.satisfies,
                "others": anomaly.others, "tried": anomaly.tried.iter().map(tried_json).collect::<Vec<_>>(),
                "failed": anomaly.failed.iter().map(failed_json).collect::<Vec<_>>(),
            })
        }
        Why::Refused(statements) => json!({ "kind": "refused", "statements": statements }),
        Why::Serializable => json!({ "kind": "serializable" }),
        Why::Unknown(limit) => json!({ "kind": "unknown", "limit": limit }),
    }
}

fn why_of(why: &Value) -> Result<Why, String> {
    Ok(match why["kind"].as_str() {
        Some("anomaly") => {
            let at = |value: &Value| value.as_u64().map(|at| at as usize);
            let edge = |edge: &Value| {
                Ok(SqlEdge {
                    from: text_of(edge, "from")?,
                    to: text_of(edge, "to")?,
                    label: text_of(edge, "label")?,
                    reason: text_of(edge, "reason")?,
                    statements: (at(&edge["statements"][0]), at(&edge["statements"][1])),
                })
            };
            Why::Anomaly(Box::new(SqlAnomaly {
                id: text_of(why, "anomaly")?,
                headline: text_of(why, "headline")?,
                edges: list(why, "edges")?.iter().map(edge).collect::<Result<_, String>>()?,
                cycle: text_of(why, "cycle")?,
                breaks: texts(why, "breaks")?,
                satisfies: texts(why, "satisfies")?,
                others: match &why["others"] {
                    Value::Null => Vec::new(),
                    _ => texts(why, "others")?,
                },
                tried: optional_list(why, "tried").iter().map(tried_of).collect::<Result<_, String>>()?,
                failed: optional_list(why, "failed").iter().map(failed_of).collect::<Result<_, String>>()?,
            }))
        }
        Some("refused") => {
            let statements = list(why, "statements")?.iter();
            Why::Refused(statements.map(|at| Ok(small(at, "statements")? as usize)).collect::<Result<_, String>>()?)
        }
        Some("serializable") => Why::Serializable,
        Some("unknown") => Why::Unknown(text_of(why, "limit")?),
        _ => return Err("`kind` is none of anomaly, refused, serializable, unknown".to_owned()),
    })
}

/// The places of statements have to be in the list of statements.
fn check_places(why: &Why, count: usize) -> Result<(), String> {
    let places: Vec<usize> = match why {
        Why::Anomaly(anomaly) => {
            anomaly.edges.iter().flat_map(|edge| [edge.statements.0, edge.statements.1]).flatten().collect()
        }
        Why::Refused(statements) => statements.clone(),
        Why::Serializable | Why::Unknown(_) => Vec::new(),
    };
    match places.into_iter().find(|place| *place >= count) {
        Some(place) => Err(format!("`statements` names statement {place} of {count}, counted from 0")),
        None => Ok(()),
    }
}
