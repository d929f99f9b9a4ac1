//! Tests of the store.

mod anomalies;
mod completeness;
mod exactness;
mod exploring;
mod final_states;
mod literal;
mod long_transactions;
mod many_sessions;
mod misuse;
mod programs;
mod replay;
mod rows;
mod scheduling;
mod sessions;
mod snapshots;
mod soundness;
mod values;
