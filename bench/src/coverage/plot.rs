//! The figure as SVG: a panel for each application, a line for each setting, labelled where it ends.

use std::fmt::Write;

use skew_model::Level;

use super::turns::Starts;
use super::{LEVELS, Panel, SETTINGS, Setting};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 320.0;
const HEADER: f64 = 50.0;

/// The plotting area within a panel.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 370.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 264.0;

/// Labels are at least this far from each other.
const LINE: f64 = 15.0;

/// Draws all panels, two in a row.
pub(crate) fn draw(panels: &[Panel], checkpoints: &[u64]) -> String {
    let height = HEADER + HEIGHT * panels.len().div_ceil(2) as f64;
    let width = WIDTH * 2.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let title = "Distinct client-observable states against runs (average over random programs)";
    svg += &text(16.0, 26.0, "start", 15, title);
    let lines = "delay: every turn is open · plain: clients start one after another · dotted horizontal line: all states, by exploration";
    svg += &text(16.0, 44.0, "start", 11, lines);
    for (index, panel) in panels.iter().enumerate() {
        let (x, y) = (WIDTH * (index % 2) as f64, HEADER + HEIGHT * (index / 2) as f64);
        let _ = write!(svg, "<g transform=\"translate({x} {y})\">\n{}</g>\n", Drawing::new(panel, checkpoints).panel());
    }
    svg + "</svg>\n"
}

/// One panel and its axes.
struct Drawing<'a> {
    panel: &'a Panel,
    checkpoints: &'a [u64],
    /// The value at the top.
    highest: f64,
    /// The distance of the horizontal lines.
    step: f64,
}

/// The name of a line and the height at which it ends.
struct Label {
    y: f64,
    text: String,
    colour: &'static str,
}

