//! Whether every run of an application is serializable, and runs that are not, as JSON, both ways. `ROBUST.md` beside this
//! crate lists every field.

use serde_json::{Value, json};
use skew_model::robust::{
    AppRun, Approximated, Dependency, DependencyKind, FoundRun, LevelAnswer, Meeting, PossibleCycle, RobustCycle,
    RobustEdge, RobustProgram, RobustReport, RobustSubsets, RobustVerdict, StatementAt,
};

use crate::fields::{list, number, open, optional_text, pretty, small, text_of, texts};

/// The version of both formats.
const VERSION: u64 = 1;

/// The answers as JSON.
pub fn write(report: &RobustReport) -> String {
    let names: Vec<&str> = report.programs.iter().map(|program| program.name.as_str()).collect();
    let documented = json!({
        "skew": "robust",
        "version": VERSION,
        "file": report.file,
        "sessions": report.sessions,
        "rows": report.rows,
        "every_level": report.every_level,
        "cached": report.cached,
        "programs": report.programs.iter().map(program_json).collect::<Vec<_>>(),
        "approximations": report.approximations.iter().map(|one| {
            json!({ "program": one.program, "line": one.line, "what": one.what })
        }).collect::<Vec<_>>(),
        "uncalled": report.uncalled,
        "dependencies": report.dependencies.iter().map(|one| dependency_json(one, &names)).collect::<Vec<_>>(),
        "levels": report.levels.iter().map(|answer| level_json(answer, &names)).collect::<Vec<_>>(),
        "weakest": report.weakest(),
        "runs": report.runs.iter().map(|run| run_json(run, &names)).collect::<Vec<_>>(),
        "subsets": report.subsets.iter().map(|one| {
            json!({ "level": one.level, "sets": one.sets, "limit": one.limit })
        }).collect::<Vec<_>>(),
    });
    pretty(&documented)
}

/// The answers that JSON text holds, or what is wrong with the text.
pub fn read(text: &str) -> Result<RobustReport, String> {
    let document = open(text, "robust", VERSION)?;
    let programs: Vec<RobustProgram> = list(&document, "programs")?.iter().map(program_of).collect::<Result<_, _>>()?;
    let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    let runs: Vec<FoundRun> =
        list(&document, "runs")?.iter().map(|run| run_of(run, &names)).collect::<Result<_, _>>()?;
    let levels = list(&document, "levels")?.iter().map(|level| level_of(level, &names, runs.len()));
    let approximated = |one: &Value| {
        let line = small(&one["line"], "line")?;
        Ok(Approximated { program: text_of(one, "program")?, line, what: text_of(one, "what")? })
    };
    let subsets = |one: &Value| {
        let sets = list(one, "sets")?.iter().map(|set| texts(&json!({ "sets": set }), "sets"));
        Ok(RobustSubsets {
            level: text_of(one, "level")?,
            sets: sets.collect::<Result<_, _>>()?,
            limit: optional_text(one, "limit"),
        })
    };
    Ok(RobustReport {
        file: text_of(&document, "file")?,
        sessions: document["sessions"] == true,
        rows: document["rows"] == true,
        every_level: document["every_level"] == true,
        cached: document["cached"] == true,
        approximations: list(&document, "approximations")?.iter().map(approximated).collect::<Result<_, String>>()?,
        uncalled: texts(&document, "uncalled")?,
        dependencies: list(&document, "dependencies")?
            .iter()
            .map(|one| dependency_of(one, &names))
            .collect::<Result<_, String>>()?,
        levels: levels.collect::<Result<_, String>>()?,
        subsets: list(&document, "subsets")?.iter().map(subsets).collect::<Result<_, String>>()?,
        programs,
        runs,
    })
}

/// What replays a run of an application, as JSON.
pub fn write_run(run: &AppRun) -> String {
    pretty(&json!({
        "skew": "app-run",
        "version": VERSION,
        "file": run.file,
        "level": run.level,
        "serializable": run.serializable,
        "rows": run.rows,
        "anomaly": run.anomaly,
        "first": run.setup,
        "sessions": sessions_json(&run.sessions),
        "history": run.history.lines().collect::<Vec<_>>(),
        "app": run.app,
    }))
}

