//! Certificates: what somebody needs who does not believe that an application is robust, and a small checker of them.
//!
//! [`write`] puts down what the graph engine has found: what programs do, every dependency with its equalities, every pair of
//! accesses that is none with the reason, the levels. [`check`] derives all of that anew and follows all chains of
//! dependencies in the simplest way. It shares no code with the engine: not how accesses meet, not what follows from
//! equalities, not what a level allows, not the search. What it takes from the certificate are the accesses of programs,
//! which can be compared with the application's file.
//!
//! - `data`: what a certificate holds
//! - `text`: the JSON
//! - `convert`, `write`: from a summary and answers to a certificate
//! - `rules`: what levels allow
//! - `pairs`: which accesses depend on each other
//! - `lookups`: which changes a constraint's lookup puts in order
//! - `rows`: the same where whole rows conflict
//! - `equal`: which values are equal
//! - `apart`: which values differ
//! - `cycles`: the cycles
//! - `check`: everything together

mod apart;
mod check;
mod convert;
mod cycles;
pub mod data;
mod equal;
mod lookups;
mod pairs;
mod rows;
mod rules;
mod text;
mod write;

pub use check::{Checked, Solver, Unproved, check, is_of};
pub use data::Certificate;
pub use write::{LeftOut, write};
