//! Tests of the store.

mod anomalies;
mod completeness;
mod exactness;
mod exploring;
mod misuse;
mod programs;
mod replay;
mod rows;
mod scheduling;
mod sessions;
mod soundness;
mod values;
