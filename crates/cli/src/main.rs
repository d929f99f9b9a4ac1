//! The `skew` binary: arguments, files, exit codes. The only crate that prints.
//!
//! One file for each command, under `commands`; what they share is in `flags` and `database_flags` (options of several
//! commands), `config` (the options in `skew.toml`), `input` (files in), `output` (text out), `progress` and `stop`
//! (Ctrl-C).

mod commands;
mod config;
#[cfg(feature = "database")]
mod database_flags;
mod flags;
mod input;
mod output;
mod progress;
#[cfg(feature = "database")]
mod stop;
mod target_flag;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Is my application right on a database that is not serializable?
#[derive(Parser)]
#[command(name = "skew", version, max_term_width = 120, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 holds, 1 violated, 2 bad input or usage, 3 unknown.\nA file `skew.toml` in this folder or above holds options of a project: a table for each command, such as [test]."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// In the order in which people need them.
#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "database")]
    Test(commands::test::Arguments),
    #[cfg(feature = "database")]
    Replay(commands::replay::Arguments),
    #[cfg(feature = "database")]
    Serve(commands::serve::Arguments),
    #[cfg(feature = "database")]
    Explore(commands::explore::Arguments),
    #[cfg(feature = "database")]
    Robust(commands::robust::Arguments),
    Check(commands::check::Arguments),
    Explain(commands::explain::Arguments),
    Convert(commands::convert::Arguments),
    #[cfg(feature = "database")]
    Merge(commands::merge::Arguments),
    #[cfg(feature = "database")]
    Certify(commands::certify::Arguments),
    Completions(commands::completions::Arguments),
    Man(commands::man::Arguments),
}

/// How a command ended, as an exit code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Ending {
    Holds,
    Unknown,
    Violated,
    BadInput,
}

impl Ending {
    /// The exit code.
    fn code(self) -> u8 {
        match self {
            Ending::Holds => 0,
            Ending::Violated => 1,
            Ending::BadInput => 2,
            Ending::Unknown => 3,
        }
    }
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> ExitCode {
        ExitCode::from(ending.code())
    }
}

fn main() -> ExitCode {
    let words = match config::with_options(std::env::args_os().collect(), &Arguments::command()) {
        Ok(words) => words,
        Err(message) => {
            eprintln!("skew: {message}");
            return Ending::BadInput.into();
        }
    };
    let ending = match Arguments::parse_from(words).command {
        #[cfg(feature = "database")]
        Command::Certify(arguments) => commands::certify::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        #[cfg(feature = "database")]
        Command::Explore(arguments) => commands::explore::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments),
        #[cfg(feature = "database")]
        Command::Merge(arguments) => commands::merge::run(&arguments),
        #[cfg(feature = "database")]
        Command::Replay(arguments) => commands::replay::run(&arguments),
        #[cfg(feature = "database")]
        Command::Robust(arguments) => commands::robust::run(&arguments),
        #[cfg(feature = "database")]
        Command::Serve(arguments) => commands::serve::run(&arguments),
        #[cfg(feature = "database")]
        Command::Test(arguments) => commands::test::run(&arguments),
    };
    match ending {
        Ok(ending) => ending.into(),
        Err(message) => {
            eprintln!("skew: {message}");
            Ending::BadInput.into()
        }
    }
}
