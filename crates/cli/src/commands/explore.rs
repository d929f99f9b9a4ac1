//! `skew explore`: a small client of an application file, in every way that its level allows.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use skew_check::check;
use skew_model::{AskedLevel, History, Level};
use skew_sql::app::App;
use skew_sql::error::SqlError;
use skew_sql::explore::{Behaviour, Client, Explored, Limits, explore, explore_interleaved};
use skew_sql::script::Script;
use skew_sql::session::clock::STEADY;
use skew_sql::session::transaction::Isolation;
use skew_sql::session::{ChoiceKind, Client as Connected, Database, Granularity, Options};
use skew_store::Recency;

use crate::Ending;
use crate::commands::serve::read_script;
use crate::database_flags::{GranularityArgument, is_without_locks};
use crate::flags::{OutputFlags, TextOrJson};
use crate::target_flag::TargetFlag;

/// The levels that are explored unless one is asked for, weakest first.
const LEVELS: [Level; 8] = [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];
/// Rows of a table that are shown of one behaviour.
const MOST_CHARACTERS: usize = 300;

/// Run a small client of an application file in every way that a level allows
///
/// The file is plain PostgreSQL: tables, first rows, transactions as procedures. Functions with the comment `@invariant`
/// must return true after every commit, the value of those with `@monotone` must not go down from one commit to the next,
/// and no ASSERT may fail; a procedure with the comment `@isolation si` always runs at that level. `not ser` counts the
/// histories that no serial order explains; one of them is shown if nothing breaks.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew explore bank.sql --client 'alice: withdraw(1, 60) | bob: withdraw(1, 60)'
  skew explore bank.sql --client 'withdraw(1, 60); withdraw(2, 10) | deposit(1, 5)' --level si --all
  skew explore bank.sql --client 'withdraw(1, 60) | audit()' --isolation 'read committed' --mark audit=repeatable-read

Sessions are separated by |, their calls by ;. Each call is a transaction: a procedure is CALLed, a function SELECTed,
anything else is taken as it stands. `… | finally: SELECT balance FROM account`: when all calls are done, every session
reads what is left, so that histories show who has written last.

Levels: an id (rc ra cc mvrc pc psi si ser) is the definition, with reads of any age that it allows, and every commit order.
A SQL name ('read committed', repeatable-read, serializable) is what PostgreSQL does: every interleaving of statements and
commits, with its snapshots, locks and errors; `order` shows one that leads there (a0 begins a call of session a, a1 is its
first statement, a1… goes on with it after a wait, ac commits). At mvrc both are tried.

Exit codes: 0 nothing breaks, 1 something does, 2 bad input or usage, 3 unknown: a limit was hit before everything was
tried.")]
pub(crate) struct Arguments {
    /// The application
    file: PathBuf,

    /// What sessions call
    #[arg(long, value_name = "CALLS")]
    client: String,

    /// Run this SQL first, for instance to insert rows that the file does not have (repeatable)
    #[arg(long, value_name = "SQL")]
    first: Vec<String>,

    /// The level of every transaction that does not ask for one (repeatable): an id, or the SQL name of a level of PostgreSQL
    /// [default: all ids]
    #[arg(short, long = "level", visible_alias = "isolation", value_name = "LEVEL", value_parser = parse_asked)]
    levels: Vec<AskedLevel>,

    #[command(flatten)]
    target: TargetFlag,

    /// Run this program at this level, whatever its comment says (repeatable)
    #[arg(long = "mark", value_name = "PROGRAM=LEVEL", value_parser = parse_mark)]
    marks: Vec<(String, AskedLevel)>,

    /// What two transactions conflict on
    #[arg(long, value_enum, default_value_t = GranularityArgument::Cell)]
    granularity: GranularityArgument,

    /// Show every behaviour, not only those that break an invariant
    #[arg(long)]
    all: bool,

    /// Try so many runs a level at most
    #[arg(long, default_value_t = 200_000)]
    max_runs: u64,

