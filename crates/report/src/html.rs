//! One static page: the ladder, and every violation with its picture, its explanation and what to do about it.
//!
//! Everything is in the file and visible without scripts. The script only adds: pointing at an arrow highlights its
//! sentence and the other way round, arrow keys move through them, and the replay command gets a copy button.

use skew_model::{Edge, Explanation, History, Outcome, Violation};

use crate::Report;
use crate::arrows::{Arrow, find};
use crate::cases::{Case, cases, introduction};
use crate::clean::clean;
use crate::distinct::{Distinct, distinct};
use crate::ladder::{closing, size, verdict_words, witnesses};
use crate::marks::place;
use crate::markup::escape;
use crate::reasons::because;
use crate::route::n;
use crate::svg::picture;
use crate::words::{cycle_line, finding_notes, fix, headline, order_words, sentence, txn};

const STYLE: &str = include_str!("page.css");
const PICTURE_STYLE: &str = include_str!("picture.css");
const SCRIPT: &str = include_str!("page.js");
const MOST_CASES: usize = 8;

/// Reports as one page.
pub fn html(reports: &[Report]) -> String {
    let files: Vec<String> = reports.iter().map(|report| clean(&report.file)).collect();
    let mut body = String::new();
    for (number, report) in reports.iter().enumerate() {
        body.push_str(&one_report(report, number));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\"/><title>skew check {}</title>\n<style>\n{STYLE}{PICTURE_STYLE}</style></head>\n\
         <body><main>\n{body}</main>\n<script>\n{SCRIPT}</script></body></html>\n",
        escape(&files.join(", "))
    )
}

fn one_report(report: &Report, number: usize) -> String {
    let found = distinct(&report.verdicts);
    let mut out = format!(
        "<article><header><h1>{}</h1>\n<p class=\"size\">{}</p>\n<p class=\"closing\">{}</p></header>\n",
        escape(&report.file),
        escape(size(report).strip_prefix(&format!("{}: ", clean(&report.file))).unwrap_or_default()),
        escape(&closing(report))
    );
    out.push_str(&ladder_table(report, &found, number));
    for note in &report.notes {
        out.push_str(&format!("<p class=\"note\">note: {}</p>\n", escape(note)));
    }
    for (index, one) in found.iter().enumerate() {
        out.push_str(&violation(report, one, &format!("r{number}v{index}")));
    }
    if report.show_witness {
        for (scopes, order) in witnesses(report) {
            let (scopes, order) = (escape(&scopes), escape(&order));
            out.push_str(&format!("<h3>A commit order for {scopes}</h3>\n<p class=\"order\">{order}</p>\n"));
        }
    }
    out.push_str("</article>\n");
    out
}

fn ladder_table(report: &Report, found: &[Distinct], number: usize) -> String {
    let mut out = "<table class=\"ladder\"><caption>Levels, strongest first</caption>\n\
                   <thead><tr><th>level</th><th>verdict</th><th>why</th></tr></thead><tbody>\n"
        .to_owned();
    for verdict in &report.verdicts {
        let (word, more) = verdict_words(report, verdict, found);
        let answer = found.iter().position(|one| one.scopes.contains(&verdict.scope));
        let more = match (answer, &verdict.outcome) {
            (Some(index), Outcome::Violated(_)) => format!("<a href=\"#r{number}v{index}\">{}</a>", escape(&more)),
            _ => escape(&more),
        };
        let title = match verdict.scope {
            skew_model::Scope::Level(level) => level.title(),
            skew_model::Scope::Declared => "every transaction at its own level",
        };
        let scope = verdict.scope.to_string();
        out.push_str(&format!(
            "<tr class=\"{word}\"><th scope=\"row\"><abbr title=\"{title}\">{scope}</abbr></th>\
             <td class=\"word\">{word}</td><td>{more}</td></tr>\n"
        ));
    }
    out.push_str("</tbody></table>\n");
    out
}

