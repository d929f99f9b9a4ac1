//! Verdicts and explanations as terminal text, JSON, SVG, one-file HTML and Graphviz dot. Nothing here reads, writes
//! or prints: every function returns a `String`.
//!
//! In reading order:
//! - `clean`: names and values come from untrusted files; what is safe and how wide it is on a terminal
//! - `words`: an edge as a sentence, a violation as a headline, a fix: the words that every renderer shares
//! - `reasons`: why an inferred edge is there, in words, as deep as asked
//! - `cases`: a nested explanation as a flat list of cases, each with what it supposes
//! - `distinct`: one violation that answers several verdicts is shown once
//! - `recorded`: where the operations of a transaction stand in the line that recorded them
//! - `snippet`: recorded lines with carets and notes under them
//! - `marks`: which operations an explanation points at
//! - `ladder`: the summary, strongest level first, and the line that closes it
//! - `text`: everything together, for a terminal
//! - `page`: a page of an anomaly or a level, for a terminal
//! - `value`, `json`: the same for programs; `JSON.md` beside this crate lists every field
//! - `arrows`: the arrows of a picture: the cycle, its reasons, and what else was read
//! - `lanes`, `ports`, `layout`, `tracks`, `route`, `svg`: session lanes with boxes, and arrows that keep clear of them
//! - `markup`, `html`: one static page with the pictures
//! - `dot`: the cycles for Graphviz
//! - `campaign`: many runs of somebody's own tests, as text, as JUnit XML and as one static page
//! - `robust`: whether every run of an application is serializable, as text and as one static page

mod arrows;
mod campaign;
mod cases;
mod clean;
mod distinct;
mod dot;
mod html;
mod json;
mod ladder;
mod lanes;
mod layout;
mod marks;
mod markup;
mod page;
mod paint;
mod ports;
mod reasons;
mod recorded;
mod robust;
mod route;
mod snippet;
mod svg;
mod text;
mod tracks;
mod value;
mod words;

use skew_model::{History, Verdict};

pub use campaign::{campaign, campaign_end, campaign_page, coverage, explained_run, failed_run, junit, summary};
pub use dot::dot;
pub use html::html;
pub use json::json;
pub use page::page;
pub use robust::{robust_page, robust_text};
pub use svg::svg;
pub use text::{text, text_with_fixes, verdict_lines};
pub use words::{fix, headline, sentence};

/// One checked history and what there is to say about it.
pub struct Report<'a> {
    /// The file as the user named it (`on-call.hist`), or `<stdin>`.
    pub file: String,
    /// The command that was run (`skew check on-call.hist`): what replays a violation is made from it.
    pub command: String,
    /// The whole history.
    pub history: &'a History,
    /// The verdicts, in the order to show: strongest first.
    pub verdicts: Vec<Verdict>,
    /// The recorded text of a line of a file, where the file is `.hist` text.
    pub source_line: &'a dyn Fn(u16, u32) -> Option<String>,
    /// What else the reader should know, such as "session order is off".
    pub notes: Vec<String>,
    /// Whether to print the commit orders that justify what holds.
    pub show_witness: bool,
}

/// How text should look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Whether to add colour; nothing is said by colour alone.
    pub color: bool,
    /// The columns to fit into; 0 for no limit.
    pub width: usize,
    /// Whether to follow the reasons of inferred edges to the end, and to show every case.
    pub expand: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { color: false, width: 100, expand: false }
    }
}
