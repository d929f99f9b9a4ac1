//! Whether every run of an application is serializable: for a terminal, and as one static page.
//!
//! In reading order:
//! - `words`: what both say
//! - `text`: for a terminal
//! - `lines`: which lines a drawing of the programs has, and what stands on them
//! - `drawing`: programs on an ellipse, lines between them, the cycle thick
//! - `page`: one static page

mod drawing;
mod lines;
mod page;
mod text;
mod words;

pub use page::robust_page;
pub use text::robust_text;
