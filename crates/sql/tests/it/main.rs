//! SQL text in, answers out, through a connection.

mod anomalies;
mod apps;
mod apps_at_levels;
mod as_postgres;
mod bodies_and_levels;
mod constraints;
mod executed_truths;
mod explain;
mod explore;
mod expressions;
mod final_states;
mod invariant_truths;
mod lookups;
mod options;
mod plpgsql;
mod postgres_levels;
mod progress;
mod queries;
mod recording;
mod serializable;
mod sessions;
mod soundness;
