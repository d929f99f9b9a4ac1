//! `skew completions`: what a shell needs to complete Skew's commands and options.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Ending;
use crate::flags::OutputFlags;

/// Print a shell's completions of commands and options
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew completions bash -o ~/.local/share/bash-completion/completions/skew
  skew completions zsh -o ~/.zfunc/_skew
  skew completions fish -o ~/.config/fish/completions/skew.fish")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "skew", &mut text);
    arguments.output.write(&String::from_utf8_lossy(&text))?;
    Ok(Ending::Holds)
}
