//! The cost of a transaction against the length of the history, as numbers and as SVG.

use std::fmt::Write;

use super::Growth;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 368.0;

/// Dashes tell lines apart that are not far from each other.
const DASHES: [&str; 3] = ["", "7 3", "2 3"];

/// One line a point.
pub(crate) fn csv(all: &[Growth], points: &[usize]) -> String {
    let levels: Vec<&str> = all.iter().map(|growth| growth.level.id()).collect();
    let mut text = format!("transaction,{}\n", levels.join(","));
    for (at, point) in points.iter().enumerate() {
        let costs: Vec<String> = all.iter().map(|growth| format!("{:.0}", growth.costs[at])).collect();
        let _ = writeln!(text, "{point},{}", costs.join(","));
    }
    text
}

/// All levels in one panel, labelled where they end.
pub(crate) fn draw(all: &[Growth], points: &[usize]) -> String {
    let highest = all.iter().flat_map(|growth| &growth.costs).copied().fold(1.0, f64::max);
    let step = if highest > 4000.0 { 1000.0 } else { 500.0 };
    let top = (highest / step).ceil() * step;
    let (first, last) = (points[0] as f64, points[points.len() - 1] as f64);
    let x = |point: usize| LEFT + (point as f64 / first).log10() / (last / first).log10() * (RIGHT - LEFT);
    let y = |cost: f64| BOTTOM - cost / top * (BOTTOM - TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"16\" y=\"28\" font-size=\"15\">What a transaction of four operations costs as the history grows (8 sessions)</text>\n\
         <text x=\"{LEFT}\" y=\"46\" fill=\"#555\">nanoseconds</text>\n"
    );
    let mut line = 0.0;
    while line <= top {
        let at = y(line);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{line:.0}</text>",
            LEFT - 6.0,
            at + 4.0
        );
        line += step;
    }
    for &point in points.iter().filter(|&&point| is_power_of_ten(point)) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(point),
            BOTTOM + 18.0,
            thousands(point)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">transactions so far</text>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 38.0
    );
    for (index, growth) in all.iter().enumerate() {
        let path: Vec<String> =
            points.iter().zip(&growth.costs).map(|(&point, &cost)| format!("{:.1} {:.1}", x(point), y(cost))).collect();
        let dashes = DASHES[index % DASHES.len()];
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"#246\" stroke-width=\"1.5\" stroke-dasharray=\"{dashes}\"/>",
            path.join("L")
        );
    }
    svg + &labels(all, y) + "</svg>\n"
}

/// The levels' names at the ends of their lines, moved apart.
fn labels(all: &[Growth], y: impl Fn(f64) -> f64) -> String {
    let mut ends: Vec<(f64, &str)> =
        all.iter().map(|growth| (y(growth.costs[growth.costs.len() - 1]), growth.level.id())).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut svg = String::new();
    let mut lowest = f64::MIN;
    for (at, name) in ends {
        lowest = (lowest + 14.0).max(at + 4.0);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{lowest:.1}\">{name}</text>", RIGHT + 8.0);
    }
    svg
}

fn is_power_of_ten(mut number: usize) -> bool {
    while number.is_multiple_of(10) {
        number /= 10;
    }
    number == 1
}

fn thousands(number: usize) -> String {
    if number >= 1_000_000 { format!("{} million", number / 1_000_000) } else { format!("{},000", number / 1000) }
}