    /// Try for so many seconds a level at most
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    max_time: u64,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    arguments.target.must_be_executable()?;
    let client = Client::parse(&arguments.client)?;
    let script = read_script(&arguments.file)?;
    let levels = match arguments.levels.is_empty() {
        true => LEVELS.map(AskedLevel::from).to_vec(),
        false => arguments.levels.clone(),
    };
    let width = levels.iter().map(|asked| asked.word().len() + 2).max().unwrap_or_default().max(6);
    let limits = Limits { runs: arguments.max_runs, time: Duration::from_secs(arguments.max_time) };
    let mut out = String::new();
    let mut ending = Ending::Holds;
    let _ = writeln!(
        out,
        "{:<width$}{:>11}{:>9}{:>10}{:>9}{:>13}   invariants",
        "level", "histories", "not ser", "runs", "refused", "behaviours"
    );
    let mut as_json = Vec::new();
    let mut anomalous: Option<(&str, History)> = None;
    let mut seen: Vec<(Behaviour, Vec<&str>)> = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    for &asked in &levels {
        let (app, explored) = explored(arguments, &script, &client, asked, limits)?;
        for failure in always_failed(&explored, &client) {
            if failure.is_mistake {
                return Err(format!("{}: {}", arguments.file.display(), failure.text));
            }
            if !failed.contains(&failure.text) {
                failed.push(failure.text);
            }
        }
        let broken: Vec<&Behaviour> = explored.behaviours.iter().filter(|one| !one.broken.is_empty()).collect();
        let words = invariants(&app, &explored, &broken);
        let is_not_serializable = |history: &&History| !check(history, Level::Ser).holds();
        let not_serializable: Vec<&History> = explored.all.iter().filter(is_not_serializable).collect();
        let _ = writeln!(
            out,
            "{:<width$}{:>11}{:>9}{:>10}{:>9}{:>13}   {words}",
            asked.word(),
            explored.histories,
            not_serializable.len(),
            explored.runs,
            explored.refused,
            explored.behaviours.len()
        );
        as_json.push(json!({
            "level": asked.word(), "histories": explored.histories, "not_serializable": not_serializable.len(),
            "runs": explored.runs, "refused": explored.refused, "behaviours": explored.behaviours.len(),
            "broken": broken.iter().flat_map(|one| &one.broken).collect::<BTreeSet<_>>(),
            "limit": explored.limit.as_ref().map(ToString::to_string),
        }));
        ending = ending.max(match (broken.is_empty(), &explored.limit) {
            (false, _) => Ending::Violated,
            (true, Some(_)) => Ending::Unknown,
            (true, None) => Ending::Holds,
        });
        // The strongest level has the fewest.
        anomalous = not_serializable.first().map(|history| (asked.word(), (*history).clone())).or(anomalous);
        let mut shown: Vec<&Behaviour> = explored.behaviours.iter().collect();
        shown.retain(|one| arguments.all || arguments.output.verbose || !one.broken.is_empty());
        for behaviour in shown {
            match seen.iter_mut().find(|(known, _)| known.is_like(behaviour)) {
                Some((_, levels)) => levels.push(asked.word()),
                None => seen.push((behaviour.clone(), vec![asked.word()])),
            }
        }
    }
    if arguments.format == TextOrJson::Json {
        let behaviours: Vec<_> = seen.iter().map(|(behaviour, levels)| behaviour_json(levels, behaviour)).collect();
        let document = json!({
            "skew": "explore", "version": 1, "file": arguments.file.display().to_string(), "client": arguments.client,
            "levels": as_json, "always_failed": failed, "behaviours": behaviours,
        });
        arguments.output.write(&format!("{document:#}\n"))?;
        return Ok(ending);
    }
    if arguments.output.quiet {
        arguments.output.write(&out)?;
        return Ok(ending);
    }
    for failure in &failed {
        let _ = writeln!(out, "\nnote: in every run at a level, {failure}");
    }
    for (behaviour, levels) in &seen {
        out.push_str(&behaviour_words(levels, behaviour));
    }
    if let (true, Some((level, history))) = (seen.is_empty(), &anomalous) {
        let _ = writeln!(out, "\nnot serializable at {level}, as in");
        out.push_str(&history_words(history, &[]));
    }
    arguments.output.write(&out)?;
    Ok(ending)
}

