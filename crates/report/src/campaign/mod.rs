//! Many runs of an application's own tests, and the runs that failed explained by the application's own SQL.
//!
//! - `words`: what a failure shows, in the words that all of them share
//! - `advice`: what to change, down to the statement
//! - `text`: for a terminal
//! - `junit`: for continuous integration
//! - `statement`, `lanes`: a run as lanes
//! - `failure`, `failures`, `page`: one static page, in which every failing run can be opened

mod advice;
mod failure;
mod failures;
mod junit;
mod lanes;
mod page;
mod statement;
mod text;
mod words;

pub use junit::junit;
pub use page::campaign_page;
pub use text::{campaign, campaign_end, explained_run, failed_run};
pub use words::{coverage, summary};
