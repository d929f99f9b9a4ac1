//! Many runs of somebody's own tests, and the first one that failed explained by the application's own SQL.
//!
//! - `words`: what a failure shows, in the words that all of them share
//! - `advice`: what to change, down to the statement
//! - `text`: for a terminal
//! - `junit`: for continuous integration
//! - `lanes`, `page`: one static page, with the run as lanes

mod advice;
mod junit;
mod lanes;
mod page;
mod text;
mod words;

pub use junit::junit;
pub use page::campaign_page;
pub use text::{campaign, failed_run};
pub use words::summary;
