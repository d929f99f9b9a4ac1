//! The gutters between lanes: how wide they have to be, and in which track each arrow runs up or down.

use crate::arrows::{Arrow, Role};
use crate::clean::shorten;
use crate::layout::{FONT, Layout, MARGIN, Run, SMALL, TxnBox, chars};
use crate::ports::Way;

/// Between two tracks, with many lanes and with few, which leave room on the page.
const TRACK: f64 = 12.0;
const WIDE_TRACK: f64 = 20.0;
/// Lanes that are few.
const FEW_LANES: usize = 3;
/// Between a box and what stands beside it: room for the head of an arrow.
pub(crate) const HEAD: f64 = 18.0;
/// Between other things in a gutter.
const AIR: f64 = 10.0;
/// A gutter without arrows.
const EMPTY_GUTTER: f64 = 36.0;
const MIN_LANE: f64 = 104.0;

/// What the label of an arrow says; nothing for what else was read, where the cells at both ends say it all.
pub(crate) fn label_text(arrow: &Arrow) -> Option<String> {
    let label = match arrow.label.split_once('(') {
        Some((letters, key)) => format!("{letters}({})", shorten(key.strip_suffix(')').unwrap_or(key), 18)),
        None => arrow.label.clone(),
    };
    match arrow.role {
        Role::Context => None,
        Role::Cycle(number) if number > 0 => Some(format!("{number} {label}")),
        Role::Cycle(_) | Role::Reason => Some(label),
    }
}

/// The width of an arrow's label; nothing if it has none.
pub(crate) fn label_width(arrow: &Arrow) -> f64 {
    label_text(arrow).map_or(0.0, |text| chars(&text, SMALL) + 10.0)
}

/// An arrow that runs up or down in a gutter.
struct Riser {
    arrow: usize,
    top: f64,
    bottom: f64,
    /// The heights of its lines to the left edge of the gutter, and to the right edge.
    lefts: Vec<f64>,
    rights: Vec<f64>,
}

impl Riser {
    fn spans(&self, y: f64) -> bool {
        self.top < y && y < self.bottom
    }

    fn meets(&self, other: &Riser) -> bool {
        self.top < other.bottom + AIR && other.top < self.bottom + AIR
    }
}

/// Gives lanes and gutters their widths, and every arrow its track.
pub(crate) fn stretch(layout: &mut Layout, arrows: &[Arrow]) {
    let mut x = MARGIN;
    let track_width = if layout.lanes.len() <= FEW_LANES { WIDE_TRACK } else { TRACK };
    for index in 0..layout.lanes.len() {
        let boxes = layout.boxes.iter().filter(|one| one.lane == index);
        let wide = boxes.map(TxnBox::wanted_width).fold(chars(&layout.lanes[index].name, FONT), f64::max);
        let lane = &mut layout.lanes[index];
        (lane.x, lane.width) = (x, wide.max(MIN_LANE));
        x += lane.width;
        let (risers, returning, arriving) = gutter(layout, arrows, index);
        let is_last = index + 1 == layout.lanes.len();
        if risers.is_empty() && arriving == 0.0 {
            x += if is_last { 0.0 } else { EMPTY_GUTTER };
            continue;
        }
        x += if returning > 0.0 { AIR + returning } else { 0.0 };
        let mut tracks = 0;
        for (arrow, track) in assign(risers) {
            layout.tracks[arrow] = x + HEAD + 4.0 + track_width * track as f64;
            tracks = tracks.max(track + 1);
        }
        x += HEAD + 4.0 + AIR + track_width * (tracks as f64 - 1.0).max(0.0);
        x += if is_last { 0.0 } else { arriving + HEAD };
    }
    layout.width = x + MARGIN;
    let bottom = layout.boxes.iter().map(TxnBox::bottom).fold(layout.top, f64::max);
    layout.height = bottom + MARGIN + 6.0;
}

/// What runs up or down right of a lane, and how wide the labels of arrows are that return to the lane and that arrive
/// at the next one.
fn gutter(layout: &Layout, arrows: &[Arrow], gutter: usize) -> (Vec<Riser>, f64, f64) {
    let (mut risers, mut returning, mut arriving) = (Vec::new(), 0.0_f64, 0.0_f64);
    for (index, arrow) in arrows.iter().enumerate() {
        let Some(Way::Across { from, to }) = layout.ports.ways[index] else { continue };
        let (Some(first), Some(last)) = (layout.of(from.txn), layout.of(to.txn)) else { continue };
        let (Some(start), Some(end)) = (layout.port_y(from), layout.port_y(to)) else { continue };
        let (low, high) = (first.lane.min(last.lane), first.lane.max(last.lane));
        let (lefts, rights) = match first.lane.cmp(&last.lane) {
            std::cmp::Ordering::Equal => (vec![start, end], Vec::new()),
            std::cmp::Ordering::Less => (vec![start], vec![end]),
            std::cmp::Ordering::Greater => (vec![end], vec![start]),
        };
        if low == high && low == gutter {
            returning = returning.max(label_width(arrow));
        } else if high == gutter + 1 {
            arriving = arriving.max(label_width(arrow));
        }
        if track_gutter(first.lane, last.lane, layout.runs[index]) == gutter {
            risers.push(Riser { arrow: index, top: start.min(end), bottom: start.max(end), lefts, rights });
        }
    }
    (risers, returning, arriving)
}

/// The gutter in which an arrow runs up or down: beside its end, or beside its start.
fn track_gutter(from: usize, to: usize, run: Run) -> usize {
    match run {
        _ if from == to => from,
        Run::AtFrom if from < to => to - 1,
        Run::AtFrom => to,
        Run::AtTo if from < to => from,
        Run::AtTo => from - 1,
    }
}

/// Tracks, counted from the left, with few crossings; arrows that do not meet share one.
fn assign(mut risers: Vec<Riser>) -> Vec<(usize, usize)> {
    risers.sort_by(|one, other| (one.top + one.bottom).total_cmp(&(other.top + other.bottom)));
    let crossings = |left: &Riser, right: &Riser| {
        right.lefts.iter().filter(|y| left.spans(**y)).count() + left.rights.iter().filter(|y| right.spans(**y)).count()
    };
    // Every exchange of neighbours removes a crossing, so this ends.
    let mut is_better = true;
    while is_better {
        is_better = false;
        for at in 1..risers.len() {
            if crossings(&risers[at], &risers[at - 1]) < crossings(&risers[at - 1], &risers[at]) {
                risers.swap(at - 1, at);
                is_better = true;
            }
        }
    }
    let mut tracks: Vec<usize> = Vec::new();
    for (at, riser) in risers.iter().enumerate() {
        let before = risers[..at].iter().zip(&tracks).filter(|(other, _)| other.meets(riser));
        let track = before.map(|(_, track)| track + 1).max().unwrap_or(0);
        tracks.push(track);
    }
    risers.iter().map(|riser| riser.arrow).zip(tracks).collect()
}
