//! The options of a project, in `skew.toml`.
//!
//! The file is looked for in this folder and above. It has a table for each command, whose keys are the command's long
//! options without the dashes; `command` in `[test]` is what comes after `--`. An option on the command line replaces the
//! one in the file. Paths are relative to the file. The file's options become words in front of the user's, so a value
//! in the file is read exactly as it would be on the command line.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use skew_model::did_you_mean;
use toml::{Table, Value};

const FILE: &str = "skew.toml";

/// Commands that a build without the database does not have; a project's file still has tables for them.
const OF_DATABASE: [&str; 7] = ["certify", "explore", "merge", "replay", "robust", "serve", "test"];

/// The words of the command line, with the options of the project's file.
pub(crate) fn with_options(words: Vec<OsString>, skew: &Command) -> Result<Vec<OsString>, String> {
    // Which options the user gave; what is wrong with them is said later.
    let Ok(given) = skew.clone().ignore_errors(true).try_get_matches_from(&words) else { return Ok(words) };
    let (Some((name, given)), Some(path)) = (given.subcommand(), nearest_file()) else { return Ok(words) };
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let failed = |what: String| format!("{}: {what}", path.display());
    let tables: Table = text.parse().map_err(|error| failed(format!("{error}")))?;
    check_tables(&tables, skew).map_err(failed)?;
    let Some(Value::Table(table)) = tables.get(name) else { return Ok(words) };
    let command = skew.find_subcommand(name).expect("the parser found it");
    let folder = path.parent().unwrap_or(Path::new("."));
    let is_given = |arg: &Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let (mut options, mut last) = (Vec::new(), Vec::new());
    for (key, value) in table {
        let arg = option(command, key).map_err(failed)?;
        // An option that contradicts one on the command line gives way to it, too.
        let gives_way = command.get_arg_conflicts_with(arg).iter().any(|other| is_given(other));
        if is_given(arg) || gives_way {
            continue;
        }
        for value in values(key, value, arg, folder).map_err(failed)? {
            match (arg.is_last_set(), value) {
                (true, Some(value)) => last.push(value),
                (false, Some(value)) => options.push(joined(key, &value)),
                (_, None) => options.push(format!("--{key}").into()),
            }
        }
    }
    let mut all = words;
    // After the word that names the command, which is the first one: Skew itself has no options with values.
    let at = all.iter().position(|word| word == name).map_or(all.len(), |at| at + 1);
    all.splice(at..at, options);
    if !last.is_empty() {
        all.push("--".into());
        all.extend(last);
    }
    Ok(all)
}

fn nearest_file() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    folder.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file())
}

/// Every table is a command, whichever command runs: a misspelled one is never silently without effect.
fn check_tables(tables: &Table, skew: &Command) -> Result<(), String> {
    for (name, table) in tables {
        if cfg!(not(feature = "database")) && OF_DATABASE.contains(&name.as_str()) {
            continue;
        }
        let Some(command) = skew.find_subcommand(name) else {
            let hint = did_you_mean(name, skew.get_subcommands().map(Command::get_name));
            return Err(format!("[{name}] is no command{hint}"));
        };
        let Value::Table(table) = table else { return Err(format!("`{name}` must be a table: [{name}]")) };
        for key in table.keys() {
            option(command, key)?;
        }
    }
    Ok(())
}

fn option<'a>(command: &'a Command, key: &str) -> Result<&'a Arg, String> {
    let named = |arg: &&Arg| match arg.is_last_set() {
        true => arg.get_id() == key,
        false => arg.get_long() == Some(key) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&key)),
    };
    command.get_arguments().find(named).ok_or_else(|| {
        let known = command.get_arguments().filter_map(Arg::get_long);
        format!("[{}] has no option `{key}`{}", command.get_name(), did_you_mean(key, known))
    })
}

/// The values of an option; a flag that is switched on has one without a text.
fn values(key: &str, value: &Value, arg: &Arg, folder: &Path) -> Result<Vec<Option<OsString>>, String> {
    let is_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let text = |value: &Value| match value {
        Value::String(text) if is_path => Ok(folder.join(text).into_os_string()),
        Value::String(text) => Ok(text.into()),
        Value::Integer(number) => Ok(number.to_string().into()),
        Value::Float(number) => Ok(number.to_string().into()),
        _ => Err(format!("`{key}` must be a text or a number")),
    };
    match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Boolean(true)) => Ok(vec![None]),
        (ArgAction::SetTrue, Value::Boolean(false)) => Ok(Vec::new()),
        (ArgAction::SetTrue, _) => Err(format!("`{key}` must be true or false")),
        (ArgAction::Append, Value::Array(list)) => list.iter().map(|value| text(value).map(Some)).collect(),
        (_, value) => Ok(vec![Some(text(value)?)]),
    }
}

fn joined(key: &str, value: &OsString) -> OsString {
    let mut word = OsString::from(format!("--{key}="));
    word.push(value);
    word
}
