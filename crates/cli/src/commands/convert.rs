//! `skew convert`: a history from one format to another.

use std::path::PathBuf;

use clap::Args;
use skew_formats::Format;

use crate::Ending;
use crate::flags::OutputFlags;
use crate::input;
use crate::output::with_output;
use crate::progress::Progress;

/// Turn a history from one format into another
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew convert run.edn run.hist
  skew convert --input plume - --output-format jsonl < run.log
  skew convert run.txt cobra-logs --output-format cobra

What a format cannot express is refused, never dropped.")]
pub(crate) struct Arguments {
    /// The history; `-` is standard input
    from: PathBuf,

    /// Where to write it, or -o; standard output if left out
    #[arg(conflicts_with = "output")]
    to: Option<PathBuf>,

    /// The format of the input, where its name does not tell: hist, jsonl, elle, plume, dbcop, cobra
    #[arg(long, value_name = "FORMAT")]
    input: Option<Format>,

    /// The format to write, where the name does not tell; .hist on standard output
    #[arg(long, visible_alias = "format", value_name = "FORMAT")]
    output_format: Option<Format>,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let progress = Progress::new();
    let input = input::read(&arguments.from, arguments.input, &progress);
    progress.clear();
    let history = input?.history;
    let to = arguments.to.as_deref().or(arguments.output.output.as_deref());
    let named = to.and_then(Format::of_path);
    let format = match (arguments.output_format.or(named), to) {
        (Some(format), _) => format,
        (None, None) => Format::Hist,
        (None, Some(path)) => {
            return Err(format!(
                "{}: cannot tell the format from the name; say it: --output-format hist",
                path.display()
            ));
        }
    };
    match (to, format) {
        (Some(folder), Format::Cobra) => {
            skew_formats::write_cobra(&history, folder).map_err(|error| error.to_string())?;
        }
        (path, format) => {
            with_output(path, |mut out| skew_formats::write(&history, format, &mut out))?;
        }
    }
    if let Some(path) = to {
        arguments.output.wrote(path);
    }
    Ok(Ending::Holds)
}
