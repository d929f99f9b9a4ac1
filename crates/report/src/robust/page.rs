//! An application's robustness as one static page: a row a level, the programs with what they meet at, and every run that is
//! not serializable with its picture.
//!
//! Everything is in the file and can be read without scripts. The script only adds: pointing at an arrow highlights its
//! sentence and the other way round, and commands get a copy button.

use skew_model::Violation;
use skew_model::robust::{FoundRun, LevelAnswer, PossibleCycle, RobustCycle, RobustReport, RobustVerdict};

use crate::cases::cases;
use crate::clean::count;
use crate::html::draw_case;
use crate::markup::escape;
use crate::robust::drawing::drawing;
use crate::robust::lines::{drawn, lines, step_words};
use crate::robust::words::{READS_WHAT_IS_LEFT, closing, found_head, label, notes, program, size, statement};
use crate::route::n;
use crate::words::{fix, headline};

const STYLES: [&str; 3] = [include_str!("../page.css"), include_str!("../picture.css"), include_str!("robust.css")];
const SCRIPT: &str = include_str!("../page.js");
/// So many cycles that no run has shown are told of a level.
const MOST_POSSIBLE: usize = 10;

/// A report as one page. `violations` are what the checker says about the runs, in their order.
pub fn robust_page(report: &RobustReport, violations: &[Option<Violation>]) -> String {
    let sections = sections(report);
    let mut body = format!(
        "<header><p class=\"size\">skew robust</p><h1>{}</h1>\n<p class=\"size\">{}</p>\n<p class=\"closing\">{}</p>\
         </header>\n",
        escape(&report.file),
        escape(&size(report)),
        escape(&closing(report))
    );
    body.push_str(&table(report, &sections));
    let notes = notes(report);
    if !notes.is_empty() {
        let items: String = notes.iter().map(|note| format!("<li>{}</li>", escape(note))).collect();
        body.push_str(&format!("<ul class=\"notes\">{items}</ul>\n"));
    }
    body.push_str(&subsets(report));
    body.push_str(&programs(report, sections.first()));
    for (number, section) in sections.iter().enumerate() {
        body.push_str(&match section.what {
            What::Run(at) => {
                found(report, section, &report.runs[at], violations.get(at).and_then(Option::as_ref), number)
            }
            What::Possible(possible) => possibly(report, section, possible, number),
        });
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\"/><title>skew robust {}</title>\n<style>\n{}</style></head>\n\
         <body class=\"robust\"><main>\n{body}</main>\n<script>\n{SCRIPT}</script></body></html>\n",
        escape(&report.file),
        STYLES.concat()
    )
}

/// Something that has a part of the page.
struct Section<'a> {
    answer: &'a LevelAnswer,
    what: What<'a>,
    cycle: Option<&'a RobustCycle>,
}

enum What<'a> {
    Run(usize),
    Possible(&'a PossibleCycle),
}

/// Runs of strong levels first; a run or a cycle is told once.
fn sections(report: &RobustReport) -> Vec<Section<'_>> {
    let mut told: Vec<usize> = Vec::new();
    let mut sections = Vec::new();
    for answer in report.levels.iter().rev() {
        for &at in &answer.found {
            if !told.contains(&at) && at < report.runs.len() {
                told.push(at);
                sections.push(Section { answer, what: What::Run(at), cycle: report.runs[at].cycle.as_ref() });
            }
        }
        if answer.verdict == RobustVerdict::Possible {
            let is_told = |one: &PossibleCycle, sections: &[Section<'_>]| {
                sections.iter().any(|section| section.cycle.is_some_and(|cycle| cycle.line == one.cycle.line))
            };
            for one in answer.possible.iter().take(MOST_POSSIBLE) {
                if !is_told(one, &sections) {
                    sections.push(Section { answer, what: What::Possible(one), cycle: Some(&one.cycle) });
                }
            }
        }
    }
    sections
}

