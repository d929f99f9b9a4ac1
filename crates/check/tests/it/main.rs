//! The checker against the oracle, against itself, and against verdicts that others published.

mod anomalies;
mod constraints;
mod exhaustive;
mod generate;
mod known_holes;
mod pages;
mod properties;
mod published;
mod random;
mod robustness;