fn parse_asked(word: &str) -> Result<AskedLevel, String> {
    match word.parse::<AskedLevel>().map_err(|error| error.to_string())? {
        AskedLevel { level, sql: None } if level == Level::Ec || is_without_locks(level) => {
            Err(format!("transactions do not run at {level}; the ids are ru rc ra cc mvrc pc psi si ser sser"))
        }
        asked => Ok(asked),
    }
}

fn parse_mark(word: &str) -> Result<(String, AskedLevel), String> {
    let (program, level) = word.split_once('=').ok_or("a mark reads PROGRAM=LEVEL")?;
    Ok((program.to_owned(), parse_asked(level)?))
}

/// Explores the client at one level, in a database of its own.
fn explored(
    arguments: &Arguments,
    script: &Script,
    client: &Client,
    asked: AskedLevel,
    limits: Limits,
) -> Result<(App, Explored), String> {
    let failed = |error: SqlError| {
        let fields = error.fields();
        format!("{}: {} ({})", arguments.file.display(), fields.message, fields.code)
    };
    let loaded = |options: Options| -> Result<(Database, App), String> {
        let options = Options { granularity: arguments.granularity.into(), ..options };
        let (database, mut app) = load_with(script, &arguments.first, options)?;
        for (name, asked) in &arguments.marks {
            let Some(program) = app.programs.iter_mut().find(|program| program.name == *name) else {
                return Err(no_program(name, &app));
            };
            (program.level, program.isolation) = (Some(asked.level), asked.sql);
        }
        Ok((database, app))
    };
    let interleaved = |isolation: Isolation| {
        let options = Options { recency: Recency::Commit, choice: ChoiceKind::Postgres, ..Options::default() };
        let (database, app) = loaded(options)?;
        let explored = explore_interleaved(&database, &app, client, isolation, limits).map_err(failed)?;
        Ok::<_, String>((app, explored))
    };
    if let Some(isolation) = asked.sql {
        return interleaved(isolation);
    }
    let level = asked.level;
    let (database, app) = loaded(Options { recency: Recency::None, ..Options::default() })?;
    let explored = explore(&database, &app, client, level, limits).map_err(failed)?;
    // A statement that decides by a row which is deleted and made again, or by a key that it does not lock, is where
    // PostgreSQL's READ COMMITTED has runs that no order of whole transactions has.
    let is_alone = client
        .sessions
        .iter()
        .flat_map(|(_, calls)| calls)
        .all(|call| app.called(call).and_then(|program| program.level).is_none_or(|own| own == Level::Mvrc));
    if level == Level::Mvrc && is_alone {
        let (_, more) = interleaved(Isolation::ReadCommitted)?;
        return Ok((app, explored.and(more)));
    }
    Ok((app, explored))
}

/// A call that fails in every run of a level.
struct AlwaysFailed {
    text: String,
    /// It cannot be called so: there is no such procedure, or it is no SQL.
    is_mistake: bool,
}

fn always_failed(explored: &Explored, client: &Client) -> Vec<AlwaysFailed> {
    let Some((first, rest)) = explored.behaviours.split_first() else { return Vec::new() };
    let always = first.failed.iter().filter(|failure| rest.iter().all(|other| other.failed.contains(failure)));
    // PostgreSQL's class of errors in what was written. What comes before the call is the session's name.
    let is_mistake = |failure: &str| {
        let failure = failure.split_once(": ").map_or(failure, |(_, failure)| failure);
        client.sessions.iter().flat_map(|(_, calls)| calls).any(|call| failure.starts_with(&format!("{call}: 42")))
    };
    always.map(|failure| AlwaysFailed { text: failure.clone(), is_mistake: is_mistake(failure) }).collect()
}

fn counted(histories: usize) -> String {
    if histories == 1 { "1 history".to_owned() } else { format!("{histories} histories") }
}

/// A database with the application in it, after some more statements; some programs run serializably.
pub(crate) fn load(
    script: &Script,
    first: &[String],
    serializable: &[String],
    granularity: Granularity,
) -> Result<(Database, App), String> {
    let options = Options { recency: Recency::None, granularity, ..Options::default() };
    let (database, mut app) = load_with(script, first, options)?;
    for name in serializable {
        let Some(program) = app.programs.iter_mut().find(|program| program.name == *name) else {
            return Err(no_program(name, &app));
        };
        program.level = Some(Level::Ser);
    }
    Ok((database, app))
}

