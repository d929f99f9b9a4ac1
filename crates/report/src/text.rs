//! A report for a terminal: the ladder, every violation with the lines that contradict each other, what holds.

use skew_model::{Explanation, Violation};

use crate::cases::{Case, cases, introduction};
use crate::clean::{clean, wrap};
use crate::distinct::{Distinct, distinct};
use crate::ladder::{closing, ladder, witnesses};
use crate::marks::{place, rows};
use crate::paint::{Ink, Paint};
use crate::snippet::{gutter, render};
use crate::words::{cycle_line, fix, headline};
use crate::{Report, Style};

/// The cases of one violation that are shown unless the reader asks for all.
const MOST_CASES: usize = 8;

/// A report as text.
pub fn text(report: &Report, style: Style) -> String {
    text_with_fixes(report, style, &fix)
}

/// A report as text, with other words for what to change: those of a program that does not speak SQL.
pub fn text_with_fixes(report: &Report, style: Style, fix: &dyn Fn(&Violation) -> String) -> String {
    let found = distinct(&report.verdicts);
    let mut out = ladder(report, &found, style);
    for one in &found {
        out.push('\n');
        out.push_str(&violation(report, one, style, fix));
    }
    if report.show_witness {
        out.push_str(&orders(report, style));
    }
    let closing = closing(report);
    if !closing.is_empty() {
        out.push_str(&format!("\n{}\n", Paint { color: style.color }.ink(Ink::Strong, &closing)));
    }
    out
}

/// The verdicts alone: one line each, without explanations.
pub fn verdict_lines(report: &Report, style: Style) -> String {
    ladder(report, &distinct(&report.verdicts), style)
}

fn violation(report: &Report, one: &Distinct, style: Style, fix: &dyn Fn(&Violation) -> String) -> String {
    let paint = Paint { color: style.color };
    let (violation, history) = (one.violation, &one.violation.history);
    let all = cases(&violation.explanation);
    let shown = if style.expand { all.len() } else { all.len().min(MOST_CASES) };
    let snippets: Vec<_> = all[..shown].iter().map(|case| rows(report, violation, case.leaf, style.expand)).collect();
    let wide = snippets.iter().map(|rows| gutter(rows)).max().unwrap_or(1);
    let frame = Frame { wide, style, paint };

    let name = paint.ink(Ink::Bad, &format!("violated[{}]", one.name()));
    let mut out = format!("{name}: {}\n", paint.ink(Ink::Strong, &headline(violation)));
    let arrow = paint.ink(Ink::Frame, "-->");
    out.push_str(&format!("{:wide$} {arrow} {}\n", "", place(report, violation)));
    if let Some(introduction) = introduction(history, &violation.explanation) {
        out.push_str(&frame.line("=", &introduction, 0));
    }
    for (case, rows) in all.iter().zip(&snippets) {
        out.push_str(&frame.case(violation, case));
        out.push_str(&frame.bar());
        out.push_str(&render(rows, wide, style));
    }
    if shown < all.len() {
        out.push_str(&frame.line("=", &format!("… and {} more cases, each of which fails", all.len() - shown), 0));
    }
    if let Explanation::Cycle(cycle) = &violation.explanation {
        out.push_str(&frame.field("cycle", &cycle_line(history, &cycle.edges)));
    }
    let satisfies = one.satisfies();
    let breaks = match satisfies.as_str() {
        "" => one.breaks(),
        satisfies => format!("{:<9}  still satisfies  {satisfies}", one.breaks()),
    };
    out.push_str(&frame.field_whole("breaks", &breaks));
    out.push_str(&frame.field("fix", &fix(violation)));
    out.push_str(&frame.field_whole("replay", &clean(&one.replay(report))));
    out
}

/// The left margin of a violation.
struct Frame {
    wide: usize,
    style: Style,
    paint: Paint,
}

impl Frame {
    fn bar(&self) -> String {
        format!("{}\n", self.paint.ink(Ink::Frame, &format!("{:1$} |", "", self.wide)))
    }

    fn line(&self, mark: &str, text: &str, hang: usize) -> String {
        let wide = self.wide;
        let room = match self.style.width {
            0 => 0,
            width => width.saturating_sub(wide + 3 + hang).max(30),
        };
        let lines = wrap(text, room).join(&format!("\n{:1$}", "", wide + 3 + hang));
        format!("{:wide$} {} {lines}\n", "", self.paint.ink(Ink::Frame, mark))
    }

    fn field(&self, label: &str, text: &str) -> String {
        let room = match self.style.width {
            0 => 0,
            width => width.saturating_sub(self.wide + 3 + 8).max(30),
        };
        let lines = wrap(text, room).join(&format!("\n{:1$}", "", self.wide + 3 + 8));
        self.field_whole(label, &lines)
    }

    /// A field that is never wrapped: a command must paste as it stands.
    fn field_whole(&self, label: &str, text: &str) -> String {
        let label = self.paint.ink(Ink::Strong, &format!("{label:<8}"));
        format!("{:1$} {2} {label}{text}\n", "", self.wide, self.paint.ink(Ink::Frame, "="))
    }

    /// "if t1 comes before t2: cycle t1 -ww(x)-> t2 -rw(x)-> t1".
    fn case(&self, violation: &skew_model::Violation, case: &Case) -> String {
        let Some(words) = case.words(&violation.history) else { return String::new() };
        let cycle = match case.leaf {
            Explanation::Cycle(cycle) => format!("cycle {}", cycle_line(&violation.history, &cycle.edges)),
            _ => "no order explains this read".to_owned(),
        };
        format!("{}{}", self.bar(), self.line("=", &format!("{words}: {cycle}"), 2))
    }
}

fn orders(report: &Report, style: Style) -> String {
    let orders = witnesses(report);
    let mut out = String::new();
    if !orders.is_empty() {
        out.push('\n');
    }
    let several = orders.len() > 1;
    for (scopes, names) in orders {
        let label = if several { format!("commit order for {scopes}: ") } else { "commit order: ".to_owned() };
        let lines = wrap(&format!("{label}{names}"), style.width);
        out.push_str(&format!("{}\n", lines.join("\n  ")));
    }
    out
}