fn table(report: &RobustReport, sections: &[Section<'_>]) -> String {
    let mut out = "<table class=\"ladder\"><caption>Is every run serializable?</caption>\n\
                   <thead><tr><th>level</th><th>verdict</th><th>why</th></tr></thead><tbody>\n"
        .to_owned();
    for answer in report.levels.iter().rev() {
        let class = match answer.verdict {
            RobustVerdict::Robust => "holds",
            RobustVerdict::NotRobust => "not",
            RobustVerdict::Possible => "possible",
            RobustVerdict::Unknown => "unknown",
        };
        let is_of = |section: &Section<'_>| match section.what {
            What::Run(at) => answer.found.contains(&at),
            What::Possible(told) => answer.possible.iter().any(|one| one.cycle.line == told.cycle.line),
        };
        let why = match sections.iter().position(is_of) {
            Some(number) => format!("<a href=\"#v{number}\">{}</a>", escape(&answer.why)),
            None => escape(&answer.why),
        };
        let title = answer.level.parse::<skew_model::Level>().map_or("", |level| level.title());
        out.push_str(&format!(
            "<tr class=\"{class}\"><th scope=\"row\"><abbr title=\"{title}\">{}</abbr></th><td class=\"word\">{}</td>\
             <td>{why}</td></tr>\n",
            escape(&answer.level),
            answer.verdict.words()
        ));
    }
    out.push_str("</tbody></table>\n");
    out
}

fn subsets(report: &RobustReport) -> String {
    let mut out = String::new();
    for one in &report.subsets {
        let level = escape(&one.level);
        out.push_str(&format!("<h3>The largest sets of programs that are robust together at {level}</h3>\n<ul>"));
        for set in &one.sets {
            out.push_str(&format!("<li><code>{}</code></li>", escape(&set.join(", "))));
        }
        if one.sets.is_empty() {
            out.push_str("<li>none</li>");
        }
        if let Some(limit) = &one.limit {
            out.push_str(&format!("<li>stopped after {}: there may be larger ones</li>", escape(limit)));
        }
        out.push_str("</ul>\n");
    }
    out
}

/// All programs with what they meet at, and the first cycle in thick arrows.
fn programs(report: &RobustReport, section: Option<&Section<'_>>) -> String {
    let cycle = section.and_then(|section| section.cycle);
    let shown = drawn(report, cycle);
    let mut out = "<section><h2>Which programs meet, and where</h2>\n".to_owned();
    out.push_str(&frame(report, &shown, cycle, true, "g0", "the programs and what they meet at"));
    if shown.len() < report.programs.len() {
        out.push_str(&format!(
            "<p class=\"note\">{} of {} are drawn: those of the cycle, and those that they meet.</p>\n",
            shown.len(),
            count(report.programs.len(), "program")
        ));
    }
    let all: Vec<usize> = (0..report.programs.len()).collect();
    let mut items = String::new();
    for line in lines(report, &all) {
        let (one, other) = (program(report, line.one), program(report, line.other));
        let names = if line.one == line.other { one.to_owned() } else { format!("{one}, {other}") };
        items.push_str(&format!("<h3>{}</h3><pre>{}</pre>\n", escape(&names), line.title));
    }
    match items.is_empty() {
        true => out.push_str("<p>No two transactions meet anywhere.</p>\n"),
        false => out.push_str(&format!(
            "<details class=\"meetings\"><summary>The same in words, with the statements</summary>\n{items}</details>\n"
        )),
    }
    out.push_str("</section>\n");
    out
}

fn frame(
    report: &RobustReport,
    programs: &[usize],
    cycle: Option<&RobustCycle>,
    with_lines: bool,
    id: &str,
    label: &str,
) -> String {
    let drawing = drawing(report, programs, cycle, with_lines, id);
    format!(
        "<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"picture\">\
         <svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"group\" aria-label=\"{label}\" \
         width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" style=\"min-width:{least}px\">\
         <title>{label}</title>{body}</svg></div>\n",
        label = escape(label),
        least = n(drawing.width * 0.6),
        w = n(drawing.width),
        h = n(drawing.height),
        body = drawing.body
    )
}

