//! `skew explain`: the page of an anomaly, a level or another word.

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};
use skew_model::sql_level::level_words;
use skew_model::topic::TOPICS;
use skew_model::{Anomaly, AskedLevel, SqlLevel, Target, Topic, anomaly, did_you_mean, level};

use crate::Ending;
use crate::flags::{OutputFlags, TextOrJson};
use crate::target_flag::TargetFlag;

/// Explain an anomaly or an isolation level, with the smallest history that shows it
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew explain                what there is to explain
  skew explain write-skew
  skew explain G1c            by any of its names
  skew explain si             the definition
  skew explain phantom        other words that people use
  skew explain read-committed what a database's level is here")]
pub(crate) struct Arguments {
    /// The name or alias of an anomaly, a level or a topic; without it, a list
    name: Option<String>,

    #[command(flatten)]
    target: TargetFlag,

    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,

    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    let Some(name) = &arguments.name else {
        arguments.output.write(&list())?;
        return Ok(Ending::Holds);
    };
    let found = Found::named(name, arguments.target.target())?;
    let text = match arguments.format {
        TextOrJson::Text => skew_report::page(&found.text(), arguments.output.style()),
        TextOrJson::Json => format!("{:#}\n", found.json()),
    };
    arguments.output.write(&text)?;
    Ok(Ending::Holds)
}

/// What a word names.
struct Found {
    kind: &'static str,
    id: &'static str,
    title: &'static str,
    aliases: &'static [&'static str],
    page: &'static str,
    /// The database's level that was asked for by its SQL name.
    sql: Option<(SqlLevel, Target)>,
}

impl Found {
    fn named(name: &str, target: Target) -> Result<Found, String> {
        if let Some(anomaly) = Anomaly::find(name) {
            let anomaly::Definition { id, title, aliases, page, .. } = anomaly.definition();
            return Ok(Found { kind: "anomaly", id, title, aliases, page, sql: None });
        }
        if let Ok(asked) = name.parse::<AskedLevel>() {
            let level::Definition { id, title, aliases, page, .. } = asked.of(target).definition();
            return Ok(Found { kind: "level", id, title, aliases, page, sql: asked.sql.map(|sql| (sql, target)) });
        }
        if let Some(Topic { id, title, aliases, page }) = Topic::find(name) {
            return Ok(Found { kind: "topic", id, title, aliases, page, sql: None });
        }
        let anomalies = anomaly::DEFINITIONS.iter().flat_map(|one| [&one.id].into_iter().chain(one.aliases));
        let topics = TOPICS.iter().flat_map(|one| [&one.id].into_iter().chain(one.aliases));
        let hint = did_you_mean(name, anomalies.chain(topics).copied().chain(level_words()));
        Err(format!("`{name}` names no anomaly, no level and no other page{hint} `skew explain` lists them"))
    }

    /// The page; for a database's level, after a word on why it is this one.
    fn text(&self) -> String {
        match self.sql {
            None => self.page.to_owned(),
            Some((sql, target)) => format!(
                "What {} does at {} is `{}` here. The short ids name definitions, SQL's names the databases' \
                 levels.\n\n{}",
                target.name(),
                sql.name().to_ascii_uppercase(),
                self.id,
                self.page
            ),
        }
    }

    fn json(&self) -> Value {
        json!({
            "skew": "explain", "version": 1, "kind": self.kind, "id": self.id, "title": self.title,
            "aliases": self.aliases, "page": self.page,
        })
    }
}

fn list() -> String {
    let mut text = String::from("Levels, weakest first:\n");
    for definition in level::DEFINITIONS {
        let named = Target::ALL.into_iter().flat_map(|target| SqlLevel::ALL.map(|sql| (sql, target)));
        let sql: Vec<String> = named
            .filter(|(sql, target)| sql.level_of(*target) == definition.level)
            .map(|(sql, target)| format!("{}'s {}", target.name(), sql.name().to_ascii_uppercase()))
            .collect();
        let line = format!("  {:<26} {:<32} {}", definition.id, definition.title, sql.join(" and "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("\nAnomalies:\n");
    for definition in anomaly::DEFINITIONS {
        let aliases = definition.aliases.join(", ");
        let _ = writeln!(text, "  {:<26} {:<32} also {aliases}", definition.id, definition.title);
    }
    text.push_str("\nOther words:\n");
    for topic in TOPICS {
        let _ = writeln!(text, "  {:<26} {:<32} also {}", topic.id, topic.title, topic.aliases.join(", "));
    }
    text
}