/// A database with the application in it, after some more statements.
fn load_with(script: &Script, first: &[String], options: Options) -> Result<(Database, App), String> {
    let database = Database::new(options);
    let client = Connected { clock: Some(STEADY), ..Connected::new("postgres", "explore") };
    let mut connection = database.connect(client);
    script.run(&mut connection).map_err(|failed| failed.to_string())?;
    for statement in first {
        let more = Script { name: "--first".into(), text: statement.as_str().into() };
        more.run(&mut connection).map_err(|failed| failed.to_string())?;
    }
    drop(connection);
    database.checkpoint().map_err(|error| error.fields().message.clone())?;
    let app = App::of(&database.catalog()).map_err(|error| format!("{}: {}", script.name, error.fields().message))?;
    Ok((database, app))
}

/// A name that is nobody's, and those that are.
pub(crate) fn no_program(name: &str, app: &App) -> String {
    let names: Vec<&str> = app.programs.iter().map(|program| program.name.as_str()).collect();
    format!("there is no program {name}; there are {}", names.join(", "))
}

/// What became of the invariants at a level. Where a limit was hit, nothing is said to hold.
fn invariants(app: &App, explored: &Explored, broken: &[&Behaviour]) -> String {
    let limit = explored.limit.as_ref();
    if broken.is_empty() {
        return match limit {
            Some(limit) => format!("unknown (limit: {limit})"),
            None if app.invariants.is_empty() && app.monotone.is_empty() => "none".to_owned(),
            None => "hold".to_owned(),
        };
    }
    let mut names: Vec<&str> = broken.iter().flat_map(|one| one.broken.iter().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let histories: BTreeSet<usize> = broken.iter().flat_map(|one| one.histories.iter().copied()).collect();
    let within = match histories.len() {
        0 => "runs with a refused transaction".to_owned(),
        count => counted(count),
    };
    let more = limit.map_or_else(String::new, |limit| format!(" (limit: {limit}; there may be more)"));
    format!("{} broken in {within}{more}", names.join(", "))
}

fn behaviour_json(levels: &[&str], behaviour: &Behaviour) -> Value {
    json!({
        "levels": levels, "broken": behaviour.broken, "order": behaviour.order, "state": behaviour.state,
        "failed": behaviour.failed, "history": behaviour.example.to_string(),
    })
}

fn behaviour_words(levels: &[&str], behaviour: &Behaviour) -> String {
    let mut out = String::new();
    let what = match behaviour.broken.is_empty() {
        true => "every invariant holds".to_owned(),
        false => format!("{} broken", behaviour.broken.join(", ")),
    };
    let separator = if levels.iter().any(|level| level.contains(' ')) { ", " } else { " " };
    let _ = writeln!(out, "\n{what} at {}, as in", levels.join(separator));
    let mut came_out = Vec::new();
    if !behaviour.order.is_empty() {
        came_out.push(format!("order {}", behaviour.order.join(" ")));
    }
    for line in &behaviour.state {
        let cut: String = line.chars().take(MOST_CHARACTERS).collect();
        came_out.push(format!("= {cut}{}", if cut.len() < line.len() { "…" } else { "" }));
    }
    came_out.extend(behaviour.failed.iter().map(|line| format!("! {line}")));
    out.push_str(&history_words(&behaviour.example, &came_out));
    out
}

/// A history, or the part that no serial order explains: that is the interesting part of it. What came out, and why not.
fn history_words(history: &History, came_out: &[String]) -> String {
    let mut out = String::new();
    let verdict = check(history, Level::Ser);
    let told = verdict.violation().map_or(history, |violation| &violation.history);
    for line in told.to_string().lines().chain(came_out.iter().map(String::as_str)) {
        let _ = writeln!(out, "  {line}");
    }
    if let Some(violation) = verdict.violation() {
        let _ = writeln!(out, "  {}: {}", violation.anomaly.id(), skew_report::headline(violation));
    }
    out
}