fn violation(report: &Report, one: &Distinct, id: &str) -> String {
    let violation = one.violation;
    let history = &violation.history;
    let definition = violation.anomaly.definition();
    let mut out = format!(
        "<section class=\"violation\" id=\"{id}\"><p class=\"kind\"><b>violated</b> {} <span>{}</span></p>\n\
         <h2>{}</h2>\n",
        escape(&one.name()),
        escape(&place(report, violation)),
        escape(&headline(violation))
    );
    if let Some(introduction) = introduction(history, &violation.explanation) {
        let rest = introduction.strip_prefix("either").unwrap_or(&introduction);
        out.push_str(&format!("<p>Either{}</p>\n", escape(rest)));
    }
    let all = cases(&violation.explanation);
    for (number, case) in all.iter().take(MOST_CASES).enumerate() {
        out.push_str(&draw_case(violation, case, &format!("{id}c{number}")));
    }
    if all.len() > MOST_CASES {
        out.push_str(&format!("<p>… and {} more cases, each of which fails.</p>\n", all.len() - MOST_CASES));
    }
    let mut facts = String::new();
    let mut fact = |name: &str, words: &str| {
        facts.push_str(&format!("<dt>{name}</dt><dd>{words}</dd>\n"));
    };
    let code = |text: &str| format!("<code>{}</code>", escape(text));
    fact("breaks", &code(&one.breaks()));
    if !one.satisfies().is_empty() {
        fact("still satisfies", &code(&one.satisfies()));
    }
    fact("fix", &escape(&fix(violation)));
    fact("replay", &format!("<code class=\"command\">{}</code>", escape(&one.replay(report))));
    if !definition.aliases.is_empty() {
        fact("also called", &escape(&definition.aliases.join(", ")));
    }
    let lines: Vec<String> = history.to_string().lines().map(escape).collect();
    format!(
        "{out}<dl>\n{facts}</dl>\n<details><summary>The smallest part of the history that shows it</summary>\
         <pre>{}</pre></details></section>\n",
        lines.join("\n")
    )
}

/// A cycle or a finding with its picture and its sentences.
pub(crate) fn draw_case(violation: &Violation, case: &Case, id: &str) -> String {
    let history = &violation.history;
    let picture = picture(violation, case.leaf, id);
    let mut out = "<div class=\"case\">".to_owned();
    if let Some(words) = case.words(history) {
        out.push_str(&format!("<h3>{}</h3>\n", escape(&words)));
    }
    out.push_str(&format!(
        "<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"picture\">\
         <svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"group\" aria-label=\"{label}\" \
         width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" style=\"min-width:{least}px\">\
         <title>{label}</title>{body}</svg></div>\n",
        label = escape(&headline(violation)),
        // It shrinks with the page, but not below what can be read; then it scrolls.
        least = n(picture.width * 0.75),
        w = n(picture.width),
        h = n(picture.height),
        body = picture.body
    ));
    match case.leaf {
        Explanation::Cycle(cycle) => {
            out.push_str("<ol class=\"steps\">\n");
            for (index, edge) in cycle.edges.iter().enumerate() {
                out.push_str(&step(history, &cycle.edges, index, edge, &picture.arrows, id));
            }
            let line = cycle_line(history, &cycle.edges);
            let words: Vec<String> = line.split(' ').map(|word| format!("<span>{}</span>", escape(word))).collect();
            out.push_str(&format!("</ol>\n<p class=\"cycle\">{}</p>", words.join(" ")));
        }
        Explanation::Finding(finding) => {
            let (note, other) = finding_notes(history, finding);
            out.push_str(&format!("<ul><li>{}</li>", escape(&note)));
            if finding.other.is_some() {
                out.push_str(&format!("<li>{}</li>", escape(&other)));
            }
            out.push_str("</ul>\n");
        }
        Explanation::Cases { .. } => {}
    }
    out.push_str("</div>\n");
    out
}

/// "t1 comes before t2 because t1 read x=0, which t2 overwrote with x=1", with its reasons folded.
fn step(history: &History, edges: &[Edge], index: usize, edge: &Edge, arrows: &[Arrow], id: &str) -> String {
    format!(
        "<li tabindex=\"0\"{}><b>{}</b> because {}{}</li>\n",
        link(arrows, edge, id),
        escape(&order_words(history, edges, index)),
        escape(&sentence(history, edge)),
        reasons(history, edge, arrows, id)
    )
}

fn reasons(history: &History, edge: &Edge, arrows: &[Arrow], id: &str) -> String {
    let Some(because) = because(history, edge) else { return String::new() };
    let mut out = format!("<details><summary>why {}</summary><ul>", escape(&because.claim));
    for edge in because.path {
        out.push_str(&format!(
            "<li{}><b>{} comes before {}</b> because {}{}</li>",
            link(arrows, edge, id),
            escape(&txn(history, edge.from)),
            escape(&txn(history, edge.to)),
            escape(&sentence(history, edge)),
            reasons(history, edge, arrows, id)
        ));
    }
    out.push_str("</ul></details>");
    out
}

fn link(arrows: &[Arrow], edge: &Edge, id: &str) -> String {
    find(arrows, edge).map_or_else(String::new, |arrow| format!(" data-edge=\"{id}-{arrow}\""))
}
