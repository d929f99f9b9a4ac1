//! A campaign as one static page: the failed run as lanes with the reason drawn in, the fix, and all runs.
//!
//! Everything is in the file and can be read without scripts, without colour and on a narrow screen. The script draws
//! the arrows of the cycle, lets arrow keys move through it, steps through a run, and filters failures.

use skew_model::campaign::{Campaign, RunLine, RunOutcome};

use crate::campaign::failure::first;
use crate::campaign::failures::{failures, opened};
use crate::campaign::words::{notes, summary};
use crate::clean::count;
use crate::markup::escape;

const STYLES: [&str; 3] = [include_str!("../page.css"), include_str!("../picture.css"), include_str!("campaign.css")];
const SCRIPTS: [&str; 2] = [include_str!("campaign.js"), include_str!("../page.js")];
/// Runs that are listed.
const MAX_RUNS: usize = 1000;

/// A campaign as one page.
pub fn campaign_page(campaign: &Campaign) -> String {
    let command = escape(&campaign.command.join(" "));
    let why = if campaign.failure.is_some() { "<a href=\"#why\">Skip to why it failed</a>" } else { "" };
    let others =
        if opened(campaign).is_empty() { "" } else { "<a href=\"#failures\">Skip to the other failing runs</a>" };
    let mut body = format!(
        "<nav class=\"skip\" aria-label=\"skip\">{why}{others}<a href=\"#runs\">Skip to the runs</a></nav>\n<main>\
         <header><p class=\"size\">skew test</p><h1><code>{command}</code></h1>\n<p class=\"closing {}\">{}</p>",
        if campaign.failure.is_some() { "bad" } else { "good" },
        escape(&summary(campaign))
    );
    let notes = notes(campaign);
    if !notes.is_empty() {
        let items: Vec<String> = notes.iter().map(|note| format!("<li>{}</li>", escape(note))).collect();
        body.push_str(&format!("<ul class=\"notes\">{}</ul>", items.join("")));
    }
    body.push_str("</header>\n");
    if let Some(failure) = &campaign.failure {
        body.push_str(&first(failure));
    }
    body.push_str(&failures(campaign));
    body.push_str(&runs(campaign));
    body.push_str(&baseline(campaign));
    body.push_str("</main>\n");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\"/><title>skew test {command}</title>\n<style>\n{}</style></head>\n\
         <body class=\"campaign\">\n{body}<script>\n{}</script></body></html>\n",
        STYLES.concat(),
        SCRIPTS.concat()
    )
}

/// All runs, with filters that need no script.
fn runs(campaign: &Campaign) -> String {
    let all = &campaign.runs;
    let failed = all.iter().filter(|run| !run.outcome.passed()).count();
    let refused = all.iter().filter(|run| run.refusals > 0).count();
    let mut out = "<section class=\"runs\" id=\"runs\" tabindex=\"-1\"><h2>Runs</h2>\n".to_owned();
    if all.is_empty() {
        return out + "<p>No run was made.</p></section>\n";
    }
    out.push_str("<fieldset><legend>Show</legend>");
    for (name, words, number) in [
        ("all", "all", all.len()),
        ("failed", "failed", failed),
        ("passed", "passed", all.len() - failed),
        ("refused", "with refused transactions", refused),
    ] {
        let state = match (name, number) {
            ("all", _) => " checked=\"checked\"",
            (_, 0) => " disabled=\"disabled\"",
            _ => "",
        };
        out.push_str(&format!(
            "<label><input type=\"radio\" name=\"filter\" id=\"show-{name}\"{state}/> {words} ({number})</label> "
        ));
    }
    out.push_str("</fieldset>\n");
    let listed = listed(all);
    if listed.len() < all.len() {
        out.push_str(&format!(
            "<p class=\"note\">{} of {} are listed, those that failed first; --json has all of them.</p>\n",
            listed.len(),
            count(all.len(), "run")
        ));
    }
    let explained = campaign.failure.as_ref().map(|failure| failure.run.number);
    let opened = opened(campaign);
    let link = |run: &RunLine| match run.number {
        number if explained == Some(number) => ", <a href=\"#why\">explained</a>".to_owned(),
        number if opened.contains(&number) => format!(", <a href=\"#run-{number}\">open</a>"),
        _ => String::new(),
    };
    let rows: String = listed.iter().map(|run| row(run, &run.number.to_string(), &link(run))).collect();
    out.push_str(&table(&rows));
    out.push_str("</section>\n");
    out
}

/// The runs that are listed: if there are too many, first those that failed, then those with refusals.
fn listed(runs: &[RunLine]) -> Vec<&RunLine> {
    let mut listed: Vec<&RunLine> = runs.iter().collect();
    listed.sort_by_key(|run| (run.outcome.passed(), run.refusals == 0, run.number));
    listed.truncate(MAX_RUNS);
    listed.sort_by_key(|run| run.number);
    listed
}

fn baseline(campaign: &Campaign) -> String {
    if campaign.baseline.is_empty() {
        return String::new();
    }
    let what = |run: &RunLine| if run.number == 0 { "one after the other" } else { "serializable" };
    let rows: String = campaign.baseline.iter().take(MAX_RUNS).map(|run| row(run, what(run), "")).collect();
    format!(
        "<section class=\"baseline\"><h2>Runs that have to pass</h2>\n<p class=\"size\">Transactions one after the other, \
         then at serializable: if these fail, the test itself is wrong.</p>\n{}</section>\n",
        table(&rows)
    )
}

fn table(rows: &str) -> String {
    format!(
        "<div class=\"scroll\"><table class=\"ladder\">\n<thead><tr><th>run</th>\
         <th>result</th><th>seed</th><th>ms</th><th>statements</th><th>refused</th></tr></thead><tbody>\n{rows}</tbody>\
         </table></div>\n"
    )
}

fn row(run: &RunLine, name: &str, link: &str) -> String {
    let (class, word) = if run.outcome.passed() { ("holds", "passed") } else { ("violated", "failed") };
    let refused = if run.refusals > 0 { " refused" } else { "" };
    let words = match run.outcome {
        RunOutcome::Passed => String::new(),
        RunOutcome::Failed(code) => format!(", exit code {code}"),
        RunOutcome::Killed(_) | RunOutcome::TimedOut => format!(", {}", run.outcome),
    };
    format!(
        "<tr class=\"{class} {word}{refused}\"><th scope=\"row\">{name}</th><td><span class=\"word\">{word}</span>{words}\
         {link}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        run.seed, run.ms, run.statements, run.refusals
    )
}
