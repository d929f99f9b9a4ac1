//! Recorded lines with carets and notes under them, cut to the width of the terminal.

use crate::Style;
use crate::clean::{clean_char, columns, shorten, wrap};
use crate::paint::{Ink, Paint};
use crate::reasons::Line;

/// A line of a file and what to say about it.
pub(crate) struct Row {
    /// The file, when it differs from that of the row before.
    pub(crate) file: Option<String>,
    /// The number of the line; 0 when there is none.
    pub(crate) line: u32,
    /// The line.
    pub(crate) text: String,
    /// The columns (in characters, start and end) of the operations in it.
    pub(crate) ops: Vec<(usize, usize)>,
    /// The places in `ops` of those that the violation needs.
    pub(crate) own: Vec<usize>,
    /// The notes, in the order to show.
    pub(crate) marks: Vec<Mark>,
}

/// A note under a line.
pub(crate) struct Mark {
    /// The operation, as a place in [`Row::ops`]; `None` when the note is about the whole line.
    pub(crate) op: Option<usize>,
    /// Whether it is what the violation is about (`^`), or only helps to see it (`-`).
    pub(crate) main: bool,
    /// The note.
    pub(crate) note: String,
    /// The reasons below it.
    pub(crate) reasons: Vec<Line>,
}

/// The columns that line numbers need.
pub(crate) fn gutter(rows: &[Row]) -> usize {
    rows.iter().map(|row| if row.line == 0 { 1 } else { row.line.to_string().len() }).max().unwrap_or(1)
}

/// Renders the rows, each line ending in a newline.
pub(crate) fn render(rows: &[Row], gutter: usize, style: Style) -> String {
    let paint = Paint { color: style.color };
    let room = if style.width == 0 { usize::MAX } else { style.width.saturating_sub(gutter + 3).max(40) };
    let bar = paint.ink(Ink::Frame, &format!("{:gutter$} |", ""));
    let mut out = String::new();
    for row in rows {
        if let Some(file) = &row.file {
            out.push_str(&format!("{:gutter$} {} {file}\n", "", paint.ink(Ink::Frame, ":::")));
        }
        let shown = fit(row, room);
        let number = if row.line == 0 { String::new() } else { row.line.to_string() };
        out.push_str(&format!("{} {}\n", paint.ink(Ink::Frame, &format!("{number:>gutter$} |")), shown.text));
        for mark in &row.marks {
            for line in mark_lines(mark, &shown, room, paint) {
                out.push_str(format!("{bar} {line}").trim_end());
                out.push('\n');
            }
        }
    }
    out
}

/// A line as it is shown: cut to fit, with the places of the operations that are left, in terminal columns.
struct Shown {
    text: String,
    ops: Vec<Option<(usize, usize)>>,
    /// Where the operations begin.
    body: usize,
}

fn mark_lines(mark: &Mark, shown: &Shown, room: usize, paint: Paint) -> Vec<String> {
    let place = mark.op.and_then(|op| shown.ops.get(op).copied().flatten());
    let (start, end) = place.unwrap_or((shown.body, shown.body));
    let mut lines = Vec::new();
    let mut head = " ".repeat(start);
    let mut column = start;
    if end > start {
        let (caret, ink) = if mark.main { ("^", Ink::Bad) } else { ("-", Ink::Frame) };
        head.push_str(&paint.ink(ink, &caret.repeat(end - start)));
        head.push(' ');
        column = end + 1;
    }
    if room != usize::MAX && columns(&mark.note) > room.saturating_sub(column) && room.saturating_sub(column) < 36 {
        // Too far right for words: they go below the carets.
        if end > start {
            lines.push(head);
        }
        column = start.min(room.saturating_sub(48));
        head = " ".repeat(column);
    }
    let indent = " ".repeat(column);
    let wrapped = |text: &str, room: usize| wrap(text, if room == usize::MAX { 0 } else { room.max(24) });
    for (index, line) in wrapped(&mark.note, room.saturating_sub(column)).iter().enumerate() {
        lines.push(format!("{}{line}", if index == 0 { &head } else { &indent }));
    }
    for reason in &mark.reasons {
        let inner = format!("{indent}{}", "  ".repeat(reason.depth));
        for (index, line) in wrapped(&reason.text, room.saturating_sub(inner.len() + 2)).iter().enumerate() {
            let hang = if index == 0 { "" } else { "  " };
            lines.push(format!("{inner}{hang}{}", paint.ink(Ink::Faint, line)));
        }
    }
    lines
}

/// Leaves out the operations that nothing points at until the line fits.
fn fit(row: &Row, room: usize) -> Shown {
    let chars: Vec<char> = row.text.chars().map(clean_char).collect();
    let piece =
        |start: usize, end: usize| chars[start.min(chars.len())..end.min(chars.len())].iter().collect::<String>();
    let whole = piece(0, chars.len());
    let body = row.ops.first().map_or(chars.len(), |(start, _)| *start);
    if columns(&whole) <= room {
        let column = |at: usize| columns(&piece(0, at));
        let ops = row.ops.iter().map(|(start, end)| Some((column(*start), column(*end)))).collect();
        return Shown { ops, body: column(body), text: whole };
    }
    let prefix = shorten(&piece(0, body), room / 3);
    let texts: Vec<String> = row.ops.iter().map(|(start, end)| shorten(&piece(*start, *end), room / 3)).collect();
    let kept = kept(row, &texts, room.saturating_sub(columns(&prefix) + 4));
    let mut shown = Shown { body: columns(&prefix), text: prefix, ops: vec![None; texts.len()] };
    let mut last: Option<usize> = None;
    for (index, text) in texts.iter().enumerate().filter(|(index, _)| kept[*index]) {
        match last {
            None if index == 0 => {}
            Some(last) if last + 1 == index => shown.text.push_str(&piece(row.ops[last].1, row.ops[index].0)),
            _ => shown.text.push_str(if shown.text.ends_with(' ') { "… " } else { " … " }),
        }
        let start = columns(&shown.text);
        shown.text.push_str(text);
        shown.ops[index] = Some((start, columns(&shown.text)));
        last = Some(index);
    }
    if last.is_none_or(|last| last + 1 < texts.len()) {
        shown.text.push_str(" …");
    }
    shown
}

/// Which operations stay: those that are pointed at, and as many others of the violation as fit.
fn kept(row: &Row, texts: &[String], room: usize) -> Vec<bool> {
    let cost = |text: &String| columns(text) + 3;
    let mut kept = vec![false; texts.len()];
    let mut left = room;
    for op in row.marks.iter().filter_map(|mark| mark.op).filter(|op| *op < texts.len()) {
        if !std::mem::replace(&mut kept[op], true) {
            left = left.saturating_sub(cost(&texts[op]));
        }
    }
    for &op in row.own.iter().filter(|op| **op < texts.len()) {
        if !kept[op] && cost(&texts[op]) <= left {
            kept[op] = true;
            left -= cost(&texts[op]);
        }
    }
    kept
}