/// Whether the text looks like what [`write_run`] writes.
pub fn is_run(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|document| document["skew"] == "app-run")
}

/// The run that JSON text holds, or what is wrong with the text.
pub fn read_run(text: &str) -> Result<AppRun, String> {
    let document = open(text, "app-run", VERSION)?;
    Ok(AppRun {
        file: text_of(&document, "file")?,
        app: text_of(&document, "app")?,
        level: text_of(&document, "level")?,
        serializable: texts(&document, "serializable")?,
        rows: document["rows"] == true,
        setup: texts(&document, "first")?,
        sessions: sessions_of(&document)?,
        history: texts(&document, "history")?.iter().map(|line| format!("{line}\n")).collect(),
        anomaly: optional_text(&document, "anomaly"),
    })
}

fn program_json(program: &RobustProgram) -> Value {
    json!({
        "name": program.name, "parameters": program.parameters, "ways": program.ways,
        "isolation": program.level, "marked": program.is_marked,
    })
}

fn program_of(program: &Value) -> Result<RobustProgram, String> {
    Ok(RobustProgram {
        name: text_of(program, "name")?,
        parameters: texts(program, "parameters")?,
        ways: number(program, "ways")? as usize,
        level: optional_text(program, "isolation"),
        is_marked: program["marked"] == true,
    })
}

fn dependency_json(one: &Dependency, names: &[&str]) -> Value {
    json!({
        "from": names.get(one.from), "to": names.get(one.to), "kind": one.kind.letters(), "about": one.about,
        "statements": one.statements.iter().map(meeting_json).collect::<Vec<_>>(),
    })
}

fn dependency_of(one: &Value, names: &[&str]) -> Result<Dependency, String> {
    Ok(Dependency {
        from: program_at(one, "from", names)?,
        to: program_at(one, "to", names)?,
        kind: kind_of(one)?,
        about: text_of(one, "about")?,
        statements: list(one, "statements")?.iter().map(meeting_of).collect::<Result<_, _>>()?,
    })
}

fn meeting_json(one: &Meeting) -> Value {
    let mut pair = statements_json(&(one.from.clone(), one.to.clone()));
    pair["equal"] = one.equal.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect();
    pair
}

fn meeting_of(pair: &Value) -> Result<Meeting, String> {
    let (from, to) = statements_of(pair)?;
    let equal = list(pair, "equal")?.iter().map(|one| Ok((text_of(one, "from")?, text_of(one, "to")?)));
    Ok(Meeting { from, to, equal: equal.collect::<Result<_, String>>()? })
}

fn statements_json((from, to): &(StatementAt, StatementAt)) -> Value {
    let one = |at: &StatementAt| json!({ "line": at.line, "text": at.text });
    json!({ "from": one(from), "to": one(to) })
}

fn statements_of(pair: &Value) -> Result<(StatementAt, StatementAt), String> {
    let one =
        |at: &Value| Ok::<_, String>(StatementAt { line: small(&at["line"], "line")?, text: text_of(at, "text")? });
    Ok((one(&pair["from"])?, one(&pair["to"])?))
}

fn kind_of(value: &Value) -> Result<DependencyKind, String> {
    let kind = DependencyKind::ALL.into_iter().find(|kind| value["kind"] == kind.letters());
    kind.ok_or_else(|| "`kind` is none of so, wr, ww, rw".to_owned())
}

fn program_at(value: &Value, field: &str, names: &[&str]) -> Result<usize, String> {
    let name = text_of(value, field)?;
    names.iter().position(|known| *known == name).ok_or_else(|| format!("`{field}` is {name}, which is no program"))
}

fn level_json(answer: &LevelAnswer, names: &[&str]) -> Value {
    json!({
        "level": answer.level, "verdict": answer.verdict.words(), "argument": answer.argument, "why": answer.why,
        "runs": answer.found, "untried": answer.untried,
        "possible": answer.possible.iter().map(|one| {
            json!({ "cycle": cycle_json(&one.cycle, names), "reason": one.reason })
        }).collect::<Vec<_>>(),
    })
}

