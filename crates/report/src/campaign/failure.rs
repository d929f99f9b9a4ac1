//! A failed run in the page: the reason as sentences, what to change, what the command printed, and the run as lanes.

use skew_model::campaign::{FailedRun, SqlAnomaly, Why};

use crate::campaign::lanes::{ends_of, lanes};
use crate::campaign::words::{Told, again, experiment, run_words, tell};
use crate::markup::escape;

/// Lines that are shown of what the command printed, in the run that the page is about and in others.
const MAX_LINES: usize = 400;
const MAX_LINES_OF_OTHERS: usize = 40;

/// The run that the page is about.
pub(super) fn first(failure: &FailedRun) -> String {
    let told = tell(failure);
    format!(
        "<section class=\"violation\" id=\"why\" tabindex=\"-1\"><p class=\"kind\"><b>{}</b> {} <span>run {}</span></p>\n\
         <h2>{}</h2>\n{}</section>\n",
        told.kind.0,
        escape(&told.kind.1),
        failure.run.number,
        escape(&told.headline),
        details(failure, &told, "")
    )
}

/// All that is known about a run, below its headline. `prefix` keeps its ids apart from those of other runs.
pub(super) fn details(failure: &FailedRun, told: &Told, prefix: &str) -> String {
    let mut out = String::from("<div class=\"beside\"><div>\n");
    let mut facts = String::new();
    let mut fact = |name: &str, words: &str| facts.push_str(&format!("<dt>{name}</dt><dd>{words}</dd>\n"));
    if let Why::Anomaly(anomaly) = &failure.why {
        out.push_str(&steps(failure, anomaly, prefix));
        if let Some(words) = experiment(failure) {
            fact("cause", &escape(&words));
        }
        if !anomaly.others.is_empty() {
            let others = escape(&anomaly.others.join("; "));
            fact("also", &format!("not serializable, and not the cause: {others}"));
        }
        fact("breaks", &format!("<code>{}</code>", escape(&anomaly.breaks.join(", "))));
        if !anomaly.satisfies.is_empty() {
            fact("still satisfies", &format!("<code>{}</code>", escape(&anomaly.satisfies.join(", "))));
        }
    }
    for (label, words) in &told.advice {
        fact(label, &escape(words));
    }
    fact("run", &escape(&run_words(failure)));
    if prefix.is_empty() {
        fact("again", &escape(&again(failure)));
    }
    if let Some(replay) = &failure.replay {
        fact("replay", &format!("<code class=\"command\">skew replay {}</code>", escape(replay)));
    }
    out.push_str(&format!("<dl>\n{facts}</dl></div>\n{}</div>\n", output(failure, prefix)));
    if !failure.statements.is_empty() {
        let database = escape(&failure.database);
        out.push_str(&format!(
            "<h3>What the clients of database {database} did, time downwards</h3>\n{}",
            key(failure)
        ));
        out.push_str(&lanes(failure, told, prefix));
    }
    out
}

/// The cycle as sentences, each with links to the statements at its ends.
fn steps(failure: &FailedRun, anomaly: &SqlAnomaly, prefix: &str) -> String {
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
                " data-edge=\"{prefix}e-{at}\" data-from=\"{prefix}s{}\" data-to=\"{prefix}s{}\" data-kind=\"{}\"",
                from + 1,
                to + 1,
                escape(kind),
            )
        });
        let links = ends.map_or_else(String::new, |(from, to)| {
            let (from, to) = (from + 1, to + 1);
            format!(
                " <span class=\"links\"><code>{}</code> from <a href=\"#{prefix}s{from}\">statement {from}</a> to \
                 <a href=\"#{prefix}s{to}\">statement {to}</a></span>",
                escape(&edge.label)
            )
        });
        out.push_str(&format!(
            "<li tabindex=\"0\" id=\"{prefix}e{}\"{data}><b>{but}{} comes before {}</b>: {}{links}</li>\n",
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

fn output(failure: &FailedRun, prefix: &str) -> String {
    let lines: Vec<&str> = failure.output.trim_end().lines().collect();
    if lines.is_empty() {
        return "<aside class=\"output\"><h3>The command printed nothing</h3></aside>\n".to_owned();
    }
    let most = if prefix.is_empty() { MAX_LINES } else { MAX_LINES_OF_OTHERS };
    let left_out = lines.len().saturating_sub(most);
    let before = if left_out > 0 { format!("… {left_out} lines before\n") } else { String::new() };
    let shown: Vec<String> = lines[left_out..].iter().map(|line| escape(line)).collect();
    format!(
        "<aside class=\"output\"><h3 id=\"{prefix}printed\">What the command printed</h3>\
         <pre tabindex=\"0\" role=\"region\" aria-labelledby=\"{prefix}printed\">{before}{}</pre></aside>\n",
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
