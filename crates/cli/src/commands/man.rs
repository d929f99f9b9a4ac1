//! `skew man`: the manual pages of Skew and of each command.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};

use crate::Ending;
use crate::flags::OutputFlags;
use crate::output;

/// Write the manual pages of Skew and of its commands
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew man | man -l -                     the page of Skew itself
  skew man ~/.local/share/man/man1        skew.1, skew-test.1, … as files; then `man skew-test`")]
pub(crate) struct Arguments {
    /// The folder for one page per command; without it, the page of `skew` goes to standard output
    folder: Option<PathBuf>,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let mut command = crate::Arguments::command();
    command.build();
    let Some(folder) = &arguments.folder else {
        arguments.output.write(&page(&command)?)?;
        return Ok(Ending::Holds);
    };
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let write = |name: &str, command: &clap::Command| {
        let path = folder.join(Path::new(name).with_extension("1"));
        output::write(Some(&path), &page(command)?)?;
        arguments.output.wrote(&path);
        Ok::<(), String>(())
    };
    write("skew", &command)?;
    for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
        let name = format!("skew-{}", one.get_name());
        write(&name, &one.clone().name(name.clone()))?;
    }
    Ok(Ending::Holds)
}

fn page(command: &clap::Command) -> Result<String, String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