impl<'a> Drawing<'a> {
    fn new(panel: &'a Panel, checkpoints: &'a [u64]) -> Drawing<'a> {
        let averages = (0..SETTINGS.len()).map(|setting| panel.average(setting, checkpoints.len() - 1));
        let maxima = (0..LEVELS.len()).filter_map(|level| panel.maximum(level));
        let largest = averages.chain(maxima).fold(1.0, f64::max);
        let step = step(largest / 4.0);
        Drawing { panel, checkpoints, highest: (largest / step).ceil() * step, step }
    }

    fn panel(&self) -> String {
        let mut svg = text(LEFT, 24.0, "start", 14, self.panel.application.name());
        for (index, note) in self.notes().iter().enumerate() {
            svg += &text(LEFT, 40.0 + 14.0 * index as f64, "start", 11, note);
        }
        svg += &self.axes();
        let mut labels = Vec::new();
        for level in 0..LEVELS.len() {
            svg += &self.maximum(level, &mut labels);
        }
        for setting in 0..SETTINGS.len() {
            svg += &self.curve(setting, &mut labels);
        }
        svg + &place(labels)
    }

    /// What is known about maxima that are not drawn.
    fn notes(&self) -> Vec<String> {
        let all = self.panel.covered.len();
        let unknown = (0..LEVELS.len()).filter(|&level| self.panel.maximum(level).is_none());
        let note = |level: usize| {
            let (known, share) = self.panel.reached(setting(LEVELS[level], Starts::Delayed), level);
            let share = (share * 100.0).floor();
            format!("{}: maximum known for {known} of {all} programs; delay shows {share}% of it there", LEVELS[level])
        };
        unknown.map(note).collect()
    }

    fn axes(&self) -> String {
        let mut svg = String::new();
        let mut value = 0.0;
        while value <= self.highest {
            let y = self.y(value);
            let colour = if value == 0.0 { "#222" } else { "#ddd" };
            svg += &line(LEFT, y, RIGHT, y, &format!("stroke=\"{colour}\""));
            svg += &text(LEFT - 6.0, y + 4.0, "end", 11, &value.to_string());
            value += self.step;
        }
        let mut runs = 1;
        while runs <= self.runs() {
            let x = self.x(runs);
            svg += &line(x, BOTTOM, x, BOTTOM + 4.0, "stroke=\"#222\"");
            svg += &text(x, BOTTOM + 17.0, "middle", 11, &runs.to_string());
            runs *= 10;
        }
        svg += &text((LEFT + RIGHT) / 2.0, BOTTOM + 36.0, "middle", 12, "runs (logarithmic)");
        let middle = (TOP + BOTTOM) / 2.0;
        let _ = writeln!(
            svg,
            "<text transform=\"translate(16 {middle}) rotate(-90)\" text-anchor=\"middle\">distinct states</text>"
        );
        svg
    }

    fn curve(&self, setting: usize, labels: &mut Vec<Label>) -> String {
        let points = self.checkpoints.iter().enumerate().map(|(checkpoint, &runs)| {
            format!("{:.1},{:.1}", self.x(runs), self.y(self.panel.average(setting, checkpoint)))
        });
        let points = points.collect::<Vec<_>>().join(" ");
        let end = self.panel.average(setting, self.checkpoints.len() - 1);
        let Setting { level, starts } = SETTINGS[setting];
        let dashes = match starts {
            Starts::Delayed => "",
            Starts::Plain => " stroke-dasharray=\"6 4\"",
            Starts::Learning => " stroke-dasharray=\"2 3\"",
            Starts::Predictive => " stroke-dasharray=\"10 3 2 3\"",
        };
        let (colour, width) = (colour(level), if level == Level::Ser { 1.5 } else { 2.5 });
        labels.push(Label { y: self.y(end), text: format!("{level}, {} {end:.1}", starts.name()), colour });
        format!("<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>\n")
    }

    fn maximum(&self, level: usize, labels: &mut Vec<Label>) -> String {
        let Some(maximum) = self.panel.maximum(level) else { return String::new() };
        let (y, colour) = (self.y(maximum), colour(LEVELS[level]));
        labels.push(Label { y, text: format!("{}, maximum {maximum:.1}", LEVELS[level]), colour });
        line(LEFT, y, RIGHT, y, &format!("stroke=\"{colour}\" stroke-dasharray=\"1 3\" stroke-width=\"1.5\""))
    }

    fn runs(&self) -> u64 {
        *self.checkpoints.last().expect("there is a checkpoint at the end")
    }

    fn x(&self, runs: u64) -> f64 {
        let all = (self.runs() as f64).ln().max(1.0);
        LEFT + (RIGHT - LEFT) * (runs as f64).ln() / all
    }

    fn y(&self, states: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * states / self.highest
    }
}

/// Puts labels beside the ends of their lines, without one on top of another.
fn place(mut labels: Vec<Label>) -> String {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut svg = String::new();
    let mut next = f64::MIN;
    let lowest = |index: usize, count: usize| BOTTOM - LINE * (count - 1 - index) as f64;
    let count = labels.len();
    for (index, label) in labels.iter().enumerate() {
        let y = label.y.max(next).min(lowest(index, count));
        next = y + LINE;
        svg +=
            &line(RIGHT + 1.0, label.y, RIGHT + 10.0, y, &format!("stroke=\"{}\" stroke-width=\"0.7\"", label.colour));
        svg += &text(RIGHT + 13.0, y + 4.0, "start", 11, &label.text);
    }
    svg
}

fn text(x: f64, y: f64, anchor: &str, size: u32, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{words}</text>\n")
}

fn line(x1: f64, y1: f64, x2: f64, y2: f64, style: &str) -> String {
    format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>\n")
}

fn colour(level: Level) -> &'static str {
    if level == Level::Ser { "#1f5fa8" } else { "#b3421f" }
}

fn setting(level: Level, starts: Starts) -> usize {
    SETTINGS.iter().position(|&setting| setting == Setting { level, starts }).expect("it is one of them")
}

/// A round number that is not less than this.
fn step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade);
    round.into_iter().find(|&step| step >= least && step >= 1.0).unwrap_or(1.0)
}