/// A cycle as sentences; the first one is in the drawing of all programs, others get their own.
fn cycle_part(report: &RobustReport, cycle: &RobustCycle, number: usize) -> String {
    let id = format!("g{number}");
    let mut out = String::new();
    if number > 0 {
        let mut programs: Vec<usize> = cycle.edges.iter().map(|edge| edge.from).collect();
        programs.sort_unstable();
        programs.dedup();
        out.push_str(&frame(report, &programs, Some(cycle), false, &id, &cycle.line));
    }
    out.push_str("<ol class=\"steps\">\n");
    for (at, edge) in cycle.edges.iter().enumerate() {
        let first = cycle.edges.iter().position(|other| (other.from, other.to) == (edge.from, edge.to)).unwrap_or(at);
        let statements = edge.statements.as_ref().map_or_else(String::new, |(from, to)| {
            format!(
                "<span class=\"at\"><code>{}</code></span><span class=\"at\"><code>{}</code></span>",
                escape(&statement(report, edge.from, from)),
                escape(&statement(report, edge.to, to))
            )
        });
        out.push_str(&format!(
            "<li tabindex=\"0\" data-edge=\"{id}-{first}\"><b>{}</b> <code>{}</code>{statements}</li>\n",
            escape(&step_words(report, edge)),
            escape(&label(edge))
        ));
    }
    let words: Vec<String> = cycle.line.split(' ').map(|word| format!("<span>{}</span>", escape(word))).collect();
    out.push_str(&format!("</ol>\n<p class=\"cycle\">{}</p>\n", words.join(" ")));
    out
}

fn found(
    report: &RobustReport,
    section: &Section<'_>,
    run: &FoundRun,
    violation: Option<&Violation>,
    number: usize,
) -> String {
    let programs = run.programs.join(", ");
    let mut out = format!(
        "<section class=\"violation\" id=\"v{number}\"><p class=\"kind\"><b>not robust</b> {}</p>\n<h2>{}</h2>\n",
        escape(found_head(report, run).strip_prefix("not robust ").unwrap_or_default()),
        escape(&violation.map_or_else(|| programs.clone(), |violation| format!("{programs}: {}", headline(violation))))
    );
    if let Some(cycle) = section.cycle {
        out.push_str(&cycle_part(report, cycle, number));
    }
    out.push_str("<h3>A run that shows it</h3>\n");
    if let Some(violation) = violation {
        for (at, case) in cases(&violation.explanation).iter().take(1).enumerate() {
            out.push_str(&draw_case(violation, case, &format!("r{number}c{at}")));
        }
    }
    let mut facts = String::new();
    let mut fact = |name: &str, words: String| facts.push_str(&format!("<dt>{name}</dt><dd>{words}</dd>\n"));
    let code = |text: &str| format!("<code>{}</code>", text.lines().map(escape).collect::<Vec<_>>().join("\n"));
    if !run.setup.is_empty() {
        fact("first", code(&run.setup.join(";\n")));
    }
    for (session, calls) in &run.sessions {
        fact(&escape(session), code(&calls.join("; ")));
    }
    if run.reads_what_is_left() {
        fact("(finally)", escape(READS_WHAT_IS_LEFT));
    }
    if let Some(violation) = violation {
        fact("fix", escape(&fix(violation)));
    }
    let replay = match &run.saved {
        Some((replay, _)) => format!("skew replay {replay}"),
        None => run.replay.clone(),
    };
    fact("replay", format!("<code class=\"command\">{}</code>", escape(&replay)));
    let lines = |text: &str| text.lines().map(escape).collect::<Vec<_>>().join("\n");
    out.push_str(&format!(
        "<dl>\n{facts}</dl>\n<details><summary>The history</summary><pre>{}</pre></details>\n",
        lines(&run.core)
    ));
    if let Some(script) = &run.psql {
        out.push_str(&format!(
            "<details><summary>The same with sessions of psql on a PostgreSQL</summary><pre>{}</pre></details>\n",
            lines(script)
        ));
    }
    out.push_str("</section>\n");
    out
}

fn possibly(report: &RobustReport, section: &Section<'_>, possible: &PossibleCycle, number: usize) -> String {
    let mut programs: Vec<&str> = possible.cycle.edges.iter().map(|edge| program(report, edge.from)).collect();
    programs.dedup();
    format!(
        "<section class=\"violation\" id=\"v{number}\"><p class=\"kind\"><b>possible</b> at {}</p>\n<h2>{}</h2>\n{}\
         <p>Not found: {}</p></section>\n",
        escape(&section.answer.level),
        escape(&format!("{}: a cycle that no run has shown", programs.join(", "))),
        cycle_part(report, &possible.cycle, number),
        escape(&possible.reason)
    )
}
