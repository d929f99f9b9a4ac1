//! A campaign as one static page: the failed run as lanes with the reason drawn in, the fix, and all runs.
//!
//! Everything is in the file and can be read without scripts, without colour and on a narrow screen. The script draws
//! the arrows of the cycle, and lets arrow keys move through it.

use skew_model::campaign::{Campaign, FailedRun, RunLine, RunOutcome, SqlAnomaly, Why};

use crate::campaign::lanes::{ends_of, lanes};
use crate::campaign::words::{again, notes, run_words, summary, tell};
use crate::clean::count;
use crate::markup::escape;

const STYLES: [&str; 3] = [include_str!("../page.css"), include_str!("../picture.css"), include_str!("campaign.css")];
const SCRIPTS: [&str; 2] = [include_str!("campaign.js"), include_str!("../page.js")];
/// Runs that are listed.
const MOST_RUNS: usize = 1000;
/// Lines that are shown of what the command printed.
const MOST_LINES: usize = 400;

/// A campaign as one page.
pub fn campaign_page(campaign: &Campaign) -> String {
    let command = escape(&campaign.command.join(" "));
    let why = if campaign.failure.is_some() { "<a href=\"#why\">Skip to why it failed</a>" } else { "" };
    let mut body = format!(
        "<nav class=\"skip\" aria-label=\"skip\">{why}<a href=\"#runs\">Skip to the runs</a></nav>\n<main>\
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
        body.push_str(&failed(failure));
    }
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

fn failed(failure: &FailedRun) -> String {
    let told = tell(failure);
    let mut out = format!(
        "<section class=\"violation\" id=\"why\" tabindex=\"-1\"><p class=\"kind\"><b>{}</b> {} <span>run {}</span></p>\n\
         <h2>{}</h2>\n<div class=\"beside\"><div>\n",
        told.kind.0,
        escape(&told.kind.1),
        failure.run.number,
        escape(&told.headline)
    );
    let mut facts = String::new();
    let mut fact = |name: &str, words: &str| facts.push_str(&format!("<dt>{name}</dt><dd>{words}</dd>\n"));
    if let Why::Anomaly(anomaly) = &failure.why {
        out.push_str(&steps(failure, anomaly));
        fact("breaks", &format!("<code>{}</code>", escape(&anomaly.breaks.join(", "))));
        if !anomaly.satisfies.is_empty() {
            fact("still satisfies", &format!("<code>{}</code>", escape(&anomaly.satisfies.join(", "))));
        }
    }
    for (label, words) in &told.advice {
        fact(label, &escape(words));
    }
    fact("run", &escape(&run_words(failure)));
    fact("again", &escape(&again(failure)));
    if let Some(replay) = &failure.replay {
        fact("replay", &format!("<code class=\"command\">skew replay {}</code>", escape(replay)));
    }
    out.push_str(&format!("<dl>\n{facts}</dl></div>\n{}</div>\n", output(failure)));
    if !failure.statements.is_empty() {
        let database = escape(&failure.database);
        out.push_str(&format!(
            "<h3>What the clients of database {database} did, time downwards</h3>\n{}",
            key(failure)
        ));
        out.push_str(&lanes(failure, &told));
    }
    out.push_str("</section>\n");
    out
}

/// The cycle as sentences, each with links to the statements at its ends.
fn steps(failure: &FailedRun, anomaly: &SqlAnomaly) -> String {
    if anomaly.edges.is_empty() {
        return String::new();
    }
    let mut out = "<ol class=\"steps\">\n".to_owned();
    for (at, edge) in anomaly.edges.iter().enumerate() {
        let but = if at > 0 && at + 1 == anomaly.edges.len() { "but " } else { "" };
        let ends = ends_of(failure, edge);
        let data = ends.map_or_else(String::new, |(from, to)| {
            let kind = edge.label.split('(').next().unwrap_or_default();
            format!(
                " data-edge=\"e-{at}\" data-from=\"s{}\" data-to=\"s{}\" data-kind=\"{}\" data-label=\"{}\"",
                from + 1,
                to + 1,
                escape(kind),
                escape(&crate::clean::shorten(&edge.label, 28))
            )
        });
        let links = ends.map_or_else(String::new, |(from, to)| {
            let (from, to) = (from + 1, to + 1);
            format!(
                " <span class=\"links\"><code>{}</code> from <a href=\"#s{from}\">statement {from}</a> to \
                 <a href=\"#s{to}\">statement {to}</a></span>",
                escape(&edge.label)
            )
        });
        out.push_str(&format!(
            "<li tabindex=\"0\" id=\"e{}\"{data}><b>{but}{} comes before {}</b>: {}{links}</li>\n",
            at + 1,
            escape(&edge.from),
            escape(&edge.to),
            escape(&edge.reason)
        ));
    }
    let words: Vec<String> = anomaly.cycle.split(' ').map(|word| format!("<span>{}</span>", escape(word))).collect();
    out.push_str(&format!("</ol>\n<p class=\"cycle\">{}</p>\n", words.join(" ")));
    out
}

fn output(failure: &FailedRun) -> String {
    let lines: Vec<&str> = failure.output.trim_end().lines().collect();
    if lines.is_empty() {
        return "<aside class=\"output\"><h3>The command printed nothing</h3></aside>\n".to_owned();
    }
    let left_out = lines.len().saturating_sub(MOST_LINES);
    let before = if left_out > 0 { format!("… {left_out} lines before\n") } else { String::new() };
    let shown: Vec<String> = lines[left_out..].iter().map(|line| escape(line)).collect();
    format!(
        "<aside class=\"output\"><h3 id=\"printed\">What the command printed</h3>\
         <pre tabindex=\"0\" role=\"region\" aria-labelledby=\"printed\">{before}{}</pre></aside>\n",
        shown.join("\n")
    )
}

/// What the marks in the lanes mean; only those that are there.
fn key(failure: &FailedRun) -> String {
    let operations = || failure.statements.iter().flat_map(|statement| &statement.operations);
    let mut marks = Vec::new();
    if operations().any(|operation| operation.is_guilty) {
        marks.push("<span><span class=\"mark\">◆</span> the explanation points at it</span>".to_owned());
    }
    if operations().any(|operation| operation.is_stale) {
        marks.push("<span>◷ newer versions had been committed</span>".to_owned());
    }
    if failure.statements.iter().any(|statement| statement.is_error) {
        marks.push("<span>✗ refused</span>".to_owned());
    }
    if let Why::Anomaly(anomaly) = &failure.why {
        for (kind, meaning) in [
            ("rw", "read, then overwritten"),
            ("wr", "written, then read"),
            ("ww", "overwritten"),
            ("so", "same client"),
            ("rt", "ended before the other began"),
        ] {
            if anomaly.edges.iter().any(|edge| edge.label.split('(').next() == Some(kind)) {
                marks.push(format!(
                    "<span class=\"wire\"><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"44\" \
                     height=\"10\" aria-hidden=\"true\"><g class=\"arrow main {kind}\"><path class=\"line\" \
                     d=\"M0 5L44 5\"/></g></svg> <code>{kind}</code> {meaning}</span>"
                ));
            }
        }
    }
    if marks.is_empty() { String::new() } else { format!("<p class=\"legend\">{}</p>\n", marks.join(" ")) }
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
    let rows: String = listed.iter().map(|run| row(run, &run.number.to_string(), explained)).collect();
    out.push_str(&table(&rows));
    out.push_str("</section>\n");
    out
}

/// The runs that are listed: if there are too many, first those that failed, then those with refusals.
fn listed(runs: &[RunLine]) -> Vec<&RunLine> {
    let mut listed: Vec<&RunLine> = runs.iter().collect();
    listed.sort_by_key(|run| (run.outcome.passed(), run.refusals == 0, run.number));
    listed.truncate(MOST_RUNS);
    listed.sort_by_key(|run| run.number);
    listed
}

fn baseline(campaign: &Campaign) -> String {
    if campaign.baseline.is_empty() {
        return String::new();
    }
    let what = |run: &RunLine| if run.number == 0 { "one after the other" } else { "serializable" };
    let rows: String = campaign.baseline.iter().take(MOST_RUNS).map(|run| row(run, what(run), None)).collect();
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

fn row(run: &RunLine, name: &str, explained: Option<u64>) -> String {
    let (class, word) = if run.outcome.passed() { ("holds", "passed") } else { ("violated", "failed") };
    let refused = if run.refusals > 0 { " refused" } else { "" };
    let words = match run.outcome {
        RunOutcome::Passed => String::new(),
        RunOutcome::Failed(code) => format!(", exit code {code}"),
        RunOutcome::Killed(_) | RunOutcome::TimedOut => format!(", {}", run.outcome),
    };
    let link = if explained == Some(run.number) { ", <a href=\"#why\">explained</a>" } else { "" };
    format!(
        "<tr class=\"{class} {word}{refused}\"><th scope=\"row\">{name}</th><td><span class=\"word\">{word}</span>{words}\
         {link}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        run.seed, run.ms, run.statements, run.refusals
    )
}
