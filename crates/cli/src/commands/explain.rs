//! `skew explain`: the page of an anomaly or a level.

use std::fmt::Write as _;

use clap::Args;
use skew_model::{Anomaly, Level, anomaly, level};

use crate::Ending;
use crate::output::{self, Color};

/// Explain an anomaly or an isolation level, with the smallest history that shows it
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew explain                what there is to explain
  skew explain write-skew
  skew explain G1c            by any of its names
  skew explain si")]
pub(crate) struct Arguments {
    /// The name or alias of an anomaly or a level; without it, a list
    name: Option<String>,

    /// When to colour
    #[arg(long, value_enum, default_value = "auto")]
    color: Color,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let style = output::style(arguments.color, false);
    let Some(name) = &arguments.name else {
        output::write(None, &list())?;
        return Ok(Ending::Holds);
    };
    let page = match (Anomaly::find(name), name.parse::<Level>()) {
        (Some(anomaly), _) => anomaly.definition().page,
        (None, Ok(level)) => level.definition().page,
        (None, Err(_)) => return Err(format!("`{name}` names no anomaly and no level; `skew explain` lists them")),
    };
    output::write(None, &skew_report::page(page, style))?;
    Ok(Ending::Holds)
}

fn list() -> String {
    let mut text = String::from("Levels, weakest first:\n");
    for definition in level::DEFINITIONS {
        let _ = writeln!(text, "  {:<26} {}", definition.id, definition.title);
    }
    text.push_str("\nAnomalies:\n");
    for definition in anomaly::DEFINITIONS {
        let aliases = definition.aliases.join(", ");
        let _ = writeln!(text, "  {:<26} {:<32} also {aliases}", definition.id, definition.title);
    }
    text
}