fn level_of(answer: &Value, names: &[&str], runs: usize) -> Result<LevelAnswer, String> {
    let verdict = RobustVerdict::ALL.into_iter().find(|verdict| answer["verdict"] == verdict.words());
    let found = list(answer, "runs")?.iter().map(|at| match small(at, "runs")? as usize {
        at if at < runs => Ok(at),
        at => Err(format!("`runs` names run {at} of {runs}, counted from 0")),
    });
    let possible =
        |one: &Value| Ok(PossibleCycle { cycle: cycle_of(&one["cycle"], names)?, reason: text_of(one, "reason")? });
    Ok(LevelAnswer {
        level: text_of(answer, "level")?,
        verdict: verdict.ok_or("`verdict` is none of robust, not robust, possible, unknown")?,
        argument: optional_text(answer, "argument"),
        why: text_of(answer, "why")?,
        found: found.collect::<Result<_, String>>()?,
        possible: list(answer, "possible")?.iter().map(possible).collect::<Result<_, String>>()?,
        untried: number(answer, "untried")? as usize,
    })
}

fn cycle_json(cycle: &RobustCycle, names: &[&str]) -> Value {
    let edge = |edge: &RobustEdge| {
        json!({
            "from": names.get(edge.from), "to": names.get(edge.to), "kind": edge.kind.letters(), "about": edge.about,
            "statements": edge.statements.as_ref().map(statements_json),
        })
    };
    json!({ "line": cycle.line, "edges": cycle.edges.iter().map(edge).collect::<Vec<_>>() })
}

fn cycle_of(cycle: &Value, names: &[&str]) -> Result<RobustCycle, String> {
    let edge = |edge: &Value| {
        Ok(RobustEdge {
            from: program_at(edge, "from", names)?,
            to: program_at(edge, "to", names)?,
            kind: kind_of(edge)?,
            about: text_of(edge, "about")?,
            statements: match &edge["statements"] {
                Value::Null => None,
                pair => Some(statements_of(pair)?),
            },
        })
    };
    let edges = list(cycle, "edges")?.iter().map(edge).collect::<Result<_, String>>()?;
    Ok(RobustCycle { line: text_of(cycle, "line")?, edges })
}

fn run_json(run: &FoundRun, names: &[&str]) -> Value {
    json!({
        "level": run.level, "anomaly": run.anomaly, "programs": run.programs,
        "cycle": run.cycle.as_ref().map(|cycle| cycle_json(cycle, names)),
        "first": run.setup, "client": run.client, "sessions": sessions_json(&run.sessions),
        "history": run.history, "core": run.core, "replay": run.replay, "psql": run.psql,
        "saved": run.saved.as_ref().map(|(replay, picture)| json!({ "replay": replay, "picture": picture })),
    })
}

fn run_of(run: &Value, names: &[&str]) -> Result<FoundRun, String> {
    let saved = &run["saved"];
    Ok(FoundRun {
        level: text_of(run, "level")?,
        anomaly: optional_text(run, "anomaly"),
        programs: texts(run, "programs")?,
        cycle: match &run["cycle"] {
            Value::Null => None,
            cycle => Some(cycle_of(cycle, names)?),
        },
        setup: texts(run, "first")?,
        sessions: sessions_of(run)?,
        client: text_of(run, "client")?,
        history: text_of(run, "history")?,
        core: text_of(run, "core")?,
        replay: text_of(run, "replay")?,
        psql: optional_text(run, "psql"),
        saved: match saved {
            Value::Null => None,
            saved => Some((text_of(saved, "replay")?, text_of(saved, "picture")?)),
        },
    })
}

fn sessions_json(sessions: &[(String, Vec<String>)]) -> Value {
    let all = sessions.iter().map(|(name, calls)| json!({ "session": name, "calls": calls }));
    all.collect::<Vec<_>>().into()
}

fn sessions_of(value: &Value) -> Result<Vec<(String, Vec<String>)>, String> {
    list(value, "sessions")?.iter().map(|one| Ok((text_of(one, "session")?, texts(one, "calls")?))).collect()
}
